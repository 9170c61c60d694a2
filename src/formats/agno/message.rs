//! One run: its messages, and what became of it.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::formats::shared::parts::{self, checked, said, seconds, standard_base64};
use crate::model::{MediaSource, Message, Millis, Part, Role, Usage, UsageDetail, UsageRecord};
use crate::wire::json::{Object, Raw, array, decode, is_true, string, text_or_json, word};
use crate::wire::usage::Numbers;
use crate::wire::{Notes, anthropic, media, openai};

lazy! {
    struct Record { parent_run_id, status, messages, model, provider = "model_provider" }

    struct Said {
        role, content, name, tool_calls, tool_call_id, tool_call_error, reasoning_content, redacted_reasoning_content,
        images, audio, videos, files, image_output, audio_output, video_output, file_output, from_history, temporary,
        metrics, created_at, provider_data,
    }

    struct Call { id, function, tool_call_id, content, tool_call_error }

    struct Function { name, arguments }

    struct Medium { url, content, id, format, mime_type, filename, name }

    struct Beside { signature }
}

/// What a run says.
pub(super) struct Run {
    /// Its own instructions.
    pub(super) system: Option<String>,
    pub(super) messages: Vec<Spoken>,
    /// The run of a team whose member made this one.
    pub(super) is_members: bool,
    /// Whether it is sent no more: by which word.
    pub(super) left: Option<String>,
    /// The model, which holds for its replies.
    pub(super) model: Option<String>,
    pub(super) time: Option<Millis>,
}

/// A message, and what stands beside it.
pub(super) struct Spoken {
    pub(super) message: Message,
    pub(super) time: Option<Millis>,
    pub(super) usage: Option<UsageRecord>,
}

/// Reads a run.
pub(super) fn read(raw: &RawValue, notes: &mut Notes) -> Result<Run, String> {
    let record: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a run: {error}"))?;
    let status = word(record.status).map(|status| status.to_lowercase());
    let mut run = Run {
        system: None,
        messages: Vec::new(),
        is_members: said(record.parent_run_id).is_some(),
        left: status.filter(|it| ["error", "cancelled", "paused"].contains(&it.as_str())),
        model: said(record.model),
        time: None,
    };
    let is_anthropics = said(record.provider).is_some_and(|it| it == "Anthropic");
    let list: Vec<&RawValue> = decode(record.messages).unwrap_or_default();
    let mut found = Notes::default();
    for raw in list {
        let said: Said<'_> = decode(Some(raw)).unwrap_or_default();
        // Copies of what earlier runs hold, as versions before 3 kept them.
        if is_true(said.from_history) || is_true(said.temporary) {
            continue;
        }
        let time = seconds(said.created_at);
        run.time = run.time.or(time);
        let role = role(said.role)?;
        if role.is_system() {
            let more = text_or_json(said.content).filter(|text| !text.is_empty());
            run.system = match (run.system.take(), more) {
                (Some(text), Some(more)) => Some(format!("{text}\n\n{more}")),
                (text, more) => text.or(more),
            };
            continue;
        }
        let usage = usage(said.metrics, is_anthropics).filter(|_| role == Role::Assistant);
        let parts = parts_of(role, &said, &mut found);
        run.messages
            .extend(parts::message(role, parts).map(|mut message| {
                message.name = self::parts::said(said.name).filter(|_| role == Role::User);
                Spoken {
                    message,
                    time,
                    usage,
                }
            }));
    }
    checked(run.messages.iter().map(|it| &it.message))?;
    notes.merge(found);
    Ok(run)
}

/// Who speaks: the words are those of Agno and, in some versions, of providers.
fn role(raw: Raw<'_>) -> Result<Role, String> {
    match word(raw).as_deref() {
        Some("model") => Ok(Role::Assistant),
        _ => {
            let known = [
                Role::System,
                Role::Developer,
                Role::User,
                Role::Assistant,
                Role::Tool,
            ];
            parts::role(raw, &known)
        }
    }
}

fn parts_of(role: Role, of: &Said<'_>, notes: &mut Notes) -> Vec<Part> {
    let calls: Vec<Call<'_>> = decode(of.tool_calls).unwrap_or_default();
    if role == Role::Tool {
        // What parallel calls gave may be one message, in the place of the calls.
        let several = calls.iter().filter(|call| call.tool_call_id.is_some());
        let several: Vec<Part> = several
            .map(|call| {
                let is_error = is_true(call.tool_call_error) || is_true(of.tool_call_error);
                parts::result(
                    string(call.tool_call_id),
                    content(call.content, notes),
                    is_error,
                )
            })
            .collect();
        if !several.is_empty() {
            return several;
        }
        let mut given = content(of.content, notes);
        given.extend(all_media(of));
        let is_error = is_true(of.tool_call_error);
        return vec![parts::result(string(of.tool_call_id), given, is_error)];
    }
    let mut parts = Vec::new();
    parts.extend(said(of.redacted_reasoning_content).map(|data| parts::redacted(&data)));
    if let Some(text) = said(of.reasoning_content) {
        let beside: Beside<'_> = decode(of.provider_data).unwrap_or_default();
        parts.push(parts::sealed(
            text,
            said(beside.signature),
            anthropic::PROVIDER,
        ));
    }
    parts.extend(content(of.content, notes));
    parts.extend(all_media(of));
    parts.extend(calls.into_iter().map(|call| {
        let function: Function<'_> = decode(call.function).unwrap_or_default();
        parts::call(
            string(call.id),
            string(function.name),
            text_or_json(function.arguments),
        )
    }));
    parts
}

