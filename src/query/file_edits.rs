//! What the calls on a path did to files: each edit, the prompt that it was made for, and the text that gave the
//! reason.
//!
//! The path is read newest first, and of its bodies those of messages with calls alone; whether an edit succeeded is
//! asked of its result. Hidden messages count as well, for the files were edited all the same. Deliberately absent: how
//! a call spells an edit, which is handed in, and what a command in a shell does to files, which no call says.

use std::collections::{BTreeMap, HashMap};

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::call::ends_in;
use crate::model::{Encoding, EntryId, Message, Millis, Part, Role};
use crate::repo::repository::Repo;
use crate::repo::{load, prompts};
use crate::store::{ContentRow, ListedCommit, View};

/// How many commits are read at once.
const PAGE: usize = 256;

/// Which edits.
#[derive(Clone, Debug, Default)]
pub struct FileEditOptions {
    /// Only of this file: its path, or the end of it by whole names.
    pub path: Option<String>,
    /// Leave out this commit and all that lead to it.
    pub until: Option<CommitHash>,
    /// At most so many; 0: all.
    pub limit: usize,
    /// Only from this time on; what bears no time is left out.
    pub since: Option<Millis>,
    /// Only up to this time; likewise.
    pub up_to: Option<Millis>,
}

/// What a call does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledEdit {
    /// The file, as the call spells it. Hostile until escaped.
    pub path: String,
    /// In what way.
    pub fate: FileFate,
    /// How many lines come.
    pub lines_added: usize,
    /// How many go.
    pub lines_removed: usize,
}

/// The way in which a file is edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFate {
    /// Pieces of it change.
    Changed,
    /// It is written whole, or text is put into it.
    Written,
    /// It is deleted.
    Deleted,
    /// It changes, and has this name from then on. Hostile until escaped.
    Moved(String),
}

/// What a call does to files, by its tool and arguments.
pub type EditsOfCall<'a> = &'a dyn Fn(&str, &str) -> Vec<CalledEdit>;

/// An edit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEditRow {
    /// The commit of the message that calls.
    pub hash: CommitHash,
    /// The message's number among the visible ones, from 1; none if it is hidden.
    pub number: Option<usize>,
    /// When, if that is known.
    pub time: Option<Millis>,
    /// The tool. Hostile until escaped.
    pub tool: String,
    /// What it did.
    pub edit: CalledEdit,
    /// What the tool gave back.
    pub outcome: EditOutcome,
    /// What the user had typed last.
    pub prompt: Option<Words>,
    /// What the assistant said last before it, since that prompt.
    pub reason: Option<Words>,
}

/// What came of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditOutcome {
    /// The tool gave a result.
    Done,
    /// The tool reported failure.
    Failed,
    /// There is no result.
    Unanswered,
}

impl EditOutcome {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unanswered => "unanswered",
        }
    }
}

/// What somebody said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The commit of the message.
    pub hash: CommitHash,
    /// The text. Hostile until escaped.
    pub text: String,
}

/// What was done to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedFile {
    /// The file, as the calls spell it. Hostile until escaped.
    pub path: String,
    /// How many edits there were that did not fail.
    pub edits: usize,
    /// How many failed.
    pub failed: usize,
    /// How many lines came in those that did not fail.
    pub lines_added: usize,
    /// How many went.
    pub lines_removed: usize,
    /// The newest edit, and when that was.
    pub last: (CommitHash, Option<Millis>),
}

impl EditedFile {
    /// What these edits come to, by file; `rows` stand newest first.
    pub fn of(rows: &[FileEditRow]) -> Vec<Self> {
        let mut files: BTreeMap<&str, Self> = BTreeMap::new();
        for row in rows {
            let file = files.entry(&row.edit.path).or_insert_with(|| Self {
                path: row.edit.path.clone(),
                edits: 0,
                failed: 0,
                lines_added: 0,
                lines_removed: 0,
                last: (row.hash, row.time),
            });
            if row.outcome == EditOutcome::Failed {
                file.failed += 1;
            } else {
                file.edits += 1;
                file.lines_added += row.edit.lines_added;
                file.lines_removed += row.edit.lines_removed;
            }
        }
        files.into_values().collect()
    }
}

impl Repo {
    /// The edits of files on the path that ends in `tip`, newest first, and whether there are older ones. Reads the
    /// path as far as it must, and the bodies of messages with calls on it.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn file_edits(
        &self,
        tip: &CommitHash,
        options: &FileEditOptions,
        edits_of: EditsOfCall<'_>,
    ) -> Result<(Vec<FileEditRow>, bool)> {
        let view = self.store.read()?;
        let mut search = Search {
            view: &*view,
            options,
            edits_of,
            rows: Vec::new(),
            prompts_at: 0,
            open_reasons: Vec::new(),
            answers: HashMap::new(),
        };
        let mut next = Some(*tip);
        while let Some(from) = next.filter(|_| !search.is_done()) {
            let page = view.listing(&from, options.until.as_ref(), PAGE, Encoding::default())?;
            let oldest = page.last().map(|listed| listed.row.commit.parent);
            next = oldest
                .flatten()
                .filter(|parent| options.until != Some(*parent));
            if page.len() < PAGE {
                next = None;
            }
            search.take(page)?;
        }
        let mut rows = search.rows;
        let limit = if options.limit == 0 {
            usize::MAX
        } else {
            options.limit
        };
        let more = rows.len() > limit;
        rows.truncate(limit);
        let context = load::context(&*view, tip)?;
        let numbers = context.positions();
        for row in &mut rows {
            let at = numbers.get(&EntryId::of(row.hash));
            row.number = at.map(|at| at + 1);
        }
        Ok((rows, more))
    }
}

