//! The floors of the library: each may use those below it, never one above.
//!
//! The compiler keeps the library from the program, for only `main.rs` declares `mod cli`. Between
//! the library's own floors it is no help; this reads every path in every line that is no test's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each floor and the floors that it may use; all may use `error`, `hash` and `model`.
const FLOORS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("hash", &[]),
    ("model", &[]),
    ("context", &[]),
    ("wire", &[]),
    ("compile", &["context", "wire"]),
    ("diff", &["context"]),
    ("interop", &["wire"]),
    ("render", &["context", "diff", "interop"]),
    ("store", &["context"]),
    ("history", &["context", "compile", "diff", "store"]),
    (
        "ingest",
        &["context", "compile", "interop", "store", "history"],
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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

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

/// A file's code: comments, the insides of strings, and the items of tests are blank, so that every
/// line keeps its number.
struct Code {
    text: String,
    /// The modules in files of their own that only tests have.
    test_modules: Vec<String>,
}

impl Code {
    fn of(text: &str) -> Self {
        let mut code = Self {
            text: without_words(text),
            test_modules: Vec::new(),
        };
        code.drop_tests();
        code
    }

    /// Blanks each item that stands under `#[cfg(test)]`, and no more than that.
    fn drop_tests(&mut self) {
        let mut from = 0;
        while let Some(at) = self.text[from..].find("#[cfg(test)]") {
            let start = from + at;
            let (end, module) = item_after(&self.text, start + "#[cfg(test)]".len());
            let blank = blanked(&self.text[start..end]);
            self.text.replace_range(start..end, &blank);
            self.test_modules.extend(module);
            from = end;
        }
    }
}

fn blanked(text: &str) -> String {
    let blank = |c| if c == '\n' { '\n' } else { ' ' };
    text.chars().map(blank).collect()
}

/// Where the item ends that begins at `start`; and its name, if it is a module in its own file.
fn item_after(code: &str, start: usize) -> (usize, Option<String>) {
    let tokens: Vec<Token> = tokens(&code[start..]).collect();
    let mut at = 0;
    while tokens.get(at).is_some_and(|token| token.text == "#") {
        at += 1;
        let mut depth = 0;
        while let Some(token) = tokens.get(at) {
            depth += i32::from(token.text == "[") - i32::from(token.text == "]");
            at += 1;
            if depth == 0 {
                break;
            }
        }
    }
    // A field or a variant ends at its comma; in an item, commas are everyday.
    let item = tokens.get(at).is_some_and(|token| {
        let begins = [
            "pub", "fn", "mod", "use", "impl", "struct", "enum", "trait", "const", "static",
            "type", "let", "unsafe", "async", "extern",
        ];
        begins.contains(&token.text)
            && tokens.get(at + 1).is_none_or(|next| {
                next.text != ":" && (token.text != "pub" || !is_field(&tokens[at..]))
            })
    });
    let mut module = None;
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        let end = start + token.at + token.text.len();
        match token.text {
            "mod" if depth == 0 => {
                let name = tokens.get(index + 1).map(|name| name.text.to_owned());
                let own_file = tokens.get(index + 2).is_some_and(|next| next.text == ";");
                module = name.filter(|_| own_file);
            }
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth -= 1,
            "}" if depth == 0 => return (start + token.at, None),
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return (end, module);
                }
            }
            ";" if depth == 0 => return (end, module),
            "," if depth == 0 && !item => return (end, None),
            _ => {}
        }
    }
    (code.len(), module)
}

/// Whether `pub …` begins a field: its name is followed by one colon.
fn is_field(tokens: &[Token]) -> bool {
    let after = match tokens.get(1) {
        Some(open) if open.text == "(" => tokens.iter().position(|token| token.text == ")"),
        _ => Some(0),
    };
    after.is_some_and(|at| tokens.get(at + 2).is_some_and(|next| next.text == ":"))
}

