//! The visible entries of a context on their way out: each with its records and the settings that
//! were in force when it came.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::compile::{Provider, Repair, unpaired};
use crate::context::Context;
use crate::error::Result;
use crate::formats::shared::records::content;
use crate::formats::{FRONT_BYTES, Format, Outgoing, Shape, attachments, cited, may_cite};
use crate::hash::CommitHash;
use crate::model::price::Prices;
use crate::model::{HideKind, Message, Part, Settings, Span};
use crate::repo::kept::{format_of, spans, texts};
use crate::repo::served::ServedBy;
use crate::repo::thoughts::{lost_thoughts, take_thoughts};
use crate::repo::{Repo, load, path};
use crate::store::{CommitRow, SourceRow, View};

/// Where records may be taken from.
#[derive(Clone, Copy)]
pub(super) enum Kept<'a> {
    /// This source alone: what is written is that session.
    In(Option<&'a SourceRow>),
    /// Any source of the format: what is written is a new session of its tool.
    Any,
}

/// The visible entries on their way out to a format; `path` leads to the context, newest first.
pub(super) fn outgoing(
    view: &dyn View,
    context: &Context,
    path: &[CommitRow],
    format: &Format,
    kept: Kept<'_>,
) -> Result<Vec<Outgoing>> {
    let commits: Vec<CommitHash> = context.entries.iter().map(|e| e.id.commit).collect();
    let rows = commits.iter().zip(view.commits(&commits)?);
    let rows = rows.map(|(hash, row)| row.ok_or_else(|| load::unknown(hash)));
    let rows = rows.collect::<Result<Vec<_>>>()?;
    // A copy goes out as what it is a copy of.
    let commits = match kept {
        Kept::In(_) => commits,
        Kept::Any => origins(view, &rows)?,
    };
    // Only in a document a summary or a marker is a record like any other, and the hide's only one.
    let (records, in_document) = match kept {
        Kept::In(None) => (vec![None; commits.len()], false),
        Kept::In(Some(source)) => {
            let in_document = match Format::named(&source.format) {
                Ok(format) => shape(view, source, format)? == Shape::Document,
                Err(_) => false,
            };
            (texts_in(view, &commits, source.id)?, in_document)
        }
        Kept::Any => (texts_of(view, &commits, |other| other == format)?, false),
    };
    let messages = load::messages(view, &context.entries)?;
    let mut cited = cited_elsewhere(view, &messages, &commits, &records)?.into_iter();
    let on_path: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
    let in_force = in_force(path, &on_path);
    let told = messages.into_iter().zip(view.usage(&commits)?).zip(records);
    let mut outgoing = Vec::with_capacity(commits.len());
    let entries = context.entries.iter().zip(rows.iter().zip(&commits));
    for ((entry, (row, origin)), ((message, usage), records)) in entries.zip(told) {
        let is_own = entry.placed.is_none() || in_document;
        // What a tool attached in front of its summary stands among the records of the compaction.
        let records = records.filter(|_| is_own || message.is_attached());
        let records = records.unwrap_or_default();
        let is_whole = is_own && !entry.edited && entry.mask.is_empty();
        let (records, replaces) = match is_whole {
            true => (records, Vec::new()),
            false => (Vec::new(), records),
        };
        outgoing.push(Outgoing {
            message: if format.attaches {
                message
            } else {
                attachments::plain(&message).into_owned()
            },
            time: row.commit.time,
            settings: {
                let here = in_force.get(&row.hash).cloned().unwrap_or_default();
                if *origin == row.hash {
                    here
                } else {
                    with_model(view, here, origin)?
                }
            },
            usage,
            records,
            replaces,
            dollars: None,
            cited: cited.next().unwrap_or_default(),
            is_summary: entry.placed == Some(HideKind::Compaction),
        });
    }
    Ok(outgoing)
}

/// The context at a commit, and its visible messages with what their replies cost.
pub(super) fn priced_at(
    repo: &Repo,
    commit: &CommitHash,
    prices: &Prices,
) -> Result<(Context, Vec<Outgoing>)> {
    let view = repo.store.read()?;
    let context = load::context(&*view, commit)?;
    let path = view.ancestors(commit, None, usize::MAX)?;
    let plain = Format::named("openai")?;
    let mut messages = outgoing(&*view, &context, &path, plain, Kept::In(None))?;
    priced(&*view, &context, &mut messages, prices)?;
    Ok((context, messages))
}

