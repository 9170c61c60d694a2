//! A conversation that is read: what is on the screen, and what a key does to it.
//!
//! It knows no terminal: keys come in, lines go out, and what only the program can do is a [`Wish`].

mod picture;
#[cfg(test)]
mod tests;

pub use picture::Picture;

use std::rc::Rc;
use std::time::{Duration, Instant};

use tract::Result;
use tract::hash::CommitHash;
use tract::ingest::Conversation;
use tract::model::{HideKind, Part};
use tract::render::chat::Tools;
use tract::render::{Label, Line, grouped, plural};
use tract::repo::Repo;
use tract::tree::words::words;

use super::help;
use super::key::Key;
use super::prompt::{Prompt, Typed};
use super::reel::{Reel, Way};
use super::search::{Found, Search};
use super::sheet::Sheet;
use super::slash::{self, Slash};
use crate::cli::conversation::Which;

/// What the reader cannot do itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Nothing more.
    None,
    /// To end.
    Quit,
    /// To choose another conversation.
    Choose,
    /// To run a command of the program.
    Run(Vec<String>),
    /// To give this to the clipboard, and say what it was.
    Copy(String, String),
    /// The operations.
    Operations,
    /// To say this.
    Ask(String),
    /// To hear no more of an answer.
    Cancel,
    /// To keep a talk in memory, in this place.
    Save(String),
    /// To go back to a message, or before one of the user's.
    Rewind(String),
}

/// How a search goes on for one look: long enough to get on, too short to be felt.
const SEARCH_SLICE: Duration = Duration::from_millis(25);

/// A conversation on a screen, and what stands over it.
pub struct Reader {
    /// Where it is, as people call it.
    pub title: Line,
    /// The directory of its session: paths are shown from there on.
    pub directory: Option<Rc<str>>,
    /// The commit that is read.
    tip: Option<CommitHash>,
    which: Which,
    /// How many messages a window has.
    window: usize,
    reels: Reels,
    sheet: Option<Sheet>,
    prompt: Prompt,
    mode: Mode,
    pub seeking: Seeking,
    /// What is said at the bottom until the next key.
    said: Option<Line>,
    pub standing: Standing,
    /// The command that makes summaries.
    pub summariser: Option<String>,
    /// What is said on, where somebody answers.
    speech: Option<Prompt>,
    /// What is there of an answer that is on its way, below what is committed.
    pub answer: Option<Vec<Line>>,
    size: (usize, usize),
}

/// What is looked for.
#[derive(Default)]
pub struct Seeking {
    /// A search that goes on.
    search: Option<Search>,
    /// What was searched for last.
    pub last: Option<String>,
}

/// How the conversation stands.
#[derive(Default)]
pub struct Standing {
    /// Whether more of it may come, so that a call without a result runs.
    pub goes_on: bool,
    /// The way back, where all messages are hidden.
    pub way_back: Option<String>,
}

/// A conversation, and what markers in it stand for, opened one from the other.
#[derive(Default)]
struct Reels {
    outer: Option<Reel>,
    inside: Vec<(String, Reel)>,
}

impl Reels {
    /// The one on top.
    fn top(&mut self) -> Option<&mut Reel> {
        let inside = self.inside.last_mut().map(|(_, reel)| reel);
        inside.or(self.outer.as_mut())
    }

    /// All of them.
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Reel> {
        let inside = self.inside.iter_mut().map(|(_, reel)| reel);
        self.outer.iter_mut().chain(inside)
    }
}

/// What keys mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Reading,
    /// A search or a command is typed.
    Slash,
    /// A summary is typed.
    Summary,
    /// What the user said is edited, to be said again.
    Again,
    /// A message is picked for this command.
    Pick(&'static str),
    /// The name of a file to write is typed.
    File,
    /// What is to be said is typed.
    Say,
}

impl Reader {
    /// Nothing yet, on a screen of this size.
    pub fn new(title: Line, which: Which, window: usize, size: (usize, usize)) -> Self {
        Self {
            title,
            directory: None,
            tip: None,
            which,
            window,
            reels: Reels::default(),
            sheet: None,
            prompt: Prompt::with_words(slash::WORDS),
            mode: Mode::Reading,
            seeking: Seeking::default(),
            said: None,
            standing: Standing::default(),
            summariser: None,
            speech: None,
            answer: None,
            size,
        }
    }

