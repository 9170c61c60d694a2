//! Erasing messages for good, by their names or by what they say, wherever they are.
//!
//! Commits keep their hashes, and tombstones stand in the place of messages. A kept session file that
//! holds any of it goes whole: what is left of it would not be what was imported. Deliberately absent:
//! what lies outside the repository, and whatever is hashed with a commit.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::error::{Error, Refusal, Result};
use crate::formats::Input;
use crate::hash::{CommitHash, ContentHash};
use crate::model::pattern::Pattern;
use crate::model::{EntryId, MediaSource, Message, Operation, Part, RefName, Role};
use crate::repo::call::Call;
use crate::repo::copies;
use crate::repo::kept::KeptSource;
use crate::repo::load;
use crate::repo::prompts;
use crate::repo::repository::Repo;
use crate::repo::undo::{self, OperationEntry};
use crate::store::{CommitRow, View};
use crate::upkeep::asides::ErasedAside;
use crate::upkeep::notes::{self, noted};
use crate::upkeep::purge::{Purged, concluded};

/// How deep JSON in JSON is looked into.
const QUOTED: usize = 4;
/// What stands among what a session's file lacks once its records were erased: it is not kept again.
pub(crate) const ERASED: &str = "records that were purged";

/// Shorter texts are said by many messages of their own: "Go on."
const QUOTE_BYTES: usize = 12;

/// What is to be erased.
#[derive(Clone, Debug, Default)]
pub struct Erasing<'a> {
    /// These messages, in all that they ever said.
    pub entries: Vec<EntryId>,
    /// These contents.
    pub contents: Vec<ContentHash>,
    /// Whatever says this, in any spelling of JSON.
    pub pattern: Option<&'a Pattern>,
}

/// What would be erased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erasure {
    /// The messages, oldest first.
    pub messages: Vec<Erased>,
    /// The sessions whose kept files hold any of it, a file each.
    pub sources: Vec<RefName>,
    /// The sessions whose titles or directories say it.
    pub titles: Vec<RefName>,
    /// The tags whose notes say it.
    pub notes: Vec<RefName>,
    /// Refs whose names say it, and stay: a purge moves none.
    pub names: Vec<RefName>,
    /// The commits whose messages say all that one of these says, and stay: a merge's, say.
    pub quoting: Vec<CommitHash>,
    /// The operations that could be undone, and could not any more, newest first.
    pub ends: Vec<OperationEntry>,
    /// Copies from before a restore that hold any of it.
    pub asides: Vec<ErasedAside>,
    /// The commits whose note or reason says it, oldest first: these and all behind them get other names.
    pub noted: Vec<CommitHash>,
    /// The kept files, by number.
    files: Vec<u64>,
    /// All that is to be gone, what is gone already included.
    contents: Vec<ContentHash>,
}

/// A message that would be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erased {
    /// Its content.
    pub content: ContentHash,
    /// The first commit that names it.
    pub commit: Option<CommitHash>,
    /// Who speaks.
    pub role: Role,
    /// One line of it. Hostile until escaped.
    pub preview: String,
}

impl Erasing<'_> {
    /// The same by the names that commits have now.
    fn renamed(&self, renamed: &HashMap<CommitHash, CommitHash>) -> Self {
        let mut what = self.clone();
        for entry in &mut what.entries {
            entry.commit = *renamed.get(&entry.commit).unwrap_or(&entry.commit);
        }
        what
    }
}

impl Erasure {
    /// Whether there is nothing of it.
    pub fn is_nothing(&self) -> bool {
        self.messages.is_empty()
            && self.sources.is_empty()
            && self.titles.is_empty()
            && self.notes.is_empty()
            && self.noted.is_empty()
            && self.asides.is_empty()
    }
}

