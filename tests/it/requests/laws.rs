//! What holds for every request, over generated messages.

use proptest::prelude::*;
use serde_json::Value;

use tract::compile::{
    AnsweredCalls, Compiled, Compiling, Contents, Notice, Provider, Repair, RequestOptions, compile,
};
use tract::error::Error;
use tract::model::{Media, MediaSource, Message, Part, Role, Settings};

use crate::check::{check_anthropic, check_openai, check_responses};

fn options(provider: Provider) -> RequestOptions {
    RequestOptions {
        provider,
        ..RequestOptions::default()
    }
}

fn compiled(messages: &[Message], provider: Provider) -> Compiled {
    compile(messages, &Settings::new(), &options(provider)).expect("nothing is strict")
}

/// Texts, calls and their results, each alone in its message, now and then with something amiss.
fn calls_in_turn() -> impl Strategy<Value = Vec<Message>> {
    let call = (prop::option::of(text()), id(), pick(&["read", "a b", ""])).prop_map(
        |(said, id, name)| {
            let call = Part::ToolCall {
                id,
                name: name.into(),
                arguments: "{\"p\": \"\u{0}é\\\\\"}".into(),
                kind: None,
            };
            Message::new(
                Role::Assistant,
                said.map(Part::text).into_iter().chain([call]).collect(),
            )
        },
    );
    let result =
        (id(), prop::option::of(text()), any::<bool>()).prop_map(|(call, said, is_error)| {
            let content = said.map(Part::text).into_iter().collect();
            let result = Part::ToolResult {
                call,
                content,
                is_error,
            };
            Message::new(Role::Tool, vec![result])
        });
    let said = (pick(&Role::ALL), text()).prop_map(|(role, said)| Message::text(role, said));
    let pair = (id(), text(), text()).prop_map(|(id, said, given)| {
        let call = Part::ToolCall {
            id: id.clone(),
            name: "read".into(),
            arguments: said.clone(),
            kind: None,
        };
        let result = Part::ToolResult {
            call: id,
            content: vec![Part::text(given)],
            is_error: false,
        };
        let parts = vec![Part::text(said), call];
        vec![
            Message::new(Role::Assistant, parts),
            Message::new(Role::Tool, vec![result]),
        ]
    });
    let one = prop_oneof![
        1 => call.prop_map(|one| vec![one]),
        1 => result.prop_map(|one| vec![one]),
        2 => said.prop_map(|one| vec![one]),
        3 => pair,
    ];
    prop::collection::vec(one, 0..9).prop_map(|all| all.concat())
}

fn pick<T: Clone + std::fmt::Debug + 'static>(from: &[T]) -> impl Strategy<Value = T> + use<T> {
    proptest::sample::select(from.to_vec())
}

fn text() -> impl Strategy<Value = String> {
    pick(&[
        "",
        " ",
        "hello",
        "ends in space \n",
        "\u{0}\"\\é🙂",
        "two\n\nlines",
        "\u{3000}",
    ])
    .prop_map(str::to_owned)
}

fn id() -> impl Strategy<Value = String> {
    pick(&["a", "b", "c", "", "a b", "a_b", "a_2", "é|x"]).prop_map(str::to_owned)
}

fn media() -> impl Strategy<Value = Media> {
    let source = pick(&[
        MediaSource::Base64("iVBORw0KGgoAAAA".into()),
        MediaSource::Base64("AAAA".into()),
        MediaSource::Url("https://example.org/a.png".into()),
        MediaSource::Url("data:image/png;base64,AAAA".into()),
        MediaSource::Url("ftp://example.org".into()),
        MediaSource::FileId("file-1".into()),
        MediaSource::FileId("file_1".into()),
    ]);
    let media_type = pick(&[
        None,
        Some("image/png"),
        Some("image/bmp"),
        Some("application/pdf"),
    ]);
    (source, media_type, pick(&[None, Some("low"), Some("best")])).prop_map(
        |(source, media_type, detail)| Media {
            media_type: media_type.map(str::to_owned),
            name: detail.map(str::to_owned),
            detail: detail.map(str::to_owned),
            source,
        },
    )
}

