//! What the client attached to a message, as the texts that it sends for the record.
//!
//! Each text is a part of one message; in which form they stand in a request is the model's choice
//! ([`crate::compile`]). A newer client writes the texts beside the record; of an older one they are made
//! here of the record's fields. Deliberately absent: prompts of pages that no record holds; a line in
//! brackets stands in their place, and the session says that they are not in the file.
//!
//! # Source
//!
//! Observed: sessions of Claude Code 2.1.197 and 2.1.330 beside the requests that it sent.

mod words;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::queue::NOTICE;
use super::record::{self as outer, renders};
use crate::model::{Media, MediaSource, Part};
use crate::wire::Notes;
use crate::wire::anthropic;
use crate::wire::attachments::{tagged, untagged};
use crate::wire::json::{Raw, decode, is_true, string, word};

/// What is sent for an attachment.
#[derive(Debug, PartialEq)]
pub(super) enum Sent {
    /// Nothing.
    Nothing,
    /// These texts and pictures; whether some of it is in no record.
    Parts { parts: Vec<Part>, in_part: bool },
    /// It is of a kind that is not known here.
    Unknown,
}

/// Kinds of which nothing is sent where no text stands beside the record.
const SILENT: [&str; 19] = [
    "already_read_file",
    "auto_mode",
    "command_permissions",
    "companion_intro",
    "deferred_tools_record",
    "goal_status",
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_stopped_continuation",
    "hook_system_message",
    "max_turns_reached",
    "prompt_snapshot",
    "structured_output",
    "thinking_drop",
    "thinking_stripped",
    "tool_offer_record",
    "whole_texts_withdrawn",
];

/// Reads what is sent for a record; none where the record is not as it should be.
type Read = fn(&Record, &mut Notes) -> Option<Vec<Part>>;

