//! Messages by what they are about: best first, over all history.
//!
//! The index of words names contents, best first; a few of them at a time are read and put in their
//! order, so that a page of answers costs what is on it and what is just behind. What a memory's tools have
//! told an agent repeats what stands elsewhere, and comes last, as do questions that are asked again and what was taken
//! back. Deliberately absent: how one message is
//! judged (`looked`), and where it stands in its branch's context (`visibility`).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::hit::{Looked, Looking};
use super::options::RankedOptions;
use super::own::Own;
use super::visibility::{Tip, Visibility};
use super::{FindProgress, Found, entry_of, is_injected, is_said_by, narrowed, tips};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Message, Role, Speaker};
use crate::repo::call::On;
use crate::repo::calls::Callers;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::{CommitRow, Hit, Ranking, Scored, Tips, View};

/// How many contents the index is asked for at first, and how many times as many where these were not enough.
const FIRST: usize = 64;
const MORE: usize = 8;
/// How many of them are read and put in order together: the best ones, by the index.
const TOGETHER: usize = 64;
/// What is not in the index is read by each search that comes, up to this many bytes; more goes into it.
const TAIL_BYTES: u64 = 1 << 20;
/// How many bytes of contents one transaction takes in.
const SLICE_BYTES: u64 = 8 << 20;
impl Repo {
    /// Finds messages by what they are about: the best answer first, the newest first among equals.
    ///
    /// A message answers if it has one of the words, in any form and order; the more of them it has, the rarer
    /// they are and the nearer they stand, the better. Phrases must be in it. A text that several commits bring is
    /// found once, at the newest of them; a message that several branches share, on the first of: the branch of
    /// `on`, other branches, tags, sessions. Hidden messages are in their place. What tract's own commands
    /// told somebody, or those of another memory, comes last ([`Found::is_own`]), and so do questions that were asked in
    /// several places and what was taken back ([`Found::taken_back`]). What no name reaches is not found, and unlike
    /// [`Self::find_messages`] this promises nothing about parts of words.
    ///
    /// An import fills the index; what came in otherwise is read, or taken in where it is much.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::query::RankedOptions;
    /// use tract::model::query::Query;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let said = Message::text(Role::User, "Here are the website redesign proposals.");
    /// repo.commit(Call::default(), &[Draft::append(said)], &CommitOptions::default())?;
    ///
    /// let query = Query::parse("proposal for redesigning websites")?;
    /// let found = repo.find_ranked(&On::Head, &RankedOptions::new(query), &mut |_| Ok(()))?;
    /// assert_eq!(found[0].number, Some(1));
    /// assert!(found[0].score > 0.0);
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if `within` is not here, what `progress` fails with, and the store's.
    pub fn find_ranked(
        &self,
        on: &On,
        options: &RankedOptions,
        progress: &mut dyn FnMut(FindProgress) -> Result<()>,
    ) -> Result<Vec<Found>> {
        self.weigh_new(progress)?;
        let view = self.store.read()?;
        let mut search = Ordering::of(&*view, on, options)?;
        search.by_words(progress)?;
        search.told()
    }

    /// Takes much that is new into the index of words, in short transactions. That it cannot be
    /// written to, or that someone else is writing, is no obstacle: what is missing there is read.
    pub(super) fn weigh_new(
        &self,
        progress: &mut dyn FnMut(FindProgress) -> Result<()>,
    ) -> Result<()> {
        let total_bytes = self.store.read()?.unweighed_bytes()?;
        match total_bytes > TAIL_BYTES {
            true => self.index_in_slices(total_bytes, |tx| tx.weigh(SLICE_BYTES), progress),
            false => Ok(()),
        }
    }
}

/// A message that answers, before it is told.
pub(super) struct Answer {
    score: f32,
    hit: Hit,
    row: CommitRow,
    role: Role,
    content: ContentHash,
    looked: Looked,
    is_own: bool,
    /// Whether it is a question that was asked in several places.
    is_asked_again: bool,
    /// Whether it was taken back, as far as that was looked at.
    is_taken_back: bool,
}

impl Answer {
    /// The message that it is, where it stands.
    pub(super) const fn key(&self) -> (CommitHash, ContentHash) {
        (self.hit.commit, self.content)
    }

    /// Whether it comes last, for whatever reason.
    pub(super) const fn comes_last(&self) -> bool {
        self.is_last() || self.is_taken_back
    }

    /// The same with another score.
    pub(super) fn worth(self, score: f32) -> Self {
        Self { score, ..self }
    }

