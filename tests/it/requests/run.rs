//! Runs from one exact context, by commands.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// A question, its answer, and a second question with its answer.
fn talk() -> Sandbox {
    Sandbox::with_messages(&[
        ("user", "Name a river."),
        ("assistant", "The Rhine."),
        ("user", "And a longer one?"),
        ("assistant", "The Danube."),
    ])
}

/// Waits until something is so.
pub fn until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends what Ctrl+C sends.
pub fn interrupt(pid: u32) {
    let done = Command::new("kill")
        .args(["-INT", &pid.to_string()])
        .status();
    assert!(done.expect("kill runs").success());
}

/// Whether a process is there no more.
pub fn is_gone(pid: &str) -> bool {
    let done = Command::new("kill").args(["-0", pid]).output();
    !done.expect("kill runs").status.success()
}

/// Runs git in a directory, at an hour of the day on which the sandbox's clock stands at noon.
fn git(directory: &Path, hour: u8, words: &[&str]) -> String {
    let time = format!("2026-03-14T{hour:02}:00:00Z");
    let done = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(["-c", "user.name=Mara", "-c", "user.email=mara@example.org"])
        .args(words)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", &time)
        .env("GIT_COMMITTER_DATE", &time)
        .output()
        .expect("git runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{words:?}: {said}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// A talk in a git repository, in which `state` is old from one hour on and new from another.
fn in_git(old: u8, new: u8) -> Sandbox {
    let sandbox = talk();
    let work = sandbox.work();
    git(&work, old, &["init", "-q"]);
    sandbox.write("state", "old\n");
    git(&work, old, &["add", "state"]);
    git(&work, old, &["commit", "-qm", "one"]);
    sandbox.write("state", "new\n");
    git(&work, new, &["commit", "-qam", "two"]);
    sandbox
}

/// A run in a worktree that says what `state` is there.
fn looks(sandbox: &Sandbox, name: &str) -> String {
    sandbox.tract(&["run", "--name", name, "--worktree", "--exec", "cat state"])
}

#[test]
fn each_run_has_a_branch_and_a_verdict() {
    let sandbox = talk();
    let agent = "cat > request; n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; echo \"River $n.\"";
    let judge = "cat > judged; echo $BRANCH >> who; case $BRANCH in */1) exit 0;; */2) exit 1;; *) exit 125;; esac";
    let run = [
        "run", ":3", "-n", "3", "--name", "rivers", "--exec", agent, "--judge", judge,
    ];
    insta::assert_snapshot!(sandbox.tract(&run), @r"
    run           outcome  cost  messages  tools  first difference
    run/rivers/1  good                  1         :4 assistant River 1.
    run/rivers/2  bad                   1         :4 assistant River 2.
    run/rivers/3  unknown               1         :4 assistant River 3.
    --- stderr
    rivers/1: begun
    rivers/1: done
    rivers/2: begun
    rivers/2: done
    rivers/3: begun
    rivers/3: done
    1 bad, 1 good, 1 unknown
    hint: tract diff main run/rivers/1
    ");
    assert_eq!(
        std::fs::read_to_string(sandbox.work().join("request"))
            .expect("read")
            .trim(),
        sandbox.ok(&["compile", ":3"]).trim()
    );
    for number in 1..=3 {
        let text = sandbox.ok(&[
            "compile",
            &format!("run/rivers/{number}"),
            "--format",
            "text",
        ]);
        assert!(text.contains("And a longer one?") && text.contains(&format!("River {number}.")));
        assert!(!text.contains("Danube"));
    }
    sandbox.ok(&["fsck"]);
    // Those that are there are not begun again.
    insta::assert_snapshot!(sandbox.tract(&run), @r"
    run           outcome  cost  messages  tools  first difference
    run/rivers/1  good                  1         :4 assistant River 1.
    run/rivers/2  bad                   1         :4 assistant River 2.
    run/rivers/3  unknown               1         :4 assistant River 3.
    --- stderr
    1 bad, 1 good, 1 unknown
    hint: tract diff main run/rivers/1
    ");
    assert_eq!(
        std::fs::read_to_string(sandbox.work().join("n"))
            .expect("read")
            .trim(),
        "3"
    );
    // They are one command, so one undo takes them back, and what was judged.
    let branches = sandbox.ok(&["branch"]);
    let told = sandbox.tract(&["undo"]);
    assert!(
        told.contains("run :3 -n 3 --name rivers, 6 operations"),
        "{told}"
    );
    assert!(!sandbox.ok(&["branch"]).contains("rivers"));
    sandbox.ok(&["redo"]);
    assert_eq!(sandbox.ok(&["branch"]), branches);
}

#[test]
fn the_same_answer_does_not_differ_from_what_was_recorded() {
    let sandbox = talk();
    let told = sandbox.tract(&["run", ":3", "--name", "same", "--exec", "echo The Danube."]);
    insta::assert_snapshot!(told, @r"
    run         outcome   cost  messages  tools  first difference
    run/same/1  answered               1         none
    --- stderr
    same/1: begun
    same/1: done
    1 answered
    hint: tract diff main run/same/1
    ");
}

#[test]
fn a_prompt_is_asked_and_messages_with_tools_are_taken_in() {
    let sandbox = talk();
    let answer = r#"[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"maps"},{"role":"assistant","content":"The Elbe."}]"#;
    sandbox.write("answer", answer);
    let run = [
        "run",
        "-n",
        "2",
        "-j",
        "2",
        "--name",
        "asked",
        "--exec",
        "cat answer",
        "--",
        "A third?",
    ];
    insta::assert_snapshot!(sandbox.tract(&run).lines().take(3).collect::<Vec<_>>().join("\n"), @r"
    run          outcome   cost  messages  tools  first difference
    run/asked/1  answered               3  ls
    run/asked/2  answered               3  ls
    ");
    let text = sandbox.ok(&["compile", "run/asked/2", "--format", "text"]);
    assert!(text.contains("A third?") && text.contains("maps") && text.contains("The Elbe."));
    let other = sandbox.tract(&[
        "run",
        "--name",
        "asked",
        "--exec",
        "cat answer",
        "--",
        "Another?",
    ]);
    insta::assert_snapshot!(other, @r"
    exit code: 1
    --- stderr
    error: run/asked/1 does not go on from b87f5b4
    hint: another --name begins other runs
    ");
}

#[test]
fn an_agent_that_gives_nothing_is_told_and_leaves_nothing() {
    let sandbox = talk();
    let of = |timeout: &str, exec: &str| {
        let told = sandbox.tract(&[
            "-q",
            "run",
            "--timeout",
            timeout,
            "--name",
            "none",
            "--exec",
            exec,
        ]);
        told.lines()
            .filter(|line| line.starts_with("error") || line.starts_with("hint"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    insta::assert_snapshot!(of("1s", "sleep 48"), @r"
    error: no run gave an answer: it took longer than 1 s
    hint: nothing was committed; --timeout says how long a run may take
    ");
    insta::assert_snapshot!(of("60s", "yes"), @r"
    error: no run gave an answer: it printed more than 16 MiB
    hint: nothing was committed; --timeout says how long a run may take
    ");
    insta::assert_snapshot!(of("60s", "true"), @r"
    error: no run gave an answer: it ended well and said nothing
    hint: nothing was committed; --timeout says how long a run may take
    ");
    insta::assert_snapshot!(of("60s", "echo why >&2; exit 3"), @r"
    error: no run gave an answer: it ended with exit code 3: why
    hint: nothing was committed; --timeout says how long a run may take
    ");
    insta::assert_snapshot!(sandbox.tract(&["run"]), @r"
    exit code: 2
    --- stderr
    error: who goes on?
    hint: --in claude-code, --in codex, or --exec CMD
    ");
    insta::assert_snapshot!(sandbox.tract(&["run", "--in", "codex", "--name", "a b"]), @r"
    exit code: 2
    --- stderr
    error: 'run/a b/1' is not a valid name: it holds a space, a control character or one of ~^:?*[\#
    hint: such as fix-parser or ideas/one
    ");
    insta::assert_snapshot!(sandbox.tract(&["run", "--in", "aider", "--", "Go on."]), @r"
    exit code: 2
    --- stderr
    error: tract cannot have aider answer a prompt
    hint: --in claude-code or --in codex
    ");
    assert_eq!(sandbox.ok(&["branch"]).lines().count(), 1);
}

#[test]
fn money_ends_what_is_begun() {
    let sandbox = talk();
    let answer = r#"{"id":"m","type":"message","role":"assistant","model":"claude-opus-4-1","content":[{"type":"text","text":"The Elbe."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":100000,"output_tokens":1000}}"#;
    sandbox.write("answer", answer);
    let run = [
        "run",
        "-n",
        "5",
        "--max-cost",
        "2",
        "--name",
        "dear",
        "--exec",
        "cat answer",
    ];
    insta::assert_snapshot!(sandbox.tract(&run), @r"
    run         outcome     cost  messages  tools  first difference
    run/dear/1  answered   $1.57         1
    run/dear/2  answered   $1.57         1
    run/dear/3  not begun
    run/dear/4  not begun
    run/dear/5  not begun
    --- stderr
    dear/1: begun
    dear/1: done
    dear/2: begun
    dear/2: done
    2 answered; $3.15
    warning: no more runs were begun: they have cost $2.00 or more
    ");
    let none = [
        "run",
        "-n",
        "2",
        "--max-cost",
        "2",
        "--name",
        "free",
        "--exec",
        "echo yes",
    ];
    assert!(
        sandbox
            .tract(&none)
            .contains("what these runs cost is not known")
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_series_goes_on_where_it_was() {
    let sandbox = talk();
    let agent =
        "echo $$ >> pids; [ -e go ] || [ $(wc -l < pids) = 1 ] || exec sleep 49; echo The Elbe.";
    let run = ["run", "-n", "3", "--name", "long", "--exec", agent];
    let mut child = sandbox
        .command(&run)
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it runs");
    let pids = || std::fs::read_to_string(sandbox.work().join("pids")).unwrap_or_default();
    until(|| pids().lines().count() == 2);
    interrupt(child.id());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let pids = pids();
    until(|| pids.lines().all(is_gone));
    assert_eq!(sandbox.ok(&["branch"]).matches("run/long/").count(), 1);
    sandbox.write("go", "");
    sandbox.ok(&run);
    assert_eq!(sandbox.ok(&["branch"]).matches("run/long/").count(), 3);
    let begun = std::fs::read_to_string(sandbox.work().join("pids")).expect("read");
    assert_eq!(begun.lines().count(), 4, "the first was not begun again");
}

#[test]
fn a_worktree_is_of_the_commit_that_was_checked_out_then() {
    if crate::sandbox::is_left_out("a directory beside the file") {
        return;
    }
    let sandbox = in_git(11, 13);
    let work = sandbox.work();
    let told = looks(&sandbox, "then");
    let first = git(&work, 13, &["rev-parse", "--short=7", "HEAD~1"]);
    let said = format!("Worktrees of {}, checked out then", first.trim());
    assert!(told.contains(&said), "{told}");
    let text = sandbox.ok(&["compile", "run/then/1", "--format", "text"]);
    assert!(text.ends_with("old\n"), "{text}");
    assert_eq!(git(&work, 13, &["worktree", "list"]).lines().count(), 2);
}

#[test]
fn a_session_may_say_at_which_commit_it_began() {
    if crate::sandbox::is_left_out("a directory beside the file") {
        return;
    }
    let sandbox = in_git(13, 14);
    let first = git(&sandbox.work(), 14, &["rev-parse", "HEAD~1"]);
    let id = "22222222-2222-7222-8222-222222222222";
    let time = "2026-03-01T10:00:00.000Z";
    let meta = format!(
        r#"{{"timestamp":"{time}","type":"session_meta","payload":{{"id":"{id}","timestamp":"{time}","cwd":"{}","originator":"codex-tui","cli_version":"0.169.0","source":"cli","git":{{"commit_hash":"{}","branch":"main"}}}}}}"#,
        sandbox.work().display(),
        first.trim()
    );
    let said = format!(
        r#"{{"timestamp":"{time}","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"Look at it."}}]}}}}"#
    );
    sandbox.write(
        &format!("rollout-2026-03-01T10-00-00-{id}.jsonl"),
        format!("{meta}\n{said}\n"),
    );
    sandbox.ok(&[
        "import",
        &format!("rollout-2026-03-01T10-00-00-{id}.jsonl"),
        "--as",
        "codex",
    ]);
    let run = [
        "run",
        "codex",
        "--name",
        "begun",
        "--worktree",
        "--exec",
        "cat state",
    ];
    let told = sandbox.tract(&run);
    assert!(told.contains("at which the session began"), "{told}");
    let text = sandbox.ok(&["compile", "run/begun/1", "--format", "text"]);
    assert!(text.ends_with("old\n"), "{text}");
}

#[test]
fn a_worktree_that_is_there_stays_until_it_is_cleaned_away() {
    if crate::sandbox::is_left_out("a directory beside the file") {
        return;
    }
    // Git's log does not go back to when the message came.
    let sandbox = in_git(13, 14);
    let work = sandbox.work();
    let told = looks(&sandbox, "now");
    assert!(told.contains("what was then is not known"), "{told}");
    let text = sandbox.ok(&["compile", "run/now/1", "--format", "text"]);
    assert!(text.ends_with("new\n"), "{text}");
    sandbox.ok(&["branch", "-d", "run/now/1"]);
    let head = git(&work, 14, &["rev-parse", "--short=7", "HEAD"]);
    let again = looks(&sandbox, "now").replace(head.trim(), "[HEAD]");
    insta::assert_snapshot!(again, @r"
    exit code: 1
    --- stderr
    Worktrees of [HEAD], checked out now: what was then is not known
    error: [SANDBOX]/work/.tract/runs/now/1 is there already
    hint: tract run --clean now removes the directories of these runs, and no branch
    ");
    insta::assert_snapshot!(sandbox.tract(&["run", "--clean", "now"]), @r"
    --- stderr
    Removed 1 directory; branches stay
    ");
    assert_eq!(git(&work, 14, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&work, 14, &["status", "--porcelain"]), "");
}

#[test]
fn a_worktree_needs_git() {
    let sandbox = talk();
    let told = sandbox.tract(&["run", "--worktree", "--exec", "echo yes"]);
    insta::assert_snapshot!(told, @r"
    exit code: 1
    --- stderr
    error: [SANDBOX]/work is in no git repository with a commit
    hint: without --worktree each run has an empty directory
    ");
}

#[test]
fn work_that_is_nowhere_else_is_not_cleaned_away_unasked() {
    if crate::sandbox::is_left_out("a directory beside the file") {
        return;
    }
    let sandbox = in_git(13, 14);
    let works = |name: &str, exec: &str| {
        let run = ["run", "HEAD", "--name", name, "--worktree", "--exec", exec];
        sandbox.tract(&run)
    };
    works("new", "cat > /dev/null; echo work > new.txt; echo done");
    insta::assert_snapshot!(sandbox.tract(&["run", "--clean", "new"]), @r"
    exit code: 1
    --- stderr
    error: 1 file would be lost for good, in .tract/runs/new/1
    hint: tract run --clean new --force removes them
    ");
    let place = sandbox.work().join(".tract/runs/new/1/new.txt");
    assert!(place.exists());
    insta::assert_snapshot!(sandbox.tract(&["run", "--clean", "new", "--force"]), @r"
    --- stderr
    Removed 1 directory; branches stay
    ");
    assert!(!place.exists());
    // What was committed there, on no branch, is work, too.
    let commit = "cat > /dev/null; echo work > new.txt; git add new.txt; \
        git -c user.name=a -c user.email=a@b commit -q -m work; echo done";
    works("kept", commit);
    let said = sandbox.tract(&["run", "--clean", "kept"]);
    assert!(said.contains("1 commit would be lost for good"), "{said}");
    works("none", "cat > /dev/null; echo done");
    sandbox.ok(&["run", "--clean", "none"]);
}

/// What an agent had done before it failed is as good as lost if nobody hears where it is.
#[test]
fn work_of_a_run_that_failed_is_kept_and_said() {
    if crate::sandbox::is_left_out("a directory beside the file") {
        return;
    }
    let sandbox = in_git(13, 14);
    let works = |name: &str, exec: &str| {
        let run = ["run", "HEAD", "--name", name, "--worktree", "--exec", exec];
        sandbox.tract(&run)
    };
    let fails = "cat > /dev/null; echo work > new.txt; exit 3";
    let said = works("w", fails);
    assert!(
        said.contains("note: 1 file kept in .tract/runs/w/1-failed-1\n"),
        "{said}"
    );
    // Its number is free for the next one, which has work of its own.
    let said = works("w", fails);
    assert!(
        said.contains("kept in .tract/runs/w/1-failed-2\n"),
        "{said}"
    );
    let kept = sandbox.work().join(".tract/runs/w/1-failed-1/new.txt");
    assert_eq!(std::fs::read_to_string(kept).expect("kept"), "work\n");
    let said = works("w", "cat > /dev/null; exit 3");
    assert!(!said.contains("kept in"), "{said}");
    assert!(!sandbox.work().join(".tract/runs/w/1").exists());
    let said = sandbox.tract(&["run", "--clean", "w"]);
    assert!(said.contains("2 files would be lost for good"), "{said}");
    sandbox.ok(&["run", "--clean", "w", "--force"]);
    let trees = git(&sandbox.work(), 14, &["worktree", "list"]);
    assert_eq!(trees.lines().count(), 1, "{trees}");
}

/// Whoever kills a run ends what it has started.
#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_run_started_ends() {
    let sandbox = talk();
    let seconds = format!("{}", 200_000 + std::process::id());
    let exec = format!("sleep {seconds} & sleep {seconds}");
    let running = || {
        let all = std::fs::read_dir("/proc").expect("it is there");
        let lines = all.flatten().filter_map(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            let words = String::from_utf8_lossy(&line).replace('\0', " ");
            words.trim().eq(&format!("sleep {seconds}")).then_some(())
        });
        lines.count()
    };
    let until = |wanted: usize| {
        let since = Instant::now();
        while running() != wanted {
            assert!(
                since.elapsed() < Duration::from_secs(30),
                "{} run",
                running()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let mut child = sandbox
        .command(&["run", "HEAD", "--name", "long", "--exec", &exec])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it runs");
    until(2);
    child.kill().expect("killed");
    child.wait().expect("gone");
    until(0);
}
