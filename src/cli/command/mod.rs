//! One file per command.

mod annotate;
mod branch;
mod checkout;
mod clear;
mod commit;
mod compact;
mod compile;
mod config;
mod demo;
mod diff;
mod drop;
mod export;
mod find;
mod import;
mod imported;
mod init;
pub mod log;
mod prune;
mod redo;
mod reflog;
mod reset;
mod restore;
mod resume;
mod rev_parse;
mod show;
mod status;
mod tag;
mod truncate;
mod undo;

use tract::Error;

use super::app::App;
use super::failure::Failure;

/// What can be done.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Init(init::Args),
    Import(import::Args),
    Export(export::Args),
    Resume(resume::Args),
    Demo(demo::Args),
    Status(status::Args),
    Log(log::Args),
    Show(show::Args),
    #[command(visible_alias = "grep")]
    Find(find::Args),
    Diff(diff::Args),
    Commit(Box<commit::Args>),
    Undo(undo::Args),
    Redo(redo::Args),
    Restore(restore::Args),
    #[command(visible_alias = "rewind")]
    Reset(reset::Args),
    Checkout(checkout::Args),
    Branch(branch::Args),
    Tag(tag::Args),
    Reflog(reflog::Args),
    Annotate(annotate::Args),
    #[command(hide = true)]
    Pin(annotate::Pin),
    #[command(hide = true)]
    Unpin(annotate::Unpin),
    Prune(prune::Args),
    Drop(drop::Args),
    Truncate(truncate::Args),
    Compact(compact::Args),
    Clear(clear::Args),
    Compile(compile::Args),
    Config(config::Args),
    RevParse(rev_parse::Args),
}

/// Does it. Without a command: where we are, or how to start.
pub fn run(command: Option<Command>, app: &mut App) -> Result<(), Failure> {
    match command {
        None => match status::run(&status::Args {}, app) {
            Err(Failure::Tract(Error::NoRepository { .. })) => start(app),
            done => done,
        },
        Some(Command::Init(args)) => init::run(&args, app),
        Some(Command::Import(args)) => import::run(&args, app),
        Some(Command::Export(args)) => export::run(&args, app),
        Some(Command::Resume(args)) => resume::run(&args, app),
        Some(Command::Demo(args)) => demo::run(&args, app),
        Some(Command::Status(args)) => status::run(&args, app),
        Some(Command::Log(args)) => log::run(&args, app),
        Some(Command::Show(args)) => show::run(&args, app),
        Some(Command::Find(args)) => find::run(&args, app),
        Some(Command::Diff(args)) => diff::run(&args, app),
        Some(Command::Commit(args)) => commit::run(&args, app),
        Some(Command::Compact(args)) => compact::run(&args, app),
        Some(Command::Clear(args)) => clear::run(&args, app),
        Some(Command::Undo(args)) => undo::run(&args, app),
        Some(Command::Redo(args)) => redo::run(&args, app),
        Some(Command::Reset(args)) => reset::run(&args, app),
        Some(Command::Checkout(args)) => checkout::run(&args, app),
        Some(Command::Branch(args)) => branch::run(&args, app),
        Some(Command::Tag(args)) => tag::run(&args, app),
        Some(Command::Reflog(args)) => reflog::run(&args, app),
        Some(Command::RevParse(args)) => rev_parse::run(&args, app),
        Some(Command::Annotate(args)) => annotate::run(&args, app),
        Some(Command::Pin(args)) => annotate::run(&args.into(), app),
        Some(Command::Unpin(args)) => annotate::run(&args.into(), app),
        Some(Command::Prune(args)) => prune::run(&args, app),
        Some(Command::Drop(args)) => drop::run(&args, app),
        Some(Command::Truncate(args)) => truncate::run(&args, app),
        Some(Command::Restore(args)) => restore::run(&args, app),
        Some(Command::Compile(args)) => compile::run(&args, app),
        Some(Command::Config(args)) => config::run(&args, app),
    }
}

/// Four lines on how to start.
fn start(app: &mut App) -> Result<(), Failure> {
    use std::io::Write;
    Ok(write!(
        app.ui.out(),
        "tract keeps the context of your conversations with language models. There is no repository here.\n  \
         tract demo      a session to look around in\n  \
         tract import    this directory's Claude Code and Codex sessions\n  \
         tract --help    everything else\n"
    )?)
}
