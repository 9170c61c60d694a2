//! What whoever knows git expects of remotes.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Two who share a hub, which is `origin` to both, with a commit on `main`.
fn team() -> (Sandbox, Sandbox, Sandbox, String) {
    let (mine, yours, hub) = (Sandbox::new(), Sandbox::new(), Sandbox::new());
    let url = hub.place();
    for sandbox in [&mine, &yours] {
        sandbox.ok(&["remote", "add", "origin", &url]);
    }
    say(&mine, "one");
    mine.ok(&["push"]);
    yours.ok(&["pull"]);
    (mine, yours, hub, url)
}

fn say(who: &Sandbox, text: &str) {
    who.ok(&["commit", "-r", "user", "-m", text]);
}

fn tip(who: &Sandbox, rev: &str) -> String {
    who.ok(&["rev-parse", rev])
}

#[test]
fn a_branch_goes_where_it_was_told_to() {
    let (mine, _yours, _hub, _) = team();
    let other = Sandbox::new();
    mine.ok(&["remote", "add", "team", &other.place()]);
    let said = mine.tract(&["push", "-u", "team"]);
    assert!(said.contains("main goes to team from now on"), "{said}");
    say(&mine, "two");
    mine.ok(&["push"]);
    assert_eq!(tip(&other, "main"), tip(&mine, "main"));
    assert_ne!(tip(&mine, "origin/main"), tip(&mine, "main"));
    say(&other, "three");
    mine.ok(&["pull"]);
    assert_eq!(tip(&other, "main"), tip(&mine, "main"));
    let status = mine.ok(&["status"]);
    assert!(status.contains("team/main: the same"), "{status}");
    // The name goes with it, and is forgotten with it.
    mine.ok(&["remote", "rename", "team", "desk"]);
    assert_eq!(tip(&mine, "desk/main"), tip(&mine, "main"));
    assert!(mine.tract(&["rev-parse", "team/main"]).contains("error:"));
    // An undo goes past it: a name is a setting, and its refs go by it.
    let renamed = mine.ok(&["reflog", "-n", "1"]);
    assert!(renamed.contains("remote rename team desk"), "{renamed}");
    let number = renamed.trim_start_matches(|c: char| !c.is_ascii_digit());
    let number = number
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .expect("a number");
    let refused = mine.tract(&["undo", number]);
    assert!(
        refused.contains("are settings; tract remote changes them"),
        "{refused}"
    );
    let next = mine.tract(&["undo", "--dry-run"]);
    assert!(!next.contains("remote rename"), "{next}");
    assert_eq!(tip(&mine, "desk/main"), tip(&mine, "main"));
    say(&mine, "four");
    mine.ok(&["push"]);
    assert_eq!(tip(&other, "main"), tip(&mine, "main"));
    let taken = mine.tract(&["remote", "rename", "desk", "origin"]);
    assert!(taken.contains("error:"), "{taken}");
    mine.ok(&["remote", "remove", "desk"]);
    let seen = mine.ok(&["branch", "--remotes"]);
    assert!(
        seen.contains("origin/main") && !seen.contains("desk"),
        "{seen}"
    );
    let status = mine.ok(&["status"]);
    assert!(status.contains("origin/main: 3 ahead"), "{status}");
    let nameless = mine.tract(&["push", "-u", &other.place()]);
    assert!(nameless.contains("error:") && nameless.contains("tract push -u NAME"));
}

#[test]
fn a_dry_run_sends_nothing() {
    let (mine, _yours, hub, _) = team();
    let there = tip(&hub, "main");
    say(&mine, "two");
    say(&mine, "three");
    let said = mine.tract(&["push", "--dry-run"]);
    assert!(said.contains("Would send 2 commits"), "{said}");
    assert!(said.contains("grown") && said.contains("main"), "{said}");
    assert_eq!(tip(&hub, "main"), there);
    assert_eq!(tip(&mine, "origin/main"), there);
    let said = mine.tract(&["push"]);
    assert!(said.contains("Sent 2 commits"), "{said}");
}

