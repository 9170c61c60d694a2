//! Files that grow while they are followed: what comes in bit by bit, with nothing read again but a little of the
//! end, is what would come in of the whole.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use proptest::prelude::*;

use crate::ingest::import::GROWN;
use crate::ingest::plain::READ_BYTES;
use crate::ingest::{ImportRequest, Reading, import, known_stamp, stamp};
use crate::model::tokens::{Counter, context_total};
use crate::model::{Encoding, Millis, RefName};
use crate::query::LogOptions;
use crate::repo::{Call, On, Repo};
use crate::store::SessionRow;

fn bring_in(repo: &Repo, path: &Path, reading: Reading) {
    let request = ImportRequest {
        reading,
        ..ImportRequest::at(Millis(7), "watch")
    };
    import(repo, path, &request, &mut |_| {}).expect("imports");
}

/// All that a repository has of sessions: refs, rows, kept bytes, records.
pub(super) fn kept(repo: &Repo) -> impl PartialEq + std::fmt::Debug {
    let view = repo.store.read().expect("a view");
    let refs = repo.references("refs/").expect("refs");
    let rows: Vec<(RefName, SessionRow)> = view.sessions().expect("rows");
    let sources: Vec<_> = view.all_sources().expect("sources");
    let mut records = Vec::new();
    for (_, tip) in crate::repo::load::tips(&*view, "refs/sessions/").expect("tips") {
        let rows = view.ancestors(&tip, None, usize::MAX).expect("a path");
        let hashes: Vec<_> = rows.iter().map(|row| row.hash).collect();
        records.push(view.records(&hashes).expect("records"));
    }
    (refs, rows, sources, records)
}

/// Brings a file in twice, each time as long as it is at one of these lengths: read whole in one repository, gone
/// on with in the other. Gives how often it was gone on with.
fn both_ways(name: &str, bytes: &[u8], cuts: &[usize]) -> Result<u64, TestCaseError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    let (whole, grown) = (
        Repo::ephemeral().expect("a repository"),
        Repo::ephemeral().expect("a repository"),
    );
    let before = GROWN.get();
    for cut in cuts {
        std::fs::write(&path, &bytes[..*cut]).expect("written");
        bring_in(&whole, &path, Reading::Whole);
        bring_in(&grown, &path, Reading::New);
        prop_assert_eq!(kept(&grown), kept(&whole), "at {} of {:?}", cut, cuts);
    }
    grown.second_reading()?;
    Ok(GROWN.get() - before)
}

/// A record of a session of Claude Code's.
fn record(id: &str, parent: &str, kind: &str, text: &str, at: u32) -> String {
    let parent = match parent {
        "" => "null".to_owned(),
        parent => format!("\"{parent}\""),
    };
    format!(
        "{{\"type\":\"{kind}\",\"uuid\":\"{id}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"cwd\":\"/w\",\
             \"timestamp\":\"2026-03-14T12:00:{at:02}.000Z\",\"message\":{{\"role\":\"{kind}\",\"content\":\"{text}\"}}}}\n"
    )
}

