//! What writing costs: durable appends at turn 10,000, and a batch, beside bare SQLite.
//! `cargo bench --bench append`.
//!
//! Both sides wait for the disk (`synchronous=FULL`) and write the same texts in turn, A B A B.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tract::model::{Draft, Message, Role};
use tract::repo::{Call, CommitOptions, Repo};

const TURNS: usize = 10_000;
const APPENDS: usize = 400;
const BATCH: usize = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Memory that a temporary folder may lie in would wait for nothing.
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    std::fs::create_dir_all(&target)?;
    let folder = tempfile::tempdir_in(target)?;
    let (repo, _) = Repo::init(folder.path())?;
    let bare = Connection::open(folder.path().join("bare.db"))?;
    bare.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE messages (id INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    )?;
    let insert = "INSERT INTO messages (body) VALUES (?1)";

    let drafts: Vec<Draft> = (0..TURNS).map(said).collect();
    commit(&repo, &drafts)?;
    bare.execute_batch("BEGIN")?;
    for at in 0..TURNS {
        bare.execute(insert, [text(at)])?;
    }
    bare.execute_batch("COMMIT")?;

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for at in TURNS..TURNS + APPENDS {
        ours.push(timed(|| commit(&repo, &[said(at)]))?);
        theirs.push(timed(|| bare.execute(insert, [text(at)]).map(drop))?);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let share = theirs.as_secs_f64() / ours.as_secs_f64();
    println!("an append     {ours:>10.2?}  bare {theirs:.2?}: {share:.2} of its rate");

    let drafts: Vec<Draft> = (0..BATCH).map(|at| said(TURNS + APPENDS + at)).collect();
    let spent = timed(|| commit(&repo, &drafts))?;
    let rate = BATCH as f64 / spent.as_secs_f64();
    println!("a batch       {spent:>10.2?}  {rate:.0} messages a second");
    Ok(())
}

fn text(at: usize) -> String {
    format!("{at}: {}", "a message of some forty words or so ".repeat(6))
}

fn said(at: usize) -> Draft {
    Draft::append(Message::text(Role::User, text(at)))
}

fn commit(repo: &Repo, drafts: &[Draft]) -> Result<(), Box<dyn std::error::Error>> {
    repo.commit(Call::default(), drafts, &CommitOptions::default())?;
    Ok(())
}

fn timed<E>(work: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