    /// Whether it comes last by default.
    const fn is_last(&self) -> bool {
        self.is_own || self.is_asked_again
    }
}

/// Into how many steps a score is cut each time that it doubles, or nearly: within one the newest comes first.
const STEPS: f32 = 16.0;
/// How many commits behind a prompt what was said is still its outcome.
const TURN: u64 = 32;
/// How much of what its prompt is worth an outcome is worth beside its own words.
const OUTCOME: f32 = 0.5;

/// What was said behind a prompt that answers well answers, too: a turn is found as one.
fn outcomes(answers: &mut [Answer]) {
    let is_prompt = |answer: &Answer| answer.role == Role::User && answer.looked.is_said;
    let prompts = answers.iter().filter(|answer| is_prompt(answer));
    let mut prompts: Vec<(usize, u64, f32)> = prompts
        .map(|prompt| (prompt.hit.tip, prompt.row.depth, prompt.score))
        .collect();
    prompts.sort_by_key(|(tip, depth, _)| (*tip, *depth));
    for answer in answers.iter_mut() {
        if answer.role != Role::Assistant || !answer.looked.is_said {
            continue;
        }
        let place = (answer.hit.tip, answer.row.depth);
        let behind = prompts.partition_point(|(tip, depth, _)| (*tip, *depth) < place);
        if let Some((tip, depth, score)) = behind.checked_sub(1).map(|at| prompts[at])
            && tip == place.0
            && place.1 - depth <= TURN
        {
            answer.score += OUTCOME * score;
        }
    }
}

/// Answers on their way into their order.
pub(super) struct Ordering<'a> {
    view: &'a dyn View,
    options: &'a RankedOptions,
    tips: Vec<Tip>,
    /// Whether most of what is here is on none of the paths.
    is_narrow: bool,
    /// The ends of paths that were asked for together.
    ahead: BTreeSet<CommitHash>,
    visibility: Visibility,
    callers: Callers<'a>,
    answers: Vec<Answer>,
    /// Those of texts that were taken back.
    taken_back: Vec<Answer>,
    /// Questions that were asked in several places.
    asked_again: Vec<Answer>,
    /// Those that a memory gave.
    own: Vec<Answer>,
}

impl<'a> Ordering<'a> {
    /// Of nothing yet, at the places that are asked for.
    pub(super) fn of(view: &'a dyn View, on: &On, options: &'a RankedOptions) -> Result<Self> {
        let (tips, head) = tips(view, on, options.within)?;
        let (session, directory) = (options.session.as_ref(), options.directory.as_deref());
        let tips = narrowed(view, tips, session, directory)?;
        Ok(Self {
            view,
            options,
            is_narrow: options.within.is_some() || session.is_some() || directory.is_some(),
            ahead: BTreeSet::new(),
            visibility: Visibility::new(tips.clone(), head),
            tips,
            callers: Callers::new(view),
            answers: Vec::new(),
            taken_back: Vec::new(),
            asked_again: Vec::new(),
            own: Vec::new(),
        })
    }

    /// Whether most of what is here is on none of the paths that are looked at.
    pub(super) const fn is_narrow(&self) -> bool {
        self.is_narrow
    }

    /// Where the paths end that are looked at.
    pub(super) fn commits(&self) -> Vec<CommitHash> {
        self.tips.iter().map(|(_, commit)| *commit).collect()
    }

    /// Takes what has the words that are asked for, until there is enough, or all of it.
    pub(super) fn by_words(
        &mut self,
        progress: &mut dyn FnMut(FindProgress) -> Result<()>,
    ) -> Result<()> {
        let (options, commits) = (self.options, self.commits());
        let (mut most, mut seen) = (FIRST.max(2 * options.limit), 0);
        loop {
            let ranking = Ranking {
                query: &options.asked.query,
                role: options.role.map(Speaker::role),
                most,
            };
            let ranked = self.view.ranked(ranking, &commits, self.is_narrow)?;
            let looking = Looking::new(&options.asked.query, ranked.rarity, options.asked.lines);
            let total = ranked.found.len();
            for some in ranked.found[seen.min(total)..].chunks(TOGETHER) {
                progress(FindProgress::Reading {
                    messages: seen,
                    total,
                })?;
                seen += some.len();
                self.take(some, &mut |_, message| looking.at(message))?;
                if self.has_enough() {
                    return Ok(());
                }
            }
            if ranked.is_all {
                self.answers_last();
                return Ok(());
            }
            most = most.saturating_mul(MORE);
        }
    }

