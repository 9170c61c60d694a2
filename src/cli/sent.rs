//! The requests that clients recorded, for people: listed, and held to their hashes.

use tract::deeds::{VerifiedRequest, problem};
use tract::formats::shared::sent::{SentRequest, short};
use tract::hash::CommitHash;
use tract::query::{RequestsOn, requests_on};
use tract::render::{Label, Line, amount, table};
use tract::repo::Repo;

use super::failure::Exit;
use super::{App, Failure, Result};

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
            None if request.reply.is_some() => Line::from("answered on another path"),
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
    found
        .problems
        .iter()
        .for_each(|it| app.ui.notice(problem(it)));
    Ok(())
}

/// Says whether a request is what was sent.
pub fn verify(verified: &VerifiedRequest, app: &mut App) -> Result<()> {
    let Some(why) = &verified.why else {
        let digest = verified.digest.as_deref().map_or("", short);
        let proved = format!("proved: equal to the client's hash {digest}");
        return Ok(app.ui.print(proved)?);
    };
    app.ui
        .print(Label::Text.quote(&format!("not proved: {why}")))?;
    verified.problems.iter().for_each(|it| app.ui.notice(it));
    Err(Failure::Quiet(match verified.is_damaged {
        true => Exit::Damaged,
        false => Exit::NotAllowed,
    }))
}
