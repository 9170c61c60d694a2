//! `tract merge`: another branch, brought into this one.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::time::Duration;

use tract::compile::Provider;
use tract::deeds::{At, Deed, MergeOutcome, MergeParams};
use tract::model::Message;
use tract::rewrite::MergeSummary;

use crate::cli::drawing::{merge, outcome};
use crate::cli::machine::summariser::{self, Summariser, TIMEOUT_SECONDS};
use crate::cli::{App, Result};

/// Bring another branch into this one
///
/// The other branch's news comes at the end, so that a provider's cache stays valid. It is one message: yours, a
/// summary by --exec, or that branch's last answer. --messages brings all of its messages, those that it hid as
/// hidden ones; --prompts what the user typed there, with what the client attached to it. Changes of the other branch
/// to messages that both have apply here as well: edits, hides, restores, priorities. A hide also covers messages that
/// are hidden here already, so they stay hidden when your own hide is restored.
///
/// Where this branch has nothing of its own since, it moves to the other's end. A message that was merged once does
/// not come again. A tool call without its result does not come.
///
/// Where both changed one message differently, that is a conflict: all are listed, nothing is written, and the exit
/// code is 1. --ours or --theirs says whose change holds; tract resolve says it message by message, and then
/// --continue goes on.
///
/// The setting hook.merge names a command that may refuse a merge: tract config --help. Nothing is written then.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract merge idea                      its last answer, as one message
  tract merge idea -m 'It is the seal.'
  tract merge idea --exec 'llm -s summarise'
  tract merge idea --messages           all of its messages
  tract merge claude-code/6b6f --dry-run
  tract merge idea --theirs             where both changed a message, theirs holds
  tract merge --continue                once tract resolve has settled the conflicts")]
pub struct Args {
    #[command(flatten)]
    deed: MergeParams,
    /// A command that sums its messages up
    #[arg(long, value_name = "CMD", conflicts_with_all = ["messages", "prompts", "message", "abort"])]
    exec: Option<String>,
    /// How the command gets the messages: text, openai, responses or anthropic
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "exec")]
    exec_format: Provider,
    /// How long the command may take
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT_SECONDS, requires = "exec")]
    timeout: NonZeroU64,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on, deed) = (app.repo()?, app.on()?, &args.deed);
    if deed.abort {
        let given_up = repo.merge_abort(&on)?;
        app.ui
            .status(format!("Gave up the merge of {}", given_up.name));
        return Ok(());
    }
    let mut what = deed.line();
    if args.exec.is_some() {
        what += " --exec …";
    }
    let surgery = outcome::limited(app, &repo, deed.dry_run, deed.limit)?;
    let summariser = args.exec.as_deref().map(|command| Summariser {
        command,
        format: args.exec_format,
        timeout: Duration::from_secs(args.timeout.get()),
        is_strict: false,
    });
    let failed = RefCell::new(None);
    let made = {
        let shown = &*app;
        let mut make = |messages: &[Message]| match &summariser {
            Some(summariser) => summariser.run(messages, shown, &failed),
            None => Ok(String::new()),
        };
        let summary = summariser
            .is_some()
            .then_some(&mut make as MergeSummary<'_>);
        let at = At::new(&repo, on.clone(), shown);
        deed.carry_out(&at, shown.call(&on, &what), surgery, summary)
    };
    let MergeOutcome { made, name } = match (made, failed.into_inner()) {
        (Err(error), Some(why)) => {
            return Err(summariser::complained(error.message, &why, app));
        }
        (made, _) => made?,
    };
    if deed.dry_run && args.exec.is_some() {
        app.ui
            .notice("with the last answer in place of the summary, which nothing has made yet");
    }
    merge::tell(&made, &name, deed.dry_run, &repo, app)
}
