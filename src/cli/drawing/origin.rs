//! Where a message came from, for people: a line for each fact.

use tract::deeds::{BlamedMessage, ProvenanceStep};
use tract::model::{Millis, RefName, Role};
use tract::render::{Calendar, Label, Line, plural, table};

use crate::cli::drawing::listing;

/// Who speaks.
pub fn who(message: &BlamedMessage) -> Line {
    let Ok(role) = message.role.parse::<Role>() else {
        return Label::Dim.of(message.role);
    };
    let (label, who) = Label::speaker(role, message.injected);
    label.of(who)
}

/// A session as a list names it.
pub fn session_name(session: &str) -> String {
    match session.parse::<RefName>() {
        Ok(name) => listing::shown_name(&name, true),
        Err(_) => session.to_owned(),
    }
}

/// The first digits of a name, with the part that it names.
pub fn short(id: &str) -> String {
    match id.split_once('#') {
        Some((hash, part)) => format!("{hash:.7}#{part}"),
        None => format!("{id:.7}"),
    }
}

/// All that is known of a message, a line for each fact.
pub fn facts(message: &BlamedMessage, calendar: &Calendar, width: Option<usize>) -> Vec<Line> {
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
        ProvenanceStep::Merged { tip } => ("merged from", hash(tip)),
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
