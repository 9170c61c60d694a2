//! What `tract import` says about what came in.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::iter::once;
use std::path::{Path, PathBuf};

use tract::deeds::ImportAnswer;
use tract::formats::Format;
use tract::ingest::{self, BranchOutcome, ImportReport, ImportedSession, Outcome};
use tract::model::secret::SecretCounts;
use tract::model::tokens::context_total;
use tract::model::{Head, HideKind, RefName};
use tract::render::{
    Label, Line, columns, counted_secrets, grouped, plural, shell_word, table, tokens,
};
use tract::repo::Repo;

use crate::cli::drawing::listing;
use crate::cli::{App, Result};

/// Sessions of one file beyond which they are not listed one by one.
const LISTED: usize = 5;
/// Files beyond which they are not told of one by one.
const FILES_LISTED: usize = 20;
/// Harmless oddities of a file beyond which they are counted.
const NOTES: usize = 3;
/// The columns of the names below a session.
const NAME_COLS: usize = 27;

/// Says what an import of files found and did: all of it of the only one, a line each of some, the
/// sum of many.
pub fn tell_all(
    repo: &Repo,
    reports: &[(PathBuf, ImportReport)],
    (is_verbose, is_kin): (bool, &dyn Fn(&Path) -> bool),
    app: &mut App,
) -> Result<()> {
    let all = || reports.iter().flat_map(|(_, report)| &report.sessions);
    let here: HashSet<&RefName> = all().map(|session| &session.name).collect();
    let is_agent = |session: &ImportedSession| {
        let parent = session.parent.as_ref();
        parent.is_some_and(|parent| here.contains(parent))
    };
    // A session's line tells of its sub-agents.
    let is_agents =
        |report: &ImportReport| !report.sessions.is_empty() && report.sessions.iter().all(is_agent);
    let own = reports.iter().filter(|(_, report)| !is_agents(report));
    if own.clone().count() > FILES_LISTED && !is_verbose {
        let agents = all().filter(|session| is_agent(session)).count() as u64;
        sum(reports, agents, app);
        for (file, report) in reports {
            problems(file, report, is_verbose, app);
        }
        secrets(reports, app);
        return Ok(());
    }
    let named = own.filter(|(file, _)| !is_kin(file)).count();
    let came = Came::of(all());
    for (file, report) in reports {
        if is_agents(report) && !is_verbose {
            problems(file, report, is_verbose, app);
            continue;
        }
        let alone = named == 1 && !is_kin(file) && !is_agents(report);
        tell(repo, file, (report, &came), (alone, is_verbose), app)?;
    }
    secrets(reports, app);
    Ok(())
}

/// Says what became of a branch that was named, of sessions whose own line does not.
pub fn tell_branch(repo: &Repo, reports: &[(PathBuf, ImportReport)], app: &mut App) -> Result<()> {
    let sessions = reports.iter().flat_map(|(_, report)| &report.sessions);
    for session in sessions.filter(|session| session.outcome == Outcome::Unchanged) {
        match &session.branch {
            BranchOutcome::None => {}
            BranchOutcome::Follows(branch) => {
                let line = Label::Branch.of(branch.short()) + " follows the session";
                app.ui.status(line);
            }
            BranchOutcome::Stays(branch) => {
                app.ui.status(apart(repo, session, branch)?);
            }
        }
    }
    Ok(())
}

