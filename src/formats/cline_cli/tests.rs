//! What a session says, how its files are joined, and what is wrong with them.

use serde_json::json;

use super::CLINE_CLI;
use super::files::FILES;
use crate::formats::shared::contract::{FolderOf, read, sound, value_at};
use crate::formats::sniff::sniff;
use crate::model::{Millis, Usage};

const SESSION: &str = include_str!("../../../tests/data/cline-cli/session.json");
const FOLDER: &str = "cline-cli/1793000000000_mill1";
const SHOWN: &str = "1793000000000_mill1.messages.json";

#[test]
fn a_session_is_what_was_sent_and_its_compaction_hides() {
    assert_eq!(
        sniff(&SESSION.as_bytes()).expect("readable"),
        Some(&CLINE_CLI)
    );
    let session = &sound(&CLINE_CLI, SESSION.as_bytes());
    assert_eq!(session.start.id, "1793000000000_mill1");
    assert_eq!(session.end.title.as_deref(), Some("Sacks"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
    assert_eq!(session.end.absent, ["tool definitions"]);
    assert_eq!(
        session.said(),
        [
            "system: You are Cline, and you mill.",
            "user: How many sacks are in the mill?",
            r#"assistant: I look. | call_1: run_commands {"commands":["cat sacks.txt","cat none.txt"]}"#,
            r#"tool: call_1 false = [{"query":"cat sacks.txt","result":"twelve é\n","success":true},{"query":"cat none.txt","result":"","error":"Command exited with code 1","success":false}]"#,
            r#"assistant: Twelve. I ask the scout. | call_2: spawn_agent {"systemPrompt":"You are a scout.","task":"Count the carts."}"#,
            r#"tool: call_2 false = {"text":"Three carts.","iterations":1}"#,
            "assistant: Twelve sacks, three carts.",
            "user: Grind them.",
            r#"assistant: I grind. | call_3: run_commands {"commands":["grind --all"]}"#,
            r#"tool: call_3 false = [{"query":"grind --all","result":"","error":"Command failed: Command was aborted","success":false}]"#,
            "Compaction: user: Context summary:\n\nTwelve sacks, three carts.",
            "user: Once more.",
            "assistant: Ground.",
        ]
    );
    assert_eq!(session.end.other_records["message for the screen"], 1);
    let step = |at: usize| &session.steps[at];
    assert_eq!(step(2).time, Some(Millis(1_793_000_002_000)));
    assert_eq!(step(2).settings["model"], "\"claude-sonnet-4-5\"");
    assert_eq!(step(4).usage, Some(Usage::new(1_100, 30).cached(1_000, 0)));
    assert_eq!(value_at(SESSION.as_bytes(), step(4).records[0])["id"], "m3");
    let crate::formats::Action::Hide(hide) = &step(10).action else {
        panic!("no hide");
    };
    // The prompt, the call and its result stand on.
    assert_eq!(hide.keep.len(), 3);
    assert_eq!(hide.replacements[0].0, Some(hide.keep[0]));
    assert_eq!(step(10).time, Millis::parse("2026-10-26T00:00:09.700Z"));
}

#[test]
fn the_files_of_a_session_are_joined_and_one_alone_is_read_too() {
    let folder = FolderOf::read(FOLDER);
    let joined = (FILES.document)(&folder, SHOWN).expect("they are there");
    assert_eq!(joined, SESSION);
    let agent = "agent_1793000004100_scout.messages.json";
    let agents = (FILES.document)(&folder, agent).expect("it is there");
    let session = sound(&CLINE_CLI, agents.as_bytes());
    let id = "1793000000000_mill1__agent_1793000004100_scout";
    assert_eq!(session.start.id, id);
    let by = session.start.descent.spawned_by.as_deref();
    assert_eq!(by, Some("1793000000000_mill1"));
    assert_eq!(session.end.absent, ["system prompt", "tool definitions"]);
    for (path, shown) in [
        ("a.messages.json", Some("a.messages.json")),
        ("a.compaction.json", Some("a.messages.json")),
        ("a.json", Some("a.messages.json")),
        ("a/b.json", None),
        (".json", None),
        ("a.jsonl", None),
    ] {
        assert_eq!((FILES.shown_by)(path).as_deref(), shown, "{path}");
    }
}

#[test]
fn a_file_that_is_cut_or_spoilt_is_named_and_the_rest_comes_in() {
    let mut folder = FolderOf::read(FOLDER);
    folder.0.insert(
        "1793000000000_mill1.json".to_owned(),
        "{\"cwd\":".to_owned(),
    );
    let whole = folder.0[SHOWN].clone();
    let cut = whole.find("\"m5\"").expect("it is there");
    folder.0.insert(SHOWN.to_owned(), whole[..cut].to_owned());
    let joined = (FILES.document)(&folder, SHOWN).expect("they are there");
    let told = read(&CLINE_CLI, joined.as_bytes());
    assert_eq!(
        told.reasons()[0],
        "1793000000000_mill1.json: no JSON object"
    );
    assert_eq!(told.problems.len(), 2, "{:?}", told.problems);
    assert_eq!(told.sessions[0].steps.len(), 5);
}

#[test]
fn a_compaction_of_other_messages_hides_nothing() {
    let of = |change: fn(&mut serde_json::Value)| {
        let mut object: serde_json::Value = serde_json::from_str(SESSION).expect("JSON");
        change(&mut object["cline_compaction"]);
        let mut told = read(&CLINE_CLI, object.to_string().as_bytes());
        let other = std::mem::take(&mut told.sessions[0].end.other_records);
        (told.sessions[0].steps.len(), other)
    };
    let (steps, other) = of(|it| it["source_last_message_key"] = json!("id:m5"));
    assert_eq!((steps, other["compaction of other messages"]), (12, 1));
    let (steps, other) = of(|it| it["source_message_count"] = json!(99));
    assert_eq!(steps, 12);
    assert_eq!(other["compaction of more messages than there are"], 1);
}

#[test]
fn a_prompt_is_sent_without_its_frame_and_a_long_result_without_its_middle() {
    let session = |messages: serde_json::Value| {
        let object = json!({"sessionId": "s", "agent": "lead", "messages": messages});
        sound(&CLINE_CLI, object.to_string().as_bytes()).said()
    };
    let user = |text: &str| json!([{"role": "user", "content": [{"type": "text", "text": text}]}]);
    for (written, sent) in [
        ("<user_input mode=\"plan\"> a <b> </user_input>", "a <b>"),
        ("<user_input mode=\"act\">x</user_input> y", "x y"),
        ("<user_input mode=\"act\">open", "open"),
        ("<user_inputs>stays</user_inputs>", "stays</user_inputs>"),
        ("<user_command slash=\"team\">go</user_command>", "go"),
        ("plain", "plain"),
    ] {
        assert_eq!(
            session(user(written)),
            [format!("user: {sent}")],
            "{written}"
        );
    }
    let long = "é".repeat(9_000);
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "t", "input": {}}]});
    let given = json!([{"query": "q", "result": long, "success": true}]);
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": given}]});
    let said = session(json!([call, result]));
    let note = "\\n\\n...[truncated 1032 chars]...\\n\\n";
    let half = "é".repeat((8_000 - 32) / 2);
    let sent = format!(
        "tool: c false = [{{\"query\":\"q\",\"result\":\"{half}{note}{half}\",\"success\":true}}]"
    );
    assert_eq!(said[1], sent);
}
