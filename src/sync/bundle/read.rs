//! A bundle taken in: checked whole, and written whole or not at all.

mod told;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use super::files::begins_with;
use super::{BLOCK_BYTES, HEADER, HEADER_BEYOND, LINE_BYTES, MAGIC, WINDOW_LOG, broken};
use crate::context::Order;
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, Fingerprint, hex};
use crate::model::expansion::Expanded;
use crate::model::{
    Commit, Head, Message, Millis, Operation, RefName, RefValue, Role, Sealed, Span, Usage, depth,
};
use crate::repo::ancestry::{History, leads_to};
use crate::repo::call::{Call, On};
use crate::repo::load;
use crate::repo::repository::{self, Repo};
use crate::store::{SourceState, TagNote, Tx};
use crate::upkeep::purge::{holds_purged, may_hold_purged};

/// How much is read at once to be hashed.
const CHUNK_BYTES: usize = 1 << 16;
/// How many commits go by between two words of progress.
const STEP: usize = 256;

/// What a bundle brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unbundled {
    /// Commits that were not here before.
    pub commits: u64,
    /// Messages likewise.
    pub contents: u64,
    /// Kept session files likewise.
    pub sources: u64,
    /// Its refs.
    pub refs: Vec<ArrivedRef>,
    /// Messages of it that were erased here, and stay so.
    pub erased: u64,
    /// Kept session files that were left out, because they may hold what was erased here.
    pub left_out: u64,
}

/// A ref that a bundle brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivedRef {
    /// Its name in the bundle.
    pub theirs: RefName,
    /// Its name here.
    pub ours: RefName,
    /// Where it points in the bundle.
    pub commit: CommitHash,
    /// What became of it here.
    pub arrival: Arrival,
}

/// What became of a ref that a bundle brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is new.
    New,
    /// It went on from where it was.
    Grown,
    /// It was there already, or further.
    Known,
}

impl Repo {
    /// Takes a bundle in, as one operation. Every object is held against its name, every path is
    /// folded, and each kept file is held against its fingerprint. A ref that is taken here by another
    /// history gets a number; what was erased here stays erased. Where HEAD's branch has no commits
    /// yet, it begins at the first ref of the bundle.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenBundle`] where anything is off, [`Error::MissingCommits`] where it goes on from
    /// commits that are not here, [`Error::Busy`]. Nothing is written then.
    ///
    /// ```
    /// use std::io::Cursor;
    ///
    /// use tract::sync::BundleTip;
    /// use tract::repo::{Call, CommitOptions, Repo};
    /// use tract::model::{Draft, Message, RefName, Role};
    ///
    /// let mine = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// mine.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// let tip = BundleTip::of(&mine, &RefName::branch("main")?)?.expect("it has a commit");
    /// let (bytes, _) = mine.bundle(&[tip], false)?;
    ///
    /// let yours = Repo::ephemeral()?;
    /// let brought = yours.unbundle(Call::default(), &mut Cursor::new(bytes), &mut |_| {})?;
    /// assert_eq!((brought.commits, brought.contents), (1, 1));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn unbundle(
        &self,
        call: Call<'_>,
        input: &mut (impl Read + Seek),
        progress: &mut dyn FnMut(usize),
    ) -> Result<Unbundled> {
        let tx = self.store.write()?;
        tx.begin_moves(call.now, call.what)?;
        let mut brought = take_in(&*tx, input, progress)?;
        brought.place(&*tx)?;
        tx.commit()?;
        Ok(brought.done)
    }
}

/// Reads a bundle, writes its objects, and folds every path. No ref points there yet.
pub(crate) fn take_in(
    tx: &dyn Tx,
    input: &mut (impl Read + Seek),
    progress: &mut dyn FnMut(usize),
) -> Result<Brought> {
    let (mut lines, is_beyond) = opened(input)?;
    let mut taken = Taken::new(tx);
    taken.is_beyond = is_beyond;
    let mut told = 0;
    while taken.line(&mut lines)? {
        if taken.commits.len() >= told + STEP {
            told = taken.commits.len();
            progress(told);
        }
    }
    // Behind it there is nothing.
    let is_all = lines.fill_buf().map_err(broken)?.is_empty();
    if !is_all
        || !lines
            .into_inner()
            .into_inner()
            .finish()
            .fill_buf()
            .map_err(broken)?
            .is_empty()
    {
        return Err(broken("something stands behind its end"));
    }
    taken.fold()?;
    Ok(Brought {
        tips: taken.tips,
        notes: taken.notes,
        done: taken.done,
    })
}

