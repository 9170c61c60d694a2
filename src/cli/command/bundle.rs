//! `tract bundle`: commits in one file, for a repository elsewhere.

use std::path::PathBuf;

use tract::Error;
use tract::hash::CommitHash;
use tract::model::{Head, RefName, RefValue};
use tract::render::{Label, Line, plural, shell_word};
use tract::repo::{On, Repo};
use tract::sync::BundleTip;

use crate::cli::{App, Failure, Result, leaks, private};

/// Write commits to one file, for another repository
///
/// A branch, a tag or a session is written with everything that it needs. A..B writes what comes after
/// A, for someone who has A already. tract unbundle reads the file. Request settings and notes are part
/// of their commits; session files and titles are written only with --sources.
///
/// If there are secrets, in hidden messages too, nothing is written unless --redact or --allow-secrets
/// is given. --redact makes another history from the first secret on: it cannot continue a history that
/// still has the secrets. So does --anonymous, which also gives each person and host another name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract bundle talk.tract                     the branch where HEAD is
  tract bundle talk.tract --sources main v1   with the session files that were imported
  tract bundle more.tract v1..main            what came after v1")]
pub struct Args {
    /// The file to write
    file: PathBuf,
    /// Branches, tags, sessions, or ranges up to one; by default where HEAD is
    #[arg(value_name = "WHAT", default_value = "HEAD")]
    what: Vec<String>,
    /// All branches, tags and sessions
    #[arg(long, conflicts_with = "what")]
    all: bool,
    /// Also write the session files that were imported, and sessions' titles
    #[arg(long)]
    sources: bool,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    secrets: leaks::SharedFlags,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let tips = if args.all {
        all(&repo)?
    } else {
        let tips = args.what.iter().map(|what| tip(&repo, &on, what));
        tips.collect::<Result<_, _>>()?
    };
    let path = app.path(&args.file)?;
    let commits: Vec<CommitHash> = tips.iter().map(|tip| tip.commit).collect();
    let secrets = args.secrets.finder(&repo, &commits, app)?;
    let leaving = args.secrets.leaving(&secrets);
    let (bytes, done) = repo.bundle_leaving(&tips, args.sources, leaving)?;
    private::write(&path, args.force, |out| {
        Ok(out.write_all(&bytes).map_err(Error::io(&path))?)
    })?;
    let mut what = vec![
        plural(done.commits, "commit"),
        plural(done.contents, "message"),
    ];
    if args.sources {
        what.push(plural(done.sources, "session file"));
    }
    let place = app.short_path(&path);
    app.ui
        .status(format!("Wrote {} to {place}", what.join(", ")));
    leaks::tell(&done.secrets, app);
    for need in &done.needs {
        let need = Label::Hash.of(need.short());
        app.ui
            .notice(Line::from("whoever reads it must already have ") + need);
    }
    Ok(())
}

/// Every ref that may go into a bundle.
fn all(repo: &Repo) -> Result<Vec<BundleTip>> {
    let mut tips = Vec::new();
    for folder in [RefName::HEADS, RefName::TAGS, RefName::SESSIONS] {
        for (name, value) in repo.references(folder)? {
            if let RefValue::Commit(commit) = value {
                tips.push(BundleTip::new(name, commit));
            }
        }
    }
    if tips.is_empty() {
        Err(Failure::refused("there are no commits here"))
    } else {
        Ok(tips)
    }
}

/// What was typed: a name, or a range up to one.
fn tip(repo: &Repo, on: &On, what: &str) -> Result<BundleTip> {
    let (end, is_range) = match what.rsplit_once("..") {
        Some((_, end)) => (end, true),
        None => (what, false),
    };
    let name = match end {
        "" | "HEAD" | "@" => match repo.head(on)? {
            Head::Attached { branch, tip: None } => {
                let branch = branch.short().to_owned();
                return Err(Error::EmptyBranch { branch }.into());
            }
            Head::Attached { branch, .. } => branch,
            Head::Detached(commit) => return Err(nameless(&commit.short())),
        },
        end => match repo.reference_named(end) {
            Ok(name) => name,
            // It may be a commit all the same.
            Err(error) => match repo.resolve(on, end) {
                Ok(_) => return Err(nameless(end)),
                Err(_) => return Err(error.into()),
            },
        },
    };
    let Some(mut tip) = BundleTip::of(repo, &name)? else {
        return Err(nameless(end));
    };
    if is_range {
        let from = &what[..what.len() - end.len()];
        tip.after = repo.resolve_range(on, &format!("{from}{}", tip.commit))?.1;
    }
    Ok(tip)
}

/// What arrives elsewhere must have a name there.
fn nameless(what: &str) -> Failure {
    let failure = Failure::usage(format!("'{what}' is not a branch, tag or session"));
    failure.with_hint(format!(
        "tract branch NAME {} gives it a name",
        shell_word(what)
    ))
}
