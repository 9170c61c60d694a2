//! One byte of a repository flipped at a time: what is damaged is refused or does no harm, and never
//! a wrong answer or a panic.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;
use serde_json::json;
use tract::Error;
use tract::compile::{RequestOptions, compile};
use tract::diff::DiffOptions;
use tract::hash::CommitHash;
use tract::ingest::{ExportOptions, export, session_format};
use tract::model::pattern::Pattern;
use tract::model::query::Query;
use tract::model::{Encoding, Millis, RefName, RefValue};
use tract::query::{FindOptions, LogOptions, RankedOptions};
use tract::repo::{On, Repo};
use tract::upkeep::Fsck;

use crate::conditions;
use crate::sandbox::{Sandbox, THE_FILE, is_left_out};
use crate::sessions::codex_files::Rollout;
use crate::upkeep::packs::alike_of;

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
        &["find", "-F", "long"],
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

/// The same with what only some repositories have, so that each table holds something.
fn with_every_kind_of_row() -> Sandbox {
    let sandbox = repository();
    let session = "claude-code/11111111-2222-4333-8444-555555555555";
    // Enough messages for a summary that is kept, and enough text for a pack.
    sandbox.write("alike.json", alike_of(72, 100, ""));
    sandbox.ok(&["import", "alike.json", "--as", "alike"]);
    // What is left of a session's file that a purge erased.
    let text = r#"[{"role":"user","content":"what is to be gone"},{"role":"user","content":"what stays"}]"#;
    sandbox.write("gone.json", text);
    sandbox.ok(&["import", "gone.json", "--as", "gone"]);
    // And of one that says who started it.
    let agent = Rollout::with(
        "01a1fe4f-b943-7ec0-94c0-c69316822e36",
        0,
        json!({"parent_thread_id": "01a1fe4f-33f9-7941-9c3c-4fe4330026ba"}),
    );
    let agent = agent.turn("and this is to be gone", "It is.");
    sandbox.write("agent.jsonl", agent.text());
    sandbox.ok(&["import", "agent.jsonl", "--as", "agent"]);
    sandbox.ok(&["purge", "--match", "to be gone", "--force"]);
    for command in [
        // What a purge leaves behind.
        &["checkout", "-b", "erased", session][..],
        &["commit", "-r", "user", "-m", "what is to be erased"],
        &["clear", "--purge", "--force"],
        // And what a collection does.
        &["gc", "--expire", "now"],
    ] {
        sandbox.ok(command);
    }
    // What nothing vouches for is set aside.
    let path = sandbox.work().join(".tract/tract.db");
    let database = Connection::open(&path).expect("opens");
    let spoil = "UPDATE tag_notes SET note = 'something else' WHERE tag = 'refs/tags/v1'";
    assert_eq!(database.execute(spoil, []).expect("spoilt"), 1);
    sandbox.tract(&["fsck", "--repair"]);
    drop(database);
    let stream = format!(
        "{}/tests/data/codex-exec/tools.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let stream = fs::read(stream).expect("readable");
    sandbox.tract_with(&["record", "--as", "recorded"], stream);
    // Who did something, where that is said.
    let mut command = sandbox.command(&["branch", "hers"]);
    command.env("TRACT_AUTHOR", "Mara");
    assert!(command.output().expect("it runs").status.success());
    // A reply whose usage record says more than tokens.
    let searched = r#"{"role":"assistant","content":"found","usage":{"input_tokens":9,"output_tokens":2,"server_tool_use":{"web_search_requests":2}}}"#;
    sandbox.tract_with(&["commit", "--json", "-"], searched);
    // A session whose client says what all of its requests came to.
    let stated = r#"{"type":"user","uuid":"0000000a-0000-4000-8000-000000000000","parentUuid":null,"sessionId":"5e551030-2222-4333-8444-555555555555","cwd":"/w","timestamp":"2026-09-03T09:00:10.000Z","message":{"role":"user","content":"hello"}}
{"type":"cost-state","sessionId":"5e551030-2222-4333-8444-555555555555","modelUsage":{"claude-opus-4-8":{"inputTokens":9,"outputTokens":2}}}
"#;
    sandbox.write("stated.jsonl", stated);
    sandbox.ok(&["import", "stated.jsonl", "--as", "stated"]);
    // A tool's file that cannot be read.
    let broken = sandbox.home().join(".claude/projects/-w/broken.jsonl");
    fs::create_dir_all(broken.parent().expect("it has one")).expect("made");
    fs::write(&broken, "{\"torn").expect("written");
    for command in [
        &["watch", "--once"][..],
        &["checkout", "main"],
        // A merge: a commit with a second parent, which is a copy of another.
        &["branch", "aside"],
        &[
            "--on",
            "aside",
            "commit",
            "-r",
            "assistant",
            "-m",
            "said aside",
        ],
        &["commit", "-r", "user", "-m", "said meanwhile"],
        &["merge", "aside", "--messages"],
        // A session on one's own branch, and one that goes on elsewhere.
        &["import", "rollout.jsonl", "--onto", "main"],
        &["resume", session],
        &["tag", "-m", "another note", "v2"],
        &["truncate", "--keep", "6"],
        &["compact", "-m", "another summary", "--keep", "2"],
        &["restore", "HEAD"],
        &["status"],
        &["branch"],
        &["log", "-n", "0"],
        &["find", "-F", "flour"],
        &["--on", "alike", "status"],
        &["cost"],
        &["fsck"],
    ] {
        sandbox.ok(command);
    }
    let database = Connection::open(&path).expect("opens");
    let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
    database.query_row(fold, [], |_| Ok(())).expect("folds");
    let empty = empty_tables(&database);
    // A row stands there only between a purge and its end.
    let what_to_do = "no row of such a table would be damaged here: let a command above write one";
    // And a dictionary is made by older programs alone.
    assert_eq!(empty, ["dictionaries", "unscrubbed"], "{what_to_do}");
    sandbox
}

/// The tables that hold nothing.
fn empty_tables(database: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table'";
    let mut names = database.prepare(sql).expect("SQL");
    let names = names.query_map([], |row| row.get(0)).expect("reads");
    let names: Vec<String> = names.map(|name| name.expect("a name")).collect();
    let is_empty = |name: &String| {
        let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM {name})");
        database
            .query_row(&sql, [], |row| row.get(0))
            .expect("reads")
    };
    names.into_iter().filter(is_empty).collect()
}

