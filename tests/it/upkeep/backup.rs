//! The whole repository in one file, while others write.

use std::fs;
use std::process::Stdio;

use crate::sandbox::{Sandbox, THE_FILE, dump, is_left_out};
use crate::upkeep::damage::repository;

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
    hint: check the path: its directories must exist, and a relative path begins at the current directory
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
    hint: another name; tract backup --restore FILE makes a backup the repository
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

/// What is left in a repository that was copied as it stood, such as after a kill: the files named.
fn as_it_stood(from: &Sandbox, files: &[&str]) -> Sandbox {
    let sandbox = Sandbox::empty();
    fs::create_dir(sandbox.work().join(".tract")).expect("made");
    for file in files {
        let name = format!(".tract/{file}");
        fs::copy(from.work().join(&name), sandbox.work().join(&name)).expect("copied");
    }
    sandbox
}

/// Reads a repository's database and does not end, so that nobody can fold the journal in.
fn held_open(sandbox: &Sandbox) -> rusqlite::Connection {
    let path = sandbox.work().join(".tract/tract.db");
    let held = rusqlite::Connection::open(path).expect("opens");
    let count = "BEGIN; SELECT count(*) FROM commits";
    held.execute_batch(count).expect("read");
    held
}

fn journal_bytes(sandbox: &Sandbox) -> u64 {
    let journal = sandbox.work().join(".tract/tract.db-wal");
    fs::metadata(journal).map_or(0, |facts| facts.len())
}

#[test]
fn the_file_alone_is_the_repository_while_nobody_has_it_open() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    assert_eq!(journal_bytes(&sandbox), 0);
    let copy = as_it_stood(&sandbox, &["tract.db"]);
    assert_eq!(dump(&copy), dump(&sandbox));
    assert_eq!(copy.ok(&["log"]), sandbox.ok(&["log"]));
}

#[test]
fn a_journal_that_a_killed_process_left_is_folded_in_by_the_next() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let held = held_open(&sandbox);
    sandbox.ok(&["commit", "-r", "user", "-m", "two"]);
    assert!(journal_bytes(&sandbox) > 0);
    let killed = as_it_stood(&sandbox, &["tract.db", "tract.db-wal"]);
    killed.ok(&["status"]);
    assert_eq!(journal_bytes(&killed), 0);
    let copy = as_it_stood(&killed, &["tract.db"]);
    assert_eq!(copy.ok(&["log"]), sandbox.ok(&["log"]));
    drop(held);
}

#[test]
fn the_journal_of_the_file_before_is_not_read_into_a_backup() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.ok(&["backup", "all.db"]);
    let held = held_open(&sandbox);
    sandbox.ok(&["commit", "-r", "user", "-m", "two"]);
    let killed = as_it_stood(&sandbox, &["tract.db", "tract.db-wal"]);
    drop(held);
    let backup = fs::read(sandbox.work().join("all.db")).expect("reads");
    killed.write(".tract/tract.db", &backup);
    let journal = killed.work().join(".tract/tract.db-wal");
    let before = fs::read(&journal).expect("reads");
    for command in ["log", "status", "fsck"] {
        let told = killed.tract(&[command]);
        assert!(told.starts_with("exit code: 3\n"), "{told}");
        assert!(told.contains("belongs to another file"), "{told}");
        assert!(told.contains("move tract.db-wal"), "{told}");
    }
    let file = killed.work().join(".tract/tract.db");
    assert_eq!(fs::read(file).expect("reads"), backup);
    assert_eq!(fs::read(&journal).expect("reads"), before);
    // What the hint says is all that it takes.
    fs::rename(&journal, killed.work().join("old-wal")).expect("moved");
    killed.ok(&["fsck"]);
    killed.ok(&["commit", "-r", "user", "-m", "three"]);
    killed.ok(&["fsck"]);
}

