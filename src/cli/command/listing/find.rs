//! `tract find`: messages by their text.

use std::collections::HashMap;
use std::time::Duration;

use indicatif::ProgressBar;
use tract::Error;
use tract::deeds::{At, FindParams};
use tract::model::{EntryId, HideKind, Operation, RefName};
use tract::query::{FindProgress, Found, HiddenBy, Neighbour, TakenBack};
use tract::render::{Calendar, Label, Line, excerpt, grouped, plural, row, shell_word, table};
use tract::repo::{On, Repo};

use crate::cli::drawing::listing;
use crate::cli::{App, Exit, Failure, Result, Ui, progress, tool_sessions};

/// Search all messages, hidden ones too
///
/// Finds messages by their words, the best answer first, in the history of all branches, tags and sessions. It looks
/// in text, thinking, tool calls and results, in hidden messages, and in texts that edits replaced. The words may
/// stand in any order and form ("proposals" finds "proposal"), and the more of them a message has, the better. A word
/// with a part of an identifier finds the whole of it. Messages that were taken back
/// (by a rewind, a drop, a skip or an edit) come last, with what was chosen instead. So do questions that were asked
/// again, and what a memory tool repeats.
///
/// "WORDS IN QUOTES" must stand like that, WORD* is any word that begins so, and what has -WORD in it is left out.
/// If no message has a single word (a key, a part of a hash), it is searched for as it is.
/// With --exact, TEXT is searched for as it is; with --regex it is a regular expression, in which (?-i) makes case
/// matter. Then no match is missed, and the newest comes first.
///
/// Each match starts with its hash, time, role and place (main:12, or what hides it); `tract show HASH` prints it
/// in full. For a hidden message, the last line says what brings it back. Matches stand below their session: where
/// it ran, its title, and what it continued. The exit code is 1 if nothing matches, as with grep.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract find website proposals redesign     the best 20 answers
  tract find '\"read the config\" pars*'     a phrase, and words that begin so
  tract find -- config -test                without what has the word test in it
  tract find config --hidden                what is in no context any more
  tract find parse_conf main                only in main's history
  tract find parse_conf --here              only in this directory's sessions
  tract find -F 'parse_conf('               these characters, the newest first
  tract find 'fn \\w+_config' --regex -C 1  with a message before and after
  tract find error --tool bash --since 3w   in bash's input and output of the last three weeks
  tract find config --path src/lib.rs       in what was done with a file
  tract find -F TODO --role user -n 0       in all that users wrote
  tract find -F -- --force                  a text that begins with a dash")]
pub struct Args {
    #[command(flatten)]
    deed: FindParams,
    /// More words to find
    #[arg(value_name = "WORD", conflicts_with = "session")]
    words: Vec<String>,
}

impl Args {
    /// The request, in which several words are one text. A second word that names a commit or a branch is where to look;
    /// one that only resembles a name is a word, and the name is told.
    fn asked(&self, repo: &Repo, on: &On) -> Result<(FindParams, Option<String>)> {
        let mut deed = self.deed.clone();
        let Some(second) = &deed.rev else {
            return Ok((deed, None));
        };
        if self.words.is_empty() && !deed.is_ranked() {
            return Ok((deed, None));
        }
        let mut near = None;
        if self.words.is_empty() {
            let ends = second
                .split_once("..")
                .map(|(from, to)| (from, to.trim_start_matches('.')));
            let is_commit = |end: &str| !end.is_empty() && repo.resolve(on, end).is_ok();
            if let Some((_, to)) = ends.filter(|(from, to)| is_commit(from) && is_commit(to)) {
                let what = format!("{second} is a range; one commit says in whose history to look");
                let words = shell_word(&deed.text);
                let hint = format!("tract find {words} {}", shell_word(to));
                return Err(Failure::usage(what).with_hint(hint));
            }
            match repo.resolve(on, second) {
                Ok(_) => return Ok((deed, None)),
                Err(Error::UnknownRevision { nearest, .. }) => near = nearest,
                // Letters of a hash that several commits have, for one.
                Err(_) => {}
            }
        }
        let words = [&deed.text, second].into_iter().chain(&self.words);
        deed.text = words.cloned().collect::<Vec<_>>().join(" ");
        deed.rev = None;
        Ok((deed, near))
    }
}

