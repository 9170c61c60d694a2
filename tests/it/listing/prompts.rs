//! What the user typed, and what a client says in the user's name.

use serde_json::{Value, json};

use crate::conditions::real_sessions;
use crate::sandbox::Sandbox;

const ID: &str = "5a1d2c8e-1111-4222-8333-444455556666";

/// A session of Claude Code that begins with a command of the client's own, and has two prompts.
fn claude_code(sandbox: &Sandbox) {
    claudes(
        sandbox,
        [
            meta(
                "<local-command-caveat>Caveat: what follows is of local commands</local-command-caveat>",
            ),
            user("<command-name>/clear</command-name>\n  <command-message>clear</command-message>"),
            user("<local-command-stdout>Cleared.</local-command-stdout>"),
            user("# Mend the lexer\n\nIt loses <tokens>."),
            said("It is mended."),
            meta("Write a summary of each change, one line each."),
            said("One line."),
            user(
                "<task-notification>\n<task-id>b1</task-id>\n</task-notification>\nRead the output file.",
            ),
            said("Nothing in it."),
            user("<system-reminder>\nBe brief.\n</system-reminder>\nAnd the parser, please"),
            said("That, too."),
            user("[Request interrupted by user]"),
        ],
    );
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn meta(text: &str) -> Value {
    json!({ "meta": true, "role": "user", "content": text })
}

fn said(text: &str) -> Value {
    json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] })
}

/// A session of Claude Code with these messages.
fn claudes<const N: usize>(sandbox: &Sandbox, messages: [Value; N]) {
    let lines = messages.into_iter().enumerate().map(|(at, mut message)| {
        let kind = message["role"].clone();
        let meta = message.as_object_mut().and_then(|it| it.remove("meta"));
        let record = json!({
            "type": kind, "uuid": format!("r{at}"), "sessionId": ID, "cwd": "/w", "version": "2.1.100",
            "parentUuid": at.checked_sub(1).map(|at| format!("r{at}")), "isMeta": meta,
            "timestamp": format!("2026-03-14T10:{at:02}:00.000Z"), "message": message,
        });
        format!("{record}\n")
    });
    sandbox.write(&format!("{ID}.jsonl"), lines.collect::<String>());
    sandbox.ok(&["import", &format!("{ID}.jsonl")]);
}

