//! What reaches a terminal: lines, which are safe by construction, and the few places that write
//! anything else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;
use crate::source::tokens::{Token, program, tokens};

/// Every file of the program that writes without `Ui::print`, and what makes that safe.
const DOORS: &[(&str, &str)] = &[
    ("cli/ui.rs", "the door itself: it paints lines"),
    (
        "cli/conversation.rs",
        "a tree's JSON, escaped as JSON on a terminal; a page: all text passes html/markup.rs or markdown/contain.rs",
    ),
    (
        "cli/interactive/terminal.rs",
        "the screen, which `Paint` fills with lines; and bytes of ours",
    ),
    (
        "cli/command/execution/compile.rs",
        "a request, escaped as JSON on a terminal",
    ),
    (
        "cli/command/sessions/export.rs",
        "a session, escaped as JSON on a terminal; a page, as in cli/conversation.rs",
    ),
    (
        "cli/command/sessions/dataset.rs",
        "rows, escaped as JSON on a terminal",
    ),
    (
        "cli/command/listing/log.rs",
        "a template, whose fields pass escape::line",
    ),
    (
        "cli/command/writing/chat.rs",
        "a prompt's sign, and an empty line",
    ),
    ("cli/setup/mod.rs", "a question of ours"),
    ("cli/command/listing/rev_parse.rs", "a hash"),
    (
        "cli/command/programs/completions.rs",
        "a script of the parser's own",
    ),
    ("cli/command/mod.rs", "four lines of ours"),
    ("cli/command/upkeep/help.rs", "the parser's own help"),
    (
        "cli/command/programs/serve.rs",
        "JSON and bundles, to a tract",
    ),
    (
        "cli/command/programs/api.rs",
        "JSON, to a program; input is no terminal",
    ),
    (
        "cli/command/programs/mcp.rs",
        "JSON, to a client; input is no terminal",
    ),
    (
        "cli/command/programs/guard.rs",
        "what is for a model, whose texts pass escape::block and escape::line",
    ),
];

/// The words by which output is reached.
const WORDS: [&str; 7] = [
    "println", "print", "eprintln", "eprint", "Stdout", "Stderr", "out",
];

/// The places in a file's code at which something is written past `Ui::print`.
fn writes(code: &str) -> Vec<usize> {
    let tokens: Vec<Token> = tokens(code).collect();
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.text == text);
    let found = tokens.iter().enumerate().filter(|(at, token)| {
        let is_macro = is(at + 1, "!") && WORDS[..4].contains(&token.text);
        let is_call = is(at + 1, "(") && is(at + 2, ")");
        let is_out = is_call && *at > 0 && is(at - 1, ".") && token.text == "out";
        let is_stream = is_call && ["stdout", "stderr"].contains(&token.text);
        is_macro || is_out || is_stream
    });
    found
        .map(|(_, token)| code[..token.at].lines().count())
        .collect()
}

#[test]
fn nothing_is_written_but_lines_and_what_is_safe_for_a_reason() {
    let doors: BTreeMap<&str, &str> = DOORS.iter().copied().collect();
    // Only asked whether it has a reader.
    let asked = ["cli/machine/pause.rs"];
    let mut seen = Vec::new();
    for (file, code) in program() {
        let name = file.to_string_lossy().replace('\\', "/");
        let lines = writes(&code.text);
        if lines.is_empty() || asked.contains(&name.as_str()) {
            continue;
        }
        assert!(
            doors.contains_key(name.as_str()),
            "{name} writes past `Ui::print` in lines {lines:?}: say in DOORS what makes that safe"
        );
        seen.push(name);
    }
    for door in doors.keys() {
        assert!(
            seen.iter().any(|name| name == door),
            "{door} is no door any more"
        );
    }
}

#[test]
fn a_planted_door_is_seen() {
    let code = "fn f(app: &mut App) {\n    println!(\"{}\", text);\n    app.ui.out().write_all(b)?;\n    \
                io::stdout().flush()?;\n    ui.print(line)?;\n    fmt.print(out);\n}\n";
    assert_eq!(writes(code), [2, 3, 4]);
}

/// What a tool keeps as it came may have line breaks of its own.
#[test]
fn an_answer_is_one_line() {
    let sandbox = Sandbox::new();
    let body = "{\"model\": \"m\", \"tools\": [\n {\"name\": \"f\",\n  \"input_schema\": {}}\n], \"messages\": [{\"role\": \"user\", \"content\": \"go\"}]}";
    sandbox.write("body.json", body);
    sandbox.ok(&["import", "body.json"]);
    let answer = sandbox.ok(&["api", "context"]);
    assert!(
        answer.contains("input_schema") && answer.lines().count() == 1,
        "{answer}"
    );
}

/// Advice names what to type between marks, so that a program is told the method.
#[test]
fn commands_in_the_hints_of_deeds_are_marked() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/deeds");
    // What is no line to type, or one of a shell's.
    let other = [
        "with this tract brings",
        "| tract import -",
        "tract import --help",
        "tract config receive.…",
    ];
    let mut found = Vec::new();
    for path in walkdir(&root) {
        let text = std::fs::read_to_string(&path).expect("readable");
        let is_advice = path.ends_with("advice.rs");
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let is_hint = is_advice || line.contains("hint");
            let mut typed = line.match_indices("tract ");
            let is_open = typed.any(|(at, found)| {
                let names = line[at + found.len()..].starts_with(|c: char| c.is_ascii_lowercase());
                names && !line[..at].ends_with('`') && line[..at].contains('"')
            });
            let is_other = other.iter().any(|other| line.contains(other));
            if is_hint && is_open && !is_other && !line.starts_with("//") {
                found.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// All files below a folder.
fn walkdir(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let below = |path: PathBuf| match path.is_dir() {
        true => walkdir(&path),
        false => vec![path],
    };
    paths.flat_map(below).collect()
}

/// A program is told of methods and parameters, a person of commands and options.
#[test]
fn advice_is_in_the_language_of_the_door() {
    let sandbox = Sandbox::with_messages(&[("user", "One")]);
    for (method, params, hint) in [
        (
            "truncate",
            "{}",
            r#"with config {"key":"budget.max","value":"128k"}, truncate alone fits that"#,
        ),
        (
            "show",
            r#"{"rev":"nowhere"}"#,
            "log lists them, branches the branches",
        ),
        ("undo", r#"{"operation":99}"#, "reflog lists past commands"),
    ] {
        let told = sandbox.tract(&["api", method, params]);
        let line = told
            .lines()
            .find(|line| line.starts_with('{'))
            .expect("an answer");
        let answer: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(answer["error"]["hint"], hint, "{told}");
        assert!(
            answer["error"]["facts"]["helps"]["method"].is_string(),
            "{told}"
        );
    }
    let told = sandbox.tract(&["truncate"]);
    assert!(
        told.contains("hint: with tract config budget.max 128k, tract truncate alone fits that"),
        "{told}"
    );
}
