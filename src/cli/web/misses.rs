//! What caches had of requests, and why not more: plots over requests and days, and the reasons.

use std::collections::BTreeMap;

use tract::ingest::{CachedReply, MissCause, Misses};
use tract::render::html::{CostPlot, CostTable, PlotBar, TableRow};
use tract::render::{Calendar, grouped, plural, rounded};

use crate::cli::drawing::bill;
use crate::cli::drawing::prices::money;

/// How many requests stand in the table of one conversation.
const REQUESTS: usize = 2_000;

/// What was missed in all.
pub fn sum(replies: &[CachedReply]) -> String {
    let missed = replies.iter().filter(|row| row.missed_tokens > 0);
    let (count, tokens) = missed.fold((0, 0_u64), |(count, sum), row| {
        (count + 1, sum.saturating_add(row.missed_tokens))
    });
    let dollars: f64 = replies.iter().filter_map(|row| row.missed_dollars).sum();
    let (misses, tokens) = (plural(count, "miss"), rounded(tokens));
    format!("{misses}, {tokens} tokens, {}", money(dollars))
}

/// A bar for each request of a conversation.
pub fn of_requests(found: &Misses, calendar: &Calendar) -> CostPlot {
    let rows = &found.replies[found.replies.len().saturating_sub(REQUESTS)..];
    let bar = |row: &CachedReply| {
        let cause = row.cause.as_ref().map(bill::cause);
        PlotBar {
            name: format!(
                "{} {}",
                row.reply.commit.short(),
                calendar.listed(row.reply.time)
            ),
            at: row.reply.time.map(|time| (time.0, calendar.absolute(time))),
            more: vec![
                row.missed_dollars
                    .filter(|_| row.missed_tokens > 0)
                    .map_or_else(String::new, |dollars| format!("{} missed", money(dollars))),
                cause.map_or_else(String::new, |cause| cause.text()),
            ],
            ..cached_bar(std::slice::from_ref(row))
        }
    };
    CostPlot {
        title: "The context of each request, in tokens, and what the cache had of it".to_owned(),
        parts: parts(),
        unit: tokens,
        heading: "request",
        bars: rows.iter().map(bar).collect(),
    }
}

/// A bar for each day.
pub fn of_days(found: &Misses, calendar: &Calendar) -> CostPlot {
    let mut days: BTreeMap<String, Vec<CachedReply>> = BTreeMap::new();
    for row in found.replies.iter().filter(|row| row.reply.time.is_some()) {
        let day = bill::day(&row.reply, calendar);
        days.entry(day).or_default().push(row.clone());
    }
    let all = bill::between(days.keys().map(String::as_str));
    let bar = |day: String| {
        let rows = days.get(&day).map_or(&[][..], Vec::as_slice);
        PlotBar {
            more: vec![plural(rows.len() as u64, "request")],
            name: day,
            ..cached_bar(rows)
        }
    };
    CostPlot {
        title: "What caches had of the requests of each day, in tokens".to_owned(),
        parts: parts(),
        unit: tokens,
        heading: "day",
        bars: all.into_iter().map(bar).collect(),
    }
}

fn parts() -> Vec<(String, &'static str)> {
    let parts = PARTS.iter();
    parts
        .map(|(word, class)| ((*word).to_owned(), *class))
        .collect()
}

/// A height as people read it.
fn tokens(height: f64) -> String {
    rounded(height.round() as u64)
}

/// What a request is made of, to a cache.
const PARTS: [(&str, &str); 3] = [
    ("read from the cache", "cached"),
    ("missed", "missed"),
    ("new", "rest"),
];

/// A bar without a name of what caches had of these requests.
fn cached_bar(rows: &[CachedReply]) -> PlotBar {
    let sum = |number: fn(&CachedReply) -> u64| {
        let all = rows.iter().map(number);
        all.fold(0, u64::saturating_add)
    };
    let (input, read) = (
        sum(|row| row.reply.usage.input_tokens),
        sum(|row| row.reply.usage.cached_tokens),
    );
    let missed = sum(|row| row.missed_tokens).min(input.saturating_sub(read));
    let parts = [read, missed, input.saturating_sub(read + missed)];
    PlotBar {
        name: String::new(),
        link: None,
        at: None,
        heights: parts.map(|tokens| tokens as f64).to_vec(),
        words: parts.map(rounded).to_vec(),
        more: Vec::new(),
    }
}

/// Why caches missed what they missed, the most expensive reason first.
pub fn causes(replies: &[CachedReply]) -> CostTable {
    let mut causes: BTreeMap<String, (u64, u64, f64)> = BTreeMap::new();
    for row in replies.iter().filter(|row| row.missed_tokens > 0) {
        let (count, tokens, dollars) = causes.entry(kind(row)).or_default();
        *count += 1;
        *tokens = tokens.saturating_add(row.missed_tokens);
        *dollars += row.missed_dollars.unwrap_or(0.0);
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, (_, tokens, _))| std::cmp::Reverse(*tokens));
    let row = |(name, (count, tokens, dollars)): (String, (u64, u64, f64))| TableRow {
        name,
        id: None,
        link: None,
        length: tokens as f64,
        cells: vec![rounded(tokens), money(dollars), grouped(count)],
    };
    CostTable {
        title: "Why caches missed what they were given before".to_owned(),
        heading: vec!["missed", "cost", "requests"],
        rows: causes.into_iter().map(row).collect(),
    }
}

/// A reason without what is only of one request.
fn kind(row: &CachedReply) -> String {
    match &row.cause {
        Some(MissCause::Said { said, .. }) => format!("provider: {}", said.reason),
        Some(cause @ MissCause::Changed { verb, .. }) => {
            format!("{}: {verb}", bill::kind(cause.kind()))
        }
        cause => bill::kind(cause.as_ref().map_or("", MissCause::kind)).to_owned(),
    }
}
