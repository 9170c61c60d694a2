//! Session files and erasures go where commits went before; what is broken there, or was left here, stops and shows nothing.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::sandbox::Sandbox;
use crate::transfer::people_and_machines::mine;

fn git(who: &Sandbox, arguments: &[&str], input: &str) -> String {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(who.work())
        .env("HOME", who.home());
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "someone");
        command.env(format!("GIT_{role}_EMAIL"), "someone@example.org");
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("git runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout)
        .expect("text")
        .trim()
        .to_owned()
}

/// Two who work on the same code, and the host that both push to; none where there is no git.
fn coders(people: &[&Sandbox]) -> Option<String> {
    if Command::new("git").arg("--version").output().is_err() {
        println!("skipped: there is no git");
        return None;
    }
    let host = people[0].home().join("host.git").display().to_string();
    git(people[0], &["init", "-q", "--bare", &host], "");
    for sandbox in people {
        git(sandbox, &["init", "-q"], "");
        git(sandbox, &["remote", "add", "origin", &host], "");
    }
    Some(host)
}

#[test]
fn an_export_there_is_faithful_once_the_file_is_there() {
    let (mine, yours, hub) = (mine(), Sandbox::new(), Sandbox::new());
    let places = match coders(&[&mine, &yours]) {
        Some(_) => vec![hub.place(), "git:origin".to_owned()],
        None => vec![hub.place()],
    };
    for (at, place) in places.iter().enumerate() {
        let yours = if at == 0 { &Sandbox::new() } else { &yours };
        if at == 0 {
            yours.ok(&["remote", "add", "hub", place]);
        }
        let from = if at == 0 { "hub" } else { place.as_str() };
        mine.ok(&["push", place]);
        yours.ok(&["pull", from]);
        assert_ne!(yours.ok(&["export"]), mine.ok(&["export"]));
        let said = mine.tract(&["push", place, "--sources"]);
        assert!(
            said.contains("Sent 1 session file") || said.contains("Sent 2 session files"),
            "{said}"
        );
        let said = mine.tract(&["push", place, "--sources"]);
        assert!(said.contains("Nothing to send"), "{said}");
        let said = yours.tract(&["pull", from, "--sources"]);
        assert!(said.contains("session file"), "{said}");
        assert_eq!(yours.ok(&["export"]), mine.ok(&["export"]));
        assert_eq!(yours.ok(&["fsck"]), "");
    }
}

#[test]
fn a_session_comes_along_with_its_branch() {
    let (mine, yours, hub) = (mine(), Sandbox::new(), Sandbox::new());
    mine.ok(&["branch", "early", "HEAD~1"]);
    mine.ok(&["push", &hub.place(), "--all", "--sources"]);
    yours.ok(&["remote", "add", "hub", &hub.place()]);
    // What does not reach the session's end is not the session.
    yours.ok(&["pull", "hub", "early"]);
    assert!(!yours.ok(&["branch", "--remotes"]).contains("sessions/"));
    yours.ok(&["pull", "hub", "main", "--sources"]);
    assert!(yours.ok(&["branch", "--remotes"]).contains("sessions/"));
    assert_eq!(yours.ok(&["export"]), mine.ok(&["export"]));
    assert_eq!(yours.ok(&["fsck"]), "");
}

/// A request that is recorded stands behind each of its messages, and so does the message in it.
#[test]
fn the_file_of_every_format_comes_along() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let (mine, yours) = (Sandbox::new(), Sandbox::empty());
    mine.tract(&["import", &data.display().to_string()]);
    let files = |told: &str| {
        let (before, _) = told.split_once(" session file").expect("it counts them");
        before.rsplit([' ', '\n']).next().map(str::to_owned)
    };
    let told = yours.tract(&["clone", &mine.place(), "there", "--sources"]);
    assert!(!told.contains("without"), "{told}");
    assert_eq!(files(&told), files(&mine.tract(&["fsck"])));
    let there = yours.work().join("there").display().to_string();
    let at = |words: &[&str]| yours.tract(&[words, &["--repo", &there]].concat());
    let branches = mine.ok(&["branch"]);
    let names = branches.lines().filter_map(|line| {
        let name = line
            .trim_start_matches(['*', ' '])
            .split_whitespace()
            .next();
        name.filter(|name| name.contains("bodies"))
    });
    let mut compared = 0;
    for name in names {
        let theirs = at(&["export", &format!("origin/{name}")]);
        assert_eq!(mine.tract(&["export", name]), theirs, "{name}");
        compared += 1;
    }
    assert!(compared > 0);
}

