//! What people type first is taken, and where it goes wrong there is a way out.

use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};

fn three() -> Sandbox {
    Sandbox::with_messages(&[
        ("user", "Paint the green shed."),
        ("assistant", "The shed is green now."),
        ("user", "And the fence."),
    ])
}

#[test]
fn several_words_behind_find_are_searched() {
    let sandbox = three();
    let quoted = sandbox.ok(&["find", "shed green"]);
    assert!(quoted.contains("main:2"), "{quoted}");
    assert_eq!(sandbox.ok(&["find", "shed", "green"]), quoted);
    assert_eq!(
        sandbox.ok(&["find", "paint", "green", "shed"]),
        sandbox.ok(&["find", "paint green shed"])
    );
    // A second word that names a branch is where to look, and a slip of one is told.
    sandbox.ok(&["branch", "garden", ":1"]);
    let garden = sandbox.ok(&["find", "green", "garden"]);
    assert!(!garden.contains("is green now"), "{garden}");
    let slip = sandbox.tract(&["find", "green", "gardne"]);
    assert!(slip.contains("did you mean garden?"), "{slip}");
    let none = sandbox.tract(&["find", "zebra", "garden"]);
    assert!(
        none.contains("both words: tract find 'zebra garden'"),
        "{none}"
    );
    // A word that resembles a name, or the beginning of a hash, is a word.
    sandbox.ok(&["branch", "sheds/first", ":1"]);
    for word in ["shed", "face", "1234", "head"] {
        let found = sandbox.ok(&["find", "green", word]);
        assert_eq!(found, sandbox.ok(&["find", &format!("green {word}")]));
    }
}

#[test]
fn a_branch_and_a_tag_of_one_name_are_told_apart() {
    let sandbox = three();
    sandbox.ok(&["branch", "rel"]);
    sandbox.ok(&["tag", "rel"]);
    let log = sandbox.ok(&["log", "--oneline", "-n", "1"]);
    assert!(log.contains("(HEAD -> main, rel, tags/rel)"), "{log}");
    assert_eq!(
        sandbox.ok(&["show", "tags/rel"]),
        sandbox.ok(&["show", "HEAD"])
    );
}

#[test]
fn a_window_of_none_is_all() {
    let sandbox = three();
    assert_eq!(
        sandbox.ok(&["view", "-n", "0"]),
        sandbox.ok(&["view", "-n", "9"])
    );
}

#[test]
fn many_oddities_of_a_file_are_counted() {
    let sandbox = three();
    let session = crate::sessions::import::SESSION;
    let again: String = session.split_inclusive('\n').take(20).collect();
    sandbox.write("session.jsonl", format!("{session}{again}"));
    for how in [["--dry-run"].as_slice(), &[]] {
        let import =
            |more: &[&str]| sandbox.tract(&[&["import", "session.jsonl"], how, more].concat());
        let told = import(&[]);
        assert!(
            told.contains("note: 10 records are odd and do no harm (-v lists them)"),
            "{told}"
        );
        let told = import(&["-v"]);
        assert!(
            told.matches(" again (first on line ").count() == 10,
            "{told}"
        );
    }
}

#[test]
fn a_dash_is_standard_output() {
    let sandbox = three();
    for words in [
        ["compile", "--format", "openai"].as_slice(),
        &["export", "--format", "openai"],
        &["dataset"],
    ] {
        let printed = sandbox.ok(words);
        assert_eq!(sandbox.ok(&[words, &["-o", "-"]].concat()), printed);
    }
    assert!(!sandbox.work().join("-").exists());
}

#[test]
fn a_format_is_refused_that_understands_nothing_of_the_file() {
    let sandbox = three();
    sandbox.write("session.jsonl", crate::sessions::import::SESSION);
    for format in ["codex", "gemini", "pi", "kimi", "qwen", "copilot-cli"] {
        let told = sandbox.tract(&["import", "--format", format, "session.jsonl"]);
        let why = format!("the content is claude-code, not {format}");
        assert!(told.contains(&why), "{told}");
    }
}

#[test]
fn a_search_that_finds_nothing_ends_with_one() {
    let sandbox = three();
    for search in [
        ["find", "zebra"].as_slice(),
        &["log", "--grep", "zebra"],
        &["log", "--op", "edit"],
        &["log", "--until", "1990-01-01"],
        &["log", "--files"],
    ] {
        let told = sandbox.tract(search);
        assert!(told.starts_with("exit code: 1\n"), "{search:?}: {told}");
        assert!(!told.contains("error:"), "{search:?}: {told}");
    }
    assert!(sandbox.ok(&["log", "HEAD..HEAD"]).is_empty());
}

