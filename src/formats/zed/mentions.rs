//! What a prompt mentions: a link in its place, and behind the prompt what the link leads to, by kind.
//!
//! # Source
//!
//! `UserMessage::to_request` in `crates/agent/src/thread.rs`, `crates/acp_thread/src/mention.rs`; links are written as
//! the URL Standard (<https://url.spec.whatwg.org>) has it.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::variant::variant;
use crate::model::Part;
use crate::wire::json::{decode, string};

/// What stands around all that was attached.
const OPEN: &str = "<context>\nThe following items were attached by the user. They are up-to-date and don't need to be \
                    re-read.\n\n";
const CLOSE: &str = "</context>";

/// How each kind begins and ends, in the order in which they are sent.
const KINDS: [(&str, &str); 11] = [
    ("<files>", "</files>\n"),
    ("<directories>", "</directories>\n"),
    ("<symbols>", "</symbols>\n"),
    ("<selections>", "</selections>\n"),
    ("<diffs>", "</diffs>\n"),
    ("<threads>", "</threads>\n"),
    ("<fetched_urls>", "</fetched_urls>\n"),
    (
        "<rules>\nThe user has specified the following rules that should be applied:\n",
        "</user_rules>\n",
    ),
    ("<diagnostics>", "</diagnostics>\n"),
    (
        "<skills>\nThe user has attached the following agent skills:\n",
        "</skills>\n",
    ),
    ("<merge_conflicts>", "</merge_conflicts>\n"),
];

/// What the mentions of a prompt lead to, by kind.
#[derive(Default)]
pub(super) struct Mentions([String; KINDS.len()]);

/// What a mention says of where it leads, by the names of its variants' members.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Target {
    abs_path: Option<String>,
    /// As older versions call it.
    path: Option<String>,
    name: String,
    line_range: Lines,
    column: Option<u64>,
    id: Value,
    url: String,
    include_errors: Option<bool>,
    include_warnings: bool,
    line_count: u64,
    base_ref: String,
    file_path: String,
    source: String,
    skill_file_path: String,
}

/// Lines from 0, both included.
#[derive(Clone, Copy, Default, Deserialize)]
struct Lines {
    start: u64,
    end: u64,
}

impl Lines {
    /// Both from 1.
    fn shown(self) -> (u64, u64) {
        (self.start.saturating_add(1), self.end.saturating_add(1))
    }
}

