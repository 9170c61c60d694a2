//! Text and thoughts.

use super::*;

fn phased(text: &str, phase: &str) -> Event {
    let (text, phase) = (text.to_owned(), Some(phase.to_owned()));
    Happening::TextDelta { text, phase }.into()
}

const HEAD: [&str; 3] = ["turn", "  user | go", "  response | r"];

fn drawn(events: impl IntoIterator<Item = Event>) -> Vec<String> {
    let events = events.into_iter().map(|event| event.of("r"));
    let found = settled([user("go")].into_iter().chain(events));
    let mut lines = found.lines().map(str::to_owned);
    for head in HEAD {
        assert_eq!(lines.next().as_deref(), Some(head), "{found}");
    }
    lines.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn blocks_stand_in_the_order_in_which_they_came() {
    let found = drawn([
        thought("hm"),
        delta("I lo"),
        delta("ok."),
        call("a", "ls"),
        thought("so"),
        answer("a", "x"),
        delta("Found."),
        thought("well"),
    ]);
    let wanted = [
        "thinking | hm",
        "text | I look.",
        "tool | ls n=1 | success | x",
        "thinking | so",
        "text | Found.",
        "thinking | well",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn a_final_text_finalises_the_open_segment_if_it_extends_it() {
    assert_eq!(drawn([delta("Hel"), done("Hello")]), ["text | Hello"]);
    // Else what was streamed stands.
    assert_eq!(drawn([delta("Hel"), done("Bye")]), ["text | Hel"]);
    // A final text of the whole response extends its last segment.
    let whole = [
        delta("One."),
        call("a", "ls"),
        delta("Tw"),
        done("One.Two."),
    ];
    assert_eq!(
        drawn(whole),
        ["text | One.", "tool | ls n=1 | interrupted", "text | Two."]
    );
}

#[test]
fn a_final_text_after_a_call_is_drawn_only_if_nothing_was_streamed() {
    let tool = "tool | ls n=1 | interrupted";
    let streamed = drawn([delta("Hello"), call("a", "ls"), done("Hello")]);
    assert_eq!(streamed, ["text | Hello", tool]);
    let other = drawn([delta("Hello"), call("a", "ls"), done("Bye")]);
    assert_eq!(other, ["text | Hello", tool]);
    let not = drawn([call("a", "ls"), done("Hello")]);
    assert_eq!(not, [tool, "text | Hello"]);
    // What has had its own final text is no sign that this one was streamed.
    let each = drawn([delta("One"), done("One"), call("a", "ls"), done("Two")]);
    assert_eq!(each, ["text | One", tool, "text | Two"]);
}

#[test]
fn a_final_text_told_twice_is_drawn_once() {
    assert_eq!(
        drawn([delta("Hello"), done("Hello"), done("Hello")]),
        ["text | Hello"]
    );
    assert_eq!(drawn([done("Hello"), done("Hello")]), ["text | Hello"]);
}

#[test]
fn a_reply_is_drawn_only_if_its_response_has_no_text() {
    assert_eq!(
        drawn([delta("Hel"), done("Hello"), reply("Hello")]),
        ["text | Hello"]
    );
    assert_eq!(drawn([delta("Hel"), reply("Hello")]), ["text | Hel"]);
    assert_eq!(drawn([reply("Hello"), done("Hello")]), ["text | Hello"]);
    assert_eq!(
        drawn([call("a", "ls"), answer("a", "x"), reply("Hello")]),
        ["tool | ls n=1 | success | x", "text | Hello"]
    );
}

#[test]
fn replies_without_ids_are_all_drawn() {
    let events = [
        user("go"),
        reply("I look."),
        call("a", "ls"),
        answer("a", "x"),
        reply("Found."),
        user("more"),
        reply("Found."),
    ];
    check(
        settled(events),
        &[
            "turn",
            "  user | go",
            "  response",
            "    text | I look.",
            "    tool | ls n=1 | success | x",
            "    text | Found.",
            "turn",
            "  user | more",
            "  response",
            "    text | Found.",
        ],
    );
}

#[test]
fn a_mixed_file_shows_nothing_twice_and_drops_nothing() {
    let events = [
        user("go"),
        call("a", "ls"),
        Happening::CallStart {
            call: "a".into(),
            name: "ls".into(),
        }
        .into(),
        output("a", "x", 1),
        answer("a", "x"),
        answer("a", "x"),
        delta("Fou").of("r1"),
        delta("nd").of("r1"),
        done("Found").of("r1"),
        reply("Found").of("r1"),
        user("more"),
        reply("Only here").of("r2"),
        user("last"),
        delta("Only ").of("r3"),
        delta("streamed").of("r3"),
    ];
    check(
        settled(events),
        &[
            "turn",
            "  user | go",
            "  response | r1",
            "    tool | ls n=1 | success | x",
            "    text | Found",
            "turn",
            "  user | more",
            "  response | r2",
            "    text | Only here",
            "turn",
            "  user | last",
            "  response | r3",
            "    text | Only streamed",
        ],
    );
}

#[test]
fn a_change_of_phase_opens_a_new_segment() {
    let found = drawn([
        phased("I lo", "commentary"),
        phased("ok.", "commentary"),
        phased("Found.", "final_answer"),
    ]);
    assert_eq!(
        found,
        [
            "text | commentary | I look.",
            "text | final_answer | Found."
        ]
    );
}

#[test]
fn a_final_text_of_another_phase_is_a_segment_of_its_own() {
    let (text, phase) = ("Found.".to_owned(), Some("final_answer".to_owned()));
    let last = Happening::TextDone { text, phase }.into();
    let found = drawn([phased("I look.", "commentary"), last]);
    assert_eq!(
        found,
        [
            "text | commentary | I look.",
            "text | final_answer | Found."
        ]
    );
}

#[test]
fn a_thought_told_in_pieces_and_whole_is_drawn_once() {
    let whole = |text: &str| Event::from(Happening::ThinkingDone { text: text.into() });
    assert_eq!(
        drawn([
            Happening::ThinkingStart.into(),
            thought("h"),
            thought("m"),
            whole("hm")
        ]),
        ["thinking | hm"]
    );
    assert_eq!(drawn([whole("hm"), whole("hm")]), ["thinking | hm"]);
    assert_eq!(
        drawn([thought("a"), whole("a"), delta("x"), whole("b")]),
        ["thinking | a", "text | x", "thinking | b"]
    );
}

#[test]
fn a_block_of_a_message_is_the_final_form_of_what_streamed() {
    let block = |text: &str| Event::from(Happening::Block(Part::text(text)));
    let end = || Event::from(Happening::BlockEnd);
    assert_eq!(
        drawn([delta("Hel"), block("Hello"), end()]),
        ["text | Hello"]
    );
    // Two that streamed before either is told whole.
    assert_eq!(
        drawn([
            delta("On"),
            end(),
            delta("Tw"),
            end(),
            block("One"),
            block("Two")
        ]),
        ["text | One", "text | Two"]
    );
    // And where nothing streamed, each is one of its own.
    assert_eq!(drawn([block("a"), block("ab")]), ["text | a", "text | ab"]);
}

#[test]
fn a_text_or_a_thought_is_interrupted_where_the_stream_ends_before_it() {
    let is_cut = |events: Vec<Event>| {
        let mut fold = Fold::live();
        for event in events {
            fold.feed(event);
        }
        crate::tree::json::text(&fold.settle()).contains(r#""interrupted":true"#)
    };
    assert!(is_cut(vec![user("go"), delta("Two")]));
    assert!(is_cut(vec![user("go"), thought("Hm")]));
    let ends = [
        done("Two"),
        Happening::BlockEnd.into(),
        Happening::TurnEnd.into(),
    ];
    // Where somebody cancelled it, a line of its own says so.
    for end in ends.into_iter().chain([interrupt()]) {
        let what = end.what.clone();
        assert!(!is_cut(vec![user("go"), delta("Two"), end]), "{what:?}");
    }
}
