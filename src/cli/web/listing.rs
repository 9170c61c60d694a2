//! All conversations as a list says them: those of the repository, and those that tools have left and nobody imported.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::UNIX_EPOCH;

use tract::ingest::tool_dirs::SessionFile;
use tract::model::{Millis, RefName};
use tract::query::{ConversationTip, Overview};
use tract::repo::Repo;

use super::Site;
use super::asked::id_of;
use super::ledger::state_of;
use crate::cli::{App, Result};

/// A conversation in a list.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// What it is called in addresses.
    pub id: String,
    /// Its title, or how its first prompt begins; none while that is not known. Hostile until escaped.
    pub title: Option<String>,
    /// The tool that wrote it.
    pub tool: Option<String>,
    /// The model in force at its end. Hostile until escaped.
    pub model: Option<String>,
    /// The directory that it ran in. Hostile until escaped.
    pub directory: Option<String>,
    /// How many messages a model would be sent, and how many are hidden from it; none while that is not known.
    pub messages: Option<(usize, usize)>,
    /// The tokens of its context, as people read them.
    pub tokens: Option<String>,
    /// What it cost, as people read it.
    pub cost: Option<String>,
    /// The compactions that are active.
    pub compactions: u64,
    /// When it went on last.
    pub last: Option<Millis>,
    /// The id of what it belongs to, or was forked from.
    pub parent: Option<String>,
    /// What it is beside that and others.
    pub kind: Kind,
    /// The branch that ends there, where it has another name.
    pub branch: Option<String>,
    /// Whether HEAD is there.
    pub is_head: bool,
    /// Whether its file holds more than the repository.
    pub has_grown: bool,
}

/// What a conversation is beside others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A session.
    #[default]
    Session,
    /// A session that goes on where another ends.
    Resumed,
    /// A session that goes on where another was once, which has gone on since.
    Fork,
    /// A sub-agent of a session.
    Agent,
    /// A path that a session has left.
    Left,
    /// A branch with commits of its own.
    Branch,
    /// A session that nobody imported.
    File,
}

impl Kind {
    /// What a list calls it, where it is no session by itself.
    pub const fn mark(self) -> Option<&'static str> {
        match self {
            Self::Session => None,
            Self::Resumed => Some("resumed"),
            Self::Fork => Some("fork"),
            Self::Agent => Some("sub-agent"),
            Self::Left => Some("path left"),
            Self::Branch => Some("branch"),
            Self::File => Some("not imported"),
        }
    }

    /// Whether lists count it.
    pub const fn is_session(self) -> bool {
        matches!(
            self,
            Self::Session | Self::Resumed | Self::Fork | Self::File
        )
    }
}

/// All of them, and whether something of it is still being worked out.
pub struct Rows {
    /// The newest first.
    pub rows: Vec<Row>,
    /// Whether it will say more soon.
    pub is_pending: bool,
    /// The files of sessions that nobody imported, the newest first.
    pub unread: Vec<SessionFile>,
}

/// What a conversation of this name is called: its title, or how its first prompt begins. Hostile until escaped.
pub fn title_of(overview: &Overview, name: &RefName) -> String {
    let about = &overview.about;
    let title = about.title.clone().or_else(|| about.prompt.clone());
    title.unwrap_or_else(|| id_of(name))
}

/// Gathers them.
pub fn rows(site: &Site, app: &App, repo: Option<&Repo>) -> Result<Rows> {
    let mut all = Rows {
        rows: Vec::new(),
        is_pending: false,
        unread: Vec::new(),
    };
    let tips = match repo {
        Some(repo) => repo.conversations()?,
        None => Vec::new(),
    };
    let state = state_of(&tips);
    let stock = site.ledger().stock(|| site.files(app), repo, state)?;
    if let Some(repo) = repo {
        kept(site, app, (repo, &tips), &stock.grown, &mut all)?;
    }
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
        let found = found.as_deref();
        let title = found.map(|found| {
            let title = found.title.clone().or_else(|| found.prompt.clone());
            title.unwrap_or_else(|| "(no prompt)".to_owned())
        });
        let unread = is_known && found.is_none();
        all.rows.push(Row {
            id: format!("{}/{id}", file.format.name),
            title: title.or_else(|| unread.then(|| "(cannot be read)".to_owned())),
            tool: Some(file.format.name.to_owned()),
            directory: found.and_then(|found| found.cwd.clone()),
            messages: found.map(|found| (found.messages as usize, 0)),
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
    Ok(all)
}

fn kept(
    site: &Site,
    app: &App,
    (repo, tips): (&Repo, &[ConversationTip]),
    grown: &HashSet<RefName>,
    all: &mut Rows,
) -> Result<()> {
    let overviews = site.ledger().overviews(repo, tips, app.encoding(repo)?)?;
    let (bills, is_billed) = site.ledger().bills(state_of(tips));
    all.is_pending |= !is_billed;
    let head = repo.head(&app.on()?)?;
    let names = tips.iter().map(|tip| (tip.name.as_str(), &tip.name));
    let names: HashMap<&str, &RefName> = names.collect();
    for (tip, overview) in tips.iter().zip(overviews) {
        all.is_pending |= overview.is_none();
        let above = above(&tip.name, &names);
        let overview = overview.as_deref();
        let kind = match overview.filter(|overview| overview.parent.is_some()) {
            _ if tip.name.is_branch() => Kind::Branch,
            _ if tip.name.left_by().is_some() => Kind::Left,
            _ if above.is_some() => Kind::Agent,
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
            id: id_of(&tip.name),
            title,
            tool: match tip.name.as_session() {
                Some((tool, _)) => Some(tool.to_owned()),
                None => about.and_then(|about| about.tool.clone()),
            },
            model: overview.and_then(|overview| overview.model.clone()),
            directory: about.and_then(|about| about.cwd.clone()),
            messages: about.map(|about| (about.messages, about.hidden)),
            tokens: overview
                .and_then(|overview| overview.tokens)
                .map(tract::render::tokens),
            cost: bill
                .map(|bill| crate::cli::prices::cost_of(bill.dollars, bill.unpriced, bill.replies)),
            compactions: about.map_or(0, |about| u64::from(about.compactions)),
            last: about.and_then(|about| about.last),
            parent: above.or(parent).map(|name| id_of(&name)),
            kind,
            is_head: head.branch().is_some() && head.branch() == tip.branch.as_ref(),
            branch,
            has_grown: grown.contains(&tip.name),
        });
    }
    Ok(())
}

/// The session that one is a part of, by its name.
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
