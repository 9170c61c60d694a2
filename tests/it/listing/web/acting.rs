//! What pages change, with `--write`: first foretold in the terminal's words, then done, and only where nobody was first.

use super::Served;
use super::served::Reply;
use crate::sandbox::Sandbox;

/// A talk of six messages.
fn talk() -> Sandbox {
    let said = |at: usize| {
        (
            ["user", "assistant"][at % 2],
            format!("message {at} with its words"),
        )
    };
    let said: Vec<(&str, String)> = (0..6).map(said).collect();
    let said: Vec<(&str, &str)> = said
        .iter()
        .map(|(role, text)| (*role, text.as_str()))
        .collect();
    Sandbox::with_messages(&said)
}

/// Sends a form as a page of the server's own does.
fn send(served: &Served, fields: &[(&str, &str)]) -> Reply {
    let quoted = |text: &str| -> String {
        let byte = |byte: u8| match byte {
            b'a'..=b'z' | b'0'..=b'9' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        };
        text.bytes().map(byte).collect()
    };
    let pairs = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", quoted(value)));
    let body = pairs.collect::<Vec<_>>().join("&");
    let head = format!(
        "POST /{}/act HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nOrigin: http://127.0.0.1:{}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
        served.token,
        served.port,
        served.port,
        body.len()
    );
    served.raw((head + &body).as_bytes())
}

/// The fields of the forms of a page whose button has this word, of the first of them.
fn fields_of(page: &str, word: &str) -> Vec<(String, String)> {
    let end = format!(">{word}</button>");
    let form = page.split("<form ").find(|form| form.contains(&end));
    let form = form.unwrap_or_else(|| panic!("no button {word}: {page}"));
    let inputs = form.split("<input ").skip(1);
    let value = |input: &str, name: &str| {
        let (_, rest) = input.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0.replace("&amp;", "&"))
    };
    inputs
        .filter_map(|input| Some((value(input, "name")?, value(input, "value")?)))
        .collect()
}

/// Presses a button, with other values for some of what its form sends.
fn press(served: &Served, page: &str, word: &str, others: &[(&str, &str)]) -> Reply {
    let fields = fields_of(page, word);
    let mut all: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    all.retain(|(name, _)| !others.iter().any(|(other, _)| other == name));
    all.extend(others);
    send(served, &all)
}

/// The page on which something is done to a message of main.
fn of_message(served: &Served, number: usize) -> String {
    let page = served.get("s/main/").body;
    let label = format!("aria-label=\"act on :{number}\"");
    let (head, _) = page
        .split_once(&label)
        .unwrap_or_else(|| panic!("no {label}: {page}"));
    let (_, address) = head.rsplit_once("href=\"").expect("a link");
    let address = address
        .split('"')
        .next()
        .unwrap_or_default()
        .replace("&amp;", "&");
    served.get(address.trim_start_matches("../")).body
}

/// What a page shows, without markup.
fn text(page: &str) -> String {
    let pieces = page
        .split('<')
        .map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    let text: String = pieces.collect();
    text.replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[test]
fn without_write_nothing_can_be_done() {
    let sandbox = talk();
    let served = Served::of(&sandbox, &[]);
    for page in ["s/main/", "reflog", "compare", ""] {
        let body = served.get(page).body;
        assert!(
            !body.contains("method=\"post\"") && !body.contains("act?"),
            "{page}: {body}"
        );
    }
    assert_eq!(served.get("act?id=main").status, 403);
    let before = sandbox.ok(&["reflog"]);
    let rev = sandbox.ok(&["rev-parse", ":3"]);
    let fields = [
        ("deed", "drop"),
        ("on", "main"),
        ("rev", rev.trim()),
        ("sure", "yes"),
    ];
    assert_eq!(send(&served, &fields).status, 403);
    assert_eq!(sandbox.ok(&["reflog"]), before);
}

#[test]
fn a_drop_is_foretold_as_in_the_terminal_and_then_done() {
    let sandbox = talk();
    let served = Served::of(&sandbox, &["--write"]);
    let before = sandbox.ok(&["reflog"]);
    let page = of_message(&served, 3);
    let foretold = press(&served, &page, "Drop", &[]);
    assert_eq!(foretold.status, 200, "{foretold:?}");
    let said = text(&foretold.body);
    assert!(said.contains("Nothing is changed yet."), "{said}");
    for line in sandbox.ok(&["drop", ":3", "--dry-run"]).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let found = said
            .lines()
            .any(|line| line.split_whitespace().collect::<Vec<_>>() == words);
        assert!(found, "{line}\n{said}");
    }
    assert_eq!(sandbox.ok(&["reflog"]), before);
    let done = press(&served, &foretold.body, "Do it", &[]);
    let said = text(&done.body);
    assert!(
        said.contains("Done.") && said.contains("Hid 1 message"),
        "{said}"
    );
    let tip = sandbox.ok(&["rev-parse", "main"]);
    assert!(
        said.contains(&tip[..7]),
        "it says which commit it is: {said}"
    );
    assert!(done.body.contains("compare?a="), "{}", done.body);
    assert!(
        !sandbox.ok(&["compile"]).contains("message 2 with"),
        "it is hidden"
    );
    // The same form once more finds another branch than it was made for.
    let again = press(&served, &foretold.body, "Do it", &[]);
    assert_eq!(again.status, 409, "{again:?}");
    assert_eq!(sandbox.ok(&["rev-parse", "main"]), tip);
}

