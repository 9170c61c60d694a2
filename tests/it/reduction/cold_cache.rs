//! What a provider's cache has to do with making room: its age, what a change costs while it is warm, and a budget
//! that waits until it is cold.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// Four replies that were given in this minute; the third prompt is long. The clock of the sandbox begins at noon.
fn imported(minute: &str) -> Sandbox {
    let session = include_str!("../../data/claude-code/requests.jsonl");
    let counted =
        r#""input_tokens":40,"cache_creation_input_tokens":10,"cache_read_input_tokens":0,"#;
    assert!(session.contains(counted));
    let cached =
        r#""input_tokens":40,"cache_creation_input_tokens":2000,"cache_read_input_tokens":98000,"#;
    let session = session.replace(counted, cached);
    let sandbox = Sandbox::new();
    sandbox.write(
        "session.jsonl",
        session
            .replace("2026-11-20T10:00", &format!("2026-03-14T{minute}"))
            .replace("Shorter.", &"A word or two. ".repeat(2_000)),
    );
    sandbox.tract(&["import", "session.jsonl"]);
    sandbox
}

#[test]
fn status_and_resume_say_how_old_the_cache_is() {
    let sandbox = imported("11:59");
    let cache = |sandbox: &Sandbox| {
        let told = sandbox.ok(&["status"]);
        told.lines()
            .find(|line| line.starts_with("Cache"))
            .unwrap_or_default()
            .to_owned()
    };
    assert_snapshot!(cache(&sandbox), @"Cache    warm: the newest reply is 3 min old, and the cache lasts 5 min");
    sandbox.wait_days(3);
    assert_snapshot!(cache(&sandbox), @"Cache    cold: the newest reply is 3 days old, and the cache lasts 5 min");
    let resumed = sandbox.tract(&["resume"]);
    let said = resumed.lines().find(|line| line.contains("cache"));
    assert_snapshot!(said.unwrap_or_default(), @"note: the provider's cache is cold: the newest reply is 3 days old, and the cache lasts 5 min");
    // A history that no provider counted has no cache.
    let own = Sandbox::with_messages(&[("user", "Hello."), ("assistant", "Hello.")]);
    assert_eq!(cache(&own), "");
}

#[test]
fn a_dry_run_says_what_a_change_costs_and_when_it_has_paid_for_itself() {
    let sandbox = imported("12:09");
    let told = |arguments: &[&str]| {
        let told = sandbox.tract(arguments);
        let at = told.find("\nNext").unwrap_or_else(|| panic!("{told}"));
        told[at + 1..].to_owned()
    };
    assert_snapshot!(told(&["truncate", "--keep", "2", "--dry-run"]), @r"
    Next      request (warm cache): 15 tokens written, $0.0024 cheaper
              over the next 20 replies truncate saves $0.05; cheapest: truncate
    Lost from view: 1 instruction
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(told(&["drop", ":2", "--dry-run"]), @"
    Next      request (warm cache): 5,016 tokens written, $0.03 dearer; costs more for at least 20 replies
              over the next 20 replies drop costs $0.03; cheapest: no change
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    sandbox.wait_days(1);
    assert_snapshot!(told(&["truncate", "--keep", "2", "--dry-run"]), @r"
    Next      request (cold cache): 95,032 tokens written, $0.03 cheaper
              over the next 20 replies truncate saves $0.08; cheapest: truncate
    Lost from view: 1 instruction
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(told(&["compact", "--keep", "1", "-m", "In short.", "--dry-run"]), @r"
    Next      request (cold cache): 95,020 tokens written, $0.03 cheaper
              over the next 20 replies compact saves $0.08; truncate (the older half) saves <$0.0001; cheapest: compact
    Lost from view: 2 instructions
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

/// Commits the next message, a minute after the last command.
fn commit(sandbox: &Sandbox, role: &str, text: &str) -> String {
    sandbox.tract(&["commit", "-r", role, "-m", text])
}

#[test]
fn a_budget_waits_until_the_cache_is_cold() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "Sort this list of names."),
        (
            "assistant",
            "Here they are, sorted by the last name, then by the first.",
        ),
        ("user", "And the cities?"),
        (
            "assistant",
            "The cities are sorted by country, then by their own name.",
        ),
    ]);
    sandbox.ok(&["config", "budget.max", "60"]);
    sandbox.ok(&["config", "budget.action", "truncate"]);
    sandbox.ok(&["config", "budget.when", "cold"]);
    assert_snapshot!(commit(&sandbox, "user", "And the rivers and the lakes?"), @"
    ffd3802 user 11 tokens
    --- stderr
    warning: 68 tokens, over the budget of 60
    hint: budget.when cold: nothing is hidden while the cache is warm, for 1 min
    ");
    // A reply is asked for with a cache that it has just used.
    sandbox.wait_days(1);
    assert_snapshot!(commit(&sandbox, "assistant", "By their length."), @"
    b580b34 assistant 8 tokens
    --- stderr
    warning: 76 tokens, over the budget of 60
    hint: budget.when cold: nothing is hidden while the cache is warm, for 5 min
    ");
    sandbox.wait_days(1);
    assert_snapshot!(commit(&sandbox, "user", "Thanks."), @"
    8bb6f57 user 6 tokens
    --- stderr
    82 tokens, over the budget of 60: hid 5 messages, now 37; HEAD is 09d9764
    hint: tract restore 09d9764 brings them back
    ");
    assert_snapshot!(sandbox.tract(&["config", "budget.when", "warm"]), @r"
    exit code: 2
    --- stderr
    error: budget.when: 'warm' is neither always nor cold
    hint: tract config --help says what each setting takes
    ");
    // What is not committed hides nothing, so that it does not wait.
    sandbox.ok(&["config", "budget.action", "refuse"]);
    let refused = commit(&sandbox, "user", &"And more. ".repeat(20));
    assert!(refused.contains("error: "), "{refused}");
}

/// A call and what it gave.
fn looked(sandbox: &Sandbox, id: &str) {
    let call = serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}},
    ]});
    let output = "one more line of it\n".repeat(9_000);
    let result = serde_json::json!({"role": "tool", "tool_call_id": id, "content": output});
    sandbox.write("call.json", call.to_string());
    sandbox.write("result.json", result.to_string());
    sandbox.ok(&["commit", "--json", "call.json"]);
    sandbox.ok(&["commit", "--json", "result.json"]);
}

