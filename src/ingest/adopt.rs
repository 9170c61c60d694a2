//! What is new in a session, appended after a branch's own commits.
//!
//! The end of a session that is still written is made anew when it has grown: what the branch took
//! over of it then is continued where it stands, by an edit, or dropped where the session says
//! something else now.

use std::collections::{HashMap, VecDeque};

use crate::context::Order;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{
    Draft, EntryId, Hide, HideKind, Interval, Message, Millis, Operation, Part, RefName, RefValue,
};
use crate::repo::adoption::Adopted;
use crate::repo::chain::Chain;
use crate::repo::departure::Parting;
use crate::repo::expect::retried;
use crate::repo::{Repo, load, path};
use crate::store::{AdoptedRow, Tx};

/// Appends to `branch` the commits of `session` that it does not have yet, as new commits after
/// its own; returns how many. The vendor's hides come along and name the new commits.
///
/// # Errors
///
/// [`Error::UnknownRevision`] if the session isn't here; [`Error::NotOnPath`] if a hide of the
/// session covers what the branch does not have.
pub fn adopt(
    repo: &Repo,
    session: &RefName,
    branch: &RefName,
    now: Millis,
    what: &str,
) -> Result<u64> {
    retried(|| try_to_adopt(repo, session, branch, now, what))
}

fn try_to_adopt(
    repo: &Repo,
    session: &RefName,
    branch: &RefName,
    now: Millis,
    what: &str,
) -> Result<u64> {
    let tx = repo.store.begin_on(Some(branch), &mut Vec::new)?;
    let Some(theirs) = load::tip(&*tx, session)? else {
        return Err(Error::no_commit(session.short()));
    };
    let ours = load::tip(&*tx, branch)?;
    if ours.is_none() {
        branch.refuse_hash()?;
    }
    let (taken, base) = match &ours {
        None => (Adopted::default(), None),
        Some(ours) => {
            let taken = Adopted::of(&*tx, session, &theirs, ours)?;
            let base = match taken.newest() {
                // What a fork left aside stays aside.
                None => Parting::of(&*tx, (session, &theirs), (branch, ours))?.after,
                newest => newest,
            };
            (taken, base)
        }
    };
    let rows = tx.ancestors(&theirs, base.as_ref(), usize::MAX)?;
    let mut onto = Onto {
        tx: &*tx,
        chain: Chain::at(ours),
        became: taken
            .held
            .iter()
            .map(|row| (row.theirs, row.ours))
            .collect(),
        pairs: Vec::new(),
        stale: VecDeque::new(),
        order: None,
        now,
        added: 0,
    };
    if !rows.is_empty() {
        onto.know(&taken.stale)?;
    }
    let hashes: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
    let injected = tx.told_injected(&hashes)?;
    let told = tx
        .usage_records(&hashes)?
        .into_iter()
        .zip(tx.records(&hashes)?);
    for (row, (usage, records)) in rows.iter().zip(told).rev() {
        let Some(operation) = onto.operation(row.hash, &row.commit.operation)? else {
            continue;
        };
        let draft = Draft {
            settings: row.commit.settings.clone(),
            note: row.commit.note.clone(),
            origin: Some(row.hash),
            ..Draft::new(operation, Vec::new())
        };
        let hash = onto.push(&draft, row.commit.time)?;
        onto.pair(row.hash, hash);
        if let Some(record) = usage {
            tx.put_usage_record(&hash, &record)?;
        }
        for (source, spans) in records {
            tx.put_records(&hash, source, &spans)?;
        }
        if injected.contains(&row.hash) {
            tx.put_injected(&hash)?;
        }
    }
    onto.drop_stale()?;
    let Onto {
        chain,
        pairs,
        added,
        ..
    } = onto;
    tx.begin_moves(now, what)?;
    if let Some(tip) = chain.tip().filter(|_| added > 0) {
        tx.set_reference(branch, Some(&RefValue::Commit(tip)))?;
    }
    for pair in pairs {
        tx.put_adopted(session, pair)?;
    }
    tx.commit()?;
    Ok(added)
}

/// A branch while commits of a session are taken over.
struct Onto<'a> {
    tx: &'a dyn Tx,
    chain: Chain<'static>,
    /// What commits of the session became on the branch.
    became: HashMap<CommitHash, CommitHash>,
    /// Those of them that are to be remembered.
    pairs: Vec<AdoptedRow>,
    /// What the branch has of the session's end as it was, and what of that is not matched yet.
    stale: VecDeque<Stale>,
    /// The branch as it was found, where something asked.
    order: Option<Order>,
    /// The time of what only the branch does.
    now: Millis,
    added: u64,
}

