//! `tract view`: the conversation as a chat.

use crate::cli::conversation::{self, Form, Which};
use crate::cli::{App, Failure, follow, interactive, playing};

/// Read the conversation as a chat
///
/// The last messages that a model would be sent, each with the number by which other commands know
/// it (:12); above them, how many earlier ones there are. What tools gave back is folded to a few
/// lines. How many messages: --window, or the setting window.size, or else 50.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract view                        the last 50 messages
  tract view --transcript HEAD~20   all since the last compaction, truncated ones too, as it was then
  tract view -i                     on the whole screen; it goes on as others commit
  tract view --follow               and what comes
  tract view --speed 2              as it was seen when it happened, twice as fast
  tract view --format tree s.jsonl  a file's tree as JSON (docs/render.md); needs no repository")]
pub struct Args {
    /// Which commit; or a session file, or a kept stream
    #[arg(value_name = "REV|FILE")]
    what: Option<String>,
    /// On the whole screen, with keys (? lists them); without REV a first screen chooses
    #[arg(short, long, conflicts_with_all = ["follow", "format"])]
    interactive: bool,
    /// How many messages, counted from the end
    #[arg(short = 'n', long, value_name = "N", conflicts_with_all = ["transcript", "all"])]
    window: Option<usize>,
    /// Everything since the last clear or compaction, truncated messages included
    #[arg(long)]
    transcript: bool,
    /// Everything that there is, across clears and compactions
    #[arg(long, conflicts_with = "transcript")]
    all: bool,
    /// Go on: print what another process commits, until ctrl+c
    #[arg(long)]
    follow: bool,
    /// Play it as it was seen when it happened, so many times as fast; 0: at once
    #[arg(long, value_name = "X", conflicts_with_all = ["follow", "interactive"], value_parser = playing::speed)]
    speed: Option<f64>,
    /// plain; tree: the whole conversation as JSON; html, markdown: as a page
    #[arg(long, value_name = "F", default_value = "plain")]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    format: Form,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let which = match (args.transcript, args.all) {
        (true, _) => Which::Transcript,
        (_, true) => Which::All,
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
        return playing::play(what, which, speed, app);
    }
    if args.follow {
        if args.format != Form::Plain {
            let what = match args.format {
                Form::Tree => "what is followed has no end, and a tree is printed whole",
                _ => "what is followed has no end, and a page is printed whole",
            };
            return Err(Failure::usage(what).with_hint("tract view --follow"));
        }
        return follow::follow(what, which, app);
    }
    conversation::show(what, which, args.format, app)
}
