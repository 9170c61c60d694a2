//! A bundle is a stranger's bytes.

use std::io::{Cursor, Write};

use super::*;
use crate::hash::{ContentHash, fingerprint, hex};
use crate::model::{
    Commit, Draft, EntryId, Message, Millis, Operation, Role, Sealed, Settings, Span, StatedUsage,
    Usage, UsageDetail,
};
use crate::repo::{Call, CommitOptions, On, Repo};
use crate::store::{ResumeRow, SessionRow, SourceState};
use crate::sync::{Arrival, Unbundled};
use crate::{Error, Result};

const SESSION: &str = "refs/sessions/claude-code/s-1";

fn said(text: &str) -> Message {
    Message::text(Role::User, text)
}

/// Two messages on a branch that came from a kept file.
fn repository() -> Repo {
    let repo = Repo::ephemeral().expect("made");
    let drafts = ["one", "two"].map(|text| Draft::append(said(text)));
    let made = repo.commit(Call::default(), &drafts, &CommitOptions::default());
    let tip = made.expect("commits")[1].hash;
    let tx = repo.store.write().expect("a transaction");
    let session: RefName = SESSION.parse().expect("a name");
    tx.begin_operation(Millis(0), "import").expect("begun");
    let value = crate::model::RefValue::Commit(tip);
    tx.set_reference(&session, Some(&value)).expect("set");
    let source = tx.put_source(&session, "claude-code", None).expect("kept");
    let print = fingerprint(b"the file");
    tx.append_source(source, &SourceState::empty(), b"the file", &print)
        .expect("kept");
    let span = Span { offset: 4, len: 4 };
    tx.put_records(&tip, source, &[span]).expect("kept");
    let known = SessionRow {
        title: Some("a title".into()),
        ..SessionRow::default()
    };
    tx.put_session(&session, &known).expect("kept");
    tx.put_resumed("claude-code", "s-1", &resumed(tip))
        .expect("kept");
    let usage = Usage::of_numbers([7, 9, 5, 2, 1, 4]);
    tx.put_usage(&tip, usage).expect("kept");
    let mut detail = UsageDetail::default();
    detail.count("web_search_requests", 3);
    tx.put_usage_detail(&tip, &detail).expect("kept");
    let mut stated = StatedUsage::default();
    stated.add("m".to_owned(), usage);
    tx.put_stated_usage(&session, &stated).expect("kept");
    tx.commit().expect("durable");
    repo
}

/// As if `resume` had written the session.
fn resumed(commit: CommitHash) -> ResumeRow {
    ResumeRow {
        commit,
        messages: 2,
        digest: fingerprint(b"two messages"),
    }
}

fn tips(repo: &Repo) -> Vec<BundleTip> {
    let names = ["refs/heads/main", SESSION].map(|name| name.parse().expect("a name"));
    names
        .map(|name| {
            BundleTip::of(repo, &name)
                .expect("reads")
                .expect("it is there")
        })
        .into()
}

#[test]
fn what_is_named_twice_is_in_it_once() {
    let repo = repository();
    let named = tips(&repo);
    let twice = [&named[..], &named[..1]].concat();
    let (bytes, _) = repo.bundle(&twice, true).expect("bundled");
    let yours = Repo::ephemeral().expect("made");
    take(&yours, &bytes).expect("taken");
    let (once, _) = repo.bundle(&tips(&repo), true).expect("bundled");
    assert_eq!(bytes, once);
}

fn bundled() -> Vec<u8> {
    let repo = repository();
    repo.bundle(&tips(&repo), true).expect("bundled").0
}

fn take(repo: &Repo, bytes: &[u8]) -> Result<Unbundled> {
    repo.unbundle(
        Call::at(Millis(1), "unbundle"),
        &mut Cursor::new(bytes),
        &mut |_| {},
    )
}

/// All that is here, by what a view tells.
fn all(repo: &Repo) -> String {
    let view = repo.store.read().expect("a view");
    let operations = view.operations(None, 99).expect("reads");
    let contents = view.all_contents().expect("reads");
    let sources = view.all_sources().expect("reads");
    let reach = view.by_reach(&[]).expect("reads").unreached;
    format!(
        "{operations:?} {:?} {contents:?} {sources:?} {reach:?}",
        view.references("")
    )
}

