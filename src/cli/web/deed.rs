//! What a page can do: a command of the program, put together of what a form sends.
//!
//! It is parsed and run as if it had been typed, so that what it says, what it refuses and how the log of operations
//! calls it are the same. Deliberately absent: options that no form sends, and any command that runs another one.

use tract::model::base64;
use tract::repo::{Expected, Repo};

use super::Asked;
use crate::cli::drawing::position;
use crate::cli::{App, Cli, Failure, Result, command};

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A message is never hidden.
    Pin,
    /// It may be hidden again.
    Unpin,
    /// A message is hidden.
    Drop,
    /// What was hidden comes back.
    Restore,
    /// A message is copied to the end of a branch.
    Pick,
    /// The oldest messages are hidden.
    Truncate,
    /// A summary stands in place of messages.
    Compact,
    /// The newest command is reversed.
    Undo,
    /// All commands behind one are reversed.
    UndoTo,
    /// The newest undo is reversed.
    Redo,
}

/// All of them, by the word that a form sends, with the heading of the page about each.
const DEEDS: [(&str, &str, Deed); 10] = [
    ("pin", "Pin a message", Deed::Pin),
    ("unpin", "Make a message normal again", Deed::Unpin),
    ("drop", "Drop a message", Deed::Drop),
    ("restore", "Restore a message", Deed::Restore),
    ("pick", "Copy a message", Deed::Pick),
    ("truncate", "Hide the oldest messages", Deed::Truncate),
    (
        "compact",
        "Put a summary in place of messages",
        Deed::Compact,
    ),
    ("undo", "Undo", Deed::Undo),
    ("undo-to", "Undo back to a point", Deed::UndoTo),
    ("redo", "Redo", Deed::Redo),
];

impl Deed {
    /// The deed that a form names.
    pub fn sent(asked: &Asked) -> Result<Self> {
        let word = asked.sent("deed").unwrap_or_default();
        let found = DEEDS.iter().find(|(own, ..)| *own == word);
        let unknown = || Failure::usage(format!("there is nothing that '{word}' does"));
        found.map(|(.., deed)| *deed).ok_or_else(unknown)
    }

    fn entry(self) -> (&'static str, &'static str) {
        let found = DEEDS.iter().find(|(.., deed)| *deed == self);
        found.map_or(("", ""), |(word, heading, _)| (word, heading))
    }

    /// What a form sends for it.
    pub fn word(self) -> &'static str {
        self.entry().0
    }

    /// How a page about it is headed.
    pub fn heading(self) -> &'static str {
        self.entry().1
    }

    /// Whether it is about all refs that commands moved, and not about one branch.
    pub const fn is_of_log(self) -> bool {
        matches!(self, Self::Undo | Self::UndoTo | Self::Redo)
    }

    /// The command with what a form sent, as it would be typed.
    fn command(self, asked: &Asked) -> Result<Vec<String>> {
        let of_message = |name: &str| {
            let rev = needed(asked, "rev")?;
            Ok(vec![name.to_owned(), "--".to_owned(), rev.to_owned()])
        };
        let number = |name: &str| {
            let text = needed(asked, name)?.trim();
            let wrong = || Failure::usage(format!("'{text}' is no number of at least 1"));
            let number = text.parse::<u64>().ok().filter(|number| *number > 0);
            number.ok_or_else(wrong)
        };
        match self {
            Self::Pin => of_message("pin"),
            Self::Unpin => of_message("unpin"),
            Self::Drop => of_message("drop"),
            Self::Restore => of_message("restore"),
            Self::Pick => of_message("pick"),
            Self::Truncate => Ok(vec![
                "truncate".to_owned(),
                format!("--keep={}", number("keep")?),
            ]),
            Self::Compact => {
                let mut words = vec!["compact".to_owned(), format!("--message={}", text(asked)?)];
                let keep = asked
                    .sent("keep")
                    .is_some_and(|keep| !keep.trim().is_empty());
                if keep {
                    words.push(format!("--keep={}", number("keep")?));
                }
                Ok(words)
            }
            // Nothing has come since the page was made, so the newest is what it showed.
            Self::Undo => Ok(vec!["undo".to_owned()]),
            Self::UndoTo => Ok(vec!["undo".to_owned(), format!("--to={}", number("to")?)]),
            Self::Redo => Ok(vec!["redo".to_owned()]),
        }
    }

    /// Says what it would do.
    pub fn foretell(self, asked: &Asked, app: &mut App) -> Result<()> {
        match self {
            Self::Undo => {
                let repo = app.repo()?;
                let entry = undoable(&repo)?;
                position::undone("Would undo", &entry, &repo, app)
            }
            Self::Redo => {
                let repo = app.repo()?;
                for entry in repo.redoable()? {
                    position::undone("Would do again", &entry, &repo, app)?;
                }
                Ok(())
            }
            deed => {
                let mut words = deed.command(asked)?;
                words.insert(1, "--dry-run".to_owned());
                run(words, app)
            }
        }
    }

    /// Does it, if what it changes is as expected.
    pub fn carry_out(self, asked: &Asked, expected: Expected, app: &mut App) -> Result<()> {
        let words = self.command(asked)?;
        app.expect(expected);
        run(words, app)
    }
}

/// The operation that an undo would reverse.
pub fn undoable(repo: &Repo) -> Result<tract::repo::OperationEntry> {
    let found = repo.undoable()?;
    found.ok_or_else(|| tract::Error::NothingToUndo.into())
}

/// A value that a form has to send.
pub fn needed<'a>(asked: &'a Asked, name: &str) -> Result<&'a str> {
    let value = asked.sent(name).filter(|value| !value.trim().is_empty());
    value.ok_or_else(|| Failure::usage(format!("the form does not say: {name}")))
}

/// A text that was typed, with line ends as they are everywhere but in forms; or one that a page kept, letter by letter.
pub fn text(asked: &Asked) -> Result<String> {
    let kept = asked.sent("kept").filter(|kept| !kept.is_empty());
    let kept = kept.and_then(base64::decode);
    let text = match kept.and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) => text,
        None => needed(asked, "text")?.replace("\r\n", "\n"),
    };
    match text.trim() {
        "" => Err(Failure::usage("the summary is empty")),
        text => Ok(text.to_owned()),
    }
}

/// Runs a command of the program.
fn run(words: Vec<String>, app: &mut App) -> Result<()> {
    app.command = words.first().cloned().unwrap_or_default();
    let all = std::iter::once("tract".to_owned()).chain(words);
    let parsed = Cli::read(all).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        Failure::usage(first.strip_prefix("error: ").unwrap_or(first))
    })?;
    command::run(parsed.command, app)
}