/// Says which secrets came in.
fn secrets(reports: &[(PathBuf, ImportReport)], app: &mut App) {
    let mut counts = SecretCounts::new();
    let sessions = reports.iter().flat_map(|(_, report)| &report.sessions);
    for (kind, count) in sessions.flat_map(|session| &session.secrets) {
        *counts.entry(kind).or_default() += count;
    }
    if !counts.is_empty() {
        app.ui.warn(counted_secrets(&counts));
        app.ui
            .hint("tract redact takes them out of the context; tract import --redact lets none in");
    }
    let mut redacted = SecretCounts::new();
    let is_news = |session: &ImportedSession| session.outcome != Outcome::Unchanged;
    let news = |report: &&ImportReport| report.sessions.iter().any(is_news);
    let new = reports.iter().map(|(_, report)| report).filter(news);
    for (kind, count) in new.clone().flat_map(|report| &report.redacted) {
        *redacted.entry(kind).or_default() += count;
    }
    if !redacted.is_empty() {
        app.ui
            .status(format!("Redacted {}", counted_secrets(&redacted)));
        let anew = |session: &ImportedSession| {
            matches!(session.outcome, Outcome::Rewritten | Outcome::Elsewhere)
        };
        if new.clone().any(|report| report.sessions.iter().any(anew)) {
            app.ui
                .hint("what came in before still holds them: tract purge --match REGEX erases");
        }
    }
}

/// Says of each session what would come in, and of how many sub-agents there are.
pub fn foretell(told: &ImportAnswer, is_verbose: bool, app: &mut App) -> Result<()> {
    for session in told.bases.iter().chain(&told.sessions) {
        let messages = plural(session.messages, "message");
        let new = grouped(session.new_commits);
        let (before, after) = match session.outcome {
            "unchanged" => ("Nothing new in", String::new()),
            "grown" => ("Would update", format!(": {new} of {messages} new")),
            "rewritten" => (
                "Would import",
                format!(" anew, for its file was rewritten: {new} of {messages} new"),
            ),
            _ => {
                let size: Vec<String> = once(messages).chain(hides(&session.hides)).collect();
                ("Would import", format!(": {}", size.join(", ")))
            }
        };
        let title = match &session.title {
            Some(title) => format!("\"{}\"", Line::from(title).cut(60).text()),
            None => {
                let id = session.name.rsplit('/').next().unwrap_or(&session.name);
                id.chars().take(13).collect()
            }
        };
        let what = Label::Session.of(format!("{} {title}", session.format));
        let branch = session.branch.iter().map(|name| format!(", on {name}"));
        app.ui
            .print(Line::from(before) + " " + what + after + branch.collect::<String>())?;
    }
    let agents = told.agents.len() as u64;
    if agents > 0 {
        app.ui
            .print(format!("and {}", plural(agents, "sub-agent")))?;
    }
    notes(&told.notes, is_verbose, app);
    Ok(())
}

/// The sub-agents that came in, by the session whose agent started them.
struct Came<'r>(HashMap<&'r RefName, Vec<&'r ImportedSession>>);

impl<'r> Came<'r> {
    fn of(all: impl Iterator<Item = &'r ImportedSession>) -> Self {
        let mut agents: HashMap<_, Vec<_>> = HashMap::new();
        for session in all {
            if let Some(parent) = &session.parent {
                agents.entry(parent).or_default().push(session);
            }
        }
        Self(agents)
    }
}

/// The sub-agents of a session that are here.
struct Agents {
    count: u64,
    /// Commits of theirs that were not here before.
    new_commits: u64,
}

impl Agents {
    fn of(repo: &Repo, session: &ImportedSession, came: &Came<'_>) -> Result<Self> {
        let below = repo.references(&format!("{}/{}", session.name, RefName::AGENT))?;
        let mut names: HashSet<RefName> = below.into_iter().map(|(name, _)| name).collect();
        let mut new_commits = 0;
        for agent in came.0.get(&session.name).into_iter().flatten() {
            names.insert(agent.name.clone());
            new_commits += agent.new_commits;
        }
        Ok(Self {
            count: names.len() as u64,
            new_commits,
        })
    }

    fn told(&self, outcome: Outcome) -> Option<String> {
        let agents = plural(self.count, "sub-agent");
        let is_new = matches!(outcome, Outcome::New | Outcome::Rewritten);
        match self.new_commits {
            _ if self.count == 0 => None,
            new if new > 0 && !is_new => Some(format!("{agents} ({})", plural(new, "new commit"))),
            _ => Some(agents),
        }
    }
}

