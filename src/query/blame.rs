//! Where the messages of a context came from: which commit gave each its text, from which session, client, model and
//! prompt, and through which compactions, edits and moves.
//!
//! Deliberately absent: what a line of a summary was made from (`derived`).

pub mod derived;

use std::collections::{HashMap, HashSet};

use crate::context::{Entry, OrderEntry};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{
    Author, Commit, Encoding, EntryId, Hide, HideKind, Millis, Operation, RefName, Role, Settings,
};
use crate::repo::repository::Repo;
use crate::repo::{load, path, prompts, served};
use crate::store::{ContentRow, ListedCommit, View};

/// How many moves of one message are followed.
const MOVES: usize = 64;
/// How many commits are read at once on the way back to a prompt.
const PAGE: usize = 64;

/// Where a message came from.
#[derive(Clone, Debug)]
pub struct BlameRow {
    /// Its number among the visible messages, from 1; none if it is hidden.
    pub number: Option<usize>,
    /// The message.
    pub entry: EntryId,
    /// Who speaks.
    pub role: Role,
    /// Whether a client says it in the user's name.
    pub injected: bool,
    /// One line of it. Hostile until escaped.
    pub preview: String,
    /// The commit that gave it the text that it has.
    pub hash: CommitHash,
    /// That commit.
    pub commit: Commit,
    /// The commit that brought the message first: another one where it was edited since.
    pub origin: CommitHash,
    /// The session whose file that commit came from, and its title. Hostile until escaped.
    pub session: Option<(RefName, Option<String>)>,
    /// The model in force there. Likewise.
    pub model: Option<String>,
    /// What the user had typed last.
    pub prompt: Option<PromptBefore>,
    /// How it came here from where it was first, the newest step first.
    pub steps: Vec<BlameStep>,
}

/// A prompt before a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptBefore {
    /// The commit of the prompt.
    pub hash: CommitHash,
    /// One line of it. Hostile until escaped.
    pub preview: String,
}

/// What was done with a message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlameStep {
    /// An edit gave it its text; before, it had another one.
    Edited {
        /// The edit.
        by: CommitHash,
    },
    /// It was moved, or copied: the message that it was before.
    From {
        /// That one.
        entry: EntryId,
        /// The session of that one, if it came from one.
        session: Option<RefName>,
    },
    /// It came with a merge, which brought this commit's path in.
    Merged {
        /// That commit.
        tip: CommitHash,
    },
    /// It stands for messages that are hidden.
    StandsFor {
        /// The hide that put it in place.
        by: CommitHash,
        /// The hide's kind.
        kind: HideKind,
        /// How many messages it hid.
        messages: usize,
        /// The first and the last of them.
        ends: Option<(EntryId, EntryId)>,
    },
}

impl Repo {
    /// Where the messages of the context at `tip` came from, in their order; of `only` one of them, hidden or not.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// for (role, text) in [(Role::User, "Why?"), (Role::Assistant, "Because.")] {
    ///     let draft = Draft::append(Message::text(role, text));
    ///     repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// }
    /// let tip = repo.resolve(&On::Head, "HEAD")?;
    /// let rows = repo.blame(&tip, None)?;
    /// assert_eq!(rows[1].prompt.as_ref().map(|it| it.preview.as_str()), Some("Why?"));
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`crate::Error::NotOnPath`] if `only` is no message there, and the store's.
    pub fn blame(&self, tip: &CommitHash, only: Option<&EntryId>) -> Result<Vec<BlameRow>> {
        let view = self.store.read()?;
        let view = &*view;
        let context = load::context(view, tip)?;
        let entries: Vec<(Option<usize>, Entry)> = match only {
            None => {
                let entries = context.entries.iter().cloned().enumerate();
                entries.map(|(at, entry)| (Some(at + 1), entry)).collect()
            }
            Some(id) => match context.position(id) {
                Some(at) => vec![(Some(at + 1), context.entries[at].clone())],
                None => vec![(None, hidden(view, tip, id)?)],
            },
        };
        let mut blamer = Blamer {
            edits: edits(view, tip)?,
            ..Blamer::new(view)
        };
        let contents: Vec<ContentHash> = entries.iter().map(|(_, it)| it.content).collect();
        let said = load::told_rows(view, &contents)?;
        let mut rows = Vec::with_capacity(entries.len());
        for (number, entry) in &entries {
            rows.push(blamer.row(*number, entry, &said[&entry.content])?);
        }
        let brought = rows.iter().zip(&contents);
        let brought =
            brought.map(|(row, content)| (row.hash, &row.commit.operation, &said[content]));
        let injected = prompts::injected_rows(view, &brought.collect::<Vec<_>>())?;
        for (row, injected) in rows.iter_mut().zip(injected) {
            row.injected = injected;
        }
        blamer.at_their_time(tip, &mut rows)?;
        Ok(rows)
    }
}

