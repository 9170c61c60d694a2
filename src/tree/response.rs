//! A response: what the model says and does in answer, in the order in which it came.

use super::node::{Node, NodeId, Trail};
use super::text::Segment;
use super::thinking::Thought;
use super::tool::Tool;
use crate::model::Part;

/// An assistant's bubble: thinking, text and calls as they streamed.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// Its name.
    pub id: NodeId,
    /// Its id in the source.
    pub response: Option<String>,
    /// What is in it.
    pub blocks: Vec<ResponseBlock>,
    /// The blocks that streamed and whose final form nobody has told.
    awaiting: Vec<usize>,
    /// Whether it holds calls that name no response, in a source whose events name turns.
    pub(super) is_container: bool,
}

/// A piece of a response.
#[derive(Clone, Debug)]
pub enum ResponseBlock {
    /// Text.
    Text(Segment),
    /// The model's reasoning.
    Thinking(Thought),
    /// A call of a tool.
    Tool(Box<Tool>),
    /// Anything else that a message may hold.
    Other(Held),
}

/// A piece that is drawn as what it is: a picture, a file, an opaque block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its name.
    pub node: Node,
    /// What it is.
    pub part: Part,
    /// The message of the model's that it is part of.
    pub message: Option<String>,
}

impl ResponseBlock {
    /// Its name, and what hid it.
    pub fn node(&self) -> &Node {
        match self {
            Self::Text(text) => &text.node,
            Self::Thinking(thought) => &thought.node,
            Self::Tool(tool) => &tool.node,
            Self::Other(held) => &held.node,
        }
    }

    pub(super) fn node_mut(&mut self) -> &mut Node {
        match self {
            Self::Text(text) => &mut text.node,
            Self::Thinking(thought) => &mut thought.node,
            Self::Tool(tool) => &mut tool.node,
            Self::Other(held) => &mut held.node,
        }
    }

    /// The message of the model's that it is part of.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Text(text) => text.message.as_deref(),
            Self::Thinking(thought) => thought.message.as_deref(),
            Self::Tool(tool) => tool.message.as_deref(),
            Self::Other(held) => held.message.as_deref(),
        }
    }

    /// Whether there is nothing to see in it.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.text.is_empty(),
            // A thought that is there and says nothing is worth a word once it is over.
            Self::Thinking(thought) => thought.text.is_empty() && thought.open,
            Self::Tool(_) | Self::Other(_) => false,
        }
    }

    /// Whether more of it may come: of a call, its arguments.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Text(text) => text.open,
            Self::Thinking(thought) => thought.open,
            Self::Tool(tool) => !tool.is_whole() && !tool.is_unknown,
            Self::Other(_) => false,
        }
    }

    /// Whether it came in pieces and nobody has told its final form.
    pub fn awaits_end(&self) -> bool {
        match self {
            Self::Text(text) => text.awaits_end(),
            Self::Thinking(thought) => !thought.finished,
            Self::Tool(_) | Self::Other(_) => false,
        }
    }

    fn is_tool(&self) -> bool {
        matches!(self, Self::Tool(_))
    }
}

impl Response {
    pub(super) fn new(id: NodeId, response: Option<String>) -> Self {
        Self {
            id,
            response,
            ..Self::default()
        }
    }

