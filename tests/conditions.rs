//! Under which conditions the tests run: how often a law is tried, and where real sessions lie.
//! For the crate's own tests and for `tests/it`; nothing else reads the environment of a test run.

use std::path::PathBuf;

use proptest::test_runner::{Config, FileFailurePersistence};

/// What `cargo test` tries of everything that can be tried more or less often.
const SHARE: (u32, u32) = (1, 16);

/// How much is tried: `TRACT_LAWS` is a whole number or a fraction, such as 100 or 1/4.
#[allow(dead_code)]
pub fn share() -> (u32, u32) {
    let Ok(text) = std::env::var("TRACT_LAWS") else {
        return SHARE;
    };
    let (times, part) = text.split_once('/').unwrap_or((&text, "1"));
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
    let share = number(times).zip(number(part));
    share.expect("TRACT_LAWS is a whole number or a fraction")
}

/// The configuration of a law that takes `full` cases to be trusted.
///
/// `cargo test` and `.ci/run` try a sixteenth of them, `.ci/long` all. The cases differ from run to
/// run, unless `PROPTEST_RNG_SEED` holds a number. What a law finds is kept in a file beside the law, and
/// tried first.
pub fn laws(full: u32) -> Config {
    let (times, part) = share();
    let cases = (full * times).div_ceil(part);
    Config {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("found"))),
        ..Config::default()
    }
}

/// How often something is tried whose `full` number of times takes minutes: `.ci/run` one of 32, `.ci/long`
/// all.
#[allow(dead_code)]
pub fn slowly(full: u32) -> usize {
    let (times, part) = share();
    let each = part / times;
    let each = if each > 1 { each.max(32) } else { 1 };
    (full * times.div_ceil(part)).div_ceil(each) as usize
}

/// A number that is another one in each run, unless `PROPTEST_RNG_SEED` holds one.
#[allow(dead_code)]
pub fn chance() -> u64 {
    use std::hash::BuildHasher;
    let seed = std::env::var("PROPTEST_RNG_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok());
    seed.unwrap_or_else(|| std::hash::RandomState::new().hash_one(0))
}

/// The one of two sizes of something that is right: `full` where all is tried, as by `.ci/long`, else `less`.
#[allow(dead_code)]
pub fn size(less: usize, full: usize) -> usize {
    let (times, part) = share();
    if times >= part { full } else { less }
}

/// The share that is tried of things that stand in a list: each so many, from a place on that is left to
/// chance.
#[allow(dead_code)]
pub fn sample<T>(all: Vec<T>) -> impl Iterator<Item = T> {
    let (times, part) = share();
    let each = (part / times).max(1) as usize;
    let from = (chance() % each as u64) as usize;
    // A list that is shorter than that still gives one.
    let from = from % all.len().max(1);
    all.into_iter().skip(from).step_by(each)
}

/// Whether repositories are to be on a server of the tests' own: `TRACT_TEST_ENGINE=postgres`.
pub fn on_servers() -> bool {
    std::env::var_os("TRACT_TEST_ENGINE").is_some_and(|it| it == "postgres")
}

/// The folder of real sessions. No such session is part of this project, so a test that needs them
/// is `#[ignore]`d: `TRACT_REAL_SESSIONS=FOLDER cargo test -- --ignored` runs those.
pub fn real_sessions() -> PathBuf {
    let folder = std::env::var_os("TRACT_REAL_SESSIONS");
    PathBuf::from(folder.expect("TRACT_REAL_SESSIONS names a folder of real sessions"))
}

/// What `tests/check_repository.py` says of a database: whether it is sound, the contexts of all
/// refs, the faults. None where there is no Python with zstd, which is an error under CI.
#[allow(dead_code)]
pub fn second_reader(database: &std::path::Path) -> Option<(bool, String, String)> {
    let (contexts, faults) = read_again(database, true)?;
    Some((faults.is_empty(), contexts, faults))
}

/// The faults alone, likewise.
#[allow(dead_code)]
pub fn second_faults(database: &std::path::Path) -> Option<String> {
    read_again(database, false).map(|(_, faults)| faults)
}

/// One process reads all that a test asks about: to start it takes longer than to read.
fn read_again(database: &std::path::Path, tells_contexts: bool) -> Option<(String, String)> {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Child, ChildStdout, Command, Stdio};

    static READER: std::sync::Mutex<Option<(Child, BufReader<ChildStdout>)>> =
        std::sync::Mutex::new(None);
    let mut reader = READER.lock().unwrap_or_else(|lock| lock.into_inner());
    if reader.is_none() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/check_repository.py");
        let mut python = Command::new("python3");
        python.args([script, "--each"]);
        let started = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        *reader = started.ok().map(|mut child| {
            let answers = child.stdout.take().expect("a pipe");
            (child, BufReader::new(answers))
        });
    }
    let answer = reader.as_mut().and_then(|(child, answers)| {
        let which = if tells_contexts { "contexts" } else { "faults" };
        let asked = child.stdin.as_mut().expect("a pipe");
        writeln!(asked, "{which} {}", database.display()).ok()?;
        let mut line = String::new();
        answers.read_line(&mut line).ok()?;
        let answer: Option<(String, String)> = match line.as_str() {
            "" => None,
            line => Some(serde_json::from_str(line).expect("an answer")),
        };
        answer
    });
    if answer.is_none() {
        *reader = None;
        assert!(std::env::var_os("CI").is_none(), "no Python with zstd");
        eprintln!("no Python with zstd: the second reader was skipped");
    }
    answer
}
