//! `tract cost`: what replies cost.

mod misses;
mod shared;

use std::cmp::Ordering;
use std::collections::HashMap;

use tract::ingest::projects_of;
use tract::model::Usage;
use tract::query::{Bill, BilledReply, bills, bills_by_model};
use tract::render::calendar::Edge;
use tract::render::{Calendar, Label, Line, grouped, plural, rounded, table};

use crate::cli::prices::{cost_of, prices, untiered};
use crate::cli::{App, Result, billed, moment};

/// Show what the replies of models cost
///
/// Every reply that a provider counted is priced once, by the list price of its day: all that sessions,
/// branches and tags lead to, or what is on the path to REV. A sub-agent counts with the session that
/// started it, but for --by agent. With a subscription, the figures are API-equivalent: what the same work
/// costs by the API. Requests that no reply shows, such as those for summaries and titles, are a row of their own, as
/// far as the client says what all of its requests came to.
///
/// Columns: replies, input, the part of it that came from a cache, output, US dollars. prices.file in the
/// configuration names a newer list, as genai-prices publishes it.
///
/// --by message says what each message has cost so far: the input of each request is shared over the
/// messages that were sent in it, by their tokens; what was read from the cache is the front of them. A
/// reply bears its output. Its second column says in how many requests a message had a part. --by tool sums
/// up the same for the results of each tool. System prompt and tools are a row of their own: as they were
/// sent, where the client recorded that, else the least that a request had beyond its messages.
///
/// With --misses, the columns are: reply, time, input, what of it was read from the cache, what was written to
/// the cache, what was missed, what that cost, and why. Missed is what the request before had left in the cache
/// and this one did not read. The provider's own word for the reason comes first; then the first difference to
/// the request before, where the client recorded both; then another model, a change of the context, or the age
/// of the cache: 5 minutes, or an hour where that was paid for.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract cost                      all sessions, the most expensive first
  tract cost --by day --since 7d  what each of the last days cost
  tract cost --by model main      what is on the path to main, by model
  tract cost --by agent -n 10     the ten most expensive, sub-agents apart from their sessions
  tract cost --by message main    the 20 most expensive messages
  tract cost --by tool main       what the results of each tool have cost
  tract cost --misses main        what each request missed in the cache, and why
  tract cost --until 2026-10-31   up to the end of that day")]
pub struct Args {
    /// Only what is on the path to this commit
    #[arg(value_name = "REV")]
    rev: Option<String>,
    /// What a row stands for
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = By::Session)]
    by: By,
    /// A row for each reply: what its request read from the cache, wrote to it and missed, and why
    #[arg(long, conflicts_with = "by")]
    misses: bool,
    /// Show at most N rows, and one for the rest; 0 shows all. By default 20 messages, or all of anything else
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Only from then on: a date, or an age such as 3w or '2 days ago'
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only up to then
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
}

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// A session, with its sub-agents
    Session,
    /// A session without its sub-agents, or a sub-agent
    Agent,
    /// A day
    Day,
    /// A week, by its number
    Week,
    /// A month
    Month,
    /// A model
    Model,
    /// A working directory, however it is spelt
    Directory,
    /// A working directory with its worktrees, and the links to it
    Project,
    /// A program whose sessions these are, such as claude-code
    Client,
    /// A tool that was called: what its results have cost
    Tool,
    /// A message
    Message,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let tip = args.rev.as_ref().map(|rev| repo.resolve(&on, rev));
    let tip = tip.transpose()?;
    let calendar = app.calendar();
    let since = moment::read(&calendar, args.since.as_deref(), Edge::Start)?;
    let until = moment::read(&calendar, args.until.as_deref(), Edge::End)?;
    let (prices, list) = prices(&repo, app)?;
    let is_wanted = |reply: &BilledReply| {
        let is_after = since.is_none_or(|since| reply.time.is_some_and(|time| time >= since));
        let is_before = until.is_none_or(|until| reply.time.is_some_and(|time| time <= until));
        is_after && is_before
    };
    if args.misses {
        let mut found = tract::ingest::misses(&repo, tip.as_ref(), &prices)?;
        found.replies.retain(|row| is_wanted(&row.reply));
        return misses::tell(&found, &prices, &list, app);
    }
    let (rows, mut replies) = match args.by {
        By::Tool | By::Message => {
            let encoding = app.encoding(&repo)?;
            let shares = repo.shares(tip.as_ref(), &prices, encoding, &is_wanted)?;
            let rows = match args.by {
                By::Tool => shared::by_tool(&repo, &shares, encoding, args.limit)?,
                _ => shared::by_message(&repo, &shares, args.limit)?,
            };
            (rows, shares.replies)
        }
        by => {
            let mut replies = repo.billed(tip.as_ref(), &prices)?;
            replies.retain(is_wanted);
            (by_word(&replies, by, args.limit, &calendar), replies)
        }
    };
    if replies.is_empty() {
        app.ui.status("No reply here was counted by its provider");
        return Ok(());
    }
    // Nobody says when they were made, or behind which reply.
    let others = match tip.is_none() && since.is_none() && until.is_none() {
        true => repo.other_requests(&replies, &prices)?,
        false => Bill::default(),
    };
    let mut total = Bill::of(&replies);
    total.plus(&others);
    let mut rows = rows;
    if others != Bill::default() {
        rows.push(Row {
            count: None,
            ..Row::of(Label::Dim.of("(other requests)"), &others)
        });
    }
    let total = Row::of(Label::Strong.of("total"), &total);
    let (mut cells, mut ends) = (Vec::new(), Vec::new());
    if app.ui.is_terminal() {
        let what = match args.by {
            By::Tool => "messages",
            By::Message => "requests",
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
fn by_word(replies: &[BilledReply], by: By, limit: Option<usize>, calendar: &Calendar) -> Vec<Row> {
    let directories = replies
        .iter()
        .filter_map(|reply| reply.directory.as_deref());
    let projects = match by {
        By::Project => projects_of(directories),
        _ => HashMap::new(),
    };
    let word = |reply: &BilledReply| match by {
        By::Agent => billed::agent(reply),
        By::Day => billed::day(reply, calendar),
        By::Week => billed::week(reply, calendar),
        By::Month => billed::month(reply, calendar),
        By::Project => billed::project(reply, &projects),
        By::Model => billed::model(reply),
        By::Directory => billed::directory(reply),
        By::Client => billed::client(reply),
        By::Session | By::Tool | By::Message => billed::session(reply),
    };
    let sums = match by {
        By::Model => bills_by_model(replies, billed::model_of),
        _ => bills(replies, word),
    };
    let mut rows: Vec<(String, Bill)> = sums.into_iter().collect();
    if !matches!(by, By::Day | By::Week | By::Month) {
        rows.sort_by(|(_, a), (_, b)| b.dollars.partial_cmp(&a.dollars).unwrap_or(Ordering::Equal));
    }
    let others = rows.split_off(rows.len().min(shown(limit, usize::MAX)));
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

/// How many rows are shown: so many, all for 0, and the usual number where nobody says.
fn shown(limit: Option<usize>, usual: usize) -> usize {
    match limit {
        Some(0) => usize::MAX,
        Some(limit) => limit,
        None => usual,
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