/// Kinds of which something may be sent, and what that is.
const TELLING: [(&str, Read); 33] = [
    ("agent_listing_delta", |it, _| {
        let (added, removed) = (it.texts("addedLines"), it.texts("removedTypes"));
        let (first, noted) = (it.is_true("isInitial"), it.is_true("showConcurrencyNote"));
        Some(texts(words::agents(&added, &removed, first, noted)))
    }),
    ("agent_mention", |it, _| {
        one(words::mentioned(it.text("agentType")?))
    }),
    ("async_hook_response", |it, _| {
        let response = it.0.get("response")?.as_object()?;
        let message = response.get("systemMessage").and_then(Value::as_str);
        let context = response.get("hookSpecificOutput");
        let context = context.and_then(|output| output.get("additionalContext"));
        let said = [message, context.and_then(Value::as_str)];
        Some(texts(said.into_iter().flatten()))
    }),
    ("auto_mode_exit", |_, _| one(words::AUTO_MODE_LEFT)),
    ("budget_usd", |it, _| it.counted(words::budget)),
    ("compact_file_reference", |it, _| {
        one(words::too_large(it.text("filename")?))
    }),
    ("critical_system_reminder", |it, _| one(it.text("content")?)),
    ("date_change", |it, _| {
        one(words::new_date(it.text("newDate")?))
    }),
    ("deferred_tools_delta", |it, _| {
        let (added, pending) = (it.texts("addedLines"), it.texts("pendingMcpServers"));
        Some(texts(words::deferred_tools(&added, &pending)))
    }),
    ("directory", |it, _| {
        Some(words::directory(it.text("path")?, it.text("content")?))
    }),
    ("edited_text_file", |it, _| {
        one(words::edited(it.text("filename")?, it.text("snippet")?))
    }),
    ("file", |it, _| it.file()),
    ("hook_additional_context", |it, _| {
        it.listed("content", |it, content| {
            Some(words::hook_context(it.text("hookName")?, content))
        })
    }),
    ("hook_blocking_error", |it, _| {
        let error = it.0.get("blockingError")?.as_object()?;
        let text = |key| error.get(key)?.as_str();
        let (command, error) = (text("command")?, text("blockingError")?);
        one(words::hook_blocked(it.text("hookName")?, command, error))
    }),
    ("hook_success", |it, _| {
        let event = it.text("hookEvent")?;
        let content = it.text("content").unwrap_or_default();
        let is_sent = matches!(event, "SessionStart" | "UserPromptSubmit");
        if is_sent && !content.is_empty() {
            one(words::hook_success(it.text("hookName")?, content))
        } else {
            Some(Vec::new())
        }
    }),
    ("invoked_skills", |it, _| {
        let skills = it.objects("skills", ["name", "path", "content"])?;
        one(words::invoked_skills(&skills))
    }),
    ("mcp_instructions_delta", |it, _| {
        it.listed("addedBlocks", |_, blocks| Some(words::mcp(blocks)))
    }),
    ("nested_memory", |it, _| {
        let content = it.0.get("content")?.get("content")?.as_str()?;
        one(words::memory(it.text("path")?, content))
    }),
    ("opened_file_in_ide", |it, _| {
        one(words::opened(it.text("filename")?))
    }),
    ("output_style", |it, _| one(words::style(it.text("style")?))),
    ("plan_file_reference", |it, _| {
        one(words::plan(
            it.text("planFilePath")?,
            it.text("planContent")?,
        ))
    }),
    ("plan_mode", |it, _| {
        let plan = it.text("planFilePath")?;
        one(match it.text("reminderType") {
            Some("sparse") => words::plan_mode_still(plan),
            _ => words::plan_mode(plan),
        })
    }),
    ("plan_mode_exit", |it, _| {
        let plan = it.text("planFilePath")?;
        one(words::plan_mode_left(plan, it.is_true("planExists")))
    }),
    ("plan_mode_reentry", |it, _| {
        one(words::plan_mode_again(it.text("planFilePath")?))
    }),
    ("queued_command", |it, notes| it.queued(false, notes)),
    ("selected_lines_in_ide", |it, _| {
        let line = |key| it.0.get(key)?.as_u64();
        let lines = (line("lineStart")?, line("lineEnd")?);
        one(words::selected(
            lines,
            it.text("filename")?,
            it.text("content")?,
        ))
    }),
    ("skill_listing", |it, _| {
        one(words::skills(it.text("content")?))
    }),
    ("task_reminder", |it, _| {
        let tasks = it.objects("content", ["id", "status", "subject"])?;
        one(words::tasks(&tasks))
    }),
    ("task_status", |it, _| {
        let is_running = it.text("status") == Some("running");
        if !is_running || it.text("taskType") != Some("local_agent") {
            return None;
        }
        let (what, id) = (it.text("description")?, it.text("taskId")?);
        one(words::running(what, id, it.text("outputFilePath")?))
    }),
    ("todo_reminder", |it, _| {
        let todos = it.objects("content", ["status", "content"])?;
        one(words::todos(&todos))
    }),
    ("token_usage", |it, _| it.counted(words::token_usage)),
    ("ultrathink_effort", |_, _| one(words::ULTRATHINK)),
    ("workflow_keyword_request", |_, _| one(words::ULTRACODE)),
];

fn one(text: impl Into<String>) -> Option<Vec<Part>> {
    Some(vec![Part::text(text)])
}

fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<Part> {
    texts.into_iter().map(Part::text).collect()
}

/// How a kind is read of which something may be sent.
fn telling(kind: &str) -> Option<Read> {
    let found = TELLING.iter().find(|(known, _)| *known == kind);
    found.map(|(_, read)| *read)
}

/// Whether a kind of attachment is known, and whether it may be sent.
pub(super) fn tells(kind: &str) -> Option<bool> {
    match telling(kind) {
        Some(_) => Some(true),
        None => SILENT.contains(&kind).then_some(false),
    }
}

