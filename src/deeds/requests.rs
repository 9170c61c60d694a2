//! What a model would be sent at a commit.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::advice::{Exit, command};
pub use super::request::Beginnings;
use super::request::{Said, as_client, client_of, made};
use super::{ApiError, At, Deed, Method, RawJson, Spelled, problem};
use crate::compile::{Compiling, Contents, Notice, Provider, RequestOptions};
use crate::error::Result;
use crate::formats::shared::sent::{Lack, Proof, short};
use crate::hash::CommitHash;
use crate::ingest::sent;
use crate::model::pairs::{Links, Pairs};
use crate::model::{Priority, Role};
use crate::query::{AnsweredRequest, answered_request, newest_request, standing};
use crate::repo::Repo;

/// Why nobody can say whether a request is what was sent.
pub const UNSAID: &str = "the client gives no hash of all that was sent";

/// A request, and what should be known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    /// Its text: JSON, but in the form `text`. Where its beginning was written, what follows.
    pub payload: String,
    /// What had to be repaired or left out, and what it lacks.
    pub notices: Vec<String>,
    /// Whether its client recorded it, so that it is what was sent.
    pub is_recorded: bool,
}

/// The commit whose context a reply answered.
///
/// # Errors
///
/// Where it is no reply of the assistant, or answers nothing; `typed` is what it was called.
pub fn answered_by(repo: &Repo, reply: &CommitHash, typed: &str) -> Result<CommitHash, ApiError> {
    let row = repo.show(reply, repo.config()?.encoding()?)?.row;
    if row.role != Some(Role::Assistant) {
        let fault = ApiError::refused(format!("{typed} is not a reply of the assistant"));
        return Err(fault.with_hint(command(&format!("compile {typed}"))));
    }
    let nothing = || ApiError::refused(format!("{typed} is the first message: it answers nothing"));
    row.commit.parent.ok_or_else(nothing)
}

/// The request that a model would be sent at a commit, or was sent before `reply`: as it was sent, where its client
/// recorded it. `recorded` is what [`answered_request`] found.
///
/// # Errors
///
/// As [`request_payload`].
pub fn requested(
    repo: &Repo,
    commit: &CommitHash,
    of_reply: (Option<&CommitHash>, Option<AnsweredRequest>),
    options: &RequestOptions,
) -> Result<Requested> {
    requested_with(repo, commit, of_reply, options, None)
}

fn requested_with(
    repo: &Repo,
    commit: &CommitHash,
    (reply, recorded): (Option<&CommitHash>, Option<AnsweredRequest>),
    options: &RequestOptions,
    out: Beginnings<'_>,
) -> Result<Requested> {
    let lack = match recorded.map(whole).transpose() {
        Ok(Some((payload, notices))) => {
            return Ok(Requested {
                payload,
                notices,
                is_recorded: true,
            });
        }
        made => made.err(),
    };
    let (payload, mut notices) = payload_with(repo, commit, reply, options, out)?;
    notices.extend(
        lack.map(|lack| format!("made of the messages, for what was sent cannot be told: {lack}")),
    );
    Ok(Requested {
        payload,
        notices,
        is_recorded: false,
    })
}

/// A request as it was sent, and what should be known about it; why it cannot be told, where it cannot.
fn whole(recorded: AnsweredRequest) -> Result<(String, Vec<String>), Lack> {
    let request = recorded.request;
    let mut notices: Vec<String> = request.headers.iter().map(sent_with).collect();
    match request.proof.unwrap_or(Err(Lack::Record))? {
        Proof::Equal => {}
        Proof::Other => {
            notices.push("its hash is not the one that the client made of it".to_owned());
        }
        Proof::Unsaid => notices.push(UNSAID.to_owned()),
    }
    Ok((request.json.ok_or(Lack::Record)?, notices))
}

/// What is said of a header.
fn sent_with((name, value): &(String, String)) -> String {
    format!("sent with the header {name}: {value}")
}

/// The request that a model would be sent at a commit, and what should be known about it; with the settings of the
/// reply to it, if that is known. One that stands behind a request that its client recorded is made as the next one.
///
/// # Errors
///
/// The store's, and in a strict request what would have to be repaired.
pub fn request_payload(
    repo: &Repo,
    commit: &CommitHash,
    reply: Option<&CommitHash>,
    options: &RequestOptions,
) -> Result<(String, Vec<String>)> {
    payload_with(repo, commit, reply, options, None)
}