/// A plain clone has the messages alone: whatever the files would add says that they are not there.
#[test]
fn what_stays_behind_is_said() {
    let (mine, yours) = (mine(), Sandbox::empty());
    let told = yours.tract(&["clone", &mine.place(), "there"]);
    assert!(told.contains("came without the session file"), "{told}");
    let there = yours.work().join("there").display().to_string();
    let at = |words: &[&str]| yours.tract(&[words, &["--repo", &there]].concat());
    for words in [["export"].as_slice(), &["compile", "--request"]] {
        let said = at(words);
        assert!(said.contains("the session file is not here"), "{said}");
    }
    let none = at(&["pull"]);
    assert!(!none.contains("without"), "{none}");
    at(&["fetch", "--sources"]);
    assert!(!at(&["compile", "--request"]).contains("is not here"));
    assert_eq!(at(&["export"]), mine.tract(&["export"]));
}

#[test]
fn of_many_messages_that_were_erased_elsewhere_no_few_are_named() {
    let (mine, yours, hub) = (Sandbox::new(), Sandbox::new(), Sandbox::new());
    for number in 0..12 {
        let text = format!("hunter2 {number}");
        mine.ok(&["commit", "-r", "user", "-m", &text]);
    }
    mine.ok(&["commit", "-r", "user", "-m", "more"]);
    mine.ok(&["push", &hub.place()]);
    hub.ok(&["config", "receive.purge", "allow"]);
    yours.ok(&["remote", "add", "hub", &hub.place()]);
    yours.ok(&["pull", "hub"]);
    mine.ok(&["purge", "--match", "hunter2", "--force"]);
    mine.tract(&["push", &hub.place()]);
    let said = yours.tract(&["pull", "hub"]);
    assert!(
        said.contains("12 messages erased there: still here"),
        "{said}"
    );
    assert!(
        said.contains("lets the next pull erase them here, too"),
        "{said}"
    );
    yours.ok(&["config", "receive.purge", "allow"]);
    let said = yours.tract(&["pull", "hub"]);
    assert!(said.contains("now erased here, too"), "{said}");
    assert!(!yours.ok(&["log", "-n", "0"]).contains("hunter2"));
}

#[test]
fn a_purge_reaches_those_who_pull() {
    let (mine, yours, hub) = (Sandbox::new(), Sandbox::new(), Sandbox::new());
    let has_git = coders(&[&mine, &yours]).is_some();
    for place in [hub.place(), "git:origin".to_owned()] {
        if place == "git:origin" && !has_git {
            continue;
        }
        let word = format!("hunter2 {}", place.len());
        mine.ok(&["commit", "-r", "user", "-m", &word]);
        mine.ok(&["commit", "-r", "user", "-m", "more"]);
        mine.ok(&["push", &place]);
        let from = if place == "git:origin" {
            "git:origin"
        } else {
            "hub"
        };
        if from == "hub" {
            yours.ok(&["remote", "add", "hub", &place]);
            hub.ok(&["config", "receive.purge", "allow"]);
        }
        yours.ok(&["pull", from]);
        mine.ok(&["purge", "--match", &word, "--force"]);
        let said = mine.tract(&["push", &place]);
        assert!(said.contains("1 message erased here"), "{said}");
        let said = yours.tract(&["pull", from]);
        assert!(
            said.contains("note: 1 message erased there: still here"),
            "{said}"
        );
        assert!(said.contains("hint: tract purge "), "{said}");
        assert!(yours.ok(&["log", "--format", "%s"]).contains(&word));
        yours.ok(&["config", "receive.purge", "allow"]);
        let said = yours.tract(&["pull", from]);
        assert!(
            said.contains("note: 1 message erased there: now erased here, too"),
            "{said}"
        );
        assert!(!yours.ok(&["log", "--format", "%s"]).contains(&word));
        let said = yours.tract(&["pull", from]);
        assert!(
            said.contains("Nothing new") && !said.contains("erased"),
            "{said}"
        );
        yours.ok(&["config", "--unset", "receive.purge"]);
    }
}

