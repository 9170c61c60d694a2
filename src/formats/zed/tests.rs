//! What a thread says, in newer and older versions and in rows, and what is wrong with one.

use serde_json::{Map, Value, json};

use super::ZED;
use super::rows::TABLES;
use crate::error::Result;
use crate::formats::shared::contract::{Session, hides, read, sketch, sound, value_at};
use crate::formats::shared::rows::Rows;
use crate::formats::sniff::sniff;
use crate::formats::{Cover, StepEntry, StepId};
use crate::model::base64::{self, BYTES};
use crate::model::{HideKind, Millis, Part, Usage};

const THREAD: &[u8] = include_bytes!("../../../tests/data/zed/thread.json");
const OLDER: &[u8] = include_bytes!("../../../tests/data/zed/older.json");

fn entry(step: usize, replacement: Option<usize>) -> StepEntry {
    StepEntry {
        step: StepId(step),
        replacement,
    }
}

#[test]
fn a_thread_is_what_was_sent_of_it() {
    assert_eq!(sniff(&THREAD).expect("readable"), Some(&ZED));
    let session = &sound(&ZED, THREAD);
    insta::assert_snapshot!(session.said().join("\n---\n"));
    assert_eq!(session.start.id, "stem");
    assert_eq!(session.end.title.as_deref(), Some("Sacks in the mill"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
    assert_eq!(
        session.end.other_records["call without a result (not sent)"],
        1
    );
    assert_eq!(session.end.other_records["empty prompt"], 1);
    let first = &session.steps[0];
    // The thread has its newest model alone: which replies are another's is not known.
    assert!(session.steps.iter().all(|step| step.settings.is_empty()));
    assert_eq!(first.time, Some(Millis(1_772_438_400_250)));
    // The count of a turn is that of the request that ended it.
    let counted = session.steps.iter().map(|step| step.usage);
    let usage = |input_tokens, output_tokens| Some(Usage::new(input_tokens, output_tokens));
    let (one, two) = (usage(142, 7).map(|it| it.cached(100, 2)), usage(9, 3));
    assert_eq!(
        counted.collect::<Vec<_>>(),
        [None, None, None, None, one, None, None, two]
    );
    let record = value_at(THREAD, session.steps[2].records[0]);
    assert!(record["Agent"]["tool_results"].is_object());
    assert_eq!(value_at(THREAD, session.steps[3].records[0]), "Resume");
}

#[test]
fn an_older_thread_is_what_was_sent_of_it_then() {
    assert_eq!(sniff(&OLDER).expect("readable"), Some(&ZED));
    let session = &sound(&ZED, OLDER);
    assert_eq!(session.end.title.as_deref(), Some("Wood for the wheel"));
    assert_eq!(
        session.said(),
        [
            "user: <context>\nwood.txt: oak\n</context> | Which wood?",
            r#"assistant: (Look. Some("anthropic") sig) | {"type":"redacted_thinking","data":"cipher"} | t1: read_file {"path":"wood.txt"}"#,
            "tool: t1 false = oak",
            "assistant: Oak.",
        ]
    );
    let counted: Vec<u64> = session
        .steps
        .iter()
        .filter_map(|it| Some(it.usage?.input_tokens))
        .collect();
    assert_eq!(counted, [20, 30]);
    assert_eq!(session.end.other_records["system message (not sent)"], 1);
    // The oldest have results in the message behind the calls, or a text and no segments.
    let oldest = json!({"summary": "S", "updated_at": "2025-03-01T00:00:00Z", "messages": [
        {"id": 0, "role": "user", "text": "one"},
        {"id": 1, "role": "assistant", "segments": [], "tool_uses": [
            {"id": "a", "name": "grep", "input": {}}, {"id": "b", "name": "now", "input": {}}]},
        {"id": 2, "role": "user", "segments": [{"type": "text", "text": "Here are the tool results."}],
            "tool_results": [{"tool_use_id": "a", "is_error": true, "content": {"type": "text", "text": "bad"}}]},
        {"id": 3, "role": "assistant", "segments": [], "tool_uses": [{"id": "c", "name": "now", "input": {}}]},
        {"id": 4, "role": "user", "segments": [{"type": "text", "text": ""}],
            "tool_results": [{"tool_use_id": "c", "is_error": false, "content": "late"}]}]});
    let oldest = oldest.to_string();
    assert_eq!(sniff(&oldest.as_bytes()).expect("readable"), Some(&ZED));
    let told = read(&ZED, oldest.as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    assert_eq!(
        told.sessions[0].said(),
        [
            "user: one",
            "assistant: a: grep {}",
            "user: a true = bad | Here are the tool results.",
            "assistant: c: now {}",
            "tool: c false = late",
        ]
    );
}

fn with(messages: &[Value]) -> Vec<u8> {
    json!({"title": "T", "messages": messages})
        .to_string()
        .into_bytes()
}

fn prompt(id: &str, text: &str) -> Value {
    json!({"User": {"id": id, "content": [{"Text": text}]}})
}

fn reply(text: &str) -> Value {
    json!({"Agent": {"content": [{"Text": text}], "tool_results": {}}})
}

fn mention(uri: Value, content: &str) -> Value {
    json!({"Mention": {"uri": uri, "content": content}})
}

#[test]
fn what_is_mentioned_stands_behind_the_prompt_by_kind() {
    let lines = json!({"start": 2, "end": 4});
    let one = json!({"start": 2, "end": 2});
    let content = [
        mention(
            json!({"MergeConflict": {"file_path": "src/wheel.rs"}}),
            "<<<",
        ),
        mention(
            json!({"Skill": {"name": "milling", "source": "global", "skill_file_path": "/s/SKILL.md"}}),
            "Mill.",
        ),
        mention(
            json!({"Diagnostics": {"include_errors": false, "include_warnings": true}}),
            "error",
        ),
        mention(json!({"Diagnostics": {}}), "none"),
        mention(
            json!({"Rule": {"id": {"User": {"uuid": "r-1"}}, "name": "Be brief"}}),
            "Brief.",
        ),
        mention(
            json!({"Fetch": {"url": "https://mill.example/a?b=c"}}),
            "page",
        ),
        mention(
            json!({"TextThread": {"path": "/t/old talk.json", "name": "Old"}}),
            "old",
        ),
        mention(
            json!({"Thread": {"id": "t-1", "name": "Sacks & wheel"}}),
            "sum",
        ),
        mention(json!({"GitDiff": {"base_ref": "main"}}), "+oak"),
        mention(json!({"TerminalSelection": {"line_count": 1}}), "$ ls"),
        mention(json!({"Selection": {"line_range": one, "column": 6}}), "fn"),
        mention(
            json!({"Selection": {"abs_path": "/m/wheel.rs", "line_range": lines}}),
            "fn main",
        ),
        mention(
            json!({"Symbol": {"path": "C:\\m\\wheel.rs", "name": "turn", "line_range": lines}}),
            "fn turn",
        ),
        mention(json!({"Directory": {"abs_path": "/m/Räder"}}), "wheel.rs"),
        mention(json!({"File": {"abs_path": "/m/.env"}}), "A=1"),
        mention(json!({"Star": {"name": "new"}}), "unknown"),
    ];
    let told = read(
        &ZED,
        &with(&[json!({"User": {"id": "u", "content": content}})]),
    );
    let session = &told.sessions[0];
    let texts: Vec<&str> = session.messages()[0]
        .parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.as_str(),
            Part::Opaque { data, .. } => data.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    insta::assert_snapshot!(texts.join("\n---\n"));
    assert_eq!(session.end.opaque_blocks["Mention"], 1);
}

#[test]
fn a_compaction_leaves_the_newest_prompts_and_its_summary() {
    let summary = |text: &str| json!({"Compaction": {"Summary": text}});
    let native = json!({"Compaction": {"ProviderNative": {"provider": "openai", "items": [{"type": "compaction"}]}}});
    let long = "ä".repeat(39_990);
    let told = read(
        &ZED,
        &with(&[
            prompt("u0", &format!("a{}", "ä".repeat(20))),
            prompt("u1", &long),
            prompt("u2", "two"),
            reply("first"),
            summary("one"),
            reply("second"),
            prompt("u3", &"x".repeat(79_000)),
            summary("two"),
            native,
            prompt("u4", "four"),
            summary("three"),
            prompt("u5", "five"),
            summary("four"),
        ]),
    );
    let session = &told.sessions[0];
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let [one, two, native, three, four] = hides(&session.steps)[..] else {
        panic!("{:?}", session.said());
    };
    let all = [one, two, native, three, four];
    assert!(
        all.iter()
            .all(|it| (it.kind, it.cover) == (HideKind::Compaction, Cover::Everything))
    );
    // What there is room for of the oldest that stays is its beginning, and stands before the others.
    assert_eq!(one.keep, [entry(1, None), entry(2, None)]);
    let cut = &one.replacements[0];
    let beginning = format!("user: a{}", "ä".repeat(8));
    assert_eq!((cut.0, sketch(&cut.1)), (Some(entry(1, None)), beginning));
    let last = one.replacements.last().expect("the summary");
    let text = "user: The previous conversation was compacted. Use this summary as context:\n\none";
    assert_eq!((last.0, sketch(&last.1)), (None, text.to_owned()));
    // A summary before is sent no more, nor is what a provider has summed up itself.
    assert_eq!(two.keep, [entry(2, None), entry(6, None)]);
    let cut = &two.replacements[0];
    let cut = (cut.0, sketch(&cut.1).len());
    assert_eq!(cut, (Some(entry(2, None)), "user: ".len() + 996));
    assert_eq!((&native.keep[..], native.replacements.len()), (&[][..], 0));
    // What was gone comes back where the next one has room for it.
    let texts: Vec<usize> = three.messages().map(|it| sketch(it).len()).collect();
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert_eq!(three.keep, [entry(9, None)]);
    let back = [entry(10, Some(1)), entry(10, Some(2))];
    assert_eq!(
        four.keep,
        [&back[..], &[entry(9, None), entry(11, None)]].concat()
    );
}

#[test]
fn a_count_is_told_with_the_reply_that_ends_the_turn() {
    let counted = |messages: &[Value]| {
        let mut thread: Value = serde_json::from_slice(&with(messages)).expect("JSON");
        thread["request_token_usage"] = json!({"u": {"input_tokens": 5, "output_tokens": 1}});
        let told = read(&ZED, thread.to_string().as_bytes());
        let steps = told.sessions[0].steps.iter();
        steps.map(|step| step.usage.is_some()).collect::<Vec<_>>()
    };
    let (prompt, reply) = (prompt("u", "one"), reply("two"));
    assert_eq!(counted(&[prompt.clone(), reply.clone()]), [false, true]);
    let resumed = [
        prompt.clone(),
        reply.clone(),
        json!("Resume"),
        reply.clone(),
    ];
    assert_eq!(counted(&resumed), [false, false, false, true]);
    assert_eq!(
        counted(&[prompt, reply.clone(), reply]),
        [false, false, true]
    );
}

#[test]
fn a_compaction_of_nothing_hides_nothing() {
    let first = json!({"Compaction": {"Summary": "before"}});
    let empty = json!({"User": {"id": "u", "content": []}});
    let told = read(&ZED, &with(&[empty, first.clone(), prompt("u1", "one")]));
    let session = &told.sessions[0];
    assert!(hides(&session.steps).is_empty());
    assert_eq!(session.messages().len(), 2);
    // Nothing was left, and what comes back stays by the next one.
    let native = json!({"Compaction": {"ProviderNative": {"provider": "openai", "items": []}}});
    let second = json!({"Compaction": {"Summary": "again"}});
    let (one, two) = (prompt("u1", "one"), prompt("u2", "two"));
    let told = read(&ZED, &with(&[one, two, native, first, second]));
    let session = &told.sessions[0];
    let said: Vec<String> = session.messages().into_iter().map(sketch).collect();
    assert_eq!(
        said[..4],
        ["user: one", "user: two", "user: one", "user: two"]
    );
    let [_, last] = hides(&session.steps)[..] else {
        panic!("{:?}", session.said());
    };
    assert_eq!(last.keep, [entry(3, None), entry(4, None)]);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let deep = (0..110).fold(json!(1), |inner, _| json!([inner]));
    let deep = json!({"ToolUse": {"id": "d", "name": "now", "input": deep}});
    let told = read(
        &ZED,
        &with(&[
            prompt("u", "one"),
            json!({"Handoff": {"to": "x"}}),
            json!({"Agent": {"content": [deep], "tool_results": {"d": {"tool_use_id": "d", "content": "x"}}}}),
            json!({"Compaction": {"Folded": "x"}}),
            json!({"User": {"id": "u"}}),
            json!("Pause"),
            json!({"id": 1, "role": "nobody"}),
            json!({"a": 1, "b": 2}),
            json!({"Agent": {"content": [{"Text": "two"}, {"Song": 1}], "tool_results": {
                "x": {"tool_use_id": "x", "content": [{"film": 1}]}}}}),
        ]),
    );
    assert_eq!(
        told.reasons(),
        [
            "a message of an unknown kind 'Handoff'",
            "a message is nested 113 levels deep, more than 100",
            "a compaction of an unknown kind 'Folded'",
            "a message without content",
            "a message that is no object",
            "unknown role 'nobody'",
            "a message of an unknown form",
            "a tool result without its call 'x'",
            "none of the tool results (1) has a block of a known type",
        ]
    );
    assert_eq!(
        told.sessions[0].said(),
        [
            "user: one",
            "assistant: two | {\"Song\":1}",
            r#"tool: x false = {"film":1}"#,
        ]
    );
    let torn =
        br#"{"title":"T","messages":[{"User":{"id":"u","content":[{"Text":"a"}]}},{"Agent":{"cont"#;
    let told = read(&ZED, torn);
    assert_eq!(told.sessions[0].said(), ["user: a"]);
    assert_eq!(told.problems.len(), 1);
}

/// The rows of a database.
struct Table(Vec<Map<String, Value>>);

impl Table {
    fn of(rows: &[Value]) -> Self {
        Self(
            rows.iter()
                .map(|row| row.as_object().expect("a row").clone())
                .collect(),
        )
    }
}

impl Rows for Table {
    fn columns(&self, _: &str) -> Result<Vec<String>> {
        Ok(self
            .0
            .first()
            .map(|row| row.keys().cloned().collect())
            .unwrap_or_default())
    }

    fn rows(
        &self,
        _: &str,
        _: Option<(&str, &str)>,
        _: &[&str],
    ) -> Result<Vec<Map<String, Value>>> {
        panic!("bytes are asked for")
    }

    fn picked(
        &self,
        _: &str,
        columns: &[&str],
        holding: Option<(&str, &str)>,
        _: &[&str],
    ) -> Result<Vec<Map<String, Value>>> {
        let held = self
            .0
            .iter()
            .filter(|row| holding.is_none_or(|(column, text)| row[column] == text));
        let pick = |row: &Map<String, Value>| {
            columns
                .iter()
                .map(|it| ((*it).to_owned(), row[*it].clone()))
                .collect()
        };
        Ok(held.map(pick).collect())
    }

    fn summed(
        &self,
        _: &str,
        by: &str,
        text: &str,
        _: &str,
    ) -> Result<Vec<(String, u64, u64, i64)>> {
        let length = |held: &Value| match held.as_str() {
            Some(text) => text.len(),
            None => base64::decode(held[BYTES].as_str().expect("bytes"))
                .expect("bytes")
                .len(),
        };
        let sum = |row: &Map<String, Value>| {
            let id = row[by].as_str().expect("an id").to_owned();
            (id, 1, length(&row[text]) as u64, 2026)
        };
        Ok(self.0.iter().map(sum).collect())
    }
}

fn row(id: &str, kind: &str, data: &[u8]) -> Value {
    json!({"id": id, "summary": "S", "updated_at": "2026-03-02T08:10:00.5+00:00", "data_type": kind,
        "data": {BYTES: base64::encode(data)}})
}

/// What the document of a row says, and what is wrong with it.
fn told(rows: &Table, id: &str) -> (Session, Vec<String>) {
    let listed = (TABLES.sessions)(rows).expect("listed");
    let (stored, document) = (TABLES.document)(rows, id).expect("read").expect("there");
    assert!(listed.contains(&stored), "{stored:?}");
    assert_eq!(
        sniff(&document.as_bytes()).expect("readable"),
        Some(&ZED),
        "{document}"
    );
    let mut told = read(&ZED, document.as_bytes());
    let problems = told.problems.into_iter().map(|it| it.reason).collect();
    (told.sessions.remove(0), problems)
}

#[test]
fn a_row_is_its_thread_packed_or_not() {
    let packed = zstd::encode_all(THREAD, 3).expect("packed");
    let mut child = row("child", "json", OLDER);
    child["parent_id"] = json!("parent");
    let mut parent = row("parent", "zstd", &packed);
    for row in [&mut child, &mut parent] {
        row["folder_paths"] = json!("/home/mara/garden\n/home/mara/mill");
        row["folder_paths_order"] = json!("1,0");
    }
    parent["parent_id"] = Value::Null;
    let rows = Table::of(&[child, parent]);
    let listed = (TABLES.sessions)(&rows).expect("listed");
    let ids: Vec<&str> = listed.iter().map(|it| &*it.id).collect();
    assert_eq!(ids, ["parent", "child"], "who started one is before it");
    assert_eq!(listed[1].spawned_by.as_deref(), Some("parent"));
    assert_eq!(listed[0].cwd.as_deref(), Some("/home/mara/mill"));
    assert_eq!(listed[0].updated, 1_772_439_000_500);
    assert_eq!(listed[0].size_bytes, packed.len() as u64);
    for (id, plain) in [("parent", THREAD), ("child", OLDER)] {
        let (session, problems) = told(&rows, id);
        assert_eq!(problems, [""; 0]);
        assert_eq!(session.start.id, id);
        assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
        assert_eq!(session.messages(), read(&ZED, plain).sessions[0].messages());
    }
    let (session, _) = told(&rows, "child");
    assert_eq!(session.start.descent.spawned_by.as_deref(), Some("parent"));
    assert_eq!((TABLES.document)(&rows, "none").expect("read"), None);
    // Older databases have fewer columns, and the thread itself may say who started it.
    let thread =
        br#"{"title":"T","messages":[],"subagent_context":{"parent_thread_id":"p","depth":1}}"#;
    let rows = Table::of(&[row("t", "json", thread), row("empty", "json", b"{}")]);
    let (session, problems) = told(&rows, "t");
    assert_eq!(
        (session.start.descent.spawned_by.as_deref(), problems.len()),
        (Some("p"), 0)
    );
    assert_eq!(told(&rows, "empty").1, [""; 0]);
    let empty = (TABLES.document)(&rows, "empty").expect("read");
    let (_, document) = empty.expect("it is there");
    assert_eq!(document, r#"{"zed_thread":{"id":"empty"}}"#);
}

#[test]
fn of_a_damaged_row_what_is_whole_is_read_and_the_rest_is_named() {
    // So long that it is packed in several blocks.
    let mut noise = 7_u64;
    let mut word = || {
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        format!("{noise:x}")
    };
    let long: String = (0..20_000).map(|_| word()).collect();
    let thread = with(&[prompt("u", "one"), reply(&long)]);
    let packed = zstd::encode_all(&*thread, 3).expect("packed");
    let cut = &packed[..packed.len() - 9];
    let rows = Table::of(&[
        row("cut", "zstd", cut),
        row("noise", "zstd", b"no frame"),
        row("new", "brotli", b"?"),
        row("list", "json", b"[1]"),
        row(
            "torn",
            "json",
            br#"{"title":"T","messages":[{"User":{"id":"u","content":[{"Text":"a"}]}},{"Ag"#,
        ),
    ]);
    let (session, problems) = told(&rows, "cut");
    assert_eq!(session.said(), ["user: one"]);
    assert!(
        problems[0].starts_with("its data is damaged ("),
        "{problems:?}"
    );
    assert_eq!(problems[1..], ["the JSON text ends too early"]);
    let (session, problems) = told(&rows, "noise");
    assert_eq!(
        (session.start.id.as_str(), session.steps.len()),
        ("noise", 0)
    );
    assert!(
        problems[0].starts_with("its data is damaged ("),
        "{problems:?}"
    );
    assert_eq!(
        told(&rows, "new").1,
        ["its data is of an unknown kind 'brotli'"]
    );
    assert_eq!(told(&rows, "list").1, ["its data is no object"]);
    let (session, problems) = told(&rows, "torn");
    assert_eq!(session.said(), ["user: a"]);
    assert_eq!(problems, ["the JSON text ends too early"]);
}