#[test]
fn a_push_says_what_stays_at_home() {
    let (mine, _yours, _hub, _) = team();
    mine.ok(&["branch", "before"]);
    mine.ok(&["checkout", "-b", "idea"]);
    say(&mine, "an idea");
    mine.ok(&["checkout", "main"]);
    say(&mine, "two");
    let said = mine.tract(&["push"]);
    let note = "note: not pushed, with commits that are not there: idea (tract push --all)";
    assert!(said.contains(note), "{said}");
    let said = mine.tract(&["push", "--all"]);
    assert!(!said.contains("not pushed"), "{said}");
    let said = mine.tract(&["push"]);
    assert!(!said.contains("not pushed"), "{said}");
}

#[test]
fn remotes_are_listed_with_both_ways() {
    let (mine, _yours, _hub, url) = team();
    let said = mine.ok(&["remote", "-v"]);
    assert_eq!(
        said,
        format!("origin  {url} (fetch)\norigin  {url} (push)\n")
    );
}

#[test]
fn all_remotes_are_fetched_and_one_that_is_gone_stops_none() {
    let (mine, _yours, hub, _) = team();
    let other = Sandbox::new();
    say(&other, "elsewhere");
    say(&hub, "there");
    mine.ok(&["remote", "add", "other", &other.place()]);
    mine.ok(&["fetch", "--all"]);
    assert_eq!(tip(&mine, "other/main"), tip(&other, "main"));
    assert_eq!(tip(&mine, "origin/main"), tip(&hub, "main"));
    mine.ok(&["remote", "add", "gone", "./nowhere"]);
    say(&other, "more");
    let said = mine.tract(&["fetch", "--all"]);
    assert!(said.starts_with("exit code: 1"), "{said}");
    assert!(said.contains("warning: nothing came from gone"), "{said}");
    assert_eq!(tip(&mine, "other/main"), tip(&other, "main"));
}

#[test]
fn another_branch_is_pulled_into_ones_own() {
    let (mine, yours, _hub, _) = team();
    yours.ok(&["checkout", "-b", "idea"]);
    say(&yours, "an idea");
    yours.ok(&["push"]);
    say(&yours, "more of it");
    yours.ok(&["push"]);
    mine.ok(&["pull", "origin", "idea"]);
    assert_eq!(tip(&mine, "main"), tip(&yours, "idea"));
    let said = mine.tract(&["pull", "origin", "nothing"]);
    assert!(said.contains("error:"), "{said}");
}

