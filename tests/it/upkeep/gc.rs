//! Taking out what nothing leads to any more.

use crate::sandbox::{Sandbox, THE_FILE, dump, is_left_out};
use crate::upkeep::damage::repository;

/// A branch with a message, one beside it that was deleted, and a reset.
fn littered() -> Sandbox {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    sandbox.ok(&["checkout", "-b", "aside"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "said aside"]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["branch", "-d", "aside"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "three"]);
    sandbox
}

#[test]
fn what_the_log_leads_to_stays_for_ninety_days() {
    let sandbox = littered();
    let before = dump(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["gc"]), @r"
    --- stderr
    Nothing to delete
    ");
    assert_eq!(dump(&sandbox), before);
    sandbox.wait_days(80);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "four"]);
    sandbox.wait_days(20);
    let before = dump(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["gc", "--dry-run"]), @r"
    --- stderr
    Would take out 1 commit and 1 message (61 B)
    Would forget 7 operations: undo reaches back to #8 (20 days ago)
    ");
    assert_eq!(dump(&sandbox), before);
    let compiled = sandbox.ok(&["compile"]);
    insta::assert_snapshot!(sandbox.tract(&["gc", "-q"]), @"");
    assert_eq!(sandbox.ok(&["compile"]), compiled);
    insta::assert_snapshot!(sandbox.tract(&["reflog"]), @r"
    #8  2026-06-02 12:10:00  commit -r assistant -m …  main 348f448 → 7745688
    #7  2026-03-14 12:08:00  gc                        main none → 348f448, HEAD none → main, PREV_HEAD none → aside
    ");
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r#"
    --- stderr
    Undid #8 (20 days ago): commit -r assistant -m …
    On main, at 348f448 ("three")
    hint: back: tract redo
    "#);
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r"
    exit code: 1
    --- stderr
    error: nothing to undo
    hint: tract reflog lists past commands
    ");
    insta::assert_snapshot!(sandbox.tract(&["undo", "8"]), @r"
    exit code: 1
    --- stderr
    error: operation 8 cannot be undone: it is undone already
    hint: tract reflog lists past commands
    ");
    sandbox.ok(&["redo"]);
    assert_eq!(sandbox.ok(&["compile"]), compiled);
    sandbox.ok(&["fsck"]);
}

#[test]
fn told_to_forget_now_it_forgets_all_that_could_be_undone() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = littered();
    insta::assert_snapshot!(sandbox.tract(&["gc", "--expire", "now", "--dry-run"]), @r"
    --- stderr
    Would take out 1 commit and 1 message (61 B)
    Would forget 7 operations: there is nothing left to undo
    ");
    sandbox.ok(&["config", "gc.reflogExpire", "never"]);
    assert!(sandbox.tract(&["gc"]).contains("Nothing to delete"));
    // So little makes no file smaller.
    insta::assert_snapshot!(sandbox.tract(&["gc", "--expire", "now"]), @r"
    --- stderr
    Took out 1 commit and 1 message (61 B)
    Forgot 7 operations: there is nothing left to undo
    ");
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r"
    exit code: 1
    --- stderr
    error: nothing to undo
    hint: tract reflog lists past commands
    ");
    insta::assert_snapshot!(sandbox.tract(&["redo"]), @r"
    exit code: 1
    --- stderr
    error: nothing to redo
    hint: redo reverses an undo, and there is none to reverse
    ");
    assert!(
        sandbox
            .tract(&["gc", "--expire", "now"])
            .contains("Nothing to delete")
    );
    sandbox.ok(&["commit", "-r", "assistant", "-m", "four"]);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["fsck"]);
}

#[test]
fn an_age_that_is_none_is_refused() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    insta::assert_snapshot!(sandbox.tract(&["gc", "--expire", "soon"]), @r"
    exit code: 2
    --- stderr
    error: invalid value 'soon' for '--expire <AGE>': an age is a number of days, now, or never
    hint: tract gc --help
    ");
    insta::assert_snapshot!(sandbox.tract(&["config", "gc.reflogExpire", "soon"]), @r"
    exit code: 2
    --- stderr
    error: gc.reflogExpire: 'soon' is none of now, never, or a number of days
    hint: tract config --help says what each setting takes
    ");
}

#[test]
fn what_is_exported_of_an_imported_session_is_as_before() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = repository();
    let names = sandbox.ok(&["branch"]);
    let exported = || -> Vec<String> {
        let names = names
            .lines()
            .filter_map(|line| line.trim_start_matches('*').split_whitespace().next());
        names.map(|name| sandbox.tract(&["export", name])).collect()
    };
    let before = exported();
    sandbox.ok(&["gc", "--expire", "now"]);
    assert_eq!(exported(), before);
    sandbox.ok(&["fsck"]);
}

#[test]
fn while_damaged_rows_are_set_aside_nothing_is_taken_out() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = littered();
    let database = sandbox.work().join(".tract/tract.db");
    let connection = rusqlite::Connection::open(database).expect("opens");
    let broken = "UPDATE followers SET seal = seal + 1; UPDATE tag_notes SET note = 'x';
         INSERT INTO followers (session, branch, seal) VALUES ('refs/sessions/x/y', 'refs/heads/main', 7)";
    connection.execute_batch(broken).expect("SQL");
    drop(connection);
    sandbox.tract(&["fsck", "--repair"]);
    insta::assert_snapshot!(sandbox.tract(&["gc", "--expire", "now"]), @r"
    --- stderr
    note: 1 damaged row set aside by a repair: what they may need is not deleted
    Nothing to delete
    ");
    sandbox.ok(&["undo"]);
}
