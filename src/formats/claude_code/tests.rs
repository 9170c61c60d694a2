use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::*;
use crate::conditions::real_sessions;
use crate::error::Result;
use crate::formats::{
    Action, BranchStart, Document, HideStep, Input, Outgoing, Problem, SessionEnd, SessionStart,
    Sink, Source, Step, StepEntry,
};
use crate::model::{HideKind, Message, Part, Role};

/// Keeps all that it is told.
#[derive(Default)]
struct Kept {
    sessions: Vec<SessionStart>,
    branches: Vec<(usize, BranchStart)>,
    steps: Vec<Step>,
    end: Option<SessionEnd>,
    problems: Vec<Problem>,
}

impl Sink for Kept {
    fn session(&mut self, session: SessionStart) -> Result<()> {
        self.sessions.push(session);
        Ok(())
    }
    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        self.branches.push((self.steps.len(), branch));
        Ok(())
    }
    fn step(&mut self, step: Step) -> Result<()> {
        self.steps.push(step);
        Ok(())
    }
    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.end = Some(end);
        Ok(())
    }
    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems.push(problem);
        Ok(())
    }
}

impl Kept {
    fn main(&self) -> &[Step] {
        let end = self.branches.first().map_or(self.steps.len(), |b| b.0);
        &self.steps[..end]
    }
}

fn import(bytes: &[u8], stem: &str) -> Kept {
    let mut kept = Kept::default();
    let source = Source {
        stem,
        ..Source::of(&bytes, &mut kept)
    };
    (CLAUDE_CODE.read)(source).expect("reads");
    kept
}

/// The real sessions.
fn real_files() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for item in std::fs::read_dir(folder).expect("a folder") {
            let path = item.expect("an item").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "jsonl") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&real_sessions().join("claude-code"), &mut found);
    found.sort();
    assert!(!found.is_empty());
    found
}

fn fixture(name: &str) -> Kept {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/claude-code")
        .join(name);
    import(&std::fs::read(path).expect("a fixture"), "stem")
}

fn part(part: &Part) -> String {
    match part {
        Part::Text { text } => format!("{text:?}"),
        Part::Thinking { text, .. } => format!("thinking {text:?}"),
        Part::ToolCall { id, arguments, .. } => format!("call {id} {arguments}"),
        Part::ToolResult {
            call,
            content,
            is_error,
        } => format!(
            "{} {call} [{}]",
            if *is_error { "error" } else { "result" },
            content
                .iter()
                .map(self::part)
                .collect::<Vec<_>>()
                .join(", ")
        ),
        Part::Image(_) => "image".into(),
        Part::File(_) => "file".into(),
        Part::Opaque { data, .. } => format!("opaque {data}"),
    }
}

fn message(message: &Message) -> String {
    let parts: Vec<_> = message.parts.iter().map(part).collect();
    format!("{}: {}", message.role, parts.join(", "))
}

fn place(entry: &StepEntry) -> usize {
    entry.step.0
}

/// A step in one line.
fn sketch(step: &Step) -> String {
    match &step.action {
        Action::Append(appended) => message(appended),
        Action::Hide(HideStep {
            kind,
            keep,
            parts,
            replacements,
            ..
        }) => {
            let keep: Vec<_> = keep.iter().map(place).collect();
            let parts: Vec<_> = parts
                .iter()
                .map(|(entry, at, stub)| {
                    let stub = stub.as_ref().map(message).unwrap_or_default();
                    format!("{}#{at} {stub}", place(entry))
                })
                .collect();
            let replacements: Vec<_> = replacements
                .iter()
                .map(|(before, text)| format!("{:?} {}", before.as_ref().map(place), message(text)))
                .collect();
            format!("{kind:?} keep {keep:?} parts {parts:?} with {replacements:?}")
        }
    }
}

fn sketches(steps: &[Step]) -> Vec<String> {
    steps.iter().map(sketch).collect()
}

