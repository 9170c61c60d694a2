//! The session in the README is a real one: its commands run, and say what it shows. The table of formats is the code's.

use crate::importing::SESSION;
use crate::sandbox::Sandbox;
use crate::shown;

const README: &str = include_str!("../../README.md");
const FORMATS: &str = include_str!("../../docs/formats.md");

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
