//! `tract web`: all there is, in a browser.

use std::process::{Command, Stdio};

use crate::cli::web::{self, Door, Site};
use crate::cli::{App, Failure, Result};

/// Look at everything in a browser
///
/// Serves pages to browsers on this machine, and to nobody else: all sessions, each conversation, a search over all of
/// them. Their address, which nobody else knows, is written to standard output. Sessions that tools have left and that
/// are not imported are listed, too; they are read into memory when they are opened. Outside of any repository, the
/// home's is served, or else what tools have left. Nothing is sent anywhere. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract web                    opens a browser
  tract web --no-open          only says the address
  tract web --port 9000        always the same port")]
pub struct Args {
    /// The port, instead of 8722 or the next that is free
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Open no browser
    #[arg(long)]
    no_open: bool,
    /// Let the pages change the repository
    #[arg(long)]
    write: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    if app.is_ephemeral() {
        let failure = Failure::usage("a repository in memory has nothing to look at");
        return Err(failure.with_hint("leave --ephemeral out"));
    }
    let site = Site::of(app, args.write)?;
    let listener = web::listen(args.port)?;
    let port = listener.local_addr()?.port();
    let door = Door::of(site, port)?;
    app.ui.print(door.address())?;
    app.ui.flush()?;
    if app.ui.is_terminal() && !args.no_open {
        open(&door.entry());
        app.ui.hint("Ctrl-C ends it");
    }
    web::serve(listener, door)
}

/// Opens a browser, if there is one: the address was said anyway.
fn open(address: &str) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(program);
    command.arg(address);
    for stream in [Command::stdin, Command::stdout, Command::stderr] {
        stream(&mut command, Stdio::null());
    }
    let _ = command.spawn();
}
