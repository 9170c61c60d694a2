//! Commits held to the repository's budget, and what is said of that.

use serde_json::json;
use tract::Error;
use tract::deeds::usual_prune;
use tract::error::Refusal;
use tract::hash::CommitHash;
use tract::model::Draft;
use tract::model::budget::{Budget, BudgetAction};
use tract::render::{Label, Line, grouped, plural, shell_word, tokens};
use tract::repo::{Call, CommitOptions, Committed, On, Repo};
use tract::rewrite::{Compact, Extent, Surgery, Verdict};

use super::drawing::{cache, outcome};
use super::machine::summariser;
use super::{App, Exit, Failure, Result, Summariser, failure, trace};

/// What was committed, and what the budget made of it.
#[derive(Default)]
pub struct Held {
    /// The commits that were asked for, and after them a truncation's.
    pub commits: Vec<Committed>,
    /// The verdict, and the budget.
    verdict: Option<(Verdict, Budget)>,
    /// What a summary was committed as that the budget asked for.
    summed: Option<CommitHash>,
}

/// Commits within the budget, where one is set.
pub fn commit(
    repo: &Repo,
    call: Call<'_>,
    drafts: &[Draft],
    options: &CommitOptions<'_>,
    app: &mut App,
) -> Result<Held> {
    let Some(budget) = repo.config()?.budget()? else {
        return Ok(Held::free(repo.commit(call, drafts, options)?));
    };
    within(repo, call, drafts, options, &budget, app)
}

/// Commits within a budget.
pub fn within(
    repo: &Repo,
    call: Call<'_>,
    drafts: &[Draft],
    options: &CommitOptions<'_>,
    budget: &Budget,
    app: &mut App,
) -> Result<Held> {
    let on = call.on;
    let within = match repo.commit_within(call, drafts, options, budget) {
        Err(error @ Error::OverBudget { .. }) => {
            trace::counted(repo, on, budget.max, "refused", app);
            let hint = outcome::smaller(app, repo, on)?;
            return Err(Failure::refused(failure::sentence(&error)).with_hint(hint));
        }
        within => within?,
    };
    let verdict = match &within.verdict {
        Verdict::Fits => "fits",
        Verdict::Over { .. } => "over",
        Verdict::Truncated { .. } => "truncated",
        Verdict::Compact { .. } => "to be compacted",
        Verdict::Prune { .. } => "to be pruned",
        Verdict::Waits { .. } => "waits for a cold cache",
    };
    trace::counted(repo, on, budget.max, verdict, app);
    Ok(Held {
        commits: within.commits,
        verdict: Some((within.verdict, budget.clone())),
        summed: None,
    })
}

impl Held {
    /// What no budget was asked about.
    pub fn free(commits: Vec<Committed>) -> Self {
        Self {
            commits,
            ..Self::default()
        }
    }

    /// Where the branch was behind all that was done here; others may have gone on since.
    pub fn tip(&self) -> Option<CommitHash> {
        self.summed.or(self.commits.last().map(|last| last.hash))
    }

