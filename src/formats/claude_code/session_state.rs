//! What a resumed session needs beside its messages: the records by which the client renders the system
//! prompt again, and knows the tools that the model has loaded; as which agent, in which mode and in which directory
//! it goes on; which files it can put back; and what it attached, where the record that told of it is not its own.
//!
//! Deliberately absent: what belongs to one session alone (what it has cost, its link to a remote, its queue), and
//! the folder of modifications that bears its id.
//!
//! # Source
//!
//! Observed: Claude Code 2.1.330 resumes with the system prompt of the newest `prompt_snapshot`, and sends no
//! reference to a tool of which no `deferred_tools_record` tells. The program of 2.1.332 says which records it writes
//! again at the end of a file, the last of each kind.

use std::collections::HashSet;

use serde_json::json;

use super::attachments;
use super::record::{Attachment, Record, renders};
use super::write::Writer;
use crate::formats::shared::fields::Fields;
use crate::formats::{Document, Outgoing};
use crate::model::Part;
use crate::wire::attachments::{tagged, untagged};
use crate::wire::json::{decode, word};

const SNAPSHOT: &str = "prompt_snapshot";
const TOOLS: &str = "deferred_tools_record";
/// Which tools were offered and which hidden, since the last compaction.
const OFFER: &str = "tool_offer_record";
const BOUNDARY: &str = "compact_boundary";
const RELOCATED: &str = "relocated";
const WORKTREE: &str = "worktree-state";
const MEMORY: &str = "memory-mode";
const CHECKPOINT: &str = "file-history-snapshot";
const CHANGE: &str = "file-history-delta";

/// Records of which the last one of its kind is in force.
const IN_FORCE: [&str; 14] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "atis-latch",
    "isolation-latch",
    MEMORY,
    "mode",
    "permission-mode",
    RELOCATED,
    "repl-mode",
    "session-owner",
    "tag",
    "tools-used",
    WORKTREE,
];

/// Whether a record says how things stand, or is told by no message and may say something to a client.
pub(super) fn is_state(record: &str) -> bool {
    // Most lines are none, and long.
    let mut len = record.len().min(300);
    while !record.is_char_boundary(len) {
        len -= 1;
    }
    let front = &record[..len];
    let kinds = IN_FORCE
        .iter()
        .chain(&[SNAPSHOT, TOOLS, OFFER, BOUNDARY, CHECKPOINT, CHANGE]);
    let is_known = kinds.copied().any(|kind| front.contains(kind)) && kind(record).is_some();
    is_known || front.contains(r#""attachment""#) && is_unread(record)
}

/// Whether a record is an attachment of an older client that no message tells. A newer client may put into words what
/// its own version did not.
fn is_unread(record: &str) -> bool {
    if kind(record).is_some() {
        return false;
    }
    let Ok(record) = serde_json::from_str::<Record<'_>>(record) else {
        return false;
    };
    let attachment: Attachment<'_> = decode(record.attachment).unwrap_or_default();
    let is_older = !word(record.version).is_some_and(|version| renders(&version));
    let kind = word(attachment.kind);
    kind.is_some_and(|kind| is_older && attachments::tells(&kind) != Some(true))
        && attachments::rendered(&record).is_none()
}

/// The kind of such a record.
fn kind(record: &str) -> Option<&'static str> {
    let record = Fields::parse(record)?;
    let kind = record.string("type")?;
    let loose = IN_FORCE.into_iter().chain([CHECKPOINT, CHANGE]);
    if let Some(known) = loose.into_iter().find(|known| *known == kind) {
        return Some(known);
    }
    if record.is("subtype", BOUNDARY) {
        return Some(BOUNDARY);
    }
    let kind = Fields::parse(record.get("attachment")?.get())?.string("type")?;
    let attached = [SNAPSHOT, TOOLS, OFFER];
    attached.into_iter().find(|known| *known == kind)
}

/// Whether a record is of the conversation.
pub(super) fn is_said(record: &str) -> bool {
    let kind = Fields::parse(record).and_then(|record| record.string("type"));
    kind.is_some_and(|kind| kind == "user" || kind == "assistant")
}

/// The directory to which a session has moved for good: one in a worktree goes on where it began, and the client
/// enters the worktree again.
pub(super) fn moved_to(records: &[String]) -> Option<String> {
    let last = |wanted| records.iter().rev().find(|text| kind(text) == Some(wanted));
    if last(WORKTREE).is_some_and(|text| worktree(text).is_some()) {
        return None;
    }
    Fields::parse(last(RELOCATED)?)?.string("relocatedCwd")
}

/// The files that a record of checkpoints names, for a session, below the tool's directory.
pub(super) fn files(record: &str, session: &str) -> Vec<String> {
    let Some(fields) = Fields::parse(record) else {
        return Vec::new();
    };
    let within = |fields: &Fields, key: &str| Fields::parse(fields.get(key)?.get());
    let backups: Vec<Fields> = match kind(record) {
        Some(CHECKPOINT) => {
            let tracked = within(&fields, "snapshot");
            let tracked = tracked.and_then(|snapshot| within(&snapshot, "trackedFileBackups"));
            let tracked = tracked.unwrap_or_default();
            tracked
                .members()
                .filter_map(|(_, it)| Fields::parse(it.get()))
                .collect()
        }
        Some(CHANGE) => within(&fields, "backup").into_iter().collect(),
        _ => Vec::new(),
    };
    let names = backups.iter().filter_map(|it| it.string("backupFileName"));
    // Any other would lead elsewhere.
    let is_plain = |name: &String| !name.contains(['/', '\\']) && !name.starts_with('.');
    let names = names.filter(is_plain);
    names
        .map(|name| format!("file-history/{session}/{name}"))
        .collect()
}

