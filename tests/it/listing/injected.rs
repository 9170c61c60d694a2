//! What a client says in the user's name is told apart wherever the commits go, be its records there or not.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const SESSION: &str = "5e551011-0000-4000-8000-0000000000cc";

fn record(number: u32, role: &str, text: &str, more: Value) -> String {
    let before = (number > 1).then(|| format!("u{}", number - 1));
    let mut record = json!({"type": role, "sessionId": SESSION, "uuid": format!("u{number}"), "parentUuid": before,
        "timestamp": format!("2026-11-20T10:00:{number:02}.000Z"), "message": {"role": role, "content": text}});
    if role == "assistant" {
        record["message"] = json!({"id": format!("msg_{number}"), "role": role, "model": "claude-opus-4-8",
            "content": [{"type": "text", "text": text}]});
    }
    let more = more.as_object().expect("fields").clone();
    record.as_object_mut().expect("fields").extend(more);
    format!("{record}\n")
}

/// Two messages that the client's records alone tell from prompts.
fn session() -> String {
    [
        record(
            1,
            "user",
            "The mill's rules: grind slowly.",
            json!({"isMeta": true}),
        ),
        record(2, "user", "Count the sacks.", json!({})),
        record(3, "assistant", "Forty.", json!({})),
        record(
            4,
            "user",
            "The wheel has stopped.",
            json!({"origin": {"kind": "task-notification"}}),
        ),
        record(5, "assistant", "I look.", json!({})),
    ]
    .concat()
}

fn with_session() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session());
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox
}

/// What is said of who speaks, by every command that says it.
fn speakers(sandbox: &Sandbox, here: &str) -> Vec<String> {
    let asked: [&[&str]; 9] = [
        &["log", "--prompts"],
        &["log", "--role", "user"],
        &["log", "--role", "injected"],
        &["find", "wheel"],
        &["view"],
        &["stats"],
        &["export", "--format", "markdown"],
        &["api", "log", r#"{"role":"injected"}"#],
        &["api", "blame", "{}"],
    ];
    let told = asked.iter().map(|it| {
        let told = sandbox.ok(&[&["--repo", here], *it].concat());
        // Remotes stand behind what they lead to.
        let lines = told
            .lines()
            .map(|line| line.split("  (HEAD").next().unwrap_or(line));
        lines.collect::<Vec<_>>().join("\n")
    });
    told.collect()
}

#[test]
fn a_clone_without_session_files_knows_what_a_client_says_in_the_users_name() {
    let sandbox = with_session();
    let own = speakers(&sandbox, ".");
    assert!(
        own[0].contains("Count the sacks.") && !own[0].contains("grind"),
        "{}",
        own[0]
    );
    assert_eq!(own[2].lines().count(), 2, "{}", own[2]);
    sandbox.ok(&["clone", ".", "../clone"]);
    sandbox.ok(&["--repo", "../clone", "clone", "../clone", "../again"]);
    sandbox.ok(&["bundle", "all.tract", "main"]);
    sandbox.ok(&["--repo", "../apart", "init"]);
    sandbox.ok(&["--repo", "../apart", "unbundle", "all.tract"]);
    for here in ["../clone", "../again", "../apart"] {
        assert_eq!(speakers(&sandbox, here)[..4], own[..4], "{here}");
        sandbox.ok(&["--repo", here, "fsck"]);
    }
    assert_eq!(speakers(&sandbox, "../clone")[4..8], own[4..8]);
    // What comes later says it, too.
    let grown = session() + &record(6, "user", "The wheel turns.", json!({"isMeta": true}));
    sandbox.write("session.jsonl", grown);
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox.ok(&["--repo", "../clone", "pull"]);
    let injected = &speakers(&sandbox, "../clone")[2];
    assert_eq!(*injected, speakers(&sandbox, ".")[2]);
    assert_eq!(injected.lines().count(), 3, "{injected}");
}

#[test]
fn what_a_stranger_tells_of_a_message_that_is_here_is_not_taken() {
    let sandbox = with_session();
    sandbox.ok(&["bundle", "all.tract", "main"]);
    // The same commits came in by themselves elsewhere, where they are prompts.
    let other = Sandbox::new();
    let typed = session()
        .replace(r#""isMeta":true,"#, "")
        .replace("task-notification", "human");
    other.write("typed.jsonl", typed);
    other.ok(&["import", "typed.jsonl"]);
    let before = other.ok(&["log", "--role", "injected"]);
    let bundle = std::fs::read(sandbox.work().join("all.tract")).expect("a bundle");
    other.write("all.tract", bundle);
    other.ok(&["unbundle", "all.tract"]);
    other.ok(&["purge", "--match", "Forty", "--force"]);
    assert_eq!(other.ok(&["log", "--role", "injected"]), before);
}

#[test]
fn what_erases_session_files_leaves_who_spoke() {
    let sandbox = with_session();
    let injected = || -> Vec<String> {
        let told = sandbox.ok(&["log", "--role", "injected"]);
        let hashes = told.lines().map(|line| line[..7].to_owned());
        hashes.collect()
    };
    let before = injected();
    assert_eq!(before.len(), 2, "{before:?}");
    sandbox.ok(&["purge", "--match", "Forty", "--force"]);
    let kept = sandbox.texts("SELECT session FROM sources");
    assert!(kept.is_empty(), "{kept:?}");
    assert_eq!(injected(), before);
    // Nobody brings the file back.
    let told = sandbox.tract(&["export", "--format", "claude-code", "-o", "out.jsonl"]);
    assert!(told.contains("a purge erased the session file"), "{told}");
    assert!(!told.contains("--sources"), "{told}");
}

/// What a command copies has no record of its own.
#[test]
fn a_copy_of_what_a_client_says_is_no_prompt() {
    let branch = "claude-code-5e551011";
    let ways: [&[&[&str]]; 3] = [
        &[&["merge", "--messages", "--allow-unrelated-histories", branch]],
        &[&["pick", &format!("{branch}:1"), &format!("{branch}:4")]],
        &[
            &["checkout", "-b", "aside", &format!("{branch}~2")],
            &["commit", "-r", "user", "-m", "By the way."],
            &["checkout", branch],
            &["rebase", "aside"],
        ],
    ];
    for way in ways {
        let sandbox = Sandbox::with_messages(&[("user", "Hello."), ("assistant", "Good day.")]);
        sandbox.write("session.jsonl", session());
        sandbox.ok(&["import", "session.jsonl"]);
        for command in way {
            sandbox.ok(command);
        }
        sandbox.ok(&["clone", ".", "../clone"]);
        for here in [".", "../clone"] {
            let [prompts, _, injected, ..] = &speakers(&sandbox, here)[..] else {
                panic!("they are told");
            };
            assert_eq!(injected.lines().count(), 2, "{way:?} {here}: {injected}");
            assert!(!prompts.contains("wheel"), "{way:?} {here}: {prompts}");
        }
    }
}
