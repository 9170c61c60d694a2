//! Where somebody stands in a repository of many directories: each has a HEAD of its own.
//!
//! Deliberately absent: what a HEAD is on that was never moved (`head`), which repositories are of many directories,
//! and how a store keeps several HEADs ([`Seat`]).

use std::collections::HashSet;
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
        // Most often the nearest has been chosen in, and no session is asked for.
        let mut ran_in: Option<HashSet<String>> = None;
        let below = cwd.ancestors().take_while(|directory| *directory != root);
        let below: Vec<&str> = below.filter_map(Path::to_str).collect();
        let mut known = None;
        for directory in &below {
            let head = RefName::head().of_directory(directory);
            let mut is_known = view.reference(&head)?.is_some();
            if !is_known {
                let ran_in = match &mut ran_in {
                    Some(ran_in) => ran_in,
                    none => {
                        let sessions = view.sessions()?.into_iter();
                        none.insert(sessions.filter_map(|(_, row)| row.cwd).collect())
                    }
                };
                is_known = ran_in.contains(*directory);
            }
            if is_known {
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
    pub fn seat(&self) -> Option<&str> {
        self.store.seat().map(Seat::directory)
    }
}

/// What belongs to a directory in a repository of many.
pub(crate) struct Own {
    directory: String,
    /// What HEAD is on there.
    branch: Option<RefName>,
    /// What the HEADs of other directories are on.
    others: Vec<RefName>,
}

impl Own {
    /// That of who looks from here; none where all is everybody's.
    pub(crate) fn of(view: &dyn View) -> Result<Option<Self>> {
        let Some(directory) = view.seat().map(|seat| seat.directory().to_owned()) else {
            return Ok(None);
        };
        let branch = head::head(view, &On::Head)?.branch().cloned();
        let all = view.references("")?.into_iter();
        let others = all.filter_map(|(name, on)| match on {
            RefValue::Symbolic(branch) if name.is_of_directory() => Some(branch),
            _ => None,
        });
        Ok(Some(Self {
            directory,
            branch,
            others: others.collect(),
        }))
    }

    /// Whether an operation is another directory's: all that it moved is.
    pub(crate) fn is_elsewhere(&self, view: &dyn View, operation: u64) -> Result<bool> {
        let moves = view.moves(operation)?;
        for row in &moves {
            if self.has(view, row)? {
                return Ok(false);
            }
        }
        Ok(!moves.is_empty())
    }

    /// Whether a ref that was moved is, or may be, the directory's.
    fn has(&self, view: &dyn View, row: &ReflogRow) -> Result<bool> {
        if row.name.is_position() {
            return Ok(!row.name.is_of_directory());
        }
        if self.branch.as_ref() == Some(&row.name) {
            return Ok(true);
        }
        let held = [&row.new, &row.old].into_iter().flatten();
        let Some(commit) = held.filter_map(RefValue::commit).next() else {
            return Ok(true);
        };
        Ok(match path::session_of(view, &commit)? {
            Some((_, session)) => session.cwd.as_deref() == Some(&*self.directory),
            None => !self.others.contains(&row.name),
        })
    }
}
