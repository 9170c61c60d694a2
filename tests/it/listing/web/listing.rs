//! The list of all conversations: what stands in it, how it is narrowed, and what a search finds.

use std::fs;

use super::Served;
use crate::sandbox::{Sandbox, on_servers};
use crate::sessions::import::with_demo;

/// The addresses of the conversations that a page lists, in their order.
fn listed(page: &str) -> Vec<String> {
    let links = page.split("<a class=\"open\" href=\"").skip(1);
    links
        .map(|rest| rest.split('"').next().unwrap_or_default().to_owned())
        .collect()
}

/// A session of Claude Code for the home's folder of sessions.
fn session(sandbox: &Sandbox, id: &str, directory: &str, model: &str, day: u8, said: &str) {
    let record = |at: u8, kind: &str, text: &str| {
        let parent = (at > 1).then(|| format!("{id}-{}", at - 1));
        serde_json::json!({
            "type": kind, "uuid": format!("{id}-{at}"), "parentUuid": parent, "sessionId": id, "cwd": directory,
            "timestamp": format!("2026-03-{day:02}T10:00:0{at}Z"), "version": "2.0.0",
            "message": {"role": kind, "model": model, "content": text, "usage": {"input_tokens": 1000, "output_tokens": 100}},
        })
        .to_string()
    };
    let rows = [
        record(1, "user", said),
        record(2, "assistant", &format!("Of course: {said}")),
    ];
    let folder = sandbox
        .home()
        .join(".claude/projects")
        .join(directory.replace('/', "-"));
    fs::create_dir_all(&folder).expect("made");
    fs::write(folder.join(format!("{id}.jsonl")), rows.join("\n") + "\n").expect("written");
}

fn id(number: usize) -> String {
    format!("{number:08}-1111-4c8f-9e36-2f1d8a6b4c70")
}

#[test]
fn it_lists_by_day_what_is_here_and_what_could_be() {
    let sandbox = with_demo();
    session(
        &sandbox,
        &id(1),
        "/srv/bank",
        "claude-sonnet-4-5",
        13,
        "Sort the invoices",
    );
    let served = Served::of(&sandbox, &[]);
    let page = served.settled("");
    let refs = sandbox.ok(&["branch"]);
    assert_eq!(
        listed(&page),
        [
            "s/claude-code/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70/".to_owned(),
            format!("s/claude-code/{}/", id(1)),
        ]
    );
    // Its day is that of its messages, not that of its file.
    assert!(page.contains("2026-03-13</time>"), "{page}");
    assert!(page.contains("2 sessions, 1 not imported"), "{page}");
    assert!(page.contains("Sort the invoices") && page.contains("not imported"));
    // It is opened without coming in.
    let opened = served.get(&format!("s/claude-code/{}/", id(1)));
    assert_eq!(opened.status, 200);
    assert!(opened.body.contains("Of course: Sort the invoices"));
    assert_eq!(
        served.get("s/claude-code/00000001/").status,
        200,
        "a short id will do"
    );
    assert_eq!(sandbox.ok(&["branch"]), refs);
    assert!(served.settled("").contains("1 not imported"));
}

#[test]
fn a_list_of_many_says_what_one_of_few_says() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    for at in 0..30 {
        sandbox.ok(&["branch", &format!("b{at:02}")]);
    }
    let prompts = ["Sort the invoices", "Sort the letters"];
    for (number, said) in (1..).zip(prompts) {
        session(
            &sandbox,
            &id(number),
            "/srv/bank",
            "claude-sonnet-4-5",
            13,
            said,
        );
    }
    let served = Served::of(&sandbox, &["--many", "16"]);
    let page = served.settled("");
    assert!(page.contains("2 sessions, 2 not imported"), "{page}");
    assert_eq!(listed(&page).len(), 33);
    assert_eq!(served.settled(""), page);

    // What comes in is listed once, and counted.
    let file = sandbox
        .home()
        .join(".claude/projects/-srv-bank")
        .join(id(1) + ".jsonl");
    sandbox.ok(&["import", &file.to_string_lossy()]);
    let both = [1, 2].map(|number| format!("s/claude-code/{}/", id(number)));
    for page in [
        served.get("?tool=claude-code").body,
        served.settled("?tool=claude-code"),
    ] {
        let mut found = listed(&page);
        found.sort();
        assert_eq!(found, both);
    }
    assert!(served.settled("").contains("2 sessions, 1 not imported"));

    // What is worked on is the first of all.
    sandbox.ok(&["--on", "b12", "commit", "-r", "user", "-m", "three"]);
    assert_eq!(listed(&served.settled(""))[0], "s/b12/");
}

