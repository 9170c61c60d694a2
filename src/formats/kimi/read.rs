//! The importer, in one pass. Of messages it holds one reply with all that came in before it was whole.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::called;
use super::message::{Content, calls, estimate, is_timed, rendered};
use super::record::{Event, Given, Origin, Record, Said, is_later, usage};
use crate::error::{Error, Result};
use crate::formats::shared::continuation::Plain;
use crate::formats::shared::current::Current;
use crate::formats::shared::parts;
use crate::formats::shared::records::{self, LineReader, each_line, each_line_from};
use crate::formats::shared::teller::Teller;
use crate::formats::{
    Action, Descent, HideStep, Input, Midway, Sink, Source, Step, StepEntry, again,
};
use crate::hash::fingerprint;
use crate::model::{Message, Part, Role, Span, StatedUsage, Usage, depth};
use crate::wire::json::{Object, Raw, array, decode, is_true, quoted, string, word};

/// What the tool says a call gave, where it was stopped before that was known.
///
/// # Source
///
/// `context/index.ts` of the tool.
pub(super) const CUT_OFF: &str = "Tool execution was interrupted before its result was recorded. \
                       Do not assume the tool completed successfully.";

/// The tags around what the tool puts beside a prompt.
const REMINDER: (&str, &str) = ("<system-reminder>\n", "\n</system-reminder>");

/// Reads a log.
pub(super) fn import(source: Source<'_>) -> Result<()> {
    let known = called(source.stem);
    let (id, descent) = known.unwrap_or_else(|| (source.stem.to_owned(), Descent::default()));
    let mut teller = Teller::of(&id, &[], source.sink);
    teller.start.descent = descent;
    let mut reader = Reader::new(source.input, &id, teller)?;
    reader.teller.end.lone_surrogates = each_line(source.input, &mut reader)?;
    reader.finish().map(drop)
}

/// Goes on from the middle, where nothing there hides, or reaches back.
pub(super) fn go_on(source: Source<'_>, from: Midway<'_>) -> Result<bool> {
    let mut found = Plain::of(source.sink);
    let teller = Teller::of(from.id, &[], &mut found);
    let mut reader = Reader::new(source.input, from.id, teller)?;
    reader.teller.settings.clone_from(from.settings);
    reader.midway = Some(from.offset);
    reader.teller.end.lone_surrogates = each_line_from(source.input, from.offset, &mut reader)?;
    let reaches_back = reader.finish()?;
    Ok(found.is_plain && !reaches_back)
}

/// A message of the context.
pub(super) struct Slot {
    /// Where it is; none: nothing of it is sent, and the tool counts it all the same.
    pub(super) entry: Option<StepEntry>,
    pub(super) kind: Kind,
    /// By the tool's estimate of what is in it.
    pub(super) tokens: u64,
    /// By which a prompt is known to what stands before it, and that to the prompt.
    pub(super) prompt: Option<String>,
}

impl Slot {
    /// One that is not told yet.
    pub(super) fn new(kind: Kind, tokens: u64) -> Self {
        Self {
            entry: None,
            kind,
            tokens,
            prompt: None,
        }
    }
}

/// What the tool does with a message later.
pub(super) enum Kind {
    /// The user's own words, and where they stand.
    Prompt(Words),
    /// What the tool put there, under a name of its own.
    Injected(String),
    /// What stands in place of what was summed up.
    Summary,
    /// What a call gave.
    Result { call: String, is_error: bool },
    /// Any other.
    Other,
}

pub(super) enum Words {
    /// In a record.
    There(Span),
    /// Nowhere else.
    Here(String),
}

/// A message that is not told yet.
struct Waiting {
    step: Step,
    slot: Slot,
    /// Whether the tool has taken it out again.
    is_taken_out: bool,
}

impl Waiting {
    fn new(step: Step, slot: Slot) -> Self {
        Self {
            step,
            slot,
            is_taken_out: false,
        }
    }
}

/// A reply that may not be whole.
struct Group {
    uuid: String,
    reply: Step,
    tokens: u64,
    /// Whether it was told to end.
    is_ended: bool,
    /// The calls that nothing was given for yet, in their order.
    calls: Vec<String>,
    open: HashSet<String>,
    /// Those of agents.
    of_agents: HashSet<String>,
    /// Those of which the model is told how long they took.
    timed: HashSet<String>,
    /// What stands behind it.
    behind: Vec<Waiting>,
    /// What waits for the calls, and stands behind that.
    deferred: Vec<Waiting>,
}

