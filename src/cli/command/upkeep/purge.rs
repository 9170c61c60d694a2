//! `tract purge`: messages erased for good.

use tract::deeds::{At, PurgeOutcome, counted};
use tract::render::{Label, Line, plural};
use tract::upkeep::{Erasure, Purged};

use crate::cli::drawing::erasure;
use crate::cli::{App, Result};

pub use tract::deeds::PurgeParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let done = args.carry_out(&At::new(&repo, on, app))?;
    let names = match &done {
        PurgeOutcome::Would(erasure) if !erasure.is_nothing() => return list(erasure, app),
        PurgeOutcome::Done(purged) if !is_nothing(purged) => {
            return erasure::tell(purged, &repo, app);
        }
        PurgeOutcome::Would(erasure) => &erasure.names,
        PurgeOutcome::Done(purged) => &purged.names,
    };
    app.ui.status("Nothing to erase");
    erasure::names(names, &mut app.ui);
    Ok(())
}

fn is_nothing(purged: &Purged) -> bool {
    let named = Purged {
        names: purged.names.clone(),
        ..Purged::default()
    };
    *purged == named
}

fn list(erasure: &Erasure, app: &mut App) -> Result<()> {
    app.ui.print(format!("Would erase {}", counted(erasure)))?;
    for message in &erasure.messages {
        let commit = message.commit.map(|commit| commit.short());
        let role = Label::role(message.role).of(format!("{:<9}", message.role));
        let commit = Label::Hash.of(commit.unwrap_or_default());
        app.ui
            .print(Line::from("  ") + commit + "  " + role + "  " + message.preview.as_str())?;
    }
    for session in &erasure.sources {
        app.ui
            .print(format!("  the kept file of {}", session.short()))?;
    }
    for session in &erasure.titles {
        app.ui
            .print(format!("  the title of {}", session.short()))?;
    }
    for commit in &erasure.noted {
        let line = Line::from("  the note of ") + Label::Hash.of(commit.short());
        app.ui
            .print(line + ", which gets another name, and so do all commits behind it")?;
    }
    for tag in &erasure.notes {
        app.ui.print(format!("  the note of {}", tag.short()))?;
    }
    for name in &erasure.names {
        app.ui
            .print(format!("  stays: the name of {}", name.short()))?;
    }
    for commit in &erasure.quoting {
        let line = Line::from("  stays: ") + Label::Hash.of(commit.short());
        app.ui.print(line + ", which says the same text")?;
    }
    if !erasure.ends.is_empty() {
        let count = plural(erasure.ends.len() as u64, "command");
        app.ui.print(format!("Would end the undo of {count}"))?;
    }
    for one in &erasure.ends {
        let number = Label::Hash.of(format!("#{}", one.operation.id));
        app.ui
            .print(Line::from("  ") + number + "  " + one.operation.what.as_str())?;
    }
    Ok(())
}
