//! `tract demo`: a walk through a bundled session.

use std::path::PathBuf;

use clap::Parser;
use tract::Error;
use tract::history::{LogOptions, On, Repo};
use tract::render::{Label, Line};

use super::compile;
use crate::cli::app::App;
use crate::cli::failure::Failure;
use crate::cli::{Cli, command};

/// Look around in a bundled session
///
/// Imports a small coding session into a fresh repository in the temporary directory and runs a
/// few commands on it, printing each. The repository stays, to play with.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract demo
  tract demo | less")]
pub struct Args {}

const SESSION: &str = include_str!("demo-session.jsonl");
const FILE: &str = "session.jsonl";
/// How many lines of a compiled request are shown.
const LINES: usize = 8;

pub fn run(_: &Args, app: &mut App) -> Result<(), Failure> {
    let directory = directory()?;
    std::fs::write(directory.join(FILE), SESSION).map_err(Error::io(directory.join(FILE)))?;
    std::env::set_current_dir(&directory).map_err(Error::io(&directory))?;
    app.forget_surroundings();
    app.ui.merge_streams();

    // No empty line before the first.
    let first = "# A session of Claude Code: a bug in a bank's CSV files, and one compaction.";
    app.ui.print(Label::Dim.of(first))?;
    step(app, &["init"])?;
    step(app, &["import", FILE])?;
    say(
        app,
        "Where am I? What a model would be sent, and how large that is.",
    )?;
    step(app, &["status"])?;
    say(
        app,
        "Every message is a commit; so is what the tool's compaction hid.",
    )?;
    step(app, &["log", "-n", "13"])?;

    let compaction = compaction()?;
    let before = format!("{compaction}^");
    say(
        app,
        "The request as it would be sent now: it begins with the summary.",
    )?;
    text(app, &["compile", "--format", "text"])?;
    say(
        app,
        "Before the compaction nothing was lost: go back there and send that.",
    )?;
    step(app, &["log", "-n", "3", &before])?;
    text(app, &["compile", &before, "--format", "text"])?;
    say(app, "Or take it elsewhere, as a file of another format.")?;
    step(
        app,
        &["export", &before, "--format", "openai", "-o", "before.json"],
    )?;
    say(app, "A message of one's own is a commit as well.")?;
    step(
        app,
        &[
            "commit",
            "-r",
            "user",
            "-m",
            "Please show the totals by month, too.",
        ],
    )?;
    step(app, &["log", "-n", "2"])?;

    let place = directory.display();
    app.ui.print("")?;
    app.ui
        .print(format!("The repository stays: cd {place} && tract log"))?;
    if app.env.home.is_some() {
        let line = format!("There, `tract resume {compaction}^` writes it back as a new session.");
        app.ui.print(line)?;
    }
    app.ui.print("")?;
    Ok(app.ui.print(Label::Strong.of("Now yours: tract import"))?)
}

/// A directory of its own that nobody else can look into.
fn directory() -> Result<PathBuf, Failure> {
    let mut random = [0u8; 4];
    getrandom::fill(&mut random).map_err(|error| Failure::refused(error.to_string()))?;
    let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = std::env::temp_dir().join(format!("tract-demo-{name}"));
    std::fs::create_dir(&path).map_err(Error::io(&path))?;
    Ok(path)
}

/// The short hash of the newest compaction.
fn compaction() -> Result<String, Failure> {
    let repo = Repo::find(&std::env::current_dir().map_err(Error::io("."))?)?;
    let tip = repo.resolve(&On::Head, "HEAD")?;
    let options = LogOptions {
        limit: 1,
        operations: vec!["compact".to_owned()],
        ..LogOptions::default()
    };
    let rows = repo.log(&tip, &options)?;
    let none = || Failure::refused("the bundled session has no compaction");
    Ok(rows.first().ok_or_else(none)?.hash.short())
}

fn say(app: &mut App, text: &str) -> Result<(), Failure> {
    app.ui.print("")?;
    Ok(app.ui.print(Label::Dim.of(format!("# {text}")))?)
}

fn prompt(app: &mut App, words: &[&str], tail: &str) -> Result<(), Failure> {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| match word.contains(' ') {
            true => format!("\"{word}\""),
            false => (*word).to_owned(),
        })
        .collect();
    let line = format!("$ tract {}{tail}", quoted.join(" "));
    Ok(app.ui.print(Label::Command.of(line))?)
}

/// Prints a command and runs it.
fn step(app: &mut App, words: &[&str]) -> Result<(), Failure> {
    prompt(app, words, "")?;
    command::run(parse(words)?.command, app)
}

/// Prints a compile and the first lines of what it gives.
fn text(app: &mut App, words: &[&str]) -> Result<(), Failure> {
    prompt(app, words, &format!(" | head -n {LINES}"))?;
    let Some(command::Command::Compile(args)) = parse(words)?.command else {
        return Err(Failure::refused("the demo is out of step with the program"));
    };
    let (payload, _) = compile::payload(&args, app)?;
    let width = app.ui.width_cols();
    let lines: Vec<&str> = payload.lines().take(LINES).collect();
    let end = lines.iter().rposition(|line| !line.trim().is_empty());
    for line in &lines[..end.map_or(0, |last| last + 1)] {
        let mut shown = Line::new();
        shown.fit(Label::Text.quote(line), width);
        app.ui.print(shown)?;
    }
    Ok(())
}

fn parse(words: &[&str]) -> Result<Cli, Failure> {
    let words = std::iter::once("tract").chain(words.iter().copied());
    Cli::try_parse_from(words).map_err(|error| Failure::refused(error.to_string()))
}
