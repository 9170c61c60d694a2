//! Copies of messages from anywhere, at the end: what stands before them stays as it is, and with it
//! what a provider's prompt cache holds. And what operations of other paths do there, done here.

use std::collections::BTreeMap;

use crate::context::OrderEntry;
use crate::context::plan::pick;
use crate::context::plan::restore::Lost;
use crate::error::{Error, Refusal, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Draft, EntryId, Message, Part, RefName, Sealed};
use crate::repo::call::{Call, On};
use crate::repo::repository::Repo;
use crate::repo::revision::Named;
use crate::repo::{load, reissue};
use crate::rewrite::carry::{Carrier, fitting};
use crate::rewrite::{Needs, Surgery, SurgeryOptions, scene};
use crate::store::View;

/// A message that is to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Picked {
    /// A commit whose path has it and its tool partners.
    pub tip: CommitHash,
    /// The message.
    pub entry: EntryId,
    /// Only this part of it, counted from 0; of a call or a result, both.
    pub part: Option<u32>,
}

/// What is to be picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pickable {
    /// A message, or a part of one, to be copied.
    Message(Picked),
    /// A commit that is no message, for what it does.
    Operation(CommitHash),
}

/// What became of a pick.
#[derive(Clone, Debug, Default)]
pub struct CherryPicked {
    /// What it changed in the context.
    pub surgery: Surgery,
    /// The operations of which nothing is to be done here.
    pub already: Vec<CommitHash>,
    /// How many messages they change there that are not here.
    pub missing: usize,
    /// How many they hide there that stay here.
    pub spared: usize,
}

impl Repo {
    /// The message, or the part of one, that `text` names, on whichever branch or session it is.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve_entry`].
    pub fn resolve_picked(&self, on: &On, text: &str) -> Result<Picked> {
        if let Some((base, _)) = text.rsplit_once('#')
            && let Ok(Named::Part(_, part)) = self.resolve_named(on, text)
        {
            let part = Some(part);
            let whole = self.resolve_picked(on, base)?;
            return Ok(Picked { part, ..whole });
        }
        let part = None;
        let entry = self.resolve_entry(on, text)?;
        let numbered = text.rsplit_once(':');
        let numbered = numbered.filter(|(_, number)| number.parse::<i64>().is_ok());
        if let Some((base, _)) = numbered {
            let base = if base.is_empty() { "HEAD" } else { base };
            let tip = self.resolve(on, base)?;
            return Ok(Picked { tip, entry, part });
        }
        // Its partners come after it: a path is asked for that goes on.
        let commit = self.resolve(on, text)?;
        let view = self.store.read()?;
        let own = self.head(on)?.commit().into_iter();
        let named = [RefName::HEADS, RefName::SESSIONS, RefName::TAGS];
        let mut tips: Vec<CommitHash> = own.collect();
        for prefix in named {
            let found = load::tips(&*view, prefix)?;
            tips.extend(found.into_iter().map(|(_, tip)| tip));
        }
        for tip in tips {
            if view.is_ancestor(&commit, &tip)? {
                return Ok(Picked { tip, entry, part });
            }
        }
        Ok(Picked {
            tip: commit,
            entry,
            part,
        })
    }

    /// The hidden messages of the context at `on` that `lost` means, to be copied.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for what no hide covers; [`Error::EmptyBranch`].
    pub fn lost_messages(&self, on: &On, lost: &[Lost]) -> Result<Vec<Picked>> {
        let tip = self.resolve(on, "HEAD")?;
        let order: Vec<OrderEntry> = self.order(&tip)?.entries().collect();
        let entries = meant(order.iter(), lost)?.into_iter();
        let part = None;
        Ok(entries.map(|entry| Picked { tip, entry, part }).collect())
    }

    /// Moves hidden messages, with their tool partners and what is attached to them, to right before
    /// `before`: there they are seen, with all their parts, and in their old places they stay hidden.
    ///
    /// ```
    /// use tract::rewrite::{Lost, Reach, Truncate};
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let texts = ["the task", "a decision", "much else", "go on"];
    /// let drafts = texts.map(|text| Draft::append(Message::text(Role::User, text)));
    /// let made = repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    /// let options = SurgeryOptions::default();
    /// repo.carry_out(Call::default(), &Truncate::new(Reach::Keep(1)), &options)?;
    ///
    /// let decision = [Lost::Entry(made[1].hash.into())];
    /// let before = repo.resolve_entry(&On::Head, ":-1")?;
    /// let done = repo.restore_before(Call::default(), &decision, before, &options)?;
    /// assert_eq!((done.shown[0].number, done.shown[0].preview.as_str()), (3, "a decision"));
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for what no hide covers, for a call without a result, and where `before` is
    /// not in the context; what [`Repo::operate`] returns.
    pub fn restore_before(
        &self,
        call: Call<'_>,
        lost: &[Lost],
        before: EntryId,
        options: &SurgeryOptions,
    ) -> Result<Surgery> {
        let needs = Needs {
            together: false,
            ..Needs::hidden_too()
        };
        self.operate(call, needs, options, |scene| {
            let order = scene.input.order.iter().map(|entry| &entry.entry);
            let entries = meant(order, lost)?;
            Ok(vec![pick::moved(&scene.input, &entries, &before)?])
        })
    }

