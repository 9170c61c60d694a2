//! What a conversation's page says beside the conversation itself, whatever it is written in.

use std::collections::HashSet;

use crate::model::TokenCount;
use crate::render::chat::ChatMessage;
use crate::render::plural;
use crate::tree::group::Section;
use crate::tree::{Mark, Node, NodeId, ResponseBlock, Tool, TreeItem, TurnItem};

/// A conversation that is to be a page.
pub struct ConversationPage<'a> {
    /// What it is about. Hostile until escaped.
    pub title: &'a str,
    /// What is to be known of it. Hostile until escaped.
    pub facts: &'a [String],
    /// How many messages stand before the first one.
    pub earlier: usize,
    /// How large the context was, oldest first; none where nobody counted.
    pub sizes: &'a [ContextSize],
    /// What the provider's cache had of each request, oldest first; none where nobody counted.
    pub cached: &'a [CachedSize],
    /// The message that a node came with.
    pub message_of: &'a dyn Fn(NodeId) -> Option<ChatMessage>,
    /// The messages of which something is shown, in order, and the place of the first.
    pub messages: &'a [PageMessage],
    /// That place.
    pub first: usize,
    /// Where what stands before and behind these messages is to be read, where they are a part.
    pub around: Around,
    /// The moment of which the context is shown, where others can be chosen.
    pub moment: Option<ShownMoment>,
    /// Where what is said of the context over time is to be read, if it does not stand here.
    pub curve: Option<&'a str>,
    /// The directory from which on paths are shown. Hostile until escaped.
    pub directory: Option<&'a str>,
    /// What else there is of the conversation: where, and what it is called.
    pub links: &'a [(String, &'static str)],
    /// Where a call's sub-agent is to be read, by the call's id, if that is elsewhere.
    pub agent_of: &'a dyn Fn(&str) -> Option<AgentLink>,
    /// Where a message is read that is not one of those that are shown.
    pub elsewhere: Option<&'a dyn Fn(ChatMessage) -> String>,
    /// What nothing visible says any more, by the message that stands for what was hidden.
    pub lost: &'a [LostFacts],
}

/// A message of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageMessage {
    /// Its name on every page that shows it.
    pub name: String,
    /// What hides it.
    pub hidden: Option<&'static str>,
    /// When it was said, as far as that is known.
    pub time: Option<PageTime>,
    /// What else is known of it: the model, the price. Hostile until escaped.
    pub facts: Vec<String>,
    /// Where what was sent for it is to be read, if anywhere.
    pub request: Option<String>,
    /// Where something can be done to it, if anywhere.
    pub act: Option<String>,
}

/// A time, as it is for machines and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageTime {
    /// As RFC 3339 writes it.
    pub machine: String,
    /// In the reader's time zone.
    pub shown: String,
}

/// The parts around a part of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// What stands before it.
    pub before: Option<PageLink>,
    /// What stands behind it.
    pub after: Option<PageLink>,
    /// The prompts that stand before it, oldest first.
    pub prompts_before: Vec<PagePrompt>,
    /// The prompts that stand behind it.
    pub prompts_after: Vec<PagePrompt>,
}

/// A prompt that stands on another part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagePrompt {
    /// Where it is read.
    pub address: String,
    /// How it begins. Hostile until escaped.
    pub text: String,
    /// Whether it is hidden.
    pub is_hidden: bool,
}

/// Another part of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLink {
    /// Where it is.
    pub address: String,
    /// How many messages stand that way.
    pub messages: usize,
}

/// A moment of a conversation among others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownMoment {
    /// Which step it is, from 1.
    pub step: usize,
    /// How many steps there are.
    pub steps: usize,
    /// How large the context was, at some of them, in order.
    pub tokens: Vec<u64>,
    /// What the moment is called; none for the newest. Hostile until escaped.
    pub shown: Option<String>,
}

/// A sub-agent that is read elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentLink {
    /// Where.
    pub address: String,
    /// What it is about. Hostile until escaped.
    pub title: String,
}

/// What hidden messages held that nothing visible says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostFacts {
    /// The message that stands in their place.
    pub message: ChatMessage,
    /// Where both are to be read side by side.
    pub address: Option<String>,
    /// How many facts.
    pub count: usize,
    /// Those that are most likely to be missed.
    pub facts: Vec<LostFact>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostFact {
    /// Its class.
    pub class: &'static str,
    /// It, as it was written. Hostile until escaped.
    pub text: String,
    /// What came of it. Hostile until escaped.
    pub outcome: Option<String>,
    /// The message that holds it, where the page shows it.
    pub message: Option<ChatMessage>,
    /// Where else it is to be read.
    pub address: Option<String>,
}