const PAGE: usize = 4096;

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
    let found = repo.find_messages(&On::Head, &find, &mut |_| Ok(()));
    tell("find".into(), told(found));
    let ranked = RankedOptions::new(Query::parse("three").expect("a query"));
    let found = repo.find_ranked(&On::Head, &ranked, &mut |_| Ok(()));
    tell("find by words".into(), told(found));
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
    for pair in commits.windows(2).take(3) {
        let name = format!("diff {}", pair[0].short());
        let options = DiffOptions::default();
        let diff = repo.diff(Some(&pair[1]), Some(&pair[0]), &options, encoding);
        tell(name, told(diff.map(|diff| diff.changes)));
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
                prices: None,
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
        Error::Damaged { .. }
            | Error::ForeignDatabase { .. }
            | Error::OlderDatabase { .. }
            | Error::NewerDatabase { .. }
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
fn owners(path: &Path) -> BTreeMap<usize, String> {
    let database = Connection::open(path).expect("opens");
    let mut pages = database
        .prepare("SELECT pageno, name FROM dbstat")
        .expect("SQL");
    let pages = pages.query_map([], |row| Ok((row.get::<_, i64>(0)? as usize, row.get(1)?)));
    pages
        .expect("reads")
        .map(|page| page.expect("a row"))
        .collect()
}

/// What the byte at this place belongs to.
fn owner(owners: &BTreeMap<usize, String>, at: usize) -> &str {
    owners.get(&(at / PAGE + 1)).map_or("free", String::as_str)
}

/// How many times as many flips as a law in full has are every byte of the file.
const EVERY: usize = 100;

/// Of what no page uses, one byte in so many is tried all the same.
const UNUSED_EACH: usize = 64;

/// The bytes to flip and the bit of each: of so many, where `full` are a hundredth of all. Some are evenly
/// spread, from a place on that is left to chance; all of them are every byte in use, and twice as many
/// every such byte in two of its bits.
fn places(flips: usize, full: usize, bytes: &[u8]) -> Vec<(usize, u32)> {
    let len = bytes.len();
    let chance = conditions::chance() as usize % len;
    let bit = |at: usize, round: usize| ((at.wrapping_mul(5) + 3 * round + chance) % 8) as u32;
    match flips / (full * EVERY) {
        0 => {
            let step = |number: usize| (chance + number * len / flips) % len;
            let places = (0..flips).map(|number| (step(number), bit(number, 0)));
            places.collect()
        }
        rounds => {
            let unused: Vec<Range<usize>> = (0..len)
                .step_by(PAGE)
                .map(|page| unused(page, &bytes[page..page + PAGE]))
                .collect();
            let tried = (0..len).filter(|at| {
                !unused[at / PAGE].contains(at) || at % UNUSED_EACH == chance % UNUSED_EACH
            });
            let all = tried.flat_map(|at| (0..rounds).map(move |round| (at, round)));
            all.map(|(at, round)| (at, bit(at, round))).collect()
        }
    }
}

/// Where, in bytes of the file, a page of a b-tree that begins at `start` holds nothing: between the last pointer
/// to a cell and the first cell. SQLite's file format gives these bytes no meaning (its section 1.6), so flipped they
/// are the same database.
fn unused(start: usize, page: &[u8]) -> Range<usize> {
    let header = if start == 0 { 100 } else { 0 };
    let number = |at: usize| {
        usize::from(u16::from_be_bytes([
            page[header + at],
            page[header + at + 1],
        ]))
    };
    let pointers = match page[header] {
        2 | 5 => 12,
        10 | 13 => 8,
        _ => return 0..0,
    };
    let end = header + pointers + 2 * number(3);
    start + end..start + number(5).max(end)
}

/// Flips so many bytes, one at a time, and says where what went wrong.
fn flip(flips: usize, full: usize) -> BTreeMap<String, Vec<(usize, u32)>> {
    let sandbox = with_every_kind_of_row();
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
    let places = places(flips, full, &bytes);
    let done = AtomicUsize::new(0);
    let findings: Mutex<BTreeMap<String, Vec<(usize, u32)>>> = Mutex::default();
    let flip = |at: usize, bit: u32| {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << bit;
        let folder = fresh(&flipped);
        let wrong = catch_unwind(AssertUnwindSafe(|| {
            what_is_wrong(folder.path(), &commits, &right)
        }));
        let wrong = wrong.unwrap_or_else(|_| vec!["panic".to_owned()]);
        let owner = owner(&owners, at);
        let mut findings = findings.lock().expect("no panic");
        for what in wrong.iter().filter(|what| !is_known(owner, at, what)) {
            // One line a kind of question, whichever commit it was about.
            let words = what.lines().next().unwrap_or_default().split(' ');
            let words = words.filter(|word| !names.iter().any(|name| word.starts_with(name)));
            let what: String = words.collect::<Vec<_>>().join(" ");
            let what = what.chars().take(90).collect::<String>();
            let places = findings.entry(format!("{owner}: {what}")).or_default();
            if places.last() != Some(&(at, bit)) {
                places.push((at, bit));
            }
        }
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(10_000) {
            eprintln!("{done} of {} flips: {findings:?}", places.len());
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for first in 0..threads {
            let (places, flip) = (&places, &flip);
            scope.spawn(move || {
                let own = places.iter().skip(first).step_by(threads);
                own.for_each(|(at, bit)| flip(*at, *bit));
            });
        }
    });
    findings.into_inner().expect("no panic")
}

/// What of a damaged repository's answers is wrong, before and after a repair.
fn what_is_wrong(directory: &Path, commits: &[CommitHash], right: &Answers) -> Vec<String> {
    let answers = ask(directory, commits);
    let answered = answers.iter().filter(|(_, answer)| answer.is_ok());
    let answered: Vec<String> = answered.map(|(name, _)| name.clone()).collect();
    let refused = answered.len() < right.len();
    let mut wrong = wrong(right, answers);
    let found = Repo::open(directory).and_then(|repo| {
        let found = repo.fsck(true, &mut |_| Ok(()))?;
        Ok((repo, found))
    });
    let is_found = found.as_ref().map_or(true, |(_, found)| found.is_damaged());
    if refused && !is_found {
        wrong.push("fsck: nothing found".to_owned());
    }
    let is_repaired = |(repo, found): (Repo, Fsck)| repo.repair(&found).is_ok();
    if is_found && found.is_ok_and(is_repaired) {
        let after = ask(directory, commits);
        let lost = answered.iter().filter(|name| {
            !matches!((after.get(*name), right.get(*name)),
                (Some(Ok(now)), Some(Ok(right))) if now == right)
        });
        wrong.extend(lost.map(|name| format!("{name}: worse after a repair")));
    }
    wrong
}

/// Whether a check of everything finds damage.
fn is_found(directory: &Path) -> bool {
    let checked = Repo::open(directory).and_then(|repo| repo.fsck(true, &mut |_| Ok(())));
    checked.map_or(true, |found| found.is_damaged())
}

/// Makes again what can be made; whether that was possible.
fn repair(directory: &Path) -> bool {
    Repo::open(directory).is_ok_and(|repo| {
        let found = repo.fsck(true, &mut |_| Ok(()));
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

/// What a check of everything finds, and a question does not. SQLite's full-text index has no checksums, so a
/// search can miss what the index, or its table in the schema, has lost, and what the index of who appends a message
/// has; both are derived data, and nothing but `find` is told by them which messages there are. And how many rows
/// a page has stands in its header: the last ones of a table whose rows may be missing are gone then, and
/// nothing beside them tells.
fn is_known(owner: &str, at: usize, what: &str) -> bool {
    let is_search = owner.starts_with("search_")
        || ["sqlite_schema", "commits_by_append", "words_by_place"].contains(&owner);
    is_search && what.starts_with("find")
        || may_miss_rows(owner, at) && what.ends_with("another answer")
}

/// Whether a flip here can take rows away of which nothing else tells.
fn may_miss_rows(owner: &str, at: usize) -> bool {
    let tables = ["usage", "commit_records", "sessions", "unread", "followed"];
    tables.contains(&owner) && (3..5).contains(&(at % PAGE))
}

/// A hundred times as many are every byte of the file that is in use.
#[test]
fn a_flipped_byte_is_never_a_wrong_answer() {
    if is_left_out(THE_FILE) {
        return;
    }
    const FULL: u32 = 1_800;
    let flips = conditions::slowly(FULL);
    let mut told = String::new();
    for (what, places) in flip(flips, FULL as usize) {
        let some = &places[..places.len().min(8)];
        told += &format!("{:6} {what} {some:?}\n", places.len());
    }
    assert!(told.is_empty(), "{flips} flips\n{told}");
}

/// What a person asks of a repository by reading it.
const QUESTIONS: [&[&str]; 9] = [
    &["log", "-n", "0"],
    &["show", "HEAD"],
    &["compile"],
    &["compile", "v1", "--format", "anthropic"],
    &["export", "other"],
    &["status"],
    &["find", "-F", "flour"],
    &["find", "flour"],
    &["diff", "HEAD~3", "HEAD"],
];

/// The program has ways of its own to what it says: what it lists, names and draws.
#[test]
fn the_program_gives_no_other_answer_after_a_flipped_byte() {
    if is_left_out(THE_FILE) {
        return;
    }
    const FULL: u32 = 100;
    let sandbox = with_every_kind_of_row();
    let path = sandbox.work().join(".tract/tract.db");
    let bytes = fs::read(&path).expect("a file");
    let owners = owners(&path);
    let ask = |question: &[&str]| sandbox.command(question).output().expect("it runs");
    let right: Vec<_> = QUESTIONS.iter().map(|question| ask(question)).collect();
    let mut wrong = String::new();
    let flips = conditions::laws(FULL).cases as usize;
    // No more than a sample, however long the run: all of them would take a day.
    let flips = flips.min(FULL as usize * EVERY - 1);
    for (at, bit) in places(flips, FULL as usize, &bytes) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << bit;
        for (question, right) in QUESTIONS.iter().zip(&right) {
            for beside in ["tract.db-wal", "tract.db-shm"] {
                drop(fs::remove_file(path.with_file_name(beside)));
            }
            fs::write(&path, &flipped).expect("written");
            let told = ask(question);
            let error = String::from_utf8_lossy(&told.stderr);
            let owner = owner(&owners, at);
            let is_known = may_miss_rows(owner, at)
                || question[0] == "find"
                    && (owner.starts_with("search_") || owner == "words_by_place");
            let is_right = match told.status.code() {
                Some(0 | 1) if is_known => true,
                Some(0) => told.stdout == right.stdout,
                Some(3) => error.starts_with("error: ") && !error.contains("panicked"),
                _ => false,
            };
            if !is_right {
                let code = told.status.code();
                wrong +=
                    &format!("{owner}, byte {at}, bit {bit}: {question:?}: {code:?} {error}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{flips} flips\n{wrong}");
}

#[test]
fn a_repair_keeps_what_only_a_checkpoint_tells() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let right = sandbox.ok(&["compile"]);
    let database = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
    let lose = "UPDATE commits SET canonical = replace(canonical, 'append', 'drop') WHERE id = 1";
    assert_eq!(database.execute(lose, []).expect("changed"), 1);
    drop(database);
    assert_eq!(sandbox.ok(&["compile"]), right);
    let found = sandbox.command(&["fsck", "--repair"]).output();
    assert_eq!(found.expect("it runs").status.code(), Some(3));
    assert_eq!(sandbox.ok(&["compile"]), right);
}

/// How messages use tools is kept beside them, and made of them again where it is missing.
#[test]
fn a_listing_needs_no_row_of_how_tools_are_used() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let log = ["log", "-n", "0", "-v"];
    let right = sandbox.ok(&log);
    let database = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
    assert!(
        database
            .execute("DELETE FROM tool_uses", [])
            .expect("changed")
            > 0
    );
    drop(database);
    assert_eq!(sandbox.ok(&log), right);
}

/// What a row alone tells is not passed over where the row is damaged; what comes in does not depend on it.
#[test]
fn what_a_status_lists_is_damage_where_its_row_was_changed() {
    if is_left_out(THE_FILE) {
        return;
    }
    for change in [
        "UPDATE unread SET why = replace(why, 'broken', 'brokmn')",
        "UPDATE followed SET time = time - 1000",
    ] {
        let sandbox = with_every_kind_of_row();
        let right = sandbox.ok(&["status"]);
        let database = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
        assert!(database.execute(change, []).expect("changed") > 0);
        drop(database);
        let told = sandbox.command(&["status"]).output().expect("it runs");
        assert_eq!(told.status.code(), Some(3), "{change}: {told:?}");
        let mut watch = sandbox.command(&["watch", "--once"]);
        let told = watch.output().expect("it runs");
        assert_ne!(told.status.code(), Some(3), "{change}: {told:?}");
        sandbox.tract(&["fsck", "--repair"]);
        sandbox.tract(&["watch", "--once"]);
        let lines = |told: &str| told.lines().count();
        assert_eq!(lines(&sandbox.ok(&["status"])), lines(&right), "{change}");
    }
}

/// Words lead to a message by its row's number; a page that lost the way to the row says nothing of it.
#[test]
fn a_message_that_words_lead_to_is_never_left_out_of_what_is_found() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    sandbox.ok(&["find", "flour"]);
    let path = sandbox.work().join(".tract/tract.db");
    let database = Connection::open(path).expect("opens");
    let gone = "DELETE FROM contents WHERE preview LIKE 'flour %'";
    database
        .execute_batch("PRAGMA foreign_keys = OFF")
        .expect("off");
    assert!(database.execute(gone, []).expect("changed") > 0);
    drop(database);
    let told = sandbox
        .command(&["find", "flour"])
        .output()
        .expect("it runs");
    assert_eq!(told.status.code(), Some(3), "{told:?}");
}

/// The same of a call, by which what is found of its result is told.
#[test]
fn a_call_that_no_index_leads_to_is_not_left_out_of_what_is_told() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let right = sandbox.ok(&["find", "-F", "flour 3 kg"]);
    assert!(right.contains("shell cat stock.txt"), "{right}");
    let path = sandbox.work().join(".tract/tract.db");
    let database = Connection::open(path).expect("opens");
    let lose = "UPDATE contents SET hash = zeroblob(32) WHERE id IN
        (SELECT content FROM tool_uses WHERE uses LIKE '%stock.txt%')";
    assert!(database.execute(lose, []).expect("changed") > 0);
    drop(database);
    let told = sandbox.command(&["find", "-F", "flour 3 kg"]).output();
    assert_eq!(told.expect("it runs").status.code(), Some(3));
}

/// A row whose name says that it stands behind all others ends nobody's list of refs.
#[test]
fn a_ref_that_stands_out_of_order_hides_no_other() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let path = sandbox.work().join(".tract/tract.db");
    let log = ["log", "-n", "3"];
    let right = sandbox.ok(&log);
    let bytes = fs::read(&path).expect("a file");
    let owners = owners(&path).into_iter();
    let mut refused = 0;
    for (page, _) in owners.filter(|(_, owner)| owner == "refs") {
        let start = (page - 1) * PAGE;
        for name in memchr::memmem::find_iter(&bytes[start..start + PAGE], b"refs/") {
            let mut flipped = bytes.clone();
            flipped[start + name + 3] = b'{';
            fs::write(&path, flipped).expect("written");
            let told = sandbox.command(&log).output().expect("it runs");
            match told.status.code() {
                Some(3) => refused += 1,
                // What was a row once is none.
                _ => assert_eq!(String::from_utf8_lossy(&told.stdout), right, "{name}"),
            }
        }
    }
    assert!(refused > 0, "no ref was found");
}

/// Of an erased message only the index and the seal tell the name.
#[test]
fn a_repair_gives_an_erased_message_its_name_back() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let ask = ["find", "flour"];
    let right = sandbox.ok(&ask);
    let path = sandbox.work().join(".tract/tract.db");
    let database = Connection::open(&path).expect("opens");
    let name = "SELECT hash FROM contents WHERE preview = '[purged]' ORDER BY id LIMIT 1";
    let name: Vec<u8> = database
        .query_row(name, [], |row| row.get(0))
        .expect("a tombstone");
    drop(database);
    let bytes = fs::read(&path).expect("a file");
    let owners = owners(&path).into_iter();
    let mut pages = owners.filter(|(_, owner)| owner == "contents");
    let at = pages.find_map(|(page, _)| {
        let start = (page - 1) * PAGE;
        let found = memchr::memmem::find(&bytes[start..start + PAGE], &name)?;
        Some(start + found)
    });
    let mut flipped = bytes.clone();
    flipped[at.expect("its row")] ^= 4;
    fs::write(&path, flipped).expect("written");
    let told = sandbox.command(&["fsck"]).output().expect("it runs");
    assert_eq!(told.status.code(), Some(3), "{told:?}");
    sandbox.ok(&["fsck", "--repair"]);
    sandbox.ok(&["fsck"]);
    assert_eq!(sandbox.ok(&ask), right);
}

