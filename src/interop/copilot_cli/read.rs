//! The importer: the session's own events in one pass, then each sub-agent's, read again by their
//! places. Of messages it holds one reply, until it is known to be complete.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use serde_json::value::RawValue;

use super::asked::Asked;
use super::assets::Assets;
use super::record::{Data, Event, Start};
use super::said::{prompt, reply, result, text};
use crate::error::{Error, Result};
use crate::interop::lines::mend;
use crate::interop::midway::Plain;
use crate::interop::records::{self, LineReader, each_line, each_line_from};
use crate::interop::{
    Action, BranchStart, Cover, HideStep, ImportOptions, Input, Midway, Problem, SessionEnd,
    SessionStart, Sink, Step, StepEntry, StepId,
};
use crate::model::{HideKind, Message, Millis, Part, Role, Settings, Span, depth};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, quoted, string, word};

/// Reads a session.
pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut reader = Reader::new(input, options.stem, sink);
    reader.end.lone_surrogates = each_line(input, &mut reader)?;
    reader.end.title = reader.end.title.take().or(reader.title.take());
    reader.finish()
}

/// Goes on from the middle, where nothing there hides, speaks of a sub-agent, or says again what may
/// have been said before.
pub(super) fn go_on(
    input: &dyn Input,
    from: Midway<'_>,
    _: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<bool> {
    let mut found = Plain::of(sink);
    let mut reader = Reader::new(input, from.id, &mut found);
    reader.start()?;
    reader.path.settings.clone_from(from.settings);
    reader.end.lone_surrogates = each_line_from(input, from.offset, &mut reader)?;
    let reaches_back = reader.reaches_back;
    reader.finish()?;
    Ok(found.is_plain && !reaches_back)
}

/// A sub-agent, by its first id.
struct Agent {
    id: String,
    title: Option<String>,
    /// Its events, with their lines.
    events: Vec<(u64, Span)>,
}

/// What is known of one conversation: the session's own, or a sub-agent's.
#[derive(Default)]
pub(super) struct Path {
    /// The settings in force, and those that the next step brings.
    settings: Settings,
    changes: Settings,
    /// The instructions that are sent, by role and name, and a fingerprint of each.
    pub(super) system: Vec<(Role, Option<String>, u64, StepEntry)>,
    /// What else is sent by now, in order.
    pub(super) sent: Vec<StepEntry>,
    /// The reply that is being read, by its call of the model.
    group: Option<(Option<String>, Step)>,
    /// What the user asked for.
    pub(super) asked: Asked,
    /// Where events stand: how much was sent before each, and asked for.
    pub(super) places: HashMap<u64, (usize, usize)>,
    /// How much was sent when a summary was begun.
    pub(super) compacting: Option<usize>,
    /// Calls without a result.
    pub(super) open: HashSet<String>,
    /// Calls whose results are not sent any more.
    pub(super) cleared: HashSet<String>,
    /// The prompt that a clear began with, until the next message.
    pub(super) seed: Option<String>,
}

pub(super) struct Reader<'a> {
    input: &'a dyn Input,
    pub(super) sink: &'a mut dyn Sink,
    id: &'a str,
    opening: Option<SessionStart>,
    started: bool,
    /// Whether an event told of what came long before it.
    pub(super) reaches_back: bool,
    /// The record just read: its line, its place, its time.
    pub(super) line: u64,
    pub(super) span: Span,
    time: Option<Millis>,
    steps: usize,
    pub(super) path: Path,
    agents: Vec<Agent>,
    /// The sub-agent's branch that is due.
    branch: Option<BranchStart>,
    /// Each sub-agent by its ids.
    known: HashMap<String, usize>,
    /// The events that hold bytes, by the bytes' ids.
    assets: HashMap<String, Span>,
    /// What the session begins with.
    title: Option<String>,
    notes: Notes,
    pub(super) end: SessionEnd,
}

impl<'a> Reader<'a> {
    fn new(input: &'a dyn Input, id: &'a str, sink: &'a mut dyn Sink) -> Self {
        Self {
            input,
            sink,
            id,
            opening: None,
            started: false,
            reaches_back: false,
            line: 0,
            span: Span::default(),
            time: None,
            steps: 0,
            path: Path::default(),
            agents: Vec::new(),
            branch: None,
            known: HashMap::new(),
            assets: HashMap::new(),
            title: None,
            notes: Notes::default(),
            end: SessionEnd::default(),
        }
    }

