//! What people name to narrow a search: sessions, directories, tools and files, by any name that a list shows.
//!
//! A name of nothing that is here is an error, so that nothing is said to be missing where nobody looked. Deliberately
//! absent: what is searched for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::{Error, NameOf, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::RefName;
use crate::model::call::{is_below, last_name};
use crate::model::pattern::Pattern;
use crate::query::find::{FindOptions, SearchOptions};
use crate::query::log::LogOptions;
use crate::repo::call::On;
use crate::repo::path::SessionEnds;
use crate::repo::repository::{self, Repo};
use crate::repo::{load, path, revision};

/// How many messages tell which tools a conversation calls.
const LATELY: usize = 5_000;

impl Repo {
    /// The session that `text` names: its ref, its id or the beginning of one, with `TOOL/` before it or not, as a list
    /// cuts it; or that of a branch, a tag or any other revision.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`] where nothing is called so, or no session is behind it;
    /// [`Error::AmbiguousRevision`] where several ids begin so.
    pub fn session_named(&self, on: &On, text: &str) -> Result<RefName> {
        let view = self.store.read()?;
        let view = &*view;
        // A list cuts an id, and not what stands below it.
        let below = match text.split_once("…/") {
            Some((session, below)) => revision::session_with_prefix(view, session)?
                .map(|session| session.path(below))
                .transpose()?,
            None => None,
        };
        let known = match below {
            Some(name) if view.reference(&name)?.is_some() => Some(name),
            Some(_) => None,
            None => revision::find_reference(view, text)?,
        };
        if let Some(name) = known {
            if name.as_session().is_some() {
                return Ok(name);
            }
            if let Some(tip) = load::tip(view, &name)?
                && let Some((session, _)) =
                    path::session_of_branch(view, (&name, &tip), &SessionEnds::default())?
            {
                return Ok(session);
            }
        } else if let Some(session) = revision::session_with_prefix(view, text)? {
            return Ok(session);
        } else if let Ok(commit) = revision::resolve(view, on, text)
            && let Some((session, _)) = path::session_of(view, &commit)?
        {
            return Ok(session);
        }
        Err(NameOf::Session.unknown(text))
    }

    /// The directory that `text` names, seen from `cwd`, in which or below which a session ran: by its path, as its
    /// session said it, or by its own name alone, as lists show it.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`] where no session ran there; [`Error::InvalidInput`] where they ran in several of that name.
    pub fn directory_named(&self, text: &str, cwd: &Path) -> Result<PathBuf> {
        let sessions = self.store.read()?.sessions()?.into_iter();
        let known: BTreeSet<String> = sessions.filter_map(|(_, row)| row.cwd).collect();
        let joined = cwd.join(text);
        let leads = std::fs::canonicalize(&joined);
        let as_said = Some(PathBuf::from(text)).filter(|_| !text.is_empty());
        let ways = [Some(joined), leads.ok(), as_said];
        let has_any = |directory: &PathBuf| known.iter().any(|cwd| is_below(cwd, directory));
        if let Some(found) = ways.into_iter().flatten().find(has_any) {
            return Ok(found);
        }
        let is_called = |cwd: &&String| last_name(cwd) == text;
        let called: Vec<&String> = known.iter().filter(is_called).collect();
        match called[..] {
            [one] => Ok(PathBuf::from(one)),
            [] => Err(NameOf::Directory.unknown_among(text, known.iter().cloned().collect())),
            [one, other, ..] => {
                let why = format!("{one} and {other} are called so");
                Err(Error::input(format!("'{text}'"), why))
            }
        }
    }

    /// Fails if no message here calls this tool. Asked where nothing was found: it takes a search.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`], and as [`Repo::find_messages`].
    pub fn check_tool(&self, on: &On, tool: &str) -> Result<()> {
        let calls = FindOptions {
            tool: Some(tool.to_owned()),
            ..FindOptions::new(Pattern::text(tool)?)
        };
        let called = || Ok(NameOf::Tool.unknown_among(tool, self.tools_called(on)?));
        self.finds(on, calls, called)
    }

    /// The tools that the conversation at `on` calls, those that it calls most first: of one that is very long, lately.
    fn tools_called(&self, on: &On) -> Result<Vec<String>> {
        let view = self.store.read()?;
        let Some(tip) = repository::head(&*view, on)?.commit() else {
            return Ok(Vec::new());
        };
        let entries = load::order(&*view, &tip)?.entries().collect::<Vec<_>>();
        let latest = entries.iter().rev().take(LATELY);
        let contents: Vec<ContentHash> = latest.map(|entry| entry.content).collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for uses in view.tool_uses(&contents)?.into_iter().flatten() {
            for call in uses.calls {
                *counts.entry(call.name).or_default() += 1;
            }
        }
        let mut names: Vec<(String, usize)> = counts.into_iter().collect();
        names.sort_by_key(|(_, count)| Reverse(*count));
        Ok(names.into_iter().map(|(name, _)| name).collect())
    }

    /// The same of each of them.
    ///
    /// # Errors
    ///
    /// As of one.
    pub fn check_tools<'a>(
        &self,
        on: &On,
        tools: impl IntoIterator<Item = &'a String>,
    ) -> Result<()> {
        let mut tools = tools.into_iter();
        tools.try_for_each(|tool| self.check_tool(on, tool))
    }

    /// Fails if no call here names this file. Asked where nothing was found: it takes a search.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`], and as [`Repo::find_messages`].
    pub fn check_file(&self, on: &On, file: &str) -> Result<()> {
        let calls = FindOptions {
            path: Some(file.to_owned()),
            ..FindOptions::new(Pattern::text(last_name(file))?)
        };
        self.finds(on, calls, || Ok(NameOf::File.unknown(file)))
    }

    /// The same of each name that narrowed a search.
    ///
    /// # Errors
    ///
    /// As of each.
    pub fn check_names<T>(&self, on: &On, places: &SearchOptions<T>) -> Result<()> {
        self.check_tools(on, &places.tool)?;
        match &places.path {
            Some(file) => self.check_file(on, file),
            None => Ok(()),
        }
    }

    /// The same of each name that narrowed a log.
    ///
    /// # Errors
    ///
    /// As of each; [`Error::UnknownName`] for an author of no commit on the path.
    pub fn check_names_of_log(&self, on: &On, tip: &CommitHash, log: &LogOptions) -> Result<()> {
        self.check_tools(on, &log.tool)?;
        if let Some(author) = &log.author {
            let by = LogOptions {
                limit: 1,
                author: Some(author.clone()),
                ..LogOptions::default()
            };
            if self.log(tip, &by)?.is_empty() {
                return Err(NameOf::Author.unknown(author));
            }
        }
        Ok(())
    }

    fn finds(
        &self,
        on: &On,
        options: FindOptions,
        or: impl FnOnce() -> Result<Error>,
    ) -> Result<()> {
        let options = FindOptions {
            limit: 1,
            ..options
        };
        match self.find_messages(on, &options, &mut |_| Ok(()))?[..] {
            [] => Err(or()?),
            _ => Ok(()),
        }
    }
}
