//! Real sessions, all the way in and out.

use std::path::{Path, PathBuf};

use tract::Error;
use tract::compile::{Provider, RequestOptions, compile};
use tract::formats::Input;
use tract::hash::CommitHash;
use tract::ingest::database;
use tract::ingest::{
    ExportOptions, FileInput, ImportReport, ImportRequest, Outcome, export, import,
};
use tract::model::pairs::{Links, Pairs};
use tract::model::tokens::context_total;
use tract::model::{Encoding, HideKind, Millis, RefName};
use tract::query::LogOptions;
use tract::repo::{Call, Named, On, Repo};
use tract::rewrite::{Extent, Limits, Prune, Reach, Summary, SummarySpan, Truncate};
use tract::rewrite::{Surgery, SurgeryOptions};

use crate::check::{check_anthropic, check_openai, check_responses};
use crate::conditions::{real_sessions, sample};

/// All files of the known formats, by path.
fn files(folder: &Path) -> Vec<PathBuf> {
    let formats = [
        "claude-code",
        "codex",
        "openai-chat",
        "openai-finetune",
        "anthropic-messages",
        "roo-cline",
        "gemini-cli",
        "qwen",
        "opencode",
        "kilo-code",
        "copilot-cli",
        "pi",
        "vscode-chat",
        "chatgpt-export",
        "continue",
        "droid",
        "kimi",
        "atif",
        "swe-agent",
        "openai-agents",
        "cursor",
        "aider",
        "kiro",
        "llm-logs",
        "crush",
        "openhands",
    ];
    // What else a task's directory holds is no session. Copilot Chat's debug view exports another object.
    let beside = |path: &PathBuf| {
        path.to_string_lossy().ends_with(".chatreplay.json")
            || path.ends_with("ui_messages.json")
            || path.ends_with("task_metadata.json")
    };
    let files: Vec<PathBuf> = formats
        .iter()
        .flat_map(|format| tract::ingest::tool_dirs::walk_directory(&folder.join(format)))
        .flat_map(|path| database::unfolded(vec![path]))
        .filter(|path| !beside(path))
        .collect();
    assert!(
        files.len() > 40,
        "the folder holds fewer sessions than it should"
    );
    files
}

