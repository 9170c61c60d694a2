//! A branch that comes back: merged as one message, as all of its messages, as its prompts.

use crate::sandbox::Sandbox;

/// A branch `idea` with a question, a tool call with its result, and an answer; `main` went on meanwhile.
fn forked() -> Sandbox {
    let sandbox = Sandbox::with_messages(&[
        ("system", "Be brief."),
        ("user", "Mend the parser."),
        ("assistant", "I look at it."),
    ]);
    sandbox.ok(&["checkout", "-b", "idea"]);
    say(&sandbox, "user", "Look at the lexer first.");
    call(&sandbox, "c1", r#"{"path":"lexer.rs"}"#);
    sandbox.ok(&["commit", "-r", "tool", "--call", "c1", "-m", "fn lex() {}"]);
    say(&sandbox, "assistant", "The lexer drops the last token.");
    sandbox.ok(&["checkout", "main"]);
    say(&sandbox, "user", "And the tests?");
    say(&sandbox, "assistant", "They pass.");
    sandbox
}

fn say(sandbox: &Sandbox, role: &str, text: &str) {
    sandbox.ok(&["commit", "-r", role, "-m", text]);
}

/// The model calls a tool.
fn call(sandbox: &Sandbox, id: &str, arguments: &str) {
    let function = serde_json::json!({"name": "read", "arguments": arguments});
    let call = serde_json::json!({"id": id, "type": "function", "function": function});
    let message = serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]});
    sandbox.write("lines.jsonl", format!("{message}\n"));
    sandbox.ok(&["commit", "--batch", "lines.jsonl"]);
}

fn text(sandbox: &Sandbox) -> String {
    sandbox.ok(&["compile", "--format", "text"])
}

fn tip(sandbox: &Sandbox, name: &str) -> String {
    sandbox.ok(&["rev-parse", name])
}

fn previews(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.ok(&["log", "-n", "0", "--reverse", "--format", "%o %s"]);
    log.lines().map(str::to_owned).collect()
}

#[test]
fn the_last_answer_of_a_branch_comes_as_one_message() {
    let sandbox = forked();
    let before = text(&sandbox);
    let told = sandbox.tract(&["merge", "idea"]);
    assert!(
        told.contains("Merged idea: 4 messages, told in one (+"),
        "{told}"
    );
    let after = text(&sandbox);
    assert!(after.starts_with(before.trim_end()), "{after}");
    let last = &after[before.trim_end().len()..];
    assert!(
        last.contains("[Merged from idea: 4 messages up to ")
            && last.contains("The lexer drops the last token."),
        "{last}"
    );
    // It is no prompt, and what is here is not brought again.
    let prompts = sandbox.ok(&["log", "--prompts", "--format", "%s"]);
    assert!(!prompts.contains("Merged from"), "{prompts}");
    let there = tip(&sandbox, "HEAD");
    let told = sandbox.tract(&["merge", "idea"]);
    assert!(told.contains("All of idea is here already"), "{told}");
    assert!(!told.contains("exit code"), "{told}");
    assert_eq!(tip(&sandbox, "HEAD"), there);
    // One undo takes it back, exactly.
    sandbox.ok(&["undo"]);
    assert_eq!(text(&sandbox), before);
}

#[test]
fn a_command_sums_the_other_branch_up() {
    let sandbox = forked();
    let told = sandbox.tract(&["merge", "idea", "--exec", "wc -l | tr -d ' '"]);
    assert!(told.contains("Merged idea: 4 messages"), "{told}");
    let seen = text(&sandbox);
    assert!(!seen.contains("drops the last token"), "{seen}");
    // What fails changes nothing.
    sandbox.ok(&["undo"]);
    let before = tip(&sandbox, "HEAD");
    let told = sandbox.tract(&["merge", "idea", "--exec", "exit 3"]);
    assert!(
        told.contains("exit code: 1") && told.contains("made no summary"),
        "{told}"
    );
    assert_eq!(tip(&sandbox, "HEAD"), before);
}

