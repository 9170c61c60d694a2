//! What a client takes back of what was sent: results, thoughts, files that were too long. Each is a commit that hides.

use std::path::Path;

use serde_json::{Value, json};

use super::{File, OLD, of, text};
use crate::sandbox::Sandbox;
use crate::sessions::resume::written;

/// A session whose client cleared a result.
fn cleared(cwd: &Path, cut: Value) -> File {
    let mut file = File::new(OLD, cwd);
    file.user("u1", &json!("Read."), &json!({}));
    for (at, said) in ["the first result", "the second result"]
        .into_iter()
        .enumerate()
    {
        let id = format!("c{at}");
        let call =
            json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": said}]);
        let details = json!({"toolUseResult": {"stdout": said, "backgroundTaskId": "b1"}});
        file.reply(&format!("a{at}"), &call, &json!({}))
            .user(&format!("r{at}"), &result, &details);
    }
    file.reply("a9", &text("Read."), &json!({}))
        .node("cut", json!({"type": "attachment", "attachment": cut}))
        .user("u2", &json!("Back."), &json!({}))
        .reply("a10", &text("Hello."), &json!({}));
    file
}

#[test]
fn results_that_the_client_cleared_are_hidden() {
    let stand_in = "[Old tool result content cleared]";
    let sandbox = Sandbox::new();
    let cut =
        json!({"type": "tool_results_cut", "callIds": ["c0", "nowhere"], "standIn": stand_in});
    let name = cleared(&sandbox.work(), cut).write(&sandbox);
    let told = sandbox.tract(&["import", &name]);
    assert!(!told.contains("unknown kind"), "{told}");
    let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
    assert!(
        compiled.contains(stand_in) && compiled.contains("the second"),
        "{compiled}"
    );
    assert!(!compiled.contains("the first result"), "{compiled}");
    // Before, it was there.
    let before = sandbox.ok(&["compile", "HEAD~3", "--format", "anthropic"]);
    assert!(before.contains("the first result"), "{before}");
    let hidden = sandbox.ok(&["audit"]);
    assert!(!hidden.contains("Nothing was hidden"), "{hidden}");

    sandbox.ok(&["resume"]);
    let records = written(&sandbox);
    let results = of(&records, "user").into_iter();
    let results = results.filter(|it| it["message"]["content"][0]["type"] == "tool_result");
    let contents: Vec<_> = results
        .map(|it| it["message"]["content"][0]["content"].clone())
        .collect();
    assert!(contents[0].to_string().contains(stand_in), "{contents:?}");
    assert!(
        contents[1].to_string().contains("the second result"),
        "{contents:?}"
    );
    // What the client knows of a result goes along where the result does.
    let details = records.iter().filter_map(|it| it.get("toolUseResult"));
    let known: Vec<_> = details.map(|it| it["stdout"].clone()).collect();
    assert_eq!(known, ["the second result"]);
}

#[test]
fn a_cut_that_the_client_would_pass_over_hides_nothing() {
    for cut in [
        json!({"type": "tool_results_cut", "callIds": ["c0"], "standIn": ""}),
        json!({"type": "tool_results_cut", "callIds": "c0", "standIn": "gone"}),
        json!({"type": "tool_results_cut", "callIds": ["c0"], "standIn": "x".repeat(201)}),
    ] {
        let sandbox = Sandbox::new();
        let name = cleared(&sandbox.work(), cut).write(&sandbox);
        sandbox.ok(&["import", &name]);
        let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
        assert!(compiled.contains("the first result"), "{compiled}");
    }
}

#[test]
fn a_cut_for_a_reason_that_the_client_does_not_know_hides_nothing() {
    let sandbox = Sandbox::new();
    let cut = json!({"type": "tool_results_cut", "callIds": ["c0"], "standIn": "gone", "cause": "another"});
    let name = cleared(&sandbox.work(), cut).write(&sandbox);
    sandbox.ok(&["import", &name]);
    let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
    assert!(compiled.contains("the first result"), "{compiled}");
}

