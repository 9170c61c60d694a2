//! What a line says of a call: the telling argument first, and what says nothing left out.
//!
//! An argument is known by its key, never by whose tool it is. Deliberately absent: what a call does
//! to files, which is drawn (`render/edit`); escaping, which is for whoever shows it.

use serde_json::{Map, Value};

use super::keys::{COMMANDS, MANNERS, NAMES, PATHS, REASONS, SEARCHES, SPEECHES, STEPS};
use super::{Arguments, command, path};

/// What is said without its key is at most so long, and so is a pair.
const WORDS_CHARS: usize = 200;
const PAIR_CHARS: usize = 60;
/// What is left of a command beside other words.
const COMMAND_CHARS: usize = 24;
/// How many characters of arguments that don't parse are shown.
const RAW_CHARS: usize = 80;

/// A call in brief. Hostile until escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// The tool.
    pub name: String,
    /// What is said of it, the most telling first.
    pub pieces: Vec<BriefPiece>,
    /// The other arguments, as they were written: what says little, and what is too long for a line.
    pub rest: Vec<(String, String)>,
    /// Whether something that is said of it was cut.
    pub is_cut: bool,
}

/// Something that a call says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BriefPiece {
    /// A command, or the line of it that tells what it does.
    Command(String),
    /// A file or a folder.
    Path(String),
    /// What is searched for, a name, other words.
    Words(String),
    /// What the call is for, in the model's words.
    Reason(String),
    /// An argument with its key, as it was written.
    Pair(String, String),
}

