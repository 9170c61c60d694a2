//! One file per command, in folders as the deeds are.

mod branching {
    pub mod branch;
    pub mod merge;
    pub mod rebase;
    pub mod resolve;
    pub mod tag;
}
mod execution {
    pub mod bisect;
    pub mod compile;
    pub mod run;
}
mod listing {
    pub mod audit;
    pub mod blame;
    pub mod cost;
    pub mod diff;
    pub mod find;
    pub mod log;
    pub mod reflog;
    pub mod rev_parse;
    pub mod show;
    pub mod stats;
    pub mod status;
    pub mod transcript;
    pub mod view;
    pub mod web;
}
mod programs {
    pub mod api;
    pub mod completions;
    pub mod guard;
    pub mod man;
    pub mod mcp;
    pub mod serve;
}
mod recovery {
    pub mod checkout;
    pub mod pick;
    pub mod redo;
    pub mod reset;
    pub mod restore;
    pub mod revert;
    pub mod undo;
}
mod reduction {
    pub mod clear;
    pub mod compact;
    pub mod drop;
    pub mod prune;
    pub mod redact;
    pub mod shrink;
    pub mod truncate;
}
mod sessions {
    pub mod dataset;
    pub mod demo;
    pub mod export;
    pub mod import;
    pub mod init;
    pub mod record;
    pub mod replay;
    pub mod resume;
    pub mod setup;
    pub mod watch;
}
mod transfer {
    pub mod attest;
    pub mod bundle;
    pub mod clone;
    pub mod fetch;
    pub mod pull;
    pub mod push;
    pub mod remote;
    pub mod unbundle;
}
mod upkeep {
    pub mod backup;
    pub mod config;
    pub mod doctor;
    pub mod du;
    pub mod fsck;
    pub mod gc;
    pub mod help;
    pub mod purge;
}
mod writing {
    pub mod annotate;
    pub mod chat;
    pub mod commit;
    pub mod pin;
    pub mod unpin;
}
#[cfg(test)]
mod methods;

use tract::Error;

use self::{
    branching::*, execution::*, listing::*, programs::*, recovery::*, reduction::*, sessions::*,
    transfer::*, upkeep::*, writing::*,
};
use super::app::App;
use super::failure::{Failure, Result};

