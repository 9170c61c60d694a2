//! Whatever a file of a session holds: it comes in or is refused, what came in is whole, compiles, is
//! drawn, and goes out as what it is.

use std::fs;
use std::path::Path;

use tract::Result;
use tract::error::Error;
use tract::formats::{
    Action, BranchStart, FORMATS, Format, Problem, SessionEnd, SessionStart, Sink, Source, Step,
};
use tract::hash::CommitHash;
use tract::ingest::{
    ExportOptions, ImportReport, ImportRequest, Outcome, Scope, export, import, replay,
    tree_of_file,
};
use tract::model::{Message, Millis, Part, Role, Settings, depth};
use tract::query::LogOptions;
use tract::repo::Repo;

use super::{Care, Choice, repository, requests, shown};

/// All that an importer told.
#[derive(Debug, Default, PartialEq)]
struct Told {
    starts: Vec<SessionStart>,
    steps: Vec<Step>,
    branches: Vec<(usize, BranchStart)>,
    ends: Vec<SessionEnd>,
    problems: Vec<Problem>,
}

impl Sink for Told {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        assert_eq!(
            self.starts.len(),
            self.ends.len(),
            "a session inside another"
        );
        self.starts.push(start);
        Ok(())
    }

    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        self.branches.push((self.steps.len(), branch));
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<()> {
        assert!(
            self.starts.len() > self.ends.len(),
            "told outside a session"
        );
        self.steps.push(step);
        Ok(())
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.ends.push(end);
        Ok(())
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems.push(problem);
        Ok(())
    }
}

fn read(format: &Format, bytes: &[u8]) -> Told {
    let mut told = Told::default();
    let source = Source {
        stem: "stem",
        ..Source::of(&bytes, &mut told)
    };
    (format.read)(source).expect("bytes can be read");
    assert_eq!(
        told.starts.len(),
        told.ends.len(),
        "a session without an end"
    );
    told
}

/// What an importer tells: the same twice, of records that are in the file, and messages that can be
/// written and sent.
fn is_told_well(format: &Format, bytes: &[u8]) {
    let told = read(format, bytes);
    assert_eq!(told, read(format, bytes), "told otherwise the second time");
    let mut said = Vec::new();
    for step in &told.steps {
        for span in &step.records {
            let end = span.offset.checked_add(span.len);
            assert!(end.is_some_and(|end| end <= bytes.len() as u64), "{span:?}");
        }
        let messages: Vec<&Message> = match &step.action {
            Action::Append(message) => vec![message],
            Action::Hide(hide) => hide.messages().collect(),
        };
        for message in messages {
            depth::check_message(message).expect("no deeper than what is kept");
            let again = Message::from_canonical(&message.canonical()).expect("it was written here");
            assert_eq!(&again, message);
        }
        said.extend(step.message().cloned());
    }
    requests::are_valid(&said, &Settings::new());
}