/// An entry that is not visible.
fn hidden(view: &dyn View, tip: &CommitHash, id: &EntryId) -> Result<Entry> {
    let order = load::order(view, tip)?;
    let found = order.entries().find(|entry| entry.id == *id);
    let found = found.map(|entry| Entry::from(&entry));
    found.ok_or_else(|| crate::Error::NotOnPath {
        entry: id.to_string(),
    })
}

/// The edits on a path, by the entries that they edit, oldest first: each with the content that it gives.
type EditsOf = HashMap<EntryId, Vec<(CommitHash, ContentHash)>>;

fn edits(view: &dyn View, tip: &CommitHash) -> Result<EditsOf> {
    let mut edits = EditsOf::new();
    for row in view.changes(tip)? {
        if let Operation::Edit { target, content } = row.commit.operation {
            let entry = path::entry_of(view, target)?;
            edits.entry(entry).or_default().push((row.hash, content));
        }
    }
    Ok(edits)
}

/// What is known while messages are asked after.
struct Blamer<'a> {
    view: &'a dyn View,
    edits: EditsOf,
    /// All entries before a hide, with their places.
    orders: HashMap<CommitHash, (Vec<OrderEntry>, HashMap<EntryId, usize>)>,
    /// The titles of sessions.
    sessions: HashMap<RefName, Option<String>>,
}

impl<'a> Blamer<'a> {
    fn new(view: &'a dyn View) -> Self {
        Self {
            view,
            edits: EditsOf::new(),
            orders: HashMap::new(),
            sessions: HashMap::new(),
        }
    }

    fn row(&mut self, number: Option<usize>, entry: &Entry, said: &ContentRow) -> Result<BlameRow> {
        let mut steps = Vec::new();
        let edited = self.edited(entry);
        steps.extend(edited.map(|by| BlameStep::Edited { by }));
        let origin = self.moves(entry, &mut steps)?;
        let first = load::commit(self.view, &origin)?.commit;
        let merged = load::commit(self.view, &entry.id.commit)?.commit.merged;
        steps.extend(merged.map(|tip| BlameStep::Merged { tip }));
        if let Operation::Hide(hide) = &first.operation {
            steps.push(self.stands_for(origin, hide, first.parent)?);
        }
        let hash = edited.unwrap_or(origin);
        let commit = match edited {
            Some(by) => load::commit(self.view, &by)?.commit,
            None => first,
        };
        let session = self.session(&origin)?;
        Ok(BlameRow {
            number,
            entry: entry.id,
            role: said.role,
            injected: false,
            preview: said.preview.clone(),
            hash,
            commit,
            origin,
            session,
            model: None,
            prompt: None,
            steps,
        })
    }

    /// The edit that gave an entry the text that it has.
    fn edited(&self, entry: &Entry) -> Option<CommitHash> {
        if !entry.edited {
            return None;
        }
        let mut edits = self.edits.get(&entry.id)?.iter().rev();
        edits
            .find(|(_, content)| *content == entry.content)
            .map(|(by, _)| *by)
    }

