//! Whatever a bundle holds: all of it comes in and is whole, or nothing is written.
//!
//! Every object of a bundle bears the hashes of others, which nobody who changes bytes at random gets
//! right. So a bundle is written here with the hashes left out, and they are put in before it is read.

use std::io::Cursor;

use tract::error::Error;
use tract::hash::{CommitHash, ContentHash, canonical, fingerprint};
use tract::ingest::{ImportRequest, import};
use tract::model::{Draft, Message, Millis, Part, RefName, RefValue, Role};
use tract::repo::MergeForm;
use tract::repo::{Call, CommitOptions, On, Repo};
use tract::rewrite::SurgeryOptions;
use tract::rewrite::{MergeOptions, Reach, Truncate};
use tract::store::Checked;
use tract::sync::BundleTip;

use super::{repository, requests, sessions};

const HEADER: &[u8] = b"tract bundle 1\n";

/// The lines of a bundle as a file. In them `@N` is the hash of the Nth object, from 0, and where there
/// is none of so many it counts from the first again; `@base` is a commit that is in the repository;
/// `@@` in the line of a kept file is the fingerprint of the bytes behind it.
pub fn packed(lines: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut rest = lines;
    while !rest.is_empty() {
        let end = rest
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        rest = behind.get(1..).unwrap_or_default();
        let line = with_names(line, &names);
        let text = String::from_utf8_lossy(&line);
        if let Some(said) = text.strip_prefix("content ") {
            let said = in_order(said);
            names.push(ContentHash::of(&said).to_string());
            out.extend(format!("content {said}").as_bytes());
        } else if let Some(said) = text.strip_prefix("commit ") {
            let said = in_order(said);
            names.push(CommitHash::of(&said).to_string());
            out.extend(format!("commit {said}").as_bytes());
        } else if text.starts_with("source ") {
            let size = text
                .split(' ')
                .nth(4)
                .and_then(|size| size.parse::<usize>().ok());
            let size = size.unwrap_or(0).min(rest.len());
            let (kept, behind) = rest.split_at(size);
            let print = CommitHash::from_bytes(fingerprint(kept)).to_string();
            out.extend(text.replace("@@", &print).as_bytes());
            out.push(b'\n');
            out.extend(kept);
            rest = behind.strip_prefix(b"\n").unwrap_or(behind);
        } else {
            out.extend(&line);
        }
        out.push(b'\n');
    }
    let frame = zstd::bulk::compress(&out, 1).expect("it is packed");
    let print = CommitHash::from_bytes(fingerprint(&frame)).to_string();
    [HEADER, print.as_bytes(), b"\n", &frame].concat()
}

/// JSON in canonical form; what is none stays.
fn in_order(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json);
    value.map_or_else(|_| json.to_owned(), |value| canonical(&value))
}

fn with_names(line: &[u8], names: &[String]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
            .min(4);
        if *first == b'@' && behind.starts_with(b"base") {
            out.extend(base().to_string().as_bytes());
            rest = &behind[4..];
        } else if *first == b'@' && digits > 0 && !names.is_empty() {
            let number = String::from_utf8_lossy(&behind[..digits]).parse::<usize>();
            out.extend(names[number.expect("digits") % names.len()].as_bytes());
            rest = &behind[digits..];
        } else {
            out.push(*first);
            rest = behind;
        }
    }
    out
}

fn first() -> Draft {
    Draft::append(Message::text(Role::User, "what was there before"))
}

fn begun() -> (tempfile::TempDir, Repo) {
    let (folder, repo) = repository();
    let call = Call::at(Millis(0), "commit");
    repo.commit(call, &[first()], &CommitOptions::default())
        .expect("committed");
    (folder, repo)
}

/// The commit that is in the repository.
fn base() -> CommitHash {
    thread_local! {
        static BASE: CommitHash = match begun().1.head(&On::Head).expect("a head").commit() {
            Some(commit) => commit,
            None => panic!("it has a commit"),
        };
    }
    BASE.with(|base| *base)
}

