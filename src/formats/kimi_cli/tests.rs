//! What a context says, and what is noted between its messages.

use super::KIMI_CLI;
use crate::formats::shared::contract::{read, sound};
use crate::formats::sniff::sniff;

const CONTEXT: &[u8] = include_bytes!("../../../tests/data/kimi-cli/context.jsonl");

#[test]
fn a_context_is_what_is_sent() {
    assert_eq!(sniff(&CONTEXT).expect("readable"), Some(&KIMI_CLI));
    let session = &sound(&KIMI_CLI, CONTEXT);
    assert_eq!(session.end.absent, ["tool definitions"]);
    assert_eq!(
        session.said(),
        [
            "system: You are the miller.",
            "user: <system>CHECKPOINT 0</system>",
            "user: How many sacks? | [None Some(\"image/png\")]",
            "assistant: (Count. None) | I look. | c1: Shell {\"command\": \"ls\"}",
            "tool: c1 false = 42",
            "assistant: Forty-two.",
        ]
    );
    assert_eq!(session.end.other_records["_usage"], 2);
    assert_eq!(session.end.other_records["_checkpoint"], 1);
    let broken = [CONTEXT, b"{\"role\":\"robot\",\"content\":\"x\"}\n"].concat();
    assert_eq!(read(&KIMI_CLI, &broken).reasons(), ["unknown role 'robot'"]);
}
