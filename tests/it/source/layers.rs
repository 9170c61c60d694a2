//! The floors of the library: each may use those below it, never one above.
//!
//! The compiler keeps the library from the program, for only `main.rs` declares `mod cli`. Between
//! the library's own floors it is no help; this reads every path in every line that is no test's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::source::tokens::{Code, Token, library, module_of, program, tokens};

/// Each floor and the floors that it may use; all may use `error`, `hash` and `model`.
const FLOORS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("hash", &[]),
    ("model", &[]),
    ("context", &[]),
    ("wire", &[]),
    ("compile", &["context", "wire"]),
    ("diff", &["context"]),
    ("tree", &[]),
    ("formats", &["wire", "tree"]),
    ("render", &["context", "diff", "formats", "tree"]),
    ("store", &["context"]),
    ("repo", &["context", "compile", "formats", "store"]),
    (
        "query",
        &["context", "compile", "diff", "formats", "store", "repo"],
    ),
    ("rewrite", &["context", "store", "repo", "query"]),
    (
        "upkeep",
        &["context", "compile", "formats", "store", "repo"],
    ),
    ("sync", &["context", "formats", "store", "repo", "upkeep"]),
    (
        "ingest",
        &[
            "context", "compile", "tree", "formats", "store", "repo", "query", "upkeep", "sync",
        ],
    ),
    (
        "deeds",
        &[
            "context", "wire", "compile", "diff", "tree", "formats", "render", "repo", "query",
            "rewrite", "sync", "ingest", "upkeep",
        ],
    ),
];

/// The floors at the very bottom, in their order; above them, everyone may use all three.
const GROUND: [&str; 3] = ["error", "hash", "model"];

fn may_use(floor: &str, other: &str) -> bool {
    let level = |name| GROUND.iter().position(|ground| *ground == name);
    match (level(floor), level(other)) {
        (Some(_), None) => false,
        (Some(from), Some(to)) => to <= from,
        (None, Some(_)) => true,
        (None, None) => FLOORS
            .iter()
            .any(|(name, below)| *name == floor && below.contains(&other)),
    }
}

/// What stands directly below the crate's root in the paths of a file, with its line.
///
/// `module` is where the file is, from the root; `code` is [`Code`]'s.
fn used(code: &str, module: &[&str]) -> BTreeMap<String, usize> {
    let tokens: Vec<Token> = tokens(code).collect();
    let mut found = BTreeMap::new();
    let (mut depth, mut inline) = (0, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        let below = module.len() + inline.len();
        match token.text {
            "{" => {
                depth += 1;
                if at >= 2 && tokens[at - 2].text == "mod" {
                    inline.push(depth);
                }
            }
            "}" => {
                inline.retain(|opened| *opened != depth);
                depth -= 1;
            }
            "crate" | "super" | "self" if at == 0 || tokens[at - 1].text != "::" => {
                let mut names = Vec::new();
                walk(&tokens[at..], Some(below), &mut names);
                for (name, offset) in names {
                    let line = code[..offset].matches('\n').count() + 1;
                    found.entry(name.to_owned()).or_insert(line);
                }
            }
            _ => {}
        }
    }
    found
}

/// Follows a path or a tree of them from a module so many steps below the root (none: from where it
/// no longer matters) and gathers what it names directly below the root. Gives what it has read.
fn walk<'a>(
    tokens: &[Token<'a>],
    below: Option<usize>,
    found: &mut Vec<(&'a str, usize)>,
) -> usize {
    let Some(first) = tokens.first() else {
        return 0;
    };
    if first.text == "{" {
        let mut at = 1;
        while tokens.get(at).is_some_and(|token| token.text != "}") {
            at += match tokens[at].text {
                "," => 1,
                _ => walk(&tokens[at..], below, found),
            };
        }
        return at + 1;
    }
    let next = match (first.text, below) {
        ("crate", _) => Some(0),
        ("super", Some(below)) => below.checked_sub(1),
        ("self", below) => below,
        (name, Some(0)) => {
            found.push((name, first.at));
            None
        }
        _ => None,
    };
    match tokens.get(1).map(|token| token.text) {
        Some("::") => 2 + walk(&tokens[2..], next, found),
        // A root that goes by another name can't be followed.
        Some("as") if next == Some(0) => {
            found.push(("*", first.at));
            3
        }
        Some("as") => 3,
        _ => 1,
    }
}

/// What `lib.rs` hands on under a name of its own: the name and its floor.
fn handed_on(lib: &str) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for statement in lib.split(';') {
        let Some((_, tree)) = statement.split_once("pub use ") else {
            continue;
        };
        let (floor, list) = tree.split_once("::").unwrap_or((tree, ""));
        for name in list.split(|c: char| !c.is_alphanumeric() && c != '_') {
            names.insert(name.to_owned(), floor.trim().to_owned());
        }
    }
    names
}

/// The uses in one file that reach above its floor.
fn upward(file: &Path, code: &str, handed_on: &BTreeMap<String, String>) -> Vec<String> {
    let module = module_of(file);
    let floor = module[0];
    if !FLOORS.iter().any(|(name, _)| *name == floor) {
        return vec![format!("{}: a floor that no one knows", file.display())];
    }
    used(code, &module)
        .into_iter()
        .map(|(name, line)| (handed_on.get(&name).cloned().unwrap_or(name), line))
        .filter(|(name, _)| {
            let known = name == "*" || FLOORS.iter().any(|(floor, _)| floor == name);
            known && name != floor && !may_use(floor, name)
        })
        .map(|(name, line)| format!("{}:{line}: uses {name}", file.display()))
        .collect()
}

