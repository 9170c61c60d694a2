//! Records that are not as they should be: what can be read is, the rest is kept, counted and named.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const FILE: &str = "session.jsonl";

/// A Claude Code session of these records, each the child of the one before.
fn session(records: &[Value]) -> String {
    let mut parent = Value::Null;
    let mut lines = Vec::new();
    for (record, number) in records.iter().zip(1..) {
        let uuid = format!("r{number}");
        let mut line = json!({
            "parentUuid": parent, "isSidechain": false, "cwd": "/w", "version": "2.1.197",
            "sessionId": "11111111-2222-4333-8444-555555555555", "uuid": uuid,
            "timestamp": "2026-01-05T10:00:01.000Z",
        });
        let fields = record.as_object().expect("an object").clone();
        line.as_object_mut().expect("an object").extend(fields);
        lines.push(line.to_string());
        parent = uuid.into();
    }
    lines.join("\n") + "\n"
}

fn user(content: Value) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": content}})
}

fn reply(id: &str, block: Value, usage: Option<Value>) -> Value {
    let mut message = json!({
        "id": id, "type": "message", "role": "assistant", "model": "claude-x",
        "content": [block],
    });
    if let Some(usage) = usage {
        message["usage"] = usage;
    }
    json!({"type": "assistant", "message": message})
}

fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn an_attachment_of_an_unknown_kind_is_kept_counted_and_named() {
    let sandbox = Sandbox::empty();
    let moon = |phase: &str| json!({"type": "attachment", "attachment": {"type": "moon_phase", "content": phase}});
    let file = session(&[
        user("go".into()),
        moon("full"),
        moon("new"),
        json!({"type": "attachment", "attachment": {"content": "of no kind"}}),
        json!({"type": "attachment", "attachment": "no object"}),
        reply(
            "m1",
            said("gone"),
            Some(json!({"input_tokens": 10, "output_tokens": 2})),
        ),
    ]);
    sandbox.write(FILE, &file);

    insta::assert_snapshot!(sandbox.tract(&["import", FILE, "-v"]), @r"
    --- stderr
    Made a repository in .tract
    Imported claude-code 11111111-2222: 2 messages, on main
      records other than messages  2 attachment/(no type), 2 attachment/moon_phase
      not in the file              system prompt, tool definitions, 2 attachments of the unknown kind (no type), 2 attachments of the unknown kind moon_phase
    ");
    insta::assert_snapshot!(sandbox.tract(&["compile"]), @r#"
    {"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"gone"}]}
    --- stderr
    note: not in the session file: system prompt, tool definitions, 2 attachments of the unknown kind (no type), 2 attachments of the unknown kind moon_phase
    "#);
    assert_eq!(sandbox.ok(&["export"]), file);
    sandbox.ok(&["commit", "--edit", ":1", "-m", "go on"]);
    // After an edit, too.
    assert_eq!(sandbox.ok(&["export"]).matches("moon_phase").count(), 2);
}

#[test]
fn a_usage_that_is_none_is_no_count() {
    let largest = u64::MAX;
    let usages = [
        None,
        Some(Value::Null),
        Some(json!({})),
        Some(json!({"input_tokens": 0, "output_tokens": 0})),
        Some(json!({"input_tokens": -5, "output_tokens": 1})),
        Some(json!({"input_tokens": "many"})),
        Some(json!({"input_tokens": 1.5})),
        Some(json!([1])),
        Some(
            json!({"input_tokens": largest, "cache_read_input_tokens": largest, "output_tokens": largest}),
        ),
        Some(json!({"input_tokens": largest, "output_tokens": largest})),
    ];
    // One turn: each call is answered, and the next reply follows.
    let mut records = vec![user("go".into())];
    for (at, usage) in usages.iter().enumerate() {
        let id = format!("c{at}");
        let call = json!({"type": "tool_use", "id": id, "name": "run", "input": {}});
        records.push(reply(&format!("m{at}"), call, usage.clone()));
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        records.push(user(result));
    }
    let sandbox = Sandbox::empty();
    sandbox.write(FILE, session(&records));
    sandbox.ok(&["import", FILE]);
    sandbox.ok(&["config", "budget.max", "128k"]);

    insta::assert_snapshot!(sandbox.tract(&["status"]), @r"
    On main, HEAD 7805175  (claude-code/11111111…)
    Context  21 messages
    Window   [>...................] 118 of 128k (<1%)
             user 4% · assistant 52% · tool 43%
             largest: run 6 (:2)

      7805175  :21  2026-01-05 10:00:01  append  tool       +5  run → ok
      3508f47  :20  2026-01-05 10:00:01  append  assistant  +6  run
      7c192ff  :19  2026-01-05 10:00:01  append  tool       +5  run → ok
    ");
    let told = sandbox.ok(&["status", "-v"]);
    assert!(
        told.contains("not known: the replies say zero, or more than any context has"),
        "{told}"
    );
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--to-budget", "50%", "--dry-run"]), @r"
    --- stderr
    Nothing to hide: the context fits 64,000 tokens already
    ");
    insta::assert_snapshot!(sandbox.tract(&["fsck"]), @r"
    --- stderr
    Checked 21 messages, 21 commits, 1 session file and 2 refs: no damage
    ");

    // One that counts among them is what is gone by.
    records.push(reply(
        "last",
        said("done"),
        Some(json!({"input_tokens": 900, "output_tokens": 5})),
    ));
    sandbox.write(FILE, session(&records));
    sandbox.ok(&["import", FILE]);
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r"
    On main, HEAD 7a719aa  (claude-code/11111111…)
    Context  22 messages
    Window   [>...................] 905 of 128k (<1%)
             user 4% · assistant 54% · tool 42%
             largest: run 6 (:2)

      7a719aa  :22  2026-01-05 10:00:01  append  assistant  +5  done
      7805175  :21  2026-01-05 10:00:01  append  tool       +5  run → ok
      3508f47  :20  2026-01-05 10:00:01  append  assistant  +6  run
    ");
}
