//! What happened in sessions, message by message: prompts, replies, calls with what came of them, edits of files, and
//! how long each took. Each message counts once, with the session that it was first said in.
//!
//! Bodies are read of messages with calls, and of those results in which a tool reports failure. Deliberately absent:
//! how a call spells an edit, which is handed in, and by what people want it summed up.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::cost::{NewPath, Paths, each_of};
use crate::error::{Error, Result};
use crate::formats::Format;
use crate::hash::{CommitHash, ContentHash};
use crate::model::pairs::{Links, Pairs};
use crate::model::{
    DONE_ELSEWHERE, Encoding, FAILURE_MARKS, Message, Millis, NO_REPLY, Part, RefName, Role,
    ToolUses,
};
use crate::query::file_edits::{CalledEdit, EditOutcome, EditsOfCall};
use crate::repo::copies::{Copies, as_kept};
use crate::repo::kept::{message_in, request_of};
use crate::repo::load::UsageDetails;
use crate::repo::starters::Starters;
use crate::repo::{Repo, kept, load, path, prompts};
use crate::store::{ListedCommit, View};

/// How long the user may take for a prompt before that is a pause, in milliseconds.
pub const PROMPT_PAUSE_MS: i64 = 5 * 60_000;
/// How long a model or a tool may take before that is a pause, in milliseconds: the machine slept, or nobody approved.
pub const WORK_PAUSE_MS: i64 = 60 * 60_000;

/// How many bodies are read at once.
const BODIES: usize = 256;

/// Whose time passed before a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpentBy {
    /// The model wrote.
    Model,
    /// Tools ran, or waited for approval.
    Tools,
    /// The user read and wrote.
    User,
}

/// A stretch of time at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkSpan {
    /// From then on.
    pub from: Millis,
    /// Up to then.
    pub to: Millis,
    /// Whose it is.
    pub by: SpentBy,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The tool. Hostile until escaped.
    pub tool: String,
    /// What came of it.
    pub outcome: EditOutcome,
    /// What it did to files.
    pub edits: Vec<CalledEdit>,
}

/// A message, and what passed before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityRow {
    /// The commit that appends it.
    pub commit: CommitHash,
    /// The session that it is of.
    pub session: Option<RefName>,
    /// The session that it counts with: of a sub-agent, the one that somebody began. Its ref.
    pub counts_with: Option<String>,
    /// Whether it is a sub-agent's.
    pub is_agents: bool,
    /// Where that session ran. Hostile until escaped.
    pub directory: Option<String>,
    /// When it was said.
    pub time: Option<Millis>,
    /// Who speaks.
    pub role: Role,
    /// Whether a model wrote it: the result of a review is put in by its client, for another session's model wrote it, and so
    /// is what a client puts in place of a reply.
    pub is_reply: bool,
    /// Whether the user typed it: a sub-agent's task is nobody's prompt.
    pub is_prompt: bool,
    /// The prompt that it is there for, by its commit.
    pub prompt: Option<CommitHash>,
    /// What it calls.
    pub calls: Vec<CallRow>,
    /// The time at work before it; none after a pause.
    pub spent: Option<WorkSpan>,
}

