//! A repository of another user is not opened, and its commands are not run.
//!
//! Giving files to another user takes root; elsewhere these tests say so and pass. The rule itself
//! is tested everywhere, in `repo/visitor.rs`.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};

/// Nobody that this machine knows.
const STRANGER: u32 = 64_321;

/// Whether files can be given away; says so where not.
fn may_give_away(sandbox: &Sandbox) -> bool {
    let root = fs::metadata(sandbox.work()).expect("it is there").uid() == 0;
    if !root {
        eprintln!("ignored: giving files to another user takes root");
    }
    root
}

fn give_away(path: &Path) {
    chown(path, Some(STRANGER), None).expect("root may");
    if path.is_dir() {
        for inside in fs::read_dir(path).expect("it can be read") {
            give_away(&inside.expect("it can be read").path());
        }
    }
}

/// A stranger's repository here, whose budget asks for a command that leaves a trace.
fn strangers() -> Option<(Sandbox, PathBuf)> {
    let sandbox = Sandbox::with_messages(&[("user", "the task"), ("assistant", "done")]);
    let trace = sandbox.work().join("trace");
    let command = format!("compact:touch {}; echo summary", trace.display());
    sandbox.ok(&["config", "budget.max", "20"]);
    sandbox.ok(&["config", "budget.action", &command]);
    may_give_away(&sandbox).then(|| {
        give_away(&sandbox.work().join(".tract"));
        (sandbox, trace)
    })
}

const COMMIT: [&str; 5] = ["commit", "-r", "user", "-m", "and now for something else"];

