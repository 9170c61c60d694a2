//! What was counted, hidden and reset, a JSON object on a line each, for whoever looks after a budget.
//!
//! `TRACT_LOG` asks for it: `1` or `-` is standard error, anything else a file, to which lines are added. It says
//! nothing of what messages say. Deliberately absent: whatever else a program may tell of itself.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use tract::history::{On, Repo, Surgery, Touched};
use tract::model::TokenCount;

use super::{App, Result};

/// Adds a line, if one is asked for. That it cannot be written is a warning.
pub fn add(app: &mut App, event: &str, facts: impl FnOnce(&App) -> Result<Value>) {
    let Some(place) = app.env.log.clone() else {
        return;
    };
    let mut line = json!({"time": app.now().0, "command": app.command, "event": event});
    match (facts(app), &mut line) {
        (Ok(Value::Object(facts)), Value::Object(line)) => line.extend(facts),
        (Ok(_), _) => {}
        (Err(failure), _) => return app.ui.warn(format!("TRACT_LOG: {}", failure.what())),
    }
    if place == "1" || place == "-" {
        return app.ui.complain(line.to_string());
    }
    let written = app.path(Path::new(&place)).map(|path| append(&path, &line));
    if let Ok(Err(error)) = written {
        app.ui.warn(format!("TRACT_LOG: {place}: {error}"));
    }
}

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

/// Which messages: by commit, with what each counts.
pub fn messages(told: &[Touched]) -> Value {
    let message = |one: &Touched| json!({"commit": one.id.to_string(), "role": one.role.as_str(), "tokens": count(one.tokens)});
    told.iter().map(message).collect()
}

/// A count; one that is estimated says so.
fn count(tokens: TokenCount) -> Value {
    if tokens.estimated {
        json!(format!("~{}", tokens.tokens))
    } else {
        json!(tokens.tokens)
    }
}
