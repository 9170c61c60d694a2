//! What a session of Claude Code is, beside its messages: its agent, its directory, its modes, its checkpoints, and
//! which words are the client's own. A resume takes it along.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::sessions::resume::written;

mod withdrawn;

const OLD: &str = "000000a7-0000-4000-8000-000000000000";
const FORK: &str = "000000b7-0000-4000-8000-000000000000";

/// A session file that is being made.
struct File {
    session: &'static str,
    cwd: String,
    lines: Vec<Value>,
    last: Value,
}

impl File {
    fn new(session: &'static str, cwd: &Path) -> Self {
        Self {
            session,
            cwd: cwd.display().to_string(),
            lines: Vec::new(),
            last: Value::Null,
        }
    }

    fn node(&mut self, uuid: &str, mut record: Value) -> &mut Self {
        let envelope = json!({
            "parentUuid": self.last, "isSidechain": false, "userType": "external", "cwd": self.cwd,
            "sessionId": self.session, "version": "2.1.332", "gitBranch": "main", "uuid": uuid,
            "timestamp": format!("2026-11-28T10:00:{:02}.000Z", self.lines.len()),
        });
        let fields = record.as_object_mut().expect("an object");
        fields.extend(envelope.as_object().expect("an object").clone());
        self.last = json!(uuid);
        self.lines.push(record);
        self
    }

    fn user(&mut self, uuid: &str, content: &Value, more: &Value) -> &mut Self {
        let mut record = json!({"type": "user", "message": {"role": "user", "content": content}});
        let fields = record.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        self.node(uuid, record)
    }

