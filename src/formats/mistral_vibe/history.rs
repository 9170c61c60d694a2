//! What a session's requests sent, one after the other: its messages, each once, and which of them stood when.
//!
//! A request says what is new, or all of it. What answered it stands in the next one, or in the generation after it.
//! Times are those of what the screen showed, which the tool keeps for good.

use std::collections::VecDeque;

use serde_json::value::RawValue;

use super::{MESSAGES, STATES};
use crate::formats::shared::states::written;
use crate::model::Millis;
use crate::wire::json::{Object, Raw, array, decode, string, tight, word};

lazy! {
    struct Line { r#type, sequence, payload }
    struct Payload { kind, request, result, delta, input }
    struct Input { determinism }
    struct Moment { time = "time_unix_ms" }
    struct Asked { purpose, model_input }
    struct ModelInput { messages, tool_catalog }
    struct Update { r#type, messages, tools }
    struct Answer { r#type, result }
    struct Completed { parts, usage }
    struct Change { op, entry }
    struct Entry { r#type, role, content, created = "createdAt" }
    struct Message { role, content }
    struct Piece { r#type, text, arguments_json, id, name }
}

/// The messages of a session, and which of them stood when.
#[derive(Default)]
pub(super) struct History {
    messages: Vec<Kept>,
    states: Vec<String>,
    /// The messages that stand now, by their numbers.
    now: Vec<usize>,
    /// Those that were sent last, also to sum up others.
    sent: Vec<String>,
    shown: VecDeque<Shown>,
    /// The tools that were offered last, and whether the next message is to say so.
    tools: Option<String>,
    is_offer: bool,
    /// Whether the last request asked for a summary.
    sums_up: bool,
    /// The reply to the last request, and where it will stand.
    reply: Option<(usize, String)>,
    /// What was counted for it, or for a summary.
    usage: Option<String>,
    /// When the last record of a journal was made that says so.
    last: Option<Millis>,
}

/// A message, with what is known beside it.
struct Kept {
    json: String,
    time: Option<i64>,
    usage: Option<String>,
    tools: Option<String>,
}

/// What stood once a journal had come to a record.
pub(super) struct Generation {
    pub(super) sequence: u64,
    /// The messages of the context; none where any is missing.
    pub(super) messages: Option<Vec<String>>,
}

/// What the screen showed of a message, or of what a call did.
pub(super) struct Shown {
    /// Who said which text; none of a call.
    said: Option<(String, String)>,
    time: i64,
}

impl Shown {
    /// An entry; none of what is neither.
    pub(super) fn of(raw: &RawValue) -> Option<Self> {
        let entry: Entry<'_> = decode(Some(raw))?;
        let said = match &*word(entry.r#type)? {
            "message" => Some((string(entry.role)?, text(entry.content))),
            "effect" => None,
            _ => return None,
        };
        let time = decode(entry.created)?;
        Some(Self { said, time })
    }
}

impl History {
    /// Of a session of which the screen has shown this.
    pub(super) fn showing(shown: Vec<Shown>) -> Self {
        Self {
            shown: shown.into(),
            ..Self::default()
        }
    }

    /// The object, of which `about` are the first members.
    pub(super) fn object(self, about: Object) -> String {
        let messages = self.messages.into_iter().map(|it| {
            let time = it.time.map(|time| time.to_string());
            let made = Object::new()
                .raw("message", &it.json)
                .optional_raw("time", time.as_deref())
                .optional_raw("usage", it.usage.as_deref());
            made.optional_raw("tools", it.tools.as_deref()).finish()
        });
        let object = about.raw(MESSAGES, &array(messages));
        object.raw(STATES, &array(self.states)).finish()
    }

    /// Whether any request is kept.
    pub(super) fn is_asked(&self) -> bool {
        !self.sent.is_empty()
    }

    /// That something could not be read.
    pub(super) fn unread(&mut self, reason: &str) {
        self.states
            .push(Object::new().string("unread", reason).finish());
    }

    /// Takes what each record of the journals says, and what stood at the end of each generation, in their order.
    pub(super) fn tell(&mut self, generations: Vec<Generation>, lines: &[Box<RawValue>]) {
        let lines = lines.iter().filter_map(|raw| decode(Some(raw)));
        let lines: Vec<(u64, Line<'_>)> = lines
            .map(|line: Line<'_>| (decode(line.sequence).unwrap_or_default(), line))
            .collect();
        let reached = generations.last().map_or(0, |newest| newest.sequence);
        for (_, line) in lines.iter().filter(|(at, _)| *at > reached) {
            self.showed(line);
        }
        // A generation has no system prompt: that of a request beside it is what was sent.
        let opening = lines.iter().find_map(|(_, line)| {
            let input = request(line)?.1;
            let update: Update<'_> = decode(input.messages)?;
            let system = texts(update.messages).into_iter().next()?;
            Some((system, tools(input.tool_catalog)))
        });
        let (opening, offered) = opening.unwrap_or_default();
        self.offer(offered);
        let mut rest = &lines[..];
        for generation in generations {
            let count = rest.partition_point(|(at, _)| *at <= generation.sequence);
            let (before, behind) = rest.split_at(count);
            before.iter().for_each(|(_, line)| self.take(line));
            rest = behind;
            if let Some(messages) = generation.messages {
                let system = self.sent.first().unwrap_or(&opening);
                let is_one = role(system).as_deref() == Some("system");
                let system = is_one.then(|| system.clone());
                self.stands(system.into_iter().chain(messages).collect());
            }
        }
        rest.iter().for_each(|(_, line)| self.take(line));
        // A reply behind which nothing was asked.
        if let Some((_, reply)) = &self.reply {
            let reply = reply.clone();
            let messages = self.standing().into_iter().chain([reply]);
            self.stands(messages.collect());
        }
    }

    /// Takes a record.
    fn take(&mut self, line: &Line<'_>) {
        if let Some((is_agents, input)) = request(line) {
            return self.asked(is_agents, &input);
        }
        match word(line.r#type).as_deref() {
            Some("action_result") => self.answered(line.payload),
            Some("core_input") => self.last = moment(line.payload).or(self.last),
            _ => {}
        }
    }

    /// Takes what came to the screen.
    fn showed(&mut self, line: &Line<'_>) {
        let payload: Payload<'_> = decode(line.payload).unwrap_or_default();
        let changes: Vec<Change<'_>> = decode(payload.delta).unwrap_or_default();
        for change in changes {
            if word(change.op).as_deref() == Some("append_entry") {
                self.shown.extend(change.entry.and_then(Shown::of));
            }
        }
    }

    /// Takes a request.
    fn asked(&mut self, is_agents: bool, input: &ModelInput<'_>) {
        let update: Update<'_> = decode(input.messages).unwrap_or_default();
        let new = texts(update.messages);
        if word(update.r#type).as_deref() == Some("append") {
            self.sent.extend(new);
        } else {
            self.sent = new;
        }
        self.offer(tools(input.tool_catalog));
        self.sums_up = !is_agents;
        let mut stands = self.sent.clone();
        if self.sums_up {
            // It is sent as much as fits, and asked for a summary at the end.
            let all = self.standing();
            let prompts = self.sent.split_last().map_or(&[][..], |(_, before)| before);
            let new = prompts.iter().filter(|one| !all.contains(one)).cloned();
            stands = all.iter().cloned().chain(new).collect();
        }
        self.stands(stands);
    }

    /// Takes the tools that a request offers anew.
    fn offer(&mut self, tools: Option<String>) {
        if let Some(tools) = tools.filter(|tools| self.tools.as_ref() != Some(tools)) {
            self.tools = Some(tools);
            self.is_offer = true;
        }
    }

    /// Takes what became of an action.
    fn answered(&mut self, payload: Raw<'_>) {
        let payload: Payload<'_> = decode(payload).unwrap_or_default();
        let outer: Answer<'_> = decode(payload.result).unwrap_or_default();
        if word(outer.r#type).as_deref() != Some("completion_succeeded") {
            return;
        }
        let completed: Completed<'_> = decode(outer.result).unwrap_or_default();
        self.usage = completed.usage.map(|usage| usage.get().to_owned());
        self.reply = (!self.sums_up).then(|| (self.now.len(), reply(completed.parts)));
    }

    /// The messages that stand now.
    fn standing(&self) -> Vec<String> {
        let messages = self.now.iter().map(|number| &self.messages[*number]);
        messages.map(|it| it.json.clone()).collect()
    }

    /// That these messages stand from here on.
    fn stands(&mut self, messages: Vec<String>) {
        let before = std::mem::take(&mut self.now);
        let old = |at: usize| before.get(at).map(|number| &self.messages[*number].json);
        let same = messages.iter().enumerate();
        let same = same.take_while(|(at, message)| old(*at) == Some(*message));
        let keeps = same.count();
        let mut now = before[..keeps].to_vec();
        let (mut from, mut newest) = (keeps, None);
        let reply = self.reply.take().map(|(at, _)| at);
        for (at, json) in messages.into_iter().enumerate().skip(keeps) {
            let mut rest = before[from..].iter();
            if let Some(found) = rest.position(|number| self.messages[*number].json == json) {
                now.push(before[from + found]);
                from += found + 1;
                continue;
            }
            let is_reply = Some(at) == reply && role(&json).as_deref() == Some("assistant");
            let made = Kept {
                time: self.time(&json),
                usage: self.usage.take_if(|_| is_reply),
                tools: self
                    .tools
                    .clone()
                    .filter(|_| std::mem::take(&mut self.is_offer)),
                json,
            };
            newest = Some(self.messages.len());
            now.push(self.messages.len());
            self.messages.push(made);
        }
        let mut state = written(Object::new(), &now, &before);
        // What stands in the place of others is the summary.
        let is_summed_up = keeps < before.len();
        if let Some(newest) = newest.filter(|_| is_summed_up) {
            let time = self.last.map(Millis::to_iso);
            state = state
                .number("summary", newest)
                .optional("ts", time.as_deref());
            let usage = self.usage.take_if(|_| self.sums_up || reply.is_none());
            let made = &mut self.messages[newest];
            made.usage = made.usage.take().or(usage);
        }
        if now != before {
            self.states.push(state.finish());
        }
        self.now = now;
    }

    /// When the screen showed a message.
    fn time(&mut self, json: &str) -> Option<i64> {
        let message: Message<'_> = serde_json::from_str(json).ok()?;
        let role = string(message.role)?;
        let found = if role == "tool" {
            // What calls did stands in their order, before anything that is said next.
            let next = self.shown.front()?;
            next.said.is_none().then_some(0)
        } else {
            let said = Some((role, text(message.content)));
            self.shown.iter().position(|shown| shown.said == said)
        };
        self.shown
            .drain(..=found?)
            .next_back()
            .map(|shown| shown.time)
    }
}

/// A request of a journal: whether it is of the agent, and what it says; none of any other record.
fn request<'a>(line: &Line<'a>) -> Option<(bool, ModelInput<'a>)> {
    let intent = word(line.r#type).filter(|kind| kind == "action_intent");
    let payload: Payload<'_> = intent.and_then(|_| decode(line.payload))?;
    word(payload.kind).filter(|kind| kind == "completion")?;
    let asked: Asked<'_> = decode(payload.request)?;
    let is_agents = word(asked.purpose).as_deref() != Some("compaction");
    Some((is_agents, decode(asked.model_input)?))
}

/// When a record was made that moved the agent on.
fn moment(payload: Raw<'_>) -> Option<Millis> {
    let payload: Payload<'_> = decode(payload)?;
    let input: Input<'_> = decode(payload.input)?;
    let moment: Moment<'_> = decode(input.determinism)?;
    decode(moment.time).map(Millis)
}

/// The elements of a list, each without white space.
fn texts(raw: Raw<'_>) -> Vec<String> {
    let items: Vec<&RawValue> = decode(raw).unwrap_or_default();
    items.into_iter().map(|item| tight(item.get())).collect()
}

/// The tools that a request offers anew.
fn tools(catalog: Raw<'_>) -> Option<String> {
    let update: Update<'_> = decode(catalog)?;
    update.tools.map(|tools| tight(tools.get()))
}

fn role(json: &str) -> Option<String> {
    let message: Message<'_> = serde_json::from_str(json).ok()?;
    string(message.role)
}

/// The texts of a content.
fn text(content: Raw<'_>) -> String {
    let pieces: Vec<Piece<'_>> = decode(content).unwrap_or_default();
    let texts = pieces
        .into_iter()
        .filter(|piece| word(piece.r#type).as_deref() == Some("text"));
    texts.filter_map(|piece| string(piece.text)).collect()
}

/// A reply as the next request says it.
fn reply(parts: Raw<'_>) -> String {
    let parts: Vec<&RawValue> = decode(parts).unwrap_or_default();
    let parts = parts.into_iter().map(|raw| {
        let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
        let Some(given) = string(piece.arguments_json) else {
            return tight(raw.get());
        };
        let arguments = Object::new().string("raw", &given);
        let arguments = match serde_json::from_str::<&RawValue>(&given) {
            Ok(value) => arguments
                .string("type", "json")
                .raw("value", &tight(value.get())),
            Err(_) => arguments.string("type", "invalid_json"),
        };
        Object::new()
            .raw("arguments", &arguments.finish())
            .optional_raw("id", piece.id.map(RawValue::get))
            .optional_raw("name", piece.name.map(RawValue::get))
            .string("type", "tool_call")
            .finish()
    });
    let message = Object::new().raw("content", &array(parts));
    message.string("role", "assistant").finish()
}
