//! The checker in `tests/check_repository.py`, made from `docs/object-format.md` alone, agrees with
//! `tract fsck`.

use std::fs;

use tract::formats::FORMATS;
use tract::repo::Repo;

use crate::conditions;
use crate::sandbox::{Sandbox, THE_FILE, is_left_out};
use crate::upkeep::damage::repository;

/// What `fsck` says of a repository's directory, line by line; an error where it cannot even be opened.
fn faults(directory: &std::path::Path) -> Result<Vec<String>, tract::Error> {
    let repo = Repo::open(directory)?;
    let found = repo.fsck(true, &mut |_| Ok(()))?;
    let mut lines: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
    lines.extend(found.log.iter().map(ToString::to_string));
    let lost = found
        .refs
        .iter()
        .filter_map(|(name, lost)| lost.as_ref().map(|_| name));
    lines.extend(lost.map(|name| format!("{name} is lost")));
    Ok(lines)
}

#[test]
fn what_is_sound_is_sound_to_a_second_reader() {
    if is_left_out(THE_FILE) {
        return;
    }
    // Every kind of message and of step that an import makes.
    let imported = Sandbox::new();
    for format in FORMATS {
        let folder = if format.bare_messages {
            "chat"
        } else {
            format.name
        };
        let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data")
            .join(folder);
        let data = data.to_str().expect("UTF-8");
        drop(imported.tract(&["import", data]));
    }
    // A HEAD that went elsewhere, and totals.
    let moved = repository();
    moved.ok(&["checkout", "-b", "side", "HEAD~2"]);
    moved.ok(&["checkout", "main"]);
    moved.ok(&["log", "-n", "0"]);
    // A context of 64 messages is summed up, with what stands out.
    let summed = Sandbox::empty();
    summed.ok(&["init"]);
    let lines: String = (0..64)
        .map(|at| format!(r#"{{"role":"user","content":"message {at}"}}"#) + "\n")
        .collect();
    summed.tract_with(&["commit", "--batch", "-"], lines);
    summed.ok(&["status"]);
    assert_ne!(summed.query("SELECT * FROM summaries").len(), 0);
    // Where another repository was seen to be.
    let fetched = Sandbox::empty();
    fetched.ok(&["init"]);
    let there = summed.work();
    fetched.ok(&["remote", "add", "o", there.to_str().expect("UTF-8")]);
    fetched.ok(&["fetch", "o"]);
    // Directories with a HEAD of their own.
    let many = Sandbox::empty();
    many.ok(&["init"]);
    many.ok(&["config", "head.of", "directory"]);
    let below = many.work().join("a");
    fs::create_dir(&below).expect("made");
    for arguments in [
        &["commit", "-r", "user", "-m", "x"][..],
        &["checkout", "-b", "y"],
        &["undo"],
    ] {
        let mut command = many.command(arguments);
        let output = command.current_dir(&below).output().expect("it runs");
        assert!(output.status.success(), "{}", many.told(&output));
    }
    for sandbox in [
        repository(),
        Sandbox::new(),
        imported,
        moved,
        summed,
        fetched,
        many,
    ] {
        sandbox.ok(&["fsck"]);
        let database = sandbox.work().join(".tract/tract.db");
        if let Some((sound, _, said)) = conditions::second_reader(&database) {
            assert!(sound, "{said}");
        }
    }
}

/// Laws that make no repository, or only one on a server, which is no file.
const WITHOUT: [&str; 4] = [
    "src/laws/beside.rs",
    "src/query/audit/tests.rs",
    "src/repo/weigh.rs",
    "src/rewrite/bisect/tests.rs",
];

/// Each law with histories of its own has them read by the second reader. A law that comes new is one of these, or
/// is named above.
#[test]
fn every_law_of_histories_is_read_by_the_second_reader() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let floors = [
        "ingest", "laws", "query", "repo", "rewrite", "sync", "upkeep",
    ];
    let mut folders = floors.map(|floor| root.join("src").join(floor)).to_vec();
    let mut without = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("reads") {
            let path = entry.expect("reads").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let is_law = text.contains("conditions::laws");
            if is_law && !text.contains("second_read") {
                let name = path.strip_prefix(root).expect("in it");
                without.push(name.display().to_string());
            }
        }
    }
    without.sort();
    assert_eq!(without, WITHOUT);
}

#[test]
fn what_was_purged_is_no_damage_to_a_second_reader() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "a secret"), ("assistant", "two")]);
    sandbox.ok(&["clear", "--purge", "--force"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "a secret"]);
    let database = sandbox.work().join(".tract/tract.db");
    if let Some((sound, _, said)) = conditions::second_reader(&database) {
        assert!(sound, "{said}");
    }
}

/// A flipped byte is damage to both or to neither, but for what only the program can know: the
/// search index, which it makes alone, and the schema.
#[test]
fn a_flipped_byte_is_damage_to_both_readers_or_to_neither() {
    if is_left_out(THE_FILE) {
        return;
    }
    let bytes = fs::read(repository().work().join(".tract/tract.db")).expect("a file");
    let flips = conditions::laws(80).cases as usize;
    let mut told = Vec::new();
    for number in 0..flips.min(bytes.len()) {
        let at = number * bytes.len() / flips + number % 61;
        let mut flipped = bytes.clone();
        let Some(byte) = flipped.get_mut(at) else {
            continue;
        };
        *byte ^= 1 << (number % 8);
        let folder = tempfile::tempdir().expect("a folder");
        let database = folder.path().join("tract.db");
        fs::write(&database, flipped).expect("written");
        let Some((sound, _, said)) = conditions::second_reader(&database) else {
            return;
        };
        let faults = faults(folder.path());
        // A rule of a table is read by an older SQLite as late as it can, so the two may differ.
        if let Err(error) = &faults
            && error.to_string().contains("malformed database schema")
        {
            continue;
        }
        let schema = [" is another one", " is not ours", " is missing"];
        let alone = |line: &String| {
            line.contains("search")
                || line.contains("fts5")
                || schema.iter().any(|end| line.ends_with(end))
        };
        let ours = !faults.as_ref().is_ok_and(|lines| lines.iter().all(alone));
        if ours == sound {
            told.push(format!(
                "byte {at}: fsck {faults:?}, the second reader {said:?}"
            ));
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}
