//! The requests that clients recorded, for people: listed, and held to their hashes.

use tract::hash::CommitHash;
use tract::history::Repo;
use tract::ingest::{RequestsOn, requests_of, requests_on};
use tract::interop::sent::{Bodies, SentBody, SentRequest};
use tract::render::{Label, Line, amount, plural, table};

use super::failure::Exit;
use super::{App, Failure, Result, listing};

/// How many requests are listed: `limit`, or all where that is 0.
pub fn list(
    repo: &Repo,
    tip: &CommitHash,
    limit: usize,
    oldest_first: bool,
    app: &mut App,
) -> Result<()> {
    let Some(RequestsOn { found, replies, .. }) = requests_on(repo, tip)? else {
        app.ui
            .status("No request is recorded in the session's file");
        return Ok(());
    };
    let limit = if limit == 0 { usize::MAX } else { limit };
    let mut shown: Vec<&SentRequest> = found.requests.iter().rev().take(limit).collect();
    if oldest_first {
        shown.reverse();
    }
    let calendar = app.calendar();
    let row = |request: &&SentRequest| {
        let id = request.id.get(..8).unwrap_or(&request.id);
        let added = request.messages.saturating_sub(request.shared);
        let answer = match replies.get(&request.id) {
            Some(reply) => Line::from("answered by ") + Label::Hash.of(reply.short()),
            None if request.is_answered => Line::from("answered on another path"),
            None => Label::Warning.of("no reply"),
        };
        let said = |text: &Option<String>| Label::Text.quote(text.as_deref().unwrap_or_default());
        vec![
            Label::Dim.quote(id),
            Label::Time.of(calendar.listed(request.time)),
            said(&request.model),
            Line::from(amount(request.messages)),
            Line::from(format!("+{added}")),
            said(&request.asked_by),
            answer,
        ]
    };
    let rows: Vec<Vec<Line>> = shown.iter().map(row).collect();
    app.ui.print_all(table::list(rows, &[3, 4], None))?;
    for problem in &found.problems {
        app.ui
            .notice(format!("line {}: {}", problem.line, problem.reason));
    }
    Ok(())
}

/// Holds every recorded request to its client's hash, and says which are not what was sent.
pub fn prove(repo: &Repo, app: &mut App) -> Result<()> {
    let (mut proved, mut unproved, mut damaged) = (0_u64, 0_u64, 0_u64);
    for (session, found) in requests_of(repo, None, Bodies::All)? {
        let mut tell = |what: String| {
            damaged += 1;
            let what = format!("{}: {what}", listing::shown_name(&session, true));
            app.ui
                .print(Label::Error.of("damaged") + "  " + Label::Text.quote(&what))
        };
        for problem in &found.problems {
            tell(format!("line {}: {}", problem.line, problem.reason))?;
        }
        for request in found.requests {
            match request.body {
                Some(Ok(SentBody {
                    is_proved: Some(true),
                    ..
                })) => proved += 1,
                Some(Ok(SentBody {
                    is_proved: None, ..
                })) => unproved += 1,
                Some(Ok(_)) => tell(format!("request {}: its hash is another", request.id))?,
                Some(Err(lack)) => tell(format!("request {}: {lack}", request.id))?,
                None => {}
            }
        }
    }
    app.ui
        .status(format!("{} proved", plural(proved, "request")));
    if unproved > 0 {
        let what = "without a hash of all that was sent";
        app.ui
            .notice(format!("{} {what}", plural(unproved, "request")));
    }
    if damaged > 0 {
        return Err(Failure::Quiet(Exit::Damaged));
    }
    Ok(())
}
