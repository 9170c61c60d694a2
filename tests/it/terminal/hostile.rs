//! What strangers wrote, in every run of the tests: the oracles of `tests/oracles` over every fixture, over
//! what was found once, and over both of them changed. `tests/fuzz` looks for more.

use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use tract::compile::Provider;

use crate::conditions::{laws, sample};
use crate::oracles::{Care, Target, bundles, requests, shown, targets};

/// A change of some bytes.
#[derive(Clone, Debug)]
enum Change {
    /// One bit is another one.
    Flip(Index, u8),
    /// A run of bytes is gone.
    Cut(Index, Index),
    /// A line stands at another place too.
    Again(Index, Index),
    /// The rest is that of another input.
    Splice(usize, Index, Index),
    /// Something stands in between that means something.
    Insert(Index, String),
    /// A value of the JSON in a line is another one.
    Value(Index, Index, Value),
    /// A value of the JSON in a line is what another one is.
    Swap(Index, Index, Index),
    /// A value of the JSON in a line is gone.
    Gone(Index, Index),
}

/// What a reader may not be ready for.
fn odd() -> impl Strategy<Value = Value> {
    let text = |text: &str| Value::from(text);
    let deep = |levels: usize| {
        let inside = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        serde_json::from_str(&inside).expect("JSON")
    };
    select(vec![
        Value::Null,
        Value::Bool(true),
        Value::from(0),
        Value::from(-1),
        Value::from(u64::MAX),
        Value::from(i64::MIN),
        Value::from(1e300),
        Value::from(0.5),
        text(""),
        text(" "),
        text("user"),
        text("tool"),
        text("assistant"),
        text("text"),
        text("tool_use"),
        text("a/../b\0"),
        text("\u{1b}[31m\u{202e}<zq>"),
        text("1970-01-01T00:00:00Z"),
        text("{\"a\":1}"),
        Value::Array(Vec::new()),
        Value::Object(serde_json::Map::new()),
        deep(3),
        deep(99),
        deep(120),
    ])
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    let token = select(vec![
        "\n",
        "\n\n",
        "{",
        "}",
        "[",
        "]",
        ",",
        "\"",
        "\\",
        "\\ud800",
        "\\u0000",
        "\u{feff}",
        "\r\n",
        "null",
        "data: ",
        "event: x\n",
        "@0",
        "@{1}",
        "~",
        "^",
        "#",
        ":",
        "..",
        "\u{ff}",
    ]);
    let token = prop_oneof![token, select(shown::HOSTILE.to_vec())].prop_map(str::to_owned);
    prop_oneof![
        2 => (at(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        1 => (at(), at()).prop_map(|(from, to)| Change::Cut(from, to)),
        2 => (at(), at()).prop_map(|(line, to)| Change::Again(line, to)),
        1 => (0..64_usize, at(), at()).prop_map(|(seed, at, from)| Change::Splice(seed, at, from)),
        2 => (at(), token).prop_map(|(at, token)| Change::Insert(at, token)),
        5 => (at(), at(), odd()).prop_map(|(line, at, value)| Change::Value(line, at, value)),
        3 => (at(), at(), at()).prop_map(|(line, at, from)| Change::Swap(line, at, from)),
        2 => (at(), at()).prop_map(|(line, at)| Change::Gone(line, at)),
    ]
}

/// Where each line is: all of it is one where it is one value.
fn lines(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    if serde_json::from_slice::<Value>(bytes).is_ok() {
        return std::iter::once(0..bytes.len()).collect();
    }
    let mut at = 0;
    let pieces = bytes.split_inclusive(|byte| *byte == b'\n');
    let lines = pieces.map(|piece| {
        at += piece.len();
        at - piece.len()..at
    });
    lines.collect()
}

/// The values inside a value, itself first.
fn values(value: &Value, found: &mut Vec<String>, path: &str) {
    found.push(path.to_owned());
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                values(item, found, &format!("{path}/{at}"));
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                values(item, found, &format!("{path}/{key}"));
            }
        }
        _ => {}
    }
}

/// Changes the JSON of a line: `with` is given the value, and where it is to be changed.
fn in_json(bytes: &mut Vec<u8>, line: Index, with: impl FnOnce(&mut Value, &[String])) {
    let lines = lines(bytes);
    if lines.is_empty() {
        return;
    }
    let range = line.get(&lines).clone();
    let text = &bytes[range.clone()];
    // What stands before it is a word of the format, as in a stream that is sent.
    let Some(begin) = text.iter().position(|byte| matches!(byte, b'{' | b'[')) else {
        return;
    };
    let Ok(mut value) = serde_json::from_slice::<Value>(&text[begin..]) else {
        return;
    };
    let mut paths = Vec::new();
    values(&value, &mut paths, "");
    with(&mut value, &paths);
    let end = if text.ends_with(b"\n") { "\n" } else { "" };
    let text = [&text[..begin], value.to_string().as_bytes(), end.as_bytes()].concat();
    bytes.splice(range, text);
}