impl Repo {
    /// Tells each message on the path to `tip`, or of all that sessions, branches and tags lead to, oldest first on each
    /// path. What a copy of a session repeats is told of its original, and so is what a command copied: a copy whose
    /// original is not met is told last, without time at work. Of all, what merges brought in is told as well.
    ///
    /// # Errors
    ///
    /// What `visit` returns, and the store's.
    pub fn each_activity(
        &self,
        tip: Option<&CommitHash>,
        edits_of: EditsOfCall<'_>,
        visit: &mut dyn FnMut(ActivityRow) -> Result<()>,
    ) -> Result<()> {
        let view = self.store.read()?;
        let view = &*view;
        let mut seen = Seen::default();
        let copies = Copies::of(view);
        let details = UsageDetails::of(view);
        let mut starters = Starters::of(view)?;
        if let Some(tip) = tip {
            let session = path::session_of(view, tip)?;
            let directories: HashMap<String, String> = session
                .iter()
                .filter_map(|(name, row)| Some((name.to_string(), row.cwd.clone()?)))
                .collect();
            let session = session.map(|(name, _)| name);
            starters.read(session.iter(), (view, &copies))?;
            each_of(view, vec![(session, *tip)], &directories, &mut |path| {
                let whose = Whose::of(&path, &starters);
                told(
                    view,
                    (&path, &whose),
                    edits_of,
                    (&mut seen, &copies, &details),
                    visit,
                )
            })?;
            return seen.tell_copies(visit);
        }
        let Paths { directories, tips } = Paths::of_all(view, &copies)?;
        let (sessions, others): (Vec<_>, Vec<_>) = tips
            .into_iter()
            .partition(|(name, _)| name.as_session().is_some());
        let ends: HashMap<RefName, CommitHash> = sessions.into_iter().collect();
        let mut names: Vec<RefName> = ends.keys().cloned().collect();
        // A copy says again what its original said.
        copies.sort(&mut names)?;
        starters.read(names.iter(), (view, &copies))?;
        let sessions = names.into_iter().map(|name| {
            let tip = ends[&name];
            (Some(name), tip)
        });
        let others: Vec<CommitHash> = others.into_iter().map(|(_, tip)| tip).collect();
        // Nothing else may lead to what was merged.
        let merged = merged_ends(view, &others)?;
        let others = others.into_iter().chain(merged).map(|tip| (None, tip));
        each_of(
            view,
            sessions.chain(others).collect(),
            &directories,
            &mut |path| {
                let whose = Whose::of(&path, &starters);
                told(
                    view,
                    (&path, &whose),
                    edits_of,
                    (&mut seen, &copies, &details),
                    visit,
                )
            },
        )?;
        seen.tell_copies(visit)
    }
}

/// The ends of the paths that merges on these paths brought in, and on those.
fn merged_ends(view: &dyn View, tips: &[CommitHash]) -> Result<Vec<CommitHash>> {
    let (mut ends, mut asked) = (Vec::new(), HashSet::new());
    let mut open = tips.to_vec();
    while let Some(tip) = open.pop() {
        if asked.insert(tip) {
            let merges = view.merges(&tip)?;
            let merged = merges.iter().filter_map(|row| row.commit.merged);
            let merged: Vec<CommitHash> = merged.collect();
            ends.extend(&merged);
            open.extend(merged);
        }
    }
    Ok(ends)
}

/// Whose the messages of a path are.
struct Whose {
    counts_with: Option<String>,
    is_agents: bool,
}

impl Whose {
    fn of(path: &NewPath<'_>, starters: &Starters) -> Self {
        let starter = path.session.and_then(|it| starters.first(it));
        let root = path.session.and_then(RefName::root_session);
        let counts_with = starter.map(RefName::as_str).or(root);
        let is_below = path.session.is_some_and(|it| it.above_agent().is_some());
        Self {
            counts_with: counts_with.map(str::to_owned),
            is_agents: starter.is_some() || is_below,
        }
    }
}

/// The messages that were told.
#[derive(Default)]
struct Seen {
    contents: HashSet<(Millis, ContentHash)>,
    texts: HashSet<ContentHash>,
    /// The number of the session that somebody began in which the model, or anybody else, spoke at a moment first.
    moments: HashMap<(Millis, bool), usize>,
    /// These sessions, by their numbers.
    sessions: Vec<RefName>,
    numbers: HashMap<String, usize>,
    commits: HashSet<CommitHash>,
    /// The messages of sessions that are here in two forms, by ids of replies and hashes of others.
    forms: HashSet<(RefName, String)>,
    /// What commands copied, each with its originals and what it says.
    copied: Vec<(Vec<CommitHash>, ContentHash, ActivityRow)>,
}