/// The texts that stand beside the record of an attachment; none where it has none, or has them otherwise.
/// What goes into the user's message, whatever the model, keeps the tags that it stands within.
pub(super) fn rendered(record: &outer::Record<'_>) -> Option<Vec<String>> {
    texts_of(record, record.rendered)
}

/// The texts that are sent for an attachment once it was withdrawn, in the same way.
pub(super) fn withdrawn(record: &outer::Record<'_>) -> Option<Vec<String>> {
    texts_of(record, record.rendered_withdrawn)
}

fn texts_of(record: &outer::Record<'_>, list: Raw<'_>) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Rendered {
        content: String,
    }
    let texts: Vec<Rendered> = decode(list)?;
    let is_users = word(record.rendered_role).as_deref() == Some("user");
    let texts: Option<Vec<String>> = texts
        .into_iter()
        .map(|text| {
            let within = untagged(&text.content)?.to_owned();
            Some(if is_users { text.content } else { within })
        })
        .collect();
    texts.filter(|texts| !texts.is_empty())
}

/// What is sent for a user's record that the client made and sends in a frame: the notice of a task, a note of its
/// own, the words of a hook. None for any other.
///
/// # Source
///
/// Observed, and the program's text: Claude Code 2.1.332 frames a note or a hook's words where the record says that
/// they are such. A record of an earlier client does not, and goes bare.
pub(super) fn framed(record: &outer::Record<'_>) -> Option<Part> {
    let message: outer::MessageHead<'_> = decode(record.message)?;
    let origin: outer::Origin<'_> = decode(record.origin).unwrap_or_default();
    // 2.1.197 sent one bare that came by its SDK.
    let is_systems = word(record.prompt_source).is_some_and(|source| source == "system");
    let is_framed = is_systems || word(record.version).is_some_and(|version| renders(&version));
    if word(origin.kind).is_some_and(|kind| kind == "task-notification") {
        if !is_framed {
            return None;
        }
        let text = words::turn_notice(&word(message.content)?);
        return Some(Part::text(tagged(&text)));
    }
    if !is_true(record.is_meta) {
        return None;
    }
    if is_true(record.hook_text) {
        let text = string(message.content)?;
        let text = match string(record.hook_text_lead) {
            Some(lead) => format!("{lead}\n{text}"),
            None => text,
        };
        return Some(Part::text(tagged(&text)));
    }
    if is_true(record.own_note) {
        let text = string(message.content)?;
        return Some(Part::text(tagged(
            &string(record.own_note_text).unwrap_or(text),
        )));
    }
    None
}

/// What is sent for what came in while the model worked, and has no attachment.
pub(super) fn from_queue(text: &str) -> Part {
    Part::text(match text.starts_with(NOTICE) {
        true => words::notice(text),
        false => words::queued(text),
    })
}

/// What is sent for the attachment in a record.
pub(super) fn sent(outer: &outer::Record<'_>, notes: &mut Notes) -> Sent {
    if let Some(said) = rendered(outer) {
        return Sent::Parts {
            parts: texts(said),
            in_part: false,
        };
    }
    let text = outer.attachment.map_or("null", RawValue::get);
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
        return Sent::Unknown;
    };
    let record = Record(fields);
    let kind = record.text("type").unwrap_or_default().to_owned();
    if kind == "queued_command"
        && outer.rendered_role.is_some()
        && let Some(parts) = record.queued(true, notes)
    {
        return Sent::Parts {
            parts,
            in_part: false,
        };
    }
    let Some(read) = telling(&kind) else {
        return if SILENT.contains(&&*kind) {
            Sent::Nothing
        } else {
            Sent::Unknown
        };
    };
    let in_part = kind == "plan_mode_reentry"
        || kind == "plan_mode" && record.text("reminderType") != Some("sparse");
    match read(&record, notes) {
        Some(parts) if parts.is_empty() => Sent::Nothing,
        Some(parts) => Sent::Parts { parts, in_part },
        None => Sent::Unknown,
    }
}

/// An attachment's fields.
struct Record(serde_json::Map<String, Value>);

