//! The first screen: a branch or a session is chosen by typing.
//!
//! What is known of each is read a few at a time, so that the screen is there at once. Outside of a repository the same
//! screen lists the sessions that tools have left.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use tract::Result;
use tract::hash::CommitHash;
use tract::ingest;
use tract::ingest::tool_dirs::SessionFile;
use tract::model::{Encoding, Millis, RefName, RefValue};
use tract::render::{Calendar, Label, Line, columns, plural};
use tract::repo::{About, Repo};

use super::help;
use super::key::Key;
use super::preview::Preview;
use super::prompt::{Prompt, Typed};
use super::reader::Picture;

/// How long rows are read for between two looks at the keys.
const SLICE: Duration = Duration::from_millis(25);

/// What stands between the list and what is beside it.
const BETWEEN: &str = "│ ";
/// The columns of that, and of the mark before a line.
const MARKS: usize = 3;
/// The most columns of a directory's name.
const DIRECTORY: usize = 24;

/// The lines of history that there are, and what was typed to find one.
pub struct Chooser {
    rows: Vec<Row>,
    /// How many of them are known.
    known: usize,
    prompt: Prompt,
    /// Which of those that fit.
    at: usize,
    top: usize,
    /// Whether those of other directories are shown.
    everywhere: bool,
    /// Whether the keys are shown instead.
    helps: bool,
    size: (usize, usize),
    calendar: Calendar,
    /// What is said at the bottom until the next key.
    said: Option<Line>,
    /// What stands beside the list.
    preview: Preview,
}

struct Row {
    place: Place,
    about: About,
    /// Whether it belongs to the working directory.
    is_here: bool,
    /// All that can be typed to find it.
    text: String,
}

/// Where a conversation is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// In the repository.
    Ref(RefName, CommitHash),
    /// In a tool's file, with the tool's name.
    File(PathBuf, &'static str),
}

impl Place {
    /// What it is called.
    fn name(&self) -> &str {
        match self {
            Self::Ref(name, _) => name.short(),
            Self::File(_, tool) => tool,
        }
    }
}

/// What became of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chose {
    Going,
    /// This one.
    Name(RefName),
    /// This one, which is not imported.
    File(PathBuf),
    /// None.
    Left,
}

impl Chooser {
    /// All branches, and the sessions that no branch stands for.
    pub fn open(repo: &Repo, calendar: Calendar, size: (usize, usize)) -> Result<Self> {
        let mut rows: Vec<Row> = Vec::new();
        for prefix in [RefName::HEADS, "refs/sessions/"] {
            for (name, value) in repo.references(prefix)? {
                let RefValue::Commit(tip) = value else {
                    continue;
                };
                let is_new =
                    |row: &Row| !matches!(&row.place, Place::Ref(_, known) if *known == tip);
                if name.is_branch() || rows.iter().all(is_new) {
                    rows.push(Row {
                        text: name.short().to_lowercase(),
                        place: Place::Ref(name, tip),
                        about: About::default(),
                        is_here: true,
                    });
                }
            }
        }
        Ok(Self::of(rows, calendar, size))
    }

    /// The sessions that tools have left, the newest first; some of them in the directory that one is in.
    pub fn of_files(
        found: Vec<SessionFile>,
        here: &[PathBuf],
        calendar: Calendar,
        size: (usize, usize),
    ) -> Self {
        let row = |session: SessionFile| {
            let since = session
                .modified
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            Row {
                text: session.format.name.to_owned(),
                about: About {
                    tool: Some(session.format.to_string()),
                    last: Some(Millis(since.as_millis() as i64)),
                    ..About::default()
                },
                is_here: here.contains(&session.path),
                place: Place::File(session.path, session.format.name),
            }
        };
        let rows: Vec<Row> = found.into_iter().map(row).collect();
        let everywhere = rows.iter().all(|row| !row.is_here);
        Self {
            everywhere,
            ..Self::of(rows, calendar, size)
        }
    }

    fn of(rows: Vec<Row>, calendar: Calendar, size: (usize, usize)) -> Self {
        Self {
            rows,
            known: 0,
            prompt: Prompt::default(),
            at: 0,
            top: 0,
            everywhere: false,
            helps: false,
            size,
            calendar,
            said: None,
            preview: Preview::default(),
        }
    }