/// A search that takes no longer shows no progress.
const QUICK: Duration = Duration::from_millis(300);
/// How many lines of one message are listed.
const LINES: usize = 5;
/// What stands before a line.
const INDENT: &str = "    ";

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let (deed, near) = &args.asked(&repo, &on)?;
    let bar = progress::bar(app, "[{bar:30}] {msg}");
    let mut progress = |progress| {
        if bar.elapsed() > QUICK {
            draw(&bar, progress);
        }
        Ok(())
    };
    let finds = deed.search(&At::new(&repo, on.clone(), app), Some(LINES), &mut progress);
    bar.finish_and_clear();
    let finds = finds?;
    if finds.found.is_empty() {
        app.ui.status("No message matches");
        as_typed(args, deed, (near.as_deref(), false), app);
        match tool_sessions::not_imported(&repo, app)? {
            0 => {}
            1 => app
                .ui
                .hint("1 session of this directory is not imported: tract import lists it"),
            more => {
                let more = grouped(more);
                app.ui.hint(format!(
                    "{more} sessions of this directory are not imported: tract import lists them"
                ));
            }
        }
        return Err(Failure::Quiet(Exit::NotAllowed));
    }
    let here = HeadEntries::of(deed, &repo, &on)?;
    list(&finds.found, &here, deed, &repo, app)?;
    if finds.more {
        let which = if deed.is_ranked() && !finds.exact {
            "less relevant"
        } else {
            "older"
        };
        app.ui.hint(format!("more matches, {which}: -n 0"));
    }
    as_typed(args, deed, (near.as_deref(), true), app);
    Ok(())
}

/// How many letters of a name may be wrong for it to be a slip, and not another word.
const SLIP: usize = 2;

/// Says how a second word was taken, where it may have been meant otherwise.
fn as_typed(args: &Args, deed: &FindParams, (near, is_found): (Option<&str>, bool), app: &mut App) {
    let Some(second) = &args.deed.rev else { return };
    let is_slip = |near: &str| strsim::damerau_levenshtein(second, near) <= SLIP;
    let line = match near {
        Some(near) if !is_found || is_slip(near) => {
            format!("'{second}' was searched as a word; did you mean {near}?")
        }
        None if !is_found && deed.rev.is_some() && deed.is_ranked() => {
            let words = shell_word(&format!("{} {second}", deed.text));
            format!("only the history of {second} was searched; both words: tract find {words}")
        }
        _ => return,
    };
    app.ui.hint(line);
}

/// The conversation that commands act on.
struct HeadEntries {
    /// None: HEAD is detached, and nothing can be brought back to it.
    branch: Option<RefName>,
    /// Where one commit's history was searched, what is in the conversation, and whether it is hidden there.
    entries: Option<HashMap<EntryId, bool>>,
}

/// What a way back leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WayBack {
    Here,
    Elsewhere,
    /// It is in the conversation already, or that cannot be changed.
    Nowhere,
}

impl HeadEntries {
    fn of(deed: &FindParams, repo: &Repo, on: &On) -> Result<Self> {
        let head = repo.head(on)?;
        let entries = match (&deed.rev, head.commit()) {
            (Some(_), Some(tip)) => {
                let order = repo.order(&tip)?;
                let entries = order.entries().map(|entry| (entry.id, !entry.visible));
                Some(entries.collect())
            }
            _ => None,
        };
        Ok(Self {
            branch: head.branch().cloned(),
            entries,
        })
    }

    fn back(&self, found: &Found) -> WayBack {
        let is_hidden = self.entries.as_ref().map(|known| known.get(&found.entry));
        match (&self.branch, is_hidden) {
            (None, _) | (_, Some(Some(false))) => WayBack::Nowhere,
            (_, Some(Some(true))) => WayBack::Here,
            (_, Some(None)) => WayBack::Elsewhere,
            (branch, None) if found.branch == *branch => WayBack::Here,
            _ => WayBack::Elsewhere,
        }
    }
}

fn draw(bar: &ProgressBar, progress: FindProgress) {
    let (done, total, what) = match progress {
        FindProgress::Indexing { bytes, total_bytes } => {
            (bytes, total_bytes, "indexing what is new, once")
        }
        FindProgress::Reading { messages, total } => (messages as u64, total as u64, "reading"),
    };
    bar.set_length(total);
    bar.set_position(done);
    bar.set_message(what);
}

