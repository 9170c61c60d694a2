//! Budgets of money: what a day and a month may cost, what they have cost, and what the month comes to if days go on
//! like those before.

use std::collections::HashMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use schemars::JsonSchema;
use serde::Serialize;

use super::CostRow;
use super::list::OTHER_REQUESTS;
use crate::deeds::facts::is_zero;
use crate::deeds::{ApiError, At};
use crate::ingest::{project_of, projects_of};
use crate::model::Millis;
use crate::query::{Bill, BilledReply, OthersOf};
use crate::repo::MoneyLimit;

/// How many days before today a forecast goes by.
const DAYS: i64 = 28;
/// How many standard deviations from the middle four of five of all sums are.
const FOUR_OF_FIVE: f64 = 1.2816;

/// What a day or a month may cost, and what it has cost.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MoneyBudget {
    /// The setting: `budget.day` or `budget.month`.
    pub setting: &'static str,
    /// The directory of which it is, with its worktrees and the folders in it; none: of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// What it may cost, in US dollars.
    pub limit_dollars: f64,
    /// What it has cost so far, in US dollars.
    pub spent_dollars: f64,
    /// How many of its replies have no price. They are not in the sum.
    pub unpriced: u64,
    /// How many were counted for less output than they say: the sum is at least this.
    #[serde(skip_serializing_if = "is_zero")]
    pub short_outputs: u64,
    /// How many replies have no time: what they cost may be of this day or month, and is not in the sum. A stream
    /// may name none; one that is recorded has the time of that.
    #[serde(skip_serializing_if = "is_zero")]
    pub untimed: u64,
    /// What those cost, in US dollars.
    #[serde(skip_serializing_if = "is_nothing")]
    pub untimed_dollars: f64,
}

impl MoneyBudget {
    /// Whether more was spent.
    pub fn is_over(&self) -> bool {
        self.spent_dollars > self.limit_dollars
    }
}

/// What a month comes to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MonthForecast {
    /// In US dollars, if the days that are left cost what the last 28 days cost on average.
    pub dollars: f64,
    /// The least, in US dollars: in one of ten months it is less.
    pub least_dollars: f64,
    /// The most, in US dollars: in one of ten months it is more.
    pub most_dollars: f64,
}

/// How budgets of money stand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Spending {
    /// Those that are set.
    pub budgets: Vec<MoneyBudget>,
    /// What requests came to that no reply shows: nobody says on which day, and they are in no budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_requests: Option<CostRow>,
    /// What this month comes to; none where fewer than three days before today are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<MonthForecast>,
}

impl Spending {
    /// Without budgets of directories that a directory is not in.
    pub fn of_directory(mut self, directory: Option<&str>) -> Self {
        if let Some(here) = directory.map(project_of) {
            let is_here = |budget: &MoneyBudget| {
                let of = budget.directory.as_deref();
                of.is_none_or(|of| is_in(&here, &project_of(of)))
            };
            self.budgets.retain(is_here);
        }
        self
    }

    /// Whether any budget is exceeded.
    pub fn is_over(&self) -> bool {
        self.budgets.iter().any(MoneyBudget::is_over)
    }
}

/// How the budgets of the repository stand that `budget.day` and `budget.month` set; none where neither is set.
///
/// # Errors
///
/// Where a setting is no amount; the store's.
pub fn spending(at: &At<'_>) -> Result<Option<Spending>, ApiError> {
    let limits = at.repo.config()?.money_limits()?;
    if limits.is_empty() {
        return Ok(None);
    }
    let billing = at.repo.billing(&super::prices(at.repo)?)?;
    let (others, _) = billing.other_requests(OthersOf::All);
    let spending = spent(&billing.replies, &limits, at.host.now(), &at.host.zone());
    Ok(Some(Spending {
        other_requests: (others.bill != Bill::default())
            .then(|| CostRow::of(OTHER_REQUESTS.to_owned(), &others.bill)),
        ..spending
    }))
}

