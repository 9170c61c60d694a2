//! A conversation as a page: what it holds, what it never does, and how a browser reads it.

use std::path::Path;
use std::process::{Command, Stdio};

use pulldown_cmark::{Event, Tag};
use serde_json::{Value, json};

use crate::conditions::{real_sessions, sample};
use crate::sandbox::Sandbox;
use crate::sessions::import::with_demo;

/// What Chromium makes of a page; none where there is no Chromium.
fn dom(page: &Path, hash: &str) -> Option<String> {
    browsed(&format!("file://{}", page.display()), hash)
}

/// The same of an address.
pub fn browsed(address: &str, hash: &str) -> Option<String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let exists = |name: &&&str| {
        let mut asked = Command::new(name);
        let asked = asked
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        asked.status().is_ok_and(|status| status.success())
    };
    let Some(chromium) = names.iter().find(exists) else {
        eprintln!("no Chromium here: the page was not opened in a browser");
        return None;
    };
    let profile = tempfile::tempdir().expect("a temporary directory");
    let output = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--virtual-time-budget=10000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("{address}{hash}"))
        .stderr(Stdio::null())
        .output()
        .expect("the browser runs");
    let dom = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(dom.contains("</html>"), "the browser gave no page: {dom}");
    Some(dom)
}

/// The text between two others, from a place on.
pub fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

/// The blocks of a page in their order: what each is, and its name.
pub fn blocks(dom: &str) -> Vec<(String, Option<u64>)> {
    let main = between(dom, "<main>", "</main>").expect("a main part");
    let heads = main.split(" class=\"b ").skip(1);
    let heads = heads.map(|rest| {
        let (head, _) = rest.split_once('>').expect("a tag ends");
        let (classes, more) = head.split_once('"').expect("a value ends");
        let kind = classes.split(' ').next().expect("a class").to_owned();
        let id = between(more, "id=\"n", "\"").and_then(|id| id.parse().ok());
        (kind, id)
    });
    heads.collect()
}

/// The same of a tree in its JSON form.
fn of_tree(items: &Value, found: &mut Vec<(String, Option<u64>)>) {
    for item in items.as_array().into_iter().flatten() {
        let kind = match item["kind"].as_str().expect("a kind") {
            "marker" => "mark",
            "failure" => "fault",
            "interrupted" => "stop",
            "attachment" => "other",
            kind => kind,
        };
        if !["turn", "response", "group", "typing"].contains(&kind) {
            found.push((kind.to_owned(), item["id"].as_u64()));
        }
        of_tree(&item["items"], found);
    }
}

pub fn tree_blocks(tree: &str) -> Vec<(String, Option<u64>)> {
    let tree: Value = serde_json::from_str(tree).expect("JSON");
    let mut found = Vec::new();
    of_tree(&tree["items"], &mut found);
    found
}

#[test]
fn a_page_is_written_for_its_owner_and_over_nothing() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["export", "--format", "html", "-o", "page.html"]));
    insta::assert_snapshot!(sandbox.tract(&["export", "--format", "html", "-o", "page.html"]));
    let page = sandbox.work().join("page.html");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&page)
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let written = std::fs::read_to_string(&page).expect("read");
    sandbox.ok(&["export", "--format", "html", "-o", "page.html", "--force"]);
    assert_eq!(std::fs::read_to_string(&page).expect("read"), written);
    assert_eq!(sandbox.ok(&["export", "--format", "html"]), written);
    assert_eq!(sandbox.ok(&["view", "--format", "html"]), written);
}

#[test]
fn a_page_says_what_the_tree_says_in_its_order() {
    let sandbox = with_demo();
    let page = sandbox.ok(&["view", "--all", "--format", "html"]);
    let tree = sandbox.ok(&["view", "--all", "--format", "tree"]);
    let kinds = |blocks: Vec<(String, Option<u64>)>| -> Vec<String> {
        blocks.into_iter().map(|(kind, _)| kind).collect()
    };
    assert_eq!(kinds(blocks(&page)), kinds(tree_blocks(&tree)));
    // What is hidden is folded beside the marker that stands in its place.
    let cut = between(&page, "<section class=\"cut\">", "</summary>").expect("a fold");
    assert!(cut.contains("messages hidden by this compaction"), "{cut}");
    // Every visible message has a name by its number.
    let visible = sandbox.ok(&["log", "-n", "0", "--op", "append", "--format", "%i"]);
    for number in visible.lines().filter(|number| !number.is_empty()) {
        let link = between(&page, &format!(" id=\"m{number}\" href=\"#"), "\"").expect(number);
        // It links to the name that stays.
        assert!(link.len() == 13 && link.starts_with('c'), "{link}");
        assert_eq!(
            page.matches(&format!(" id=\"{link}\"")).count(),
            1,
            "{link}"
        );
    }
}