#[test]
fn a_budget_prunes_before_it_hides() {
    let sandbox = Sandbox::with_messages(&[("user", "Look around.")]);
    for id in ["1", "2"] {
        looked(&sandbox, id);
    }
    for _ in 0..2 {
        sandbox.ok(&["commit", "-r", "user", "-m", "Go on."]);
    }
    sandbox.ok(&["config", "budget.max", "60k"]);
    assert_snapshot!(sandbox.tract(&["config", "budget.action", "prune,refuse"]), @r"
    exit code: 2
    --- stderr
    error: budget.action: 'prune,refuse': what is committed before prune runs cannot be refused after it
    hint: tract config --help says what each setting takes
    ");
    sandbox.ok(&["config", "budget.action", "prune,truncate"]);
    assert_snapshot!(commit(&sandbox, "user", "And now?"), @"
    b8b69c4 user 7 tokens
    --- stderr
    108,051 tokens, over the budget of 60,000: pruning old tool outputs
    Pruned 2 outputs (-107,960 tokens); HEAD is now 247d928
    ");
    // Nothing is left to prune.
    sandbox.ok(&["config", "budget.max", "90"]);
    assert_snapshot!(commit(&sandbox, "user", "And now?"), @"
    da0a3e2 user 7 tokens
    --- stderr
    98 tokens, over the budget of 90: pruning old tool outputs
    warning: no old tool output is left to prune
    note: budget.action goes on: truncate
    98 tokens, over the budget of 90: hid 4 messages, now 56; HEAD is 771f0e4
    hint: tract restore 771f0e4 brings them back
    ");
    sandbox.ok(&["config", "budget.action", "prune"]);
    sandbox.ok(&["config", "budget.max", "20"]);
    assert_snapshot!(commit(&sandbox, "user", "And what now?"), @"
    exit code: 1
    efd7e82 user 8 tokens
    --- stderr
    64 tokens, over the budget of 20: pruning old tool outputs
    warning: no old tool output is left to prune
    the message was committed anyway, as efd7e82
    hint: tract compact puts a summary in place of what is old
    ");
}

/// A program that commits has its budget kept as a person has.
#[test]
fn a_budget_prunes_whoever_commits() {
    let sandbox = Sandbox::with_messages(&[("user", "Look around.")]);
    for id in ["1", "2"] {
        looked(&sandbox, id);
    }
    for _ in 0..2 {
        sandbox.ok(&["commit", "-r", "user", "-m", "Go on."]);
    }
    let asked = |max: &str, action: &str| {
        sandbox.ok(&["config", "budget.max", max]);
        sandbox.ok(&["config", "budget.action", action]);
        let asked = r#"{"role": "user", "message": "And now?"}"#;
        let output = sandbox.command(&["api", "commit", asked]).output();
        let output = output.expect("it runs");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let commits = answer["commits"].as_array().map_or(0, Vec::len);
        let verdict = answer["budget"].as_str().unwrap_or_default().to_owned();
        (verdict, commits, output.status.code())
    };
    let done = asked("60k", "compact:cat,prune,truncate");
    assert_eq!(done, ("pruned".to_owned(), 2, Some(0)));
    // Nothing is left to prune.
    let done = asked("90", "prune,truncate");
    assert_eq!(done, ("truncated".to_owned(), 2, Some(0)));
    let done = asked("20", "prune");
    assert_eq!(done, ("over".to_owned(), 1, Some(1)));
}
