//! What was said and done before, word for word, hidden or not.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::audit::hide_of;
use super::{ApiError, At, Method};
use crate::context::OrderEntry;
use crate::hash::CommitHash;
use crate::model::call::Brief;
use crate::model::pairs::{Links, Pairs};
use crate::model::pattern::Pattern;
use crate::model::{EntryId, Message, Operation, Part, Role, Speaker, call, uses};
use crate::query::{FindOptions, SearchOptions};
use crate::render::edit::{Edits, changed_files};

/// Which messages, and how many around them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadParams {
    /// The message, wherever it is.
    pub rev: String,
    /// The last of several, in the conversation's order.
    #[serde(default)]
    pub last: Option<String>,
    /// So many messages on each side, too, hidden ones among them.
    #[serde(default)]
    pub around: usize,
    /// Only if it is in the history of this commit.
    #[serde(default)]
    pub within: Option<String>,
    /// Only if it is in a conversation that ran in this directory or below it.
    #[serde(default)]
    pub directory: Option<String>,
}

/// Messages in the conversation's order, hidden ones among them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReadAnswer {
    /// They.
    pub messages: Vec<ReadMessage>,
}

/// A message, word for word.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReadMessage {
    /// Its name.
    pub id: String,
    /// Its number among the visible messages, from 1; none if it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// When, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// The message, in the form of docs/object-format.md, "Content".
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub message: Message,
}

/// The kind of error that says that a message is not where it was looked for, though it may be elsewhere.
pub const ELSEWHERE: &str = "elsewhere";

fn elsewhere(what: String) -> ApiError {
    ApiError {
        kind: ELSEWHERE.to_owned(),
        ..ApiError::refused(what)
    }
}

/// The conversations in which messages are looked for; all unless given.
struct Bounds {
    within: Option<CommitHash>,
    directory: Option<PathBuf>,
}

impl Bounds {
    fn of(at: &At<'_>, within: Option<&str>, directory: Option<&str>) -> Result<Self, ApiError> {
        let within = within.map(|rev| at.resolve(Some(rev)));
        let directory = directory.map(|named| {
            let base = at.host.directory().unwrap_or_default();
            at.repo.directory_named(named, &base)
        });
        Ok(Self {
            within: within.transpose()?,
            directory: directory.transpose()?,
        })
    }

    fn places(&self) -> SearchOptions<()> {
        SearchOptions {
            within: self.within,
            directory: self.directory.clone(),
            ..SearchOptions::of(())
        }
    }

    /// The end of a conversation in these bounds that has a commit: `end`, if it is one.
    fn end(
        &self,
        at: &At<'_>,
        commit: &CommitHash,
        end: CommitHash,
        named: &str,
    ) -> Result<CommitHash, ApiError> {
        if self.within.is_none() && self.directory.is_none() {
            return Ok(end);
        }
        let places = self.places();
        if at.repo.conversation_with(&at.on, &end, &places)?.is_some() {
            return Ok(end);
        }
        let other = at.repo.conversation_with(&at.on, commit, &places)?;
        other.ok_or_else(|| {
            let error = elsewhere(format!("'{named}' is in none of these conversations"));
            let facts = [("text".to_owned(), named.into())].into();
            ApiError { facts, ..error }
        })
    }
}

/// A conversation in its order, hidden messages among them.
struct Conversation {
    entries: Vec<OrderEntry>,
    places: HashMap<EntryId, usize>,
    numbers: HashMap<EntryId, usize>,
}

impl Conversation {
    fn at(at: &At<'_>, tip: &CommitHash) -> Result<Self, ApiError> {
        let entries: Vec<OrderEntry> = at.repo.order(tip)?.entries().collect();
        let places = entries.iter().enumerate().map(|(at, entry)| (entry.id, at));
        let visible = entries.iter().filter(|entry| entry.visible);
        Ok(Self {
            places: places.collect(),
            numbers: visible
                .zip(1..)
                .map(|(entry, number)| (entry.id, number))
                .collect(),
            entries,
        })
    }

    fn place(&self, id: &EntryId) -> Result<usize, ApiError> {
        let gone = || elsewhere(format!("{id} is not in this conversation"));
        self.places.get(id).copied().ok_or_else(gone)
    }

    fn read(
        &self,
        at: &At<'_>,
        places: std::ops::Range<usize>,
    ) -> Result<Vec<ReadMessage>, ApiError> {
        let entries = &self.entries[places];
        let contents: Vec<_> = entries.iter().map(|entry| entry.content).collect();
        let messages = at.repo.contents(&contents)?;
        let read = entries.iter().zip(messages).map(|(entry, message)| {
            let commit = at.repo.commit_at(&entry.id.commit)?;
            Ok(ReadMessage {
                id: entry.id.to_string(),
                number: self.numbers.get(&entry.id).copied(),
                time_ms: commit.time.map(|time| time.0),
                message,
            })
        });
        read.collect()
    }
}

