//! The context over the whole conversation: how large it was, what was hidden, and the moment that is shown.

use std::collections::HashMap;

use tract::deeds::page;
use tract::hash::CommitHash;
use tract::ingest::Replay;
use tract::query::{LogOptions, LogRow};
use tract::render::html;
use tract::render::page::{ContextSize, ConversationPage, LostFacts, ShownMoment};

use super::site::Opened;
use super::{Asked, Site, address_on_page};
use crate::cli::Result;

/// How many sizes a slider knows.
const SIZES: usize = 240;

/// What is said of the context over time.
#[derive(Default)]
pub struct Curve {
    /// How large it was at each step.
    pub sizes: Vec<ContextSize>,
    /// What each hide took away.
    pub lost: Vec<LostFacts>,
    /// The moment that is shown.
    pub moment: Option<ShownMoment>,
}

impl Curve {
    /// Over the whole conversation; at a commit of it, unless that is the newest.
    pub fn of(opened: &Opened<'_>, at: Option<&str>, found: &Replay) -> Result<Self> {
        let repo = opened.repo;
        let rows = rows(opened)?;
        let size = |row: &LogRow| row.running.tokens;
        let step = at.and_then(|at| rows.iter().position(|row| row.hash.to_string() == at));
        let shown = step.map(|step| {
            let row = &rows[step];
            let time = row
                .commit
                .time
                .map(|time| opened.app.calendar().absolute(time));
            let time = time.map_or(String::new(), |time| format!(", {time}"));
            format!("commit {}{time}", row.hash.short())
        });
        let each = rows.len().div_ceil(SIZES).max(1);
        let moment = ShownMoment {
            step: step.map_or(rows.len(), |step| step + 1),
            steps: rows.len(),
            tokens: rows.iter().step_by(each).map(size).collect(),
            shown: shown.or_else(|| at.map(|at| format!("commit {at:.7}"))),
        };
        let lost =
            page::lost((repo, &opened.tip), found, &rows, Some(&address_on_page))?.into_iter();
        let names = page::messages(found).into_iter();
        let names: HashMap<usize, CommitHash> = names
            .map(|(commit, message)| (message.at, commit))
            .collect();
        let lost = lost.map(|lost| LostFacts {
            address: names
                .get(&lost.message.at)
                .map(|hide| format!("hidden?by={hide}")),
            ..lost
        });
        let sizes = page::sizes(found, &rows).into_iter().zip(&rows);
        let sizes = sizes.map(|(size, row)| ContextSize {
            address: Some(format!("./?at={}", row.hash)),
            ..size
        });
        Ok(Self {
            sizes: sizes.collect(),
            lost: lost.collect(),
            moment: Some(moment),
        })
    }

    /// Its page.
    pub fn page(&self, site: &Site, asked: &Asked, title: &str) -> Result<Vec<u8>> {
        let page = ConversationPage {
            sizes: &self.sizes,
            moment: self.moment.clone(),
            ..ConversationPage::bare(title)
        };
        let mut bytes = Vec::new();
        html::write(&site.frame(asked), &page, &[], &mut bytes)?;
        Ok(bytes)
    }
}

/// All steps, oldest first.
pub fn rows(opened: &Opened<'_>) -> Result<Vec<LogRow>> {
    let options = LogOptions {
        limit: 0,
        encoding: opened.app.encoding(opened.repo)?,
        ..LogOptions::default()
    };
    let mut rows = opened.repo.log(&opened.tip, &options)?;
    rows.reverse();
    Ok(rows)
}
