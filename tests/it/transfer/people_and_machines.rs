//! Two people, two machines: what one has begun the other goes on with.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sandbox::{Sandbox, THE_FILE, dump, is_left_out};

/// A session that was imported, and a message of one's own behind it.
pub fn mine() -> Sandbox {
    let sandbox = Sandbox::empty();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let session = fs::read(data.join("claude-code/compaction.jsonl")).expect("a fixture");
    sandbox.write("talk.jsonl", session);
    sandbox.ok(&["import", "talk.jsonl"]);
    sandbox
}

/// Says so many different things.
pub fn talk(who: &Sandbox, messages: u32) {
    let mut noise = 1_u64;
    let mut line = |at| {
        let words: String = (0..12)
            .map(|_| {
                noise = noise
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(99);
                format!(" {:x}", noise >> 32)
            })
            .collect();
        format!("{{\"role\":\"user\",\"content\":\"said {at}:{words}\"}}\n")
    };
    let lines: String = (0..messages).map(&mut line).collect();
    who.write("talk.batch", lines);
    who.ok(&["commit", "--batch", "talk.batch"]);
}

/// Makes ten forks of what was said, and pushes each when it is made.
pub fn fork_and_push(who: &Sandbox, run: &dyn Fn(&[&str]) -> String) {
    for at in 0..10 {
        let name = format!("fork-{at}");
        who.ok(&["branch", &name, &format!("HEAD~{}", at * 20)]);
        who.ok(&["commit", "--on", &name, "-r", "user", "-m", &name]);
        let said = run(&["push", "origin", &name]);
        assert!(said.contains("Sent 1 commit, 1 message"), "{said}");
    }
}

/// A repository that others push to and pull from.
fn hub() -> (Sandbox, String) {
    let hub = Sandbox::new();
    let url = hub.place();
    (hub, url)
}