fn take(repo: &Repo, path: &Path) -> ImportReport {
    let request = ImportRequest::at(Millis(0), "import");
    import(repo, path, &request, &mut |_| {}).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn tips(report: &ImportReport) -> Vec<Option<CommitHash>> {
    report.sessions.iter().map(|session| session.tip).collect()
}

/// Checks the request that a commit compiles to against the rules of each provider.
fn valid(repo: &Repo, commit: &CommitHash) {
    let context = repo.context(commit).unwrap();
    let messages = repo.messages(&context).unwrap();
    if messages.iter().all(|message| message.role.is_system()) {
        // Nothing to answer yet: no provider takes that.
        return;
    }
    let settings = repo.settings(&context).unwrap();
    for provider in [Provider::OpenAi, Provider::Responses, Provider::Anthropic] {
        for whole_request in [false, true] {
            let options = RequestOptions {
                provider,
                whole_request,
                strict: false,
            };
            let request = compile(&messages, &settings, &options).unwrap();
            let twice = compile(&messages, &settings, &options).unwrap();
            assert_eq!(request.payload, twice.payload);
            let value = serde_json::from_str(&request.payload).unwrap();
            let wrong = match provider {
                Provider::OpenAi => check_openai(&value),
                Provider::Responses => check_responses(&value),
                _ => check_anthropic(&value),
            };
            assert!(wrong.is_empty(), "{commit:.7}: {wrong:?}");
        }
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn every_file_comes_in_once_and_the_same_everywhere() {
    let folder = real_sessions();
    let (one, two) = (Repo::ephemeral().unwrap(), Repo::ephemeral().unwrap());
    let mut messages = 0;
    for path in files(&folder) {
        let first = take(&one, &path);
        assert!(
            first.sessions.iter().any(|s| s.messages > 0),
            "{}: no message",
            path.display()
        );
        messages += first
            .sessions
            .iter()
            .map(|session| session.messages)
            .sum::<u64>();
        let again = take(&one, &path);
        assert_eq!(tips(&first), tips(&again), "{}", path.display());
        for session in &again.sessions {
            assert_eq!(session.new_commits, 0, "{}", path.display());
            assert_eq!(session.outcome, Outcome::Unchanged, "{}", path.display());
        }
        assert_eq!(tips(&first), tips(&take(&two, &path)), "{}", path.display());
    }
    eprintln!("{messages} messages");
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn both_requests_are_valid_at_every_stage_and_the_same_twice() {
    let folder = real_sessions();
    for path in sample(files(&folder)) {
        let repo = Repo::ephemeral().unwrap();
        for session in take(&repo, &path).sessions.iter().take(20) {
            let Some(tip) = session.tip else { continue };
            let options = LogOptions {
                limit: 1,
                ..LogOptions::default()
            };
            let _ = repo.log(&tip, &options).unwrap();
            let mut stages = vec![tip];
            for (_, hide, before) in &session.hides {
                stages.push(*hide);
                stages.extend(before);
            }
            let on = tract::repo::On::Branch(session.name.clone());
            for back in [1, 2, 3, 5, 8, 13, 21, 34, 55] {
                if let Ok(commit) = repo.resolve(&on, &format!("{tip}~{back}")) {
                    stages.push(commit);
                }
            }
            for commit in stages {
                valid(&repo, &commit);
            }
        }
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn an_untouched_session_comes_back_as_it_was() {
    let folder = real_sessions();
    for path in files(&folder) {
        let repo = Repo::ephemeral().unwrap();
        let report = take(&repo, &path);
        let options = ExportOptions {
            prices: None,
            format: report.format,
            now: Millis(0),
            session: None,
        };
        if let [session] = report.sessions.as_slice() {
            let mut out = Vec::new();
            export(&repo, &session.tip.unwrap(), &options, &mut out).unwrap();
            // Of a compressed file what is inside.
            let input = FileInput::open(&path).unwrap();
            assert!(
                out == input.front(u64::MAX).unwrap(),
                "{} differs",
                path.display()
            );
        } else {
            // A conversation of a file with many comes back as a file of its own.
            let session = &report.sessions[0];
            let mut out = Vec::new();
            let done = export(&repo, &session.tip.unwrap(), &options, &mut out);
            if report.format.write.is_none() {
                assert!(
                    matches!(done, Err(Error::InvalidInput { .. })),
                    "{}",
                    path.display()
                );
                continue;
            }
            done.unwrap();
            let out: serde_json::Value = serde_json::from_slice(&out).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let original: serde_json::Value = text
                .lines()
                .next()
                .and_then(|line| serde_json::from_str(line).ok())
                .unwrap_or_else(|| serde_json::from_str(&text).unwrap());
            let original = match &original {
                serde_json::Value::Array(entries) => &entries[0]["traj"],
                row => &row["messages"],
            };
            assert_eq!(&out["messages"], original, "{}", path.display());
        }
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn a_grown_file_gives_what_one_import_of_it_would() {
    let folder = real_sessions();
    let series = [
        vec![
            "claude-code/entire-768de5d6-growth-1.jsonl",
            "claude-code/entire-768de5d6-growth-2.jsonl",
            "claude-code/entire-768de5d6-growth-3.jsonl",
        ],
        vec![
            "codex/agentv-019ed50c-growth-1.jsonl",
            "codex/agentv-019ed50c-growth-2.jsonl",
        ],
    ];
    for files in series {
        let grown = Repo::ephemeral().unwrap();
        let mut last = None;
        for (index, file) in files.iter().enumerate() {
            let report = take(&grown, &folder.join(file));
            let expected = if index == 0 {
                Outcome::New
            } else {
                Outcome::Grown
            };
            assert_eq!(report.sessions[0].outcome, expected, "{file}");
            last = Some(report);
        }
        let last = last.unwrap();
        let one_go = Repo::ephemeral().unwrap();
        let at_once = take(&one_go, &folder.join(files.last().unwrap()));
        assert_eq!(tips(&last), tips(&at_once));
        assert_eq!(last.sessions[0].name, at_once.sessions[0].name);
        let refs = |repo: &Repo| repo.references(RefName::SESSIONS).unwrap();
        assert_eq!(refs(&grown), refs(&one_go));
        let main = |repo: &Repo| repo.references("refs/heads/main").unwrap();
        assert_eq!(main(&grown), main(&one_go), "main follows");
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn an_earlier_state_of_a_file_moves_nothing_back() {
    let folder = real_sessions();
    let repo = Repo::ephemeral().unwrap();
    let newest = take(
        &repo,
        &folder.join("claude-code/entire-768de5d6-growth-3.jsonl"),
    );
    let refs = repo.references("refs/").unwrap();
    let older = take(
        &repo,
        &folder.join("claude-code/entire-768de5d6-growth-1.jsonl"),
    );
    assert_eq!(older.sessions[0].outcome, Outcome::Unchanged);
    assert_eq!(tips(&older), tips(&newest));
    assert_eq!(repo.references("refs/").unwrap(), refs);
}

/// The same at every byte: a file cut anywhere, imported, and then imported whole.
#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn a_file_cut_anywhere_grows_into_the_whole() {
    let folder = real_sessions();
    let directory = tempfile::tempdir().unwrap();
    for file in [
        "claude-code/entire-7662d755-microcompact.jsonl",
        "claude-code/jessitron/ff80b049-3eff-495f-b4f0-c4071d615994.jsonl",
        "codex/agentv-0034f597-compact2.jsonl",
        "codex/gitsync-fb72ba1a-abort-compact.jsonl",
    ] {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let path = directory.path().join(Path::new(file).file_name().unwrap());
        std::fs::write(&path, &bytes).unwrap();
        let whole = take(&Repo::ephemeral().unwrap(), &path);
        let repo = Repo::ephemeral().unwrap();
        for cut in [
            bytes.len() / 7,
            bytes.len() / 3,
            bytes.len() / 2,
            bytes.len() - 1_000,
        ] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            take(&repo, &path);
        }
        std::fs::write(&path, &bytes).unwrap();
        let grown = take(&repo, &path);
        assert_eq!(tips(&grown), tips(&whole), "{file}");
        assert_eq!(grown.sessions[0].name, whole.sessions[0].name, "{file}");
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn a_fork_shares_its_parents_commits() {
    let folder = real_sessions();
    let repo = Repo::ephemeral().unwrap();
    let parent = take(&repo, &folder.join("codex/gitsync-019d7d08-parent.jsonl"));
    let fork = take(
        &repo,
        &folder.join("codex/gitsync-019d7e2f-subagent-fork.jsonl"),
    );
    let (parent, fork) = (&parent.sessions[0], &fork.sessions[0]);
    assert!(
        fork.new_commits < fork.messages / 4,
        "{} of the fork's {} messages are new beside {} of its parent",
        fork.new_commits,
        fork.messages,
        parent.messages
    );
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn what_was_compacted_is_there_before_the_compaction() {
    let folder = real_sessions();
    for (file, compactions) in [
        ("claude-code/entire-4902a08f-compact2.jsonl", 2),
        ("claude-code/entire-7662d755-microcompact.jsonl", 1),
        ("codex/agentv-0034f597-compact2.jsonl", 2),
    ] {
        let repo = Repo::ephemeral().unwrap();
        let report = take(&repo, &folder.join(file));
        let hides = &report.sessions[0].hides;
        let hides: Vec<_> = hides
            .iter()
            .filter(|h| h.0 == HideKind::Compaction)
            .collect();
        assert_eq!(hides.len(), compactions, "{file}");
        for (_, hide, before) in hides {
            let before = repo.context(&before.unwrap()).unwrap();
            let after = repo.context(hide).unwrap();
            assert!(before.entries.len() > after.entries.len(), "{file}");
            let total =
                |context| context_total(repo.counts(context, Encoding::O200K_BASE).unwrap());
            assert!(total(&before).tokens > total(&after).tokens, "{file}");
        }
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn the_running_total_is_the_size_of_the_context_at_every_commit() {
    let folder = real_sessions();
    let repo = Repo::ephemeral().unwrap();
    let report = take(
        &repo,
        &folder.join("claude-code/entire-7662d755-microcompact.jsonl"),
    );
    let tip = report.sessions[0].tip.unwrap();
    for row in repo.log(&tip, &LogOptions::default()).unwrap() {
        let context = repo.context(&row.hash).unwrap();
        let total = context_total(repo.counts(&context, Encoding::O200K_BASE).unwrap());
        assert_eq!(total, row.running, "{:.7}", row.hash);
        assert_eq!(
            context,
            repo.order(&row.hash).unwrap().context(),
            "{:.7}",
            row.hash
        );
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn formats_of_others_are_named_as_unknown() {
    let others = real_sessions().join("antigravity");
    for path in tract::ingest::tool_dirs::walk_directory(&others) {
        let request = ImportRequest::at(Millis(0), "import");
        let repo = Repo::ephemeral().unwrap();
        let result = import(&repo, &path, &request, &mut |_| {});
        assert!(
            matches!(result, Err(tract::Error::UnknownFormat { .. })),
            "{} came in",
            path.display()
        );
    }
}

/// What a request of each provider would be at `on`, as bytes.
fn compiled(repo: &Repo, on: &On) -> Vec<String> {
    let tip = repo.head(on).unwrap().commit().unwrap();
    let context = repo.context(&tip).unwrap();
    let messages = repo.messages(&context).unwrap();
    let settings = repo.settings(&context).unwrap();
    let request = |provider| {
        let options = RequestOptions {
            provider,
            ..RequestOptions::default()
        };
        compile(&messages, &settings, &options).unwrap().payload
    };
    [Provider::OpenAi, Provider::Anthropic, Provider::Text]
        .map(request)
        .to_vec()
}

/// The ids of calls whose result is not in the context, and of results whose call is not.
fn unpaired(repo: &Repo, on: &On) -> (usize, usize) {
    let tip = repo.head(on).unwrap().commit().unwrap();
    let messages = repo.messages(&repo.context(&tip).unwrap()).unwrap();
    let links: Vec<Links> = messages.iter().map(Links::of).collect();
    let pairs = Pairs::new(&links);
    let calls: usize = links.iter().map(|links| links.calls.len()).sum();
    let results: usize = links.iter().map(|links| links.results.len()).sum();
    let paired = pairs.pairs().len();
    (calls - paired, results - paired)
}

/// The commands that make a context smaller, in the order of the walk.
const STEPS: [&str; 6] = ["truncate", "truncate", "compact", "prune", "drop", "clear"];

fn smaller(repo: &Repo, on: &On, command: &str, now: i64) -> tract::Result<Surgery> {
    let call = Call::at(Millis(now), command).on(on);
    let options = SurgeryOptions::default();
    match command {
        "truncate" => repo.carry_out(
            call,
            &Truncate::new(Reach::Fraction("0.5".parse()?)),
            &options,
        ),
        "compact" => {
            let mut words =
                |span: &SummarySpan<'_>| Ok(format!("{} messages", span.messages.len()));
            let span = Extent::KeepLast(4);
            Ok(repo
                .compact(call, &span, Summary::From(&mut words), &options)?
                .surgery)
        }
        "prune" => {
            let prune = Prune {
                limits: Limits {
                    turns: 1,
                    protect: 0,
                    min: 0,
                    ..Limits::default()
                },
                ..Prune::default()
            };
            repo.carry_out(call, &prune, &options)
        }
        "drop" => {
            let tip = repo.head(on)?.commit().expect("there are commits");
            let context = repo.context(&tip)?;
            let middle = context.entries[context.entries.len() / 2].id;
            repo.drop_named(call, &[Named::Entry(middle)], true, &options)
        }
        _ => repo.clear(call, false, &options),
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn surgery_on_long_sessions_is_undone_and_done_again_to_the_byte() {
    let folder = real_sessions();
    let mut walked = 0;
    let files: Vec<PathBuf> = sample(files(&folder)).collect();
    // Of few there may be none that is long.
    let least = if files.len() > 100 { 10 } else { 0 };
    for path in files {
        let repo = Repo::ephemeral().unwrap();
        let report = take(&repo, &path);
        if report.sessions.len() != 1 || report.sessions[0].messages < 60 {
            continue;
        }
        walked += 1;
        let open = unpaired(&repo, &On::Head);
        let mut states = vec![compiled(&repo, &On::Head)];
        for (at, command) in STEPS.into_iter().enumerate() {
            match smaller(&repo, &On::Head, command, at as i64) {
                Ok(done) if done.is_nothing() => {}
                Ok(_) => states.push(compiled(&repo, &On::Head)),
                Err(Error::Refused { .. }) => {}
                Err(error) => panic!("{}: {command}: {error}", path.display()),
            }
            let now = unpaired(&repo, &On::Head);
            assert!(
                now.0 <= open.0 && now.1 <= open.1,
                "{}: {command} split a pair",
                path.display()
            );
        }
        assert!(
            states.len() > 3,
            "{}: hardly anything was done",
            path.display()
        );
        for before in states[..states.len() - 1].iter().rev() {
            repo.undo(None, Millis(0)).unwrap();
            assert_eq!(&compiled(&repo, &On::Head), before, "{}", path.display());
        }
        for after in &states[1..] {
            repo.redo(Millis(0)).unwrap();
            assert_eq!(&compiled(&repo, &On::Head), after, "{}", path.display());
        }
        // Purged, every commit still compiles, to what the rules of the providers allow.
        repo.purge(Call::at(Millis(9), "clear --purge")).unwrap();
        let tip = repo.head(&On::Head).unwrap().commit().unwrap();
        let rows = repo.log(&tip, &LogOptions::default()).unwrap();
        for row in rows.iter().step_by(7) {
            valid(&repo, &row.hash);
        }
    }
    assert!(walked >= least, "only {walked} long sessions");
}
