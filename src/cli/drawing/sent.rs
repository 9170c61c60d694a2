//! The requests that clients recorded, for people: listed, and held to their hashes.

use tract::deeds::{ListedRequest, LogAnswer, VerifiedRequest};
use tract::formats::shared::sent::short;
use tract::model::Millis;
use tract::render::{Label, Line, amount, table};

use crate::cli::failure::Exit;
use crate::cli::{App, Failure, Result};

/// Lists requests.
pub fn list(answer: &LogAnswer, app: &mut App) -> Result<()> {
    if answer.requests.is_empty() && answer.problems.is_empty() {
        app.ui
            .status("No request is recorded in the session's file");
        return Ok(());
    }
    let calendar = app.calendar();
    let row = |request: &ListedRequest| {
        let id = request.id.get(..8).unwrap_or(&request.id);
        let answer = match &request.reply {
            Some(reply) => Line::from("answered by ") + Label::Hash.of(short(reply)),
            None if request.is_answered => Line::from("answered on another path"),
            None => Label::Warning.of("no reply"),
        };
        let said = |text: &Option<String>| Label::Text.quote(text.as_deref().unwrap_or_default());
        vec![
            Label::Dim.quote(id),
            Label::Time.of(calendar.listed(request.time_ms.map(Millis))),
            said(&request.model),
            Line::from(amount(request.messages)),
            Line::from(format!("+{}", request.added)),
            said(&request.asked_by),
            answer,
        ]
    };
    let rows: Vec<Vec<Line>> = answer.requests.iter().map(row).collect();
    app.ui.print_all(table::list(rows, &[3, 4], None))?;
    answer.problems.iter().for_each(|it| app.ui.notice(&**it));
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