impl Repo {
    /// What [`Repo::erase`] would erase.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where what is to be erased is in a commit's settings: a request needs those.
    pub fn erasure(&self, what: &Erasing<'_>) -> Result<Erasure> {
        let view = self.store.read()?;
        let mut erasure = plan(&*view, what)?.0;
        erasure.asides = self.held_aside(&erasure.contents, what.pattern);
        if !erasure.messages.is_empty() {
            let contents = erasure.messages.iter().map(|it| it.content).collect();
            erasure.ends = undo::ended_by(&*view, contents)?;
        }
        drop(view);
        if !erasure.noted.is_empty() {
            // The log ends with the commits that it leads to.
            erasure.ends = self.operations(0)?;
            erasure.ends.retain(|it| !it.undone && !it.moves.is_empty());
        }
        Ok(erasure)
    }

    /// Erases messages for good, on whatever path, hidden or not, and what is kept of them beside:
    /// session files that hold them, titles, tags' notes, search terms, counts, and what operations were
    /// called. Then every file is rewritten; [`Purged::unfinished`] says where that was not possible yet.
    ///
    /// Erased messages read `[purged]`; a repeated import does not fill them again, nor does it keep their
    /// session's file, and no undo shows what is gone. A note or a reason is hashed with its commit: where one goes, that commit
    /// and all behind it are made again, under other names, all refs follow, and the log ends here.
    ///
    /// # Errors
    ///
    /// As [`Repo::erasure`], [`Error::Busy`], and [`Error::Refused`] where a merge under way leads to a commit whose note is
    /// to go. Where it fails, nothing is erased.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, Repo};
    /// use tract::upkeep::Erasing;
    /// use tract::model::pattern::Pattern;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let drafts = ["a secret", "and on"].map(|text| Draft::append(Message::text(Role::User, text)));
    /// let made = repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    ///
    /// let pattern = Pattern::regex("s.cret")?;
    /// let what = Erasing { pattern: Some(&pattern), ..Erasing::default() };
    /// assert_eq!(repo.erase(Call::default(), &what)?.contents, 1);
    /// let messages = repo.messages(&repo.context(&made[1].hash)?)?;
    /// assert_eq!(messages[0], Message::text(Role::User, "[purged]"));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn erase(&self, call: Call<'_>, what: &Erasing<'_>) -> Result<Purged> {
        let tx = self.store.write()?;
        let dropped = tx.drop_unreached()?;
        let says = |row: &CommitRow| {
            let pattern = what.pattern.iter();
            pattern
                .copied()
                .any(|it| noted(&row.commit).any(|text| holds(text, it, QUOTED)))
        };
        let unnoted = notes::erase_notes(&*tx, call, &says)?;
        // Messages are named by their commits.
        let renamed = what.renamed(&unnoted.renamed);
        let what = &renamed;
        let (mut erasure, sessions) = plan(&*tx, what)?;
        erasure.noted = unnoted.renamed.keys().copied().collect();
        if erasure.is_nothing() {
            drop(tx);
            return Ok(Purged {
                asides: self.erase_aside(call, &erasure.contents, what.pattern),
                names: erasure.names,
                quoting: erasure.quoting,
                ..Purged::default()
            });
        }
        let mut purged = Purged {
            contents: dropped.contents,
            size_bytes: dropped.size_bytes,
            sources: erasure.files.len() as u64,
            words: (erasure.titles.len() + erasure.notes.len()) as u64,
            notes: unnoted.notes,
            renamed: unnoted.renamed.len() as u64,
            names: erasure.names.clone(),
            quoting: std::mem::take(&mut erasure.quoting),
            ..Purged::default()
        };
        let gone: Vec<ContentHash> = erasure.messages.iter().map(|it| it.content).collect();
        for content in &gone {
            purged.contents += 1;
            purged.size_bytes += tx.purge_content(content)?;
        }
        tx.unindex(&gone)?;
        for name in &erasure.sources {
            copies::keep_origin(&*tx, name)?;
            prompts::keep_told(&*tx, name)?;
        }
        for file in &erasure.files {
            tx.purge_source(*file)?;
        }
        for name in &sessions {
            let mut session = tx.session(name)?.unwrap_or_default();
            if erasure.titles.contains(name) {
                (session.title, session.cwd) = (None, None);
            }
            if erasure.sources.contains(name) && !session.absent.iter().any(|it| it == ERASED) {
                session.absent.push(ERASED.to_owned());
            }
            tx.put_session(name, &session)?;
        }
        for tag in &erasure.notes {
            tx.set_tag_note(tag, None)?;
        }
        purged.unfinished = concluded(&*self.store, tx, call)?;
        self.forget_vectors()?;
        purged.asides = self.erase_aside(call, &erasure.contents, what.pattern);
        Ok(purged)
    }
}