    pub(super) fn problem(&mut self, reason: impl Into<String>) -> Result<()> {
        self.sink.problem(Problem::new(self.line, reason))
    }

    fn problems(&mut self, reasons: Vec<String>) -> Result<()> {
        reasons
            .into_iter()
            .try_for_each(|reason| self.problem(reason))
    }

    /// Tells of the session, once, before its first step.
    fn start(&mut self) -> Result<()> {
        if self.started {
            return Ok(());
        }
        self.started = true;
        let start = self.opening.take();
        self.sink
            .session(start.unwrap_or_else(|| SessionStart::new(self.id)))
    }

    /// An event of whoever it is of.
    fn value(&mut self, value: &RawValue) -> Result<()> {
        let event = serde_json::from_str::<Event<'_>>(value.get()).ok();
        // A list would pass for an object with its values in order.
        let Some(event) = event.filter(|_| value.get().starts_with('{')) else {
            return self.problem("not an event");
        };
        let kind = word(event.r#type).unwrap_or_default();
        let Some(data) = decode::<Data<'_>>(event.data) else {
            self.end.other(kind.clone());
            return self.problem(format!("damaged event: {kind}"));
        };
        let parent = data.parent_tool_call_id;
        let agent = string(event.agent_id).or_else(|| string(parent));
        if let Some(agent) = agent.filter(|agent| !agent.is_empty()) {
            return self.set_aside(agent, &kind, &data);
        }
        self.event(&kind, &event, &data)
    }

    /// Keeps the place of a sub-agent's event.
    fn set_aside(&mut self, id: String, kind: &str, data: &Data<'_>) -> Result<()> {
        let next = self.agents.len();
        let mut at = *self.known.entry(id.clone()).or_insert(next);
        // Older events know it by the call that started it.
        let call = string(data.tool_call_id).filter(|_| kind == "subagent.started");
        if let Some(call) = call {
            let by_call = *self.known.entry(call).or_insert(at);
            at = by_call.min(at);
            self.known.insert(id.clone(), at);
        }
        if at == next {
            self.agents.push(Agent {
                id,
                title: None,
                events: Vec::new(),
            });
        }
        if kind == "subagent.started" {
            self.agents[at].title = text(data.agent_display_name);
        }
        self.agents[at].events.push((self.line, self.span));
        Ok(())
    }

    fn event(&mut self, kind: &str, event: &Event<'_>, data: &Data<'_>) -> Result<()> {
        self.time = event.time();
        if let Some(id) = word(event.id) {
            let sent = self.path.sent.len() + usize::from(self.path.group.is_some());
            let place = (sent, self.path.asked.len());
            self.path.places.insert(fingerprint(&id), place);
        }
        let is_told = match kind {
            "session.start" => self.session(data),
            "session.resume" | "session.model_change" => {
                let model = data.new_model.or(data.selected_model);
                self.path.set("model", model);
                self.path.set("reasoning_effort", data.reasoning_effort);
                false
            }
            "session.context_changed" => {
                self.end.cwd = self.end.cwd.take().or_else(|| string(data.cwd));
                false
            }
            "session.title_changed" => {
                self.end.title = text(data.title).or(self.end.title.take());
                false
            }
            "session.binary_asset" => {
                if let Some(id) = string(data.asset_id) {
                    self.assets.insert(id, self.span);
                }
                false
            }
            "system.message" => self.instruct(data)?,
            "user.message" => self.prompted(data)?,
            "system.notification" => match text(data.content) {
                Some(text) => self.append(Message::text(Role::User, text))?,
                None => false,
            },
            "assistant.message" => return self.replied(data),
            "tool.execution_complete" => self.given(data)?,
            "session.compaction_start" => {
                self.close()?;
                self.path.compacting = Some(self.path.sent.len());
                false
            }
            "session.compaction_complete" => self.compacted(data)?,
            "session.snapshot_rewind" => self.taken_back(data)?,
            "session.context_cleared" => self.clear(data)?,
            "session.truncation" => self.truncated(data)?,
            _ => false,
        };
        if !is_told {
            self.end.other(kind);
        }
        Ok(())
    }

