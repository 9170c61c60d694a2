//! Whatever leaves redacted holds no secret, in any spelling, and is what it was but for that.

use std::io::{Cursor, Write};
use std::sync::atomic::Ordering;

use proptest::prelude::*;

use crate::formats::Format;
use crate::formats::shared::redaction::Sieve;
use crate::ingest::{ExportOptions, export, redacts};
use crate::model::secret::{Leaving, SecretCounts, Secrets};
use crate::model::{Draft, EntryId, Message, Millis, Part, Priority, RefName, Role};
use crate::repo::{Call, CommitOptions, Named, On, Repo};
use crate::rewrite::SurgeryOptions;
use crate::store::SessionRow;
use crate::sync::BundleTip;

/// A token as GitHub makes them, another one for each number.
fn token(number: u8) -> String {
    format!("ghp_{number:04}{}", "q7Zk2mWx9RtB4vLc8YpN3sHd6GfJ5uKe")
}

/// A text with a token in one of its spellings.
fn telling(number: u8, how: u8) -> String {
    let token = token(number);
    let json = serde_json::json!({"before\n": format!("it's\n{token}\n"), "n": 1.5}).to_string();
    match how % 6 {
        0 => format!("use {token}, please"),
        1 => json,
        2 => serde_json::json!({"quoted": json, "é": [json]}).to_string(),
        3 => {
            let letters = token.chars().map(|it| format!("\\u{:04x}", u32::from(it)));
            format!(r#"{{"spelled":"\u000a{}"}}"#, letters.collect::<String>())
        }
        4 => format!("\u{1b}[32m{token}\u{1b}[0m <b>\"{token}\"</b>"),
        _ => "nothing of the kind".to_owned(),
    }
}

/// The text with all that JSON spells as it reads, however deep.
fn read(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes)
        .replace("\\\\", "\\")
        .replace("\\\\", "\\");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("\\u00") {
        let spelled = rest.get(at + 2..at + 6);
        let letter = spelled.and_then(|it| u32::from_str_radix(it, 16).ok());
        out += &rest[..at];
        out.extend(letter.and_then(char::from_u32));
        rest = rest.get(at + 6..).unwrap_or_default();
    }
    out + rest
}

#[derive(Clone, Debug)]
enum Act {
    Say(u8, u8, u8),
    Think(u8, u8),
    Call(u8, u8),
    Edit(u8, u8, u8),
    Drop(u8),
    Note(u8, u8),
    Set(u8, u8),
    Annotate(u8, u8),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let (n, how) = (0..4_u8, any::<u8>());
    let act = prop_oneof![
        (any::<u8>(), n.clone(), how).prop_map(|(role, n, how)| Act::Say(role, n, how)),
        (n.clone(), how).prop_map(|(n, how)| Act::Think(n, how)),
        (n.clone(), how).prop_map(|(n, how)| Act::Call(n, how)),
        (any::<u8>(), n.clone(), how).prop_map(|(at, n, how)| Act::Edit(at, n, how)),
        any::<u8>().prop_map(Act::Drop),
        (n.clone(), how).prop_map(|(n, how)| Act::Note(n, how)),
        (n.clone(), how).prop_map(|(n, how)| Act::Set(n, how)),
        (n, how).prop_map(|(n, how)| Act::Annotate(n, how)),
    ];
    prop::collection::vec(act, 1..14)
}

/// Does one thing, if it can be done here.
fn act(repo: &Repo, act: &Act) {
    let commit = |drafts: Vec<Draft>| {
        let _ = repo.commit(Call::default(), &drafts, &CommitOptions::default());
    };
    let visible = || -> Vec<EntryId> {
        let tip = repo.head(&On::Head).expect("a head").commit();
        let context = tip.map(|tip| repo.context(&tip).expect("a context"));
        let entries = context.iter().flat_map(|context| &context.entries);
        entries.map(|entry| entry.id).collect()
    };
    let pick = |at: u8| {
        let visible = visible();
        (!visible.is_empty()).then(|| visible[usize::from(at) % visible.len()])
    };
    let said = |n: u8, how: u8| Message::text(Role::User, telling(n, how));
    match *act {
        Act::Say(role, n, how) => {
            let role = [Role::User, Role::Assistant, Role::System][usize::from(role % 3)];
            commit(vec![Draft::append(Message::text(role, telling(n, how)))]);
        }
        Act::Think(n, how) => commit(vec![Draft::append(Message::new(
            Role::Assistant,
            vec![
                Part::Thinking {
                    text: telling(n, how),
                    signature: Some("EpYE".into()),
                    provider: Some("anthropic".into()),
                },
                Part::text("hm"),
            ],
        ))]),
        Act::Call(n, how) => {
            let id = format!("call_{}", visible().len());
            let call = Part::ToolCall {
                id: id.clone(),
                name: "sh".into(),
                arguments: serde_json::json!({"command": telling(n, how)}).to_string(),
                kind: None,
            };
            let result = Part::ToolResult {
                call: id,
                content: vec![Part::text(telling(n, how.wrapping_add(1)))],
                is_error: false,
            };
            commit(vec![
                Draft::append(Message::new(Role::Assistant, vec![call])),
                Draft::append(Message::new(Role::Tool, vec![result])),
            ]);
        }
        Act::Edit(at, n, how) => {
            if let Some(entry) = pick(at) {
                commit(vec![Draft::edit(entry, said(n, how))]);
            }
        }
        Act::Drop(at) => {
            if let Some(entry) = pick(at) {
                let named = [Named::Entry(entry)];
                let options = SurgeryOptions::default();
                let _ = repo.drop_named(Call::default(), &named, true, &options);
            }
        }
        Act::Note(n, how) => commit(vec![Draft {
            note: Some(telling(n, how)),
            ..Draft::append(said(n, 5))
        }]),
        Act::Set(n, how) => {
            let mut draft = Draft::append(said(n, 5));
            let value = serde_json::Value::from(telling(n, how));
            draft.settings.insert("user".into(), value.to_string());
            commit(vec![draft]);
        }
        Act::Annotate(n, how) => {
            if let Some(entry) = pick(n) {
                let operation = crate::model::Operation::Annotate {
                    targets: vec![entry],
                    priority: Priority::Pinned,
                    reason: Some(telling(n, how)),
                };
                commit(vec![Draft::new(operation, Vec::new())]);
            }
        }
    }
}

