//! Commits into a bundle.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Write};

use super::files::{KeptFile, matching};
use super::{BLOCK_BYTES, BundleTip, HEADER, HEADER_BEYOND};
use crate::error::{Error, Result};
use crate::formats::Input;
use crate::formats::shared::redaction::RedactedInput;
use crate::hash::{CommitHash, ContentHash, Fingerprint, fingerprint, hex};
use crate::model::secret::{Leaving, SecretCounts, add_counts};
use crate::model::{
    Author, Commit, Message, Operation, RefName, Sealed, Span, StatedUsage, is_tombstone,
};
use crate::repo::ancestry;
use crate::repo::copies::{self, Copies, telling_requests};
use crate::repo::kept::KeptSource;
use crate::repo::load;
use crate::repo::prompts;
use crate::repo::repository::Repo;
use crate::repo::starters::Starters;
use crate::store::{CommitRow, View};

/// How many messages, or commits' records, are held at once.
const SOME: usize = 256;
/// How many commits are asked of at once who wrote their messages.
const MANY: usize = 1 << 12;

/// How much work goes into a bundle's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// It is kept, or crosses a network.
    Small,
    /// It is read on this machine at once, and is gone then.
    Quick,
}

impl Packing {
    /// zstd's level.
    pub(super) const fn level(self) -> i32 {
        match self {
            Self::Small => 9,
            Self::Quick => 1,
        }
    }
}

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
    /// The secrets that were replaced, or would have been let out.
    pub secrets: SecretCounts,
    /// The commits that bring them, in the bundle's order.
    pub leaks: Vec<CommitHash>,
    /// By its commits' names here, the name of each that has another one in the bundle.
    pub renamed: HashMap<CommitHash, CommitHash>,
}

/// Which session files go into a bundle.
#[derive(Clone, Copy)]
pub(crate) enum Files<'a> {
    None,
    /// All behind its commits.
    Behind,
    /// These alone, with their records of all commits that lead to its tips, be they in it or not: whoever takes it has those.
    These(&'a [KeptFile]),
}

impl Files<'_> {
    /// All behind its commits, if they are wanted.
    pub(crate) const fn behind(are_wanted: bool) -> Self {
        if are_wanted { Self::Behind } else { Self::None }
    }
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
        self.bundle_leaving(tips, sources, Leaving::Allowed)
    }

    /// The same, with what is to be done about secrets: in messages, hidden ones too, in notes, settings
    /// and titles, and in session files. Where they are replaced, it is another history from the first
    /// such message on: its commits have other names, and nobody who has the one sees that it is the
    /// other.
    ///
    /// # Errors
    ///
    /// [`Error::Leaks`] where they are refused, and as [`Repo::bundle`].
    pub fn bundle_leaving(
        &self,
        tips: &[BundleTip],
        sources: bool,
        leaving: Leaving<'_>,
    ) -> Result<(Vec<u8>, Bundled)> {
        self.bundle_of(tips, Files::behind(sources), leaving, Some(Packing::Small))
    }

    /// A bundle for somebody who looked before what it lets out.
    ///
    /// # Errors
    ///
    /// As [`Repo::bundle`].
    pub(crate) fn bundle_packed(
        &self,
        tips: &[BundleTip],
        files: Files<'_>,
        packing: Packing,
    ) -> Result<(Vec<u8>, Bundled)> {
        self.bundle_of(tips, files, Leaving::Allowed, Some(packing))
    }

    /// What a bundle would let out. None is made.
    ///
    /// # Errors
    ///
    /// As [`Repo::bundle_leaving`].
    pub(crate) fn look_through(
        &self,
        tips: &[BundleTip],
        files: Files<'_>,
        leaving: Leaving<'_>,
    ) -> Result<Bundled> {
        Ok(self.bundle_of(tips, files, leaving, None)?.1)
    }

    fn bundle_of(
        &self,
        tips: &[BundleTip],
        files: Files<'_>,
        leaving: Leaving<'_>,
        packing: Option<Packing>,
    ) -> Result<(Vec<u8>, Bundled)> {
        let view = self.store.read()?;
        let mut bundle = Writing {
            view: &*view,
            out: Out::new(packing)?,
            leaving,
            messages: HashMap::new(),
            details: load::UsageDetails::of(&*view),
            done: Bundled::default(),
        };
        let rows = bundle.commits(tips)?;
        let commits: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
        if bundle.out.is_some() {
            bundle.usage(&commits)?;
            bundle.injected(&rows)?;
            bundle.resumed(&commits)?;
            bundle.sessions(&commits)?;
        }
        // What is named twice brings along all that either asks for, under its name once.
        let mut seen = HashSet::new();
        let mut tips = tips.to_vec();
        tips.retain(|tip| seen.insert(tip.name.clone()));
        let (ids, behind) = match files {
            Files::None => (Vec::new(), Vec::new()),
            Files::Behind => (view.sources_behind(&commits)?, commits.clone()),
            Files::These(files) => {
                let ends: Vec<CommitHash> = tips.iter().map(|tip| tip.commit).collect();
                let behind = ancestry::leading_to(&*view, &ends)?;
                (matching(&*view, &behind, files)?, behind)
            }
        };
        if !ids.is_empty() {
            for session in bundle.sources(&ids, &behind)? {
                // What a file was imported to: without it, the file would be nobody's there.
                let tip = load::tip(&*view, &session)?.filter(|tip| commits.contains(tip));
                if let Some(commit) = tip
                    && !tips.iter().any(|tip| tip.name == session)
                {
                    tips.push(BundleTip::new(session, commit));
                }
            }
        }
        bundle.names(&tips)?;
        bundle.line("end", "")?;
        if matches!(leaving, Leaving::Refused(_)) && !bundle.done.secrets.is_empty() {
            let commits = bundle.done.leaks.iter().map(CommitHash::short).collect();
            let counts = bundle.done.secrets;
            return Err(Error::Leaks { counts, commits });
        }
        let Some(packed) = bundle.out.finish()? else {
            return Ok((Vec::new(), bundle.done));
        };
        let is_beyond = !ids.is_empty() && behind.len() > commits.len();
        let mut bytes = if is_beyond { HEADER_BEYOND } else { HEADER }.to_vec();
        bytes.extend(hex(&fingerprint(&packed)).as_bytes());
        bytes.push(b'\n');
        bytes.extend(packed);
        Ok((bytes, bundle.done))
    }
}