/// A commit of the branch that stands for one which the session no longer has.
enum Stale {
    /// The message, the commit that gave it its content, and that content.
    Message(EntryId, CommitHash, ContentHash),
    /// A hide.
    Hide(CommitHash),
}

impl Onto<'_> {
    /// Takes note of what is stale: each message once, as it was taken over last.
    fn know(&mut self, stale: &[AdoptedRow]) -> Result<()> {
        for row in stale {
            let operation = load::commit(self.tx, &row.ours)?.commit.operation;
            let (entry, content) = match operation {
                Operation::Append { content } => (EntryId::of(row.ours), content),
                Operation::Edit { target, content } => (path::entry_of(self.tx, target)?, content),
                Operation::Hide(_) => {
                    self.stale.push_back(Stale::Hide(row.ours));
                    continue;
                }
                Operation::Restore { .. } | Operation::Annotate { .. } => continue,
            };
            let now = Stale::Message(entry, row.ours, content);
            let same = |known: &&mut Stale| matches!(known, Stale::Message(of, ..) if *of == entry);
            match self.stale.iter_mut().find(same) {
                Some(known) => *known = now,
                None => self.stale.push_back(now),
            }
        }
        Ok(())
    }

    /// What a commit of the session is on the branch; none where that has it already.
    fn operation(
        &mut self,
        theirs: CommitHash,
        operation: &Operation,
    ) -> Result<Option<Operation>> {
        if let (Operation::Append { content }, Some(Stale::Message(entry, ours, old))) =
            (operation, self.stale.front())
        {
            let (entry, ours, old) = (*entry, *ours, *old);
            let is_same = *content == old;
            if is_same || self.goes_on(&old, content)? {
                self.stale.pop_front();
                // What its owner has written there since stays.
                if is_same || self.content_of(&entry)? != Some(old) {
                    self.pair(theirs, ours);
                    return Ok(None);
                }
                let content = *content;
                return Ok(Some(Operation::Edit {
                    target: entry,
                    content,
                }));
            }
        }
        self.drop_stale()?;
        self.rename(operation).map(Some)
    }

    /// Whether a message says what another one does, and more.
    fn goes_on(&self, old: &ContentHash, new: &ContentHash) -> Result<bool> {
        let messages = load::contents(self.tx, &[*old, *new])?;
        Ok(is_beginning(&messages[0], &messages[1]))
    }

    /// Hides what is left of the end that the session no longer has, and takes back its hides.
    fn drop_stale(&mut self) -> Result<()> {
        let now = Some(self.now);
        let mut intervals = VecDeque::new();
        for stale in std::mem::take(&mut self.stale).into_iter().rev() {
            match stale {
                Stale::Message(entry, ..) => intervals.push_front(Interval {
                    first: entry,
                    last: entry,
                }),
                Stale::Hide(target) if self.order()?.is_active(&target) => {
                    let entries = Vec::new();
                    let operation = Operation::Restore { target, entries };
                    self.push(&Draft::new(operation, Vec::new()), now)?;
                }
                Stale::Hide(_) => {}
            }
        }
        if !intervals.is_empty() {
            let hide = Hide {
                kind: HideKind::Drop,
                intervals: intervals.into(),
                keep: Vec::new(),
                parts: Vec::new(),
                replacements: Vec::new(),
            };
            self.push(&Draft::new(Operation::Hide(hide), Vec::new()), now)?;
        }
        Ok(())
    }

    fn push(&mut self, draft: &Draft, time: Option<Millis>) -> Result<CommitHash> {
        self.added += 1;
        Ok(self.chain.push(self.tx, draft, time)?.0.hash())
    }

    fn pair(&mut self, theirs: CommitHash, ours: CommitHash) {
        self.became.insert(theirs, ours);
        self.pairs.push(AdoptedRow { theirs, ours });
    }

    fn order(&mut self) -> Result<&Order> {
        let order = match (self.order.take(), self.chain.tip()) {
            (Some(order), _) => order,
            (None, Some(tip)) => load::order(self.tx, &tip)?,
            (None, None) => Order::default(),
        };
        Ok(self.order.insert(order))
    }

    /// The content that a message of the branch has.
    fn content_of(&mut self, id: &EntryId) -> Result<Option<ContentHash>> {
        let mut entries = self.order()?.entries();
        Ok(entries
            .find(|entry| entry.id == *id)
            .map(|entry| entry.content))
    }

    fn commit(&self, hash: &CommitHash) -> CommitHash {
        *self.became.get(hash).unwrap_or(hash)
    }

    /// An entry of the session under the name that it has on the branch.
    fn entry(&self, id: &EntryId) -> Result<EntryId> {
        let index = id.index;
        let commit = self.commit(&id.commit);
        path::entry_of(self.tx, EntryId { commit, index })
    }

    /// The operation with entries and commits under the names that they have on the branch.
    fn rename(&self, operation: &Operation) -> Result<Operation> {
        let mut operation = operation.clone();
        for entry in operation.entries_mut() {
            *entry = self.entry(entry)?;
        }
        if let Operation::Restore { target, .. } = &mut operation {
            *target = self.commit(target);
        }
        Ok(operation)
    }
}

