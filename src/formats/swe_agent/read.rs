//! The importer of SWE-agent's runs: the history as steps, and what of it was left out of later requests.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::entry::{agent, message};
use crate::error::Result;
use crate::formats::shared::conversations::Names;
use crate::formats::shared::document::{Document, Member, ObjectTeller, Opened};
use crate::formats::shared::parts::said;
use crate::formats::shared::records::{Held, Text};
use crate::formats::shared::spans::{elements, members};
use crate::formats::shared::teller::Teller;
use crate::formats::{Action, BranchStart, HideStep, Source, Step, StepEntry};
use crate::model::{Message, Role, Settings};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, quoted, string};

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let held = Held::read(source.input)?;
    let teller = Teller::of(source.stem, &[], source.sink);
    let mut teller = ObjectTeller::of(held.text(), teller);
    let mut main = Opened::<Run>::read(held.start, &mut teller);
    let broken = main.broken;
    let attempts = std::mem::take(&mut main.document.attempts);
    let mut is_told = main.document.best;
    if main.records.is_empty()
        && let Some(last) = attempts.len().checked_sub(1)
    {
        // None is chosen yet.
        is_told = Some(last);
        main = Opened::inside(attempts[last].start, &mut teller);
    }
    let run = &mut main.document;
    (teller.end.title, teller.end.cwd) = (run.title.take(), run.cwd.take());
    let mut entries = main.tell(&mut teller)?;
    // An agent without tools types commands into its text, and no request defines any.
    if main.document.has_calls {
        teller.end.absent.push("tool definitions".to_owned());
    }
    let mut names = main.document.names;
    for (number, at) in attempts.iter().enumerate() {
        if is_told != Some(number) {
            let mut attempt = Opened::<Run>::inside(at.start, &mut teller);
            attempt.document.name = Some(format!("attempt-{}", number + 1));
            attempt.document.names = names;
            entries += attempt.tell(&mut teller)?;
            names = attempt.document.names;
        }
    }
    teller.close(&held, broken, entries)
}

/// A run, or one attempt of it.
#[derive(Default)]
struct Run {
    /// What requests held of its history.
    requests: Vec<Range<usize>>,
    attempts: Vec<Range<usize>>,
    /// The attempt that the run itself repeats.
    best: Option<usize>,
    settings: Settings,
    title: Option<String>,
    cwd: Option<String>,
    /// The branch that it is told on.
    name: Option<String>,
    /// Those of all branches.
    names: Names,
    /// The agents in its history, the one whose run it is first.
    agents: Vec<Agent>,
    /// Where the agents are that the history names.
    places: HashMap<String, usize>,
    /// Whether its own agent made calls.
    has_calls: bool,
}

/// An agent of a history, and the entries that belong to it: none of one that cannot be read.
#[derive(Default)]
struct Agent {
    label: String,
    entries: Vec<(Range<usize>, Option<Message>)>,
}

lazy! { struct Config { agent, problem_statement } }

lazy! { struct AgentConfig { model } }

lazy! { struct Model { name, temperature, top_p } }

lazy! { struct Problem { id } }

lazy! { struct State { working_dir } }

#[derive(Default, Deserialize)]
#[serde(default)]
struct Info {
    best_attempt_idx: Option<usize>,
}

/// A value that may stand in a string of its own.
fn unfolded(raw: &RawValue) -> String {
    string(Some(raw)).unwrap_or_else(|| raw.get().to_owned())
}

impl Document for Run {
    const RECORDS: &'static str = "history";
    const LISTS: &'static [&'static str] = &["attempts", "trajectory"];

    fn list(&mut self, key: &str, found: Vec<Range<usize>>, teller: &mut ObjectTeller<'_, '_>) {
        if key == "attempts" {
            self.attempts = found;
        } else {
            self.trajectory(teller.text, &found);
            teller.end.other(key);
        }
    }

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        teller.end.other(member.key);
        self.know(member.key, member.raw)
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let read = teller.read(at, |raw, notes| Ok((agent(raw), message(raw, notes)?)))?;
        // One that cannot be read has its place in what was sent.
        let (agent, message) = read.unzip();
        let place = agent.flatten().map_or(0, |agent| self.place(agent));
        if self.agents.is_empty() {
            self.agents.push(Agent::default());
        }
        self.agents[place].entries.push((at.clone(), message));
        Ok(())
    }

    /// Tells of the run, on a branch where it has a name, and then of the other agents in its history.
    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        for (place, Agent { label, entries }) in self.agents.drain(..).enumerate() {
            let branch = match (&self.name, place) {
                (name, 0) => name.clone(),
                (None, _) => Some(format!("agent-{label}")),
                (Some(name), _) => Some(format!("{name}-agent-{label}")),
            };
            if let Some(branch) = branch.filter(|_| !entries.is_empty()) {
                let branch = BranchStart::root(self.names.of(branch));
                teller.sink.branch(branch)?;
            }
            let requests = if place == 0 { &self.requests[..] } else { &[] };
            let has_calls = Self::entries(entries, requests, self.settings.clone(), teller)?;
            self.has_calls |= has_calls && place == 0;
        }
        Ok(())
    }
}

impl Run {
    /// Where an agent is. Who is first is the one whose run it is.
    fn place(&mut self, label: String) -> usize {
        let count = self.agents.len().max(1);
        let next = if self.places.is_empty() { 0 } else { count };
        let place = *self.places.entry(label.clone()).or_insert(next);
        if place == count {
            self.agents.push(Agent {
                label,
                entries: Vec::new(),
            });
        }
        place
    }