fn opaque_of(from: &[(&'static str, &'static str)]) -> impl Strategy<Value = Part> + use<> {
    pick(from).prop_map(|(provider, data)| Part::Opaque {
        provider: provider.into(),
        data: data.into(),
    })
}

/// Calls of Anthropic's own tools and their results.
fn server_tools() -> impl Strategy<Value = Part> {
    opaque_of(&[
        (
            "anthropic",
            r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}"#,
        ),
        (
            "anthropic",
            r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#,
        ),
        (
            "anthropic",
            r#"{"type":"server_tool_use","id":"s2","name":"web_fetch","input":{}}"#,
        ),
        (
            "anthropic",
            r#"{"type":"web_fetch_tool_result","tool_use_id":"s2","content":{}}"#,
        ),
    ])
}

fn opaque() -> impl Strategy<Value = Part> {
    let others = opaque_of(&[
        ("anthropic", r#"{"type":"redacted_thinking","data":"x"}"#),
        ("anthropic", r#"{"type":"tool_reference","tool_name":"t"}"#),
        ("anthropic", r#"{"type":"fallback","from":"a","to":"b"}"#),
        ("anthropic", "no JSON"),
        ("anthropic", r#"{"type":"server_tool_use"}"#),
        (
            "openai",
            r#"{"type":"input_audio","input_audio":{"data":"","format":"wav"}}"#,
        ),
        ("openai", r#"{"type":"refusal","refusal":"no"}"#),
        ("openai", r#"{"type":"web_search_call","id":"w"}"#),
        ("openai", "{"),
        ("other", "{}"),
    ]);
    prop_oneof![1 => server_tools(), 2 => others]
}

fn leaf() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => text().prop_map(Part::text),
        1 => media().prop_map(Part::Image),
        1 => media().prop_map(Part::File),
        1 => opaque(),
    ]
}

fn call() -> impl Strategy<Value = Part> {
    let arguments = pick(&[
        "{}",
        "{\"a\": 1.0, \"n\": 12345678901234567890123}",
        "",
        "[1]",
        "{\"a\"",
        "1e999",
    ]);
    let name = pick(&["read", "a.b", "", "ü"]);
    (
        id(),
        name,
        arguments,
        pick(&[None, Some("custom"), Some("local_shell")]),
    )
        .prop_map(|(id, name, arguments, kind)| Part::ToolCall {
            id,
            name: name.into(),
            arguments: arguments.into(),
            kind: kind.map(str::to_owned),
        })
}

fn result() -> impl Strategy<Value = Part> {
    (id(), proptest::collection::vec(leaf(), 0..3), any::<bool>()).prop_map(
        |(call, content, is_error)| Part::ToolResult {
            call,
            content,
            is_error,
        },
    )
}

fn thinking() -> impl Strategy<Value = Part> {
    let signature = pick(&[None, Some(""), Some("c2ln")]);
    (
        text(),
        signature,
        pick(&[None, Some("anthropic"), Some("openai")]),
    )
        .prop_map(|(text, signature, provider)| Part::Thinking {
            text,
            signature: signature.map(str::to_owned),
            provider: provider.map(str::to_owned),
        })
}

fn message() -> impl Strategy<Value = Message> {
    let name = pick(&[None, None, None, Some("bob"), Some("a b"), Some("")]);
    let anything = prop_oneof![3 => leaf(), 2 => call(), 3 => result(), 1 => thinking()];
    let reply = prop_oneof![3 => leaf(), 4 => call(), 2 => thinking()];
    let own = proptest::collection::vec(opaque(), 0..6).prop_map(|parts| (Role::Assistant, parts));
    let any_message = (pick(&Role::ALL), proptest::collection::vec(anything, 0..4));
    let reply = proptest::collection::vec(reply, 0..4).prop_map(|parts| (Role::Assistant, parts));
    let results = proptest::collection::vec(result(), 1..3).prop_map(|parts| (Role::Tool, parts));
    let plain = (pick(&[Role::User, Role::Assistant, Role::System]), text())
        .prop_map(|(role, text)| (role, vec![Part::text(text)]));
    (
        prop_oneof![1 => own, 2 => any_message, 3 => reply, 3 => results, 3 => plain],
        name,
        pick(&[None, None, None, Some("/root")]),
    )
        .prop_map(|((role, parts), name, recipient)| Message {
            attached: None,
            recipient: recipient.filter(|_| role == Role::User).map(str::to_owned),
            interrupted: false,
            role,
            name: name.map(str::to_owned),
            parts,
        })
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    proptest::collection::vec(message(), 0..10)
}

/// Replies of Anthropic's own blocks, one after the other, now and then with a user between.
fn own_replies() -> impl Strategy<Value = Vec<Message>> {
    let part = prop_oneof![
        6 => server_tools(),
        1 => pick(&["x", "y "]).prop_map(Part::text),
        1 => thinking(),
    ];
    let role = pick(&[
        Role::Assistant,
        Role::Assistant,
        Role::Assistant,
        Role::User,
    ]);
    let message = (role, proptest::collection::vec(part, 1..4)).prop_map(|(role, parts)| Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role,
        name: None,
        parts,
    });
    proptest::collection::vec(message, 1..5)
}

/// Whether the last message answers a call that the earlier ones leave open: by its id, or, where its
/// id fits none, by its place.
fn answers_an_open_call(messages: &[Message]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let (last, earlier) = messages.split_last().expect("there is a last one");
    for message in earlier {
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } if message.role == Role::Assistant => open.push(id),
                Part::ToolResult { call, .. } => {
                    if let Some(place) = open.iter().rposition(|id| id == call) {
                        open.remove(place);
                    }
                }
                _ => {}
            }
        }
    }
    let calls =
        |message: &&Message| message.role == Role::Assistant && message.calls().next().is_some();
    let latest = earlier.iter().rev().find(calls);
    let has_free = latest.is_some_and(|latest| latest.calls().any(|call| open.contains(&call)));
    last.results().any(|call| open.contains(&call) || has_free)
}

