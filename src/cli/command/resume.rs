//! `tract resume`: go on from a commit in the tool that the session came from.

use std::fs::{OpenOptions, create_dir_all};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tract::Error;
use tract::ingest::places::Places;
use tract::ingest::{NewSession, resume};
use tract::interop::Format;
use tract::model::Millis;
use tract::render::Label;

use super::export::session_format;
use crate::cli::app::App;
use crate::cli::failure::Failure;

/// Go on from a commit, in a new session of Claude Code or Codex
///
/// Writes the context at REV as a new session where that tool looks, with new ids and never over a
/// file, and prints the command that continues it. Importing that session later goes on from REV.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract resume a1b2c3d              back to before a compaction, say
  tract resume --in codex --run     this context, in Codex, now")]
pub struct Args {
    /// Which commit's context
    #[arg(value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// The tool: claude-code or codex; by default the one that the session came from
    #[arg(long = "in", value_name = "TOOL")]
    tool: Option<Format>,
    /// Run the command
    #[arg(long)]
    run: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let (repo, on) = (app.repo()?, app.on()?);
    let commit = repo.resolve(&on, &args.rev)?;
    let tool = match args.tool {
        Some(tool) => Some(tool),
        None => session_format(&repo, &commit)?,
    };
    let format = match tool {
        Some(tool @ (Format::ClaudeCode | Format::Codex)) => tool,
        Some(other) => {
            let failure = Failure::usage(format!("{other} is no tool that could go on"));
            return Err(failure.with_hint("--in claude-code, or --in codex"));
        }
        None => {
            let failure = Failure::usage("this history came from no tool that could go on");
            return Err(failure.with_hint("--in claude-code, or --in codex"));
        }
    };
    let here = app.cwd()?;
    let cwd = repo
        .session_of(&commit)?
        .and_then(|(_, session)| session.cwd.map(PathBuf::from))
        .filter(|dir| dir.is_dir())
        .unwrap_or_else(|| here.clone());
    let now = app.now();
    let mut seed = [0u8; 32];
    getrandom::fill(&mut seed).map_err(|error| Failure::refused(error.to_string()))?;
    let session = NewSession {
        format,
        id: new_id(format, now, &seed),
        cwd: cwd.display().to_string(),
        now,
        seed,
    };
    let places = Places {
        claude: app.claude_dir()?,
        codex: app.codex_dir()?,
    };
    let place = places.new_session(
        format,
        &cwd,
        &session.id,
        &app.calendar().for_file_name(now),
    );
    let place = place.ok_or_else(|| {
        Failure::refused(format!(
            "HOME is not set, so {format}'s directory is not known"
        ))
    })?;
    let (bytes, remarks) = resume(&repo, &commit, &session)?;
    write_new(&place, &bytes)?;
    for remark in &remarks {
        app.ui.notice(remark);
    }
    let words = match format {
        Format::Codex => ["codex", "resume", &session.id],
        _ => ["claude", "--resume", &session.id],
    };
    app.ui.status(format!("Wrote {}", place.display()));
    if args.run {
        let status = Command::new(words[0])
            .args(&words[1..])
            .current_dir(&cwd)
            .status()
            .map_err(Error::io(words[0]))?;
        return match status.success() {
            true => Ok(()),
            false => Err(Failure::refused(format!(
                "{} ended with {status}",
                words[0]
            ))),
        };
    }
    let change = match cwd == here {
        true => String::new(),
        false => format!("cd {} && ", quoted(&cwd)),
    };
    let line = format!("{change}{}", words.join(" "));
    Ok(app.ui.print(Label::Command.of(line))?)
}

/// Codex orders its sessions by ids that hold the time; Claude Code's are random.
fn new_id(format: Format, now: Millis, seed: &[u8; 32]) -> String {
    let mut random = [0u8; 16];
    random.copy_from_slice(&seed[..16]);
    let builder = match format {
        Format::Codex => {
            let mut tail = [0u8; 10];
            tail.copy_from_slice(&seed[..10]);
            uuid::Builder::from_unix_timestamp_millis(now.0.max(0) as u64, &tail)
        }
        _ => uuid::Builder::from_random_bytes(random),
    };
    builder.into_uuid().to_string()
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if let Some(directory) = path.parent() {
        create_dir_all(directory).map_err(Error::io(directory))?;
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.map_err(Error::io(path))?;
    file.write_all(bytes).map_err(Error::io(path))?;
    Ok(file.sync_all().map_err(Error::io(path))?)
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    match text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