#[test]
fn a_repair_makes_the_listing_of_an_erased_message_again() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let right = sandbox.ok(&["find", "flour"]);
    let path = sandbox.work().join(".tract/tract.db");
    let database = Connection::open(path).expect("opens");
    let change = "UPDATE contents SET preview = '[purge?' WHERE preview = '[purged]'";
    assert!(database.execute(change, []).expect("changed") > 0);
    drop(database);
    let told = sandbox.command(&["fsck"]).output().expect("it runs");
    assert_eq!(told.status.code(), Some(3), "{told:?}");
    sandbox.ok(&["fsck", "--repair"]);
    sandbox.ok(&["fsck"]);
    assert_eq!(sandbox.ok(&["find", "flour"]), right);
}

#[test]
fn an_index_that_lost_what_was_taken_over_is_damage() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let path = sandbox.work().join(".tract/tract.db");
    let right = sandbox.ok(&["status"]);
    let bytes = fs::read(&path).expect("a file");
    let index = owners(&path).into_iter();
    let mut index = index.filter(|(_, owner)| owner == "adopted_by_session");
    let (page, _) = index.next().expect("the index has a page");
    let start = (page - 1) * PAGE;
    let rows = memchr::memmem::find_iter(&bytes[start..start + PAGE], b"refs/sessions/codex/");
    let mut refused = 0;
    for row in rows {
        let mut flipped = bytes.clone();
        flipped[start + row] ^= 1;
        fs::write(&path, flipped).expect("written");
        let told = sandbox.command(&["status"]).output().expect("it runs");
        match told.status.code() {
            Some(3) => refused += 1,
            // What was a row once is none.
            _ => assert_eq!(String::from_utf8_lossy(&told.stdout), right),
        }
    }
    assert!(refused > 0, "no row of it was found");
}