#[test]
fn each_floor_uses_only_those_below_it() {
    let library = library();
    let is_lib = |file: &Path| file == Path::new("lib.rs");
    let lib = library.iter().find(|(file, _)| is_lib(file));
    let handed_on = handed_on(&lib.expect("the library").1.text);
    let wrong: Vec<String> = library
        .iter()
        .filter(|(file, _)| !is_lib(file))
        .flat_map(|(file, code)| upward(file, &code.text, &handed_on))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How many files of the program name a floor below the deeds: a deed's answer is to say what its door needs. Whoever makes it
/// fewer puts the new number here; nobody makes it more.
const NAMED_BY_THE_PROGRAM: [(&str, usize); 6] = [
    ("ingest", 47),
    ("repo", 107),
    ("rewrite", 22),
    ("store", 11),
    ("sync", 13),
    ("upkeep", 6),
];

/// What stands directly below the library's root in the paths of a file of the program.
fn named(code: &str) -> BTreeSet<String> {
    let tokens: Vec<Token> = tokens(code).collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_root = token.text == "tract" && (at == 0 || tokens[at - 1].text != "::");
        if is_root && tokens.get(at + 1).is_some_and(|next| next.text == "::") {
            walk(&tokens[at + 2..], Some(0), &mut found);
        }
    }
    found.into_iter().map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn the_program_names_no_more_of_what_is_below_the_deeds() {
    let files = program();
    let named: Vec<BTreeSet<String>> = files.iter().map(|(_, code)| named(&code.text)).collect();
    let count = |floor: &str| named.iter().filter(|names| names.contains(floor)).count();
    let now = NAMED_BY_THE_PROGRAM.map(|(floor, _)| (floor, count(floor)));
    assert_eq!(now, NAMED_BY_THE_PROGRAM);
}

#[test]
fn what_the_program_names_is_seen() {
    let code = "use tract::repo::{On, Repo};\nuse tract::{sync::Landed, store::{self, View}, Error};\n\
                fn f() { tract::repo::append::now(); other::tract::sync() }\n#[cfg(test)]\nuse tract::upkeep::Fsck;\n";
    let found = named(&Code::of(code).text);
    assert_eq!(Vec::from_iter(found), ["Error", "repo", "store", "sync"]);
}

#[test]
fn the_library_neither_prints_nor_asks() {
    let forbidden = [
        "println!(",
        "eprintln!(",
        "std::env",
        "SystemTime::now",
        "Timestamp::now",
        "TimeZone::system",
        "process::exit",
        "dbg!(",
    ];
    let mut wrong = Vec::new();
    for (file, code) in library() {
        for (number, line) in code.text.lines().enumerate() {
            for word in forbidden {
                if line.contains(word) {
                    wrong.push(format!("{}:{}: {word}", file.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a file of the store would be told of, as `line: floor`.
fn told(file: &str, text: &str) -> Vec<String> {
    let handed_on = BTreeMap::from([("Repo".to_owned(), "repo".to_owned())]);
    let wrong = upward(Path::new(file), &Code::of(text).text, &handed_on);
    let short = |told: &String| told.replace(&format!("{file}:"), "").replace(" uses", "");
    wrong.iter().map(short).collect()
}

#[test]
fn a_use_after_a_test_in_the_last_third_of_a_file_is_seen() {
    let text = "use crate::model::Role;\n#[cfg(test)]\n#[allow(dead_code)]\n\
                fn planted<A, B>(_: [u8; 2]) {\n  use crate::ingest;\n  if x { '{' } else { \"}\" }\n}\n\
                struct S {\n  #[cfg(test)]\n  pub(crate) steps: crate::cli::Steps,\n  a: crate::ingest::A,\n}\n\
                #[cfg(test)]\nmod tests {\n  use crate::formats::Format;\n}\n\
                fn last() { crate::repo::append::now() }\n";
    assert_eq!(
        told("store/sqlite/objects.rs", text),
        ["11: ingest", "17: repo"]
    );
}

#[test]
fn a_use_over_several_lines_is_seen() {
    let text = "use crate::{\n    error::Error,\n    model::{\n        commit::{Draft, Hide},\n        \
                Role,\n    },\n    ingest::{self, Sink as S},\n};\npub use crate::\n  Repo;";
    assert_eq!(told("store/mod.rs", text), ["10: repo", "7: ingest"]);
}

#[test]
fn a_path_that_climbs_out_of_its_floor_is_seen() {
    let text = "use super::super::super::diff;\nuse super::super::diff as mine;\n\
                mod inner {\n  use super::super::super::{super::repo, compile};\n}\n\
                use super::{super::super::{ingest}, Store};\n";
    assert_eq!(
        told("store/sqlite/objects.rs", text),
        ["1: diff", "6: ingest", "4: repo"]
    );
    assert_eq!(told("hash.rs", "use super::{model, error};"), ["1: model"]);
    assert_eq!(told("store/mod.rs", "use crate as all;"), ["1: *"]);
}

#[test]
fn words_are_no_paths() {
    let text = "// use crate::ingest;\n/* crate::ingest /* */ crate::repo */\n\
                const A: &str = \"crate::ingest \\\" crate::ingest\";\n\
                const B: &str = r#\"crate::ingest \" crate::repo\"#;\n\
                fn f<'a>(_: &'a str) -> char { '\"' }\nuse crate::diff;\n";
    assert_eq!(told("store/mod.rs", text), ["6: diff"]);
}
