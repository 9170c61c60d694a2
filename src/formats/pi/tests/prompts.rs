//! Sessions since 1.0: the prompt and the tools as messages, edits of what is sent, requests that no reply shows.

use serde_json::{Value, json};

use crate::formats::pi::PI;
use crate::formats::pi::tests::{document, export};
use crate::formats::shared::contract::{Told, fresh, outgoing, read, texts, values};
use crate::formats::{Midway, Sink, Source, Step};
use crate::model::{Message, Part, Role, Settings, Usage};

/// An entry behind the one before it.
fn entry(id: &str, parent: &str, more: Value) -> Value {
    let parent = (!parent.is_empty()).then_some(parent);
    let mut entry = json!({"type": "message", "id": id, "parentId": parent});
    let more = more.as_object().cloned().unwrap_or_default();
    entry.as_object_mut().expect("an object").extend(more);
    entry
}

fn message(role: &str, content: Value, more: Value) -> Value {
    let mut message = json!({"role": role, "content": content, "timestamp": 1});
    let more = more.as_object().cloned().unwrap_or_default();
    message.as_object_mut().expect("an object").extend(more);
    json!({ "message": message })
}

fn user(id: &str, parent: &str) -> Value {
    entry(id, parent, message("user", json!(id), json!({})))
}

fn reply(id: &str, parent: &str) -> Value {
    let content = json!([{"type": "text", "text": id}]);
    let more = json!({"api": "anthropic-messages", "model": "m", "stopReason": "stop",
        "usage": {"input": 5, "output": 1, "cacheRead": 0, "cacheWrite": 0}});
    entry(id, parent, message("assistant", content, more))
}

fn system(id: &str, parent: &str, more: Value) -> Value {
    entry(id, parent, message("system", json!(""), more))
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("To {name}."), "parameters": {"type": "object"}})
}

/// The prompt that a session begins with.
fn prompt() -> Value {
    let sections = json!({"preamble": "You mill.", "tools": "<tools>\n</tools>", "none": null});
    system(
        "p",
        "",
        json!({"sections": sections, "toolsAdded": [tool("read"), tool("write")]}),
    )
}

const PROMPT: &str = "You mill.\n\n<tools>\n</tools>";

fn file(entries: &[Value]) -> Vec<u8> {
    let header = json!({"type": "session", "version": 3, "id": "s", "cwd": "/w"});
    let lines = std::iter::once(&header).chain(entries);
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    lines.into_bytes()
}

fn told(entries: &[Value]) -> Told {
    let told = read(&PI, &file(entries));
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    told
}

/// The texts of what stands at the end.
fn standing(entries: &[Value]) -> Vec<String> {
    let told = told(entries);
    let standing = told.sessions[0].standing();
    standing.iter().map(|it| texts(it).concat()).collect()
}

fn summary(id: &str, parent: &str, first: &str, prompt: Option<&str>) -> Value {
    let mut more = json!({"type": "compaction", "summary": id, "firstKeptEntryId": first,
        "usage": {"input": 7, "output": 2, "cacheRead": 0, "cacheWrite": 0}});
    if let Some(prompt) = prompt {
        let sections = json!({ "preamble": prompt });
        more["systemMessage"] =
            json!({"role": "system", "content": "", "sections": sections, "toolsAdded": []});
    }
    entry(id, parent, more)
}

fn summed_up(id: &str) -> String {
    let [before, after] = crate::formats::pi::SUMMED_UP;
    format!("{before}{id}{after}")
}