    /// Reads the conversation that is chosen, where there is room beside the list.
    pub fn look(&mut self, repo: &Repo, encoding: Encoding) -> Result<()> {
        // While the list is read, it moves.
        if self.is_busy() || self.helps || Preview::list_cols(self.size.0).is_none() {
            return Ok(());
        }
        let tip = match self.fitting().get(self.at).map(|row| &row.place) {
            Some(Place::Ref(_, tip)) => *tip,
            _ => return Ok(()),
        };
        self.preview.read(repo, &tip, encoding)
    }

    /// The lines with what stands beside them, where there is room.
    fn beside(&self, mut lines: Vec<(bool, Line)>, height: usize) -> Vec<(bool, Line)> {
        let Some(cols) = Preview::list_cols(self.size.0) else {
            return lines;
        };
        let Some(row) = self.fitting().get(self.at).copied() else {
            return lines;
        };
        let room = self.size.0.saturating_sub(cols + MARKS);
        let shown = self.preview.lines(&row.about, room, height);
        lines.resize_with(lines.len().max(shown.len()), || (false, Line::new()));
        let mut shown = shown.into_iter();
        let both = lines.into_iter().map(|(is_chosen, line)| {
            let line = line.cut(cols).left(cols) + Label::Dim.of(BETWEEN);
            (is_chosen, line + shown.next().unwrap_or_default())
        });
        both.collect()
    }

    /// Says something at the bottom.
    pub fn say(&mut self, line: impl Into<Line>) {
        self.said = Some(line.into());
    }

    /// How many there are to choose from.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is more to read.
    pub fn is_busy(&self) -> bool {
        self.known < self.rows.len()
    }

    /// Reads what is known of some more.
    pub fn go_on(&mut self, repo: Option<&Repo>, here: &Path) -> Result<()> {
        let from = Instant::now();
        while self.known < self.rows.len() && from.elapsed() < SLICE {
            let row = &mut self.rows[self.known];
            let mut asked = None;
            match (&row.place, repo) {
                (Place::Ref(_, tip), Some(repo)) => {
                    row.about = repo.about(tip)?;
                    asked = Some(repo.asked_first(&row.about)?);
                    row.is_here = match &row.about.cwd {
                        Some(cwd) => Path::new(cwd) == here,
                        // What was written here by hand has none; where a tool's session ran is not known.
                        None => row.about.tool.is_none(),
                    };
                }
                (Place::Ref(..), None) => {}
                (Place::File(path, _), _) => asked = row.about.learn(path),
            }
            let about = &row.about;
            let said = [&about.title, &about.prompt, &asked, &about.cwd, &about.tool];
            for text in said.into_iter().flatten() {
                row.text = format!("{} {}", row.text, text.to_lowercase());
            }
            self.known += 1;
        }
        if !self.is_busy() {
            let chosen = self.fitting().get(self.at).map(|row| row.place.clone());
            self.rows
                .sort_by_key(|row| std::cmp::Reverse(row.about.last));
            let fitting = self.fitting();
            let at = fitting
                .iter()
                .position(|row| Some(&row.place) == chosen.as_ref());
            self.at = at.filter(|_| self.at > 0).unwrap_or(0);
            if self.rows.iter().all(|row| !row.is_here) {
                self.everywhere = true;
            }
        }
        Ok(())
    }

    /// The screen has another size.
    pub fn resize(&mut self, size: (usize, usize)) {
        self.size = size;
    }

    /// Takes a key.
    pub fn take(&mut self, key: &Key) -> Chose {
        self.said = None;
        let is_asked = *key == Key::Char('?') && self.prompt.text().is_empty();
        if self.helps || is_asked {
            self.helps = !self.helps;
            return Chose::Going;
        }
        let fitting = self.fitting().len();
        let page = self.height().max(1);
        match key {
            Key::Up | Key::Ctrl('p') => self.at = self.at.saturating_sub(1),
            Key::Down | Key::Ctrl('n') => self.at += 1,
            Key::PageUp => self.at = self.at.saturating_sub(page),
            Key::PageDown => self.at += page,
            Key::Tab | Key::BackTab => {
                let some = self.rows.iter().any(|row| row.is_here);
                self.everywhere = !self.everywhere || !some;
                self.at = 0;
            }
            Key::Enter => {
                return match self.fitting().get(self.at) {
                    Some(row) => match &row.place {
                        Place::Ref(name, _) => Chose::Name(name.clone()),
                        Place::File(path, _) => Chose::File(path.clone()),
                    },
                    None => Chose::Going,
                };
            }
            // What can be taken back is not given up.
            Key::Backspace if self.prompt.text().is_empty() => {}
            key => match self.prompt.take(key) {
                Typed::Left => return Chose::Left,
                _ => self.at = 0,
            },
        }
        self.at = self.at.min(fitting.saturating_sub(1));
        Chose::Going
    }