/// What may follow the bytes that stay.
const CLOSINGS: [&str; 8] = [
    "]}",
    "]}]}",
    "\"}]}]}",
    "],\"messages\":[]}",
    "\"messages\":[]}",
    "\"input\":[]}",
    "\"contents\":[]}",
    "]},\"contents\":[]}",
];

/// What the API refuses in a request of Gemini's form: turns of one voice after the other, a first turn of the model, a turn
/// without parts, a part that says nothing or several things, and calls that the next turn does not answer one by one.
fn check_gemini(request: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let none = Vec::new();
    let contents = request["contents"].as_array().unwrap_or(&none);
    let parts = |content: &Value| content["parts"].as_array().cloned().unwrap_or_default();
    // Answers may come in another order than their calls.
    let named = |content: &Value, key: &str| -> Vec<String> {
        let parts = parts(content).into_iter();
        let names = parts.filter_map(|part| Some(part[key]["name"].as_str()?.to_owned()));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    for (at, content) in contents.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "model" };
        if content["role"] != role {
            wrong.push(format!("turn {at} is not of the {role}"));
        }
        if parts(content).is_empty() {
            wrong.push(format!("turn {at} has no parts"));
        }
        for part in parts(content) {
            let kinds = [
                "text",
                "inlineData",
                "fileData",
                "functionCall",
                "functionResponse",
            ];
            let count = kinds.iter().filter(|kind| !part[**kind].is_null()).count();
            if count != 1 {
                wrong.push(format!("a part of turn {at} says {count} things: {part}"));
            }
        }
        let calls = named(content, "functionCall");
        if !calls.is_empty() && role == "user" {
            wrong.push(format!("the user calls in turn {at}"));
        }
        let before = at
            .checked_sub(1)
            .map(|before| named(&contents[before], "functionCall"));
        if named(content, "functionResponse") != before.unwrap_or_default() {
            wrong.push(format!("turn {at} does not answer the calls before it"));
        }
    }
    if contents
        .last()
        .is_some_and(|last| !named(last, "functionCall").is_empty())
    {
        wrong.push("the last calls are not answered".to_owned());
    }
    wrong
}

