//! Commits into a bundle.

use std::collections::{BTreeSet, HashSet};
use std::io::Write;

use super::{BLOCK_BYTES, BundleTip, HEADER};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, fingerprint};
use crate::history::load;
use crate::history::repo::Repo;
use crate::model::{RefName, Span};
use crate::store::{CommitRow, View};

/// How many messages, or commits' records, are held at once.
const SOME: usize = 256;
const LEVEL: i32 = 9;

/// What was put into a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundled {
    /// How many commits.
    pub commits: u64,
    /// How many messages.
    pub contents: u64,
    /// How many kept session files.
    pub sources: u64,
    /// The commits that whoever takes it must have already.
    pub needs: Vec<CommitHash>,
}

impl Repo {
    /// Makes a bundle: the commits on the way to each tip and the messages that they name, what the
    /// provider counted there, and the notes of tags. With `sources` also the session files that were
    /// kept of them, and the sessions' titles.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] where a message or a commit on the way is, and the store's.
    pub fn bundle(&self, tips: &[BundleTip], sources: bool) -> Result<(Vec<u8>, Bundled)> {
        let view = self.store.read()?;
        let packer = zstd::stream::Encoder::new(Vec::new(), LEVEL).map_err(Error::store)?;
        let mut bundle = Writing {
            view: &*view,
            out: packer,
            done: Bundled::default(),
        };
        let rows = bundle.commits(tips)?;
        let commits: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
        bundle.usage(&commits)?;
        // What is named twice brings along all that either asks for, under its name once.
        let mut seen = HashSet::new();
        let mut tips = tips.to_vec();
        tips.retain(|tip| seen.insert(tip.name.clone()));
        if sources {
            for session in bundle.sources(&commits)? {
                // What a file was imported to: without it, the file would be nobody's there.
                let tip = load::tip(&*view, &session)?.filter(|tip| commits.contains(tip));
                if let Some(commit) = tip
                    && !tips.iter().any(|tip| tip.name == session)
                {
                    tips.push(BundleTip {
                        name: session,
                        commit,
                        after: None,
                    });
                }
            }
        }
        bundle.names(&tips)?;
        bundle.line("end", "")?;
        let packed = bundle.out.finish().map_err(Error::store)?;
        let mut bytes = HEADER.to_vec();
        bytes.extend(hex(&fingerprint(&packed)).as_bytes());
        bytes.push(b'\n');
        bytes.extend(packed);
        Ok((bytes, bundle.done))
    }
}

pub(super) fn hex(hash: &[u8; 32]) -> String {
    CommitHash::from_bytes(*hash).to_string()
}

struct Writing<'a> {
    view: &'a dyn View,
    out: zstd::stream::Encoder<'static, Vec<u8>>,
    done: Bundled,
}

