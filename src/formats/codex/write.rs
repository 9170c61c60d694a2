//! The exporter: kept records as they were, new ones around them.

use std::io::Write;

use serde_json::{Value, json};

use super::asides::Asides;
use super::history::prompt_text;
use super::kept::{Kind, calls, is_legacy, kept, kind, replaced};
use super::record::{Record, TURN, TurnContext};
use crate::error::{Error, Result};
use crate::formats::shared::records::write_line;
use crate::formats::shared::remarks::Remarks;
use crate::formats::{Document, Export, Outgoing};
use crate::model::{Message, Millis, Part, Role, Settings, Usage};
use crate::wire::json::{Object, decode, string, word};
use crate::wire::responses::{self, OutputPairs};

/// How its maker's models are called.
const OWN_MODELS: [&str; 5] = ["gpt-", "codex-", "o1", "o3", "o4"];

/// Writes `messages`; returns what the format could not hold.
pub(super) fn export(export: Export<'_>) -> Result<Vec<String>> {
    let (messages, document) = (export.messages, export.document);
    let mut remarks = Remarks::default();
    let said = messages.iter().map(|outgoing| &outgoing.message);
    let pairs = OutputPairs::of(said, calls(&document.after), |_, _| true);
    let mut writer = Writer {
        out: export.out,
        document,
        legacy: !document.fresh && is_legacy(messages, document),
        time: document.now.unwrap_or(Millis(0)),
        total: Usage::default(),
        asides: Asides::of(messages, document),
        turn: Turn::default(),
    };
    let mut first = 0;
    if document.after.is_empty() {
        let system = messages.first();
        let system = system.filter(|first| first.message.role == Role::System);
        first = usize::from(system.is_some());
        if first > 0 {
            writer.asides(0)?;
        }
        writer.opening(system, messages, &mut remarks)?;
    }
    let mut closing: Vec<String> = Vec::new();
    for (at, outgoing) in messages.iter().enumerate().skip(first) {
        if outgoing.message.role != Role::Tool {
            for item in closing.drain(..) {
                writer.item(&item)?;
            }
        }
        writer.asides(at)?;
        if parts_replies(messages, at, document) {
            writer.end_turn(at, &mut remarks)?;
        }
        // What is read as one reply with the next has its time.
        let next = messages
            .get(at + 1)
            .filter(|_| is_joined(messages, at, document));
        writer.time = next.unwrap_or(outgoing).time.unwrap_or(writer.time);
        let prompt = outgoing.message.is_typed();
        let kept = kept(outgoing);
        // What the source says of its own messages stands in the file.
        let is_told = writer.asides.is_some();
        let is_own = outgoing.records.is_empty() && outgoing.replaces.is_empty();
        let is_due = is_own || !is_told;
        if prompt && is_due {
            writer.turn_context(Turn::of(first_settings(messages, at), document))?;
        } else if outgoing.message.role == Role::Assistant {
            let turn = Turn::of(&outgoing.settings, document);
            if turn.changes(&writer.turn) && (is_due || writer.turn.model.is_some()) {
                writer.turn_context(turn)?;
            }
        }
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
        if document.fresh {
            closing.extend(pairs.closing(at, &outgoing.message));
        }
        if kept.is_none() || !is_told {
            writer.shown(&outgoing.message, prompt)?;
        }
        if let (Some(usage), true, false) = (outgoing.usage, document.after.is_empty(), is_told) {
            writer.count(usage)?;
        }
    }
    for item in closing {
        writer.item(&item)?;
    }
    writer.asides(messages.len())?;
    writer.standing()?;
    writer.out.flush().map_err(Error::io("export"))?;
    Ok(remarks.into_words())
}

/// Whether message `at` is a reply that would be read as one with the reply before it.
fn parts_replies(messages: &[Outgoing], at: usize, document: &Document) -> bool {
    let is_reply = |one: &Outgoing| one.message.role == Role::Assistant;
    let one = &messages[at];
    let before = at.checked_sub(1).map(|before| &messages[before]);
    let is_new = |one: &Outgoing| kept(one).is_none();
    let may_join = match before {
        Some(before) => is_reply(before) && (is_new(before) || is_new(one)),
        None => !document.after.is_empty(),
    };
    is_reply(one) && may_join && !document.fresh
}

/// Whether message `at` of a new session is read as one reply with the next one.
fn is_joined(messages: &[Outgoing], at: usize, document: &Document) -> bool {
    let is_reply = |one: &Outgoing| one.message.role == Role::Assistant;
    let one = &messages[at];
    let turn = |one: &Outgoing| Turn::of(&one.settings, document);
    let is_next = |next: &Outgoing| is_reply(next) && !turn(next).changes(&turn(one));
    let is_followed = messages.get(at + 1).is_some_and(is_next);
    document.fresh && is_reply(one) && one.usage.is_none() && is_followed
}

