//! A conversation, written.

use super::*;
use crate::model::{HideKind, Message, Role};
use crate::tree::{Fold, events_of};

#[test]
fn a_conversation_is_markdown() {
    let call = |id: &str, name: &str, arguments: &str| Part::ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        kind: None,
    };
    let result = |id: &str, text: &str, is_error| {
        let (call, content) = (id.to_owned(), vec![Part::text(text)]);
        let part = Part::ToolResult {
            call,
            content,
            is_error,
        };
        (Message::new(Role::Tool, vec![part]), None)
    };
    let thought = Part::Thinking {
        text: "Let me\nthink".into(),
        signature: None,
        provider: None,
    };
    let edit = r#"{"file_path":"a.rs","old_string":"one","new_string":"two"}"#;
    let said = vec![
        thought,
        Part::text("I *look*.\n\n```\nopen"),
        call("1", "Read", r#"{"path":"a`.rs"}"#),
        call("2", "Bash", r#"{"command":"ls\npwd"}"#),
    ];
    let mut fold = Fold::default();
    let messages = [
        (Message::text(Role::System, "Be brief."), None),
        (Message::text(Role::User, "What is\nin <a.rs>?"), None),
        (Message::new(Role::Assistant, said), None),
        result("1", "fn main() {\n    ```\n    1\n}", false),
        result("2", "no such command", true),
        (
            Message::new(Role::Assistant, vec![call("3", "Edit", edit)]),
            None,
        ),
        result("3", "", false),
        (
            Message::text(Role::User, "# Summary\n\n- so far"),
            Some(HideKind::Compaction),
        ),
        (Message::text(Role::User, "Go on"), None),
    ];
    for (message, placed) in &messages {
        for event in events_of(message, *placed) {
            fold.feed(event);
        }
    }
    let tree = fold.settle();
    let page = ConversationPage {
        facts: &["9 messages".into(), "2026-01-01".into()],
        ..ConversationPage::bare("A <title> of *ours*")
    };
    let mut bytes = Vec::new();
    write(&page, &tree.items, &mut bytes).expect("written");
    insta::assert_snapshot!(String::from_utf8(bytes).expect("UTF-8"));
}
