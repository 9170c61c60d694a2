//! A context made to fit a budget in one step, on a repository.

use crate::context::plan::{GonePart, PlanInput, shrink};
use crate::error::Result;
use crate::model::{Draft, Encoding};
use crate::query::provider::TokenBudget;
use crate::repo::repository::Repo;
use crate::rewrite::{Marker, Needs, Plan, Prune, Reach, Scene, Truncate};

/// Makes the context fit a budget: as many old tool outputs as it takes become one line each. Where all of them are not
/// enough, the oldest messages go too, as in a truncation to that budget. It fits already: nothing is committed. Carried out
/// by [`Repo::carry_out`].
///
/// ```
/// use tract::model::{Draft, Message, Millis, Part, Role};
/// use tract::query::TokenBudget;
/// use tract::repo::{Call, CommitOptions, Repo};
/// use tract::rewrite::{Limits, Prune, Shrink, SurgeryOptions};
///
/// let repo = Repo::ephemeral()?;
/// let call = Part::call("1".into(), "read_file".into(), "{}".into(), None);
/// let result = Part::ToolResult {
///     call: "1".into(),
///     content: vec![Part::text("fn main() {}\n".repeat(100))],
///     is_error: false,
/// };
/// let drafts = [
///     Message::text(Role::User, "the task"),
///     Message::new(Role::Assistant, vec![call]),
///     Message::new(Role::Tool, vec![result]),
///     Message::text(Role::User, "go on"),
/// ];
/// repo.commit(Call::default(), &drafts.map(Draft::append), &CommitOptions::default())?;
///
/// let budget = TokenBudget { tokens: 100, as_counted: true };
/// let limits = Limits { turns: 1, protect: 0, ..Limits::default() };
/// let shrink = Shrink { prune: Prune { limits, ..Prune::default() }, ..Shrink::to(budget) };
/// let done = repo.carry_out(Call::at(Millis(0), "shrink"), &shrink, &SurgeryOptions::default())?;
///
/// assert_eq!((done.changed.len(), done.hidden.len()), (1, 0));
/// assert!(done.after.tokens.tokens <= 100);
/// # Ok::<(), tract::Error>(())
/// ```
///
/// # Errors
///
/// [`crate::Error::CannotFit`] where all that may go is not enough; then nothing changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrink {
    /// What is to fit.
    pub budget: TokenBudget,
    /// Which outputs may become a line; what it protects goes last. Its budget is not looked at, nor the least that it is to
    /// save.
    pub prune: Prune,
    /// Whether the newest of them go first. The longer the beginning that stays, the more of a prompt cache that is warm can
    /// be used.
    pub newest_first: bool,
    /// What stands for hidden messages.
    pub marker: Marker,
}

impl Shrink {
    /// With the usual prune, the oldest outputs first, and the usual marker.
    pub fn to(budget: TokenBudget) -> Self {
        Self {
            budget,
            prune: Prune::default(),
            newest_first: false,
            marker: Marker::Default,
        }
    }

    /// The outputs in the order in which they go: the newest that a prune would leave alone come last, the oldest of them
    /// first.
    fn outputs(&self, input: &PlanInput, encoding: Encoding) -> Vec<(u64, GonePart)> {
        let mut first = self.prune.outputs(input, encoding);
        let last = first.first().map(|(_, gone)| gone.place());
        if !self.newest_first {
            first.reverse();
        }
        let mut all = self.prune.clone();
        all.limits.protect = 0;
        let all = all.outputs(input, encoding).into_iter();
        let spared = all.take_while(|(_, gone)| Some(gone.place()) != last);
        let spared: Vec<_> = spared.collect();
        first.extend(spared.into_iter().rev());
        first
    }
}

impl Plan for Shrink {
    fn needs(&self) -> Needs {
        self.prune.needs()
    }

