//! What every engine promises, as functions that take a maker of empty stores.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::Error;
use crate::context::Context;
use crate::context::{Entry, Mask, MaskedPart};
use crate::hash::{CommitHash, ContentHash, Fingerprint, HashPrefix, fingerprint};
use crate::model::background::{KnownStart, KnownWork};
use crate::model::query::Query;
use crate::model::searched::Literals;
use crate::model::tokens::PictureRule;
use crate::model::{
    Author, Commit, Encoding, EntryId, Hide, HideKind, LargestEntry, Message, Millis, Operation,
    PURGED, Part, PartHide, PathSums, Priority, RefName, RefValue, Role, Sealed, Settings, Span,
    Standouts, StatedUsage, Summed, TokenCount, ToolUses, Total, Usage, UsageDetail, Written,
};

type Make<'a> = &'a dyn Fn() -> Box<dyn Store>;

/// Everything.
pub(crate) fn run(make: Make<'_>) {
    what_is_dropped_leaves_nothing(make);
    keeping_twice_keeps_once(make);
    what_a_commit_names_must_be_here(make);
    paths_are_those_of_a_naive_walk(make);
    a_listing_says_of_each_message_what_is_known(make);
    prefixes_find_what_begins_with_them(make);
    appends_are_found_by_parent_and_content(make);
    contents_and_their_rows_read_back(make);
    counts_are_kept_by_mask_and_encoding(make);
    what_is_estimated_is_kept_by_the_rule_for_pictures(make);
    many_keys_are_answered_in_the_order_asked(make);
    refs_move_and_the_log_tells(make);
    branches_are_listed_by_when_they_were_worked_on(make);
    each_has_their_own_positions(make);
    an_operation_says_who_did_it(make);
    checkpoints_read_back(make);
    totals_read_back(make);
    summaries_read_back(make);
    sources_grow_and_read_back(make);
    who_builds_on_what_is_gone_is_told_so(make);
    what_imports_keep_reads_back(make);
    a_followed_file_is_kept_as_long_as_its_source(make);
    sessions_are_found_by_their_directory(make);
    a_recording_is_open_until_the_time_that_was_said_last(make);
    an_unread_file_is_kept_until_it_is_read_or_a_purge_runs(make);
    configuration_reads_back(make);
    what_is_remembered_of_refs_reads_back(make);
    searches_miss_nothing(make);
    the_best_answers_come_first(make);
    what_is_taken_out_is_in_no_answer(make);
    what_is_purged_is_gone_and_stays_gone(make);
    what_nothing_leads_to_is_told_and_dropped(make);
    what_was_merged_is_told_and_kept(make);
    what_is_forgotten_of_the_log_leaves_refs_where_they_were(make);
    what_is_remembered_of_what_is_gone_goes_too(make);
    older_sources_go_where_newer_ones_say_the_same(make);
}

impl dyn Tx + '_ {
    /// Keeps a message and gives its name.
    pub(crate) fn keep(&self, message: &Message) -> Result<ContentHash> {
        let message = Sealed::new(message.clone());
        self.put_content(&message)?;
        Ok(message.hash())
    }

    /// Keeps a commit, gives its name, and says whether it is new.
    pub(crate) fn keep_commit(&self, commit: &Commit) -> Result<(CommitHash, bool)> {
        let commit = Sealed::new(commit.clone());
        Ok((commit.hash(), self.put_commit(&commit)?))
    }
}

fn user(text: &str) -> Message {
    Message::text(Role::User, text)
}

fn append(tx: &dyn Tx, parent: Option<CommitHash>, text: &str) -> CommitHash {
    let content = tx.keep(&user(text)).expect("a content is kept");
    put(tx, parent, Operation::Append { content })
}

fn put(tx: &dyn Tx, parent: Option<CommitHash>, operation: Operation) -> CommitHash {
    tx.keep_commit(&step(parent, operation))
        .expect("a commit is kept")
        .0
}

pub(super) fn step(parent: Option<CommitHash>, operation: Operation) -> Commit {
    Commit {
        parent,
        operation,
        time: Some(Millis(5)),
        settings: Settings::new(),
        note: None,
        author: None,
        merged: None,
        origin: None,
    }
}

fn writing<T>(store: &dyn Store, work: impl FnOnce(&dyn Tx) -> T) -> T {
    let tx = store.write().expect("the lock");
    let result = work(&*tx);
    tx.commit().expect("it becomes visible");
    result
}

fn reading<T>(store: &dyn Store, work: impl FnOnce(&dyn View) -> Result<T>) -> T {
    let view = store.read().expect("a view");
    work(&*view).expect("it reads")
}

/// A line of `len` appended messages; its tip.
pub(crate) fn line(store: &dyn Store, len: usize) -> CommitHash {
    writing(store, |tx| {
        let next = |parent: Option<CommitHash>, at| Some(append(tx, parent, &format!("{at}")));
        (0..len).fold(None, next).expect("at least one")
    })
}

/// The context of a path of appends.
pub(crate) fn fold_of(store: &dyn Store, tip: &CommitHash) -> Context {
    let path = reading(store, |view| view.ancestors(tip, None, usize::MAX));
    let entries = path
        .iter()
        .rev()
        .filter_map(|row| match row.commit.operation {
            Operation::Append { content } => Some(plain(row.hash, content)),
            _ => None,
        });
    let entries: imbl::Vector<Entry> = entries.collect();
    Context {
        total_entries: entries.len() as u64,
        entries,
        ..Context::default()
    }
}

fn plain(commit: CommitHash, content: ContentHash) -> Entry {
    Entry {
        id: EntryId::of(commit),
        content,
        mask: Mask::default(),
        priority: Priority::Normal,
        placed: None,
        edited: false,
    }
}

fn branch(name: &str) -> RefName {
    RefName::branch(name).expect("a branch's name")
}

fn what_is_dropped_leaves_nothing(make: Make<'_>) {
    let store = make();
    let tx = store.write().expect("the lock");
    let commit = append(&*tx, None, "gone");
    tx.begin_operation(Millis(1), "gone").expect("kept");
    tx.set_reference(&branch("gone"), Some(&RefValue::Commit(commit)))
        .expect("kept");
    tx.set_config("gone", Some("x")).expect("kept");
    let note = TagNote {
        commit,
        time: Millis(1),
        text: "gone".to_owned(),
    };
    tx.set_tag_note(&branch("gone"), Some(&note)).expect("kept");
    let source = tx.put_source(&branch("gone"), "x", None).expect("kept");
    assert!(
        tx.commit_row_is_here(&commit),
        "a transaction sees its own work"
    );
    drop(tx);
    reading(&*store, |view| {
        assert_eq!(view.commit(&commit)?, None);
        assert_eq!(view.content(&user("gone").hash())?, None);
        assert_eq!(view.references("")?, vec![]);
        assert_eq!(view.operations(None, 9)?, vec![]);
        assert_eq!(view.reflog(&branch("gone"), 9)?, vec![]);
        assert_eq!(view.config()?, vec![]);
        assert_eq!(
            view.tag_notes(std::slice::from_ref(&branch("gone")))?,
            [None]
        );
        assert_eq!(view.source(source)?, None);
        Ok(())
    });
    line(&*store, 1);
}

trait IsHere {
    fn commit_row_is_here(&self, commit: &CommitHash) -> bool;
}

impl IsHere for dyn Tx + '_ {
    fn commit_row_is_here(&self, commit: &CommitHash) -> bool {
        Objects::commit(self, commit).expect("it reads").is_some()
    }
}

fn keeping_twice_keeps_once(make: Make<'_>) {
    let store = make();
    let first = line(&*store, 3);
    assert_eq!(line(&*store, 3), first);
    writing(&*store, |tx| {
        let row = Objects::commit(tx, &first)
            .expect("it reads")
            .expect("it is here");
        assert_eq!(row.depth, 2);
        assert_eq!(tx.keep_commit(&row.commit).expect("kept"), (first, false));
        let new = step(Some(first), row.commit.operation);
        assert!(tx.keep_commit(&new).expect("kept").1);
    });
}

fn what_a_commit_names_must_be_here(make: Make<'_>) {
    let store = make();
    let nowhere = CommitHash::of("nowhere");
    let unknown = user("unknown").hash();
    writing(&*store, |tx| {
        let content = tx.keep(&user("known")).expect("kept");
        let orphan = step(Some(nowhere), Operation::Append { content });
        assert!(tx.keep_commit(&orphan).is_err());
        let empty = step(None, Operation::Append { content: unknown });
        assert!(tx.keep_commit(&empty).is_err());
        let root = append(tx, None, "known");
        let mut merge = step(Some(root), Operation::Append { content });
        merge.merged = Some(nowhere);
        assert!(tx.keep_commit(&merge).is_err());
        let hide = Operation::Hide(Hide {
            kind: HideKind::Prune,
            intervals: vec![],
            keep: vec![],
            parts: vec![PartHide {
                entry: root.into(),
                part: 0,
                stub: Some(unknown),
            }],
            replacements: vec![],
        });
        assert!(tx.keep_commit(&step(Some(root), hide)).is_err());
        let key = CountKey {
            content: unknown,
            mask: None,
        };
        assert!(
            tx.put_count(key, Encoding::O200K_BASE, TokenCount::default())
                .is_err()
        );
        assert!(tx.put_usage(&nowhere, Usage::default()).is_err());
        assert!(tx.put_records(&root, 77, &[]).is_err());
        assert!(
            tx.append_source(77, &SourceState::empty(), b"x", &fingerprint(b"x"))
                .is_err()
        );
        assert!(tx.put_checkpoint(&nowhere, &Context::default()).is_err());
        tx.begin_operation(Millis(0), "x").expect("kept");
        assert!(
            tx.set_reference(&branch("x"), Some(&RefValue::Commit(nowhere)))
                .is_err()
        );
    });
    // What was refused left nothing behind: the same commits are refused or new as before.
    reading(&*store, |view| {
        assert_eq!(view.appends_after(Some(&nowhere), &unknown, 9)?, vec![]);
        assert_eq!(view.appends_after(None, &unknown, 9)?, vec![]);
        assert_eq!(view.references("")?, vec![]);
        assert_eq!(view.ancestors(&nowhere, None, 9)?, vec![]);
        assert!(!view.is_ancestor(&nowhere, &nowhere)?);
        assert_eq!(view.ancestor_at(&nowhere, 0)?, None);
        assert_eq!(view.changes(&nowhere)?, vec![]);
        assert_eq!(view.merges(&nowhere)?, vec![]);
        assert_eq!(view.checkpoint(&nowhere)?, None);
        Ok(())
    });
}