#[test]
fn a_prompt_that_is_said_again_after_a_rewind_is_a_message_of_its_own() {
    let lines = [
        record("u1", "", "user", "hello", 1),
        record("a1", "u1", "assistant", "hi", 2),
        record("u2", "a1", "user", "do it", 3),
        record("a2", "u2", "assistant", "done", 4),
        // Back to before the second prompt, which is said again.
        record("u3", "a1", "user", "do it", 5),
        record("a3", "u3", "assistant", "done once more", 6),
        // And before the first.
        record("u4", "", "user", "hello", 7),
        record("a4", "u4", "assistant", "hi", 8),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let sessions = |repo: &Repo| repo.references("refs/sessions/").expect("refs");
    for end in 1..=lines.len() {
        let fresh = Repo::ephemeral().expect("a repository");
        std::fs::write(&path, lines[..end].concat()).expect("written");
        bring_in(&fresh, &path, Reading::Whole);
        for cut in 1..end {
            let grown = Repo::ephemeral().expect("a repository");
            for lines in [&lines[..cut], &lines[..end]] {
                std::fs::write(&path, lines.concat()).expect("written");
                bring_in(&grown, &path, Reading::New);
            }
            let (found, wanted) = (sessions(&grown), sessions(&fresh));
            assert_eq!(found, wanted, "{cut} of {end} lines, then all of them");
        }
    }
}

#[test]
fn a_fork_that_says_the_same_as_its_parent_did_says_it_itself() {
    let begin = record("u1", "", "user", "hello", 1) + &record("a1", "u1", "assistant", "hi", 2);
    let asks = |id: &str, at| record(id, "a1", "user", "do it", at);
    let parent = begin.clone() + &asks("u2", 3) + &record("a2", "u2", "assistant", "done", 4);
    let fork = begin + &asks("u3", 9) + &record("a3", "u3", "assistant", "otherwise", 10);
    let fork = fork.replace("\"sessionId\":\"s\"", "\"sessionId\":\"t\"");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let (parent, fork) = (write("s.jsonl", &parent), write("t.jsonl", &fork));
    let (beside, alone) = (Repo::ephemeral(), Repo::ephemeral());
    let (beside, alone) = (beside.expect("a repository"), alone.expect("a repository"));
    bring_in(&beside, &parent, Reading::Whole);
    for repo in [&beside, &alone] {
        bring_in(repo, &fork, Reading::Whole);
    }
    let refs = |repo: &Repo| {
        repo.references("refs/sessions/claude-code/t")
            .expect("refs")
    };
    assert_eq!(refs(&beside), refs(&alone));
}

fn fixtures(format: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(format);
    let files = std::fs::read_dir(folder).expect("fixtures");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("one").path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    files
}

#[test]
fn fixtures_come_in_line_by_line_as_they_come_in_whole() {
    for format in ["claude-code", "codex"] {
        let mut gone_on = 0;
        for file in fixtures(format) {
            let bytes = std::fs::read(&file).expect("read");
            // In the middle of every line, and at its end.
            let ends: Vec<usize> = memchr::memchr_iter(b'\n', &bytes)
                .map(|end| end + 1)
                .collect();
            let middles = ends.windows(2).map(|pair| (pair[0] + pair[1]) / 2);
            let mut cuts: Vec<usize> = ends.iter().copied().chain(middles).collect();
            cuts.sort_unstable();
            // A first line alone is not always enough to know the format by.
            cuts.retain(|cut| *cut > ends[1.min(ends.len() - 1)]);
            cuts.push(bytes.len());
            let name = file.file_name().expect("a name").to_string_lossy();
            let done = both_ways(&name, &bytes, &cuts);
            gone_on += done.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        assert!(gone_on > 10, "{format}: {gone_on}");
    }
}

/// A session of Claude Code's while it is written.
#[derive(Default)]
struct Claude {
    text: String,
    uuids: Vec<String>,
    /// What the next record follows.
    last: Option<String>,
}

impl Claude {
    fn put(&mut self, kind: &str, rest: &str) {
        let number = self.uuids.len();
        let uuid = format!("\"{number:08x}-0000-4000-8000-000000000000\"");
        let last = self.last.as_deref().unwrap_or("null");
        let (minute, second) = (number / 60 % 60, number % 60);
        self.text.push_str(&format!(
            "{{\"parentUuid\":{last},\"isSidechain\":false,\"sessionId\":\"s\",\"cwd\":\"/w\",\
             \"type\":\"{kind}\",\"uuid\":{uuid},\
             \"timestamp\":\"2026-03-01T10:{minute:02}:{second:02}.000Z\",{rest}}}\n"
        ));
        self.last = Some(uuid.clone());
        self.uuids.push(uuid);
    }

    fn line(&mut self, kind: &str, rest: &str) {
        self.text
            .push_str(&format!("{{\"type\":\"{kind}\",{rest}}}\n"));
    }
}

/// A session of Claude Code's: each step a record or some, by a number.
fn claude(steps: &[(u8, u8)]) -> String {
    let mut claude = Claude::default();
    let mut open: Vec<String> = Vec::new();
    for (step, choice) in steps {
        let id = claude.text.len();
        let model = ["a", "a", "a", "b"][usize::from(choice % 4)];
        let said = |block: &str| {
            format!(
                "\"message\":{{\"id\":\"m{id}\",\"role\":\"assistant\",\"model\":\"{model}\",\
                 \"content\":[{block}]}}"
            )
        };
        let answered = |call: &str| {
            format!(
                "\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\
                 \"tool_use_id\":\"{call}\",\"content\":\"ok\"}}]}}"
            )
        };
        let called = |call: &str| {
            said(&format!(
                "{{\"type\":\"tool_use\",\"id\":\"{call}\",\"name\":\"f\",\"input\":{{}}}}"
            ))
        };
        let user =
            |words: &str| format!("\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}");
        let any = |among: &[String]| {
            among
                .get(usize::from(*choice) % among.len().max(1))
                .cloned()
        };
        match step {
            0..4 => claude.put("user", &user(&format!("say {choice}"))),
            4..8 => claude.put("assistant", &said("{\"type\":\"text\",\"text\":\"said\"}")),
            8..10 => {
                let (one, two) = (format!("c{id}"), format!("d{id}"));
                claude.put("assistant", &called(&one));
                if choice % 2 == 0 {
                    claude.put("user", &answered(&one));
                    claude.put("assistant", &called(&two));
                } else {
                    claude.put("assistant", &called(&two));
                    claude.put("user", &answered(&one));
                }
                claude.put("user", &answered(&two));
            }
            10 => {
                let call = format!("c{id}");
                claude.put("assistant", &called(&call));
                open.push(call);
            }
            11 if !open.is_empty() => {
                let call = open.remove(usize::from(*choice) % open.len());
                claude.put("user", &answered(&call));
            }
            12 => claude.put("system", "\"subtype\":\"info\",\"content\":\"x\""),
            13 => claude.put(
                "attachment",
                "\"attachment\":{\"type\":\"critical_system_reminder\",\"content\":\"x\"}",
            ),
            14 => claude.last = any(&claude.uuids),
            15 if *choice < 60 => {
                claude.last = None;
                claude.put(
                    "system",
                    "\"subtype\":\"compact_boundary\",\"content\":\"\"",
                );
                let summary = format!("\"isCompactSummary\":true,{}", user("sum"));
                claude.put("user", &summary);
            }
            16 if *choice < 60 => claude.text.push_str("{\"broken\n"),
            17 => match choice % 2 {
                0 => claude.line(
                    "custom-title",
                    &format!("\"customTitle\":\"t{}\"", choice % 3),
                ),
                _ => claude.line("ai-title", &format!("\"aiTitle\":\"t{}\"", choice % 3)),
            },
            18 => {
                if let Some(leaf) = any(&claude.uuids) {
                    claude.line("last-prompt", &format!("\"leafUuid\":{leaf}"));
                }
            }
            19 => {
                let what = ["enqueue", "dequeue", "remove"][usize::from(choice % 3)];
                let rest = format!("\"operation\":\"{what}\",\"content\":\"q\"");
                claude.line("queue-operation", &rest);
            }
            _ => {}
        }
    }
    claude.text
}

/// A rollout of Codex's.
fn codex(steps: &[(u8, u8)]) -> String {
    let mut text = String::new();
    let mut put = |kind: &str, payload: String| {
        let at = text.len() / 100;
        let (minute, second) = (at / 60 % 60, at % 60);
        text.push_str(&format!(
            "{{\"timestamp\":\"2026-03-01T10:{minute:02}:{second:02}.000Z\",\"type\":\"{kind}\",\
             \"payload\":{{{payload}}}}}\n"
        ));
        text.len()
    };
    let mut id = put(
        "session_meta",
        "\"id\":\"11111111-1111-7111-8111-111111111111\",\"cwd\":\"/w\",\
         \"base_instructions\":{\"text\":\"Be brief.\"}"
            .into(),
    );
    let said = |role: &str, kind: &str, words: u8| {
        format!(
            "\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}_text\",\
                 \"text\":\"words {words}\"}}]"
        )
    };
    let mut open: Vec<usize> = Vec::new();
    for (step, choice) in steps {
        let model = ["a", "a", "a", "b"][usize::from(choice % 4)];
        id = match step {
            0..3 => put("response_item", said("user", "input", *choice)),
            3..7 => put("response_item", said("assistant", "output", *choice)),
            7 => put(
                "turn_context",
                format!("\"cwd\":\"/w\",\"model\":\"{model}\",\"effort\":\"low\""),
            ),
            8..11 => {
                open.push(id);
                let call = format!(
                    "\"type\":\"function_call\",\"name\":\"f\",\"arguments\":\"{{}}\",\
                                    \"call_id\":\"c{id}\""
                );
                put("response_item", call)
            }
            11..14 if !open.is_empty() => {
                let call = open.remove(0);
                let output = format!(
                    "\"type\":\"function_call_output\",\"call_id\":\"c{call}\",\
                                      \"output\":\"ok\""
                );
                put("response_item", output)
            }
            14 => put(
                "event_msg",
                format!(
                    "\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{{\"input_tokens\":\
                         {choice},\"output_tokens\":1,\"total_tokens\":{choice}}},\"last_token_usage\":\
                         {{\"input_tokens\":{choice},\"output_tokens\":1,\"total_tokens\":1}}}}"
                ),
            ),
            15 => put(
                "event_msg",
                "\"type\":\"task_started\",\"turn_id\":\"t\"".into(),
            ),
            16 if *choice < 40 => put(
                "event_msg",
                "\"type\":\"thread_rolled_back\",\"num_turns\":1".into(),
            ),
            17 if *choice < 40 => put(
                "compacted",
                format!(
                    "\"message\":\"\",\"replacement_history\":[{{{}}}]",
                    said("user", "input", 9)
                ),
            ),
            18 => put(
                "event_msg",
                format!(
                    "\"type\":\"thread_name_updated\",\"thread_name\":\"n{}\"",
                    choice % 2
                ),
            ),
            19 if *choice < 40 => put(
                "session_meta",
                "\"id\":\"11111111-1111-7111-8111-111111111111\",\"cwd\":\"/w\"".into(),
            ),
            _ => id,
        };
    }
    text
}

proptest! {
    #![proptest_config(crate::conditions::laws(96))]

    #[test]
    fn what_comes_in_bit_by_bit_is_what_comes_in_whole(
        steps in prop::collection::vec((0..24_u8, any::<u8>()), 12..70),
        cuts in prop::collection::vec(0.0..1.0_f64, 1..6),
        is_codex in any::<bool>(),
    ) {
        let text = if is_codex { codex(&steps) } else { claude(&steps) };
        let first = memchr::memchr_iter(b'\n', text.as_bytes()).nth(1);
        let Some(first) = first else { return Ok(()) };
        let rest = (text.len() - first - 1) as f64;
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| first + 1 + (cut * rest) as usize).collect();
        cuts.push(text.len());
        cuts.sort_unstable();
        both_ways("s.jsonl", text.as_bytes(), &cuts)?;
    }
}

/// A long session without anything odd, with some settings at its beginning.
fn long(is_codex: bool, messages: usize) -> String {
    let steps: Vec<(u8, u8)> = (0..messages)
        .map(|at| match at % 12 {
            0 => (0, 0),
            1 if is_codex => (7, 0),
            2 => (8, 0),
            3 => (if is_codex { 11 } else { 12 }, 0),
            _ => (4, 0),
        })
        .collect();
    if is_codex {
        codex(&steps)
    } else {
        claude(&steps)
    }
}

#[test]
fn an_append_reads_what_is_new() {
    for is_codex in [false, true] {
        let text = long(is_codex, 20_000);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        let repo = Repo::ephemeral().expect("a repository");
        let cut = memchr::memrchr(b'\n', &text.as_bytes()[..text.len() / 2]).expect("a line") + 1;
        std::fs::write(&path, &text[..cut]).expect("written");
        bring_in(&repo, &path, Reading::New);
        assert_eq!(known_stamp(&repo, &path).expect("looks"), stamp(&path).ok());
        let mut at = cut;
        // What is read of what was there does not grow with it.
        const LOOKED_AT: u64 = 640 << 10;
        for part in [0_usize, 300, 5_000, 100_000, usize::MAX] {
            let to = at.saturating_add(part).min(text.len());
            let mut file = OpenOptions::new().append(true).open(&path).expect("opens");
            file.write_all(&text.as_bytes()[at..to]).expect("written");
            let (read, grown) = (READ_BYTES.get(), GROWN.get());
            bring_in(&repo, &path, Reading::New);
            let read = READ_BYTES.get() - read;
            assert_eq!(GROWN.get() - grown, 1, "{part} of {is_codex}");
            // At most twice for its messages, once for its hash, and once for what is kept.
            let most = 4 * (to - at) as u64 + LOOKED_AT;
            assert!(read <= most, "{read} bytes for {} of {}", to - at, to);
            at = to;
        }
        let whole = Repo::ephemeral().expect("a repository");
        bring_in(&whole, &path, Reading::Whole);
        let refs = |repo: &Repo| repo.references("refs/").expect("refs");
        assert_eq!(refs(&repo), refs(&whole));
    }
}

#[test]
fn what_comes_in_by_itself_costs_as_much_among_many_sessions_as_among_few() {
    let text = long(false, 40);
    let cut = memchr::memrchr(b'\n', &text.as_bytes()[..text.len() / 2]).expect("a line") + 1;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let steps = |branches: usize| {
        let (repo, steps) = Repo::counted();
        std::fs::write(&path, &text[..cut]).expect("written");
        bring_in(&repo, &path, Reading::New);
        for at in 0..branches {
            let name = RefName::branch(&format!("other-{at}")).expect("a name");
            let made = repo.create_branch(Call::at(Millis(8), "branch"), &name, "HEAD");
            made.expect("made");
        }
        std::fs::write(&path, &text).expect("written");
        let before = steps.load(Ordering::Relaxed);
        let request = ImportRequest {
            reading: Reading::New,
            is_aside: true,
            ..ImportRequest::at(Millis(9), "watch")
        };
        import(&repo, &path, &request, &mut |_| {}).expect("imports");
        let grown = steps.load(Ordering::Relaxed);
        // What it was before is nothing new.
        std::fs::write(&path, &text[..cut]).expect("written");
        import(&repo, &path, &request, &mut |_| {}).expect("imports");
        let looked = steps.load(Ordering::Relaxed);
        let whole = ImportRequest::at(Millis(9), "import");
        import(&repo, &path, &whole, &mut |_| {}).expect("imports");
        let read = steps.load(Ordering::Relaxed);
        [grown - before, looked - grown, read - looked]
    };
    let (few, many) = (steps(20), steps(1_000));
    for (few, many) in few.into_iter().zip(many) {
        assert!(many < few + few / 5, "{few} and {many} steps");
    }
}

#[test]
fn what_comes_in_by_itself_costs_as_much_at_the_end_of_a_long_session_as_of_a_short_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let steps = |rounds: usize| {
        let (repo, steps) = Repo::counted();
        let lines = long(false, rounds);
        let before_last = memchr::memrchr(b'\n', &lines.as_bytes()[..lines.len() - 1]);
        let cut = before_last.expect("a line") + 1;
        std::fs::write(&path, &lines[..cut]).expect("written");
        bring_in(&repo, &path, Reading::New);
        std::fs::write(&path, &lines).expect("written");
        let (before, grown) = (steps.load(Ordering::Relaxed), GROWN.get());
        bring_in(&repo, &path, Reading::New);
        assert_eq!(GROWN.get(), grown + 1);
        steps.load(Ordering::Relaxed) - before
    };
    // Of two blocks all is read, for their beginning, their middle and their end are looked at; of more, of three.
    let (short, long) = (steps(4_000), steps(16_000));
    assert!(long < short * 2, "{short} and {long} steps");
}

