//! A tool that goes on with a context at no terminal: what is written for it, run, and taken in again.
//!
//! Deliberately absent: which tools can (`Resume::prompted`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tract::Error;
use tract::deeds::{WrittenSession, write_session};
use tract::formats::{FORMATS, Format, Resume};
use tract::hash::CommitHash;
use tract::ingest::{ImportRequest, import_family};
use tract::model::secret::Secrets;
use tract::model::tokens::Counter;
use tract::model::{Operation, Part, Role};
use tract::repo::Repo;

use super::said::{ANSWER_MAX, printed};
use crate::cli::drawing::leaks;
use crate::cli::machine::exec::Agent;
use crate::cli::machine::pause::Pause;
use crate::cli::machine::private;
use crate::cli::{App, Failure, Result};

/// A tool, and what it is asked.
pub struct Client<'a> {
    format: &'static Format,
    how: &'static Resume,
    /// What it is asked.
    pub prompt: String,
    /// What else its program is given.
    pub arguments: &'a [String],
    secrets: Secrets,
    leaks: leaks::Flags,
}

/// A session that was written for a tool.
pub struct Begun {
    /// Its file.
    place: PathBuf,
    /// How long that was.
    len: u64,
}

/// What a trial leaves behind, which goes when this is dropped.
struct Left(Vec<PathBuf>);

impl Drop for Left {
    fn drop(&mut self) {
        for path in &self.0 {
            // What cannot be removed is in nobody's way.
            let _ = match path.is_dir() {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            };
        }
    }
}

impl<'a> Client<'a> {
    /// The tool of a format.
    pub fn of(
        format: &'static Format,
        prompt: String,
        arguments: &'a [String],
        leaks: leaks::Flags,
        app: &App,
    ) -> Result<Self> {
        let how = format.resume().filter(|how| how.prompted.is_some());
        let Some(how) = how else {
            let can = FORMATS
                .into_iter()
                .filter(|format| format.resume().is_some_and(|how| how.prompted.is_some()));
            let names: Vec<&str> = can.map(|format| format.name).collect();
            let what = format!("tract cannot have {format} answer a prompt");
            return Err(Failure::usage(what).with_hint(format!("--in {}", names.join(" or --in "))));
        };
        Ok(Self {
            format,
            how,
            prompt,
            arguments,
            secrets: app.secrets()?,
            leaks: leaks.for_resume(app)?,
        })
    }

    /// Writes the context of a commit for it, to go on in a directory; gives the program that does.
    pub fn begin(
        &self,
        repo: &Repo,
        commit: &CommitHash,
        directory: &Path,
        what: &str,
        app: &mut App,
    ) -> Result<(Command, Begun)> {
        let leaving = self.leaks.leaving(&self.secrets);
        let way = (self.format, self.how);
        let written = write_session(repo, commit, way, directory, (what, leaving), app)?;
        let WrittenSession {
            path: place,
            id,
            remarks,
        } = written;
        for remark in remarks {
            app.ui.notice(remark);
        }
        let (words, behind) = self.how.prompted.expect("it was looked at");
        let mut program = Command::new(words[0]);
        program
            .args(self.arguments)
            .args(&words[1..])
            .arg(id)
            .args(behind);
        program.current_dir(directory);
        let len = fs::metadata(&place).map_or(0, |file| file.len());
        Ok((program, Begun { place, len }))
    }

    /// Takes in what it wrote, onto a branch; gives its tip.
    ///
    /// # Errors
    ///
    /// Where it wrote nothing, in words.
    pub fn take_in(
        &self,
        repo: &Repo,
        begun: &Begun,
        branch: &str,
        what: &str,
        app: &App,
    ) -> Result<Result<CommitHash, String>> {
        let len = fs::metadata(&begun.place).map_or(0, |file| file.len());
        if len <= begun.len {
            return Ok(Err("it ended well and said nothing".to_owned()));
        }
        let request = ImportRequest {
            format: Some(self.format),
            branch: Some(branch),
            is_aside: true,
            counter: Some(Counter::of(app.encoding(repo)?)),
            ..ImportRequest::at(app.now(), what)
        };
        let report = import_family(repo, &begun.place, &request, &mut |_| {})?.own;
        let tip = report.sessions.first().and_then(|session| session.tip);
        Ok(tip.ok_or_else(|| "no message could be read in its session".to_owned()))
    }

    /// What it makes of the context at a commit, in an empty directory: a history of its own, with its end. Nothing of that
    /// is left.
    ///
    /// # Errors
    ///
    /// Where it gives no answer, in words.
    pub fn answer(
        &self,
        repo: &Repo,
        commit: &CommitHash,
        (timeout, pause): (Duration, &Pause),
        what: &str,
        app: &mut App,
    ) -> Result<Result<(Repo, CommitHash), String>> {
        let name = format!("tract-{}", private::random_name::<8>()?);
        let directory = std::env::temp_dir().join(name);
        private::create_directory(&directory).map_err(Error::io(&directory))?;
        let mut left = Left(vec![directory.clone()]);
        let (program, begun) = self.begin(repo, commit, &directory, what, app)?;
        left.0.push(begun.place.clone());
        let started = Agent::of(program, &self.prompt);
        let finished = started.and_then(|(agent, stdout)| {
            agent.finish(stdout, timeout, ANSWER_MAX, || pause.is_over())
        });
        pause.obey()?;
        if let Err(reason) = printed(finished) {
            return Ok(Err(reason));
        }
        let memory = Repo::ephemeral()?;
        let tip = self.take_in(&memory, &begun, "trial", "trial", app)?;
        Ok(tip.map(|tip| (memory, tip)))
    }
}

/// The prompt to ask and the context to ask it in: what was typed, at the commit; or what the user says last there, at the
/// commit before.
pub fn prompt_at(
    repo: &Repo,
    commit: &CommitHash,
    typed: &[String],
) -> Result<(String, CommitHash)> {
    if !typed.is_empty() {
        return Ok((typed.join(" "), *commit));
    }
    let found = repo.commit_at(commit)?;
    let said = match (&found.operation, found.parent) {
        (Operation::Append { .. }, Some(before)) => {
            let messages = repo.messages(&repo.context(commit)?)?;
            let last = messages.last().filter(|message| message.role == Role::User);
            last.and_then(|message| match message.parts.as_slice() {
                [Part::Text { text }] => Some((text.clone(), before)),
                _ => None,
            })
        }
        _ => None,
    };
    said.ok_or_else(|| {
        let what = "there is nothing to ask: the context does not end with a prompt";
        Failure::usage(what).with_hint("tract run REV --in TOOL -- PROMPT")
    })
}
