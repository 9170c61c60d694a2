//! What is written to be shared, without who and where: each kind, in each frame, in each format.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tract::formats::FORMATS;

use crate::sandbox::Sandbox;
use crate::upkeep::secrets::github;

/// What must be nowhere.
const GONE: [&str; 7] = [
    "alice",
    "Alice",
    "smith",
    "Smith",
    "tinkerbox",
    "b.jones",
    "ghp_",
];
/// What is written beside session files.
const PAGES: [&str; 2] = ["html", "markdown"];
/// Whose files are JSON, in one or more values.
const JSON: [&str; 9] = [
    "claude-code",
    "anthropic",
    "openai",
    "responses",
    "codex",
    "pi",
    "gemini",
    "opencode",
    "roo",
];

/// A session of somebody, who stands wherever a file has room for her.
fn session() -> String {
    let id = "70707070-2222-4333-8444-555555555555";
    let cwd = "/home/alice.smith/shop";
    let kinds = [
        "alice.smith",
        "alice.smith@example.com",
        "Alice Smith <alice.smith@example.com>",
        "Alice Smith",
        cwd,
        "alice.smith@tinkerbox:~/shop$ ls",
        "on tinkerbox",
        "B. Jones <b.jones@firm.example>",
        "-home-alice-smith-shop",
        r"C:\Users\alice.smith\x",
    ];
    let frames = kinds.map(|it| {
        let inner = json!({"by": it, "text": format!("\n{it}\n")}).to_string();
        let quoted = json!({"arguments": inner}).to_string();
        format!("{it}, ({it}) \u{1b}[32m{it}\u{1b}[0m `{it}` <b title=\"{it}\">\n{inner}\n{quoted}")
    });
    let all = frames.join("\n");
    let record = |number: usize, kind: &str, message: Value| {
        let parent = (number > 1).then(|| format!("{:08}-0000-4000-8000-000000000000", number - 1));
        json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": cwd, "sessionId": id,
            "version": "2.1.200", "gitBranch": "alice.smith/fix", "type": kind, "message": message,
            "uuid": format!("{number:08}-0000-4000-8000-000000000000"),
            "timestamp": format!("2026-09-01T10:00:{number:02}.000Z"),
        })
    };
    let reply = |number: usize, content: Value| {
        json!({
            "id": format!("m{number}"), "type": "message", "role": "assistant",
            "model": "claude-sonnet-4-5-20250929", "content": content, "stop_reason": "tool_use",
            "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
        })
    };
    let call = json!([
        {"type": "thinking", "thinking": all, "signature": "EqQB"},
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": all, "env": {"k": [all]}}},
    ]);
    let result = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": all}]);
    let document = json!([
        {"type": "text", "text": "And there?"},
        {"type": "document", "title": all, "source": {"type": "text", "media_type": "text/plain", "data": all}},
    ]);
    let mut third = record(3, "user", json!({"role": "user", "content": result}));
    third["toolUseResult"] =
        json!({"stdout": all, "stderr": "", "interrupted": false, "isImage": false});
    let token = github(5);
    let lines = [
        json!({"type": "summary", "summary": all, "leafUuid": "00000004-0000-4000-8000-000000000000"}),
        record(
            1,
            "user",
            json!({"role": "user", "content": format!("{all}\nwith {token}")}),
        ),
        record(2, "assistant", reply(2, call)),
        third,
        record(
            4,
            "assistant",
            reply(4, json!([{"type": "text", "text": all}])),
        ),
        record(5, "user", json!({"role": "user", "content": document})),
        json!({"type": "custom-title", "customTitle": format!("alice.smith asks {}", kinds[2]), "sessionId": id}),
        json!({"type": "last-prompt", "lastPrompt": all, "sessionId": id}),
        json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-09-01T10:00:08.000Z", "sessionId": id, "content": all}),
        json!({"type": "some-new-kind", "sessionId": id, "payload": {"deep": ["x", {"y": all}]}}),
    ];
    lines.map(|line| line.to_string() + "\n").concat()
}

fn holds(text: &str) -> Option<&'static str> {
    GONE.into_iter().find(|gone| text.contains(gone))
}

