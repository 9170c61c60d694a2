//! The law of exports: what is written of a commit and read again gives the context that the commit
//! has. Messages, ids, order and roles are the same, but for what the remarks name.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::formats::{Format, attachments, sniff};
use crate::hash::CommitHash;
use crate::ingest::import::take_in;
use crate::ingest::inspect::SessionInput;
use crate::ingest::{ExportOptions, ImportRequest, export, import};
use crate::model::{Draft, EntryId, Message, Millis, Part, RefName, RefValue, Role};
use crate::repo::{Call, CommitOptions, Named, On, Repo};
use crate::rewrite::SurgeryOptions;
use crate::rewrite::{Prune, Reach, Truncate};

const REQUEST: ImportRequest<'_> = ImportRequest::at(Millis(0), "import");

fn sources(tool: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let files = std::fs::read_dir(folder.join(tool)).expect("a folder");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|path| {
        sniff::sniff(&&*std::fs::read(path).expect("readable")).is_ok_and(|f| f.is_some())
    });
    files.sort();
    files
}

/// The messages at a commit, as its format holds them.
fn messages(repo: &Repo, commit: &CommitHash, format: &Format) -> Vec<Message> {
    let context = repo.context(commit).expect("a context");
    let messages = repo.messages(&context).expect("its messages").into_iter();
    let held = messages.map(|message| {
        if format.attaches {
            message
        } else {
            attachments::plain(&message).into_owned()
        }
    });
    held.map(|mut message| {
        message.parts.iter_mut().for_each(settle);
        let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
        if !message.parts.is_empty() && message.parts.iter().all(is_result) {
            message.role = Role::Tool;
        }
        message
    })
    .collect()
}

/// White space between the tokens of a block says nothing.
fn settle(part: &mut Part) {
    match part {
        Part::Opaque { data, .. } => {
            if let Ok(value) = serde_json::from_str::<Value>(data) {
                *data = value.to_string();
            }
        }
        Part::ToolResult { content, .. } => content.iter_mut().for_each(settle),
        _ => {}
    }
}

/// Takes off the messages what a remark says is not held, and nothing else.
fn forgive(messages: &mut Vec<Message>, format: &Format, remarks: &[String]) {
    let says = |what: &str| remarks.iter().any(|remark| remark.contains(what));
    let (thinking, name) = (says("thinking part"), says("speaker's name"));
    let block = says("block that the provider does not") || says("or another block");
    let (failed, blank) = (says("mark of a failed tool"), says("blank text"));
    let is_plain = says("changed attachments became");
    let cut = says("the mark of a reply that was cut");
    for message in messages.iter_mut() {
        message.name = message.name.take().filter(|_| !name);
        if is_plain {
            *message = attachments::plain(message).into_owned();
        }
        message.interrupted &= !cut;
        message.parts.retain(|part| match part {
            Part::Thinking { .. } => !thinking,
            Part::Opaque { .. } => !block,
            Part::Text { text } => !blank || !text.trim().is_empty(),
            _ => true,
        });
        for part in &mut message.parts {
            if let Part::ToolResult { is_error, .. } = part {
                *is_error &= !failed;
            }
        }
    }
    if thinking || block || blank {
        messages.retain(|message| !message.parts.is_empty());
    }
    if says("a message that the model did not write") {
        let has_results = format.name == "codex-exec";
        let is_held = |role| role == Role::Assistant || role == Role::Tool && has_results;
        messages.retain(|message| is_held(message.role));
    }
    if says("replies side by side became one") {
        let mut joined: Vec<Message> = Vec::new();
        for message in messages.drain(..) {
            match joined.last_mut() {
                Some(last) if last.role == Role::Assistant && message.role == last.role => {
                    last.parts.extend(message.parts);
                }
                _ => joined.push(message),
            }
        }
        *messages = joined;
    }
    if says("a system message; the tool writes its own") {
        messages.retain(|message| !message.role.is_system());
    }
}

