//! `tract resume`: go on from a commit in the tool that the session came from.

use std::io;
use std::path::Path;
use std::process::Command;

use tract::deeds::{At, Method, ResumeParams};
use tract::formats::registry;
use tract::hash::CommitHash;
use tract::model::tokens::context_total;
use tract::render::{Label, plural, shell_word, tokens};
use tract::repo::Repo;

use crate::cli::drawing::cache;
use crate::cli::failure;
use crate::cli::{App, Failure, Result};

#[derive(Debug, clap::Args)]
#[command(about = ABOUT, long_about = long_about(), after_help = "\
Example:
  tract resume a1b2c3d              from before a compaction, for example
  tract resume --in codex --run     this context, in Codex, now
  tract resume --in codex --dry-run     what that would write, and what Codex cannot hold")]
pub struct Args {
    #[command(flatten)]
    deed: ResumeParams,
    // No method runs a program.
    /// Run that command
    #[arg(long, conflicts_with = "dry_run")]
    run: bool,
}

const ABOUT: &str = "Continue from a commit in a new session of a tool";

fn long_about() -> String {
    format!(
        "{ABOUT}: {}.\n\n\
         Writes the context at REV as a new session where that tool looks for its sessions, and \
         prints the command that continues it. The session has new ids, and no file is \
         overwritten. When that session is imported later, its new messages follow REV.",
        registry::tools(|format| format.resume().is_some()),
    )
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on, deed) = (app.repo()?, app.on()?, &args.deed);
    let mut at = At::new(&repo, on, app);
    let commit = deed.commit(&at)?;
    let (_, how) = deed.tool(&at, &commit)?;
    let written = deed.clone().call(&mut at)?;
    drop(at);
    for remark in &written.remarks {
        app.ui.notice(remark);
    }
    let (place, cwd, commands) = (written.path, written.directory, written.commands);
    // Another tool asks in other words: nothing of it is in the cache.
    if deed.tool.is_none()
        && let Some(state) = cache::state(&repo, &commit, app)?
    {
        app.ui.notice(format!("the provider's cache is {state}"));
    }
    if deed.dry_run {
        let size = listed_size(&repo, &commit, app)?;
        app.ui.print(format!("Would write {size} to {place}"))?;
        app.ui.print(format!("It would go on in {cwd}"))?;
        return Ok(());
    }
    app.ui.status(format!("Wrote {place}"));
    // The directory may be gone, and the session is there.
    let change = if app.cwd().is_ok_and(|here| here == Path::new(&cwd)) {
        String::new()
    } else {
        format!("cd {} && ", shell_word(&cwd))
    };
    let lines = commands.iter().map(|words| {
        let words = words.iter().map(|word| shell_word(word));
        words.collect::<Vec<_>>().join(" ")
    });
    let line = format!("{change}{}", lines.collect::<Vec<_>>().join(" && "));
    if args.run {
        let failed = commands
            .iter()
            .find_map(|words| ran(words, cwd.as_ref()).err());
        let Some(what) = failed else { return Ok(()) };
        let hint = format!("the session was written; it goes on with: {line}");
        return Err(Failure::refused(what).with_hint(hint));
    }
    let told = app.ui.print(Label::Command.of(line.as_str()));
    match told.and_then(|()| app.ui.flush()).map_err(Failure::from) {
        Err(Failure::Output(error)) => {
            let what = format!("standard output: {}", failure::reason(&error));
            let hint = format!("the session was written; it goes on with: {line}");
            Err(Failure::refused(what).with_hint(hint))
        }
        told => {
            if let (Ok(()), Some(shown)) = (&told, how.shown) {
                app.ui.hint(shown);
            }
            told
        }
    }
}

/// `12 messages, 1,082 tokens`.
fn listed_size(repo: &Repo, commit: &CommitHash, app: &App) -> Result<String> {
    let context = repo.context(commit)?;
    let counts = repo.counts(&context, app.encoding(repo)?)?;
    let messages = plural(context.entries.len() as u64, "message");
    Ok(format!(
        "{messages}, {} tokens",
        tokens(context_total(counts))
    ))
}

/// Runs a command in a directory to its end.
///
/// # Errors
///
/// In words.
fn ran(words: &[String], cwd: &Path) -> Result<(), String> {
    let (client, arguments) = words.split_first().ok_or("no command")?;
    let ran = Command::new(client)
        .args(arguments)
        .current_dir(cwd)
        .status();
    match ran {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{client} ended with {status}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("{client} is not installed here, or not in PATH"))
        }
        Err(error) => Err(format!("{client}: {}", failure::reason(&error))),
    }
}
