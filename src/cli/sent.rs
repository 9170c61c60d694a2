//! The requests that clients recorded, for people: listed, and held to their hashes.

use tract::deeds::{ListedRequest, LogAnswer, UNSAID, problem};
use tract::formats::shared::sent::{Lack, Proof, short};
use tract::model::Millis;
use tract::query::AnsweredRequest;
use tract::render::{Label, Line, amount, table};

use super::failure::Exit;
use super::{App, Failure, Result};

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
pub fn verify(recorded: Option<AnsweredRequest>, app: &mut App) -> Result<()> {
    let Some(AnsweredRequest { request, problems }) = recorded else {
        let failure = Failure::refused("no request is recorded for this reply");
        return Err(failure.with_hint("tract compile --for REV makes it of the messages"));
    };
    let digest = request.digest.as_deref().map_or("", short);
    let (why, exit) = match request.proof.unwrap_or(Err(Lack::Record)) {
        Ok(Proof::Equal) => {
            let proved = format!("proved: equal to the client's hash {digest}");
            return Ok(app.ui.print(proved)?);
        }
        Ok(Proof::Other) => {
            let other = format!("the client's hash is {digest}, and its records make another");
            (other, Exit::Damaged)
        }
        Ok(Proof::Unsaid) => (UNSAID.to_owned(), Exit::NotAllowed),
        Err(lack) => (lack.to_string(), Exit::Damaged),
    };
    app.ui
        .print(Label::Text.quote(&format!("not proved: {why}")))?;
    problems.iter().for_each(|it| app.ui.notice(problem(it)));
    Err(Failure::Quiet(exit))
}
