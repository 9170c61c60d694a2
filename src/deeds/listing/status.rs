//! Where one is, and how full the context is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::cost::{CacheState, Spending, cache_state, spending};
use crate::deeds::{ApiError, At, Deed, LogEntry, Method, Position, Tokens, usual_prune};
use crate::ingest;
use crate::model::{HideKind, Millis, Speaker, TokenCount};
use crate::query::{Large, RunningWork, Stuff};
use crate::rewrite::{Limits, Plan, Prune, Surgery, SurgeryOptions};
use crate::sync::Upstream;

/// Show where you are and how full the context is
///
/// HEAD, the messages that a model would be sent, their tokens, and the newest commits. Tokens
/// are the provider's count where its replies tell it, and tract's own count otherwise.
///
/// With verbose also how the two counts compare, and what the session has cost and the next message will.
/// Then come what fills the context (tools, thinking, pictures, what the client attached), the ten largest
/// messages, and what a prune would give back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract status
  tract status -v                  how tokens are counted, what they cost, what fills the context
  tract --on experiment status     as if HEAD were that branch")
)]
pub struct StatusParams {
    /// How tokens are counted, what they cost, what fills the context, and the largest messages
    #[cfg_attr(feature = "cli", arg(short, long))]
    pub verbose: bool,
}

/// Where one is, and how full the context is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// Where HEAD, or the branch that is meant, stands.
    pub position: Position,
    /// Visible messages.
    pub messages: u64,
    /// Hidden messages.
    pub hidden: u64,
    /// The active hides of each kind that has any.
    pub hides: Vec<(&'static str, u32)>,
    /// The context's tokens, by tract's own count.
    pub tokens: Tokens,
    /// The least and the most that it may have by the provider's count, where replies tell that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_tokens: Option<(u64, u64)>,
    /// The budget (`budget.max`), in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// The tokens of each role that speaks; what a client says in the user's name is `injected`.
    pub by_role: Vec<(&'static str, u64)>,
    /// The largest message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<LargestMessage>,
    /// The session that this history came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionFacts>,
    /// How many messages of that session came in after the branch left it.
    pub session_new: u64,
    /// Whether the provider's cache still has the context, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheState>,
    /// How the budgets of money stand that are set (`budget.day`, `budget.month`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spending: Option<Spending>,
    /// What is merged there and has conflicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merging: Option<String>,
    /// Agents and shells in the background that have no end in the session: they may run still. On a server only with
    /// `verbose`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<RunningFacts>,
    /// The newest commits, newest first, without the refs that point at them.
    pub recent: Vec<LogEntry>,
    /// The branch of a remote that this one follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<UpstreamFacts>,
    /// The files that could not be read and are still there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadFacts>,
    /// When all was checked for damage last, in milliseconds since 1970; none: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_ms: Option<i64>,
    /// With `verbose` what fills the context, the largest first. Together they are the context's tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fills: Vec<Filling>,
    /// With `verbose` the largest messages, the largest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub largest_messages: Vec<LargestMessage>,
    /// With `verbose` the tokens that a prune would give back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prune_tokens: Option<u64>,
    /// With `verbose` the tokens that a prune of all that it may take would give back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prune_most_tokens: Option<u64>,
}

/// An agent or a shell in the background that has no end in the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunningFacts {
    /// The client's name for it. What somebody else wrote.
    pub id: String,
    /// agent or shell.
    pub kind: &'static str,
    /// Its prompt or its command. What somebody else wrote: escape it before it is shown.
    pub what: String,
    /// The sub-agent that started it, where the session did not do so itself: the client's name for it. What somebody else
    /// wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The message that told of its start.
    pub message: String,
    /// When it was started, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// When the newest message of the session was said, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_record_ms: Option<i64>,
    /// Whether that is more than a day ago: then nothing tells whether it still runs.
    pub is_stale: bool,
}

impl RunningFacts {
    /// What is known by `now`.
    pub fn all(running: &[RunningWork], now: Millis) -> Vec<Self> {
        running.iter().map(|work| Self::of(work, now)).collect()
    }

    fn of(work: &RunningWork, now: Millis) -> Self {
        Self {
            id: work.id.clone(),
            kind: work.kind.as_str(),
            what: work.what.clone(),
            agent: work.agent_id().map(str::to_owned),
            message: work.entry.to_string(),
            since_ms: work.since.map(|time| time.0),
            last_record_ms: work.last_record.map(|time| time.0),
            is_stale: work.is_stale(now),
        }
    }
}

/// The branch of a remote that a branch follows, where it was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UpstreamFacts {
    /// What it is called here.
    pub name: String,
    /// How many commits only the branch here has.
    pub ahead: u64,
    /// How many only the other has.
    pub behind: u64,
}

impl From<&Upstream> for UpstreamFacts {
    fn from(upstream: &Upstream) -> Self {
        Self {
            name: upstream.seen.to_string(),
            ahead: upstream.ahead,
            behind: upstream.behind,
        }
    }
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreadFacts {
    /// Its full path.
    pub path: String,
    /// What is wrong. It may hold what somebody else wrote.
    pub why: String,
    /// Since when that is known, in milliseconds since 1970.
    pub since_ms: i64,
}

/// A kind of thing that fills a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Filling {
    /// What it is: text, thinking, tool, media, attached, or unasked: results without a call.
    pub kind: &'static str,
    /// The tool. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its tokens.
    pub tokens: Tokens,
    /// In how many parts of messages it is.
    pub parts: usize,
}