/// Draws the messages, each under a heading; those of several sessions by session: of an exact search the one with
/// the newest match first, of a ranked one in the order of the matches, so that a session may come again.
fn list(
    found: &[Found],
    here: &HeadEntries,
    deed: &FindParams,
    repo: &Repo,
    app: &mut App,
) -> Result<()> {
    let calendar = app.calendar();
    let terminal = app.ui.is_terminal();
    let groups = groups(found, deed.is_ranked());
    let is_of_many = groups.len() > 1;
    let in_order: Vec<&Found> = groups.iter().flatten().copied().collect();
    let cells: Vec<Vec<Line>> = in_order.iter().map(|one| cells(one, &calendar)).collect();
    let entries: Vec<EntryId> = in_order.iter().map(|one| one.entry).collect();
    let calls = repo.calls_of(&entries)?;
    let ui = &mut app.ui;
    let room = ui.width_cols();
    let mut heads = table::lines(cells, &[]).zip(calls);
    for (at, group) in groups.iter().enumerate() {
        if is_of_many {
            if at > 0 {
                ui.print("")?;
            }
            ui.print(session(group[0], terminal).within(room))?;
        }
        for (one, (head, call)) in group.iter().zip(&mut heads) {
            // The place is of very different lengths and not lined up, to leave room for the title.
            let mut head = head + "  " + place(one, deed, terminal) + "  ";
            if let Some(call) = call {
                head.fit(Line::from(call) + "  ", room);
            }
            if let Some(title) = one.session.title.as_ref().filter(|_| !is_of_many) {
                head.fit(Label::Dim.of(format!("\"{title}\"")), room);
            }
            ui.print(head.within(room))?;
            if let Some(taken_back) = &one.taken_back {
                let line = Label::Hide.of(INDENT.to_owned() + &retracted(taken_back, &calendar));
                ui.print(line.within(room))?;
            }
            if one.is_own {
                ui.print(Label::Dim.of(format!("{INDENT}(told by a memory)")))?;
            }
            below(one, here, repo, ui)?;
        }
    }
    Ok(())
}

/// `(taken back on 2026-01-31 10:12; chosen instead: 3f2a91c Use the other one.)`
fn retracted(taken_back: &TakenBack, calendar: &Calendar) -> String {
    let when = taken_back.time.map(|time| calendar.absolute(time));
    let when = when.map_or_else(String::new, |when| format!(" on {when}"));
    let instead = taken_back.instead.as_ref().map(|chosen| {
        let hash = chosen.shown_by.commit.short();
        format!("; chosen instead: {hash} {}", chosen.preview)
    });
    format!("(taken back{when}{})", instead.unwrap_or_default())
}

/// What stands below the heading of a message: the lines that match, between its neighbours, and the way back.
fn below(one: &Found, here: &HeadEntries, repo: &Repo, ui: &mut Ui) -> Result<()> {
    let room = ui.width_cols();
    let room = room.map(|width| width.saturating_sub(INDENT.len()));
    neighbours(repo, &one.before, ui)?;
    for line in one.lines.iter().take(LINES) {
        ui.print(Line::from(INDENT) + excerpt::of(&line.text, &line.matches, room))?;
    }
    if one.lines.len() > LINES {
        let more = plural((one.lines.len() - LINES) as u64, "more line");
        ui.print(Label::Dim.of(format!("{INDENT}… {more}")))?;
    }
    neighbours(repo, &one.after, ui)?;
    if let Some(back) = way_back(one, here) {
        ui.print_wrapped(Label::Hint.of(format!("{INDENT}back: {back}")))?;
    }
    Ok(())
}

