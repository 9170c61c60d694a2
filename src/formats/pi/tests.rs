//! What a session says, which ways it holds, and what is written back.

mod prompts;

use serde_json::{Value, json};

use super::{OPENCLAW, PI, SUMMED_UP};
use crate::conditions::real_sessions;
use crate::formats::NewFile;
use crate::formats::shared::contract::{fresh, hides, outgoing, read, texts, values, written};
use crate::formats::sniff::sniff;
use crate::formats::{Cover, Document, HideStep, Midway, Outgoing, Sink, Source, Step};
use crate::model::{Millis, Part, Role, Settings, Usage};

const PLAIN: &[u8] = include_bytes!("../../../tests/data/pi/plain.jsonl");
const TREE: &[u8] = include_bytes!("../../../tests/data/pi/tree.jsonl");
const FIRST: &[u8] = include_bytes!("../../../tests/data/pi/first.jsonl");
const CLAW: &[u8] = include_bytes!("../../../tests/data/openclaw/session.jsonl");

fn export(messages: &[Outgoing], document: &Document) -> (Vec<u8>, Vec<String>) {
    let (out, remarks) = written(&PI, messages, document);
    (out, remarks)
}

fn document(fresh: bool) -> Document {
    Document {
        session_id: "new".into(),
        cwd: "/home/ada/mill".into(),
        now: Some(Millis(7)),
        fresh,
        ..Document::default()
    }
}