fn paths_are_those_of_a_naive_walk(make: Make<'_>) {
    let parents = prop::collection::vec(any::<prop::sample::Index>(), 1..40);
    let shape = (
        parents,
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
    );
    let mut runner = TestRunner::new(Config {
        source_file: Some(file!()),
        ..crate::conditions::laws(48)
    });
    let result = runner.run(&shape, |(parents, one, two)| {
        let store = make();
        let mut made: Vec<CommitHash> = Vec::new();
        let mut parent_of: Vec<Option<usize>> = Vec::new();
        writing(&*store, |tx| {
            for (at, index) in parents.iter().enumerate() {
                // Near the end mostly, so that lines grow; sometimes a root.
                let parent = match index.index(at + 2) {
                    0 => None,
                    pick if pick % 3 == 0 => Some(pick - 1).filter(|p| *p < at),
                    _ => at.checked_sub(1),
                };
                let hash = append(tx, parent.map(|p| made[p]), &at.to_string());
                made.push(hash);
                parent_of.push(parent);
            }
        });
        let walk = |tip: usize| -> Vec<usize> {
            std::iter::successors(Some(tip), |at| parent_of[*at]).collect()
        };
        let other = one.index(made.len());
        let all = [Tips::To(&made), Tips::At(&made), Tips::Active(None, 9)];
        reading(&*store, |view| {
            // It changes no answer.
            view.look_ahead(all[two.index(all.len())])?;
            for tip in 0..made.len() {
                let path = walk(tip);
                let of_other = walk(other);
                let both = path.iter().filter(|at| of_other.contains(at)).count();
                let shared = [(tip, other), (other, tip)].map(|(one, two)| (made[one], made[two]));
                for (one, two) in shared {
                    assert_eq!(view.shared(&one, &two)?, both as u64);
                }
                let hashes: Vec<CommitHash> = path.iter().map(|at| made[*at]).collect();
                let found = view.ancestors(&made[tip], None, usize::MAX)?;
                assert_eq!(found.iter().map(|row| row.hash).collect::<Vec<_>>(), hashes);
                for (place, row) in found.iter().rev().enumerate() {
                    assert_eq!(row.depth, place as u64);
                    assert_eq!(view.ancestor_at(&made[tip], row.depth)?, Some(row.hash));
                }
                assert_eq!(view.ancestor_at(&made[tip], path.len() as u64)?, None);
                let until = hashes.iter().position(|hash| *hash == made[other]);
                let limit = two.index(path.len() + 1);
                let found = view.ancestors(&made[tip], Some(&made[other]), limit)?;
                assert_eq!(found.len(), until.unwrap_or(path.len()).min(limit));
                let encoding = Encoding::default();
                let listed = view.listing(&made[tip], Some(&made[other]), limit, encoding)?;
                let rows = listed.iter().map(|one| &one.row);
                assert!(rows.eq(&found));
                let mut told = Vec::new();
                view.walk(&made[tip], Some(&made[other]), limit, &mut |row| {
                    told.push(row);
                    Ok(())
                })?;
                assert!(told.iter().rev().eq(&found));
                assert_eq!(view.is_ancestor(&made[other], &made[tip])?, until.is_some());
            }
            Ok(())
        });
        Ok(())
    });
    result.expect("every tree");
}

fn a_listing_says_of_each_message_what_is_known(make: Make<'_>) {
    let store = make();
    let plain = user("hello");
    let called = Message {
        parts: vec![Part::ToolCall {
            id: "1".into(),
            name: "read".into(),
            arguments: "{}".into(),
            kind: None,
        }],
        ..user("")
    };
    let encoding = Encoding::CL100K_BASE;
    let count = TokenCount {
        tokens: 7,
        estimated: true,
    };
    let tip = writing(&*store, |tx| {
        let kept = |message| tx.keep(message).expect("kept");
        let (first, second) = (kept(&called), kept(&plain));
        let key = |content, mask| CountKey { content, mask };
        let counted = |key| tx.put_count(key, encoding, count).expect("kept");
        counted(key(first, None));
        counted(key(second, Some([7; 32])));
        let mut tip = put(tx, None, Operation::Append { content: first });
        for content in [second, first] {
            tip = put(tx, Some(tip), Operation::Append { content });
        }
        let target = tip.into();
        let content = second;
        put(tx, Some(tip), Operation::Edit { target, content })
    });
    reading(&*store, |view| {
        let listed = view.listing(&tip, None, usize::MAX, encoding)?;
        assert_eq!(listed.len(), 4);
        assert_eq!(listed[0], listed[0].row.clone().into());
        for one in &listed[1..] {
            let content = one.row.appended().expect("an append");
            assert_eq!(one.said, view.content_row(&content)?);
            assert_eq!(one.uses, view.tool_uses(&[content])?[0]);
            let is_counted = content == Sealed::new(called.clone()).hash();
            assert_eq!(one.count, is_counted.then_some(count));
            assert_eq!(one.uses.is_some(), is_counted);
        }
        let others = view.listing(&tip, None, usize::MAX, Encoding::O200K_BASE)?;
        assert!(others.iter().all(|one| one.count.is_none()));
        let nowhere = CommitHash::of("nowhere");
        assert_eq!(view.listing(&nowhere, None, 9, encoding)?, vec![]);
        // The appends alone say the same, as far as they are asked.
        let told = |depths, facts| {
            let mut told = Vec::new();
            let read = view.appended(&tip, depths, facts, &mut |one| {
                told.push(one);
                Ok(())
            });
            read.map(|()| told)
        };
        let all = Facts {
            links: true,
            counts: Some(encoding),
        };
        let appended = told(0..9, all)?;
        assert_eq!(appended.len(), 3);
        for (one, listed) in appended.iter().zip(listed.iter().rev()) {
            let said = listed.said.as_ref().expect("an append");
            assert_eq!((one.commit, one.depth), (listed.row.hash, listed.row.depth));
            assert_eq!((one.content, one.role), (said.hash, said.role));
            assert_eq!(one.attached, said.attached);
            assert_eq!(one.uses_tools, said.calls + said.results > 0);
            assert_eq!(one.links, listed.uses.as_ref().map(|uses| uses.links()));
            assert_eq!(one.count, listed.count);
        }
        assert_eq!(told(1..2, all)?, appended[1..2]);
        let bare = told(2..9, Facts::default())?;
        assert_eq!((bare.len(), bare[0].depth), (1, 2));
        assert!(bare[0].links.is_none() && bare[0].count.is_none());
        assert!(told(3..9, all)?.is_empty(), "an edit");
        // What tells stops where it is told to.
        let mut told = 0;
        let stopped = view.walk(&tip, None, usize::MAX, &mut |_| {
            told += 1;
            Err(Error::store("enough"))
        });
        assert!(stopped.is_err() && told == 1);
        Ok(())
    });
}

fn prefixes_find_what_begins_with_them(make: Make<'_>) {
    let store = make();
    let tip = line(&*store, 300);
    reading(&*store, |view| {
        let mut all = view.ancestors(&tip, None, usize::MAX)?;
        all.sort_by_key(|row| row.hash);
        for digits in [4, 5, 7, 8, 63, 64] {
            let text: String = tip.to_string().chars().take(digits).collect();
            let prefix = HashPrefix::parse(&text).expect("digits");
            let fits: Vec<CommitRow> = all
                .iter()
                .filter(|row| row.hash.to_string().starts_with(&text))
                .cloned()
                .collect();
            assert!(!fits.is_empty());
            assert_eq!(view.commits_with_prefix(&prefix, 999)?, fits, "{digits}");
            assert_eq!(view.commits_with_prefix(&prefix, 1)?, fits[..1]);
            assert_eq!(view.commits_with_prefix(&prefix, 0)?, vec![]);
        }
        Ok(())
    });
}

fn appends_are_found_by_parent_and_content(make: Make<'_>) {
    let store = make();
    let root = line(&*store, 1);
    writing(&*store, |tx| {
        let content = tx.keep(&user("again")).expect("kept");
        let mut made = Vec::new();
        for time in [9, 3, 7] {
            let mut commit = step(Some(root), Operation::Append { content });
            commit.time = Some(Millis(time));
            made.push(tx.keep_commit(&commit).expect("kept").0);
        }
        append(tx, Some(root), "other");
        put(
            tx,
            Some(root),
            Operation::Edit {
                target: root.into(),
                content,
            },
        );
        let found = |most| {
            tx.appends_after(Some(&root), &content, most)
                .expect("it reads")
        };
        assert_eq!(found(usize::MAX), made, "oldest first, and no edit");
        assert_eq!(found(2), made[..2]);
        let none = tx.appends_after(None, &content, usize::MAX);
        assert_eq!(none.expect("it reads"), vec![]);
        let first = user("0").hash();
        assert_eq!(
            tx.appends_after(None, &first, 9).expect("it reads"),
            vec![root]
        );
    });
}

fn contents_and_their_rows_read_back(make: Make<'_>) {
    let store = make();
    let long = user(&"a long text, again and again. ".repeat(400));
    let noise: String = (0..2_000u32)
        .map(|n| char::from(33 + (n * n % 89) as u8))
        .collect();
    let call = Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role: Role::Assistant,
        name: Some("bob".into()),
        parts: vec![
            Part::ToolCall {
                id: "1".into(),
                name: "ls".into(),
                arguments: "{}".into(),
                kind: None,
            },
            Part::ToolResult {
                call: "1".into(),
                content: vec![],
                is_error: true,
            },
            Part::text("nul \u{0} inside"),
        ],
    };
    let messages = [user(""), user("\u{0}x"), long, user(&noise), call];
    let hashes: Vec<ContentHash> = writing(&*store, |tx| {
        messages
            .iter()
            .map(|message| tx.keep(message).expect("kept"))
            .collect()
    });
    reading(&*store, |view| {
        for (hash, message) in hashes.iter().zip(&messages) {
            assert_eq!(*hash, message.hash());
            assert_eq!(view.content(hash)?.as_ref(), Some(message));
        }
        let unknown = user("unknown").hash();
        assert_eq!(view.content(&unknown)?, None);
        let asked = [hashes[4], unknown, hashes[2], hashes[1], hashes[4]];
        let rows = view.content_rows(&asked)?;
        let of: Vec<_> = rows.iter().map(|row| Some(row.as_ref()?.hash)).collect();
        let here = |at: usize| Some(hashes[at]);
        assert_eq!(of, [here(4), None, here(2), here(1), here(4)]);
        let rows: Vec<ContentRow> = rows.into_iter().flatten().collect();
        let row = &rows[0];
        assert_eq!((row.role, row.calls, row.results), (Role::Assistant, 1, 1));
        assert_eq!(row.preview, "ls");
        assert_eq!(rows[1].size_bytes, messages[2].canonical().len() as u64);
        assert_eq!(rows[2].preview, "\u{0}x");
        let of = |hash: &ContentHash| messages.iter().find(|m| m.hash() == *hash);
        let here: Vec<ContentHash> = asked
            .iter()
            .copied()
            .filter(|hash| of(hash).is_some())
            .collect();
        let wanted: Vec<_> = here
            .iter()
            .map(|hash| of(hash).and_then(ToolUses::of))
            .collect();
        assert!(wanted.iter().any(Option::is_some) && wanted.iter().any(Option::is_none));
        assert_eq!(view.tool_uses(&here)?, wanted);
        let sizes = view.content_sizes()?;
        assert_eq!(sizes.len(), 5);
        for size in &sizes {
            let at = hashes.iter().position(|hash| *hash == size.hash);
            let message = &messages[at.expect("one of them")];
            assert_eq!(size.size_bytes, message.canonical().len() as u64);
            assert!(size.kept_bytes > 0 && size.kept_bytes <= size.size_bytes);
            assert_eq!(size.role, message.role);
            assert_eq!(size.uses_tools, message.role == Role::Assistant);
        }
        Ok(())
    });
}

