//! One hand-made rollout for each thing that real ones do.

use serde_json::{Value, json};

use super::{Collected, data, slice};
use crate::formats::{Cover, StepEntry, StepId};
use crate::model::{HideKind, Media, MediaSource, Message, Millis, Part, Role, Usage};

fn roles(collected: &Collected) -> String {
    let letter = |message: &&Message| match message.role {
        Role::System => 's',
        Role::Developer => 'd',
        Role::User => 'u',
        Role::Assistant => 'a',
        Role::Tool => 't',
    };
    collected.messages().iter().map(letter).collect()
}

fn texts<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<&'a str> {
    let parts = messages.into_iter().flat_map(|message| &message.parts);
    let text = |part: &'a Part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    };
    parts.filter_map(text).collect()
}

fn append(step: usize) -> StepEntry {
    StepId(step).entry()
}

fn replacement(step: usize, index: usize) -> StepEntry {
    StepEntry {
        step: StepId(step),
        replacement: Some(index),
    }
}

fn call(id: &str, name: &str, arguments: &str, kind: Option<&str>) -> Part {
    Part::ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        kind: kind.map(str::to_owned),
    }
}

fn result(call: &str, content: Vec<Part>) -> Part {
    Part::ToolResult {
        call: call.into(),
        content,
        is_error: false,
    }
}

