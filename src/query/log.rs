//! The commits of a path, newest first, each with what it did to the context and its tokens.

mod graph;
mod numbering;
mod pages;
mod sift;

use std::collections::HashSet;

use crate::context::{Context, Entry};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::pattern::Pattern;
use crate::model::{
    Commit, Encoding, EntryId, Millis, Operation, RefName, Role, Speaker, TokenCount, Total, uses,
};
use crate::repo::calls::Told;
use crate::repo::change::Change;
use crate::repo::counts::{Counts, key, key_of};
use crate::repo::repository::Repo;
use crate::repo::served::{ServedBy, go_on};
use crate::repo::totals::{self, Along, Sums};
use crate::repo::{load, path, pictures, prompts};
use crate::store::{CommitRow, ContentRow, CountKey, ListedCommit, View};

pub(crate) use numbering::Numbering;
pub use pages::LogPages;
use sift::{Matching, matching};
pub(crate) use sift::{notes, sets, wanted};

/// From how many messages on their sum is kept for the next time.
const WORTH_KEEPING: usize = if cfg!(test) { 0 } else { 64 };
/// At every so many commits of a list the total is kept.
const KEPT_EACH: u64 = 64;

/// What to list.
#[derive(Clone, Debug, Default)]
pub struct LogOptions {
    /// At most so many commits; 0: all.
    pub limit: usize,
    /// Leave out this commit and all that lead to it.
    pub until: Option<CommitHash>,
    /// Only these operations (`append`, `hide`, …), kinds of hide (`compaction`) and the words
    /// that a listing prints for them (`compact`); empty: all.
    pub operations: Vec<String>,
    /// Only what brings a message of this role.
    pub role: Option<Speaker>,
    /// Only appended messages that the user typed.
    pub prompts: bool,
    /// Only messages that call this tool, whatever its case, or answer such a call.
    pub tool: Option<String>,
    /// Only from this time on; what bears no time is left out.
    pub since: Option<Millis>,
    /// Only up to this time; likewise.
    pub up_to: Option<Millis>,
    /// Only commits whose author has this in their name, program or run, whatever its case.
    pub author: Option<String>,
    /// Only commits with a note that has this in it, whatever its case.
    pub note: Option<String>,
    /// Only commits that give this request setting a value: any, or this one.
    pub setting: Option<(String, Option<String>)>,
    /// Only these commits.
    pub only: Option<HashSet<CommitHash>>,
    /// Commits of other paths that are listed behind those of this one, each as it stands on its own.
    pub beside: Vec<CommitHash>,
    /// Only what brings a message with this in it, which reads bodies.
    pub pattern: Option<Pattern>,
    /// What tokens are counted in.
    pub encoding: Encoding,
    /// Say of each message what parts it has, which reads its body.
    pub parts: bool,
    /// Say of each message which number it has in the context at the tip.
    pub numbers: bool,
}

impl LogOptions {
    /// Whether there are older commits than so many that were listed, by the one before the oldest.
    pub fn leaves_out(&self, listed: usize, before: Option<CommitHash>) -> bool {
        self.limit > 0 && listed == self.limit && before.is_some() && before != self.until
    }
}

