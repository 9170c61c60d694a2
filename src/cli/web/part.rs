//! A part of a conversation, with all that its page says beside it.

use std::collections::HashMap;
use std::ops::Range;

use tract::deeds::page::{self, named, numbered};
use tract::hash::CommitHash;
use tract::ingest::{Conversation, PartSize, Replay, ReplayedEntry, Scope, Start, agents};
use tract::model::{EntryId, Millis, RefName};
use tract::query::{Bill, BilledReply, LogOptions};
use tract::render::chat::ChatMessage;
use tract::render::html::{self, Fragment, PageFrame};
use tract::render::page::{
    AgentLink, Around, ConversationPage, PageLink, PageMessage, PagePrompt, PageTime,
};
use tract::render::{plural, rounded, tokens};
use tract::repo::{ListedEntry, On};
use tract::tree::{Tool, TreeItem, TurnItem};

use super::choices::rev_of;
use super::curve::Curve;
use super::list::counted;
use super::site::Opened;
use super::{Asked, Site, message_anchor, segment, session_address};
use crate::cli::drawing::prices::{cost_of, prices};
use crate::cli::{Failure, Result};

/// How much stands on a page.
pub const PART: PartSize = PartSize {
    messages: 64,
    bytes: 256 << 10,
    more: 192,
};
/// Up to so many messages, all that is said of the context over time stands on the page itself.
const SHORT: usize = 2_000;

/// A part of a conversation.
pub struct Part {
    found: Replay,
    messages: Vec<PageMessage>,
    around: Around,
    title: String,
    directory: Option<String>,
    facts: Vec<String>,
    agents: HashMap<String, AgentLink>,
    curve: Curve,
    is_short: bool,
    /// What names the moment in addresses.
    at: Option<String>,
    /// Where it begins.
    start: usize,
    /// Whether a call at its end that has no result waits for one.
    is_open: bool,
    /// What else there is of it.
    links: Vec<(String, &'static str)>,
}

impl Part {
    /// The part that is asked for: `from` a message, `to` one, or of the beginning; as it was `at` a commit.
    pub fn of(opened: &Opened<'_>, asked: &Asked) -> Result<Self> {
        let repo = opened.repo;
        let at = asked.value("at").map(|at| repo.resolve(&On::Head, at));
        let at = at.transpose()?;
        let tip = at.unwrap_or(opened.tip);
        let is_open = at.is_none() && repo.is_under_way(&tip, opened.app.now())?;
        let talk = Conversation::open(repo, &tip, Scope::All)?.going_on(is_open);
        let range = range(opened, asked, &talk, at.is_some())?;
        let start = if range.start == 0 {
            Start::Alone
        } else {
            Start::Seen
        };
        let found = talk.read(repo, range.clone(), start)?;
        let session = repo.session_of(&tip)?.map(|(_, session)| session);
        let session = session.unwrap_or_default();
        let is_short = talk.len() <= SHORT;
        let title = match session.title {
            Some(title) => title,
            None => {
                let first = talk.part_from(repo, 0, PART)?;
                match first == range {
                    true => page::title_of(&found.tree),
                    false => page::title_of(&talk.read(repo, first, Start::Alone)?.tree),
                }
            }
        };
        let at = at.map(|at| at.to_string());
        let mut part = Self {
            messages: messages(opened, asked, &talk, &found, &range)?,
            around: around(opened, (&talk, is_short), &range, at.as_deref())?,
            agents: agent_links(opened, &found, asked)?,
            facts: facts(opened, &tip)?,
            directory: session.cwd,
            curve: Curve::default(),
            title,
            start: range.start,
            found,
            is_short,
            links: links(opened, asked),
            at,
            is_open,
        };
        // What is long is asked for by those who want it.
        if is_short {
            part.curve = Curve::of(opened, part.at.as_deref(), &part.found)?;
        }
        Ok(part)
    }

