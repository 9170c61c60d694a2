//! `tract cost`: what replies cost.

mod misses;

use std::path::Path;

use tract::deeds::advice::Exit;
use tract::deeds::{At, CostBy, CostRow, Counted, Spending};
use tract::model::Role;
use tract::query::{StatedCost, bills};
use tract::render::{Label, Line, columns, grouped, plural, rounded, row, table};
use tract::repo::Repo;

use crate::cli::drawing::bill::{NOBODY, SessionNames, without_agents};
use crate::cli::drawing::listing;
use crate::cli::drawing::prices::{
    cost_of_row, money, output_of, period, place, prices, spent, untiered, untimed, without_time,
};
use crate::cli::{App, Failure, Result};

pub use tract::deeds::CostParams as Args;

/// How long a bar is at most.
const BAR_COLS: usize = 40;
/// The fewest columns for what a row is called.
const HEAD_COLS: usize = 16;
/// How many sessions are named of which their clients say something else.
const STATED: usize = 3;
/// What a stretch of time leaves out of sessions that are not whole in it.
const WITHOUT_OTHERS: &str =
    "without requests that no reply shows: nobody says when they were made";

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let (prices, list) = prices(&repo, app)?;
    let at = At::new(&repo, on, app);
    if args.check {
        let spending = Args::checked(&at)?;
        drop(at);
        return tell_spending(&spending, app);
    }
    if args.misses {
        let found = args.missed(&at, &prices)?;
        drop(at);
        if found.replies.is_empty() {
            let at = At::new(&repo, app.on()?, app);
            let away = args.away(&at, &prices)?;
            drop(at);
            nothing(args, &away, app);
        } else {
            misses::tell(args, &found, &prices, &list, app)?;
        }
        narrowed(args, &repo, app);
        return Ok(());
    }
    let (by, found) = (args.by(), args.table(&at, &prices)?);
    drop(at);
    let mut replies = found.replies;
    if replies.is_empty() && found.elsewhere.is_none() && found.stated.is_empty() {
        nothing(args, &found.away, app);
        untimed_notice(found.untimed.as_ref(), app);
        if found.is_without_others {
            app.ui.notice(WITHOUT_OTHERS);
        }
        narrowed(args, &repo, app);
        return Ok(());
    }
    let (total, stated) = (found.total, found.stated);
    let names = SessionNames::of(found.rows.iter().map(|row| row.name.as_str()));
    let rows = found.rows.iter();
    let rows = rows.map(|row| Row::of(head(row, by, &names), row, by));
    let others = found.others.iter().map(|(row, count)| Row {
        count: match by {
            CostBy::Tool | CostBy::Message => None,
            _ => Some(row.replies),
        },
        ..Row::of(others_of(*count), row, by)
    });
    let rest = found
        .rest
        .iter()
        .map(|row| Row::of(CostRow::REST.into(), row, by));
    let elsewhere = found.elsewhere.iter().map(|row| Row {
        count: None,
        ..Row::of(Label::Dim.of(row.name.clone()), row, by)
    });
    let total = Row {
        count: Some(total.replies),
        ..Row::of(Label::Strong.of("total"), &total, by)
    };
    let rows = rows
        .chain(others)
        .chain(rest)
        .chain(elsewhere)
        .chain([total]);
    let (mut cells, mut ends) = (Vec::new(), Vec::new());
    let what = match by {
        CostBy::Tool => "messages",
        CostBy::Message => "requests",
        _ => "replies",
    };
    let heading = ["", what, "input", "", "output", "cost"];
    cells.push(heading.map(|word| Label::Dim.of(word)).to_vec());
    ends.push(Line::new());
    for row in rows {
        cells.push(row.cells());
        ends.push(row.more);
    }
    let width = app.ui.width_cols();
    if let Some(width) = width {
        cut_heads(&mut cells, width);
    }
    let lines: Vec<Line> = table::lines(cells, &[1, 2, 3, 4, 5]).collect();
    let mut bars = match app.ui.is_terminal() && by.is_time() {
        true => bars(&found.rows, &lines, app.ui.wrap_cols()),
        false => Vec::new(),
    }
    .into_iter();
    for (at, (mut line, end)) in lines.into_iter().zip(ends).enumerate() {
        if !end.is_empty() {
            line += "  ";
            line.fit(end, width);
        }
        // The heading has none.
        if at > 0
            && let Some(bar) = bars.next()
        {
            line += Label::Tokens.of(bar);
        }
        app.ui.print(line)?;
    }
    app.ui.notice(format!("list prices of {list}"));
    for said in untiered(&replies, &prices) {
        app.ui.notice(said);
    }
    for (model, tokens) in &found.unpriced_others {
        let count = format!(
            "other requests without a price: {} tokens ",
            grouped(*tokens)
        );
        app.ui
            .notice((Line::from(count) + unlisted_model(model)).text());
    }
    if found.is_without_others {
        app.ui.notice(WITHOUT_OTHERS);
    }
    if let Some(row) = &found.beside {
        let cost = cost_of_row(row);
        app.ui.notice(without_agents(row.replies, Some(&cost)));
    }
    untimed_notice(found.untimed.as_ref(), app);
    if !stated.is_empty() {
        let sum = |of: fn(&StatedCost) -> f64| stated.iter().map(of).sum::<f64>();
        let (theirs, listed) = (sum(|it| it.dollars), sum(|it| it.listed));
        let [theirs, listed] = [theirs, listed].map(money);
        let shown = stated.iter().take(STATED);
        let mut shown: Vec<String> = shown
            .map(|it| listing::shown_name(&it.session, true))
            .collect();
        if let Some(more) = stated.len().checked_sub(STATED).filter(|more| *more > 0) {
            shown.push(format!("and {more} more"));
        }
        let sessions = match &shown[..] {
            [one] => one.clone(),
            some => format!(
                "{} ({})",
                plural(stated.len() as u64, "session"),
                some.join(", ")
            ),
        };
        app.ui.notice(format!(
            "{sessions} cost {theirs} by what clients say, {listed} by the list"
        ));
    }
    replies.retain(|reply| reply.dollars.is_none());
    let unpriced = bills(&replies, |reply| reply.model.clone().unwrap_or_default());
    for (model, bill) in &unpriced {
        let count = Line::from(plural(bill.replies, "reply")) + " without a price, ";
        app.ui.notice((count + unlisted_model(model)).text());
    }
    narrowed(args, &repo, app);
    Ok(())
}

