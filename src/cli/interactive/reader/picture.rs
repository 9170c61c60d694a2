//! What stands on the screen while a conversation is read, before it is painted.

use tract::render::{Label, Line, grouped};

use super::super::help;
use super::super::reel::ReelLine;
use super::{Mode, Reader};
use crate::cli::conversation::Which;

/// What stands on a screen, before it is painted.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    pub title: Line,
    pub position: Line,
    /// Whether each is of what is chosen, and what it says.
    pub lines: Vec<(bool, Line)>,
    pub bottom: Line,
    /// The column of the cursor in the last line.
    pub cursor: Option<usize>,
}

/// The columns of the bar beside its two texts: at both ends and between.
const BAR: usize = 4;

impl Reader {
    /// What stands on the screen.
    pub fn picture(&mut self) -> Picture {
        let (_, height) = self.body();
        let position = self.position();
        let title = self.title_line(position.width_cols());
        let mut picture = Picture {
            title,
            position,
            ..Picture::default()
        };
        if let Some(sheet) = &mut self.sheet {
            picture.lines = sheet
                .lines(height)
                .map(|line| (false, line.clone()))
                .collect();
        } else if let Some(reel) = self.reels.top() {
            let chosen = reel.chosen();
            let line = |line: &ReelLine| {
                let is_chosen = line.place.is_some() && line.place == chosen;
                (is_chosen && !line.line.is_empty(), line.line.clone())
            };
            picture.lines = reel.lines().map(line).collect();
            let is_end = reel.is_at_end();
            let is_outer = self.reels.inside.is_empty();
            let live = self.answer.as_ref().filter(|live| !live.is_empty());
            if let Some(live) = live.filter(|_| is_end && is_outer) {
                picture.lines.push((false, Line::new()));
                let live = live.iter().map(|line| (false, line.clone()));
                picture.lines.extend(live);
                let above = picture.lines.len().saturating_sub(height);
                picture.lines.drain(..above);
            }
        }
        if self.reels.outer.is_none() && self.sheet.is_none() {
            let nothing = match self.speech {
                None => "No messages yet; what is committed appears here.",
                Some(_) => "No messages yet; what you say is the first.",
            };
            picture.lines.push((false, Label::Dim.of(nothing)));
        }
        let is_bare = self.sheet.is_none() && self.reels.inside.is_empty();
        if let Some(back) = self.standing.way_back.as_ref().filter(|_| is_bare)
            && picture.lines.is_empty()
        {
            picture.lines.push((false, Label::Dim.of(back.as_str())));
        }
        if self.speech.is_some() {
            picture.lines.resize(height, (false, Line::new()));
            picture.lines.push((false, self.status()));
        }
        (picture.bottom, picture.cursor) = self.bottom();
        picture
    }

    /// What is read and how much of it, beside a position of so many columns.
    fn title_line(&self, taken: usize) -> Line {
        if let Some(sheet) = &self.sheet {
            return Label::Strong.of(sheet.title.as_str());
        }
        let which = match (self.reels.inside.last(), self.which) {
            (Some((title, _)), _) => title.as_str(),
            (None, Which::Window(_)) => "window",
            (None, Which::Transcript) => "transcript",
            (None, Which::All) => "all",
        };
        let which = format!(" · {which}");
        let taken = taken + which.chars().count() + BAR;
        let room = self.size.0.saturating_sub(taken);
        self.title.clone().cut(room) + which
    }

    fn position(&mut self) -> Line {
        let height = self.body().1;
        if let Some(sheet) = &self.sheet {
            return sheet.position(height).into();
        }
        let Some(reel) = self.reels.top() else {
            return Line::new();
        };
        let talk = reel.talk();
        let last = talk.len().checked_sub(1);
        let all = last
            .and_then(|last| talk.listed().number_at(last))
            .unwrap_or(0);
        let number = |number: usize| grouped(number as u64);
        match (reel.numbers().filter(|_| all > 0), reel.places_seen()) {
            (Some((first, last)), _) => format!(":{first}–:{last} of {}", number(all)).into(),
            // What is hidden has no numbers.
            (None, Some((first, last))) => {
                let (first, last) = (number(first + 1), number(last + 1));
                format!("{first}–{last} of {}", number(talk.len())).into()
            }
            (None, None) => Label::Warning.of("nothing visible"),
        }
    }

    /// The line above the one that is typed.
    fn status(&self) -> Line {
        let otherwise = match (self.answer.is_some(), self.mode) {
            (true, _) => "answering · esc cancels",
            (false, Mode::Say) => "enter says it · / command · esc keys",
            (false, _) => "i says something",
        };
        let line = self.said.clone();
        line.unwrap_or_else(|| Label::Dim.of(otherwise))
            .cut(self.body().0)
    }

    fn bottom(&self) -> (Line, Option<usize>) {
        let width = self.size.0;
        let said = self.said.as_ref().filter(|_| self.speech.is_none());
        let before = match self.mode {
            Mode::Slash => Line::new(),
            Mode::Say => Label::User.of("> "),
            Mode::Summary => Label::Strong.of("summary: "),
            Mode::File => Label::Strong.of("export to: "),
            Mode::Again => Label::User.of("user: "),
            Mode::Pick(command) => {
                let what = match command {
                    "reset" => "rewind to which message?",
                    "drop" => "hide which message?",
                    _ => "restore what?",
                };
                let keys = Label::Dim.of("  J K choose · enter takes it · esc leaves");
                return ((Label::Strong.of(what) + keys).cut(width), None);
            }
            Mode::Reading => {
                let keys = match (&self.sheet, self.reels.inside.is_empty()) {
                    (Some(_), _) => "esc back".to_owned(),
                    (None, false) => "esc back · ? keys".to_owned(),
                    (None, true) => help::keys(matches!(self.which, Which::Window(_)), width),
                };
                let searching = self.seeking.search.as_ref();
                let searching = searching.map(|search| {
                    Label::Dim.of(format!("searching '{}' · esc gives up", search.text))
                });
                let line = said.cloned().or(searching);
                return (line.unwrap_or_else(|| Label::Dim.of(keys)).cut(width), None);
            }
        };
        let prompt = match (self.mode, &self.speech) {
            (Mode::Say, Some(speech)) => speech,
            _ => &self.prompt,
        };
        let (mut line, column) = prompt.line(&before, width);
        let fitting = prompt.fitting();
        if !matches!(self.mode, Mode::Summary | Mode::Again | Mode::File) && fitting.len() > 1 {
            line.fit(
                Label::Dim.of(format!("   {}", fitting.join("  "))),
                Some(width),
            );
        }
        (line, Some(column))
    }
}