impl Method for ReadParams {
    const NAME: &'static str = "read";
    const ABOUT: &'static str =
        "Gives messages word for word with what stands around them, hidden ones among them.";
    const CHANGES: bool = false;
    type Answer = ReadAnswer;

    fn act(self, at: &mut At<'_>) -> Result<ReadAnswer, ApiError> {
        let bounds = Bounds::of(at, self.within.as_deref(), self.directory.as_deref())?;
        let first = at.repo.resolve_picked(&at.on, &self.rev)?;
        let end = bounds.end(at, &first.entry.commit, first.tip, &self.rev)?;
        let conversation = Conversation::at(at, &end)?;
        let from = conversation.place(&first.entry)?;
        let to = match &self.last {
            Some(last) => conversation.place(&at.repo.resolve_picked(&at.on, last)?.entry)?,
            None => from,
        };
        if to < from {
            let what = format!(
                "{} comes before {}",
                self.last.unwrap_or_default(),
                self.rev
            );
            return Err(ApiError::params(what));
        }
        let end = to
            .saturating_add(self.around)
            .min(conversation.entries.len() - 1);
        let messages = conversation.read(at, from.saturating_sub(self.around)..end + 1)?;
        Ok(ReadAnswer { messages })
    }
}

/// How many hidden messages are read together.
const TOGETHER: usize = 256;

/// Which compaction.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DroppedParams {
    /// The compaction, truncation or clear; the newest on the path to HEAD unless given.
    pub rev: Option<String>,
    /// Whose newest compaction, truncation or clear; HEAD's path unless given. With `rev`, only one in the history of
    /// this commit.
    pub within: Option<String>,
    /// Only one in a conversation that ran in this directory or below it.
    pub directory: Option<String>,
}

/// What a hide took out of the context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DroppedAnswer {
    /// The hide; none: nothing was hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Its kind: compaction, truncation or clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// When, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// How many messages it hid.
    pub messages: usize,
    /// Their tokens.
    pub tokens: u64,
    /// What a person typed among them.
    pub prompts: Vec<DroppedText>,
    /// The files that were read or changed in them.
    pub files: Vec<DroppedFile>,
    /// The commands that were run in them.
    pub commands: Vec<DroppedText>,
}

/// A text among what was hidden. What somebody else wrote: escape it before it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DroppedText {
    /// The message that it stands in.
    pub id: String,
    /// The text.
    pub text: String,
}

/// A file that hidden messages are about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DroppedFile {
    /// Its path, as the calls spell it. What somebody else wrote.
    pub path: String,
    /// In how many calls it was named without being changed.
    pub read: usize,
    /// In how many calls it was changed.
    pub changed: usize,
    /// The last message that is about it.
    pub id: String,
}

impl Method for DroppedParams {
    const NAME: &'static str = "dropped";
    const ABOUT: &'static str =
        "Says what a compaction hid: prompts, files, commands, each with its message.";
    const CHANGES: bool = false;
    type Answer = DroppedAnswer;

    fn act(self, at: &mut At<'_>) -> Result<DroppedAnswer, ApiError> {
        let hide = hide_of(at, self.rev.as_deref(), self.within.as_deref())?;
        let Some(hide) = hide else {
            return Ok(DroppedAnswer::default());
        };
        let named = self.rev.as_deref();
        let within = self.within.as_deref().filter(|_| named.is_some());
        let bounds = Bounds::of(at, within, self.directory.as_deref())?;
        bounds.end(at, &hide, hide, named.unwrap_or_default())?;
        let shown = at.repo.show(&hide, at.encoding()?)?;
        let Operation::Hide(kind) = &shown.row.commit.operation else {
            return Err(super::audit::hides_nothing(&hide, named));
        };
        let mut answer = DroppedAnswer {
            commit: Some(hide.to_string()),
            kind: Some(kind.kind.as_str()),
            time_ms: shown.row.commit.time.map(|time| time.0),
            messages: shown.hidden.len(),
            tokens: shown.hidden.iter().map(|one| one.tokens.tokens).sum(),
            ..DroppedAnswer::default()
        };
        let parent = shown.row.commit.parent.unwrap_or(hide);
        let conversation = Conversation::at(at, &parent)?;
        let mut files: BTreeMap<String, DroppedFile> = BTreeMap::new();
        for some in shown.hidden.chunks(TOGETHER) {
            let places = some.iter().map(|one| conversation.place(&one.id));
            let places = places.collect::<Result<Vec<_>, _>>()?;
            let entries = places.iter().map(|at| &conversation.entries[*at]);
            let said: Vec<_> = entries
                .map(|entry| (entry.id.commit, entry.content))
                .collect();
            let contents: Vec<_> = said.iter().map(|(_, content)| *content).collect();
            let messages = at.repo.contents(&contents)?.into_iter();
            for ((one, message), typed) in some.iter().zip(messages).zip(at.repo.typed(&said)?) {
                answer.take(&one.id.to_string(), &message, typed, &mut files);
            }
        }
        answer.files = files.into_values().collect();
        Ok(answer)
    }
}

