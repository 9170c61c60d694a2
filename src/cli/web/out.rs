//! The same pages as files, to publish: a list, a page for each conversation, and what a search needs that can ask
//! nobody. What leaves is looked through for secrets, and nothing is put in place before all of it was made.

use std::path::Path;

use serde::Serialize;
use tract::deeds::page::{GatheredPage, PageKind};
use tract::deeds::{as_read, check_page};
use tract::hash::CommitHash;
use tract::ingest::Scope;
use tract::model::secret::{Leaving, SecretCounts};
use tract::model::{Part, Role};
use tract::query::ConversationTip;
use tract::render::html::{PageFrame, SearchScripts, SessionList, Setting, session_list};
use tract::render::plural;
use tract::repo::Repo;
use tract::sync::Leaked;

use super::folder::Folder;
use super::list::{count, days, trees};
use super::listing::{Kind, Row, rows};
use super::query::session_address;
use super::{Site, message_anchor, tend};
use crate::cli::drawing::leaks;
use crate::cli::{App, Failure, Result, progress};

/// The list of conversations.
const INDEX: &str = "index.html";
/// The links on each page.
const PLACES: [(&str, &str); 1] = [("", "Sessions")];
/// How much of a message can be found.
const TEXT_CHARS: usize = 2_000;
/// How much of the search is in one file.
const SCRIPT_BYTES: usize = 1 << 20;

/// What can be found of a message: its conversation, its anchor there, who says it, and what.
#[derive(Serialize)]
struct Said(usize, String, &'static str, String);

/// What can be found, in files that a page loads by a tag: a page that is a file itself can ask for nothing.
struct Search {
    /// The conversations: page and title.
    pages: Vec<(String, String)>,
    said: Vec<Said>,
    bytes: usize,
    scripts: usize,
}

/// Writes all conversations of the repository into a folder.
pub fn write(folder: &Path, force: bool, flags: &leaks::SharedFlags, app: &mut App) -> Result<()> {
    let site = Site::of(app, false, Site::MANY)?;
    let quiet = site.app();
    let repo = site.repo(&quiet)?.ok_or_else(|| {
        let failure =
            Failure::refused("there is no repository here, and only what is in one is published");
        failure.with_hint("tract import takes sessions in")
    })?;
    let mut folder = Folder::of(folder, force)?;
    let tips = repo.conversations()?;
    let commits: Vec<CommitHash> = tips.iter().map(|tip| tip.tip).collect();
    let secrets = flags.finder(&repo, &commits, app)?;
    let leaving = flags.leaving(&secrets);
    if tips.is_empty() {
        return Err(
            Failure::refused("the repository holds no conversation yet").with_hint("tract import")
        );
    }
    let bar = progress::bar(app, "[{bar:30}] {pos} of {len} pages");
    bar.set_length(tips.len() as u64 + 1);
    tend::fill(&site, &quiet, &repo)?;
    let mut listed = rows(&site, &quiet, Some(&repo))?.rows.clone();
    listed.retain(|row| row.kind != Kind::File);
    let (mut redacted, mut leaked) = (SecretCounts::new(), Leaked::default());
    let mut search = Search {
        pages: Vec::new(),
        said: Vec::new(),
        bytes: 0,
        scripts: 0,
    };
    for tip in &tips {
        let id = tip.name.label();
        let shown = leaving.renamed(&id).unwrap_or_else(|| id.clone());
        let row = listed.iter_mut().find(|row| row.id == id);
        if let (Some(row), Leaving::Redacted(secrets)) = (row, leaving) {
            for text in [
                &mut row.title,
                &mut row.directory,
                &mut row.branch,
                &mut row.model,
            ] {
                let clean = text
                    .as_ref()
                    .and_then(|text| secrets.redact_text(text, &mut redacted));
                if clean.is_some() {
                    *text = clean;
                }
            }
            row.id.clone_from(&shown);
        }
        let title = listed.iter().find(|row| row.id == shown);
        let title = title
            .and_then(|row| row.title.clone())
            .unwrap_or_else(|| shown.clone());
        let counts = page(
            &repo,
            tip,
            (&shown, title),
            leaving,
            &quiet,
            &mut folder,
            (&mut search, &mut leaked),
        )?;
        for (kind, count) in counts {
            *redacted.entry(kind).or_default() += count;
        }
        bar.inc(1);
    }
    search.flush(&mut folder)?;
    let scripts = search.write_pages(&mut folder)?;
    let html = list(&listed, &scripts, &quiet);
    if let Some(secrets) = leaving.secrets() {
        leaked.take(check_page(
            (&repo, &tips[0].tip),
            secrets,
            &as_read::html(html.as_bytes()),
        ))?;
    }
    leaked.end()?;
    folder.put(INDEX, html.as_bytes())?;
    let place = folder.settle()?;
    bar.finish_and_clear();
    let pages = plural(tips.len() as u64, "conversation");
    let place = app.short_path(&place.join(INDEX));
    app.ui
        .status(format!("Wrote {pages}; the first page is {place}"));
    leaks::tell(&redacted, app);
    Ok(())
}

/// The page of one conversation, and what of it can be found.
fn page(
    repo: &Repo,
    of: &ConversationTip,
    (id, title): (&str, String),
    leaving: Leaving<'_>,
    app: &App,
    folder: &mut Folder,
    (search, leaked): (&mut Search, &mut Leaked),
) -> Result<SecretCounts> {
    let copy = match leaving {
        Leaving::Redacted(secrets) => Some(repo.without_secrets(&of.tip, secrets)?),
        _ => None,
    };
    let (repo, tip, counts) = match &copy {
        Some((copy, tip, counts)) => (copy, tip, counts.clone()),
        None => (repo, &of.tip, SecretCounts::new()),
    };
    let address = session_address(id, INDEX);
    let root = "../".repeat(id.split('/').count() + 1);
    let frame = PageFrame {
        live: None,
        setting: Setting::Published,
        root: &root,
        places: &PLACES,
        here: None,
    };
    let gathered = GatheredPage::of(repo, tip, Scope::All, &app.calendar())?;
    let mut bytes = Vec::new();
    gathered.write(PageKind::Html, &frame, &mut bytes)?;
    if let Some(secrets) = leaving.secrets() {
        let checked = check_page((repo, tip), secrets, &as_read::html(&bytes));
        if leaked.take(checked)?.is_none() {
            return Ok(counts);
        }
    }
    folder.put(&format!("s/{id}/{INDEX}"), &bytes)?;
    search.pages.push((address, title));
    let number = search.pages.len() - 1;
    let all = repo.outline(tip)?.all();
    let step = 512;
    for from in (0..all.len()).step_by(step) {
        let entries = all.read(repo, from..(from + step).min(all.len()))?;
        let contents: Vec<_> = entries.iter().map(|one| one.entry.content).collect();
        for (one, message) in entries.iter().zip(repo.contents(&contents)?) {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
                _ => continue,
            };
            let texts = message.parts.iter().filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                _ => None,
            });
            let text: String = texts.collect::<Vec<_>>().join("\n");
            let text: String = text.chars().take(TEXT_CHARS).collect();
            if !text.trim().is_empty() {
                let anchor = message_anchor(&one.entry.id);
                search.add(Said(number, anchor, role, text), folder)?;
            }
        }
    }
    Ok(counts)
}

