//! A commit's context back into a session file.

mod asides;
mod read_back;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use self::asides::asides;
use self::read_back::{Difference, Source, difference};
use super::file::BLOCK_BYTES;
use super::outgoing::{
    Kept, outgoing, priced, shape, without_citations, without_lost_thoughts, without_unpaired,
};
use crate::compile::{Provider, Repair, RequestOptions, compile};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::formats::{Document, Export, Format, Outgoing, Shape};
use crate::hash::CommitHash;
use crate::model::price::Prices;
use crate::model::{Message, Millis, RefName, Span};
use crate::repo::kept::KeptSource;
use crate::repo::kept::{spans, texts};
use crate::repo::thoughts::{lost_thoughts, take_thoughts};
use crate::repo::{On, Repo, load, path};
use crate::store::{CommitRow, SessionRow, SourceRow, Store, View};
use crate::upkeep::erase::ERASED;

/// How often a file is written at most until it is read as what it should say.
const REWRITES: usize = 6;

/// What is said of a session whose file is not kept here.
pub const WITHOUT_FILE: &str =
    "records that are no messages are not in the file: the session file is not here";

/// The same where a purge erased it: nobody brings it.
const FILE_ERASED: &str =
    "records that are no messages are not in the file: a purge erased the session file";

/// How to export.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// The format to write.
    pub format: &'static Format,
    /// The time for new records that have none.
    pub now: Millis,
    /// The session that is meant, where several say the same: [`session_meant`].
    pub session: Option<RefName>,
    /// The prices of replies, for formats that tell what they cost; none: costs are left out.
    pub prices: Option<Arc<Prices>>,
}

/// What an export wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// What the format could not hold, or what was left out, in words.
    pub remarks: Vec<String>,
    /// How many messages were written from their own records.
    pub untouched: u64,
    /// How many were written anew.
    pub written: u64,
}

/// The format of the session that a commit came from.
///
/// # Errors
///
/// The store's.
pub fn session_format(repo: &Repo, commit: &CommitHash) -> Result<Option<&'static Format>> {
    let session = match repo.session_of(commit)? {
        Some((name, _)) => Some(name),
        // A session that was handed over without its file goes by its name.
        None => named_session(repo, commit)?,
    };
    let named = session.as_ref().and_then(|name| name.as_session());
    Ok(named.and_then(|(tool, _)| Format::named(tool).ok()))
}

