//! One commit with everything that belongs to it, or several, one after the other.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::cost::prices;
use crate::deeds::{ApiError, At, Counted, Deed, LogEntry, Method, TagFacts, TouchedMessage};
use crate::error::{Error, Refusal};
use crate::formats::shared::reply_notes::Remarked;
use crate::hash::CommitHash;
use crate::ingest::{agents, remarked};
use crate::model::price::is_usual_tier;
use crate::model::{Media, MediaSource, Message, Operation, Part, RefName};
use crate::query::{BilledReply, Life, LogOptions, Shown};
use crate::repo::TagRow;

/// Show one commit in full, or a range
///
/// Of a hide it gives what stands in place of the hidden messages, and what it hid; of an edit, the text before it; of
/// a reply that its provider counted, its model, what was counted, and what it cost by the list price of its day.
/// REV#2 is one part of the message, counted from 0. A..B are the commits that lead from A to B, oldest first; :3..5 are
/// the messages 3 to 5.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ShowParams {
    /// The commit, instead of HEAD; REV#PART: a part of it; A..B: the commits from A to B; :3..5: messages 3 to 5
    #[cfg_attr(feature = "cli", arg(value_name = "REV|A..B"))]
    pub rev: Option<String>,
    /// Write the picture or file in it to FILE, and print nothing
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub image: Option<PathBuf>,
    /// Which picture, if there are several, counted from 1
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", requires = "image"))]
    pub which: Option<usize>,
    /// Overwrite an existing file
    #[cfg_attr(feature = "cli", arg(long, requires = "image"))]
    pub force: bool,
}

/// A commit with everything that belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ShowAnswer {
    /// The commit.
    pub commit: LogEntry,
    /// The message that it appends or gives to an entry, in the form of docs/object-format.md.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub message: Option<Message>,
    /// What an edit replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub replaced: Option<Message>,
    /// What a hide put in place: markers, summaries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub replacements: Vec<Message>,
    /// The number of the part that was asked for, from 0: the message, or the replacement, holds that one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// The message that an edit is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<String>,
    /// The messages that went hidden, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<TouchedMessage>,
    /// The messages that stayed between these, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stayed: Vec<TouchedMessage>,
    /// The parts of messages that a hide took out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<HiddenPart>,
    /// The messages that came back, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub returned: Vec<TouchedMessage>,
    /// What a restore was to bring back and another hide still covers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub still_hidden: Vec<StillCovered>,
    /// The messages that an annotation names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub annotated: Vec<TouchedMessage>,
    /// The tags at the commit that keep a note.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<TagFacts>,
    /// The branches or sessions of the sub-agents that the message calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// The records behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceRecords>,
    /// What the provider counted for it, where it is a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// The model that made it, where it is a reply that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it cost, in US dollars by the list price of its day; none where the model has no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
    /// Why the reply ended, in the vendor's word. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// The tier of service, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The speed, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<String>,
    /// What became of the message since, where HEAD is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<ChangedSince>,
    /// With `image` what was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<WrittenMedia>,
    /// The commits behind it, where a range was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<ShowAnswer>,
}

/// A part of a message that a hide took out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HiddenPart {
    /// The message's number before, from 1; none if it was hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// Which part it is, from 0.
    pub part: u32,
    /// One line of what stands in its place. What somebody else wrote: escape it before it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stub: Option<String>,
}

/// A message that another hide covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StillCovered {
    /// Its name.
    pub id: String,
    /// The commit that hides it.
    pub hide: String,
    /// The kind of that hide.
    pub kind: &'static str,
}

/// Records of a session's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceRecords {
    /// The format.
    pub format: String,
    /// How many there are.
    pub records: usize,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChangedSince {
    /// The newest edit of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// The message as it reads now, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub message: Option<Message>,
    /// Each change of its priority, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityChange>,
}

/// A change of a message's priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PriorityChange {
    /// The commit.
    pub commit: String,
    /// The priority.
    pub priority: &'static str,
    /// The reason that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A picture or file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WrittenMedia {
    /// Its media type, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// How many bytes it has.
    pub bytes: usize,
}

/// What `#N` of a commit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitPiece {
    /// One of several messages that it put in place.
    Message(usize),
    /// A part of its one message.
    Part(usize),
}

impl CommitPiece {
    fn of(shown: &Shown, number: usize) -> Result<Self, ApiError> {
        let (count, piece) = match (&shown.message, shown.replacements.as_slice()) {
            (None, [_, _, ..]) => (shown.replacements.len(), Self::Message(number)),
            (Some(one), _) | (None, [one]) => (one.parts.len(), Self::Part(number)),
            (None, []) => (0, Self::Part(number)),
        };
        match count.checked_sub(1) {
            None => {
                let fault = ApiError::refused("it has no parts");
                Err(fault.with_hint("`tract show` shows all of it"))
            }
            Some(last) if number > last => {
                let refusal = Refusal::NoSuchPart { part: number, last };
                Err(Error::Refused(refusal).into())
            }
            Some(_) => Ok(piece),
        }
    }

