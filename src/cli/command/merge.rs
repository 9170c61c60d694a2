//! `tract merge`: another branch, brought into this one.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::time::Duration;

use tract::compile::Provider;
use tract::model::Message;
use tract::repo::MergeForm;
use tract::repo::{Call, Repo};
use tract::rewrite::{Merge, MergeOptions, MergeSummary, Whose};

use crate::cli::summariser::{self, Summariser, TIMEOUT_SECONDS};
use crate::cli::{App, Failure, Result, Typed, merging, outcome};

/// Bring another branch into this one
///
/// What the other branch has said since it left comes at the end, so that a provider's cache stays valid: as one
/// message, which --exec sums up, or else the other branch's last answer. --messages brings all of its messages,
/// those that it hid as hidden ones; --prompts what the user typed there, with what the client attached to it. What the other branch changed of messages
/// that both have is changed here as well: edits, hides, restores, priorities.
///
/// Where this branch has nothing of its own since, it moves to the other's end. What was merged once is not brought
/// again. A tool call without its result does not come.
///
/// Where both changed one message differently, that is a conflict: all are listed, nothing is written, and the exit
/// code is 1. --ours or --theirs says whose change holds; tract resolve says it message by message, and then
/// --continue goes on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract merge idea                      its last answer, as one message
  tract merge idea --exec 'llm -s summarise'
  tract merge idea --messages           all of its messages
  tract merge claude-code/6b6f --dry-run
  tract merge idea --theirs             where both changed a message, theirs holds
  tract merge --continue                once tract resolve has settled the conflicts")]
pub struct Args {
    /// A branch, a session or a commit
    #[arg(value_name = "BRANCH", required_unless_present_any = ["go_on", "abort"])]
    branch: Option<String>,
    /// All of its messages
    #[arg(long, conflicts_with = "exec")]
    messages: bool,
    /// What the user typed there, with what the client attached to it
    #[arg(long, conflicts_with_all = ["exec", "messages"])]
    prompts: bool,
    /// A command that sums its messages up
    #[arg(long, value_name = "CMD")]
    exec: Option<String>,
    /// How the command gets the messages: text, openai, responses or anthropic
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "exec")]
    exec_format: Provider,
    /// How long the command may take
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT_SECONDS, requires = "exec")]
    timeout: NonZeroU64,
    /// In conflicts, what this branch has holds
    #[arg(long, conflicts_with = "theirs")]
    ours: bool,
    /// In conflicts, what the other branch has holds
    #[arg(long)]
    theirs: bool,
    /// Go on with the merge that is under way
    #[arg(long = "continue", conflicts_with_all = ["branch", "abort", "messages", "prompts"])]
    go_on: bool,
    /// Give up the merge that is under way
    #[arg(long, conflicts_with_all = ["branch", "messages", "prompts", "exec", "ours", "theirs"])]
    abort: bool,
    /// Also where the two have nothing in common
    #[arg(long, requires = "branch")]
    allow_unrelated_histories: bool,
    /// Change nothing; say what would come, and what is in conflict
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    if args.abort {
        let given_up = repo.merge_abort(&on)?;
        app.ui
            .status(format!("Gave up the merge of {}", given_up.name));
        return Ok(());
    }
    let what = Typed::new("merge")
        .revs(&args.branch)
        .flag("--messages", args.messages)
        .flag("--prompts", args.prompts)
        .text("--exec", args.exec.is_some())
        .flag("--ours", args.ours)
        .flag("--theirs", args.theirs)
        .flag(
            "--allow-unrelated-histories",
            args.allow_unrelated_histories,
        )
        .flag("--continue", args.go_on)
        .line();
    let options = MergeOptions {
        form: match (args.messages, args.prompts) {
            (true, _) => MergeForm::Messages,
            (_, true) => MergeForm::Prompts,
            _ => MergeForm::Message,
        },
        settle: match (args.ours, args.theirs) {
            (true, _) => Some(Whose::Ours),
            (_, true) => Some(Whose::Theirs),
            _ => None,
        },
        unrelated: args.allow_unrelated_histories,
        surgery: outcome::options(app, &repo, args.dry_run)?,
    };
    let summariser = args.exec.as_deref().map(|command| Summariser {
        command,
        format: args.exec_format,
        timeout: Duration::from_secs(args.timeout.get()),
        is_strict: false,
    });
    let failed = RefCell::new(None);
    let call = app.call(&on, &what);
    let made = {
        let shown = &*app;
        let mut make = |messages: &[Message]| match &summariser {
            Some(summariser) => summariser.run(messages, shown, &failed),
            None => Ok(String::new()),
        };
        let summary = summariser
            .is_some()
            .then_some(&mut make as MergeSummary<'_>);
        merge(args, &repo, call, &options, summary)
    };
    let (made, name) = match (made, failed.into_inner()) {
        (Err(Failure::Tract(error)), Some(why)) => {
            return Err(summariser::complained(&error, &why, app));
        }
        (made, _) => made?,
    };
    if args.dry_run && args.exec.is_some() {
        app.ui
            .notice("with the last answer in place of the summary, which nothing has made yet");
    }
    merging::tell(&made, &name, args.dry_run, &repo, app)
}

fn merge(
    args: &Args,
    repo: &Repo,
    call: Call<'_>,
    options: &MergeOptions,
    summary: Option<MergeSummary<'_>>,
) -> Result<(Merge, String)> {
    match &args.branch {
        Some(branch) => {
            let theirs = repo.resolve(call.on, branch)?;
            let made = repo.merge(call, &theirs, branch, options, summary)?;
            Ok((made, branch.clone()))
        }
        None => {
            let name = repo.merge_under_way(call.on)?.map(|it| it.name);
            let made = repo.merge_on(call, options, summary)?;
            Ok((made, name.unwrap_or_default()))
        }
    }
}