#[test]
fn whoever_comes_second_changes_nothing() {
    let sandbox = talk();
    let served = Served::of(&sandbox, &["--write"]);
    let page = of_message(&served, 3);
    let foretold = press(&served, &page, "Drop", &[]).body;
    let log = served.get("reflog").body;
    let undoing = press(&served, &log, "Undo the newest", &[]).body;
    sandbox.ok(&["commit", "-r", "user", "-m", "somebody else"]);
    let tip = sandbox.ok(&["rev-parse", "main"]);
    for (page, word) in [
        (&page, "Drop"),
        (&foretold, "Do it"),
        (&undoing, "Do it"),
        (&log, "Undo the newest"),
    ] {
        let reply = press(&served, page, word, &[]);
        let said = text(&reply.body);
        assert_eq!(reply.status, 409, "{word}: {said}");
        assert!(
            said.contains("Nothing was changed.") && said.contains("has moved"),
            "{said}"
        );
        assert_eq!(sandbox.ok(&["rev-parse", "main"]), tip);
    }
    let page = of_message(&served, 3);
    let foretold = press(&served, &page, "Drop", &[]).body;
    assert_eq!(press(&served, &foretold, "Do it", &[]).status, 200);
}

#[test]
fn undo_redo_and_undo_to_a_point() {
    let sandbox = talk();
    let served = Served::of(&sandbox, &["--write"]);
    let tips: Vec<String> = ["main", "main~1", "main~3"]
        .map(|rev| sandbox.ok(&["rev-parse", rev]))
        .to_vec();
    let tip = || sandbox.ok(&["rev-parse", "main"]);
    let step = |word: &str| {
        let foretold = press(&served, &served.get("reflog").body, word, &[]);
        assert!(
            text(&foretold.body).contains("Nothing is changed yet."),
            "{foretold:?}"
        );
        let done = press(&served, &foretold.body, "Do it", &[]);
        assert_eq!(done.status, 200, "{done:?}");
    };
    step("Undo the newest");
    assert_eq!(tip(), tips[1]);
    step("Redo");
    assert_eq!(tip(), tips[0]);
    // Back to right after the third commit: three are taken back at once.
    let log = served.get("reflog").body;
    let to = sandbox.ok(&["reflog"]);
    let to = to
        .lines()
        .find(|line| line.contains(&tips[2][..7]) && line.contains("commit"))
        .expect("a line");
    let to = to
        .split_whitespace()
        .next()
        .expect("a number")
        .trim_start_matches('#');
    let foretold = press(&served, &log, "Undo to here", &[("to", to)]);
    assert!(text(&foretold.body).contains("Would undo"), "{foretold:?}");
    press(&served, &foretold.body, "Do it", &[]);
    assert_ne!(tip(), tips[0]);
    step("Redo");
    assert_eq!(tip(), tips[0]);
}

