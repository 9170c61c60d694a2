//! A stream of events, as it comes: what was seen live, what was recorded, what an import of the same
//! bytes stores, and the file's own tree are one.

use std::collections::BTreeSet;
use std::path::Path;

use tract::formats::EventStream;
use tract::formats::sniff::sniff;
use tract::hash::CommitHash;
use tract::ingest::{
    Due, ImportRequest, Outcome, RecordRequest, Recorder, Scope, import, replay, tree_of_file,
};
use tract::model::Millis;
use tract::repo::{On, Repo};
use tract::tree::{Fold, json};

use super::{Care, Choice};

/// The tree of a stream that comes in reads of this size.
pub fn live(bytes: &[u8], size: usize) -> String {
    let format = sniff(&bytes).expect("readable").expect("a known format");
    let mut stream = EventStream::of(format).expect("a format of events");
    let mut fold = Fold::live();
    for read in bytes.chunks(size.max(1)) {
        for event in stream.push(read) {
            fold.feed(event);
        }
    }
    for event in stream.finish() {
        fold.feed(event);
    }
    json::text(&fold.settle())
}

/// A repository with this file in it; none if there was no message in it.
pub fn imported(path: &Path) -> Option<Repo> {
    let repo = Repo::ephemeral().expect("a repository");
    let request = ImportRequest {
        branch: Some("main"),
        ..ImportRequest::at(Millis(0), "import")
    };
    import(&repo, path, &request, &mut |_| {}).expect("imports");
    repo.head(&On::Head).expect("a head").commit()?;
    Some(repo)
}

pub fn stored(repo: &Repo) -> String {
    let tip = repo
        .head(&On::Head)
        .expect("a head")
        .commit()
        .expect("a commit");
    let all = replay(repo, &tip, Scope::All).expect("replays");
    json::text(&all.tree)
}

/// What was seen live, what is seen of what was stored, and the file's own tree are one.
pub fn hold_replayed(bytes: &[u8], size: usize, name: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stream.jsonl");
    std::fs::write(&path, bytes).expect("written");
    let live = live(bytes, size);
    let file = json::text(&tree_of_file(&path, None).expect("a tree"));
    assert_eq!(file, live, "{name}: the file's tree");
    if let Some(repo) = imported(&path) {
        assert_eq!(stored(&repo), live, "{name}: what was stored");
    }
}

fn tip(repo: &Repo) -> Option<CommitHash> {
    repo.head(&On::Head).expect("a head").commit()
}

/// Records a stream that comes in reads of this size, and commits as soon as something is due, or as
/// soon as it may be. The tree that was seen, and how many sessions it was taken for: a stream that
/// says only in its middle which session it is of was another one until then.
fn record(repo: &Repo, bytes: &[u8], size: usize, eager: bool) -> (String, usize) {
    let format = sniff(&bytes).expect("readable").expect("a known format");
    let request = RecordRequest {
        format,
        stem: Some("stream"),
        branch: Some("main"),
        moves_head: false,
        what: "record",
    };
    let mut recorder = Recorder::new(repo, request).expect("a format of events");
    let mut names = BTreeSet::new();
    let mut see = |recorder: &Recorder<'_>| {
        let sessions = recorder
            .report()
            .into_iter()
            .flat_map(|report| &report.sessions);
        names.extend(sessions.map(|session| session.name.clone()));
    };
    for read in bytes.chunks(size.max(1)) {
        recorder.push(read).expect("its lines end");
        let least = if eager { Due::Idle } else { Due::Now };
        if recorder.due() >= least {
            recorder.commit(Millis(0)).expect("committed");
            assert_ne!(recorder.due(), Due::Now, "what was due is committed");
            see(&recorder);
        }
    }
    recorder.finish(Millis(0)).expect("finished");
    see(&recorder);
    (json::text(&recorder.settled()), names.len())
}

fn import_into(repo: &Repo, path: &Path) -> Outcome {
    let request = ImportRequest {
        branch: Some("main"),
        ..ImportRequest::at(Millis(0), "import")
    };
    let report = import(repo, path, &request, &mut |_| {}).expect("imports");
    report.sessions[0].outcome
}

