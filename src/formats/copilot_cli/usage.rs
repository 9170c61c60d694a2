//! What the provider counted for requests: those that brought a reply, and those that no reply shows.
//!
//! Each request has a record of its own (`session.usage_record`, before its reply), a compaction's stands in the event that
//! tells of it, and what all requests came to in the one that ends a process. Older versions have the last alone.

use std::collections::BTreeMap;

use crate::model::{StatedUsage, Usage, UsageRecord};

/// A request that was counted and has no reply yet.
struct Waiting {
    call: Option<String>,
    model: String,
    record: UsageRecord,
}

/// The counts of a session.
#[derive(Default)]
pub(super) struct Counted {
    waiting: Vec<Waiting>,
    /// What no reply shows.
    other: Vec<(String, Usage)>,
    /// What all requests came to by the last event that says so, and those since.
    all: BTreeMap<String, Usage>,
    /// The line of that event.
    all_by: u64,
    /// How many replies there were.
    replies: u64,
}

impl Counted {
    /// A request was counted on a line.
    pub(super) fn request(
        &mut self,
        line: u64,
        call: Option<String>,
        model: String,
        record: UsageRecord,
    ) {
        self.since(line, &model, record.usage);
        self.waiting.push(Waiting {
            call,
            model,
            record,
        });
    }

    /// A reply begins.
    pub(super) fn begin(&mut self) {
        self.replies += 1;
    }

    /// What was counted for the reply of a call. Requests before it brought none.
    pub(super) fn reply(&mut self, call: Option<&String>) -> Option<UsageRecord> {
        let is_its = |it: &Waiting| call.is_some() && it.call.as_ref() == call;
        let at = self.waiting.iter().position(is_its)?;
        let found = self.waiting.remove(at);
        self.drop_waiting();
        Some(found.record)
    }

    /// Nothing more is said by the requests that wait.
    pub(super) fn drop_waiting(&mut self) {
        let left = self.waiting.drain(..);
        self.other
            .extend(left.map(|it| (it.model, it.record.usage)));
    }

    /// A compaction was counted on a line; it may have had a record of its own.
    pub(super) fn compaction(&mut self, line: u64, model: String, usage: Usage) {
        let is_told = self.waiting.iter().any(|it| it.record.usage == usage);
        self.drop_waiting();
        if !is_told {
            self.since(line, &model, usage);
            self.other.push((model, usage));
        }
    }

    /// What is counted behind the event that tells of all requests.
    fn since(&mut self, line: u64, model: &str, usage: Usage) {
        if !self.all.is_empty() && line > self.all_by {
            let sum = self.all.entry(model.to_owned()).or_default();
            *sum = sum.plus(usage);
        }
    }

    /// A process ends, with what its requests came to: in earlier versions its own, in later ones all of the session,
    /// which are as many as its replies at least.
    pub(super) fn all(&mut self, line: u64, metrics: BTreeMap<String, (u64, Usage)>) {
        self.drop_waiting();
        self.all_by = line;
        let requests: u64 = metrics.values().map(|(count, _)| *count).sum();
        if requests >= self.replies {
            self.all.clear();
        }
        for (model, (_, usage)) in metrics {
            let sum = self.all.entry(model).or_default();
            *sum = sum.plus(usage);
        }
    }

    /// Whether a request is known that no reply shows.
    pub(super) fn has_other(&self) -> bool {
        !self.other.is_empty()
    }

    /// What it says of the session's requests; nothing where replies say it.
    pub(super) fn stated(self) -> Option<StatedUsage> {
        let mut stated = StatedUsage::default();
        for (model, usage) in self.all {
            stated.add(model, usage);
        }
        for (model, usage) in self.other {
            stated.add_other(model, usage);
        }
        stated.if_any()
    }
}