    /// From here on somebody answers.
    pub fn talk(&mut self) {
        let words = slash::WORDS.into_iter().chain([slash::SAVE]);
        self.speech = Some(Prompt::with_words(words));
        self.mode = Mode::Say;
    }

    /// The columns of a line of the conversation.
    pub fn width(&self) -> usize {
        self.body().0
    }

    /// To the end of the conversation.
    pub fn go_end(&mut self, repo: &Repo) -> Result<()> {
        self.reels.inside.clear();
        self.reels.top().map_or(Ok(()), |reel| reel.go_end(repo))
    }

    /// Reads what stands at a commit; so many of the last messages are new since the last time.
    pub fn show(&mut self, repo: &Repo, tip: Option<CommitHash>, new: usize) -> Result<()> {
        self.tip = tip;
        let Some(tip) = &tip else {
            self.reels = Reels::default();
            return Ok(());
        };
        let talk = self.conversation(repo, tip)?;
        match &mut self.reels.outer {
            // An answer is committed when it is over.
            Some(reel) => reel.renew(repo, talk, new, self.speech.is_none())?,
            None => {
                let (width, height) = self.body();
                let reel = Reel::open(talk, repo, (width, height), self.directory.clone())?;
                self.reels.outer = Some(reel);
            }
        }
        Ok(())
    }

    /// The commit that is read.
    pub fn tip(&self) -> Option<CommitHash> {
        self.tip
    }

    /// Says something at the bottom.
    pub fn say(&mut self, line: impl Into<Line>) {
        self.said = Some(line.into());
    }

    /// Shows lines over the conversation.
    pub fn lay(&mut self, sheet: Sheet) {
        self.said = None;
        match &mut self.sheet {
            Some(old) if old.title == sheet.title => *old = sheet,
            _ => self.sheet = Some(sheet),
        }
    }

    /// The title of the sheet that lies over the conversation.
    pub fn sheet(&mut self) -> Option<&mut Sheet> {
        self.sheet.as_mut()
    }

    /// The screen has another size.
    pub fn resize(&mut self, repo: &Repo, size: (usize, usize)) -> Result<()> {
        self.size = size;
        let (width, height) = self.body();
        let mut reels = self.reels.iter_mut();
        reels.try_for_each(|reel| reel.resize(repo, width, height))
    }

    /// The lines of the conversation that are on the screen: what was read last.
    pub fn last_read(&self) -> Vec<Line> {
        let lines = self.reels.outer.iter().flat_map(Reel::lines);
        lines.map(|line| line.line.clone()).collect()
    }

    /// Whether there is more to do before the next key.
    pub fn is_busy(&self) -> bool {
        self.seeking.search.is_some()
    }

    /// Goes on with what takes long.
    pub fn go_on(&mut self, repo: &Repo) -> Result<()> {
        let from = Instant::now();
        while from.elapsed() < SEARCH_SLICE && self.seeking.search.is_some() {
            self.search_step(repo)?;
        }
        Ok(())
    }

    /// Takes a key.
    pub fn take(&mut self, key: &Key, repo: &Repo) -> Result<Wish> {
        self.said = None;
        let is_inside = !self.reels.inside.is_empty();
        let is_plain = self.sheet.is_none() && !is_inside && self.seeking.search.is_none();
        let is_plain = is_plain && matches!(self.mode, Mode::Say | Mode::Reading);
        let cancels = *key == Key::Ctrl('c') || *key == Key::Escape && is_plain;
        if cancels && self.answer.is_some() {
            return Ok(Wish::Cancel);
        }
        match self.mode {
            Mode::Slash | Mode::Summary | Mode::Again | Mode::File => Ok(self.type_key(key)),
            // Whoever goes on to type has read it.
            Mode::Say if self.sheet.is_some() && matches!(key, Key::Char(_) | Key::Paste(_)) => {
                self.sheet = None;
                self.say_key(key, repo)
            }
            _ if self.sheet.is_some() => Ok(self.sheet_key(key)),
            Mode::Say if !is_inside => self.say_key(key, repo),
            _ => self.reading_key(key, repo),
        }
    }