#[test]
fn a_prompt_and_the_changes_of_it_stand_where_they_were_said() {
    let change = json!({"sections": {"preamble": "You bake.", "tools": null},
        "toolsRemoved": [{"name": "write"}], "toolsAdded": [tool("bake")]});
    let entries = [
        prompt(),
        user("u", "p"),
        reply("r", "u"),
        system("c", "r", change),
        user("v", "c"),
        system("t", "v", json!({"toolsAdded": [tool("sift")]})),
        reply("q", "t"),
    ];
    let told = told(&entries);
    let session = &told.sessions[0];
    let changed = "Updated system prompt section \"preamble\":\n\nYou bake.\n\n\
                   Removed system prompt section \"tools\".";
    let said: Vec<String> = session
        .messages()
        .iter()
        .map(|it| texts(it).concat())
        .collect();
    assert_eq!(said, [PROMPT, "u", "r", changed, "v", "q"]);
    assert_eq!(session.messages()[3].role, Role::System);
    assert!(session.end.absent.is_empty(), "{:?}", session.end.absent);
    let names = |at: usize| -> Vec<String> {
        let tools = session.steps[at].settings.get("tools");
        let tools: Value = serde_json::from_str(tools.expect("some")).expect("JSON");
        let tools = tools.as_array().expect("a list").iter();
        let names = tools.map(|it| it["function"]["name"].as_str().expect("one").to_owned());
        names.collect()
    };
    assert_eq!(names(0), ["read", "write"]);
    assert_eq!(names(3), ["read", "bake"]);
    assert_eq!(names(5), ["read", "bake", "sift"]);
    assert!(!session.steps[4].settings.contains_key("tools"));
    // What says tools alone is no message.
    assert_eq!(session.end.other_records["message (not sent)"], 1);
}

#[test]
fn behind_a_compaction_the_prompt_that_holds_stands_in_front() {
    let head = [prompt(), user("a", "p"), reply("b", "a")];
    let whole = |more: &[Value]| standing(&[&head[..], more].concat());
    let same = json!({"role": "system", "content": PROMPT});
    let mut kept = summary("s", "b", "b", None);
    kept["systemMessage"] = same.clone();
    assert_eq!(whole(&[kept]), [PROMPT, &summed_up("s"), "b"]);
    let mut none = summary("s", "b", "s", None);
    none["systemMessage"] = same;
    assert_eq!(
        whole(&[none, user("c", "s")]),
        [PROMPT, &summed_up("s"), "c"]
    );
    // Changes are part of the one that it says, whether they stand before what is kept or in it.
    let change = |parent: &str| system("c", parent, json!({"sections": {"preamble": "You bake."}}));
    let entries = [
        change("b"),
        user("d", "c"),
        summary("s", "d", "b", Some("You bake.")),
    ];
    assert_eq!(whole(&entries), ["You bake.", &summed_up("s"), "b", "d"]);
    assert_eq!(
        whole(&[&entries[..], &[summary("t", "s", "d", Some("You bake."))]].concat()),
        ["You bake.", &summed_up("t"), "d"]
    );
    // An earlier entry is kept again.
    assert_eq!(
        whole(&[&entries[..], &[summary("t", "s", "a", Some("You sift."))]].concat()),
        ["You sift.", &summed_up("t"), "a", "b", "d"]
    );
    // One that says none has none.
    assert_eq!(
        whole(&[summary("s", "b", "b", None)]),
        [&summed_up("s"), "b"]
    );
}

