//! `tract compile`: what a model would be sent.

use std::io::Write;

use tract::compile::{Provider, RequestOptions};
use tract::deeds::{Requested, answered_by, requested};
use tract::query::answered_request;
use tract::render::escape;

use crate::cli::{App, Result, position, sent};

/// Print the request that a model would be sent
///
/// The request is valid by the provider's rules, has the same bytes every time, and is all that is
/// printed to standard output. What had to be repaired or left out is reported on standard error. The
/// form is --format, or else the setting compile.format, or else openai.
///
/// Some clients write each request into the session file. --for then prints the request as it was sent,
/// and --verify checks it against the client's own hash. --request takes system prompt, tools and parameters
/// from the last request that was sent.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract compile --format anthropic > request.json
  tract compile a1b2c3d --format text | less     as it was then
  tract compile --for :-1 --request              what the last reply answered, with model and tools
  tract compile --for :-1 --verify               whether that is what was sent")]
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
    /// Say whether the recorded request is what was sent, instead of printing it
    #[arg(long, requires = "reply", conflicts_with_all = ["format", "request", "strict"])]
    verify: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    position::must_be_whole(&repo, &on, args.reply.as_ref().unwrap_or(&args.rev))?;
    let reply = args.reply.as_ref().map(|typed| repo.resolve(&on, typed));
    let reply = reply.transpose()?;
    let commit = match (&args.reply, reply) {
        (Some(typed), Some(reply)) => answered_by(&repo, &reply, typed)?,
        _ => repo.resolve(&on, &args.rev)?,
    };
    let form = args.format.map(Provider::as_str);
    let recorded = match &reply {
        Some(reply) => answered_request(&repo, reply, form)?,
        None => None,
    };
    if args.verify {
        return sent::verify(recorded, app);
    }
    let options = RequestOptions {
        provider: app.provider(&repo, args.format)?,
        whole_request: args.request,
        strict: args.strict,
    };
    let Requested {
        payload, notices, ..
    } = requested(&repo, &commit, (reply.as_ref(), recorded), &options)?;
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
