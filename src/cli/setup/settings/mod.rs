//! Settings of other programs: what of ours stands in them, and how it is put in and taken out, with comments, order
//! and all the rest as they are. Texts in, texts out: no file is touched here.

mod json;
mod toml;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tract::render::shell_words;

/// How a file of settings is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// JSON, with or without comments and commas at the end of lists.
    Json,
    /// TOML.
    Toml,
}

/// One setting that is ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The names of the objects around it, and its own.
    pub at: Vec<String>,
    /// What it is.
    pub value: Value,
    /// Whether it is one of a list of that name, and not all that has the name.
    #[serde(default)]
    pub is_item: bool,
}

/// How a setting of ours stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is not there.
    Missing,
    /// It is there, perhaps by the user's own hand. The program that it starts, if it starts one.
    There(Option<String>),
    /// Something else has its name, which may hold what nobody is to see.
    Other,
}

/// Why settings cannot be read or changed: a fragment for after the file's name.
pub type Broken = String;

impl Form {
    /// All that the text sets. A text without anything sets nothing.
    pub fn read(self, text: &str) -> Result<Value, Broken> {
        match self {
            Self::Json => json::read(text),
            Self::Toml => toml::read(text),
        }
    }

    /// The text with these settings in it as well.
    pub fn add(self, text: &str, entries: &[Entry]) -> Result<String, Broken> {
        match self {
            Self::Json => json::add(text, entries),
            Self::Toml => toml::add(text, entries),
        }
    }

    /// The text without these settings, and without what is empty then and is not in `before`.
    pub fn remove(self, text: &str, entries: &[Entry], before: &Value) -> Result<String, Broken> {
        match self {
            Self::Json => json::remove(text, entries, before),
            Self::Toml => toml::remove(text, entries, before),
        }
    }
}

impl Entry {
    /// A setting of this name.
    pub fn member(at: &[&str], value: Value) -> Self {
        let at = at.iter().map(|name| (*name).to_owned()).collect();
        let is_item = false;
        Self { at, value, is_item }
    }

    /// One of the list of this name.
    pub fn item(at: &[&str], value: Value) -> Self {
        let is_item = true;
        Self {
            is_item,
            ..Self::member(at, value)
        }
    }

    /// Its own name, and those of the objects around it.
    fn names(&self) -> (&str, &[String]) {
        let (last, around) = self.at.split_last().expect("an entry has a name");
        (last, around)
    }

    /// What is there by its name.
    pub fn found<'a>(&self, settings: &'a Value) -> Option<&'a Value> {
        at(settings, &self.at)
    }

    /// How it stands among these settings.
    pub fn standing(&self, settings: &Value) -> Standing {
        let Some(found) = self.found(settings) else {
            return Standing::Missing;
        };
        let wanted = words(&self.value);
        if self.is_item {
            let groups = found.as_array().map(Vec::as_slice).unwrap_or_default();
            let mut hooks = groups.iter().flat_map(hooks);
            let does = hooks.find(|hook| is_same_job(&words(hook), &wanted));
            return match does {
                Some(hook) => Standing::There(words(hook).into_iter().next()),
                None => Standing::Missing,
            };
        }
        let present = words(found);
        if is_same_job(&present, &wanted) {
            Standing::There(present.into_iter().next())
        } else if *found == self.value {
            Standing::There(None)
        } else {
            Standing::Other
        }
    }

    /// Where among these settings the hook is that does its work: which group's, and which of the group.
    pub fn place(&self, settings: &Value) -> Option<(usize, usize)> {
        let wanted = words(&self.value);
        let groups = self.found(settings)?.as_array()?;
        groups.iter().enumerate().find_map(|(number, group)| {
            let hook = hooks(group).position(|hook| is_same_job(&words(hook), &wanted))?;
            Some((number, hook))
        })
    }

    /// What it is, in one line for people.
    pub fn said(&self) -> String {
        let words = words(&self.value);
        match &self.value {
            _ if !words.is_empty() => words.join(" "),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// The hooks of one group of an event's list.
fn hooks(group: &Value) -> impl Iterator<Item = &Value> {
    group
        .get("hooks")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// The words of the command that a hook or a server is; none where it is neither.
fn words(value: &Value) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        let texts = value.as_array().into_iter().flatten();
        texts.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let Some(command) = value.get("command") else {
        // A group is its first hook.
        return hooks(value).next().map(words).unwrap_or_default();
    };
    match (command.as_str(), value.get("args")) {
        (Some(command), Some(args)) => [vec![command.to_owned()], texts(args)].concat(),
        (Some(command), None) => shell_words(command),
        (None, _) => texts(command),
    }
}

/// Whether both have tract do the same, wherever it lies and whatever options it has in front.
fn is_same_job(present: &[String], wanted: &[String]) -> bool {
    let is_tract = |program: &String| {
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
        Some(program) == wanted.first() || name.strip_suffix(".exe").unwrap_or(name) == "tract"
    };
    let job = wanted
        .iter()
        .skip(1)
        .skip_while(|word| word.starts_with('-'));
    let job: Vec<String> = job.cloned().collect();
    present.first().is_some_and(is_tract) && present.ends_with(&job)
}

/// Whether `present` has all that `wanted` has. A client may have put more of its own beside it.
fn covers(present: &Value, wanted: &Value) -> bool {
    match (present, wanted) {
        (Value::Object(present), Value::Object(wanted)) => wanted.iter().all(|(name, wanted)| {
            let present = present.get(name);
            present.is_some_and(|present| covers(present, wanted))
        }),
        _ => present == wanted,
    }
}

/// What is within these names.
fn at<'a>(settings: &'a Value, names: &[String]) -> Option<&'a Value> {
    names
        .iter()
        .try_fold(settings, |found, name| found.get(name))
}

fn not_an_object(name: &str) -> Broken {
    format!("'{name}' is set to something else there")
}

#[cfg(test)]
mod tests;
