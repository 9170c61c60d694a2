//! `tract rebase`: a branch's own commits on another base.

use tract::deeds::{At, Deed};
use tract::hash::CommitHash;
use tract::render::{Label, Line, grouped, plural, signed, table, tokens};
use tract::repo::Repo;
use tract::rewrite::{RebaseFate, RebaseStep, Rebased};

use crate::cli::drawing::position::place;
use crate::cli::{App, Exit, Failure, Result};

pub use tract::deeds::RebaseParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on, line) = (app.repo()?, app.on()?, args.line());
    let done = args.carry_out(&At::new(&repo, on.clone(), app), app.call(&on, &line))?;
    if done.blocked().next().is_some() {
        return refuse(&done, &repo, app);
    }
    let branch = Label::Branch.of(done.branch.short());
    if done.is_nothing() {
        let onto = place(&repo, &done.onto)?;
        app.ui
            .status(Line::from("Nothing to do: ") + branch + " stands on " + onto + " already");
        return Ok(());
    }
    if args.dry_run {
        return foretell(&done, &done.onto, &repo, app);
    }
    let onto = place(&repo, &done.onto)?;
    let put = Line::from(format!("Put {} on ", commits(&done))) + onto;
    let after = Label::Hash.of(done.after.short());
    app.ui.status(put + "; " + branch + " is now " + after);
    for (fate, count) in stayed(&done) {
        app.ui
            .status(format!("{}: {fate}", plural(count as u64, "commit")));
    }
    let was = Line::from("it was at ") + place(&repo, &done.before)?;
    app.ui
        .hint(was + "; back: tract undo, or tract reset ORIG_HEAD");
    Ok(())
}

/// `12 commits (10 append, 1 edit, 1 compact)`.
fn commits(done: &Rebased) -> String {
    let mut words: Vec<(&str, usize)> = Vec::new();
    for step in &done.steps {
        if matches!(step.fate, RebaseFate::Put(_)) {
            match words.iter_mut().find(|(word, _)| *word == step.what) {
                Some((_, count)) => *count += 1,
                None => words.push((step.what, 1)),
            }
        }
    }
    let all = plural(done.put() as u64, "commit");
    let words: Vec<String> = words
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    if words.is_empty() {
        return all;
    }
    format!("{all} ({})", words.join(", "))
}

/// How many commits have no place on the new base, and why.
fn stayed(done: &Rebased) -> Vec<(&'static str, usize)> {
    let count = |fate| done.steps.iter().filter(|step| step.fate == fate).count();
    let all = [
        ("no change on the new base", count(RebaseFate::Already)),
        ("left behind", count(RebaseFate::Skipped)),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// What became of a commit, in a few words.
fn fate(step: &RebaseStep) -> String {
    match &step.fate {
        RebaseFate::Put(_) => "is moved".to_owned(),
        RebaseFate::Already => "changes nothing there".to_owned(),
        RebaseFate::Skipped => "stays behind".to_owned(),
        RebaseFate::Misfit(why) => format!("does not fit: {why}"),
        RebaseFate::Conflict(conflicts) => {
            let told = conflicts
                .iter()
                .map(|it| format!("{} ({})", it.message, it.what));
            format!("conflict: {}", told.collect::<Vec<_>>().join(", "))
        }
    }
}

/// One line for each of these commits.
fn list<'a>(steps: impl Iterator<Item = &'a RebaseStep>, repo: &Repo, app: &mut App) -> Result<()> {
    let cells = |step: &RebaseStep| -> Result<Vec<Line>> {
        Ok(vec![
            Line::from("  ") + place(repo, &step.commit)?,
            Label::Strong.of(step.what),
            fate(step).into(),
        ])
    };
    let rows = steps.map(cells).collect::<Result<Vec<_>>>()?;
    let room = app.ui.width_cols();
    Ok(app.ui.print_all(table::list(rows, &[], room))?)
}

/// What stands in the way, and that nothing was written.
fn refuse(done: &Rebased, repo: &Repo, app: &mut App) -> Result<()> {
    list(done.blocked(), repo, app)?;
    let count = done.blocked().count() as u64;
    let what = format!(
        "{} cannot go along; nothing was written",
        plural(count, "commit")
    );
    let is_conflict = |step: &RebaseStep| matches!(step.fate, RebaseFate::Conflict(_));
    let hint = match done.blocked().all(is_conflict) {
        true => {
            "--theirs makes them as this branch has them, --ours leaves them, --skip REV leaves one commit behind"
        }
        false => "--skip REV leaves a commit behind",
    };
    Err(Failure::Said(Exit::NotAllowed, what, Some(hint.to_owned())))
}

/// What would become of each commit, and the sizes.
fn foretell(done: &Rebased, onto: &CommitHash, repo: &Repo, app: &mut App) -> Result<()> {
    let title = Line::from(format!("Would put {} on ", commits(done))) + place(repo, onto)?;
    app.ui.print(title)?;
    list(done.steps.iter(), repo, app)?;
    let (was, is) = (done.was, done.is);
    let [were, are] = [was, is].map(|size| grouped(size.messages as u64));
    let delta = is.tokens.tokens as i64 - was.tokens.tokens as i64;
    app.ui.print(format!("Messages  {were} → {are}"))?;
    let counts = format!("{} → {}", tokens(was.tokens), tokens(is.tokens));
    app.ui
        .print(format!("Tokens    {counts} ({})", signed(delta)))?;
    let kept = match done.kept.messages as u64 {
        0 => "nothing stays as it is from the beginning on".to_owned(),
        1 => format!(
            "the first message stays as it is: {} tokens",
            tokens(done.kept.tokens)
        ),
        count => {
            let (same, first) = (tokens(done.kept.tokens), plural(count, "message"));
            format!("the first {first} stay as they are: {same} tokens")
        }
    };
    Ok(app.ui.print(format!("Cache     {kept}"))?)
}