impl From<(Stuff, TokenCount, usize)> for Filling {
    fn from((stuff, tokens, parts): (Stuff, TokenCount, usize)) -> Self {
        let (kind, tool) = match stuff {
            Stuff::Text => ("text", None),
            Stuff::Thinking => ("thinking", None),
            Stuff::Tool(name) => ("tool", Some(name)),
            Stuff::Unasked => ("unasked", None),
            Stuff::Media => ("media", None),
            Stuff::Attached => ("attached", None),
        };
        Self {
            kind,
            tool,
            tokens: tokens.into(),
            parts,
        }
    }
}

/// The largest message of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LargestMessage {
    /// Its number among the visible ones, from 1.
    pub number: usize,
    /// Who speaks.
    pub role: &'static str,
    /// Its tokens.
    pub tokens: Tokens,
    /// One line of it. What somebody else wrote: escape it before it is shown.
    pub preview: String,
    /// The tool calls that it answers, in a line; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

impl From<Large> for LargestMessage {
    fn from(large: Large) -> Self {
        Self {
            number: large.number,
            role: large.role.as_str(),
            tokens: large.tokens.into(),
            preview: large.preview,
            answers: large.call,
        }
    }
}

/// What is known of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionFacts {
    /// Its ref.
    pub name: String,
    /// Its title. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The working directory that it ran in; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// What its file lacks of what the model was sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
}

impl Method for StatusParams {
    const NAME: &'static str = "status";
    const CHANGES: bool = false;
    type Answer = StatusAnswer;

    fn act(self, at: &mut At<'_>) -> Result<StatusAnswer, ApiError> {
        let status = at.repo.status(&at.on, at.encoding()?)?;
        let counted = status.provider.count().is_some();
        let cache = match status.head.commit() {
            Some(tip) => cache_state(at, &tip)?,
            None => None,
        };
        let running = match status.head.commit() {
            Some(tip) if self.verbose || !at.repo.is_on_server() => at.repo.running(&tip)?,
            _ => Vec::new(),
        };
        let running = RunningFacts::all(&running, at.host.now());
        let hides = HideKind::ALL.into_iter().zip(status.summary.hides);
        let hides = hides.filter(|(_, count)| *count > 0);
        let by_role = status
            .by_role
            .iter()
            .map(|(role, count)| (role.as_str(), *count));
        let injected = status.summary.injected;
        let injected = (injected > 0).then_some((Speaker::INJECTED, injected));
        let upstream = match status.head.branch() {
            Some(branch) => at.repo.upstream(branch)?,
            None => None,
        };
        let unread = ingest::unread(at.repo)?.into_iter();
        let unread = unread.map(|file| UnreadFacts {
            path: file.path,
            why: file.why,
            since_ms: file.time.0,
        });
        let (checked, _) = at.repo.last_check()?;
        let mut answer = StatusAnswer {
            position: (&status.head).into(),
            messages: status.summary.total.messages,
            hidden: status.hidden,
            hides: hides.map(|(kind, count)| (kind.as_str(), count)).collect(),
            tokens: status.total.into(),
            provider_tokens: counted.then(|| status.provider.range(status.total)),
            budget: status.budget,
            by_role: by_role.chain(injected).collect(),
            largest: status.largest.map(Into::into),
            session: status.session.map(|(name, session)| SessionFacts {
                name: name.to_string(),
                title: session.title,
                directory: session.cwd,
                absent: session.absent,
            }),
            session_new: status.session_new,
            cache,
            spending: spending(at)?.map(|it| it.of_directory(at.repo.seat())),
            merging: at.repo.merge_under_way(&at.on)?.map(|it| it.name),
            running,
            recent: status.recent.iter().map(LogEntry::of).collect(),
            upstream: upstream.as_ref().map(Into::into),
            unread: unread.collect(),
            checked_ms: checked.map(|time| time.0),
            fills: Vec::new(),
            largest_messages: Vec::new(),
            prune_tokens: None,
            prune_most_tokens: None,
        };
        if self.verbose && answer.position.commit.is_some() {
            let makeup = at.repo.makeup(&at.on, at.encoding()?)?;
            let gain = |surgery: &Surgery| Some(surgery.delta().unsigned_abs());
            let (usual, most) = prunes(at)?;
            answer.fills = makeup.stuffs.into_iter().map(Into::into).collect();
            answer.largest_messages = makeup.largest.into_iter().map(Into::into).collect();
            (answer.prune_tokens, answer.prune_most_tokens) = (gain(&usual), gain(&most));
        }
        Ok(answer)
    }
}

impl Deed for StatusParams {}

/// What the usual prune would do, and one of all that a prune may take.
///
/// # Errors
///
/// The store's.
pub fn prunes(at: &At<'_>) -> Result<(Surgery, Surgery), ApiError> {
    let usual = usual_prune(at.repo)?;
    let most = Prune {
        limits: Limits {
            protect: 0,
            min: 0,
            ..Limits::default()
        },
        whole: true,
        ..usual_prune(at.repo)?
    };
    let plans: [&dyn Plan; 2] = [&usual, &most];
    let options = SurgeryOptions {
        encoding: at.encoding()?,
        told: 1,
        ..SurgeryOptions::default()
    };
    let would = at.repo.compare(at.call("…"), &options, &plans)?;
    let mut would = would.into_iter();
    let mut next = || would.next().expect("one for each plan");
    Ok((next()?, next()?))
}
