//! Who is talked with on a screen: what is answered is heard, and drawn, between two keys.
//!
//! Deliberately absent: the screen, and what is committed, which is [`Talk`]'s.

use std::time::{Duration, Instant};

use tract::render::chat::{Chat, LiveChat};
use tract::render::{Label, Line};

use crate::cli::answer::{Answer, Answering, Heard};
use crate::cli::conversation::OUTPUT_LINES;
use crate::cli::talk::Talk;
use crate::cli::{App, Result};

/// How long it is listened at once: keys wait for it.
const SLICE: Duration = Duration::from_millis(20);
/// How often an answer is drawn at most.
const FRAME: Duration = Duration::from_millis(40);

/// A talk, and the answer that is on its way.
pub struct Speaker<'t, 'a> {
    /// The talk.
    pub talk: &'t mut Talk<'a>,
    answer: Option<Coming>,
}

/// An answer on its way, as lines.
struct Coming {
    answering: Answering,
    chat: LiveChat,
    width: usize,
    settled: Vec<Line>,
    moving: Vec<Line>,
    /// Whether more has come than is drawn.
    is_behind: bool,
    /// When it was drawn, and how long that took.
    drawn: Option<(Instant, Duration)>,
    is_over: bool,
}

impl<'t, 'a> Speaker<'t, 'a> {
    /// Nothing has been asked yet.
    pub fn new(talk: &'t mut Talk<'a>) -> Self {
        let answer = None;
        Self { talk, answer }
    }

    /// Whether an answer is on its way.
    pub fn is_answering(&self) -> bool {
        self.answer.is_some()
    }

    /// Asks.
    pub fn ask(&mut self, prompt: &str, app: &mut App) -> Result<()> {
        let (_, request) = self.talk.ask(prompt, app)?;
        self.talk.save_on(app)?;
        let started = Answering::start(self.talk.agent, &request, None);
        let answering = started.map_err(|failed| self.talk.failure(failed, 0, app))?;
        self.answer = Some(Coming {
            answering,
            chat: LiveChat::default(),
            width: 0,
            settled: Vec::new(),
            moving: Vec::new(),
            is_behind: false,
            drawn: None,
            is_over: false,
        });
        Ok(())
    }

    /// Listens for a moment. Lines of this width, if there are new ones.
    pub fn listen(&mut self, width: usize) -> Option<Vec<Line>> {
        let coming = self.answer.as_mut()?;
        let from = Instant::now();
        while !coming.is_over && from.elapsed() < SLICE {
            match coming.answering.step(Duration::ZERO) {
                Heard::Something => coming.is_behind = true,
                Heard::Nothing => break,
                Heard::End => coming.is_over = true,
            }
        }
        coming.draw(width)
    }

    /// Whether what was heard last was the end.
    pub fn is_over(&self) -> bool {
        self.answer.as_ref().is_some_and(|coming| coming.is_over)
    }

    /// Keeps what was answered; an answer that is still on its way is cancelled.
    pub fn close(&mut self, app: &mut App) -> Result<()> {
        let Some(mut coming) = self.answer.take() else {
            return Ok(());
        };
        if !coming.is_over {
            coming.answering.cancel();
        }
        let Answer {
            tree,
            failed,
            cancelled,
        } = coming.answering.finish();
        let answered = self.talk.keep(&tree, 0, app)?;
        let saved = self.talk.save_on(app);
        self.talk.judge(failed, cancelled, answered, app)?;
        saved
    }
}

impl Coming {
    fn draw(&mut self, width: usize) -> Option<Vec<Line>> {
        let is_first = self.drawn.is_none();
        let is_soon = self
            .drawn
            .is_some_and(|(drawn, cost)| drawn.elapsed() < FRAME.max(3 * cost));
        let is_other = width != self.width;
        if !is_first && !is_other && (is_soon || !self.is_behind) {
            return None;
        }
        let begun = Instant::now();
        if is_other {
            // What stands is laid out anew.
            (self.chat, self.width) = (LiveChat::default(), width);
            self.settled.clear();
        }
        let chat = Chat::new(OUTPUT_LINES, Some(width));
        let lines = self.chat.draw(&chat, self.answering.tree(), false);
        self.settled
            .extend(lines.settled.into_iter().map(|line| line.line));
        self.moving = lines.moving.into_iter().map(|line| line.line).collect();
        self.moving.push(Label::Dim.of("…"));
        self.is_behind = false;
        self.drawn = Some((Instant::now(), begun.elapsed()));
        Some([&self.settled[..], &self.moving[..]].concat())
    }
}
