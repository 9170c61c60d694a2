//! A server behind a pooler that gives each transaction another connection.

use std::process::Stdio;

use crate::client::Client;
use crate::cluster;
use crate::pooler::Pooler;
use crate::sandbox::Sandbox;

const BRANCHES: [&str; 3] = ["one", "two", "three"];

#[test]
fn people_work_by_way_of_a_pooler_in_either_mode() {
    for mode in ["transaction", "session"] {
        // As many as the commands below have open at once, two each.
        let settings = format!("pool_mode = {mode}\ndefault_pool_size = 8\nmin_pool_size = 8");
        let Some(pooler) = Pooler::new(&settings) else {
            return;
        };
        let direct = cluster::address().expect("a server");
        let address = pooler.before(&direct);
        let sandbox = Sandbox::empty();
        let on =
            |arguments: &[&str]| sandbox.ok(&[&["--repo", address.as_str()], arguments].concat());
        on(&["init"]);
        let said: Vec<String> = (0..10).map(|at| format!("sentence number {at}")).collect();
        for text in &said {
            let commits = BRANCHES.map(|branch| {
                let arguments = ["--on", branch, "commit", "-r", "user", "-m", text];
                let mut commit = sandbox.command(&[&["--repo", &address], &arguments[..]].concat());
                commit
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .expect("it runs")
            });
            for mut commit in commits {
                assert!(commit.wait().expect("it ends").success(), "{mode}");
            }
        }
        for branch in BRANCHES {
            let log = on(&["--on", branch, "log", "--format", "%s"]);
            let wanted: Vec<&str> = said.iter().rev().map(String::as_str).collect();
            assert_eq!(log.lines().collect::<Vec<_>>(), wanted, "{mode}");
        }
        on(&["undo"]);
        on(&["checkout", "one"]);
        assert!(on(&["find", "number 3"]).contains("number 3"));
        on(&["status"]);
        on(&["branch", "four"]);
        on(&["purge", "--force", ":2"]);
        assert!(!on(&["log", "--format", "%s"]).contains("number 1\n"));
        on(&["gc"]);
        // The same without the pooler.
        for address in [&address, &direct] {
            let said = sandbox.tract(&["--repo", address, "fsck"]);
            assert!(said.contains("no damage"), "{mode}: {said}");
        }
    }
}

#[test]
fn what_a_pooler_refuses_is_told_in_two_lines() {
    let Some(pooler) = Pooler::new("pool_mode = statement") else {
        return;
    };
    let address = pooler.before(&cluster::address().expect("a server"));
    let sandbox = Sandbox::empty();
    let told = |address: &str| {
        sandbox
            .tract(&["init", address])
            .replace(address, "[SERVER]")
    };
    let said = told(&address);
    let (exit, said) = said.split_once("\n--- stderr\n").expect("it fails");
    // Its last words may be lost with the connection, which it cuts at once.
    let parts =
        "error: [SERVER]: the pooler parts the statements of a transaction\nhint: pool_mode = ";
    let lost = "error: the connection to the server was lost; nothing was written\nhint: ";
    assert_eq!((exit, said.lines().count()), ("exit code: 1", 2));
    assert!(said.starts_with(parts) || said.starts_with(lost), "{said}");
    // Nothing of it is there.
    let direct = address.replace(
        &pooler.before(cluster::socket().expect("one")),
        cluster::socket().expect("one"),
    );
    assert!(
        sandbox
            .tract(&["--repo", &direct, "status"])
            .contains("no tract repository")
    );
    let Some(full) = Pooler::new("pool_mode = transaction\nmax_client_conn = 1") else {
        return;
    };
    let _held = Client::connect(&full.before(&address_without_schema()).parse().expect("one"));
    let address = full.before(&cluster::address().expect("a server")) + "&connect_timeout=1";
    let said = told(&address);
    assert!(said.starts_with("exit code: 4\n"), "{said}");
    assert!(said.contains("for a free connection"), "{said}");
}

fn address_without_schema() -> String {
    let address = cluster::address().expect("a server");
    address
        .split_once("&schema=")
        .expect("it ends so")
        .0
        .to_owned()
}