/// Every verb that takes many keys: in their order, with holes where nothing is, and as often as
/// they are asked for.
fn many_keys_are_answered_in_the_order_asked(make: Make<'_>) {
    const MANY: u64 = 3_000;
    let store = make();
    let tip = line(&*store, MANY as usize);
    let path = reading(&*store, |view| view.ancestors(&tip, None, usize::MAX));
    let content = |row: &CommitRow| row.commit.operation.contents()[0];
    let encoding = Encoding::O200K_BASE;
    let count = |depth| TokenCount {
        tokens: depth,
        estimated: false,
    };
    let usage = |depth| Usage::new(depth, 1);
    let key = |row: &CommitRow| CountKey {
        content: content(row),
        mask: row.depth.is_multiple_of(2).then(|| fingerprint(b"a mask")),
    };
    let span = |depth| Span {
        offset: depth,
        len: 1,
    };
    let fork = writing(&*store, |tx| {
        let source = tx.put_source(&branch("x"), "x", None).expect("kept");
        for row in &path {
            if row.depth % 3 != 0 {
                let depth = row.depth;
                tx.put_count(key(row), encoding, count(depth))
                    .expect("kept");
                tx.put_usage(&row.hash, usage(depth)).expect("kept");
                tx.put_records(&row.hash, source, &[span(depth)])
                    .expect("kept");
            }
        }
        append(tx, Some(path[1_000].hash), "a fork")
    });
    reading(&*store, |view| {
        // Neither in the order of rows nor of hashes; every 70th isn't here, the first comes twice.
        let mut asked: Vec<Option<&CommitRow>> = path.iter().map(Some).collect();
        asked.sort_by_key(|row| row.map(content));
        asked.iter_mut().step_by(70).for_each(|row| *row = None);
        asked.push(asked[1]);
        let nowhere = CommitHash::from_bytes([7; 32]);
        let nothing = ContentHash::from_bytes([7; 32]);
        let commits: Vec<_> = asked
            .iter()
            .map(|row| row.map_or(nowhere, |r| r.hash))
            .collect();
        let contents: Vec<_> = asked
            .iter()
            .map(|row| row.map_or(nothing, content))
            .collect();
        let unknown = CountKey {
            content: nothing,
            mask: None,
        };
        let keys: Vec<_> = asked.iter().map(|row| row.map_or(unknown, key)).collect();
        let told = |row: &Option<&CommitRow>| row.map(|r| r.depth).filter(|d| d % 3 != 0);

        let wanted: Vec<_> = asked.iter().map(|row| row.cloned()).collect();
        assert_eq!(view.commits(&commits)?, wanted);
        let said = |row: &CommitRow| user(&row.depth.to_string());
        let wanted: Vec<_> = asked.iter().map(|row| row.map(said)).collect();
        assert_eq!(view.contents(&contents)?, wanted);
        let rows = view.content_rows(&contents)?;
        let previews: Vec<_> = rows.into_iter().map(|row| Some(row?.preview)).collect();
        let depth = |row: &Option<&CommitRow>| row.map(|row| row.depth.to_string());
        let wanted: Vec<_> = asked.iter().map(depth).collect();
        assert_eq!(previews, wanted);
        let wanted: Vec<_> = asked.iter().map(|row| told(row).map(count)).collect();
        assert_eq!(view.counts(&keys, encoding)?, wanted);
        let wanted: Vec<_> = asked.iter().map(|row| told(row).map(usage)).collect();
        assert_eq!(view.usage(&commits)?, wanted);
        let records = view.records(&commits)?;
        for (row, records) in asked.iter().zip(&records) {
            let spans: Vec<_> = records.iter().flat_map(|(_, spans)| spans).collect();
            assert_eq!(spans, told(row).map(span).iter().collect::<Vec<_>>());
        }
        let below = path[1_000].depth;
        let is_below = |row: &Option<&CommitRow>| row.is_some_and(|row| row.depth <= below);
        let wanted: Vec<bool> = asked.iter().map(is_below).collect();
        assert_eq!(view.are_ancestors(&commits, &fork)?, wanted);
        let none = vec![false; commits.len()];
        assert_eq!(view.are_ancestors(&commits, &nowhere)?, none);

        assert_eq!(view.commits(&[])?, []);
        assert_eq!(view.contents(&[])?, []);
        assert_eq!(view.content_rows(&[])?, []);
        assert_eq!(view.counts(&[], encoding)?, []);
        assert_eq!(view.usage(&[])?, []);
        assert!(view.records(&[])?.is_empty());
        assert!(view.are_ancestors(&[], &fork)?.is_empty());
        Ok(())
    });
}

fn counts_are_kept_by_mask_and_encoding(make: Make<'_>) {
    let store = make();
    let count = |tokens| TokenCount {
        tokens,
        estimated: tokens == 7,
    };
    let mask = Mask::new([MaskedPart {
        part: 1,
        stub: None,
    }]);
    writing(&*store, |tx| {
        let content = tx.keep(&user("x")).expect("kept");
        let whole = CountKey {
            content,
            mask: None,
        };
        let masked = CountKey {
            content,
            mask: mask.key(),
        };
        let unknown = CountKey {
            content: user("unknown").hash(),
            mask: None,
        };
        let new = Encoding::O200K_BASE;
        tx.put_count(whole, new, count(1)).expect("kept");
        tx.put_count(masked, new, count(7)).expect("kept");
        let found = tx.counts(&[masked, unknown, whole], new).expect("it reads");
        assert_eq!(found, [Some(count(7)), None, Some(count(1))]);
        let found = tx
            .counts(&[whole], Encoding::CL100K_BASE)
            .expect("it reads");
        assert_eq!(found, [None]);
        tx.put_count(whole, new, count(2)).expect("kept");
        assert_eq!(
            tx.counts(&[whole], new).expect("it reads"),
            [Some(count(2))]
        );
    });
}

/// Where nothing is estimated, one count is right for every rule.
fn what_is_estimated_is_kept_by_the_rule_for_pictures(make: Make<'_>) {
    let store = make();
    let plain = Encoding::CL100K_BASE;
    let [claude, gpt] =
        [PictureRule::Claude, PictureRule::Gpt4o].map(|rule| plain.with_pictures(rule));
    let messages = ["text", "picture", "both", "by rule"].map(user);
    let keys = messages.each_ref().map(|message| CountKey {
        content: message.hash(),
        mask: None,
    });
    let [text, picture, both, by_rule] = keys;
    let (exact, estimate) = (TokenCount::exact, TokenCount::estimate);
    let total = |tokens, estimates| Total {
        messages: 4,
        tokens,
        estimates,
    };
    let mut path: Vec<CommitHash> = Vec::new();
    writing(&*store, |tx| {
        for message in &messages {
            let content = tx.keep(message).expect("kept");
            let commit = step(path.last().copied(), Operation::Append { content });
            path.push(tx.keep_commit(&commit).expect("kept").0);
        }
        let old = [
            (text, exact(1)),
            (picture, estimate(1_500)),
            (both, estimate(1_501)),
        ];
        tx.put_counts(&old, plain).expect("kept");
        let new = [(picture, estimate(165)), (by_rule, exact(4))];
        tx.put_counts(&new, claude).expect("kept");
        tx.put_total(&path[0], claude, total(1, 0)).expect("kept");
        tx.put_total(&path[2], plain, total(3_002, 2))
            .expect("kept");
        tx.put_total(&path[1], claude, total(166, 1)).expect("kept");
    });
    let tip = path[3];
    reading(&*store, |view| {
        let by_claude = [Some(exact(1)), Some(estimate(165)), None, Some(exact(4))];
        let without = [
            Some(exact(1)),
            Some(estimate(1_500)),
            Some(estimate(1_501)),
            Some(exact(4)),
        ];
        let by_gpt = [Some(exact(1)), None, None, Some(exact(4))];
        for (encoding, wanted) in [(claude, by_claude), (plain, without), (gpt, by_gpt)] {
            assert_eq!(view.counts(&keys, encoding)?, wanted);
            let listed = view.listing(&tip, None, 9, encoding)?;
            let listed = listed.iter().rev().map(|one| one.count);
            assert_eq!(listed.collect::<Vec<_>>(), wanted);
            let facts = Facts {
                links: false,
                counts: Some(encoding),
            };
            let mut appended = Vec::new();
            view.appended(&tip, 0..4, facts, &mut |one| {
                appended.push(one.count);
                Ok(())
            })?;
            assert_eq!(appended, wanted);
        }
        assert_eq!(view.newest_total(&tip, plain)?, Some((2, total(3_002, 2))));
        assert_eq!(view.newest_total(&tip, claude)?, Some((1, total(166, 1))));
        assert_eq!(view.newest_total(&tip, gpt)?, None);
        assert_eq!(view.newest_total(&path[0], gpt)?, Some((0, total(1, 0))));
        Ok(())
    });
}

/// Whatever moved them, in whatever pages they are read; a time far back counts as none.
fn branches_are_listed_by_when_they_were_worked_on(make: Make<'_>) {
    let times = prop_oneof![1 => Just(None), 2 => (0..4_i64).prop_map(|time| Some(Millis(time)))];
    let shape = (
        prop::collection::vec((times, any::<prop::sample::Index>()), 1..20),
        prop::collection::vec((0..6_usize, any::<prop::sample::Index>()), 1..30),
    );
    let mut runner = TestRunner::new(Config {
        source_file: Some(file!()),
        ..crate::conditions::laws(48)
    });
    let result = runner.run(&shape, |(drawn, moves)| {
        let store = make();
        // Of each the newest time before it, and how many commits back that is.
        let mut made: Vec<(CommitHash, Option<(Millis, usize)>)> = Vec::new();
        writing(&*store, |tx| {
            for (at, (time, parent)) in drawn.iter().enumerate() {
                let before = match parent.index(at + 1) {
                    0 => None,
                    one => Some(made[one - 1]),
                };
                let put = |parent, time| {
                    // What a string says is no time.
                    let note = Some("\\,\"time\":9,\u{0}\u{e9}".to_owned());
                    let text = format!("{at} {parent:?}");
                    let content = tx.keep(&user(&text)).expect("kept");
                    let commit = Commit {
                        time,
                        note,
                        ..step(parent, Operation::Append { content })
                    };
                    tx.keep_commit(&commit).expect("kept").0
                };
                // So that the times of some are about as far back as they are looked for.
                let far = if time.is_none() && at % 3 == 2 {
                    60 + at % 5
                } else {
                    0
                };
                let parent = before.map(|(hash, _)| hash);
                let parent = (0..far).fold(parent, |parent, _| Some(put(parent, None)));
                let since = before.and_then(|(_, since)| since);
                let since = since.map(|(time, back)| (time, back + far + 1));
                let since = time.map(|time| (time, 0)).or(since);
                made.push((put(parent, *time), since));
            }
        });
        let mut refs = std::collections::BTreeMap::new();
        for (at, to) in moves {
            let name = branch(&format!("b{at}"));
            // One place more than there are commits: there it is deleted.
            let to = made.get(to.index(made.len() + 1));
            writing(&*store, |tx| {
                tx.begin_operation(Millis(0), "move").expect("open");
                let value = to.map(|(hash, _)| RefValue::Commit(*hash));
                tx.set_reference(&name, value.as_ref()).expect("moved");
                // Others than branches are in no list of them.
                let tag = RefName::tag(&format!("b{at}")).expect("a name");
                tx.set_reference(&tag, value.as_ref()).expect("moved");
            });
            match to {
                Some(to) => drop(refs.insert(name, *to)),
                None => drop(refs.remove(&name)),
            }
        }
        let wanted = refs.iter().map(|(name, (tip, since))| {
            let last = since.filter(|(_, back)| *back < 64);
            let (name, last) = (name.clone(), last.map(|(time, _)| time));
            (Activity { last, name }, *tip)
        });
        let mut wanted: Vec<(Activity, CommitHash)> = wanted.collect();
        wanted.sort_by_key(|(one, _)| (std::cmp::Reverse(one.last), one.name.clone()));
        reading(&*store, |view| {
            for most in 0..=wanted.len() + 1 {
                let first = most.min(wanted.len());
                assert_eq!(view.active_branches(None, most)?, wanted[..first]);
                for (at, (one, tip)) in wanted.iter().enumerate() {
                    let end = wanted.len().min(at + 1 + most);
                    assert_eq!(view.active_branches(Some(one), most)?, wanted[at + 1..end]);
                    assert_eq!(one.clone().held(view, tip)?, *one);
                }
            }
            Ok(())
        });
        Ok(())
    });
    result.expect("the law holds");
}

