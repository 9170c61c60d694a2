//! The sliding window, on a repository.

use crate::context::plan::PlanInput;
use crate::context::plan::truncate::{self, Window};
pub use crate::context::plan::truncate::{Fraction, Marker};
use crate::error::{Error, Result};
use crate::model::tokens::Counter;
use crate::model::{Draft, Encoding};
use crate::query::provider::{ProviderSays, TokenBudget};
use crate::repo::repository::Repo;
use crate::rewrite::needs::FIRST;
use crate::rewrite::{Apart, Needs, Plan, Scene};

/// How many messages that stay are each told by itself.
const FEW: usize = if cfg!(test) { 2 } else { 1_024 };

/// How far a truncation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// `floor((v - 1) · F)` messages of the `v` counted ones, rounded down to an even number.
    Fraction(Fraction),
    /// All but the newest so many of the counted messages.
    Keep(usize),
    /// As few of the oldest exchanges as let the context fit, and of the newest one, the current
    /// turn, only what must go where the others are not enough. The newest prompt and the newest
    /// message stay.
    ToBudget(TokenBudget),
}

/// Hides the oldest messages after the task. Nothing to hide: nothing is committed. Carried out by
/// [`Repo::carry_out`].
///
/// Counted are visible messages, without system messages and markers of earlier truncations; the
/// task, pinned messages and open calls stay, and tool pairs stay together.
///
/// ```
/// use tract::rewrite::{Reach, Truncate};
/// use tract::repo::{Call, CommitOptions, On, Repo};
/// use tract::rewrite::SurgeryOptions;
/// use tract::model::{Draft, Message, Millis, Role};
///
/// let repo = Repo::ephemeral()?;
/// let texts = ["the task", "one", "two", "three", "four"];
/// let drafts = texts.map(|text| Draft::append(Message::text(Role::User, text)));
/// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
///
/// let call = Call::at(Millis(0), "truncate --keep 2");
/// let done = repo.carry_out(call, &Truncate::new(Reach::Keep(2)), &SurgeryOptions::default())?;
///
/// assert_eq!(done.hidden.len(), 2);
/// // The task, the marker, and the newest two.
/// assert_eq!(done.after.messages, 4);
/// # Ok::<(), tract::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::CannotFit`] where hiding all that may go is not enough for the budget; then, and
/// where [`Repo::carry_out`] fails, nothing is hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncate {
    /// How far it goes.
    pub reach: Reach,
    /// Let the task go too.
    pub drop_first: bool,
    /// What stands for the hidden messages.
    pub marker: Marker,
}

impl Truncate {
    /// A truncation that keeps the task and places the usual marker.
    pub fn new(reach: Reach) -> Self {
        Self {
            reach,
            drop_first: false,
            marker: Marker::Default,
        }
    }
}

impl Plan for Truncate {
    fn needs(&self) -> Needs {
        let mut apart = Apart {
            first: FIRST,
            last: FIRST,
            all: true,
            ..Apart::default()
        };
        match self.reach {
            Reach::Fraction(fraction) => apart.share = Some(fraction),
            // Among the last there may be as many that are not counted.
            Reach::Keep(keep) if keep <= FEW => apart.last = 2 * keep + FIRST,
            Reach::Keep(keep) => apart.keep = Some(keep),
            // What is left is weighed message by message.
            Reach::ToBudget(_) => return Needs::messages(),
        }
        Needs {
            apart: Some(apart),
            ..Needs::messages()
        }
    }

    fn is_enough(&self, input: &PlanInput) -> bool {
        let window = match self.reach {
            Reach::Fraction(fraction) => Window::Fraction(fraction),
            Reach::Keep(keep) => Window::Keep(keep),
            Reach::ToBudget(_) => return false,
        };
        truncate::is_whole(input, window, self.drop_first)
    }

    fn drafts(&self, repo: &Repo, scene: &Scene, encoding: Encoding) -> Result<Vec<Draft>> {
        let marker = &self.marker;
        let mut says = ProviderSays::Nothing;
        let window = match self.reach {
            Reach::Fraction(fraction) => Window::Fraction(fraction),
            Reach::Keep(keep) => Window::Keep(keep),
            Reach::ToBudget(budget) => {
                says = scene.says_for(repo, budget)?;
                let longest = marker.longest(&scene.input);
                let counter = Counter::of(encoding);
                let tokens = says.ours_within(budget.tokens);
                Window::Budget {
                    tokens,
                    whole: tokens,
                    marker: longest.map_or(0, |marker| counter.message(&marker).tokens),
                }
            }
        };
        let plan = truncate::truncate(&scene.input, window, self.drop_first, marker);
        match (plan, self.reach) {
            (Err(Error::CannotFit { least, .. }), Reach::ToBudget(budget)) => {
                Err(Error::CannotFit {
                    least: says.count().map_or(least, |count| count.of(least)),
                    tokens: budget.tokens,
                })
            }
            (plan, _) => Ok(plan?.into_iter().collect()),
        }
    }
}