impl Record {
    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    fn texts(&self, key: &str) -> Vec<&str> {
        let list = self.0.get(key).and_then(Value::as_array);
        let list = list.into_iter().flatten();
        list.filter_map(Value::as_str).collect()
    }

    /// What the objects of a list have by these keys; none where one lacks any.
    fn objects<const N: usize>(&self, key: &str, keys: [&str; N]) -> Option<Vec<[&str; N]>> {
        let list = self.0.get(key).and_then(Value::as_array);
        let objects = list.into_iter().flatten().filter(|it| it.is_object());
        let texts = objects.map(|it| {
            let texts = keys.map(|key| it[key].as_str());
            let is_whole = texts.iter().all(Option::is_some);
            is_whole.then(|| texts.map(Option::unwrap_or_default))
        });
        texts.collect()
    }

    /// What is sent for a list; nothing for an empty one.
    fn listed(&self, key: &str, words: fn(&Self, &[&str]) -> Option<String>) -> Option<Vec<Part>> {
        let list = self.texts(key);
        if list.is_empty() {
            Some(Vec::new())
        } else {
            one(words(self, &list)?)
        }
    }

    /// What is sent for how much was used, of how much, and how much is left: numbers in the digits that
    /// they were written in.
    fn counted(&self, words: fn(&str, &str, &str) -> String) -> Option<Vec<Part>> {
        let number = |key| {
            let value = self.0.get(key)?;
            value.is_number().then(|| value.to_string())
        };
        let (used, total) = (number("used")?, number("total")?);
        one(words(&used, &total, &number("remaining")?))
    }

    fn is_true(&self, key: &str) -> bool {
        self.0.get(key) == Some(&Value::Bool(true))
    }

    /// A file that was mentioned: what reading it would have given.
    fn file(&self) -> Option<Vec<Part>> {
        let content = self.0.get("content")?.as_object()?;
        let file = content.get("file")?.as_object()?;
        let text = |key| file.get(key)?.as_str();
        let name = self.text("filename")?;
        match content.get("type")?.as_str()? {
            "text" => {
                let first = file.get("startLine").and_then(Value::as_u64).unwrap_or(1);
                let lines = file.get("totalLines").and_then(Value::as_u64);
                let said = words::file_lines(text("content")?, first, lines.unwrap_or(1));
                Some(words::read(name, &said))
            }
            "image" => {
                let source = MediaSource::Base64(text("base64")?.to_owned());
                let picture = Media::new(text("type").map(str::to_owned), source);
                let called = Part::text(words::called_read(name));
                Some(vec![called, Part::Image(picture)])
            }
            "pdf" => {
                let size = file.get("originalSize")?.as_u64()?;
                let said = format!("PDF file read: {} ({size} bytes)", text("filePath")?);
                Some(words::read(name, &said))
            }
            _ => None,
        }
    }

    /// What came in while the model worked: a prompt or the notice of a task. A newer client has other words,
    /// and texts first.
    fn queued(&self, is_newer: bool, notes: &mut Notes) -> Option<Vec<Part>> {
        let prompt = self.0.get("prompt")?;
        let is_notice = self.text("commandMode") == Some("task-notification");
        let framed = |text: &str| match (is_notice, is_newer) {
            (true, _) => words::notice(text),
            (false, true) => words::queued_newer(text),
            (false, false) => words::queued(text),
        };
        if let Some(text) = prompt.as_str() {
            return one(framed(text));
        }
        let raw = serde_json::value::to_raw_value(prompt).ok()?;
        let parts = anthropic::parts(Some(&raw), notes).ok()?;
        let framed = parts.into_iter().map(|part| match part {
            Part::Text { text } => Part::text(framed(&text)),
            part => part,
        });
        let mut framed: Vec<Part> = framed.collect();
        if is_newer {
            framed.sort_by_key(|part| part.as_text().is_none());
        }
        Some(framed)
    }
}