fn check(request: &Value, provider: Provider) -> Vec<String> {
    match provider {
        Provider::OpenAi => check_openai(request),
        Provider::Responses => check_responses(request),
        Provider::Gemini => check_gemini(request),
        _ => check_anthropic(request),
    }
}

/// Whether a provider takes a tool's name.
///
/// # Source
///
/// The errors of the three APIs on a name that they refuse.
fn takes_name(provider: Provider, name: &str) -> bool {
    let (max_chars, marks) = match provider {
        Provider::Gemini => (128, "_.:-"),
        Provider::Anthropic => (128, "_-"),
        _ => (64, "_-"),
    };
    let begins = |c: char| provider != Provider::Gemini || c.is_ascii_alphabetic() || c == '_';
    let allowed = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
    name.starts_with(begins) && name.len() <= max_chars && name.chars().all(allowed)
}

/// A tool's definition in a provider's form.
fn defined(of: Provider, name: &str) -> Value {
    let schema = serde_json::json!({"type": "object", "properties": {"name": {"type": "string"}}});
    match of {
        Provider::OpenAi => {
            serde_json::json!({"type": "function", "function": {"name": name, "parameters": schema}})
        }
        Provider::Responses => {
            serde_json::json!({"type": "function", "name": name, "parameters": schema})
        }
        _ => serde_json::json!({"name": name, "input_schema": schema}),
    }
}

/// The choice of a tool in a provider's form.
fn chosen(of: Provider, name: &str) -> Value {
    match of {
        Provider::Responses => serde_json::json!({"type": "function", "name": name}),
        Provider::Anthropic => serde_json::json!({"type": "tool", "name": name}),
        _ => serde_json::json!({"type": "function", "function": {"name": name}}),
    }
}

/// All that stands at a path of keys; `*` is every item.
fn all_at<'a>(value: &'a Value, path: &[&str]) -> Vec<&'a Value> {
    match path {
        [] => vec![value],
        ["*", rest @ ..] => {
            let items = value.as_array().into_iter().flatten();
            items.flat_map(|item| all_at(item, rest)).collect()
        }
        [key, rest @ ..] => value
            .get(key)
            .map_or_else(Vec::new, |value| all_at(value, rest)),
    }
}

/// The names of tools in a request: those that are defined, those that are called, those of results, the one that is chosen.
fn names_in(request: &Value, provider: Provider) -> [Vec<String>; 4] {
    let paths: [&[&str]; 4] = match provider {
        Provider::OpenAi => [
            &["tools", "*", "function", "name"],
            &["messages", "*", "tool_calls", "*", "function", "name"],
            &[],
            &["tool_choice", "function", "name"],
        ],
        Provider::Responses => [
            &["tools", "*", "name"],
            &["input", "*", "name"],
            &[],
            &["tool_choice", "name"],
        ],
        Provider::Gemini => [
            &["tools", "*", "functionDeclarations", "*", "name"],
            &["contents", "*", "parts", "*", "functionCall", "name"],
            &["contents", "*", "parts", "*", "functionResponse", "name"],
            &[
                "toolConfig",
                "functionCallingConfig",
                "allowedFunctionNames",
                "*",
            ],
        ],
        _ => [
            &["tools", "*", "name"],
            &["messages", "*", "content", "*", "name"],
            &[],
            &["tool_choice", "name"],
        ],
    };
    paths.map(|path| {
        let found = if path.is_empty() {
            Vec::new()
        } else {
            all_at(request, path)
        };
        let names = found.into_iter().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    })
}

