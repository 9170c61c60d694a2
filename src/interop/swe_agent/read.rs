//! The importer of SWE-agent's runs: the history as steps, and what of it was left out of later requests.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::entry::{agent, message};
use crate::error::Result;
use crate::interop::calls::Calls;
use crate::interop::conversations::Names;
use crate::interop::document::ObjectTeller;
use crate::interop::records::{Held, Text};
use crate::interop::spans::{Broken, elements, members};
use crate::interop::teller::Teller;
use crate::interop::{
    Action, BranchStart, HideStep, ImportOptions, Input, SessionEnd, Sink, Step, StepEntry,
};
use crate::model::{Message, Role, Settings};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, quoted, string};

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let mut teller = ObjectTeller::of(text, Teller::of(options.stem, &[], sink));
    let mut main = Run::read(text, held.start, &mut teller.end);
    let broken = main.broken;
    let attempts = std::mem::take(&mut main.attempts);
    let mut is_told = main.best;
    if main.history.is_empty()
        && let Some(last) = attempts.len().checked_sub(1)
    {
        // None is chosen yet.
        is_told = Some(last);
        main = Run::read(text, attempts[last].start, &mut SessionEnd::default());
    }
    teller.open()?;
    (teller.end.title, teller.end.cwd) = (main.title.take(), main.cwd.take());
    let mut telling = Telling {
        teller,
        entries: 0,
        names: Names::default(),
    };
    let has_calls = telling.run(main, None)?;
    // An agent without tools types commands into its text, and no request defines any.
    if has_calls {
        telling
            .teller
            .end
            .absent
            .push("tool definitions".to_owned());
    }
    for (number, at) in attempts.iter().enumerate() {
        if is_told != Some(number) {
            let attempt = Run::read(text, at.start, &mut SessionEnd::default());
            telling.run(attempt, Some(format!("attempt-{}", number + 1)))?;
        }
    }
    telling.teller.close(&held, broken, telling.entries)
}

/// A run, or one attempt of it.
#[derive(Default)]
struct Run {
    history: Vec<Range<usize>>,
    /// What requests held of it.
    requests: Vec<Range<usize>>,
    attempts: Vec<Range<usize>>,
    /// The attempt that the run itself repeats.
    best: Option<usize>,
    settings: Settings,
    title: Option<String>,
    cwd: Option<String>,
    broken: Option<Broken>,
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

impl Run {
    /// Reads the run that begins at `start`; what else stands there is counted.
    fn read(text: Text<'_>, start: usize, end: &mut SessionEnd) -> Self {
        let mut found = Self::default();
        let (keys, broken) = members(text.bytes, start);
        found.broken = broken;
        for (key, at) in keys {
            let list = |found: &mut Self| {
                let (items, torn) = elements(text.bytes, at.start);
                found.broken = torn.or(found.broken);
                items
            };
            match key.as_str() {
                "history" => found.history = list(&mut found),
                "attempts" => found.attempts = list(&mut found),
                "trajectory" => {
                    let steps = list(&mut found);
                    found.trajectory(text, &steps);
                    end.other(key);
                }
                _ => {
                    if let Ok((raw, lone)) = text.decode(&at)
                        && found.member(&key, &raw)
                    {
                        end.lone_surrogates += lone;
                    }
                    end.other(key);
                }
            }
        }
        found
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
    fn member(&mut self, key: &str, raw: &RawValue) -> bool {
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
                self.title = string(problem.id).filter(|id| !id.is_empty());
            }
            "info" => {
                let info: Info = decode(Some(raw)).unwrap_or_default();
                self.best = info.best_attempt_idx;
            }
            _ => return false,
        }
        true
    }
}

/// An entry of a history that could be read.
struct Entry {
    agent: Option<String>,
    message: Message,
}

/// An entry that was told, to be compared with what requests held of it.
struct Row {
    at: StepEntry,
    place: Range<usize>,
    message: Message,
    /// Whether it was cut by now.
    is_cut: bool,
}

struct Telling<'t, 's> {
    teller: ObjectTeller<'t, 's>,
    /// Records read.
    entries: u64,
    names: Names,
}