impl Seen {
    /// Tells of each copied message once whose original was not met.
    fn tell_copies(mut self, visit: &mut dyn FnMut(ActivityRow) -> Result<()>) -> Result<()> {
        for (originals, said, row) in self.copied {
            // A rebase keeps the time of what it copies.
            let is_said = row
                .time
                .is_some_and(|time| !self.contents.insert((time, said)));
            if !is_said && !originals.iter().any(|it| self.commits.contains(it)) {
                self.commits.extend(originals);
                visit(row)?;
            }
        }
        Ok(())
    }

    fn number(&mut self, root: &str) -> usize {
        if let Some(known) = self.numbers.get(root) {
            return *known;
        }
        self.sessions.extend(root.parse());
        let number = self.sessions.len() - 1;
        self.numbers.insert(root.to_owned(), number);
        number
    }

    /// Which of the first of these messages are copies of what another session said. The form of another client has other
    /// words and parts, and kept prompts in front, but the same moments: of a chance one or two are the same, of a copy most.
    fn copied(
        &self,
        session: &RefName,
        listed: &[ListedCommit],
        copies: &Copies<'_>,
    ) -> Result<Copied> {
        let (mut copied, mut shared) = (Copied::default(), HashMap::new());
        let own = session.root_session();
        let own = own.and_then(|root| self.numbers.get(root)).copied();
        for (at, one) in listed.iter().enumerate() {
            let Some(moment) = moment(one) else { continue };
            let Some(other) = self.moments.get(&moment).filter(|it| Some(**it) != own) else {
                continue;
            };
            let known = match shared.entry(*other) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(Shared {
                    is_kin: copies.are_kin(session, &self.sessions[*other])?,
                    ..Shared::default()
                }),
            };
            let said = one.said.as_ref().map(|said| (moment.0, said.hash));
            known.count += 1;
            known.is_alike |= said.is_some_and(|said| self.contents.contains(&said));
            if known.is_kin {
                copied.surely = at + 1;
            } else if known.is_alike && known.count > 1 && known.count * 2 > at {
                copied.likely = at + 1;
            }
        }
        Ok(copied)
    }

    /// Notes a message of a session that is here in two forms. True where its client streamed it, and it is in what that one
    /// keeps: a reply has one id in both.
    fn in_other_form(
        &mut self,
        view: &dyn View,
        (kept, session): (&RefName, &RefName),
        one: &ListedCommit,
    ) -> Result<bool> {
        let Some(said) = &one.said else {
            return Ok(false);
        };
        let request = match said.role {
            Role::Assistant => request_of(view, &one.row.hash)?,
            _ => None,
        };
        let is_stream = as_kept(session).is_some();
        let id = |id: &str| (kept.clone(), id.to_owned());
        Ok(match request.as_deref().map(message_in) {
            Some(message) => !self.forms.insert(id(message)) && is_stream,
            None if is_stream => self.forms.contains(&id(&said.hash.to_string())),
            None => {
                self.forms.insert(id(&said.hash.to_string()));
                false
            }
        })
    }

    /// Notes that a session said a message. False where it was said before at that moment.
    fn is_new(&mut self, session: Option<&RefName>, one: &ListedCommit) -> bool {
        self.texts.extend(one.said.as_ref().map(|said| said.hash));
        let Some((moment, said)) = moment(one).zip(one.said.as_ref()) else {
            return true;
        };
        let is_new = self.contents.insert((moment.0, said.hash));
        if let Some(root) = session.and_then(RefName::root_session).filter(|_| is_new) {
            let number = self.number(root);
            self.moments.entry(moment).or_insert(number);
        }
        is_new
    }
}

/// What two sessions share.
#[derive(Default)]
struct Shared {
    /// How many moments.
    count: usize,
    /// Whether they say the same at one of them.
    is_alike: bool,
    /// Whether one says that it is a copy of the other.
    is_kin: bool,
}

/// How many of a session's first messages are copies.
#[derive(Default)]
struct Copied {
    /// By what its file says.
    surely: usize,
    /// By their moments.
    likely: usize,
}