/// A session of thoughts, some of which its client takes back.
fn thoughtful(cwd: &Path, stripped: Value) -> File {
    let thought = |text: &str| json!({"type": "thinking", "thinking": text, "signature": "c2ln"});
    let mut file = File::new(OLD, cwd);
    file.user("u1", &json!("Think."), &json!({})).reply(
        "a1",
        &thought("the first thought"),
        &json!({}),
    );
    file.user("u2", &json!("Again."), &json!({}));
    for (uuid, block) in [
        ("a2", thought("the second thought")),
        ("a3", text("Said.")),
        ("a4", thought("the third thought")),
    ] {
        file.reply(uuid, &block, &json!({}));
        let record = file.lines.last_mut().expect("a record");
        record["message"]["id"] = json!("msg_two");
    }
    file.node("cut", json!({"type": "attachment", "attachment": stripped}))
        .user("u3", &json!("Back."), &json!({}))
        .reply("a8", &thought("a new thought"), &json!({}))
        .reply("a9", &text("A new answer."), &json!({}));
    for record in file.lines.iter_mut().rev().take(2) {
        record["message"]["id"] = json!("msg_nine");
    }
    file
}

#[test]
fn thoughts_that_the_client_took_back_are_hidden() {
    let removed = "[Thinking removed]";
    let all = json!({"type": "thinking_stripped", "scope": "all", "cause": "return_after_idle"});
    let from = |message: &str| {
        let from = json!({"messageId": message, "thinkingIndex": 1});
        json!({"type": "thinking_stripped", "scope": "partial", "from": from})
    };
    let (first, second, third) = ("the first", "the second", "the third");
    for (stripped, gone, kept) in [
        (all, vec![first, second, third], vec![removed, "Said."]),
        (from("msg_two"), vec![third, removed], vec![second]),
        // A message that is not here: all of it.
        (from("elsewhere"), vec![first, second, third], vec![removed]),
    ] {
        let sandbox = Sandbox::new();
        let name = thoughtful(&sandbox.work(), stripped).write(&sandbox);
        let told = sandbox.tract(&["import", &name]);
        assert!(!told.contains("unknown kind"), "{told}");
        let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
        sandbox.ok(&["resume"]);
        let resumed = written(&sandbox);
        let resumed: String = resumed.iter().map(ToString::to_string).collect();
        for sent in [&compiled, &resumed] {
            assert!(gone.iter().all(|it| !sent.contains(it)), "{gone:?}: {sent}");
            assert!(kept.iter().all(|it| sent.contains(it)), "{kept:?}: {sent}");
            assert!(sent.contains("a new thought"), "{sent}");
        }
    }
}

#[test]
fn results_are_sent_as_what_replaced_them() {
    let sandbox = Sandbox::new();
    let mut file = cleared(&sandbox.work(), json!({"type": "goal_status"}));
    let replaced = json!({"type": "content-replacement", "replacements": [
        {"kind": "tool-result", "toolUseId": "c0", "replacement": "the first, in short"},
        {"kind": "another", "toolUseId": "c1", "replacement": "never"},
    ]});
    let answered = file.lines.iter().position(|it| it["uuid"] == "r0");
    file.state(replaced);
    let record = file.lines.pop().expect("a record");
    file.lines.insert(answered.expect("a result") + 1, record);
    let name = file.write(&sandbox);
    sandbox.ok(&["import", &name]);
    for revision in ["HEAD", "HEAD~5"] {
        let compiled = sandbox.ok(&["compile", revision, "--format", "anthropic"]);
        let short = compiled.contains("the first, in short");
        assert!(
            short && !compiled.contains("the first result"),
            "{compiled}"
        );
    }
    let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
    let is_whole = compiled.contains("the second result") && !compiled.contains("never");
    assert!(is_whole, "{compiled}");
    sandbox.ok(&["resume"]);
    let resumed = written(&sandbox);
    let resumed: String = resumed.iter().map(ToString::to_string).collect();
    assert!(resumed.contains("the first, in short"), "{resumed}");
    assert!(!resumed.contains("the first result"), "{resumed}");
}

