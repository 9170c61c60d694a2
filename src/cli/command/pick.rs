//! `tract pick`: copies of messages from anywhere, at the end.

use tract::history::surgery::Picked;
use tract::render::plural;

use crate::cli::{App, Result, Typed, outcome};

/// Copy messages from anywhere to the end
///
/// The messages may be on other branches or sessions, before a compaction, or on no branch at all. A
/// copy of each is appended, with its tool calls and results and with all its parts. Nothing before it
/// changes, so a provider's prompt cache stays valid. To put a hidden message back in its own place
/// instead: tract restore.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract pick a1b2c3d               this message, as tract find lists it
  tract pick idea:12 idea:14       two of the branch idea
  tract pick claude-code/6b6f:-1   the last one of a session
  tract pick a1b2c3d#1             one part of it; of a call, its result too
  tract pick :3 --dry-run          say what would be copied")]
pub struct Args {
    /// Messages, or REV#PART
    #[arg(value_name = "REV", required = true)]
    messages: Vec<String>,
    /// Say what would be copied, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let messages = args.messages.iter();
    let picked: Vec<Picked> = messages
        .map(|text| repo.resolve_picked(&on, text))
        .collect::<Result<_, _>>()?;
    let what = Typed::new("pick").revs(&args.messages).line();
    let call = app.call(&on, &what);
    let options = outcome::options(app, &repo, args.dry_run)?;
    let done = repo.pick(call, &picked, &options)?;
    if args.dry_run {
        return outcome::foretell(app, "pick", &done, &[]);
    }
    let copied = plural(done.shown.len() as u64, "message");
    let more = if done.shown.len() > picked.len() {
        ", tool partners included"
    } else {
        ""
    };
    let did = format!("Copied {copied} to the end{more}");
    outcome::tell(app, &on, &did, &done);
    Ok(())
}