/// A mention: of which kind it is, what is told of that, what it is called and where it leads.
type Told = (&'static str, String, String, String);

impl Target {
    /// Where it is among files.
    fn place(&self) -> Option<&str> {
        self.abs_path.as_deref().or(self.path.as_deref())
    }

    /// What is told of files and what is in them.
    fn of_files(&self, kind: &str, content: &str) -> Option<Told> {
        let place = self.place().unwrap_or_default();
        let (first, last) = self.line_range.shown();
        let lines = format!("#L{first}:{last}");
        let fenced = |tag: String| format!("\n{}", block(&tag, content));
        let name = file_name(place).to_owned();
        Some(match kind {
            "File" => ("files", fenced(tag(place, None)), name, file_link(place)),
            "Directory" => {
                let is_closed = place.ends_with(['/', '\\']);
                let link = file_link(&format!("{place}{}", if is_closed { "" } else { "/" }));
                ("directories", format!("\n{content}\n"), name, link)
            }
            "Symbol" => {
                let symbol = query(&[("symbol", &self.name)]);
                let link = format!("{}{symbol}{lines}", file_link(place));
                let text = fenced(tag(place, Some(self.line_range)));
                ("symbols", text, self.name.clone(), link)
            }
            "Selection" => {
                let shown = self.place().unwrap_or("Untitled");
                let link = self
                    .place()
                    .map_or_else(|| own("untitled-buffer"), file_link);
                let column = self
                    .column
                    .map(|column| column.saturating_add(1).to_string());
                let column = column.map(|column| query(&[("column", &column)]));
                let link = format!("{link}{}{lines}", column.unwrap_or_default());
                let name = format!("{} ({first}:{last})", file_name(shown));
                (
                    "selections",
                    fenced(tag(shown, Some(self.line_range))),
                    name,
                    link,
                )
            }
            _ => return None,
        })
    }

    /// What is told of other things.
    fn of_others(&self, kind: &str, content: &str) -> Option<Told> {
        let fenced = |tag: &str| format!("\n{}", block(tag, content));
        let plain = format!("\n{content}\n");
        let named = query(&[("name", &self.name)]);
        let name = self.name.clone();
        Some(match kind {
            "TerminalSelection" => {
                let count = self.line_count.to_string();
                let noun = if self.line_count == 1 {
                    "line"
                } else {
                    "lines"
                };
                let link = own("terminal-selection") + &query(&[("lines", &count)]);
                let name = format!("Terminal ({count} {noun})");
                ("selections", fenced("console"), name, link)
            }
            "GitDiff" => {
                let base = &self.base_ref;
                let text = format!("\nBranch diff against {base}:{}", fenced("diff"));
                let link = own("git-diff") + &query(&[("base", base)]);
                ("diffs", text, format!("Branch Diff ({base})"), link)
            }
            "Thread" => {
                let id = escaped(self.id.as_str().unwrap_or_default());
                ("threads", plain, name, own("thread/") + &id + &named)
            }
            "TextThread" => {
                let place = self.place().unwrap_or_default();
                let place = escaped(place.trim_start_matches('/'));
                (
                    "threads",
                    plain,
                    name,
                    own("text-thread/") + &place + &named,
                )
            }
            "Fetch" => {
                let text = format!("\nFetch: {}\n\n{content}", self.url);
                ("fetched_urls", text, self.url.clone(), self.url.clone())
            }
            "Rule" => {
                let id = self.id.get("User").and_then(|user| user.get("uuid"));
                let id = id.and_then(Value::as_str).unwrap_or_default();
                ("rules", fenced(""), name, own("rule/") + id + &named)
            }
            "Diagnostics" => {
                let mut asked = Vec::new();
                if self.include_warnings {
                    asked.push(("include_warnings", "true"));
                }
                if self.include_errors == Some(false) {
                    asked.push(("include_errors", "false"));
                }
                let link = own("diagnostics") + &query(&asked);
                ("diagnostics", plain, "Diagnostics".to_owned(), link)
            }
            "Skill" => {
                let (source, file) = (&self.source, &self.skill_file_path);
                let text = format!("\nSkill: {name} ({source})\n{content}\n");
                let asked = [("name", &*name), ("source", source), ("path", file)];
                let link = own("skill") + &query(&asked);
                ("skills", text, name, link)
            }
            "MergeConflict" => {
                let file = &self.file_path;
                let text = format!("\nMerge conflict in {file}:{}", fenced("diff"));
                let link = own("merge-conflict") + &query(&[("path", file)]);
                let name = format!("Merge Conflict ({})", file_name(file));
                ("merge_conflicts", text, name, link)
            }
            _ => return None,
        })
    }
}

/// A link within the editor.
fn own(rest: &str) -> String {
    format!("zed:///agent/{rest}")
}

impl Mentions {
    /// Takes what a mention leads to; its link, or none where its kind is unknown.
    pub(super) fn take(&mut self, raw: &RawValue) -> Option<String> {
        lazy! { struct Mention { uri, content } }
        let mention: Mention<'_> = decode(Some(raw))?;
        let content = string(mention.content).unwrap_or_default();
        let (kind, held) = variant(mention.uri?)?;
        let target: Target = match held {
            Some(held) => decode(Some(held))?,
            None => Target::default(),
        };
        let told = target.of_files(&kind, &content);
        let told = told.or_else(|| target.of_others(&kind, &content));
        let (kind, text, name, link) = told?;
        let mut kinds = KINDS.iter();
        let at = kinds.position(|(open, _)| open[1..].starts_with(kind));
        self.0[at.expect("each kind has its place")] += &text;
        Some(format!("[@{name}]({link})"))
    }

    /// What stands behind the prompt.
    pub(super) fn parts(self) -> Vec<Part> {
        let held = self.0.into_iter().zip(KINDS);
        let held = held.filter(|(text, _)| !text.is_empty());
        let mut parts: Vec<Part> = held
            .map(|(text, (open, close))| Part::text(format!("{open}{text}{close}")))
            .collect();
        if !parts.is_empty() {
            parts.insert(0, Part::text(OPEN));
            parts.push(Part::text(CLOSE));
        }
        parts
    }
}

/// A fenced block of Markdown, whose fence is longer than any in it.
fn block(tag: &str, text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max();
    let fence = "`".repeat(longest.map_or(3, |longest| 3.max(longest + 1)));
    format!("{fence}{tag}\n{text}\n{fence}\n")
}

/// What stands behind a block's fence: the kind of file, its path, and its lines.
fn tag(path: &str, lines: Option<Lines>) -> String {
    let kind = file_name(path).rsplit_once('.');
    let kind = kind.filter(|(stem, _)| !stem.is_empty());
    let kind = kind.map_or_else(String::new, |(_, kind)| format!("{kind} "));
    let lines = lines.map(|lines| match lines.shown() {
        (first, last) if first == last => format!(":{first}"),
        (first, last) => format!(":{first}-{last}"),
    });
    format!("{kind}{path}{}", lines.unwrap_or_default())
}

/// The last name in a path, of whatever system it is.
fn file_name(path: &str) -> &str {
    let is_windows = path.get(1..3) == Some(":\\") || path.starts_with("\\\\");
    let is_between = |letter: char| letter == '/' || is_windows && letter == '\\';
    let name = path.trim_end_matches(is_between).rsplit(is_between).next();
    name.filter(|name| *name != "..").unwrap_or_default()
}

fn file_link(path: &str) -> String {
    let path = escaped(&path.replace('\\', "/"));
    format!("file:///{}", path.strip_prefix('/').unwrap_or(&path))
}

/// A path in a link.
fn escaped(path: &str) -> String {
    coded(path, |byte| {
        byte.is_ascii_graphic() && !b"\"#<>?`{}".contains(&byte)
    })
}

/// The questions of a link, as a form has them; nothing where there are none.
fn query(pairs: &[(&str, &str)]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"*-._ ".contains(&byte);
    let mut query = String::new();
    for (name, value) in pairs {
        query.push(if query.is_empty() { '?' } else { '&' });
        query += &format!("{name}={}", coded(value, plain).replace(' ', "+"));
    }
    query
}

/// A text whose other bytes are coded by their numbers.
fn coded(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let mut coded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            coded.push(char::from(byte))
        } else {
            coded += &format!("%{byte:02X}")
        }
    }
    coded
}
