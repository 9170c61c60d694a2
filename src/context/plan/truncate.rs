//! The sliding window: the oldest messages after the task go, a marker says how many.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use crate::context::plan::{PlanEntry, PlanInput};
use crate::error::{Error, Result};
use crate::model::tokens::context_total;
use crate::model::{Draft, EntryId, HideKind, Message, Role, TokenCount};

/// A fraction between 0 and 1, as the decimal that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl FromStr for Fraction {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::input("fraction", format!("'{text}' is no decimal from 0 to 1"));
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{decimals}");
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        if digits.is_empty() || !plain || decimals.len() > 18 {
            return Err(wrong());
        }
        let numerator: u64 = digits.parse().map_err(|_| wrong())?;
        let denominator = 10_u64.pow(decimals.len() as u32);
        if numerator > denominator {
            return Err(wrong());
        }
        Ok(Self {
            numerator,
            denominator,
        })
    }
}

/// The decimal again, without zeros at its end.
impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (
            self.numerator / self.denominator,
            self.numerator % self.denominator,
        );
        let places = self.denominator.ilog10() as usize;
        let decimals = format!("{rest:0places$}");
        match decimals.trim_end_matches('0') {
            "" => write!(f, "{whole}"),
            decimals => write!(f, "{whole}.{decimals}"),
        }
    }
}

impl Fraction {
    /// How many of `counted` messages go: `floor((counted - 1) · F)`, rounded down to even.
    pub fn of(self, counted: usize) -> usize {
        let rest = counted.saturating_sub(1) as u128;
        let n = rest * u128::from(self.numerator) / u128::from(self.denominator);
        // At most `rest`, for F is at most 1.
        n as usize & !1
    }
}

/// How much goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// A fraction of the counted messages.
    Fraction(Fraction),
    /// All but the newest so many of the counted messages, and the task.
    Keep(usize),
    /// As few of the oldest exchanges as let the context fit. An exchange is a user message and
    /// what follows up to the next; the newest one, the current turn, stays whole while the others
    /// are enough. Where they are not, as little of its beginning as must goes too; the user message
    /// and the newest message stay.
    Budget {
        /// The tokens that the context may have, framing and markers counted.
        tokens: u64,
        /// The tokens, no fewer than those, that will do rather than take any of the current turn.
        whole: u64,
        /// The tokens that the new marker takes at most, see [`Marker::longest`].
        marker: u64,
    },
}

/// What stands for the hidden messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    /// `[Sliding window truncation: N messages hidden to reduce context]`, by the user.
    Default,
    /// The same, by another role.
    By(Role),
    /// The default one, in the place of those of these markers too that stand directly before what is
    /// hidden. Each comes with the number that it states; the new one states the sum.
    Sum(BTreeMap<EntryId, u64>),
    /// Another message.
    Message(Message),
    /// Nothing.
    None,
}

const MARKER: [&str; 2] = [
    "[Sliding window truncation: ",
    " messages hidden to reduce context]",
];

/// The default marker's text.
pub fn marker_text(hidden: u64) -> String {
    let [before, after] = MARKER;
    format!("{before}{hidden}{after}")
}

/// The number that a default marker's text states; none for any other text.
pub fn marker_number(text: &str) -> Option<u64> {
    let [before, after] = MARKER;
    text.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
}

impl Marker {
    /// The marker itself, for so many hidden messages.
    fn message(&self, hidden: u64) -> Option<Message> {
        match self {
            Self::Default | Self::Sum(_) => Some(Message::text(Role::User, marker_text(hidden))),
            Self::By(role) => Some(Message::text(*role, marker_text(hidden))),
            Self::Message(message) => Some(message.clone()),
            Self::None => None,
        }
    }

    /// A marker as long as any that a truncation of `input` can place, for a caller that needs its
    /// tokens before the number is known.
    pub fn longest(&self, input: &PlanInput) -> Option<Message> {
        let absorbed: u64 = match self {
            Self::Sum(markers) => markers.values().sum(),
            _ => 0,
        };
        self.message(input.entries() as u64 + absorbed)
    }

    /// Which of the visible markers give way to this one where `chosen` is hidden, and what they
    /// state together.
    fn absorbs(&self, input: &PlanInput, chosen: &BTreeSet<usize>) -> (BTreeSet<usize>, u64) {
        let (mut absorbed, mut stated) = (BTreeSet::new(), 0);
        let Self::Sum(markers) = self else {
            return (absorbed, stated);
        };
        let mut next_goes = false;
        for at in input.visible().rev() {
            let number = markers.get(&input.order[at].entry.id);
            if let Some(number) = number.filter(|_| next_goes && !chosen.contains(&at)) {
                absorbed.insert(at);
                stated += number;
            } else {
                next_goes = chosen.contains(&at);
            }
        }
        (absorbed, stated)
    }
}