    fn reading_key(&mut self, key: &Key, repo: &Repo) -> Result<Wish> {
        if self.seeking.search.take().is_some() && *key == Key::Escape {
            self.say("the search was given up");
            return Ok(Wish::None);
        }
        if let Mode::Pick(command) = self.mode {
            match key {
                Key::Enter => return self.picked(command, repo),
                Key::Escape | Key::Char('q') | Key::Ctrl('c') => {
                    self.mode = self.home();
                    return Ok(Wish::None);
                }
                // What one goes back to is what the user typed, which begins a turn.
                Key::Char('K') if command == "reset" => {
                    self.move_key(&Key::Char('['), repo)?;
                    return Ok(Wish::None);
                }
                Key::Char('J') if command == "reset" => {
                    self.move_key(&Key::Char(']'), repo)?;
                    return Ok(Wish::None);
                }
                _ => {}
            }
        }
        match key {
            Key::Char('q') | Key::Ctrl('c') | Key::Escape if self.reels.inside.pop().is_some() => {}
            Key::Char('q') | Key::Ctrl('c') => return Ok(Wish::Quit),
            Key::Char('i') if self.speech.is_some() => {
                self.reels.inside.clear();
                self.mode = Mode::Say;
            }
            Key::Char('?') => self.lay(Sheet::new("keys", help::all(self.speech.is_some()))),
            Key::Char('/') => {
                self.mode = Mode::Slash;
                self.prompt.begin("/");
            }
            Key::Char('o') => return Ok(Wish::Operations),
            Key::Char('z') | Key::Ctrl('z') => return Ok(Wish::Run(vec!["undo".into()])),
            Key::Char('Z') | Key::Ctrl('y') => return Ok(Wish::Run(vec!["redo".into()])),
            Key::Char('s') => return Ok(Wish::Choose),
            Key::Char('a') => return self.audited(repo),
            Key::Char('r') => return Ok(Wish::Run(vec!["resume".into()])),
            Key::Char('e') => return Ok(self.command(Slash::File)),
            Key::Char('d') => return self.picked("drop", repo),
            Key::Ctrl('o') => self.other(repo)?,
            Key::Char('n') => self.search_again(Way::Up),
            Key::Char('N') => self.search_again(Way::Down),
            Key::Char('y') => return self.copy(repo),
            key => self.move_key(key, repo)?,
        }
        Ok(Wish::None)
    }

    fn move_key(&mut self, key: &Key, repo: &Repo) -> Result<()> {
        let page = self.body().1.saturating_sub(2).max(1);
        let Some(reel) = self.reels.top() else {
            return Ok(());
        };
        match key {
            Key::Up | Key::Char('k') => reel.scroll(repo, 1, Way::Up)?,
            Key::Down | Key::Char('j') => reel.scroll(repo, 1, Way::Down)?,
            Key::PageUp | Key::Char('b') => reel.scroll(repo, page, Way::Up)?,
            Key::PageDown | Key::Char(' ') => reel.scroll(repo, page, Way::Down)?,
            Key::Ctrl('u') => reel.scroll(repo, page.div_ceil(2), Way::Up)?,
            Key::Ctrl('d') => reel.scroll(repo, page.div_ceil(2), Way::Down)?,
            Key::Home | Key::Char('g') => reel.go_start(repo)?,
            Key::End | Key::Char('G') => reel.go_end(repo)?,
            Key::Char('K') => reel.choose(repo, Way::Up)?,
            Key::Char('J') => reel.choose(repo, Way::Down)?,
            Key::Char(turn @ ('[' | ']')) => {
                let (way, none) = match turn {
                    '[' => (Way::Up, "the first turn"),
                    _ => (Way::Down, "the last turn"),
                };
                if !reel.choose_turn(repo, way)? {
                    self.say(none);
                }
            }
            Key::Char('t') => {
                let (tools, word) = match reel.look().tools {
                    Tools::Off => (Tools::Short, "calls are shown in short"),
                    Tools::Short => (Tools::Full, "calls are shown in full"),
                    Tools::Full => (Tools::Off, "calls are left out"),
                };
                let mut look = reel.look().clone();
                look.tools = tools;
                reel.look_like(repo, look)?;
                self.say(word);
            }
            Key::Char('T') => {
                let thinking = reel.look().thinking;
                let mut look = reel.look().clone();
                look.thinking = !thinking;
                reel.look_like(repo, look)?;
                self.say(if thinking {
                    "thoughts are left out"
                } else {
                    "thoughts are shown"
                });
            }
            Key::Enter => self.open(repo)?,
            _ => {}
        }
        Ok(())
    }