fn each_has_their_own_positions(make: Make<'_>) {
    let mut store = make();
    let tip = line(&*store, 2);
    let root = reading(&*store, |view| view.ancestor_at(&tip, 0)).expect("a root");
    let (head, value) = (RefName::head(), RefValue::Commit);
    // A person may be called like a directory.
    let seats = [
        None,
        Some(Seat::of("/home/me/a b")),
        Some(Seat::of("/home/me/a-b")),
        Some(Seat::of_person("/home/me/a-b")),
        Some(Seat::of_person("Mara <m@example.org>")),
    ];
    let on = |name| RefValue::Symbolic(branch(name));
    let held = [value(root), value(tip), on("main"), on("a"), on("b")];
    for (seat, to) in seats.iter().zip(&held) {
        store.sit(seat.clone());
        writing(&*store, |tx| {
            tx.begin_operation(Millis(1), "move").expect("kept");
            tx.set_reference(&head, Some(to)).expect("kept");
        });
    }
    for (seat, to) in seats.iter().zip(&held) {
        store.sit(seat.clone());
        reading(&*store, |view| {
            assert_eq!(view.seat(), seat.as_ref());
            assert_eq!(view.reference(&head)?.as_ref(), Some(to));
            assert_eq!(view.reference(&RefName::prev_head())?, None);
            // Under another name everybody's are seen, and found by it.
            let all = view.references("")?;
            let mut all: Vec<_> = all.into_iter().filter(|(name, _)| name.is_head()).collect();
            assert_eq!(all.len(), seats.len());
            for (name, value) in &all {
                assert_eq!(view.reference(name)?.as_ref(), Some(value));
                assert_eq!(name.to_string().parse::<RefName>()?, *name);
            }
            all.retain(|(_, value)| value == to);
            assert_eq!(all, [(head.clone(), to.clone())]);
            // And so are the moves.
            let own: Vec<RefName> = view
                .reflog(&head, 9)?
                .into_iter()
                .map(|row| row.name)
                .collect();
            assert_eq!(own, std::slice::from_ref(&head));
            let operations = view.operations(None, seats.len())?;
            let moved = operations.iter().map(|one| view.moves(one.id));
            let moved: Vec<Vec<ReflogRow>> = moved.collect::<Result<_>>()?;
            let is_own = |rows: &&Vec<ReflogRow>| rows[0].name == head;
            assert_eq!(moved.iter().filter(is_own).count(), 1);
            Ok(())
        });
    }
}

/// Whoever was at work when it was begun; of what comes with its first move, and moves nothing, nothing is left.
fn an_operation_says_who_did_it(make: Make<'_>) {
    let mut store = make();
    let tip = line(&*store, 2);
    let who = |name: &str, client: Option<&str>| Author {
        name: Some(name.into()),
        client: client.map(Into::into),
        run: None,
    };
    let (mara, ben) = (who("Mara", None), who("Ben\u{1b}[2J", Some("aider 1")));
    let move_to = |tx: &dyn Tx, name: &str| {
        let to = RefValue::Commit(tip);
        tx.set_reference(&branch(name), Some(&to)).expect("kept");
    };
    store.work_as(Some(mara.clone()));
    let (one, undone) = writing(&*store, |tx| {
        assert_eq!(tx.worker(), Some(&mara));
        let one = tx.begin_operation(Millis(1), "one").expect("kept");
        move_to(tx, "a");
        let by = tx.begin_operation_by(Millis(1), "two", Some(&ben));
        move_to(tx, "b");
        tx.begin_moves(Millis(1), "idle").expect("kept");
        (one, by.expect("kept"))
    });
    writing(&*store, |tx| {
        tx.begin_moves(Millis(2), "idle").expect("kept");
        tx.begin_moves(Millis(2), "three").expect("kept");
        move_to(tx, "c");
    });
    store.work_as(None);
    writing(&*store, |tx| {
        let undo = Reversal::Undo(undone);
        tx.begin_reversal(Millis(3), "four", undo).expect("kept");
        move_to(tx, "d");
    });
    let told = |store: &dyn Store| {
        reading(store, |view| {
            let all = view.operations(None, 4)?.into_iter();
            Ok(all.map(|row| (row.what, row.by)).collect::<Vec<_>>())
        })
    };
    let row = |what: &str, by: Option<&Author>| (what.to_owned(), by.cloned());
    let wanted = [
        row("four", None),
        row("three", Some(&mara)),
        row("two", Some(&ben)),
        row("one", Some(&mara)),
    ];
    assert_eq!(told(&*store), wanted);
    // One that stands for others is nobody's.
    writing(&*store, |tx| {
        tx.forget_operations(one).expect("forgotten");
    });
    assert_eq!(told(&*store)[3], row("gc", None));
    assert_eq!(told(&*store)[..3], wanted[..3]);
}

fn refs_move_and_the_log_tells(make: Make<'_>) {
    let store = make();
    let tip = line(&*store, 2);
    let root = reading(&*store, |view| view.ancestor_at(&tip, 0)).expect("a root");
    let (main, value) = (branch("main"), RefValue::Commit);
    let symbolic = RefValue::Symbolic(main.clone());
    let tx = store.write().expect("the lock");
    assert!(
        tx.set_reference(&main, Some(&value(tip))).is_err(),
        "no operation is open"
    );
    drop(tx);
    let (one, two) = writing(&*store, |tx| {
        let one = tx.begin_operation(Millis(1), "first").expect("kept");
        let set = |name: &RefName, new: Option<&RefValue>| {
            tx.set_reference(name, new).expect("kept");
        };
        set(&RefName::head(), Some(&symbolic));
        set(&main, Some(&value(root)));
        set(&main, Some(&value(root)));
        set(&branch("never"), None);
        let undo = Reversal::Undo(one);
        let two = tx.begin_reversal(Millis(2), "second", undo).expect("kept");
        set(&main, Some(&value(tip)));
        set(&RefName::head(), Some(&value(root)));
        set(&branch("a"), Some(&value(root)));
        set(&branch("a"), None);
        (one, two)
    });
    assert!(one < two);
    writing(&*store, |tx| {
        assert!(tx.set_reference(&main, None).is_err(), "none is open");
        tx.begin_moves(Millis(3), "idle").expect("kept");
        tx.set_reference(&main, Some(&value(tip))).expect("kept");
    });
    let move_of =
        |operation, name: &RefName, old: Option<&RefValue>, new: Option<&RefValue>| ReflogRow {
            operation,
            name: name.clone(),
            old: old.cloned(),
            new: new.cloned(),
        };
    let (root, tip) = (value(root), value(tip));
    reading(&*store, |view| {
        assert_eq!(view.reference(&main)?, Some(tip.clone()));
        assert_eq!(view.reference(&branch("a"))?, None);
        let newest = move_of(two, &main, Some(&root), Some(&tip));
        let first = move_of(one, &main, None, Some(&root));
        assert_eq!(view.reflog(&main, 9)?, [newest.clone(), first]);
        assert_eq!(view.reflog(&main, 1)?, [newest]);
        let head = RefName::head();
        let moves = [
            move_of(two, &head, Some(&symbolic), Some(&root)),
            move_of(one, &head, None, Some(&symbolic)),
        ];
        assert_eq!(view.reflog(&head, 9)?, moves);
        let deleted = move_of(two, &branch("a"), Some(&root), None);
        assert_eq!(view.reflog(&branch("a"), 1)?, [deleted]);
        assert_eq!(view.reflog(&branch("never"), 1)?, []);
        let all = [(head.clone(), root), (main.clone(), tip)];
        assert_eq!(view.references("")?, all);
        assert_eq!(view.references(RefName::HEADS)?, all[1..]);
        assert_eq!(view.references("refs/tags/")?, []);
        let (at_root, at_tip) = (all[0].1.commit(), all[1].1.commit());
        let (at_root, at_tip) = (at_root.expect("one"), at_tip.expect("one"));
        assert_eq!(
            view.names_of(&[at_root])?,
            [],
            "HEAD is no name of a commit"
        );
        assert_eq!(view.names_of(&[at_root, at_tip])?, [(main.clone(), at_tip)]);
        assert_eq!(view.names_of(&[])?, []);
        let operations = view.operations(None, 9)?;
        assert_eq!(
            operations.iter().map(|o| o.id).collect::<Vec<_>>(),
            [two, one]
        );
        assert_eq!(
            (operations[1].time, operations[1].what.as_str()),
            (Millis(1), "first")
        );
        assert_eq!(view.operations(None, 1)?.len(), 1);
        assert_eq!(view.operations(Some(two), 9)?, operations[1..]);
        assert_eq!(operations[0].reversal, Reversal::Undo(one));
        assert_eq!(operations[1].reversal, Reversal::None);
        let names: Vec<RefName> = view.moves(two)?.into_iter().map(|row| row.name).collect();
        let moved = [main.clone(), head.clone(), branch("a"), branch("a")];
        assert_eq!(names, moved, "in the order of the moves");
        assert_eq!(view.moves(one)?.len(), 2);
        Ok(())
    });
}

fn checkpoints_read_back(make: Make<'_>) {
    let store = make();
    let tip = line(&*store, 30);
    let path = reading(&*store, |view| view.ancestors(&tip, None, usize::MAX));
    let fork = path[10].hash;
    let (side, annotated, last) = writing(&*store, |tx| {
        let side = append(tx, Some(fork), "side");
        let annotate = Operation::Annotate {
            targets: vec![fork.into()],
            priority: Priority::Pinned,
            reason: None,
        };
        let annotated = put(tx, Some(side), annotate);
        (side, annotated, append(tx, Some(annotated), "last"))
    });
    reading(&*store, |view| {
        assert_eq!(view.changes(&tip)?, vec![]);
        assert_eq!(view.changes(&side)?, vec![]);
        let changes = view.changes(&last)?;
        let named: Vec<_> = changes.iter().map(|row| (row.hash, row.depth)).collect();
        assert_eq!(named, [(annotated, 21)]);
        Ok(())
    });
    let stub = user("0").hash();
    let full = fold_of(&*store, &last);
    let mut odd = full.clone();
    odd.total_entries += 4;
    odd.hides = [1, 0, 2, 0, u32::MAX];
    odd.settings.insert("model".into(), fork);
    odd.settings.insert("".into(), last);
    odd.entries.remove(3);
    odd.entries[5].priority = Priority::Pinned;
    odd.entries[6].edited = true;
    odd.entries[6].content = stub;
    odd.entries[7].edited = true;
    odd.entries[8].mask = Mask::new([
        MaskedPart {
            part: 0,
            stub: Some(stub),
        },
        MaskedPart {
            part: 700,
            stub: None,
        },
    ]);
    odd.entries[9].placed = Some(HideKind::Compaction);
    odd.entries[10].id.index = Some(0);
    odd.entries[11].id.index = Some(3);
    let moved = odd.entries.remove(12);
    odd.entries.push_back(moved);
    for context in [Context::default(), full, odd] {
        writing(&*store, |tx| {
            tx.put_checkpoint(&annotated, &context).expect("kept")
        });
        reading(&*store, |view| {
            assert_eq!(view.checkpoint(&last)?, Some((annotated, context.clone())));
            assert_eq!(view.checkpoint(&annotated)?, Some((annotated, context)));
            assert_eq!(view.checkpoint(&side)?, None);
            assert_eq!(view.checkpoint(&tip)?, None);
            Ok(())
        });
    }
    // One before the fork holds for both sides; one after it on the other side does not.
    let early = fold_of(&*store, &path[20].hash);
    writing(&*store, |tx| {
        tx.put_checkpoint(&path[20].hash, &early).expect("kept");
        tx.put_checkpoint(&path[5].hash, &Context::default())
            .expect("kept");
    });
    reading(&*store, |view| {
        assert_eq!(view.checkpoint(&side)?, Some((path[20].hash, early)));
        assert_eq!(
            view.checkpoint(&tip)?,
            Some((path[5].hash, Context::default()))
        );
        assert_eq!(view.checkpoint(&path[25].hash)?, None);
        Ok(())
    });
}

/// A line of ten, and one that leaves it after the sixth: the tips, and the commits of the line by depth.
fn forked(store: &dyn Store) -> (CommitHash, impl Fn(usize) -> CommitHash, CommitHash) {
    let tip = line(store, 10);
    let path = reading(store, |view| view.ancestors(&tip, None, usize::MAX));
    let at = move |depth: usize| path[9 - depth].hash;
    let side = writing(store, |tx| append(tx, Some(at(5)), "side"));
    (tip, at, side)
}

