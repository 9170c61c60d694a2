//! The end of a path while commits are added to it: its context, folded on, and checkpoints on the
//! way.

use std::borrow::Cow;

use crate::context::{Context, Order};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{
    Author, Commit, Draft, EntryId, Interval, Message, Millis, Operation, Sealed, depth,
};
use crate::repo::stretches::Outline;
use crate::repo::{load, reissue};
use crate::store::{Prepared, Tx, View};

/// Commits since the last checkpoint before another is worth writing, at least.
const CHECKPOINT_COMMITS: u64 = 256;

/// Up to how many commits that are no appends are looked at to tell how many messages are visible.
const FEW: usize = 256;

/// How many visible entries a checkpoint may name at any time: to read more of them from it costs no less
/// than to read them from the path.
const LARGE: u64 = 100_000;

/// The end of a path while commits are added to it.
pub(crate) struct Chain<'a> {
    tip: Option<CommitHash>,
    /// The first entry of the order, where somebody knows it.
    first: Option<EntryId>,
    /// The context at the tip, once something needed it.
    context: Option<Context>,
    /// What changes the conversation up to a commit on the way, where someone knows that already, and
    /// the commits that came after it.
    outline: Option<(&'a Outline, Vec<(CommitHash, Commit)>)>,
    /// The context at a commit to come, where someone has folded it already.
    foreseen: Option<Foreseen>,
    /// Whether the last commit was folded into more than what is visible.
    took_whole: bool,
    /// Commits since a checkpoint, once known.
    since: Option<u64>,
    /// Who makes the commits for which nobody else is named.
    signature: Option<Author>,
}

/// A commit that is not made yet, and the context at it.
#[derive(Clone)]
pub(crate) struct Foreseen {
    commit: CommitHash,
    context: Context,
    takes_whole: bool,
}

impl<'a> Chain<'a> {
    /// At `tip`; nothing is read yet.
    pub(crate) fn at(tip: Option<CommitHash>) -> Self {
        let empty = tip.is_none();
        Self {
            tip,
            first: None,
            context: empty.then(Context::default),
            outline: None,
            foreseen: None,
            took_whole: false,
            since: empty.then_some(0),
            signature: None,
        }
    }

    /// The same, where commits for which nobody is named are somebody's. A copy stays whose its original is.
    pub(crate) fn signed_by(self, who: Option<&Author>) -> Self {
        Self {
            signature: who.cloned(),
            ..self
        }
    }

    /// At `tip`, where nothing follows.
    pub(crate) fn ended(tip: Option<CommitHash>) -> Self {
        Self {
            context: None,
            since: None,
            ..Self::at(tip)
        }
    }

    /// At `tip`, whose context or outline is known already.
    pub(crate) fn outlined(
        tip: Option<CommitHash>,
        context: Option<Context>,
        outline: Option<&'a Outline>,
        foreseen: Option<Foreseen>,
    ) -> Self {
        Self {
            context,
            outline: outline.map(|outline| (outline, Vec::new())),
            foreseen,
            ..Self::at(tip)
        }
    }

    /// The tip, to which drafts were tried, and the context there.
    pub(crate) fn foreseen(self) -> Option<Foreseen> {
        Some(Foreseen {
            commit: self.tip?,
            context: self.context?,
            takes_whole: self.took_whole,
        })
    }

    /// What changes the conversation up to the tip, where it began with what changes it up to another.
    pub(crate) fn outline(&self, view: &dyn View) -> Result<Option<Outline>> {
        let known = self.outline.as_ref();
        let then = known.map(|(outline, ahead)| outline.then(view, ahead));
        then.transpose()
    }

    /// The last commit.
    pub(crate) fn tip(&self) -> Option<CommitHash> {
        self.tip
    }

    /// The context at the tip.
    pub(crate) fn context(&mut self, view: &dyn View) -> Result<&Context> {
        let context = match (self.context.take(), &self.tip) {
            (Some(context), _) => context,
            (None, Some(tip)) => match self.outline(view)? {
                Some(outline) => outline.context(view)?,
                None => load::context(view, tip)?,
            },
            (None, None) => Context::default(),
        };
        Ok(self.context.insert(context))
    }

