//! The page of a conversation, a part at a time; and the context over time.

use tract::ingest::{Conversation, Scope, Start};

use super::curve::{Curve, rows};
use super::part::Part;
use super::{Answer, Asked, Site};
use crate::cli::{Failure, Result};

/// The page of the conversation that the address names: a part of it, at a moment.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    let id = id(asked)?;
    site.open(&id, |opened| {
        if let Some(step) = asked.value("step") {
            let wrong = || Failure::usage(format!("there is no step {step}"));
            let number: usize = step.parse().map_err(|_| wrong())?;
            let rows = rows(opened)?;
            let row = number
                .checked_sub(1)
                .and_then(|at| rows.get(at))
                .ok_or_else(wrong)?;
            return Ok(Answer::see(match number == rows.len() {
                true => "./".to_owned(),
                false => format!("./?at={}", row.hash),
            }));
        }
        Ok(Answer::page(Part::of(opened, asked)?.page(site, asked)?))
    })
}

/// The context over time, where the conversation is long.
pub fn curve(site: &Site, asked: &Asked) -> Result<Answer> {
    let id = id(asked)?;
    site.open(&id, |opened| {
        let talk = Conversation::open(opened.repo, &opened.tip, Scope::All)?;
        let none = talk.read(opened.repo, 0..0, Start::Alone)?;
        let curve = Curve::of(opened, None, &none)?;
        Ok(Answer::page(curve.page(
            site,
            asked,
            "The context over time",
        )?))
    })
}

/// What the conversation is called.
pub fn id(asked: &Asked) -> Result<String> {
    asked
        .session()
        .ok_or_else(|| Failure::usage("the address names no conversation"))
}