/// A session of Codex with one prompt behind what the client put before it.
fn codex(sandbox: &Sandbox) {
    let said = |role: &str, text: &str| {
        let kind = if role == "user" {
            "input_text"
        } else {
            "output_text"
        };
        json!({ "type": "response_item", "payload": {
            "type": "message", "role": role, "content": [{ "type": kind, "text": text }] } })
    };
    let lines = [
        json!({ "type": "session_meta", "payload": { "id": ID, "timestamp": "2026-03-14T10:00:00.000Z",
            "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.140.0", "source": "cli" } }),
        said(
            "user",
            "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        ),
        said(
            "user",
            "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>",
        ),
        said("user", "Mend the lexer"),
        said("assistant", "It is mended."),
        said(
            "user",
            "<turn_aborted>\nThe user interrupted the previous turn\n</turn_aborted>",
        ),
        said(
            "user",
            "<subagent_notification>\n{}\n</subagent_notification>",
        ),
        said("user", "Now the tests"),
        said("assistant", "They pass."),
    ];
    let stamped = lines.into_iter().enumerate().map(|(at, mut line)| {
        line["timestamp"] = json!(format!("2026-03-14T10:{at:02}:00.000Z"));
        format!("{line}\n")
    });
    let name = format!("rollout-2026-03-14T10-00-00-{ID}.jsonl");
    sandbox.write(&name, stamped.collect::<String>());
    sandbox.ok(&["import", &name]);
}

fn prompts(sandbox: &Sandbox) -> String {
    sandbox.ok(&["log", "--prompts", "--reverse", "-n", "0", "--format", "%s"])
}

#[test]
fn only_what_the_user_typed_is_a_prompt_of_claude_code() {
    let sandbox = Sandbox::new();
    claude_code(&sandbox);
    insta::assert_snapshot!(prompts(&sandbox), @r#"
    # Mend the lexer It loses <tokens>.
    <system-reminder> Be brief. </system-reminder> And the parser, please
    "#);
    insta::assert_snapshot!(sandbox.tract(&["view"]), @r#"
    :1     injected   <local-command-caveat>Caveat: what follows is of local commands</local-command-caveat>
    :2     injected   <command-name>/clear</command-name>
    :3     injected   <local-command-stdout>Cleared.</local-command-stdout>

    :4     user
               # Mend the lexer

               It loses <tokens>.

    :5     assistant
               It is mended.

    :6     injected   Write a summary of each change, one line each.

    :7     assistant
               One line.

    :8     injected   <task-notification>

    :9     assistant
               Nothing in it.

    :10    user
               <system-reminder>
               Be brief.
               </system-reminder>
               And the parser, please

    :11    assistant
               That, too.

    :12    interrupted
    "#);
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r#"
    On main, HEAD 55e41b6  (claude-code/5a1d2c8e…)
    Context  12 messages
    Tokens   192 (no budget set)
             user 27% · assistant 17% · injected by the client 56%
             largest: task notification: task-id b1 Read the outpu… 28 (:8)

      55e41b6  :12  2026-03-14 10:11:00  append  injected   +10  [Request interrupted by user]
      cb08bbe  :11  2026-03-14 10:10:00  append  assistant   +8  That, too.
      60a55f2  :10  2026-03-14 10:09:00  append  user       +22  system reminder: Be brief. And the parser, please
    "#);
    insta::assert_snapshot!(sandbox.tract(&["branch"]), @"* main  55e41b6  2026-03-14 10:11:00  192 tokens  claude-code  # Mend the lexer It loses <tokens>.");
    let page = sandbox.ok(&["export", "--format", "html"]);
    let (_, list) = page
        .split_once("id=\"prompts\"")
        .expect("a list of prompts");
    assert_eq!(list.matches("<li").count(), 2, "{list}");
    assert!(page.contains("<title># Mend the lexer</title>"), "{page}");
}

#[test]
fn only_what_the_user_typed_is_a_prompt_of_codex() {
    let sandbox = Sandbox::new();
    codex(&sandbox);
    insta::assert_snapshot!(prompts(&sandbox), @r#"
    Mend the lexer
    Now the tests
    "#);
    insta::assert_snapshot!(sandbox.tract(&["view"]), @r#"
    :1     injected   # AGENTS.md instructions for /w
    :2     injected   <environment_context>

    :3     user
               Mend the lexer

    :4     assistant
               It is mended.

    :5     injected   <turn_aborted>
    :6     injected   <subagent_notification>

    :7     user
               Now the tests

    :8     assistant
               They pass.
    "#);
}

#[test]
fn a_truncation_keeps_the_first_prompt_as_the_task() {
    let sandbox = Sandbox::new();
    codex(&sandbox);
    sandbox.ok(&["truncate", "--keep", "2"]);
    insta::assert_snapshot!(sandbox.tract(&["view"]), @r#"
    ↑ 3 earlier messages (--transcript shows them)

    :1     injected   # AGENTS.md instructions for /w
    :2     injected   <environment_context>

    :3     user
               Mend the lexer

    :4     truncation
               [Sliding window truncation: 3 messages hidden to reduce context]

    :5     user
               Now the tests

    :6     assistant
               They pass.
    "#);
}

/// How many prompts were counted by hand in the raw records of some sessions.
#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn prompts_of_real_sessions_are_those_counted_by_hand() {
    let counted = [
        ("claude-code/entire-4902a08f-compact2.jsonl", 26),
        ("claude-code/entire-83a0bb2f-long.jsonl", 10),
        ("claude-code/entire-7662d755-microcompact.jsonl", 9),
        ("claude-code/gitsync-adebb896-v2.1.159.jsonl", 7),
        ("claude-code/dkimuson-fe5e1c67-inline-sidechains.jsonl", 2),
        ("claude-code/packmind-01fdffbe-apierror.jsonl", 2),
        ("codex/gitsync-fb72ba1a-abort-compact.jsonl", 43),
        ("codex/gitsync-019d7d08-parent.jsonl", 8),
        ("codex/agentv-0034f597-compact2.jsonl", 10),
        ("codex/agentv-019ed50c-growth-2.jsonl", 5),
    ];
    for (name, count) in counted {
        let sandbox = Sandbox::new();
        let path = real_sessions().join(name);
        sandbox.ok(&["import", &path.display().to_string()]);
        assert_eq!(prompts(&sandbox).lines().count(), count, "{name}");
    }
}

#[test]
fn a_command_that_the_model_answers_is_a_prompt() {
    let sandbox = Sandbox::new();
    let typed = |name: &str, arguments: &str| {
        user(&format!(
            "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>{arguments}"
        ))
    };
    claudes(
        &sandbox,
        [
            typed("greet", "\n<command-args>Ann, warmly</command-args>"),
            meta("Base directory for this skill: /w\n\nGreet Ann, warmly."),
            said("Hello, Ann."),
            user("<command-name>/model</command-name>\n  <command-message>model</command-message>"),
            typed("review", ""),
            said("All is well."),
        ],
    );
    let log = sandbox.ok(&["log", "--prompts", "--reverse", "--oneline"]);
    let told: Vec<&str> = log
        .lines()
        .filter_map(|line| line.split("  ").last())
        .collect();
    // A list has as much of it as the beginning of the message holds.
    assert_eq!(told, ["/greet", "/review"], "{log}");
}

#[test]
fn a_page_of_recorded_commits_has_their_prompts() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "<command-name>/x</command-name>"),
        ("user", "Go on"),
    ]);
    let answer = sandbox.tract_with(
        &["api"],
        "{\"id\":1,\"method\":\"log\",\"params\":{\"prompts\":true}}\n",
    );
    let line = answer
        .lines()
        .find(|line| line.starts_with('{'))
        .expect("an answer");
    let answer: Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(
        answer["result"]["commits"][0]["preview"], "Go on",
        "{answer}"
    );
    assert_eq!(
        answer["result"]["commits"].as_array().map(Vec::len),
        Some(1)
    );
}
