//! What another repository has, brought here.

use std::collections::HashSet;

use super::carried::Carried;
use super::carry::{Load, Want};
use super::here::{Here, apply};
use super::landed::{Landed, LandedRef, landed};
use super::remotes::{self, seen};
use super::{Answers, ErasedHere, LeftOut, Peer, PeerRef, PeerRefs, RefMove, erasures};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Head, RefName, RefValue};
use crate::repo::ancestry;
use crate::repo::call::Call;
use crate::repo::load;
use crate::repo::repository::{self, Repo};
use crate::store::Tx;
use crate::sync::bundle::BundleTip;

/// What is brought, and what of one's own goes along with it.
#[derive(Clone, Debug, Default)]
pub struct FetchOptions<'a> {
    /// What the other repository is called here.
    pub remote: &'a str,
    /// Its refs that are wanted; none: all.
    pub names: &'a [RefName],
    /// Also the session files that it has kept.
    pub sources: bool,
    /// Whether the settings name the remote. If they do no more in the end, because it was renamed or removed meanwhile, nothing
    /// lands.
    pub is_named: bool,
    /// What it has no more is forgotten here.
    pub prune: bool,
    /// What of one's own goes on where its own did.
    pub follow: Follow,
    /// The branch of its own that the one that is acted on follows; none: that of its name.
    pub branch: Option<&'a RefName>,
    /// The branch that HEAD goes to where its own has no commits yet; none: where the other's HEAD is.
    pub head: Option<&'a RefName>,
}

/// What of one's own goes along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// New tags alone.
    #[default]
    Tags,
    /// The branch that is acted on, and sessions.
    Head,
}

/// What was brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// The objects.
    pub carried: Carried,
    /// What became of refs here, those of the remote first.
    pub refs: Vec<LandedRef>,
    /// One's own that could not go along, for each has commits of its own.
    pub parted: Vec<Parted>,
    /// Refs of the other repository that cannot have a name here.
    pub nameless: Vec<RefName>,
    /// What it calls refs, and is none.
    pub left_out: Vec<LeftOut>,
    /// What became of messages that it has erased.
    pub erased: ErasedHere,
    /// How many of the sessions that are new here have no file here.
    pub without_file: u64,
    /// Where the remote's branch was seen that one's own goes on with, if it is not there any more.
    pub gone: Option<RefName>,
}

/// A ref that went on in another way in each repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parted {
    /// Its name here.
    pub name: RefName,
    /// Where the other repository's was seen.
    pub seen: RefName,
    /// How many commits only this one has.
    pub ours: u64,
    /// How many only the other has.
    pub theirs: u64,
}