    /// Leaves it alone of what a commit brings.
    fn keep(self, shown: &mut Shown) {
        match self {
            Self::Message(at) => shown.replacements = vec![shown.replacements.remove(at)],
            Self::Part(at) => {
                let mut messages = shown.message.iter_mut().chain(&mut shown.replacements);
                if let Some(message) = messages.next() {
                    message.parts = vec![message.parts.remove(at)];
                }
            }
        }
    }
}

/// A commit with all that is known of it.
pub struct CommitWhole {
    /// The commit.
    pub shown: Shown,
    /// What of it is asked for; none: all.
    pub piece: Option<CommitPiece>,
    /// The annotated tags there.
    pub tags: Vec<TagRow>,
    /// The sub-agents that it calls.
    pub agents: Vec<RefName>,
    /// What its provider counted, without a price.
    pub reply: Option<BilledReply>,
    /// What its provider said of it.
    pub said: Remarked,
    /// What became of it since.
    pub life: Life,
}

impl CommitWhole {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// Where it has no such part; the store's.
    pub fn read(at: &At<'_>, hash: &CommitHash, part: Option<u32>) -> Result<Self, ApiError> {
        let repo = at.repo;
        let shown = repo.show(hash, at.encoding()?)?;
        let piece = part.map(|number| CommitPiece::of(&shown, number as usize));
        let piece = piece.transpose()?;
        let mut tags = repo.tags()?;
        tags.retain(|tag| tag.note.is_some() && shown.row.refs.contains(&tag.name));
        let mut whole = Self {
            shown,
            piece,
            tags,
            agents: Vec::new(),
            reply: None,
            said: Remarked::default(),
            life: Life::default(),
        };
        let Operation::Append { .. } = &whole.shown.row.commit.operation else {
            return Ok(whole);
        };
        if let Some(message) = &whole.shown.message {
            whole.agents = agents(repo, hash, message)?;
            whole.said = remarked(repo, hash)?;
            whole.reply = repo.counted_reply(hash)?;
        }
        if let Some(reply) = &mut whole.reply {
            let tier = whole.said.tier.clone().filter(|tier| !is_usual_tier(tier));
            reply.tier = tier.or(reply.tier.take());
        }
        if let (None, Some(tip)) = (piece, repo.head(&at.on)?.commit()) {
            whole.life = repo.life(hash, &tip)?;
        }
        Ok(whole)
    }

    /// The picture or file in it that is meant, and its bytes.
    fn media(&self, which: Option<usize>) -> Result<(&Media, Vec<u8>), ApiError> {
        let messages = || self.shown.message.iter().chain(&self.shown.replacements);
        fn of_message(message: &Message) -> impl Iterator<Item = &Media> {
            message.parts.iter().flat_map(held)
        }
        let all: Vec<&Media> = match self.piece {
            Some(CommitPiece::Part(at)) => {
                let parts = messages().flat_map(|message| message.parts.get(at));
                parts.flat_map(held).collect()
            }
            Some(CommitPiece::Message(at)) => of_message(&self.shown.replacements[at]).collect(),
            None => messages().flat_map(of_message).collect(),
        };
        let media = one(&all, which, &self.shown.row.hash.short())?;
        match (&media.source, media.bytes()) {
            (_, Some(bytes)) => Ok((media, bytes)),
            (MediaSource::Base64(_), None) => {
                let what = "it is not base64, so there are no bytes to write";
                Err(ApiError::refused(what))
            }
            (MediaSource::Url(place) | MediaSource::FileId(place), None) => {
                let what = "it is not here: the message only says where it is";
                Err(ApiError::refused(what).with_hint(place.clone()))
            }
        }
    }

    fn facts(self, at: &At<'_>) -> Result<ShowAnswer, ApiError> {
        let Self {
            mut shown,
            piece,
            tags,
            agents,
            mut reply,
            said,
            life,
        } = self;
        if let Some(piece) = piece {
            piece.keep(&mut shown);
        }
        if let Some(reply) = &mut reply {
            reply.price(&prices(at.repo)?);
        }
        let still_hidden = shown.still_hidden.iter();
        let priorities = life.priorities.into_iter();
        let since = ChangedSince {
            edited: life.edited.map(|edit| edit.to_string()),
            message: life.current,
            priorities: priorities
                .map(|(commit, priority, reason)| PriorityChange {
                    commit: commit.to_string(),
                    priority: priority.as_str(),
                    reason,
                })
                .collect(),
        };
        let is_changed =
            since.edited.is_some() || since.message.is_some() || !since.priorities.is_empty();
        Ok(ShowAnswer {
            counted: reply.as_ref().map(|reply| reply.usage.into()),
            dollars: reply.as_ref().and_then(|reply| reply.dollars),
            model: reply.and_then(|reply| reply.model),
            commit: LogEntry::of(&shown.row),
            part: piece.map(|(CommitPiece::Message(at) | CommitPiece::Part(at))| at),
            edits: match &shown.row.commit.operation {
                Operation::Edit { target, .. } => Some(target.to_string()),
                _ => None,
            },
            hidden: TouchedMessage::of(&shown.hidden),
            stayed: TouchedMessage::of(&shown.survivors),
            returned: TouchedMessage::of(&shown.returned),
            annotated: TouchedMessage::of(&shown.targets),
            still_hidden: still_hidden
                .map(|(entry, hide, kind)| StillCovered {
                    id: entry.to_string(),
                    hide: hide.to_string(),
                    kind: kind.as_str(),
                })
                .collect(),
            parts: shown
                .parts
                .into_iter()
                .map(|one| HiddenPart {
                    number: one.number,
                    part: one.part,
                    stub: one.stub,
                })
                .collect(),
            tags: tags.into_iter().map(Into::into).collect(),
            agents: agents.iter().map(ToString::to_string).collect(),
            source: shown.source.map(|(format, spans)| SourceRecords {
                format,
                records: spans.len(),
            }),
            message: shown.message,
            replaced: shown.replaced,
            replacements: shown.replacements,
            stop: said.stop,
            tier: said.tier,
            speed: said.speed,
            since: is_changed.then_some(since),
            written: None,
            next: Vec::new(),
        })
    }
}

