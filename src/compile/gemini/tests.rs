//! Examples of requests, each beside what it was made of.

use crate::compile::{Compiled, Compiling, Contents, Provider, RequestOptions, compile};
use crate::model::{Media, MediaSource, Message, Part, Role, Settings};

const OPTIONS: RequestOptions = RequestOptions {
    provider: Provider::Gemini,
    whole_request: false,
    strict: false,
};

fn settings(of: &[(&str, &str)]) -> Settings {
    let of = of.iter();
    of.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn told(made: Compiled) -> (String, Vec<String>) {
    let notices = made.notices.iter().map(ToString::to_string).collect();
    (made.payload, notices)
}

fn made(messages: &[Message]) -> (String, Vec<String>) {
    told(compile(messages, &Settings::new(), &OPTIONS).expect("not strict"))
}

fn of(role: Role, parts: Vec<Part>) -> Message {
    Message::new(role, parts)
}

fn say(role: Role, text: &str) -> Message {
    Message::text(role, text)
}

fn call(id: &str, name: &str) -> Part {
    Part::call(
        id.to_owned(),
        name.to_owned(),
        r#"{"at":1}"#.to_owned(),
        None,
    )
}

fn result(id: &str, text: &str, is_error: bool) -> Part {
    Part::result(id.to_owned(), vec![Part::text(text)], is_error)
}

fn thought(text: &str, seal: Option<&str>, whose: &str) -> Part {
    Part::thinking(text.to_owned(), seal.map(str::to_owned), Some(whose))
}

#[test]
fn calls_are_answered_in_one_content_and_neighbours_of_one_voice_are_one() {
    let (payload, notices) = made(&[
        say(Role::System, "Be brief."),
        say(Role::User, "one"),
        say(Role::User, "two"),
        of(
            Role::Assistant,
            vec![
                Part::text("I look."),
                call("a", "look up"),
                call("b", "9to"),
            ],
        ),
        of(Role::Tool, vec![result("a", r#"{"hits":2}"#, false)]),
        of(Role::Tool, vec![result("b", "no such street", true)]),
        say(Role::Assistant, "Twelve."),
        say(Role::Developer, "In Welsh."),
    ]);
    assert_eq!(
        payload,
        concat!(
            r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":["#,
            r#"{"role":"user","parts":[{"text":"one"},{"text":"two"}]},"#,
            r#"{"role":"model","parts":[{"text":"I look."},"#,
            r#"{"functionCall":{"id":"a","name":"look_up_a973a279","args":{"at":1}},"thoughtSignature":"skip_thought_signature_validator"},"#,
            r#"{"functionCall":{"id":"b","name":"_9to_6d0a24e9","args":{"at":1}}}]},"#,
            r#"{"role":"user","parts":["#,
            r#"{"functionResponse":{"id":"a","name":"look_up_a973a279","response":{"hits":2}}},"#,
            r#"{"functionResponse":{"id":"b","name":"_9to_6d0a24e9","response":{"error":"no such street"}}}]},"#,
            r#"{"role":"model","parts":[{"text":"Twelve."}]},"#,
            r#"{"role":"user","parts":[{"text":"In Welsh."}]}]}"#,
        )
    );
    assert_eq!(
        notices,
        [
            "2 tool names changed (first: message 4)",
            "1 later system message sent as the user's text (message 8)",
            "1 tool call has no thought signature; the request has the provider's word for none",
        ]
    );
}

#[test]
fn a_signature_goes_with_the_part_behind_it_and_to_nobody_else() {
    let replies = [
        // As the API gives it: with the call.
        (
            vec![
                thought("Where?", None, "gemini"),
                thought("", Some("c2VhbA=="), "gemini"),
                call("a", "look"),
            ],
            r#"{"text":"Where?","thought":true},{"functionCall":{"id":"a","name":"look","args":{"at":1}},"thoughtSignature":"c2VhbA=="}"#,
        ),
        // As pydantic-ai keeps it: with the thought, of the part behind it.
        (
            vec![
                thought("Where?", Some("c2VhbA=="), "gemini"),
                Part::text("There."),
            ],
            r#"{"text":"Where?","thought":true},{"text":"There.","thoughtSignature":"c2VhbA=="}"#,
        ),
        (
            vec![
                Part::text("There."),
                thought("", Some("c2VhbA=="), "gemini"),
            ],
            r#"{"text":"There."},{"text":"","thoughtSignature":"c2VhbA=="}"#,
        ),
        (
            vec![
                thought("So.", Some("c2VhbA=="), "gemini"),
                thought("", Some("b3RoZXI="), "gemini"),
                Part::text("Yes."),
            ],
            r#"{"text":"So.","thought":true,"thoughtSignature":"c2VhbA=="},{"text":"Yes.","thoughtSignature":"b3RoZXI="}"#,
        ),
        (
            vec![
                thought("Hm.", Some("c2VhbA=="), "anthropic"),
                Part::text("No."),
            ],
            r#"{"text":"No."}"#,
        ),
    ];
    for (parts, wanted) in replies {
        let (payload, notices) = made(&[say(Role::User, "one"), of(Role::Assistant, parts)]);
        assert!(
            payload.contains(&format!(r#""parts":[{wanted}]"#)),
            "{payload}"
        );
        assert!(
            !notices.iter().any(|one| one.contains("signature")),
            "{notices:?}"
        );
    }
}

#[test]
fn gemini_cli_names_the_first_missing_signature_and_those_behind_the_newest_prompt() {
    let step = |id: &str| {
        [
            of(
                Role::Assistant,
                vec![thought("Hm.", None, "gemini"), call(id, "look")],
            ),
            of(Role::Tool, vec![result(id, "{}", false)]),
        ]
    };
    let first = [say(Role::User, "one")].into_iter();
    let first = first.chain(step("a")).chain(step("b"));
    let talk: Vec<Message> = first
        .chain([say(Role::User, "two")])
        .chain(step("c"))
        .collect();
    let (contents, settings) = (Contents::new(), Settings::new());
    let mut making = Compiling::new(&contents, &settings, &OPTIONS);
    making.as_gemini_cli();
    talk.iter().for_each(|message| making.add(message.clone()));
    let made = making.finish().expect("not strict");
    let parts = made.payload.split(r#"{"functionCall":"#).skip(1);
    let has_word: Vec<bool> = parts.map(|part| part.contains("skip_thought")).collect();
    assert_eq!(has_word, [true, false, true], "{}", made.payload);
    // The last word goes with the next prompt.
    let at = made.payload.rfind("skip_thought").expect("it is there");
    assert!(made.stable_bytes < at);
    assert_eq!(
        made.payload
            .matches(r#""response":{"output":"{}"}"#)
            .count(),
        3
    );
    assert!(!made.payload.contains("Hm."));
}

#[test]
fn pictures_and_files_that_models_take_are_sent_and_others_named() {
    let file =
        |kind: Option<&str>, source| Part::media(Media::new(kind.map(str::to_owned), source));
    let data = |data: &str| MediaSource::Base64(data.to_owned());
    let url = |url: &str| MediaSource::Url(url.to_owned());
    let taken = [
        (
            file(None, data("iVBORw0KGgo=")),
            r#"{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}"#,
        ),
        (
            file(None, url("data:audio/wav;base64,UklGRg==")),
            r#"{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}"#,
        ),
        (
            file(
                Some("application/pdf"),
                url("https://mill.example/list.pdf"),
            ),
            r#"{"fileData":{"mimeType":"application/pdf","fileUri":"https://mill.example/list.pdf"}}"#,
        ),
        (
            file(
                Some("video/mp4"),
                MediaSource::FileId(
                    "https://generativelanguage.googleapis.com/v1beta/files/w".to_owned(),
                ),
            ),
            r#"{"fileData":{"mimeType":"video/mp4","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/w"}}"#,
        ),
    ];
    for (part, wanted) in taken {
        let (payload, notices) = made(&[of(Role::User, vec![part.clone()])]);
        assert_eq!(
            payload,
            format!(r#"{{"contents":[{{"role":"user","parts":[{wanted}]}}]}}"#)
        );
        assert!(notices.is_empty(), "{notices:?}");
        // In what a tool gave it stands behind the answer.
        let given = Part::result("a".to_owned(), vec![Part::text("out"), part], false);
        let (payload, _) = made(&[
            of(Role::Assistant, vec![call("a", "look")]),
            of(Role::Tool, vec![given]),
        ]);
        let answer = r#"{"functionResponse":{"id":"a","name":"look","response":{"output":"out"}}}"#;
        assert!(payload.contains(&format!("{answer},{wanted}")), "{payload}");
    }
    for part in [
        file(Some("image/gif"), data("R0lGOD==")),
        file(Some("application/zip"), data("UEs=")),
        file(None, MediaSource::FileId("file-1".to_owned())),
    ] {
        let (payload, notices) = made(&[of(Role::User, vec![part])]);
        assert!(
            payload.contains(r#"{"text":"[image]"}"#) || payload.contains(r#"{"text":"[file]"}"#),
            "{payload}"
        );
        assert_eq!(notices.len(), 1);
    }
}

#[test]
fn blocks_of_the_provider_go_back_where_they_may_stand() {
    let code = r#"{"executableCode":{"language":"PYTHON","code":"run()"}}"#;
    let block = |data: &str| Part::opaque("gemini", data);
    let (payload, notices) = made(&[
        say(Role::User, "run"),
        of(Role::Assistant, vec![block(code)]),
    ]);
    assert!(payload.contains(code), "{payload}");
    assert!(notices.is_empty(), "{notices:?}");
    for lost in [
        code,
        r#"{"functionCall":{"name":"x"}}"#,
        r#"{"text":7}"#,
        "{}",
        "7",
    ] {
        let (payload, notices) = made(&[of(Role::User, vec![Part::text("run"), block(lost)])]);
        assert_eq!(
            payload,
            r#"{"contents":[{"role":"user","parts":[{"text":"run"}]}]}"#
        );
        assert_eq!(notices.len(), 1, "{lost}");
    }
    // An answer that is worded in another way is the answer.
    let given = r#"{"functionResponse":{"name":"look","response":{"hits":2}}}"#;
    let given = Part::result("a".to_owned(), vec![block(given)], false);
    let (payload, _) = made(&[
        of(Role::Assistant, vec![call("a", "look")]),
        of(Role::Tool, vec![given]),
    ]);
    assert_eq!(payload.matches("functionResponse").count(), 1);
    assert!(payload.contains(r#""response":{"hits":2}"#), "{payload}");
}

#[test]
fn a_whole_request_has_the_settings_where_the_api_has_them() {
    let settings = settings(&[
        ("model", r#""gemini-3.8-flash""#),
        ("max_tokens", "100"),
        ("temperature", "0.5"),
        ("top_p", "0.9"),
        ("stop", r#""END""#),
        (
            "response_format",
            r#"{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"}}}"#,
        ),
        ("tool_choice", r#"{"type":"tool","name":"look"}"#),
        (
            "tools",
            r#"[{"name":"look","description":"Looks","input_schema":{"type":"object"}},{"type":"function","function":{"name":"go"}},{"googleSearch":{}},{"type":"bash_20250124","name":"bash"}]"#,
        ),
        ("stream", "true"),
    ]);
    let options = RequestOptions {
        whole_request: true,
        ..OPTIONS
    };
    let made = compile(&[say(Role::User, "one")], &settings, &options).expect("not strict");
    let (payload, notices) = told(made);
    assert_eq!(
        payload,
        concat!(
            r#"{"model":"gemini-3.8-flash","tools":[{"functionDeclarations":["#,
            r#"{"name":"look","description":"Looks","parametersJsonSchema":{"type":"object"}},"#,
            r#"{"name":"go","parametersJsonSchema":{"type":"object","properties":{}}}]},{"googleSearch":{}}],"#,
            r#""toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["look"]}},"#,
            r#""generationConfig":{"maxOutputTokens":100,"temperature":0.5,"topP":0.9,"stopSequences":["END"],"#,
            r#""responseMimeType":"application/json","responseJsonSchema":{"type":"object"}},"#,
            r#""contents":[{"role":"user","parts":[{"text":"one"}]}]}"#,
        )
    );
    assert_eq!(
        notices,
        [
            "1 tool that gemini cannot run left out",
            "the setting 'stream' is not in a form that gemini takes; left out",
        ]
    );
}