/// Exports a commit and imports that; says what differs, if anything does.
fn comes_back(
    repo: &Repo,
    commit: &CommitHash,
    format: &'static Format,
    stem: &str,
) -> Result<Vec<String>, String> {
    let now = Millis(0);
    let mut out = Vec::new();
    let done = export(
        repo,
        commit,
        &ExportOptions {
            prices: None,
            format,
            now,
            session: None,
        },
        &mut out,
    )
    .expect("exports");
    let said = |what: String| {
        let context = format!("{:?}\n{}", done.remarks, String::from_utf8_lossy(&out));
        let cut: String = context.chars().take(6_000).collect();
        Err(format!("{commit:.7}: {what}\n{cut}"))
    };
    let mut wanted = messages(repo, commit, format);
    if wanted.is_empty() {
        return Ok(done.remarks);
    }
    match sniff::sniff(&&*out) {
        Ok(Some(of)) if of == format || of.bare_messages && format.bare_messages => {}
        of => return said(format!("it looks like {of:?}")),
    }
    let again = Repo::ephemeral().expect("a repository");
    let file = SessionInput {
        redacted: None,
        file: None,
        problems: Vec::new(),
        input: Box::new(&*out),
        format,
        stem: stem.to_owned(),
        folder: String::new(),
    };
    let report = take_in(&again, &file, &REQUEST, None, &mut |_| {}).expect("imports");
    let [session] = &report.sessions[..] else {
        return said(format!("{} sessions", report.sessions.len()));
    };
    let Some(tip) = session.tip else {
        // What is attached is read with what it is attached to.
        let is_loose = wanted.iter().all(Message::is_attached) && !done.remarks.is_empty();
        if is_loose {
            return Ok(done.remarks);
        }
        return said("no message".to_owned());
    };
    let mut got = messages(&again, &tip, format);
    let counted = done.untouched + done.written;
    if counted < wanted.len() as u64 {
        return said(format!("{counted} were counted of {}", wanted.len()));
    }
    forgive(&mut wanted, format, &done.remarks);
    forgive(&mut got, format, &done.remarks);
    let at = wanted.iter().zip(&got).position(|(want, got)| want != got);
    match at {
        Some(at) => said(format!(
            "message {}: {:#?}\nis {:#?}",
            at + 1,
            wanted[at],
            got[at]
        )),
        None if wanted.len() != got.len() => {
            let more = wanted.get(got.len()).or(got.get(wanted.len()));
            said(format!("{} are {}: {more:#?}", wanted.len(), got.len()))
        }
        None => Ok(done.remarks),
    }
}

/// The commits of every ref of a session, newest first: all of them, or about so many of each.
fn commits(repo: &Repo, limit: usize) -> Vec<CommitHash> {
    let view = repo.store.read().expect("a view");
    let mut found = Vec::new();
    for (name, value) in repo.references(RefName::SESSIONS).expect("refs") {
        let RefValue::Commit(tip) = value else {
            panic!("{name:?} is a commit's");
        };
        let path = view.ancestors(&tip, None, usize::MAX).expect("a path");
        let step = path.len().div_ceil(limit).max(1);
        for row in path.iter().step_by(step) {
            if !found.contains(&row.hash) {
                found.push(row.hash);
            }
        }
    }
    found
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into()
}

/// A text, JSON Lines of records, imported as a file of this name.
fn taken_in(name: &str, text: &str) -> (Repo, &'static Format) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");
    let repo = Repo::ephemeral().expect("a repository");
    let report = import(&repo, &path, &REQUEST, &mut |_| {}).expect("imports");
    (repo, report.format)
}

/// What fails of so many, in words.
fn all_come_back(files: &[PathBuf], limit: usize) -> (usize, Vec<String>) {
    let (mut tried, mut failed) = (0, Vec::new());
    for path in files {
        let repo = Repo::ephemeral().expect("a repository");
        let report = import(&repo, path, &REQUEST, &mut |_| {}).expect("imports");
        if report.sessions.len() > 1 {
            continue;
        }
        let mut wrong = Vec::new();
        for commit in commits(&repo, limit) {
            tried += 1;
            if let Err(error) = comes_back(&repo, &commit, report.format, &stem(path)) {
                wrong.push(error);
            }
        }
        if let Some(first) = wrong.first() {
            let name = path.display();
            failed.extend(wrong.iter().map(|_| String::new()));
            let at = failed.len() - wrong.len();
            failed[at] = format!("{name}: {} fail, first {first}", wrong.len());
        }
    }
    (tried, failed)
}