impl Repo {
    /// Brings what another repository has: objects, then where its refs are, as one operation, which an undo
    /// takes back. With [`Follow::Head`] the branch that the call is on goes on where the one of its name did,
    /// if it has no commits of its own, and so do sessions; where HEAD's branch has no commits yet, HEAD goes to the branch that the other's HEAD is on.
    /// What was erased here stays so.
    ///
    /// # Errors
    ///
    /// What the other side says, [`Error::BrokenBundle`] for what is not as it should be, [`Error::Overtaken`] where
    /// a collection met what had arrived; no ref has moved then, and what arrived is not sent again.
    pub fn fetch(
        &self,
        call: Call<'_>,
        peer: &mut dyn Peer,
        options: &FetchOptions<'_>,
        progress: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<Fetched> {
        let mut theirs = peer.refs()?;
        let is_wanted =
            |row: &PeerRef| options.names.is_empty() || options.names.contains(&row.name);
        let others: Vec<PeerRef> = theirs.refs.extract_if(.., |row| !is_wanted(row)).collect();
        let mut named = options
            .names
            .iter()
            .chain(options.branch)
            .chain(options.head);
        if let Some(missing) = named.find(|name| theirs.get(name).is_none()) {
            return Err(Error::no_commit(missing.short()));
        }
        let mut done = Fetched::default();
        let now = call.now;
        let mut here = Here {
            repo: self,
            now: &|| now,
        };
        sound(&mut theirs, peer, &mut here)?;
        done.left_out = std::mem::take(&mut theirs.left_out);
        let rows = theirs.refs.iter();
        let wants = rows.clone();
        let wants = wants.map(|row| Want::new(row.name.clone(), row.commit, row.depth));
        let load = Load {
            wants: wants.collect(),
            sources: options.sources,
            paths: rows
                .map(|row| BundleTip {
                    after: Some(row.commit),
                    ..BundleTip::new(row.name.clone(), row.commit)
                })
                .collect(),
            progress,
        };
        done.carried = peer.bring(&mut here, load)?;
        let along = self.sessions_along(others, &theirs.refs)?;
        theirs.refs.extend(along);
        let tx = self.store.write()?;
        if options.is_named && !remotes::is_named(&*tx, options.remote)? {
            return Err(Error::overtaken(options.remote));
        }
        tx.begin_moves(call.now, call.what)?;
        let mut landing = Landing {
            tx: &*tx,
            done: &mut done,
        };
        landing.remote(&theirs, options)?;
        landing.tags(&theirs)?;
        if options.follow == Follow::Head {
            landing.own(&theirs, call, options)?;
        }
        landing.files(&theirs, options)?;
        tx.commit()?;
        done.erased = erasures::ask(&mut here, peer, &theirs.refs)?;
        Ok(done)
    }
}

impl Repo {
    /// The sessions that have come along with what was asked for: without them, their files would be nobody's here.
    fn sessions_along(&self, others: Vec<PeerRef>, wanted: &[PeerRef]) -> Result<Vec<PeerRef>> {
        let mut sessions = others;
        sessions.retain(|row| row.name.as_session().is_some());
        if sessions.is_empty() {
            return Ok(sessions);
        }
        let view = self.store.read()?;
        let ends: Vec<CommitHash> = sessions.iter().map(|row| row.commit).collect();
        let mut is_along = vec![false; ends.len()];
        for row in wanted {
            let on_the_way = view.are_ancestors(&ends, &row.commit)?;
            is_along
                .iter_mut()
                .zip(on_the_way)
                .for_each(|(along, is)| *along |= is);
        }
        let mut is_along = is_along.into_iter();
        sessions.retain(|_| is_along.next() == Some(true));
        for row in &mut sessions {
            row.depth = load::commit(&*view, &row.commit)?.depth;
        }
        Ok(sessions)
    }
}

/// Leaves out the refs that say what cannot be: they would stop the others.
fn sound(theirs: &mut PeerRefs, peer: &mut dyn Peer, here: &mut Here<'_>) -> Result<()> {
    let commits: Vec<CommitHash> = theirs.refs.iter().map(|row| row.commit).collect();
    let known = here.has(&commits)?;
    let new = theirs.refs.iter().zip(&known);
    let new: Vec<PeerRef> = new
        .filter(|(_, is_here)| !**is_here)
        .map(|(row, _)| row.clone())
        .collect();
    let mut so_deep = peer.are_so_deep(&new)?.into_iter();
    let mut known = known.into_iter();
    let view = here.repo.store.read()?;
    let mut refs = Vec::new();
    for mut row in std::mem::take(&mut theirs.refs) {
        if known.next() == Some(true) {
            row.depth = load::commit(&*view, &row.commit)?.depth;
        } else if so_deep.next() != Some(true) {
            let why = "it is not as deep as it says";
            theirs.left_out.push(LeftOut::new(row.name.as_str(), why));
            continue;
        }
        refs.push(row);
    }
    theirs.refs = refs;
    Ok(())
}

/// At how many of a session's last commits it is seen whether its file is here: each may be one that no record says.
const LAST: usize = 8;

/// How many moves of a ref are looked through.
const MOVES: usize = 1_000;

struct Landing<'a> {
    tx: &'a dyn Tx,
    done: &'a mut Fetched,
}

