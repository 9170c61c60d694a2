//! Plans carried out: what a plan is made from, what it changes, and the commits that it makes.
//!
//! Deliberately absent: which messages go (that is [`crate::context::plan`]'s to say).

mod annotate;
mod apart;
pub mod bisect;
pub mod budget;
pub(crate) mod carry;
mod clear;
mod compact;
#[cfg(test)]
mod costs;
mod cut;
mod drop;
mod forecast;
mod gather;
#[cfg(test)]
pub(crate) mod laws;
mod merge;
mod needs;
mod options;
mod pick;
mod prune;
pub mod rebase;
mod redact;
mod restore;
mod revert;
mod scene;
mod shrink;
mod truncate;

use crate::context::plan::PlanInput;
use crate::error::{Error, Result};
use crate::model::{Draft, Encoding, RefName};
use crate::repo::append::CommitOptions;
use crate::repo::call::{Call, On};
use crate::repo::commit_rows::Making;
use crate::repo::expect::Expect;
use crate::repo::repository::Repo;
use crate::repo::stretches::Outline;

pub use crate::context::plan::carry::{Clash, ClashKind, Whose};
pub use annotate::Annotated;
pub use budget::{Verdict, Within};
pub use clear::Clear;
pub use compact::{Compact, Compaction, Extent, Summary, SummarySpan};
use forecast::Foresight;
pub use forecast::Surgery;
pub use merge::{Merge, MergeConflict, MergeOptions, MergeSummary, Merged};
pub use needs::{Apart, Needs};
pub use options::SurgeryOptions;
pub use pick::{CherryPicked, Pickable, Picked};
pub use prune::{Limits, Prune};
pub use rebase::{Rebase, RebaseFate, RebaseStep, Rebased};
pub use restore::{Lost, Restored, StillHidden};
pub use revert::Reverted;
pub use scene::{Scene, Size};
pub use shrink::Shrink;
pub use truncate::{Fraction, Marker, Reach, Truncate};

/// What a plan would change, and what others would: see [`Repo::foretell`].
pub type Foretold = (Result<Surgery>, Vec<Option<Result<Surgery>>>);

/// How often a plan is made anew because another process committed in between.
const ATTEMPTS: usize = 5;

/// Of how many visible messages each is looked at only for what was asked for, and for nothing beside it.
const ASIDE: usize = if cfg!(test) { 8 } else { 16_384 };

/// A plan with all that it is to know beside the scene.
pub trait Plan {
    /// What it is to be told.
    fn needs(&self) -> Needs;

    /// The commits that it makes; none: there is nothing to do.
    ///
    /// # Errors
    ///
    /// What the plan refuses.
    fn drafts(&self, repo: &Repo, scene: &Scene, encoding: Encoding) -> Result<Vec<Draft>>;

    /// Whether an input in which visible entries stand together tells it all that it needs.
    fn is_enough(&self, input: &PlanInput) -> bool {
        let _ = input;
        true
    }
}

impl Repo {
    /// Makes a plan where the call is on and commits its drafts as one operation, all or none.
    /// Where another process commits in between, the plan is made anew. No drafts: nothing happens.
    ///
    /// # Errors
    ///
    /// What the plan refuses, and whatever [`Repo::commit`] returns.
    pub fn operate(
        &self,
        call: Call<'_>,
        needs: Needs,
        options: &SurgeryOptions,
        plan: impl FnMut(&Scene) -> Result<Vec<Draft>>,
    ) -> Result<Surgery> {
        self.operate_where(call, needs, options, &|_| true, plan)
    }

    /// The same with what says whether an input in which visible entries stand together is enough.
    fn operate_where(
        &self,
        call: Call<'_>,
        needs: Needs,
        options: &SurgeryOptions,
        is_enough: &dyn Fn(&PlanInput) -> bool,
        plan: impl FnMut(&Scene) -> Result<Vec<Draft>>,
    ) -> Result<Surgery> {
        if !options.dry_run {
            self.refuse_detached(call.on)?;
        }
        let scene = self.scene_together(call.on, options.encoding, &needs, is_enough)?;
        self.operate_on(scene, call, &needs, options, plan)
    }

