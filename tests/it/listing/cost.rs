//! `tract cost`: every reply once, by the list price of its day.

use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::listing::web::served::Served;
use crate::sandbox::{Sandbox, is_left_out};

/// A session of four replies of one size.
fn session() -> String {
    let session = include_str!("../../data/claude-code/requests.jsonl");
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
    assert_snapshot!(sandbox.tract(&["cost"]), @r"
                           replies  input              output   cost
    claude-code/5e551011…        4   400k  90% cached      2k  $0.47
    total                        4   400k  90% cached      2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    // A fork has copies of what its parent was billed for.
    let fork = session().replace("5e551011", "5e551012");
    sandbox.write("fork.jsonl", &fork);
    sandbox.tract(&["import", "fork.jsonl"]);
    assert_snapshot!(sandbox.tract(&["cost", "--by", "day"]), @r"
                replies  input              output   cost
    2026-11-20        4   400k  90% cached      2k  $0.47
    total             4   400k  90% cached      2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--by", "directory", "main"]), @r"
                        replies  input              output   cost
    /home/user/project        4   400k  90% cached      2k  $0.47
    total                     4   400k  90% cached      2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--since", "2026-11-21"]), @"
    --- stderr
    No reply of that time was counted by its provider
    ");
}

#[test]
fn a_model_without_a_price_is_named() {
    let sandbox = Sandbox::new();
    let session = session().replace("claude-opus-4-8", r"my-\u001b[31mmodel");
    sandbox.write("session.jsonl", &session);
    sandbox.tract(&["import", "session.jsonl"]);
    assert_snapshot!(sandbox.tract(&["cost", "--by", "model"]), @r"
                   replies  input              output      cost
    my-␛[31mmodel        4   400k  90% cached      2k  no price
    total                4   400k  90% cached      2k  no price
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
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
    let path = sandbox.write("prices.json", prices);
    let written = UNIX_EPOCH + Duration::from_secs(1_790_000_000);
    let file = File::options().write(true).open(&path).expect("there");
    file.set_modified(written).expect("a time");
    let path = path.display().to_string();
    assert_snapshot!(sandbox.tract(&["config", "prices.file", "prices.json"]), @r"
    exit code: 2
    --- stderr
    error: prices.file: 'prices.json' is not a full path
    hint: tract config --help says what each setting takes
    ");
    // It is read as it is set: what is no list, or is not there, is not taken.
    let odd = sandbox.write("odd.json", "{}").display().to_string();
    let gone = odd.replace("odd.json", "gone.json");
    for (path, says) in [(&odd, "the list of prices"), (&gone, "no such file")] {
        let told = sandbox.tract(&["config", "prices.file", path]);
        assert!(told.contains("exit code") && told.contains(says), "{told}");
    }
    assert_eq!(sandbox.ok(&["config"]), "");
    sandbox.ok(&["config", "prices.file", &path]);
    let told = sandbox.tract(&["cost"]);
    assert_snapshot!(told.replace(&path, "PRICES"), @r"
                           replies  input              output        cost
    claude-code/5e551011…        4   400k  90% cached      2k  $404000.00
    total                        4   400k  90% cached      2k  $404000.00
    --- stderr
    note: list prices of [SANDBOX]/work/prices.json of 2026-09-21
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

#[test]
fn a_message_bears_its_part_of_every_request_in_which_it_was_sent() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session());
    sandbox.tract(&["import", "session.jsonl"]);
    assert_snapshot!(sandbox.tract(&["cost", "--by", "message", "main"]), @r"
                               requests  input               output   cost
    87d7949  user                     4  44.6k   77% cached       0  $0.08  Name a river.
    67ef5f1  tool                     3  23.5k   60% cached       0  $0.06  ls depth=1000 → a b
    b5dfc0e  user                     2  14.2k   46% cached       0  $0.05  Shorter.
    49dbc2a  assistant                2  5,690   24% cached     500  $0.04  Two.
    da80626  assistant                4    47k   98% cached     500  $0.04  The Rhine.
    fc5468b  assistant                3  18.2k   86% cached     500  $0.04  There are two files.
    a0f9e6b  user                     1  5,690    0% cached       0  $0.03  Thanks.
    25a4c1b  assistant                1      0    0% cached     500  $0.01  Gladly.
    (system prompt and tools)         4   241k  100% cached       0  $0.12
    total                             4   400k   90% cached      2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--by", "message", "-n", "1", "--until", "2026-11-20T10:00:09"]), @r"
                               requests  input               output   cost
    87d7949  user                     1  17.7k   43% cached       0  $0.06  Name a river.
    (1 other)                                0    0% cached     500  $0.01
    (system prompt and tools)         1  82.3k  100% cached       0  $0.04
    total                             1   100k   90% cached     500  $0.12
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--by", "tool"]), @r"
                               messages  input               output   cost
    (other messages)                  7   135k   77% cached      2k  $0.29
    (system prompt and tools)             241k  100% cached       0  $0.12
    ls                                1  23.5k   60% cached       0  $0.06
    total                             4   400k   90% cached      2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--by", "client"]), @r"
                 replies  input              output   cost
    claude-code        4   400k  90% cached      2k  $0.47
    total              4   400k  90% cached      2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

#[test]
fn a_sub_agent_counts_with_who_started_it_or_is_a_row() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session());
    let agent = session()
        .replace("Name a river.", "Name a lake.")
        .replace("2026-11-20T10:", "2026-11-20T11:")
        .replace("\"isSidechain\":false", "\"isSidechain\":true")
        .replace("\"sessionId\"", "\"agentId\":\"a0123456789\",\"sessionId\"");
    sandbox.write("agent-a0123456789.jsonl", &agent);
    sandbox.tract(&["import", "."]);
    assert_snapshot!(sandbox.tract(&["cost"]), @r"
                           replies  input              output   cost
    claude-code/5e551011…        8   800k  90% cached      4k  $0.94
    total                        8   800k  90% cached      4k  $0.94
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--by", "agent"]), @r"
                                             replies  input              output   cost
    claude-code/5e551011…                          4   400k  90% cached      2k  $0.47
    claude-code/5e551011…/agent-a0123456789        4   400k  90% cached      2k  $0.47
    total                                          8   800k  90% cached      4k  $0.94
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    // What is not on a path is not in its sum, and is told.
    assert_snapshot!(sandbox.tract(&["cost", "claude-code-5e551011"]), @r"
                           replies  input              output   cost
    claude-code/5e551011…        4   400k  90% cached      2k  $0.47
    total                        4   400k  90% cached      2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: without 4 replies of sub-agents, $0.47: they are not on this path
    ");
    // So do the pages of one path, beside the page of the session, which has all.
    let served = Served::of(&sandbox, &[]);
    let page = |view: &str| {
        let id = "claude-code/5e551011-0000-4000-8000-000000000001";
        served.get(&format!("{view}id={id}")).body
    };
    assert!(page("cost?").contains("8 replies"), "{}", page("cost?"));
    for view in ["cost?by=tool&", "cost?by=cache&", "activity?"] {
        let page = page(view).to_lowercase();
        assert!(page.contains("without 4 replies of sub-agents"), "{page}");
    }
    let answer = sandbox.tract_with(
        &["api"],
        "{\"id\":1,\"method\":\"cost\",\"params\":{\"rev\":\"claude-code-5e551011\"}}\n",
    );
    let line = answer.lines().find(|line| line.starts_with('{'));
    let answer: Value = serde_json::from_str(line.expect("an answer")).expect("JSON");
    let replies = ["total", "sub_agents"].map(|of| answer["result"][of]["replies"].as_u64());
    assert_eq!(replies, [Some(4), Some(4)], "{answer}");
    assert!(
        sandbox
            .tract(&["stats", "claude-code-5e551011"])
            .contains("note: without 4 replies of sub-agents: they are not on this path")
    );
    assert!(!sandbox.tract(&["stats"]).contains("sub-agents"));
    assert_snapshot!(sandbox.tract(&["cost", "--by", "agent", "-n", "1"]), @r"
                           replies  input              output   cost
    claude-code/5e551011…        4   400k  90% cached      2k  $0.47
    (1 other)                    4   400k  90% cached      2k  $0.47
    total                        8   800k  90% cached      4k  $0.94
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

#[test]
fn a_reply_says_its_model_its_usage_and_its_price() {
    let sandbox = Sandbox::new();
    let session = session().replace(
        r#""output_tokens":500"#,
        r#""output_tokens":500,"service_tier":"standard","speed":"fast""#,
    );
    sandbox.write("session.jsonl", session);
    sandbox.tract(&["import", "session.jsonl"]);
    assert_snapshot!(sandbox.tract(&["show", "main"]), @"
    append 57c8eb285a9670d90d5207d8b23908a26ab518396e36560b4c24471981c759e1
    refs      HEAD -> main, claude-code/5e551011-0000-4000-8000-000000000001
    parent    0b6e1c7
    time      2026-11-20 10:00:16 +0000
    message   assistant (text)
    tokens    +7 = 67
    model     claude-opus-4-8
    usage     100,000 input (90,000 from the cache, 8,000 written to it), 500 output
    price     $0.12, API-equivalent, list prices of genai-prices 0.2.1 of 2026-10-30; speed 'fast' has no price in the list; standard price used for 1 reply
    ended     end_turn, tier standard, speed fast
    source    claude-code, 1 record

        Gladly.
    ");
    let told = sandbox.ok(&["--on", "main", "status", "-v"]);
    let from = told.find("What it costs").expect("a heading");
    let to = told.find("What fills it").expect("a heading");
    assert_snapshot!(&told[from..to], @"
    What it costs
      so far           $0.47 for 4 replies
      the next message $0.05 with a warm cache, $0.63 with a cold one, and the reply
                       speed 'fast' has no price in the list; standard price used for 4 replies
                       API-equivalent, by list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

#[test]
fn a_response_that_is_committed_keeps_what_was_counted_for_it() {
    let sandbox = Sandbox::new();
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        "Hello",
        "--model",
        "claude-sonnet-4-5",
    ]);
    let responses = [
        r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":5}}"#,
        r#"{"choices":[{"message":{"role":"assistant","content":"Hi."}}],"usage":{"prompt_tokens":100,"completion_tokens":7}}"#,
        r#"{"object":"response","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi."}]}],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":8},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":6}}}"#,
    ];
    let mut usages = Vec::new();
    for response in responses {
        sandbox.tract_with(&["commit", "--json", "-"], response);
        let shown = sandbox.ok(&["show"]);
        let usage = shown.lines().find(|line| line.starts_with("usage"));
        usages.push(usage.unwrap_or_default().to_owned());
    }
    sandbox.write("batch.jsonl", responses[..2].join("\n"));
    sandbox.ok(&["commit", "--batch", "batch.jsonl"]);
    assert_snapshot!(usages.join("\n"), @"
    usage     100 input (90 from the cache), 5 output
    usage     100 input, 7 output
    usage     100 input (60 from the cache, 8 written to it), 9 output (6 reasoning)
    ");
    assert_snapshot!(sandbox.tract(&["cost"]), @r"
                  replies  input              output     cost
    (no session)        5    500  48% cached      33  $0.0014
    total               5    500  48% cached      33  $0.0014
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    // What an edit says was not counted.
    sandbox.tract_with(&["commit", "--edit", ":2", "--json", "-"], responses[2]);
    assert_snapshot!(sandbox.tract(&["cost"]), @r"
                  replies  input              output     cost
    (no session)        5    500  48% cached      33  $0.0014
    total               5    500  48% cached      33  $0.0014
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

#[test]
fn a_response_says_its_model_where_nobody_has_named_one() {
    let sandbox = Sandbox::new();
    let response = r#"{"object":"response","model":"gpt-5","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi."}]}],"usage":{"input_tokens":100,"output_tokens":9}}"#;
    let of_anthropic = r#"{"type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Hi."}],"usage":{"input_tokens":10,"output_tokens":5}}"#;
    sandbox.ok(&["commit", "-r", "user", "-m", "Hello"]);
    sandbox.tract_with(&["commit", "--json", "-"], response);
    sandbox.ok(&["checkout", "-b", "other", "main^"]);
    sandbox.tract_with(&["commit", "--json", "-"], of_anthropic);
    sandbox.ok(&["checkout", "-b", "asked", "main^"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Go on.", "--model", "gpt-5.2"]);
    sandbox.tract_with(&["commit", "--json", "-"], response);
    assert_snapshot!(sandbox.tract(&["cost", "--by", "model"]), @r"
                       replies  input             output     cost
    gpt-5.2                  1    100  0% cached       9  $0.0003
    gpt-5                    1    100  0% cached       9  $0.0002
    claude-sonnet-4-5        1     10  0% cached       5  $0.0001
    total                    3    210  0% cached      23  $0.0006
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

#[test]
fn what_was_sent_beside_the_messages_is_no_more_than_its_client_recorded() {
    let sandbox = Sandbox::new();
    // Without the last request, of which a part was cut.
    let session = session();
    let end = session.find("Thanks.").expect("a prompt");
    let end = session[..end].rfind('\n').expect("a line before");
    sandbox.write("session.jsonl", &session[..end]);
    sandbox.tract(&["import", "session.jsonl"]);
    assert_snapshot!(sandbox.tract(&["cost", "--by", "message", "-n", "1", "main"]), @r"
                               requests  input               output   cost
    87d7949  user                     3    37k   72% cached       0  $0.07  Name a river.
    (5 others)                           67.8k   70% cached   1,500  $0.18
    (system prompt and tools)         3   195k  100% cached       0  $0.10
    total                             3   300k   90% cached   1,500  $0.35
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    // A session that goes on from elsewhere has had much in each request that is in no record.
    let counted = |said: &str| {
        let lines = said.lines().filter(|line| line.contains("by the provider"));
        lines.map(str::trim).collect::<Vec<_>>().join("\n")
    };
    let told = sandbox.ok(&["truncate", "--keep", "2", "--dry-run"]);
    assert_snapshot!(counted(&told), @"
    about 100,501 → 88,001 by the provider's count
    ");
    sandbox.ok(&["truncate", "--keep", "2"]);
    assert_snapshot!(counted(&sandbox.ok(&["status", "-v"])), @r"
    Tokens   about 88,001 by the provider, 42 by tract (no budget set)
    by the provider  about 88,001: our count × 2082.05 + 555, as before the newest hide or edit
    ");
    sandbox.ok(&["config", "budget.max", "99k"]);
    assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-m", "More."]), @"
    4702a58 user 6 tokens
    ");
}

#[test]
fn a_tier_has_its_own_price_and_one_without_is_named() {
    let sandbox = Sandbox::new();
    let tiered = |tier: &str| {
        r#"{"object":"response","model":"gpt-5.2","service_tier":"TIER","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi."}]}],"usage":{"input_tokens":100000,"output_tokens":1000}}"#
            .replace("TIER", tier)
    };
    sandbox.ok(&["commit", "-r", "user", "-m", "Hello"]);
    sandbox.wait_days(240);
    for tier in ["default", "flex", "priority", "default", "scale"] {
        sandbox.tract_with(&["commit", "--json", "-"], tiered(tier));
    }
    assert_snapshot!(sandbox.tract(&["cost"]), @r"
                  replies  input             output   cost
    (no session)        5   500k  0% cached      5k  $1.04
    total               5   500k  0% cached      5k  $1.04
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: tier 'scale' has no price in the list; standard price used for 1 reply
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--by", "message", "-n", "5"]), @r"
                               requests  input             output     cost
    15b37f1  assistant                3     18  0% cached      1k    $0.03  Hi.
    54b621f  assistant                5     53  0% cached      1k    $0.01  Hi.
    73f8832  assistant                2      8  0% cached      1k    $0.01  Hi.
    37ab67a  assistant                1      0  0% cached      1k    $0.01  Hi.
    5b9590b  assistant                4     32  0% cached      1k  $0.0071  Hi.
    (1 other)                               83  0% cached       0  $0.0002
    (system prompt and tools)         5   500k  0% cached       0    $0.96
    total                             5   500k  0% cached      5k    $1.04
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: tier 'scale' has no price in the list; standard price used for 1 reply
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--misses"]), @"
                                  input  cached  written  missed   cost  why
    54b621f  2026-11-09 12:03:00   100k       0        0       0
    5b9590b  2026-11-09 12:04:00   100k       0        0       0
    15b37f1  2026-11-09 12:05:00   100k       0        0       0
    73f8832  2026-11-09 12:06:00   100k       0        0       0
    37ab67a  2026-11-09 12:07:00   100k       0        0       0
    total                          500k       0        0       0  $0.00  0 misses
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: tier 'scale' has no price in the list; standard price used for 1 reply
    ");
    let shown = sandbox.ok(&["show"]);
    let lines = shown
        .lines()
        .filter(|line| line.starts_with("price") || line.starts_with("settings"));
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    settings  service_tier=scale
    price     $0.19, API-equivalent, list prices of genai-prices 0.2.1 of 2026-10-30; tier 'scale' has no price in the list; standard price used for 1 reply
    ");
    let priority = |session: String| {
        let counted = r#""output_tokens":500"#;
        let (before, after) = session.split_once(counted).expect("counted");
        format!("{before}{counted},\"service_tier\":\"priority\"{after}")
            .replace("5e551011", "5e551013")
    };
    sandbox.write("session.jsonl", priority(session()));
    sandbox.tract(&["import", "--as", "imported", "session.jsonl"]);
    assert_snapshot!(sandbox.tract(&["cost", "imported"]), @r"
                           replies  input              output   cost
    claude-code/5e551013…        4   400k  90% cached      2k  $0.47
    total                        4   400k  90% cached      2k  $0.47
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: tier 'priority' has no price in the list; standard price used for 4 replies
    ");
}

/// A session with the mirror of a sub-agent, and the sub-agent's own file, in the folders of the tool.
fn with_a_mirrored_agent(sandbox: &Sandbox) -> [String; 2] {
    const ID: &str = "11111111-2222-4333-8444-555555555555";
    let folder = sandbox.home().join(".claude/projects/-home-ada-mill");
    let own = folder.join(ID).join("subagents");
    std::fs::create_dir_all(&own).expect("made");
    let (parents, own) = (
        folder.join(format!("{ID}.jsonl")),
        own.join("agent-abe7108.jsonl"),
    );
    let text = include_str!("../../data/claude-code/agent-progress.jsonl");
    std::fs::write(&parents, text).expect("written");
    let record = |kind: &str, uuid: &str, parent: &str, message: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"isSidechain":true,"agentId":"abe7108","sessionId":"{ID}","cwd":"/home/ada/mill","timestamp":"2026-01-05T10:00:03.000Z","message":{message}}}"#
        ) + "\n"
    };
    let reply = |block: &str, count: u64| {
        format!(
            r#"{{"id":"mi","role":"assistant","model":"claude-haiku-4-5","content":[{block}],"usage":{{"input_tokens":1000,"output_tokens":{count}}}}}"#
        )
    };
    let records = [
        record(
            "user",
            "i1",
            "null",
            r#"{"role":"user","content":"Find A"}"#,
        ),
        record(
            "assistant",
            "i0",
            r#""i1""#,
            &reply(r#"{"type":"text","text":"Under the mill."}"#, 1),
        ),
        record(
            "assistant",
            "i2",
            r#""i0""#,
            &reply(
                r#"{"type":"tool_use","id":"ic","name":"Bash","input":{"command":"ic"}}"#,
                5000,
            ),
        ),
        record(
            "user",
            "i3",
            r#""i2""#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"ic","content":"found"}]}"#,
        ),
    ];
    std::fs::write(&own, records.concat()).expect("written");
    [parents, own].map(|path| path.display().to_string())
}

#[test]
fn a_sub_agent_that_its_parents_file_mirrors_is_paid_for_once_by_its_own_file() {
    let bring_in: [fn(&Sandbox, [String; 2]); 4] = [
        |sandbox, [parents, own]| {
            sandbox.ok(&["import", &parents]);
            sandbox.ok(&["import", &own]);
        },
        |sandbox, [parents, own]| {
            sandbox.ok(&["import", &own]);
            sandbox.ok(&["import", &parents]);
            sandbox.ok(&["import", &own]);
        },
        |sandbox, _| drop(sandbox.ok(&["import", "../home/.claude/projects"])),
        |sandbox, _| drop(sandbox.ok(&["watch", "--once"])),
    ];
    for bring_in in bring_in {
        let sandbox = Sandbox::empty();
        sandbox.ok(&["init"]);
        let files = with_a_mirrored_agent(&sandbox);
        bring_in(&sandbox, files);
        let cost = sandbox.ok(&["cost"]);
        let total = cost.lines().find(|line| line.starts_with("total"));
        assert_eq!(
            total.map(|line| line.contains("  3  ")),
            Some(true),
            "{cost}"
        );
        assert!(cost.contains("5,010"), "{cost}");
        assert_eq!(
            sandbox
                .ok(&["find", "-F", "Under the mill"])
                .lines()
                .count(),
            2
        );
        assert_eq!(sandbox.ok(&["branch"]).lines().count(), 2);
    }
}

#[test]
fn a_program_asks_for_what_people_do() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session());
    sandbox.ok(&["import", "session.jsonl"]);
    let asked = |params: &str| -> serde_json::Value {
        serde_json::from_str(&sandbox.ok(&["api", "cost", params])).expect(params)
    };
    let dearest = asked(r#"{"by": "message", "limit": 1}"#);
    let names: Vec<_> = dearest["rows"].as_array().expect("rows").iter().collect();
    assert_eq!(names.len(), 2, "{dearest}");
    assert!(
        names[0]["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("87d7949"))
    );
    assert_eq!(names[1]["name"], "(system prompt and tools)");
    assert!(
        dearest["others"]["dollars"].as_f64() > Some(0.2),
        "{dearest}"
    );
    let days = asked(r#"{"by": "day", "until": 1795262400000}"#);
    assert_eq!(days["rows"][0]["name"], "2026-11-20", "{days}");
    assert_eq!(asked(r#"{"since": "2026-11-21"}"#)["total"]["replies"], 0);
    let misses = asked(r#"{"misses": true}"#);
    assert_eq!(
        misses["misses"].as_array().map(Vec::len),
        Some(4),
        "{misses}"
    );
    // What makes no sense together is refused by both.
    let told = sandbox.tract(&["api", "cost", r#"{"misses": true, "by": "day"}"#]);
    assert!(told.contains("does not take 'by'"), "{told}");
    let told = sandbox.tract(&["cost", "--misses", "--by", "day"]);
    assert!(told.contains("cannot be used with"), "{told}");
    let worst = asked(r#"{"misses": true, "limit": 1}"#);
    let told = worst["misses"].as_array().map_or(0, Vec::len);
    let causes = worst["causes"].as_array().expect("causes").iter();
    let of_causes: u64 = causes.map(|it| it["misses"].as_u64().unwrap_or(0)).sum();
    assert!(told <= 1 && of_causes >= told as u64, "{worst}");
}

/// A session of Claude Code whose usage records say more than tokens: a fast reply, searches, a batch, a region, an adviser.
fn served_in_every_way() -> String {
    let head = r#""isSidechain":false,"cwd":"/home/ada/mill","sessionId":"5e551020-2222-4333-8444-555555555555","version":"2.1.219""#;
    let usages = [
        r#""service_tier":"standard","speed":"fast""#,
        r#""service_tier":"standard","server_tool_use":{"web_search_requests":7,"web_fetch_requests":3}"#,
        r#""service_tier":"batch","speed":"standard","inference_geo":"not_available""#,
        r#""service_tier":"standard","inference_geo":"us""#,
        r#""service_tier":"standard","iterations":[{"type":"message","input_tokens":400,"output_tokens":600},{"type":"advisor_message","model":"claude-haiku-4-5","input_tokens":9000,"output_tokens":200},{"type":"message","input_tokens":600,"output_tokens":400}]"#,
    ];
    let mut lines = String::new();
    let mut parent = "null".to_owned();
    for (at, usage) in usages.iter().enumerate() {
        let time = |seconds: u32| format!("2026-09-03T09:0{at}:{seconds}.000Z");
        let [asked, said] =
            ["a", "b"].map(|who| format!(r#""000000{at}{who}-0000-4000-8000-000000000000""#));
        lines += &format!(
            r#"{{"parentUuid":{parent},{head},"type":"user","uuid":{asked},"timestamp":"{}","message":{{"role":"user","content":"Question {at}"}}}}"#,
            time(10)
        );
        lines += "\n";
        lines += &format!(
            r#"{{"parentUuid":{asked},{head},"type":"assistant","uuid":{said},"timestamp":"{}","requestId":"req_{at}","message":{{"id":"msg_{at}","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"text","text":"Answer {at}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":1000,"output_tokens":1000,{usage}}}}}}}"#,
            time(20)
        );
        lines += "\n";
        parent = said;
    }
    lines
}

#[test]
fn a_usage_record_is_read_whole_and_what_has_no_price_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", served_in_every_way());
    sandbox.ok(&["import", "session.jsonl"]);
    // Five times 0.03, seven searches at a cent, and the adviser's 0.01.
    assert_snapshot!(sandbox.tract(&["cost", "--by", "model"]), @r"
                      replies  input             output     cost
    claude-opus-4-6         5     5k  0% cached      5k    $0.22
    claude-haiku-4-5        0     9k  0% cached     200  $0.0100
    total                   5    14k  0% cached   5,200    $0.23
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: region 'us' has no price in the list; standard price used for 1 reply
    note: speed 'fast' has no price in the list; standard price used for 1 reply
    note: tier 'batch' has no price in the list; standard price used for 1 reply
    note: not priced: 3 web_fetch_requests, which the list does not have
    ");
    // The context is that of the last request, and not of all.
    let status = sandbox.ok(&["status"]);
    let tokens = status.lines().find(|line| line.starts_with("Tokens"));
    assert_snapshot!(tokens.expect("a line"), @"Tokens   1,002 by the provider, 73 by tract (no budget set)");
    let shown = sandbox.ok(&["show"]);
    let words = ["usage", "beside", "counts", "price"];
    let lines = shown
        .lines()
        .filter(|line| words.iter().any(|word| line.starts_with(word)));
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    usage     600 input, 400 output
    beside    message: 400 input, 600 output
    beside    advisor_message of claude-haiku-4-5: 9,000 input, 200 output
    price     $0.04, API-equivalent, list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    // By message it comes to the same.
    let total = |by: &str| {
        let said = sandbox.ok(&["cost", "--by", by]);
        said.lines()
            .last()
            .map(|line| line.split_whitespace().last().map(str::to_owned))
    };
    assert_eq!(total("message"), total("session"));
    // And in a bundle.
    sandbox.ok(&["bundle", "all.bundle"]);
    let other = Sandbox::new();
    other.write(
        "all.bundle",
        std::fs::read(sandbox.work().join("all.bundle")).expect("a bundle"),
    );
    other.ok(&["unbundle", "all.bundle"]);
    let both = [&sandbox, &other].map(|it| it.ok(&["cost", "--by", "model"]));
    assert_eq!(both[0], both[1]);
}

#[test]
fn names_of_ones_own_stand_for_models() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "session.jsonl",
        session().replace("claude-opus-4-8", "azure/prod"),
    );
    sandbox.ok(&["import", "session.jsonl"]);
    let told = sandbox.tract(&["cost", "--by", "model"]);
    assert!(
        told.contains("no price") && told.contains("azure/prod"),
        "{told}"
    );
    assert_snapshot!(sandbox.tract(&["config", "prices.models", "prod"]), @r"
    exit code: 2
    --- stderr
    error: a model's name: 'prod' is not NAME=MODEL
    hint: tract config --help says what each setting takes
    ");
    sandbox.ok(&[
        "config",
        "prices.models",
        "prod = us.anthropic.claude-opus-4-8-v1:0, other=gpt-5.2",
    ]);
    assert_snapshot!(sandbox.ok(&["config", "prices.models"]), @"other=gpt-5.2,prod=us.anthropic.claude-opus-4-8-v1:0");
    // In a region a tenth more.
    assert_snapshot!(sandbox.tract(&["cost", "--by", "model"]), @r"
                replies  input              output   cost
    azure/prod        4   400k  90% cached      2k  $0.52
    total             4   400k  90% cached      2k  $0.52
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

/// A session of one reply that ran in a directory, at another hour of a day.
fn ran_in(cwd: &str, at: usize, day: &str) -> String {
    let cwd = serde_json::Value::from(cwd);
    let id = format!("5e5520{at:02}-0000-4000-8000-000000000001");
    let [asked, said] =
        ["a", "b"].map(|who| format!("00000{at:02}{who}-0000-4000-8000-000000000000"));
    let hour = 10 + at;
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"cwd":{cwd},"sessionId":"{id}","version":"2.1.219","type":"user","uuid":"{asked}","timestamp":"{day}T{hour}:00:10.000Z","message":{{"role":"user","content":"Question {at}"}}}}
{{"parentUuid":"{asked}","isSidechain":false,"cwd":{cwd},"sessionId":"{id}","version":"2.1.219","type":"assistant","uuid":"{said}","timestamp":"{day}T{hour}:00:20.000Z","requestId":"req_{at}","message":{{"id":"msg_{at}","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{{"type":"text","text":"Answer {at}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":1000,"output_tokens":100}}}}}}
"#
    )
}

#[test]
fn spellings_of_a_directory_are_one_row_and_worktrees_and_links_one_project() {
    let sandbox = Sandbox::new();
    let spelled = [
        r"C:\Users\ada\shop",
        r"c:\users\ada\Shop",
        r"\\?\C:\Users\ada\shop",
        "/mnt/c/Users/ada/shop",
    ];
    for (at, cwd) in spelled.into_iter().enumerate() {
        sandbox.write(&format!("{at}.jsonl"), ran_in(cwd, at, "2026-11-20"));
        sandbox.ok(&["import", &format!("{at}.jsonl")]);
    }
    let told = sandbox.ok(&["cost", "--by", "directory"]);
    let rows: Vec<&str> = told.lines().collect();
    assert_eq!(rows.len(), 1 + 2, "{told}");
    assert!(
        rows[1].to_lowercase().contains(r"c:\users\ada\shop") && rows[1].contains("  4  "),
        "{told}"
    );
    let mill = sandbox.work().join("mill");
    std::fs::create_dir_all(mill.join(".git/worktrees/tree")).expect("made");
    let tree = sandbox.work().join("tree");
    std::fs::create_dir_all(&tree).expect("made");
    let gitdir = format!("gitdir: {}\n", mill.join(".git/worktrees/tree").display());
    std::fs::write(tree.join(".git"), gitdir).expect("written");
    let gone = mill.join(".claude/worktrees/gone");
    for (at, cwd) in (4..).zip([&mill, &tree, &gone]) {
        let file = format!("{at}.jsonl");
        sandbox.write(&file, ran_in(&cwd.display().to_string(), at, "2026-11-23"));
        sandbox.ok(&["import", &file]);
    }
    let rows = |by: &str| sandbox.ok(&["cost", "--by", by]).lines().count();
    assert_eq!([rows("directory"), rows("project")], [1 + 5, 1 + 3]);
    let told = sandbox.ok(&["cost", "--by", "week"]);
    let weeks = told.lines().skip(1).map(|line| {
        let mut words = line.split_whitespace();
        [words.next(), words.next()].map(|word| word.unwrap_or_default().to_owned())
    });
    let weeks: Vec<[String; 2]> = weeks.collect();
    assert_eq!(
        weeks,
        [["2026-W47", "4"], ["2026-W48", "3"], ["total", "7"]]
    );
    let months = sandbox.ok(&["cost", "--by", "month"]);
    assert!(spaced(&months).contains("2026-11 7 "), "{months}");
}

/// By a name, where the system has a list of zones, and by a rule.
#[test]
fn days_are_those_of_the_users_zone() {
    let sandbox = Sandbox::new();
    sandbox.write("late.jsonl", ran_in("/home/ada/mill", 1, "2026-11-20"));
    sandbox.ok(&["import", "late.jsonl"]);
    let day = |zone: &str| {
        let mut command = sandbox.command(&["cost", "--by", "day"]);
        let told = command.env("TZ", zone).output().expect("it runs").stdout;
        let told = String::from_utf8_lossy(&told);
        let row = told.lines().nth(1).expect("a row");
        row[..10].to_owned()
    };
    assert_eq!(day("UTC"), "2026-11-20");
    let has_zones = std::path::Path::new("/usr/share/zoneinfo/Pacific/Kiritimati").exists();
    let zones = [("XYZ-14", true), ("Pacific/Kiritimati", has_zones)];
    for (zone, _) in zones.into_iter().filter(|(_, is_known)| *is_known) {
        assert_eq!(day(zone), "2026-11-21", "{zone}");
    }
}

#[test]
fn several_homes_of_a_client_are_named_with_commas_between() {
    let sandbox = Sandbox::new();
    for (at, home) in ["one", "two"].into_iter().enumerate() {
        let file = format!(
            "{home}/projects/-home-ada-mill/5e5520{at:02}-0000-4000-8000-000000000001.jsonl"
        );
        sandbox.write(&file, ran_in("/home/ada/mill", at, "2026-11-20"));
    }
    let both = ["one", "two"].map(|home| sandbox.work().join(home).display().to_string());
    let mut command = sandbox.command(&["import", "--all"]);
    command.env("CLAUDE_CONFIG_DIR", both.join(","));
    assert!(command.output().expect("it runs").status.success());
    let told = sandbox.ok(&["cost"]);
    assert_eq!(told.lines().count(), 1 + 3, "{told}");
    let rows = |sandbox: &Sandbox| {
        let told = sandbox.ok(&["cost", "--by", "account"]);
        let rows = told.lines().skip(1);
        let rows = rows.filter(|row| !row.starts_with("total"));
        rows.map(|row| row.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    let by_variable = rows(&sandbox);
    assert_eq!(by_variable.len(), 2, "{by_variable:?}");

    // The setting names the same folders, and the variable goes before it.
    let set = Sandbox::new();
    set.ok(&["config", "--global", "sources.claude-code", &both.join(",")]);
    set.ok(&["import", "--all"]);
    assert_eq!(rows(&set), by_variable);
    let one = Sandbox::new();
    one.ok(&["config", "--global", "sources.claude-code", &both.join(",")]);
    let mut command = one.command(&["import", "--all"]);
    command.env("CLAUDE_CONFIG_DIR", &both[0]);
    assert!(command.output().expect("it runs").status.success());
    assert_eq!(rows(&one), by_variable[..1]);
}

#[test]
fn requests_that_no_reply_shows_are_a_row_of_their_own() {
    let sandbox = Sandbox::new();
    let state = |input: u32, output: u32| {
        let counts = format!(
            r#""inputTokens":{input},"outputTokens":{output},"thinkingTokens":0,"cacheReadInputTokens":360000,"cacheCreationInputTokens":32000,"cacheCreationEphemeral5mInputTokens":32000,"cacheCreationEphemeral1hInputTokens":0"#
        );
        let title = r#""inputTokens":4000,"outputTokens":200"#;
        format!(
            r#"{{"type":"cost-state","sessionId":"5e551011-0000-4000-8000-000000000001","totalCostUSD":9,"modelUsage":{{"claude-opus-4-8":{{{counts}}},"claude-haiku-4-5":{{{title}}}}}}}"#
        ) + "\n"
    };
    // A summary has taken 1,000 tokens and 300; the replies have 8,000 and 2,000 beside what a cache had a part in.
    let grown = session() + &state(8_500, 2_000) + &state(9_000, 2_300);
    sandbox.write("session.jsonl", &grown);
    sandbox.ok(&["import", "session.jsonl"]);
    let told = sandbox.ok(&["cost"]);
    let rows: Vec<Vec<&str>> = told
        .lines()
        .map(|it| it.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows[2],
        ["(other", "requests)", "5k", "0%", "cached", "500", "$0.02"]
    );
    assert_eq!(
        rows[3],
        ["total", "4", "405k", "88%", "cached", "2,500", "$0.49"]
    );
    for by in [
        "agent",
        "day",
        "month",
        "model",
        "directory",
        "project",
        "client",
        "tool",
        "message",
    ] {
        let told = sandbox.ok(&["cost", "--by", by]);
        assert!(told.trim_end().ends_with("$0.49"), "{by}: {told}");
    }
    // They count where all replies of their session do. Nobody says when they were made, or behind which reply.
    let told = sandbox.tract(&["cost", "--since", "2026-01-01"]);
    assert!(
        told.contains("(other requests)") && told.contains("$0.49"),
        "{told}"
    );
    for asked in [
        ["cost", "main"].as_slice(),
        &["cost", "--since", "2026-11-20T10:00:09"],
    ] {
        let told = sandbox.tract(asked);
        assert!(!told.contains("(other requests)"), "{told}");
        assert!(
            told.contains("note: without requests that no reply shows"),
            "{told}"
        );
    }
    let told = sandbox.ok(&["api", "cost", r#"{"rev":"main"}"#]);
    assert!(told.contains(r#""without_other_requests":true"#), "{told}");
    // Nothing is taken for free.
    let unlisted = grown.replace("claude-haiku-4-5", "mill-1");
    let other = Sandbox::new();
    other.write(
        "session.jsonl",
        unlisted.replace(
            &state(9_000, 2_300).replace("claude-haiku-4-5", "mill-1"),
            &state(8_000, 2_000).replace("claude-haiku-4-5", "mill-1"),
        ),
    );
    other.ok(&["import", "session.jsonl"]);
    let told = other.tract(&["cost"]);
    let row = told.lines().find(|it| it.starts_with("(other requests)"));
    assert!(row.is_some_and(|row| row.ends_with("no price")), "{told}");
    assert!(
        told.contains(
            "other requests without a price: 4,200 tokens of mill-1, which the list does not have"
        ),
        "{told}"
    );
    // A client that says less than its replies do says nothing.
    sandbox.write("session.jsonl", grown + &state(7_000, 2_300));
    sandbox.ok(&["import", "session.jsonl"]);
    let told = sandbox.ok(&["cost"]);
    assert!(
        told.contains("(other requests)") && told.contains("$0.0050"),
        "{told}"
    );
}

#[test]
fn what_clients_say_that_sessions_cost_stands_beside_the_sum_of_the_list() {
    let sandbox = Sandbox::new();
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 10, "model": "gpt-4o"});
    let session = json!({"sessionId": "0e0e0e00-1111-4222-8333-444455556666",
        "usage": {"promptTokens": 3000, "completionTokens": 30, "totalCost": 1.5},
        "history": [{"message": {"role": "user", "content": "Name a river."}},
            {"message": {"role": "assistant", "content": "The Rhine.", "usage": usage}}]});
    sandbox.write("session.json", session.to_string());
    sandbox.ok(&["import", "session.json"]);
    assert_snapshot!(sandbox.tract(&["cost"]), @r"
                        replies  input             output     cost
    continue/0e0e0e00…        1     1k  0% cached      10  $0.0026
    (other requests)                2k  0% cached      20  $0.0052
    total                     1     3k  0% cached      30  $0.0078
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: continue/0e0e0e00… cost $1.50 by what clients say, $0.0078 by the list
    ");
}

#[test]
fn a_conversation_of_openhands_is_counted_by_the_state_beside_its_events() {
    let sandbox = Sandbox::new();
    let said = |number: u32, role: &str, text: &str, more: Value| {
        let mut event = json!({"id": format!("e{number}"), "timestamp": format!("2026-03-02T08:00:0{number}"),
            "source": role, "kind": "MessageEvent",
            "llm_message": {"role": role, "content": [{"type": "text", "text": text}]}});
        event
            .as_object_mut()
            .expect("fields")
            .extend(more.as_object().expect("fields").clone());
        let name = format!("conversations/c1/events/event-0000{number}-e{number}.json");
        sandbox.write(&name, event.to_string());
    };
    said(0, "user", "Name a river.", json!({}));
    said(
        1,
        "assistant",
        "The Rhine.",
        json!({"llm_response_id": "r1"}),
    );
    let counts = |reply: &str, input: u64| json!({"response_id": reply, "prompt_tokens": input, "completion_tokens": 10});
    let state = |replies: Vec<Value>, all: u64| {
        let metrics = json!({"model_name": "gpt-4o", "accumulated_token_usage": counts("", all), "token_usages": replies});
        let state = json!({"agent": {"llm": {"model": "gpt-4o", "api_key": "sk-secret"}},
            "stats": {"usage_to_metrics": {"agent": metrics}}});
        sandbox.write("conversations/c1/base_state.json", state.to_string());
    };
    state(vec![counts("r1", 1234)], 1234);
    sandbox.ok(&["import", "conversations/c1/events"]);
    let total = |cost: &str| {
        cost.lines()
            .find(|line| line.starts_with("total"))
            .map(str::to_owned)
    };
    let first = total(&sandbox.ok(&["cost"])).expect("a total");
    assert!(first.contains("1,234"), "{first}");
    // The state alone is enough to read it again.
    said(2, "user", "Another.", json!({}));
    said(
        3,
        "assistant",
        "The Elbe.",
        json!({"llm_response_id": "r2"}),
    );
    sandbox.ok(&["import", "conversations/c1/events"]);
    state(vec![counts("r1", 1234), counts("r2", 1111)], 2345);
    sandbox.ok(&["import", "conversations/c1/events"]);
    let second = total(&sandbox.ok(&["cost"])).expect("a total");
    assert!(second.contains("2,345"), "{second}");
    assert!(!sandbox.tract(&["export"]).contains("sk-secret"));
}

#[test]
fn sessions_that_say_the_same_have_each_paid_and_a_copy_has_not() {
    let sandbox = Sandbox::new();
    let alike = |id: &str, at: usize| {
        let session = ran_in("/home/ada/mill", 0, &format!("2026-11-{:02}", 20 + at));
        let session = session.replace("5e552000", id);
        session
            .replace("msg_0", &format!("msg_{at}"))
            .replace("req_0", &format!("req_{at}"))
    };
    for at in 0..5 {
        let file = format!("{at}.jsonl");
        sandbox.write(&file, alike(&format!("5e55200{at}"), at));
        sandbox.ok(&["import", &file]);
    }
    // The same ids in a file of another name, as a fork has them.
    sandbox.write("copy.jsonl", alike("5e552009", 3));
    sandbox.ok(&["import", "copy.jsonl"]);
    let paid = |sandbox: &Sandbox| {
        let told = sandbox.ok(&["cost"]);
        let total = told.lines().last().expect("a total");
        let count = total.split_whitespace().nth(1).expect("a count");
        count.to_owned()
    };
    assert_eq!(paid(&sandbox), "5");
    sandbox.ok(&["undo"]);
    assert_eq!(paid(&sandbox), "5");
    sandbox.ok(&["import", "."]);
    sandbox.ok(&["gc"]);
    assert_eq!(paid(&sandbox), "5");
}

#[test]
fn in_a_home_it_is_of_the_directory_and_of_all_where_that_is_asked_for() {
    let sandbox = Sandbox::empty();
    if is_left_out("the repository of a home directory") {
        return;
    }
    let home = std::fs::canonicalize(sandbox.home()).expect("it is there");
    let run = |directory: &str, arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.current_dir(home.join(directory));
        sandbox.told(&command.output().expect("it runs"))
    };
    run("", &["init"]);
    for (at, directory) in ["shop", "shop", "mill"].into_iter().enumerate() {
        let cwd = home.join(directory);
        std::fs::create_dir_all(&cwd).expect("made");
        let session = ran_in(&cwd.display().to_string(), at, "2026-03-14");
        let id = format!("5e5520{at:02}-0000-4000-8000-000000000001");
        let file = home.join(format!(".claude/projects/-{directory}/{id}.jsonl"));
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(&file, session).expect("written");
        run("", &["import", &file.display().to_string()]);
    }
    let paid = |directory: &str, arguments: &[&str]| {
        let told = run(directory, &[&["cost"], arguments].concat());
        let total = told.lines().find(|line| line.starts_with("total"));
        let total = total.unwrap_or_else(|| panic!("{told}"));
        (
            total.split_whitespace().nth(1).map(str::to_owned),
            told.contains("alone; --all"),
        )
    };
    let some = |count: &str| Some(count.to_owned());
    assert_eq!(paid("shop", &[]), (some("2"), true));
    assert_eq!(paid("mill", &["--by", "day"]), (some("1"), true));
    assert_eq!(paid("mill", &["--all"]), (some("3"), false));
    assert_eq!(paid("", &[]), (some("3"), false));
    // Time at work and money are of the same sessions, and of what HEAD leads to.
    std::fs::create_dir_all(home.join("yard")).expect("made");
    run(
        "yard",
        &[
            "checkout",
            "-b",
            "try",
            "claude-code/5e552000-0000-4000-8000-000000000001",
        ],
    );
    let at_work = |directory: &str, arguments: &[&str]| {
        let told = run(directory, &[&["stats"], arguments].concat());
        let total = told.lines().find(|line| line.starts_with("total"));
        let count = total.and_then(|line| line.split_whitespace().nth(3).map(str::to_owned));
        (count, told.contains("alone; --all"))
    };
    for (directory, replies) in [("shop", "2"), ("mill", "1"), ("yard", "1"), ("", "3")] {
        let found = [paid(directory, &[]), at_work(directory, &[])];
        assert_eq!(
            found,
            [(); 2].map(|()| (some(replies), !directory.is_empty())),
            "{directory}"
        );
    }
    // Where a directory has none, it says who has.
    std::fs::create_dir_all(home.join("barn")).expect("made");
    let told = run("barn", &["cost"]);
    let says = "No reply of this directory was counted by its provider, but 2 replies of [SANDBOX]/home/shop, and 1 of 1 other directory";
    assert!(told.contains(says), "{told}");
    let told = run("", &["cost", "--by", "account"]);
    assert!(spaced(&told).contains("/.claude 3 "), "{told}");
    let told = run("", &["cost", "--by", "block"]);
    assert!(
        spaced(&told).contains("2026-03-14 10:00-15:00 3 "),
        "{told}"
    );
}

/// Old files of Claude Code have what the first chunk of a stream counts.
#[test]
fn output_that_is_less_than_its_text_is_no_price_that_is_known() {
    let sandbox = Sandbox::new();
    let said = [
        (
            "one",
            3,
            "Whichever way the river turns, the mill stands. ".repeat(40),
        ),
        ("two", 460, "The mill. ".repeat(150)),
        ("three", 3, "Yes.".to_owned()),
    ];
    let lines = said.into_iter().enumerate().map(|(at, (id, output, text))| {
        let parent = at.checked_sub(1).map(|at| format!("r{at}"));
        let record = json!({
            "type": "assistant", "uuid": format!("r{at}"), "parentUuid": parent, "cwd": "/w", "version": "2.1.14",
            "sessionId": "5e551011-0000-4000-8000-000000000001", "timestamp": format!("2026-03-14T10:{at:02}:00.000Z"),
            "message": { "id": id, "role": "assistant", "model": "claude-opus-4-8", "content": [{ "type": "text", "text": text }],
                "usage": { "input_tokens": 1000, "output_tokens": output } },
        });
        format!("{record}\n")
    });
    sandbox.write("session.jsonl", lines.collect::<String>());
    sandbox.ok(&["import", "session.jsonl"]);
    assert_snapshot!(sandbox.tract(&["cost"]), @r"
                           replies  input             output            cost
    claude-code/5e551011…        3     3k  0% cached    ≥466  $0.03 and more
    total                        3     3k  0% cached    ≥466  $0.03 and more
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: 1 reply recorded with less output than the text has, and priced so; by tract's count about 442 tokens, $0.01 more
    ");
    assert_snapshot!(sandbox.tract(&["stats"]), @r"
                           at work  prompts  replies  calls  failed  edits  input  output
    claude-code/5e551011…       2m        -        3      -       -      -     3k    ≥466
    total                       2m        -        3      -       -      -     3k    ≥466
    --- stderr
    note: models 2m, tools -, you -; pauses are left out
    note: 1 reply recorded with less output than the text has
    ");
    assert!(
        sandbox
            .ok(&["status", "-v"])
            .contains(" and more for 3 replies")
    );
    // By what it was for, too.
    for by in ["tool", "message"] {
        let told = sandbox.tract(&["cost", "--by", by]);
        let total = told.lines().find(|line| line.starts_with("total"));
        assert!(total.is_some_and(|line| line.contains("≥466")), "{told}");
        assert!(told.contains("note: 1 reply recorded with less"), "{told}");
    }
    let answer = sandbox.tract_with(&["api"], "{\"id\":1,\"method\":\"cost\"}\n");
    let line = answer.lines().find(|line| line.starts_with('{'));
    let answer: Value = serde_json::from_str(line.expect("an answer")).expect("JSON");
    let (result, counted) = (&answer["result"], &answer["result"]["total"]["counted"]);
    assert_eq!(result["short_outputs"]["replies"], 1, "{answer}");
    assert_eq!(result["total"]["short_outputs"], 1, "{answer}");
    // No estimate is in a sum.
    assert_eq!(counted["output_tokens"], 466, "{answer}");
}

/// With one space where there are several.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_budget_of_money_stands_in_the_status_and_ends_a_check_with_1() {
    let sandbox = Sandbox::new();
    for at in 0..2 {
        let file = format!("{at}.jsonl");
        let day = ["2026-03-11", "2026-03-14"][at];
        sandbox.write(&file, ran_in("/home/ada/mill", at, day));
        sandbox.ok(&["import", &file]);
    }
    assert_snapshot!(sandbox.tract(&["cost", "--check"]), @"
    exit code: 2
    --- stderr
    error: neither budget.day nor budget.month is set
    hint: tract config budget.day 5 allows five dollars a day
    ");
    assert_snapshot!(sandbox.tract(&["config", "budget.day", "much"]), @"
    exit code: 2
    --- stderr
    error: budget.day: 'much' is no amount of US dollars
    hint: tract config --help says what each setting takes
    ");
    sandbox.ok(&["config", "budget.month", "$1"]);
    assert_snapshot!(sandbox.tract(&["cost", "--check"]), @"
    this month  $0.01 of $1.00 (1%)
    about $0.06 by the end of the month ($0.03 to $0.08 in four of five months)
    ");
    sandbox.ok(&["config", "budget.day", "0.005"]);
    assert_snapshot!(sandbox.tract(&["cost", "--check"]), @"
    exit code: 1
    today       $0.0075 of $0.0050 (150%)
    this month  $0.01 of $1.00 (1%)
    about $0.06 by the end of the month ($0.03 to $0.08 in four of five months)
    ");
    let status = sandbox.ok(&["status"]);
    let spent: Vec<&str> = status
        .lines()
        .filter(|line| line.contains(" of $"))
        .collect();
    assert_eq!(
        spent,
        [
            "Spent    $0.0075 of $0.0050 (150%) today",
            "         $0.01 of $1.00 (1%) this month"
        ]
    );
    assert!(
        sandbox
            .tract(&["api", "cost", r#"{"check":true}"#])
            .contains("exit code: 1")
    );
    let told = sandbox.tract(&["api", "cost", r#"{"check":true,"all":true}"#]);
    assert!(told.contains("it stands alone"), "{told}");
}

#[test]
fn what_a_budget_cannot_place_in_a_day_is_said() {
    let sandbox = Sandbox::new();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let stream = data.join("claude-stream/partial.jsonl");
    let stream = std::fs::read_to_string(stream).expect("a fixture");
    sandbox.write(
        "stream.jsonl",
        stream.replace(r#""timestamp":"#, r#""said":"#),
    );
    sandbox.ok(&["import", "stream.jsonl"]);
    sandbox.ok(&["config", "budget.day", "5"]);
    for command in [["cost", "--check"].as_slice(), &["status"]] {
        let told = sandbox.ok(command);
        assert!(
            told.contains("; left out: 2 replies without a time ($"),
            "{told}"
        );
    }
    // So is what a stretch of time leaves out.
    for more in [[].as_slice(), &["HEAD"]] {
        let of = |command| sandbox.tract(&[&[command, "--since", "1d"], more].concat());
        assert!(
            of("cost").contains("note: left out: 2 replies without a time ($"),
            "{}",
            of("cost")
        );
        let told = "note: left out: 2 replies without a time\n";
        assert!(of("stats").contains(told), "{}", of("stats"));
    }
    let told = sandbox.tract(&["log", "HEAD~2", "--since", "1d"]);
    assert!(
        told.contains("note: left out: commits without a time"),
        "{told}"
    );
    let answer = sandbox.ok(&["api", "cost", r#"{"since":"1d"}"#]);
    assert!(
        answer.contains(r#""untimed":{"name":"untimed","replies":2"#),
        "{answer}"
    );
    let told = sandbox.ok(&["cost"]);
    assert!(!told.contains("without a time"), "{told}");
}

#[test]
fn requests_that_no_reply_shows_are_said_to_be_of_no_day() {
    let sandbox = Sandbox::new();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let stream = std::fs::read(data.join("codex-exec/tools.jsonl")).expect("a fixture");
    sandbox.tract_with(&["record"], stream);
    let told = sandbox.tract(&["cost", "--since", "1d"]);
    assert!(
        told.contains("without requests that no reply shows"),
        "{told}"
    );
    sandbox.ok(&["config", "budget.day", "5"]);
    let told = sandbox.tract(&["cost", "--check"]);
    assert!(
        told.contains("in no budget: requests that no reply shows"),
        "{told}"
    );
    let told = sandbox.tract(&["stats"]);
    assert!(
        told.contains(" without tokens of their own in these sums"),
        "{told}"
    );
    // Of all times nothing is left out.
    let told = sandbox.ok(&["cost"]);
    assert!(!told.contains("without requests"), "{told}");
}

#[test]
fn what_is_recorded_counts_for_the_time_of_that() {
    let sandbox = Sandbox::new();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let stream = std::fs::read(data.join("claude-stream/partial.jsonl")).expect("a fixture");
    let counted = |of: &Sandbox, since: &str| {
        let since = format!(r#"{{"since":"{since}"}}"#);
        ["cost", "stats"].map(|method| {
            let told = of.ok(&["api", method, &since]);
            let answer = told.lines().find(|line| line.starts_with('{'));
            let answer: serde_json::Value =
                serde_json::from_str(answer.expect("an answer")).expect("JSON");
            assert!(!told.contains("untimed"), "{told}");
            let total = &answer["total"];
            let counted = total.get("counted").unwrap_or(total);
            counted["output_tokens"].as_u64().unwrap_or_default()
        })
    };
    sandbox.tract_with(&["record"], &stream);
    let whole = counted(&sandbox, "1d");
    assert!(whole.iter().all(|output| *output > 0), "{whole:?}");
    for by in ["tool", "day", "model", "message"] {
        let told = sandbox.ok(&["api", "cost", &format!(r#"{{"by":"{by}","since":"1d"}}"#)]);
        assert!(told.contains(r#""total","replies":2"#), "{by}: {told}");
    }
    // Neither a second look at the same nor what is done with it takes the time away.
    sandbox.write("stream.jsonl", &stream);
    sandbox.ok(&["import", "stream.jsonl"]);
    sandbox.tract_with(&["record"], &stream);
    assert_eq!(counted(&sandbox, "1d"), whole);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["redo"]);
    sandbox.ok(&["gc"]);
    assert_eq!(counted(&sandbox, "1d"), whole);
    // A rebase copies what came behind the branch's new base, and that came when it was recorded.
    sandbox.ok(&["checkout", "-b", "work", "HEAD"]);
    sandbox.ok(&["checkout", "-b", "base", "HEAD~1"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Another base."]);
    sandbox.ok(&["checkout", "work"]);
    sandbox.ok(&["rebase", "base"]);
    for rev in ["HEAD", "main"] {
        let told = sandbox.ok(&[
            "api",
            "stats",
            &format!(r#"{{"since":"1d","revs":["{rev}"]}}"#),
        ]);
        assert!(told.contains(r#""replies":2"#), "{rev}: {told}");
    }
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["clone", ".", "../copy"]);
    let since = r#"{"since":"1d"}"#;
    let copied = sandbox.ok(&["--repo", "../copy", "api", "cost", since]);
    assert!(copied.contains(r#""replies":2"#), "{copied}");
    sandbox.wait_days(2);
    assert_eq!(counted(&sandbox, "3d"), whole);
    assert_ne!(counted(&sandbox, "1d"), whole);
}

/// The results of tools have times in a stream, and replies have none: they came at the times around them.
#[test]
fn what_a_stream_gives_no_time_came_when_what_is_around_it_did() {
    let session = "5e551011-0000-4000-8000-0000000000ab";
    let reply = |number: u32| {
        let call = json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": "Bash",
            "input": {"command": "make"}});
        json!({"type": "assistant", "session_id": session, "parent_tool_use_id": null,
            "message": {"id": format!("msg_{number}"), "role": "assistant", "model": "claude-opus-4-8",
                "content": [call], "usage": {"input_tokens": 100, "output_tokens": 10}}})
    };
    let result = |number: u32, day: u32| {
        let result = json!({"type": "tool_result", "tool_use_id": format!("toolu_{number}"), "content": "made"});
        json!({"type": "user", "session_id": session, "parent_tool_use_id": null,
            "timestamp": format!("2025-12-{day:02}T10:00:00.000Z"),
            "message": {"role": "user", "content": [result]}})
    };
    let init = json!({"type": "system", "subtype": "init", "cwd": "/mill", "session_id": session});
    let records = [
        init,
        reply(1),
        result(1, 3),
        reply(2),
        result(2, 5),
        reply(3),
    ];
    let lines: Vec<String> = records.iter().map(|it| format!("{it}\n")).collect();
    let days = |sandbox: &Sandbox| -> Vec<String> {
        let told = sandbox.ok(&["api", "cost", r#"{"by":"day"}"#]);
        let told: serde_json::Value = serde_json::from_str(told.trim()).expect("JSON");
        let rows = told["rows"].as_array().expect("rows").iter();
        rows.map(|row| format!("{} {}", row["name"].as_str().unwrap_or("?"), row["replies"]))
            .collect()
    };
    // Whole, and in two pieces, of which the first ends in a reply that is not answered yet.
    for first in [lines.len(), 2, 4] {
        let sandbox = Sandbox::new();
        for end in [first, lines.len()] {
            sandbox.write("stream.jsonl", lines[..end].concat());
            sandbox.ok(&["import", "stream.jsonl"]);
        }
        let told = days(&sandbox);
        assert_eq!(told, ["2025-12-03 2", "2025-12-05 1"], "{first}");
        // To record the same changes no day.
        sandbox.tract_with(&["record"], lines.concat());
        assert_eq!(days(&sandbox), told);
        sandbox.ok(&["fsck"]);
    }
    // Whoever records an old stream hears its replies now; what they asked for came earlier.
    let sandbox = Sandbox::new();
    sandbox.tract_with(&["record"], lines.concat());
    let recorded = ["2025-12-03 1", "2025-12-05 1", "2026-03-14 1"];
    assert_eq!(days(&sandbox), recorded);
    sandbox.write("stream.jsonl", lines.concat());
    sandbox.ok(&["import", "stream.jsonl"]);
    assert_eq!(days(&sandbox), recorded);
}

#[test]
fn a_budget_of_a_directory_is_of_what_ran_in_it_and_a_hook_tells_it_when_asked() {
    let sandbox = Sandbox::new();
    for (at, directory) in ["/home/ada/mill/wheel", "/home/ada/shop"]
        .iter()
        .enumerate()
    {
        let file = format!("{at}.jsonl");
        sandbox.write(&file, ran_in(directory, at, "2026-03-14"));
        sandbox.ok(&["import", &file]);
    }
    for (odd, says) in [
        ("mill=5", "'mill' is not a full path"),
        ("5,6", "it says twice what all may cost"),
        ("/home/ada=much", "'much' is no amount of US dollars"),
    ] {
        let told = sandbox.tract(&["config", "budget.day", odd]);
        assert!(
            told.contains("exit code: 2") && told.contains(says),
            "{told}"
        );
    }
    sandbox.ok(&["config", "budget.day", "1, /home/ada/mill/=0.009"]);
    assert_eq!(
        sandbox.ok(&["config", "budget.day"]),
        "1,/home/ada/mill=0.009\n"
    );
    assert_snapshot!(sandbox.tract(&["cost", "--check"]), @"
    today                    $0.01 of $1.00 (1%)
    today in /home/ada/mill  $0.0075 of $0.0090 (83%)
    ");
    let status = sandbox.ok(&["status"]);
    assert!(
        status.contains("$0.0075 of $0.0090 (83%) today in /home/ada/mill"),
        "{status}"
    );
    let told = sandbox.ok(&["api", "cost", r#"{"check":true}"#]);
    assert!(told.contains(r#""directory":"/home/ada/mill""#), "{told}");
    // A hook says nothing unless it is asked to.
    let hook = |event: &str| {
        let asked = json!({"hook_event_name": event, "source": "startup", "session_id": "x"});
        sandbox.tract_with(&["guard", "--hook"], asked.to_string())
    };
    assert_eq!(hook("UserPromptSubmit").trim(), "");
    sandbox.ok(&["config", "budget.tell", "true"]);
    assert_snapshot!(hook("UserPromptSubmit"), @"
    <tract_budget>
    What the replies of models have cost, at list prices, of what the user has set with tract:
    today in /home/ada/mill: $0.0075 of $0.0090 (83%). It is nearly used up.
    </tract_budget>
    ");
    assert_eq!(hook("SessionStart"), hook("UserPromptSubmit"));
}

#[test]
fn who_wants_what_programs_read_is_told_the_line_to_type() {
    let sandbox = Sandbox::new();
    for (typed, wanted) in [
        (&["cost", "--json"][..], "tract api cost"),
        (
            &["cost", "--by", "day", "-n", "3", "--json"],
            r#"tract api cost '{"by":"day","limit":3}'"#,
        ),
        (
            &["cost", "--csv", "--misses", "main"],
            r#"tract api cost '{"rev":"main","misses":true}'"#,
        ),
        (&["log", "--json"], "tract api log"),
    ] {
        let told = sandbox.tract(typed);
        let hint = told
            .lines()
            .find_map(|it| it.strip_prefix("hint: programs ask with: "));
        assert_eq!(hint, Some(wanted), "{told}");
        assert!(told.starts_with("exit code: 2"), "{told}");
    }
    let told = sandbox.tract(&["cost", "--jsom"]);
    assert!(told.contains("hint: tract cost --help"), "{told}");
}
