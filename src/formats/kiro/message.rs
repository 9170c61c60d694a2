//! An entry of the history: what was sent, in the words in which the tool sends it, and what came back.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::formats::shared::parts::{self, call, checked, message, said, text};
use crate::model::{Media, MediaSource, Message, Millis, Part, Role, base64};
use crate::wire::json::{Raw, decode, string, tight, word};

/// How the tool frames what it tells beside a prompt, and a prompt beside which it tells something.
const BESIDE: [&str; 2] = [
    "--- CONTEXT ENTRY BEGIN ---\n",
    "--- CONTEXT ENTRY END ---\n\n",
];
const PROMPT: [&str; 2] = [
    "--- USER MESSAGE BEGIN ---\n",
    "--- USER MESSAGE END ---\n\n",
];

/// What stands before a summary, and the answer to it that the tool makes up.
const SUMMED_UP: &str = "This summary contains ALL relevant information from our previous conversation including tool \
                         uses, results, code analysis, and file operations. YOU MUST reference this information when \
                         answering questions and explicitly acknowledge specific details from the summary when they're \
                         relevant to the current question.\n\nSUMMARY CONTENT:\n";
const ANSWER: &str = "I will fully incorporate this information when generating my responses, and explicitly \
                      acknowledge relevant parts of the summary when answering questions.";

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// What an entry says; calls and results may lack their ids.
#[derive(Default)]
pub(super) struct Entry {
    pub(super) given: Vec<Message>,
    pub(super) given_at: Option<Millis>,
    pub(super) reply: Option<Message>,
    pub(super) replied_at: Option<Millis>,
    pub(super) model: Option<String>,
    pub(super) cwd: Option<String>,
}

lazy! { struct Record { user, assistant, request_metadata } }

lazy! { struct User { additional_context, env_context, content, timestamp, images } }

lazy! {
    /// What a variant holds, by the names of the variants.
    struct Content {
        prompt = "Prompt", cancelled = "CancelledToolUses", results = "ToolUseResults",
        response = "Response", tool_use = "ToolUse",
    }
}

lazy! { struct Given { prompt, tool_use_results, content, tool_uses } }

lazy! { struct Exchange { id, name, args, tool_use_id, content, status } }

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    request_start_timestamp_ms: Option<i64>,
    stream_end_timestamp_ms: Option<i64>,
    model_id: Option<String>,
}

/// Reads an entry.
pub(super) fn entry(raw: &RawValue) -> Result<Entry, String> {
    let record: Record<'_> = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
    let user: User<'_> = decode(record.user).unwrap_or_default();
    let metadata: Metadata = decode(record.request_metadata).unwrap_or_default();
    let time = string(user.timestamp);
    let asked = time.as_deref().and_then(Millis::parse);
    let entry = Entry {
        given: given(&user, time.as_deref())?,
        given_at: asked.or(metadata.request_start_timestamp_ms.map(Millis)),
        reply: reply(record.assistant)?,
        replied_at: metadata.stream_end_timestamp_ms.map(Millis),
        model: metadata.model_id,
        cwd: cwd(user.env_context),
    };
    checked(entry.given.iter().chain(&entry.reply))?;
    Ok(entry)
}

/// The summary as the tool sends it, and the answer that it puts behind it.
pub(super) fn summary(text: &str) -> [Message; 2] {
    let [begin, end] = BESIDE;
    let said = format!("{begin}{SUMMED_UP}{text}\n{end}");
    [
        Message::text(Role::User, said.trim()),
        Message::text(Role::Assistant, ANSWER),
    ]
}

fn cwd(context: Raw<'_>) -> Option<String> {
    let context: Value = decode(context)?;
    let cwd = context.get("env_state")?.get("current_working_directory")?;
    cwd.as_str().map(str::to_owned)
}

fn given(user: &User<'_>, time: Option<&str>) -> Result<Vec<Message>, String> {
    let content: Content<'_> = decode(user.content).unwrap_or_default();
    let held = content.prompt.or(content.cancelled).or(content.results);
    if held.is_none() && user.content.is_some() {
        return Err("a message of an unknown kind".to_owned());
    }
    let given: Given<'_> = decode(held).unwrap_or_default();
    let mut messages = Vec::new();
    let results: Vec<Exchange<'_>> = decode(given.tool_use_results).unwrap_or_default();
    messages.extend(message(Role::Tool, results.iter().map(result).collect()));
    let text = in_context(user, string(given.prompt), time);
    let text = Some(text).filter(|text| !text.is_empty());
    let mut parts: Vec<Part> = text.map(Part::text).into_iter().collect();
    parts.extend(images(user.images));
    // An entry without a message goes on with what the model said before.
    if !parts.is_empty() && held.is_some() {
        messages.push(Message::new(Role::User, parts));
    }
    Ok(messages)
}

