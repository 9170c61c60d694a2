//! Messages nested deeper than anybody means: what comes in can be read again, by every command and
//! in every format; what cannot is refused, and nothing else is lost.

mod files;

use std::process::Output;

use tract::Error;
use tract::compile::{RequestOptions, compile};
use tract::formats::Format;
use tract::ingest::{self, ExportOptions, ImportRequest};
use tract::model::{Draft, EntryId, Message, Millis, Part, Role};
use tract::repo::{Call, CommitOptions, Repo};

use self::files::sessions;
use crate::conditions::sample;
use crate::sandbox::Sandbox;

/// How deep a message may be, as `docs/object-format.md` counts.
const DEPTH_MAX: usize = 100;
/// Around the limit, around those of the readers that we build on, and beyond every stack.
const DEPTHS: [usize; 11] = [
    62,
    63,
    64,
    DEPTH_MAX - 1,
    DEPTH_MAX,
    DEPTH_MAX + 1,
    127,
    128,
    129,
    10_001,
    1_000_001,
];

/// A JSON value of so many levels.
fn json(levels: usize) -> String {
    match levels {
        0 => "1".to_owned(),
        _ => format!(
            r#"{{"k":{}1{}}}"#,
            "[".repeat(levels - 1),
            "]".repeat(levels - 1)
        ),
    }
}

/// Blocks of Anthropic's with which a message is so deep; none where there is no such depth.
fn results(depth: usize) -> Option<String> {
    let results = (depth > 3 && depth % 2 == 1).then_some((depth - 3) / 2)?;
    let open = r#"{"type":"tool_result","tool_use_id":"t","content":["#;
    let inside = r#"{"type":"text","text":"needle"}"#;
    Some(format!(
        "[{}{inside}{}]",
        open.repeat(results),
        "]}".repeat(results)
    ))
}

fn arguments(depth: usize) -> String {
    let input = json(depth - 3);
    format!(
        r#"[{{"type":"text","text":"needle"}},{{"type":"tool_use","id":"c","name":"f","input":{input}}}]"#
    )
}