    /// How many messages are visible at the tip, which is stored: told by the few commits that are no appends,
    /// where the context is not here.
    fn visible(&mut self, view: &dyn View) -> Result<u64> {
        if self.context.is_none() {
            let outline = match (self.outline(view)?, &self.tip) {
                (None, Some(tip)) => Outline::of_few(view, tip, FEW)?,
                (outline, _) => outline,
            };
            if let Some(outline) = outline {
                return Ok(outline.visible().len() as u64);
            }
        }
        Ok(self.context(view)?.entries.len() as u64)
    }

    /// Moves on to a commit that is stored already.
    pub(crate) fn follow(
        &mut self,
        view: &dyn View,
        hash: CommitHash,
        commit: &Commit,
    ) -> Result<()> {
        if let Some(context) = self.context.take() {
            self.context = Some(load::next(view, context, hash, commit)?);
        }
        self.since = self.since.map(|since| since + 1);
        self.tip = Some(hash);
        Ok(())
    }

    /// The commit that `draft` would be here, word for word.
    pub(crate) fn commit_of(&self, draft: &Draft, time: Option<Millis>) -> Sealed<Commit> {
        let signed = self.signature.as_ref().filter(|_| draft.origin.is_none());
        Sealed::new(Commit {
            parent: self.tip,
            operation: draft.operation.clone(),
            time,
            settings: draft.settings.clone(),
            note: draft.note.clone(),
            author: draft.author.as_ref().or(signed).cloned(),
            merged: draft.merged,
            origin: draft.origin,
        })
    }

