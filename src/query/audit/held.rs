//! The facts that messages hold, by the shape of their texts, calls and results.

use std::collections::HashMap;

use serde_json::Value;

use super::folded;
use super::{Fact, FactClass, shell};
use crate::model::{EntryId, Message, Part, Role, call};

/// Which files a call changes, by the tool and its arguments. Whoever asks for an audit brings it along.
pub type Changes = fn(tool: &str, arguments: &str) -> Vec<String>;

/// How long a name, an address or an error may be that is taken down.
const LONGEST: usize = 300;
/// How many words a prompt has at least that says something by itself.
const PROMPT_WORDS: usize = 3;

/// A hidden message.
#[derive(Clone, Copy, Debug)]
pub struct HeldMessage<'a> {
    /// Its entry.
    pub entry: EntryId,
    /// It.
    pub message: &'a Message,
    /// Whether the user typed it.
    pub typed: bool,
}

/// A fact with what ranks it, and other words for it.
#[derive(Clone, Debug)]
pub struct FoundFact {
    /// It.
    pub fact: Fact,
    /// Words that say it as well: the end of a path, the gist of a command.
    pub names: Vec<String>,
    /// The place of the first message that holds it.
    pub first: usize,
    /// That of the last.
    pub last: usize,
    /// Whether it is a file that was changed.
    pub is_changed: bool,
}

