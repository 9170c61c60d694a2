//! Which imported sessions a collection lets go, where somebody has set how many are kept.
//!
//! Letting go of a session takes its ref away, and that of the branch that only follows it, as an operation like any
//! other: `undo` brings both back for as long as the log leads to them, and only what the log has forgotten goes from the
//! disk. Deliberately absent: a rule that holds unasked, and any that takes a branch, a tag or what either leads to.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::retention::{Expire, Retention};
use crate::model::{Millis, RefName, RefValue};
use crate::repo::repository::Repo;
use crate::repo::{by_branch, kept, load, path};
use crate::store::{Tx, View};
use crate::upkeep::gc::{Collected, DAY_MS};

/// How far back the time of a session's end is looked for.
const COMMITS: usize = 64;

/// A session that is let go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetGo {
    /// Its ref.
    pub session: RefName,
    /// The refs below it, which go with it: what was taken back in it, and its sub-agents.
    pub below: Vec<RefName>,
    /// Where it ended.
    pub tip: CommitHash,
    /// The branches that only followed any of these, and go with them.
    pub branches: Vec<RefName>,
    /// Its title. Hostile until escaped.
    pub title: Option<String>,
    /// When the last thing was said in it; where no message has a time, when it came in.
    pub last: Option<Millis>,
}

impl LetGo {
    /// All refs that go.
    pub fn refs(&self) -> impl Iterator<Item = &RefName> {
        let sessions = [&self.session].into_iter().chain(&self.below);
        self.branches.iter().chain(sessions)
    }
}

/// Which of some sessions are not let go though no rule keeps them. It is asked within the transaction that lets go:
/// whatever came in before is seen, and whatever comes in later finds what was let go gone.
pub type Stays<'a> = dyn Fn(&dyn View, &[RefName]) -> Result<HashSet<RefName>> + 'a;

/// A session as it is judged, with the refs below it.
struct Judged {
    /// Its own first.
    refs: Vec<(RefName, CommitHash)>,
    /// When something was said last in any of them.
    said: Option<Millis>,
    /// When an import moved one of them last.
    moved: Option<Millis>,
}

impl Judged {
    fn name(&self) -> &RefName {
        &self.refs[0].0
    }

    fn last(&self) -> Option<Millis> {
        self.said.or(self.moved)
    }

    fn has_any_of(&self, names: &HashSet<RefName>) -> bool {
        self.refs.iter().any(|(name, _)| names.contains(name))
    }
}

impl Repo {
    /// Lets go of the sessions that neither the rule nor anything else keeps: a branch of one's own, a tag, a HEAD, a
    /// commit that was taken over, or the caller, who knows which of them would only come in again (`stays`). One
    /// operation, which can be undone.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn let_go(
        &self,
        retention: Retention,
        stays: &Stays<'_>,
        now: Millis,
    ) -> Result<Vec<LetGo>> {
        let tx = self.store.write()?;
        let gone = apply(&*tx, retention, stays, now)?;
        if !gone.is_empty() {
            tx.commit()?;
        }
        Ok(gone)
    }

    /// What [`Repo::let_go`] would let go. Nothing changes.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn let_go_forecast(
        &self,
        retention: Retention,
        stays: &Stays<'_>,
        now: Millis,
    ) -> Result<Vec<LetGo>> {
        expired(&*self.store.read()?, retention, stays, now)
    }

    /// What [`Repo::let_go`] and then [`Repo::gc`] would take out. Nothing changes.
    ///
    /// # Errors
    ///
    /// As [`Repo::gc`].
    pub fn gc_forecast_of(
        &self,
        retention: Retention,
        stays: &Stays<'_>,
        expire: Expire,
        now: Millis,
    ) -> Result<Collected> {
        let first = |tx: &dyn Tx| apply(tx, retention, stays, now).map(drop);
        self.gc_forecast_after(first, expire, now)
    }
}