    /// The answers in their order, at most so many, or with 0 all, and nothing is left of them.
    pub(super) fn taken(&mut self, most: usize) -> Vec<Answer> {
        let mut answers = std::mem::take(&mut self.answers);
        if most > 0 {
            answers.truncate(most);
        }
        (self.taken_back, self.asked_again, self.own) = Default::default();
        answers
    }

    pub(super) fn has_enough(&self) -> bool {
        let limit = self.options.limit;
        limit > 0 && self.answers.len() >= self.options.asked.offset.saturating_add(limit)
    }

    /// What comes last by default.
    pub(super) fn answers_last(&mut self) {
        self.answers.append(&mut self.asked_again);
        self.answers.append(&mut self.taken_back);
        self.answers.append(&mut self.own);
    }

    /// Whether what answers was taken back.
    fn is_taken_back(&mut self, answer: &Answer) -> Result<bool> {
        let (view, tip, content) = (self.view, answer.hit.tip, answer.content);
        let operation = &answer.row.commit.operation;
        let entry = entry_of(view, &answer.hit.commit, &content, operation)?;
        let parts = &answer.looked.parts;
        let at = (tip, &answer.hit.commit);
        let standing = self
            .visibility
            .standing(view, at, (entry, &content), parts)?;
        Ok(standing.taken_by.is_some())
    }

    /// Reads some contents and puts them behind the others, best first; `look` says what of each answers.
    pub(super) fn take(
        &mut self,
        some: &[Scored],
        look: &mut dyn FnMut(&ContentHash, &Message) -> Option<Looked>,
    ) -> Result<()> {
        let hits = some
            .iter()
            .flat_map(|one| one.hits.iter().map(move |hit| (one, *hit)));
        let hits: Vec<(&Scored, Hit)> = hits.collect();
        let commits: Vec<CommitHash> = hits.iter().map(|(_, hit)| hit.commit).collect();
        let rows = self.view.commits(&commits)?;
        // Of each, the newest commit that brings it, of those that are wanted.
        let mut wanted: Vec<(&Scored, Hit, CommitRow)> = Vec::new();
        for ((one, hit), row) in hits.into_iter().zip(rows) {
            let Some(row) = row.filter(|row| self.options.takes(row)) else {
                continue;
            };
            let newer = |hit: &Hit, row: &CommitRow| (row.commit.time, Reverse(hit.tip));
            match wanted
                .last_mut()
                .filter(|(last, ..)| std::ptr::eq(*last, one))
            {
                Some((_, best, of_best)) if newer(&hit, &row) >= newer(best, of_best) => {
                    (*best, *of_best) = (hit, row);
                }
                Some(_) => {}
                None => wanted.push((one, hit, row)),
            }
        }
        let contents: Vec<_> = wanted.iter().map(|(one, ..)| one.content).collect();
        // The index named them: one that is not there is damage.
        let messages = load::contents(self.view, &contents)?;
        let wanted = wanted.into_iter().zip(messages);
        let looked = wanted.filter_map(|(wanted, message)| {
            let looked = look(&wanted.0.content, &message)?;
            Some((wanted, message, looked))
        });
        let looked: Vec<_> = looked.collect();
        // The calls that they answer stand before them.
        let answering = looked.iter();
        let answering = answering.filter(|(_, message, _)| Own::of(message).answers());
        let answering: Vec<CommitHash> = answering.map(|((.., row), ..)| row.hash).collect();
        self.view.look_ahead(Tips::At(&answering))?;
        let mut answers = Vec::new();
        for ((one, hit, row), message, looked) in looked {
            if let Some(answer) = self.judged((hit, row), one, &message, looked)? {
                answers.push(answer);
            }
        }
        outcomes(&mut answers);
        // What is nearly as good is as good: the newest of it comes first.
        answers.sort_by_key(|answer| {
            let times = (answer.score.max(f32::MIN_POSITIVE).ln() * STEPS).floor();
            (Reverse(times as i64), Reverse(answer.row.commit.time))
        });
        let near = answers.iter().filter(|answer| !answer.is_last());
        let near: Vec<usize> = near
            .map(|answer| answer.hit.tip)
            .take(self.wanting())
            .collect();
        self.look_ahead(near)?;
        for answer in answers {
            if answer.is_own {
                self.own.push(answer);
            } else if answer.is_asked_again {
                self.asked_again.push(answer);
            } else if !self.has_enough() && self.is_taken_back(&answer)? {
                let is_taken_back = true;
                self.taken_back.push(Answer {
                    is_taken_back,
                    ..answer
                });
            } else {
                self.answers.push(answer);
            }
        }
        Ok(())
    }

