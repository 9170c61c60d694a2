//! A command of the user's that makes summaries: what `compact --exec` names, or `budget.action`.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::time::Duration;

use tract::Error;
use tract::compile::{Provider, RequestOptions, compile};
use tract::deeds::{digest, lacks, missing, refused_summary};
use tract::error::Refusal;
use tract::model::{Message, Role, Settings};
use tract::query::audit::Keep;
use tract::render::edit::changed_files;
use tract::render::{plural, tokens};
use tract::repo::{Call, On, Repo};
use tract::rewrite::SurgeryOptions;
use tract::rewrite::{Compaction, Extent, Summary, SummarySpan};

use crate::cli::drawing::outcome;
use crate::cli::machine::exec;
use crate::cli::{App, Failure, Result, progress};

/// How long a summariser may take unless something else is said, in seconds.
pub const TIMEOUT_SECONDS: NonZeroU64 = NonZeroU64::new(600).expect("not zero");

/// A command that makes summaries.
pub struct Summariser<'a> {
    /// The command line.
    pub command: &'a str,
    /// How it gets the messages.
    pub format: Provider,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether a summary is refused that lacks what it has to hold.
    pub is_strict: bool,
}

impl<'a> Summariser<'a> {
    /// The command of `budget.action`, which may take so many seconds.
    pub fn of_budget(command: &'a str, seconds: Option<NonZeroU64>) -> Self {
        Self {
            command,
            format: Provider::Text,
            timeout: Duration::from_secs(seconds.unwrap_or(TIMEOUT_SECONDS).get()),
            is_strict: false,
        }
    }

    /// Replaces the span by what the command prints, and asks it once more where that lacks what it has to hold. What
    /// it says when it fails is shown. What the summary lacks after that comes with it.
    pub fn compact(
        &self,
        repo: &Repo,
        call: Call<'_>,
        span: &Extent,
        options: &SurgeryOptions,
        app: &mut App,
    ) -> Result<(Compaction, Option<String>)> {
        let failed = RefCell::new(None);
        let lacking = RefCell::new(None);
        let run = |messages: &[Message]| self.run(messages, app, &failed);
        let mut make = |span: &SummarySpan<'_>| -> tract::Result<String> {
            let mut summary = run(span.messages)?;
            let mut keep = span.lacks(&summary, changed_files)?;
            if lacks(&keep).is_some() {
                let mut again = span.messages.to_vec();
                again.push(Message::text(Role::Assistant, &*summary));
                again.push(Message::text(Role::User, ask(&keep)));
                let second = run(&again)?;
                let kept = span.lacks(&second, changed_files)?;
                if missing(&kept) < missing(&keep) {
                    (summary, keep) = (second, kept);
                }
            }
            lacking.replace(lacks(&keep));
            match lacks(&keep).filter(|_| self.is_strict) {
                Some(what) => Err(Error::Refused(Refusal::Lacking { what })),
                None => Ok(summary),
            }
        };
        let done = repo.compact(call, span, Summary::From(&mut make), options);
        match (done, failed.into_inner()) {
            (Err(error), Some(why)) => Err(complained(error.to_string(), &why, app)),
            (Err(error @ Error::Refused(Refusal::Lacking { .. })), _) => {
                Err(refused_summary(error).into())
            }
            (done, _) => Ok((done?, lacking.into_inner())),
        }
    }

    /// What the command prints for these messages; where it fails, why is left in `failed`.
    pub fn run(
        &self,
        messages: &[Message],
        app: &App,
        failed: &RefCell<Option<exec::Failed>>,
    ) -> tract::Result<String> {
        let request = RequestOptions {
            provider: self.format,
            ..RequestOptions::default()
        };
        let payload = compile(messages, &Settings::new(), &request)?.payload;
        let run = || exec::run(self.command, &payload, self.timeout);
        shown(app, messages.len(), run).map_err(|why| {
            let (maker, reason) = (self.command.to_owned(), why.reason.clone());
            failed.replace(Some(why));
            Error::Refused(Refusal::NoSummary { maker, reason })
        })
    }
}

/// Shows what a command said that failed.
pub fn complained(what: String, why: &exec::Failed, app: &mut App) -> Failure {
    why.stderr.lines().for_each(|line| app.ui.complain(line));
    Failure::refused(what).with_hint("nothing was changed")
}

/// How much of what a summary lacks the one who makes it is told.
const ASKED_CHARS: usize = 2_000;

/// What is asked for where a summary lacks something.
fn ask(keep: &Keep) -> String {
    let missing = digest(keep, ASKED_CHARS).text;
    format!(
        "This summary lacks what follows. Write it again, all of it, so that it holds this as well, in these words:\n\
         {missing}"
    )
}

/// Shows that something is going on while the command runs.
pub fn shown<T>(app: &App, messages: usize, run: impl FnOnce() -> T) -> T {
    let spinner = progress::bar(app, "{spinner} {msg}");
    let messages = plural(messages as u64, "message");
    spinner.set_message(format!("the command reads {messages}; nothing is locked"));
    spinner.enable_steady_tick(Duration::from_millis(120));
    let done = run();
    spinner.finish_and_clear();
    done
}

/// Says what became of a span, whoever summarised it, and what its summary is known to lack.
pub fn tell(on: &On, (done, lacks): &(Compaction, Option<String>), app: &mut App) {
    let replaced = plural(done.surgery.hidden.len() as u64, "message");
    let (before, after) = (tokens(done.replaced), tokens(done.summary));
    let did = format!("Replaced {replaced} by a summary: {before} tokens became {after}");
    outcome::tell(app, on, &did, &done.surgery);
    if done.is_no_gain() {
        app.ui.notice(format!(
            "the summary is not smaller than what it replaces: {after} tokens for {before}"
        ));
    }
    if let Some(what) = lacks {
        app.ui
            .hint(format!("the summary lacks {what}: tract audit"));
    }
}
