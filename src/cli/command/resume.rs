//! `tract resume`: go on from a commit in the tool that the session came from.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tract::formats::Format;
use tract::formats::registry::{self, FORMATS};
use tract::ingest::{moved_to, session_format};
use tract::render::{Label, shell_word};

use crate::cli::failure;
use crate::cli::typed::Typed;
use crate::cli::written_session::{self, WrittenSession};
use crate::cli::{App, Failure, Result, cache, leaks, position};

#[derive(Debug, clap::Args)]
#[command(about = ABOUT, long_about = long_about(), after_help = "\
Example:
  tract resume a1b2c3d              from before a compaction, for example
  tract resume --in codex --run     this context, in Codex, now")]
pub struct Args {
    /// The commit whose context is written
    #[arg(value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// The tool; by default the one that the session came from
    #[arg(long = "in", value_name = "TOOL", value_parser = Format::named, help = format!(
        "The tool: {}; by default the one that the session came from", resumable(" or ")
    ))]
    tool: Option<&'static Format>,
    /// Run that command
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    secrets: leaks::Flags,
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

/// The names of the tools that can go on with a session.
fn resumable(between: &str) -> String {
    let can = FORMATS
        .into_iter()
        .filter(|format| format.resume().is_some());
    let names: Vec<_> = can.map(|format| format.name).collect();
    names.join(between)
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    position::must_be_whole(&repo, &on, &args.rev)?;
    let commit = repo.resolve(&on, &args.rev)?;
    let tool = match args.tool {
        Some(tool) => Some(tool),
        None => session_format(&repo, &commit)?,
    };
    let Some((format, how)) = tool.and_then(|tool| Some((tool, tool.resume()?))) else {
        let what = match tool {
            Some(other) => format!("tract cannot resume sessions of {other}"),
            None => "this history does not say which tool to resume in".to_owned(),
        };
        let hint = format!("--in {}", resumable(", or --in "));
        return Err(Failure::usage(what).with_hint(hint));
    };
    let here = app.cwd()?;
    let session = repo.session_of(&commit)?;
    let begun_in = session.and_then(|(_, session)| session.cwd);
    let mut directories = [moved_to(&repo, &commit)?, begun_in].into_iter().flatten();
    let cwd = directories
        .find(|dir| Path::new(dir).is_dir())
        .map_or_else(|| here.clone(), PathBuf::from);
    let secrets = app.secrets()?;
    let leaving = args.secrets.for_resume(app)?.leaving(&secrets);
    let what = Typed::new("resume")
        .revs([&args.rev])
        .option("--in", args.tool)
        .line();
    let written =
        written_session::write(&repo, &commit, (format, how), &cwd, (&what, leaving), app)?;
    let WrittenSession { place, id, remarks } = written;
    for remark in &remarks {
        app.ui.notice(remark);
    }
    let place = place.display().to_string();
    // Each command by its words: what takes the file in, where there is need of that, and what goes on with it.
    let brought_in = how.brought_in_by.map(|words| [words, &[&*place]].concat());
    let commands: Vec<Vec<&str>> = brought_in
        .into_iter()
        .chain([[how.command, &[&*id]].concat()])
        .collect();
    // Another tool asks in other words: nothing of it is in the cache.
    if args.tool.is_none()
        && let Some(state) = cache::state(&repo, &commit, app)?
    {
        app.ui.notice(format!("the provider's cache is {state}"));
    }
    app.ui.status(format!("Wrote {place}"));
    let change = if cwd == here {
        String::new()
    } else {
        format!("cd {} && ", shell_word(&cwd.display().to_string()))
    };
    let lines = commands.iter().map(|words| {
        let words = words.iter().map(|word| shell_word(word));
        words.collect::<Vec<_>>().join(" ")
    });
    let line = format!("{change}{}", lines.collect::<Vec<_>>().join(" && "));
    if args.run {
        let failed = commands.iter().find_map(|words| ran(words, &cwd).err());
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

/// Runs a command in a directory to its end.
///
/// # Errors
///
/// In words.
fn ran(words: &[&str], cwd: &Path) -> Result<(), String> {
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
