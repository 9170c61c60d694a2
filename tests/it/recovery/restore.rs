//! Bringing back what was hidden, while everything later stays.

use crate::reduction::drop::with_calls;
use crate::sandbox::Sandbox;

fn counted() -> Sandbox {
    let texts: Vec<String> = (1..=8).map(|n| format!("message {n}")).collect();
    let messages: Vec<(&str, &str)> = texts.iter().map(|text| ("user", text.as_str())).collect();
    Sandbox::with_messages(&messages)
}

fn text(sandbox: &Sandbox) -> String {
    sandbox.ok(&["compile", "--format", "text"])
}

#[test]
fn a_truncation_is_undone_and_what_came_later_stays() {
    let sandbox = counted();
    sandbox.ok(&["truncate", "--keep", "3"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "a later one"]);
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD^", "--dry-run"]), @r"
    Would hide 1 message
      :2  injected   18  [Sliding window truncation: 4 messages hidden to reduce context]
    Would bring in 4 messages
      :2  user         7  message 2
      :3  user         7  message 3
      :4  user         7  message 4
      :5  user         7  message 5
      =   4 messages  28
    Messages  6 → 9
    Tokens    56 → 66 (+10)
    Cache     the first message stays as it is: 10 tokens, 18%
    restore would reach 66, cache kept 18%
    ");
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD^"]), @r"
    --- stderr
    Brought back 4 messages (+10 tokens); HEAD is now 9d47b1a
    Cache: the first message stays as it is: 10 tokens, 18%
    ");
    let text = text(&sandbox);
    assert!(
        text.contains("message 3") && text.contains("a later one"),
        "{text}"
    );
    assert!(!text.contains("Sliding window"), "{text}");
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD~2"]), @r"
    exit code: 1
    --- stderr
    error: ed6f30d cannot be restored: it is undone already
    hint: tract restore --help
    ");
}

#[test]
fn what_another_command_still_hides_is_named_with_the_way_on() {
    let sandbox = counted();
    sandbox.ok(&["compact", ":2..:3", "-m", "two and three"]);
    sandbox.ok(&["compact", ":1..:5", "-m", "one to six"]);
    let (first, second) = ("HEAD~1", sandbox.ok(&["rev-parse", "HEAD"]));
    let told = sandbox.tract(&["restore", first]);
    assert!(told.contains("Brought nothing back"), "{told}");
    assert!(told.contains("2 messages stay hidden by compact"), "{told}");
    let hint = format!("hint: tract restore {} undoes it as well", &second[..7]);
    assert!(told.contains(&hint), "{told}");
    sandbox.ok(&["restore", &second[..7]]);
    let text = text(&sandbox);
    assert!(text.contains("message 2") && text.contains("message 8"));
    assert!(!text.contains("two"), "{text}");
}