/// What was found, by the session that it is of, or the branch, where that came from none.
fn groups(found: &[Found], in_order: bool) -> Vec<Vec<&Found>> {
    let key = |one: &Found| one.session.name.clone().or_else(|| one.branch.clone());
    let mut groups: Vec<Vec<&Found>> = Vec::new();
    let mut places: HashMap<Option<RefName>, usize> = HashMap::new();
    let mut last = None;
    for one in found {
        if in_order && last != Some(key(one)) {
            places.clear();
        }
        last = Some(key(one));
        let at = *places.entry(key(one)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(one);
    }
    groups
}

/// A session's heading: where it ran and what it is called; its name; what it went on from.
fn session(found: &Found, terminal: bool) -> Line {
    let origin = &found.session;
    let name = |name: &RefName| listing::shown_name(name, terminal);
    let Some(own) = &origin.name else {
        return Label::Branch.of(found.branch.as_ref().map_or_else(String::new, name));
    };
    let quoted = |title: &String| format!("\"{title}\"");
    let title = origin.title.as_ref().map(quoted);
    let said = listing::titled(origin.directory.as_deref(), title.as_deref());
    let gap = if said.is_empty() { "" } else { "  " };
    let mut line = Label::Strong.of(said) + gap;
    line += Label::Branch.of(name(own));
    if let Some((before, title)) = &origin.before {
        let title = title.as_ref().map_or_else(|| name(before), quoted);
        line += Label::Dim.of(format!("  went on from {title}"));
    }
    line
}

/// What brings a hidden text back: into the context that one is in, where that has it hidden, and
/// with all that a summary stands for.
fn way_back(found: &Found, here: &HeadEntries) -> Option<String> {
    let is_message = matches!(found.commit.operation, Operation::Append { .. });
    let hash = found.hash.short();
    let message = is_message.then(|| match (found.hidden_by, here.back(found)) {
        (Some(HiddenBy::Hide { .. } | HiddenBy::Part), WayBack::Here) => {
            Some(format!("tract restore {hash}"))
        }
        (Some(HiddenBy::Skip), WayBack::Here) => Some(format!("tract annotate {hash} --normal")),
        (Some(HiddenBy::Hide { .. } | HiddenBy::Part | HiddenBy::Skip), WayBack::Elsewhere) => {
            Some(format!("tract pick {hash}"))
        }
        _ => None,
    });
    let all = match found.hidden_by {
        Some(HiddenBy::Hide {
            commit,
            kind: HideKind::Compaction | HideKind::Clear,
        }) => Some(format!("tract resume {}^", commit.short())),
        _ => None,
    };
    match (message.flatten(), all) {
        (Some(message), Some(all)) => Some(format!("{message}, or go on from before: {all}")),
        (message, all) => message.or(all),
    }
}

/// Hash, time and role.
fn cells(found: &Found, calendar: &Calendar) -> Vec<Line> {
    let (label, who) = Label::speaker(found.role, found.is_injected);
    let who = match &found.commit.operation {
        Operation::Append { .. } => who.to_owned(),
        other => format!("{who} ({})", other.verb()),
    };
    vec![
        Label::Hash.of(found.hash.short()),
        Label::Time.of(calendar.listed(found.commit.time)),
        label.of(who),
    ]
}

/// `main:12`, or what hides it.
fn place(found: &Found, deed: &FindParams, terminal: bool) -> Line {
    let name = match (&found.branch, &deed.rev) {
        (Some(branch), _) => listing::shown_name(branch, terminal),
        (None, Some(rev)) => rev.clone(),
        (None, None) => String::new(),
    };
    let place = match (found.number, found.hidden_by) {
        (Some(number), None) => format!("{name}:{number}"),
        (Some(number), Some(why)) => format!("{name}:{number} ({})", reason(why)),
        (None, why) => format!("{name} hidden ({})", why.map_or_else(String::new, reason)),
    };
    match found.hidden_by {
        Some(_) => Label::Hide.of(place),
        None => Label::Branch.of(place),
    }
}

/// Why a text is not in the context, as a mark.
fn reason(why: HiddenBy) -> String {
    match why {
        HiddenBy::Hide { commit, kind } => {
            let done = match kind {
                HideKind::Truncation => "truncated",
                HideKind::Compaction => "compacted",
                HideKind::Clear => "cleared",
                HideKind::Drop => "dropped",
                HideKind::Prune => "pruned",
            };
            format!("{done} by {}", commit.short())
        }
        HiddenBy::Part => "this part is hidden".to_owned(),
        HiddenBy::Edit => "another text now".to_owned(),
        HiddenBy::Skip => "skipped".to_owned(),
        HiddenBy::Restore => "taken back".to_owned(),
    }
}

fn neighbours(repo: &Repo, all: &[Neighbour], ui: &mut Ui) -> Result<()> {
    let entries: Vec<EntryId> = all.iter().map(|one| one.entry).collect();
    for (one, call) in all.iter().zip(repo.calls_of(&entries)?) {
        let number = one.number.map_or("hidden".to_owned(), |n| format!(":{n}"));
        let line = Line::from(INDENT) + Label::Dim.of(format!("{number:<7} {:<9} ", one.role));
        let width = ui.width_cols();
        ui.print(row::after(line, call.as_deref(), &one.preview, width))?;
    }
    Ok(())
}