    /// Opens or closes the chosen message; a marker opens to what it stands for.
    fn open(&mut self, repo: &Repo) -> Result<()> {
        let (width, height) = self.body();
        let Some(tip) = self.tip else { return Ok(()) };
        let is_outer = self.reels.inside.is_empty();
        let Some(reel) = self.reels.top() else {
            return Ok(());
        };
        let Some((place, row)) = reel.chosen_row(repo)? else {
            return Ok(());
        };
        let (id, placed) = (row.entry.id, row.entry.placed);
        match placed {
            // The first of what is inside is the marker itself.
            Some(kind) if kind.marks() && (is_outer || place > 0) => {
                let talk = Conversation::replaced_by(repo, &tip, &id.commit)?;
                let hidden = talk.len().saturating_sub(1) as u64;
                let hidden = plural(hidden, "message");
                let title = format!("{}: {hidden} hidden", kind.as_str());
                let directory = self.directory.clone();
                let mut inside = Reel::open(talk, repo, (width, height), directory)?;
                inside.go_start(repo)?;
                inside.toggle(repo)?;
                self.reels.inside.push((title, inside));
                Ok(())
            }
            _ => reel.toggle(repo),
        }
    }

    /// From the window to the transcript, or back; what is chosen stays.
    fn other(&mut self, repo: &Repo) -> Result<()> {
        self.reels.inside.clear();
        let (Some(tip), Some(reel)) = (self.tip, &self.reels.outer) else {
            return Ok(());
        };
        let was_end = reel.is_at_end();
        let place = reel.chosen();
        let id = place.and_then(|place| reel.id_of(place));
        let number = place.and_then(|place| reel.talk().listed().number_at(place));
        let (row, look) = (reel.row(), reel.look().clone());
        self.which = match self.which {
            Which::Window(_) => Which::Transcript,
            Which::Transcript | Which::All => Which::Window(None),
        };
        let talk = self.conversation(repo, &tip)?;
        let near = number.and_then(|number| talk.listed().place_of(number));
        let place = match id {
            Some(id) => talk.place_of(repo, &id, near.unwrap_or(0))?.or(near),
            None => None,
        };
        let (width, height) = self.body();
        let mut reel = Reel::open(talk, repo, (width, height), self.directory.clone())?;
        reel.look_like(repo, look)?;
        if let Some(place) = place.filter(|_| !was_end) {
            reel.go_to(repo, place, row)?;
        }
        self.reels.outer = Some(reel);
        Ok(())
    }

    fn conversation(&self, repo: &Repo, tip: &CommitHash) -> Result<Conversation> {
        use tract::ingest::Scope;
        let found = match self.which {
            Which::Window(_) => Conversation::scroll(repo, tip, self.window),
            Which::Transcript => Conversation::open(repo, tip, Scope::Transcript),
            Which::All => Conversation::open(repo, tip, Scope::All),
        };
        Ok(found?.going_on(self.standing.goes_on))
    }

    /// The chosen message as it is: its text, or, if it holds more than text, its JSON.
    fn copy(&mut self, repo: &Repo) -> Result<Wish> {
        let reel = self.reels.top();
        let chosen = reel.and_then(|reel| Some((reel.chosen()?, reel.talk())));
        let message = chosen.map(|(place, talk)| talk.message(repo, place));
        let Some((id, message)) = message.transpose()?.flatten() else {
            return Ok(Wish::None);
        };
        let is_text = |part: &Part| matches!(part, Part::Text { .. });
        let text = if message.parts.iter().all(is_text) {
            words(&message.parts)
        } else {
            message.canonical()
        };
        let what = format!(
            "copied {} ({} bytes)",
            id.commit.short(),
            grouped(text.len() as u64)
        );
        Ok(Wish::Copy(text, what))
    }

