//! The importer: the steps of a trajectory, then those of the sub-agents inside it.

use std::ops::Range;

use serde_json::value::RawValue;

use super::step::{Said, TrajectoryStep};
use crate::error::Result;
use crate::interop::calls::Calls;
use crate::interop::conversations::Names;
use crate::interop::document::ObjectTeller;
use crate::interop::records::{Held, Text};
use crate::interop::spans::{Broken, elements, members};
use crate::interop::teller::Teller;
use crate::interop::{
    Action, BranchStart, Cover, HideStep, ImportOptions, Input, SessionEnd, Sink, Step,
};
use crate::model::{HideKind, Message, Role, Settings, Span, depth};
use crate::wire::Notes;
use crate::wire::json::{decode, quoted, string, tight};

/// How deep sub-agents of sub-agents are read: each level is looked through for the next.
pub(super) const NESTED_MAX: usize = 8;

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let mut teller = ObjectTeller::of(text, Teller::of(options.stem, &[], sink));
    let main = Trajectory::read(text, held.start, &mut teller.end);
    if let Some(id) = &main.id {
        teller.start.id.clone_from(id);
    }
    let (broken, mut inside) = (main.broken, queued(&main, 1));
    teller.end.cwd.clone_from(&main.cwd);
    let gives_tools = main.settings.contains_key("tools");
    teller.open()?;
    let mut telling = Telling { teller, steps: 0 };
    let is_prompted = telling.tell(main)?;
    let absent = [
        ("system prompt", is_prompted),
        ("tool definitions", gives_tools),
    ];
    let absent = absent.into_iter().filter(|(_, is_here)| !is_here);
    telling.teller.end.absent = absent.map(|(what, _)| what.to_owned()).collect();

    let mut names = Names::default();
    let mut next = 0;
    while let Some((at, level)) = inside.get(next).cloned() {
        next += 1;
        if level > NESTED_MAX {
            let reason = format!("a sub-agent more than {NESTED_MAX} levels deep is not read");
            telling.teller.problem(&at, reason)?;
            continue;
        }
        let agent = Trajectory::read(text, at.start, &mut SessionEnd::default());
        inside.extend(queued(&agent, level + 1));
        let name = agent.id.clone().unwrap_or_else(|| next.to_string());
        telling.teller.sink.branch(BranchStart {
            name: names.of(format!("agent-{name}")),
            after: None,
            title: None,
        })?;
        telling.tell(agent)?;
    }
    telling.teller.close(&held, broken, telling.steps)
}

/// The sub-agents inside a trajectory, at a level.
fn queued(of: &Trajectory, level: usize) -> Vec<(Range<usize>, usize)> {
    let agents = of.agents.iter().cloned();
    agents.map(|at| (at, level)).collect()
}

/// What is known of a trajectory before its steps are read.
#[derive(Default)]
struct Trajectory {
    id: Option<String>,
    /// What holds from its first step on.
    settings: Settings,
    cwd: Option<String>,
    steps: Vec<Range<usize>>,
    /// The sub-agents inside it.
    agents: Vec<Range<usize>>,
    broken: Option<Broken>,
}

lazy! { struct Agent { model_name, tool_definitions, extra } }

lazy! { struct Extra { cwd, cwds } }

impl Trajectory {
    /// Reads the one that begins at `start`; what else stands there is counted.
    fn read(text: Text<'_>, start: usize, end: &mut SessionEnd) -> Self {
        let mut found = Self::default();
        let (keys, broken) = members(text.bytes, start);
        found.broken = broken;
        let mut run = None;
        for (key, at) in keys {
            let list = |found: &mut Self| {
                let (items, torn) = elements(text.bytes, at.start);
                found.broken = torn.or(found.broken);
                items
            };
            match key.as_str() {
                "steps" => found.steps = list(&mut found),
                "subagent_trajectories" => found.agents = list(&mut found),
                "schema_version" => {}
                "agent" | "trajectory_id" | "session_id" => {
                    let Ok((raw, lone)) = text.decode(&at) else {
                        continue;
                    };
                    end.lone_surrogates += lone;
                    let id = string(Some(&raw)).filter(|id| !id.is_empty());
                    match key.as_str() {
                        "agent" => found.agent(&raw),
                        // A run may be told in several documents; this names one of them.
                        "trajectory_id" => found.id = id.or(found.id.take()),
                        _ => run = id,
                    }
                }
                _ => end.other(key),
            }
        }
        found.id = found.id.or(run);
        found
    }

