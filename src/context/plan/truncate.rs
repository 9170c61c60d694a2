//! The sliding window: the oldest messages after the task go, a marker says how many.

use std::collections::BTreeSet;
use std::str::FromStr;

use crate::context::plan::PlanInput;
use crate::error::{Error, Result};
use crate::model::{Draft, HideKind, Message, Role};

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
}

/// What stands for the hidden messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    /// `[Sliding window truncation: N messages hidden to reduce context]`, by the user.
    Default,
    /// Another message.
    Message(Message),
    /// Nothing.
    None,
}

/// The default marker's text.
pub fn marker_text(hidden: usize) -> String {
    format!("[Sliding window truncation: {hidden} messages hidden to reduce context]")
}

/// Hides the oldest messages after the task; with `drop_first` the task too. Counted are visible
/// messages, neither system messages nor markers, pinned ones included. None: nothing to hide.
///
/// # Errors
///
/// None at present.
pub fn truncate(
    input: &PlanInput,
    window: Window,
    drop_first: bool,
    marker: &Marker,
) -> Result<Option<Draft>> {
    let counted: Vec<usize> = input
        .visible()
        .filter(|at| {
            let entry = &input.order[*at];
            !entry.role.is_system() && !entry.placed_by(HideKind::Truncation)
        })
        .collect();
    let task = input.task().filter(|_| !drop_first);
    let (limit, tail) = match window {
        Window::Fraction(fraction) => (fraction.of(counted.len()), input.order.len()),
        Window::Keep(keep) => {
            let hidden = counted.len().saturating_sub(keep);
            let tail = counted.get(hidden).copied().unwrap_or(input.order.len());
            (hidden, tail)
        }
    };
    let wanted: BTreeSet<usize> = counted
        .iter()
        .copied()
        .filter(|at| *at < tail && task.is_none_or(|task| *at > task))
        .filter(|at| !input.order[*at].pinned())
        .take(limit)
        .collect();
    let chosen = input.settle(&wanted, false, |at| {
        let entry = &input.order[at];
        Some(at) == task
            || at >= tail
            || entry.role.is_system()
            || entry.placed_by(HideKind::Truncation)
    });
    let Some(last) = chosen.last() else {
        return Ok(None);
    };
    let message = match marker {
        Marker::Default => Some(Message::text(Role::User, marker_text(chosen.len()))),
        Marker::Message(message) => Some(message.clone()),
        Marker::None => None,
    };
    let replacement = message.map(|message| (input.slot_after(*last, &chosen), message));
    Ok(Some(input.hide(
        HideKind::Truncation,
        &chosen,
        Vec::new(),
        replacement,
        Vec::new(),
    )))
}
