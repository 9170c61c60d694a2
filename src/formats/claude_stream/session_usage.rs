//! What requests came to, as a stream tells it: each reply's input with the reply, its output only in the sum of a turn, and
//! what else the client sent (sub-agents, summaries, titles) in the sums by model.
//!
//! Newer clients say what came since the last result. The sums of all are a process's, or with 2.1.332 the session's and, of a fork,
//! its parent's, too. The client leaves out a reply that was interrupted, or counts a guess.

use std::collections::BTreeMap;

use crate::formats::claude_code::by_model;
use crate::model::{StatedUsage, Usage, UsageRecord};
use crate::wire::anthropic;
use crate::wire::json::Raw;

/// A reply of the conversation.
struct Shown {
    id: String,
    model: String,
    usage: Usage,
}

/// What came to so much, by model.
type Sums = BTreeMap<String, Usage>;

/// What was told so far.
#[derive(Default)]
pub(super) struct Counted {
    /// The newest reply of the turn.
    reply: Option<Shown>,
    /// Those of the turn before it.
    turn: Sums,
    /// Whether the last that was said is a reply of the conversation.
    ends_in_reply: bool,
    /// What all came to up to the last result.
    before: Sums,
    /// The last sums of all that the client gave.
    last: Sums,
}

/// What a result says of requests.
pub(super) struct ResultCounts<'a> {
    /// Those of the conversation in this turn.
    pub(super) usage: Raw<'a>,
    /// All, by model.
    pub(super) all: Raw<'a>,
    /// Those since the last result, by model.
    pub(super) since: Raw<'a>,
}

impl Counted {
    /// A turn begins. Of one before it that no result ended, the replies are all that is known.
    pub(super) fn begin(&mut self) {
        let replies = self.of_turn();
        add_all(&mut self.before, replies);
        self.turn.clear();
        self.reply = None;
        self.ends_in_reply = false;
    }

    /// A reply of the conversation, or more of it.
    pub(super) fn reply(&mut self, id: Option<&str>, model: Option<&str>, usage: Usage) {
        self.ends_in_reply = true;
        let id = id.unwrap_or_default();
        if let Some(known) = self.reply.as_mut().filter(|it| it.id == id) {
            known.usage = known.usage.fuller(usage);
            return;
        }
        self.turn = self.of_turn();
        self.reply = Some(Shown {
            id: id.to_owned(),
            model: plain(model.unwrap_or_default()),
            usage,
        });
    }

    /// What is counted of the newest reply once it is whole.
    pub(super) fn more(&mut self, id: Option<&str>, usage: Usage) {
        if let Some(reply) = self.reply.as_mut().filter(|it| Some(&*it.id) == id) {
            reply.usage = reply.usage.fuller(usage);
        }
    }

    /// Something else was said than a reply.
    pub(super) fn other(&mut self) {
        self.ends_in_reply = false;
    }

    /// Takes the counts of a result. Gives those of the turn's reply, where it had only one and ends in it.
    pub(super) fn result(&mut self, counts: &ResultCounts<'_>) -> Option<UsageRecord> {
        let replies = self.of_turn();
        let (reply, others) = (self.reply.take(), std::mem::take(&mut self.turn));
        let whole = anthropic::usage_record(counts.usage);
        let of_turn = whole.as_ref().map(|it| it.usage).unwrap_or_default();
        let mut came = self.since(counts, of_turn);
        if let (true, Some(reply)) = (came.is_empty(), &reply) {
            came.insert(reply.model.clone(), of_turn);
        }
        for (model, usage) in replies {
            let known = came.entry(model).or_default();
            if known.input_tokens < usage.input_tokens {
                // A reply that was cut is not counted.
                *known = known.plus(usage.minus(*known));
            }
        }
        add_all(&mut self.before, came);
        let input = |it: &Usage| (it.input_tokens, it.cached_tokens, it.written_tokens);
        let is_its = |reply: &Shown| {
            input(&reply.usage) == input(&of_turn)
                && reply.usage.output_tokens <= of_turn.output_tokens
        };
        let is_only = others.is_empty() && self.ends_in_reply && reply.as_ref().is_some_and(is_its);
        whole.filter(|_| is_only)
    }

    /// What all requests of the session came to that are told so far; none where nothing is.
    pub(super) fn stated(&self) -> Option<StatedUsage> {
        let mut sums = self.before.clone();
        add_all(&mut sums, self.of_turn());
        let mut stated = StatedUsage::default();
        for (model, usage) in sums {
            stated.add(model, usage);
        }
        stated.if_any()
    }

    /// What the replies of the turn came to.
    fn of_turn(&self) -> Sums {
        let mut sums = self.turn.clone();
        let reply = self.reply.iter();
        add_all(&mut sums, reply.map(|it| (it.model.clone(), it.usage)));
        sums
    }

    /// What came since the last result, by model.
    fn since(&mut self, counts: &ResultCounts<'_>, of_turn: Usage) -> Sums {
        let all = by_plain_name(counts.all);
        if counts.since.is_some() {
            self.last = all;
            return by_plain_name(counts.since);
        }
        let sum = |of: &Sums| {
            of.values()
                .fold(Usage::default(), |sum, it| sum.plus(*it))
                .input_tokens
        };
        let goes_on = |(model, last): (&String, &Usage)| {
            let now = all.get(model).copied().unwrap_or_default();
            now.fuller(*last) == now
        };
        // Another process begins to count anew.
        let goes_on = self.last.iter().all(goes_on)
            && sum(&all).saturating_sub(sum(&self.last)) >= of_turn.input_tokens;
        let last = std::mem::replace(&mut self.last, all.clone());
        let less = |model: &String| match goes_on {
            true => last.get(model).copied().unwrap_or_default(),
            false => Usage::default(),
        };
        let came = all.into_iter().map(|(model, usage)| {
            let less = less(&model);
            (model, usage.minus(less))
        });
        came.filter(|(_, usage)| *usage != Usage::default())
            .collect()
    }
}

fn add_all(sums: &mut Sums, more: impl IntoIterator<Item = (String, Usage)>) {
    for (model, usage) in more {
        let sum = sums.entry(model).or_default();
        *sum = sum.plus(usage);
    }
}

/// The name of a model without what the client adds for the length of the context: `claude-opus-4-8[1m]`.
fn plain(model: &str) -> String {
    model.split('[').next().unwrap_or_default().to_owned()
}

fn by_plain_name(models: Raw<'_>) -> Sums {
    let models = by_model(models).unwrap_or_default().into_iter();
    let mut sums = Sums::new();
    add_all(
        &mut sums,
        models.map(|(model, usage)| (plain(&model), usage)),
    );
    sums
}
