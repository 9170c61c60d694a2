//! What is recorded while it comes is what an import of the same bytes would store.

use proptest::prelude::*;
use proptest::sample::Index;
use tract::formats::sniff::sniff;

use crate::conditions::{laws, real_sessions};
use crate::oracles::streams::{hold_recorded, hold_when_stopped};
use crate::sandbox::Sandbox;
use crate::sessions::replay::{STREAMS, files, line, own};

#[test]
fn what_is_recorded_is_what_is_imported() {
    for path in own(&STREAMS) {
        let bytes = std::fs::read(&path).expect("readable");
        for (size, eager) in [(1 << 20, false), (50, true), (300, false)] {
            hold_recorded(&bytes, size, eager, &path.display().to_string());
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

/// A numbered event that comes again with something else in it takes the place of what it was, and here no
/// message is left. What was committed by then stays, as it does when a file is imported that has none any more.
#[test]
fn what_a_stream_takes_back_altogether_stays_as_it_was_committed() {
    let said = r#"{"type":"user_message","id":"e0","sessionId":"walk","timestamp":0,"revision":1,"sequence":7,"payload":{"text":"hi"}}"#;
    let started = r#"{"type":"turn_start","id":"e1","sessionId":"walk","timestamp":1,"revision":1,"sequence":7}"#;
    let anew = r#"{"type":"turn_start","id":"e2","sessionId":"walk","timestamp":2,"revision":2,"sequence":1}"#;
    for takes_back in [started, anew] {
        let bytes = format!("{said}\n{takes_back}\n");
        for size in [1, 200, 1 << 20] {
            hold_recorded(bytes.as_bytes(), size, true, "taken back");
        }
        let sandbox = Sandbox::new();
        sandbox.write("walk.jsonl", format!("{said}\n"));
        sandbox.ok(&["import", "walk.jsonl"]);
        let before = sandbox.ok(&["log"]);
        sandbox.write("walk.jsonl", bytes);
        sandbox.tract(&["import", "walk.jsonl"]);
        assert_eq!(sandbox.ok(&["log"]), before);
        sandbox.ok(&["fsck"]);
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
            hold_recorded(&bytes, size, eager, &name);
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
            hold_recorded(&mixed, size, eager, &path.display().to_string());
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
            hold_recorded(&bytes, size, eager, "generated");
            let ends: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
            if !ends.is_empty() {
                hold_when_stopped(&bytes, *stop.get(&ends) + 1, "generated");
            }
        }
    }
}