    fn reply(&mut self, uuid: &str, block: &Value, more: &Value) -> &mut Self {
        let message = json!({
            "id": format!("msg_{uuid}"), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": [block], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        });
        let mut record = json!({"type": "assistant", "message": message});
        let fields = record.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        self.node(uuid, record)
    }

    fn state(&mut self, mut record: Value) -> &mut Self {
        record["sessionId"] = json!(self.session);
        self.lines.push(record);
        self
    }

    fn write(&self, sandbox: &Sandbox) -> String {
        let lines = self.lines.iter().map(|line| format!("{line}\n"));
        let name = format!("{}.jsonl", self.session);
        sandbox.write(&name, lines.collect::<String>());
        name
    }
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A session of an agent, which entered a worktree after its first reply.
fn worktree(cwd: &Path) -> File {
    let side = cwd.join(".claude/worktrees/side");
    let session = json!({
        "originalCwd": cwd, "worktreePath": side, "worktreeName": "side", "sessionId": OLD,
    });
    let mut file = File::new(OLD, cwd);
    let effort = json!({"effort": "low", "perTurnEffort": "low", "requestRef": "r1"});
    file.state(json!({"type": "agent-setting", "agentSetting": "reviewer"}))
        .state(json!({"type": "permission-mode", "permissionMode": "plan"}))
        .user("u1", &json!("Review it."), &json!({}))
        .reply("a1", &text("Reviewed."), &effort)
        .state(json!({"type": "relocated", "relocatedCwd": side}))
        .state(json!({"type": "worktree-state", "worktreeSession": session}))
        .user("u2", &json!("Go on there."), &json!({}))
        .reply("a2", &text("Going on."), &effort)
        .state(json!({"type": "permission-mode", "permissionMode": "default"}))
        .state(json!({"type": "cost-state", "totalCostUSD": 1.5}))
        .state(json!({"type": "bridge-session", "bridgeSessionId": "b"}));
    file
}

/// The records of a kind.
fn of<'r>(records: &'r [Value], kind: &str) -> Vec<&'r Value> {
    records.iter().filter(|it| it["type"] == kind).collect()
}

/// The file of the session with an id.
fn file_of(sandbox: &Sandbox, id: &str) -> PathBuf {
    let projects = fs::read_dir(sandbox.home().join(".claude/projects")).expect("there");
    let mut files = projects.map(|it| it.expect("readable").path().join(format!("{id}.jsonl")));
    files.find(|path| path.is_file()).expect("written")
}

/// The records of the session that a resume writes, by the id in the command that it tells.
fn resumed(sandbox: &Sandbox, arguments: &[&str]) -> (String, Vec<Value>) {
    let told = sandbox.ok(&[&["resume"], arguments].concat());
    let id = told.split_whitespace().last().expect("an id").to_owned();
    let lines = fs::read_to_string(file_of(sandbox, &id)).expect("readable");
    let records = lines.lines().map(serde_json::from_str);
    (id, records.collect::<Result<_, _>>().expect("JSON"))
}

#[test]
fn a_resumed_session_is_the_same_agent_in_the_same_worktree() {
    let sandbox = Sandbox::new();
    let name = worktree(&sandbox.work()).write(&sandbox);
    sandbox.ok(&["import", &name]);
    let (id, records) = resumed(&sandbox, &[]);
    let only = |kind| {
        let found = of(&records, kind);
        let [one] = found[..] else {
            panic!("{kind}: {found:?}");
        };
        assert_eq!(one["sessionId"], id, "{one}");
        one
    };
    assert_eq!(only("agent-setting")["agentSetting"], "reviewer");
    assert_eq!(only("permission-mode")["permissionMode"], "default");
    let side = sandbox.work().join(".claude/worktrees/side");
    assert_eq!(only("relocated")["relocatedCwd"], json!(side));
    let session = &only("worktree-state")["worktreeSession"];
    assert_eq!(session["worktreePath"], json!(side));
    assert_eq!(session["sessionId"], id);
    for reply in of(&records, "assistant") {
        assert_eq!(
            (&reply["effort"], &reply["perTurnEffort"]),
            (&json!("low"), &json!("low"))
        );
        assert!(reply.get("requestRef").is_none(), "{reply}");
    }
    for kind in ["cost-state", "bridge-session"] {
        assert!(of(&records, kind).is_empty(), "{kind}");
    }
}

#[test]
fn an_earlier_commit_is_resumed_as_things_stood_then() {
    let sandbox = Sandbox::new();
    let name = worktree(&sandbox.work()).write(&sandbox);
    sandbox.ok(&["import", &name]);
    let (_, records) = resumed(&sandbox, &["HEAD~2"]);
    assert_eq!(of(&records, "agent-setting").len(), 1);
    assert_eq!(of(&records, "permission-mode")[0]["permissionMode"], "plan");
    // It was entered before the next prompt.
    assert_eq!(of(&records, "worktree-state").len(), 1);
    let (_, records) = resumed(&sandbox, &["HEAD~3"]);
    assert!(of(&records, "worktree-state").is_empty());
    assert!(of(&records, "relocated").is_empty());
}

#[test]
fn what_was_hidden_or_edited_takes_no_state_away() {
    let sandbox = Sandbox::new();
    let name = worktree(&sandbox.work()).write(&sandbox);
    sandbox.ok(&["import", &name]);
    sandbox.ok(&["commit", "--edit", "HEAD~1", "-m", "Go on elsewhere."]);
    sandbox.ok(&["truncate", "--keep", "1"]);
    let (_, records) = resumed(&sandbox, &[]);
    for kind in ["agent-setting", "worktree-state", "permission-mode"] {
        assert_eq!(of(&records, kind).len(), 1, "{kind}");
    }
}

#[test]
fn a_resumed_session_that_is_resumed_goes_on_from_its_own_state() {
    let sandbox = Sandbox::new();
    let name = worktree(&sandbox.work()).write(&sandbox);
    sandbox.ok(&["import", &name]);
    let (first, records) = resumed(&sandbox, &[]);
    let last = of(&records, "assistant").last().expect("a reply")["uuid"].clone();
    let session: &'static str = first.clone().leak();
    let mut file = File::new(session, &sandbox.work());
    file.lines = records;
    file.last = last;
    file.user("u3", &json!("And back."), &json!({}))
        .reply("a3", &text("Back."), &json!({}))
        .state(json!({"type": "relocated", "relocatedCwd": sandbox.work()}))
        .state(json!({"type": "worktree-state", "worktreeSession": null}))
        .state(json!({"type": "permission-mode", "permissionMode": "acceptEdits"}));
    let name = file.write(&sandbox);
    sandbox.ok(&["import", &name]);
    let (second, records) = resumed(&sandbox, &[&format!("claude-code/{first}")]);
    assert_ne!(first, second);
    assert!(of(&records, "worktree-state").is_empty());
    assert_eq!(
        of(&records, "permission-mode")[0]["permissionMode"],
        "acceptEdits"
    );
    assert_eq!(of(&records, "agent-setting")[0]["agentSetting"], "reviewer");
    assert_eq!(of(&records, "user").len(), 3);
}

#[test]
fn a_fork_gives_its_parent_no_state() {
    let sandbox = Sandbox::new();
    let cwd = sandbox.work();
    let name = worktree(&cwd).write(&sandbox);
    sandbox.ok(&["import", &name]);
    let mut fork = File::new(FORK, &cwd);
    fork.state(json!({"type": "agent-setting", "agentSetting": "painter"}))
        .user("u1", &json!("Review it."), &json!({}))
        .reply("a1", &text("Reviewed."), &json!({}))
        .user("u4", &json!("Paint it."), &json!({}))
        .reply("a4", &text("Painted."), &json!({}));
    let name = fork.write(&sandbox);
    sandbox.ok(&["import", &name]);
    let agent = |session: &str| {
        let (_, records) = resumed(&sandbox, &[&format!("claude-code/{session}")]);
        let agents = of(&records, "agent-setting");
        agents
            .iter()
            .map(|it| it["agentSetting"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(agent(OLD), ["reviewer"]);
    assert_eq!(agent(FORK), ["painter"]);
}

#[test]
fn a_session_that_moved_goes_on_where_it_moved_to() {
    let sandbox = Sandbox::new();
    let other = sandbox.work().join("other");
    fs::create_dir(&other).expect("made");
    let mut file = File::new(OLD, &sandbox.work());
    file.user("u1", &json!("Go there."), &json!({}))
        .reply("a1", &text("Gone."), &json!({}))
        .state(json!({"type": "relocated", "relocatedCwd": other}));
    let name = file.write(&sandbox);
    sandbox.ok(&["import", &name]);
    let told = sandbox.ok(&["resume"]);
    assert!(
        told.starts_with("cd ") && told.contains("/other && claude"),
        "{told}"
    );
    let records = written(&sandbox);
    assert_eq!(of(&records, "relocated")[0]["relocatedCwd"], json!(other));
    assert_eq!(of(&records, "user")[0]["cwd"], json!(other));
}

#[test]
fn of_a_worktree_that_is_gone_the_client_hears() {
    let sandbox = Sandbox::new();
    let name = worktree(Path::new("/gone/away")).write(&sandbox);
    sandbox.ok(&["import", &name]);
    let (_, records) = resumed(&sandbox, &[]);
    assert_eq!(of(&records, "worktree-state").len(), 1);
}

#[test]
fn checkpoints_of_files_go_along() {
    let sandbox = Sandbox::new();
    let backup = |name: &str| json!({"backupFileName": name, "version": 1, "backupTime": "2026-11-28T10:00:00.000Z"});
    let snapshot = |message: &str, name: &str| {
        json!({"type": "file-history-snapshot", "messageId": message, "isSnapshotUpdate": false, "snapshot": {
            "messageId": message, "timestamp": "2026-11-28T10:00:00.000Z", "trackedFileBackups": {"b.txt": backup(name)}}})
    };
    let mut file = File::new(OLD, &sandbox.work());
    let call =
        json!({"type": "tool_use", "id": "c1", "name": "Write", "input": {"file_path": "c.txt"}});
    let result = json!([{"type": "tool_result", "tool_use_id": "c1", "content": "Written."}]);
    file.state(snapshot("u1", "aaaa@v1"))
        .user("u1", &json!("Write it."), &json!({}))
        .reply("a0", &call, &json!({}))
        .user("r0", &result, &json!({}))
        .reply("a1", &text("Written."), &json!({}))
        .state(
            json!({"type": "file-history-delta", "messageId": "a0", "snapshotMessageId": "u1",
            "trackingPath": "c.txt", "backup": backup("cccc@v1")}),
        )
        .state(snapshot("elsewhere", "aaaa@v2"))
        .state(snapshot("u2", "../evil@v1"))
        .user("u2", &json!("Once more."), &json!({}))
        .reply("a2", &text("Done."), &json!({}));
    let name = file.write(&sandbox);
    let kept = sandbox.home().join(".claude/file-history").join(OLD);
    fs::create_dir_all(&kept).expect("made");
    fs::write(kept.join("aaaa@v1"), "one").expect("written");
    sandbox.ok(&["import", &name]);
    for words in [&["resume", "--dry-run"][..], &["resume"]] {
        let told = sandbox.tract(words);
        assert!(
            told.contains("2 files of checkpoints are gone, and are not taken along"),
            "{told}"
        );
    }
    let records = written(&sandbox);
    let users = of(&records, "user").into_iter();
    let users = users.filter(|it| it["message"]["content"].is_string());
    let users: Vec<_> = users.map(|it| it["uuid"].clone()).collect();
    let caller = &of(&records, "assistant")[0]["uuid"];
    let snapshots = of(&records, "file-history-snapshot");
    let messages: Vec<_> = snapshots.iter().map(|it| it["messageId"].clone()).collect();
    assert_eq!(messages, users);
    assert_eq!(snapshots[0]["snapshot"]["messageId"], users[0]);
    let change = of(&records, "file-history-delta")[0];
    assert_eq!(
        (&change["messageId"], &change["snapshotMessageId"]),
        (caller, &users[0])
    );
    let id = of(&records, "user")[0]["sessionId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let copied = sandbox
        .home()
        .join(".claude/file-history")
        .join(id)
        .join("aaaa@v1");
    assert_eq!(fs::read_to_string(&copied).expect("copied"), "one");
    // The client puts a file back only if it was changed since.
    let changed = |path: PathBuf| {
        fs::metadata(path)
            .and_then(|it| it.modified())
            .expect("a time")
    };
    assert_eq!(changed(copied), changed(kept.join("aaaa@v1")));
}

/// A session with words of the client's own in the user's name.
fn own_words(cwd: &Path) -> File {
    let notice = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>";
    let origin = json!({"kind": "task-notification", "producer": "session-task"});
    let mut file = File::new(OLD, cwd);
    file.user("u1", &json!("Write much."), &json!({"origin": {"kind": "human"}, "promptSource": "typed"}))
        .reply("a1", &text("Half"), &json!({}))
        .user("u2", &json!("Output token limit hit. Go on."),
            &json!({"isMeta": true, "turnCompanion": true, "ownNote": true}))
        .reply("a2", &text("and half."), &json!({}))
        .user("u3", &json!("Stop hook feedback:\nOne more."),
            &json!({"isMeta": true, "rowSource": "hook", "hookText": true, "hookTextLead": "A hook says:"}))
        .reply("a3", &text("One more."), &json!({}))
        .user("u4", &json!([text("Base directory for this skill: /s")]),
            &json!({"isMeta": true, "sourceToolUseID": "c1"}))
        .reply("a4", &text("Greeted."), &json!({}))
        .user("u5", &json!(notice), &json!({"origin": origin, "promptSource": "sdk"}))
        .reply("a5", &text("Noted."), &json!({}))
        .user("u6", &json!("Thanks."), &json!({"origin": {"kind": "human"}}))
        .reply("a6", &text("Welcome."), &json!({}));
    file
}

fn prompts(sandbox: &Sandbox) -> usize {
    let told = sandbox.ok(&["log", "--prompts", "-n", "0", "--oneline"]);
    told.lines().count()
}

#[test]
fn the_clients_own_words_stay_its_own() {
    let sandbox = Sandbox::new();
    let name = own_words(&sandbox.work()).write(&sandbox);
    sandbox.ok(&["import", &name]);
    assert_eq!(prompts(&sandbox), 2);
    let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
    let compiled_messages: Value = serde_json::from_str(&compiled).expect("JSON");
    let said = compiled_messages["messages"].to_string();
    for framed in [
        r"<system-reminder>\nOutput token limit hit. Go on.\n</system-reminder>",
        r"<system-reminder>\nA hook says:\nStop hook feedback:\nOne more.\n</system-reminder>",
        "NOT USER INPUT",
    ] {
        assert!(said.contains(framed), "{framed}: {said}");
    }
    sandbox.ok(&["resume"]);
    let records = written(&sandbox);
    let users = of(&records, "user");
    let old = own_words(&sandbox.work()).lines;
    let marks = [
        "isMeta",
        "origin",
        "ownNote",
        "hookText",
        "hookTextLead",
        "promptSource",
        "rowSource",
        "sourceToolUseID",
        "turnCompanion",
    ];
    for (new, old) in users.iter().zip(of(&old, "user")) {
        for mark in marks {
            assert_eq!(new.get(mark), old.get(mark), "{mark} of {old}");
        }
        let (new, old) = (&new["message"]["content"], &old["message"]["content"]);
        assert!(new == old || old[0]["text"] == *new, "{new} for {old}");
    }
    let other = Sandbox::new();
    let lines: String = records.iter().map(|it| format!("{it}\n")).collect();
    other.write("again.jsonl", lines);
    other.ok(&["import", "again.jsonl"]);
    assert_eq!(prompts(&other), 2);
    assert_eq!(other.ok(&["compile", "--format", "anthropic"]), compiled);
}

#[test]
fn an_edited_note_of_the_clients_is_framed_once() {
    let sandbox = Sandbox::new();
    let name = own_words(&sandbox.work()).write(&sandbox);
    sandbox.ok(&["import", &name]);
    let log = sandbox.ok(&["log", "-n", "0", "--format", "%h %s"]);
    let note = log
        .lines()
        .find(|line| line.contains("token limit"))
        .expect("there");
    let note = note.split(' ').next().expect("a hash");
    let text = "<system-reminder>\nGo on, please.\n</system-reminder>";
    sandbox.ok(&["commit", "--edit", note, "-m", text]);
    let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
    sandbox.ok(&["resume"]);
    let records = written(&sandbox);
    let users = of(&records, "user");
    let edited = users[1];
    assert_eq!(
        (&edited["isMeta"], edited.get("ownNote")),
        (&json!(true), None)
    );
    let other = Sandbox::new();
    let lines: String = records.iter().map(|it| format!("{it}\n")).collect();
    other.write("again.jsonl", lines);
    other.ok(&["import", "again.jsonl"]);
    assert_eq!(other.ok(&["compile", "--format", "anthropic"]), compiled);
}
