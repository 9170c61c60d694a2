use std::time::{Duration, Instant};

use super::*;
use crate::render::plain;

/// The pieces of a text that have a colour.
fn told(language: &str, text: &str) -> Vec<(String, &'static str)> {
    let language = Language::named(language).expect("known");
    let found = spans(text, &language);
    let told = found
        .iter()
        .map(|span| (text[span.range.clone()].to_owned(), span.syntax.as_str()));
    told.collect()
}

#[test]
fn each_language_has_its_colours() {
    for (language, text, wanted) in [
        (
            "rust",
            "fn main() { let s = \"a\"; } // b",
            [
                ("fn", "keyword"),
                ("main", "function"),
                ("\"a\"", "string"),
                ("// b", "comment"),
            ],
        ),
        (
            "python",
            "def f(x):\n    return 12  # n",
            [
                ("def", "keyword"),
                ("f", "function"),
                ("12", "constant"),
                ("# n", "comment"),
            ],
        ),
        (
            "js",
            "const a = new B('x'); f(2)",
            [
                ("const", "keyword"),
                ("'x'", "string"),
                ("f", "function"),
                ("2", "constant"),
            ],
        ),
        (
            "ts",
            "interface A { b: string } // c",
            [
                ("interface", "keyword"),
                ("A", "type"),
                ("string", "type"),
                ("// c", "comment"),
            ],
        ),
        (
            "go",
            "func F() string { return \"x\" } // y",
            [
                ("func", "keyword"),
                ("F", "function"),
                ("\"x\"", "string"),
                ("// y", "comment"),
            ],
        ),
        (
            "java",
            "class A { int b = 1; } // c",
            [
                ("class", "keyword"),
                ("A", "type"),
                ("1", "constant"),
                ("// c", "comment"),
            ],
        ),
        (
            "cpp",
            "int f() { return 3; } // c",
            [
                ("return", "keyword"),
                ("f", "function"),
                ("3", "constant"),
                ("// c", "comment"),
            ],
        ),
        (
            "c",
            "static int f(void) { return 3; } /* c */",
            [
                ("static", "keyword"),
                ("f", "function"),
                ("3", "constant"),
                ("/* c */", "comment"),
            ],
        ),
        (
            "sh",
            "if true; then echo \"a\"; fi # b",
            [
                ("if", "keyword"),
                ("echo", "function"),
                ("\"a\"", "string"),
                ("# b", "comment"),
            ],
        ),
        (
            "json",
            "{\"a\": \"b\", \"c\": 12, \"d\": null}",
            [
                ("\"a\"", "property"),
                ("\"b\"", "string"),
                ("12", "constant"),
                ("null", "constant"),
            ],
        ),
        (
            "yaml",
            "a: 'b'\nc: 12 # d",
            [
                ("a", "property"),
                ("'b'", "string"),
                ("12", "constant"),
                ("# d", "comment"),
            ],
        ),
        (
            "toml",
            "[a]\nb = \"c\" # d\ne = 2",
            [
                ("b", "property"),
                ("\"c\"", "string"),
                ("# d", "comment"),
                ("2", "constant"),
            ],
        ),
        (
            "html",
            "<a href=\"b\">c</a><!-- d -->",
            [
                ("a", "tag"),
                ("href", "property"),
                ("\"b\"", "string"),
                ("<!-- d -->", "comment"),
            ],
        ),
        (
            "css",
            "a { color: red; width: 1px } /* b */",
            [
                ("a", "tag"),
                ("color", "property"),
                ("1", "constant"),
                ("/* b */", "comment"),
            ],
        ),
        (
            "sql",
            "SELECT 'a', 12 FROM b -- c",
            [
                ("SELECT", "keyword"),
                ("'a'", "string"),
                ("12", "constant"),
                ("-- c", "comment"),
            ],
        ),
        (
            "md",
            "# A\n`b`",
            [
                ("A", "heading"),
                ("b", "string"),
                ("A", "heading"),
                ("b", "string"),
            ],
        ),
        (
            "diff",
            "--- a\n+++ b\n@@ -1 +1 @@\n-c\n+d",
            [
                ("-c", "deleted"),
                ("+d", "inserted"),
                ("-c", "deleted"),
                ("+d", "inserted"),
            ],
        ),
    ] {
        let found = told(language, text);
        for (piece, syntax) in wanted {
            let is_it = |(said, of): &(String, &str)| said.contains(piece) && *of == syntax;
            assert!(
                found.iter().any(is_it),
                "{language}: no {syntax} {piece}: {found:?}"
            );
        }
    }
}

