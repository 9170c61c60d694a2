//! What a session's lines say.

use super::DROID;
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{Told, read, sound, values};
use crate::formats::sniff::sniff;
use crate::formats::{Midway, Source};
use crate::model::{Millis, Part, Role, Settings};

const PLAIN: &[u8] = include_bytes!("../../../tests/data/droid/plain.jsonl");

#[test]
fn a_session_is_read() {
    let session = &sound(&DROID, PLAIN);
    assert_eq!(session.start.id, "1a1a1a00-1111-4222-8333-444455556666");
    assert_eq!(session.end.title.as_deref(), Some("Mend the wheel"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
    let messages = session.messages();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    let (user, reply, tool) = (Role::User, Role::Assistant, Role::Tool);
    assert_eq!(roles, [user, reply, tool, reply, user, reply]);
    assert_eq!(messages[0].parts.len(), 2);
    let [
        Part::Thinking {
            provider: Some(provider),
            ..
        },
        _,
        Part::ToolCall { arguments, .. },
    ] = &messages[1].parts[..]
    else {
        panic!("{:?}", messages[1]);
    };
    assert_eq!(
        (&**provider, &**arguments),
        ("anthropic", r#"{"path":"wheel.md","deep":1.0}"#)
    );
    assert!(matches!(
        &messages[2].parts[..],
        [Part::ToolResult { is_error: true, .. }]
    ));
    assert_eq!(session.steps[1].time, Some(Millis(1_774_896_612_000)));
    // What the user alone was shown is no message, and is not forgotten.
    let others: Vec<_> = session.end.other_records.iter().collect();
    let expected = [
        "message (for the user alone)",
        "session_start",
        "todo_state",
    ];
    assert_eq!(
        others,
        expected
            .map(|kind| (kind.to_owned(), 1))
            .iter()
            .map(|(kind, n)| (kind, n))
            .collect::<Vec<_>>()
    );
}

#[test]
fn what_has_grown_is_read_from_its_middle() {
    let whole = read(&DROID, PLAIN);
    for (at, step) in whole.sessions[0].steps.iter().enumerate() {
        let settings = Settings::new();
        let from = Midway {
            offset: step.records[0].offset,
            id: &whole.sessions[0].start.id,
            settings: &settings,
        };
        let mut found = Told::default();
        let go_on = DROID.go_on.expect("it can");
        assert!(go_on(Source::of(&PLAIN, &mut found), from).expect("readable"));
        let session = &found.sessions[0];
        assert_eq!(session.start.id, whole.sessions[0].start.id);
        assert_eq!(session.steps, whole.sessions[0].steps[at..]);
    }
}

#[test]
fn a_line_that_is_no_record_is_told_and_the_rest_stays() {
    let odd = b"[1]\n{\"type\":\"message\",\"message\":{\"role\":\"nobody\"}}\n{}\n";
    let bytes = [odd, PLAIN].concat();
    let told = read(&DROID, &bytes);
    let lines: Vec<u64> = told.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [1, 2]);
    let session = &told.sessions[0];
    assert_eq!(
        session.start.id, "stem",
        "it is called before it says its name"
    );
    assert_eq!(
        session.messages(),
        read(&DROID, PLAIN).sessions[0].messages()
    );
    assert_eq!(session.end.other_records["(no type)"], 1);
}

#[test]
fn a_session_is_told_from_others_and_found_by_its_directory() {
    let rest = PLAIN.iter().position(|byte| *byte == b'\n').expect("lines") + 1;
    assert_eq!(sniff(&&PLAIN[rest..]).expect("readable"), Some(&DROID));
    let home = DROID.home.as_ref().expect("one");
    let first = || Some(String::from_utf8(PLAIN[..rest].to_vec()).expect("text"));
    assert!((home.belongs)("x.jsonl", "/home/mara/mill", &first));
    assert!(!(home.belongs)(
        "x.settings.json",
        "/home/mara/mill",
        &first
    ));
    assert!(!(home.belongs)("x.jsonl", "/home/mara", &first));
    assert!(
        DROID.writer().is_err(),
        "nobody knows what the tool takes back"
    );
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_come_in_whole() {
    let mut seen = 0;
    for file in std::fs::read_dir(real_sessions().join("droid")).expect("a folder") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("readable");
        let told = read(&DROID, &bytes);
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        let records = values(&bytes).into_iter();
        let sent = records.filter(|record| {
            record["type"] == "message" && record["message"]["visibility"] != "user_only"
        });
        assert_eq!(told.sessions[0].messages().len(), sent.count());
        seen += 1;
    }
    assert!(seen >= 2, "the folder holds fewer sessions than it should");
}