fn check(tried: usize, failed: &[String]) {
    for what in failed.iter().filter(|what| !what.is_empty()) {
        eprintln!("{what}\n");
    }
    eprintln!("{tried} commits tried, {} failed", failed.len());
    assert!(failed.is_empty());
}

const TOOLS: [&str; 11] = [
    "claude-code",
    "codex",
    "gemini",
    "roo",
    "event-log",
    "claude-stream",
    "codex-exec",
    "anthropic-stream",
    "openai-stream",
    "responses-stream",
    "chat",
];

#[test]
fn every_commit_of_the_projects_own_sessions_comes_back() {
    let files: Vec<PathBuf> = TOOLS.into_iter().flat_map(sources).collect();
    assert!(files.len() > 40);
    let (tried, failed) = all_come_back(&files, usize::MAX);
    check(tried, &failed);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn every_commit_of_real_sessions_comes_back() {
    let folder = crate::conditions::real_sessions();
    let tools = [
        "claude-code",
        "codex",
        "openai-chat",
        "anthropic-messages",
        "roo-cline",
    ];
    let walk = |tool| crate::ingest::tool_dirs::walk_directory(&folder.join(tool));
    // Each request of a folder of them by itself.
    let each = |path: PathBuf| match std::fs::read_dir(&path) {
        Ok(entries) => entries
            .map(|entry| entry.expect("readable").path())
            .collect(),
        Err(_) => vec![path],
    };
    let files = tools.into_iter().flat_map(walk).flat_map(each);
    let mut files: Vec<PathBuf> = files.filter(|path| path.is_file()).collect();
    files.sort();
    files.dedup();
    files.retain(|path| {
        let known = sniff::sniff(&&*std::fs::read(path).expect("readable"));
        known.is_ok_and(|format| format.is_some())
    });
    let files: Vec<PathBuf> = crate::conditions::sample(files).collect();
    let (tried, failed) = all_come_back(&files, 12);
    check(tried, &failed);
}

/// A Claude Code session whose reply of three calls, with its results and what was queued in
/// between, stands in the file in the order that `order` gives.
fn parallel(order: &[usize]) -> String {
    let record = |uuid: &str, parent: Option<&str>, kind: &str, rest: Value| {
        let mut record = json!({
            "parentUuid": parent, "isSidechain": false, "cwd": "/w", "type": kind, "uuid": uuid,
            "sessionId": "11111111-2222-4333-8444-555555555555", "version": "2.1.7",
            "timestamp": "2026-01-05T10:00:01.000Z",
        });
        let rest = rest.as_object().expect("an object").clone();
        record.as_object_mut().expect("an object").extend(rest);
        record
    };
    let user = |uuid: &str, parent: Option<&str>, content: Value| {
        record(
            uuid,
            parent,
            "user",
            json!({"message": {"role": "user", "content": content}}),
        )
    };
    let reply = |uuid: &str, parent: &str, id: &str, block: Value| {
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": "m",
            "content": [block], "usage": {"input_tokens": 1, "output_tokens": 1}});
        record(uuid, Some(parent), "assistant", json!({"message": message}))
    };
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "run", "input": {}});
    let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": id}]);
    let mut middle = vec![
        (0, reply("a1", "u1", "m1", call("c1"))),
        (1, reply("a2", "a1", "m1", call("c2"))),
        (2, reply("a3", "a2", "m1", call("c3"))),
        (order[0], user("r1", Some("a1"), result("c1"))),
        (order[1], user("r2", Some("a2"), result("c2"))),
        (order[2], user("r3", Some("a3"), result("c3"))),
        (
            order[3],
            json!({"type": "queue-operation", "operation": "enqueue", "content": "quick"}),
        ),
    ];
    // A result comes after its call, and the sort is stable.
    for (at, own) in [(3, 0), (4, 1), (5, 2)] {
        middle[at].0 = middle[at].0.max(own);
    }
    middle.sort_by_key(|(at, _)| *at);
    let attachment = json!({"attachment": {"type": "queued_command", "prompt": "quick",
        "commandMode": "prompt"}});
    let last = middle
        .iter()
        .rev()
        .find_map(|(_, record)| record["uuid"].as_str());
    let last = last.expect("a record").to_owned();
    let mut records = vec![
        json!({"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}}),
        user("u1", None, json!("go")),
    ];
    records.extend(middle.into_iter().map(|(_, record)| record));
    records.extend([
        json!({"type": "queue-operation", "operation": "remove", "content": "quick"}),
        record("q1", Some(&last), "attachment", attachment),
        reply("b1", "q1", "m2", json!({"type": "text", "text": "done"})),
        json!({"type": "last-prompt", "leafUuid": "b1", "lastPrompt": "go"}),
        user("u2", Some("b1"), json!("and on")),
        reply("d1", "u2", "m3", json!({"type": "text", "text": "on"})),
    ]);
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// What is done on top of a session's commit.
#[derive(Clone, Debug)]
enum Act {
    Say(Role),
    Use,
    Block,
    Edit(prop::sample::Index),
    Drop(prop::sample::Index),
    DropPart(prop::sample::Index, u32),
    Keep(usize),
    Prune,
}

fn act() -> impl Strategy<Value = Act> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        4 => prop_oneof![Just(Role::User), Just(Role::Assistant)].prop_map(Act::Say),
        2 => Just(Act::Use),
        1 => Just(Act::Block),
        3 => at().prop_map(Act::Edit),
        2 => at().prop_map(Act::Drop),
        1 => (at(), 0..3_u32).prop_map(|(at, part)| Act::DropPart(at, part)),
        1 => (1..6_usize).prop_map(Act::Keep),
        1 => Just(Act::Prune),
    ]
}