#[test]
fn a_reply_in_many_records_is_one_message_and_its_results_are_one() {
    let kept = fixture("parallel.jsonl");
    assert_eq!(kept.problems, []);
    assert_eq!(kept.branches.len(), 0);
    assert_eq!(
        sketches(&kept.steps),
        [
            r#"user: "Compare the two logs.""#,
            r#"assistant: thinking "Two files.", call c1 {"file_path":"/a.log","limit":10}, call c2 {"file_path":"/b.log"}, call c3 {"command":"wc -l /a.log"}"#,
            // In the order in which they came.
            r#"tool: result c2 ["b is empty"], result c1 ["a has 3 lines"], error c3 ["wc: denied"]"#,
            r#"assistant: "They differ.""#,
            r#"user: "[Request interrupted by user]""#,
            r#"user: "Look:", image"#,
            r#"assistant: "A dot.""#,
        ]
    );
    let reply = &kept.steps[1];
    assert_eq!(reply.records.len(), 4);
    let usage = reply.usage.expect("counted");
    assert_eq!((usage.input_tokens, usage.output_tokens), (60, 60));
    let models: Vec<_> = kept.steps.iter().map(|s| s.settings.get("model")).collect();
    assert_eq!(models[1].unwrap(), "\"claude-opus-4-5-20251101\"");
    assert_eq!(
        (models[3], models[6].unwrap().as_str()),
        (None, "\"claude-haiku-4-5\"")
    );
    let end = kept.end.expect("an end");
    assert_eq!(end.title.as_deref(), Some("Two logs"));
    assert_eq!(end.cwd.as_deref(), Some("/home/ada/mill"));
    let other: Vec<_> = end
        .other_records
        .iter()
        .map(|(k, n)| (k.as_str(), *n))
        .collect();
    assert_eq!(
        other,
        [
            ("file-history-snapshot", 1),
            ("progress", 2),
            ("summary", 2),
            ("system/turn_duration", 1)
        ]
    );
    assert_eq!(kept.sessions[0].id, "11111111-2222-4333-8444-555555555555");
}

#[test]
fn the_files_name_decides_the_id_when_it_is_one() {
    let bytes: &[u8] = br#"{"type":"user","uuid":"a","sessionId":"old","message":{"content":"x"}}"#;
    let stem = "99999999-2222-4333-8444-555555555555";
    let session = &import(bytes, stem).sessions[0];
    assert_eq!(
        (session.id.as_str(), session.forked_from.as_deref()),
        (stem, Some("old"))
    );
}

