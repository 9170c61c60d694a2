//! `tract compile`: what a model would be sent.

use std::io::Write;

use tract::compile::{Provider, RequestOptions};
use tract::hash::CommitHash;
use tract::history::Repo;
use tract::model::Role;
use tract::render::escape;

use crate::cli::{App, Failure, Result, request};

/// Print the request that a model would be sent
///
/// The request is valid by the provider's rules, has the same bytes every time, and is all that is
/// printed to standard output. What had to be repaired or left out is reported on standard error. The
/// form is --format, or else the setting compile.format, or else openai.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract compile --format anthropic > request.json
  tract compile a1b2c3d --format text | less     as it was then
  tract compile --for :-1 --request              what the last reply answered, with model and tools")]
pub struct Args {
    /// The commit whose context is compiled
    #[arg(value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// Print the request that this reply answered
    #[arg(long = "for", value_name = "REV", conflicts_with = "rev")]
    reply: Option<String>,
    /// openai, responses, anthropic or text
    #[arg(long, value_name = "F")]
    format: Option<Provider>,
    /// Add model, limits and tools, from the settings
    #[arg(long)]
    request: bool,
    /// Fail if anything has to be repaired
    #[arg(long)]
    strict: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let reply = args.reply.as_ref().map(|typed| repo.resolve(&on, typed));
    let reply = reply.transpose()?;
    let commit = match (&args.reply, reply) {
        (Some(typed), Some(reply)) => answered(&repo, reply, typed, app)?,
        _ => repo.resolve(&on, &args.rev)?,
    };
    let options = RequestOptions {
        provider: app.provider(&repo, args.format)?,
        whole_request: args.request,
        strict: args.strict,
    };
    let (payload, notices) = request::payload(&repo, &commit, reply.as_ref(), &options)?;
    let shown = match app.ui.is_terminal() {
        false => payload.as_str().into(),
        true if payload.starts_with('{') => escape::json(&payload),
        true => escape::block(&payload),
    };
    let ui = &mut app.ui;
    ui.out().write_all(shown.as_bytes())?;
    if !payload.ends_with('\n') {
        writeln!(ui.out())?;
    }
    for notice in notices {
        ui.notice(notice);
    }
    Ok(())
}

/// The commit whose context a reply answered.
fn answered(repo: &Repo, reply: CommitHash, typed: &str, app: &App) -> Result<CommitHash> {
    let row = repo.show(&reply, app.encoding(repo)?)?.row;
    if row.role != Some(Role::Assistant) {
        let failure = Failure::refused(format!("{typed} is not a reply of the assistant"));
        return Err(failure.with_hint(format!("tract compile {typed}")));
    }
    let nothing = || Failure::refused(format!("{typed} is the first message: it answers nothing"));
    row.commit.parent.ok_or_else(nothing)
}
