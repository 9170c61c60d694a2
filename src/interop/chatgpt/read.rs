//! The importer: conversations, and the nodes of each as a tree.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::value::RawValue;

use super::said::{Node, Said, node, time};
use crate::error::Result;
use crate::interop::conversations::Place;
use crate::interop::records::Text;
use crate::interop::spans::members;
use crate::interop::ways::Ways;
use crate::interop::{SessionEnd, SessionStart, Sink};
use crate::wire::Notes;
use crate::wire::json::string;

/// The members of a conversation that are read, beside its tree.
const MEMBERS: [&str; 5] = [
    "id",
    "conversation_id",
    "title",
    "create_time",
    "current_node",
];

/// The member that makes a conversation.
pub(super) const NODES: &str = "mapping";

/// A node with its place.
pub(super) struct Placed {
    /// Its id, and its message's.
    pub(super) key: String,
    pub(super) at: Range<usize>,
    /// None: it could not be read, or was told.
    pub(super) said: Option<Said>,
    parent: Option<String>,
    children: Vec<String>,
}

/// One conversation.
pub(super) struct Conversation<'t> {
    pub(super) text: Text<'t>,
    pub(super) nodes: Vec<Placed>,
    pub(super) end: SessionEnd,
    pub(super) start: SessionStart,
    notes: Notes,
    by_key: HashMap<String, usize>,
    current: Option<String>,
    at: usize,
}

impl<'t> Conversation<'t> {
    /// Reads what stands at a place; none where that is no conversation.
    pub(super) fn read(place: Place<'t>, sink: &mut dyn Sink) -> Result<Option<Self>> {
        let Place { text, at, stem } = place;
        let mut found = Self {
            text,
            nodes: Vec::new(),
            end: SessionEnd::lacking(&["system prompt", "tool definitions"]),
            start: SessionStart::new(stem),
            notes: Notes::default(),
            by_key: HashMap::new(),
            current: None,
            at: at.start,
        };
        let mut mapping = None;
        for (key, at) in members(text.bytes, at.start).0 {
            if key == NODES {
                mapping = Some(at.start);
            } else if MEMBERS.contains(&&*key)
                && let Ok((raw, lone)) = text.decode(&at)
            {
                found.end.lone_surrogates += lone;
                found.member(&key, &raw);
            }
        }
        let Some(mapping) = mapping.filter(|at| text.bytes.get(*at) == Some(&b'{')) else {
            return Ok(None);
        };
        for (key, at) in members(text.bytes, mapping).0 {
            found.node(key, at, sink)?;
        }
        found.end.opaque_blocks = std::mem::take(&mut found.notes).opaque_blocks;
        Ok(Some(found))
    }

    /// A member beside the tree.
    fn member(&mut self, key: &str, raw: &RawValue) {
        let text = string(Some(raw)).filter(|text| !text.is_empty());
        match (key, text) {
            ("id" | "conversation_id", Some(id)) => self.start.id = id,
            ("title", title) => self.end.title = title,
            ("current_node", node) => self.current = node,
            ("create_time", _) => self.start.descent.begun = time(Some(raw)),
            _ => {}
        }
    }

    fn node(&mut self, key: String, at: Range<usize>, sink: &mut dyn Sink) -> Result<()> {
        let (notes, lone) = (&mut self.notes, &mut self.end.lone_surrogates);
        let read = |raw: &RawValue| node(raw, notes);
        let found = self.text.message(&at, lone, sink, read)?;
        if let Some(Err(reason)) = found.as_ref().map(|node| &node.said) {
            sink.problem(self.text.problem(at.start, reason))?;
        }
        // One that cannot be read stands on the way of others all the same.
        let node = found.unwrap_or_else(Node::unread);
        self.by_key.insert(key.clone(), self.nodes.len());
        self.nodes.push(Placed {
            key,
            at,
            said: node.said.ok(),
            parent: node.parent,
            children: node.children,
        });
        Ok(())
    }

    /// The node before each one: by its own word, else by that of the one that lists it.
    fn parents(&self, sink: &mut dyn Sink) -> Result<Vec<Option<usize>>> {
        let mut listed = HashMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            for child in &node.children {
                listed.entry(&**child).or_insert(at);
            }
        }
        let mut parents = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let named = node.parent.as_deref();
            let own = named.and_then(|parent| self.by_key.get(parent));
            let found = own.or_else(|| listed.get(&*node.key)).copied();
            if let (Some(parent), None) = (named, found) {
                let reason = format!("parent {parent} is not in the conversation");
                sink.problem(self.text.problem(node.at.start, reason))?;
            }
            parents.push(found);
        }
        Ok(parents)
    }

    /// Begins its session: the ways through it, and the node at which it stands.
    pub(super) fn begin(&mut self, sink: &mut dyn Sink) -> Result<(Ways, Option<usize>)> {
        sink.session(std::mem::take(&mut self.start))?;
        let parents = self.parents(sink)?;
        let current = self.current.take();
        let stands = current.as_ref().and_then(|key| self.by_key.get(key));
        let stands = stands.copied();
        if let (Some(current), None) = (current, stands) {
            let reason = format!("current node {current} is not in the conversation");
            sink.problem(self.text.problem(self.at, reason))?;
        }
        let (ways, circles) = Ways::of(parents);
        for at in circles {
            let reason = "a node that stands below itself";
            sink.problem(self.text.problem(self.nodes[at].at.start, reason))?;
        }
        Ok((ways, stands))
    }
}
