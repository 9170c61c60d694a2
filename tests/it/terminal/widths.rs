//! What people see on a terminal of 80 and of 120 columns, and its colours.

use crate::sandbox::Sandbox;
use crate::sessions::import::with_demo;

/// A history with every kind of line: wide characters, an escape sequence, hides, refs.
fn sandbox() -> Sandbox {
    let sandbox = with_demo();
    for arguments in [
        &[
            "commit",
            "-r",
            "user",
            "-m",
            "漢字の長い文章がここに書かれています、そして続きます。もっと長く書きます。",
        ][..],
        &[
            "commit",
            "-r",
            "assistant",
            "-m",
            "🎉 Done \u{1b}[31mred\u{1b}[0m and more words than fit on one narrow line of text",
        ],
        &["tag", "party", ":-1"],
        &["truncate", "--keep", "4"],
        &["commit", "--edit", ":-2", "-m", "Shorter."],
        &["annotate", ":-1", "--pin", "--reason", "worth keeping"],
        &["config", "budget.max", "2k"],
        &["branch", "a-branch-with-a-rather-long-name", ":2"],
    ] {
        sandbox.ok(arguments);
    }
    sandbox
}

/// Each command as it is drawn at this width; nothing where no terminal can be made.
fn drawn(sandbox: &Sandbox, columns: &str, commands: &[&[&str]]) -> Option<String> {
    let mut told = String::new();
    for arguments in commands {
        told += &format!("$ tract {}\n", arguments.join(" "));
        told += &sandbox.on_terminal(columns, arguments)?;
    }
    Some(told)
}

const LOOKS: [&[&str]; 7] = [
    &["log", "-n", "8"],
    &["log", "-n", "2", "--verbose"],
    &["status"],
    &["branch"],
    &["tag"],
    &["reflog", "-n", "5"],
    &["diff", "HEAD~3", "--stat"],
];

