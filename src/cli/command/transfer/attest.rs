//! `tract attest`: what a run was, signed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tract::deeds::{At, AttestParams, Method, Still, manifest};
use tract::diff::{LineDiff, Tag};
use tract::hash::CommitHash;
use tract::model::RefName;
use tract::query::ReadRun;
use tract::render::{Label, Line, grouped, listed, plural};
use tract::repo::Repo;

use crate::cli::failure::Exit;
use crate::cli::machine::signature::Signed;
use crate::cli::machine::{input, paths, private, signature};
use crate::cli::{App, Failure, Result};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract attest                                  the manifest of this branch
  tract attest main --key ~/.ssh/id_ed25519 -o run.attest
  tract attest --verify run.attest --key maras_key.pub")]
pub struct Args {
    #[command(flatten)]
    deed: AttestParams,
    // No method has these: a program signs and verifies by its own means, and keeps the text where it wants.
    /// Sign with this private key, as git signs commits, by ssh-keygen; with --verify: whose public key it must be
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Write to FILE
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long, requires = "output")]
    force: bool,
    /// Hold the signature of FILE against its text, and the text against the commits here, of which it reads every
    /// message; name each line that is another
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rev", "output"])]
    verify: Option<PathBuf>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    if let Some(file) = &args.verify {
        return verify(file, args.key.as_deref(), app);
    }
    let (repo, on) = (app.repo()?, app.on()?);
    let deed = args.deed.clone();
    let mut text = deed.call(&mut At::new(&repo, on, &Still))?.manifest;
    match &args.key {
        Some(key) => text = signature::sign(&text, key)?,
        None => app.ui.hint("not signed: --key ~/.ssh/id_ed25519 signs it"),
    }
    match paths::written(args.output.as_deref()) {
        None => app.ui.write_json(&text)?,
        Some(file) => {
            let path = app.path(file)?;
            private::write(&path, args.force, |out| Ok(out.write_all(text.as_bytes())?))?;
            let signed = if args.key.is_some() { ", signed" } else { "" };
            app.ui
                .status(format!("Wrote {}{signed}", app.short_path(&path)));
        }
    }
    Ok(())
}

fn verify(file: &Path, key: Option<&Path>, app: &mut App) -> Result<()> {
    let signed = input::read(app, file)?;
    let Signed {
        text,
        signature,
        behind,
    } = Signed::of(&signed);
    let key = key.map(|key| input::read(app, key)).transpose()?;
    let mut is_sound = behind.is_empty();
    if !is_sound {
        let lines = plural(behind.lines().count() as u64, "line");
        app.ui
            .notice(format!("{lines} behind the signature: nobody signed them"));
    }
    match signature {
        Some(block) => match signature::verify(text, block, key.as_deref()) {
            Ok(by) if key.is_some() => app.ui.status(format!("Signed with {by}")),
            Ok(by) => {
                app.ui.status(format!("Signed with {by}"));
                app.ui.hint(
                    "--key FILE holds it against the public key of whoever should have signed",
                );
            }
            Err(Failure::Said(Exit::Damaged, what, _)) => {
                is_sound = false;
                app.ui.notice(what);
            }
            Err(failure) => return Err(failure),
        },
        None if key.is_some() => {
            let what = format!("{} is not signed", file.display());
            let failure = Failure::Said(Exit::Damaged, what, None);
            return Err(failure.with_hint("tract attest --key FILE signs one"));
        }
        None => app.ui.status("Not signed"),
    }
    let stated = Stated::of(text)?;
    let other = match app.repo() {
        Ok(repo) => match compared(&repo, &stated, text, app) {
            Ok(others) => others,
            Err(failure) if is_sound => return Err(failure),
            Err(failure) => {
                app.ui.notice(failure.what());
                0
            }
        },
        Err(failure) if is_sound => {
            app.ui
                .notice(format!("not held against the commits: {}", failure.what()));
            return Ok(());
        }
        Err(_) => 0,
    };
    if is_sound && other == 0 {
        return Ok(());
    }
    Err(Failure::Quiet(Exit::Damaged))
}

/// What a manifest says of itself.
#[derive(serde::Deserialize)]
struct Stated {
    attest: u32,
    tip: String,
    #[serde(default)]
    name: Option<RefName>,
    #[serde(default)]
    price_list: Option<String>,
}

impl Stated {
    fn of(text: &str) -> Result<Self> {
        let stated: std::result::Result<Self, _> = serde_json::from_str(text);
        let stated = stated.map_err(|error| {
            let what = format!("it is no manifest: {error}");
            let failure = Failure::Said(Exit::Damaged, what, None);
            failure.with_hint("tract attest writes one")
        })?;
        if stated.attest != 1 {
            let failure = Failure::refused(format!("a manifest of version {}", stated.attest));
            return Err(failure.with_hint("update tract"));
        }
        Ok(stated)
    }
}

