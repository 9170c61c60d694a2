//! The law of imports after purges: a session that comes in again says what it said, and nothing
//! that was erased from it comes back; all else is there.

use std::path::Path;

use proptest::prelude::*;

use crate::ingest::{ImportRequest, import};
use crate::model::{Draft, Message, Millis, PURGED, Part, RefName, Role};
use crate::repo::{Call, CommitOptions, On, Repo, Target};
use crate::rewrite::SurgeryOptions;

const WORDS: [&str; 3] = ["one", "two", "three"];

/// A chat that grows; half of them with settings, which stand on the last message.
fn chat(words: &[usize], has_settings: bool) -> String {
    let row = |(at, word): (usize, &usize)| {
        let role = ["user", "assistant"][at % 2];
        format!(r#"{{"role":"{role}","content":"{}"}}"#, WORDS[*word])
    };
    let rows: Vec<String> = words.iter().enumerate().map(row).collect();
    let settings = if has_settings { r#""model":"m","# } else { "" };
    format!(r#"{{{settings}"messages":[{}]}}"#, rows.join(","))
}

/// The texts that a session's ref compiles to.
fn texts(repo: &Repo, session: usize) -> Vec<String> {
    let name = RefName::session("openai", &format!("s{session}"));
    let on = On::Branch(name);
    let Some(tip) = repo.head(&on).expect("a tip").commit() else {
        return Vec::new();
    };
    let context = repo.context(&tip).expect("a context");
    let messages = repo.messages(&context).expect("its messages").into_iter();
    let text = |message: Message| match &message.parts[..] {
        [Part::Text { text }] => text.clone(),
        other => panic!("{other:?}"),
    };
    messages.map(text).collect()
}

fn bring_in(repo: &Repo, path: &Path, now: Millis) -> (u64, Option<RefName>) {
    let request = ImportRequest::at(now, "import");
    let report = import(repo, path, &request, &mut |_| {}).expect("imports");
    let session = &report.sessions[0];
    (session.new_commits, session.branch.name().cloned())
}

proptest! {
    #![proptest_config(crate::conditions::laws(24))]

    #[test]
    fn what_was_erased_of_a_session_stays_so_and_all_else_comes_in(
        steps in prop::collection::vec((0..8_u8, 0..4_usize, 0..3_usize), 1..30),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let repo = Repo::ephemeral().expect("a repository");
        let mut words: Vec<Vec<usize>> = vec![Vec::new(); 4];
        let mut wanted: Vec<Vec<String>> = vec![Vec::new(); 4];
        let mut branches: Vec<Option<RefName>> = vec![None; 4];
        for (at, (kind, session, word)) in steps.into_iter().enumerate() {
            let now = Millis(at as i64);
            let call = Call::at(now, "test");
            match kind {
                0..5 => {
                    words[session].extend([word].iter().take(kind as usize));
                    if words[session].is_empty() {
                        continue;
                    }
                    let path = folder.path().join(format!("s{session}.json"));
                    std::fs::write(&path, chat(&words[session], session % 2 == 1)).expect("written");
                    let grown = words[session].len() - wanted[session].len();
                    let new = words[session].iter().rev().take(grown).rev();
                    wanted[session].extend(new.map(|word| WORDS[*word].to_owned()));
                    (_, branches[session]) = bring_in(&repo, &path, now);
                    prop_assert_eq!(&texts(&repo, session), &wanted[session]);
                    // Once more, it adds nothing.
                    let tips = repo.references("refs/").expect("refs");
                    prop_assert_eq!(bring_in(&repo, &path, now).0, 0);
                    prop_assert_eq!(repo.references("refs/").expect("refs"), tips);
                }
                5 => {
                    let draft = Draft::append(Message::text(Role::User, WORDS[word]));
                    // HEAD may have left its branch.
                    drop(repo.commit(call, &[draft], &CommitOptions::default()));
                }
                _ => {
                    let Some(branch) = &branches[session] else { continue };
                    let target = Target::Named(branch.short().to_owned());
                    if repo.checkout(call, &target).is_err() {
                        continue;
                    }
                    repo.clear(call, true, &SurgeryOptions::default()).expect("cleared");
                    repo.purge(call).expect("purged");
                    for (session, wanted) in wanted.iter_mut().enumerate() {
                        let now = texts(&repo, session);
                        let erased = |(now, then): (&String, &String)| now == then || now == PURGED;
                        prop_assert!(now.iter().zip(&*wanted).all(erased));
                        prop_assert_eq!(now.len(), wanted.len());
                        *wanted = now;
                    }
                }
            }
            for (session, wanted) in wanted.iter().enumerate() {
                prop_assert_eq!(&texts(&repo, session), wanted);
            }
        }
        repo.second_reading()?;
    }
}
