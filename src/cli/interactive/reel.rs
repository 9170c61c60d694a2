//! The part of a conversation that is on the screen, and a little around it.
//!
//! Parts are read as the screen comes near them and given up when it is far: what is held does not
//! grow with the conversation. Deliberately absent: the terminal, keys, and where new messages come
//! from.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use tract::Result;
use tract::deeds::page::numbered;
use tract::ingest::{Conversation, PartSize, Replay, Start};
use tract::model::EntryId;
use tract::render::chat::{Chat, Detail, Pen, Tools};
use tract::render::{Label, Line, grouped, plural};
use tract::repo::{ListedEntry, Repo};
use tract::tree::{NodeId, TreeItem};

use crate::cli::conversation::OUTPUT_LINES;

/// How much is read at once.
const PART: PartSize = PartSize {
    messages: 48,
    bytes: 512 << 10,
    more: 144,
};
/// The largest window that is read at once.
const WINDOW: usize = 512;
/// How many of the last messages are never folded to a line.
const UNFOLDED: usize = 4;
/// How many messages that come at once are shown as they come.
const LIVE: usize = 64;
/// How many screens above and below are kept.
const KEPT: usize = 4;

/// A conversation as a long strip of lines, of which the screen shows some.
pub struct Reel {
    talk: Conversation,
    directory: Option<Rc<str>>,
    width: usize,
    height: usize,
    look: Look,
    /// What came while somebody looked; nothing of it is folded.
    live: HashSet<EntryId>,
    parts: VecDeque<Part>,
    /// The first line on the screen, counted from the first that is held.
    top: usize,
    /// The place of the chosen message.
    chosen: usize,
}

/// How much of everything is shown.
#[derive(Clone, Debug)]
pub struct Look {
    /// Of calls.
    pub tools: Tools,
    /// Whether thoughts are.
    pub thinking: bool,
    /// Of what somebody opened or closed.
    details: HashMap<EntryId, Detail>,
}

/// Some messages as lines.
struct Part {
    range: Range<usize>,
    /// What it was read as: the beginning of what is seen, or what follows another part.
    start: Start,
    found: Replay,
    /// Whether the line that says where the window begins is in it.
    is_marked: bool,
    lines: Vec<ReelLine>,
    /// Where users speak.
    turns: Vec<usize>,
}

/// A line on the screen.
#[derive(Clone, Debug)]
pub struct ReelLine {
    /// The place of its message.
    pub place: Option<usize>,
    /// What it says.
    pub line: Line,
}

/// Up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Up,
    Down,
}

impl Reel {
    /// The end of a conversation, on a screen of this size.
    /// Paths are shown from `directory` on.
    pub fn open(
        talk: Conversation,
        repo: &Repo,
        (width, height): (usize, usize),
        directory: Option<Rc<str>>,
    ) -> Result<Self> {
        let mut reel = Self {
            live: HashSet::new(),
            chosen: talk.len().saturating_sub(1),
            talk,
            directory,
            width,
            height: height.max(1),
            look: Look {
                tools: Tools::default(),
                thinking: true,
                details: HashMap::new(),
            },
            parts: VecDeque::new(),
            top: 0,
        };
        reel.go_end(repo)?;
        Ok(reel)
    }

    /// The conversation.
    pub fn talk(&self) -> &Conversation {
        &self.talk
    }

    /// The place of the chosen message; none of an empty conversation.
    pub fn chosen(&self) -> Option<usize> {
        (self.chosen < self.talk.len()).then_some(self.chosen)
    }

    /// That place, and what is listed of the message.
    pub fn chosen_row(&self, repo: &Repo) -> Result<Option<(usize, ListedEntry)>> {
        let Some(place) = self.chosen() else {
            return Ok(None);
        };
        let mut rows = self.talk.listed().read(repo, place..place + 1)?;
        Ok(rows.pop().map(|row| (place, row)))
    }

    /// How much of everything is shown.
    pub fn look(&self) -> &Look {
        &self.look
    }

    /// The row of the chosen message's first line; the first where it is out of sight.
    pub fn row(&self) -> usize {
        let row = self.rows_of(self.chosen).map_or(0, |rows| rows.start);
        row.saturating_sub(self.top).min(self.height - 1)
    }

    /// The lines on the screen.
    pub fn lines(&self) -> impl Iterator<Item = &ReelLine> {
        let lines = self.parts.iter().flat_map(|part| &part.lines);
        lines.skip(self.top).take(self.height)
    }

