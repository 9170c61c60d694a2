//! What is done, a JSON object on a line each, for whoever runs it: a line for each command and each request of a
//! program, and what a budget counted and a command hid or reset.
//!
//! `TRACT_LOG` asks for it: `1` or `-` is standard error, anything else a file, to which lines are added. It says
//! nothing of what messages say. `docs/log.md` describes each field.

mod span;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use tract::model::TokenCount;
use tract::repo::{On, Repo, Touched};
use tract::rewrite::Surgery;

use super::{App, Result};
pub use span::{Measured, command, request};

/// How many messages are named in a line.
const MESSAGES: usize = 256;

/// Adds a line, if one is asked for. That it cannot be written is a warning, once.
pub fn add(app: &mut App, event: &str, facts: impl FnOnce(&App) -> Result<Value>) {
    let Some(log) = app.env.log.clone() else {
        return;
    };
    let place = &*log.place;
    let mut line = json!({"time": app.now().0, "command": app.command, "event": event});
    match (facts(app), &mut line) {
        (Ok(Value::Object(facts)), Value::Object(line)) => line.extend(facts),
        (Ok(_), _) => {}
        (Err(failure), _) => return app.ui.warn(format!("TRACT_LOG: {}", failure.what())),
    }
    if place == "1" || place == "-" {
        return app.ui.complain(line.to_string());
    }
    let written = match app.path(Path::new(place)) {
        Ok(path) => append(&path, &line).map_err(|error| error.to_string()),
        Err(failure) => Err(failure.what()),
    };
    if let Err(error) = written
        && log.warns()
    {
        app.ui.warn(format!("TRACT_LOG: {place}: {error}"));
    }
}

/// Adds a line in one write, so that those of several processes do not mix, and with the file opened anew, so that it
/// can be moved away at any time.
fn append(path: &Path, line: &Value) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)?
        .write_all(format!("{line}\n").as_bytes())
}

/// That a commit was held to a budget: what its context counts.
pub fn counted(repo: &Repo, on: &On, max: u64, verdict: &str, app: &mut App) {
    add(app, "counted", |app| {
        let encoding = app.encoding(repo)?;
        let status = repo.status(on, encoding)?;
        let provider = status.provider.total(status.total);
        Ok(json!({
            "tokens": count(status.total),
            "counter": encoding.to_string(),
            "by the provider's count": count(provider),
            "max": max,
            "verdict": verdict,
        }))
    });
}

/// That a command hid messages, or brought some back.
pub fn changed(why: &str, surgery: &Surgery, app: &mut App) {
    let commits = surgery.commits.iter().map(|made| made.hash.to_string());
    let facts = json!({
        "why": why,
        "commits": commits.collect::<Vec<_>>(),
        "hidden": messages(surgery.hidden.told()),
        "shown": messages(surgery.shown.told()),
        "changed": messages(surgery.changed.told()),
        "before": count(surgery.before.tokens),
        "after": count(surgery.after.tokens),
    });
    add(app, "changed", |_| Ok(facts));
}

/// Which messages, the first of them: by commit, with what each counts.
pub fn messages(told: &[Touched]) -> Value {
    let message = |one: &Touched| json!({"commit": one.id.to_string(), "role": one.role.as_str(), "tokens": count(one.tokens)});
    told.iter().take(MESSAGES).map(message).collect()
}

/// A count; one that is estimated says so.
fn count(tokens: TokenCount) -> Value {
    if tokens.estimated {
        json!(format!("~{}", tokens.tokens))
    } else {
        json!(tokens.tokens)
    }
}
