//! `tract audit`: what a compaction took away that nothing visible says.

use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::time::Duration;

use tract::compile::{Provider, RequestOptions, compile};
use tract::deeds::{At, AuditAnswer, AuditFinding, AuditParams, Method, Still};
use tract::hash::CommitHash;
use tract::model::Settings;
use tract::model::quote::{folded, headed};
use tract::render::{Label, Line, grouped, plural, shell_word, table};
use tract::repo::Repo;

use crate::cli::machine::exec;
use crate::cli::machine::summariser::{self, TIMEOUT_SECONDS};
use crate::cli::{App, Failure, Result};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract audit                  the newest compaction, truncation or clear on this branch
  tract audit 3f2a91c          this one
  tract audit -n 0             everything that is lost, not the first 20
  tract audit | grep task      open points that are lost
  tract audit --judge 'claude -p \"Which of these will be missed?\"'")]
pub struct Args {
    #[command(flatten)]
    deed: AuditParams,
    // No method has these: none runs a program.
    /// A command that judges, such as one that asks a model. It gets the conversation before and after, and the lost
    /// facts, on standard input; its output follows the list
    #[arg(long, value_name = "CMD")]
    judge: Option<String>,
    /// How long that command may take
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT_SECONDS, requires = "judge")]
    timeout: NonZeroU64,
}

/// How much of a finding a line has; the answer of the API has it whole.
const MOST_CHARS: usize = 300;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let all = AuditParams {
        limit: Some(0),
        ..args.deed.clone()
    };
    let answer = all.call(&mut At::new(&repo, on, &Still))?;
    let shown = args.deed.listed().min(answer.findings.len());
    let (Some(commit), Some(kind)) = (&answer.commit, answer.kind) else {
        app.ui
            .status("No compaction, truncation or clear on this branch");
        return Ok(());
    };
    let messages = plural(answer.messages as u64, "message");
    let head = Line::from(kind) + " " + Label::Hash.of(&commit[..7]);
    app.ui.print(head + format!(", {messages} hidden"))?;
    if !answer.classes.is_empty() {
        app.ui.print_all(classes(&answer))?;
    }
    let lost: usize = answer.classes.iter().map(|class| class.lost).sum();
    if lost == 0 {
        app.ui.status("Nothing of it is lost");
        return judge(args, &repo, &answer, app);
    }
    app.ui.print(Line::new())?;
    let width = app.ui.width_cols();
    app.ui.print_all(
        answer.findings[..shown]
            .iter()
            .map(|one| finding(one, width)),
    )?;
    let more = lost - shown;
    if more > 0 {
        let more = grouped(more as u64);
        app.ui.hint(format!("{more} more: -n 0 lists all"));
    } else {
        // What was hidden elsewhere is brought back there.
        let on = match &args.deed.within {
            Some(rev) => branch_of(&repo, rev).map(|name| format!("--on {} ", shell_word(&name))),
            None => Some(String::new()),
        };
        match on {
            Some(on) => app
                .ui
                .hint(format!("tract {on}restore HASH brings a message back")),
            None => app
                .ui
                .hint("tract pick HASH copies a message to the end of this branch"),
        }
    }
    judge(args, &repo, &answer, app)
}

/// The branch that a revision is, by its name.
fn branch_of(repo: &Repo, rev: &str) -> Option<String> {
    let name = repo.reference_named(rev).ok()?;
    name.is_branch().then(|| name.short().to_owned())
}

/// Has a command say more, if one is named.
fn judge(args: &Args, repo: &Repo, all: &AuditAnswer, app: &mut App) -> Result<()> {
    let (Some(command), Some(hide)) = (&args.judge, &all.commit) else {
        return Ok(());
    };
    let asked = request(repo, &hide.parse()?, all)?;
    let timeout = Duration::from_secs(args.timeout.get());
    let run = || exec::run(command, &asked, timeout);
    let said = summariser::shown(app, all.messages, run).map_err(|failed| {
        failed.stderr.lines().for_each(|line| app.ui.complain(line));
        Failure::refused(format!("'{command}' gave no answer: {}", failed.reason))
    })?;
    app.ui.print(Line::new())?;
    app.ui.print_all(said.lines().map(Line::from))?;
    Ok(())
}

/// What the command gets: the conversation before and after, and what is lost.
fn request(repo: &Repo, hide: &CommitHash, all: &AuditAnswer) -> Result<String> {
    let text = |commit: &CommitHash| -> Result<String> {
        let messages = repo.messages(&repo.context(commit)?)?;
        let options = RequestOptions {
            provider: Provider::Text,
            ..RequestOptions::default()
        };
        Ok(compile(&messages, &Settings::new(), &options)?.payload)
    };
    let mut asked = "A conversation was made shorter. Below it stands as it was, then as it is now, then what was found \
                     in the first and not in the second. Say what of it will be missed, and what else is missing.\n"
        .to_owned();
    if let Some(before) = repo.commit_at(hide)?.parent {
        write!(asked, "\n# Before\n\n{}\n", text(&before)?).expect("a string");
    }
    write!(
        asked,
        "\n# Now\n\n{}\n\n# Not said any more\n\n",
        text(hide)?
    )
    .expect("a string");
    for finding in &all.findings {
        let outcome = finding.outcome.as_deref().map(folded);
        let outcome = outcome.map_or(String::new(), |outcome| format!(" ({outcome})"));
        let head = format!("- {}:", finding.class);
        let finding = headed(&head, finding.text.trim());
        writeln!(asked, "{finding}{outcome}").expect("a string");
    }
    Ok(asked)
}

/// `instruction  12 held  9 said  3 lost`, a line for each class.
fn classes(answer: &AuditAnswer) -> Box<dyn Iterator<Item = Line>> {
    let head = ["", "held", "still said", "lost"].map(|word| Label::Dim.of(word));
    let rows = answer.classes.iter().map(|class| {
        let number = |count: usize| Line::from(grouped(count as u64));
        vec![
            class.class.into(),
            number(class.held),
            number(class.said),
            number(class.lost),
        ]
    });
    let rows = std::iter::once(head.to_vec()).chain(rows).collect();
    table::lines(rows, &[1, 2, 3])
}

/// `3f2a91c  command  cargo test  (exit 1)`.
fn finding(finding: &AuditFinding, width: Option<usize>) -> Line {
    let hash = match finding.id.split_once('#') {
        Some((hash, part)) => format!("{hash:.7}#{part}"),
        None => format!("{:.7}", finding.id),
    };
    let text = finding
        .text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let mut outcome = match &finding.outcome {
        Some(outcome) => Label::Dim.of(format!("  ({outcome})")),
        None => Line::new(),
    };
    let length = text.chars().count();
    let text = match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => {
            let length = format!("  ({} characters)", grouped(length as u64));
            outcome = Label::Dim.of(length) + outcome;
            text[..end].to_owned() + "…"
        }
        None => text,
    };
    let mut line = Label::Hash.of(hash) + format!("  {:<11}  ", finding.class);
    let room = width.map(|width| width.saturating_sub(line.width_cols() + outcome.width_cols()));
    line += Label::Text.quote(&text).within(room);
    line + outcome
}
