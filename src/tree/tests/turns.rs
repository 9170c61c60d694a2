//! Turns, bubbles, markers, numbers, and the typing indicator.

use super::*;

fn end(turn: &str) -> Event {
    Event::from(Happening::TurnEnd).in_turn(turn)
}

#[test]
fn a_user_message_opens_a_pending_bubble_at_once() {
    check(
        live([user("go")]),
        &["turn", "  user | go", "  response", "    typing"],
    );
    check(settled([user("go")]), &["turn", "  user | go"]);
}

#[test]
fn a_call_without_ids_goes_to_the_pending_bubble_of_the_latest_user_message() {
    let events = [
        user("one"),
        delta("First.").of("r1"),
        user("two"),
        call("a", "ls"),
        delta("Second.").of("r2"),
        call("b", "cat"),
    ];
    check(
        settled(events),
        &[
            "turn",
            "  user | one",
            "  response | r1",
            "    text | First.",
            "turn",
            "  user | two",
            "  response | r2",
            "    tool | ls n=1 | interrupted",
            "    text | Second.",
            "    tool | cat n=1 | interrupted",
        ],
    );
}

#[test]
fn a_call_with_ids_goes_to_its_own_turn_and_response() {
    let events = [
        user("one").in_turn("t1"),
        delta("First.").in_turn("t1").of("r1"),
        user("two").in_turn("t2"),
        call("a", "ls").in_turn("t1").of("r1"),
        delta("Second.").in_turn("t2").of("r2"),
    ];
    check(
        settled(events),
        &[
            "turn | t1",
            "  user | one",
            "  response | r1",
            "    text | First.",
            "    tool | ls n=1 | interrupted",
            "turn | t2",
            "  user | two",
            "  response | r2",
            "    text | Second.",
        ],
    );
}

#[test]
fn where_events_name_turns_a_call_without_a_response_has_a_container_of_its_own() {
    let events = [
        user("go").in_turn("t"),
        delta("I look.").in_turn("t").of("r1"),
        call("a", "ls").in_turn("t"),
        call("b", "cat").in_turn("t"),
        delta("Found.").in_turn("t").of("r2"),
    ];
    check(
        settled(events),
        &[
            "turn | t",
            "  user | go",
            "  response | r1",
            "    text | I look.",
            "  response",
            "    group | 2 calls | failed | cat n=1",
            "      tool | ls n=1 | interrupted",
            "      tool | cat n=1 | interrupted",
            "  response | r2",
            "    text | Found.",
        ],
    );
    // It takes the place of a bubble that is still empty.
    let first = [
        user("go").in_turn("t"),
        call("a", "ls").in_turn("t"),
        delta("Found.").in_turn("t").of("r"),
    ];
    check(
        settled(first),
        &[
            "turn | t",
            "  user | go",
            "  response",
            "    tool | ls n=1 | interrupted",
            "  response | r",
            "    text | Found.",
        ],
    );
}

#[test]
fn a_second_user_message_of_a_turn_replaces_the_first() {
    let events = [
        user("gp").in_turn("t"),
        user("go").in_turn("t"),
        delta("Gone.").in_turn("t").of("r"),
    ];
    check(
        settled(events),
        &[
            "turn | t",
            "  user | go",
            "  response | r",
            "    text | Gone.",
        ],
    );
    // Without turns there is nothing that it could replace.
    check(
        settled([user("one"), user("two")]),
        &["turn", "  user | one", "turn", "  user | two"],
    );
}

#[test]
fn the_typing_indicator_stands_last_while_live_and_unfinished() {
    let go = || user("go").in_turn("t");
    let typing = |events: Vec<Event>| {
        let tree = live(events.clone());
        assert!(
            !settled(events).contains("typing"),
            "a replay leaves none behind"
        );
        assert!(tree.matches("typing").count() <= 1, "{tree}");
        tree.trim_end().ends_with("typing")
    };
    assert!(typing(vec![go()]));
    assert!(typing(vec![go(), delta("x").in_turn("t").of("r")]));
    assert!(typing(vec![go(), call("a", "ls").in_turn("t")]));
    assert!(typing(vec![
        go(),
        call("a", "ls").in_turn("t"),
        answer("a", "x")
    ]));
    assert!(!typing(vec![
        go(),
        delta("x").in_turn("t").of("r"),
        end("t")
    ]));
    assert!(!typing(vec![go(), interrupt().in_turn("t")]));
    // Without turns a final text is the end, but for calls that run.
    assert!(!typing(vec![user("go"), done("x").of("r")]));
    assert!(typing(vec![user("go"), call("a", "ls"), done("x").of("r")]));
    assert!(typing(vec![user("go"), done("x").of("r"), call("a", "ls")]));
}

