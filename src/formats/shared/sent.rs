//! The requests that a client wrote into a session's file, each as it was sent.
//!
//! Deliberately absent: how a client writes them, and which commit a reply has become.

mod difference;

use std::collections::HashMap;
use std::fmt;

pub use difference::{
    ByteDifference, MessagesDifference, SentDifference, SystemDifference, ToolsDifference,
};

use serde_json::value::RawValue;

use crate::error::Result;
use crate::formats::{Input, Problem};
use crate::model::{Millis, Span};
use crate::wire::javascript::JsValue;
use crate::wire::json::{decode, string};

/// The request that would be sent behind one that was, in JSON: of what is made of the context by now, and of whether the
/// setting of a name is another one.
pub type Next = fn(sent: &str, made: &str, has_changed: &dyn Fn(&str) -> bool) -> Option<String>;

/// How a format's files hold requests.
#[derive(Clone, Copy)]
pub struct ReadSent {
    /// Reads all requests of a source, oldest first, with what is asked for beyond their heads.
    pub read: fn(&dyn Input, Wanted<'_>) -> Result<SentRequests>,
    /// The id of the request that a reply's record answers.
    pub answered_by: fn(record: &str) -> Option<String>,
    /// The request that the client would send behind one that it sent.
    pub next: Next,
    /// How in each of these pairs of requests, by their ids, the second differs from the first. Two bodies are held
    /// at a time.
    pub differences: Compare,
}

/// What compares requests of a source.
pub type Compare = fn(&dyn Input, &[[String; 2]]) -> Result<Vec<Compared>>;

/// How a request differs from one before it, or why nobody can tell.
pub type Compared = std::result::Result<SentDifference, Lack>;

/// What is wanted of requests beyond their heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// Nothing.
    Heads,
    /// All of the one of this id, as it was sent.
    Whole(&'a str),
    /// Whether each is what was sent.
    Proofs,
}

/// What a source holds of requests.
#[derive(Debug, Default)]
pub struct SentRequests {
    /// The requests, oldest first.
    pub requests: Vec<SentRequest>,
    /// A request without messages, in JSON: the system prompt and the tools that the newest one had, where the source holds
    /// them beside all requests.
    pub standing: Option<String>,
    /// What is wrong with the records that hold them.
    pub problems: Vec<Problem>,
    /// What the provider said of what its cache did not have, by where the reply's record begins.
    pub said_misses: HashMap<u64, SaidMiss>,
}

/// Why a cache did not have the beginning of a request, in the provider's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidMiss {
    /// Its word for the reason. Hostile until escaped.
    pub reason: String,
    /// How many tokens it did not have, as the provider counts them; none where that is not said, or is no count.
    pub tokens: Option<u64>,
    /// Whether what is said there is no count.
    pub is_odd: bool,
}

/// A request as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentRequest {
    /// Its id in the source.
    pub id: String,
    /// Where its record stands.
    pub place: Span,
    /// When it was sent.
    pub time: Option<Millis>,
    /// What of the client asked, in the client's words. Hostile until escaped.
    pub asked_by: Option<String>,
    /// The model. Hostile until escaped.
    pub model: Option<String>,
    /// How many messages it has.
    pub messages: u64,
    /// How many of them the request before, in its chain, had, too.
    pub shared: u64,
    /// The hash of its system prompt and tools, in hex.
    pub shape: Option<String>,
    /// Where the first record of the reply begins that answers it; none where the file has none.
    pub reply: Option<u64>,
    /// The client's SHA-256 of it, in hex.
    pub digest: Option<String>,
    /// What was sent beside the body: a header's name and its value.
    pub headers: Vec<(String, String)>,
    /// Whether what the file tells of it is what was sent; none where that was not asked for.
    pub proof: Option<std::result::Result<Proof, Lack>>,
    /// Its JSON in the order in which its client writes it, without what its file does not hold; none where it was
    /// not asked for, or cannot be told.
    pub json: Option<String>,
}

/// What the client's hash of a request says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It is of just these bytes.
    Equal,
    /// It is of others.
    Other,
    /// The client gives no hash of all that was sent.
    Unsaid,
}

/// Why a request cannot be told as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The request that it goes on from is not before it in the file.
    Base(String),
    /// It takes more messages from the request that it goes on from than that has.
    Kept {
        /// How many it takes.
        kept: u64,
        /// How many there are.
        of: u64,
    },
    /// The request that it goes on from cannot be told.
    Before(String),
    /// A mark stands where the request has nothing.
    Mark,
    /// The message of this hash is not in the file.
    Message(String),
    /// The system prompt and tools of this hash are not in the file.
    Shape(String),
    /// Its record is not what such a record is.
    Record,
    /// It is not in the file.
    Request(String),
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base(id) => write!(
                f,
                "it goes on from the request {id}, which is not before it"
            ),
            Self::Kept { kept, of } => {
                write!(f, "it takes {kept} messages of a request that has {of}")
            }
            Self::Before(id) => write!(f, "it goes on from the request {id}, which cannot be told"),
            Self::Mark => f.write_str("a mark of the cache stands where it has nothing"),
            Self::Message(hash) => write!(f, "its message {} is not in the file", short(hash)),
            Self::Shape(hash) => {
                write!(
                    f,
                    "its system prompt and tools {} are not in the file",
                    short(hash)
                )
            }
            Self::Record => f.write_str("its record cannot be read"),
            Self::Request(id) => write!(f, "the request {id} is not in the file"),
        }
    }
}

/// The front of a hash in hex, for people.
pub fn short(hash: &str) -> &str {
    hash.get(..7).unwrap_or(hash)
}

/// The texts of a request's system prompt, and its tools, as they stand in its JSON.
pub fn beside_messages(json: &str) -> Option<(Vec<String>, Vec<String>)> {
    lazy! { struct Request { system, tools } }
    lazy! { struct Block { text } }
    let request: Request<'_> = serde_json::from_str(json).ok()?;
    let blocks: Vec<Block<'_>> = decode(request.system).unwrap_or_default();
    let tools: Vec<&RawValue> = decode(request.tools).unwrap_or_default();
    let text = |block: &Block<'_>| {
        // What is no text outside of JSON, as half a letter, is taken as it stands there.
        string(block.text).or_else(|| Some(block.text?.get().to_owned()))
    };
    let tools = tools.into_iter().map(|tool| tool.get().to_owned());
    Some((blocks.iter().filter_map(text).collect(), tools.collect()))
}

/// A string as a block.
pub(in crate::formats) fn block_of<'a>(text: &JsValue<'a>) -> JsValue<'a> {
    JsValue::object([("type", JsValue::text("text")), ("text", text.clone())])
}

/// A message whose content is a string means what one with one block means: it has that block instead.
pub(in crate::formats) fn as_blocks(message: &mut JsValue<'_>) {
    if let Some(content) = message
        .get_mut("content")
        .filter(|content| content.is_text())
    {
        *content = JsValue::List(vec![block_of(content)]);
    }
}
