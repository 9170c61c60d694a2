//! A commit's context back into a session file.

use std::io::Write;

use super::file::BLOCK_BYTES;
use super::outgoing::{Kept, outgoing, spans, texts};
use crate::compile::{Provider, RequestOptions, compile};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::history::{Repo, load};
use crate::interop::Shape;
use crate::interop::{Document, Format, Outgoing};
use crate::model::{Millis, Operation, Span};
use crate::store::{CommitRow, SessionRow, SourceRow, Store, View};

/// How to export.
#[derive(Clone, Copy, Debug)]
pub struct ExportOptions {
    /// The format to write.
    pub format: &'static Format,
    /// The time for new records that have none.
    pub now: Millis,
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
    let session = repo.session_of(commit)?;
    let named = session.as_ref().and_then(|(name, _)| name.as_session());
    Ok(named.and_then(|(tool, _)| Format::named(tool).ok()))
}

/// Writes the session at `commit` in a format.
///
/// History that came from a file of this format and was not changed since comes back as that
/// file's own bytes; own messages after it are appended as new records. Where something was
/// edited or hidden since, the file holds the context: untouched messages as their records were,
/// the others written anew, hidden ones left out.
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
        Found::AsItWas(kept) => kept.write(&*repo.store, options.format, out),
        Found::Request(request, done) => {
            writeln!(out, "{request}").map_err(Error::io("output"))?;
            Ok(done)
        }
        Found::Anew(messages, document, more) => {
            let mut remarks = (options.format.write)(&messages, &document, out)?;
            remarks.extend(more);
            let untouched = messages.iter().filter(|m| !m.records.is_empty()).count() as u64;
            Ok(Exported {
                remarks,
                untouched,
                written: messages.len() as u64 - untouched,
            })
        }
    }
}

/// What an export is going to write.
enum Found {
    /// A file as it was, perhaps with more at its end.
    AsItWas(AsItWas),
    /// A provider's request, and all that is to be said of it.
    Request(String, Exported),
    /// A file made from these messages, and remarks of its own.
    Anew(Vec<Outgoing>, Document, Vec<String>),
}

fn find(view: &dyn View, commit: &CommitHash, options: &ExportOptions) -> Result<Found> {
    let path = view.ancestors(commit, None, usize::MAX)?;
    if path.is_empty() {
        load::commit(view, commit)?;
    }
    let origin = origin(view, &path, options.format)?;
    if let Some(origin) = &origin
        && let Some(kept) = as_it_was(view, commit, &path, origin, options)?
    {
        return Ok(Found::AsItWas(kept));
    }
    let source = origin.as_ref().map(|origin| &origin.source);
    let context = load::context(view, commit)?;
    if origin.is_none()
        && let Some(provider) = options.format.provider
    {
        return as_request(view, &context, provider.parse()?);
    }
    let messages = outgoing(view, &context, &path, options.format, Kept::In(source))?;
    let document = Document {
        title: origin
            .as_ref()
            .and_then(|origin| origin.session.title.clone()),
        source: whole_document(view, source, options.format)?,
        ..document(view, commit, origin.as_ref(), &context, options)?
    };
    let mut remarks: Vec<String> = hidden(&context).into_iter().collect();
    if origin.is_some() && options.format.shape == Shape::Lines {
        remarks.push("records that are no messages are not in the file".to_owned());
    }
    Ok(Found::Anew(messages, document, remarks))
}

/// The remark that hidden messages call for.
fn hidden(context: &Context) -> Option<String> {
    let count = context.hidden_entries();
    (count > 0).then(|| format!("{count} hidden messages are not in the file"))
}

