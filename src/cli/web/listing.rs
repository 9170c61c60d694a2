//! All conversations as a list says them: those of the repository, and those that tools have left and nobody imported.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use tract::model::{Millis, RefName};
use tract::query::{ConversationTip, Overview};
use tract::repo::Repo;

use super::Site;
use super::ledger::{RowsOf, state_of};
pub use super::row::{Kind, Row, Rows};
use crate::cli::drawing::prices::cost_of;
use crate::cli::{App, Result};

/// What a conversation of this name is called: its title, or how its first prompt begins. Hostile until escaped.
pub fn title_of(overview: &Overview, name: &RefName) -> String {
    let about = &overview.about;
    let title = about.title.clone().or_else(|| about.prompt.clone());
    title.unwrap_or_else(|| name.label())
}

/// Gathers them.
pub fn rows(site: &Site, app: &App, repo: Option<&Repo>) -> Result<Arc<Rows>> {
    let tips = match repo {
        Some(repo) => repo.conversations()?,
        None => Vec::new(),
    };
    let state = state_of(&tips);
    let are_many = site.are_many(tips.len());
    let stock = match are_many {
        false => site.ledger().stock(|| site.files(app), repo, state)?,
        true => site.ledger().stock_behind(state),
    };
    let head = match repo {
        Some(repo) => repo.head(&app.on()?)?.branch().cloned(),
        None => None,
    };
    let of = RowsOf {
        state,
        head,
        stock: stock.taken(),
        billed: site.ledger().bills(state).1,
    };
    if are_many && let Some(rows) = site.ledger().gathered(&of) {
        return Ok(rows);
    }
    let mut all = Rows {
        rows: Vec::new(),
        is_pending: !stock.is_of(state),
        unread: Vec::new(),
    };
    if let Some(repo) = repo {
        kept(
            site,
            app,
            (repo, &tips),
            (&stock.grown, of.head.as_ref()),
            &mut all,
        )?;
    }
    // What came in since is no file that nobody imported.
    let imported: HashSet<String> = match stock.is_of(state) {
        true => HashSet::new(),
        false => all.rows.iter().map(|row| row.id.clone()).collect(),
    };
    for file in &stock.unread {
        let (found, is_known) = site.ledger().file(file);
        all.is_pending |= !is_known;
        let modified = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = match &found {
            Some(found) => Some(found.id.clone()),
            None => file.named_id(),
        };
        // A file that nobody can read, or that is still to be read, has no other name.
        let Some(id) = id else { continue };
        let id = format!("{}/{id}", file.format.name);
        if imported.contains(&id) {
            continue;
        }
        let found = found.as_deref();
        let title = found.map(|found| {
            let title = found.title.clone().or_else(|| found.prompt.clone());
            title.unwrap_or_else(|| "(no prompt)".to_owned())
        });
        let unread = is_known && found.is_none();
        all.rows.push(Row {
            id,
            title: title.or_else(|| unread.then(|| "(cannot be read)".to_owned())),
            tool: Some(file.format.name.to_owned()),
            directory: found.and_then(|found| found.cwd.clone()),
            messages: found.map(|found| (found.messages as usize, None)),
            compactions: found.map_or(0, |found| found.compactions),
            // A copied file is newer than what it holds.
            last: found
                .and_then(|found| found.last)
                .or(Some(Millis(modified.as_millis() as i64))),
            kind: Kind::File,
            ..Row::default()
        });
    }
    all.rows.sort_by_key(|row| std::cmp::Reverse(row.last));
    all.unread.clone_from(&stock.unread);
    let all = Arc::new(all);
    if !all.is_pending && are_many {
        site.ledger().gather(of, &all);
    }
    Ok(all)
}

fn kept(
    site: &Site,
    app: &App,
    (repo, tips): (&Repo, &[ConversationTip]),
    (grown, head): (&HashSet<RefName>, Option<&RefName>),
    all: &mut Rows,
) -> Result<()> {
    let overviews = site.ledger().overviews(repo, tips, app.encoding(repo)?)?;
    let (bills, is_billed) = site.ledger().bills(state_of(tips));
    all.is_pending |= !is_billed;
    let names = tips.iter().map(|tip| (tip.name.as_str(), &tip.name));
    let names: HashMap<&str, &RefName> = names.collect();
    for (tip, overview) in tips.iter().zip(overviews) {
        all.is_pending |= overview.is_none();
        let above = above(&tip.name, &names);
        let overview = overview.as_deref();
        let kind = match overview.filter(|overview| overview.parent.is_some()) {
            _ if tip.name.is_branch() => Kind::Branch,
            _ if tip.name.left_by().is_some() => Kind::Left,
            _ if above.is_some() || is_agents(tip) => Kind::Agent,
            None => Kind::Session,
            Some(overview) if overview.is_fork => Kind::Fork,
            Some(_) => Kind::Resumed,
        };
        let about = overview.map(|overview| &overview.about);
        let parent = overview.and_then(|overview| overview.parent.clone());
        let bill = bills.get(&tip.name).filter(|bill| bill.replies > 0);
        let title = overview.map(|overview| title_of(overview, &tip.name));
        let branch = tip.branch.as_ref().map(|branch| branch.short().to_owned());
        all.rows.push(Row {
            id: tip.name.label(),
            title,
            tool: match tip.name.as_session() {
                Some((tool, _)) => Some(tool.to_owned()),
                None => about.and_then(|about| about.tool.clone()),
            },
            model: overview.and_then(|overview| overview.model.clone()),
            directory: about.and_then(|about| about.cwd.clone()),
            // As an import counts them: a summary was not said by anybody.
            messages: about.map(|it| (it.said(), Some(it.messages))),
            tokens: overview
                .and_then(|overview| overview.tokens)
                .map(tract::render::tokens),
            cost: bill.map(cost_of),
            compactions: about.map_or(0, |about| u64::from(about.compactions)),
            last: about.and_then(|about| about.last),
            parent: above.or(parent).map(|name| name.label()),
            kind,
            is_head: head.is_some() && head == tip.branch.as_ref(),
            branch,
            has_grown: grown.contains(&tip.name),
        });
    }
    Ok(())
}

/// The session that one is a part of, by its name.
/// Whether an agent of another session did it whose tool gives agents sessions of their own.
fn is_agents(tip: &ConversationTip) -> bool {
    let branch = tip.branch.as_ref();
    branch.is_some_and(|branch| branch.above_agent().is_some())
}

fn above(name: &RefName, names: &HashMap<&str, &RefName>) -> Option<RefName> {
    let mut text = name.as_str();
    while let Some((before, _)) = text.rsplit_once('/') {
        let found = names.get(before);
        if let Some(found) = found.filter(|found| found.as_session().is_some()) {
            return Some((*found).clone());
        }
        if before.len() <= RefName::SESSIONS.len() {
            return None;
        }
        text = before;
    }
    None
}

/// A directory as people read it: from the home directory on, where it is below.
pub fn shown_directory(directory: &str, app: &App) -> String {
    let home = app.env.home.as_deref();
    match home.and_then(|home| Path::new(directory).strip_prefix(home).ok()) {
        Some(below) if !below.as_os_str().is_empty() => format!("~/{}", below.display()),
        _ => directory.to_owned(),
    }
}