fn payload_with(
    repo: &Repo,
    commit: &CommitHash,
    reply: Option<&CommitHash>,
    options: &RequestOptions,
    out: Beginnings<'_>,
) -> Result<(String, Vec<String>)> {
    let context = repo.context(commit)?;
    // A reply brings the settings that it was made with.
    let settings = match reply {
        Some(reply) => repo.settings(&repo.context(reply)?)?,
        None => repo.settings(&context)?,
    };
    if options.whole_request
        && let Some(payload) = sent(repo, &context, commit, &settings, options.provider)?
    {
        return Ok((payload, Vec::new()));
    }
    let newest = match options.whole_request {
        true => newest_request(repo, commit, Some(options.provider.as_str()))?,
        false => None,
    };
    let standing = match (&newest, options.whole_request) {
        (None, true) => standing(repo, commit)?,
        _ => None,
    };
    let mut settings = settings;
    let mut beside = Vec::new();
    let (front, tools) = standing.unwrap_or_default();
    if !tools.is_empty() {
        let tools = format!("[{}]", tools.join(","));
        settings.entry("tools".to_owned()).or_insert(tools);
    }
    if !front.is_empty() {
        beside.push("system prompt and tools are those of the session file".to_owned());
    }
    let client = client_of(repo, commit)?;
    let of = Said {
        context: &context,
        settings: &settings,
        front: &front,
        client: &client,
    };
    // What the newest request goes on with is known from all of it.
    let out = out.filter(|_| newest.is_none());
    let (mut payload, mut notices) = made(repo, &of, reply, options, out)?;
    if let Some(newest) = newest {
        let before = repo.settings(&repo.context(&newest.reply)?)?;
        let has_changed = |key: &str| before.get(key) != settings.get(key);
        if let Some(next) = newest.followed_by(&payload, &has_changed) {
            payload = next;
            notices.retain(|notice| !matches!(notice, Notice::DefaultMaxTokens { .. }));
            let reply = newest.reply.short();
            beside.push(format!(
                "system prompt, tools and parameters are those of the request that {reply} answered"
            ));
            beside.extend(newest.headers.iter().map(sent_with));
        }
    }
    if let Some((_, session)) = repo.session_of(commit)?
        && !session.absent.is_empty()
    {
        let absent = session.absent.join(", ");
        beside.push(format!("not in the session file: {absent}"));
    }
    let notices = notices.iter().map(ToString::to_string);
    Ok((payload, notices.chain(beside).collect()))
}

/// Print the request that a model would be sent
///
/// The request is valid by the provider's rules, and has the same bytes every time. Repairs and omissions are
/// reported on standard error. The form is `format`, or else the setting compile.format, or else openai.
///
/// Some clients write each request into the session file. With `for` it is the request as it was sent, and `verify`
/// checks it against the client's own hash. With `request`, system prompt, tools and parameters come from the last
/// request that was sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract compile --format anthropic > request.json
  tract compile a1b2c3d --format text | less     as it was then
  tract compile --last 10 --without-thinking     the newest ten messages; nothing is committed
  tract compile --for :-1 --request              what the last reply answered, with model and tools
  tract compile --for :-1 --verify               whether that is what was sent")
)]
pub struct CompileParams {
    /// The commit whose context is compiled; HEAD unless given
    #[cfg_attr(feature = "cli", arg(value_name = "REV"))]
    pub rev: Option<String>,
    /// The request that this reply answered
    #[serde(rename = "for")]
    #[cfg_attr(
        feature = "cli",
        arg(long = "for", value_name = "REV", conflicts_with = "rev")
    )]
    pub reply: Option<String>,
    /// openai, responses, anthropic, gemini or text
    #[schemars(with = "Option<String>")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "F"))]
    pub format: Option<Spelled<Provider>>,
    /// Add model, limits and tools, from the settings
    #[cfg_attr(feature = "cli", arg(long))]
    pub request: bool,
    /// Only the newest N messages, with the calls that their results answer; system and pinned messages stay
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", conflicts_with_all = ["reply", "request"])
    )]
    pub last: Option<usize>,
    /// Leave the model's thinking out
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["reply", "request"]))]
    pub without_thinking: bool,
    /// Fail if anything has to be repaired
    #[cfg_attr(feature = "cli", arg(long))]
    pub strict: bool,
    /// Say whether the recorded request is what was sent
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            requires = "reply",
            conflicts_with_all = ["format", "request", "strict", "last", "without_thinking"]
        )
    )]
    pub verify: bool,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CompileAnswer {
    /// The commit whose context it is.
    pub commit: String,
    /// It, its keys in the order in which a provider is sent them; a string in the form `text`.
    pub payload: RawJson,
    /// What had to be repaired or left out, and what it lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// Whether its client recorded it, so that it is what was sent.
    pub is_recorded: bool,
    /// Where `verify` asks for it: whether it is what was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<VerifiedRequest>,
}