fn spent(replies: &[BilledReply], limits: &[MoneyLimit], now: Millis, zone: &TimeZone) -> Spending {
    let date = |time: Millis| {
        let stamp = Timestamp::from_millisecond(time.0).ok()?;
        Some(stamp.to_zoned(zone.clone()).date())
    };
    let Some(today) = date(now) else {
        return Spending::default();
    };
    let dated = replies.iter().filter_map(|reply| {
        let day = reply.time.and_then(date).filter(|day| *day <= today)?;
        Some((day, reply))
    });
    let dated: Vec<(Date, &BilledReply)> = dated.collect();
    let sum_of = |is_wanted: &dyn Fn(Date, &BilledReply) -> bool| {
        let wanted = dated.iter().filter(|(day, reply)| is_wanted(*day, reply));
        Bill::of(wanted.map(|(_, reply)| *reply))
    };
    let sum = |is_wanted: &dyn Fn(Date) -> bool| sum_of(&|day, _| is_wanted(day)).dollars;
    let projects = match limits.iter().any(|limit| limit.directory.is_some()) {
        true => projects_of(replies.iter().filter_map(|it| it.directory.as_deref())),
        false => HashMap::new(),
    };
    let is_this_month = |day: Date| day >= today.first_of_month();
    let budgets = limits.iter().map(|limit| {
        let project = limit.directory.as_deref().map(project_of);
        let is_meant = |reply: &BilledReply| {
            let Some(project) = &project else { return true };
            let own = reply.directory.as_ref();
            own.and_then(|it| projects.get(it))
                .is_some_and(|own| is_in(own, project))
        };
        let is_day = limit.setting == "budget.day";
        let bill = sum_of(&|day, reply| match is_day {
            true => day == today && is_meant(reply),
            false => is_this_month(day) && is_meant(reply),
        });
        let untimed = replies.iter().filter(|it| it.time.is_none());
        let untimed = Bill::of(untimed.filter(|it| is_meant(it)));
        MoneyBudget {
            setting: limit.setting,
            directory: limit.directory.clone(),
            limit_dollars: limit.dollars,
            spent_dollars: bill.dollars,
            unpriced: bill.unpriced,
            short_outputs: bill.short.replies,
            untimed: untimed.replies,
            untimed_dollars: untimed.dollars,
        }
    });
    let first = dated.iter().map(|(day, _)| *day).min();
    let before = (1..=DAYS).filter_map(|back| today.checked_sub(back.days()).ok());
    let before = before.filter(|day| first.is_some_and(|first| *day >= first));
    let before: Vec<f64> = before.map(|day| sum(&|other| other == day)).collect();
    Spending {
        budgets: budgets.collect(),
        other_requests: None,
        forecast: forecast(
            sum(&is_this_month),
            &before,
            today.days_in_month() - today.day(),
        ),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_nothing(dollars: &f64) -> bool {
    *dollars == 0.0
}

/// Whether a directory is another one, or in it.
fn is_in(directory: &str, other: &str) -> bool {
    let below = directory.strip_prefix(other);
    below.is_some_and(|below| below.is_empty() || other.ends_with('/') || below.starts_with('/'))
}

/// From how many days on something can be said of the next.
const DAYS_LEAST: usize = 3;

/// What a month comes to that has cost so much, by what days before cost, with so many days left.
fn forecast(spent: f64, before: &[f64], left: i8) -> Option<MonthForecast> {
    if before.len() < DAYS_LEAST {
        return None;
    }
    let (days, left) = (before.len() as f64, f64::from(left));
    let mean = before.iter().sum::<f64>() / days;
    let squares = before.iter().map(|dollars| (dollars - mean).powi(2));
    let deviation = (squares.sum::<f64>() / (days - 1.0).max(1.0)).sqrt();
    let (dollars, margin) = (spent + mean * left, FOUR_OF_FIVE * deviation * left.sqrt());
    Some(MonthForecast {
        dollars,
        least_dollars: (dollars - margin).max(spent),
        most_dollars: dollars + margin,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_goes_on_as_the_days_before_went() {
        assert_eq!(forecast(9.0, &[2.0, 2.0], 10), None);
        let steady = forecast(9.0, &[2.0; 5], 10).expect("a forecast");
        assert_eq!(
            (steady.dollars, steady.least_dollars, steady.most_dollars),
            (29.0, 29.0, 29.0)
        );
        let uneven = forecast(9.0, &[0.0, 4.0, 0.0, 4.0], 4).expect("a forecast");
        assert_eq!(uneven.dollars, 17.0);
        // Less than was spent already it cannot be.
        assert!(uneven.most_dollars > 22.0 && uneven.least_dollars >= 9.0);
        let margin = uneven.most_dollars - uneven.dollars;
        assert!((uneven.least_dollars - (17.0 - margin)).abs() < 1e-9);
        let none_left = forecast(9.0, &[0.0, 4.0, 2.0], 0).expect("a forecast");
        assert_eq!(
            (none_left.least_dollars, none_left.most_dollars),
            (9.0, 9.0)
        );
    }
}
