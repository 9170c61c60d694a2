//! The same pages as files: what is written, what is not, and that a browser finds its way without a server.

use std::fs;

use crate::listing::pages::browsed;
use crate::sandbox::Sandbox;
use crate::sessions::import::with_demo;

const SESSION: &str = "s/claude-code/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70";

#[test]
fn the_pages_are_files_that_need_nothing_else() {
    let sandbox = with_demo();
    let said = sandbox.tract(&["web", "--out", "pages"]);
    assert_eq!(
        said,
        "--- stderr\nWrote 1 conversation; the first page is pages/index.html\n"
    );
    let at = |name: &str| fs::read_to_string(sandbox.work().join("pages").join(name)).expect(name);
    let list = at("index.html");
    assert!(
        list.contains(&format!("href=\"{SESSION}/index.html\"")),
        "{list}"
    );
    let page = at(&format!("{SESSION}/index.html"));
    assert!(
        page.contains("href=\"../../../index.html\""),
        "the way back"
    );
    assert!(!page.contains("connect-src") && !list.contains("http://"));
    // Again: what is ours is written over, and what is ours no more goes.
    sandbox.ok(&["commit", "-r", "user", "-m", "Something else"]);
    sandbox.ok(&["web", "--out", "pages"]);
    assert!(at("index.html").contains("s/main/index.html"));
}

#[test]
fn a_search_among_files_finds_words_and_leads_to_them() {
    let sandbox = with_demo();
    sandbox.ok(&["web", "--out", "pages"]);
    let place = sandbox.work().join("pages/index.html");
    let address = format!("file://{}", place.display());
    let Some(dom) = browsed(&address, "#q=march%20separator") else {
        return;
    };
    let (_, hits) = dom.split_once("class=\"hits\"").expect("messages");
    assert!(hits.contains("<mark>"), "{hits}");
    let link = hits
        .split("href=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("a link");
    let (page, anchor) = link.split_once('#').expect("a place");
    let page = fs::read_to_string(sandbox.work().join("pages").join(page)).expect("the page");
    assert!(page.contains(&format!("id=\"{anchor}\"")), "{anchor}");
    let none = browsed(&address, "#q=zebra").expect("a browser");
    assert!(none.contains("No message matches"), "{none}");
}

#[test]
fn files_of_others_stay() {
    let sandbox = with_demo();
    sandbox.write("pages/notes.txt", "mine");
    let said = sandbox.tract(&["web", "--out", "pages"]);
    assert_eq!(
        said,
        "exit code: 1\n--- stderr\nerror: pages holds files of others, such as notes.txt\n\
         hint: an empty directory is best; --force writes into this one\n"
    );
    assert_eq!(
        fs::read_dir(sandbox.work().join("pages"))
            .expect("there")
            .count(),
        1
    );
    sandbox.ok(&["web", "--out", "pages", "--force"]);
    let notes = fs::read_to_string(sandbox.work().join("pages/notes.txt"));
    assert_eq!(notes.expect("there"), "mine");
    sandbox.write("file", "mine");
    let said = sandbox.tract(&["web", "--out", "file"]);
    assert!(said.contains("is not a directory"), "{said}");
}

#[test]
fn no_secret_leaves() {
    let key = ["AKIA", "Z7Q4R2M6T5W3X2V7"].concat();
    let sandbox = Sandbox::with_messages(&[
        ("user", &format!("aws_access_key_id = {key}")),
        ("assistant", "Noted."),
    ]);
    let said = sandbox.tract(&["web", "--out", "pages"]);
    assert!(
        said.starts_with("exit code: 1") && !said.contains(&key),
        "{said}"
    );
    let left = fs::read_dir(sandbox.work().join("pages")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "nothing was written");
    sandbox.ok(&["web", "--out", "pages", "--redact"]);
    let mut folders = vec![sandbox.work().join("pages")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("there").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            files += 1;
            let text = fs::read_to_string(entry.path()).expect("UTF-8");
            assert!(!text.contains(&key), "{}", entry.path().display());
        }
    }
    assert!(files > 3);
    sandbox.ok(&["web", "--out", "open", "--allow-secrets"]);
    let page = fs::read_to_string(sandbox.work().join("open/s/main/index.html"));
    assert!(page.expect("there").contains(&key));
}

#[test]
fn without_a_repository_nothing_is_published() {
    let sandbox = Sandbox::new();
    let said = sandbox.tract(&["web", "--out", "pages"]);
    assert!(
        said.contains("error: the repository holds no conversation yet"),
        "{said}"
    );
    let said = sandbox.tract(&["web", "--redact"]);
    assert!(said.starts_with("exit code: 2"), "{said}");
}
