use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::model::pattern::Pattern;
use crate::model::{
    Draft, Hide, HideKind, Interval, Message, Millis, Part, Priority, RefName, RefValue,
    Replacement,
};
use crate::repo::chain::Chain;
use crate::repo::revision::newest_containing;
use crate::store::Tx;
use crate::store::sqlite::Sqlite;

fn find(repo: &Repo, options: &FindOptions) -> Vec<Found> {
    repo.find_messages(&On::Head, options, &mut |_| Ok(()))
        .expect("it finds")
}

fn text(pattern: &str) -> FindOptions {
    FindOptions::new(Pattern::text(pattern).expect("a pattern"))
}

fn commit(repo: &Repo, branch: &str, draft: Draft, time: Option<i64>) -> CommitHash {
    let name = RefName::branch(branch).expect("a name");
    let on = On::Branch(name.clone());
    let mut chain = Chain::at(repo.head(&on).expect("a head").commit());
    with_tx(repo, |tx| {
        let made = chain.push(tx, &draft, time.map(Millis));
        let tip = RefValue::Commit(made.expect("it commits").0.hash());
        tx.set_reference(&name, Some(&tip)).expect("kept");
    });
    chain.tip().expect("just made")
}

fn say(repo: &Repo, branch: &str, text: &str, time: i64) -> CommitHash {
    let draft = Draft::append(Message::text(Role::User, text));
    commit(repo, branch, draft, Some(time))
}

fn with_tx(repo: &Repo, work: impl FnOnce(&dyn Tx)) {
    let tx = repo.store.write().expect("the lock");
    tx.begin_operation(Millis(0), "test").expect("kept");
    work(&*tx);
    tx.commit().expect("visible");
}

fn point(repo: &Repo, name: &str, at: CommitHash) {
    with_tx(repo, |tx| {
        let name: RefName = name.parse().expect("a name");
        tx.set_reference(&name, Some(&RefValue::Commit(at)))
            .expect("kept");
    });
}

fn texts(found: &[Found]) -> Vec<&str> {
    found.iter().map(|one| one.lines[0].text.as_str()).collect()
}

#[test]
fn paths_are_merged_by_time_and_each_keeps_its_order() {
    let repo = Repo::ephemeral().expect("a repository");
    let shared = say(&repo, "main", "x shared", 10);
    point(&repo, "refs/heads/other", shared);
    say(&repo, "main", "x main late", 50);
    // A clock that runs backwards changes no order along a path.
    say(&repo, "main", "x main last", 20);
    say(&repo, "other", "x other", 40);
    point(&repo, "refs/sessions/tool/one", shared);
    let found = find(&repo, &text("x"));
    assert_eq!(
        texts(&found),
        ["x other", "x main last", "x main late", "x shared"]
    );
    let branches: Vec<&str> = found
        .iter()
        .filter_map(|one| Some(one.branch.as_ref()?.short()))
        .collect();
    assert_eq!(branches, ["other", "main", "main", "main"]);
    let on = On::Branch(RefName::branch("other").expect("a name"));
    let found = repo
        .find_messages(&on, &text("shared"), &mut |_| Ok(()))
        .expect("it finds");
    assert_eq!(found[0].branch.as_ref().map(RefName::short), Some("other"));
}

#[test]
fn what_no_name_reaches_is_not_found() {
    let repo = Repo::ephemeral().expect("a repository");
    let first = say(&repo, "main", "x first", 1);
    let second = say(&repo, "main", "x second", 2);
    point(&repo, "refs/heads/main", first);
    assert_eq!(texts(&find(&repo, &text("x"))), ["x first"]);
    let within = FindOptions {
        within: Some(second),
        ..text("x")
    };
    assert_eq!(texts(&find(&repo, &within)), ["x second", "x first"]);
    point(&repo, "refs/tags/kept", second);
    let found = find(&repo, &text("second"));
    assert_eq!(found[0].branch.as_ref().map(RefName::short), Some("kept"));
}

#[test]
fn what_someone_else_keeps_from_being_indexed_is_found_as_well() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tract.db");
    let store = Sqlite::create(&path).expect("a database");
    let mut repo = Repo::ephemeral().expect("a repository");
    repo.store = Box::new(store.with_busy_timeout(Duration::ZERO));
    say(&repo, "main", "parse_config", 1);
    let other = Sqlite::open(&path).expect("opens");
    let held = crate::store::Store::write(&other).expect("the lock");
    assert_eq!(find(&repo, &text("parse_conf")).len(), 1);
    assert!(
        repo.store
            .read()
            .and_then(|view| view.unindexed_bytes())
            .expect("it counts")
            > 0
    );
    drop(held);
    let mut seen = Vec::new();
    let found = repo.find_messages(&On::Head, &text("parse_conf"), &mut |progress| {
        seen.push(progress);
        Ok(())
    });
    assert_eq!(found.expect("it finds").len(), 1);
    assert!(matches!(
        seen[0],
        FindProgress::Indexing {
            bytes: 0,
            total_bytes: 1..
        }
    ));
    assert_eq!(
        seen[1],
        FindProgress::Reading {
            messages: 0,
            total: 1
        }
    );
    assert_eq!(
        repo.store
            .read()
            .and_then(|view| view.unindexed_bytes())
            .expect("it counts"),
        0
    );
}

