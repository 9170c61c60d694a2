//! Help, errors and hints are read once: short sentences, the subject first, words of the field.
//!
//! The bounds say how many sentences break a rule today. They only go down.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

/// How many words a sentence has at most.
const LONG: usize = 25;
/// How no sentence begins.
const OPENINGS: [&str; 4] = ["What", "Who", "Whoever", "Of"];
/// What is not said to users.
const WORDS: [&str; 6] = [
    "beside",
    "said",
    "told",
    "stands",
    "at hand",
    "that there is",
];

/// The file that says how many sentences of the help, and of errors and hints, break each rule.
const BOUNDS: &str = "tests/it/source/plain_english.txt";

/// The bounds of a line of that file.
fn bounds(name: &str) -> [usize; 3] {
    let all = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(BOUNDS));
    let all = all.expect("a file");
    let line = all.lines().find_map(|line| line.strip_prefix(name));
    let numbers = line.expect("a line").split_whitespace();
    let numbers: Vec<usize> = numbers.map(|it| it.parse().expect("a number")).collect();
    numbers.try_into().expect("three rules")
}

/// A text without what is filled in.
fn bare(text: &str) -> String {
    let mut bare = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            c if depth == 0 => bare.push(c),
            _ => {}
        }
    }
    bare
}

/// The sentences of a text.
fn sentences(text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices([' ']) {
        let before = &text[..at];
        let is_end = before.ends_with(['.', '?', '!', ';', ':'])
            && text[at + 1..].starts_with(|c: char| !c.is_lowercase() || before.ends_with(';'));
        if is_end {
            found.push(text[from..at].to_owned());
            from = at + 1;
        }
    }
    found.push(text[from..].to_owned());
    found
}

/// Those that break each rule.
fn broken(texts: &[String]) -> [Vec<String>; 3] {
    let all: Vec<String> = texts.iter().flat_map(|text| sentences(text)).collect();
    let opens = |it: &&String| {
        let first = it.split(|c: char| !c.is_alphabetic()).next();
        OPENINGS.iter().any(|word| first == Some(word))
    };
    let has = |it: &&String| {
        let words = it.to_lowercase();
        let words: Vec<&str> = words
            .split(|c: char| !c.is_alphabetic())
            .filter(|word| !word.is_empty())
            .collect();
        let line = format!(" {} ", words.join(" "));
        WORDS.iter().any(|word| line.contains(&format!(" {word} ")))
    };
    [
        all.iter()
            .filter(|it| it.split_whitespace().count() > LONG)
            .cloned()
            .collect(),
        all.iter().filter(opens).cloned().collect(),
        all.iter().filter(has).cloned().collect(),
    ]
}

fn hold(texts: &[String], bounds: [usize; 3]) {
    let rules = [
        "are too long",
        "begin with What, Who or Of",
        "have a word that is not used",
    ];
    for ((found, most), rule) in broken(texts).into_iter().zip(bounds).zip(rules) {
        assert_eq!(
            found.len(),
            most,
            "so many sentences {rule}; a bound that is too high goes down:\n{}",
            found.join("\n")
        );
    }
}

/// The paragraphs and options of a page of help, without its examples.
fn paragraphs(help: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for line in help.lines() {
        if line.starts_with("Example") {
            break;
        }
        // An option begins a paragraph, as an empty line does.
        let option = line.trim_start().starts_with(['-', '<', '[']);
        if line.trim().is_empty() || option || line.starts_with("Usage") {
            found.push(String::new());
        }
        let text = if option {
            line.trim_start()
                .split_once("  ")
                .map_or("", |(_, text)| text)
        } else {
            line
        };
        let last = found.last_mut().expect("one");
        last.push(' ');
        last.push_str(text);
    }
    found
}

#[test]
fn the_help_of_every_command_is_read_once() {
    let sandbox = Sandbox::empty();
    let list = sandbox.ok(&["help", "--all"]);
    let names = list
        .lines()
        .take_while(|line| !line.starts_with("Options"))
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let mut texts = Vec::new();
    for name in names {
        texts.extend(paragraphs(&sandbox.ok(&[name, "--help"])));
    }
    hold(&texts, bounds("help "));
}

/// The texts in quotes behind these words, in all sources below a folder.
fn quoted(folder: &Path, found: &mut Vec<String>) {
    const BEFORE: [&str; 7] = [
        "hint(",
        "with_hint(",
        "usage(",
        "refused(",
        "#[error(",
        "status(",
        "notice(",
    ];
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            quoted(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).expect("a file");
            let is_advice = path.ends_with("deeds/advice.rs");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (at, _) in code.match_indices('"') {
                let before = code[..at].trim_end();
                let before = before.strip_suffix("format!(").unwrap_or(before).trim_end();
                let is_text = BEFORE.iter().any(|word| before.ends_with(word));
                let is_arm = is_advice && (before.ends_with("=>") || before.ends_with('{'));
                if is_text || is_arm {
                    let rest = &code[at + 1..];
                    let end = rest.find('"').unwrap_or(rest.len());
                    found.push(bare(&rest[..end].replace("\\\n", " ")));
                }
            }
        }
    }
}

#[test]
fn every_error_and_every_hint_is_read_once() {
    let mut texts = Vec::new();
    quoted(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut texts,
    );
    assert!(texts.len() > 300, "{}", texts.len());
    hold(&texts, bounds("errors and hints "));
}
