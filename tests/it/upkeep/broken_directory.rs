//! A `.tract` that is no repository is an error, never a reason to go further up.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;

use crate::sandbox::{Sandbox, THE_FILE, dump, is_left_out};

/// A repository, and a directory below it in which commands run that must not reach it.
fn below() -> Sandbox {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    fs::create_dir(sandbox.work().join("below")).expect("made");
    sandbox
}

/// All that a command says in the directory below; it must fail and leave the one above alone.
fn refused(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let above = dump(sandbox);
    let below = sandbox.work().join("below");
    let output = sandbox.command(arguments).current_dir(below).output();
    let output = output.expect("it runs");
    assert!(
        dump(sandbox) == above,
        "{arguments:?} wrote into the one above"
    );
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    let root = sandbox.work();
    let said = format!("{code:?} {said}");
    said.replace(root.to_str().expect("UTF-8"), "[WORK]")
}

fn all_refused(sandbox: &Sandbox, wanted: &str) {
    let session = sandbox.write("session.json", r#"[{"role":"user","content":"hi"}]"#);
    let session = session.to_str().expect("UTF-8").to_owned();
    for command in [
        &["log"][..],
        &["commit", "-r", "user", "-m", "two"],
        &["import", &session],
        &["config", "budget.max", "9"],
        &["init"],
    ] {
        assert_eq!(refused(sandbox, command), wanted, "{command:?}");
    }
}

#[test]
fn a_file_of_that_name_ends_the_search() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = below();
    fs::write(sandbox.work().join("below/.tract"), "not a directory").expect("written");
    let said = refused(&sandbox, &["commit", "-r", "user", "-m", "two"]);
    insta::assert_snapshot!(said, @r"
    Some(3) error: [WORK]/below/.tract is not a repository: it is a file, not a directory
    hint: move it away; --repo PATH names another repository
    ");
    all_refused(&sandbox, &said);
}

#[test]
fn a_link_that_leads_nowhere_ends_the_search() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = below();
    symlink("gone", sandbox.work().join("below/.tract")).expect("linked");
    let said = refused(&sandbox, &["commit", "-r", "user", "-m", "two"]);
    insta::assert_snapshot!(said, @r"
    Some(3) error: [WORK]/below/.tract is not a repository: it is a link that leads nowhere
    hint: move it away; --repo PATH names another repository
    ");
    all_refused(&sandbox, &said);
    assert!(!sandbox.work().join("below/gone").exists());
}

#[test]
fn a_directory_without_a_database_ends_the_search_and_init_completes_it() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = below();
    let inner = sandbox.work().join("below/.tract");
    fs::create_dir(&inner).expect("made");
    insta::assert_snapshot!(refused(&sandbox, &["commit", "-r", "user", "-m", "two"]), @r"
    Some(3) error: [WORK]/below/.tract has no database in it
    hint: tract init [WORK]/below completes it; --repo PATH names another repository
    ");
    insta::assert_snapshot!(sandbox.tract(&["--repo", "below/.tract", "log"]), @r"
    exit code: 3
    --- stderr
    error: below/.tract has no database in it
    hint: tract init below completes it; --repo PATH names another repository
    ");
    // What an init that was killed may leave behind.
    fs::write(inner.join(".gitignore"), "").expect("written");
    fs::write(inner.join("tract.db.new-1-0"), "half").expect("written");
    fs::write(inner.join("tract.db.new-1-0-journal"), "half").expect("written");
    insta::assert_snapshot!(sandbox.tract(&["init", "below"]), @r#"
    --- stderr
    Made an empty repository in below/.tract
    hint: tract import brings in a session; tract commit -r user -m "…" writes one
    "#);
    let mut names: Vec<_> = fs::read_dir(&inner)
        .expect("it can be read")
        .map(|entry| entry.expect("it can be read").file_name())
        .collect();
    names.sort();
    names.retain(|name| name != "tract.db-wal" && name != "tract.db-shm");
    assert_eq!(names, [".gitignore", "tract.db"]);
    assert_eq!(fs::read(inner.join(".gitignore")).expect("read"), b"*\n");
    assert_eq!(fs::metadata(&inner).expect("there").mode() & 0o777, 0o700);
    sandbox.ok(&["--repo", "below", "commit", "-r", "user", "-m", "two"]);
}

#[test]
fn a_database_that_is_gone_is_not_made_anew_beside_its_journal() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = below();
    let tract = sandbox.work().join(".tract");
    // Whoever reads keeps it from being folded in.
    let held = rusqlite::Connection::open(tract.join("tract.db")).expect("opens");
    let reads = "BEGIN; SELECT count(*) FROM commits";
    held.execute_batch(reads).expect("reads");
    sandbox.ok(&["commit", "-r", "user", "-m", "two"]);
    fs::rename(tract.join("tract.db"), tract.join("saved")).expect("moved");
    insta::assert_snapshot!(sandbox.tract(&["init"]), @r"
    exit code: 3
    --- stderr
    error: the repository is damaged: [SANDBOX]/work/.tract/tract.db is gone, and [SANDBOX]/work/.tract/tract.db-wal is still there
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    ");
    insta::assert_snapshot!(sandbox.tract(&["log"]), @r"
    exit code: 3
    --- stderr
    error: the repository is damaged: [SANDBOX]/work/.tract/tract.db is gone, and [SANDBOX]/work/.tract/tract.db-wal is still there
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    ");
    fs::rename(tract.join("saved"), tract.join("tract.db")).expect("moved");
    assert_eq!(sandbox.ok(&["log", "--format", "%t"]).lines().count(), 2);
}

#[test]
fn a_database_that_is_no_file_is_refused_at_once() {
    if is_left_out(THE_FILE) {
        return;
    }
    for what in ["directory", "pipe", "link"] {
        let sandbox = below();
        let inner = sandbox.work().join("below/.tract");
        fs::create_dir(&inner).expect("made");
        let database = inner.join("tract.db");
        match what {
            "directory" => fs::create_dir(&database).expect("made"),
            "link" => symlink("gone", &database).expect("linked"),
            _ => {
                let made = std::process::Command::new("mkfifo").arg(&database).status();
                assert!(made.is_ok_and(|status| status.success()), "mkfifo");
            }
        }
        let said = refused(&sandbox, &["log"]);
        assert!(
            said.starts_with("Some(3) error: [WORK]/below/.tract/tract.db is no"),
            "{said}"
        );
        all_refused(&sandbox, &said);
    }
}

/// All that is below the working directory.
fn names(sandbox: &Sandbox) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![sandbox.work()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it can be read") {
            let path = entry.expect("it can be read").path();
            let name = path.strip_prefix(sandbox.work()).expect("below");
            names.push(name.display().to_string());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    names.sort();
    names
}

#[test]
fn an_init_that_fails_leaves_nothing_behind() {
    for limit in 0..12 {
        let sandbox = Sandbox::empty();
        sandbox.write("mine.txt", "mine");
        // A file that grows beyond the limit, in blocks of 512 bytes, is refused as on a full disk.
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" init new/deep");
        let tract = sandbox.command(&[]);
        let environment = tract.get_envs();
        let output = std::process::Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_tract")])
            .current_dir(sandbox.work())
            .env_clear()
            .envs(environment.filter_map(|(name, value)| Some((name, value?))))
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{limit}: {said}");
        assert!(
            said.starts_with("error: ") && said.contains("hint: "),
            "{said}"
        );
        assert_eq!(names(&sandbox), ["mine.txt"], "{limit}: {said}");
        sandbox.ok(&["init", "new/deep"]);
    }
}

#[test]
fn an_init_beside_a_foreign_file_leaves_it_as_it_was() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::empty();
    sandbox.write(".tract/tract.db", "a diary");
    let before = names(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["init"]), @r"
    exit code: 3
    --- stderr
    error: [SANDBOX]/work/.tract/tract.db is not a tract database
    hint: nothing was changed; --repo PATH names another repository
    ");
    assert_eq!(names(&sandbox), before);
    sandbox.write("file", "no directory");
    insta::assert_snapshot!(sandbox.tract(&["init", "file/below"]), @r"
    exit code: 1
    --- stderr
    error: file/below: not a directory
    hint: a part of the path is a file: name another path
    ");
}

/// The program as another user runs it, with a copy that this user may run; none where only root
/// could do so.
fn as_stranger(sandbox: &Sandbox, arguments: &[&str]) -> Option<String> {
    const STRANGER: u32 = 64_321;
    if fs::metadata(sandbox.work()).expect("there").uid() != 0 {
        return None;
    }
    let open = |path: &Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("allowed");
    };
    let root = sandbox.work().parent().expect("it has one").to_owned();
    let program = root.join("tract");
    if !program.exists() {
        // By another process: a file that is open for writing here could be so in a child that some
        // other test starts meanwhile, and could not be run.
        let mut copy = std::process::Command::new("cp");
        let copied = copy.arg(env!("CARGO_BIN_EXE_tract")).arg(&program).status();
        assert!(copied.expect("cp runs").success());
    }
    open(&root);
    let tract = sandbox.command(arguments);
    let environment = tract.get_envs();
    let mut command = std::process::Command::new(program);
    command
        .args(arguments)
        .current_dir(sandbox.work().join("below"))
        .env_clear()
        .envs(environment.filter_map(|(name, value)| Some((name, value?))))
        .uid(STRANGER)
        .gid(STRANGER);
    chown(sandbox.work().join("below"), Some(STRANGER), Some(STRANGER)).expect("root may");
    let output = command.output().expect("it runs");
    let [said, shown] = [&output.stderr, &output.stdout].map(|it| String::from_utf8_lossy(it));
    let said = format!("{:?} {said}{shown}", output.status.code());
    Some(said.replace(sandbox.work().to_str().expect("UTF-8"), "[WORK]"))
}

#[test]
fn an_init_where_nothing_may_be_written_leaves_nothing() {
    let sandbox = below();
    let below = sandbox.work().join("below");
    fs::create_dir(below.join("closed")).expect("made");
    fs::set_permissions(below.join("closed"), fs::Permissions::from_mode(0o555)).expect("allowed");
    let Some(said) = as_stranger(&sandbox, &["init", "closed"]) else {
        return;
    };
    insta::assert_snapshot!(said, @r"
    Some(1) error: closed/.tract: permission denied
    hint: ls -ld closed/.tract shows who may read and write it
    ");
    let mut inside = fs::read_dir(below.join("closed")).expect("it can be read");
    assert!(inside.next().is_none());
}

#[test]
fn a_directory_that_cannot_be_entered_ends_the_search() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = below();
    let inner = sandbox.work().join("below/.tract");
    fs::create_dir(&inner).expect("made");
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o000)).expect("allowed");
    let command = ["commit", "-r", "user", "-m", "two"];
    // Root can enter everything.
    let said = match as_stranger(&sandbox, &command) {
        None => refused(&sandbox, &command),
        Some(said) => said,
    };
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o700)).expect("allowed");
    insta::assert_snapshot!(said, @r"
    Some(1) error: [WORK]/below/.tract cannot be entered: permission denied
    hint: its owner can open it: chmod u+rwx [WORK]/below/.tract; --repo PATH names another
    ");
}

