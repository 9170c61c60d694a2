//! The exporter: kept records as they were, new ones around them.

use std::io::Write;

use serde_json::{Value, json};

use super::history::{prompt_text, typed};
use super::kept::{Kind, calls, is_legacy, kept, kind, replaced};
use super::pairs::Pairs;
use crate::error::{Error, Result};
use crate::interop::remarks::Remarks;
use crate::interop::{Document, Outgoing};
use crate::model::{Message, Millis, Part, Role, Settings, Usage};
use crate::wire::json::Object;
use crate::wire::responses;

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(
    messages: &[Outgoing],
    document: &Document,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let mut remarks = Remarks::default();
    let pairs = Pairs::of(messages, calls(&document.after));
    let mut writer = Writer {
        out,
        document,
        legacy: !document.fresh && is_legacy(messages, document),
        time: document.now.unwrap_or(Millis(0)),
        total: Usage::default(),
    };
    let mut first = 0;
    if document.after.is_empty() {
        let system = messages.first();
        let system = system.filter(|first| first.message.role == Role::System);
        writer.opening(system, messages, &mut remarks)?;
        first = usize::from(system.is_some());
    }
    let mut closing: Vec<String> = Vec::new();
    for (at, outgoing) in messages.iter().enumerate().skip(first) {
        if outgoing.message.role != Role::Tool {
            for item in closing.drain(..) {
                writer.item(&item)?;
            }
        }
        writer.time = outgoing.time.unwrap_or(writer.time);
        let prompt = typed(&outgoing.message);
        if prompt {
            writer.turn_context(&outgoing.settings)?;
        }
        let kept = kept(outgoing);
        match &kept {
            Some(records) => {
                for record in *records {
                    writer.kept(record)?;
                }
            }
            None => {
                let replaced = replaced(outgoing);
                let new = || items(at, &outgoing.message, &pairs, &mut remarks);
                for item in replaced.unwrap_or_else(new) {
                    writer.item(&item)?;
                }
            }
        }
        if document.fresh || kept.is_none() {
            closing.extend(pairs.closing(at, &outgoing.message));
        }
        writer.shown(&outgoing.message, prompt)?;
        if let (Some(usage), true) = (outgoing.usage, document.after.is_empty()) {
            writer.count(usage)?;
        }
    }
    for item in closing {
        writer.item(&item)?;
    }
    writer.out.flush().map_err(Error::io("export"))?;
    Ok(remarks.into_words())
}

/// The response items that say message `at`.
fn items(at: usize, message: &Message, pairs: &Pairs, remarks: &mut Remarks) -> Vec<String> {
    for part in &message.parts {
        if let Part::ToolResult { is_error: true, .. } = part {
            remarks.add("the mark of a failed tool call");
        }
    }
    let kind = |index| pairs.kind(at, index);
    responses::items(message, kind, at + 1, &mut remarks.repairs)
}

pub(super) struct Writer<'a> {
    out: &'a mut dyn Write,
    pub(super) document: &'a Document,
    pub(super) legacy: bool,
    /// Of the records that are being written.
    pub(super) time: Millis,
    /// The sum of what was counted.
    total: Usage,
}

impl Writer<'_> {
    pub(super) fn line(&mut self, text: &str) -> Result<()> {
        writeln!(self.out, "{text}").map_err(Error::io("export"))
    }

    /// A record of its own; the legacy layout has none but items.
    pub(super) fn enveloped(&mut self, kind: &str, payload: &str) -> Result<()> {
        if self.legacy {
            return Ok(());
        }
        let time = self.time.to_iso();
        self.line(&format!(
            r#"{{"timestamp":"{time}","type":"{kind}","payload":{payload}}}"#
        ))
    }

    pub(super) fn event(&mut self, event: &Value) -> Result<()> {
        self.enveloped("event_msg", &event.to_string())
    }

    fn item(&mut self, payload: &str) -> Result<()> {
        if self.legacy {
            self.line(payload)
        } else {
            self.enveloped("response_item", payload)
        }
    }

    /// A record as it was; an item without envelope gets one among those that have it.
    fn kept(&mut self, record: &str) -> Result<()> {
        match kind(record) {
            Kind::Bare if !self.legacy => self.enveloped("response_item", record),
            _ => self.line(record),
        }
    }

    /// The settings of a turn, where the model is known and may be one of the tool's.
    fn turn_context(&mut self, settings: &Settings) -> Result<()> {
        let text = |key| serde_json::from_str::<String>(settings.get(key)?).ok();
        let Some(model) = text("model").filter(|model| !model.starts_with("claude")) else {
            return Ok(());
        };
        let turn = Object::new()
            .string("cwd", &self.document.cwd)
            .string("approval_policy", "on-request")
            .raw("sandbox_policy", &Object::typed("read-only").finish())
            .string("model", &model)
            .optional("effort", text("reasoning_effort").as_deref())
            .string("summary", "auto");
        self.enveloped("turn_context", &turn.finish())
    }

    /// What the provider counted; it also parts a reply from the next.
    fn count(&mut self, last: Usage) -> Result<()> {
        let total = &mut self.total;
        total.input_tokens = total.input_tokens.saturating_add(last.input_tokens);
        total.output_tokens = total.output_tokens.saturating_add(last.output_tokens);
        let [total, last] = [*total, last].map(|usage| {
            json!({
                "input_tokens": usage.input_tokens,
                "cached_input_tokens": 0,
                "output_tokens": usage.output_tokens,
                "reasoning_output_tokens": 0,
                "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
            })
        });
        let info = json!({"total_token_usage": total, "last_token_usage": last});
        self.event(&json!({"type": "token_count", "info": info}))
    }

    /// What the tool's screen and its list of sessions show of a message.
    fn shown(&mut self, message: &Message, prompt: bool) -> Result<()> {
        if prompt {
            let images = message.parts.iter().filter_map(|part| match part {
                Part::Image(media) => responses::image_url(media),
                _ => None,
            });
            return self.event(&json!({
                "type": "user_message",
                "message": prompt_text(message),
                "images": images.collect::<Vec<_>>(),
                "local_images": [],
                "text_elements": [],
            }));
        }
        for part in &message.parts {
            if let (Role::Assistant, Part::Text { text }) = (message.role, part) {
                self.event(&json!({"type": "agent_message", "message": text}))?;
            }
        }
        Ok(())
    }
}