    /// Whether nothing is in it that can be seen.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(ResponseBlock::is_empty)
    }

    /// What streams is complete.
    pub(super) fn close(&mut self) {
        match self.blocks.last_mut() {
            Some(ResponseBlock::Text(text)) => text.open = false,
            Some(ResponseBlock::Thinking(thought)) => thought.open = false,
            _ => {}
        }
    }

    /// What streams was cut: nobody has said that this is all of it.
    pub(super) fn cut(&mut self) {
        match self.blocks.last_mut() {
            Some(ResponseBlock::Text(text)) => text.interrupted |= text.open,
            Some(ResponseBlock::Thinking(thought)) => thought.interrupted |= thought.open,
            _ => {}
        }
    }

    /// What was said last was cut, whether it streamed or not.
    pub(super) fn cut_off(&mut self, trail: &mut Trail) {
        self.close();
        let cut = match self.blocks.last_mut() {
            Some(ResponseBlock::Text(text)) => &mut text.interrupted,
            Some(ResponseBlock::Thinking(thought)) => &mut thought.interrupted,
            _ => return,
        };
        *cut = true;
        let last = self.blocks.last().map(|block| block.node().id);
        last.into_iter().for_each(|id| trail.touch(id));
    }

    fn texts(&mut self) -> impl DoubleEndedIterator<Item = &mut Segment> {
        self.blocks.iter_mut().filter_map(|block| match block {
            ResponseBlock::Text(text) => Some(text),
            _ => None,
        })
    }

    fn push(&mut self, block: ResponseBlock) {
        if block.awaits_end() {
            self.awaiting.push(self.blocks.len());
        }
        self.blocks.push(block);
    }

    /// The first block whose final form nobody has told, and that fits.
    fn awaiting(&mut self, fits: impl Fn(&ResponseBlock) -> bool) -> Option<&mut ResponseBlock> {
        let blocks = &self.blocks;
        self.awaiting.retain(|at| blocks[*at].awaits_end());
        let at = self.awaiting.iter().find(|at| fits(&blocks[**at]))?;
        self.blocks.get_mut(*at)
    }

    fn push_text(&mut self, segment: Segment, message: Option<&str>, trail: &mut Trail) {
        self.close();
        self.push(ResponseBlock::Text(Segment {
            node: trail.give().into(),
            message: message.map(str::to_owned),
            ..segment
        }));
    }

    /// More text. A block of another kind, or a change of phase, has ended what was there.
    pub(super) fn text_delta(
        &mut self,
        text: &str,
        phase: Option<&str>,
        message: Option<&str>,
        trail: &mut Trail,
    ) {
        if let Some(ResponseBlock::Text(last)) = self.blocks.last_mut()
            && last.open
            && last.is_of(phase)
            && last.message.as_deref() == message
        {
            last.text += text;
            last.phase = last.phase.take().or(phase.map(str::to_owned));
            return trail.touch(last.node.id);
        }
        let segment = Segment {
            text: text.to_owned(),
            phase: phase.map(str::to_owned),
            open: true,
            streamed: true,
            ..Segment::default()
        };
        self.push_text(segment, message, trail);
    }

    /// The final form of a text: of the one that streams, if it goes on from there. Behind a call
    /// it is drawn only where nothing of this response has streamed that might be the same.
    pub(super) fn text_done(
        &mut self,
        text: &str,
        phase: Option<&str>,
        message: Option<&str>,
        trail: &mut Trail,
    ) {
        let whole: String = self.texts().map(|segment| segment.text.as_str()).collect();
        let mut behind_call = self
            .blocks
            .iter()
            .rev()
            .take_while(|block| !block.is_tool());
        let last_of_all = behind_call.any(|block| matches!(block, ResponseBlock::Text(_)));
        let phase_of = phase.map(str::to_owned);
        let last = self.texts().next_back().filter(|_| last_of_all);
        if let Some(last) = last.filter(|last| last.is_of(phase)) {
            let more = text
                .strip_prefix(last.text.as_str())
                .or(text.strip_prefix(&whole));
            if last.awaits_end() {
                let more = more.unwrap_or_default();
                let text = last.text.clone() + more;
                last.finish(text, phase_of);
                trail.touch(last.node.id);
                return self.texts().for_each(|segment| segment.finished = true);
            }
            if last.text == text {
                return;
            }
        }
        let mut told = false;
        for segment in self.texts().filter(|segment| segment.is_of(phase)) {
            told = told || segment.awaits_end();
            (segment.open, segment.finished) = (false, true);
        }
        // What is left of the whole, where all that stands here is its beginning.
        let more = match text.strip_prefix(&whole) {
            Some(more) if !whole.is_empty() => more,
            _ => text,
        };
        if !told && !more.is_empty() {
            self.whole_text(more, phase_of, message, trail);
        }
    }

    fn whole_text(
        &mut self,
        text: &str,
        phase: Option<String>,
        message: Option<&str>,
        trail: &mut Trail,
    ) {
        let segment = Segment {
            text: text.to_owned(),
            phase,
            finished: true,
            ..Segment::default()
        };
        self.push_text(segment, message, trail);
    }

    /// What the response says in all: drawn only where it says nothing yet.
    pub(super) fn reply(&mut self, text: &str, message: Option<&str>, trail: &mut Trail) {
        if self.texts().all(|segment| segment.text.is_empty()) {
            self.whole_text(text, None, message, trail);
        }
    }

    /// A thought begins.
    pub(super) fn thinking_start(&mut self, message: Option<&str>, trail: &mut Trail) {
        let thought = Thought {
            open: true,
            ..Thought::default()
        };
        self.push_thought(thought, message, trail);
    }

    /// More of a thought.
    pub(super) fn thinking_delta(&mut self, text: &str, message: Option<&str>, trail: &mut Trail) {
        if !matches!(self.blocks.last(), Some(ResponseBlock::Thinking(last)) if last.open) {
            self.thinking_start(message, trail);
        }
        if let Some(ResponseBlock::Thinking(last)) = self.blocks.last_mut() {
            last.text += text;
            trail.touch(last.node.id);
        }
    }

    /// The final form of a thought: of the first that streamed and has none.
    pub(super) fn thinking_done(&mut self, text: &str, message: Option<&str>, trail: &mut Trail) {
        let is_thought = |block: &ResponseBlock| matches!(block, ResponseBlock::Thinking(_));
        if let Some(ResponseBlock::Thinking(thought)) = self.awaiting(is_thought) {
            let text = if text.starts_with(&thought.text) {
                text.to_owned()
            } else {
                thought.text.clone()
            };
            thought.finish(text);
            return trail.touch(thought.node.id);
        }
        let again =
            matches!(self.blocks.last(), Some(ResponseBlock::Thinking(last)) if last.text == text);
        if !again && !text.is_empty() {
            let thought = Thought {
                text: text.to_owned(),
                ..Thought::default()
            };
            self.push_thought(thought, message, trail);
        }
    }

    fn push_thought(&mut self, thought: Thought, message: Option<&str>, trail: &mut Trail) {
        self.close();
        self.push(ResponseBlock::Thinking(Thought {
            node: trail.give().into(),
            message: message.map(str::to_owned),
            finished: !thought.open,
            ..thought
        }));
    }

    /// A whole piece: the final form of what streamed, else one of its own. A call is not for here.
    pub(super) fn block(&mut self, part: Part, message: Option<&str>, trail: &mut Trail) {
        let of_message = |block: &ResponseBlock| block.message() == message;
        match part {
            Part::Text { text } => {
                let fits = |block: &ResponseBlock| match block {
                    ResponseBlock::Text(it) => of_message(block) && text.starts_with(&it.text),
                    _ => false,
                };
                if let Some(ResponseBlock::Text(segment)) = self.awaiting(fits) {
                    segment.finish(text, None);
                    return trail.touch(segment.node.id);
                }
                self.whole_text(&text, None, message, trail);
            }
            Part::Thinking {
                text,
                signature,
                provider,
            } => {
                let fits = |block: &ResponseBlock| match block {
                    ResponseBlock::Thinking(it) => of_message(block) && text.starts_with(&it.text),
                    _ => false,
                };
                if let Some(ResponseBlock::Thinking(thought)) = self.awaiting(fits) {
                    thought.finish(text);
                    (thought.signature, thought.provider) = (signature, provider);
                    return trail.touch(thought.node.id);
                }
                let thought = Thought {
                    text,
                    signature,
                    provider,
                    ..Thought::default()
                };
                self.push_thought(thought, message, trail);
            }
            part => {
                self.close();
                self.blocks.push(ResponseBlock::Other(Held {
                    node: trail.give().into(),
                    part,
                    message: message.map(str::to_owned),
                }));
            }
        }
    }

    pub(super) fn tools(&mut self) -> impl Iterator<Item = &mut Tool> {
        self.blocks.iter_mut().filter_map(|block| match block {
            ResponseBlock::Tool(tool) => Some(&mut **tool),
            _ => None,
        })
    }
}
