//! Where, when and for whom a method is called.

use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;

use super::advice::command;
use super::{ApiError, Elsewhere, Spelled, WrittenTime, files};
use crate::compile::Provider;
use crate::hash::CommitHash;
use crate::ingest::tool_dirs::ToolDirs;
use crate::model::secret::{People, Secrets};
use crate::model::{Encoding, Millis};
use crate::query::TokenBudget;
use crate::render::calendar::Edge;
use crate::render::{Calendar, Share, shell_word};
use crate::repo::{BackupNote, Call, Expect, On, Repo};
use crate::rewrite::Prune;
use crate::rewrite::SurgeryOptions;
use crate::sync::Peer;

/// What a door brings along. The library asks nobody else: not the clock, not the environment.
pub trait Host {
    /// The time.
    fn now(&self) -> Millis;

    /// Where the tools keep their sessions.
    ///
    /// # Errors
    ///
    /// In the door's words.
    fn tool_dirs(&self) -> Result<ToolDirs, ApiError>;

    /// What finds secrets in what leaves.
    ///
    /// # Errors
    ///
    /// In the door's words.
    fn secrets(&self) -> Result<Secrets, ApiError>;

    /// Whoever is at work, by all names that are known, and the machine. Nobody unless a door says.
    ///
    /// # Errors
    ///
    /// In the door's words.
    fn people(&self) -> Result<People, ApiError> {
        Ok(People::default())
    }

    /// So many bytes that nobody can guess, for a new session's ids.
    ///
    /// # Errors
    ///
    /// In the door's words.
    fn seed(&self) -> Result<[u8; 32], ApiError>;

    /// Where days and times are local: what a date means that is given, and how a new session's file is named.
    fn zone(&self) -> TimeZone;

    /// The directory that somebody is in: where relative paths begin.
    ///
    /// # Errors
    ///
    /// In the door's words, where nobody is in any.
    fn directory(&self) -> Result<PathBuf, ApiError> {
        Err(ApiError::refused("this host is in no directory"))
    }

    /// Whether secrets may go on in a session of a tool on this machine, where a request does not say.
    ///
    /// # Errors
    ///
    /// In the door's words.
    fn resumes_secrets(&self) -> Result<bool, ApiError> {
        Ok(false)
    }

    /// The folder of the static model that finds messages by meaning; none: there is none.
    ///
    /// # Errors
    ///
    /// In the door's words.
    fn meaning_model(&self) -> Result<Option<PathBuf>, ApiError> {
        Ok(None)
    }

    /// Where a repository is that no remote is named for; none where what was typed is no address.
    ///
    /// # Errors
    ///
    /// In the door's words.
    fn elsewhere(&self, _typed: &str) -> Result<Option<Elsewhere>, ApiError> {
        Ok(None)
    }

    /// An address as it is kept: one that means the same in every directory.
    ///
    /// # Errors
    ///
    /// In the door's words, where it is none.
    fn kept_address(&self, typed: &str) -> Result<String, ApiError> {
        match Path::new(typed).is_absolute() || typed.contains(':') {
            true => Ok(typed.to_owned()),
            false => {
                let what = format!("'{typed}' is neither a full path nor a URL");
                Err(ApiError::params(what))
            }
        }
    }

    /// Writes a file that nobody else can look into, over one that is there only with `force`.
    ///
    /// # Errors
    ///
    /// In the door's words.
    fn write_file(&self, path: &Path, force: bool, bytes: &[u8]) -> Result<(), ApiError> {
        files::write(path, force, bytes)
    }

    /// Where a file is that was named.
    ///
    /// # Errors
    ///
    /// In the door's words.
    fn path(&self, named: &Path) -> Result<PathBuf, ApiError> {
        Ok(named.to_owned())
    }

    /// Lets `make` fill a file under another name, which gets its own when it is whole, over one that is there only with
    /// `force`. `note` hears that name before, and what it gives lasts until then.
    ///
    /// # Errors
    ///
    /// In the door's words, and what the two fail with.
    fn place_file(
        &self,
        path: &Path,
        force: bool,
        note: &mut dyn FnMut(&Path) -> Result<Option<BackupNote>, ApiError>,
        make: &mut dyn FnMut(&Path) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        files::place(path, force, note, make)
    }

    /// Hands a question to a command of the user's. None: it allows what it was asked; else what it said.
    ///
    /// # Errors
    ///
    /// In the door's words, where it cannot be run.
    fn asked(&self, command: &str, _question: &str) -> Result<Option<String>, ApiError> {
        let what = format!("this program runs no commands, and a setting asks for '{command}'");
        Err(ApiError::refused(what).with_hint("`tract commit` and `tract merge` run it"))
    }