impl Brief {
    /// Of these arguments, as they were written.
    pub fn of(name: &str, arguments: &str) -> Self {
        let mut brief = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        match serde_json::from_str::<Arguments<'_>>(arguments) {
            Ok(Arguments(pairs)) => {
                let value = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
                let pairs = pairs.into_iter();
                let pairs = pairs.map(|(key, raw)| (key, value(raw.get()), raw.get().to_owned()));
                brief.take(pairs.collect());
            }
            Err(_) => {
                let line = arguments
                    .lines()
                    .map(str::trim)
                    .find(|line| !line.is_empty());
                let line = line.unwrap_or_default();
                let said: String = line.chars().take(RAW_CHARS).collect();
                brief.is_cut = said.len() < arguments.trim().len();
                if !said.is_empty() {
                    let more = if brief.is_cut { "…" } else { "" };
                    brief.pieces.push(BriefPiece::Words(said + more));
                }
            }
        }
        brief
    }

    /// Of arguments that were parsed.
    pub fn of_object(name: &str, arguments: &Map<String, Value>) -> Self {
        let mut brief = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        let pairs = arguments.iter();
        let pairs = pairs.map(|(key, value)| (key.clone(), value.clone(), value.to_string()));
        brief.take(pairs.collect());
        brief
    }

    /// The same with its paths from this directory on.
    #[must_use]
    pub fn from(mut self, directory: Option<&str>) -> Self {
        for piece in &mut self.pieces {
            if let BriefPiece::Path(path) = piece {
                *path = path::relative(path, directory).to_owned();
            }
        }
        self
    }

    fn take(&mut self, mut pairs: Vec<(String, Value, String)>) {
        for keys in [&COMMANDS[..], &SEARCHES, &PATHS, &NAMES] {
            self.take_first(keys, &mut pairs);
        }
        self.steps(&mut pairs);
        if let Some((_, text)) = take(&REASONS, &mut pairs) {
            self.say(BriefPiece::Reason, &text);
        }
        if self.pieces.is_empty()
            && let Some((_, text)) = take(&SPEECHES, &mut pairs)
        {
            self.say(BriefPiece::Words, &text);
        }
        let is_told = !self.pieces.is_empty();
        for (key, value, raw) in pairs {
            let is_nothing = matches!(value, Value::Null | Value::Bool(false));
            let says_little = is_nothing || MANNERS.contains(&key.as_str());
            let says_little = says_little || value.as_str() == Some("");
            let shown = match value {
                Value::String(text) => format!("\"{text}\""),
                _ => raw,
            };
            let most = if is_told { PAIR_CHARS } else { WORDS_CHARS };
            let is_long = shown.chars().count() > most || shown.contains('\n');
            if is_told && (says_little || is_long) {
                self.rest.push((key, shown));
            } else if is_long {
                self.is_cut = true;
                let line = shown.lines().next().unwrap_or_default();
                let cut: String = line.chars().take(most).collect();
                self.pieces.push(BriefPiece::Pair(key, cut + "…"));
            } else {
                self.pieces.push(BriefPiece::Pair(key, shown));
            }
        }
    }

    /// What stands under the first of these keys.
    fn take_first(&mut self, keys: &[&str], pairs: &mut Vec<(String, Value, String)>) {
        let Some((key, text)) = take(keys, pairs) else {
            return;
        };
        if COMMANDS.contains(&key.as_str()) {
            let (line, is_all) = command::telling(&text);
            self.is_cut |= !is_all;
            let more = if is_all { "" } else { " …" };
            self.pieces.push(BriefPiece::Command(line + more));
        } else if PATHS.contains(&key.as_str()) {
            self.pieces.push(BriefPiece::Path(text));
        } else {
            self.say(BriefPiece::Words, &text);
        }
    }

    /// The first line of some words.
    fn say(&mut self, piece: impl FnOnce(String) -> BriefPiece, text: &str) {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        let line = line.unwrap_or_default();
        let mut said: String = line.chars().take(WORDS_CHARS).collect();
        if said.len() < text.trim().len() {
            self.is_cut = true;
            said.push('…');
        }
        self.pieces.push(piece(said));
    }

    /// How far a list of steps is done, and the step at work.
    fn steps(&mut self, pairs: &mut Vec<(String, Value, String)>) {
        let is_list = |(key, value, _): &(String, Value, String)| {
            STEPS.contains(&key.as_str())
                && value.as_array().is_some_and(|steps| {
                    !steps.is_empty() && steps.iter().all(|step| step["status"].is_string())
                })
        };
        let Some(at) = pairs.iter().position(is_list) else {
            return;
        };
        let (_, value, _) = pairs.remove(at);
        let steps = value.as_array().map_or(&[][..], Vec::as_slice);
        let stands = |step: &&Value, word: &str| {
            step["status"].as_str().is_some_and(|status| status == word)
        };
        let done = steps
            .iter()
            .filter(|step| stands(step, "completed"))
            .count();
        let at_work = steps.iter().find(|step| stands(step, "in_progress"));
        let words = |step: &Value| {
            let keys = ["content", "step", "title", "description"];
            keys.iter()
                .find_map(|key| step[*key].as_str().map(str::to_owned))
        };
        let at_work = at_work.and_then(words);
        let at_work = at_work.map_or(String::new(), |words| format!(": {words}"));
        let steps = steps.len();
        self.say(
            BriefPiece::Words,
            &format!("{done} of {steps} done{at_work}"),
        );
        self.is_cut = true;
    }

    /// It on one line: the name, and behind it what is said. With `chars`, in about so many
    /// characters: first what has a key is left out, then paths are cut in their middle, then
    /// commands, and the rest at its end.
    pub fn line(&self, chars: Option<usize>) -> String {
        let said =
            self.said(chars.map(|chars| chars.saturating_sub(self.name.chars().count() + 1)));
        if said.is_empty() {
            self.name.clone()
        } else {
            format!("{} {said}", self.name)
        }
    }

    /// It with all its other arguments.
    pub fn whole(&self) -> String {
        let mut all = self.clone();
        let rest = std::mem::take(&mut all.rest).into_iter();
        all.pieces
            .extend(rest.map(|(key, value)| BriefPiece::Pair(key, value)));
        all.line(None)
    }

    /// The same without the name.
    pub fn said(&self, chars: Option<usize>) -> String {
        let mut pieces = self.pieces.clone();
        let Some(chars) = chars else {
            return joined(&pieces);
        };
        let over = |pieces: &[BriefPiece]| joined(pieces).chars().count().saturating_sub(chars);
        while over(&pieces) > 0
            && pieces.len() > 1
            && let Some(BriefPiece::Pair(..)) = pieces.last()
        {
            pieces.pop();
        }
        for at in 0..pieces.len() {
            let over = over(&pieces);
            if let (BriefPiece::Path(path), 1..) = (&mut pieces[at], over) {
                *path = path::within(path, path.chars().count().saturating_sub(over));
            }
        }
        for at in 0..pieces.len() {
            let over = over(&pieces);
            if let (BriefPiece::Command(text) | BriefPiece::Words(text), 1..) =
                (&mut pieces[at], over)
            {
                let count = text.chars().count();
                let kept = count.saturating_sub(over + 1).max(COMMAND_CHARS);
                if kept < count {
                    *text = cut(text, kept);
                }
            }
        }
        joined(&pieces)
    }
}

/// The beginning of a text, and that there is more.
fn cut(text: &str, chars: usize) -> String {
    let cut: String = text.chars().take(chars).collect();
    cut.trim_end().to_owned() + "…"
}

