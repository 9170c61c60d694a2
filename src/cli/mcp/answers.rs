//! What tools answer beside their text, as types: what their schema is made of. Texts are cut and folded as in the text,
//! times are as people say them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

/// What was found in one place.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnswerPart<T> {
    /// Where: this conversation, other conversations of this project, project NAME.
    pub of: String,
    /// What, the best or the newest first.
    pub found: Vec<T>,
}

/// What `recall` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Recalled {
    /// By where it stands, the nearest place first.
    pub parts: Vec<AnswerPart<RecalledMessage>>,
    /// How many more were found than there is room for.
    pub left_out: usize,
    /// Whether there are more than were looked at.
    pub more: bool,
    /// What else there is to say: that secrets were left out, what to try next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A message that was recalled.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecalledMessage {
    /// For `read` and `pin`.
    pub id: String,
    /// When.
    pub time: String,
    /// Who speaks.
    pub role: &'static str,
    /// What hides it from the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_by: Option<&'static str>,
    /// That it was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<RecalledRetraction>,
    /// The lines that answer best.
    pub lines: Vec<String>,
}

/// That a message was taken back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecalledRetraction {
    /// When, where something says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The message that was chosen instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How that begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// What `read` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ReadPage {
    /// The messages, or what of them is on this page.
    pub messages: Vec<ReadPiece>,
    /// Which page it is, from 1.
    pub page: usize,
    /// Of so many.
    pub pages: usize,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A message word for word.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReadPiece {
    /// Its id.
    pub id: String,
    /// Its number in the context, from 1; none if it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// Who speaks.
    pub role: &'static str,
    /// When.
    pub time: String,
    /// What it says, each line behind a margin.
    pub text: String,
}

/// What `dropped` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Removed {
    /// Of which conversation.
    pub of: String,
    /// What hid it; none: nothing was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its kind: compaction, truncation or clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// How many messages it hid.
    pub messages: usize,
    /// Their tokens.
    pub tokens: u64,
    /// What the user said, the newest first.
    pub prompts: Vec<RemovedText>,
    /// The files that were changed or read, the most changed first.
    pub files: Vec<RemovedFile>,
    /// The commands that were run, the newest first.
    pub commands: Vec<RemovedText>,
    /// How many more there are of these.
    pub left_out: usize,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A text among what was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RemovedText {
    /// The message that it stands in.
    pub id: String,
    /// How it begins.
    pub text: String,
}

/// A file that removed messages are about.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RemovedFile {
    /// The last message that is about it.
    pub id: String,
    /// Its path.
    pub path: String,
    /// In how many calls it was changed.
    pub changed: usize,
    /// In how many calls it was read.
    pub read: usize,
}

/// What `did` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct DoneCalls {
    /// By where it was done, the nearest place first.
    pub parts: Vec<AnswerPart<DoneCall>>,
    /// How many more were found than there is room for.
    pub left_out: usize,
    /// Whether there are more, older ones.
    pub more: bool,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A call, and what came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoneCall {
    /// The message that calls.
    pub id: String,
    /// When.
    pub time: String,
    /// The call in a line.
    pub call: String,
    /// How many lines of files came, where it edits any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_added: Option<usize>,
    /// How many went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_removed: Option<usize>,
    /// What it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether it failed.
    pub is_error: bool,
    /// What was said or done next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What `context` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Fullness {
    /// How many messages are in the context.
    pub messages: u64,
    /// How many are hidden.
    pub hidden: u64,
    /// The tokens of those that are in it.
    pub tokens: u64,
    /// The same by the provider's count: at least, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_tokens: Option<(u64, u64)>,
    /// How many tokens there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// How much of that is used, in hundredths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_percent: Option<u64>,
    /// Who fills it.
    pub filled_by: Vec<RoleShare>,
    /// The largest message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<LargestPiece>,
    /// The provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheAge>,
    /// What was started in the background and has no end in the record, the newest last.
    pub running: Vec<RunningEntry>,
    /// How many older ones there are.
    pub running_left_out: usize,
    /// What the conversation cost so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostSoFar>,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A role's share of the tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RoleShare {
    /// The role.
    pub role: &'static str,
    /// In hundredths.
    pub percent: u64,
}

/// The message with the most tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LargestPiece {
    /// Its number in the context, from 1.
    pub number: usize,
    /// Its tokens.
    pub tokens: u64,
    /// What it is, in a line.
    pub what: String,
}

/// How old the provider's cache is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CacheAge {
    /// Whether it is gone by now.
    pub is_cold: bool,
    /// How long ago it was used last.
    pub last_used: String,
    /// For how long it is kept.
    pub kept_for: String,
}

/// An agent or a shell in the background.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunningEntry {
    /// Agent or shell.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// The id of the sub-agent that started it, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Since when.
    pub since: String,
    /// Whether the session has been silent for more than a day: then nothing tells whether it still runs.
    pub is_stale: bool,
    /// Its prompt or its command.
    pub what: String,
}

/// What a conversation cost, at list prices.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CostSoFar {
    /// In US dollars.
    pub dollars: String,
    /// For so many replies.
    pub replies: u64,
    /// How many more have no price.
    pub unpriced: u64,
    /// How many were recorded with less output than their text has: the sum is at least this.
    pub short_outputs: u64,
}

/// What `pin` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pinned {
    /// The message.
    pub id: String,
    /// The commit that pins it; none: it was pinned already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The schema of an answer, with all that it holds in its place.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let inline = settings.with(|it| it.inline_subschemas = true);
    let mut schemas: SchemaGenerator = inline.into_generator();
    let schema = schemas.root_schema_for::<T>();
    let mut schema = Value::from(schema);
    if let Some(schema) = schema.as_object_mut() {
        schema.retain(|key, _| !matches!(&**key, "$schema" | "title" | "description"));
    }
    schema
}

/// An answer as JSON.
pub fn as_json(answer: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(answer) {
        Ok(Value::Object(answer)) => answer,
        // Their fields are texts and numbers.
        _ => Map::new(),
    }
}
