//! People in one repository: who did what, and, on a server, whose HEAD and undo are whose.

use std::process::Output;

use crate::sandbox::{ONE_PERSON, Sandbox, is_left_out};

/// What somebody runs, by name.
pub fn by(sandbox: &Sandbox, name: &str, arguments: &[&str]) -> Output {
    let mut command = sandbox.command(arguments);
    command.env("TRACT_AUTHOR", name);
    command.output().expect("it runs")
}

fn told(sandbox: &Sandbox, name: &str, arguments: &[&str]) -> String {
    sandbox.told(&by(sandbox, name, arguments))
}

fn ok(sandbox: &Sandbox, name: &str, arguments: &[&str]) -> String {
    let output = by(sandbox, name, arguments);
    assert!(output.status.success(), "{}", sandbox.told(&output));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn who_commits_is_in_the_commit_and_in_the_log() {
    if is_left_out(ONE_PERSON) {
        return;
    }
    let sandbox = Sandbox::new();
    let say = |name: &str, text: &str| ok(&sandbox, name, &["commit", "-r", "user", "-m", text]);
    say("Mara", "one");
    say("Ben", "two");
    sandbox.ok(&["commit", "-r", "assistant", "-m", "nobody's"]);
    ok(&sandbox, "Mara", &["truncate", "--keep", "1"]);
    insta::assert_snapshot!(sandbox.ok(&["log", "--format", "%a: %o %s"]), @r"
    Mara: hide [Sliding window truncation: 1 messages hidden to reduce context]
    : append nobody's
    Ben: append two
    Mara: append one
    ");
    insta::assert_snapshot!(sandbox.ok(&["log", "--author", "MAR", "--format", "%o"]), @r"
    hide
    append
    ");
    insta::assert_snapshot!(sandbox.tract(&["log", "--author", "zoe"]), @r"
    exit code: 2
    --- stderr
    error: no commit is by 'zoe'
    hint: tract log -v names the authors
    ");
    // Whoever is alone is not told so; whoever is not is told who did what.
    insta::assert_snapshot!(told(&sandbox, "Mara", &["reflog", "main"]), @r"
    main@{0}  6fe4037  2026-03-14 12:05:00  Mara  #4 truncate --keep 1
    main@{1}  735b3c0  2026-03-14 12:04:00        #3 commit -r assistant -m …
    main@{2}  8cc5313  2026-03-14 12:03:00  Ben   #2 commit -r user -m …
    main@{3}  f5cd5d0  2026-03-14 12:02:00  Mara  #1 commit -r user -m …
    ");
    let mut alone = sandbox.command(&["reflog", "-n", "1"]);
    alone.env("TRACT_AUTHOR", "Mara");
    let alone = sandbox.told(&alone.output().expect("it runs"));
    assert!(!alone.contains("Mara"), "{alone}");
    // In a directory undo is of the last command, whoever ran it.
    insta::assert_snapshot!(told(&sandbox, "Ben", &["undo"]), @r#"
    --- stderr
    Undid #4 of Mara (6 min ago): truncate --keep 1
    On main, at 735b3c0 ("nobody's")
    hint: back: tract redo
    "#);
}

/// The name that is set in a repository goes before one's own; without any, commits say nothing, and the log the account.
#[test]
fn a_name_is_what_is_set() {
    if is_left_out(ONE_PERSON) {
        return;
    }
    let sandbox = Sandbox::new();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.env_remove("TRACT_AUTHOR").env("USER", "mara");
        sandbox.told(&command.output().expect("it runs"))
    };
    let last = || run(&["log", "-n", "1", "--format", "%a"]);
    run(&["commit", "-r", "user", "-m", "one"]);
    assert_eq!(last(), "\n");
    let account = sandbox.texts("SELECT name FROM authors");
    assert!(account[0].starts_with("mara@"), "{account:?}");
    assert_eq!(run(&["config", "--global", "author.name", " Mara "]), "");
    run(&["commit", "-r", "user", "-m", "two"]);
    assert_eq!(last(), "Mara\n");
    if crate::sandbox::on_servers() {
        return;
    }
    run(&["config", "author.name", "The team"]);
    run(&["commit", "-r", "user", "-m", "three"]);
    assert_eq!(last(), "The team\n");
    run(&["commit", "-r", "user", "-m", "four", "--author", "Ben"]);
    assert_eq!(last(), "Ben\n");
    insta::assert_snapshot!(run(&["config", "--global", "author.name", ""]), @r"
    exit code: 2
    --- stderr
    error: author.name is empty
    hint: tract config --global --unset author.name
    ");
    insta::assert_snapshot!(run(&["config", "--global", "author.name", "a\u{1b}[2Jb"]), @r"
    exit code: 2
    --- stderr
    error: author.name: 'a␛[2Jb' can't be kept: it doesn't fit into a line
    hint: tract config --help
    ");
}

/// A program says for whom it works, and as what.
#[test]
fn the_program_and_its_run_are_told_too() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["commit", "-r", "user", "-m", "one"]);
    command.envs([
        ("TRACT_AUTHOR", "Mara"),
        ("TRACT_CLIENT", "worker 2"),
        ("TRACT_RUN", "nightly-7"),
    ]);
    assert!(command.output().expect("it runs").status.success());
    let author = sandbox.ok(&["log", "--format", "%a"]);
    assert_eq!(author, "Mara, by worker 2 (run nightly-7)\n");
    assert_eq!(
        sandbox.ok(&["log", "--author", "nightly", "--format", "%s"]),
        "one\n"
    );
    let said = sandbox.ok(&["reflog"]);
    assert!(said.contains("Mara, by worker 2 (run nightly-7)"), "{said}");
    // An author's name is a stranger's.
    by(
        &sandbox,
        "\u{1b}[2JEve",
        &["commit", "-r", "user", "-m", "two"],
    );
    let said = sandbox.ok(&["reflog"]) + &sandbox.ok(&["log", "-v"]);
    assert!(said.contains("Eve") && !said.contains('\u{1b}'), "{said:?}");
}

/// What was imported was said by nobody here, whoever imports it.
#[test]
fn an_import_bears_no_author() {
    let sandbox = crate::transfer::people_and_machines::mine();
    let other = Sandbox::new();
    let session = std::fs::read(sandbox.work().join("talk.jsonl")).expect("a session");
    other.write("talk.jsonl", session);
    ok(&other, "Mara", &["import", "talk.jsonl"]);
    assert_eq!(
        other.ok(&["log", "--format", "%H%a"]),
        sandbox.ok(&["log", "--format", "%H%a"])
    );
}

#[test]
fn what_a_hub_protects_stays() {
    let (sandbox, hub) = (Sandbox::new(), Sandbox::new());
    sandbox.ok(&["commit", "-r", "user", "-m", "one"]);
    sandbox.ok(&["branch", "old"]);
    sandbox.ok(&["remote", "add", "origin", &hub.place()]);
    sandbox.ok(&["push", "origin", "main", "old"]);
    hub.ok(&["config", "receive.protect", "main, release/*"]);
    hub.ok(&["config", "receive.denyNonFastForwards", "true"]);
    insta::assert_snapshot!(sandbox.tract(&["push", "origin", "--delete", "main", "old"]), @r"
    exit code: 1
    --- stderr
      refused  dbc1344  main
      deleted  dbc1344  old
    error: main may not be deleted there
    hint: receive.protect is set there, by whoever keeps that repository
    ");
    sandbox.ok(&["reset", "--root", "--hard"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "another"]);
    insta::assert_snapshot!(sandbox.tract(&["push", "--force-with-lease"]), @r"
    exit code: 1
    --- stderr
      refused  dbc1344  main
    error: main may not lose commits there
    hint: receive.protect is set there, by whoever keeps that repository
    ");
    insta::assert_snapshot!(hub.tract(&["config", "receive.denyDeletes", "yes"]), @r"
    exit code: 2
    --- stderr
    error: receive.denyDeletes: 'yes' is neither true nor false
    hint: tract config --help says what each setting takes
    ");
    insta::assert_snapshot!(hub.tract(&["config", "receive.protect", "a..b"]), @r"
    exit code: 2
    --- stderr
    error: 'a..b' is not a valid name: '..' and '@{' have a meaning in revisions
    hint: such as fix-parser or ideas/one
    ");
}

#[cfg(feature = "postgres")]
mod on_a_server {
    use super::*;
    use crate::cluster;
    use crate::sandbox::rows_on_server;

    /// Runs statements in a schema; the first column of what they give.
    fn sql(address: &str, text: &str) -> Vec<String> {
        let rows = rows_on_server(address, text).into_iter();
        rows.filter_map(|row| row.get(0).map(str::to_owned))
            .collect()
    }

    /// Mara and Ben, and a repository on a server.
    fn shared() -> Option<(Sandbox, String)> {
        let address = cluster::address()?;
        let sandbox = Sandbox::empty();
        sandbox.ok(&["init", &address]);
        Some((sandbox, address))
    }

    #[test]
    fn each_has_a_head_and_an_undo_of_their_own() {
        let Some((sandbox, address)) = shared() else {
            return;
        };
        let on = |name: &str, arguments: &[&str]| {
            let arguments = [&["--repo", address.as_str()], arguments].concat();
            told(&sandbox, name, &arguments).replace(&address, "[SERVER]")
        };
        let say = |name: &str, text: &str| on(name, &["commit", "-r", "user", "-m", text]);
        let said = |name: &str| on(name, &["log", "--format", "%s %a"]);
        say("Mara", "one");
        // One's branch is nobody else's, and neither is the way back.
        on("Mara", &["checkout", "-b", "idea"]);
        say("Ben", "two");
        assert_eq!(said("Mara"), "one Mara\n");
        assert_eq!(said("Ben"), "two Ben\none Mara\n");
        say("Mara", "three");
        insta::assert_snapshot!(on("Ben", &["undo"]), @r#"
        --- stderr
        Undid #3 (4 min ago): commit -r user -m …
        On main, at f5cd5d0 ("one")
        hint: back: tract redo
        "#);
        assert_eq!(said("Mara"), "three Mara\none Mara\n");
        on("Mara", &["checkout", "-"]);
        assert_eq!(said("Mara"), "one Mara\n");
        assert!(on("Ben", &["checkout", "-"]).contains("no previous position"));
        on("Ben", &["redo"]);
        // Where Ben has gone on from what Mara did, her undo says so.
        insta::assert_snapshot!(on("Mara", &["undo", "1"]), @r"
        exit code: 1
        --- stderr
        error: operation 1 ('commit -r user -m …') cannot be undone: 'main' has moved since, by Ben
        hint: tract reflog says what came since; tract revert REV does the opposite of one commit
        ");
        insta::assert_snapshot!(on("Mara", &["reflog", "main"]), @r"
        main@{0}  0a8a140  2026-03-14 12:13:00  Ben   #7 redo 3: commit -r user -m …
        main@{1}  f5cd5d0  2026-03-14 12:08:00  Ben   #5 undo 3: commit -r user -m …
        main@{2}  0a8a140  2026-03-14 12:04:00  Ben   #3 commit -r user -m …
        main@{3}  f5cd5d0  2026-03-14 12:02:00  Mara  #1 commit -r user -m …
        ");
        insta::assert_snapshot!(on("Ben", &["undo", "2"]), @r"
        exit code: 1
        --- stderr
        error: operation 2 ('checkout -b idea') was done by Mara, not by you
        hint: tract undo takes back what you did last; --force undoes what others did, and the log says who forced it
        ");
        insta::assert_snapshot!(on("Ben", &["undo", "4", "--force"]), @r#"
        --- stderr
        Undid #4 of Mara (10 min ago): commit -r user -m …
        idea bf572ce → f5cd5d0
        On main, at 0a8a140 ("two")
        hint: back: tract redo
        "#);
        assert_eq!(on("Mara", &["log", "idea", "--format", "%s"]), "one\n");
        insta::assert_snapshot!(on("Mara", &["config", "author.name", "us"]), @r"
        exit code: 1
        --- stderr
        error: many commit to a repository on a server, each by a name of their own
        hint: tract config --global author.name NAME; or TRACT_AUTHOR
        ");
        insta::assert_snapshot!(on("Mara", &["config", "head.of", "directory"]), @r"
        exit code: 1
        --- stderr
        error: in a repository on a server each person has a HEAD, and no directory does
        hint: tract config --global author.name NAME says who you are
        ");
        // Whoever is named by nobody has what is everybody's.
        insta::assert_snapshot!(on("", &["checkout", "idea"]), @r#"
        --- stderr
        On idea, at f5cd5d0 ("one")
        "#);
        insta::assert_snapshot!(on("Zoe", &["branch", "-d", "idea"]), @r"
        exit code: 1
        --- stderr
        error: at/HEAD is on 'idea': check out another one first
        hint: tract checkout BRANCH goes to another branch
        ");
    }

    /// Without a name it is the account, and commits say so.
    #[test]
    fn an_account_is_a_name_there() {
        let Some((sandbox, address)) = shared() else {
            return;
        };
        let run = |arguments: &[&str]| {
            let mut command = sandbox.command(&[&["--repo", address.as_str()], arguments].concat());
            command.env_remove("TRACT_AUTHOR").env("USER", "mara");
            sandbox.told(&command.output().expect("it runs"))
        };
        run(&["commit", "-r", "user", "-m", "one"]);
        let author = run(&["log", "--format", "%a"]);
        assert!(author.starts_with("mara@"), "{author}");
        run(&["checkout", "-b", "idea"]);
        assert!(run(&["status"]).contains("On idea"));
        assert!(run(&["undo"]).contains("checkout -b idea"));
    }

    /// What a role may not do is said, and what it may is done: reader, writer, owner (docs/scale.md).
    #[test]
    fn roles_are_the_servers() {
        let Some((sandbox, address)) = shared() else {
            return;
        };
        let schema = address.rsplit_once("schema=").expect("a schema").1;
        let (reader, writer) = (format!("{schema}_reader"), format!("{schema}_writer"));
        let grants = std::fs::read_to_string("docs/scale.md").expect("the page");
        let grants = grants.split_once("```sql\n").expect("the grants").1;
        let grants = grants.split_once("```").expect("their end").0;
        let grants = grants.replace("work", schema).replace("reader", &reader);
        let grants = grants.replace("writer", &writer).replace("owner", "tract");
        sql(&address, &grants);
        let on = |role: &str, arguments: &[&str]| {
            let theirs = address.replace("tract@", &format!("{role}@"));
            let arguments = [&["--repo", theirs.as_str()], arguments].concat();
            told(&sandbox, "Mara", &arguments).replace(&theirs, "[SERVER]")
        };
        for role in [writer.as_str(), "tract"] {
            for command in [
                &["commit", "-r", "user", "-m", "one two three"][..],
                &["commit", "-r", "assistant", "-m", "four"],
                &["checkout", "-b", role],
                &["tag", role],
                &["truncate", "--keep", "1"],
                &["find", "two"],
                &["undo"],
                &["redo"],
                &["config", "window.size", "9"],
                &["gc"],
                &["fsck"],
                &["checkout", "main"],
            ] {
                let said = on(role, command);
                assert!(!said.contains("error"), "{role} {command:?}: {said}");
            }
        }
        for command in [
            &["log"][..],
            &["status"],
            &["show"],
            &["compile"],
            &["find", "two"],
            &["branch"],
            &["reflog"],
            &["diff", "HEAD~1"],
            &["fsck"],
        ] {
            let said = on(&reader, command);
            assert!(!said.contains("error"), "{command:?}: {said}");
        }
        insta::assert_snapshot!(on(&reader, &["commit", "-r", "user", "-m", "no"]), @r"
        exit code: 1
        --- stderr
        error: the repository cannot be written to
        hint: reading still works; writing needs .tract, or a server's schema, to be writable
        ");
        for command in [
            &["undo"][..],
            &["checkout", "-b", "mine"],
            &["purge", "HEAD", "--force"],
        ] {
            let said = on(&reader, command);
            assert!(
                said.contains("error: the repository cannot be written to"),
                "{said}"
            );
        }
        // Nor do they take numbers from those who write.
        for taken in ["numbers('commits', 9)", "numbered('commits', 9)"] {
            sql(
                &address,
                &format!(
                    "SET ROLE {reader}; DO $$ BEGIN PERFORM {schema}.{taken}; RAISE 'given';
                     EXCEPTION WHEN insufficient_privilege THEN NULL; END $$"
                ),
            );
        }
        // Who may write and does not own the tables erases what is read, and the owner's next command rewrites the files.
        let purge = ["purge", "--match", "three", "--force"];
        insta::assert_snapshot!(on(&writer, &purge), @r"
        exit code: 1
        --- stderr
        Erased 1 message (64 B) from history
        hint: session files outside of .tract are not touched
        error: the files still hold it: the repository cannot be written to
        hint: once that is mended, the next command that writes erases it
        ");
        let owed = "SELECT owes_scrub IS NOT NULL FROM tract_repository";
        let owes = || sql(&address, owed);
        assert_eq!(owes(), ["t"]);
        on("tract", &["commit", "-r", "user", "-m", "five"]);
        assert_eq!(owes(), ["f"]);
    }

    /// A schema of the format before is completed by its owner, and whoever had rights to what was counted has them to what is new.
    #[test]
    fn an_upgrade_shuts_nobody_out() {
        let Some((sandbox, address)) = shared() else {
            return;
        };
        let schema = address.rsplit_once("schema=").expect("a schema").1;
        let reader = format!("{schema}_r");
        sandbox.ok(&["--repo", &address, "commit", "-r", "user", "-m", "one"]);
        let older = format!(
            "DROP TABLE usage_details, stated_usage, injected, starters; UPDATE tract_repository SET format = 13;
             CREATE ROLE {reader} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {reader};
             GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}"
        );
        sql(&address, &older);
        let theirs = address.replace("tract@", &format!("{reader}@"));
        let refused = sandbox.tract(&["--repo", &theirs, "log"]);
        insta::assert_snapshot!(refused.replace(&theirs, "[SERVER]"), @r"
        exit code: 1
        --- stderr
        error: repository format 13 is too old; this tract reads format 16
        hint: nothing was changed; the first command of its owner with this tract brings it up to date
        ");
        ok(
            &sandbox,
            "Mara",
            &["--repo", &address, "commit", "-r", "user", "-m", "two"],
        );
        let said = told(&sandbox, "Ben", &["--repo", &theirs, "reflog", "-n", "1"]);
        assert!(said.contains("Mara"), "{said}");
        // What was counted stands in a table that the upgrade made.
        let said = told(&sandbox, "Ben", &["--repo", &theirs, "cost"]);
        assert!(!said.contains("error"), "{said}");
    }
}