#[test]
fn a_folder_of_a_tool_that_cannot_be_read_is_named_until_it_can_be() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = below();
    let projects = sandbox.home().join(".claude/projects");
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code/compaction.jsonl");
    let data = fs::read_to_string(data).expect("a fixture");
    for (name, digit) in [("closed", "2"), ("open", "1")] {
        fs::create_dir_all(projects.join(name)).expect("made");
        let path = projects.join(name).join(format!("{name}.jsonl"));
        let session = data.replace("11111111", &digit.repeat(8));
        fs::write(path, session.replace("Read the plan.", name)).expect("written");
    }
    let mode = |mode| {
        let closed = fs::Permissions::from_mode(mode);
        fs::set_permissions(projects.join("closed"), closed).expect("allowed");
    };
    mode(0o000);
    let told = |arguments: &[&str]| as_stranger(&sandbox, arguments);
    let Some(_) = told(&["init"]) else {
        return;
    };
    for command in [["watch", "--once"], ["import", "--all"]] {
        let said = told(&command).expect("root");
        assert!(said.contains("closed: permission denied"), "{said}");
    }
    let status = || told(&["status"]).expect("root");
    let said = status();
    assert!(said.contains("Unread   1 file,"), "{said}");
    mode(0o755);
    assert!(!status().contains("Unread"));
    let said = told(&["watch", "--once"]).expect("root");
    assert!(
        said.contains("claude-code/22222222…: 7 new commits"),
        "{said}"
    );
}