/// One commit of a log.
#[derive(Clone, Debug)]
pub struct LogRow {
    /// Its hash.
    pub hash: CommitHash,
    /// The commit.
    pub commit: Commit,
    /// Who speaks in the message that it adds, edits, puts in place or annotates.
    pub role: Option<Role>,
    /// Whether a client says that in the user's name, by its text.
    pub injected: bool,
    /// One line of that message; of a restore, what it restores. Hostile until escaped.
    pub preview: String,
    /// The calls that this message answers, in a line. Hostile until escaped.
    pub call: Option<String>,
    /// The types of that message's parts and how many there are of each, if asked for.
    pub parts: Vec<(&'static str, usize)>,
    /// That message's content.
    pub content: Option<ContentHash>,
    /// The number of that message in the context at the tip, from 1, if asked for.
    pub number: Option<usize>,
    /// The change in the context's tokens.
    pub delta: i64,
    /// The change in the number of visible messages.
    pub messages: i64,
    /// The context's tokens at this commit.
    pub running: TokenCount,
    /// The refs that point here, HEAD included.
    pub refs: Vec<RefName>,
}

/// A commit to list, before anything is counted.
struct Read {
    /// What happened before it that is not listed.
    skipped: Change,
    own: Change,
    headline: Headline,
}

impl Repo {
    /// The commits on the path to `tip` that append replies of a model with this in its name, whatever its case. Reads the
    /// rows of the whole path.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn replies_of_model(&self, tip: &CommitHash, text: &str) -> Result<HashSet<CommitHash>> {
        Self::replies_on_path(
            &*self.store.read()?,
            tip,
            &text.to_lowercase(),
            &mut HashSet::new(),
        )
    }

