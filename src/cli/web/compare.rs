//! Two contexts beside each other: `compare?a=ONE&b=OTHER`, each a conversation or a revision, or two of `s`, as a list
//! with marks sends them.

use std::collections::HashSet;

use tract::compile::{Provider, shared_prefix};
use tract::diff::{ContextDiff, DiffOptions, Side};
use tract::hash::CommitHash;
use tract::model::EntryId;
use tract::render::diff::{Frame as Names, Kept};
use tract::render::html::{
    ChoicePage, ComparisonPage, PageForm, PageInput, PageInputKind, choice, comparison,
};

use super::{Answer, Asked, Site, segment, session_address};
use crate::cli::Result;

/// How many conversations are there to be chosen.
const CHOICES: usize = 200;
/// How many letters of a title tell it from others.
const TITLE_CHARS: usize = 80;

/// The page on which two contexts are compared, or chosen.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    let marked = asked.query.iter().filter(|(name, _)| name == "s");
    // A list marks its conversations by their addresses.
    let id = |(_, address): &(String, String)| Asked::of(&format!("/{address}"), None)?.session();
    let marked: Vec<String> = marked.filter_map(id).collect();
    let mark = |at: usize| marked.get(at).map(String::as_str);
    let before = asked.value("a").or(mark(0));
    match (before, asked.value("b").or(mark(1))) {
        (Some(before), Some(after)) => compared(site, asked, Some(before), after),
        (None, Some(after)) => compared(site, asked, None, after),
        (before, None) => chosen(site, asked, before),
    }
}

/// One of the two, read whole.
struct One {
    tip: CommitHash,
    /// What people call it.
    name: String,
    /// Whether it is of the repository that is served.
    is_kept: bool,
    side: Option<Side>,
    /// Whose cache is asked about.
    provider: Provider,
}

/// What stands where an address says; its messages are read where it is not to be read in the repository.
fn read(site: &Site, id: &str, is_whole: bool) -> Result<One> {
    site.open(id, |opened| {
        let (repo, tip) = (opened.repo, opened.tip);
        let encoding = opened.app.encoding(repo)?;
        let side = is_whole.then(|| repo.side_of(&tip, encoding)).transpose()?;
        let name = match &opened.name {
            Some(_) => opened.id.to_owned(),
            None => tip.short(),
        };
        Ok(One {
            tip,
            name,
            is_kept: opened.is_kept(),
            side,
            provider: opened.app.provider(repo, None)?,
        })
    })
}

fn compared(site: &Site, asked: &Asked, before: Option<&str>, after: &str) -> Result<Answer> {
    let app = site.app();
    let new = read(site, after, false)?;
    let old = before.map(|id| read(site, id, false)).transpose()?;
    let is_kept = new.is_kept && old.as_ref().is_none_or(|old| old.is_kept);
    let repo = site.repo(&app)?.filter(|_| is_kept);
    let (diff, name, provider) = match repo {
        Some(repo) => {
            let (parent, name) = match &old {
                Some(old) => (Some(old.tip), old.name.clone()),
                None => {
                    let parent = repo.commit_at(&new.tip)?.parent;
                    let nothing = "the empty context".to_owned();
                    (parent, parent.map_or(nothing, |parent| parent.short()))
                }
            };
            let (options, encoding) = (DiffOptions::default(), app.encoding(&repo)?);
            let diff = repo.diff(parent.as_ref(), Some(&new.tip), &options, encoding)?;
            (diff, name, new.provider)
        }
        None => {
            let (old_side, name) = match (before, old) {
                (Some(before), Some(old)) => (read(site, before, true)?.side, old.name),
                _ => (None, "the empty context".to_owned()),
            };
            let new_side = read(site, after, true)?.side.unwrap_or_default();
            let diff = apart(old_side.unwrap_or_default(), new_side);
            (diff, name, new.provider)
        }
    };
    let prefix = shared_prefix(&diff.before.messages, &diff.after.messages, provider)?;
    let names = Names {
        names: (name, new.name.clone()),
        remark: None,
        prefix: Some(Kept {
            messages: prefix.messages,
            size_bytes: prefix.size_bytes,
            provider: provider.as_str(),
        }),
    };
    let frame = site.frame(asked);
    let link = |id: &str| frame.address(&session_address(id, ""));
    let page = ComparisonPage {
        diff: &diff,
        names: &names,
        links: [before.map(link), Some(link(after))],
    };
    Ok(Answer::page(comparison(&frame, &page)))
}

/// Two contexts of different repositories: all that is known of one's history in the other is what both show.
fn apart(mut before: Side, mut after: Side) -> ContextDiff {
    let ids = |side: &Side| -> HashSet<EntryId> { side.entries.iter().map(|it| it.id).collect() };
    let (old, new) = (ids(&before), ids(&after));
    before.known = old.intersection(&new).copied().collect();
    after.known = before.known.clone();
    ContextDiff::new(before, after, &DiffOptions::default())
}

/// The page on which the other one is chosen.
fn chosen(site: &Site, asked: &Asked, first: Option<&str>) -> Result<Answer> {
    let app = site.app();
    let frame = site.frame(asked);
    let address = |id: &str| {
        let to = |id: &str| segment(id).into_owned();
        match first {
            Some(first) => format!("compare?a={}&b={}", to(first), to(id)),
            None => format!("compare?b={}", to(id)),
        }
    };
    let mut choices = Vec::new();
    if let Some(repo) = site.repo(&app)? {
        let pages = repo.branch_pages(None, CHOICES, app.encoding(&repo)?)?;
        for row in pages
            .collect::<tract::Result<Vec<_>>>()?
            .into_iter()
            .flatten()
        {
            let id = row.name.short();
            let title = row.title.or(row.prompt).unwrap_or_default();
            let title: String = title.chars().take(TITLE_CHARS).collect();
            choices.push((frame.address(&address(id)), format!("{id}  {title}")));
        }
    }
    let line = |name, label, value: Option<&str>| PageInput {
        name,
        label,
        value: value.unwrap_or_default().to_owned(),
        kind: PageInputKind::Line,
    };
    let form = PageForm {
        address: frame.address("compare"),
        is_question: true,
        inputs: vec![
            line("a", "A conversation or a revision", first),
            line("b", "beside", None),
        ],
        word: "Compare",
        ..PageForm::default()
    };
    let page = ChoicePage {
        first,
        form,
        choices: &choices,
    };
    Ok(Answer::page(choice(&frame, &page)))
}
