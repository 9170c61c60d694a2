//! What is recorded while it comes is what an import of the same bytes would store.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use tract::hash::CommitHash;
use tract::history::{On, Repo};
use tract::ingest::{Due, ImportRequest, Outcome, RecordRequest, Recorder, import, tree_of_file};
use tract::interop::{EventStream, sniff::sniff};
use tract::model::Millis;
use tract::tree::json;

use crate::conditions::{laws, real_sessions};
use crate::replaying::{STREAMS, files, imported, line, live, own, stored};

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

/// Whether an event comes after one that its number puts behind it.
fn comes_out_of_order(bytes: &[u8]) -> bool {
    let lines = bytes.split(|byte| *byte == b'\n');
    let numbers = lines.filter_map(|line| {
        let event: serde_json::Value = serde_json::from_slice(line).ok()?;
        Some((event["revision"].as_u64()?, event["sequence"].as_u64()?))
    });
    !numbers.is_sorted()
}

/// The same commits; of events that come out of order at least the same messages, for what had been
/// committed when an earlier one came keeps its time.
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

fn hold_the_law(bytes: &[u8], size: usize, eager: bool, name: &str) {
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
        assert_eq!(tip(&repo), None, "{name}: there is no message");
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
fn hold_when_stopped(bytes: &[u8], end: usize, name: &str) {
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
        match records {
            true => {
                record(&repo, bytes, 4096, true);
            }
            false => {
                import_into(&repo, &path);
            }
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

#[test]
fn what_is_recorded_is_what_is_imported() {
    for path in own(&STREAMS) {
        let bytes = std::fs::read(&path).expect("readable");
        for (size, eager) in [(1 << 20, false), (50, true), (300, false)] {
            hold_the_law(&bytes, size, eager, &path.display().to_string());
        }
    }
}

#[test]
fn a_recording_that_was_stopped_goes_on_with_the_whole_stream() {
    for path in own(&STREAMS) {
        let bytes = std::fs::read(&path).expect("readable");
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
        for end in ends.iter().step_by(1 + ends.len() / 12) {
            hold_when_stopped(&bytes, end + 1, &path.display().to_string());
        }
    }
}

#[test]
#[ignore = "reads the real streams beside TRACT_REAL_SESSIONS"]
fn real_streams_are_recorded_as_they_are_imported() {
    let real = files(&real_sessions().join("../streams"));
    assert!(!real.is_empty());
    for path in real {
        let bytes = std::fs::read(&path).expect("readable");
        let name = path.display().to_string();
        for (size, eager) in [(1, true), (1000, false), (1 << 20, false)] {
            hold_the_law(&bytes, size, eager, &name);
        }
        for end in memchr::memchr_iter(b'\n', &bytes) {
            hold_when_stopped(&bytes, end + 1, &name);
        }
    }
}

proptest! {
    #![proptest_config(laws(32))]

    /// Of any lines of a stream, in any order, some of them twice, in any reads.
    #[test]
    fn any_stream_is_recorded_as_it_is_imported(
        which in any::<Index>(),
        lines in proptest::collection::vec(any::<Index>(), 1..30),
        size in 1..400_usize,
        eager in any::<bool>(),
    ) {
        let paths = own(&STREAMS);
        let path = which.get(&paths);
        let bytes = std::fs::read(path).expect("readable");
        let records: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let mixed: Vec<u8> = lines.iter().flat_map(|line| line.get(&records).to_vec()).collect();
        if matches!(sniff(&mixed.as_slice()), Ok(Some(format)) if format.events.is_some()) {
            hold_the_law(&mixed, size, eager, &path.display().to_string());
        }
    }

    /// Of any stream at all, cut anywhere.
    #[test]
    fn any_generated_stream_is_recorded_as_it_is_imported(
        lines in (1..20_usize).prop_flat_map(|count| (0..count).map(line).collect::<Vec<_>>()),
        size in 1..200_usize,
        cut in 0..30_usize,
        eager in any::<bool>(),
        stop in any::<Index>(),
    ) {
        let mut bytes = lines.join("\n").into_bytes();
        bytes.truncate(bytes.len().saturating_sub(cut).max(1));
        if matches!(sniff(&bytes.as_slice()), Ok(Some(format)) if format.events.is_some()) {
            hold_the_law(&bytes, size, eager, "generated");
            let ends: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
            if !ends.is_empty() {
                hold_when_stopped(&bytes, *stop.get(&ends) + 1, "generated");
            }
        }
    }
}
