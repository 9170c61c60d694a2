//! What a client hands to a hook on standard input, in JSON.
//!
//! # Source
//!
//! Observed: Claude Code 2.1.330 and Codex 0.169 hand over the same fields, but for `compact_summary`, which only
//! Claude Code has.

use std::path::PathBuf;

use serde::Deserialize;
use tract::Error;
use tract::deeds::unfit;
use tract::repo::Repo;

use crate::cli::machine::paths;
use crate::cli::{App, Failure, Result};

/// How an error calls it.
const NAME: &str = "the hook's JSON on standard input";

/// A hook that was called. What a client does not say is none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Hook {
    /// What happens: `PreCompact`.
    #[serde(rename = "hook_event_name")]
    pub event: Option<String>,
    /// How a session starts: `compact`.
    pub source: Option<String>,
    /// The summary that a compaction has made.
    pub compact_summary: Option<String>,
    transcript_path: Option<PathBuf>,
    /// The file of a sub-agent that has ended.
    agent_transcript_path: Option<PathBuf>,
    /// Where the session runs.
    pub cwd: Option<PathBuf>,
}

impl Hook {
    /// The one on standard input.
    pub fn read() -> Result<Self> {
        let text = paths::text(std::io::stdin().lock(), "standard input")?;
        let read = serde_json::from_str(&text);
        Ok(read.map_err(|error| Error::input(NAME, unfit(&error, &text)))?)
    }

    /// The hook's directory becomes ours, where no repository was named; where there is none, the home.
    pub fn enter(&self, app: &mut App) -> Result<()> {
        if app.named_repo()?.is_some() {
            return Ok(());
        }
        let cwd = self.cwd.clone().filter(|cwd| cwd.is_dir());
        app.globals.repo = match cwd.as_deref().map(Repo::seek) {
            None => None,
            Some(Ok(place)) => Some(place),
            Some(Err(Error::NoRepository { .. })) => app.env.home.clone(),
            Some(Err(error)) => return Err(error.into()),
        };
        Ok(())
    }

    /// The file of the client's session.
    pub fn transcript(&self, app: &App) -> Result<PathBuf> {
        match &self.transcript_path {
            Some(path) => app.path(path),
            None => Err(Failure::from(Error::input(NAME, "it names no transcript"))),
        }
    }

    /// The files of the client's session, and of its sub-agent that has ended, where it has one.
    pub fn transcripts(&self, app: &App) -> Result<Vec<PathBuf>> {
        let own = self.transcript(app)?;
        let agents = self.agent_transcript_path.iter();
        let agents = agents
            .map(|path| app.path(path))
            .collect::<Result<Vec<_>>>()?;
        // A client may call before it has written anything.
        let agents = agents
            .into_iter()
            .filter(|path| *path != own && path.exists());
        Ok([own.clone()].into_iter().chain(agents).collect())
    }
}