#[test]
fn a_range_of_numbers_is_of_messages_and_needs_one_colon() {
    let sandbox = three();
    let range = sandbox.ok(&["log", ":2..3", "--oneline"]);
    assert_eq!(range, sandbox.ok(&["log", ":1..HEAD", "--oneline"]));
    for (range, count) in [(":1..3", 3), (":1..:3", 3), (":-2..-1", 2), (":2..2", 1)] {
        let told = sandbox.ok(&["log", range]);
        assert_eq!(told.lines().count(), count, "{range}: {told}");
        let shown = sandbox.ok(&["show", range]);
        assert_eq!(shown.matches("\ntime ").count(), count, "{range}: {shown}");
    }
    // Those of another branch are named by it.
    sandbox.ok(&["branch", "idea", ":2"]);
    let of_idea = sandbox.ok(&["pick", "idea:1..2", "--dry-run"]);
    assert!(
        of_idea.contains("Paint") && of_idea.contains("is green"),
        "{of_idea}"
    );
    assert_eq!(
        of_idea,
        sandbox.ok(&["pick", "idea:1..idea:2", "--dry-run"])
    );
    // In a text that is looked for, such a range is text.
    sandbox.ok(&["commit", "-r", "user", "-m", "From 8:1..3 on."]);
    let told = sandbox.ok(&["log", ":/8:1..3", "-n", "1"]);
    assert!(told.contains("From 8:1..3 on."), "{told}");
    sandbox.ok(&["undo"]);
    // A summary stands at the beginning, and its commit is the last.
    sandbox.ok(&["compact", ":1..2", "-m", "A shed."]);
    let told = sandbox.ok(&["log", ":1..2"]);
    assert_eq!(told.lines().count(), 2, "{told}");
    sandbox.ok(&["undo"]);
    let unknown = sandbox.tract(&["log", ":1..9"]);
    assert!(unknown.contains(":1 to :3"), "{unknown}");
}

#[test]
fn a_bisection_says_how_it_stands_and_takes_its_command_as_git_does() {
    let sandbox = three();
    insta::assert_snapshot!(sandbox.tract(&["bisect"]), @r"
    --- stderr
    No bisection is under way
    hint: tract bisect start begins one by hand; tract bisect run CMD lets a command judge
    ");
    let judge = ["sh", "-c", "! grep -q Paint"];
    let with = [["bisect", "run", "--"].as_slice(), &judge].concat();
    sandbox.write("judge.sh", "#!/bin/sh\n! grep -q Paint\n");
    let told = sandbox.ok(&with);
    sandbox.ok(&["undo"]);
    let told_again = sandbox.ok(&["bisect", "run", "sh", "judge.sh"]);
    let found = |told: &str| told.lines().filter(|line| line.contains("Paint")).count();
    assert!(found(&told) > 0, "{told}");
    assert_eq!(found(&told), found(&told_again), "{told}\n{told_again}");
    for words in [["bisect", "run"].as_slice(), &["bisect", "run", "HEAD"]] {
        let none = sandbox.tract(words);
        assert!(none.starts_with("exit code: 2\n"), "{none}");
        assert!(none.contains("no command is given that judges"), "{none}");
    }
}

#[test]
fn below_home_the_way_to_begin_leads_to_a_repository_at_home() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::empty();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let session = fs::read(data.join("claude-code/compaction.jsonl")).expect("a fixture");
    let folder = sandbox.home().join(".claude/projects/-elsewhere");
    let below = sandbox.home().join("below");
    for folder in [&folder, &below] {
        fs::create_dir_all(folder).expect("made");
    }
    fs::write(folder.join("talk.jsonl"), session).expect("written");
    let run = |words: &[&str]| {
        let output = sandbox.command(words).current_dir(&below).output();
        sandbox.told(&output.expect("it runs"))
    };
    assert!(run(&["status"]).contains("hint: tract init ~ && tract import --all takes in"));
    // Without it an import of all leads there as well, and says nothing of sessions that are not here.
    let refused = run(&["import", "--all"]);
    assert!(
        refused.ends_with("hint: tract init ~ makes one for all of them\n"),
        "{refused}"
    );
    run(&["init", &sandbox.home().display().to_string()]);
    assert!(run(&["import", "--all"]).contains("Imported"));
}

