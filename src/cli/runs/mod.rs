//! Runs from one exact context: begun, bounded in time and money, judged, each on a branch of its own.
//!
//! A run is done when its branch is there, so whoever was interrupted goes on with those that are missing. What starts
//! processes waits on threads; what is committed is committed here, one run after the other.
//!
//! Deliberately absent: what is asked, and how the runs are shown.

pub mod client;
pub mod directory;
mod said;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Scope};
use std::time::Duration;

use tract::compile::RequestOptions;
use tract::deeds::{request_payload, served_settings};
use tract::hash::CommitHash;
use tract::model::price::Prices;
use tract::model::{Draft, EntryId, Priority, RefName};
use tract::query::Bill;
use tract::repo::runs::JUDGED;
use tract::repo::{CommitOptions, On, Repo};
use tract::rewrite::SurgeryOptions;
use tract::rewrite::bisect::Judged;

use super::drawing::prices;
use super::machine::exec::{Agent, Failed, Finished};
use super::machine::judge::{self, Judge, Ruling};
use super::machine::pause::Pause;
use super::machine::shell::shell;
use super::{App, Failure, Result};
use client::{Begun, Client};
use directory::Checkout;
use said::{ANSWER_MAX, printed};

/// What makes a continuation.
pub enum Maker<'a> {
    /// A command: the request, and the command line.
    Exec(&'a str),
    /// A tool.
    Client(Client<'a>),
}

/// The runs that are to be.
pub struct Runs<'a> {
    /// Their name.
    pub name: &'a str,
    /// How many.
    pub count: usize,
    /// How many at a time.
    pub jobs: usize,
    /// The commit that all go on from.
    pub base: CommitHash,
    /// What makes them.
    pub maker: Maker<'a>,
    /// How the context is told to commands.
    pub options: RequestOptions,
    /// Who says how they went.
    pub judge: Option<&'a str>,
    /// How long each may take.
    pub timeout: Duration,
    /// What all may cost, in US dollars; beyond that none is begun.
    pub max_cost: Option<f64>,
    /// What each gets a worktree of.
    pub checkout: Option<Checkout>,
    /// Where their directories are.
    pub folder: PathBuf,
    /// The command, for the operations.
    pub what: String,
}

/// What became of the runs that were begun.
#[derive(Default)]
pub struct Done {
    /// Why those have no answer that have none.
    pub failed: BTreeMap<usize, String>,
    /// Whether some were not begun for their cost.
    pub is_spent: bool,
    /// The signal that asked for the end.
    pub signal: Option<i32>,
}

/// What a thread tells.
enum Told {
    Answered(usize, Box<Result<Finished, Failed>>),
    Judged(usize, Result<Ruling>),
}

/// A run at work.
struct AtWork {
    directory: Option<PathBuf>,
    begun: Option<Begun>,
}

