//! What is said before anything is done: help, version, wrong usage.

use crate::sandbox::Sandbox;

#[test]
fn help_lists_the_commands_in_groups() {
    insta::assert_snapshot!(Sandbox::empty().tract(&["--help"]), @r"
    Version control for the context of conversations with language models

    Usage: tract [OPTIONS] [COMMAND]

    Bring in, take out
      init         Make a repository here
      import       Bring in sessions of coding agents, and other conversations
      watch        Take in what grows in the tools' folders, as long as it runs
      export       Write a session file, or a page to read
      resume       Go on from a commit, in a new session of a tool's
      record       Record a stream of events while it comes
      demo         Look around in a bundled session
    Look
      status       Say where you are in your context
      log          List commits, newest first
      show         Show one commit whole, or a range of them
      view         Read the conversation as a chat
      diff         Compare two contexts: what a model would be sent at each
      find         Find messages by their text
    Write
      commit       Append one message, or replace one
      annotate     Pin messages, leave them out, or make them normal again
      chat         Talk with a model, every turn a commit
    Make it smaller
      prune        Put a line in the place of old, big tool outputs
      drop         Take single messages, or parts of them, out of the context
      truncate     Hide the oldest messages
      compact      Replace a span of the conversation by a summary
      clear        Start over from the system messages
      redact       Take secrets out of the context
    Go back
      undo         Reverse the last command, whatever it was
      redo         Do again what the last undo reversed
      restore      Un-hide; everything later stays
      pick         Copy messages from anywhere to the end
      reset        Move the branch back to a commit (or anywhere else)
      checkout     Go to a branch, or look at an earlier commit
      branch       List, start, rename or delete branches
      tag          List, make or delete tags
      reflog       List what was done, and where refs were
    Send
      compile      Print the request that a model would be sent
    Share
      clone        Make a repository of what another one has
      push         Bring what is here to another repository
      pull         Go on where another repository has
      fetch        Bring what another repository has, and move nothing of your own
      remote       Name other repositories, to push to and pull from
      bundle       Put commits into one file, for a repository elsewhere
      unbundle     Take in what tract bundle wrote
    Look after
      fsck         Check everything that is kept
      du           Say what takes the room
      gc           Take out what nothing leads to any more
      backup       Copy the whole repository into one file
      purge        Erase messages from history, for good
      config       Read and change the repository's settings
    For shells
      rev-parse    Print the full hash of what a revision names
      completions  Make your shell complete commands, branches and revisions
      man          Write the manual pages
      help         Say more about a command, as --help after it does

          --repo <PATH>   The repository, instead of the one here or above (also:
                          TRACT_REPO)
          --on <BRANCH>   Act as if HEAD were this branch; HEAD stays (also:
                          TRACT_BRANCH)
          --ephemeral     A repository in memory, gone when the command ends
          --color <WHEN>  Use colour: auto, always or never
      -q, --quiet         Say only what is wrong
      -h, --help          Print help
      -V, --version       Print version

    `tract COMMAND --help` says more, with an example.
    ");
}

#[test]
fn without_a_command_and_a_repository_it_says_how_to_start() {
    insta::assert_snapshot!(Sandbox::empty().tract(&[]), @r"
    tract keeps the context of your conversations with language models. There is no repository here.
      tract demo      a session to look around in
      tract import    this directory's Claude Code and Codex sessions
      tract --help    everything else
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
            "invalid value 'x' for '--to-budget <N|P%>': 'x' is no amount (5000, 128k, 1.5m)",
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
        ("xyzzy", "tract --help"),
    ] {
        assert_eq!(
            sandbox.tract(&[typed]),
            format!(
                "exit code: 2\n--- stderr\nerror: unrecognized subcommand '{typed}'\nhint: {meant}\n"
            )
        );
    }
}
