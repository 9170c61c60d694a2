//! A conversation as a page to keep or to share: what stands on it beside the conversation.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use super::{as_read, check_page};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::ingest::{Conversation, Replay, ReplayedEntry, Scope, session_format};
use crate::model::price::Prices;
use crate::model::secret::{Leaving, SecretCounts};
use crate::model::{Millis, Operation, own_words};
use crate::query::{BilledReply, LogOptions, LogRow, missed};
use crate::render::chat::ChatMessage;
use crate::render::edit::changed_files;
use crate::render::html::PageFrame;
use crate::render::page::{
    CachedSize, ContextSize, ConversationPage, LostFact, LostFacts, PageMessage, PageTime,
};
use crate::render::{Calendar, html, markdown, plural, tokens};
use crate::repo::Repo;
use crate::tree::Tree;
use crate::tree::words::words;

/// How many lost facts stand with what took them away.
const LOST: usize = 20;
/// Of how many of them, the newest, it is looked for.
const AUDITED: usize = 20;
/// How much of a prompt is a title.
const TITLE_CHARS: usize = 90;

/// What a page is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// For a browser.
    Html,
    /// To read as a text.
    Markdown,
}

impl PageKind {
    /// `html` or `markdown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "markdown",
        }
    }

    /// The form of this name; none where it is that of none.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "html" => Some(Self::Html),
            "markdown" | "md" => Some(Self::Markdown),
            _ => None,
        }
    }

    /// The form that the ending of a file's name asks for.
    pub fn of_file(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_lowercase();
        match ending.as_str() {
            "html" | "htm" => Some(Self::Html),
            ending => Self::named(ending),
        }
    }

    /// Writes a page of a tree.
    ///
    /// # Errors
    ///
    /// The output's.
    pub fn write(
        self,
        frame: &PageFrame<'_>,
        page: &ConversationPage<'_>,
        tree: &Tree,
        out: &mut dyn Write,
    ) -> Result<()> {
        match self {
            Self::Html => html::write(frame, page, &tree.items, out),
            Self::Markdown => markdown::write(page, &tree.items, out),
        }
        .map_err(Error::io("output"))
    }
}

/// A message as a chat names it.
pub fn numbered((at, entry): (usize, &ReplayedEntry)) -> ChatMessage {
    let number = entry.number;
    ChatMessage { at, number }
}

/// How much of a commit's hash is a message's name.
const NAME_CHARS: usize = 12;

/// What the message that a commit brought is called on every page.
pub fn name_of(commit: &CommitHash) -> String {
    format!("c{commit:.NAME_CHARS$}")
}

/// A message by its name, which it has in every export, whatever else is on the page.
pub fn named(entry: &ReplayedEntry) -> PageMessage {
    let index = entry.id.index.filter(|index| *index > 0);
    let index = index.map_or(String::new(), |index| format!("-{index}"));
    PageMessage {
        name: name_of(&entry.id.commit) + &index,
        hidden: entry.hidden,
        ..PageMessage::default()
    }
}

/// What stands on the page of a conversation.
pub struct GatheredPage {
    /// The conversation.
    pub found: Replay,
    title: String,
    directory: Option<String>,
    messages: Vec<PageMessage>,
    facts: Vec<String>,
    sizes: Vec<ContextSize>,
    cached: Vec<CachedSize>,
    lost: Vec<LostFacts>,
}

impl GatheredPage {
    /// Of what stands at a commit, with times as the calendar has them.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn of(repo: &Repo, tip: &CommitHash, scope: Scope, calendar: &Calendar) -> Result<Self> {
        let conversation = Conversation::open(repo, tip, scope)?;
        let is_open = repo.is_under_way(tip, calendar.now)?;
        let found = conversation.going_on(is_open).replay(repo)?;
        let options = LogOptions {
            limit: 0,
            encoding: repo.config()?.encoding()?,
            ..LogOptions::default()
        };
        let mut rows = repo.log(tip, &options)?;
        rows.reverse();
        let session = repo.session_of(tip)?.map(|(_, session)| session);
        let session = session.unwrap_or_default();
        let times: HashMap<CommitHash, Millis> = rows
            .iter()
            .filter_map(|row| Some((row.hash, row.commit.time?)))
            .collect();
        let message = |entry: &ReplayedEntry| PageMessage {
            time: times.get(&entry.id.commit).map(|time| PageTime {
                machine: time.to_iso(),
                shown: calendar.absolute(*time),
            }),
            ..named(entry)
        };
        Ok(Self {
            title: session.title.unwrap_or_else(|| title_of(&found.tree)),
            directory: session.cwd,
            messages: found.entries.iter().map(message).collect(),
            facts: facts(repo, tip, &found, &rows, calendar)?,
            sizes: sizes(&found, &rows),
            cached: cached(&found, &repo.billed(Some(tip), &Prices::none())?),
            lost: lost((repo, tip), &found, &rows, None)?,
            found,
        })
    }

    /// Writes it, as it is made.
    ///
    /// # Errors
    ///
    /// The output's.
    pub fn write(&self, kind: PageKind, frame: &PageFrame<'_>, out: &mut dyn Write) -> Result<()> {
        let page = ConversationPage {
            facts: &self.facts,
            earlier: self.found.earlier,
            sizes: &self.sizes,
            cached: &self.cached,
            message_of: &|node| self.found.entry_of(node).map(numbered),
            messages: &self.messages,
            first: self.found.entries.first().map_or(0, |entry| entry.at),
            directory: self.directory.as_deref(),
            lost: &self.lost,
            ..ConversationPage::bare(&self.title)
        };
        kind.write(frame, &page, &self.found.tree, out)
    }
}

