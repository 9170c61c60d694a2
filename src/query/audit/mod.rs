//! What a compaction took away: what the messages that it hid held, and what of that is still said.
//!
//! Facts are found by the shape of messages and calls (`held`), looked for in all that is still visible
//! (`said`), and ranked by how likely it is that somebody asks for them again (`rank`). No model is asked, and the
//! same messages give the same answer anywhere. Deliberately absent: what a fact means.

mod held;
mod keep;
mod rank;
mod said;
mod shell;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

pub use held::{Changes, FoundFact, HeldMessage, facts_of};
pub(crate) use keep::unsaid;
pub use keep::{Heard, Keep, Pin, pinned_text};
pub use said::Said;

use crate::context::Entry;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{EntryId, HideKind, Message, Operation};
use crate::repo::repository::Repo;
use crate::repo::{load, prompts};

/// A class of facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FactClass {
    /// What the user typed.
    Instruction,
    /// A point of a list of things to do that is not done.
    Task,
    /// A command that was run.
    Command,
    /// A file that was read or changed.
    File,
    /// What went wrong.
    Error,
    /// An address.
    Url,
    /// A name of the code or of a thing that has a number: `parse_amount`, `#123`, a hash.
    Name,
    /// A number, a version, a date.
    Number,
}

impl FactClass {
    /// All classes, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::Instruction,
        Self::Task,
        Self::Command,
        Self::File,
        Self::Error,
        Self::Url,
        Self::Name,
        Self::Number,
    ];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Task => "task",
            Self::Command => "command",
            Self::File => "file",
            Self::Error => "error",
            Self::Url => "url",
            Self::Name => "name",
            Self::Number => "number",
        }
    }
}

/// Something that hidden messages hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its class.
    pub class: FactClass,
    /// It, as it was written: a path, a command, a prompt. Hostile until escaped.
    pub text: String,
    /// What came of it: how a command ended, what mended an error. Hostile until escaped.
    pub outcome: Option<String>,
    /// The last message that holds it.
    pub entry: EntryId,
    /// How many times it is there.
    pub count: usize,
    /// Whether what is visible says it.
    pub is_said: bool,
}

/// What a hide took away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// How many messages it hides still.
    pub hidden: usize,
    /// What they hold, what is most likely to be missed first.
    pub facts: Vec<Fact>,
}

impl Audit {
    /// What nothing visible says, what is most likely to be missed first.
    pub fn lost(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(|fact| !fact.is_said)
    }

    /// How many facts of a class were held, and how many of them are still said.
    pub fn tally(&self, class: FactClass) -> (usize, usize) {
        let of = self.facts.iter().filter(|fact| fact.class == class);
        let said = of.clone().filter(|fact| fact.is_said).count();
        (of.count(), said)
    }
}

/// What is lost of hidden messages: pure, and the same for the same messages.
pub fn audit(hidden: &[HeldMessage<'_>], said: &Said, changes: Changes) -> Audit {
    let mut facts = facts_of(hidden, changes);
    rank::rank(&mut facts);
    let facts = facts.into_iter().map(|found| {
        let is_said = said.says(&found);
        Fact {
            is_said,
            ..found.fact
        }
    });
    Audit {
        hidden: hidden.len(),
        facts: facts.collect(),
    }
}

/// In small letters, white space folded.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.extend(word.chars().flat_map(char::to_lowercase));
    }
    folded
}

/// How many hidden messages are read at once.
const TOGETHER: usize = 256;

impl Repo {
    /// What a compaction, truncation or clear took away, as things stand at `tip`, or at the hide itself where that
    /// is not on the path to `tip`: what it hid and something brought back is not lost.
    ///
    /// ```
    /// use tract::rewrite::{Extent, Summary};
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, Role};
    /// use tract::render::edit::changed_files;
    ///
    /// let repo = Repo::ephemeral()?;
    /// let say = |role, text| Draft::append(Message::text(role, text));
    /// let talk = [say(Role::User, "Never touch the ledger of 1998."), say(Role::Assistant, "I won't.")];
    /// repo.commit(Call::default(), &talk, &CommitOptions::default())?;
    /// let (summary, options) = (Summary::Text("They talked."), SurgeryOptions::default());
    /// repo.compact(Call::default(), &Extent::All, summary, &options)?;
    /// let tip = repo.resolve(&On::Head, "HEAD")?;
    /// let audit = repo.audit(&tip, &tip, changed_files)?;
    /// assert_eq!(audit.lost().next().map(|fact| fact.text.as_str()), Some("Never touch the ledger of 1998."));
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn audit(&self, hide: &CommitHash, tip: &CommitHash, changes: Changes) -> Result<Audit> {
        let view = self.store.read()?;
        let commit = load::commit(&*view, hide)?.commit;
        let (Operation::Hide(_), Some(parent)) = (&commit.operation, &commit.parent) else {
            return Ok(Audit::default());
        };
        let before = load::context(&*view, parent)?;
        let after = load::context(&*view, hide)?;
        let tip = if view.is_ancestor(hide, tip)? {
            tip
        } else {
            hide
        };
        let now = load::context(&*view, tip)?;
        let ids = |entries: &mut dyn Iterator<Item = &Entry>| -> HashSet<EntryId> {
            entries.map(|entry| entry.id).collect()
        };
        let stayed = ids(&mut after.entries.iter());
        let visible = ids(&mut now.entries.iter());
        let gone = |entry: &&Entry| !stayed.contains(&entry.id) && !visible.contains(&entry.id);
        let hidden: Vec<Entry> = before.entries.iter().filter(gone).cloned().collect();
        let said = Said::of(load::messages(&*view, &now.entries)?.iter());
        let own = |entry: &Entry| !entry.placed.is_some_and(HideKind::marks);
        let contents: Vec<(CommitHash, ContentHash)> = hidden
            .iter()
            .map(|entry| (entry.id.commit, entry.content))
            .collect();
        let typed = prompts::typed_contents(&*view, &contents)?;
        let mut messages: Vec<Message> = Vec::with_capacity(hidden.len());
        for some in hidden.chunks(TOGETHER) {
            messages.extend(load::messages(&*view, some)?);
        }
        let held = hidden.iter().zip(&messages).zip(typed);
        let held = held.map(|((entry, message), typed)| HeldMessage {
            entry: entry.id,
            message,
            typed: typed && own(entry),
        });
        Ok(audit(&held.collect::<Vec<_>>(), &said, changes))
    }
}
