//! `tract replay`: short for `view --speed`.

use crate::cli::conversation::{self, Form, Which};
use crate::cli::{App, Result, playback};

/// Play the conversation as it happened: view --speed
///
/// On a terminal it takes as long as it took then, with pauses cut to three seconds. In a pipe, or with
/// --speed 0, it is printed at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract replay                 as it was
  tract replay --speed 10 v1   ten times as fast, up to v1")]
pub struct Args {
    /// The commit
    #[arg(value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// How many times as fast to play it; 0: at once
    #[arg(long, value_name = "X", value_parser = playback::speed)]
    speed: Option<f64>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let usual = if app.ui.is_terminal() { 1.0 } else { 0.0 };
    let which = Which::Window(None);
    match args.speed.unwrap_or(usual) {
        0.0 => conversation::show(&args.rev, which, Form::Plain, app),
        speed => playback::play(&args.rev, which, speed, app),
    }
}
