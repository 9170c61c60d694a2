//! What recorded bodies say together, and what is written back.

use std::collections::BTreeSet;

use super::BODIES;
use super::body::recorded;
use crate::formats::shared::contract::{Session, Told, hides, read, value_at};
use crate::formats::{Cover, Step};
use crate::model::{HideKind, Message, Part, Role, Span, Usage};

const RECORDED: &[u8] = include_bytes!("../../../tests/data/bodies/recorded.jsonl");
const FILES: &[u8] = include_bytes!("../../../tests/data/bodies/files.jsonl");
const RESPONSES: &[u8] = include_bytes!("../../../tests/data/bodies/responses.jsonl");

const MAIN: &str = "5a1e0000-0000-4000-8000-000000000001";

fn ids(told: &Told) -> Vec<(&str, Option<&str>)> {
    let sessions = told.sessions.iter().map(|session| {
        let start = &session.start;
        (start.id.as_str(), start.descent.spawned_by.as_deref())
    });
    sessions.collect()
}

/// How many requests stand behind steps.
fn requests(bytes: &[u8], session: &Session) -> usize {
    let spans = session.steps.iter().filter_map(|step| step.records.last());
    let is_request =
        |span: &&Span| recorded(&BODIES, &value_at(bytes, **span).to_string()).is_some();
    let found: BTreeSet<u64> = spans.filter(is_request).map(|span| span.offset).collect();
    found.len()
}

#[test]
fn a_conversation_is_told_once() {
    let told = read(&BODIES, RECORDED);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    assert_eq!(
        ids(&told),
        [
            (MAIN, None),
            ("a1b2c3", Some(MAIN)),
            ("5a1e0000-3", Some(MAIN))
        ]
    );
    let main = &told.sessions[0];
    let attached = |message: &&Message| message.is_attached();
    assert_eq!(main.messages().into_iter().filter(attached).count(), 1);
    let system = main.messages()[0];
    assert_eq!(system.role, Role::System);
    assert_eq!(system.parts, [Part::text("You keep a pantry.")]);
    // Of ten requests seven are its, and one of them came twice.
    assert_eq!(requests(RECORDED, main), 6);
    assert_eq!(main.end.other_records["request sent again"], 1);
    let agent: Vec<Role> = told.sessions[1].messages().iter().map(|m| m.role).collect();
    assert_eq!(
        agent,
        [Role::System, Role::User, Role::Assistant, Role::Tool]
    );
}

#[test]
fn what_a_client_leaves_out_or_replaces_is_hidden() {
    let told = read(&BODIES, RECORDED);
    let hides = hides(&told.sessions[0].steps);
    let kinds: Vec<HideKind> = hides.iter().map(|hide| hide.kind).collect();
    assert_eq!(
        kinds,
        [HideKind::Prune, HideKind::Compaction, HideKind::Drop]
    );
    // Thinking is gone, and what a tool gave is said to be; a mark for the cache is no change.
    let parts: Vec<_> = hides[0].parts.iter().collect();
    let [(_, 0, None), (_, 0, Some(stub))] = parts[..] else {
        panic!("{parts:?}");
    };
    let text = |part: &Part| matches!(part, Part::ToolResult { content, .. } if *content == [Part::text("[cleared]")]);
    assert!(stub.parts.iter().all(text), "{stub:?}");
    // All that was said but the instructions, and the summary in place of it.
    assert!(matches!(hides[1].cover, Cover::Range(first, _) if first.step.0 == 1));
    assert_eq!(hides[1].replacements.len(), 1);
    // A request that says the same with other settings has a moment of its own.
    let last = told.sessions[0].steps.last().expect("a step");
    assert_eq!(last.settings["max_tokens"], "1000");
    assert_eq!(last.settings["thinking"], "null");
    assert_eq!(last.settings.len(), 2);
}

#[test]
fn a_reply_goes_to_the_request_that_it_answers() {
    let told = read(&BODIES, FILES);
    assert_eq!(ids(&told), [(MAIN, None), ("5a1e0000-2", Some(MAIN))]);
    let counted = |session: &Session| -> Vec<Option<Usage>> {
        let is_reply = |step: &&Step| step.message().is_some_and(|m| m.role == Role::Assistant);
        let replies = session.steps.iter().filter(is_reply);
        replies.map(|step| step.usage).collect()
    };
    let usage = |input_tokens, output_tokens| Some(Usage::new(input_tokens, output_tokens));
    assert_eq!(
        counted(&told.sessions[0]),
        [usage(110, 20).map(|it| it.cached(10, 0))]
    );
    // Two were on their way: the next request shows whose this is.
    assert_eq!(
        counted(&told.sessions[1]),
        [usage(40, 5).map(|it| it.cached(10, 0))]
    );
    // Nothing shows whose the last two are, and nobody guesses.
    let notes: Vec<&str> = told.problems.iter().map(|it| it.reason.as_str()).collect();
    assert_eq!(notes, ["replies that may answer several requests: 2"]);
    assert!(told.problems[0].harmless);
    let times: Vec<i64> = told.sessions[0]
        .steps
        .iter()
        .filter_map(|step| Some(step.time?.0 % 10_000))
        .collect();
    assert_eq!(times, [0, 0, 0, 900, 1000]);
}

#[test]
fn items_and_their_replies_are_read_by_their_own_format() {
    let told = read(&BODIES, RESPONSES);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let thread = "0199aaaa-0000-7000-8000-00000000000";
    let (first, second) = (format!("{thread}1"), format!("{thread}2"));
    assert_eq!(
        ids(&told),
        [(first.as_str(), None), (second.as_str(), Some(&*first))]
    );
    let main = &told.sessions[0];
    let roles: Vec<Role> = main.messages().iter().map(|m| m.role).collect();
    use Role::{Assistant, Developer, System, Tool, User};
    // The replies, the outputs of tools, and what came behind the summary.
    assert_eq!(
        roles,
        [System, Developer, User, Assistant, Tool, Assistant, User]
    );
    let counted = Usage::new(50, 12).cached(40, 0).reasoned(8);
    assert_eq!(main.steps[3].usage, Some(counted));
    assert_eq!(hides(&main.steps)[0].kind, HideKind::Compaction);
    assert_eq!(requests(RESPONSES, main), 3);
}

#[test]
fn what_is_no_body_is_named_and_the_rest_comes_in() {
    let whole = std::str::from_utf8(RECORDED).expect("text");
    let first = whole.lines().next().expect("a line");
    let odd = [
        r#"{"file":"odd.request.json","time":1,"body":{"contents":[]}}"#,
        r#"{"file":"list.request.json","time":1,"body":[1]}"#,
        r#"{"headers":{"session-id":7}}"#,
        r#"{"body":{"messages":"#,
    ];
    let text = format!("{first}\n{}", odd.join("\n"));
    let told = read(&BODIES, text.as_bytes());
    let reasons: Vec<(u64, &str)> = told
        .problems
        .iter()
        .map(|problem| (problem.line, problem.reason.as_str()))
        .collect();
    assert_eq!(
        reasons,
        [
            (2, "odd: a body of no known provider"),
            (3, "no body in it"),
            (5, "the last line is torn"),
        ]
    );
    assert_eq!(told.sessions.len(), 1);
    assert_eq!(told.sessions[0].steps.len(), 3);
}
