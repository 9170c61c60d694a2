//! Checking everything, and making again what can be made.

use rusqlite::Connection;

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};

/// Two branches, of which one has what the other has and a message more.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    sandbox.ok(&["branch", "early"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "three"]);
    sandbox.ok(&["log"]);
    sandbox.ok(&["find", "-F", "three"]);
    sandbox
}

/// Changes the database as a failing disk would: the bytes, and not what vouches for them.
fn change(sandbox: &Sandbox, sql: &str) {
    let database = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
    database.execute_batch(sql).expect("changed");
}

#[test]
fn a_repository_as_it_was_written_has_no_damage() {
    insta::assert_snapshot!(Sandbox::new().tract(&["fsck"]), @r"
    --- stderr
    Checked 0 messages, 0 commits, 0 session files and 0 refs: no damage
    ");
    insta::assert_snapshot!(sandbox().tract(&["fsck"]), @r"
    --- stderr
    Checked 3 messages, 3 commits, 0 session files and 2 refs: no damage
    ");
    insta::assert_snapshot!(sandbox().tract(&["fsck", "--repair"]), @r"
    --- stderr
    Checked 3 messages, 3 commits, 0 session files and 2 refs: no damage
    ");
}

/// What doesn't need the damaged message goes on as before.
#[test]
fn a_damaged_message_is_lost_to_those_contexts_alone_that_show_it() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = sandbox();
    let early = sandbox.ok(&["compile", "early"]);
    change(
        &sandbox,
        "UPDATE bodies SET body = CAST(replace(CAST(body AS TEXT), 'three', 'seven') AS BLOB)",
    );
    insta::assert_snapshot!(sandbox.tract(&["fsck"]), @r"
    exit code: 3
    damaged  message 86b1938fb0: its body is not what was written
    lost     main does not compile: content 86b1938fb0642c8511466a715b902d139c63890dee534a84a03def9ed11311ae: its body is another one's
    --- stderr
    Checked 3 messages, 3 commits, 0 session files and 2 refs; 1 of 2 refs compile
    hint: tract fsck --repair rebuilds what can be rebuilt, and sets the rest aside
    ");
    insta::assert_snapshot!(sandbox.tract(&["fsck", "--repair"]), @r"
    exit code: 3
    damaged  message 86b1938fb0: its body is not what was written
    lost     main does not compile: content 86b1938fb0642c8511466a715b902d139c63890dee534a84a03def9ed11311ae: its body is another one's
    damaged  message 86b1938fb0: its body is missing
    lost     main does not compile: content 86b1938fb0642c8511466a715b902d139c63890dee534a84a03def9ed11311ae: its body is missing
    --- stderr
    Checked 3 messages, 3 commits, 0 session files and 2 refs; 1 of 2 refs compile
    Rebuilt what can be rebuilt from the rest
    Set aside 1 row of bodies
    Checked 3 messages, 3 commits, 0 session files and 2 refs; 1 of 2 refs compile
    note: 1 damaged row set aside by a repair, in the table quarantine
    hint: what was imported comes back by importing it again; what compiles goes on as before
    ");
    assert_eq!(sandbox.ok(&["compile", "early"]), early);
    sandbox.ok(&["log"]);
    sandbox.ok(&["drop", "--force", ":-1"]);
    assert_eq!(sandbox.ok(&["compile"]), early);
}

#[test]
fn what_can_be_made_again_is() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = sandbox();
    let log = sandbox.ok(&["log", "-v"]);
    change(
        &sandbox,
        "UPDATE contents SET preview = 'another', calls = 3 WHERE id = 2;
         UPDATE counts SET tokens = tokens + 1;",
    );
    insta::assert_snapshot!(sandbox.tract(&["fsck"]), @r"
    exit code: 3
    damaged  token counts: 3 not as they were written
    damaged  message 81e2acc036: listings show it wrongly
    lost     early does not compile: a row of contents is not as it was written
    lost     main does not compile: a row of contents is not as it was written
    --- stderr
    Checked 3 messages, 3 commits, 0 session files and 2 refs; 0 of 2 refs compile
    hint: tract fsck --repair rebuilds what can be rebuilt, and sets the rest aside
    ");
    insta::assert_snapshot!(sandbox.tract(&["fsck", "--repair"]), @r"
    damaged  token counts: 3 not as they were written
    damaged  message 81e2acc036: listings show it wrongly
    lost     early does not compile: a row of contents is not as it was written
    lost     main does not compile: a row of contents is not as it was written
    --- stderr
    Checked 3 messages, 3 commits, 0 session files and 2 refs; 0 of 2 refs compile
    Rebuilt what can be rebuilt from the rest
    Checked 3 messages, 3 commits, 0 session files and 2 refs: no damage
    ");
    assert_eq!(sandbox.ok(&["log", "-v"]), log);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "three"]), @r"
    de23229  2026-03-14 12:05:00  user  main:3
        three
    ");
}

#[test]
fn what_is_planted_in_the_schema_is_told() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = sandbox();
    change(
        &sandbox,
        "CREATE TRIGGER evil AFTER INSERT ON commits BEGIN DELETE FROM refs; END;",
    );
    insta::assert_snapshot!(sandbox.tract(&["fsck"]), @r"
    exit code: 3
    damaged  file: trigger evil is not ours
    --- stderr
    Checked 3 messages, 3 commits, 0 session files and 2 refs; 2 of 2 refs compile
    hint: nothing was changed; what compiles can be saved: tract bundle FILE BRANCH
    ");
}

#[test]
fn what_a_purge_has_left_in_the_files_is_told() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = sandbox();
    change(&sandbox, "INSERT INTO unscrubbed (operation) VALUES (1)");
    insta::assert_snapshot!(sandbox.tract(&["fsck"]), @r"
    --- stderr
    Checked 3 messages, 3 commits, 0 session files and 2 refs: no damage
    note: the files still hold what a purge erased; the next command that writes takes it out
    ");
    sandbox.ok(&["commit", "-r", "user", "-m", "four"]);
    assert!(!sandbox.tract(&["fsck"]).contains("purge"));
}

#[test]
fn a_ref_is_where_its_log_says() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = sandbox();
    change(
        &sandbox,
        "UPDATE refs SET target = 1 WHERE name = 'refs/heads/early';
         UPDATE reflog SET new_target = 2 WHERE id = 1;",
    );
    let wanted = self::sandbox().ok(&["branch"]);
    insta::assert_snapshot!(sandbox.tract(&["fsck", "--repair"]), @r"
    damaged  reflog 1: not as it was written
    damaged  refs refs/heads/early: not as it was written
    damaged  refs/heads/early: it is not where its log says
    damaged  refs/heads/main: its log has a gap
    --- stderr
    Checked 3 messages, 3 commits, 0 session files and 1 ref; 1 of 1 ref compile
    Rebuilt what can be rebuilt from the rest
    Set aside 1 row of reflog
    Set aside 1 row of refs
    Checked 3 messages, 3 commits, 0 session files and 2 refs: no damage
    note: 2 damaged rows set aside by a repair, in the table quarantine
    ");
    assert_eq!(sandbox.ok(&["branch"]), wanted);
}

/// What an index has lost would seem to be named by nothing, and a purge erases that.
#[test]
fn nothing_is_purged_where_an_index_is_damaged() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "shared")]);
    sandbox.ok(&["checkout", "-b", "side"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "precious"]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "secret"]);
    let side = sandbox.ok(&["compile", "side"]);
    let path = sandbox.work().join(".tract/tract.db");
    let database = Connection::open(&path).expect("opens");
    let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
    database.query_row(fold, [], |_| Ok(())).expect("folds");
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'commits_by_append'";
    let root: i64 = database
        .query_row(root, [], |row| row.get(0))
        .expect("a page");
    drop(database);
    let mut bytes = std::fs::read(&path).expect("a file");
    // The page holds no entry any more.
    let page = (root as usize - 1) * 4096;
    bytes[page + 3..page + 5].fill(0);
    std::fs::write(&path, bytes).expect("written");
    let said = sandbox.tract(&["clear", "--purge", "--force"]);
    assert!(said.starts_with("exit code: 3\n"), "{said}");
    assert_eq!(sandbox.ok(&["compile", "side"]), side);
}
