//! Where somebody stands in a repository of many directories, or of many people: each has a HEAD of its own.
//!
//! Deliberately absent: what a HEAD is on that was never moved (`head`), which repositories are of many directories, what
//! somebody is called, and how a store keeps several HEADs ([`Seat`]).

use std::path::Path;

use crate::error::Result;
use crate::model::{Author, RefName, RefValue};
use crate::repo::call::On;
use crate::repo::repository::Repo;
use crate::repo::{head, path};
use crate::store::{OperationRow, ReflogRow, Seat, View};

impl Repo {
    /// From here on HEAD, ORIG_HEAD and PREV_HEAD are those of a directory: `cwd`, or the nearest above it, below
    /// `root`, that has a HEAD or a session. At `root` itself they are nobody's. Nothing is written.
    ///
    /// ```
    /// use std::path::Path;
    /// use tract::repo::{Call, CommitOptions, On, Repo};
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
        let below = cwd.ancestors().take_while(|directory| *directory != root);
        let below: Vec<&str> = below.filter_map(Path::to_str).collect();
        let mut known = None;
        for directory in &below {
            let head = RefName::head().of_directory(directory);
            // Most often the nearest has been chosen in, and no session is asked for.
            if view.reference(&head)?.is_some() || !view.sessions_in(directory)?.is_empty() {
                known = Some(*directory);
                break;
            }
        }
        let seat = known.or(below.first().copied());
        let seat = Some(seat.map_or_else(Seat::of_root, Seat::of));
        drop(view);
        self.store.sit(seat);
        Ok(())
    }

    /// The directory whose HEAD this is, if it is one's.
    pub fn seat(&self) -> Option<&str> {
        self.store.seat().and_then(Seat::directory)
    }

    /// Says who is at work: each operation bears it, and so does each commit that names nobody else, if that is wanted.
    /// On a server, where many are at work in one repository, HEAD, ORIG_HEAD and PREV_HEAD are from here on this
    /// person's, by their name; without one they are nobody's.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Author, Draft, Message, Role};
    ///
    /// let mut repo = Repo::ephemeral()?;
    /// let mara = Author { name: Some("Mara".into()), ..Author::default() };
    /// repo.work_as(Some(mara.clone()), true);
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// let made = repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// assert_eq!(repo.operations(1)?[0].operation.by, Some(mara.clone()));
    /// assert_eq!(repo.commit_at(&made[0].hash)?.author, Some(mara));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn work_as(&mut self, who: Option<Author>, signs: bool) {
        if self.is_on_server() {
            let name = who.as_ref().and_then(|who| who.name.as_deref());
            self.store.sit(name.map(Seat::of_person));
        }
        self.signature = who.clone().filter(|_| signs);
        self.store.work_as(who);
    }

    /// Whoever is at work, by name.
    pub fn worker(&self) -> Option<&str> {
        self.store.worker()?.name.as_deref()
    }

    /// Who made the commits that are made here, where nobody else is named.
    pub fn signature(&self) -> Option<&Author> {
        self.signature.as_ref()
    }
}

/// What is somebody's own in a repository of many.
pub(crate) enum Own {
    Directory(OfDirectory),
    /// What was asked for in the directory above all of these.
    Root,
    /// What this person did.
    Person(String),
}

/// What belongs to a directory in a repository of many.
pub(crate) struct OfDirectory {
    directory: String,
    /// What HEAD is on there.
    branch: Option<RefName>,
    /// What the HEADs of other directories are on.
    others: Vec<RefName>,
}

impl Own {
    /// That of who looks from here; none where all is everybody's.
    pub(crate) fn of(view: &dyn View) -> Result<Option<Self>> {
        let Some(seat) = view.seat() else {
            return Ok(None);
        };
        let directory = match (seat.directory(), seat.person()) {
            (_, Some(name)) => return Ok(Some(Self::Person(name.to_owned()))),
            (Some(directory), None) => directory.to_owned(),
            (None, None) => return Ok(Some(Self::Root)),
        };
        let branch = head::head(view, &On::Head)?.branch().cloned();
        let all = view.references("")?.into_iter();
        let others = all.filter_map(|(name, on)| match on {
            RefValue::Symbolic(branch) if name.is_elsewhere() => Some(branch),
            _ => None,
        });
        Ok(Some(Self::Directory(OfDirectory {
            directory,
            branch,
            others: others.collect(),
        })))
    }

    /// Whether an operation is another person's, or was asked for in another directory. Where that was not written down,
    /// it is another directory's if all that it moved is.
    pub(crate) fn is_elsewhere(&self, view: &dyn View, operation: &OperationRow) -> Result<bool> {
        if let Self::Person(name) = self {
            let by = operation.by.as_ref().and_then(|by| by.name.as_ref());
            return Ok(by != Some(name));
        }
        if let Some(head) = view.asked_at(operation.id)? {
            return Ok(head != RefName::head());
        }
        let Self::Directory(own) = self else {
            return Ok(false);
        };
        let moves = view.moves(operation.id)?;
        for row in &moves {
            if own.has(view, row)? {
                return Ok(false);
            }
        }
        Ok(!moves.is_empty())
    }
}

impl OfDirectory {
    /// Whether a ref that was moved is, or may be, the directory's.
    fn has(&self, view: &dyn View, row: &ReflogRow) -> Result<bool> {
        if row.name.is_position() {
            return Ok(!row.name.is_elsewhere());
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