impl Copied {
    /// Whether a message is one. What a user typed at the same moment elsewhere in other words is none.
    fn holds(&self, at: usize, is_prompt: bool, is_known: impl Fn() -> bool) -> bool {
        at < self.surely || (at < self.likely && (!is_prompt || is_known()))
    }
}

/// When a message was said, and whether the model said it.
fn moment(one: &ListedCommit) -> Option<(Millis, bool)> {
    let said = one.said.as_ref()?;
    Some((one.row.commit.time?, said.role == Role::Assistant))
}

/// When the messages of a path were recorded, where their stream gives no times: of a reply it is known; what stands before
/// one came in with it, and what is behind the last with that. Empty where all have times, or nothing is known.
fn recorded(details: &UsageDetails<'_>, listed: &[ListedCommit]) -> Result<Vec<Option<Millis>>> {
    if listed.iter().all(|one| one.row.commit.time.is_some()) {
        return Ok(Vec::new());
    }
    let known = details.all()?;
    let at = |one: &ListedCommit| known.get(&one.row.hash)?.recorded;
    let mut recorded: Vec<Option<Millis>> = listed.iter().map(at).collect();
    let mut next = recorded.iter().rev().find_map(|it| *it);
    for time in recorded.iter_mut().rev() {
        next = time.or(next);
        *time = next;
    }
    Ok(recorded)
}