fn summaries_read_back(make: Make<'_>) {
    let store = make();
    let (tip, at, side) = forked(&*store);
    let (one, other) = (Encoding::O200K_BASE, Encoding::CL100K_BASE);
    let summary = |tokens: u64, index| Summed {
        total: Total {
            messages: 3,
            tokens,
            estimates: 1,
        },
        hidden: 1 << 40,
        hides: [1, 2, 3, 4, 5],
        moves: 6,
        by_role: [9, 8, 7, 6, tokens],
        injected: 5,
        largest: (tokens > 2).then_some(LargestEntry {
            entry: EntryId {
                commit: at(1),
                index,
            },
            content: user("1").hash(),
            number: 2,
            tokens: TokenCount {
                tokens,
                estimated: tokens == 7,
            },
        }),
        written: (tokens == 7).then_some(Written {
            messages: 3,
            size_bytes: 1 << 40,
        }),
        standouts: (tokens > 2).then(|| Standouts {
            covered: 1 << 40,
            depths: vec![0, 1, tokens, 1 << 30],
        }),
        background: (tokens == 7).then(|| KnownWork {
            covered: 9,
            open: vec![KnownStart {
                called: 2,
                at: 1 << 30,
                id: "b1".into(),
            }],
            calls: vec![8],
        }),
        sums: index.map(|_| PathSums {
            size: 1 << 40,
            blocks: vec![None],
        }),
        settings: (tokens == 7 || index.is_some()).then(|| [("model".to_owned(), at(1))].into()),
    };
    writing(&*store, |tx| {
        let put = |depth, encoding, summary| tx.put_summary(&at(depth), encoding, &summary);
        put(2, one, summary(2, None)).expect("kept");
        put(7, one, Summed::default()).expect("kept");
        put(7, one, summary(7, Some(0))).expect("kept again");
        put(3, other, summary(3, None)).expect("kept");
        let nowhere = CommitHash::of("nowhere");
        assert!(tx.put_summary(&nowhere, one, &summary(0, None)).is_err());
    });
    reading(&*store, |view| {
        let newest = |tip: &CommitHash, encoding| view.newest_summary(tip, encoding);
        assert_eq!(newest(&tip, one)?, Some((7, summary(7, Some(0)))));
        assert_eq!(newest(&at(6), one)?, Some((2, summary(2, None))));
        assert_eq!(newest(&at(1), one)?, None);
        assert_eq!(newest(&tip, other)?, Some((3, summary(3, None))));
        assert_eq!(newest(&side, one)?, Some((2, summary(2, None))));
        Ok(())
    });
    writing(&*store, |tx| {
        let erased = tx.purge_content(&user("1").hash());
        erased.map(|_| ()).expect("there");
    });
    reading(&*store, |view| {
        assert_eq!(view.newest_summary(&tip, one)?, None);
        Ok(())
    });
}

fn totals_read_back(make: Make<'_>) {
    let store = make();
    let (tip, at, side) = forked(&*store);
    let (one, other) = (Encoding::O200K_BASE, Encoding::CL100K_BASE);
    let total = |tokens| Total {
        messages: 3,
        tokens,
        estimates: 1,
    };
    writing(&*store, |tx| {
        tx.put_total(&at(2), one, total(2)).expect("kept");
        tx.put_total(&at(7), one, total(70)).expect("kept");
        tx.put_total(&at(7), one, total(7)).expect("kept again");
        tx.put_total(&at(3), other, total(3)).expect("kept");
        assert!(
            tx.put_total(&CommitHash::of("nowhere"), one, total(0))
                .is_err()
        );
    });
    reading(&*store, |view| {
        assert_eq!(view.newest_total(&tip, one)?, Some((7, total(7))));
        assert_eq!(view.newest_total(&at(7), one)?, Some((7, total(7))));
        assert_eq!(view.newest_total(&at(6), one)?, Some((2, total(2))));
        assert_eq!(view.newest_total(&at(1), one)?, None);
        assert_eq!(view.newest_total(&tip, other)?, Some((3, total(3))));
        // One before the fork holds for both sides; one after it on the other side does not.
        assert_eq!(view.newest_total(&side, one)?, Some((2, total(2))));
        Ok(())
    });
    // Whoever is erased was perhaps counted in.
    writing(&*store, |tx| {
        tx.purge_content(&user("1").hash())
            .map(|_| ())
            .expect("there")
    });
    reading(&*store, |view| {
        assert_eq!(view.newest_total(&tip, one)?, None);
        assert_eq!(view.newest_total(&tip, other)?, None);
        Ok(())
    });
}

fn sources_grow_and_read_back(make: Make<'_>) {
    let store = make();
    let name = branch("session");
    let blocks = [
        vec![b'a'; 3_000],
        (0..=255).collect(),
        vec![],
        b"end".to_vec(),
    ];
    let mut whole: Vec<u8> = Vec::new();
    let id = writing(&*store, |tx| {
        tx.put_source(&name, "codex", None).expect("kept")
    });
    let row = |whole: &[u8]| SourceRow {
        id,
        session: name.clone(),
        format: "codex".into(),
        size_bytes: whole.len() as u64,
        fingerprint: fingerprint(whole),
    };
    for block in blocks {
        assert_eq!(reading(&*store, |view| view.source(id)), Some(row(&whole)));
        let from = row(&whole).state();
        whole.extend(&block);
        let print = fingerprint(&whole);
        writing(&*store, |tx| {
            tx.append_source(id, &from, &block, &print).expect("kept")
        });
    }
    let second = writing(&*store, |tx| {
        let second = tx.put_source(&name, "codex", Some(id)).expect("kept");
        let empty = SourceState::empty();
        tx.append_source(second, &empty, b"second", &fingerprint(b"second"))
            .expect("kept");
        second
    });
    reading(&*store, |view| {
        let rows = view.sources(&name)?;
        assert_eq!(
            rows.iter().map(|row| row.id).collect::<Vec<_>>(),
            [second, id]
        );
        assert_eq!(rows[1], row(&whole));
        assert_eq!(view.sources(&branch("other"))?, []);
        let end = whole.len() as u64;
        for offset in [
            0,
            1,
            2_999,
            3_000,
            3_255,
            3_256,
            end - 1,
            end,
            end + 5,
            u64::MAX,
        ] {
            for len in [0, 1, 2, 300, end, u64::MAX] {
                let from = offset.min(end) as usize;
                let to = offset.saturating_add(len).min(end) as usize;
                let found = view.source_bytes(id, Span { offset, len })?;
                assert_eq!(found, whole[from..to], "{offset} {len}");
            }
        }
        let span = Span { offset: 1, len: 3 };
        assert_eq!(view.source_bytes(second, span)?, b"eco");
        assert_eq!(view.source_bytes(99, span)?, b"");
        Ok(())
    });
}

fn who_builds_on_what_is_gone_is_told_so(make: Make<'_>) {
    let store = make();
    let tip = line(&*store, 1);
    let name = branch("session");
    let lost = |done: Result<()>| assert!(matches!(done, Err(Error::Overtaken { .. })), "{done:?}");
    let (one, two) = (fingerprint(b"one"), fingerprint(b"onetwo"));
    let id = writing(&*store, |tx| tx.put_source(&name, "x", None).expect("kept"));
    let empty = SourceState::empty();
    let grown = SourceState {
        size_bytes: 3,
        fingerprint: one,
    };
    writing(&*store, |tx| {
        lost(tx.put_source(&name, "x", None).map(drop));
        lost(tx.put_source(&name, "x", Some(id + 1)).map(drop));
        lost(tx.put_source(&branch("other"), "x", Some(id)).map(drop));
        lost(tx.append_source(id, &grown, b"two", &two));
        tx.append_source(id, &empty, b"one", &one).expect("kept");
        // Twice the same is one too many.
        lost(tx.append_source(id, &empty, b"one", &one));
        let other = SourceState {
            fingerprint: two,
            ..grown
        };
        lost(tx.append_source(id, &other, b"two", &two));
        let shorter = SourceState {
            size_bytes: 2,
            ..grown
        };
        lost(tx.append_source(id, &shorter, b"two", &two));
        tx.append_source(id, &grown, b"two", &two).expect("kept");
    });
    reading(&*store, |view| {
        let span = Span { offset: 0, len: 99 };
        assert_eq!(view.source_bytes(id, span)?, b"onetwo");
        Ok(())
    });
    let next = writing(&*store, |tx| {
        tx.purge_source(id).expect("erased");
        lost(tx.append_source(id, &grown, b"two", &two));
        lost(tx.put_records(&tip, id, &[]));
        lost(tx.put_source(&name, "x", Some(id)).map(drop));
        tx.put_source(&name, "x", None).expect("kept")
    });
    // A number is never given twice.
    assert_ne!(next, id);
}

fn what_imports_keep_reads_back(make: Make<'_>) {
    let store = make();
    let tip = line(&*store, 1);
    let name = RefName::session("codex", "1");
    let span = |offset, len| Span { offset, len };
    let usage = Usage::new(1 << 40, 3);
    let other = CommitHash::of("nobody's");
    let mut stated = StatedUsage::default();
    stated.add("m".to_owned(), usage);
    let searched = |count| {
        let mut detail = UsageDetail::default();
        detail.count("web_search_requests", count);
        detail
    };
    let known = SessionRow {
        title: Some("a \u{1} title".into()),
        cwd: None,
        absent: vec!["system prompt".into(), "\"13\" attachments".into()],
    };
    let resume = ResumeRow {
        commit: tip,
        messages: 12,
        digest: fingerprint(b"x"),
    };
    let origin = OriginRow {
        source: Some(1 << 40),
        began: Some(Millis(-1)),
        copied_from: Some(RefName::session("codex", "0")),
    };
    let starter = RefName::session("codex", "2");
    reading(&*store, |view| {
        assert_eq!(view.origin(&name)?, None);
        assert_eq!(view.starters()?, []);
        assert_eq!(view.records_of(&tip)?, vec![]);
        assert_eq!(view.usage(&[tip])?, [None]);
        assert_eq!(view.session(&name)?, None);
        assert_eq!(view.resumed("codex", "1")?, None);
        Ok(())
    });
    let (one, two) = writing(&*store, |tx| {
        let one = tx.put_source(&name, "codex", None).expect("kept");
        let two = tx.put_source(&name, "codex", Some(one)).expect("kept");
        tx.put_records(&tip, two, &[span(9, 9)]).expect("kept");
        tx.put_records(&tip, one, &[span(1, 1)]).expect("kept");
        tx.put_records(&tip, one, &[span(5, 0), span(0, 1 << 50)])
            .expect("kept");
        tx.put_usage(&tip, Usage::default()).expect("kept");
        tx.put_usage(&tip, usage).expect("kept");
        tx.put_usage_detail(&tip, &UsageDetail::default())
            .expect("kept");
        assert_eq!(tx.usage_details(&[tip]).expect("read").len(), 0);
        tx.put_usage_detail(&tip, &searched(1)).expect("kept");
        tx.put_usage_detail(&tip, &searched(7)).expect("kept");
        tx.put_stated_usage(&name, &StatedUsage::default())
            .expect("kept");
        tx.put_stated_usage(&name, &stated).expect("kept");
        tx.put_session(&name, &SessionRow::default()).expect("kept");
        tx.put_session(&name, &known).expect("kept");
        tx.put_origin(&name, &OriginRow::default()).expect("kept");
        let read = tx.origin(&name).expect("read");
        assert_eq!(read, Some(OriginRow::default()));
        tx.put_origin(&name, &origin).expect("kept");
        tx.put_starter(&name, &name).expect("kept");
        tx.put_starter(&name, &starter).expect("kept");
        tx.put_resumed(
            "codex",
            "1",
            &ResumeRow {
                messages: 1,
                ..resume.clone()
            },
        )
        .expect("kept");
        tx.put_resumed("codex", "1", &resume).expect("kept");
        (one, two)
    });
    reading(&*store, |view| {
        let records = [
            (two, vec![span(9, 9)]),
            (one, vec![span(5, 0), span(0, 1 << 50)]),
        ];
        assert_eq!(view.records_of(&tip)?, records);
        assert_eq!(view.usage(&[tip])?, [Some(usage)]);
        for asked in [&[tip][..], &[other, tip]] {
            let details = view.usage_details(asked)?;
            assert_eq!(details.get(&tip), Some(&searched(7)));
            assert_eq!(details.len(), 1);
        }
        assert_eq!(view.usage_details(&[other])?.len(), 0);
        assert_eq!(view.stated_usage()?, [(name.clone(), stated.clone())]);
        assert_eq!(view.session(&name)?, Some(known));
        assert_eq!(view.origin(&name)?, Some(origin));
        assert_eq!(view.with_origins()?, std::slice::from_ref(&name));
        assert_eq!(view.starters()?, [(name.clone(), starter.clone())]);
        assert_eq!(view.stated_usage_of(&name)?, Some(stated.clone()));
        assert_eq!(view.stated_usage_of(&starter)?, None);
        assert_eq!(view.resumed("codex", "1")?, Some(resume.clone()));
        assert_eq!(view.resumed("claude-code", "1")?, None);
        let all = view.all_resumed()?;
        assert_eq!(all, [("codex".to_owned(), "1".to_owned(), resume.clone())]);
        Ok(())
    });
    writing(&*store, |tx| {
        tx.forget_session(&name).expect("forgotten");
        assert_eq!(tx.origin(&name).expect("read"), None);
        assert_eq!(tx.stated_usage().expect("read"), []);
        assert_eq!(tx.starters().expect("read"), []);
    });
}

