//! What replies have cost, and what caches had of their requests: all of them, or those of one conversation.

use std::collections::BTreeMap;

use tract::deeds::CostRow;
use tract::model::price::Prices;
use tract::model::{Encoding, Millis};
use tract::query::{Bearer, Bill, BilledReply, OtherRequests, OthersOf, bills, bills_by_model};
use tract::render::calendar::Edge;
use tract::render::html::{
    CalendarDay, CostCalendar, CostPage, CostPlot, CostTable, CostView, PlotBar, TableRow,
};
use tract::render::{Calendar, grouped, plural, rounded};
use tract::repo::Repo;

use super::listing::title_of;
use super::site::Opened;
use super::{Answer, Asked, Site, misses, segment, session_address};
use crate::cli::drawing::bill::{self, NOBODY};
use crate::cli::drawing::prices::{
    cost_of, cost_of_share, money, output_of, prices, untiered, without_time,
};
use crate::cli::{App, Failure, Result, moment};

/// How many rows a table has; others are one row.
const ROWS: usize = 20;
/// The classes of models in a plot, the dearest first.
const MODELS: [&str; 5] = ["m0", "m1", "m2", "m3", "m4"];
/// The views of costs: the word in the address, and what it is called.
const VIEWS: [(&str, &str); 3] = [("", "Cost"), ("tool", "By tool"), ("cache", "Cache")];
/// From when on: the word in the address, and what it is called.
pub const TIMES: [(&str, &str); 4] = [
    ("", "All"),
    ("30d", "30 days"),
    ("7d", "7 days"),
    ("1d", "One day"),
];

/// What is looked at.
struct Costs<'a> {
    repo: &'a Repo,
    app: &'a App,
    calendar: Calendar,
    prices: Prices,
    /// Whose prices.
    list: String,
    /// Where it ends, where only one conversation is looked at.
    opened: Option<&'a Opened<'a>>,
    since: Option<Millis>,
}

/// The page of what replies cost.
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
    let (prices, list) = prices(repo, app)?;
    let calendar = app.calendar();
    let costs = Costs {
        repo,
        app,
        since: moment::read(&calendar, asked.value("since"), Edge::Start)?,
        calendar,
        prices,
        list,
        opened,
    };
    let shown = match asked.value("by") {
        None => costs.overview(site, asked)?,
        Some("tool") => costs.tools()?,
        Some("cache") => costs.cache()?,
        Some(other) => {
            return Err(Failure::usage(format!(
                "there is no view '{other}' of costs"
            )));
        }
    };
    let title = match opened {
        Some(opened) => format!("Cost of {}", opened.id),
        None => "Cost".to_owned(),
    };
    let views = [
        views("cost", asked, "by", &VIEWS),
        views("cost", asked, "since", &TIMES),
    ];
    let page = CostPage {
        title: &title,
        facts: &shown.facts,
        views: &views,
        over_time: &shown.over_time,
        calendar: shown.calendar.as_ref(),
        tables: &shown.tables,
        notes: &shown.notes,
    };
    Ok(Answer::page(tract::render::html::costs(
        &site.frame(asked),
        &page,
    )))
}

/// The other values that something in the address may have.
pub fn views(page: &str, asked: &Asked, name: &str, all: &[(&str, &str)]) -> Vec<CostView> {
    let view = |(value, word): &(&str, &str)| {
        let kept = ["id", "by", "since"].into_iter();
        let pairs = kept.filter_map(|key| {
            let value = if key == name {
                Some(*value)
            } else {
                asked.value(key)
            };
            let value = value.filter(|value| !value.is_empty())?;
            Some(format!("{key}={}", segment(value)))
        });
        let pairs: Vec<String> = pairs.collect();
        CostView {
            word: (*word).to_owned(),
            address: format!("{page}?{}", pairs.join("&")),
            is_here: asked.value(name).unwrap_or_default() == *value,
        }
    };
    all.iter().map(view).collect()
}

