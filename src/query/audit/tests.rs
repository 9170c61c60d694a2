use proptest::prelude::*;

use super::*;
use crate::conditions::laws;
use crate::model::{Draft, Part, Role};
use crate::repo::{Call, CommitOptions, On};
use crate::rewrite::SurgeryOptions;
use crate::rewrite::{Extent, Lost, Summary};

/// A call that has something to put into a file changes it.
fn changes(_: &str, arguments: &str) -> Vec<String> {
    let edits = arguments.contains("new_string");
    crate::model::call::path(arguments)
        .filter(|_| edits)
        .into_iter()
        .collect()
}

fn call(id: &str, name: &str, arguments: &str) -> Message {
    let part = Part::ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        kind: None,
    };
    Message::new(Role::Assistant, vec![part])
}

fn result(id: &str, text: &str, is_error: bool) -> Message {
    let part = Part::ToolResult {
        call: id.to_owned(),
        content: vec![Part::text(text)],
        is_error,
    };
    Message::new(Role::Tool, vec![part])
}

/// A message of some kind that holds something, alone or with others of its number.
fn message(kind: u8, n: u16) -> Vec<Message> {
    let id = format!("c{kind}-{n}");
    let asks = |name: &str, arguments: String| call(&id, name, &arguments);
    match kind % 7 {
        0 => vec![Message::text(
            Role::User,
            format!("Never touch the ledger of {n}, but for the cents."),
        )],
        1 => vec![Message::text(
            Role::Assistant,
            format!(
                "`parse_amount_{n}` fails since #{n}12, see https://a.test/{n}.\n- [ ] mend {n}"
            ),
        )],
        2 => vec![
            asks(
                "Bash",
                format!("{{\"command\":\"cd /w && cargo test t{n} 2>&1\"}}"),
            ),
            result(&id, "Exit code 1\nerror: it went wrong", true),
        ],
        3 => vec![
            asks("Read", format!("{{\"file_path\":\"/w/src/f{n}.rs\"}}")),
            result(&id, "fn main() {}", false),
        ],
        4 => vec![
            asks(
                "Edit",
                format!(
                    "{{\"file_path\":\"/w/src/f{n}.rs\",\"old_string\":\"a\",\"new_string\":\"b\"}}"
                ),
            ),
            result(&id, "done", false),
        ],
        5 => vec![
            asks(
                "TodoWrite",
                format!(
                    "{{\"todos\":[{{\"content\":\"write note {n}\",\"status\":\"pending\"}}]}}"
                ),
            ),
            result(&id, "ok", false),
        ],
        _ => vec![Message::text(
            Role::User,
            format!("<task-notification>b{n}</task-notification>"),
        )],
    }
}

fn talk() -> impl Strategy<Value = Vec<Message>> {
    let one = (any::<u8>(), 0..30_u16).prop_map(|(kind, n)| message(kind, n));
    // One message alone is never compacted.
    prop::collection::vec(one, 2..12).prop_map(|all| all.concat())
}

fn entry(at: usize) -> EntryId {
    EntryId::of(CommitHash::from_bytes([at as u8; 32]))
}

fn held(messages: &[Message]) -> Vec<HeldMessage<'_>> {
    let held = messages.iter().enumerate();
    let held = held.map(|(at, message)| HeldMessage {
        entry: entry(at),
        message,
        typed: message.is_typed(),
    });
    held.collect()
}

/// A repository with these messages, all of which are compacted; and the compaction.
fn compacted(messages: &[Message], summary: &str) -> (Repo, CommitHash) {
    let repo = Repo::ephemeral().expect("made");
    let drafts = messages.iter().cloned().map(Draft::append);
    let drafts: Vec<Draft> = drafts.collect();
    let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
    done.expect("committed");
    let options = SurgeryOptions::default();
    let done = repo.compact(
        Call::default(),
        &Extent::All,
        Summary::Text(summary),
        &options,
    );
    let hide = done.expect("compacted").surgery.commits[0].hash;
    (repo, hide)
}