/// The one that is meant of those in a commit.
fn one<'a>(all: &[&'a Media], which: Option<usize>, hash: &str) -> Result<&'a Media, ApiError> {
    let hint = format!("`--which N`, from 1 to {}", all.len());
    match (all, which) {
        ([], _) => {
            let fault = ApiError::refused("there is no picture and no file in it");
            Err(fault.with_hint(format!("`tract show {hash}` says what is in it")))
        }
        ([only], None) => Ok(only),
        (all, None) => {
            let what = format!("which one? there are {}", all.len());
            Err(ApiError::params(what).with_hint(hint))
        }
        (all, Some(which)) => {
            let found = which.checked_sub(1).and_then(|at| all.get(at)).copied();
            found.ok_or_else(|| {
                let what = format!("there is no number {which} among {}", all.len());
                ApiError::refused(what).with_hint(hint)
            })
        }
    }
}

/// The pictures and files in a part, those of a tool's result too.
fn held(part: &Part) -> Vec<&Media> {
    match part {
        Part::Image(media) | Part::File(media) => vec![media],
        Part::ToolResult { content, .. } => content.iter().flat_map(held).collect(),
        _ => Vec::new(),
    }
}

impl ShowParams {
    /// The commits that are meant, oldest first, and of a single one the part, if one is named.
    ///
    /// # Errors
    ///
    /// Where a name is none, or a picture of a range is asked for.
    pub fn named(&self, at: &At<'_>) -> Result<Vec<(CommitHash, Option<u32>)>, ApiError> {
        let rev = self.rev.as_deref().unwrap_or("HEAD");
        // A text that is looked for may hold dots of its own.
        if rev.starts_with(":/") || !rev.contains("..") {
            return Ok(vec![at.repo.resolve_part(&at.on, rev)?]);
        }
        if self.image.is_some() {
            let what = "a picture is of one commit, not of a range";
            return Err(ApiError::params(what));
        }
        if let Some(messages) = at.messages_of(rev)? {
            let messages = messages.map(|rev| at.repo.resolve_part(&at.on, &rev));
            return Ok(messages.collect::<crate::Result<_>>()?);
        }
        let (tip, until) = at.repo.resolve_range(&at.on, rev)?;
        let options = LogOptions {
            until,
            ..LogOptions::default()
        };
        let rows = at.repo.commits_of(&tip, &options)?;
        Ok(rows.into_iter().rev().map(|hash| (hash, None)).collect())
    }

    /// Writes the picture or file that is meant.
    ///
    /// # Errors
    ///
    /// Where there is none, or several and none is named; the host's.
    pub fn write(
        &self,
        at: &At<'_>,
        whole: &CommitWhole,
    ) -> Result<Option<WrittenMedia>, ApiError> {
        let Some(path) = &self.image else {
            return Ok(None);
        };
        let (media, bytes) = whole.media(self.which)?;
        at.host.write_file(path, self.force, &bytes)?;
        Ok(Some(WrittenMedia {
            media_type: media.media_type.clone(),
            bytes: bytes.len(),
        }))
    }
}

impl Method for ShowParams {
    const NAME: &'static str = "show";
    const CHANGES: bool = false;
    type Answer = ShowAnswer;

    fn check(&self) -> Result<(), ApiError> {
        if self.image.is_none() && (self.which.is_some() || self.force) {
            return Err(ApiError::params("'which' and 'force' are of an 'image'"));
        }
        Ok(())
    }

    fn act(self, at: &mut At<'_>) -> Result<ShowAnswer, ApiError> {
        let mut answers = Vec::new();
        for (hash, part) in self.named(at)? {
            let whole = CommitWhole::read(at, &hash, part)?;
            let written = self.write(at, &whole)?;
            answers.push(ShowAnswer {
                written,
                ..whole.facts(at)?
            });
        }
        if answers.is_empty() {
            return Err(ApiError::refused("no such commits"));
        }
        let mut first = answers.remove(0);
        first.next = answers;
        Ok(first)
    }
}

impl Deed for ShowParams {
    const PLACES: &'static [&'static str] = &["rev"];
}
