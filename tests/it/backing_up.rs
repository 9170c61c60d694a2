//! The whole repository in one file, while others write.

use std::fs;
use std::process::Stdio;

use crate::damage::repository;
use crate::sandbox::{Sandbox, THE_FILE, dump, is_left_out};

/// Opens a backup as one would go back to it.
fn restored(from: &Sandbox, file: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for journal in ["tract.db-wal", "tract.db-shm"] {
        let _ = fs::remove_file(sandbox.work().join(".tract").join(journal));
    }
    let bytes = fs::read(from.work().join(file)).expect("it was written");
    sandbox.write(".tract/tract.db", bytes);
    sandbox
}

#[test]
fn a_backup_is_the_whole_repository_in_one_file() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = repository();
    insta::assert_snapshot!(sandbox.tract(&["backup", "all.db"]), @r"
    --- stderr
    Wrote 26 messages, 29 commits and 2 session files to all.db, checked
    ");
    let back = restored(&sandbox, "all.db");
    assert_eq!(dump(&back), dump(&sandbox));
    assert_eq!(back.ok(&["compile"]), sandbox.ok(&["compile"]));
    back.ok(&["fsck"]);
    let names: Vec<String> = fs::read_dir(sandbox.work())
        .expect("reads")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .filter(|name| name.starts_with("all.db"))
        .collect();
    assert_eq!(names, ["all.db"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let facts = fs::metadata(sandbox.work().join("all.db")).expect("it is there");
        assert_eq!(facts.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_file_that_is_there_is_only_replaced_if_asked() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.write("all.db", "something else");
    insta::assert_snapshot!(sandbox.tract(&["backup", "all.db"]), @r"
    exit code: 1
    --- stderr
    error: all.db exists already
    hint: --force writes over it
    ");
    assert_eq!(
        fs::read(sandbox.work().join("all.db")).expect("reads"),
        b"something else"
    );
    sandbox.ok(&["backup", "all.db", "--force"]);
    restored(&sandbox, "all.db").ok(&["fsck"]);
    insta::assert_snapshot!(sandbox.tract(&["backup", "nowhere/all.db"]), @r"
    exit code: 1
    --- stderr
    error: nowhere/all.db: no such file or directory
    ");
}

#[test]
fn a_repository_that_is_in_use_is_not_written_over() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    insta::assert_snapshot!(sandbox.tract(&["backup", "--force", ".tract/tract.db"]), @r"
    exit code: 1
    --- stderr
    error: .tract/tract.db is a database in use
    hint: another name; to restore, let nothing run and take its -wal and -shm away first
    ");
    sandbox.ok(&["fsck"]);
}

#[test]
fn what_is_damaged_is_no_backup() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let database = rusqlite::Connection::open(sandbox.work().join(".tract/tract.db"));
    let change = "UPDATE bodies SET body = zeroblob(9)";
    database
        .expect("opens")
        .execute_batch(change)
        .expect("changed");
    sandbox.write("all.db", "the one before");
    insta::assert_snapshot!(sandbox.tract(&["backup", "--force", "all.db"]), @r"
    exit code: 3
    --- stderr
    error: the repository is damaged; no backup was made
    hint: tract fsck says what is damaged and what to do
    ");
    assert_eq!(
        fs::read(sandbox.work().join("all.db")).expect("reads"),
        b"the one before"
    );
    assert_eq!(fs::read_dir(sandbox.work()).expect("reads").count(), 2);
}

/// Bytes that a purge erased stay in free pages until the files are rewritten.
#[test]
fn what_was_erased_is_not_in_a_backup() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    let database =
        rusqlite::Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
    let leave = "PRAGMA secure_delete = OFF; CREATE TABLE old (text TEXT);
         INSERT INTO old VALUES ('a secret that was here'); DROP TABLE old;
         INSERT INTO unscrubbed VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)";
    database.execute_batch(leave).expect("left");
    drop(database);
    let holds = |name: &str| {
        let bytes = fs::read(sandbox.work().join(name)).expect("reads");
        bytes.windows(8).any(|some| some == b"a secret")
    };
    assert!(holds(".tract/tract.db"));
    sandbox.ok(&["backup", "all.db"]);
    assert!(!holds("all.db"));
}

#[test]
fn a_backup_goes_on_while_somebody_writes() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = repository();
    let mut writers: Vec<_> = (0..12)
        .map(|number| {
            let text = format!("message {number}");
            let mut command = sandbox.command(&["commit", "-r", "user", "-m", &text]);
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("runs")
        })
        .collect();
    for number in 0..3 {
        let file = format!("copy-{number}.db");
        sandbox.ok(&["backup", &file]);
        restored(&sandbox, &file).ok(&["fsck"]);
    }
    for writer in &mut writers {
        assert!(writer.wait().expect("ends").success());
    }
    sandbox.ok(&["fsck"]);
}
