//! The session in the README is a real one: its commands run, and say what it shows. The table of formats is the code's.

use crate::sandbox::Sandbox;
use crate::sessions::import::SESSION;
use crate::source::shown;

const README: &str = include_str!("../../../README.md");
const FORMATS: &str = include_str!("../../../docs/formats.md");

#[test]
fn the_readme_shows_a_real_session() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    assert!(shown::commands(README).len() >= 3);
    shown::run(README, &sandbox);
}

#[test]
fn the_table_of_formats_is_what_the_code_says() {
    let table = tract::formats::registry::table();
    assert!(
        FORMATS.contains(&table),
        "docs/formats.md has another table:\n{table}"
    );
}

/// The words of the recording, without the marks between them.
fn drawn() -> String {
    let picture = include_str!("../../../docs/pictures/terminal.svg");
    let texts = picture
        .split('<')
        .skip(1)
        .filter_map(|tag| Some(tag.split_once('>')?.1));
    let text: String = texts.collect();
    let signs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&amp;", "&"),
    ];
    let text = signs
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to));
    text.split_whitespace().collect()
}

/// `docs/pictures/make.py` draws it anew.
#[test]
fn the_picture_shows_what_the_program_says() {
    /// How much of a line stands in the picture, however wide its terminal is.
    const BEGINNING: usize = 18;
    let (sandbox, drawn) = (Sandbox::empty(), drawn());
    sandbox.write("session.jsonl", SESSION);
    for words in [
        &["import", "session.jsonl"][..],
        &["drop", ":3", "--dry-run"],
    ] {
        let told = sandbox.tract(words);
        let lines = told.lines().filter(|line| *line != "--- stderr");
        for line in lines {
            let line = line.split_whitespace().collect::<String>();
            let beginning: String = line.chars().take(BEGINNING).collect();
            assert!(
                drawn.contains(&beginning),
                "{beginning} is not in docs/pictures/terminal.svg"
            );
        }
    }
}