/// The lines of a bundle, once the whole is held against the hash in its head.
pub(super) type Lines<R> = BufReader<Expanded<zstd::stream::Decoder<'static, BufReader<R>>>>;

/// Opens a bundle, and says whether it may say something of commits that are not in it.
pub(super) fn opened<R: Read + Seek>(mut input: R) -> Result<(Lines<R>, bool)> {
    let (packed_bytes, is_beyond) = check_whole(&mut input)?;
    let decoder = zstd::stream::Decoder::new(input).map_err(broken)?;
    let mut decoder = decoder.single_frame();
    decoder.window_log_max(WINDOW_LOG).map_err(broken)?;
    let lines = BufReader::new(Expanded::new(decoder, packed_bytes));
    Ok((lines, is_beyond))
}

/// The next line of one, without its end.
pub(super) fn next_line(lines: &mut impl BufRead) -> Result<String> {
    let mut line = Vec::new();
    let most = LINE_BYTES + 1;
    lines
        .by_ref()
        .take(most)
        .read_until(b'\n', &mut line)
        .map_err(broken)?;
    if line.pop() != Some(b'\n') {
        return Err(broken("a line is cut off, or too long"));
    }
    String::from_utf8(line).map_err(broken)
}

/// What a bundle brought, before any ref points there.
pub(crate) struct Brought {
    tips: Vec<(RefName, CommitHash)>,
    notes: BTreeMap<RefName, TagNote>,
    /// What became of it.
    pub(crate) done: Unbundled,
}

impl Brought {
    /// Points the refs.
    fn place(&mut self, tx: &dyn Tx) -> Result<()> {
        for (theirs, commit) in &self.tips {
            let (ours, arrival) = place_of(tx, theirs, commit)?;
            if arrival != Arrival::Known {
                tx.set_reference(&ours, Some(&RefValue::Commit(*commit)))?;
            }
            if let (Arrival::New, Some(note)) = (arrival, self.notes.get(theirs)) {
                tx.set_tag_note(&ours, Some(note))?;
            }
            self.done.refs.push(ArrivedRef {
                theirs: theirs.clone(),
                ours,
                commit: *commit,
                arrival,
            });
        }
        let head = repository::head(tx, &On::Head)?;
        if let (Head::Attached { branch, tip: None }, Some(first)) = (head, self.done.refs.first())
        {
            tx.set_reference(&branch, Some(&RefValue::Commit(first.commit)))?;
            if first.ours.as_session().is_some() {
                tx.set_follower(&first.ours, &branch)?;
            }
        }
        Ok(())
    }
}

/// Holds the whole against the hash in its head, and stops behind that head; gives how many bytes are there, and whether it
/// may say something of commits that are not in it.
fn check_whole(input: &mut (impl Read + Seek)) -> Result<(u64, bool)> {
    let mut head = Vec::new();
    let head_bytes = HEADER.len() + 65;
    input
        .by_ref()
        .take(head_bytes as u64)
        .read_to_end(&mut head)
        .map_err(broken)?;
    if !head.starts_with(MAGIC) {
        return Err(broken("it does not begin as one"));
    }
    let beyond = head.strip_prefix(HEADER_BEYOND);
    let Some(print) = beyond.or(head.strip_prefix(HEADER)) else {
        return Err(broken("its version is not known here"));
    };
    let mut hash = Fingerprint::default();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut size_bytes = 0;
    loop {
        match input.read(&mut chunk).map_err(broken)? {
            0 => break,
            read => {
                hash.update(&chunk[..read]);
                size_bytes += read as u64;
            }
        }
    }
    if print != format!("{}\n", hex(&hash.value())).as_bytes() {
        return Err(broken("it is not as it was written"));
    }
    let behind = SeekFrom::Start(head_bytes as u64);
    input.seek(behind).map_err(broken)?;
    Ok((size_bytes, beyond.is_some()))
}

/// How many messages, commits and counts are written together, and how many bytes of them, but for the last one.
const TOGETHER: usize = 512;
const TOGETHER_BYTES: usize = 4 << 20;

/// A kept file of the bundle.
struct Kept {
    session: RefName,
    size_bytes: u64,
    /// Its number here; none: it is left out.
    id: Option<u64>,
}