#[test]
fn what_was_bundled_arrives_and_arriving_twice_adds_nothing() {
    let (mine, bytes) = (repository(), bundled());
    let yours = Repo::ephemeral().expect("made");
    let done = take(&yours, &bytes).expect("taken");
    assert_eq!((done.commits, done.contents, done.sources), (2, 2, 1));
    let arrivals: Vec<Arrival> = done.refs.iter().map(|arrived| arrived.arrival).collect();
    assert_eq!(arrivals, [Arrival::New, Arrival::New]);
    let (here, there) = (
        yours.store.read().expect("reads"),
        mine.store.read().expect("reads"),
    );
    let tip = done.refs[0].commit;
    assert_eq!(
        here.records_of(&tip).expect("reads"),
        there.records_of(&tip).expect("reads")
    );
    assert_eq!(
        here.usage(&[tip]).expect("reads"),
        there.usage(&[tip]).expect("reads")
    );
    let details = here.usage_details(&[tip]).expect("reads");
    assert_eq!(details[&tip].counts["web_search_requests"], 3);
    let session = &done.refs[1].ours;
    assert_eq!(
        here.session(session).expect("reads"),
        there.session(session).expect("reads")
    );
    assert_eq!(
        here.stated_usage_of(session).expect("reads"),
        there.stated_usage_of(session).expect("reads")
    );
    assert_eq!(
        here.with_origins().expect("reads"),
        std::slice::from_ref(session)
    );
    let known = here.resumed("claude-code", "s-1").expect("reads");
    assert_eq!(known, Some(resumed(tip)));
    let span = Span { offset: 0, len: 99 };
    let source = here.all_sources().expect("reads").remove(0);
    assert_eq!(
        here.source_bytes(source.id, span).expect("reads"),
        b"the file"
    );
    drop((here, there));
    assert!(
        !yours
            .fsck(true, &mut |_| Ok(()))
            .expect("checked")
            .is_damaged()
    );

    let before = all(&yours);
    let again = take(&yours, &bytes).expect("taken");
    assert_eq!((again.commits, again.contents, again.sources), (0, 0, 0));
    assert_eq!(all(&yours), before);
}

#[test]
fn one_undo_takes_it_all_back() {
    let yours = Repo::ephemeral().expect("made");
    take(&yours, &bundled()).expect("taken");
    yours.undo(None, Millis(2)).expect("undone");
    assert_eq!(yours.references("refs/").expect("reads"), []);
}

#[test]
fn a_bundle_with_any_byte_changed_or_cut_is_refused_and_writes_nothing() {
    let bytes = bundled();
    let yours = Repo::ephemeral().expect("made");
    let before = all(&yours);
    for at in 0..bytes.len() {
        let cut = take(&yours, &bytes[..at]);
        assert!(
            matches!(cut, Err(Error::BrokenBundle { .. })),
            "cut at {at}: {cut:?}"
        );
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            let taken = take(&yours, &flipped);
            assert!(
                matches!(taken, Err(Error::BrokenBundle { .. })),
                "byte {at}: {taken:?}"
            );
        }
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(take(&yours, &longer).is_err());
    assert_eq!(all(&yours), before);
}

/// A bundle of these lines, whose hash is right.
fn sealed(lines: &str) -> Vec<u8> {
    let mut packer = zstd::stream::Encoder::new(Vec::new(), 3).expect("made");
    packer.write_all(lines.as_bytes()).expect("packed");
    framed(packer.finish().expect("packed"))
}

fn framed(packed: Vec<u8>) -> Vec<u8> {
    let print = hex(&fingerprint(&packed));
    [HEADER, print.as_bytes(), b"\n", &packed].concat()
}

fn lines_of(bytes: &[u8]) -> String {
    let packed = &bytes[HEADER.len() + 65..];
    String::from_utf8(zstd::decode_all(packed).expect("unpacks")).expect("text")
}