/// A prompt with what the tool tells beside it.
fn in_context(user: &User<'_>, prompt: Option<String>, time: Option<&str>) -> String {
    let mut text = String::new();
    if let Some(time) = time.and_then(now) {
        let [begin, end] = BESIDE;
        text += &format!("{begin}Current time: {time}\n{end}");
    }
    if let Some(context) = said(user.additional_context) {
        text += &format!("{context}\n");
    }
    match (text.is_empty(), prompt) {
        (true, Some(prompt)) => text = prompt,
        (false, Some(prompt)) => {
            let [begin, end] = PROMPT;
            text += &format!("{begin}{prompt}{end}");
        }
        (_, None) => {}
    }
    text.trim().to_owned()
}

/// A time as the tool tells it: `Friday, 2018-01-26T12:30:09.453-07:00`.
fn now(time: &str) -> Option<String> {
    let number = |from: usize, to: usize| time.get(from..to)?.parse::<usize>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    Millis::parse(time)?;
    // Sakamoto's rule.
    const MONTHS: [usize; 12] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];
    let shift = MONTHS.get(month.checked_sub(1)?)?;
    let of = year.checked_sub(usize::from(month < 3))?;
    let weekday = DAYS[(of + of / 4 - of / 100 + of / 400 + shift + day) % 7];
    let rest = time.get(19..)?;
    let digits = rest.strip_prefix('.').unwrap_or_default();
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let zone = match count {
        0 => rest,
        _ => &digits[count..],
    };
    let zone = if zone == "Z" { "+00:00" } else { zone };
    let part = format!("{:0<3.3}", &digits[..count]);
    Some(format!("{weekday}, {}.{part}{zone}", time.get(..19)?))
}

fn images(raw: Raw<'_>) -> Vec<Part> {
    #[derive(Deserialize)]
    struct Block {
        format: String,
        source: Source,
    }
    #[derive(Deserialize)]
    struct Source {
        #[serde(rename = "Bytes")]
        bytes: Vec<u8>,
    }
    let blocks: Vec<Block> = decode(raw).unwrap_or_default();
    let image = |block: Block| {
        let media_type = format!("image/{}", block.format.to_ascii_lowercase());
        let source = MediaSource::Base64(base64::encode(&block.source.bytes));
        Part::Image(Media::new(Some(media_type), source))
    };
    blocks.into_iter().map(image).collect()
}

fn result(result: &Exchange<'_>) -> Part {
    lazy! { struct Block { text = "Text", json = "Json" } }
    let blocks: Vec<Block<'_>> = decode(result.content).unwrap_or_default();
    let texts = blocks
        .iter()
        .filter_map(|block| string(block.text).or_else(|| Some(tight(block.json?.get()))));
    let is_error = word(result.status).as_deref() == Some("Error");
    let content = texts.map(Part::text).collect();
    parts::result(string(result.tool_use_id), content, is_error)
}

fn reply(raw: Raw<'_>) -> Result<Option<Message>, String> {
    if raw.is_none() {
        return Ok(None);
    }
    let content: Content<'_> = decode(raw).unwrap_or_default();
    let Some(held) = content.response.or(content.tool_use) else {
        return Err("a reply of an unknown kind".to_owned());
    };
    let held: Given<'_> = decode(Some(held)).unwrap_or_default();
    let mut parts: Vec<Part> = text(held.content).into_iter().collect();
    let calls: Vec<Exchange<'_>> = decode(held.tool_uses).unwrap_or_default();
    parts.extend(calls.iter().map(|made| {
        let arguments = made.args.map(|args| tight(args.get()));
        call(string(made.id), string(made.name), arguments)
    }));
    Ok(message(Role::Assistant, parts))
}

#[cfg(test)]
mod tests {
    use super::now;

    #[test]
    fn a_time_is_told_with_its_day() {
        for (time, told) in [
            (
                "2018-01-26T12:30:09.453-07:00",
                "Friday, 2018-01-26T12:30:09.453-07:00",
            ),
            (
                "2026-03-02T08:00:01.5Z",
                "Monday, 2026-03-02T08:00:01.500+00:00",
            ),
            (
                "2024-02-29T08:00:01.123456789+01:00",
                "Thursday, 2024-02-29T08:00:01.123+01:00",
            ),
            (
                "2026-03-01T08:00:01+01:00",
                "Sunday, 2026-03-01T08:00:01.000+01:00",
            ),
        ] {
            assert_eq!(now(time).as_deref(), Some(told));
        }
        for wrong in ["", "soon", "2026-13-01T08:00:01Z", "ä026-03-01T08:00:01Z"] {
            assert_eq!(now(wrong), None, "{wrong}");
        }
    }
}