/// Says what the replies among all messages of a context cost.
pub(super) fn priced(
    view: &dyn View,
    context: &Context,
    messages: &mut [Outgoing],
    prices: &Prices,
) -> Result<()> {
    let commits: Vec<CommitHash> = context.entries.iter().map(|e| e.id.commit).collect();
    let details = view.usage_details(&commits)?;
    for (commit, outgoing) in commits.iter().zip(messages) {
        let served = ServedBy::by(&outgoing.settings);
        let (Some(usage), Some(served)) = (&outgoing.usage, served.served()) else {
            continue;
        };
        let detail = details.get(commit).cloned().unwrap_or_default();
        let paid = prices.paid(served, usage, &detail, outgoing.time);
        outgoing.dollars = paid.map(|paid| paid.total());
    }
    Ok(())
}

/// What the texts of messages that have no records of the format refer to, by those of another format whose contents go to
/// Anthropic's models as they are, where there is anything to refer to.
fn cited_elsewhere(
    view: &dyn View,
    messages: &[Message],
    commits: &[CommitHash],
    records: &[Option<Vec<String>>],
) -> Result<Vec<Vec<(String, String)>>> {
    let mut found = vec![Vec::new(); commits.len()];
    if !messages.iter().any(|message| holds_source(&message.parts)) {
        return Ok(found);
    }
    let is_bare = |at: &usize| records[*at].is_none();
    let bare: Vec<usize> = (0..commits.len()).filter(is_bare).collect();
    let theirs: Vec<CommitHash> = bare.iter().map(|at| commits[*at]).collect();
    let is_sent = |format: &Format| format.contents_of == Some(Provider::Anthropic.as_str());
    for (at, texts) in bare.into_iter().zip(texts_of(view, &theirs, is_sent)?) {
        let contents = texts.into_iter().flatten();
        for content in contents.filter_map(|text| content(&text, true)) {
            let citing = cited(&content).into_iter();
            found[at].extend(citing.map(|(text, citations)| (text, citations.to_owned())));
        }
    }
    Ok(found)
}

/// Whether parts hold something that a text may refer to.
fn holds_source(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::File(_) => true,
        Part::Opaque { data, .. } => may_cite(data),
        Part::ToolResult { content, .. } => holds_source(content),
        _ => false,
    })
}

/// Says how many texts lose what they refer to in a format that has no place for it.
pub(super) fn without_citations(format: &Format, messages: &[Outgoing]) -> Option<String> {
    if format.contents_of == Some(Provider::Anthropic.as_str()) {
        return None;
    }
    let holds = |outgoing: &Outgoing, text: &str| {
        let mut texts = outgoing.message.parts.iter().filter_map(Part::as_text);
        texts.any(|own| own == text)
    };
    let counts = messages.iter().map(|outgoing| {
        let cited = outgoing.cited.iter();
        cited.filter(|(text, _)| holds(outgoing, text)).count()
    });
    match counts.sum() {
        0 => None,
        1 => Some("what 1 text refers to is left out".to_owned()),
        count => Some(format!("what {count} texts refer to is left out")),
    }
}

/// Takes the signed thoughts out of the tool loop that a context ends in, if one of them is gone: the tool would send the
/// others back, and its provider refuse them. Says how many they were.
pub(super) fn without_lost_thoughts(
    view: &dyn View,
    context: &Context,
    messages: &mut [Outgoing],
) -> Result<Option<String>> {
    let Some(running) = lost_thoughts(view, context)? else {
        return Ok(None);
    };
    let (mut count, mut first) = (0, running.start);
    for at in running {
        let outgoing = &mut messages[at];
        let taken = take_thoughts(&mut outgoing.message);
        if taken > 0 {
            outgoing.replaces.append(&mut outgoing.records);
            first = if count == 0 { at } else { first };
            count += taken;
        }
    }
    Ok((count > 0).then(|| Repair::LoopThinking.say(count, first + 1)))
}