#[test]
fn the_first_prompt_is_open_whatever_hides_it() {
    let sandbox = Sandbox::new();
    let messages = [
        "Build a mill",
        "Which?",
        "One with a wheel",
        "Done",
        "Go on",
    ];
    let roles = ["user", "assistant"].into_iter().cycle();
    let messages: Vec<Value> = roles
        .zip(messages)
        .map(|(role, said)| json!({"role": role, "content": said}))
        .collect();
    sandbox.write("chat.json", json!({"messages": messages}).to_string());
    sandbox.ok(&["import", "chat.json"]);
    sandbox.ok(&[
        "compact",
        "-m",
        "A mill with a wheel is built.",
        "--keep",
        "1",
    ]);
    let page = sandbox.ok(&["export", "--format", "html"]);
    let main = between(&page, "<main>", "</main>").expect("a main part");
    let (open, folded) = main
        .split_once("<details class=\"hidden\">")
        .expect("a fold");
    assert!(
        open.contains("Build a mill") && open.contains("hidden: compaction"),
        "{open}"
    );
    assert!(folded.contains("One with a wheel"));
    assert_eq!(main.matches("<p>Build a mill</p>").count(), 1);
    let tree = sandbox.ok(&["view", "--all", "--format", "tree"]);
    let kinds = |blocks: Vec<(String, Option<u64>)>| -> Vec<String> {
        blocks.into_iter().map(|(kind, _)| kind).collect()
    };
    assert_eq!(kinds(blocks(&page)), kinds(tree_blocks(&tree)));
}