#[test]
fn a_pull_says_that_the_branch_is_not_there_any_more() {
    let here = Sandbox::empty();
    let there = Sandbox::with_messages(&[("user", "hello")]);
    let url = there.work();
    let url = url.to_str().expect("UTF-8");
    here.ok(&["clone", url, "copy"]);
    let copy = here.work().join("copy");
    let copy = copy.to_str().expect("UTF-8");
    there.ok(&["branch", "-m", "main", "trunk"]);
    let told = "note: origin/main is not there any more; your branch stays where it is";
    // Until it is forgotten.
    for _ in 0..2 {
        let pulled = here.tract(&["--repo", copy, "pull"]);
        assert!(pulled.contains(told), "{pulled}");
    }
    let answer = here.ok(&["--repo", copy, "api", "pull"]);
    assert!(
        answer.contains(r#""gone":"refs/remotes/origin/main""#),
        "{answer}"
    );
    here.ok(&["--repo", copy, "fetch", "--prune"]);
    let pulled = here.tract(&["--repo", copy, "pull"]);
    assert!(!pulled.contains(told), "{pulled}");
}

#[test]
fn how_far_a_branch_is_ahead_is_said() {
    let (mine, yours, _hub, _) = team();
    say(&yours, "theirs");
    yours.ok(&["push"]);
    mine.ok(&["fetch"]);
    say(&mine, "mine");
    say(&mine, "mine again");
    let apart = "origin/main: 2 ahead, 1 behind";
    let status = mine.ok(&["status"]);
    assert!(status.contains(&format!("Remote   {apart}")), "{status}");
    let listed = mine.ok(&["branch", "-v"]);
    assert!(listed.contains(&format!("[{apart}]")), "{listed}");
    assert!(!mine.ok(&["branch"]).contains("origin/main"));
    mine.ok(&["branch", "own"]);
    let own = mine.ok(&["branch", "-v"]);
    let own = own
        .lines()
        .find(|line| line.contains("own"))
        .expect("it is listed");
    assert!(!own.contains('['), "{own}");
}

#[test]
fn a_branch_that_one_remote_has_is_checked_out_by_its_name() {
    let (mine, yours, _hub, url) = team();
    yours.ok(&["checkout", "-b", "idea"]);
    say(&yours, "an idea");
    yours.ok(&["push"]);
    mine.ok(&["fetch"]);
    let said = mine.tract(&["checkout", "idea"]);
    assert!(said.contains("On a new branch idea"), "{said}");
    assert_eq!(tip(&mine, "HEAD"), tip(&yours, "idea"));
    say(&mine, "on it");
    mine.ok(&["push"]);
    mine.ok(&["checkout", "main"]);
    mine.ok(&["branch", "-d", "idea"]);
    mine.ok(&["remote", "add", "second", &url]);
    mine.ok(&["fetch", "second"]);
    let said = mine.tract(&["checkout", "idea"]);
    assert!(said.contains("error: idea was seen at 2 remotes"), "{said}");
    assert!(
        said.contains("hint: tract checkout -b idea origin/idea"),
        "{said}"
    );
    assert!(mine.tract(&["checkout", "nothing"]).contains("error:"));
}

#[test]
fn a_clone_begins_on_the_branch_that_is_asked_for() {
    let (_mine, yours, _hub, url) = team();
    yours.ok(&["checkout", "-b", "idea"]);
    say(&yours, "an idea");
    yours.ok(&["push"]);
    let new = Sandbox::empty();
    new.ok(&["clone", &url, "talk", "--branch", "idea"]);
    let there = |arguments: &[&str]| {
        let mut command = new.command(arguments);
        command
            .current_dir(new.work().join("talk"))
            .env_remove("TRACT_REPO");
        new.told(&command.output().expect("it runs"))
    };
    assert_eq!(there(&["rev-parse", "HEAD"]), tip(&yours, "idea"));
    assert!(there(&["status"]).contains("On idea"));
    let said = new.tract(&["clone", &url, "other", "--branch", "nothing"]);
    assert!(said.contains("error:"), "{said}");
    assert!(!new.work().join("other").exists());
}

#[test]
fn a_forced_push_says_from_where_to_where() {
    let (mine, _yours, hub, _) = team();
    say(&mine, "wrong");
    mine.ok(&["push"]);
    let old = &tip(&mine, "main")[..7];
    mine.ok(&["reset", "HEAD^"]);
    say(&mine, "right");
    let said = mine.tract(&["push", "--force-with-lease"]);
    let new = &tip(&mine, "main")[..7];
    assert!(
        said.contains(&format!("replaced {old}...{new}  main")),
        "{said}"
    );
    assert_eq!(tip(&hub, "main"), tip(&mine, "main"));
}

#[test]
fn a_push_makes_the_repository_where_that_is_asked_for() {
    let (mine, _yours, _hub, _) = team();
    let place = mine.work().join("shelf");
    let said = mine.tract(&["push", "./shelf"]);
    assert!(said.contains("error: no tract repository"), "{said}");
    let dry = mine.tract(&["push", "--dry-run", "./shelf/"]);
    assert!(dry.contains("error: no tract repository"), "{dry}");
    assert!(!place.exists());
    let said = mine.tract(&["push", "./shelf/"]);
    assert!(said.contains("Made a repository in"), "{said}");
    assert!(said.contains("Sent 1 commit"), "{said}");
    let again = mine.tract(&["push", "./shelf/"]);
    assert!(
        again.contains("Nothing to send") && !again.contains("Made"),
        "{again}"
    );
    mine.ok(&["push", "--create", "./second"]);
    // What is refused leaves no repository behind.
    let key = format!("the key is AKIA{}", "QWERTYUIOPASDFGH");
    say(&mine, &key);
    let said = mine.tract(&["push", "./third/"]);
    let commit = &tip(&mine, "HEAD")[..7];
    let hint = format!("hint: nothing has left; tract purge {commit} --force erases them for good");
    assert!(said.contains(&hint), "{said}");
    assert!(!mine.work().join("third").exists());
    // What the hint says helps.
    mine.ok(&["purge", commit, "--force"]);
    mine.ok(&["push", "./third/"]);
}

/// A push and pages name all that would let a secret out, not the first alone.
#[test]
fn all_secrets_that_would_leave_are_named_at_once() {
    let sandbox = Sandbox::with_messages(&[("user", "Which keys are there?")]);
    let mut commits = Vec::new();
    for (branch, end) in [("one", "QWERTYUIOPASDFGH"), ("two", "ZXCVBNMASDFGHJKL")] {
        sandbox.ok(&["branch", branch]);
        let text = format!("the key is AKIA{end}");
        let commit = ["-q", "--on", branch, "commit", "-r", "user", "-m", &text];
        commits.push(sandbox.ok(&commit)[..7].to_owned());
    }
    for command in [
        &["push", "--all", "./there/"][..],
        &["web", "--out", "pages"],
    ] {
        let said = sandbox.tract(command);
        let is_named = |commit: &String| said.contains(commit);
        assert!(
            said.starts_with("exit code: 1") && commits.iter().all(is_named),
            "{said}"
        );
        // A page may say one twice.
        let is_counted = said.contains("2 secrets") || command[0] == "web";
        assert!(is_counted, "{said}");
    }
}

#[test]
fn sessions_elsewhere_are_listed_by_their_titles() {
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/claude-code/compaction.jsonl"
    );
    let (mine, yours, hub) = (Sandbox::new(), Sandbox::new(), Sandbox::new());
    let session = std::fs::read_to_string(data).expect("a fixture");
    let id = "11111111-2222-4333-8444-555555555555";
    let title = format!(
        "{{\"type\":\"custom-title\",\"customTitle\":\"The parser talk\",\"sessionId\":\"{id}\"}}\n"
    );
    mine.write("talk.jsonl", session + &title);
    mine.ok(&["import", "talk.jsonl"]);
    mine.ok(&["push", &hub.place()]);
    yours.ok(&["remote", "add", "origin", &hub.place()]);
    yours.ok(&["fetch"]);
    let seen = yours.ok(&["branch", "--remotes"]);
    let line = seen
        .lines()
        .find(|line| line.contains("claude-code"))
        .expect("it is listed");
    assert!(line.contains("The parser talk"), "{seen}");
}