#[test]
fn it_is_narrowed_by_tool_model_directory_day_and_words() {
    let sandbox = Sandbox::new();
    session(
        &sandbox,
        &id(1),
        "/srv/bank",
        "claude-sonnet-4-5",
        11,
        "Sort the invoices",
    );
    session(
        &sandbox,
        &id(2),
        "/srv/bank/web",
        "claude-opus-4-5",
        12,
        "Draw a chart",
    );
    session(
        &sandbox,
        &id(3),
        "/srv/garden",
        "claude-opus-4-5",
        13,
        "Water the plants",
    );
    sandbox.ok(&["import", "--all"]);
    let served = Served::of(&sandbox, &[]);
    let whole = served.settled("");
    assert!(
        whole.contains("claude-opus-4-5 (2)") && whole.contains("/srv/garden (1)"),
        "{whole}"
    );
    assert!(whole.contains("$0."), "what it cost: {whole}");
    let of = |query: &str| -> Vec<usize> {
        let page = served.settled(query);
        let (sessions, _) = page.split_once("class=\"hits\"").unwrap_or((&page, ""));
        let number = |address: String| {
            address["s/claude-code/".len()..][..8]
                .parse()
                .expect("a number")
        };
        listed(sessions).into_iter().map(number).collect()
    };
    assert_eq!(of(""), [3, 2, 1]);
    assert_eq!(of("?tool=claude-code"), [3, 2, 1]);
    assert_eq!(of("?tool=codex"), [0; 0]);
    assert_eq!(of("?model=claude-opus-4-5"), [3, 2]);
    assert_eq!(of("?dir=/srv/bank"), [2, 1]);
    assert_eq!(of("?dir=/srv/bank&model=claude-opus-4-5"), [2]);
    assert_eq!(of("?day=2026-03-11"), [1]);
    assert_eq!(of("?q=chart"), [2]);
    assert_eq!(of("?from=2"), [1]);
}

#[test]
fn a_search_tells_messages_with_the_words_marked_and_leads_to_them() {
    let sandbox = with_demo();
    let served = Served::of(&sandbox, &[]);
    let page = served.get("?q=separator+amounts").body;
    assert!(page.contains("<mark>"), "{page}");
    let (_, hits) = page.split_once("class=\"hits\"").expect("messages");
    let first = listed(hits).remove(0);
    assert!(
        first.starts_with("s/claude-code/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70/?m="),
        "{first}"
    );
    assert_eq!(
        served.get(first.split('#').next().expect("a page")).status,
        200
    );
    // A phrase is one; another order of its words is not found.
    let none = served.get("?q=%22encoding+zebra%22").body;
    assert!(none.contains("No message matches"), "{none}");
}

#[test]
fn a_search_finds_messages_before_anything_is_imported() {
    let sandbox = Sandbox::empty();
    let texts = [
        "Sort the invoices",
        "Sort the <b>plants</b>",
        "Draw a chart",
    ];
    for (at, text) in texts.into_iter().enumerate() {
        session(
            &sandbox,
            &id(at + 1),
            "/srv/bank",
            "claude-sonnet-4-5",
            11 + at as u8,
            text,
        );
    }
    let served = Served::of(&sandbox, &[]);
    let page = served.settled("?q=sort+course");
    let (above, hits) = page.split_once("class=\"hits\"").expect("messages");
    assert!(
        !above.contains("0 of"),
        "nothing is denied above the hits: {above}"
    );
    assert!(!above.contains("still being searched"), "{above}");
    // A group for each session, the newest first; each hit leads to the search of its page.
    let groups: Vec<&str> = hits.split("class=\"group\"").skip(1).collect();
    assert_eq!(groups.len(), 2, "{hits}");
    assert!(
        groups[0].contains("<mark>Sort</mark>") && groups[0].contains("2026-03-12 10:00"),
        "{hits}"
    );
    assert!(!hits.contains("<b>plants"), "{hits}");
    let leads = format!("s/claude-code/{}/#q=course", id(2));
    assert_eq!(listed(groups[0]), [leads]);
    assert!(served.settled("?q=zebra").contains("No message matches"));
    // Nor is it denied that it has sub-agents.
    let tree = served.settled(&format!("s/claude-code/{}/tree", id(2)));
    assert!(
        tree.contains("known once it is imported") && !tree.contains("1 conversation"),
        "{tree}"
    );
    assert!(!sandbox.is_made());
}