#[test]
fn an_edit_holds_from_where_it_stands() {
    let edit = |id: &str, parent: &str, target: &str, text: Option<&str>| {
        let replacement = text.map(|text| json!({ "content": text }));
        entry(
            id,
            parent,
            json!({"type": "context_edit", "targetId": target, "replacement": replacement}),
        )
    };
    let head = [user("a", ""), reply("b", "a"), user("c", "b")];
    let whole = |more: &[Value]| standing(&[&head[..], more].concat());
    assert_eq!(whole(&[edit("e", "c", "b", Some("B"))]), ["a", "B", "c"]);
    assert_eq!(whole(&[edit("e", "c", "b", None)]), ["a", "c"]);
    let twice = [edit("e", "c", "b", None), edit("f", "e", "b", Some("B"))];
    assert_eq!(whole(&twice), ["a", "B", "c"]);
    assert_eq!(
        whole(&[&twice[..], &[edit("g", "f", "b", Some("C"))]].concat()),
        ["a", "C", "c"]
    );
    assert_eq!(
        whole(&[edit("e", "c", "c", None), edit("f", "e", "c", Some("C"))]),
        ["a", "b", "C"]
    );
    // One of nothing that is sent, and of what is not on the way.
    let entries = [
        edit("e", "c", "x", None),
        user("d", "b"),
        edit("f", "d", "c", None),
    ];
    assert_eq!(whole(&entries), ["a", "b", "d"]);
    // Behind a compaction, and where a later one keeps it again.
    let entries = [
        edit("e", "c", "b", Some("B")),
        summary("s", "e", "c", None),
        summary("t", "s", "b", None),
    ];
    assert_eq!(whole(&entries[..2]), [&summed_up("s"), "c"]);
    assert_eq!(whole(&entries), [&summed_up("t"), "B", "c"]);
    let entries = [
        edit("e", "c", "b", None),
        summary("s", "e", "c", None),
        summary("t", "s", "a", None),
    ];
    assert_eq!(whole(&entries), [&summed_up("t"), "a", "c"]);
}

#[test]
fn requests_that_no_reply_shows_are_counted() {
    let usage = json!({"input": 1, "output": 3, "cacheRead": 10, "cacheWrite": 0});
    let of_tool = message(
        "toolResult",
        json!([]),
        json!({"toolCallId": "x", "usage": usage.clone()}),
    );
    let entries = [
        user("a", ""),
        reply("b", "a"),
        entry(
            "w",
            "b",
            json!({"type": "usage", "kind": "cache_warm", "model": "w", "usage": usage.clone()}),
        ),
        entry("t", "w", of_tool),
        summary("s", "t", "b", None),
        entry(
            "g",
            "s",
            json!({"type": "branch_summary", "summary": "left", "usage": usage}),
        ),
    ];
    let told = told(&entries);
    let stated = told.sessions[0].end.stated.as_ref().expect("some");
    let mut beyond = stated.beyond(|_| Usage::default(), Usage::default());
    beyond.sort_by(|a, b| a.0.cmp(&b.0));
    let warm = Usage::new(11, 3).cached(10, 0);
    let others = Usage::new(11 + 7 + 11, 3 + 2 + 3).cached(20, 0);
    assert_eq!(beyond, [("m".to_owned(), others), ("w".to_owned(), warm)]);
}

#[test]
fn an_items_id_is_no_part_of_its_calls() {
    let call = json!([{"type": "toolCall", "id": "call_1|fc_1", "name": "look", "arguments": {}}]);
    let entries = [
        user("a", ""),
        entry(
            "b",
            "a",
            message("assistant", call, json!({"api": "openai-responses"})),
        ),
        entry(
            "c",
            "b",
            message(
                "toolResult",
                json!([]),
                json!({"toolCallId": "call_1|fc_1"}),
            ),
        ),
    ];
    let told = told(&entries);
    let messages = told.sessions[0].messages();
    assert_eq!(messages[1].calls().collect::<Vec<_>>(), ["call_1"]);
    assert_eq!(messages[2].results().collect::<Vec<_>>(), ["call_1"]);
    // The tool gets its own ids back.
    let (written, _) = export(
        &outgoing(&file(&entries), &told.sessions[0]),
        &document(true),
    );
    assert_eq!(values(&written)[2]["message"], entries[1]["message"]);
}

