//! What is here, brought to another repository.

use std::collections::HashSet;

use super::carried::Carried;
use super::carry::{Load, Want};
use super::denials::Harm;
use super::erased::erased_on;
use super::here::{Here, beside};
use super::landed::{Landed, LandedRef, landed};
use super::leaks::Leaked;
use super::{ErasedThere, LeftOut, Peer, PeerRefs, RefMove, remotes};
use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::model::secret::{Leaving, SecretCounts, add_counts};
use crate::model::{RefName, RefValue};
use crate::repo::ancestry::{self, leads_to};
use crate::repo::call::Call;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::View;
use crate::sync::bundle::{BundleTip, Files, KeptFile};

/// How many commits are looked through for secrets at once.
const SCANNED: u64 = 1 << 13;
/// How many erased messages are told of at once.
const TOLD: usize = 1 << 12;

/// A ref that is to be somewhere in another repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRef {
    /// Its full name there.
    pub name: RefName,
    /// The commit; none: it is to be deleted.
    pub commit: Option<CommitHash>,
}

/// How things are brought there.
#[derive(Clone, Copy, Debug)]
pub struct PushOptions<'a> {
    /// What the other repository is called here; none: it has no name.
    pub remote: Option<&'a str>,
    /// Whether the settings name it so. If they do no more in the end, nobody writes down where its refs were seen.
    pub is_named: bool,
    /// Also the session files that were kept here.
    pub sources: bool,
    /// A ref that would lose commits moves all the same, if it is where it was last seen.
    pub with_lease: bool,
    /// Nothing is sent and nothing moves: what would become of it is told.
    pub is_dry: bool,
    /// What is done about secrets. They cannot be replaced: that is another history.
    pub leaving: Leaving<'a>,
}

/// What was brought there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// The objects.
    pub carried: Carried,
    /// What became of each ref, in the order in which they were named.
    pub refs: Vec<LandedRef>,
    /// What became there of messages that were erased here.
    pub erased: ErasedThere,
    /// Secrets that were let out.
    pub secrets: SecretCounts,
    /// What the other repository calls refs, and is none.
    pub left_out: Vec<LeftOut>,
    /// Branches here with commits that are not there, and that nobody wanted to go; sessions of which the same holds,
    /// for they went on there, too.
    pub stayed: Vec<RefName>,
    /// How many commits would be sent, where nothing is.
    pub would_send: u64,
}