    /// How many answers a page wants still.
    fn wanting(&self) -> usize {
        match self.options.limit {
            0 => usize::MAX,
            limit => {
                let wanted = self.options.asked.offset.saturating_add(limit);
                wanted.saturating_sub(self.answers.len())
            }
        }
    }

    /// The paths of some answers are looked at next.
    fn look_ahead(&mut self, tips: impl IntoIterator<Item = usize>) -> Result<()> {
        let ends: BTreeSet<CommitHash> = tips.into_iter().map(|tip| self.tips[tip].1).collect();
        let new: Vec<CommitHash> = ends.difference(&self.ahead).copied().collect();
        if !new.is_empty() {
            self.view.look_ahead(Tips::At(&new))?;
            self.ahead.extend(new);
        }
        Ok(())
    }

    /// What answers, if it passes what is asked for beside the words.
    fn judged(
        &mut self,
        (hit, row): (Hit, CommitRow),
        one: &Scored,
        message: &Message,
        looked: Looked,
    ) -> Result<Option<Answer>> {
        let options = self.options;
        let content = one.content;
        if !is_said_by(self.view, options.role, message.role, (&row, &content))? {
            return Ok(None);
        }
        if let Some(tool) = &options.tool
            && !self
                .callers
                .has_to_do_with(tool, row.commit.parent, &content)?
        {
            return Ok(None);
        }
        let mut own = Own::of(message);
        if own.answers() {
            own.answered(&self.callers.of_row(&row, &content)?);
        }
        if let Some(path) = &options.path
            && !own.names(path)
        {
            return Ok(None);
        }
        if options.hidden {
            let entry = entry_of(self.view, &hit.commit, &content, &row.commit.operation)?;
            let (at, of) = ((hit.tip, &hit.commit), (entry, &content));
            let standing = self.visibility.standing(self.view, at, of, &looked.parts)?;
            if standing.hidden_by.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(Answer {
            score: looked.score,
            hit,
            row,
            role: message.role,
            content,
            is_own: own.has_all(&looked.parts),
            is_asked_again: looked.is_question && one.hits.len() > 1 && message.role == Role::User,
            is_taken_back: false,
            looked,
        }))
    }

    /// The page that was asked for.
    fn told(&mut self) -> Result<Vec<Found>> {
        let limit = match self.options.limit {
            0 => usize::MAX,
            limit => limit,
        };
        let answers = std::mem::take(&mut self.answers).into_iter();
        let page = answers.skip(self.options.asked.offset).take(limit);
        self.found_all(page.collect())
    }

    /// Answers as they are told.
    pub(super) fn found_all(&mut self, page: Vec<Answer>) -> Result<Vec<Found>> {
        self.look_ahead(page.iter().map(|answer| answer.hit.tip))?;
        let page = page.into_iter();
        page.map(|answer| self.found(answer)).collect()
    }

    fn found(&mut self, answer: Answer) -> Result<Found> {
        let view = self.view;
        let (content, row) = (answer.content, answer.row);
        let entry = entry_of(view, &answer.hit.commit, &content, &row.commit.operation)?;
        let parts = &answer.looked.parts;
        let (at, of) = ((answer.hit.tip, &answer.hit.commit), (entry, &content));
        let standing = self.visibility.standing(view, at, of, parts)?;
        let tip = standing.tip;
        let by = standing.taken_by.as_ref();
        let taken_back = by.map(|by| self.visibility.taken_back(view, tip, entry, by));
        let taken_back = taken_back.transpose()?;
        let (before, after) = match self.options.neighbours {
            0 => Default::default(),
            around => self.visibility.neighbours(view, tip, &entry, around)?,
        };
        Ok(Found {
            is_injected: match self.options.role {
                Some(speaker) => speaker == Speaker::Injected,
                None => answer.role == Role::User && is_injected(view, &row, &content)?,
            },
            hash: row.hash,
            commit: row.commit,
            entry,
            role: answer.role,
            branch: self.tips[tip].0.clone(),
            session: self.visibility.session(view, tip)?.clone(),
            number: standing.number,
            hidden_by: standing.hidden_by,
            taken_back,
            score: answer.score,
            is_own: answer.is_own,
            lines: answer.looked.lines,
            before,
            after,
        })
    }
}