impl Runs<'_> {
    /// The branch of a run.
    pub fn branch(&self, number: usize) -> Result<RefName> {
        Ok(RefName::branch(&format!("run/{}/{number}", self.name))?)
    }

    /// Does those that are not there yet.
    pub fn carry_out(&self, repo: &Repo, app: &mut App) -> Result<Done> {
        let here = repo.runs(self.name)?;
        for run in &here {
            if !repo.is_on_path(&self.base, &run.tip)? {
                let what = format!(
                    "{} does not go on from {}",
                    run.branch.short(),
                    self.base.short()
                );
                return Err(Failure::refused(what).with_hint("another --name begins other runs"));
            }
        }
        let is_missing = |number: &usize| here.iter().all(|run| run.number != *number);
        let mut queue: VecDeque<usize> = (1..=self.count).filter(is_missing).collect();
        let request = match &self.maker {
            Maker::Exec(_) => request_payload(repo, &self.base, None, &self.options)?.0,
            Maker::Client(client) => client.prompt.clone(),
        };
        let (prices, _) = prices::prices(repo, app)?;
        let pause = Pause::begin()?;
        let stop = AtomicBool::new(false);
        let (sender, told) = mpsc::channel();
        let mut done = Done::default();
        let mut spent = self.spent(repo, &prices)?;
        let ended = thread::scope(|scope| -> Result<()> {
            // Whatever ends this ends what was begun: the scope waits for the threads.
            let _stops = Stops(&stop);
            let mut at_work: BTreeMap<usize, AtWork> = BTreeMap::new();
            loop {
                while at_work.len() < self.jobs && !pause.is_over() {
                    if self.max_cost.is_some_and(|most| spent >= most) && !queue.is_empty() {
                        done.is_spent = true;
                        break;
                    }
                    let Some(number) = queue.pop_front() else {
                        break;
                    };
                    match self.begin(number, repo, app) {
                        Ok((program, work)) => {
                            app.ui.status(format!("{}/{number}: begun", self.name));
                            at_work.insert(number, work);
                            let job = (number, program, request.clone(), self.timeout);
                            answer(scope, job, (&pause, &stop), sender.clone());
                        }
                        Err(failure) => {
                            stop.store(true, Ordering::Relaxed);
                            queue.clear();
                            if at_work.is_empty() {
                                return Err(failure);
                            }
                            app.ui.warn(failure.what());
                            done.failed.insert(number, failure.what());
                        }
                    }
                }
                if at_work.is_empty() {
                    break Ok(());
                }
                let Ok(next) = told.recv() else {
                    break Ok(());
                };
                let is_over = pause.is_over();
                let (number, reason) = match next {
                    Told::Answered(number, finished) => {
                        let work = &at_work[&number];
                        match self.take_in(number, *finished, work, repo, app)? {
                            Ok(tip) => {
                                spent = self.spent(repo, &prices)?;
                                if let Some(command) = self.judge {
                                    let directory = work.directory.clone();
                                    let text = request_payload(repo, &tip, None, &self.options)?.0;
                                    let asked = (number, self.branch(number)?, tip);
                                    let how = (command, self.timeout, directory);
                                    rule(scope, asked, how, text, (&pause, sender.clone()));
                                    continue;
                                }
                                (number, None)
                            }
                            Err(reason) => (number, Some(reason)),
                        }
                    }
                    Told::Judged(number, Ok(ruling)) => {
                        self.note(number, &ruling, repo, app)?;
                        (number, None)
                    }
                    Told::Judged(number, Err(Failure::Stopped(_))) => (number, None),
                    Told::Judged(_, Err(failure)) => return Err(failure),
                };
                let work = at_work.remove(&number);
                if let Some(reason) = reason {
                    app.ui
                        .status(format!("{}/{number}: no answer: {reason}", self.name));
                    if !is_over {
                        done.failed.insert(number, reason);
                    }
                    // Of a run that has no branch there is nothing to look at, and it may be begun again.
                    if let Some(AtWork {
                        directory: Some(_), ..
                    }) = work
                    {
                        self.retire(number, app)?;
                    }
                } else {
                    app.ui.status(format!("{}/{number}: done", self.name));
                }
            }
        });
        done.signal = pause.signal();
        ended.map(|()| done)
    }

    fn place(&self, number: usize) -> PathBuf {
        self.folder.join(number.to_string())
    }

    /// Removes the directory of a run that has no branch. Work in it that is nowhere else stays, and is said.
    fn retire(&self, number: usize, app: &mut App) -> Result<()> {
        if let Some((place, work)) = directory::retire(&self.place(number))? {
            let place = app.short_path(&place);
            app.ui.notice(format!("{} kept in {place}", work.counted()));
        }
        Ok(())
    }

    /// What a run starts.
    fn begin(&self, number: usize, repo: &Repo, app: &mut App) -> Result<(Command, AtWork)> {
        let own = matches!(self.maker, Maker::Client(_)) || self.checkout.is_some();
        let directory = match own {
            true => {
                let place = self.place(number);
                Some(directory::make(&place, self.checkout.as_ref(), self.name)?)
            }
            false => None,
        };
        let begun = match (&self.maker, &directory) {
            (Maker::Exec(line), _) => Ok((shell(line), None)),
            (Maker::Client(client), Some(directory)) => {
                let begun = client.begin(repo, &self.base, directory, &self.what, app);
                begun.map(|(program, begun)| (program, Some(begun)))
            }
            (Maker::Client(_), None) => unreachable!("a tool has a directory"),
        };
        let (mut program, begun) = match begun {
            Ok(begun) => begun,
            Err(failure) => {
                self.retire(number, app)?;
                return Err(failure);
            }
        };
        if let Some(directory) = &directory {
            program.current_dir(directory);
        }
        Ok((program, AtWork { directory, begun }))
    }

    /// Commits what a run has said, on a branch; or says why there is nothing of it.
    fn take_in(
        &self,
        number: usize,
        finished: Result<Finished, Failed>,
        work: &AtWork,
        repo: &Repo,
        app: &mut App,
    ) -> Result<Result<CommitHash, String>> {
        let printed = match printed(finished) {
            Ok(printed) => printed,
            Err(reason) => return Ok(Err(reason)),
        };
        let branch = self.branch(number)?;
        if let (Maker::Client(client), Some(begun)) = (&self.maker, &work.begun) {
            return client.take_in(repo, begun, branch.short(), &self.what, app);
        }
        let messages = match said::read(&printed) {
            Ok(messages) => messages,
            Err(reason) => return Ok(Err(reason)),
        };
        let usages: Vec<_> = messages.iter().map(|it| it.usage.clone()).collect();
        let served = served_settings(repo, &messages, false, Some(self.base))?;
        let mut drafts: Vec<Draft> = messages
            .into_iter()
            .map(|it| Draft::append(it.message))
            .collect();
        for (at, (key, value)) in served {
            drafts[at].settings.insert(key.to_owned(), value);
        }
        let on = On::Branch(branch.clone());
        let options = CommitOptions {
            usages: &usages,
            ..app.committing(repo)?
        };
        let made = repo.commit_after(
            app.call(&on, &self.what),
            Some(self.base),
            &drafts,
            &options,
        )?;
        let Some(tip) = made.last().map(|made| made.hash) else {
            return Ok(Err("it said nothing".to_owned()));
        };
        repo.create_branch(app.call(&On::Head, &self.what), &branch, &tip.to_string())?;
        Ok(Ok(tip))
    }

    /// Keeps a verdict: as the reason of an annotation of the last message.
    fn note(&self, number: usize, ruling: &Ruling, repo: &Repo, app: &mut App) -> Result<()> {
        let on = On::Branch(self.branch(number)?);
        let entry: EntryId = repo.resolve_entry(&on, ":-1")?;
        let mut reason = format!("{JUDGED}{}", outcome(ruling.judged));
        if let Some(why) = &ruling.reason {
            reason += &format!(": {why}");
        }
        let options = SurgeryOptions::default();
        repo.annotate(
            app.call(&on, &self.what),
            &[entry],
            Priority::Normal,
            Some(&reason),
            &options,
        )?;
        judge::tell(ruling, app);
        Ok(())
    }

    /// What the runs that are here have cost.
    fn spent(&self, repo: &Repo, prices: &Prices) -> Result<f64> {
        let mut sum = 0.0;
        for run in repo.runs(self.name)? {
            sum += bill_after(repo, &self.base, &run.tip, prices)?.dollars;
        }
        Ok(sum)
    }
}