/// What comes in counted leaves totals: the first list of it is read as later ones are.
#[test]
fn a_look_after_an_import_costs_what_it_costs_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let (repo, steps) = Repo::counted();
    let lines = long(false, 2_000);
    let half = memchr::memrchr(b'\n', &lines.as_bytes()[..lines.len() / 2]).expect("a line") + 1;
    for len in [half, lines.len()] {
        std::fs::write(&path, &lines[..len]).expect("written");
        let request = ImportRequest {
            reading: Reading::New,
            counter: Some(Counter::of(Encoding::default())),
            ..ImportRequest::at(Millis(7), "import")
        };
        import(&repo, &path, &request, &mut |_| {}).expect("imports");
        let tip = repo.resolve(&On::Head, "HEAD").expect("a tip");
        let look = || {
            let before = steps.load(Ordering::Relaxed);
            let options = LogOptions {
                limit: 20,
                ..LogOptions::default()
            };
            let rows = repo.log(&tip, &options).expect("listed");
            (rows[0].running, steps.load(Ordering::Relaxed) - before)
        };
        let ((tokens, first), (again, later)) = (look(), look());
        assert!(first <= later + later / 4, "{first} and then {later} steps");
        assert_eq!(tokens, again);
        let context = repo.context(&tip).expect("a context");
        let counts = repo.counts(&context, Encoding::default()).expect("counted");
        assert_eq!(tokens, context_total(counts));
        let found = repo.fsck(true, &mut |_| Ok(())).expect("checked");
        assert!(!found.is_damaged(), "{found:?}");
    }
}

