//! Sessions whose ids were never meant to be names.

use std::collections::BTreeSet;
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

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
    error: no commit 'gemini/883'
    hint: `tract log --oneline` lists them, tract branch the branches
    ");
    insta::assert_snapshot!(sandbox.tract(&["log", "codex/8830"]), @r"
    exit code: 1
    --- stderr
    error: no commit 'codex/8830'
    hint: `tract log --oneline` lists them, tract branch the branches
    ");
    // What several begin with names none of them.
    let sandbox = Sandbox::new();
    let alike = ["883070b6-aaaa", "883070b6-bbbb"].map(|id| session(id, &["hello"]));
    imports(&sandbox, &alike);
    insta::assert_snapshot!(sandbox.tract(&["log", "883070b6"]), @r"
    exit code: 1
    --- stderr
    error: '883070b6' is the beginning of several commits
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