    /// The commit that first brought a message, with the steps by which it came to where it stands.
    fn moves(&mut self, entry: &Entry, steps: &mut Vec<BlameStep>) -> Result<CommitHash> {
        let mut maker = entry.id.commit;
        for _ in 0..MOVES {
            let commit = load::commit(self.view, &maker)?.commit;
            let Some(before) = self.copied(entry, &commit)? else {
                break;
            };
            maker = before.commit;
            let session = self.session(&maker)?.map(|(name, _)| name);
            steps.push(BlameStep::From {
                entry: before,
                session,
            });
        }
        Ok(maker)
    }

    /// The message of which a commit's is a copy, as far as that is here.
    fn copied(&mut self, entry: &Entry, commit: &Commit) -> Result<Option<EntryId>> {
        if let Some(origin) = commit.origin {
            let is_here = self.view.commit(&origin)?.is_some();
            return Ok(is_here.then(|| EntryId::of(origin)));
        }
        let (Operation::Hide(hide), Some(parent)) = (&commit.operation, commit.parent) else {
            return Ok(None);
        };
        if !hide.is_move() {
            return Ok(None);
        }
        let covered = self.covered(hide, &parent)?;
        let it = covered.into_iter().find(|one| one.content == entry.content);
        Ok(it.map(|one| one.id))
    }

    /// The entries that a hide covers, which were there before it.
    fn covered(&mut self, hide: &Hide, parent: &CommitHash) -> Result<Vec<OrderEntry>> {
        if !self.orders.contains_key(parent) {
            let entries: Vec<OrderEntry> = load::order(self.view, parent)?.entries().collect();
            let places = entries.iter().enumerate().map(|(at, one)| (one.id, at));
            let places = places.collect();
            self.orders.insert(*parent, (entries, places));
        }
        let (entries, places) = &self.orders[parent];
        let keep: HashSet<EntryId> = hide.keep.iter().copied().collect();
        let place = |id: &EntryId| places.get(id).copied();
        let spans = hide.intervals.iter();
        let spans = spans.filter_map(|span| Some(place(&span.first)?..=place(&span.last)?));
        let covered = spans.flatten().map(|at| &entries[at]);
        Ok(covered
            .filter(|one| !keep.contains(&one.id))
            .cloned()
            .collect())
    }

    fn stands_for(
        &mut self,
        by: CommitHash,
        hide: &Hide,
        parent: Option<CommitHash>,
    ) -> Result<BlameStep> {
        let covered = match parent {
            Some(parent) => self.covered(hide, &parent)?,
            None => Vec::new(),
        };
        let hidden: Vec<&OrderEntry> = covered.iter().filter(|one| one.visible).collect();
        let ends = hidden.first().zip(hidden.last());
        Ok(BlameStep::StandsFor {
            by,
            kind: hide.kind,
            messages: hidden.len(),
            ends: ends.map(|(first, last)| (first.id, last.id)),
        })
    }

    /// The session that a commit came from, and its title.
    fn session(&mut self, commit: &CommitHash) -> Result<Option<(RefName, Option<String>)>> {
        let Some((name, row)) = path::session_among(self.view, &[*commit])? else {
            return Ok(None);
        };
        let title = self.sessions.entry(name.clone()).or_insert(row.title);
        Ok(Some((name, title.clone())))
    }

