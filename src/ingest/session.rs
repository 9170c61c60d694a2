//! One session on its way in: steps become commits, shared where the same history is here.

mod arrived;
mod deferred;
mod own;
mod untimed;

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

pub(super) use self::arrived::Arrived;
use self::deferred::Deferred;
pub(super) use self::own::refs_of;
use self::own::{Beside, Own};
use self::untimed::Untimed;
use super::ahead::{Ready, Worked, Working};
use crate::error::{Error, Result};
use crate::formats::{
    self, Action, BranchStart, Cover, Moment, SessionEnd, SessionStart, StepEntry, StepId,
};
use crate::hash::{CommitHash, ContentHash, Fingerprint, HashBytes};
use crate::model::secret::{SecretCounts, Secrets, add_counts};
use crate::model::tokens::Counter;
use crate::model::{
    Commit, Draft, EntryId, Hide, HideKind, Interval, Message, Millis, Operation, PartHide,
    RefName, Replacement, Role, Sealed, Settings, Span, TokenCount, Usage,
};
use crate::repo::chain::Chain;
use crate::repo::totals::Running;
use crate::repo::{kept, load};
use crate::store::{CommitRow, CountKey, ResumeRow, Tx, View};

/// A step whose messages have their names.
type Step = formats::Step<Sealed<Message>>;
type HideStep = formats::HideStep<Sealed<Message>>;

/// How many steps are held back at most before it is decided whether they are somebody's copy.
const LOOK_AHEAD: usize = 64;

/// A session while its steps arrive.
pub(super) struct Session<'a> {
    tool: &'static str,
    pub(super) start: SessionStart,
    mode: Mode,
    /// What each step made; none while it is deferred.
    made: Vec<Option<Made>>,
    /// Hides that the source tells no time of, until their time has come.
    deferred: VecDeque<Deferred>,
    at: Position,
    /// What the session has here already, where anything ever was purged.
    own: Option<Own>,
    messages: Messages<'a>,
    /// What came of it so far.
    pub(super) found: Found,
    /// When it is said, where it comes in meanwhile.
    pub(super) recorded: Option<Millis>,
    /// What has no time of its own.
    untimed: Untimed,
    /// A measure of the work done since someone took it.
    pub(super) work: usize,
}

/// How steps are held against the commits that are here.
///
/// A fork copies its parent's messages with new times, so their commits would differ. Found are
/// the same commits only where the beginning, up to the first reply, is the same; a reply is as
/// good as unique, a system prompt or a greeting is not.
enum Mode {
    /// It is not decided yet.
    Undecided {
        /// The steps held back meanwhile.
        held: Vec<Step>,
        /// What `resume` remembered of the session.
        resumed: Option<ResumeRow>,
    },
    /// It begins as a copy: commits that are here are looked for by content.
    Copy,
    /// By their names.
    Own,
    /// It is gone on with behind a commit, which is the first step where it is named.
    Onward(Option<CommitHash>),
}

/// Where the current path is.
struct Position {
    chain: Chain<'static>,
    /// The first and the last entry of the order.
    ends: Option<Interval>,
    beside: Beside,
    /// The last commit, where it was made here and nobody else has written since: nothing follows it.
    newest: Option<CommitHash>,
    /// What the messages come to that were appended in a row up to here.
    running: Option<Running>,
}

impl Position {
    fn at(commit: Option<CommitHash>, ends: Option<Interval>, beside: Beside) -> Self {
        Self {
            chain: Chain::at(commit),
            ends,
            beside,
            newest: None,
            running: None,
        }
    }
}

/// How messages are kept.
struct Messages<'a> {
    counter: Option<Counter>,
    /// Finds secrets in what is new, if they are looked for.
    secrets: Option<&'a Secrets>,
    /// What was worked out of messages that are not written yet.
    working: Working,
}

