//! Opens a repository, lists its newest commits, says what a truncation would hide, hides it, and takes that back.
//!
//! `cargo run --example smaller -- DIRECTORY`; without a directory, in one that it makes and removes.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tract::{
    Call, CommitOptions, Draft, LogOptions, Message, Millis, On, Reach, Repo, Result, Role,
    SurgeryOptions, Truncate,
};

fn main() -> Result<()> {
    match std::env::args_os().nth(1) {
        Some(directory) => smaller(&Repo::open(Path::new(&directory))?),
        None => {
            let directory = made()?;
            let done = Repo::open(&directory).and_then(|repo| smaller(&repo));
            let _ = std::fs::remove_dir_all(&directory);
            done
        }
    }
}

fn smaller(repo: &Repo) -> Result<()> {
    let Some(tip) = repo.head(&On::Head)?.commit() else {
        println!("no commits yet");
        return Ok(());
    };
    let newest = LogOptions {
        limit: 5,
        ..LogOptions::default()
    };
    for row in repo.log(&tip, &newest)? {
        println!("{}  {:+} tokens", row.hash.short(), row.delta);
    }

    let truncate = Truncate::new(Reach::Keep(2));
    let dry_run = SurgeryOptions {
        dry_run: true,
        ..SurgeryOptions::default()
    };
    let call = Call::at(now(), "truncate --keep 2");
    let would = repo.carry_out(call, &truncate, &dry_run)?;
    println!("would hide {} messages", would.hidden.len());

    let done = repo.carry_out(call, &truncate, &SurgeryOptions::default())?;
    println!(
        "hid {}, {} are left",
        done.hidden.len(),
        done.after.messages
    );
    if !done.is_nothing() {
        let undone = repo.undo(None, now())?;
        println!("took back: {}", undone.operation.what);
    }
    Ok(())
}

/// A repository with six messages, in a directory of its own.
fn made() -> Result<PathBuf> {
    let directory = std::env::temp_dir().join(format!("tract-example-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(tract::Error::io(&directory))?;
    let (repo, _) = Repo::init(&directory)?;
    let texts = ["the task", "one", "two", "three", "four", "five"];
    let drafts = texts.map(|text| Draft::append(Message::text(Role::User, text)));
    repo.commit(
        Call::at(now(), "commit"),
        &drafts,
        &CommitOptions::default(),
    )?;
    Ok(directory)
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Millis(since.map_or(0, |since| since.as_millis() as i64))
}
