//! A session's files: what is known of it, its generations, what the screen showed and the records of its journals, to be
//! made one object ([`History`]).

use serde_json::Value;
use serde_json::value::RawValue;

use super::history::{Generation, History, Shown};
use super::{CURRENT, SESSION};
use crate::error::Result;
use crate::formats::format::{JoinedFiles, SessionFolder};
use crate::wire::json::{Object, decode, string, text_at, tight, word};

/// How `CURRENT` says what it is.
const STORE: &str = "mistral.vibe.unified-session-store/";

const JOURNALS: &str = "journal";
const GENERATIONS: &str = "generations";
/// What else belongs to a session.
const OTHERS: [&str; 4] = ["chunks", "quarantine", "meta.json", "scheduled-loops.json"];

/// How a session's files lie.
pub(super) const FILES: JoinedFiles = JoinedFiles {
    shown_by: |path| {
        let first = path.split('/').next()?;
        let is_own = [CURRENT, JOURNALS, GENERATIONS].contains(&first) || OTHERS.contains(&first);
        is_own.then(|| CURRENT.to_owned())
    },
    shows: |front| memchr::memmem::find(front, STORE.as_bytes()).is_some(),
    growing: |folder, _| {
        let journals = folder.names(JOURNALS)?.into_iter();
        let journals = journals.map(|name| format!("{JOURNALS}/{name}"));
        Ok(journals.chain(["meta.json".to_owned()]).collect())
    },
    document,
};

fn document(folder: &dyn SessionFolder, shown: &str) -> Result<String> {
    let current = folder.text(shown)?.unwrap_or_default();
    let newest = text_at(&current, "generation").unwrap_or_default();
    let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    let mut unread = Vec::new();
    let mut generations: Vec<Generation> = Vec::new();
    let journals = folder.names(JOURNALS)?;
    if !folder.names(GENERATIONS)?.contains(&newest) {
        unread.push(format!("{GENERATIONS}/{newest}: no manifest"));
    }
    // A newer one that is not named is on its way to the disk.
    for name in folder.names(GENERATIONS)?.into_iter().filter(is_number) {
        if name <= newest {
            generations.extend(generation(folder, &name, &journals, &mut unread)?);
        }
    }
    let place = format!("{GENERATIONS}/{newest}");
    let id = text_at(&current, "session_id");
    let (about, shown) = known(folder, &place, id, &mut unread)?;
    let mut history = History::showing(shown);
    let mut lines = Vec::new();
    for name in journals {
        let text = folder
            .text(&format!("{JOURNALS}/{name}"))?
            .unwrap_or_default();
        lines.extend(records(&name, &text, &mut unread));
    }
    history.tell(generations, &lines);
    unread
        .into_iter()
        .for_each(|reason| history.unread(&reason));
    let about = about.flag("sent", history.is_asked());
    Ok(history.object(Object::new().raw(SESSION, &about.finish())))
}

/// Reads a generation's context; the journal that goes on from there is among those that are there, or it is said.
fn generation(
    folder: &dyn SessionFolder,
    name: &str,
    journals: &[String],
    unread: &mut Vec<String>,
) -> Result<Option<Generation>> {
    lazy! {
        struct Written { snapshot_sequence, checkpoint, journal = "recovery_journal_segment" }
        struct Segment { path }
        struct Checkpoint { path, chunks }
        struct Whole { context }
        struct Inside { messages }
        struct Placed { message }
    }
    let place = format!("{GENERATIONS}/{name}");
    let text = folder.text(&format!("{place}/manifest.json"))?;
    let text = text.unwrap_or_default();
    let Ok(manifest) = serde_json::from_str::<Written<'_>>(&text) else {
        unread.push(format!("{place}: no manifest"));
        return Ok(None);
    };
    let segment: Segment<'_> = decode(manifest.journal).unwrap_or_default();
    let is_there = |path: &String| {
        let name = path
            .strip_prefix(JOURNALS)
            .and_then(|it| it.strip_prefix('/'));
        name.is_none_or(|name| journals.iter().any(|it| it == name))
    };
    if let Some(path) = string(segment.path).filter(|path| !is_there(path)) {
        unread.push(format!("{path}: a journal is missing"));
    }
    let checkpoint: Checkpoint<'_> = decode(manifest.checkpoint).unwrap_or_default();
    let file = string(checkpoint.path).unwrap_or_default();
    let whole = folder.text(&format!("{place}/{file}"))?.unwrap_or_default();
    let inside = serde_json::from_str::<Whole<'_>>(&whole).unwrap_or_default();
    let inside: Inside<'_> = decode(inside.context).unwrap_or_default();
    let mut lists = vec![
        inside
            .messages
            .map_or_else(String::new, |it| it.get().to_owned()),
    ];
    for chunk in decode::<Vec<String>>(checkpoint.chunks).unwrap_or_default() {
        lists.push(
            folder
                .text(&format!("chunks/{chunk}.json"))?
                .unwrap_or_default(),
        );
    }
    let messages = lists.iter().map(|list| {
        let placed: Vec<Placed<'_>> = serde_json::from_str(list).ok()?;
        let messages = placed.into_iter().map(|it| Some(tight(it.message?.get())));
        messages.collect::<Option<Vec<String>>>()
    });
    let messages: Option<Vec<Vec<String>>> = messages.collect();
    if messages.is_none() {
        unread.push(format!("{place}: a part of the context is missing"));
    }
    Ok(Some(Generation {
        sequence: decode(manifest.snapshot_sequence).unwrap_or_default(),
        messages: messages.map(|lists| lists.concat()),
    }))
}

