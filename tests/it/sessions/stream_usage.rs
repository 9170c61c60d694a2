//! What the streams of clients say that requests came to: counted, and nothing twice.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const SESSION: &str = "5e551011-0000-4000-8000-0000000000aa";
const MODEL: &str = "claude-opus-4-8";

/// A reply of so much input and output, as a stream tells it.
fn reply(number: u32, [input, output]: [u32; 2]) -> Value {
    json!({"type": "assistant", "session_id": SESSION, "parent_tool_use_id": null,
        "timestamp": format!("2026-11-20T10:00:{number:02}.000Z"), "uuid": format!("u{number}"),
        "message": {"id": format!("msg_{number}"), "role": "assistant", "model": MODEL,
            "content": [{"type": "text", "text": format!("Sack {number}.")}],
            "usage": {"input_tokens": input, "output_tokens": output}}})
}

/// The same in the session's file, which has the whole output.
fn kept(number: u32, counts: [u32; 2], parent: Option<u32>) -> Value {
    let mut record = reply(number, counts);
    record["sessionId"] = json!(SESSION);
    record["parentUuid"] = json!(parent.map(|it| format!("u{it}")));
    record
}

fn turn() -> Value {
    json!({"type": "system", "subtype": "init", "cwd": "/home/ada/mill", "session_id": SESSION})
}

fn models(sums: &[(&str, [u32; 2])]) -> Value {
    let sums = sums.iter().map(|(model, [input, output])| {
        let counts = json!({"inputTokens": input, "outputTokens": output});
        ((*model).to_owned(), counts)
    });
    Value::Object(sums.collect())
}

/// The end of a turn: what its replies came to, and what the client says of all.
fn result([input, output]: [u32; 2], all: Value) -> Value {
    json!({"type": "result", "subtype": "success", "num_turns": 1, "session_id": SESSION,
        "uuid": format!("r{input}-{output}"),
        "usage": {"input_tokens": input, "output_tokens": output}, "modelUsage": all})
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|it| format!("{it}\n")).collect()
}