#[test]
fn what_a_call_says_comes_first_and_once() {
    let sandbox = Sandbox::new();
    let heredoc = "cat > mill.py <<'EOF'\nwheel = 1\nEOF";
    let call = |id: &str, name: &str, arguments: Value| {
        json!({"id": id, "type": "function",
        "function": {"name": name, "arguments": arguments.to_string()}})
    };
    let calls = json!([
        call(
            "a",
            "Bash",
            json!({"command": heredoc, "description": "Write the mill"})
        ),
        call(
            "b",
            "Read",
            json!({"limit": 5, "file_path": "/home/me/a/long/way/to/the/mill.py"})
        ),
        call(
            "c",
            "Edit",
            json!({"replace_all": false, "file_path": "mill.py", "old_string": "1", "new_string": "2"})
        ),
    ]);
    let result =
        |id: &str, said: &str| json!({"role": "tool", "tool_call_id": id, "content": said});
    let messages = json!([
        {"role": "user", "content": "# Task\n\nBuild a *mill*"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        result("a", "Chunk ID: 1\nWall time: 0.1 seconds\nOutput:\nwritten"),
        result("b", "     1→wheel = 1\n     2→mill = 2\n"),
        result("c", "done"),
    ]);
    sandbox.write("chat.json", json!({"messages": messages}).to_string());
    sandbox.ok(&["import", "chat.json"]);
    let page = sandbox.ok(&["export", "--format", "html"]);
    let main = between(&page, "<main>", "</main>").expect("a main part");
    assert!(main.contains("<em>mill</em>"), "a prompt is Markdown");
    assert_eq!(main.matches("Write the mill").count(), 1);
    // The text of a heredoc stands in its block, and nowhere else.
    let calls = between(main, "<b>Bash</b>", "<b>Read</b>").expect("a call");
    assert_eq!(calls.matches("wheel").count(), 1, "{calls}");
    assert!(main.contains("<span class=\"name\">mill.py</span>"));
    assert!(!main.contains("→"), "a file's lines without their numbers");
    let (before, _) = main.split_once("Chunk ID").expect("a header");
    assert!(before.contains("written"), "what a result says comes first");
    let markdown = sandbox.ok(&["export", "--format", "markdown"]);
    assert!(
        markdown.contains("  ```sh\n  cat > mill.py <<'EOF'\n  wheel = 1\n  EOF\n  ```"),
        "{markdown}"
    );
    assert!(!markdown.contains("\\n"), "{markdown}");
    let chat = sandbox.ok(&["view"]);
    assert!(
        chat.contains("Bash cat > mill.py <<'EOF' …  # Write the mill"),
        "{chat}"
    );
    assert!(
        chat.contains("Read /home/me/a/long/way/to/the/mill.py limit=5"),
        "{chat}"
    );
    assert!(chat.contains("Edit mill.py"), "{chat}");
}

#[test]
fn a_message_keeps_its_name_whatever_else_is_on_the_page() {
    let sandbox = with_demo();
    let names = |page: &str| -> Vec<String> {
        let names = page.split(" id=\"c").skip(1);
        names.map(|rest| rest[..12].to_owned()).collect()
    };
    let before = names(&sandbox.ok(&["view", "--all", "--format", "html"]));
    sandbox.ok(&["commit", "-r", "user", "-m", "Go on"]);
    sandbox.ok(&["drop", ":2"]);
    let after = names(&sandbox.ok(&["view", "--all", "--format", "html"]));
    assert_eq!(after[..before.len()], before);
    assert_eq!(after.len(), before.len() + 1);
}

/// A conversation in which everything hostile is said everywhere.
pub fn hostile() -> Sandbox {
    let script = "<script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">\
        <!-- \u{202e}\u{2066} </pre></details></main> [x](javascript:document.title='pwned') \
        \"' onmouseover='document.title=1' \u{1b}[31m\0 </title><style>*{display:none}</style>";
    let long = "x".repeat(300_000);
    let arguments = json!({"command": script, script: script}).to_string();
    let edit = json!({"file_path": script, "old_string": script, "new_string": "new"}).to_string();
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let messages = [
        json!({"role": "system", "content": script}),
        json!({"role": "user", "content": script}),
        json!({"role": "assistant", "content": format!("{script}\n\n```{script}\n{script}\n```\n\n{script}"),
            "tool_calls": [call("a", script, &arguments), call("b", "Edit", &edit), call("c", "x", script)]}),
        json!({"role": "tool", "tool_call_id": "a", "content": script}),
        json!({"role": "tool", "tool_call_id": "b", "content": format!("{script}\n{long}")}),
        json!({"role": "tool", "tool_call_id": "c", "content": "needle in a tool's output"}),
        json!({"role": "user", "content": [
            {"type": "text", "text": "And this?"},
            {"type": "image_url", "image_url": {"url": "data:image/svg+xml;base64,PHN2Zz4="}},
            {"type": "image_url", "image_url": {"url": "javascript:document.title='pwned'"}},
            {"type": "image_url", "image_url": {"url": "https://pictures.example/x.png"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]}),
        json!({"role": "assistant", "content": "[good](https://a.example/) [bad](javascript:alert(1)) done"}),
    ];
    let sandbox = Sandbox::new();
    sandbox.write("chat.json", json!({"messages": messages}).to_string());
    sandbox.ok(&["import", "chat.json"]);
    sandbox
}

#[test]
fn nothing_in_a_message_is_markup_or_runs() {
    let sandbox = hostile();
    let page = sandbox.ok(&["export", "--format", "html"]);
    assert!(!page.contains(['\u{202e}', '\u{2066}', '\u{1b}', '\0']));
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("<style").count(), 1);
    assert_eq!(page.matches("<!--").count(), 0);
    assert_eq!(page.matches(" style=").count(), 0);
    assert_eq!(page.matches("<img").count(), 1, "the one that is pixels");
    assert_eq!(page.matches("</main>").count(), 1);

    let path = sandbox.write("page.html", &page);
    let Some(dom) = dom(&path, "") else { return };
    assert!(
        !between(&dom, "<title>", "</title>")
            .expect("a title")
            .starts_with("pwned")
    );
    for part in dom.split("href=\"").skip(1) {
        let schemes = ["#", "https://", "http://", "mailto:"];
        assert!(
            schemes.iter().any(|scheme| part.starts_with(scheme)),
            "{:.80}",
            part
        );
    }
    // Handlers that the browser would see as such.
    let tags = dom.split('<').filter_map(|tag| tag.split_once('>'));
    for (tag, _) in tags.filter(|(tag, _)| tag.contains("onerror=") || tag.contains("onmouseover="))
    {
        assert!(
            tag.contains("&quot;") || tag.contains("title="),
            "{tag:.200}"
        );
    }
    let script = "<script>document.title='pwned'</script>";
    // A script that got onto the page would not run either,
    let path = sandbox.write(
        "broken.html",
        page.replace("</main>", &format!("{script}</main>")),
    );
    let broken = self::dom(&path, "").expect("there was a browser");
    assert!(!broken.contains("<title>pwned"));
    // and without the policy it would have: this test can fail.
    let policy = between(&page, "<meta http-equiv=", ">").expect("a policy");
    let open = page.replace(&format!("<meta http-equiv={policy}>"), "");
    let path = sandbox.write(
        "open.html",
        open.replace("</main>", &format!("{script}</main>")),
    );
    let open = self::dom(&path, "").expect("there was a browser");
    assert!(open.contains("<title>pwned"));
}

#[test]
fn a_search_and_a_link_open_what_is_folded() {
    let sandbox = hostile();
    sandbox.ok(&["commit", "-r", "user", "-m", "Go on"]);
    sandbox.ok(&["compact", "-m", "So far, so good.", "--keep", "1"]);
    let page = sandbox.ok(&["export", "--format", "html"]);
    let path = sandbox.write("page.html", &page);
    // How many folds are open around what is looked for.
    let open_around = |dom: &str, words: &str| {
        let (before, _) = dom.split_once(words).expect("it is there");
        let folds = |tag: &str| before.matches(tag).count();
        let open = before.matches(" open=\"\">").count();
        (folds("<details"), open)
    };
    let Some(still) = dom(&path, "") else { return };
    let found = dom(&path, "#q=NEEDLE%20in").expect("there was a browser");
    let (before, after) = (
        open_around(&still, "needle in a tool"),
        open_around(&found, "needle in a tool"),
    );
    assert_eq!(before.0, after.0);
    // What the compaction hid, and the tool's block.
    assert_eq!(after.1, before.1 + 2);
    assert!(found.contains(">1/1</output>"), "it says how much it found");
    let nothing = dom(&path, "#q=nowhere").expect("there was a browser");
    assert!(nothing.contains(">nothing</output>"));
    let linked = dom(&path, "#h6").expect("there was a browser");
    assert_eq!(open_around(&linked, "needle in a tool").1, before.1 + 2);
}

#[test]
fn a_name_is_one_messages() {
    let arguments = json!({"path": "a"}).to_string();
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}});
    let calls: Vec<Value> = ["a", "b", "c"].into_iter().map(call).collect();
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": id});
    let mut messages = vec![json!({"role": "user", "content": "Read them"})];
    messages.push(json!({"role": "assistant", "content": "I do.", "tool_calls": calls}));
    messages.extend(["a", "b", "c"].map(result));
    messages.push(json!({"role": "assistant", "content": "Done."}));
    let sandbox = Sandbox::new();
    sandbox.write("chat.json", json!({"messages": messages}).to_string());
    sandbox.ok(&["import", "chat.json"]);
    let page = sandbox.ok(&["export", "--format", "html"]);
    let ids = |text: &str| -> Vec<String> {
        let ids = text
            .split(" id=\"")
            .skip(1)
            .filter_map(|rest| rest.split_once('"'));
        ids.map(|(id, _)| id.to_owned()).collect()
    };
    let main = between(&page, "<main>", "</main>").expect("a main part");
    let (numbers, names): (Vec<String>, Vec<String>) =
        ids(main).into_iter().partition(|id| id.starts_with('m'));
    assert_eq!(numbers, ["m1", "m2", "m3", "m4", "m5", "m6"]);
    let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!((distinct.len(), names.len()), (6, 6));
    // What hides a part of a turn says how much.
    sandbox.ok(&["drop", ":3"]);
    let page = sandbox.ok(&["export", "--format", "html"]);
    assert!(page.contains("hidden: drop"), "{page}");
}