/// A path on its way from its end to its root.
struct Search<'a> {
    view: &'a dyn View,
    options: &'a FileEditOptions,
    edits_of: EditsOfCall<'a>,
    rows: Vec<FileEditRow>,
    /// From which row on the prompt is not known yet.
    prompts_at: usize,
    /// The rows whose reason is not known yet.
    open_reasons: Vec<usize>,
    /// Which message answers a call: of those met so far the oldest.
    answers: HashMap<String, ContentHash>,
}

impl Search<'_> {
    /// Whether there are enough rows, one more than asked for, and the prompts of all are known.
    fn is_done(&self) -> bool {
        let limit = self.options.limit;
        limit > 0 && self.rows.len() > limit && self.prompts_at >= limit
    }

    /// Takes the next commits, newest first.
    fn take(&mut self, page: Vec<ListedCommit>) -> Result<()> {
        let has_calls = |row: &&ContentRow| row.calls > 0 && row.role == Role::Assistant;
        let said = page.iter().filter_map(|listed| listed.said.as_ref());
        let calling: Vec<ContentHash> = said.filter(has_calls).map(|row| row.hash).collect();
        let messages = load::contents(self.view, &calling)?;
        let messages: HashMap<ContentHash, Message> = calling.into_iter().zip(messages).collect();
        for listed in page {
            let Some(said) = &listed.said else { continue };
            if said.results > 0 {
                let answers = listed.uses.iter().flat_map(|uses| &uses.answers);
                for call in answers {
                    self.answers.insert(call.clone(), said.hash);
                }
            } else if said.role == Role::User {
                self.user(listed.row.hash, said)?;
            } else if said.role == Role::Assistant {
                match messages.get(&said.hash) {
                    Some(message) => self.calls(&listed, message)?,
                    None => self.reply(listed.row.hash, said)?,
                }
            }
        }
        Ok(())
    }

    /// What a user said before the edits whose prompt is not known yet.
    fn user(&mut self, hash: CommitHash, said: &ContentRow) -> Result<()> {
        if self.prompts_at == self.rows.len() {
            return Ok(());
        }
        if !prompts::typed(self.view, &[(hash, said)])?[0] {
            return Ok(());
        }
        let message = load::content(self.view, &said.hash)?;
        let prompt = Words {
            hash,
            text: message.typed_texts().join("\n"),
        };
        for row in &mut self.rows[self.prompts_at..] {
            row.prompt = Some(prompt.clone());
        }
        self.prompts_at = self.rows.len();
        self.open_reasons.clear();
        Ok(())
    }

    /// What the assistant said before edits.
    fn reply(&mut self, hash: CommitHash, said: &ContentRow) -> Result<()> {
        if self.open_reasons.is_empty() {
            return Ok(());
        }
        let message = load::content(self.view, &said.hash)?;
        if let Some(text) = spoken(&message.parts) {
            self.reasons(Words { hash, text });
        }
        Ok(())
    }

    fn reasons(&mut self, words: Words) {
        for at in self.open_reasons.drain(..) {
            self.rows[at].reason = Some(words.clone());
        }
    }

    /// The edits of a message, the last of its calls first.
    fn calls(&mut self, listed: &ListedCommit, message: &Message) -> Result<()> {
        let hash = listed.row.hash;
        if let Some(text) = spoken(&message.parts) {
            self.reasons(Words { hash, text });
        }
        let time = listed.row.commit.time;
        let is_before = |since: Millis| time.is_none_or(|time| time < since);
        let is_after = |up_to: Millis| time.is_none_or(|time| time > up_to);
        if self.options.since.is_some_and(is_before) || self.options.up_to.is_some_and(is_after) {
            return Ok(());
        }
        for (at, part) in message.parts.iter().enumerate().rev() {
            let Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } = part
            else {
                continue;
            };
            let edits = (self.edits_of)(name, arguments).into_iter().rev();
            for edit in edits.filter(|edit| self.is_meant(edit)).collect::<Vec<_>>() {
                let reason = spoken(&message.parts[..at]).map(|text| Words { hash, text });
                if reason.is_none() {
                    self.open_reasons.push(self.rows.len());
                }
                self.rows.push(FileEditRow {
                    hash,
                    number: None,
                    time,
                    tool: name.clone(),
                    edit,
                    outcome: self.outcome(id)?,
                    prompt: None,
                    reason,
                });
            }
        }
        Ok(())
    }

    fn is_meant(&self, edit: &CalledEdit) -> bool {
        let Some(wanted) = &self.options.path else {
            return true;
        };
        let is_it = |path: &str| ends_in(path, wanted) || ends_in(wanted, path);
        is_it(&edit.path) || matches!(&edit.fate, FileFate::Moved(to) if is_it(to))
    }

    fn outcome(&self, call: &str) -> Result<EditOutcome> {
        let Some(answer) = self.answers.get(call) else {
            return Ok(EditOutcome::Unanswered);
        };
        let message = load::content(self.view, answer)?;
        let failed = message.parts.iter().any(|part| {
            matches!(part, Part::ToolResult { call: of, .. } if of == call) && part.has_failed()
        });
        Ok(if failed {
            EditOutcome::Failed
        } else {
            EditOutcome::Done
        })
    }
}

/// The last of the texts that say anything.
fn spoken(parts: &[Part]) -> Option<String> {
    let texts = parts.iter().rev().filter_map(|part| match part {
        Part::Text { text } => Some(text.trim()),
        _ => None,
    });
    let mut said = texts.filter(|text| !text.is_empty());
    said.next().map(str::to_owned)
}
