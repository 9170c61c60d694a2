//! The law of frameworks' forms: messages that a format writes come back from it the same, or a remark says what is lost.

use proptest::prelude::*;
use proptest::sample::select;

use crate::formats::registry::FORMATS;
use crate::formats::shared::contract::{anew, read, written};
use crate::formats::{Document, Format, Outgoing};
use crate::model::{Media, MediaSource, Message, Millis, Part, Role, Usage};
use crate::wire::json::{is_object, tight};

/// The forms in which programs keep their talk, of which one record is several messages, or several records one.
const FORMS: [&str; 3] = ["ui-message", "pydantic-ai", "otel"];

fn text() -> impl Strategy<Value = Part> {
    select(vec![
        " \n",
        "Twelve sacks.",
        "[1]",
        "{\"a\":1.0}",
        "\u{0}\"\\é🌾",
        "null",
    ])
    .prop_map(Part::text)
}

fn media(source: &str, media_type: Option<&str>) -> Media {
    let source = match source.split_once(':') {
        Some(("file", id)) => MediaSource::FileId(id.to_owned()),
        Some(_) => MediaSource::Url(source.to_owned()),
        None => MediaSource::Base64(source.to_owned()),
    };
    Media::new(media_type.map(str::to_owned), source)
}

/// A picture or a file that all forms hold.
fn plain_media() -> impl Strategy<Value = Part> {
    select(vec![
        Part::Image(media("iVBORw0KGgo+/w==", Some("image/png"))),
        Part::Image(media("https://example.org/a.png", Some("image/png"))),
        Part::File(media("JVBERi0+", Some("application/pdf"))),
        Part::File(media(
            "https://example.org/list.pdf",
            Some("application/pdf"),
        )),
    ])
}