fn apply(bytes: &mut Vec<u8>, change: Change, seeds: &[Vec<u8>]) {
    let len = bytes.len();
    if len == 0 {
        return;
    }
    match change {
        Change::Flip(at, bit) => bytes[at.index(len)] ^= 1 << bit,
        Change::Cut(from, to) => {
            let (from, to) = (from.index(len), to.index(len));
            bytes.drain(from.min(to)..from.max(to));
        }
        Change::Again(line, to) => {
            let lines = lines(bytes);
            let (line, to) = (line.get(&lines).clone(), to.get(&lines).start);
            let line = bytes[line].to_vec();
            bytes.splice(to..to, line);
        }
        Change::Splice(seed, at, from) => {
            let other = &seeds[seed % seeds.len()];
            bytes.truncate(at.index(len));
            bytes.extend(&other[from.index(other.len() + 1)..]);
        }
        Change::Insert(at, token) => {
            let at = at.index(len + 1);
            // A byte that is in no text is one.
            let token = token.replace('\u{ff}', "");
            let token = if token.is_empty() {
                &[0xff][..]
            } else {
                token.as_bytes()
            };
            bytes.splice(at..at, token.iter().copied());
        }
        Change::Value(line, at, new) => in_json(bytes, line, |value, paths| {
            let place = value
                .pointer_mut(at.get(paths).as_str())
                .expect("it was found there");
            *place = new;
        }),
        Change::Swap(line, at, from) => in_json(bytes, line, |value, paths| {
            let new = value
                .pointer(from.get(paths).as_str())
                .expect("it was found there")
                .clone();
            let place = value
                .pointer_mut(at.get(paths).as_str())
                .expect("it was found there");
            *place = new;
        }),
        Change::Gone(line, at) => in_json(bytes, line, |value, paths| {
            let path = at.get(paths);
            let Some((parent, key)) = path.rsplit_once('/') else {
                return;
            };
            match value.pointer_mut(parent) {
                Some(Value::Object(fields)) => {
                    fields.remove(&key.replace("~1", "/").replace("~0", "~"));
                }
                Some(Value::Array(items)) => {
                    items.remove(key.parse().expect("an index"));
                }
                _ => {}
            }
        }),
    }
}

/// An input, which is shown as the text that it mostly is.
#[derive(Clone)]
struct Input(Vec<u8>);

impl Debug for Input {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

/// An input of this target, changed a few times.
fn changed(target: &Target) -> impl Strategy<Value = Input> + use<> {
    let seeds = target.seeds();
    let changes = proptest::collection::vec(change(), 0..5);
    (0..seeds.len(), changes).prop_map(move |(seed, changes)| {
        let mut bytes = seeds[seed].clone();
        for change in changes {
            apply(&mut bytes, change, &seeds);
        }
        Input(bytes)
    })
}

#[test]
fn every_fixture_and_all_that_was_found_holds() {
    for target in targets() {
        let seeds = target.seeds();
        assert!(
            !seeds.is_empty(),
            "{} has nothing to begin with",
            target.name
        );
        for bytes in sample(seeds) {
            (target.hold)(&bytes, Care::Kept);
        }
    }
}

/// An oracle that nothing fails would not be one.
#[test]
fn an_oracle_finds_what_is_wrong() {
    let fails = |what: &str, holds: Box<dyn FnOnce() + std::panic::UnwindSafe>| {
        assert!(std::panic::catch_unwind(holds).is_err(), "{what}");
    };
    let acting = |text: &'static str| {
        Box::new(move || shown::is_safe_on_a_terminal(text))
            as Box<dyn FnOnce() + std::panic::UnwindSafe>
    };
    fails("an escape sequence", acting("\u{1b}[2J"));
    fails("a turned text", acting("\u{202e}"));
    for page in [
        "<script>x</script>",
        "<p onclick=\"x\">",
        "<a href=\"javascript:x\">",
        "<zq>",
    ] {
        let page = format!("<p><style></style>{page}<script></script>");
        fails(
            &page.clone(),
            Box::new(move || shown::is_safe_on_a_page(&page)),
        );
    }
    fails("HTML", Box::new(|| shown::is_safe_in_markdown("<b>x</b>")));
    let open = r#"{"input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}"#;
    fails(
        "an open call",
        Box::new(|| requests::is_valid(Provider::Responses, open)),
    );
    let lines = b"content {\"parts\":[{\"text\":\"x\",\"type\":\"text\"}],\"role\":\"user\"}\n\
        commit {\"operation\":{\"content\":\"@0\",\"type\":\"append\"},\"time\":0}\nref refs/heads/x @1\nend\n";
    assert_eq!(
        bundles::arrives(&bundles::packed(lines)),
        Some(1),
        "it is taken in at all"
    );
}

/// What would act on a terminal or a page, and what is between it.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        select(shown::HOSTILE.to_vec()).prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(laws(512))]

    /// Whatever a message says, nothing of it acts on who reads it.
    #[test]
    fn no_message_acts_on_who_reads_it(
        texts in proptest::collection::vec(hostile(), shown::TEXTS),
        width in 20..90_usize,
    ) {
        shown::hold(texts.try_into().expect("twelve"), width);
    }
}

/// How many changed inputs of each target are tried.
const CASES: u32 = 64;

/// What is changed breaks no promise, of whichever target.
#[test]
fn whatever_is_changed_holds() {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(target) = targets().get(next.fetch_add(1, Ordering::Relaxed)) {
                    hold_changed(target);
                }
            });
        }
    });
}

fn hold_changed(target: &Target) {
    let config = Config {
        source_file: Some(file!()),
        test_name: Some(target.name),
        ..laws(CASES)
    };
    let held = TestRunner::new(config).run(&changed(target), |input| {
        (target.hold)(&input.0, Care::of(&input.0));
        Ok(())
    });
    held.unwrap_or_else(|error| panic!("{}: {error}", target.name));
}