/// What the client's own hash says of a request that it recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifiedRequest {
    /// Whether it is what was sent, byte for byte.
    pub is_proved: bool,
    /// The client's hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Why it is not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whether that is damage: the file's records make another request, or cannot tell one. Some clients give no hash.
    pub is_damaged: bool,
    /// What is wrong with the records of requests in the session's file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl From<&AnsweredRequest> for VerifiedRequest {
    fn from(recorded: &AnsweredRequest) -> Self {
        let request = &recorded.request;
        let digest = request.digest.as_deref().map_or("", short);
        let proof = request.proof.clone().unwrap_or(Err(Lack::Record));
        let why = match &proof {
            Ok(Proof::Equal) => None,
            Ok(Proof::Other) => Some(format!(
                "the client's hash is {digest}, and its records make another"
            )),
            Ok(Proof::Unsaid) => Some(UNSAID.to_owned()),
            Err(lack) => Some(lack.to_string()),
        };
        Self {
            is_proved: why.is_none(),
            why,
            is_damaged: !matches!(proof, Ok(Proof::Equal | Proof::Unsaid)),
            digest: request.digest.clone(),
            problems: recorded.problems.iter().map(problem).collect(),
        }
    }
}

/// A request that was compiled.
pub struct CompiledRequest {
    /// The commit whose context it is.
    pub commit: CommitHash,
    /// It.
    pub requested: Requested,
    /// Its form.
    pub provider: Provider,
    /// Whether it is what was sent, where that was asked.
    pub verified: Option<VerifiedRequest>,
}

/// A request that is to be made.
pub struct MeantRequest<'a> {
    params: &'a CompileParams,
    commit: CommitHash,
    /// The reply that it was answered by, where that is named.
    reply: Option<CommitHash>,
    recorded: Option<AnsweredRequest>,
    options: RequestOptions,
}

impl CompileParams {
    /// The request that is meant.
    ///
    /// # Errors
    ///
    /// Where what is named is no commit, or no reply; where a request is to be verified that nobody recorded.
    pub fn meant(&self, at: &At<'_>) -> Result<MeantRequest<'_>, ApiError> {
        let named = |rev: &String| at.commit(rev).map(|commit| (commit, rev.clone()));
        let reply = self.reply.as_ref().map(named).transpose()?;
        let commit = match (&reply, &self.rev) {
            (Some((reply, typed)), _) => answered_by(at.repo, reply, typed)?,
            (None, Some(rev)) => at.commit(rev)?,
            (None, None) => at.resolve(None)?,
        };
        let form = self.format.map(|format| format.0);
        let recorded = match &reply {
            Some((reply, _)) => answered_request(at.repo, reply, form.map(Provider::as_str))?,
            None => None,
        };
        if self.verify && recorded.is_none() {
            let fault = ApiError::refused("no request is recorded for this reply");
            return Err(fault.with_hint("`tract compile --for REV` makes it of the messages"));
        }
        let options = RequestOptions {
            provider: form.map_or_else(|| at.provider(None), Ok)?,
            whole_request: self.request,
            strict: self.strict,
        };
        if self.last == Some(0) {
            let what = "'last' is at least 1: a request needs a message";
            return Err(ApiError::params(what));
        }
        Ok(MeantRequest {
            params: self,
            commit,
            reply: reply.map(|(reply, _)| reply),
            recorded,
            options,
        })
    }
}

impl MeantRequest<'_> {
    /// Makes it, and may write the beginning of a long one before all of it is read.
    ///
    /// # Errors
    ///
    /// As [`requested`].
    pub fn make(self, repo: &Repo, out: Beginnings<'_>) -> Result<CompiledRequest> {
        let (params, commit, options) = (self.params, self.commit, self.options);
        let asked = self.recorded.as_ref().filter(|_| params.verify);
        let verified = asked.map(Into::into);
        let requested = if params.last.is_some() || params.without_thinking {
            let (payload, notices) = params.excerpt(repo, &commit, &options)?;
            Requested {
                payload,
                notices,
                is_recorded: false,
            }
        } else {
            let of_reply = (self.reply.as_ref(), self.recorded);
            requested_with(repo, &commit, of_reply, &options, out)?
        };
        Ok(CompiledRequest {
            commit,
            requested,
            provider: options.provider,
            verified,
        })
    }
}

