//! Where one is in one's context.

use crate::context::Context;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{
    Encoding, EntryId, Head, LargestEntry, PathSums, RefName, Role, Standouts, Summed, TokenCount,
};
use crate::query::log::{LogOptions, LogRow, Numbering};
use crate::query::provider;
use crate::query::provider::{ProviderSays, Tail};
use crate::repo::adoption::Adopted;
use crate::repo::call::On;
use crate::repo::config::Config;
use crate::repo::counts::{Counts, key_of};
use crate::repo::departure::Parting;
use crate::repo::merge_state::{UnderWay, under_way};
use crate::repo::repository::Repo;
use crate::repo::stretches::Outline;
use crate::repo::{
    calls, head, in_force, load, path, path_sums, pictures, prompts, standouts, sums, totals,
};
use crate::store::{ContentRow, ListedCommit, SessionRow, Tips, View};

/// From how many messages on it is quicker to read a summary than to look at each.
const KEPT_EACH: usize = if cfg!(test) { 2 } else { 64 };
/// How many of the newest commits a status shows.
const RECENT: usize = 3;

/// A position with its context summed up.
#[derive(Clone, Debug)]
pub struct Status {
    /// Where HEAD, or the branch asked for, stands.
    pub head: Head,
    /// What the context there comes to.
    pub summary: Summed,
    /// What tokens are counted in.
    pub encoding: Encoding,
    /// The whole context's tokens.
    pub total: TokenCount,
    /// The tokens of the visible messages by role, for roles that occur; of the user's those that are not injected.
    pub by_role: Vec<(Role, u64)>,
    /// How many messages are hidden. The marker of a hide that was undone is not: it does not stand any more.
    pub hidden: u64,
    /// The largest message.
    pub largest: Option<Large>,
    /// What the provider says it counts.
    pub provider: ProviderSays,
    /// The session that this history came from.
    pub session: Option<(RefName, SessionRow)>,
    /// How many messages of that session came in after the branch left it.
    pub session_new: u64,
    /// The budget, in tokens, if one is set.
    pub budget: Option<u64>,
    /// The merge that is under way here.
    pub merge: Option<UnderWay>,
    /// The newest commits, newest first, without the refs that point at them.
    pub recent: Vec<LogRow>,
}

/// A visible message that takes much of the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    /// Its number among the visible ones, from 1.
    pub number: usize,
    /// Who speaks.
    pub role: Role,
    /// Its tokens.
    pub tokens: TokenCount,
    /// One line of it. Hostile until escaped.
    pub preview: String,
    /// The calls that it answers, in a line; likewise.
    pub call: Option<String>,
}

impl Repo {
    /// Sums up where `on` stands. Counts what has no count yet.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Encoding, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// let status = repo.status(&On::Head, Encoding::default())?;
    /// assert_eq!((status.summary.total.messages, status.total.tokens), (1, 8));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn status(&self, on: &On, encoding: Encoding) -> Result<Status> {
        let (head, config, merge) = {
            let view = self.store.read()?;
            let head = head::head(&*view, on)?;
            let config = Config::of(&*view)?;
            let merge = under_way(&*view, &head)?;
            (head, config, merge)
        };
        let budget = config.budget_max()?;
        let tip = head.commit();
        let mut encoding = encoding;
        let (mut summary, mut provider) = match &tip {
            Some(tip) => self.summed_up(tip, encoding)?,
            None => Default::default(),
        };
        let mut view = self.store.read()?;
        let is_estimated = summary.total.estimates > 0;
        if let Some(tip) = &tip
            && let Some(by_rule) = pictures::other(&*view, tip, encoding, is_estimated)?
        {
            drop(view);
            (summary, provider) = self.summed_up(tip, by_rule)?;
            encoding = by_rule;
            view = self.store.read()?;
        }
        let of = |(role, tokens)| (tokens > 0).then_some((role, tokens));
        let mut by_role = summary.by_role;
        let users = &mut by_role[Role::User as usize];
        *users = users.saturating_sub(summary.injected);
        let by_role = Role::ALL.into_iter().zip(by_role);
        let by_role = by_role.filter_map(of).collect();
        let largest = match &summary.largest {
            Some(largest) => large_entry(&*view, largest)?,
            None => None,
        };
        let (mut session, mut session_new) = (None, 0);
        let hidden = match tip.as_ref().filter(|_| summary.hidden > 0) {
            Some(tip) => {
                let outline = Outline::of(&*view, tip)?;
                (outline.all().len() - outline.visible().len()) as u64
            }
            None => 0,
        };
        if let Some(tip) = &tip {
            session = path::session_of(&*view, tip)?;
            if let (Some((name, _)), Some(branch)) = (&session, head.branch())
                && let Some(theirs) = load::tip(&*view, name)?
            {
                session_new = new_in(&*view, (name, &theirs), (branch, tip))?;
            }
        }
        drop(view);
        let options = LogOptions {
            limit: RECENT,
            encoding,
            numbers: true,
            ..LogOptions::default()
        };
        Ok(Status {
            recent: match &tip {
                Some(tip) => {
                    let numbering = &mut Numbering::at(*tip);
                    self.undecorated(tip, &options, numbering, false)?.0
                }
                None => Vec::new(),
            },
            total: summary.total.count(),
            head,
            summary,
            encoding,
            by_role,
            hidden,
            largest,
            provider,
            session,
            session_new,
            budget,
            merge,
        })
    }
}