fn is_clean(bytes: &[u8]) -> bool {
    let read = read(bytes);
    (0..4).all(|number| !read.contains(&token(number)[4..]))
}

proptest! {
    #![proptest_config(crate::conditions::laws(64))]

    /// What a redacted bundle brings is the same conversation without its secrets; nothing of it, nor of an
    /// export, holds one.
    #[test]
    fn what_leaves_redacted_holds_no_secret(acts in acts()) {
        let secrets = Secrets::new();
        let repo = Repo::ephemeral().expect("a repository");
        acts.iter().for_each(|it| act(&repo, it));
        let Some(tip) = repo.head(&On::Head).expect("a head").commit() else {
            return Ok(());
        };
        let main = RefName::branch("main").expect("a name");
        let tips = [BundleTip { name: main, commit: tip, after: None }];
        let whole = repo.bundle_leaving(&tips, true, Leaving::Redacted(&secrets));
        let (bytes, done) = whole.expect("bundled");
        let refused = repo.bundle_leaving(&tips, true, Leaving::Refused(&secrets));
        prop_assert_eq!(refused.is_ok(), done.secrets.is_empty());

        let packed = &bytes[bytes.iter().position(|it| *it == b'\n').expect("a head") + 66..];
        prop_assert!(is_clean(&zstd::decode_all(packed).expect("unpacked")));
        let theirs = Repo::ephemeral().expect("a repository");
        theirs.unbundle(Call::default(), &mut Cursor::new(bytes), &mut |_| {}).expect("taken in");
        let messages = |repo: &Repo| {
            let tip = repo.head(&On::Head).expect("a head").commit().expect("a tip");
            repo.messages(&repo.context(&tip).expect("a context")).expect("messages")
        };
        let redacted = messages(&repo).into_iter().map(|message| {
            secrets.redact_message(&message, &mut SecretCounts::new()).unwrap_or(message)
        });
        prop_assert_eq!(messages(&theirs), redacted.collect::<Vec<_>>());

        for format in ["openai", "anthropic", "responses", "claude-code", "codex", "gemini", "roo"] {
            let options = ExportOptions { prices: None,
                format: Format::named(format).expect("a format"),
                now: Millis(0),
                session: None,
            };
            let mut out = Vec::new();
            export(&repo, &tip, &options, &mut out).expect("exported");
            let mut clean = Vec::new();
            let mut sieve = Sieve::redacting(&secrets, &mut clean);
            sieve.write_all(&out).expect("written");
            let found = sieve.end().expect("ended");
            prop_assert!(is_clean(&clean), "{format}: {}", String::from_utf8_lossy(&clean));
            prop_assert_eq!(found.counts.is_empty(), clean == out);
            let values = serde_json::Deserializer::from_slice(&clean).into_iter::<serde_json::Value>();
            prop_assert!(values.into_iter().all(|it| it.is_ok()), "{format}");
        }
        repo.second_reading()?;
    }

    /// A redaction leaves the same context but for the secrets, and an undo brings them back.
    #[test]
    fn a_redacted_context_is_the_same_without_its_secrets(acts in acts()) {
        let secrets = Secrets::new();
        let repo = Repo::ephemeral().expect("a repository");
        acts.iter().for_each(|it| act(&repo, it));
        let Some(tip) = repo.head(&On::Head).expect("a head").commit() else {
            return Ok(());
        };
        let before = repo.messages(&repo.context(&tip).expect("a context")).expect("messages");
        let done = repo.redact(Call::default(), None, &secrets, &SurgeryOptions::default());
        let (done, counts) = done.expect("redacted");
        let tip = repo.head(&On::Head).expect("a head").commit().expect("a tip");
        let after = repo.messages(&repo.context(&tip).expect("a context")).expect("messages");
        let redacted = before.iter().map(|message| {
            let redacted = secrets.redact_message(message, &mut SecretCounts::new());
            redacted.unwrap_or_else(|| message.clone())
        });
        prop_assert_eq!(&after, &redacted.collect::<Vec<_>>());
        prop_assert_eq!(counts.is_empty(), done.is_nothing());
        repo.second_reading()?;
    }
}

#[test]
fn whether_any_session_came_without_its_secrets_is_one_question() {
    let asked = |sessions: usize| {
        let (repo, statements) = Repo::counting_statements();
        let tx = repo.store.write().expect("a transaction");
        for at in 0..sessions {
            let name = RefName::session("openai", &format!("s{at}"));
            let put = tx.put_session(&name, &SessionRow::default());
            put.expect("kept");
        }
        tx.commit().expect("committed");
        let before = statements.load(Ordering::Relaxed);
        assert!(!redacts(&repo).expect("an answer"));
        statements.load(Ordering::Relaxed) - before
    };
    assert_eq!(asked(3), asked(300));
}
