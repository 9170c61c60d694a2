//! `tract cost`: what replies cost.

mod misses;

use std::cmp::Ordering;

use tract::history::{Bill, BilledReply, bills};
use tract::model::RefName;
use tract::render::calendar::Edge;
use tract::render::{Calendar, Label, Line, plural, rounded, table};

use crate::cli::prices::{money, prices};
use crate::cli::{App, Result, listing, moment};

/// Show what the replies of models cost
///
/// Every reply that a provider counted is priced once, by the list price of its day: all that sessions,
/// branches and tags lead to, or what is on the path to REV. A sub-agent counts with the session that
/// started it. With a subscription, the figures say what the same work costs by the API. Requests for
/// summaries and titles stand in no session file and are not counted.
///
/// Columns: replies, input, the part of it that came from a cache, output, US dollars. prices.file in the
/// configuration names a newer list, as genai-prices publishes it.
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
  tract cost --by day --since 7d
  tract cost --by model main
  tract cost --misses main        what each request missed in the cache, and why")]
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
    /// A day
    Day,
    /// A model
    Model,
    /// A working directory
    Directory,
    /// A tool
    Tool,
}

/// What has no name.
const NOBODY: &str = "(none)";

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let tip = args.rev.as_ref().map(|rev| repo.resolve(&on, rev));
    let tip = tip.transpose()?;
    let calendar = app.calendar();
    let since = moment::read(&calendar, args.since.as_deref(), Edge::Start)?;
    let until = moment::read(&calendar, args.until.as_deref(), Edge::End)?;
    let (prices, list) = prices(&repo, app)?;
    let is_meant = |reply: &BilledReply| {
        let is_after = since.is_none_or(|since| reply.time.is_some_and(|time| time >= since));
        let is_before = until.is_none_or(|until| reply.time.is_some_and(|time| time <= until));
        is_after && is_before
    };
    if args.misses {
        let mut found = tract::ingest::misses(&repo, tip.as_ref(), &prices)?;
        found.replies.retain(|row| is_meant(&row.reply));
        return misses::tell(&found, &list, app);
    }
    let mut replies = repo.billed(tip.as_ref(), &prices)?;
    replies.retain(is_meant);
    if replies.is_empty() {
        app.ui.status("No reply here was counted by its provider");
        return Ok(());
    }
    let word = |reply: &BilledReply| match args.by {
        By::Session => session(reply),
        By::Day => day(reply, &calendar),
        By::Model => reply.model.clone().unwrap_or_else(|| NOBODY.to_owned()),
        By::Directory => reply.directory.clone().unwrap_or_else(|| NOBODY.to_owned()),
        By::Tool => {
            let named = reply.session.as_ref().and_then(RefName::as_session);
            named.map_or(NOBODY, |(tool, _)| tool).to_owned()
        }
    };
    let mut rows: Vec<(String, Bill)> = bills(&replies, word).into_iter().collect();
    if args.by != By::Day {
        rows.sort_by(|(_, a), (_, b)| b.dollars.partial_cmp(&a.dollars).unwrap_or(Ordering::Equal));
    }
    let lines = rows
        .iter()
        .map(|(word, bill)| row(Label::Text.quote(word), bill));
    let total = row(Label::Strong.of("total"), &Bill::of(&replies));
    let heading = ["", "replies", "input", "", "output", "cost"];
    let heading = heading.map(|word| Label::Dim.of(word)).to_vec();
    let heading = app.ui.is_terminal().then_some(heading);
    let lines: Vec<Vec<Line>> = heading.into_iter().chain(lines).chain([total]).collect();
    app.ui
        .print_all(table::list(lines, &[1, 2, 3, 4, 5], None))?;
    app.ui.notice(format!("list prices of {list}"));
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

/// The session that a reply counts with.
fn session(reply: &BilledReply) -> String {
    let Some((tool, id)) = reply.session.as_ref().and_then(RefName::as_session) else {
        return "(no session)".to_owned();
    };
    // A sub-agent, and what was taken back, stand below the session.
    let root = id.split('/').next().unwrap_or(id);
    let name = format!("{}{tool}/{root}", RefName::SESSIONS);
    name.parse()
        .map_or(name, |name| listing::shown_name(&name, true))
}

fn day(reply: &BilledReply, calendar: &Calendar) -> String {
    reply
        .time
        .map_or_else(|| "(no time)".to_owned(), |time| calendar.date(time))
}

fn row(head: Line, bill: &Bill) -> Vec<Line> {
    let usage = &bill.usage;
    let share = (usage.cached_tokens * 100).checked_div(usage.input_tokens);
    vec![
        head,
        Line::from(format!("{}", bill.replies)),
        Label::Tokens.of(rounded(usage.input_tokens)),
        Line::from(format!("{}% cached", share.unwrap_or(0))),
        Label::Tokens.of(rounded(usage.output_tokens)),
        Line::from(dollars(bill)),
    ]
}

/// What a bill comes to; what has no price is not taken for nothing.
fn dollars(bill: &Bill) -> String {
    let sum = money(bill.dollars);
    match bill.unpriced {
        0 => sum,
        all if all == bill.replies => "no price".to_owned(),
        _ => format!("{sum} and more"),
    }
}
