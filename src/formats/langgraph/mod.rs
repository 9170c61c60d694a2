//! LangGraph: threads in a database of checkpoints, each of which holds the whole state of its graph, or what a
//! step changed in it.
//!
//! A thread is put together to one object ([`rows`]): each message once, and of each checkpoint which of them it
//! has ([`thread`]), told by the checkpoint before it. What a checkpoint has no more is hidden, and a replay from an
//! older one is a branch. Deliberately absent: classes named in the database, of which none is ever made; pickled
//! states; other savers' tables; and any writing.
//!
//! # Source
//!
//! `libs/checkpoint/langgraph/checkpoint/serde/jsonplus.py` and
//! `libs/checkpoint-sqlite/langgraph/checkpoint/sqlite/__init__.py`, and of channels of changes
//! `libs/langgraph/langgraph/channels/delta.py`, of
//! <https://github.com/langchain-ai/langgraph>.

mod message;
mod msgpack;
mod read;
mod rows;
mod state;
#[cfg(test)]
mod tests;
mod thread;

use crate::formats::format::{Format, Home, Shape};

/// The members of a thread's object.
const THREAD: &str = "langgraph_thread";
const MESSAGES: &str = "messages";
const CHECKPOINTS: &str = "checkpoints";
/// The objects of graphs inside, with messages of their own; and the member of one that names the graph around it.
const GRAPHS: &str = "graphs";
const STARTED_BY: &str = "started_by";

/// The format.
pub static LANGGRAPH: Format = Format {
    tools: &["LangGraph"],
    seen: "databases of 2025 and of LangGraph 1.2, also with channels of changes",
    sniff: |head| {
        let thread = head.object()?;
        let shows = thread.inside(THREAD).is_some() && thread.list(CHECKPOINTS).is_some();
        shows.then_some(0)
    },
    // Where the deep agents' program keeps its threads; others have a place of their own.
    home: Some(Home {
        formerly: &[".deepagents"],
        ..Home::database(".deepagents/.state", rows::DATABASE)
    }),
    tables: Some(rows::TABLES),
    ..Format::only_read("langgraph", Shape::Document, read::import)
};