proptest! {
    #![proptest_config(laws(128))]

    /// What a summary has word for word is still said.
    #[test]
    fn a_fact_that_a_summary_quotes_is_said(talk in talk(), which in any::<prop::sample::Index>()) {
        let held = held(&talk);
        let facts = facts_of(&held, changes);
        prop_assume!(!facts.is_empty());
        let quoted = &which.get(&facts).fact;
        let summary = Message::text(Role::User, format!("So far:  {}\nand so on.", quoted.text));
        let audit = audit(&held, &Said::of([&summary]), changes);
        let found = audit.facts.iter().find(|fact| fact.class == quoted.class && fact.text == quoted.text);
        prop_assert!(found.expect("it is held").is_said, "{quoted:?}");
    }

    /// The same messages give the same answer; and every finding stands in one of them.
    #[test]
    fn it_is_the_same_each_time_and_of_the_hidden_alone(talk in talk(), seen in talk()) {
        let held = held(&talk);
        let once = audit(&held, &Said::of(&seen), changes);
        prop_assert_eq!(&once, &audit(&held, &Said::of(&seen), changes));
        for fact in &once.facts {
            let holder = held.iter().find(|held| held.entry == fact.entry);
            let texts = searched_text(holder.expect("a hidden one").message);
            prop_assert!(texts.contains(&folded(&fact.text)), "{fact:?} in {texts}");
        }
    }

    /// What is visible again is no finding; where all is, nothing is lost, or even held.
    #[test]
    fn what_is_brought_back_is_lost_no_more(talk in talk(), which in any::<prop::sample::Index>()) {
        let (repo, hide) = compacted(&talk, "They talked.");
        let found = repo.audit(&hide, &hide, changes).expect("audited");
        prop_assert_eq!(found.hidden, talk.len());
        let options = SurgeryOptions::default();
        if !found.facts.is_empty() {
            let one = which.get(&found.facts).entry;
            repo.restore(Call::default(), &[Lost::Entry(one)], &options).expect("restored");
            let tip = repo.head(&On::Head).expect("a head").commit().expect("a tip");
            let found = repo.audit(&hide, &tip, changes).expect("audited");
            prop_assert!(found.facts.iter().all(|fact| fact.entry != one));
        }
        // Where the one was all, nothing is left to restore.
        let _ = repo.restore(Call::default(), &[Lost::Whole(hide)], &options);
        let tip = repo.head(&On::Head).expect("a head").commit().expect("a tip");
        prop_assert_eq!(repo.audit(&hide, &tip, changes).expect("audited"), Audit::default());
    }
}

proptest! {
    #![proptest_config(laws(64))]

    /// What must be kept is what a compaction takes away: before it, everything; after it, what nothing says; and a
    /// second one loses nothing of the first.
    #[test]
    fn what_must_be_kept_is_what_nothing_says(talk in talk(), which in any::<prop::sample::Index>()) {
        let held = held(&talk);
        let facts = facts_of(&held, changes);
        let quoted = if facts.is_empty() { "Nothing." } else { &which.get(&facts).fact.text };
        let (repo, hide) = compacted(&talk, quoted);
        let before = repo.commit_at(&hide).expect("a commit").parent.expect("a parent");
        let all = repo.keep(&before, None, Heard::Nothing, changes, None).expect("looked through");
        prop_assert_eq!(all.facts.len(), facts.len());
        prop_assert!(!all.is_compacted);
        let heard = repo.keep(&before, None, Heard::Summary(quoted), changes, None).expect("looked through");
        let keep = repo.keep(&hide, None, Heard::Context, changes, None).expect("looked through");
        prop_assert!(keep.is_compacted);
        let names = |keep: &Keep| keep.facts.iter().map(|found| found.fact.text.clone()).collect::<Vec<_>>();
        prop_assert_eq!(names(&keep), names(&heard));
        let audit = repo.audit(&hide, &hide, changes).expect("audited");
        let lost: Vec<String> = audit.lost().map(|fact| fact.text.clone()).collect();
        prop_assert_eq!(names(&keep), lost);
        // Two messages, for one alone is never compacted.
        let goes_on = ["So", "on."].map(|text| Draft::append(Message::text(Role::Assistant, text)));
        repo.commit(Call::default(), &goes_on, &CommitOptions::default()).expect("committed");
        repo.compact(Call::default(), &Extent::All, Summary::Text("They talked."), &SurgeryOptions::default()).expect("compacted");
        let tip = repo.head(&On::Head).expect("a head").commit().expect("a tip");
        let keep = repo.keep(&tip, None, Heard::Context, changes, None).expect("looked through");
        prop_assert_eq!(names(&keep), names(&all));
    }
}