fn opaque(depth: usize) -> String {
    let inside = json(depth - 3);
    format!(r#"[{{"type":"text","text":"needle"}},{{"type":"redacted_thinking","data":{inside}}}]"#)
}

/// Anthropic's messages of a depth: what is deep in it, and its JSON.
fn messages(depth: usize) -> Vec<(&'static str, String)> {
    let with = |role: &str, content: String| format!(r#"{{"role":"{role}","content":{content}}}"#);
    let mut all = vec![
        ("arguments", with("assistant", arguments(depth))),
        ("opaque", with("assistant", opaque(depth))),
    ];
    all.extend(results(depth).map(|content| ("results", with("user", content))));
    all
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    sandbox
        .command(arguments)
        .output()
        .expect("the program runs")
}

fn exit(sandbox: &Sandbox, arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(sandbox, arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), told)
}

/// What of these commands doesn't succeed.
fn failures(sandbox: &Sandbox, commands: &[&[&str]]) -> Vec<String> {
    let failure = |arguments: &&[&str]| {
        let (code, told) = exit(sandbox, arguments);
        (code != Some(0)).then(|| format!("{arguments:?}: {code:?}\n{told}"))
    };
    commands.iter().filter_map(failure).collect()
}

/// What doesn't read all messages of a repository: a command, or an import of an export.
fn unread(sandbox: &Sandbox) -> Vec<String> {
    let mut failed = failures(
        sandbox,
        &[
            &["log", "-n", "0"],
            &["log", "-n", "0", "--oneline"],
            &["status"],
            &["diff", "HEAD^", "HEAD"],
            &["find", "-F", "e"],
            &["compile", "--format", "openai"],
            &["compile", "--format", "anthropic"],
        ],
    );
    for hash in sandbox.ok(&["log", "-n", "0", "--format", "%H"]).lines() {
        failed.extend(failures(sandbox, &[&["show", "--full", hash]]));
    }
    for format in [
        "claude-code",
        "codex",
        "gemini",
        "qwen",
        "opencode",
        "kilo",
        "copilot-cli",
        "pi",
        "vscode-chat",
        "continue",
        "roo",
        "openai",
        "anthropic",
    ] {
        let file = format!("out-{format}.json");
        failed.extend(failures(
            sandbox,
            &[&["export", "--format", format, "-o", &file]],
        ));
        let other = Sandbox::empty();
        let text = std::fs::read(sandbox.work().join(&file)).unwrap_or_default();
        let path = other.write(&file, text).display().to_string();
        let (code, told) = exit(&other, &["import", "--format", format, &path]);
        let result = told.contains("of a call") || told.contains("without its call");
        let result = result && !told.contains("levels");
        if code != Some(0) && !result {
            failed.push(format!("import of {format}: {code:?}\n{told}"));
        }
    }
    failed
}

#[test]
fn a_commit_takes_what_can_be_read_again_and_refuses_the_rest() {
    let sandbox = Sandbox::with_messages(&[("user", "first")]);
    let mut failed = Vec::new();
    for depth in DEPTHS {
        for (what, text) in sample(messages(depth)) {
            sandbox.write("one.json", &text);
            sandbox.write("many.jsonl", format!("{text}\n{text}\n"));
            let fits = depth <= DEPTH_MAX;
            let log = || exit(&sandbox, &["log", "-n", "0", "--oneline"]);
            let before = log();
            for arguments in [
                &["commit", "--json", "one.json"][..],
                &["commit", "--batch", "many.jsonl"],
                &["commit", "--edit", ":1", "--json", "one.json"],
            ] {
                let (code, told) = exit(&sandbox, arguments);
                let expected = if fits { 0 } else { 2 };
                if code != Some(expected) || fits == told.contains("levels") {
                    failed.push(format!(
                        "{what} at {depth}: {arguments:?}: {code:?}\n{told}"
                    ));
                }
            }
            if !fits && log() != before {
                failed.push(format!("{what} at {depth} came in"));
            }
        }
    }
    failed.extend(unread(&sandbox));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// What is wrong with an import of a file that holds something so deep.
fn wrong(
    format: &str,
    around: Option<usize>,
    depth: usize,
    text: &str,
) -> tract::Result<Vec<String>> {
    // Where it isn't in a message, no depth is too deep.
    let fits = around.is_none() || depth <= DEPTH_MAX;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session.json");
    std::fs::write(&path, text).expect("written");
    let format = Format::named(format)?;
    let repo = Repo::ephemeral()?;
    let request = ImportRequest {
        format: Some(format),
        ..ImportRequest::at(Millis(0), "import")
    };
    let report = ingest::import(&repo, &path, &request, &mut |_| {})?;
    let problems = report.problems.iter().map(|problem| problem.reason.clone());
    let (deep, other): (Vec<String>, Vec<String>) =
        problems.partition(|reason| reason.contains("levels"));
    let mut wrong: Vec<String> = other
        .into_iter()
        .filter(|reason| !reason.contains("call"))
        .collect();
    if deep.is_empty() != fits {
        wrong.push(format!("said to be too deep: {deep:?}"));
    }
    let Some(tip) = report.sessions.last().and_then(|session| session.tip) else {
        wrong.push("nothing came in".to_owned());
        return Ok(wrong);
    };
    let context = repo.context(&tip)?;
    let messages = repo.messages(&context)?;
    let texts: String = messages.iter().map(Message::canonical).collect();
    if !texts.contains("before") || !texts.contains("after") {
        wrong.push("something else is lost".to_owned());
    }
    for provider in ["openai", "anthropic"] {
        let options = RequestOptions {
            provider: provider.parse()?,
            ..RequestOptions::default()
        };
        compile(&messages, &repo.settings(&context)?, &options)?;
    }
    let options = ExportOptions {
        prices: None,
        format,
        now: Millis(0),
        session: None,
    };
    let mut back = Vec::new();
    ingest::export(&repo, &tip, &options, &mut back)?;
    // Of several sessions in a file, one is written.
    if report.sessions.len() == 1 && back != text.as_bytes() {
        wrong.push("another file comes back".to_owned());
    }
    Ok(wrong)
}

/// The file with a value in it so that its message is so deep; none where there is no such depth.
fn filled(text: &str, around: Option<usize>, depth: usize) -> Option<String> {
    if text.contains("RESULTS") {
        Some(text.replace("RESULTS", &results(depth)?))
    } else {
        Some(text.replace("DEEP", &json(depth - around.unwrap_or(0))))
    }
}

#[test]
fn an_import_keeps_what_is_nested_too_deep_and_says_so() {
    let mut failed = Vec::new();
    for (format, place, around, text) in sample(sessions()) {
        for depth in DEPTHS {
            let Some(text) = filled(&text, around, depth) else {
                continue;
            };
            let found = wrong(format, around, depth, &text);
            let found = found.unwrap_or_else(|error| vec![error.to_string()]);
            failed.extend(
                found
                    .iter()
                    .map(|why| format!("{format}, {place}, {depth}: {why}")),
            );
        }
    }
    assert!(
        failed.is_empty(),
        "{} failures\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn the_library_refuses_what_the_program_refuses() {
    let results = |count: usize| {
        let result = |content| Part::ToolResult {
            call: "t".to_owned(),
            content: vec![content],
            is_error: false,
        };
        let part = (0..count).fold(Part::text("x"), |inner, _| result(inner));
        Message::new(Role::Tool, vec![part])
    };
    let tried = move || {
        let repo = Repo::ephemeral().expect("a repository");
        let commit = |draft: Draft| {
            let done = repo.commit(Call::default(), &[draft], &CommitOptions::default());
            done.map(|done| done[0].hash)
        };
        let first = commit(Draft::append(results(48))).expect("it fits");
        let context = repo.context(&first).expect("it is read");
        assert_eq!(repo.messages(&context).expect("read"), [results(48)]);
        let mut setting = Draft::append(Message::text(Role::User, "x"));
        setting.settings.insert("tools".to_owned(), json(DEPTH_MAX));
        for draft in [
            Draft::append(results(49)),
            Draft::append(results(10_000)),
            Draft::edit(EntryId::of(first), results(10_000)),
            setting,
        ] {
            let refused = commit(draft).expect_err("too deep");
            assert!(matches!(refused, Error::TooDeep { .. }), "{refused}");
        }
        // Among so many that they are made ready on other threads, which have less room.
        let many = (0..300).map(|at| Draft::append(Message::text(Role::User, at.to_string())));
        let mut many: Vec<Draft> = many.collect();
        many.push(Draft::append(results(10_000)));
        let done = repo.commit(Call::default(), &many, &CommitOptions::default());
        let refused = done.expect_err("too deep");
        assert!(matches!(refused, Error::TooDeep { .. }), "{refused}");
        let context = repo.context(&first).expect("it is read");
        assert_eq!(context.entries.len(), 1);
    };
    // To drop what is nested by thousands takes room, whoever made it.
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    let done = thread.spawn(tried).expect("a thread").join();
    done.expect("it goes well");
}

#[test]
fn what_came_in_at_the_limit_is_read_by_every_command() {
    let sandbox = Sandbox::new();
    for (at, (_, _, around, text)) in sessions().iter().enumerate() {
        let text =
            filled(text, *around, DEPTH_MAX).or_else(|| filled(text, *around, DEPTH_MAX - 1));
        let text = text.expect("one of them is odd");
        sandbox.write(&format!("sessions/{at}.json"), text);
    }
    exit(&sandbox, &["import", "sessions"]);
    let mut failed = unread(&sandbox);
    for branch in sandbox.ok(&["branch"]).lines() {
        let branch = branch.trim_start_matches(['*', ' ']).split(' ').next();
        failed.extend(failures(
            &sandbox,
            &[&["show", "--full", branch.expect("a name")]],
        ));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
