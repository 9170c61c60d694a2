//! The first page: all conversations by day, with filters, and what a search over all of them finds.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use tract::model::{Millis, call};
use tract::render::calendar::Edge;
use tract::render::html::{
    Choice, ListedDay, ListedSession, SessionFilter, SessionList, session_list,
};
use tract::render::{Calendar, grouped, plural};

use super::hits::{Sought, hits, swept};
use super::listing::{Kind, Row, rows, shown_directory};
use super::query::Asked;
use super::{Answer, Site, session_address};
use crate::cli::{App, Result};

/// How many conversations stand on a page.
const ROWS: usize = 100;
/// How many of them above what a search finds.
const ROWS_FOUND: usize = 12;
/// How many messages a search tells at once.
const HITS: usize = 30;
/// How many directories there are to choose from.
const CHOICES: usize = 100;

/// What the address asks of the list.
struct Filters<'a> {
    words: Option<&'a str>,
    tool: Option<&'a str>,
    model: Option<&'a str>,
    directory: Option<&'a str>,
    day: Option<&'a str>,
    from: usize,
    after: usize,
}

impl<'a> Filters<'a> {
    fn of(asked: &'a Asked) -> Self {
        let number = |name| asked.value(name).and_then(|text| text.parse().ok());
        Self {
            words: asked
                .value("q")
                .map(str::trim)
                .filter(|words| !words.is_empty()),
            tool: asked.value("tool"),
            model: asked.value("model"),
            directory: asked.value("dir"),
            day: asked.value("day"),
            from: number("from").unwrap_or(0),
            after: number("after").unwrap_or(0),
        }
    }

    /// Whether a conversation is one of those that are asked for.
    fn takes(&self, row: &Row, calendar: &Calendar, words: &[String]) -> bool {
        let is = |wanted: Option<&str>, own: &Option<String>| {
            wanted.is_none_or(|wanted| own.as_deref() == Some(wanted))
        };
        let is_below = self.directory.is_none_or(|wanted| {
            let own = row.directory.as_deref();
            own.is_some_and(|own| call::is_below(own, Path::new(wanted)))
        });
        let is_of_day = self
            .day
            .is_none_or(|day| row.last.is_some_and(|last| calendar.date(last) == day));
        is(self.tool, &row.tool)
            && is(self.model, &row.model)
            && is_below
            && is_of_day
            && (words.is_empty() || has_all(row, words))
    }

    /// The address of this list with these values instead.
    fn address(&self, changed: &[(&str, String)]) -> String {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        let own = [
            ("q", self.words),
            ("tool", self.tool),
            ("model", self.model),
            ("dir", self.directory),
            ("day", self.day),
        ];
        for (name, value) in own {
            if let Some(value) = value
                && !changed.iter().any(|(other, _)| *other == name)
            {
                pairs.append_pair(name, value);
            }
        }
        for (name, value) in changed.iter().filter(|(_, value)| !value.is_empty()) {
            pairs.append_pair(name, value);
        }
        match pairs.finish() {
            query if query.is_empty() => "./".to_owned(),
            query => format!("./?{query}"),
        }
    }

    fn is_any(&self) -> bool {
        [self.words, self.tool, self.model, self.directory, self.day]
            .iter()
            .any(Option::is_some)
    }
}

/// Whether the words stand in what a list says of a conversation.
fn has_all(row: &Row, words: &[String]) -> bool {
    let texts = [&row.title, &row.directory, &row.branch, &row.model];
    let said: Vec<String> = texts
        .into_iter()
        .flatten()
        .chain([&row.id])
        .map(|text| text.to_lowercase())
        .collect();
    words
        .iter()
        .all(|word| said.iter().any(|text| text.contains(word)))
}

