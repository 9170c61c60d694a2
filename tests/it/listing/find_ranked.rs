//! Messages by what they are about.

use std::path::Path;

use tract::model::RefName;
use tract::repo::Repo;

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};
use crate::sessions::import::with_demo;

/// The hashes of what a search finds, in its order.
fn hashes(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let said = sandbox.ok(&[&["find"], arguments].concat());
    let heads = said.lines().filter(|line| {
        let is_hash = |word: &str| word.len() == 7 && word.bytes().all(|b| b.is_ascii_hexdigit());
        line.split(' ').next().is_some_and(is_hash)
    });
    heads.map(|head| head[..7].to_owned()).collect()
}

#[test]
fn a_word_that_no_message_has_is_searched_for_as_it_is() {
    let sandbox = Sandbox::with_messages(&[
        (
            "user",
            "It broke at 5f3759df8a2e4c31b6d0e7f9a1b2c3d4e5f60718.",
        ),
        (
            "assistant",
            "Then aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5dE7fG9hJ1kL3mN5pQ7rS9tU1vW3xY is next.",
        ),
    ]);
    for word in ["5f3759df", "5f3759df*", "mN1pQ3", "roke"] {
        assert_eq!(hashes(&sandbox, &[word]).len(), 1, "{word}");
    }
    // Several words are words, and so is what is left out.
    for words in ["roke hex", "-roke nex"] {
        let said = sandbox.tract(&["find", "--", words]);
        assert!(said.contains("No message matches"), "{said}");
    }
}

#[test]
fn pages_of_what_is_searched_for_as_it_is_follow_each_other() {
    let said = "See 5f3759df8a2e4c31b6d0e7f9a1b2c3d4e5f60718, said for the time ";
    let said: Vec<String> = (1..=5).map(|time| format!("{said}{time}.")).collect();
    let said: Vec<(&str, &str)> = said.iter().map(|text| ("user", text.as_str())).collect();
    let sandbox = Sandbox::with_messages(&said);
    for how in [
        &["5f3759df"][..],
        &["-F", "5f3759df"],
        &["-E", "5f37[0-9]+df"],
    ] {
        let page = |more: &[&str]| hashes(&sandbox, &[how, more].concat());
        let all = page(&[]);
        assert_eq!(all.len(), 5, "{how:?}");
        assert_eq!(page(&["-n", "2", "--offset", "1"]), all[1..3], "{how:?}");
        assert_eq!(page(&["-n", "0", "--offset", "3"]), all[3..], "{how:?}");
        let said = sandbox.tract(&[&["find", "-n", "2"], how].concat());
        assert!(said.contains("more matches, older: -n 0"), "{said}");
        let said = sandbox.tract(&[&["find", "--offset", "5"], how].concat());
        assert!(said.contains("No message matches"), "{said}");
    }
    // What is behind the last page of words is no reason to search for them as they are.
    let said = sandbox.tract(&["find", "time", "--offset", "5"]);
    assert!(said.contains("No message matches"), "{said}");
}

#[test]
fn the_best_answer_comes_first_in_whatever_form_and_order() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "Here are three website redesign proposals."),
        ("assistant", "The website is down."),
        ("user", "A proposal, nothing more."),
        ("assistant", "Nothing of that."),
    ]);
    insta::assert_snapshot!(sandbox.tract(&["find", "redesigned websites proposal"]), @r"
    c553dfd  2026-03-14 12:02:00  user       main:1
        Here are three website redesign proposals.
    9d0c0d4  2026-03-14 12:03:00  assistant  main:2
        The website is down.
    c99953b  2026-03-14 12:04:00  user       main:3
        A proposal, nothing more.
    ");
    // What was dropped comes last, and says what brings it back.
    sandbox.ok(&["drop", "--force", ":1"]);
    let found = sandbox.ok(&["find", "redesigned websites proposal"]);
    let last = found.find("c553dfd").map(|at| &found[at..]);
    let last = last.unwrap_or_else(|| panic!("{found}"));
    assert!(
        last.contains("main hidden (dropped by ") && last.contains("(taken back on 2026-03-14"),
        "{last}"
    );
    assert!(
        last.ends_with("\n    back: tract restore c553dfd\n"),
        "{last}"
    );
    let first = sandbox.tract(&["find", "redesigned websites proposal", "-n", "1"]);
    assert!(
        first.ends_with("hint: more matches, less relevant: -n 0\n"),
        "{first}"
    );
    assert_eq!(hashes(&sandbox, &["website", "--hidden"]).len(), 1);
    assert_eq!(
        hashes(&sandbox, &["website", "--role", "assistant"]).len(),
        1
    );
}