/// A copy of a repository's own file is told by the number of its state.
#[test]
fn the_journal_of_another_state_is_not_read_into_a_copy_of_the_file() {
    if is_left_out(THE_FILE) {
        return;
    }
    let (file, journal) = (".tract/tract.db", ".tract/tract.db-wal");
    let read = |from: &Sandbox, name: &str| fs::read(from.work().join(name)).expect("reads");
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let older = read(&sandbox, file);
    sandbox.ok(&["commit", "-r", "user", "-m", "two"]);
    let held = held_open(&sandbox);
    sandbox.ok(&["commit", "-r", "user", "-m", "three"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "four"]);
    let killed = as_it_stood(&sandbox, &["tract.db", "tract.db-wal"]);
    drop(held);
    sandbox.ok(&["commit", "-r", "user", "-m", "five"]);
    let newer = read(&sandbox, file);
    let strange = read(&Sandbox::with_messages(&[("user", "six")]), file);
    let (base, left) = (read(&killed, file), read(&killed, journal));
    for (what, other) in [("older", older), ("newer", newer), ("strange", strange)] {
        killed.write(file, &other);
        for command in ["log", "fsck"] {
            let told = killed.tract(&[command]);
            assert!(told.starts_with("exit code: 3\n"), "{what}: {told}");
            assert!(told.contains("belongs to another file"), "{what}: {told}");
        }
        assert!(read(&killed, file) == other, "{what}");
        assert!(read(&killed, journal) == left, "{what}");
    }
    // Its own is read, and so it is where a fold was cut off behind its last page.
    killed.write(file, &base);
    let folding = rusqlite::Connection::open(killed.work().join(file)).expect("opens");
    let fold = folding.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    fold.expect("folds");
    drop(folding);
    assert!(read(&killed, file) != base);
    for own in [read(&killed, file), base] {
        killed.write(file, &own);
        killed.write(journal, &left);
        assert_eq!(killed.ok(&["log", "--format", "%t"]).lines().count(), 4);
        killed.ok(&["fsck"]);
    }
}

/// The names in `.tract`.
fn files(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.work().join(".tract")).expect("reads");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_backup_is_put_back_and_the_file_before_is_kept() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.ok(&["backup", "all.db"]);
    let then = dump(&sandbox);
    sandbox.ok(&["commit", "-r", "user", "-m", "two"]);
    let now = fs::read(sandbox.work().join(".tract/tract.db")).expect("reads");
    insta::assert_snapshot!(sandbox.tract(&["backup", "--restore", "all.db"]), @r"
    exit code: 1
    --- stderr
    error: the repository has 1 commit that the backup lacks
    hint: nothing was changed; with --force the backup takes its place, and the old file is kept next to it
    ");
    assert_eq!(sandbox.ok(&["log", "--format", "%t"]).lines().count(), 2);
    insta::assert_snapshot!(sandbox.tract(&["backup", "--restore", "--force", "all.db"]), @r"
    --- stderr
    Put back 1 message, 1 commit and 0 session files from all.db, checked
    hint: the repository before is .tract/tract.db.before-restore; delete it when nothing is missing
    ");
    assert_eq!(
        files(&sandbox),
        [".gitignore", "tract.db", "tract.db.before-restore"]
    );
    assert_eq!(dump(&sandbox), then);
    sandbox.ok(&["fsck"]);
    // The other way, nothing is lacking; and none that was kept is written over.
    let before = ".tract/tract.db.before-restore";
    assert_eq!(
        fs::read(sandbox.work().join(before)).expect("reads").len(),
        now.len()
    );
    sandbox.ok(&["backup", "--restore", before]);
    assert_eq!(sandbox.ok(&["log", "--format", "%t"]).lines().count(), 2);
    assert!(files(&sandbox).contains(&"tract.db.before-restore-2".to_owned()));
    sandbox.ok(&["commit", "-r", "user", "-m", "three"]);
    sandbox.ok(&["fsck"]);
}

#[test]
fn what_is_no_sound_repository_is_not_put_back() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let before = dump(&sandbox);
    sandbox.ok(&["backup", "broken.db"]);
    let broken = rusqlite::Connection::open(sandbox.work().join("broken.db")).expect("opens");
    broken
        .execute_batch("UPDATE bodies SET body = zeroblob(9)")
        .expect("changed");
    drop(broken);
    sandbox.write("diary", "a diary");
    sandbox.write("empty", "");
    for file in ["broken.db", "diary", "empty"] {
        for force in [&[][..], &["--force"]] {
            let told = sandbox.tract(&[&["backup", "--restore", file], force].concat());
            assert!(told.starts_with("exit code: 3\n"), "{told}");
        }
    }
    let told = sandbox.tract(&["backup", "--restore", "nowhere"]);
    assert!(told.starts_with("exit code: 1\n"), "{told}");
    assert_eq!(dump(&sandbox), before);
    assert!(
        files(&sandbox)
            .iter()
            .all(|name| !name.contains("new-") && !name.contains("before"))
    );
}

#[test]
fn a_repository_that_somebody_reads_is_not_replaced() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.ok(&["backup", "all.db"]);
    let before = dump(&sandbox);
    let held = held_open(&sandbox);
    let told = sandbox.tract(&["backup", "--restore", "--force", "all.db"]);
    assert!(told.starts_with("exit code: 4\n"), "{told}");
    drop(held);
    assert_eq!(dump(&sandbox), before);
    sandbox.ok(&["backup", "--restore", "all.db"]);
}