/// What a person sees of it: the word, the advice, and the exit code.
#[test]
fn damage_is_told_and_ends_with_3() {
    if is_left_out(THE_FILE) {
        return;
    }
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
    insta::assert_snapshot!(all, @"
    a body
    $ tract log
    e62007d  :3  2026-03-14 12:04:00  append  user       +5  18  (HEAD -> main)  3
    8822737  :2  2026-03-14 12:03:00  append  assistant  +5  13  two
    dbc1344  :1  2026-03-14 12:02:00  append  user       +8   8  one
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

#[test]
fn a_lineage_that_is_lost_is_damage() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = repository();
    let file = sandbox.work().join(".tract/tract.db");
    let database = Connection::open(&file).expect("opens");
    let sql = "PRAGMA foreign_keys = OFF; DELETE FROM lineages;";
    database.execute_batch(sql).expect("deleted");
    drop(database);
    let repo = Repo::open(&sandbox.work().join(".tract")).expect("it opens");
    let lost = repo.resolve(&On::Head, "HEAD~2").map(drop);
    assert!(matches!(lost, Err(Error::Damaged { .. })), "{lost:?}");
}

/// Where a page says where its rows begin, a flip makes another number of a source's.
#[test]
fn a_source_that_is_lost_is_damage() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let path = sandbox.work().join(".tract/tract.db");
    sandbox.ok(&["branch"]);
    let mut bytes = fs::read(&path).expect("a file");
    let owners = owners(&path).into_iter();
    let mut pages = owners.filter(|(_, owner)| owner == "sources");
    let (page, _) = pages.next().expect("the table has a page");
    let start = (page - 1) * PAGE;
    // The pointers to rows follow the header of eight bytes; the fourth of it is how many there are.
    let last = start + 8 + 2 * (usize::from(bytes[start + 4]) - 1) + 1;
    bytes[last] ^= 2;
    fs::write(&path, bytes).expect("written");
    for command in [&["branch"][..], &["branch", "--gone"]] {
        let told = sandbox.command(command).output().expect("it runs");
        let error = String::from_utf8_lossy(&told.stderr);
        assert_eq!(told.status.code(), Some(3), "{command:?}: {error}");
    }
}

