//! `tract web`: all there is, in a browser.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::cli::drawing::leaks;
use crate::cli::web::{self, Door, Site};
use crate::cli::{App, Failure, Result};

/// Look at everything in a browser
///
/// Serves pages to browsers on this machine, and to nobody else: all sessions, each conversation, a search over all of
/// them. Their address, which nobody else knows, is written to standard output. Sessions that tools have left and that
/// are not imported are listed, too; they are read into memory when they are opened. Outside of any repository, the
/// home's is served, or else what tools have left. Nothing is sent anywhere. Ctrl-C ends it.
///
/// --out DIR writes the pages of all imported sessions as files, with a search that needs no server. Where secrets are
/// found, nothing is written unless --redact or --allow-secrets is given. --anonymous also gives each person and host
/// another name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract web                    opens a browser
  tract web :7                 opens the page of a message, as show --web does
  tract web --no-open          only says the address
  tract web --port 9000        always the same port
  tract web --out pages        the same as files, to publish
  tract web --out pages --redact    without the secrets in them")]
pub struct Args {
    /// The session, branch or commit whose page is opened, instead of the list
    #[arg(value_name = "REV", conflicts_with = "out")]
    rev: Option<String>,
    /// The port, instead of 8722 or the next that is free
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Open no browser
    #[arg(long)]
    no_open: bool,
    /// Let the pages change the repository
    #[arg(long)]
    write: bool,
    /// Write the pages into a directory instead, to publish them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["port", "no_open", "write"])]
    out: Option<PathBuf>,
    /// Write over files of others in DIR
    #[arg(long, requires = "out")]
    force: bool,
    /// From how many conversations on the list is gathered once
    #[arg(long, value_name = "N", hide = true, default_value_t = Site::MANY)]
    many: usize,
    #[command(flatten)]
    secrets: leaks::SharedFlags,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    if app.is_ephemeral() {
        let failure = Failure::usage("a repository in memory has nothing to look at");
        return Err(failure.with_hint("leave --ephemeral out"));
    }
    if let Some(folder) = &args.out {
        let folder = app.path(folder)?;
        return web::publish(&folder, args.force, &args.secrets, app);
    }
    if args.secrets.is_given() {
        let failure = Failure::usage("pages for this machine leave nothing out");
        return Err(
            failure.with_hint("tract web --out DIR --redact publishes them without secrets")
        );
    }
    let site = Site::of(app, args.write, args.many)?;
    serve(site, args.rev.as_deref(), args.port, !args.no_open, app)
}

/// Serves the page of a revision, and all others; `opens` it in a browser.
pub fn at(rev: &str, opens: bool, app: &mut App) -> Result<()> {
    serve(
        Site::of(app, false, Site::MANY)?,
        Some(rev),
        None,
        opens,
        app,
    )
}

fn serve(
    site: Site,
    rev: Option<&str>,
    port: Option<u16>,
    opens: bool,
    app: &mut App,
) -> Result<()> {
    let target = match rev {
        Some(rev) => site.address_of(rev, &app.on()?)?,
        None => String::new(),
    };
    let listener = web::listen(port)?;
    let port = listener.local_addr()?.port();
    let door = Door::of(site, port, target)?;
    web::serve(listener, door, |door| {
        app.ui.print(door.address())?;
        app.ui.flush()?;
        if app.ui.is_terminal() && opens {
            open(&door.entry());
            app.ui.hint("Ctrl-C ends it");
        }
        Ok(())
    })
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