/// A commit of the bundle.
struct Own {
    parent: Option<CommitHash>,
    /// What it merged.
    merged: Option<CommitHash>,
    /// Whether it only adds a message: then it names none before it.
    is_append: bool,
    /// Whether a tip leads there.
    is_reached: bool,
}

/// What was read so far.
struct Taken<'a> {
    tx: &'a dyn Tx,
    /// Whether it may say something of commits before those that it needs.
    is_beyond: bool,
    /// Those of which it does.
    beyond: HashSet<CommitHash>,
    /// The commits that it goes on from.
    needs: HashSet<CommitHash>,
    missing: Vec<CommitHash>,
    /// Its own commits.
    commits: HashMap<CommitHash, Own>,
    /// Those of them that were not here.
    new: HashSet<CommitHash>,
    /// Its messages that no commit has named yet.
    unnamed: HashSet<ContentHash>,
    contents: HashSet<ContentHash>,
    sources: Vec<Kept>,
    tips: Vec<(RefName, CommitHash)>,
    /// Where each of them is in the list.
    places: HashMap<RefName, usize>,
    notes: BTreeMap<RefName, TagNote>,
    /// What is read and not written yet.
    waiting: Vec<Object>,
    /// The bytes of their lines.
    waiting_bytes: usize,
    done: Unbundled,
}

/// What fits where it stands: a message, a commit, or what the provider counted for one.
enum Object {
    Content(Sealed<Message>),
    Commit(Box<Sealed<Commit>>),
    Usage(CommitHash, Usage),
}