/// What came erased from elsewhere stays so when the session's file comes in here, and the same words are a message
/// wherever else they are said.
#[test]
fn what_was_erased_elsewhere_stays_so_when_its_file_comes_in() {
    let line = |session: &str, at: usize, text: &str| {
        let parent = at.checked_sub(1).map(|before| format!("{session}{before}"));
        let message = json!({"role": "user", "content": text});
        let line = json!({"type": "user", "uuid": format!("{session}{at}"), "parentUuid": parent, "sessionId": session,
            "cwd": "/p", "version": "2.1.332", "timestamp": format!("2026-11-28T1{}:00:{at:02}.000Z", u8::from(session == "two")), "message": message});
        format!("{line}\n")
    };
    let of = |session: &str| {
        let lines = ["one", "the hunter2", "three"].iter().enumerate();
        lines
            .map(|(at, text)| line(session, at, text))
            .collect::<String>()
    };
    let (mine, yours) = (Sandbox::new(), Sandbox::new());
    mine.write("one.jsonl", of("one"));
    mine.ok(&["import", "one.jsonl"]);
    mine.ok(&["purge", "--match", "hunter2", "--force"]);
    yours.ok(&["remote", "add", "hub", &mine.place()]);
    yours.ok(&["pull", "hub", "--sources"]);
    yours.write("one.jsonl", of("one") + &line("one", 3, "four"));
    yours.ok(&["import", "one.jsonl"]);
    let log = yours.ok(&["log", "sessions/claude-code/one", "--format", "%s"]);
    assert_eq!(
        log.lines().collect::<Vec<_>>(),
        ["four", "three", "[purged]", "one"]
    );
    assert!(
        !yours
            .ok(&["export", "sessions/claude-code/one"])
            .contains("hunter2")
    );
    // Another session says it anew.
    yours.write("two.jsonl", of("two"));
    yours.ok(&["import", "two.jsonl"]);
    let log = yours.ok(&["log", "sessions/claude-code/two", "--format", "%s"]);
    assert!(log.contains("the hunter2"), "{log}");
    // Both ends meet where the session went on.
    mine.write("one.jsonl", of("one") + &line("one", 3, "four"));
    mine.ok(&["import", "one.jsonl"]);
    let said = yours.tract(&["pull", "hub"]);
    assert!(
        !said.contains("beside") && !said.contains("note:"),
        "{said}"
    );
}

#[test]
fn what_a_push_leaves_beside_the_code_is_on_no_ref_and_a_purge_says_what_stays() {
    let (mine, yours) = (
        Sandbox::with_messages(&[("user", "a hunter2")]),
        Sandbox::new(),
    );
    if coders(&[&mine, &yours]).is_none() {
        return;
    }
    mine.ok(&["push", "git:origin"]);
    yours.ok(&["pull", "git:origin"]);
    for sandbox in [&mine, &yours] {
        assert_eq!(git(sandbox, &["for-each-ref"], ""), "");
    }
    mine.ok(&["branch", "hunter2-branch"]);
    let said = mine.tract(&["purge", "--match", "hunter2", "--force"]);
    assert!(said.contains("git gc --prune=now"), "{said}");
    assert!(
        said.contains("note: the name of hunter2-branch says it, and stays"),
        "{said}"
    );
    assert_eq!(git(&mine, &["for-each-ref"], ""), "");
    git(&mine, &["gc", "-q", "--prune=now"], "");
    let said = mine.tract(&["purge", "--match", "hunter2", "--force"]);
    assert!(
        said.contains("Nothing to erase") && said.contains("hunter2-branch"),
        "{said}"
    );
    // What git has collected comes again where it is needed.
    yours.ok(&["commit", "-r", "user", "-m", "more"]);
    git(&yours, &["gc", "-q", "--prune=now"], "");
    yours.ok(&["push", "git:origin"]);
    mine.ok(&["pull", "git:origin"]);
    assert_eq!(
        mine.ok(&["rev-parse", "main"]),
        yours.ok(&["rev-parse", "main"])
    );
}

