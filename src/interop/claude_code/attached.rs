//! What the client attached to a message, as the texts that it sends for the record.
//!
//! Each text is a part of one message; in which form they stand in a request is the model's choice
//! ([`crate::compile`]). Deliberately absent: prompts of pages that no record holds; a line in
//! brackets stands in their place, and the session says that they are not in the file.
//!
//! # Source
//!
//! Observed: sessions of Claude Code 2.1.197 beside the requests that it sent.

mod words;

use serde_json::Value;

use crate::model::{Media, MediaSource, Part};
use crate::wire::Notes;
use crate::wire::anthropic;
use crate::wire::json::Raw;

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

/// Kinds of which nothing is sent.
const SILENT: [&str; 12] = [
    "already_read_file",
    "auto_mode",
    "command_permissions",
    "goal_status",
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_stopped_continuation",
    "hook_system_message",
    "max_turns_reached",
    "structured_output",
];

/// Kinds of which something may be sent.
const TELLING: [&str; 27] = [
    "agent_listing_delta",
    "agent_mention",
    "async_hook_response",
    "budget_usd",
    "compact_file_reference",
    "deferred_tools_delta",
    "directory",
    "edited_text_file",
    "file",
    "hook_additional_context",
    "hook_blocking_error",
    "hook_success",
    "invoked_skills",
    "mcp_instructions_delta",
    "nested_memory",
    "output_style",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "queued_command",
    "skill_listing",
    "task_reminder",
    "task_status",
    "todo_reminder",
    "token_usage",
    "ultrathink_effort",
    "workflow_keyword_request",
];

/// Whether a kind of attachment is known, and whether it may be sent.
pub(super) fn tells(kind: &str) -> Option<bool> {
    match TELLING.contains(&kind) {
        true => Some(true),
        false => SILENT.contains(&kind).then_some(false),
    }
}

