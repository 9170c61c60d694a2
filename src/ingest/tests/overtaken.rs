//! Imports that others come in between: whatever they do, and wherever, the result is what one after
//! the other would have given.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::Result;
use crate::formats::Format;
use crate::ingest::slices::{GAP, SHARE};
use crate::ingest::{ExportOptions, ImportReport, ImportRequest, adopt, export, import};
use crate::model::{Message, Millis, Part, RefName, RefValue};
use crate::repo::{Call, On, Repo};
use crate::rewrite::SurgeryOptions;

/// A message of the session: its record is long enough for several blocks of a source.
fn record(at: usize) -> String {
    let kind = ["user", "assistant"][at % 2];
    let parent = match at.checked_sub(1) {
        Some(parent) => format!("\"00000000-0000-4000-8000-{parent:012}\""),
        None => "null".to_owned(),
    };
    let padding = "x".repeat(200_000);
    format!(
        r#"{{"type":"{kind}","parentUuid":{parent},"uuid":"00000000-0000-4000-8000-{at:012}","isSidechain":false,"sessionId":"s","cwd":"/{padding}","timestamp":"2026-01-02T03:04:{at:02}Z","message":{{"role":"{kind}","content":"message {at}"}}}}"#
    ) + "\n"
}

/// The session's file with so many messages.
fn session(messages: usize) -> String {
    (0..messages).map(record).collect()
}

fn bring_in(repo: &Repo, path: &Path) -> Result<ImportReport> {
    let request = ImportRequest::at(Millis(0), "import");
    import(repo, path, &request, &mut |_| {})
}

/// A repository with files of the session, in several lengths.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(lengths: &[usize]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Repo::init(&folder.path().join("repo")).expect("a repository");
        let place = Self { folder };
        for length in lengths {
            std::fs::write(place.file(*length), session(*length)).expect("written");
        }
        place
    }

    /// Another process's hold of it.
    fn repo(&self) -> Repo {
        Repo::open(&self.folder.path().join("repo/.tract")).expect("it is there")
    }

    fn file(&self, messages: usize) -> PathBuf {
        self.folder.path().join(format!("{messages}.jsonl"))
    }

    /// That there is one session and one source, which say what a file of so many messages does.
    fn holds(&self, messages: usize, what: &str) {
        let repo = self.repo();
        let name = RefName::session("claude-code", "s");
        let refs = repo.references(RefName::SESSIONS).expect("refs");
        let names: Vec<_> = refs.iter().map(|(name, _)| name).collect();
        assert_eq!(names, [&name], "{what}");
        let RefValue::Commit(tip) = refs[0].1 else {
            panic!("{what}: a session is a commit");
        };
        let said = repo.messages(&repo.context(&tip).expect("a context"));
        let said = said.expect("its messages");
        let wanted: Vec<String> = (0..messages).map(|at| format!("message {at}")).collect();
        assert_eq!(said.iter().map(text).collect::<Vec<_>>(), wanted, "{what}");
        let view = repo.store.read().expect("a view");
        assert_eq!(view.sources(&name).expect("sources").len(), 1, "{what}");
        drop(view);
        let options = ExportOptions {
            prices: None,
            format: Format::named("claude-code").expect("known"),
            now: Millis(0),
            session: None,
        };
        let mut back = Vec::new();
        export(&repo, &tip, &options, &mut back).expect("written");
        assert!(back == session(messages).as_bytes(), "{what}: another file");
    }
}

fn text(message: &Message) -> &str {
    match &message.parts[..] {
        [Part::Text { text }] => text,
        other => panic!("{other:?}"),
    }
}

/// Does `work` again and again, with `happens` in each of its gaps, one at a time.
fn in_each_gap(
    mut prepare: impl FnMut() -> (Box<dyn FnOnce()>, Box<dyn FnMut()>),
    mut check: impl FnMut(usize),
) {
    SHARE.set(Some(1));
    for gap in 0.. {
        let (work, mut happens) = prepare();
        let passed = Rc::new(Cell::new(0));
        let counted = Rc::clone(&passed);
        GAP.set(Some(Box::new(move || {
            if counted.replace(counted.get() + 1) == gap {
                happens();
            }
        })));
        work();
        GAP.set(None);
        if passed.get() <= gap {
            assert!(gap > 5, "it has gaps");
            break;
        }
        check(gap);
    }
    SHARE.set(None);
}

/// What an import of one length gives with another in each of its gaps, after a first one.
fn both(first: Option<usize>, ours: usize, theirs: usize) {
    let lengths: Vec<usize> = first.into_iter().chain([ours, theirs]).collect();
    let place = Rc::new(std::cell::RefCell::new(Rc::new(Place::new(&lengths))));
    let kept = Rc::clone(&place);
    in_each_gap(
        || {
            let fresh = Rc::new(Place::new(&lengths));
            kept.replace(Rc::clone(&fresh));
            if let Some(first) = first {
                SHARE.set(None);
                bring_in(&fresh.repo(), &fresh.file(first)).expect("comes in");
                SHARE.set(Some(1));
            }
            let (a, b) = (Rc::clone(&fresh), fresh);
            let work = move || drop(bring_in(&a.repo(), &a.file(ours)).expect("comes in"));
            let happens = move || drop(bring_in(&b.repo(), &b.file(theirs)).expect("comes in"));
            (Box::new(work), Box::new(happens))
        },
        |gap| {
            let what = format!("{first:?}, {ours} with {theirs} in gap {gap}");
            place.borrow().holds(ours.max(theirs), &what);
        },
    );
}