    /// What stands on the screen.
    pub fn picture(&mut self) -> Picture {
        let (width, height) = (self.size.0.saturating_sub(1), self.height());
        if self.helps {
            let lines = help::of_chooser().into_iter().take(height);
            return Picture {
                title: "keys".into(),
                lines: lines.map(|line| (false, line.cut(width))).collect(),
                bottom: Label::Dim.of("any key goes back"),
                ..Picture::default()
            };
        }
        self.top = self.top.min(self.at);
        if self.at >= self.top + height {
            self.top = self.at + 1 - height;
        }
        let fitting = self.fitting();
        let names = fitting
            .iter()
            .map(|row| columns::width_cols(row.place.name()));
        let list = Preview::list_cols(self.size.0);
        let name = names.max().unwrap_or(0);
        let name = name.min(list.unwrap_or(width) / 3).max(4);
        let directories = fitting.iter().filter_map(|row| row.about.directory());
        let directory = directories.map(|name| columns::width_cols(&name)).max();
        let directory = directory.filter(|_| self.everywhere && list.is_none());
        let directory = directory.map(|cols| cols.min(DIRECTORY));
        let shown = fitting.iter().enumerate().skip(self.top).take(height);
        let lines: Vec<(bool, Line)> = shown
            .map(|(at, row)| {
                (
                    at == self.at,
                    self.line(row, name, directory, list.is_none()).cut(width),
                )
            })
            .collect();
        let lines = self.beside(lines, height);
        let count = fitting.len();
        let hidden = self.rows.len() - self.rows.iter().filter(|row| self.is_near(row)).count();
        let before = Label::Strong.of("find: ");
        let (mut bottom, column) = self.prompt.line(&before, self.size.0);
        let keys = match (self.everywhere, hidden) {
            (true, 0) if self.rows.iter().all(|row| !row.is_here) => {
                "   enter opens · ? keys · esc leaves".to_owned()
            }
            (true, _) => "   tab only here · enter opens · ? keys · esc leaves".to_owned(),
            (false, 0) => "   enter opens · ? keys · esc leaves".to_owned(),
            (false, more) => {
                format!("   tab {more} more elsewhere · enter opens · ? keys · esc leaves")
            }
        };
        match &self.said {
            Some(said) => bottom = said.clone().cut(self.size.0),
            None => bottom.fit(Label::Dim.of(keys), Some(self.size.0)),
        }
        Picture {
            title: if self.everywhere {
                "conversations everywhere".into()
            } else {
                "conversations here".into()
            },
            position: match count {
                0 => "nothing fits".into(),
                count => format!("{} of {count}", self.at + 1).into(),
            },
            lines,
            bottom,
            cursor: Some(column),
        }
    }

    fn line(&self, row: &Row, width: usize, directory: Option<usize>, counts: bool) -> Line {
        let label = match &row.place {
            Place::Ref(name, _) if name.is_branch() => Label::Branch,
            _ => Label::Session,
        };
        let about = &row.about;
        let mut line = label.of(row.place.name()).cut(width).left(width) + "  ";
        let age = about.last.map(|time| self.calendar.ago(time));
        line += Label::Time.of(age.unwrap_or_default()).left(14) + " ";
        // What stands beside the list says it, too.
        if counts {
            let messages = plural(about.messages as u64, "message");
            line += Label::Dim.of(messages).right(15) + "  ";
        }
        if let Some(cols) = directory {
            let name = about.directory().unwrap_or_default();
            line += Label::Dim.of(name).cut(cols).left(cols) + "  ";
        }
        line + match (&about.title, &about.prompt) {
            (Some(title), _) => Label::Text.of(title.as_str()),
            (None, Some(prompt)) => Label::Text.of(prompt.as_str()),
            (None, None) => Line::new(),
        }
    }

    fn height(&self) -> usize {
        self.size.1.saturating_sub(2).max(1)
    }

    fn is_near(&self, row: &Row) -> bool {
        self.everywhere || row.is_here
    }