#[test]
fn hits_are_grouped_by_session() {
    let sandbox = Sandbox::new();
    for at in 1..=2 {
        session(
            &sandbox,
            &id(at),
            "/srv/bank",
            "claude-sonnet-4-5",
            11,
            &format!("Sort the invoices of {at}"),
        );
    }
    sandbox.ok(&["import", "--all"]);
    let page = Served::of(&sandbox, &[]).settled("?q=sort+invoices");
    let (_, hits) = page.split_once("class=\"hits\"").expect("messages");
    let groups: Vec<&str> = hits.split("class=\"group\"").skip(1).collect();
    assert_eq!(groups.len(), 2, "{hits}");
    for group in groups {
        let own = group
            .split("<h3><a href=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let own = own.expect("a session");
        let messages = listed(group);
        assert_eq!(messages.len(), 2, "{group}");
        assert!(
            messages.iter().all(|address| address.starts_with(own)),
            "{group}"
        );
    }
}

#[test]
fn a_branch_stands_below_the_session_that_it_left() {
    let sandbox = with_demo();
    sandbox.ok(&["checkout", "-b", "idea"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Something else"]);
    let served = Served::of(&sandbox, &[]);
    let page = served.settled("");
    let first = page.find("s/claude-code/").expect("the session");
    let nested = page[first..]
        .find("<ul class=\"sessions\">")
        .expect("something below it");
    assert!(
        page[first + nested..].contains("href=\"s/idea/\""),
        "{page}"
    );
    assert!(page.contains("HEAD"));
}

#[test]
fn below_the_day_of_a_branch_its_session_says_its_own() {
    let sandbox = with_demo();
    session(
        &sandbox,
        &id(1),
        "/srv/bank",
        "claude-sonnet-4-5",
        11,
        "Sort the invoices",
    );
    let file = format!(".claude/projects/-srv-bank/{}.jsonl", id(1));
    let file = sandbox.home().join(file);
    sandbox.ok(&["import", "--as", "bank", &file.display().to_string()]);
    sandbox.ok(&["checkout", "-b", "idea", "bank"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Something else"]);
    let page = Served::of(&sandbox, &[]).settled("");
    let times: Vec<&str> = page
        .split("<time datetime=\"")
        .filter_map(|rest| rest.split('>').nth(1)?.split('<').next())
        .collect();
    assert!(times.contains(&"2026-03-11 10:00"), "{times:?}");
}

#[test]
fn nothing_of_a_repository_changes_while_it_is_looked_at() {
    if on_servers() {
        return;
    }
    let sandbox = with_demo();
    session(
        &sandbox,
        &id(1),
        "/srv/bank",
        "claude-sonnet-4-5",
        13,
        "Sort the invoices",
    );
    let told = |sandbox: &Sandbox| {
        [
            "refs",
            "reflog",
            "operations",
            "commits",
            "contents",
            "sources",
            "sessions",
        ]
        .map(|table| sandbox.query(&format!("SELECT * FROM {table} ORDER BY 1, 2")))
    };
    let before = told(&sandbox);
    let served = Served::of(&sandbox, &[]);
    served.settled("");
    for page in [
        "?q=csv",
        "s/main/",
        &format!("s/claude-code/{}/", id(1)),
        "s/HEAD/",
    ] {
        served.get(page);
    }
    assert_eq!(told(&sandbox), before);
}

#[test]
fn outside_of_any_repository_it_shows_what_tools_have_left() {
    if on_servers() {
        return;
    }
    let sandbox = Sandbox::empty();
    session(
        &sandbox,
        &id(1),
        "/srv/bank",
        "claude-sonnet-4-5",
        13,
        "Sort the invoices",
    );
    let served = Served::of(&sandbox, &[]);
    let page = served.settled("");
    assert!(page.contains("Sort the invoices"), "{page}");
    assert_eq!(served.get(&format!("s/claude-code/{}/", id(1))).status, 200);
    let found = served.settled("?q=invoices");
    assert!(found.contains("<mark>invoices</mark>"), "{found}");
    assert!(!sandbox.is_made());
    // The home's is served where it has one.
    let made = sandbox
        .command(&["init"])
        .current_dir(sandbox.home())
        .status();
    assert!(made.expect("runs").success());
    let made = sandbox
        .command(&["commit", "-r", "user", "-m", "At home"])
        .current_dir(sandbox.home())
        .status();
    assert!(made.expect("runs").success());
    let served = Served::of(&sandbox, &[]);
    assert!(served.settled("").contains("At home"));
}

#[test]
fn a_tree_says_what_came_of_a_session() {
    let sandbox = Sandbox::new();
    let (first, second) = (id(1), id(2));
    let folder = sandbox.home().join(".claude/projects/-srv-bank");
    fs::create_dir_all(&folder).expect("made");
    let record = |at: u8, session: &str, kind: &str, text: &str, more: serde_json::Value| {
        let parent = (at > 1).then(|| format!("m-{}", at - 1));
        let mut record = serde_json::json!({
            "type": kind, "uuid": format!("m-{at}"), "parentUuid": parent, "sessionId": session, "cwd": "/srv/bank",
            "timestamp": format!("2026-03-11T10:00:{at:02}Z"), "version": "2.0.0",
            "message": {"role": kind, "content": text},
        });
        let own = record.as_object_mut().expect("an object");
        own.extend(more.as_object().cloned().unwrap_or_default());
        record.to_string() + "\n"
    };
    let none = serde_json::json!({});
    let mut told = record(1, &first, "user", "Sort the invoices", none.clone())
        + &record(2, &first, "assistant", "They are sorted", none.clone());
    let write = |id: &str, text: &str| {
        fs::write(folder.join(format!("{id}.jsonl")), text).expect("written");
    };
    write(&first, &told);
    let from = |at: u8| serde_json::json!({"forkedFrom": {"sessionId": first, "messageUuid": format!("m-{at}")}});
    let copy = record(1, &second, "user", "Sort the invoices", from(1))
        + &record(2, &second, "assistant", "They are sorted", from(2))
        + &record(30, &second, "user", "And by month", none.clone()).replace("\"m-29\"", "\"m-2\"");
    write(&second, &copy);
    let agents = folder.join(&first).join("subagents");
    fs::create_dir_all(&agents).expect("made");
    let agent = serde_json::json!({"isSidechain": true, "agentId": "a1b2c3d"});
    let task = record(1, &first, "user", "Count the invoices", agent).replace("m-1", "n-1");
    fs::write(agents.join("agent-a1b2c3d.jsonl"), task).expect("written");

    let marks = |page: &str| {
        let marks = page.split("mark-of\">").skip(1);
        let mut marks: Vec<String> = marks
            .filter_map(|rest| Some(rest.split_once('<')?.0.to_owned()))
            .filter(|mark| mark != "HEAD")
            .collect();
        marks.sort();
        marks
    };
    let tree = |of: &str| {
        sandbox.ok(&["import", "--all"]);
        let served = Served::of(&sandbox, &[]);
        let page = served.settled(&format!("s/claude-code/{of}/tree"));
        assert_eq!(marks(&served.settled("")).len() + 1, marks(&page).len());
        let all = listed(&page).into_iter();
        let all = all.map(|place| place.trim_start_matches("../").to_owned());
        (all.collect::<Vec<_>>(), marks(&page))
    };
    let address = |id: &str| format!("s/claude-code/{id}/");
    let (all, said) = tree(&second);
    let agent = address(&format!("{first}/agent-a1b2c3d"));
    assert_eq!(all[0], address(&first));
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(
        all.contains(&agent) && all.contains(&address(&second)),
        "{all:?}"
    );
    assert_eq!(said, ["resumed", "sub-agent", "this one"]);
    // The first goes on: what was resumed is another way now.
    told += &record(3, &first, "user", "Now by customer", none);
    write(&first, &told);
    assert_eq!(tree(&second).1, ["fork", "sub-agent", "this one"]);
    assert_eq!(tree(&first).0.len(), 3);
}

#[test]
fn a_revision_leads_to_its_page() {
    let sandbox = with_demo();
    session(
        &sandbox,
        &id(1),
        "/srv/bank",
        "claude-sonnet-4-5",
        13,
        "Sort the invoices",
    );
    let page = |arguments: &[&str]| {
        let served = Served::run(sandbox.command(arguments));
        let (_, page) = served.place.split_once('/').expect("a page");
        let (address, anchor) = page.split_once('#').unwrap_or((page, ""));
        let reply = served.get(address);
        assert_eq!(reply.status, 200, "{page}");
        let names = format!("id=\"{anchor}\"");
        assert!(anchor.is_empty() || reply.body.contains(&names), "{page}");
        page.to_owned()
    };
    let hash = sandbox.ok(&["rev-parse", ":2"]);
    let message = page(&["show", ":2", "--web"]);
    assert!(
        message.contains(&format!("?m={}#", hash.trim())),
        "{message}"
    );
    assert_eq!(page(&["web", "--no-open", ":2"]), message);
    assert_eq!(page(&["web", "--no-open", "main"]), "s/main/");
    let file = format!("claude-code/{}", id(1));
    assert_eq!(page(&["web", "--no-open", &file]), format!("s/{file}/"));
    // What brings no message has the context that it left.
    sandbox.ok(&["truncate", "--keep", "1"]);
    let tip = sandbox.ok(&["rev-parse", "HEAD"]);
    let hidden = page(&["show", "--web"]);
    assert!(
        hidden.ends_with(&format!("?at={}", tip.trim())) || hidden.contains("?m="),
        "{hidden}"
    );
    let refused = sandbox.tract(&["web", "--no-open", "nowhere"]);
    insta::assert_snapshot!(refused, @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'nowhere'
    hint: tract log --oneline lists them, tract branch the branches
    ");
}