    /// Says what the budget had to say, and has a summary made where it asks for one.
    ///
    /// # Errors
    ///
    /// Where what it asks for did not keep it: the commit stands, and all has been said.
    pub fn tell(&mut self, repo: &Repo, on: &On, app: &mut App) -> Result<()> {
        let (Some((verdict, budget)), Some(last)) = (&self.verdict, self.commits.last()) else {
            return Ok(());
        };
        let (max, acts) = (&budget.max, budget.action != BudgetAction::Warn);
        let not_kept = Err(Failure::Quiet(Exit::NotAllowed));
        let smaller = match verdict {
            Verdict::Over { .. } | Verdict::Compact { .. } => {
                outcome::smaller(app, repo, on).unwrap_or_default()
            }
            _ => String::new(),
        };
        match verdict {
            // Whose the repository is, theirs is the command.
            Verdict::Compact {
                total, otherwise, ..
            } if !repo.is_own() => {
                let (over, otherwise) = (Verdict::Over { total: *total }, otherwise.clone());
                tell(&over, *max, (repo, on, last), &smaller, app);
                app.ui.notice(match repo.directory() {
                    Some(_) => "budget.action names a command of another user's; it was not run",
                    None => "budget.action names a command; a server's repository runs none",
                });
                self.go_on(&otherwise, repo, on, app).unwrap_or(Ok(()))
            }
            Verdict::Compact {
                command, otherwise, ..
            } => {
                tell(verdict, *max, (repo, on, last), &smaller, app);
                let (max, otherwise) = (*max, otherwise.clone());
                let is_last = otherwise.is_empty();
                let (done, hint) = match compact(repo, on, command, is_last, app) {
                    Ok(tip) => {
                        self.summed = tip;
                        (true, None)
                    }
                    Err(why) => (false, within_turn(&why, repo, on, command, app)?),
                };
                let did = done.then_some("the summary");
                self.unless_kept(
                    did,
                    &otherwise,
                    &hint.unwrap_or(smaller),
                    (repo, on, max),
                    app,
                )
            }
            Verdict::Prune { otherwise, .. } => {
                tell(verdict, *max, (repo, on, last), "", app);
                let (max, otherwise) = (*max, otherwise.clone());
                let call = app.call(on, "prune (budget.action)");
                let options = outcome::options(app, repo, false)?;
                let done = repo.carry_out(call, &usual_prune(repo)?, &options)?;
                self.summed = done.commits.last().map(|last| last.hash);
                let parts = plural(done.parts() as u64, "output");
                let pruned = self.summed.map(|_| "the prune");
                match pruned {
                    Some(_) => outcome::tell(app, on, &format!("Pruned {parts}"), &done),
                    None => app.ui.warn("no old tool output is left to prune"),
                }
                let smaller = outcome::smaller(app, repo, on).unwrap_or_default();
                self.unless_kept(pruned, &otherwise, &smaller, (repo, on, max), app)
            }
            Verdict::Over { .. } if acts => {
                tell(verdict, *max, (repo, on, last), "", app);
                app.ui.warn("hiding the oldest messages cannot make it fit");
                self.tell_committed(&smaller, app);
                not_kept
            }
            _ => {
                tell(verdict, *max, (repo, on, last), &smaller, app);
                Ok(())
            }
        }
    }

    /// Goes on to what `budget.action` names next, unless the context fits now; `did` is what was done about it.
    fn unless_kept(
        &mut self,
        did: Option<&str>,
        otherwise: &[BudgetAction],
        smaller: &str,
        (repo, on, max): (&Repo, &On, u64),
        app: &mut App,
    ) -> Result<()> {
        let now = repo.status(on, app.encoding(repo)?)?;
        let now = now.provider.total(now.total);
        if let Some(did) = did {
            if now.tokens <= max {
                return Ok(());
            }
            let (now, max) = (tokens(now), grouped(max));
            app.ui.warn(format!(
                "{did} does not make it fit: {now} tokens, over the budget of {max}"
            ));
        }
        if let Some(done) = self.go_on(otherwise, repo, on, app) {
            return done;
        }
        self.tell_committed(smaller, app);
        Err(Failure::Quiet(Exit::NotAllowed))
    }

    /// Has done what `budget.action` names next, and says so; none where it names nothing.
    fn go_on(
        &mut self,
        otherwise: &[BudgetAction],
        repo: &Repo,
        on: &On,
        app: &mut App,
    ) -> Option<Result<()>> {
        let (_, budget) = self.verdict.take()?;
        let (next, others) = otherwise.split_first()?;
        let budget = Budget {
            action: next.clone(),
            otherwise: others.to_vec(),
            ..budget
        };
        app.ui.notice(format!("budget.action goes on: {next}"));
        let call = app.call(on, "truncate (budget.action)");
        let within = match repo.keep_within(call, &self.commits, &budget) {
            Ok(within) => within,
            Err(error) => return Some(Err(error.into())),
        };
        if !within.commits.is_empty() {
            self.summed = None;
            self.commits.extend(within.commits);
        }
        self.verdict = Some((within.verdict, budget));
        Some(self.tell(repo, on, app))
    }