#[test]
fn all_messages_come_with_their_tools_and_only_new_ones_the_next_time() {
    let sandbox = forked();
    sandbox.ok(&["merge", "idea", "--messages"]);
    assert_eq!(
        previews(&sandbox)[5..],
        [
            "append Look at the lexer first.",
            "append read lexer.rs",
            "append fn lex() {}",
            "append The lexer drops the last token.",
        ]
    );
    sandbox.ok(&["checkout", "idea"]);
    say(&sandbox, "user", "Which token?");
    sandbox.ok(&["checkout", "main"]);
    say(&sandbox, "user", "Go on.");
    sandbox.ok(&["merge", "idea", "--messages"]);
    let said = previews(&sandbox);
    assert_eq!(said[9..], ["append Go on.", "append Which token?"]);
    // The other one has nothing of its own now: it moves.
    sandbox.ok(&["checkout", "idea"]);
    let told = sandbox.tract(&["merge", "main"]);
    assert!(told.contains("idea went on"), "{told}");
    assert_eq!(tip(&sandbox, "idea"), tip(&sandbox, "main"));
    sandbox.ok(&["fsck"]);
}

#[test]
fn only_what_the_user_typed_comes() {
    let sandbox = forked();
    let told = sandbox.tract(&["merge", "idea", "--prompts"]);
    assert!(told.contains("of 4 messages (+"), "{told}");
    assert_eq!(previews(&sandbox)[5..], ["append Look at the lexer first."]);
}

#[test]
fn what_the_other_branch_hid_stays_hidden() {
    let sandbox = forked();
    sandbox.ok(&["--on", "idea", "drop", ":4", "--force"]);
    sandbox.ok(&["merge", "idea", "--messages"]);
    let seen = text(&sandbox);
    assert!(!seen.contains("Look at the lexer first."), "{seen}");
    assert!(seen.contains("The lexer drops the last token."), "{seen}");
}

/// Six questions with their answers; `idea` has dropped the second pair, and `hides` has hidden it here.
fn dropped_there(hides: &[&str]) -> Sandbox {
    let said: Vec<(&str, String)> = (1..=6)
        .flat_map(|at| {
            [
                ("user", format!("question {at}")),
                ("assistant", format!("answer {at}")),
            ]
        })
        .collect();
    let said: Vec<(&str, &str)> = said.iter().map(|(role, text)| (*role, &**text)).collect();
    let sandbox = Sandbox::with_messages(&said);
    sandbox.ok(&["branch", "idea"]);
    sandbox.ok(&["--on", "idea", "drop", ":3", ":4"]);
    sandbox.ok(hides);
    sandbox
}

#[test]
fn what_the_other_branch_dropped_stays_dropped_when_a_hide_of_this_one_is_taken_back() {
    let hides: [&[&str]; 4] = [
        &["truncate", "--keep", "4"],
        &["compact", ":1..:6", "-m", "in short"],
        &["clear"],
        &["annotate", "--skip", ":3", ":4"],
    ];
    let ways: [(&[&str], &str); 3] = [
        (&["merge", "idea", "--messages"], "1 change"),
        (&["pick", "idea"], "Did 1 change here"),
        (&["--on", "idea", "rebase", "main"], ""),
    ];
    for hide in hides {
        for (way, says) in ways {
            let sandbox = dropped_there(hide);
            let (hidden, before) = (tip(&sandbox, "HEAD"), text(&sandbox));
            let told = sandbox.tract(way);
            assert!(told.contains(says) && !told.contains("exit code"), "{told}");
            if way[0] == "--on" {
                sandbox.ok(&["checkout", "idea"]);
            }
            assert_eq!(text(&sandbox), before, "{hide:?} {way:?}");
            if way[0] == "merge" {
                let told = sandbox.tract(way);
                assert!(told.contains("All of idea is here already"), "{told}");
                sandbox.ok(&["undo"]);
                assert_eq!(tip(&sandbox, "HEAD"), hidden);
                sandbox.ok(&["redo"]);
            }
            sandbox.ok(&["revert", hidden.trim()]);
            let seen = text(&sandbox);
            let is_back = seen.contains("question 1") && seen.contains("answer 3");
            assert!(is_back, "{hide:?} {way:?}: {seen}");
            let is_dropped = !seen.contains("question 2") && !seen.contains("answer 2");
            assert!(is_dropped, "{hide:?} {way:?}: {seen}");
            sandbox.ok(&["fsck"]);
        }
    }
}