    /// Appends copies of messages, with their tool partners and what is attached to them: each as it
    /// is there now, with all its parts. Nothing before them changes.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let texts = ["the task", "a decision", "go on"];
    /// let drafts = texts.map(|text| Draft::append(Message::text(Role::User, text)));
    /// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    ///
    /// let picked = repo.resolve_picked(&On::Head, ":2")?;
    /// let done = repo.pick(Call::default(), &[picked], &SurgeryOptions::default())?;
    /// assert_eq!(done.shown[0].preview, "a decision");
    /// assert_eq!(done.after.messages, 4);
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a call without a result, and where one waits at the end of the context;
    /// [`Error::Purged`]; what [`Repo::operate`] returns.
    pub fn pick(
        &self,
        call: Call<'_>,
        picked: &[Picked],
        options: &SurgeryOptions,
    ) -> Result<Surgery> {
        let copies = self.copies(picked)?;
        self.operate(call, Needs::messages(), options, |scene| {
            pick::refuse_open(&scene.input)?;
            Ok(copies.clone())
        })
    }

    /// What `text` names to be picked: a commit that is no message, by its hash or a ref, for what it does;
    /// else a message or a part of one.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve_entry`].
    pub fn resolve_pickable(&self, on: &On, text: &str) -> Result<Pickable> {
        if !text.contains([':', '#']) {
            let commit = self.resolve(on, text)?;
            let row = load::commit(&*self.store.read()?, &commit)?;
            if row.appended().is_none() {
                return Ok(Pickable::Operation(commit));
            }
        }
        Ok(Pickable::Message(self.resolve_picked(on, text)?))
    }

