//! Where somebody stands in a repository of many directories: each has a HEAD of its own.
//!
//! Deliberately absent: what a HEAD is on that was never moved (`head`), which repositories are of many directories,
//! and how a store keeps several HEADs ([`Seat`]).

use std::path::Path;

use crate::error::Result;
use crate::history::call::On;
use crate::history::repo::Repo;
use crate::history::{head, path};
use crate::model::{RefName, RefValue};
use crate::store::{ReflogRow, Seat, View};

impl Repo {
    /// From here on HEAD, ORIG_HEAD and PREV_HEAD are those of a directory: `cwd`, or the nearest above it, below
    /// `root`, that has a HEAD or a session. Nothing is written.
    ///
    /// ```
    /// use std::path::Path;
    /// use tract::history::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let mut repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// repo.sit(Path::new("/home/me"), Path::new("/home/me/project"))?;
    /// let head = repo.head(&On::Head)?;
    /// assert_eq!((head.branch().unwrap().short(), head.commit()), ("project", None));
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn sit(&mut self, root: &Path, cwd: &Path) -> Result<()> {
        let view = self.store.read()?;
        let sessions = view.sessions()?;
        let has_session = |directory: &str| {
            let mut cwds = sessions.iter().filter_map(|(_, row)| row.cwd.as_deref());
            cwds.any(|cwd| cwd == directory)
        };
        let below = cwd.ancestors().take_while(|directory| *directory != root);
        let below: Vec<&str> = below.filter_map(Path::to_str).collect();
        let mut known = None;
        for directory in &below {
            let head = RefName::head().of_directory(directory);
            if has_session(directory) || view.reference(&head)?.is_some() {
                known = Some(*directory);
                break;
            }
        }
        let seat = known.or(below.first().copied()).map(Seat::of);
        drop(view);
        self.store.sit(seat);
        Ok(())
    }

    /// The directory whose HEAD this is, if it is one's.
    pub fn seat(&self) -> Result<Option<String>> {
        let view = self.store.read()?;
        Ok(view.seat().map(|seat| seat.directory().to_owned()))
    }
}

/// Whether a move that somebody made is none of those who look from here: all that it moved is another
/// directory's.
pub(crate) fn is_elsewhere(view: &dyn View, moves: &[ReflogRow]) -> Result<bool> {
    let Some(directory) = view.seat().map(Seat::directory) else {
        return Ok(false);
    };
    let here = head::head(view, &On::Head)?;
    for row in moves {
        let is_own = if row.name.is_position() {
            !row.name.is_of_directory()
        } else {
            here.branch() == Some(&row.name) || is_of(view, directory, row)?
        };
        if is_own {
            return Ok(false);
        }
    }
    Ok(!moves.is_empty())
}

/// Whether a branch, a tag or a session may be the directory's, as far as anybody knows.
fn is_of(view: &dyn View, directory: &str, row: &ReflogRow) -> Result<bool> {
    let held = [&row.new, &row.old].into_iter().flatten();
    let Some(commit) = held.filter_map(RefValue::commit).next() else {
        return Ok(true);
    };
    if let Some((_, session)) = path::session_of(view, &commit)? {
        return Ok(session.cwd.as_deref() == Some(directory));
    }
    let others = view.references("")?;
    let mut others = others.iter().filter(|(name, _)| name.is_of_directory());
    Ok(!others.any(|(_, on)| *on == RefValue::Symbolic(row.name.clone())))
}