    /// Reaches another repository at an address, and works with it.
    ///
    /// # Errors
    ///
    /// In the door's words, and what the work fails with.
    fn with_peer(
        &self,
        url: &str,
        repo: &Repo,
        work: &mut dyn FnMut(&mut dyn Peer) -> Result<(), ApiError>,
    ) -> Result<(), ApiError>;
}

/// A host at the beginning of time, without directories, for tests and for programs that commit and read alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Still;

impl Host for Still {
    fn now(&self) -> Millis {
        Millis(0)
    }

    fn tool_dirs(&self) -> Result<ToolDirs, ApiError> {
        Ok(ToolDirs(Vec::new()))
    }

    fn secrets(&self) -> Result<Secrets, ApiError> {
        Ok(Secrets::default())
    }

    fn seed(&self) -> Result<[u8; 32], ApiError> {
        Err(ApiError::refused("this host has no source of random bytes"))
    }

    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    fn with_peer(
        &self,
        _: &str,
        _: &Repo,
        _: &mut dyn FnMut(&mut dyn Peer) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        Err(ApiError::refused("this host reaches no other repository"))
    }
}

/// How far long work has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkProgress {
    /// How much is done: bytes of a file, messages of a search, objects of a check.
    pub done: u64,
    /// Of how much, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// Where a method acts, and what it is handed.
pub struct At<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// The line of history: HEAD, or a branch as if HEAD were there.
    pub on: On,
    /// What the door brings along.
    pub host: &'a dyn Host,
    /// Who is told how far long work has come. Whoever gives false wants it to end: what is done by then is undone,
    /// or stays unseen.
    pub goes_on: Box<dyn FnMut(WorkProgress) -> bool + 'a>,
    /// Whether somebody wants it to end. It is asked within transactions too, so it may neither wait nor write.
    pub is_cancelled: Box<dyn Fn() -> bool + 'a>,
}

/// What a door's times are read against.
pub(super) fn calendar(host: &dyn Host) -> Calendar {
    Calendar {
        now: host.now(),
        zone: host.zone(),
        ages: false,
    }
}

/// Ends long work that nobody waits for any more.
pub(super) const fn still(goes_on: bool) -> crate::Result<()> {
    if goes_on {
        Ok(())
    } else {
        Err(crate::Error::Cancelled)
    }
}

impl<'a> At<'a> {
    /// A call that nobody follows.
    pub fn new(repo: &'a Repo, on: On, host: &'a dyn Host) -> Self {
        Self {
            repo,
            on,
            host,
            goes_on: Box::new(|_| true),
            is_cancelled: Box::new(|| false),
        }
    }

    /// The commit that a revision names; HEAD's, where none is given.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`].
    pub fn resolve(&self, rev: Option<&str>) -> Result<CommitHash, ApiError> {
        Ok(self.repo.resolve(&self.on, rev.unwrap_or("HEAD"))?)
    }

    /// Refuses a revision that names a part of a message where a commit is meant.
    ///
    /// # Errors
    ///
    /// Where it does; the store's.
    pub fn must_be_whole(&self, rev: &str) -> Result<(), ApiError> {
        if !rev.contains('#') || self.repo.resolve_part(&self.on, rev)?.1.is_none() {
            return Ok(());
        }
        let base = rev.rsplit_once('#').map_or(rev, |(base, _)| base);
        let fault = ApiError::params(format!("{rev} is a part of a message, not a commit"));
        let (part, base) = (shell_word(rev), shell_word(base));
        let show = command(&format!("show {part}"));
        let hint = format!("{show} shows the part; the commit is {base}");
        Err(fault.with_hint(hint))
    }

    /// The commit that a revision names, where a part of a message will not do.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`] and [`At::must_be_whole`].
    pub fn commit(&self, rev: &str) -> Result<CommitHash, ApiError> {
        self.must_be_whole(rev)?;
        self.resolve(Some(rev))
    }

    /// What each of some revisions names, and of ranges such as `:3..5` each message; where there are none, what is wrong.
    ///
    /// # Errors
    ///
    /// That, and what `read` fails with.
    pub(super) fn each<T>(
        &self,
        revs: &[String],
        none: &str,
        read: impl Fn(&Repo, &On, &str) -> crate::Result<T>,
    ) -> Result<Vec<T>, ApiError> {
        if revs.is_empty() {
            return Err(ApiError::params(none));
        }
        let mut all = Vec::new();
        for rev in revs {
            match self.messages_of(rev)? {
                Some(messages) => {
                    for rev in messages {
                        all.push(read(self.repo, &self.on, &rev)?);
                    }
                }
                None => all.push(read(self.repo, &self.on, rev)?),
            }
        }
        Ok(all)
    }