/// Whom the tool talks to.
struct Model {
    /// What the tool calls the model, until a request does.
    alias: Option<String>,
    has_request: bool,
    provider: String,
}

/// The tools that are sent.
#[derive(Default)]
struct Tools {
    /// The records of those that requests name, by their marks.
    records: HashMap<String, Span>,
    /// The mark of those in force.
    now: Option<String>,
}

pub(super) struct Reader<'a> {
    pub(super) input: &'a dyn Input,
    pub(super) teller: Teller<'a>,
    id: &'a str,
    pub(super) current: Current,
    model: Model,
    /// The instructions that are sent, by a fingerprint.
    pub(super) system: Option<([u8; 32], StepEntry)>,
    /// What else is sent, in order.
    pub(super) slots: Vec<Slot>,
    /// How many of them have been emptied, where there was anything to empty.
    pub(super) emptied: usize,
    /// Whether a compaction has just left what it leaves.
    pub(super) is_compacted: bool,
    /// What was counted for the reply before, which the next record of a request may say again.
    counted: Option<Usage>,
    /// What was counted for requests that no reply shows.
    others: StatedUsage,
    group: Option<Group>,
    tools: Tools,
    /// Whether taking back takes what came after a prompt, too.
    pub(super) is_later: bool,
    /// Where reading began, if not at the beginning.
    midway: Option<u64>,
    pub(super) reaches_back: bool,
    agents: HashSet<String>,
    elsewhere: u64,
}

impl<'a> Reader<'a> {
    fn new(input: &'a dyn Input, id: &'a str, mut teller: Teller<'a>) -> Result<Self> {
        teller.open()?;
        Ok(Self {
            input,
            teller,
            id,
            current: Current::default(),
            model: Model {
                alias: None,
                has_request: false,
                provider: super::KIMI.name.to_owned(),
            },
            system: None,
            slots: Vec::new(),
            emptied: 0,
            is_compacted: false,
            counted: None,
            others: StatedUsage::default(),
            group: None,
            tools: Tools::default(),
            is_later: false,
            midway: None,
            reaches_back: false,
            agents: HashSet::new(),
            elsewhere: 0,
        })
    }

    pub(super) fn problem(&mut self, reason: impl Into<String>) -> Result<()> {
        self.teller.problem_on(self.current.line, reason)
    }

    /// Something tells more of what came before reading began, if there is any.
    fn reach_back(&mut self) {
        self.reaches_back |= self.midway.is_some();
    }