/// Where a bundle's lines go: into a frame, or nowhere where they are only looked through.
struct Out(Option<zstd::stream::Encoder<'static, Vec<u8>>>);

impl Out {
    fn new(packing: Option<Packing>) -> Result<Self> {
        let frame = |packing: Packing| zstd::stream::Encoder::new(Vec::new(), packing.level());
        let frame = packing.map(frame).transpose();
        Ok(Self(frame.map_err(Error::store)?))
    }

    /// Whether anybody reads what is written.
    fn is_some(&self) -> bool {
        self.0.is_some()
    }

    fn finish(self) -> Result<Option<Vec<u8>>> {
        let packed = self.0.map(zstd::stream::Encoder::finish);
        packed.transpose().map_err(Error::store)
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0.as_mut()).map_or(Ok(bytes.len()), |frame| frame.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Write::flush)
    }
}

struct Writing<'a> {
    view: &'a dyn View,
    out: Out,
    done: Bundled,
    leaving: Leaving<'a>,
    /// The messages that stand in it without their secrets, by their names here.
    messages: HashMap<ContentHash, ContentHash>,
    details: load::UsageDetails<'a>,
}

impl Writing<'_> {
    fn line(&mut self, word: &str, rest: &str) -> Result<()> {
        let between = if rest.is_empty() { "" } else { " " };
        for part in [word, between, rest, "\n"] {
            self.out.write_all(part.as_bytes()).map_err(Error::store)?;
        }
        Ok(())
    }

    /// The commits, parents first, each with the messages before it that it names first.
    fn commits(&mut self, tips: &[BundleTip]) -> Result<Vec<CommitRow>> {
        let mut taken: HashSet<CommitHash> = HashSet::new();
        let mut rows: Vec<CommitRow> = Vec::new();
        for tip in tips {
            let history = ancestry::beyond(self.view, &tip.commit, tip.after.as_slice())?;
            let new = history.into_iter().filter(|row| taken.insert(row.hash));
            rows.extend(new);
        }
        // Where one tip's history holds another's beginning, that is in both.
        let rows = ancestry::parents_first(rows);
        let tips = tips.iter().map(|tip| tip.commit);
        let parents = rows
            .iter()
            .flat_map(|row| row.commit.parent.into_iter().chain(row.commit.merged));
        let needs: BTreeSet<CommitHash> = parents
            .chain(tips)
            .filter(|commit| !taken.contains(commit))
            .collect();
        for need in &needs {
            self.line("need", &need.to_string())?;
        }
        self.done.needs = needs.into_iter().collect();
        let mut named: HashSet<ContentHash> = HashSet::new();
        let mut written: HashSet<ContentHash> = HashSet::new();
        let mut made: HashSet<CommitHash> = HashSet::new();
        for some in rows.chunks(SOME) {
            let contents = some.iter().flat_map(|row| row.commit.operation.contents());
            let contents: Vec<ContentHash> =
                contents.filter(|content| named.insert(*content)).collect();
            let bodies = self.view.bodies(&contents)?;
            for (hash, body) in contents.iter().zip(&bodies) {
                let missing = || Error::damaged(format!("content {hash} is missing"));
                let body = body.as_ref().ok_or_else(missing)?;
                if is_tombstone(hash, body.as_bytes()) {
                    let role = self.view.content_row(hash)?.ok_or_else(missing)?.role;
                    written.insert(*hash);
                    self.line("erased", &format!("{hash} {}", role.as_str()))?;
                    continue;
                }
                match self.without_secrets(hash, body)? {
                    None if written.insert(*hash) => {
                        self.line("content", body)?;
                        self.done.contents += 1;
                    }
                    // Two may differ in their secrets alone.
                    Some(message) if written.insert(message.hash()) => {
                        self.line("content", message.canonical())?;
                        self.done.contents += 1;
                    }
                    _ => {}
                }
            }
            for row in some {
                let commit = self.commit(row);
                if self.out.is_some() && made.insert(self.renamed(&row.hash)) {
                    self.line("commit", &commit.canonical())?;
                    self.done.commits += 1;
                }
            }
        }
        Ok(rows)
    }

    /// A message without its secrets, where it has any and they are replaced. Those that it has are
    /// counted.
    fn without_secrets(
        &mut self,
        name: &ContentHash,
        body: &str,
    ) -> Result<Option<Sealed<Message>>> {
        let Some(secrets) = self.leaving.secrets() else {
            return Ok(None);
        };
        let message = Message::from_canonical(body)?;
        let redacted = secrets.redact_message(&message, &mut self.done.secrets);
        let redacted = redacted.map(Sealed::new);
        if let Some(redacted) = &redacted {
            self.messages.insert(*name, redacted.hash());
        }
        Ok(redacted.filter(|_| matches!(self.leaving, Leaving::Redacted(_))))
    }

    /// A commit, by the names that its messages and the commits before it have in the bundle.
    fn commit(&mut self, row: &CommitRow) -> Commit {
        let before: usize = self.done.secrets.values().sum();
        let mut commit = row.commit.clone();
        commit.note = commit.note.map(|note| self.text(note));
        for text in commit.author.iter_mut().flat_map(Author::texts_mut) {
            *text = self.text(std::mem::take(text));
        }
        for value in commit.settings.values_mut() {
            *value = self.text(std::mem::take(value));
        }
        if let Operation::Annotate { reason, .. } = &mut commit.operation {
            *reason = reason.take().map(|reason| self.text(reason));
        }
        let mut named = commit.operation.contents().into_iter();
        let leaks = named.any(|content| self.messages.contains_key(&content));
        if leaks || self.done.secrets.values().sum::<usize>() > before {
            self.done.leaks.push(row.hash);
        }
        if matches!(self.leaving, Leaving::Redacted(_)) {
            let named = [&mut commit.parent, &mut commit.merged, &mut commit.origin];
            for name in named.into_iter().flatten() {
                *name = self.renamed(name);
            }
            commit.operation = self.operation(&commit.operation);
            let renamed = commit.hash();
            if renamed != row.hash {
                self.done.renamed.insert(row.hash, renamed);
            }
        }
        commit
    }

    /// What a commit does, by the names that there are in the bundle.
    fn operation(&self, operation: &Operation) -> Operation {
        let content = |was: &ContentHash| *self.messages.get(was).unwrap_or(was);
        let mut operation = operation.with_contents(content);
        for entry in operation.entries_mut() {
            entry.commit = self.renamed(&entry.commit);
        }
        if let Operation::Restore { target, .. } = &mut operation {
            *target = self.renamed(target);
        }
        operation
    }

    fn renamed(&self, commit: &CommitHash) -> CommitHash {
        *self.done.renamed.get(commit).unwrap_or(commit)
    }

    /// A text without its secrets, if they are replaced. Those that it has are counted.
    fn text(&mut self, text: String) -> String {
        let Some(secrets) = self.leaving.secrets() else {
            return text;
        };
        match secrets.redact_text(&text, &mut self.done.secrets) {
            Some(redacted) if matches!(self.leaving, Leaving::Redacted(_)) => redacted,
            _ => text,
        }
    }

    /// What the provider counted.
    fn usage(&mut self, commits: &[CommitHash]) -> Result<()> {
        let copies = Copies::of(self.view);
        for some in commits.chunks(SOME) {
            let mut replies = Vec::new();
            for (commit, usage) in some.iter().zip(self.view.usage(some)?) {
                if let Some(usage) = usage {
                    replies.push(*commit);
                    let counts = usage.numbers().map(|number| number.to_string()).join(" ");
                    let commit = self.renamed(commit);
                    self.line("usage", &format!("{commit} {counts}"))?;
                }
            }
            // Records stay here, or come behind.
            let requests = telling_requests(self.view, &replies, &copies)?;
            let mut requests: HashMap<CommitHash, String> = requests.into_iter().collect();
            for commit in some {
                let mut detail = self.details.all()?.get(commit).cloned().unwrap_or_default();
                detail.request = requests.remove(commit).or(detail.request);
                if !detail.is_empty() {
                    let detail = detail.to_text();
                    let commit = self.renamed(commit);
                    self.line("usage-detail", &format!("{commit} {detail}"))?;
                }
            }
        }
        Ok(())
    }

    /// Which messages a client wrote in the user's name, by its records: those stay here, or come behind.
    fn injected(&mut self, rows: &[CommitRow]) -> Result<()> {
        for some in rows.chunks(MANY) {
            for commit in prompts::injected_by_record(self.view, some)? {
                let commit = self.renamed(&commit).to_string();
                self.line("injected", &commit)?;
            }
        }
        Ok(())
    }

    /// Which sessions `resume` wrote of commits that are in the bundle, or needed by it: each where its messages are the same there.
    fn resumed(&mut self, commits: &[CommitHash]) -> Result<()> {
        let all = self.view.all_resumed()?;
        let named: HashSet<CommitHash> = commits.iter().chain(&self.done.needs).copied().collect();
        for (tool, id, row) in all {
            if named.contains(&row.commit) && self.renamed(&row.commit) == row.commit {
                let name = RefName::session(&tool, &id);
                let (commit, messages, digest) = (row.commit, row.messages, hex(&row.digest));
                self.line("resumed", &format!("{name} {commit} {messages} {digest}"))?;
            }
        }
        Ok(())
    }

    /// What their files say of the sessions that end in the bundle: which is a copy, who started which, and what their clients
    /// say that all requests came to.
    fn sessions(&mut self, commits: &[CommitHash]) -> Result<()> {
        let copies = Copies::of(self.view);
        let stated: HashMap<RefName, StatedUsage> = self.view.stated_usage()?.into_iter().collect();
        let mut starters = Starters::of(self.view)?;
        for some in commits.chunks(MANY) {
            let mut ending = self.view.names_of(some)?;
            ending.retain(|(name, _)| name.as_session().is_some());
            let sessions = ending.iter().map(|(name, _)| name);
            starters.read(sessions, (self.view, &copies))?;
            for (session, commit) in ending {
                let (name, commit) = (self.name(&session), self.renamed(&commit));
                if let Some(starter) = starters.of_agent(&session) {
                    let starter = self.name(starter);
                    self.line("starter", &format!("{name} {commit} {starter}"))?;
                }
                let has_file = !self.view.sources(&session)?.is_empty();
                let has_file = has_file || self.view.origin(&session)?.is_some();
                let origin = copies::origin_of(&copies, &session)?;
                if let Some(origin) = origin.filter(|_| has_file) {
                    let from = origin.copied_from.map(|from| self.name(&from).to_string());
                    let told = serde_json::json!({
                        "began": origin.began, "copied_from": from, "source": origin.source,
                    });
                    self.line("origin", &format!("{name} {commit} {told}"))?;
                }
                // A model may be called anything.
                let says = stated.get(&session).map(StatedUsage::to_text);
                if let Some(says) = says.filter(|says| self.text(says.clone()) == *says) {
                    self.line("stated", &format!("{name} {commit} {says}"))?;
                }
            }
        }
        Ok(())
    }

    /// These session files with their records of the commits, and what is known of the sessions, which it gives.
    fn sources(&mut self, ids: &[u64], commits: &[CommitHash]) -> Result<BTreeSet<RefName>> {
        let mut sessions: BTreeSet<RefName> = BTreeSet::new();
        let mut redacted: HashMap<u64, RedactedInput<'_>> = HashMap::new();
        for (number, id) in ids.iter().enumerate() {
            let Some(row) = self.view.source(*id)? else {
                continue;
            };
            self.done.sources += 1;
            let file = KeptSource::new(self.view, *id, row.size_bytes);
            let mut size_bytes = row.size_bytes;
            let mut print = row.fingerprint;
            if let Some(secrets) = self.leaving.secrets() {
                let without = RedactedInput::of(Box::new(file), secrets)?;
                add_counts(&mut self.done.secrets, without.counts());
                let is_put = matches!(self.leaving, Leaving::Redacted(_));
                if is_put && !without.counts().is_empty() {
                    let mut hash = Fingerprint::default();
                    each_block(&without, |block| {
                        hash.update(block);
                        Ok(())
                    })?;
                    (size_bytes, print) = (without.size_bytes(), hash.value());
                    redacted.insert(*id, without);
                }
            }
            sessions.insert(row.session.clone());
            if !self.out.is_some() {
                continue;
            }
            let (name, format, print) = (&row.session, &row.format, hex(&print));
            let head = format!("{number} {name} {format} {size_bytes} {print}");
            self.line("source", &head)?;
            let mut written = 0;
            let mut write = |block: &[u8]| {
                written += block.len() as u64;
                self.out.write_all(block).map_err(Error::store)
            };
            let plain = KeptSource::new(self.view, *id, size_bytes);
            match redacted.get(id) {
                Some(without) => each_block(without, &mut write)?,
                None => each_block(&plain, &mut write)?,
            }
            if written != size_bytes {
                let detail = format!("a session file of {} is cut off", row.session.short());
                return Err(Error::Damaged { detail });
            }
            self.out.write_all(b"\n").map_err(Error::store)?;
        }
        let recorded = if self.out.is_some() { commits } else { &[] };
        for some in recorded.chunks(SOME) {
            for (commit, records) in some.iter().zip(self.view.records(some)?) {
                let commit = self.renamed(commit);
                for (id, spans) in records {
                    let Some(number) = ids.iter().position(|known| *known == id) else {
                        continue;
                    };
                    let without = redacted.get(&id);
                    let place = |span: &Span| without.map_or(*span, |it| it.span(*span));
                    let spans = spans.iter().map(place);
                    let spans: Vec<String> = spans
                        .map(|span| format!("{}+{}", span.offset, span.len))
                        .collect();
                    self.line("records", &format!("{commit} {number} {}", spans.join(",")))?;
                }
            }
        }
        drop(redacted);
        for name in &sessions {
            if let Some(row) = self.view.session(name)? {
                let title = row.title.map(|title| self.text(title));
                let cwd = row.cwd.map(|cwd| self.text(cwd));
                let known = serde_json::json!({
                    "title": title, "cwd": cwd, "absent": row.absent,
                });
                self.line("session", &format!("{name} {known}"))?;
            }
        }
        Ok(sessions)
    }

    /// A ref's name without whom it names, where such a name can be a ref's.
    fn name(&self, name: &RefName) -> RefName {
        let renamed = self.leaving.renamed(name.as_str());
        let renamed = renamed.and_then(|renamed| renamed.parse().ok());
        renamed.unwrap_or_else(|| name.clone())
    }

    /// The refs, and the notes of those that are tags.
    fn names(&mut self, tips: &[BundleTip]) -> Result<()> {
        for tip in tips {
            let commit = self.renamed(&tip.commit);
            let name = self.name(&tip.name);
            self.line("ref", &format!("{name} {commit}"))?;
        }
        let names: Vec<RefName> = tips.iter().map(|tip| tip.name.clone()).collect();
        let notes = self.view.tag_notes(&names)?;
        for (tip, note) in tips.iter().zip(notes) {
            if let Some(note) = note.filter(|note| note.commit == tip.commit) {
                let text = serde_json::Value::from(self.text(note.text));
                let name = self.name(&tip.name);
                self.line("note", &format!("{name} {} {text}", note.time.0))?;
            }
        }
        Ok(())
    }
}

/// Calls `each` with all bytes there are, a block at a time.
fn each_block(input: &dyn Input, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut offset = 0;
    loop {
        let len = BLOCK_BYTES.min(input.size_bytes() - offset);
        let bytes = input
            .bytes(Span { offset, len })
            .map_err(Error::io("source"))?;
        if bytes.is_empty() {
            return Ok(());
        }
        each(&bytes)?;
        offset += bytes.len() as u64;
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
        Ok(tip.map(|commit| Self::new(name.clone(), commit)))
    }
}
