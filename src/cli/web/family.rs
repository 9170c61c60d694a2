//! The page of all conversations that belong together: what one was resumed or forked from, and what came of it.

use tract::render::html::{ListedSession, family};
use tract::render::plural;

use super::list::{listed, trees};
use super::listing::{Row, rows};
use super::session::id;
use super::{Answer, Asked, Site};
use crate::cli::{Failure, Result};

/// The family of the conversation that the address names.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    let id = id(asked)?;
    let app = site.app();
    let repo = site.repo(&app)?;
    let all = rows(site, &app, repo.as_deref())?;
    let found: Vec<&Row> = all.rows.iter().collect();
    let trees = trees(&found);
    let tree = trees.iter().find(|tree| tree.holds(&id));
    let missing = || Failure::refused(format!("there is no conversation '{id}'"));
    let tree = tree.ok_or_else(missing)?;
    let mut first = listed(tree, "", &app.calendar(), &app);
    mark(&mut first, &super::session_address(&id, ""));
    let count = match tree.is_imported() {
        true => plural(1 + tree.below() as u64, "conversation"),
        false => "Its sub-agents and copies are known once it is imported.".to_owned(),
    };
    let page = family(&site.frame(asked), &first, &count, all.is_pending);
    Ok(Answer::page(page))
}

/// Marks the one that was asked for.
fn mark(session: &mut ListedSession, address: &str) {
    if session.address == address {
        session.marks.insert(0, "this one".to_owned());
    }
    for child in &mut session.children {
        mark(child, address);
    }
}
