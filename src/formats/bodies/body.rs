//! A body: its messages and settings, read by the format of its provider, and what it says itself of the
//! conversation that it belongs to.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::parts::settle;
use crate::error::Result;
use crate::formats::anthropic::ANTHROPIC;
use crate::formats::openai::OPENAI;
use crate::formats::responses::RESPONSES;
use crate::formats::shared::head::SourceHead;
use crate::formats::shared::recorded::RecordedRequest;
use crate::formats::shared::whole_request;
use crate::formats::{Action, Format, Problem, SessionEnd, Sink, Source, Step};
use crate::model::{Message, Part, Role, Settings, Span};
use crate::wire::json::{decode, string};

/// With what the block begins that a client puts before its system prompt for the provider's own
/// accounts. It changes with the client's version and the request, and is no word to the model.
const BILLING: &str = "x-anthropic-billing-header:";

/// What says in it that a sub-agent asks.
const SUBAGENT: &str = "cc_is_subagent=true";

/// What the system message in mid-conversation is called, which a client attaches.
const ATTACHED: &str = "system";

/// The formats of single bodies, in the order in which they are asked.
const PROVIDERS: [&Format; 3] = [&RESPONSES, &OPENAI, &ANTHROPIC];

/// A body as it is read.
pub(in crate::formats) struct Body {
    pub(super) format: &'static Format,
    /// Whether it asks; else it is a reply.
    pub(in crate::formats) is_request: bool,
    /// The model that is asked, or that answers.
    pub(super) model: Option<String>,
    /// Its messages, at their places in the source.
    pub(in crate::formats) steps: Vec<Step>,
    pub(in crate::formats) settings: Settings,
    pub(super) problems: Vec<Problem>,
    pub(super) end: SessionEnd,
}

/// The request that a record is; none where it is none.
pub(super) fn recorded(_: &Format, record: &str) -> Option<RecordedRequest> {
    let span = Span {
        offset: 0,
        len: record.len() as u64,
    };
    let body = Body::read(record.as_bytes(), span).ok()??;
    let provider = body.format.provider.filter(|_| body.is_request)?;
    Some(whole_request::request(
        provider,
        body.steps,
        body.settings,
        record,
    ))
}

impl Body {
    /// Reads a body that stands at a place of the source; none where it is of no known provider.
    pub(in crate::formats) fn read(bytes: &[u8], span: Span) -> Result<Option<Self>> {
        if bytes.first() != Some(&b'{') {
            return Ok(None);
        }
        let head = SourceHead::document(bytes, 0);
        let mut providers = PROVIDERS.into_iter();
        let Some(format) = providers.find(|format| (format.sniff)(&head).is_some()) else {
            return Ok(None);
        };
        let mut body = Self {
            format,
            is_request: whole_request::asks(bytes),
            model: None,
            steps: Vec::new(),
            settings: Settings::new(),
            problems: Vec::new(),
            end: SessionEnd::default(),
        };
        (format.read)(Source::of(&bytes, &mut body))?;
        for step in &mut body.steps {
            body.settings.append(&mut step.settings);
            for record in &mut step.records {
                record.offset += span.offset;
            }
        }
        body.model = body.settings.get("model").cloned();
        body.tidy();
        Ok(Some(body))
    }

    /// Leaves out what is no word to the model, and tells what a client attached from its instructions.
    fn tidy(&mut self) {
        let is_anthropic = *self.format == ANTHROPIC;
        let mut has_begun = false;
        self.steps.retain_mut(|step| {
            let Action::Append(message) = &mut step.action else {
                return true;
            };
            message.parts.iter_mut().for_each(settle);
            let is_system = message.role == Role::System;
            if is_anthropic && is_system && has_begun {
                let parts = std::mem::take(&mut message.parts);
                *message = Message::attached(ATTACHED, parts);
            }
            has_begun |= !is_system;
            if !is_anthropic || has_begun {
                return true;
            }
            let is_billing =
                |part: &Part| matches!(part, Part::Text { text } if text.starts_with(BILLING));
            message.parts.retain(|part| !is_billing(part));
            !message.parts.is_empty()
        });
    }
}

impl Sink for Body {
    fn step(&mut self, step: Step) -> Result<()> {
        self.steps.push(step);
        Ok(())
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.end = end;
        Ok(())
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems.push(problem);
        Ok(())
    }
}

/// What a request says itself of who asks.
#[derive(Default)]
pub(super) struct Asking {
    /// The client's session.
    pub(super) session: Option<String>,
    /// Whether it is on the side: a sub-agent.
    pub(super) is_side: bool,
    /// Whether tools are offered.
    pub(super) has_tools: bool,
}

impl Asking {
    pub(super) fn of(body: &[u8]) -> Self {
        lazy! { struct Head { metadata, prompt_cache_key, system, tools } }
        #[derive(Deserialize)]
        struct Metadata {
            user_id: String,
        }
        #[derive(Deserialize)]
        struct Block {
            text: String,
        }
        let Ok(head) = serde_json::from_slice::<Head<'_>>(body) else {
            return Self::default();
        };
        let metadata = decode::<Metadata>(head.metadata);
        let session = metadata.and_then(|metadata| session_in(&metadata.user_id));
        let blocks: Vec<&RawValue> = decode(head.system).unwrap_or_default();
        let mut blocks = blocks.into_iter().filter_map(|block| {
            let block: Block = serde_json::from_str(block.get()).ok()?;
            block.text.starts_with(BILLING).then_some(block.text)
        });
        Self {
            session: session.or_else(|| string(head.prompt_cache_key)),
            is_side: blocks.any(|text| text.contains(SUBAGENT)),
            has_tools: head.tools.is_some_and(|tools| tools.get() != "[]"),
        }
    }
}

/// The session in what a client says of its user: `{…,"session_id":"…"}`, earlier
/// `user_…_account_…_session_ID`.
fn session_in(user: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct User {
        session_id: String,
    }
    let named = serde_json::from_str::<User>(user).map(|user| user.session_id);
    let in_name = || Some(user.rsplit_once("_session_")?.1.to_owned());
    let named = named.ok().or_else(in_name);
    named.filter(|id| !id.is_empty())
}
