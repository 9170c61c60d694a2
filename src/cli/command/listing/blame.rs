//! `tract blame`: where messages came from.

use tract::deeds::{At, BlameAnswer, BlamedLine, BlamedMessage, Method, Still};
use tract::model::Millis;
use tract::render::{Calendar, Label, Line, table};

use crate::cli::drawing::origin::{facts, session_name, short, who};
use crate::cli::{App, Result};

pub use tract::deeds::BlameParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let asked = args.clone().call(&mut At::new(&repo, on, &Still));
    let BlameAnswer { messages, lines } = asked?;
    let (calendar, width) = (app.calendar(), app.ui.width_cols());
    if args.message.is_none() {
        if messages.is_empty() {
            app.ui.status("The context is empty");
        }
        let rows = messages.iter().map(|one| row(one, &calendar)).collect();
        app.ui.print_all(table::list(rows, &[1], width))?;
        return Ok(());
    }
    for message in &messages {
        app.ui.print_all(facts(message, &calendar, width))?;
    }
    if !lines.is_empty() {
        app.ui.print(Line::new())?;
        app.ui.print_all(lines.iter().map(|one| line(one, width)))?;
        app.ui
            .hint("tract show HASH prints the message that a line came from");
    }
    Ok(())
}

/// `3f2a91c  :12  2 h ago  assistant  codex/0199a3c1…  The parser …`.
fn row(message: &BlamedMessage, calendar: &Calendar) -> Vec<Line> {
    let number = message.number.map_or(String::new(), |at| format!(":{at}"));
    let verb = match message.operation {
        "append" => Line::new(),
        verb => Label::Hide.of(verb),
    };
    vec![
        Label::Hash.of(short(&message.commit)),
        number.into(),
        Label::Time.of(calendar.listed(message.time_ms.map(Millis))),
        verb,
        who(message),
        from(message),
        Label::Text.quote(&message.preview),
    ]
}

/// The session, or the program that committed.
fn from(message: &BlamedMessage) -> Line {
    match (&message.session, &message.client) {
        (Some(session), _) => Label::Session.quote(&session_name(session)),
        (None, Some(client)) => Label::Dim.quote(client),
        (None, None) => Line::new(),
    }
}

/// `3f2a91c  The parser fails on nested quotes`.
fn line(line: &BlamedLine, width: Option<usize>) -> Line {
    let from = match &line.from {
        Some(from) => Label::Hash.of(short(&from.id)),
        None => Line::new(),
    };
    let mut shown = from.left(9) + " ";
    shown.fit(Label::Text.quote(&line.text), width);
    shown
}