    /// What the first event says of the session.
    fn session(&mut self, data: &Data<'_>) -> bool {
        self.path.set("model", data.selected_model);
        self.path.set("reasoning_effort", data.reasoning_effort);
        let start = Start::of(data);
        self.end.cwd = self.end.cwd.take().or(start.cwd);
        if !self.started && self.opening.is_none() {
            self.opening = Some(SessionStart {
                id: start.id.unwrap_or_else(|| self.id.to_owned()),
                forked_from: None,
                descent: start.descent,
            });
        }
        false
    }

    /// Instructions, which are said again before each prompt: once as long as they are the same, and
    /// new ones in place of the old.
    fn instruct(&mut self, data: &Data<'_>) -> Result<bool> {
        self.reaches_back = true;
        let role = match word(data.role).as_deref() {
            Some("developer") => Role::Developer,
            _ => Role::System,
        };
        let content = string(data.content).unwrap_or_default();
        let (name, mark) = (string(data.name), fingerprint(&content));
        let mut known = self.path.system.iter();
        let at = known.position(|(of, by, ..)| *of == role && *by == name);
        let old = at.map(|at| self.path.system.swap_remove(at));
        let mut message = Message::text(role, content);
        message.name.clone_from(&name);
        let entry = match old {
            Some((.., same, entry)) if same == mark => {
                self.path.system.push((role, name, mark, entry));
                return Ok(false);
            }
            Some((.., old)) => {
                let hide = HideStep {
                    replacements: vec![(Some(old), message)],
                    ..HideStep::of(HideKind::Drop, Cover::Range(old, old))
                };
                self.hide(hide)?
            }
            None => self.tell(Action::Append(message))?,
        };
        self.path.system.push((role, name, mark, entry));
        Ok(true)
    }

    fn prompted(&mut self, data: &Data<'_>) -> Result<bool> {
        let seed = self.path.seed.take();
        if seed.is_some() && seed == string(data.content) {
            return Ok(false);
        }
        let (mut assets, mut damage) = (self.assets(), Vec::new());
        let parts = prompt(data, &mut assets, &mut damage);
        self.reaches_back |= assets.lacks;
        self.problems(damage)?;
        let is_told = self.append(Message::new(Role::User, parts))?;
        if is_told {
            // What was typed says better than what was sent what a session is about.
            if self.title.is_none() {
                let typed = text(data.content);
                self.title = typed.and_then(|typed| Some(typed.lines().next()?.to_owned()));
            }
            self.path.asked.push(self.span);
        }
        Ok(is_told)
    }