/// What the replies after a commit come to.
pub fn bill_after(
    repo: &Repo,
    base: &CommitHash,
    tip: &CommitHash,
    prices: &Prices,
) -> Result<Bill> {
    let before = repo.billed(Some(base), prices)?;
    let all = repo.billed(Some(tip), prices)?;
    let is_new = |commit: &CommitHash| before.iter().all(|reply| reply.commit != *commit);
    Ok(Bill::of(all.iter().filter(|reply| is_new(&reply.commit))))
}

/// What a run is called by its branch's tip: what a judge said of it, or that it was answered.
pub fn outcome_at(repo: &Repo, tip: &CommitHash) -> Result<String> {
    let verdict = repo.verdict_at(tip)?;
    Ok(verdict.unwrap_or_else(|| "answered".to_owned()))
}

/// What a verdict says of a run.
fn outcome(judged: Judged) -> &'static str {
    match judged {
        Judged::Good => "good",
        Judged::Bad => "bad",
        Judged::Skip => "unknown",
    }
}

/// Sets a flag when it is dropped.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Has a thread wait for a program's answer.
fn answer<'s, 'e>(
    scope: &'s Scope<'s, 'e>,
    (number, program, input, timeout): (usize, Command, String, Duration),
    (pause, stop): (&'e Pause, &'e AtomicBool),
    sender: Sender<Told>,
) {
    scope.spawn(move || {
        let is_over = || pause.is_over() || stop.load(Ordering::Relaxed);
        let started = Agent::of(program, &input);
        let finished =
            started.and_then(|(agent, stdout)| agent.finish(stdout, timeout, ANSWER_MAX, is_over));
        // Nobody may wait for it any more.
        let _ = sender.send(Told::Answered(number, Box::new(finished)));
    });
}

/// Has a thread wait for a verdict.
fn rule<'s, 'e>(
    scope: &'s Scope<'s, 'e>,
    (number, branch, tip): (usize, RefName, CommitHash),
    (command, timeout, directory): (&'e str, Duration, Option<PathBuf>),
    text: String,
    (pause, sender): (&'e Pause, Sender<Told>),
) {
    scope.spawn(move || {
        let judge = Judge {
            command,
            timeout,
            directory: directory.as_deref().map(Path::new),
        };
        let rev = tip.to_string();
        let ruling = judge.ask(&text, &[("BRANCH", branch.short()), ("REV", &rev)], pause);
        let _ = sender.send(Told::Judged(number, ruling));
    });
}
