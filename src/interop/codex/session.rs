//! The records of one session, to its steps. Of messages it holds one reply and its outputs, until
//! their count is known.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::history::{prompt_text, typed};
use super::inherited::Inherited;
use super::record::{Event, Record, SessionMeta, TokenInfo, TokenUsage, TurnContext};
use crate::error::Result;
use crate::interop::midway::Plain;
use crate::interop::records::{self, LineReader, each_line, each_line_from};
use crate::interop::{
    Action, ImportOptions, Input, Midway, Problem, SessionEnd, SessionStart, Sink, Step, StepEntry,
    StepId,
};
use crate::model::{Message, Millis, Part, Role, Settings, Span, Usage, depth};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string, word};
use crate::wire::responses::{self, Meaning};

/// Reads a rollout in one pass over its lines.
pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut reader = Reader::new(sink, options);
    reader.end.lone_surrogates = each_line(input, &mut reader)?;
    reader.finish()
}

/// Goes on from the middle: no compaction and no rollback, which reach back as far as they like.
pub(super) fn go_on(
    input: &dyn Input,
    from: Midway<'_>,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<bool> {
    let mut found = Plain::of(sink);
    found.session(SessionStart::new(from.id))?;
    let mut reader = Reader::new(&mut found, options);
    reader.started = true;
    from.id.clone_into(&mut reader.id);
    reader.settings.clone_from(from.settings);
    reader.end.lone_surrogates = each_line_from(input, from.offset, &mut reader)?;
    let reaches_back = reader.reaches_back;
    reader.finish()?;
    Ok(found.is_plain && !reaches_back)
}

/// What is known of the session before it is told.
#[derive(Default)]
struct Opening {
    start: SessionStart,
    spawned_by: Option<String>,
    system: Option<SystemPrompt>,
}

/// A system prompt with its record's place and time.
pub(super) type SystemPrompt = (String, Option<Span>, Option<Millis>);

/// A message of the user's on the path.
pub(super) struct UserEntry {
    pub(super) entry: StepEntry,
    /// Whether a person typed it, so that a turn begins with it.
    pub(super) typed: bool,
}

pub(super) struct Reader<'s> {
    sink: &'s mut dyn Sink,
    pub(super) options: ImportOptions<'s>,
    /// How far another file is read, while it is one.
    pub(super) inherited: Option<Inherited>,
    /// The record just read: its line, its place, its time.
    pub(super) line: u64,
    pub(super) span: Span,
    pub(super) time: Option<Millis>,
    opening: Option<Opening>,
    started: bool,
    /// Whether a record told of what came long before it.
    reaches_back: bool,
    id: String,
    /// The file's own system prompt, until it is told.
    pub(super) own_system: Option<SystemPrompt>,
    /// The reply that is being read.
    group: Option<Step>,
    /// A finished reply that has no count yet, and its outputs.
    held: Vec<Step>,
    /// How many steps there are, the held ones included.
    pub(super) steps: usize,
    /// A count that came before the records of its reply.
    early: Option<Usage>,
    total: Option<TokenUsage>,
    /// The settings in force, and those that the next step brings.
    settings: Settings,
    pub(super) changes: Settings,
    /// The settings that the first record of another file brought.
    pub(super) brought: Settings,
    pub(super) system: Option<StepEntry>,
    pub(super) last: Option<StepEntry>,
    pub(super) users: Vec<UserEntry>,
    /// The text of the record just read, if it is the user's.
    pub(super) prompt: Option<String>,
    /// Calls without output, by id.
    calls: BTreeMap<String, u64>,
    pub(super) notes: Notes,
    pub(super) end: SessionEnd,
}

impl<'s> Reader<'s> {
    fn new(sink: &'s mut dyn Sink, options: ImportOptions<'s>) -> Self {
        Self {
            sink,
            options,
            inherited: None,
            line: 0,
            span: Span::default(),
            time: None,
            opening: None,
            started: false,
            reaches_back: false,
            id: String::new(),
            own_system: None,
            group: None,
            held: Vec::new(),
            steps: 0,
            early: None,
            total: None,
            settings: Settings::new(),
            changes: Settings::new(),
            brought: Settings::new(),
            system: None,
            last: None,
            users: Vec::new(),
            prompt: None,
            calls: BTreeMap::new(),
            notes: Notes::default(),
            end: SessionEnd::default(),
        }
    }

    pub(super) fn problem(&mut self, reason: impl Into<String>) -> Result<()> {
        if self.inherited.is_some() {
            // It was told of when its own file came in.
            return Ok(());
        }
        self.sink.problem(Problem::new(self.line, reason))
    }

