//! The floors of the library: each may use those below it, never one above.
//!
//! The compiler keeps the library from the program, for only `main.rs` declares `mod cli`. Between
//! the library's own floors it is no help; this reads the `use` lines and paths.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each floor and the floors that it may use; `error` may be used by all.
const FLOORS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("hash", &[]),
    ("model", &["hash"]),
    ("context", &["hash", "model"]),
    ("wire", &["hash", "model"]),
    ("interop", &["hash", "model", "wire"]),
    // The store keeps what an importer measured: spans and usage, plain data of interop.
    ("store", &["hash", "model", "context", "interop"]),
    ("diff", &["hash", "model", "context"]),
    // A repository hands two contexts to the diff, which is pure.
    (
        "history",
        &["hash", "model", "context", "store", "interop", "diff"],
    ),
    ("compile", &["hash", "model", "wire", "context", "history"]),
    (
        "ingest",
        &[
            "hash", "model", "context", "store", "interop", "history", "compile",
        ],
    ),
    ("render", &["hash", "model", "context", "diff", "interop"]),
];

fn sources(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the sources are there") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// The floors that a file names by `crate::`, with the line.
fn used(text: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    // What tests use is their own business.
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    for (number, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if code.starts_with("//") {
            continue;
        }
        for (at, _) in code.match_indices("crate::") {
            let rest = &code[at + "crate::".len()..];
            let names: Vec<&str> = match rest.strip_prefix('{') {
                Some(list) => list.split([',', '}']).collect(),
                None => vec![rest],
            };
            for name in names {
                let name: String = name
                    .trim()
                    .chars()
                    .take_while(|c| c.is_ascii_lowercase() || *c == '_')
                    .collect();
                if !name.is_empty() {
                    found.entry(name).or_insert(number + 1);
                }
            }
        }
    }
    found
}

#[test]
fn each_floor_uses_only_those_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&root).expect("below src");
        let first = relative.components().next().expect("a name");
        let first = first.as_os_str().to_string_lossy();
        let floor = first.strip_suffix(".rs").unwrap_or(&first);
        if ["lib", "main", "cli"].contains(&floor) {
            continue;
        }
        let allowed = FLOORS.iter().find(|(name, _)| *name == floor);
        let Some((_, allowed)) = allowed else {
            wrong.push(format!("{}: a floor that no one knows", relative.display()));
            continue;
        };
        let text = fs::read_to_string(&file).expect("readable");
        for (name, line) in used(&text) {
            let known = FLOORS.iter().any(|(floor, _)| *floor == name);
            if known && name != floor && name != "error" && !allowed.contains(&name.as_str()) {
                wrong.push(format!("{}:{line}: uses {name}", relative.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_library_neither_prints_nor_asks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let forbidden = [
        "println!(",
        "eprintln!(",
        "std::env",
        "SystemTime::now",
        "Timestamp::now",
        "process::exit",
        "dbg!(",
    ];
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&root).expect("below src");
        if relative.starts_with("cli") || relative == Path::new("main.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).expect("readable");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let test_only = relative.ends_with("contract.rs")
            || relative.components().any(|c| c.as_os_str() == "tests")
            || relative.ends_with("tests.rs");
        if test_only {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for word in forbidden {
                if line.contains(word) {
                    wrong.push(format!("{}:{}: {word}", relative.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_use_of_a_floor_is_seen_in_each_form() {
    let text = "use crate::model::Role;\n// crate::ingest\nlet x = crate::store::open();\n\
                use crate::{error::Error, hash};\n#[cfg(test)]\nuse crate::history;";
    let found: Vec<String> = used(text).into_keys().collect();
    assert_eq!(found, ["error", "hash", "model", "store"]);
}
