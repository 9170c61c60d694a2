//! `tract demo`: a walk through a bundled session.

use std::path::{Path, PathBuf};

use tract::Error;
use tract::compile::{Provider, RequestOptions};
use tract::deeds::request_payload;
use tract::query::LogOptions;
use tract::render::{Label, Line, shell_words};
use tract::repo::On;

use crate::cli::machine::private;
use crate::cli::{App, Cli, Failure, Result, command};

/// Try tract on a bundled session
///
/// Imports a small coding session into a new repository in the temporary directory, runs a few commands
/// on it and prints each one. The repository stays there to play with.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract demo
  tract demo | less
  tract demo --web    the session in a browser, to read and to change")]
pub struct Args {
    /// Open it in a browser instead, as tract web --write does; Ctrl-C ends it
    #[arg(long)]
    web: bool,
    /// With --web: open no browser, only say the address
    #[arg(long, requires = "web")]
    no_open: bool,
}

const SESSION: &str = include_str!("demo-session.jsonl");
/// How many lines of a compiled request are shown, as the walk says.
const LINES: usize = 8;
/// The walk: remarks, and commands; `HIDE` is the session's compaction.
const WALK: &str = "\
# A session of Claude Code: a bug in a bank's CSV files, and one compaction.
$ init
$ import session.jsonl
# Where am I? What a model would be sent, and how large that is.
$ status
# Every message is a commit; so is what the tool's compaction hid.
$ log -n 13
# What was said last, as a chat.
$ view --window 5
# The request as it would be sent now: it begins with the summary.
$ compile --format text | head -n 8
# Before the compaction nothing was lost: go back there and send that.
$ log -n 3 HIDE^
$ compile HIDE^ --format text | head -n 8
# Or take it elsewhere, as a file of another format.
$ export HIDE^ --format openai -o before.json
# A message of one's own is a commit as well.
$ commit -r user -m \"Please show the totals by month, too.\"
$ log -n 2
";

/// What a page is to show: the session and what its tool hid.
const BROUGHT_IN: [&str; 2] = ["init -q", "import session.jsonl -q"];

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let directory = directory()?;
    let file = directory.join("session.jsonl");
    std::fs::write(&file, SESSION).map_err(Error::io(&file))?;
    std::env::set_current_dir(&directory).map_err(Error::io(&directory))?;
    app.forget_surroundings();
    if args.web {
        return browse(args, &directory, app);
    }
    app.ui.merge_streams();
    for (index, line) in WALK.lines().enumerate() {
        let line = if line.contains("HIDE") {
            line.replace("HIDE", &compaction(app)?)
        } else {
            line.to_owned()
        };
        match line.strip_prefix("$ ") {
            Some(command) => step(command, app)?,
            None => {
                // No empty line before the first.
                if index > 0 {
                    app.ui.print("")?;
                }
                app.ui.print(Label::Dim.of(line))?;
            }
        }
    }
    let place = directory.display();
    app.ui.print("")?;
    app.ui
        .print(format!("The repository stays: cd {place} && tract log"))?;
    if app.env.home.is_some() {
        let hide = compaction(app)?;
        let line = format!("There, `tract resume {hide}^` writes it back as a new session.");
        app.ui.print(line)?;
    }
    app.ui.print("")?;
    Ok(app.ui.print(Label::Strong.of("Now yours: tract import"))?)
}

/// Serves the session to a browser.
fn browse(args: &Args, directory: &Path, app: &mut App) -> Result<()> {
    app.ui.capture();
    let made = BROUGHT_IN.into_iter().try_for_each(|line| typed(line, app));
    app.ui.captured();
    made?;
    app.ui
        .status(format!("The repository stays in {}", directory.display()));
    typed(
        if args.no_open {
            "web --write --no-open"
        } else {
            "web --write"
        },
        app,
    )
}

/// Runs a command as it would be typed.
fn typed(line: &str, app: &mut App) -> Result<()> {
    let words = std::iter::once("tract".to_owned()).chain(shell_words(line));
    let parsed = Cli::read(words);
    let parsed = parsed.map_err(|error| Failure::refused(error.to_string()))?;
    command::run(parsed.command, app)
}

/// A directory of its own that nobody else can look into.
fn directory() -> Result<PathBuf> {
    let name = format!("tract-demo-{}", private::random_name::<4>()?);
    let path = std::env::temp_dir().join(name);
    private::create_directory(&path).map_err(Error::io(&path))?;
    Ok(path)
}

/// The short hash of the newest compaction.
fn compaction(app: &App) -> Result<String> {
    let repo = app.repo()?;
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

/// Prints a command and runs it; of a compiled request only the first lines.
fn step(typed: &str, app: &mut App) -> Result<()> {
    let words = shell_words(typed);
    let long = words[0] == "compile";
    app.ui
        .print(Label::Command.of(format!("$ tract {typed}")))?;
    if !long {
        return self::typed(typed, app);
    }
    let rev = words.get(1).filter(|word| !word.starts_with('-'));
    let repo = app.repo()?;
    let commit = repo.resolve(&On::Head, rev.map_or("HEAD", String::as_str))?;
    let options = RequestOptions {
        provider: Provider::Text,
        ..RequestOptions::default()
    };
    let (payload, _) = request_payload(&repo, &commit, None, &options)?;
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