/// The context right after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextSize {
    /// The message that came with it, where the page shows one.
    pub message: Option<ChatMessage>,
    /// Where the context is to be read as it was then.
    pub address: Option<String>,
    /// What it hid, if that is what it did.
    pub hides: Option<&'static str>,
    /// How large the context is from then on.
    pub tokens: TokenCount,
}

/// What a provider's cache had of a request, in tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedSize {
    /// The reply, where the page shows it.
    pub message: Option<ChatMessage>,
    /// All of the request.
    pub input: u64,
    /// What was read from the cache.
    pub cached: u64,
    /// What the request before had left in the cache, and was not read from there.
    pub missed: u64,
}

/// Some items of a tree.
pub(super) enum Stretch<'a> {
    /// One that is seen.
    Seen(&'a TreeItem),
    /// Neighbours that the same thing hides, and its marker, if that stands behind them.
    Hidden {
        by: &'static str,
        items: &'a [TreeItem],
        mark: Option<&'a Mark>,
    },
}

/// The items of a tree; hidden neighbours together, where it is not said around them that they are
/// hidden.
pub(super) fn stretches(items: &[TreeItem], is_said: bool) -> Vec<Stretch<'_>> {
    let mut stretches = Vec::new();
    let mut at = 0;
    while let Some(item) = items.get(at) {
        let by = hidden_item(item).filter(|_| is_said && mark_of(item).is_none());
        let Some(by) = by else {
            stretches.push(Stretch::Seen(item));
            at += 1;
            continue;
        };
        let alike = |item: &&TreeItem| hidden_item(item) == Some(by) && mark_of(item).is_none();
        let end = at + items[at..].iter().take_while(alike).count();
        let mark = items.get(end).and_then(mark_of);
        let mark = mark.filter(|mark| mark.kind.as_str() == by);
        let items = &items[at..end];
        stretches.push(Stretch::Hidden { by, items, mark });
        at = end + usize::from(mark.is_some());
    }
    stretches
}

fn mark_of(item: &TreeItem) -> Option<&Mark> {
    match item {
        TreeItem::Mark(mark) => Some(mark),
        _ => None,
    }
}

