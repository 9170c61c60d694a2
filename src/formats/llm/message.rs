//! What a reply of older versions, and a message of the tree, say.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::formats::shared::parts;
use crate::model::{MediaSource, Message, Part, Role};
use crate::wire::Notes;
use crate::wire::json::{Object, Raw, decode, string, text_or_json, tight, word};

/// Whose opaque blocks these are, where they are no provider's.
const PROVIDER: &str = "llm";

/// A message whose calls and results may lack their ids.
pub(super) struct Said {
    pub(super) message: Message,
    /// The tool of each part that is a result.
    pub(super) tools: Vec<Option<String>>,
}

lazy! {
    pub(super) struct Reply {
        system, prompt, response, reasoning, fragments, system_fragments, attachments, tool_results,
        tool_calls,
    }
}

lazy! { struct Fragment { id, content } }

lazy! { struct Attachment { r#type, path, url, content } }

lazy! { struct Exchange { name, arguments, output, tool_call_id, exception, server_executed, attachments } }

lazy! { struct Node { role, parts } }

lazy! { struct Piece { r#type, text, payload, fragments, attachments } }

lazy! { struct Borrowed { text_ref, literal, fragment, provider_metadata } }

/// The messages of a reply: what was new before it, and itself. `system` is the prompt that holds so far.
pub(super) fn reply(
    raw: &RawValue,
    system: &mut Option<String>,
    notes: &mut Notes,
) -> Result<Vec<Said>, String> {
    let reply: Reply<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let mut said = Vec::new();
    let own = string(reply.system);
    let prompt = fragments(reply.system_fragments).into_iter().chain(own);
    let prompt: Vec<String> = prompt
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect();
    let prompt = Some(prompt.join("\n\n")).filter(|prompt| !prompt.is_empty());
    if prompt.is_some() && prompt != *system {
        system.clone_from(&prompt);
        let text = prompt.unwrap_or_default();
        said.push(one(Message::text(Role::System, text)));
    }
    let results: Vec<&RawValue> = decode(reply.tool_results).unwrap_or_default();
    let mut given = Said {
        message: Message::new(Role::Tool, Vec::new()),
        tools: Vec::new(),
    };
    for raw in results {
        given.result(raw, None, notes);
    }
    if !given.message.parts.is_empty() {
        said.push(given);
    }
    let own = parts::said(reply.prompt);
    let texts: Vec<String> = fragments(reply.fragments).into_iter().chain(own).collect();
    let text = Some(texts.join("\n")).filter(|text| !text.is_empty());
    let mut asked: Vec<Part> = text.map(Part::text).into_iter().collect();
    asked.extend(attachments(reply.attachments, notes));
    let thought = parts::said(reply.reasoning).map(parts::thought);
    let mut replied: Vec<Part> = thought.into_iter().collect();
    replied.extend(parts::text(reply.response));
    let calls: Vec<Exchange<'_>> = decode(reply.tool_calls).unwrap_or_default();
    replied.extend(calls.iter().map(call));
    for (role, parts) in [(Role::User, asked), (Role::Assistant, replied)] {
        said.extend(parts::message(role, parts).map(one));
    }
    checked(said)
}

/// A message of the tree; none of one that says nothing.
pub(super) fn node(raw: &RawValue, notes: &mut Notes) -> Result<Vec<Said>, String> {
    let node: Node<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let role = parts::role(
        node.role,
        &[Role::System, Role::User, Role::Assistant, Role::Tool],
    )?;
    let mut said = one(Message::new(role, Vec::new()));
    let parts: Vec<&RawValue> = decode(node.parts).unwrap_or_default();
    for raw in parts {
        said.part(raw, notes);
    }
    if said.message.parts.is_empty() {
        Ok(Vec::new())
    } else {
        checked(vec![said])
    }
}

fn one(message: Message) -> Said {
    let tools = message.parts.iter().map(|_| None).collect();
    Said { message, tools }
}

fn checked(said: Vec<Said>) -> Result<Vec<Said>, String> {
    parts::checked(said.iter().map(|one| &one.message))?;
    Ok(said)
}

/// The texts of fragments, in their order.
fn fragments(raw: Raw<'_>) -> Vec<String> {
    let all: Vec<Fragment<'_>> = decode(raw).unwrap_or_default();
    all.iter().filter_map(|it| string(it.content)).collect()
}

fn attachments(raw: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    let all: Vec<&RawValue> = decode(raw).unwrap_or_default();
    all.into_iter().map(|raw| attachment(raw, notes)).collect()
}

/// What was attached; of a file on disk there is no more than its path.
fn attachment(raw: &RawValue, notes: &mut Notes) -> Part {
    #[derive(Deserialize)]
    struct Held {
        base64: String,
    }
    let found: Attachment<'_> = decode(Some(raw)).unwrap_or_default();
    let bytes = decode::<Held>(found.content).map(|held| MediaSource::Base64(held.base64));
    let source = bytes.or_else(|| string(found.url).map(MediaSource::Url));
    let Some(source) = source else {
        return opaque("attachment", raw, notes);
    };
    let path = string(found.path);
    let name = path.and_then(|path| Some(path.rsplit(['/', '\\']).next()?.to_owned()));
    Part::media(parts::media(source, string(found.r#type), name))
}

fn opaque(kind: &str, raw: &RawValue, notes: &mut Notes) -> Part {
    notes.opaque(kind);
    let block = tight(raw.get());
    if block.starts_with('{') {
        Part::opaque(PROVIDER, block)
    } else {
        let block = Object::typed(kind).raw("value", &block);
        Part::opaque(PROVIDER, block.finish())
    }
}

fn call(call: &Exchange<'_>) -> Part {
    // What is no JSON stands there as a text.
    let arguments = text_or_json(call.arguments);
    parts::call(string(call.tool_call_id), string(call.name), arguments)
}

/// What was thought, with the seal that its provider wants back.
fn thought(text: String, metadata: Raw<'_>) -> Part {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Sealed {
        anthropic: Option<Seal>,
        openai: Option<Seal>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Seal {
        signature: Option<String>,
        encrypted_content: Option<String>,
    }
    let sealed: Sealed = decode(metadata).unwrap_or_default();
    let anthropic = sealed.anthropic.and_then(|seal| seal.signature);
    let openai = sealed.openai.and_then(|seal| seal.encrypted_content);
    let (signature, provider) = match (anthropic, openai) {
        (Some(seal), _) => (Some(seal), Some("anthropic")),
        (None, Some(seal)) => (Some(seal), Some("openai")),
        (None, None) => (None, None),
    };
    Part::thinking(text, signature, provider)
}

/// The text of a part, put together where it borrows from fragments.
fn whole_text(piece: &Piece<'_>, payload: &Borrowed<'_>) -> String {
    let Some(pieces) = decode::<Vec<Borrowed<'_>>>(payload.text_ref) else {
        return string(piece.text).unwrap_or_default();
    };
    let all: Vec<Fragment<'_>> = decode(piece.fragments).unwrap_or_default();
    let content = |id: Raw<'_>| {
        let id = id?.get();
        let found = all
            .iter()
            .find(|it| it.id.is_some_and(|own| own.get() == id));
        string(found?.content)
    };
    let texts = pieces
        .iter()
        .filter_map(|it| string(it.literal).or_else(|| content(it.fragment)));
    texts.collect()
}

impl Said {
    fn push(&mut self, part: Part) {
        self.message.parts.push(part);
        self.tools.push(None);
    }

    /// A result; `attached` stands beside it where it is one of the tree.
    fn result(&mut self, raw: &RawValue, attached: Raw<'_>, notes: &mut Notes) {
        let result: Exchange<'_> = decode(Some(raw)).unwrap_or_default();
        let mut content: Vec<Part> = parts::text(result.output).into_iter().collect();
        content.extend(attachments(attached.or(result.attachments), notes));
        let is_error = parts::said(result.exception).is_some();
        let part = parts::result(string(result.tool_call_id), content, is_error);
        self.message.parts.push(part);
        self.tools.push(string(result.name));
    }

    fn part(&mut self, raw: &RawValue, notes: &mut Notes) {
        let Some(piece) = decode::<Piece<'_>>(Some(raw)) else {
            return self.push(opaque("part", raw, notes));
        };
        let payload: Borrowed<'_> = decode(piece.payload).unwrap_or_default();
        let exchange: Exchange<'_> = decode(piece.payload).unwrap_or_default();
        let is_servers = decode(exchange.server_executed) == Some(true);
        match (word(piece.r#type).as_deref(), piece.payload) {
            (Some("text"), _) => {
                let text = whole_text(&piece, &payload);
                if !text.is_empty() {
                    self.push(Part::text(text));
                }
            }
            (Some("reasoning"), _) => {
                let part = thought(whole_text(&piece, &payload), payload.provider_metadata);
                // That the model thought, and no more, is no part of what is sent.
                let says = matches!(&part, Part::Thinking { text, signature, .. }
                    if !text.is_empty() || signature.is_some());
                if says {
                    self.push(part);
                }
            }
            (Some("tool_call"), Some(_)) if !is_servers => self.push(call(&exchange)),
            (Some("tool_result"), Some(raw)) if !is_servers => {
                self.result(raw, piece.attachments, notes);
            }
            (Some("attachment"), _) => {
                let found = attachments(piece.attachments, notes);
                if found.is_empty() {
                    self.push(opaque("attachment", raw, notes))
                } else {
                    found.into_iter().for_each(|part| self.push(part))
                }
            }
            (kind, _) => {
                let kind = kind.unwrap_or("part").to_owned();
                self.push(opaque(&kind, raw, notes));
            }
        }
    }
}