#[test]
fn a_strangers_repository_is_refused_and_its_command_is_not_run() {
    if is_left_out(THE_FILE) {
        return;
    }
    let Some((sandbox, trace)) = strangers() else {
        return;
    };
    insta::assert_snapshot!(sandbox.tract(&COMMIT), @r"
    exit code: 1
    --- stderr
    error: [SANDBOX]/work/.tract belongs to another user (uid 64321)
    hint: if you trust it: tract config --global safe.directory [SANDBOX]/work; for one run: TRACT_SAFE_DIRECTORY=[SANDBOX]/work
    ");
    assert!(!trace.exists(), "a stranger's command was run");
}

#[test]
fn no_command_opens_a_strangers_repository_however_it_is_named() {
    if is_left_out(THE_FILE) {
        return;
    }
    let Some((sandbox, _)) = strangers() else {
        return;
    };
    let refusal = sandbox.tract(&["status"]);
    assert!(refusal.contains("belongs to another user"), "{refusal}");
    let session = sandbox.write("session.json", r#"[{"role":"user","content":"hi"}]"#);
    let session = session.to_str().expect("UTF-8").to_owned();
    for command in [
        &[][..],
        &["log"],
        &["show"],
        &["compile"],
        &["export", "--format", "openai"],
        &["diff"],
        &["find", "-F", "task"],
        &["branch"],
        &["reflog"],
        &["rev-parse", "HEAD"],
        &["config"],
        &["config", "budget.max"],
        &["undo"],
        &["truncate", "--keep", "1"],
        &["init"],
        &["init", "."],
        &["import", &session],
        &["--repo", ".", "log"],
        &["--repo", "./.tract", "log"],
    ] {
        let said = sandbox
            .tract(command)
            .replace("./.tract", "[SANDBOX]/work/.tract");
        assert_eq!(said, refusal, "{command:?}");
    }
    let here = sandbox.work();
    let below = here.join("a/b");
    fs::create_dir_all(&below).expect("made");
    let said = |change: &dyn Fn(&mut std::process::Command)| {
        let mut command = sandbox.command(&["log"]);
        change(&mut command);
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let of = |text: String| text.replace("\n", "|");
    let wanted = of(said(&|_| {}));
    assert_eq!(of(said(&|command| _ = command.current_dir(&below))), wanted);
    assert_eq!(
        of(said(&|command| _ = command.env("TRACT_REPO", &here))),
        wanted
    );
    // The database alone is enough, and so is the directory.
    chown(here.join(".tract"), Some(0), None).expect("root may");
    assert!(said(&|_| {}).contains("belongs to another user"));
    chown(here.join(".tract/tract.db"), Some(0), None).expect("root may");
    sandbox.ok(&["log"]);
    chown(here.join(".tract"), Some(STRANGER), None).expect("root may");
    assert!(said(&|_| {}).contains("belongs to another user"));
}

#[test]
fn what_a_user_calls_safe_is_opened_and_its_command_is_still_not_run() {
    if is_left_out(THE_FILE) {
        return;
    }
    let Some((sandbox, trace)) = strangers() else {
        return;
    };
    let here = sandbox.work().to_str().expect("UTF-8").to_owned();
    let once = |safe: &str| {
        let mut command = sandbox.command(&["log", "--oneline"]);
        let output = command.env("TRACT_SAFE_DIRECTORY", safe).output();
        output.expect("it runs").status.code()
    };
    assert_eq!(once(&here), Some(0));
    assert_eq!(once("*"), Some(0));
    assert_eq!(once("/nowhere"), Some(1));
    assert_eq!(once("."), Some(1), "only a whole path says which");
    // What lies in the repository has no say.
    insta::assert_snapshot!(sandbox.tract(&["config", "safe.directory", "*"]), @r"
    exit code: 2
    --- stderr
    error: safe.directory is a setting of yours, not of the repository
    hint: tract config --global safe.directory …
    ");

    insta::assert_snapshot!(sandbox.tract(&["config", "--global", "safe.directory", &here]), @"");
    insta::assert_snapshot!(sandbox.tract(&["config", "--global"]), @"safe.directory = [SANDBOX]/work");
    let kept = fs::read_to_string(sandbox.home().join(".config/tract/config"));
    insta::assert_snapshot!(kept.expect("written").replace(&here, "[HERE]"), @"safe.directory = [HERE]");
    insta::assert_snapshot!(sandbox.tract(&COMMIT), @r"
    9c5c397 user 9 tokens
    --- stderr
    warning: 23 tokens, over the budget of 20
    hint: tract compact puts a summary in place of what is old
    note: budget.action names a command of another user's; it was not run
    ");
    assert!(!trace.exists(), "a stranger's command was run");
    // What is typed is one's own.
    sandbox.ok(&["compact", "--exec", "echo summary"]);

    sandbox.ok(&["config", "--global", "--unset", "safe.directory"]);
    assert!(sandbox.tract(&["log"]).contains("belongs to another user"));
}

#[test]
fn root_on_behalf_of_a_user_may_open_what_is_that_users() {
    if is_left_out(THE_FILE) {
        return;
    }
    let Some((sandbox, _)) = strangers() else {
        return;
    };
    let asked_by = |uid: &str| {
        let mut command = sandbox.command(&["log", "--oneline"]);
        let output = command.env("SUDO_UID", uid).output();
        output.expect("it runs").status.code()
    };
    assert_eq!(asked_by(&STRANGER.to_string()), Some(0));
    for other in ["64322", "", "-1", "64321x"] {
        assert_eq!(asked_by(other), Some(1), "{other}");
    }
}

#[test]
fn a_repository_that_everybody_may_write_to_is_refused_and_its_command_is_not_run() {
    use std::os::unix::fs::PermissionsExt as _;
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "the task"), ("assistant", "done")]);
    let trace = sandbox.work().join("trace");
    let command = format!("compact:touch {}; echo summary", trace.display());
    sandbox.ok(&["config", "budget.max", "20"]);
    sandbox.ok(&["config", "budget.action", &command]);
    let directory = sandbox.work().join(".tract");
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("allowed");
    };
    allow(&directory, 0o777);
    insta::assert_snapshot!(sandbox.tract(&COMMIT), @r"
    exit code: 1
    --- stderr
    error: everybody on this machine can write to [SANDBOX]/work/.tract
    hint: chmod o-w [SANDBOX]/work/.tract, once you know that nobody has; to open it as another's: TRACT_SAFE_DIRECTORY=[SANDBOX]/work
    ");
    let mut trusted = sandbox.command(&COMMIT);
    trusted.env("TRACT_SAFE_DIRECTORY", sandbox.work());
    trusted.output().expect("it runs");
    assert!(!trace.exists(), "anybody's command was run");
    // Nobody gets at a database through a directory that is closed.
    let database = directory.join("tract.db");
    allow(&database, 0o666);
    allow(&directory, 0o755);
    let said = sandbox.tract(&["log"]);
    assert!(
        said.contains("can write to [SANDBOX]/work/.tract/tract.db"),
        "{said}"
    );
    allow(&directory, 0o700);
    sandbox.ok(&["log"]);
}