#[test]
fn where_another_branch_was_is_no_way_back() {
    let sandbox = three();
    sandbox.ok(&["reset", "HEAD~1"]);
    let left = sandbox.ok(&["rev-parse", "ORIG_HEAD"]);
    sandbox.ok(&["checkout", "-b", "idea"]);
    for rev in ["ORIG_HEAD", "ORIG_HEAD~1"] {
        let refused = sandbox.tract(&["reset", "--hard", rev]);
        assert!(
            refused.contains("error: ORIG_HEAD is where main was, not idea"),
            "{refused}"
        );
    }
    // Its own later move is, and an undo of that leaves main's again.
    sandbox.ok(&["reset", "HEAD~1"]);
    sandbox.ok(&["undo"]);
    assert!(sandbox.tract(&["reset", "ORIG_HEAD"]).contains("main was"));
    sandbox.ok(&["--on", "main", "reset", "ORIG_HEAD"]);
    assert_eq!(sandbox.ok(&["rev-parse", "main"]), left);
    // By another name it is the same branch.
    sandbox.ok(&["commit", "-r", "user", "-m", "And the gate."]);
    sandbox.ok(&["reset", "HEAD~1"]);
    sandbox.ok(&["branch", "-m", "idea", "plan"]);
    sandbox.ok(&["reset", "ORIG_HEAD"]);
}

