//! Commands of the user's that may refuse a commit or a merge.

use serde_json::{Value, json};

use crate::programs::api::{ask, wrong};
use crate::sandbox::{Sandbox, dump};

/// Keeps what it is asked, and refuses what has `no` in its first message.
const HOOK: &str = r#"cat > asked.json; if grep -q '"text":"no' asked.json; then echo 'not   in' >&2; printf 'here \033[31m' >&2; exit 3; fi"#;

fn asked(sandbox: &Sandbox) -> Value {
    let path = sandbox.work().join("asked.json");
    let text = std::fs::read_to_string(&path).expect("it was asked");
    std::fs::remove_file(path).expect("read");
    serde_json::from_str(&text).expect("JSON")
}

fn guarded() -> Sandbox {
    let sandbox = Sandbox::with_messages(&[("system", "Be brief."), ("user", "Hello.")]);
    sandbox.ok(&["config", "hook.commit", HOOK]);
    sandbox
}

/// Two branches that went on, of which `idea` is merged into main, and main can go forward to `ahead`.
fn parted() -> Sandbox {
    let sandbox = Sandbox::with_messages(&[("system", "Be brief."), ("user", "Hello.")]);
    sandbox.ok(&["checkout", "-b", "idea"]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "An idea."]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "Good day."]);
    sandbox.ok(&["checkout", "-b", "ahead"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "And now?"]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&[
        "config",
        "hook.merge",
        "cat > asked.json; echo no merges today; exit 1",
    ]);
    sandbox
}