/// What is known of a session by its newest generation, and what the screen showed of it.
fn known(
    folder: &dyn SessionFolder,
    place: &str,
    id: Option<String>,
    unread: &mut Vec<String>,
) -> Result<(Object, Vec<Shown>)> {
    let read = |path: &str| -> Result<Value> {
        let text = folder.text(path)?.unwrap_or_default();
        Ok(serde_json::from_str(&text).unwrap_or_default())
    };
    let meta = read("meta.json")?;
    let runtime = read(&format!("{place}/runtime-state.json"))?;
    let manifest = read(&format!("{place}/manifest.json"))?;
    let projection = read(&format!("{place}/projection-state.json"))?;
    let (identity, own) = (&runtime["identity"], &runtime["session_metadata"]);
    let (screen, id) = (&projection["snapshot"], id.as_deref());
    let used = &screen["session"]["tokenUsage"];
    let used = (!used.is_null()).then(|| used.to_string());
    let about = Object::new()
        .optional("id", id)
        .optional("cwd", own["cwd"].as_str())
        .optional(
            "title",
            meta["title"]
                .as_str()
                .or(screen["session"]["title"].as_str()),
        )
        .optional("model", own["active_model"].as_str())
        .optional("kind", identity["kind"].as_str())
        .optional("parent", identity["parent_session_id"].as_str())
        .optional_raw("usage", used.as_deref());
    let mut lists = vec![screen["history"]["entries"].to_string()];
    let chunks = manifest["projection_state"]["chunks"].as_array();
    for chunk in chunks.into_iter().flatten().filter_map(Value::as_str) {
        match folder.text(&format!("chunks/{chunk}.json"))? {
            Some(list) => lists.push(list),
            None => unread.push(format!(
                "{place}: a part of what the screen showed is missing, and the times with it"
            )),
        }
    }
    let entries = lists.iter().flat_map(|list| {
        let entries: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
        entries.into_iter().filter_map(Shown::of)
    });
    Ok((about, entries.collect()))
}

/// The records of a journal; that one is missing or broken is said. The last one may be on its way to the disk.
fn records(name: &str, text: &str, unread: &mut Vec<String>) -> Vec<Box<RawValue>> {
    lazy! { struct Linked { previous = "previous_record_sha256", own = "record_sha256" } }
    let mut records: Vec<Box<RawValue>> = Vec::new();
    let mut before: Option<String> = None;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for line in whole.lines().filter(|line| !line.trim().is_empty()) {
        let raw = RawValue::from_string(line.to_owned()).ok();
        let linked: Option<Linked<'_>> = raw.as_deref().and_then(|raw| decode(Some(raw)));
        let Some(linked) = linked else {
            unread.push(format!(
                "{JOURNALS}/{name}: a record that is no JSON object"
            ));
            continue;
        };
        if word(linked.previous).as_deref() != before.as_deref() {
            unread.push(format!("{JOURNALS}/{name}: a record is missing"));
        }
        before = string(linked.own);
        records.extend(raw);
    }
    records
}