/// The commands by name, in groups as help lists them: each has its arguments, and does what they say. Those in the group
/// without a title are hidden, or short for another.
macro_rules! commands {
    ($($title:literal {
        $($(#[command($setting:ident = $value:literal)])? $name:ident($module:ident),)*
    })*) => {
        /// What can be done.
        #[derive(Debug, clap::Subcommand)]
        pub enum Command {
            $($($(#[command($setting = $value)])? $name(Box<$module::Args>),)*)*
        }

        /// All of them, by their groups.
        pub const GROUPS: &[(&str, &[&str])] =
            &[$(($title, &[$(typed_name(stringify!($module))),*])),*];

        /// Those of the same commands below `root` of which a name may be meant. The arguments of each are built only if it is
        /// the one that was typed: those of all take longer than many a command does.
        pub fn below(root: clap::Command, may_be_meant: impl Fn(&str) -> bool) -> clap::Command {
            // A function each, for a command is a kilobyte: in one function they would take a hundred pages of the stack.
            $($(
                #[inline(never)]
                fn $module(may_be_meant: &dyn Fn(&str) -> bool) -> Option<Box<clap::Command>> {
                    let command = clap::Command::new(typed_name(stringify!($module)))$(.$setting($value))?;
                    let is_one = may_be_meant(command.get_name()) || command.get_all_aliases().any(may_be_meant);
                    is_one.then(|| Box::new(command.defer(<$module::Args as clap::Args>::augment_args)))
                }
            )*)*
            let all = [$($($module,)*)*];
            let meant = all.into_iter().filter_map(|of| of(&may_be_meant));
            meant.fold(root, |root, command| root.subcommand(*command))
        }

        impl Command {
            fn run(self, app: &mut App) -> Result<()> {
                match self {
                    $($(Self::$name(args) => $module::run(&args, app),)*)*
                }
            }
        }
    };
}

commands! {
    "Bring in, take out" {
        Init(init),
        Setup(setup),
        Import(import),
        Export(export),
        Dataset(dataset),
        Resume(resume),
        Demo(demo),
    }
    "Look" {
        Status(status),
        Log(log),
        Show(show),
        View(view),
        Web(web),
        #[command(visible_alias = "grep")]
        Find(find),
        Diff(diff),
        Cost(cost),
        Stats(stats),
        Audit(audit),
        Blame(blame),
    }
    "Make it smaller" {
        Shrink(shrink),
        Prune(prune),
        Drop(drop),
        Truncate(truncate),
        Compact(compact),
        Clear(clear),
    }
    "Go back" {
        Undo(undo),
        Redo(redo),
        Restore(restore),
        Revert(revert),
        #[command(visible_alias = "cherry-pick")]
        Pick(pick),
        #[command(visible_alias = "rewind")]
        Reset(reset),
        Checkout(checkout),
        Branch(branch),
    }
    "Write" {
        Commit(commit),
        Annotate(annotate),
        Chat(chat),
    }
    "Send, try again" {
        Compile(compile),
        Run(run),
        Bisect(bisect),
    }
    "Branches" {
        Merge(merge),
        Resolve(resolve),
        Rebase(rebase),
        Tag(tag),
        Reflog(reflog),
    }
    "Share" {
        Clone(clone),
        Push(push),
        Pull(pull),
        Fetch(fetch),
        Remote(remote),
        Bundle(bundle),
        Unbundle(unbundle),
        Attest(attest),
    }
    "Look after" {
        Fsck(fsck),
        Doctor(doctor),
        Gc(gc),
        Du(du),
        Backup(backup),
        Redact(redact),
        Purge(purge),
        Watch(watch),
        Config(config),
        Help(help),
    }
    "For programs and scripts" {
        Record(record),
        Api(api),
        Mcp(mcp),
        Guard(guard),
        Completions(completions),
        Man(man),
    }
    "" {
        #[command(hide = true)]
        Transcript(transcript),
        #[command(hide = true)]
        Replay(replay),
        #[command(hide = true)]
        Pin(pin),
        #[command(hide = true)]
        Unpin(unpin),
        #[command(hide = true)]
        Serve(serve),
        #[command(hide = true)]
        RevParse(rev_parse),
    }
}

/// What is typed for the command of a module.
const fn typed_name(module: &'static str) -> &'static str {
    match module.as_bytes() {
        b"rev_parse" => "rev-parse",
        _ => module,
    }
}

/// Whether what it writes is for reading, and may be long: then a pager shows it.
pub fn pages(command: Option<&Command>) -> bool {
    match command {
        Some(Command::View(args)) => args.pages(),
        Some(Command::Audit(_) | Command::Blame(_) | Command::Cost(_) | Command::Diff(_)) => true,
        Some(Command::Find(_) | Command::Help(_) | Command::Log(_) | Command::Reflog(_)) => true,
        Some(Command::Show(_) | Command::Transcript(_)) => true,
        _ => false,
    }
}

/// Does it. Without a command: where we are, or how to start.
pub fn run(command: Option<Command>, app: &mut App) -> Result<()> {
    match command {
        Some(command) => command.run(app),
        None => match status::run(&status::Args::default(), app) {
            Err(Failure::Tract(Error::NoRepository { .. })) => start(app),
            done => done,
        },
    }
}

/// Four lines on how to start.
fn start(app: &mut App) -> Result<()> {
    use std::io::Write;
    Ok(write!(
        app.ui.out(),
        "tract keeps the context of your conversations with language models. There is no repository here yet.\n  \
         tract demo      a session to look around in\n  \
         tract import    this directory's sessions of your agents\n  \
         tract help      what else there is\n"
    )?)
}
