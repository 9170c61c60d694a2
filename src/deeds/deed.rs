//! A request that is at once the options of a command, the parameters of a method, and the line by which the log of
//! operations names what was done.

use serde::Serialize;
use serde_json::Value;

use super::error::ApiError;
use super::method::{Method, read};

/// A method whose parameters are a command's options, by the same names. A command line has `-` where a name has `_`. The first
/// field is what a call in Python gives by its place.
pub trait Deed: Method + Serialize {
    /// The fields that are given by their place, in this order. All others are options.
    const PLACES: &'static [&'static str] = &[];
    /// Whether options are written before those.
    const OPTIONS_FIRST: bool = false;
    /// The options that are written by a short name.
    const SHORT: &'static [(&'static str, &'static str)] = &[];
    /// The fields with something that is said. The log of operations does not keep it: a purge erases it in messages alone.
    const SAID: &'static [&'static str] = &[];
    /// The fields with revisions. One may say which text it looks for, and the log does not keep that either.
    const REVISIONS: &'static [&'static str] = &[];
    /// The fields with the name of a remote, or an address. The log keeps no address, for it may hold a password.
    const REMOTES: &'static [&'static str] = &[];

    /// The same request, where it can be made in more ways than one: as it is typed.
    fn into_typed(self) -> Self {
        self
    }

    /// What is typed for it behind `tract`, word by word.
    fn words(&self) -> Vec<String> {
        written::<Self>(self, &|_, texts| texts)
    }

    /// The line by which the log of operations names it.
    fn line(&self) -> String {
        let kept = |name: &str, texts: Vec<String>| match name {
            _ if Self::SAID.contains(&name) => {
                texts.first().map(|_| "…".to_owned()).into_iter().collect()
            }
            _ if Self::REVISIONS.contains(&name) => {
                texts.iter().map(|text| without_text(text)).collect()
            }
            _ if Self::REMOTES.contains(&name) => texts.into_iter().map(without_address).collect(),
            _ => texts,
        };
        written::<Self>(self, &kept).join(" ")
    }
}

/// The words of a request, the values of each field as `kept` gives them.
fn written<D: Deed>(deed: &D, kept: &dyn Fn(&str, Vec<String>) -> Vec<String>) -> Vec<String> {
    // remote_set_url is typed remote set-url.
    let name = D::NAME.splitn(2, '_');
    let mut words: Vec<String> = name.map(|word| word.replace('_', "-")).collect();
    let Ok(Value::Object(fields)) = serde_json::to_value(deed) else {
        return words;
    };
    let placed = D::PLACES
        .iter()
        .flat_map(|name| kept(name, fields.get(*name).map(texts).unwrap_or_default()));
    let mut placed: Vec<String> = placed.collect();
    // What looks like an option comes last, behind what ends them.
    let is_ended = placed.iter().any(|text| is_like_an_option(text));
    if !is_ended && !D::OPTIONS_FIRST {
        words.append(&mut placed);
    }
    for (name, value) in &fields {
        if D::PLACES.contains(&name.as_str()) {
            continue;
        }
        let short = D::SHORT.iter().find(|(long, _)| long == name);
        let option = short.map_or_else(
            || format!("--{}", name.replace('_', "-")),
            |(_, short)| (*short).to_owned(),
        );
        if *value == Value::Bool(true) {
            words.push(option);
            continue;
        }
        for text in kept(name, texts(value)) {
            if is_like_an_option(&text) {
                words.push(format!("{option}={text}"));
            } else {
                words.extend([option.clone(), text]);
            }
        }
    }
    if is_ended {
        words.push("--".to_owned());
    }
    words.append(&mut placed);
    words
}

/// A dash alone is none.
fn is_like_an_option(text: &str) -> bool {
    text.starts_with('-') && text != "-"
}

/// The values of a field: none where it was not given.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null | Value::Bool(false) => Vec::new(),
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