#[test]
fn at_80_columns() {
    let sandbox = sandbox();
    let Some(told) = drawn(&sandbox, "80", &LOOKS) else {
        eprintln!("skipped: no `script` here to make a terminal");
        return;
    };
    insta::assert_snapshot!(told, @r#"
    $ tract log -n 8
    commit   no.  time   who        tokens  context  message
    2026-03-14, today
    4c993c8   :7  12:08  annotate               430  (HEAD -> main)  pinned, 1 mess…
    de6f21a   :6  12:07  edit user     -23      430  Shorter.
    3f2bb77   :2  12:06  truncate     -687      453  (a-branch-wi…)  -8 +1 messages
    6bb0a8d   :7  12:04  assistant     +28    1,140  (party)  🎉 Done ␛[31mred␛[0m…
    f94e00f   :6  12:03  user          +30    1,112  漢字の長い文章がここに書かれて…
    662930f   :5  09:19  assistant     +22    1,082  (claude-code…)  Done: one line…
    d78474a   :4  09:19  tool          +20    1,060  Edit /home/mara/tal… → The fil…
    f1b4ce2   :3  09:19  assistant     +75    1,040  Edit /home/mara/tally/CHANGELO…
    $ tract log -n 2 --verbose
    4c993c88265b4bea9f6a4a1de6133ad1d06104b978f54e23f3729a655ad9a604  :7  (HEAD ->…)
        2026-03-14 12:08:00 +0000  annotate  assistant  0 = 430 tokens
        pinned, 1 message: worth keeping

    de6f21ae7e91ea2d3e20c0546c196dbfc1dbd67b95a29c4c052b9beea161c30d  :6
        2026-03-14 12:07:00 +0000  edit  user  text  -23 = 430 tokens
        Shorter.
    $ tract status
    On main, HEAD 4c993c8  (claude-code "Read the bank's amounts, and never in si…")
    Context  7 messages, 31 hidden (1 truncation, 1 compaction)
    Window   [====================] about 19.9k of 2k (994%)
             user 2% · assistant 29% · tool 5% · injected by the client 64%
             largest: This session is being continued from a previous conv… 257 (:1)

      4c993c8  :7  5 min ago  annotate         pinned, 1 message: worth keeping
      de6f21a  :6  6 min ago  edit user   -23  Shorter.
      3f2bb77  :2  7 min ago  truncate   -687  -8 +1 messages  [Sliding window trun…
    hint: over budget: tract compact puts a summary in place of what is old
    $ tract branch
      BRANCH                      COMMIT   LAST       TOKENS  ABOUT
    * main                        4c993c8  6 min ago     430  Read the bank's amoun…
      a-branch…-rather-long-name  3f2bb77  8 min ago     453  Read the bank's amoun…
    $ tract tag
    party  6bb0a8d
    $ tract reflog -n 5
    no.  time        command                           moved
     #8  6 min ago   branch a-branch-with-a-rather-l…  a-branch-with-a-rather-long-…
     #7  8 min ago   annotate :-1 --pin --reason …     main de6f21a → 4c993c8
     #6  9 min ago   commit -m … --edit :-2            main 3f2bb77 → de6f21a
     #5  10 min ago  truncate --keep 4                 main 6bb0a8d → 3f2bb77
     #4  11 min ago  tag party :-1                     party none → 6bb0a8d
    $ tract diff HEAD~3 --stat
    comparing HEAD~3 with HEAD

    - :2 … :9             8 messages hidden                      | -705 ----------
    + :2        injected  [Sliding window truncation: 8 message… |  +18 +
    ~ :13 → :6  user      Shorter.                               |  -23 -

    1 message modified, 1 added, 8 hidden, tokens: -710 (1,140 → 430)
    cache   first 1 of 7 messages identical (260 tokens, 60%; 1.0 kB for openai)
            first difference: :2 (HEAD~3 df4f355, HEAD 3f2bb77)
    "#);
    assert_fits(&told, 80);
}

#[test]
fn at_120_columns() {
    let sandbox = sandbox();
    let Some(told) = drawn(&sandbox, "120", &LOOKS) else {
        eprintln!("skipped: no `script` here to make a terminal");
        return;
    };
    insta::assert_snapshot!(told, @r#"
    $ tract log -n 8
    commit   no.  time      what      who                  tokens  context  message
    2026-03-14, today
    4c993c8   :7  12:08:00  annotate  assistant                        430  (HEAD -> main)  pinned, 1 message: worth keeping
    de6f21a   :6  12:07:00  edit      user             -23             430  Shorter.
    3f2bb77   :2  12:06:00  truncate  -8 +1 messages  -687 tokens      453  (a-branch-with-a-rathe…)  [Sliding window trunc…
    6bb0a8d   :7  12:04:00  append    assistant        +28           1,140  (party)  🎉 Done ␛[31mred␛[0m and more words th…
    f94e00f   :6  12:03:00  append    user             +30           1,112  漢字の長い文章がここに書かれています、そして続…
    662930f   :5  09:19:41  append    assistant        +22           1,082  (claude-code/5b0c9a1e…)  Done: one line under *…
    d78474a   :4  09:19:38  append    tool             +20           1,060  Edit /home/mara/tally/CHANGELOG… → The file /ho…
    f1b4ce2   :3  09:19:38  append    assistant        +75           1,040  Edit /home/mara/tally/CHANGELOG.md
    $ tract log -n 2 --verbose
    4c993c88265b4bea9f6a4a1de6133ad1d06104b978f54e23f3729a655ad9a604  :7  (HEAD -> main)
        2026-03-14 12:08:00 +0000  annotate  assistant  0 = 430 tokens
        pinned, 1 message: worth keeping

    de6f21ae7e91ea2d3e20c0546c196dbfc1dbd67b95a29c4c052b9beea161c30d  :6
        2026-03-14 12:07:00 +0000  edit  user  text  -23 = 430 tokens
        Shorter.
    $ tract status
    On main, HEAD 4c993c8  (claude-code "Read the bank's amounts, and never in silence")
    Context  7 messages, 31 hidden (1 truncation, 1 compaction)
    Window   [====================] about 19.9k of 2k (994%)
             user 2% · assistant 29% · tool 5% · injected by the client 64%   largest: This session is being conti… 257 (:1)

      4c993c8  :7  5 min ago  annotate  assistant                    pinned, 1 message: worth keeping
      de6f21a  :6  6 min ago  edit      user             -23         Shorter.
      3f2bb77  :2  7 min ago  truncate  -8 +1 messages  -687 tokens  [Sliding window truncation: 8 messages hidden to reduc…
    hint: over budget: tract compact puts a summary in place of what is old
    $ tract branch
      BRANCH                            COMMIT   LAST       TOKENS  ABOUT
    * main                              4c993c8  6 min ago     430  Read the bank's amounts, and never in silence  1 compac…
      a-branch-with-a-rather-long-name  3f2bb77  8 min ago     453  Read the bank's amounts, and never in silence  1 compac…
    $ tract tag
    party  6bb0a8d
    $ tract reflog -n 5
    no.  time        command                                     moved
     #8  6 min ago   branch a-branch-with-a-rather-long-name :2  a-branch-with-a-rather-long-name none → 3f2bb77
     #7  8 min ago   annotate :-1 --pin --reason …               main de6f21a → 4c993c8
     #6  9 min ago   commit -m … --edit :-2                      main 3f2bb77 → de6f21a
     #5  10 min ago  truncate --keep 4                           main 6bb0a8d → 3f2bb77
     #4  11 min ago  tag party :-1                               party none → 6bb0a8d
    $ tract diff HEAD~3 --stat
    comparing HEAD~3 with HEAD

    - :2 … :9             8 messages hidden                                                | -705 ------------------------
    + :2        injected  [Sliding window truncation: 8 messages hidden to reduce context] |  +18 +
    ~ :13 → :6  user      Shorter.                                                         |  -23 -

    1 message modified, 1 added, 8 hidden, tokens: -710 (1,140 → 430)
    cache   first 1 of 7 messages identical (260 tokens, 60%; 1.0 kB for openai)
            first difference: :2 (HEAD~3 df4f355, HEAD 3f2bb77)
    "#);
    assert_fits(&told, 120);
}

#[test]
fn in_a_pipe() {
    let sandbox = sandbox();
    let told: Vec<String> = LOOKS
        .iter()
        .map(|arguments| sandbox.tract(arguments))
        .collect();
    insta::assert_snapshot!(told.concat(), @r###"
    4c993c8  :7  2026-03-14 12:08:00  annotate  assistant                      430  (HEAD -> main)  pinned, 1 message: worth keeping
    de6f21a  :6  2026-03-14 12:07:00  edit      user             -23           430  Shorter.
    3f2bb77  :2  2026-03-14 12:06:00  truncate  -8 +1 messages  -687 tokens    453  (a-branch-with-a-rather-long-name)  [Sliding window truncation: 8 messages hidden to reduce context]
    6bb0a8d  :7  2026-03-14 12:04:00  append    assistant        +28         1,140  (party)  🎉 Done ␛[31mred␛[0m and more words than fit on one narrow line of text
    f94e00f  :6  2026-03-14 12:03:00  append    user             +30         1,112  漢字の長い文章がここに書かれています、そして続きま…
    662930f  :5  2026-03-14 09:19:41  append    assistant        +22         1,082  (claude-code/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70)  Done: one line under *Unreleased*, worded for someone whose totals were wrong…
    d78474a  :4  2026-03-14 09:19:38  append    tool             +20         1,060  Edit /home/mara/tally/CHANGELOG.md → The file /home/mara/tally/CHANGELOG.md has been updated.
    f1b4ce2  :3  2026-03-14 09:19:38  append    assistant        +75         1,040  Edit /home/mara/tally/CHANGELOG.md
    4c993c88265b4bea9f6a4a1de6133ad1d06104b978f54e23f3729a655ad9a604  :7  (HEAD -> main)
        2026-03-14 12:08:00 +0000  annotate  assistant  0 = 430 tokens
        pinned, 1 message: worth keeping

    de6f21ae7e91ea2d3e20c0546c196dbfc1dbd67b95a29c4c052b9beea161c30d  :6
        2026-03-14 12:07:00 +0000  edit  user  text  -23 = 430 tokens
        Shorter.
    On main, HEAD 4c993c8  (claude-code "Read the bank's amounts, and never in silence")
    Context  7 messages, 31 hidden (1 truncation, 1 compaction)
    Window   [====================] about 19.9k of 2k (994%)
             user 2% · assistant 29% · tool 5% · injected by the client 64%
             largest: This session is being continued from a previous conv… 257 (:1)

      4c993c8  :7  2026-03-14 12:08:00  annotate  assistant                    pinned, 1 message: worth keeping
      de6f21a  :6  2026-03-14 12:07:00  edit      user             -23         Shorter.
      3f2bb77  :2  2026-03-14 12:06:00  truncate  -8 +1 messages  -687 tokens  [Sliding window truncation: 8 messages hidden to reduce context]
    --- stderr
    hint: over budget: tract compact puts a summary in place of what is old
    * main                              4c993c8  2026-03-14 12:08:00  430 tokens  claude-code  1 compaction  Read the bank's amounts, and never in silence
      a-branch-with-a-rather-long-name  3f2bb77  2026-03-14 12:06:00  453 tokens  claude-code  1 compaction  Read the bank's amounts, and never in silence
    party  6bb0a8d
    #8  2026-03-14 12:10:00  branch a-branch-with-a-rather-long-name :2  a-branch-with-a-rather-long-name none → 3f2bb77
    #7  2026-03-14 12:08:00  annotate :-1 --pin --reason …               main de6f21a → 4c993c8
    #6  2026-03-14 12:07:00  commit -m … --edit :-2                      main 3f2bb77 → de6f21a
    #5  2026-03-14 12:06:00  truncate --keep 4                           main 6bb0a8d → 3f2bb77
    #4  2026-03-14 12:05:00  tag party :-1                               party none → 6bb0a8d
    comparing HEAD~3 with HEAD

    - :2 … :9             8 messages hidden                      | -705 ----------
    + :2        injected  [Sliding window truncation: 8 message… |  +18 +
    ~ :13 → :6  user      Shorter.                               |  -23 -

    1 message modified, 1 added, 8 hidden, tokens: -710 (1,140 → 430)
    cache   first 1 of 7 messages identical (260 tokens, 60%; 1.0 kB for openai)
            first difference: :2 (HEAD~3 df4f355, HEAD 3f2bb77)
    "###);
}

#[test]
fn a_remark_goes_on_below_itself_and_no_command_is_broken() {
    let sandbox = sandbox();
    let commands: [&[&str]; 5] = [
        &["checkout", "HEAD~3"],
        &["commit", "-r", "user", "-m", "hello"],
        &["checkout", "main"],
        &[
            "log",
            "no-such-branch-with-a-name-that-is-as-long-as-this-one-is-long",
        ],
        &["redo"],
    ];
    let Some(told) = drawn(&sandbox, "60", &commands) else {
        eprintln!("skipped: no `script` here to make a terminal");
        return;
    };
    insta::assert_snapshot!(told, @r#"
    $ tract checkout HEAD~3
    HEAD is now detached at 6bb0a8d ("🎉 Done ␛[31mred␛[0m and
      more words tha…")
    hint: to return: tract checkout main; to go on from here and
          keep both: tract checkout -b NAME
    $ tract commit -r user -m hello
    error: Cannot commit in detached HEAD. Use
           'tract checkout main' to return to your branch.
    hint: to go on from here and keep both:
          tract checkout -b NAME
    $ tract checkout main
    On main, at 4c993c8 ("annotate")
    $ tract log no-such-branch-with-a-name-that-is-as-long-as-this-one-is-long
    error: nothing here is called
           'no-such-branch-with-a-name-that-is-as-long-as-this-one-is-long'
    hint: tract log --oneline lists them,
          tract branch the branches
    $ tract redo
    error: nothing to redo
    hint: redo reverses an undo, and there is none to reverse
    "#);
    // In a pipe each remark is one line.
    let piped = sandbox.tract(&["checkout", "HEAD~3"]);
    insta::assert_snapshot!(piped, @r#"
    --- stderr
    HEAD is now detached at 6bb0a8d ("🎉 Done ␛[31mred␛[0m and more words tha…")
    hint: to return: tract checkout main; to go on from here and keep both: tract checkout -b NAME
    "#);
}

#[test]
fn help_keeps_what_a_command_does_beside_it() {
    let sandbox = Sandbox::empty();
    let Some(told) = sandbox.on_terminal("60", &["help", "restore"]) else {
        eprintln!("skipped: no `script` here to make a terminal");
        return;
    };
    let (_, examples) = told.split_once("Example:").expect("it has examples");
    insta::assert_snapshot!(examples, @r"

    tract restore a1b2c3d           undo this truncation,
                                    compaction, drop, prune or
                                    edit
    tract restore a1b2c3d^:5        the message that was the
                                    5th before it
    tract restore :2                what the marker or summary
                                    at :2 stands for
    tract restore 9f8e7d6 5d4c3b2   these two messages
    tract restore a1b2c3d --at-end  copies of what it hid at
                                    the end: the prompt cache
                                    keeps the rest
    tract restore :2 --before :40   what :2 stands for, right
                                    before :40
    tract restore :9 --dry-run      say what would come back
    ");
    assert_fits(&told, 60);
}

/// Nothing is wider than the terminal.
fn assert_fits(told: &str, columns: usize) {
    for line in told.lines() {
        // Wide characters take two columns, and none of them is left out of this range.
        let wide = line
            .chars()
            .filter(|c| ('\u{2e80}'..='\u{ffff}').contains(c) || *c > '\u{1f000}');
        let width = line.chars().count() + wide.count();
        assert!(width <= columns, "{width} columns: {line}");
    }
}

#[test]
fn colour_is_for_terminals_and_for_who_asks() {
    let sandbox = sandbox();
    let log = ["log", "-n", "3"];
    let Some(plain) = sandbox.drawn("100", &log, &[("NO_COLOR", "1")]) else {
        eprintln!("skipped: no `script` here to make a terminal");
        return;
    };
    assert!(!plain.contains('\u{1b}'));
    let colour = |more: &[(&str, &str)], arguments: &[&str]| {
        let told = sandbox.drawn("100", arguments, more).expect("a terminal");
        told.contains("\u{1b}[")
    };
    assert!(colour(&[("NO_COLOR", "")], &log));
    assert!(!colour(&[("NO_COLOR", ""), ("TERM", "dumb")], &log));
    assert!(!colour(&[("NO_COLOR", "")], &["log", "--color", "never"]));
    assert!(colour(&[("NO_COLOR", "1")], &["log", "--color", "always"]));
    let piped = |name: &str, value: &str, arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        let output = command.env_remove("NO_COLOR").env(name, value).output();
        let told = String::from_utf8(output.expect("runs").stdout).expect("UTF-8");
        told.contains("\u{1b}[")
    };
    assert!(!piped("TERM", "xterm", &log));
    assert!(piped("CLICOLOR_FORCE", "1", &log));
    assert!(!piped("CLICOLOR_FORCE", "0", &log));
    assert!(!piped("CLICOLOR_FORCE", "1", &["log", "--color", "never"]));
    // What a message holds is shown, never acted on.
    assert!(sandbox.ok(&["log"]).contains("␛[31m"));
}