impl CompileParams {
    /// The request of some of the messages, or of less of each.
    fn excerpt(
        &self,
        repo: &Repo,
        commit: &CommitHash,
        options: &RequestOptions,
    ) -> Result<(String, Vec<String>)> {
        let context = repo.context(commit)?;
        let settings = repo.settings(&context)?;
        let mut messages = repo.messages(&context)?;
        if let Some(last) = self.last {
            let links: Vec<Links> = messages.iter().map(Links::of).collect();
            let pairs = Pairs::new(&links);
            let first = messages.len().saturating_sub(last);
            let called = (first..messages.len()).flat_map(|at| pairs.group_of(at));
            let called: HashSet<usize> = called.copied().collect();
            let mut at = 0..;
            messages.retain(|message| {
                let at = at.next().unwrap_or_default();
                let is_pinned = context.entries[at].priority == Priority::Pinned;
                at >= first || called.contains(&at) || is_pinned || message.role.is_system()
            });
        }
        if self.without_thinking {
            for message in &mut messages {
                message.parts.retain(|part| !part.is_thinking());
            }
            messages.retain(|message| !message.parts.is_empty());
        }
        let contents = Contents::new();
        let mut making = Compiling::new(&contents, &settings, options);
        as_client(&mut making, &client_of(repo, commit)?);
        messages.into_iter().for_each(|message| making.add(message));
        let made = making.finish()?;
        let notices = made.notices.iter().map(ToString::to_string);
        Ok((made.payload, notices.collect()))
    }
}

impl Method for CompileParams {
    const NAME: &'static str = "compile";
    const CHANGES: bool = false;
    type Answer = CompileAnswer;

    fn check(&self) -> Result<(), ApiError> {
        let what = match self {
            _ if self.reply.is_some() && self.rev.is_some() => "'rev' or 'for', not both",
            _ if (self.last.is_some() || self.without_thinking)
                && (self.reply.is_some() || self.request) =>
            {
                "'last' and 'without_thinking' go with neither 'for' nor 'request'"
            }
            _ if !self.verify => return Ok(()),
            _ if self.reply.is_none() => "'verify' is about the request that 'for' names",
            _ if self.format.is_some() || self.request || self.strict => {
                "'verify' is about what was recorded: it takes no 'format', 'request' or 'strict'"
            }
            _ => return Ok(()),
        };
        Err(ApiError::params(what))
    }

    fn exit(answer: &CompileAnswer) -> Option<Exit> {
        let verified = answer.verified.as_ref().filter(|it| !it.is_proved)?;
        Some(match verified.is_damaged {
            true => Exit::Damaged,
            false => Exit::NotAllowed,
        })
    }

    fn act(self, at: &mut At<'_>) -> Result<CompileAnswer, ApiError> {
        let made = self.meant(at)?.make(at.repo, None)?;
        let requested = made.requested;
        let is_text = made.provider == Provider::Text && !requested.is_recorded;
        Ok(CompileAnswer {
            commit: made.commit.to_string(),
            payload: match is_text {
                true => RawJson::string(&requested.payload),
                false => RawJson::of(requested.payload),
            },
            notices: requested.notices,
            is_recorded: requested.is_recorded,
            verified: made.verified,
        })
    }
}

impl Deed for CompileParams {
    const PLACES: &'static [&'static str] = &["rev"];
    const REVISIONS: &'static [&'static str] = &["rev", "for"];
}
