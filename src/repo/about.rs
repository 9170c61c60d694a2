//! What tells one line of history from another at a glance: where it is from, how it begins, when it
//! went on. Cheap enough to be asked for hundreds.

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{HideKind, Millis, Role, as_title};
use crate::repo::outline::Outline;
use crate::repo::repository::Repo;
use crate::repo::{load, path, prompts};
use crate::store::View;

/// How many messages the first prompt is looked for in.
const PROMPT_SEARCH: usize = 16;
/// How many commits back a time and a session are looked for.
const SEARCH: usize = 64;

/// A line of history at a glance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The title of the session that it came from.
    pub title: Option<String>,
    /// The tool of that session.
    pub tool: Option<String>,
    /// The directory of that session.
    pub cwd: Option<String>,
    /// The beginning of the first thing that the user said.
    pub prompt: Option<String>,
    /// The message that this is the beginning of.
    pub asked: Option<ContentHash>,
    /// The time of its newest commit that has one.
    pub last: Option<Millis>,
    /// How many messages a model would be sent.
    pub messages: usize,
    /// How many are hidden from it.
    pub hidden: usize,
    /// How many of both hides put in place of what they hid, such as summaries.
    pub placed: usize,
    /// The compactions that are active.
    pub compactions: u32,
}

impl Repo {
    /// What tells the line of history that ends in `tip` from others.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, Repo};
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let say = |role, text| Draft::append(Message::text(role, text));
    /// let talk = [say(Role::System, "Be brief."), say(Role::User, "Which notes are there?")];
    /// let done = repo.commit(Call::default(), &talk, &CommitOptions::default())?;
    /// let about = repo.about(&done[1].hash)?;
    /// assert_eq!(about.prompt.as_deref(), Some("Which notes are there?"));
    /// assert_eq!(about.messages, 2);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn about(&self, tip: &CommitHash) -> Result<About> {
        About::of(&*self.store.read()?, tip)
    }

    /// What the user typed first, whole; empty where nobody typed anything.
    pub fn asked_first(&self, about: &About) -> Result<String> {
        let Some(asked) = about.asked else {
            return Ok(String::new());
        };
        let message = load::content(&*self.store.read()?, &asked)?;
        Ok(message.typed_texts().join(" "))
    }
}

impl About {
    /// How many messages were said: nobody says what hides put in place of others.
    pub fn said(&self) -> usize {
        (self.messages + self.hidden) - self.placed
    }

    /// That of the line that ends in `tip`.
    pub(crate) fn of(view: &dyn View, tip: &CommitHash) -> Result<Self> {
        let outline = Outline::of(view, tip)?;
        let first = outline.all().read_in(view, 0..PROMPT_SEARCH)?;
        let contents: Vec<_> = first.iter().map(|one| one.entry.content).collect();
        let rows = load::rows(view, &contents)?;
        let commits = first.iter().map(|one| one.entry.id.commit);
        let rows = commits.zip(contents.iter().map(|content| &rows[content]));
        let spoken = rows.filter(|(_, row)| row.role == Role::User && row.results == 0);
        let spoken: Vec<_> = spoken.filter(|(_, row)| !row.attached).collect();
        // What a tool puts before the first prompt says the same of every session, but is better than nothing.
        let typed = prompts::typed(view, &spoken)?;
        let typed = typed.iter().position(|typed| *typed).unwrap_or(0);
        let prompt = spoken.get(typed).map(|(_, row)| row);
        let asked = prompt.map(|row| row.hash);
        let newest = view.ancestors(tip, None, SEARCH)?;
        // What came from a session stands at the end, or, before messages of one's own, at the
        // beginning.
        let near = newest.iter().map(|row| row.hash);
        let near = near.chain(first.iter().map(|one| one.entry.id.commit));
        let near: Vec<CommitHash> = near.collect();
        let session = path::session_among(view, &near)?;
        let tool = session.as_ref();
        let tool = tool.and_then(|(name, _)| Some(name.as_session()?.0.to_owned()));
        let session = session.map(|(_, session)| session).unwrap_or_default();
        Ok(Self {
            title: session.title,
            tool,
            cwd: session.cwd,
            prompt: prompt.map(|row| as_title(&row.preview)),
            asked,
            last: newest.iter().find_map(|row| row.commit.time),
            messages: outline.visible().len(),
            hidden: outline.all().len() - outline.visible().len(),
            placed: outline.placed(),
            compactions: outline.active_hides(HideKind::Compaction),
        })
    }
}
