//! A page, written.

use super::*;
use crate::model::{HideKind, Message, Part, Role};
use crate::tree::{Fold, Tree, events_of};

fn tree(messages: &[(Message, Option<HideKind>)]) -> Tree {
    let mut fold = Fold::default();
    for (message, placed) in messages {
        for event in events_of(message, *placed) {
            fold.feed(event);
        }
    }
    fold.settle()
}

fn page(tree: &Tree) -> String {
    let page = ConversationPage {
        facts: &["2 messages".into()],
        ..ConversationPage::bare("A <title>")
    };
    let mut bytes = Vec::new();
    write(&PageFrame::ALONE, &page, &tree.items, &mut bytes).expect("written");
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_digest_is_base64() {
    // As `printf '' | openssl dgst -sha256 -binary | base64` says.
    assert_eq!(
        digest(""),
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    );
}

#[test]
fn the_policy_names_what_the_page_runs_and_nothing_else() {
    let html = page(&Tree::default());
    let between = |open: &str, close: &str| {
        let (_, rest) = html.split_once(open).expect("it is there");
        rest.split_once(close).expect("it ends").0.to_owned()
    };
    for (open, close) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let digest = digest(&between(open, close)).replace('\'', "&#39;");
        assert!(html.contains(&format!("&#39;{digest}&#39;")), "{open}");
        assert_eq!(html.matches(open).count(), 1);
    }
    assert!(html.contains("default-src &#39;none&#39;"));
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    assert!(!STYLE.contains("</") && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    for never in [
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "eval(",
        "document.write",
        "fetch(",
    ] {
        assert!(!SCRIPT.contains(never), "{never}");
    }
}

#[test]
fn a_conversation_is_a_page() {
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
        Part::text("I *look*."),
        call("1", "Read", r#"{"path":"a.rs"}"#),
        call("2", "Bash", r#"{"command":"ls\npwd"}"#),
    ];
    let tree = tree(&[
        (Message::text(Role::System, "Be brief."), None),
        (Message::text(Role::User, "What is\nin <a.rs>?"), None),
        (Message::new(Role::Assistant, said), None),
        result("1", "fn main() {}", false),
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
    ]);
    let html = page(&tree);
    let (_, main) = html.split_once("<main>").expect("a main part");
    let (main, _) = main.split_once("<script>").expect("a script");
    insta::assert_snapshot!(main);
}
