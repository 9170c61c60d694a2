//! A repository that is open here, as another one asks it.

use std::io::Cursor;

use super::denials::{Denial, Denials, Harm};
use super::erased::erased_on;
use super::{Answers, Beside, Brought, ErasedThere, LeftOut, Peer, PeerRef, PeerRefs, RefMove};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Author, Head, Millis, RefName, RefValue};
use crate::repo::ancestry::leads_to;
use crate::repo::call::{Call, On};
use crate::repo::config::Config;
use crate::repo::load;
use crate::repo::repository::{self, Repo};
use crate::store::{Tx, View};
use crate::sync::bundle::{
    BundleTip, FileState, Files, KeptFile, Packing, kept_files, ref_name, states, take_in,
};
use crate::upkeep::erase::Erasing;

/// What of a repository travels.
pub(super) const FOLDERS: [&str; 3] = [RefName::HEADS, RefName::TAGS, RefName::SESSIONS];

/// A repository on this machine.
pub struct Here<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// What time it is.
    pub now: &'a dyn Fn() -> Millis,
}

impl Here<'_> {
    /// Moves refs for somebody who says who they are; else for whoever is at work here.
    pub(super) fn move_refs_by(
        &mut self,
        who: Option<&Author>,
        what: &str,
        moves: &[RefMove],
    ) -> Result<()> {
        let tx = self.repo.store.write()?;
        let denies = Denials::of(&Config::of(&*tx)?)?;
        tx.begin_moves_by((self.now)(), &one_line(what), who.or(tx.worker()))?;
        for to in moves {
            refuse(to)?;
            if let Some(by) = denied(&*tx, to, &denies)? {
                return Err(Error::Denied {
                    name: to.name.short().to_owned(),
                    setting: by.setting(),
                });
            }
            apply(&*tx, to)?;
        }
        tx.commit()
    }
}

impl Answers for Here<'_> {
    fn has(&mut self, commits: &[CommitHash]) -> Result<Vec<bool>> {
        let found = self.repo.store.read()?.commits(commits)?;
        Ok(found.iter().map(Option::is_some).collect())
    }

    fn at(&mut self, places: &[(CommitHash, u64)]) -> Result<Vec<CommitHash>> {
        let view = self.repo.store.read()?;
        let at = |(tip, depth): &(CommitHash, u64)| {
            view.ancestor_at(tip, *depth)?
                .ok_or_else(|| Error::BeyondFirst {
                    text: format!("{} at {depth}", tip.short()),
                    first: tip.short(),
                })
        };
        places.iter().map(at).collect()
    }

    fn is_near(&self) -> bool {
        true
    }

    fn give(&mut self, tips: &[BundleTip], packing: Packing) -> Result<Vec<u8>> {
        Ok(self.repo.bundle_packed(tips, Files::None, packing)?.0)
    }

    fn take(&mut self, bundle: &[u8]) -> Result<Brought> {
        let tx = self.repo.store.write()?;
        let done = take_in(&*tx, &mut Cursor::new(bundle), &mut |_| {})?.done;
        tx.commit()?;
        Ok(Brought {
            commits: done.commits,
            contents: done.contents,
            sources: done.sources,
            erased: done.erased,
        })
    }

    fn kept_files(&mut self, tips: &[CommitHash]) -> Result<Vec<KeptFile>> {
        kept_files(&*self.repo.store.read()?, tips)
    }

    fn file_states(&mut self, tips: &[CommitHash], files: &[KeptFile]) -> Result<Vec<FileState>> {
        states(&*self.repo.store.read()?, tips, files)
    }

    fn give_files(
        &mut self,
        tips: &[BundleTip],
        files: &[KeptFile],
        packing: Packing,
    ) -> Result<Vec<u8>> {
        Ok(self
            .repo
            .bundle_packed(tips, Files::These(files), packing)?
            .0)
    }
}

impl Peer for Here<'_> {
    fn refs(&mut self) -> Result<PeerRefs> {
        let view = self.repo.store.read()?;
        let head = match repository::head(&*view, &On::Head)? {
            Head::Attached { branch, .. } => Some(branch),
            Head::Detached(_) => None,
        };
        let mut theirs = PeerRefs {
            head,
            denies: Denials::of(&Config::of(&*view)?)?,
            ..PeerRefs::default()
        };
        for folder in FOLDERS {
            for (name, commit) in load::tips(&*view, folder)? {
                let row = PeerRef {
                    depth: load::commit(&*view, &commit)?.depth,
                    beside: beside(&*view, &name, &commit)?,
                    name,
                    commit,
                };
                match row.fault() {
                    None => theirs.refs.push(row),
                    Some(why) => theirs.left_out.push(LeftOut::new(row.name.as_str(), why)),
                }
            }
        }
        Ok(theirs)
    }

    fn move_refs(&mut self, what: &str, moves: &[RefMove]) -> Result<()> {
        self.move_refs_by(None, what, moves)
    }

    fn erased(&mut self, contents: &[ContentHash]) -> Result<ErasedThere> {
        let view = self.repo.store.read()?;
        let known = view.content_rows(contents)?.into_iter();
        let purged = view.purged(contents)?;
        let kept = known.zip(purged).zip(contents);
        let kept = kept.filter(|((row, purged), _)| row.is_some() && !purged);
        let kept: Vec<ContentHash> = kept.map(|(_, content)| *content).collect();
        drop(view);
        if kept.is_empty() || !self.repo.config()?.erases_for_others()? {
            return Ok(ErasedThere {
                kept: kept.len() as u64,
                ..ErasedThere::default()
            });
        }
        let what = Erasing {
            contents: kept,
            ..Erasing::default()
        };
        let done = self.repo.erase(Call::at((self.now)(), "purge"), &what)?;
        Ok(ErasedThere {
            erased: done.contents,
            ..ErasedThere::default()
        })
    }

    fn erasures(&mut self, refs: &[PeerRef]) -> Result<Vec<ContentHash>> {
        let tips: Vec<CommitHash> = refs.iter().map(|row| row.commit).collect();
        erased_on(&*self.repo.store.read()?, &tips)
    }
}