impl Landing<'_> {
    /// Counts the sessions that came without their files.
    fn files(&mut self, theirs: &PeerRefs, options: &FetchOptions<'_>) -> Result<()> {
        let new = self.done.refs.iter();
        let new = new.filter(|row| row.landed == Landed::New);
        let new: HashSet<&RefName> = new.map(|row| &row.name).collect();
        let has_any = self.tx.has_sources()?;
        for row in &theirs.refs {
            let seen = RefName::of_remote(options.remote, &row.name);
            let is_new = || seen.is_ok_and(|seen| new.contains(&seen));
            if row.name.as_session().is_some()
                && is_new()
                && !(has_any && self.has_records(&row.commit)?)
            {
                self.done.without_file += 1;
            }
        }
        Ok(())
    }

    /// Whether something of the last commits stands in a file that is here.
    fn has_records(&self, tip: &CommitHash) -> Result<bool> {
        let last = self.tx.ancestors(tip, None, LAST)?;
        let last: Vec<CommitHash> = last.iter().map(|row| row.hash).collect();
        Ok(!self.tx.sources_behind(&last)?.is_empty())
    }

    /// Where the remote's refs are.
    fn remote(&mut self, theirs: &PeerRefs, options: &FetchOptions<'_>) -> Result<()> {
        let mut named = Vec::new();
        for row in &theirs.refs {
            match RefName::of_remote(options.remote, &row.name) {
                Ok(name) => named.push((name, row)),
                Err(_) => self.done.nameless.push(row.name.clone()),
            }
        }
        // What cannot be read there has not gone.
        if options.prune && options.names.is_empty() && self.done.left_out.is_empty() {
            let there: HashSet<&RefName> = named.iter().map(|(name, _)| name).collect();
            for (name, _) in seen(self.tx, options.remote)? {
                if !there.contains(&name) {
                    let old = load::tip(self.tx, &name)?;
                    self.put(&name, old, None, Landed::Deleted)?;
                }
            }
        }
        for (name, row) in named {
            let old = load::tip(self.tx, &name)?;
            let landed = landed(self.tx, old, &row.commit)?;
            let landed = match landed {
                // Where it was is where it is: it may have been set back.
                Landed::Further | Landed::Parted => Landed::Replaced,
                landed => landed,
            };
            self.put(&name, old, Some(row), landed)?;
            // What a session is called is known before it is here.
            if let Some(session) = &row.beside.session
                && row.name.as_session().is_some()
                && self.tx.session(&row.name)?.is_none()
            {
                self.tx.put_session(&row.name, session)?;
            }
        }
        Ok(())
    }

    /// Tags that are not here yet. One that is here never moves.
    fn tags(&mut self, theirs: &PeerRefs) -> Result<()> {
        for row in &theirs.refs {
            let is_tag = row.name.as_str().starts_with(RefName::TAGS);
            if is_tag && self.tx.reference(&row.name)?.is_none() {
                self.put(&row.name, None, Some(row), Landed::New)?;
            }
        }
        Ok(())
    }

    /// One's own branch, and sessions.
    fn own(&mut self, theirs: &PeerRefs, call: Call<'_>, options: &FetchOptions<'_>) -> Result<()> {
        let branch = match repository::head(self.tx, call.on)? {
            Head::Detached(_) => None,
            Head::Attached { branch, tip } => {
                let is_unborn = tip.is_none();
                let first = theirs.refs.iter().find(|row| row.name.is_branch());
                let first = first.filter(|_| theirs.get(&branch).is_none());
                // A shelf has no HEAD.
                let theirs = options
                    .head
                    .or(theirs.head.as_ref())
                    .filter(|head| theirs.get(head).is_some())
                    .or(first.map(|row| &row.name));
                match theirs.filter(|head| is_unborn && **head != branch) {
                    Some(head) if self.tx.reference(head)?.is_none() => {
                        let to = RefValue::Symbolic(head.clone());
                        self.tx.set_reference(&RefName::head(), Some(&to))?;
                        Some(head.clone())
                    }
                    _ => Some(branch),
                }
            }
        };
        let followed = options.branch.or(branch.as_ref());
        let gone = followed.filter(|name| theirs.get(name).is_none());
        if let Some(Ok(seen)) = gone.map(|name| RefName::of_remote(options.remote, name))
            && self.done.left_out.is_empty()
            && self.tx.reference(&seen)?.is_some()
        {
            self.done.gone = Some(seen);
        }
        for row in &theirs.refs {
            if let Some(own) = branch.as_ref().filter(|_| Some(&row.name) == followed) {
                self.one(own, row, options.remote)?;
            } else if row.name.as_session().is_some() {
                self.one(&row.name, row, options.remote)?;
            }
        }
        Ok(())
    }

    /// One of one's own, which goes on where the other repository's did.
    fn one(&mut self, own: &RefName, row: &PeerRef, remote: &str) -> Result<()> {
        let old = load::tip(self.tx, own)?;
        let landed = landed(self.tx, old, &row.commit)?;
        match (landed, old) {
            (Landed::Parted, Some(old)) if self.came_from_there((own, &old), row, remote)? => {
                self.put(own, Some(old), Some(row), Landed::Replaced)
            }
            (Landed::Parted, Some(_)) if own.as_session().is_some() && self.is_merged(row)? => {
                Ok(())
            }
            (Landed::Parted, Some(old)) => {
                let beyond = |one: &CommitHash, other: &CommitHash| -> Result<u64> {
                    Ok(ancestry::beyond(self.tx, one, &[*other])?.len() as u64)
                };
                self.done.parted.push(Parted {
                    name: own.clone(),
                    seen: RefName::of_remote(remote, &row.name)?,
                    ours: beyond(&old, &row.commit)?,
                    theirs: beyond(&row.commit, &old)?,
                });
                Ok(())
            }
            (Landed::Further, _) => Ok(()),
            (landed, old) => self.put(own, old, Some(row), landed),
        }
    }

    /// Whether one's own ref has this commit from there: it was there before it was here. Then nothing was added here, and what
    /// that one has in its place holds.
    fn came_from_there(
        &self,
        (own, commit): (&RefName, &CommitHash),
        row: &PeerRef,
        remote: &str,
    ) -> Result<bool> {
        let first = |name: &RefName| -> Result<Option<u64>> {
            let moves = self.tx.reflog(name, MOVES)?;
            let came = moves
                .iter()
                .rfind(|row| row.new == Some(RefValue::Commit(*commit)));
            Ok(came.map(|row| row.operation))
        };
        let seen = first(&RefName::of_remote(remote, &row.name)?)?;
        Ok(seen
            .zip(first(own)?)
            .is_some_and(|(there, here)| there <= here))
    }

    /// Whether a branch of one's own has all of it: then there is nothing to say.
    fn is_merged(&self, row: &PeerRef) -> Result<bool> {
        for (_, tip) in load::tips(self.tx, RefName::HEADS)? {
            if ancestry::leads_to(self.tx, &row.commit, &tip)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn put(
        &mut self,
        name: &RefName,
        old: Option<CommitHash>,
        row: Option<&PeerRef>,
        landed: Landed,
    ) -> Result<()> {
        let new = row.map(|row| row.commit);
        if old != new {
            let to = RefMove {
                name: name.clone(),
                old,
                new,
                is_forced: true,
                beside: row.map(|row| row.beside.clone()).unwrap_or_default(),
            };
            apply(self.tx, &to)?;
        }
        self.done.refs.push(LandedRef {
            name: name.clone(),
            old,
            new,
            landed,
        });
        Ok(())
    }
}
