//! What the program says where something is not as it should be, and to scripts.

use crate::sandbox::{ITS_COMMANDS, Sandbox, is_left_out};

#[test]
fn a_text_without_its_option_is_told_the_option() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "hi"]), @r"
    exit code: 2
    --- stderr
    error: 'hi' is not an option; give the text with -m
    hint: tract commit -r user -m hi
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "assistant", "how are you?"]), @r"
    exit code: 2
    --- stderr
    error: 'how are you?' is not an option; give the text with -m
    hint: tract commit -r assistant -m 'how are you?'
    ");
    insta::assert_snapshot!(sandbox.tract_with(&["commit", "-r", "user", "-"], "hi"), @"38e71ed user 5 tokens");
}

#[test]
fn a_script_gets_the_hash_alone() {
    let sandbox = Sandbox::new();
    let hash = sandbox.ok(&["-q", "commit", "-r", "user", "-m", "hi"]);
    assert_eq!(hash, sandbox.ok(&["rev-parse", "HEAD"]));
    assert_eq!(hash.trim().len(), 64);
    sandbox.write(
        "two.jsonl",
        "{\"role\":\"user\",\"content\":\"one\"}\n{\"role\":\"user\",\"content\":\"two\"}\n",
    );
    let hashes = sandbox.tract(&["commit", "-q", "--batch", "two.jsonl"]);
    let tip = sandbox.ok(&["rev-parse", "HEAD"]);
    let before = sandbox.ok(&["rev-parse", "HEAD^"]);
    assert_eq!(hashes, before + &tip, "one a line, in their order");
    // Nobody needs the rest.
    assert_eq!(sandbox.tract(&["-q", "branch", "idea"]), "");
    assert_eq!(sandbox.tract(&["-q", "drop", ":2"]), "");
    sandbox.write("a.json", r#"[{"role":"user","content":"x"}]"#);
    assert_eq!(sandbox.tract(&["-q", "import", "a.json"]), "");
}

#[test]
fn an_agent_counts_on_the_exit_code_where_its_budget_is_not_kept() {
    if is_left_out(ITS_COMMANDS) {
        return;
    }
    for action in ["truncate", "compact:false"] {
        let sandbox = Sandbox::with_messages(&[("user", "Sort this list of names.")]);
        sandbox.ok(&["config", "budget.max", "20"]);
        sandbox.ok(&["config", "budget.action", action]);
        let long = "A reply that is longer than all of the budget. ".repeat(10);
        let told = sandbox.tract(&["commit", "-r", "assistant", "-m", &long]);
        assert!(told.starts_with("exit code: 1\n"), "{told}");
        assert!(told.contains("was committed anyway, as "), "{told}");
        assert!(told.contains("\nhint: tract "), "{told}");
        assert_eq!(sandbox.ok(&["log"]).lines().count(), 2);
    }
}

#[test]
fn a_broken_file_is_said_to_be_broken_and_where() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.json", "{\"role\": \"user\",\n \"content\": }");
    sandbox.write(
        "bad.jsonl",
        "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"user\" \"content\":\"x\"}\n",
    );
    insta::assert_snapshot!(sandbox.tract(&["import", "bad.json"]), @r"
    exit code: 3
    --- stderr
    error: bad.json: broken JSON at line 2, column 13: expected value
    hint: fix the file there; --format F reads as much of it as possible, as F
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "bad.jsonl"]), @r"
    exit code: 1
    --- stderr
    error: bad.jsonl: not a session in a known format
    hint: tract import --help lists the [N] formats that are known
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit", "--json", "bad.json"]), @r"
    exit code: 2
    --- stderr
    error: bad.json: not JSON at line 2, column 13: expected value
    hint: tract commit --help
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit", "--batch", "bad.jsonl"]), @r"
    exit code: 2
    --- stderr
    error: bad.jsonl:2: not JSON at column 16: expected `,` or `}`
    hint: tract commit --help
    ");
    let tools = ["commit", "-r", "user", "-m", "x", "--tools", "bad.json"];
    insta::assert_snapshot!(sandbox.tract(&tools), @r"
    exit code: 2
    --- stderr
    error: bad.json: no JSON array: invalid type: map, expected a sequence
    hint: tract commit --help
    ");
}

#[test]
fn a_model_that_thinks_is_given_its_limit_by_the_name_that_it_takes() {
    for (model, key) in [
        ("gpt-4o", "max_tokens"),
        ("gpt-5", "max_completion_tokens"),
        ("gpt-5-mini", "max_completion_tokens"),
        ("openai/o3", "max_completion_tokens"),
        ("o1-preview", "max_completion_tokens"),
        ("o11", "max_tokens"),
    ] {
        let sandbox = Sandbox::new();
        let said = [
            "commit",
            "-r",
            "user",
            "-m",
            "hi",
            "--model",
            model,
            "--max-tokens",
            "100",
        ];
        sandbox.ok(&said);
        let request = sandbox.ok(&["compile", "--request", "--format", "openai"]);
        let request: serde_json::Value = serde_json::from_str(&request).expect("JSON");
        assert_eq!(request[key], 100, "{model}: {request}");
        let keys = ["max_tokens", "max_completion_tokens"];
        let named = keys.iter().filter(|key| request.get(**key).is_some());
        assert_eq!(named.count(), 1, "{request}");
    }
}