#[test]
fn phrases_beginnings_and_what_must_not_be_there() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "read the config of the parser"),
        (
            "assistant",
            "fn parse_config(path: &str) is in src/lib/config-reader.rs",
        ),
        ("user", "the config, read again"),
        ("assistant", "parseConfig fails: 東京都の天気"),
    ]);
    let found = |words: &str| hashes(&sandbox, &[words]).len();
    assert_eq!(found("config"), 4);
    assert_eq!(found("\"read the config\""), 1);
    assert_eq!(found("config -read"), 2);
    assert_eq!(found("config -\"config, read\""), 3);
    assert_eq!(found("pars*"), 3);
    assert_eq!(found("東京"), 1);
    let whole = hashes(&sandbox, &["parse-config"]);
    assert_eq!(whole.len(), 4, "its parts are words, too");
    let first = sandbox.ok(&["find", "parse-config", "-n", "2"]);
    assert!(
        first.contains("parse_config") && first.contains("parseConfig"),
        "{first}"
    );
    assert_eq!(found("config -- --force"), 4);
}

#[test]
fn options_narrow_what_is_found_and_never_add() {
    let sandbox = with_demo();
    let all = hashes(&sandbox, &["decimal", "-n", "0"]);
    for arguments in [
        &["--role", "user"][..],
        &["--tool", "Edit"],
        &["--path", "src/parse.rs"],
        &["--hidden"],
        &["--here"],
        &["--directory", "/home/mara"],
        &["--since", "2026-03-14T09:18"],
        &["--op", "compact"],
        &["main"],
    ] {
        for exact in [&[][..], &["-F"]] {
            let some = sandbox.tract(&[&["find", "decimal", "-n", "0"], arguments, exact].concat());
            let some = some
                .lines()
                .filter(|line| all.iter().any(|hash| line.starts_with(hash.as_str())));
            let some = some.count();
            assert!(some <= all.len(), "{arguments:?}");
            let is_nothing = arguments == ["--here"];
            assert_eq!(some == 0, is_nothing, "{arguments:?} {exact:?}");
        }
    }
    let repo = Repo::open(Path::new(&sandbox.place())).expect("opens");
    let sessions = repo.references(RefName::SESSIONS).expect("sessions");
    let name = sessions[0].0.as_str();
    let name = name.trim_start_matches(RefName::SESSIONS).to_owned();
    drop(repo);
    let name = name.as_str();
    assert_eq!(
        hashes(&sandbox, &["decimal", "-n", "0", "--session", name]),
        all
    );
    let none = sandbox.tract(&["find", "decimal", "--session", "claude-code/none"]);
    assert!(none.starts_with("exit code: 2\n"), "{none}");
}

#[test]
fn what_asks_for_nothing_says_what_would() {
    let sandbox = Sandbox::with_messages(&[("user", "what is it")]);
    insta::assert_snapshot!(sandbox.tract(&["find", "what is it"]), @r"
    exit code: 2
    --- stderr
    error: the words to find: such words stand in nearly every message
    hint: tract find -F TEXT finds any text as it is
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "--", "-draft"]), @r"
    exit code: 2
    --- stderr
    error: the words to find: it says only what must not be there
    hint: tract find -F TEXT finds any text as it is
    ");
    assert!(
        sandbox
            .ok(&["find", "-F", "what is it"])
            .contains("what is it")
    );
}

const OF_ITSELF: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","cwd":"/w","timestamp":"2026-01-05T10:00:01.000Z","message":{"role":"user","content":"Where were the website proposals?"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","cwd":"/w","timestamp":"2026-01-05T10:00:02.000Z","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"tract find 'website proposals'"}}]}}
{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s1","cwd":"/w","timestamp":"2026-01-05T10:00:03.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"abcdef1 website proposals, website proposals"}]}}
{"type":"assistant","uuid":"a2","parentUuid":"u2","sessionId":"s1","cwd":"/w","timestamp":"2026-01-05T10:00:04.000Z","message":{"id":"m2","role":"assistant","model":"m","content":[{"type":"text","text":"They were proposals of mine."}]}}
"#;

#[test]
fn what_tract_itself_told_comes_last_and_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("own.jsonl", OF_ITSELF);
    sandbox.ok(&["import", "own.jsonl"]);
    insta::assert_snapshot!(sandbox.tract(&["find", "website proposals"]), @r"
    5ce3930  2026-01-05 10:00:01  user       main:1
        Where were the website proposals?
    2752bf2  2026-01-05 10:00:04  assistant  main:4
        They were proposals of mine.
    30037f2  2026-01-05 10:00:03  tool       main:3  Bash tract find 'website proposals'
        (told by a memory)
        abcdef1 website proposals, website proposals
    bd9acd5  2026-01-05 10:00:02  assistant  main:2
        (told by a memory)
        Bash tract find 'website proposals'
    ");
}

/// An import leaves nothing to be taken in by whoever searches first.
#[test]
fn an_import_fills_the_index() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_demo();
    let found = sandbox.ok(&["find", "decimal mark"]);
    let index = rusqlite::Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
    let known: i64 = index
        .query_row("SELECT max(last) FROM segments", [], |row| row.get(0))
        .expect("a number");
    let all: i64 = index
        .query_row("SELECT max(id) FROM contents", [], |row| row.get(0))
        .expect("a number");
    assert_eq!(known, all);
    index
        .execute_batch("DELETE FROM segments; DELETE FROM words")
        .expect("derived data may be dropped");
    drop(index);
    assert_eq!(sandbox.ok(&["find", "decimal mark"]), found);
}