    pub(super) fn other(&mut self, kind: impl Into<String>) {
        if self.inherited.is_none() {
            self.end.other(kind);
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
        self.time = record.time();
        let other = match (&*kind, record.payload, word(record.record_type)) {
            ("session_meta", Some(payload), _) => return self.session_meta(payload),
            ("response_item", Some(payload), _) => return self.item(payload),
            ("event_msg", Some(payload), _) => return self.event(payload, prompt),
            ("turn_context", Some(payload), _) => return self.turn_context(payload),
            ("compacted", Some(payload), _) => {
                self.reaches_back = true;
                return self.compacted(payload);
            }
            ("inter_agent_communication", Some(payload), _) => {
                match responses::communication(payload, &mut self.notes) {
                    Meaning::Aside => kind,
                    said => return self.take(said),
                }
            }
            (_, None, Some(legacy)) => legacy,
            ("", None, None) if !self.started && self.opening.is_none() => {
                // Its time is the file's, not the system prompt's.
                self.time = None;
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
        let id = string(meta.id).filter(|id| !id.is_empty());
        if self.end.cwd.is_none() {
            self.end.cwd = string(meta.cwd);
        }
        if self.started {
            self.close()?;
            self.flush()?;
            self.other("session_meta");
            return Ok(());
        }
        let system = meta.system_prompt();
        let system = system.map(|text| (text, Some(self.span), self.time));
        let brings_system = system.is_some();
        let counted = match &mut self.opening {
            None => {
                self.setting("dynamic_tools", meta.dynamic_tools)?;
                self.opening = Some(Opening {
                    start: SessionStart {
                        id: id.unwrap_or_else(|| self.options.stem.to_owned()),
                        forked_from: string(meta.forked_from_id),
                        descent: meta.descent(),
                    },
                    spawned_by: meta.spawned_by(),
                    system,
                });
                brings_system
            }
            // A fork goes on with a copy of its parent's.
            Some(opening) => {
                let start = &mut opening.start;
                if start.forked_from.is_none() && id.is_some() && id == opening.spawned_by {
                    start.forked_from = id;
                }
                let first = opening.system.is_none();
                opening.system = opening.system.take().or(system);
                first && brings_system
            }
        };
        if !counted {
            self.other("session_meta");
        }
        Ok(())
    }

    /// A setting that the next step brings.
    pub(super) fn setting(&mut self, key: &str, value: Raw<'_>) -> Result<()> {
        let Some(value) = value else { return Ok(()) };
        if let Err(error) = depth::check_json(key, value.get(), 1) {
            return self.problem(error.to_string());
        }
        self.changes.insert(key.to_owned(), value.get().to_owned());
        Ok(())
    }

    /// Tells of the session, once, before its first step.
    pub(super) fn start(&mut self) -> Result<()> {
        if self.started {
            return Ok(());
        }
        self.started = true;
        let opening = self.opening.take().unwrap_or_else(|| Opening {
            start: SessionStart::new(self.options.stem),
            ..Opening::default()
        });
        let base = opening.start.descent.base.clone();
        self.id.clone_from(&opening.start.id);
        self.own_system = opening.system;
        self.sink.session(opening.start)?;
        if let Some(base) = base {
            self.begin_with(&base)?;
        }
        self.tell_system(None)
    }

    /// Tells of the system prompt, once: the file's own, unless it is the one of what comes before.
    pub(super) fn tell_system(&mut self, before: Option<SystemPrompt>) -> Result<()> {
        if self.system.is_some() {
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
        let step = Step {
            time,
            records: span.into_iter().collect(),
            ..self.step(Action::Append(Message::text(Role::System, text)))
        };
        self.system = self.number(&step);
        self.sink.step(step)
    }

    /// A step by the record just read, with the settings that are due.
    fn step(&mut self, action: Action) -> Step {
        Step {
            time: self.time,
            settings: std::mem::take(&mut self.changes),
            records: self.own_span().collect(),
            ..Step::new(action, self.span)
        }
    }

    /// Tells of a step at once; returns its last entry, if it makes one.
    pub(super) fn emit(&mut self, action: Action) -> Result<Option<StepEntry>> {
        self.start()?;
        self.close()?;
        self.flush()?;
        let step = self.step(action);
        let entry = self.number(&step);
        self.sink.step(step)?;
        Ok(entry)
    }

    /// Gives a step its number; returns its last entry.
    fn number(&mut self, step: &Step) -> Option<StepEntry> {
        let replacement = match &step.action {
            Action::Append(_) => Some(None),
            Action::Hide(hide) => hide.replacements.len().checked_sub(1).map(Some),
        };
        let entry = replacement.map(|replacement| StepEntry {
            step: StepId(self.steps),
            replacement,
        });
        self.steps += 1;
        self.last = entry.or(self.last);
        entry
    }

    /// Ends the reply that is being read.
    fn close(&mut self) -> Result<()> {
        if let Some(step) = self.group.take() {
            self.flush()?;
            self.number(&step);
            self.held.push(step);
        }
        Ok(())
    }

    /// Tells of a finished reply and its outputs.
    fn flush(&mut self) -> Result<()> {
        if let Some(reply) = self.held.first_mut().filter(|step| is_reply(step)) {
            let early = self.early.take();
            reply.usage = reply.usage.or(early);
        }
        for step in std::mem::take(&mut self.held) {
            self.sink.step(step)?;
        }
        Ok(())
    }

    fn item(&mut self, payload: &RawValue) -> Result<()> {
        self.start()?;
        match responses::read(payload, &mut self.notes) {
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
                        *self.calls.entry(id.clone()).or_default() += 1;
                    }
                }
                let span = self.own_span();
                if let Some(step) = &mut self.group {
                    step.records.extend(span);
                    if let Action::Append(message) = &mut step.action {
                        message.parts.extend(parts);
                    }
                } else {
                    self.flush()?;
                    let message = Message::new(Role::Assistant, parts);
                    self.group = Some(self.step(Action::Append(message)));
                }
                Ok(())
            }
            Meaning::Output(message) => {
                self.close()?;
                let call = message.results().next().unwrap_or_default();
                match self.calls.get_mut(call) {
                    Some(1) => {
                        self.calls.remove(call);
                    }
                    Some(count) => *count -= 1,
                    None => {
                        let reason = format!("output of a call that is not there: '{call}'");
                        self.problem(reason)?;
                    }
                }
                let step = self.step(Action::Append(message));
                self.number(&step);
                self.held.push(step);
                if self.held[0].usage.is_some() {
                    self.flush()?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn input(&mut self, message: Message) -> Result<()> {
        let user = message.role == Role::User;
        let (typed, text) = (typed(&message), prompt_text(&message));
        let entry = self.emit(Action::Append(message))?;
        if let (true, Some(entry)) = (user, entry) {
            self.users.push(UserEntry { entry, typed });
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
                if let (Some(prompt), Some(user)) = (prompt, self.users.last_mut()) {
                    user.typed |= word(event.message).is_some_and(|text| text == prompt);
                }
            }
            "token_count" => self.count(event.info)?,
            "thread_name_updated" if self.inherited.is_none() => {
                let name = string(event.thread_name).filter(|name| !name.is_empty());
                self.end.title = name.or(self.end.title.take());
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
            if !is_own && !self.end.started.contains(&thread) {
                self.end.started.push(thread);
            }
        }
    }

    /// Nothing that follows belongs to the reply before.
    pub(super) fn boundary(&mut self) -> Result<()> {
        self.close()?;
        self.flush()?;
        self.early = None;
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
        if total.is_some() && total == self.total {
            return Ok(());
        }
        self.total = total;
        let usage = Usage {
            input_tokens: last.input_tokens,
            output_tokens: last.output_tokens,
        };
        self.close()?;
        match self.held.first_mut() {
            Some(reply) if reply.usage.is_none() && is_reply(reply) => {
                reply.usage = Some(usage);
                if self.held.len() > 1 {
                    self.flush()?;
                }
            }
            _ => self.early = Some(usage),
        }
        Ok(())
    }

    fn turn_context(&mut self, payload: &RawValue) -> Result<()> {
        self.start()?;
        self.boundary()?;
        if let Some(context) = decode::<TurnContext<'_>>(Some(payload)) {
            if self.end.cwd.is_none() {
                self.end.cwd = string(context.cwd);
            }
            for (key, value) in [
                ("model", context.model),
                ("reasoning_effort", context.effort),
            ] {
                let Some(value) = value else { continue };
                if self.settings.get(key).map(String::as_str) != Some(value.get()) {
                    self.settings.insert(key.to_owned(), value.get().to_owned());
                    self.setting(key, Some(value))?;
                }
            }
        }
        self.other("turn_context");
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.start()?;
        self.close()?;
        self.flush()?;
        if self.system.is_none() {
            self.end.absent.push("system prompt".to_owned());
        }
        self.end.absent.push("tool definitions".to_owned());
        self.end.opaque_blocks = self.notes.opaque_blocks;
        self.sink.end(self.end)
    }
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        match &mut self.inherited {
            Some(inherited) => inherited,
            None => self.sink,
        }
    }

    fn restart(&self) -> Option<&'static str> {
        Some("{\"timestamp\"")
    }

    fn record(&mut self, record: records::Record<'_>) -> Result<()> {
        (self.line, self.span) = (record.line, record.span());
        self.value(record.value)
    }
}

fn is_reply(step: &Step) -> bool {
    matches!(&step.action, Action::Append(message) if message.role == Role::Assistant)
}
