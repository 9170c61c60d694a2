//! One message: as many as the model was sent of it, in their order.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::PROVIDER;
use super::part::{Block, HOUR_TOKENS, called, file, is_hosted, is_same_thought, thoughts};
use crate::formats::shared::parts::{self, checked, said, time};
use crate::formats::shared::seals;
use crate::model::{Message, Millis, Part, Role, Usage};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string, text_or_json, word};

lazy! {
    /// What of a message is looked at. In Mastra's rows its parts are in `content`.
    pub(super) struct Record {
        role, parts, content, metadata, created_at = "createdAt", attachments = "experimental_attachments",
        invocations = "toolInvocations",
    }

    struct Beside {
        created_at = "createdAt", timestamp, model, model_id = "modelId", usage, total = "totalUsage",
        signal, of_pydantic = "pydantic_ai", steps,
    }

    struct Counts {
        input = "inputTokens", output = "outputTokens", cached = "cachedInputTokens", reasoning = "reasoningTokens",
        of_input = "inputTokenDetails", of_output = "outputTokenDetails",
    }

    struct Signal { r#type }
}

/// What a record says.
#[derive(Default)]
pub(super) struct Messages {
    pub(super) messages: Vec<(Message, Option<Millis>)>,
    /// Parts that are sent to no model, by their types, each as often as it is there.
    pub(super) left_out: Vec<String>,
    pub(super) model: Option<String>,
    /// What was counted for the one reply in it.
    pub(super) usage: Option<Usage>,
    /// What is known of the request behind each reply in it, where that is known of all.
    pub(super) steps: Vec<Known>,
}

/// What is known of one request.
#[derive(Default)]
pub(super) struct Known {
    pub(super) model: Option<String>,
    pub(super) usage: Option<Usage>,
    time: Option<Millis>,
}

/// Reads a record.
pub(super) fn read(raw: &RawValue, notes: &mut Notes) -> Result<Messages, String> {
    let outer: Record<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
    let inner: Option<Record<'_>> = decode(outer.content);
    let inner = inner.filter(|inner| inner.parts.is_some());
    let record = inner.as_ref().unwrap_or(&outer);
    let beside: Beside<'_> = decode(record.metadata).unwrap_or_default();
    let signal: Signal<'_> = decode(beside.signal).unwrap_or_default();
    let role = match word(outer.role).as_deref() {
        // What Mastra tells an agent while it works, or somebody says to it then.
        Some("signal") if string(signal.r#type).is_some_and(|it| it.starts_with("user")) => {
            Role::User
        }
        Some("signal") => return Ok(Messages::nothing("signal")),
        _ => parts::role(outer.role, &[Role::System, Role::User, Role::Assistant])?,
    };
    let mut steps = Steps {
        time: moment(outer.created_at)
            .or_else(|| moment(beside.created_at))
            .or_else(|| {
                let of_pydantic: Beside<'_> = decode(beside.of_pydantic).unwrap_or_default();
                moment(of_pydantic.timestamp)
            }),
        ..Steps::default()
    };
    let mut found = Notes::default();
    let blocks: Vec<&RawValue> = decode(record.parts).unwrap_or_default();
    let attached: Vec<&RawValue> = decode(record.attachments).unwrap_or_default();
    for raw in blocks {
        let block: Block<'_> = decode(Some(raw)).unwrap_or_default();
        steps.take(raw, &block, &mut found);
    }
    // Before there were parts, a message had its calls beside what was said last.
    let called: Vec<&RawValue> = decode(record.invocations).unwrap_or_default();
    if record.parts.is_none() {
        for raw in called {
            let block = Block {
                invocation: Some(raw),
                ..Block::default()
            };
            steps.call(&block, "tool-invocation", None);
        }
    }
    if !steps.is_spoken {
        steps.say(said(record.content).map(Part::text), None);
    }
    // Mastra keeps a file of the parts once more as an attachment.
    for raw in attached {
        let block: Block<'_> = decode(Some(raw)).unwrap_or_default();
        if said(block.url).is_none_or(|url| !steps.files.contains(&url)) {
            steps.say(file(&block), None);
        }
    }
    steps.end();
    let Steps {
        mut done,
        left_out,
        model,
        ..
    } = steps;
    if role != Role::Assistant {
        done = own(role, done);
    }
    checked(done.iter().map(|(message, _)| message))?;
    notes.merge(found);
    let replies = done
        .iter()
        .filter(|(message, _)| message.role == Role::Assistant);
    let usage = usage(beside.usage).or_else(|| usage(beside.total));
    let count = replies.count();
    let is_one = count == 1;
    let known = decode::<Vec<Beside<'_>>>(beside.steps).unwrap_or_default();
    let known: Vec<Known> = known.iter().map(Known::of).collect();
    let known = if known.len() == count {
        known
    } else {
        Vec::new()
    };
    let mut at = 0;
    for (message, time) in &mut done {
        at += usize::from(message.role == Role::Assistant);
        let of_step = at.checked_sub(1).and_then(|at| known.get(at)?.time);
        *time = of_step.or(*time);
    }
    Ok(Messages {
        messages: done,
        steps: known,
        left_out,
        model: said(beside.model_id)
            .or_else(|| said(beside.model))
            .or(model),
        usage: usage.filter(|_| is_one),
    })
}

impl Known {
    fn of(beside: &Beside<'_>) -> Self {
        Self {
            model: said(beside.model),
            usage: usage(beside.usage),
            time: moment(beside.created_at),
        }
    }
}

impl Messages {
    fn nothing(kind: &str) -> Self {
        Self {
            left_out: vec![kind.to_owned()],
            ..Self::default()
        }
    }
}

/// What a user or a program says, in one message; instructions are one text.
fn own(role: Role, said: Vec<(Message, Option<Millis>)>) -> Vec<(Message, Option<Millis>)> {
    let time = said.first().and_then(|(_, time)| *time);
    let mut parts: Vec<Part> = said.into_iter().flat_map(|(it, _)| it.parts).collect();
    if role.is_system() {
        let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
        parts = vec![Part::text(texts.concat())];
    }
    let message = parts::message(role, parts).filter(|message| !message.is_empty());
    message.map(|message| (message, time)).into_iter().collect()
}

/// The messages of a run, as its parts tell them.
#[derive(Default)]
struct Steps {
    done: Vec<(Message, Option<Millis>)>,
    reply: Vec<Part>,
    results: Vec<Part>,
    /// When the step began, else the message.
    begun: Option<Millis>,
    time: Option<Millis>,
    /// Whether what is said next belongs to another request.
    is_over: bool,
    is_cut: bool,
    /// The number of the step, where calls bear one.
    step: Option<String>,
    /// Whether anything but calls, thoughts and files is said.
    is_spoken: bool,
    /// The addresses of the files, or their data.
    files: Vec<String>,
    left_out: Vec<String>,
    model: Option<String>,
}

impl Steps {
    fn take(&mut self, raw: &RawValue, block: &Block<'_>, notes: &mut Notes) {
        let kind = string(block.r#type).unwrap_or_default();
        let time = moment(block.created_at);
        match kind.as_str() {
            "step-start" => {
                self.end();
                self.model = said(block.model).or(self.model.take());
            }
            "text" => {
                self.is_spoken = true;
                self.is_cut |= word(block.state).as_deref() == Some("streaming");
                self.say(seals::of_gemini(block.metadata), time);
                self.say(said(block.text).map(Part::text), time);
            }
            "reasoning" => {
                self.is_cut |= word(block.state).as_deref() == Some("streaming");
                thoughts(block)
                    .into_iter()
                    .for_each(|part| self.think(part, time));
            }
            "file" => {
                let address = [block.url, block.data].into_iter().find_map(said);
                self.files.extend(address);
                self.say(file(block), time);
            }
            "steering-message" => self.steer(block),
            "tool-invocation" | "dynamic-tool" => self.call(block, &kind, time),
            _ if kind.starts_with("tool-") => self.call(block, &kind, time),
            // A program's own, and what stands on the screen.
            _ if ["data-", "source"].iter().any(|it| kind.starts_with(it)) => {
                self.left_out.push(kind)
            }
            "error" => {
                self.is_spoken = true;
                self.left_out.push(kind);
            }
            _ => {
                self.is_spoken = true;
                let block = parts::opaque(PROVIDER, &kind, parts::object(raw.get()), notes);
                self.say(Some(block), time);
            }
        }
    }

    fn say(&mut self, part: Option<Part>, time: Option<Millis>) {
        let Some(part) = part else { return };
        if self.is_over {
            self.end();
        }
        self.begun = self.begun.or(time);
        self.reply.push(part);
    }

    fn think(&mut self, part: Part, time: Option<Millis>) {
        let last = self.reply.last_mut();
        match (
            last.filter(|last| !self.is_over && is_same_thought(last, &part)),
            &part,
        ) {
            (Some(Part::Thinking { text, .. }), Part::Thinking { text: more, .. }) => {
                *text += "\n\n";
                *text += more;
            }
            _ => self.say(Some(part), time),
        }
    }

    fn call(&mut self, block: &Block<'_>, kind: &str, time: Option<Millis>) {
        let is_old = kind == "tool-invocation";
        let inner: Block<'_> = decode(block.invocation).unwrap_or_default();
        if let Some(step) = text_or_json(inner.step) {
            let before = self.step.replace(step);
            if before.is_some() && before != self.step {
                self.end();
            }
        }
        let Some(called) = called(block) else {
            return self.left_out.push("unfinished call".to_owned());
        };
        let is_answered = called.result.is_some();
        self.begun = self.begun.or(time);
        let beside = [block.call_metadata, block.metadata, inner.metadata];
        self.reply
            .extend(beside.into_iter().find_map(seals::of_gemini));
        self.reply.push(called.call);
        self.results.extend(called.result);
        // Older versions have no mark where the next request begins.
        self.is_over |= is_answered && (is_old || is_hosted(block));
    }

    /// What somebody said while the model was at work.
    fn steer(&mut self, block: &Block<'_>) {
        self.end();
        let blocks: Vec<Block<'_>> = decode(block.parts).unwrap_or_default();
        let parts = blocks
            .iter()
            .filter_map(|block| match word(block.r#type).as_deref() {
                Some("text") => said(block.text).map(Part::text),
                Some("file") => file(block),
                _ => None,
            });
        let message = parts::message(Role::User, parts.collect());
        self.done
            .extend(message.map(|message| (message, self.time)));
    }

    /// What follows is another request's.
    fn end(&mut self) {
        let time = self.begun.take().or(self.time);
        let [reply, results] = [&mut self.reply, &mut self.results].map(std::mem::take);
        let reply = parts::message(Role::Assistant, reply).map(|mut reply| {
            reply.interrupted = self.is_cut;
            reply
        });
        let results = parts::message(Role::Tool, results);
        self.done
            .extend(reply.into_iter().chain(results).map(|it| (it, time)));
        (self.is_over, self.is_cut) = (false, false);
    }
}

/// A time in milliseconds, or as ISO 8601 has it.
fn moment(raw: Raw<'_>) -> Option<Millis> {
    let millis = decode::<f64>(raw).map(|millis| Millis(millis as i64));
    millis.or_else(|| time(raw))
}

/// What was counted: of the input what a cache had, beside it or in an object of its own.
fn usage(raw: Raw<'_>) -> Option<Usage> {
    let counts: Counts<'_> = decode(raw)?;
    let [of_input, of_output]: [BTreeMap<String, &RawValue>; 2] =
        [counts.of_input, counts.of_output].map(|raw| decode(raw).unwrap_or_default());
    let number = |flat: Raw<'_>, of: &BTreeMap<String, &RawValue>, name: &str| {
        let found = decode::<u64>(of.get(name).copied()).or_else(|| decode(flat));
        found.unwrap_or_default()
    };
    let usage = Usage::new(decode(counts.input)?, decode(counts.output)?);
    let cached = number(counts.cached, &of_input, "cacheReadTokens");
    let written = number(None, &of_input, "cacheWriteTokens");
    let reasoning = number(counts.reasoning, &of_output, "reasoningTokens");
    Some(Usage {
        written_hour_tokens: number(None, &of_input, HOUR_TOKENS),
        ..usage.cached(cached, written).reasoned(reasoning)
    })
}