    fn agent(&mut self, raw: &RawValue) {
        let agent: Agent<'_> = decode(Some(raw)).unwrap_or_default();
        if let Some(model) = string(agent.model_name) {
            self.settings.insert("model".to_owned(), quoted(&model));
        }
        let tools = agent.tool_definitions.map(RawValue::get);
        let tools = tools.filter(|tools| tools.starts_with('['));
        if let Some(tools) = tools.filter(|tools| depth::check_json("tools", tools, 1).is_ok()) {
            self.settings.insert("tools".to_owned(), tight(tools));
        }
        let extra: Extra<'_> = decode(agent.extra).unwrap_or_default();
        let one = |mut all: Vec<String>| all.pop().filter(|_| all.is_empty());
        self.cwd = string(extra.cwd).or_else(|| decode(extra.cwds).and_then(one));
    }
}

struct Telling<'t, 's> {
    teller: ObjectTeller<'t, 's>,
    /// Records read.
    steps: u64,
}

/// How things stand on the way through one trajectory.
#[derive(Default)]
struct Way {
    /// Settings that are due.
    due: Settings,
    /// Those that hold.
    held: Settings,
    calls: Calls,
    /// Whether a message is visible.
    is_begun: bool,
}

impl Telling<'_, '_> {
    /// Tells of the steps; returns whether there is a system prompt.
    fn tell(&mut self, found: Trajectory) -> Result<bool> {
        let mut way = Way {
            due: found.settings,
            ..Way::default()
        };
        let mut is_prompted = false;
        for at in found.steps {
            self.steps += 1;
            let text = self.teller.text;
            let read = |raw: &RawValue, notes: &mut Notes| TrajectoryStep::of(raw.get(), notes);
            let Some(step) = self.teller.read(&at, read)? else {
                continue;
            };
            for (key, value) in &step.settings {
                way.due.insert(key.clone(), value.clone());
            }
            match step.said {
                Said::Nothing(what) => self.teller.end.other(what),
                Said::Instead(ref message) => {
                    let message = message.clone();
                    self.step(&step, way.instead(message), text.span(&at), &mut way)?;
                }
                Said::Messages(ref messages) => {
                    for message in messages {
                        way.calls.pair(message, text, &at, self.teller.sink)?;
                        is_prompted |= message.role.is_system();
                        let action = Action::Append(message.clone());
                        self.step(&step, action, text.span(&at), &mut way)?;
                    }
                }
            }
        }
        Ok(is_prompted)
    }

    fn step(
        &mut self,
        step: &TrajectoryStep,
        action: Action,
        record: Span,
        way: &mut Way,
    ) -> Result<()> {
        let is_reply =
            matches!(&action, Action::Append(message) if message.role == Role::Assistant);
        let mut settings = std::mem::take(&mut way.due);
        settings.retain(|key, value| way.held.get(key) != Some(value));
        way.held.extend(settings.clone());
        way.is_begun = true;
        let told = Step {
            time: step.time,
            settings,
            usage: step.usage.filter(|_| is_reply),
            ..Step::new(action, record)
        };
        self.teller.step(told).map(drop)
    }
}

impl Way {
    /// What puts a message in place of all before it.
    fn instead(&self, message: Message) -> Action {
        if !self.is_begun {
            return Action::Append(message);
        }
        Action::Hide(HideStep {
            replacements: vec![(None, message)],
            ..HideStep::of(HideKind::Compaction, Cover::Everything)
        })
    }
}
