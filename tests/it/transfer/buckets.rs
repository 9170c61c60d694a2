//! Two people and a bucket: what one puts there the other takes, and a bucket that is none loses nobody anything.

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use crate::bucket::{Broken, Host};
use crate::sandbox::{Sandbox, dump};
use crate::transfer::people_and_machines::mine;

const URL: &str = "s3://talks/team/tract";

/// Runs it with what it takes to reach the bucket, and these variables.
fn output(who: &Sandbox, host: &Host, more: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = who.command(arguments);
    command.envs(host.variables()).envs(more.iter().copied());
    command.output().expect("it runs")
}

fn run(who: &Sandbox, host: &Host, arguments: &[&str]) -> String {
    who.told(&output(who, host, &[], arguments))
}

/// What the keys are but for the numbers of bundles.
fn keys(host: &Host) -> String {
    let keys = host.keys();
    let plain = keys.iter().map(|key| match key.rsplit_once('/') {
        Some((folder, file)) if file.len() == 38 => format!("{folder}/NUMBER.tract\n"),
        _ => format!("{key}\n"),
    });
    plain.collect()
}

/// Two who have the same, with that bucket as their remote.
fn two(host: &Host) -> (Sandbox, Sandbox) {
    let (mine, yours) = (mine(), Sandbox::new());
    for sandbox in [&mine, &yours] {
        sandbox.ok(&["remote", "add", "origin", URL]);
    }
    run(&mine, host, &["push"]);
    run(&yours, host, &["pull"]);
    (mine, yours)
}