fn list(listed: &[Row], scripts: &[String], app: &App) -> String {
    let found: Vec<&Row> = listed.iter().collect();
    let trees = trees(&found);
    let shown: Vec<_> = trees.iter().collect();
    let frame = PageFrame {
        live: None,
        setting: Setting::Published,
        root: "",
        places: &PLACES,
        here: Some(""),
    };
    let list = SessionList {
        count: count(&found, listed, false),
        days: days(&shown, &app.calendar(), app),
        search: Some(SearchScripts { scripts }),
        ..SessionList::default()
    };
    session_list(&frame, &list)
}

impl Search {
    fn add(&mut self, said: Said, folder: &mut Folder) -> Result<()> {
        self.bytes += said.3.len() + 64;
        self.said.push(said);
        match self.bytes > SCRIPT_BYTES {
            true => self.flush(folder),
            false => Ok(()),
        }
    }

    /// Writes what has come together.
    fn flush(&mut self, folder: &mut Folder) -> Result<()> {
        if self.said.is_empty() {
            return Ok(());
        }
        let said = script("said", &std::mem::take(&mut self.said))?;
        folder.put(&format!("search/{}.js", self.scripts), said.as_bytes())?;
        (self.scripts, self.bytes) = (self.scripts + 1, 0);
        Ok(())
    }

    /// Writes the list of pages, and gives all files.
    fn write_pages(&self, folder: &mut Folder) -> Result<Vec<String>> {
        let pages = "search/pages.js";
        folder.put(pages, script("pages", &self.pages)?.as_bytes())?;
        let said = (0..self.scripts).map(|at| format!("search/{at}.js"));
        Ok(std::iter::once(pages.to_owned()).chain(said).collect())
    }
}

/// A script that hands a value over. Nothing in it can end it.
fn script(name: &str, value: &impl Serialize) -> Result<String> {
    let json = serde_json::to_string(value).map_err(|error| Failure::refused(error.to_string()))?;
    let json = json
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    Ok(format!("(self.tract ??= []).push({{ {name}: {json} }});\n"))
}
