//! A message, to the response items that say it.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;
use serde_json::value::RawValue;

use super::PROVIDER;
use crate::interop::Outgoing;
use crate::model::{Media, MediaSource, Message, Part, Role};
use crate::wire::json::{Raw, string};

/// What the tool itself writes for a call that was cut off.
const ABORTED: &str = "aborted";

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'a str,
        content: Vec<Piece<'a>>,
    },
    Reasoning {
        summary: Vec<Piece<'a>>,
        encrypted_content: &'a str,
    },
    FunctionCall {
        name: &'a str,
        arguments: &'a str,
        call_id: &'a str,
    },
    CustomToolCall {
        status: &'a str,
        call_id: &'a str,
        name: &'a str,
        input: &'a str,
    },
    LocalShellCall {
        call_id: &'a str,
        status: &'a str,
        action: &'a RawValue,
    },
    ToolSearchCall {
        call_id: &'a str,
        status: &'a str,
        execution: &'a str,
        arguments: &'a RawValue,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Output<'a>,
    },
    CustomToolCallOutput {
        call_id: &'a str,
        output: Output<'a>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(&'a str),
    Pieces(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Piece<'a> {
    Text {
        r#type: &'static str,
        text: &'a str,
    },
    Image {
        r#type: &'static str,
        image_url: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'a str>,
    },
    Raw(&'a RawValue),
}

/// What the format could not hold, with how often.
#[derive(Default)]
pub(super) struct Remarks(BTreeMap<&'static str, u64>);

impl Remarks {
    pub fn add(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    pub fn finish(self) -> Vec<String> {
        let say = |(what, count): (&str, u64)| match count {
            1 => what.to_owned(),
            _ => format!("{what} ({count} times)"),
        };
        self.0.into_iter().map(say).collect()
    }
}

/// A part by its message's place and its own.
type PartId = (usize, usize);

/// Which output answers which call.
#[derive(Default)]
pub(super) struct Pairs {
    /// The kind of the call that an output answers, where it isn't a function.
    kinds: HashMap<PartId, String>,
    unanswered: HashSet<PartId>,
}

impl Pairs {
    /// Pairs each output with the nearest earlier unanswered call of its id; `before` are the
    /// calls, with their kinds, of records that are written already.
    pub fn of(messages: &[Outgoing], before: Vec<(String, Option<String>)>) -> Self {
        let mut pairs = Self::default();
        type Open = (Option<PartId>, Option<String>);
        let mut open: HashMap<String, Vec<Open>> = HashMap::new();
        for (id, kind) in before {
            open.entry(id).or_default().push((None, kind));
        }
        for (at, outgoing) in messages.iter().enumerate() {
            for (index, part) in outgoing.message.parts.iter().enumerate() {
                match part {
                    Part::ToolCall { id, kind, .. } => {
                        let call = (Some((at, index)), kind.clone());
                        open.entry(id.clone()).or_default().push(call);
                    }
                    Part::ToolResult { call, .. } => {
                        let answered = open.get_mut(call).and_then(Vec::pop);
                        if let Some(kind) = answered.and_then(|(_, kind)| kind) {
                            pairs.kinds.insert((at, index), kind);
                        }
                    }
                    _ => {}
                }
            }
        }
        let left = open.into_values().flatten();
        pairs.unanswered = left.filter_map(|(part, _)| part).collect();
        pairs
    }

    /// Outputs for the calls of message `at` that nothing answers, as JSON texts.
    pub fn closing(&self, at: usize, message: &Message) -> Vec<String> {
        let parts = message.parts.iter().enumerate();
        let open = parts.filter(|(index, _)| self.unanswered.contains(&(at, *index)));
        open.filter_map(|(_, part)| match part {
            Part::ToolCall { id, kind, .. } => {
                let output = Output::Text(ABORTED);
                Some(json(&answer(id, kind.as_deref(), output)))
            }
            _ => None,
        })
        .collect()
    }
}

/// The response items that say message `at`, as JSON texts.
pub(super) fn items(
    at: usize,
    message: &Message,
    pairs: &Pairs,
    remarks: &mut Remarks,
) -> Vec<String> {
    let mut items = Vec::new();
    let mut content = Vec::new();
    if message.name.is_some() {
        remarks.add("a speaker's name was left out");
    }
    let role = match message.role {
        // Loose text beside outputs is input.
        Role::Tool => Role::User,
        role => role,
    };
    for (index, part) in message.parts.iter().enumerate() {
        let item = match part {
            Part::Text { .. } | Part::Image(_) | Part::File(_) => {
                content.extend(piece(part, role, remarks));
                continue;
            }
            Part::Opaque { provider, data } if provider == PROVIDER => {
                let raw = serde_json::from_str::<&RawValue>(data).ok();
                match raw {
                    Some(raw) if role != Role::Assistant || is_piece(raw) => {
                        content.push(Piece::Raw(raw));
                        continue;
                    }
                    Some(raw) => Some(raw.get().to_owned()),
                    None => None,
                }
            }
            Part::Opaque { .. } => {
                remarks.add("another provider's block was left out");
                None
            }
            Part::Thinking {
                text,
                signature,
                provider,
            } => match (provider.as_deref(), signature) {
                (Some(PROVIDER), Some(signature)) => {
                    let summary = Piece::Text {
                        r#type: "summary_text",
                        text,
                    };
                    let kept = (!text.is_empty()).then_some(summary);
                    Some(json(&Item::Reasoning {
                        summary: kept.into_iter().collect(),
                        encrypted_content: signature,
                    }))
                }
                _ if text.is_empty() => None,
                _ => {
                    remarks.add("thinking that this provider cannot take back was left out");
                    None
                }
            },
            Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            } => Some(json(&call(id, name, arguments, kind.as_deref()))),
            Part::ToolResult {
                call,
                content,
                is_error,
            } => {
                if *is_error {
                    remarks.add("a tool result's error flag was left out");
                }
                let kind = pairs.kinds.get(&(at, index)).map(String::as_str);
                Some(result(call, kind, content, remarks))
            }
        };
        if let Some(item) = item {
            flush(role, &mut content, &mut items);
            items.push(item);
        }
    }
    flush(role, &mut content, &mut items);
    if items.is_empty() && message.role != Role::Assistant && message.parts.is_empty() {
        items.push(json(&Item::Message {
            role: role.as_str(),
            content: Vec::new(),
        }));
    }
    items
}

fn flush<'a>(role: Role, content: &mut Vec<Piece<'a>>, items: &mut Vec<String>) {
    if !content.is_empty() {
        items.push(json(&Item::Message {
            role: role.as_str(),
            content: std::mem::take(content),
        }));
    }
}

fn call<'a>(id: &'a str, name: &'a str, arguments: &'a str, kind: Option<&str>) -> Item<'a> {
    let status = "completed";
    match (kind, serde_json::from_str::<&RawValue>(arguments)) {
        (Some("custom"), _) => Item::CustomToolCall {
            status,
            call_id: id,
            name,
            input: arguments,
        },
        (Some("local_shell"), Ok(action)) => Item::LocalShellCall {
            call_id: id,
            status,
            action,
        },
        (Some("tool_search"), Ok(arguments)) => Item::ToolSearchCall {
            call_id: id,
            status,
            execution: "client",
            arguments,
        },
        _ => Item::FunctionCall {
            name,
            arguments,
            call_id: id,
        },
    }
}

