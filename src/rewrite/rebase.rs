//! A branch's own commits put on another base.
//!
//! Each is carried over by itself (`rewrite::carry`), with its settings, note, author and time, and says
//! of which commit it is a copy. Everything or nothing: what does not fit, and what both sides changed
//! differently, is told, and then nothing is written. Deliberately absent: choosing which commits go.

use std::collections::{HashMap, HashSet};

use crate::context::plan::carry::{Carryover, Whose};
use crate::context::{Context, Entry};
use crate::error::{Conflict, Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::model::pairs::Pairs;
use crate::model::{Encoding, EntryId, Head, RefName, RefValue};
use crate::repo::ancestry::leads_to;
use crate::repo::call::{Call, On};
use crate::repo::chain::Chain;
use crate::repo::counts::Counting;
use crate::repo::head;
use crate::repo::load::{self, Fresh};
use crate::repo::path;
use crate::repo::pictures;
use crate::repo::repository::{self, Repo};
use crate::rewrite::Size;
use crate::rewrite::carry::{Carrier, conflicts};
use crate::store::{AdoptedRow, CommitRow, Tx, View};

/// What is put where.
#[derive(Clone, Debug)]
pub struct Rebase {
    /// The new base.
    pub onto: CommitHash,
    /// The commit behind which the own ones begin; where the branch parted from the new base, unless given.
    pub from: Option<CommitHash>,
    /// Commits that stay behind.
    pub skip: Vec<CommitHash>,
    /// Whose change of a message holds that both sides changed: the new base's are ours.
    pub whose: Option<Whose>,
    /// Change nothing.
    pub dry_run: bool,
    /// What sizes are counted in.
    pub encoding: Encoding,
}

/// What a rebase has done, or would do.
#[derive(Clone, Debug)]
pub struct Rebased {
    /// The branch.
    pub branch: RefName,
    /// The new base.
    pub onto: CommitHash,
    /// Where it was.
    pub before: CommitHash,
    /// Where it is.
    pub after: CommitHash,
    /// What became of each own commit, oldest first.
    pub steps: Vec<RebaseStep>,
    /// The context before.
    pub was: Size,
    /// The context after.
    pub is: Size,
    /// How much of the beginning is the same in both: what a provider's prompt cache can still use.
    pub kept: Size,
}

/// One of the branch's own commits.
#[derive(Clone, Debug)]
pub struct RebaseStep {
    /// Its hash.
    pub commit: CommitHash,
    /// The word of its operation.
    pub what: &'static str,
    /// What became of it.
    pub fate: RebaseFate,
}

/// What became of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RebaseFate {
    /// It is this one now.
    Put(CommitHash),
    /// What it does is so on the new base.
    Already,
    /// It was to stay behind.
    Skipped,
    /// It cannot be done there.
    Misfit(Refusal),
    /// What it changes was changed differently there.
    Conflict(Vec<Conflict>),
}

impl Rebased {
    /// Whether nothing is to be done: the branch is where it would be.
    pub fn is_nothing(&self) -> bool {
        self.before == self.after
    }

    /// How many commits were put on the new base.
    pub fn put(&self) -> usize {
        let put = |step: &&RebaseStep| matches!(step.fate, RebaseFate::Put(_));
        self.steps.iter().filter(put).count()
    }

    /// Refuses where something stands in the way.
    ///
    /// # Errors
    ///
    /// [`Error::Conflicts`], all of them; else [`Error::DoesNotFit`], the first that does not.
    pub fn refuse_blocked(&self) -> Result<()> {
        let mut all = Vec::new();
        let mut misfit = None;
        for step in &self.steps {
            match &step.fate {
                RebaseFate::Conflict(conflicts) => all.extend(conflicts.iter().cloned()),
                RebaseFate::Misfit(reason) => {
                    misfit = misfit.or(Some(Error::DoesNotFit {
                        commit: step.commit.short(),
                        what: step.what,
                        reason: reason.clone(),
                    }));
                }
                _ => {}
            }
        }
        if !all.is_empty() {
            return Err(Error::Conflicts { conflicts: all });
        }
        misfit.map_or(Ok(()), Err)
    }

    /// What stands in the way.
    pub fn blocked(&self) -> impl Iterator<Item = &RebaseStep> {
        let blocks = |step: &&RebaseStep| {
            matches!(step.fate, RebaseFate::Misfit(_) | RebaseFate::Conflict(_))
        };
        self.steps.iter().filter(blocks)
    }
}

