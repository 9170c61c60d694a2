//! Budgets as they are set: how large a context should get, and what happens when it gets larger.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::model::Encoding;
use crate::model::word::word;

/// The note on the hides that a budget makes: it tells them from those that someone asked for.
pub(crate) const NOTE: &str = "automatic: over budget";

/// How large a context should get, and what happens when it gets larger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The tokens that a context may have, framing included.
    pub max: u64,
    /// The tokens that a truncation leaves, at most `max`.
    pub target: u64,
    /// What happens to an append that goes beyond.
    pub action: BudgetAction,
    /// What happens where that does not keep the budget, in this order.
    pub otherwise: Vec<BudgetAction>,
    /// When anything is hidden or summarised.
    pub when: BudgetWhen,
    /// What tokens are counted in.
    pub encoding: Encoding,
}

/// When a budget has anything hidden or summarised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BudgetWhen {
    /// At once.
    #[default]
    Always,
    /// When the provider's cache no longer has the context, so that nothing is lost there.
    Cold,
}

/// What happens to an append that goes beyond the budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BudgetAction {
    /// It stands, and the caller is told.
    #[default]
    Warn,
    /// It is not made.
    Refuse,
    /// It stands, and the oldest exchanges are hidden in the same operation; where those before the
    /// current turn are not enough, the oldest of that turn as well.
    Truncate,
    /// It stands, and the caller is to prune old tool outputs.
    Prune,
    /// It stands, and the caller is to have this command summarise what is old.
    Compact(String),
}

impl BudgetAction {
    /// Whether it takes something out of the context, and so changes what a cache has.
    pub(crate) const fn makes_room(&self) -> bool {
        matches!(self, Self::Truncate | Self::Prune | Self::Compact(_))
    }
}

impl Budget {
    /// What happens, and what where that does not keep the budget, in this order.
    pub fn actions(&self) -> impl Iterator<Item = &BudgetAction> {
        std::iter::once(&self.action).chain(&self.otherwise)
    }
}

/// What happens to an append that goes beyond the budget, and what where that does not keep it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetActions {
    /// What happens first.
    pub first: BudgetAction,
    /// What happens then, in this order.
    pub others: Vec<BudgetAction>,
}

/// How far a truncation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetTarget {
    /// To so many hundredths of the most.
    Percent(u8),
    /// To so many tokens.
    Tokens(u64),
}

impl BudgetTarget {
    /// The tokens that it stands for under a budget of `max`.
    pub fn of(self, max: u64) -> u64 {
        match self {
            Self::Percent(percent) => {
                let tokens = u128::from(max) * u128::from(percent) / 100;
                u64::try_from(tokens).unwrap_or(max).min(max)
            }
            Self::Tokens(tokens) => tokens.min(max),
        }
    }
}

impl Default for BudgetTarget {
    fn default() -> Self {
        Self::Percent(80)
    }
}

impl fmt::Display for BudgetTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::Tokens(tokens) => write!(f, "{tokens}"),
        }
    }
}

impl FromStr for BudgetTarget {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = match text.strip_suffix('%') {
            Some(percent) => percent.parse().ok().map(Self::Percent),
            None => text.parse().ok().map(Self::Tokens),
        };
        match parsed {
            Some(Self::Percent(1..=100) | Self::Tokens(1..)) => Ok(parsed.expect("just matched")),
            _ => {
                let why = format!("'{text}' is neither 1% to 100% nor a number of tokens");
                Err(Error::input("budget.target", why))
            }
        }
    }
}

impl fmt::Display for BudgetAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Warn => f.write_str("warn"),
            Self::Refuse => f.write_str("refuse"),
            Self::Truncate => f.write_str("truncate"),
            Self::Prune => f.write_str("prune"),
            Self::Compact(command) => write!(f, "compact:{command}"),
        }
    }
}

impl FromStr for BudgetAction {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            Some(("compact", command)) if !command.trim().is_empty() => {
                Ok(Self::Compact(command.trim().to_owned()))
            }
            None if text == "warn" => Ok(Self::Warn),
            None if text == "refuse" => Ok(Self::Refuse),
            None if text == "truncate" => Ok(Self::Truncate),
            None if text == "prune" => Ok(Self::Prune),
            _ => {
                let why = format!("'{text}' is none of warn, refuse, truncate, prune, compact:CMD");
                Err(Error::input("budget.action", why))
            }
        }
    }
}

impl BudgetWhen {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Always, Self::Cold];

    /// `always` or `cold`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Cold => "cold",
        }
    }
}

word!(BudgetWhen, |text: String| Error::input(
    "budget.when",
    format!("'{text}' is neither always nor cold")
));

impl fmt::Display for BudgetActions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        self.others
            .iter()
            .try_for_each(|other| write!(f, ",{other}"))
    }
}

impl FromStr for BudgetActions {
    type Err = Error;

    /// A list with commas between. A command may hold commas of its own, but no action behind one.
    fn from_str(text: &str) -> Result<Self> {
        let mut found: Vec<String> = Vec::new();
        for piece in text.split(',') {
            let is_action = piece.trim().parse::<BudgetAction>().is_ok();
            match found
                .last_mut()
                .filter(|last| !is_action && last.starts_with("compact:"))
            {
                Some(command) => *command = format!("{command},{piece}"),
                None => found.push(piece.trim().to_owned()),
            }
        }
        let mut actions = found.iter().map(|action| action.parse::<BudgetAction>());
        let first = actions.next().unwrap_or_else(|| "".parse())?;
        let others = actions.collect::<Result<Vec<_>>>()?;
        let mut before = std::iter::once(&first).chain(&others);
        let stands =
            before.find(|action| matches!(action, BudgetAction::Compact(_) | BudgetAction::Prune));
        if let Some(stands) = stands
            && before.any(|action| *action == BudgetAction::Refuse)
        {
            let what = match stands {
                BudgetAction::Prune => "prune",
                _ => "CMD",
            };
            let why = format!(
                "'{text}': what is committed before {what} runs cannot be refused after it"
            );
            return Err(Error::input("budget.action", why));
        }
        Ok(Self { first, others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_stand_in_a_list_and_a_command_keeps_its_commas() {
        for (text, count) in [
            ("truncate", 1),
            ("compact:llm -m a,b", 1),
            ("compact:llm -m a,b,truncate", 2),
            ("truncate,refuse", 2),
            ("truncate,compact:one,compact:two,warn", 4),
        ] {
            let found: BudgetActions = text.parse().expect(text);
            assert_eq!(
                (found.to_string().as_str(), 1 + found.others.len()),
                (text, count)
            );
        }
        for bad in [
            "",
            "truncate,",
            "truncate,often",
            "compact:,truncate",
            "compact:x,refuse",
        ] {
            assert!(bad.parse::<BudgetActions>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_budget_is_refused() {
        for bad in ["", "0", "0%", "101%", "-1", "80 %"] {
            assert!(bad.parse::<BudgetTarget>().is_err(), "{bad}");
        }
        for bad in ["", "Warn", "compact", "compact: ", "truncate:x"] {
            assert!(bad.parse::<BudgetAction>().is_err(), "{bad}");
        }
    }
}