    /// The same of all that branches, tags and sessions lead to.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn all_replies_of_model(&self, text: &str) -> Result<HashSet<CommitHash>> {
        let view = self.store.read()?;
        let (text, mut seen) = (text.to_lowercase(), HashSet::new());
        let mut found = HashSet::new();
        for tip in view.named_commits()? {
            if !seen.contains(&tip) {
                found.extend(Self::replies_on_path(&*view, &tip, &text, &mut seen)?);
            }
        }
        Ok(found)
    }

    /// Those on a path, but for what was seen on others; of that only the settings count.
    fn replies_on_path(
        view: &dyn View,
        tip: &CommitHash,
        text: &str,
        seen: &mut HashSet<CommitHash>,
    ) -> Result<HashSet<CommitHash>> {
        let rows = view.ancestors(tip, None, usize::MAX)?;
        let mut served = ServedBy::default();
        let mut of_model = Vec::new();
        for row in rows.iter().rev() {
            go_on(&mut served, row);
            if !seen.insert(row.hash) {
                continue;
            }
            let [model, ..] = served.clone().words();
            let is_it = model.is_some_and(|model| model.to_lowercase().contains(text));
            of_model.extend(
                row.appended()
                    .filter(|_| is_it)
                    .map(|content| (row.hash, content)),
            );
        }
        let contents: Vec<ContentHash> = of_model.iter().map(|(_, content)| *content).collect();
        let said = load::rows(view, &contents)?;
        let is_reply = |content: &ContentHash| said[content].role == Role::Assistant;
        let replies = of_model.iter().filter(|(_, content)| is_reply(content));
        Ok(replies.map(|(commit, _)| *commit).collect())
    }

    /// Lists the commits from `tip` back, newest first, in the chain's order, whatever their times
    /// say. Reads the rows that it lists and those since the checkpoint before them, and sums up
    /// the visible messages there. Counts what has no count yet.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::query::LogOptions;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let said = [(Role::System, "You are helpful."), (Role::User, "Hi")];
    /// let drafts = said.map(|(role, text)| Draft::append(Message::text(role, text)));
    /// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    ///
    /// let tip = repo.resolve(&On::Head, "HEAD")?;
    /// let rows = repo.log(&tip, &LogOptions::default())?;
    /// assert_eq!(rows[0].preview, "Hi");
    /// assert_eq!(rows[0].delta, 5);
    /// assert_eq!(rows[0].running.tokens, 16);
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) and [`Error::Damaged`](crate::Error::Damaged).
    pub fn log(&self, tip: &CommitHash, options: &LogOptions) -> Result<Vec<LogRow>> {
        let pages: Result<Vec<Vec<LogRow>>> = self.log_pages(tip, options).collect();
        Ok(pages?.into_iter().flatten().collect())
    }

    /// The same in one page, without the refs that point at them; and whether what the context comes to was known.
    /// What is not known is kept, and where this `keeps`, what is.
    pub(crate) fn undecorated(
        &self,
        tip: &CommitHash,
        options: &LogOptions,
        numbering: &mut Numbering,
        keeps: bool,
    ) -> Result<(Vec<LogRow>, bool)> {
        let mut view = self.store.read()?;
        let listed = listed(&*view, tip, options)?;
        let encoding = options.encoding;
        let mut kept = totals::kept(&*view, &listed, &Counts::default(), encoding)?;
        let is_kept = kept.is_some();
        if !is_kept {
            // Often only the newest have no count yet.
            drop(view);
            let new = totals::catch_up(&*self.store, tip, encoding)?;
            view = self.store.read()?;
            kept = totals::kept(&*view, &listed, &new, encoding)?;
        }
        let is_known = kept.is_some();
        let keeps = keeps && is_kept;
        let purge = if keeps || !is_known {
            view.last_purge()?
        } else {
            None
        };
        let (rows, read, sums, is_worth_keeping) = match kept {
            Some(sums) => {
                let (rows, read) = headlines(&*view, listed, options.parts)?;
                drop(view);
                let is_worth_keeping = keeps && rows.len() > WORTH_KEEPING;
                (rows, read, sums, is_worth_keeping)
            }
            None => {
                let (base, rows, read) = read(&*view, listed, options.parts)?;
                drop(view);
                let (sums, is_certain) = self.sums(&base, &read, encoding)?;
                let many = base.entries.len() + read.len();
                let read = read.into_iter().map(|read| read.headline).collect();
                (rows, read, sums, is_certain && many > WORTH_KEEPING)
            }
        };
        if sums.iter().any(Sums::is_estimated)
            && let Some(encoding) =
                pictures::other(&*self.store.read()?, tip, options.encoding, true)?
        {
            let by_rule = LogOptions {
                encoding,
                ..options.clone()
            };
            return self.undecorated(tip, &by_rule, numbering, keeps);
        }
        if is_worth_keeping {
            let totals = worth_keeping(&rows, &sums);
            totals::keep(&*self.store, purge, encoding, totals.into_iter());
        }
        let numbers = if options.numbers {
            numbering.of(&*self.store.read()?, &rows, &sums, &read)?
        } else {
            vec![None; rows.len()]
        };
        let rows = rows.into_iter().zip(sums.into_iter().zip(read).rev());
        let listed = rows.zip(numbers).map(|((row, (sums, headline)), number)| {
            let running = sums.at.count();
            LogRow {
                role: headline.role,
                injected: headline.injected,
                preview: headline.preview,
                call: headline.call,
                parts: headline.parts,
                content: headline.content,
                number,
                delta: running.tokens as i64 - sums.before.count().tokens as i64,
                messages: sums.at.messages as i64 - sums.before.messages as i64,
                running,
                refs: Vec::new(),
                hash: row.hash,
                commit: row.commit,
            }
        });
        Ok((listed.collect(), is_known))
    }

    /// What the commits come to where nothing is kept, and whether none of it is guessed: counts what has no count yet.
    fn sums(&self, base: &Context, read: &[Read], encoding: Encoding) -> Result<(Vec<Sums>, bool)> {
        let changes = read.iter().flat_map(|Read { skipped, own, .. }| {
            let all = [&skipped.gained, &skipped.lost, &own.gained, &own.lost];
            all.into_iter().flatten().map(|(_, entry)| entry)
        });
        let entries: Vec<&Entry> = base.entries.iter().chain(changes).collect();
        let counts = Counts::of(&*self.store, entries.iter().copied(), encoding)?;
        let keys: Vec<CountKey> = entries.into_iter().map(key).collect();
        let is_certain = Counts::are_kept(&*self.store, &keys, encoding)?;
        let mut total = Total::default();
        total.extend(base.entries.iter().map(|entry| counts.get(entry)));
        let sums = read.iter().map(|read| {
            totals::apply(&mut total, &read.skipped, &counts);
            let before = total;
            totals::apply(&mut total, &read.own, &counts);
            let at = total;
            Sums { before, at }
        });
        Ok((sums.collect(), is_certain))
    }
}

