//! What was done, and how long it took: in all sessions, or in one.

use tract::deeds::{At, Method, Spelled, StatsAnswer, StatsBy, StatsParams, StatsRow, WrittenTime};
use tract::model::{Millis, RefName};
use tract::render::html::{CostPage, CostPlot, CostTable, PlotBar, TableRow};
use tract::render::{Calendar, grouped, percent, plural, rounded, stretch};
use tract::repo::{On, Repo};

use super::cost::{TIMES, name, views};
use super::site::Opened;
use super::{Answer, Asked, Site, session_address};
use crate::cli::drawing::bill::{NOBODY, uncounted};
use crate::cli::drawing::prices::output_of;
use crate::cli::{App, Failure, Result};

/// How many rows a table has.
const ROWS: usize = 50;
/// The views: the word in the address, and what it is called.
const VIEWS: [(&str, &str); 9] = [
    ("", "By session"),
    ("day", "By day"),
    ("hour", "By hour"),
    ("weekday", "By weekday"),
    ("project", "By project"),
    ("client", "By program"),
    ("tool", "By tool"),
    ("file", "By file"),
    ("edits", "Newest edits"),
];
/// The page of what was done.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    site.page_about(asked, page)
}

fn page(
    site: &Site,
    asked: &Asked,
    repo: &Repo,
    app: &App,
    opened: Option<&Opened<'_>>,
) -> Result<Answer> {
    let by = match asked.value("by").unwrap_or_default() {
        "" | "edits" => StatsBy::Session,
        "day" => StatsBy::Day,
        "hour" => StatsBy::Hour,
        "weekday" => StatsBy::Weekday,
        "project" => StatsBy::Project,
        "client" => StatsBy::Client,
        "tool" => StatsBy::Tool,
        "file" => StatsBy::File,
        other => {
            let what = format!("there is no view '{other}' of activity");
            return Err(Failure::usage(what));
        }
    };
    let params = StatsParams {
        revs: opened.map(|it| it.tip.to_string()).into_iter().collect(),
        by: Some(by),
        edits: is_of_edits(asked),
        all: opened.is_none(),
        limit: Some(if by.is_time() { 0 } else { ROWS }),
        since: asked
            .value("since")
            .map(|since| Spelled(WrittenTime(since.to_owned()))),
        until: None,
    };
    let stats = params.act(&mut At::new(repo, On::Head, app))?;
    let calendar = app.calendar();
    let mut table = match is_of_edits(asked) {
        true => edits(&stats, &calendar),
        false => rows(&stats, by),
    };
    if is_of_edits(asked) {
        let frame = site.frame(asked);
        for row in &mut table.rows {
            let id = row.id.as_deref();
            row.link = id.map(|id| frame.address(&session_address(id, "")));
        }
    } else if by == StatsBy::Session {
        name(
            site,
            asked,
            (repo, app.encoding(repo)?),
            true,
            &mut table.rows,
        )?;
    }
    let total = &stats.total;
    let facts = [
        format!("{} at work", stretch(total.active_ms)),
        plural(total.sessions as u64, "session"),
        plural(total.prompts as u64, "prompt"),
        plural(total.calls as u64, "call"),
        format!("{} failed", grouped(total.failed as u64)),
        format!("{} interrupted", grouped(total.interrupted as u64)),
        format!(
            "{} in {}",
            plural(total.edits as u64, "edit"),
            plural(total.files as u64, "file")
        ),
    ];
    let mut notes = vec![
        "Pauses are left out: more than 5 minutes before a prompt, more than an hour before a reply or a result.".to_owned(),
    ];
    if table.rows.is_empty() {
        notes.insert(0, "Nothing of the kind in that time.".to_owned());
    }
    notes.extend(uncounted(&stats));
    if stats.left_out > 0 {
        notes.push(format!("{} more.", grouped(stats.left_out as u64)));
    }
    let title = match opened {
        Some(opened) => format!("Activity of {}", opened.id),
        None => "Activity".to_owned(),
    };
    let over_time: Vec<CostPlot> = by
        .is_time()
        .then(|| plot(&stats.rows, by))
        .into_iter()
        .collect();
    let page = CostPage {
        title: &title,
        facts: &facts,
        views: &[
            views("activity", asked, "by", &VIEWS),
            views("activity", asked, "since", &TIMES),
        ],
        over_time: &over_time,
        calendar: None,
        tables: &[table],
        notes: &notes,
    };
    Ok(Answer::page(tract::render::html::costs(
        &site.frame(asked),
        &page,
    )))
}

/// Whether edits are asked for.
fn is_of_edits(asked: &Asked) -> bool {
    asked.value("by") == Some("edits")
}