/// Tells the new messages of a path.
fn told(
    view: &dyn View,
    (path, whose): (&NewPath<'_>, &Whose),
    edits_of: EditsOfCall<'_>,
    (seen, copies, details): (&mut Seen, &Copies<'_>, &UsageDetails<'_>),
    visit: &mut dyn FnMut(ActivityRow) -> Result<()>,
) -> Result<()> {
    let new = &path.rows[path.known..];
    let Some(last) = new.last() else {
        return Ok(());
    };
    let before = path.known.checked_sub(1).map(|at| &path.rows[at]);
    let after = before.map(|row| row.hash);
    let mut listed = view.listing(&last.hash, after.as_ref(), usize::MAX, Encoding::default())?;
    listed.reverse();
    listed.retain(|one| one.said.is_some());
    let typed = typed(view, &listed)?;
    let outcomes = outcomes(view, &listed)?;
    let replied = replied(view, path, &listed)?;
    let copied = match path.session {
        Some(session) => seen.copied(session, &listed, copies)?,
        None => Copied::default(),
    };
    let recorded = recorded(details, &listed)?;
    let twice = path.session.map(|it| copies.in_two_forms(it)).transpose()?;
    let twice = twice.flatten();
    let mut last_time = before.and_then(|row| row.commit.time);
    let (mut prompt, mut is_done_elsewhere) = (None, false);
    for (from, (page, typed)) in (0..)
        .step_by(BODIES)
        .zip(listed.chunks(BODIES).zip(typed.chunks(BODIES)))
    {
        let calling = page.iter().filter_map(|one| one.said.as_ref());
        let calling: Vec<ContentHash> = calling
            .filter(|said| said.calls > 0)
            .map(|said| said.hash)
            .collect();
        let bodies = load::contents(view, &calling)?;
        let bodies: HashMap<ContentHash, Message> = calling.into_iter().zip(bodies).collect();
        for (at, (one, is_prompt)) in (from..).zip(page.iter().zip(typed)) {
            let Some(said) = &one.said else { continue };
            let (time, is_prompt) = (one.row.commit.time, *is_prompt);
            let is_result = is_done_elsewhere;
            is_done_elsewhere = said.role == Role::User && said.preview.starts_with(DONE_ELSEWHERE);
            let whole = replied.get(&one.row.hash).copied().or(time);
            if is_prompt {
                prompt = Some(one.row.hash);
            }
            let spent = match (last_time, whole) {
                (Some(from), Some(to)) => span(from, to, said.role, said.results > 0, is_prompt),
                _ => None,
            };
            last_time = last_time.max(whole);
            let originals = path::origins(view, &one.row)?;
            if originals.is_empty() {
                seen.commits.insert(one.row.hash);
            }
            if let (Some(kept), Some(session)) = (&twice, path.session)
                && seen.in_other_form(view, (kept, session), one)?
            {
                continue;
            }
            let is_known = || seen.texts.contains(&said.hash);
            if copied.holds(at, is_prompt, is_known)
                || (originals.is_empty() && !seen.is_new(path.session, one))
            {
                continue;
            }
            let called = bodies.get(&said.hash).map_or(&[][..], |body| &body.parts);
            let calls = called.iter().filter_map(|part| match part {
                Part::ToolCall {
                    name, arguments, ..
                } => Some((name, arguments)),
                _ => None,
            });
            let calls = calls.enumerate().map(|(nth, (name, arguments))| CallRow {
                tool: name.clone(),
                outcome: match outcomes.get(&(at, nth)) {
                    Some(outcome) => *outcome,
                    None => EditOutcome::Unanswered,
                },
                edits: edits_of(name, arguments),
            });
            let row = ActivityRow {
                commit: one.row.hash,
                session: path.session.cloned(),
                counts_with: whose.counts_with.clone(),
                is_agents: whose.is_agents,
                directory: path.directory.cloned(),
                time: time.or(recorded.get(at).copied().flatten()),
                role: said.role,
                is_reply: said.role == Role::Assistant && !is_result && said.preview != NO_REPLY,
                is_prompt: is_prompt && !whose.is_agents,
                prompt,
                calls: calls.collect(),
                spent: spent.filter(|_| originals.is_empty()),
            };
            match originals.is_empty() {
                true => visit(row)?,
                false => seen.copied.push((originals, said.hash, row)),
            }
        }
    }
    Ok(())
}

/// When replies were whole, of sessions of a tool that gives the time at which they were begun.
fn replied(
    view: &dyn View,
    path: &NewPath<'_>,
    listed: &[ListedCommit],
) -> Result<HashMap<CommitHash, Millis>> {
    let session = path.session.and_then(RefName::as_session);
    let format = session.and_then(|(tool, _)| Format::named(tool).ok());
    let Some(replied_at) = format.and_then(|format| format.replied_at) else {
        return Ok(HashMap::new());
    };
    let is_reply = |one: &&ListedCommit| {
        one.said
            .as_ref()
            .is_some_and(|it| it.role == Role::Assistant)
    };
    let replies = listed.iter().filter(is_reply).map(|one| one.row.hash);
    let replies: Vec<CommitHash> = replies.collect();
    let mut found = HashMap::new();
    for (commit, records) in replies.iter().zip(view.records(&replies)?) {
        for (source, spans) in records.iter().take(1) {
            let texts = match kept::texts(view, *source, spans) {
                // Without its record, it is when it was begun.
                Err(Error::Damaged { .. }) => Vec::new(),
                texts => texts?,
            };
            let whole = texts.iter().filter_map(|text| replied_at(text)).max();
            found.extend(whole.map(|time| (*commit, time)));
        }
    }
    Ok(found)
}

/// The time at work between two messages of a path; none where that was a pause.
fn span(from: Millis, to: Millis, role: Role, answers: bool, is_prompt: bool) -> Option<WorkSpan> {
    let (by, most) = match role {
        Role::Assistant => (SpentBy::Model, WORK_PAUSE_MS),
        _ if answers || role == Role::Tool => (SpentBy::Tools, WORK_PAUSE_MS),
        _ if is_prompt => (SpentBy::User, PROMPT_PAUSE_MS),
        // What a client puts in comes with what somebody does.
        _ => (SpentBy::User, PROMPT_PAUSE_MS),
    };
    let length = to.0 - from.0;
    (length > 0 && length <= most).then_some(WorkSpan { from, to, by })
}

/// Which of these the user typed.
fn typed(view: &dyn View, listed: &[ListedCommit]) -> Result<Vec<bool>> {
    let is_asked = |one: &ListedCommit| {
        let said = one.said.as_ref();
        said.is_some_and(|said| said.role == Role::User && said.results == 0)
    };
    let places: Vec<usize> = (0..listed.len())
        .filter(|at| is_asked(&listed[*at]))
        .collect();
    let asked = places.iter().filter_map(|at| {
        let one = &listed[*at];
        Some((one.row.hash, one.said.as_ref()?))
    });
    let found = prompts::typed(view, &asked.collect::<Vec<_>>())?;
    let mut typed = vec![false; listed.len()];
    for (at, is_typed) in places.into_iter().zip(found) {
        typed[at] = is_typed;
    }
    Ok(typed)
}

/// What came of the calls of these messages that others of them answer: by the message and which of its calls it is.
fn outcomes(
    view: &dyn View,
    listed: &[ListedCommit],
) -> Result<HashMap<(usize, usize), EditOutcome>> {
    let answering = listed.iter().filter_map(|one| one.said.as_ref());
    let answering: Vec<ContentHash> = answering
        .filter(|said| said.results > 0)
        .map(|said| said.hash)
        .collect();
    // The messages that tell of a failure, with which of their results do.
    let mut failed: HashMap<ContentHash, HashSet<usize>> = HashMap::new();
    for some in answering.chunks(BODIES) {
        view.each_body(some, &mut |at, body| {
            // Within a text the marks have a backslash before them.
            if !body.contains(IS_ERROR) && !FAILURE_MARKS.iter().any(|mark| body.contains(mark)) {
                return Ok(());
            }
            let message = Message::from_canonical(body)?;
            let is_result = |part: &&Part| matches!(part, Part::ToolResult { .. });
            let results = message.parts.iter().filter(is_result);
            let errors = results.enumerate().filter(|(_, part)| part.has_failed());
            failed.insert(some[at], errors.map(|(nth, _)| nth).collect());
            Ok(())
        })?;
    }
    let links: Vec<Links> = listed
        .iter()
        .map(|one| one.uses.as_ref().map(ToolUses::links).unwrap_or_default())
        .collect();
    let outcome = |(at, nth): (usize, usize)| {
        let said = listed[at].said.as_ref();
        let failed = said.and_then(|said| failed.get(&said.hash));
        match failed.is_some_and(|failed| failed.contains(&nth)) {
            true => EditOutcome::Failed,
            false => EditOutcome::Done,
        }
    };
    let pairs = Pairs::new(&links);
    let pairs = pairs.pairs().iter();
    Ok(pairs
        .map(|pair| (pair.call, outcome(pair.result)))
        .collect())
}

/// How the canonical form says that a tool reports failure.
const IS_ERROR: &str = "\"is_error\":true";

/// A stretch of time that stretches cover together, in milliseconds: what runs side by side counts once.
pub fn covered_ms(mut spans: Vec<(Millis, Millis)>) -> i64 {
    spans.sort_unstable();
    let mut covered = 0;
    let mut upto = i64::MIN;
    for (Millis(from), Millis(to)) in spans {
        covered += (to - from.max(upto)).max(0);
        upto = upto.max(to);
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_side_by_side_counts_once() {
        let spans = [(0, 10), (5, 20), (30, 40), (32, 35), (20, 22)];
        let spans = spans.map(|(from, to)| (Millis(from), Millis(to)));
        assert_eq!(covered_ms(spans.to_vec()), 32);
        assert_eq!(covered_ms(Vec::new()), 0);
    }

    #[test]
    fn a_pause_is_longer_for_work_than_for_a_prompt() {
        let span = |minutes: i64, role, answers, is_prompt| {
            let to = Millis(minutes * 60_000);
            span(Millis(0), to, role, answers, is_prompt).map(|span| span.by)
        };
        assert_eq!(span(5, Role::User, false, true), Some(SpentBy::User));
        assert_eq!(span(6, Role::User, false, true), None);
        assert_eq!(span(59, Role::Tool, true, false), Some(SpentBy::Tools));
        assert_eq!(span(61, Role::Tool, true, false), None);
        assert_eq!(span(6, Role::Assistant, false, false), Some(SpentBy::Model));
        assert_eq!(span(0, Role::Assistant, false, false), None);
    }
}