/// Holds bytes against all that is promised of a file in this format.
pub fn hold(format: &'static Format, bytes: &[u8], care: Care) {
    is_told_well(format, bytes);
    if care == Care::Read {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(match bytes.first() {
        Some(b'{' | b'[') => "stem.jsonl",
        _ => "stem.sse",
    });
    fs::write(&path, bytes).expect("written");
    let mut choice = Choice::of(bytes);
    let (_kept, repo) = repository();
    // Half of them are taken for what they look like.
    let given = [Some(format), None][choice.below(2)];
    let Some(report) = taken_in(&repo, &path, given) else {
        return;
    };
    is_whole(&repo, "what came in");
    let refs = repo.references("").expect("refs");
    let again = taken_in(&repo, &path, given).expect("it came in before");
    for session in &again.sessions {
        assert_eq!(session.new_commits, 0, "{} adds what is here", session.name);
        // Without a message it is nothing that could be known again.
        let known = session.tip.is_none() || session.outcome == Outcome::Unchanged;
        assert!(known, "{} is {:?}", session.name, session.outcome);
    }
    assert_eq!(repo.references("").expect("refs"), refs, "a ref moved");

    match tree_of_file(&path, Some(report.format)) {
        Ok(tree) => shown::is_harmless(&tree, 40 + choice.below(60)),
        Err(Error::InvalidInput { .. }) if report.sessions.len() != 1 => {}
        Err(error) => panic!("no tree: {error:?}"),
    }
    for session in report.sessions.iter().take(2) {
        let Some(tip) = session.tip else { continue };
        let context = repo.context(&tip).expect("a context");
        let settings = repo.settings(&context).expect("its settings");
        let messages = repo.messages(&context).expect("its messages");
        requests::are_valid(&messages, &settings);
        let all = LogOptions {
            parts: true,
            numbers: true,
            ..LogOptions::default()
        };
        repo.log(&tip, &all).expect("a log");
        replay(&repo, &tip, Scope::All).expect("it is told again");
        goes_out(
            &repo,
            &tip,
            (report.format, given),
            &messages,
            folder.path(),
        );
        // In any other format nothing is promised but that it is one.
        let other = FORMATS[choice.below(FORMATS.len())];
        let path = folder.path().join("other.jsonl");
        let (_kept, back) = repository();
        if written(&repo, &tip, other, &path).is_some()
            && taken_in(&back, &path, Some(other)).is_some()
        {
            is_whole(&back, "what came back");
        }
    }
}

/// Imports a file; none where it is refused, for a reason that is the file's.
fn taken_in(repo: &Repo, path: &Path, format: Option<&'static Format>) -> Option<ImportReport> {
    let request = ImportRequest {
        format,
        moves_head: true,
        ..ImportRequest::at(Millis(0), "import")
    };
    match import(repo, path, &request, &mut |_| {}) {
        Ok(report) => Some(report),
        Err(
            Error::EmptyFile { .. }
            | Error::TornFile { .. }
            | Error::UnknownFormat { .. }
            | Error::BrokenFile { .. }
            | Error::InvalidInput { .. },
        ) => {
            assert_eq!(repo.references("refs/").expect("refs"), []);
            None
        }
        Err(error) => panic!("refused: {error:?}"),
    }
}

/// Nothing is found wrong with a repository.
pub fn is_whole(repo: &Repo, what: &str) {
    let found = repo.fsck(true, &mut |_| Ok(())).expect("it can be checked");
    assert!(!found.is_damaged(), "{what}: {found:?}");
}

/// Writes a session in a format; none where that format is only read.
fn written(
    repo: &Repo,
    tip: &CommitHash,
    format: &'static Format,
    path: &Path,
) -> Option<Vec<String>> {
    let options = ExportOptions {
        prices: None,
        format,
        now: Millis(0),
        session: None,
    };
    let mut out = Vec::new();
    let done = match export(repo, tip, &options, &mut out) {
        Err(Error::InvalidInput { .. }) if format.write.is_none() => return None,
        done => done.expect("a vector takes all"),
    };
    fs::write(path, out).expect("written");
    Some(done.remarks)
}

/// An export in the session's own format comes back as the context, or says that it does not. Where a
/// format was named at the import, because the file does not look like one, it is named again.
fn goes_out(
    repo: &Repo,
    tip: &CommitHash,
    (format, given): (&'static Format, Option<&'static Format>),
    messages: &[Message],
    folder: &Path,
) {
    let path = folder.join("stem-out.jsonl");
    let remarks = written(repo, tip, format, &path);
    if remarks.is_none_or(|remarks| !remarks.is_empty()) {
        return;
    }
    let text = || String::from_utf8_lossy(&fs::read(&path).expect("written")).into_owned();
    let (_kept, back) = repository();
    let Some(report) = taken_in(&back, &path, given) else {
        assert!(messages.is_empty(), "refused without a remark: {}", text());
        return;
    };
    is_whole(&back, "what came back");
    let found = match report.sessions.first().and_then(|session| session.tip) {
        Some(tip) => {
            let context = back.context(&tip).expect("a context");
            back.messages(&context).expect("its messages")
        }
        None => Vec::new(),
    };
    let settled = |messages: &[Message]| -> Vec<Message> { messages.iter().map(settled).collect() };
    assert_eq!(
        settled(&found),
        settled(messages),
        "it comes back otherwise, without a remark: {}",
        text()
    );
}

/// White space between the tokens of a kept block says nothing, and a message of nothing but results is
/// a tool's.
fn settled(message: &Message) -> Message {
    let mut message = message.clone();
    let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
    if !message.parts.is_empty() && message.parts.iter().all(is_result) {
        message.role = Role::Tool;
    }
    fn settle(part: &mut Part) {
        match part {
            Part::Opaque { data, .. } => {
                if let Ok(value) = serde_json::from_str::<serde_json::Value>(data) {
                    *data = value.to_string();
                }
            }
            Part::ToolResult { content, .. } => content.iter_mut().for_each(settle),
            _ => {}
        }
    }
    message.parts.iter_mut().for_each(settle);
    message
}
