//! The importer: the nodes of a conversation as a tree.

use std::collections::HashMap;
use std::ops::Range;

use super::message::{Node, Said, node};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts::seconds;
use crate::formats::shared::spans::{Broken, members};
use crate::formats::shared::ways::walk;

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

/// A call, or that one was answered, and what of the kind came before it on the way.
pub(super) struct Exchange {
    /// The node that calls.
    pub(super) call: usize,
    /// The tool that it calls; none: it is an answer.
    pub(super) tool: Option<String>,
    pub(super) before: Option<usize>,
}

/// One conversation.
#[derive(Default)]
pub(super) struct Conversation {
    /// The ids of the nodes that were not read yet, the last first.
    keys: Vec<String>,
    pub(super) nodes: Vec<Placed>,
    by_key: HashMap<String, usize>,
    current: Option<String>,
    pub(super) exchanges: Vec<Exchange>,
    /// Pictures and files, whose bytes are elsewhere.
    pub(super) media: u64,
}

impl Document for Conversation {
    const RECORDS: &'static str = "mapping";
    const OPEN: u8 = b'{';

    fn records(&mut self, bytes: &[u8], start: usize) -> (Vec<Range<usize>>, Option<Broken>) {
        let (nodes, broken) = members(bytes, start);
        let (keys, places): (Vec<_>, _) = nodes.into_iter().unzip();
        self.keys = keys.into_iter().rev().collect();
        (places, broken)
    }

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("id" | "conversation_id", id) => teller.name(id),
            ("title", title) => teller.end.title = title,
            ("current_node", node) => self.current = node,
            ("create_time", _) => teller.start.descent.begun = seconds(Some(member.raw)),
            _ => return false,
        }
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let found = teller.read(at, node)?;
        if let Some(Err(reason)) = found.as_ref().map(|node| &node.said) {
            teller.problem(at, reason)?;
        }
        // One that cannot be read stands on the way of others all the same.
        let node = found.unwrap_or_else(Node::unread);
        let key = self.keys.pop().unwrap_or_default();
        self.by_key.insert(key.clone(), self.nodes.len());
        self.nodes.push(Placed {
            key,
            at: at.clone(),
            said: node.said.ok(),
            parent: node.parent,
            children: node.children,
        });
        Ok(())
    }

    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let parents = self.parents(teller)?;
        let current = self.current.take();
        let stands = current.as_ref().and_then(|key| self.by_key.get(key));
        let stands = stands.copied();
        if let (Some(current), None) = (current, stands) {
            let reason = format!("current node {current} is not in the conversation");
            teller.problem(&(teller.begins..teller.begins), reason)?;
        }
        walk(parents, stands, self, teller)?;
        let media = match self.media {
            0 => None,
            1 => Some("1 picture or file".to_owned()),
            count => Some(format!("{count} pictures and files")),
        };
        teller.end.absent.extend(media);
        Ok(())
    }
}

impl Conversation {
    /// The node before each one: by its own word, else by that of the one that lists it.
    fn parents(&self, teller: &mut ObjectTeller<'_, '_>) -> Result<Vec<Option<usize>>> {
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
                teller.problem(&node.at, reason)?;
            }
            parents.push(found);
        }
        Ok(parents)
    }
}