#[test]
fn options_narrow_what_is_found() {
    let repo = Repo::ephemeral().expect("a repository");
    let call = |id: &str, tool: &str| Part::ToolCall {
        id: id.to_owned(),
        name: tool.to_owned(),
        arguments: r#"{"x":"here"}"#.to_owned(),
        kind: None,
    };
    let result = |id: &str| Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role: Role::Tool,
        name: None,
        parts: vec![Part::ToolResult {
            call: id.to_owned(),
            content: vec![Part::text(format!("here {id}"))],
            is_error: false,
        }],
    };
    let calls = |parts| Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role: Role::Assistant,
        name: None,
        parts,
    };
    let messages = [
        Message::text(Role::User, "here"),
        calls(vec![call("1", "Bash"), call("2", "Read")]),
        result("2"),
        result("1"),
        // The id comes again, for another tool.
        calls(vec![call("1", "Read")]),
        result("1"),
    ];
    for (time, message) in messages.into_iter().enumerate() {
        commit(&repo, "main", Draft::append(message), Some(time as i64));
    }
    commit(
        &repo,
        "main",
        Draft::append(Message::text(Role::User, "here, undated")),
        None,
    );
    let numbers = |options: FindOptions| -> Vec<usize> {
        find(&repo, &options)
            .iter()
            .filter_map(|one| one.number)
            .collect()
    };
    let here = || text("here");
    assert_eq!(numbers(here()), [7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(numbers(FindOptions { limit: 2, ..here() }), [7, 6]);
    assert_eq!(
        numbers(FindOptions {
            role: Some(Speaker::Role(Role::User)),
            ..here()
        }),
        [7, 1]
    );
    assert_eq!(
        numbers(FindOptions {
            tool: Some("bash".into()),
            ..here()
        }),
        [4, 2]
    );
    assert_eq!(
        numbers(FindOptions {
            tool: Some("Read".into()),
            ..here()
        }),
        [6, 5, 3, 2]
    );
    assert_eq!(
        numbers(FindOptions {
            since: Some(Millis(2)),
            until: Some(Millis(4)),
            ..here()
        }),
        [5, 4, 3]
    );
    assert_eq!(
        numbers(FindOptions {
            operations: vec!["edit".into()],
            ..here()
        }),
        [0_usize; 0]
    );
}

#[test]
fn a_part_that_is_hidden_is_marked_and_its_stub_is_found() {
    let repo = Repo::ephemeral().expect("a repository");
    let both = Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role: Role::User,
        name: None,
        parts: vec![Part::text("long output"), Part::text("kept output")],
    };
    let entry = EntryId::of(commit(&repo, "main", Draft::append(both), None));
    let stub = Message::text(Role::Tool, "[output hidden]");
    let hide = Hide {
        kind: HideKind::Prune,
        intervals: vec![],
        keep: vec![],
        parts: vec![crate::model::PartHide {
            entry,
            part: 0,
            stub: Some(stub.hash()),
        }],
        replacements: vec![],
    };
    commit(
        &repo,
        "main",
        Draft::new(Operation::Hide(hide), vec![stub.into()]),
        None,
    );
    let standing = |pattern: &str| {
        let found = find(&repo, &text(pattern));
        (found[0].entry == entry, found[0].number, found[0].hidden_by)
    };
    assert_eq!(
        standing("long output"),
        (true, Some(1), Some(HiddenBy::Part))
    );
    assert_eq!(standing("kept output"), (true, Some(1), None));
    assert_eq!(standing("[output hidden]"), (true, Some(1), None));
}

#[test]
fn the_newest_message_with_a_text_is_found_from_a_tip() {
    let repo = Repo::ephemeral().expect("a repository");
    let first = say(&repo, "main", "Fix the parser", 1);
    let second = say(&repo, "main", "fix the PARSER again", 2);
    let third = say(&repo, "main", "thanks", 3);
    let newest = |tip, text: &str| {
        let view = repo.store.read().expect("a view");
        newest_containing(&*view, &tip, text).expect("it looks")
    };
    assert_eq!(newest(third, "the parser"), Some(second));
    assert_eq!(newest(first, "the parser"), Some(first));
    assert_eq!(newest(second, "thanks"), None);
    find(&repo, &text("indexes"));
    assert_eq!(newest(third, "the parser"), Some(second));
    assert_eq!(newest(third, "fx"), None);
}

/// One step: what it does, to which entry, with which text.
type Step = (u8, prop::sample::Index, prop::sample::Index, String);

