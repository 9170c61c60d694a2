//! What is said before anything is done: help, version, wrong usage.

use crate::sandbox::Sandbox;

#[test]
fn help_lists_the_twenty_commands_that_most_people_use() {
    let sandbox = Sandbox::empty();
    let help = sandbox.tract(&["help"]);
    insta::assert_snapshot!(help, @r###"
    Version control for the context of conversations with language models

    Usage: tract [OPTIONS] [COMMAND]

    Bring in, take out
      import       Bring in sessions of coding agents, and other conversations
      export       Write a session file, or a page to read
      resume       Continue from a commit in a new session of a tool
      setup        Set up your coding agents to use tract, or take that back
    Look
      status       Show where you are and how full the context is
      log          List commits, newest first
      show         Show one commit in full, or a range
      view         Read the conversation as a chat
      web          Look at everything in a browser
      find         Search all messages, hidden ones too
      diff         Compare what a model would be sent at two commits
      cost         Show what the replies of models cost
      audit        List what a compaction took away, and what of it is still there
    Make it smaller
      prune        Replace old, big tool outputs with one line each; the calls stay
      truncate     Hide the oldest messages; the task and pinned ones stay
      compact      Replace a span of messages with a summary
    Go back
      undo         Reverse the last command that moved a branch, a tag or HEAD
      restore      Un-hide messages; everything later stays
      checkout     Switch to a branch, or look at an earlier commit
      branch       List, start, rename or delete branches

    `tract help COMMAND` explains a command, with examples.
    `tract help --all` lists every command and the common options.
    "###);
    assert_eq!(help, sandbox.tract(&["--help"]));
    assert!(help.lines().count() <= 40, "{help}");
    let commands = help.lines().filter(|line| line.starts_with("  "));
    assert_eq!(commands.count(), 20, "{help}");
}

#[test]
fn help_lists_every_command_where_all_is_asked_for() {
    let sandbox = Sandbox::empty();
    let help = sandbox.tract(&["help", "--all"]);
    insta::assert_snapshot!(help, @r###"
    Version control for the context of conversations with language models

    Usage: tract [OPTIONS] [COMMAND]

    Bring in, take out
      init         Make a repository here
      setup        Set up your coding agents to use tract, or take that back
      import       Bring in sessions of coding agents, and other conversations
      export       Write a session file, or a page to read
      dataset      Write conversations as rows of a data set
      resume       Continue from a commit in a new session of a tool
      demo         Try tract on a bundled session
    Look
      status       Show where you are and how full the context is
      log          List commits, newest first
      show         Show one commit in full, or a range
      view         Read the conversation as a chat
      web          Look at everything in a browser
      find         Search all messages, hidden ones too
      diff         Compare what a model would be sent at two commits
      cost         Show what the replies of models cost
      stats        Show what was done: time at work, prompts, calls, edits
      audit        List what a compaction took away, and what of it is still there
      blame        Say where messages came from
    Make it smaller
      shrink       Make the context fit: tool outputs first, then old messages
      prune        Replace old, big tool outputs with one line each; the calls stay
      drop         Hide the messages, or parts of messages, that you name
      truncate     Hide the oldest messages; the task and pinned ones stay
      compact      Replace a span of messages with a summary
      clear        Hide everything but the system messages, to start over
    Go back
      undo         Reverse the last command that moved a branch, a tag or HEAD
      redo         Reverse the last undo
      restore      Un-hide messages; everything later stays
      revert       Do the opposite of one commit; what came later stays
      pick         Copy messages from anywhere to the end
      reset        Move the branch back to a commit; what came later leaves it
      checkout     Switch to a branch, or look at an earlier commit
      branch       List, start, rename or delete branches
    Write
      commit       Append one message, or replace one
      annotate     Pin messages, skip them, or make them normal again
      chat         Talk with a model; every turn is a commit
    Send, try again
      compile      Print the request that a model would be sent
      run          Go on from one context several times
      bisect       Find the message that makes it go wrong
    Branches
      merge        Bring another branch into this one
      resolve      Settle conflicts of a merge
      rebase       Put the branch's own commits on another base
      tag          List, make or delete tags
      reflog       List past commands, and where each ref was
    Share
      clone        Copy a repository from somewhere else
      push         Send commits to another repository
      pull         Fetch, and move your branch and sessions forward
      fetch        Get commits from another repository; your branches stay
      remote       Name other repositories, to push to and pull from
      bundle       Write commits to one file, for another repository
      unbundle     Read in a file that tract bundle wrote
      attest       Say what a run was, to be signed
    Look after
      fsck         Check the repository for damage, and repair it if asked
      doctor       Check the database that keeps the repository, and its backups
      gc           Delete what no branch, tag, session or undo needs any more
      du           Show what takes up space
      backup       Copy the whole repository into one file
      redact       Replace secrets in the context with `[redacted:KIND]`
      purge        Erase messages from history, for good
      watch        Import your tools' sessions as they grow, until it is stopped
      config       Read or change settings
      help         List the commands, or explain one
    For programs and scripts
      record       Record a stream of events from standard input as it arrives
      api          Answer programs: requests and answers as JSON Lines
      mcp          Give an agent its memory, by the Model Context Protocol
      guard        Say what a compaction must not lose, and give back what it lost
      completions  Make your shell complete commands, branches and revisions
      man          Write the manual pages

    Options of every command
          --repo <PATH>   The repository, instead of the one here or above (also:
                          TRACT_REPO)
          --on <BRANCH>   Act as if HEAD were this branch; HEAD stays (also:
                          TRACT_BRANCH)
          --ephemeral     A repository in memory, gone when the command ends
          --color <WHEN>  Use colour: auto, always or never
          --no-pager      Show long output without a pager
      -q, --quiet         Say only what is wrong
      -h, --help          Print help
      -V, --version       Print version

    REV names a commit: a hash or its first digits, a branch, a tag, a session,
    HEAD, ORIG_HEAD, PREV_HEAD, REV~N, REV^, REF@{N}, REF@{2 hours ago}, :N or
    REV:N for the Nth visible message, :/TEXT for the newest message with TEXT.

    `tract help COMMAND` explains a command, with examples.
    "###);
    // What is for programs alone explains itself all the same.
    for plumbing in ["rev-parse", "serve"] {
        assert!(!help.contains(plumbing));
        assert_eq!(
            sandbox.tract(&["help", plumbing]),
            sandbox.tract(&[plumbing, "--help"])
        );
    }
    insta::assert_snapshot!(sandbox.tract(&["help", "statsu"]), @r"
    exit code: 2
    --- stderr
    error: no command 'statsu'
    hint: did you mean status?
    ");
}

#[test]
fn without_a_command_and_a_repository_it_says_how_to_start() {
    insta::assert_snapshot!(Sandbox::empty().tract(&[]), @r"
    tract keeps the context of your conversations with language models. There is no repository here yet.
      tract demo      a session to look around in
      tract import    this directory's sessions of your agents
      tract help      what else there is
    ");
}

#[test]
fn a_mistyped_command_gets_the_nearest() {
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract(&["staus"]), @r"
    exit code: 2
    --- stderr
    error: unrecognized subcommand 'staus'
    hint: did you mean status?
    ");
    insta::assert_snapshot!(sandbox.tract(&["log", "--onelin"]), @r"
    exit code: 2
    --- stderr
    error: unexpected argument '--onelin' found
    hint: did you mean --oneline?
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit"]), @r"
    exit code: 2
    --- stderr
    error: the following required arguments were not provided: --role <ROLE>
    hint: tract commit --help
    ");
}

#[test]
fn a_wrong_value_is_told_what_is_wanted_and_the_commands_own_help() {
    let sandbox = Sandbox::empty();
    for (line, error, hint) in [
        (
            "truncate --keep x",
            "invalid value 'x' for '--keep <N>': a number of at least 1",
            "tract truncate --help",
        ),
        (
            "truncate --keep 0",
            "invalid value '0' for '--keep <N>': a number of at least 1",
            "tract truncate --help",
        ),
        (
            "compact --timeout 0",
            "invalid value '0' for '--timeout <SECONDS>': a number of at least 1",
            "tract compact --help",
        ),
        (
            "--on main log -n x",
            "invalid value 'x' for '--limit <N>': a whole number, such as 0 or 20",
            "tract log --help",
        ),
        (
            "log -n=",
            "invalid value '' for '--limit <N>': a whole number, such as 0 or 20",
            "tract log --help",
        ),
        (
            "log -n 99999999999999999999",
            "invalid value '99999999999999999999' for '--limit <N>': a smaller number",
            "tract log --help",
        ),
        (
            "truncate --to-budget x",
            "invalid value 'x' for '--to-budget <N|P%>': 'x' is not an amount (5000, 128k, 1.5m)",
            "tract truncate --help",
        ),
        (
            "--color x",
            "invalid value 'x' for '--color <WHEN>' [possible values: auto, always, never]",
            "tract --help",
        ),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(
            sandbox.tract(&words),
            format!("exit code: 2\n--- stderr\nerror: {error}\nhint: {hint}\n"),
        );
    }
}

#[test]
fn the_version_is_the_packages() {
    let version = Sandbox::empty().ok(&["--version"]);
    assert_eq!(version, format!("tract {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_slip_in_a_commands_name_finds_the_command() {
    let sandbox = Sandbox::empty();
    for (typed, meant) in [
        ("comit", "did you mean commit?"),
        ("stauts", "did you mean status?"),
        ("xyzzy", "tract help --all lists every command"),
    ] {
        assert_eq!(
            sandbox.tract(&[typed]),
            format!(
                "exit code: 2\n--- stderr\nerror: unrecognized subcommand '{typed}'\nhint: {meant}\n"
            )
        );
    }
}