#[test]
fn a_colleague_goes_on_by_a_bucket() {
    let (host, mine, yours) = (Host::start(), mine(), Sandbox::empty());
    mine.ok(&["remote", "add", "origin", URL]);
    insta::assert_snapshot!(run(&mine, &host, &["push", "--sources"]), @r"
    --- stderr
    Sent 7 commits, 7 messages, 1 session file
      new      d128895  main
      new      d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    insta::assert_snapshot!(keys(&host), @r"
    team/tract/bundles/NUMBER.tract
    team/tract/bundles/NUMBER.tract
    team/tract/index.json
    team/tract/tract.json
    ");
    insta::assert_snapshot!(run(&yours, &host, &["clone", URL, "--sources"]), @r"
    --- stderr
    Made a repository in tract
    Received 7 commits, 7 messages, 1 session file
      new      d128895  origin/main
      new      d128895  origin/sessions/claude-code/11111111-2222-4333-8444-555555555555
      new      d128895  main
      new      d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    let there = |arguments: &[&str]| {
        let mut command = yours.command(arguments);
        command.envs(host.variables());
        command.current_dir(yours.work().join("tract"));
        // What was cloned is a directory, wherever the others are.
        command.env_remove("TRACT_REPO");
        yours.told(&command.output().expect("it runs"))
    };
    assert_eq!(there(&["compile"]), mine.tract(&["compile"]));
    assert_eq!(there(&["export"]), mine.tract(&["export"]));
    assert!(there(&["resume"]).contains("claude --resume "));
    there(&["commit", "-r", "user", "-m", "Go on from here."]);
    insta::assert_snapshot!(there(&["push"]), @r"
    --- stderr
    Sent 1 commit, 1 message
      grown    cea4525  main
      known    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    insta::assert_snapshot!(run(&mine, &host, &["fetch"]), @r"
    --- stderr
    Received 1 commit, 1 message
      grown    cea4525  origin/main
    ");
    insta::assert_snapshot!(run(&mine, &host, &["pull"]), @r"
    --- stderr
      grown    cea4525  main
    ");
    assert_eq!(there(&["compile"]), mine.tract(&["compile"]));
    insta::assert_snapshot!(run(&mine, &host, &["push"]), @r"
    --- stderr
    Nothing to send
      known    cea4525  main
      known    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    insta::assert_snapshot!(mine.tract(&["branch", "--remotes"]), @r"
    origin/main                                                       cea4525  Go on from here.
    origin/sessions/claude-code/11111111-2222-4333-8444-555555555555  d128895  Going on.
    ");
    for fsck in [there(&["fsck"]), mine.tract(&["fsck"])] {
        assert!(fsck.contains("no damage"), "{fsck}");
    }
}

#[test]
fn what_is_deleted_is_gone_and_may_come_again() {
    let host = Host::start();
    let (mine, yours) = two(&host);
    insta::assert_snapshot!(run(&mine, &host, &["push", "origin", "--delete", "main"]), @r"
    --- stderr
      deleted  d128895  main
    ");
    insta::assert_snapshot!(keys(&host), @r"
    team/tract/bundles/NUMBER.tract
    team/tract/index.json
    team/tract/tract.json
    ");
    insta::assert_snapshot!(run(&yours, &host, &["push", "origin", "--delete", "main"]), @r"
    exit code: 1
    --- stderr
    error: no ref there 'main'
    hint: tract push --help
    ");
    insta::assert_snapshot!(run(&yours, &host, &["push"]), @r"
    --- stderr
      new      d128895  main
      known    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    insta::assert_snapshot!(run(&mine, &host, &["pull"]), @r"
    --- stderr
      new      d128895  origin/main
    ");
    // What was pushed and then erased does not stay behind.
    mine.ok(&["commit", "-r", "user", "-m", "the secret of it all"]);
    run(&mine, &host, &["push"]);
    mine.ok(&["reset", "--hard", "HEAD^"]);
    mine.ok(&["commit", "-r", "user", "-m", "the rest of it"]);
    let before = host.keys();
    insta::assert_snapshot!(run(&mine, &host, &["push", "--force-with-lease"]), @r"
    --- stderr
    Sent 1 commit, 1 message
      replaced 7f7ddd7...ab9a347  main
      known    d128895  sessions/claude-code/11111111-2222-4333-8444-555555555555
    ");
    let gone: Vec<&String> = before
        .iter()
        .filter(|key| !host.keys().contains(key))
        .collect();
    assert_eq!(gone.len(), 1, "{gone:?}");
}

#[test]
fn of_two_pushes_at_once_one_is_told_and_nothing_is_lost() {
    for is_new in [true, false] {
        let host = Host::start();
        let (mine, yours) = if is_new {
            (Sandbox::new(), Sandbox::new())
        } else {
            two(&host)
        };
        for (sandbox, said) in [(&mine, "mine"), (&yours, "yours")] {
            sandbox.ok(&["commit", "-r", "user", "-m", said]);
        }
        host.awaits(2);
        let push = |who: &Sandbox| {
            let mut command = who.command(&["push", URL, "main"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.envs(host.variables()).spawn().expect("it runs")
        };
        let (one, other) = (push(&mine), push(&yours));
        let [one, other] = [one, other].map(|it| it.wait_with_output().expect("it ends"));
        host.awaits(0);
        let mut codes = [one.status.code(), other.status.code()];
        codes.sort();
        assert_eq!(
            codes,
            [Some(0), Some(4)],
            "{}{}",
            mine.told(&one),
            yours.told(&other)
        );
        let (won, lost, said) = if one.status.success() {
            (&mine, &yours, yours.told(&other))
        } else {
            (&yours, &mine, mine.told(&one))
        };
        assert!(
            said.contains("error: 'main' has moved: expected "),
            "{said}"
        );
        assert!(said.contains("\nhint: "), "{said}");
        let fresh = Sandbox::empty();
        run(&fresh, &host, &["clone", URL, "--", "talk"]);
        let repo = fresh.work().join("talk").display().to_string();
        let tip = fresh.ok(&["--repo", &repo, "rev-parse", "main"]);
        assert_eq!(tip, won.ok(&["rev-parse", "main"]));
        assert_ne!(
            tip,
            lost.ok(&["rev-parse", "main"]),
            "its own is still here"
        );
        let bundles = keys(&host).matches("bundles/NUMBER.tract").count();
        assert_eq!(
            bundles,
            1 + usize::from(!is_new),
            "the loser's is gone again"
        );
    }
}

#[test]
fn an_answer_that_is_lost_is_no_push_that_is() {
    let host = Host::start();
    let (mine, yours) = two(&host);
    // What somebody has gone on from by then must not be taken away for lost.
    for broken in [Broken::SwallowsAnswers, Broken::GoesOn] {
        mine.ok(&["commit", "-r", "user", "-m", "One more."]);
        host.is(broken);
        let pushed = run(&mine, &host, &["push"]);
        assert!(pushed.contains("grown    "), "{pushed}");
        host.is(Broken::Not);
        let pulled = run(&yours, &host, &["pull"]);
        assert!(pulled.contains("grown    "), "{pulled}");
        assert_eq!(yours.ok(&["compile"]), mine.ok(&["compile"]));
    }
    host.is(Broken::SwallowsAnswers);
    let deleted = run(&mine, &host, &["push", "origin", "--delete", "main"]);
    assert!(deleted.contains("deleted  "), "{deleted}");
}

#[test]
fn of_two_pushes_of_different_refs_both_go() {
    let host = Host::start();
    let (mine, yours) = two(&host);
    for (sandbox, name) in [(&mine, "one"), (&yours, "other")] {
        sandbox.ok(&["branch", name]);
        sandbox.ok(&["commit", "--on", name, "-r", "user", "-m", name]);
    }
    host.awaits(2);
    let push = |who: &Sandbox, name: &str| {
        let mut command = who.command(&["push", URL, name]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(host.variables()).spawn().expect("it runs")
    };
    let pushes = [push(&mine, "one"), push(&yours, "other")];
    for (push, who) in pushes.into_iter().zip([&mine, &yours]) {
        let said = who.told(&push.wait_with_output().expect("it ends"));
        assert!(said.contains("Sent 1 commit, 1 message\n  new "), "{said}");
    }
    host.awaits(0);
    let fresh = Sandbox::new();
    fresh.ok(&["remote", "add", "origin", URL]);
    run(&fresh, &host, &["fetch"]);
    for (sandbox, name) in [(&mine, "one"), (&yours, "other")] {
        let there = fresh.ok(&["rev-parse", &format!("origin/{name}")]);
        assert_eq!(there, sandbox.ok(&["rev-parse", name]));
    }
    let bundles = keys(&host).matches("bundles/NUMBER.tract").count();
    assert_eq!(bundles, 3, "what was put in vain is gone");
}

#[test]
fn what_an_aborted_push_left_goes_with_the_next() {
    let host = Host::start();
    let (mine, _) = two(&host);
    let stale = format!("team/tract/bundles/{}.tract", "0".repeat(32));
    let strange = "team/tract/bundles/notes.txt";
    host.put(&stale, b"what a push that was killed has put");
    host.put(strange, b"somebody else's");
    for broken in [Broken::Answers(503, "SlowDown"), Broken::Not] {
        host.is(broken);
        mine.ok(&["commit", "-r", "user", "-m", "One more."]);
        let pushed = run(&mine, &host, &["push"]);
        let went = broken == Broken::Not;
        assert_eq!(pushed.contains("grown    "), went, "{pushed}");
        assert_eq!(host.keys().contains(&stale), !went, "{broken:?}");
        assert!(host.keys().iter().any(|key| key == strange));
    }
    let fresh = Sandbox::empty();
    let cloned = run(&fresh, &host, &["clone", URL]);
    assert!(cloned.contains("Made a repository in tract"), "{cloned}");
}

#[test]
fn forks_take_the_room_of_one_and_many_pushes_leave_few_objects() {
    let host = Host::start();
    let mine = Sandbox::new();
    mine.ok(&["remote", "add", "origin", URL]);
    crate::transfer::people_and_machines::talk(&mine, 300);
    let room = || {
        let keys = host.keys().into_iter();
        keys.map(|key| host.text(&key).len()).sum::<usize>()
    };
    run(&mine, &host, &["push"]);
    let one = room();
    crate::transfer::people_and_machines::fork_and_push(&mine, &|arguments| {
        run(&mine, &host, arguments)
    });
    let all = room();
    assert!(all * 10 <= one * 12, "{all} for {one}");
    for at in 0..40 {
        mine.ok(&["commit", "-r", "user", "-m", &format!("and {at}")]);
        run(&mine, &host, &["push"]);
    }
    let keys = host.keys();
    assert!(keys.len() <= 8, "{keys:?}");
    let yours = Sandbox::new();
    yours.ok(&["remote", "add", "origin", URL]);
    run(&yours, &host, &["pull"]);
    for name in ["main", "fork-0", "fork-9"] {
        let seen = yours.ok(&["rev-parse", &format!("origin/{name}")]);
        assert_eq!(seen, mine.ok(&["rev-parse", name]));
    }
    assert_eq!(yours.ok(&["compile"]), mine.ok(&["compile"]));
    assert!(yours.tract(&["fsck"]).contains("no damage"));
}

#[test]
fn a_bucket_of_another_layout_is_refused_and_stays_as_it_is() {
    let host = Host::start();
    let mine = mine();
    mine.ok(&["remote", "add", "origin", URL]);
    host.put("team/tract/tract.json", b"{\"format\":1}");
    let before = host.keys();
    for what in ["push", "pull"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(run(&mine, &host, &[what, "origin"]), @r"
            exit code: 1
            --- stderr
            error: s3://talks/team/tract: it has layout 1; this tract knows 2 alone
            hint: under another prefix the first push makes a new place
            ");
        }
    }
    assert_eq!(host.keys(), before);
}

#[test]
fn what_cannot_be_taken_away_is_said() {
    let host = Host::start();
    let (mine, _) = two(&host);
    mine.ok(&["commit", "-r", "user", "-m", "One more."]);
    run(&mine, &host, &["push"]);
    host.is(Broken::KeepsAll);
    insta::assert_snapshot!(run(&mine, &host, &["push", "origin", "--delete", "main"]), @r"
    --- stderr
    warning: what no ref names any more is still in the bucket: these credentials do not allow it (AccessDenied)
      deleted  7293384  main
    ");
}

#[test]
fn a_bucket_that_keeps_to_no_conditions_is_refused_before_anything_is_sent() {
    let refused = |broken: Broken| {
        let (host, mine) = (Host::start(), mine());
        host.is(broken);
        let before = dump(&mine);
        let said = run(&mine, &host, &["push", URL]);
        assert_eq!(host.keys(), [""; 0]);
        let is_trial = |asked: &String| !asked.starts_with("PUT") || asked.ends_with("/tract.json");
        assert!(host.asked().iter().all(is_trial));
        assert_eq!(dump(&mine), before);
        said
    };
    let said = refused(Broken::IgnoresConditions);
    insta::assert_snapshot!(said, @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: the bucket does not keep to conditions (If-None-Match, If-Match), so that two pushes could overwrite each other
    hint: nothing was sent; S3 itself keeps to them, and newer versions of many that speak like it
    ");
    assert_eq!(refused(Broken::IgnoresTags), said);
    assert_eq!(refused(Broken::KnowsNoConditions), said);
    // One that was sound when the place was made, too.
    let host = Host::start();
    let (mine, _) = two(&host);
    let before = host.keys();
    for broken in [
        Broken::IgnoresConditions,
        Broken::IgnoresTags,
        Broken::KnowsNoConditions,
    ] {
        host.is(broken);
        mine.ok(&["commit", "-r", "user", "-m", "One more."]);
        assert_eq!(run(&mine, &host, &["push"]), said);
        assert_eq!(
            run(&mine, &host, &["push", "origin", "--delete", "main"]),
            said
        );
        assert_eq!(host.keys(), before);
    }
}

#[test]
fn what_is_not_as_it_was_put_is_refused() {
    let host = Host::start();
    let (mine, yours) = two(&host);
    mine.ok(&["commit", "-r", "user", "-m", "One more."]);
    run(&mine, &host, &["push"]);
    let before = dump(&yours);
    host.is(Broken::Flips);
    insta::assert_snapshot!(run(&yours, &host, &["pull"]), @r"
    exit code: 3
    --- stderr
    error: the bundle is not whole: it is not as it was written
    hint: nothing was written; tract bundle makes one where the commits are
    ");
    insta::assert_snapshot!(run(&yours, &host, &["clone", URL, "new"]), @r"
    exit code: 3
    --- stderr
    error: the bundle is not whole: it is not as it was written
    hint: nothing was written; tract bundle makes one where the commits are
    ");
    assert!(!yours.work().join("new").exists());
    host.is(Broken::CutsBundles);
    insta::assert_snapshot!(run(&yours, &host, &["pull"]), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: it broke off: Content-Range header not present in partial response
    hint: what has arrived is kept; the same command continues from there
    ");
    host.is(Broken::Not);
    let index = "team/tract/index.json";
    let keys = host.keys();
    let said = host.text(index);
    host.put(
        index,
        said.replace("refs/heads/main", "refs/heads/x\\u001b[2J")
            .as_bytes(),
    );
    insta::assert_snapshot!(run(&yours, &host, &["pull"]), @r"
    --- stderr
    Nothing new
    warning: refs/heads/x␛[2J is left out there: 'refs/heads/x␛[2J' is not a valid name: it holds a space, a control character or one of ~^:?*[\#
    ");
    host.put(index, said.as_bytes());
    let is_bundle = |key: &&String| key.starts_with("team/tract/bundles/") && key.len() == 57;
    keys.iter().filter(is_bundle).for_each(|key| host.take(key));
    insta::assert_snapshot!(run(&yours, &host, &["pull"]), @r"
    exit code: 1
    --- stderr
    error: the other side has lost a bundle
    hint: what has arrived is kept; the same command continues from there
    ");
    assert_eq!(dump(&yours), before);
    assert!(yours.tract(&["fsck"]).contains("no damage"));
}

#[test]
fn what_is_no_bucket_is_one_error_and_one_hint() {
    let (host, mine) = (Host::start(), mine());
    let before = dump(&mine);
    let push = |more: &[(&str, &str)], url: &str| {
        let said = mine.told(&output(&mine, &host, more, &["push", url]));
        let port = &host.variables()[0].1[17..];
        said.replace(port, "PORT")
    };
    let answered = |status, code| {
        host.is(Broken::Answers(status, code));
        let said = push(&[], URL);
        host.is(Broken::Not);
        said
    };
    insta::assert_snapshot!(push(&[], "s3://nobodys/tract"), @r"
    exit code: 1
    --- stderr
    error: s3://nobodys/tract: there is no such bucket
    hint: make it first, because tract does not; AWS_ENDPOINT_URL and AWS_REGION say where buckets are
    ");
    insta::assert_snapshot!(push(&[("AWS_ACCESS_KEY_ID", "nobody")], URL), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: these credentials do not allow it (InvalidAccessKeyId)
    hint: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY say who you are; they must be allowed to list, get, put and delete
    ");
    assert_eq!(answered(400, "ExpiredToken"), answered(403, "ExpiredToken"));
    insta::assert_snapshot!(push(&[("AWS_SECRET_ACCESS_KEY", "")], URL), @r"
    exit code: 2
    --- stderr
    error: the AWS_ variables do not fit: Missing SecretAccessKey
    hint: docs/sync.md says which variables there are
    ");
    insta::assert_snapshot!(push(&[("AWS_ALLOW_HTTP", "")], URL), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: with http:// everybody on the way can read it
    hint: AWS_ALLOW_HTTP=true allows it; https:// is better
    ");
    insta::assert_snapshot!(push(&[("AWS_ALLOW_HTTP", "perhaps")], URL), @r#"
    exit code: 2
    --- stderr
    error: the AWS_ variables do not fit: failed to parse "perhaps" as boolean
    hint: docs/sync.md says which variables there are
    "#);
    insta::assert_snapshot!(push(&[("AWS_ENDPOINT_URL", "nowhere")], URL), @r"
    exit code: 2
    --- stderr
    error: AWS_ENDPOINT_URL: 'nowhere' is not a URL
    hint: docs/sync.md says which variables there are
    ");
    insta::assert_snapshot!(push(&[("AWS_SESSION_TOKEN", "a\u{1b}b")], URL), @r"
    exit code: 2
    --- stderr
    error: AWS_SESSION_TOKEN has a character that no such value has
    hint: docs/sync.md says which variables there are
    ");
    for (variable, value) in [
        ("AWS_ENDPOINT_URL_S3", "http://[::1"),
        ("AWS_ENDPOINT_URL", "ftp://example.org"),
        ("AWS_REGION", "eu north"),
        ("AWS_ACCESS_KEY_ID", "日本"),
        ("AWS_SECRET_ACCESS_KEY", "a\nb"),
    ] {
        let said = push(&[(variable, value)], URL);
        assert!(
            said.starts_with("exit code: 2\n--- stderr\nerror: AWS_"),
            "{said}"
        );
    }
    insta::assert_snapshot!(answered(403, "RequestTimeTooSkewed"), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: this machine's clock differs too much from the bucket's
    hint: set the clock, then try again
    ");
    insta::assert_snapshot!(answered(403, "AccessDenied"), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: these credentials do not allow it (AccessDenied)
    hint: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY say who you are; they must be allowed to list, get, put and delete
    ");
    insta::assert_snapshot!(answered(301, "PermanentRedirect"), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: the bucket is in another region
    hint: AWS_REGION names it
    ");
    insta::assert_snapshot!(answered(404, "NoSuchKey"), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: nothing of that name is there, or what answers does not speak S3
    hint: AWS_ENDPOINT_URL and AWS_REGION say where buckets are
    ");
    insta::assert_snapshot!(answered(503, "SlowDown"), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: it answers 503 Service Unavailable (SlowDown)
    hint: what has arrived is kept; the same command continues from there
    ");
    insta::assert_snapshot!(answered(403, "\u{1b}[2J\nerror: ha"), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: these credentials do not allow it (␛[2J␊error: ha)
    hint: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY say who you are; they must be allowed to list, get, put and delete
    ");
    host.is(Broken::IsNone);
    insta::assert_snapshot!(push(&[], URL), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: what answers there does not speak S3
    hint: AWS_ENDPOINT_URL and AWS_REGION say where buckets are
    ");
    host.is(Broken::CutsBundles);
    insta::assert_snapshot!(push(&[], URL), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: it broke off: connection closed before message completed
    hint: what has arrived is kept; the same command continues from there
    ");
    host.is(Broken::Not);
    // What had arrived is taken up again.
    assert_eq!(dump(&mine), before);
    assert!(push(&[], URL).contains("Sent 7 commits"));
}

#[test]
fn a_bucket_that_is_not_there_is_not_waited_for() {
    let (host, mine) = (Host::start(), mine());
    let nobody = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = nobody.local_addr().expect("it has one").port().to_string();
    let address = format!("http://127.0.0.1:{port}");
    let push = |more: &[(&str, &str)]| {
        let since = Instant::now();
        let said = mine.told(&output(&mine, &host, more, &["push", URL]));
        let took = since.elapsed();
        assert!(took < Duration::from_secs(40), "{took:?}");
        said.replace(&port, "PORT")
    };
    // It takes calls, and never answers.
    insta::assert_snapshot!(push(&[("AWS_ENDPOINT_URL", &address)]), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: it broke off: nothing came for too long
    hint: what has arrived is kept; the same command continues from there
    ");
    drop(nobody);
    insta::assert_snapshot!(push(&[("AWS_ENDPOINT_URL", &address)]), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: it cannot be reached: Connection refused
    hint: AWS_ENDPOINT_URL and AWS_REGION say where buckets are
    ");
    let bare = [
        ("AWS_ACCESS_KEY_ID", ""),
        ("AWS_SECRET_ACCESS_KEY", ""),
        ("AWS_METADATA_ENDPOINT", &address),
    ];
    insta::assert_snapshot!(push(&bare), @r"
    exit code: 1
    --- stderr
    error: s3://talks/team/tract: no credentials were given, and this machine has none of its own
    hint: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY say who you are; they must be allowed to list, get, put and delete
    ");
    let cloned = output(
        &mine,
        &host,
        &[("AWS_ENDPOINT_URL", &address)],
        &["clone", URL, "new"],
    );
    assert_eq!(cloned.status.code(), Some(1));
    assert!(!mine.work().join("new").exists());
}