/// Carries out an act on the branch `mine`; a refusal is none.
fn carry_out(repo: &Repo, format: &Format, act: &Act, number: usize) {
    let on = On::Branch(RefName::branch("mine").expect("a name"));
    let call = Call::at(Millis(number as i64), "test").on(&on);
    let says_all = !format.name.ends_with("-stream") && format.name != "codex-exec"
        || format.name == "claude-stream";
    let options = SurgeryOptions::default();
    let append = |message| {
        let draft = Draft::append(message);
        repo.commit(call, &[draft], &CommitOptions::default())
            .map(drop)
    };
    let entry = |at: &prop::sample::Index| {
        let tip = repo.head(&on).expect("a head").commit().expect("a commit");
        let context = repo.context(&tip).expect("a context");
        let entry = at
            .get(
                &context
                    .entries
                    .iter()
                    .map(|e| e.id)
                    .collect::<Vec<EntryId>>(),
            )
            .to_owned();
        let messages = repo.messages(&context).expect("messages");
        let at = context.position(&entry).expect("visible");
        (entry, messages[at].clone())
    };
    let tip = repo.head(&on).expect("a head").commit().expect("a commit");
    if repo.context(&tip).expect("a context").entries.is_empty() {
        return;
    }
    drop(match act {
        Act::Say(Role::User) if !says_all => Ok(()),
        Act::Say(role) => append(Message::text(*role, format!("own {number}"))),
        Act::Use => {
            let id = format!("call_own_{number}");
            let call = Part::ToolCall {
                id: id.clone(),
                name: "look".to_owned(),
                arguments: r#"{"at":1}"#.to_owned(),
                kind: None,
            };
            let result = Part::ToolResult {
                call: id,
                content: vec![Part::text("seen")],
                is_error: false,
            };
            let said = append(Message::new(Role::Assistant, vec![call]));
            said.and_then(|()| {
                if says_all || format.name == "codex-exec" {
                    append(Message::new(Role::Tool, vec![result]))
                } else {
                    Ok(())
                }
            })
        }
        Act::Block if ["codex", "openai"].contains(&format.name) => {
            let data =
                "{\n \"type\": \"input_audio\",\r\n \"input_audio\": {\"data\": \"AA==\"}\n}";
            append(Message::new(
                Role::User,
                vec![
                    Part::text("listen"),
                    Part::Opaque {
                        provider: "openai".to_owned(),
                        data: data.to_owned(),
                    },
                ],
            ))
        }
        Act::Block => Ok(()),
        Act::Edit(at) => {
            let (entry, mut message) = entry(at);
            let can = says_all || message.role == Role::Assistant;
            let text = message.parts.iter_mut().find_map(|part| match part {
                Part::Text { text } => Some(text),
                _ => None,
            });
            if let (Some(text), true, false) = (text, can, message.attached.is_some()) {
                *text = format!("edited {number}");
                let draft = Draft::edit(entry, message);
                drop(repo.commit(call, &[draft], &CommitOptions::default()));
            }
            Ok(())
        }
        Act::Drop(at) => {
            let named = Named::Entry(entry(at).0);
            repo.drop_named(call, &[named], false, &options).map(drop)
        }
        Act::DropPart(at, part) => {
            let named = Named::Part(entry(at).0, *part);
            repo.drop_named(call, &[named], false, &options).map(drop)
        }
        Act::Keep(keep) => {
            let plan = Truncate::new(Reach::Keep(*keep));
            repo.carry_out(call, &plan, &options).map(drop)
        }
        Act::Prune => repo.carry_out(call, &Prune::default(), &options).map(drop),
    });
}