/// What is sent for the attachment in a record.
pub(super) fn sent(raw: Raw<'_>, notes: &mut Notes) -> Sent {
    let text = raw.map_or("null", serde_json::value::RawValue::get);
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
        return Sent::Unknown;
    };
    let record = Record(fields);
    let kind = record.text("type").unwrap_or_default().to_owned();
    let Some(true) = tells(&kind) else {
        return match tells(&kind) {
            Some(_) => Sent::Nothing,
            None => Sent::Unknown,
        };
    };
    let in_part = matches!(&*kind, "plan_mode_reentry")
        || kind == "plan_mode" && record.text("reminderType") != Some("sparse");
    match record.parts(&kind, notes) {
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

    fn objects(&self, key: &str) -> impl Iterator<Item = &serde_json::Map<String, Value>> {
        let list = self.0.get(key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_object)
    }

    /// A number in the digits that it was written in.
    fn number(&self, key: &str) -> Option<String> {
        let value = self.0.get(key)?;
        value.is_number().then(|| value.to_string())
    }

    fn is_true(&self, key: &str) -> bool {
        self.0.get(key) == Some(&Value::Bool(true))
    }

    /// The texts for a kind; none where its record is not as it should be.
    fn parts(&self, kind: &str, notes: &mut Notes) -> Option<Vec<Part>> {
        let one = |text: String| Some(vec![Part::text(text)]);
        match kind {
            "file" => self.file(),
            "directory" => {
                let (path, content) = (self.text("path")?, self.text("content")?);
                Some(words::directory(path, content))
            }
            "queued_command" => self.queued(notes),
            "hook_success" => {
                let event = self.text("hookEvent")?;
                let content = self.text("content").unwrap_or_default();
                let is_sent = matches!(event, "SessionStart" | "UserPromptSubmit");
                match is_sent && !content.is_empty() {
                    true => one(words::hook_success(self.text("hookName")?, content)),
                    false => Some(Vec::new()),
                }
            }
            "hook_additional_context" => {
                let content = self.texts("content");
                match content.is_empty() {
                    true => Some(Vec::new()),
                    false => one(words::hook_context(self.text("hookName")?, &content)),
                }
            }
            "hook_blocking_error" => {
                let error = self.0.get("blockingError")?.as_object()?;
                let text = |key| error.get(key)?.as_str();
                let (command, error) = (text("command")?, text("blockingError")?);
                one(words::hook_blocked(self.text("hookName")?, command, error))
            }
            "async_hook_response" => {
                let response = self.0.get("response")?.as_object()?;
                let message = response.get("systemMessage").and_then(Value::as_str);
                let context = response.get("hookSpecificOutput");
                let context = context.and_then(|output| output.get("additionalContext"));
                let texts = [message, context.and_then(Value::as_str)];
                Some(texts.into_iter().flatten().map(Part::text).collect())
            }
            "nested_memory" => {
                let content = self.0.get("content")?.get("content")?.as_str()?;
                one(words::memory(self.text("path")?, content))
            }
            "edited_text_file" => {
                let (file, snippet) = (self.text("filename")?, self.text("snippet")?);
                one(words::edited(file, snippet))
            }
            "skill_listing" => one(words::skills(self.text("content")?)),
            "agent_listing_delta" => {
                let added = self.texts("addedLines");
                let removed = self.texts("removedTypes");
                let is_first = self.is_true("isInitial");
                let noted = self.is_true("showConcurrencyNote");
                let texts = words::agents(&added, &removed, is_first, noted);
                Some(texts.into_iter().map(Part::text).collect())
            }
            "deferred_tools_delta" => {
                let (added, pending) = (self.texts("addedLines"), self.texts("pendingMcpServers"));
                let text = words::deferred_tools(&added, &pending);
                Some(text.map(Part::text).into_iter().collect())
            }
            "mcp_instructions_delta" => {
                let blocks = self.texts("addedBlocks");
                match blocks.is_empty() {
                    true => Some(Vec::new()),
                    false => one(words::mcp(&blocks)),
                }
            }
            "invoked_skills" => {
                let skills = self.objects("skills").map(|skill| {
                    let text = |key| skill.get(key).and_then(Value::as_str);
                    Some((text("name")?, text("path")?, text("content")?))
                });
                let skills: Vec<_> = skills.collect::<Option<_>>()?;
                one(words::invoked_skills(&skills))
            }
            "task_status" => {
                let running = self.text("status") == Some("running");
                let agent = self.text("taskType") == Some("local_agent");
                if !running || !agent {
                    return None;
                }
                let (what, id) = (self.text("description")?, self.text("taskId")?);
                one(words::running(what, id, self.text("outputFilePath")?))
            }
            "task_reminder" => {
                let tasks = self.objects("content").map(|task| {
                    let text = |key| task.get(key).and_then(Value::as_str);
                    Some((text("id")?, text("status")?, text("subject")?))
                });
                let tasks: Vec<_> = tasks.collect::<Option<_>>()?;
                one(words::tasks(&tasks))
            }
            "todo_reminder" => {
                let todos = self.objects("content").map(|todo| {
                    let text = |key| todo.get(key).and_then(Value::as_str);
                    Some((text("status")?, text("content")?))
                });
                let todos: Vec<_> = todos.collect::<Option<_>>()?;
                one(words::todos(&todos))
            }
            "plan_mode" => {
                let plan = self.text("planFilePath")?;
                match self.text("reminderType") {
                    Some("sparse") => one(words::plan_mode_still(plan)),
                    _ => one(words::plan_mode(plan)),
                }
            }
            "plan_mode_exit" => {
                let plan = self.text("planFilePath")?;
                one(words::plan_mode_left(plan, self.is_true("planExists")))
            }
            "plan_mode_reentry" => one(words::plan_mode_again(self.text("planFilePath")?)),
            "compact_file_reference" => one(words::too_large(self.text("filename")?)),
            "agent_mention" => one(words::mentioned(self.text("agentType")?)),
            "output_style" => one(words::style(self.text("style")?)),
            "ultrathink_effort" => one(words::ULTRATHINK.to_owned()),
            "workflow_keyword_request" => one(words::ULTRACODE.to_owned()),
            "token_usage" => {
                let number = |key| self.number(key);
                let (used, total) = (number("used")?, number("total")?);
                one(words::token_usage(&used, &total, &number("remaining")?))
            }
            "budget_usd" => {
                let number = |key| self.number(key);
                let (used, total) = (number("used")?, number("total")?);
                one(words::budget(&used, &total, &number("remaining")?))
            }
            _ => None,
        }
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
                let picture = Media {
                    media_type: text("type").map(str::to_owned),
                    name: None,
                    detail: None,
                    source: MediaSource::Base64(text("base64")?.to_owned()),
                };
                Some(vec![
                    Part::text(words::called_read(name)),
                    Part::Image(picture),
                ])
            }
            "pdf" => {
                let size = file.get("originalSize")?.as_u64()?;
                let said = format!("PDF file read: {} ({size} bytes)", text("filePath")?);
                Some(words::read(name, &said))
            }
            _ => None,
        }
    }

    /// What came in while the model worked: a prompt or the notice of a task.
    fn queued(&self, notes: &mut Notes) -> Option<Vec<Part>> {
        let prompt = self.0.get("prompt")?;
        let is_notice = self.text("commandMode") == Some("task-notification");
        let framed = |text: &str| match is_notice {
            true => words::notice(text),
            false => words::queued(text),
        };
        if let Some(text) = prompt.as_str() {
            return Some(vec![Part::text(framed(text))]);
        }
        let raw = serde_json::value::to_raw_value(prompt).ok()?;
        let parts = anthropic::parts(Some(&raw), notes).ok()?;
        let framed = parts.into_iter().map(|part| match part {
            Part::Text { text } => Part::text(framed(&text)),
            part => part,
        });
        Some(framed.collect())
    }
}
