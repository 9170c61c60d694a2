//! `tract mcp`: memory for agents.

use std::io::{self, BufReader};

use crate::cli::door::Surroundings;
use crate::cli::{App, Failure, Result, mcp};

/// Give an agent its memory, by the Model Context Protocol
///
/// A client starts it and talks to it on standard input and output. recall searches messages and calls, hidden ones
/// too; read gives it word for word; dropped tells what the last compaction removed; did tells what was done to a
/// file; context tells how full the context is; pin keeps a message. Before each answer, the conversation that asks
/// is taken in up to now. Without a repository, it is kept in memory.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  claude mcp add tract -- tract mcp       in Claude Code
  codex mcp add tract -- tract mcp        in Codex")]
pub struct Args {}

pub fn run(_: &Args, app: &mut App) -> Result<()> {
    if app.ui.input_is_terminal() {
        let failure =
            Failure::usage("a client talks to it on standard input, and that is a terminal");
        return Err(failure.with_hint("claude mcp add tract -- tract mcp"));
    }
    app.ui.flush()?;
    let out = io::BufWriter::new(io::stdout());
    let surroundings = Surroundings::of(app);
    Ok(mcp::serve(
        surroundings,
        BufReader::new(io::stdin().lock()),
        out,
    )?)
}
