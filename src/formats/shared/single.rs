//! One message in a provider's form, as a person or a program hands it over.

use serde_json::value::RawValue;

use crate::error::{Error, Result};
use crate::formats::anthropic::ANTHROPIC;
use crate::formats::openai::OPENAI;
use crate::formats::responses::RESPONSES;
use crate::formats::shared::chat;
use crate::formats::shared::lines::mend;
use crate::formats::shared::records::json_error;
use crate::formats::shared::reply_notes::Remarked;
use crate::formats::{Action, Format, Problem, Sink, Source, Step, sniff};
use crate::model::{Message, Role, Sealed, UsageRecord};
use crate::wire::json::{quoted, string};
use crate::wire::{Notes, anthropic, openai};

/// A longer text is told by its first lines, if it has several.
const PLAIN_BYTES: usize = 1 << 20;

/// One message, with what its response says beside it.
#[derive(Clone, Debug)]
pub struct SingleMessage {
    /// The message, with its name.
    pub message: Sealed<Message>,
    /// What the provider counted for it.
    pub usage: Option<UsageRecord>,
    /// The model that made it, as JSON.
    pub model: Option<String>,
    /// The tier of service.
    pub tier: Option<String>,
}

/// Reads one message object, OpenAI's or Anthropic's, or the response whose message it is.
///
/// # Errors
///
/// [`Error::InvalidInput`] if it is no JSON object, or no message in either form, and
/// [`Error::SeveralMessages`].
pub fn message(text: &str) -> Result<SingleMessage> {
    let bad = |detail: String| Error::input("message", detail);
    let text = text.trim();
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        return Err(bad(json_error("not JSON", &error, 0)));
    }
    if !text.starts_with('{') {
        return Err(bad("not a JSON object".to_owned()));
    }
    plain(text).map_or_else(|| read(text), Ok)
}

/// A JSON object in whatever form.
fn read(text: &str) -> Result<SingleMessage> {
    if let Some(format) = of_response(text) {
        let mut found = Found::default();
        (format.read)(Source::of(&text.as_bytes(), &mut found))?;
        // A response may repeat what it was told.
        found
            .messages
            .retain(|found| found.message.role == Role::Assistant);
        let mut found = found.only()?;
        found.tier = Remarked::of(&[text.to_owned()]).tier;
        return Ok(found);
    }
    let list = format!("[{text}]");
    let input = list.as_bytes();
    // What both providers could have written is read as OpenAI's.
    let format = match sniff::sniff(&input)? {
        Some(format) if *format == ANTHROPIC => format,
        _ => &OPENAI,
    };
    let mut found = Found::default();
    (format.read)(Source::of(&input, &mut found))?;
    let mut found = found.only()?;
    if found.message.role == Role::Assistant {
        found.beside(text);
    }
    Ok(found)
}

/// A message that nobody but OpenAI could have written, or anybody: what it is need not be asked of all formats, which takes
/// four times as long as to read it. None where it is anything else.
fn plain(text: &str) -> Option<SingleMessage> {
    if text.len() > PLAIN_BYTES || !chat::is_plain(text) {
        return None;
    }
    let mended = mend(text.as_bytes()).text;
    let raw: &RawValue = serde_json::from_str(&mended).ok()?;
    let mut found = SingleMessage {
        message: openai::message(raw, &mut Notes::default()).ok()?.into(),
        usage: None,
        model: None,
        tier: None,
    };
    if found.message.role == Role::Assistant {
        found.beside(text);
    }
    Some(found)
}

/// Reads the replies that a provider's stream told, from its events. One that broke off is cut where it did.
///
/// # Errors
///
/// [`Error::InvalidInput`] if they are no events of a known provider's stream, or hold no reply.
pub fn streamed(events: &[&str]) -> Result<Vec<SingleMessage>> {
    let lines = events.join("\n");
    let input = lines.as_bytes();
    let format = sniff::sniff(&input)?.filter(|format| format.events.is_some());
    let format = format.ok_or_else(|| Error::input("events", "not a known provider's stream"))?;
    let mut found = Found::default();
    (format.read)(Source::of(&input, &mut found))?;
    let replies = found.messages.into_iter();
    let replies: Vec<_> = replies.filter(|it| !it.message.is_empty()).collect();
    if replies.is_empty() {
        let reason = found
            .problem
            .unwrap_or_else(|| "no reply in them".to_owned());
        return Err(Error::input("events", reason));
    }
    Ok(replies)
}

impl SingleMessage {
    /// Takes in what a response of Anthropic's says, which is a message itself.
    fn beside(&mut self, text: &str) {
        lazy! { struct Response { usage, model } }
        // An escape may spell any word.
        let may_say = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if !may_say(&["usage", "model", "service_tier", r"\u"]) {
            return;
        }
        let response: Response<'_> = serde_json::from_str(text).unwrap_or_default();
        let counted = anthropic::usage_record(response.usage);
        let counted = counted.filter(|record| *record != UsageRecord::default());
        self.usage = self.usage.take().or(counted);
        let named = string(response.model).map(|model| quoted(&model));
        self.model = self.model.take().or(named);
        self.tier = Remarked::of(&[text.to_owned()]).tier;
    }
}