fn what_is_remembered_of_refs_reads_back(make: Make<'_>) {
    let store = make();
    let tip = line(&*store, 2);
    let root = reading(&*store, |view| view.ancestor_at(&tip, 0)).expect("a root");
    let (one, two) = (branch("one"), branch("two"));
    let note = |commit, text: &str| TagNote {
        commit,
        time: Millis(-3),
        text: text.to_owned(),
    };
    let pair = |theirs, ours| AdoptedRow { theirs, ours };
    writing(&*store, |tx| {
        let put = |of, note: Option<&TagNote>| tx.set_tag_note(of, note).expect("kept");
        put(&one, Some(&note(root, "first")));
        put(&one, Some(&note(tip, "two\nlines")));
        put(&two, Some(&note(tip, "gone")));
        put(&two, None);
        tx.set_follower(&one, &one).expect("kept");
        tx.set_follower(&one, &two).expect("kept");
        for row in [pair(tip, root), pair(root, tip), pair(tip, root)] {
            tx.put_adopted(&two, row).expect("kept");
        }
        let nowhere = CommitHash::from_bytes([7; 32]);
        assert!(tx.set_tag_note(&two, Some(&note(nowhere, "x"))).is_err());
        assert!(tx.put_adopted(&one, pair(tip, nowhere)).is_err());
        assert!(tx.put_adopted(&one, pair(nowhere, tip)).is_err());
    });
    reading(&*store, |view| {
        let asked = [two.clone(), one.clone(), two.clone(), one.clone()];
        let kept = Some(note(tip, "two\nlines"));
        assert_eq!(view.tag_notes(&asked)?, [None, kept.clone(), None, kept]);
        assert_eq!(view.tag_notes(&[])?, []);
        let all = view.all_tag_notes()?;
        assert_eq!(all, [(one.clone(), note(tip, "two\nlines"))]);
        assert_eq!(view.follower(&one)?, Some(two.clone()));
        assert_eq!(view.follower(&two)?, None);
        let pairs = [pair(tip, root), pair(root, tip), pair(tip, root)];
        assert_eq!(view.adopted(&two)?, pairs);
        assert_eq!(view.adopted(&one)?, []);
        assert_eq!(view.last_purge()?, None);
        Ok(())
    });
}

fn configuration_reads_back(make: Make<'_>) {
    let store = make();
    let set = |value| writing(&*store, |tx| tx.set_config("k", value).expect("kept"));
    let get = || {
        reading(&*store, |view| {
            Ok(view.config()?.pop().map(|(_, value)| value))
        })
    };
    assert_eq!(get(), None);
    set(Some("a"));
    set(Some(""));
    assert_eq!(get().as_deref(), Some(""));
    set(None);
    assert_eq!(get(), None);
}