/// A part that one form or the other does not hold.
fn odd() -> impl Strategy<Value = Part> {
    let named = |mut media: Media| {
        media.name = Some("floor.png".to_owned());
        media.detail = Some("low".to_owned());
        media
    };
    select(vec![
        Part::text(""),
        Part::Image(named(media("iVBORw0KGgo+/w==", Some("image/png")))),
        Part::Image(media("iVBORw0KGgo+/w==", None)),
        Part::Image(media("https://example.org/a", None)),
        Part::Image(media("file:file-1", None)),
        Part::File(media("AAAA", None)),
        Part::File(media("AA", Some("application/pdf"))),
        Part::File(media("no base64!", Some("application/pdf"))),
        Part::opaque("anthropic", r#"{"type":"tool_reference","tool_name":"t"}"#),
        Part::opaque("other", "no-JSON"),
        Part::opaque("ai-sdk", r#"{"type":"hologram","a":1}"#),
        Part::opaque("pydantic-ai", r#"{"part_kind":"hologram"}"#),
        Part::opaque("otel", r#"{"type":"hologram"}"#),
    ])
}

fn thought() -> impl Strategy<Value = Part> {
    select(vec![
        Part::thinking("Count both.".into(), None, None),
        Part::thinking(
            "Count both.".into(),
            Some("c2VhbA==".into()),
            Some("anthropic"),
        ),
        Part::thinking("hm".into(), Some("ZW5j".into()), Some("openai")),
        Part::thinking("hm".into(), Some("Zm9v".into()), Some("gemini")),
        Part::opaque("anthropic", r#"{"type":"redacted_thinking","data":"aGlk"}"#),
    ])
}

fn odd_thought() -> impl Strategy<Value = Part> {
    select(vec![
        Part::thinking(String::new(), None, None),
        Part::thinking("hm".into(), Some("c2VhbA==".into()), None),
        Part::thinking("hm".into(), None, Some("openai")),
    ])
}

/// One part, of the odd ones if these are meant.
fn said(is_odd: bool) -> BoxedStrategy<Part> {
    match is_odd {
        false => prop_oneof![3 => text(), 1 => plain_media()].boxed(),
        true => prop_oneof![4 => text(), 1 => plain_media(), 2 => odd()].boxed(),
    }
}

/// What a call gave, and whether it failed.
type Given = (Vec<Part>, bool);

/// A reply, and what each of its calls gave.
#[derive(Clone, Debug)]
struct Reply {
    parts: Vec<Part>,
    /// Arguments, content, whether it failed; none: it was not answered.
    calls: Vec<(String, Option<Given>)>,
    /// Whether each result is a message of its own.
    is_apart: bool,
    /// Whether they come in another order than the calls.
    is_reversed: bool,
    interrupted: bool,
    usage: Option<Usage>,
}

fn reply(is_odd: bool) -> impl Strategy<Value = Reply> {
    let spoken = match is_odd {
        false => prop_oneof![2 => text(), 1 => thought()].boxed(),
        true => prop_oneof![2 => text(), 1 => thought(), 1 => odd_thought(), 1 => odd()].boxed(),
    };
    let given = match is_odd {
        false => prop_oneof![
            text().prop_map(|part| (vec![part], false)),
            text().prop_map(|part| (vec![part], true)),
            Just((Vec::new(), false)),
            Just((
                vec![
                    Part::text("Here:"),
                    Part::Image(media("iVBORw0KGgo+/w==", Some("image/png")))
                ],
                false
            )),
        ]
        .boxed(),
        true => (prop::collection::vec(said(true), 0..3), any::<bool>()).boxed(),
    };
    let arguments = select(vec![
        "{}",
        "{\"floor\":1}",
        "{\"floor\": 1.0}",
        "no JSON",
        "[1]",
        "",
    ]);
    let call = (
        arguments.prop_map(str::to_owned),
        prop::option::weighted(0.9, given),
    );
    let counted = (0..500_u64, 0..9_u64).prop_map(|(input, output)| {
        let usage = Usage::new(1_000 + input, 20 + output);
        Usage {
            written_hour_tokens: output,
            ..usage.cached(input, 2 * output).reasoned(output)
        }
    });
    (
        prop::collection::vec(spoken, 1..3),
        prop::collection::vec(call, 0..3),
        any::<bool>(),
        prop::bool::weighted(if is_odd { 0.2 } else { 0.0 }),
        prop::bool::weighted(0.1),
        prop::option::of(counted),
    )
        .prop_map(
            |(parts, calls, is_apart, is_reversed, interrupted, usage)| Reply {
                parts,
                calls,
                is_apart,
                is_reversed,
                interrupted,
                usage,
            },
        )
}

/// A conversation: instructions or not, and turns of a prompt and replies.
fn talk(is_odd: bool) -> impl Strategy<Value = Vec<Outgoing>> {
    let prompt = prop::collection::vec(said(is_odd), 1..3);
    let turn = (prompt, prop::collection::vec(reply(is_odd), 0..3));
    let instructions = select(vec![
        vec![],
        vec![Role::System],
        vec![Role::System, Role::System],
        vec![if is_odd {
            Role::Developer
        } else {
            Role::System
        }],
    ]);
    (instructions, prop::collection::vec(turn, 1..4)).prop_map(move |(instructions, turns)| {
        let system = instructions
            .into_iter()
            .map(|role| anew(Message::text(role, "You mind the mill.")));
        let mut messages: Vec<Outgoing> = system.collect();
        let mut number = 0;
        for (prompt, replies) in turns {
            messages.push(anew(Message::new(Role::User, prompt)));
            for reply in replies {
                let (mut parts, mut results) = (reply.parts, Vec::new());
                for (arguments, given) in reply.calls {
                    number += 1;
                    let id = format!("c{number}");
                    parts.push(Part::call(id.clone(), "count".into(), arguments, None));
                    results.extend(
                        given.map(|(content, is_error)| Part::result(id, content, is_error)),
                    );
                }
                if reply.is_reversed {
                    results.reverse();
                }
                // Not every form marks a reply as cut that ends in anything but a text.
                let is_silent = match is_odd {
                    true => results.is_empty(),
                    false => matches!(parts.last(), Some(Part::Text { .. })),
                };
                let mut message = Message::new(Role::Assistant, parts);
                message.interrupted = reply.interrupted && is_silent;
                messages.push(Outgoing {
                    usage: reply.usage,
                    ..anew(message)
                });
                let results = match reply.is_apart {
                    true => results.into_iter().map(|it| vec![it]).collect(),
                    false => vec![results],
                };
                let results = results.into_iter().filter(|it| !it.is_empty());
                messages.extend(results.map(|it| anew(Message::new(Role::Tool, it))));
            }
        }
        for (at, outgoing) in messages.iter_mut().enumerate() {
            outgoing.time = Some(Millis(1_772_438_400_000 + at as i64 * 1_000));
            let model = [("model".to_owned(), "\"claude-opus-4-8\"".to_owned())];
            outgoing.settings = std::sync::Arc::new(model.into());
        }
        messages
    })
}

/// Thoughts one behind the other under one signature are pieces of one.
fn thoughts_joined(parts: Vec<Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), &part) {
            (
                Some(Part::Thinking {
                    text: before,
                    signature: Some(one),
                    ..
                }),
                Part::Thinking {
                    text,
                    signature: Some(other),
                    ..
                },
            ) if one == other => {
                before.push_str("\n\n");
                before.push_str(text);
            }
            _ => joined.push(part),
        }
    }
    joined
}

/// What messages say, apart from what no form tells: white space in arguments, which results stand in one message, and pieces of
/// one thought.
fn settled<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Vec<Message> {
    let mut settled: Vec<Message> = Vec::new();
    for message in messages {
        let mut message = message.clone();
        for part in &mut message.parts {
            if let Part::ToolCall { arguments, .. } = part
                && is_object(arguments)
            {
                *arguments = tight(arguments);
            }
        }
        message.parts = thoughts_joined(message.parts);
        match settled.last_mut() {
            Some(last) if last.role == Role::Tool && message.role == Role::Tool => {
                last.parts.append(&mut message.parts);
            }
            _ => settled.push(message),
        }
    }
    settled
}

fn document() -> Document {
    Document {
        session_id: "mill-7".to_owned(),
        now: Some(Millis(1_772_438_400_000)),
        ..Document::default()
    }
}

/// The messages and the counts of what a format writes.
fn again(format: &Format, text: &[u8]) -> (Vec<Message>, Vec<Usage>) {
    let told = read(format, text);
    // Of a talk whose results are blocks of another provider alone it is told that nobody here knows them; and of one of
    // which nothing could be written, that there is none.
    let expected = ["none of the tool results", "no span of a request"];
    let is_one = |reason: &str| expected.iter().any(|one| reason.starts_with(one));
    let is_expected = told.problems.iter().all(|it| is_one(&it.reason));
    assert!(is_expected, "{:?}", told.problems);
    let steps = told.sessions.iter().flat_map(|session| &session.steps);
    let messages = steps
        .clone()
        .map(|step| step.message().cloned().expect("no hide"));
    (
        messages.collect(),
        steps.filter_map(|step| step.usage).collect(),
    )
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    #[test]
    fn what_every_form_holds_comes_back(messages in talk(false)) {
        for format in FORMS.map(|name| Format::named(name).expect("known")) {
            let (text, remarks) = written(format, &messages, &document());
            let (found, counted) = again(format, &text);
            let wanted = settled(messages.iter().map(|it| &it.message));
            let shown = String::from_utf8_lossy(&text);
            prop_assert_eq!(settled(&found), wanted, "{}: {}", format, shown);
            let usage: Vec<Usage> = messages.iter().filter_map(|it| it.usage).collect();
            prop_assert_eq!(counted, usage, "{}: {}", format, shown);
            let silent = remarks.iter().all(|remark| remark.contains("white space"));
            prop_assert!(silent || messages.iter().any(|it| it.message.interrupted), "{:?}", remarks);
        }
    }

    #[test]
    fn what_a_form_does_not_hold_is_remarked(messages in talk(true)) {
        for format in FORMS.map(|name| Format::named(name).expect("known")) {
            let (text, remarks) = written(format, &messages, &document());
            let (found, _) = again(format, &text);
            let wanted = settled(messages.iter().map(|it| &it.message));
            let is_same = settled(&found) == wanted;
            let shown = String::from_utf8_lossy(&text);
            prop_assert!(is_same || !remarks.is_empty(), "{}: {:?} is not {:?} in {}", format, found, wanted, shown);
            // What came back once comes back again.
            let again_written: Vec<Outgoing> = found.iter().cloned().map(anew).collect();
            let (second, _) = written(format, &again_written, &document());
            prop_assert_eq!(settled(&again(format, &second).0), settled(&found), "{}", format);
        }
    }
}

#[test]
fn the_forms_are_known() {
    for form in FORMS {
        assert!(
            FORMATS
                .into_iter()
                .any(|format| format.name == form && format.write.is_some())
        );
    }
}
