//! What a transcript and a chat say, and what is wrong with one.

use serde_json::json;

use super::{CURSOR, CURSOR_TEXT, slug};
use crate::formats::shared::contract::{read, sound, value_at};
use crate::formats::sniff::sniff;
use crate::model::{Millis, Usage};

const TRANSCRIPT: &[u8] = include_bytes!("../../../tests/data/cursor/transcript.jsonl");
const COMPOSER: &[u8] = include_bytes!("../../../tests/data/cursor/composer.json");
const TEXT: &[u8] = include_bytes!("../../../tests/data/cursor-text/transcript.txt");
const TAB: &[u8] = include_bytes!("../../../tests/data/cursor/tab.json");

#[test]
fn the_calls_of_a_transcript_get_ids_and_no_results_are_made_up() {
    let session = &sound(&CURSOR, TRANSCRIPT);
    assert_eq!(session.start.id, "stem");
    assert_eq!(
        session.said(),
        [
            "user: <user_query>\nHow many sacks?\n</user_query>",
            r#"assistant: I look. | call-1: Shell {"command":"ls sacks"} | call-2: Read {"path":"a"}"#,
            r#"assistant: call-3: Read {"path":"b"}"#,
            "assistant: 12 🌾.",
        ]
    );
    assert!(session.end.absent.contains(&"results".to_owned()));
}

#[test]
fn a_chat_is_its_bubbles_and_a_call_has_its_result_beside_it() {
    let session = &sound(&CURSOR, COMPOSER);
    assert_eq!(session.start.id, "5e0f0c1e-0000-4000-8000-000000000003");
    assert_eq!(session.end.title.as_deref(), Some("Sacks"));
    assert_eq!(
        session.said(),
        [
            "user: How many sacks?",
            "assistant: (Look. None)",
            r#"assistant: I look. | toolu_1: run_terminal_cmd {"command":"ls"}"#,
            r#"tool: toolu_1 false = {"output":"twelve"}"#,
            r#"assistant: call-1: read_file {"path":"x"}"#,
            r#"tool: call-1 true = {"message":"no file"}"#,
            r#"assistant: toolu_3: read_file {"path":"y"}"#,
            "assistant: 12 🌾.",
        ]
    );
    assert_eq!(session.steps[0].settings["model"], "\"claude-4-sonnet\"");
    assert_eq!(session.steps[7].settings["model"], "\"gpt-5\"");
    let counted = Usage::new(50, 7);
    assert_eq!(session.steps[7].usage, Some(counted));
    assert_eq!(session.steps[0].time, Some(Millis(1_772_438_400_000)));
    assert_eq!(
        value_at(COMPOSER, session.steps[3].records[0])["bubbleId"],
        "b3"
    );
    assert_eq!(session.end.other_records["empty bubble"], 1);
    assert_eq!(session.end.other_records["summary"], 1);
}

#[test]
fn an_older_chat_is_read_too() {
    let told = read(&CURSOR, TAB);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "5e0f0c1e-0000-4000-8000-000000000004");
    assert_eq!(session.end.title.as_deref(), Some("Wood"));
    assert_eq!(session.said(), ["user: Which wood?", "assistant: Oak."]);
    assert_eq!(session.steps[1].settings["model"], "\"claude-3.5-sonnet\"");
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let source = json!({"cursor_chat": {}, "bubbles": [
        {"type": 1, "text": "one"}, 7, {"type": 3, "text": "x"},
        {"bubbleId": "b9", "missing": true}, {"type": 2, "text": "two"}]});
    let told = read(&CURSOR, source.to_string().as_bytes());
    assert_eq!(
        told.reasons(),
        [
            "a message that is no object",
            "a bubble of an unknown kind 3",
            "a bubble that is not in the database"
        ]
    );
    assert_eq!(told.sessions[0].said(), ["user: one", "assistant: two"]);
    let torn = br#"{"cursor_chat":{},"bubbles":[{"type":1,"text":"a"},{"type":"#;
    let told = read(&CURSOR, torn);
    assert_eq!(told.sessions[0].said(), ["user: a"]);
    assert_eq!(told.problems.len(), 1);
    let lines = b"{\"role\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"new\"}]}}\n[1]\n{\"role\":\"nobody\",\"message\":{}}\n{\"role\":\"user\"}\n{\"role\":\"assi";
    let told = read(&CURSOR, lines);
    assert_eq!(told.problems.len(), 3);
    assert_eq!(told.sessions[0].steps.len(), 1);
    assert_eq!(told.sessions[0].end.other_records["record"], 1);
}

#[test]
fn the_folder_of_a_directory_is_its_path_in_plain_letters() {
    assert_eq!(slug("/home/mara/the.mill"), "home-mara-the-mill");
}

#[test]
fn a_transcript_in_plain_text_has_calls_and_few_results() {
    assert_eq!(sniff(&TEXT).expect("readable"), Some(&CURSOR_TEXT));
    let yaml = b"user:\n  name: mara\n";
    assert_eq!(sniff(&yaml.as_slice()).expect("readable"), None);
    let session = &sound(&CURSOR_TEXT, TEXT);
    assert_eq!(
        session.said(),
        [
            "user: <user_query>\nHow many sacks?\n[Tool call] is a mark, too\n</user_query>",
            "assistant: [Thinking] **Counting**\nI count. | call-1: custom Read path: sacks.txt\n  limit: 4 | call-2: custom ApplyPatch *** Begin Patch\n*** End Patch",
            "tool: call-2 false = done",
            "assistant: 42.",
            "user: Thanks.",
        ]
    );
    assert_eq!(session.steps[1].records.len(), 3);
}
