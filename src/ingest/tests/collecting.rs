//! Imports and exports beside a collection: what an export of any path needs stays, to the byte, and an
//! import that one comes upon begins anew.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use proptest::prelude::*;

use crate::formats::Format;
use crate::hash::CommitHash;
use crate::ingest::slices::{GAP, SHARE};
use crate::ingest::{ExportOptions, ImportRequest, export, import};
use crate::model::retention::Expire;
use crate::model::{Draft, Message, Millis, RefName, Role};
use crate::repo::{Call, CommitOptions, On, Repo, ResetMode, load};
use crate::rewrite::SurgeryOptions;
use crate::rewrite::{Reach, Truncate};

/// A chat: a document, so that each import of a grown one is another source.
pub(super) fn chat(texts: &[usize]) -> String {
    let row = |(at, text): (usize, &usize)| {
        let role = ["user", "assistant"][at % 2];
        format!(r#"{{"role":"{role}","content":"text {text}"}}"#)
    };
    let rows: Vec<String> = texts.iter().enumerate().map(row).collect();
    format!("[{}]", rows.join(", "))
}

pub(super) fn bring_in(repo: &Repo, path: &Path, now: Millis) {
    let request = ImportRequest::at(now, "import");
    import(repo, path, &request, &mut |_| {}).expect("imports");
}

/// What each commit on any ref's path, or on any that the log leads to, is written as, in two formats, for each session that may be meant.
fn exports(
    repo: &Repo,
    is_all: bool,
) -> BTreeMap<(CommitHash, &'static str, Option<RefName>), Vec<u8>> {
    let view = repo.store.read().expect("a view");
    let tips = load::tips(&*view, "").expect("refs");
    let mut tips: Vec<CommitHash> = tips.into_iter().map(|(_, tip)| tip).collect();
    if is_all {
        tips.extend(view.named_commits().expect("named"));
    }
    let rows = view.by_reach(&tips).expect("split").reached;
    drop(view);
    let sessions = repo.references(RefName::SESSIONS).expect("refs");
    let sessions: Vec<_> = sessions.into_iter().map(|(name, _)| Some(name)).collect();
    let mut written = BTreeMap::new();
    for row in rows {
        for (format, sessions) in [("openai", &sessions[..]), ("claude-code", &[])] {
            for session in sessions.iter().chain([&None]) {
                let options = ExportOptions {
                    prices: None,
                    format: Format::named(format).expect("known"),
                    now: Millis(7),
                    session: session.clone(),
                };
                let mut text = Vec::new();
                let done = export(repo, &row.hash, &options, &mut text).expect("written");
                text.extend(format!("{done:?}").bytes());
                written.insert((row.hash, format, session.clone()), text);
            }
        }
    }
    written
}

proptest! {
    #![proptest_config(crate::conditions::laws(48))]

    #[test]
    fn every_path_is_exported_after_a_collection_as_before(
        steps in prop::collection::vec((0..12_u8, 0..2_usize, 0..4_usize), 1..24),
        keeps in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let repo = Repo::ephemeral().expect("a repository");
        let mut chats: Vec<Vec<usize>> = vec![Vec::new(); 2];
        for (at, (kind, session, text)) in steps.into_iter().enumerate() {
            let now = Millis(at as i64);
            let (call, options) = (Call::at(now, "test"), SurgeryOptions::default());
            // What is refused changes nothing.
            match kind {
                0..=4 => {
                    // It grows, or goes on otherwise from somewhere.
                    if kind == 0 {
                        chats[session].truncate(text);
                    }
                    chats[session].extend([10 * at + text, 10 * at]);
                    let path = folder.path().join(format!("s{session}.json"));
                    std::fs::write(&path, chat(&chats[session])).expect("written");
                    bring_in(&repo, &path, now);
                }
                5 => {
                    let name = RefName::branch(&format!("b{text}")).expect("a name");
                    let _ = repo.create_branch(call, &name, "HEAD");
                }
                6 => {
                    let draft = Draft::append(Message::text(Role::User, format!("own {text}")));
                    let _ = repo.commit(call, &[draft], &CommitOptions::default());
                }
                7 => drop(repo.reset(call, &format!("HEAD~{text}"), ResetMode::Hard)),
                8 => drop(repo.undo((text > 0).then_some(2 * text as u64), now)),
                9 => {
                    let names = repo.references(RefName::HEADS).expect("refs");
                    if let Some((name, _)) = names.get(text) {
                        let _ = repo.delete_reference(call, name);
                    }
                }
                10 => drop(repo.carry_out(call, &Truncate::new(Reach::Keep(text)), &options)),
                _ => {
                    let names = repo.references(RefName::HEADS).expect("refs");
                    if let Some((name, _)) = names.get(text) {
                        let target = crate::repo::Target::Named(name.short().to_owned());
                        let _ = repo.checkout(call, &target);
                    }
                }
            }
        }
        let before = exports(&repo, keeps);
        let expire = if keeps { Expire::Never } else { Expire::Now };
        repo.gc(expire, Millis(99), &mut |_| {}).expect("collected");
        prop_assert_eq!(exports(&repo, keeps), before);
        let again = repo.gc(expire, Millis(99), &mut |_| {}).expect("collected");
        prop_assert!(again.is_nothing(), "{:?}", again);
        // What comes in again comes in as it is.
        for session in (0..2).filter(|session| !chats[*session].is_empty()) {
            bring_in(&repo, &folder.path().join(format!("s{session}.json")), Millis(100));
        }
        let found = repo.fsck(false, &mut |_| Ok(())).expect("checked");
        prop_assert!(!found.is_damaged(), "{:?}", found);
        repo.second_reading()?;
    }
}

#[test]
fn an_older_file_stays_where_a_path_has_records_in_it_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let repo = Repo::ephemeral().expect("a repository");
    let path = folder.path().join("s.json");
    let write = |texts: &[usize]| std::fs::write(&path, chat(texts)).expect("written");
    write(&[1, 2, 3, 4]);
    bring_in(&repo, &path, Millis(0));
    let old = RefName::branch("old").expect("a name");
    let made = repo.create_branch(Call::default(), &old, "HEAD");
    made.expect("made");
    // Another end of the same session, for the first one was taken back.
    repo.undo(Some(1), Millis(1)).expect("undone");
    for more in [&[1, 2, 5, 6][..], &[1, 2, 5, 6, 7, 8]] {
        write(more);
        bring_in(&repo, &path, Millis(2));
    }
    let sources = || {
        let view = repo.store.read().expect("a view");
        view.all_sources().expect("read").len()
    };
    assert_eq!(sources(), 3);
    let before = exports(&repo, false);
    let done = repo.gc(Expire::Now, Millis(9), &mut |_| {});
    assert_eq!(done.expect("collected").sources, 1);
    assert_eq!(sources(), 2);
    assert_eq!(exports(&repo, false), before);
}