    /// Those that all words that were typed are in.
    fn fitting(&self) -> Vec<&Row> {
        let typed = self.prompt.text().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let fits = |row: &&Row| words.iter().all(|word| row.text.contains(word));
        let rows = self.rows.iter().filter(|row| self.is_near(row));
        rows.filter(fits).collect()
    }
}

/// What is known of a conversation.
trait Known {
    /// Reads the session's file; gives what was typed first in it.
    fn learn(&mut self, path: &Path) -> Option<String>;

    /// The last name of the directory that the session ran in.
    fn directory(&self) -> Option<String>;
}

impl Known for About {
    fn directory(&self) -> Option<String> {
        let name = Path::new(self.cwd.as_ref()?).file_name()?;
        Some(name.to_string_lossy().into_owned())
    }

    fn learn(&mut self, path: &Path) -> Option<String> {
        match ingest::inspect(path) {
            Ok(found) => {
                self.title = found.title;
                self.prompt = found.prompt;
                self.cwd = found.cwd;
                self.messages = found.messages as usize;
                found.asked
            }
            // It is told when it is opened, too.
            Err(error) => {
                self.title = Some(format!("({error})"));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;
    use tract::model::{Draft, Message, Millis, Role};
    use tract::repo::{Call, CommitOptions};

    #[test]
    fn one_is_found_by_its_name_or_by_what_was_asked_first() {
        let repo = Repo::ephemeral().expect("made");
        let say = |text: &str| [Draft::append(Message::text(Role::User, text))];
        let commit = |text: &str| {
            let done = repo.commit(Call::default(), &say(text), &CommitOptions::default());
            done.expect("commits")[0].hash
        };
        let lines = "and of which size, for the winter comes ".repeat(9);
        let first = commit(&format!(
            "Which Sheds are there? {lines}Look at the far Orchard too."
        ));
        commit("and which are green?");
        for name in ["garden", "cellar"] {
            let name = RefName::branch(name).expect("a name");
            let made = repo.create_branch(Call::default(), &name, &first.to_string());
            made.expect("made");
        }
        let calendar = Calendar {
            now: Millis(0),
            zone: TimeZone::UTC,
            ages: true,
        };
        let mut chooser = Chooser::open(&repo, calendar, (60, 6)).expect("opens");
        assert_eq!(chooser.len(), 3);
        while chooser.is_busy() {
            chooser
                .go_on(Some(&repo), Path::new("/nowhere"))
                .expect("reads");
        }
        let type_in = |chooser: &mut Chooser, text: &str| {
            chooser.take(&Key::Ctrl('u'));
            text.chars().for_each(|c| {
                chooser.take(&Key::Char(c));
            });
            chooser.picture().position.text()
        };
        let shown = |chooser: &mut Chooser, width: usize| {
            chooser.resize((width, 12));
            chooser.look(&repo, Encoding::default()).expect("reads");
            let lines = chooser.picture().lines.into_iter();
            lines.map(|(_, line)| line.text()).collect::<Vec<_>>()
        };
        let wide = shown(&mut chooser, 120);
        let fits = |line: &String| columns::width_cols(line) < 120;
        assert!(wide.iter().all(fits), "{wide:?}");
        let first = "│ user  Which Sheds are there?";
        let count = |lines: &[String]| lines.iter().filter(|line| line.contains(first)).count();
        assert_eq!(count(&wide), 1, "{wide:?}");
        chooser.take(&Key::Down);
        chooser.take(&Key::Down);
        let wide = shown(&mut chooser, 120);
        let last = wide
            .iter()
            .any(|line| line.contains("│ user  and which are green?"));
        assert!(last && count(&wide) == 1, "{wide:?}");
        let narrow = shown(&mut chooser, 80);
        assert!(narrow.iter().all(|line| !line.contains('│')), "{narrow:?}");
        assert_eq!(type_in(&mut chooser, "sheds"), "1 of 3");
        assert_eq!(type_in(&mut chooser, "gar shed"), "1 of 1");
        assert_eq!(type_in(&mut chooser, "far orchard"), "1 of 3");
        assert_eq!(type_in(&mut chooser, "mansion"), "nothing fits");
        assert_eq!(chooser.take(&Key::Enter), Chose::Going);
        type_in(&mut chooser, "cell");
        let name = RefName::branch("cellar").expect("a name");
        assert_eq!(chooser.take(&Key::Enter), Chose::Name(name));
        assert_eq!(chooser.take(&Key::Escape), Chose::Left);
    }
}
