//! One byte of a repository flipped at a time: what is damaged is refused or does no harm, and never
//! a wrong answer or a panic.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rusqlite::Connection;
use tract::Error;
use tract::compile::{RequestOptions, compile};
use tract::hash::CommitHash;
use tract::history::{FindOptions, LogOptions, On, Pattern, Repo};
use tract::ingest::{ExportOptions, export, session_format};
use tract::model::{Encoding, Millis, RefName, RefValue};

use crate::conditions;
use crate::sandbox::Sandbox;

/// Every kind of object, ref and row, with the journal folded into the file.
pub fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for (from, to) in [
        ("claude-code/compaction.jsonl", "talk.jsonl"),
        ("codex/plain.jsonl", "rollout.jsonl"),
    ] {
        sandbox.write(to, fs::read(data.join(from)).expect("a fixture"));
        sandbox.ok(&["import", to]);
    }
    let long = "a long line that compresses well ".repeat(40);
    for (role, text) in [("user", "one"), ("assistant", &*long), ("user", "three")] {
        sandbox.ok(&["commit", "-r", role, "-m", text]);
    }
    for command in [
        &["commit", "--edit", ":-1", "-m", "three, better"][..],
        &["annotate", ":-2", "--pin", "--reason", "it matters"],
        &["truncate", "--keep", "2"],
        &[
            "commit",
            "-r",
            "user",
            "-m",
            "four",
            "--set",
            "temperature=0.5",
        ],
        &["drop", "--force", ":-1"],
        &["restore", "HEAD"],
        &["tag", "-m", "a note", "v1"],
        &["branch", "other", "HEAD~2"],
        &["compact", "-m", "a summary", "--keep", "1"],
        &["undo"],
        &["reset", "HEAD^"],
        &["config", "budget.max", "100000"],
        &["find", "long"],
        &["log", "-n", "0"],
        &["branch"],
        &["status"],
    ] {
        sandbox.ok(command);
    }
    let path = sandbox.work().join(".tract/tract.db");
    let database = Connection::open(path).expect("opens");
    let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
    database.query_row(fold, [], |_| Ok(())).expect("folds");
    sandbox
}

type Answers = BTreeMap<String, Result<String, Error>>;

/// Asks everything that can be asked by reading, of these commits.
fn ask(directory: &Path, commits: &[CommitHash]) -> Answers {
    let mut answers = Answers::new();
    let encoding = Encoding::default();
    let repo = match Repo::open(directory) {
        Ok(repo) => repo,
        Err(error) => {
            answers.insert("open".into(), Err(error));
            return answers;
        }
    };
    let mut tell = |name: String, answer: Result<String, Error>| {
        answers.insert(name, answer);
    };
    tell("head".into(), told(repo.head(&On::Head)));
    tell("refs".into(), told(repo.references("")));
    tell("tags".into(), told(repo.tags()));
    tell("status".into(), told(repo.status(&On::Head, encoding)));
    tell("branches".into(), told(repo.branches(encoding)));
    tell("operations".into(), told(repo.operations(1000)));
    tell("config".into(), told(repo.config()));
    for name in ["HEAD", "refs/heads/main", "refs/tags/v1"] {
        let name: RefName = name.parse().expect("a name");
        tell(format!("reflog of {name}"), told(repo.reflog(&name, 1000)));
    }
    let find = FindOptions::new(Pattern::text("three").expect("a pattern"));
    let found = repo.find_messages(&On::Head, &find, &mut |_| {});
    tell("find".into(), told(found));
    for name in ["main", "other", "v1", "HEAD@{2}", "ORIG_HEAD"] {
        tell(
            format!("resolve {name}"),
            told(repo.resolve(&On::Head, name)),
        );
    }
    let all = LogOptions {
        parts: true,
        numbers: true,
        ..LogOptions::default()
    };
    for commit in commits {
        let name = commit.short();
        tell(
            format!("resolve {name}"),
            told(repo.resolve(&On::Head, &name)),
        );
        tell(format!("show {name}"), told(repo.show(commit, encoding)));
    }
    for commit in commits.iter().rev().take(2) {
        let name = commit.short();
        tell(format!("log {name}"), told(repo.log(commit, &all)));
        tell(
            format!("order {name}"),
            told(
                repo.order(commit)
                    .map(|order| format!("{:?}", order.entries().collect::<Vec<_>>())),
            ),
        );
        let compiled = repo.context(commit).and_then(|context| {
            let messages = repo.messages(&context)?;
            let settings = repo.settings(&context)?;
            let request = compile(&messages, &settings, &RequestOptions::default())?;
            Ok((repo.counts(&context, encoding)?, request.payload))
        });
        tell(format!("compile {name}"), told(compiled));
        tell(format!("session of {name}"), told(repo.session_of(commit)));
        let exported = session_format(&repo, commit).and_then(|format| {
            let Some(format) = format else {
                return Ok(None);
            };
            let mut out = Vec::new();
            let options = ExportOptions {
                format,
                now: Millis(0),
                session: None,
            };
            export(&repo, commit, &options, &mut out)?;
            Ok(Some(String::from_utf8_lossy(&out).into_owned()))
        });
        tell(format!("export {name}"), told(exported));
    }
    answers
}