/// What came of a session.
#[derive(Default)]
pub(super) struct Found {
    pub(super) paths: Vec<Path>,
    /// The records behind commits that nobody has taken yet, in the order of the steps.
    pub(super) records: Vec<(CommitHash, Vec<Span>)>,
    /// Where the records behind the end of the main path end in the file, in bytes; none where it has no records.
    pub(super) reach: Option<u64>,
    pub(super) new_commits: u64,
    pub(super) messages: u64,
    pub(super) hides: Vec<(HideKind, CommitHash, Option<CommitHash>)>,
    pub(super) end: Arc<SessionEnd>,
    /// The secrets in what is new.
    pub(super) secrets: SecretCounts,
    /// Whether any was left out of a message that stands in no record of its own.
    pub(super) in_pieces: bool,
    /// The settings in force on the main path, by the steps that were told.
    pub(super) settings: Settings,
}

/// A path through the session: the main one first.
#[derive(Default)]
pub(super) struct Path {
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) tip: Option<CommitHash>,
}

/// What a step made, and the ends of the order there.
#[derive(Clone, Copy)]
struct Made {
    commit: CommitHash,
    /// How many replacements, for a hide.
    replacements: usize,
    /// The first entry that it put into the order; of a resumed step the one that it stands for.
    entry: Option<EntryId>,
    ends: Option<Interval>,
    beside: Beside,
}

impl Made {
    /// A commit that was here before.
    fn known(commit: CommitHash, entry: Option<EntryId>, ends: Option<Interval>) -> Self {
        Self {
            commit,
            replacements: 0,
            entry,
            ends,
            beside: Beside::After(Some(commit)),
        }
    }
}

impl<'a> Session<'a> {
    /// A session of `tool` that begins to arrive, and those that its file says it is a copy of.
    pub(super) fn begin(
        tx: &dyn Tx,
        tool: &'static str,
        start: SessionStart,
        originals: &dyn Fn() -> Result<Vec<RefName>>,
        counter: Option<Counter>,
        secrets: Option<&'a Secrets>,
    ) -> Result<Self> {
        Ok(Self {
            mode: Mode::Undecided {
                held: Vec::new(),
                resumed: tx.resumed(tool, &start.id)?,
            },
            own: Own::of(tx, tool, &start.id, originals)?,
            tool,
            start,
            made: Vec::new(),
            deferred: VecDeque::new(),
            at: Position::at(None, None, Beside::After(None)),
            messages: Messages {
                counter,
                secrets,
                working: Working::default(),
            },
            found: Found {
                paths: vec![Path::default()],
                ..Found::default()
            },
            recorded: None,
            untimed: Untimed::default(),
            work: 0,
        })
    }

    /// Begins behind a commit, which is the first step where `is_told`; `settings` are in force there.
    pub(super) fn go_on(&mut self, at: CommitHash, is_told: bool, settings: &Settings) {
        self.mode = Mode::Onward(is_told.then_some(at));
        self.at = Position::at(Some(at), None, Beside::After(Some(at)));
        self.found.paths[0].tip = Some(at);
        self.found.settings.clone_from(settings);
    }

    /// From here on others may have written.
    pub(super) fn let_others_in(&mut self) {
        self.at.newest = None;
    }

    /// Takes the next step.
    pub(super) fn step(&mut self, tx: &dyn Tx, step: formats::Step<Ready>) -> Result<()> {
        let step = step.with(|ready| {
            self.found.in_pieces |= ready.in_pieces;
            self.messages.working.keep(ready)
        });
        if self.found.paths.len() == 1 {
            let settings = step.settings.iter();
            let settings = settings.map(|(key, value)| (key.clone(), value.clone()));
            self.found.settings.extend(settings);
        }
        let enough = match &mut self.mode {
            Mode::Onward(first) => match first.take() {
                Some(commit) => {
                    let entry = Some(EntryId::of(commit));
                    self.made.push(Some(Made::known(commit, entry, None)));
                    return Ok(());
                }
                None => return self.take(tx, step),
            },
            Mode::Copy | Mode::Own => return self.take(tx, step),
            Mode::Undecided { held, resumed } => {
                let ends = matches!(&step.action, Action::Hide(_)) || is_reply(&step);
                held.push(step);
                match resumed {
                    Some(resume) => held.len() as u64 >= resume.messages,
                    None => ends || held.len() >= LOOK_AHEAD,
                }
            }
        };
        if enough { self.decide(tx) } else { Ok(()) }
    }

