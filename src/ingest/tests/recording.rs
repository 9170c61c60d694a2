//! Streams that are recorded message by message, each read once: what that brings in is what an import of all of
//! it at each message would, and a message costs the same however long the stream is.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use proptest::sample::Index;

use crate::formats::LOOKED_AT;
use crate::formats::sniff::sniff;
use crate::ingest::import::GROWN;
use crate::ingest::record::{READS_ALL, TAKEN_BYTES};
use crate::ingest::tests::growing::kept;
use crate::ingest::{Due, ImportReport, RecordRequest, Recorder};
use crate::model::Millis;
use crate::repo::{Repo, load};

/// The project's own streams.
fn streams() -> Vec<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let folders = [
        "event-log",
        "claude-stream",
        "codex-exec",
        "anthropic-stream",
        "openai-stream",
        "responses-stream",
    ];
    let files = folders.iter().flat_map(|folder| {
        let files = std::fs::read_dir(data.join(folder)).expect("a folder");
        files.map(|file| file.expect("a file").path())
    });
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

fn recorder<'a>(repo: &'a Repo, bytes: &[u8]) -> Recorder<'a> {
    let request = RecordRequest {
        format: sniff(&bytes).expect("readable").expect("a known format"),
        stem: Some("stream"),
        branch: None,
        moves_head: true,
        what: "record",
    };
    Recorder::new(repo, request).expect("a format of events")
}

/// What a report says of its sessions.
fn said(report: Option<&ImportReport>) -> impl PartialEq + std::fmt::Debug {
    let sessions = report.into_iter().flat_map(|report| &report.sessions);
    let said = sessions.map(|it| (it.messages, it.tip, it.hides.clone(), it.end.clone()));
    said.collect::<Vec<_>>()
}

/// Records a stream that comes in reads of this size twice: with all of it read at each commit, and with what has
/// come alone. Gives how often the latter was enough.
fn both_ways(bytes: &[u8], size: usize, eager: bool) -> Result<u64, TestCaseError> {
    let repos = [
        Repo::ephemeral().expect("a repository"),
        Repo::ephemeral().expect("a repository"),
    ];
    let [mut whole, mut trailed] = [recorder(&repos[0], bytes), recorder(&repos[1], bytes)];
    let least = if eager { Due::Idle } else { Due::Now };
    let before = GROWN.get();
    let hold = |whole: &Recorder<'_>, trailed: &Recorder<'_>| {
        prop_assert_eq!(kept(&repos[1]), kept(&repos[0]));
        prop_assert_eq!(said(trailed.report()), said(whole.report()));
        repos[1].second_reading()?;
        prop_assert_eq!(trailed.new_commits(), whole.new_commits());
        Ok(())
    };
    for read in bytes.chunks(size.max(1)) {
        whole.push(read).expect("its lines end");
        trailed.push(read).expect("its lines end");
        if whole.due() >= least {
            READS_ALL.set(true);
            whole.commit(Millis(0)).expect("committed");
            READS_ALL.set(false);
            trailed.commit(Millis(0)).expect("committed");
            hold(&whole, &trailed)?;
        }
    }
    READS_ALL.set(true);
    whole.finish(Millis(0)).expect("finished");
    READS_ALL.set(false);
    trailed.finish(Millis(0)).expect("finished");
    hold(&whole, &trailed)?;
    Ok(GROWN.get() - before)
}

