//! Another path brought into this one: what it has said comes at the end, and what it changed of messages that both
//! have is changed here.
//!
//! What is here keeps its place, so that a provider's cache stays. Each commit that comes of one of the other path says
//! so (`origin`), and the last bears the other path's tip (`merged`): what was brought once is never brought again.
//! Deliberately absent: any look at when a commit was made, and a third order of what two paths said.

mod other;
mod replay;
mod said;
mod under_way;

use std::collections::BTreeMap;

use crate::context::plan::carry::{Clash, Whose};
use crate::context::plan::pick;
use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId, Head, Message, Operation, Priority, RefName};
use crate::repo::ancestry;
use crate::repo::call::Call;
use crate::repo::expect::Expect;
use crate::repo::merge_state::{MergeForm, Side, UnderWay};
use crate::repo::path;
use crate::repo::repository::Repo;
use crate::rewrite::{Needs, Surgery, SurgeryOptions};
use other::Other;
use replay::{Replay, Replayed};

/// How to merge.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// What is brought.
    pub form: MergeForm,
    /// Whose change holds of each message that both paths changed; none: that is a conflict.
    pub settle: Option<Whose>,
    /// Whether it may be a path that begins elsewhere.
    pub unrelated: bool,
    /// How to carry it out.
    pub surgery: SurgeryOptions,
}

/// Makes a summary of messages. Nothing is locked while it runs, and what it fails with fails the merge.
pub type MergeSummary<'a> = &'a mut dyn FnMut(&[Message]) -> Result<String>;

/// What became of a merge.
#[derive(Clone, Debug)]
pub enum Merge {
    /// All of the other path is here already; nothing was written.
    Here,
    /// This path was a beginning of the other, so the branch went, or would go, on to its end.
    Forward {
        /// The branch.
        branch: RefName,
        /// Where it is now.
        to: CommitHash,
        /// How many commits it went on.
        commits: usize,
    },
    /// It was merged or, in a dry run, would be.
    Made(Box<Merged>),
    /// Both paths changed these messages differently. Nothing was written but that a merge is under way.
    Conflicts(Vec<MergeConflict>),
}

/// What a merge brought.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// What it changed in the context.
    pub surgery: Surgery,
    /// The other path's own visible messages, of which all of this is told.
    pub said: usize,
    /// As what they came.
    pub form: MergeForm,
    /// How many changes of shared messages were made here as well.
    pub changes: usize,
    /// The changes of the other path that were not, with why.
    pub left_out: Vec<(CommitHash, Refusal)>,
    /// Messages that could not come: of a call without a result, or purged.
    pub incomplete: usize,
}

/// A message that both paths changed differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeConflict {
    /// Both changes.
    pub clash: Clash,
    /// The number of the message here, if it is visible.
    pub number: Option<usize>,
    /// One line of it. Hostile until escaped.
    pub preview: String,
}

impl Repo {
    /// Brings in the path that ends in `theirs`, as one operation. `name` is what people call it.
    ///
    /// ```
    /// use tract::rewrite::{Merge, MergeOptions};
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Message, RefName, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let say = |role, text| [Draft::append(Message::text(role, text))];
    /// let options = CommitOptions::default();
    /// repo.commit(Call::default(), &say(Role::User, "the task"), &options)?;
    /// let idea = RefName::branch("idea")?;
    /// repo.create_branch(Call::default(), &idea, "HEAD")?;
    /// let there = On::Branch(idea);
    /// let call = Call::default().on(&there);
    /// let done = repo.commit(call, &say(Role::Assistant, "It is the cache."), &options)?;
    /// repo.commit(Call::default(), &say(Role::Assistant, "I look."), &options)?;
    ///
    /// let merge = repo.merge(Call::default(), &done[0].hash, "idea", &MergeOptions::default(), None)?;
    /// let Merge::Made(merged) = merge else { panic!("{merge:?}") };
    /// assert_eq!((merged.said, merged.surgery.after.messages), (1, 3));
    /// let again = repo.merge(Call::default(), &done[0].hash, "idea", &MergeOptions::default(), None)?;
    /// assert!(matches!(again, Merge::Here));
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where a merge is under way, the paths have nothing in common, a call waits at the end of this
    /// one, or there is no summary; [`Error::DetachedHead`]; what the maker of the summary returns; and whatever
    /// [`Repo::operate`] does.
    pub fn merge(
        &self,
        call: Call<'_>,
        theirs: &CommitHash,
        name: &str,
        options: &MergeOptions,
        summary: Option<MergeSummary<'_>>,
    ) -> Result<Merge> {
        if !options.surgery.dry_run && self.merge_under_way(call.on)?.is_some() {
            return Err(Error::Refused(Refusal::MergeUnderWay));
        }
        let settled = BTreeMap::new();
        let made = self.merge_settled(call, theirs, name, options, &settled, summary)?;
        if let (Merge::Conflicts(_), false) = (&made, options.surgery.dry_run) {
            let under_way = UnderWay {
                theirs: *theirs,
                name: name.to_owned(),
                form: options.form.as_str().to_owned(),
                unrelated: options.unrelated,
                settled,
            };
            self.put_under_way(call.on, Some(&under_way))?;
        }
        Ok(made)
    }