    /// Commits all that was held back: the path ends here.
    pub(super) fn settle(&mut self, tx: &dyn Tx) -> Result<()> {
        self.decide(tx)?;
        self.let_go(tx, None)?;
        self.keep_totals(tx)
    }

    /// Decides whether the steps held back are somebody's copy, and lets them go.
    fn decide(&mut self, tx: &dyn Tx) -> Result<()> {
        let Mode::Undecided { held, resumed } = &mut self.mode else {
            return Ok(());
        };
        let (mut held, resumed) = (std::mem::take(held), resumed.take());
        let carries_on = match resumed {
            Some(resume) => self.carry_on(tx, &resume, &mut held)?,
            None => false,
        };
        let copied = !carries_on && held.iter().any(is_reply) && self.is_copied(tx, &held)?;
        self.mode = if copied { Mode::Copy } else { Mode::Own };
        for step in held {
            self.take(tx, step)?;
        }
        Ok(())
    }

    /// If the steps held back begin with what `resume` wrote, goes on from the commit whose
    /// context that was.
    fn carry_on(&mut self, tx: &dyn Tx, resume: &ResumeRow, held: &mut Vec<Step>) -> Result<bool> {
        let count = usize::try_from(resume.messages).unwrap_or(usize::MAX);
        let contents = held
            .iter()
            .take(count)
            .filter_map(|step| match &step.action {
                Action::Append(message) => Some(message.hash()),
                Action::Hide(_) => None,
            });
        let contents: Vec<ContentHash> = contents.collect();
        if contents.len() != count || digest(&contents) != resume.digest {
            return Ok(false);
        }
        let context = load::context(tx, &resume.commit)?;
        let order = load::order(tx, &resume.commit)?;
        let mut entries = order.entries().map(|entry| entry.id);
        let first = entries.next();
        let ends = first.map(|first| Interval {
            first,
            last: entries.next_back().unwrap_or(first),
        });
        let tip = Some(resume.commit);
        self.at = Position::at(tip, ends, Beside::After(tip));
        held.drain(..count);
        for at in 0..count {
            let entry = context.entries.get(at).map(|entry| entry.id);
            let commit = entry.map_or(resume.commit, |entry| entry.commit);
            self.made.push(Some(Made::known(commit, entry, ends)));
        }
        self.found.messages += resume.messages;
        self.found.paths[0].tip = tip;
        Ok(true)
    }

    /// Whether all steps held back, from a root on, are here with the same contents and settings, said elsewhere and
    /// at other times. Where the times are the same, the commits are as well, and what the session has said itself is
    /// no copy: a prompt that is said again is another message.
    fn is_copied(&self, tx: &dyn Tx, held: &[Step]) -> Result<bool> {
        let (mut tip, mut beside) = (None, Beside::After(None));
        let (mut found, mut is_dated_anew) = (Vec::new(), false);
        for step in held {
            let (step, next) = self.told(tx, (tip.as_ref(), beside), Cow::Borrowed(step))?;
            let Some(row) = same_append(tx, tip.as_ref(), &step)? else {
                return Ok(false);
            };
            is_dated_anew |= row.commit.time != step.time;
            (tip, beside) = (Some(row.hash), next);
            found.push(row.hash);
        }
        Ok(is_dated_anew && self.is_elsewhere(tx, &found)?)
    }

