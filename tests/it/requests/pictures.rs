//! A picture counts by its size, and by the rule of the model that the conversation names.

use serde_json::{Value, json};
use tract::model::base64;

use crate::sandbox::Sandbox;

/// The first bytes of a PNG of this size, as base64: nobody looks at more.
fn png(width: u32, height: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0]);
    base64::encode(&bytes)
}

/// Commits a picture of this size by the user; what is said of it.
fn picture(sandbox: &Sandbox, width: u32, height: u32) -> String {
    let url = format!("data:image/png;base64,{}", png(width, height));
    let message =
        json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]});
    sandbox.tract_with(&["commit", "--json", "-"], message.to_string())
}

/// The tokens that are said behind a word.
fn tokens(said: &str, word: &str) -> u64 {
    let (_, behind) = said.split_once(word).expect("the word");
    let number = behind.trim_start_matches(|it: char| !it.is_ascii_digit());
    let number: String = number
        .chars()
        .take_while(|it| it.is_ascii_digit() || *it == ',')
        .filter(char::is_ascii_digit)
        .collect();
    number.parse().expect("a number")
}

fn status(sandbox: &Sandbox) -> u64 {
    tokens(&sandbox.ok(&["status"]), "Tokens")
}

#[test]
fn a_picture_counts_by_the_rule_of_the_model_in_force() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    picture(&sandbox, 1_024, 1_024);
    // Nobody knows who will be sent it: what any picture counts.
    assert_eq!(status(&sandbox), 1_507);
    for (model, picture) in [
        ("claude-sonnet-4-5", 1_369),
        ("gpt-4o", 765),
        ("gemini-2.5-pro", 1_032),
        ("my-own", 1_500),
    ] {
        let reply = ["commit", "-r", "assistant", "-m", "ok", "--model", model];
        sandbox.ok(&reply);
        let total = 3 + (3 + 1 + picture) + 5;
        assert_eq!(status(&sandbox), total, "{model}");
        let log = sandbox.ok(&["log"]);
        assert!(log.contains(&format!("+{}", grouped(picture + 7))), "{log}");
        assert!(log.contains(&format!("~{}", grouped(total))), "{log}");
        let listed = sandbox.ok(&["branch"]);
        assert!(
            listed.contains(&format!("~{} tokens", grouped(total))),
            "{listed}"
        );
        let plan = sandbox.ok(&["clear", "--all", "--dry-run"]);
        assert!(plan.contains(&grouped(picture + 4)), "{plan}");
        sandbox.ok(&["undo"]);
    }
    sandbox.ok(&["fsck"]);
}

fn grouped(number: u64) -> String {
    tract::model::tokens::grouped(number)
}

#[test]
fn a_budget_counts_pictures_by_their_size() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    sandbox.ok(&["config", "budget.max", "1000"]);
    sandbox.ok(&["config", "budget.action", "refuse"]);
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        "look",
        "--model",
        "claude-sonnet-4-5",
    ]);
    // Five small ones fit, where one was too much.
    for _ in 0..5 {
        let said = picture(&sandbox, 400, 300);
        assert!(said.ends_with(" user ~169 tokens\n"), "{said}");
    }
    assert_eq!(tokens(&sandbox.ok(&["status"]), "]"), 3 + 5 + 5 * (4 + 165));
    let refused = picture(&sandbox, 1_920, 1_080);
    assert!(refused.contains("the context would have 2,4"), "{refused}");
}

/// A session of Claude Code with ten small screenshots, each of which its provider counted as 165 tokens.
fn screenshots() -> String {
    let id = "5e551011-0000-4000-8000-000000000001";
    let mut lines = Vec::new();
    let mut parent = Value::Null;
    let mut add = |kind: &str, message: Value| {
        let number = lines.len() + 1;
        let uuid = format!("{number:08}-0000-4000-8000-000000000000");
        let record = json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/home/user",
            "sessionId": id, "version": "2.1.200", "gitBranch": "main", "type": kind, "message": message,
            "uuid": uuid, "timestamp": format!("2026-03-14T11:00:{number:02}.000Z")});
        parent = json!(uuid);
        lines.push(record.to_string() + "\n");
    };
    add(
        "user",
        json!({"role": "user", "content": "Click through the shop"}),
    );
    for at in 0..=10_u64 {
        let call = json!([{"type": "tool_use", "id": format!("toolu_{at}"), "name": "screenshot", "input": {"n": at}}]);
        let content = if at < 10 {
            call
        } else {
            json!([{"type": "text", "text": "Done."}])
        };
        // Each turn has the call, its frame and the picture; the rest is in no file.
        let usage = json!({"input_tokens": 4, "output_tokens": 20, "cache_read_input_tokens": 3_000 + 200 * at,
            "cache_creation_input_tokens": 200});
        let id = format!("msg_{at}");
        add(
            "assistant",
            json!({"role": "assistant", "type": "message", "id": id, "model": "claude-sonnet-4-5",
            "content": content, "stop_reason": "tool_use", "stop_sequence": null, "usage": usage}),
        );
        if at < 10 {
            let source =
                json!({"type": "base64", "media_type": "image/png", "data": png(400, 300)});
            let picture = json!([{"type": "image", "source": source}]);
            add(
                "user",
                json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": format!("toolu_{at}"), "content": picture}]}),
            );
        }
    }
    lines.concat()
}

#[test]
fn what_pruned_pictures_leave_is_what_the_provider_counted_of_the_rest() {
    let sandbox = Sandbox::new();
    sandbox.write("shots.jsonl", screenshots());
    sandbox.ok(&["import", "shots.jsonl"]);
    // The newest reply was sent 5,204, and is itself a few.
    let before = status(&sandbox);
    assert!((5_200..5_230).contains(&before), "{before}");
    sandbox.ok(&["prune", "--turns", "0", "--min", "0", "--protect", "0"]);
    // Ten pictures of 165 are gone, and a line stands for each.
    let after = status(&sandbox);
    assert!((3_500..4_200).contains(&after), "{after}");
    sandbox.ok(&["fsck"]);
    sandbox.ok(&["undo"]);
    assert_eq!(status(&sandbox), before);
}