impl Writing<'_> {
    fn line(&mut self, word: &str, rest: &str) -> Result<()> {
        let between = if rest.is_empty() { "" } else { " " };
        let line = format!("{word}{between}{rest}\n");
        self.out.write_all(line.as_bytes()).map_err(Error::store)
    }

    /// The commits, parents first, each with the messages before it that it names first.
    fn commits(&mut self, tips: &[BundleTip]) -> Result<Vec<CommitRow>> {
        let mut taken: HashSet<CommitHash> = HashSet::new();
        let mut rows: Vec<CommitRow> = Vec::new();
        for tip in tips {
            let path = self
                .view
                .ancestors(&tip.commit, tip.after.as_ref(), usize::MAX)?;
            let new = path.into_iter().rev().filter(|row| taken.insert(row.hash));
            rows.extend(new);
        }
        // Where one tip's path holds another's beginning, that is on both.
        rows.sort_by_key(|row| row.depth);
        let tips = tips.iter().map(|tip| tip.commit);
        let parents = rows.iter().filter_map(|row| row.commit.parent);
        let needs: BTreeSet<CommitHash> = parents
            .chain(tips)
            .filter(|commit| !taken.contains(commit))
            .collect();
        for need in &needs {
            self.line("need", &need.to_string())?;
        }
        self.done.needs = needs.into_iter().collect();
        let mut named: HashSet<ContentHash> = HashSet::new();
        for some in rows.chunks(SOME) {
            let contents = some.iter().flat_map(|row| row.commit.operation.contents());
            let contents: Vec<ContentHash> =
                contents.filter(|content| named.insert(*content)).collect();
            let bodies = self.view.bodies(&contents)?;
            let purged = self.view.purged(&contents)?;
            let listed = self.view.content_rows(&contents)?;
            for (at, hash) in contents.iter().enumerate() {
                match (&bodies[at], &listed[at], purged[at]) {
                    (_, Some(row), true) => {
                        self.line("erased", &format!("{hash} {}", row.role.as_str()))?;
                    }
                    (Some(body), _, false) => {
                        self.line("content", body)?;
                        self.done.contents += 1;
                    }
                    _ => {
                        let detail = format!("content {hash} is missing");
                        return Err(Error::Damaged { detail });
                    }
                }
            }
            for row in some {
                self.line("commit", &row.commit.canonical())?;
                self.done.commits += 1;
            }
        }
        Ok(rows)
    }

    /// What the provider counted.
    fn usage(&mut self, commits: &[CommitHash]) -> Result<()> {
        for some in commits.chunks(SOME) {
            for (commit, usage) in some.iter().zip(self.view.usage(some)?) {
                if let Some(usage) = usage {
                    let counts = format!("{} {}", usage.input_tokens, usage.output_tokens);
                    self.line("usage", &format!("{commit} {counts}"))?;
                }
            }
        }
        Ok(())
    }

    /// The session files behind the commits, and what is known of the sessions, which it gives.
    fn sources(&mut self, commits: &[CommitHash]) -> Result<BTreeSet<RefName>> {
        let ids = self.view.sources_behind(commits)?;
        let mut sessions: BTreeSet<RefName> = BTreeSet::new();
        for (number, id) in ids.iter().enumerate() {
            let Some(row) = self.view.source(*id)? else {
                continue;
            };
            self.done.sources += 1;
            let print = hex(&row.fingerprint);
            let head = format!(
                "{number} {} {} {} {print}",
                row.session, row.format, row.size_bytes
            );
            self.line("source", &head)?;
            let mut offset = 0;
            while offset < row.size_bytes {
                let len = BLOCK_BYTES.min(row.size_bytes - offset);
                let bytes = self.view.source_bytes(*id, Span { offset, len })?;
                if bytes.len() as u64 != len {
                    let detail = format!("a session file of {} is cut off", row.session.short());
                    return Err(Error::Damaged { detail });
                }
                self.out.write_all(&bytes).map_err(Error::store)?;
                offset += len;
            }
            self.out.write_all(b"\n").map_err(Error::store)?;
            sessions.insert(row.session);
        }
        for some in commits.chunks(SOME) {
            for (commit, records) in some.iter().zip(self.view.records(some)?) {
                for (id, spans) in records {
                    let Some(number) = ids.iter().position(|known| *known == id) else {
                        continue;
                    };
                    let spans: Vec<String> = spans
                        .iter()
                        .map(|span| format!("{}+{}", span.offset, span.len))
                        .collect();
                    self.line("records", &format!("{commit} {number} {}", spans.join(",")))?;
                }
            }
        }
        for name in &sessions {
            if let Some(row) = self.view.session(name)? {
                let known = serde_json::json!({
                    "title": row.title, "cwd": row.cwd, "absent": row.absent,
                });
                self.line("session", &format!("{name} {known}"))?;
            }
        }
        Ok(sessions)
    }

    /// The refs, and the notes of those that are tags.
    fn names(&mut self, tips: &[BundleTip]) -> Result<()> {
        for tip in tips {
            self.line("ref", &format!("{} {}", tip.name, tip.commit))?;
        }
        let names: Vec<RefName> = tips.iter().map(|tip| tip.name.clone()).collect();
        let notes = self.view.tag_notes(&names)?;
        for (tip, note) in tips.iter().zip(notes) {
            if let Some(note) = note.filter(|note| note.commit == tip.commit) {
                let text = serde_json::Value::from(note.text);
                self.line("note", &format!("{} {} {text}", tip.name, note.time.0))?;
            }
        }
        Ok(())
    }
}

/// A tip that is a ref here.
impl BundleTip {
    /// The ref `name` where it is now, from the root on.
    ///
    /// # Errors
    ///
    /// The store's; none where there is no such ref.
    pub fn of(repo: &Repo, name: &RefName) -> Result<Option<Self>> {
        let tip = load::tip(&*repo.store.read()?, name)?;
        Ok(tip.map(|commit| Self {
            name: name.clone(),
            commit,
            after: None,
        }))
    }
}
