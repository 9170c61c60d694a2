//! A conversation drawn as a chat, one item of its tree after the other.
//!
//! A [`Pen`] keeps what the next lines depend on, and no more, so that neither a list of all lines
//! nor a whole tree is needed. Deliberately absent: which messages there are, and what is open;
//! whoever draws says how much of a node is shown, and which message it came with.

mod closed;
mod edit;
mod live;
mod page;
mod part;
mod prose;
#[cfg(test)]
mod tests;
mod tool;

use crate::render::Line;
use crate::tree::group::Section;
use crate::tree::{NodeId, Response, TreeItem, TurnItem, User};
pub use live::{LiveChat, LiveLines};
use page::Page;
pub(super) use page::first_line;

/// How a chat is laid out.
#[derive(Clone, Copy)]
pub struct Chat<'a> {
    /// The message that a node came with.
    pub message_of: &'a dyn Fn(NodeId) -> Option<ChatMessage>,
    /// How much of a node is shown.
    pub detail_of: &'a dyn Fn(NodeId) -> Detail,
    /// The directory from which on paths are shown.
    pub directory: Option<&'a str>,
    /// How much of all calls is shown.
    pub tools: Tools,
    /// Whether thoughts are shown.
    pub thinking: bool,
    /// Whether what is said looks as its Markdown says.
    pub prose: bool,
    /// How many lines of what is said are shown.
    pub text_lines: usize,
    /// How many lines of what a tool gave back are shown in short.
    pub output_lines: usize,
    /// How many lines of an edit are shown in short.
    pub edit_lines: usize,
    /// What stands behind the count of lines that are not shown: how to see them.
    pub more: &'static str,
    /// The columns that a line may take; none in a pipe, where nothing is cut or wrapped.
    pub width_cols: Option<usize>,
}

/// How many lines of an edit are shown in short, where nobody says.
const EDIT_LINES: usize = 12;

/// A message as a chat names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Its place among all messages of the chat.
    pub at: usize,
    /// Its number among the visible messages; none if it is hidden.
    pub number: Option<usize>,
}

/// How much of a node is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// One line for all of its message.
    Closed,
    /// What is said whole, what a tool gave back folded.
    #[default]
    Short,
    /// All of it.
    Full,
}

/// How much of calls is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tools {
    /// Nothing.
    Off,
    /// The call, and the beginning of what came of it.
    #[default]
    Short,
    /// The call, and all that came of it.
    Full,
}

/// A line of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// The node that it belongs to; an empty line belongs to what follows it.
    pub node: NodeId,
    /// What it says.
    pub line: Line,
}

impl Chat<'_> {
    /// In short, with everything in it, of a conversation whose messages have no numbers.
    pub fn new(output_lines: usize, width_cols: Option<usize>) -> Self {
        Self {
            message_of: &|_| None,
            detail_of: &|_| Detail::Short,
            directory: None,
            tools: Tools::Short,
            thinking: true,
            prose: false,
            text_lines: usize::MAX,
            output_lines,
            edit_lines: EDIT_LINES,
            more: "",
            width_cols,
        }
    }
}

/// Draws a chat from top to bottom, and knows what was drawn last.
///
/// A copy of it draws again what comes after the same lines.
///
/// ```
/// use tract::render::chat::{Chat, Pen};
/// use tract::tree::{Fold, Happening};
///
/// let mut fold = Fold::default();
/// fold.feed(Happening::Block(tract::model::Part::text("It is done.")).into());
/// let (chat, mut pen) = (Chat::new(5, None), Pen::default());
/// let tree = fold.settle();
/// let lines: Vec<String> = tree.items.iter()
///     .flat_map(|item| pen.item(&chat, item))
///     .map(|line| line.line.text())
///     .collect();
/// assert_eq!(lines, ["       assistant", "           It is done."]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pen {
    /// Whether anything was drawn.
    is_begun: bool,
    /// Whether the last line was all of its message.
    is_closed: bool,
    /// The message whose number was drawn last.
    last: Option<usize>,
    /// The response that the last lines belong to, below its heading.
    response: Option<NodeId>,
}

impl Pen {
    /// The lines of an item of a tree.
    pub fn item(&mut self, chat: &Chat<'_>, item: &TreeItem) -> Vec<ChatLine> {
        self.draw(chat, |page| page.item(item))
    }

    /// The lines of what the user said.
    pub fn user(&mut self, chat: &Chat<'_>, user: &User) -> Vec<ChatLine> {
        self.draw(chat, |page| page.user(user))
    }

    /// The lines of an item of a turn.
    pub fn turn_item(&mut self, chat: &Chat<'_>, item: &TurnItem) -> Vec<ChatLine> {
        self.draw(chat, |page| page.turn_item(item))
    }

    /// The lines of a section of a response; below its heading, if that was not drawn yet.
    pub fn section(
        &mut self,
        chat: &Chat<'_>,
        response: &Response,
        section: &Section<'_>,
    ) -> Vec<ChatLine> {
        self.draw(chat, |page| page.section(response, section))
    }

    /// What follows is of another tree: no node in it is one that was drawn.
    pub fn begin_tree(&mut self) {
        self.response = None;
    }

    fn draw(&mut self, chat: &Chat<'_>, draw: impl FnOnce(&mut Page<'_>)) -> Vec<ChatLine> {
        let mut page = Page::new(chat, self);
        draw(&mut page);
        page.into_lines()
    }
}