fn searches_miss_nothing(make: Make<'_>) {
    // Few letters, so that much is found.
    let text = "[abAB東京 ]{0,9}";
    let literal = || "[abAB東京]{1,4}".prop_map(Literals::Text);
    let literals = prop_oneof![
        Just(Literals::Anything),
        literal(),
        prop::collection::vec(literal(), 0..3).prop_map(Literals::All),
        prop::collection::vec(literal(), 0..3).prop_map(Literals::Any),
    ];
    let shape = (
        prop::collection::vec((text, 0..4_u8, any::<prop::sample::Index>()), 1..25),
        any::<prop::sample::Index>(),
        prop::collection::vec(literals, 1..4),
    );
    let mut runner = TestRunner::new(Config {
        source_file: Some(file!()),
        ..crate::conditions::laws(48)
    });
    let result = runner.run(&shape, |(steps, other, queries)| {
        let store = make();
        let mut made: Vec<CommitHash> = Vec::new();
        for (text, kind, at) in &steps {
            writing(&*store, |tx| {
                let parent = at.index(made.len() + 1).checked_sub(1);
                let parent = if *kind == 0 {
                    parent
                } else {
                    made.len().checked_sub(1)
                };
                let parent = parent.map(|at| made[at]);
                let content = tx.keep(&user(text)).expect("kept");
                let operation = match (kind, parent) {
                    (1, Some(parent)) => Operation::Edit {
                        target: parent.into(),
                        content,
                    },
                    (2, Some(parent)) => Operation::Hide(Hide {
                        kind: HideKind::Compaction,
                        intervals: vec![],
                        keep: vec![],
                        parts: vec![PartHide {
                            entry: parent.into(),
                            part: 0,
                            stub: Some(content),
                        }],
                        replacements: vec![],
                    }),
                    _ => Operation::Append { content },
                };
                made.push(put(tx, parent, operation));
                // Some is indexed, some is not.
                if *kind == 3 {
                    tx.index(at.index(300) as u64).expect("it indexes");
                }
            });
        }
        let tips = [made[other.index(made.len())], made[made.len() - 1], made[0]];
        for pass in 0..2 {
            for literals in &queries {
                reading(&*store, |view| {
                    let hits = view.search(literals, &tips)?;
                    let mut seen = BTreeSet::new();
                    let mut all = Vec::new();
                    for (tip, commit) in tips.iter().enumerate() {
                        for row in view.ancestors(commit, None, usize::MAX)? {
                            for content in row.commit.operation.contents() {
                                if seen.insert((row.hash, content)) {
                                    let (commit, depth) = (row.hash, row.depth);
                                    let is_appended = row.appended() == Some(content);
                                    let hit = Hit {
                                        tip,
                                        commit,
                                        content: (!is_appended).then_some(content),
                                        depth,
                                    };
                                    all.push((hit, content));
                                }
                            }
                        }
                    }
                    let needed = |(_, content): &&(Hit, ContentHash)| {
                        let message = view.content(content).ok().flatten();
                        let message = message.expect("a content is here");
                        let texts = crate::model::searched::searched(&message);
                        texts.iter().any(|piece| literals.are_in(&piece.text))
                    };
                    let missing: Vec<_> = all
                        .iter()
                        .filter(needed)
                        .filter(|(hit, _)| !hits.contains(hit))
                        .collect();
                    assert!(
                        missing.is_empty(),
                        "{literals:?} in pass {pass}: {missing:?}"
                    );
                    all.retain(|(hit, _)| hits.contains(hit));
                    let all: Vec<Hit> = all.into_iter().map(|(hit, _)| hit).collect();
                    assert_eq!(hits, all, "in order, once, and only what is on a path");
                    Ok(())
                });
            }
            writing(&*store, |tx| {
                while tx.index(64).expect("it indexes") > 0 {}
                assert_eq!(tx.unindexed_bytes().expect("it counts"), 0);
            });
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

fn answers(
    view: &dyn View,
    words: &str,
    tips: &[CommitHash],
    is_narrow: bool,
) -> Vec<(ContentHash, Vec<Hit>)> {
    let query = Query::parse(words).expect("a query");
    let ranking = Ranking {
        query: &query,
        role: None,
        most: 100,
    };
    let ranked = view.ranked(ranking, tips, is_narrow).expect("ranked");
    assert!(ranked.is_all);
    assert!(ranked.found.is_sorted_by(|a, b| a.score >= b.score));
    assert_eq!(ranked.rarity.len(), query.wanted.len());
    let found = ranked.found.into_iter();
    found.map(|one| (one.content, one.hits)).collect()
}

/// Indexed or not, by an append or otherwise: what has more and rarer words comes first, on the paths that are asked for.
fn the_best_answers_come_first(make: Make<'_>) {
    let store = make();
    let said = [
        "the proposals for a website redesign",
        "a website, nothing else",
        "redesigned the proposal",
        "a website again",
        "nothing of it",
    ];
    let mut tips: Vec<CommitHash> = Vec::new();
    writing(&*store, |tx| {
        for text in said {
            tips.push(append(tx, tips.last().copied(), text));
        }
        let summary = "a summary of website redesign proposals, and other things";
        let summary = summary.to_owned() + &" that were said".repeat(90);
        let content = tx.keep(&user(&summary)).expect("kept");
        let target = tips[4].into();
        tips.push(put(
            tx,
            tips.last().copied(),
            Operation::Edit { target, content },
        ));
    });
    let name = |text: &str| Sealed::new(user(text)).hash();
    for pass in 0..3 {
        reading(&*store, |view| {
            let last = &tips[5..];
            let found = answers(view, "redesigning websites: proposal", last, false);
            let names: Vec<ContentHash> = found.iter().map(|(content, _)| *content).collect();
            assert_eq!(names.len(), 5, "in pass {pass}");
            assert_eq!(names[0], name(said[0]));
            assert!(names[1..3].contains(&name(said[2])));
            assert_eq!(found[0].1[0].commit, tips[0]);
            let edited = found.iter().find(|(_, hits)| hits[0].commit == tips[5]);
            assert_eq!(
                edited.map(|(content, hits)| hits[0].content == Some(*content)),
                Some(true)
            );
            let early = answers(view, "redesign websites", &tips[1..2], true);
            assert_eq!(early.len(), 2, "only what is on the path");
            assert_eq!(answers(view, "redes*", last, false).len(), 3);
            assert!(answers(view, "\"nobody said\" this", last, false).is_empty());
            Ok(())
        });
        // A part is in the index, then all.
        writing(&*store, |tx| {
            let bytes = tx
                .weigh(if pass == 0 { 100 } else { u64::MAX })
                .expect("indexed");
            assert!(pass > 1 || bytes > 0);
            assert!(pass == 0 || tx.unweighed_bytes().expect("counted") == 0);
        });
    }
}

fn what_is_taken_out_is_in_no_answer(make: Make<'_>) {
    let store = make();
    let mut made = Vec::new();
    writing(&*store, |tx| {
        for text in ["a secret word", "another word", "the last word"] {
            made.push(append(tx, made.last().copied(), text));
        }
        tx.weigh(u64::MAX).expect("indexed");
    });
    writing(&*store, |tx| {
        let secret = Sealed::new(user("a secret word")).hash();
        tx.purge_content(&secret).expect("erased");
        tx.unindex(&[secret]).expect("out of the index");
    });
    reading(&*store, |view| {
        assert!(answers(view, "secret", &made[2..], false).is_empty());
        assert_eq!(answers(view, "words", &made[2..], false).len(), 2);
        assert_eq!(view.unweighed_bytes().expect("counted"), 0);
        Ok(())
    });
    // What nothing leads to goes, and its number may be another's.
    writing(&*store, |tx| {
        tx.drop_unreached().expect("dropped");
    });
    writing(&*store, |tx| {
        let made = append(tx, None, "a new word");
        let found = answers(tx, "word", &[made], false);
        assert_eq!(found.len(), 1);
    });
}

/// A purged content leaves a tombstone under its hash, which nothing fills again.
fn what_is_purged_is_gone_and_stays_gone(make: Make<'_>) {
    let store = make();
    let tip = line(&*store, 2);
    let (said, count) = (user("1"), TokenCount::default());
    let key = CountKey {
        content: said.hash(),
        mask: None,
    };
    let (encoding, name) = (Encoding::default(), branch("session"));
    let source = writing(&*store, |tx| {
        tx.put_count(key, encoding, count).expect("kept");
        tx.begin_operation(Millis(1), "import secret.json")
            .expect("kept");
        let source = tx.put_source(&name, "x", None).expect("kept");
        let fingerprint = fingerprint(b"bytes");
        tx.append_source(source, &SourceState::empty(), b"bytes", &fingerprint)
            .expect("kept");
        let span = Span { offset: 0, len: 5 };
        tx.put_records(&tip, source, &[span]).expect("kept");
        source
    });
    // One that is taken back purges nothing.
    let tx = store.write().expect("the lock");
    tx.purge_content(&said.hash()).expect("there");
    drop(tx);
    assert_eq!(
        reading(&*store, |view| view.content(&said.hash())),
        Some(said.clone())
    );
    assert!(!reading(&*store, |view| view.has_tombstones()));
    writing(&*store, |tx| {
        let size = tx.purge_content(&said.hash()).expect("there");
        assert_eq!(size, said.canonical().len() as u64);
        tx.purge_source(source).expect("there");
        let last = tx.begin_operation(Millis(2), "purge").expect("kept");
        tx.purge_operations(last).expect("done");
        assert_eq!(tx.keep(&said).expect("put"), said.hash());
    });
    store.scrub().expect("rewritten");
    reading(&*store, |view| {
        assert_eq!(view.content(&said.hash())?, Some(user(PURGED)));
        let asked = [said.hash(), user("0").hash(), user("never said").hash()];
        assert_eq!(view.purged(&asked)?, [true, false, false]);
        assert!(view.has_tombstones()?);
        let row = view.content_row(&said.hash())?.expect("a tombstone");
        assert_eq!(row.preview, PURGED);
        assert_eq!(view.counts(&[key], encoding)?, [None]);
        assert_eq!(view.source(source)?, None);
        assert_eq!(view.records_of(&tip)?, []);
        let operations = view.operations(None, 9)?;
        let words: Vec<&str> = operations.iter().map(|row| row.what.as_str()).collect();
        assert_eq!(words, ["purge", "import [purged]"]);
        assert_eq!(view.last_purge()?, Some(operations[0].id));
        Ok(())
    });
    // The same message again is another content, and a tombstone's words are a message like any.
    let again = Sealed::new(said.clone()).again(1);
    let words = Sealed::new(user(PURGED));
    let by_tool = Sealed::new(Message::text(Role::Tool, PURGED)).again(1);
    writing(&*store, |tx| {
        for message in [&again, &words, &by_tool] {
            tx.put_content(message).expect("kept");
        }
    });
    let hashes = [again.hash(), words.hash(), by_tool.hash()];
    reading(&*store, |view| {
        assert_eq!(view.content(&again.hash())?, Some(said.clone()));
        let row = view.content_row(&again.hash())?.expect("a content");
        assert_eq!(row.size_bytes, again.canonical().len() as u64);
        assert_eq!(view.purged(&hashes)?, [false; 3]);
        Ok(())
    });
    writing(&*store, |tx| {
        let size = tx.purge_content(&again.hash()).expect("there");
        assert_eq!(size, again.canonical().len() as u64);
        assert_eq!(tx.purged(&hashes).expect("asked"), [true, false, false]);
    });
    let missing = user("never said").hash();
    let tx = store.write().expect("the lock");
    assert!(tx.purge_content(&missing).is_err());
    drop(tx);
    // It stays erased though nothing leads to it any more, and it comes in once more.
    writing(&*store, |tx| {
        let dropped = tx.drop_unreached().expect("dropped");
        assert_eq!(dropped.commits, 2);
        tx.keep(&said).expect("put");
    });
    assert_eq!(
        reading(&*store, |view| view.content(&said.hash())),
        Some(user(PURGED))
    );
}

/// A fork, a commit that only the log names, and one that nothing names.
fn what_nothing_leads_to_is_told_and_dropped(make: Make<'_>) {
    let store = make();
    let (main, gone, session) = (branch("main"), branch("gone"), branch("session"));
    let (root, tip, side, logged, lost) = writing(&*store, |tx| {
        let root = append(tx, None, "root");
        let tip = append(tx, Some(root), "tip");
        let side = append(tx, Some(root), "side");
        let logged = append(tx, Some(side), "logged");
        // It shares a lineage with what stays, and a content.
        let lost = append(tx, Some(logged), "lost");
        let lost = append(tx, Some(lost), "root");
        append(tx, Some(tip), "also lost");
        tx.keep(&user("named by none")).expect("kept");
        tx.begin_operation(Millis(1), "test").expect("begun");
        let at = |commit| Some(RefValue::Commit(commit));
        tx.set_reference(&main, at(tip).as_ref()).expect("set");
        tx.set_reference(&gone, at(logged).as_ref()).expect("set");
        tx.set_reference(&gone, None).expect("set");
        let source = tx.put_source(&session, "x", None).expect("kept");
        let span = Span { offset: 0, len: 1 };
        for commit in [lost, logged, side] {
            tx.put_records(&commit, source, &[span]).expect("kept");
        }
        tx.put_session(&session, &SessionRow::default())
            .expect("kept");
        tx.put_usage(&lost, Usage::default()).expect("kept");
        (root, tip, side, logged, lost)
    });
    let hashes = |rows: Vec<CommitRow>| rows.into_iter().map(|row| row.hash).collect();
    let reach = |tips: &[CommitHash]| -> (BTreeSet<CommitHash>, BTreeSet<CommitHash>) {
        let reach = reading(&*store, |view| view.by_reach(tips));
        (hashes(reach.reached), hashes(reach.unreached))
    };
    let (reached, unreached) = reach(&[tip, logged, root]);
    assert_eq!(reached, BTreeSet::from([root, tip, side, logged]));
    assert_eq!(unreached.len(), 3);
    assert_eq!(reach(&[]).0, BTreeSet::new());
    assert_eq!(reach(&[CommitHash::of("unknown")]).1.len(), 7);
    reading(&*store, |view| {
        let all: BTreeSet<ContentHash> = view.all_contents()?.into_iter().collect();
        assert_eq!(all.len(), 7);
        assert!(all.contains(&user("named by none").hash()));
        let named: BTreeSet<CommitHash> = view.named_commits()?.into_iter().collect();
        assert_eq!(named, BTreeSet::from([tip, logged]));
        let sources = view.all_sources()?;
        assert_eq!(sources.len(), 1);
        assert_eq!(view.sources_behind(&[lost, logged])?, [sources[0].id]);
        assert_eq!(view.sources_behind(&[root])?, Vec::<u64>::new());
        let known = view.session(&session)?.expect("known");
        assert_eq!(view.sessions()?, [(session.clone(), known)]);
        Ok(())
    });
    writing(&*store, |tx| {
        let texts = ["lost", "also lost", "named by none"];
        let bytes = texts.map(|text| user(text).canonical().len() as u64);
        let done = tx.drop_unreached().expect("dropped");
        let wanted = Dropped {
            commits: 3,
            contents: 3,
            size_bytes: bytes.iter().sum(),
        };
        assert_eq!(done, wanted);
        assert_eq!(tx.drop_unreached().expect("again"), Dropped::default());
        tx.forget_session(&session).expect("forgotten");
    });
    reading(&*store, |view| {
        assert_eq!(view.all_contents()?.len(), 4);
        let path = view.ancestors(&logged, None, 9)?;
        assert_eq!(path.len(), 3);
        let commits = view.commits(&[lost, logged])?;
        assert!(commits[0].is_none() && commits[1].is_some());
        assert_eq!(view.records(&[lost, logged])?[0], vec![]);
        assert_eq!(view.sessions()?, vec![]);
        Ok(())
    });
    // What was taken out can come again, at the same place.
    writing(&*store, |tx| {
        let again = append(tx, Some(logged), "lost");
        let again = append(tx, Some(again), "root");
        assert_eq!(again, lost);
        assert!(tx.is_ancestor(&side, &lost).expect("asked"));
        let aside = append(tx, Some(logged), "aside");
        assert!(!tx.is_ancestor(&aside, &lost).expect("asked"));
    });
}

/// What was merged leads to where it was merged, and so does what was merged there.
fn what_was_merged_is_told_and_kept(make: Make<'_>) {
    let store = make();
    let (root, merged, side, deep, lost) = writing(&*store, |tx| {
        let root = append(tx, None, "root");
        let content = user("root").hash();
        let one = |parent, merged, origin, key: &str| Commit {
            merged,
            origin,
            settings: [(key.to_owned(), "\"merged\"".to_owned())].into(),
            ..step(Some(parent), Operation::Append { content })
        };
        let put = |commit: Commit| tx.keep_commit(&commit).expect("kept").0;
        // No merge, whatever a setting is called.
        let tip = put(one(root, None, None, "merged"));
        let deep = append(tx, Some(root), "deep");
        let side = append(tx, Some(root), "side");
        let side = put(one(side, Some(deep), None, "a"));
        let after = append(tx, Some(side), "after");
        let lost = append(tx, None, "lost");
        let merged = put(one(tip, Some(side), Some(lost), "a"));
        append(tx, Some(after), "also lost");
        tx.begin_operation(Millis(1), "test").expect("begun");
        let at = Some(RefValue::Commit(append(tx, Some(merged), "end")));
        tx.set_reference(&branch("main"), at.as_ref()).expect("set");
        (root, merged, side, deep, lost)
    });
    let merges = |tip: &CommitHash| -> Vec<CommitHash> {
        let rows = reading(&*store, |view| view.merges(tip));
        rows.into_iter().map(|row| row.hash).collect()
    };
    assert_eq!(merges(&merged), [merged]);
    assert_eq!(merges(&side), [side]);
    assert!(merges(&deep).is_empty() && merges(&root).is_empty());
    reading(&*store, |view| {
        let main = view.reference(&branch("main"))?;
        let Some(RefValue::Commit(end)) = main else {
            panic!("it is set");
        };
        assert_eq!(view.merges(&end)?.len(), 1);
        assert_eq!(view.by_reach(&[end])?.reached.len(), 7);
        assert_eq!(view.by_reach(&[side])?.reached.len(), 4);
        assert!(!view.is_ancestor(&side, &end)?);
        Ok(())
    });
    writing(&*store, |tx| {
        assert_eq!(tx.drop_unreached().expect("dropped").commits, 3);
    });
    reading(&*store, |view| {
        let commits = view.commits(&[side, deep, lost])?;
        assert!(commits[0].is_some() && commits[1].is_some() && commits[2].is_none());
        Ok(())
    });
    let mut faults = Vec::new();
    let told = store.verify(&mut |_, fault| {
        faults.extend(fault);
        Ok(())
    });
    assert_eq!((told.expect("checked").commits, faults), (7, vec![]));
}

/// What a check finds.
pub(crate) fn faults(store: &dyn Store) -> Vec<Fault> {
    let mut faults = Vec::new();
    let checked = store.verify(&mut |_, fault| {
        faults.extend(fault);
        Ok(())
    });
    checked.expect("checked");
    faults
}

fn what_is_forgotten_of_the_log_leaves_refs_where_they_were(make: Make<'_>) {
    let store = make();
    let names = ["main", "gone", "back", "late"].map(branch);
    let [main, gone, back, late] = &names;
    let state = |view: &dyn View| view.references("").expect("refs");
    let one = writing(&*store, |tx| {
        let one = append(tx, None, "one");
        let two = append(tx, Some(one), "two");
        let at = |commit| Some(RefValue::Commit(commit));
        let set = |moves: &[(&RefName, Option<RefValue>)]| {
            let id = tx.begin_operation(Millis(1), "test").expect("begun");
            for (name, value) in moves {
                tx.set_reference(name, value.as_ref()).expect("set");
            }
            id
        };
        set(&[(main, at(one)), (gone, at(one)), (back, at(one))]);
        let purge = set(&[(back, None)]);
        tx.purge_operations(purge).expect("marked");
        set(&[(main, at(two)), (gone, None)]);
        let symbolic = Some(RefValue::Symbolic(main.clone()));
        set(&[(&RefName::head(), symbolic)]);
        // Since: what is kept.
        set(&[(main, at(one)), (late, at(two))]);
        set(&[(back, at(two))]);
        let (time, undo) = (Millis(2), Reversal::Undo(5));
        tx.begin_reversal(time, "undo", undo).expect("begun");
        tx.set_reference(main, at(two).as_ref()).expect("set");
        assert_eq!(tx.collections().expect("read"), Collections::default());
        one
    });
    let before = reading(&*store, |view| Ok(state(view)));
    let logs = |view: &dyn View| {
        let log = |name| view.reflog(&name, 9).expect("a log");
        names.clone().map(log)
    };
    let was = reading(&*store, |view| Ok(logs(view)));
    writing(&*store, |tx| tx.forget_operations(4).expect("forgotten"));
    reading(&*store, |view| {
        assert_eq!(state(view), before);
        let operations = view.operations(None, 9)?;
        let ids: Vec<u64> = operations.iter().map(|row| row.id).collect();
        assert_eq!(ids, [7, 6, 5, 4]);
        assert_eq!(view.operations(Some(4), 9)?, vec![]);
        assert_eq!(view.operations(Some(5), 1)?[0].what, "gc");
        let moves = view.moves(4)?.into_iter();
        let moves: BTreeSet<_> = moves.map(|row| (row.name, row.old.is_none())).collect();
        let there = [main.clone(), RefName::head()].map(|name| (name, true));
        assert_eq!(moves, BTreeSet::from(there));
        for (now, was) in logs(view).iter().zip(&was) {
            let kept = was.iter().filter(|row| row.operation > 4).count();
            assert_eq!(now[..kept], was[..kept]);
            assert!(now[kept..].iter().all(|row| row.old.is_none()));
        }
        assert_eq!(logs(view).map(|log| log.len()), [3, 0, 1, 1]);
        // That there was a purge is known.
        assert_eq!(view.last_purge()?, Some(4));
        assert_eq!(view.collections()?.forgotten, Some(4));
        let named: BTreeSet<CommitHash> = view.named_commits()?.into_iter().collect();
        assert_eq!(named.len(), 2);
        Ok(())
    });
    writing(&*store, |tx| {
        tx.forget_operations(7).expect("all of it");
        tx.count_collection().expect("counted");
    });
    reading(&*store, |view| {
        assert_eq!(state(view), before);
        let operations = view.operations(None, 9)?;
        assert_eq!(operations.len(), 1);
        assert_eq!(operations[0].reversal, Reversal::None);
        let wanted = Collections {
            times: 1,
            forgotten: Some(7),
        };
        assert_eq!(view.collections()?, wanted);
        Ok(())
    });
    writing(&*store, |tx| {
        let id = tx.begin_operation(Millis(3), "test").expect("begun");
        assert_eq!(id, 8);
        let value = RefValue::Commit(one);
        tx.set_reference(main, Some(&value)).expect("set");
        assert_eq!(tx.reflog(main, 9).expect("a log").len(), 2);
    });
}

fn what_is_remembered_of_what_is_gone_goes_too(make: Make<'_>) {
    let store = make();
    let (main, session) = (branch("main"), RefName::session("x", "s"));
    let tags = ["kept", "moved", "lost"].map(|name| RefName::tag(name).expect("a name"));
    let [kept, moved, lost] = &tags;
    writing(&*store, |tx| {
        let root = append(tx, None, "root");
        let ours = append(tx, Some(root), "ours");
        let theirs = append(tx, None, "theirs");
        let unmade = append(tx, None, "unmade");
        let elsewhere = append(tx, None, "elsewhere");
        let stray = append(tx, Some(root), "stray");
        tx.begin_operation(Millis(1), "test").expect("begun");
        let places = [
            (&main, ours),
            (&session, theirs),
            (kept, root),
            (moved, root),
        ];
        for (name, commit) in places {
            let value = RefValue::Commit(commit);
            tx.set_reference(name, Some(&value)).expect("set");
        }
        for (tag, commit) in [(kept, root), (moved, stray), (lost, root)] {
            let note = TagNote {
                commit,
                time: Millis(1),
                text: "x".into(),
            };
            tx.set_tag_note(tag, Some(&note)).expect("kept");
        }
        for (theirs, ours) in [(theirs, root), (unmade, ours), (elsewhere, stray)] {
            let pair = AdoptedRow { theirs, ours };
            tx.put_adopted(&session, pair).expect("kept");
        }
        tx.forget_unreached().expect("forgotten");
        let pairs = tx.adopted(&session).expect("read");
        let pairs: Vec<CommitHash> = pairs.iter().map(|row| row.theirs).collect();
        assert_eq!(pairs, [theirs, unmade]);
        let notes = tx.all_tag_notes().expect("read");
        assert_eq!(notes.iter().map(|(tag, _)| tag).collect::<Vec<_>>(), [kept]);
        assert_eq!(tx.drop_unreached().expect("dropped").commits, 2);
        assert!(tx.commit_row_is_here(&unmade));
        assert!(!tx.commit_row_is_here(&stray));
    });
}

/// A file that came in as this source.
pub(crate) fn followed_file(path: &str, source: u64) -> FollowedFile {
    let mut hash = Fingerprint::default();
    hash.update(&[b'a'; 100]);
    FollowedFile {
        path: path.into(),
        source,
        stamp: FileStamp {
            size_bytes: 1,
            modified_ns: -1,
            file: 7,
        },
        hashed: hash.mark(),
        settings: [("model".to_owned(), "\"m\"".to_owned())].into(),
        time: Millis(5),
    }
}

fn a_followed_file_is_kept_as_long_as_its_source(make: Make<'_>) {
    let store = make();
    let name = branch("session");
    let file = |source, size_bytes, time| {
        let mut file = followed_file("/home/u/s.jsonl", source);
        (file.stamp.size_bytes, file.time) = (size_bytes, Millis(time));
        file
    };
    let missing = store
        .write()
        .expect("a transaction")
        .put_followed(&file(1, 1, 1));
    assert!(matches!(missing, Err(Error::Overtaken { .. })));
    let id = writing(&*store, |tx| {
        let id = tx.put_source(&name, "codex", None).expect("kept");
        tx.put_followed(&file(id, 1, 5)).expect("kept");
        tx.put_followed(&file(id, 100, 4)).expect("kept");
        id
    });
    let found = reading(&*store, |view| view.followed("/home/u/s.jsonl"));
    assert_eq!(found, Some(file(id, 100, 4)));
    assert_eq!(reading(&*store, |view| view.followed("s.jsonl")), None);
    assert_eq!(
        reading(&*store, |view| view.last_followed()),
        Some(Millis(4))
    );
    assert_eq!(
        reading(&*store, |view| view.followed_files(None)),
        [("/home/u/s.jsonl".to_owned(), name.clone())]
    );
    for (of, found) in [(&name, 1), (&branch("other"), 0)] {
        let of = std::slice::from_ref(of);
        let files = reading(&*store, |view| view.followed_files(Some(of)));
        assert_eq!(files.len(), found);
    }
    // What an undo forgets is how the file looked, not whose it is.
    writing(&*store, |tx| tx.forget_looks(&name).expect("forgotten"));
    assert_eq!(
        reading(&*store, |view| view.followed("/home/u/s.jsonl")),
        None
    );
    assert_eq!(reading(&*store, |view| view.last_followed()), None);
    let files = reading(&*store, |view| view.followed_files(None));
    assert_eq!(files.len(), 1);
    writing(&*store, |tx| tx.purge_source(id).expect("erased"));
    assert_eq!(reading(&*store, |view| view.followed_files(None)), []);
    assert_eq!(
        reading(&*store, |view| view.followed("/home/u/s.jsonl")),
        None
    );
    assert_eq!(reading(&*store, |view| view.last_followed()), None);
}

fn sessions_are_found_by_their_directory(make: Make<'_>) {
    let store = make();
    let name = |at: usize| -> RefName {
        let name = format!("refs/sessions/codex/s{at}");
        name.parse().expect("a name")
    };
    writing(&*store, |tx| {
        for (at, cwd) in [Some("/b"), None, Some("/a"), Some("/b"), Some("/b/c")]
            .into_iter()
            .enumerate()
        {
            let session = SessionRow {
                cwd: cwd.map(str::to_owned),
                ..SessionRow::default()
            };
            tx.put_session(&name(at), &session).expect("kept");
        }
        tx.forget_session(&name(3)).expect("forgotten");
    });
    let found = |directory| reading(&*store, |view| view.sessions_in(directory));
    assert_eq!(found("/b"), [name(0)]);
    assert_eq!(found("/b/c"), [name(4)]);
    assert_eq!(found("/"), []);
}

fn a_recording_is_open_until_the_time_that_was_said_last(make: Make<'_>) {
    let store = make();
    let name: RefName = "refs/sessions/codex/s".parse().expect("a name");
    assert_eq!(reading(&*store, |view| view.recorded_until(&name)), None);
    for until in [90, 30] {
        writing(&*store, |tx| {
            tx.put_recorded_until(&name, Millis(until)).expect("kept");
        });
        let found = reading(&*store, |view| view.recorded_until(&name));
        assert_eq!(found, Some(Millis(until)));
    }
}

fn an_unread_file_is_kept_until_it_is_read_or_a_purge_runs(make: Make<'_>) {
    let store = make();
    let file = |path: &str, why: &str, time| UnreadFile {
        path: path.into(),
        why: why.into(),
        time: Millis(time),
    };
    writing(&*store, |tx| {
        for it in [
            file("/b", "denied", 1),
            file("/a", "broken \u{1b}[31m", 2),
            file("/b", "torn", 3),
        ] {
            tx.put_unread(&it).expect("kept");
        }
    });
    let both = [file("/a", "broken \u{1b}[31m", 2), file("/b", "torn", 3)];
    assert_eq!(reading(&*store, |view| view.unread_files()), both);
    writing(&*store, |tx| {
        tx.forget_unread("/b").expect("forgotten");
        tx.forget_unread("/none").expect("nothing to forget");
    });
    let [first, _] = both;
    assert_eq!(reading(&*store, |view| view.unread_files()), [first]);
    writing(&*store, |tx| {
        let operation = tx.begin_operation(Millis(4), "purge").expect("begun");
        tx.purge_operations(operation).expect("said");
    });
    assert_eq!(reading(&*store, |view| view.unread_files()), []);
}

fn older_sources_go_where_newer_ones_say_the_same(make: Make<'_>) {
    let store = make();
    let [session, other, none] = ["s", "o", "n"].map(|id| RefName::session("x", id));
    writing(&*store, |tx| {
        let one = append(tx, None, "one");
        let two = append(tx, Some(one), "two");
        tx.begin_operation(Millis(1), "test").expect("begun");
        for name in [&session, &other] {
            let value = RefValue::Commit(two);
            tx.set_reference(name, Some(&value)).expect("set");
        }
        let span = Span { offset: 0, len: 1 };
        let source = |name: &RefName, format: &str, commits: &[CommitHash]| {
            let newest = tx.sources(name).expect("read").first().map(|row| row.id);
            let id = tx.put_source(name, format, newest).expect("kept");
            let state = SourceState::empty();
            let done = tx.append_source(id, &state, b"bytes", &fingerprint(b"bytes"));
            done.expect("kept");
            for commit in commits {
                tx.put_records(commit, id, &[span]).expect("kept");
            }
            id
        };
        let older = source(&session, "x", &[one, two]);
        let shorter = source(&session, "x", &[one]);
        let another = source(&session, "y", &[one, two]);
        let same = source(&session, "x", &[one]);
        let foreign = source(&other, "x", &[one, two]);
        let unread = source(&other, "x", &[]);
        let stray = source(&none, "x", &[]);
        let done = tx.drop_older_sources().expect("dropped");
        assert_eq!(done.0, 2);
        let left = tx.all_sources().expect("read");
        let left: Vec<u64> = left.iter().map(|row| row.id).collect();
        assert_eq!(left, [older, another, same, foreign, unread]);
        assert!(!left.contains(&shorter) && !left.contains(&stray));
        assert_eq!(tx.drop_older_sources().expect("again"), (0, 0));
        assert_eq!(tx.records(&[one]).expect("read")[0].len(), 4);
    });
}
