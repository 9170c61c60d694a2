//! `tract cost --misses`: what caches had of each request, and why not more.

use tract::deeds::MissSum;
use tract::ingest::{CachedReply, MissCause, Misses};
use tract::model::price::Prices;
use tract::render::{Calendar, Label, Line, plot, plural, rounded, table};

use super::Args;
use crate::cli::drawing::bill::{cause, kind, lacking, session};
use crate::cli::drawing::listing::ROOMY;
use crate::cli::drawing::prices::{money, untiered};
use crate::cli::{App, Result};

/// The columns that are aligned to the right.
const RIGHT: [usize; 5] = [3, 4, 5, 6, 7];
/// Those that are left out where there is little room: what was read from the cache, and what was written to it.
const ROOMY_ALONE: [usize; 2] = [4, 5];

/// Prints a row for each of these replies, and what they come to.
pub fn tell(args: &Args, found: &Misses, prices: &Prices, list: &str, app: &mut App) -> Result<()> {
    causes(found, app)?;
    let calendar = app.calendar();
    let first = &found.replies[0].reply.session;
    let is_one = found.replies.iter().all(|row| row.reply.session == *first);
    let heading = [
        "", "", "", "input", "cached", "written", "missed", "cost", "why",
    ];
    let heading = heading.map(|word| Label::Dim.of(word)).to_vec();
    let worst = args.worst(&found.replies);
    let left = found.replies.len() - worst.len();
    let rows = worst.iter().map(|row| cells(row, is_one, &calendar));
    let rows: Vec<Vec<Line>> = std::iter::once(heading)
        .chain(rows)
        .chain([total(found)])
        .collect();
    let width = app.ui.width_cols();
    let is_roomy = width.is_none_or(|width| width >= ROOMY);
    let shown = |row: Vec<Line>| -> Vec<Line> {
        let cells = row.into_iter().enumerate();
        let is_shown = |at: &usize| is_roomy || !ROOMY_ALONE.contains(at);
        cells
            .filter(|(at, _)| is_shown(at))
            .map(|(_, cell)| cell)
            .collect()
    };
    let rows = rows.into_iter().map(shown).collect();
    let right = if is_roomy { &RIGHT[..] } else { &RIGHT[..3] };
    app.ui.print_all(table::list(rows, right, width))?;
    if left > 0 {
        let left = plural(left as u64, "reply");
        app.ui
            .notice(format!("{left} left out; -n 0 tells all in their order"));
    }
    if app.ui.is_terminal() && is_one {
        plots(found, app)?;
    }
    app.ui.notice(format!("list prices of {list}"));
    for said in untiered(found.replies.iter().map(|row| &row.reply), prices) {
        app.ui.notice(said);
    }
    let unpriced = found.replies.iter().filter(|row| row.missed_tokens > 0);
    let unpriced = unpriced.filter(|row| row.missed_dollars.is_none()).count();
    if unpriced > 0 {
        let misses = plural(unpriced as u64, "miss");
        app.ui
            .notice(format!("{misses} without a price: tract cost --by model"));
    }
    if found.uncounted > 0 {
        let replies = plural(found.uncounted, "reply");
        app.ui
            .notice(format!("{replies} left out: no request has such counts"));
    }
    let is_odd = |row: &&CachedReply| matches!(&row.cause, Some(MissCause::Said { said, .. }) if said.is_odd);
    let odd = found.replies.iter().filter(is_odd).count() as u64;
    if odd > 0 {
        let counts = plural(odd, "number");
        app.ui.notice(format!(
            "{counts} of missed tokens left out: no request has so many"
        ));
    }
    for said in lacking(found) {
        app.ui.notice(said);
    }
    Ok(())
}

/// What each cause comes to.
fn causes(found: &Misses, app: &mut App) -> Result<()> {
    let rows = MissSum::all(&found.replies).into_iter().map(|sum| {
        vec![
            Label::Text.of(kind(sum.kind)),
            plural(sum.misses, "miss").into(),
            Label::Tokens.of(rounded(sum.missed_tokens)),
            money(sum.missed_dollars).into(),
        ]
    });
    let rows: Vec<Vec<Line>> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    app.ui.print_all(table::lines(rows, &[1, 2, 3]))?;
    app.ui.print("")?;
    Ok(())
}

fn cells(row: &CachedReply, is_one: bool, calendar: &Calendar) -> Vec<Line> {
    let reply = &row.reply;
    let missed = match row.missed_tokens {
        0 => Line::from("0"),
        missed => Label::Warning.of(rounded(missed)),
    };
    let whose = if is_one {
        String::new()
    } else {
        session(reply)
    };
    vec![
        Label::Hash.of(reply.commit.short()),
        Label::Time.of(calendar.listed(reply.time)),
        Label::Session.quote(&whose),
        Label::Tokens.of(rounded(reply.usage.input_tokens)),
        Line::from(rounded(reply.usage.cached_tokens)),
        Line::from(rounded(reply.usage.written_tokens)),
        missed,
        cost(row),
        row.cause.as_ref().map(cause).unwrap_or_default(),
    ]
}

fn cost(row: &CachedReply) -> Line {
    match row.missed_dollars {
        _ if row.missed_tokens == 0 => Line::new(),
        Some(dollars) => money(dollars).into(),
        None => "no price".into(),
    }
}

fn total(found: &Misses) -> Vec<Line> {
    let sum = |number: fn(&CachedReply) -> u64| {
        let all = found.replies.iter().map(number);
        rounded(all.fold(0, u64::saturating_add))
    };
    let missed = found.replies.iter().filter(|row| row.missed_tokens > 0);
    let dollars = found.replies.iter().filter_map(|row| row.missed_dollars);
    let dollars = dollars.fold(0.0, |sum, dollars| sum + dollars);
    vec![
        Label::Strong.of("total"),
        Line::new(),
        Line::new(),
        Label::Tokens.of(sum(|row| row.reply.usage.input_tokens)),
        Line::from(sum(|row| row.reply.usage.cached_tokens)),
        Line::from(sum(|row| row.reply.usage.written_tokens)),
        Line::from(sum(|row| row.missed_tokens)),
        Line::from(money(dollars)),
        Line::from(plural(missed.count() as u64, "miss")),
    ]
}

/// A line of blocks for the context, and one for what of it the cache had.
fn plots(found: &Misses, app: &mut App) -> Result<()> {
    let of = |number: fn(&CachedReply) -> u64| found.replies.iter().map(number).collect();
    let lines: [(&str, Vec<u64>); 3] = [
        ("context", of(|row| row.reply.usage.input_tokens)),
        ("cached", of(|row| row.reply.usage.cached_tokens)),
        ("missed", of(|row| row.missed_tokens)),
    ];
    let most = lines[0].1.iter().copied().max().unwrap_or(0);
    let ends = format!("  {} at most", rounded(most));
    let width = app.ui.wrap_cols().saturating_sub(8 + ends.len()).max(20);
    app.ui.print("")?;
    for (name, values) in lines {
        let end = if name == "context" {
            ends.clone()
        } else {
            String::new()
        };
        let drawn = plot(&values, most, width);
        app.ui
            .print(Label::Dim.of(format!("{name:8}")) + Label::Tokens.of(drawn) + end)?;
    }
    Ok(())
}