/// Why a model has no price.
fn unlisted_model(model: &str) -> Line {
    match model {
        "" => Line::from("whose model is not known"),
        model => Line::from("of ") + Label::Text.quote(model) + ", which the list does not have",
    }
}

/// A bar for each of these rows, in the room that lines leave: the dearest takes all of it.
fn bars(rows: &[CostRow], lines: &[Line], width: usize) -> Vec<String> {
    let most = rows.iter().map(|row| row.dollars).fold(0.0, f64::max);
    let taken = lines.iter().map(Line::width_cols).max().unwrap_or(0);
    let room = width.saturating_sub(taken + 2).min(BAR_COLS);
    if room < 4 || most <= 0.0 {
        return Vec::new();
    }
    let bar = |row: &CostRow| {
        let eighths = (row.dollars / most * room as f64 * 8.0).round() as usize;
        let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
        format!("  {}{rest}", "█".repeat(eighths / 8))
    };
    rows.iter().map(bar).collect()
}

/// Says what a stretch of time leaves out.
fn untimed_notice(untimed: Option<&CostRow>, app: &mut App) {
    if let Some(row) = untimed {
        let cost = cost_of_row(row);
        app.ui.notice(without_time(row.replies, Some(&cost)));
    }
}

/// Says that no reply is meant, and where there are some.
fn nothing(args: &Args, away: &[CostRow], app: &mut App) {
    let Some(most) = away.first() else {
        app.ui.status(match (&args.since, &args.until) {
            (None, None) => "No reply here was counted by its provider",
            _ => "No reply of that time was counted by its provider",
        });
        return;
    };
    let replies: u64 = away.iter().map(|row| row.replies).sum();
    let place = match most.name.as_str() {
        "" => Line::from("no known directory"),
        name => Label::Text.quote(name),
    };
    let counted = match replies - most.replies {
        0 => Line::from(format!("{} of ", plural(most.replies, "reply"))) + place,
        others => {
            let more = plural(away.len() as u64 - 1, "other directory");
            let most = Line::from(format!("{} of ", plural(most.replies, "reply"))) + place;
            most + format!(", and {} of {more}", grouped(others))
        }
    };
    app.ui.status(
        (Line::from("No reply of this directory was counted by its provider, but ") + counted)
            .text(),
    );
}

/// Says that it is of one directory alone, if it is.
fn narrowed(args: &Args, repo: &Repo, app: &mut App) {
    let seat = repo.seat().filter(|_| args.rev.is_none() && !args.all);
    if let Some(directory) = seat {
        let path = app.short_path(Path::new(directory));
        let of = match path.is_empty() {
            true => Line::from("of this directory"),
            false => Line::from("of ") + Label::Text.quote(&path),
        };
        app.ui
            .notice((of + " alone; --all: of all directories").text());
    }
}