    /// Appends copies of messages as [`Repo::pick`] does, then does what the named operations of other paths do
    /// there: edits, hides, restores and priorities, to the messages here that they are about or to copies
    /// of those. The author, the note and the settings of an operation come along.
    ///
    /// ```
    /// use tract::rewrite::Pickable;
    /// use tract::repo::{Call, CommitOptions, On, Repo, Target};
    /// use tract::rewrite::SurgeryOptions;
    /// use tract::model::{Draft, Message, RefName, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let say = |text| Draft::append(Message::text(Role::User, text));
    /// let how = CommitOptions::default();
    /// let one = repo.commit(Call::default(), &[say("the task"), say("a mistake")], &how)?[1].hash;
    /// repo.checkout(Call::default(), &Target::NewBranch(RefName::branch("idea")?, None))?;
    /// let edit = Draft::edit(one.into(), Message::text(Role::User, "set right"));
    /// let edit = repo.commit(Call::default(), &[edit], &how)?[0].hash;
    /// repo.checkout(Call::default(), &Target::Named("main".into()))?;
    ///
    /// let picked = [Pickable::Operation(edit)];
    /// let done = repo.cherry_pick(Call::default(), &picked, &SurgeryOptions::default())?;
    /// assert_eq!(done.surgery.changed[0].preview, "a mistake");
    /// let again = repo.cherry_pick(Call::default(), &picked, &SurgeryOptions::default())?;
    /// assert_eq!(again.already, [edit]);
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Repo::pick`]; [`Error::DoesNotFit`] where what an operation changes is not here, and
    /// [`Error::Conflicts`] where that was changed differently.
    pub fn cherry_pick(
        &self,
        call: Call<'_>,
        picked: &[Pickable],
        options: &SurgeryOptions,
    ) -> Result<CherryPicked> {
        let (mut messages, mut operations) = (Vec::new(), Vec::new());
        for one in picked {
            match one {
                Pickable::Message(message) => messages.push(*message),
                Pickable::Operation(commit) => operations.push(*commit),
            }
        }
        let copies = self.copies(&messages)?;
        let mut done = CherryPicked::default();
        done.surgery = self.operate(call, Needs::messages(), options, |scene| {
            if !copies.is_empty() {
                pick::refuse_open(&scene.input)?;
            }
            (done.already, done.missing, done.spared) = Default::default();
            let view = self.store.read()?;
            let mut drafts = copies.clone();
            let mut chain = scene.chain();
            let (mut made, mut next) = (Vec::new(), 0);
            for hash in &operations {
                for draft in &drafts[next..] {
                    let draft = reissue::renew(&*view, draft)?;
                    let commit = chain.commit_of(&draft, Some(call.now));
                    chain.try_draft(&*view, &draft, Some(call.now))?;
                    made.push((commit, draft.into_owned()));
                }
                next = drafts.len();
                let commit = load::commit(&*view, hash)?.commit;
                if view.purged(&commit.operation.contents())?.contains(&true) {
                    return Err(Error::Purged);
                }
                let parent = commit.parent.as_ref();
                let mut carrier = Carrier::between(&*view, parent, scene.tip.as_ref())?;
                for (commit, draft) in &made {
                    draft.messages.iter().for_each(|it| carrier.know(it));
                    carrier.make(commit.hash(), commit)?;
                }
                let carried = carrier.carry(hash, &commit, &|_| None)?;
                match fitting(hash, &commit, carried)? {
                    Some(fit) => {
                        done.missing += fit.missing.len();
                        done.spared += fit.spared.len();
                        drafts.extend(fit.drafts);
                    }
                    None => done.already.push(*hash),
                }
            }
            Ok(drafts)
        })?;
        Ok(done)
    }

    /// The copies to append, in the order in which their sources were named, whole messages of each
    /// before parts.
    fn copies(&self, picked: &[Picked]) -> Result<Vec<Draft>> {
        let mut sources: Vec<CommitHash> = Vec::new();
        let mut wholes: BTreeMap<CommitHash, Vec<EntryId>> = BTreeMap::new();
        for one in picked {
            if !sources.contains(&one.tip) {
                sources.push(one.tip);
            }
            let wanted = wholes.entry(one.tip).or_default();
            wanted.extend(one.part.is_none().then_some(one.entry));
        }
        let mut copies = Vec::new();
        for tip in sources {
            let view = self.store.read()?;
            let here = picked.iter().filter(|one| one.tip == tip);
            let needs = Needs {
                named: here.map(|one| one.entry).collect(),
                ..Needs::hidden_too()
            };
            // No count is asked for.
            let input = scene::input(&*view, &tip, &[], &needs)?;
            let chosen = pick::chosen(&input, &wholes[&tip])?;
            copies.extend(unpurged(&*view, &chosen)?);
            for Picked { entry, part, .. } in picked.iter().filter(|one| one.tip == tip) {
                let Some(part) = *part else { continue };
                let own = input.order[input.place(entry)?].entry.content;
                let chosen = pick::chosen(&input, &[*entry])?;
                let at = chosen.iter().position(|(_, content)| *content == own);
                let group = unpurged(&*view, &chosen)?;
                copies.extend(narrowed(group, at.expect("it was chosen"), part as usize)?);
            }
        }
        let draft = |(of, message): Copied| Draft {
            origin: Some(of.commit),
            ..Draft::append(message)
        };
        Ok(copies.into_iter().map(draft).collect())
    }
}

/// A message, and the entry of which it is a copy.
type Copied = (EntryId, Message);

/// These messages, none of which may have been purged.
fn unpurged(view: &dyn View, chosen: &[(EntryId, ContentHash)]) -> Result<Vec<Copied>> {
    let contents: Vec<ContentHash> = chosen.iter().map(|(_, content)| *content).collect();
    let found = load::contents(view, &contents)?
        .into_iter()
        .map(Sealed::new);
    let whole = found.zip(chosen).map(|(sealed, (id, name))| {
        if sealed.hash() == *name {
            Ok((*id, sealed.into_inner()))
        } else {
            Err(Error::Purged)
        }
    });
    whole.collect()
}

/// Of a message with its tool partners only one part of the message at `at`: of a call its result too,
/// of a result its call.
fn narrowed(group: Vec<Copied>, at: usize, part: usize) -> Result<Vec<Copied>> {
    let parts = &group[at].1.parts;
    let Some(meant) = parts.get(part).cloned() else {
        let last = parts.len().saturating_sub(1);
        return Err(Error::Refused(Refusal::NoSuchPart { part, last }));
    };
    let link = |part: &Part| match part {
        Part::ToolCall { id, .. } | Part::ToolResult { call: id, .. } => Some(id.clone()),
        _ => None,
    };
    let Some(id) = link(&meant) else {
        let (of, message) = group.into_iter().nth(at).expect("it has the part");
        let parts = vec![meant];
        return Ok(vec![(of, Message { parts, ..message })]);
    };
    let narrow = |(of, message): Copied| {
        let parts = message
            .parts
            .iter()
            .filter(|part| link(part).as_ref() == Some(&id));
        let parts: Vec<Part> = parts.cloned().collect();
        (!parts.is_empty()).then_some((of, Message { parts, ..message }))
    };
    Ok(group.into_iter().filter_map(narrow).collect())
}

/// The hidden messages of an order that `lost` means, and the visible ones of which parts are hidden.
fn meant<'a>(
    order: impl Iterator<Item = &'a OrderEntry> + Clone,
    lost: &[Lost],
) -> Result<Vec<EntryId>> {
    let mut found = Vec::new();
    for lost in lost {
        let before = found.len();
        let is_meant = |entry: &&OrderEntry| {
            let by_part = entry.parts_hidden_by.iter();
            match lost {
                Lost::Whole(hide) => {
                    let mut parts = by_part.map(|(hide, _)| hide);
                    entry.hidden_by.contains(hide) || parts.any(|other| other == hide)
                }
                Lost::Entry(id) => {
                    let is_hidden = !entry.visible || !entry.parts_hidden_by.is_empty();
                    entry.id == *id && is_hidden
                }
                Lost::Part(id, part) => {
                    let mut parts = by_part.map(|(_, part)| part);
                    entry.id == *id && parts.any(|other| other == part)
                }
            }
        };
        found.extend(order.clone().filter(is_meant).map(|entry| entry.id));
        if found.len() == before {
            return Err(Error::Refused(Refusal::NotHidden));
        }
    }
    Ok(found)
}
