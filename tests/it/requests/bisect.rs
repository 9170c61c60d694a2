//! Which message makes it go wrong, as commands judge contexts.

use tract::deeds::{At, BisectParams, Method, Still};
use tract::model::{Draft, Message, Role};
use tract::repo::{Call, CommitOptions, On, Repo};

use crate::sandbox::{Sandbox, on_servers};

/// A conversation of so many messages, numbered.
fn talk(messages: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let lines: Vec<String> = (1..=messages)
        .map(|n| {
            let role = if n % 2 == 1 { "user" } else { "assistant" };
            format!(r#"{{"role":"{role}","content":"Word {n}."}}"#)
        })
        .collect();
    sandbox.write("talk.jsonl", lines.join("\n"));
    sandbox.ok(&["commit", "--batch", "talk.jsonl"]);
    sandbox
}

/// A command that fails if all of these are in what it reads.
fn fails_if(texts: &[&str]) -> String {
    let greps: Vec<String> = texts
        .iter()
        .map(|text| format!("grep -qF '{text}' ctx"))
        .collect();
    format!(
        "cat > ctx; echo x >> runs; if {}; then exit 1; fi",
        greps.join(" && ")
    )
}

/// How often the command was run since the last time.
fn runs(sandbox: &Sandbox) -> usize {
    let path = sandbox.work().join("runs");
    let lines = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(path);
    lines.lines().count()
}

/// Checks all objects, and has the second reader do so.
fn is_sound(sandbox: &Sandbox) {
    sandbox.ok(&["fsck"]);
    let database = sandbox.work().join(".tract/tract.db");
    if !on_servers()
        && let Some((sound, _, said)) = crate::conditions::second_reader(&database)
    {
        assert!(sound, "{said}");
    }
}

/// How many runs find one of so many: `2 · log₂ n + 3`.
fn most(messages: usize) -> usize {
    (2.0 * (messages as f64).log2() + 3.0) as usize
}

#[test]
fn the_message_that_makes_it_fail_is_found_and_left_out() {
    let sandbox = talk(40);
    insta::assert_snapshot!(sandbox.tract(&["bisect", "run", "--", &fails_if(&["Word 17."])]), @r###"
    It goes wrong by:
      :17  a5752f8 append user  Word 17.
          prompt     e91efce  Word 15.
    found in 10 runs
    --- stderr
       1  40 of 40 messages: bad
       2  0 of 40 messages: good
       3  20 of 40 messages: bad
       4  10 of 40 messages: good
       5  15 of 40 messages: good
       6  17 of 40 messages: bad
       7  16 of 40 messages: good
       8  1 of 40 messages: bad
       9  39 of 40 messages: good
      10  1 of 40 messages: bad
    The context without it is on bisect/a5752f8
    hint: tract diff fbec381 bisect/a5752f8
    "###);
    assert!(runs(&sandbox) <= most(40));
    let branch = sandbox.ok(&["branch"]);
    let name = branch
        .split_whitespace()
        .find(|word| word.starts_with("bisect/"));
    let without = sandbox.ok(&["compile", name.expect("a branch"), "--format", "text"]);
    assert!(
        !without.contains("Word 17.")
            && without.contains("Word 16.")
            && without.contains("Word 18.")
    );
    // Again, it is the same branch.
    sandbox.ok(&["bisect", "run", "--", &fails_if(&["Word 17."])]);
    assert_eq!(sandbox.ok(&["branch"]).matches("bisect/").count(), 1);
}

#[test]
fn every_place_is_found_in_few_runs() {
    for messages in [2, 3, 7, 33] {
        let sandbox = talk(messages);
        for culprit in [1, messages / 2, messages] {
            let text = format!("Word {}.", culprit.max(1));
            let told = sandbox.ok(&["bisect", "run", "--", &fails_if(&[&text])]);
            assert!(told.contains(&text), "{told}");
            let count = runs(&sandbox);
            assert!(count <= most(messages), "{text} of {messages}: {count}");
        }
    }
}

#[test]
fn what_is_needed_together_is_found_together_and_what_is_enough_each() {
    let sandbox = talk(40);
    let both = sandbox.ok(&["bisect", "run", "--", &fails_if(&["Word 9.", "Word 30."])]);
    insta::assert_snapshot!(both, @r###"
    It goes wrong by these together:
      :9  1e2bb18 append user  Word 9.
          prompt     e40c11d  Word 7.
      :30  9e79d01 append assistant  Word 30.
          prompt     216da8e  Word 29.
    found in 17 runs
    "###);
    runs(&sandbox);
    let either = "cat > ctx; if grep -qE 'Word (9|30)[.]' ctx; then exit 1; fi";
    insta::assert_snapshot!(sandbox.ok(&["bisect", "run", "--", either]), @r###"
    It goes wrong by:
      :9  1e2bb18 append user  Word 9.
          prompt     e40c11d  Word 7.
    And by this alone:
      :30  9e79d01 append assistant  Word 30.
          prompt     216da8e  Word 29.
    found in 18 runs
    "###);
}

#[test]
fn of_many_causes_four_are_found_and_it_is_said() {
    let sandbox = talk(20);
    let any = "cat > ctx; if grep -qE 'Word (3|5|7|9|11|13)[.]' ctx; then exit 1; fi";
    let told = sandbox.tract(&["bisect", "run", "--", any]);
    assert_eq!(told.matches("by this alone:").count(), 3, "{told}");
    assert!(
        told.contains("it may go wrong without that, too: no more than 4 causes are looked for"),
        "{told}"
    );
}

#[test]
fn a_call_goes_with_its_result_and_requests_stay_valid() {
    let sandbox = talk(6);
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"a","content":"A file of Word 7."}"#;
    sandbox.write("more.jsonl", format!("{call}\n{result}"));
    sandbox.ok(&["commit", "--batch", "more.jsonl"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Go on."]);
    let judge = format!(
        "cat > ctx; c=$(grep -c tool_call_id ctx); d=$(grep -c tool_calls ctx); [ $c = $d ] || exit 126; {}",
        fails_if(&["A file of"]).replace("cat > ctx; ", "")
    );
    insta::assert_snapshot!(sandbox.ok(&["bisect", "run", "--", &judge]), @r###"
    It goes wrong by:
      :7  dd0fbd9 append assistant  ls
          prompt     5dcd823  Word 5.
      :8  c419eee append tool  ls → A file of Word 7.
          prompt     5dcd823  Word 5.
    found in 7 runs
    "###);
}

#[test]
fn a_part_of_a_message_is_found() {
    let sandbox = talk(6);
    let parts = r#"{"role":"user","content":[{"type":"text","text":"First."},{"type":"text","text":"Second."},{"type":"text","text":"Third."}]}"#;
    sandbox.write("parts.json", parts);
    sandbox.ok(&["commit", "--json", "parts.json"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Go on."]);
    insta::assert_snapshot!(sandbox.ok(&["bisect", "run", "--branch", "better", "--", &fails_if(&["Second."])]), @r"
    It goes wrong by:
      :7#1  aeb2fe2  Second.
    found in 12 runs
    ");
    is_sound(&sandbox);
    let better = sandbox.ok(&["compile", "better", "--format", "text"]);
    assert!(better.contains("First.") && better.contains("Third.") && !better.contains("Second."));
}

#[test]
fn what_is_missing_is_found_by_what_hid_it() {
    let sandbox = talk(20);
    sandbox.ok(&["drop", ":4"]);
    sandbox.ok(&["drop", ":9", ":10"]);
    let judge = "cat > ctx; grep -qF 'Word 4.' ctx";
    insta::assert_snapshot!(sandbox.ok(&["bisect", "run", "--branch", "back", "--", judge]), @r"
    It goes wrong by:
      what this hid is missing: 7bc7a60 drop
    found in 6 runs
    ");
    assert!(
        sandbox
            .ok(&["compile", "back", "--format", "text"])
            .contains("Word 4.")
    );
    assert!(
        !sandbox
            .ok(&["compile", "back", "--format", "text"])
            .contains("Word 10.")
    );
}

#[test]
fn a_setting_is_found() {
    let sandbox = talk(4);
    let more = [
        "commit",
        "-r",
        "user",
        "-m",
        "Go on.",
        "--temperature",
        "1.9",
        "--max-tokens",
        "99",
    ];
    sandbox.ok(&more);
    let judge = fails_if(&["1.9"]);
    insta::assert_snapshot!(sandbox.ok(&["bisect", "run", "--request", "--branch", "cool", "--", &judge]), @r"
    It goes wrong by:
      the setting temperature = 1.9, set by cb5eae2
    found in 6 runs
    ");
    let request = sandbox.ok(&["compile", "cool", "--request"]);
    assert!(!request.contains("temperature") && request.contains("99"));
    is_sound(&sandbox);
}

#[test]
fn what_goes_wrong_by_chance_is_found() {
    let sandbox = talk(30);
    // One in five: by a number that each run adds to, so that it is the same each time.
    let judge = "cat > ctx; n=$(cat n 2>/dev/null || echo 7); n=$(( (n * 16807) % 2147483647 )); echo $n > n; \
                 if grep -qF 'Word 17.' ctx && [ $(( n % 5 )) = 0 ]; then exit 1; fi";
    let told = sandbox.ok(&["bisect", "run", "-n", "20", "--", judge]);
    assert!(
        told.contains("Word 17.") && told.contains("% sure"),
        "{told}"
    );
}

#[test]
fn bad_input_has_an_error_and_a_hint() {
    let sandbox = talk(8);
    let refs = sandbox.ok(&["branch"]);
    let of = |words: &[&str]| sandbox.tract(&[&["-q", "bisect", "run"], words].concat());
    insta::assert_snapshot!(of(&["--", "exit 0"]), @r"
    exit code: 1
    --- stderr
    error: it goes well as it is: there is nothing to look for
    hint: if it goes wrong now and then only: -n 20
    ");
    insta::assert_snapshot!(of(&["--", "exit 1"]), @r"
    exit code: 1
    --- stderr
    error: it goes wrong whatever is left out: the context is not why
    hint: if it goes wrong by itself now and then: -n 20; request settings count with --request
    ");
    insta::assert_snapshot!(of(&["--", "exit 125"]), @r"
    exit code: 1
    --- stderr
    error: the whole context could not be judged, so there is nothing to go by
    hint: the command ends with 0 where it is good, and with 1 to 124 where it is bad
    ");
    insta::assert_snapshot!(of(&["--", "nonesuch"]), @r"
    exit code: 1
    --- stderr
    error: 'nonesuch' ended with exit code 127: sh: 1: nonesuch: not found
    hint: exit code 0 is good, 1 to 124 bad, 125 that it cannot tell
    ");
    insta::assert_snapshot!(of(&["--timeout", "1s", "--", "sleep 50"]), @r"
    exit code: 1
    --- stderr
    error: the whole context could not be judged, so there is nothing to go by
    hint: the command ends with 0 where it is good, and with 1 to 124 where it is bad
    ");
    insta::assert_snapshot!(of(&["--branch", "main", "--", "exit 1"]), @r"
    exit code: 1
    --- stderr
    error: 'main' is there already
    hint: choose another name, or look at it: tract log main
    ");
    insta::assert_snapshot!(of(&[":9", "--", "exit 1"]), @r"
    exit code: 1
    --- stderr
    error: no message ':9'
    hint: there are 8 messages: :1 to :8, :-1 is the last
    ");
    insta::assert_snapshot!(of(&["--confidence", "2", "--", "exit 1"]), @r"
    exit code: 2
    --- stderr
    error: invalid value '2' for '--confidence <P>': it is a number from 0.5 to below 1, such as 0.95
    hint: tract bisect --help
    ");
    // A judge that says something else of the same.
    let judge = "cat > ctx; grep -c Word ctx > /dev/null; grep -qF 'Word 5.' ctx || exit 0; \
                 [ \"$(grep -o 'Word' ctx | wc -l)\" = 1 ] || exit 1; [ -e once ] && exit 0; touch once; exit 1";
    insta::assert_snapshot!(of(&["--", judge]), @r"
    exit code: 1
    --- stderr
    error: the same context went wrong, and then well
    hint: where it goes wrong by chance: -n 20
    ");
    assert_eq!(sandbox.ok(&["branch"]), refs);
}

#[test]
fn by_hand_it_is_a_branch_to_look_at() {
    let sandbox = talk(12);
    insta::assert_snapshot!(sandbox.tract(&["bisect", "start"]), @r"
    --- stderr
    bisect has 6 of 12 messages: it is one of 12 candidates, which takes 3 trials or a few more
    hint: try it: tract compile bisect; then tract bisect good, bad or skip
    ");
    if !on_servers() {
        let status = sandbox.ok(&["status"]);
        assert!(
            status.contains("\nBisect   bisect has 6 of 12 messages"),
            "{status}"
        );
    }
    insta::assert_snapshot!(sandbox.tract(&["bisect", "start"]), @r"
    exit code: 1
    --- stderr
    error: a bisection is under way
    hint: tract bisect reset ends it
    ");
    sandbox.ok(&["bisect", "bad"]);
    // A word is taken back as any command is.
    sandbox.ok(&["undo"]);
    let mut log = String::new();
    for _ in 0..12 {
        let is_bad = sandbox.ok(&["compile", "bisect"]).contains("Word 5.");
        let told = sandbox.tract(&["bisect", if is_bad { "bad" } else { "good" }]);
        if told.contains("It goes wrong by") {
            log = told;
            break;
        }
    }
    insta::assert_snapshot!(log, @r###"
    It goes wrong by:
      :5  5dcd823 append user  Word 5.
          prompt     048a793  Word 3.
    found in 7 runs
    --- stderr
    The context without it is on bisect
    hint: tract diff e028317 bisect
    hint: tract bisect reset ends it
    "###);
    sandbox.write("log", sandbox.ok(&["bisect", "log"]));
    insta::assert_snapshot!(sandbox.tract(&["bisect", "good"]), @r"
    exit code: 1
    --- stderr
    error: the bisection is over
    hint: tract bisect reset; tract bisect log shows it
    ");
    is_sound(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["bisect", "reset"]), @r"
    --- stderr
    Ended the bisection; the context without it is on bisect/5dcd823
    ");
    insta::assert_snapshot!(sandbox.tract(&["bisect", "skip"]), @r"
    exit code: 1
    --- stderr
    error: no bisection is under way
    hint: tract bisect start
    ");
    assert!(sandbox.ok(&["bisect", "replay", "log"]).contains("Word 5."));
    sandbox.write("odd", "start here\n");
    insta::assert_snapshot!(sandbox.tract(&["bisect", "replay", "odd"]), @r"
    exit code: 2
    --- stderr
    error: 'start here' is no line of a bisection
    hint: tract bisect log prints what can be replayed
    ");
}

#[test]
fn over_time_by_hand_the_branch_is_at_each_commit() {
    let sandbox = talk(30);
    sandbox.ok(&["bisect", "start", "HEAD", ":3", "--time"]);
    is_sound(&sandbox);
    let mut told = String::new();
    for _ in 0..12 {
        let is_bad = sandbox.ok(&["compile", "bisect"]).contains("Word 17.");
        told = sandbox.tract(&["bisect", if is_bad { "bad" } else { "good" }]);
        if told.contains("It goes wrong by") {
            break;
        }
    }
    insta::assert_snapshot!(told, @r"
    It goes wrong by:
      a5752f8 append user  Word 17.
    found in 4 runs
    --- stderr
    hint: tract bisect reset ends it
    ");
    let here = sandbox.ok(&["compile", "bisect"]);
    assert!(here.contains("Word 17.") && !here.contains("Word 18."));
    is_sound(&sandbox);
    sandbox.ok(&["bisect", "reset"]);
    assert_eq!(sandbox.ok(&["branch"]).lines().count(), 1);
}

#[test]
fn over_time_it_is_a_commit() {
    let sandbox = talk(30);
    let judge = fails_if(&["Word 17."]);
    let told = sandbox.ok(&["bisect", "run", "--time", "--", &judge]);
    insta::assert_snapshot!(told, @r"
    It goes wrong by:
      a5752f8 append user  Word 17.
    found in 7 runs
    ");
    let told = sandbox.tract(&[
        "-q", "bisect", "run", "--time", "--good", ":20", "--", &judge,
    ]);
    insta::assert_snapshot!(told, @r"
    exit code: 1
    --- stderr
    error: it goes wrong at the good end, too
    hint: --good REV names a commit before that
    ");
}

/// A program keeps the verdicts itself.
#[test]
fn a_program_asks_what_to_try_next() {
    let repo = Repo::ephemeral().expect("a repository");
    let drafts: Vec<Draft> = (1..=40)
        .map(|n| Draft::append(Message::text(Role::User, format!("Word {n}."))))
        .collect();
    let made = repo.commit(Call::default(), &drafts, &CommitOptions::default());
    let culprit = made.expect("committed")[16].hash;
    let mut at = At::new(&repo, On::Head, &Still);
    let mut verdicts: Vec<String> = Vec::new();
    let end = loop {
        let params = BisectParams {
            verdicts: verdicts.clone(),
            ..BisectParams::default()
        };
        let answer = params.call(&mut at).expect("it answers");
        let Some(rev) = answer.rev.clone() else {
            break answer;
        };
        let context = repo.context(&rev.parse().expect("a hash"));
        let context = context.expect("it is there");
        let is_bad = context.entries.iter().any(|it| it.id.commit == culprit);
        verdicts.push(if is_bad { "bad" } else { "good" }.to_owned());
    };
    assert_eq!((end.end, end.trials), (Some("found"), verdicts.len()));
    assert!(verdicts.len() <= most(40), "{verdicts:?}");
    assert_eq!(end.causes.len(), 1);
    assert_eq!(end.causes[0][0].number, Some(17));
    let without = end.without.expect("made").parse().expect("a hash");
    let without = repo.context(&without).expect("it is there");
    assert_eq!(without.entries.len(), 39);
    // No branch was made for all that.
    assert_eq!(repo.references("refs/heads/").expect("listed").len(), 1);
    let params = BisectParams {
        verdicts: vec!["maybe".to_owned()],
        ..BisectParams::default()
    };
    let fault = params.call(&mut at).expect_err("no verdict");
    assert_eq!(fault.message, "'maybe' is no verdict: good, bad or skip");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_what_is_at_work() {
    let sandbox = talk(8);
    let mut command = sandbox.command(&["bisect", "run", "--", "echo $$ > pid; exec sleep 47"]);
    let mut child = command
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it runs");
    crate::requests::run::until(|| sandbox.work().join("pid").exists());
    crate::requests::run::interrupt(child.id());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let pid = std::fs::read_to_string(sandbox.work().join("pid")).expect("read");
    crate::requests::run::until(|| crate::requests::run::is_gone(pid.trim()));
    assert_eq!(sandbox.ok(&["branch"]).lines().count(), 1);
}
