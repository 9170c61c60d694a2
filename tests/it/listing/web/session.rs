//! A conversation from the server: its parts, the context at a moment, what was hidden, what was sent.

use serde_json::json;

use super::Served;

use crate::conditions::{real_sessions, sample};
use crate::listing::pages::{between, blocks, hostile, tree_blocks};
use crate::sandbox::Sandbox;
use crate::sessions::import::with_demo;

impl Served {
    /// What stands at an address, seen from the first page: the status, and what is sent, or where else it is.
    fn seen(&self, path: &str) -> (u16, String) {
        let reply = self.get(path);
        let location = reply
            .head
            .lines()
            .find_map(|line| line.strip_prefix("location: "));
        let location = location.map(str::to_owned);
        (reply.status, location.unwrap_or(reply.body))
    }

    fn page(&self, path: &str) -> String {
        let (status, page) = self.seen(path);
        assert_eq!(status, 200, "{path}: {page}");
        page
    }

    /// The kinds of blocks of all parts from one on, as one follows the links.
    fn kinds(&self, id: &str, first: &str, rel: &str) -> (Vec<String>, usize) {
        let (mut kinds, mut parts) = (Vec::new(), 0);
        let mut next = Some(first.to_owned());
        while let Some(address) = next {
            let page = self.page(&format!("s/{id}/{}", address.trim_start_matches("./")));
            let own: Vec<String> = blocks(&page).into_iter().map(|(kind, _)| kind).collect();
            match rel {
                "next" => kinds.extend(own),
                _ => drop(kinds.splice(0..0, own)),
            }
            parts += 1;
            let main = between(&page, "<main>", "</main>").expect("a main part");
            let link = between(main, &format!("<a rel=\"{rel}\" href=\""), "\"");
            next = link.map(|link| link.replace("&amp;", "&"));
        }
        (kinds, parts)
    }
}

fn kinds_of_tree(sandbox: &Sandbox, rev: &str) -> Vec<String> {
    let tree = sandbox.ok(&["view", "--all", "--format", "tree", rev]);
    let blocks = tree_blocks(&tree).into_iter();
    blocks.map(|(kind, _)| kind).collect()
}

#[test]
fn a_search_within_a_session_is_of_all_its_parts() {
    let sandbox = Sandbox::new();
    let message = |at: usize| {
        let role = if at % 2 == 1 { "user" } else { "assistant" };
        json!({"role": role, "content": format!("Word {at} of {}", 700 - at)})
    };
    let messages: Vec<_> = (1..=600).map(message).collect();
    sandbox.write("chat.json", json!({ "messages": messages }).to_string());
    sandbox.ok(&["import", "chat.json", "--as", "long"]);
    let served = Served::of(&sandbox, &[]);
    let page = served.page("s/long/");
    assert!(!page.contains("Word 450 of"), "the first part is short");
    // The list of prompts is whole, and each leads to the part that has it.
    let list = between(&page, "<nav id=\"prompts\"", "</nav>").expect("a list");
    assert_eq!(list.matches("<li>").count(), 300, "{list}");
    let link = list
        .rsplit("href=\"")
        .next()
        .and_then(|rest| rest.split('"').next());
    let link = link.expect("a link").replace("&amp;", "&");
    let (address, name) = link.split_once('#').expect("a name");
    let part = served.page(&format!("s/long/{}", address.trim_start_matches("./")));
    assert!(
        part.contains("Word 599 of") && part.contains(&format!("id=\"{name}\"")),
        "{link}"
    );
    // What is found is all of it, slice by slice.
    let find = |query: &str| -> Vec<(u64, String)> {
        let (mut found, mut from) = (Vec::new(), Some(1));
        while let Some(at) = from {
            let told = served.page(&format!("s/long/find?q={query}&from={at}"));
            let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
            for one in told["found"].as_array().expect("a list") {
                let name = one[1].as_str().expect("a name").to_owned();
                found.push((one[0].as_u64().expect("a place"), name));
            }
            from = told["next"].as_u64();
        }
        found
    };
    let [(place, name)] = find("WORD+450+of").try_into().expect("one message");
    assert_eq!(place, 450);
    let part = served.page(&format!("s/long/?from={place}"));
    assert!(part.contains(&format!("id=\"{name}\"")), "{part}");
    assert_eq!(find("word").len(), 600);
    assert_eq!(find("zebra"), []);
    // A name alone, or a number, leads there as well.
    for query in [format!("m={}", &name[1..]), "n=450".to_owned()] {
        let told = served.page(&format!("s/long/find?{query}"));
        assert_eq!(told, format!("{{\"found\":[[450,\"{name}\"]]}}"));
    }
    assert_eq!(served.seen("s/long/find?n=9999").0, 404);
}