/// Does a step at the end of main, if the fold allows it.
fn take(repo: &Repo, (kind, one, two, said): &Step) {
    let tip = repo.head(&On::Head).expect("a head").commit();
    let order = tip.map(|tip| repo.order(&tip).expect("it folds"));
    let entries: Vec<EntryId> = order
        .iter()
        .flat_map(|o| o.entries())
        .map(|e| e.id)
        .collect();
    let message = Message::text(Role::User, said);
    let draft = match (kind, entries.is_empty()) {
        (0..=4, _) | (_, true) => Draft::append(message),
        (5 | 6, _) => Draft::edit(entries[one.index(entries.len())], message),
        (7 | 8, _) => {
            let (a, b) = (one.index(entries.len()), two.index(entries.len()));
            let (first, last) = (entries[a.min(b)], entries[a.max(b)]);
            let replacement = Replacement {
                before: Some(first),
                content: message.hash(),
            };
            let hide = Hide {
                kind: HideKind::Compaction,
                intervals: vec![Interval { first, last }],
                keep: vec![],
                parts: vec![],
                replacements: vec![replacement; a % 2],
            };
            Draft::new(Operation::Hide(hide), vec![message.into()])
        }
        (9, _) => {
            let target = entries[one.index(entries.len())].commit;
            Draft::new(
                Operation::Restore {
                    target,
                    entries: vec![],
                },
                vec![],
            )
        }
        _ => {
            let targets = vec![entries[one.index(entries.len())]];
            let priority = Priority::Skip;
            Draft::new(
                Operation::Annotate {
                    targets,
                    priority,
                    reason: None,
                },
                vec![],
            )
        }
    };
    // What cannot be restored is refused, and that is fine.
    let _ = repo.commit(crate::repo::Call::default(), &[draft], &Default::default());
}

#[test]
fn a_rare_word_costs_as_much_in_a_long_history_as_in_a_short_one() {
    let steps = |messages: usize| {
        let (repo, steps) = Repo::counted();
        let said = |at: usize| match at {
            123 => Draft::append(Message::text(Role::User, "a zebra")),
            _ => Draft::append(Message::text(Role::User, format!("the message {at}"))),
        };
        let talk: Vec<Draft> = (0..messages).map(said).collect();
        let done = repo.commit(Default::default(), &talk, &Default::default());
        done.expect("commits");
        let options = text("zebra");
        // The first takes what is there into the index.
        find(
            &repo,
            &FindOptions {
                limit: 1,
                ..options.clone()
            },
        );
        let before = steps.load(std::sync::atomic::Ordering::Relaxed);
        let found = find(
            &repo,
            &FindOptions {
                limit: 1,
                ..options
            },
        );
        assert_eq!((found.len(), found[0].number), (1, Some(124)));
        steps.load(std::sync::atomic::Ordering::Relaxed) - before
    };
    let (few, many) = (steps(500), steps(5_000));
    assert!(many < few + few / 4, "{few} and {many} steps");
}

proptest! {
    #![proptest_config(crate::conditions::laws(64))]

    /// Every text on the path that holds the pattern is found once, and where it is said to be
    /// visible, the context shows it under that number; what the context shows is found.
    #[test]
    fn all_is_found_and_stands_where_it_is_said_to(
        steps in prop::collection::vec((0..11_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), "[ab東京]{0,5}"), 1..30),
        pattern in "[ab東京]{1,3}",
        early in 0..30_usize,
    ) {
        let repo = Repo::ephemeral().expect("a repository");
        for (at, step) in steps.iter().enumerate() {
            if at == early {
                find(&repo, &text("x"));
            }
            take(&repo, step);
        }
        let tip = repo.head(&On::Head).expect("a head").commit().expect("the first step appends");
        let context = repo.context(&tip).expect("it compiles");
        let shown: BTreeSet<usize> = repo.messages(&context).expect("bodies").iter().enumerate()
            .filter(|(_, message)| crate::model::searched::searched(message)[0].text.contains(&pattern))
            .map(|(at, _)| at + 1)
            .collect();
        let mut found = find(&repo, &FindOptions { neighbours: 1, ..text(&pattern) });
        found.reverse();
        let visible = found.iter().filter(|one| one.hidden_by.is_none()).map(|one| one.number.expect("visible"));
        prop_assert_eq!(visible.collect::<BTreeSet<usize>>(), shown);
        for one in &found {
            prop_assert_eq!(one.number, context.position(&one.entry).map(|at| at + 1));
            prop_assert!(one.number.is_some() || one.hidden_by.is_some());
            let beside = one.before.iter().chain(&one.after).filter_map(|beside| beside.number);
            for number in beside.chain(one.number) {
                prop_assert!(number <= context.entries.len());
            }
        }
        let view = repo.store.read().expect("a view");
        let mut brought = Vec::new();
        for row in view.ancestors(&tip, None, usize::MAX).expect("a path").iter().rev() {
            for content in row.commit.operation.contents().into_iter().collect::<BTreeSet<_>>() {
                let message = view.content(&content).expect("it reads").expect("here");
                if crate::model::searched::searched(&message)[0].text.contains(&pattern) {
                    brought.push(row.hash);
                }
            }
        }
        let found: Vec<CommitHash> = found.iter().map(|one| one.hash).collect();
        prop_assert_eq!(found, brought);
        repo.second_reading()?;
    }
}
