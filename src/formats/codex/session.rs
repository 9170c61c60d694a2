//! The records of one session, to its steps. Of messages it holds one reply and its outputs, until
//! their count is known.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::cut;
use super::history::prompt_text;
use super::inheritance::Inherited;
use super::record::{
    CountedRequest, Event, Record, SessionMeta, TokenInfo, TokenUsage, TurnContext,
};
use crate::error::Result;
use crate::formats::shared::continuation::Plain;
use crate::formats::shared::current::Current;
use crate::formats::shared::parts;
use crate::formats::shared::records::{self, LineReader, each_line, each_line_from};
use crate::formats::shared::teller::Teller;
use crate::formats::{Action, Bases, Midway, Sink, Source, Step, StepEntry, StepId};
use crate::model::{Message, Millis, Part, Role, Settings, Span, StatedUsage, Usage, depth};
use crate::wire::json::{Raw, decode, string, word};
use crate::wire::responses::{self, Meaning};

/// Reads a rollout in one pass over its lines.
pub(super) fn import(source: Source<'_>) -> Result<()> {
    let teller = Teller::of(source.stem, &[], source.sink);
    let mut reader = Reader::new(teller, source.bases);
    reader.teller.end.lone_surrogates = each_line(source.input, &mut reader)?;
    reader.finish()
}

/// Goes on from the middle: no compaction and no rollback, which reach back as far as they like.
pub(super) fn go_on(source: Source<'_>, from: Midway<'_>) -> Result<bool> {
    let mut found = Plain::of(source.sink);
    let teller = Teller::of(from.id, &[], &mut found);
    let mut reader = Reader::new(teller, source.bases);
    reader.teller.open()?;
    reader.started = true;
    from.id.clone_into(&mut reader.id);
    reader.teller.settings.clone_from(from.settings);
    reader.teller.end.lone_surrogates = each_line_from(source.input, from.offset, &mut reader)?;
    let reaches_back = reader.reaches_back;
    reader.finish()?;
    Ok(found.is_plain && !reaches_back)
}

/// A system prompt with its record's place and time.
pub(super) type SystemPrompt = (String, Option<Span>, Option<Millis>);

/// A message of the user's on the path.
pub(super) struct UserEntry {
    pub(super) entry: StepEntry,
    /// Whether a person typed it, so that a turn begins with it.
    pub(super) typed: bool,
}

/// Replies on their way to the sink: each waits for its count.
#[derive(Default)]
struct Replies {
    /// The one that is being read.
    group: Option<Step>,
    /// A finished one that has no count yet, and its outputs.
    held: Vec<Step>,
    /// A count that came before the records of its reply.
    early: Option<Usage>,
    total: Option<TokenUsage>,
    /// Calls without output, by id.
    calls: BTreeMap<String, u64>,
}

/// What of the path is named later.
#[derive(Default)]
pub(super) struct Path {
    pub(super) system: Option<StepEntry>,
    pub(super) last: Option<StepEntry>,
    pub(super) users: Vec<UserEntry>,
}

pub(super) struct Reader<'s> {
    pub(super) teller: Teller<'s>,
    /// Where what it begins with is.
    pub(super) bases: Option<&'s dyn Bases>,
    /// How far another file is read, while it is one.
    pub(super) inherited: Option<Inherited>,
    pub(super) current: Current,
    /// Whether a record has said which session it is.
    is_named: bool,
    spawned_by: Option<String>,
    started: bool,
    /// Whether a record told of what came long before it.
    reaches_back: bool,
    id: String,
    /// The file's own system prompt, until it is told.
    pub(super) own_system: Option<SystemPrompt>,
    replies: Replies,
    /// The request that was counted last, where no reply is told of it yet, with its model.
    uncounted: Option<(String, Usage)>,
    /// What requests came to that no reply shows.
    others: StatedUsage,
    /// The settings that the first record of another file brought.
    pub(super) brought: Settings,
    pub(super) path: Path,
    /// The text of the record just read, if it is the user's.
    pub(super) prompt: Option<String>,
}

impl<'s> Reader<'s> {
    fn new(teller: Teller<'s>, bases: Option<&'s dyn Bases>) -> Self {
        Self {
            teller,
            bases,
            inherited: None,
            current: Current::default(),
            is_named: false,
            spawned_by: None,
            started: false,
            reaches_back: false,
            id: String::new(),
            own_system: None,
            replies: Replies::default(),
            uncounted: None,
            others: StatedUsage::default(),
            brought: Settings::new(),
            path: Path::default(),
            prompt: None,
        }
    }

    pub(super) fn problem(&mut self, reason: impl Into<String>) -> Result<()> {
        if self.inherited.is_some() {
            // It was told of when its own file came in.
            return Ok(());
        }
        self.teller.problem_on(self.current.line, reason)
    }

