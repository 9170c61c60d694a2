//! What replies come to: all of them, or by a word that each has.

use std::collections::BTreeMap;

use super::reply::{BilledReply, ShortOutputs};
use crate::model::Usage;

/// What some replies come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    /// How many replies.
    pub replies: u64,
    /// What was counted for them.
    pub usage: Usage,
    /// What those cost whose model has a price, in US dollars.
    pub dollars: f64,
    /// How many have a model without one.
    pub unpriced: u64,
    /// What is missing in their output, and not in `dollars`.
    pub short: ShortOutputs,
}

impl Bill {
    /// What all of these replies come to.
    pub fn of<'r>(replies: impl IntoIterator<Item = &'r BilledReply>) -> Self {
        let mut bill = Self::default();
        for reply in replies {
            bill.add(reply);
        }
        bill
    }

    /// Adds another bill.
    pub fn plus(&mut self, more: &Self) {
        self.replies += more.replies;
        self.usage = self.usage.plus(more.usage);
        self.dollars += more.dollars;
        self.unpriced += more.unpriced;
        self.short.plus(&more.short);
    }

    fn add(&mut self, reply: &BilledReply) {
        self.replies += 1;
        self.usage = self.usage.plus(reply.counted());
        match reply.dollars {
            Some(dollars) => self.dollars += dollars,
            None => self.unpriced += 1,
        }
        if let Some(short) = &reply.short {
            self.short.plus(short);
        }
    }
}

/// What replies come to, by a word that each has.
pub fn bills(
    replies: &[BilledReply],
    word_of: impl Fn(&BilledReply) -> String,
) -> BTreeMap<String, Bill> {
    let mut bills: BTreeMap<String, Bill> = BTreeMap::new();
    for reply in replies {
        bills.entry(word_of(reply)).or_default().add(reply);
    }
    bills
}

/// What replies come to by model: each of several requests behind a reply counts with the model that it was for.
pub fn bills_by_model(
    replies: &[BilledReply],
    word_of: impl Fn(Option<&str>) -> String,
) -> BTreeMap<String, Bill> {
    let mut bills: BTreeMap<String, Bill> = BTreeMap::new();
    for reply in replies {
        let model = word_of(reply.model.as_deref());
        bills.entry(model.clone()).or_default().add(reply);
        let paid = reply.paid.as_ref().map(|paid| &paid.iterations[..]);
        for (at, iteration) in reply.detail.iterations.iter().enumerate() {
            let Some(other) = iteration.model.as_deref().map(|it| word_of(Some(it))) else {
                continue;
            };
            let dollars = paid.and_then(|paid| *paid.get(at)?).unwrap_or(0.0);
            let (usage, own) = (iteration.usage(), bills.entry(model.clone()).or_default());
            own.usage = own.usage.minus(usage);
            own.dollars -= dollars;
            let bill = bills.entry(other).or_default();
            bill.usage = bill.usage.plus(usage);
            bill.dollars += dollars;
        }
    }
    bills
}