#[test]
fn a_browser_reads_a_long_page_in_the_trees_order() {
    let sandbox = Sandbox::empty();
    let mut records = Vec::new();
    for at in 0..400 {
        let text = format!("Answer {at}: **bold**\n\n- one\n- two\n\n```\nlet x = {at};\n```");
        let arguments = json!({"path": format!("src/{at}.rs"), "command": "a\nb"}).to_string();
        let call = json!({"id": at.to_string(), "type": "function",
            "function": {"name": "read", "arguments": arguments}});
        records.push(json!({"role": "user", "content": format!("Question {at}")}));
        records.push(json!({"role": "assistant", "content": text, "tool_calls": [call]}));
        let output: Vec<String> = (0..at % 40).map(|line| format!("line {line}")).collect();
        records.push(
            json!({"role": "tool", "tool_call_id": at.to_string(), "content": output.join("\n")}),
        );
    }
    let file = sandbox.write("chat.json", json!({"messages": records}).to_string());
    assert_same_order(&sandbox, &file);
}

/// The blocks of a file's page as a browser has them are those of its tree, in their order.
fn assert_same_order(sandbox: &Sandbox, file: &Path) -> bool {
    let name = file.display().to_string();
    let tree = sandbox.ok(&["view", &name, "--format", "tree"]);
    let page = sandbox.ok(&["view", &name, "--format", "html"]);
    let path = sandbox.write("page.html", &page);
    let expected = tree_blocks(&tree);
    assert_eq!(blocks(&page), expected, "{name}");
    let Some(dom) = dom(&path, "") else {
        return false;
    };
    assert_eq!(blocks(&dom), expected, "{name}, in a browser");
    true
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_are_pages_in_the_trees_order() {
    let sandbox = Sandbox::empty();
    let folders = [real_sessions(), real_sessions().join("../streams")];
    let files = folders
        .iter()
        .flat_map(|folder| tract::ingest::tool_dirs::walk_directory(folder));
    let mut pages = 0;
    let files: Vec<_> = files.collect();
    let all = files.len();
    for file in sample(files) {
        let path = file.display().to_string();
        let viewed = sandbox
            .command(&["view", &path, "--format", "tree"])
            .output();
        // Some are of no known format, or hold several sessions.
        if !viewed.expect("the program runs").status.success() {
            continue;
        }
        pages += 1;
        if !assert_same_order(&sandbox, &file) {
            return;
        }
    }
    assert!(pages * 20 > all / 4, "{pages} of {all}");
}

/// The HTML in a text of Markdown.
fn html_in(markdown: &str) -> Vec<String> {
    let events = pulldown_cmark::Parser::new(markdown).filter_map(|event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Some(html.trim().to_owned()),
        _ => None,
    });
    events.collect()
}