/// Lets go within a transaction.
fn apply(tx: &dyn Tx, retention: Retention, stays: &Stays<'_>, now: Millis) -> Result<Vec<LetGo>> {
    let gone = expired(tx, retention, stays, now)?;
    if !gone.is_empty() {
        tx.begin_operation(now, &format!("gc --keep {retention}"))?;
    }
    for one in &gone {
        for name in one.refs() {
            tx.set_reference(name, None)?;
        }
    }
    Ok(gone)
}

/// The sessions that nothing keeps, the oldest first.
fn expired(
    view: &dyn View,
    retention: Retention,
    stays: &Stays<'_>,
    now: Millis,
) -> Result<Vec<LetGo>> {
    // Nothing that is set keeps nothing away from anybody.
    if retention.newest.is_none() && retention.days.is_none() {
        return Ok(Vec::new());
    }
    let mut sessions = judged(view, retention, now)?;
    // Newest first; of two of one time, the order of names says which.
    sessions.sort_by(|a, b| (b.last(), a.name()).cmp(&(a.last(), b.name())));
    let newest = retention.newest.unwrap_or(0);
    let old = sessions.into_iter().enumerate().filter(|(at, session)| {
        let is_newest = (*at as u64) < newest;
        let is_recent = retention
            .days
            .is_some_and(|days| is_within(session, days, now));
        !is_newest && !is_recent
    });
    let mut old: Vec<Judged> = old.map(|(_, session)| session).collect();
    let names = old.iter().flat_map(|session| &session.refs);
    let names: Vec<RefName> = names.map(|(name, _)| name.clone()).collect();
    let stays = stays(view, &names)?;
    old.retain(|session| !session.has_any_of(&stays));
    if old.is_empty() {
        return Ok(Vec::new());
    }
    let followers = followers(view, &old)?;
    let held = held(view, &followers, &old)?;
    let rows = view.sessions()?.into_iter();
    let titles: HashMap<RefName, Option<String>> =
        rows.map(|(name, row)| (name, row.title)).collect();
    let mut gone = Vec::new();
    'sessions: for session in old.into_iter().rev() {
        if session.has_any_of(&held) {
            continue;
        }
        for (name, _) in &session.refs {
            if !view.adopted(name)?.is_empty() {
                continue 'sessions;
            }
        }
        let is_own = |of: &RefName| session.refs.iter().any(|(name, _)| name == of);
        let branches = followers.iter().filter(|(_, of)| is_own(of));
        let mut branches: Vec<RefName> = branches.map(|(name, _)| name.clone()).collect();
        branches.sort_unstable();
        let last = session.last();
        let mut refs = session.refs.into_iter();
        let (session, tip) = refs.next().expect("its own");
        gone.push(LetGo {
            title: titles.get(&session).cloned().flatten(),
            below: refs.map(|(name, _)| name).collect(),
            session,
            tip,
            branches,
            last,
        });
    }
    Ok(gone)
}

/// Whether something was said in it, or it came in, within so many days. What has no time at all is not old.
fn is_within(session: &Judged, days: u64, now: Millis) -> bool {
    let newest = session.said.max(session.moved);
    newest.is_none() || is_since(newest, days, now)
}

fn is_since(time: Option<Millis>, days: u64, now: Millis) -> bool {
    let days = i64::try_from(days).unwrap_or(i64::MAX);
    let from = now.0.saturating_sub(days.saturating_mul(DAY_MS));
    time.is_some_and(|time| time.0 >= from)
}

