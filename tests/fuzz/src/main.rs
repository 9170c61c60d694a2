//! The fuzzer: one program for all targets, so that it is built and linked once. `TRACT_FUZZ_TARGET` names
//! the target; `tests/fuzz/run.py` builds and runs it. Where
//! `TRACT_FUZZ_SEEDS` names a folder, the target's first inputs are written there, and that is all.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use tract_fuzz::oracles::{Care, Target, targets};

fn target() -> &'static Target {
    static TARGET: OnceLock<&'static Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let name = std::env::var("TRACT_FUZZ_TARGET").unwrap_or_default();
        let names: Vec<&str> = targets().iter().map(|target| target.name).collect();
        let found = targets().iter().find(|target| target.name == name);
        found.unwrap_or_else(|| panic!("TRACT_FUZZ_TARGET is one of {}", names.join(", ")))
    })
}

fn write_seeds() {
    let Some(folder) = std::env::var_os("TRACT_FUZZ_SEEDS") else {
        return;
    };
    for (number, seed) in target().seeds().iter().enumerate() {
        let path = Path::new(&folder).join(format!("seed-{number:03}"));
        std::fs::write(path, seed).expect("a seed is written");
    }
    std::process::exit(0);
}

fuzz_target!(init: write_seeds(), |bytes: &[u8]| (target().hold)(bytes, Care::of(bytes)));
