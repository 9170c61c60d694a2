//! A conversation on the screen while it happens.
//!
//! On a terminal what may still change stands below what does not, and is drawn anew in its place; it
//! is never more than fits, so nothing that scrolled away is touched. In a pipe, or on a terminal that
//! cannot go back, each line is written once, when it is settled. Deliberately absent: where events
//! come from.

use std::io;
use std::time::{Duration, Instant};

use tract::render::chat::{Chat, ChatMessage, LiveChat};
use tract::render::{Label, Line};
use tract::tree::{NodeId, Tree};

use super::conversation::OUTPUT_LINES;
use super::ui::Ui;

/// How often the screen changes at most.
const FRAME: Duration = Duration::from_millis(40);

/// The message that a node came with.
pub type Numbers<'a> = &'a dyn Fn(NodeId) -> Option<ChatMessage>;

/// Draws a growing tree.
#[derive(Default)]
pub struct Live {
    chat: LiveChat,
    /// The lines that may change, as they are on the screen.
    moving: Vec<Line>,
    /// When the last frame was drawn, and how long that took.
    drawn: Option<(Instant, Duration)>,
    /// Why nothing is drawn any more.
    failed: Option<io::Error>,
}

impl Live {
    /// When the next frame may be drawn.
    pub fn wait(&self) -> Duration {
        self.drawn.map_or(Duration::ZERO, |(drawn, cost)| {
            // A long text takes long to draw: no more than a quarter of the time goes into it.
            FRAME.max(3 * cost).saturating_sub(drawn.elapsed())
        })
    }

    /// Draws the tree as it is. That the screen takes no more is told in the end: what is drawn is
    /// no reason to stop taking it in.
    pub fn draw(&mut self, tree: &Tree, ui: &mut Ui) {
        self.step(tree, &|_| None, false, ui);
    }

    /// The same of messages that have numbers, where nothing but the screen matters.
    pub fn draw_numbered(
        &mut self,
        tree: &Tree,
        numbers: Numbers<'_>,
        ui: &mut Ui,
    ) -> io::Result<()> {
        self.step(tree, numbers, false, ui);
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Draws the tree as it stays.
    pub fn finish(&mut self, tree: &Tree, numbers: Numbers<'_>, ui: &mut Ui) -> io::Result<()> {
        self.step(tree, numbers, true, ui);
        self.failed.take().map_or(Ok(()), Err)
    }

    fn step(&mut self, tree: &Tree, numbers: Numbers<'_>, over: bool, ui: &mut Ui) {
        if self.failed.is_some() {
            return;
        }
        let begun = Instant::now();
        self.frame(tree, numbers, over, ui);
        self.drawn = Some((Instant::now(), begun.elapsed()));
    }

    fn frame(&mut self, tree: &Tree, numbers: Numbers<'_>, over: bool, ui: &mut Ui) {
        let chat = Chat {
            message_of: numbers,
            ..Chat::new(OUTPUT_LINES, ui.width_cols())
        };
        let lines = self.chat.draw(&chat, tree, over);
        let settled = lines.settled.into_iter().map(|line| line.line);
        let rows = ui.rows();
        if rows == 0 {
            let done = ui.print_all(settled).and_then(|()| ui.flush());
            self.failed = done.err();
            return;
        }
        let mut moving: Vec<Line> = lines.moving.into_iter().map(|line| line.line).collect();
        if !over && tree.is_under_way() {
            moving.push(Label::Dim.of("…"));
        }
        // One row is the cursor's.
        let above = moving.len().saturating_sub(rows - 1);
        moving.drain(..above);
        let settled: Vec<Line> = settled.collect();
        let pairs = self.moving.iter().zip(&moving);
        let same = if settled.is_empty() {
            pairs.take_while(|(a, b)| a == b).count()
        } else {
            0
        };
        if same == moving.len() && same == self.moving.len() {
            return;
        }
        let done = ui
            .go_back(self.moving.len() - same)
            .and_then(|()| ui.print_all(settled))
            .and_then(|()| ui.print_all(moving[same..].iter().cloned()))
            .and_then(|()| ui.flush());
        self.failed = done.err();
        self.moving = moving;
    }
}