    fn value(&mut self, value: &RawValue) -> Result<()> {
        let Ok(record) = serde_json::from_str::<Record<'_>>(value.get()) else {
            return self.problem("not a record");
        };
        self.current.time = record.time();
        let kind = string(record.r#type).unwrap_or_else(|| "(no type)".to_owned());
        let done = match &*kind {
            "metadata" => {
                let version = string(record.protocol_version).unwrap_or_default();
                self.is_later = is_later(&version);
                Ok(false)
            }
            "config.update" | "profile.bind" => self.configure(&record).map(|()| false),
            "llm.tools_snapshot" => {
                let is_list = record.tools.is_some_and(|raw| raw.get().starts_with('['));
                if let Some(hash) = string(record.hash).filter(|_| is_list) {
                    self.tools.records.insert(hash, self.current.span);
                }
                Ok(false)
            }
            "llm.request" => self.request(&record).map(|()| false),
            "context.append_message" => self.message(&record),
            "context.append_loop_event" => self.event(record.event),
            "context.apply_compaction" => self.compacted(&record).map(|()| true),
            "context.clear" => self.cleared().map(|()| true),
            "context.undo" => self.taken_back(decode(record.count)).map(|()| true),
            "usage.record" => {
                self.counted(&record);
                Ok(false)
            }
            "token_counting.rebased" => self.left(decode(record.length)),
            "micro_compaction.apply" => self.emptied(decode(record.cutoff)),
            "swarm_mode.exit" => self.swarm_left(),
            _ => Ok(false),
        };
        match done {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.teller.end.other(kind);
                Ok(())
            }
            Err(Damage::Record(reason)) => {
                self.teller.end.other(kind);
                self.problem(reason)
            }
            Err(Damage::Source(error)) => Err(error),
        }
    }

    /// What was counted for a request: that of the reply under way, or one that no reply shows. Earlier versions say it once
    /// the reply has ended, which says it, too.
    fn counted(&mut self, record: &Record<'_>) {
        let Some(usage) = usage(record.usage) else {
            return;
        };
        let is_of_turn = word(record.usage_scope).is_none_or(|scope| scope == "turn");
        let group = self.group.as_mut().filter(|group| !group.is_ended);
        let before = match group.filter(|_| is_of_turn) {
            Some(group) => group.reply.usage.replace(usage),
            None if is_of_turn && self.counted.take() == Some(usage) => None,
            None => Some(usage),
        };
        if let Some(other) = before {
            self.other(string(record.model), other);
        }
    }

    /// A request that no reply shows.
    fn other(&mut self, model: Option<String>, usage: Usage) {
        self.reach_back();
        let in_force = || serde_json::from_str(self.teller.settings.get("model")?).ok();
        let model = model.or_else(in_force).unwrap_or_default();
        self.others.add_other(model, usage);
    }

    /// Instructions, and which model the user has chosen.
    fn configure(&mut self, record: &Record<'_>) -> Result<(), Damage> {
        if let Some(cwd) = record.directory() {
            self.teller.end.cwd.get_or_insert(cwd);
        }
        self.model.alias = string(record.model_alias).or(self.model.alias.take());
        let Some(text) = parts::said(record.system_prompt) else {
            return Ok(());
        };
        self.reaches_back = true;
        let mark = fingerprint(text.as_bytes());
        let message = Message::text(Role::System, text);
        let entry = match &self.system {
            Some((same, _)) if *same == mark => return Ok(()),
            Some((_, old)) => {
                let old = *old;
                self.close(false)?;
                self.hide(HideStep::replacing(old, message))?
            }
            None => {
                self.close(false)?;
                let step = self.current.step(Action::Append(message));
                self.teller.step(step)?
            }
        };
        self.system = Some((mark, entry));
        Ok(())
    }

    /// What a request was made with.
    fn request(&mut self, record: &Record<'_>) -> Result<(), Damage> {
        // A summary may be another model's.
        if word(record.kind).is_some_and(|kind| kind != "loop") {
            return Ok(());
        }
        self.model.has_request = true;
        if let Some(provider) = parts::said(record.provider) {
            self.model.provider = provider;
        }
        let quoted_word = |raw| string(raw).map(|text| quoted(&text));
        // On and off are no measure.
        let effort = string(record.thinking_effort);
        let effort = effort.filter(|effort| !matches!(&**effort, "on" | "off"));
        let number = |raw: Raw<'_>| decode::<f64>(raw).and(raw).map(|raw| raw.get().to_owned());
        self.teller.set("model", quoted_word(record.model));
        self.teller
            .set("reasoning_effort", effort.map(|effort| quoted(&effort)));
        self.teller.set("temperature", number(record.temperature));
        self.teller.set("top_p", number(record.top_p));
        let Some(hash) = string(record.tools_hash) else {
            return Ok(());
        };
        if self.tools.now.as_ref() == Some(&hash) {
            return Ok(());
        }
        match self.tools.records.get(&hash) {
            Some(span) => {
                let tools = self.tools_at(*span)?;
                self.teller.set("tools", tools);
            }
            // The reply that reading began with has been told with them.
            None if self.midway.is_some() => {
                let group = self.group.as_ref();
                let begun = group.map(|group| group.reply.records[0].offset);
                self.reaches_back |= begun != self.midway;
            }
            None => {}
        }
        self.tools.now = Some(hash);
        Ok(())
    }

    /// Tools as they were recorded, in the form of the tool's own provider.
    fn tools_at(&self, span: Span) -> Result<Option<String>> {
        let text = again(self.input, span)?;
        let record: Record<'_> = serde_json::from_str(&text).unwrap_or_default();
        let Some(tools) = decode::<Vec<&RawValue>>(record.tools) else {
            return Ok(None);
        };
        let framed = |tool: &&RawValue| Object::typed("function").raw("function", tool.get());
        let tools = array(tools.iter().map(|tool| framed(tool).finish()));
        let fits = depth::check_json("tools", &tools, 1).is_ok();
        Ok(fits.then_some(tools))
    }

    /// A message that stands in one record.
    fn message(&mut self, record: &Record<'_>) -> Result<bool, Damage> {
        let said: Option<Said<'_>> = decode(record.message);
        let said = said.ok_or("a message that is no object")?;
        let content = self.content(said.content)?;
        let origin: Origin<'_> = decode(said.origin).unwrap_or_default();
        let mut parts = content.parts;
        let (role, kind) = match word(said.role).as_deref() {
            Some("user") => (Role::User, kind_of(&origin, self.current.span)),
            Some("assistant") => {
                parts.extend(calls(said.tool_calls)?);
                (Role::Assistant, Kind::Other)
            }
            Some("system") => (Role::System, Kind::Other),
            Some("tool") => {
                let call = string(said.tool_call_id).unwrap_or_default();
                let is_error = is_true(said.is_error);
                let note = string(said.note);
                let given = rendered(parts, is_error, note.as_deref(), None);
                parts = vec![parts::result(Some(call.clone()), given, is_error)];
                (Role::Tool, Kind::Result { call, is_error })
            }
            role => {
                let role = role.unwrap_or("(none)");
                return Err(format!("a message of an unknown role: {role}").into());
            }
        };
        let message = match &kind {
            Kind::Injected(variant) => injected(variant, parts),
            _ => Message {
                name: string(said.name),
                ..Message::new(role, parts)
            },
        };
        parts::checked([&message])?;
        let prompt = match &kind {
            Kind::Prompt(_) => string(said.id),
            Kind::Injected(_) => string(origin.owner_prompt_id),
            _ => None,
        };
        let is_said = !message.parts.is_empty();
        let step = self.current.step(Action::Append(message));
        let slot = Slot::new(kind, content.tokens);
        let waiting = Waiting::new(step, Slot { prompt, ..slot });
        match &mut self.group {
            Some(group) if !group.open.is_empty() => group.deferred.push(waiting),
            Some(group) => group.behind.push(waiting),
            None => self.append(waiting)?,
        }
        Ok(is_said)
    }

    /// A list of parts, or one text.
    fn content(&mut self, raw: Raw<'_>) -> Result<Content, String> {
        let content = Content::of(raw, &self.model.provider, &mut self.teller.notes)?;
        self.elsewhere += content.elsewhere;
        Ok(content)
    }

    /// A piece of a reply, or what a call gave.
    fn event(&mut self, raw: Raw<'_>) -> Result<bool, Damage> {
        let event: Option<Event<'_>> = decode(raw);
        let event = event.ok_or("an event that is no object")?;
        match word(event.r#type).as_deref() {
            Some("step.begin") => {
                self.close(true)?;
                let reply = Message::new(Role::Assistant, Vec::new());
                self.group = Some(Group {
                    uuid: string(event.uuid).unwrap_or_default(),
                    reply: self.current.step(Action::Append(reply)),
                    tokens: 0,
                    is_ended: false,
                    calls: Vec::new(),
                    open: HashSet::new(),
                    of_agents: HashSet::new(),
                    timed: HashSet::new(),
                    behind: Vec::new(),
                    deferred: Vec::new(),
                });
                Ok(true)
            }
            Some("content.part") => {
                let part = event.part.ok_or("an event without its part")?;
                let mut content = Content::default();
                content.push(part, &self.model.provider, &mut self.teller.notes)?;
                depth::check_parts(&content.parts).map_err(|error| error.to_string())?;
                self.elsewhere += content.elsewhere;
                Ok(self.piece(&event, content.parts, content.tokens))
            }
            Some("tool.call") => {
                let (id, name) = (string(event.tool_call_id), string(event.name));
                let arguments = event.args.map(|raw| raw.get().to_owned());
                let parts = vec![parts::call(id.clone(), name.clone(), arguments)];
                depth::check_parts(&parts).map_err(|error| error.to_string())?;
                let is_told = self.piece(&event, parts, 0);
                if let (Some(group), true) = (&mut self.group, is_told) {
                    let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
                    if name.starts_with("Agent") {
                        group.of_agents.insert(id.clone());
                    }
                    if is_timed(&name) {
                        group.timed.insert(id.clone());
                    }
                    group.open.insert(id.clone());
                    group.calls.push(id);
                }
                Ok(is_told)
            }
            Some("tool.result") => self.given(&event),
            Some("step.end") => self.ended(&event),
            _ => Ok(false),
        }
    }

    /// Takes parts into the reply that the event names; false if that is not the one that is under way.
    fn piece(&mut self, event: &Event<'_>, parts: Vec<Part>, tokens: u64) -> bool {
        let uuid = word(event.step_uuid).unwrap_or_default();
        let group = self.group.as_mut().filter(|group| group.uuid == uuid);
        let Some(group) = group.filter(|group| !group.is_ended) else {
            self.reach_back();
            return false;
        };
        if let Action::Append(message) = &mut group.reply.action {
            if message.parts.is_empty() {
                group.reply.time = self.current.time;
            }
            message.parts.extend(parts);
        }
        group.tokens += tokens;
        group.reply.records.push(self.current.span);
        true
    }

    /// What a call gave.
    fn given(&mut self, event: &Event<'_>) -> Result<bool, Damage> {
        let id = string(event.tool_call_id).unwrap_or_default();
        let group = self.group.as_mut();
        let Some(group) = group.filter(|group| group.open.contains(&id)) else {
            // The tool passes it over, too: it has said what became of the call.
            self.reach_back();
            return Ok(false);
        };
        group.open.remove(&id);
        let is_of_agents = group.of_agents.contains(&id);
        let is_timed = group.timed.contains(&id);
        let given: Given<'_> = decode(event.result).unwrap_or_default();
        let content = match self.content(given.output) {
            Ok(content) => content,
            Err(reason) => {
                self.problem(reason)?;
                Content::default()
            }
        };
        if is_of_agents {
            self.started(&content.parts);
        }
        let (is_error, note) = (is_true(given.is_error), string(given.note));
        let took = decode::<f64>(given.duration_ms).filter(|_| is_timed);
        let mut rendering = rendered(content.parts, is_error, note.as_deref(), took);
        if let Err(error) = depth::check_parts(&rendering) {
            self.problem(error.to_string())?;
            rendering = rendered(Vec::new(), is_error, None, None);
        }
        let result = self.result(id, rendering, is_error, content.tokens);
        if let Some(group) = &mut self.group {
            group.behind.push(result);
            if group.is_ended && group.open.is_empty() {
                self.close(false)?;
            }
        }
        Ok(true)
    }

    fn result(&self, call: String, content: Vec<Part>, is_error: bool, tokens: u64) -> Waiting {
        let part = parts::result(Some(call.clone()), content, is_error);
        let message = Message::new(Role::Tool, vec![part]);
        let step = self.current.step(Action::Append(message));
        Waiting::new(step, Slot::new(Kind::Result { call, is_error }, tokens))
    }

    /// The agents that a call says it has started.
    fn started(&mut self, given: &[Part]) {
        const SAYS: &str = "agent_id";
        let texts = given.iter().filter_map(Part::as_text);
        let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        for rest in texts.flat_map(|text| text.split(SAYS).skip(1)) {
            let rest = rest.trim_start_matches([':', '=', ' ', '"']);
            let name = rest.split(|char| !is_name(char)).next().unwrap_or_default();
            if !name.is_empty() && self.agents.insert(name.to_owned()) {
                let session = self.id.split('/').next().unwrap_or_default();
                self.teller.end.started.push(format!("{session}/{name}"));
            }
        }
    }

    /// The end of a reply, which may have been cut off.
    fn ended(&mut self, event: &Event<'_>) -> Result<bool, Damage> {
        let uuid = word(event.uuid).unwrap_or_default();
        let Some(group) = self.group.as_mut().filter(|group| group.uuid == uuid) else {
            self.reach_back();
            return Ok(false);
        };
        let why = word(event.finish_reason);
        group.is_ended = true;
        group.reply.records.push(self.current.span);
        match usage(event.usage) {
            Some(_) if group.reply.usage.is_some() => {}
            usage => {
                group.reply.usage = group.reply.usage.or(usage);
                self.counted = usage;
            }
        }
        if let (Action::Append(message), Some("interrupted" | "error")) =
            (&mut group.reply.action, why.as_deref())
        {
            message.interrupted = true;
        }
        if group.open.is_empty() {
            self.close(false)?;
        }
        Ok(true)
    }

    /// Tells of the reply that is being read, with what stands behind it. Where the record just read begins
    /// another one, the tool says of open calls that they were cut off.
    pub(super) fn close(&mut self, is_cut_off: bool) -> Result<()> {
        let Some(mut group) = self.group.take() else {
            return Ok(());
        };
        let is_said = group.reply.message().is_some_and(|it| !it.parts.is_empty());
        if is_said && !self.model.has_request {
            self.reach_back();
            let alias = self.model.alias.as_ref().map(|alias| quoted(alias));
            self.teller.set("model", alias);
        }
        if !is_said {
            // The tool counts it, and sends nothing of it.
            self.teller.end.other("reply without content");
            if let Some(usage) = group.reply.usage.take() {
                self.other(None, usage);
            }
        }
        let slot = Slot::new(Kind::Other, group.tokens);
        self.append(Waiting::new(group.reply, slot))?;
        let mut taken_out = Vec::new();
        let open = group.calls.into_iter().filter(|_| is_cut_off);
        let open = open.filter(|call| group.open.remove(call));
        for call in open {
            let content = rendered(vec![Part::text(CUT_OFF)], true, None, None);
            let result = self.result(call, content, true, estimate(CUT_OFF));
            group.behind.push(result);
        }
        for waiting in group.behind.into_iter().chain(group.deferred) {
            if waiting.is_taken_out {
                taken_out.push(self.slots.len());
            }
            self.append(waiting)?;
        }
        for at in taken_out.into_iter().rev() {
            self.take_out(at)?;
        }
        Ok(())
    }

    /// Tells of a message, if anything of it is sent.
    fn append(&mut self, waiting: Waiting) -> Result<()> {
        let Waiting { step, mut slot, .. } = waiting;
        if step.message().is_some_and(|it| !it.parts.is_empty()) {
            slot.entry = Some(self.teller.step(step)?);
        }
        self.slots.push(slot);
        Ok(())
    }

    /// Tells of what is hidden; returns the first thing that stands in its place.
    pub(super) fn hide(&mut self, hide: HideStep) -> Result<StepEntry> {
        self.reaches_back = true;
        self.teller.step(self.current.step(Action::Hide(hide)))
    }

    /// The last thing that came in, where it waits for a reply to be whole, is taken out again if it is
    /// meant. None: nothing waits.
    pub(super) fn take_out_waiting(&mut self, is_meant: fn(&Kind) -> bool) -> Option<bool> {
        let group = self.group.as_mut()?;
        let last = group.deferred.last_mut().or(group.behind.last_mut());
        let meant = last.filter(|last| is_meant(&last.slot.kind) && !last.is_taken_out);
        Some(meant.map(|last| last.is_taken_out = true).is_some())
    }

    /// Gives whether something there reached back.
    fn finish(mut self) -> Result<bool> {
        self.close(false)?;
        if self.system.is_none() {
            self.teller.end.absent.push("system prompt".to_owned());
        }
        if !self.teller.settings.contains_key("tools") {
            self.teller.end.absent.push("tool definitions".to_owned());
        }
        let absent = &mut self.teller.end.absent;
        match self.elsewhere {
            0 => {}
            1 => absent.push("1 picture or the like".to_owned()),
            many => absent.push(format!("{many} pictures and the like")),
        }
        self.teller.end.stated = self.others.if_any();
        self.teller.close()?;
        Ok(self.reaches_back)
    }
}

