//! A chat drawn while it happens: what changes no more, and what still may.
//!
//! Each line is given once as settled, in its order, so that they may be appended to anything.
//! Deliberately absent: a terminal, and the time.

use super::{Chat, ChatLine, Pen};
use crate::tree::group::{Section, sections};
use crate::tree::{Response, ResponseBlock, Tool, Tree, TreeItem, Turn, TurnItem};

/// Draws a growing tree from top to bottom.
#[derive(Clone, Debug, Default)]
pub struct LiveChat {
    pen: Pen,
    /// What is settled: so many items of the tree, of the next one's own, and sections of the next
    /// response.
    items: usize,
    in_turn: usize,
    sections: usize,
    /// Whether the user's bubble of the next item is.
    user: bool,
}

/// What a step of the drawing gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveLines {
    /// Lines that stand from now on.
    pub settled: Vec<ChatLine>,
    /// Lines below them that may change.
    pub moving: Vec<ChatLine>,
}

impl LiveChat {
    /// What has come since the last time. With `over`, nothing more will, and all of it stands.
    pub fn draw(&mut self, chat: &Chat<'_>, tree: &Tree, over: bool) -> LiveLines {
        let mut step = Step {
            chat,
            over,
            moving: None,
            lines: LiveLines::default(),
        };
        let last = tree.items.len().saturating_sub(1);
        while let Some(item) = tree.items.get(self.items) {
            let later = self.items < last;
            match item {
                TreeItem::Turn(turn) => self.turn(turn, later, &mut step),
                item => step.draw(self, true, |pen| pen.item(chat, item)),
            }
            if step.moving.is_some() || !later && !over {
                // What is behind it is drawn again each time.
                if let Some(pen) = &mut step.moving {
                    for item in &tree.items[self.items + 1..] {
                        step.lines.moving.extend(pen.item(chat, item));
                    }
                }
                break;
            }
            self.items += 1;
            (self.in_turn, self.sections, self.user) = (0, 0, false);
        }
        step.lines
    }

    fn turn(&mut self, turn: &Turn, later: bool, step: &mut Step<'_, '_>) {
        let chat = step.chat;
        if let Some(user) = turn.user.as_ref().filter(|_| !self.user) {
            step.draw(self, true, |pen| pen.user(chat, user));
            self.user = true;
        }
        let last = turn.items.len().saturating_sub(1);
        for (at, item) in turn.items.iter().enumerate().skip(self.in_turn) {
            let later = later || at < last;
            match item {
                TurnItem::Response(response) => self.response(response, later, step),
                item => {
                    step.draw(self, true, |pen| pen.turn_item(chat, item));
                    if step.moving.is_none() {
                        self.in_turn = at + 1;
                    }
                }
            }
            if step.moving.is_none() && later {
                (self.in_turn, self.sections) = (at + 1, 0);
            }
        }
    }

    fn response(&mut self, response: &Response, later: bool, step: &mut Step<'_, '_>) {
        let chat = step.chat;
        let sections = sections(&response.blocks);
        let last = sections.len().saturating_sub(1);
        // Those of a turn that is drawn below what still moves begin anew.
        let first = if step.moving.is_none() {
            self.sections
        } else {
            0
        };
        for (at, section) in sections.iter().enumerate().skip(first) {
            let stands = stands(section, later || at < last);
            step.draw(self, stands, |pen| pen.section(chat, response, section));
            if step.moving.is_none() {
                self.sections = at + 1;
            }
        }
    }
}

/// One drawing.
struct Step<'a, 'c> {
    chat: &'a Chat<'c>,
    over: bool,
    /// The pen below what is settled, once something still moves.
    moving: Option<Pen>,
    lines: LiveLines,
}

impl Step<'_, '_> {
    fn draw(
        &mut self,
        live: &mut LiveChat,
        stands: bool,
        draw: impl FnOnce(&mut Pen) -> Vec<ChatLine>,
    ) {
        if self.moving.is_none() && !stands && !self.over {
            self.moving = Some(live.pen.clone());
        }
        match &mut self.moving {
            Some(pen) => self.lines.moving.extend(draw(pen)),
            None => self.lines.settled.extend(draw(&mut live.pen)),
        }
    }
}

