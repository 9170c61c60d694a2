//! The importer: the session's own events in one pass, then each sub-agent's, read again by their
//! places. Of messages it holds one reply, until it is known to be complete.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use serde_json::value::RawValue;

use super::assets::Assets;
use super::message::{prompt, reply, result};
use super::prompts::Asked;
use super::record::{Data, Event, Start};
use super::usage::Counted;
use crate::error::Result;
use crate::formats::shared::continuation::Plain;
use crate::formats::shared::current::Current;
use crate::formats::shared::parts::{said, time};
use crate::formats::shared::records::{self, LineReader, each_line, each_line_from};
use crate::formats::shared::teller::Teller;
use crate::formats::{
    Action, BranchStart, HideStep, Input, Midway, Sink, Source, Step, StepEntry, again,
};
use crate::model::{Message, Part, Role, Settings, Span, Usage, depth};
use crate::wire::json::{Raw, decode, is_true, quoted, string, word};

/// Reads a session.
pub(super) fn import(source: Source<'_>) -> Result<()> {
    let mut reader = Reader::new(source.input, source.stem, source.sink);
    reader.teller.end.lone_surrogates = each_line(source.input, &mut reader)?;
    let end = &mut reader.teller.end;
    end.title = end.title.take().or(reader.title.take());
    reader.finish()
}

/// Goes on from the middle, where nothing there hides, speaks of a sub-agent, or says again what may
/// have been said before.
pub(super) fn go_on(source: Source<'_>, from: Midway<'_>) -> Result<bool> {
    let mut found = Plain::of(source.sink);
    let mut reader = Reader::new(source.input, from.id, &mut found);
    reader.teller.open()?;
    reader.teller.settings.clone_from(from.settings);
    reader.teller.end.lone_surrogates = each_line_from(source.input, from.offset, &mut reader)?;
    let reaches_back = reader.reaches_back || reader.counted.has_other();
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
    /// The instructions that are sent, by role and name, and a fingerprint of each.
    pub(super) system: Vec<(Role, Option<String>, u64, StepEntry)>,
    /// What else is sent by now, in order.
    pub(super) sent: Vec<StepEntry>,
    /// The first prompt, until what follows shows whether instructions stand before it: later versions write them behind
    /// it, and send them first.
    first: Option<Step>,
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
    pub(super) input: &'a dyn Input,
    pub(super) teller: Teller<'a>,
    /// Whether an event has said which session it is.
    is_named: bool,
    /// Whether an event told of what came long before it.
    reaches_back: bool,
    pub(super) current: Current,
    pub(super) path: Path,
    agents: Vec<Agent>,
    /// The sub-agent's branch that is due.
    branch: Option<BranchStart>,
    /// Each sub-agent by its ids.
    known: HashMap<String, usize>,
    /// What was counted for its requests.
    counted: Counted,
    /// The events that hold bytes, by the bytes' ids.
    assets: HashMap<String, Span>,
    /// What the session begins with.
    title: Option<String>,
}

impl<'a> Reader<'a> {
    fn new(input: &'a dyn Input, id: &'a str, sink: &'a mut dyn Sink) -> Self {
        Self {
            input,
            teller: Teller::of(id, &[], sink),
            is_named: false,
            reaches_back: false,
            current: Current::default(),
            path: Path::default(),
            agents: Vec::new(),
            branch: None,
            known: HashMap::new(),
            counted: Counted::default(),
            assets: HashMap::new(),
            title: None,
        }
    }

    pub(super) fn problem(&mut self, reason: impl Into<String>) -> Result<()> {
        self.teller.problem_on(self.current.line, reason)
    }

    fn problems(&mut self, reasons: Vec<String>) -> Result<()> {
        reasons
            .into_iter()
            .try_for_each(|reason| self.problem(reason))
    }