/// Why a record is not taken: it is damaged, or nothing can be read.
pub(super) enum Damage {
    Record(String),
    Source(Error),
}

impl<T: Into<String>> From<T> for Damage {
    fn from(reason: T) -> Self {
        Self::Record(reason.into())
    }
}

impl From<Error> for Damage {
    fn from(error: Error) -> Self {
        Self::Source(error)
    }
}

/// What the tool does later with a message of the user's.
fn kind_of(origin: &Origin<'_>, span: Span) -> Kind {
    let is_typed = || word(origin.trigger).as_deref() == Some("user-slash");
    match word(origin.kind).as_deref() {
        None | Some("user") => Kind::Prompt(Words::There(span)),
        Some("skill_activation" | "plugin_command") if is_typed() => {
            Kind::Prompt(Words::There(span))
        }
        Some("injection") => Kind::Injected(string(origin.variant).unwrap_or_default()),
        Some("compaction_summary") => Kind::Summary,
        _ => Kind::Other,
    }
}

/// What the tool put beside a prompt: without its tags, which whoever sends it puts around it again.
fn injected(variant: &str, parts: Vec<Part>) -> Message {
    let inner = match &parts[..] {
        [Part::Text { text }] => text
            .strip_prefix(REMINDER.0)
            .and_then(|text| text.strip_suffix(REMINDER.1)),
        _ => None,
    };
    match inner.filter(|inner| !inner.is_empty() && !variant.is_empty()) {
        Some(inner) => Message::attached(variant, vec![Part::text(inner)]),
        None => Message::new(Role::User, parts),
    }
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.teller.sink
    }

    fn record(&mut self, record: records::Record<'_>) -> Result<()> {
        self.current = Current::at(&record);
        self.value(record.value)
    }
}