impl Repo {
    /// What of these contents, and of whatever says this, the copies from before a restore hold.
    fn held_aside(&self, contents: &[ContentHash], pattern: Option<&Pattern>) -> Vec<ErasedAside> {
        let what = everywhere(contents, pattern);
        self.each_aside(&|copy| {
            let erasure = copy.erasure(&what)?;
            Ok((erasure.messages.len() + erasure.noted.len()) as u64)
        })
    }

    /// Erases the same in these copies, and takes away what restores have left that were killed.
    pub(crate) fn erase_aside(
        &self,
        call: Call<'_>,
        contents: &[ContentHash],
        pattern: Option<&Pattern>,
    ) -> Vec<ErasedAside> {
        self.sweep_drafts();
        self.sweep_backups();
        let what = everywhere(contents, pattern);
        self.each_aside(&|copy| {
            let purged = copy.erase(call, &what)?;
            Ok(purged.contents + purged.notes)
        })
    }
}

/// What is to be erased, by what it is everywhere.
fn everywhere<'a>(contents: &[ContentHash], pattern: Option<&'a Pattern>) -> Erasing<'a> {
    Erasing {
        contents: contents.to_vec(),
        pattern,
        ..Erasing::default()
    }
}

/// What goes, and the sessions of which something is known that changes.
fn plan(view: &dyn View, what: &Erasing<'_>) -> Result<(Erasure, BTreeSet<RefName>)> {
    let mut rows = view.by_reach(&[])?.unreached;
    rows.sort_by_key(|row| (row.depth, row.hash));
    let mut gone: BTreeSet<ContentHash> = what
        .entries
        .iter()
        .flat_map(|entry| said_by(&rows, *entry))
        .chain(what.contents.iter().copied())
        .collect();
    if let Some(pattern) = what.pattern {
        refuse_hashed(&rows, pattern)?;
        let all = view.all_contents()?;
        view.each_body(&all, &mut |at, body| {
            if let Ok(message) = Message::from_canonical(body)
                && says(&message, pattern)
            {
                gone.insert(all[at]);
            }
            Ok(())
        })?;
    }
    let pattern = what.pattern;
    let is_noted = |row: &&CommitRow| {
        pattern.is_some_and(|it| noted(&row.commit).any(|text| holds(text, it, QUOTED)))
    };
    let noted = rows.iter().filter(is_noted).map(|row| row.hash).collect();
    let named: Vec<ContentHash> = gone.into_iter().collect();
    let known = view.content_rows(&named)?.into_iter();
    let already = view.purged(&named)?;
    let mut erasure = Erasure {
        contents: named.clone(),
        noted,
        ..Erasure::default()
    };
    for ((content, known), already) in named.into_iter().zip(known).zip(already) {
        if let Some(known) = known.filter(|_| !already) {
            let names = |row: &&CommitRow| row.commit.operation.contents().contains(&content);
            erasure.messages.push(Erased {
                content,
                commit: rows.iter().find(names).map(|row| row.hash),
                role: known.role,
                preview: known.preview,
            });
        }
    }
    let place = |it: &Erased| rows.iter().position(|row| Some(row.hash) == it.commit);
    erasure.messages.sort_by_key(place);
    let sessions = beside(view, &rows, what, &mut erasure)?;
    Ok((erasure, sessions))
}

