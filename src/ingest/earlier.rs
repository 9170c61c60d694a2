//! What an earlier version has brought in stays as it was when the file comes in anew, and nothing of
//! it comes in twice.

use std::path::Path;

use super::{ImportReport, ImportRequest, adopt, import};
use crate::error::Result;
use crate::history::{Call, CommitOptions, On, Repo};
use crate::interop::{
    Action, BranchStart, Cover, Format, ImportOptions, Importer, Input, Problem, SessionEnd,
    SessionStart, Sink, Step, StepEntry, StepId, Was,
};
use crate::model::{Draft, Message, Millis, RefName, Role};

/// Reads as versions did that knew of no attachments.
struct Former<'a> {
    sink: &'a mut dyn Sink,
    steps: usize,
    /// What they left behind, after which step.
    left: Option<(Option<StepId>, Vec<Step>)>,
}

impl Sink for Former<'_> {
    fn session(&mut self, session: SessionStart) -> Result<()> {
        self.sink.session(session)
    }

    fn branch(&mut self, _: BranchStart) -> Result<()> {
        panic!("steps are numbered anew, so nothing may name them");
    }

    fn step(&mut self, mut step: Step) -> Result<()> {
        match step.was.take() {
            None => {}
            Some(Was::Nothing) => return Ok(()),
            Some(Was::LeftBehind) => {
                let after = self.steps.checked_sub(1).map(StepId);
                let (_, left) = self.left.get_or_insert((after, Vec::new()));
                left.push(step);
                return Ok(());
            }
            Some(Was::Message(message)) => step.action = Action::Append(message),
        }
        self.steps += 1;
        self.sink.step(step)
    }

    fn formerly(&mut self, step: Step) -> Result<()> {
        self.steps += 1;
        self.sink.step(step)
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        if let Some((after, left)) = self.left.take() {
            self.sink.branch(BranchStart {
                name: "leaf-1".to_owned(),
                after,
                title: None,
            })?;
            for step in left {
                self.sink.step(step)?;
            }
        }
        self.sink.end(end)
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.sink.problem(problem)
    }
}

fn claude_formerly(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    read_formerly("claude-code", input, options, sink)
}

fn codex_formerly(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    read_formerly("codex", input, options, sink)
}

fn read_formerly(
    format: &str,
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let now = Format::named(format)?;
    let mut former = Former {
        sink,
        steps: 0,
        left: None,
    };
    (now.read)(input, options, &mut former)
}

/// The format as it was read then.
fn former(name: &str) -> &'static Format {
    let of_codex = name == "agents";
    let (format, read): (_, Importer) = match of_codex {
        true => ("codex", codex_formerly),
        false => ("claude-code", claude_formerly),
    };
    Box::leak(Box::new(Format {
        read,
        home: None,
        ..*Format::named(format).expect("known")
    }))
}

fn bring_in(repo: &Repo, format: Option<&'static Format>, path: &Path) -> ImportReport {
    let request = ImportRequest {
        format,
        ..ImportRequest::at(Millis(0), "import")
    };
    import(repo, path, &request, &mut |_| {}).expect("imports")
}

/// The commits of a branch, from the root, and its messages.
fn of_branch(repo: &Repo, name: &RefName) -> (Vec<String>, Vec<Message>) {
    let on = On::Branch(name.clone());
    let tip = repo.head(&on).expect("a head").commit().expect("a tip");
    let view = repo.store.read().expect("a view");
    let rows = view.ancestors(&tip, None, usize::MAX).expect("a path");
    let context = repo.context(&tip).expect("a context");
    let commits = rows.iter().rev().map(|row| row.hash.to_string());
    (
        commits.collect(),
        repo.messages(&context).expect("messages"),
    )
}

/// The lines of the sources that were read otherwise before, with the places to cut them.
fn sources() -> Vec<(&'static str, Vec<&'static str>)> {
    let attached = include_str!("../../tests/data/claude-code/attached.jsonl");
    let queue = include_str!("../../tests/data/claude-code/queue.jsonl");
    let parallel = include_str!("../../tests/data/claude-code/parallel.jsonl");
    let failed = include_str!("../../tests/data/claude-code/failed.jsonl");
    let agents = include_str!("../../tests/data/codex/agents.jsonl");
    [
        ("attached", attached),
        ("queue", queue),
        ("parallel", parallel),
        ("failed", failed),
        ("agents", agents),
    ]
    .map(|(name, text)| (name, text.lines().collect()))
    .into()
}

/// Reads as versions did of which a compaction named each message that it kept.
struct Naming<'a> {
    sink: &'a mut dyn Sink,
    steps: usize,
}

impl Sink for Naming<'_> {
    fn session(&mut self, session: SessionStart) -> Result<()> {
        self.sink.session(session)
    }

    fn step(&mut self, mut step: Step) -> Result<()> {
        if let Action::Hide(hide) = &mut step.action {
            let first = hide.replacements[0].0.expect("it keeps some");
            assert!(hide.keep.is_empty());
            hide.cover = Cover::Everything;
            let kept = (first.step.0..self.steps).map(StepId);
            hide.keep = kept.map(|step| StepEntry { step, ..first }).collect();
        }
        self.steps += 1;
        self.sink.step(step)
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.sink.end(end)
    }
}

