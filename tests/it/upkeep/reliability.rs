//! Kills, failing disks, lost power, many writers at once and random histories, in a short run of
//! `tests/reliability/run.py`; its long run is in `docs/reliability.md`.

use std::process::{Command, Output};

use crate::conditions;

fn run(arguments: &[&str]) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reliability/run.py");
    let mut python = Command::new("python3");
    python.args([script, "--tract", env!("CARGO_BIN_EXE_tract")]);
    let share = conditions::share();
    python.args(["--share", &format!("{}/{}", share.0, share.1)]);
    python.args(["--seed", &(conditions::chance() % 1_000_000).to_string()]);
    python.args(arguments).output().expect("Python runs")
}

/// Whether it was run at all, which only Linux with a C compiler and zstd can.
fn was_run(output: &Output) -> bool {
    let skipped = output.status.code() == Some(77);
    if skipped {
        assert!(std::env::var_os("CI").is_none(), "it cannot be run here");
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    }
    !skipped
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_half_done_is_seen() {
    let output = run(&[]);
    if was_run(&output) {
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

#[test]
fn a_disk_that_only_says_that_it_synced_is_found_out() {
    let output = run(&["--only", "power", "--lies", "--share", "1"]);
    if was_run(&output) {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("FOUND: power lost at "), "{said}");
        assert_eq!(output.status.code(), Some(1), "{said}");
    }
}
