//! `tract cost`: every reply once, by the list price of its day.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A session of four replies of one size.
fn session() -> String {
    let session = include_str!("../data/claude-code/requests.jsonl");
    let counted = r#""input_tokens":40,"cache_creation_input_tokens":10,"cache_read_input_tokens":0,"output_tokens":5"#;
    assert!(session.contains(counted));
    session.replace(
        counted,
        r#""input_tokens":2000,"cache_creation_input_tokens":8000,"cache_read_input_tokens":90000,"output_tokens":500"#,
    )
}

#[test]
fn replies_are_priced_once_however_many_records_and_sessions_have_them() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session());
    sandbox.tract(&["import", "session.jsonl"]);
    assert_snapshot!(sandbox.tract(&["cost"]), @"
    claude-code/5e551011…  4  400k  90% cached  2k  $0.47
    total                  4  400k  90% cached  2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1
    ");
    // A fork has copies of what its parent was billed for.
    let fork = session().replace("5e551011", "5e551012");
    sandbox.write("fork.jsonl", &fork);
    sandbox.tract(&["import", "fork.jsonl"]);
    assert_snapshot!(sandbox.tract(&["cost", "--by", "day"]), @"
    2026-11-20  4  400k  90% cached  2k  $0.47
    total       4  400k  90% cached  2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--by", "directory", "main"]), @"
    /home/user/project  4  400k  90% cached  2k  $0.47
    total               4  400k  90% cached  2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--since", "2026-11-21"]), @"
    --- stderr
    No reply here was counted by its provider
    ");
}

#[test]
fn a_model_without_a_price_is_named() {
    let sandbox = Sandbox::new();
    let session = session().replace("claude-opus-4-8", r"my-\u001b[31mmodel");
    sandbox.write("session.jsonl", &session);
    sandbox.tract(&["import", "session.jsonl"]);
    assert_snapshot!(sandbox.tract(&["cost", "--by", "model"]), @"
    my-␛[31mmodel  4  400k  90% cached  2k  no price
    total          4  400k  90% cached  2k  no price
    --- stderr
    note: list prices of genai-prices 0.2.1
    note: 4 replies without a price, of my-␛[31mmodel, which the list does not have
    ");
}

#[test]
fn a_list_of_ones_own_takes_the_place_of_the_one_that_comes_along() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session());
    sandbox.tract(&["import", "session.jsonl"]);
    let prices = r#"[{"id":"mine","name":"Mine","api_pattern":"x","model_match":{"starts_with":"claude"},"models":[
        {"id":"m","match":{"starts_with":"claude"},"prices":{"input_mtok":1000000,"output_mtok":2000000}}]}]"#;
    let path = sandbox.write("prices.json", prices).display().to_string();
    assert_snapshot!(sandbox.tract(&["config", "prices.file", "prices.json"]), @"
    exit code: 2
    --- stderr
    error: prices.file: 'prices.json' is not a full path
    ");
    sandbox.ok(&["config", "prices.file", &path]);
    let told = sandbox.tract(&["cost"]);
    assert_snapshot!(told.replace(&path, "PRICES"), @"
    claude-code/5e551011…  4  400k  90% cached  2k  $404000.00
    total                  4  400k  90% cached  2k  $404000.00
    --- stderr
    note: list prices of [SANDBOX]/work/prices.json
    ");
    sandbox.write("prices.json", "[]]");
    let told = sandbox.tract(&["cost"]);
    assert_snapshot!(told.replace(&path, "PRICES"), @"
    exit code: 2
    --- stderr
    error: the list of prices: invalid provider data: decode provider JSON
    hint: tract config --unset prices.file goes back to the list that comes along
    ");
    std::fs::remove_file(&path).expect("removed");
    let told = sandbox.tract(&["cost"]);
    assert_snapshot!(told.replace(&path, "PRICES"), @"
    exit code: 1
    --- stderr
    error: [SANDBOX]/work/prices.json: no such file or directory
    hint: tract config --unset prices.file goes back to the list that comes along
    ");
}