#[test]
fn the_parts_behind_each_other_are_the_whole() {
    let sandbox = Sandbox::new();
    let mut messages = Vec::new();
    for at in 0..900 {
        let arguments = json!({"path": format!("src/{at}.rs")}).to_string();
        let call = json!({"id": at.to_string(), "type": "function",
            "function": {"name": "read", "arguments": arguments}});
        // Now and then a turn is longer than a part.
        if at % 300 < 20 {
            messages.push(json!({"role": "user", "content": format!("Question {at}")}));
        }
        messages.push(
            json!({"role": "assistant", "content": format!("Answer {at}"), "tool_calls": [call]}),
        );
        messages.push(json!({"role": "tool", "tool_call_id": at.to_string(), "content": "found"}));
    }
    sandbox.write("chat.json", json!({"messages": messages}).to_string());
    sandbox.ok(&["import", "chat.json", "--as", "long"]);
    let whole = kinds_of_tree(&sandbox, "long");
    let served = Served::of(&sandbox, &[]);
    let (forth, parts) = served.kinds("long", "", "next");
    assert_eq!(forth, whole);
    assert!(parts > 4, "{parts}");
    let (back, _) = served.kinds("long", "?end=1", "prev");
    assert_eq!(back, whole);
    let (somewhere, _) = served.kinds("long", "?from=1", "next");
    assert_eq!(somewhere, whole);
}

#[test]
fn the_context_is_shown_as_it_was_at_any_moment() {
    let sandbox = with_demo();
    let served = Served::of(&sandbox, &[]);
    let now = served.page("s/main/");
    assert!(now.contains("messages hidden by this compaction"));
    assert!(now.contains("type=\"range\""), "a slider");
    let hide = sandbox.ok(&["log", "-n", "1", "--op", "compaction", "--format", "%H"]);
    let hide = hide.trim();
    let before = sandbox.ok(&["rev-parse", &format!("{hide}~1")]);
    let then = served.page(&format!("s/main/?at={}", before.trim()));
    assert!(
        !then.contains("messages hidden by this compaction"),
        "{then}"
    );
    assert!(then.contains("The context as it was at commit"));
    // Each step of the slider is such an address.
    let (status, first) = served.seen("s/main/?step=1");
    assert_eq!(status, 303);
    assert!(first.starts_with("./?at="), "{first}");
    assert_eq!(served.seen("s/main/?step=100000").0, 400);
    assert_eq!(served.seen("s/main/?step=x").0, 400);
    assert_eq!(served.seen("s/main/?at=nowhere").0, 404);
    assert_eq!(served.seen("s/main/?from=x").0, 400);
}

#[test]
fn what_a_compaction_hid_stands_beside_its_summary() {
    let sandbox = with_demo();
    let served = Served::of(&sandbox, &[]);
    let hide = sandbox.ok(&["log", "-n", "1", "--op", "compaction", "--format", "%H"]);
    let page = served.page(&format!("s/main/hidden?by={}", hide.trim()));
    let stands =
        between(&page, "<div class=\"stands\">", "<div class=\"hid\">").expect("a summary");
    assert_eq!(stands.matches(" class=\"b mark").count(), 1);
    let hid = between(&page, "<div class=\"hid\">", "</main>").expect("what it hid");
    assert!(hid.matches(" class=\"b ").count() > 1, "{hid}");
    assert!(!hid.contains("class=\"hidden\""), "nothing is folded away");
    assert_eq!(served.seen("s/main/hidden?by=HEAD").0, 400);
    assert_eq!(served.seen("s/main/hidden").0, 400);
}