/// What a backup is for: the file is gone, or nobody can read it any more, or a journal lies beside it that is
/// another's.
#[test]
fn a_backup_takes_the_place_of_what_cannot_be_read() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.ok(&["backup", "all.db"]);
    let then = dump(&sandbox);
    let backup = fs::read(sandbox.work().join("all.db")).expect("reads");
    sandbox.write(".tract/tract.db", "a diary");
    sandbox.write(".tract/tract.db-wal", "its journal");
    insta::assert_snapshot!(sandbox.tract(&["backup", "--restore", "all.db"]), @r"
    exit code: 1
    --- stderr
    error: what is there cannot be read, and may have commits that the backup lacks
    hint: nothing was changed; with --force the backup takes its place, and the old file is kept next to it
    ");
    assert_eq!(
        fs::read(sandbox.work().join(".tract/tract.db")).expect("reads"),
        b"a diary"
    );
    sandbox.ok(&["backup", "--restore", "--force", "all.db"]);
    assert_eq!(dump(&sandbox), then);
    let kept = |name: &str| fs::read(sandbox.work().join(".tract").join(name)).expect("reads");
    assert_eq!(kept("tract.db.before-restore"), b"a diary");
    assert_eq!(kept("tract.db.before-restore-wal"), b"its journal");
    // A journal that is another file's.
    sandbox.write(".tract/tract.db", &backup);
    sandbox.write(".tract/tract.db-wal", "a journal");
    sandbox.ok(&["backup", "--restore", "--force", "all.db"]);
    assert_eq!(dump(&sandbox), then);
    // No file at all.
    fs::remove_file(sandbox.work().join(".tract/tract.db")).expect("removed");
    sandbox.ok(&["backup", "--restore", "all.db"]);
    assert_eq!(dump(&sandbox), then);
    sandbox.ok(&["fsck"]);
}

/// Whenever it is killed, there is the old repository or the new one, and it is whole.
#[test]
fn a_restore_that_is_killed_leaves_the_old_file_or_the_new_one() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.ok(&["backup", "all.db"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "two"]);
    sandbox.ok(&["backup", "more.db"]);
    for round in 0..24u64 {
        let file = ["all.db", "more.db"][round as usize % 2];
        let mut command = sandbox.command(&["backup", "--restore", "--force", file]);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut restoring = command.spawn().expect("runs");
        std::thread::sleep(std::time::Duration::from_millis(round * 9));
        let _ = restoring.kill();
        restoring.wait().expect("ends");
        let count = sandbox.ok(&["log", "--format", "%t"]).lines().count();
        assert!((1..=2).contains(&count), "{count}");
        sandbox.ok(&["fsck"]);
    }
}