impl<'a> Taken<'a> {
    fn new(tx: &'a dyn Tx) -> Self {
        Self {
            tx,
            is_beyond: false,
            beyond: HashSet::new(),
            needs: HashSet::new(),
            missing: Vec::new(),
            commits: HashMap::new(),
            new: HashSet::new(),
            unnamed: HashSet::new(),
            contents: HashSet::new(),
            sources: Vec::new(),
            tips: Vec::new(),
            places: HashMap::new(),
            notes: BTreeMap::new(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            done: Unbundled::default(),
        }
    }

    /// Takes a line in; whether there are more.
    fn line(&mut self, lines: &mut impl BufRead) -> Result<bool> {
        let line = next_line(lines)?;
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        if word != "need" && !self.missing.is_empty() {
            let commits = self.missing.iter().map(ToString::to_string).collect();
            return Err(Error::MissingCommits { commits });
        }
        let are_many = self.waiting.len() >= TOGETHER || self.waiting_bytes >= TOGETHER_BYTES;
        if are_many || !matches!(word, "content" | "commit" | "usage") {
            self.write()?;
        }
        match word {
            "need" => self.need(rest)?,
            "content" => self.content(rest)?,
            "erased" => self.erased(rest)?,
            "commit" => self.commit(rest)?,
            "usage" => self.usage(rest)?,
            "usage-detail" => self.usage_detail(rest)?,
            "injected" => self.injected(rest)?,
            "resumed" => self.resumed(rest)?,
            "origin" => self.origin(rest)?,
            "starter" => self.starter(rest)?,
            "stated" => self.stated(rest)?,
            "source" => self.source(rest, lines)?,
            "records" => self.records(rest)?,
            "session" => self.session(rest)?,
            "ref" => self.reference(rest)?,
            "note" => self.note(rest)?,
            "end" if rest.is_empty() => return Ok(false),
            _ => return Err(broken("a line of a kind that is not known here")),
        }
        Ok(true)
    }

    fn need(&mut self, rest: &str) -> Result<()> {
        let commit = hash(rest)?;
        if !self.commits.is_empty() || !self.contents.is_empty() || !self.needs.insert(commit) {
            return Err(broken("what it needs is not said first, and once"));
        }
        if self.tx.commit(&commit)?.is_none() {
            self.missing.push(commit);
        }
        Ok(())
    }

    fn content(&mut self, rest: &str) -> Result<()> {
        let message = Sealed::<Message>::read(rest).map_err(broken)?;
        depth::check_message(&message).map_err(broken)?;
        self.named(message.hash())?;
        self.wait(Object::Content(message), rest);
        Ok(())
    }

    fn wait(&mut self, object: Object, line: &str) {
        self.waiting.push(object);
        self.waiting_bytes += line.len();
    }

    /// Writes what waits, in its order.
    fn write(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        let contents = waiting.iter().filter_map(|object| match object {
            Object::Content(message) => Some(message.hash()),
            Object::Commit(_) | Object::Usage(..) => None,
        });
        self.tx.foresee(&mut || contents.clone().collect())?;
        let mut counted = Vec::new();
        for object in &waiting {
            match object {
                Object::Content(message) => {
                    if self.tx.put_content(message)? {
                        self.done.contents += 1
                    } else {
                        let purged = self.tx.purged(&[message.hash()])?[0];
                        self.done.erased += u64::from(purged);
                    }
                }
                Object::Commit(commit) => {
                    let is_new = self.tx.put_commit(commit).map_err(|error| match error {
                        Error::Malformed { detail, .. } => broken(detail),
                        other => other,
                    })?;
                    if is_new {
                        self.done.commits += 1;
                        self.new.insert(commit.hash());
                    }
                }
                Object::Usage(commit, usage) => counted.push((*commit, *usage)),
            }
        }
        self.count(&counted)
    }

    fn erased(&mut self, rest: &str) -> Result<()> {
        let (name, role) = rest.split_once(' ').ok_or_else(|| broken(SHORT))?;
        let name: ContentHash = hash(name)?;
        let role: Role = role.parse().map_err(broken)?;
        self.named(name)?;
        if role == Role::Tool || Sealed::new(crate::model::tombstone(role)).hash() == name {
            return Err(broken("an erased message that none can be"));
        }
        self.tx.put_tombstone(&name, role)
    }

    /// A message comes once, and some commit after it names it. All of them come before any file.
    fn named(&mut self, name: ContentHash) -> Result<()> {
        if self.sources.is_empty() && self.contents.insert(name) && self.unnamed.insert(name) {
            Ok(())
        } else {
            Err(broken(
                "a message stands in it twice, or behind a session file",
            ))
        }
    }

    fn commit(&mut self, rest: &str) -> Result<()> {
        let commit = Sealed::new(Commit::from_canonical(rest).map_err(broken)?);
        if commit.canonical() != rest {
            return Err(broken("a commit is not in canonical form"));
        }
        let mut parents = commit.parent.iter().chain(&commit.merged);
        let follows =
            parents.all(|parent| self.commits.contains_key(parent) || self.needs.contains(parent));
        let own = Own {
            parent: commit.parent,
            merged: commit.merged,
            is_append: matches!(commit.operation, Operation::Append { .. }),
            is_reached: false,
        };
        let is_late = !self.sources.is_empty();
        if is_late || !follows || self.commits.insert(commit.hash(), own).is_some() {
            return Err(broken("a commit stands in the wrong place"));
        }
        for content in commit.operation.contents() {
            self.unnamed.remove(&content);
        }
        self.wait(Object::Commit(Box::new(commit)), rest);
        Ok(())
    }

    /// A commit of the bundle itself.
    fn own(&self, text: &str) -> Result<CommitHash> {
        let commit = hash(text)?;
        if self.commits.contains_key(&commit) {
            Ok(commit)
        } else {
            Err(broken("it says something of a commit that is not in it"))
        }
    }

    fn usage(&mut self, rest: &str) -> Result<()> {
        let [commit, counts @ ..] = words::<7>(rest)?;
        let commit = self.own(commit)?;
        let mut numbers = [0; 6];
        for (count, text) in numbers.iter_mut().zip(counts) {
            *count = number(text)?;
        }
        self.wait(Object::Usage(commit, Usage::of_numbers(numbers)), rest);
        Ok(())
    }

    /// Writes what was counted, where nothing is known of it here. Of two that a bundle says of one commit the first counts.
    fn count(&self, counted: &[(CommitHash, Usage)]) -> Result<()> {
        if counted.is_empty() {
            return Ok(());
        }
        let commits: Vec<CommitHash> = counted.iter().map(|(commit, _)| *commit).collect();
        let mut put = HashSet::new();
        for ((commit, usage), known) in counted.iter().zip(self.tx.usage(&commits)?) {
            let is_unknown = known.is_none_or(|it| it == Usage::default());
            if is_unknown && put.insert(*commit) {
                self.tx.put_usage(commit, *usage)?;
            }
        }
        Ok(())
    }

    fn source(&mut self, rest: &str, lines: &mut impl BufRead) -> Result<()> {
        let [at, session, format, size_bytes, print] = words(rest)?;
        let (session, size_bytes) = (session_name(session)?, number(size_bytes)?);
        let is_word = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
        if number(at)? != self.sources.len() as u64
            || !(1..=64).contains(&format.len())
            || !format.bytes().all(is_word)
        {
            return Err(broken("a session file has no such head"));
        }
        let known = self.tx.sources(&session)?;
        let mut id = begins_with(self.tx, &known, size_bytes, print)?;
        // It may hold more than the commits that came of it: all that was erased of its session.
        let is_new = id.is_none()
            && self.done.erased == 0
            && !may_hold_purged(self.tx, &session)?
            && !self.goes_on_from_purged()?;
        if is_new {
            let newest = known.first().map(|known| known.id);
            id = Some(self.tx.put_source(&session, format, newest)?);
            self.done.sources += 1;
        }
        self.done.left_out += u64::from(id.is_none());
        let (mut hash, mut state) = (Fingerprint::default(), SourceState::empty());
        let mut left = size_bytes;
        while left > 0 {
            let mut block = Vec::new();
            let len = left.min(BLOCK_BYTES);
            lines
                .by_ref()
                .take(len)
                .read_to_end(&mut block)
                .map_err(broken)?;
            if block.len() as u64 != len {
                return Err(broken("a session file is cut off"));
            }
            hash.update(&block);
            left -= len;
            if let Some(id) = id.filter(|_| is_new) {
                let fingerprint = hash.value();
                self.tx.append_source(id, &state, &block, &fingerprint)?;
                state = SourceState {
                    size_bytes: state.size_bytes + len,
                    fingerprint,
                };
            }
        }
        let mut end = [0];
        lines.read_exact(&mut end).map_err(broken)?;
        if end != *b"\n" || hex(&hash.value()) != print {
            return Err(broken("a session file is not what was kept"));
        }
        self.sources.push(Kept {
            session,
            size_bytes,
            id,
        });
        Ok(())
    }

    /// Whether what it only brings files of has lost anything here.
    fn goes_on_from_purged(&self) -> Result<bool> {
        if !self.is_beyond {
            return Ok(false);
        }
        for need in &self.needs {
            if holds_purged(self.tx, need)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn records(&mut self, rest: &str) -> Result<()> {
        let [commit, at, spans] = words(rest)?;
        let commit = if self.is_beyond {
            hash(commit)?
        } else {
            self.own(commit)?
        };
        if !self.commits.contains_key(&commit) {
            self.beyond.insert(commit);
        }
        let at = usize::try_from(number(at)?).map_err(broken)?;
        let source = self.sources.get(at).ok_or_else(|| broken(SHORT))?;
        let mut read = Vec::new();
        for span in spans.split(',').filter(|span| !span.is_empty()) {
            let (offset, len) = span.split_once('+').ok_or_else(|| broken(SHORT))?;
            let (offset, len) = (number(offset)?, number(len)?);
            let end = offset.checked_add(len);
            if end.is_none_or(|end| end > source.size_bytes) {
                return Err(broken("a record is not in its session file"));
            }
            read.push(Span { offset, len });
        }
        // A recorded message may stand in a request that is recorded as well; nothing is named more often.
        let all = read
            .iter()
            .fold(0_u64, |all, span| all.saturating_add(span.len));
        if all / 2 > source.size_bytes {
            return Err(broken(
                "the records of one message are more than twice as long as their session file",
            ));
        }
        let Some(id) = source.id else { return Ok(()) };
        let known = self.tx.records_of(&commit)?;
        if known.iter().any(|(of, known)| *of == id && *known == read) {
            Ok(())
        } else {
            self.tx.put_records(&commit, id, &read)
        }
    }

    fn reference(&mut self, rest: &str) -> Result<()> {
        let [name, commit] = words(rest)?;
        let (name, commit) = (ref_name(name)?, hash(commit)?);
        let is_its = self.commits.contains_key(&commit) || self.needs.contains(&commit);
        let place = self.tips.len();
        if !is_its || self.places.insert(name.clone(), place).is_some() {
            return Err(broken("a ref leads out of it, or stands in it twice"));
        }
        self.tips.push((name, commit));
        Ok(())
    }

    fn note(&mut self, rest: &str) -> Result<()> {
        let mut parts = rest.splitn(3, ' ');
        let mut next = || parts.next().ok_or_else(|| broken(SHORT));
        let (tag, time, text) = (ref_name(next()?)?, next()?, next()?);
        let time = Millis(time.parse().map_err(broken)?);
        let text = serde_json::from_str(text).map_err(broken)?;
        let place = self.places.get(&tag);
        let place = place.ok_or_else(|| broken("a note on a tag that is not in it"))?;
        let (_, commit) = self.tips[*place];
        self.notes.insert(tag, TagNote { commit, time, text });
        Ok(())
    }

    /// Folds every path: what each commit names must be there, and all commits must lead somewhere. A path is folded up to the
    /// last commit that names an earlier one, and where no other tip led there: many refs beside one long path are no work.
    fn fold(&mut self) -> Result<()> {
        if !self.unnamed.is_empty() {
            return Err(broken("a message that no commit names"));
        }
        let needs: Vec<CommitHash> = self.needs.iter().copied().collect();
        let beyond: Vec<CommitHash> = self.beyond.iter().copied().collect();
        let lead = History::of(self.tx, &needs)?.holds(self.tx, &beyond)?;
        if lead.contains(&false) {
            return Err(broken(
                "it says something of a commit that does not lead to it",
            ));
        }
        let mut open: Vec<CommitHash> = self.tips.iter().rev().map(|(_, tip)| *tip).collect();
        while let Some(tip) = open.pop() {
            let (mut naming, mut at) = (None, Some(tip));
            while let Some(commit) = at
                && let Some(own) = self.commits.get_mut(&commit)
                && !own.is_reached
            {
                own.is_reached = true;
                open.extend(own.merged);
                if !own.is_append {
                    naming.get_or_insert(commit);
                }
                at = own.parent;
            }
            let Some(last) = naming else { continue };
            let mut order = Order::default();
            for row in self.tx.ancestors(&last, None, usize::MAX)?.iter().rev() {
                order.apply(row.hash, &row.commit).map_err(broken)?;
            }
        }
        if self.commits.values().all(|own| own.is_reached) {
            Ok(())
        } else {
            Err(broken("a commit that no ref leads to"))
        }
    }
}

pub(super) const SHORT: &str = "a line says too little";

/// Where a ref goes: under its own name, or beside it with a number where another history has that.
fn place_of(tx: &dyn Tx, name: &RefName, commit: &CommitHash) -> Result<(RefName, Arrival)> {
    let is_tag = name.as_str().starts_with(RefName::TAGS);
    for number in 1.. {
        let here = match number {
            1 => name.clone(),
            // Checked like any name: it may have become too long.
            number => name.numbered(number).as_str().parse().map_err(broken)?,
        };
        let arrival = match load::tip(tx, &here)? {
            None if tx.reference(&here)?.is_some() => continue,
            None => Arrival::New,
            Some(at) if at == *commit => Arrival::Known,
            Some(_) if is_tag => continue,
            Some(at) if leads_to(tx, commit, &at)? => Arrival::Known,
            Some(at) if leads_to(tx, &at, commit)? => Arrival::Grown,
            Some(_) => continue,
        };
        return Ok((here, arrival));
    }
    unreachable!("there is always another number")
}

pub(super) fn hash<T: std::str::FromStr<Err = Error> + ToString>(text: &str) -> Result<T> {
    let hash: T = text.parse().map_err(broken)?;
    if hash.to_string() == text {
        Ok(hash)
    } else {
        Err(broken("a hash in upper case"))
    }
}

pub(super) fn number(text: &str) -> Result<u64> {
    let number: u64 = text.parse().map_err(broken)?;
    if number.to_string() == text && i64::try_from(number).is_ok() {
        Ok(number)
    } else {
        Err(broken("a number that is none"))
    }
}

/// The words of a line, just so many.
pub(super) fn words<const N: usize>(text: &str) -> Result<[&str; N]> {
    let words: Vec<&str> = text.split(' ').collect();
    words.try_into().map_err(|_| broken(SHORT))
}

/// A branch, a tag or a session, by its full name.
pub(crate) fn ref_name(text: &str) -> Result<RefName> {
    let name: RefName = text.parse().map_err(broken)?;
    let made = match text {
        _ if text.starts_with(RefName::HEADS) => RefName::branch(text),
        _ if text.starts_with(RefName::TAGS) => RefName::tag(text),
        _ => return session_name(text),
    };
    if made.map_err(broken)? == name && name.refuse_hash().is_ok() {
        Ok(name)
    } else {
        Err(broken("a ref that nobody could make"))
    }
}

fn session_name(text: &str) -> Result<RefName> {
    let name: RefName = text.parse().map_err(broken)?;
    match name.as_session() {
        Some((tool, id)) if !tool.is_empty() && !id.is_empty() => Ok(name),
        _ => Err(broken("a session by a name that none has")),
    }
}
