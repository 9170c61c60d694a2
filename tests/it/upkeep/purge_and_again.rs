//! What is written again after it was erased: a new message. What was erased stays so.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tract::ingest::{ImportRequest, import};
use tract::model::{Millis, RefName, RefValue};
use tract::repo::{Call, Repo, Target};
use tract::rewrite::SurgeryOptions;

use crate::sandbox::Sandbox;

const ERASED: &str = "My password is hunter2.";

/// A chat in the form that `import` reads.
fn chat(messages: &[(&str, &str)]) -> String {
    let messages = messages.iter();
    let messages = messages.map(|(role, text)| json!({"role": role, "content": text}));
    json!({"messages": messages.collect::<Vec<Value>>()}).to_string()
}

/// The texts of a context.
fn texts(sandbox: &Sandbox, rev: &str) -> Vec<String> {
    let request: Value = serde_json::from_str(&sandbox.ok(&["compile", rev])).expect("JSON");
    let messages = request["messages"].as_array().expect("a list");
    let text = |message: &Value| message["content"].as_str().expect("a text").to_owned();
    messages.iter().map(text).collect()
}

fn purge(sandbox: &Sandbox) {
    sandbox.ok(&["clear", "--all", "--purge", "--force"]);
}

#[test]
fn what_is_typed_again_after_a_purge_is_sent() {
    let sandbox = Sandbox::with_messages(&[("user", ERASED)]);
    let erased = sandbox.ok(&["log", "-n", "1", "--format", "%H"]);
    purge(&sandbox);
    sandbox.ok(&["commit", "-r", "user", "-m", ERASED]);
    assert_eq!(texts(&sandbox, "HEAD"), [ERASED]);

    let message = sandbox.write(
        "one.json",
        json!({"role": "user", "content": ERASED}).to_string(),
    );
    sandbox.ok(&["commit", "--json", &message.display().to_string()]);
    let lines = format!("{}\n", json!({"role": "user", "content": ERASED})).repeat(2);
    let lines = sandbox.write("lines.jsonl", lines);
    sandbox.ok(&["commit", "--batch", &lines.display().to_string()]);
    sandbox.ok(&["commit", "-r", "user", "-m", "A slip of the pen."]);
    sandbox.ok(&["commit", "--edit", "HEAD", "-m", ERASED]);
    assert_eq!(texts(&sandbox, "HEAD"), [ERASED; 5]);
    // What was erased is as it was.
    assert_eq!(texts(&sandbox, erased.trim()), ["[purged]"]);
    insta::assert_snapshot!(sandbox.ok(&["find", "-F", "hunter2"]), @r"
    368292c  2026-03-14 12:10:00  user (edit)  main:5
        My password is hunter2.
    6a8f082  2026-03-14 12:08:00  user         main:4
        My password is hunter2.
    14a11be  2026-03-14 12:08:00  user         main:3
        My password is hunter2.
    15d49e5  2026-03-14 12:07:00  user         main:2
        My password is hunter2.
    9f883fb  2026-03-14 12:05:00  user         main:1
        My password is hunter2.
    ");

    // And once more: what was written since is erased like anything else, and comes back.
    let again = sandbox.ok(&["log", "-n", "1", "--format", "%H"]);
    purge(&sandbox);
    assert_eq!(texts(&sandbox, again.trim()), ["[purged]"; 5]);
    sandbox.ok(&["commit", "-r", "user", "-m", ERASED]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "Noted."]);
    assert_eq!(texts(&sandbox, "HEAD"), [ERASED, "Noted."]);
    assert_eq!(texts(&sandbox, again.trim()), ["[purged]"; 5]);
}

#[test]
fn markers_stubs_and_summaries_are_written_anew_after_a_purge() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("user", "two"), ("user", "three")]);
    sandbox.ok(&["truncate", "--keep", "1"]);
    sandbox.ok(&["compact", "--keep", "0", "-m", "In short: three."]);
    let before = texts(&sandbox, "HEAD");
    purge(&sandbox);
    for text in ["one", "two", "three"] {
        sandbox.ok(&["commit", "-r", "user", "-m", text]);
    }
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--keep", "1"]), @r"
    --- stderr
    Hid 1 message (+13 tokens); HEAD is now fd16aa0
    ");
    let marked = texts(&sandbox, "HEAD");
    assert!(!marked.contains(&"[purged]".to_owned()), "{marked:?}");
    sandbox.ok(&["compact", "--keep", "0", "-m", "In short: three."]);
    assert_eq!(texts(&sandbox, "HEAD"), before);
}