impl Repo {
    /// The commits that a log would list, newest first, without what it says of them.
    ///
    /// # Errors
    ///
    /// Those of [`Repo::log`].
    pub fn commits_of(&self, tip: &CommitHash, options: &LogOptions) -> Result<Vec<CommitHash>> {
        let view = self.store.read()?;
        let rows = match matching(&*view, tip, options)? {
            Matching::All { until, most } => view.ancestors(tip, until.as_ref(), most)?,
            Matching::Some(rows) => rows,
        };
        Ok(rows.into_iter().map(|row| row.hash).collect())
    }
}

/// The totals with which these rows, newest first, and what comes after them are known again: at what
/// is no append, before each row that does not follow the next, and here and there on the way.
fn worth_keeping(rows: &[CommitRow], sums: &[Sums]) -> Vec<(CommitHash, Total)> {
    let mut worth = Vec::new();
    let mut last = None;
    for (row, sums) in rows.iter().rev().zip(sums) {
        let parent = row.commit.parent.filter(|parent| last != Some(*parent));
        worth.extend(parent.map(|parent| (parent, sums.before)));
        let is_append = row.appended().is_some();
        if !is_append || row.depth % KEPT_EACH == 0 {
            worth.push((row.hash, sums.at));
        }
        last = Some(row.hash);
    }
    worth
}

/// The commits to list, newest first, with what is known of the messages that they append.
fn listed(view: &dyn View, tip: &CommitHash, options: &LogOptions) -> Result<Vec<ListedCommit>> {
    let (encoding, found) = (options.encoding, matching(view, tip, options)?);
    let rows = match found {
        Matching::All { until, most } => return view.listing(tip, until.as_ref(), most, encoding),
        Matching::Some(rows) => rows,
    };
    let contents: Vec<ContentHash> = rows.iter().filter_map(CommitRow::appended).collect();
    let keys: Vec<CountKey> = contents.iter().copied().map(key_of).collect();
    let mut counts = view.counts(&keys, encoding)?.into_iter();
    let said = load::rows(view, &contents)?;
    let listed = rows.into_iter().map(|row| match row.appended() {
        None => row.into(),
        Some(content) => ListedCommit {
            said: said.get(&content).cloned(),
            count: counts.next().flatten(),
            ..row.into()
        },
    });
    Ok(listed.collect())
}

/// What is said of commits, newest first, where their totals are known; oldest first.
fn headlines(
    view: &dyn View,
    listed: Vec<ListedCommit>,
    parts: bool,
) -> Result<(Vec<CommitRow>, Vec<Headline>)> {
    let headlines = listed
        .iter()
        .rev()
        .map(|one| Headline::of(view, &one.row, None));
    let mut headlines = headlines.collect::<Result<Vec<_>>>()?;
    let rows = speak(view, listed, headlines.iter_mut().collect(), parts)?;
    Ok((rows, headlines))
}

/// The context before the first of these commits, newest first, and what each of them, oldest first,
/// changed.
fn read(
    view: &dyn View,
    listed: Vec<ListedCommit>,
    parts: bool,
) -> Result<(Context, Vec<CommitRow>, Vec<Read>)> {
    let mut along = Along::default();
    let mut base = None;
    let mut all = Vec::new();
    for ListedCommit { row, .. } in listed.iter().rev() {
        let left = along.context.clone();
        along.advance_to(view, row)?;
        let skipped = match &base {
            Some(_) => Change::between(&left, &along.context),
            None => Change::default(),
        };
        base.get_or_insert_with(|| along.context.clone());
        let headline = Headline::of(view, row, Some(&along.context))?;
        let own = along.step(view, row)?;
        all.push(Read {
            skipped,
            own,
            headline,
        });
    }
    let headlines = all.iter_mut().map(|read| &mut read.headline);
    let rows = speak(view, listed, headlines.collect(), parts)?;
    Ok((base.unwrap_or_default(), rows, all))
}