    /// What the chosen marker stands for and nothing says any more; without one, what the newest does.
    fn audited(&mut self, repo: &Repo) -> Result<Wish> {
        let row = self.reels.top().map(|reel| reel.chosen_row(repo));
        let row = row.transpose()?.flatten().map(|(_, row)| row.entry);
        let marker = row.filter(|entry| entry.placed.is_some_and(HideKind::marks));
        let mut words = vec!["audit".to_owned()];
        words.extend(marker.map(|entry| entry.id.commit.to_string()));
        Ok(Wish::Run(words))
    }

    fn picked(&mut self, command: &'static str, repo: &Repo) -> Result<Wish> {
        self.mode = self.home();
        let row = self.reels.top().map(|reel| reel.chosen_row(repo));
        let Some((_, row)) = row.transpose()?.flatten() else {
            return Ok(Wish::None);
        };
        let name = match (command, row.number) {
            ("reset", Some(number)) => return Ok(Wish::Rewind(format!(":{number}"))),
            (_, Some(number)) => format!(":{number}"),
            ("restore", None) => row.entry.id.to_string(),
            _ => {
                self.say(Label::Error.of(match command {
                    "drop" => "that message is hidden already",
                    _ => "that message is hidden: nothing to go back to",
                }));
                return Ok(Wish::None);
            }
        };
        Ok(Wish::Run(vec![command.to_owned(), name]))
    }

    fn type_key(&mut self, key: &Key) -> Wish {
        let mode = self.mode;
        let typed = self.prompt.take(key);
        if typed == Typed::Going {
            return Wish::None;
        }
        self.mode = self.left();
        let Typed::Done(text) = typed else {
            return Wish::None;
        };
        if mode == Mode::Again {
            let text = text.trim();
            if text.is_empty() {
                return Wish::None;
            }
            let words = ["commit", "-r", "user", "-m", text];
            return Wish::Run(words.map(str::to_owned).to_vec());
        }
        if mode == Mode::Summary {
            let text = text.trim();
            if text.is_empty() {
                self.say("no summary, nothing was changed");
                return Wish::None;
            }
            return Wish::Run(vec!["compact".into(), "-m".into(), text.into()]);
        }
        if mode == Mode::File {
            let file = text.trim();
            if file.is_empty() {
                self.say("no name, nothing was written");
                return Wish::None;
            }
            return Wish::Run(vec!["export".into(), "-o".into(), file.into()]);
        }
        match slash::parse(text.trim_end(), self.summariser.as_deref()) {
            Some(slash) => return self.command(slash),
            None => self.begin_search(text.strip_prefix('/').unwrap_or(&text)),
        }
        Wish::None
    }

    fn command(&mut self, slash: Slash) -> Wish {
        match slash {
            Slash::Run(words) => return Wish::Run(words),
            Slash::Rewind(to) => return Wish::Rewind(to),
            Slash::Quit => return Wish::Quit,
            Slash::Summary => {
                self.mode = Mode::Summary;
                self.prompt.begin("");
            }
            Slash::File => {
                self.mode = Mode::File;
                self.prompt.begin("");
            }
            Slash::Pick(command) => self.mode = Mode::Pick(command),
        }
        Wish::None
    }

    /// A key while the user says something. What no line has a use for is the reader's.
    fn say_key(&mut self, key: &Key, repo: &Repo) -> Result<Wish> {
        let Some(speech) = &mut self.speech else {
            return Ok(Wish::None);
        };
        let is_empty = speech.text().is_empty();
        match key {
            Key::PageUp | Key::PageDown | Key::Ctrl('o') => return self.reading_key(key, repo),
            Key::Ctrl('d') if is_empty => return Ok(Wish::Quit),
            Key::Ctrl('c') if is_empty => {
                self.say("/quit or ctrl+d leaves");
                return Ok(Wish::None);
            }
            // It is still there when it is gone back to.
            Key::Escape => {
                self.mode = Mode::Reading;
                return Ok(Wish::None);
            }
            Key::Backspace if is_empty => return Ok(Wish::None),
            Key::Enter if self.answer.is_some() => {
                self.say("an answer is on its way; esc cancels it");
                return Ok(Wish::None);
            }
            _ => {}
        }
        let Typed::Done(text) = speech.take(key) else {
            return Ok(Wish::None);
        };
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if text.is_empty() {
            return Ok(Wish::None);
        }
        if word == slash::SAVE {
            return Ok(Wish::Save(rest.trim().to_owned()));
        }
        if let Some(slash) = slash::parse(text, self.summariser.as_deref()) {
            return Ok(self.command(slash));
        }
        if text.starts_with("//") {
            return Ok(Wish::Ask(text[1..].to_owned()));
        }
        if word.starts_with('/') && !word[1..].contains('/') {
            let what = format!("there is no {word} here; with two slashes it is said");
            self.say(Label::Error.of("error: ") + what);
            return Ok(Wish::None);
        }
        Ok(Wish::Ask(text.to_owned()))
    }

