//! The importer: what is known of a session, and what a message of it says; its states say the rest.

use serde_json::value::RawValue;

use super::{MESSAGES, SESSION, STATES};
use crate::formats::shared::parts::{self, checked, media, role, thought};
use crate::formats::shared::states::{Said, States};
use crate::formats::shared::teller::Teller;
use crate::model::{MediaSource, Message, Millis, Part, Role, StatedUsage, Usage};
use crate::wire::Notes;
use crate::wire::json::{Raw, array, decode, is_object, is_true, quoted, string, word};

/// Whose opaque blocks these are.
const PROVIDER: &str = "mistral-vibe";

/// The kinds of sessions that another one is behind: an agent's, and one that goes on with its messages.
pub(super) const SUBAGENT: &str = "subagent";
const FORK: &str = "fork";

/// A session.
#[derive(Default)]
pub(super) struct Session;

lazy! {
    struct Record { message, time, usage, tools }
    struct Spoken { role, content, tool_call_id, outcome }
    struct Block { r#type, text, content, id, name, arguments, data, mime_type = "mimeType" }
    struct Given { raw, value }
    struct Tool { name, description, parameters }
}

impl States for Session {
    const ABOUT: &'static str = SESSION;
    const MESSAGES: &'static str = MESSAGES;
    const STATES: &'static str = STATES;
    const STATE: &'static str = "state";
    const LACKING: &'static [&'static str] = &["system prompt", "tool definitions"];
    const IS_LINKED: bool = false;

    fn about(raw: &RawValue, teller: &mut Teller<'_>) {
        lazy! { struct Known { id, cwd, title, model, kind, parent, usage, sent } }
        let known: Known<'_> = decode(Some(raw)).unwrap_or_default();
        teller.name(parts::said(known.id));
        teller.end.cwd = string(known.cwd);
        teller.end.title = parts::said(known.title);
        // A request says all of it.
        if is_true(known.sent) {
            teller.end.absent.clear();
        }
        let parent = string(known.parent);
        match word(known.kind).as_deref() {
            Some(SUBAGENT) => teller.start.descent.spawned_by = parent,
            Some(FORK) => teller.start.forked_from = parent,
            _ => {}
        }
        let model = parts::said(known.model);
        teller.set("model", model.as_deref().map(quoted));
        let used = used(
            known.usage,
            ["inputTokens", "outputTokens", "cachedInputTokens"],
        );
        teller.end.stated = model.zip(used).map(|(model, used)| {
            let mut stated = StatedUsage::default();
            stated.add(model, used);
            stated
        });
    }

    fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
        let record: Record<'_> = decode(Some(raw)).unwrap_or_default();
        let spoken: Spoken<'_> = decode(record.message).ok_or("a message that is no object")?;
        let role = role(
            spoken.role,
            &[Role::System, Role::User, Role::Assistant, Role::Tool],
        )?;
        let mut found = Notes::default();
        let blocks: Vec<&RawValue> = decode(spoken.content).unwrap_or_default();
        let mut parts: Vec<Part> = Vec::new();
        for block in blocks {
            part(block, &mut parts, &mut found);
        }
        if role == Role::Tool {
            let has_failed = word(spoken.outcome).as_deref() == Some("failure");
            parts = vec![parts::result(
                string(spoken.tool_call_id),
                parts,
                has_failed,
            )];
        }
        let message = Message::new(role, parts);
        checked([&message])?;
        notes.merge(found);
        Ok(Said {
            message,
            time: decode(record.time).map(Millis),
            usage: used(
                record.usage,
                ["input_tokens", "output_tokens", "cached_input_tokens"],
            ),
            tools: offered(record.tools),
            model: None,
        })
    }
}

/// What a content block says.
fn part(raw: &RawValue, parts: &mut Vec<Part>, notes: &mut Notes) {
    let block: Block<'_> = decode(Some(raw)).unwrap_or_default();
    let kind = string(block.r#type).unwrap_or_default();
    let known = match kind.as_str() {
        "text" => string(block.text).map(Part::text),
        "tool_call" => Some(parts::call(
            string(block.id),
            string(block.name),
            Some(arguments(block.arguments)),
        )),
        "image" => string(block.data).map(|data| {
            let source = MediaSource::Base64(data);
            Part::Image(media(source, string(block.mime_type), None))
        }),
        "reasoning" => {
            let thoughts: Vec<Block<'_>> = decode(block.content).unwrap_or_default();
            let texts: Option<String> = thoughts.into_iter().map(|it| string(it.text)).collect();
            texts.map(thought)
        }
        _ => None,
    };
    let kept = || parts::opaque(PROVIDER, &kind, parts::object(raw.get()), notes);
    parts.push(known.unwrap_or_else(kept));
}

/// The arguments of a call as they are sent: an object alone, or none at all.
fn arguments(raw: Raw<'_>) -> String {
    let given: Given<'_> = decode(raw).unwrap_or_default();
    let is_whole = given.value.is_some_and(|value| is_object(value.get()));
    let text = string(given.raw).filter(|_| is_whole);
    text.unwrap_or_else(|| "{}".to_owned())
}

/// The tools that a request offered, as a provider is.
fn offered(raw: Raw<'_>) -> Option<String> {
    let tools: Vec<Tool<'_>> = decode(raw)?;
    let tools = tools.into_iter().map(|tool| {
        let schema = tool.parameters.map_or("{}", RawValue::get);
        let description = string(tool.description);
        parts::tool(
            &string(tool.name).unwrap_or_default(),
            description.as_deref(),
            schema,
        )
    });
    Some(array(tools))
}

/// What was counted, by the names of the counts of the input, the reply, and what of the input came from a cache.
fn used(raw: Raw<'_>, [input, output, cached]: [&str; 3]) -> Option<Usage> {
    let counts: serde_json::Value = decode(raw)?;
    let usage = Usage::new(counts[input].as_u64()?, counts[output].as_u64()?);
    Some(usage.cached(counts[cached].as_u64().unwrap_or_default(), 0))
}