/// All that can be told of a repository at once.
fn state(repo: &Repo) -> (Checked, Vec<(RefName, RefValue)>, usize) {
    let found = repo.fsck(true, &mut |_| Ok(())).expect("it can be checked");
    assert!(!found.is_damaged(), "{found:?}");
    let refs = repo.references("").expect("refs");
    (
        found.checked,
        refs,
        repo.operations(usize::MAX).expect("a log").len(),
    )
}

/// How many commits a file brings to such a repository; none where it is refused.
#[allow(dead_code)]
pub fn arrives(file: &[u8]) -> Option<u64> {
    let (_kept, repo) = begun();
    let done = repo.unbundle(Call::default(), &mut Cursor::new(file), &mut |_| {});
    done.ok().map(|done| done.commits)
}

/// Holds lines, or a whole file, against what is promised of a bundle.
pub fn hold(bytes: &[u8]) {
    let file = if bytes.starts_with(b"tract bundle ") {
        bytes.to_vec()
    } else {
        packed(bytes)
    };
    let (_kept, repo) = begun();
    let before = state(&repo);
    let call = Call::at(Millis(0), "unbundle");
    let take = |repo: &Repo| repo.unbundle(call, &mut Cursor::new(&file), &mut |_| {});
    let done = match take(&repo) {
        Ok(done) => done,
        Err(Error::BrokenBundle { .. } | Error::MissingCommits { .. }) => {
            assert_eq!(state(&repo), before, "refused, and something is written");
            return;
        }
        Err(error) => panic!("refused: {error:?}"),
    };
    let after = state(&repo);
    assert_eq!(after.0.commits, before.0.commits + done.commits);
    assert_eq!(after.0.sources, before.0.sources + done.sources);
    let again = take(&repo).expect("it came in before");
    let added = (again.commits, again.contents, again.sources);
    assert_eq!(added, (0, 0, 0), "it arrives twice and adds something");
    assert_eq!(state(&repo).0, after.0);

    let mut tips = Vec::new();
    for arrived in &done.refs {
        let context = repo.context(&arrived.commit).expect("it was folded");
        let messages = repo.messages(&context).expect("its messages");
        let settings = repo.settings(&context).expect("its settings");
        requests::are_valid(&messages, &settings);
        let tip = BundleTip::of(&repo, &arrived.ours)
            .expect("reads")
            .expect("it has a commit");
        if !tips.iter().any(|known: &BundleTip| known.name == tip.name) {
            tips.push(tip);
        }
    }
    // What was taken in can be given on.
    let (file, _) = repo.bundle(&tips, true).expect("a bundle");
    let (_kept, other) = repository();
    other
        .unbundle(call, &mut Cursor::new(&file), &mut |_| {})
        .expect("a bundle of ours");
    sessions::is_whole(&other, "what was given on");
    for tip in &tips {
        let there = BundleTip::of(&other, &tip.name)
            .expect("reads")
            .expect("it is there");
        assert_eq!(there.commit, tip.commit, "{}", tip.name);
    }
}