#[test]
fn the_branches_that_were_last_worked_on_are_listed_alone() {
    let sandbox = Sandbox::with_messages(&[("user", "the first")]);
    for name in ["one", "two", "three"] {
        sandbox.ok(&["--on", name, "commit", "-q", "-r", "user", "-m", name]);
    }
    let all = sandbox.ok(&["branch"]);
    let all: Vec<&str> = all.lines().collect();
    assert_eq!(all.len(), 4);
    let told = |limit: &str| {
        let told = sandbox.command(&["branch", "-n", limit]).output();
        let told = told.expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&told.stdout), text(&told.stderr))
    };
    let (some, hint) = told("2");
    assert_eq!(some.lines().collect::<Vec<_>>(), all[..2]);
    assert_eq!(hint, "hint: older ones: -n 0 lists all\n");
    for limit in ["0", "4", "9"] {
        let (some, hint) = told(limit);
        assert_eq!((some.lines().count(), hint.as_str()), (4, ""), "{limit}");
    }
    assert_eq!(
        sandbox
            .command(&["branch", "-n", "2", "new"])
            .status()
            .expect("it runs")
            .code(),
        Some(2)
    );
    // What a filter leaves out is not counted.
    for name in ["mine", "yours"] {
        let line = format!(
            r#"{{"type":"user","uuid":"{name}","parentUuid":null,"sessionId":"{name}","cwd":"/{name}","timestamp":"2026-01-01T00:00:00Z","version":"2.0.0","isSidechain":false,"userType":"external","message":{{"role":"user","content":"{name}"}}}}"#
        );
        sandbox.write(&format!("{name}.jsonl"), line + "\n");
        sandbox.ok(&["import", &format!("{name}.jsonl")]);
    }
    let of_tool = |limit: &str| {
        let told = sandbox.command(&["branch", "--tool", "claude-code", "-n", limit]);
        let told = { told }.output().expect("it runs");
        let lines = String::from_utf8_lossy(&told.stdout).lines().count();
        (lines, told.stderr.is_empty())
    };
    assert_eq!((of_tool("1"), of_tool("2")), ((1, false), (2, true)));
}

