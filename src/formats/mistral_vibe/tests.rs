//! What a session says, how it is put together of its files, and what is wrong with them.

use super::files::FILES;
use super::{CURRENT, MISTRAL_VIBE};
use crate::formats::Action;
use crate::formats::shared::contract::{FolderOf, Session, read, sound};
use crate::formats::sniff::sniff;
use crate::model::{HideKind, Millis, Usage};

const SESSION: &str = include_str!("../../../tests/data/mistral-vibe/session.json");
const JOURNAL: &str = "journal/0000000000000013.jsonl";

fn store() -> FolderOf {
    FolderOf::read("mistral-vibe/store")
}

fn object(folder: &FolderOf) -> String {
    (FILES.document)(folder, CURRENT).expect("it is read")
}

/// The beginnings of what is sent at the end.
fn sent(session: &Session) -> Vec<String> {
    let said = session.said();
    said.iter()
        .map(|text| text.chars().take(24).collect())
        .collect()
}

#[test]
fn a_session_is_what_its_requests_sent_and_what_stands_now() {
    assert_eq!(
        sniff(&SESSION.as_bytes()).expect("readable"),
        Some(&MISTRAL_VIBE)
    );
    let session = &sound(&MISTRAL_VIBE, SESSION.as_bytes());
    assert_eq!(session.start.id, "5e0f0c1e-0000-4000-8000-00000000001b");
    assert_eq!(session.end.title.as_deref(), Some("Sacks and carts"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
    assert_eq!(session.end.absent, Vec::<String>::new());
    assert_eq!(
        session.said(),
        [
            "system: You help, and you mill.",
            "user: How many sacks?",
            r#"assistant: I look. | c1: bash {"command": "cat sacks.txt"}"#,
            r#"tool: c1 false = {"stdout":"twelve\n"}"#,
            "assistant: Twelve.",
            "user: And carts?",
            "Compaction: user: You go on behind a compaction. || user: A summary: twelve sacks.",
            r#"assistant: (Count. None) | I count. | c2: bash {"command": "ls carts"}"#,
            r#"tool: c2 true = {"result":{"type":"error"}}"#,
            "assistant: None 🌾.",
        ]
    );
    let step = |at: usize| &session.steps[at];
    assert_eq!(step(0).settings["model"], "\"devstral-2\"");
    assert!(step(0).settings["tools"].contains("\"name\":\"bash\""));
    assert!(
        session.steps[1..]
            .iter()
            .all(|step| step.settings.is_empty())
    );
    let times: Vec<Option<i64>> = session
        .steps
        .iter()
        .map(|it| it.time.map(|it| it.0 - 1_793_000_000_000))
        .collect();
    let seconds = [
        None,
        Some(1),
        Some(2),
        Some(3),
        Some(4),
        Some(5),
        Some(6),
        Some(7),
        Some(8),
        Some(9),
    ];
    assert_eq!(times, seconds.map(|time| time.map(|time| time * 1_000)));
    let Action::Hide(hide) = &step(6).action else {
        panic!("no hide");
    };
    assert_eq!((hide.kind, hide.keep.len()), (HideKind::Compaction, 1));
    // What was counted for the summary, and for each reply.
    assert_eq!(step(6).usage, Some(Usage::new(300, 8)));
    assert_eq!(step(7).usage, Some(Usage::new(220, 12).cached(200, 0)));
    assert_eq!(step(9).usage, Some(Usage::new(260, 6).cached(220, 0)));
    let stated = &session.end.stated.as_ref().expect("it is stated").models[0];
    assert_eq!(stated.usage(), Usage::new(1_180, 56).cached(520, 0));
}

#[test]
fn its_files_are_put_together() {
    assert_eq!(object(&store()), SESSION);
    for path in [
        "CURRENT",
        "meta.json",
        "journal",
        JOURNAL,
        "chunks/0.json",
        "generations/1/manifest.json",
    ] {
        assert_eq!((FILES.shown_by)(path).as_deref(), Some(CURRENT), "{path}");
    }
    assert_eq!((FILES.shown_by)("notes.json"), None);
}

#[test]
fn a_turn_under_way_is_what_was_asked_last_and_what_came_back() {
    let mut folder = store();
    // The newest generation is not written yet.
    folder
        .0
        .retain(|path, _| !path.contains("0000000000000030"));
    let current = folder.0[CURRENT].replace("0000000000000030", "0000000000000012");
    folder.0.insert(CURRENT.to_owned(), current);
    let whole = sound(&MISTRAL_VIBE, SESSION.as_bytes());
    let session = sound(&MISTRAL_VIBE, object(&folder).as_bytes());
    assert_eq!(session.messages(), whole.messages());
    // Before the last reply came back, and while its record is written.
    let journal = folder.0[JOURNAL].clone();
    let last = journal
        .rfind("{\"payload\":{\"action_id\":\"a4\",\"result\"")
        .expect("it is there");
    folder
        .0
        .insert(JOURNAL.to_owned(), journal[..last + 20].to_owned());
    let session = sound(&MISTRAL_VIBE, object(&folder).as_bytes());
    assert_eq!(session.messages(), whole.messages()[..8]);
}

#[test]
fn what_is_missing_or_spoilt_is_named_and_the_rest_comes_in() {
    let with = |change: &dyn Fn(&mut FolderOf)| {
        let mut folder = store();
        change(&mut folder);
        let told = read(&MISTRAL_VIBE, object(&folder).as_bytes());
        let reasons = told.reasons().into_iter().map(str::to_owned).collect();
        (sent(&told.sessions[0]).len(), reasons)
    };
    let (steps, reasons): (usize, Vec<String>) = with(&|folder| {
        let lines: Vec<String> = folder.0[JOURNAL].lines().map(str::to_owned).collect();
        let mut lines = lines;
        lines.remove(1);
        lines[3] = "{\"payload\":".to_owned();
        folder.0.insert(JOURNAL.to_owned(), lines.join("\n") + "\n");
    });
    let place = "journal/0000000000000013.jsonl";
    assert_eq!(
        reasons,
        [
            format!("{place}: a record is missing"),
            format!("{place}: a record that is no JSON object"),
            format!("{place}: a record is missing"),
        ]
    );
    assert_eq!(steps, 10);
    let (steps, reasons): (usize, Vec<String>) = with(&|folder| {
        folder.0.retain(|path, _| !path.starts_with("chunks"));
    });
    let missing = "a part of the context is missing";
    let contexts = reasons.iter().filter(|it| it.ends_with(missing));
    assert_eq!(
        contexts.collect::<Vec<_>>(),
        ["0000000000000012", "0000000000000030"]
            .map(|it| format!("generations/{it}: {missing}"))
            .iter()
            .collect::<Vec<_>>()
    );
    let times = reasons.iter().filter(|it| it.contains("the times with it"));
    assert!(times.count() > 0, "{reasons:?}");
    // The requests alone say this.
    assert_eq!(steps, 9);
}

#[test]
fn a_generation_or_a_journal_that_is_missing_is_said() {
    let said = |gone: &str| {
        let mut folder = store();
        folder.0.retain(|path, _| !path.starts_with(gone));
        let told = read(&MISTRAL_VIBE, object(&folder).as_bytes());
        let reasons = told.reasons().into_iter().map(str::to_owned);
        reasons.collect::<Vec<_>>()
    };
    let newest = said("generations/0000000000000030");
    assert!(
        newest[0].contains("0000000000000030: no manifest"),
        "{newest:?}"
    );
    let journals = said("journal/");
    let missing = journals
        .iter()
        .filter(|it| it.contains("a journal is missing"));
    assert!(missing.count() > 0, "{journals:?}");
    assert!(said("nothing at all").is_empty());
}

#[test]
fn an_agents_session_names_the_one_that_started_it() {
    let mut folder = store();
    let runtime = "generations/0000000000000030/runtime-state.json";
    let agents = folder.0[runtime]
        .replace("\"kind\":\"root\"", "\"kind\":\"subagent\"")
        .replace(
            "\"parent_session_id\":null",
            "\"parent_session_id\":\"p-1\"",
        );
    folder.0.insert(runtime.to_owned(), agents);
    let session = sound(&MISTRAL_VIBE, object(&folder).as_bytes());
    assert_eq!(session.start.descent.spawned_by.as_deref(), Some("p-1"));
    let home = MISTRAL_VIBE.home.as_ref().expect("it has one");
    let (id, descent) = (home.descent)(&object(&folder), "").expect("it says");
    assert_eq!((id, descent), (session.start.id, session.start.descent));
    assert_eq!(session.steps[1].time, Some(Millis(1_793_000_001_000)));
}
