//! A command of the user's that makes summaries: what `compact --exec` names, or `budget.action`.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::time::Duration;

use tract::Error;
use tract::compile::{Provider, RequestOptions, compile};
use tract::error::Refusal;
use tract::history::surgery::{Compaction, Extent, Summary};
use tract::history::{Call, On, Repo, SurgeryOptions};
use tract::model::{Message, Settings};
use tract::render::{plural, tokens};

use super::{App, Failure, Result, exec, outcome, progress};

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
}

impl<'a> Summariser<'a> {
    /// The command of `budget.action`, which may take so many seconds.
    pub fn of_budget(command: &'a str, seconds: Option<NonZeroU64>) -> Self {
        Self {
            command,
            format: Provider::Text,
            timeout: Duration::from_secs(seconds.unwrap_or(TIMEOUT_SECONDS).get()),
        }
    }

    /// Replaces the span by what the command prints. What it says when it fails is shown.
    pub fn compact(
        &self,
        repo: &Repo,
        call: Call<'_>,
        span: &Extent,
        options: &SurgeryOptions,
        app: &mut App,
    ) -> Result<Compaction> {
        let failed = RefCell::new(None);
        let mut make = |messages: &[Message]| -> tract::Result<String> {
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
        };
        let done = repo.compact(call, span, Summary::From(&mut make), options);
        match (done, failed.into_inner()) {
            (Err(error), Some(why)) => {
                why.stderr.lines().for_each(|line| app.ui.complain(line));
                Err(Failure::refused(error.to_string()).with_hint("nothing was changed"))
            }
            (done, _) => Ok(done?),
        }
    }
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

/// Says what became of a span, whoever summarised it.
pub fn tell(on: &On, done: &Compaction, app: &mut App) {
    let replaced = plural(done.surgery.hidden.len() as u64, "message");
    let (before, after) = (tokens(done.replaced), tokens(done.summary));
    let did = format!("Replaced {replaced} by a summary: {before} tokens became {after}");
    outcome::tell(app, on, &did, &done.surgery);
    if done.is_no_gain() {
        app.ui.notice(format!(
            "the summary is not smaller than what it replaces: {after} tokens for {before}"
        ));
    }
}
