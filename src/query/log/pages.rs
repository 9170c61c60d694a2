//! A log page by page: the newest of a long history are there at once, and no more of it is held than one page.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::query::log::{LogOptions, LogRow, Numbering};
use crate::repo::On;
use crate::repo::load;
use crate::repo::repository::{self, Repo};
use crate::store::View;

/// How many commits are read at once.
const PAGE: usize = 1_000;

/// The refs by the commit that they point at; HEAD first.
type Names = HashMap<CommitHash, Vec<RefName>>;

/// The commits of a path, newest first, some at a time: what [`Repo::log_pages`] gives.
pub struct LogPages<'a> {
    repo: &'a Repo,
    options: LogOptions,
    /// Where the next page begins.
    next: Option<CommitHash>,
    /// How many are wanted yet.
    left: usize,
    /// How many a page has.
    page: usize,
    /// Whether what a page is read from was found to be kept, so far.
    is_known: bool,
    numbering: Numbering,
    /// All refs, from the second page on.
    names: Option<Names>,
    is_first: bool,
}

impl Repo {
    /// What [`Repo::log`] lists, a page at a time; none of them is empty. Each is read when it is asked for. The path stays
    /// the same, whatever is written meanwhile.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::query::LogOptions;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let hi = Draft::append(Message::text(Role::User, "Hi"));
    /// repo.commit(Call::default(), &[hi], &CommitOptions::default())?;
    ///
    /// let tip = repo.resolve(&On::Head, "HEAD")?;
    /// for page in repo.log_pages(&tip, &LogOptions::default()) {
    ///     assert_eq!(page?[0].preview, "Hi");
    /// }
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn log_pages(&self, tip: &CommitHash, options: &LogOptions) -> LogPages<'_> {
        self.pages_of(tip, options, PAGE)
    }

    /// The same with so many commits a page.
    pub(crate) fn pages_of(
        &self,
        tip: &CommitHash,
        options: &LogOptions,
        page: usize,
    ) -> LogPages<'_> {
        LogPages {
            repo: self,
            options: options.clone(),
            next: Some(*tip),
            left: match options.limit {
                0 => usize::MAX,
                limit => limit,
            },
            page,
            is_known: true,
            numbering: Numbering::at(*tip),
            names: None,
            is_first: true,
        }
    }
}

impl Iterator for LogPages<'_> {
    type Item = Result<Vec<LogRow>>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let from = self.next.take().or_else(|| self.next_beside())?;
            let page = self.read(&from);
            if !page.as_ref().is_ok_and(Vec::is_empty) {
                return Some(page);
            }
        }
        None
    }
}

impl LogPages<'_> {
    /// The next commit of another path, which alone is listed of that.
    fn next_beside(&mut self) -> Option<CommitHash> {
        let beside = self.options.beside.pop()?;
        self.options.only = Some(HashSet::from([beside]));
        // Its number is another conversation's.
        self.options.numbers = false;
        self.options.until = None;
        Some(beside)
    }

    fn read(&mut self, from: &CommitHash) -> Result<Vec<LogRow>> {
        // All that leads to a page that is not known is read for it: once is enough, and kept for another time.
        self.options.limit = if self.is_known {
            self.left.min(self.page)
        } else {
            self.left
        };
        let (mut rows, is_known) =
            self.repo
                .undecorated(from, &self.options, &mut self.numbering, !self.is_known)?;
        let is_full = rows.len() == self.options.limit;
        self.left -= rows.len();
        let before = rows.last().and_then(|row| row.commit.parent);
        self.next = before.filter(|before| is_full && Some(*before) != self.options.until);
        self.is_known &= is_known;
        self.decorate(&mut rows)?;
        Ok(rows)
    }

    /// The commits of a first page are asked which refs point at them; for more of them all refs are read once.
    fn decorate(&mut self, rows: &mut [LogRow]) -> Result<()> {
        let view = self.repo.store.read()?;
        let few;
        let names = if std::mem::take(&mut self.is_first) {
            let hashes: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
            few = named(&*view, view.names_of(&hashes)?)?;
            &few
        } else {
            match &mut self.names {
                Some(names) => names,
                none => none.insert(named(&*view, load::tips(&*view, "refs/")?)?),
            }
        };
        for row in rows {
            row.refs = names.get(&row.hash).cloned().unwrap_or_default();
        }
        Ok(())
    }
}

fn named(view: &dyn View, refs: impl IntoIterator<Item = (RefName, CommitHash)>) -> Result<Names> {
    let mut names = Names::new();
    let head = repository::head(view, &On::Head)?;
    if let Some(commit) = head.commit() {
        names.entry(commit).or_default().push(RefName::head());
    }
    for (name, commit) in refs {
        names.entry(commit).or_default().push(name);
    }
    Ok(names)
}
