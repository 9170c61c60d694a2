//! Sessions of Gemini CLI and of Qwen Code where the tools keep them: found, taken in with those of their
//! agents, and written there to be gone on with.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::sandbox::Sandbox;

const LINES: &str = include_str!("../../data/gemini/lines.jsonl");
const AGENT: &str = include_str!("../../data/gemini/agent.jsonl");
const CHANGED: &str = include_str!("../../data/gemini/changed.jsonl");
const PLAIN: &str = include_str!("../../data/gemini/plain.json");
const QWEN: &str = include_str!("../../data/qwen/plain.jsonl");
const QWEN_AGENT: &str = include_str!("../../data/qwen/agent.jsonl");

/// The ids in the fixtures.
const ID: &str = "7a1d2c3b-0000-4000-8000-000000000011";
const AGENTS_ID: &str = "7a1d2c3b-0000-4000-8000-0000000000aa";
const QWENS_ID: &str = "8b1d2c3b-0000-4000-8000-000000000021";

fn put(sandbox: &Sandbox, place: &str, text: &str) -> PathBuf {
    let path = sandbox.home().join(place);
    std::fs::create_dir_all(path.parent().expect("it has one")).expect("made");
    std::fs::write(&path, text).expect("written");
    path
}

/// Has a file be of a minute of 2026.
fn at_minute(path: &Path, minute: u64) {
    let file = std::fs::File::options().append(true).open(path);
    let time = UNIX_EPOCH + Duration::from_secs(1_770_000_000 + 60 * minute);
    file.expect("opens").set_modified(time).expect("set");
}

/// A home with a session of Gemini CLI's and its agent's, an older one, what is none, and two of Qwen Code's.
fn home() -> Sandbox {
    let sandbox = Sandbox::empty();
    let chats = ".gemini/tmp/pantry/chats";
    let project = ".qwen/projects/-home-mara-pantry";
    let files = [
        (
            format!("{chats}/session-2026-01-02T10-00-6f1d2c3b.json"),
            PLAIN,
        ),
        (
            format!("{chats}/session-2026-02-03T09-00-7a1d2c3b.jsonl"),
            LINES,
        ),
        (format!("{chats}/{ID}/{AGENTS_ID}.jsonl"), AGENT),
        (
            ".gemini/tmp/pantry/logs.json".into(),
            r#"[{"sessionId":"s","type":"user","message":"hi"}]"#,
        ),
        (
            ".gemini/tmp/pantry/checkpoint-a.json".into(),
            r#"{"history":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
        ),
        (format!("{project}/chats/{QWENS_ID}.jsonl"), QWEN),
        (
            format!("{project}/subagents/{QWENS_ID}/agent-look-1.jsonl"),
            QWEN_AGENT,
        ),
    ];
    for ((place, text), minute) in files.into_iter().zip(0..) {
        at_minute(&put(&sandbox, &place, text), minute);
    }
    sandbox
}

#[test]
fn all_sessions_are_found_with_those_of_their_agents() {
    let sandbox = home();
    let told = sandbox.tract(&["import", "--all"]);
    insta::assert_snapshot!(told);
    insta::assert_snapshot!(sandbox.ok(&["branch"]));
}

#[test]
fn a_watch_takes_them_in_and_what_grows() {
    let sandbox = home();
    sandbox.ok(&["init"]);
    let told = sandbox.tract(&["watch", "--once"]);
    insta::assert_snapshot!(told);
    let path = ".gemini/tmp/pantry/chats/session-2026-02-03T09-00-7a1d2c3b.jsonl";
    let more = r#"{"id":"u9","timestamp":"2026-02-03T09:01:00.000Z","type":"user","content":[{"text":"Thanks."}]}"#;
    put(&sandbox, path, &format!("{LINES}{more}\n"));
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]));
    assert!(sandbox.tract(&["watch", "--once"]).contains("nothing new"));
}