#[test]
fn one_message_comes_back_and_the_hide_stands_for_the_rest() {
    let sandbox = counted();
    sandbox.ok(&["truncate", "--keep", "3"]);
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD^:3"]), @r"
    --- stderr
    Brought back 1 message (+7 tokens); HEAD is now 48e98e6
    Cache: the first message stays as it is: 10 tokens, 20%
    ");
    insta::assert_snapshot!(text(&sandbox), @r"
    [1] user
      message 1

    [2] user
      message 3

    [3] user
      [Sliding window truncation: 4 messages hidden to reduce context]

    [4] user
      message 6

    [5] user
      message 7

    [6] user
      message 8
    ");
    insta::assert_snapshot!(sandbox.tract(&["restore", ":1"]), @r"
    exit code: 1
    --- stderr
    error: that message is not hidden
    hint: tract log --op hide lists what was hidden
    ");
}

#[test]
fn a_marker_names_the_hide_that_placed_it() {
    let sandbox = counted();
    let before = text(&sandbox);
    sandbox.ok(&["truncate", "--keep", "3"]);
    sandbox.ok(&["restore", ":2"]);
    assert_eq!(text(&sandbox), before);
}

#[test]
fn a_result_brings_its_call_and_the_other_results() {
    let sandbox = with_calls();
    sandbox.ok(&["truncate", "--keep", "2"]);
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD^:4"]), @r"
    --- stderr
    Brought back 3 messages (+351 tokens); HEAD is now 39412f4
    Cache: the first message stays as it is: 12 tokens, 26%
    ");
}

#[test]
fn an_edit_is_undone() {
    let sandbox = counted();
    sandbox.ok(&["commit", "--edit", ":2", "-m", "something else"]);
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD"]), @r"
    --- stderr
    Changed 1 message back (+1 token); HEAD is now b1ffe3b
    Cache: the first message stays as it is: 10 tokens, 17%
    ");
    assert!(text(&sandbox).contains("message 2"));
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD^"]), @r"
    exit code: 1
    --- stderr
    error: 49e6863 cannot be restored: it is undone already
    hint: tract restore --help
    ");
}

#[test]
fn an_output_comes_back_whole() {
    let sandbox = with_calls();
    sandbox.ok(&["prune", "--protect", "0", "--min", "0"]);
    insta::assert_snapshot!(sandbox.tract(&["restore", ":3"]), @r"
    --- stderr
    Changed 1 message back (+141 tokens); HEAD is now 1094d6c
    Cache: the first 2 messages stay as they are: 33 tokens, 30%
    ");
    let text = text(&sandbox);
    assert!(
        text.contains("the text of a") && !text.contains("the text of b"),
        "{text}"
    );
}

#[test]
fn what_was_never_hidden_cannot_come_back() {
    let sandbox = counted();
    insta::assert_snapshot!(sandbox.tract(&["restore", ":3"]), @r"
    exit code: 1
    --- stderr
    error: that message is not hidden
    hint: tract log --op hide lists what was hidden
    ");
    insta::assert_snapshot!(sandbox.tract(&["restore", ":3#0"]), @r"
    exit code: 1
    --- stderr
    error: that message is not hidden
    hint: tract log --op hide lists what was hidden
    ");
    insta::assert_snapshot!(sandbox.tract(&["restore", "nonsense"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'nonsense'
    hint: tract log --oneline lists them, tract branch the branches
    ");
    sandbox.ok(&["annotate", ":3", "--skip"]);
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD^:3"]), @r"
    exit code: 1
    --- stderr
    error: that message is skipped, not hidden by a command
    hint: tract annotate --normal REV shows it again
    ");
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD"]), @r"
    exit code: 1
    --- stderr
    error: 94a7ffb cannot be restored: only a hide or an edit can be undone
    hint: tract restore --help
    ");
}

/// The marker of what was restored stands no more: it is neither hidden nor said.
#[test]
fn what_is_restored_is_counted_as_before_everywhere() {
    let said = ["one", "two", "three", "four", "five", "six"];
    let said: Vec<(&str, &str)> = said.into_iter().map(|text| ("user", text)).collect();
    let sandbox = Sandbox::with_messages(&said);
    let counted = |folder: &str| {
        let status = sandbox.ok(&["status"]);
        let context = status.lines().find(|line| line.starts_with("Context"));
        sandbox.ok(&["web", "--out", folder]);
        let page = std::fs::read_to_string(sandbox.work().join(folder).join("index.html"));
        let page = page.expect("a page");
        let facts = ["6 messages", "in the context", "3 in the context"];
        (
            context.map(str::to_owned),
            facts.map(|fact| page.contains(fact)),
        )
    };
    let before = counted("before");
    assert_eq!(before.0.as_deref(), Some("Context  6 messages"));
    assert_eq!(before.1, [true, false, false]);
    sandbox.ok(&["truncate", "--keep", "1"]);
    let (context, facts) = counted("hidden");
    assert_eq!(
        context.as_deref(),
        Some("Context  3 messages, 4 hidden (1 truncation)")
    );
    assert_eq!(facts, [true, true, true]);
    sandbox.ok(&["restore", "HEAD"]);
    assert_eq!(counted("after"), before);
}