impl DroppedAnswer {
    /// Takes down what a hidden message holds.
    fn take(
        &mut self,
        id: &str,
        message: &Message,
        typed: bool,
        files: &mut BTreeMap<String, DroppedFile>,
    ) {
        let typed = message.typed_texts().into_iter().filter(|_| typed);
        self.prompts.extend(typed.map(|text| DroppedText {
            id: id.to_owned(),
            text: text.into_owned(),
        }));
        for part in &message.parts {
            let Part::ToolCall {
                name, arguments, ..
            } = part
            else {
                continue;
            };
            if let Some(text) = call::command(arguments) {
                let id = id.to_owned();
                self.commands.push(DroppedText { id, text });
            }
            let changed = changed_files(name, arguments);
            let named = call::path(arguments).filter(|path| !changed.contains(path));
            for path in changed.iter().chain(&named) {
                let file = files.entry(path.clone()).or_default();
                file.path.clone_from(path);
                id.clone_into(&mut file.id);
                if named.as_ref() == Some(path) {
                    file.read += 1;
                } else {
                    file.changed += 1;
                }
            }
        }
    }
}

/// What to look for: one of them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DidParams {
    /// A file, or the end of its path: what was done to it.
    pub path: Option<String>,
    /// A piece of a command: how it ran.
    pub command: Option<String>,
    /// A piece of an error: what followed it.
    pub error: Option<String>,
    /// Only in the history of this commit; in all history unless given.
    pub within: Option<String>,
    /// Only in conversations that ran in this directory or below it.
    pub directory: Option<String>,
    /// At most so many; 10 unless given.
    pub limit: Option<usize>,
}

/// What was done, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DidAnswer {
    /// The calls.
    pub acts: Vec<Act>,
}

/// A tool call, and what came of it. What others wrote: escape it before it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Act {
    /// The message that calls.
    pub id: String,
    /// When, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// The call in a line.
    pub call: String,
    /// How many lines of files came and went, where it edits any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(usize, usize)>,
    /// The end of what the tool gave back; none where it has given nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether the tool reported failure.
    pub is_error: bool,
    /// What the assistant said or did next, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The directory that the session ran in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// How many acts are told unless somebody says.
const ACTS: usize = 10;
/// How many characters of a result are told.
const RESULT_CHARS: usize = 400;
/// How far behind a call its result is looked for, and what followed.
const BEHIND: usize = 16;

impl Method for DidParams {
    const NAME: &'static str = "did";
    const ABOUT: &'static str =
        "Says what was done to a file, how a command ran, or what followed an error.";
    const CHANGES: bool = false;
    type Answer = DidAnswer;

    fn act(self, at: &mut At<'_>) -> Result<DidAnswer, ApiError> {
        self.looking(at, &|_| ())
    }
}

