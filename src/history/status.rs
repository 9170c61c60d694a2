//! Where one is in one's context.

use crate::context::Context;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::adopted::Adopted;
use crate::history::call::On;
use crate::history::log::{LogOptions, LogRow};
use crate::history::parting::Parting;
use crate::history::provider::ProviderSays;
use crate::history::repo::Repo;
use crate::history::{called, path, provider};
use crate::model::tokens::context_total;
use crate::model::{Encoding, EntryId, Head, RefName, RefValue, Role, TokenCount};
use crate::store::{ContentRow, SessionRow, View};

/// How many of the newest commits a status shows.
const RECENT: usize = 3;

/// A position with its context summed up.
#[derive(Clone, Debug)]
pub struct Status {
    /// Where HEAD, or the branch asked for, stands.
    pub head: Head,
    /// The context there; empty in an empty repository.
    pub context: Context,
    /// What tokens are counted in.
    pub encoding: Encoding,
    /// The whole context's tokens.
    pub total: TokenCount,
    /// The tokens of the visible messages by role, for roles that occur.
    pub by_role: Vec<(Role, u64)>,
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
    /// The newest commits, newest first.
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
    /// use tract::history::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Encoding, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// let status = repo.status(&On::Head, Encoding::default())?;
    /// assert_eq!((status.context.entries.len(), status.total.tokens), (1, 8));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn status(&self, on: &On, encoding: Encoding) -> Result<Status> {
        let head = self.head(on)?;
        let budget = self.config()?.budget_max()?;
        let tip = head.commit();
        let context = match &tip {
            Some(tip) => self.context(tip)?,
            None => Context::default(),
        };
        let counts = self.counts(&context, encoding)?;
        let view = self.store.read()?;
        let contents: Vec<_> = context.entries.iter().map(|entry| entry.content).collect();
        let rows = view.content_rows(&contents)?;
        let of = |role| {
            let spoken = rows.iter().zip(&counts).filter_map(|(row, count)| {
                let is_of = row.as_ref().is_some_and(|row| row.role == role);
                is_of.then_some(count.tokens)
            });
            (role, spoken.sum::<u64>())
        };
        let by_role = Role::ALL.into_iter().map(of);
        let by_role = by_role.filter(|(_, tokens)| *tokens > 0).collect();
        let numbered = counts.iter().enumerate().rev();
        let largest = numbered.max_by_key(|(_, count)| count.tokens);
        let largest = largest.map(|(at, _)| at).into_iter().collect::<Vec<_>>();
        let largest = large(&*view, &context, &counts, &rows, &largest)?.pop();
        let provider = match &tip {
            Some(tip) => provider::says(&*view, tip, &context, &counts, encoding)?,
            None => ProviderSays::Nothing,
        };
        let (mut session, mut session_new) = (None, 0);
        if let Some(tip) = &tip {
            session = path::session_of(&*view, tip)?;
            if let (Some((name, _)), Some(branch)) = (&session, head.branch())
                && let Some(RefValue::Commit(theirs)) = view.reference(name)?
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
                Some(tip) => self.log(tip, &options)?,
                None => Vec::new(),
            },
            total: context_total(counts),
            head,
            context,
            encoding,
            by_role,
            largest,
            provider,
            session,
            session_new,
            budget,
        })
    }
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
    let calls = called::lines(view, &entries)?;
    let large = places.iter().zip(calls).filter_map(|(at, call)| {
        let row = rows[*at].as_ref()?;
        Some(Large {
            number: at + 1,
            role: row.role,
            tokens: counts[*at],
            preview: row.preview.clone(),
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
            match parting.is_fork {
                true => return Ok(0),
                false => parting.after,
            }
        }
    };
    let mut known = path::shared_commits(view, theirs, ours)?;
    if let Some(after) = after {
        known = known.max(view.commit(&after)?.map_or(0, |row| row.depth + 1));
    }
    Ok(row.depth + 1 - known)
}