    /// An event of whoever it is of.
    fn value(&mut self, value: &RawValue) -> Result<()> {
        let Ok(event) = serde_json::from_str::<Event<'_>>(value.get()) else {
            return self.problem("not an event");
        };
        let kind = word(event.r#type).unwrap_or_default();
        let Some(data) = decode::<Data<'_>>(event.data) else {
            self.teller.end.other(kind.clone());
            // What `--output-format json` ends with is no event, and has no data.
            if kind == "result" && event.data.is_none() {
                return Ok(());
            }
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
            self.agents[at].title = said(data.agent_display_name);
        }
        let place = (self.current.line, self.current.span);
        self.agents[at].events.push(place);
        Ok(())
    }

    fn event(&mut self, kind: &str, event: &Event<'_>, data: &Data<'_>) -> Result<()> {
        self.current.time = time(event.timestamp);
        if let Some(id) = word(event.id) {
            let waiting = self.path.group.is_some() || self.path.first.is_some();
            let sent = self.path.sent.len() + usize::from(waiting);
            let place = (sent, self.path.asked.len());
            self.path.places.insert(fingerprint(&id), place);
        }
        let is_told = match kind {
            "session.start" => self.session(data),
            "session.resume" | "session.model_change" => {
                let model = data.new_model.or(data.selected_model);
                self.set("model", model);
                self.set("reasoning_effort", data.reasoning_effort);
                false
            }
            "session.context_changed" => {
                let end = &mut self.teller.end;
                end.cwd = end.cwd.take().or_else(|| string(data.cwd));
                false
            }
            "session.title_changed" => {
                let end = &mut self.teller.end;
                end.title = said(data.title).or(end.title.take());
                false
            }
            "session.binary_asset" => {
                if let Some(id) = string(data.asset_id) {
                    self.assets.insert(id, self.current.span);
                }
                false
            }
            "system.message" => self.instruct(data)?,
            "user.message" => self.prompted(data)?,
            "system.notification" => match said(data.content) {
                Some(text) => self.append(Message::text(Role::User, text))?,
                None => false,
            },
            "assistant.message" => return self.replied(data),
            "tool.execution_complete" => self.given(data)?,
            "assistant.usage" => {
                self.count_reply(string(data.api_call_id).as_ref(), data.usage());
                false
            }
            "session.usage_record" => {
                let counts: Data<'_> = decode(data.usage).unwrap_or_default();
                if let Some(record) = counts.usage_record() {
                    let model = string(counts.model).unwrap_or_default();
                    let call = string(counts.api_call_id);
                    self.counted.request(self.current.line, call, model, record);
                }
                false
            }
            "session.shutdown" => {
                // It tells of what came before this part of the file, too.
                self.reaches_back = true;
                let metrics = data.metrics();
                if let [(1, usage)] = *metrics.values().copied().collect::<Vec<_>>() {
                    self.count_reply(None, Some(usage));
                }
                self.counted.all(self.current.line, metrics);
                false
            }
            "session.compaction_start" => {
                self.close()?;
                self.path.compacting = Some(self.path.sent.len());
                false
            }
            "session.compaction_complete" => {
                let counts: Data<'_> = decode(data.compaction_tokens_used).unwrap_or_default();
                if let Some(usage) = counts.usage() {
                    let model = string(counts.model).or_else(|| self.model());
                    self.counted
                        .compaction(self.current.line, model.unwrap_or_default(), usage);
                }
                self.compacted(data)?
            }
            "session.snapshot_rewind" => self.taken_back(data)?,
            "session.context_cleared" => self.clear(data)?,
            "session.truncation" => self.truncated(data)?,
            _ => false,
        };
        if !is_told {
            self.teller.end.other(kind);
        }
        Ok(())
    }

    /// The model in force.
    fn model(&self) -> Option<String> {
        serde_json::from_str(self.teller.settings.get("model")?).ok()
    }

    /// Notes a setting.
    fn set(&mut self, key: &str, value: Raw<'_>) {
        self.teller
            .set(key, said(value).map(|value| quoted(&value)));
    }

    /// What the first event says of the session.
    fn session(&mut self, data: &Data<'_>) -> bool {
        self.set("model", data.selected_model);
        self.set("reasoning_effort", data.reasoning_effort);
        let start = Start::of(data);
        let Teller {
            start: own, end, ..
        } = &mut self.teller;
        end.cwd = end.cwd.take().or(start.cwd);
        if !std::mem::replace(&mut self.is_named, true) {
            own.id = start.id.unwrap_or(std::mem::take(&mut own.id));
            own.descent = start.descent;
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
        let first = self.path.first.take();
        let entry = match old {
            Some((.., same, entry)) if same == mark => {
                self.path.system.push((role, name, mark, entry));
                return Ok(false);
            }
            Some((.., old)) => self.hide(HideStep::replacing(old, message))?,
            None => self.tell(Action::Append(message))?,
        };
        self.path.system.push((role, name, mark, entry));
        self.path.first = first;
        Ok(true)
    }

    fn prompted(&mut self, data: &Data<'_>) -> Result<bool> {
        // Requests before it brought no reply.
        self.counted.drop_waiting();
        let seed = self.path.seed.take();
        if seed.is_some() && seed == string(data.content) {
            return Ok(false);
        }
        let (mut assets, mut damage) = (self.assets(), Vec::new());
        let parts = prompt(data, &mut assets, &mut damage);
        self.reaches_back |= assets.lacks;
        self.problems(damage)?;
        let message = Message::new(Role::User, parts);
        let is_first = self.path.system.is_empty() && self.path.sent.is_empty();
        let is_told = if is_first && depth::check_message(&message).is_ok() {
            self.close()?;
            self.path.first = Some(self.current.step(Action::Append(message)));
            true
        } else {
            self.append(message)?
        };
        if is_told && !data.is_injected() {
            // What was typed says better than what was sent what a session is about.
            if self.title.is_none() {
                let typed = said(data.content);
                self.title = typed.and_then(|typed| Some(typed.lines().next()?.to_owned()));
            }
            self.path.asked.push(self.current.span);
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
        self.set("model", data.model);
        let mut damage = Vec::new();
        let parts = reply(data, &mut self.teller.notes, &mut damage);
        self.problems(damage)?;
        let fits = depth::check_parts(&parts);
        if fits.is_err() || parts.is_empty() {
            self.teller.end.other("assistant.message");
        }
        if let Err(error) = fits {
            return self.problem(error.to_string());
        }
        if parts.is_empty() {
            return Ok(());
        }
        let message = Message::new(Role::Assistant, parts);
        self.path.open.extend(message.calls().map(str::to_owned));
        let call = string(data.api_call_id);
        let record = self.counted.reply(call.as_ref());
        let is_piece = decode::<u64>(data.chunk_index).is_some_and(|index| index > 0);
        if let Some((of, step)) = &mut self.path.group
            && is_piece
            && call.is_some()
            && *of == call
            && let Action::Append(reply) = &mut step.action
        {
            reply.parts.extend(message.parts);
            step.records.push(self.current.span);
            if let Some(record) = record {
                (step.usage, step.detail) = (Some(record.usage), record.detail);
            }
            return Ok(());
        }
        self.teller.open()?;
        self.close()?;
        self.counted.begin();
        let step = self.current.step(Action::Append(message)).recorded(record);
        let settings = std::mem::take(&mut self.teller.due);
        self.path.group = Some((call, step.setting(settings)));
        Ok(())
    }

    /// What was counted for the reply that is being read, or for one of a call.
    fn count_reply(&mut self, call: Option<&String>, usage: Option<Usage>) {
        if let Some((of, step)) = &mut self.path.group
            && (call.is_none() || of.is_none() || call == of.as_ref())
        {
            step.usage = step.usage.or(usage);
        }
    }

    fn given(&mut self, data: &Data<'_>) -> Result<bool> {
        // What the user has run is no call of the model's.
        if is_true(data.is_user_requested) {
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

    /// Tells of a step; returns the first entry that it makes, if it makes one.
    pub(super) fn tell(&mut self, action: Action) -> Result<StepEntry> {
        self.close()?;
        self.told(self.current.step(action))
    }

    /// Hands a step over, and before the first of a sub-agent's that there is one.
    fn told(&mut self, step: Step) -> Result<StepEntry> {
        self.teller.open()?;
        if let Some(branch) = self.branch.take() {
            self.teller.sink.branch(branch)?;
        }
        self.teller.step(step)
    }

    /// Tells of what is hidden; returns the first thing that stands in its place.
    pub(super) fn hide(&mut self, hide: HideStep) -> Result<StepEntry> {
        self.reaches_back = true;
        self.tell(Action::Hide(hide))
    }

    /// Ends the reply that is being read.
    pub(super) fn close(&mut self) -> Result<()> {
        if let Some(first) = self.path.first.take() {
            let entry = self.told(first)?;
            self.path.sent.push(entry);
        }
        if let Some((_, step)) = self.path.group.take() {
            // What was set since it began is of the next step.
            let due = std::mem::take(&mut self.teller.due);
            let entry = self.told(step)?;
            self.teller.due = due;
            self.path.sent.push(entry);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.teller.open()?;
        self.close()?;
        let absent = &mut self.teller.end.absent;
        if self.path.system.is_empty() {
            absent.push("system prompt".to_owned());
        }
        absent.push("tool definitions".to_owned());
        for agent in std::mem::take(&mut self.agents) {
            self.agent(agent)?;
        }
        self.teller.end.stated = std::mem::take(&mut self.counted).stated();
        self.teller.close()
    }

    /// Tells of a sub-agent, if it says anything.
    fn agent(&mut self, agent: Agent) -> Result<()> {
        self.path = Path::default();
        (self.teller.settings, self.teller.due) = (Settings::new(), Settings::new());
        self.branch = Some(BranchStart {
            title: agent.title,
            ..BranchStart::root(format!("agent-{}", agent.id))
        });
        for (line, span) in agent.events {
            self.current = Current {
                line,
                span,
                time: None,
            };
            let text = again(self.input, span)?;
            let event: Event<'_> = serde_json::from_str(&text).unwrap_or_default();
            let data: Data<'_> = decode(event.data).unwrap_or_default();
            let kind = word(event.r#type).unwrap_or_default();
            self.event(&kind, &event, &data)?;
        }
        self.close()
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
        self.teller.sink
    }

    fn record(&mut self, record: records::Record<'_>) -> Result<()> {
        self.current = Current::at(&record);
        self.value(record.value)
    }
}