    pub(super) fn other(&mut self, kind: impl Into<String>) {
        if self.inherited.is_none() {
            self.teller.end.other(kind);
        }
    }

    fn value(&mut self, value: &RawValue) -> Result<()> {
        let Ok(record) = serde_json::from_str::<Record<'_>>(value.get()) else {
            return self.problem("not a record");
        };
        let kind = word(record.r#type).unwrap_or_default();
        if self.inherited.is_some() && !self.inherits(&kind, &record)? {
            return Ok(());
        }
        let prompt = self.prompt.take();
        self.current.time = parts::time(record.timestamp);
        let other = match (&*kind, record.payload, word(record.record_type)) {
            ("session_meta", Some(payload), _) => return self.session_meta(payload),
            ("response_item", Some(payload), _) => return self.item(payload),
            ("event_msg", Some(payload), _) => return self.event(payload, prompt),
            ("turn_context", Some(payload), _) => return self.turn_context(payload),
            ("token_usage_record", Some(payload), _) => {
                self.request(payload);
                kind
            }
            ("compacted", Some(payload), _) => {
                self.reaches_back = true;
                self.drop_uncounted();
                return self.compacted(payload);
            }
            ("inter_agent_communication", Some(payload), _) => {
                match responses::communication(payload, &mut self.teller.notes) {
                    Meaning::Aside => kind,
                    said => return self.take(said),
                }
            }
            (_, None, Some(legacy)) => legacy,
            ("", None, None) if !self.started && !self.is_named => {
                // Its time is the file's, not the system prompt's.
                self.current.time = None;
                return self.session_meta(value);
            }
            ("", None, None) => "unknown".into(),
            (_, None, None) if record.timestamp.is_none() => return self.item(value),
            _ => kind,
        };
        self.other(other);
        Ok(())
    }