    /// All from a place on to the end, as it goes on: of what is said beside it, only what stands among its messages.
    pub fn live(opened: &Opened<'_>, asked: &Asked, from: usize) -> Result<Self> {
        let (repo, tip) = (opened.repo, opened.tip);
        let is_open = repo.is_under_way(&tip, opened.app.now())?;
        let talk = Conversation::open(repo, &tip, Scope::All)?.going_on(is_open);
        let range = from.min(talk.len())..talk.len();
        let start = if from == 0 { Start::Alone } else { Start::Seen };
        let found = talk.read(repo, range.clone(), start)?;
        let session = repo.session_of(&tip)?.map(|(_, session)| session);
        let is_short = talk.len() <= SHORT;
        let marks = found.tree.items.iter();
        let has_marks = marks.clone().any(|item| matches!(item, TreeItem::Mark(_)));
        Ok(Self {
            messages: messages(opened, asked, &talk, &found, &range)?,
            around: Around::default(),
            agents: agent_links(opened, &found, asked)?,
            facts: Vec::new(),
            directory: session.and_then(|session| session.cwd),
            curve: match is_short && has_marks {
                true => Curve::of(opened, None, &found)?,
                false => Curve::default(),
            },
            title: String::new(),
            start: range.start,
            found,
            is_short,
            at: None,
            is_open,
            links: Vec::new(),
        })
    }

    /// Whether a call at its end that has no result waits for one.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Its messages alone, as they stand on its page.
    pub fn fragment(&self) -> Fragment {
        self.with_page(|page| html::part(page, &self.found.tree.items))
    }

    /// Its page.
    pub fn page(&self, site: &Site, asked: &Asked) -> Result<Vec<u8>> {
        let frame = PageFrame {
            // What is not the end, or is shown as it was, does not go on.
            live: (self.around.after.is_none() && self.at.is_none()).then_some(self.start),
            ..site.frame(asked)
        };
        let mut bytes = Vec::new();
        self.with_page(|page| html::write(&frame, page, &self.found.tree.items, &mut bytes))?;
        Ok(bytes)
    }