/// Hides the oldest messages after the task; with `drop_first` the task too. Counted are visible
/// messages, neither system messages nor markers nor attachments, pinned ones included. None: nothing
/// to hide.
///
/// # Errors
///
/// [`Error::CannotFit`] where a [`Window::Budget`] asks for more than may go.
pub fn truncate(
    input: &PlanInput,
    window: Window,
    drop_first: bool,
    marker: &Marker,
) -> Result<Option<Draft>> {
    let counted = counted(input);
    let task = input.task().filter(|_| !drop_first);
    let settled = |limit: usize, end: usize, tail: usize, spared: Option<usize>| {
        let before = counted.iter().copied().filter(|at| *at < end);
        let (wanted, _) = first(input, before, task, limit);
        input.settle(&wanted, false, |at| {
            Some(at) == task || Some(at) == spared || at >= tail || !counts(&input.order[at])
        })
    };
    let chosen = match window {
        Window::Fraction(fraction) => {
            let end = input.order.len();
            settled(fraction.of(input.count(&counted)), end, end, None)
        }
        Window::Keep(keep) => {
            let hidden = input.count(&counted).saturating_sub(keep);
            let tail = place_after(input, &counted, hidden).unwrap_or(input.order.len());
            settled(hidden, tail, tail, None)
        }
        Window::Budget {
            tokens,
            whole,
            marker: bound,
        } => {
            let begins = |at: &usize| {
                let entry = &input.order[*at];
                entry.is_users() && entry.links.results.is_empty()
            };
            let begun: Vec<usize> = counted.iter().copied().filter(begins).collect();
            let turn = begun.last().copied();
            let prompt = turn.filter(|_| !drop_first || turn != input.task());
            let cut = |end: usize| match turn {
                Some(turn) if end <= turn => settled(usize::MAX, end, turn, None),
                // Without its prompt nobody knows what the turn is about.
                _ => settled(usize::MAX, end, end, prompt),
            };
            let left = |end: usize| {
                let chosen = cut(end);
                let (absorbed, _) = marker.absorbs(input, &chosen);
                let stays = |at: &usize| !chosen.contains(at) && !absorbed.contains(at);
                let kept = input.visible().filter(stays);
                let kept = kept.map(|at| input.order[at].tokens);
                let placed = (!chosen.is_empty()).then(|| TokenCount::exact(bound));
                context_total(kept.chain(placed)).tokens
            };
            if left(0) <= tokens {
                return Ok(None);
            }
            // The later the end, the less is left.
            let first = |ends: &[usize]| {
                let enough = ends.partition_point(|end| left(*end) > tokens);
                ends.get(enough).copied()
            };
            // Everything before one of these may go: of whole turns first, then of the current one.
            let within = counted.iter().copied();
            let within: Vec<usize> = within.filter(|at| Some(*at) > turn).collect();
            let all_whole = || turn.filter(|turn| left(*turn) <= whole);
            let Some(end) = first(&begun).or_else(all_whole).or_else(|| first(&within)) else {
                let last = counted.last().map(|last| left(*last));
                let least = last.into_iter().fold(left(0), u64::min);
                return Err(Error::CannotFit { least, tokens });
            };
            cut(end)
        }
    };
    let Some(last) = chosen.last() else {
        return Ok(None);
    };
    let (absorbed, stated) = marker.absorbs(input, &chosen);
    let message = marker.message(input.count(&chosen) as u64 + stated);
    let gone = &chosen | &absorbed;
    let replacement = message.map(|message| (input.slot_after(*last, &gone), message));
    let draft = input.hide(HideKind::Truncation, &gone, Vec::new(), replacement);
    Ok(Some(draft))
}

/// Whether a truncation takes whole what stands together, or leaves it. Of a budget nobody knows before.
pub(crate) fn is_whole(input: &PlanInput, window: Window, drop_first: bool) -> bool {
    let counted = counted(input);
    let task = input.task().filter(|_| !drop_first);
    match window {
        Window::Fraction(fraction) => {
            let limit = fraction.of(input.count(&counted));
            first(input, counted.iter().copied(), task, limit).1
        }
        Window::Keep(keep) => {
            let hidden = input.count(&counted).saturating_sub(keep);
            keep == 0 || place_after(input, &counted, hidden).is_some()
        }
        Window::Budget { .. } => false,
    }
}

/// The places of what a truncation counts.
fn counted(input: &PlanInput) -> Vec<usize> {
    let visible = input.visible();
    visible.filter(|at| counts(&input.order[*at])).collect()
}

/// The first of these places that may go, so that `limit` entries stand there, and whether it is just as many.
fn first(
    input: &PlanInput,
    places: impl Iterator<Item = usize>,
    task: Option<usize>,
    limit: usize,
) -> (BTreeSet<usize>, bool) {
    let mut left = limit;
    let mut first = BTreeSet::new();
    for at in places {
        if task.is_some_and(|task| at <= task) || input.order[at].pinned() {
            continue;
        }
        if left == 0 {
            break;
        }
        let len = input.order[at].len();
        if len > left {
            return (first, false);
        }
        left -= len;
        first.insert(at);
    }
    (first, true)
}

/// The place of which so many counted entries stand before it; none where it is in the midst of others, or there is none.
fn place_after(input: &PlanInput, counted: &[usize], count: usize) -> Option<usize> {
    let mut before = 0;
    for at in counted {
        if before >= count {
            return (before == count).then_some(*at);
        }
        before += input.order[*at].len();
    }
    None
}

/// Whether a visible entry is a message that a truncation counts and may hide by itself.
fn counts(entry: &PlanEntry) -> bool {
    !entry.role.is_system() && !entry.attached && !entry.placed_by(HideKind::Truncation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_the_decimal_that_was_written() {
        for (text, shown) in [
            ("0.50", "0.5"),
            ("1", "1"),
            ("1.0", "1"),
            (".05", "0.05"),
            ("0", "0"),
        ] {
            assert_eq!(text.parse::<Fraction>().expect(text).to_string(), shown);
        }
        for wrong in ["", "1.1", "-0.5", "1/2", "0.5x", "2"] {
            assert!(wrong.parse::<Fraction>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_markers_number_can_be_read_back() {
        for hidden in [0, 7, 1_204] {
            assert_eq!(marker_number(&marker_text(hidden)), Some(hidden));
        }
        for text in ["", "[Sliding window truncation: many messages hidden", "12"] {
            assert_eq!(marker_number(text), None);
        }
    }
}
