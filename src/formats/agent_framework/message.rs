//! One message: its contents, each of which names its type.

use serde_json::Value;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::document::Said;
use crate::formats::shared::parts::{self, checked, said};
use crate::model::{MediaSource, Message, Part, Role, Usage, UsageDetail, UsageRecord};
use crate::wire::json::{Raw, decode, string, text_or_json};
use crate::wire::usage::Numbers;
use crate::wire::{Notes, media};

/// What a record is called that says nothing.
const EMPTY: &str = "empty message";

lazy! {
    struct Record { role, contents, author_name, created_at }

    struct Content {
        r#type, text, protected_data, uri, media_type, call_id, name, arguments, result, items, exception, file_id,
        tool_name, output, usage_details, additional_properties,
    }

    struct Beside { filename }
}

/// Reads a message: what tools gave in it is another one.
pub(super) fn read(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let known = [
        Role::System,
        Role::Developer,
        Role::User,
        Role::Assistant,
        Role::Tool,
    ];
    let role = parts::role(record.role, &known)?;
    let contents: Vec<&RawValue> = decode(record.contents).unwrap_or_default();
    let (mut found, mut counted) = (Notes::default(), None);
    let (mut results, mut others) = (Vec::new(), Vec::new());
    for raw in contents {
        let content: Content<'_> = decode(Some(raw)).unwrap_or_default();
        if content.usage_details.is_some() {
            counted = usage(content.usage_details);
            continue;
        }
        match part(raw, &content, &mut found) {
            Some(part) if part.is_result() => results.push(part),
            part => others.extend(part),
        }
    }
    let name = said(record.author_name).filter(|_| role == Role::User);
    // A reply with what its provider's own tools gave is one message.
    let both = match role {
        Role::Assistant => [(role, others), (Role::Tool, results)],
        Role::Tool => [(Role::Tool, results), (Role::User, others)],
        _ => [(Role::Tool, results), (role, others)],
    };
    let messages = both
        .into_iter()
        .filter_map(|(role, parts)| parts::message(role, parts));
    let messages: Vec<Message> = messages
        .map(|message| Message {
            name: name.clone().filter(|_| message.role == role),
            ..message
        })
        .collect();
    checked(&messages)?;
    notes.merge(found);
    Ok(Said {
        time: parts::time(record.created_at),
        usage: counted.filter(|_| role == Role::Assistant),
        kind: EMPTY.to_owned(),
        messages,
        ..Said::default()
    })
}

/// One content; none where it is sent to no model.
fn part(raw: &RawValue, of: &Content<'_>, notes: &mut Notes) -> Option<Part> {
    let kind = string(of.r#type).unwrap_or_default();
    let id = string(of.call_id);
    match kind.as_str() {
        "text" => parts::text(of.text),
        "text_reasoning" => {
            let (text, seal) = (string(of.text).unwrap_or_default(), said(of.protected_data));
            let says = !text.is_empty() || seal.is_some();
            // Whose the seal is is not said.
            says.then(|| Part::thinking(text, seal, None))
        }
        "data" | "uri" | "hosted_file" => {
            let medium = medium(&kind, of);
            Some(medium.unwrap_or_else(|| unknown(raw, &kind, notes)))
        }
        "function_call" | "mcp_server_tool_call" => {
            let name = string(of.name).or_else(|| string(of.tool_name));
            Some(parts::call(id, name, text_or_json(of.arguments)))
        }
        "function_result" | "mcp_server_tool_result" => {
            let is_error = said(of.exception).is_some();
            let given = of.result.or(of.output);
            let media = items(of.items.or(given), notes);
            let given = match media {
                Some(parts) => parts,
                None => {
                    let text = text_or_json(given).filter(|text| text != "null");
                    // Of an error without words, only that there was one is said.
                    let text = text.or_else(|| said(of.exception));
                    text.map(Part::text).into_iter().collect()
                }
            };
            Some(parts::result(id, given, is_error))
        }
        "error"
        | "function_approval_request"
        | "function_approval_response"
        | "oauth_consent_request" => None,
        _ => Some(unknown(raw, &kind, notes)),
    }
}

fn unknown(raw: &RawValue, kind: &str, notes: &mut Notes) -> Part {
    parts::opaque(PROVIDER, kind, parts::object(raw.get()), notes)
}

/// What a tool gave in contents of several kinds; none where it is no list of such.
fn items(raw: Raw<'_>, notes: &mut Notes) -> Option<Vec<Part>> {
    let list: Vec<&RawValue> = decode(raw)?;
    let contents: Vec<(Content<'_>, &RawValue)> = list
        .into_iter()
        .filter_map(|raw| Some((decode::<Content<'_>>(Some(raw))?, raw)))
        .collect();
    let is_known = |(content, _): &(Content<'_>, &RawValue)| {
        let kind = string(content.r#type).unwrap_or_default();
        ["text", "data", "uri", "hosted_file"].contains(&kind.as_str())
    };
    let are_known = !contents.is_empty() && contents.iter().all(is_known);
    let parts = contents.iter();
    are_known.then(|| {
        parts
            .filter_map(|(content, raw)| part(raw, content, notes))
            .collect()
    })
}

/// A picture or a file.
fn medium(kind: &str, of: &Content<'_>) -> Option<Part> {
    let media_type = said(of.media_type);
    let beside: Beside<'_> = decode(of.additional_properties).unwrap_or_default();
    let name = said(beside.filename).or_else(|| said(of.name));
    if kind == "hosted_file" {
        let source = MediaSource::FileId(said(of.file_id)?);
        return Some(Part::media(parts::media(source, media_type, name)));
    }
    let is_picture = media_type
        .as_deref()
        .is_some_and(|it| it.starts_with("image/"));
    let part = media::attachment(said(of.uri)?, media_type, name);
    Some(if is_picture {
        parts::picture(part)
    } else {
        part
    })
}

/// What was counted: of the input what a cache had is part.
fn usage(raw: Raw<'_>) -> Option<UsageRecord> {
    let record: Value = decode(raw)?;
    let mut numbers = Numbers::of(&record);
    let mut take = |name: &str| numbers.take(name).unwrap_or_default();
    let [input, output] = ["input_token_count", "output_token_count"].map(&mut take);
    let [cached, written, reasoning] = [
        "cache_read_input_token_count",
        "cache_creation_input_token_count",
        "reasoning_output_token_count",
    ]
    .map(&mut take);
    let usage = Usage::new(input, output)
        .cached(cached, written)
        .reasoned(reasoning);
    numbers.drop(&["total_token_count"]);
    let mut detail = UsageDetail::default();
    numbers.rest(&mut detail, |_| None);
    (usage != Usage::default()).then_some(UsageRecord { usage, detail })
}