impl Repo {
    /// What the context at a commit comes to, and what the provider says there: from a summary that is
    /// kept and the messages appended since, or else from a look at every message, which is kept.
    fn summed_up(&self, tip: &CommitHash, encoding: Encoding) -> Result<(Summed, ProviderSays)> {
        let view = self.store.read()?;
        let purge = view.last_purge()?;
        view.look_ahead(Tips::To(&[*tip]))?;
        let mut found = kept(&*view, tip, &Counts::default(), encoding)?;
        let mut view = view;
        if let Kept::Uncounted { first } = found {
            // Often only the newest have no count yet.
            let keys = totals::appended_since(&*view, tip, first)?;
            drop(view);
            let keys = keys.unwrap_or_default();
            let new = Counts::of_contents(&*self.store, &keys, encoding)?;
            view = self.store.read()?;
            found = kept(&*view, tip, &new, encoding)?;
        }
        if let Kept::Summary(mut summary, added, tail) = found {
            let provider = provider::says_of(&*view, tip, &tail, encoding)?;
            let has = summary.total.messages + summary.hidden;
            let is_none = summary.standouts.is_none() && is_worth(&summary, None);
            if added >= KEPT_EACH || is_none && has >= standouts::LONG {
                let known = summary.standouts.take();
                summary.standouts = standing_out(&*view, tip, &summary, known)?;
                let known = summary.sums.take();
                let visible = summary.total.messages;
                summary.sums = summed_in_blocks(&*view, tip, known, has, visible, encoding)?;
                if summary.settings.is_none() && has >= standouts::LONG {
                    summary.settings = in_force::far(&*view, tip)?;
                }
                drop(view);
                self.keep_summary(tip, encoding, &summary, purge);
            }
            return Ok((*summary, provider));
        }
        let outline = Outline::of(&*view, tip)?;
        let newest = view.newest_summary(tip, encoding)?;
        let known = newest.and_then(|(_, kept)| kept.sums);
        let (has, visible) = (outline.entries(), outline.visible().len() as u64);
        let mut sums = summed_in_blocks(&*view, tip, known, has, visible, encoding)?;
        let mut summary = match sums::of_outline(&*view, &outline, sums.as_ref(), encoding)? {
            Some(summary) => summary,
            None => {
                let context = load::context(&*view, tip)?;
                drop(view);
                let counts = self.counts_in(&context, encoding)?;
                view = self.store.read()?;
                // Now all have counts.
                sums = summed_in_blocks(&*view, tip, sums, has, visible, encoding)?;
                sums::of_context(&*view, tip, &context, &counts)?
            }
        };
        summary.sums = sums;
        let tail = Tail::of_outline(&*view, &outline, summary.total, encoding)?;
        let provider = provider::says_of(&*view, tip, &tail, encoding)?;
        // Where nothing is kept of a long conversation, the next look would read it from the start again.
        if summary.total.messages + summary.hidden >= KEPT_EACH as u64 {
            let (known, background) = match view.newest_summary(tip, encoding)? {
                Some((_, kept)) => (kept.standouts, kept.background),
                None => (None, None),
            };
            summary.standouts = standing_out(&*view, tip, &summary, known)?;
            summary.background = background;
            if summary.total.messages + summary.hidden >= standouts::LONG {
                summary.settings = in_force::far(&*view, tip)?;
            }
            drop(view);
            self.keep_summary(tip, encoding, &summary, purge);
        }
        Ok((summary, provider))
    }

