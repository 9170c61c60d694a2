//! The page of a conversation.

use tract::ingest::Scope;

use super::{Answer, Asked, Site};
use crate::cli::page::{Gathered, Kind};
use crate::cli::{Failure, Result};

/// The page of the conversation that the address names.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    let id = asked
        .session()
        .ok_or_else(|| Failure::usage("no session"))?;
    site.open(&id, |opened| {
        let page = Gathered::of(opened.repo, &opened.tip, Scope::All, opened.app)?;
        let mut bytes = Vec::new();
        page.write(Kind::Html, &site.frame(asked), &mut bytes)?;
        Ok(Answer::page(bytes))
    })
}
