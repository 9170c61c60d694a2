//! `tract resolve`: whose change of a message holds, in a merge that is under way.

use tract::model::EntryId;
use tract::render::plural;
use tract::rewrite::Whose;

use crate::cli::{App, Result, Typed, merging};

/// Settle conflicts of a merge
///
/// Where tract merge has found messages that both branches changed differently, this says whose change holds of each.
/// Nothing is written before tract merge --continue. Without a message, it lists what is still in conflict.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract resolve                what is in conflict
  tract resolve :4 --theirs    the fourth message becomes what it is on the other branch
  tract resolve :7 :9 --ours   these two stay as they are here
  tract merge --continue")]
pub struct Args {
    /// Messages in conflict
    #[arg(value_name = "REV", requires = "whose")]
    messages: Vec<String>,
    #[command(flatten)]
    whose: Sides,
}

#[derive(Debug, clap::Args)]
#[group(id = "whose", multiple = false)]
struct Sides {
    /// What this branch has holds
    #[arg(long, requires = "messages")]
    ours: bool,
    /// What the other branch has holds
    #[arg(long, requires = "messages")]
    theirs: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let what = Typed::new("resolve").revs(&args.messages).line();
    let call = app.call(&on, &what);
    if args.messages.is_empty() {
        let open = repo.merge_conflicts(call)?;
        merging::list(&open, app)?;
        return Ok(());
    }
    let messages = args.messages.iter();
    let entries: Vec<EntryId> = messages
        .map(|text| repo.resolve_entry(&on, text))
        .collect::<Result<_, _>>()?;
    let (whose, word) = if args.whose.theirs {
        (Whose::Theirs, "theirs")
    } else {
        (Whose::Ours, "ours")
    };
    let left = repo.merge_resolve(call, &entries, whose)?;
    let settled = plural(entries.len() as u64, "message");
    app.ui.status(format!("Settled {settled}: {word}"));
    if left.is_empty() {
        app.ui.hint("no conflict is left: tract merge --continue");
    } else {
        let left = plural(left.len() as u64, "message");
        app.ui.status(format!(
            "{left} still in conflict: tract resolve lists them"
        ));
    }
    Ok(())
}