/// A page with what is done about secrets, before any of it is written.
pub struct GuardedPage {
    /// The page.
    pub bytes: Vec<u8>,
    /// How many messages stand on it.
    pub messages: usize,
    /// What was replaced.
    pub redacted: SecretCounts,
}

impl GuardedPage {
    /// Of what stands at a commit.
    ///
    /// # Errors
    ///
    /// [`Error::Leaks`] where there are secrets that must not leave; the store's.
    pub fn of(
        (repo, tip): (&Repo, &CommitHash),
        scope: Scope,
        kind: PageKind,
        leaving: Leaving<'_>,
        calendar: &Calendar,
    ) -> Result<Self> {
        // What is drawn is not what is stored, so that what is stored is drawn without them.
        let copy = match leaving {
            Leaving::Redacted(secrets) => Some(repo.without_secrets(tip, secrets)?),
            _ => None,
        };
        let (repo, tip, redacted) = match &copy {
            Some((copy, tip, counts)) => (copy, tip, counts.clone()),
            None => (repo, tip, SecretCounts::new()),
        };
        let page = GatheredPage::of(repo, tip, scope, calendar)?;
        let mut bytes = Vec::new();
        page.write(kind, &PageFrame::ALONE, &mut bytes)?;
        if let Some(secrets) = leaving.secrets() {
            let read = match kind {
                PageKind::Html => as_read::html(&bytes),
                PageKind::Markdown => as_read::markdown(&bytes),
            };
            check_page((repo, tip), secrets, &read)?;
        }
        Ok(Self {
            bytes,
            messages: page.found.entries.len(),
            redacted,
        })
    }
}

/// The beginning of the first prompt.
pub fn title_of(tree: &Tree) -> String {
    let users = tree.turns().filter_map(|turn| turn.user.as_ref());
    let said = users.map(|user| words(&user.parts));
    let said = said
        .map(|said| own_words(&said).into_owned())
        .find(|said| !said.trim().is_empty());
    let said = said.unwrap_or_else(|| "A conversation".into());
    let line = said.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(TITLE_CHARS) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.to_owned(),
    }
}

fn facts(
    repo: &Repo,
    tip: &CommitHash,
    found: &Replay,
    rows: &[LogRow],
    calendar: &Calendar,
) -> Result<Vec<String>> {
    let mut facts = Vec::new();
    if let Some(format) = session_format(repo, tip)? {
        facts.push(format.tools.first().unwrap_or(&format.name).to_string());
    }
    facts.push(plural(found.entries.len() as u64, "message"));
    let is_hidden = |entry: &&ReplayedEntry| entry.hidden.is_some();
    let hidden = found.entries.iter().filter(is_hidden).count();
    if hidden > 0 {
        facts.push(format!("{hidden} hidden"));
    }
    if let Some(last) = rows.last() {
        let tokens = tokens(last.running);
        facts.push(format!("{tokens} tokens"));
    }
    let times = rows.iter().filter_map(|row| row.commit.time);
    if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
        let day = |time| calendar.absolute(time)[..10].to_owned();
        facts.push(match (day(first), day(last)) {
            (first, last) if first == last => first,
            (first, last) => format!("{first} to {last}"),
        });
    }
    Ok(facts)
}

/// The size of the context at each commit, with the message that came with it.
pub fn sizes(found: &Replay, rows: &[LogRow]) -> Vec<ContextSize> {
    let messages = messages(found);
    let size = |row: &LogRow| ContextSize {
        message: messages.get(&row.hash).copied(),
        address: None,
        hides: match &row.commit.operation {
            Operation::Hide(hide) => Some(hide.kind.as_str()),
            _ => None,
        },
        tokens: row.running,
    };
    rows.iter().map(size).collect()
}

/// What the provider's cache had of each request.
pub fn cached(found: &Replay, replies: &[BilledReply]) -> Vec<CachedSize> {
    let messages = messages(found);
    let counted = replies.iter().zip(missed(replies));
    let counted = counted.filter(|(reply, _)| reply.usage.is_count());
    let size = |(reply, missed): (&BilledReply, u64)| CachedSize {
        message: messages.get(&reply.commit).copied(),
        input: reply.usage.input_tokens,
        cached: reply.usage.cached_tokens,
        missed,
    };
    counted.map(size).collect()
}

/// What each compaction, truncation and clear took away, as far as nothing visible says it.
///
/// # Errors
///
/// The store's.
pub fn lost(
    (repo, tip): (&Repo, &CommitHash),
    found: &Replay,
    rows: &[LogRow],
    elsewhere: Option<&dyn Fn(&CommitHash) -> String>,
) -> Result<Vec<LostFacts>> {
    let messages = messages(found);
    let mut lost = Vec::new();
    for row in rows.iter().rev() {
        let (Operation::Hide(hide), Some(message)) =
            (&row.commit.operation, messages.get(&row.hash))
        else {
            continue;
        };
        if lost.len() == AUDITED || !hide.kind.marks() {
            continue;
        }
        let audit = repo.audit(&row.hash, tip, changed_files)?;
        let facts = audit.lost().take(LOST).map(|fact| LostFact {
            class: fact.class.as_str(),
            text: fact.text.clone(),
            outcome: fact.outcome.clone(),
            message: messages.get(&fact.entry.commit).copied(),
            address: elsewhere.map(|elsewhere| elsewhere(&fact.entry.commit)),
        });
        lost.push(LostFacts {
            message: *message,
            address: None,
            count: audit.lost().count(),
            facts: facts.collect(),
        });
    }
    Ok(lost)
}

/// The messages of a page, by their commits.
pub fn messages(found: &Replay) -> HashMap<CommitHash, ChatMessage> {
    let entries = found.entries.iter().rev();
    entries
        .map(|entry| (entry.id.commit, numbered((entry.at, entry))))
        .collect()
}