    /// Lets what the user said be edited before it is said again.
    pub fn edit(&mut self, text: &str) {
        match &mut self.speech {
            Some(speech) => {
                speech.begin(text);
                self.mode = Mode::Say;
            }
            None => {
                self.prompt.begin(text);
                self.mode = Mode::Again;
            }
        }
    }

    /// What keys mean where nothing is asked for.
    fn home(&self) -> Mode {
        match self.speech {
            Some(_) => Mode::Say,
            None => Mode::Reading,
        }
    }

    /// The same after a line that was begun there.
    fn left(&self) -> Mode {
        match self.mode {
            Mode::Summary | Mode::Again | Mode::File => self.home(),
            _ => Mode::Reading,
        }
    }

    fn sheet_key(&mut self, key: &Key) -> Wish {
        let height = self.body().1;
        let title = self.sheet.as_ref().map(|sheet| sheet.title.as_str());
        match key {
            Key::Escape | Key::Char('q' | '?') | Key::Ctrl('c') | Key::Enter => self.sheet = None,
            Key::Char('o') if title == Some(OPERATIONS) => self.sheet = None,
            Key::Char('a') if title == Some(AUDIT) => self.sheet = None,
            Key::Char('z') | Key::Ctrl('z') => return Wish::Run(vec!["undo".into()]),
            Key::Char('Z') | Key::Ctrl('y') => return Wish::Run(vec!["redo".into()]),
            key => {
                if let Some(sheet) = &mut self.sheet {
                    sheet.take(key, height);
                }
            }
        }
        Wish::None
    }

    /// Looks for a text, from what is chosen upwards. `//` searches for what would be a command.
    fn begin_search(&mut self, text: &str) {
        let text = text.strip_prefix('/').unwrap_or(text).trim();
        if !text.is_empty() {
            self.seeking.last = Some(text.to_owned());
        }
        self.search_again(Way::Up);
        // What is chosen counts as well.
        if let Some(search) = &mut self.seeking.search {
            search.at += 1;
        }
    }

    fn search_again(&mut self, way: Way) {
        let Some(text) = self.seeking.last.clone() else {
            return self.say("nothing was searched for yet: /");
        };
        let Some(reel) = self.reels.top() else { return };
        let Some(chosen) = reel.chosen() else { return };
        let at = match way {
            Way::Up => chosen,
            Way::Down => chosen + 1,
        };
        self.seeking.search = Some(Search { text, way, at });
    }

    fn search_step(&mut self, repo: &Repo) -> Result<()> {
        let Some(mut search) = self.seeking.search.take() else {
            return Ok(());
        };
        let Some(reel) = self.reels.top() else {
            return Ok(());
        };
        match search.step(reel.talk(), repo)? {
            Found::At(place) => reel.reveal(repo, place, &search.text)?,
            Found::NotYet => self.seeking.search = Some(search),
            Found::Nowhere => {
                let (word, other) = match search.way {
                    Way::Up => ("earlier", "N"),
                    Way::Down => ("later", "n"),
                };
                let text = search.text;
                let line = format!("no {word} '{text}'; the other way: {other}");
                self.say(Label::Warning.of(line));
            }
        }
        Ok(())
    }

    /// The columns and rows of a conversation: a bar above it, a line below (and one more where it is
    /// said on), a mark before each line.
    fn body(&self) -> (usize, usize) {
        let (width, height) = self.size;
        let others = 2 + usize::from(self.speech.is_some());
        let rows = height.saturating_sub(others).max(1);
        (width.saturating_sub(1).max(1), rows)
    }
}

/// The title of what a compaction took away.
const AUDIT: &str = "tract audit";
/// The title of the operations.
pub const OPERATIONS: &str = "operations";