#[test]
fn a_hook_refuses_a_commit_and_nothing_is_written() {
    let sandbox = guarded();
    let before = dump(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-m", "no way", "--note", "why"]), @r"
    exit code: 1
    --- stderr
    error: hook.commit refused it: not in here ␛[31m
    hint: --no-verify does not ask it
    ");
    let question = asked(&sandbox);
    assert_eq!(question["hook"], "commit");
    assert_eq!(question["messages"][0]["role"], "user");
    assert_eq!(question["messages"][0]["parts"][0]["text"], "no way");
    assert_eq!(
        (&question["note"], &question["branch"]),
        (&json!("why"), &json!("main"))
    );
    assert_eq!(question["head"], sandbox.ok(&["rev-parse", "HEAD"]).trim());
    // By every way in.
    let no = json!({ "role": "user", "content": "no" });
    sandbox.write(
        "no.jsonl",
        format!("{}\n{no}\n", json!({ "role": "user", "content": "yes" })),
    );
    let refused = "hook.commit refused it";
    for words in [
        &["commit", "--edit", ":2", "-m", "no"][..],
        &["commit", "--json", &no.to_string()],
        &["commit", "--after", "none", "-r", "user", "-m", "no"],
    ] {
        let told = sandbox.tract(words);
        assert!(
            told.starts_with("exit code: 1") && told.contains(refused),
            "{words:?}: {told}"
        );
    }
    assert!(asked(&sandbox).get("edit").is_none());
    let fault = wrong(
        &sandbox,
        "commit",
        json!({ "role": "user", "message": "no" }),
    );
    assert_eq!(
        (&fault["kind"], &fault["exit_code"]),
        (&json!("hook_refused"), &json!(1))
    );
    let told = sandbox.tract_with(&["chat", "--agent", "cat"], "no\n");
    assert!(told.contains(refused), "{told}");
    assert_eq!(dump(&sandbox), before);
    // What it allows is committed, and what nobody asks it about.
    for words in [
        &["commit", "-r", "user", "-m", "yes"][..],
        &["commit", "-r", "user", "-m", "no way", "--no-verify"],
    ] {
        sandbox.ok(words);
    }
    ask(
        &sandbox,
        "commit",
        json!({ "role": "user", "message": "no", "no_verify": true }),
    );
    assert_eq!(
        sandbox.ok(&["log", "-n", "0", "--oneline"]).lines().count(),
        5
    );
}

#[test]
fn an_edit_names_what_it_replaces() {
    let sandbox = guarded();
    sandbox.ok(&["commit", "--edit", ":2", "-m", "Good day."]);
    let id = sandbox.ok(&["log", "-n", "1", "--format", "%H", "HEAD~1"]);
    assert_eq!(asked(&sandbox)["edit"], id.trim());
}

#[test]
fn a_hook_is_told_where_the_message_goes_and_with_which_settings() {
    let sandbox = guarded();
    sandbox.ok(&[
        "commit", "--after", "HEAD~1", "-r", "user", "-m", "Aside.", "--set", "stop=[1]",
    ]);
    let question = asked(&sandbox);
    assert_eq!(
        question["head"],
        sandbox.ok(&["rev-parse", "HEAD~1"]).trim()
    );
    assert_eq!(
        (question.get("branch"), &question["settings"]["stop"]),
        (None, &json!([1]))
    );
}

#[test]
fn where_head_goes_elsewhere_meanwhile_nothing_is_written() {
    let sandbox = Sandbox::with_messages(&[("system", "Be brief."), ("user", "Hello.")]);
    sandbox.ok(&["branch", "idea"]);
    let tract = env!("CARGO_BIN_EXE_tract");
    for (key, words) in [
        ("hook.commit", &["commit", "-r", "user", "-m", "Go on."][..]),
        ("hook.merge", &["merge", "idea"]),
    ] {
        sandbox.ok(&[
            "config",
            key,
            &format!("{tract} checkout -q other || {tract} checkout -q -b other"),
        ]);
        let before = sandbox.ok(&["log", "-n", "0", "--format", "%H", "main"]);
        assert!(
            sandbox.tract(words).starts_with("exit code: 4"),
            "{words:?}"
        );
        for branch in ["main", "other"] {
            assert_eq!(
                sandbox.ok(&["log", "-n", "0", "--format", "%H", branch]),
                before
            );
        }
        sandbox.ok(&["config", "--unset", key]);
        sandbox.ok(&["checkout", "main"]);
    }
}

#[test]
fn a_hook_that_commits_is_not_asked_without_end() {
    let sandbox = guarded();
    let tract = env!("CARGO_BIN_EXE_tract");
    sandbox.ok(&[
        "config",
        "hook.commit",
        &format!("{tract} commit -r user -m nested"),
    ]);
    let told = sandbox.tract(&["commit", "-r", "user", "-m", "Go on."]);
    assert!(
        told.contains("would be asked about that without end"),
        "{told}"
    );
    assert_eq!(
        sandbox.ok(&["log", "-n", "0", "--oneline"]).lines().count(),
        2
    );
}

#[test]
fn what_was_typed_in_an_editor_is_kept_where_it_is_refused() {
    let sandbox = guarded();
    let script = sandbox.write("editor.sh", "printf 'no, and a long thought' > \"$1\"\n");
    let editor = format!("sh {}", script.display());
    let Some(told) = sandbox.drawn("200", &["commit", "-r", "user"], &[("EDITOR", &editor)]) else {
        return;
    };
    let (_, path) = told.split_once("your text is in ").expect("it says where");
    let path: String = path.split_whitespace().next().expect("a path").to_owned();
    assert_eq!(
        std::fs::read_to_string(path).expect("kept"),
        "no, and a long thought"
    );
}

#[test]
fn a_hook_that_cannot_run_refuses() {
    let sandbox = guarded();
    sandbox.ok(&["config", "hook.commit", "/nowhere/at-all"]);
    let told = sandbox.tract(&["commit", "-r", "user", "-m", "Hello?"]);
    assert!(told.starts_with("exit code: 1"), "{told}");
    assert!(
        told.contains("hook.commit refused it: ") && told.contains("/nowhere/at-all"),
        "{told}"
    );
    sandbox.ok(&["config", "hook.commit", "false"]);
    let told = sandbox.tract(&["commit", "-r", "user", "-m", "Hello?"]);
    assert!(
        told.contains("hook.commit refused it: it said nothing"),
        "{told}"
    );
    sandbox.ok(&["config", "--unset", "hook.commit"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Hello?"]);
}

#[test]
fn a_hook_refuses_a_merge_and_nothing_is_written() {
    let sandbox = parted();
    let before = dump(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["merge", "idea"]), @r"
    exit code: 1
    --- stderr
    error: hook.merge refused it: no merges today
    hint: --no-verify does not ask it
    ");
    let question = asked(&sandbox);
    assert_eq!(
        (&question["hook"], &question["name"]),
        (&json!("merge"), &json!("idea"))
    );
    assert_eq!(
        question["commit"],
        sandbox.ok(&["rev-parse", "idea"]).trim()
    );
    // Where main would only go forward, too, and through the method.
    assert!(
        sandbox
            .tract(&["merge", "ahead"])
            .contains("no merges today")
    );
    assert_eq!(
        wrong(&sandbox, "merge", json!({ "rev": "idea" }))["kind"],
        "hook_refused"
    );
    sandbox.ok(&["merge", "idea", "--dry-run"]);
    assert_eq!(dump(&sandbox), before);
    sandbox.ok(&["merge", "idea", "--no-verify"]);
    sandbox.ok(&["undo"]);
    ask(
        &sandbox,
        "merge",
        json!({ "rev": "idea", "no_verify": true }),
    );
}

#[test]
fn a_merge_that_goes_on_is_asked_about_again() {
    let sandbox = Sandbox::with_messages(&[("system", "Be brief."), ("user", "Hello.")]);
    sandbox.ok(&["checkout", "-b", "idea"]);
    sandbox.ok(&["commit", "--edit", ":2", "-m", "Good day."]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["commit", "--edit", ":2", "-m", "Good night."]);
    assert!(
        sandbox
            .tract(&["merge", "idea"])
            .starts_with("exit code: 1")
    );
    sandbox.ok(&["resolve", "--theirs", ":2"]);
    sandbox.ok(&["config", "hook.merge", "exit 1"]);
    let tip = sandbox.ok(&["rev-parse", "HEAD"]);
    assert!(
        sandbox
            .tract(&["merge", "--continue"])
            .contains("hook.merge refused it")
    );
    assert_eq!(sandbox.ok(&["rev-parse", "HEAD"]), tip);
    sandbox.ok(&["merge", "--continue", "--no-verify"]);
    assert_ne!(sandbox.ok(&["rev-parse", "HEAD"]), tip);
}

#[test]
fn a_pull_that_merges_asks_too() {
    let sandbox = Sandbox::with_messages(&[("user", "Hello.")]);
    let other = sandbox.work().join("other");
    let other = other.display().to_string();
    sandbox.ok(&["clone", ".", &other]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "Here."]);
    sandbox.ok(&[
        "--repo",
        &other,
        "commit",
        "-r",
        "assistant",
        "-m",
        "There.",
    ]);
    sandbox.ok(&[
        "--repo",
        &other,
        "config",
        "hook.merge",
        "echo not now; exit 1",
    ]);
    let tip = sandbox.ok(&["--repo", &other, "rev-parse", "main"]);
    let told = sandbox.tract(&["--repo", &other, "pull", "--merge"]);
    assert!(told.contains("hook.merge refused it: not now"), "{told}");
    assert_eq!(sandbox.ok(&["--repo", &other, "rev-parse", "main"]), tip);
    sandbox.ok(&["--repo", &other, "pull", "--merge", "--no-verify"]);
    assert_ne!(sandbox.ok(&["--repo", &other, "rev-parse", "main"]), tip);
}