/// A history that comes from another format, as the provider's request: tools and settings in its
/// own form, by its own rules.
fn as_request(view: &dyn View, context: &Context, provider: Provider) -> Result<Found> {
    let messages = load::messages(view, &context.entries)?;
    let settings = load::settings(view, context)?;
    let options = RequestOptions {
        provider,
        whole_request: settings.contains_key("model"),
        strict: false,
    };
    let request = compile(&messages, &settings, &options)?;
    let mut remarks: Vec<String> = request.notices.iter().map(ToString::to_string).collect();
    remarks.extend(hidden(context));
    let done = Exported {
        remarks,
        untouched: 0,
        written: messages.len() as u64,
    };
    Ok(Found::Request(request.payload, done))
}

/// Where a path came from.
struct Origin {
    source: SourceRow,
    /// The commit on the path, nearest to its end, that came from it.
    last: CommitHash,
    session: SessionRow,
}

/// The newest source of `format` behind a path.
fn origin(view: &dyn View, path: &[CommitRow], format: &Format) -> Result<Option<Origin>> {
    let hashes: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
    for (row, records) in path.iter().zip(view.records(&hashes)?) {
        for (id, _) in records {
            let Some(source) = view.source(id)? else {
                continue;
            };
            if source.format != format.name {
                continue;
            }
            return Ok(Some(Origin {
                session: view.session(&source.session)?.unwrap_or_default(),
                source,
                last: row.hash,
            }));
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
    /// How many messages are in it.
    messages: u64,
    /// Whether this is all of the file: no line's end is missing then.
    is_whole: bool,
    /// Own messages after it.
    more: Option<(Vec<Outgoing>, Document)>,
}

impl AsItWas {
    fn write(self, store: &dyn Store, format: &Format, out: &mut dyn Write) -> Result<Exported> {
        let (mut offset, mut last) = (0, b'\n');
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
            let Some(end) = block.last() else {
                return Err(Error::Damaged {
                    detail: "a kept source is shorter than its size".into(),
                });
            };
            last = *end;
            offset += block.len() as u64;
            out.write_all(&block).map_err(Error::io("output"))?;
        }
        let mut done = Exported {
            untouched: self.messages,
            ..Exported::default()
        };
        if !self.is_whole && last != b'\n' {
            out.write_all(b"\n").map_err(Error::io("output"))?;
        }
        if let Some((messages, document)) = self.more {
            done.remarks = (format.write)(&messages, &document, out)?;
            done.written = messages.len() as u64;
        }
        Ok(done)
    }
}

/// The file as it was, if nothing but appends came after what was imported.
fn as_it_was(
    view: &dyn View,
    commit: &CommitHash,
    path: &[CommitRow],
    origin: &Origin,
    options: &ExportOptions,
) -> Result<Option<AsItWas>> {
    let Some(tip) = load::tip(view, &origin.source.session)? else {
        return Ok(None);
    };
    let ours = path.iter().take_while(|row| row.hash != origin.last);
    let own = ours.count();
    let appends = |row: &CommitRow| matches!(row.commit.operation, Operation::Append { .. });
    let whole = *commit == tip;
    let can_be = whole || options.format.shape == Shape::Lines;
    if !can_be || !path[..own].iter().all(appends) || !view.is_ancestor(&origin.last, &tip)? {
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
    if own == 0 && whole || origin.last == tip {
        end = source.size_bytes;
    }
    let mut more = None;
    if own > 0 {
        let mut context = load::context(view, commit)?;
        let document = Document {
            after: last_records,
            ..document(view, commit, Some(origin), &context, options)?
        };
        // What was appended last stands at the end.
        context.entries = context.entries.split_off(context.entries.len() - own);
        more = Some((
            outgoing(view, &context, path, options.format, Kept::In(None))?,
            document,
        ));
    }
    Ok(Some(AsItWas {
        source: source.id,
        session: source.session.short().to_owned(),
        end,
        messages: (path.len() - own) as u64,
        is_whole: whole && own == 0,
        more,
    }))
}

/// The text of a source that is one document.
fn whole_document(
    view: &dyn View,
    source: Option<&SourceRow>,
    format: &Format,
) -> Result<Option<String>> {
    let Some(source) = source.filter(|_| format.shape == Shape::Document) else {
        return Ok(None);
    };
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