/// Bundles of a repository with every kind of object, and of a part of it.
#[allow(dead_code)]
pub fn seeds() -> Vec<Vec<u8>> {
    let (_kept, repo) = begun();
    let options = CommitOptions::default();
    let surgery = SurgeryOptions::default();
    let call = Call::at(Millis(5), "commit");
    let reply = Part::ToolCall {
        id: "c".into(),
        name: "read".into(),
        arguments: "{\"path\":\"a\"}".into(),
        kind: None,
    };
    let result = Part::ToolResult {
        call: "c".into(),
        content: vec![Part::text("found")],
        is_error: true,
    };
    for message in [
        Message::text(Role::System, "be brief"),
        Message::text(Role::User, "question"),
        Message::new(Role::Assistant, vec![Part::text("I look"), reply]),
        Message::new(Role::Tool, vec![result]),
        Message::text(Role::Assistant, "answer"),
    ] {
        repo.commit(call, &[Draft::append(message)], &options)
            .expect("committed");
    }
    let entry = repo.resolve_entry(&On::Head, ":2").expect("an entry");
    let edit = Draft::edit(entry, Message::text(Role::User, "better"));
    repo.commit(call, &[edit], &options).expect("edited");
    let idea = RefName::branch("idea").expect("a name");
    repo.create_branch(call, &idea, "HEAD~3").expect("made");
    let on = On::Branch(idea);
    let aside = Draft::append(Message::text(Role::User, "aside"));
    let aside = repo
        .commit(call.on(&on), &[aside], &options)
        .expect("committed");
    let how = MergeOptions {
        form: MergeForm::Messages,
        ..MergeOptions::default()
    };
    repo.merge(call, &aside[0].hash, "idea", &how, None)
        .expect("merged");
    let tag = RefName::tag("v1").expect("a name");
    repo.create_tag(call, &tag, "HEAD", Some("a note"))
        .expect("made");
    repo.carry_out(call, &Truncate::new(Reach::Keep(2)), &surgery)
        .expect("hidden");
    repo.clear(call, true, &surgery).expect("cleared");
    repo.undo(None, Millis(6)).expect("undone");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("talk.jsonl");
    let session = super::files("data/claude-code")
        .into_iter()
        .find(|path| path.ends_with("compaction.jsonl"));
    std::fs::copy(session.expect("a fixture"), &path).expect("copied");
    let request = ImportRequest::at(Millis(7), "import");
    import(&repo, &path, &request, &mut |_| {}).expect("imports");
    let refs = repo.references("refs/").expect("refs");
    let tips = refs
        .iter()
        .filter_map(|(name, _)| BundleTip::of(&repo, name).expect("reads"));
    let tips: Vec<BundleTip> = tips.collect();
    let mut seeds = Vec::new();
    for tip in &tips {
        let after = BundleTip {
            after: Some(base()),
            ..tip.clone()
        };
        for (tip, sources) in [(tip.clone(), false), (tip.clone(), true), (after, false)] {
            // A session does not go on from that commit.
            if let Ok((bundle, _)) = repo.bundle(&[tip], sources) {
                seeds.push(lines_of(&bundle));
            }
        }
    }
    let (bundle, _) = repo.bundle(&tips, true).expect("a bundle");
    seeds.push(lines_of(&bundle));
    seeds.push(bundle);
    seeds.push(
        b"erased 4a1cdc6854652478cd533f198d90ae3bd09fa5899e5e0082323e03ac971019d9 user\nend\n"
            .to_vec(),
    );
    seeds
}

/// The lines of a bundle in the form that [`packed`] takes, to begin with.
#[allow(dead_code)]
pub fn lines_of(bundle: &[u8]) -> Vec<u8> {
    let frame = &bundle[HEADER.len() + 65..];
    let all = zstd::stream::decode_all(frame).expect("a frame");
    let mut out = Vec::new();
    let mut names: Vec<(String, String)> = Vec::new();
    let mut rest = &all[..];
    while !rest.is_empty() {
        let end = rest
            .iter()
            .position(|byte| *byte == b'\n')
            .expect("a line ends");
        let line = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        let name = match line.split_once(' ') {
            Some(("content", said)) => Some(ContentHash::of(said).to_string()),
            Some(("commit", said)) => Some(CommitHash::of(said).to_string()),
            _ => None,
        };
        let mut said = line.replace(&base().to_string(), "@base");
        for (hash, name) in names.iter().rev() {
            said = said.replace(hash, name);
        }
        if let Some(hash) = name {
            names.push((hash, format!("@{}", names.len())));
        }
        if line.starts_with("source ") {
            let words: Vec<&str> = line.split(' ').collect();
            let size: usize = words[4].parse().expect("a size");
            out.extend(said.replace(words[5], "@@").as_bytes());
            out.push(b'\n');
            out.extend(&rest[..size]);
            rest = &rest[size + 1..];
        } else {
            out.extend(said.as_bytes());
        }
        out.push(b'\n');
    }
    out
}