impl Repo {
    /// Puts the own commits of the branch that the call is on on another base: messages, edits, hides, restores
    /// and priorities, each with its settings, note, author and time. `ORIG_HEAD` keeps where the branch was.
    /// Where something stands in the way ([`Rebased::blocked`]), or in a dry run, nothing is written.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::{Rebase, SurgeryOptions};
    /// use tract::rewrite::{Extent, Summary};
    /// use tract::model::{Draft, Encoding, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let say = |text| Draft::append(Message::text(Role::User, text));
    /// let (call, how) = (Call::default(), CommitOptions::default());
    /// let made = repo.commit(call, &[say("the task"), say("a detail")], &how)?;
    /// let done = repo.compact(call, &Extent::All, Summary::Text("in short"), &SurgeryOptions::default())?;
    /// repo.commit(call, &[say("go on")], &how)?;
    ///
    /// // What came after the compaction, on the state before it.
    /// let rebase = Rebase {
    ///     from: Some(done.surgery.commits[0].hash),
    ///     ..Rebase::onto(made[1].hash, Encoding::default())
    /// };
    /// let done = repo.rebase(call, &rebase)?;
    /// assert_eq!((done.put(), done.is.messages), (1, 3));
    /// assert_eq!(repo.head(&On::Head)?.commit(), Some(done.after));
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::DetachedHead`], [`Error::EmptyBranch`]; [`Error::NotOnPath`] where `from` or what is to be skipped is not
    /// on the branch; [`Error::Refused`] for histories that have nothing in common, for a base that goes on from
    /// the branch, and where a result would be without its call, or a call without its result.
    pub fn rebase(&self, call: Call<'_>, rebase: &Rebase) -> Result<Rebased> {
        let tx = self.store.write()?;
        let (branch, tip) = match repository::head(&*tx, call.on)? {
            Head::Attached { branch, tip } => (branch, tip),
            Head::Detached(_) => {
                let branch = repository::last_branch(&*tx)?;
                return Err(Error::DetachedHead { branch });
            }
        };
        let Some(tip) = tip else {
            return Err(head::without_commits(&*tx, &branch)?);
        };
        let (base, rows) = own(&*tx, &branch, &tip, rebase)?;
        let mut done = Rebased {
            branch,
            onto: rebase.onto,
            before: tip,
            after: tip,
            steps: Vec::new(),
            was: Size::default(),
            is: Size::default(),
            kept: Size::default(),
        };
        if rows.is_empty() || base == Some(rebase.onto) && rebase.skip.is_empty() {
            return Ok(done);
        }
        tx.begin_operation(call.now, call.what)?;
        let mut putting = Putting {
            tx: &*tx,
            chain: Chain::at(Some(rebase.onto)),
            carrier: Carrier::between(&*tx, base.as_ref(), Some(&rebase.onto))?,
            made: HashSet::new(),
            says: false,
        };
        let there = putting.there(&rows, base.as_ref(), rebase)?;
        for row in &rows {
            let fate = match there.contains(&row.hash) {
                true => putting.leave(row)?,
                false => putting.put(row, rebase)?,
            };
            done.steps.push(RebaseStep {
                commit: row.hash,
                what: row.commit.operation.verb(),
                fate,
            });
        }
        if done.blocked().next().is_some() {
            return Ok(done);
        }
        done.after = putting.chain.tip().unwrap_or(rebase.onto);
        putting.refuse_parted(&tip)?;
        let (was, is) = (
            load::context(&*tx, &tip)?,
            putting.chain.context(&*tx)?.clone(),
        );
        let counting = Counting::new(pictures::at(&*tx, &tip, rebase.encoding)?);
        let size = |context: &Context| {
            let entries: Vec<&Entry> = context.entries.iter().collect();
            Ok(counting.fill(&*tx, &entries, &Fresh::new())?.0)
        };
        let (before, after) = (size(&was)?, size(&is)?);
        let same = was.entries.iter().zip(&is.entries);
        let same =
            same.take_while(|(one, other)| one.content == other.content && one.mask == other.mask);
        (done.was, done.is) = (Size::of(&before), Size::of(&after));
        done.kept = Size::of(&before[..same.count()]);
        if rebase.dry_run {
            return Ok(done);
        }
        let commit = |commit| Some(RefValue::Commit(commit));
        tx.set_reference(&RefName::orig_head(), commit(tip).as_ref())?;
        if repository::head(&*tx, &On::Head)?.commit() == Some(tip) {
            tx.set_reference(&RefName::prev_head(), commit(tip).as_ref())?;
        }
        tx.set_reference(&done.branch, commit(done.after).as_ref())?;
        tx.commit()?;
        Ok(done)
    }
}

impl Rebase {
    /// All own commits onto a base.
    pub fn onto(onto: CommitHash, encoding: Encoding) -> Self {
        Self {
            onto,
            from: None,
            skip: Vec::new(),
            whose: None,
            dry_run: false,
            encoding,
        }
    }
}

/// The commit behind which the branch's own ones begin, and they, oldest first.
fn own(
    view: &dyn View,
    branch: &RefName,
    tip: &CommitHash,
    rebase: &Rebase,
) -> Result<(Option<CommitHash>, Vec<CommitRow>)> {
    load::commit(view, &rebase.onto)?;
    let refuse = |why| Err(Error::Refused(why));
    let base = match &rebase.from {
        Some(from) if view.is_ancestor(from, tip)? => *from,
        Some(from) => {
            let entry = from.short();
            return Err(Error::NotOnPath { entry });
        }
        None => match path::last_shared(view, &rebase.onto, tip)? {
            None => return refuse(Refusal::Unrelated),
            Some(base) if base == *tip && rebase.onto != *tip => {
                return refuse(Refusal::BehindOnto {
                    commit: rebase.onto.short(),
                    branch: branch.short().to_owned(),
                });
            }
            Some(base) => base,
        },
    };
    let mut rows = view.ancestors(tip, Some(&base), usize::MAX)?;
    rows.reverse();
    let is_own = |commit: &&CommitHash| rows.iter().any(|row| row.hash == **commit);
    if let Some(other) = rebase.skip.iter().find(|skipped| !is_own(skipped)) {
        let entry = other.short();
        return Err(Error::NotOnPath { entry });
    }
    Ok((Some(base), rows))
}

/// Own commits on their way to the new base.
struct Putting<'a> {
    tx: &'a dyn Tx,
    chain: Chain<'static>,
    carrier: Carrier<'a>,
    /// The commits that were made.
    made: HashSet<CommitHash>,
    /// Whether a message is among them.
    says: bool,
}

impl Putting<'_> {
    /// The own commits that the new base needs no more. What a later command changes has to be put there, and of copies
    /// that call tools, or answer calls, all are left or none.
    fn there(
        &self,
        rows: &[CommitRow],
        base: Option<&CommitHash>,
        rebase: &Rebase,
    ) -> Result<HashSet<CommitHash>> {
        let last_change = rows.iter().rposition(|row| row.appended().is_none());
        let behind = last_change.map_or(0, |last| last + 1);
        let mut there = HashSet::new();
        let mut tools: Vec<(CommitHash, bool)> = Vec::new();
        for row in &rows[behind..] {
            let is_wanted = !rebase.skip.contains(&row.hash);
            let is_there = is_wanted && self.is_there(row, base, &rebase.onto)?;
            let said = row.appended().filter(|_| row.commit.origin.is_some());
            let said = said.map(|content| self.tx.content_row(&content));
            let said = said.transpose()?.flatten();
            if said.is_some_and(|it| it.calls + it.results > 0) {
                tools.push((row.hash, is_there));
            } else if is_there {
                there.insert(row.hash);
            }
        }
        if tools.iter().all(|(_, is_there)| *is_there) {
            there.extend(tools.into_iter().map(|(commit, _)| commit));
        }
        Ok(there)
    }

    /// Whether a commit only brought in what the new base has since the branch parted from it: a merge of what leads
    /// there, or a copy of a message that it shows.
    fn is_there(
        &self,
        row: &CommitRow,
        base: Option<&CommitHash>,
        onto: &CommitHash,
    ) -> Result<bool> {
        if let (Some(merged), None) = (&row.commit.merged, &row.commit.origin) {
            return leads_to(self.tx, merged, onto);
        }
        for origin in path::origins(self.tx, row)? {
            let is_shared = |base| self.tx.is_ancestor(&origin, base);
            if self.carrier.shows_own(&EntryId::of(origin))?
                && !base.map_or(Ok(false), is_shared)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Leaves a commit behind of which the new base has all.
    fn leave(&mut self, row: &CommitRow) -> Result<RebaseFate> {
        self.carrier.pass(row.hash, &row.commit)?;
        Ok(RebaseFate::Already)
    }

    fn put(&mut self, row: &CommitRow, rebase: &Rebase) -> Result<RebaseFate> {
        let fate = if rebase.skip.contains(&row.hash) {
            RebaseFate::Skipped
        } else {
            match self
                .carrier
                .carry(&row.hash, &row.commit, &|_| rebase.whose)?
            {
                Carryover::Fits(fit) => {
                    let mut last = None;
                    for draft in &fit.drafts {
                        let (commit, _) = self.chain.push(self.tx, draft, row.commit.time)?;
                        self.carrier.make(commit.hash(), &commit)?;
                        last = Some(commit.hash());
                        self.made.insert(commit.hash());
                    }
                    self.says |= row.appended().is_some();
                    let last = last.unwrap_or(row.hash);
                    self.keep_known(row, &last)?;
                    RebaseFate::Put(last)
                }
                Carryover::Already => RebaseFate::Already,
                Carryover::Misfit(why) => RebaseFate::Misfit(why),
                Carryover::Conflict(clashes) => {
                    RebaseFate::Conflict(conflicts(&row.hash, &clashes))
                }
            }
        };
        self.carrier.pass(row.hash, &row.commit)?;
        Ok(fate)
    }

    /// What is known of a commit beside it is known of its copy.
    fn keep_known(&self, row: &CommitRow, copy: &CommitHash) -> Result<()> {
        if row.appended().is_none() {
            return Ok(());
        }
        let usage = self.tx.usage_records(&[row.hash])?;
        if let Some(usage) = usage.into_iter().flatten().next() {
            self.tx.put_usage_record(copy, &usage)?;
        }
        if !self.tx.told_injected(&[row.hash])?.is_empty() {
            self.tx.put_injected(copy)?;
        }
        for (source, spans) in self.tx.records(&[row.hash])?.into_iter().flatten() {
            self.tx.put_records(copy, source, &spans)?;
            if let Some(source) = self.tx.source(source)? {
                // What is new in the session comes behind it (`import --onto`).
                let (theirs, ours) = (row.hash, *copy);
                self.tx
                    .put_adopted(&source.session, AdoptedRow { theirs, ours })?;
            }
        }
        Ok(())
    }

    /// Refuses what would leave a result without the call that it had, or a call without its result; and
    /// messages behind a call of the new base that waits for one.
    fn refuse_parted(&mut self, tip: &CommitHash) -> Result<()> {
        let was = Carrier::between(self.tx, None, Some(tip))?.input(false)?;
        let is = self.carrier.input(false)?;
        let (before, after) = (was.pairs(), is.pairs());
        let (paired, pairs) = (partners(&before), partners(&after));
        let places = is.order.iter().enumerate();
        let places: HashMap<EntryId, usize> = places.map(|(at, one)| (one.entry.id, at)).collect();
        let mut waits_too = HashSet::new();
        for (at, one) in was.order.iter().enumerate() {
            let Some(place) = self.carrier.stands(&one.entry.id).map(|id| places[&id]) else {
                continue;
            };
            waits_too.extend(before.is_open(at).then_some(place));
            let lacks = pairs.get(&place) < paired.get(&at);
            if lacks && is.order[place].entry.visible {
                let commit = one.entry.id.commit.short();
                return Err(Error::Refused(Refusal::Parted { commit }));
            }
        }
        let waits = |at: &usize| {
            let is_base = !self.made.contains(&is.order[*at].entry.id.commit);
            is_base && after.is_open(*at) && !waits_too.contains(at)
        };
        match (0..is.order.len()).find(waits).filter(|_| self.says) {
            Some(at) => {
                let commit = is.order[at].entry.id.commit.short();
                Err(Error::Refused(Refusal::CallOpen { commit }))
            }
            None => Ok(()),
        }
    }
}

/// Of how many pairs each message is an end.
fn partners(pairs: &Pairs) -> HashMap<usize, usize> {
    let mut partners = HashMap::new();
    for pair in pairs.pairs() {
        *partners.entry(pair.call.0).or_default() += 1;
        *partners.entry(pair.result.0).or_default() += 1;
    }
    partners
}