    /// Carries out a plan, see [`Repo::operate`].
    ///
    /// # Errors
    ///
    /// What the plan refuses, and whatever [`Repo::commit`] returns.
    pub fn carry_out(
        &self,
        call: Call<'_>,
        plan: &dyn Plan,
        options: &SurgeryOptions,
    ) -> Result<Surgery> {
        let is_enough = |input: &PlanInput| plan.is_enough(input);
        self.operate_where(call, plan.needs(), options, &is_enough, |scene| {
            plan.drafts(self, scene, scene.encoding())
        })
    }

    /// Goes on from a scene that has been gathered already.
    fn operate_on(
        &self,
        mut scene: Scene,
        call: Call<'_>,
        needs: &Needs,
        options: &SurgeryOptions,
        mut plan: impl FnMut(&Scene) -> Result<Vec<Draft>>,
    ) -> Result<Surgery> {
        let mut attempt = 1;
        loop {
            if let Some(expect) = options.expect {
                let head = self.head(call.on)?;
                expect.hold(head.branch().unwrap_or(&RefName::head()), scene.tip)?;
            }
            let drafts = plan(&scene)?;
            let Foresight {
                mut surgery,
                foreseen,
                total,
            } = self.foresee(&scene, &drafts, call.now, options)?;
            if options.dry_run || drafts.is_empty() {
                return Ok(surgery);
            }
            let how = CommitOptions {
                expect: Some(scene.tip.map_or(Expect::Nothing, Expect::At)),
                ..CommitOptions::default()
            };
            let keep = |making: &mut Making<'_>| scene.keep_totals(making, total);
            match self.make(
                call,
                &drafts,
                &how,
                |_| scene.chain_to(foreseen.clone()),
                keep,
            ) {
                Err(Error::RefMoved { .. }) if attempt < ATTEMPTS => attempt += 1,
                done => {
                    (surgery.commits, ()) = done?;
                    return Ok(surgery);
                }
            }
            scene = self.scene(call.on, options.encoding, needs)?;
        }
    }

    /// What each of some plans would change where the call is on, gathered once for all of them.
    ///
    /// ```
    /// use tract::rewrite::{Clear, Reach, Truncate};
    /// use tract::repo::{Call, CommitOptions, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let drafts = ["one", "two", "three"].map(|text| Draft::append(Message::text(Role::User, text)));
    /// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    ///
    /// let (clear, truncate) = (Clear { all: false }, Truncate::new(Reach::Keep(1)));
    /// let would = repo.compare(Call::default(), &SurgeryOptions::default(), &[&clear, &truncate])?;
    /// let hidden: Vec<usize> = would.iter().flatten().map(|plan| plan.hidden.len()).collect();
    /// assert_eq!(hidden, [3, 1]);
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The store's. What a plan refuses is among the answers.
    pub fn compare(
        &self,
        call: Call<'_>,
        options: &SurgeryOptions,
        plans: &[&dyn Plan],
    ) -> Result<Vec<Result<Surgery>>> {
        let encoding = options.encoding;
        let needs = plans.iter().map(|plan| plan.needs());
        let needs = needs.reduce(Needs::and).unwrap_or_default();
        let scene = self.scene(call.on, encoding, &needs)?;
        let would = plans.iter().map(|plan| {
            let drafts = plan.drafts(self, &scene, scene.encoding())?;
            self.forecast(&scene, &drafts, call.now, options)
        });
        Ok(would.collect())
    }

    /// What a plan would change where the call is on, and what each of some others would. Where many messages are visible, none
    /// stands for the others that look at every one of them.
    ///
    /// # Errors
    ///
    /// The store's. What a plan refuses is among the answers.
    pub fn foretell(
        &self,
        call: Call<'_>,
        options: &SurgeryOptions,
        plan: &dyn Plan,
        others: &[&dyn Plan],
    ) -> Result<Foretold> {
        if !self.shows_many(call.on)? {
            let plans = [&[plan], others].concat();
            let mut would = self.compare(call, options, &plans)?.into_iter();
            let first = would.next().expect("one for each plan");
            return Ok((first, would.map(Some).collect()));
        }
        let options = SurgeryOptions {
            dry_run: true,
            ..*options
        };
        let looks_at_few = |plan: &&dyn Plan| plan.needs().apart.is_some();
        let others = others.iter().map(|other| {
            let other = Some(*other).filter(looks_at_few);
            other.map(|other| self.carry_out(call, other, &options))
        });
        let others = others.collect();
        Ok((self.carry_out(call, plan, &options), others))
    }