    /// The messages of a range of numbers, both ends among them; none where it is no such range.
    ///
    /// # Errors
    ///
    /// Where there is no message at its end, or that comes before its beginning.
    pub(super) fn messages_of(
        &self,
        range: &str,
    ) -> Result<Option<impl Iterator<Item = String> + use<>>, ApiError> {
        let Some((of, from, to)) = numbers_of(range) else {
            return Ok(None);
        };
        if from > to {
            let fault = ApiError::params(format!("{range} ends before it begins"));
            return Err(fault.with_hint(format!("{of}:{to}..{from} is the range")));
        }
        self.resolve(Some(&format!("{of}:{to}")))?;
        let of = of.to_owned();
        Ok(Some(
            (from..=to).map(move |number| format!("{of}:{number}")),
        ))
    }

    /// What times are read against.
    pub fn calendar(&self) -> Calendar {
        calendar(self.host)
    }

    /// What a moment means, if one is given; a date alone means this end of its day.
    ///
    /// # Errors
    ///
    /// Where it is no moment.
    pub fn moment(
        &self,
        written: Option<&Spelled<WrittenTime>>,
        edge: Edge,
    ) -> Result<Option<Millis>, ApiError> {
        let moment = written.map(|written| written.0.read(&self.calendar(), edge));
        moment.transpose()
    }

    /// A call that changes something; `what` is how the log of operations names it.
    pub fn call<'c>(&'c self, what: &'c str) -> Call<'c> {
        Call::at(self.host.now(), what).on(&self.on)
    }

    /// What tokens are counted in.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn encoding(&self) -> Result<Encoding, ApiError> {
        Ok(self.repo.config()?.encoding()?)
    }

    /// How a plan is carried out: all messages that it touches are told.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn surgery(&self, dry_run: bool, limit: Option<usize>) -> Result<SurgeryOptions, ApiError> {
        Ok(SurgeryOptions {
            encoding: self.encoding()?,
            dry_run,
            told: limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX),
            ..SurgeryOptions::default()
        })
    }

    /// Where a caller takes the branch to be, if that is said.
    ///
    /// # Errors
    ///
    /// As [`Repo::expected`].
    pub fn expected(&self, rev: Option<&str>) -> Result<Option<Expect>, ApiError> {
        let expected = rev.map(|rev| self.repo.expected(&self.on, rev));
        Ok(expected.transpose()?)
    }

    /// A budget of tokens: a number such as `100k`, or a share of `budget.max` such as `80%`; by the provider's count.
    ///
    /// # Errors
    ///
    /// Where it is neither, or a share of nothing.
    pub fn budget(&self, text: &str) -> Result<TokenBudget, ApiError> {
        let wrong = |_| ApiError::params(format!("'{text}' is not a number of tokens, or P%"));
        token_budget(self.repo, text.parse().map_err(wrong)?, false)
    }

    /// The form of a request: as asked, else as configured, else the usual one.
    ///
    /// # Errors
    ///
    /// Where it is none.
    pub fn provider(&self, asked: Option<&str>) -> Result<Provider, ApiError> {
        match asked {
            Some(name) => Ok(name.parse()?),
            None => Ok(self.repo.config()?.format()?),
        }
    }
}

/// The two numbers of a range of messages, `:3..5` or `:-3..-1`, and whose they are: `idea:3..5`.
fn numbers_of(range: &str) -> Option<(&str, i64, i64)> {
    let (from, to) = range.split_once("..")?;
    let (of, from) = from.rsplit_once(':')?;
    // A text that is looked for may hold such signs of its own.
    if of.starts_with(":/") {
        return None;
    }
    let to = to
        .strip_prefix(of)
        .and_then(|to| to.strip_prefix(':'))
        .unwrap_or(to);
    let (from, to) = (from.parse::<i64>().ok()?, to.parse::<i64>().ok()?);
    ((from > 0) == (to > 0) && to != 0).then_some((of, from, to))
}

/// A budget of tokens: so many, or a share of `budget.max`; `as_counted`: by tract's own count, not the provider's.
///
/// # Errors
///
/// Where it is a share of nothing.
pub fn token_budget(repo: &Repo, share: Share, as_counted: bool) -> Result<TokenBudget, ApiError> {
    let tokens = match (share, repo.config()?.budget_max()?) {
        (Share::Tokens(tokens), _) => tokens,
        (Share::Percent(percent), Some(max)) => max * percent / 100,
        (Share::Percent(percent), None) => {
            let what = format!("{percent}% of what? budget.max is not set");
            return Err(ApiError::params(what).with_hint("`tract config budget.max 128k`"));
        }
    };
    Ok(TokenBudget { tokens, as_counted })
}

/// The usual prune, by the repository's settings.
///
/// # Errors
///
/// The store's.
pub fn usual_prune(repo: &Repo) -> crate::error::Result<Prune> {
    Ok(Prune {
        keep: repo.config()?.kept_tools(),
        ..Prune::default()
    })
}