/// The session whose ref this commit goes on from, or leads to.
fn named_session(repo: &Repo, commit: &CommitHash) -> Result<Option<RefName>> {
    let view = repo.store.read()?;
    for (name, tip) in load::tips(&*view, RefName::SESSIONS)? {
        if view.is_ancestor(&tip, commit)? || view.is_ancestor(commit, &tip)? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Writes the session at `commit` in a format.
///
/// History that came from a file of this format and was not changed since comes back as that
/// file's own bytes; own messages after it are appended as new records. Where that would give
/// another context when it is read again (something was edited or hidden since, or what came later
/// stands between the records), the file holds the context: untouched messages as their records
/// were, the others written anew, hidden ones left out, and beside what stays the records that are
/// no messages.
///
/// What is written for a session of the format is read again before it is given out; where it says
/// something else than the context, a remark tells.
///
/// Nothing is held while `out` takes its time: whoever reads it may stop, and others go on.
///
/// # Errors
///
/// [`Error::Io`] from `out`, [`Error::Overtaken`] where what is being written was erased, and
/// the store's.
pub fn export(
    repo: &Repo,
    commit: &CommitHash,
    options: &ExportOptions,
    out: &mut dyn Write,
) -> Result<Exported> {
    // The view is closed at the end of this line.
    let found = find(&*repo.store.read()?, commit, options)?;
    match found {
        Found::AsItWas(kept) => kept.write(&*repo.store, out),
        Found::Whole(text, done) => {
            out.write_all(&text).map_err(Error::io("output"))?;
            Ok(done)
        }
        Found::Anew(messages, document, more) => {
            let mut remarks = options.format.writer()?(Export::of(&messages, &document, out))?;
            remarks.extend(more);
            Ok(Exported::of(&messages, remarks))
        }
    }
}

impl Exported {
    fn of(messages: &[Outgoing], remarks: Vec<String>) -> Self {
        let untouched = messages.iter().filter(|m| !m.records.is_empty()).count() as u64;
        Self {
            remarks,
            untouched,
            written: messages.len() as u64 - untouched,
        }
    }
}

/// What an export is going to write.
enum Found {
    /// A file as it was, perhaps with more at its end.
    AsItWas(AsItWas),
    /// This, and all that is to be said of it.
    Whole(Vec<u8>, Exported),
    /// A file made from these messages, and remarks of its own.
    Anew(Vec<Outgoing>, Box<Document>, Vec<String>),
}

fn find(view: &dyn View, commit: &CommitHash, options: &ExportOptions) -> Result<Found> {
    let path = view.ancestors(commit, None, usize::MAX)?;
    if path.is_empty() {
        load::commit(view, commit)?;
    }
    let origin = origin(view, &path, options)?;
    let context = load::context(view, commit)?;
    let Some(origin) = origin else {
        if let Some(provider) = options.format.provider {
            return as_request(view, &context, provider.parse()?);
        }
        let mut messages = outgoing(view, &context, &path, options.format, Kept::In(None))?;
        add_prices(view, &context, &mut messages, options)?;
        let thoughts = without_lost_thoughts(view, &context, &mut messages)?;
        let unpaired = without_unpaired(&mut messages);
        let mut document = document(view, commit, None, &context, options)?;
        let cited = without_citations(options.format, &messages);
        let session = path::session_of(view, commit)?;
        let own = session.as_ref().filter(|(name, _)| {
            let tool = name.as_session().map(|(tool, _)| tool);
            tool == Some(options.format.name)
        });
        let without_file = own.and_then(|(_, row)| {
            let lacks = |what| row.absent.iter().any(|it| it == what);
            match (lacks(ERASED), lacks(path::NO_FILE)) {
                (true, _) => Some(FILE_ERASED.to_owned()),
                (_, true) => Some(WITHOUT_FILE.to_owned()),
                _ => None,
            }
        });
        // Another tool goes on where the session was, under its title.
        if let Some((_, row)) = session {
            document.cwd = row.cwd.unwrap_or_default();
            document.title = row.title;
        }
        let cited = cited.into_iter().chain(without_file);
        let remarks = thoughts.into_iter().chain(unpaired).chain(cited);
        let remarks = remarks.chain(hidden(&context)).collect();
        return Ok(Found::Anew(messages, document.into(), remarks));
    };
    let kept = Kept::In(Some(&origin.source));
    let mut messages = outgoing(view, &context, &path, options.format, kept)?;
    add_prices(view, &context, &mut messages, options)?;
    let thoughts = without_lost_thoughts(view, &context, &mut messages)?;
    if let Some(kept) = as_it_was(view, commit, &path, &origin, &context, &messages, options)? {
        return Ok(Found::AsItWas(kept));
    }
    let document = Document {
        title: origin.session.title.clone(),
        source: whole_document(view, &origin.source, options.format)?,
        ..document(view, commit, Some(&origin), &context, options)?
    };
    let (text, mut done) = written(
        view,
        &path,
        &origin,
        &context,
        (messages, document),
        options,
    )?;
    done.remarks.extend(thoughts);
    Ok(Found::Whole(text, done))
}

/// Says what replies cost, where the format has a place for it.
fn add_prices(
    view: &dyn View,
    context: &Context,
    messages: &mut [Outgoing],
    options: &ExportOptions,
) -> Result<()> {
    match &options.prices {
        Some(prices) if options.format.tells_costs => priced(view, context, messages, prices),
        _ => Ok(()),
    }
}

/// A file of the context: with the records beside its messages, unless it is another context then.
fn written(
    view: &dyn View,
    path: &[CommitRow],
    origin: &Origin,
    context: &Context,
    (messages, mut document): (Vec<Outgoing>, Document),
    options: &ExportOptions,
) -> Result<(Vec<u8>, Exported)> {
    let format = options.format;
    let found = match shape(view, &origin.source, format)? {
        Shape::Lines => asides(view, path, origin, context, format)?,
        Shape::Document => BTreeMap::new(),
    };
    let hidden: Vec<String> = hidden(context).into_iter().collect();
    let lost = "records that are no messages are not in the file".to_owned();
    let is_all = found.is_empty();
    let mut best: Option<((usize, usize), Vec<u8>, Exported)> = None;
    for asides in [Some(found), (!is_all).then(BTreeMap::new)]
        .into_iter()
        .flatten()
    {
        document.asides = asides;
        let more = || {
            let lost = (document.asides.is_empty() && !is_all).then(|| lost.clone());
            hidden.iter().cloned().chain(lost)
        };
        let mut messages = messages.clone();
        for _ in 0..REWRITES {
            let mut text = Vec::new();
            let remarks = format.writer()?(Export::of(&messages, &document, &mut text))?;
            let wanted: Vec<&Message> = messages.iter().map(|it| &it.message).collect();
            let differs = difference(&&*text, format, origin.stem(), &wanted)?;
            let size = differs.as_ref().map_or((0, 0), Difference::size);
            if best.as_ref().is_none_or(|(least, ..)| size < *least) {
                let unsaid = differs.as_ref().filter(|_| remarks.is_empty());
                let unsaid = unsaid.map(Difference::say);
                let remarks = remarks.into_iter().chain(more()).chain(unsaid).collect();
                best = Some((size, text, Exported::of(&messages, remarks)));
            }
            if !differs.is_some_and(|differs| rewrite(&mut messages, &differs)) {
                break;
            }
        }
        if best.as_ref().is_some_and(|(size, ..)| *size == (0, 0)) {
            break;
        }
    }
    let (_, text, done) = best.expect("it was written at least once");
    Ok((text, done))
}

/// Has messages written anew whose records, without those of what is not in the file, say something
/// else: those that were not found, or else one beside what nobody wants. False if there are none.
fn rewrite(messages: &mut [Outgoing], differs: &Difference) -> bool {
    let has_records = |at: &usize| messages.get(*at).is_some_and(|one| !one.records.is_empty());
    let mut anew: Vec<usize> = differs
        .missing
        .iter()
        .copied()
        .filter(has_records)
        .collect();
    if anew.is_empty() {
        // What is missing then never had records: what nobody wants came of another's.
        let at = differs.surplus.or(differs.missing.first().copied());
        let at = at.or(differs.cut.first().copied());
        let near = at.map(|at| [Some(at), at.checked_add(1), at.checked_sub(1)]);
        let mut near = near.into_iter().flatten().flatten();
        anew.extend(near.find(has_records));
    }
    for at in &anew {
        messages[*at].records.clear();
    }
    !anew.is_empty()
}

/// The remark that hidden messages call for.
fn hidden(context: &Context) -> Option<String> {
    let count = context.hidden_entries();
    match count {
        0 => None,
        1 => Some("1 hidden message is not in the file".to_owned()),
        _ => Some(format!("{count} hidden messages are not in the file")),
    }
}

/// A history that comes from another format, as the provider's request: tools and settings in its
/// own form, by its own rules.
fn as_request(view: &dyn View, context: &Context, provider: Provider) -> Result<Found> {
    let mut messages = load::messages(view, &context.entries)?;
    let lost = lost_thoughts(view, context)?.filter(|_| provider == Provider::Anthropic);
    let taken = lost
        .into_iter()
        .flatten()
        .map(|at| (at, take_thoughts(&mut messages[at])));
    let taken: Vec<(usize, usize)> = taken.filter(|(_, count)| *count > 0).collect();
    let settings = load::settings(view, context)?;
    let options = RequestOptions {
        provider,
        whole_request: settings.contains_key("model"),
        strict: false,
    };
    let request = compile(&messages, &settings, &options)?;
    let mut remarks: Vec<String> = request.notices.iter().map(ToString::to_string).collect();
    let taken = taken.first().map(|(first, _)| {
        let count = taken.iter().map(|(_, count)| count).sum();
        Repair::LoopThinking.say(count, first + 1)
    });
    remarks.extend(taken.into_iter().chain(hidden(context)));
    let done = Exported {
        remarks,
        untouched: 0,
        written: messages.len() as u64,
    };
    Ok(Found::Whole(format!("{}\n", request.payload).into(), done))
}

/// Where a path came from.
struct Origin {
    source: SourceRow,
    /// The commit on the path, nearest to its end, that came from it.
    last: CommitHash,
    session: SessionRow,
}

impl Origin {
    /// By which name its file would be read.
    fn stem(&self) -> &str {
        let named = self.source.session.as_session();
        named.map_or("session", |(_, id)| id)
    }
}

/// The newest source of the format behind a path; that of the session that is meant before others.
fn origin(view: &dyn View, path: &[CommitRow], options: &ExportOptions) -> Result<Option<Origin>> {
    let hashes: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
    let mut known: BTreeMap<u64, Option<SourceRow>> = BTreeMap::new();
    let mut newest = None;
    for (row, records) in path.iter().zip(view.records(&hashes)?) {
        for (id, _) in records {
            if let std::collections::btree_map::Entry::Vacant(new) = known.entry(id) {
                new.insert(view.source(id)?);
            }
            let source = known[&id].as_ref();
            let Some(source) = source.filter(|it| it.format == options.format.name) else {
                continue;
            };
            let is_meant = options.session.as_ref() == Some(&source.session);
            if newest.is_none() || is_meant {
                newest = Some((source.clone(), row.hash));
            }
            if is_meant || options.session.is_none() {
                return of_source(view, newest);
            }
        }
    }
    of_source(view, newest)
}

fn of_source(view: &dyn View, found: Option<(SourceRow, CommitHash)>) -> Result<Option<Origin>> {
    let Some((source, last)) = found else {
        return Ok(None);
    };
    let session = view.session(&source.session)?.unwrap_or_default();
    Ok(Some(Origin {
        source,
        last,
        session,
    }))
}

/// The session that a revision means, by the branch or the session that it names: another one may
/// say the same.
///
/// # Errors
///
/// The store's.
pub fn session_meant(repo: &Repo, on: &On, revision: &str) -> Result<Option<RefName>> {
    let name = revision.split(['~', '^', '@', ':', '#']).next();
    let name = match name.unwrap_or_default() {
        "" | "HEAD" => match repo.head(on)?.branch() {
            Some(branch) => branch.clone(),
            None => return Ok(None),
        },
        name => match repo.reference_named(name) {
            Ok(name) => name,
            // A hash names no session.
            Err(_) => return Ok(None),
        },
    };
    if name.as_session().is_some() {
        return Ok(Some(name));
    }
    let view = repo.store.read()?;
    for (session, _) in view.sessions()? {
        if view.follower(&session)?.as_ref() == Some(&name) {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

/// A kept file, up to somewhere, and what comes after.
struct AsItWas {
    source: u64,
    /// Whose it is.
    session: String,
    /// Where it ends.
    end: u64,
    /// The records of own messages after it.
    more: Vec<u8>,
    done: Exported,
}

impl AsItWas {
    fn write(self, store: &dyn Store, out: &mut dyn Write) -> Result<Exported> {
        let mut offset = 0;
        while offset < self.end {
            let len = (self.end - offset).min(BLOCK_BYTES as u64);
            // A view for each block: a reader of ours that has stopped holds nobody up.
            let block = {
                let view = store.read()?;
                let block = view.source_bytes(self.source, Span { offset, len })?;
                if block.is_empty() && view.source(self.source)?.is_none() {
                    return Err(Error::Overtaken { name: self.session });
                }
                block
            };
            if block.is_empty() {
                return Err(Error::damaged("a kept source is shorter than its size"));
            }
            offset += block.len() as u64;
            out.write_all(&block).map_err(Error::io("output"))?;
        }
        out.write_all(&self.more).map_err(Error::io("output"))?;
        Ok(self.done)
    }
}

/// The file as it was, if nothing but appends came after what was imported, and nothing of what came
/// later in it is read with it.
fn as_it_was(
    view: &dyn View,
    commit: &CommitHash,
    path: &[CommitRow],
    origin: &Origin,
    context: &Context,
    messages: &[Outgoing],
    options: &ExportOptions,
) -> Result<Option<AsItWas>> {
    let Some(tip) = load::tip(view, &origin.source.session)? else {
        return Ok(None);
    };
    let ours = path.iter().take_while(|row| row.hash != origin.last);
    let own = ours.count();
    let appends = |row: &&CommitRow| row.appended().is_some();
    let whole = *commit == tip;
    let can_be = whole || shape(view, &origin.source, options.format)? == Shape::Lines;
    if !can_be || !path[..own].iter().all(|row| appends(&row)) {
        return Ok(None);
    }
    let source = &origin.source;
    let mut end = 0;
    let mut last_records = Vec::new();
    let theirs: Vec<CommitHash> = path[own..].iter().map(|row| row.hash).collect();
    for spans in spans(view, &theirs, source.id)? {
        let Some(spans) = spans else {
            return Ok(None);
        };
        end = spans
            .iter()
            .fold(end, |end, span| end.max(span.offset + span.len));
        if last_records.is_empty() {
            last_records = texts(view, source.id, &spans)?;
        }
    }
    if origin.last == tip {
        end = source.size_bytes;
    }
    let mut kept = AsItWas {
        source: source.id,
        session: source.session.short().to_owned(),
        end,
        more: Vec::new(),
        done: Exported {
            untouched: path[own..].iter().filter(appends).count() as u64,
            ..Exported::default()
        },
    };
    if whole && own == 0 {
        return Ok(Some(kept));
    }
    let last = Span {
        offset: end.saturating_sub(1),
        len: 1,
    };
    if view.source_bytes(source.id, last)? != b"\n" {
        kept.more.push(b'\n');
    }
    if own > 0 {
        // What was appended last stands at the end.
        let last = messages.len() - own;
        let document = Document {
            after: last_records,
            ..document(view, commit, Some(origin), context, options)?
        };
        kept.done.remarks =
            options.format.writer()?(Export::of(&messages[last..], &document, &mut kept.more))?;
        kept.done.written = own as u64;
    }
    let wanted: Vec<&Message> = messages.iter().map(|outgoing| &outgoing.message).collect();
    let text = Source {
        kept: KeptSource::new(view, source.id, end),
        more: &kept.more,
    };
    let differs = difference(&text, options.format, origin.stem(), &wanted)?;
    Ok(differs.is_none().then_some(kept))
}

/// The text of a source that is one document.
fn whole_document(view: &dyn View, source: &SourceRow, format: &Format) -> Result<Option<String>> {
    if shape(view, source, format)? != Shape::Document {
        return Ok(None);
    }
    let span = Span {
        offset: 0,
        len: source.size_bytes,
    };
    Ok(texts(view, source.id, &[span])?.pop())
}

/// What a format is told of an export: the source's session, or, without one, a new one whose id
/// the commit gives.
fn document(
    view: &dyn View,
    commit: &CommitHash,
    origin: Option<&Origin>,
    context: &Context,
    options: &ExportOptions,
) -> Result<Document> {
    let named = origin.and_then(|origin| origin.source.session.as_session());
    let seed = *commit.as_bytes();
    let session_id = match named {
        Some((_, id)) => id.to_owned(),
        None => {
            let first_16 = seed[..16].try_into().expect("32 bytes have 16");
            let id = uuid::Builder::from_random_bytes(first_16).into_uuid();
            id.to_string()
        }
    };
    let cwd = origin.and_then(|origin| origin.session.cwd.clone());
    Ok(Document {
        session_id,
        cwd: cwd.unwrap_or_default(),
        now: Some(options.now),
        settings: load::settings(view, context)?,
        seed,
        ..Document::default()
    })
}
