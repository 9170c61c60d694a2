//! The crate's own code, read as tokens: for the tests that hold its layout.
//!
//! Not a parser of Rust: it knows comments, strings, items under `#[cfg(test)]` and paths, which is
//! all that the layout is told by.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

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
pub struct Code {
    pub text: String,
    /// The modules in files of their own that only tests have.
    test_modules: Vec<String>,
}

impl Code {
    pub fn of(text: &str) -> Self {
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
pub struct Token<'a> {
    pub text: &'a str,
    pub at: usize,
}

pub fn tokens(code: &str) -> impl Iterator<Item = Token<'_>> {
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

/// Every file of the library with its place below `src` and its code, without those for tests.
pub fn library() -> Vec<(PathBuf, Code)> {
    files(|file| !is_program(file))
}

/// The same of the program.
pub fn program() -> Vec<(PathBuf, Code)> {
    files(is_program)
}

fn is_program(file: &Path) -> bool {
    file.starts_with("cli") || file == Path::new("main.rs")
}

fn files(wanted: impl Fn(&Path) -> bool) -> Vec<(PathBuf, Code)> {
    let root = root();
    let mut all = Vec::new();
    sources(&root, &mut all);
    let mut found: BTreeMap<PathBuf, Code> = BTreeMap::new();
    let mut for_tests = BTreeSet::new();
    for file in all {
        let relative = file.strip_prefix(&root).expect("below src").to_owned();
        if !wanted(&relative) {
            continue;
        }
        let code = Code::of(&fs::read_to_string(&file).expect("readable"));
        let folder = module_of(&relative).join("/");
        for module in &code.test_modules {
            for_tests.insert(Path::new(&folder).join(module));
        }
        found.insert(relative, code);
    }
    let for_tests = |file: &Path| {
        let module = PathBuf::from(module_of(file).join("/"));
        module.ancestors().any(|module| for_tests.contains(module))
    };
    found.retain(|file, _| !for_tests(file));
    found.into_iter().collect()
}

/// The names that lead from the root to the module that a file holds.
pub fn module_of(file: &Path) -> Vec<&str> {
    let parts = file.iter().map(|part| part.to_str().expect("plain names"));
    parts
        .filter_map(|part| match part {
            "mod.rs" | "lib.rs" | "main.rs" => None,
            part => Some(part.strip_suffix(".rs").unwrap_or(part)),
        })
        .collect()
}
