//! `tract view`: the conversation as a chat.

use crate::cli::conversation::{self, Form, Which};
use crate::cli::{App, Failure, Result, follow, interactive, playback};

/// Read the conversation as a chat
///
/// Prints the last messages that a model would be sent, each with its number (:12), and the count of earlier ones.
/// Tool output is folded to a few lines. --window, or else the setting window.size, or else 50, says how many
/// messages.
///
/// A session need not be imported: a file, or the id of a session as tract import lists it, is read into memory.
/// Nothing is written. Where a file is called like a commit, ./FILE is the file.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract view                        the last 50 messages
  tract view --transcript HEAD~20   all since the last compaction, truncated ones too, as it was then
  tract view -i                     on the whole screen; new commits appear by themselves
  tract view --follow               and what is committed later
  tract view 493c22a8               a session of this directory that is not imported
  tract view ./session.jsonl        a file; no repository is needed for either
  tract view --speed 2              as it happened, twice as fast
  tract view --format tree s.jsonl  a file's tree as JSON (docs/render.md); needs no repository")]
pub struct Args {
    /// A commit, a session file, or the id of a session that is not imported
    #[arg(value_name = "REV|FILE|ID")]
    what: Option<String>,
    /// Use the whole screen, with keys (? lists them); without REV, first choose a session: of the repository, or, outside of
    /// any, of those that your tools have left on this machine
    #[arg(short, long, conflicts_with_all = ["follow", "format"])]
    interactive: bool,
    /// How many messages to show, counted from the end; 0: all
    #[arg(short = 'n', long, value_name = "N", conflicts_with_all = ["transcript", "all"])]
    window: Option<usize>,
    /// Show everything since the last clear or compaction, truncated messages too
    #[arg(long)]
    transcript: bool,
    /// Show everything, across clears and compactions
    #[arg(long, conflicts_with = "transcript")]
    all: bool,
    /// Keep printing what other processes commit, until ctrl+c
    #[arg(long)]
    follow: bool,
    /// Play it as it happened, X times as fast; 0: at once
    #[arg(long, value_name = "X", conflicts_with_all = ["follow", "interactive"], value_parser = playback::speed)]
    speed: Option<f64>,
    /// plain; tree: the whole conversation as JSON; html, markdown: as a page
    #[arg(long, value_name = "F", default_value = "plain")]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    format: Form,
}

impl Args {
    /// Whether it ends by itself, so that a pager may show it.
    pub fn pages(&self) -> bool {
        !self.interactive && !self.follow && self.speed.is_none()
    }
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let which = match (args.transcript, args.all) {
        (true, _) => Which::Transcript,
        (_, true) => Which::All,
        _ if args.window == Some(0) => Which::Window(Some(usize::MAX)),
        _ => Which::Window(args.window),
    };
    let what = args.what.as_deref();
    if args.interactive {
        return interactive::run(what, which, app);
    }
    let what = what.unwrap_or("HEAD");
    if let Some(speed) = args.speed.filter(|speed| *speed > 0.0) {
        if args.format != Form::Plain {
            let failure =
                Failure::usage("--speed is for what is read as it comes, and not for a file");
            return Err(failure.with_hint("tract view --speed 2"));
        }
        return playback::play(what, which, speed, app);
    }
    if args.follow {
        if args.format != Form::Plain {
            let what = match args.format {
                Form::Tree => "--follow has no end, and a tree is printed as a whole",
                _ => "--follow has no end, and a page is printed as a whole",
            };
            return Err(Failure::usage(what).with_hint("tract view --follow"));
        }
        return follow::follow(what, which, app);
    }
    conversation::show(what, which, args.format, app)
}
