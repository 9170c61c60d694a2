//! Tool blocks: states, output, results, groups, cancelling.

use super::*;

#[test]
fn a_call_goes_from_pending_through_streaming_to_success() {
    let events = [
        user("go"),
        call("a", "ls"),
        output("a", "one\n", 4),
        answer("a", "one\ntwo"),
    ];
    let states: Vec<String> = (2..=4)
        .map(|end| live(events[..end].to_vec()))
        .map(|tree| tree.lines().nth(3).expect("a tool").to_owned())
        .collect();
    assert_eq!(
        states,
        [
            "    tool | ls n=1 | pending",
            "    tool | ls n=1 | streaming | one⏎",
            "    tool | ls n=1 | success | one⏎two",
        ]
    );
}

#[test]
fn a_failed_call_says_so() {
    let events = [user("go"), call("a", "ls"), ended("a", "no", Ending::Error)];
    check(
        settled(events),
        &[
            "turn",
            "  user | go",
            "  response",
            "    tool | ls n=1 | error | no",
        ],
    );
}

#[test]
fn a_chunk_whose_offset_is_not_beyond_the_last_is_ignored() {
    let events = [
        user("go"),
        call("a", "ls"),
        output("a", "ab", 2),
        output("a", "ab", 2),
        output("a", "a", 1),
        output("a", "c", 3),
    ];
    check(
        live(events).replace("  typing\n", ""),
        &[
            "turn",
            "  user | go",
            "  response",
            "    tool | ls n=1 | streaming | abc",
            "  ",
        ],
    );
}

#[test]
fn a_chunk_without_an_offset_is_always_taken() {
    let chunk = || {
        let (call, text) = ("a".into(), "x".into());
        Event::from(Happening::Output {
            call,
            text,
            offset: None,
        })
    };
    let found = live([user("go"), call("a", "ls"), chunk(), chunk()]);
    assert!(found.contains("streaming | xx"), "{found}");
}

#[test]
fn output_before_its_call_draws_nothing_until_the_call_is_there() {
    let early = [user("go"), output("a", "x", 1)];
    assert!(!live(early.clone()).contains("tool"));
    let [one, two] = early;
    let found = live([one, two, call("a", "ls"), output("a", "y", 2)]);
    assert!(found.contains("tool | ls n=1 | streaming | xy"), "{found}");
    // And without a call there is nothing at the end, either.
    check(
        settled([user("go"), output("a", "x", 1)]),
        &["turn", "  user | go"],
    );
}

#[test]
fn a_result_replaces_what_was_streamed_for_it() {
    let found = settled([
        user("go"),
        call("a", "ls"),
        output("a", "part", 4),
        answer("a", "all"),
    ]);
    assert!(
        found.contains("success | all") && !found.contains("part"),
        "{found}"
    );
}

#[test]
fn output_after_the_result_changes_nothing() {
    let found = settled([
        user("go"),
        call("a", "ls"),
        answer("a", "all"),
        output("a", "late", 9),
    ]);
    assert!(found.contains("success | all\n"), "{found}");
}

#[test]
fn a_result_told_twice_is_drawn_once() {
    let events = [
        user("go"),
        call("a", "ls"),
        answer("a", "all"),
        answer("a", "all"),
    ];
    check(
        settled(events),
        &[
            "turn",
            "  user | go",
            "  response",
            "    tool | ls n=1 | success | all",
        ],
    );
}

#[test]
fn a_call_in_both_the_old_and_the_new_form_is_drawn_once() {
    let (id, name) = ("a".to_owned(), "ls".to_owned());
    let start = Event::from(Happening::CallStart {
        call: id.clone(),
        name,
    });
    let input = |text: &str, offset| {
        let (call, text, offset) = (id.clone(), text.to_owned(), Some(offset));
        Event::from(Happening::CallInput { call, text, offset })
    };
    let events = [
        user("go"),
        start,
        input("{\"n\"", 4),
        input("{\"n\"", 4),
        input(":1}", 7),
        call("a", "ls"),
        answer("a", "all"),
        call("a", "ls"),
    ];
    check(
        settled(events),
        &[
            "turn",
            "  user | go",
            "  response",
            "    tool | ls n=1 | success | all",
        ],
    );
}

#[test]
fn arguments_are_shown_as_they_are_being_written() {
    let call = || "a".to_owned();
    let found = live([
        user("go"),
        Happening::CallStart {
            call: call(),
            name: "ls".into(),
        }
        .into(),
        Happening::CallInput {
            call: call(),
            text: "{\"n".into(),
            offset: None,
        }
        .into(),
    ]);
    assert!(found.contains("tool | ls {\"n | pending"), "{found}");
}

#[test]
fn a_result_of_an_unknown_call_is_a_block_of_its_own_and_marked() {
    let events = [user("go"), answer("x", "what?")];
    check(
        settled(events.clone()),
        &[
            "turn",
            "  user | go",
            "  response",
            "    tool | a result without its call | success | what? | unknown",
        ],
    );
    let [one, two] = events;
    check(
        settled([one, two, call("x", "ls")]),
        &[
            "turn",
            "  user | go",
            "  response",
            "    tool | ls n=1 | success | what?",
        ],
    );
}