/// A manifest without what follows from session files, in whatever order.
fn without_sources(text: &str) -> Result<String> {
    let whole: serde_json::Value = serde_json::from_str(text).map_err(tract::Error::store)?;
    let members = whole.as_object().cloned().unwrap_or_default();
    let mut left: BTreeMap<String, serde_json::Value> = members.into_iter().collect();
    for member in ["clients", "sources", "requests"] {
        left.remove(member);
    }
    serde_json::to_string_pretty(&left).map_err(|error| tract::Error::store(error).into())
}

/// Makes the manifest again and names the lines that are others. How many there are.
fn compared(repo: &Repo, stated: &Stated, text: &str, app: &mut App) -> Result<usize> {
    let tip: CommitHash = stated.tip.parse()?;
    repo.commit_at(&tip).map_err(|_| {
        let failure = Failure::refused(format!("commit {tip:.10} is not here"));
        failure.with_hint("tract pull, or tract unbundle, brings the run's commits here")
    })?;
    if let Some(name) = &stated.name {
        tell_place(repo, name, &tip, app)?;
    }
    let here = manifest(repo, stated.name.clone(), &tip)?;
    let is_same_list = stated.price_list.is_none() || stated.price_list == here.price_list;
    let (text, here) = if here.sources.is_empty() && text.contains("\"sources\"") {
        let what = "the session files are not here: what follows from them is not compared";
        app.ui.notice(what);
        (without_sources(text)?, without_sources(&here.text()?)?)
    } else {
        (text.to_owned(), here.text()?)
    };
    let is_price = |line: &&str| {
        let member = line.trim_start();
        !is_same_list
            && (member.starts_with("\"cost_micros\"") || member.starts_with("\"price_list\""))
    };
    let without_price = |text: &str| {
        let lines = text.lines().filter(|line| !is_price(line));
        lines.collect::<Vec<_>>().join("\n")
    };
    let (stated, here) = (without_price(&text), without_price(&here));
    let difference = LineDiff::new(&stated, &here, 0);
    let changed = difference.hunks.iter().flat_map(|hunk| &hunk.lines);
    let others: Vec<Line> = changed
        .filter_map(|line| {
            let text: String = line.pieces.iter().map(|piece| &*piece.text).collect();
            let said = Label::Text.quote(text.trim());
            match line.tag {
                Tag::Removed => Some(Label::Removed.of("attested  ") + said),
                Tag::Added => Some(Label::Added.of("here      ") + said),
                Tag::Equal => None,
            }
        })
        .collect();
    if !is_same_list {
        app.ui
            .notice("the cost is not compared: it was worked out by another price list");
    }
    let count = others.len();
    app.ui.print_all(others)?;
    let read = repo.read_run(&tip)?;
    if read.erased > 0 {
        app.ui.notice(match read.erased {
            1 => "1 text was purged since: nobody can hold it against its hash".to_owned(),
            more => format!(
                "{} texts were purged since: nobody can hold them against their hashes",
                grouped(more)
            ),
        });
    }
    if let Some(what) = not_as_attested(&read) {
        let failure = Failure::Said(Exit::Damaged, what, None);
        return Err(failure.with_hint("tract fsck says what is damaged and what to do"));
    }
    if count == 0 {
        let lines = plural(stated.lines().count() as u64, "line");
        app.ui
            .status(format!("The commits are as attested, in all {lines}"));
    }
    Ok(count)
}

/// Says where the attested branch is now, unless it still leads to the attested tip.
fn tell_place(repo: &Repo, name: &RefName, tip: &CommitHash, app: &mut App) -> Result<()> {
    let Ok(here) = repo.resolve(&app.on()?, name.as_str()) else {
        app.ui.notice(format!(
            "no {name} is here: the commits are, by their hashes"
        ));
        return Ok(());
    };
    if repo.is_on_path(tip, &here)? {
        return Ok(());
    }
    let short = name.short();
    app.ui.notice(match repo.commits_between(&here, tip)? {
        Some(lost) => {
            let commits = plural(lost, "commit");
            format!("{short} was shortened: it ends {commits} before the attested tip")
        }
        None => format!("{short} does not lead to the attested tip any more"),
    });
    Ok(())
}

/// Says which texts are not those that were attested.
fn not_as_attested(read: &ReadRun) -> Option<String> {
    let messages = read.changed.len() as u64;
    let files = read.files.len() as u64;
    let counts = [(messages, "message"), (files, "session file")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, noun)| plural(count, noun)).collect();
    let place = match (read.changed.first(), read.files.first()) {
        (Some(commit), _) => format!("commit {}", commit.short()),
        (None, Some(session)) => session.short().to_owned(),
        (None, None) => return None,
    };
    let is = if messages + files == 1 { "is" } else { "are" };
    let first = if messages + files == 1 {
        "that of"
    } else {
        "the first of"
    };
    Some(format!(
        "{} {is} not what was attested: {first} {place}",
        listed(&counts)
    ))
}
