//! A talk with a command: what is said is committed, the command gets the request, and what it
//! answers is committed.
//!
//! Deliberately absent: where prompts come from, and how an answer is drawn.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tract::compile::RequestOptions;
use tract::context::Context;
use tract::deeds::{At, HookQuestion, must_be_allowed, request_payload};
use tract::formats::messages_of;
use tract::model::{Draft, Message, Part, RefName, Role};
use tract::render::plural;
use tract::repo::{On, Repo};
use tract::tree::Tree;

use super::machine::exec::Failed;
use super::{App, Failure, Result, budget};

/// A conversation with a command.
pub struct Talk<'a> {
    /// Where it is committed.
    pub repo: &'a Repo,
    /// To which line of history.
    pub on: On,
    /// The command.
    pub agent: &'a str,
    /// The form of the request.
    pub options: RequestOptions,
    /// What it is called among the operations.
    pub what: String,
    /// What has been said of the requests, numbers left out: once is enough.
    pub noted: BTreeSet<String>,
    /// Where it was saved, if it is in memory alone.
    pub saved: Option<Saved>,
}

/// A copy that is kept.
#[derive(Clone)]
pub struct Saved {
    place: PathBuf,
    branch: RefName,
    /// How many messages it has.
    messages: usize,
}

impl Talk<'_> {
    /// Whether it ends with the program.
    pub fn is_lost(&self) -> bool {
        self.saved.is_none() && self.repo.place().is_none()
    }

    /// Commits what the user says; gives it, and what the command is to get.
    pub fn ask(&mut self, prompt: &str, app: &mut App) -> Result<(Vec<Part>, String)> {
        let asked = Message::text(Role::User, prompt);
        let drafts = [Draft::append(asked.clone())];
        must_be_allowed(
            &At::new(self.repo, self.on.clone(), app),
            &self.repo.config()?,
            &HookQuestion::of_drafts(&drafts, None),
        )
        .map_err(|fault| fault.with_hint("another prompt; this one was not sent"))?;
        let call = app.call(&self.on, &self.what);
        let options = app.committing(self.repo)?;
        let mut held = budget::commit(self.repo, call, &drafts, &options, app)?;
        // A turn goes on where the budget is not kept: that has been said.
        let _ = held.tell(self.repo, &self.on, app);
        let head = self.repo.resolve(&self.on, "HEAD")?;
        let (request, notices) = request_payload(self.repo, &head, None, &self.options)?;
        for notice in notices {
            let plain = notice.replace(|c: char| c.is_ascii_digit(), "");
            if self.noted.insert(plain) {
                app.ui.notice(notice);
            }
        }
        Ok((asked.parts, request))
    }

    /// Commits an answer, but for so many messages that stand above it; returns of how many it is.
    pub fn keep(&self, tree: &Tree, above: usize, app: &mut App) -> Result<usize> {
        let messages = messages_of(tree).into_iter();
        let messages: Vec<Message> = messages.skip(above).collect();
        let count = messages.len();
        if count > 0 {
            // What was said was said: the budget has its word before the next turn.
            let drafts: Vec<Draft> = messages.into_iter().map(Draft::append).collect();
            let call = app.call(&self.on, &self.what);
            self.repo
                .commit(call, &drafts, &app.committing(self.repo)?)?;
        }
        Ok(count)
    }

    /// What is to be said of an answer of so many messages that has been kept.
    pub fn judge(
        &self,
        failed: Option<Failed>,
        cancelled: bool,
        answered: usize,
        app: &mut App,
    ) -> Result<()> {
        match failed {
            Some(_) if cancelled => {
                app.ui.status("Cancelled; the answer so far is kept");
                Ok(())
            }
            Some(failed) => Err(self.failure(failed, answered, app)),
            None if answered == 0 => Err(self.failure(Failed::silent("it said nothing"), 0, app)),
            None => Ok(()),
        }
    }

    /// Why there is no whole answer.
    pub fn failure(&self, failed: Failed, answered: usize, app: &mut App) -> Failure {
        failed.stderr.lines().for_each(|line| app.ui.complain(line));
        let what = format!("'{}' gave no whole answer: {}", self.agent, failed.reason);
        Failure::refused(what).with_hint(match answered {
            0 => "the prompt is kept; /undo takes it back",
            _ => "what it said until then is kept; /undo takes it back",
        })
    }

    /// Where the conversation was saved, it goes on there, too.
    pub fn save_on(&mut self, app: &App) -> Result<()> {
        if let Some(saved) = self.saved.clone() {
            let mut kept = Repo::open_as(&saved.place, &app.visitor()?)?;
            app.sign_on(&mut kept)?;
            self.saved = Some(self.copy(&kept, saved, app)?);
        }
        Ok(())
    }

    /// Commits the messages that a copy does not have to its branch, or to another one where the
    /// conversation has become shorter meanwhile.
    fn copy(&self, kept: &Repo, mut saved: Saved, app: &App) -> Result<Saved> {
        let context = match self.repo.head(&self.on)?.commit() {
            Some(tip) => self.repo.context(&tip)?,
            None => Context::default(),
        };
        let messages = self.repo.messages(&context)?;
        let count = messages.len();
        if count < saved.messages {
            (saved.branch, saved.messages) = (free_branch(kept)?, 0);
        }
        let new = messages.into_iter().skip(saved.messages);
        let drafts: Vec<Draft> = new.map(Draft::append).collect();
        if !drafts.is_empty() {
            let on = On::Branch(saved.branch.clone());
            let call = app.call(&on, "chat /save");
            kept.commit(call, &drafts, &app.committing(kept)?)?;
        }
        saved.messages = count;
        Ok(saved)
    }

    /// Keeps a conversation that is in memory alone: its messages, on a branch of their own where
    /// there are others.
    pub fn save(&mut self, place: &str, app: &mut App) -> Result<()> {
        if self.repo.place().is_some() {
            app.ui.status("It is kept already");
            return Ok(());
        }
        let place: PathBuf = match place {
            "" => app.named_repo()?.map_or_else(|| app.cwd(), Ok)?,
            place => app.path(Path::new(place))?,
        };
        let is_there = |saved: &Saved| saved.place == place;
        if self.saved.as_ref().is_some_and(is_there) {
            app.ui.status("It is kept there already, and goes on there");
            return Ok(());
        }
        let (mut kept, _) = Repo::init_as(&place, &app.visitor()?)?;
        app.sign_on(&mut kept)?;
        let branch = free_branch(&kept)?;
        let messages = 0;
        let empty = Saved {
            place,
            branch,
            messages,
        };
        let saved = self.copy(&kept, empty, app)?;
        let place = kept.place().map(|place| app.short_path(place));
        app.ui.status(format!(
            "Kept {} in {}, on {}",
            plural(saved.messages as u64, "message"),
            place.unwrap_or_default(),
            saved.branch.short()
        ));
        self.saved = Some(saved);
        Ok(())
    }
}

/// main, where it has no commit, or else the first free `chat-N`.
fn free_branch(repo: &Repo) -> Result<RefName> {
    let names = std::iter::once("main".to_owned()).chain((1..).map(|n| format!("chat-{n}")));
    for name in names {
        let branch = RefName::branch(&name)?;
        if repo
            .head(&On::Branch(branch.clone()))
            .map_or(true, |head| head.commit().is_none())
        {
            return Ok(branch);
        }
    }
    unreachable!("there is always another number")
}
