//! Neighbouring calls as one.

use super::response::ResponseBlock;
use super::tool::{State, Tool};

/// A block, or a run of calls.
#[derive(Clone, Debug)]
pub enum Section<'a> {
    /// One block.
    One(&'a ResponseBlock),
    /// Two or more neighbouring calls.
    Calls(Vec<&'a Tool>),
}

/// How a group of calls stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    /// One of them runs.
    Running,
    /// One of them failed or was interrupted.
    Failed,
    /// All is well.
    Done,
}

impl GroupState {
    /// The word: `running`, `failed`, `done`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Failed => "failed",
            Self::Done => "done",
        }
    }

    /// That of some calls.
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a Tool>) -> Self {
        let states = calls.into_iter().map(|tool| tool.state);
        states.fold(Self::Done, |group, state| match (group, state) {
            (Self::Running, _) | (_, State::Pending | State::Streaming) => Self::Running,
            (_, State::Error | State::Interrupted) => Self::Failed,
            (group, State::Success | State::Resolved) => group,
        })
    }
}

/// The blocks that can be seen, with neighbouring calls put together. A call that talks to another
/// agent, or whose sub-agent did something, stands alone.
pub fn sections(blocks: &[ResponseBlock]) -> Vec<Section<'_>> {
    let seen: Vec<&ResponseBlock> = blocks.iter().filter(|block| !block.is_empty()).collect();
    let runs = seen.chunk_by(|one, next| joins(one).is_some() && joins(next).is_some());
    runs.map(Section::of).collect()
}

impl<'a> Section<'a> {
    fn of(run: &[&'a ResponseBlock]) -> Self {
        match run {
            [one] => Self::One(one),
            run => Self::Calls(run.iter().filter_map(|block| joins(block)).collect()),
        }
    }
}

fn joins(block: &ResponseBlock) -> Option<&Tool> {
    match block {
        ResponseBlock::Tool(tool) if tool.talk.is_none() && tool.agent.is_none() => Some(tool),
        _ => None,
    }
}
