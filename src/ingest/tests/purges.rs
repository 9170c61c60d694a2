//! Imports and exports beside a purge: what one is about to need is not taken, what one has left is.

use std::cell::Cell;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::Result;
use crate::formats::{Format, SessionEnd, SessionStart, Sink, Source, Step};
use crate::ingest::slices::GAP;
use crate::ingest::{ExportOptions, ImportReport, ImportRequest, export, import};
use crate::model::{Draft, Message, Millis, Part, RefName, Role};
use crate::repo::{Call, CommitOptions, On, Repo, ResetMode};
use crate::rewrite::SurgeryOptions;
use crate::rewrite::{Reach, Truncate};
use crate::store::{SessionRow, SourceState};
use crate::upkeep::Purged;

/// Work for some whole slices.
const MESSAGES: usize = 5_000;

fn chat(folder: &Path, name: &str, messages: usize) -> PathBuf {
    let row = |at: usize| {
        let role = ["user", "assistant"][at % 2];
        format!(r#"{{"role":"{role}","content":"{name} {at}"}}"#)
    };
    let rows: Vec<String> = (0..messages).map(row).collect();
    let path = folder.join(format!("{name}.json"));
    std::fs::write(&path, format!("[{}]", rows.join(","))).expect("written");
    path
}

/// Tells of progress after each step, when a slice may have ended.
struct Telling<'a>(&'a mut dyn Sink);

impl Sink for Telling<'_> {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        self.0.session(start)
    }

    fn step(&mut self, step: Step) -> Result<()> {
        self.0.step(step)?;
        self.0.progress(0, 0);
        Ok(())
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.0.end(end)
    }
}

fn read_telling(source: Source<'_>) -> Result<()> {
    let openai = Format::named("openai")?;
    let sink = &mut Telling(source.sink);
    (openai.read)(Source { sink, ..source })
}

fn bring_in(repo: &Repo, format: &str, path: &Path, seen: &mut dyn FnMut()) -> ImportReport {
    let request = ImportRequest {
        format: Some(Box::leak(Box::new(Format {
            read: match format {
                "openai" => read_telling,
                _ => Format::named(format).expect("a format").read,
            },
            home: None,
            ..*Format::named(format).expect("a format")
        }))),
        ..ImportRequest::at(Millis(0), "import")
    };
    import(repo, path, &request, &mut |_| seen()).expect("imports")
}

/// The texts of what a session's ref compiles to.
fn texts(repo: &Repo, session: &str) -> Vec<String> {
    let on = On::Branch(RefName::session("openai", session));
    let tip = repo.head(&on).expect("a head").commit().expect("a tip");
    let context = repo.context(&tip).expect("a context");
    let messages = repo.messages(&context).expect("its messages").into_iter();
    let text = |message: Message| match &message.parts[..] {
        [Part::Text { text }] => text.clone(),
        other => panic!("{other:?}"),
    };
    messages.map(text).collect()
}

fn purge(repo: &Repo) -> Purged {
    let done = repo.clear(Call::default(), true, &SurgeryOptions::default());
    done.expect("cleared");
    repo.purge(Call::default()).expect("purged")
}

fn say(repo: &Repo, text: &str) {
    let draft = Draft::append(Message::text(Role::User, text));
    let done = repo.commit(Call::default(), &[draft], &CommitOptions::default());
    done.expect("it commits");
}

#[test]
fn a_purge_during_an_import_takes_nothing_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (repo, _) = Repo::init(folder.path()).expect("a repository");
    say(&repo, "a secret");
    let path = chat(folder.path(), "talk", MESSAGES);
    let purged = Rc::new(Cell::new(None));
    let (mut slices, told, place) = (0, Rc::clone(&purged), folder.path().to_owned());
    GAP.set(Some(Box::new(move || {
        slices += 1;
        // The first one has just ended.
        if slices == 2 {
            told.set(Some(purge(&Repo::open(&place).expect("it opens"))));
        }
    })));
    bring_in(&repo, "openai", &path, &mut || {});
    GAP.set(None);
    let purged = purged.take().expect("it purged");
    // It came in between, and took what no ref led to.
    assert!(purged.contents > 1_000, "{purged:?}");
    let wanted: Vec<String> = (0..MESSAGES).map(|at| format!("talk {at}")).collect();
    assert!(texts(&repo, "talk") == wanted);
}

