//! `tract dataset`: conversations as rows of a data set.

use std::io::Write;

use tract::deeds::{At, DatasetParams, MadeDataset};
use tract::render::plural;

use crate::cli::drawing::leaks;
use crate::cli::machine::paths;
use crate::cli::{App, Result};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract dataset -o talk.jsonl                      the conversation here, one row
  tract dataset --all -o all.parquet               every session and branch, a row each
  tract dataset main --rows prompt -o rows.jsonl   each reply with what it answers
  tract dataset --rows pair -o pairs.jsonl         good and bad runs of `tract run --judge`
  tract dataset --all --anonymous --license CC0-1.0 -o share.jsonl")]
pub struct Args {
    #[command(flatten)]
    deed: DatasetParams,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on, deed) = (app.repo()?, app.on()?, &args.deed);
    let at = At::new(&repo, on, app);
    let made = match paths::written(deed.output.as_deref()) {
        Some(path) => {
            let path = app.path(path)?;
            let made = deed.write(&at, &path)?;
            let rows = plural(made.report.rows, "row");
            let place = app.short_path(&path);
            drop(at);
            app.ui.status(format!("Wrote {rows} to {place}"));
            made
        }
        None => {
            let mut rows = Vec::new();
            let made = deed.make(&at, &mut rows)?;
            drop(at);
            match app.ui.is_terminal() {
                true => app.ui.write_json(&String::from_utf8_lossy(&rows))?,
                false => app.ui.out().write_all(&rows)?,
            }
            made
        }
    };
    tell(&made, app);
    Ok(())
}

/// Says what is not in the rows.
fn tell(made: &MadeDataset, app: &mut App) {
    leaks::tell(&made.redacted, app);
    let report = &made.report;
    if report.duplicates > 0 {
        let rows = plural(report.duplicates, "row");
        let what = format!("left out: {rows} that say the same as one before");
        app.ui.notice(what);
    }
    if report.hidden > 0 {
        let messages = plural(report.hidden, "hidden message");
        app.ui.notice(format!(
            "not in the rows: {messages}, and the cost of that (tract cost has it)"
        ));
    }
    if report.left_out > 0 {
        let count = plural(report.left_out, "part");
        let what = "pictures, files, blocks of one provider";
        app.ui.notice(format!("not in the rows: {count} ({what})"));
    }
    if report.rows == 0 {
        app.ui
            .notice("no row: there is no reply, or no run with another verdict");
    }
}