impl Telling<'_, '_> {
    /// Tells of a run, on a branch where it has a name, and then of the other agents in its history; returns
    /// whether there were calls.
    fn run(&mut self, run: Run, name: Option<String>) -> Result<bool> {
        let mut agents: Vec<Vec<(Range<usize>, Option<Message>)>> = vec![Vec::new()];
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut labels = vec![String::new()];
        for at in &run.history {
            self.entries += 1;
            let read = |raw: &RawValue, notes: &mut Notes| {
                Ok(Entry {
                    agent: agent(raw),
                    message: message(raw, notes)?,
                })
            };
            let Some(Entry { agent, message }) = self.teller.read(at, read)? else {
                // It has its place in what was sent.
                agents[0].push((at.clone(), None));
                continue;
            };
            // Who is first is the one whose run it is.
            let place = match agent {
                None => 0,
                Some(agent) => {
                    let next = if places.is_empty() { 0 } else { agents.len() };
                    let place = *places.entry(agent.clone()).or_insert(next);
                    if place == agents.len() {
                        agents.push(Vec::new());
                        labels.push(agent);
                    }
                    place
                }
            };
            agents[place].push((at.clone(), Some(message)));
        }
        let mut has_calls = false;
        for (place, (entries, label)) in agents.into_iter().zip(labels).enumerate() {
            let branch = match (&name, place) {
                (name, 0) => name.clone(),
                (None, _) => Some(format!("agent-{label}")),
                (Some(name), _) => Some(format!("{name}-agent-{label}")),
            };
            if let Some(branch) = branch.filter(|_| !entries.is_empty()) {
                self.teller.sink.branch(BranchStart {
                    name: self.names.of(branch),
                    after: None,
                    title: None,
                })?;
            }
            let requests = if place == 0 { &run.requests[..] } else { &[] };
            has_calls |= self.entries(entries, requests, run.settings.clone())? && place == 0;
        }
        Ok(has_calls)
    }

    /// Tells of the entries of one agent; returns whether there were calls.
    fn entries(
        &mut self,
        entries: Vec<(Range<usize>, Option<Message>)>,
        requests: &[Range<usize>],
        settings: Settings,
    ) -> Result<bool> {
        // What was sent of the first so many entries.
        let mut sent: HashMap<usize, Vec<Range<usize>>> = HashMap::new();
        for request in requests {
            let (items, _) = elements(self.teller.text.bytes, request.start);
            sent.insert(items.len(), items);
        }
        let mut calls = Calls::default();
        let mut due = Some(settings);
        let mut rows: Vec<Option<Row>> = Vec::with_capacity(entries.len());
        for (at, message) in entries {
            if let Some(message) = message {
                calls.pair(&message, self.teller.text, &at, self.teller.sink)?;
                let step = Step {
                    settings: due.take().unwrap_or_default(),
                    ..Step::append(message.clone(), self.teller.text.span(&at))
                };
                rows.push(Some(Row {
                    at: self.teller.step(step)?,
                    place: at,
                    message,
                    is_cut: false,
                }));
            } else {
                rows.push(None);
            }
            if let Some(items) = sent.get(&rows.len()) {
                self.cut(&mut rows, items)?;
            }
        }
        Ok(calls.any())
    }

    /// Hides what a request held in other words: what tools and users said and the tool left out.
    fn cut(&mut self, rows: &mut [Option<Row>], items: &[Range<usize>]) -> Result<()> {
        let (mut parts, mut record) = (Vec::new(), None);
        for (row, item) in rows.iter_mut().zip(items) {
            let Some(row) = row.as_mut().filter(|row| !row.is_cut) else {
                continue;
            };
            let bytes = self.teller.text.bytes;
            if bytes[item.clone()] == bytes[row.place.clone()] {
                continue;
            }
            let Ok((raw, _)) = self.teller.text.decode(item) else {
                continue;
            };
            let Ok(sent) = message(&raw, &mut Notes::default()) else {
                continue;
            };
            let cut = instead(&row.message, sent);
            if !cut.is_empty() {
                row.is_cut = true;
                record.get_or_insert(self.teller.text.span(item));
                let at = row.at;
                parts.extend(cut.into_iter().map(|(part, stub)| (at, part, stub)));
            }
        }
        if let Some(record) = record {
            let cut = HideStep::prune(parts);
            self.teller.step(Step::new(Action::Hide(cut), record))?;
        }
        Ok(())
    }
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