#[test]
fn a_session_that_was_erased_stays_so_and_grows() {
    let sandbox = Sandbox::new();
    let said = [
        ("user", ERASED),
        ("assistant", "I keep it."),
        ("user", "Thanks."),
    ];
    sandbox.write("talk.json", chat(&said));
    sandbox.ok(&["import", "talk.json"]);
    purge(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["import", "talk.json"]), @r"
    --- stderr
    Nothing new in openai talk: 3 messages
    ");
    assert_eq!(texts(&sandbox, "openai/talk"), ["[purged]"; 3]);

    // Text that is erased, at another place, and text that is new.
    let more = [
        said[0],
        said[1],
        said[2],
        ("assistant", "Welcome."),
        ("user", ERASED),
    ];
    sandbox.write("talk.json", chat(&more));
    insta::assert_snapshot!(sandbox.tract(&["import", "talk.json"]), @r"
    --- stderr
    Updated openai talk: 2 new commits, now 5 messages; main has commits of its own, so it stays
    hint: the new messages are in the session: tract log openai/talk
    ");
    let grown = ["[purged]", "[purged]", "[purged]", "Welcome.", ERASED];
    assert_eq!(texts(&sandbox, "openai/talk"), grown);
    insta::assert_snapshot!(sandbox.tract(&["import", "talk.json"]), @r"
    --- stderr
    Nothing new in openai talk: 5 messages
    ");
    assert_eq!(texts(&sandbox, "openai/talk"), grown);
}

#[test]
fn an_erased_session_whose_settings_moved_stays_erased() {
    let sandbox = Sandbox::new();
    let request = |messages: &[(&str, &str)]| {
        let mut request: Value = serde_json::from_str(&chat(messages)).expect("JSON");
        request["model"] = "m-1".into();
        request.to_string()
    };
    let said = [("user", ERASED), ("assistant", "I keep it.")];
    sandbox.write("talk.json", request(&said));
    sandbox.ok(&["import", "talk.json"]);
    purge(&sandbox);
    // The settings of a request stand on its last message, which is now another one.
    sandbox.write(
        "talk.json",
        request(&[said[0], said[1], ("user", "Thanks.")]),
    );
    sandbox.ok(&["import", "talk.json"]);
    let grown = ["[purged]", "[purged]", "Thanks."];
    assert_eq!(texts(&sandbox, "openai/talk"), grown);
    insta::assert_snapshot!(sandbox.tract(&["import", "talk.json"]), @r"
    --- stderr
    Nothing new in openai talk: 3 messages
    ");
    assert_eq!(texts(&sandbox, "openai/talk"), grown);
}

#[test]
fn another_session_with_erased_text_comes_in_as_new() {
    let sandbox = Sandbox::new();
    // Without times: their first commits would be the same.
    let said = [
        ("user", ERASED),
        ("assistant", "I keep it."),
        ("user", "Thanks."),
    ];
    sandbox.write("talk.json", chat(&said));
    sandbox.ok(&["import", "talk.json"]);
    purge(&sandbox);
    let other = [said[0], said[1], ("user", "Forget it.")];
    sandbox.write("other.json", chat(&other));
    let all = [ERASED, "I keep it.", "Forget it."];
    insta::assert_snapshot!(sandbox.tract(&["import", "other.json"]), @r"
    --- stderr
    Imported openai other: 3 messages, on other
    hint: HEAD stayed where it was; to look: tract --on other status
    ");
    assert_eq!(texts(&sandbox, "openai/other"), all);
    insta::assert_snapshot!(sandbox.tract(&["import", "other.json"]), @r"
    --- stderr
    Nothing new in openai other: 3 messages
    ");
    assert_eq!(texts(&sandbox, "openai/other"), all);
    assert_eq!(texts(&sandbox, "openai/talk"), ["[purged]"; 3]);
    sandbox.ok(&["import", "talk.json"]);
    assert_eq!(texts(&sandbox, "openai/talk"), ["[purged]"; 3]);

    // Erased there too, it stays so there, and a third one is new again.
    sandbox.ok(&["checkout", "other"]);
    purge(&sandbox);
    sandbox.ok(&["import", "other.json"]);
    assert_eq!(texts(&sandbox, "openai/other"), ["[purged]"; 3]);
    sandbox.write("third.json", chat(&other));
    sandbox.ok(&["import", "third.json"]);
    assert_eq!(texts(&sandbox, "openai/third"), all);
    let before = sandbox.ok(&["log", "openai/third", "-n", "0", "--format", "%H"]);
    insta::assert_snapshot!(sandbox.tract(&["import", "third.json"]), @r"
    --- stderr
    Nothing new in openai third: 3 messages
    ");
    assert_eq!(
        sandbox.ok(&["log", "openai/third", "-n", "0", "--format", "%H"]),
        before
    );
    for session in ["openai/talk", "openai/other"] {
        assert_eq!(texts(&sandbox, session), ["[purged]"; 3]);
    }
}

#[test]
fn what_was_written_again_is_taken_over_exported_and_resumed() {
    let sandbox = Sandbox::with_messages(&[("user", ERASED)]);
    purge(&sandbox);
    let said = [("user", ERASED), ("assistant", "I keep it.")];
    sandbox.write("talk.json", chat(&said));
    sandbox.ok(&["import", "talk.json", "--onto", "main"]);
    let all = [ERASED, "I keep it."];
    assert_eq!(texts(&sandbox, "main"), all);
    let exported = sandbox.ok(&["export", "main", "--format", "anthropic"]);
    assert!(
        exported.contains(ERASED) && !exported.contains("again"),
        "{exported}"
    );
    insta::assert_snapshot!(sandbox.ok(&["diff", "openai/talk", "main"]), @r"
    comparing openai/talk with main
    no differences: 2 messages, 21 tokens
    cache   all 2 messages identical
    ");

    // A session that goes on from there is known by its words, and adds what is new.
    sandbox.ok(&["resume", "main", "--in", "codex"]);
    let file = newest_file(&sandbox.home().join(".codex"));
    let name = file.display().to_string();
    sandbox.ok(&["import", &name]);
    let line = json!({"timestamp": "2026-03-14T13:00:00.000Z", "type": "response_item", "payload":
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ERASED}]}});
    let file_text = std::fs::read_to_string(&file).expect("a session");
    std::fs::write(&file, format!("{file_text}{line}\n")).expect("written");
    insta::assert_snapshot!(sandbox.tract(&["import", &name]), @r"
    --- stderr
    Updated codex 019cec3f-0900: 1 new commit, now 3 messages, on codex-019cec3f
      records other than messages  4 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: HEAD stayed where it was; to look: tract --on codex-019cec3f status
    ");
    let session = sandbox.ok(&["log", "-n", "1", "--format", "%h", "HEAD"]);
    assert!(!session.is_empty());
}

/// The one file below a folder.
fn newest_file(folder: &Path) -> PathBuf {
    let entry = std::fs::read_dir(folder).expect("a folder").next();
    let path = entry.expect("one").expect("readable").path();
    if path.is_dir() {
        newest_file(&path)
    } else {
        path
    }
}

/// Every file of every importer: erased, it comes in again as it is, further paths included.
#[test]
fn no_format_brings_back_what_was_erased() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let folders = std::fs::read_dir(data).expect("the data");
    let folders = folders.map(|folder| folder.expect("a folder").path());
    // Repositories of earlier formats are no sessions, nor are the tables of which a test makes a database.
    let others = ["repositories", "langgraph-states"];
    let formats = folders.filter(|folder| !others.iter().any(|other| folder.ends_with(other)));
    let files = formats.flat_map(|folder| std::fs::read_dir(folder).expect("files"));
    let mut tried = 0;
    for file in files {
        let file = file.expect("a file").path();
        // Rows of a database, and a session of many files, as the importer joins them.
        let joined = ["agno/session.json", "strands/session.json"];
        let is_joined = joined.iter().any(|name| file.ends_with(name));
        if file.extension().is_none() || is_joined {
            continue;
        }
        let repo = Repo::ephemeral().expect("a repository");
        let bring_in = || {
            let request = ImportRequest::at(Millis(0), "import");
            import(&repo, &file, &request, &mut |_| {}).expect("imports")
        };
        bring_in();
        let (call, options) = (Call::default(), SurgeryOptions::default());
        // Of a path that another one goes on from nothing is left to erase.
        let mut erased = 0;
        for (branch, _) in repo.references(RefName::HEADS).expect("branches") {
            let branch = Target::Named(branch.short().to_owned());
            repo.checkout(call, &branch).expect("checked out");
            repo.clear(call, true, &options).expect("cleared");
            erased += repo.purge(call).expect("purged").contents;
        }
        assert!(erased > 0, "{}", file.display());
        let compiled = || {
            let sessions = repo.references(RefName::SESSIONS).expect("sessions");
            let messages = |(_, value): &(RefName, RefValue)| match value {
                RefValue::Commit(tip) => {
                    let context = repo.context(tip).expect("a context");
                    repo.messages(&context).expect("its messages")
                }
                RefValue::Symbolic(_) => Vec::new(),
            };
            let messages: Vec<_> = sessions.iter().map(messages).collect();
            (sessions, messages)
        };
        let before = compiled();
        let report = bring_in();
        assert_eq!(compiled(), before, "{}", file.display());
        let new: u64 = report
            .sessions
            .iter()
            .map(|session| session.new_commits)
            .sum();
        assert_eq!(new, 0, "{}", file.display());
        tried += before.1.len();
    }
    assert!(tried > 20, "{tried}");
}