    fn drafts(&self, repo: &Repo, scene: &Scene, encoding: Encoding) -> Result<Vec<Draft>> {
        let says = scene.says_for(repo, self.budget)?;
        let within = says.ours_within(self.budget.tokens);
        let over = scene.size().tokens.tokens.saturating_sub(within);
        if over == 0 {
            return Ok(Vec::new());
        }
        let outputs = self.outputs(&scene.input, encoding);
        let truncate = Truncate {
            marker: self.marker.clone(),
            ..Truncate::new(Reach::ToBudget(self.budget))
        };
        shrink::shrink(&scene.input, over, outputs, |left| {
            let left = scene.with_input(left);
            let drafts = truncate.drafts(repo, &left, encoding)?;
            Ok(drafts.into_iter().next())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::error::Error;
    use crate::hash::CommitHash;
    use crate::model::{Message, Millis, Part, Role};
    use crate::repo::{Call, CommitOptions, On};
    use crate::rewrite::{Limits, Surgery, SurgeryOptions};

    /// A conversation: of each turn the outputs, each of so many words.
    fn conversation(turns: &[Vec<u8>]) -> Repo {
        let mut drafts = Vec::new();
        for (turn, outputs) in turns.iter().enumerate() {
            drafts.push(Message::text(Role::User, format!("Do step {turn}.")));
            for (at, words) in outputs.iter().enumerate() {
                let id = format!("{turn}-{at}");
                let call = Part::call(id.clone(), "read".into(), "{}".into(), None);
                drafts.push(Message::new(Role::Assistant, vec![call]));
                let result = Part::ToolResult {
                    call: id,
                    content: vec![Part::text("word ".repeat((*words).into()))],
                    is_error: false,
                };
                drafts.push(Message::new(Role::Tool, vec![result]));
            }
            drafts.push(Message::text(Role::Assistant, "Done."));
        }
        let drafts: Vec<Draft> = drafts.into_iter().map(Draft::append).collect();
        let repo = Repo::ephemeral().expect("a repository");
        repo.commit(Call::default(), &drafts, &CommitOptions::default())
            .expect("commits");
        repo
    }

    fn tip(repo: &Repo) -> CommitHash {
        let head = repo.head(&On::Head).expect("a head");
        head.commit().expect("a tip")
    }

    fn shrunk(repo: &Repo, tokens: u64, newest_first: bool, dry_run: bool) -> Result<Surgery> {
        let limits = Limits {
            turns: 1,
            protect: 0,
            ..Limits::default()
        };
        let as_counted = true;
        let shrink = Shrink {
            prune: Prune {
                limits,
                whole: true,
                ..Prune::default()
            },
            newest_first,
            ..Shrink::to(TokenBudget { tokens, as_counted })
        };
        let options = SurgeryOptions {
            dry_run,
            told: usize::MAX,
            ..SurgeryOptions::default()
        };
        repo.carry_out(Call::default(), &shrink, &options)
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(48))]

        #[test]
        fn what_is_shrunk_fits_and_hides_nothing_while_lines_are_enough(
            turns in prop::collection::vec(prop::collection::vec(0..200_u8, 0..3), 1..6),
            share in 1..110_u64,
            newest_first in any::<bool>(),
        ) {
            let repo = conversation(&turns);
            let size = shrunk(&repo, 0, false, true);
            let least = match size {
                Err(Error::CannotFit { least, .. }) => least,
                other => panic!("nothing fits no tokens: {other:?}"),
            };
            let before = repo.status(&On::Head, Encoding::default()).expect("told").total.tokens;
            let budget = before * share / 100;
            repo.second_reading()?;
            let start = tip(&repo);
            let done = match shrunk(&repo, budget, newest_first, false) {
                Err(Error::CannotFit { .. }) => {
                    prop_assert!(budget < least, "{} can be had, {} was refused", least, budget);
                    prop_assert_eq!(tip(&repo), start);
                    return Ok(());
                }
                done => done.expect("carried out"),
            };
            prop_assert_eq!(done.is_nothing(), before <= budget);
            prop_assert!(done.after.tokens.tokens <= budget, "{:?} in {}", done.after, budget);
            prop_assert!(done.commits.len() <= 2);
            let all = shrunk(&conversation(&turns), budget, !newest_first, true);
            let other = all.expect("the other order fits as well");
            prop_assert_eq!(done.hidden.is_empty(), other.hidden.is_empty());
            if done.hidden.is_empty() && other.hidden.is_empty() && !done.is_nothing() {
                let [late, early] = if newest_first { [&done, &other] } else { [&other, &done] };
                prop_assert!(late.kept.messages >= early.kept.messages);
            }
            // One operation brings all of it back.
            if !done.is_nothing() {
                let changed: BTreeSet<_> = done.changed.told().iter().map(|one| one.id).collect();
                let hidden: BTreeSet<_> = done.hidden.told().iter().map(|one| one.id).collect();
                prop_assert!(changed.is_disjoint(&hidden), "a line in what goes");
                repo.undo(None, Millis(0)).expect("undone");
                prop_assert_eq!(tip(&repo), start);
            }
        }
    }
}