/// Of a row with one damaged column an index knows better: which operation moved a ref.
#[test]
fn a_repair_asks_the_indexes_what_a_damaged_column_was() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let right = sandbox.ok(&["reflog"]) + &sandbox.ok(&["export", "other"]);
    let path = sandbox.work().join(".tract/tract.db");
    let mut bytes = fs::read(&path).expect("a file");
    let owners = owners(&path);
    // As a disk would: the table's row changes, the index and the checksum don't.
    let database = Connection::open(&path).expect("opens");
    let rows = "SELECT max(operation) FROM reflog";
    let newest: u8 = database
        .query_row(rows, [], |row| row.get(0))
        .expect("a row");
    drop(database);
    let start = owners
        .iter()
        .find(|(_, owner)| *owner == "reflog")
        .expect("a page")
        .0;
    let page = (start - 1) * PAGE..start * PAGE;
    // Its row: the number, then the name.
    let held = [&[newest][..], b"refs/heads/main"].concat();
    let at = memchr::memmem::find(&bytes[page.clone()], &held).expect("the newest move");
    bytes[page.start + at] ^= 16;
    fs::write(&path, bytes).expect("written");
    let told = sandbox
        .command(&["fsck", "--repair"])
        .output()
        .expect("it runs");
    assert_eq!(told.status.code(), Some(0));
    assert_eq!(
        sandbox.ok(&["reflog"]) + &sandbox.ok(&["export", "other"]),
        right
    );
    assert!(!is_found(path.parent().expect("a folder")));
}