impl DidParams {
    /// The same of messages that `look` has changed: an answer has pieces of them, and nothing knows a secret by a piece.
    ///
    /// # Errors
    ///
    /// As [`Method::act`].
    pub fn looking(
        self,
        at: &mut At<'_>,
        look: &dyn Fn(&mut ReadMessage),
    ) -> Result<DidAnswer, ApiError> {
        let (text, role) = match (&self.path, &self.command, &self.error) {
            (Some(text), None, None) | (None, Some(text), None) => (text, Role::Assistant),
            (None, None, Some(text)) => (text, Role::Tool),
            _ => return Err(ApiError::params("one of 'path', 'command', 'error'")),
        };
        let bounds = Bounds::of(at, self.within.as_deref(), self.directory.as_deref())?;
        let limit = self.limit.unwrap_or(ACTS);
        // A path may be spelt otherwise than a call spells it: its last name is looked for, in all that has it.
        let names = text.rsplit(['/', '\\']);
        let last = names.clone().find(|name| !name.is_empty());
        let (pattern, most) = match (&self.path, last) {
            (Some(_), Some(last)) => (last, 0),
            _ => (text.as_str(), limit.saturating_mul(4)),
        };
        let options = FindOptions {
            role: Some(Speaker::Role(role)),
            limit: most,
            ..bounds.places().asking(Pattern::text(pattern)?)
        };
        let found = at.repo.find_messages(&at.on, &options, &mut |_| Ok(()))?;
        let mut conversations: HashMap<CommitHash, Conversation> = HashMap::new();
        let mut acts = Vec::new();
        for found in found {
            let tip = match (options.within, &found.branch) {
                (Some(tip), _) => tip,
                (None, Some(name)) => at.resolve(Some(name.as_str()))?,
                (None, None) => continue,
            };
            let conversation = match conversations.entry(tip) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(Conversation::at(at, &tip)?),
            };
            let Some(place) = conversation.places.get(&found.entry).copied() else {
                continue;
            };
            // A result that holds the error answers a call that stands before it.
            let first = match role {
                Role::Tool => place.saturating_sub(BEHIND),
                _ => place,
            };
            let end = (place + BEHIND).min(conversation.entries.len());
            let mut around = conversation.read(at, first..end)?;
            around.iter_mut().for_each(look);
            let found_acts = self.acts(&around, place - first, text).into_iter();
            acts.extend(found_acts.map(|act| Act {
                directory: found.session.directory.clone(),
                ..act
            }));
            if acts.len() >= limit {
                break;
            }
        }
        acts.truncate(limit);
        Ok(DidAnswer { acts })
    }

    /// The calls that are meant, of the message at `place`, with what came of them.
    fn acts(&self, around: &[ReadMessage], place: usize, text: &str) -> Vec<Act> {
        let links: Vec<Links> = around.iter().map(|it| Links::of(&it.message)).collect();
        let pairs = Pairs::new(&links);
        let wanted: Vec<(usize, usize)> = if self.error.is_some() {
            let pairs = pairs.pairs().iter().rev();
            let answered = pairs.filter(|pair| pair.result.0 == place);
            answered.map(|pair| pair.call).collect()
        } else {
            let is_meant = |part: &&Part| match part {
                Part::ToolCall { arguments, .. } => {
                    let said = if self.path.is_some() {
                        self.names_file(part, text)
                    } else {
                        call::command(arguments).is_some_and(|command| holds(&command, text))
                    };
                    said || self.path.is_none() && holds(arguments, text)
                }
                _ => false,
            };
            let calls = calls(&around[place].message).enumerate();
            let meant = calls.filter(|(_, part)| is_meant(part));
            meant.map(|(nth, _)| (place, nth)).collect()
        };
        wanted
            .into_iter()
            .filter_map(|call| act(around, call, &pairs))
            .collect()
    }

    /// Whether a call names a file that ends so.
    fn names_file(&self, part: &Part, text: &str) -> bool {
        let Part::ToolCall {
            name, arguments, ..
        } = part
        else {
            return false;
        };
        let mut paths = changed_files(name, arguments)
            .into_iter()
            .chain(call::path(arguments));
        paths.any(|path| call::ends_in(&path, text))
            || call::command(arguments).is_some_and(|it| holds(&it, text))
    }
}

/// Whether a text is in another, whatever its case.
fn holds(all: &str, text: &str) -> bool {
    all.to_lowercase().contains(&text.to_lowercase())
}

/// The calls of a message.
fn calls(message: &Message) -> impl Iterator<Item = &Part> {
    let parts = message.parts.iter();
    parts.filter(|part| matches!(part, Part::ToolCall { .. }))
}

/// The call of a message, by the places of both, with what came of it.
fn act(around: &[ReadMessage], (at, nth): (usize, usize), pairs: &Pairs) -> Option<Act> {
    let Part::ToolCall {
        name, arguments, ..
    } = calls(&around[at].message).nth(nth)?
    else {
        return None;
    };
    let behind = || around[at + 1..].iter();
    let pair = pairs.pairs().iter().find(|pair| pair.call == (at, nth));
    let result = pair.and_then(|pair| {
        let parts = around[pair.result.0].message.parts.iter();
        let mut results = parts.filter_map(|part| match part {
            Part::ToolResult { content, .. } => Some((content, part.has_failed())),
            _ => None,
        });
        results.nth(pair.result.1)
    });
    let text = |content: &Vec<Part>| {
        let texts = content.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.trim()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    let next = behind().find(|read| read.message.role == Role::Assistant);
    let edits = Edits::of_call(name, arguments);
    Some(Act {
        id: around[at].id.clone(),
        time_ms: around[at].time_ms,
        call: Brief::of(name, arguments).line(None),
        lines: edits.map(|edits| edits.tally()),
        result: result.map(|(content, _)| ending(&text(content))),
        is_error: result.is_some_and(|(_, is_error)| is_error),
        next: next.map(|read| uses::line(&read.message)),
        directory: None,
    })
}

/// The end of a text, where it is long: what went wrong stands there.
fn ending(text: &str) -> String {
    let count = text.chars().count();
    if count <= RESULT_CHARS {
        return text.to_owned();
    }
    let end: String = text.chars().skip(count - RESULT_CHARS).collect();
    format!("…{end}")
}