/// Names of tools, as people and servers give them: no two are the same.
fn tool_names() -> impl Strategy<Value = Vec<String>> {
    let long = "long_".repeat(30);
    let known: Vec<String> = [
        "read",
        "a.b",
        "a_b",
        "a b",
        "a:b",
        "9to",
        "_9to",
        "-x",
        "",
        "tool",
        "ü",
        "ö",
        "__",
        &long,
        &long[..64],
        &long[..65],
        "mcp__files__read",
    ]
    .map(str::to_owned)
    .to_vec();
    prop::sample::subsequence(known, 1..9).prop_shuffle()
}

/// Some models give several calls of one reply the same id.
#[test]
fn results_of_one_id_answer_the_calls_of_a_reply_in_their_order() {
    let call = |n: u8| Part::ToolCall {
        id: "c1".to_owned(),
        name: "read".to_owned(),
        arguments: format!("{{\"n\":{n}}}"),
        kind: None,
    };
    let result = |text: &str| Part::ToolResult {
        call: "c1".to_owned(),
        content: vec![Part::text(text)],
        is_error: false,
    };
    let reply = Message {
        parts: vec![call(1), call(2)],
        ..Message::text(Role::Assistant, "")
    };
    let answer = |text| Message {
        parts: vec![result(text)],
        ..Message::text(Role::Tool, "")
    };
    let messages = [
        Message::text(Role::User, "Go on."),
        reply,
        answer("one"),
        answer("two"),
    ];
    let openai: Value =
        serde_json::from_str(&compiled(&messages, Provider::OpenAi).payload).expect("JSON");
    for (at, text) in ["one", "two"].into_iter().enumerate() {
        let (call, given) = (
            &openai["messages"][1]["tool_calls"][at],
            &openai["messages"][2 + at],
        );
        assert_eq!(
            (&call["id"], &given["content"]),
            (&given["tool_call_id"], &Value::from(text))
        );
    }
    let anthropic: Value =
        serde_json::from_str(&compiled(&messages, Provider::Anthropic).payload).expect("JSON");
    for (at, text) in ["one", "two"].into_iter().enumerate() {
        let (call, given) = (
            &anthropic["messages"][1]["content"][at],
            &anthropic["messages"][2]["content"][at],
        );
        assert_eq!(call["id"], given["tool_use_id"]);
        assert!(given["content"].to_string().contains(text), "{given}");
    }
}