/// Whoever makes the hash right makes nothing else right.
#[test]
fn a_bundle_that_somebody_forged_is_refused_and_writes_nothing() {
    let lines = lines_of(&bundled());
    let all_lines: Vec<&str> = lines.split_inclusive('\n').collect();
    let yours = Repo::ephemeral().expect("made");
    let before = all(&yours);
    let refused = |what: &str, lines: &str| {
        let taken = take(&yours, &sealed(lines));
        let is_refused = matches!(
            taken,
            Err(Error::BrokenBundle { .. } | Error::MissingCommits { .. })
        );
        assert!(is_refused, "{what}: {taken:?}\n{lines}");
        assert_eq!(all(&yours), before, "{what}");
    };
    // Each line left out, doubled, or with a byte changed: but for what stands for itself alone.
    let alone = |line: &str| {
        let alone = [
            "usage", "resumed", "origin", "stated", "records", "session", "ref",
        ];
        alone.iter().any(|word| line.starts_with(word))
    };
    for at in 0..all_lines.len() {
        let without = [&all_lines[..at], &all_lines[at + 1..]].concat().concat();
        if !alone(all_lines[at]) {
            refused("left out", &without);
        }
        let is_set = |word| all_lines[at].starts_with(word);
        let twice = ["usage", "resumed", "origin", "stated", "records", "session"];
        if !twice.into_iter().any(is_set) {
            let doubled = [&all_lines[..=at], &all_lines[at..]].concat().concat();
            refused("doubled", &doubled);
        }
    }
    let tip = &all_lines
        .iter()
        .find(|line| line.starts_with("ref "))
        .expect("a ref")[20..];
    let end = |more: &str| lines.replace("end\n", more);
    for (what, forged) in [
        ("nothing", String::new()),
        ("no end", end("")),
        ("more behind the end", format!("{lines}end\n")),
        ("an unknown line", end("what\nend\n")),
        ("another's text", lines.replace("\"one\"", "\"six\"")),
        (
            "no canonical text",
            lines.replace("\"text\":\"one\"", "\"text\": \"one\""),
        ),
        ("HEAD", end(&format!("ref HEAD {tip}end\n"))),
        (
            "a ref like a hash",
            end(&format!("ref refs/heads/abcdef12 {tip}end\n")),
        ),
        (
            "a ref with an escape",
            end(&format!("ref refs/heads/a\u{1b}[2J {tip}end\n")),
        ),
        ("an odd ref", end(&format!("ref refs/other/x {tip}end\n"))),
        ("a record beyond the file", lines.replace(" 4+4", " 4+5")),
        (
            "a record that wraps",
            lines.replace(" 4+4", " 18446744073709551615+2"),
        ),
        (
            "a session resumed from nowhere",
            end(&format!(
                "resumed {SESSION} {0} 1 {0}\nend\n",
                "ab".repeat(32)
            )),
        ),
        (
            "what a session says that is not in it",
            end(&format!(
                "stated {SESSION} {} {{\"models\":[]}}\nend\n",
                "ab".repeat(32)
            )),
        ),
        (
            "a usage that is none",
            lines.replace("{\"models\":[", "{\"models\": ["),
        ),
        (
            "a starter that is no session",
            end(&format!(
                "starter {SESSION} {} refs/heads/x\nend\n",
                tip.trim()
            )),
        ),
        ("another file", lines.replace("the file", "the fold")),
        ("a longer file", lines.replace(" 8 ", " 9 ")),
        (
            "an endless file",
            lines.replace(" 8 ", " 9223372036854775807 "),
        ),
        (
            "a format like a path",
            lines.replace(" claude-code 8", " ../code 8"),
        ),
        (
            "a session that is none",
            lines.replace("source 0 refs/sessions/", "source 0 refs/heads/x/"),
        ),
        (
            "a number in another spelling",
            lines.replace(" 7 9 5 2 1 4\n", " 7 9 5 02 1 4\n"),
        ),
        (
            "a need that is not here",
            format!("need {}\n{lines}", "ab".repeat(32)),
        ),
    ] {
        refused(what, &forged);
    }
    // Objects whose names are right, and that make no sense.
    let commit = |operation: &str| {
        format!(
            "commit {{\"operation\":{operation},\"parent\":\"{}\"}}\n",
            tip.trim()
        )
    };
    let nowhere = "ab".repeat(32);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (what, line) in [
        (
            "a message that none names",
            format!("content {}\n", said("alone").canonical()),
        ),
        (
            "a message too deep",
            format!(
                "content {{\"parts\":[{{\"arguments\":\"{deep}\",\"id\":\"a\",\"name\":\"b\",\"type\":\"tool_call\"}}],\"role\":\"assistant\"}}\n"
            ),
        ),
        (
            "an append of nothing",
            commit(&format!(
                "{{\"content\":\"{nowhere}\",\"type\":\"append\"}}"
            )),
        ),
        (
            "an edit of nothing",
            commit(&format!(
                "{{\"content\":\"{}\",\"target\":\"{nowhere}\",\"type\":\"edit\"}}",
                said("one").hash()
            )),
        ),
        (
            "a hide of nothing",
            commit(&format!(
                "{{\"intervals\":[{{\"first\":\"{nowhere}\",\"last\":\"{nowhere}\"}}],\"kind\":\"drop\",\"type\":\"hide\"}}"
            )),
        ),
        (
            "a restore of nothing",
            commit(&format!(
                "{{\"target\":\"{nowhere}\",\"type\":\"restore\"}}"
            )),
        ),
        (
            "an erased message that none was",
            format!("erased {nowhere} tool\n"),
        ),
    ] {
        let before_names = lines.find("usage ").expect("usage");
        let mut forged = lines.clone();
        forged.insert_str(before_names, &line);
        if let Some(commit) = line.strip_prefix("commit ") {
            // A ref leads there, so that nothing but the commit itself is wrong.
            let name = crate::hash::CommitHash::of(commit.trim_end());
            forged = forged.replace("end\n", &format!("ref refs/heads/x {name}\nend\n"));
        }
        refused(what, &forged);
    }
    // A good commit that comes too late.
    let late = commit(&format!(
        "{{\"content\":\"{}\",\"type\":\"append\"}}",
        said("one").hash()
    ));
    let name = crate::hash::CommitHash::of(late.strip_prefix("commit ").expect("one").trim_end());
    let named = format!("ref refs/heads/x {name}\nend\n");
    let in_time = lines
        .replacen("usage ", &format!("{late}usage "), 1)
        .replace("end\n", &named);
    refused("behind the file", &end(&format!("{late}{named}")));
    let often = format!(" {}", ["4+4"; 20].join(","));
    refused("records of many files", &lines.replace(" 4+4", &often));
    take(&yours, &sealed(&in_time)).expect("in its place it is taken");
    let yours = Repo::ephemeral().expect("made");
    // A megabyte of zeros takes a hundred bytes, and no line is endless.
    let bomb = zstd::encode_all(&vec![b'0'; 64 << 20][..], 19).expect("packed");
    assert!(matches!(
        take(&yours, &framed(bomb)),
        Err(Error::BrokenBundle { .. })
    ));
}