    /// Moves on to the commit that `draft` would be here, without storing it. What becomes of the
    /// draft is returned, as by [`Chain::push`].
    ///
    /// # Errors
    ///
    /// Those of [`Order::apply`].
    pub(crate) fn try_draft<'d>(
        &mut self,
        view: &dyn View,
        draft: &'d Draft,
        time: Option<Millis>,
    ) -> Result<Cow<'d, Draft>> {
        let draft = reissue::renew(view, draft)?;
        let commit = self.commit_of(&draft, time);
        let hash = commit.hash();
        self.fold(view, hash, &commit)?;
        self.tip = Some(hash);
        Ok(draft)
    }

    /// Says which entry is the first of the order here.
    pub(crate) fn begins_with(&mut self, first: Option<EntryId>) {
        self.first = first;
    }

    /// A hide that names what is visible alone and hides the same of it: one that reaches back to the
    /// first entry of all reaches to the first that is visible. Each further compaction of a session
    /// is such a one, and a fold from the root at each made an import quadratic.
    fn within_visible(&self, context: &Context, commit: &Commit) -> Option<Commit> {
        let (Operation::Hide(hide), Some(first)) = (&commit.operation, self.first) else {
            return None;
        };
        let visible = context.entries.front()?.id;
        let reaches_back = |interval: &Interval| interval.first == first;
        if visible == first || !hide.intervals.iter().any(reaches_back) {
            return None;
        }
        let mut hide = hide.clone();
        let intervals = hide.intervals.iter_mut();
        for interval in intervals.filter(|interval| reaches_back(interval)) {
            interval.first = visible;
        }
        let mut within = commit.clone();
        within.operation = Operation::Hide(hide);
        Some(within)
    }

    /// Folds the next commit into the context: into what is visible, or, where it names anything
    /// else, into what changes the whole path. Whether who knows only what is visible would have to take the
    /// latter.
    fn fold(&mut self, view: &dyn View, hash: CommitHash, commit: &Commit) -> Result<bool> {
        let takes_whole = match (&self.context, self.outline.is_some()) {
            (None, true) => {
                let outline = self.outline(view)?;
                let shows = outline.map(|outline| outline.shows_all(view, &commit.operation));
                shows.transpose()?.map(|shows| !shows)
            }
            _ => None,
        };
        if let Some((_, ahead)) = &mut self.outline {
            ahead.push((hash, commit.clone()));
        }
        // Of what stands together nothing is folded one by one.
        if let Some(takes_whole) = takes_whole {
            return Ok(takes_whole);
        }
        self.context(view)?;
        let before = self.context.take();
        if let Some(foreseen) = self.foreseen.take_if(|foreseen| foreseen.commit == hash) {
            self.context = Some(foreseen.context);
            return Ok(foreseen.takes_whole);
        }
        let within = before.as_ref();
        let within = within.and_then(|context| self.within_visible(context, commit));
        let known = within.as_ref().unwrap_or(commit);
        let next = before.and_then(|context| context.advance(hash, known));
        let takes_whole = next.is_none() || within.is_some();
        self.took_whole = takes_whole;
        self.context = Some(match (next, &self.outline, &self.tip) {
            (Some(next), ..) => next,
            (None, Some((outline, ahead)), _) => outline.then(view, ahead)?.context(view)?,
            (None, None, Some(tip)) => {
                let next = [(hash, commit.clone())];
                Outline::of(view, tip)?.then(view, &next)?.context(view)?
            }
            (None, None, None) => {
                let mut order = Order::default();
                order.apply(hash, commit)?;
                order.context()
            }
        });
        Ok(takes_whole)
    }

    /// Adds the commit of a draft, and returns it with the draft as it came in: a message that was
    /// erased once has another name there.
    pub(crate) fn push<'d>(
        &mut self,
        tx: &dyn Tx,
        draft: &'d Draft,
        time: Option<Millis>,
    ) -> Result<(Sealed<Commit>, Cow<'d, Draft>)> {
        self.push_prepared(tx, draft, Vec::new(), time)
    }

    /// The same where something was worked out of its first messages.
    pub(crate) fn push_prepared<'d>(
        &mut self,
        tx: &dyn Tx,
        draft: &'d Draft,
        mut prepared: Vec<Prepared>,
        time: Option<Millis>,
    ) -> Result<(Sealed<Commit>, Cow<'d, Draft>)> {
        let draft = reissue::renew(tx, draft)?;
        if matches!(draft, Cow::Owned(_)) {
            // It was worked out of other ones.
            prepared.clear();
        }
        let commit = self.commit_of(&draft, time);
        self.put(tx, &draft.messages, prepared)?;
        self.put_commit(tx, &commit)?;
        Ok((commit, draft))
    }

    /// Adds a commit with the messages that it names. An append reads nothing of what stands before
    /// it; every other operation is folded first, and so refused if it names what is not on this
    /// path.
    pub(crate) fn add(
        &mut self,
        tx: &dyn Tx,
        messages: &[Sealed<Message>],
        commit: &Sealed<Commit>,
    ) -> Result<()> {
        self.put(tx, messages, Vec::new())?;
        self.put_commit(tx, commit)
    }

    fn put(
        &self,
        tx: &dyn Tx,
        messages: &[Sealed<Message>],
        prepared: Vec<Prepared>,
    ) -> Result<()> {
        let mut prepared = prepared.into_iter();
        for message in messages {
            depth::check_message(message)?;
            tx.put_message(message, prepared.next())?;
        }
        Ok(())
    }

    fn put_commit(&mut self, tx: &dyn Tx, commit: &Sealed<Commit>) -> Result<()> {
        for (key, json) in &commit.settings {
            depth::check_json(&format!("the setting '{key}'"), json, 1)?;
        }
        let hash = commit.hash();
        let append = matches!(commit.operation, Operation::Append { .. });
        let is_followed = self.context.is_some() || self.outline.is_some();
        let takes_whole = (!append || is_followed) && self.fold(tx, hash, commit)?;
        tx.put_commit(commit)?;
        self.tip = Some(hash);
        let since = match self.since {
            Some(since) => since + 1,
            None => tx.commits_since_checkpoint(&hash)?,
        };
        self.since = Some(since);
        // Whether a checkpoint is due depends on how much is visible, so that none takes longer to
        // write than what it spares. Where nothing was folded, it is looked at now and then only.
        let due = (takes_whole && self.visible(tx)? <= LARGE)
            || (since >= CHECKPOINT_COMMITS && (!append || since % CHECKPOINT_COMMITS == 0) && {
                let visible = self.visible(tx)?;
                2 * since >= visible && (append || visible <= LARGE)
            });
        if due {
            let context = self.context(tx)?;
            tx.put_checkpoint(&hash, context)?;
            self.since = Some(0);
        }
        Ok(())
    }
}