/// What goes with a name.
pub(super) fn beside(view: &dyn View, name: &RefName, commit: &CommitHash) -> Result<Beside> {
    let note = if name.as_str().starts_with(RefName::TAGS) {
        view.tag_notes(std::slice::from_ref(name))?.remove(0)
    } else {
        None
    };
    Ok(Beside {
        note: note.filter(|note| note.commit == *commit),
        session: view.session(name)?,
    })
}

/// Refuses what nobody could have made, or what is not another's to move.
fn refuse(to: &RefMove) -> Result<()> {
    let name = &to.name;
    let refused = |reason| {
        let name = name.to_string();
        Err(Error::InvalidRefName { name, reason })
    };
    if !FOLDERS.iter().any(|it| name.as_str().starts_with(it)) {
        return refused("only branches, tags and sessions are moved from elsewhere");
    }
    // One that is there goes by whatever name.
    if to.new.is_some() && ref_name(name.as_str()).is_err() {
        return refused("no branch, tag or session is called so");
    }
    let is_tag = name.as_str().starts_with(RefName::TAGS);
    if is_tag && to.old.is_some() && to.new.is_some() && to.old != to.new {
        return refused("a tag does not move");
    }
    Ok(())
}

/// By which setting a move is denied, if it is.
fn denied(tx: &dyn Tx, to: &RefMove, denies: &Denials) -> Result<Option<Denial>> {
    let harm = match (to.old, to.new) {
        (Some(_), None) => Harm::Delete,
        (Some(old), Some(new)) if old != new && to.is_forced => Harm::Replace,
        _ => return Ok(None),
    };
    let Some(denial) = denies.of_ref(&to.name, harm) else {
        return Ok(None);
    };
    // One that goes on loses nothing, whatever it is called.
    match (to.old, to.new) {
        (Some(old), Some(new)) if leads_to(tx, &old, &new)? => Ok(None),
        _ => Ok(Some(denial)),
    }
}

/// What a stranger calls an operation, or themselves, as a line of the log that has an end.
pub(super) fn one_line(what: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut line: String = what.chars().take(WHAT_CHARS).map(plain).collect();
    if what.chars().nth(WHAT_CHARS).is_some() {
        line.push('…');
    }
    line
}

/// How much of what an operation is called from elsewhere is kept.
const WHAT_CHARS: usize = 400;

/// Moves one ref, if it is where it was expected.
pub(super) fn apply(tx: &dyn Tx, to: &RefMove) -> Result<()> {
    let held = tx.reference(&to.name)?;
    if held != to.old.map(RefValue::Commit) {
        let say = |commit: Option<CommitHash>| commit.map_or("nothing".to_owned(), |it| it.short());
        return Err(Error::RefMoved {
            name: to.name.short().to_owned(),
            expected: say(to.old),
            found: say(load::tip(tx, &to.name)?),
        });
    }
    if let Some(new) = to.new
        && tx.commit(&new)?.is_none()
    {
        // A collection has met what was carried before anything led there.
        return Err(Error::overtaken(to.name.to_string()));
    }
    if let (Some(old), Some(new), false) = (to.old, to.new, to.is_forced)
        && !leads_to(tx, &old, &new)?
    {
        return Err(Error::NotForward {
            name: to.name.short().to_owned(),
        });
    }
    tx.set_reference(&to.name, to.new.map(RefValue::Commit).as_ref())?;
    let is_tag = to.name.as_str().starts_with(RefName::TAGS);
    if is_tag && let Some(note) = &to.beside.note {
        tx.set_tag_note(&to.name, Some(note))?;
    }
    let Some(session) = to
        .beside
        .session
        .as_ref()
        .filter(|_| to.name.as_session().is_some())
    else {
        return Ok(());
    };
    // What was erased here may stand in a title.
    let is_new = tx.session(&to.name)?.is_none();
    let is_said = session.title.is_some() && tx.last_purge()?.is_none();
    if is_new || is_said {
        tx.put_session(&to.name, session)
    } else {
        Ok(())
    }
}
