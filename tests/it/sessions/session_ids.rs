//! Sessions whose ids were never meant to be names.

use std::collections::BTreeSet;
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::sandbox::Sandbox;

/// A session of Gemini CLI with this id and these words.
fn session(id: &str, words: &[&str]) -> String {
    let messages: Vec<_> = words
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let kind = ["user", "gemini"][at % 2];
            let timestamp = format!("2026-01-02T03:04:{at:02}Z");
            serde_json::json!({"type": kind, "content": text, "timestamp": timestamp})
        })
        .collect();
    serde_json::json!({"sessionId": id, "projectHash": "p", "messages": messages}).to_string()
}

/// Runs it, but no longer than 20 seconds.
fn ends(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let mut child = sandbox
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let begin = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if begin.elapsed() > Duration::from_secs(20) {
            child.kill().expect("it is there");
            child.wait().expect("it ends");
            panic!("{arguments:?} does not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("it has ended")
}

/// Imports a file of each.
fn imports<'a>(sandbox: &Sandbox, texts: impl IntoIterator<Item = &'a String>) {
    for (at, text) in texts.into_iter().enumerate() {
        sandbox.write(&format!("sessions/{at}.json"), text);
    }
    let output = ends(sandbox, &["import", "sessions"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
}

fn sessions(sandbox: &Sandbox) -> BTreeSet<String> {
    let names = sandbox.texts("SELECT name FROM refs WHERE name LIKE 'refs/sessions/%'");
    names.into_iter().collect()
}

#[test]
fn an_import_of_a_rewritten_session_with_an_endless_id_ends() {
    let sandbox = Sandbox::new();
    let long = "a".repeat(5_000);
    for words in [
        ["one", "two"],
        ["three", "four"],
        ["five", "six"],
        ["seven", "eight"],
    ] {
        imports(&sandbox, [&session(&long, &words)]);
    }
    assert_eq!(sessions(&sandbox).len(), 4);
}

#[test]
fn two_ids_never_share_a_name() {
    let (a, b) = ("a".repeat(5_000), "a".repeat(4_999) + "b");
    let (c, d) = ("é".repeat(600), "é".repeat(601));
    let ids = [
        &a,
        &b,
        &c,
        &d,
        "",
        ".",
        "..",
        "/",
        "a b",
        "a-b",
        "a:b",
        "a/b",
        "a//b",
        "/a/b",
        "a..b",
        "x",
        "x.",
        "x.lock",
        "x/",
        "-",
        "-x",
        "HEAD",
        "@",
        "a@{1}",
        "session",
        "\u{1b}[0m",
        "\u{202e}",
        "x-2",
        "refs/heads/main",
        "0123456789abcdef",
    ];
    let sandbox = Sandbox::new();
    // The same words, so that only the ids tell them apart; then again, and nothing is new; then
    // grown, and each is found again.
    let grown = ["one", "two", "three", "four"];
    for words in [&grown[..2], &grown[..2], &grown] {
        let texts: Vec<String> = ids.iter().map(|id| session(id, words)).collect();
        imports(&sandbox, &texts);
        assert_eq!(sessions(&sandbox).len(), ids.len());
    }
    // The names have room for what stands below them.
    assert!(sessions(&sandbox).iter().all(|name| name.len() < 400));
    sandbox.ok(&["log", "-n", "0"]);
}

#[test]
fn whatever_is_shown_of_a_session_names_it() {
    let sandbox = Sandbox::new();
    let [one, two] = ["883070b6-aaaa-4c8f", "883f70b6-bbbb-4c8f"];
    let texts = [
        session(one, &["first", "ok"]),
        session(two, &["second", "ok"]),
    ];
    imports(&sandbox, &texts);
    let tip = sandbox.ok(&["rev-parse", &format!("sessions/gemini/{one}")]);
    for shown in [
        "883070b6",
        "883070b6…",
        "8830",
        "gemini/883070b6",
        "gemini/883070b6…",
        "sessions/gemini/8830",
        one,
    ] {
        assert_eq!(sandbox.ok(&["rev-parse", shown]), tip, "{shown}");
    }
    assert!(
        sandbox
            .ok(&["log", "gemini/8830", "-n", "0"])
            .contains("first")
    );
    assert!(sandbox.ok(&["log", "8830~1", "-n", "0"]).contains("first"));
    assert!(sandbox.ok(&["rev-parse", "8830@{0}"]) == tip);
    insta::assert_snapshot!(sandbox.tract(&["log", "gemini/883"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'gemini/883'
    hint: tract log --oneline lists them, tract branch the branches
    ");
    insta::assert_snapshot!(sandbox.tract(&["log", "codex/8830"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'codex/8830'
    hint: tract log --oneline lists them, tract branch the branches
    ");
    // What several begin with names none of them.
    let sandbox = Sandbox::new();
    let alike = ["883070b6-aaaa", "883070b6-bbbb"].map(|id| session(id, &["hello"]));
    imports(&sandbox, &alike);
    insta::assert_snapshot!(sandbox.tract(&["log", "883070b6"]), @r"
    exit code: 1
    --- stderr
    error: '883070b6' is ambiguous
    hint: one of these?
      gemini/883070b6-aaaa
      gemini/883070b6-bbbb
    ");
}

#[test]
fn branches_tell_themselves_apart_at_80_columns() {
    let sandbox = Sandbox::new();
    let talk = |text: &str| format!("[{{\"role\":\"user\",\"content\":\"{text}\"}}]");
    for name in ["first", "second"] {
        sandbox.write(
            &format!("a-recording-of-all-conversations-of-the-airline/{name}.json"),
            talk(&format!(
                "What the {name} passenger asked before the flight left"
            )),
        );
    }
    sandbox.write(
        "gemini.json",
        session("5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70", &["Rivers?"]),
    );
    for (branch, file) in [
        ("recordings/of/the/airline/in/one/year/first", "first"),
        ("recordings/of/the/airline/in/one/year/second", "second"),
    ] {
        let file = format!("a-recording-of-all-conversations-of-the-airline/{file}.json");
        sandbox.ok(&["import", "--as", branch, &file]);
    }
    sandbox.ok(&["import", "gemini.json"]);
    insta::assert_snapshot!(sandbox.ok(&["branch"]), @r"
      gemini-5b0c9a1e                               ade9182  2026-01-02 03:04:00  10 tokens  Rivers?
    * recordings/of/the/airline/in/one/year/first   ce66636  -                    16 tokens  openai  What the first passenger asked before the flight left
      recordings/of/the/airline/in/one/year/second  9f37448  -                    16 tokens  openai  What the second passenger asked before the flight left
    ");
    let Some(drawn) = sandbox.on_terminal("80", &["branch"]) else {
        eprintln!("skipped: no `script` here to make a terminal");
        return;
    };
    insta::assert_snapshot!(drawn, @r"
      BRANCH                      COMMIT   LAST        TOKENS  ABOUT
      gemini-5b0c9a1e             ade9182  2026-01-02      10  Rivers?
    * recordin…in/one/year/first  ce66636  -               16  What the first passe…
      recordin…n/one/year/second  9f37448  -               16  What the second pass…
    ");
}

/// One id for every conversation, as Gemini Code Assist has it; and one that went on on two machines.
#[test]
fn an_id_that_comes_again_is_told_as_what_it_is() {
    let sandbox = Sandbox::new();
    let common = ["How many sacks?", "Twelve."];
    let here = [common[0], common[1], "And doors?", "One."];
    let there = [common[0], common[1], "And wheels?", "Two."];
    sandbox.write("a.json", session("a2a-server", &here));
    sandbox.write("b.json", session("a2a-server", &["Is it dry?", "It is."]));
    sandbox.write("c.json", session("a2a-server", &there));
    sandbox.ok(&["import", "a.json"]);
    insta::assert_snapshot!(sandbox.tract(&["import", "b.json"]));
    insta::assert_snapshot!(sandbox.tract(&["import", "c.json"]));
    // The file itself was changed.
    sandbox.write(
        "b.json",
        session("a2a-server", &["Is it wet?", "It is not."]),
    );
    insta::assert_snapshot!(sandbox.tract(&["import", "b.json"]));
    insta::assert_snapshot!(sandbox.tract(&["import", "a.json", "c.json"]));
    assert_eq!(sessions(&sandbox).len(), 4);
}

/// One message of a conversation: who says it, what, and when.
type Said<'a> = (usize, &'a str, String);

/// A format, the name of a file of it, and what such a file holds.
type Way = (&'static str, fn(&[Said<'_>]) -> String);

/// Each kind of file whose id may be no id: an object that bears one, one that goes by the file's name, lines behind a
/// header, lines that all bear it.
const WAYS: [Way; 4] = [
    ("gemini", |said| {
        let messages = said.iter().map(|(at, text, time)| {
            let kind = ["user", "gemini"][at % 2];
            serde_json::json!({"type": kind, "content": text, "timestamp": time})
        });
        let messages: Vec<_> = messages.collect();
        serde_json::json!({"sessionId": "a2a-server", "projectHash": "p", "messages": messages})
            .to_string()
    }),
    ("openai", |said| {
        let messages = said.iter().map(|(at, text, _)| {
            let role = ["user", "assistant"][at % 2];
            serde_json::json!({"role": role, "content": text})
        });
        serde_json::Value::from_iter(messages).to_string()
    }),
    ("pi", |said| {
        let time = &said[0].2;
        let header = serde_json::json!({"type": "session", "version": 3, "id": "main", "timestamp": time, "cwd": "/w"});
        let entries = said.iter().map(|(at, text, time)| {
            let parent = at.checked_sub(1).map(|before| format!("e{before}"));
            let content = [serde_json::json!({"type": "text", "text": text})];
            let role = ["user", "assistant"][at % 2];
            let message = serde_json::json!({"role": role, "content": content, "timestamp": at});
            serde_json::json!({"type": "message", "id": format!("e{at}"), "parentId": parent, "timestamp": time, "message": message})
        });
        let lines = std::iter::once(header).chain(entries);
        lines.map(|line| format!("{line}\n")).collect()
    }),
    ("claude-code", |said| {
        let lines = said.iter().map(|(at, text, time)| {
            let kind = ["user", "assistant"][at % 2];
            let id = |at: usize| format!("{}-{at}", said[0].1);
            let parent = at.checked_sub(1).map(id);
            let content = [serde_json::json!({"type": "text", "text": text})];
            serde_json::json!({"type": kind, "uuid": id(*at), "parentUuid": parent, "sessionId": "server", "cwd": "/w",
                "version": "2.1.290", "timestamp": time,
                "message": {"role": kind, "id": id(*at), "content": content}})
        });
        lines.map(|line| format!("{line}\n")).collect()
    }),
];

/// A conversation of so many messages. All begin alike, as people do.
fn conversation(number: usize, length: usize) -> Vec<(usize, String, String)> {
    let word = |at: usize| match at {
        0 => format!("Hello {number}."),
        _ => format!("{number} and {at}."),
    };
    let said = (0..length).map(|at| {
        (
            at,
            word(at),
            format!("2026-01-0{}T03:04:{at:02}Z", number + 1),
        )
    });
    said.collect()
}

/// The conversations that the refs of sessions lead to, by ref.
fn told(sandbox: &Sandbox) -> std::collections::BTreeMap<String, usize> {
    let names = sessions(sandbox).into_iter();
    let told = names.map(|name| {
        let log = sandbox.ok(&[
            "log",
            name.trim_start_matches("refs/"),
            "--oneline",
            "-n",
            "0",
        ]);
        let number = (0..9).find(|number| log.contains(&format!("Hello {number}.")));
        (
            name,
            number.expect("one of them") * 100 + log.lines().count(),
        )
    });
    told.collect()
}

/// Several conversations of one id: each file comes back to its own ref, in whatever order they come, and goes on there.
#[test]
fn each_conversation_of_one_id_keeps_its_own_ref() {
    for (format, file) in WAYS {
        for order in [vec![0, 1], vec![1, 0], vec![2, 0, 1]] {
            let sandbox = Sandbox::empty();
            let name = |number: usize| format!("d{number}/server.json");
            let write = |number: usize, length: usize| {
                let said = conversation(number, length);
                let said: Vec<Said<'_>> = said
                    .iter()
                    .map(|(at, text, time)| (*at, &**text, time.clone()))
                    .collect();
                sandbox.write(&name(number), file(&said));
            };
            order.iter().for_each(|number| write(*number, 2));
            for number in &order {
                sandbox.ok(&["import", &name(*number)]);
            }
            let first = told(&sandbox);
            let about = format!("{format} {order:?} {first:?}");
            assert_eq!(first.len(), order.len(), "{about}");
            // Again, the other way round, and all at once: nothing is new.
            for number in order.iter().rev() {
                let again = sandbox.tract(&["import", &name(*number)]);
                assert!(again.contains("Nothing new"), "{about}: {again}");
            }
            sandbox.ok(&["import", "."]);
            assert_eq!(told(&sandbox), first, "{about}");
            // Grown, each goes on where it was.
            for length in [4, 5] {
                for number in order.iter().rev() {
                    write(*number, length);
                    let grown = sandbox.tract(&["import", &name(*number)]);
                    assert!(
                        grown
                            .contains(&format!("{} new", length - if length == 4 { 2 } else { 4 })),
                        "{about}: {grown}"
                    );
                }
                let grown: Vec<(String, usize)> = told(&sandbox).into_iter().collect();
                let wanted: Vec<(String, usize)> = first
                    .iter()
                    .map(|(name, it)| (name.clone(), it - 2 + length))
                    .collect();
                assert_eq!(grown, wanted, "{about}");
            }
            // A copy elsewhere is the same conversation.
            for number in &order {
                let text = std::fs::read(sandbox.work().join(name(*number))).expect("there");
                sandbox.write(&format!("copies/{number}/server.json"), text);
                let copy = sandbox.tract(&["import", &format!("copies/{number}/server.json")]);
                assert!(copy.contains("Nothing new"), "{about}: {copy}");
            }
            assert_eq!(told(&sandbox).len(), order.len(), "{about}");
        }
    }
}

/// What lists show of such sessions names one of them each, and no file is taken for another's.
#[test]
fn an_id_that_repeats_names_one_conversation_or_is_refused() {
    let homes = [Sandbox::empty(), Sandbox::empty()];
    for (home, order) in homes.iter().zip([[0, 1, 2], [1, 0, 2]]) {
        let chats = home.home().join(".gemini/tmp/p/chats");
        std::fs::create_dir_all(&chats).expect("made");
        let name = |number: usize| chats.join(format!("session-2026-01-0{number}T03-04-ab.json"));
        let write = |number: usize, length: usize| {
            let said = conversation(number, length);
            let said: Vec<Said<'_>> = said
                .iter()
                .map(|(at, text, time)| (*at, &**text, time.clone()))
                .collect();
            std::fs::write(name(number), WAYS[0].1(&said)).expect("written");
        };
        for number in order {
            write(number, 2);
        }
        // The id alone says of none which it is.
        let told = home.tract(&["import", "a2a-server"]);
        assert!(
            told.contains("error: 'a2a-server' is the id of 3 conversations"),
            "{told}"
        );
        for number in &order[..2] {
            home.ok(&["import", name(*number).to_str().expect("text")]);
        }
        let told = home.tract(&["import", "--all"]);
        assert!(told.contains("2 other files are as they were"), "{told}");
        let listed = home.ok(&["import", "--all", "--list"]);
        assert_eq!(listed.matches("imported").count(), 3, "{listed}");
        write(order[1], 4);
        let told = home.tract(&["import", "--all"]);
        assert!(
            told.contains("Updated gemini a2a-server-2: 2 new commits"),
            "{told}"
        );
        assert_eq!(sessions(home).len(), 3);
        // The first is called by what the others' names begin with.
        for (number, name) in order
            .iter()
            .zip(["a2a-server", "a2a-server-2", "a2a-server-3"])
        {
            let hello = format!("Hello {number}.");
            for shown in [
                name.to_owned(),
                format!("gemini/{name}"),
                format!("sessions/gemini/{name}"),
            ] {
                let found = home.tract(&["find", "-F", "Hello", "--session", &shown]);
                assert!(
                    found.contains(&hello) && found.matches("Hello").count() == 1,
                    "{shown}: {found}"
                );
                let log = home.ok(&["log", &shown, "--oneline", "-n", "0"]);
                assert!(log.contains(&hello), "{shown}: {log}");
            }
        }
    }
    // Two repositories in which it is another's: each keeps its own, and has the other's beside it.
    let [here, there] = &homes;
    here.ok(&["remote", "add", "there", &there.place()]);
    let own = told(here);
    here.tract(&["pull", "there"]);
    assert_eq!(told(here), own);
    let theirs = here.ok(&[
        "log",
        "there/sessions/gemini/a2a-server",
        "--oneline",
        "-n",
        "0",
    ]);
    assert!(theirs.contains("Hello 1."), "{theirs}");
    let own = told(there);
    let pushed = here.tract(&["push", "there", "--all"]);
    assert!(
        pushed.contains("sessions/gemini/a2a-server (it leads elsewhere there, and stays)"),
        "{pushed}"
    );
    assert_eq!(told(there), own);
    for home in &homes {
        let again = home.tract(&["import", "--all"]);
        assert!(again.contains("3 files are as they were"), "{again}");
    }
}

#[test]
fn a_file_that_a_tool_put_aside_is_called_by_its_session_and_its_number() {
    let sandbox = Sandbox::new();
    let context = |said: &str| {
        let prompt = json!({"role": "_system_prompt", "content": "Help."});
        format!("{prompt}\n{}\n", json!({"role": "user", "content": said}))
    };
    for session in ["one", "two"] {
        for file in ["context.jsonl", "context_1.jsonl"] {
            let path = format!("{session}/{file}");
            sandbox.write(&path, context(&path));
            sandbox.ok(&["import", &path]);
        }
    }
    for id in ["one", "one_1", "two", "two_1"] {
        let name = format!("kimi-cli/{id}");
        let said = sandbox.ok(&["compile", &name, "--format", "openai"]);
        let (folder, file) = id.split_once('_').unwrap_or((id, ""));
        let file = if file.is_empty() {
            "context"
        } else {
            "context_1"
        };
        assert!(said.contains(&format!("{folder}/{file}.jsonl")), "{said}");
    }
}
