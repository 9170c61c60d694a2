//! `tract doctor`: how the file or the server stands where the repository is kept.

use tract::deeds::{At, DoctorAnswer, DoctorParams, HealthCheck, HealthVerdict, Method};
use tract::render::{Label, Line, plural};

use crate::cli::failure::Exit;
use crate::cli::{App, Failure, Result};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract doctor
  tract --repo postgres://db.example/work doctor
  tract doctor --json")]
pub struct Args {
    #[command(flatten)]
    deed: DoctorParams,
    /// As a JSON object, with all figures: docs/api.md, `doctor`. The exit code is 1 if something needs attention
    #[arg(long)]
    json: bool,
}

/// The columns before what is said.
const INDENT: usize = 23;
/// What is said is hard to read in longer lines.
const WIDEST: usize = 100;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let answer = args.deed.clone().call(&mut At::new(&repo, on, app))?;
    if args.json {
        let text =
            serde_json::to_string(&answer).map_err(|error| Failure::refused(error.to_string()))?;
        app.ui.write_json(&(text + "\n"))?;
    } else {
        tell(&answer, app)?;
    }
    if answer.is_good {
        Ok(())
    } else {
        Err(Failure::Quiet(Exit::NotAllowed))
    }
}

fn tell(answer: &DoctorAnswer, app: &mut App) -> Result<()> {
    let width = app.ui.width_cols();
    for check in &answer.checks {
        app.ui.print_all(lines(check, width))?;
    }
    let count = |verdict| {
        answer
            .checks
            .iter()
            .filter(|check| check.verdict == verdict)
            .count() as u64
    };
    let unknown = match count(HealthVerdict::Unknown) {
        0 => String::new(),
        count => format!("; {count} unknown"),
    };
    app.ui.status(match count(HealthVerdict::Look) {
        0 => format!("All good{unknown}"),
        1 => format!("1 thing needs attention{unknown}"),
        count => format!("{} need attention{unknown}", plural(count, "thing")),
    });
    Ok(())
}

/// A line; on a terminal in rows of its width, with advice below.
fn lines(check: &HealthCheck, width: Option<usize>) -> Vec<Line> {
    let label = match check.verdict {
        HealthVerdict::Good => Label::Good,
        HealthVerdict::Look => Label::Warning,
        HealthVerdict::Unknown => Label::Dim,
    };
    let head =
        label.of(check.verdict.as_str()).left(9) + Label::Strong.of(&*check.topic).left(INDENT - 9);
    let advice = check.advice.as_deref();
    let Some(width) = width else {
        let advice = advice.map_or(String::new(), |advice| format!(" ({advice})"));
        return vec![head + &*check.says + advice];
    };
    let room = width.min(WIDEST).saturating_sub(INDENT).max(20);
    let mut rows = Line::from(&*check.says).wrap(room);
    if let Some(advice) = advice {
        rows.extend((Label::Hint.of("hint:") + " " + advice).wrap(room));
    }
    let heads = std::iter::once(head).chain(std::iter::repeat(Line::indent(INDENT)));
    heads.zip(rows).map(|(head, row)| head + row).collect()
}
