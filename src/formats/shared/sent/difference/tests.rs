use super::*;

/// A request with these members beside its model.
fn request(rest: &str) -> SentRequest {
    SentRequest {
        json: Some(format!(r#"{{"model":"m",{rest}}}"#)),
        ..SentRequest::default()
    }
}

const BEFORE: &str = r#""messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}]}],
    "system":[{"type":"text","text":"one\ntwo"},{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],
    "tools":[{"name":"ls","input_schema":{}},{"name":"cat","input_schema":{}}],"max_tokens":5"#;

fn cause(from: &str, to: &str) -> Option<String> {
    assert!(BEFORE.contains(from), "{from}");
    let after = request(&BEFORE.replace(from, to));
    let found = SentDifference::of(&request(BEFORE), &after).expect("both are whole");
    assert_eq!(found.byte.is_none(), from == to);
    found.cause(None)
}

#[test]
fn the_first_difference_is_the_first_in_the_order_of_a_cache() {
    let told = |from, to| cause(from, to).unwrap_or_default();
    for (from, to, wanted) in [
        (r#""name":"ls""#, r#""name":"mv""#, "tool mv added"),
        (r#"{"name":"ls","input_schema":{}},"#, "", "tool ls removed"),
        (
            r#""cat","input_schema":{}"#,
            r#""cat","input_schema":{"a":1}"#,
            "tool cat changed",
        ),
        ("two", "three", "system[0] changed from line 2 on"),
        (
            r#""text":"b""#,
            r#""text":"c""#,
            "messages[1].content[0].text changed",
        ),
        (
            r#",{"role":"assistant","content":[{"type":"text","text":"b"}]}"#,
            "",
            "the last 1 of 2 messages is gone",
        ),
        ("5", "6", "max_tokens changed"),
        (
            r#","cache_control":{"type":"ephemeral"}"#,
            "",
            "the breakpoint at system[1] is gone",
        ),
    ] {
        assert_eq!(told(from, to), wanted, "{from} → {to}");
    }
    assert_eq!(cause("5", "5"), None);
    // What is added at the end, and a string in place of its one block, break no cache.
    assert_eq!(cause(r#"[{"type":"text","text":"b"}]"#, r#""b""#), None);
    assert_eq!(
        cause(r#""b"}]}]"#, r#""b"}]},{"role":"user","content":"c"}]"#),
        None
    );
    let swapped = r#"{"name":"cat","input_schema":{}},{"name":"ls","input_schema":{}}"#;
    let tools = r#"{"name":"ls","input_schema":{}},{"name":"cat","input_schema":{}}"#;
    assert_eq!(told(tools, swapped), "tools stand in another order");
}

#[test]
fn a_breakpoint_that_moves_too_far_finds_nothing_that_was_kept() {
    let with = |blocks: usize, last: bool| {
        let block = r#"{"type":"text","text":"t"},"#.repeat(blocks);
        let mark = r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#;
        let first = if last {
            r#""type":"text""#.to_owned()
        } else {
            mark.to_owned()
        };
        let end = if last { mark } else { r#""type":"text""# };
        request(&format!(
            r#""messages":[{{"role":"user","content":[{{{first},"text":"a"}}]}},{{"role":"user","content":[{block}{{{end},"text":"z"}}]}}]"#
        ))
    };
    let cause = |blocks| {
        let found = SentDifference::of(&with(blocks, false), &with(blocks, true)).expect("whole");
        assert_eq!(found.marks[0], ["messages[0].content[0] 1h"]);
        found.blocks_between_marks
    };
    assert_eq!((cause(0), cause(19), cause(20)), (1, 20, 21));
}

#[test]
fn what_cannot_be_told_is_not_compared() {
    let lost = SentRequest {
        proof: Some(Err(Lack::Mark)),
        ..SentRequest::default()
    };
    assert_eq!(SentDifference::of(&lost, &request(BEFORE)), Err(Lack::Mark));
    let odd = request("");
    assert_eq!(
        SentDifference::of(&request(BEFORE), &odd),
        Err(Lack::Record)
    );
}

#[test]
fn where_the_provider_names_a_part_its_difference_is_told() {
    let after = BEFORE
        .replace(r#""name":"ls""#, r#""name":"mv""#)
        .replace(r#""text":"b""#, r#""text":"c""#);
    let found = SentDifference::of(&request(BEFORE), &request(&after)).expect("both are whole");
    let told = |says| found.cause(Some(says)).unwrap_or_default();
    assert_eq!(
        told("messages_changed"),
        "messages[1].content[0].text changed"
    );
    assert_eq!(told("tools_changed"), "tool mv added");
    assert_eq!(told("unavailable"), "tool mv added");
}