/// What is erased is erased in the copy, too, that a restore keeps of what was there before; and all that look after the files
/// know of it.
#[test]
fn a_purge_erases_in_what_a_restore_has_kept() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "the task"), ("user", "ZQXSECRET")]);
    sandbox.ok(&["backup", "copy.db"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "only before: ZQXLATER"]);
    sandbox.ok(&["backup", "--restore", "--force", "copy.db"]);
    std::fs::remove_file(sandbox.work().join("copy.db")).expect("gone");
    let folder = sandbox.work().join(".tract");
    // What a restore has left that was killed.
    std::fs::copy(folder.join("tract.db"), folder.join("tract.db.new-1-0")).expect("copied");
    let says = |text: &str| {
        let entries = std::fs::read_dir(&folder).expect("read").flatten();
        let found = entries.filter(|entry| {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        });
        found.count()
    };
    assert!(says("ZQXSECRET") >= 2);
    for command in ["du", "doctor", "gc"] {
        let said = sandbox.tract(&[command]);
        assert!(
            said.contains("tract.db.before-restore"),
            "{command}: {said}"
        );
    }
    insta::assert_snapshot!(sandbox.tract(&["purge", "--match", "ZQX"]), @r"
    exit code: 1
    --- stderr
    error: 1 message and 2 copied messages would be erased for good
    hint: tract purge --match ZQX --force; --dry-run lists them
    ");
    insta::assert_snapshot!(sandbox.tract(&["purge", ":2", "--force"]), @r"
    --- stderr
    Erased 1 message (60 B) for good
    Erased 1 message in .tract/tract.db.before-restore
    hint: session files outside of .tract are not touched
    ");
    assert_eq!(says("ZQXSECRET"), 0);
    insta::assert_snapshot!(sandbox.tract(&["purge", "--match", "ZQXLATER", "--force"]), @r"
    --- stderr
    Erased 1 message in .tract/tract.db.before-restore
    hint: session files outside of .tract are not touched
    ");
    assert_eq!(says("ZQXLATER"), 0);
    // One that nobody can read is named.
    std::fs::write(folder.join("tract.db.before-restore-2"), "ZQXSECRET").expect("written");
    let said = sandbox.tract(&["purge", ":1", "--force"]);
    assert!(
        said.contains("tract.db.before-restore-2 may still hold it"),
        "{said}"
    );
}

/// A copy that a killed backup has left is found wherever it is, by whoever looks after the repository.
#[test]
fn a_copy_that_a_killed_backup_has_left_is_known() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "the task"), ("user", "ZQXSECRET")]);
    let place = sandbox.work().join("elsewhere");
    std::fs::create_dir(&place).expect("made");
    let copy = place.join("copy.db.new-2147483646-00000000");
    let note = sandbox.work().join(".tract/backup-0123456789abcdef");
    let leave = || {
        std::fs::copy(sandbox.work().join(".tract/tract.db"), &copy).expect("copied");
        std::fs::write(&note, copy.to_str().expect("UTF-8")).expect("written");
    };
    let name = "elsewhere/copy.db.new-2147483646-00000000";
    leave();
    for command in [&["du"][..], &["doctor"], &["gc", "--dry-run"]] {
        let said = sandbox.tract(command);
        assert!(said.contains(name) && copy.exists(), "{command:?}: {said}");
    }
    let ways: [&[&str]; 4] = [
        &["gc"],
        &["backup", "another.db"],
        &["purge", "--match", "ZQXSECRET", "--force"],
        &["clear", "--purge", "--force"],
    ];
    for way in ways {
        leave();
        sandbox.tract(way);
        assert!(!copy.exists() && !note.exists(), "{way:?}");
    }
    // A backup that is at work holds its note.
    leave();
    let held = std::fs::File::open(&note).expect("opens");
    held.lock().expect("locked");
    sandbox.ok(&["gc"]);
    assert!(copy.exists());
    drop(held);
    // Nor does a note have any other file deleted.
    let diary = place.join("diary");
    std::fs::write(&diary, "mine").expect("written");
    std::fs::write(&note, diary.to_str().expect("UTF-8")).expect("written");
    sandbox.ok(&["gc"]);
    assert!(diary.exists());
}

/// Whenever a backup is killed, the next command that looks after the files takes its copy away.
#[test]
fn a_backup_that_is_killed_leaves_nothing_for_long() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let text = (0..400_000).map(|it| format!("{:x}", it * 2_654_435_761_u64));
    sandbox.write("big.txt", text.collect::<String>());
    sandbox.ok(&["commit", "-r", "user", "-F", "big.txt"]);
    let copies = || {
        let entries = std::fs::read_dir(sandbox.work()).expect("read").flatten();
        let is_copy = |name: &str| name.starts_with("all.db");
        let found = entries.filter(|entry| is_copy(&entry.file_name().to_string_lossy()));
        found.count()
    };
    let mut met = 0;
    for round in 0..40u64 {
        let mut command = sandbox.command(&["backup", "all.db"]);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut copying = command.spawn().expect("runs");
        std::thread::sleep(std::time::Duration::from_millis(round * 4));
        let _ = copying.kill();
        copying.wait().expect("ends");
        let _ = std::fs::remove_file(sandbox.work().join("all.db"));
        met += usize::from(copies() > 0);
        sandbox.ok(&["gc"]);
        assert_eq!(copies(), 0, "round {round}");
    }
    assert!(met > 0, "none was killed while it copied");
}

/// Who makes a backup takes away what one has left that was killed.
#[test]
fn a_killed_backup_leaves_nothing_for_long() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "the task")]);
    let work = sandbox.work();
    let left = |name: &str, seconds: u64| {
        let path = work.join(name);
        let file = std::fs::File::create(&path).expect("made");
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
        file.set_modified(time).expect("set");
        path
    };
    // No process has such a number; the second is written to, and the third is somebody else's.
    let gone = left("copy.db.new-2147483646-00000000", 3_600);
    let at_work = left("copy.db.new-2147483645-00000000", 0);
    let other = left(
        &format!("copy.db.new-{}-00000000", std::process::id()),
        3_600,
    );
    sandbox.ok(&["backup", "copy.db"]);
    assert!(!gone.exists());
    assert!(at_work.exists() && other.exists());
}
