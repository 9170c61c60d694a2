//! Own commits on another base, changes of another branch done here, and single ones taken back.

use crate::recovery::moves::walk;
use crate::reduction::drop::brief;
use crate::sandbox::Sandbox;

const FOUR: [(&str, &str); 4] = [
    ("user", "Name a river."),
    ("assistant", "The Elbe."),
    ("user", "And a lake?"),
    ("assistant", "Lake Constance."),
];

/// A conversation that was compacted and went on.
fn compacted() -> Sandbox {
    let sandbox = Sandbox::with_messages(&FOUR);
    sandbox.ok(&["tag", "full"]);
    sandbox.ok(&["compact", "-m", "A river and a lake."]);
    sandbox.ok(&["tag", "short"]);
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        "And a hill?",
        "--set",
        "temperature=0.5",
        "--note",
        "asked",
    ]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "The Brocken."]);
    sandbox
}

#[test]
fn later_messages_come_on_the_state_before_a_compaction() {
    let sandbox = compacted();
    let before = sandbox.ok(&["branch"]);
    insta::assert_snapshot!(walk(&sandbox, &["rebase full --from short --dry-run"]), @r#"
    $ tract rebase full --from short --dry-run
    Would put 2 commits (2 append) on 90c2e1d ("Lake Constance.")
      0c804f1 ("And a hill?")   append  is moved
      a22bcc5 ("The Brocken.")  append  is moved
    Messages  3 → 6
    Tokens    29 → 51 (+22)
    Cache     nothing stays as it is from the beginning on
    "#);
    assert_eq!(sandbox.ok(&["branch"]), before);
    insta::assert_snapshot!(walk(&sandbox, &["rebase full --from short", "log --verbose -n 2", "rebase full --from short"]), @r###"
    $ tract rebase full --from short
    --- stderr
    Put 2 commits (2 append) on 90c2e1d ("Lake Constance."); main is now b192b76
    hint: it was at a22bcc5 ("The Brocken."); back: tract undo, or tract reset ORIG_HEAD
    $ tract log --verbose -n 2
    b192b76fc6332475d634ee254fa1d56d55086efa5561b46c9e16fd26a6a09523  :6  (HEAD -> main)
        2026-03-14 12:10:00 +0000  append  assistant  text  +8 = 51 tokens
        copy of a22bcc5
        The Brocken.

    ddfd90469e270171ac33be004b3f95d65aba6c57403ae1361a6ae94508eadaac  :5
        2026-03-14 12:09:00 +0000  append  user  text  +8 = 43 tokens
        copy of 0c804f1
        temp=0.5  note: asked
        And a hill?
    $ tract rebase full --from short
    exit code: 1
    --- stderr
    error: ad3e931 is not on this path
    hint: tract log lists what is on this one; tract pick takes single commits from others
    "###);
    insta::assert_snapshot!(brief(&sandbox), @r"
    [1] user
      Name a river.

    [2] assistant
      The Elbe.

    [3] user
      And a lake?

    [4] assistant
      Lake Constance.

    [5] user
      And a hill?

    [6] assistant
      The Brocken.
    ");
    insta::assert_snapshot!(walk(&sandbox, &["undo"]), @r#"
    $ tract undo
    --- stderr
    Undid #10 (4 min ago): rebase full --from short
    On main, at a22bcc5 ("The Brocken.")
    hint: back: tract redo
    "#);
    assert_eq!(sandbox.ok(&["branch"]), before);
}

#[test]
fn what_a_merge_or_a_pick_brought_in_is_not_said_twice() {
    for merge in [
        ["merge", "main"].as_slice(),
        &["merge", "main", "--messages"],
        &["pick", "main"],
    ] {
        let sandbox = Sandbox::with_messages(&FOUR);
        sandbox.ok(&["checkout", "-b", "idea"]);
        sandbox.ok(&["commit", "-r", "user", "-m", "And a hill?"]);
        sandbox.ok(&["checkout", "main"]);
        sandbox.ok(&["commit", "-r", "user", "-m", "And a sea?"]);
        sandbox.ok(&["checkout", "idea"]);
        sandbox.ok(merge);
        sandbox.ok(&["commit", "-r", "user", "-m", "And a bay?"]);
        sandbox.ok(&["rebase", "main"]);
        let text = brief(&sandbox);
        let said = |what: &str| text.matches(what).count();
        assert_eq!(
            [said("a sea?"), said("a hill?"), said("a bay?")],
            [1; 3],
            "{text}"
        );
        // What the base does not show stays.
        sandbox.ok(&["undo"]);
        sandbox.ok(&["--on", "main", "drop", ":5", "--force"]);
        sandbox.ok(&["rebase", "main"]);
        let text = brief(&sandbox);
        let is_copy = merge != ["merge", "main"];
        assert_eq!(text.contains("a sea?"), is_copy, "{merge:?}\n{text}");
    }
}

#[test]
fn a_branch_comes_on_another_with_all_that_it_changed() {
    let sandbox = Sandbox::with_messages(&FOUR);
    sandbox.ok(&["checkout", "-b", "idea"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "And a hill?"]);
    sandbox.ok(&[
        "commit",
        "-r",
        "assistant",
        "--edit",
        ":2",
        "-m",
        "The Elbe, of course.",
    ]);
    sandbox.ok(&["annotate", ":1", "--pin"]);
    sandbox.ok(&["drop", ":3"]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "And a sea?"]);
    sandbox.ok(&["checkout", "idea"]);
    insta::assert_snapshot!(walk(&sandbox, &["rebase main", "log"]), @r#"
    $ tract rebase main
    --- stderr
    Put 4 commits (1 append, 1 edit, 1 annotate, 1 drop) on 05fdf80 ("And a sea?"); idea is now 6f5336e
    hint: it was at b41205e ("drop"); back: tract undo, or tract reset ORIG_HEAD
    $ tract log
    6f5336e      2026-03-14 12:10:00  drop      -1 message   -8 tokens  46  (HEAD -> idea)
    147b699  :1  2026-03-14 12:09:00  annotate  user                    54  pinned, 1 message
    c7799b0  :2  2026-03-14 12:08:00  edit      assistant    +3         54  The Elbe, of course.
    acc319b  :5  2026-03-14 12:07:00  append    user         +8         51  And a hill?
    05fdf80  :4  2026-03-14 12:12:00  append    user         +8         43  (main)  And a sea?
    90c2e1d  :3  2026-03-14 12:05:00  append    assistant    +8         35  Lake Constance.
    d0677ca      2026-03-14 12:04:00  append    user         +8         27  And a lake?
    0683750  :2  2026-03-14 12:03:00  append    assistant    +8         19  The Elbe.
    73ccde1  :1  2026-03-14 12:02:00  append    user        +11         11  Name a river.
    "#);
    insta::assert_snapshot!(brief(&sandbox), @r"
    [1] user
      Name a river.

    [2] assistant
      The Elbe, of course.

    [3] assistant
      Lake Constance.

    [4] user
      And a sea?

    [5] user
      And a hill?
    ");
}

#[test]
fn what_both_changed_is_listed_and_nothing_is_written_until_it_is_settled() {
    let sandbox = Sandbox::with_messages(&FOUR);
    sandbox.ok(&["checkout", "-b", "idea"]);
    sandbox.ok(&[
        "commit",
        "-r",
        "assistant",
        "--edit",
        ":2",
        "-m",
        "The Oder.",
    ]);
    sandbox.ok(&["tag", "mine"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "And a hill?"]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&[
        "commit",
        "-r",
        "assistant",
        "--edit",
        ":2",
        "-m",
        "The Rhine.",
    ]);
    sandbox.ok(&["checkout", "idea"]);
    let before = sandbox.ok(&["branch"]);
    insta::assert_snapshot!(walk(&sandbox, &["rebase main", "cherry-pick main"]), @r#"
    $ tract rebase main
    exit code: 1
      d51a32d ("The Oder.")  edit  conflict: 0683750 (edited on both sides)
    --- stderr
    error: 1 commit cannot go along; nothing was written
    hint: --theirs makes them as this branch has them, --ours leaves them, --skip REV leaves one commit behind
    $ tract cherry-pick main
    exit code: 1
    --- stderr
    error: both sides changed the same differently: 0683750 by 5718764 (edited on both sides)
    hint: nothing was written; tract show 5718764 says what it does there
    "#);
    assert_eq!(sandbox.ok(&["branch"]), before);
    let second = || {
        brief(&sandbox)
            .lines()
            .take(9)
            .collect::<Vec<_>>()
            .join("\n")
    };
    insta::assert_snapshot!(walk(&sandbox, &["rebase main --ours"]), @r#"
    $ tract rebase main --ours
    --- stderr
    Put 1 commit (1 append) on 5718764 ("The Rhine."); idea is now 336ecfc
    1 commit: no change on the new base
    hint: it was at bba0187 ("And a hill?"); back: tract undo, or tract reset ORIG_HEAD
    "#);
    assert!(second().contains("The Rhine."), "{}", second());
    sandbox.ok(&["undo"]);
    sandbox.ok(&["rebase", "main", "--theirs"]);
    assert!(second().contains("The Oder."), "{}", second());
    sandbox.ok(&["undo"]);
    insta::assert_snapshot!(walk(&sandbox, &["rebase main --skip mine"]), @r#"
    $ tract rebase main --skip mine
    --- stderr
    Put 1 commit (1 append) on 5718764 ("The Rhine."); idea is now 336ecfc
    1 commit: left behind
    hint: it was at bba0187 ("And a hill?"); back: tract undo, or tract reset ORIG_HEAD
    "#);
    assert!(second().contains("The Rhine."), "{}", second());
}

#[test]
fn a_rebase_that_cannot_be_says_why_and_moves_nothing() {
    let sandbox = compacted();
    sandbox.ok(&["drop", ":1", "--force"]);
    sandbox.ok(&["branch", "behind", "HEAD~2"]);
    sandbox.ok(&["reset", "--root"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Something else."]);
    sandbox.ok(&["branch", "other"]);
    sandbox.ok(&["reset", "ORIG_HEAD"]);
    let before = sandbox.ok(&["branch"]);
    let commands = [
        "rebase HEAD",
        "rebase behind",
        "--on behind rebase main",
        "rebase other",
        "rebase nowhere",
        "rebase full --from other",
        "rebase full --skip other",
        "rebase full --from short",
    ];
    insta::assert_snapshot!(walk(&sandbox, &commands), @r#"
    $ tract rebase HEAD
    --- stderr
    Nothing to do: main stands on 536df8a ("drop") already
    $ tract rebase behind
    --- stderr
    Nothing to do: main stands on 0c804f1 ("And a hill?") already
    $ tract --on behind rebase main
    exit code: 1
    --- stderr
    error: 536df8a already has all that is on 'behind'
    hint: tract --on behind reset 536df8a moves the branch there
    $ tract rebase other
    exit code: 1
    --- stderr
    error: the two histories have nothing in common
    hint: --from REV says which commits to take; tract pick copies single messages
    $ tract rebase nowhere
    exit code: 1
    --- stderr
    error: nothing here is called 'nowhere'
    hint: did you mean other?
    $ tract rebase full --from other
    exit code: 1
    --- stderr
    error: b83a0bd is not on this path
    hint: tract log lists what is on this one; tract pick takes single commits from others
    $ tract rebase full --skip other
    exit code: 1
    --- stderr
    error: b83a0bd is not on this path
    hint: tract log lists what is on this one; tract pick takes single commits from others
    $ tract rebase full --from short
    exit code: 1
      536df8a ("drop")  drop  does not fit: it changes ad3e931, not on this branch
    --- stderr
    error: 1 commit cannot go along; nothing was written
    hint: --skip REV leaves a commit behind
    "#);
    sandbox.ok(&["checkout", "HEAD~1"]);
    insta::assert_snapshot!(walk(&sandbox, &["rebase full --from short"]), @r"
    $ tract rebase full --from short
    exit code: 1
    --- stderr
    error: Cannot commit in detached HEAD. Use 'tract checkout main' to return to your branch.
    hint: to go on from here and keep both: tract checkout -b NAME
    ");
    sandbox.ok(&["checkout", "main"]);
    assert_eq!(sandbox.ok(&["branch"]), before);
}

#[test]
fn a_result_never_goes_without_its_call() {
    let sandbox = crate::reduction::drop::with_calls();
    sandbox.ok(&["branch", "idea", ":1"]);
    sandbox.ok(&["--on", "idea", "commit", "-r", "user", "-m", "And d?"]);
    let before = sandbox.ok(&["branch"]);
    let commands = [
        // The calls wait there.
        "--on idea rebase main:2",
        // Behind the calls, before their results.
        "rebase :1 --from :2",
        // The calls wait there for results that stay behind.
        "rebase :2 --from :4",
    ];
    insta::assert_snapshot!(walk(&sandbox, &commands), @r"
    $ tract --on idea rebase main:2
    exit code: 1
    --- stderr
    error: a tool call of 21c72a4 still waits for its result
    hint: tract --on idea commit --call ID -m TEXT writes the result
    $ tract rebase :1 --from :2
    exit code: 1
    --- stderr
    error: f01d7f8 would be without its tool partner
    hint: a call and its result go together: take both along, or leave both behind
    $ tract rebase :2 --from :4
    exit code: 1
    --- stderr
    error: 21c72a4 would be without its tool partner
    hint: a call and its result go together: take both along, or leave both behind
    ");
    assert_eq!(sandbox.ok(&["branch"]), before);
    sandbox.ok(&["rebase", ":1", "--from", ":4"]);
    insta::assert_snapshot!(brief(&sandbox), @r"
    [1] user
      Compare a and b.

    [2] assistant
      They differ.

    [3] user
      How?

    [4] assistant
      In one letter.

    [5] user
      Thanks. And c?
    ");
}

#[test]
fn a_change_of_another_branch_is_done_here_where_it_fits() {
    let sandbox = Sandbox::with_messages(&FOUR);
    sandbox.ok(&["branch", "start"]);
    sandbox.ok(&["compact", "-m", "A river and a lake."]);
    sandbox.ok(&["tag", "short"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "And a hill?"]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "The Brocken."]);
    sandbox.ok(&["compact", "-m", "All of it."]);
    sandbox.ok(&["tag", "shorter"]);
    sandbox.ok(&["checkout", "start"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "And a sea?"]);
    let commands = [
        "cherry-pick shorter",
        "cherry-pick short --dry-run",
        "cherry-pick short",
        "pick short",
        "cherry-pick main~2",
    ];
    insta::assert_snapshot!(walk(&sandbox, &commands), @r"
    $ tract cherry-pick shorter
    exit code: 1
    --- stderr
    error: f95dd98 (compact) does not fit here: it changes ad3e931 and 2 more, not on this branch
    hint: nothing was written; tract log BRANCH lists what a branch has
    $ tract cherry-pick short --dry-run
    Would hide 4 messages
      :1  user         8  Name a river.
      :2  assistant    8  The Elbe.
      :3  user         8  And a lake?
      :4  assistant    8  Lake Constance.
      =   4 messages  32
    Would bring in 1 message
      :1  user       10  A river and a lake.
    Messages  5 → 2
    Tokens    43 → 21 (-22)
    Cache     nothing stays as it is from the beginning on
    pick would reach 21, cache kept 0%
    $ tract cherry-pick short
    --- stderr
    Did 1 change here (-22 tokens); HEAD is now a29a499
    $ tract pick short
    --- stderr
    ad3e931 changes nothing here: it is so already
    $ tract cherry-pick main~2
    --- stderr
    Copied 1 message to the end (+8 tokens); HEAD is now 5117fd8
    ");
    insta::assert_snapshot!(brief(&sandbox), @r"
    [1] user
      A river and a lake.

    [2] user
      And a sea?

    [3] user
      And a hill?
    ");
    // What stands for a copied message is found by its copy.
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "--edit",
        "main~2",
        "-m",
        "And a mountain?",
    ]);
    sandbox.ok(&["checkout", "start"]);
    insta::assert_snapshot!(walk(&sandbox, &["cherry-pick main"]), @r"
    $ tract cherry-pick main
    --- stderr
    Did 1 change here; HEAD is now c4c5a29
    ");
    assert!(brief(&sandbox).contains("And a mountain?"));
}

#[test]
fn a_revert_takes_one_commit_back_and_leaves_what_came_later() {
    let sandbox = compacted();
    let compacted = brief(&sandbox);
    insta::assert_snapshot!(walk(&sandbox, &["revert short --dry-run", "revert short", "revert short"]), @r"
    $ tract revert short --dry-run
    Would hide 1 message
      :1  injected   10  A river and a lake.
    Would bring in 4 messages
      :1  user         8  Name a river.
      :2  assistant    8  The Elbe.
      :3  user         8  And a lake?
      :4  assistant    8  Lake Constance.
      =   4 messages  32
    Messages  3 → 6
    Tokens    29 → 51 (+22)
    Cache     nothing stays as it is from the beginning on
    revert would reach 51, cache kept 0%
    $ tract revert short
    --- stderr
    Reverted compact ad3e931 (+22 tokens); HEAD is now 65ce9db
    Cache: nothing stays as it is from the beginning on
    $ tract revert short
    --- stderr
    Nothing to revert: compact ad3e931 has no effect any more
    ");
    insta::assert_snapshot!(brief(&sandbox), @r"
    [1] user
      Name a river.

    [2] assistant
      The Elbe.

    [3] user
      And a lake?

    [4] assistant
      Lake Constance.

    [5] user
      And a hill?

    [6] assistant
      The Brocken.
    ");
    // A revert is a commit, and reverted itself.
    sandbox.ok(&["revert", "HEAD"]);
    assert_eq!(brief(&sandbox), compacted);

    sandbox.ok(&["annotate", ":2", "--pin"]);
    insta::assert_snapshot!(walk(&sandbox, &["revert HEAD", "revert HEAD~1", "revert :3"]), @r"
    $ tract revert HEAD
    --- stderr
    Reverted annotate c23655b; HEAD is now 0229fa6
    Cache: the first 3 messages stay as they are: 29 tokens, 100%
    $ tract revert HEAD~1
    --- stderr
    Nothing to revert: annotate c23655b has no effect any more
    $ tract revert :3
    --- stderr
    Reverted append a22bcc5 (-8 tokens); HEAD is now b02cf70
    Cache: the first 2 messages stay as they are: 21 tokens, 72%
    ");
    sandbox.ok(&["commit", "-r", "user", "--edit", ":2", "-m", "And a peak?"]);
    insta::assert_snapshot!(walk(&sandbox, &["revert HEAD"]), @r"
    $ tract revert HEAD
    --- stderr
    Reverted edit 15fd6f7; HEAD is now a5cd220
    Cache: the first message stays as it is: 13 tokens, 62%
    ");
    assert!(brief(&sandbox).contains("And a hill?"));
}

#[test]
fn a_reverted_restore_holds_when_another_hide_is_taken_back() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "Name a river."),
        ("assistant", "The Elbe."),
        ("user", "And a lake?"),
        ("assistant", "Lake Constance."),
        ("user", "And a hill?"),
    ]);
    let steps: [&[&str]; 6] = [
        &["drop", ":2"],
        &["restore", "HEAD"],
        &["truncate", "--keep", "1"],
        &["revert", "HEAD~1"],
        &["revert", "HEAD~1"],
        &["fsck"],
    ];
    for step in steps {
        sandbox.ok(step);
    }
    let seen = brief(&sandbox);
    assert!(seen.contains("Lake") && !seen.contains("Elbe"), "{seen}");
}

#[test]
fn a_revert_that_cannot_be_says_why() {
    let sandbox = Sandbox::with_messages(&FOUR);
    sandbox.ok(&["branch", "idea"]);
    sandbox.ok(&["--on", "idea", "commit", "-r", "user", "-m", "And a hill?"]);
    let commands = ["revert :1", "revert idea", "revert nowhere", "revert :2#0"];
    insta::assert_snapshot!(walk(&sandbox, &commands), @r"
    $ tract revert :1
    exit code: 1
    --- stderr
    error: the task cannot be dropped
    hint: --force drops it anyway
    $ tract revert idea
    exit code: 1
    --- stderr
    error: 4cf47a9 is not on this path
    hint: tract log lists what is on this one; tract pick takes single commits from others
    $ tract revert nowhere
    exit code: 1
    --- stderr
    error: nothing here is called 'nowhere'
    hint: tract log --oneline lists them, tract branch the branches
    $ tract revert :2#0
    exit code: 2
    --- stderr
    error: :2#0 is a part of a message, not a commit
    hint: tract show ':2#0' shows the part; the commit is :2
    ");
    sandbox.ok(&["purge", ":2", "--force"]);
    insta::assert_snapshot!(walk(&sandbox, &["revert :2", "revert HEAD"]), @r"
    $ tract revert :2
    --- stderr
    Reverted append 0683750 (-8 tokens); HEAD is now 43b2e31
    Cache: the first message stays as it is: 11 tokens, 31%
    $ tract revert HEAD
    --- stderr
    Reverted drop 43b2e31 (+8 tokens); HEAD is now 0b930be
    Cache: the first message stays as it is: 11 tokens, 41%
    ");
    sandbox.ok(&["checkout", "HEAD~1"]);
    insta::assert_snapshot!(walk(&sandbox, &["revert HEAD"]), @r"
    $ tract revert HEAD
    exit code: 1
    --- stderr
    error: Cannot commit in detached HEAD. Use 'tract checkout main' to return to your branch.
    hint: to go on from here and keep both: tract checkout -b NAME
    ");
}

#[test]
fn a_session_goes_on_behind_its_messages_on_another_base() {
    let sandbox = crate::sessions::import::with_demo();
    let compaction = sandbox.ok(&["log", "--op", "compact", "--format", "%h", "-n", "1"]);
    let compaction = compaction.trim();
    sandbox.ok(&["rebase", &format!("{compaction}^"), "--from", compaction]);
    let rebased = sandbox.ok(&["compile"]);
    // What it is made of is the session still, and nothing of it is new.
    let said = sandbox.tract(&["import", "--onto", "main", "session.jsonl"]);
    assert_eq!(sandbox.ok(&["compile"]), rebased, "{said}");
    assert!(sandbox.ok(&["status"]).contains("claude-code"));
    let checked = sandbox.tract(&["fsck"]);
    assert!(checked.contains("no damage"), "{checked}");
    sandbox.ok(&["export", "-o", "out.jsonl"]);
}