/// An ssh that stays on this machine: the host is not looked at.
fn ssh(sandbox: &Sandbox) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_tract"));
    let folder = program.parent().expect("it is in a folder").display();
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = -p ] && shift 2\n[ \"$1\" = nowhere ] && {{ echo 'ssh: no such host' >&2; exit 255; }}\n\
         [ \"$1\" = bare ] && PATH=/nowhere\n[ \"$1\" = chatty ] && echo Welcome\n\
         [ \"$1\" = bare ] || PATH={folder}:$PATH\nshift\nexec /bin/sh -c \"$1\"\n"
    );
    let path = sandbox.write("ssh", script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

fn over_ssh(sandbox: &Sandbox, ssh: &Path, arguments: &[&str]) -> String {
    let mut command = sandbox.command(arguments);
    command.env("TRACT_SSH_COMMAND", ssh);
    sandbox.told(&command.output().expect("it runs"))
}

/// From an import on one machine to a resume on another, by this kind of URL.
fn story(url: &str, ssh: &Path, mine: &Sandbox, yours: &Sandbox) {
    let run = |who: &Sandbox, arguments: &[&str]| over_ssh(who, ssh, arguments);
    assert_eq!(run(mine, &["remote", "add", "origin", url]), "");
    let pushed = run(mine, &["push", "--sources"]);
    assert!(
        pushed.contains("Sent 7 commits, 7 messages, 1 session file"),
        "{pushed}"
    );
    let cloned = run(yours, &["clone", url, "talk", "--sources"]);
    assert!(
        cloned.contains("Received 7 commits, 7 messages, 1 session file"),
        "{cloned}"
    );
    let there = |arguments: &[&str]| {
        let repo = yours.work().join("talk");
        let mut command = yours.command(arguments);
        command.env("TRACT_SSH_COMMAND", ssh).current_dir(repo);
        // What was cloned is a directory, wherever the others are.
        command.env_remove("TRACT_REPO");
        yours.told(&command.output().expect("it runs"))
    };
    assert_eq!(
        there(&["log", "--format", "%H %s"]),
        run(mine, &["log", "--format", "%H %s"])
    );
    assert_eq!(there(&["compile"]), run(mine, &["compile"]));
    let resumed = there(&["resume"]);
    assert!(resumed.contains("claude --resume "), "{resumed}");
    // The colleague goes on, and what came of it comes back.
    there(&["commit", "-r", "user", "-m", "Go on from here."]);
    let pushed = there(&["push"]);
    assert!(pushed.contains("Sent 1 commit, 1 message"), "{pushed}");
    let pulled = run(mine, &["pull"]);
    assert!(pulled.contains("Received 1 commit, 1 message"), "{pulled}");
    assert_eq!(there(&["compile"]), run(mine, &["compile"]));
    assert!(run(mine, &["pull"]).contains("Nothing new"));
    assert!(there(&["push"]).contains("Nothing to send"));
    assert!(run(mine, &["fsck"]).contains("no damage"));
}

#[test]
fn a_colleague_goes_on_by_a_directory() {
    let (mine, yours, (hub, url)) = (mine(), Sandbox::empty(), hub());
    let ssh = ssh(&mine);
    story(&url, &ssh, &mine, &yours);
    hub.ok(&["fsck"]);
}

#[test]
fn a_colleague_goes_on_by_ssh() {
    if is_left_out(THE_FILE) {
        return;
    }
    let (mine, yours, (hub, url)) = (mine(), Sandbox::empty(), hub());
    let ssh = ssh(&mine);
    story(
        &format!("ssh://me@build.example:2222{url}"),
        &ssh,
        &mine,
        &yours,
    );
    hub.ok(&["fsck"]);
}

#[cfg(feature = "postgres")]
#[test]
fn a_colleague_goes_on_by_a_server() {
    let Some(url) = crate::cluster::address() else {
        return;
    };
    let (mine, yours) = (mine(), Sandbox::empty());
    mine.ok(&["init", &url]);
    story(&url, &ssh(&mine), &mine, &yours);
    yours.ok(&["--repo", &url, "fsck"]);
}

/// Two who work on the same code, and the host that both push to.
fn coders(mine: &Sandbox, yours: &Sandbox) -> Option<String> {
    let git = |sandbox: &Sandbox, arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(arguments).current_dir(sandbox.work());
        command.env("HOME", sandbox.home()).output()
    };
    let host = mine.home().join("host.git").display().to_string();
    if git(mine, &["init", "-q", "--bare", &host]).is_err() {
        return None;
    }
    for sandbox in [mine, yours] {
        git(sandbox, &["init", "-q"]).expect("git runs");
        git(sandbox, &["remote", "add", "origin", &host]).expect("git runs");
    }
    Some(host)
}