/// How budgets of money stand, and the exit code for scripts.
fn tell_spending(spending: &Spending, app: &mut App) -> Result<()> {
    let rows = spending.budgets.iter().map(|budget| {
        let label = match budget.is_over() {
            true => Label::Warning,
            false => Label::Text,
        };
        let period = Line::from(period(budget)) + place(budget);
        vec![
            Label::Dim.of(period.text()),
            label.of(spent(budget) + &untimed(budget)),
        ]
    });
    app.ui.print_all(table::lines(rows.collect(), &[]))?;
    if let Some(row) = &spending.other_requests {
        let cost = cost_of_row(row);
        app.ui.notice(format!(
            "in no budget: requests that no reply shows ({cost} in all); nobody says when they were made"
        ));
    }
    if let Some(month) = &spending.forecast {
        let [about, least, most] =
            [month.dollars, month.least_dollars, month.most_dollars].map(money);
        let says = format!(
            "about {about} by the end of the month ({least} to {most} in four of five months)"
        );
        app.ui.print(Label::Dim.of(says))?;
    }
    match spending.is_over() {
        true => Err(Failure::Quiet(Exit::NotAllowed)),
        false => Ok(()),
    }
}

/// What a row is called.
fn head(row: &CostRow, by: CostBy, names: &SessionNames) -> Line {
    let name = row.name.as_str();
    if let Some(role) = row.role.and_then(|role| role.parse::<Role>().ok()) {
        let hash = match name.split_once('#') {
            Some((commit, index)) => format!("{commit:.7}#{index}"),
            None => format!("{name:.7}"),
        };
        return Label::Hash.of(hash) + "  " + Label::role(role).of(role.as_str());
    }
    match by {
        CostBy::Session | CostBy::Agent => Label::Text.quote(&names.shown(name)),
        CostBy::Tool if name.is_empty() => "(results without a call)".into(),
        CostBy::Tool if [CostRow::REST, CostRow::OTHERS].contains(&name) => name.into(),
        CostBy::Tool => Label::Tool.quote(name),
        CostBy::Day | CostBy::Week | CostBy::Month if name.is_empty() => "(no time)".into(),
        _ if name.is_empty() => NOBODY.into(),
        _ => Label::Text.quote(name),
    }
}

/// Cuts what rows are called so that their numbers have room.
fn cut_heads(cells: &mut [Vec<Line>], width: usize) {
    let widest = |column: usize| {
        let cells = cells.iter().filter_map(|row| row.get(column));
        cells.map(Line::width_cols).max().unwrap_or(0)
    };
    let taken: usize = (1..6).map(|column| widest(column) + 2).sum();
    let room = width.saturating_sub(taken).max(HEAD_COLS);
    for head in cells.iter_mut().filter_map(|row| row.first_mut()) {
        if head.width_cols() > room {
            *head = columns::cut_inside(&head.text(), room).into();
        }
    }
}

/// What stands for rows that are not shown.
fn others_of(count: usize) -> Line {
    Label::Dim.of(format!("({})", plural(count as u64, "other")))
}

/// A row of the list.
struct Row {
    head: Line,
    /// How many replies, messages or requests; none: nobody asks.
    count: Option<u64>,
    usage: Counted,
    /// How many replies were counted for less output than they say.
    short_outputs: u64,
    /// What it cost, as it is shown.
    cost: String,
    /// What stands behind that.
    more: Line,
}

impl Row {
    fn of(head: Line, row: &CostRow, by: CostBy) -> Self {
        let said = row.preview.as_deref();
        Self {
            head,
            count: match by {
                CostBy::Tool => row.messages,
                _ => Some(row.replies),
            },
            usage: row.counted,
            short_outputs: row.short_outputs,
            cost: cost_of_row(row),
            more: match (said, &row.title) {
                (Some(said), _) => row::said(row.call.as_deref(), said, None),
                (None, Some(title)) => Label::Text.quote(title),
                (None, None) => Line::new(),
            },
        }
    }

    fn cells(&self) -> Vec<Line> {
        let usage = &self.usage;
        let share = (usage.cached_tokens * 100).checked_div(usage.input_tokens);
        vec![
            self.head.clone(),
            self.count
                .map_or(Line::new(), |count| grouped(count).into()),
            Label::Tokens.of(rounded(usage.input_tokens)),
            Line::from(format!("{}% cached", share.unwrap_or(0))),
            Label::Tokens.of(output_of(usage.output_tokens, self.short_outputs)),
            Line::from(self.cost.as_str()),
        ]
    }
}