/// Two rows of an index that stand in each other's place: what is asked for one is never answered with the other.
#[test]
fn a_count_that_stands_in_anothers_place_is_counted_anew() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let right = sandbox.ok(&["log", "-n", "0", "alike"]);
    let path = sandbox.work().join(".tract/tract.db");
    let bytes = fs::read(&path).expect("a file");
    let start = owners(&path)
        .into_iter()
        .find(|(_, owner)| owner == "counts")
        .expect("a page")
        .0;
    let start = (start - 1) * PAGE;
    let rows = usize::from(bytes[start + 4]);
    let pointer = |at: usize| start + 8 + 2 * at;
    let last = [bytes[pointer(rows - 1)], bytes[pointer(rows - 1) + 1]];
    for at in conditions::sample((0..rows - 1).collect()) {
        let mut moved = bytes.clone();
        moved[pointer(at)..pointer(at) + 2].copy_from_slice(&last);
        fs::write(&path, moved).expect("written");
        for beside in ["tract.db-wal", "tract.db-shm"] {
            drop(fs::remove_file(path.with_file_name(beside)));
        }
        let told = sandbox
            .command(&["log", "-n", "0", "alike"])
            .output()
            .expect("it runs");
        if told.status.code() == Some(0) {
            assert_eq!(String::from_utf8_lossy(&told.stdout), right, "row {at}");
        }
    }
}

