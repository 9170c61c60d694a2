//! The one JSON form of a tree: `docs/render.md`.

use serde_json::{Map, Value, json};

use super::aside::{Cancelled, Faulted, Mark, Notation};
use super::cut::omitted_lines;
use super::group::{GroupState, Section, sections};
use super::node::{Node, NodeId};
use super::response::{Response, ResponseBlock};
use super::tool::Tool;
use super::turn::{Turn, TurnItem};
use super::words::{word, words};
use super::{Tree, TreeItem};

/// The version of the form.
const VERSION: u64 = 1;

/// A tree as JSON text, on one line.
pub fn text(tree: &Tree) -> String {
    pieces(tree).collect()
}

/// The same item by item, so that the text need not be held whole.
pub fn pieces(tree: &Tree) -> impl Iterator<Item = String> + '_ {
    let begin = format!(r#"{{"version":{VERSION},"items":["#);
    let items = items(tree).enumerate().map(|(at, item)| match at {
        0 => item.to_string(),
        _ => format!(",{item}"),
    });
    std::iter::once(begin).chain(items).chain(["]}".to_owned()])
}

fn items(tree: &Tree) -> impl Iterator<Item = Value> + '_ {
    let typing = tree.is_live && tree.is_under_way();
    let last = tree.items.len().saturating_sub(1);
    let seen = tree.items.iter().enumerate();
    let item = move |(at, item): (usize, &TreeItem)| match item {
        TreeItem::Turn(turn) => {
            let typing = typing && at == last;
            (typing || !turn.is_empty()).then(|| of_turn(turn, typing))
        }
        TreeItem::Mark(mark) => Some(of_mark(mark)),
        TreeItem::Note(note) => Some(of_note(note)),
        TreeItem::Fault(fault) => Some(of_fault(fault)),
    };
    seen.filter_map(item)
}

/// A node in the making: its kind and its name come first.
struct Form(Map<String, Value>);

impl Form {
    fn new(kind: &str, id: NodeId) -> Self {
        let mut map = Map::new();
        map.insert("kind".into(), kind.into());
        map.insert("id".into(), id.0.into());
        Self(map)
    }

    fn of(kind: &str, node: &Node) -> Self {
        Self::new(kind, node.id).maybe("hidden", node.hidden)
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.into(), value.into());
        self
    }

    fn maybe(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    fn flag(self, key: &str, value: bool) -> Self {
        self.maybe(key, value.then_some(true))
    }

    fn done(self) -> Value {
        self.0.into()
    }
}

fn typing() -> Value {
    json!({"kind": "typing"})
}

fn of_turn(turn: &Turn, is_typing: bool) -> Value {
    let mut items = Vec::new();
    if let Some(user) = &turn.user {
        let form = Form::of("user", &user.node).with("text", words(&user.parts));
        items.push(form.maybe("from", user.from.as_deref()).done());
    }
    let last = turn.items.len().saturating_sub(1);
    let mut typed = false;
    for (at, item) in turn.items.iter().enumerate() {
        match item {
            TurnItem::Response(response) => {
                let types = is_typing && at == last;
                typed |= types;
                if types || !response.is_empty() {
                    items.push(of_response(response, types));
                }
            }
            TurnItem::Note(note) => items.push(of_note(note)),
            TurnItem::Interrupted(cancelled) => items.extend(of_cancelled(cancelled)),
            TurnItem::Fault(fault) => items.push(of_fault(fault)),
        }
    }
    if is_typing && !typed {
        items.push(typing());
    }
    let form = Form::new("turn", turn.id).maybe("turn", turn.turn.as_deref());
    form.with("items", items).done()
}

fn of_response(response: &Response, is_typing: bool) -> Value {
    let sections = sections(&response.blocks);
    let mut items: Vec<Value> = sections.iter().map(of_section).collect();
    items.extend(is_typing.then(typing));
    let form = Form::new("response", response.id);
    let form = form.maybe("response", response.response.as_deref());
    form.with("items", items).done()
}

fn of_section(section: &Section<'_>) -> Value {
    match section {
        Section::One(block) => of_block(block),
        Section::Calls(tools) => {
            let state = GroupState::of(tools.iter().copied()).as_str();
            let line = tools.last().map(|tool| tool.line());
            let items: Vec<Value> = tools.iter().map(|tool| of_tool(tool)).collect();
            let id = tools.first().map_or(NodeId::default(), |tool| tool.node.id);
            let form = Form::new("group", id).with("state", state);
            let form = form.with("text", format!("{} calls", tools.len()));
            form.maybe("line", line).with("items", items).done()
        }
    }
}

fn of_block(block: &ResponseBlock) -> Value {
    match block {
        ResponseBlock::Text(text) => {
            let form = Form::of("text", &text.node).maybe("phase", text.phase.as_deref());
            let form = form.with("text", text.text.as_str());
            form.flag("interrupted", text.interrupted).done()
        }
        ResponseBlock::Thinking(thought) => {
            let form = Form::of("thinking", &thought.node);
            let form = form.with("text", thought.text.as_str());
            form.flag("interrupted", thought.interrupted).done()
        }
        ResponseBlock::Tool(tool) => of_tool(tool),
        ResponseBlock::Other(held) => {
            let form = Form::of("attachment", &held.node);
            form.with("text", word(&held.part)).done()
        }
    }
}

fn of_tool(tool: &Tool) -> Value {
    let output = match &tool.answer {
        Some((_, content)) => words(content),
        None => tool.output.clone(),
    };
    let answer = tool.answer.as_ref().map(|(_, content)| content);
    let talk = tool.talk.as_ref();
    let form = Form::of("tool", &tool.node)
        .with("call", tool.call.as_str())
        .flag("unknown", tool.is_unknown)
        .with("name", tool.name.as_str())
        .with("arguments", tool.arguments.as_str())
        .with("state", tool.state.as_str())
        .with("line", tool.line())
        .maybe("sent_to", talk.and_then(|talk| talk.with.as_deref()))
        .maybe("received_from", talk.and_then(|talk| talk.from.as_deref()))
        .with("output", output)
        .maybe(
            "more_lines",
            answer.and_then(|content| omitted_lines(content)),
        );
    let agent = tool.agent.as_deref();
    let agent = agent.map(|agent| items(agent).collect::<Vec<Value>>());
    form.maybe("items", agent).done()
}

fn of_mark(mark: &Mark) -> Value {
    let form = Form::of("marker", &mark.node).with("marker", mark.kind.as_str());
    form.with("text", words(&mark.parts)).done()
}

fn of_note(note: &Notation) -> Value {
    let form = Form::of("note", &note.node).with("role", note.role.as_str());
    form.with("text", words(&note.parts)).done()
}

fn of_cancelled(cancelled: &Cancelled) -> Option<Value> {
    let said = Some(words(&cancelled.said)).filter(|said| !said.is_empty());
    let form = Form::of("interrupted", &cancelled.node).maybe("text", said);
    cancelled.stands.then(|| form.done())
}

fn of_fault(fault: &Faulted) -> Value {
    let form = Form::of("failure", &fault.node);
    form.with("text", fault.text.as_str()).done()
}