/// Whether `new` begins with all that `old` says; a text may have grown at its end.
fn is_beginning(old: &Message, new: &Message) -> bool {
    let Some((last, before)) = old.parts.split_last() else {
        return old.role == new.role;
    };
    let grown = |old: &Part, new: &Part| match (old, new) {
        (Part::Text { text: old }, Part::Text { text: new }) => new.starts_with(old.as_str()),
        _ => old == new,
    };
    old.role == new.role
        && new.parts.starts_with(before)
        && new
            .parts
            .get(before.len())
            .is_some_and(|new| grown(last, new))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;

    use super::*;
    use crate::context::Entry;
    use crate::ingest::{ImportRequest, import};
    use crate::model::Role;
    use crate::repo::{Call, CommitOptions, On};

    /// The session files of the project's own that grow line by line.
    fn sessions() -> Vec<PathBuf> {
        let mut found = Vec::new();
        for tool in [
            "claude-code",
            "codex",
            "claude-stream",
            "codex-exec",
            "event-log",
        ] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/data")
                .join(tool);
            for file in std::fs::read_dir(folder).expect("the fixtures") {
                let path = file.expect("a fixture").path();
                found.extend(
                    path.extension()
                        .is_some_and(|end| end == "jsonl")
                        .then_some(path),
                );
            }
        }
        found.sort();
        found
    }

    /// Imports the file and takes over what is new onto the branch `mine`.
    fn onto(repo: &Repo, path: &Path) -> Option<u64> {
        let request = ImportRequest {
            branch: Some("theirs"),
            ..ImportRequest::at(Millis(0), "import")
        };
        let report = import(repo, path, &request, &mut |_| {}).ok()?;
        let mine = RefName::branch("mine").expect("a name");
        let [session, ..] = &report.sessions[..] else {
            return None;
        };
        session.tip?;
        Some(adopt(repo, &session.name, &mine, Millis(7), "import --onto").expect("taken over"))
    }

    fn contents(repo: &Repo, branch: &str) -> Vec<(ContentHash, crate::context::Mask)> {
        let on = On::Branch(RefName::branch(branch).expect("a name"));
        let Some(tip) = repo.head(&on).expect("a head").commit() else {
            return Vec::new();
        };
        let context = repo.context(&tip).expect("a context");
        let of = |entry: &Entry| (entry.content, entry.mask.clone());
        context.entries.iter().map(of).collect()
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(200))]

        #[test]
        fn a_branch_that_took_over_a_growing_session_says_what_the_session_says(
            which in any::<prop::sample::Index>(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
            has_own in any::<bool>(),
        ) {
            let sessions = sessions();
            let bytes = std::fs::read(which.get(&sessions)).expect("the fixture");
            let ends: Vec<usize> = bytes.iter().enumerate()
                .filter_map(|(at, byte)| (*byte == b'\n').then_some(at + 1)).collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.get(&ends)).collect();
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("session.jsonl");
            let repo = Repo::ephemeral().expect("a repository");
            let mut own = Vec::new();
            if has_own {
                let draft = Draft::append(Message::text(Role::User, "a thought of my own"));
                let on = On::Branch(RefName::branch("mine").expect("a name"));
                let call = Call { on: &on, ..Call::default() };
                repo.commit(call, &[draft], &CommitOptions::default()).expect("commits");
                own = contents(&repo, "mine");
            }
            for cut in cuts {
                std::fs::write(&path, &bytes[..cut]).expect("written");
                let before = contents(&repo, "mine");
                let Some(added) = onto(&repo, &path) else {
                    continue;
                };
                let theirs = contents(&repo, "theirs");
                let mine = contents(&repo, "mine");
                prop_assert!(mine.starts_with(&own));
                let taken = &mine[own.len()..];
                if added == 0 {
                    // Nothing is new; the session may have gone back, and what it left stays until it goes on.
                    prop_assert_eq!(&mine, &before);
                    let of = |said: &[(ContentHash, _)]| said.iter().map(|(content, _)| *content).collect::<Vec<_>>();
                    prop_assert!(of(taken).starts_with(&of(&theirs)), "{} of {:?}", cut, which.get(&sessions));
                } else {
                    prop_assert_eq!(taken, &theirs[..], "{} of {:?}", cut, which.get(&sessions));
                }
                prop_assert_eq!(onto(&repo, &path), Some(0));
            }
            repo.second_reading()?;
        }
    }
}