#[test]
fn a_range_needs_what_it_goes_on_from() {
    let mine = repository();
    let whole = tips(&mine).remove(0);
    let (base, _) = mine
        .bundle(std::slice::from_ref(&whole), false)
        .expect("bundled");
    let draft = Draft::edit(EntryId::of(whole.commit), said("two, better"));
    mine.commit(Call::default(), &[draft], &CommitOptions::default())
        .expect("commits");
    let mut tip = tips(&mine).remove(0);
    tip.after = Some(whole.commit);
    let (more, made) = mine.bundle(&[tip], false).expect("bundled");
    assert_eq!(
        (made.commits, made.contents, made.needs),
        (1, 1, vec![whole.commit])
    );

    let yours = Repo::ephemeral().expect("made");
    let before = all(&yours);
    match take(&yours, &more) {
        Err(Error::MissingCommits { commits }) => assert_eq!(commits, [whole.commit.to_string()]),
        other => panic!("{other:?}"),
    }
    assert_eq!(all(&yours), before);
    take(&yours, &base).expect("taken");
    let done = take(&yours, &more).expect("taken");
    assert_eq!(done.refs[0].arrival, Arrival::Grown);
    let (ours, theirs) = (
        yours.head(&On::Head).expect("reads"),
        mine.head(&On::Head).expect("reads"),
    );
    assert_eq!(ours.commit(), theirs.commit());
}

