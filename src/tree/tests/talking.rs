//! Other agents, sub-agents, and trees of messages alone.

use super::*;
use crate::model::Message;

fn talk(id: &str) -> Event {
    let arguments = r#"{"agentId":"coder","content":"build it"}"#.into();
    let (call, name) = (id.into(), "agents_message".into());
    Happening::Call {
        call,
        name,
        arguments,
    }
    .into()
}

fn callback(exchange: &str, text: &str) -> Event {
    Happening::Callback {
        exchange: Some(exchange.into()),
        from: Some("coder".into()),
        content: vec![Part::text(text)],
        is_error: false,
    }
    .into()
}

const QUEUED: &str = r#"{"mode":"async","status":"queued","responseId":"x1"}"#;

#[test]
fn a_message_that_another_agent_has_begun_with_is_answered_later() {
    let started = QUEUED.replace("queued", "started");
    let begun = [user("go"), talk("a"), answer("a", &started)];
    assert!(settled(begun.clone()).contains("| pending"));
    let found = settled(begun.into_iter().chain([callback("x1", "done")]));
    assert!(found.contains("| resolved | done"), "{found}");
}

#[test]
fn what_was_started_is_open_until_a_notice_says_how_it_ended() {
    let started = "Command running in background with ID: b1. Output is being written to: /o. \
                   You will be notified when it completes.";
    let begun = [user("go"), call("a", "Bash"), answer("a", started)];
    let found = settled(begun.clone());
    assert!(found.contains("| pending"), "{found}");
    for (status, state) in [
        ("completed", "resolved"),
        ("failed", "error"),
        ("killed", "interrupted"),
        ("somehow", "pending"),
    ] {
        let notice = format!(
            "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>a</tool-use-id>\n\
             <status>{status}</status>\n</task-notification>"
        );
        let told = begun.clone().into_iter().chain([user(&notice)]);
        let found = settled(told);
        assert!(found.contains(&format!("| {state}")), "{found}");
    }
    // Nobody is told how this one ends.
    let forever = started.replace("You will be notified", "Nobody is told");
    let found = settled([user("go"), call("a", "Bash"), answer("a", &forever)]);
    assert!(found.contains("| success"), "{found}");
}

#[test]
fn an_asynchronous_call_stays_pending_until_its_callback_fills_the_same_block() {
    let asked = || {
        vec![
            user("go"),
            talk("a"),
            answer("a", QUEUED),
            done("I asked.").of("r1"),
        ]
    };
    check(
        settled(asked()),
        &[
            "turn",
            "  user | go",
            "  response | r1",
            "    tool | sent to coder | pending",
            "    text | I asked.",
        ],
    );
    let mut events = asked();
    events.extend([
        callback("x1", "built"),
        callback("x1", "built"),
        done("It is built.").of("r2"),
    ]);
    check(
        settled(events),
        &[
            "turn",
            "  user | go",
            "  response | r1",
            "    tool | received from coder | resolved | built",
            "    text | I asked.",
            "  response | r2",
            "    text | It is built.",
        ],
    );
}

#[test]
fn a_cancel_leaves_a_message_that_was_sent() {
    let events = [
        user("go"),
        talk("a"),
        answer("a", QUEUED),
        interrupt(),
        callback("x1", "built"),
    ];
    let found = settled(events);
    assert!(
        found.contains("received from coder | resolved | built"),
        "{found}"
    );
    assert!(found.contains("  interrupted"), "{found}");
}

#[test]
fn a_callback_that_nobody_waits_for_is_a_block_of_its_own() {
    check(
        settled([user("go"), callback("x9", "built")]),
        &[
            "turn",
            "  user | go",
            "  response",
            "    tool | received from coder | resolved | built | unknown",
        ],
    );
}

#[test]
fn a_message_to_another_agent_and_its_call_are_one_block() {
    let sent = || {
        let (exchange, to, text) = ("x1".into(), "coder".into(), "build it".into());
        Event::from(Happening::Sent {
            exchange,
            to,
            text,
            waits: false,
        })
    };
    let alone = settled([user("go"), sent(), callback("x1", "built")]);
    assert!(
        alone.contains("tool | received from coder | resolved | built"),
        "{alone}"
    );
    let both = settled([user("go"), talk("a"), sent(), callback("x1", "built")]);
    assert_eq!(both.matches("tool").count(), 1, "{both}");
}