/// What stands on the page.
#[derive(Default)]
struct Told {
    facts: Vec<String>,
    over_time: Vec<CostPlot>,
    calendar: Option<CostCalendar>,
    tables: Vec<CostTable>,
    notes: Vec<String>,
}

impl Costs<'_> {
    fn is_wanted(&self, reply: &BilledReply) -> bool {
        let is_after = |since: Millis| reply.time.is_some_and(|time| time >= since);
        self.since.is_none_or(is_after)
    }

    /// What a stretch of time leaves out of these.
    fn untimed<'r>(&self, replies: impl IntoIterator<Item = &'r BilledReply>) -> Option<String> {
        self.since?;
        let untimed = replies.into_iter().filter(|reply| reply.time.is_none());
        let untimed = Bill::of(untimed);
        let said = || without_time(untimed.replies, Some(&cost_of(&untimed)));
        (untimed.replies > 0).then(said)
    }

    /// By day, session, model, directory and program.
    fn overview(&self, site: &Site, asked: &Asked) -> Result<Told> {
        let (mut replies, others, is_without) = self.billed()?;
        let untimed = self.untimed(&replies);
        replies.retain(|reply| self.is_wanted(reply));
        let mut told = self.sums(&replies, &others.bill);
        for (model, tokens) in &others.unpriced {
            let tokens = grouped(*tokens);
            told.notes.push(format!(
                "Other requests without a price: {tokens} tokens of {model}."
            ));
        }
        if is_without {
            let what = "Without requests that no reply shows: nobody says when they were made.";
            told.notes.push(what.to_owned());
        }
        told.notes.extend(untimed);
        told.over_time.extend(self.days(&replies));
        match self.opened {
            Some(opened) => {
                let mut found = tract::ingest::misses(self.repo, Some(&opened.tip), &self.prices)?;
                found.replies.retain(|row| self.is_wanted(&row.reply));
                if !found.replies.is_empty() {
                    told.facts.push(misses::sum(&found.replies));
                    told.over_time
                        .insert(0, misses::of_requests(&found, &self.calendar));
                }
            }
            None => told.calendar = self.year(&replies),
        }
        let agents = self.opened.is_some();
        let of = if agents {
            bill::whole_agent
        } else {
            bill::whole_session
        };
        let title = if agents { "By sub-agent" } else { "By session" };
        let mut sessions = table(title, &replies, of);
        // A part of what nobody imported has no page of its own.
        let is_kept = self.opened.is_none_or(Opened::is_kept);
        let encoding = self.app.encoding(self.repo)?;
        name(
            site,
            asked,
            (self.repo, encoding),
            is_kept,
            &mut sessions.rows,
        )?;
        told.tables = vec![sessions, table("By model", &replies, bill::model)];
        if !agents {
            told.tables.extend([
                table("By directory", &replies, bill::directory),
                table("By program", &replies, bill::client),
            ]);
        }
        told.tables.retain(|table| table.rows.len() > 1 || !agents);
        if others.bill != Bill::default() {
            for table in told.tables.iter_mut().take(2) {
                table.rows.push(bill_row("(other requests)", &others.bill));
            }
        }
        Ok(told)
    }

    /// All replies, what other requests came to, and whether some of those are left out.
    fn billed(&self) -> Result<(Vec<BilledReply>, OtherRequests, bool)> {
        let billing = match self.opened {
            Some(opened) => self.repo.session_billing(&opened.tip, &self.prices)?,
            None => self.repo.billing(&self.prices)?,
        };
        let is_wanted = |reply: &BilledReply| self.is_wanted(reply);
        // What nobody has a reply of has no time, and no page of its own.
        let of = match (self.opened, self.since) {
            (Some(_), _) => OthersOf::Whole(&is_wanted),
            (None, None) => OthersOf::All,
            (None, Some(_)) => OthersOf::OfTime(&is_wanted),
        };
        let (others, is_without) = billing.other_requests(of);
        Ok((billing.replies, others, is_without))
    }

    /// What a page of one path leaves out, though the page of its session has it.
    fn beside(&self) -> Result<Option<String>> {
        let Some(opened) = self.opened else {
            return Ok(None);
        };
        let mut agents = self.repo.billed_agents_beside(&opened.tip, &self.prices)?;
        agents.retain(|reply| self.is_wanted(reply));
        let all = Bill::of(&agents);
        let said = || bill::without_agents(all.replies, Some(&cost_of(&all)));
        Ok((all.replies > 0).then(said))
    }

    /// What all of these replies come to, and what is to be said of their prices.
    fn sums(&self, replies: &[BilledReply], others: &Bill) -> Told {
        let mut bill = Bill::of(replies);
        bill.plus(others);
        let usage = bill.usage;
        let mut told = Told::default();
        if replies.is_empty() {
            told.notes
                .push("No reply here was counted by its provider.".to_owned());
            return told;
        }
        told.facts = vec![
            cost_of(&bill),
            plural(bill.replies, "reply"),
            format!(
                "{} input, {}",
                rounded(usage.input_tokens),
                cached(bill.usage)
            ),
            format!(
                "{} output",
                output_of(usage.output_tokens, bill.short.replies)
            ),
        ];
        told.notes.push(format!("List prices of {}.", self.list));
        told.notes.extend(untiered(replies, &self.prices));
        let unpriced = replies.iter().filter(|reply| reply.dollars.is_none());
        let unpriced: BTreeMap<String, u64> = unpriced.fold(BTreeMap::new(), |mut all, reply| {
            *all.entry(bill::model(reply)).or_default() += 1;
            all
        });
        for (model, count) in unpriced {
            let count = plural(count, "reply");
            told.notes
                .push(format!("{count} without a price, of {model}."));
        }
        told
    }

    /// What each day cost by model, days without replies among them.
    fn days(&self, replies: &[BilledReply]) -> Option<CostPlot> {
        let timed = replies.iter().filter(|reply| reply.time.is_some());
        let timed: Vec<BilledReply> = timed.cloned().collect();
        let mut models: Vec<(String, Bill)> =
            bills_by_model(&timed, bill::model_of).into_iter().collect();
        models.sort_by(|(_, a), (_, b)| b.dollars.total_cmp(&a.dollars));
        let mut parts: Vec<(String, &str)> = models
            .into_iter()
            .map(|(model, _)| model)
            .zip(MODELS)
            .collect();
        let mut by_day: BTreeMap<String, Vec<BilledReply>> = BTreeMap::new();
        for reply in timed {
            let day = bill::day(&reply, &self.calendar);
            by_day.entry(day).or_default().push(reply);
        }
        let days = bill::between(by_day.keys().map(String::as_str));
        let mut is_one_other = false;
        let named = parts.len();
        let bar = |day: String| {
            let replies = by_day.get(&day).map_or(&[][..], Vec::as_slice);
            let bill = Bill::of(replies);
            let of_models = bills_by_model(replies, bill::model_of);
            let of = |model: &str| of_models.get(model).map_or(0.0, |bill| bill.dollars);
            let mut heights: Vec<f64> = parts.iter().map(|(model, _)| of(model)).collect();
            let others = bill.dollars - heights.iter().sum::<f64>();
            is_one_other |= of_models
                .keys()
                .any(|it| parts.iter().all(|(model, _)| model != it));
            heights.push(others.max(0.0));
            PlotBar {
                words: heights.iter().map(|dollars| money(*dollars)).collect(),
                heights,
                more: vec![
                    cost_of(&bill),
                    plural(bill.replies, "reply"),
                    format!("{} input", rounded(bill.usage.input_tokens)),
                ],
                link: None,
                at: None,
                name: day,
            }
        };
        let mut bars: Vec<PlotBar> = days.into_iter().map(bar).collect();
        if is_one_other {
            parts.push(("other models".to_owned(), "m5"));
        } else {
            for bar in &mut bars {
                bar.heights.truncate(named);
                bar.words.truncate(named);
            }
        }
        (!bars.is_empty()).then(|| CostPlot {
            title: "Cost by day and model, in US dollars".to_owned(),
            parts,
            unit: money,
            heading: "day",
            bars,
        })
    }

    /// What each day cost, up to today, where there is more than a week.
    fn year(&self, replies: &[BilledReply]) -> Option<CostCalendar> {
        let timed = replies.iter().filter(|reply| reply.time.is_some());
        let timed: Vec<BilledReply> = timed.cloned().collect();
        let bills = bills(&timed, |reply| bill::day(reply, &self.calendar));
        let today = self.calendar.date(self.calendar.now);
        let ends = bills.keys().map(String::as_str).chain([today.as_str()]);
        let nothing = Bill::default();
        let day = |name: String| {
            let bill = bills.get(&name).unwrap_or(&nothing);
            let cost = cost_of(bill);
            let date = name.parse::<jiff::civil::Date>().ok();
            CalendarDay {
                weekday: date.map_or(0, |it| it.weekday().to_monday_zero_offset() as u8),
                dollars: bill.dollars,
                words: format!("{name}: {cost}, {}", plural(bill.replies, "reply")),
                name,
            }
        };
        let days: Vec<CalendarDay> = bill::between(ends).into_iter().map(day).collect();
        (days.len() > 7).then(|| CostCalendar {
            title: "What each day cost".to_owned(),
            days,
        })
    }

    /// What the results of each tool have cost in the requests that sent them.
    fn tools(&self) -> Result<Told> {
        let encoding = self.app.encoding(self.repo)?;
        let tip = self.opened.map(|opened| &opened.tip);
        let is_wanted = |reply: &BilledReply| self.is_wanted(reply);
        let shares = self.repo.shares(tip, &self.prices, encoding, &is_wanted)?;
        // On a path, other requests are of no message on it.
        let others = match self.opened {
            Some(_) => Bill::default(),
            None => self.billed()?.1.bill,
        };
        let mut told = self.sums(&shares.replies, &others);
        told.notes.extend(self.beside()?);
        if self.since.is_some() {
            told.notes
                .extend(self.untimed(&self.repo.billed(tip, &self.prices)?));
        }
        let found = self.repo.shares_by_tool(&shares, encoding)?;
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by(|(_, (_, a)), (_, (_, b))| b.dollars().total_cmp(&a.dollars()));
        let row = |(bearer, (messages, share)): &(Bearer, _)| {
            let share: &tract::query::BillShare = share;
            let messages: &u64 = messages;
            let name = match bearer {
                Bearer::Tool(name) if name.is_empty() => "(results without a call)".to_owned(),
                Bearer::Tool(name) => name.clone(),
                Bearer::Messages => "(other messages)".to_owned(),
                Bearer::Rest => CostRow::REST.to_owned(),
            };
            TableRow {
                name,
                id: None,
                link: None,
                length: share.dollars(),
                cells: vec![
                    cost_of_share(share),
                    grouped(*messages),
                    rounded(share.usage().input_tokens),
                    cached(share.usage()),
                ],
            }
        };
        let mut rows: Vec<TableRow> = found.iter().map(row).collect();
        if others != Bill::default() {
            let mut row = bill_row("(other requests)", &others);
            row.cells.pop();
            row.cells[1].clear();
            rows.push(row);
        }
        told.tables.push(CostTable {
            title: "What the results of each tool cost in the requests that sent them".to_owned(),
            heading: vec!["cost", "messages", "input", "from a cache"],
            rows,
        });
        Ok(told)
    }

    /// What caches had of each request, what they missed, and why.
    fn cache(&self) -> Result<Told> {
        let tip = self.opened.map(|opened| &opened.tip);
        let mut found = tract::ingest::misses(self.repo, tip, &self.prices)?;
        let untimed = self.untimed(found.replies.iter().map(|row| &row.reply));
        found.replies.retain(|row| self.is_wanted(&row.reply));
        let replies: Vec<BilledReply> = found.replies.iter().map(|it| it.reply.clone()).collect();
        let mut told = self.sums(&replies, &Bill::default());
        told.notes.extend(untimed);
        if found.replies.is_empty() {
            return Ok(told);
        }
        told.facts.push(misses::sum(&found.replies));
        told.over_time.push(match self.opened {
            Some(_) => misses::of_requests(&found, &self.calendar),
            None => misses::of_days(&found, &self.calendar),
        });
        told.tables.push(misses::causes(&found.replies));
        if found.uncounted > 0 {
            let replies = plural(found.uncounted, "reply");
            told.notes
                .push(format!("{replies} left out: no request has such counts."));
        }
        told.notes.extend(bill::lacking(&found));
        told.notes.extend(self.beside()?);
        Ok(told)
    }
}

