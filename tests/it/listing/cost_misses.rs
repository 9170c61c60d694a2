//! What a cache should have had of a request and did not: how much, what it cost, and why.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// Four replies, and five requests that are recorded.
const REQUESTS: &str = include_str!("../../data/claude-code/requests.jsonl");
/// The hash of its system prompt and tools, and that of the same with a tool `cat`.
const SHAPE: &str = "dde233af3b161f86ce3cfa3308225c2098925720ef42d9552b813fffd712e339";
const WITH_CAT: &str = "ca50f499d2adea95345279ae97f5ef1a92e7baa42f946354414b1fde6ff3319e";

/// The session with these counts: new input, what was written, what was read.
fn counted(counts: [[u64; 3]; 4]) -> String {
    let mut lines: Vec<String> = REQUESTS.lines().map(str::to_owned).collect();
    let was = r#""input_tokens":40,"cache_creation_input_tokens":10,"cache_read_input_tokens":0,"#;
    for line in &mut lines {
        let of = |number: &usize| line.contains(&format!(r#""id":"msg_{number}""#));
        if let Some(number) = (1..=4).find(of) {
            let [new, written, read] = counts[number - 1];
            let is = format!(
                r#""input_tokens":{new},"cache_creation_input_tokens":{written},"cache_read_input_tokens":{read},"#
            );
            assert!(line.contains(was));
            *line = line.replace(was, &is);
        }
    }
    lines.join("\n")
}

const COUNTS: [[u64; 3]; 4] = [
    [40, 100_000, 0],
    [40, 102_000, 0],
    [40, 62_000, 42_000],
    [40, 1_000, 104_000],
];

/// The third request, whose reply is the second, has one more tool.
fn with_another_tool(session: &str) -> String {
    let lines = session.lines().map(|line| {
        if line.contains(r#""id":"3aaaaaaa"#) {
            return line.replace(SHAPE, WITH_CAT);
        }
        let tool =
            r#",{"name":"cat","description":"Print a file.","input_schema":{"type":"object"}}]}}"#;
        match line.strip_suffix("]}}") {
            Some(shape) if line.contains("api-request-shape") => {
                let second = shape.replace(SHAPE, WITH_CAT);
                format!("{line}\n{second}{tool}")
            }
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn diagnosed(session: &str, reply: &str, diagnosis: &str) -> String {
    let id = format!(r#""id":"{reply}","#);
    let with = format!(r#"{id}"diagnostics":{{"cache_miss_reason":{diagnosis}}},"#);
    assert!(session.contains(&id));
    session.replace(&id, &with)
}

/// Without what the client says of requests.
fn unrecorded(session: &str) -> String {
    let lines = session.lines().filter(|line| !line.contains("api-request"));
    lines.collect::<Vec<_>>().join("\n")
}

fn told(session: &str) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session);
    sandbox.tract(&["import", "session.jsonl"]);
    sandbox.tract(&["cost", "--misses"])
}

#[test]
fn the_first_difference_between_two_recorded_requests_is_the_reason() {
    let session = with_another_tool(&counted(COUNTS));
    assert_snapshot!(told(&session), @"
    the request differs  2 misses  160k  $0.92

                                  input  cached  written  missed   cost  why
    da80626  2026-11-20 10:00:04   100k       0     100k       0
    fc5468b  2026-11-20 10:00:10   102k       0     102k    100k  $0.57  tool cat added
    49dbc2a  2026-11-20 10:00:13   104k     42k      62k     60k  $0.34  tool cat removed
    25a4c1b  2026-11-20 10:00:16   105k    104k       1k       0
    total                          411k    146k     265k    160k  $0.92  2 misses
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

#[test]
fn a_forks_first_own_request_is_compared_with_the_one_in_its_parents_file() {
    let session = with_another_tool(&counted(COUNTS));
    let end = session.find("msg_2").expect("a reply");
    let end = end + session[end..].find('\n').expect("a line");
    let own = [
        "e410eadcf07b871ab958644630ffabe5de4aa0d02d6d73558283a6b17f47ca05",
        "abe692d7855ad32ff17bfc9a4d3780483a228df40dac1061d725a755d257e931",
    ];
    let of_parent = |line: &&str| {
        ["1", "2", "3"]
            .iter()
            .any(|id| line.contains(&format!(r#""id":"{id}aaaaaaa"#)))
    };
    let fork: Vec<&str> = session.lines().filter(|line| !of_parent(line)).collect();
    let fork = fork.join("\n").replace("5e551011", "5e551012").replace(
        r#""base":"3aaaaaaa-0000-4000-8000-000000000000","keep":2,"tail":["#,
        &format!(r#""keep":0,"tail":["{}","{}","#, own[0], own[1]),
    );
    let sandbox = Sandbox::new();
    sandbox.write("parent.jsonl", &session[..end]);
    sandbox.write("fork.jsonl", &fork);
    sandbox.tract(&["import", "parent.jsonl"]);
    sandbox.tract(&["import", "fork.jsonl"]);
    assert_snapshot!(sandbox.tract(&["cost", "--misses"]), @"
    the request differs  2 misses  160k  $0.92

                                                         input  cached  written  missed   cost  why
    da80626  2026-11-20 10:00:04  claude-code/5e551011…   100k       0     100k       0
    fc5468b  2026-11-20 10:00:10  claude-code/5e551011…   102k       0     102k    100k  $0.57  tool cat added
    49dbc2a  2026-11-20 10:00:13  claude-code/5e551012…   104k     42k      62k     60k  $0.34  tool cat removed
    25a4c1b  2026-11-20 10:00:16  claude-code/5e551012…   105k    104k       1k       0
    total                                                 411k    146k     265k    160k  $0.92  2 misses
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

#[test]
fn a_page_draws_what_the_cache_had_of_each_request_and_says_it_in_words() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", counted(COUNTS));
    sandbox.tract(&["import", "session.jsonl"]);
    let page = sandbox.ok(&["export", "--format", "html", "main"]);
    let from = page.find("<figure class=\"chart\"><svg viewBox=\"0 0 1200 60\" preserveAspectRatio=\"none\" role=\"group\" aria-label=\"what");
    let chart = &page[from.expect("a chart")..];
    let chart = &chart[..chart.find("</figure>").expect("its end")];
    assert_snapshot!(chart.replace('"', "'"), @r"
    <figure class='chart'><svg viewBox='0 0 1200 60' preserveAspectRatio='none' role='group' aria-label='what the provider&#39;s cache had of each request: of 411k tokens in all, 146k were read from it, and 160k were missed'>
    <a href='#cda80626a81cd' tabindex='-1'><g><title>:2  100,040 tokens: 0 from the cache, 0 missed</title><rect class='rest' x='0' y='6' width='300' height='54'></rect></g></a>
    <a href='#cfc5468b0463d' tabindex='-1'><g><title>:4  102,040 tokens: 0 from the cache, 100,000 missed</title><rect class='rest' x='300' y='5' width='300' height='1'></rect><rect class='missed' x='300' y='6' width='300' height='54'></rect></g></a>
    <a href='#c49dbc2a4efe4' tabindex='-1'><g><title>:6  104,040 tokens: 42,000 from the cache, 60,000 missed</title><rect class='rest' x='600' y='4' width='300' height='1'></rect><rect class='missed' x='600' y='5' width='300' height='32'></rect><rect x='600' y='37' width='300' height='23'></rect></g></a>
    <a href='#c25a4c1b5afc5' tabindex='-1'><g><title>:8  105,040 tokens: 104,000 from the cache, 0 missed</title><rect x='900' y='4' width='300' height='56'></rect></g></a>
    </svg><figcaption><span>cache: 146k of 411k tokens read</span><span class='missed'>160k missed</span></figcaption>
    ");
    // Where no cache had a part in it, there is nothing to draw.
    let none = unrecorded(&counted([[40, 0, 0], [50, 0, 0], [60, 0, 0], [70, 0, 0]]));
    let sandbox = Sandbox::new();
    sandbox.write("none.jsonl", none);
    sandbox.tract(&["import", "none.jsonl"]);
    let page = sandbox.ok(&["export", "--format", "html", "main"]);
    assert!(page.contains("the context's size") && !page.contains("cache had of each request"));
}

#[test]
fn the_word_of_the_provider_comes_first() {
    let reason = r#"{"type":"tools_\u001b[31mchanged","cache_missed_input_tokens":100123}"#;
    let session = diagnosed(&with_another_tool(&counted(COUNTS)), "msg_2", reason);
    // What is no count is left out, and what nobody missed has a reason all the same.
    let odd = r#"{"type":"system_changed","cache_missed_input_tokens":-5}"#;
    let session = diagnosed(&session, "msg_3", odd);
    let session = diagnosed(&session, "msg_4", r#"{"type":"unavailable"}"#);
    let session = diagnosed(&session, "msg_1", r#"{"type":["none"]}"#);
    assert_snapshot!(told(&session), @"
    the provider says why  2 misses  160k  $0.92

                                  input  cached  written  missed   cost  why
    da80626  2026-11-20 10:00:04   100k       0     100k       0
    fc5468b  2026-11-20 10:00:10   102k       0     102k    100k  $0.57  provider: tools_␛[31mchanged, 100,123 tokens; tool cat added
    49dbc2a  2026-11-20 10:00:13   104k     42k      62k     60k  $0.34  provider: system_changed; tool cat removed
    25a4c1b  2026-11-20 10:00:16   105k    104k       1k       0         provider: unavailable
    total                          411k    146k     265k    160k  $0.92  2 misses
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: 1 number of missed tokens left out: no request has so many
    ");
    let session = unrecorded(&session);
    assert_snapshot!(told(&session), @"
    the provider says why  2 misses  160k  $0.92

                                  input  cached  written  missed   cost  why
    da80626  2026-11-20 10:00:04   100k       0     100k       0
    fc5468b  2026-11-20 10:00:10   102k       0     102k    100k  $0.57  provider: tools_␛[31mchanged, 100,123 tokens
    49dbc2a  2026-11-20 10:00:13   104k     42k      62k     60k  $0.34  provider: system_changed
    25a4c1b  2026-11-20 10:00:16   105k    104k       1k       0         provider: unavailable
    total                          411k    146k     265k    160k  $0.92  2 misses
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: 1 number of missed tokens left out: no request has so many
    ");
}

#[test]
fn where_no_request_is_recorded_history_tells() {
    let session = unrecorded(&counted([
        [40, 100_000, 0],
        [40, 102_000, 0],
        [40, 104_000, 0],
        [40, 105_000, 0],
    ]));
    // The second by another model, the third after six minutes, the fourth after two more.
    let lines = session.lines().map(|line| {
        if line.contains("msg_2") {
            line.replace("claude-opus-4-8", "claude-sonnet-4-5")
        } else if line.contains("msg_3") {
            line.replace("claude-opus-4-8", "claude-sonnet-4-5")
                .replace("10:00:13", "10:06:13")
        } else if line.contains("msg_4") {
            line.replace("claude-opus-4-8", "claude-sonnet-4-5")
                .replace("10:00:16", "10:08:16")
        } else {
            line.to_owned()
        }
    });
    let session = lines.collect::<Vec<_>>().join("\n");
    assert_snapshot!(told(&session), @"
    unknown                            1 miss  104k  $0.36
    too long after the request before  1 miss  102k  $0.35
    another model                      1 miss  100k  $0.35

                                  input  cached  written  missed   cost  why
    da80626  2026-11-20 10:00:04   100k       0     100k       0
    7e39222  2026-11-20 10:00:10   102k       0     102k    100k  $0.35  model claude-opus-4-8 became claude-sonnet-4-5
    1a0ec85  2026-11-20 10:06:13   104k       0     104k    102k  $0.35  6 min after the request before; kept for 5 min
    370aec0  2026-11-20 10:08:16   105k       0     105k    104k  $0.36  unknown
    total                          411k       0     411k    306k  $1.06  3 misses
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    // What was paid for an hour is there for longer.
    let hour =
        r#""cache_creation":{"ephemeral_1h_input_tokens":102000},"cache_read_input_tokens":0,"#;
    let of_the_second = r#""cache_creation_input_tokens":102000,"#;
    let session = session.replace(of_the_second, &format!("{of_the_second}{hour}"));
    let hourly = told(&session);
    assert!(hourly.contains("unknown"), "{hourly}");
}

#[test]
fn a_change_of_ones_own_is_the_reason_of_what_comes_behind_it() {
    let sandbox = Sandbox::new();
    let session = unrecorded(&counted(COUNTS));
    let lines: Vec<&str> = session.lines().collect();
    let (front, rest) = lines.split_at(5);
    sandbox.write("session.jsonl", front.join("\n") + "\n");
    sandbox.tract(&["import", "session.jsonl", "--onto", "main"]);
    sandbox.ok(&["drop", ":2"]);
    sandbox.write("session.jsonl", [front, rest].concat().join("\n") + "\n");
    sandbox.tract(&["import", "session.jsonl", "--onto", "main"]);
    assert_snapshot!(sandbox.tract(&["cost", "--misses", "main"]), @"
    the context was changed  1 miss  100k  $0.57
    unknown                  1 miss   60k  $0.34

                                  input  cached  written  missed   cost  why
    da80626  2026-11-20 10:00:04   100k       0     100k       0
    ab1d747  2026-11-20 10:00:10   102k       0     102k    100k  $0.57  drop a339f03
    b4ecea2  2026-11-20 10:00:13   104k     42k      62k     60k  $0.34  unknown
    905271f  2026-11-20 10:00:16   105k    104k       1k       0
    total                          411k    146k     265k    160k  $0.92  2 misses
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

#[test]
fn what_cannot_be_told_is_said_once_and_the_rest_is_answered() {
    let session = with_another_tool(&counted(COUNTS));
    let session = session.replacen(r#""base":"2"#, r#""base":"9"#, 1);
    let session = session.replace(
        r#""cache_read_input_tokens":104000"#,
        r#""cache_read_input_tokens":10400000000000"#,
    );
    assert_snapshot!(told(&session), @"
    unknown  2 misses  160k  $0.92

                                  input  cached  written  missed   cost  why
    da80626  2026-11-20 10:00:04   100k       0     100k       0
    fc5468b  2026-11-20 10:00:10   102k       0     102k    100k  $0.57  unknown
    49dbc2a  2026-11-20 10:00:13   104k     42k      62k     60k  $0.34  unknown
    total                          306k     42k     264k    160k  $0.92  2 misses
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: 1 reply left out: no request has such counts
    note: a recorded request: it goes on from the request 9aaaaaaa-0000-4000-8000-000000000000, which is not before it
    ");
    let session = session.replace("claude-opus-4-8", "my-model");
    assert_snapshot!(told(&unrecorded(&session)), @"
    unknown  2 misses  160k  $0.00

                                  input  cached  written  missed      cost  why
    8dd49ff  2026-11-20 10:00:04   100k       0     100k       0
    7afa7e0  2026-11-20 10:00:10   102k       0     102k    100k  no price  unknown
    2a5f022  2026-11-20 10:00:13   104k     42k      62k     60k  no price  unknown
    total                          306k     42k     264k    160k     $0.00  2 misses
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    note: 2 misses without a price: tract cost --by model
    note: 1 reply left out: no request has such counts
    ");
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.tract(&["cost", "--misses"]), @"
    --- stderr
    No reply here was counted by its provider
    ");
    assert_snapshot!(sandbox.tract(&["cost", "--misses", "--by", "day"]), @"
    exit code: 2
    --- stderr
    error: the argument '--misses' cannot be used with '--by <WHAT>'
    hint: tract cost --help
    ");
}

#[test]
fn a_terminal_shows_the_session_at_a_glance() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", counted(COUNTS));
    sandbox.tract(&["import", "session.jsonl"]);
    let Some(seen) = sandbox.on_terminal("100", &["cost", "--misses"]) else {
        return;
    };
    assert_snapshot!(seen, @"
    the provider had let go of it  1 miss  100k  $0.57
    the request differs            1 miss   60k  $0.34

                         input  cached  written  missed   cost  why
    da80626  2026-11-20   100k       0     100k       0
    fc5468b  2026-11-20   102k       0     102k    100k  $0.57  alike; the provider had let go of it
    49dbc2a  2026-11-20   104k     42k      62k     60k  $0.34  the breakpoint at system[1] is gone
    25a4c1b  2026-11-20   105k    104k       1k       0
    total                 411k    146k     265k    160k  $0.92  2 misses

    context ████  105k at most
    cached    ▄█
    missed   █▅
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

#[test]
fn two_requests_are_compared_as_they_were_sent() {
    let sandbox = Sandbox::new();
    let session = with_another_tool(&counted(COUNTS));
    let session = session.replace(r#""max_tokens":32000,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}},"base":"2"#, r#""max_tokens":99,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}},"base":"2"#);
    sandbox.write("session.jsonl", session);
    sandbox.tract(&["import", "session.jsonl"]);
    assert_snapshot!(sandbox.tract(&["diff", "--sent", ":2", ":4"]), @"
    System      the same
    Tools       1 the same; + cat
    Parameters  max_tokens
    Messages    2 the same, of 2 and 4
    Breakpoints - messages[1].content[0], + messages[3].content[0]
    First byte  214 of 713 and 994, in messages[1].content
    Cache       100,000 tokens that :2 left there were not read, which cost $0.57 more
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(sandbox.tract(&["diff", "--sent", ":4..:6"]), @"
    System      the same
    Tools       1 the same; - cat
    Parameters  max_tokens
    Messages    4 the same, of 4 and 6
    Breakpoints - system[1], - messages[3].content[0], + messages[5].content[0]
    First byte  486 of 994 and 1,023, in messages[3].content[0].cache_control
    Cache       60,000 tokens that :4 left there were not read, which cost $0.34 more
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(sandbox.tract(&["diff", "--sent", ":2", ":2", "--exit-code"]), @"
    System      the same
    Tools       1 the same
    Messages    2 the same, of 2 and 2
    Cache       100,000 tokens that :2 left there were not read, which cost $0.58 more
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    assert_snapshot!(sandbox.tract(&["diff", "--sent", ":2", ":3"]), @"
    exit code: 1
    --- stderr
    error: no request is recorded for :3
    hint: tract log --requests lists those that are
    ");
    assert_snapshot!(sandbox.tract(&["diff", "--sent"]), @"
    exit code: 2
    --- stderr
    error: the following required arguments were not provided: <A|A..B>
    hint: tract diff --help
    ");
    assert_snapshot!(sandbox.tract(&["diff", "--sent", "--stat", ":2", ":4"]), @"
    exit code: 2
    --- stderr
    error: the argument '--sent' cannot be used with '--stat'
    hint: tract diff --help
    ");
}

#[test]
fn what_is_not_recorded_whole_is_not_compared() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "session.jsonl",
        REQUESTS.replacen("Be kind.", "Be kinb.", 1),
    );
    sandbox.tract(&["import", "session.jsonl"]);
    assert_snapshot!(sandbox.tract(&["diff", "--sent", ":2", ":4"]), @"
    exit code: 3
    --- stderr
    error: what was sent cannot be told: its message abe692d is not in the file
    hint: tract fsck --requests says what is wrong
    ");
}