/// What is kept of it beside the messages.
fn beside(
    view: &dyn View,
    rows: &[CommitRow],
    what: &Erasing<'_>,
    erasure: &mut Erasure,
) -> Result<BTreeSet<RefName>> {
    let gone: HashSet<ContentHash> = erasure.messages.iter().map(|it| it.content).collect();
    let naming = rows.iter().filter(|row| {
        let contents = row.commit.operation.contents();
        contents.iter().any(|content| gone.contains(content))
    });
    let naming: Vec<CommitHash> = naming.map(|row| row.hash).collect();
    let behind = view.sources_behind(&naming)?;
    let says = |text: &str| what.pattern.is_some_and(|it| holds(text, it, QUOTED));
    let mut sessions = BTreeSet::new();
    for source in view.all_sources()? {
        let told = match load::tip(view, &source.session)? {
            Some(tip) => view.are_ancestors(&naming, &tip)?.contains(&true),
            None => false,
        };
        let file = KeptSource::new(view, source.id, source.size_bytes);
        if told
            || behind.contains(&source.id)
            || what.pattern.is_some() && is_said_in(&file, &says)?
        {
            erasure.files.push(source.id);
            erasure.sources.push(source.session.clone());
            sessions.insert(source.session);
        }
    }
    let texts: Vec<ContentHash> = gone.into_iter().collect();
    let texts: Vec<Message> = view.contents(&texts)?.into_iter().flatten().collect();
    if what.pattern.is_none() {
        erasure.quoting = quoting(view, rows, &texts, &erasure.contents)?;
    }
    let quotes = |title: &str| {
        let title = title.trim_end_matches('…').trim();
        let holds = |message: &Message| strings(message).iter().any(|text| text.contains(title));
        !title.is_empty() && texts.iter().any(holds)
    };
    for (name, session) in view.sessions()? {
        let is_said = session
            .title
            .iter()
            .any(|title| says(title) || quotes(title));
        if is_said || session.cwd.iter().any(|cwd| says(cwd)) {
            erasure.titles.push(name.clone());
            sessions.insert(name);
        }
    }
    if let Some(pattern) = what.pattern {
        let refs = view.references("refs/")?.into_iter();
        let refs = refs.map(|(name, _)| name);
        erasure.names = refs
            .filter(|name| pattern.is_in_text(name.as_str()))
            .collect();
    }
    for (tag, note) in view.all_tag_notes()? {
        if says(&note.text) {
            erasure.notes.push(tag);
        }
    }
    Ok(sessions)
}

/// Refuses what is hashed with a commit.
fn refuse_hashed(rows: &[CommitRow], pattern: &Pattern) -> Result<()> {
    let says = |text: &String| holds(text, pattern, QUOTED);
    for row in rows {
        let commit = row.hash.short();
        if row.commit.settings.values().any(says) {
            return Err(Error::Refused(Refusal::InSettings { commit }));
        }
    }
    Ok(())
}

/// All that a message ever said, and what was put in place of its parts, on whatever path.
fn said_by(rows: &[CommitRow], entry: EntryId) -> Vec<ContentHash> {
    let mut names = HashSet::from([entry]);
    let mut said = Vec::new();
    for row in rows {
        match &row.commit.operation {
            Operation::Append { content } if names.contains(&EntryId::of(row.hash)) => {
                said.push(*content);
            }
            Operation::Edit { target, content } if names.contains(target) => {
                // A later edit may name this one.
                names.insert(EntryId::of(row.hash));
                said.push(*content);
            }
            Operation::Hide(hide) => {
                let count = hide.replacements.len();
                for (at, put) in hide.replacements.iter().enumerate() {
                    if names.contains(&EntryId::replacement(row.hash, at, count)) {
                        said.push(put.content);
                    }
                }
                let parts = hide.parts.iter().filter(|part| names.contains(&part.entry));
                said.extend(parts.filter_map(|part| part.stub));
            }
            _ => {}
        }
    }
    said
}