/// Indexes that alone say which rows there are: of a path, of what changed it, of what an operation moved, of a kept
/// file's blocks. An entry that is lost, or given twice in another's place, is damage wherever it is met.
#[test]
fn an_index_that_lost_an_entry_changes_no_answer() {
    if is_left_out(THE_FILE) {
        return;
    }
    /// How many entries of a page are tried, about.
    const ENTRIES: usize = 4;
    let sandbox = with_every_kind_of_row();
    let path = sandbox.work().join(".tract/tract.db");
    let bytes = fs::read(&path).expect("a file");
    let clean = tempfile::tempdir().expect("a folder");
    fs::write(clean.path().join("tract.db"), &bytes).expect("written");
    let commits = commits(clean.path());
    let right = ask(clean.path(), &commits);
    let mut refused = BTreeMap::from([
        ("commits_by_place", 0),
        ("commits_not_append", 0),
        ("reflog_by_operation", 0),
        ("source_blocks_by_place", 0),
    ]);
    for (page, owner) in owners(&path) {
        let start = (page - 1) * PAGE;
        // Pages that lead to others are left out.
        let Some(refused) = refused.get_mut(&*owner).filter(|_| bytes[start] == 10) else {
            continue;
        };
        let rows = usize::from(bytes[start + 4]);
        let pointer = |row: usize| start + 8 + 2 * row;
        for row in (0..rows).rev().step_by(rows / ENTRIES + 1) {
            let mut lost = bytes.clone();
            lost.copy_within(pointer(row + 1)..pointer(rows), pointer(row));
            lost[start + 4] -= 1;
            let others = [row.wrapping_sub(1), row + 1, rows - 1];
            let others = others
                .into_iter()
                .filter(|other| *other < rows && *other != row);
            let twice = others.map(|other| {
                let mut twice = bytes.clone();
                twice.copy_within(pointer(other)..pointer(other + 1), pointer(row));
                twice
            });
            for changed in twice.chain([lost]) {
                let folder = tempfile::tempdir().expect("a folder");
                fs::write(folder.path().join("tract.db"), changed).expect("written");
                let answers = ask(folder.path(), &commits);
                *refused += answers.values().filter(|answer| answer.is_err()).count();
                assert_eq!(
                    wrong(&right, answers),
                    Vec::<String>::new(),
                    "{owner}, {row}"
                );
            }
        }
    }
    assert!(refused.values().all(|refused| *refused > 0), "{refused:?}");
}