/// The first page.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    let app = site.app();
    let repo = site.repo(&app)?;
    let all = rows(site, &app, repo.as_deref())?;
    let filters = Filters::of(asked);
    let calendar = app.calendar();
    let words = filters.words.unwrap_or_default().to_lowercase();
    let words: Vec<String> = words
        .split_whitespace()
        .map(|word| word.trim_matches('"').to_owned())
        .filter(|word| !word.is_empty())
        .collect();
    let found: Vec<&Row> = all
        .rows
        .iter()
        .filter(|row| filters.takes(row, &calendar, &words))
        .collect();
    let trees = trees(&found);
    let room = if filters.words.is_some() {
        ROWS_FOUND
    } else {
        ROWS
    };
    let shown: Vec<&Tree<'_>> = trees.iter().skip(filters.from).take(room).collect();
    let (mut messages, mut is_more, mut is_searching) = (Vec::new(), false, false);
    if let Some(text) = filters.words {
        let day = |edge| filters.day.and_then(|day| calendar.read(day, edge));
        let sought = Sought {
            words: text,
            tool: filters.tool,
            directory: filters.directory,
            since: day(Edge::Start),
            until: day(Edge::End),
            offset: filters.after,
            limit: HITS,
        };
        if let Some(repo) = &repo {
            (messages, is_more) = hits(site, repo, &sought, &all.rows, &calendar)?;
        }
        // What is not imported has no rank: it comes behind the best.
        if filters.after == 0 && filters.model.is_none() {
            let (files, is_whole) = site.sweep().look(&words, &all.unread);
            is_searching = !is_whole;
            messages.extend(swept(&files, &words, &sought, &calendar));
        }
    }
    let next = filters.from + shown.len();
    let older = next < trees.len();
    let newer = filters.from > 0;
    let back = filters.from.saturating_sub(room);
    let list = SessionList {
        words: filters.words.unwrap_or_default(),
        filters: choices(&filters, &all.rows, &app),
        day: filters.day.unwrap_or_default(),
        is_filtered: filters.is_any(),
        count: match filters.words {
            // What is found in messages is counted there.
            Some(_) if found.is_empty() && !messages.is_empty() => String::new(),
            Some(_) => format!("{} by title or directory", count(&found, &all.rows, true)),
            None => count(&found, &all.rows, filters.is_any()),
        },
        days: days(&shown, &calendar, &app),
        newer: newer.then(|| filters.address(&[("from", number(back))])),
        older: older.then(|| filters.address(&[("from", number(next))])),
        hits: filters.words.is_some().then_some(messages),
        more_hits: is_more.then(|| filters.address(&[("after", number(filters.after + HITS))])),
        is_pending: all.is_pending,
        is_searching,
        search: None,
        remark: is_searching.then_some("Sessions that are not imported are still being searched."),
    };
    Ok(Answer::page(session_list(&site.frame(asked), &list)))
}

fn number(number: usize) -> String {
    match number {
        0 => String::new(),
        number => number.to_string(),
    }
}

pub fn count(found: &[&Row], all: &[Row], is_filtered: bool) -> String {
    let is_session = |row: &&Row| row.kind.is_session();
    let sessions = all.iter().filter(is_session).count() as u64;
    let whole = plural(sessions, "session");
    if is_filtered {
        let found = found.iter().filter(|row| is_session(row)).count() as u64;
        return format!("{} of {whole}", grouped(found));
    }
    let files = all.iter().filter(|row| row.kind == Kind::File).count() as u64;
    match files {
        0 => whole,
        files => format!("{whole}, {} not imported", grouped(files)),
    }
}

/// A conversation with those that belong to it.
pub struct Tree<'a> {
    row: &'a Row,
    /// When it or one of them went on last.
    last: Option<Millis>,
    children: Vec<Tree<'a>>,
}

/// Each below the one that it belongs to, where that is listed as well; the newest first.
pub fn trees<'a>(rows: &[&'a Row]) -> Vec<Tree<'a>> {
    let known: HashMap<&str, &Row> = rows.iter().map(|row| (row.id.as_str(), *row)).collect();
    let mut below: HashMap<&str, Vec<&'a Row>> = HashMap::new();
    let mut first = Vec::new();
    for row in rows {
        let parent = row.parent.as_deref().filter(|parent| {
            // Nothing stands below itself.
            let mut seen = HashSet::from([row.id.as_str()]);
            let mut at = Some(*parent);
            while let Some(id) = at.filter(|id| known.contains_key(id)) {
                if !seen.insert(id) {
                    return false;
                }
                at = known[id].parent.as_deref();
            }
            known.contains_key(parent)
        });
        match parent {
            Some(parent) => below.entry(parent).or_default().push(row),
            None => first.push(*row),
        }
    }
    let mut trees: Vec<Tree<'a>> = first.into_iter().map(|row| tree(row, &below)).collect();
    trees.sort_by_key(|tree| std::cmp::Reverse(tree.last));
    trees
}

fn tree<'a>(row: &'a Row, below: &HashMap<&str, Vec<&'a Row>>) -> Tree<'a> {
    let children = below.get(row.id.as_str()).into_iter().flatten();
    let mut children: Vec<Tree<'a>> = children.map(|row| tree(row, below)).collect();
    children.sort_by_key(|child| child.last);
    let last = children.iter().filter_map(|child| child.last).max();
    Tree {
        row,
        last: last.max(row.last),
        children,
    }
}

