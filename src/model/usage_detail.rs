//! What a usage record says beyond the tokens of one request: the other requests behind a reply, and counts in other
//! units.
//!
//! Deliberately absent: how a provider spells it ([`crate::wire`]), and what it costs ([`super::price`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Millis, Usage};

/// A usage record, read whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UsageRecord {
    /// The tokens of the request whose context the reply was given; of several the last.
    pub usage: Usage,
    /// All else.
    pub detail: UsageDetail,
}

/// What a usage record says beyond [`Usage`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UsageDetail {
    /// The other requests that the provider made for the reply: the model's own before the last one, a compaction, an
    /// adviser's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<Iteration>,
    /// What is counted beside tokens, and tokens of a kind of their own, by their names. Hostile until escaped.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// Numbers that are no counts, such as amounts of money, as they came. Hostile until escaped.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub amounts: BTreeMap<String, String>,
    /// When the reply came, where its stream does not say so: by the times around it, or when it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Millis>,
    /// The name of the request that it answers, where no record here says it. Hostile until escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// A request behind a reply that is not the one whose context the reply was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iteration {
    /// What the provider calls its kind: `message`, `compaction`, `advisor_message`. Hostile until escaped.
    pub kind: String,
    /// The model, where it is not the reply's. Hostile until escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The numbers of what was counted.
    counted: [u64; 6],
}

impl Iteration {
    /// One of a kind.
    pub fn new(kind: impl Into<String>, model: Option<String>, usage: Usage) -> Self {
        Self {
            kind: kind.into(),
            model,
            counted: usage.numbers(),
        }
    }

    /// What was counted for it.
    pub fn usage(&self) -> Usage {
        Usage::of_numbers(self.counted)
    }
}

impl UsageDetail {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        !self.tells_counts() && self.recorded.is_none() && self.request.is_none()
    }

    /// Whether it says anything of what was counted.
    pub fn tells_counts(&self) -> bool {
        !(self.iterations.is_empty() && self.counts.is_empty() && self.amounts.is_empty())
    }

    /// The tokens of the other requests.
    pub fn iterated(&self) -> Usage {
        let usages = self.iterations.iter().map(Iteration::usage);
        usages.fold(Usage::default(), Usage::plus)
    }

    /// Counts so many more of something.
    pub fn count(&mut self, name: impl Into<String>, count: u64) {
        if count > 0 {
            let sum = self.counts.entry(name.into()).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// Takes in another account of the same: of two numbers the greater one.
    pub fn fuller(&mut self, other: Self) {
        for (name, count) in other.counts {
            let known = self.counts.entry(name).or_default();
            *known = count.max(*known);
        }
        for (name, amount) in other.amounts {
            self.amounts.entry(name).or_insert(amount);
        }
        self.recorded = self.recorded.or(other.recorded);
        self.request = self.request.take().or(other.request);
    }

    /// As it is kept.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("it is JSON")
    }

    /// Reads that back; none where it is not as it is written.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let read: Self = serde_json::from_str(text).ok()?;
        (read.to_text() == text).then_some(read)
    }
}

/// What a client says of the requests of a session, those that no reply shows among them: what all came to, or what
/// those alone did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedUsage {
    /// By model.
    pub models: Vec<Iteration>,
    /// What the client takes all of it to have cost, in US dollars, as it came; a zero says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dollars: Option<String>,
}

impl StatedUsage {
    /// The kind of what all requests of a model came to.
    const ALL: &str = "stated";
    /// The kind of what those requests of a model came to that no reply shows.
    const OTHER: &str = "other";
    /// The kind of what such requests of a model came to that the session took over from the one of which it is a fork.
    const COPIED: &str = "copied";

    /// That all requests of a model came to so much more.
    pub fn add(&mut self, model: String, usage: Usage) {
        self.plus(Self::ALL, model, usage);
    }

    /// That a request that no reply shows came to so much: a compaction's, or one on the side. A model that is not named
    /// is an empty name.
    pub fn add_other(&mut self, model: String, usage: Usage) {
        self.plus(Self::OTHER, model, usage);
    }

    /// The same of a request that the file of a fork has from its parent.
    pub fn add_copied(&mut self, model: String, usage: Usage) {
        self.plus(Self::COPIED, model, usage);
    }

    /// What the client takes all requests to have cost, in US dollars. A zero is no price.
    pub fn cost(&mut self, dollars: f64) {
        self.dollars = (dollars > 0.0).then(|| dollars.to_string());
    }