fn told<T: Debug>(answer: Result<T, Error>) -> Result<String, Error> {
    answer.map(|answer| format!("{answer:?}"))
}

/// Whether the program says of this error that the data is damaged.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error,
        Error::Damaged { .. } | Error::ForeignDatabase { .. } | Error::NewerDatabase { .. }
    )
}

/// What of these answers is wrong: neither the right one nor a refusal.
fn wrong(right: &Answers, here: Answers) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, answer) in here {
        match (answer, right.get(&name)) {
            (Ok(answer), Some(Ok(right))) if answer == *right => {}
            (Ok(_), _) => wrong.push(format!("{name}: another answer")),
            (Err(error), _) if is_refusal(&error) => {}
            (Err(error), _) => wrong.push(format!("{name}: {error}")),
        }
    }
    wrong
}

/// What each page belongs to.
fn owners(path: &Path) -> BTreeMap<u64, String> {
    let database = Connection::open(path).expect("opens");
    let mut pages = database
        .prepare("SELECT pageno, name FROM dbstat")
        .expect("SQL");
    let pages = pages.query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)));
    pages
        .expect("reads")
        .map(|page| page.expect("a row"))
        .collect()
}

/// Flips so many bytes, one at a time and evenly spread, and says where what went wrong.
fn flip(flips: usize) -> BTreeMap<String, Vec<usize>> {
    let sandbox = repository();
    let original = sandbox.work().join(".tract/tract.db");
    let bytes = fs::read(&original).expect("a file");
    let owners = owners(&original);
    let fresh = |bytes: &[u8]| {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("tract.db"), bytes).expect("written");
        folder
    };
    let clean = fresh(&bytes);
    let commits = commits(clean.path());
    let right = ask(clean.path(), &commits);
    for (name, answer) in &right {
        assert!(answer.is_ok(), "{name}: {answer:?}");
    }
    let names: Vec<String> = commits.iter().map(CommitHash::short).collect();
    let mut findings: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let flips = flips.min(bytes.len());
    for number in 0..flips {
        let at = number * bytes.len() / flips;
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (number % 8);
        let folder = fresh(&flipped);
        let answers = catch_unwind(AssertUnwindSafe(|| {
            let answers = ask(folder.path(), &commits);
            let answered: Vec<String> = answers
                .iter()
                .filter(|(_, answer)| answer.is_ok())
                .map(|(name, _)| name.clone())
                .collect();
            let refused = answered.len() < right.len();
            let mut wrong = wrong(&right, answers);
            let found = is_found(folder.path());
            if refused && !found {
                wrong.push("fsck: nothing found".to_owned());
            }
            if found && repair(folder.path()) {
                let after = ask(folder.path(), &commits);
                let lost = answered.iter().filter(|name| {
                    !matches!((after.get(*name), right.get(*name)),
                        (Some(Ok(now)), Some(Ok(right))) if now == right)
                });
                wrong.extend(lost.map(|name| format!("{name}: worse after a repair")));
            }
            wrong
        }));
        let wrong = answers.unwrap_or_else(|_| vec!["panic".to_owned()]);
        let page = at as u64 / 4096 + 1;
        let owner = owners.get(&page).map_or("free", String::as_str);
        for what in wrong.iter().filter(|what| !is_known(owner, what)) {
            // One line a kind of question, whichever commit it was about.
            let words = what.lines().next().unwrap_or_default().split(' ');
            let words = words.filter(|word| !names.iter().any(|name| word.starts_with(name)));
            let what: String = words.collect::<Vec<_>>().join(" ");
            let what = what.chars().take(90).collect::<String>();
            let places = findings.entry(format!("{owner}: {what}")).or_default();
            if places.last() != Some(&at) {
                places.push(at);
            }
        }
    }
    findings
}

/// Whether a check of everything finds damage.
fn is_found(directory: &Path) -> bool {
    let checked = Repo::open(directory).and_then(|repo| repo.fsck(true, &mut |_| {}));
    checked.map_or(true, |found| found.is_damaged())
}