    fn session_meta(&mut self, payload: &RawValue) -> Result<()> {
        let Ok(meta) = serde_json::from_str::<SessionMeta<'_>>(payload.get()) else {
            self.other("session_meta");
            return self.problem("damaged session_meta");
        };
        let id = parts::said(meta.id);
        self.ran_in(meta.cwd);
        if self.started {
            self.flush()?;
            self.other("session_meta");
            return Ok(());
        }
        let system = meta.system_prompt();
        let system = system.map(|text| (text, Some(self.current.span), self.current.time));
        if std::mem::replace(&mut self.is_named, true) {
            // A fork goes on with a copy of its parent's.
            let start = &mut self.teller.start;
            if start.forked_from.is_none() && id.is_some() && id == self.spawned_by {
                start.forked_from = id;
            }
        } else {
            self.setting("dynamic_tools", meta.dynamic_tools)?;
            self.teller.name(id);
            self.teller.start.forked_from = string(meta.forked_from_id);
            self.teller.start.descent = meta.descent();
            self.spawned_by = meta.spawned_by();
        }
        if system.is_none() || self.own_system.is_some() {
            self.other("session_meta");
        }
        self.own_system = self.own_system.take().or(system);
        Ok(())
    }

    /// The session's directory, by the first record that names one.
    fn ran_in(&mut self, cwd: Raw<'_>) {
        let end = &mut self.teller.end;
        end.cwd = end.cwd.take().or_else(|| string(cwd));
    }

    /// A setting that the next step brings.
    pub(super) fn setting(&mut self, key: &str, value: Raw<'_>) -> Result<()> {
        let Some(value) = value else { return Ok(()) };
        if let Err(error) = depth::check_json(key, value.get(), 1) {
            return self.problem(error.to_string());
        }
        let value = value.get().to_owned();
        self.teller.due.insert(key.to_owned(), value);
        Ok(())
    }

    /// Tells of the session, once, before its first step.
    pub(super) fn start(&mut self) -> Result<()> {
        if self.started {
            return Ok(());
        }
        self.started = true;
        let start = &self.teller.start;
        let base = start.descent.base.clone();
        self.id.clone_from(&start.id);
        // A record before its first message may have named its own thread.
        let own = &self.id;
        self.teller.end.started.retain(|thread| thread != own);
        self.teller.open()?;
        if let Some(base) = base {
            self.begin_with(&base)?;
        }
        self.tell_system(None)
    }

    /// Tells of the system prompt, once: the file's own, unless it is the one of what comes before.
    pub(super) fn tell_system(&mut self, before: Option<SystemPrompt>) -> Result<()> {
        if self.path.system.is_some() {
            self.own_system = None;
            return Ok(());
        }
        let own = self.own_system.take();
        let same = match (&own, &before) {
            (Some(own), Some(before)) => own.0 == before.0,
            (own, _) => own.is_none(),
        };
        let Some((text, span, time)) = (if same { before } else { own }) else {
            return Ok(());
        };
        let step = self
            .step(Action::Append(Message::text(Role::System, text)))
            .at(time)
            .by(span.into_iter().collect());
        self.path.system = self.number(&step);
        self.teller.step(step).map(drop)
    }

    /// A step by the record just read.
    fn step(&self, action: Action) -> Step {
        self.current.step(action).by(self.own_span().collect())
    }

    /// Tells of a step at once; returns its last entry, if it makes one.
    pub(super) fn emit(&mut self, action: Action) -> Result<Option<StepEntry>> {
        self.start()?;
        self.flush()?;
        let step = self.step(action);
        let entry = self.number(&step);
        self.teller.step(step)?;
        Ok(entry)
    }

    /// Gives a step its number, behind those that are held; returns its last entry.
    fn number(&mut self, step: &Step) -> Option<StepEntry> {
        let replacement = match &step.action {
            Action::Append(_) => Some(None),
            Action::Hide(hide) => hide.replacements.len().checked_sub(1).map(Some),
        };
        let StepId(told) = self.teller.next_step();
        let entry = replacement.map(|replacement| StepEntry {
            step: StepId(told + self.replies.held.len()),
            replacement,
        });
        self.path.last = entry.or(self.path.last);
        entry
    }

    fn hold(&mut self, step: Step) {
        self.number(&step);
        self.replies.held.push(step);
    }

    /// Ends the reply that is being read.
    fn close(&mut self) -> Result<()> {
        if let Some(step) = self.replies.group.take() {
            self.tell_held()?;
            self.hold(step);
        }
        Ok(())
    }

    /// Tells of a finished reply and its outputs.
    fn tell_held(&mut self) -> Result<()> {
        let replies = &mut self.replies;
        if let Some(reply) = replies.held.first_mut().filter(|step| is_reply(step)) {
            let early = replies.early.take();
            reply.usage = reply.usage.or(early);
        }
        for step in std::mem::take(&mut replies.held) {
            self.teller.step(step)?;
        }
        Ok(())
    }

    /// Ends the reply that is being read, and tells of it.
    fn flush(&mut self) -> Result<()> {
        self.close()?;
        self.tell_held()
    }

    fn item(&mut self, payload: &RawValue) -> Result<()> {
        self.start()?;
        match responses::read(payload, &mut self.teller.notes) {
            Meaning::Aside => {
                self.other("response_item/ghost_snapshot");
                Ok(())
            }
            said => self.take(said),
        }
    }

    fn take(&mut self, said: Meaning) -> Result<()> {
        match said {
            Meaning::Aside => Ok(()),
            Meaning::TooDeep(reason) => {
                self.other("response_item");
                self.problem(reason)
            }
            Meaning::Input(message) => self.input(message),
            Meaning::Reply(parts) => {
                for part in &parts {
                    if let Part::ToolCall { id, .. } = part {
                        *self.replies.calls.entry(id.clone()).or_default() += 1;
                    }
                }
                let span = self.own_span();
                if let Some(step) = &mut self.replies.group {
                    step.records.extend(span);
                    if let Action::Append(message) = &mut step.action {
                        message.parts.extend(parts);
                    }
                } else {
                    self.tell_held()?;
                    let message = Message::new(Role::Assistant, parts);
                    self.replies.group = Some(self.step(Action::Append(message)));
                }
                Ok(())
            }
            Meaning::Output(message) => {
                self.close()?;
                let call = message.results().next().unwrap_or_default();
                let calls = &mut self.replies.calls;
                match calls.get_mut(call) {
                    Some(1) => drop(calls.remove(call)),
                    Some(count) => *count -= 1,
                    None => {
                        let reason = format!("output of a call that is not there: '{call}'");
                        self.problem(reason)?;
                    }
                }
                self.hold(self.step(Action::Append(cut::as_sent(message))));
                if self.replies.held[0].usage.is_some() {
                    self.tell_held()?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn input(&mut self, message: Message) -> Result<()> {
        let user = message.role == Role::User;
        let (typed, text) = (message.is_typed(), prompt_text(&message));
        let entry = self.emit(Action::Append(message))?;
        if let (true, Some(entry)) = (user, entry) {
            self.path.users.push(UserEntry { entry, typed });
            self.prompt = Some(text);
        }
        Ok(())
    }

    fn event(&mut self, payload: &RawValue, prompt: Option<String>) -> Result<()> {
        let event = decode::<Event<'_>>(Some(payload)).unwrap_or_default();
        let Some(kind) = string(event.r#type) else {
            self.other("event_msg");
            return Ok(());
        };
        if let "item_completed" | "collab_agent_spawn_end" = kind.as_str() {
            self.starts(event.threads());
        }
        match kind.as_str() {
            "user_message" => {
                if let (Some(prompt), Some(user)) = (prompt, self.path.users.last_mut()) {
                    user.typed |= word(event.message).is_some_and(|text| text == prompt);
                }
            }
            "token_count" => self.count(event.info)?,
            "thread_name_updated" if self.inherited.is_none() => {
                let end = &mut self.teller.end;
                end.title = parts::said(event.thread_name).or(end.title.take());
            }
            "task_started" | "task_complete" | "turn_started" | "turn_complete"
            | "turn_aborted" => self.boundary()?,
            "thread_rolled_back" => {
                self.reaches_back = true;
                self.start()?;
                self.boundary()?;
                let turns = decode::<usize>(event.num_turns).unwrap_or(0);
                if self.roll_back(turns)? {
                    return Ok(());
                }
            }
            _ => {}
        }
        self.other(format!("event_msg/{kind}"));
        Ok(())
    }

    /// Notes the threads that are not the session's own.
    fn starts(&mut self, threads: Vec<String>) {
        for thread in threads {
            let is_own = self.inherited.is_some() || thread == self.id;
            let started = &mut self.teller.end.started;
            if !is_own && !started.contains(&thread) {
                started.push(thread);
            }
        }
    }

    /// Nothing that follows belongs to the reply before.
    pub(super) fn boundary(&mut self) -> Result<()> {
        self.flush()?;
        self.replies.early = None;
        Ok(())
    }

    /// A count ends the reply that it is for. The same total again is no new count.
    fn count(&mut self, info: Raw<'_>) -> Result<()> {
        let Some(TokenInfo {
            total_token_usage: total,
            last_token_usage: Some(last),
        }) = decode(info)
        else {
            return Ok(());
        };
        if self
            .uncounted
            .as_ref()
            .is_some_and(|(_, usage)| *usage == last.usage())
        {
            self.uncounted = None;
        }
        if total.is_some() && total == self.replies.total {
            return Ok(());
        }
        self.replies.total = total;
        let usage = last.usage();
        self.close()?;
        let held = &mut self.replies.held;
        match held.first_mut() {
            Some(reply) if reply.usage.is_none() && is_reply(reply) => {
                reply.usage = Some(usage);
                if held.len() > 1 {
                    self.tell_held()?;
                }
            }
            _ => self.replies.early = Some(usage),
        }
        Ok(())
    }

    /// A request was counted. What a reply brought is told as such right behind it.
    fn request(&mut self, payload: &RawValue) {
        let Some(request) = decode::<CountedRequest>(Some(payload)) else {
            return;
        };
        self.drop_uncounted();
        let is_own = request.thread_id.is_none_or(|thread| thread == self.id);
        if is_own && self.inherited.is_none() {
            let model = self.teller.settings.get("model");
            let model = model.and_then(|model| serde_json::from_str(model).ok());
            self.uncounted = Some((model.unwrap_or_default(), request.usage.usage()));
        }
    }

    /// The request that was counted last was no reply's.
    fn drop_uncounted(&mut self) {
        if let Some((model, usage)) = self.uncounted.take() {
            self.reaches_back = true;
            self.others.add_other(model, usage);
        }
    }

    fn turn_context(&mut self, payload: &RawValue) -> Result<()> {
        self.start()?;
        self.boundary()?;
        if let Some(context) = decode::<TurnContext<'_>>(Some(payload)) {
            self.ran_in(context.cwd);
            for (key, value) in [
                ("model", context.model),
                ("reasoning_effort", context.effort),
            ] {
                let Some(raw) = value else { continue };
                let settings = &mut self.teller.settings;
                if settings.get(key).map(String::as_str) != Some(raw.get()) {
                    settings.insert(key.to_owned(), raw.get().to_owned());
                    self.setting(key, value)?;
                }
            }
        }
        self.other("turn_context");
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.start()?;
        self.flush()?;
        let absent = &mut self.teller.end.absent;
        if self.path.system.is_none() {
            absent.push("system prompt".to_owned());
        }
        absent.push("tool definitions".to_owned());
        self.teller.end.stated = self.others.if_any();
        self.teller.close()
    }
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        match &mut self.inherited {
            Some(inherited) => inherited,
            None => self.teller.sink,
        }
    }

    fn restart(&self) -> Option<&'static str> {
        Some("{\"timestamp\"")
    }

    fn record(&mut self, record: records::Record<'_>) -> Result<()> {
        self.current = Current::at(&record);
        self.value(record.value)
    }
}

fn is_reply(step: &Step) -> bool {
    matches!(&step.action, Action::Append(message) if message.role == Role::Assistant)
}