pub fn days(trees: &[&Tree<'_>], calendar: &Calendar, app: &App) -> Vec<ListedDay> {
    let day = |time: Millis| calendar.date(time);
    let today = day(calendar.now);
    let yesterday = day(Millis(calendar.now.0 - 86_400_000));
    let mut days: Vec<ListedDay> = Vec::new();
    for tree in trees {
        let date = tree.last.map(day).unwrap_or_default();
        let listed = listed(tree, &date, calendar, app);
        if days.last().is_none_or(|last| last.date != date) {
            let name = match date.as_str() {
                "" => "No date".to_owned(),
                date if date == today => format!("Today, {date}"),
                date if date == yesterday => format!("Yesterday, {date}"),
                date => date.to_owned(),
            };
            days.push(ListedDay {
                date,
                name,
                sessions: Vec::new(),
            });
        }
        if let Some(last) = days.last_mut() {
            last.sessions.push(listed);
        }
    }
    days
}

impl Tree<'_> {
    /// Whether it is called so, or one that belongs to it.
    pub fn holds(&self, id: &str) -> bool {
        self.row.id == id || self.children.iter().any(|child| child.holds(id))
    }

    /// Whether a repository has it: of a file nobody has looked for what belongs to it.
    pub fn is_imported(&self) -> bool {
        self.row.kind != Kind::File
    }

    /// How many belong to it.
    pub fn below(&self) -> usize {
        self.children.iter().map(|child| 1 + child.below()).sum()
    }
}

/// How many messages were said, and how many are in the context, as `tract status` counts them, where that is another number.
pub fn counted(said: usize, sent: Option<usize>) -> impl Iterator<Item = String> {
    let sent = sent.filter(|sent| *sent != said);
    let sent = sent.map(|sent| format!("{} in the context", grouped(sent as u64)));
    std::iter::once(plural(said as u64, "message")).chain(sent)
}

/// A conversation as a list says it, with those that belong to it; its time with the date, unless that stands above.
pub fn listed(tree: &Tree<'_>, above: &str, calendar: &Calendar, app: &App) -> ListedSession {
    let row = tree.row;
    let mut facts = Vec::new();
    facts.extend(row.tool.clone());
    facts.extend(row.model.clone());
    let directory = row.directory.as_deref();
    facts.extend(directory.map(|directory| shown_directory(directory, app)));
    if let Some((said, sent)) = row.messages {
        facts.extend(counted(said, sent));
    }
    facts.extend(row.tokens.as_ref().map(|tokens| format!("{tokens} tokens")));
    facts.extend(row.cost.clone());
    if row.compactions > 0 {
        facts.push(plural(row.compactions, "compaction"));
    }
    let marks = [
        row.is_head.then_some("HEAD"),
        row.kind.mark(),
        row.has_grown.then_some("has grown since"),
    ];
    let marks = marks.into_iter().flatten().map(str::to_owned).collect();
    let is_told = row.kind == Kind::Branch && row.title.as_deref() != row.branch.as_deref();
    if let Some(branch) = row.branch.as_ref().filter(|_| is_told) {
        facts.insert(0, branch.clone());
    }
    let time = row.last.map(|time| {
        let shown = calendar.absolute(time);
        let is_above = calendar.date(time) == above;
        let from = if is_above { 11 } else { 0 };
        let shown = shown.get(from..16).unwrap_or_default();
        (time.to_iso(), shown.to_owned())
    });
    ListedSession {
        address: session_address(&row.id, ""),
        title: row.title.clone().unwrap_or_else(|| format!("{} …", row.id)),
        facts,
        marks,
        time,
        children: tree
            .children
            .iter()
            .map(|child| listed(child, above, calendar, app))
            .collect(),
    }
}

/// What there is to choose from: the tools, models and directories of all conversations.
fn choices(filters: &Filters<'_>, all: &[Row], app: &App) -> Vec<SessionFilter> {
    let filter = |name, label, chosen: Option<&str>, own: fn(&Row) -> Option<&str>| {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for value in all.iter().filter_map(own) {
            *counts.entry(value).or_default() += 1;
        }
        if let Some(chosen) = chosen {
            counts.entry(chosen).or_default();
        }
        let mut most: Vec<(&str, u64)> = counts.into_iter().collect();
        most.sort_by_key(|(value, count)| {
            (Some(*value) != chosen, std::cmp::Reverse(*count), *value)
        });
        most.truncate(CHOICES);
        most.sort();
        let choice = |(value, count): (&str, u64)| Choice {
            shown: match name {
                "dir" => format!("{} ({})", shown_directory(value, app), grouped(count)),
                _ => format!("{value} ({})", grouped(count)),
            },
            is_chosen: chosen == Some(value),
            value: value.to_owned(),
        };
        SessionFilter {
            name,
            label,
            choices: most.into_iter().map(choice).collect(),
        }
    };
    vec![
        filter("tool", "Tool", filters.tool, |row| row.tool.as_deref()),
        filter("model", "Model", filters.model, |row| row.model.as_deref()),
        filter("dir", "Directory", filters.directory, |row| {
            row.directory.as_deref()
        }),
    ]
}