/// Each row of `tract cost`: replies, input, output.
fn rows(sandbox: &Sandbox) -> Vec<String> {
    let told: Value =
        serde_json::from_str(sandbox.ok(&["api", "cost", "{}"]).trim()).expect("JSON");
    let row = |row: &Value| {
        let (name, counted) = (row["name"].as_str().expect("a name"), &row["counted"]);
        let name = name.split('/').nth(2).unwrap_or(name);
        let (input, output) = (&counted["input_tokens"], &counted["output_tokens"]);
        format!("{name}: {} {input} {output}", row["replies"])
    };
    told["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(row)
        .collect()
}

/// Two turns of one process: a reply alone, then two with a sub-agent on another model.
fn first_process() -> Vec<Value> {
    let mut agent = reply(90, [70, 1]);
    agent["parent_tool_use_id"] = json!("toolu_1");
    agent["message"]["model"] = json!("claude-haiku-4-5");
    vec![
        turn(),
        reply(1, [100, 1]),
        result([100, 10], models(&[("claude-opus-4-8[1m]", [100, 10])])),
        turn(),
        reply(2, [110, 1]),
        agent,
        reply(3, [120, 1]),
        result(
            [230, 30],
            models(&[
                ("claude-opus-4-8[1m]", [330, 40]),
                ("claude-haiku-4-5", [70, 7]),
            ]),
        ),
    ]
}

#[test]
fn a_recorded_stream_counts_what_its_client_says() {
    let sandbox = Sandbox::new();
    sandbox.tract_with(&["record"], lines(&first_process()));
    // The output of a turn of several replies is known in sum alone.
    let counted = ["claude-stream: 3 330 12", "(other requests): 0 70 35"];
    assert_eq!(rows(&sandbox), counted);
    // Another process of the session counts from zero; its last turn was broken off, and one before it is not counted.
    let cut = result([0, 0], json!({}));
    let second = [
        turn(),
        reply(4, [400, 1]),
        result([400, 15], models(&[(MODEL, [400, 15])])),
        turn(),
        reply(5, [410, 1]),
        cut,
        turn(),
        reply(6, [420, 1]),
    ];
    sandbox.tract_with(&["record"], lines(&second));
    let counted = ["claude-stream: 6 1560 29", "(other requests): 0 70 35"];
    assert_eq!(rows(&sandbox), counted);
    sandbox.ok(&["fsck"]);
}

/// The stream of each process of a session, once more: whoever records it, or imports the file of one.
#[test]
fn a_part_of_a_recorded_session_changes_no_count() {
    let second = [
        turn(),
        reply(4, [400, 1]),
        result([400, 15], models(&[(MODEL, [400, 15])])),
    ];
    let streams = [lines(&first_process()), lines(&second)];
    let sandbox = Sandbox::new();
    for stream in &streams {
        sandbox.tract_with(&["record"], stream);
    }
    let counted = || {
        let stats = sandbox.ok(&["api", "stats", "{}"]);
        (rows(&sandbox), stats, sandbox.ok(&["branch"]))
    };
    let before = counted();
    for stream in &streams {
        sandbox.tract_with(&["record"], stream);
        assert_eq!(counted(), before);
        sandbox.write("stream.jsonl", stream);
        let told = sandbox.tract(&["import", "stream.jsonl"]);
        assert!(told.contains("Nothing new"), "{told}");
        assert_eq!(counted(), before);
    }
    sandbox.ok(&["fsck"]);
}

/// The streams of the processes of a session come in any order, and again behind each other.
#[test]
fn streams_of_a_session_count_once_in_whatever_order_they_come() {
    let second = [
        turn(),
        reply(4, [400, 1]),
        result([400, 15], models(&[(MODEL, [400, 15])])),
    ];
    let [one, two] = [lines(&first_process()), lines(&second)];
    let counted = ["claude-stream: 4 730 27", "(other requests): 0 70 35"];
    for order in [[&one, &two], [&two, &one]] {
        let sandbox = Sandbox::new();
        for stream in order {
            sandbox.tract_with(&["record"], stream);
        }
        assert_eq!(rows(&sandbox), counted);
        sandbox.tract_with(&["record"], format!("{one}{two}"));
        assert_eq!(rows(&sandbox), counted);
        sandbox.ok(&["fsck"]);
    }
}

/// A reply without a time is known again by the request that it answers. Its record says which, and is not in a plain clone, nor
/// there after a purge.
#[test]
fn a_reply_is_known_again_where_its_record_is_not() {
    let untimed = |mut records: Vec<Value>| {
        for record in &mut records {
            record.as_object_mut().expect("fields").remove("timestamp");
        }
        lines(&records)
    };
    let first = untimed(first_process());
    let second = untimed(vec![
        turn(),
        reply(4, [400, 1]),
        result([400, 15], models(&[(MODEL, [400, 15])])),
    ]);
    let file = lines(&[
        kept(1, [100, 10], None),
        kept(2, [110, 12], Some(1)),
        kept(3, [120, 18], Some(2)),
    ]);
    let record = |stream: &str| {
        let stream = stream.to_owned();
        move |sandbox: &Sandbox| drop(sandbox.tract_with(&["record"], &stream))
    };
    let import = |sandbox: &Sandbox| {
        sandbox.write("file.jsonl", &file);
        sandbox.ok(&["import", "file.jsonl"]);
    };
    let rebase = |sandbox: &Sandbox| {
        sandbox.ok(&["checkout", "-b", "side", "HEAD~1"]);
        sandbox.ok(&["commit", "-r", "user", "-m", "Another sack."]);
        sandbox.ok(&["checkout", "main"]);
        sandbox.ok(&["rebase", "side"]);
    };
    let nothing = |_: &Sandbox| {};
    // Two ways in, and what is done behind them.
    type Deed<'d> = &'d dyn Fn(&Sandbox);
    let ways: [[Deed<'_>; 3]; 4] = [
        [&record(&first), &import, &nothing],
        [&import, &record(&first), &nothing],
        [&record(&first), &nothing, &rebase],
        [&record(&first), &record(&second), &nothing],
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let sandbox = Sandbox::new();
        way.iter().for_each(|deed| deed(&sandbox));
        let counted = rows(&sandbox);
        let of = |here: &str| {
            let told = sandbox.ok(&["--repo", here, "api", "cost", "{}"]);
            let told: Value = serde_json::from_str(told.trim()).expect("JSON");
            let stats = sandbox.ok(&["--repo", here, "api", "stats", "{}"]);
            let stats: Value = serde_json::from_str(stats.trim()).expect("JSON");
            (told["total"].clone(), stats["total"]["replies"].clone())
        };
        let total = of(".");
        sandbox.ok(&["clone", ".", "../clone"]);
        sandbox.ok(&["clone", "../clone", "../again"]);
        assert_eq!(of("../clone"), total, "{number}");
        assert_eq!(of("../again"), total, "{number}");
        sandbox.ok(&["purge", "--match", "Sack 1.", "--force"]);
        assert_eq!(of("."), total, "{number}");
        // What comes once more changes nothing, whoever has it.
        for way_in in &way[..2] {
            way_in(&sandbox);
            assert_eq!(rows(&sandbox), counted, "{number}");
        }
        sandbox.ok(&["fsck"]);
    }
}

#[test]
fn what_came_since_the_last_result_is_not_what_a_fork_took_over() {
    let sandbox = Sandbox::new();
    let mut end = result([100, 10], models(&[(MODEL, [9100, 910])]));
    end["model_usage_since_last_result"] = models(&[(MODEL, [130, 13])]);
    sandbox.write("stream.jsonl", lines(&[turn(), reply(1, [100, 1]), end]));
    sandbox.ok(&["import", "stream.jsonl"]);
    let counted = ["claude-stream: 1 100 10", "(other requests): 0 30 3"];
    assert_eq!(rows(&sandbox), counted);
}

#[test]
fn a_session_that_is_streamed_and_kept_is_counted_once() {
    let file = [
        kept(1, [100, 10], None),
        kept(2, [110, 12], Some(1)),
        kept(3, [120, 18], Some(2)),
    ];
    let state = json!({"type": "cost-state", "sessionId": SESSION,
        "modelUsage": models(&[(MODEL, [330, 40]), ("claude-haiku-4-5", [70, 7])])});
    let silent = lines(&file);
    let telling = format!("{silent}{state}\n");
    for (file, streams_first) in [
        (&silent, true),
        (&silent, false),
        (&telling, true),
        (&telling, false),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("file.jsonl", file);
        let take = |is_stream: bool| match is_stream {
            true => sandbox.tract_with(&["record"], lines(&first_process())),
            false => sandbox.ok(&["import", "file.jsonl"]),
        };
        take(streams_first);
        take(!streams_first);
        let counted = ["claude-code: 3 330 40", "(other requests): 0 70 7"];
        assert_eq!(rows(&sandbox), counted, "{streams_first}");
    }
}

/// A stream tells other times than the file, and fewer words of a reply. The message has one id in both.
#[test]
fn what_is_done_in_a_session_that_is_streamed_and_kept_is_counted_once() {
    let file = [
        kept(1, [100, 10], None),
        kept(2, [110, 12], Some(1)),
        kept(3, [120, 18], Some(2)),
    ];
    let file = lines(&file).replace("T10:00:", "T10:30:");
    for streams_first in [true, false] {
        let sandbox = Sandbox::new();
        sandbox.write("file.jsonl", &file);
        let take = |is_stream: bool| match is_stream {
            true => sandbox.tract_with(&["record"], lines(&first_process())),
            false => sandbox.ok(&["import", "file.jsonl"]),
        };
        take(streams_first);
        take(!streams_first);
        sandbox.ok(&["clone", ".", "../clone"]);
        for here in [".", "../clone"] {
            let told = |what: &str| -> Value {
                let told = sandbox.ok(&["--repo", here, "api", what, "{}"]);
                serde_json::from_str(told.trim()).expect("JSON")
            };
            let (stats, cost) = (told("stats"), told("cost"));
            let replies = [&stats["total"]["replies"], &cost["total"]["replies"]];
            assert_eq!(
                replies,
                [&json!(3), &json!(3)],
                "{here}, {streams_first}: {stats}"
            );
            assert_eq!(stats["rows"].as_array().map(Vec::len), Some(1), "{stats}");
            assert_eq!(stats.get("uncounted_replies"), None, "{stats}");
        }
    }
}

/// What was recorded has the time of that, until the client's own file tells when it was.
#[test]
fn the_time_that_a_client_gives_counts_before_the_one_of_recording() {
    let file = [
        kept(1, [100, 10], None),
        kept(2, [110, 12], Some(1)),
        kept(3, [120, 18], Some(2)),
    ];
    let file = lines(&file).replace("2026-11-20", "2025-11-20");
    let mut stream = first_process();
    for line in &mut stream {
        line.as_object_mut().expect("an object").remove("timestamp");
    }
    for streams_first in [true, false] {
        let sandbox = Sandbox::new();
        sandbox.write("file.jsonl", &file);
        let take = |is_stream: bool| match is_stream {
            true => sandbox.tract_with(&["record"], lines(&stream)),
            false => sandbox.ok(&["import", "file.jsonl"]),
        };
        let recent = || sandbox.tract(&["api", "cost", r#"{"since":"1d"}"#]);
        take(streams_first);
        assert_eq!(recent().contains(r#""replies":3"#), streams_first);
        take(!streams_first);
        assert!(!recent().contains(r#""replies":3"#), "{}", recent());
        assert!(!recent().contains("untimed"), "{}", recent());
        let days = sandbox.tract(&["cost", "--by", "day"]);
        assert!(days.contains("\n2025-11-20 "), "{days}");
        assert!(!days.contains("\n2026-01"), "{days}");
    }
}

#[test]
fn a_fork_goes_on_with_what_its_parent_came_to() {
    let sandbox = Sandbox::new();
    let state = |session: &str, counts: [u32; 2]| json!({"type": "cost-state", "sessionId": session, "modelUsage": models(&[(MODEL, counts)])});
    let parent = [kept(1, [100, 10], None), state(SESSION, [130, 13])];
    sandbox.write("parent.jsonl", lines(&parent));
    let other = SESSION.replace("aa", "bb");
    let mut copy = kept(1, [100, 10], None);
    copy["requestSessionId"] = json!(SESSION);
    let mut fork = [copy, kept(2, [110, 12], Some(1)), state(&other, [240, 25])];
    fork[..2]
        .iter_mut()
        .for_each(|it| it["sessionId"] = json!(other));
    sandbox.write("fork.jsonl", lines(&fork));
    sandbox.ok(&["import", "parent.jsonl", "fork.jsonl"]);
    // Of the fork's sum, what the parent came to is the parent's, its summary included.
    let counted = [
        "claude-code: 1 110 12",
        "claude-code: 1 100 10",
        "(other requests): 0 30 3",
    ];
    assert_eq!(rows(&sandbox), counted);
}

#[test]
fn a_thread_of_codex_is_what_its_newest_turn_says() {
    let thread = "0199f000-aaaa-7bbb-8ccc-000000000009";
    let run = |number: u32, [input, output]: [u32; 2]| {
        let text = format!("Sack {number}.");
        lines(&[
            json!({"type": "thread.started", "thread_id": thread}),
            json!({"type": "turn.started"}),
            json!({"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": text}}),
            json!({"type": "turn.completed", "usage": {"input_tokens": input, "cached_input_tokens": 40,
                "output_tokens": output, "reasoning_output_tokens": 2}}),
        ])
    };
    let runs = [run(1, [100, 10]), run(2, [250, 25])];
    let (joined, apart) = (Sandbox::new(), Sandbox::new());
    for (number, run) in runs.iter().enumerate() {
        joined.tract_with(&["record"], run);
        let name = format!("run{number}.jsonl");
        apart.write(&name, run);
        apart.ok(&["import", &name]);
    }
    for sandbox in [joined, apart] {
        assert_eq!(rows(&sandbox), ["(other requests): 0 250 25"]);
        let told = sandbox.tract(&["cost"]);
        let unknown = "other requests without a price: 275 tokens whose model is not known";
        assert!(told.contains(unknown), "{told}");
    }
}
