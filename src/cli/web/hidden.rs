//! What a hide put in place of what it hid, and that beside it.

use tract::deeds::page::{self, named, numbered};
use tract::ingest::{Conversation, Start};
use tract::model::Operation;
use tract::render::page::{Around, ConversationPage, PageLink, PageMessage};
use tract::render::{html, plural};
use tract::repo::On;

use super::curve::rows;
use super::part::PART;
use super::session::id;
use super::{Answer, Asked, Site, address_on_page};
use crate::cli::{Failure, Result};

/// A hide puts at most so many messages in the place of what it hides, as far as they are shown.
const MOST: usize = 64;

/// The page of the hide `by`; `from` a message of what it hid.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    let missing = || Failure::usage("the address names no compaction: hidden?by=COMMIT");
    let typed = asked.value("by").ok_or_else(missing)?;
    site.open(&id(asked)?, |opened| {
        let repo = opened.repo;
        let hide = repo.resolve(&On::Head, typed)?;
        let Operation::Hide(what) = repo
            .show(&hide, opened.app.encoding(repo)?)?
            .row
            .commit
            .operation
        else {
            return Err(Failure::usage(format!("{typed} hides nothing")));
        };
        let by = what.kind.as_str();
        let talk = Conversation::replaced_by(repo, &opened.tip, &hide)?;
        let first = talk.listed().read(repo, 0..MOST.min(talk.len()))?;
        let stands = first
            .iter()
            .take_while(|row| row.entry.id.commit == hide)
            .count();
        let from = match asked.value("from").map(str::parse::<usize>) {
            Some(Ok(from)) => from.saturating_sub(1).clamp(stands, talk.len()),
            Some(Err(_)) => return Err(Failure::usage("from is no number")),
            None => stands,
        };
        let mark = talk.read(repo, 0..stands, Start::Alone)?;
        let range = talk.part_from(repo, from, PART)?;
        let found = talk.read(repo, range.clone(), Start::Alone)?;
        let link = |at: usize, messages| PageLink {
            address: format!("hidden?by={hide}&from={}", at + 1),
            messages,
        };
        let before = match from > stands {
            true => Some(talk.part_to(repo, from, PART)?.start.max(stands)),
            false => None,
        };
        let around = Around {
            before: before.map(|at| link(at, from - stands)),
            after: (range.end < talk.len()).then(|| link(range.end, talk.len() - range.end)),
            ..Around::default()
        };
        let [standing, messages] = [&mark, &found].map(|found| {
            let named: Vec<PageMessage> = found.entries.iter().map(named).collect();
            named
        });
        let lost = page::lost(
            (repo, &opened.tip),
            &mark,
            &rows(opened)?,
            Some(&address_on_page),
        )?;
        let title = format!("What this {by} hid");
        let facts = [plural((talk.len() - stands) as u64, "message")];
        let page = ConversationPage {
            facts: &facts,
            message_of: &|node| found.entry_of(node).map(numbered),
            messages: &messages,
            first: range.start,
            around,
            ..ConversationPage::bare(&title)
        };
        let stands = ConversationPage {
            message_of: &|node| mark.entry_of(node).map(numbered),
            messages: &standing,
            lost: &lost,
            ..ConversationPage::bare(&title)
        };
        let mut bytes = Vec::new();
        let frame = site.frame(asked);
        html::beside(
            &frame,
            (&stands, &mark.tree.items),
            (&page, &found.tree.items),
            by,
            &mut bytes,
        )?;
        Ok(Answer::page(bytes))
    })
}