#[test]
fn a_language_is_known_by_names_and_by_files() {
    for (word, id) in [
        ("rs", "rust"),
        ("rust,ignore", "rust"),
        ("{.python .numberLines}", "python"),
        ("TypeScript", "typescript"),
        ("c++", "cpp"),
        ("yml", "yaml"),
    ] {
        assert_eq!(Language::named(word).expect(word).as_str(), id);
    }
    for word in ["", "nosuch", "\u{1b}[31m", "no such"] {
        assert_eq!(Language::named(word), None, "{word}");
    }
    for (path, id) in [
        ("/a/b.c/lib.rs", Some("rust")),
        ("C:\\a\\b.py", Some("python")),
        ("Cargo.toml", Some("toml")),
        ("x.tsx", Some("tsx")),
        ("README", None),
        ("", None),
    ] {
        let found = Language::of_file(path);
        assert_eq!(found.as_ref().map(Language::as_str), id, "{path}");
    }
}

#[test]
fn nothing_of_a_text_is_lost_whatever_is_in_it() {
    let rust = Language::named("rust").expect("known");
    for text in [
        "",
        "\n",
        "fn a() {}\r\n\tlet b = \"é漢\";\r\n\r\n",
        "no end",
        "/* é\n漢 */ x\n",
        "\u{1b}[31m\u{202e}\0\n",
    ] {
        let found = spans(text, &rust);
        let together: String = pieces(text, &found).map(|(piece, _)| piece).collect();
        assert_eq!(together, text);
        assert!(
            found
                .iter()
                .all(|span| !text[span.range.clone()].contains('\n')),
            "{text:?}"
        );
        let drawn: Vec<String> = lines(text, &rust).iter().map(plain::paint).collect();
        let wanted: Vec<String> = text
            .lines()
            .map(|line| plain::paint(&Label::Text.quote(line)))
            .collect();
        assert_eq!(drawn, wanted, "{text:?}");
    }
}

/// What others' grammars take seconds for: deep nests, rows of openings, long lines.
fn hostile() -> Vec<(&'static str, String)> {
    let openings = [
        ("json", "["),
        ("json", "{\"a\":"),
        ("rust", "("),
        ("rust", "r#\""),
        ("markdown", "*_`["),
        ("markdown", "> "),
        ("bash", "\"${"),
        ("bash", "$("),
        ("yaml", "- "),
        ("python", "f\"{"),
        ("javascript", "`${"),
        ("javascript", "/("),
        ("typescript", "=>("),
        ("cpp", "a::"),
        ("java", "@A("),
        ("html", "<a "),
        ("css", "a:not("),
        ("sql", "((select "),
    ];
    let long = openings.map(|(language, opening)| (language, opening.repeat(300_000)));
    let rows = openings.map(|(language, opening)| {
        let row = opening.repeat(LINE_BYTES / opening.len());
        (language, format!("{row}\n").repeat(400))
    });
    let short =
        openings.map(|(language, opening)| (language, format!("{opening}\n").repeat(50_000)));
    [long, rows, short].concat()
}

#[test]
fn a_hostile_text_takes_no_longer_than_it_may() {
    // Generous, for a debug build on a busy machine: without the bounds each of some takes minutes.
    let most = Duration::from_secs(20);
    for (name, text) in hostile() {
        let language = Language::named(name).expect("known");
        let from = Instant::now();
        let found = spans(&text, &language);
        let taken = from.elapsed();
        let start: String = text.chars().take(12).collect();
        assert!(taken < most, "{name} {start:?}: {taken:?}");
        assert!(found.iter().all(|span| span.range.end <= TEXT_BYTES));
    }
}
