//! Prices, for people: the list that is meant, amounts of money, and what was counted for them.

use std::path::Path;
use std::time::UNIX_EPOCH;

use tract::deeds::{CostRow, MoneyBudget};
use tract::model::price::{LIST, Prices};
use tract::model::{Millis, Usage};
use tract::query::{Bill, BillShare, BilledReply, ShortOutputs, Unlisted, unlisted};
use tract::render::{Label, Line, grouped, plural, rounded};
use tract::repo::Repo;

use crate::cli::machine::input;
use crate::cli::{App, Result};

/// The prices that are meant, and where they are from.
pub fn prices(repo: &Repo, app: &App) -> Result<(Prices, String)> {
    let config = repo.config()?;
    let names = config.model_names()?;
    let Some(path) = config.get("prices.file") else {
        return Ok((Prices::listed().named(names), LIST.to_owned()));
    };
    let list = input::read(app, Path::new(path));
    let read = list.and_then(|list| Ok(Prices::read(list.as_bytes())?));
    let hint = "tract config --unset prices.file goes back to the list that comes along";
    let read = read.map_err(|failure| failure.with_hint(hint))?;
    // The list itself bears no date.
    let written = std::fs::metadata(path)
        .and_then(|file| file.modified())
        .ok();
    let written = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let written = written.and_then(|age| i64::try_from(age.as_millis()).ok());
    let day = written.map(|time| format!(" of {}", app.calendar().date(Millis(time))));
    Ok((
        read.named(names),
        path.to_owned() + &day.unwrap_or_default(),
    ))
}

/// What replies come to, of which some have no price, or were counted for too little; that is not taken for nothing.
pub fn cost_of(bill: &Bill) -> String {
    let is_short = bill.short.replies > 0;
    cost_of_some(bill.dollars, bill.unpriced, is_short, bill.replies)
}

/// The same of a row.
pub fn cost_of_row(row: &CostRow) -> String {
    cost_of_some(
        row.dollars,
        row.unpriced,
        row.short_outputs > 0,
        row.replies,
    )
}

/// The same of a part of what requests came to.
pub fn cost_of_share(share: &BillShare) -> String {
    cost_of_some(share.dollars(), share.unpriced(), false, share.requests())
}

fn cost_of_some(sum: f64, unpriced: u64, is_short: bool, replies: u64) -> String {
    match unpriced {
        0 if !is_short => money(sum),
        all if all > 0 && (all == replies || replies == 0 && sum == 0.0) => "no price".to_owned(),
        _ => format!("{} and more", money(sum)),
    }
}

/// Output of replies, in tokens, some of which say more than was counted.
pub fn output_of(tokens: u64, short_outputs: u64) -> String {
    match short_outputs {
        0 => rounded(tokens),
        _ => format!("≥{}", rounded(tokens)),
    }
}

/// The days of a budget.
pub fn period(budget: &MoneyBudget) -> &'static str {
    match budget.setting {
        "budget.day" => "today",
        _ => "this month",
    }
}

/// Where a budget holds, where it is of a directory.
pub fn place(budget: &MoneyBudget) -> Line {
    match &budget.directory {
        None => Line::new(),
        Some(directory) => Line::from(" in ") + Label::Text.quote(directory),
    }
}

/// How a budget stands: `$3.20 of $5.00 (64%)`.
pub fn spent(budget: &MoneyBudget) -> String {
    let [spent, limit] = [budget.spent_dollars, budget.limit_dollars].map(money);
    let share = (budget.spent_dollars / budget.limit_dollars * 100.0).floor();
    let unpriced = match budget.unpriced {
        0 => String::new(),
        replies => format!(", and {} without a price", plural(replies, "reply")),
    };
    let short = match budget.short_outputs {
        0 => String::new(),
        replies => format!(
            ", at least: {} recorded with less output than the text has",
            plural(replies, "reply")
        ),
    };
    format!("{spent} of {limit} ({share}%){unpriced}{short}")
}

/// What a stretch of time leaves out, and what it costs.
pub fn without_time(replies: u64, cost: Option<&str>) -> String {
    let cost = cost.map_or_else(String::new, |cost| format!(" ({cost})"));
    format!(
        "left out: {} without a time{cost}",
        plural(replies, "reply")
    )
}

/// What a budget cannot tell of its day or month.
pub fn untimed(budget: &MoneyBudget) -> String {
    match budget.untimed {
        0 => String::new(),
        replies => {
            let cost = money(budget.untimed_dollars);
            format!("; {}", without_time(replies, Some(&cost)))
        }
    }
}

/// What the list does not have of these replies, each with what is said of it.
pub fn untiered<'r>(
    replies: impl IntoIterator<Item = &'r BilledReply> + Clone,
    prices: &Prices,
) -> Vec<String> {
    let short = ShortOutputs::of(replies.clone());
    let said = unlisted(replies, prices).into_iter();
    let said = said.map(|(what, count)| match what {
        Unlisted::Way(what, word) => {
            let way = Line::from(format!("{what} '")) + Label::Text.quote(&word);
            let replies = plural(count, "reply");
            way + format!("' has no price in the list; standard price used for {replies}")
        }
        Unlisted::Count(name) => {
            let count = Line::from(format!("not priced: {} ", grouped(count)));
            count + Label::Text.quote(&name) + ", which the list does not have"
        }
    });
    let said = said.map(|line| line.text());
    said.chain(short.map(|short| short_words(&short))).collect()
}

/// That replies were counted for less output than they say.
fn short_words(short: &ShortOutputs) -> String {
    let replies = plural(short.replies, "reply");
    let tokens = plural(short.tokens, "token");
    let estimate = match short.dollars > 0.0 {
        true => format!("{tokens}, {}", money(short.dollars)),
        false => tokens,
    };
    format!(
        "{replies} recorded with less output than the text has, and priced so; by tract's count about {estimate} more"
    )
}

/// What a provider counted for a reply.
pub fn usage_words(usage: &Usage) -> String {
    let words = |parts: &[(u64, &str)]| {
        let parts = parts.iter().filter(|(tokens, _)| *tokens > 0);
        let parts: Vec<String> = parts
            .map(|(tokens, what)| format!("{} {what}", grouped(*tokens)))
            .collect();
        if parts.is_empty() {
            String::new()
        } else {
            format!(" ({})", parts.join(", "))
        }
    };
    let minutes = usage
        .written_tokens
        .saturating_sub(usage.written_hour_tokens);
    let cached = words(&[
        (usage.cached_tokens, "from the cache"),
        (minutes, "written to it"),
        (usage.written_hour_tokens, "written to it for an hour"),
    ]);
    let reasoned = words(&[(usage.reasoning_tokens, "reasoning")]);
    let (input, output) = (grouped(usage.input_tokens), grouped(usage.output_tokens));
    format!("{input} input{cached}, {output} output{reasoned}")
}

/// US dollars, with cents of a cent where it is less than one.
pub fn money(sum: f64) -> String {
    if sum > 0.0 && sum < 0.000_05 {
        "<$0.0001".to_owned()
    } else if sum > 0.0 && sum < 0.01 {
        format!("${sum:.4}")
    } else {
        format!("${sum:.2}")
    }
}