#[test]
fn an_import_that_a_collection_comes_upon_is_whole_in_the_end() {
    let texts: Vec<usize> = (0..12).collect();
    for gap in 0.. {
        let folder = tempfile::tempdir().expect("a folder");
        Repo::init(folder.path()).expect("made");
        let path = folder.path().join("s.json");
        std::fs::write(&path, chat(&texts[..4])).expect("written");
        let repo = Repo::open(folder.path()).expect("opens");
        bring_in(&repo, &path, Millis(0));
        std::fs::write(&path, chat(&texts)).expect("written");
        let (passed, other) = (Rc::new(Cell::new(0)), Repo::open(folder.path()));
        let (counted, other) = (Rc::clone(&passed), other.expect("opens"));
        SHARE.set(Some(1));
        GAP.set(Some(Box::new(move || {
            if counted.replace(counted.get() + 1) == gap {
                let done = other.gc(Expire::Now, Millis(9), &mut |_| {});
                done.expect("collected");
            }
        })));
        bring_in(&repo, &path, Millis(1));
        GAP.set(None);
        SHARE.set(None);
        if passed.get() <= gap {
            assert!(gap > 5, "it has gaps");
            break;
        }
        let on = On::Branch(RefName::session("openai", "s"));
        let tip = repo.head(&on).expect("a head").commit().expect("a tip");
        let context = repo.context(&tip).expect("a context");
        assert_eq!(context.entries.len(), texts.len(), "gap {gap}");
        let options = ExportOptions {
            prices: None,
            format: Format::named("openai").expect("known"),
            now: Millis(0),
            session: None,
        };
        let mut back = Vec::new();
        export(&repo, &tip, &options, &mut back).expect("written");
        assert_eq!(
            String::from_utf8(back).expect("UTF-8"),
            chat(&texts),
            "gap {gap}"
        );
        let found = repo.fsck(false, &mut |_| Ok(())).expect("checked");
        assert!(!found.is_damaged(), "gap {gap}: {found:?}");
    }
}
