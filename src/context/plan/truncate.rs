//! Truncation: the oldest messages go, the task and what is pinned stay.

use std::str::FromStr;

use super::{Conversation, Hidden};
use crate::context::plan::by_user;
use crate::error::{Error, Result};
use crate::model::{Draft, HideKind, Message, Operation, Replacement, Role};

/// How much to hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncate {
    /// All but the last so many messages.
    Keep(usize),
    /// A share of the messages.
    Fraction(Fraction),
}

/// A share from 0 to 1, as its decimal digits say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: u64,
    denominator: u64,
}

/// What stands in place of the hidden messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    /// The standard text, by the user.
    Standard,
    /// A text and a role of one's own.
    Custom(String, Role),
    /// Nothing.
    None,
}

impl FromStr for Fraction {
    type Err = Error;

    /// Reads a decimal from 0 to 1 with at most 9 places; never by way of binary.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || Error::input("fraction", format!("'{text}' is no decimal from 0 to 1"));
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && places.is_empty())
            || places.len() > 9
            || !digits(whole)
            || !digits(places)
        {
            return Err(bad());
        }
        let denominator = 10u64.pow(places.len() as u32);
        let number = |part: &str| {
            if part.is_empty() {
                Ok(0)
            } else {
                part.parse::<u64>()
            }
        };
        let whole = number(whole).map_err(|_| bad())?;
        let numerator = whole
            .checked_mul(denominator)
            .and_then(|whole| whole.checked_add(number(places).ok()?))
            .filter(|numerator| *numerator <= denominator)
            .ok_or_else(bad)?;
        Ok(Self {
            numerator,
            denominator,
        })
    }
}

impl Fraction {
    /// How many of `counted` messages go: the share of all but one, rounded down to even.
    fn of(self, counted: usize) -> usize {
        let share = counted.saturating_sub(1) as u128 * u128::from(self.numerator);
        (share / u128::from(self.denominator)) as usize & !1
    }
}

/// Hides the oldest messages. None if there is nothing to hide.
///
/// Counted are visible messages that are neither system messages nor markers. The task stays
/// unless `drop_first`.
pub fn truncate(
    conversation: &Conversation,
    how: Truncate,
    drop_first: bool,
    marker: &Marker,
) -> Option<Draft> {
    let counted: Vec<usize> = (0..conversation.visible_count())
        .filter(|at| !conversation.is_system(*at) && !conversation.is_marker(*at))
        .collect();
    let task = conversation.task().filter(|_| !drop_first);
    let may_go = |at: &usize| !conversation.is_pinned(*at) && Some(*at) != task;
    let (tail, wanted): (usize, Vec<usize>) = match how {
        Truncate::Keep(keep) => {
            let from = counted.len().saturating_sub(keep);
            let tail = counted
                .get(from)
                .copied()
                .unwrap_or(conversation.visible_count());
            (
                tail,
                counted[..from].iter().copied().filter(may_go).collect(),
            )
        }
        Truncate::Fraction(fraction) => {
            let count = fraction.of(counted.len());
            let oldest = counted.iter().copied().filter(may_go).take(count);
            (conversation.visible_count(), oldest.collect())
        }
    };
    let taken = conversation.whole_groups(wanted, |at| {
        conversation.is_pinned(at) || conversation.is_system(at) || Some(at) == task || at >= tail
    });
    if taken.is_empty() {
        return None;
    }
    let mut hide = conversation.hide(HideKind::Truncation, &taken, Hidden::Leave);
    let count = taken.len();
    let message: Option<Message> = match marker {
        Marker::Standard => Some(by_user(&format!(
            "[Sliding window truncation: {count} messages hidden to reduce context]"
        ))),
        Marker::Custom(text, role) => Some(Message::text(*role, text.clone())),
        Marker::None => None,
    };
    if let Some(message) = &message {
        let before = conversation.after(&taken);
        hide.replacements.push(Replacement {
            before,
            content: message.hash(),
        });
    }
    Some(Draft::new(
        Operation::Hide(hide),
        message.into_iter().collect(),
    ))
}