#[test]
fn a_branch_and_a_tag_of_one_name_are_told_apart() {
    let sandbox = Sandbox::with_messages(&[("user", "Hello.")]);
    let note = "a branch and a tag are called v1";
    assert!(!sandbox.tract(&["tag", "v1"]).contains(note));
    assert!(sandbox.tract(&["branch", "v1"]).contains(note));
    sandbox.ok(&["tag", "--delete", "v1"]);
    assert!(sandbox.tract(&["tag", "v1"]).contains(note));
    sandbox.ok(&["branch", "--delete", "v1"]);
    assert!(sandbox.tract(&["checkout", "-b", "v1"]).contains(note));
}

/// All of them or none, and one undo brings all back.
#[test]
fn several_branches_are_deleted_at_once() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    for name in ["a", "b", "c"] {
        sandbox.ok(&["branch", name]);
    }
    let names = || -> Vec<String> {
        let told = sandbox.ok(&["api", "branches", "{}"]);
        let told: serde_json::Value = serde_json::from_str(told.trim()).expect("JSON");
        let rows = told["branches"].as_array().expect("branches").iter();
        let mut names: Vec<String> = rows
            .map(|row| row["name"].as_str().expect("a name").to_owned())
            .collect();
        names.sort();
        names
    };
    let refused = sandbox.tract(&["branch", "-d", "a", "main", "b"]);
    assert!(refused.contains("exit code: 1"), "{refused}");
    let refused = sandbox.tract(&["branch", "a", "b", "c"]);
    assert!(
        refused.contains("--delete alone takes several names"),
        "{refused}"
    );
    assert_eq!(names(), ["a", "b", "c", "main"]);
    let told = sandbox.tract(&["branch", "-d", "a", "b", "c", "a"]);
    assert_eq!(told.matches("Deleted").count(), 3, "{told}");
    assert_eq!(names(), ["main"]);
    sandbox.ok(&["undo"]);
    assert_eq!(names(), ["a", "b", "c", "main"]);
}

#[test]
fn a_graph_is_of_several_branches() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.ok(&["checkout", "-b", "idea"]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "an idea"]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "no idea"]);
    let texts = |asked: &[&str]| -> Vec<String> {
        let told = sandbox.ok(&[&["log", "--graph"], asked].concat());
        let lines = told.lines().filter(|line| line.contains("append"));
        let text = |line: &str| line.rsplit("  ").next().unwrap_or_default().to_owned();
        lines.map(text).collect()
    };
    assert_eq!(texts(&["main"]), ["no idea", "one"]);
    assert_eq!(texts(&["main", "idea"]), ["no idea", "an idea", "one"]);
    assert_eq!(
        texts(&["idea", "main", "main~1"]),
        ["an idea", "no idea", "one"]
    );
    assert_eq!(texts(&["idea", "main", "-1"]), ["an idea"]);
    let refused = sandbox.tract(&["log", "main", "idea"]);
    assert!(refused.contains("log starts at one revision"), "{refused}");
}

