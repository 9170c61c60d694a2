//! What people name to narrow a search: sessions, directories, tools and files, by any name that a list shows.
//!
//! A name of nothing that is here is an error, so that nothing is said to be missing where nobody looked. Deliberately
//! absent: what is searched for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{FindOptions, On, Pattern};
use crate::error::{Error, Result};
use crate::history::repo::Repo;
use crate::history::{load, path, revision};
use crate::model::RefName;

impl Repo {
    /// The session that `text` names: its ref, its id or the beginning of one, with `TOOL/` before it or not, as a list
    /// cuts it; or that of a branch, a tag or any other revision.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where nothing is called so, or no session is behind it;
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
                && let Some((session, _)) = path::session_of_branch(view, &name, &tip)?
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
        Err(Error::input(
            format!("'{text}'"),
            "no session here is called so",
        ))
    }

    /// The directory that `text` names, seen from `cwd`, in which or below which a session ran: by its path, as its
    /// session said it, or by its own name alone, as lists show it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where no session ran there, or in several of that name.
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
        let why = match called[..] {
            [one] => return Ok(PathBuf::from(one)),
            [] => "no session here ran in it or below it".to_owned(),
            [one, other, ..] => format!("{one} and {other} are called so"),
        };
        Err(Error::input(format!("'{text}'"), why))
    }

    /// Refuses a tool that no call here is of, and a file that none names: asked where a search for them has found
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`], and as [`Repo::find_messages`].
    pub fn refuse_unknown(&self, on: &On, tool: Option<&str>, file: Option<&str>) -> Result<()> {
        let asked = [
            (tool, true, "no call here is of a tool of that name"),
            (file, false, "no call here names such a file"),
        ];
        for (name, is_tool, why) in asked {
            let Some(name) = name else { continue };
            let named = |wanted: bool| (wanted == is_tool).then(|| name.to_owned());
            let options = FindOptions {
                tool: named(true),
                path: named(false),
                limit: 1,
                ..FindOptions::new(Pattern::regex(".")?)
            };
            if self
                .find_messages(on, &options, &mut |_| Ok(()))?
                .is_empty()
            {
                return Err(Error::input(format!("'{name}'"), why));
            }
        }
        Ok(())
    }
}

/// Whether a session that ran in `cwd` ran in a directory or below it. Windows knows both slashes, and no case.
pub(super) fn is_below(cwd: &str, directory: &Path) -> bool {
    if Path::new(cwd).starts_with(directory) {
        return true;
    }
    if !cwd.contains('\\') {
        return false;
    }
    let plain = |path: &str| path.replace('\\', "/").to_lowercase();
    let (cwd, directory) = (plain(cwd), plain(&directory.to_string_lossy()));
    let rest = cwd.strip_prefix(directory.trim_end_matches('/'));
    !directory.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn last_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
