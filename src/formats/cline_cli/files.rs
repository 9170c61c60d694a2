//! The object of a session, joined of its files: the one with the messages as it is, and the others as members of it.

use super::{COMPACTION, MESSAGES_FILE, SESSION, UNREAD};
use crate::error::Result;
use crate::formats::format::{JoinedFiles, SessionFolder};
use crate::wire::json::{Object, array, is_object, quoted, tight};

/// What the names of the files beside it end with.
const SESSION_FILE: &str = ".json";
const COMPACTION_FILE: &str = ".compaction.json";

/// How a session's files lie.
pub(super) const FILES: JoinedFiles = JoinedFiles {
    shown_by: |path| {
        let ends = [MESSAGES_FILE, COMPACTION_FILE, SESSION_FILE];
        let stem = ends.iter().find_map(|end| path.strip_suffix(end))?;
        let is_name = !stem.is_empty() && !stem.contains('/');
        is_name.then(|| format!("{stem}{MESSAGES_FILE}"))
    },
    shows: |front| {
        let holds = |key: &str| memchr::memmem::find(front, key.as_bytes()).is_some();
        holds("\"sessionId\"") && holds("\"agent\"")
    },
    growing: |_, shown| Ok(beside(shown).into_iter().map(|(_, name)| name).collect()),
    document,
};

/// The members of the files beside one with messages, and their names.
fn beside(shown: &str) -> [(&'static str, String); 2] {
    let stem = shown.strip_suffix(MESSAGES_FILE).unwrap_or(shown);
    [(SESSION, SESSION_FILE), (COMPACTION, COMPACTION_FILE)]
        .map(|(key, end)| (key, format!("{stem}{end}")))
}

fn document(folder: &dyn SessionFolder, shown: &str) -> Result<String> {
    let messages = folder.text(shown)?.unwrap_or_default();
    let (mut joined, mut unread) = (Object::new(), Vec::new());
    let mut last = None;
    for (key, name) in beside(shown) {
        match folder.text(&name)? {
            Some(text) if !is_object(&text) => unread.push(quoted(&name)),
            // What says which session it is stands before what may be long.
            Some(text) if key == COMPACTION => last = Some(tight(&text)),
            Some(text) => joined = joined.raw(key, &tight(&text)),
            None => {}
        }
    }
    if !unread.is_empty() {
        joined = joined.raw(UNREAD, &array(unread));
    }
    let Some(members) = messages.trim().strip_prefix('{') else {
        return Ok(messages);
    };
    // A file that is cut short stays so.
    let whole = members.strip_suffix('}').filter(|_| is_object(&messages));
    let mut text = joined.finish();
    text.pop();
    let has_more = !members.trim_start().starts_with('}');
    if text.len() > 1 && has_more {
        text.push(',');
    }
    match (whole, last) {
        (Some(inner), Some(last)) => {
            let comma = if has_more { "," } else { "" };
            text += &format!("{inner}{comma}{}:{last}}}", quoted(COMPACTION));
        }
        _ => text += members,
    }
    Ok(text)
}