proptest! {
    #![proptest_config(crate::conditions::laws(1024))]

    #[test]
    fn every_request_is_valid_and_the_same_twice(messages in messages()) {
        let providers = Provider::ALL.into_iter().filter(|it| *it != Provider::Text);
        for provider in providers {
            let made = compiled(&messages, provider);
            prop_assert_eq!(&made, &compiled(&messages, provider));
            let request: Value = serde_json::from_str(&made.payload).expect("JSON");
            if made.notices.contains(&Notice::NothingToSend) {
                let list = match provider {
                    Provider::Responses => "input",
                    Provider::Gemini => "contents",
                    _ => "messages",
                };
                prop_assert_eq!(request[list].as_array().map(Vec::len), Some(0));
                continue;
            }
            let wrong = check(&request, provider);
            prop_assert!(wrong.is_empty(), "{:?}\n{}", wrong, made.payload);
        }
        let made = compiled(&messages, Provider::Text);
        prop_assert_eq!(&made, &compiled(&messages, Provider::Text));
    }

    /// A tool has one name in its definition, in its calls, in their results and where it is chosen, which the provider takes,
    /// and two tools never have the same.
    #[test]
    fn a_tool_has_one_name_in_a_request(
        names in tool_names(),
        of in pick(&[Provider::OpenAi, Provider::Responses, Provider::Anthropic]),
        arguments in pick(&["{}", "", " "]),
    ) {
        let mut messages = vec![Message::text(Role::User, "go")];
        for (at, name) in names.iter().enumerate() {
            let id = format!("c{at}");
            let call = Part::call(id.clone(), name.clone(), arguments.to_owned(), None);
            messages.push(Message::new(Role::Assistant, vec![call]));
            let given = Part::result(id, vec![Part::text("done")], false);
            messages.push(Message::new(Role::Tool, vec![given]));
        }
        let tools: Vec<Value> = names.iter().map(|name| defined(of, name)).collect();
        for provider in Provider::ALL.into_iter().filter(|it| *it != Provider::Text) {
            let mut settings = Settings::new();
            settings.insert("tools".to_owned(), Value::Array(tools.clone()).to_string());
            let choice = chosen(provider, &names[0]).to_string();
            settings.insert("tool_choice".to_owned(), choice);
            let whole = RequestOptions { whole_request: true, ..options(provider) };
            let made = compile(&messages, &settings, &whole).expect("nothing is strict");
            let request: Value = serde_json::from_str(&made.payload).expect("JSON");
            let [mut declared, called, given, choice] = names_in(&request, provider);
            prop_assert_eq!(&declared, &called, "{}", made.payload);
            prop_assert!(given.is_empty() || given == called, "{}", made.payload);
            prop_assert_eq!(choice.first(), declared.first(), "{}", made.payload);
            prop_assert!(declared.iter().all(|name| takes_name(provider, name)), "{:?}", declared);
            for (name, sent) in names.iter().zip(&declared) {
                prop_assert!(name == sent || !takes_name(provider, name), "{} {}", name, sent);
            }
            declared.sort();
            declared.dedup();
            prop_assert_eq!(declared.len(), names.len(), "{}", made.payload);
            prop_assert!(!made.payload.contains("_raw"), "{}", made.payload);
        }
    }

    #[test]
    fn appending_keeps_the_earlier_bytes(messages in messages(), next in message()) {
        let mut longer = messages.clone();
        longer.push(next);
        if answers_an_open_call(&longer) {
            return Ok(());
        }
        for provider in Provider::ALL {
            let before = compiled(&messages, provider);
            let after = compiled(&longer, provider);
            let (stable, closing) = before.payload.split_at(before.stable_bytes);
            prop_assert!(
                provider == Provider::Text && closing.is_empty()
                    || CLOSINGS.contains(&closing)
                    || closing.contains("server_tool_use"),
                "{}", closing
            );
            prop_assert!(
                after.payload.starts_with(stable),
                "{}\n{}", before.payload, after.payload
            );
        }
    }

    #[test]
    fn replies_that_pause_stay_valid_as_they_go_on(messages in own_replies()) {
        let mut before: Option<Compiled> = None;
        for length in 1..=messages.len() {
            let made = compiled(&messages[..length], Provider::Anthropic);
            if !made.notices.contains(&Notice::NothingToSend) {
                let request: Value = serde_json::from_str(&made.payload).expect("JSON");
                let wrong = check_anthropic(&request);
                prop_assert!(wrong.is_empty(), "{:?}\n{}", wrong, made.payload);
            }
            if let Some(before) = before {
                let stable = &before.payload[..before.stable_bytes];
                prop_assert!(made.payload.starts_with(stable), "{}\n{}", stable, made.payload);
            }
            before = Some(made);
        }
    }

    #[test]
    fn messages_that_come_one_by_one_make_the_same_request(
        (first, plain, own) in (messages(), calls_in_turn(), own_replies()),
        attached in proptest::collection::vec(proptest::bool::weighted(0.1), 40),
        model in pick(&["claude-opus-4-8", "claude-sonnet-4-5"]),
        (has_attached, asked) in any::<(bool, prop::sample::Index)>(),
    ) {
        let (none, any) = (Contents::new(), vec![Vec::new()]);
        let settings = Settings::from([("model".to_owned(), format!("{model:?}"))]);
        let mut messages = [first, plain.clone(), own, plain].concat();
        for (message, is_attached) in messages.iter_mut().zip(attached) {
            let is_attached = has_attached && is_attached && message.role == Role::User;
            message.attached = is_attached.then(|| "file".to_owned());
        }
        for provider in Provider::ALL {
            let options = options(provider);
            let mut making = Compiling::new(&none, &settings, &options);
            for message in &messages {
                making.add_canonical(&message.canonical()).expect("it is one");
            }
            let made = making.finish().expect("nothing is strict");
            let at_once = compile(&messages, &settings, &options).expect("nothing is strict");
            prop_assert_eq!(&made, &at_once);
            for knows_client in [true, false] {
                let (mut making, mut taken) = (Compiling::new(&none, &settings, &options), String::new());
                if knows_client && !messages.iter().any(Message::is_attached) {
                    making.without_client();
                }
                for (at, message) in messages.iter().enumerate() {
                    if at == asked.index(messages.len()) {
                        let mut answered = AnsweredCalls::default();
                        let rest = messages[at..].iter().flat_map(Message::results);
                        rest.for_each(|call| answered.add(call));
                        making.answered(answered);
                    }
                    making.add(message.clone());
                    let mut take = |text: &str| -> tract::Result<()> {
                        taken.push_str(text);
                        Ok(())
                    };
                    making.hand_over(&mut take).expect("nothing fails");
                    prop_assert!(!knows_client || has_attached || !making.waits_for_client());
                    prop_assert!(making.held_bytes() == 0 || making.waits_for_client());
                }
                let rest = making.finish().expect("nothing is strict");
                taken.push_str(&rest.payload);
                prop_assert_eq!(&Compiled { payload: taken, ..rest }, &at_once);
            }
            // Where it is known of any what a client wrote, all are held until the end.
            let mut making = Compiling::new(&any, &settings, &options);
            messages.iter().for_each(|message| making.add(message.clone()));
            prop_assert_eq!(made, making.finish().expect("nothing is strict"));
        }
    }

    #[test]
    fn strict_fails_exactly_where_something_is_repaired(messages in messages()) {
        for provider in Provider::ALL {
            let made = compiled(&messages, provider);
            let strict = RequestOptions { strict: true, ..options(provider) };
            let strict = compile(&messages, &Settings::new(), &strict);
            match made.notices.iter().find(|notice| matches!(notice, Notice::Repaired { .. })) {
                None => prop_assert_eq!(strict.expect("nothing to repair"), made),
                Some(first) => match strict {
                    Err(Error::StrictCompile { first: told }) => {
                        prop_assert_eq!(told, first.to_string());
                    }
                    other => prop_assert!(false, "{:?}", other),
                },
            }
        }
    }

    #[test]
    fn no_call_and_no_result_with_a_call_is_lost(messages in messages()) {
        let calls: usize = messages
            .iter()
            .filter(|message| message.role == Role::Assistant)
            .map(|message| message.calls().count())
            .sum();
        let results: usize = messages.iter().map(|message| message.results().count()).sum();
        let made = compiled(&messages, Provider::OpenAi);
        let count = |wanted: Repair| {
            made.notices
                .iter()
                .find_map(|notice| match notice {
                    Notice::Repaired { repair, count, .. } if *repair == wanted => Some(*count),
                    _ => None,
                })
                .unwrap_or(0)
        };
        let (missing, unpaired) = (count(Repair::MissingResult), count(Repair::UnpairedResult));
        prop_assert_eq!(calls, results - unpaired + missing);
        let request: Value = serde_json::from_str(&made.payload).expect("JSON");
        let sent = request["messages"].as_array().expect("a list");
        let answers = sent.iter().filter(|message| message["role"] == "tool").count();
        prop_assert_eq!(answers, calls);
    }
}
