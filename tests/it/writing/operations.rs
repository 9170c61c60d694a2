//! What was said stands in no operation: neither the texts that a command writes, nor those by which
//! it finds a message.

use crate::sandbox::Sandbox;

/// Every command that takes a revision or writes a text, each to a branch of its own.
const COMMANDS: &[&[&str]] = &[
    &["commit", "-r", "user", "-m", "xyzzy"],
    &["commit", "--edit", ":/xyzzy", "-m", "xyzzy too"],
    &[
        "commit",
        "--edit=:/xyzzy",
        "-m",
        "xyzzy too",
        "--note",
        "xyzzy",
    ],
    &["commit", "--expect", ":/xyzzy", "-r", "user", "-m", "x"],
    &["annotate", ":/xyzzy", "--pin", "--reason", "xyzzy"],
    &["pin", ":/xyzzy"],
    &["unpin", ":/xyzzy"],
    &["tag", "one", ":/xyzzy", "-m", "xyzzy"],
    &["branch", "two", ":/xyzzy"],
    &["branch", "three", ":/xyzzy.."],
    &["reset", ":/xyzzy"],
    &["undo"],
    &["reset", "--hard", ":/xyzzy"],
    &["undo"],
    &["checkout", ":/xyzzy"],
    &["checkout", "-"],
    &["checkout", "-b", "four", ":/xyzzy"],
    &["checkout", "main"],
    &["compact", ":/xyzzy..:/xyzzy", "-m", "xyzzy"],
    &["compact", "HEAD~2..:/xyzzy", "-m", "xyzzy"],
    &["compact", "..:/xyzzy", "-m", "xyzzy"],
    &["compact", "--exec", "echo xyzzy"],
    &["undo"],
    &["drop", ":/xyzzy", "--force"],
    &["undo"],
    &["drop", ":/xyzzy#0", "--force"],
    &["restore", ":/xyzzy"],
    &["restore", ":/xyzzy#0"],
    &["truncate", "--keep", "1", "--message", "xyzzy"],
    &["truncate", "--keep", "1", "--marker", "xyzzy"],
    &["clear"],
    &["undo"],
    &["redo"],
    &["undo"],
];

#[test]
fn no_operation_says_what_was_said_or_looked_for() {
    let sandbox = Sandbox::with_messages(&[
        ("system", "rules"),
        ("user", "the task"),
        ("assistant", "xyzzy, plainly"),
        ("user", "go on"),
        ("assistant", "xyzzy again"),
        ("user", "and on"),
    ]);
    let mut done = 0;
    for command in COMMANDS {
        let output = sandbox.command(command).output().expect("it runs");
        done += usize::from(output.status.success());
    }
    assert!(
        done > COMMANDS.len() * 2 / 3,
        "only {done} were carried out"
    );
    let listed = sandbox.ok(&["reflog", "-n", "100"]);
    assert!(!listed.contains("xyzzy"), "{listed}");
    insta::assert_snapshot!(listed, @r"
    #34  2026-03-14 12:41:00  undo 31: clear                    main 37fb223 → bcb609b
    #33  2026-03-14 12:40:00  redo 31: clear                    main bcb609b → 37fb223
    #32  2026-03-14 12:39:00  undo 31: clear                    main 37fb223 → bcb609b
    #31  2026-03-14 12:38:00  clear (undone)                    main bcb609b → 37fb223
    #30  2026-03-14 12:37:00  truncate --keep 1 --marker …      main deda6ef → bcb609b
    #29  2026-03-14 12:34:00  restore :/…                       main ad63f62 → deda6ef
    #28  2026-03-14 12:33:00  drop :/… --force                  main 1b2cff9 → ad63f62
    #27  2026-03-14 12:32:00  undo 26: drop :/… --force         main e359616 → 1b2cff9
    #26  2026-03-14 12:31:00  drop :/… --force (undone)         main 1b2cff9 → e359616
    #25  2026-03-14 12:30:00  undo 24: compact ..:/… -m …       main 6551ec4 → 1b2cff9
    #24  2026-03-14 12:28:00  compact ..:/… -m … (undone)       main 1b2cff9 → 6551ec4
    #23  2026-03-14 12:26:00  compact :/… -m …                  main 2ab5f5f → 1b2cff9
    #22  2026-03-14 12:25:00  checkout main                     HEAD four → main, PREV_HEAD main → four
    #21  2026-03-14 12:24:00  checkout -b four :/…              four none → 9abb8b3, HEAD main → four, PREV_HEAD 9abb8b3 → main
    #20  2026-03-14 12:23:00  checkout -                        HEAD 9abb8b3 → main, PREV_HEAD main → 9abb8b3
    #19  2026-03-14 12:22:00  checkout :/…                      HEAD none → 9abb8b3, PREV_HEAD none → main
    #18  2026-03-14 12:21:00  undo 17: reset --hard :/…         main 9abb8b3 → 2ab5f5f, PREV_HEAD 2ab5f5f → none
    #17  2026-03-14 12:20:00  reset --hard :/… (undone)         main 2ab5f5f → 9abb8b3, PREV_HEAD none → 2ab5f5f
    #16  2026-03-14 12:19:00  undo 15: reset :/…                main 9abb8b3 → 2ab5f5f, PREV_HEAD 2ab5f5f → none, ORIG_HEAD 2ab5f5f → none
    #15  2026-03-14 12:18:00  reset :/… (undone)                main 2ab5f5f → 9abb8b3, ORIG_HEAD none → 2ab5f5f, PREV_HEAD none → 2ab5f5f
    #14  2026-03-14 12:16:00  branch two :/…                    two none → 9abb8b3
    #13  2026-03-14 12:15:00  tag -m … one :/…                  one none → 9abb8b3
    #12  2026-03-14 12:14:00  annotate :/… --normal             main 80291ab → 2ab5f5f
    #11  2026-03-14 12:12:00  annotate :/… --pin --reason …     main cf38d14 → 80291ab
    #10  2026-03-14 12:11:00  commit -r user -m … --expect :/…  main 9abb8b3 → cf38d14
     #9  2026-03-14 12:10:00  commit -m … --edit :/… --note …   main c89a08e → 9abb8b3
     #8  2026-03-14 12:09:00  commit -m … --edit :/…            main c4139c2 → c89a08e
     #7  2026-03-14 12:08:00  commit -r user -m …               main c8ab8b2 → c4139c2
     #6  2026-03-14 12:07:00  commit -r user -m …               main 8130259 → c8ab8b2
     #5  2026-03-14 12:06:00  commit -r assistant -m …          main 6f57b55 → 8130259
     #4  2026-03-14 12:05:00  commit -r user -m …               main de1fafb → 6f57b55
     #3  2026-03-14 12:04:00  commit -r assistant -m …          main 16f2c62 → de1fafb
     #2  2026-03-14 12:03:00  commit -r user -m …               main 4ca92fa → 16f2c62
     #1  2026-03-14 12:02:00  commit -r system -m …             main none → 4ca92fa
    ");
    let said = sandbox.query("SELECT what FROM operations WHERE what LIKE '%xyzzy%'");
    assert!(said.is_empty(), "{said:?}");
}