#[test]
fn nothing_is_taken_twice_and_a_reply_is_one_message() {
    let bytes = data("plain.jsonl");
    let collected = Collected::of(&bytes);
    assert_eq!(roles(&collected), "sduuattataua");
    assert_eq!(collected.problems, []);
    let messages = collected.messages();
    assert_eq!(texts([messages[0]]), ["You are Codex. Be brief."]);
    let arguments = r#"{"command": ["cat","stock.txt"], "limit": 1.0, "id": 9007199254740993}"#;
    let expected = [
        Part::Thinking {
            text: "Look at the stock.\n\nTwo files.".into(),
            signature: Some("gAAAAenc1==".into()),
            provider: Some("openai".into()),
        },
        Part::text("I'll look."),
        call("call_a", "shell", arguments, None),
        call("call_b", "view_image", r#"{"path":"shelf.png"}"#, None),
    ];
    assert_eq!(messages[4].parts, expected);
    let image = Part::Image(Media {
        media_type: Some("image/png".into()),
        name: None,
        detail: Some("low".into()),
        source: MediaSource::Base64("iVBORw0KGgo=".into()),
    });
    let shelf = result("call_b", vec![Part::text("the shelf"), image]);
    assert_eq!(messages[6].parts, [shelf]);
    let patch = "*** Begin Patch\n\u{e9} \0 \u{1b}[31m\n*** End Patch";
    let patch = call("call_c", "apply_patch", patch, Some("custom"));
    assert_eq!(messages[7].parts[1], patch);
    let search = r#"{"type":"web_search_call","status":"completed","action":{"type":"search","query":"flour price","ratio":1000.0}}"#;
    let search = Part::Opaque {
        provider: "openai".into(),
        data: search.into(),
    };
    assert_eq!(messages[9].parts, [search, Part::text("3 kg.")]);
}

#[test]
fn a_step_knows_its_records_time_settings_and_count() {
    let bytes = data("plain.jsonl");
    let collected = Collected::of(&bytes);
    assert_eq!(collected.start.forked_from, None);
    let reply = &collected.steps[4];
    assert_eq!(reply.time, Millis::parse("2026-03-01T10:00:07.000Z"));
    let usage = |input_tokens, output_tokens| Some(Usage::new(input_tokens, output_tokens));
    let usages: Vec<_> = [4, 7, 9, 11].map(|at| collected.steps[at].usage).to_vec();
    let expected = [
        usage(100, 20),
        usage(150, 30),
        usage(200, 10),
        usage(210, 5),
    ];
    assert_eq!(usages, expected.map(|it| it.map(|it| it.cached(4, 0))));
    let records: Vec<&str> = reply
        .records
        .iter()
        .map(|span| slice(&bytes, *span))
        .collect();
    assert_eq!(records.len(), 4);
    assert!(records.iter().all(|record| record.starts_with('{')
        && record.ends_with('}')
        && record.contains("response_item")));
    let settings = |at: usize| &collected.steps[at].settings;
    assert_eq!(settings(3)["model"], r#""gpt-5.5""#);
    assert_eq!(settings(3)["reasoning_effort"], r#""high""#);
    assert_eq!(settings(10).len(), 1);
    assert_eq!(settings(10)["model"], r#""gpt-5.5-mini""#);
    let end = &collected.end;
    assert_eq!(end.title.as_deref(), Some("Flour"));
    assert_eq!(end.cwd.as_deref(), Some("/home/ana/bakery"));
    assert_eq!(end.absent, ["tool definitions"]);
    assert_eq!(end.other_records["event_msg/token_count"], 4);
    assert_eq!(end.other_records["world_state"], 1);
    assert_eq!(end.other_records.get("session_meta"), None);
    // What the provider's own tools did is told to every reader.
    assert_eq!(end.opaque_blocks.get("web_search_call"), None);
}

#[test]
fn rare_items_keep_their_text() {
    let collected = Collected::of(&data("rare.jsonl"));
    assert_eq!(roles(&collected), "uatatauuauaut");
    let messages = collected.messages();
    let shell = r#"{"type":"exec","command":["ls"],"timeout_ms":1.0}"#;
    let shell = call("call_l", "local_shell", shell, Some("local_shell"));
    assert_eq!(messages[1].parts, [shell]);
    assert_eq!(messages[2].parts, [result("call_l", vec![Part::text("")])]);
    let search = r#"{"query":"calendar","limit":8}"#;
    let search = call("call_t", "tool_search", search, Some("tool_search"));
    assert_eq!(messages[3].parts, [search]);
    assert!(matches!(
        &messages[4].parts[..],
        [Part::ToolResult { content, .. }] if matches!(&content[..], [Part::Opaque { .. }])
    ));
    assert_eq!(messages[5].parts.len(), 2, "a picture and a hologram");
    assert_eq!(messages[6].name.as_deref(), Some("/root/ida"));
    assert_eq!(texts([messages[6], messages[7]]), ["Found it.", "Me too."]);
    assert!(matches!(messages[8].parts[1], Part::Opaque { .. }));
    assert!(messages[9].parts.is_empty());
    let url = MediaSource::Url("https://example.org/a.png".into());
    assert!(matches!(&messages[0].parts[1], Part::Image(media) if media.source == url));
    let end = &collected.end;
    assert_eq!(end.absent, ["system prompt", "tool definitions"]);
    assert_eq!(end.opaque_blocks["hologram"], 1);
    assert_eq!(end.other_records["response_item/ghost_snapshot"], 1);
    // Its call's output is missing, which is normal; another's call is, which is not.
    assert_eq!(collected.problems.len(), 1);
    assert!(collected.problems[0].reason.contains("call_nobody"));
}

#[test]
fn a_compaction_replaces_all_but_the_system_prompt() {
    let collected = Collected::of(&data("compact-rollback.jsonl"));
    let compaction = collected.hides()[0];
    assert_eq!(compaction.kind, HideKind::Compaction);
    assert_eq!(compaction.cover, Cover::Everything);
    assert_eq!(compaction.keep, [append(0)]);
    let messages: Vec<_> = compaction.replacements.iter().map(|(_, m)| m).collect();
    assert_eq!(texts(messages.iter().copied()), ["one", "two"]);
    assert!(compaction.replacements.iter().all(|(at, _)| at.is_none()));
    assert_eq!(messages[2].role, Role::Assistant);
    assert!(matches!(messages[2].parts[..], [Part::Opaque { .. }]));
}

#[test]
fn a_rollback_drops_the_last_turns() {
    let collected = Collected::of(&data("compact-rollback.jsonl"));
    let hides = collected.hides();
    assert_eq!(hides.len(), 3);
    for hide in &hides[1..] {
        assert_eq!(hide.kind, HideKind::Drop);
        assert!(hide.replacements.is_empty() && hide.keep.is_empty());
    }
    // Steps 0-5, the compaction as 6, "dos" as 7, then two turns.
    assert_eq!(hides[1].cover, Cover::Range(append(8), append(11)));
    // More turns than there are: from the first prompt that the compaction kept.
    assert_eq!(hides[2].cover, Cover::Range(replacement(6, 0), append(14)));
}

#[test]
fn a_turn_is_dropped_once() {
    let collected = Collected::of(&data("rollback-twice.jsonl"));
    let covers: Vec<_> = collected.hides().iter().map(|hide| hide.cover).collect();
    let expected = [
        Cover::Range(append(2), append(3)),
        Cover::Range(append(0), append(6)),
    ];
    assert_eq!(covers, expected);
}

#[test]
fn a_count_may_come_before_its_reply_and_again_after() {
    let collected = Collected::of(&data("early-counts.jsonl"));
    assert_eq!(roles(&collected), "uata");
    let counts: Vec<_> = collected
        .steps
        .iter()
        .map(|step| step.usage.map(|usage| usage.input_tokens))
        .collect();
    assert_eq!(counts, [None, Some(10), None, Some(20)]);
}

#[test]
fn what_a_compaction_cost_is_counted_beside_the_replies() {
    let record = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "payload": payload})
            .to_string()
    };
    let message = |role: &str, text: &str| {
        let kind = if role == "user" {
            "input_text"
        } else {
            "output_text"
        };
        let content = json!([{"type": kind, "text": text}]);
        record(
            "response_item",
            json!({"type": "message", "role": role, "content": content}),
        )
    };
    let usage =
        |input: u64| json!({"input_tokens": input, "cached_input_tokens": 4, "output_tokens": 2});
    let asked = |thread: &str, input: u64| {
        record(
            "token_usage_record",
            json!({"thread_id": thread, "usage": usage(input)}),
        )
    };
    let counted = |total: u64, input: u64| {
        let info = json!({"total_token_usage": usage(total), "last_token_usage": usage(input)});
        record("event_msg", json!({"type": "token_count", "info": info}))
    };
    let lines = [
        record("session_meta", json!({"id": "s", "cwd": "/p"})),
        record("turn_context", json!({"cwd": "/p", "model": "m"})),
        message("user", "One?"),
        message("assistant", "First."),
        asked("s", 100),
        counted(100, 100),
        // Of the thread that it is a copy of, and for a summary.
        asked("other", 500),
        asked("s", 70),
        record("compacted", json!({"message": "Sum."})),
        message("user", "Two?"),
        message("assistant", "Second."),
        asked("s", 30),
        counted(200, 30),
    ];
    let collected = Collected::of(lines.join("\n").as_bytes());
    let replies = collected.steps.iter().filter_map(|step| step.usage);
    let inputs: Vec<u64> = replies.map(|usage| usage.input_tokens).collect();
    assert_eq!(inputs, [100, 30]);
    let stated = collected.end.stated.clone().expect("the summary's");
    let others = stated.beyond(|_| Usage::default(), Usage::default());
    assert_eq!(others, [("m".to_owned(), Usage::new(70, 2).cached(4, 0))]);
}

#[test]
fn an_old_compaction_keeps_the_users_messages() {
    let collected = Collected::of(&data("compact-old.jsonl"));
    let hides = collected.hides();
    assert_eq!(hides[0].keep, [append(0), append(1), append(2), append(4)]);
    let summary = Message::text(Role::User, "Summary: one, two.");
    assert_eq!(hides[0].replacements, [(None, summary)]);
    assert_eq!(hides[1].cover, Cover::Range(append(7), append(8)));
}

#[test]
fn a_compaction_of_nothing_is_plain_messages() {
    let collected = Collected::of(&data("compact-first.jsonl"));
    assert_eq!(roles(&collected), "suau");
    assert!(collected.hides().is_empty());
}

#[test]
fn a_fork_has_its_parents_content() {
    let parent = Collected::of(&data("plain.jsonl"));
    let fork = Collected::of(&data("fork.jsonl"));
    let start = &fork.start;
    assert_eq!(start.id, "22222222-2222-7222-8222-222222222222");
    assert_eq!(start.forked_from, Some(parent.start.id.clone()));
    for (a, b) in parent.steps.iter().zip(&fork.steps).take(10) {
        assert_eq!((&a.action, &a.settings), (&b.action, &b.settings));
        assert_ne!(a.time, b.time);
    }
    assert_eq!(fork.messages().len(), 12);
}

#[test]
fn a_session_opened_twice_is_one() {
    let collected = Collected::of(&data("twice-opened.jsonl"));
    assert_eq!(roles(&collected), "suaua");
    assert_eq!(collected.end.other_records["session_meta"], 1);
}

#[test]
fn the_layout_without_envelopes_is_read() {
    let bytes = data("legacy.jsonl");
    let collected = Collected::of(&bytes);
    assert_eq!(collected.start.id, "33333333-3333-4333-8333-333333333333");
    assert_eq!(roles(&collected), "suuata");
    assert_eq!(collected.problems, []);
    assert!(collected.steps.iter().all(|step| step.time.is_none()));
    assert_eq!(collected.end.other_records["state"], 3);
    let record = slice(&bytes, collected.steps[5].records[0]);
    assert!(record.starts_with('{') && record.ends_with('}'));
}

#[test]
fn damage_costs_only_itself() {
    let bytes = data("damaged.jsonl");
    let collected = Collected::of(&bytes);
    let messages = collected.messages();
    let expected = [
        "You are Codex. Be brief.",
        "one",
        "uno",
        "dos",
        "three",
        "tr\u{fffd}es",
        "lone \u{fffd} end",
    ];
    assert_eq!(texts(messages), expected);
    let problems: Vec<_> = collected
        .problems
        .iter()
        .map(|problem| (problem.line, problem.harmless))
        .collect();
    let expected = [(4, true), (5, false), (6, false), (9, false), (11, true)];
    assert_eq!(problems, expected);
    assert_eq!(collected.end.lone_surrogates, 1);
    for span in collected.steps.iter().flat_map(|step| &step.records) {
        let range = span.offset as usize..(span.offset + span.len) as usize;
        assert!(bytes[range.clone()].starts_with(b"{\"timestamp\""));
        assert!(bytes[range].ends_with(b"}"));
    }
}

#[test]
fn nothing_and_nonsense_are_no_messages() {
    let empty = Collected::of(b"");
    assert_eq!((empty.start.id.as_str(), empty.steps.len()), ("stem", 0));
    let nonsense = Collected::of(b"\n\n7\n[]\n{\"a\":1}\n{\"type\":5}\n\"\n");
    assert_eq!(nonsense.steps, []);
    assert!(!nonsense.problems.is_empty());
}

#[test]
fn a_cut_anywhere_only_takes_from_the_end() {
    for name in ["plain.jsonl", "compact-rollback.jsonl", "fork.jsonl"] {
        let bytes = data(name);
        let whole = Collected::of(&bytes);
        for cut in (0..bytes.len()).filter(|cut| bytes[*cut] == b'\n') {
            let before = Collected::of(&bytes[..cut]);
            let steps = super::finished(&before.steps);
            assert_eq!(steps, &whole.steps[..steps.len()], "{name} at {cut}");
        }
    }
}

#[test]
fn a_session_that_names_its_own_thread_first_has_started_no_other() {
    let record = |kind: &str, payload: Value| json!({"timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "payload": payload});
    let item = |thread: &str, kind: &str| {
        let item = json!({"type": kind, "id": "i"});
        record(
            "event_msg",
            json!({"type": "item_completed", "thread_id": thread, "item": item}),
        )
    };
    let content = json!([{"type": "input_text", "text": "Reviewed."}]);
    let records = [
        record("session_meta", json!({"id": "own", "cwd": "/p"})),
        item("own", "EnteredReviewMode"),
        item("review", "UserMessage"),
        record(
            "response_item",
            json!({"type": "message", "role": "user", "content": content}),
        ),
        item("own", "ExitedReviewMode"),
    ];
    let lines: String = records.iter().map(|it| format!("{it}\n")).collect();
    let collected = Collected::of(lines.as_bytes());
    assert_eq!(collected.end.started, ["review"]);
}