    /// Whether so many messages are visible that what nobody asked for is not worth a look at each.
    fn shows_many(&self, on: &On) -> Result<bool> {
        let Some(tip) = self.head(on)?.commit() else {
            return Ok(false);
        };
        let outline = Outline::of(&*self.store.read()?, &tip)?;
        Ok(outline.visible().len() > ASIDE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Message, Part, Role};
    use crate::repo::CommitOptions;
    use crate::repo::load::work::{self, Work};

    /// The task, a call with its result, and a few words; every count is known.
    fn talk() -> Repo {
        let call = Part::ToolCall {
            id: "1".into(),
            name: "read".into(),
            arguments: "{}".into(),
            kind: None,
        };
        let result = Part::ToolResult {
            call: "1".into(),
            content: vec![Part::text("output ".repeat(100))],
            is_error: false,
        };
        let message = |role, part| Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role,
            name: None,
            parts: vec![part],
        };
        let mut talk = vec![
            Message::text(Role::User, "the task"),
            message(Role::Assistant, call),
            message(Role::Tool, result),
        ];
        talk.extend((0..9).map(|at| Message::text(Role::User, at.to_string())));
        let repo = Repo::ephemeral().expect("a repository");
        let drafts: Vec<Draft> = talk.into_iter().map(Draft::append).collect();
        let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
        let context = repo.context(&done.expect("appended")[11].hash);
        repo.counts(&context.expect("a context"), Encoding::default())
            .expect("counted");
        repo
    }

    #[test]
    fn a_command_folds_no_path_and_reads_bodies_only_where_parts_go() {
        let (call, options) = (Call::default(), SurgeryOptions::default());
        let keep = Truncate::new(Reach::Keep(2));
        let clear = Clear { all: false };
        let prune = Prune {
            limits: Limits {
                turns: 0,
                protect: 0,
                min: 0,
                ..Limits::default()
            },
            ..Prune::default()
        };
        // What was put in place is counted before it is stored.
        let once = Work::default();
        let done = |surgery: Result<Surgery>| assert!(!surgery.expect("done").is_nothing());

        let repo = talk();
        let (work, ()) = work::of(|| done(repo.carry_out(call, &keep, &options)));
        assert_eq!(work, once);
        let repo = talk();
        let (work, ()) = work::of(|| done(repo.clear(call, false, &options)));
        assert_eq!(work, once);
        let repo = talk();
        let (work, ()) = work::of(|| done(repo.carry_out(call, &prune, &options)));
        // What is left of the pruned message is counted anew.
        assert_eq!(work, Work { bodies: 3, ..once });
        let repo = talk();
        let (work, _) = work::of(|| {
            let summary = Summary::Text("in short");
            let done = repo.compact(call, &Extent::KeepLast(2), summary, &options);
            done.expect("compacted")
        });
        assert_eq!(work, once);
        // A restore reaches beyond what is visible, and what changed the conversation is known already.
        let hide = repo.head(&On::Head).expect("a head").commit();
        let lost = [Lost::Whole(hide.expect("the compaction"))];
        let (work, _) = work::of(|| repo.restore(call, &lost, &options).expect("restored"));
        // The summary had no count yet.
        assert_eq!(work, Work { bodies: 1, ..once });

        let repo = talk();
        let plans: [&dyn Plan; 3] = [&clear, &keep, &prune];
        let (work, would) = work::of(|| repo.compare(call, &options, &plans));
        would.expect("compared").into_iter().for_each(done);
        assert_eq!(work, Work { bodies: 3, ..once });
    }
}