#[test]
fn one_bad_ref_on_a_git_host_is_named_and_the_others_come() {
    let (mine, yours) = (Sandbox::with_messages(&[("user", "one")]), Sandbox::new());
    let Some(host) = coders(&[&mine, &yours]) else {
        return;
    };
    mine.ok(&["push", "git:origin"]);
    let there = |arguments: &[&str], input: &str| {
        git(&mine, &[&["--git-dir", &host], arguments].concat(), input)
    };
    let good = there(&["cat-file", "blob", "refs/tract/index"], "");
    let put = |json: &str| {
        let blob = there(&["hash-object", "-w", "--stdin"], json);
        there(&["update-ref", "refs/tract/index", &blob], "");
    };
    let row = good.split_once("\"refs\":[").expect("it has some").1;
    let row = row
        .split_once("],\"bundles\"")
        .expect("they end")
        .0
        .to_owned();
    let bad = row.replace("refs/heads/main", "refs/heads/HEAD");
    let deep = row
        .replace("refs/heads/main", "refs/heads/deep")
        .replace("\"depth\":0", "\"depth\":-1");
    put(&good.replace(&row, &format!("{row},{bad},{row},{deep},7")));
    let blob = there(&["hash-object", "-w", "--stdin"], "a blob");
    for name in ["refs/tract/heads/blob.tract", "refs/tract/strange"] {
        there(&["update-ref", name, &blob], "");
    }
    let said = yours.tract(&["pull", "git:origin"]);
    assert!(!said.contains("error:"), "{said}");
    for name in [
        "refs/heads/HEAD is left out there: ",
        "refs/heads/main is left out there: it is there twice",
        "refs/heads/deep is left out there: ",
        "a ref is left out there: ",
        "refs/tract/heads/blob.tract is left out there: it is neither the index nor a bundle",
        "refs/tract/strange is left out there: it is neither the index nor a bundle",
    ] {
        assert!(said.contains(&format!("warning: {name}")), "{name}: {said}");
    }
    assert_eq!(
        yours.ok(&["rev-parse", "main"]),
        mine.ok(&["rev-parse", "main"])
    );
    // What nobody has understood stays as it is, and stops no push.
    mine.ok(&["commit", "-r", "user", "-m", "two"]);
    mine.ok(&["push", "git:origin", "main"]);
    assert!(there(&["cat-file", "blob", "refs/tract/index"], "").contains("refs/heads/HEAD"));
    assert_eq!(
        there(&["cat-file", "blob", "refs/tract/strange"], ""),
        "a blob"
    );
    yours.ok(&["pull", "git:origin"]);
    assert_eq!(
        yours.ok(&["rev-parse", "main"]),
        mine.ok(&["rev-parse", "main"])
    );
    // An index that is none stops all, and says so.
    put("no JSON");
    let said = yours.tract(&["pull", "git:origin"]);
    assert!(
        said.contains("error: the other side has an index that is none"),
        "{said}"
    );
}

#[cfg(all(unix, feature = "s3"))]
#[test]
fn files_and_erasures_go_by_a_bucket() {
    let host = crate::bucket::Host::start();
    let (mine, yours) = (mine(), Sandbox::new());
    let run = |who: &Sandbox, arguments: &[&str]| {
        let mut command = who.command(arguments);
        command.envs(host.variables());
        who.told(&command.output().expect("it runs"))
    };
    for sandbox in [&mine, &yours] {
        sandbox.ok(&["remote", "add", "origin", "s3://talks/team/tract"]);
    }
    run(&mine, &["push"]);
    run(&yours, &["pull"]);
    let said = run(&mine, &["push", "--sources"]);
    assert!(said.contains("session file"), "{said}");
    assert!(run(&mine, &["push", "--sources"]).contains("Nothing to send"));
    run(&yours, &["pull", "--sources"]);
    assert_eq!(yours.ok(&["export"]), mine.ok(&["export"]));
    mine.ok(&["commit", "-r", "user", "-m", "hunter2"]);
    run(&mine, &["push"]);
    run(&yours, &["pull"]);
    mine.ok(&["purge", "--match", "hunter2", "--force"]);
    let said = run(&mine, &["push"]);
    assert!(
        said.contains(
            "1 message erased here: taken out of the bundles there, and the next pull reports it"
        ),
        "{said}"
    );
    yours.ok(&["config", "receive.purge", "allow"]);
    let said = run(&yours, &["pull"]);
    assert!(
        said.contains("1 message erased there: now erased here, too"),
        "{said}"
    );
}

#[test]
fn a_folder_of_the_code_is_found_from_below() {
    let mine = Sandbox::with_messages(&[("user", "one")]);
    if coders(&[&mine]).is_none() {
        return;
    }
    mine.ok(&["push", "git:origin"]);
    let below = mine.work().join("src");
    fs::create_dir(&below).expect("made");
    let mut command = mine.command(&["push", "git:origin"]);
    command.current_dir(&below);
    let said = mine.told(&command.output().expect("it runs"));
    assert!(said.contains("Nothing to send"), "{said}");
    assert!(!below.join(".git").exists());
}