/// All facts of these messages, in the order in which they came.
pub fn facts_of(messages: &[HeldMessage<'_>], changes: Changes) -> Vec<FoundFact> {
    let mut facts = Facts::new(changes);
    for (at, held) in messages.iter().enumerate() {
        facts.at = at;
        facts.take(held);
    }
    facts.done()
}

struct Facts {
    changes: Changes,
    found: Vec<FoundFact>,
    places: HashMap<(FactClass, String), usize>,
    /// The message that is looked at.
    at: usize,
    /// The command of each call that has no result yet.
    running: HashMap<String, Option<usize>>,
    /// Failed commands without one that went well after them: the fact of the error.
    failed: HashMap<usize, usize>,
    /// What was changed last.
    changed: Option<usize>,
    /// The newest list of things to do.
    list: Vec<Point>,
}

/// A point of a list of things to do.
struct Point {
    text: String,
    is_open: bool,
    entry: EntryId,
    at: usize,
}

impl Facts {
    fn new(changes: Changes) -> Self {
        Self {
            changes,
            found: Vec::new(),
            places: HashMap::new(),
            at: 0,
            running: HashMap::new(),
            failed: HashMap::new(),
            changed: None,
            list: Vec::new(),
        }
    }

    fn add(&mut self, class: FactClass, text: &str, entry: EntryId) -> usize {
        let text = text.trim();
        let key = (class, folded(text));
        if let Some(known) = self.places.get(&key) {
            let found = &mut self.found[*known];
            found.fact.count += 1;
            (found.fact.entry, found.last) = (entry, self.at);
            return *known;
        }
        self.places.insert(key, self.found.len());
        self.found.push(FoundFact {
            fact: Fact {
                class,
                text: text.to_owned(),
                outcome: None,
                entry,
                count: 1,
                is_said: false,
            },
            names: Vec::new(),
            first: self.at,
            last: self.at,
            is_changed: false,
        });
        self.found.len() - 1
    }

    fn take(&mut self, held: &HeldMessage<'_>) {
        let (entry, message) = (held.entry, held.message);
        if held.typed {
            for text in message.typed_texts() {
                if text.split_whitespace().count() >= PROMPT_WORDS {
                    self.add(FactClass::Instruction, &text, entry);
                }
                self.names(&text, entry);
            }
        }
        for part in &message.parts {
            match part {
                Part::Text { text } if message.role == Role::Assistant => {
                    self.names(text, entry);
                    self.points(text, entry);
                }
                Part::ToolCall {
                    id,
                    name,
                    arguments,
                    ..
                } => self.call(id, name, arguments, entry),
                Part::ToolResult { call, content, .. } => {
                    let texts: Vec<&str> = content.iter().filter_map(Part::as_text).collect();
                    self.result(call, &texts.join("\n"), part, entry);
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str, entry: EntryId) {
        let parsed = serde_json::from_str(arguments).unwrap_or(Value::Null);
        self.listed(name, &parsed, entry);
        let mut running = None;
        if let Some(command) = call::command(arguments).filter(|text| !text.trim().is_empty()) {
            let at = self.add(FactClass::Command, &command, entry);
            self.found[at].names = vec![shell::gist(&command).to_owned()];
            running = Some(at);
            for file in shell::files(&command) {
                self.add(FactClass::File, file, entry);
            }
        }
        self.running.insert(id.to_owned(), running);
        let changed = (self.changes)(name, arguments);
        for path in &changed {
            let at = self.add(FactClass::File, path, entry);
            self.found[at].is_changed = true;
            self.changed = Some(at);
        }
        // What a search names is where it looks.
        let named = call::path(arguments).filter(|_| parsed.get("pattern").is_none());
        if let Some(path) = named.filter(|path| !changed.contains(path)) {
            self.add(FactClass::File, &path, entry);
        }
        if let Some(url) = parsed.get("url").and_then(Value::as_str) {
            self.add(FactClass::Url, url, entry);
        }
    }

    fn result(&mut self, call: &str, text: &str, part: &Part, entry: EntryId) {
        let command = self.running.remove(call).flatten();
        let (code, is_error) = (part.exit_code(), part.has_failed());
        if let Some(at) = command {
            self.found[at].fact.outcome = match (code, is_error) {
                (Some(code), _) => Some(format!("exit {code}")),
                (None, true) => Some("failed".to_owned()),
                (None, false) => None,
            };
        }
        if is_error {
            let Some(line) = telling_line(text) else {
                return;
            };
            let error = self.add(FactClass::Error, line, entry);
            self.found[error].fact.outcome = None;
            if let Some(command) = command {
                self.failed.insert(command, error);
            }
        } else if let Some(error) = command.and_then(|command| self.failed.remove(&command)) {
            let changed = self
                .changed
                .filter(|at| self.found[*at].last >= self.found[error].last);
            let by =
                changed.map(|at| format!("mended by a change of {}", self.found[at].fact.text));
            self.found[error].fact.outcome = by.or_else(|| Some("went well later".to_owned()));
        }
    }

    /// A call that writes a list of things to do, or a point of it.
    fn listed(&mut self, name: &str, arguments: &Value, entry: EntryId) {
        let text = |value: &Value, keys: &[&str]| {
            let found = keys.iter().find_map(|key| value.get(*key)?.as_str());
            found.map(str::to_owned)
        };
        let at = self.at;
        let is_open = |value: &Value| {
            let status = text(value, &["status"]).unwrap_or_default();
            !matches!(
                status.as_str(),
                "completed" | "done" | "cancelled" | "deleted"
            )
        };
        let all = arguments.get("todos").or_else(|| arguments.get("plan"));
        if let Some(all) = all.and_then(Value::as_array) {
            let points = all.iter().filter_map(|point| {
                let said = text(point, &["content", "step", "title", "text"])?;
                Some(Point {
                    text: said,
                    is_open: is_open(point),
                    entry,
                    at,
                })
            });
            self.list = points.collect();
        }
        match name {
            "TaskCreate" => self
                .list
                .extend(text(arguments, &["subject"]).map(|text| Point {
                    text,
                    is_open: true,
                    entry,
                    at,
                })),
            "TaskUpdate" => {
                let number = text(arguments, &["taskId"]).and_then(|id| id.parse::<usize>().ok());
                let point = number.and_then(|number| self.list.get_mut(number.checked_sub(1)?));
                if let (Some(point), true) = (point, arguments.get("status").is_some()) {
                    (point.is_open, point.entry, point.at) = (is_open(arguments), entry, at);
                }
            }
            _ => {}
        }
    }

    /// Open points in a text.
    fn points(&mut self, text: &str, entry: EntryId) {
        for line in text.lines() {
            let open = line
                .trim_start()
                .strip_prefix(['-', '*'])
                .map(str::trim_start);
            let point = open.and_then(|point| point.strip_prefix("[ ]"));
            if let Some(point) = point.filter(|point| !point.trim().is_empty()) {
                self.add(FactClass::Task, point, entry);
            }
        }
    }

    /// Addresses, names and numbers in a text.
    fn names(&mut self, text: &str, entry: EntryId) {
        let between = |c: char| c.is_whitespace() || "()[]{}<>\"'`,;|*!?".contains(c);
        for word in text.split(between) {
            let word = word.trim_end_matches(['.', ':']);
            if word.len() > LONGEST || word.len() < 3 {
                continue;
            }
            let class = if word.starts_with("http://") || word.starts_with("https://") {
                FactClass::Url
            } else if is_number(word) {
                FactClass::Number
            } else if is_name(word) {
                FactClass::Name
            } else {
                continue;
            };
            self.add(class, word, entry);
        }
    }

    fn done(mut self) -> Vec<FoundFact> {
        for point in std::mem::take(&mut self.list) {
            if point.is_open && !point.text.trim().is_empty() {
                self.at = point.at;
                self.add(FactClass::Task, &point.text, point.entry);
            }
        }
        join_files(&mut self.found);
        name_files(&mut self.found);
        self.found
    }
}

/// A file that is the end of another's path is that file: the one that was named last, where there are several.
fn join_files(found: &mut Vec<FoundFact>) {
    let mut ends: HashMap<String, Vec<usize>> = HashMap::new();
    let is_file = |at: &usize| found[*at].fact.class == FactClass::File;
    let mut files: Vec<usize> = (0..found.len()).filter(is_file).collect();
    for at in &files {
        for end in ends_of(&found[*at].fact.text).skip(1) {
            ends.entry(end.to_lowercase()).or_default().push(*at);
        }
    }
    // The shortest first: what is joined hands on what was joined to it.
    files.sort_by_key(|at| found[*at].fact.text.len());
    let mut gone = vec![false; found.len()];
    for at in files {
        let path = found[at].fact.text.trim_start_matches("./").to_lowercase();
        let longer = ends.get(&path).into_iter().flatten().copied();
        let Some(longer) = longer
            .filter(|longer| *longer != at)
            .max_by_key(|at| found[*at].last)
        else {
            continue;
        };
        gone[at] = true;
        let (short, long) = (found[at].clone(), &mut found[longer]);
        long.fact.count += short.fact.count;
        long.first = long.first.min(short.first);
        long.is_changed |= short.is_changed;
        if short.last > long.last {
            (long.last, long.fact.entry) = (short.last, short.fact.entry);
        }
    }
    let mut gone = gone.into_iter();
    found.retain(|_| gone.next() == Some(false));
}

/// A file is also called by the end of its path, as far as no other file's ends so.
fn name_files(found: &mut [FoundFact]) {
    let is_file = |found: &&FoundFact| found.fact.class == FactClass::File;
    let mut ends: HashMap<String, usize> = HashMap::new();
    for file in found.iter().filter(is_file) {
        for end in ends_of(&file.fact.text) {
            *ends.entry(end.to_lowercase()).or_default() += 1;
        }
    }
    for file in found.iter_mut() {
        if file.fact.class == FactClass::File {
            let own = ends_of(&file.fact.text).filter(|end| ends[&end.to_lowercase()] == 1);
            file.names = own.map(str::to_owned).collect();
        }
    }
}

/// The ends of a path, the whole first.
fn ends_of(path: &str) -> impl Iterator<Item = &str> {
    let starts = path.match_indices('/').map(|(at, _)| at + 1);
    let ends = std::iter::once(0).chain(starts).map(|at| &path[at..]);
    ends.filter(|end| !end.is_empty())
}

/// The line of an output that says what went wrong.
fn telling_line(text: &str) -> Option<&str> {
    let lines = || {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && line.len() <= LONGEST)
    };
    let tells = |line: &&str| {
        let line = line.to_lowercase();
        let words = [
            "error",
            "fail",
            "panic",
            "exception",
            "not found",
            "denied",
            "no such",
            "fatal",
        ];
        words.iter().any(|word| line.contains(word))
    };
    let is_frame = |line: &&str| {
        [
            "Exit code",
            "Chunk ID",
            "Wall time",
            "Process exited",
            "Output:",
        ]
        .iter()
        .any(|mark| line.starts_with(mark))
    };
    lines()
        .find(tells)
        .or_else(|| lines().find(|line| !is_frame(line)))
}

/// Whether a word is a number that says something: of three digits, a version, a share, an amount.
fn is_number(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_part =
        |c: char| c.is_ascii_digit() || ".:-/%$€+v_x".contains(c) || c.is_ascii_alphabetic();
    let letters = word.chars().filter(char::is_ascii_alphabetic).count();
    digits > 0
        && letters <= 2
        && word.chars().all(is_part)
        && (digits >= 3 || word.contains(['.', '%', '$']))
}

/// Whether a word is a name of code, a hash, or the number of an issue.
fn is_name(word: &str) -> bool {
    let is_issue = |rest: &str| rest.len() > 1 && rest.chars().all(|c| c.is_ascii_digit());
    if word.strip_prefix('#').is_some_and(is_issue) {
        return true;
    }
    if word.len() < 5 || !word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return false;
    }
    let inner = &word[1..];
    let is_split = inner.contains('_') && word.chars().any(|c| c.is_ascii_alphabetic());
    let lower = word.chars().any(|c| c.is_ascii_lowercase());
    let is_camel = lower && inner.chars().any(|c| c.is_ascii_uppercase());
    let is_hash = (7..=40).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_hexdigit())
        && word.chars().any(|c| c.is_ascii_digit());
    is_split || is_camel || is_hash
}
