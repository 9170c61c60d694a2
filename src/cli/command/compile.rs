//! `tract compile`: what a model would be sent.

use std::io::Write;

use tract::compile::{Provider, RequestOptions};
use tract::hash::CommitHash;
use tract::history::Repo;
use tract::ingest::{AnsweredRequest, answered_request};
use tract::interop::sent::{Lack, SentBody, short};
use tract::model::Role;
use tract::render::{Label, escape};

use crate::cli::failure::Exit;
use crate::cli::{App, Failure, Result, position, request};

/// Print the request that a model would be sent
///
/// The request is valid by the provider's rules, has the same bytes every time, and is all that is
/// printed to standard output. What had to be repaired or left out is reported on standard error. The
/// form is --format, or else the setting compile.format, or else openai.
///
/// Some clients write each request into the session file. --for then prints the request as it was sent,
/// and --verify holds it to the hash that the client made of it.
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
        (Some(typed), Some(reply)) => answered(&repo, reply, typed, app)?,
        _ => repo.resolve(&on, &args.rev)?,
    };
    let recorded = match &reply {
        Some(reply) => answered_request(&repo, reply)?,
        None => None,
    };
    if args.verify {
        return verify(recorded, app);
    }
    let is_meant = |recorded: &AnsweredRequest| {
        let format = args.format.map_or(recorded.provider, Provider::as_str);
        format == recorded.provider
    };
    let (payload, notices) = match recorded.filter(is_meant).and_then(as_sent) {
        Some(sent) => sent,
        None => {
            let options = RequestOptions {
                provider: app.provider(&repo, args.format)?,
                whole_request: args.request,
                strict: args.strict,
            };
            request::payload(&repo, &commit, reply.as_ref(), &options)?
        }
    };
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

/// A request as it was sent, and what should be known about it.
fn as_sent(recorded: AnsweredRequest) -> Option<(String, Vec<String>)> {
    let body = recorded.request.body?.ok()?;
    let headers = recorded.request.headers.iter();
    let mut notices: Vec<String> = headers
        .map(|(name, value)| format!("sent with the header {name}: {value}"))
        .collect();
    match body.is_proved {
        Some(true) => {}
        Some(false) => {
            notices.push("its hash is not the one that the client made of it".to_owned())
        }
        None => notices.push("the client gives no hash of all that was sent".to_owned()),
    }
    Some((body.json, notices))
}

/// Says whether a request is what was sent.
fn verify(recorded: Option<AnsweredRequest>, app: &mut App) -> Result<()> {
    let Some(AnsweredRequest {
        request, problems, ..
    }) = recorded
    else {
        let failure = Failure::refused("no request is recorded for this reply");
        return Err(failure.with_hint("tract compile --for REV makes it of the messages"));
    };
    let digest = request.digest.as_deref().map_or("", short);
    let exit = match request.body.unwrap_or(Err(Lack::Record)) {
        Ok(SentBody {
            is_proved: Some(true),
            ..
        }) => {
            app.ui
                .print(format!("proved: equal to the client's hash {digest}"))?;
            return Ok(());
        }
        Ok(SentBody {
            is_proved: Some(false),
            ..
        }) => {
            app.ui.print(format!(
                "not proved: the client's hash is {digest}, and its records make another"
            ))?;
            Exit::Damaged
        }
        Ok(_) => {
            app.ui
                .print("not proved: the client gives no hash of all that was sent")?;
            Exit::NotAllowed
        }
        Err(lack) => {
            app.ui
                .print(Label::Text.quote(&format!("not proved: {lack}")))?;
            Exit::Damaged
        }
    };
    for problem in problems {
        app.ui
            .notice(format!("line {}: {}", problem.line, problem.reason));
    }
    Err(Failure::Quiet(exit))
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