    fn assets(&self) -> Assets<'_> {
        Assets {
            input: self.input,
            places: &self.assets,
            lacks: false,
        }
    }

    /// A reply may come in pieces; then they name the same call of the model.
    fn replied(&mut self, data: &Data<'_>) -> Result<()> {
        self.path.set("model", data.model);
        let mut damage = Vec::new();
        let parts = reply(data, &mut self.notes, &mut damage);
        self.problems(damage)?;
        if let Err(error) = depth::check_parts(&parts) {
            self.end.other("assistant.message");
            return self.problem(error.to_string());
        }
        if parts.is_empty() {
            self.end.other("assistant.message");
            return Ok(());
        }
        for part in &parts {
            if let Part::ToolCall { id, .. } = part {
                self.path.open.insert(id.clone());
            }
        }
        let call = string(data.api_call_id);
        let is_piece = decode::<u64>(data.chunk_index).is_some_and(|index| index > 0);
        if let Some((of, step)) = &mut self.path.group
            && is_piece
            && call.is_some()
            && *of == call
            && let Action::Append(message) = &mut step.action
        {
            message.parts.extend(parts);
            step.records.push(self.span);
            return Ok(());
        }
        self.start()?;
        self.close()?;
        let step = self.step(Action::Append(Message::new(Role::Assistant, parts)));
        self.path.group = Some((call, step));
        Ok(())
    }

    fn given(&mut self, data: &Data<'_>) -> Result<bool> {
        // What the user has run is no call of the model's.
        if decode::<bool>(data.is_user_requested) == Some(true) {
            return Ok(false);
        }
        let (mut assets, mut damage) = (self.assets(), Vec::new());
        let part = result(data, &mut assets, &mut damage);
        self.reaches_back |= assets.lacks;
        self.problems(damage)?;
        if let Part::ToolResult { call, .. } = &part {
            if self.path.cleared.remove(call) {
                return Ok(false);
            }
            if !self.path.open.remove(call) {
                self.problem(format!("a result of a call that is not there: '{call}'"))?;
            }
        }
        self.append(Message::new(Role::Tool, vec![part]))
    }

    /// Tells of a message; false where it may not be told.
    fn append(&mut self, message: Message) -> Result<bool> {
        if let Err(error) = depth::check_message(&message) {
            self.problem(error.to_string())?;
            return Ok(false);
        }
        let entry = self.tell(Action::Append(message))?;
        self.path.sent.push(entry);
        Ok(true)
    }

    /// A step by the record just read, with the settings that are new.
    fn step(&mut self, action: Action) -> Step {
        Step {
            time: self.time,
            settings: self.path.due(),
            ..Step::new(action, self.span)
        }
    }

    /// Tells of a step; returns the first entry that it makes, if it makes one.
    pub(super) fn tell(&mut self, action: Action) -> Result<StepEntry> {
        self.start()?;
        self.close()?;
        let replacement = matches!(action, Action::Hide(_)).then_some(0);
        let step = self.step(action);
        Ok(StepEntry {
            replacement,
            ..self.told(step)?
        })
    }

    /// Hands a step over, and before the first of a sub-agent's that there is one.
    fn told(&mut self, step: Step) -> Result<StepEntry> {
        if let Some(branch) = self.branch.take() {
            self.sink.branch(branch)?;
        }
        self.sink.step(step)?;
        self.steps += 1;
        Ok(StepId(self.steps - 1).entry())
    }

    /// Tells of what is hidden; returns the first thing that stands in its place.
    pub(super) fn hide(&mut self, hide: HideStep) -> Result<StepEntry> {
        self.reaches_back = true;
        self.tell(Action::Hide(hide))
    }

    /// Ends the reply that is being read.
    pub(super) fn close(&mut self) -> Result<()> {
        if let Some((_, step)) = self.path.group.take() {
            let entry = self.told(step)?;
            self.path.sent.push(entry);
        }
        Ok(())
    }

    /// The text of a record that was read before.
    pub(super) fn again(&self, span: Span) -> Result<String> {
        let bytes = self.input.bytes(span).map_err(Error::io("source"))?;
        Ok(mend(&bytes).text.into_owned())
    }

    fn finish(mut self) -> Result<()> {
        self.start()?;
        self.close()?;
        if self.path.system.is_empty() {
            self.end.absent.push("system prompt".to_owned());
        }
        self.end.absent.push("tool definitions".to_owned());
        for agent in std::mem::take(&mut self.agents) {
            self.agent(agent)?;
        }
        self.end.opaque_blocks = self.notes.opaque_blocks;
        self.sink.end(self.end)
    }

    /// Tells of a sub-agent, if it says anything.
    fn agent(&mut self, agent: Agent) -> Result<()> {
        self.path = Path::default();
        self.branch = Some(BranchStart {
            name: format!("agent-{}", agent.id),
            after: None,
            title: agent.title,
        });
        for (line, span) in agent.events {
            (self.line, self.span) = (line, span);
            let text = self.again(span)?;
            let event: Event<'_> = serde_json::from_str(&text).unwrap_or_default();
            let data: Data<'_> = decode(event.data).unwrap_or_default();
            let kind = word(event.r#type).unwrap_or_default();
            self.event(&kind, &event, &data)?;
        }
        self.close()
    }
}

impl Path {
    /// Notes a setting.
    fn set(&mut self, key: &str, value: Raw<'_>) {
        let Some(value) = text(value) else { return };
        let value = quoted(&value);
        if self.settings.get(key) != Some(&value) {
            self.changes.insert(key.to_owned(), value.clone());
            self.settings.insert(key.to_owned(), value);
        }
    }

    /// The settings that are new.
    fn due(&mut self) -> Settings {
        std::mem::take(&mut self.changes)
    }
}

/// Tells one text from others.
pub(super) fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: records::Record<'_>) -> Result<()> {
        (self.line, self.span) = (record.line, record.span());
        self.value(record.value)
    }
}