/// The time at work of each day, hour or weekday.
fn plot(rows: &[StatsRow], by: StatsBy) -> CostPlot {
    let bar = |row: &StatsRow| {
        let parts = [row.model_ms, row.tools_ms, row.user_ms];
        PlotBar {
            name: named(row, by),
            link: None,
            at: None,
            heights: parts.iter().map(|ms| *ms as f64).collect(),
            words: parts.iter().map(|ms| stretch(*ms)).collect(),
            more: vec![
                plural(row.prompts as u64, "prompt"),
                plural(row.calls as u64, "call"),
                plural(row.edits as u64, "edit"),
            ],
        }
    };
    let parts = [("models", "m0"), ("tools", "m1"), ("you", "m2")];
    CostPlot {
        title: "Time of models, of tools, and yours".to_owned(),
        parts: parts.map(|(word, class)| (word.to_owned(), class)).to_vec(),
        unit: axis,
        heading: match by {
            StatsBy::Hour => "hour",
            _ => "day",
        },
        bars: rows.iter().map(bar).collect(),
    }
}

/// A length at the axis: of few minutes the seconds tell two of them apart.
fn axis(millis: f64) -> String {
    let seconds = millis as i64 / 1_000;
    match seconds {
        60..600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => stretch(millis as i64),
    }
}

/// What a row is called.
fn named(row: &StatsRow, by: StatsBy) -> String {
    match (by, row.name.as_str()) {
        (by, "") if by.is_time() => "(no time)".to_owned(),
        (_, "") => NOBODY.to_owned(),
        // By its id, the list knows more of it.
        (StatsBy::Session, name) => name
            .strip_prefix(RefName::SESSIONS)
            .unwrap_or(name)
            .to_owned(),
        // Its number is there for the order.
        (StatsBy::Weekday, name) => name.split_once(' ').map_or(name, |it| it.1).to_owned(),
        (_, name) => name.to_owned(),
    }
}

fn rows(stats: &StatsAnswer, by: StatsBy) -> CostTable {
    let (title, heading) = match by {
        StatsBy::Tool => (
            "Calls by tool",
            vec!["calls", "failed", "", "interrupted", "prompts", "sessions"],
        ),
        StatsBy::File => (
            "Edits by file",
            vec!["edits", "lines", "failed", "prompts", "sessions"],
        ),
        _ => (
            "Time at work",
            vec![
                "at work", "prompts", "replies", "calls", "failed", "edits", "input", "output",
            ],
        ),
    };
    let number = |count: usize| grouped(count as u64);
    let row = |row: &StatsRow| TableRow {
        name: named(row, by),
        id: None,
        link: None,
        length: match by {
            StatsBy::Tool => row.calls as f64,
            StatsBy::File => row.edits as f64,
            _ => row.active_ms as f64,
        },
        cells: match by {
            StatsBy::Tool => vec![
                number(row.calls),
                number(row.failed),
                match row.failed {
                    0 => String::new(),
                    failed => percent(failed as u64, row.calls as u64),
                },
                number(row.interrupted),
                number(row.prompts),
                number(row.sessions),
            ],
            StatsBy::File => vec![
                number(row.edits),
                changed(row.lines_added, row.lines_removed),
                number(row.failed),
                number(row.prompts),
                number(row.sessions),
            ],
            _ => vec![
                stretch(row.active_ms),
                number(row.prompts),
                number(row.replies),
                number(row.calls),
                number(row.failed),
                number(row.edits),
                rounded(row.input_tokens),
                output_of(row.output_tokens, row.short_outputs as u64),
            ],
        },
    };
    CostTable {
        title: title.to_owned(),
        heading,
        rows: stats.rows.iter().map(row).collect(),
    }
}

fn changed(added: usize, removed: usize) -> String {
    format!("+{} -{}", grouped(added as u64), grouped(removed as u64))
}

/// The newest edits, each with its prompt.
fn edits(stats: &StatsAnswer, calendar: &Calendar) -> CostTable {
    let rows = stats.edits.iter().map(|edit| TableRow {
        name: edit.path.clone(),
        id: edit
            .session
            .as_deref()
            .and_then(|name| name.strip_prefix(RefName::SESSIONS))
            .map(str::to_owned),
        link: None,
        length: (edit.lines_added + edit.lines_removed) as f64,
        cells: vec![
            changed(edit.lines_added, edit.lines_removed),
            calendar.listed(edit.time_ms.map(Millis)),
            edit.outcome.to_owned(),
            edit.prompt_preview.clone().unwrap_or_default(),
        ],
    });
    CostTable {
        title: "Newest edits of files".to_owned(),
        heading: vec!["lines", "time", "result", "prompt"],
        rows: rows.collect(),
    }
}