#[test]
fn two_first_imports_of_one_file_make_one_session() {
    both(None, 8, 8);
}

#[test]
fn a_longer_and_a_shorter_first_import_make_the_longer_session() {
    both(None, 8, 12);
    both(None, 12, 8);
}

#[test]
fn two_imports_of_a_grown_file_grow_the_session_once() {
    both(Some(4), 10, 10);
}

#[test]
fn of_two_imports_of_a_growing_file_the_longer_one_stays() {
    both(Some(4), 9, 12);
    both(Some(4), 12, 9);
    both(Some(4), 12, 4);
}

#[test]
fn what_is_purged_in_between_is_not_kept() {
    let place = Rc::new(std::cell::RefCell::new(Rc::new(Place::new(&[]))));
    let kept = Rc::clone(&place);
    in_each_gap(
        || {
            let fresh = Rc::new(Place::new(&[4, 10]));
            kept.replace(Rc::clone(&fresh));
            SHARE.set(None);
            bring_in(&fresh.repo(), &fresh.file(4)).expect("comes in");
            SHARE.set(Some(1));
            let (a, b) = (Rc::clone(&fresh), fresh);
            let work = move || drop(bring_in(&a.repo(), &a.file(10)).expect("comes in"));
            let happens = move || {
                let repo = b.repo();
                let call = Call::at(Millis(0), "clear --purge");
                repo.clear(call, false, &SurgeryOptions::default())
                    .expect("cleared");
                repo.purge(call).expect("purged");
            };
            (Box::new(work), Box::new(happens))
        },
        |gap| {
            let repo = place.borrow().repo();
            let view = repo.store.read().expect("a view");
            let name = RefName::session("claude-code", "s");
            let sources = view.sources(&name).expect("sources");
            let tip = crate::repo::load::tip(&*view, &name)
                .expect("read")
                .expect("a tip");
            let context = repo.context(&tip).expect("a context");
            let messages = repo.messages(&context).expect("its messages");
            let erased = messages
                .iter()
                .filter(|message| text(message) == "[purged]")
                .count();
            assert_eq!(messages.len(), 10, "gap {gap}");
            match erased {
                0 => assert_eq!(sources.len(), 1, "gap {gap}"),
                erased => assert_eq!((erased, sources.len()), (4, 0), "gap {gap}"),
            }
        },
    );
}

#[test]
fn what_is_new_is_appended_to_a_branch_once() {
    let place = Rc::new(std::cell::RefCell::new(Rc::new(Place::new(&[]))));
    let kept = Rc::clone(&place);
    let onto = |place: &Place, messages: usize| {
        let repo = place.repo();
        let report = bring_in(&repo, &place.file(messages)).expect("comes in");
        let branch = RefName::branch("other").expect("a name");
        adopt(
            &repo,
            &report.sessions[0].name,
            &branch,
            Millis(0),
            "import",
        )
        .expect("taken over");
    };
    in_each_gap(
        || {
            let fresh = Rc::new(Place::new(&[4, 8, 12]));
            kept.replace(Rc::clone(&fresh));
            SHARE.set(None);
            onto(&fresh, 4);
            SHARE.set(Some(1));
            let (a, b) = (Rc::clone(&fresh), fresh);
            (
                Box::new(move || onto(&a, 8)),
                Box::new(move || onto(&b, 12)),
            )
        },
        |gap| {
            let place = place.borrow();
            place.holds(12, &format!("gap {gap}"));
            let repo = place.repo();
            let on = On::Branch(RefName::branch("other").expect("a name"));
            let tip = repo.head(&on).expect("a head").commit().expect("a tip");
            let context = repo.context(&tip).expect("a context");
            assert_eq!(context.entries.len(), 12, "gap {gap}");
        },
    );
}

#[test]
fn who_always_loses_is_let_through_in_the_end() {
    let place = Place::new(&[2, 4, 10]);
    for length in [2, 4] {
        bring_in(&place.repo(), &place.file(length)).expect("comes in");
    }
    let name = RefName::session("claude-code", "s");
    let other = place.repo();
    let tip = crate::repo::load::tip(&*other.store.read().expect("a view"), &name);
    let tip = tip.expect("read").expect("a tip");
    let row = other.commit_at(&tip).expect("a commit");
    let mut both = [row.parent.expect("it has one"), tip];
    let times = Rc::new(Cell::new(0));
    let counted = Rc::clone(&times);
    GAP.set(Some(Box::new(move || {
        counted.set(counted.get() + 1);
        both.reverse();
        let tx = other.store.write().expect("a slice");
        tx.begin_operation(Millis(0), "other").expect("begun");
        let value = RefValue::Commit(both[0]);
        let name = RefName::session("claude-code", "s");
        tx.set_reference(&name, Some(&value)).expect("moved");
        tx.commit().expect("written");
    })));
    bring_in(&place.repo(), &place.file(10)).expect("comes in");
    GAP.set(None);
    assert!(times.get() >= 15, "{} gaps", times.get());
    place.holds(10, "in the end");
}