#[test]
fn the_request_of_a_reply_is_readable_and_to_be_had_whole() {
    let sandbox = with_demo();
    let served = Served::of(&sandbox, &[]);
    let reply = sandbox.ok(&["log", "-n", "1", "--role", "assistant", "--format", "%H"]);
    let reply = reply.trim();
    let whole = served.page(&format!("s/main/request?for={reply}&json=1"));
    let compiled = sandbox.ok(&["compile", "--for", reply, "--request"]);
    assert_eq!(whole.trim_end(), compiled.trim_end());
    let page = served.page(&format!("s/main/request?for={reply}"));
    assert!(page.contains(">messages</b>"), "{page}");
    assert_eq!(served.seen("s/main/request?for=:1").0, 404);
    assert_eq!(served.seen("s/main/request").0, 400);
}

#[test]
fn nothing_in_a_message_is_markup_on_a_served_page() {
    let sandbox = hostile();
    sandbox.ok(&[
        "compact",
        "-m",
        "<script>document.title='pwned'</script>",
        "--keep",
        "1",
    ]);
    let served = Served::of(&sandbox, &[]);
    let hide = sandbox.ok(&["log", "-n", "1", "--op", "compaction", "--format", "%H"]);
    let reply = sandbox.ok(&["log", "-n", "1", "--role", "assistant", "--format", "%H"]);
    let (hide, reply) = (hide.trim(), reply.trim());
    // As many as a page has that says nothing.
    let none = served.page("");
    let count = |page: &str| {
        (
            page.matches("<script").count(),
            page.matches("<style").count(),
        )
    };
    for path in [
        "s/HEAD/".to_owned(),
        "s/HEAD/curve".to_owned(),
        format!("s/HEAD/hidden?by={hide}"),
        format!("s/HEAD/request?for={reply}"),
        format!("s/HEAD/?at={reply}"),
    ] {
        let page = served.page(&path);
        assert_eq!(count(&page), count(&none), "{path}");
        assert!(
            !page.contains(['\u{202e}', '\u{2066}', '\u{1b}', '\0']),
            "{path}"
        );
        assert_eq!(page.matches("</main>").count(), 1, "{path}");
        for part in page.split("href=\"").skip(1) {
            assert!(
                !part.starts_with("javascript")
                    && (!part.starts_with("data:") || part.starts_with("data:,\"")),
                "{path}"
            );
        }
    }
    let (status, told) = served.seen("s/%3Cscript%3Ealert(1)%3C/script%3E/");
    assert_ne!(status, 200);
    assert_eq!(count(&told), count(&none));
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn the_parts_of_real_sessions_are_the_whole() {
    let sandbox = Sandbox::new();
    let files = tract::ingest::tool_dirs::walk_directory(&real_sessions());
    let mut shown = 0;
    for (at, file) in sample(files).enumerate() {
        let branch = format!("real-{at}");
        let path = file.display().to_string();
        let imported = sandbox
            .command(&["import", &path, "--as", &branch])
            .output();
        // Some are of no known format, or hold several sessions.
        if !imported.expect("the program runs").status.success() {
            continue;
        }
        let whole = kinds_of_tree(&sandbox, &branch);
        let served = Served::of(&sandbox, &[]);
        let (forth, _) = served.kinds(&branch, "", "next");
        assert_eq!(forth, whole, "{path}");
        let (back, _) = served.kinds(&branch, "?end=1", "prev");
        assert_eq!(back, whole, "{path}, from its end");
        shown += 1;
    }
    assert!(shown > 0);
}
