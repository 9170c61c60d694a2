//! A search over all messages: the best answers to some words, or a text as it is where they are no words.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tract::Error;
use tract::model::pattern::Pattern;
use tract::model::query::Query;
use tract::model::{HideKind, Millis, RefName};
use tract::query::{Found, HiddenBy, RankedQuery, SearchOptions};
use tract::render::html::ListedHit;
use tract::render::{Calendar, Label, excerpt, plural};
use tract::repo::{On, Repo};

use super::listing::Row;
use super::sweep::SweptFile;
use super::{Site, message_address, segment, session_address};
use crate::cli::Result;

/// How many columns of a line are shown.
const LINE_COLS: usize = 240;
/// How many lines of a message.
const LINES: usize = 3;

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct Sought<'a> {
    /// The words.
    pub words: &'a str,
    /// Only in sessions of this tool.
    pub tool: Option<&'a str>,
    /// Only in sessions that ran there or below.
    pub directory: Option<&'a str>,
    /// Only from then on.
    pub since: Option<Millis>,
    /// Only up to then.
    pub until: Option<Millis>,
    /// How many of the best are passed over.
    pub offset: usize,
    /// How many are wanted.
    pub limit: usize,
}

/// The best messages, and whether there are more.
pub fn hits(
    site: &Site,
    repo: &Repo,
    sought: &Sought<'_>,
    rows: &[Row],
    calendar: &Calendar,
) -> Result<(Vec<ListedHit>, bool)> {
    let options = SearchOptions {
        directory: sought.directory.map(PathBuf::from),
        since: sought.since,
        until: sought.until,
        // Those of another tool are left out afterwards.
        limit: match sought.tool {
            Some(_) => (sought.limit + 1) * 4,
            None => sought.limit + 1,
        },
        ..SearchOptions::of(())
    };
    let mut goes_on = |_| match site.is_over() {
        true => Err(Error::Cancelled),
        false => Ok(()),
    };
    let mut found = match Query::parse(sought.words) {
        Ok(query) => {
            let asked = RankedQuery {
                lines: LINES,
                offset: sought.offset,
                ..RankedQuery::new(query)
            };
            repo.find_ranked(&On::Head, &options.asking(asked), &mut goes_on)?
        }
        // Signs, or words that stand in nearly every text.
        Err(_) => {
            let pattern = Pattern::text(sought.words)?;
            let mut options = options.asking(pattern);
            options.limit += sought.offset;
            let mut found = repo.find_messages(&On::Head, &options, &mut goes_on)?;
            found.drain(..sought.offset.min(found.len()));
            found
        }
    };
    if let Some(tool) = sought.tool {
        found.retain(|one| {
            let session = one.session.name.as_ref().and_then(|name| name.as_session());
            session.is_some_and(|(own, _)| own == tool)
        });
    }
    let is_more = found.len() > sought.limit;
    found.truncate(sought.limit);
    // A branch that follows a session is that session in the list.
    let branches = rows
        .iter()
        .filter_map(|row| Some((row.branch.clone()?, row)));
    let ids = rows.iter().map(|row| (row.id.clone(), row));
    let rows: HashMap<String, &Row> = branches.chain(ids).collect();
    let hits = found.iter().map(|one| hit(one, &rows, calendar));
    let hits = hits.collect();
    Ok((hits, is_more))
}

fn hit(found: &Found, rows: &HashMap<String, &Row>, calendar: &Calendar) -> ListedHit {
    let name = found.branch.as_ref().or(found.session.name.as_ref());
    let id = name.map_or_else(|| found.hash.short(), RefName::label);
    let row = rows.get(&id);
    let id = row.map_or(id, |row| row.id.clone());
    let title = row.and_then(|row| row.title.clone());
    let title = title.or_else(|| found.session.title.clone());
    let lines = found.lines.iter().take(LINES);
    let lines = lines.map(|line| excerpt::of(&line.text, &line.matches, Some(LINE_COLS)));
    let place = match (found.number, found.hidden_by) {
        (Some(_), None) if found.taken_back.is_some() => "taken back".to_owned(),
        (Some(number), None) => format!("message {number}"),
        (_, Some(why)) => hidden(why).to_owned(),
        (None, None) => "hidden".to_owned(),
    };
    let more = found.lines.len().saturating_sub(LINES);
    ListedHit {
        address: message_address(&id, &found.entry),
        session: session_address(&id, ""),
        title: title.unwrap_or_else(|| id.clone()),
        role: Label::speaker(found.role, found.is_injected).1.to_owned(),
        time: found
            .commit
            .time
            .map(|time| (time.to_iso(), calendar.absolute(time)[..16].to_owned())),
        place,
        is_hidden: found.hidden_by.is_some() || found.taken_back.is_some(),
        lines: lines.collect(),
        more: (more > 0).then(|| plural(more as u64, "more line")),
    }
}

/// The messages that were found in files that nobody imported, as far as these filters take them. Each leads to the search
/// of its session's page, which finds the rest.
pub fn swept(
    files: &[SweptFile],
    words: &[String],
    sought: &Sought<'_>,
    calendar: &Calendar,
) -> Vec<ListedHit> {
    let takes = |file: &&SweptFile| {
        let cwd = file.found.cwd.as_deref();
        let is_below =
            |directory: &str| cwd.is_some_and(|cwd| Path::new(cwd).starts_with(directory));
        sought.tool.is_none_or(|tool| tool == file.tool) && sought.directory.is_none_or(is_below)
    };
    let longest = words.iter().max_by_key(|word| word.len());
    let address = |file: &SweptFile| {
        let word = longest.map_or("", |word| word.as_str());
        format!("{}#q={}", session_address(&file.id, ""), segment(word))
    };
    let mut hits = Vec::new();
    for file in files.iter().filter(takes) {
        let found = &file.found;
        for message in &found.messages {
            let is_within = sought.since.is_none_or(|since| message.time >= Some(since))
                && sought
                    .until
                    .is_none_or(|until| message.time.is_some_and(|time| time <= until));
            if !is_within {
                continue;
            }
            let lines = message.lines.iter().take(LINES);
            let lines = lines.map(|line| excerpt::of(&line.text, &line.matches, Some(LINE_COLS)));
            hits.push(ListedHit {
                address: address(file),
                session: session_address(&file.id, ""),
                title: found.title.clone().unwrap_or_else(|| file.id.clone()),
                role: message.role.to_string(),
                time: message
                    .time
                    .map(|time| (time.to_iso(), calendar.absolute(time)[..16].to_owned())),
                place: "not imported".to_owned(),
                is_hidden: true,
                lines: lines.collect(),
                more: None,
            });
        }
        let more = found.count - found.messages.len();
        if let Some(last) = hits
            .last_mut()
            .filter(|last| more > 0 && last.session == session_address(&file.id, ""))
        {
            last.more = Some(format!(
                "{} in this session",
                plural(more as u64, "more message")
            ));
        }
    }
    hits
}

/// Why a text is not in the context.
fn hidden(why: HiddenBy) -> &'static str {
    match why {
        HiddenBy::Hide { kind, .. } => match kind {
            HideKind::Truncation => "truncated",
            HideKind::Compaction => "compacted",
            HideKind::Clear => "cleared",
            HideKind::Drop => "dropped",
            HideKind::Prune => "pruned",
        },
        HiddenBy::Part => "this part is hidden",
        HiddenBy::Edit => "another text now",
        HiddenBy::Skip => "skipped",
        HiddenBy::Restore => "taken back",
    }
}