fn answer<'a>(call_id: &'a str, kind: Option<&str>, output: Output<'a>) -> Item<'a> {
    match kind {
        Some("custom") => Item::CustomToolCallOutput { call_id, output },
        _ => Item::FunctionCallOutput { call_id, output },
    }
}

fn result(call: &str, kind: Option<&str>, content: &[Part], remarks: &mut Remarks) -> String {
    match content {
        [] => json(&answer(call, kind, Output::Text(""))),
        [Part::Text { text }] => json(&answer(call, kind, Output::Text(text))),
        [Part::Opaque { provider, data }] if provider == PROVIDER && is_output(data) => {
            data.clone()
        }
        parts => {
            let mut pieces = Vec::new();
            for part in parts {
                pieces.extend(piece(part, Role::User, remarks));
            }
            json(&answer(call, kind, Output::Pieces(pieces)))
        }
    }
}

fn piece<'a>(part: &'a Part, role: Role, remarks: &mut Remarks) -> Option<Piece<'a>> {
    match part {
        Part::Text { text } => Some(Piece::Text {
            r#type: if role == Role::Assistant {
                "output_text"
            } else {
                "input_text"
            },
            text,
        }),
        Part::Image(media) => {
            let image_url = image_url(media);
            if image_url.is_none() {
                remarks.add("a picture that only its provider holds was left out");
            }
            Some(Piece::Image {
                r#type: "input_image",
                image_url: image_url?,
                detail: media.detail.as_deref(),
            })
        }
        Part::Opaque { provider, data } if provider == PROVIDER => {
            serde_json::from_str(data).ok().map(Piece::Raw)
        }
        Part::File(_) => {
            remarks.add("a file was left out");
            None
        }
        _ => {
            remarks.add("another provider's block was left out");
            None
        }
    }
}

/// The address of a picture; a data URL where its bytes are here.
pub(super) fn image_url(media: &Media) -> Option<String> {
    match &media.source {
        MediaSource::Base64(data) => {
            let media_type = media.media_type.as_deref().unwrap_or("image/png");
            Some(format!("data:{media_type};base64,{data}"))
        }
        MediaSource::Url(url) => Some(url.clone()),
        MediaSource::FileId(_) => None,
    }
}

fn type_of(raw: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, default)]
        r#type: Raw<'a>,
    }
    string(serde_json::from_str::<Typed<'_>>(raw).ok()?.r#type)
}

/// Whether a block is a piece of a message's content, not an item.
fn is_piece(raw: &RawValue) -> bool {
    let kind = type_of(raw.get());
    kind.is_some_and(|kind| {
        kind == "refusal" || kind.starts_with("input_") || kind.starts_with("output_")
    })
}

fn is_output(data: &str) -> bool {
    type_of(data).is_some_and(|kind| kind.ends_with("_output"))
}

/// A value as JSON text.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings, lists and raw JSON can be written")
}
