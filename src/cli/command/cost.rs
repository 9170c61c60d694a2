//! `tract cost`: what replies cost.

mod misses;
mod shared;

use std::cmp::Ordering;

use tract::deeds::{At, CostBy};
use tract::model::Usage;
use tract::query::{Bill, BilledReply, bills};
use tract::render::{Calendar, Label, Line, grouped, plural, rounded, table};

use crate::cli::prices::{cost_of, prices, untiered};
use crate::cli::{App, Result, billed};

pub use tract::deeds::CostParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let (prices, list) = prices(&repo, app)?;
    let at = At::new(&repo, on, app);
    if args.misses {
        let found = args.missed(&at, &prices)?;
        drop(at);
        return misses::tell(&found, &prices, &list, app);
    }
    let (tip, is_wanted, by) = (args.tip(&at)?, args.wanted(&at)?, args.by());
    drop(at);
    let (rows, mut replies) = match by {
        CostBy::Tool | CostBy::Message => {
            let encoding = app.encoding(&repo)?;
            let shares = repo.shares(tip.as_ref(), &prices, encoding, &is_wanted)?;
            let rows = match by {
                CostBy::Tool => shared::by_tool(&repo, &shares, encoding, args.listed())?,
                _ => shared::by_message(&repo, &shares, args.listed())?,
            };
            (rows, shares.replies)
        }
        by => {
            let mut replies = repo.billed(tip.as_ref(), &prices)?;
            replies.retain(is_wanted);
            let rows = by_word(&replies, by, args.listed(), &app.calendar());
            (rows, replies)
        }
    };
    if replies.is_empty() {
        app.ui.status("No reply here was counted by its provider");
        return Ok(());
    }
    let total = Bill::of(&replies);
    let total = Row::of(Label::Strong.of("total"), &total);
    let (mut cells, mut ends) = (Vec::new(), Vec::new());
    if app.ui.is_terminal() {
        let what = match by {
            CostBy::Tool => "messages",
            CostBy::Message => "requests",
            _ => "replies",
        };
        let heading = ["", what, "input", "", "output", "cost"];
        cells.push(heading.map(|word| Label::Dim.of(word)).to_vec());
        ends.push(Line::new());
    }
    for row in rows.into_iter().chain([total]) {
        cells.push(row.cells());
        ends.push(row.more);
    }
    let width = app.ui.width_cols();
    for (mut line, end) in table::lines(cells, &[1, 2, 3, 4, 5]).zip(ends) {
        if !end.is_empty() {
            line += "  ";
            line.fit(end, width);
        }
        app.ui.print(line)?;
    }
    app.ui.notice(format!("list prices of {list}"));
    for said in untiered(&replies, &prices) {
        app.ui.notice(said);
    }
    replies.retain(|reply| reply.dollars.is_none());
    let unpriced = bills(&replies, |reply| reply.model.clone().unwrap_or_default());
    for (model, bill) in &unpriced {
        let of = match model.as_str() {
            "" => Line::from("whose model is not known"),
            model => {
                Line::from("of ") + Label::Text.quote(model) + ", which the list does not have"
            }
        };
        let count = Line::from(plural(bill.replies, "reply")) + " without a price, ";
        app.ui.notice((count + of).text());
    }
    Ok(())
}

/// The rows of replies by a word that each has.
fn by_word(replies: &[BilledReply], by: CostBy, limit: usize, calendar: &Calendar) -> Vec<Row> {
    let word = |reply: &BilledReply| match by {
        CostBy::Agent => billed::agent(reply),
        CostBy::Day => billed::day(reply, calendar),
        CostBy::Model => billed::model(reply),
        CostBy::Directory => billed::directory(reply),
        CostBy::Client => billed::client(reply),
        CostBy::Session | CostBy::Tool | CostBy::Message => billed::session(reply),
    };
    let mut rows: Vec<(String, Bill)> = bills(replies, word).into_iter().collect();
    if by != CostBy::Day {
        rows.sort_by(|(_, a), (_, b)| b.dollars.partial_cmp(&a.dollars).unwrap_or(Ordering::Equal));
    }
    let others = rows.split_off(rows.len().min(limit));
    let mut rows: Vec<Row> = rows
        .iter()
        .map(|(word, bill)| Row::of(Label::Text.quote(word), bill))
        .collect();
    if !others.is_empty() {
        let mut sum = Bill::default();
        for (_, bill) in &others {
            sum.plus(bill);
        }
        rows.push(Row::of(others_of(others.len()), &sum));
    }
    rows
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
    usage: Usage,
    /// What it cost, as it is shown.
    cost: String,
    /// What stands behind that.
    more: Line,
}

impl Row {
    fn of(head: Line, bill: &Bill) -> Self {
        Self {
            head,
            count: Some(bill.replies),
            usage: bill.usage,
            cost: cost_of(bill.dollars, bill.unpriced, bill.replies),
            more: Line::new(),
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
            Label::Tokens.of(rounded(usage.output_tokens)),
            Line::from(self.cost.as_str()),
        ]
    }
}