/// The settings of the turn that the prompt at `at` begins: those of its first reply. Some clients say of a reply, not of
/// a prompt, which model it is for.
fn first_settings(messages: &[Outgoing], at: usize) -> &Settings {
    let turn = messages[at + 1..].iter();
    let mut turn = turn.take_while(|one| !one.message.is_typed());
    let reply = turn.find(|one| one.message.role == Role::Assistant);
    &reply.unwrap_or(&messages[at]).settings
}

/// What a `turn_context` says of the request.
#[derive(Default)]
struct Turn {
    model: Option<String>,
    effort: Option<String>,
}

impl Turn {
    /// By the settings in force. The tool goes on with the newest model of a session, which should be one of its own.
    fn of(settings: &Settings, document: &Document) -> Self {
        let text = |key| serde_json::from_str::<String>(settings.get(key)?).ok();
        let is_any = !document.fresh || document.native;
        let is_own = |model: &String| OWN_MODELS.iter().any(|own| model.starts_with(own));
        Self {
            model: text("model").filter(|model| is_any || is_own(model)),
            effort: text("reasoning_effort"),
        }
    }

    /// What a record of the source's says, if it is one.
    fn told(record: &str) -> Option<Self> {
        if !record.contains(TURN) {
            return None;
        }
        let record = serde_json::from_str::<Record<'_>>(record).ok()?;
        let is_turn = word(record.r#type)? == TURN;
        let context = decode::<TurnContext<'_>>(record.payload).filter(|_| is_turn)?;
        Some(Self {
            model: string(context.model),
            effort: string(context.effort),
        })
    }

    /// Whether it says what is not in force after another one: what it is silent about stays.
    fn changes(&self, before: &Self) -> bool {
        let is_new = |own: &Option<String>, before| own.is_some() && own != before;
        self.model.is_some()
            && (is_new(&self.model, &before.model) || is_new(&self.effort, &before.effort))
    }

    /// Takes in what comes after it.
    fn follow(&mut self, next: Self) {
        self.model = next.model.or(self.model.take());
        self.effort = next.effort.or(self.effort.take());
    }
}

/// The response items that say message `at`.
fn items(at: usize, message: &Message, pairs: &OutputPairs, remarks: &mut Remarks) -> Vec<String> {
    remarks.add_failures(message);
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
    /// What of the source's other records stays, where any is at hand.
    pub(super) asides: Option<Asides>,
    /// What the newest `turn_context` of the file says.
    turn: Turn,
}

impl Writer<'_> {
    pub(super) fn line(&mut self, text: &str) -> Result<()> {
        write_line(self.out, text)
    }

    /// The records that are no messages before message `at`.
    fn asides(&mut self, at: usize) -> Result<()> {
        let Some(asides) = self.asides.take() else {
            return Ok(());
        };
        for record in self.document.asides(at) {
            if asides.stays(record) {
                self.line(record)?;
                if let Some(turn) = Turn::told(record) {
                    self.turn.follow(turn);
                }
            }
        }
        self.asides = Some(asides);
        Ok(())
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

    /// The end of a turn, which parts a reply from the next.
    fn end_turn(&mut self, at: usize, remarks: &mut Remarks) -> Result<()> {
        if self.legacy {
            remarks.say("replies side by side became one");
        }
        let turn = self.document.new_id(at as u64);
        self.event(&json!({
            "type": "task_complete", "turn_id": turn, "last_agent_message": null,
        }))
    }

    /// What a turn is made with, where the model is known.
    fn turn_context(&mut self, turn: Turn) -> Result<()> {
        let Some(model) = &turn.model else {
            return Ok(());
        };
        let context = Object::new()
            .string("cwd", &self.document.cwd)
            .string("approval_policy", "on-request")
            .raw("sandbox_policy", &Object::typed("read-only").finish())
            .string("model", model)
            .optional("effort", turn.effort.as_deref())
            .string("summary", "auto");
        self.enveloped(TURN, &context.finish())?;
        self.turn.follow(turn);
        Ok(())
    }

    /// What the provider counted; it also parts a reply from the next.
    fn count(&mut self, last: Usage) -> Result<()> {
        self.total = self.total.plus(last);
        let [total, last] = [self.total, last].map(|usage| {
            json!({
                "input_tokens": usage.input_tokens,
                "cached_input_tokens": usage.cached_tokens,
                "cache_write_input_tokens": usage.written_tokens,
                "output_tokens": usage.output_tokens,
                "reasoning_output_tokens": usage.reasoning_tokens,
                "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
            })
        });
        let info = json!({"total_token_usage": total, "last_token_usage": last});
        self.event(&json!({"type": "token_count", "info": info}))
    }

    /// What the tool's screen and its list of sessions show of a message.
    fn shown(&mut self, message: &Message, prompt: bool) -> Result<()> {
        if message.is_between_agents() {
            return Ok(());
        }
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