fn pi_formerly(input: &dyn Input, options: ImportOptions<'_>, sink: &mut dyn Sink) -> Result<()> {
    let read = Format::named("pi")?.read;
    read(input, options, &mut Naming { sink, steps: 0 })
}

#[test]
fn a_compaction_that_named_what_it_keeps_is_gone_on_with() {
    let said = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    let header = r#"{"type":"session","version":3,"id":"s","cwd":"/w"}"#;
    let compaction = r#"{"type":"compaction","id":"c","parentId":"four","summary":"s","firstKeptEntryId":"two"}"#;
    let lines = [
        header,
        &said("one", ""),
        &said("two", "one"),
        &said("three", "two"),
        &said("four", "three"),
        compaction,
        &said("five", "c"),
        &said("six", "five"),
    ];
    let format = Box::leak(Box::new(Format {
        read: pi_formerly,
        go_on: None,
        home: None,
        ..*Format::named("pi").expect("known")
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x_s.jsonl");
    let write = |lines: &[&str]| std::fs::write(&path, lines.join("\n") + "\n").expect("written");
    let now = Repo::ephemeral().expect("a repository");
    write(&lines);
    bring_in(&now, None, &path);
    let (commits, all) = of_branch(&now, &main());
    let repo = Repo::ephemeral().expect("a repository");
    write(&lines[..7]);
    bring_in(&repo, Some(format), &path);
    let (before, _) = of_branch(&repo, &main());
    assert!(!commits.starts_with(&before), "it is read otherwise now");
    write(&lines);
    bring_in(&repo, None, &path);
    let (after, messages) = of_branch(&repo, &main());
    assert!(after.starts_with(&before));
    assert_eq!((after.len(), messages), (commits.len(), all));
}

fn main() -> RefName {
    RefName::branch("main").expect("a name")
}

#[test]
fn what_was_brought_in_before_stays_and_what_is_new_is_read_as_now() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, lines) in sources() {
        let path = folder.path().join(format!("{name}.jsonl"));
        let write = |lines: &[&str]| {
            std::fs::write(&path, lines.join("\n") + "\n").expect("written");
        };
        write(&lines);
        let (all_before, all_now) = {
            let messages = |format| {
                let repo = Repo::ephemeral().expect("a repository");
                bring_in(&repo, format, &path);
                of_branch(&repo, &main()).1
            };
            (messages(Some(former(name))), messages(None))
        };
        assert_ne!(all_before, all_now, "{name} is read otherwise now");
        for cut in 1..=lines.len() {
            let repo = Repo::ephemeral().expect("a repository");
            write(&lines[..cut]);
            let first = bring_in(&repo, Some(former(name)), &path);
            if first.sessions[0].tip.is_none() {
                continue;
            }
            let (before, _) = of_branch(&repo, &main());

            // The same file again: what is at its end may be new, and nothing else.
            bring_in(&repo, None, &path);
            let (after, messages) = of_branch(&repo, &main());
            assert!(after.starts_with(&before), "{name}, {cut} lines again");
            let more = &messages[before.len()..];
            assert!(
                more.iter().all(Message::is_attached) || cut < lines.len(),
                "{name}: {more:?}"
            );

            // The whole file: no message twice, all that is not the client's once.
            write(&lines);
            bring_in(&repo, None, &path);
            let (commits, messages) = of_branch(&repo, &main());
            let own = |all: &[Message]| {
                let own = all.iter().filter(|message| !message.is_attached());
                own.map(Message::hash).collect::<Vec<_>>()
            };
            let twice = |message: &&Message| {
                let hash = message.hash();
                messages.iter().filter(|other| other.hash() == hash).count() > 1
            };
            assert_eq!(messages.iter().find(twice), None, "{name}, {cut} lines");
            let known: Vec<_> = own(&all_before).into_iter().chain(own(&all_now)).collect();
            assert!(own(&messages).iter().all(|hash| known.contains(hash)));
            let both = own(&all_before).into_iter();
            let mut both = both.filter(|hash| own(&all_now).contains(hash));
            assert!(
                both.all(|hash| own(&messages).contains(&hash)),
                "{name}, {cut} lines"
            );

            // And once more: nothing.
            let again = bring_in(&repo, None, &path);
            assert_eq!(again.sessions[0].new_commits, 0, "{name}, {cut} lines");
            assert_eq!(of_branch(&repo, &main()).0, commits);
        }
    }
}

#[test]
fn one_s_own_branch_gets_only_what_is_new() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, lines) in sources() {
        let path = folder.path().join(format!("{name}.jsonl"));
        std::fs::write(&path, lines.join("\n") + "\n").expect("written");
        let repo = Repo::ephemeral().expect("a repository");
        let session = bring_in(&repo, Some(former(name)), &path)
            .sessions
            .remove(0)
            .name;
        let own = Draft::append(Message::text(Role::User, "mine"));
        repo.commit(Call::default(), &[own], &CommitOptions::default())
            .expect("commits");
        let (before, _) = of_branch(&repo, &main());
        bring_in(&repo, None, &path);
        let more = adopt(&repo, &session, &main(), Millis(1), "import --onto").expect("adopts");
        let (after, messages) = of_branch(&repo, &main());
        assert_eq!(after.len(), before.len() + more as usize);
        let more = &messages[messages.len() - more as usize..];
        assert!(more.iter().all(Message::is_attached), "{name}: {more:?}");
    }
}