#[test]
fn a_message_is_what_the_model_is_sent_of_an_entry() {
    let told = read(&PI, PLAIN);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "5e551000-0000-4000-8000-000000000001");
    let parent = session.start.forked_from.as_deref();
    assert_eq!(parent, Some("5e551000-0000-4000-8000-000000000000"));
    assert_eq!(session.end.title.as_deref(), Some("The wheel"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/ada/mill"));
    let messages = session.messages();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    let (user, reply, tool) = (Role::User, Role::Assistant, Role::Tool);
    assert_eq!(roles, [user, reply, tool, tool, user, user, reply, user]);
    assert_eq!(messages[0].part_types(), [("text", 1), ("image", 1)]);
    let thinking = |at: usize| match &messages[at].parts[0] {
        Part::Thinking {
            signature,
            provider,
            ..
        } => (signature.as_deref(), provider.as_deref()),
        part => panic!("{part:?}"),
    };
    assert_eq!(thinking(1), (Some("c2ln"), Some("anthropic")));
    assert_eq!(thinking(6), (Some("c2VhbGVk"), Some("openai")));
    let ran = "Ran `ls`\n```\nwheel.md\n```\n\nCommand exited with code 1\n\n\
               [Output truncated. Full output: /tmp/out]";
    assert_eq!(texts(messages[4]), [ran]);
    assert_eq!(texts(messages[5]), ["It is noon."]);
    assert_eq!(texts(messages[7]), ["Thanks 🌳."]);
    let usage = Usage::new(110, 5).cached(100, 0);
    assert_eq!(session.steps[1].usage, Some(usage));
    let model = |at: usize| session.steps[at].settings.get("model").map(String::as_str);
    assert_eq!((model(0), model(1)), (Some("\"claude-opus-4-5\""), None));
    assert_eq!(model(6), Some("\"gpt-5.1\""));
    // One that was broken off, and what the user kept for themselves.
    assert_eq!(session.end.other_records["message (not sent)"], 2);
    assert_eq!(session.end.opaque_blocks["hologram"], 1);
    let other: u64 = session.end.other_records.values().sum();
    assert_eq!(other as usize + messages.len(), values(PLAIN).len());
}

#[test]
fn the_last_entry_is_where_a_session_stands_and_other_ways_are_branches() {
    let told = read(&PI, TREE);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    let branches: Vec<_> = session
        .branches
        .iter()
        .map(|(at, branch)| {
            let first = session.steps[*at].message().expect("a message");
            let after = branch.after.map(|step| step.0);
            (branch.name.as_str(), after, texts(first)[0])
        })
        .collect();
    let left = ("leaf-1", Some(3), "Burn them.");
    assert_eq!(branches, [left, ("leaf-2", None, "Begin elsewhere.")]);
    let back = session.steps[4].message().expect("a message");
    assert!(texts(back)[0].ends_with("To burn them was asked, and refused.</summary>"));
    let last = session.branches[0].0 - 1;
    let last = session.steps[last].message().expect("a message");
    assert_eq!(texts(last), ["The door, too."]);
}

/// What stands once these entries were read: each as its id, the one before it, and the first entry that a
/// compaction keeps, which others lack.
fn standing(entries: &[(&str, &str, &str)]) -> Vec<String> {
    let header = json!({"type": "session", "version": 3, "id": "s", "cwd": "/w"});
    let entries = entries.iter().map(|(id, parent, first)| {
        let parent = (!parent.is_empty()).then_some(parent);
        if first.is_empty() {
            let message = json!({"role": "user", "content": id});
            json!({"type": "message", "id": id, "parentId": parent, "message": message})
        } else {
            json!({"type": "compaction", "id": id, "parentId": parent, "summary": id, "firstKeptEntryId": first})
        }
    });
    let lines = std::iter::once(header).chain(entries);
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    let told = read(&PI, lines.as_bytes());
    let standing = told.sessions[0].standing();
    let bare = |text: String| {
        let text = text
            .strip_prefix(SUMMED_UP[0])
            .map(str::to_owned)
            .unwrap_or(text);
        text.trim_end_matches(SUMMED_UP[1]).to_owned()
    };
    standing.iter().map(|it| bare(texts(it).concat())).collect()
}

#[test]
fn what_a_compaction_brought_back_stands_for_each_later_one() {
    let entries = [
        ("m0", "", ""),
        ("m1", "m0", ""),
        ("m2", "m1", ""),
        ("m3", "m2", ""),
        ("c1", "m3", "m3"),
        ("c2", "c1", "m1"),
        ("c3", "c2", "m1"),
        ("c4", "c3", "m1"),
        ("m4", "c4", ""),
    ];
    assert_eq!(standing(&entries[..6]), ["c2", "m1", "m2", "m3"]);
    assert_eq!(standing(&entries[..7]), ["c3", "m1", "m2", "m3"]);
    assert_eq!(standing(&entries), ["c4", "m1", "m2", "m3", "m4"]);
}

#[test]
fn what_a_compaction_keeps_nothing_of_is_hidden_for_the_next() {
    let entries = [
        ("a", "", ""),
        ("b", "a", ""),
        ("aside", "b", ""),
        ("c", "b", ""),
        ("c1", "c", "aside"),
        ("c2", "c1", "a"),
        ("d", "c2", ""),
    ];
    assert_eq!(standing(&entries[..5]), ["c1"]);
    assert_eq!(standing(&entries), ["c2", "a", "b", "c", "d"]);
}

#[test]
fn a_compaction_keeps_its_tail_and_says_again_what_was_hidden_of_it() {
    let told = read(&PI, TREE);
    let found = hides(&told.sessions[0].steps);
    let [first, second, third] = found[..] else {
        panic!("{found:?}");
    };
    let said = |hide: &HideStep| -> Vec<String> {
        let said = hide.replacements.iter();
        said.map(|(_, message)| texts(message).concat()).collect()
    };
    let covered = |hide: &HideStep| match hide.cover {
        Cover::Range(first, last) => [first, last].map(|it| (it.step.0, it.replacement)),
        cover => panic!("{cover:?}"),
    };
    let place = |hide: &HideStep| {
        let place = hide.replacements[0].0.expect("it keeps some");
        assert!(
            hide.replacements
                .iter()
                .all(|(before, _)| *before == Some(place))
        );
        assert!(hide.keep.is_empty());
        (place.step.0, place.replacement)
    };
    assert_eq!(
        (covered(first), place(first)),
        ([(0, None), (4, None)], (5, None))
    );
    assert!(said(first)[0].contains("\n\n<summary>\nTwelve sacks, three barrels.\n</summary>"));
    // The extension's reaches back behind the first.
    assert_eq!(
        (covered(second), place(second)),
        ([(7, Some(0)), (7, Some(0))], (5, None))
    );
    let again = said(second);
    assert_eq!(again[1], "Twelve.");
    assert!(again[2].contains("asked, and refused."));
    assert_eq!(again.len(), 3);
    // By then they stand as what the second put there.
    assert_eq!(
        (covered(third), place(third)),
        ([(10, Some(0)), (10, Some(0))], (10, Some(1)))
    );
    assert_eq!(third.replacements.len(), 1);
}

#[test]
fn a_mark_of_where_a_session_stands_is_gone_on_from() {
    assert_eq!(sniff(&CLAW).expect("readable"), Some(&OPENCLAW));
    assert_eq!(sniff(&TREE).expect("readable"), Some(&PI));
    let said = |lines: &[u8]| -> Vec<String> {
        let told = read(&OPENCLAW, lines);
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        let main = told.sessions[0].main().iter();
        let messages = main.filter_map(Step::message);
        messages.map(|it| texts(it).concat()).collect()
    };
    assert_eq!(said(CLAW), ["Count the sacks.", "", "", "Twelve."]);
    // As long as nothing follows the mark, what it leads away from is not sent.
    let lines: Vec<&[u8]> = CLAW.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(said(&lines[..8].concat()), ["Count the sacks.", "", ""]);
}

/// The texts of what stands once these entries of OpenClaw's were read, and the branches.
fn claws(entries: &[Value]) -> (Vec<String>, Vec<String>) {
    let header = json!({"type": "session", "version": 4, "id": "s", "cwd": "/w"});
    let lines = std::iter::once(&header).chain(entries);
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    assert_eq!(sniff(&lines.as_bytes()).expect("readable"), Some(&OPENCLAW));
    let told = read(&OPENCLAW, lines.as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    let standing = session.standing();
    let standing = standing.iter().map(|it| texts(it).concat()).collect();
    let names = session.branches.iter().map(|(_, it)| it.name.clone());
    (standing, names.collect())
}

fn entry(id: &str, parent: &str, more: Value) -> Value {
    let parent = (!parent.is_empty()).then_some(parent);
    let mut entry = json!({"type": "message", "id": id, "parentId": parent,
        "message": {"role": "user", "content": id, "__openclaw": {}}});
    let more = more.as_object().cloned().unwrap_or_default();
    entry.as_object_mut().expect("an object").extend(more);
    entry
}

#[test]
fn a_reset_hides_all_but_its_tail_and_nothing_goes_back_behind_it() {
    let reset = |id: &str, parent: &str, first: &str| {
        entry(
            id,
            parent,
            json!({"type": "reset", "message": null, "reason": "new", "firstKeptEntryId": first}),
        )
    };
    let said = |id: &str, parent: &str| entry(id, parent, json!({}));
    let head = [said("a", ""), said("b", "a"), said("c", "b")];
    let with = |more: &[Value]| claws(&[&head[..], more].concat());
    assert_eq!(with(&[reset("r", "c", "")]).0, [""; 0]);
    assert_eq!(with(&[reset("r", "c", ""), said("d", "r")]).0, ["d"]);
    assert_eq!(with(&[reset("r", "c", "c"), said("d", "r")]).0, ["c", "d"]);
    // One after another, and what an entry names from before one.
    let again = [
        reset("r", "c", "c"),
        said("d", "r"),
        reset("q", "d", "c"),
        said("e", "b"),
    ];
    assert_eq!(
        with(&again),
        (vec!["c".into(), "d".into(), "e".into()], vec![])
    );
    let nothing = [reset("r", "c", ""), reset("q", "r", ""), said("e", "q")];
    assert_eq!(with(&nothing).0, ["e"]);
    // A summary stands for what was said since alone.
    let sum = entry(
        "s",
        "d",
        json!({"type": "compaction", "message": null, "summary": "sum", "firstKeptEntryId": "d"}),
    );
    let (standing, _) = with(&[reset("r", "c", ""), said("d", "r"), sum, said("e", "s")]);
    assert_eq!(standing.len(), 3);
    assert!(standing[0].contains("sum"), "{standing:?}");
    assert_eq!(standing[1..], ["d", "e"]);
}

#[test]
fn what_was_put_beside_is_not_on_the_way() {
    let side = json!({"appendMode": "side"});
    let entries = [
        entry("a", "", json!({})),
        entry("b", "a", side),
        // It names what was put down last, and follows the leaf.
        entry("c", "b", json!({})),
    ];
    let one = vec!["leaf-1".to_owned()];
    assert_eq!(claws(&entries), (vec!["a".into(), "c".into()], one.clone()));
    assert_eq!(claws(&entries[..2]), (vec!["a".into()], one));
    let kept = json!({"message": {"role": "user", "content": "mine", "excludeFromContext": true, "__openclaw": {}}});
    let entries = [entry("a", "", json!({})), entry("b", "a", kept)];
    assert_eq!(claws(&entries).0, ["a"]);
}

#[test]
fn the_first_version_is_one_way() {
    let told = read(&PI, FIRST);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert!(session.branches.is_empty());
    let found = hides(&session.steps);
    let place = found[0].replacements[0].0.expect("it keeps some");
    assert_eq!(place.step.0, 2);
    assert_eq!(texts(session.messages()[4]), ["It is noon."]);
    let messages = outgoing(FIRST, session);
    let (file, remarks) = export(&messages[..5], &document(false));
    assert!(remarks.is_empty(), "{remarks:?}");
    let (written, source) = (values(&file), values(FIRST));
    assert_eq!(written[1..], source[1..6]);
    assert_eq!(written[0].get("version"), None);
}

#[test]
fn a_parent_that_is_not_there_loses_nothing() {
    let text = std::str::from_utf8(PLAIN).expect("text");
    let text = text.replace(r#""parentId":"a0000004""#, r#""parentId":"ffffffff""#);
    let told = read(&PI, text.as_bytes());
    assert_eq!(told.problems.len(), 1);
    assert_eq!(told.problems[0].line, 6);
    assert!(!told.problems[0].harmless);
    let whole = read(&PI, PLAIN);
    assert_eq!(told.sessions[0].messages(), whole.sessions[0].messages());
    // OpenClaw takes out what it repairs.
    let told = read(&OPENCLAW, text.as_bytes());
    assert!(told.problems.iter().all(|problem| problem.harmless));
    assert_eq!(told.sessions[0].messages(), whole.sessions[0].messages());
}

#[test]
fn entries_are_written_one_behind_the_other() {
    let told = read(&PI, TREE);
    let messages = outgoing(TREE, &told.sessions[0]);
    let main: Vec<Outgoing> = messages.into_iter().take(7).collect();
    let (file, remarks) = export(&main, &document(false));
    assert!(remarks.is_empty(), "{remarks:?}");
    let written = values(&file);
    assert_eq!(written[0]["version"], 3);
    for pair in written[1..].windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"]);
    }
    let source = values(TREE);
    assert_eq!(written[1..5], source[1..5]);
}

#[test]
fn a_new_session_takes_along_what_the_tool_wrote_and_names_all_anew() {
    let told = read(&PI, PLAIN);
    let messages = outgoing(PLAIN, &told.sessions[0]);
    let document = Document {
        title: Some("Again".into()),
        state: vec![r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#.into()],
        ..document(true)
    };
    let (file, remarks) = export(&messages, &document);
    assert!(remarks.is_empty(), "{remarks:?}");
    let again = read(&PI, &file);
    assert!(again.problems.is_empty(), "{:?}", again.problems);
    assert_eq!(again.sessions[0].messages(), told.sessions[0].messages());
    assert_eq!(again.sessions[0].start.id, "new");
    assert_eq!(again.sessions[0].end.title.as_deref(), Some("Again"));
    let (written, source) = (values(&file), values(PLAIN));
    assert_eq!(written[1]["thinkingLevel"], "high");
    let of = |entries: &[Value]| {
        let found = entries
            .iter()
            .find(|entry| entry["message"]["role"] == "assistant");
        found.expect("a reply").clone()
    };
    assert_eq!(of(&written)["message"], of(&source)["message"]);
    assert_ne!(of(&written)["id"], of(&source)["id"]);
}

#[test]
fn new_messages_are_read_back() {
    let call = Part::ToolCall {
        id: "c".into(),
        name: "look".into(),
        arguments: r#"{"x":1.0}"#.into(),
        kind: None,
    };
    let result = Part::ToolResult {
        call: "c".into(),
        content: vec![Part::text("gone")],
        is_error: true,
    };
    let thinking = Part::Thinking {
        text: "Hm.".into(),
        signature: Some("c2ln".into()),
        provider: Some("anthropic".into()),
    };
    let sealed = Part::Opaque {
        provider: "anthropic".into(),
        data: r#"{"type":"redacted_thinking","data":"x"}"#.into(),
    };
    let [before, after] = super::SUMMED_UP;
    let summary = format!("{before}It was said.{after}");
    let mut messages = [
        fresh(Role::User, vec![Part::text(summary)]),
        fresh(
            Role::Assistant,
            vec![thinking, sealed, Part::text("So."), call],
        ),
        fresh(Role::Tool, vec![result]),
        fresh(Role::User, vec![Part::text("Thanks.")]),
    ];
    let model = ("model".to_owned(), "\"claude-opus-4-5\"".to_owned());
    messages[1].settings = std::sync::Arc::new(Settings::from_iter([model]));
    for is_fresh in [false, true] {
        let (file, remarks) = export(&messages, &document(is_fresh));
        assert!(remarks.is_empty(), "{remarks:?}");
        let told = read(&PI, &file);
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        let again = told.sessions[0].messages().into_iter();
        assert!(again.eq(messages.iter().map(|out| &out.message)));
        let entries = values(&file);
        assert_eq!(entries[1]["type"], "compaction");
        assert_eq!(entries[2]["message"]["provider"], "anthropic");
        assert_eq!(entries[3]["message"]["toolName"], "look");
    }
}

#[test]
fn a_changed_entry_keeps_its_place() {
    let told = read(&PI, PLAIN);
    let mut messages = outgoing(PLAIN, &told.sessions[0]);
    messages[1].replaces = std::mem::take(&mut messages[1].records);
    messages[1].message.parts[1] = Part::text("I look closely.");
    let (file, _) = export(&messages, &document(false));
    let (written, source) = (values(&file), values(PLAIN));
    assert_eq!(written[2]["id"], source[4]["id"]);
    assert_eq!(
        written[2]["message"]["usage"],
        source[4]["message"]["usage"]
    );
    assert_eq!(
        written[2]["message"]["content"][1]["text"],
        "I look closely."
    );
    assert_eq!(written[3], source[5]);
}

#[test]
fn what_has_grown_is_gone_on_with_where_it_is_one_way() {
    #[derive(Default)]
    struct Steps(Vec<Step>);
    impl Sink for Steps {
        fn step(&mut self, step: Step) -> crate::error::Result<()> {
            self.0.push(step);
            Ok(())
        }
    }
    let goes_on = |bytes: &[u8], offset: u64| {
        let settings = Settings::from_iter([("model".into(), "\"claude-opus-4-5\"".into())]);
        let mut found = Steps::default();
        let from = Midway {
            offset,
            id: "id",
            settings: &settings,
        };
        let go_on = PI.go_on.expect("it can");
        let done = go_on(Source::of(&bytes, &mut found), from).expect("readable");
        done.then_some(found.0)
    };
    let told = read(&PI, PLAIN);
    let steps = &told.sessions[0].steps;
    // What was counted for a reply that was broken off is part of a sum of the whole file.
    assert_eq!(goes_on(PLAIN, steps[1].records[0].offset), None);
    let stated = told.sessions[0].end.stated.as_ref().expect("a sum");
    assert_eq!(
        stated.beyond(|_| Usage::default(), Usage::default()).len(),
        1
    );
    let broken_off = PLAIN.windows(9).position(|it| it == b"\"aborted\"");
    let broken_off = broken_off.expect("one is") as u64;
    let is_after = |step: &Step| step.records[0].offset > broken_off;
    let at = steps.iter().position(is_after).expect("it goes on");
    let rest = goes_on(PLAIN, steps[at].records[0].offset).expect("it can be told");
    assert_eq!(rest, steps[at..]);
    let told = read(&PI, TREE);
    let steps = &told.sessions[0].steps;
    assert_eq!(goes_on(TREE, steps[1].records[0].offset), None);
}

#[test]
fn a_session_lies_where_the_tool_looks() {
    let home = PI.home.as_ref().expect("it has one");
    assert_eq!(
        home.sessions("/home/ada/my mill").0,
        "sessions/--home-ada-my mill--"
    );
    let resume = home.resume.as_ref().expect("it can");
    let file = (resume.file)(&NewFile {
        cwd: "/home/ada",
        id: "some-id",
        local_time: "2026-03-02T08-00-00",
        folder: None,
    });
    assert_eq!(
        file,
        "sessions/--home-ada--/2026-03-02T08-00-00-000Z_some-id.jsonl"
    );
    let first = std::str::from_utf8(PLAIN).expect("text").lines().next();
    let (id, _) = (home.descent)(first.expect("a line"), "").expect("a header");
    assert_eq!(id, "5e551000-0000-4000-8000-000000000001");
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn a_real_session_comes_in_whole_and_goes_back() {
    let path = real_sessions().join("pi/pimono-large-session.jsonl");
    let bytes = std::fs::read(&path).expect("readable");
    let told = read(&PI, &bytes);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    let entries = values(&bytes);
    let messages = session.messages();
    let other: u64 = session.end.other_records.values().sum();
    assert_eq!(other as usize + messages.len(), entries.len());
    let broken_off = ["aborted", "error"];
    let sent = entries.iter().filter(|entry| {
        let stopped = entry["message"]["stopReason"].as_str();
        entry["type"] == "message" && stopped.is_none_or(|reason| !broken_off.contains(&reason))
    });
    assert_eq!(sent.count(), messages.len());
    for is_fresh in [false, true] {
        let (file, remarks) = export(&outgoing(&bytes, session), &document(is_fresh));
        assert!(remarks.is_empty(), "{remarks:?}");
        let again = read(&PI, &file);
        assert_eq!(again.sessions[0].messages(), messages);
    }
}