#[test]
fn the_sessions_of_a_directory_are_told_by_its_hash() {
    let sandbox = Sandbox::empty();
    let work = std::fs::canonicalize(sandbox.work()).expect("a directory");
    let hash = sha256(&work.to_string_lossy());
    let known = "0000000000000000000000000000000000000000000000000000000000000000";
    let own = |text: &str, of: &str| text.replace(of, &hash);
    let value: Value = serde_json::from_str(LINES.lines().next().expect("a line")).expect("JSON");
    let of = value["projectHash"].as_str().expect("a hash").to_owned();
    assert_ne!(of, known);
    let chats = ".gemini/tmp/work/chats";
    put(
        &sandbox,
        &format!("{chats}/session-2026-02-03T09-00-7a1d2c3b.jsonl"),
        &own(LINES, &of),
    );
    put(
        &sandbox,
        ".gemini/tmp/else/chats/session-2026-02-03T09-00-7a1d2c3c.jsonl",
        LINES,
    );
    let value: Value = serde_json::from_str(PLAIN).expect("JSON");
    let of = value["projectHash"].as_str().expect("a hash").to_owned();
    put(
        &sandbox,
        &format!("{chats}/session-2026-01-02T10-00-6f1d2c3b.json"),
        &own(PLAIN, &of),
    );
    let listed = sandbox.tract(&["import"]);
    assert_eq!(listed.matches("  gemini  ").count(), 2, "{listed}");
}

/// The SHA-256 of a text, by the tool that every system has.
fn sha256(text: &str) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let stdin = child.stdin.take().expect("piped");
    { stdin }.write_all(text.as_bytes()).expect("taken");
    let out = child.wait_with_output().expect("it ends").stdout;
    String::from_utf8_lossy(&out[..64]).into_owned()
}

#[test]
fn what_the_tool_changed_is_history() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", CHANGED);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]));
    insta::assert_snapshot!(sandbox.ok(&["log", "-n", "0", "--oneline"]));
    insta::assert_snapshot!(sandbox.ok(&["compile", "--format", "text"]));
    // What was sent before the summary is there.
    let before = sandbox.ok(&["compile", "HEAD~4", "--format", "text"]);
    assert!(before.contains("Go on."), "{before}");
    let bytes = sandbox.ok(&["export", "--format", "gemini"]);
    assert_eq!(bytes, CHANGED);
    sandbox.ok(&["fsck"]);
}

#[test]
fn a_session_is_gone_on_with_in_its_tool() {
    let sandbox = Sandbox::empty();
    let work = std::fs::canonicalize(sandbox.work()).expect("a directory");
    let list = serde_json::json!({"projects": {&*work.to_string_lossy(): "my-work"}});
    put(&sandbox, ".gemini/projects.json", &list.to_string());
    sandbox.write("session.jsonl", LINES);
    sandbox.ok(&["import", "session.jsonl"]);
    let told = sandbox.tract(&["resume", "--in", "gemini"]);
    assert!(told.contains("gemini --resume "), "{told}");
    let chats = sandbox.home().join(".gemini/tmp/my-work/chats");
    let mut files = std::fs::read_dir(&chats).expect("a folder");
    let file = files.next().expect("a file").expect("readable").path();
    let text = std::fs::read_to_string(&file).expect("readable");
    let first: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    let id = first["sessionId"].as_str().expect("an id");
    assert!(told.contains(id), "{told}");
    let name = file.file_name().expect("a name").to_string_lossy();
    assert!(name.ends_with(&format!("-{}.jsonl", &id[..8])), "{name}");
    assert_eq!(first["projectHash"], sha256(&work.to_string_lossy()));
    // The tool goes on with it: it says its beginning anew, then the list, and a prompt.
    let before = sandbox.ok(&["rev-parse", "HEAD"]);
    let list: Vec<&str> = text.lines().skip(1).collect();
    let grown = format!(
        "{text}{}\n{{\"$set\":{{\"messages\":[{}]}}}}\n{{\"$set\":{{\"messages\":[{}]}}}}\n{}\n",
        text.lines().next().expect("a line"),
        list[0],
        list.join(","),
        r#"{"id":"n1","timestamp":"2026-02-03T10:00:00.000Z","type":"user","content":[{"text":"And now?"}]}"#,
    );
    std::fs::write(&file, grown).expect("written");
    let told = sandbox.tract(&["import", &file.display().to_string()]);
    assert!(told.contains("gemini"), "{told}");
    let name = format!("sessions/gemini/{id}");
    let log = sandbox.ok(&["log", &name, "-n", "0", "--format", "%H %s"]);
    let parent = log.lines().nth(1).expect("a commit behind the prompt");
    assert!(parent.starts_with(before.trim()), "{before}\n{log}");
}