#[test]
fn a_signature_of_geminis_stands_before_what_it_came_with() {
    let blocks = json!([
        {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "dGhvdWdodA=="},
        {"type": "text", "text": "I look.", "textSignature": "dGV4dA=="},
        {"type": "toolCall", "id": "c", "name": "look", "arguments": {}, "thoughtSignature": "Y2FsbA=="},
    ]);
    let with = |api: &str| {
        let more = json!({"api": api, "model": "gemini-3-pro"});
        [
            user("a", ""),
            entry("b", "a", message("assistant", blocks.clone(), more)),
        ]
    };
    let entries = with("google-generative-ai");
    let told_of = told(&entries);
    let parts = &told_of.sessions[0].messages()[1].parts;
    let signatures: Vec<Option<(&str, &str)>> = parts
        .iter()
        .map(|part| match part {
            Part::Thinking {
                text,
                signature: Some(signature),
                provider: Some(provider),
            } => {
                assert_eq!(provider, "gemini");
                Some((text.as_str(), signature.as_str()))
            }
            _ => None,
        })
        .collect();
    let [thought, text, call] = ["dGhvdWdodA==", "dGV4dA==", "Y2FsbA=="];
    assert_eq!(
        signatures,
        [
            Some(("Hm.", thought)),
            Some(("", text)),
            None,
            Some(("", call)),
            None
        ]
    );
    let (written, remarks) = export(
        &outgoing(&file(&entries), &told_of.sessions[0]),
        &document(true),
    );
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(values(&written)[2]["message"], entries[1]["message"]);
    // A text's signature of another provider's is the id of its item.
    let told = told(&with("openai-responses"));
    assert_eq!(told.sessions[0].messages()[1].parts.len(), 3);
}

#[test]
fn a_new_session_has_the_prompt_as_the_tool_said_it() {
    let change = json!({"sections": {"preamble": "You bake."}});
    let entries = [
        prompt(),
        user("a", "p"),
        reply("b", "a"),
        system("c", "b", change),
        user("d", "c"),
    ];
    let session = |entries: &[Value]| {
        let told = told(entries);
        outgoing(&file(entries), &told.sessions[0])
    };
    let (written, remarks) = export(&session(&entries), &document(true));
    assert!(remarks.is_empty(), "{remarks:?}");
    let said =
        |lines: &[Value]| -> Vec<Value> { lines.iter().map(|it| it["message"].clone()).collect() };
    assert_eq!(said(&values(&written)[1..]), said(&entries));
    // Behind a compaction it is the one that the compaction says.
    let compaction = summary("s", "d", "d", Some("You bake."));
    let mut messages = session(&[compaction.clone(), user("e", "s")]);
    let mut prompt = fresh(Role::System, vec![Part::text("You bake.")]);
    prompt.records = messages[0].records.clone();
    messages.insert(0, prompt);
    let (written, remarks) = export(&messages, &document(true));
    assert!(remarks.is_empty(), "{remarks:?}");
    let lines = values(&written);
    assert_eq!(lines[1]["message"], compaction["systemMessage"]);
    assert_eq!(lines[2]["systemMessage"], compaction["systemMessage"]);
    let again = read(&PI, &written);
    let again = again.sessions[0].standing();
    let said: Vec<Message> = messages.iter().map(|it| it.message.clone()).collect();
    assert_eq!(again, said);
    // Another tool's is left out, for this one makes its own.
    let (written, remarks) = export(
        &[fresh(Role::System, vec![Part::text("x")])],
        &document(true),
    );
    assert_eq!((values(&written).len(), remarks.len()), (1, 1));
}

#[test]
fn what_has_grown_has_its_tools_from_before() {
    #[derive(Default)]
    struct Steps(Vec<Step>);
    impl Sink for Steps {
        fn step(&mut self, step: Step) -> crate::error::Result<()> {
            self.0.push(step);
            Ok(())
        }
    }
    let change = json!({"sections": {"preamble": "You bake."}, "toolsAdded": [tool("bake")]});
    let entries = [
        prompt(),
        user("a", "p"),
        system("c", "a", change),
        reply("b", "c"),
    ];
    let (bytes, told) = (file(&entries), told(&entries));
    let steps = &told.sessions[0].steps;
    let mut found = Steps::default();
    let settings: Settings = steps[0].settings.clone();
    let from = Midway {
        offset: steps[2].records[0].offset,
        id: "s",
        settings: &settings,
    };
    let go_on = PI.go_on.expect("it can");
    let bytes: &[u8] = &bytes;
    assert!(go_on(Source::of(&bytes, &mut found), from).expect("readable"));
    assert_eq!(found.0, steps[2..]);
}