/// The message that says what a commit is about.
#[derive(Default)]
struct Headline {
    entry: Option<EntryId>,
    content: Option<ContentHash>,
    role: Option<Role>,
    injected: bool,
    preview: String,
    call: Option<String>,
    parts: Vec<(&'static str, usize)>,
}

impl Headline {
    /// `before`: the context before the commit, where it is known already.
    fn of(view: &dyn View, row: &CommitRow, before: Option<&Context>) -> Result<Self> {
        let about = |entry, content| Self {
            entry: Some(entry),
            content: Some(content),
            ..Self::default()
        };
        Ok(match &row.commit.operation {
            Operation::Append { content } => about(EntryId::of(row.hash), *content),
            Operation::Edit { target, content } => about(path::entry_of(view, *target)?, *content),
            Operation::Hide(hide) => {
                let id = EntryId::replacement(row.hash, 0, hide.replacements.len());
                let first = hide.replacements.first();
                first.map_or_else(Self::default, |first| about(id, first.content))
            }
            Operation::Restore { target, .. } => {
                let what = load::commit(view, target)?.commit.operation;
                Self {
                    preview: format!("{} {}", what.verb(), target.short()),
                    ..Self::default()
                }
            }
            Operation::Annotate { targets, .. } => {
                let Some(target) = targets.first() else {
                    return Ok(Self::default());
                };
                let id = path::entry_of(view, *target)?;
                let loaded;
                let before = match (before, &row.commit.parent) {
                    (Some(before), _) => before,
                    (None, None) => &Context::default(),
                    (None, Some(parent)) => {
                        loaded = load::context(view, parent)?;
                        &loaded
                    }
                };
                let seen = before.entries.iter().rev().find(|entry| entry.id == id);
                let content = match seen {
                    Some(entry) => Some(entry.content),
                    None => path::made(view, &id)?,
                };
                Self {
                    entry: Some(id),
                    content,
                    ..Self::default()
                }
            }
        })
    }
}

/// Adds who speaks and what, and what was called, for all of them at once: of these commits, newest
/// first, the headlines, oldest first. Gives the commits back.
fn speak(
    view: &dyn View,
    mut listed: Vec<ListedCommit>,
    mut headlines: Vec<&mut Headline>,
    parts: bool,
) -> Result<Vec<CommitRow>> {
    let of_others = |(one, headline): (&ListedCommit, &&mut Headline)| match one.said {
        Some(_) => None,
        None => headline.content,
    };
    let others = listed.iter().rev().zip(&headlines).filter_map(of_others);
    let others = load::rows(view, &others.collect::<Vec<_>>())?;
    let mut told = Told::new(view, &listed)?;
    let mut users: Vec<(usize, ContentRow)> = Vec::new();
    let rows = listed.iter_mut().rev().zip(&mut headlines);
    for (at, (one, headline)) in rows.enumerate() {
        let said = one.said.take();
        let said = said.or_else(|| others.get(&headline.content?).cloned());
        let own = one.uses.as_ref();
        let own = own.and_then(|uses| uses.calls.first().cloned());
        let calls = told.next(one, said.as_ref())?;
        let Some(said) = said else {
            continue;
        };
        headline.call = uses::answered(&calls);
        headline.role = Some(said.role);
        if prompts::is_users(&said) {
            users.push((at, said.clone()));
        }
        headline.preview = uses::in_brief(said.preview, own.as_ref());
        if parts {
            headline.parts = load::content(view, &said.hash)?.part_types();
        }
    }
    let brought = users.iter().map(|(at, said)| {
        let row = &listed[listed.len() - 1 - at].row;
        (row.hash, &row.commit.operation, said)
    });
    let injected = prompts::injected_rows(view, &brought.collect::<Vec<_>>())?;
    for ((at, _), injected) in users.iter().zip(injected) {
        headlines[*at].injected = injected;
    }
    Ok(listed.into_iter().map(|one| one.row).collect())
}
