//! Reset, checkout, branches, tags, undo and redo: there and back.

use std::fmt::Write as _;
use std::path::Path;

use crate::sandbox::Sandbox;

const FOUR: [(&str, &str); 4] = [
    ("user", "Name a river."),
    ("assistant", "The Elbe."),
    ("user", "And a lake?"),
    ("assistant", "Lake Constance."),
];

/// Each command with all that it says.
pub fn walk(sandbox: &Sandbox, commands: &[&str]) -> String {
    let mut told = String::new();
    for line in commands {
        let words: Vec<&str> = line.split(' ').collect();
        writeln!(told, "$ tract {line}").expect("a string");
        told += &sandbox.tract(&words);
    }
    told
}

/// All refs, as one text.
fn refs(sandbox: &Sandbox) -> String {
    let names = ["HEAD", "main", "ORIG_HEAD", "PREV_HEAD", "idea"];
    let one = |name: &str| sandbox.tract(&["rev-parse", name]);
    let head = sandbox.tract(&["branch"]);
    names.map(one).concat() + &head
}

#[test]
fn an_import_of_many_files_is_taken_back_at_once_and_comes_again() {
    let sandbox = Sandbox::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code");
    let names = ["compaction.jsonl", "rewind.jsonl", "failed.jsonl"];
    for name in names {
        let text = std::fs::read(data.join(name)).expect("a session");
        sandbox.write(&format!("logs/{name}"), text);
    }
    sandbox.ok(&["commit", "-r", "user", "-m", "mine"]);
    let before = sandbox.ok(&["branch"]);
    sandbox.ok(&["import", "logs"]);
    let with_all = sandbox.ok(&["branch"]);
    let taken_back = sandbox.tract(&["undo"]);
    assert!(taken_back.contains("import logs, 3 files"), "{taken_back}");
    assert_eq!(sandbox.ok(&["branch"]), before);
    // Their files are no sessions of this repository any more, and come in whole when they are asked for.
    let sessions = || sandbox.tract_with(&["api"], "{\"id\":1,\"method\":\"sessions\"}\n");
    assert!(sessions().contains(r#""sessions":[]"#), "{}", sessions());
    assert!(sandbox.tract(&["redo"]).contains("import logs, 3 files"));
    assert_eq!(sandbox.ok(&["branch"]), with_all);
    assert_eq!(sessions().matches("refs/sessions/").count(), 3);
    // One of them alone goes by its number, and the others stay together.
    let reflog = sandbox.ok(&["reflog", "-n", "0"]);
    let of = |name: &str| {
        let line = reflog
            .lines()
            .find(|line| line.contains(&format!("  import logs: logs/{name}")));
        let number = line.and_then(|line| line.trim_start().split(' ').next());
        number.expect("it is in the log").to_owned()
    };
    sandbox.ok(&["undo", &of("rewind.jsonl")]);
    assert_eq!(sessions().matches("refs/sessions/").count(), 2);
    assert!(sandbox.tract(&["undo"]).contains("import logs, 2 files"));
    assert_eq!(sandbox.ok(&["branch"]), before);
    sandbox.ok(&["import", "logs"]);
    assert_eq!(sandbox.ok(&["branch"]), with_all);
}

#[test]
fn a_revision_may_say_when() {
    // Each command takes a minute, the first message was the first.
    let sandbox = Sandbox::with_messages(&FOUR);
    let at = |text: &str| sandbox.ok(&["rev-parse", text]).trim().to_owned();
    let (two, three, four) = (at("HEAD~2"), at("HEAD~1"), at("HEAD"));
    for (text, hash) in [
        ("main@{1 minute ago}", &four),
        ("@{6 minutes ago}", &three),
        ("HEAD@{8min}", &two),
        ("HEAD@{8 minutes ago}^..main", &four),
    ] {
        let found = match text.contains("..") {
            true => sandbox.ok(&["log", "--format", "%H", text]),
            false => sandbox.ok(&["rev-parse", text]),
        };
        assert_eq!(found.lines().next(), Some(hash.as_str()), "{text}");
    }
    sandbox.ok(&["reset", "HEAD@{10 minutes ago}"]);
    assert_eq!(at("HEAD"), two);
    assert_eq!(at("HEAD@{3 minutes ago}"), four);
    sandbox.ok(&["branch", "old", "main@{13 minutes ago}"]);
    assert_eq!(at("old"), two);
    insta::assert_snapshot!(
        sandbox.tract(&["show", "main@{2 years ago}"]) + &sandbox.tract(&["show", "nix@{1h}"]),
        @r"
    exit code: 1
    --- stderr
    error: main had no commits yet then
    hint: tract reflog main lists where it was
    exit code: 1
    --- stderr
    error: nothing here is called 'nix'
    hint: tract log --oneline lists them, tract branch the branches
    "
    );
}

#[test]
fn an_empty_repository_has_nowhere_to_go_and_says_so() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(
        walk(&sandbox, &["branch", "tag", "reflog", "undo", "redo", "reset HEAD", "checkout -", "checkout main", "log"]),
        @r#"
    $ tract branch
    --- stderr
    No branch has a commit yet
    hint: the first commit makes 'main': tract import, or tract commit -r user -m "…"
    $ tract tag
    --- stderr
    No tags
    $ tract reflog
    --- stderr
    No command has changed anything here yet
    $ tract undo
    exit code: 1
    --- stderr
    error: nothing to undo
    hint: tract reflog lists past commands
    $ tract redo
    exit code: 1
    --- stderr
    error: nothing to redo
    hint: redo reverses an undo, and there is none to reverse
    $ tract reset HEAD
    exit code: 1
    --- stderr
    error: 'main' has no commits yet
    hint: tract import, or tract commit -r user -m "…"
    $ tract checkout -
    exit code: 1
    --- stderr
    error: no previous position
    hint: tract checkout - works once HEAD has moved; tract branch lists the branches
    $ tract checkout main
    --- stderr
    Already on main, which has no commits yet
    $ tract log
    exit code: 1
    --- stderr
    error: 'main' has no commits yet
    hint: tract import, or tract commit -r user -m "…"
    "#
    );
}

#[test]
fn the_first_commit_keeps_head_attached() {
    let sandbox = Sandbox::with_messages(&FOUR[..1]);
    insta::assert_snapshot!(walk(&sandbox, &["branch", "checkout main", "reflog"]), @r#"
    $ tract branch
    * main  73ccde1  2026-03-14 12:02:00  11 tokens  Name a river.
    $ tract checkout main
    --- stderr
    Already on main, at 73ccde1 ("Name a river.")
    $ tract reflog
    #1  2026-03-14 12:02:00  commit -r user -m …  main none → 73ccde1
    "#);
}

#[test]
fn a_soft_reset_is_undone_by_orig_head() {
    let sandbox = Sandbox::with_messages(&FOUR);
    let before = sandbox.ok(&["compile"]);
    insta::assert_snapshot!(
        walk(&sandbox, &["reset :2", "log", "reset :2", "reset ORIG_HEAD"]),
        @r#"
    $ tract reset :2
    --- stderr
    main is now at 0683750 ("The Elbe.")
    hint: it was at 90c2e1d ("Lake Constance."); back: tract reset ORIG_HEAD
    $ tract log
    0683750  :2  2026-03-14 12:03:00  append  assistant   +8  19  (HEAD -> main)  The Elbe.
    73ccde1  :1  2026-03-14 12:02:00  append  user       +11  11  Name a river.
    $ tract reset :2
    --- stderr
    main is at 0683750 ("The Elbe.") already
    $ tract reset ORIG_HEAD
    --- stderr
    main is now at 90c2e1d ("Lake Constance.")
    hint: it was at 0683750 ("The Elbe."); back: tract reset ORIG_HEAD
    "#
    );
    assert_eq!(sandbox.ok(&["compile"]), before);
}

#[test]
fn a_hard_reset_orphans_and_undo_brings_back() {
    let sandbox = Sandbox::with_messages(&FOUR);
    let before = refs(&sandbox);
    insta::assert_snapshot!(walk(&sandbox, &["reset --hard HEAD~3", "rev-parse ORIG_HEAD", "undo"]), @r#"
    $ tract reset --hard HEAD~3
    --- stderr
    main is now at 73ccde1 ("Name a river.")
    3 commits are now on no branch
    hint: it was at 90c2e1d ("Lake Constance."); back: tract undo, or tract reset 90c2e1d
    $ tract rev-parse ORIG_HEAD
    exit code: 1
    --- stderr
    error: nothing here is called 'ORIG_HEAD'
    hint: did you mean PREV_HEAD?
    $ tract undo
    --- stderr
    Undid #5 (2 min ago): reset --hard HEAD~3
    On main, at 90c2e1d ("Lake Constance.")
    hint: back: tract redo
    "#);
    assert_eq!(refs(&sandbox), before);
}

#[test]
fn undo_goes_back_to_a_point_in_one_step_and_redo_forward() {
    let sandbox = Sandbox::with_messages(&FOUR);
    let before = refs(&sandbox);
    insta::assert_snapshot!(
        walk(&sandbox, &["undo --to 2 --dry-run", "undo --to 2", "reflog -n 3", "redo", "undo --since 1h --dry-run"]),
        @r#"
    $ tract undo --to 2 --dry-run
    Would undo 2 commands
      #4  2026-03-14 12:05:00  commit -r assistant -m …  main d0677ca → 90c2e1d
      #3  2026-03-14 12:04:00  commit -r user -m …       main 0683750 → d0677ca
    $ tract undo --to 2
    --- stderr
    Undid 2 commands
      #4  2026-03-14 12:05:00  commit -r assistant -m …  main d0677ca → 90c2e1d
      #3  2026-03-14 12:04:00  commit -r user -m …       main 0683750 → d0677ca
    On main, at 0683750 ("The Elbe.")
    hint: back: tract redo
    $ tract reflog -n 3
    #6  2026-03-14 12:13:00  undo to #2: commit -r user -m …       main d0677ca → 0683750
    #5  2026-03-14 12:13:00  undo to #2: commit -r assistant -m …  main 90c2e1d → d0677ca
    #4  2026-03-14 12:05:00  commit -r assistant -m … (undone)     main d0677ca → 90c2e1d
    $ tract redo
    --- stderr
    Did again #3 (11 min ago): commit -r user -m …
    Did again #4 (10 min ago): commit -r assistant -m …
    On main, at 90c2e1d ("Lake Constance.")
    $ tract undo --since 1h --dry-run
    Would undo 4 commands
      #4  2026-03-14 12:05:00  commit -r assistant -m …  main d0677ca → 90c2e1d
      #3  2026-03-14 12:04:00  commit -r user -m …       main 0683750 → d0677ca
      #2  2026-03-14 12:03:00  commit -r assistant -m …  main 73ccde1 → 0683750
      #1  2026-03-14 12:02:00  commit -r user -m …       main none → 73ccde1
    "#
    );
    assert_eq!(refs(&sandbox), before);
}

#[test]
fn an_undo_to_a_point_that_is_none_says_so() {
    let sandbox = Sandbox::with_messages(&FOUR);
    let before = refs(&sandbox);
    let commands = [
        "undo --to 99",
        "undo --to 4",
        "undo --since 1min",
        "undo --since soon",
        "undo --dry-run",
        "undo 2 --to 3",
    ];
    insta::assert_snapshot!(walk(&sandbox, &commands), @r"
    $ tract undo --to 99
    exit code: 1
    --- stderr
    error: no operation 99
    hint: tract reflog lists past commands
    $ tract undo --to 4
    exit code: 1
    --- stderr
    error: nothing to undo
    hint: tract reflog lists past commands
    $ tract undo --since 1min
    exit code: 1
    --- stderr
    error: nothing to undo
    hint: tract reflog lists past commands
    $ tract undo --since soon
    exit code: 2
    --- stderr
    error: 'soon' is neither a date nor an age
    hint: 2026-01-31, 2026-01-31T14:00, yesterday, last week, or an age: 30min, 5h, 2d, 3w, 1mo, 1y
    $ tract undo --dry-run
    Would undo #4 (11 min ago): commit -r assistant -m …
      main 90c2e1d → d0677ca
    $ tract undo 2 --to 3
    exit code: 2
    --- stderr
    error: the argument '[OP]' cannot be used with '--to <OP>'
    hint: tract undo --help
    ");
    assert_eq!(refs(&sandbox), before);
}

#[test]
fn over_budget_a_detached_head_is_told_the_way_back_and_no_command_that_fails_there() {
    let sandbox = crate::reduction::drop::with_calls();
    sandbox.ok(&["config", "budget.max", "100"]);
    let attached = sandbox.tract(&["status", "-v"]);
    assert!(
        attached.contains("hint: over budget: tract shrink"),
        "{attached}"
    );
    assert!(attached.contains("tract prune"), "{attached}");
    sandbox.ok(&["checkout", ":8"]);
    let told = sandbox.tract(&["status", "-v"]);
    assert!(
        !told.contains("tract prune") && !told.contains("tract shrink"),
        "{told}"
    );
    assert!(told.contains("A prune gives back"), "{told}");
    assert!(
        told.contains("hint: to return: tract checkout main"),
        "{told}"
    );
    let there = sandbox.tract(&["--on", "main", "status"]);
    assert!(
        there.contains("hint: over budget: tract --on main shrink"),
        "{there}"
    );
}

#[test]
fn a_detached_head_is_read_only() {
    let sandbox = Sandbox::with_messages(&FOUR);
    insta::assert_snapshot!(
        walk(&sandbox, &[
            "checkout :2", "commit -r user -m no", "truncate --keep 1", "clear", "status", "log",
            "checkout -b idea", "commit -r user -m yes", "branch",
        ]),
        @r#"
    $ tract checkout :2
    --- stderr
    HEAD is now detached at 0683750 ("The Elbe.")
    hint: to return: tract checkout main; to go on from here and keep both: tract checkout -b NAME
    $ tract commit -r user -m no
    exit code: 1
    --- stderr
    error: Cannot commit in detached HEAD. Use 'tract checkout main' to return to your branch.
    hint: to go on from here and keep both: tract checkout -b NAME
    $ tract truncate --keep 1
    exit code: 1
    --- stderr
    error: Cannot commit in detached HEAD. Use 'tract checkout main' to return to your branch.
    hint: to go on from here and keep both: tract checkout -b NAME
    $ tract clear
    exit code: 1
    --- stderr
    error: Cannot commit in detached HEAD. Use 'tract checkout main' to return to your branch.
    hint: to go on from here and keep both: tract checkout -b NAME
    $ tract status
    HEAD detached at 0683750
    Context  2 messages
    Tokens   19 (no budget set)
             user 50% · assistant 50%   largest: Name a river. 8 (:1)

      0683750  :2  2026-03-14 12:03:00  append  assistant   +8  The Elbe.
      73ccde1  :1  2026-03-14 12:02:00  append  user       +11  Name a river.
    --- stderr
    hint: to return: tract checkout main; to go on from here: tract checkout -b NAME
    $ tract log
    0683750  :2  2026-03-14 12:03:00  append  assistant   +8  19  (HEAD)  The Elbe.
    73ccde1  :1  2026-03-14 12:02:00  append  user       +11  11  Name a river.
    $ tract checkout -b idea
    --- stderr
    On a new branch idea, at 0683750 ("The Elbe.")
    $ tract commit -r user -m yes
    70ef009 user 5 tokens
    $ tract branch
    * idea  70ef009  2026-03-14 12:13:00  24 tokens  Name a river.
      main  90c2e1d  2026-03-14 12:05:00  35 tokens  Name a river.
    "#
    );
}

#[test]
fn checkout_goes_back_and_forth_and_after_a_reset_to_the_old_commit() {
    let sandbox = Sandbox::with_messages(&FOUR);
    insta::assert_snapshot!(
        walk(&sandbox, &["checkout -", "checkout :1", "checkout -", "checkout -", "checkout main", "reset :3", "checkout -"]),
        @r#"
    $ tract checkout -
    exit code: 1
    --- stderr
    error: no previous position
    hint: tract checkout - works once HEAD has moved; tract branch lists the branches
    $ tract checkout :1
    --- stderr
    HEAD is now detached at 73ccde1 ("Name a river.")
    hint: to return: tract checkout main; to go on from here and keep both: tract checkout -b NAME
    $ tract checkout -
    --- stderr
    On main, at 90c2e1d ("Lake Constance.")
    $ tract checkout -
    --- stderr
    HEAD is now detached at 73ccde1 ("Name a river."), where it was before
    hint: to return: tract checkout main; to go on from here and keep both: tract checkout -b NAME
    $ tract checkout main
    --- stderr
    On main, at 90c2e1d ("Lake Constance.")
    $ tract reset :3
    --- stderr
    main is now at d0677ca ("And a lake?")
    hint: it was at 90c2e1d ("Lake Constance."); back: tract reset ORIG_HEAD
    $ tract checkout -
    --- stderr
    HEAD is now detached at 90c2e1d ("Lake Constance."), where it was before
    hint: to return: tract checkout main; to go on from here and keep both: tract checkout -b NAME
    "#
    );
}

#[test]
fn a_failed_move_changes_no_ref() {
    let sandbox = Sandbox::with_messages(&FOUR);
    sandbox.ok(&["checkout", "-b", "idea", ":2"]);
    let before = (refs(&sandbox), sandbox.ok(&["reflog"]));
    insta::assert_snapshot!(
        walk(&sandbox, &[
            "checkout nowhere", "checkout :9", "checkout -b main", "checkout -b idea", "checkout -b a..b",
            "checkout -b -x", "checkout -b HEAD", "checkout -b x.lock", "reset nowhere", "reset --hard HEAD~9",
            "branch main", "branch -d idea", "branch -d gone", "branch -m gone other", "branch -m main idea",
            "tag -d gone", "undo 99", "redo",
        ]),
        @r#"
    $ tract checkout nowhere
    exit code: 1
    --- stderr
    error: nothing here is called 'nowhere'
    hint: tract log --oneline lists them, tract branch the branches
    $ tract checkout :9
    exit code: 1
    --- stderr
    error: no message ':9'
    hint: there are 2 messages: :1 to :2, :-1 is the last
    $ tract checkout -b main
    exit code: 1
    --- stderr
    error: 'main' is there already
    hint: choose another name, or look at it: tract log main
    $ tract checkout -b idea
    exit code: 1
    --- stderr
    error: 'idea' is there already
    hint: choose another name, or look at it: tract log idea
    $ tract checkout -b a..b
    exit code: 2
    --- stderr
    error: 'a..b' is not a valid name: '..' and '@{' have a meaning in revisions
    hint: such as fix-parser or ideas/one
    $ tract checkout -b -x
    exit code: 2
    --- stderr
    error: unexpected argument '-x' found
    hint: tract checkout --help
    $ tract checkout -b HEAD
    exit code: 2
    --- stderr
    error: 'HEAD' is not a valid name: not a branch's name
    hint: such as fix-parser or ideas/one
    $ tract checkout -b x.lock
    exit code: 2
    --- stderr
    error: 'x.lock' is not a valid name: a piece of it is empty, '@', begins or ends with '.', or ends with '.lock'
    hint: such as fix-parser or ideas/one
    $ tract reset nowhere
    exit code: 1
    --- stderr
    error: nothing here is called 'nowhere'
    hint: tract log --oneline lists them, tract branch the branches
    $ tract reset --hard HEAD~9
    exit code: 1
    --- stderr
    error: 'HEAD~9' goes back beyond the first commit
    hint: the first is 73ccde1 ("Name a river.")
    $ tract branch main
    exit code: 1
    --- stderr
    error: 'main' is there already
    hint: choose another name, or look at it: tract log main
    $ tract branch -d idea
    exit code: 1
    --- stderr
    error: HEAD is on 'idea': check out another one first
    hint: tract checkout BRANCH goes to another branch
    $ tract branch -d gone
    exit code: 1
    --- stderr
    error: no branch 'gone'
    hint: tract branch lists them
    $ tract branch -m gone other
    exit code: 1
    --- stderr
    error: no branch 'gone'
    hint: tract branch lists them
    $ tract branch -m main idea
    exit code: 1
    --- stderr
    error: 'idea' is there already
    hint: choose another name, or look at it: tract log idea
    $ tract tag -d gone
    exit code: 1
    --- stderr
    error: no tag 'gone'
    hint: tract tag lists them
    $ tract undo 99
    exit code: 1
    --- stderr
    error: no operation 99
    hint: tract reflog lists past commands
    $ tract redo
    exit code: 1
    --- stderr
    error: nothing to redo
    hint: redo reverses an undo, and there is none to reverse
    "#
    );
    assert_eq!((refs(&sandbox), sandbox.ok(&["reflog"])), before);
}

#[test]
fn every_form_of_a_revision_is_resolved() {
    let sandbox = Sandbox::with_messages(&FOUR);
    let hashes: Vec<String> = (1..=4)
        .map(|n| {
            sandbox
                .ok(&["rev-parse", &format!(":{n}")])
                .trim()
                .to_owned()
        })
        .collect();
    let [one, two, three, four] = hashes.as_slice() else {
        panic!("four of them");
    };
    for command in [
        &["tag", "v1", ":2"][..],
        &["branch", "topic", ":3"],
        &["reset", ":3"],
        &["reset", "ORIG_HEAD"],
        &["checkout", "topic"],
        &["checkout", "main"],
    ] {
        sandbox.ok(command);
    }
    for (text, hash) in [
        ("HEAD", four),
        ("@", four),
        ("main", four),
        ("refs/heads/main", four),
        ("heads/main", four),
        ("v1", two),
        ("refs/tags/v1", two),
        ("topic", three),
        ("ORIG_HEAD", three),
        ("PREV_HEAD", three),
        ("HEAD^", three),
        ("HEAD^^", two),
        ("HEAD~", three),
        ("HEAD~3", one),
        ("main~2^", one),
        (":1", one),
        (":-1", four),
        (":-4", one),
        ("topic:2", two),
        ("v1:-1", two),
        ("main@{0}", four),
        ("main@{1}", three),
        ("main@{2}", four),
        ("HEAD@{1}", three),
        ("@{1}", three),
        (":/LAKE?", three),
        (":/lake", four),
        (":2#0", two),
        (&two[..4], two),
        (&two[..7], two),
        (two.as_str(), two),
        (&two[..9].to_uppercase(), two),
    ] {
        assert_eq!(sandbox.ok(&["rev-parse", text]).trim(), hash, "{text}");
    }
    let mut off = four[..8].to_owned();
    let last = if off.ends_with('0') { "1" } else { "0" };
    off.replace_range(7.., last);
    let told = sandbox.tract(&["rev-parse", &off]);
    assert!(
        told.contains(&format!("did you mean {}", &four[..7])),
        "{told}"
    );
    insta::assert_snapshot!(
        walk(&sandbox, &["rev-parse man", "rev-parse HAED", "rev-parse :5", "rev-parse :0", "rev-parse HEAD~4",
            "rev-parse abc", "rev-parse abc%", "rev-parse a_c1", "rev-parse :/sea", "rev-parse main@{9}"]),
        @r#"
    $ tract rev-parse man
    exit code: 1
    --- stderr
    error: nothing here is called 'man'
    hint: did you mean main?
    $ tract rev-parse HAED
    exit code: 1
    --- stderr
    error: nothing here is called 'HAED'
    hint: did you mean HEAD?
    $ tract rev-parse :5
    exit code: 1
    --- stderr
    error: no message ':5'
    hint: there are 4 messages: :1 to :4, :-1 is the last
    $ tract rev-parse :0
    exit code: 1
    --- stderr
    error: no message ':0'
    hint: there are 4 messages: :1 to :4, :-1 is the last
    $ tract rev-parse HEAD~4
    exit code: 1
    --- stderr
    error: 'HEAD~4' goes back beyond the first commit
    hint: the first is 73ccde1 ("Name a river.")
    $ tract rev-parse abc
    exit code: 1
    --- stderr
    error: no commit 'abc'
    hint: the beginning of a hash is 4 digits at least
    $ tract rev-parse abc%
    exit code: 1
    --- stderr
    error: nothing here is called 'abc%'
    hint: tract log --oneline lists them, tract branch the branches
    $ tract rev-parse a_c1
    exit code: 1
    --- stderr
    error: nothing here is called 'a_c1'
    hint: tract log --oneline lists them, tract branch the branches
    $ tract rev-parse :/sea
    exit code: 1
    --- stderr
    error: no commit ':/sea'
    hint: tract find TEXT searches all branches and sessions
    $ tract rev-parse main@{9}
    exit code: 1
    --- stderr
    error: no commit 'main@{9}'
    hint: did you mean main?
    "#
    );
}

#[test]
fn a_branch_takes_the_results_of_an_open_call_along_on_advice() {
    let sandbox = Sandbox::with_messages(&FOUR[..1]);
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]}"#;
    sandbox.tract_with(&["commit", "--json", "-"], call);
    sandbox.ok(&["commit", "-r", "tool", "--call", "c1", "-m", "a river"]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "It is a river."]);
    insta::assert_snapshot!(
        walk(&sandbox, &["branch early :2", "reset :2", "reset ORIG_HEAD", "checkout -b late :2"]),
        @r#"
    $ tract branch early :2
    --- stderr
    early begins at 2333c0e ("look")
    hint: the tool call at :2 has its result at :3; to take it along: tract branch NAME 6e46421
    $ tract reset :2
    --- stderr
    main is now at 2333c0e ("look")
    hint: it was at 053c4cd ("It is a river."); back: tract reset ORIG_HEAD
    hint: the tool call at :2 has its result at :3; to take it along: tract reset 6e46421
    $ tract reset ORIG_HEAD
    --- stderr
    main is now at 053c4cd ("It is a river.")
    hint: it was at 2333c0e ("look"); back: tract reset ORIG_HEAD
    $ tract checkout -b late :2
    --- stderr
    On a new branch late, at 2333c0e ("look")
    hint: the tool call at :2 has its result at :3; to take it along: tract checkout -b NAME 6e46421
    "#
    );
}

#[test]
fn branches_and_tags_are_listed_renamed_and_deleted() {
    let sandbox = Sandbox::with_messages(&FOUR);
    insta::assert_snapshot!(
        walk(&sandbox, &[
            "branch early :1", "branch", "branch -m early first", "branch -m trunk", "branch", "checkout -b x",
            "branch -d first", "branch -d x", "undo", "branch", "tag v1 :2", "tag v1 :3", "tag", "tag -d v1", "tag",
        ]),
        @r#"
    $ tract branch early :1
    --- stderr
    early begins at 73ccde1 ("Name a river.")
    $ tract branch
    * main   90c2e1d  2026-03-14 12:05:00  35 tokens  Name a river.
      early  73ccde1  2026-03-14 12:02:00  11 tokens  Name a river.
    $ tract branch -m early first
    --- stderr
    early is now called first
    $ tract branch -m trunk
    --- stderr
    main is now called trunk
    $ tract branch
    * trunk  90c2e1d  2026-03-14 12:05:00  35 tokens  Name a river.
      first  73ccde1  2026-03-14 12:02:00  11 tokens  Name a river.
    $ tract checkout -b x
    --- stderr
    On a new branch x, at 90c2e1d ("Lake Constance.")
    $ tract branch -d first
    --- stderr
    Deleted first, which was at 73ccde1 ("Name a river.")
    hint: back: tract undo, or tract branch first 73ccde1
    $ tract branch -d x
    exit code: 1
    --- stderr
    error: HEAD is on 'x': check out another one first
    hint: tract checkout BRANCH goes to another branch
    $ tract undo
    --- stderr
    Undid #9 (2 min ago): branch -d first
    first none → 73ccde1
    On x, at 90c2e1d ("Lake Constance.")
    hint: back: tract redo
    $ tract branch
      trunk  90c2e1d  2026-03-14 12:05:00  35 tokens  Name a river.
    * x      90c2e1d  2026-03-14 12:05:00  35 tokens  Name a river.
      first  73ccde1  2026-03-14 12:02:00  11 tokens  Name a river.
    $ tract tag v1 :2
    --- stderr
    v1 is 0683750 ("The Elbe.")
    $ tract tag v1 :3
    exit code: 1
    --- stderr
    error: 'v1' is there already
    hint: choose another name, or look at it: tract log v1
    $ tract tag
    v1  0683750
    $ tract tag -d v1
    --- stderr
    Deleted v1, which was at 0683750 ("The Elbe.")
    hint: back: tract undo, or tract tag v1 0683750
    $ tract tag
    --- stderr
    No tags
    "#
    );
    sandbox.ok(&["tag", "said", ":1", "-m", "the first \u{1b}[31mquestion"]);
    assert!(
        sandbox
            .ok(&["show", "said"])
            .contains("tag       said: the first ␛[31mquestion")
    );
    insta::assert_snapshot!(sandbox.tract(&["tag"]), @"said  73ccde1  2026-03-14 12:21:00  the first ␛[31mquestion");
}

#[test]
fn undo_five_times_and_redo_five_times() {
    let sandbox = Sandbox::with_messages(&FOUR[..2]);
    let session = sandbox.write(
        "session.json",
        r#"[{"role":"user","content":"Elsewhere?"},{"role":"assistant","content":"Yes."}]"#,
    );
    let session = session.display().to_string();
    let steps: [&[&str]; 5] = [
        &["commit", "-r", "user", "-m", "And a lake?"],
        &["import", &session],
        &["truncate", "--keep", "1"],
        &["reset", "--hard", "HEAD~2"],
        &["checkout", "-b", "idea"],
    ];
    let state = || {
        let sessions = sandbox.ok(&["find", "-F", "e", "-n", "0"]);
        refs(&sandbox) + &sandbox.tract(&["compile"]) + &sessions
    };
    let mut states = vec![state()];
    for step in steps {
        sandbox.ok(step);
        states.push(state());
    }
    for before in states[..5].iter().rev() {
        sandbox.ok(&["undo"]);
        assert_eq!(&state(), before);
    }
    for after in &states[1..] {
        sandbox.ok(&["redo"]);
        assert_eq!(&state(), after);
    }
    // What another process does in between is what the next undo reverses; and no redo runs over it.
    sandbox.ok(&["undo"]);
    sandbox.ok(&[
        "--on",
        "main",
        "commit",
        "-r",
        "user",
        "-m",
        "from elsewhere",
    ]);
    insta::assert_snapshot!(walk(&sandbox, &["redo", "undo", "redo", "redo"]), @r#"
    $ tract redo
    exit code: 1
    --- stderr
    error: nothing to redo: 'commit -r user -m …' came after the undo
    hint: a redo would lose its commits; tract undo reverses it, tract reflog lists the rest
    $ tract undo
    --- stderr
    Undid #19 (2 min ago): commit -r user -m …
    On main, at 0683750 ("The Elbe.")
    hint: back: tract redo
    $ tract redo
    --- stderr
    Did again #19 (3 min ago): commit -r user -m …
    On main, at b0f2c8d ("from elsewhere")
    $ tract redo
    exit code: 1
    --- stderr
    error: nothing to redo
    hint: redo reverses an undo, and there is none to reverse
    "#);
}

#[test]
fn an_import_that_was_undone_comes_in_again() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "session.json",
        r#"[{"role":"user","content":"Elsewhere?"},{"role":"assistant","content":"Yes."}]"#,
    );
    sandbox.ok(&["import", "session.json"]);
    let before = sandbox.ok(&["log", "--verbose"]);
    sandbox.ok(&["undo"]);
    insta::assert_snapshot!(sandbox.tract(&["log"]), @r#"
    exit code: 1
    --- stderr
    error: 'main' has no commits yet
    hint: tract import, or tract commit -r user -m "…"
    "#);
    sandbox.ok(&["import", "session.json"]);
    assert_eq!(sandbox.ok(&["log", "--verbose"]), before);
}

#[test]
fn what_was_taken_over_from_a_session_is_taken_again_after_a_reset() {
    let sandbox = Sandbox::with_messages(&FOUR[..1]);
    sandbox.write(
        "session.json",
        r#"[{"role":"user","content":"Elsewhere?"},{"role":"assistant","content":"Yes."}]"#,
    );
    sandbox.ok(&["import", "--onto", "main", "session.json"]);
    let taken = sandbox.ok(&["compile"]);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["import", "--onto", "main", "session.json"]);
    assert_eq!(sandbox.ok(&["compile"]), taken);
    sandbox.ok(&["reset", "--hard", ":1"]);
    sandbox.ok(&["import", "--onto", "main", "session.json"]);
    assert_eq!(sandbox.ok(&["compile"]), taken);
}