/// The worktree that a record says a session is in.
fn worktree(record: &str) -> Option<Fields> {
    Fields::parse(Fields::parse(record)?.get("worktreeSession")?.get())
}

/// The worktree that a record says a session is in, unless the session goes on elsewhere. Of one that is gone the
/// client says so itself.
fn worktree_here(record: &str, document: &Document) -> Option<Fields> {
    let worktree = worktree(record)?;
    let is_own = |key| worktree.is(key, &document.cwd);
    let own = ["originalCwd", "preEnterOriginalCwd", "worktreePath"];
    (!document.elsewhere || own.into_iter().any(is_own)).then_some(worktree)
}

impl Writer<'_> {
    /// Writes how things stood, by the session's own records.
    pub(super) fn standing(&mut self) {
        let document = self.document;
        let of = |wanted| move |text: &&String| kind(text) == Some(wanted);
        let since = document.state.iter().rposition(|text| of(BOUNDARY)(&text));
        let since = since.map_or(0, |at| at + 1);
        let offers = document.state[since..].iter().filter(of(OFFER));
        let tools = document.state.iter().filter(of(TOOLS)).chain(offers);
        let snapshot = document.state.iter().rev().find(of(SNAPSHOT));
        let records: Vec<String> = tools.chain(snapshot).cloned().collect();
        self.beside(&records);
        for record in &document.state {
            if let Some(CHECKPOINT | CHANGE) = kind(record) {
                self.checkpoint(record);
            }
        }
        let worktree = document.state.iter().rev().find(of(WORKTREE));
        let worktree = worktree.and_then(|text| worktree_here(text, document));
        for wanted in IN_FORCE {
            let Some(text) = document.state.iter().rev().find(of(wanted)) else {
                continue;
            };
            let Some(mut fields) = Fields::parse(text) else {
                continue;
            };
            fields.set("sessionId", &self.session_id);
            match wanted {
                WORKTREE => match (&worktree, self::worktree(text)) {
                    (Some(here), _) => {
                        let mut here = here.clone();
                        here.set("sessionId", &self.session_id);
                        fields.set("worktreeSession", &here);
                    }
                    (None, Some(_)) => {
                        let remark = "the session was in a worktree, and goes on outside of it";
                        self.remarks.say(remark);
                        continue;
                    }
                    (None, None) => continue,
                },
                RELOCATED => {
                    let is_here = fields.is("relocatedCwd", &document.cwd);
                    if worktree.is_none() && !is_here {
                        continue;
                    }
                }
                // What was said while it was on is no longer told from what was said before.
                MEMORY if fields.is("mode", "off") => fields.set("afterUuid", &()),
                MEMORY => continue,
                _ => {}
            }
            self.line(&fields);
        }
    }

    /// Writes what the client attached behind a message, where no message tells it.
    pub(super) fn unread(&mut self, outgoing: &Outgoing) {
        let document = self.document;
        let uuid = |fields: &Fields| fields.string("uuid");
        let mut behind: HashSet<String> = Fields::of_all(&outgoing.records)
            .filter_map(|it| uuid(&it))
            .collect();
        for record in document.state.iter().filter(|record| is_unread(record)) {
            let Some(fields) = Fields::parse(record) else {
                continue;
            };
            let parent = fields.string("parentUuid");
            if parent.is_some_and(|parent| behind.contains(&parent)) {
                behind.extend(uuid(&fields));
                self.beside(std::slice::from_ref(record));
            }
        }
    }

    /// Writes a checkpoint of files as one of the new session's, unless its message is not in that.
    fn checkpoint(&mut self, record: &str) {
        let Some(mut fields) = Fields::parse(record) else {
            return;
        };
        let here = |fields: &Fields, key| self.renamed.get(&fields.string(key)?);
        let Some(message) = here(&fields, "messageId").cloned() else {
            return;
        };
        let of = here(&fields, "snapshotMessageId").cloned();
        let inner = fields
            .get("snapshot")
            .and_then(|raw| Fields::parse(raw.get()));
        if let Some(mut inner) = inner {
            let Some(own) = here(&inner, "messageId").cloned() else {
                return;
            };
            inner.set("messageId", &own);
            fields.set("snapshot", &inner);
        }
        fields.set("messageId", &message);
        match of {
            Some(of) => fields.set("snapshotMessageId", &of),
            None if fields.get("snapshotMessageId").is_some() => return,
            None => {}
        }
        self.line(&fields);
    }

    /// Writes what was attached as an attachment with its text beside it, where the client takes that; says
    /// whether it does.
    pub(super) fn rendered(&mut self, outgoing: &Outgoing) -> bool {
        let message = &outgoing.message;
        let texts: Option<Vec<&str>> = message.parts.iter().map(Part::as_text).collect();
        let (Some(kind), Some(texts)) = (&message.attached, texts) else {
            return false;
        };
        if !renders(&self.version) || texts.is_empty() {
            return false;
        }
        let is_users = texts.iter().all(|text| untagged(text).is_some());
        let rendered: Vec<_> = texts
            .into_iter()
            .map(|text| json!({"content": tagged(text)}))
            .collect();
        let mut fields = self.envelope(outgoing, "attachment", None);
        fields.remove("message");
        fields.set("attachment", &json!({"type": kind}));
        fields.set("rendered", &rendered);
        fields.set("renderedRole", &if is_users { "user" } else { "system" });
        self.put(&fields);
        true
    }
}
