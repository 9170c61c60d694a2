//! Under which conditions the tests run: how often a law is tried, and where real sessions lie.
//! For the crate's own tests and for `tests/it`; nothing else reads the environment of a test run.

use std::path::PathBuf;

use proptest::test_runner::{Config, FileFailurePersistence};

/// The configuration of a law that takes `full` cases to be trusted.
///
/// `cargo test` tries a quarter of them; where `TRACT_LAWS` holds a number, as in `.ci/run`, it
/// is that many times `full`. What a law finds is kept in a file beside the law, and tried first.
pub fn laws(full: u32) -> Config {
    let cases = match std::env::var("TRACT_LAWS") {
        Ok(times) => full * times.parse::<u32>().expect("TRACT_LAWS is a whole number"),
        Err(_) => full.div_ceil(4),
    };
    Config {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("found"))),
        ..Config::default()
    }
}

/// The folder of real sessions. No such session is part of this project, so a test that needs them
/// is `#[ignore]`d: `TRACT_REAL_SESSIONS=FOLDER cargo test -- --ignored` runs those.
pub fn real_sessions() -> PathBuf {
    let folder = std::env::var_os("TRACT_REAL_SESSIONS");
    PathBuf::from(folder.expect("TRACT_REAL_SESSIONS names a folder of real sessions"))
}