/// Whether a section changes no more. A neighbour may still join the calls at the end, and of what came in pieces
/// there the final form may still be told, which need not be what was heard.
fn stands(section: &Section<'_>, later: bool) -> bool {
    let ended = |tool: &Tool| !tool.runs();
    match section {
        Section::One(ResponseBlock::Tool(tool)) => later && ended(tool),
        Section::One(block) => !block.is_open() && (later || !block.awaits_end()),
        Section::Calls(tools) => later && tools.iter().all(|tool| ended(tool)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Part;
    use crate::tree::{Ending, Event, Fold, Happening};

    fn text(lines: &[ChatLine]) -> Vec<String> {
        let lines = lines.iter().map(|line| line.line.text().trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    }

    fn story() -> Vec<Event> {
        let delta = |text: &str| Happening::TextDelta {
            text: text.into(),
            phase: None,
        };
        let call = |id: &str| {
            Happening::Block(Part::ToolCall {
                id: id.into(),
                name: "ls".into(),
                arguments: "{}".into(),
                kind: None,
            })
        };
        let answer = |call: &str, text: &str| Happening::Answer {
            call: call.into(),
            content: vec![Part::text(text)],
            ending: Ending::Success,
        };
        let user = |text: &str| Happening::User {
            parts: vec![Part::text(text)],
            from: None,
        };
        let story = [
            user("go"),
            Happening::ThinkingDelta { text: "hm".into() },
            delta("I lo"),
            delta("ok."),
            call("a"),
            call("b"),
            answer("b", "two"),
            answer("a", "one"),
            delta("So"),
            Happening::Interrupt { said: Vec::new() },
            user("on"),
            delta("Yes."),
            call("c"),
            answer("c", "three"),
            Happening::TurnEnd,
        ];
        story.into_iter().map(Event::new).collect()
    }

    #[test]
    fn what_stands_is_given_once_and_is_in_the_end_all_of_it() {
        let chat = Chat::new(5, None);
        let (mut fold, mut live) = (Fold::live(), LiveChat::default());
        let mut appended = Vec::new();
        for event in story() {
            fold.feed(event);
            let lines = live.draw(&chat, fold.tree(), false);
            appended.extend(lines.settled);
            // All of it is on the screen at any time.
            let mut pen = Pen::default();
            let items = fold.tree().items.iter();
            let whole: Vec<ChatLine> = items.flat_map(|item| pen.item(&chat, item)).collect();
            let shown = [appended.clone(), lines.moving].concat();
            assert_eq!(text(&shown), text(&whole));
        }
        let tree = fold.settle();
        appended.extend(live.draw(&chat, &tree, true).settled);
        let mut pen = Pen::default();
        let whole: Vec<ChatLine> = tree
            .items
            .iter()
            .flat_map(|item| pen.item(&chat, item))
            .collect();
        assert_eq!(appended, whole);
        assert_eq!(live.draw(&chat, &tree, true), LiveLines::default());
    }

    #[test]
    fn a_text_is_drawn_in_its_final_form() {
        let chat = Chat::new(5, None);
        let (mut fold, mut live) = (Fold::live(), LiveChat::default());
        let mut appended = Vec::new();
        let text_part = |text: &str| Happening::Block(Part::text(text));
        let delta = Happening::TextDelta {
            text: "Hello".into(),
            phase: None,
        };
        for (what, shown) in [
            (delta, "Hello"),
            (Happening::BlockEnd, "Hello"),
            (text_part("Hello (edited)"), "Hello (edited)"),
        ] {
            fold.feed(what.into());
            let lines = live.draw(&chat, fold.tree(), false);
            appended.extend(lines.settled);
            let all = [appended.clone(), lines.moving].concat();
            assert_eq!(text(&all).last().map(String::as_str), Some(shown));
        }
        assert_eq!(text(&appended), ["assistant", "Hello (edited)"]);
    }

    #[test]
    fn a_text_moves_while_it_streams_and_a_call_until_something_follows_it() {
        let chat = Chat::new(5, None);
        let (mut fold, mut live) = (Fold::live(), LiveChat::default());
        let mut steps = Vec::new();
        for event in story().into_iter().take(9) {
            fold.feed(event);
            let lines = live.draw(&chat, fold.tree(), false);
            steps.push((text(&lines.settled), text(&lines.moving).len()));
        }
        let settled: Vec<String> = steps
            .iter()
            .flat_map(|(settled, _)| settled.clone())
            .collect();
        let calls = ["2 calls, done", "ls", "one", "ls", "two"];
        let before = ["user", "go", "assistant", "thinking  hm", "I look."];
        assert_eq!(settled, [&before[..], &calls[..]].concat());
        assert_eq!(steps[2].1, 1, "the text moves");
        assert_eq!(
            steps[7].1,
            calls.len(),
            "the calls may have another neighbour"
        );
    }
}
