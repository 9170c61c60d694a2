//! A chat, drawn.

use super::*;
use crate::model::{Message, Part, Role};
use crate::render::plain;
use crate::tree::group::sections;
use crate::tree::{Event, Fold, Happening, Tree, events_of};

fn tree() -> Tree {
    tree_with([])
}

fn tree_with(more: impl IntoIterator<Item = Event>) -> Tree {
    let call = |id: &str, arguments: &str| Part::ToolCall {
        id: id.into(),
        name: "read_file".into(),
        arguments: arguments.into(),
        kind: None,
    };
    let result = |id: &str, text: &str, is_error| {
        let call = id.to_owned();
        let content = vec![Part::text(text)];
        Message::new(
            Role::Tool,
            vec![Part::ToolResult {
                call,
                content,
                is_error,
            }],
        )
    };
    let long: Vec<String> = (1..=9).map(|line| format!("line {line}")).collect();
    let path = r#"{"path":"src/a/long/path/to/a/file.rs"}"#;
    let said = vec![
        Part::text("日本語のテキスト and more of it"),
        call("a", path),
        call("b", "{}"),
    ];
    let messages = [
        Message::text(Role::System, "Be brief, and be it always."),
        Message::text(Role::User, "a question that is longer than twenty columns"),
        Message::new(Role::Assistant, said),
        result("b", "no such file", true),
        result("a", &long.join("\n"), false),
    ];
    let mut fold = Fold::default();
    let events = messages.iter().flat_map(|message| events_of(message, None));
    let inside = Event {
        parent: Some("c".into()),
        ..Event::new(Happening::Block(Part::text("what a sub-agent says")))
    };
    let task = Event::new(Happening::Block(call("c", "{}")));
    for event in events.chain([task, inside]).chain(more) {
        fold.feed(event);
    }
    fold.settle()
}

fn drawn(width_cols: Option<usize>, output_lines: usize) -> Vec<String> {
    let number = |node: NodeId| {
        let at = node.0 as usize;
        Some(ChatMessage {
            at,
            number: Some(at),
        })
    };
    let message_of: &dyn Fn(NodeId) -> Option<ChatMessage> = &number;
    let chat = Chat {
        message_of,
        ..Chat::new(output_lines, width_cols)
    };
    let lines = draw(&chat, &tree());
    for line in &lines {
        let fits = width_cols.is_none_or(|width| line.width_cols() <= width);
        assert!(fits, "{line:?} in {width_cols:?}");
    }
    lines.iter().map(plain::paint).collect()
}

#[test]
fn a_chat_fits_every_terminal_and_is_whole_in_a_pipe() {
    for width in 20..60 {
        drawn(Some(width), 3);
    }
    insta::assert_snapshot!(drawn(None, 3).join("\n"));
    insta::assert_snapshot!(drawn(Some(30), 3).join("\n"));
}

#[test]
fn what_is_folded_says_how_much_and_never_that_one_line_is_missing() {
    let more = |limit| {
        let lines = drawn(None, limit);
        let more = lines.iter().find(|line| line.contains("more line"));
        more.map(|line| line.trim().to_owned())
    };
    assert_eq!(more(3).as_deref(), Some("… 6 more lines"));
    assert_eq!(more(7).as_deref(), Some("… 2 more lines"));
    assert_eq!(more(8), None);
}

fn draw(chat: &Chat<'_>, tree: &Tree) -> Vec<Line> {
    let mut pen = Pen::default();
    let lines = tree.items.iter().flat_map(|item| pen.item(chat, item));
    lines.map(|line| line.line).collect()
}