#[test]
fn a_summary_of_the_other_branch_comes_where_this_one_hid_its_messages() {
    let sandbox = dropped_there(&["truncate", "--keep", "4"]);
    sandbox.ok(&["--on", "idea", "compact", ":2..:4", "-m", "in short"]);
    let told = sandbox.tract(&["merge", "idea"]);
    assert!(told.contains("2 changes"), "{told}");
    assert!(text(&sandbox).contains("in short"));
}

#[test]
fn what_both_branches_dropped_or_truncated_is_hidden_once() {
    let hides: [&[&str]; 2] = [&["drop", ":3", ":4"], &["truncate", "--keep", "4"]];
    for hide in hides {
        let sandbox = dropped_there(&["drop", ":3", ":4"]);
        if hide[0] == "truncate" {
            sandbox.ok(&["--on", "idea", "truncate", "--keep", "5"]);
            sandbox.ok(hide);
        }
        let before = text(&sandbox);
        let told = sandbox.tract(&["merge", "idea", "--messages"]);
        let is_told = told.contains("Merged idea: ") && !told.contains("change");
        assert!(is_told, "{told}");
        assert_eq!(text(&sandbox), before);
    }
}

#[test]
fn changes_of_shared_messages_are_made_here_as_well() {
    let sandbox = forked();
    sandbox.ok(&[
        "--on",
        "idea",
        "commit",
        "--edit",
        ":2",
        "-r",
        "user",
        "-m",
        "Mend it, please.",
    ]);
    sandbox.ok(&["--on", "idea", "drop", ":3"]);
    sandbox.ok(&["--on", "idea", "pin", ":1"]);
    let told = sandbox.tract(&["merge", "idea"]);
    assert!(
        told.contains("4 messages, told in one, 3 changes"),
        "{told}"
    );
    let seen = text(&sandbox);
    assert!(
        seen.contains("Mend it, please.") && !seen.contains("I look at it."),
        "{seen}"
    );
    assert!(seen.contains("They pass."), "{seen}");
}