/// A checkpoint tells of a run of messages by its ends: one that is lost between them is not passed over.
#[test]
fn a_message_that_is_lost_is_never_left_out_of_a_request() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let right = sandbox.ok(&["compile"]);
    let path = sandbox.work().join(".tract/tract.db");
    let bytes = fs::read(&path).expect("a file");
    let mut refused = 0;
    for id in 1..30 {
        for beside in ["tract.db-wal", "tract.db-shm"] {
            drop(fs::remove_file(path.with_file_name(beside)));
        }
        fs::write(&path, &bytes).expect("written");
        let database = Connection::open(&path).expect("opens");
        let sql =
            format!("PRAGMA foreign_keys = OFF; UPDATE contents SET id = 9000 WHERE id = {id}");
        database.execute_batch(&sql).expect("changed");
        drop(database);
        let told = sandbox.command(&["compile"]).output().expect("it runs");
        match told.status.code() {
            Some(3) => refused += 1,
            code => assert_eq!(
                (code, String::from_utf8_lossy(&told.stdout)),
                (Some(0), right.as_str().into()),
                "{id}"
            ),
        }
    }
    assert!(refused > 5, "{refused}");
}

/// A key that is damaged stands out of its order, where a search for it does not lead.
#[test]
fn a_repair_takes_out_a_row_that_is_out_of_its_order() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_every_kind_of_row();
    let original = sandbox.work().join(".tract/tract.db");
    let bytes = fs::read(&original).expect("a file");
    let owners = owners(&original);
    let name = b"refs/sessions/codex/";
    let is_ref = |at: &usize| owner(&owners, *at) == "refs";
    let places = (0..bytes.len() - name.len()).filter(|at| bytes[*at..].starts_with(name));
    let place = places.into_iter().find(is_ref).expect("a ref's name");
    let folder = tempfile::tempdir().expect("a folder");
    let mut flipped = bytes;
    // `refs/sessionq/codex/…`
    flipped[place + 12] ^= 2;
    fs::write(folder.path().join("tract.db"), &flipped).expect("written");
    assert!(is_found(folder.path()) && repair(folder.path()));
    assert!(!is_found(folder.path()), "it is whole again");
}