impl Repo {
    /// Brings refs to another repository, and what they need. Each moves only forward there; those that cannot
    /// are left, and the others move as one operation.
    ///
    /// # Errors
    ///
    /// [`Error::Leaks`] where something would leave that must not, before anything has; what the other side says.
    /// No ref has moved then.
    pub fn push(
        &self,
        call: Call<'_>,
        peer: &mut dyn Peer,
        wanted: &[PushRef],
        options: &PushOptions<'_>,
        progress: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<Pushed> {
        let theirs = peer.refs()?;
        let mut done = Pushed {
            left_out: theirs.left_out.clone(),
            ..Pushed::default()
        };
        let mut moves = Vec::new();
        let mut wants = Vec::new();
        let view = self.store.read()?;
        for to in wanted {
            let old = theirs.get(&to.name).map(|row| row.commit);
            let mut lies = lies(&*view, to, old, options)?;
            if lies == Landed::Parted
                && let Some(is_there) = beside_theirs(&*view, to, wanted, &theirs)?
            {
                lies = Landed::Beside;
                done.stayed.extend((!is_there).then(|| to.name.clone()));
            }
            let harm = match lies {
                Landed::Deleted => Some(Harm::Delete),
                Landed::Replaced => Some(Harm::Replace),
                _ => None,
            };
            let denied = harm.and_then(|harm| theirs.denies.of_ref(&to.name, harm));
            let lies = denied.map_or(lies, Landed::Denied);
            if lies.moves() {
                let commit = to.commit.as_ref();
                moves.push(RefMove {
                    name: to.name.clone(),
                    old,
                    new: to.commit,
                    is_forced: lies == Landed::Replaced,
                    beside: commit
                        .map(|commit| beside(&*view, &to.name, commit))
                        .transpose()?
                        .unwrap_or_default(),
                });
            }
            if let Some(commit) = to.commit.filter(|_| lies.moves()) {
                let depth = load::commit(&*view, &commit)?.depth;
                wants.push(Want::new(to.name.clone(), commit, depth));
            }
            done.refs.push(LandedRef {
                name: to.name.clone(),
                old,
                new: to.commit,
                landed: lies,
            });
        }
        done.stayed.extend(stayed(&*view, wanted, &theirs)?);
        drop(view);
        let now = call.now;
        let mut here = Here {
            repo: self,
            now: &|| now,
        };
        peer.compare(&mut here, &mut wants)?;
        // What stays beside another one may not be there: its files go with the branch that has its commits.
        let paths = done.refs.iter();
        let paths = paths.filter(|row| !row.landed.is_refused() && row.landed != Landed::Beside);
        let paths: Vec<BundleTip> = paths
            .filter_map(|row| {
                let commit = row.new?;
                Some(BundleTip {
                    after: Some(commit),
                    ..BundleTip::new(row.name.clone(), commit)
                })
            })
            .collect();
        let files = if options.sources && options.leaving.secrets().is_some() {
            peer.missing_files(&mut here, &paths)?
        } else {
            Vec::new()
        };
        done.secrets = self.scanned(&wants, &moves, (&paths, &files), options)?;
        if options.is_dry {
            done.would_send = self.missing(&wants)?;
            return Ok(done);
        }
        let load = Load {
            wants,
            sources: options.sources,
            paths,
            progress,
        };
        done.carried = peer.send(&mut here, load)?;
        if !moves.is_empty() {
            peer.move_refs(call.what, &moves)?;
        }
        self.remember(call, &done, options)?;
        done.erased = self.tell_erased(&done, peer)?;
        Ok(done)
    }

    /// How many commits are missing there, each counted once whatever leads to it.
    fn missing(&self, wants: &[Want]) -> Result<u64> {
        let view = self.store.read()?;
        let mut missing: HashSet<CommitHash> = HashSet::new();
        for want in wants.iter().filter(|want| !want.is_there()) {
            if !missing.contains(&want.commit) {
                let after = want.tip().after;
                let rows = ancestry::beyond(&*view, &want.commit, after.as_slice())?;
                missing.extend(rows.iter().map(|row| row.hash));
            }
        }
        Ok(missing.len() as u64)
    }

    /// The secrets in what is missing there.
    fn scanned(
        &self,
        wants: &[Want],
        moves: &[RefMove],
        (paths, files): (&[BundleTip], &[KeptFile]),
        options: &PushOptions<'_>,
    ) -> Result<SecretCounts> {
        let mut counts = SecretCounts::default();
        let Some(secrets) = options.leaving.secrets() else {
            return Ok(counts);
        };
        let mut pieces: Vec<BundleTip> = Vec::new();
        for want in wants {
            let tip = want.tip();
            if tip.after == Some(tip.commit) || pieces.iter().any(|it| it.commit == tip.commit) {
                continue;
            }
            if options.sources {
                pieces.push(tip);
                continue;
            }
            let view = self.store.read()?;
            let mut after = tip.after;
            while after != Some(tip.commit) {
                let begin = match &after {
                    Some(after) => load::commit(&*view, after)?.depth + 1,
                    None => 0,
                };
                let end = (begin + SCANNED - 1).min(want.depth);
                let commit = view.ancestor_at(&tip.commit, end)?.unwrap_or(tip.commit);
                pieces.push(BundleTip {
                    name: tip.name.clone(),
                    commit,
                    after,
                });
                after = Some(commit);
            }
        }
        let mut leaked = Leaked::default();
        for piece in &pieces {
            let piece = std::slice::from_ref(piece);
            let behind = Files::behind(options.sources);
            let bundled = leaked.take(self.look_through(piece, behind, options.leaving))?;
            add_counts(&mut counts, &bundled.unwrap_or_default().secrets);
        }
        if !files.is_empty() {
            let bundled = self.look_through(paths, Files::These(files), options.leaving);
            let bundled = leaked.take(bundled)?;
            add_counts(&mut counts, &bundled.unwrap_or_default().secrets);
        }
        let mut beside = SecretCounts::default();
        for to in moves {
            let session = to.beside.session.iter();
            let said = session.flat_map(|it| it.title.iter().chain(&it.cwd));
            for text in said.chain(to.beside.note.iter().map(|note| &note.text)) {
                secrets.redact_text(text, &mut beside);
            }
        }
        if matches!(options.leaving, Leaving::Refused(_)) && !beside.is_empty() {
            leaked.take::<()>(Err(Error::Leaks {
                counts: beside.clone(),
                commits: Vec::new(),
            }))?;
        }
        leaked.end()?;
        add_counts(&mut counts, &beside);
        Ok(counts)
    }

    /// Writes down where the other's refs are now.
    fn remember(&self, call: Call<'_>, done: &Pushed, options: &PushOptions<'_>) -> Result<()> {
        let Some(remote) = options.remote else {
            return Ok(());
        };
        let tx = self.store.write()?;
        if options.is_named && !remotes::is_named(&*tx, remote)? {
            return Ok(());
        }
        tx.begin_moves(call.now, call.what)?;
        for row in &done.refs {
            let Ok(name) = RefName::of_remote(remote, &row.name) else {
                continue;
            };
            if row.landed.moves() || row.landed == Landed::Known {
                tx.set_reference(&name, row.new.map(RefValue::Commit).as_ref())?;
            }
        }
        tx.commit()
    }

    /// Tells the other side what of these paths was erased here.
    fn tell_erased(&self, done: &Pushed, peer: &mut dyn Peer) -> Result<ErasedThere> {
        let mut told = ErasedThere::default();
        let mut commits: Vec<CommitHash> = done.refs.iter().filter_map(|row| row.new).collect();
        commits.sort_unstable();
        commits.dedup();
        let erased = erased_on(&*self.store.read()?, &commits)?;
        for some in erased.chunks(TOLD) {
            let there = peer.erased(some)?;
            told.kept += there.kept;
            told.erased += there.erased;
            told.listed += there.listed;
        }
        Ok(told)
    }
}

/// Whether a session that has parted from the one there stays beside it, and if so, whether its own commits are there then:
/// they go with another ref, or are on one there. It stays where its branch goes, and the commits of the one there are here:
/// then nothing that a pull brings would change it.
fn beside_theirs(
    view: &dyn View,
    to: &PushRef,
    wanted: &[PushRef],
    theirs: &PeerRefs,
) -> Result<Option<bool>> {
    let there = theirs.get(&to.name);
    let (Some(commit), Some(_), Some(there)) = (&to.commit, to.name.as_session(), there) else {
        return Ok(None);
    };
    if view.commit(&there.commit)?.is_none() || !wanted.iter().any(|it| it.name.is_branch()) {
        return Ok(None);
    }
    let goes = wanted.iter().filter(|it| it.name != to.name);
    let goes = goes.filter_map(|it| it.commit);
    let is_there = theirs.refs.iter().map(|row| row.commit);
    for end in goes.chain(is_there) {
        if view.commit(&end)?.is_some() && leads_to(view, commit, &end)? {
            return Ok(Some(true));
        }
    }
    Ok(Some(false))
}

/// The branches that are not wanted there and have commits that neither are there nor go there.
fn stayed(view: &dyn View, wanted: &[PushRef], theirs: &PeerRefs) -> Result<Vec<RefName>> {
    let going: Vec<CommitHash> = wanted.iter().filter_map(|to| to.commit).collect();
    if going.is_empty() {
        return Ok(Vec::new());
    }
    let there: HashSet<CommitHash> = theirs.refs.iter().map(|row| row.commit).collect();
    let mut left = load::tips(view, RefName::HEADS)?;
    left.retain(|(name, tip)| !there.contains(tip) && !wanted.iter().any(|to| to.name == *name));
    for end in going.iter().take(COMPARED) {
        let tips: Vec<CommitHash> = left.iter().map(|(_, tip)| *tip).collect();
        let mut is_in = view.are_ancestors(&tips, end)?.into_iter();
        left.retain(|_| is_in.next() == Some(false));
    }
    let mut stayed = Vec::new();
    for (name, tip) in left {
        let is_there = match theirs.get(&name) {
            Some(row) if view.commit(&row.commit)?.is_some() => {
                view.is_ancestor(&tip, &row.commit)?
            }
            _ => false,
        };
        if !is_there {
            stayed.push(name);
        }
    }
    Ok(stayed)
}

/// With how many of the paths that go the branches that stay are compared.
const COMPARED: usize = 8;

/// How what is wanted lies to what is there.
fn lies(
    view: &dyn View,
    to: &PushRef,
    old: Option<CommitHash>,
    options: &PushOptions<'_>,
) -> Result<Landed> {
    let Some(new) = &to.commit else {
        return match old {
            Some(_) => Ok(Landed::Deleted),
            None => Err(Error::Refused(Refusal::NoSuchRef {
                kind: "ref there",
                name: to.name.short().to_owned(),
            })),
        };
    };
    let is_tag = to.name.as_str().starts_with(RefName::TAGS);
    let lies = match old {
        Some(old) if old != *new && (is_tag || view.commit(&old)?.is_none()) => Landed::Parted,
        old => landed(view, old, new)?,
    };
    if lies == Landed::Parted
        && let Some(old) = old
        && is_superseded(view, to, &old)?
    {
        return Ok(Landed::Replaced);
    }
    if lies != Landed::Parted || !options.with_lease {
        return Ok(lies);
    }
    let seen = match options.remote {
        Some(remote) => load::tip(view, &RefName::of_remote(remote, &to.name)?)?,
        None => None,
    };
    if seen == old {
        Ok(Landed::Replaced)
    } else {
        Ok(Landed::Unseen)
    }
}

/// How many of the places are known at which a session stood.
const MOVES: usize = 64;

/// Whether what is there is what a session, or the branch that follows it, was here before an import put more of the same in its
/// place: a client writes a reply piece by piece.
fn is_superseded(view: &dyn View, to: &PushRef, there: &CommitHash) -> Result<bool> {
    let followers = || -> Result<Vec<RefName>> {
        let followers = view.followers()?.into_iter();
        let of = followers.filter(|(_, branch)| *branch == to.name);
        Ok(of.map(|(session, _)| session).collect())
    };
    let sessions = match to.name.as_session() {
        Some(_) => vec![to.name.clone()],
        None => followers()?,
    };
    for session in sessions {
        let moves = view.reflog(&session, MOVES)?;
        let stood = |value: &Option<RefValue>| *value == Some(RefValue::Commit(*there));
        if load::tip(view, &session)? == to.commit && moves.iter().any(|row| stood(&row.old)) {
            return Ok(true);
        }
    }
    Ok(false)
}