/// The format of a body whose message stands within it; none of what is a message itself.
fn of_response(text: &str) -> Option<&'static Format> {
    lazy! { struct Body { role, input, choices, output } }
    let body: Body<'_> = serde_json::from_str(text).ok()?;
    match (body.role, body.choices) {
        (Some(_), _) => None,
        (None, Some(_)) => Some(&OPENAI),
        (None, None) => (body.output.is_some() && body.input.is_none()).then_some(&RESPONSES),
    }
}

#[derive(Default)]
struct Found {
    messages: Vec<SingleMessage>,
    problem: Option<String>,
}

impl Found {
    /// The one message.
    fn only(mut self) -> Result<SingleMessage> {
        let bad = |detail: String| Err(Error::input("message", detail));
        // Alone, a result has no call before it; what else is odd leaves no message.
        match (self.messages.pop(), self.problem) {
            (Some(found), _) if self.messages.is_empty() => Ok(found),
            (Some(_), _) => Err(Error::SeveralMessages {
                what: "message".to_owned(),
            }),
            (None, Some(reason)) => bad(reason),
            (None, None) => bad("no message in it".to_owned()),
        }
    }
}

impl Sink for Found {
    fn step(&mut self, mut step: Step) -> Result<()> {
        if let Action::Append(message) = step.action {
            self.messages.push(SingleMessage {
                message: message.into(),
                usage: step.usage.map(|usage| UsageRecord {
                    usage,
                    detail: step.detail,
                }),
                model: step.settings.remove("model"),
                tier: None,
            });
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problem.get_or_insert(problem.reason);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A member of an object, one of which nothing is said, or one that is there twice.
    fn member(key: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
        let value = prop::sample::select(values.to_vec());
        let times = prop_oneof![8 => Just(1), 4 => Just(0), 1 => Just(2)];
        (value, times).prop_map(move |(value, times)| format!(r#","{key}":{value}"#).repeat(times))
    }

    fn object() -> impl Strategy<Value = String> {
        let members = (
            member(
                "role",
                &[
                    r#""user""#,
                    r#""assistant""#,
                    r#""tool""#,
                    r#""developer""#,
                    r#""function""#,
                    r#""nobody""#,
                    "null",
                    "7",
                ],
            ),
            member(
                "content",
                &[
                    r#""hi""#,
                    r#""""#,
                    "null",
                    "{}",
                    r#""\ud800 \u00e9 \n""#,
                    r#"[{"type":"text","text":"a"},{"type":"image_url","image_url":"x"}]"#,
                    r#"[{"type":"thinking","thinking":"t"}]"#,
                    r#"[{"type":"tool_use","id":"c","name":"n","input":{}}]"#,
                ],
            ),
            member(
                "tool_calls",
                &[
                    "null",
                    "[]",
                    r#"[{"id":"c","type":"function","function":{"name":"n","arguments":"{}"}}]"#,
                ],
            ),
            member("tool_call_id", &[r#""c""#, "null"]),
            prop_oneof![
                6 => Just(String::new()),
                1 => member("traj", &["[]", r#"[{"role":"user","content":"in a run"}]"#]),
                1 => member("choices", &["[]", r#"[{"message":{"role":"assistant","content":"x"}}]"#]),
                1 => member("type", &[r#""message""#]),
                1 => member("model", &[r#""m""#]),
                1 => member("usage", &[r#"{"input_tokens":3,"output_tokens":4,"service_tier":"batch"}"#]),
                1 => member("us\\u0061ge", &[r#"{"input_tokens":3,"output_tokens":4}"#]),
                1 => member("service_tier", &[r#""priority""#]),
            ],
        );
        members.prop_map(|(role, content, calls, call, more)| {
            let all = [role, content, calls, call, more].concat();
            format!("{{{}}}", all.trim_start_matches(','))
        })
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(512))]

        #[test]
        fn a_plain_message_is_read_as_by_whoever_asks_all_formats(object in object()) {
            if let Some(found) = plain(&object) {
                let asked = read(&object).expect("it is a message");
                prop_assert_eq!(format!("{found:?}"), format!("{asked:?}"));
            }
        }
    }

    #[test]
    fn what_most_clients_send_is_plain() {
        for object in [
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"assistant","content":"so","tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c","content":"done"}"#,
        ] {
            assert!(plain(object).is_some(), "{object}");
        }
        for object in [
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{}}]}"#,
            r#"{"choices":[{"message":{"role":"assistant","content":"x"}}]}"#,
            r#"{"role":"user","traj":[]}"#,
        ] {
            assert!(plain(object).is_none(), "{object}");
        }
    }
}