/// Makes again what can be made; whether that was possible.
fn repair(directory: &Path) -> bool {
    Repo::open(directory).is_ok_and(|repo| {
        let found = repo.fsck(true, &mut |_| {});
        found.is_ok_and(|found| repo.repair(&found).is_ok())
    })
}

/// The commits to ask about: the newest, the tip of a session, and the tip.
fn commits(directory: &Path) -> Vec<CommitHash> {
    let repo = Repo::open(directory).expect("opens");
    let tip = repo.resolve(&On::Head, "HEAD").expect("a commit");
    let log = repo.log(&tip, &LogOptions::default()).expect("a log");
    let sessions = repo.references("refs/sessions/claude-code").expect("refs");
    let sessions = sessions.into_iter().filter_map(|(_, value)| match value {
        RefValue::Commit(commit) => Some(commit),
        RefValue::Symbolic(_) => None,
    });
    let newest = log.iter().take(6).map(|row| row.hash);
    newest.chain(sessions).chain([tip]).collect()
}

/// SQLite's full-text index has no checksums, so a search can miss what the index has lost. It is
/// derived data, and nothing but `find` reads it.
fn is_known(owner: &str, what: &str) -> bool {
    owner.starts_with("search_") && what.starts_with("find: ")
}

/// A hundred times as many are every byte of the file.
#[test]
fn a_flipped_byte_is_never_a_wrong_answer() {
    let flips = conditions::laws(1_800).cases as usize;
    let mut told = String::new();
    for (what, places) in flip(flips) {
        let some = &places[..places.len().min(8)];
        told += &format!("{:6} {what} {some:?}\n", places.len());
    }
    assert!(told.is_empty(), "{flips} flips\n{told}");
}

/// What a person sees of it: the word, the advice, and the exit code.
#[test]
fn damage_is_told_and_ends_with_3() {
    let mut all = String::new();
    for (broken, sql) in [
        (
            "a body",
            "UPDATE bodies SET body = CAST(replace(CAST(body AS TEXT), 'one', 'two') AS BLOB)",
        ),
        (
            "a commit",
            "UPDATE commits SET canonical = replace(canonical, 'append', 'drop')",
        ),
        (
            "a ref",
            "UPDATE refs SET target = 2 WHERE name = 'refs/heads/main'",
        ),
        (
            "a preview",
            "UPDATE contents SET preview = 'something else'",
        ),
        (
            "a lost ref",
            "UPDATE refs SET name = 'refs/heads/maim' WHERE name = 'refs/heads/main'",
        ),
    ] {
        let sandbox =
            Sandbox::with_messages(&[("user", "one"), ("assistant", "two"), ("user", "3")]);
        let database = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
        // As a disk would: the bytes change, the checksums don't.
        let changed = database.execute(sql, []).expect("changed");
        assert!(changed > 0, "{broken}");
        drop(database);
        all += &format!("{broken}\n");
        for command in ["log", "compile"] {
            all += &format!("$ tract {command}\n{}", sandbox.tract(&[command]));
        }
    }
    insta::assert_snapshot!(all, @r"
    a body
    $ tract log
    exit code: 3
    --- stderr
    error: the repository is damaged: content d26e0d1683bc3f60c00ab3ee7e0b59c6423d5a05be0af3a6af4b952763cf3dce: its body is another one's
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    $ tract compile
    exit code: 3
    --- stderr
    error: the repository is damaged: content d26e0d1683bc3f60c00ab3ee7e0b59c6423d5a05be0af3a6af4b952763cf3dce: its body is another one's
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    a commit
    $ tract log
    exit code: 3
    --- stderr
    error: the repository is damaged: commit dbc1344e125b2c6e3bb0d926186c92124d743e00efa2e94c6d3d036c03660361: its text is another one's
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    $ tract compile
    exit code: 3
    --- stderr
    error: the repository is damaged: commit e62007d23ea436a2c1a48fbe74d87c9e61dcb83ab0924a9d6853a3c75af0ace1: its text is another one's
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    a ref
    $ tract log
    exit code: 3
    --- stderr
    error: the repository is damaged: a row of refs is not as it was written
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    $ tract compile
    exit code: 3
    --- stderr
    error: the repository is damaged: a row of refs is not as it was written
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    a preview
    $ tract log
    exit code: 3
    --- stderr
    error: the repository is damaged: a row of contents is not as it was written
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    $ tract compile
    exit code: 3
    --- stderr
    error: the repository is damaged: a row of contents is not as it was written
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    a lost ref
    $ tract log
    exit code: 3
    --- stderr
    error: the repository is damaged: a row of refs is not as it was written
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    $ tract compile
    exit code: 3
    --- stderr
    error: the repository is damaged: a row of refs is not as it was written
    hint: nothing was changed; tract fsck says what is damaged and what still compiles
    ");
}