#[test]
fn a_microcompaction_clears_the_results_it_names() {
    let kept = fixture("microcompact.jsonl");
    assert_eq!(kept.steps.len(), 7);
    assert_eq!(
        sketch(&kept.steps[5]),
        r##"Prune keep [] parts ["2#0 tool: result c1 [\"[Old tool result content cleared]\"]"] with []"##
    );
    assert_eq!(sketch(&kept.steps[6]), r#"assistant: "Read.""#);
}

#[test]
fn a_compaction_hides_what_was_before() {
    let kept = fixture("compaction.jsonl");
    assert_eq!(kept.problems, []);
    assert_eq!(
        sketches(&kept.steps[5..]),
        [
            r#"Compaction keep [] parts [] with ["None user: \"The plan was read twice.\""]"#,
            r#"assistant: "Going on.""#
        ]
    );
    assert_eq!(kept.steps[5].records.len(), 2);
    assert_eq!(kept.branches.len(), 0);
}

#[test]
fn a_compaction_keeps_what_it_says() {
    let kept = fixture("compaction-keeps.jsonl");
    assert_eq!(
        sketches(&kept.steps[5..]),
        [
            r#"Compaction keep [3, 4] parts [] with ["Some(3) user: \"The plan was read.\""]"#,
            r#"assistant: "Going on.""#
        ]
    );
    assert_eq!(kept.branches.len(), 0);
}

/// `compaction-keeps.jsonl` with other texts in place of some.
fn kept_otherwise(texts: &[(&str, &str)]) -> Kept {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/claude-code/");
    let text = std::fs::read_to_string(format!("{folder}compaction-keeps.jsonl"));
    let text = texts
        .iter()
        .fold(text.expect("a fixture"), |text, (from, to)| {
            assert!(text.contains(from));
            text.replace(from, to)
        });
    import(text.as_bytes(), "stem")
}

#[test]
fn a_summary_of_what_came_after_stands_behind_what_is_kept() {
    let kept = kept_otherwise(&[
        (r#""anchorUuid":"cs""#, r#""anchorUuid":"cb""#),
        (r#"{"parentUuid":"r2""#, r#"{"parentUuid":"cs""#),
    ]);
    assert_eq!(
        sketches(&kept.steps[5..]),
        [
            r#"Compaction keep [3, 4] parts [] with ["None user: \"The plan was read.\""]"#,
            r#"assistant: "Going on.""#
        ]
    );
}

#[test]
fn what_is_kept_may_be_newer_than_what_was_summarised() {
    // The summary goes up to the first result.
    let from = r#""logicalParentUuid":"lost""#;
    let kept = kept_otherwise(&[(from, r#""logicalParentUuid":"r1""#)]);
    assert_eq!(kept.branches.len(), 0);
    assert_eq!(
        sketches(&kept.steps[5..6]),
        [r#"Compaction keep [3, 4] parts [] with ["Some(3) user: \"The plan was read.\""]"#]
    );
}

#[test]
fn a_compaction_of_nothing_is_an_append() {
    let kept = fixture("compaction-first.jsonl");
    assert_eq!(
        sketches(&kept.steps),
        [r#"user: "Earlier: a plan.""#, r#"assistant: "Going on.""#]
    );
}

#[test]
fn queued_input_is_kept_once() {
    let kept = fixture("queue.jsonl");
    assert_eq!(
        sketches(&kept.steps),
        [
            r#"user: "Start.""#,
            r#"assistant: call c1 {"command":"c1"}"#,
            r#"tool: result c1 ["ok"]"#,
            r#"user: "The user sent a new message while you were working:\nonly in the queue\n\nIMPORTANT: After completing your current task, you MUST address the user's message above. Do not ignore it.""#,
            r#"assistant: "Done.""#,
            r#"user: "typed again""#,
            r#"assistant: call c2 {"command":"c2"}"#,
            r#"tool: result c2 ["ok"]"#,
            r#"user: "The user sent a new message while you were working:\nattached\n\nIMPORTANT: After completing your current task, you MUST address the user's message above. Do not ignore it.""#,
            r#"user: "The following skills are available for use with the Skill tool:\n\n…""#,
            r#"assistant: "Seen.""#,
        ]
    );
    let attached = kept.steps.iter().filter_map(Step::message);
    let attached = attached.filter_map(|message| message.attached.as_deref());
    assert_eq!(
        attached.collect::<Vec<_>>(),
        ["queued_command", "queued_command", "skill_listing"]
    );
    let end = kept.end.expect("an end");
    assert_eq!(end.other_records["queue-operation"], 7);
    assert_eq!(end.absent, ["system prompt", "tool definitions"]);
}

#[test]
fn what_is_lacking_is_neither_in_a_snapshot_nor_sent() {
    let lacking = |version: &str, attachment: &str| {
        let record = format!(
            r#"{{"type":"attachment","uuid":"s","parentUuid":"u","version":"{version}","attachment":{attachment}}}"#
        );
        let user = r#"{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"Hi."}}"#;
        let kept = import(format!("{user}\n{record}\n").as_bytes(), "s");
        kept.end.expect("an end").absent
    };
    let both = ["system prompt", "tool definitions"];
    let prompt = r#""systemPrompt":["You mill."]"#;
    let snapshot = format!(r#"{{"type":"prompt_snapshot",{prompt},"tools":[{{"name":"Mill"}}]}}"#);
    assert!(lacking("2.1.290", &snapshot).is_empty());
    let snapshot = format!(r#"{{"type":"prompt_snapshot",{prompt},"tools":[]}}"#);
    assert_eq!(lacking("2.1.240", &snapshot), both[1..]);
    // A newer client sends nothing of what has no text beside it.
    let context = r#"{"type":"session_context","context":{}}"#;
    assert_eq!(lacking("2.1.332", context), both);
    let unknown = "1 attachment of the unknown kind session_context";
    assert_eq!(
        lacking("2.1.197", context),
        [&both[..], &[unknown]].concat()
    );
}

#[test]
fn sidechains_are_branches_of_their_own() {
    let kept = fixture("sidechain.jsonl");
    assert_eq!(
        sketches(kept.main()),
        [
            r#"user: "Explore.""#,
            r#"assistant: call t1 {"prompt":"Find A"}, call t2 {"prompt":"Find B"}"#,
            r#"tool: result t1 ["A is here."], result t2 ["B is there."]"#,
            r#"assistant: "Both found.""#,
        ]
    );
    let branches: Vec<_> = kept
        .branches
        .iter()
        .map(|(at, b)| (*at, b.name.as_str(), b.after))
        .collect();
    assert_eq!(branches, [(4, "agent-1", None), (6, "agent-2", None)]);
    assert_eq!(
        sketches(&kept.steps[4..]),
        [
            r#"user: "Find A""#,
            r#"assistant: "A is here.""#,
            r#"user: "Find B""#,
            r#"assistant: "B is there.""#
        ]
    );
}

#[test]
fn mirrored_agents_are_branches() {
    let kept = fixture("agent-progress.jsonl");
    assert_eq!(kept.main().len(), 4);
    assert_eq!(kept.branches[0].1.name, "agent-abe7108");
    assert_eq!(
        sketches(&kept.steps[4..]),
        [
            r#"user: "Find A""#,
            r#"assistant: call ic {"command":"ic"}"#,
            r#"tool: result ic ["found"]"#
        ]
    );
    assert!(kept.end.expect("an end").other_records.is_empty());
}

#[test]
fn an_agents_own_file_is_a_session() {
    let kept = fixture("agent-abe7108.jsonl");
    let id = "11111111-2222-4333-8444-555555555555/agent-abe7108";
    assert_eq!((kept.sessions[0].id.as_str(), kept.steps.len()), (id, 2));
    assert_eq!(kept.branches.len(), 0);
}

#[test]
fn what_was_rewound_is_a_branch_that_shares_the_beginning() {
    let kept = fixture("rewind.jsonl");
    assert_eq!(kept.main().len(), 4);
    assert_eq!(sketch(&kept.steps[3]), r#"assistant: "A dog.""#);
    let (at, branch) = &kept.branches[0];
    assert_eq!(
        (*at, branch.name.as_str(), branch.after.map(|s| s.0)),
        (4, "leaf-1", Some(1))
    );
    assert_eq!(
        sketches(&kept.steps[4..]),
        [r#"user: "Draw a cat.""#, r#"assistant: "A cat.""#]
    );
}

#[test]
fn a_turn_whose_request_failed_at_first_is_not_left_behind() {
    // The word of it comes after the turn, and hangs where the turn began.
    let kept = fixture("failed.jsonl");
    assert_eq!(kept.branches.len(), 0);
    assert_eq!(
        sketches(&kept.steps[3..]),
        [
            r#"assistant: "Three.""#,
            r#"user: "Which is the largest?""#,
            r#"assistant: "notes.txt.""#
        ]
    );
}

#[test]
fn parallel_results_left_behind_are_one_branch() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code/parallel.jsonl");
    let mut bytes = std::fs::read(path).expect("a fixture");
    bytes.extend(
        br#"{"type":"user","uuid":"n1","parentUuid":"u1","message":{"role":"user","content":"No."}}"#,
    );
    let kept = import(&bytes, "s");
    assert_eq!(sketches(kept.main()).len(), 2);
    let names: Vec<_> = kept.branches.iter().map(|(_, b)| b.name.as_str()).collect();
    assert_eq!(names, ["leaf-1"]);
    assert_eq!(kept.steps.len(), 2 + 6);
}

#[test]
fn a_rewind_without_a_successor_is_told_by_the_last_prompt() {
    let mut bytes = std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code/rewind.jsonl"),
    )
    .expect("a fixture");
    bytes.extend(b"{\"type\":\"last-prompt\",\"leafUuid\":\"a2\"}\n");
    assert_eq!(
        sketch(&import(&bytes, "s").main()[3]),
        r#"assistant: "A cat.""#
    );
}

#[test]
fn what_the_client_made_up_is_no_context() {
    let kept = fixture("synthetic.jsonl");
    assert_eq!(
        sketches(&kept.steps),
        [
            r#"user: "Hello.""#,
            r#"user: "Again.""#,
            r#"assistant: opaque {"type":"redacted_thinking","data":"AAAA"}, "Hello!""#
        ]
    );
    let end = kept.end.expect("an end");
    assert_eq!(end.other_records["assistant (synthetic)"], 1);
    assert_eq!(end.opaque_blocks["redacted_thinking"], 1);
}

#[test]
fn damage_is_told_and_the_rest_comes_in() {
    let kept = fixture("damaged.jsonl");
    assert_eq!(
        sketches(&kept.steps),
        [
            r#"user: "Hello.""#,
            r#"assistant: "One.""#,
            r#"user: "Two.""#,
            r#"assistant: "Three.""#,
            r#"user: "Four.""#,
            r#"tool: result nocall ["lost"]"#,
            r#"assistant: "Five.""#,
        ]
    );
    let mut told: Vec<_> = kept
        .problems
        .iter()
        .map(|p| {
            (
                p.line,
                p.harmless,
                p.reason
                    .split([' ', ':'])
                    .take(2)
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        })
        .collect();
    told.sort();
    let told: Vec<_> = told.iter().map(|(l, h, r)| (*l, *h, r.as_str())).collect();
    assert_eq!(
        told,
        [
            (2, true, "uuid u1"),
            (3, false, "uuid u1"),
            (4, false, "bad JSON"),
            (6, true, "several objects"),
            (7, true, "parent nowhere"),
            (8, false, "a tool"),
            (9, false, "not a"),
            (12, true, "the last"),
        ]
    );
}

#[test]
fn odd_text_comes_in() {
    let kept = fixture("odd-text.jsonl");
    assert_eq!(kept.problems, []);
    assert_eq!(
        sketches(&kept.steps),
        [
            r#"user: "First line""#.to_owned(),
            format!("user: {:?}", "half \u{fffd}, whole 😀, nul \0"),
            r#"assistant: call c1 {"n": 1.0, "id":12345678901234567890, "e":1e3, "a":1, "a":2}"#
                .to_owned(),
        ]
    );
    assert_eq!(kept.end.expect("an end").lone_surrogates, 1);
    let invalid: &[u8] = b"{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"\xff\"}}\n";
    let kept = import(invalid, "s");
    assert_eq!(sketches(&kept.steps), ["user: \"\u{fffd}\""]);
    assert_eq!(kept.problems[0].reason, "invalid UTF-8");
}

#[test]
fn nothing_at_all_is_a_session_without_steps() {
    let kept = import(b"", "stem");
    assert_eq!(
        (kept.sessions[0].id.as_str(), kept.steps.len()),
        ("stem", 0)
    );
}

/// How much of the shorter run's main path is the longer's: all but an unfinished last group.
fn assert_grows(short: &Kept, long: &Kept, what: &str) {
    let equal = short
        .main()
        .iter()
        .zip(long.main())
        .take_while(|(a, b)| a == b)
        .count();
    let left = short.main().len() - equal;
    // The last reply, and its results.
    let replies = short.main().iter().rposition(|step| step.usage.is_some());
    let group = short.main().len() - replies.unwrap_or(0);
    assert!(
        left <= group,
        "{what}: {left} of {} differ",
        short.main().len()
    );
}

#[test]
fn a_prefix_gives_a_prefix() {
    for name in [
        "parallel",
        "microcompact",
        "compaction",
        "compaction-keeps",
        "queue",
        "sidechain",
        "copied",
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("tests/data/claude-code/{name}.jsonl"));
        let bytes = std::fs::read(path).expect("a fixture");
        let whole = import(&bytes, "s");
        for end in (0..bytes.len()).filter(|at| bytes[*at] == b'\n') {
            let kept = import(&bytes[..=end], "s");
            assert_grows(&kept, &whole, &format!("{name} to {end}"));
        }
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_growth_gives_prefixes() {
    for path in real_files() {
        let bytes = std::fs::read(&path).expect("a file");
        let whole = import(&bytes, "s");
        // Before a rewind the path was another one.
        if whole
            .branches
            .iter()
            .any(|(_, b)| b.name.starts_with("leaf"))
        {
            continue;
        }
        let ends: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
        for end in ends.iter().step_by(ends.len() / 12 + 1) {
            let kept = import(&bytes[..=*end], "s");
            assert_grows(&kept, &whole, &format!("{} to {end}", path.display()));
        }
    }
}

/// How many messages a file holds, counted another way: replies by id, results by the reply that
/// made the call, and the rest one by one.
fn count(bytes: &[u8], agent_file: bool) -> (usize, usize) {
    let (mut replies, mut answered, mut inputs) = (BTreeSet::new(), BTreeSet::new(), 0);
    let mut owner = HashMap::new();
    let mut summaries = 0;
    // What went into the queue, and all that stands in other records.
    let (mut queued, mut said) = (Vec::new(), HashSet::new());
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let record: Value = serde_json::from_slice(line).expect("JSON");
        let content = &record["message"]["content"];
        if record["isSidechain"] == true && !agent_file {
            continue;
        }
        match record["type"].as_str().unwrap_or_default() {
            "assistant" if record["message"]["model"] == "<synthetic>" => {}
            "assistant" => {
                let id = record["message"]["id"].as_str().expect("an id").to_owned();
                for block in content.as_array().expect("blocks") {
                    if block["type"] == "tool_use" {
                        owner.insert(block["id"].as_str().expect("an id").to_owned(), id.clone());
                    }
                }
                replies.insert(id);
            }
            "user" if record["isCompactSummary"] == true => summaries += 1,
            "user" if content[0]["type"] == "tool_result" => {
                let call = content[0]["tool_use_id"].as_str().expect("a call");
                answered.insert(owner.get(call).cloned().unwrap_or_else(|| call.to_owned()));
            }
            "user" => {
                inputs += 1;
                let blocks = content.as_array().into_iter().flatten();
                said.extend(blocks.map(|block| block["text"].to_string()));
                said.insert(content.to_string());
            }
            "attachment" if record["attachment"]["type"] == "queued_command" => {
                inputs += 1;
                said.insert(record["attachment"]["prompt"].to_string());
            }
            "queue-operation" if record["operation"] == "popAll" => queued.clear(),
            "queue-operation" if record["operation"] == "enqueue" => {
                let typed = record["content"].as_str();
                let typed = typed.filter(|text| !text.starts_with(['<', '{']));
                queued.extend(typed.map(|text| Value::from(text).to_string()));
            }
            _ => {}
        }
    }
    queued.retain(|text| !said.contains(text));
    (
        replies.len() + answered.len() + inputs + queued.len() + summaries,
        summaries,
    )
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_have_as_many_messages_as_counted() {
    for path in real_files() {
        let bytes = std::fs::read(&path).expect("a file");
        let stem = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let kept = import(&bytes, &stem);
        let bad: Vec<_> = kept.problems.iter().filter(|p| !p.harmless).collect();
        assert!(bad.is_empty(), "{stem}: {bad:?}");
        // Messages of the main thread: its path, and leaves that were left behind.
        let leaves = kept
            .branches
            .iter()
            .zip(1..)
            .filter(|((_, b), _)| b.name.starts_with("leaf"));
        let leaf_steps: usize = leaves
            .map(|((start, _), next)| {
                kept.branches.get(next).map_or(kept.steps.len(), |b| b.0) - start
            })
            .sum();
        let prunes = kept.main().iter().filter(
            |step| matches!(&step.action, Action::Hide(hide) if hide.kind == HideKind::Prune),
        );
        // Not counted is what the client wrote beside.
        let beside = |step: &&Step| {
            let start = step.records[0].offset as usize;
            let line = &bytes[start..start + step.records[0].len as usize];
            let record: Value = serde_json::from_slice(line).expect("JSON");
            match record["type"].as_str() {
                Some("attachment") => record["attachment"]["type"] != "queued_command",
                Some("assistant") => record["message"]["model"] == "<synthetic>",
                kind => kind == Some("system") && record["subtype"] == "local_command",
            }
        };
        let agents = kept
            .branches
            .iter()
            .find(|(_, b)| b.name.starts_with("agent"));
        let agents = agents.map_or(kept.steps.len(), |(start, _)| *start);
        let beside = kept.steps[..agents].iter().filter(beside).count();
        let messages = kept.main().len() + leaf_steps - prunes.count() - beside;
        let (expected, summaries) = count(&bytes, stem.starts_with("agent-"));
        assert_eq!(messages, expected, "{stem} ({summaries} compactions)");
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn every_real_record_of_the_conversation_is_behind_a_step() {
    for path in real_files() {
        let bytes = std::fs::read(&path).expect("a file");
        let kept = import(&bytes, "s");
        let offsets: HashSet<u64> = kept
            .steps
            .iter()
            .flat_map(|step| &step.records)
            .map(|span| span.offset)
            .collect();
        let mut offset = 0;
        for line in bytes.split(|b| *b == b'\n') {
            if !line.is_empty() {
                let record: Value = serde_json::from_slice(line).expect("JSON");
                let talk = record["type"] == "user" || record["type"] == "assistant";
                let made_up = record["message"]["model"] == "<synthetic>";
                if talk && !made_up {
                    assert!(offsets.contains(&offset), "{}: {offset}", path.display());
                }
            }
            offset += line.len() as u64 + 1;
        }
    }
}

mod export;
mod queue;
mod twice;

#[test]
fn a_long_directory_is_filed_under_its_first_200_characters_and_a_hash() {
    let slug = super::slug;
    assert_eq!(slug("/home/u/my.repo"), "-home-u-my-repo");
    // Two UTF-16 units.
    assert_eq!(slug("/a😀b"), "-a--b");
    let exactly = format!("/{}", "a".repeat(199));
    assert_eq!(slug(&exactly), format!("-{}", "a".repeat(199)));
    let long = format!("/home/u/{}", "a.long-name/".repeat(20));
    let cut = slug(&long);
    assert_eq!(cut.len(), 200 + "-kegflx".len());
    assert!(
        cut.starts_with("-home-u-a-long-name-") && cut.ends_with("-kegflx"),
        "{cut}"
    );
    assert_eq!(slug(&"😀".repeat(101)).rfind('-'), Some(200));
}