    /// Says that the message is there though the budget is not kept, and what to do.
    fn tell_committed(&self, smaller: &str, app: &mut App) {
        let Some(first) = self.commits.first() else {
            return;
        };
        let line = Line::from("the message was committed anyway, as ");
        app.ui.complain(line + Label::Hash.of(first.hash.short()));
        app.ui.advise(smaller);
    }
}

/// Says what the budget made of the commit.
fn tell(
    verdict: &Verdict,
    max: u64,
    (repo, on, last): (&Repo, &On, &Committed),
    smaller: &str,
    app: &mut App,
) {
    let max = grouped(max);
    let over = |total| format!("{} tokens, over the budget of {max}", tokens(total));
    match verdict {
        Verdict::Fits => {}
        Verdict::Over { total } => {
            app.ui.warn(over(*total));
            if !smaller.is_empty() {
                app.ui.hint(smaller);
            }
        }
        Verdict::Truncated {
            hidden,
            before,
            after,
        } => {
            let (hidden, head) = (plural(*hidden as u64, "message"), last.hash.short());
            let hide = last.hash;
            trace::add(app, "changed", |app| {
                let shown = repo.show(&hide, app.encoding(repo)?)?;
                Ok(json!({
                    "why": format!("{}: budget.action hid {hidden}", over(*before)),
                    "commits": [hide.to_string()],
                    "hidden": trace::messages(&shown.hidden),
                    "before": before.tokens,
                    "after": after.tokens,
                }))
            });
            app.ui.status(format!(
                "{}: hid {hidden}, now {}; {on} is {head}",
                over(*before),
                tokens(*after)
            ));
            app.ui
                .hint(format!("tract restore {head} brings them back"));
        }
        Verdict::Compact { total, command, .. } => {
            app.ui.status(format!("{}: asking {command}", over(*total)));
        }
        Verdict::Prune { total, .. } => {
            app.ui
                .status(format!("{}: pruning old tool outputs", over(*total)));
        }
        Verdict::Waits { total, last_use } => {
            app.ui.warn(over(*total));
            let left = cache::duration(last_use.life_ms() - last_use.age_ms);
            app.ui.hint(format!(
                "budget.when cold: nothing is hidden while the cache is warm, for {left}"
            ));
        }
    }
}

/// Has the command of `budget.action` summarise what came before the current turn. The commit
/// stands whatever comes of it.
///
/// # Errors
///
/// Why it was not done; that is said already.
fn compact(
    repo: &Repo,
    on: &On,
    command: &str,
    is_last: bool,
    app: &mut App,
) -> Result<Option<CommitHash>> {
    let call = app.call(on, "compact --exec … (budget.action)");
    let done = outcome::options(app, repo, false).and_then(|options| {
        let seconds = repo.config()?.budget_timeout()?;
        let summariser = Summariser::of_budget(command, seconds);
        summariser.compact(repo, call, &Extent::KeepTurn, &options, app)
    });
    match done {
        Ok(done) => {
            summariser::tell(on, &done, app);
            Ok(done.0.surgery.commits.last().map(|last| last.hash))
        }
        Err(why) => {
            if is_last {
                app.ui.warn("the context is still over budget");
                // What to do about it is said below.
                app.ui.complain(why.line());
            } else {
                app.ui.warn(why.what());
            }
            Err(why)
        }
    }
}

/// The compaction that reaches into the current turn, where that turn is all there is and there is
/// something in it to take.
fn within_turn(
    why: &Failure,
    repo: &Repo,
    on: &On,
    command: &str,
    app: &App,
) -> Result<Option<String>> {
    if !matches!(why, Failure::Tract(Error::Refused(Refusal::OnlyTheTurn))) {
        return Ok(None);
    }
    let extent = Extent::KeepLast(1);
    let plan = Compact {
        extent,
        summary: None,
    };
    let options = outcome::options(app, repo, false)?;
    let would = repo.compare(app.call(on, "…"), &options, &[&plan])?;
    let does = |it: &tract::Result<Surgery>| it.as_ref().is_ok_and(|it| !it.is_nothing());
    let command = shell_word(command);
    let hint = format!("tract compact --keep 1 --exec {command} takes what is in the turn");
    Ok(would.iter().any(does).then_some(hint))
}