#[test]
fn what_was_changed_where_nobody_looks_is_found_by_who_reads_all() {
    let text = long(false, 4_000);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let repo = Repo::ephemeral().expect("a repository");
    std::fs::write(&path, &text).expect("written");
    bring_in(&repo, &path, Reading::New);
    let other = format!("{}{}", text.replacen("say 0", "SAY 0", 3), long(false, 1));
    std::fs::write(&path, other).expect("written");
    // Its first bytes are others.
    let grown = GROWN.get();
    bring_in(&repo, &path, Reading::New);
    assert_eq!(GROWN.get(), grown);
    let names = |repo: &Repo| repo.references("refs/sessions/").expect("refs").len();
    assert_eq!(names(&repo), 2, "what was here stays");

    let at = text.len() / 3;
    let place = at + text[at..].find("say 0").expect("said");
    let mut other = text.clone();
    other.replace_range(place..place + 3, "SAY");
    other.push_str("{\"type\":\"last-prompt\"}\n");
    std::fs::write(&path, &text).expect("written");
    bring_in(&repo, &path, Reading::Whole);
    std::fs::write(&path, &other).expect("written");
    bring_in(&repo, &path, Reading::New);
    bring_in(&repo, &path, Reading::Whole);
    assert_eq!(names(&repo), 3, "and what it became is here too");
}