/// Calls the conversations that rows are of what the list calls them, and leads to them; a part of one where it is kept.
pub fn name(
    site: &Site,
    asked: &Asked,
    (repo, encoding): (&Repo, Encoding),
    is_kept: bool,
    rows: &mut [TableRow],
) -> Result<()> {
    let tips = repo.conversations()?.into_iter();
    let tips: BTreeMap<String, _> = tips.map(|tip| (tip.name.label(), tip)).collect();
    let frame = site.frame(asked);
    for row in rows {
        let Some(tip) = tips.get(&row.name) else {
            continue;
        };
        let is_whole = row.name.matches('/').count() == 1;
        row.link = (is_kept || is_whole).then(|| frame.address(&session_address(&row.name, "")));
        let overviews = site
            .ledger()
            .overviews(repo, std::slice::from_ref(tip), encoding)?;
        if let Some(title) = overviews.first().and_then(Option::as_ref) {
            let id = std::mem::replace(&mut row.name, title_of(title, &tip.name));
            row.id = Some(id);
        }
    }
    Ok(())
}

/// The rows of replies by a word that each has, the most expensive first.
fn table(title: &str, replies: &[BilledReply], word: impl Fn(&BilledReply) -> String) -> CostTable {
    let mut rows: Vec<(String, Bill)> = bills(replies, word).into_iter().collect();
    rows.sort_by(|(_, a), (_, b)| b.dollars.total_cmp(&a.dollars));
    let others = rows.split_off(rows.len().min(ROWS));
    let row = |(name, bill): &(String, Bill)| bill_row(name, bill);
    let mut table = CostTable {
        title: title.to_owned(),
        heading: vec!["cost", "replies", "input", "from a cache", "output"],
        rows: rows.iter().map(row).collect(),
    };
    if !others.is_empty() {
        let mut sum = Bill::default();
        others.iter().for_each(|(_, bill)| sum.plus(bill));
        let name = format!("({})", plural(others.len() as u64, "other"));
        table.rows.push(row(&(name, sum)));
    }
    table
}

/// A row of what some replies come to.
fn bill_row(name: &str, bill: &Bill) -> TableRow {
    TableRow {
        name: if name.is_empty() { NOBODY } else { name }.to_owned(),
        id: None,
        link: None,
        length: bill.dollars,
        cells: vec![
            cost_of(bill),
            grouped(bill.replies),
            rounded(bill.usage.input_tokens),
            cached(bill.usage),
            output_of(bill.usage.output_tokens, bill.short.replies),
        ],
    }
}

/// How much of the input came from a cache.
fn cached(usage: tract::model::Usage) -> String {
    let share = (usage.cached_tokens.saturating_mul(100)).checked_div(usage.input_tokens);
    format!("{}% cached", share.unwrap_or(0))
}
