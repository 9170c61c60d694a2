//! A search within one conversation, for the script of a page that holds a part of it.

use std::time::{Duration, Instant};

use serde_json::json;
use tract::hash::CommitHash;
use tract::ingest::{Conversation, Scope};
use tract::model::EntryId;
use tract::repo::On;

use super::session::id;
use super::{Answer, Asked, Site, message_anchor};
use crate::cli::{Failure, Result};

/// For how long one request looks.
const SLICE: Duration = Duration::from_millis(250);
/// How many messages it reads at once.
const STEP: usize = 128;

/// The messages that hold the text `q`, from place `from` on: `{"found": [[PLACE, NAME], …], "next": PLACE or null}`,
/// where `next` is the place to ask from again. Or the place of one message, by its name `m` or its number `n`.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    site.open(&id(asked)?, |opened| {
        let repo = opened.repo;
        let tip = match asked.value("at") {
            Some(at) => repo.resolve(&On::Head, at)?,
            None => opened.tip,
        };
        let talk = Conversation::open(repo, &tip, Scope::All)?;
        let named = |place: usize| -> Result<serde_json::Value> {
            let rows = talk.listed().read(repo, place..place + 1)?;
            let name = rows.first().map(|row| message_anchor(&row.entry.id));
            Ok(json!([place + 1, name]))
        };
        let missing = || Failure::refused("there is no such message in this conversation");
        if let Some(typed) = asked.value("m") {
            let commit: CommitHash = repo.resolve(&On::Head, typed)?;
            let near = talk.place_of(repo, &EntryId::of(commit), talk.len())?;
            let found = json!({ "found": [named(near.ok_or_else(missing)?)?] });
            return Ok(Answer::json(found.to_string()));
        }
        if let Some(number) = asked.value("n") {
            let number = number.parse().ok();
            let place = number.and_then(|number| talk.listed().place_of(number));
            let found = json!({ "found": [named(place.ok_or_else(missing)?)?] });
            return Ok(Answer::json(found.to_string()));
        }
        let text = asked.value("q").unwrap_or_default().to_lowercase();
        let from = asked.value("from").and_then(|from| from.parse().ok());
        let mut at = from.unwrap_or(1_usize).saturating_sub(1);
        let (since, mut found) = (Instant::now(), Vec::new());
        while at < talk.len() && since.elapsed() < SLICE && !text.is_empty() {
            let end = (at + STEP).min(talk.len());
            for place in talk.find(repo, at..end, &text)? {
                found.push(named(place)?);
            }
            at = end;
        }
        let next = (at < talk.len() && !text.is_empty()).then_some(at + 1);
        Ok(Answer::json(
            json!({ "found": found, "next": next }).to_string(),
        ))
    })
}
