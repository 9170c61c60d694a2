//! A conversation that goes on: what another process commits is printed as it comes.

use std::time::Duration;

use tract::Error;
use tract::hash::CommitHash;
use tract::ingest::{Conversation, Scope};
use tract::query::Moved;
use tract::render::chat::Pen;
use tract::render::{Label, Line, plural};
use tract::repo::{On, Repo};

use super::conversation::{self, Form, Which};
use super::machine::pause::{Over, Pause};
use super::{App, Failure, Result};

/// How often it is asked whether somebody has written: that costs a few microseconds.
const POLL: Duration = Duration::from_millis(150);

/// A line of history, looked at again and again.
pub struct Followed<'a> {
    /// Where it is.
    pub repo: &'a Repo,
    /// The line of history.
    pub on: On,
    /// What of it, as it was typed.
    pub what: String,
    version: Option<u64>,
    tip: Option<CommitHash>,
    /// Whether it was looked at before.
    is_known: bool,
}

/// That it has moved.
pub struct Step {
    /// Where it ends now; none where it has no commit.
    pub tip: Option<CommitHash>,
    /// What came and what is gone.
    pub moved: Moved,
}

impl<'a> Followed<'a> {
    /// A line of history that has not been looked at yet.
    pub fn new(repo: &'a Repo, on: On, what: impl Into<String>) -> Self {
        Self {
            repo,
            on,
            what: what.into(),
            version: None,
            tip: None,
            is_known: false,
        }
    }

    /// Looks whether it has moved. Where nobody has written, that is no work.
    pub fn look(&mut self) -> Result<Option<Step>> {
        let version = self.repo.version()?;
        if self.version == Some(version) {
            return Ok(None);
        }
        self.version = Some(version);
        self.look_again()
    }

    /// The same after this process has written itself.
    pub fn look_again(&mut self) -> Result<Option<Step>> {
        let tip = match self.repo.resolve(&self.on, &self.what) {
            Ok(tip) => Some(tip),
            Err(Error::EmptyBranch { .. }) if self.what == "HEAD" => None,
            Err(error) => return Err(error.into()),
        };
        if tip == self.tip {
            self.is_known = true;
            return Ok(None);
        }
        // What is seen for the first time has not moved, however long the way to it is.
        let moved = if self.is_known {
            self.repo.moved(self.tip.as_ref(), tip.as_ref())?
        } else {
            Moved::default()
        };
        self.is_known = true;
        self.tip = tip;
        Ok(Some(Step { tip, moved }))
    }
}

/// Prints what is there and then what comes, until a signal asks for the end or nobody reads any
/// more.
pub fn follow(what: &str, which: Which, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let scope = which.scope(Form::Plain, &repo)?;
    let mut followed = Followed::new(&repo, on, what);
    let mut pen = Pen::default();
    let pause = Pause::begin()?;
    if let Some(Step { tip: Some(tip), .. }) = followed.look()? {
        let now = Conversation::open(&repo, &tip, scope)?.going_on(true);
        conversation::header(&now, app)?;
        conversation::parts(&now, &repo, now.first(), &mut pen, app)?;
    }
    loop {
        app.ui.flush()?;
        match pause.wait(POLL) {
            Some(Over::Asked) => return Ok(()),
            Some(Over::Closed) => return Err(Failure::ClosedPipe),
            None => {}
        }
        match followed.look() {
            Ok(Some(step)) => tell(&step, &repo, scope, &mut pen, app)?,
            Ok(None) => {}
            Err(Failure::Tract(error @ Error::UnknownRevision { .. })) => {
                app.ui.notice(format!("{error}; waiting for it"));
            }
            Err(failure) => return Err(failure),
        }
    }
}

fn tell(step: &Step, repo: &Repo, scope: Scope, pen: &mut Pen, app: &mut App) -> Result<()> {
    for line in changes(step) {
        app.ui.print("")?;
        app.ui.print(line)?;
    }
    let Some(tip) = &step.tip else {
        return Ok(());
    };
    let scope = match scope {
        // However many come at once, they are new.
        Scope::Window(_) => Scope::Window(usize::MAX),
        scope => scope,
    };
    let now = Conversation::open(repo, tip, scope)?.going_on(true);
    let from = now.new_since(repo, &step.moved)?;
    conversation::parts(&now, repo, from, pen, app)
}

/// What has happened besides new messages, a line for each.
pub fn changes(step: &Step) -> Vec<Line> {
    let mut lines = Vec::new();
    if step.moved.gone > 0 {
        let gone = plural(step.moved.gone as u64, "message");
        let now = match &step.tip {
            Some(tip) => Label::Dim.of(" taken back, now at ") + Label::Hash.of(tip.short()),
            None => Label::Dim.of(" taken back, nothing is left"),
        };
        lines.push(Label::Hide.of("── ") + Label::Dim.of(gone) + now);
    }
    for (commit, word) in &step.moved.changes {
        lines.push(
            Label::Hide.of("── ") + Label::Hide.of(*word) + "  " + Label::Hash.of(commit.short()),
        );
    }
    if lines.is_empty() && step.moved.came == 0 {
        let now = step.tip.map_or("nothing".to_owned(), |tip| tip.short());
        lines.push(Label::Hide.of("── ") + Label::Dim.of("now at ") + Label::Hash.of(now));
    }
    lines
}