#[test]
fn two_branches_are_worked_on_without_head() {
    let sandbox = Sandbox::with_messages(&FOUR[..2]);
    sandbox.ok(&["branch", "agent"]);
    sandbox.ok(&["--on", "agent", "commit", "-r", "user", "-m", "mine"]);
    insta::assert_snapshot!(walk(&sandbox, &["undo", "redo", "--on agent undo", "--on agent redo"]), @r#"
    $ tract undo
    --- stderr
    Undid #4 (1 min ago): commit -r user -m …
    agent b9f1b4b → 0683750
    On main, at 0683750 ("The Elbe.")
    hint: back: tract redo
    $ tract redo
    --- stderr
    Did again #4 (2 min ago): commit -r user -m …
    agent 0683750 → b9f1b4b
    On main, at 0683750 ("The Elbe.")
    $ tract --on agent undo
    exit code: 2
    --- stderr
    error: undo is not of one branch, so --on has no meaning for it
    hint: undo reverses the last operation, whoever ran it; by number: tract undo N
    $ tract --on agent redo
    exit code: 2
    --- stderr
    error: redo is not of one branch, so --on has no meaning for it
    hint: redo reverses the last undo, whoever ran it
    "#);
    insta::assert_snapshot!(
        walk(&sandbox, &["--on agent reset :1", "--on agent log", "--on agent checkout main", "log", "rev-parse HEAD@{1}"]),
        @r#"
    $ tract --on agent reset :1
    --- stderr
    agent is now at 73ccde1 ("Name a river.")
    hint: it was at b9f1b4b ("mine"); back: tract --on agent reset ORIG_HEAD
    $ tract --on agent log
    73ccde1  :1  2026-03-14 12:02:00  append  user  +11  11  (HEAD -> agent)  Name a river.
    $ tract --on agent checkout main
    exit code: 2
    --- stderr
    error: checkout moves HEAD, which --on and TRACT_BRANCH leave alone
    hint: --on takes any branch as it is; a new one: tract branch NAME REV
    $ tract log
    0683750  :2  2026-03-14 12:03:00  append  assistant   +8  19  (HEAD -> main)  The Elbe.
    73ccde1  :1  2026-03-14 12:02:00  append  user       +11  11  (agent)  Name a river.
    $ tract rev-parse HEAD@{1}
    73ccde197653136cc015a89aa3b3e6aa48356cb06ad51333445686ec6bef811f
    "#
    );
}

#[test]
fn an_ambiguous_prefix_lists_its_candidates() {
    let sandbox = Sandbox::new();
    let batch: String = (0..1_000)
        .map(|n| format!("{{\"role\":\"user\",\"content\":\"message {n}\"}}\n"))
        .collect();
    sandbox.tract_with(&["commit", "--batch", "-"], batch);
    let hashes = sandbox.ok(&["log", "-n", "0", "--format", "%H %s"]);
    let mut lines: Vec<&str> = hashes.lines().collect();
    lines.sort_unstable();
    let same = lines.windows(2).find(|two| two[0][..4] == two[1][..4]);
    let [one, two] = same.expect("a thousand hashes, 65,536 beginnings") else {
        unreachable!("windows of two");
    };
    let told = sandbox.tract(&["rev-parse", &one[..4]]);
    let candidate = |line: &str| {
        let (hash, text) = line.split_once(' ').expect("a hash and a text");
        format!("  {} (\"{text}\")\n", &hash[..7])
    };
    assert_eq!(
        told,
        format!(
            "exit code: 1\n--- stderr\nerror: '{}' is ambiguous\n\
             hint: one of these?\n{}{}",
            &one[..4],
            candidate(one),
            candidate(two)
        )
    );
    // So does a command that asks a deed.
    assert_eq!(sandbox.tract(&["checkout", &one[..4]]), told);
    let longer = (5..64).find(|digits| one[..*digits] != two[..*digits]);
    let digits = longer.expect("they differ");
    assert_eq!(
        sandbox.ok(&["rev-parse", &one[..digits]]).trim(),
        &one[..64]
    );
}

#[test]
fn a_part_of_a_message_is_no_commit_to_go_to() {
    let sandbox =
        Sandbox::with_messages(&[("user", "one"), ("assistant", "two"), ("user", "three")]);
    let before = sandbox.ok(&["reflog"]);
    let wanted = "exit code: 2\n--- stderr\nerror: :2#0 is a part of a message, not a commit\n\
                  hint: tract show ':2#0' shows the part; the commit is :2\n";
    for command in [
        &["reset", ":2#0"][..],
        &["reset", "--hard", ":2#0"],
        &["checkout", ":2#0"],
        &["checkout", "-b", "other", ":2#0"],
        &["compile", ":2#0"],
        &["compile", "--for", ":2#0"],
        &["export", ":2#0", "--format", "openai"],
        &["resume", ":2#0"],
    ] {
        assert_eq!(sandbox.tract(command), wanted, "{command:?}");
    }
    assert_eq!(sandbox.ok(&["reflog"]), before);
}

#[test]
fn branches_move_at_once_or_not_at_all_in_both_engines() {
    let sandbox = Sandbox::with_messages(&FOUR);
    let at = |rev: &str| sandbox.ok(&["rev-parse", rev]).trim().to_owned();
    let (first, last) = (at("HEAD~3"), at("HEAD"));
    let moves = |expect: &str| {
        format!(
            r#"{{"what": "both", "moves": [{{"branch": "idea", "to": "{last}", "expect": "none"}}, {{"branch": "main", "to": "{first}", "expect": "{expect}"}}]}}"#
        )
    };
    let refused = sandbox.tract(&["api", "move", &moves(&first)]);
    assert!(
        refused.starts_with("exit code: 4") && refused.contains("ref_moved"),
        "{refused}"
    );
    assert_eq!(sandbox.ok(&["branch"]).lines().count(), 1);
    sandbox.ok(&["api", "move", &moves(&last)]);
    assert_eq!((at("main"), at("idea")), (first.clone(), last.clone()));
    assert!(
        sandbox
            .tract(&["rev-parse", "ORIG_HEAD"])
            .starts_with("exit code: 1")
    );
    // A commit takes another branch along, in its own operation.
    let commit = format!(
        r#"{{"role": "user", "message": "And a sea?", "moves": [{{"branch": "idea", "to": "{first}", "expect": "{last}"}}]}}"#
    );
    sandbox.ok(&["api", "commit", &commit]);
    assert_eq!((at("main^"), at("idea")), (first.clone(), first.clone()));
    assert!(
        sandbox
            .tract(&["api", "commit", &commit])
            .starts_with("exit code: 4")
    );
    sandbox.ok(&["undo"]);
    assert_eq!((at("main"), at("idea")), (first.clone(), last.clone()));
    sandbox.ok(&["undo"]);
    assert_eq!(
        (at("main"), sandbox.ok(&["branch"]).lines().count()),
        (last, 1)
    );
    // People have the same condition.
    let lost = sandbox.tract(&["reset", "HEAD^", "--expect", &first]);
    assert!(lost.starts_with("exit code: 4"), "{lost}");
    sandbox.ok(&["reset", "HEAD^", "--expect", "HEAD"]);
    let left = sandbox.tract(&["reset", "--root", "--expect", "none"]);
    assert!(left.starts_with("exit code: 4"), "{left}");
}