#[test]
fn pin_restore_pick_truncate_and_a_summary() {
    let sandbox = talk();
    sandbox.ok(&["branch", "other", "main~4"]);
    let served = Served::of(&sandbox, &["--write"]);
    let does = |page: &str, word: &str, others: &[(&str, &str)]| {
        let foretold = press(&served, page, word, others);
        let done = press(&served, &foretold.body, "Do it", &[]);
        assert_eq!(
            done.status,
            200,
            "{word}: {} {}",
            text(&foretold.body),
            text(&done.body)
        );
        text(&done.body)
    };
    assert!(does(&of_message(&served, 4), "Pin", &[]).contains("Pinned 1 message"));
    assert!(does(&of_message(&served, 4), "Unpin", &[]).contains("Made 1 message normal"));
    let copied = does(
        &of_message(&served, 6),
        "Copy to the end of a branch",
        &[("on", "other")],
    );
    assert!(copied.contains("Copied 1 message"), "{copied}");
    assert!(
        sandbox.ok(&["log", "other"]).contains("message 5 with"),
        "it is on the other branch"
    );
    let page = served.get("act?id=main").body;
    assert!(does(&page, "Hide the oldest", &[("keep", "2")]).contains("Hid 3 messages"));
    // What was hidden is read where it is told what hid it, and comes back from there.
    let kept = sandbox.ok(&["compile"]);
    assert!(!kept.contains("message 2 with"), "{kept}");
    let hidden = sandbox.ok(&["rev-parse", "main~6"]);
    let page = served
        .get(&format!("act?id=main&rev={}", hidden.trim()))
        .body;
    assert!(
        does(&page, "Restore", &[]).contains("Brought back"),
        "{page}"
    );
    assert!(sandbox.ok(&["compile"]).contains("message 2 with"));
    let page = served.get("act?id=main").body;
    // What is typed is what is committed, whatever it looks like.
    let summary = "--exec=touch pwned\r\nsecond \u{202e}line";
    does(
        &page,
        "Put it in their place",
        &[("text", summary), ("keep", "1")],
    );
    let context = sandbox.ok(&["compile"]);
    let said = "--exec=touch pwned\\nsecond \u{202e}line";
    assert!(
        context.contains(said) || context.contains(&said.replace('\u{202e}', "\\u202e")),
        "{context}"
    );
    assert!(!sandbox.work().join("pwned").exists());
}

#[test]
fn what_a_form_sends_is_never_an_option() {
    let sandbox = talk();
    let served = Served::of(&sandbox, &["--write"]);
    let before = sandbox.ok(&["reflog"]);
    let tip = sandbox.ok(&["rev-parse", "main"]);
    let on = [("on", "main"), ("expect", tip.trim()), ("sure", "yes")];
    for fields in [
        vec![("deed", "drop"), ("rev", "--force")],
        vec![("deed", "drop"), ("rev", "")],
        vec![("deed", "truncate"), ("keep", "2 --drop-first")],
        vec![("deed", "truncate"), ("keep", "0")],
        vec![("deed", "compact"), ("text", "  ")],
        vec![("deed", "purge"), ("rev", ":1")],
        vec![("deed", "")],
        vec![("deed", "drop"), ("rev", ":1"), ("on", "-x")],
        vec![("deed", "drop"), ("rev", ":1"), ("expect", "nonsense")],
        vec![("deed", "undo"), ("newest", "x"), ("operation", "1")],
        vec![("deed", "undo-to"), ("newest", "6"), ("to", "--since=1d")],
    ] {
        let mut all = fields.clone();
        all.extend(
            on.iter()
                .filter(|(name, _)| !fields.iter().any(|(own, _)| own == name)),
        );
        let reply = send(&served, &all);
        assert!(reply.status >= 400, "{fields:?}: {}", text(&reply.body));
    }
    assert_eq!(sandbox.ok(&["reflog"]), before);
}

#[test]
fn the_demo_in_a_browser_is_read_and_changed() {
    let sandbox = Sandbox::empty();
    let served = Served::run(sandbox.command(&["demo", "--web", "--no-open"]));
    assert!(
        served
            .settled("")
            .contains("Read the bank&#39;s amounts, and never in silence")
    );
    let page = served
        .get("s/claude-code/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70/")
        .body;
    assert!(page.contains("hidden?by="), "the compaction: {page}");
    let page = served.get("act?id=main").body;
    let foretold = press(&served, &page, "Hide the oldest", &[("keep", "2")]);
    let done = press(&served, &foretold.body, "Do it", &[]);
    let said = text(&done.body);
    assert!(said.contains("Done.") && said.contains("Hid "), "{said}");
}