#[test]
fn a_position_that_nothing_has_set_says_what_sets_it() {
    let sandbox = three();
    insta::assert_snapshot!(sandbox.tract(&["show", "ORIG_HEAD"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'ORIG_HEAD'
    hint: a soft reset sets ORIG_HEAD; tract reflog HEAD lists where HEAD was
    ");
    insta::assert_snapshot!(sandbox.tract(&["show", "PREV_HEAD"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'PREV_HEAD'
    hint: a checkout sets PREV_HEAD; tract reflog HEAD lists where HEAD was
    ");
}

#[test]
fn what_a_client_says_in_the_users_name_is_injected() {
    let sandbox = Sandbox::with_messages(&[
        (
            "user",
            "<local-command-stdout>Cleared.</local-command-stdout>",
        ),
        ("user", "Paint the shed."),
        (
            "user",
            "<system-reminder>It rains.</system-reminder> Paint the fence.",
        ),
        ("assistant", "Done."),
    ]);
    let who = sandbox.ok(&["log", "--reverse", "--format", "%s"]);
    assert_eq!(who.lines().count(), 4);
    let log = sandbox.ok(&["log", "--reverse"]);
    let injected: Vec<bool> = log
        .lines()
        .map(|line| line.contains(" injected "))
        .collect();
    assert_eq!(injected, [true, false, false, false], "{log}");
    let users = sandbox.ok(&["log", "--role", "user"]);
    assert_eq!(users.lines().count(), 2, "{users}");
    let told = sandbox.ok(&["api", "log"]);
    assert_eq!(told.matches("\"injected\":true").count(), 1, "{told}");
    // A compaction's summary as well, whichever command tells of it.
    sandbox.ok(&["compact", "--keep", "1", "-m", "Two were to be painted."]);
    for words in [&["find", "to be painted"][..], &["show"], &["blame", ":1"]] {
        let told = sandbox.ok(words);
        assert!(told.contains("injected"), "{words:?}: {told}");
    }
}

#[test]
fn in_an_empty_repository_a_name_is_answered_with_how_to_begin() {
    let sandbox = Sandbox::new();
    for words in [["checkout", "x"], ["show", "x"], ["log", "face1"]] {
        let told = sandbox.tract(&words);
        let begin = "hint: tract import, or tract commit -r user -m";
        assert!(told.contains(begin), "{words:?}: {told}");
    }
}

#[test]
fn another_programs_option_for_json_is_answered_with_the_method() {
    let sandbox = three();
    for words in [
        &["show", ":2", "--format", "json"][..],
        &["show", "--format=json", ":2"],
        &["show", "--json", ":2"],
    ] {
        let told = sandbox.tract(words);
        let line = "hint: programs ask with: tract api show '{\"rev\":\":2\"}'";
        assert!(told.contains(line), "{words:?}: {told}");
    }
    // What is like no option is not taken for one.
    let told = sandbox.tract(&["show", "--frobnicate"]);
    assert!(!told.contains("did you mean"), "{told}");
}

#[test]
fn a_search_is_narrowed_to_replies_of_a_model() {
    let sandbox = three();
    let reply = [
        "commit",
        "-r",
        "assistant",
        "-m",
        "The fence is green.",
        "--model",
        "gpt-5",
    ];
    sandbox.ok(&reply);
    let found = sandbox.ok(&["find", "green", "--model", "GPT"]);
    assert!(
        found.contains("main:4") && !found.contains("main:2"),
        "{found}"
    );
    let none = sandbox.tract(&["find", "green", "--model", "sonnet"]);
    assert!(none.starts_with("exit code: 1\n"), "{none}");
    let of_branch = sandbox.ok(&["find", "green", "main", "--model", "gpt-5"]);
    assert!(of_branch.contains("main:4"), "{of_branch}");
}

#[test]
fn a_wrong_time_in_a_revision_and_a_wrong_letter_in_a_hash_are_named() {
    let sandbox = three();
    insta::assert_snapshot!(sandbox.tract(&["show", "HEAD@{noon}"]), @r"
    exit code: 2
    --- stderr
    error: 'noon' in 'HEAD@{noon}' is neither a number, a date nor an age
    hint: such as HEAD@{3}, HEAD@{2 hours ago}, HEAD@{yesterday} or HEAD@{2026-01-31T14:00}
    ");
    let head = sandbox.ok(&["rev-parse", "HEAD"]);
    for slip in [
        format!("{}z", &head[..6]),
        format!("{}z{}", &head[..4], &head[5..8]),
    ] {
        let told = sandbox.tract(&["show", &slip]);
        let near = format!("did you mean {}", &head[..7]);
        assert!(told.contains(&near), "{slip}: {told}");
    }
}

#[test]
fn what_users_of_git_type_is_answered_with_what_is_meant() {
    let sandbox = three();
    sandbox.ok(&["init", "../there"]);
    sandbox.ok(&["remote", "add", "origin", "../there"]);
    for (words, answer) in [
        (&["push", "--force"][..], "did you mean --force-with-lease?"),
        (
            &["push", "origin", ":v2"],
            "tract push --delete REMOTE v2 deletes it there",
        ),
        (
            &["config", "unset", "budget.max"],
            "tract config --unset KEY",
        ),
    ] {
        let told = sandbox.tract(words);
        assert!(
            told.contains(&format!("hint: {answer}")),
            "{words:?}: {told}"
        );
    }
    // A mark on a message is no message: the hint names that.
    sandbox.ok(&["checkout", "-b", "other", ":1"]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "Which green?"]);
    sandbox.ok(&["pin", ":2"]);
    sandbox.ok(&["checkout", "main"]);
    let told = sandbox.tract(&["pick", "other"]);
    let pick = told
        .split("hint: nothing was written; tract ")
        .nth(1)
        .expect("a way");
    let pick: Vec<&str> = pick.split(' ').take(2).collect();
    sandbox.ok(&pick);
    assert!(sandbox.ok(&["show"]).contains("Which green?"));
}

#[test]
fn a_purge_names_what_says_the_same_and_stays() {
    let sandbox = three();
    sandbox.ok(&["checkout", "-b", "other", ":1"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "The key of the shed is 4711."]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["merge", "other"]);
    let merge = sandbox.ok(&["rev-parse", "HEAD"])[..7].to_owned();
    let would = sandbox.ok(&["purge", "other", "--dry-run"]);
    assert!(would.contains(&format!("stays: {merge}")), "{would}");
    let told = sandbox.tract(&["purge", "other", "--force"]);
    assert!(
        told.contains(&format!("the same text stays in {merge}")),
        "{told}"
    );
    let told = sandbox.tract(&["purge", &merge, "--force"]);
    assert!(!told.contains("the same text"), "{told}");
    assert!(
        sandbox
            .tract(&["find", "-F", "4711"])
            .contains("exit code: 1")
    );
}

#[test]
fn a_plain_clone_knows_the_titles_of_its_sessions() {
    let sandbox = crate::sessions::import::with_demo();
    sandbox.ok(&["commit", "-r", "user", "-m", "And on."]);
    sandbox.ok(&["clone", ".", "../copy"]);
    let title = "Read the bank's amounts, and never in silence";
    for here in [".", "../copy"] {
        let branches = sandbox.ok(&["--repo", here, "branch"]);
        assert!(branches.contains(title), "{here}: {branches}");
        let status = sandbox.ok(&["--repo", here, "status"]);
        assert!(
            status.contains(&format!("(claude-code \"{title}\")")),
            "{here}: {status}"
        );
    }
}