    fn with_page<T>(&self, paint: impl FnOnce(&ConversationPage<'_>) -> T) -> T {
        let elsewhere = |message: ChatMessage| address(message.at + 1, self.at.as_deref());
        paint(&ConversationPage {
            facts: &self.facts,
            sizes: &self.curve.sizes,
            lost: &self.curve.lost,
            moment: self.curve.moment.clone(),
            curve: (!self.is_short).then_some("curve"),
            message_of: &|node| self.found.entry_of(node).map(numbered),
            messages: &self.messages,
            first: self.found.entries.first().map_or(0, |entry| entry.at),
            around: self.around.clone(),
            directory: self.directory.as_deref(),
            links: &self.links,
            agent_of: &|call| self.agents.get(call).cloned(),
            elsewhere: Some(&elsewhere),
            ..ConversationPage::bare(&self.title)
        })
    }
}

/// What else there is of a conversation.
fn links(opened: &Opened<'_>, asked: &Asked) -> Vec<(String, &'static str)> {
    let (root, id) = (&asked.root, segment(opened.id));
    let mut links = vec![
        (format!("{root}compare?a={id}"), "Compare"),
        (format!("{root}cost?id={id}"), "Cost"),
    ];
    if opened.is_kept() && opened.name.is_some() {
        links.push(("tree".to_owned(), "Tree"));
    }
    if opened.writes && opened.is_kept() {
        let tip = opened.tip.short();
        links.push((format!("{root}act?id={id}&tip={tip}"), "Change"));
    }
    links
}

/// Where something can be done to a message, up to its name.
fn acts(opened: &Opened<'_>, asked: &Asked) -> Option<String> {
    let can = opened.writes && opened.is_kept();
    can.then(|| format!("{}act?id={}&rev=", asked.root, segment(opened.id)))
}

/// Which messages are asked for.
fn range(
    opened: &Opened<'_>,
    asked: &Asked,
    talk: &Conversation,
    is_then: bool,
) -> Result<Range<usize>> {
    let number = |name: &str| -> Result<Option<usize>> {
        let Some(text) = asked.value(name) else {
            return Ok(None);
        };
        let number = text
            .parse()
            .map_err(|_| Failure::usage(format!("{name} is no number: {text}")))?;
        Ok(Some(number))
    };
    let repo = opened.repo;
    if let Some(from) = number("from")? {
        let from = from.saturating_sub(1).min(talk.len());
        return Ok(talk.part_from(repo, from, PART)?);
    }
    if let Some(typed) = asked.value("m") {
        let id = EntryId::of(repo.resolve(&On::Head, typed)?);
        let missing = || Failure::refused(format!("{typed} is no message of this conversation"));
        let place = talk.place_of(repo, &id, talk.len())?.ok_or_else(missing)?;
        return Ok(talk.part_from(repo, place, PART)?);
    }
    if let Some(to) = number("to")? {
        return Ok(talk.part_to(repo, to.min(talk.len()), PART)?);
    }
    match is_then || asked.value("end").is_some() {
        // What was sent then ends there.
        true => Ok(talk.part_to(repo, talk.len(), PART)?),
        false => Ok(talk.part_from(repo, 0, PART)?),
    }
}

/// The address of the part that begins with a message, from 1.
fn address(from: usize, at: Option<&str>) -> String {
    let at = at.map_or(String::new(), |at| format!("&at={at}"));
    format!("./?from={from}{at}")
}

/// The parts before and behind a part; of a short conversation also the prompts in them.
fn around(
    opened: &Opened<'_>,
    (talk, is_short): (&Conversation, bool),
    range: &Range<usize>,
    at: Option<&str>,
) -> Result<Around> {
    let is_part = range.start > 0 || range.end < talk.len();
    let (before, after) = match is_short && is_part {
        true => (
            prompts(opened, talk, 0..range.start, at)?,
            prompts(opened, talk, range.end..talk.len(), at)?,
        ),
        false => (Vec::new(), Vec::new()),
    };
    let then = at.map_or(String::new(), |at| format!("&at={at}"));
    Ok(Around {
        before: (range.start > 0).then(|| PageLink {
            address: format!("./?to={}{then}", range.start),
            messages: range.start,
        }),
        after: (range.end < talk.len()).then(|| PageLink {
            address: address(range.end + 1, at),
            messages: talk.len() - range.end,
        }),
        prompts_before: before,
        prompts_after: after,
    })
}

/// What the user typed in a range of places.
fn prompts(
    opened: &Opened<'_>,
    talk: &Conversation,
    range: Range<usize>,
    at: Option<&str>,
) -> Result<Vec<PagePrompt>> {
    let rows = talk.listed().read(opened.repo, range.clone())?;
    let own = |row: &ListedEntry| row.entry.placed.is_none();
    let said: Vec<_> = rows
        .iter()
        .map(|row| (row.entry.id.commit, row.entry.content))
        .collect();
    let typed = opened.repo.typed(&said)?;
    let mut prompts = Vec::new();
    for ((place, row), typed) in range.zip(&rows).zip(typed) {
        if typed && own(row) {
            let name = message_anchor(&row.entry.id);
            prompts.push(PagePrompt {
                address: format!("{}#{name}", address(place + 1, at)),
                text: opened.repo.preview(&row.entry.id.commit)?,
                is_hidden: row.number.is_none(),
            });
        }
    }
    Ok(prompts)
}

/// What is known of each message of a part: its name, its time, and of a reply its model and what it cost.
fn messages(
    opened: &Opened<'_>,
    asked: &Asked,
    talk: &Conversation,
    found: &Replay,
    range: &Range<usize>,
) -> Result<Vec<PageMessage>> {
    let (prices, _) = prices(opened.repo, opened.app)?;
    let entries = found.entries.iter();
    let commits: Vec<CommitHash> = entries.map(|entry| entry.id.commit).collect();
    let billed = opened.repo.billed_at(&commits, &prices)?.into_iter();
    let billed: HashMap<CommitHash, BilledReply> =
        billed.map(|reply| (reply.commit, reply)).collect();
    let said = responses(found);
    let acts = acts(opened, asked);
    let times = talk.times(opened.repo, range.clone())?;
    let mut model = None;
    let message = |(entry, time): (&ReplayedEntry, &Option<Millis>)| {
        let replies = said.get(&entry.at).map_or(&[][..], Vec::as_slice);
        let replies: Vec<&BilledReply> = replies
            .iter()
            .filter_map(|commit| billed.get(commit))
            .collect();
        let mut facts = Vec::new();
        for reply in &replies {
            if reply.model.is_some() && reply.model != model {
                facts.extend(reply.model.clone());
                model.clone_from(&reply.model);
            }
        }
        let bill = Bill::of(replies);
        if bill.replies > 1 {
            facts.push(plural(bill.replies, "reply"));
        }
        if bill.usage.is_count() {
            let usage = &bill.usage;
            let (input, output) = (rounded(usage.input_tokens), rounded(usage.output_tokens));
            facts.push(format!("{input} in, {output} out"));
        }
        if bill.replies > bill.unpriced {
            facts.push(cost_of(&bill));
        }
        PageMessage {
            time: time.map(|time| PageTime {
                machine: time.to_iso(),
                shown: opened.app.calendar().absolute(time),
            }),
            facts,
            act: acts
                .as_ref()
                .map(|acts| acts.clone() + &segment(&rev_of(&entry.id))),
            request: Some(format!("request?for={}", entry.id.commit)),
            ..named(entry)
        }
    };
    Ok(found.entries.iter().zip(&times).map(message).collect())
}

/// The replies of each response, by the place of the message that it begins with.
fn responses(found: &Replay) -> HashMap<usize, Vec<CommitHash>> {
    let mut said: HashMap<usize, Vec<CommitHash>> = HashMap::new();
    for item in found.tree.turns().flat_map(|turn| &turn.items) {
        let TurnItem::Response(response) = item else {
            continue;
        };
        let blocks = response.blocks.iter();
        let entries = blocks.filter_map(|block| found.entry_of(block.node().id));
        let mut entries = entries.map(|(at, entry)| (at, entry.id.commit));
        let Some((first, commit)) = entries.next() else {
            continue;
        };
        let replies = said.entry(first).or_default();
        replies.push(commit);
        for (_, commit) in entries {
            if replies.last() != Some(&commit) {
                replies.push(commit);
            }
        }
    }
    said
}

fn facts(opened: &Opened<'_>, tip: &CommitHash) -> Result<Vec<String>> {
    let repo = opened.repo;
    let mut facts = Vec::new();
    if let Some(format) = tract::ingest::session_format(repo, tip)? {
        facts.push(format.tools.first().unwrap_or(&format.name).to_string());
    }
    let about = repo.about(tip)?;
    facts.extend(counted(about.said(), Some(about.messages)));
    let options = LogOptions {
        limit: 1,
        encoding: opened.app.encoding(repo)?,
        ..LogOptions::default()
    };
    if let Some(last) = repo.log(tip, &options)?.first() {
        facts.push(format!("{} tokens", tokens(last.running)));
        if let Some(time) = last.commit.time {
            facts.push(opened.app.calendar().absolute(time));
        }
    }
    Ok(facts)
}

/// Where the sub-agents are read that calls of a part started.
fn agent_links(
    opened: &Opened<'_>,
    found: &Replay,
    asked: &Asked,
) -> Result<HashMap<String, AgentLink>> {
    let mut links = HashMap::new();
    let starts = |tool: &&Tool| {
        let name = tool.name.to_lowercase();
        tool.agent.is_none() && (name.contains("agent") || name.contains("task"))
    };
    for tool in found.tree.tools().filter(starts) {
        let nodes = [tool.answer.as_ref().map(|(id, _)| *id), Some(tool.node.id)];
        for node in nodes.into_iter().flatten() {
            let Some((_, entry)) = found.entry_of(node) else {
                continue;
            };
            let message = opened.repo.message_of(&On::Head, &entry.id)?;
            let Some(message) = message else { continue };
            let named = agents(opened.repo, &entry.id.commit, &message)?;
            if let [name] = named.as_slice() {
                links.insert(tool.call.clone(), agent_link(name, asked));
                break;
            }
        }
    }
    Ok(links)
}

fn agent_link(name: &RefName, asked: &Asked) -> AgentLink {
    let short = name.as_str();
    let id = short
        .strip_prefix(RefName::SESSIONS)
        .or_else(|| short.strip_prefix(RefName::HEADS));
    let id = id.unwrap_or(short);
    AgentLink {
        address: format!("{}{}", asked.root, session_address(id, "")),
        title: id.to_owned(),
    }
}