/// Says what came in with many files, so many of their sessions sub-agents'.
fn sum(reports: &[(PathBuf, ImportReport)], agents: u64, app: &mut App) {
    let all = || reports.iter().flat_map(|(_, report)| &report.sessions);
    let count = |outcome| all().filter(|session| session.outcome == outcome).count() as u64;
    let mut parts = Vec::new();
    let new = [Outcome::New, Outcome::Rewritten, Outcome::Elsewhere];
    let counts = [
        (new.map(count).iter().sum(), "new"),
        (count(Outcome::Grown), "grown"),
        (count(Outcome::Unchanged), "with nothing new"),
    ];
    for (number, word) in counts {
        if number > 0 {
            parts.push(format!("{} {word}", grouped(number)));
        }
    }
    let messages = all().map(|session| session.messages).sum();
    let compactions = all().flat_map(|session| &session.hides);
    let compactions = compactions.filter(|(kind, ..)| *kind == HideKind::Compaction);
    let mut read = plural(all().count() as u64 - agents, "session");
    if agents > 0 {
        read += &format!(" and {}", plural(agents, "sub-agent"));
    }
    let mut line = format!(
        "Read {read} in {}: {}; {}",
        plural(reports.len() as u64, "file"),
        parts.join(", "),
        plural(messages, "message")
    );
    match compactions.count() as u64 {
        0 => {}
        number => line += &format!(", {}", plural(number, "compaction")),
    }
    app.ui.status(line);
    app.ui.hint("tract branch lists them; -v reports each one");
}

/// Says where HEAD went from a branch without commits.
pub fn head_moved(repo: &Repo, before: &Head, app: &mut App) -> Result<()> {
    let after = repo.head(&tract::repo::On::Head)?;
    if before.commit().is_none()
        && let (Some(was), Some(branch)) = (before.branch(), after.branch())
        && was != branch
    {
        let line = Line::from("Now on ") + Label::Branch.of(branch.short());
        let was = was.short();
        app.ui.status(line + format!(" ({was} had no messages)"));
    }
    Ok(())
}