#[test]
fn a_session_of_qwen_code_is_gone_on_with_there() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", QWEN);
    sandbox.ok(&["import", "session.jsonl"]);
    let told = sandbox.tract(&["resume"]);
    assert!(told.contains("qwen --resume "), "{told}");
    let bytes = sandbox.ok(&["export", "--format", "qwen"]);
    assert_eq!(bytes, QWEN);
}

/// A process that goes on with a session in a later minute leaves a file of its id with the beginning alone; the next
/// start then deletes the session's own.
#[test]
fn what_a_resume_leaves_of_a_session_is_passed_over() {
    let head = LINES.lines().next().expect("a line");
    let context = |minute: u64| {
        let text =
            format!("<session_context>\nThis is the Gemini CLI, at {minute}.\n</session_context>");
        let message = serde_json::json!({"id": "c0", "timestamp": format!("2026-02-03T10:{minute:02}:00.000Z"),
            "type": "user", "content": [{"text": text}]});
        serde_json::json!({"$set": {"messages": [message]}}).to_string()
    };
    let stub = |minute: u64| format!("{head}\n{}\n", context(minute));
    let name = |hour: u64| {
        format!(".gemini/tmp/pantry/chats/session-2026-02-03T{hour:02}-00-7a1d2c3b.jsonl")
    };
    let count = |told: &str| told.matches("7a1d2c3b").count();
    // The stub is newer or older than the session, by its name and by its time.
    for (own, stubs) in [(9, [10, 11]), (11, [9, 10])] {
        let sandbox = Sandbox::empty();
        at_minute(&put(&sandbox, &name(own), LINES), own);
        for hour in stubs {
            at_minute(&put(&sandbox, &name(hour), &stub(hour)), hour);
        }
        let listed = sandbox.ok(&["import", "--all", "--list"]);
        assert_eq!(listed.lines().count(), 1 + 1, "{listed}");
        assert!(listed.contains(&name(own)), "{listed}");
        let chats = sandbox.home().join(".gemini/tmp/pantry/chats");
        let chats = chats.to_str().expect("a path");
        let whole = {
            let alone = Sandbox::empty();
            let path = put(&alone, &name(own), LINES);
            alone.ok(&["import", path.to_str().expect("a path")]);
            alone.ok(&["log", "--oneline"])
        };
        for way in [
            &["import", "--all"][..],
            &["import", chats],
            &["watch", "--once"],
        ] {
            let sandbox = {
                let fresh = Sandbox::empty();
                fresh.ok(&["init"]);
                for (hour, text) in [
                    (own, LINES.to_owned()),
                    (stubs[0], stub(stubs[0])),
                    (stubs[1], stub(stubs[1])),
                ] {
                    at_minute(&put(&fresh, &name(hour), &text), hour);
                }
                fresh
            };
            let way: Vec<String> = way
                .iter()
                .map(|word| {
                    word.replace(
                        chats,
                        &sandbox
                            .home()
                            .join(".gemini/tmp/pantry/chats")
                            .to_string_lossy(),
                    )
                })
                .collect();
            let way: Vec<&str> = way.iter().map(String::as_str).collect();
            let told = sandbox.tract(&way);
            assert!(
                !told.contains("anew") && !told.contains("problem"),
                "{way:?}: {told}"
            );
            let branches = sandbox.ok(&["branch"]);
            assert_eq!(branches.lines().count(), 1, "{way:?}: {branches}");
            let branch = branches
                .split_whitespace()
                .find(|word| word.contains("7a1d2c3b"));
            let log = sandbox.ok(&["log", "--oneline", branch.unwrap_or("main")]);
            assert_eq!(log.lines().count(), whole.lines().count(), "{way:?}: {log}");
            // The client deletes it; what is here stays.
            std::fs::remove_file(sandbox.home().join(name(own))).expect("there");
            sandbox.tract(&["watch", "--once"]);
            assert_eq!(
                sandbox.ok(&["log", "--oneline", branch.unwrap_or("main")]),
                log
            );
        }
        assert_eq!(count(&listed), 2, "its id and its place: {listed}");
    }
}