#[test]
fn a_file_that_was_too_long_is_sent_in_other_words() {
    let sandbox = Sandbox::new();
    let shown =
        |text: &str| json!([{"content": format!("<system-reminder>\n{text}\n</system-reminder>")}]);
    let mentioned = |name: &str, is_long: bool| {
        json!({
            "type": "attachment", "renderedRole": "system",
            "attachment": {"type": "file", "filename": name, "overTokenLimit": is_long},
            "rendered": shown(&format!("all of {name}")),
            "renderedWithdrawn": shown(&format!("{name} is too long")),
        })
    };
    let mut file = File::new(OLD, &sandbox.work());
    file.user("u1", &json!("Look."), &json!({}))
        .node("f1", mentioned("early.txt", true))
        .reply("a1", &text("Seen."), &json!({}))
        .user("u2", &json!("And these."), &json!({}))
        .node("f2", mentioned("short.txt", false))
        .node("f3", mentioned("long.txt", true))
        .node(
            "cut",
            json!({"type": "attachment", "attachment": {"type": "whole_texts_withdrawn"}}),
        )
        .reply("a2", &text("Seen."), &json!({}));
    let name = file.write(&sandbox);
    sandbox.ok(&["import", &name]);
    let compiled = sandbox.ok(&["compile", "--format", "anthropic"]);
    for sent in [
        "all of early.txt",
        "all of short.txt",
        "long.txt is too long",
    ] {
        assert!(compiled.contains(sent), "{sent}: {compiled}");
    }
    assert!(!compiled.contains("all of long.txt"), "{compiled}");
}

#[test]
fn what_a_client_attached_and_nobody_reads_goes_along_in_its_place() {
    let sandbox = Sandbox::new();
    let mut file = File::new(OLD, &sandbox.work());
    let attached =
        |kind: &str| json!({"type": "attachment", "attachment": {"type": kind, "level": 3}});
    file.user("u1", &json!("Begin."), &json!({}))
        .node("s1", attached("auto_mode"))
        .node("x1", attached("a_kind_of_later"))
        .reply("a1", &text("Begun."), &json!({}))
        .user("u2", &json!("On."), &json!({}))
        .reply("a2", &text("Gone on."), &json!({}));
    for record in &mut file.lines {
        record["version"] = json!("2.1.159");
    }
    let name = file.write(&sandbox);
    sandbox.ok(&["import", &name]);
    sandbox.ok(&["resume"]);
    let records = written(&sandbox);
    let kinds: Vec<String> = records
        .iter()
        .filter_map(|it| it["attachment"]["type"].as_str().or(it["type"].as_str()))
        .map(str::to_owned)
        .collect();
    let said = [
        "user",
        "auto_mode",
        "a_kind_of_later",
        "assistant",
        "user",
        "assistant",
    ];
    assert_eq!(kinds[..said.len()], said, "{kinds:?}");
    let way = records.windows(2).take(said.len() - 1);
    assert!(
        way.into_iter()
            .all(|pair| pair[1]["parentUuid"] == pair[0]["uuid"])
    );
    assert_eq!(records[2]["attachment"]["level"], 3);
}

#[test]
fn the_tools_that_were_hidden_since_a_compaction_stay_hidden() {
    let offer =
        |hidden: &str| json!({"type": "tool_offer_record", "offered": [], "hidden": [hidden]});
    let attached = |it: Value| json!({"type": "attachment", "attachment": it});
    let sandbox = Sandbox::new();
    let mut file = File::new(OLD, &sandbox.work());
    file.user("u1", &json!("Begin."), &json!({}))
        .node("o1", attached(offer("Early")))
        .reply("a1", &text("Begun."), &json!({}))
        .node(
            "b1",
            json!({"type": "system", "subtype": "compact_boundary", "content": "Compacted"}),
        )
        .user(
            "s1",
            &json!("A summary."),
            &json!({"isCompactSummary": true}),
        )
        .node("o2", attached(offer("Late")))
        .user("u2", &json!("On."), &json!({}))
        .reply("a2", &text("Gone on."), &json!({}));
    let name = file.write(&sandbox);
    sandbox.ok(&["import", &name]);
    sandbox.ok(&["resume"]);
    let records = written(&sandbox);
    let hidden: Vec<_> = records
        .iter()
        .filter(|it| it["attachment"]["type"] == "tool_offer_record")
        .map(|it| it["attachment"]["hidden"][0].clone())
        .collect();
    assert_eq!(hidden, ["Late"]);
}