#[test]
fn each_message_of_a_stream_is_recorded_as_an_import_of_all_of_it_would_have_it() {
    for path in streams() {
        let bytes = std::fs::read(&path).expect("readable");
        for (size, eager) in [(1, true), (50, false), (300, true)] {
            let gone_on = both_ways(&bytes, size, eager);
            let gone_on = gone_on.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if path.ends_with("claude-stream/tools.jsonl") {
                assert!(gone_on > 0, "its end tells what is new");
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::conditions::laws(48))]

    /// Of any lines of a stream, in any order, some of them twice, in any reads.
    #[test]
    fn each_message_of_any_stream_is_recorded_as_an_import_of_all_of_it_would_have_it(
        which in any::<Index>(),
        lines in prop::collection::vec(any::<Index>(), 1..40),
        size in 1..400_usize,
        eager in any::<bool>(),
    ) {
        let paths = streams();
        let bytes = std::fs::read(which.get(&paths)).expect("readable");
        let records: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let mixed: Vec<u8> = lines.iter().flat_map(|line| line.get(&records).to_vec()).collect();
        let known = sniff(&mixed.as_slice()).expect("readable");
        if known.is_some_and(|format| format.events.is_some()) {
            both_ways(&mixed, size, eager)?;
        }
    }
}

proptest! {
    #![proptest_config(crate::conditions::laws(64))]

    /// Two processes go on with one session at once, each with a stream of its own.
    #[test]
    fn of_two_recordings_of_one_session_neither_loses_what_the_other_kept(
        counts in prop::collection::vec(1..4_usize, 2),
        turns in prop::collection::vec(any::<bool>(), 0..60),
    ) {
        let repo = Repo::ephemeral().expect("a repository");
        let second = rounds(0, 0).replace("begin", "again") + &rounds(counts[0], counts[1]);
        let streams = [rounds(0, counts[0]), second];
        let mut ways = streams.each_ref().map(|bytes| (recorder(&repo, bytes.as_bytes()), bytes.lines()));
        let mut tips = Vec::new();
        let rest = [false, true].into_iter().flat_map(|turn| std::iter::repeat_n(turn, 60));
        for turn in turns.into_iter().chain(rest) {
            let (recorder, lines) = &mut ways[usize::from(turn)];
            let Some(line) = lines.next() else { continue };
            recorder.push(format!("{line}\n").as_bytes()).expect("its line ends");
            if recorder.due() >= Due::Idle {
                recorder.commit(Millis(0)).expect("committed");
            }
            let sessions = recorder.report().into_iter().flat_map(|it| &it.sessions);
            tips.extend(sessions.filter_map(|session| session.tip));
        }
        for (mut recorder, _) in ways {
            recorder.finish(Millis(0)).expect("finished");
        }
        let view = repo.store.read().expect("a view");
        let ends = load::tips(&*view, "").expect("they are read");
        for tip in tips {
            let is_kept = ends.iter().any(|(_, end)| view.is_ancestor(&tip, end).expect("it is read"));
            prop_assert!(is_kept, "{tip} is on no path");
        }
    }
}

/// So many rounds of a stream, from one on: a call, its result, and what the model says of it; now and then somebody speaks.
fn rounds(from: usize, count: usize) -> String {
    let mut lines = String::new();
    if from == 0 {
        lines += "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/w\",\"session_id\":\"s\",\"uuid\":\"begin\"}\n";
    }
    for at in from..from + count {
        let line = |kind: &str, what: &str, id: &str, content: &str| {
            format!(
                "{{\"type\":\"{kind}\",\"message\":{{\"role\":\"{kind}\",\"id\":\"{id}-{at}\",\"content\":[{content}]}},\
                 \"parent_tool_use_id\":null,\"session_id\":\"s\",\"uuid\":\"{what}-{at}\"}}\n"
            )
        };
        let call = format!(
            "{{\"type\":\"tool_use\",\"id\":\"call-{at}\",\"name\":\"Bash\",\"input\":{{\"command\":\"ls {at}\"}}}}"
        );
        let result = format!(
            "{{\"type\":\"tool_result\",\"tool_use_id\":\"call-{at}\",\"content\":\"file {at}\"}}"
        );
        let text = format!("{{\"type\":\"text\",\"text\":\"There is file {at}.\"}}");
        if at % 5 == 0 {
            lines += &line(
                "user",
                "prompt",
                "zero",
                "{\"type\":\"text\",\"text\":\"Go on.\"}",
            );
        }
        lines += &line("assistant", "call", "one", &call);
        lines += &line("user", "result", "two", &result);
        lines += &line("assistant", "text", "three", &text);
    }
    lines
}

#[test]
fn a_message_of_a_long_stream_costs_as_much_as_one_of_a_short_stream() {
    let cost = |count: usize| {
        let (repo, steps) = Repo::counted();
        let begun = rounds(0, count);
        let mut recorder = recorder(&repo, begun.as_bytes());
        recorder.push(begun.as_bytes()).expect("its lines end");
        recorder.commit(Millis(0)).expect("committed");
        let (first, taken) = (steps.load(Ordering::Relaxed), TAKEN_BYTES.get());
        let (gone_on, looked_at) = (GROWN.get(), LOOKED_AT.get());
        let more = rounds(count, 20);
        let mut commits = 0;
        for line in more.split_inclusive('\n') {
            recorder.push(line.as_bytes()).expect("its line ends");
            if recorder.due() >= Due::Idle {
                recorder.commit(Millis(1)).expect("committed");
                commits += 1;
            }
        }
        assert!(commits >= 40, "{commits} commits");
        assert_eq!(
            GROWN.get() - gone_on,
            commits,
            "none of them read the whole"
        );
        let taken = (TAKEN_BYTES.get() - taken) / more.len() as u64;
        let looked_at = LOOKED_AT.get() - looked_at;
        (steps.load(Ordering::Relaxed) - first, taken, looked_at)
    };
    let ((short, few, seen), (long, many, seen_late)) = (cost(30), cost(1_500));
    assert!(long < short + short / 4, "{short} and {long} steps");
    assert!(
        few < 8 && many <= few,
        "bytes are taken {few} and {many} times"
    );
    assert!(
        seen > 0 && seen_late <= seen,
        "items are looked at {seen} and {seen_late} times"
    );
}