    /// The context at a commit summed up, where a summary that is kept is near; no view may be open.
    pub(crate) fn summary_near(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
    ) -> Result<Option<Summed>> {
        let view = self.store.read()?;
        Ok(match kept(&*view, tip, &Counts::default(), encoding)? {
            Kept::Summary(summary, ..) => Some(*summary),
            Kept::Uncounted { .. } | Kept::Nothing => None,
        })
    }

    /// Keeps a summary for later. It holds as long as nothing is purged: `purge` is the newest one that
    /// it knows of. A repository that cannot be written to is no obstacle.
    pub(crate) fn keep_summary(
        &self,
        tip: &CommitHash,
        encoding: Encoding,
        summary: &Summed,
        purge: Option<u64>,
    ) {
        let _ = self.store.write_if_free().and_then(|tx| {
            if tx.last_purge()? == purge {
                tx.put_summary(tip, encoding, summary)?;
            }
            tx.commit()
        });
    }
}

/// Which messages stand out on the path to a commit, gone on from what is known of that where it is no longer than what is
/// summed up.
fn standing_out(
    view: &dyn View,
    tip: &CommitHash,
    summary: &Summed,
    known: Option<Standouts>,
) -> Result<Option<Standouts>> {
    if is_worth(summary, known.as_ref()) {
        standouts::extended(view, tip, known)
    } else {
        Ok(known)
    }
}

/// What the path to a commit comes to in blocks, gone on from what is known of it: where the order has so many entries, and few
/// more are to be read than are visible.
fn summed_in_blocks(
    view: &dyn View,
    tip: &CommitHash,
    known: Option<PathSums>,
    has: u64,
    visible: u64,
    encoding: Encoding,
) -> Result<Option<PathSums>> {
    let covered = known.as_ref().map_or(0, PathSums::covered);
    let more = path_sums::coverable(known.as_ref(), has).saturating_sub(covered);
    if has < standouts::LONG || more == 0 || more > 4 * visible {
        return Ok(known);
    }
    path_sums::extended(view, tip, known, encoding).map(Some)
}

/// Whether few more are to be looked at than a context has visible messages, which were.
fn is_worth(summary: &Summed, known: Option<&Standouts>) -> bool {
    let has = summary.total.messages + summary.hidden;
    let covered = known.map_or(0, |known| known.covered);
    has.saturating_sub(covered) <= 4 * summary.total.messages
}

/// What is kept for a commit.
enum Kept {
    /// The summary at it, how many messages were added to the one that is kept, and the context's end.
    Summary(Box<Summed>, usize, Tail),
    /// A summary, but not all that was appended from this depth on has a count.
    Uncounted { first: u64 },
    /// Nothing, or nothing that holds: all since must be appends.
    Nothing,
}