/// All text of a folder, names included.
fn text_of(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).expect("read").flatten() {
        all += &entry.file_name().to_string_lossy();
        match entry.path().is_dir() {
            true => all += &text_of(&entry.path()),
            false => all += &String::from_utf8_lossy(&fs::read(entry.path()).expect("read")),
        }
    }
    all
}

fn imported() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session());
    sandbox.ok(&["import", "session.jsonl", "--as", "alice.smith/topic"]);
    sandbox.ok(&[
        "--on",
        "alice.smith/topic",
        "pin",
        ":1",
        "--reason",
        "Alice Smith wants it",
    ]);
    sandbox
}

#[test]
fn nobody_is_in_what_is_exported() {
    let sandbox = imported();
    let mut written = 0;
    for format in FORMATS.iter().map(|it| it.name).chain(PAGES) {
        let export = [
            "export",
            "alice.smith/topic",
            "--anonymous",
            "--format",
            format,
            "-o",
            "out",
            "--force",
        ];
        let said = sandbox.tract(&export);
        if said.contains("can be read and not written") {
            continue;
        }
        written += 1;
        let text = fs::read_to_string(sandbox.work().join("out")).expect("written");
        assert_eq!(holds(&text), None, "{format}: {text}");
        assert!(text.contains("person-1"), "{format}: {text}");
        if JSON.contains(&format) {
            let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
            assert!(values.into_iter().all(|it| it.is_ok()), "{format}");
        }
    }
    assert!(written > JSON.len() + PAGES.len(), "{written}");
    // One name for one person, in whatever spelling.
    let text = sandbox.ok(&[
        "export",
        "alice.smith/topic",
        "--anonymous",
        "--format",
        "claude-code",
    ]);
    assert!(text.contains(r#""cwd":"/home/person-1/shop""#), "{text}");
    assert!(text.contains("person-1 <person-1@mail.invalid>"), "{text}");
    assert!(text.contains("person-1@host-1:~/shop$ ls"), "{text}");
    assert!(text.contains("[redacted:github-token]"), "{text}");
    // It is a session still.
    let back = Sandbox::new();
    back.write("back.jsonl", text);
    back.ok(&["import", "back.jsonl"]);
}

#[test]
fn nobody_is_in_a_bundle_or_on_pages() {
    let sandbox = imported();
    let said = sandbox.tract(&["bundle", "out.tract", "--all", "--sources", "--anonymous"]);
    assert!(
        said.contains("Renamed ") && said.contains(" mail-address"),
        "{said}"
    );
    let bundle = fs::read(sandbox.work().join("out.tract")).expect("written");
    let packed = &bundle[bundle.iter().position(|it| *it == b'\n').expect("a head") + 66..];
    let plain = zstd::decode_all(packed).expect("unpacked");
    assert_eq!(holds(&String::from_utf8_lossy(&plain)), None);
    let back = Sandbox::new();
    back.write("in.tract", &bundle);
    back.ok(&["unbundle", "in.tract"]);
    back.ok(&["fsck"]);
    assert!(back.ok(&["branch"]).contains("person-1/topic"));
    sandbox.ok(&["web", "--out", "pages", "--anonymous"]);
    let pages = text_of(&sandbox.work().join("pages"));
    assert_eq!(holds(&pages), None);
    assert!(pages.contains("person-1"));
}

#[test]
fn programs_have_the_same() {
    let sandbox = imported();
    let asked = |params: Value| sandbox.tract(&["api", "export", &params.to_string()]);
    let all = json!({"rev": "alice.smith/topic", "format": "claude-code", "anonymous": true});
    let text = asked(all.clone());
    assert_eq!(holds(&text), None, "{text}");
    assert!(text.contains("person-1"), "{text}");
    let mut both = all;
    both["allow_secrets"] = json!(true);
    assert!(asked(both).contains("'anonymous' replaces secrets, too"));
    let said = sandbox.tract(&["export", "--anonymous", "--allow-secrets"]);
    assert!(said.starts_with("exit code: 2"), "{said}");
}