#[test]
fn a_conflict_is_listed_and_has_three_ways_out() {
    let conflict = || {
        let sandbox = forked();
        sandbox.ok(&[
            "commit",
            "--edit",
            ":2",
            "-r",
            "user",
            "-m",
            "Mend it here.",
        ]);
        sandbox.ok(&[
            "--on",
            "idea",
            "commit",
            "--edit",
            ":2",
            "-r",
            "user",
            "-m",
            "Mend it there.",
        ]);
        sandbox
    };
    let sandbox = conflict();
    let before = tip(&sandbox, "HEAD");
    insta::assert_snapshot!(sandbox.tract(&["merge", "idea"]), @r"
    exit code: 1
      :2  edited on both sides  Mend it here.
    --- stderr
    error: 1 message changed differently here and on idea; nothing was written
    hint: tract resolve :N --ours or --theirs, then tract merge --continue; or tract merge --abort
    ");
    assert_eq!(tip(&sandbox, "HEAD"), before);
    let status = sandbox.ok(&["status"]);
    assert!(
        status.contains("Merging idea, which has conflicts"),
        "{status}"
    );
    insta::assert_snapshot!(sandbox.tract(&["merge", "idea", "--messages"]), @r"
    exit code: 1
    --- stderr
    error: a merge is under way on this branch
    hint: tract merge --continue goes on with it, tract merge --abort gives it up
    ");
    insta::assert_snapshot!(sandbox.tract(&["resolve", ":3", "--ours"]), @r"
    exit code: 1
    --- stderr
    error: 387388a has no conflict
    hint: tract resolve lists what is in conflict
    ");
    let told = sandbox.tract(&["merge", "--continue"]);
    assert!(
        told.contains("exit code: 1"),
        "nothing is settled yet: {told}"
    );
    let told = sandbox.tract(&["resolve", ":2", "--theirs"]);
    assert!(told.contains("Settled 1 message: theirs"), "{told}");
    sandbox.ok(&["merge", "--continue"]);
    assert!(text(&sandbox).contains("Mend it there."));
    assert!(!sandbox.ok(&["status"]).contains("Merging"));

    for (flag, wanted) in [("--ours", "Mend it here."), ("--theirs", "Mend it there.")] {
        let sandbox = conflict();
        sandbox.ok(&["merge", "idea", flag]);
        let seen = text(&sandbox);
        assert!(
            seen.contains(wanted) && seen.contains("The lexer drops"),
            "{seen}"
        );
    }

    let sandbox = conflict();
    let before = text(&sandbox);
    assert!(sandbox.tract(&["merge", "idea"]).contains("exit code: 1"));
    let told = sandbox.tract(&["merge", "--abort"]);
    assert!(told.contains("Gave up the merge of idea"), "{told}");
    assert_eq!(text(&sandbox), before);
    let told = sandbox.tract(&["merge", "--abort"]);
    assert!(
        told.contains("error: no merge is under way on this branch"),
        "{told}"
    );
    assert!(sandbox.tract(&["resolve"]).contains("exit code: 1"));
}

#[test]
fn hidden_on_one_side_and_edited_on_the_other_is_a_conflict_either_way() {
    let cases = [
        ("main", "idea", "edited there, hidden here"),
        ("idea", "main", "hidden there, edited here"),
    ];
    for (hides, edits, what) in cases {
        for flag in [None, Some("--ours"), Some("--theirs")] {
            let sandbox = forked();
            sandbox.ok(&["--on", hides, "drop", ":3"]);
            let text_there = "I look closely.";
            sandbox.ok(&[
                "--on",
                edits,
                "commit",
                "--edit",
                ":3",
                "-r",
                "assistant",
                "-m",
                text_there,
            ]);
            let before = text(&sandbox);
            let Some(flag) = flag else {
                let told = sandbox.tract(&["merge", "idea"]);
                let refused = told.contains("exit code: 1") && told.contains(what);
                assert!(refused, "{told}");
                assert_eq!(text(&sandbox), before);
                continue;
            };
            sandbox.ok(&["merge", "idea", flag]);
            let seen = text(&sandbox);
            let keeps_edit = (flag == "--ours") == (edits == "main");
            assert_eq!(
                seen.contains(text_there),
                keeps_edit,
                "{what} {flag}: {seen}"
            );
            assert!(!seen.contains("I look at it."), "{seen}");
        }
    }
}

#[test]
fn the_same_change_on_both_is_no_conflict() {
    let sandbox = forked();
    for on in ["main", "idea"] {
        sandbox.ok(&[
            "--on", on, "commit", "--edit", ":2", "-r", "user", "-m", "Mend it.",
        ]);
        sandbox.ok(&["--on", on, "drop", ":3"]);
    }
    let told = sandbox.tract(&["merge", "idea"]);
    assert!(
        told.contains("Merged idea: 4 messages, told in one ("),
        "{told}"
    );
}

#[test]
fn a_dry_run_says_what_would_come_and_what_is_in_conflict() {
    let sandbox = forked();
    let before = tip(&sandbox, "HEAD");
    let told = sandbox.tract(&["merge", "idea", "--messages", "--dry-run"]);
    for said in [
        "Would bring in 4 messages",
        "Tokens    ",
        "Cache     the first 5 messages stay",
    ] {
        assert!(told.contains(said), "{told}");
    }
    sandbox.ok(&["commit", "--edit", ":2", "-r", "user", "-m", "here"]);
    sandbox.ok(&[
        "--on", "idea", "commit", "--edit", ":2", "-r", "user", "-m", "there",
    ]);
    let told = sandbox.tract(&["merge", "idea", "--dry-run"]);
    assert!(
        told.contains("exit code: 1") && told.contains("edited on both sides"),
        "{told}"
    );
    assert!(
        !sandbox.ok(&["status"]).contains("Merging"),
        "nothing is under way"
    );
    sandbox.ok(&["undo"]);
    sandbox.ok(&["undo"]);
    assert_eq!(tip(&sandbox, "HEAD"), before);
}

#[test]
fn a_branch_without_commits_of_its_own_moves() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.ok(&["checkout", "-b", "idea"]);
    say(&sandbox, "assistant", "two");
    sandbox.ok(&["checkout", "main"]);
    let told = sandbox.tract(&["merge", "idea", "--dry-run"]);
    assert!(told.contains("main would go on 1 commit"), "{told}");
    let told = sandbox.tract(&["merge", "idea"]);
    assert!(told.contains("main went on 1 commit, to"), "{told}");
    assert_eq!(tip(&sandbox, "main"), tip(&sandbox, "idea"));
    let told = sandbox.tract(&["merge", "main"]);
    assert!(told.contains("All of main is here already"), "{told}");
}

#[test]
fn merged_crosswise_nothing_is_said_twice() {
    let sandbox = forked();
    let (main, idea) = (tip(&sandbox, "main"), tip(&sandbox, "idea"));
    sandbox.ok(&["merge", idea.trim(), "--messages"]);
    sandbox.ok(&["--on", "idea", "merge", main.trim(), "--messages"]);
    say(&sandbox, "user", "Here again.");
    sandbox.ok(&["--on", "idea", "commit", "-r", "user", "-m", "There again."]);
    sandbox.ok(&["merge", "idea", "--messages"]);
    let mut said = previews(&sandbox);
    let all = said.len();
    said.sort();
    said.dedup();
    assert_eq!(said.len(), all, "{said:?}");
    assert!(said.contains(&"append There again.".to_owned()), "{said:?}");
    sandbox.ok(&["checkout", "idea"]);
    sandbox.ok(&["merge", "main"]);
    assert_eq!(tip(&sandbox, "main"), tip(&sandbox, "idea"));
}

#[test]
fn histories_without_a_common_beginning_are_refused_unless_it_is_said() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.ok(&["--on", "other", "commit", "-r", "user", "-m", "elsewhere"]);
    insta::assert_snapshot!(sandbox.tract(&["merge", "other"]), @r"
    exit code: 1
    --- stderr
    error: other has nothing in common with this branch
    hint: --allow-unrelated-histories merges it all the same; tract pick copies single messages
    ");
    sandbox.ok(&[
        "merge",
        "other",
        "--allow-unrelated-histories",
        "--messages",
    ]);
    assert_eq!(previews(&sandbox), ["append one", "append elsewhere"]);
}

#[test]
fn where_a_call_waits_nothing_is_merged() {
    let sandbox = forked();
    call(&sandbox, "c9", "{}");
    let told = sandbox.tract(&["merge", "idea"]);
    assert!(told.contains("still waits for its result"), "{told}");
}

#[test]
fn a_call_without_its_result_does_not_come() {
    let sandbox = forked();
    sandbox.ok(&["checkout", "idea"]);
    call(&sandbox, "c9", "{}");
    sandbox.ok(&["checkout", "main"]);
    let told = sandbox.tract(&["merge", "idea", "--messages"]);
    assert!(
        told.contains("1 message left out: a tool call without its result"),
        "{told}"
    );
    assert_eq!(previews(&sandbox).len(), 9);
}

#[test]
fn bad_use_is_refused() {
    let sandbox = forked();
    insta::assert_snapshot!(sandbox.tract(&["merge", "idee"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'idee'
    hint: did you mean idea?
    ");
    insta::assert_snapshot!(sandbox.tract(&["merge", "--continue"]), @r"
    exit code: 1
    --- stderr
    error: no merge is under way on this branch
    hint: tract merge BRANCH begins one
    ");
    let there = tip(&sandbox, "HEAD");
    let told = sandbox.tract(&["merge", "main"]);
    assert!(
        told.contains("All of main is here already"),
        "itself: {told}"
    );
    assert_eq!(tip(&sandbox, "HEAD"), there);
    sandbox.ok(&["checkout", "HEAD"]);
    let told = sandbox.tract(&["merge", "idea"]);
    assert!(told.contains("Cannot commit in detached HEAD"), "{told}");
}

#[test]
fn a_log_says_what_was_merged_and_draws_it() {
    let sandbox = forked();
    sandbox.ok(&["merge", "idea"]);
    say(&sandbox, "user", "Then mend the lexer.");
    if let Some(drawn) = sandbox.on_terminal("80", &["log", "-3"]) {
        insta::assert_snapshot!(drawn, @r"
        commit   no.  time   who        tokens  context  message
        2026-03-14, today
        049217a   :7  12:14  user           +9       78  (HEAD -> main)  Then mend the…
        4fce633   :6  12:13  merge         +26       69  557057a [Merged from idea: 4 m…
        a629e1a   :5  12:12  assistant      +7       43  They pass.
        ");
    }
    if let Some(drawn) = sandbox.on_terminal("80", &["log", "--graph"]) {
        insta::assert_snapshot!(drawn, @r"
        *    049217a  :7  2 min ago   user        +9  (HEAD -> main)  Then mend the lex…
        *    4fce633  :6  3 min ago   merge      +26  557057a [Merged from idea: 4 mess…
        |\
        | *  557057a      7 min ago   assistant  +11  (idea)  The lexer drops the last…
        | *  c1d9725      8 min ago   tool        +8  read lexer.rs → fn lex() {}
        | *  5387526      9 min ago   assistant  +11  read lexer.rs
        | *  f84a787      10 min ago  user       +10  Look at the lexer first.
        * |  a629e1a  :5  4 min ago   assistant   +7  They pass.
        * |  e6ec902  :4  5 min ago   user        +8  And the tests?
        |/
        *    387388a  :3  12 min ago  assistant   +9  I look at it.
        *    35c5705  :2  13 min ago  user        +9  Mend the parser.
        *    790ee60  :1  14 min ago  system     +10  Be brief.
        ");
    }
    let shown = sandbox.ok(&["show", "HEAD~1"]);
    assert!(shown.contains("merged    "), "{shown}");
}

#[test]
fn a_pull_merges_where_it_is_told_to() {
    let sandbox = forked();
    sandbox.ok(&["init", "hub"]);
    sandbox.ok(&["remote", "add", "origin", "hub"]);
    sandbox.ok(&["push"]);
    let hub = sandbox.work().join("hub");
    let hub = hub.to_str().expect("text");
    sandbox.ok(&[
        "--repo",
        hub,
        "commit",
        "-r",
        "user",
        "-m",
        "From elsewhere.",
    ]);
    say(&sandbox, "assistant", "From here.");
    let told = sandbox.tract(&["pull"]);
    assert!(
        told.contains("exit code: 1") && told.contains("tract merge origin/main"),
        "{told}"
    );
    let told = sandbox.tract(&["pull", "--merge"]);
    assert!(told.contains("Merged origin/main: 1 message"), "{told}");
    assert!(text(&sandbox).contains("From elsewhere."));
    // What was merged goes along, and the other side only moves.
    let told = sandbox.tract(&["push"]);
    assert!(told.contains("main"), "{told}");
    sandbox.ok(&["--repo", hub, "fsck"]);
    assert_eq!(
        tip(&sandbox, "main"),
        sandbox.ok(&["--repo", hub, "rev-parse", "main"])
    );

    sandbox.ok(&["config", "pull.merge", "true"]);
    sandbox.ok(&["--repo", hub, "commit", "-r", "user", "-m", "Once more."]);
    say(&sandbox, "assistant", "And here.");
    sandbox.ok(&["pull"]);
    assert!(text(&sandbox).contains("Once more."));
    let told = sandbox.tract(&["config", "pull.merge", "often"]);
    assert!(told.contains("exit code: 2"), "{told}");
}

#[test]
fn what_was_merged_stays_when_its_branch_goes() {
    let sandbox = forked();
    sandbox.ok(&["merge", "idea"]);
    let idea = tip(&sandbox, "idea");
    sandbox.ok(&["branch", "-d", "idea"]);
    sandbox.ok(&["gc", "--expire", "now"]);
    let kept = sandbox.ok(&["compile", "--format", "text", idea.trim()]);
    assert!(kept.contains("The lexer drops the last token."), "{kept}");
    sandbox.ok(&["bundle", "all.tract", "--all"]);
    sandbox.ok(&["init", "other"]);
    let other = sandbox.work().join("other");
    let other = other.to_str().expect("text");
    sandbox.ok(&["--repo", other, "unbundle", "all.tract"]);
    let kept = sandbox.ok(&["--repo", other, "compile", "--format", "text", idea.trim()]);
    assert!(kept.contains("The lexer drops the last token."), "{kept}");
}

/// A repository is of the format before until a commit has two parents, and an older program can read it until then.
#[test]
fn the_number_of_the_format_changes_with_the_first_merge() {
    if crate::sandbox::is_left_out("the number in the head of a file") {
        return;
    }
    let sandbox = forked();
    let number = || sandbox.query("PRAGMA user_version")[0][0].clone();
    let before = number();
    sandbox.ok(&["merge", "idea"]);
    assert_ne!(number(), before);
    sandbox.ok(&["fsck"]);
}

/// Who pulls, merges and pushes loses nobody's prompt: the log says that there are more, and `stats` counts all.
#[test]
fn prompts_of_a_merged_branch_are_counted_and_found() {
    let sandbox = Sandbox::with_messages(&[("user", "first"), ("assistant", "Done.")]);
    sandbox.ok(&["clone", ".", "../b"]);
    let b = |args: &[&str]| sandbox.tract(&[&["--repo", "../b"], args].concat());
    b(&["commit", "-r", "user", "-m", "meanwhile"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "ours"]);
    b(&["pull"]);
    b(&["merge", "origin/main"]);
    b(&["push"]);
    for here in [".", "../b"] {
        let told = |args: &[&str]| sandbox.tract(&[&["--repo", here], args].concat());
        for asked in [&["log", "--prompts"][..], &["log", "--role", "user"]] {
            let log = told(asked);
            assert!(
                log.contains("1 prompt of merged branches is not listed"),
                "{log}"
            );
            assert!(
                log.contains("meanwhile") && !log.contains("  ours"),
                "{log}"
            );
        }
        let graph = told(&["log", "--graph"]);
        assert!(
            graph.contains("user") && graph.contains("  ours"),
            "{graph}"
        );
        let all = told(&["stats"]);
        assert!(all.contains("3        1"), "{all}");
        let path = told(&["stats", "HEAD"]);
        assert!(path.contains("2        1"), "{path}");
        let api = told(&["api", "log", r#"{"prompts":true}"#]);
        assert!(api.contains("\"merged_prompts\":1"), "{api}");
        assert!(told(&["log", "--role", "injected"]).contains("[Merged from origin/main"));
    }
    // What a merge copies onto the path is listed there.
    let forked = forked();
    forked.ok(&["merge", "idea", "--prompts"]);
    let log = forked.tract(&["log", "--prompts"]);
    assert!(
        log.contains("Look at the lexer first.") && !log.contains("not listed"),
        "{log}"
    );
}