    /// Of all requests, which are not told apart by model, as those of the newest reply's. `replies` are those that are
    /// known, each with its model.
    pub fn of_all(all: Usage, replies: &[(String, Usage)]) -> Self {
        let model = replies
            .last()
            .map(|(model, _)| model.clone())
            .unwrap_or_default();
        let others = replies.iter().filter(|(of, _)| *of != model);
        let others = others.fold(Usage::default(), |sum, (_, usage)| sum.plus(*usage));
        let mut stated = Self::default();
        stated.add(model, all.minus(others));
        stated
    }

    /// Whether it sums up requests that no reply shows, one by one: whoever read only a part of a file has not all of them.
    pub fn is_summed_up(&self) -> bool {
        let kinds = [Self::OTHER, Self::COPIED];
        kinds.iter().any(|kind| self.of_kind(kind).next().is_some())
    }

    /// What both come to.
    #[must_use]
    pub fn with(mut self, other: &Self) -> Self {
        for it in &other.models {
            self.plus(&it.kind, it.model.clone().unwrap_or_default(), it.usage());
        }
        self
    }

    /// The tokens of all that it says.
    pub fn tokens(&self) -> u64 {
        let usage = self.models.iter().map(Iteration::usage);
        let usage = usage.fold(Usage::default(), Usage::plus);
        usage.input_tokens.saturating_add(usage.output_tokens)
    }

    /// Whether what all requests came to may have these among them.
    pub fn covers(&self, replies: Usage) -> bool {
        let all = self.of_kind(Self::ALL).map(|(_, usage)| usage);
        let all = all.fold(Usage::default(), Usage::plus);
        all.input_tokens >= replies.input_tokens && all.output_tokens >= replies.output_tokens
    }

    /// The same where it says anything.
    pub fn if_any(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// The same with what was taken over among its own: of a fork whose parent is not known.
    #[must_use]
    pub fn with_copied(mut self) -> Self {
        let copied: Vec<(String, Usage)> = self.of_kind(Self::COPIED).collect();
        self.models.retain(|it| it.kind != Self::COPIED);
        for (model, usage) in copied {
            self.add_other(model, usage);
        }
        self
    }

    fn plus(&mut self, kind: &str, model: String, usage: Usage) {
        let mut known = self.models.iter_mut();
        let same = known.find(|it| it.kind == kind && it.model.as_ref() == Some(&model));
        match same {
            Some(sum) => sum.counted = sum.usage().plus(usage).numbers(),
            None => self.models.push(Iteration::new(kind, Some(model), usage)),
        }
    }

    fn of_kind(&self, kind: &str) -> impl Iterator<Item = (String, Usage)> {
        let of_kind = self.models.iter().filter(move |it| it.kind == kind);
        of_kind.map(|it| (it.model.clone().unwrap_or_default(), it.usage()))
    }

    /// What is left of it beyond the replies that are known: `known` says what those of a model come to; those of no
    /// known model are the one model's, where there is no other, and `all` are the one's that has no name. Of a model of which the client says less than its replies do, that is what it says of other requests alone.
    pub fn beyond(&self, known: impl Fn(&str) -> Usage, all: Usage) -> Vec<(String, Usage)> {
        let mut left: Vec<(String, Usage)> = self.of_kind(Self::OTHER).collect();
        let unnamed = known("");
        let is_sole = self.of_kind(Self::ALL).count() == 1;
        for (model, stated) in self.of_kind(Self::ALL) {
            let other = left.iter().position(|(of, _)| *of == model);
            let apart = other.map(|at| left[at].1).unwrap_or_default();
            let replies = match (is_sole, model.is_empty()) {
                (true, true) => all,
                (true, false) => known(&model).plus(unnamed),
                _ => known(&model),
            };
            let known = replies.plus(apart);
            // Of caches and reasoning clients say less than providers do.
            let covers = stated.input_tokens >= known.input_tokens
                && stated.output_tokens >= known.output_tokens;
            let more = stated.minus(known);
            match other {
                _ if !covers => {}
                Some(at) => left[at].1 = apart.plus(more),
                None => left.push((model, more)),
            }
        }
        left.retain(|(_, more)| more.input_tokens.saturating_add(more.output_tokens) > 0);
        left
    }

    /// As it is kept.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("it is JSON")
    }

    /// Reads that back; none where it is not as it is written.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let read: Self = serde_json::from_str(text).ok()?;
        (read.to_text() == text).then_some(read)
    }
}