/// All sessions with their times.
fn judged(view: &dyn View, retention: Retention, now: Millis) -> Result<Vec<Judged>> {
    let tips = load::tips(view, RefName::SESSIONS)?;
    let hashes: Vec<CommitHash> = tips.iter().map(|(_, tip)| *tip).collect();
    let rows = view.commits(&hashes)?;
    let operations = view.operations(None, usize::MAX)?;
    let times: HashMap<u64, Millis> = operations.iter().map(|row| (row.id, row.time)).collect();
    let names: HashSet<String> = tips.iter().map(|(name, _)| name.to_string()).collect();
    let mut sessions: BTreeMap<String, Judged> = BTreeMap::new();
    // A session's own ref comes before those below it.
    for ((name, tip), row) in tips.into_iter().zip(rows) {
        let said = match row.and_then(|row| row.commit.time) {
            Some(time) => Some(time),
            // The last commits of some formats have none.
            None => {
                let before = view.ancestors(&tip, None, COMMITS)?;
                before.into_iter().find_map(|row| row.commit.time)
            }
        };
        // When it came in is asked for where nothing else keeps it.
        let is_recent = retention.days.is_none_or(|days| is_since(said, days, now));
        let newest = if said.is_some() && is_recent {
            None
        } else {
            view.reflog(&name, 1)?.pop()
        };
        let moved = newest.and_then(|row| times.get(&row.operation).copied());
        let session = sessions.entry(own(&name, &names)).or_insert(Judged {
            refs: Vec::new(),
            said: None,
            moved: None,
        });
        session.said = session.said.max(said);
        session.moved = session.moved.max(moved);
        session.refs.push((name, tip));
    }
    Ok(sessions.into_values().collect())
}

/// The session that a ref is of: the first one that it lies below, else itself.
fn own(name: &RefName, all: &HashSet<String>) -> String {
    let text = name.as_str();
    let ends = text.match_indices('/').map(|(at, _)| &text[..at]);
    let own = ends.into_iter().find(|above| all.contains(*above));
    own.unwrap_or(text).to_owned()
}

/// The branches that only follow one of these sessions: they end where it does, and have nothing of their own, nor a name that
/// somebody gave them.
fn followers(view: &dyn View, of: &[Judged]) -> Result<HashMap<RefName, RefName>> {
    let branches = load::tips(view, RefName::HEADS)?;
    let branches: HashMap<RefName, CommitHash> = branches.into_iter().collect();
    let sessions = of.iter().flat_map(|session| session.refs.iter().cloned());
    let sessions: HashMap<RefName, CommitHash> = sessions.collect();
    let mut followers = HashMap::new();
    for (session, branch) in view.followers()? {
        let tip = branches.get(&branch);
        let is_at_end = tip.is_some() && tip == sessions.get(&session);
        if is_at_end && view.merging(&branch)?.is_none() && !by_branch::is_named(&session, &branch)?
        {
            followers.insert(branch, session);
        }
    }
    Ok(followers)
}

/// The sessions that some other ref leads to: where its newest imported commit came from.
fn held(
    view: &dyn View,
    followers: &HashMap<RefName, RefName>,
    of: &[Judged],
) -> Result<HashSet<RefName>> {
    let refs = view.references("")?;
    // A HEAD that was never moved is on main, and stands nowhere.
    let main = RefName::branch("main")?;
    let mut names: HashSet<&RefName> = HashSet::from([&main]);
    let mut tips: HashSet<CommitHash> = HashSet::new();
    for (name, value) in &refs {
        let is_session = name.as_session().is_some();
        if is_session || followers.contains_key(name) {
            continue;
        }
        // A HEAD on a branch that only follows holds that branch, and its session.
        match value {
            RefValue::Commit(commit) => drop(tips.insert(*commit)),
            RefValue::Symbolic(name) => drop(names.insert(name)),
        }
    }
    let mut held: HashSet<RefName> = names
        .iter()
        .filter_map(|name| followers.get(*name).cloned())
        .collect();
    held.extend(
        names
            .iter()
            .filter(|name| name.as_session().is_some())
            .map(|name| (*name).clone()),
    );
    // Where a file has several sessions, its commits tell of the file alone: the one that ends there is meant.
    let mut ends: HashMap<CommitHash, Vec<&RefName>> = HashMap::new();
    for (name, tip) in of.iter().flat_map(|session| &session.refs) {
        ends.entry(*tip).or_default().push(name);
    }
    for tip in tips {
        held.extend(path::sessions_of(view, &tip)?);
        let newest = kept::newest_imported(view, &tip)?;
        let ends_there = newest.and_then(|(commit, _)| ends.get(&commit));
        held.extend(ends_there.into_iter().flatten().map(|name| (*name).clone()));
    }
    Ok(held)
}