    /// Says of each row which model was in force when its message came in and what the user had typed, as far as that was
    /// on this path.
    fn at_their_time(&self, tip: &CommitHash, rows: &mut [BlameRow]) -> Result<()> {
        let made: Vec<CommitHash> = rows.iter().map(|row| row.origin).collect();
        let mut wanted: HashMap<CommitHash, Vec<usize>> = HashMap::new();
        let mut oldest: Option<(u64, Option<CommitHash>)> = None;
        let here = self.view.are_ancestors(&made, tip)?;
        let found = self.view.commits(&made)?;
        for (at, (row, on_path)) in found.into_iter().zip(here).enumerate() {
            let Some(row) = row.filter(|_| on_path) else {
                rows[at].model = served::model_at(self.view, &made[at])?;
                continue;
            };
            wanted.entry(row.hash).or_default().push(at);
            if oldest.is_none_or(|(depth, _)| row.depth < depth) {
                oldest = Some((row.depth, row.commit.parent));
            }
        }
        let Some((_, before)) = oldest else {
            return Ok(());
        };
        let (mut model, mut prompt) = match &before {
            Some(before) => (
                served::model_at(self.view, before)?,
                self.prompt_before(before)?,
            ),
            None => (None, None),
        };
        let mut said: Vec<(CommitHash, ContentRow)> = Vec::new();
        // Of each row the prompt by its place among what users said, for which of that was typed is asked at once.
        let mut behind: Vec<(usize, usize)> = Vec::new();
        let mut visit = |listed: ListedCommit| {
            model = model_of(&listed.row.commit.settings).or(model.take());
            for at in wanted.get(&listed.row.hash).into_iter().flatten() {
                rows[*at].model.clone_from(&model);
                behind.push((*at, said.len()));
            }
            if let Some(row) = listed.said.filter(may_be_prompt) {
                said.push((listed.row.hash, row));
            }
            Ok(())
        };
        self.view.along(
            tip,
            before.as_ref(),
            usize::MAX,
            Some(Encoding::default()),
            &mut visit,
        )?;
        let asked: Vec<_> = said.iter().map(|(hash, row)| (*hash, row)).collect();
        let typed = prompts::typed(self.view, &asked)?;
        let mut next = 0;
        for (at, until) in behind {
            for place in next..until {
                if typed[place] {
                    prompt = Some(before_it(&said[place]));
                }
            }
            next = until;
            rows[at].prompt.clone_from(&prompt);
        }
        Ok(())
    }

    /// The newest prompt up to a commit.
    fn prompt_before(&self, commit: &CommitHash) -> Result<Option<PromptBefore>> {
        let mut next = Some(*commit);
        while let Some(from) = next {
            let page = self.view.listing(&from, None, PAGE, Encoding::default())?;
            next = page.last().and_then(|oldest| oldest.row.commit.parent);
            let said = page.into_iter().filter_map(|listed| {
                let row = listed.said.filter(may_be_prompt)?;
                Some((listed.row.hash, row))
            });
            let said: Vec<(CommitHash, ContentRow)> = said.collect();
            let asked: Vec<_> = said.iter().map(|(hash, row)| (*hash, row)).collect();
            let typed = prompts::typed(self.view, &asked)?;
            if let Some(at) = typed.iter().position(|typed| *typed) {
                return Ok(Some(before_it(&said[at])));
            }
        }
        Ok(None)
    }
}

fn may_be_prompt(row: &ContentRow) -> bool {
    row.role == Role::User && row.results == 0
}

fn before_it((hash, row): &(CommitHash, ContentRow)) -> PromptBefore {
    PromptBefore {
        hash: *hash,
        preview: row.preview.clone(),
    }
}

/// The model that settings name.
fn model_of(settings: &Settings) -> Option<String> {
    let text = settings.get("model")?;
    serde_json::from_str(text).ok()
}

impl BlameRow {
    /// Who made the commit, where that was said.
    pub fn author(&self) -> Option<&Author> {
        self.commit.author.as_ref()
    }

    /// When the commit was made, if that is known.
    pub fn time(&self) -> Option<Millis> {
        self.commit.time
    }

    /// The program that it came from: that of its session, or the one that committed. Hostile until escaped.
    pub fn client(&self) -> Option<&str> {
        let session = self
            .session
            .as_ref()
            .and_then(|(name, _)| name.as_session());
        let own = self.author().and_then(|author| author.client.as_deref());
        session.map(|(tool, _)| tool).or(own)
    }
}