/// A request in words.
pub struct CommandLine {
    /// What is typed for it behind `tract`.
    pub words: Vec<String>,
    /// The line that the log of operations keeps.
    pub line: String,
}

impl CommandLine {
    fn of(deed: &impl Deed) -> Self {
        let (words, line) = (deed.words(), deed.line());
        Self { words, line }
    }
}

/// A deed without its type.
pub struct DeedEntry {
    /// Its name.
    pub name: &'static str,
    /// Reads parameters as JSON; the same in words.
    pub written: fn(&str) -> Result<CommandLine, ApiError>,
    /// Reads what is typed behind its name; the parameters as JSON.
    #[cfg(feature = "cli")]
    pub typed: fn(&[String]) -> Result<Value, clap::Error>,
    /// Parameters as JSON once they were read: what was left out stands there.
    pub whole: fn(&str) -> Result<Value, ApiError>,
}

impl DeedEntry {
    #[cfg(feature = "cli")]
    pub(super) const fn of<D: Deed + clap::Args>() -> Self {
        Self {
            name: D::NAME,
            written: |params| checked::<D>(params).map(|deed| CommandLine::of(&deed)),
            typed: |words| {
                let command = D::augment_args(clap::Command::new(D::NAME));
                let found =
                    command.try_get_matches_from([&[D::NAME.to_owned()], words].concat())?;
                Ok(value(&D::from_arg_matches(&found)?))
            },
            whole: |params| checked::<D>(params).map(|deed| value(&deed.into_typed())),
        }
    }

    #[cfg(not(feature = "cli"))]
    pub(super) const fn of<D: Deed>() -> Self {
        Self {
            name: D::NAME,
            written: |params| checked::<D>(params).map(|deed| CommandLine::of(&deed)),
            whole: |params| checked::<D>(params).map(|deed| value(&deed.into_typed())),
        }
    }
}

fn checked<D: Deed>(params: &str) -> Result<D, ApiError> {
    let deed: D = read(params)?;
    deed.check().map(|()| deed)
}

fn value(deed: &impl Deed) -> Value {
    serde_json::to_value(deed).unwrap_or_default()
}

/// A revision or a range of them without the text that it looks for. No name holds a colon, and a text goes on to the end.
pub fn without_text(revision: &str) -> String {
    match revision.find(":/") {
        Some(at) => format!("{}:/…", &revision[..at]),
        None => revision.to_owned(),
    }
}

/// The name of a remote, or what stands for an address.
fn without_address(remote: String) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let name = remote.strip_prefix("git:").unwrap_or(&remote);
    match name.chars().all(plain) {
        true => remote,
        false => "URL".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deeds::{CompactParams, DropParams, PushParams, TruncateParams};

    #[test]
    fn a_line_keeps_nothing_that_was_said() {
        let compact = CompactParams {
            message: Some("We fixed it.".into()),
            range: Some(":2..:/it broke".into()),
            ..CompactParams::default()
        };
        assert_eq!(compact.line(), "compact :2..:/… -m …");
        let truncate = TruncateParams {
            marker: Some("it was long".into()),
            ..TruncateParams::default()
        };
        assert_eq!(truncate.line(), "truncate --marker …");
    }

    #[test]
    fn a_line_keeps_no_address() {
        let to = |remote: &str| PushParams {
            remote: Some(remote.to_owned()),
            ..PushParams::default()
        };
        for (remote, line) in [
            ("origin", "push origin"),
            ("git:origin", "push git:origin"),
            ("ssh://joe:hunter2@host/x", "push URL"),
            ("../other", "push URL"),
        ] {
            assert_eq!(to(remote).line(), line);
        }
    }

    #[test]
    fn what_looks_like_an_option_is_none() {
        let drop = DropParams {
            revs: vec!["-x".into(), ":2".into()],
            force: true,
            dry_run: false,
            limit: None,
        };
        assert_eq!(drop.words(), ["drop", "--force", "--", "-x", ":2"]);
    }
}
