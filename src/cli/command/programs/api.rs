//! `tract api`: the interface for programs, as lines of JSON.

use std::io::{self, BufReader};

use crate::cli::door::{self, Surroundings};
use crate::cli::{App, Failure, Result};

/// Answer programs: requests and answers as JSON Lines
///
/// Without arguments, it reads a request from each line of standard input, such as {"id": 1, "method":
/// "log", "params": {"limit": 5}}, and writes an answer as one line: {"id": 1, "result": ...} or {"id": 1,
/// "error": ...}. One process serves as many requests as there are. Requests that only look are answered
/// side by side; one that changes something waits for those before it. docs/api.md lists the methods.
///
/// With a METHOD it answers that one request and prints the result alone. An error is printed as {"error": ...},
/// and the exit code is that of the command of the same name: 1 as well where a push is refused, a merge has
/// conflicts or a check says no.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract api status
  tract api log '{\"limit\": 5, \"role\": \"user\"}'
  tract api describe                  every method, as JSON Schema
  echo '{\"id\": 1, \"method\": \"context\"}' | tract api")]
pub struct Args {
    /// The method; without one, requests are read from standard input
    #[arg(value_name = "METHOD")]
    method: Option<String>,
    /// Its parameters, as JSON
    #[arg(value_name = "JSON", default_value = "{}", hide_default_value = true)]
    params: String,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let surroundings = Surroundings::of(app);
    if let Some(method) = &args.method {
        let (answer, exit) = door::once(&surroundings, method, &args.params, None);
        app.ui.write_json(&(answer + "\n"))?;
        return exit.map_or(Ok(()), |exit| Err(Failure::Quiet(exit)));
    }
    if app.ui.input_is_terminal() {
        let failure = Failure::usage("requests come on standard input, and that is a terminal");
        return Err(failure.with_hint("tract api METHOD '{…}' answers one"));
    }
    app.ui.flush()?;
    let out = io::BufWriter::new(io::stdout());
    Ok(door::serve(
        surroundings,
        BufReader::new(io::stdin().lock()),
        out,
    )?)
}