fn searched_text(message: &Message) -> String {
    let passages = crate::model::searched::searched(message);
    let texts = passages.iter().map(|passage| folded(&passage.text));
    texts.collect::<Vec<_>>().join("\n")
}

fn lost(messages: &[Message], said: &str) -> Vec<String> {
    let summary = Message::text(Role::User, said);
    let audit = audit(&held(messages), &Said::of([&summary]), changes);
    let line = |fact: &Fact| match &fact.outcome {
        Some(outcome) => format!("{}: {} ({outcome})", fact.class.as_str(), fact.text),
        None => format!("{}: {}", fact.class.as_str(), fact.text),
    };
    audit.lost().map(line).collect()
}

#[test]
fn a_list_of_things_to_do_counts_as_it_was_last() {
    let first = r#"{"todos":[{"content":"read it","status":"pending"},{"content":"mend it","status":"pending"}]}"#;
    let last = r#"{"plan":[{"step":"read it","status":"completed"},{"step":"mend it","status":"in_progress"}]}"#;
    let talk = [
        call("a", "TodoWrite", first),
        call("b", "update_plan", last),
    ];
    assert_eq!(lost(&talk, "Nothing."), ["task: mend it"]);
    let talk = [
        call("a", "TaskCreate", r#"{"subject":"read it"}"#),
        call("b", "TaskCreate", r#"{"subject":"mend it"}"#),
        call("c", "TaskUpdate", r#"{"taskId":"1","status":"completed"}"#),
    ];
    assert_eq!(lost(&talk, "Nothing."), ["task: mend it"]);
}

#[test]
fn an_error_is_told_with_what_mended_it() {
    let test = r#"{"command":"cargo test"}"#;
    let edit = r#"{"file_path":"/w/a.rs","old_string":"a","new_string":"b"}"#;
    let talk = [
        call("1", "Bash", test),
        result("1", "Exit code 101\nerror: no field `x`", true),
        call("2", "Edit", edit),
        result("2", "done", false),
        call("3", "Bash", test),
        result("3", "ok", false),
    ];
    assert_eq!(
        lost(&talk, "We ran cargo test."),
        [
            "file: /w/a.rs",
            "error: error: no field `x` (mended by a change of /w/a.rs)",
        ]
    );
}

#[test]
fn a_file_is_said_by_the_end_of_its_path_unless_another_ends_so() {
    let read = |id: &str, path: &str| call(id, "Read", &format!("{{\"file_path\":\"{path}\"}}"));
    let talk = [
        read("1", "/w/a/mod.rs"),
        read("2", "/w/b/mod.rs"),
        read("3", "/w/b/lexer.rs"),
    ];
    let all = [
        "file: /w/b/lexer.rs",
        "file: /w/b/mod.rs",
        "file: /w/a/mod.rs",
    ];
    assert_eq!(lost(&talk, "Nothing."), all);
    assert_eq!(
        lost(&talk, "See lexer.rs and a/mod.rs."),
        ["file: /w/b/mod.rs"]
    );
    assert_eq!(lost(&talk, "See mod.rs and mylexer.rs."), all);
    // One that is named in a command is the same file.
    let talk = [
        read("1", "/w/b/lexer.rs"),
        call("2", "Bash", r#"{"command":"cat b/lexer.rs"}"#),
    ];
    assert_eq!(lost(&talk, "cat b/lexer.rs"), Vec::<String>::new());
}

#[test]
fn a_prompt_in_other_words_is_said_by_most_of_its_phrases() {
    let talk = [Message::text(
        Role::User,
        "Please never touch the ledger of the year 1998, says Imke.",
    )];
    let said = "The user said: never touch the ledger of the year 1998, says Imke";
    assert!(
        !lost(&talk, said)
            .iter()
            .any(|line| line.starts_with("instruction"))
    );
    assert_eq!(lost(&talk, "The ledger.").len(), 2);
}
