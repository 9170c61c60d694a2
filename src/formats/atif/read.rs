//! The importer: the steps of a trajectory, then those of the sub-agents inside it.

use std::ops::Range;

use serde_json::value::RawValue;

use super::step::{Said, TrajectoryStep};
use crate::error::Result;
use crate::formats::shared::conversations::Names;
use crate::formats::shared::document::{Document, Member, ObjectTeller, Opened};
use crate::formats::shared::records::Held;
use crate::formats::shared::teller::Teller;
use crate::formats::{Action, BranchStart, Cover, HideStep, Source, Step};
use crate::model::{Message, Role, Settings, Span, depth};
use crate::wire::json::{decode, quoted, string, tight};

/// How deep sub-agents of sub-agents are read: each level is looked through for the next.
pub(super) const NESTED_MAX: usize = 8;

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let held = Held::read(source.input)?;
    let teller = Teller::of(source.stem, &[], source.sink);
    let mut teller = ObjectTeller::of(held.text(), teller);
    let mut main = Opened::<Trajectory>::read(held.start, &mut teller);
    teller.name(main.document.id().cloned());
    teller.end.cwd = main.document.cwd.take();
    let gives_tools = main.document.due.contains_key("tools");
    let mut inside = queued(&main.document, 1);
    let mut steps = main.tell(&mut teller)?;
    let absent = [
        ("system prompt", main.document.is_prompted),
        ("tool definitions", gives_tools),
    ];
    let absent = absent.into_iter().filter(|(_, is_here)| !is_here);
    teller.end.absent = absent.map(|(what, _)| what.to_owned()).collect();

    let mut names = Names::default();
    let mut next = 0;
    while let Some((at, level)) = inside.get(next).cloned() {
        next += 1;
        if level > NESTED_MAX {
            let reason = format!("a sub-agent more than {NESTED_MAX} levels deep is not read");
            teller.problem(&at, reason)?;
            continue;
        }
        let mut agent = Opened::<Trajectory>::inside(at.start, &mut teller);
        inside.extend(queued(&agent.document, level + 1));
        let name = agent.document.id().cloned();
        let name = name.unwrap_or_else(|| next.to_string());
        let branch = BranchStart::root(names.of(format!("agent-{name}")));
        teller.sink.branch(branch)?;
        teller.calls.clear();
        steps += agent.tell(&mut teller)?;
    }
    teller.close(&held, main.broken, steps)
}

/// The sub-agents inside a trajectory, at a level.
fn queued(of: &Trajectory, level: usize) -> Vec<(Range<usize>, usize)> {
    let agents = of.agents.iter().cloned();
    agents.map(|at| (at, level)).collect()
}

/// A trajectory, and how things stand on the way through it.
#[derive(Default)]
struct Trajectory {
    own_id: Option<String>,
    /// That of the run, which may be told in several documents.
    run: Option<String>,
    cwd: Option<String>,
    /// The sub-agents inside it.
    agents: Vec<Range<usize>>,
    /// Settings that are due.
    due: Settings,
    /// Those that hold.
    held: Settings,
    /// Whether a message is visible.
    is_begun: bool,
    /// Whether there is a system prompt.
    is_prompted: bool,
}

lazy! { struct Agent { model_name, tool_definitions, extra } }

lazy! { struct Extra { cwd, cwds } }

impl Document for Trajectory {
    const RECORDS: &'static str = "steps";
    const LISTS: &'static [&'static str] = &["subagent_trajectories"];

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match member.key {
            "schema_version" => return false,
            "agent" => self.agent(member.raw),
            "trajectory_id" => self.own_id = member.word().or(self.own_id.take()),
            "session_id" => self.run = member.word(),
            _ => {
                teller.end.other(member.key);
                return false;
            }
        }
        true
    }

    fn list(&mut self, _: &str, found: Vec<Range<usize>>, _: &mut ObjectTeller<'_, '_>) {
        self.agents = found;
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let text = teller.text;
        let read = |raw: &RawValue, notes: &mut _| TrajectoryStep::of(raw.get(), notes);
        let Some(step) = teller.read(at, read)? else {
            return Ok(());
        };
        self.due.extend(step.settings.clone());
        match step.said {
            Said::Nothing(what) => teller.end.other(what),
            Said::Instead(ref message) => {
                let action = self.instead(message.clone());
                self.step(&step, action, text.span(at), teller)?;
            }
            Said::Messages(ref messages) => {
                for message in messages {
                    teller.pair(message, text, at)?;
                    self.is_prompted |= message.role.is_system();
                    let action = Action::Append(message.clone());
                    self.step(&step, action, text.span(at), teller)?;
                }
            }
        }
        Ok(())
    }
}

impl Trajectory {
    fn id(&self) -> Option<&String> {
        self.own_id.as_ref().or(self.run.as_ref())
    }

    fn agent(&mut self, raw: &RawValue) {
        let agent: Agent<'_> = decode(Some(raw)).unwrap_or_default();
        if let Some(model) = string(agent.model_name) {
            self.due.insert("model".to_owned(), quoted(&model));
        }
        let tools = agent.tool_definitions.map(RawValue::get);
        let tools = tools.filter(|tools| tools.starts_with('['));
        if let Some(tools) = tools.filter(|tools| depth::check_json("tools", tools, 1).is_ok()) {
            self.due.insert("tools".to_owned(), tight(tools));
        }
        let extra: Extra<'_> = decode(agent.extra).unwrap_or_default();
        let one = |mut all: Vec<String>| all.pop().filter(|_| all.is_empty());
        self.cwd = string(extra.cwd).or_else(|| decode(extra.cwds).and_then(one));
    }

    fn step(
        &mut self,
        step: &TrajectoryStep,
        action: Action,
        record: Span,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let is_reply =
            matches!(&action, Action::Append(message) if message.role == Role::Assistant);
        let mut settings = std::mem::take(&mut self.due);
        settings.retain(|key, value| self.held.get(key) != Some(value));
        self.held.extend(settings.clone());
        self.is_begun = true;
        let told = Step::new(action, record)
            .at(step.time)
            .setting(settings)
            .counted(step.usage.filter(|_| is_reply));
        teller.step(told).map(drop)
    }

    /// What puts a message in place of all before it.
    fn instead(&self, message: Message) -> Action {
        if !self.is_begun {
            return Action::Append(message);
        }
        Action::Hide(HideStep::summary(Cover::Everything, message))
    }
}