fn joined(pieces: &[BriefPiece]) -> String {
    let mut line = String::new();
    let mut has_pair = false;
    for piece in pieces {
        if !line.is_empty() {
            line += match piece {
                BriefPiece::Reason(_) => "  # ",
                BriefPiece::Pair(..) if has_pair => ", ",
                _ => " ",
            };
        }
        match piece {
            BriefPiece::Pair(key, value) => {
                has_pair = true;
                line = line + key + "=" + value;
            }
            BriefPiece::Command(text)
            | BriefPiece::Path(text)
            | BriefPiece::Words(text)
            | BriefPiece::Reason(text) => {
                line += text;
            }
        }
    }
    line
}

/// Takes the text under the first of these keys that has one.
fn take(keys: &[&str], pairs: &mut Vec<(String, Value, String)>) -> Option<(String, String)> {
    for key in keys {
        let Some(at) = pairs.iter().position(|(other, ..)| other == key) else {
            continue;
        };
        let text = match &pairs[at].1 {
            Value::String(text) if !text.trim().is_empty() => text.clone(),
            Value::Array(words) if !words.is_empty() && words.iter().all(Value::is_string) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                command::of_words(&words)
            }
            _ => continue,
        };
        let (key, ..) = pairs.remove(at);
        return Some((key, text));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, arguments: &str) -> String {
        Brief::of(name, arguments)
            .from(Some("/home/me/work"))
            .line(None)
    }

    #[test]
    fn the_telling_argument_comes_first_and_without_its_key() {
        for (name, arguments, expected) in [
            (
                "Read",
                r#"{"file_path": "/home/me/work/src/lib.rs"}"#,
                "Read src/lib.rs",
            ),
            (
                "Read",
                r#"{"limit": 5, "file_path": "/etc/hosts"}"#,
                "Read /etc/hosts limit=5",
            ),
            (
                "Edit",
                r#"{"replace_all": false, "file_path": "a.rs"}"#,
                "Edit a.rs",
            ),
            (
                "Bash",
                r#"{"command": "cargo test", "description": "Run the tests", "timeout": 9}"#,
                "Bash cargo test  # Run the tests timeout=9",
            ),
            (
                "shell",
                r#"{"command": ["bash", "-lc", "ls"], "workdir": "/x"}"#,
                "shell ls workdir=\"/x\"",
            ),
            (
                "Grep",
                r#"{"pattern": "TODO", "path": "/home/me/work", "-n": true}"#,
                "Grep TODO . -n=true",
            ),
            (
                "Task",
                r#"{"description": "Find it", "prompt": "Look\nhard", "subagent_type": "Explore"}"#,
                "Task Explore  # Find it",
            ),
            ("ask", r#"{"prompt": "Look\nhard"}"#, "ask Look…"),
            (
                "weather",
                r#"{"city": "Paris", "days": 2}"#,
                r#"weather city="Paris", days=2"#,
            ),
            ("set", r#"{"quiet": false}"#, "set quiet=false"),
            (
                "TodoWrite",
                r#"{"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}]}"#,
                "TodoWrite 1 of 2 done: b",
            ),
            ("now", "{}", "now"),
            ("eval", "1 +\n1", "eval 1 +…"),
        ] {
            assert_eq!(line(name, arguments), expected);
        }
    }

    #[test]
    fn a_line_is_cut_where_it_tells_least() {
        let brief = |arguments| Brief::of("Read", arguments);
        let read = brief(
            r#"{"file_path": "/Users/somebody/work/project/src/render/chat/tool.rs", "limit": 5}"#,
        );
        assert_eq!(read.line(Some(40)), "Read /Users/…/src/render/chat/tool.rs");
        assert_eq!(read.line(Some(10)), "Read …/tool.rs");
        let command = "x".repeat(200);
        let run = brief(&format!(
            r#"{{"command": "{command}", "description": "Fill it"}}"#
        ));
        let line = run.line(Some(60));
        assert!(line.ends_with("…  # Fill it"), "{line}");
        assert!(line.chars().count() <= 60, "{line}");
    }

    #[test]
    fn it_is_known_what_a_line_leaves_out() {
        let is_cut = |arguments| Brief::of("Bash", arguments).is_cut;
        assert!(!is_cut(r#"{"command": "ls", "description": "List"}"#));
        assert!(is_cut(r#"{"command": "ls\npwd"}"#));
        assert!(is_cut("a\nb"));
        assert!(!is_cut("a"));
        let run = Brief::of("Bash", r#"{"command": "ls", "timeout": 9}"#);
        assert_eq!(run.whole(), "Bash ls timeout=9");
    }
}