    /// Whether any of these commits did not come from this session alone.
    fn is_elsewhere(&self, tx: &dyn Tx, commits: &[CommitHash]) -> Result<bool> {
        let own = refs_of(tx, self.tool, &self.start.id)?.0;
        // Its sub-agents' refs stand below its own.
        let is_own = |name: &RefName| {
            let below = |own: &RefName| name.as_str().strip_prefix(own.as_str());
            let mut below = own.iter().filter_map(|(own, _)| below(own));
            below.any(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        for records in tx.records(commits)? {
            let mut is_elsewhere = records.is_empty();
            for (source, _) in records {
                let row = tx.source(source)?;
                is_elsewhere |= !row.is_some_and(|row| is_own(&row.session));
            }
            if is_elsewhere {
                return Ok(true);
            }
        }
        // Of a session whose file is not here, no record is.
        let told: HashSet<RefName> = tx.with_origins()?.into_iter().collect();
        if told.is_empty() {
            return Ok(false);
        }
        for (name, tip) in load::tips(tx, RefName::SESSIONS)? {
            if told.contains(&name)
                && !is_own(&name)
                && tx.are_ancestors(commits, &tip)?.contains(&true)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The step with its messages in the form that they have here after a commit, and on the session's own paths.
    fn told<'s>(
        &self,
        tx: &dyn Tx,
        after: (Option<&CommitHash>, Beside),
        step: Cow<'s, Step>,
    ) -> Result<(Cow<'s, Step>, Beside)> {
        match &self.own {
            None => Ok((step, after.1)),
            Some(own) => {
                let (step, beside) = own.told(tx, after, step.into_owned())?;
                Ok((Cow::Owned(step), beside))
            }
        }
    }

    /// From here on steps belong to a further branch.
    pub(super) fn branch(&mut self, branch: BranchStart) -> Result<()> {
        let after = match branch.after {
            Some(StepId(step)) if step >= self.made.len() => return Err(unknown_step(step)),
            // What is not here has no place of its own.
            Some(StepId(step)) => self.made[..=step].iter().rev().flatten().next().copied(),
            None => None,
        };
        self.mode = Mode::Own;
        let beside = after.map_or(Beside::After(None), |made| made.beside);
        let (tip, ends) = (
            after.map(|made| made.commit),
            after.and_then(|made| made.ends),
        );
        self.at = Position::at(tip, ends, beside);
        self.found.paths.push(Path {
            name: Some(branch.name),
            title: branch.title,
            tip,
        });
        Ok(())
    }

    fn commit(&mut self, tx: &dyn Tx, id: StepId, step: Step) -> Result<()> {
        self.work += 1;
        let tip = self.at.chain.tip();
        let (step, beside) = self.told(tx, (tip.as_ref(), self.at.beside), Cow::Owned(step))?;
        let step = step.into_owned();
        self.at.beside = beside;
        if matches!(self.mode, Mode::Copy) {
            match same_append(tx, self.at.chain.tip().as_ref(), &step)? {
                Some(row) => {
                    self.at.chain.follow(tx, row.hash, &row.commit)?;
                    return self.note(tx, id, step, (row.hash, &row.commit), false);
                }
                // Past the first difference the paths have parted, but for the vendor's own hides,
                // which a copy repeats.
                None if matches!(step.action, Action::Append(_)) => self.mode = Mode::Own,
                None => {}
            }
        }
        let draft = self.draft(id, &step)?;
        let commit = self.at.chain.commit_of(&draft, step.time);
        let follows_newest = self.at.newest.is_some() && self.at.newest == commit.parent;
        let is_new = follows_newest || tx.commit(&commit.hash())?.is_none();
        if is_new {
            let mut count = None;
            for message in &draft.messages {
                self.work += message.parts.len();
                count = self.put(tx, message)?;
            }
            self.at
                .chain
                .begins_with(self.at.ends.map(|ends| ends.first));
            self.at.chain.add(tx, &draft.messages, &commit)?;
            self.at.newest = Some(commit.hash());
            self.found.new_commits += 1;
            self.sum_up(tx, &commit, count)?;
        } else {
            for message in &draft.messages {
                tx.heal_content(message)?;
            }
            self.at.chain.follow(tx, commit.hash(), &commit)?;
            self.at.running = None;
        }
        self.note(tx, id, step, (commit.hash(), &commit), is_new)
    }

    /// Adds a new commit to what is known of the path, where it appends a message of so many tokens.
    fn sum_up(
        &mut self,
        tx: &dyn Tx,
        commit: &Sealed<Commit>,
        count: Option<TokenCount>,
    ) -> Result<()> {
        let Some(counter) = self.messages.counter else {
            return Ok(());
        };
        let (Operation::Append { .. }, Some(count)) = (&commit.operation, count) else {
            return self.keep_totals(tx);
        };
        if self.at.running.is_none() {
            let running = Running::behind(tx, commit.parent, counter.encoding())?;
            self.at.running = Some(running);
        }
        let running = self.at.running.as_mut().expect("just put there");
        running.append(tx, commit.hash(), count)
    }

    /// Keeps what the messages come to that were appended in a row up to here.
    fn keep_totals(&mut self, tx: &dyn Tx) -> Result<()> {
        match self.at.running.take() {
            Some(mut running) => running.keep(tx),
            None => Ok(()),
        }
    }

    /// Keeps a message, and counts it if its tokens are wanted and not known: says what they are.
    fn put(&mut self, tx: &dyn Tx, message: &Sealed<Message>) -> Result<Option<TokenCount>> {
        let hash = message.hash();
        let worked = self.messages.working.take(&hash);
        let (count, is_new) = match worked {
            Some(Worked {
                count,
                prepared,
                secrets,
            }) => {
                let is_new = tx.put_message(message, Some(prepared))?;
                if is_new {
                    add_counts(&mut self.found.secrets, &secrets);
                }
                (count, is_new)
            }
            None => {
                let is_new = tx.put_content(message)?;
                if let Some(secrets) = self.messages.secrets.filter(|_| is_new) {
                    secrets.count(message.canonical().as_bytes(), &mut self.found.secrets);
                }
                (None, is_new)
            }
        };
        let Some(counter) = self.messages.counter else {
            return Ok(None);
        };
        let key = CountKey {
            content: hash,
            mask: None,
        };
        if !is_new {
            // What is erased here is not counted as what the file holds.
            let erased = self.own.is_some() && tx.purged(&[hash])?[0];
            let known = tx.counts(&[key], counter.encoding())?[0];
            if erased || known.is_some() {
                return Ok(known);
            }
        }
        let count = count.unwrap_or_else(|| counter.message(message));
        tx.put_count(key, counter.encoding(), count)?;
        Ok(Some(count))
    }

    fn draft(&self, id: StepId, step: &Step) -> Result<Draft> {
        let mut draft = match &step.action {
            Action::Append(message) => Draft::append(message.clone()),
            Action::Hide(hide) => self.hide(id, hide)?,
        };
        draft.settings = step.settings.clone();
        Ok(draft)
    }

    /// Writes down what a step made.
    fn note(
        &mut self,
        tx: &dyn Tx,
        StepId(id): StepId,
        step: Step,
        (commit, made): (CommitHash, &Commit),
        is_new: bool,
    ) -> Result<()> {
        let main = self.found.paths.len() == 1;
        let mut replacements = 0;
        let mut placed = None;
        match &made.operation {
            Operation::Append { .. } => {
                let entry = EntryId::of(commit);
                placed = Some(entry);
                self.add_entry(entry, None);
                self.found.messages += u64::from(main);
            }
            Operation::Hide(hide) => {
                replacements = hide.replacements.len();
                placed = (replacements > 0).then(|| EntryId::replacement(commit, 0, replacements));
                for (index, replacement) in hide.replacements.iter().enumerate() {
                    let entry = EntryId::replacement(commit, index, replacements);
                    self.add_entry(entry, replacement.before);
                }
                if main {
                    self.found.hides.push((hide.kind, commit, made.parent));
                }
            }
            _ => {}
        }
        // Who copies a reply may not say what it took: then zeros are written, which nobody was billed.
        if let Some(usage) = step.usage.filter(|it| *it != Usage::default())
            && (is_new || tells_more(tx, &commit, &usage)?)
        {
            let is_counted = !is_new && tx.usage(&[commit])?[0].is_some();
            let mut detail = step.detail;
            if !is_counted {
                detail.recorded = self.recorded.filter(|_| made.time.is_none());
            } else if let Some(known) = tx.usage_details(&[commit])?.remove(&commit) {
                // Neither is said by the file.
                (detail.recorded, detail.request) = (known.recorded, known.request);
            }
            tx.put_usage(&commit, usage)?;
            tx.put_usage_detail(&commit, &detail)?;
        }
        self.untimed
            .note(tx, (commit, made.parent.as_ref()), made.time)?;
        let end = |span: &Span| span.offset.saturating_add(span.len);
        let reach = step.records.iter().map(end).max();
        if !step.records.is_empty() {
            self.found.records.push((commit, step.records));
        }
        self.made[id] = Some(Made {
            commit,
            replacements,
            entry: placed,
            ends: self.at.ends,
            beside: self.at.beside,
        });
        let paths = &mut self.found.paths;
        let path = paths.last_mut().expect("the main path is there");
        if path.tip.replace(commit) != Some(commit) && main {
            self.found.reach = None;
        }
        if self.found.paths[0].tip == Some(commit) {
            self.found.reach = reach.or(self.found.reach);
        }
        Ok(())
    }

    /// Moves the ends of the order for a new entry before another one, or at the end.
    fn add_entry(&mut self, entry: EntryId, before: Option<EntryId>) {
        let ends = self.at.ends.get_or_insert(Interval {
            first: entry,
            last: entry,
        });
        match before {
            None => ends.last = entry,
            Some(before) if before == ends.first => ends.first = entry,
            Some(_) => {}
        }
    }

    fn made(&self, StepId(step): StepId) -> Result<&Made> {
        let made = self.made.get(step).and_then(Option::as_ref);
        made.ok_or_else(|| unknown_step(step))
    }

    fn entry(&self, entry: StepEntry) -> Result<EntryId> {
        let made = self.made(entry.step)?;
        Ok(match entry.replacement {
            Some(index) => EntryId::replacement(made.commit, index, made.replacements),
            None => made.entry.unwrap_or(EntryId::of(made.commit)),
        })
    }

    fn hide(&self, id: StepId, step: &HideStep) -> Result<Draft> {
        let interval = match step.cover {
            Cover::Nothing => None,
            Cover::Everything => Some(self.at.ends.ok_or_else(|| unknown_step(0))?),
            Cover::Range(first, last) => Some(Interval {
                first: self.entry(first)?,
                last: self.entry(last)?,
            }),
        };
        // What is put there later needs no keeping.
        let waits =
            |entry: &&StepEntry| step.moment != Moment::Here && self.made(entry.step).is_err();
        let keep = step
            .keep
            .iter()
            .filter(|entry| !waits(entry))
            .map(|entry| self.entry(*entry))
            .collect::<Result<_>>()?;
        let mut messages: Vec<Sealed<Message>> = Vec::new();
        let mut content = |message: &Sealed<Message>| {
            messages.push(message.clone());
            message.hash()
        };
        let mut parts = Vec::with_capacity(step.parts.len());
        for (entry, part, stub) in &step.parts {
            parts.push(PartHide {
                entry: self.entry(*entry)?,
                part: *part,
                stub: stub.as_ref().map(&mut content),
            });
        }
        let mut replacements = Vec::with_capacity(step.replacements.len());
        for (before, message) in &step.replacements {
            let before = match step.moment {
                Moment::Here => before.map(|entry| self.entry(entry)).transpose()?,
                Moment::Since(_) => self.first_after(id),
            };
            let content = content(message);
            replacements.push(Replacement { before, content });
        }
        let hide = Hide {
            kind: step.kind,
            intervals: interval.into_iter().collect(),
            keep,
            parts,
            replacements,
        };
        Ok(Draft::new(Operation::Hide(hide), messages))
    }
}

/// Whether a step appends what the model said.
fn is_reply(step: &Step) -> bool {
    matches!(&step.action, Action::Append(message) if message.role == Role::Assistant)
}

/// The digest under which `resume` remembers what it wrote.
pub(super) fn digest(contents: &[ContentHash]) -> HashBytes {
    let mut all = Fingerprint::default();
    for content in contents {
        all.update(content.as_bytes());
    }
    all.value()
}

/// How many of the oldest that append the same message are looked at: thousands of sessions may begin with the same
/// instructions.
const ALIKE_MAX: usize = 64;

/// The child of `tip` that appends the same message with the same settings: the one with the same
/// time if there is one, else the oldest that is the answer to the same request, as far as that is known.
fn same_append(tx: &dyn Tx, tip: Option<&CommitHash>, step: &Step) -> Result<Option<CommitRow>> {
    let Action::Append(message) = &step.action else {
        return Ok(None);
    };
    let mut appends = tx.appends_after(tip, &message.hash(), ALIKE_MAX + 1)?;
    if appends.len() > ALIKE_MAX {
        // What an import makes of it is known by name, however many there are.
        let mut draft = Draft::append(message.clone());
        draft.settings.clone_from(&step.settings);
        let same = Chain::ended(tip.copied()).commit_of(&draft, step.time);
        if let Some(row) = tx.commit(&same.hash())? {
            tx.heal_content(message)?;
            return Ok(Some(row));
        }
        appends.truncate(ALIKE_MAX);
    }
    let rows = tx.commits(&appends)?.into_iter().flatten();
    let fits = |commit: &Commit| commit.settings == step.settings && commit.note.is_none();
    let rows: Vec<CommitRow> = rows.filter(|row| fits(&row.commit)).collect();
    let mut found = rows.iter().position(|row| row.commit.time == step.time);
    for (at, row) in rows.iter().enumerate() {
        if found.is_some() {
            break;
        }
        found = answers_same_request(tx, &row.hash, step)?.then_some(at);
    }
    let found = found.and_then(|at| rows.into_iter().nth(at));
    if found.is_some() {
        tx.heal_content(message)?;
    }
    Ok(found)
}

/// Whether a step that says the same as a commit may be a copy of it: two sessions may be answered in the same words, and
/// each answer was paid for. A copy names the request of its original, and counts what that counts.
fn answers_same_request(view: &dyn View, commit: &CommitHash, step: &Step) -> Result<bool> {
    if let Some(own) = &step.request
        && let Some(known) = kept::request_of(view, commit)?
    {
        return Ok(known == *own);
    }
    match step.usage {
        Some(own) => Ok(view.usage(&[*commit])?[0].is_none_or(|known| known == own)),
        None => Ok(true),
    }
}

/// Whether this tells more of what a commit that is here took than what is known. What `resume` wrote for another client has
/// no place for some of it; a stream counts the output of a reply when it is whole, which may be after its last words.
fn tells_more(view: &dyn View, commit: &CommitHash, usage: &Usage) -> Result<bool> {
    let counts = |it: &Usage| (it.input_tokens, it.output_tokens);
    Ok(view.usage(&[*commit])?[0].is_none_or(|known| {
        let is_same = counts(&known) == counts(usage);
        let grows = known.input_tokens == usage.input_tokens
            && known.output_tokens < usage.output_tokens
            && known.fuller(*usage) == *usage;
        known == Usage::default() || grows || (is_same && usage.numbers() > known.numbers())
    }))
}

fn unknown_step(step: usize) -> Error {
    Error::malformed("session", format!("step {step} names what is not there"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Format, Source};
    use crate::hash::HASHED;
    use crate::ingest::{ImportRequest, import};
    use crate::model::{Encoding, Millis, RefName};
    use crate::repo::{Call, CommitOptions, On, Repo};

    type Step = formats::Step;
    type HideStep = formats::HideStep;

    /// What was hashed while `work` was done: contents and commits.
    fn hashed(work: impl FnOnce()) -> (u64, u64) {
        HASHED.set((0, 0));
        work();
        HASHED.get()
    }

    #[test]
    fn what_comes_in_is_hashed_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("chat.json");
        let rows = (0..100).map(|at| {
            let role = ["user", "assistant"][at % 2];
            format!(r#"{{"role":"{role}","content":"message {at}"}}"#)
        });
        let rows: Vec<String> = rows.collect();
        std::fs::write(&path, format!("[{}]", rows.join(","))).expect("written");
        let counter = Counter::of(Encoding::default());
        let request = ImportRequest {
            counter: Some(counter),
            secrets: None,
            ..ImportRequest::at(Millis(0), "import")
        };
        let repo = Repo::ephemeral().expect("a repository");
        let first = hashed(|| {
            let report = import(&repo, &path, &request, &mut |_| {}).expect("imports");
            assert_eq!(report.sessions[0].new_commits, 100);
        });
        assert_eq!(first, (100, 100));

        let options = CommitOptions {
            counter: Some(counter),
            ..CommitOptions::default()
        };
        let committed = hashed(|| {
            let said = |at: usize| Draft::append(Message::text(Role::User, at.to_string()));
            let drafts: Vec<Draft> = (0..100).map(said).collect();
            let done = repo.commit(Call::default(), &drafts, &options);
            assert_eq!(done.expect("commits").len(), 100);
        });
        assert_eq!(committed, (100, 100));
    }

    /// What a client that compacts now and then writes: each time all that there is.
    fn read_compacting(Source { sink, .. }: Source<'_>) -> Result<()> {
        let record = Span { offset: 0, len: 1 };
        sink.session(SessionStart::new("talk"))?;
        for at in 1..=400 {
            let said = Message::text(Role::User, at.to_string());
            sink.step(Step::append(said, record))?;
            if at % 50 == 0 {
                let summary = Message::text(Role::User, format!("the first {at}"));
                let hide = HideStep {
                    replacements: vec![(None, summary)],
                    ..HideStep::of(HideKind::Compaction, Cover::Everything)
                };
                sink.step(Step::new(Action::Hide(hide), record))?;
            }
        }
        sink.end(SessionEnd::default())
    }

    #[test]
    fn no_further_compaction_is_folded_from_the_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("chat.json");
        std::fs::write(&path, r#"[{"role":"user","content":"hello"}]"#).expect("written");
        let openai = Format::named("openai").expect("a format");
        let format: &Format = Box::leak(Box::new(Format {
            read: read_compacting,
            home: None,
            ..*openai
        }));
        let repo = Repo::ephemeral().expect("a repository");
        let request = ImportRequest {
            format: Some(format),
            ..ImportRequest::at(Millis(0), "import")
        };
        let (work, report) = load::work::of(|| import(&repo, &path, &request, &mut |_| {}));
        assert_eq!(report.expect("imports").sessions[0].new_commits, 408);
        assert_eq!(work.orders, 0);

        let on = On::Branch(RefName::session("openai", "talk"));
        let mut tip = repo.head(&on).expect("a head").commit();
        let view = repo.store.read().expect("a view");
        while let Some(commit) = tip {
            let (work, context) = load::work::of(|| load::context(&*view, &commit));
            let order = load::order(&*view, &commit).expect("folds");
            assert_eq!(context.expect("a context"), order.context(), "at {commit}");
            assert_eq!(work.orders, 0, "it stands upon a checkpoint");
            tip = load::commit(&*view, &commit).expect("a row").commit.parent;
        }
    }
}