#[test]
fn what_a_killed_import_has_left_goes_with_a_purge() {
    let folder = tempfile::tempdir().expect("a folder");
    let (repo, _) = Repo::init(folder.path()).expect("a repository");
    say(&repo, "a secret");
    let path = chat(folder.path(), "hunter2", MESSAGES);
    let seen = Cell::new(0);
    let count = || {
        bring_in(
            &Repo::ephemeral().expect("one"),
            "openai",
            &path,
            &mut || seen.set(seen.get() + 1),
        )
    };
    count();
    let last = seen.replace(0);
    let killed = catch_unwind(AssertUnwindSafe(|| {
        bring_in(&repo, "openai", &path, &mut || {
            seen.set(seen.get() + 1);
            assert!(seen.get() < last, "killed");
        })
    }));
    assert!(killed.is_err());
    // A bit later it would have left these, too.
    let tx = repo.store.write().expect("the lock");
    let name = RefName::session("openai", "hunter2");
    let source = tx.put_source(&name, "openai", None).expect("kept");
    tx.append_source(source, &SourceState::empty(), b"hunter2", &[0; 32])
        .expect("kept");
    let row = SessionRow {
        title: Some("hunter2".into()),
        ..SessionRow::default()
    };
    tx.put_session(&name, &row).expect("kept");
    tx.commit().expect("kept");
    let left = repo.store.read().and_then(|view| view.all_contents());
    let left = left.expect("read").len();
    assert!(left >= 4_000, "{left}");

    let purged = purge(&repo);
    assert_eq!(purged.contents as usize, left);
    assert_eq!((purged.sources, purged.unfinished), (1, None));
    let view = repo.store.read().expect("a view");
    assert!(view.all_sources().expect("read").is_empty());
    assert!(view.sessions().expect("read").is_empty());
    // The secret's commit and its clear are all that is left.
    assert_eq!(view.by_reach(&[]).expect("read").unreached.len(), 2);
    drop(view);
    for file in std::fs::read_dir(folder.path().join(".tract")).expect("files") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("readable");
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"));
    }
    // And it comes in as if it never had been begun.
    bring_in(&repo, "openai", &path, &mut || {});
    let fresh = Repo::ephemeral().expect("one");
    bring_in(&fresh, "openai", &path, &mut || {});
    let tip = |repo: &Repo| {
        repo.head(&On::Branch(name.clone()))
            .expect("a head")
            .commit()
    };
    assert_eq!(tip(&repo), tip(&fresh));
}

/// A reader that takes its time: whoever writes must be able to, meanwhile.
struct Slow<'a>(&'a Repo, Vec<u8>);

impl Write for Slow<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        drop(self.0.store.write().expect("no view is open"));
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn no_export_holds_a_view_while_it_writes() {
    let lines = include_str!("../../../tests/data/codex/plain.jsonl");
    let folder = tempfile::tempdir().expect("a folder");
    let repo = Repo::ephemeral().expect("a repository");
    let path = folder.path().join("lines.jsonl");
    std::fs::write(&path, lines).expect("written");
    bring_in(&repo, "codex", &path, &mut || {});
    let export_as = |format: &str| {
        let head = repo.head(&On::Head).expect("a head");
        let options = ExportOptions {
            prices: None,
            format: Format::named(format).expect("a format"),
            now: Millis(0),
            session: None,
        };
        let mut out = Slow(&repo, Vec::new());
        export(&repo, &head.commit().expect("a tip"), &options, &mut out).expect("exported");
        String::from_utf8(out.1).expect("UTF-8")
    };
    assert_eq!(export_as("codex"), lines);
    say(&repo, "and on");
    let more = export_as("codex");
    assert!(more.starts_with(lines) && more.contains("and on"));
    for format in ["openai", "anthropic", "claude-code", "roo"] {
        assert!(export_as(format).contains("and on"), "{format}");
    }
    let options = SurgeryOptions::default();
    let keep = Truncate::new(Reach::Keep(1));
    repo.carry_out(Call::default(), &keep, &options)
        .expect("truncated");
    assert!(export_as("codex").contains("and on"));
    repo.reset(Call::default(), "HEAD~3", ResetMode::Soft)
        .expect("moved");
    assert!(lines.starts_with(&export_as("codex")));
}
