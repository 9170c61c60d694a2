//! A row of what replies cost.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Serialize;

use crate::deeds::Counted;
use crate::deeds::facts::is_zero;
use crate::query::{Bearer, Bill, BillShare, BilledReply};

/// What all rows come to.
pub(super) const TOTAL: &str = "total";

/// What some replies cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CostRow {
    /// What they have in common: a session's ref, a model, a directory, a message's commit. Empty where none is known.
    pub name: String,
    /// How many replies; of a message, in how many requests it was sent.
    pub replies: u64,
    /// Of a tool's results and other messages: how many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Of a session: its title. What somebody else wrote: escape it before it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Of a message: who speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// One line of it. What somebody else wrote: escape it before it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The call that it answers. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// How many of them have no price. They are not in the sum.
    pub unpriced: u64,
    /// How many were counted for less output than they say, as where a client keeps what the first chunk of a stream counts:
    /// their output is at least what was counted, and the sum at least `dollars`.
    #[serde(skip_serializing_if = "is_zero")]
    pub short_outputs: u64,
    /// In US dollars.
    pub dollars: f64,
    /// What was counted.
    pub counted: Counted,
}

impl CostRow {
    /// What is no message, among messages and tools.
    pub const REST: &str = "(system prompt and tools)";
    /// What is no result of a tool, among tools.
    pub const OTHERS: &str = "(other messages)";

    pub(super) fn of(name: String, bill: &Bill) -> Self {
        Self {
            name,
            replies: bill.replies,
            unpriced: bill.unpriced,
            short_outputs: bill.short.replies,
            dollars: bill.dollars,
            counted: bill.usage.into(),
            ..Self::default()
        }
    }

    /// What all of these replies come to.
    pub fn total<'r>(replies: impl IntoIterator<Item = &'r BilledReply>) -> Self {
        Self::of(TOTAL.to_owned(), &Bill::of(replies))
    }

    /// What rows come to that are not told, where there are any, and how many they are.
    pub(super) fn others(rows: &[Self]) -> Option<(Self, usize)> {
        let mut sum = Self {
            name: "others".to_owned(),
            ..Self::default()
        };
        for row in rows {
            sum.replies += row.replies;
            sum.unpriced += row.unpriced;
            sum.short_outputs += row.short_outputs;
            sum.dollars += row.dollars;
            sum.counted.plus(&row.counted);
        }
        (!rows.is_empty()).then_some((sum, rows.len()))
    }

    pub(super) fn shared(name: String, share: &BillShare) -> Self {
        Self {
            name,
            replies: share.requests(),
            unpriced: share.unpriced(),
            dollars: share.dollars(),
            counted: share.usage().into(),
            ..Self::default()
        }
    }

    pub(super) fn of_bearer(bearer: Bearer, (messages, share): (u64, BillShare)) -> Self {
        let (name, messages) = match bearer {
            Bearer::Tool(name) => (name, Some(messages)),
            Bearer::Messages => (Self::OTHERS.to_owned(), Some(messages)),
            Bearer::Rest => (Self::REST.to_owned(), None),
        };
        let row = Self::shared(name, &share);
        Self { messages, ..row }
    }

    /// The most expensive first; where nobody knows a price, the one of most tokens.
    pub(super) fn by_cost(&self, other: &Self) -> Ordering {
        let dearer = other.dollars.total_cmp(&self.dollars);
        let tokens = |row: &Self| row.counted.input_tokens;
        dearer.then_with(|| tokens(other).cmp(&tokens(self)))
    }
}