#[test]
fn a_closed_message_is_one_line() {
    let tree = tree();
    let answers: Vec<NodeId> = tree
        .tools()
        .filter_map(|t| Some(t.answer.as_ref()?.0))
        .collect();
    let task = tree.tools().last().expect("the task").node.id;
    let message_of = |node: NodeId| {
        // The text and two calls are one message, each result is one, and so is the task.
        let results = answers.iter().filter(|answer| **answer <= node).count();
        let at = match node {
            NodeId(1) => 0,
            NodeId(..=3) => 1,
            node if node >= task => 5,
            _ => 2 + results,
        };
        let number = Some(at + 1);
        Some(ChatMessage { at, number })
    };
    let closed = |node: NodeId| {
        if node < task {
            Detail::Closed
        } else {
            Detail::Short
        }
    };
    for width_cols in [None, Some(40)] {
        let chat = Chat {
            message_of: &message_of,
            detail_of: &closed,
            ..Chat::new(3, width_cols)
        };
        let lines: Vec<String> = draw(&chat, &tree).iter().map(plain::paint).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
    // Where nobody knows of messages, a block is a line.
    let chat = Chat {
        detail_of: &|_| Detail::Closed,
        ..Chat::new(3, None)
    };
    let lines: Vec<String> = draw(&chat, &tree).iter().map(plain::paint).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn calls_and_thoughts_are_shown_as_they_are_asked_for() {
    let chat = Chat::new(3, None);
    let thought = Part::Thinking {
        text: "I think so.".into(),
        signature: None,
        provider: None,
    };
    let tree = tree_with([Event::new(Happening::Block(thought))]);
    let says = |chat: &Chat<'_>, words: &str| {
        let lines = draw(chat, &tree);
        lines.iter().any(|line| line.text().contains(words))
    };
    assert!(says(&chat, "I think so.") && says(&chat, "no such file") && !says(&chat, "line 9"));
    let full = Chat {
        tools: Tools::Full,
        ..chat
    };
    assert!(says(&full, "line 9") && !says(&full, "more lines"));
    let open = Chat {
        detail_of: &|_| Detail::Full,
        ..chat
    };
    assert_eq!(draw(&open, &tree), draw(&full, &tree));
    let off = Chat {
        tools: Tools::Off,
        ..chat
    };
    assert!(says(&off, "I think so.") && says(&off, "日本語"));
    assert!(!says(&off, "read_file") && !says(&off, "line 1") && !says(&off, "calls"));
    let thoughtless = Chat {
        thinking: false,
        ..off
    };
    assert!(says(&thoughtless, "日本語") && !says(&thoughtless, "I think so."));
}

#[test]
fn a_chat_drawn_in_pieces_is_the_chat_drawn_whole() {
    let chat = Chat::new(3, Some(40));
    let tree = tree();
    let mut pen = Pen::default();
    let mut lines = Vec::new();
    for item in &tree.items {
        let TreeItem::Turn(turn) = item else {
            lines.extend(pen.item(&chat, item));
            continue;
        };
        lines.extend(turn.user.iter().flat_map(|user| pen.user(&chat, user)));
        for item in &turn.items {
            let TurnItem::Response(response) = item else {
                lines.extend(pen.turn_item(&chat, item));
                continue;
            };
            for section in sections(&response.blocks) {
                // What is drawn again from a copy is the same.
                let again = pen.clone().section(&chat, response, &section);
                let drawn = pen.section(&chat, response, &section);
                assert_eq!(drawn, again);
                lines.extend(drawn);
            }
        }
    }
    let lines: Vec<Line> = lines.into_iter().map(|line| line.line).collect();
    assert_eq!(lines, draw(&chat, &tree));
}

#[test]
fn every_line_knows_its_node() {
    let chat = Chat::new(3, None);
    let tree = tree();
    let mut pen = Pen::default();
    let lines: Vec<ChatLine> = tree.items.iter().flat_map(|i| pen.item(&chat, i)).collect();
    let node_of = |words: &str| {
        let line = lines.iter().find(|line| line.line.text().contains(words));
        line.expect("it is drawn").node
    };
    let call = tree.tools().next().expect("a call");
    assert_eq!(node_of("read_file src"), call.node.id);
    let (answer, _) = call.answer.as_ref().expect("an answer");
    assert_eq!(node_of("line 2"), *answer);
    assert_ne!(node_of("Be brief"), node_of("a question"));
}

#[test]
fn an_edit_is_drawn_as_a_diff_and_folded_where_it_is_long() {
    let call = |name: &str, arguments: serde_json::Value| {
        let part = Part::ToolCall {
            id: name.into(),
            name: name.into(),
            arguments: arguments.to_string(),
            kind: None,
        };
        Event::new(Happening::Block(part))
    };
    let long: Vec<String> = (1..=20).map(|line| format!("\tline {line}")).collect();
    let events = [
        call(
            "Edit",
            serde_json::json!({"file_path": "src/a.rs", "replace_all": false,
            "old_string": "fn one() {\n\told()\n}", "new_string": "fn one() {\n\tnew()\n}"}),
        ),
        call(
            "Write",
            serde_json::json!({"file_path": "b.txt", "content": long.join("\n")}),
        ),
        call(
            "apply_patch",
            serde_json::json!({"input": "*** Begin Patch\n*** Delete File: c\n\
             *** Update File: d\n@@ fn x\n-\u{1b}[31mold\u{202e}\n+new\n*** End Patch"}),
        ),
    ];
    let tree = tree_with(events);
    for width_cols in [None, Some(40)] {
        let chat = Chat::new(3, width_cols);
        let lines = draw(&chat, &tree);
        let edits = lines
            .iter()
            .skip_while(|line| !line.text().contains("Edit"));
        let edits: Vec<String> = edits.map(plain::paint).collect();
        insta::assert_snapshot!(edits.join("\n"));
        let fits = |line: &Line| width_cols.is_none_or(|width| line.width_cols() <= width);
        assert!(lines.iter().all(fits));
        assert!(!edits.concat().contains(['\u{1b}', '\u{202e}']));
    }
    let full = Chat {
        tools: Tools::Full,
        ..Chat::new(3, None)
    };
    let says = |chat: &Chat<'_>| {
        draw(chat, &tree)
            .iter()
            .any(|l| l.text().contains("line 20"))
    };
    assert!(says(&full) && !says(&Chat::new(3, None)));
}

#[test]
fn a_thought_is_one_line_a_line_until_it_is_opened() {
    let thought = Part::Thinking {
        text: "one two three four five six seven eight\nnine".into(),
        signature: None,
        provider: None,
    };
    let mut fold = Fold::default();
    fold.feed(Happening::Block(thought).into());
    let tree = fold.settle();
    let lines = |detail: Detail| -> Vec<String> {
        let chat = Chat {
            detail_of: &|_| detail,
            ..Chat::new(3, Some(40))
        };
        draw(&chat, &tree).iter().map(Line::text).collect()
    };
    let short = lines(Detail::Short);
    assert!(short.len() == 3 && short[1].ends_with('…'), "{short:#?}");
    let full = lines(Detail::Full);
    assert_eq!(full.len(), 4, "{full:#?}");
    assert!(full[2].contains("eight"), "{full:#?}");
}