/// Takes out the results that answer no call, as every request leaves them out: a provider refuses them, at each further
/// prompt. Says how many they were.
pub(super) fn without_unpaired(messages: &mut Vec<Outgoing>) -> Option<String> {
    let said: Vec<&Message> = messages.iter().map(|it| &it.message).collect();
    let unpaired = unpaired(&said);
    let (first, _) = *unpaired.first()?;
    let remark = Repair::UnpairedResult.say(unpaired.len(), first + 1);
    for (at, part) in unpaired.into_iter().rev() {
        let outgoing = &mut messages[at];
        outgoing.message.parts.remove(part);
        outgoing.replaces.append(&mut outgoing.records);
        if outgoing.message.parts.is_empty() {
            messages.remove(at);
        }
    }
    Some(remark)
}

/// How a kept source of a format is built.
pub(super) fn shape(view: &dyn View, source: &SourceRow, format: &Format) -> Result<Shape> {
    if format.is_document.is_none() {
        return Ok(format.shape);
    }
    let span = Span {
        offset: 0,
        len: source.size_bytes.min(FRONT_BYTES),
    };
    Ok(format.shape_of(&view.source_bytes(source.id, span)?))
}

/// Of each commit that no record is behind, the one that it is a copy of, as far as that is here.
fn origins(view: &dyn View, rows: &[CommitRow]) -> Result<Vec<CommitHash>> {
    let commits: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
    let mut origins = commits.clone();
    let bare = rows.iter().zip(view.records(&commits)?).zip(&mut origins);
    for ((row, records), origin) in bare {
        if records.is_empty() && row.commit.origin.is_some() {
            *origin = path::recorded(view, row)?;
        }
    }
    Ok(origins)
}

/// Settings with the model that was in force at another commit: a copied reply is of the model that gave it.
fn with_model(
    view: &dyn View,
    mut here: Arc<Settings>,
    origin: &CommitHash,
) -> Result<Arc<Settings>> {
    let by = view.settings_at(origin)?.remove("model");
    let row = by.map(|by| view.commit(&by)).transpose()?.flatten();
    let model = row.and_then(|row| row.commit.settings.get("model").cloned());
    if let Some(model) = model
        && here.get("model") != Some(&model)
    {
        Arc::make_mut(&mut here).insert("model".to_owned(), model);
    }
    Ok(here)
}

/// The settings in force at each of these commits of a path.
fn in_force(path: &[CommitRow], wanted: &[CommitHash]) -> HashMap<CommitHash, Arc<Settings>> {
    let wanted: BTreeSet<&CommitHash> = wanted.iter().collect();
    let mut found = HashMap::with_capacity(wanted.len());
    let mut now = Arc::new(Settings::new());
    for row in path.iter().rev() {
        if !row.commit.settings.is_empty() {
            Arc::make_mut(&mut now).extend(row.commit.settings.clone());
        }
        if wanted.contains(&row.hash) {
            found.insert(row.hash, Arc::clone(&now));
        }
    }
    found
}

/// The records behind these commits in one source.
fn texts_in(
    view: &dyn View,
    commits: &[CommitHash],
    source: u64,
) -> Result<Vec<Option<Vec<String>>>> {
    let spans = spans(view, commits, source)?.into_iter();
    let texts = spans.map(|spans| spans.map(|spans| texts(view, source, &spans)).transpose());
    texts.collect()
}

/// The records behind these commits in whatever source of a format has them.
pub(super) fn texts_of(
    view: &dyn View,
    commits: &[CommitHash],
    is_meant: impl Fn(&Format) -> bool,
) -> Result<Vec<Option<Vec<String>>>> {
    let mut known: HashMap<u64, bool> = HashMap::new();
    let mut found = Vec::with_capacity(commits.len());
    for records in view.records(commits)? {
        let mut of_format = None;
        for (source, spans) in records {
            let is_one = match known.entry(source) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => {
                    let format = format_of(view, source)?;
                    *unknown.insert(format.is_some_and(&is_meant))
                }
            };
            if is_one {
                of_format = Some(texts(view, source, &spans)?);
                break;
            }
        }
        found.push(of_format);
    }
    Ok(found)
}
