//! What a history says, session by session, and what is no message in it.

use super::AIDER;
use crate::formats::Action;
use crate::formats::shared::contract::{Session, read, texts};
use crate::formats::sniff::sniff;
use crate::model::Role;

const HISTORY: &[u8] = include_bytes!("../../../tests/data/aider/.aider.chat.history.md");

fn said(session: &Session) -> Vec<(Role, String)> {
    let messages = session.messages().into_iter();
    let said = messages.map(|message| (message.role, texts(message).concat()));
    said.collect()
}

#[test]
fn prompts_and_replies_are_messages_and_what_the_tool_says_is_none() {
    let told = read(&AIDER, HISTORY);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let [session] = &told.sessions[..] else {
        panic!("{:?}", told.sessions)
    };
    assert_eq!(session.start.id, "stem/20260302-090000");
    let reply = "Here is the wheel 🌾.\n\nmill.py\n```python\n<<<<<<< SEARCH\n# the mill\n=======\n# the mill has a wheel\n>>>>>>> REPLACE\n```";
    let expected = [
        (Role::User, "Add a wheel to the mill.\n\nIt turns left."),
        (Role::Assistant, reply),
        (Role::User, "Why left?"),
        (Role::Assistant, "Because of the river."),
        (Role::User, "And a door?"),
        (Role::Assistant, "A door."),
    ];
    let expected = expected.map(|(role, text)| (role, text.to_owned()));
    assert_eq!(said(session), expected);
    // What was cleared is sent no more.
    assert!(matches!(session.steps[4].action, Action::Hide(_)));
    assert_eq!(session.steps[0].settings["model"], "\"gpt-4o\"");
    assert_eq!(session.steps[5].settings["model"], "\"o3\"");
    assert_eq!(session.end.other_records["command"], 3);
    assert_eq!(session.end.other_records["blank"], 1);
}

#[test]
fn a_record_is_the_lines_as_they_stand() {
    let told = read(&AIDER, HISTORY);
    let record = |at: usize| {
        let span = told.sessions[0].steps[at].records[0];
        let bytes = &HISTORY[span.offset as usize..(span.offset + span.len) as usize];
        std::str::from_utf8(bytes).expect("UTF-8")
    };
    assert_eq!(
        record(0),
        "#### Add a wheel to the mill.  \n####   \n#### It turns left.  "
    );
    assert!(record(1).starts_with("Here is") && record(1).ends_with("```"));
    assert_eq!(record(4), "#### /clear  ");
}

#[test]
fn sessions_of_one_second_have_names_of_their_own_and_bad_bytes_are_told() {
    let source = b"# aider chat started at 2026-03-02 09:00:00\n#### a\nb\xff\r\n\n# aider chat started at 2026-03-02 09:00:00\n\n#### c\n# no heading";
    let told = read(&AIDER, source);
    let ids: Vec<_> = told.sessions.iter().map(|it| &*it.start.id).collect();
    assert_eq!(ids, ["stem/20260302-090000", "stem/20260302-090000-2"]);
    let second = said(&told.sessions[1]);
    assert_eq!(second[1], (Role::Assistant, "# no heading".to_owned()));
    let problems: Vec<_> = told
        .problems
        .iter()
        .map(|it| (it.line, &*it.reason))
        .collect();
    assert_eq!(problems, [(3, "invalid UTF-8")]);
    assert_eq!(said(&told.sessions[0])[1].1, "b\u{fffd}");
    let told = read(
        &AIDER,
        b"#### x\n\n# aider chat started at 2026-03-02 09:00:00\n",
    );
    assert_eq!(told.sessions[0].start.id, "stem/start");
    // Nothing was asked yet.
    let told = read(
        &AIDER,
        b"# aider chat started at 2026-03-02 09:00:00\n\n> Aider v0.84.0\nx\n",
    );
    assert_eq!(told.sessions.len(), 1);
    assert!(told.sessions[0].steps.is_empty());
}

#[test]
fn a_text_is_a_history_where_it_has_a_heading() {
    let is_one = |text: &[u8]| sniff(&text).expect("readable") == Some(&AIDER);
    assert!(is_one(HISTORY));
    assert!(!is_one(b"See `# aider chat started at `.\n"));
    assert!(!is_one(b"# aider\n\nA tool.\n"));
    assert!(!is_one(b"{\"a\":\"\n# aider chat started at \"}\n"));
}