/// The sections of a response; hidden neighbours together, with what hides them.
pub(super) fn apart<'a, 'b>(
    sections: &'b [Section<'a>],
    is_said: bool,
) -> impl Iterator<Item = (Option<&'static str>, &'b [Section<'a>])> {
    let by = move |section: &Section<'_>| hidden_section(section).filter(|_| is_said);
    let runs = sections.chunk_by(move |one, next| by(one).is_some() && by(one) == by(next));
    runs.map(move |run| (by(&run[0]), run))
}

/// That so many messages are hidden.
pub(super) fn hidden_words(by: &str, count: Option<usize>, has_mark: bool) -> String {
    let what = match count {
        Some(count) => plural(count as u64, "message"),
        None => "Messages".to_owned(),
    };
    if has_mark {
        format!("{what} hidden by this {by}")
    } else {
        format!("{what} hidden: {by}")
    }
}

impl<'a> ConversationPage<'a> {
    /// A page of which no more is known than the conversation itself.
    pub fn bare(title: &'a str) -> Self {
        Self {
            title,
            facts: &[],
            earlier: 0,
            sizes: &[],
            cached: &[],
            message_of: &|_| None,
            messages: &[],
            first: 0,
            around: Around::default(),
            moment: None,
            curve: None,
            directory: None,
            links: &[],
            agent_of: &|_| None,
            elsewhere: None,
            lost: &[],
        }
    }

    /// The message at a place, if it is one of those that are shown.
    pub(super) fn message(&self, at: usize) -> Option<&PageMessage> {
        self.messages.get(at.checked_sub(self.first)?)
    }

    /// Where a message is to be read.
    pub(super) fn link(&self, message: ChatMessage) -> String {
        match (self.message(message.at), &self.elsewhere) {
            (None, Some(elsewhere)) => elsewhere(message),
            _ => format!("#{}", self.name(message)),
        }
    }

    /// The name of a message on the page.
    pub(super) fn name(&self, message: ChatMessage) -> String {
        match self.message(message.at) {
            Some(known) => known.name.clone(),
            None => number_name(message),
        }
    }

    /// How many messages such a stretch has, if that is known.
    pub(super) fn hidden_by(
        &self,
        by: &'static str,
        items: &[TreeItem],
        mark: Option<&Mark>,
    ) -> Option<usize> {
        let place = |node: &Node| (self.message_of)(node.id).map(|message| message.at);
        let first = items.iter().find_map(first_node).and_then(place)?;
        let end = mark.and_then(|mark| place(&mark.node));
        let end = end.filter(|end| first <= *end);
        let end = end.unwrap_or(self.first + self.messages.len());
        let range = first.checked_sub(self.first)?..end.checked_sub(self.first)?;
        let rest = self.messages.get(range)?.iter();
        let is_by = |message: &&PageMessage| message.hidden == Some(by);
        let count = rest.take_while(is_by).count();
        (count > 0).then_some(count)
    }

    /// How many messages such sections are of, if that is known.
    pub(super) fn hidden_in(&self, by: &'static str, sections: &[Section<'_>]) -> Option<usize> {
        let answer = |tool: &Tool| tool.answer.as_ref().map(|(id, _)| *id);
        let nodes = |section: &Section<'_>| match section {
            Section::One(ResponseBlock::Tool(tool)) => {
                let ids = [Some(tool.node.id), answer(tool)];
                ids.into_iter().flatten().collect()
            }
            Section::One(block) => vec![block.node().id],
            Section::Calls(tools) => {
                let ids = tools
                    .iter()
                    .flat_map(|tool| [Some(tool.node.id), answer(tool)]);
                ids.flatten().collect()
            }
        };
        let ids = sections.iter().flat_map(nodes);
        let places = ids.filter_map(|id| Some((self.message_of)(id)?.at));
        let hidden = |at: &usize| self.message(*at).is_some_and(|it| it.hidden == Some(by));
        let count = places.filter(hidden).collect::<HashSet<usize>>().len();
        (count > 0).then_some(count)
    }
}

/// The name of a message by its number, or by its place if it is hidden.
pub(super) fn number_name(message: ChatMessage) -> String {
    match message.number {
        Some(number) => format!("m{number}"),
        None => format!("h{}", message.at + 1),
    }
}

fn first_node(item: &TreeItem) -> Option<&Node> {
    match item {
        TreeItem::Turn(turn) => {
            let user = turn.user.as_ref().map(|user| &user.node);
            let said = || turn.items.iter().find_map(first_of_turn);
            user.or_else(said)
        }
        TreeItem::Mark(mark) => Some(&mark.node),
        TreeItem::Note(note) => Some(&note.node),
        TreeItem::Fault(fault) => Some(&fault.node),
    }
}

fn first_of_turn(item: &TurnItem) -> Option<&Node> {
    match item {
        TurnItem::Response(response) => response.blocks.first().map(ResponseBlock::node),
        TurnItem::Note(note) => Some(&note.node),
        TurnItem::Interrupted(cancelled) => Some(&cancelled.node),
        TurnItem::Fault(fault) => Some(&fault.node),
    }
}

/// What hides all of an item.
fn hidden_item(item: &TreeItem) -> Option<&'static str> {
    let by = first_node(item)?.hidden?;
    let is_by = |node: &Node| node.hidden == Some(by);
    let is_whole = match item {
        TreeItem::Turn(turn) => turn.items.iter().all(|item| match item {
            TurnItem::Response(response) => response.blocks.iter().all(|block| is_by(block.node())),
            // A line that says that someone cancelled it is nobody's message.
            TurnItem::Interrupted(_) => true,
            item => first_of_turn(item).is_none_or(is_by),
        }),
        _ => true,
    };
    is_whole.then_some(by)
}

/// The node that a section begins with.
pub(super) fn node_of<'a>(section: &Section<'a>) -> &'a Node {
    match section {
        Section::One(block) => block.node(),
        Section::Calls(tools) => &tools[0].node,
    }
}

/// What hides all of a section.
fn hidden_section(section: &Section<'_>) -> Option<&'static str> {
    let by = node_of(section).hidden?;
    let is_whole = match section {
        Section::One(_) => true,
        Section::Calls(tools) => tools.iter().all(|tool| tool.node.hidden == Some(by)),
    };
    is_whole.then_some(by)
}
