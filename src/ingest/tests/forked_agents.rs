//! Fork sub-agents of Claude Code: their file names the conversation that they begin with, and holds none of it.

use super::mirrored::{
    AGENT, OWN, PARENTS, Place, SESSION, bill, call, line, reply, result, sessions, taken, text,
    told, user,
};

/// A session that asks twice, and at the second time has a fork look; with a reply that it took back.
fn place() -> Place {
    let parents = vec![
        line("user", "p1", None, 1, &user(&text("What is here?"))),
        line(
            "assistant",
            "p2",
            Some("p1"),
            2,
            &reply("msg_1", &text("Little."), 20),
        ),
        line("user", "x1", Some("p1"), 3, &user(&text("Taken back."))),
        line(
            "user",
            "p3",
            Some("p2"),
            4,
            &user(&text("Have it looked at.")),
        ),
        line(
            "assistant",
            "p4",
            Some("p3"),
            5,
            &reply("msg_2", &text("I fork."), 5),
        ),
        line(
            "assistant",
            "p5",
            Some("p4"),
            5,
            &reply("msg_2", &call("toolu_T", "Agent"), 30),
        ),
        line(
            "user",
            "p6",
            Some("p5"),
            6,
            &user(&result("toolu_T", "Launched.")),
        ),
        line(
            "assistant",
            "p7",
            Some("p6"),
            9,
            &reply("msg_3", &text("It is alpha."), 40),
        ),
    ];
    let mut own = vec![
        format!(
            r#"{{"type":"fork-context-ref","agentId":"{AGENT}","parentSessionId":"{SESSION}","parentLastUuid":"p3","contextLength":3}}"#
        ) + "\n",
    ];
    let mut say = |kind: &str, uuid: &str, parent: Option<&str>, message: &str| {
        let more = format!(r#""isSidechain":true,"agentId":"{AGENT}",{message}"#);
        own.push(line(kind, uuid, parent, 7, &more));
    };
    let started = format!(
        "{},{}",
        result("toolu_T", "That is you."),
        text("Work alone.")
    );
    say(
        "assistant",
        "o1",
        None,
        &reply("msg_2", &call("toolu_T", "Agent"), 30),
    );
    say("user", "o2", Some("o1"), &user(&started));
    say(
        "assistant",
        "o3",
        Some("o2"),
        &reply("msg_A", &call("toolu_R", "Read"), 300),
    );
    say("user", "o4", Some("o3"), &user(&result("toolu_R", "alpha")));
    say(
        "assistant",
        "o5",
        Some("o4"),
        &reply("msg_B", &text("It says alpha."), 4000),
    );
    Place::of(parents, own)
}

fn everything() -> [&'static str; 9] {
    [
        "What is here?",
        "Little.",
        "Have it looked at.",
        "toolu_T",
        "result of toolu_T",
        "Work alone.",
        "toolu_R",
        "result of toolu_R",
        "It says alpha.",
    ]
}

#[test]
fn a_fork_begins_with_its_parents_conversation_whichever_file_comes_first() {
    let place = place();
    let first = taken(&place, &[PARENTS, OWN]);
    for order in [
        &[PARENTS, OWN][..],
        &[PARENTS, (true, 3), (true, 5), OWN],
        &[(false, 4), (true, 3), OWN, PARENTS],
        &[(false, 6), OWN, PARENTS, OWN],
        &[OWN, PARENTS, OWN],
        &[(false, 2), OWN, PARENTS, OWN],
    ] {
        let repo = taken(&place, order);
        assert_eq!(told(&repo), everything(), "{order:?}");
        assert_eq!(sessions(&repo), sessions(&first), "{order:?}");
        // The call that started the fork is its parent's.
        assert_eq!(bill(&repo), (5, 500, 4390), "{order:?}");
    }
}

#[test]
fn a_fork_whose_parent_is_not_here_says_so() {
    let place = place();
    let repo = taken(&place, &[OWN]);
    assert_eq!(told(&repo), everything()[3..]);
    let view = repo.store.read().expect("a view");
    let name = &sessions(&repo)[0].0;
    let session = view.session(name).expect("read").expect("a row");
    let lacks = format!("its first 3 records, of session {SESSION}, which is not here");
    assert!(session.absent.contains(&lacks), "{:?}", session.absent);
}