/// The same text with comments and the insides of strings and characters blank.
fn without_words(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let before = code.chars().next_back();
        let in_name = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let length = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest),
            'r' | 'b' | 'c' if !in_name => match raw_string(rest) {
                Some(length) => length,
                None => {
                    code.push(c);
                    rest = &rest[c.len_utf8()..];
                    continue;
                }
            },
            '\'' => character(rest),
            _ => 0,
        };
        let length = if length == 0 {
            code.push(c);
            c.len_utf8()
        } else {
            code += &blanked(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    code
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        if text.as_bytes()[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if text.as_bytes()[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

fn raw_string(text: &str) -> Option<usize> {
    let after = text.trim_start_matches(['b', 'c']);
    let after = after.strip_prefix('r')?;
    let marks = after.len() - after.trim_start_matches('#').len();
    let inside = after[marks..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(marks));
    let opened = text.len() - inside.len();
    Some(
        opened
            + inside
                .find(&close)
                .map_or(inside.len(), |at| at + close.len()),
    )
}

/// A character's length; 0 for a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            chars.next();
            chars.find(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 1)
        }
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

/// A name, `::`, or any other single character.
#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    at: usize,
}

fn tokens(code: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = code[at..].trim_start();
        at = code.len() - rest.len();
        let first = rest.chars().next()?;
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            _ if word(first) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        let token = Token {
            text: &rest[..length],
            at,
        };
        at += length;
        Some(token)
    })
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

/// Every file of the library with its place below `src` and its code, without those for tests.
fn library() -> Vec<(PathBuf, Code)> {
    let root = root();
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut library: BTreeMap<PathBuf, Code> = BTreeMap::new();
    let mut for_tests = BTreeSet::new();
    for file in files {
        let relative = file.strip_prefix(&root).expect("below src").to_owned();
        if relative.starts_with("cli") || relative == Path::new("main.rs") {
            continue;
        }
        let code = Code::of(&fs::read_to_string(&file).expect("readable"));
        let folder = module_of(&relative).join("/");
        for module in &code.test_modules {
            for_tests.insert(Path::new(&folder).join(module));
        }
        library.insert(relative, code);
    }
    let for_tests = |file: &Path| {
        let module = PathBuf::from(module_of(file).join("/"));
        module.ancestors().any(|module| for_tests.contains(module))
    };
    library.retain(|file, _| !for_tests(file));
    library.into_iter().collect()
}

/// The names that lead from the root to the module that a file holds.
fn module_of(file: &Path) -> Vec<&str> {
    let parts = file.iter().map(|part| part.to_str().expect("plain names"));
    parts
        .filter_map(|part| match part {
            "mod.rs" | "lib.rs" => None,
            part => Some(part.strip_suffix(".rs").unwrap_or(part)),
        })
        .collect()
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
    let handed_on = BTreeMap::from([("Repo".to_owned(), "history".to_owned())]);
    let wrong = upward(Path::new(file), &Code::of(text).text, &handed_on);
    let short = |told: &String| told.replace(&format!("{file}:"), "").replace(" uses", "");
    wrong.iter().map(short).collect()
}

#[test]
fn a_use_after_a_test_in_the_last_third_of_a_file_is_seen() {
    let text = "use crate::model::Role;\n#[cfg(test)]\n#[allow(dead_code)]\n\
                fn planted<A, B>(_: [u8; 2]) {\n  use crate::ingest;\n  if x { '{' } else { \"}\" }\n}\n\
                struct S {\n  #[cfg(test)]\n  pub(crate) steps: crate::cli::Steps,\n  a: crate::ingest::A,\n}\n\
                #[cfg(test)]\nmod tests {\n  use crate::interop::Format;\n}\n\
                fn last() { crate::history::append::now() }\n";
    assert_eq!(
        told("store/sqlite/objects.rs", text),
        ["17: history", "11: ingest"]
    );
}

#[test]
fn a_use_over_several_lines_is_seen() {
    let text = "use crate::{\n    error::Error,\n    model::{\n        commit::{Draft, Hide},\n        \
                Role,\n    },\n    ingest::{self, Sink as S},\n};\npub use crate::\n  Repo;";
    assert_eq!(told("store/mod.rs", text), ["10: history", "7: ingest"]);
}

#[test]
fn a_path_that_climbs_out_of_its_floor_is_seen() {
    let text = "use super::super::super::diff;\nuse super::super::diff as mine;\n\
                mod inner {\n  use super::super::super::{super::history, compile};\n}\n\
                use super::{super::super::{ingest}, Store};\n";
    assert_eq!(
        told("store/sqlite/objects.rs", text),
        ["1: diff", "4: history", "6: ingest"]
    );
    assert_eq!(told("hash.rs", "use super::{model, error};"), ["1: model"]);
    assert_eq!(told("store/mod.rs", "use crate as all;"), ["1: *"]);
}

#[test]
fn words_are_no_paths() {
    let text = "// use crate::ingest;\n/* crate::ingest /* */ crate::history */\n\
                const A: &str = \"crate::ingest \\\" crate::ingest\";\n\
                const B: &str = r#\"crate::ingest \" crate::history\"#;\n\
                fn f<'a>(_: &'a str) -> char { '\"' }\nuse crate::diff;\n";
    assert_eq!(told("store/mod.rs", text), ["6: diff"]);
}