    /// What each step says of the request, and the first of where the agent is.
    fn trajectory(&mut self, text: Text<'_>, steps: &[Range<usize>]) {
        for (number, step) in steps.iter().enumerate() {
            for (key, at) in members(text.bytes, step.start).0 {
                match key.as_str() {
                    // Before 1.1 it is the list with what came of the step.
                    "query" | "messages" => self.requests.push(at),
                    "state" if number == 0 => {
                        let state = text.decode(&at).map(|(raw, _)| unfolded(&raw));
                        let state = state.unwrap_or_default();
                        let state: State<'_> = serde_json::from_str(&state).unwrap_or_default();
                        let place = string(state.working_dir);
                        self.cwd = place.filter(|place| place.starts_with('/'));
                    }
                    _ => {}
                }
            }
        }
    }

    /// A member beside the history; false where it is not read.
    fn know(&mut self, key: &str, raw: &RawValue) -> bool {
        match key {
            "replay_config" => {
                let config = unfolded(raw);
                let config: Config<'_> = serde_json::from_str(&config).unwrap_or_default();
                let agent: AgentConfig<'_> = decode(config.agent).unwrap_or_default();
                let model: Model<'_> = decode(agent.model).unwrap_or_default();
                let name = string(model.name).map(|name| quoted(&name));
                let number = |raw: Raw<'_>| {
                    let is_number = decode::<f64>(raw).is_some();
                    raw.filter(|_| is_number).map(|raw| raw.get().to_owned())
                };
                let settings = [
                    ("model", name),
                    ("temperature", number(model.temperature)),
                    ("top_p", number(model.top_p)),
                ];
                let settings = settings.into_iter();
                let settings = settings.filter_map(|(key, value)| Some((key.to_owned(), value?)));
                self.settings = settings.collect();
                let problem: Problem<'_> = decode(config.problem_statement).unwrap_or_default();
                self.title = said(problem.id);
            }
            "info" => {
                let info: Info = decode(Some(raw)).unwrap_or_default();
                self.best = info.best_attempt_idx;
            }
            _ => return false,
        }
        true
    }

    /// Tells of the entries of one agent; returns whether there were calls.
    fn entries(
        entries: Vec<(Range<usize>, Option<Message>)>,
        requests: &[Range<usize>],
        settings: Settings,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<bool> {
        // What was sent of the first so many entries.
        let mut sent: HashMap<usize, Vec<Range<usize>>> = HashMap::new();
        for request in requests {
            let (items, _) = elements(teller.text.bytes, request.start);
            sent.insert(items.len(), items);
        }
        teller.calls.clear();
        let text = teller.text;
        let mut due = Some(settings);
        let mut rows: Vec<Option<Row>> = Vec::with_capacity(entries.len());
        for (at, message) in entries {
            if let Some(message) = message {
                teller.pair(&message, text, &at)?;
                let step = Step::append(message.clone(), text.span(&at))
                    .setting(due.take().unwrap_or_default());
                rows.push(Some(Row {
                    at: teller.step(step)?,
                    place: at,
                    message,
                    is_cut: false,
                }));
            } else {
                rows.push(None);
            }
            if let Some(items) = sent.get(&rows.len()) {
                Self::cut(&mut rows, items, teller)?;
            }
        }
        Ok(!teller.calls.is_empty())
    }

    /// Hides what a request held in other words: what tools and users said and the tool left out.
    fn cut(
        rows: &mut [Option<Row>],
        items: &[Range<usize>],
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let (mut parts, mut record) = (Vec::new(), None);
        for (row, item) in rows.iter_mut().zip(items) {
            let Some(row) = row.as_mut().filter(|row| !row.is_cut) else {
                continue;
            };
            let bytes = teller.text.bytes;
            if bytes[item.clone()] == bytes[row.place.clone()] {
                continue;
            }
            let Ok((raw, _)) = teller.text.decode(item) else {
                continue;
            };
            let Ok(sent) = message(&raw, &mut Notes::default()) else {
                continue;
            };
            let cut = instead(&row.message, sent);
            if !cut.is_empty() {
                row.is_cut = true;
                record.get_or_insert(teller.text.span(item));
                let at = row.at;
                parts.extend(cut.into_iter().map(|(part, stub)| (at, part, stub)));
            }
        }
        if let Some(record) = record {
            let cut = HideStep::prune(parts);
            teller.step(Step::new(Action::Hide(cut), record))?;
        }
        Ok(())
    }
}

/// An entry that was told, to be compared with what requests held of it.
struct Row {
    at: StepEntry,
    place: Range<usize>,
    message: Message,
    /// Whether it was cut by now.
    is_cut: bool,
}

/// What stands in place of the parts of a message that was sent otherwise; nothing where it was not, and of
/// what a model said or asked for.
fn instead(message: &Message, sent: Message) -> Vec<(u32, Option<Message>)> {
    let is_other = message.role == Role::Assistant || message.role != sent.role;
    if is_other || *message == sent || !message.results().eq(sent.results()) {
        return Vec::new();
    }
    let mut stub = (!sent.parts.is_empty()).then_some(sent);
    let parts = 0..u32::try_from(message.parts.len()).unwrap_or(0);
    parts.map(|part| (part, stub.take())).collect()
}