/// Says what an import of a file found and did; all of it where it was the only one.
fn tell(
    repo: &Repo,
    file: &Path,
    (report, came): (&ImportReport, &Came<'_>),
    (alone, is_verbose): (bool, bool),
    app: &mut App,
) -> Result<()> {
    let sessions = &report.sessions;
    let listed = match sessions.len() {
        count if count > LISTED => {
            let messages = sessions.iter().map(|session| session.messages).sum();
            let new = sessions.iter().map(|session| session.new_commits).sum();
            let first = &sessions[0];
            let on = match (first.tip, &first.branch) {
                (Some(_), BranchOutcome::Follows(branch) | BranchOutcome::Stays(branch)) => {
                    branch.short()
                }
                _ => "nothing",
            };
            app.ui.status(format!(
                "Read {} of {}, {}, {} new; a branch each, the first on {on}",
                plural(count as u64, "conversation"),
                file.display(),
                plural(messages, "message"),
                grouped(new)
            ));
            0
        }
        count => count,
    };
    for session in &sessions[..listed] {
        let agents = Agents::of(repo, session, came)?;
        let line = headline(repo, report.format, (session, &agents), app)?;
        app.ui.status(line);
        if let Some(severed) = session.end.severed
            && session.outcome != Outcome::Unchanged
        {
            app.ui.status(format!(
                "  a tool that follows the file's links goes on from the last {} of {} alone; all {} are here, in the file's order",
                grouped(severed.reached),
                plural(severed.all, "record"),
                grouped(severed.all)
            ));
        }
        if (alone || is_verbose) && !session.is_of_end {
            details(session, is_verbose, app);
        }
        if let Some(begins_in) = &session.end.begins_in
            && session.outcome != Outcome::Unchanged
        {
            // What somebody edited has not what this one begins with, however often it is imported.
            app.ui.hint(match has_session(repo, report.format.name, begins_in)? {
                true => format!(
                    "where the file of session {begins_in} has grown, import it, then this one again"
                ),
                false => format!(
                    "its beginning is in session {begins_in}: import that one, then this one again"
                ),
            });
        }
    }
    if sessions.is_empty() {
        app.ui.status(format!("No messages in {}", file.display()));
    }
    problems(file, report, is_verbose, app);
    match sessions.as_slice() {
        [session] if alone && session.outcome != Outcome::Unchanged => {
            hints(repo, report.format, session, app)
        }
        _ => Ok(()),
    }
}

/// Whether a session is here.
fn has_session(repo: &Repo, format: &str, id: &str) -> Result<bool> {
    let name = RefName::session(format, id);
    let found = repo.references(name.as_str())?;
    Ok(found.iter().any(|(own, _)| *own == name))
}

/// How many hides there are, kind by kind.
fn hides(counts: &BTreeMap<&'static str, u64>) -> impl Iterator<Item = String> {
    let kinds = HideKind::ALL.map(HideKind::as_str).into_iter();
    kinds.filter_map(|kind| Some(plural(*counts.get(kind)?, kind)))
}

/// What is in a session, and its sub-agents if they are told of.
fn size(session: &ImportedSession, agents: Option<&Agents>) -> String {
    let mut size = vec![plural(session.messages, "message")];
    size.extend(hides(&session.hide_counts()));
    size.extend(agents.and_then(|agents| agents.told(session.outcome)));
    size.join(", ")
}

/// Says what a recording took in, so many commits of it new; returns how much was wrong.
pub fn recorded(repo: &Repo, report: &ImportReport, new: u64, app: &mut App) -> Result<u64> {
    for session in &report.sessions {
        // What an undo took back is here already, and on its branch again.
        let before = if new > 0 || session.outcome != Outcome::Unchanged {
            "Recorded"
        } else {
            "Nothing new in"
        };
        let after = match &session.branch {
            BranchOutcome::None => size(session, None),
            BranchOutcome::Follows(branch) => {
                format!("{}, on {}", size(session, None), branch.short())
            }
            BranchOutcome::Stays(branch) => size(session, None) + &stays(repo, session, branch)?,
        };
        let line = line(before, report.format, session, &format!(": {after}"), app);
        app.ui.status(line);
    }
    problems(Path::new("standard input"), report, true, app);
    for session in &report.sessions {
        place_hint(repo, session, app)?;
    }
    Ok(report.problem_count)
}

fn headline(
    repo: &Repo,
    format: &Format,
    (session, agents): (&ImportedSession, &Agents),
    app: &App,
) -> Result<Line> {
    let size = size(session, Some(agents));
    let unchanged = match agents.new_commits {
        0 => "Nothing new in",
        _ => "Updated",
    };
    let (before, after) = match session.outcome {
        Outcome::New => ("Imported", format!(": {size}")),
        Outcome::Grown => {
            let now = match agents.told(session.outcome) {
                _ if !session.is_of_end => format!(", now {size}"),
                Some(agents) => format!(", {agents}"),
                None => String::new(),
            };
            // What an undo took back is here already.
            let told = match session.new_commits {
                0 if !session.is_of_end => format!(": {size}; no new commit"),
                new => format!(": {}{now}", plural(new, "new commit")),
            };
            ("Updated", told)
        }
        Outcome::Unchanged if session.is_of_end => {
            let agents = agents.told(session.outcome);
            let agents = agents.map(|agents| format!(": {agents}"));
            (unchanged, agents.unwrap_or_default())
        }
        Outcome::Unchanged => (unchanged, format!(": {size}")),
        Outcome::Rewritten => (
            "Imported",
            format!(" anew, for its file was rewritten: {size}"),
        ),
        Outcome::Elsewhere => ("Imported", format!(" as it went on elsewhere: {size}")),
    };
    let branch = match (&session.branch, session.outcome) {
        (_, Outcome::Unchanged) | (BranchOutcome::None, _) => String::new(),
        (BranchOutcome::Follows(branch), _) => format!(", on {}", branch.short()),
        (BranchOutcome::Stays(branch), _) => stays(repo, session, branch)?,
    };
    let (commits, are) = match session.kept {
        1 => ("1 commit".to_owned(), "is"),
        kept => (plural(kept, "commit"), "are"),
    };
    let kept = match (session.kept, session.outcome) {
        (0, _) => String::new(),
        (_, Outcome::Elsewhere) => format!("; {commits} of here {are} not in it"),
        _ => format!("; {commits} of before {are} kept"),
    };
    let after = after + &branch + &kept;
    Ok(line(before, format, session, &after, app))
}

/// Why a branch does not follow its session, behind what became of that.
fn stays(repo: &Repo, session: &ImportedSession, branch: &RefName) -> Result<String> {
    Ok("; ".to_owned() + &apart(repo, session, branch)?)
}

/// Why a branch does not follow its session.
fn apart(repo: &Repo, session: &ImportedSession, branch: &RefName) -> Result<String> {
    let why = if repo.is_fork(branch, &session.name)? {
        "left the session earlier"
    } else if repo.follows_another(branch, &session.name)? {
        "follows another session"
    } else {
        "has commits of its own"
    };
    Ok(format!("{} {why}, so it stays", branch.short()))
}

/// A sentence about a session: what comes before its name and behind it.
fn line(before: &str, format: &Format, session: &ImportedSession, after: &str, app: &App) -> Line {
    let used = columns::width_cols(&format!("{before} {format} \"\"{after}"));
    let room = match app.ui.width_cols() {
        Some(width) => width.saturating_sub(used).max(16),
        None => 60,
    };
    let title = match &session.end.title {
        Some(title) => format!("\"{}\"", Line::from(title).cut(room).text()),
        None => {
            let name = session.name.as_str();
            let id = name.rsplit('/').next().unwrap_or(name);
            id.chars().take(13).collect()
        }
    };
    let what = Label::Session.of(format!("{format} {title}"));
    Line::from(before) + " " + what + after
}

fn details(session: &ImportedSession, is_verbose: bool, app: &mut App) {
    let counted = |counts: &BTreeMap<String, u64>| -> Vec<String> {
        let word = |(name, count): (&String, &u64)| format!("{} {name}", grouped(*count));
        counts.iter().map(word).collect()
    };
    if session.outcome == Outcome::Unchanged && !is_verbose {
        return;
    }
    if !session.further.is_empty() {
        let shown: Vec<&str> = session.further.iter().take(3).map(RefName::short).collect();
        let mut text = shown.join(", ");
        if session.further.len() > shown.len() {
            text += &format!(", and {} more", session.further.len() - shown.len());
        }
        app.ui
            .status(format!("  {:NAME_COLS$}  {text}", "further branches"));
    }
    let others: u64 = session.end.other_records.values().sum();
    let others = if is_verbose || others == 0 {
        counted(&session.end.other_records)
    } else {
        vec![format!("{} (-v lists them)", plural(others, "record"))]
    };
    let lines = [
        ("records other than messages", others),
        ("not understood, kept", counted(&session.end.opaque_blocks)),
        ("not in the file", session.end.absent.clone()),
        (
            "lone surrogates",
            match session.end.lone_surrogates {
                0 => Vec::new(),
                count => vec![format!("{} became U+FFFD", grouped(count))],
            },
        ),
    ];
    for (name, items) in lines.iter().filter(|(_, items)| !items.is_empty()) {
        let head = format!("  {name:NAME_COLS$}  ").into();
        for line in table::folded(head, items, ",", app.ui.width_cols()) {
            app.ui.status(line);
        }
    }
}

/// Names one thing that is wrong in a file.
pub fn problem(file: &Path, line: u64, reason: &str, app: &mut App) {
    let head = Label::Warning.of("problem:");
    let place = place(file, line, app);
    app.ui.complain(head + format!(" {place}: {reason}"));
}

/// A line of a file, or all of it.
fn place(file: &Path, line: u64, app: &App) -> String {
    let file = app.short_path(file);
    match line {
        0 => file,
        line => format!("{file}:{line}"),
    }
}

/// Says what is odd and does no harm: each, or how many there are.
fn notes(all: &[String], is_verbose: bool, app: &mut App) {
    if all.len() > NOTES && !is_verbose {
        let count = grouped(all.len() as u64);
        return app.ui.notice(format!(
            "{count} records are odd and do no harm (-v lists them)"
        ));
    }
    for note in all {
        app.ui.notice(note.as_str());
    }
}

fn problems(file: &Path, report: &ImportReport, is_verbose: bool, app: &mut App) {
    let odd = report.notes.iter();
    let odd = odd.map(|note| format!("{}: {}", place(file, note.line, app), note.reason));
    notes(&odd.collect::<Vec<_>>(), is_verbose, app);
    for found in &report.problems {
        problem(file, found.line, &found.reason, app);
    }
    let more = report
        .problem_count
        .saturating_sub(report.problems.len() as u64);
    if more > 0 {
        let more = plural(more, "more problem");
        app.ui
            .complain(format!("… and {more}; the rest of the file came in"));
    }
}

/// What saves someone time next.
fn hints(repo: &Repo, format: &Format, session: &ImportedSession, app: &mut App) -> Result<()> {
    let hides = session.hides.iter();
    let mut compactions = hides.filter(|(kind, ..)| *kind == HideKind::Compaction);
    if let Some((_, _, Some(before))) = compactions.next_back() {
        let context = repo.context(before)?;
        let total = context_total(repo.counts(&context, app.encoding(repo)?)?);
        let short = before.short();
        // Some tools go on from the file itself.
        let verb = match format.resume() {
            None => "export",
            Some(_) => "resume",
        };
        app.ui.hint(format!(
            "before the last compaction: {short}, {} tokens; tract {verb} {short}",
            tokens(total)
        ));
    }
    place_hint(repo, session, app)
}

/// What puts a session's new messages after the commits of a branch, if it came from a file.
pub fn onto(repo: &Repo, session: &RefName, branch: &str, app: &App) -> Result<Option<String>> {
    let file = ingest::file_of(repo, session)?;
    let file = file.map(|(file, _)| shell_word(&app.short_path(&file)));
    Ok(file.map(|file| format!("tract import --onto {} {file}", shell_word(branch))))
}

/// Where a session is, if that is not where HEAD is.
fn place_hint(repo: &Repo, session: &ImportedSession, app: &mut App) -> Result<()> {
    match &session.branch {
        // What comes in on a path that one has left is no news for it.
        BranchOutcome::Stays(branch) if repo.is_fork(branch, &session.name)? => {
            let session = listing::shown_name(&session.name, true);
            let session = session.trim_end_matches('…');
            app.ui.hint(format!(
                "the new messages are in the session: tract log {session}"
            ));
        }
        BranchOutcome::Stays(branch) => {
            let after = onto(repo, &session.name, branch.short(), app)?;
            app.ui.hint(match after {
                Some(import) => format!("to put the new messages after your commits: {import}"),
                None => {
                    let session = listing::shown_name(&session.name, true);
                    let session = session.trim_end_matches('…');
                    format!("the new messages are in the session: tract log {session}")
                }
            });
        }
        BranchOutcome::Follows(branch) if !is_here(repo, branch)? => {
            let branch = branch.short();
            app.ui.hint(format!(
                "HEAD stayed where it was; to look: tract --on {branch} status"
            ));
        }
        _ => {}
    }
    Ok(())
}

/// Whether HEAD is on this branch.
fn is_here(repo: &Repo, branch: &RefName) -> Result<bool> {
    Ok(repo.head(&tract::repo::On::Head)?.branch() == Some(branch))
}