#[test]
fn a_call_that_talks_to_another_agent_is_never_grouped() {
    let found = settled([
        user("go"),
        call("a", "ls"),
        talk("b"),
        talk("c"),
        call("d", "cat"),
    ]);
    assert!(!found.contains("group"), "{found}");
    assert_eq!(found.matches("sent to coder").count(), 2, "{found}");
}

#[test]
fn a_sub_agent_is_nested_under_the_call_that_started_it() {
    let events = [
        user("go"),
        call("a", "Task"),
        user("look").inside("a"),
        call("b", "ls").inside("a"),
        call("c", "Task").inside("a"),
        delta("deep").inside("c"),
        answer("b", "x").inside("a"),
        delta("done").inside("a"),
        answer("a", "done"),
        delta("Found."),
    ];
    check(
        settled(events),
        &[
            "turn",
            "  user | go",
            "  response",
            "    tool | Task n=1 | success | done",
            "      turn",
            "        user | look",
            "        response",
            "          tool | ls n=1 | success | x",
            "          tool | Task n=1 | interrupted",
            "            turn",
            "              response",
            "                text | deep",
            "          text | done",
            "    text | Found.",
        ],
    );
}

#[test]
fn what_a_sub_agent_did_before_its_call_is_held_for_it() {
    let early = [user("go"), delta("hm").inside("a")];
    assert!(!live(early.clone()).contains("hm"));
    let [one, two] = early.clone();
    let found = settled([one, two, call("a", "Task")]);
    assert!(
        found.contains("        response\n          text | hm"),
        "{found}"
    );
    let never = settled(early);
    assert!(
        never.contains("unknown") && never.contains("text | hm"),
        "{never}"
    );
}

#[test]
fn a_cancel_reaches_into_sub_agents() {
    let found = settled([
        user("go"),
        call("a", "Task"),
        call("b", "ls").inside("a"),
        interrupt(),
    ]);
    assert_eq!(found.matches("interrupted").count(), 2, "{found}");
}

#[test]
fn a_tree_comes_out_well_from_messages_alone() {
    let call = |id: &str, name: &str| Part::ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: "{}".into(),
        kind: None,
    };
    let result = |id: &str, text: &str| {
        let part = Part::ToolResult {
            call: id.into(),
            content: vec![Part::text(text)],
            is_error: false,
        };
        Message::new(Role::Tool, vec![part])
    };
    let said = |parts| Message::new(Role::Assistant, parts);
    let messages = [
        (Message::text(Role::System, "Be brief."), None),
        (Message::text(Role::User, "go"), None),
        (
            said(vec![
                Part::text("I look."),
                call("a", "ls"),
                call("b", "cat"),
            ]),
            None,
        ),
        (result("b", "2"), None),
        (result("a", "1"), None),
        (said(vec![call("a", "ls")]), None),
        (result("a", "3"), None),
        (said(vec![Part::text("Found."), Part::text("Found.")]), None),
        (
            Message::text(Role::User, "[12 messages cut]"),
            Some(HideKind::Truncation),
        ),
        (Message::text(Role::User, "more"), None),
        (said(vec![Part::text("Mo")]), None),
        (
            Message::text(Role::User, "[Request interrupted by user]"),
            None,
        ),
    ];
    let events = messages
        .iter()
        .flat_map(|(message, placed)| events_of(message, *placed));
    check(
        settled(events),
        &[
            "note | system | Be brief.",
            "turn",
            "  user | go",
            "  response",
            "    text | I look.",
            "    group | 3 calls | done | ls",
            "      tool | ls | success | 1",
            "      tool | cat | success | 2",
            "      tool | ls | success | 3",
            "    text | Found.",
            "    text | Found.",
            "marker | truncation | [12 messages cut]",
            "turn",
            "  user | more",
            "  response",
            "    text | Mo",
            "  interrupted | [Request interrupted by user]",
        ],
    );
}