fn kept(view: &dyn View, tip: &CommitHash, new: &Counts, encoding: Encoding) -> Result<Kept> {
    let mut newest = view.listing(tip, None, provider::COMMITS, encoding)?;
    let Some((depth, mut summary)) = view.newest_summary(tip, encoding)? else {
        return Ok(Kept::Nothing);
    };
    let added = newest
        .first()
        .map_or(0, |one| (one.row.depth - depth) as usize);
    let is_append = |one: &&ListedCommit| one.row.appended().is_some();
    let appended = newest.iter().take_while(is_append).count();
    if appended < added.min(newest.len()) {
        return Ok(Kept::Nothing);
    }
    if added >= newest.len() {
        // A batch, or much that came in since.
        newest = view.listing(tip, None, added + 1, encoding)?;
    }
    let count = |one: &ListedCommit, said: &ContentRow| {
        let known = one.count.or_else(|| new.find(&key_of(said.hash)));
        known.map(|count| (EntryId::of(one.row.hash), count))
    };
    // What the summary was made at may be anything.
    for one in newest[..added].iter().rev() {
        let Some(said) = one.said.as_ref().filter(|_| one.row.appended().is_some()) else {
            return Ok(Kept::Nothing);
        };
        let Some((entry, count)) = count(one, said) else {
            let first = one.row.depth;
            return Ok(Kept::Uncounted { first });
        };
        summary.add(entry, said.hash, said.role, count);
        if let Some(settings) = &mut summary.settings {
            let keys = one.row.commit.settings.keys().cloned();
            settings.extend(keys.map(|key| (key, one.row.hash)));
        }
        if !prompts::by_text(view, &[said])?[0] && prompts::is_users(said) {
            summary.injected += count.tokens;
        }
    }
    newest.truncate(provider::COMMITS);
    let appended = newest.iter().rev().map(|one| {
        let said = one.said.as_ref().filter(|_| one.row.appended().is_some());
        said.and_then(|said| count(one, said))
    });
    let tail = match appended.collect::<Option<Vec<_>>>() {
        Some(entries) => {
            let tokens: u64 = entries.iter().map(|(_, count)| count.tokens).sum();
            Tail {
                before: (summary.total.messages as usize).saturating_sub(entries.len()),
                before_tokens: summary.total.tokens.saturating_sub(tokens),
                entries,
                hides: summary.hidden > 0,
                rows: Some(newest.into_iter().map(|one| one.row).collect()),
            }
        }
        // A hide or an edit is near, or a message that is not counted.
        None => Tail::of_outline(view, &Outline::of(view, tip)?, summary.total, encoding)?,
    };
    Ok(Kept::Summary(Box::new(summary), added, tail))
}

/// What is shown of the largest message.
fn large_entry(view: &dyn View, largest: &LargestEntry) -> Result<Option<Large>> {
    view.look_ahead(Tips::At(&[largest.entry.commit]))?;
    let call = calls::lines(view, &[largest.entry])?.pop().flatten();
    Ok(load::told_row(view, &largest.content)?.map(|row| Large {
        number: largest.number as usize,
        role: row.role,
        tokens: largest.tokens,
        preview: row.preview,
        call,
    }))
}

/// The messages at these places, from 0.
pub(crate) fn large(
    view: &dyn View,
    context: &Context,
    counts: &[TokenCount],
    rows: &[Option<ContentRow>],
    places: &[usize],
) -> Result<Vec<Large>> {
    let entries: Vec<EntryId> = places.iter().map(|at| context.entries[*at].id).collect();
    let calls = calls::lines(view, &entries)?;
    let contents: Vec<ContentHash> = places
        .iter()
        .filter_map(|at| Some(rows[*at].as_ref()?.hash))
        .collect();
    let rows_told = load::told_rows(view, &contents)?;
    let large = places.iter().zip(calls).filter_map(|(at, call)| {
        let row = rows[*at].as_ref()?;
        Some(Large {
            number: at + 1,
            role: row.role,
            tokens: counts[*at],
            preview: rows_told[&row.hash].preview.clone(),
            call,
        })
    });
    Ok(large.collect())
}

/// How many commits of a session came in since a branch left it or took it over last; none on a fork.
fn new_in(
    view: &dyn View,
    (session, theirs): (&RefName, &CommitHash),
    (branch, ours): (&RefName, &CommitHash),
) -> Result<u64> {
    let Some(row) = view.commit(theirs)? else {
        return Ok(0);
    };
    let adopted = Adopted::of(view, session, theirs, ours)?.newest();
    let after = match adopted {
        Some(_) => adopted,
        None => {
            let parting = Parting::of(view, (session, theirs), (branch, ours))?;
            if parting.is_fork {
                return Ok(0);
            } else {
                parting.after
            }
        }
    };
    let mut known = view.shared(theirs, ours)?;
    if let Some(after) = after {
        known = known.max(view.commit(&after)?.map_or(0, |row| row.depth + 1));
    }
    Ok(row.depth + 1 - known)
}