impl From<Usage> for UsageRecord {
    fn from(usage: Usage) -> Self {
        Self {
            usage,
            detail: UsageDetail::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_says_beyond_its_replies_is_left() {
        let mut stated = StatedUsage::default();
        stated.add("a".to_owned(), Usage::new(100, 10).cached(60, 20));
        stated.add("b".to_owned(), Usage::new(50, 5));
        stated.add("c".to_owned(), Usage::new(7, 1));
        let text = stated.to_text();
        assert_eq!(StatedUsage::from_text(&text), Some(stated.clone()));
        let known = |model: &str| match model {
            "a" => Usage::new(70, 8).cached(60, 0),
            // A process that was killed said nothing of its last requests.
            "b" => Usage::new(50, 6),
            _ => Usage::default(),
        };
        let left = stated.beyond(known, Usage::default());
        let more = Usage::new(30, 2).cached(0, 20);
        assert_eq!(
            left,
            [("a".to_owned(), more), ("c".to_owned(), Usage::new(7, 1))]
        );
    }

    #[test]
    fn requests_that_no_reply_shows_are_left_whatever_else_is_stated() {
        let mut stated = StatedUsage::default();
        stated.add_other("a".to_owned(), Usage::new(20, 2));
        stated.add_other("a".to_owned(), Usage::new(30, 3));
        stated.add_other("b".to_owned(), Usage::new(9, 1));
        stated.add("a".to_owned(), Usage::new(160, 15));
        stated.add("b".to_owned(), Usage::new(40, 4));
        assert_eq!(
            StatedUsage::from_text(&stated.to_text()),
            Some(stated.clone())
        );
        // What the client says of all covers the replies of one model, and not those of the other.
        let known = |model: &str| match model {
            "a" => Usage::new(100, 10),
            _ => Usage::new(50, 5),
        };
        let left = stated.beyond(known, Usage::default());
        assert_eq!(
            left,
            [
                ("a".to_owned(), Usage::new(60, 5)),
                ("b".to_owned(), Usage::new(9, 1))
            ]
        );
    }

    #[test]
    fn replies_of_no_known_model_are_the_only_ones() {
        let mut stated = StatedUsage::default();
        stated.add("a".to_owned(), Usage::new(100, 10));
        let known = |model: &str| match model {
            "" => Usage::new(30, 3),
            _ => Usage::new(50, 5),
        };
        let beyond = |stated: &StatedUsage| stated.beyond(known, Usage::default());
        assert_eq!(beyond(&stated), [("a".to_owned(), Usage::new(20, 2))]);
        stated.add("b".to_owned(), Usage::new(50, 5));
        assert_eq!(beyond(&stated), [("a".to_owned(), Usage::new(50, 5))]);
    }

    #[test]
    fn a_sum_of_no_named_model_is_of_all_replies() {
        let mut stated = StatedUsage::default();
        stated.add(String::new(), Usage::new(100, 10));
        let left = stated.beyond(|_| Usage::default(), Usage::new(70, 10));
        assert_eq!(left, [(String::new(), Usage::new(30, 0))]);
        let left = stated.beyond(|_| Usage::default(), Usage::new(100, 10));
        assert_eq!(left, []);
    }

    #[test]
    fn a_detail_is_read_as_it_was_kept() {
        let mut detail = UsageDetail::default();
        assert_eq!((detail.to_text().as_str(), detail.is_empty()), ("{}", true));
        let usage = Usage::new(120, 7).cached(10, 80).reasoned(3);
        let adviser = Iteration::new("advisor_message", Some("m".to_owned()), usage);
        detail.iterations = vec![Iteration::new("message", None, Usage::new(5, 1)), adviser];
        detail.count("web_search_requests", 7);
        detail.count("nothing", 0);
        detail.amounts.insert("cost".to_owned(), "0.1".to_owned());
        let text = detail.to_text();
        assert_eq!(
            text,
            r#"{"iterations":[{"kind":"message","counted":[5,1,0,0,0,0]},{"kind":"advisor_message","model":"m","counted":[120,7,10,80,0,3]}],"counts":{"web_search_requests":7},"amounts":{"cost":"0.1"}}"#
        );
        assert_eq!(UsageDetail::from_text(&text), Some(detail.clone()));
        assert_eq!(detail.iterated(), usage.plus(Usage::new(5, 1)));
        for odd in ["", "{\"x\":1}", "{ }", "[]"] {
            assert_eq!(UsageDetail::from_text(odd), None, "{odd}");
        }
    }
}
