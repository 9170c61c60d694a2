//! Droid: a session's `sessions/FOLDER/ID.jsonl`, a line that says which session it is and one for each
//! message, whose blocks are Anthropic's.
//!
//! What the tool said to its user alone is kept and is no message. What a compaction left is kept, too, and
//! hides nothing: nobody has published what it looks like. Deliberately absent: any writing; the tool is
//! closed, and what it takes back is not known.

#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::pi;
use crate::formats::shared::linear::{Line, Linear};
use crate::formats::shared::parts::time;
use crate::wire::Notes;
use crate::wire::anthropic;
use crate::wire::json::{decode, string, word};

/// The format.
pub static DROID: Format = Format {
    tools: &["Droid"],
    seen: "one short session of 2026 and a small file; compactions are kept and not read",
    sniff: |head| {
        head.first(|record| {
            let message = record
                .inside("message")
                .filter(|_| record.is("type", "message"));
            let is_message = message.is_some_and(|message| message.has("role"));
            record.is("type", "session_start") || is_message && !is_others(record)
        })
    },
    go_on: Some(|source, from| LINES.go_on(source, from)),
    home: Some(Home {
        belongs: |name, cwd, first_line| {
            let first = first_line().filter(|_| is_session(name));
            first.and_then(|line| opening(&line)?.cwd).as_deref() == Some(cwd)
        },
        descent: |first_line, _| {
            Some((opening(first_line)?.id?, crate::formats::Descent::default()))
        },
        ..Home::of(".factory", "sessions", 1, is_session)
    }),
    ..Format::only_read("droid", Shape::Lines, |source| LINES.import(source))
};

static LINES: Linear = Linear {
    line,
    lacking: &["system prompt", "tool definitions"],
};

lazy! {
    /// What of a line is looked at.
    struct Record { r#type, id, title, session_title = "sessionTitle", cwd, timestamp, message }
}

lazy! { struct Shown { visibility } }

/// Whether a record with a message is of a tool whose envelope is like this one's.
fn is_others(record: &crate::formats::shared::head::Keys<'_>) -> bool {
    record.has_any(&["uuid", "sessionId"]) || pi::is_entry(record)
}

/// The tool keeps the settings of a session beside it.
fn is_session(name: &str) -> bool {
    name.ends_with(".jsonl")
}

/// What the first line says of the session.
fn opening(line: &str) -> Option<Line> {
    let record: Record<'_> = serde_json::from_str(line).ok()?;
    string(record.r#type).filter(|kind| kind == "session_start")?;
    let title = string(record.title).or_else(|| string(record.session_title));
    Some(Line {
        kind: "session_start".to_owned(),
        id: string(record.id),
        title: title.filter(|title| !title.is_empty()),
        cwd: string(record.cwd),
        ..Line::default()
    })
}

fn line(text: &str, notes: &mut Notes) -> Result<Line, String> {
    if let Some(opening) = opening(text) {
        return Ok(opening);
    }
    let record: Record<'_> = serde_json::from_str(text).map_err(|error| format!("{error}"))?;
    let kind = string(record.r#type).unwrap_or_else(|| "(no type)".to_owned());
    let mut line = Line {
        kind,
        ..Line::default()
    };
    let Some(message) = record.message.filter(|_| line.kind == "message") else {
        return Ok(line);
    };
    let shown: Shown<'_> = decode(Some(message)).unwrap_or_default();
    if word(shown.visibility).as_deref() == Some("user_only") {
        line.kind = "message (for the user alone)".to_owned();
        return Ok(line);
    }
    line.message = Some(anthropic::message(message, notes)?);
    line.time = time(record.timestamp);
    Ok(line)
}