#[test]
fn a_marker_stands_between_turns_and_hides_what_it_covers() {
    let mark = |covers| {
        let (kind, role) = (HideKind::Compaction, Role::User);
        let parts = vec![Part::text("So far: one.")];
        Event::from(Happening::Marker {
            kind,
            role,
            parts,
            covers,
        })
    };
    let events = [
        user("go").in_turn("t"),
        delta("One.").in_turn("t").of("r1"),
        mark(true),
        delta("Two.").in_turn("t").of("r2"),
    ];
    check(
        settled(events),
        &[
            "turn | t",
            "  user | go | hidden by compaction",
            "  response | r1",
            "    text | One. | hidden by compaction",
            "marker | compaction | So far: one.",
            "turn | t",
            "  response | r2",
            "    text | Two.",
        ],
    );
    let bare = settled([user("go"), mark(false)]);
    assert!(!bare.contains("hidden"), "{bare}");
}

#[test]
fn numbered_events_are_taken_in_their_order_and_each_once() {
    let numbered = |at: u64, text: &str| delta(text).of("r").numbered(1, at, &format!("e{at}"));
    let (one, two, three) = (
        || numbered(1, "a"),
        || numbered(2, "b"),
        || numbered(3, "c"),
    );
    for events in [
        vec![one(), two(), three()],
        vec![one(), three(), two()],
        vec![three(), two(), one()],
        vec![two(), three(), one(), two(), three()],
    ] {
        check(
            settled(events),
            &["turn", "  response | r", "    text | abc"],
        );
    }
}

#[test]
fn a_gap_waits_for_what_is_missing() {
    let numbered = |at: u64, text: &str| delta(text).of("r").numbered(1, at, &format!("e{at}"));
    let events = [numbered(1, "a"), numbered(3, "c")];
    assert!(live(events.clone()).contains("text | a\n"));
    let [one, three] = events;
    let all = live([one.clone(), three.clone(), numbered(2, "b")]);
    assert!(all.contains("text | abc\n"), "{all}");
    // What never comes keeps nothing back for ever.
    let rest = settled([one, three]);
    assert!(rest.contains("text | ac\n"), "{rest}");
}

#[test]
fn a_lower_revision_is_ignored_and_a_higher_one_starts_over() {
    let text = |revision, at: u64, text: &str| {
        delta(text)
            .of("r")
            .numbered(revision, at, &format!("{revision}.{at}"))
    };
    let events = [
        user("go"),
        text(1, 1, "old"),
        text(2, 1, "new"),
        text(1, 2, "older"),
        text(2, 2, "er"),
    ];
    check(
        settled(events),
        &["turn", "  user | go", "  response | r", "    text | newer"],
    );
}

#[test]
fn the_same_number_with_another_id_replaces() {
    let text = |at, id: &str, text: &str| delta(text).of("r").numbered(1, at, id);
    let events = [
        text(1, "a", "wrong "),
        text(2, "b", "end"),
        text(1, "c", "right "),
    ];
    check(
        settled(events),
        &["turn", "  response | r", "    text | right end"],
    );
}

#[test]
fn an_event_whose_id_was_seen_is_not_taken_again() {
    let known = || Event {
        id: Some("e".into()),
        ..delta("x").of("r")
    };
    check(
        settled([known(), known()]),
        &["turn", "  response | r", "    text | x"],
    );
}

#[test]
fn what_an_event_touched_is_told() {
    let mut fold = Fold::live();
    let came = fold.feed(user("go")).nodes;
    assert_eq!(
        came.len(),
        3,
        "a turn, a user's bubble, an empty response: {came:?}"
    );
    let call = fold.feed(call("a", "ls")).nodes;
    assert_eq!(call.len(), 1, "{call:?}");
    let answered = fold.feed(answer("a", "x")).nodes;
    assert!(answered.contains(&call[0]), "{answered:?}");
    assert_eq!(fold.feed(answer("a", "x")).nodes, []);
    assert!(!fold.feed(delta("a").numbered(1, 2, "b")).anew);
    assert!(fold.feed(delta("a").numbered(1, 1, "a")).anew);
}