/// Whether an event comes after one that its number puts behind it, or waits for one that never comes: such a one
/// is taken where the stream ends, and so is it where a recording was stopped.
fn comes_out_of_order(bytes: &[u8]) -> bool {
    let lines = bytes.split(|byte| *byte == b'\n');
    let numbers = lines.filter_map(|line| {
        let event: serde_json::Value = serde_json::from_slice(line).ok()?;
        Some((event["revision"].as_u64()?, event["sequence"].as_u64()?))
    });
    let follows = |one: &(u64, u64), next: &(u64, u64)| {
        one.0 == next.0 && one.1.checked_add(1) == Some(next.1)
    };
    !numbers.is_sorted_by(follows)
}

/// The same commits; of events that come out of order at least the same messages, for what had been
/// committed by then keeps its time.
fn assert_same(repo: &Repo, whole: &Repo, bytes: &[u8], what: &str) {
    if tip(repo) == tip(whole) {
        return;
    }
    let messages = |repo: &Repo| {
        let context = repo.context(&tip(repo).expect("a commit"));
        repo.messages(&context.expect("a context")).expect("read")
    };
    assert!(comes_out_of_order(bytes), "{what}");
    assert_eq!(messages(repo), messages(whole), "{what}");
}

/// Whether this commit is what an import of the stream's beginning stores: a numbered event that comes again
/// with something else in it may leave no message at all, and what was committed by then stays.
fn was_taken_back(bytes: &[u8], commit: CommitHash) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stream.jsonl");
    let mut ends = memchr::memchr_iter(b'\n', bytes);
    ends.any(|end| {
        std::fs::write(&path, &bytes[..=end]).expect("written");
        let known = sniff(&&bytes[..=end]).expect("readable");
        known.is_some() && imported(&path).and_then(|begun| tip(&begun)) == Some(commit)
    })
}

/// What was recorded, in these reads, is what an import stores.
pub fn hold_recorded(bytes: &[u8], size: usize, eager: bool, name: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stream.jsonl");
    std::fs::write(&path, bytes).expect("written");
    let repo = Repo::ephemeral().expect("a repository");
    let (seen, sessions) = record(&repo, bytes, size, eager);
    assert_eq!(seen, live(bytes, size), "{name}: what was seen");
    let file = json::text(&tree_of_file(&path, None).expect("a tree"));
    assert_eq!(seen, file, "{name}: the file's tree");
    if sessions > 1 {
        return;
    }
    let Some(whole) = imported(&path) else {
        if let Some(kept) = tip(&repo) {
            assert!(
                was_taken_back(bytes, kept),
                "{name}: there is no message, but {kept}"
            );
        }
        return;
    };
    assert_eq!(stored(&repo), seen, "{name}: what was stored");
    assert_same(
        &repo,
        &whole,
        bytes,
        &format!("{name}: an import gives the same"),
    );
    let again = import_into(&repo, &path);
    assert_eq!(again, Outcome::Unchanged, "{name}: imported again");
}

/// Recorded up to a place, and then imported or recorded whole, it is as if imported at once.
pub fn hold_when_stopped(bytes: &[u8], end: usize, name: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stream.jsonl");
    std::fs::write(&path, bytes).expect("written");
    let Some(whole) = imported(&path) else {
        return;
    };
    let known = sniff(&&bytes[..end]).expect("readable");
    if known != sniff(&bytes).expect("readable") {
        return;
    }
    for records in [false, true] {
        let repo = Repo::ephemeral().expect("a repository");
        record(&repo, &bytes[..end], 4096, false);
        let told = |bytes: &[u8]| {
            let mut stream = EventStream::of(known.expect("told")).expect("a format of events");
            stream.push(bytes);
            stream.session().is_some()
        };
        if told(&bytes[..end]) != told(bytes) {
            return;
        }
        if records {
            record(&repo, bytes, 4096, true);
        } else {
            import_into(&repo, &path);
        }
        assert_same(
            &repo,
            &whole,
            bytes,
            &format!("{name} to {end}, then {records}"),
        );
        assert_eq!(stored(&repo), stored(&whole), "{name} to {end}");
    }
}

/// Holds bytes against all of it, if they are such a stream.
pub fn hold(bytes: &[u8], care: Care) {
    let known = sniff(&bytes).expect("readable");
    if care == Care::Read || known.is_none_or(|format| format.events.is_none()) {
        return;
    }
    let mut choice = Choice::of(bytes);
    let (size, eager) = (1 + choice.below(200), choice.below(2) == 0);
    hold_recorded(bytes, size, eager, "a stream");
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).collect();
    if !ends.is_empty() {
        let end = ends[choice.below(256) % ends.len()];
        hold_when_stopped(bytes, end + 1, "a stream");
    }
}