#[test]
fn an_id_that_a_later_turn_uses_again_is_another_call() {
    let events = [
        user("one"),
        call("a", "ls"),
        answer("a", "1"),
        user("two"),
        call("a", "ls"),
        answer("a", "2"),
    ];
    check(
        settled(events),
        &[
            "turn",
            "  user | one",
            "  response",
            "    tool | ls n=1 | success | 1",
            "turn",
            "  user | two",
            "  response",
            "    tool | ls n=1 | success | 2",
        ],
    );
}

#[test]
fn a_cancel_interrupts_what_runs_and_nothing_that_has_ended() {
    let events = [
        user("go"),
        call("a", "ls"),
        answer("a", "1"),
        call("b", "cat"),
        output("b", "so far", 6),
        interrupt(),
    ];
    check(
        settled(events),
        &[
            "turn",
            "  user | go",
            "  response",
            "    group | 2 calls | failed | cat n=1",
            "      tool | ls n=1 | success | 1",
            "      tool | cat n=1 | interrupted | so far",
        ],
    );
}

#[test]
fn a_line_says_interrupted_only_where_no_call_does() {
    let line = "  interrupted";
    let text = settled([user("go"), delta("Hel"), interrupt()]);
    check(
        text,
        &["turn", "  user | go", "  response", "    text | Hel", line],
    );
    let carried = settled([user("go"), delta("Hel"), call("a", "ls"), interrupt()]);
    assert!(!carried.contains(line), "{carried}");
    // Its result may say it before the cancel comes.
    let told = settled([
        user("go"),
        call("a", "ls"),
        ended("a", "cancelled", Ending::Interrupted),
        interrupt(),
    ]);
    assert!(!told.contains(line), "{told}");
    let twice = settled([user("go"), delta("Hel"), interrupt(), interrupt()]);
    assert_eq!(twice.matches(line).count(), 1, "{twice}");
}

#[test]
fn a_late_result_does_not_revive_an_interrupted_call() {
    let found = settled([
        user("go"),
        call("a", "ls"),
        interrupt(),
        answer("a", "late"),
    ]);
    check(
        found,
        &[
            "turn",
            "  user | go",
            "  response",
            "    tool | ls n=1 | interrupted",
        ],
    );
}

#[test]
fn an_empty_bubble_goes_away_when_it_is_cancelled() {
    check(
        live([user("go"), interrupt()]),
        &["turn", "  user | go", "  interrupted"],
    );
    let kept = live([user("go"), call("a", "ls"), interrupt()]);
    assert!(kept.contains("tool | ls n=1 | interrupted"), "{kept}");
}

#[test]
fn a_cancel_where_nothing_is_under_way_draws_nothing() {
    check(settled([interrupt()]), &[]);
}

#[test]
fn a_call_without_a_result_is_interrupted_when_the_stream_ends() {
    let found = settled([user("go"), call("a", "ls")]);
    assert!(found.contains("tool | ls n=1 | interrupted"), "{found}");
}

#[test]
fn neighbouring_calls_are_a_group_with_the_line_of_the_last() {
    let group = |states: [Ending; 2]| {
        let [one, two] = states;
        let events = [
            user("go"),
            call("a", "ls"),
            call("b", "cat"),
            ended("a", "", one),
            ended("b", "", two),
        ];
        settled(events)
            .lines()
            .nth(3)
            .expect("a group")
            .trim()
            .to_owned()
    };
    let (good, bad) = (Ending::Success, Ending::Error);
    assert_eq!(group([good, good]), "group | 2 calls | done | cat n=1");
    assert_eq!(group([bad, good]), "group | 2 calls | failed | cat n=1");
    assert_eq!(
        group([good, Ending::Interrupted]),
        "group | 2 calls | failed | cat n=1"
    );
    let running = live([
        user("go"),
        call("a", "ls"),
        ended("a", "", bad),
        call("b", "cat"),
    ]);
    assert!(
        running.contains("group | 2 calls | running | cat n=1"),
        "{running}"
    );
    // Text between them parts them.
    let parted = settled([user("go"), call("a", "ls"), delta("x"), call("b", "cat")]);
    assert!(!parted.contains("group"), "{parted}");
}

#[test]
fn what_a_tool_left_out_is_told_by_its_own_figures() {
    let cut = |result: &str| {
        let mut fold = Fold::default();
        for event in [user("go"), call("a", "ls"), answer("a", result)] {
            fold.feed(event);
        }
        let tree: serde_json::Value =
            serde_json::from_str(&json::text(&fold.settle())).expect("JSON");
        let tool = &tree["items"][0]["items"][1]["items"][0];
        assert_eq!(tool["kind"], "tool");
        tool["more_lines"].as_u64().map(cut::more_lines)
    };
    let figures = r#"{"truncated":true,"totalLines":500,"outputLines":286}"#;
    let more = Some("… 214 more lines".to_owned());
    assert_eq!(
        cut(&format!(r#"{{"output":"x","truncation":{figures}}}"#)),
        more
    );
    assert_eq!(
        cut(&format!(r#"{{"details":{{"truncation":{figures}}}}}"#)),
        more
    );
    let read = r#"{"content":"a\nb","totalLines":3,"hasMore":true}"#;
    assert_eq!(cut(read).as_deref(), Some("… 1 more line"));
    assert_eq!(
        cut(r#"{"content":"a\nb","totalLines":2,"hasMore":false}"#),
        None
    );
    assert_eq!(cut("plain"), None);
}