    /// How many messages are held; for tests of what that grows with.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.parts.iter().map(|part| part.range.len()).sum()
    }

    /// The numbers of the first and the last message on the screen.
    pub fn numbers(&self) -> Option<(usize, usize)> {
        let places: Vec<usize> = self.lines().filter_map(|line| line.place).collect();
        let listed = self.talk.listed();
        let last = listed.number_at(*places.last()?)?;
        let first = listed.number_at(*places.first()?).unwrap_or(1);
        Some((first, last))
    }

    /// The places of the first and the last message on the screen.
    pub fn places_seen(&self) -> Option<(usize, usize)> {
        let places: Vec<usize> = self.lines().filter_map(|line| line.place).collect();
        Some((*places.iter().min()?, *places.iter().max()?))
    }

    /// Whether the last line of all is on the screen.
    pub fn is_at_end(&self) -> bool {
        let ends = |part: &Part| part.range.end == self.talk.len();
        self.parts.back().is_none_or(ends) && self.top + self.height >= self.len()
    }

    /// The screen has another size.
    pub fn resize(&mut self, repo: &Repo, width: usize, height: usize) -> Result<()> {
        let at_end = self.is_at_end();
        self.height = height.max(1);
        if width != self.width {
            self.width = width;
            self.draw_again(repo)?;
        }
        if at_end {
            self.top = self.last_top();
        }
        self.fill(repo)
    }

    /// So many lines up or down.
    pub fn scroll(&mut self, repo: &Repo, lines: usize, way: Way) -> Result<()> {
        let mut left = lines;
        while left > 0 {
            let step = left.min(self.height);
            self.fill(repo)?;
            let before = self.top;
            self.top = match way {
                Way::Up => self.top.saturating_sub(step),
                Way::Down => (self.top + step).min(self.last_top()),
            };
            if self.top == before {
                break;
            }
            left -= step;
        }
        self.fill(repo)?;
        self.choose_seen();
        Ok(())
    }

    /// To the very end.
    pub fn go_end(&mut self, repo: &Repo) -> Result<()> {
        let (first, end) = (self.talk.first(), self.talk.len());
        if self.parts.back().is_none_or(|part| part.range.end != end) {
            self.parts.clear();
            let range = if first > 0 && (1..=WINDOW).contains(&(end - first)) {
                first..end
            } else {
                self.talk.part_to(repo, end, PART)?
            };
            if !range.is_empty() {
                let part = self.read(repo, range, None)?;
                self.parts.push_back(part);
            }
        }
        self.chosen = end.saturating_sub(1);
        self.top = self.last_top();
        self.fill(repo)?;
        self.top = self.last_top();
        Ok(())
    }

    /// To the very beginning.
    pub fn go_start(&mut self, repo: &Repo) -> Result<()> {
        self.go_to(repo, 0, 0)
    }

    /// To a message, whose first line is to stand in this row.
    pub fn go_to(&mut self, repo: &Repo, place: usize, row: usize) -> Result<()> {
        if place >= self.talk.len() {
            return self.go_end(repo);
        }
        if !self.parts.iter().any(|part| part.range.contains(&place)) {
            let after = place + UNFOLDED;
            let near = self.talk.part_to(repo, after.min(self.talk.len()), PART)?;
            let range = if near.contains(&place) {
                near
            } else {
                self.talk.part_from(repo, place, PART)?
            };
            self.parts.clear();
            let part = self.read(repo, range, None)?;
            self.parts.push_back(part);
        }
        self.chosen = place;
        let first = self.rows_of(place).map_or(0, |rows| rows.start);
        self.top = first.saturating_sub(row);
        // What stands above may have to be read for the row.
        self.fill(repo)?;
        let first = self.rows_of(place).map_or(0, |rows| rows.start);
        self.top = first.saturating_sub(row).min(self.last_top());
        self.fill(repo)
    }

    /// The message before or after the chosen one that has a line.
    pub fn choose(&mut self, repo: &Repo, way: Way) -> Result<()> {
        self.fill(repo)?;
        let seen = self.places();
        let at = seen.partition_point(|place| *place < self.chosen);
        let next = match way {
            Way::Up => at.checked_sub(1).and_then(|at| seen.get(at)),
            Way::Down => {
                let is_it = seen.get(at) == Some(&self.chosen);
                seen.get(at + usize::from(is_it))
            }
        };
        if let Some(next) = next {
            self.chosen = *next;
            self.show_chosen();
        }
        self.fill(repo)
    }

    /// The user's turn before or after the chosen message.
    pub fn choose_turn(&mut self, repo: &Repo, way: Way) -> Result<bool> {
        loop {
            let turns = self.parts.iter().flat_map(|part| &part.turns).copied();
            let turn = match way {
                Way::Up => turns.filter(|turn| *turn < self.chosen).max(),
                Way::Down => turns.filter(|turn| *turn > self.chosen).min(),
            };
            if let Some(turn) = turn {
                self.go_to(repo, turn, 1)?;
                return Ok(true);
            }
            let more = match way {
                Way::Up => self.extend_up(repo)?,
                Way::Down => self.extend_down(repo)?,
            };
            if !more {
                return Ok(false);
            }
            self.trim(way);
        }
    }

    /// Opens or closes the chosen message.
    pub fn toggle(&mut self, repo: &Repo) -> Result<()> {
        let Some(id) = self.id_of(self.chosen) else {
            return Ok(());
        };
        let next = match self.detail_of(self.chosen, Some(&id)) {
            Detail::Closed => Detail::Full,
            Detail::Short => Detail::Full,
            Detail::Full => Detail::Closed,
        };
        self.look.details.insert(id, next);
        self.draw_again(repo)
    }

    /// Opens a message whole and goes there, to the first line with this text, whatever its case.
    pub fn reveal(&mut self, repo: &Repo, place: usize, text: &str) -> Result<()> {
        self.go_to(repo, place, self.height / 3)?;
        if let Some(id) = self.id_of(place) {
            self.look.details.insert(id, Detail::Full);
            self.draw_again(repo)?;
        }
        let text = text.to_lowercase();
        let rows = self.rows_of(place).unwrap_or_default();
        let lines = self.parts.iter().flat_map(|part| &part.lines).enumerate();
        let mut lines = lines.skip(rows.start).take(rows.len());
        let found = lines.find(|(_, line)| line.line.text().to_lowercase().contains(&text));
        let seen = self.top..self.top + self.height;
        if let Some((at, _)) = found.filter(|(at, _)| !seen.contains(at)) {
            self.top = at.saturating_sub(self.height / 3).min(self.last_top());
            self.fill(repo)?;
        }
        Ok(())
    }

    /// Shows so much of everything.
    pub fn look_like(&mut self, repo: &Repo, look: Look) -> Result<()> {
        let at_end = self.is_at_end();
        self.look = look;
        self.draw_again(repo)?;
        if at_end {
            self.top = self.last_top();
        }
        self.fill(repo)
    }

    /// The name of a message that is held.
    pub fn id_of(&self, place: usize) -> Option<EntryId> {
        let part = self.parts.iter().find(|part| part.range.contains(&place))?;
        let entry = part.found.entries.get(place - part.range.start)?;
        Some(entry.id)
    }

    /// The conversation is another one now: what was chosen stays chosen if it is there, and the end
    /// stays in sight if it was. So many of its last messages are new. With `goes_on`, what was called by those a
    /// moment ago is still under way.
    pub fn renew(
        &mut self,
        repo: &Repo,
        talk: Conversation,
        new: usize,
        goes_on: bool,
    ) -> Result<()> {
        let at_end = self.is_at_end();
        let chosen = self.id_of(self.chosen);
        let row = self.row();
        let first = talk.len().saturating_sub(new.min(LIVE));
        let came = talk.listed().read(repo, first..talk.len())?;
        self.live.extend(came.iter().map(|row| row.entry.id));
        let near = self.chosen;
        let last = talk
            .listed()
            .read(repo, talk.len().saturating_sub(1)..talk.len())?;
        let is_live = last.iter().any(|row| self.live.contains(&row.entry.id));
        self.talk = if goes_on && is_live {
            talk.going_on(true)
        } else {
            talk
        };
        self.parts.clear();
        if at_end {
            return self.go_end(repo);
        }
        let place = match chosen {
            Some(id) => self.talk.place_of(repo, &id, near)?,
            None => None,
        };
        match place {
            Some(place) => self.go_to(repo, place, row),
            None => self.go_end(repo),
        }
    }

    /// How many lines are held.
    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.lines.len()).sum()
    }

    /// The first line where the last one is at the bottom.
    fn last_top(&self) -> usize {
        self.len().saturating_sub(self.height)
    }

    fn detail_of(&self, place: usize, id: Option<&EntryId>) -> Detail {
        let known = id.and_then(|id| self.look.details.get(id));
        match known {
            Some(detail) => *detail,
            None if id.is_some_and(|id| self.live.contains(id)) => Detail::Full,
            None if place + UNFOLDED >= self.talk.len() => Detail::Short,
            None => Detail::Closed,
        }
    }

    /// Reads and draws some messages, below a part where one is held.
    fn read(&self, repo: &Repo, range: Range<usize>, above: Option<&Part>) -> Result<Part> {
        // At the top of a window nobody sees what stands before it yet.
        let start = if range.start == self.talk.first() && above.is_none() {
            Start::Alone
        } else {
            Start::Seen
        };
        let found = self.talk.read(repo, range.clone(), start)?;
        let is_marked = above.is_some_and(|above| above.is_marked);
        Ok(self.draw(range, start, found, is_marked))
    }

    /// `is_marked`: the part above holds the line that says where the window begins.
    fn draw(&self, range: Range<usize>, start: Start, found: Replay, is_marked: bool) -> Part {
        let message_of = |node| found.entry_of(node).map(numbered);
        let detail_of = |node: NodeId| match found.entry_of(node) {
            Some((at, entry)) => self.detail_of(at, Some(&entry.id)),
            None => Detail::Short,
        };
        let chat = Chat {
            message_of: &message_of,
            detail_of: &detail_of,
            tools: self.look.tools,
            thinking: self.look.thinking,
            directory: self.directory.as_deref(),
            prose: true,
            ..Chat::new(OUTPUT_LINES, Some(self.width))
        };
        let place = |node| found.entry_of(node).map(|(at, _)| at);
        let mut lines = Vec::new();
        let of_none = |line: Line| ReelLine { place: None, line };
        let first_seen = self.talk.first();
        let has_window = first_seen > 0 || self.talk.earlier() > 0;
        let mark = || {
            let count = self.talk.len() - first_seen;
            let line = border(self.talk.earlier(), count).cut(self.width);
            [line, Line::new()].map(of_none)
        };
        let mut has_mark = has_window && range.start == first_seen && !is_marked;
        if has_mark {
            lines.extend(mark());
        }
        let mut pen = Pen::default();
        let begun = lines.len();
        for item in &found.tree.items {
            lines.extend(pen.item(&chat, item).into_iter().map(|line| ReelLine {
                place: place(line.node),
                line: line.line,
            }));
        }
        // An empty line stands between two parts, but not between two folded messages.
        let first = lines.get(begun).and_then(|line| line.place);
        let is_open = first.is_some_and(|place| {
            let id = found.entries.get(place - range.start).map(|entry| entry.id);
            self.detail_of(place, id.as_ref()) != Detail::Closed
        });
        if range.start > 0 && begun == 0 && is_open {
            lines.insert(0, of_none(Line::new()));
        }
        // A result stands at its call, so the window may begin with one that is shown above its other messages.
        let is_inside = |line: &ReelLine| line.place.is_some_and(|place| place >= first_seen);
        if has_window
            && range.end == first_seen
            && let Some(at) = lines.iter().position(is_inside)
        {
            lines.splice(at..at, mark());
            has_mark = true;
        }
        let turn = |item: &TreeItem| match item {
            TreeItem::Turn(turn) => place(turn.user.as_ref()?.node.id),
            _ => None,
        };
        let turns = found.tree.items.iter().filter_map(turn).collect();
        Part {
            range,
            start,
            found,
            is_marked: has_mark,
            lines,
            turns,
        }
    }

    /// Lays out again what is held; what was chosen stays in its row.
    fn draw_again(&mut self, repo: &Repo) -> Result<()> {
        let row = self.rows_of(self.chosen).map(|rows| rows.start);
        let row = row.and_then(|start| start.checked_sub(self.top));
        let row = row.filter(|row| *row < self.height);
        let parts = std::mem::take(&mut self.parts);
        let mut is_marked = false;
        let parts = parts.into_iter().map(|part| {
            let drawn = self.draw(part.range, part.start, part.found, is_marked);
            is_marked = drawn.is_marked;
            drawn
        });
        self.parts = parts.collect();
        let first = self.rows_of(self.chosen).map_or(0, |rows| rows.start);
        self.top = first.saturating_sub(row.unwrap_or(0)).min(self.last_top());
        self.fill(repo)
    }

    /// Reads what is on the screen and a screen around it, and gives up what is far.
    fn fill(&mut self, repo: &Repo) -> Result<()> {
        while self.top < self.height && self.extend_up(repo)? {}
        while self.top + 2 * self.height > self.len() && self.extend_down(repo)? {}
        self.top = self.top.min(self.last_top());
        self.trim(Way::Up);
        self.trim(Way::Down);
        Ok(())
    }

    fn extend_up(&mut self, repo: &Repo) -> Result<bool> {
        let Some(first) = self.parts.front().map(|part| part.range.start) else {
            return Ok(false);
        };
        if first == 0 {
            return Ok(false);
        }
        let range = self.talk.part_to(repo, first, PART)?;
        let part = self.read(repo, range, None)?;
        // What was read as the beginning of what is seen follows something now.
        if let Some(below) = self.parts.pop_front() {
            let is_same = below.start == Start::Seen && !part.is_marked;
            let again = if is_same {
                below
            } else {
                let again = self.read(repo, below.range.clone(), Some(&part))?;
                self.top = (self.top + again.lines.len()).saturating_sub(below.lines.len());
                again
            };
            self.parts.push_front(again);
        }
        self.top += part.lines.len();
        self.parts.push_front(part);
        Ok(true)
    }

    fn extend_down(&mut self, repo: &Repo) -> Result<bool> {
        let Some(end) = self.parts.back().map(|part| part.range.end) else {
            return Ok(false);
        };
        if end == self.talk.len() {
            return Ok(false);
        }
        let mut range = self.talk.part_from(repo, end, PART)?;
        // The window begins a part of its own, as it did when it was opened.
        let first = self.talk.first();
        if (range.start + 1..range.end).contains(&first) {
            range.end = first;
        }
        let part = self.read(repo, range, self.parts.back())?;
        self.parts.push_back(part);
        Ok(true)
    }

    /// Gives up what is many screens behind whoever goes this way.
    fn trim(&mut self, way: Way) {
        let far = KEPT * self.height;
        while self.parts.len() > 1 {
            let (first, last) = (&self.parts[0], &self.parts[self.parts.len() - 1]);
            match way {
                Way::Down if first.lines.len() + far < self.top => {
                    self.top -= first.lines.len();
                    self.parts.pop_front();
                }
                Way::Up if self.top + self.height + far + last.lines.len() < self.len() => {
                    self.parts.pop_back();
                }
                _ => return,
            }
        }
    }

    /// The lines of a message, counted from the first that is held.
    fn rows_of(&self, place: usize) -> Option<Range<usize>> {
        let lines = self.parts.iter().flat_map(|part| &part.lines);
        let is_it = |line: &&ReelLine| line.place == Some(place) && !line.line.is_empty();
        let mut rows = lines
            .enumerate()
            .filter(|(_, line)| is_it(line))
            .map(|(at, _)| at);
        let first = rows.next()?;
        Some(first..rows.last().unwrap_or(first) + 1)
    }

    /// The places of all messages that have a line, in order.
    fn places(&self) -> Vec<usize> {
        let lines = self.parts.iter().flat_map(|part| &part.lines);
        let said = lines.filter(|line| !line.line.is_empty());
        let mut places: Vec<usize> = said.filter_map(|line| line.place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Scrolls no more than it takes for the chosen message to be seen, its beginning above all.
    fn show_chosen(&mut self) {
        let Some(rows) = self.rows_of(self.chosen) else {
            return;
        };
        if rows.end > self.top + self.height {
            self.top = rows.end - self.height;
        }
        self.top = self.top.min(rows.start);
    }

    /// What was chosen is out of sight: then the nearest that is not.
    fn choose_seen(&mut self) {
        let seen = self.lines().filter(|line| !line.line.is_empty());
        let seen: Vec<usize> = seen.filter_map(|line| line.place).collect();
        if let (Some(low), Some(high)) = (seen.iter().min(), seen.iter().max())
            && !seen.contains(&self.chosen)
        {
            self.chosen = self.chosen.clamp(*low, *high);
            if !seen.contains(&self.chosen) {
                self.chosen = *low;
            }
        }
    }
}

/// The line at the beginning of a window.
fn border(earlier: usize, shown: usize) -> Line {
    let earlier = plural(earlier as u64, "earlier message");
    let shown = grouped(shown as u64);
    Label::Dim.of(format!("↑ {earlier} · ↓ the last {shown}, the window"))
}

#[cfg(test)]
mod tests;
