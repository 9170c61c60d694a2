//! A line for each command, and for each request of a program: what it was, for whom, how long it took, what came of it.

use std::time::Instant;

use serde_json::{Map, Value, json};
use tract::deeds::{ApiError, error_kind};
use tract::model::RefValue;
use tract::store::without_password;

use super::add;
use crate::cli::failure::{Exit, sentence};
use crate::cli::{App, Failure};

/// The most characters of anything that somebody else named.
const MOST: usize = 300;
/// The errors that tell of the machine and the server, and of nothing that somebody said: their text is kept.
const OF_THE_MACHINE: [&str; 11] = [
    "awaits_upgrade",
    "busy",
    "disconnected",
    "io",
    "newer_database",
    "no_repository",
    "older_database",
    "read_only",
    "server",
    "store",
    "unreachable",
];

/// From when something began.
pub struct Measured {
    from: Instant,
    asked: u64,
}

impl Measured {
    /// It begins.
    pub fn begin(app: &App) -> Self {
        let (asked, _) = app.work.borrow_mut().done();
        let from = Instant::now();
        Self { from, asked }
    }

    /// What there is to tell of it.
    fn facts(self, branch: Option<&str>, app: &App) -> Map<String, Value> {
        let mut work = app.work.borrow_mut();
        let (asked, moved) = work.done();
        let named = || {
            let named = app.named_repo().ok().flatten()?;
            Some(without_password(&named.display().to_string()))
        };
        let repository = work.repository.clone().or_else(named);
        let micros = self.from.elapsed().as_micros();
        let mut facts = Map::new();
        let mut tell = |name: &str, value: Option<Value>| {
            value.and_then(|value| facts.insert(name.to_owned(), value));
        };
        tell("repository", repository.map(|text| cut(&text)));
        tell("branch", branch.map(cut));
        tell("who", work.who.as_deref().map(cut));
        tell("client", app.env.worker.client.as_deref().map(cut));
        tell("run", app.env.worker.run.as_deref().map(cut));
        tell("ms", Some(json!(micros as f64 / 1000.0)));
        tell("statements", Some(json!(asked - self.asked)));
        if moved.count > 0 {
            let first = moved.first.iter();
            let first = first
                .map(|(name, to)| json!({ "ref": cut(name.as_str()), "to": held(to.as_ref()) }));
            tell("moved", Some(first.collect()));
        }
        if moved.count > moved.first.len() as u64 {
            tell("moved_count", Some(json!(moved.count)));
        }
        facts
    }
}

/// What a ref holds: a commit, another ref, or nothing.
fn held(value: Option<&RefValue>) -> Value {
    match value {
        Some(RefValue::Commit(hash)) => json!(hash.to_string()),
        Some(RefValue::Symbolic(name)) => cut(name.as_str()),
        None => Value::Null,
    }
}

fn cut(text: &str) -> Value {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => json!(format!("{}…", &text[..end])),
        None => json!(text),
    }
}

/// A command has ended.
pub fn command(span: Measured, failure: Option<&Failure>, app: &mut App) {
    add(app, "command", |app| {
        let branch = app.globals.on.as_deref();
        let mut facts = span.facts(branch, app);
        facts.insert("exit".to_owned(), json!(failure.map_or(0, Failure::number)));
        let is_error = |failure: &&Failure| failure.number() > 0;
        if let Some(failure) = failure.filter(is_error) {
            let (kind, text) = match failure {
                Failure::Tract(error) => (error_kind(error), sentence(error)),
                Failure::Deed(fault) => (fault.kind.clone(), fault.message.clone()),
                Failure::Said(exit, ..) | Failure::Quiet(exit) => (word(*exit), String::new()),
                Failure::Output(error) => ("output".to_owned(), error.to_string()),
                Failure::Stopped(_) | Failure::ClosedPipe => ("stopped".to_owned(), String::new()),
            };
            wrong(&kind, &text, &mut facts);
        }
        Ok(Value::Object(facts))
    });
}

/// A program's request has been answered.
pub fn request(
    span: Measured,
    (method, branch): (&str, Option<&str>),
    fault: Option<&ApiError>,
    app: &mut App,
) {
    add(app, "request", |app| {
        let mut facts = span.facts(branch, app);
        facts.insert("method".to_owned(), cut(method));
        let exit = fault.map_or(0, |fault| fault.exit_code);
        facts.insert("exit".to_owned(), json!(exit));
        if let Some(fault) = fault {
            wrong(&fault.kind, &fault.message, &mut facts);
        }
        Ok(Value::Object(facts))
    });
}

/// What went wrong; in words only where they cannot be a message's.
fn wrong(kind: &str, text: &str, facts: &mut Map<String, Value>) {
    facts.insert("error".to_owned(), cut(kind));
    if kind == "output" || OF_THE_MACHINE.contains(&kind) {
        facts.insert("detail".to_owned(), cut(text));
    }
}

/// What an exit code is called, where nothing else says which error it was.
fn word(exit: Exit) -> String {
    let word = match exit {
        Exit::NotAllowed => "refused",
        Exit::Usage => "usage",
        Exit::Damaged => "damaged",
        Exit::Lost => "lost",
    };
    word.to_owned()
}