#[test]
fn what_is_erased_arrives_as_a_tombstone_and_what_was_erased_here_stays_so() {
    let mine = repository();
    let name: ContentHash = Sealed::new(said("one")).hash();
    let options = crate::rewrite::SurgeryOptions::default();
    let bytes = bundled();
    // Here.
    let yours = Repo::ephemeral().expect("made");
    let plain = {
        let tips = tips(&mine);
        mine.bundle(&tips, false).expect("bundled").0
    };
    take(&yours, &plain).expect("taken");
    let session: RefName = SESSION.parse().expect("a name");
    let tx = yours.store.write().expect("a transaction");
    let operation = tx.begin_operation(Millis(3), "purge").expect("begun");
    tx.purge_content(&name).expect("erased");
    tx.purge_operations(operation).expect("said");
    tx.set_reference(&"refs/heads/other".parse().expect("a name"), None)
        .expect("set");
    tx.commit().expect("durable");
    let done = take(&yours, &bytes).expect("taken");
    assert_eq!((done.erased, done.left_out, done.sources), (1, 1, 0));
    let view = yours.store.read().expect("a view");
    assert_eq!(view.purged(&[name]).expect("reads"), [true]);
    assert_eq!(view.session(&session).expect("reads"), None);
    drop(view);
    // There.
    let _ = options;
    let tips = tips(&yours);
    let (bytes, _) = yours.bundle(&tips, false).expect("bundled");
    let third = Repo::ephemeral().expect("made");
    take(&third, &bytes).expect("taken");
    assert_eq!(
        third
            .store
            .read()
            .expect("a view")
            .purged(&[name])
            .expect("reads"),
        [true]
    );
    // Whoever has it keeps it.
    take(&mine, &bytes).expect("taken");
    assert_eq!(
        mine.store
            .read()
            .expect("a view")
            .purged(&[name])
            .expect("reads"),
        [false]
    );
}

#[test]
fn a_name_that_another_history_has_gets_a_number() {
    let yours = Repo::ephemeral().expect("made");
    let draft = Draft::append(said("mine"));
    yours
        .commit(Call::default(), &[draft], &CommitOptions::default())
        .expect("commits");
    for _ in 0..2 {
        let done = take(&yours, &bundled()).expect("taken");
        assert_eq!(done.refs[0].ours.as_str(), "refs/heads/main-2");
    }
    let names = yours.references("refs/heads/").expect("reads");
    assert_eq!(names.len(), 2);
}

#[test]
fn what_becomes_more_than_a_bundle_may_is_refused() {
    let message = Sealed::new(said(&"a".repeat(40 << 20)));
    let bytes = sealed(&format!("content {}\n", message.canonical()));
    assert!(bytes.len() < 20_000, "{}", bytes.len());
    let repo = Repo::ephemeral().expect("made");
    let said = take(&repo, &bytes).expect_err("refused").to_string();
    assert!(said.ends_with("bytes become more than 32 MiB"), "{said}");
}

/// A path of so many commits, with a branch of one commit at each of them, costs what its lines cost.
#[test]
fn branches_along_a_path_are_checked_in_linear_work() {
    let steps_of = |count: i64| {
        let message = Sealed::new(said("one"));
        let (mut commits, mut refs) = (String::new(), String::new());
        let mut add = |parent, time, is_tip| {
            let commit = Sealed::new(Commit {
                parent,
                operation: Operation::Append {
                    content: message.hash(),
                },
                time: Some(Millis(time)),
                settings: Settings::new(),
                note: None,
                author: None,
                merged: None,
                origin: None,
            });
            commits += &format!("commit {}\n", commit.canonical());
            if is_tip {
                refs += &format!("ref refs/heads/branch-{time} {}\n", commit.hash());
            }
            Some(commit.hash())
        };
        let mut at = add(None, 0, false);
        for time in 1..=count {
            add(at, -time, true);
            at = add(at, time, time == count);
        }
        let lines = format!("content {}\n{commits}{refs}end\n", message.canonical());
        let (repo, steps) = Repo::counted();
        take(&repo, &sealed(&lines)).expect("taken in");
        steps.load(std::sync::atomic::Ordering::Relaxed)
    };
    let (few, many) = (steps_of(200), steps_of(1_000));
    assert!(many < 8 * few, "{few} {many}");
}