#[test]
fn a_colleague_goes_on_beside_the_code() {
    let (mine, yours) = (mine(), Sandbox::new());
    if coders(&mine, &yours).is_none() {
        println!("skipped: there is no git");
        return;
    }
    insta::assert_snapshot!(mine.tract(&["push", "git:origin", "--sources"]), @r"
    --- stderr
    Sent 7 commits, 7 messages, 1 session file
      new      d128895  main
      new      d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    insta::assert_snapshot!(yours.tract(&["pull", "git:origin", "--sources"]), @r"
    --- stderr
    Received 7 commits, 7 messages, 1 session file
      new      d128895  git-origin/main
      new      d128895  git-origin/sessions/claude-code/11111111-2222-4333-8444-555555555555
      new      d128895  main
      new      d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    assert_eq!(yours.ok(&["compile"]), mine.ok(&["compile"]));
    assert_eq!(yours.ok(&["export"]), mine.ok(&["export"]));
    assert!(yours.ok(&["resume"]).starts_with("claude --resume "));
    yours.ok(&["commit", "-r", "user", "-m", "Go on from here."]);
    insta::assert_snapshot!(yours.tract(&["push", "git:origin"]), @r"
    --- stderr
    Sent 1 commit, 1 message
      grown    a20f1d1  main
      known    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    mine.ok(&["commit", "-r", "user", "-m", "Not seen yet."]);
    insta::assert_snapshot!(mine.tract(&["push", "git:origin"]), @r"
    exit code: 1
    --- stderr
      refused  a20f1d1  main
      known    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    error: main has commits there that are not here
    hint: tract pull git:origin brings them; or push under another name: tract branch NAME
    ");
    mine.ok(&["undo"]);
    insta::assert_snapshot!(mine.tract(&["pull", "git:origin"]), @r"
    --- stderr
    Received 1 commit, 1 message
      grown    a20f1d1  git-origin/main
      grown    a20f1d1  main
    ");
    assert_eq!(yours.ok(&["compile"]), mine.ok(&["compile"]));
    insta::assert_snapshot!(mine.tract(&["branch", "--remotes"]), @r"
    git-origin/main                                                       a20f1d1  Go on from here.
    git-origin/sessions/claude-code/11111111-2222-4333-8444-555555555555  d128895  Going on.
    ");
    insta::assert_snapshot!(mine.tract(&["push", "git:origin", "--delete", "main"]), @r"
    --- stderr
      deleted  a20f1d1  main
    ");
    let git = std::process::Command::new("git")
        .args(["ls-remote", "origin"])
        .current_dir(mine.work())
        .output();
    let refs = String::from_utf8(git.expect("git runs").stdout).expect("text");
    let refs: Vec<&str> = refs
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|it| it.1)
        .collect();
    // The index, the commits that the session is made of, and its file.
    let is_bundle = |name: &&&str| name.starts_with("refs/tract/bundles/");
    assert_eq!(refs.iter().filter(is_bundle).count(), 2, "{refs:?}");
    assert!(
        refs.len() == 3 && refs.contains(&"refs/tract/index"),
        "{refs:?}"
    );
    insta::assert_snapshot!(mine.tract(&["push", "git:nowhere"]), @r"
    exit code: 1
    --- stderr
    error: the other side cannot be reached by git: fatal: 'nowhere' does not appear to be a git repository
    hint: what has arrived is kept; the same command continues from there
    ");
    insta::assert_snapshot!(mine.tract(&["push", "git:-x"]), @r"
    exit code: 2
    --- stderr
    error: 'git:-x' names no remote of git's
    hint: git:origin, for the one that git calls origin
    ");
    assert_eq!(mine.ok(&["fsck"]), "");
}

#[test]
fn forks_beside_the_code_take_the_room_of_one_and_pushes_leave_few_objects() {
    let (mine, yours) = (Sandbox::new(), Sandbox::new());
    let Some(host) = coders(&mine, &yours) else {
        return;
    };
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let output = command.args(["--git-dir", &host]).args(arguments).output();
        let output = output.expect("git runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    // All that leads anywhere there, and how much of it.
    let objects = || -> Vec<u64> {
        let all = git(&["rev-list", "--objects", "--all"]);
        let size = |line: &str| {
            let name = line.split(' ').next().expect("a name");
            git(&["cat-file", "-s", name])
                .trim()
                .parse()
                .expect("a number")
        };
        all.lines().map(size).collect()
    };
    for sandbox in [&mine, &yours] {
        sandbox.ok(&["remote", "add", "origin", "git:origin"]);
    }
    talk(&mine, 300);
    mine.ok(&["push"]);
    let one: u64 = objects().iter().sum();
    fork_and_push(&mine, &|arguments| mine.tract(arguments));
    let all: u64 = objects().iter().sum();
    assert!(all * 10 <= one * 12, "{all} for {one}");
    for at in 0..40 {
        mine.ok(&["commit", "-r", "user", "-m", &format!("and {at}")]);
        mine.ok(&["push"]);
    }
    let left = objects().len();
    assert!(left <= 8, "{left}");
    assert!(git(&["for-each-ref"]).lines().count() <= 8);
    // What a push that was killed has left goes with the next.
    let stale = format!("refs/tract/bundles/{}", "0".repeat(32));
    git(&["update-ref", &stale, "refs/tract/index"]);
    mine.ok(&["commit", "-r", "user", "-m", "one more"]);
    mine.ok(&["push"]);
    assert!(!git(&["for-each-ref"]).contains(&stale));
    yours.ok(&["pull"]);
    for name in ["main", "fork-0", "fork-9"] {
        let seen = yours.ok(&["rev-parse", &format!("origin/{name}")]);
        assert_eq!(seen, mine.ok(&["rev-parse", name]));
    }
    assert_eq!(yours.ok(&["compile"]), mine.ok(&["compile"]));
    // Whoever collects there takes nothing that is needed.
    git(&["gc", "-q", "--prune=now"]);
    let fresh = Sandbox::new();
    std::process::Command::new("git")
        .args(["init", "-q"])
        .current_dir(fresh.work())
        .output()
        .expect("git runs");
    fresh.ok(&["remote", "add", "host", &format!("git:{host}")]);
    fresh.ok(&["pull", "host"]);
    assert_eq!(fresh.ok(&["compile"]), mine.ok(&["compile"]));
}

#[test]
fn two_beside_the_code_at_once_lose_nothing() {
    let (mine, yours) = (Sandbox::new(), Sandbox::new());
    if coders(&mine, &yours).is_none() {
        return;
    }
    mine.ok(&["commit", "-r", "user", "-m", "first"]);
    mine.ok(&["push", "git:origin"]);
    yours.ok(&["pull", "git:origin"]);
    for (sandbox, name) in [(&mine, "one"), (&yours, "other")] {
        sandbox.ok(&["checkout", "-b", name]);
    }
    let push = |who: &Sandbox, name: &str| {
        let mut command = who.command(&["push", "git:origin", name]);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command.spawn().expect("it runs")
    };
    for round in 0..6 {
        for sandbox in [&mine, &yours] {
            sandbox.ok(&["commit", "-r", "user", "-m", &format!("in round {round}")]);
        }
        let pushes = [push(&mine, "one"), push(&yours, "other")];
        for (push, who) in pushes.into_iter().zip([&mine, &yours]) {
            let output = push.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{}", who.told(&output));
        }
    }
    for sandbox in [&mine, &yours] {
        sandbox.ok(&["fetch", "git:origin"]);
    }
    let tips = |who: &Sandbox| {
        ["one", "other"].map(|name| who.ok(&["rev-parse", &format!("git-origin/{name}")]))
    };
    assert_eq!(tips(&mine), tips(&yours));
    assert_eq!(tips(&mine)[0], mine.ok(&["rev-parse", "one"]));
    assert_eq!(tips(&mine)[1], yours.ok(&["rev-parse", "other"]));
}

#[test]
fn whoever_is_killed_in_the_middle_leaves_nothing_half_done() {
    let (mine, yours, (hub, url)) = (Sandbox::new(), Sandbox::new(), hub());
    for sandbox in [&mine, &yours] {
        sandbox.ok(&["remote", "add", "origin", &url]);
    }
    let mut killed = 0;
    for round in 0..2 {
        let line = |at| format!("{{\"role\":\"user\",\"content\":\"said {at} in {round}\"}}\n");
        let lines: String = (0..3_000).map(line).collect();
        mine.write("batch.jsonl", lines);
        let before = hub.tract(&["rev-parse", "main"]);
        mine.ok(&["commit", "--batch", "batch.jsonl"]);
        let tip = mine.ok(&["rev-parse", "HEAD"]);
        for wait_ms in [5, 60, 120, 250, 500] {
            for (who, what) in [(&mine, "push"), (&yours, "pull")] {
                let mut child = who.command(&["-q", what]).spawn().expect("it runs");
                std::thread::sleep(Duration::from_millis(wait_ms));
                let _ = child.kill();
                killed += usize::from(child.wait().expect("it ends").code().is_none());
            }
            let there = hub.tract(&["rev-parse", "main"]);
            assert!(there == before || there == tip, "{there}");
        }
        mine.ok(&["push", "-q"]);
        yours.ok(&["pull", "-q"]);
        assert_eq!(hub.ok(&["rev-parse", "main"]), tip);
        assert_eq!(yours.ok(&["rev-parse", "main"]), tip);
    }
    assert!(killed > 4, "{killed} were killed in time");
    for sandbox in [&mine, &yours, &hub] {
        sandbox.ok(&["fsck"]);
    }
}

#[test]
fn a_password_for_ssh_is_not_kept() {
    let mine = mine();
    insta::assert_snapshot!(mine.tract(&["remote", "add", "origin", "ssh://ada:hunter2@build/srv/talk"]), @"
    --- stderr
    hint: the password is not kept: ssh asks for it, or takes a key
    ");
    insta::assert_snapshot!(mine.tract(&["remote", "-v"]), @"
    origin  ssh://ada@build/srv/talk (fetch)
    origin  ssh://ada@build/srv/talk (push)
    ");
    mine.ok(&[
        "remote",
        "set-url",
        "origin",
        "ssh://ada:hunter2@build:2222/srv/talk",
    ]);
    assert_eq!(mine.ok(&["remote", "-v"]).matches("hunter2").count(), 0);
    let texts = mine.texts("SELECT key || value FROM config");
    assert!(
        texts.iter().all(|text| !text.contains("hunter2")),
        "{texts:?}"
    );
}

#[test]
fn an_undo_of_a_push_says_that_the_other_side_keeps_it() {
    let (mine, (hub, url)) = (mine(), hub());
    mine.ok(&["remote", "add", "origin", &url]);
    mine.ok(&["push"]);
    let told = mine.tract(&["undo"]);
    let note = "note: the other repository keeps what was pushed (tract push REMOTE --delete NAME)";
    assert!(told.contains(note), "{told}");
    mine.ok(&["redo"]);
    let told = mine.tract(&["undo", "--to", "1"]);
    assert!(told.contains(note), "{told}");
    // What came in there is undone there.
    let told = hub.tract(&["undo"]);
    assert!(told.contains("push") && !told.contains("keeps"), "{told}");
}

#[test]
fn what_is_said_of_a_push_and_a_pull() {
    let (mine, (hub, url)) = (mine(), hub());
    let run = |arguments: &[&str]| mine.tract(arguments).replace(&url, "[HUB]");
    insta::assert_snapshot!(run(&["push"]), @r"
    exit code: 1
    --- stderr
    error: no remote is set up
    hint: tract remote add origin URL; tract remote lists what there is
    ");
    mine.ok(&["remote", "add", "origin", &url]);
    insta::assert_snapshot!(run(&["push"]), @r"
    --- stderr
    Sent 7 commits, 7 messages
      new      d128895  main
      new      d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    insta::assert_snapshot!(run(&["push"]), @r"
    --- stderr
    Nothing to send
      known    d128895  main
      known    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    hub.ok(&["commit", "-r", "user", "-m", "On the other side."]);
    mine.ok(&["commit", "-r", "user", "-m", "On this side."]);
    insta::assert_snapshot!(run(&["push"]), @r"
    exit code: 1
    --- stderr
      refused  ff724f2  main
      known    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    error: main has commits there that are not here
    hint: tract pull origin brings them; or push under another name: tract branch NAME
    ");
    insta::assert_snapshot!(run(&["pull"]), @r"
    exit code: 1
    --- stderr
    Received 1 commit, 1 message
      grown    ff724f2  origin/main
    error: main has 1 commit that origin/main does not have, and lacks 1; it stays where it was
    hint: tract merge origin/main brings theirs in; tract checkout -b NAME origin/main goes on from theirs
    ");
    insta::assert_snapshot!(run(&["log", "--oneline", "-n", "1", "origin/main"]), @"ff724f2  :3  2026-03-14 12:02:00  append  user  +9  29  (origin/main)  On the other side.");
    insta::assert_snapshot!(run(&["push", "--force-with-lease"]), @r"
    --- stderr
    Sent 1 commit, 1 message
      replaced ff724f2...8ac4615  main
      known    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    insta::assert_snapshot!(run(&["branch", "--remotes"]), @r"
    origin/main                                                       8ac4615  On this side.
    origin/sessions/claude-code/11111111-2222-4333-8444-555555555555  d128895  Going on.
    ");
    insta::assert_snapshot!(hub.tract(&["undo"]), @r#"
    --- stderr
    Undid #3 (2026-03-14): push --force-with-lease
    On main, at ff724f2 ("On the other side.")
    hint: back: tract redo
    "#);
}

#[test]
fn what_cannot_be_reached_is_one_error_and_one_hint() {
    if is_left_out(THE_FILE) {
        return;
    }
    let (mine, (hub, url)) = (mine(), hub());
    let ssh = ssh(&mine);
    let before = dump(&mine);
    let run = |arguments: &[&str]| over_ssh(&mine, &ssh, arguments).replace(&url, "[HUB]");
    insta::assert_snapshot!(run(&["push", "nowhere:talk"]), @r"
    exit code: 1
    --- stderr
    nowhere: ssh: no such host
    error: tract could not be started at nowhere:talk
    hint: ssh nowhere tract serve talk says why
    ");
    insta::assert_snapshot!(run(&["push", "bare:/srv/talk"]), @r"
    exit code: 1
    --- stderr
    bare: /bin/sh: 1: tract: not found
    error: there is no tract on bare
    hint: install it there, where a shell that ssh starts finds it
    ");
    insta::assert_snapshot!(run(&["push", &format!("chatty:{url}")]), @r"
    exit code: 1
    --- stderr
    error: chatty said 'Welcome', which is not 'tract sync 1'
    hint: a shell that ssh starts there must print nothing before it
    ");
    insta::assert_snapshot!(run(&["push", "host:/no/such/place"]), @r"
    exit code: 1
    --- stderr
    host: error: no tract repository here or above
    error: tract could not be started at host:/no/such/place
    hint: ssh host tract serve /no/such/place says why
    ");
    insta::assert_snapshot!(run(&["push", "ssh://-oProxyCommand=touch%20x/y"]), @r"
    exit code: 2
    --- stderr
    error: 'ssh://-oProxyCommand=touch%20x/y' names no host
    hint: a directory, ssh://HOST/PATH, HOST:PATH, postgres://…, s3://BUCKET/PREFIX, or git:REMOTE
    ");
    insta::assert_snapshot!(run(&["push", "-oProxyCommand=x:y"]), @r"
    exit code: 2
    --- stderr
    error: unexpected argument '-o' found
    hint: tract push --help
    ");
    insta::assert_snapshot!(run(&["push", "https://example.org/talk"]), @r"
    exit code: 2
    --- stderr
    error: 'https://example.org/talk': tract does not know https://
    hint: a directory, ssh://HOST/PATH, HOST:PATH, postgres://…, s3://BUCKET/PREFIX, or git:REMOTE
    ");
    insta::assert_snapshot!(run(&["push", "laptop"]), @r"
    exit code: 1
    --- stderr
    error: no remote 'laptop'
    hint: tract remote add laptop URL; a directory is ./laptop
    ");
    insta::assert_snapshot!(run(&["push", "./nothing"]), @r"
    exit code: 1
    --- stderr
    error: no tract repository in [SANDBOX]/work/nothing
    hint: tract init [SANDBOX]/work/nothing makes an empty one
    ");
    insta::assert_snapshot!(run(&["pull", &url]), @r"
    exit code: 2
    --- stderr
    error: what comes is kept under the name of a remote
    hint: tract remote add NAME URL
    ");
    insta::assert_snapshot!(run(&["clone", "host:/no/such/place", "new"]), @r"
    exit code: 1
    --- stderr
    host: error: no tract repository here or above
    error: tract could not be started at host:/no/such/place
    hint: ssh host tract serve /no/such/place says why
    ");
    assert!(!mine.work().join("new").exists());
    insta::assert_snapshot!(run(&["clone", &url, "."]), @r"
    exit code: 1
    --- stderr
    error: there is a repository in . already
    hint: tract remote add NAME URL, and tract pull NAME, inside it
    ");
    insta::assert_snapshot!(run(&["clone", "nothing"]), @r"
    exit code: 2
    --- stderr
    error: tract does not understand 'nothing'
    hint: a directory is ./nothing; another machine's, HOST:PATH
    ");
    assert_eq!(dump(&mine), before);
    assert_eq!(hub.ok(&["reflog"]), "");
}

#[test]
fn a_bucket_is_named_so_that_it_can_be_one() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.tract(&["remote", "add", "team", "s3://"]), @r"
    exit code: 2
    --- stderr
    error: 's3://' names no bucket
    hint: s3://BUCKET/PREFIX, as in s3://team-talks/tract
    ");
    insta::assert_snapshot!(sandbox.tract(&["remote", "add", "team", "s3://b?x/y"]), @r"
    exit code: 2
    --- stderr
    error: 's3://b?x/y' names what cannot be a bucket
    hint: s3://BUCKET/PREFIX, as in s3://team-talks/tract
    ");
    insta::assert_snapshot!(sandbox.tract(&["remote", "add", "team", "s3://talks/../x"]), @r"
    exit code: 2
    --- stderr
    error: 's3://talks/../x' has a piece that is empty, . or ..
    hint: s3://BUCKET/PREFIX, as in s3://team-talks/tract
    ");
    insta::assert_snapshot!(sandbox.tract(&["remote", "add", "team", "s3://talks/a//b"]), @r"
    exit code: 2
    --- stderr
    error: 's3://talks/a//b' has a piece that is empty, . or ..
    hint: s3://BUCKET/PREFIX, as in s3://team-talks/tract
    ");
    insta::assert_snapshot!(sandbox.tract(&["remote", "add", "team", "s3://talks/a\u{1b}[2Jb"]), @r"
    exit code: 2
    --- stderr
    error: 's3://talks/a␛[2Jb' has a character that no prefix should have
    hint: s3://BUCKET/PREFIX, as in s3://team-talks/tract
    ");
    for refused in [
        "s3:///x",
        "s3://-b",
        "s3://me@b/x",
        "s3://b/x?y",
        "s3://b/.",
        "s3://b/x/..",
    ] {
        let said = sandbox.tract(&["remote", "add", "team", refused]);
        assert!(
            said.starts_with("exit code: 2\n--- stderr\nerror: "),
            "{said}"
        );
    }
    assert_eq!(sandbox.ok(&["remote"]), "");
    sandbox.ok(&["remote", "add", "team", "s3://talks/our work/tract/"]);
    assert_eq!(
        sandbox.ok(&["remote"]),
        "team  s3://talks/our work/tract/\n"
    );
}

#[cfg(not(feature = "s3"))]
#[test]
fn a_tract_that_knows_no_buckets_says_so() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let push = sandbox.tract(&["push", "s3://talks/tract"]);
    insta::assert_snapshot!(push, @r"
    exit code: 1
    --- stderr
    error: this tract was built without S3
    hint: cargo install tract-context --features s3; ssh://HOST/PATH needs no feature
    ");
    assert_eq!(sandbox.tract(&["clone", "s3://talks/tract", "new"]), push);
    assert!(!sandbox.work().join("new").exists());
}

#[test]
fn a_secret_does_not_leave() {
    let (mine, (hub, url)) = (mine(), hub());
    let said = format!("the key is AKIA{}", "QWERTYUIOPASDFGH");
    mine.ok(&["commit", "-r", "user", "-m", &said]);
    let before = dump(&hub);
    insta::assert_snapshot!(mine.tract(&["push", &url]).replace(&url, "[HUB]"), @r"
    exit code: 1
    --- stderr
    error: 1 secret: 1 aws-access-key, in fe2191d; nothing was written
    hint: nothing has left; tract purge fe2191d --force erases them for good, --allow-secrets lets them leave
    ");
    assert_eq!(dump(&hub), before);
    insta::assert_snapshot!(mine.tract(&["push", &url, "--allow-secrets"]), @r"
    --- stderr
    Sent 8 commits, 8 messages
      new      fe2191d  main
      new      d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
}
