//! `tract pick`: copies of messages from anywhere, at the end; and what commits of other branches do.

use tract::model::Operation;
use tract::render::plural;
use tract::rewrite::Pickable;

use crate::cli::{App, Result, Typed, outcome};

/// Copy messages from anywhere to the end
///
/// The messages may be on other branches or sessions, before a compaction, or on no branch at all. A
/// copy of each is appended, with its tool calls and results and with all its parts. Nothing before it
/// changes, so a provider's prompt cache stays valid. To put a hidden message back in its own place
/// instead: tract restore.
///
/// A commit that is no message is picked for what it does: an edit, a compaction, a drop, a restore, a
/// pin. The same is done here, to the messages that both branches have and to copies of them. If those
/// are not here, or were changed differently, nothing is done and the error says which.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract pick a1b2c3d               this message, as tract find lists it
  tract pick idea:12 idea:14       two of the branch idea
  tract pick claude-code/6b6f:-1   the last one of a session
  tract pick a1b2c3d#1             one part of it; of a call, its result too
  tract cherry-pick 9f8e7d6        a compaction or an edit of another branch, done here
  tract pick :3 --dry-run          say what would be copied")]
pub struct Args {
    /// Messages, REV#PART, or commits that edit, hide, restore or pin
    #[arg(value_name = "REV", required = true)]
    messages: Vec<String>,
    /// Say what would be copied, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let messages = args.messages.iter();
    let picked: Vec<Pickable> = messages
        .map(|text| repo.resolve_pickable(&on, text))
        .collect::<Result<_, _>>()?;
    let what = Typed::new("pick").revs(&args.messages).line();
    let call = app.call(&on, &what);
    let options = outcome::options(app, &repo, args.dry_run)?;
    let picking = repo.cherry_pick(call, &picked, &options)?;
    let done = &picking.surgery;
    let of_messages = |one: &&Pickable| matches!(one, Pickable::Message(_));
    let asked = picked.iter().filter(of_messages).count();
    let operations = picked.len() - asked;
    for commit in &picking.already {
        let commit = commit.short();
        app.ui
            .status(format!("{commit} changes nothing here: it is so already"));
    }
    let count = |count: usize| plural(count as u64, "message");
    if picking.missing > 0 {
        let missing = count(picking.missing);
        app.ui.notice(format!(
            "{missing} that it changes there: not on this branch"
        ));
    }
    if picking.spared > 0 {
        let spared = count(picking.spared);
        app.ui.notice(format!(
            "{spared} that it hides there: pinned here, or part of what stays"
        ));
    }
    if picking.already.len() == picked.len() {
        return Ok(());
    }
    if args.dry_run {
        return outcome::foretell(app, "pick", done, &[]);
    }
    let mut did = Vec::new();
    if asked > 0 {
        let made = done.commits.iter().map(|made| &made.commit.operation);
        let copies = made
            .filter(|it| matches!(it, Operation::Append { .. }))
            .count();
        let more = if copies > asked {
            ", tool partners included"
        } else {
            ""
        };
        did.push(format!("Copied {} to the end{more}", count(copies)));
    }
    if operations > picking.already.len() {
        let done = operations - picking.already.len();
        did.push(format!("Did {} here", plural(done as u64, "change")));
    }
    outcome::tell(app, &on, &did.join(". "), done);
    Ok(())
}