proptest! {
    #![proptest_config(crate::conditions::laws(40))]

    #[test]
    fn parallel_calls_come_back_in_any_order(
        order in prop::collection::vec(0..4_usize, 4),
    ) {
        let (repo, format) = taken_in("parallel.jsonl", &parallel(&order));
        for commit in commits(&repo, usize::MAX) {
            let back = comes_back(&repo, &commit, format, "parallel");
            prop_assert!(back.is_ok(), "{}", back.unwrap_err());
        }
        repo.second_reading()?;
    }

    #[test]
    fn what_is_done_on_top_comes_back(
        tool in prop::sample::select(&TOOLS[..]),
        which in any::<prop::sample::Index>(),
        start in any::<prop::sample::Index>(),
        order in prop::option::of(prop::collection::vec(0..4_usize, 4)),
        acts in prop::collection::vec(act(), 1..5),
    ) {
        let files = sources(tool);
        let path = which.get(&files);
        let (repo, format, stem) = match (tool, order) {
            ("claude-code", Some(order)) => {
                let (repo, format) = taken_in("parallel.jsonl", &parallel(&order));
                (repo, format, "parallel".to_owned())
            }
            _ => {
                let text = std::fs::read_to_string(path);
                let Ok(text) = text else { return Ok(()) };
                let name = path.file_name().expect("a name").to_string_lossy();
                let (repo, format) = taken_in(&name, &text);
                (repo, format, stem(path))
            }
        };
        if repo.references(RefName::SESSIONS).expect("refs").is_empty() {
            return Ok(());
        }
        let all = commits(&repo, usize::MAX);
        let mine = RefName::branch("mine").expect("a name");
        let call = Call::at(Millis(0), "test");
        repo.create_branch(call, &mine, &start.get(&all).to_string()).expect("made");
        for (number, act) in acts.iter().enumerate() {
            carry_out(&repo, format, act, number);
            let tip = repo.head(&On::Branch(mine.clone())).expect("a head");
            let tip = tip.commit().expect("a commit");
            let back = comes_back(&repo, &tip, format, &stem);
            prop_assert!(back.is_ok(), "{} {}\n{}", path.display(), format, back.unwrap_err());
        }
        repo.second_reading()?;
    }
}