/// A client writes each call of a reply as a record of its own, and an import puts the whole reply in the place of its half.
#[test]
fn a_reply_that_was_sent_before_it_was_whole_is_replaced_everywhere() {
    let session = "5e551011-0000-4000-8000-0000000000dd";
    let record = |number: u32, role: &str, content: Value| {
        let before = (number > 1).then(|| format!("u{}", number - 1));
        let mut message = json!({"role": role, "content": content});
        if role == "assistant" {
            message["id"] = json!("msg_1");
            message["model"] = json!("claude-opus-4-8");
            message["usage"] = json!({"input_tokens": 100, "output_tokens": 10});
        }
        let record = json!({"type": role, "sessionId": session, "uuid": format!("u{number}"), "parentUuid": before,
            "requestId": "req_1", "timestamp": format!("2026-11-20T10:00:{number:02}.000Z"), "message": message});
        format!("{record}\n")
    };
    let call = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}]);
    let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "made"}]);
    let half = [
        record(1, "user", json!("Make both.")),
        record(2, "assistant", call("toolu_1")),
    ]
    .concat();
    let rest = [
        record(3, "assistant", call("toolu_2")),
        record(4, "user", result("toolu_1")),
        record(5, "user", result("toolu_2")),
    ]
    .concat();
    for sources in [false, true] {
        let sandbox = Sandbox::new();
        let sourced =
            |args: &[&'static str]| [args, &["--sources"][..usize::from(sources)]].concat();
        sandbox.write("session.jsonl", &half);
        sandbox.ok(&["import", "session.jsonl"]);
        sandbox.ok(&["init", "../server"]);
        sandbox.ok(&["remote", "add", "origin", "../server"]);
        sandbox.ok(&sourced(&["push", "--all"]));
        sandbox.ok(&sourced(&["clone", "../server", "../clone"]));
        sandbox.ok(&["--repo", "../clone", "checkout", "-b", "own"]);
        sandbox.ok(&["--repo", "../clone", "commit", "-r", "user", "-m", "Mine."]);
        sandbox.ok(&["--repo", "../clone", "checkout", "main"]);
        sandbox.write("session.jsonl", half.clone() + &rest);
        sandbox.ok(&["import", "session.jsonl"]);
        let told = sandbox.tract(&sourced(&["push", "--all"]));
        assert!(!told.contains("exit code"), "{told}");
        let told = sandbox.tract(&sourced(&["--repo", "../clone", "pull"]));
        assert!(!told.contains("does not have"), "{told}");
        let whole = |here: &str| {
            let of = |what: &str| sandbox.ok(&["--repo", here, "api", what, "{}"]);
            (
                sandbox.ok(&["--repo", here, "compile"]),
                of("cost"),
                sandbox.ok(&["--repo", here, "log", "--format", "%h %s"]),
                sandbox.ok(&[
                    "--repo",
                    here,
                    "log",
                    "--format",
                    "%h",
                    "claude-code/5e551011",
                ]),
            )
        };
        assert_eq!(whole("../clone"), whole("."));
        assert!(
            sandbox
                .ok(&["--repo", "../clone", "log", "own"])
                .contains("Mine.")
        );
        sandbox.ok(&["--repo", "../clone", "fsck"]);
    }
}

/// Who made a commit, and pushed it, has it still when somebody else takes it away there.
#[test]
fn a_commit_of_ones_own_stays_when_it_is_replaced_there() {
    let (mine, yours, _hub, url) = team();
    say(&yours, "of yours");
    yours.ok(&["push"]);
    mine.ok(&["pull"]);
    mine.ok(&["reset", "--hard", "HEAD~1"]);
    say(&mine, "instead");
    mine.ok(&["push", "--force-with-lease"]);
    let told = yours.tract(&["pull"]);
    assert!(
        told.contains("main has 1 commit that origin/main does not have"),
        "{told}"
    );
    assert!(yours.ok(&["log"]).contains("of yours"));
    // Who only took it in has what is there now.
    say(&mine, "more");
    mine.ok(&["push"]);
    let third = Sandbox::new();
    third.ok(&["remote", "add", "origin", &url]);
    third.ok(&["pull"]);
    mine.ok(&["reset", "--hard", "HEAD~1"]);
    say(&mine, "better");
    mine.ok(&["push", "--force-with-lease"]);
    third.ok(&["pull"]);
    let log = third.ok(&["log"]);
    assert!(log.contains("better") && !log.contains("more"), "{log}");
}
