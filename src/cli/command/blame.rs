//! `tract blame`: where messages came from.

use tract::api::{
    At, BlameAnswer, BlameParams, BlamedLine, BlamedMessage, Method, ProvenanceStep, Still,
};
use tract::model::{Millis, RefName, Role};
use tract::render::{Calendar, Label, Line, plural, table};

use crate::cli::{App, Result, listing};

/// Say where messages came from
///
/// Of each visible message: the commit that gave it its text, when, who speaks, and the session that it came from.
/// Of one message also the model, the prompt before it, who committed it, and how it came here: edits, moves,
/// and what a summary stands for. Of a summary each line is shown with the hidden message that has most of
/// its words, so that it can be checked; a line that no message has is the summary's own.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract blame                  every message of the context
  tract blame :12              the 12th message
  tract blame 3f2a91c          the message of this commit, hidden or not
  tract blame --at main~50     the context of 50 commits ago
  tract blame | grep codex     what came from a session of Codex")]
pub struct Args {
    /// One message: :N, REV:N, or its commit
    #[arg(value_name = "MESSAGE")]
    message: Option<String>,
    /// In the context of this commit; HEAD's unless given
    #[arg(long, value_name = "REV")]
    at: Option<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let params = BlameParams {
        rev: args.at.clone(),
        message: args.message.clone(),
    };
    let BlameAnswer { messages, lines } = params.call(&mut At::new(&repo, on, &Still))?;
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

fn who(message: &BlamedMessage) -> Line {
    let role = message.role.parse::<Role>();
    role.map_or(Label::Dim, Label::role).of(message.role)
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

fn session_name(session: &str) -> String {
    match session.parse::<RefName>() {
        Ok(name) => listing::shown_name(&name, true),
        Err(_) => session.to_owned(),
    }
}

/// The first digits of a name, with the part that it names.
fn short(id: &str) -> String {
    match id.split_once('#') {
        Some((hash, part)) => format!("{hash:.7}#{part}"),
        None => format!("{id:.7}"),
    }
}

/// All that is known of a message, a line for each fact.
fn facts(message: &BlamedMessage, calendar: &Calendar, width: Option<usize>) -> Vec<Line> {
    let time = |ms: Option<i64>| calendar.full(ms.map(Millis));
    let hash = |id: &str| Label::Hash.of(short(id));
    let number = message
        .number
        .map_or("hidden".to_owned(), |at| format!(":{at}"));
    let mut rows = vec![(
        Label::Strong.of(number),
        who(message) + "  " + Label::Text.quote(&message.preview),
    )];
    let mut add = |name: &str, said: Line| rows.push((Label::Dim.of(name), said));
    let by = hash(&message.commit) + format!("  {}", message.operation);
    add(
        "text from",
        by + "  " + Label::Time.of(time(message.time_ms)),
    );
    if message.origin != message.commit {
        add("first in", hash(&message.origin));
    }
    if let Some(session) = &message.session {
        let mut said = Label::Session.quote(&session_name(session));
        if let Some(title) = &message.title {
            said = said + "  " + Label::Text.quote(title);
        }
        add("session", said);
    }
    let texts = [("client", &message.client), ("model", &message.model)];
    for (name, text) in texts {
        if let Some(text) = text {
            add(name, Label::Text.quote(text));
        }
    }
    if let Some(author) = &message.author {
        let words = [&author.name, &author.client, &author.run]
            .into_iter()
            .flatten();
        let words: Vec<&str> = words.map(String::as_str).collect();
        add("author", Label::Text.quote(&words.join(", ")));
    }
    if let Some(prompt) = &message.prompt {
        add(
            "prompt",
            hash(&prompt.id) + "  " + Label::Text.quote(&prompt.text),
        );
    }
    for step in &message.steps {
        let (name, said) = step_said(step);
        add(name, said);
    }
    let rows = rows.into_iter().map(|(name, said)| vec![name, said]);
    table::list(rows.collect(), &[], width)
}

fn step_said(step: &ProvenanceStep) -> (&'static str, Line) {
    let hash = |id: &str| Label::Hash.of(short(id));
    match step {
        ProvenanceStep::Edited { by } => ("edited by", hash(by)),
        ProvenanceStep::From { id, session } => {
            let session = session.as_deref().map(session_name);
            let session = session.map_or(Line::new(), |name| {
                Line::from("  ") + Label::Session.quote(&name)
            });
            ("copied from", hash(id) + session)
        }
        ProvenanceStep::StandsFor {
            kind,
            messages,
            first,
            last,
            ..
        } => {
            let count = plural(*messages as u64, "message");
            let said = Line::from(format!("{count}, by {kind}"));
            match (first, last) {
                (Some(first), Some(last)) => (
                    "stands for",
                    said + ": " + hash(first) + " to " + hash(last),
                ),
                _ => ("stands for", said),
            }
        }
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
