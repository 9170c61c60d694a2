//! Log, status and show on a history that a tool compacted.

use crate::importing::with_demo;

#[test]
fn a_log_lists_what_each_commit_did() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["log", "-n", "6"]), @"");
    insta::assert_snapshot!(sandbox.tract(&["log", "-n", "1", "--op", "compact", "-v"]), @"");
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 20);
    let all = sandbox.ok(&["log", "-n", "0"]);
    assert!(all.lines().count() > 20);
    let range = sandbox.ok(&["log", "HEAD~5..HEAD"]);
    assert_eq!(range.lines().count(), 5);
    insta::assert_snapshot!(sandbox.tract(&["log", "--op", "squash"]), @"");
}

#[test]
fn status_says_where_one_is() {
    insta::assert_snapshot!(with_demo().tract(&["status"]), @"");
}

#[test]
fn a_compaction_is_shown_beside_what_it_hid() {
    let sandbox = with_demo();
    let line = sandbox.ok(&["log", "--op", "compact"]);
    insta::assert_snapshot!(sandbox.tract(&["show", &line[..7]]), @"");
}

#[test]
fn before_a_compaction_the_whole_context_compiles() {
    let sandbox = with_demo();
    let line = sandbox.ok(&["log", "--op", "compact"]);
    let before = format!("{}^", &line[..7]);
    let then = sandbox.ok(&["compile", &before, "--format", "text"]);
    let now = sandbox.ok(&["compile", "--format", "text"]);
    assert!(then.contains("prints a total of 0.00"), "{then}");
    assert!(
        !now.contains("prints a total of 0.00, and no problems"),
        "{now}"
    );
    assert!(now.contains("This session is being continued"), "{now}");
}