/// A text, or blocks as OpenAI has them; other JSON is a text.
fn content(raw: Raw<'_>, notes: &mut Notes) -> Vec<Part> {
    let blocks: Option<Vec<&RawValue>> = decode(raw);
    let is_blocks = |blocks: &Vec<&RawValue>| {
        let has_type = |raw: &&RawValue| {
            let keys: Option<serde_json::Map<_, _>> = decode(Some(*raw));
            keys.is_some_and(|keys| keys.get("type").is_some_and(Value::is_string))
        };
        !blocks.is_empty() && blocks.iter().all(has_type)
    };
    let Some(blocks) = blocks.filter(is_blocks) else {
        let text = text_or_json(raw).filter(|text| !text.is_empty() && text != "null");
        return text.map(Part::text).into_iter().collect();
    };
    let list = blocks.iter().map(|block| block.get());
    let message = Object::new()
        .string("role", "user")
        .raw("content", &array(list))
        .finish();
    let read = RawValue::from_string(message).map_err(|error| error.to_string());
    let read = read.and_then(|raw| openai::message(&raw, notes));
    read.map(|message| message.parts).unwrap_or_default()
}

/// The pictures and files that stand beside what is said.
fn all_media(of: &Said<'_>) -> Vec<Part> {
    let lists = [
        ("image", of.images),
        ("audio", of.audio),
        ("video", of.videos),
        ("file", of.files),
    ];
    let alone = [
        ("image", of.image_output),
        ("audio", of.audio_output),
        ("video", of.video_output),
        ("file", of.file_output),
    ];
    let lists = lists.into_iter().flat_map(|(kind, raw)| {
        let list: Vec<Medium<'_>> = decode(raw).unwrap_or_default();
        list.into_iter().map(move |medium| (kind, medium))
    });
    let alone = alone
        .into_iter()
        .filter_map(|(kind, raw)| Some((kind, decode::<Medium<'_>>(raw)?)));
    lists
        .chain(alone)
        .filter_map(|(kind, of)| medium(kind, &of))
        .collect()
}

fn medium(kind: &str, of: &Medium<'_>) -> Option<Part> {
    let format = said(of.format).filter(|_| kind != "file");
    let media_type = said(of.mime_type).or_else(|| Some(format!("{kind}/{}", format?)));
    let name = said(of.filename).or_else(|| said(of.name));
    let part = if let Some(at) = said(of.url) {
        media::attachment(at, media_type, name)
    } else {
        let data = said(of.content).map(|data| MediaSource::Base64(standard_base64(&data)));
        let source = data.or_else(|| said(of.id).map(MediaSource::FileId))?;
        Part::media(parts::media(source, media_type, name))
    };
    Some(match kind {
        "image" => parts::picture(part),
        _ => part,
    })
}

/// What was counted: of the input what a cache had is part, but for Anthropic's models.
fn usage(raw: Raw<'_>, is_anthropics: bool) -> Option<UsageRecord> {
    let record: Value = decode(raw)?;
    let mut numbers = Numbers::of(&record);
    let mut take = |name: &str| numbers.take(name).unwrap_or_default();
    let [input, output] = ["input_tokens", "output_tokens"].map(&mut take);
    let [cached, written] = ["cache_read_tokens", "cache_write_tokens"].map(&mut take);
    let reasoning = take("reasoning_tokens");
    let usage = if is_anthropics {
        Usage::apart([input, cached, written], [output, 0])?.reasoned(reasoning)
    } else {
        Usage::new(input, output)
            .cached(cached, written)
            .reasoned(reasoning)
    };
    numbers.drop(&["total_tokens"]);
    let mut detail = UsageDetail::default();
    // How long it took is no count.
    numbers.rest(&mut detail, |path| {
        let is_time = path.contains("duration") || path.contains("time");
        is_time.then(String::new)
    });
    detail
        .amounts
        .retain(|path, _| !path.contains("duration") && !path.contains("time"));
    (usage != Usage::default()).then_some(UsageRecord { usage, detail })
}
