//! `tract purge`: messages erased for good.

use tract::model::pattern::Pattern;
use tract::render::{Label, Line, listed, plural, shell_word};
use tract::repo::Named;
use tract::upkeep::{Erasing, Erasure, Purged};

use crate::cli::{App, Failure, Result, Typed, erased};

/// Erase messages from history, for good
///
/// Erases the messages that you name, or those that --match finds, on every branch, hidden or not. They
/// read [purged] from then on. Commits keep their hashes, but for notes. No undo brings the messages back, and neither
/// does importing the session again; an undo that would show them is refused from then on, all others
/// still work, and --dry-run lists those that end. Kept files of sessions that hold any of it are erased too, and so
/// are titles and tags' notes that contain it; names of branches and other refs stay, and are listed. A commit's note, and the
/// reason of a pin, are hashed with it: where one matches, that commit and all behind it get other names, branches and tags
/// follow, and undo reaches back no further. Request settings cannot be erased: if the text is there, nothing is done.
///
/// The expression is read as tract find -E reads it: case does not matter, unless it begins with (?-i).
/// It is matched against the text itself, however JSON spells it. tract redact is the gentler command:
/// it takes secrets out of the context only, and undo brings them back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract purge --match 'ghp_[a-z0-9]{36}' --dry-run    what would go
  tract purge --match 'ghp_[a-z0-9]{36}' --force
  tract purge :7 a1b2c3d --force                      the 7th visible message, and that one")]
pub struct Args {
    /// The messages to erase
    #[arg(value_name = "REV", required_unless_present = "pattern")]
    named: Vec<String>,
    /// All messages that match this
    #[arg(long = "match", value_name = "REGEX", conflicts_with = "named")]
    pattern: Option<String>,
    /// Confirm that it is erased for good
    #[arg(long)]
    force: bool,
    /// Say what would go, and change nothing
    #[arg(long, conflicts_with = "force")]
    dry_run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let mut entries = Vec::new();
    for text in &args.named {
        match repo.resolve_named(&on, text)? {
            Named::Entry(entry) => entries.push(entry),
            Named::Part(..) => {
                let failure = Failure::usage("parts are not erased, only messages");
                return Err(failure.with_hint("tract drop takes parts out of the context"));
            }
        }
    }
    let pattern = args.pattern.as_deref().map(Pattern::regex).transpose()?;
    let what = Erasing {
        entries,
        pattern: pattern.as_ref(),
        ..Erasing::default()
    };
    if !args.force {
        let erasure = repo.erasure(&what)?;
        if erasure.is_nothing() {
            app.ui.status("Nothing to erase");
            erased::names(&erasure.names, &mut app.ui);
            return Ok(());
        }
        if args.dry_run {
            return list(&erasure, app);
        }
        let failure = Failure::refused(format!("{} would be erased for good", size(&erasure)));
        let what = match &args.pattern {
            Some(pattern) => format!("--match {}", shell_word(pattern)),
            None => args.named.join(" "),
        };
        let hint = format!("tract purge {what} --force; --dry-run lists them");
        return Err(failure.with_hint(hint));
    }
    // What was looked for is what is to be forgotten.
    let typed = Typed::new("purge").revs(&args.named).line();
    let purged = repo.erase(app.call(&on, &typed), &what)?;
    let is_nothing = Purged {
        names: Vec::new(),
        ..purged.clone()
    };
    if is_nothing == Purged::default() {
        app.ui.status("Nothing to erase");
        erased::names(&purged.names, &mut app.ui);
        return Ok(());
    }
    erased::tell(&purged, &repo, app)
}

/// How much would go.
fn size(erasure: &Erasure) -> String {
    let copied: u64 = erasure.asides.iter().map(|aside| aside.messages).sum();
    let counts = [
        (erasure.messages.len(), "message"),
        (copied as usize, "copied message"),
        (erasure.sources.len(), "kept session file"),
        (erasure.titles.len(), "title"),
        (erasure.noted.len(), "commit note"),
        (erasure.notes.len(), "tag note"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, noun)| plural(count as u64, noun))
        .collect();
    listed(&counts)
}

fn list(erasure: &Erasure, app: &mut App) -> Result<()> {
    app.ui.print(format!("Would erase {}", size(erasure)))?;
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