#[test]
fn a_conversation_is_written_as_markdown() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["export", "--format", "markdown", "-o", "page.md"]));
    let page = std::fs::read_to_string(sandbox.work().join("page.md")).expect("read");
    insta::assert_snapshot!(page);
    assert_eq!(sandbox.ok(&["view", "--format", "md"]), page);
}

#[test]
fn no_message_writes_a_heading_of_a_markdown_file() {
    let forged =
        "The notes say:\n\n## :3 user\n\nYes, delete it.\n\nSure\n----\n\n```\n## :4 user\n";
    let sandbox = Sandbox::with_messages(&[
        ("user", "Show the notes."),
        ("assistant", forged),
        ("user", "Thanks."),
    ]);
    sandbox.ok(&["commit", "-r", "system", "-m", forged]);
    let page = sandbox.ok(&["export", "--format", "markdown"]);
    let own = |line: &&str| !line.starts_with([' ', '>']) && !line.is_empty();
    let own: Vec<&str> = page.lines().filter(own).skip(2).collect();
    let wanted = [
        "## :1 user",
        "## :2 assistant",
        "## :3 user",
        "<details><summary>:4 system</summary>",
        "</details>",
    ];
    assert_eq!(own, wanted, "{page}");
    // Whoever turns it into a page sees no other heading outside of a quotation either.
    let (mut quoted, mut headings) = (0, 0);
    for event in pulldown_cmark::Parser::new(&page) {
        match event {
            pulldown_cmark::Event::Start(pulldown_cmark::Tag::BlockQuote(_)) => quoted += 1,
            pulldown_cmark::Event::End(pulldown_cmark::TagEnd::BlockQuote(_)) => quoted -= 1,
            pulldown_cmark::Event::Start(pulldown_cmark::Tag::Heading { .. }) if quoted == 0 => {
                headings += 1
            }
            _ => {}
        }
    }
    assert_eq!(headings, 4, "{page}");
}

#[test]
fn nothing_in_a_message_is_html_of_a_markdown_file() {
    let page = hostile().ok(&["export", "--format", "markdown"]);
    assert!(!page.contains(['\u{202e}', '\u{2066}', '\u{1b}', '\0']));
    let found = html_in(&page);
    assert!(found.iter().any(|html| html.starts_with("<details>")));
    for html in found {
        let is_ours = html == "</details>"
            || between(&html, "<details><summary>", "</summary>").is_some_and(|words| {
                words
                    .chars()
                    .all(|c| c.is_alphanumeric() || ":, -".contains(c))
            });
        assert!(is_ours, "{html}");
    }
    let links = pulldown_cmark::Parser::new(&page).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url),
        _ => None,
    });
    let links: Vec<String> = links.map(|link| link.to_string()).collect();
    assert!(
        links.contains(&"https://a.example/".to_owned()),
        "{links:?}"
    );
    let leads = |link: &String| link.starts_with("https://") || link.starts_with("data:image/png;");
    assert!(links.iter().all(leads), "{links:?}");
}
