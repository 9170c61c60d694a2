//! What stands in the queue's records alone.

use super::*;

fn said(kind: &str, uuid: &str, parent: &str, content: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","message":{{"id":"{uuid}","role":"{kind}","content":{content}}}}}"#
    ) + "\n"
}

fn begin() -> String {
    said("user", "u1", "null", r#""Bake.""#)
        + &said(
            "assistant",
            "a1",
            r#""u1""#,
            r#"[{"type":"tool_use","id":"c","name":"Bash","input":{}}]"#,
        )
}

fn result() -> String {
    said(
        "user",
        "r1",
        r#""a1""#,
        r#"[{"type":"tool_result","tool_use_id":"c","content":"rye"}]"#,
    )
}

fn end() -> String {
    said(
        "assistant",
        "a2",
        r#""r1""#,
        r#"[{"type":"text","text":"Baked."}]"#,
    )
}

fn queue(operation: &str, more: &str) -> String {
    format!(
        r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"2026-01-05T10:01:00.000Z","sessionId":"s"{more}}}"#
    ) + "\n"
}

fn texts(kept: &Kept) -> Vec<String> {
    sketches(kept.main())
}

const TOLD: &str = r#"user: "The user sent a new message while you were working:\nNo rye.\n\nIMPORTANT: After completing your current task, you MUST address the user's message above. Do not ignore it.""#;

#[test]
fn what_was_given_in_mid_turn_stands_behind_the_results_that_it_came_with() {
    let no_rye = r#","content":"No rye.""#;
    let absorbed = r#","content":"No rye.","reason":"absorbed_mid_turn""#;
    for (what, enqueue, remove) in [
        ("an earlier client's", no_rye, ""),
        ("a newer client's", no_rye, absorbed),
        ("of which the end alone says what it was", "", absorbed),
    ] {
        let (enqueue, remove) = (queue("enqueue", enqueue), queue("remove", remove));
        for text in [
            begin() + &enqueue + &result() + &remove + &end(),
            // The client need not have written the result yet.
            begin() + &enqueue + &remove + &result() + &end(),
        ] {
            let kept = import(text.as_bytes(), "s");
            let texts = texts(&kept);
            assert_eq!(texts.len(), 5, "{what}: {texts:?}");
            assert_eq!(texts[3], TOLD, "{what}");
            let message = kept.steps[3].message().expect("a message");
            assert_eq!(message.attached.as_deref(), Some("queued_command"));
            assert_eq!(kept.steps[3].records.len(), 2, "{what}");
            assert!(kept.end.expect("an end").other_records.is_empty());
        }
    }
}

#[test]
fn what_was_taken_back_or_stands_elsewhere_is_no_message_of_the_queues() {
    let no_rye = r#","content":"No rye.""#;
    let attached = r#"{"type":"attachment","uuid":"q","parentUuid":"r1","sessionId":"s","attachment":{"type":"queued_command","prompt":"No rye.","commandMode":"prompt"}}"#.to_owned() + "\n";
    let cancelled = r#","content":"No rye.","reason":"user_cancelled""#;
    let enqueue = queue("enqueue", no_rye);
    let notice = queue(
        "enqueue",
        r#","content":"<task-notification>x</task-notification>""#,
    );
    let internal = queue("enqueue", r#","content":"{\"task_id\":\"t\"}""#);
    let goes_on = end().replace(r#""r1""#, r#""q""#);
    for (text, messages) in [
        (
            begin() + &enqueue + &queue("remove", cancelled) + &result() + &end(),
            4,
        ),
        (
            begin() + &enqueue + &queue("popAll", "") + &result() + &end(),
            4,
        ),
        (
            begin() + &enqueue + &queue("remove", "") + &result() + &attached + &goes_on,
            5,
        ),
        (
            begin() + &enqueue + &result() + &attached + &queue("remove", no_rye) + &goes_on,
            5,
        ),
        (
            begin()
                + &result()
                + &end()
                + &enqueue
                + &queue("dequeue", "")
                + &said("user", "u2", r#""a2""#, r#""No rye.""#),
            5,
        ),
        (begin() + &result() + &end() + &notice + &internal, 4),
    ] {
        let kept = import(text.as_bytes(), "s");
        assert_eq!(kept.main().len(), messages, "{text}");
        assert!(
            texts(&kept)
                .iter()
                .filter(|text| text.contains("No rye."))
                .count()
                <= 1
        );
    }
}

#[test]
fn what_nothing_followed_ends_the_conversation() {
    let enqueue = queue("enqueue", r#","content":"No rye.""#);
    for text in [
        begin() + &result() + &end() + &enqueue,
        // It was to begin a turn, and the client died.
        begin() + &result() + &end() + &enqueue + &queue("dequeue", ""),
    ] {
        let kept = import(text.as_bytes(), "s");
        assert_eq!(texts(&kept)[4..], [r#"user: "No rye.""#]);
        assert!(!kept.steps[4].message().expect("a message").is_attached());
    }
    // Nothing but what was typed.
    let kept = import(queue("enqueue", r#","content":"No rye.""#).as_bytes(), "s");
    assert_eq!((texts(&kept).len(), kept.sessions[0].id.as_str()), (1, "s"));
}