    /// Goes on with the merge that is under way on a branch, with what was settled since. With [`MergeOptions::settle`] all
    /// the rest is settled, too; its form is that with which it began.
    ///
    /// # Errors
    ///
    /// As [`Repo::merge`]; [`Error::Refused`] where none is under way.
    pub fn merge_on(
        &self,
        call: Call<'_>,
        options: &MergeOptions,
        summary: Option<MergeSummary<'_>>,
    ) -> Result<Merge> {
        let under_way = self.must_be_under_way(call.on)?;
        let options = MergeOptions {
            form: under_way.form(),
            unrelated: under_way.unrelated,
            ..options.clone()
        };
        let UnderWay {
            theirs,
            name,
            settled,
            ..
        } = &under_way;
        let made = self.merge_settled(call, theirs, name, &options, settled, summary)?;
        if !matches!(made, Merge::Conflicts(_)) && !options.surgery.dry_run {
            self.put_under_way(call.on, None)?;
        }
        Ok(made)
    }

    /// Looks anew what is to be done, whenever another process has moved the branch: perhaps nothing any more, perhaps the branch only
    /// goes on.
    fn merge_settled(
        &self,
        call: Call<'_>,
        theirs: &CommitHash,
        name: &str,
        options: &MergeOptions,
        settled: &BTreeMap<EntryId, Side>,
        mut summary: Option<MergeSummary<'_>>,
    ) -> Result<Merge> {
        // What was summed up once is not summed up again.
        let mut known: Option<(Vec<Message>, String)> = None;
        let mut made = |messages: &[Message]| -> Result<Option<String>> {
            let Some(make) = &mut summary else {
                return Ok(None);
            };
            if known.as_ref().is_none_or(|(of, _)| of != messages) {
                known = Some((messages.to_owned(), make(messages)?));
            }
            Ok(known.as_ref().map(|(_, text)| text.clone()))
        };
        let mut attempt = 1;
        loop {
            match self.merge_here(call, theirs, name, options, settled, &mut made) {
                Err(Error::RefMoved { .. })
                    if attempt < super::ATTEMPTS && options.surgery.expect.is_none() =>
                {
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    fn merge_here(
        &self,
        call: Call<'_>,
        theirs: &CommitHash,
        name: &str,
        options: &MergeOptions,
        settled: &BTreeMap<EntryId, Side>,
        summary: &mut dyn FnMut(&[Message]) -> Result<Option<String>>,
    ) -> Result<Merge> {
        let SurgeryOptions { dry_run, .. } = options.surgery;
        let head = self.head(call.on)?;
        if !dry_run {
            self.refuse_detached(call.on)?;
        }
        let ours = head.commit();
        let view = self.store.read()?;
        let is_begin = match &ours {
            None => true,
            Some(ours) if ancestry::leads_to(&*view, theirs, ours)? => return Ok(Merge::Here),
            Some(ours) => ancestry::leads_to(&*view, ours, theirs)?,
        };
        if let (true, Head::Attached { branch, .. }) = (is_begin, &head) {
            let commits = ancestry::beyond(&*view, theirs, ours.as_slice())?.len();
            drop(view);
            if !dry_run {
                self.advance(call, *theirs, ours.map_or(Expect::Nothing, Expect::At))?;
            }
            return Ok(Merge::Forward {
                branch: branch.clone(),
                to: *theirs,
                commits,
            });
        }
        let Some(ours) = ours else {
            return Err(Error::no_commit(call.on.to_string()));
        };
        if !options.unrelated && path_apart(&*view, &ours, theirs)? {
            let name = name.to_owned();
            return Err(Error::Refused(Refusal::NothingInCommon { name }));
        }
        let told = match options.form {
            MergeForm::Message => {
                let other = Other::of(&*view, &ours, theirs)?;
                let said = said::own(&*view, &other)?;
                let from = said::From::of(&*view, theirs, name, said.len())?;
                let messages = said::messages(&*view, &said)?;
                drop(view);
                let made = if dry_run || messages.is_empty() {
                    None
                } else {
                    summary(&messages)?
                };
                let text = made.or_else(|| said::last_answer(&messages));
                (!messages.is_empty())
                    .then(|| said::told(&from, text.as_deref()))
                    .transpose()?
            }
            MergeForm::Messages | MergeForm::Prompts => {
                drop(view);
                None
            }
        };
        let settle = |clash: &Clash| {
            let by_name = settled.get(&clash.here).map(|side| side.whose());
            by_name.or(options.settle)
        };
        let mut replayed = Replayed::default();
        let done = self.operate(call, Needs::messages(), &options.surgery, |scene| {
            // What was looked at before holds of this commit alone.
            let branch = head.branch().cloned().unwrap_or_else(RefName::head);
            Expect::At(ours).hold(&branch, scene.tip)?;
            pick::refuse_open(&scene.input)?;
            let tip = ours;
            let view = self.store.read()?;
            let other = Other::of(&*view, &tip, theirs)?;
            let mut replay = Replay::new(&*view, tip, &other, call.now, &settle, self.signature())?;
            replay.all(options.form == MergeForm::Messages)?;
            replayed = replay.done;
            if !replayed.clashes.is_empty() {
                return Ok(Vec::new());
            }
            let mut drafts = std::mem::take(&mut replayed.drafts);
            match options.form {
                MergeForm::Message => drafts.extend(told.clone().map(Draft::append)),
                MergeForm::Prompts => drafts.extend(said::prompts(&*view, &other)?),
                MergeForm::Messages => {}
            }
            match drafts.last_mut() {
                Some(last) => last.merged = Some(*theirs),
                None => drafts.push(nothing(*theirs)),
            }
            replayed.said = said::own(&*view, &other)?.len();
            Ok(drafts)
        })?;
        if replayed.clashes.is_empty() {
            return Ok(Merge::Made(Box::new(Merged {
                surgery: done,
                said: replayed.said,
                form: options.form,
                changes: replayed.changes,
                left_out: replayed.left_out,
                incomplete: replayed.incomplete,
            })));
        }
        let view = self.store.read()?;
        Ok(Merge::Conflicts(said::conflicts(
            &*view,
            &ours,
            &replayed.clashes,
        )?))
    }
}

/// Whether two histories have nothing in common.
fn path_apart(
    view: &dyn crate::store::View,
    ours: &CommitHash,
    theirs: &CommitHash,
) -> Result<bool> {
    if path::last_shared(view, ours, theirs)?.is_some() {
        return Ok(false);
    }
    Ok(ancestry::bases(view, ours, theirs)?.is_empty())
}

/// A commit that does nothing but say what it merged: all that the other path says is here already.
fn nothing(theirs: CommitHash) -> Draft {
    let operation = Operation::Annotate {
        targets: Vec::new(),
        priority: Priority::Normal,
        reason: None,
    };
    Draft {
        merged: Some(theirs),
        ..Draft::new(operation, Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;
    use crate::repo::{CommitOptions, On, ResetMode};

    fn say(repo: &Repo, on: &On, text: &str) -> CommitHash {
        let draft = Draft::append(Message::text(Role::User, text));
        let call = Call::default().on(on);
        let made = repo.commit(call, &[draft], &CommitOptions::default());
        made.expect("committed")[0].hash
    }

    fn tip(repo: &Repo) -> Option<CommitHash> {
        repo.head(&On::Head).expect("a head").commit()
    }

    /// A branch beside main, both with a message of their own; and where it ends.
    fn parted() -> (Repo, CommitHash) {
        let repo = crate::laws::repository();
        say(&repo, &On::Head, "the task");
        let idea = RefName::branch("idea").expect("a name");
        repo.create_branch(Call::default(), &idea, "HEAD")
            .expect("made");
        let theirs = say(&repo, &On::Branch(idea), "beside");
        say(&repo, &On::Head, "here");
        (repo, theirs)
    }

    fn merge(repo: &Repo, theirs: &CommitHash, meanwhile: &mut dyn FnMut()) -> (Merge, usize) {
        let mut asked = 0;
        let mut summary = |_: &[Message]| {
            asked += 1;
            meanwhile();
            Ok("a summary".to_owned())
        };
        let options = MergeOptions::default();
        let made = repo.merge(
            Call::default(),
            theirs,
            "idea",
            &options,
            Some(&mut summary),
        );
        (made.expect("merged"), asked)
    }

    #[test]
    fn what_another_has_merged_meanwhile_is_not_merged_again() {
        let (repo, theirs) = parted();
        let mut after = None;
        let (made, asked) = merge(&repo, &theirs, &mut || {
            merge(&repo, &theirs, &mut || ());
            after = tip(&repo);
        });
        assert!(matches!(made, Merge::Here), "{made:?}");
        assert_eq!((tip(&repo), asked), (after, 1));
    }

    #[test]
    fn a_branch_that_was_reset_meanwhile_goes_on_as_one_that_was_reset_before() {
        let (repo, theirs) = parted();
        let (made, _) = merge(&repo, &theirs, &mut || {
            let moved = repo.reset(Call::default(), "HEAD~1", ResetMode::Soft);
            drop(moved.expect("reset"));
        });
        assert!(
            matches!(made, Merge::Forward { commits: 1, .. }),
            "{made:?}"
        );
        assert_eq!(tip(&repo), Some(theirs));
    }

    #[test]
    fn what_was_summed_up_once_is_not_summed_up_again() {
        let (repo, theirs) = parted();
        let (made, asked) = merge(&repo, &theirs, &mut || {
            say(&repo, &On::Head, "meanwhile");
        });
        assert!(matches!(made, Merge::Made(_)), "{made:?}");
        assert_eq!(asked, 1);
    }
}
