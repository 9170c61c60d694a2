//! Numbers of the code that only fall. Whoever makes one smaller writes the new one here; nobody makes one bigger.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::source::tokens::{Code, library, tokens};

/// How many files a folder holds at most.
const FILES: usize = 40;

/// The folders that hold more.
const LARGER: [(&str, usize); 7] = [
    ("src/formats/shared", 43),
    ("src/ingest", 45),
    ("src/model", 42),
    ("src/repo", 57),
    ("src/store/postgres", 47),
    ("tests/it/sessions/databases/snapshots", 55),
    ("tests/it/sessions/snapshots", 52),
];

/// What each engine has to do for itself: the methods of the store's public traits that have no body there.
const REQUIRED_OF_AN_ENGINE: usize = 90;

fn files_below(root: &Path, folder: &str, found: &mut BTreeMap<String, usize>) {
    let mut files = 0;
    for entry in fs::read_dir(root.join(folder)).expect("the folder is there") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if path.is_dir() {
            files_below(root, &format!("{folder}/{name}"), found);
        } else if matches!(path.extension(), Some(it) if it == "rs" || it == "snap") {
            files += 1;
        }
    }
    found.insert(folder.to_owned(), files);
}

/// How many methods without a body the public traits in `code` have.
fn required(code: &str) -> usize {
    let mut tokens = tokens(code);
    let (mut depth, mut required, mut before) = (0, 0, "");
    let mut of_trait = None;
    while let Some(token) = tokens.next() {
        match token.text {
            "trait" if before == "pub" => of_trait = Some(depth),
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if of_trait == Some(depth) {
                    of_trait = None;
                }
            }
            "fn" if of_trait.is_some_and(|at| at + 1 == depth) => {
                let end = tokens.find(|token| matches!(token.text, ";" | "{"));
                match end.map(|token| token.text) {
                    Some(";") => required += 1,
                    Some(_) => depth += 1,
                    None => {}
                }
            }
            _ => {}
        }
        before = token.text;
    }
    required
}

#[test]
fn no_folder_grows_beyond_what_one_look_takes_in() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    for folder in ["src", "tests/it"] {
        files_below(root, folder, &mut found);
    }
    found.retain(|_, files| *files > FILES);
    let larger: Vec<(&str, usize)> = found.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(larger, LARGER);
}

#[test]
fn an_engine_has_to_do_no_more_than_before() {
    let of_the_store = library()
        .into_iter()
        .filter(|(file, _)| file.parent() == Some(Path::new("store")))
        .map(|(_, code)| required(&code.text))
        .sum::<usize>();
    assert_eq!(of_the_store, REQUIRED_OF_AN_ENGINE);
}

#[test]
fn methods_without_a_body_are_counted() {
    let code = "pub trait A: B { fn one(&self); fn two() -> u8 { if x { 1 } else { 2 } }\n\
                fn three<T>(it: impl Fn(T) -> bool) -> T where T: Copy; type C; }\n\
                impl A for D { fn one(&self) {} } trait E { fn four(); }";
    assert_eq!(required(&Code::of(code).text), 2);
}