/// The commits whose messages say, within one text, all that a text of these messages says, without those of `gone`.
fn quoting(
    view: &dyn View,
    rows: &[CommitRow],
    messages: &[Message],
    gone: &[ContentHash],
) -> Result<Vec<CommitHash>> {
    let texts = messages.iter().flat_map(strings).map(str::trim);
    let texts: Vec<&str> = texts.filter(|text| text.len() >= QUOTE_BYTES).collect();
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let all = view.all_contents()?;
    let mut found = HashSet::new();
    let looked = view.each_body(&all, &mut |at, body| {
        if let Ok(message) = Message::from_canonical(body)
            && strings(&message)
                .iter()
                .any(|said| texts.iter().any(|text| said.contains(text)))
        {
            found.insert(all[at]);
        }
        Ok(())
    });
    // What is damaged is no reason to keep what is to go.
    if !matches!(looked, Err(Error::Damaged { .. })) {
        looked?;
    }
    gone.iter().for_each(|content| _ = found.remove(content));
    let says = |row: &&CommitRow| {
        let contents = row.commit.operation.contents();
        contents.iter().any(|content| found.contains(content))
    };
    Ok(rows.iter().filter(says).map(|row| row.hash).collect())
}

/// Whether a message says what is looked for.
fn says(message: &Message, pattern: &Pattern) -> bool {
    let strings = strings(message);
    strings.iter().any(|text| holds(text, pattern, QUOTED))
}

/// All that a message says.
fn strings(message: &Message) -> Vec<&str> {
    fn of<'m>(parts: &'m [Part], all: &mut Vec<&'m str>) {
        for part in parts {
            match part {
                Part::Text { text } => all.push(text),
                Part::Thinking {
                    text, signature, ..
                } => {
                    all.push(text);
                    all.extend(signature.as_deref());
                }
                Part::ToolCall {
                    id,
                    name,
                    arguments,
                    ..
                } => all.extend([id.as_str(), name, arguments]),
                Part::ToolResult { call, content, .. } => {
                    all.push(call);
                    of(content, all);
                }
                Part::Image(media) | Part::File(media) => {
                    all.extend(media.name.as_deref());
                    let (MediaSource::Base64(text)
                    | MediaSource::Url(text)
                    | MediaSource::FileId(text)) = &media.source;
                    all.push(text);
                }
                Part::Opaque { data, .. } => all.push(data),
            }
        }
    }
    let mut all: Vec<&str> = Vec::new();
    all.extend(message.name.as_deref());
    all.extend(message.recipient.as_deref());
    of(&message.parts, &mut all);
    all
}

/// Whether a text holds what is looked for, as it stands or as JSON says it, however deep one text is
/// quoted in another.
fn holds(text: &str, pattern: &Pattern, depth: usize) -> bool {
    fn value(of: &Value, pattern: &Pattern, depth: usize) -> bool {
        match of {
            Value::String(text) => holds(text, pattern, depth),
            Value::Array(items) => items.iter().any(|it| value(it, pattern, depth)),
            Value::Object(fields) => fields
                .iter()
                .any(|(key, it)| pattern.is_in_text(key) || value(it, pattern, depth)),
            _ => false,
        }
    }
    if pattern.is_in_text(text) {
        return true;
    }
    let is_json = text.trim_start().starts_with(['{', '[', '"']);
    if depth == 0 || !is_json {
        return false;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values
        .by_ref()
        .map_while(|it| it.ok())
        .any(|it| value(&it, pattern, depth - 1))
}

/// Whether a kept file says it, in a line or as a whole.
fn is_said_in(file: &dyn Input, says: &dyn Fn(&str) -> bool) -> Result<bool> {
    let bytes = file.front(u64::MAX).map_err(Error::io("source"))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(says(&text) || text.lines().any(says))
}
