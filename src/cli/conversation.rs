//! A conversation as it is shown: the commands that show one differ only in what of it they ask for.

use std::io::Write;
use std::path::Path;

use tract::Error;
use tract::deeds::page::{GuardedPage, PageKind, numbered, title_of};
use tract::ingest::{Conversation, PartSize, Scope, Start, tree_of_file};
use tract::model::secret::Leaving;
use tract::render::chat::{Chat, ChatMessage, Pen};
use tract::render::html::PageFrame;
use tract::render::page::ConversationPage;
use tract::render::{Label, plural};
use tract::repo::Repo;
use tract::tree::{NodeId, Tree, json};

use super::drawing::leaks;
use super::in_memory::{self, Found};
use super::{App, Failure, Result};

/// How many messages a window shows, where nobody says.
pub const WINDOW: usize = 50;

/// How many lines of what a tool gave back are shown.
pub const OUTPUT_LINES: usize = 5;

/// In which form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// For people.
    #[default]
    Plain,
    /// For programs: `docs/render.md`.
    Tree,
    /// A page for a browser, which needs nothing else.
    Html,
    /// The same to read as a text.
    #[value(alias = "md")]
    Markdown,
}

impl Form {
    /// The page that it is, if it is one.
    fn page(self) -> Option<PageKind> {
        match self {
            Self::Plain | Self::Tree => None,
            Self::Html => Some(PageKind::Html),
            Self::Markdown => Some(PageKind::Markdown),
        }
    }
}

/// Which messages.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    /// The last so many visible ones, as asked or as configured; all of them for a program.
    Window(Option<usize>),
    Transcript,
    All,
}

impl Which {
    pub fn scope(self, form: Form, repo: &Repo) -> Result<Scope> {
        Ok(match self {
            Self::Transcript => Scope::Transcript,
            Self::All => Scope::All,
            Self::Window(Some(size)) => Scope::Window(size),
            Self::Window(None) if form != Form::Plain => Scope::All,
            Self::Window(None) => Scope::Window(repo.config()?.window_size()?.unwrap_or(WINDOW)),
        })
    }
}

/// Shows what stands at a commit, or in a file, or in a session of a tool that was not imported.
pub fn show(what: &str, which: Which, form: Form, app: &mut App) -> Result<()> {
    let (repo, tip) = match in_memory::find(what, app)? {
        Found::Here(repo) => {
            let tip = repo.resolve(&app.on()?, what)?;
            (repo, tip)
        }
        Found::File(path) if form != Form::Plain || in_memory::is_stream(&path) => {
            return of_file(what, &path, form, app);
        }
        Found::File(path) => {
            let read = in_memory::read(&path, app)?;
            let name = read.only(what)?;
            let tip = read.repo.resolve(&app.on()?, name.as_str())?;
            (read.repo, tip)
        }
    };
    let scope = which.scope(form, &repo)?;
    if let Some(kind) = form.page() {
        let secrets = app.secrets()?;
        let leaving = Leaving::Refused(&secrets);
        let page = GuardedPage::of((&repo, &tip), scope, kind, leaving, &app.calendar());
        let page = page.map_err(|error| export_it(error.into()))?;
        app.ui.out().write_all(&page.bytes)?;
        leaks::tell(&page.redacted, app);
        return Ok(());
    }
    let conversation = Conversation::open(&repo, &tip, scope)?;
    let conversation = conversation.going_on(repo.is_under_way(&tip, app.now())?);
    if form == Form::Tree {
        return tree(&conversation.replay(&repo)?.tree, app);
    }
    whole(&conversation, &repo, app)
}

/// The page of a file's tree, as data.
fn of_tree(tree: &Tree, kind: PageKind, app: &mut App) -> Result<()> {
    let title = title_of(tree);
    let page = ConversationPage::bare(&title);
    Ok(kind.write(&PageFrame::ALONE, &page, tree, app.ui.out())?)
}

/// What makes a page without secrets is another command.
fn export_it(failure: Failure) -> Failure {
    match failure {
        Failure::Tract(Error::Leaks { .. }) => failure
            .with_hint("tract export --format html, or markdown, with --redact or --allow-secrets"),
        failure => failure,
    }
}

/// Draws what is to be shown of a conversation, with what stands above it.
fn whole(conversation: &Conversation, repo: &Repo, app: &mut App) -> Result<()> {
    header(conversation, app)?;
    let from = conversation.first();
    parts(conversation, repo, from, &mut Pen::default(), app)
}

/// How many messages are not shown, if any.
pub fn header(conversation: &Conversation, app: &mut App) -> Result<()> {
    if conversation.earlier() > 0 {
        let earlier = plural(conversation.earlier() as u64, "earlier message");
        let line = format!("↑ {earlier} (--transcript shows them)");
        app.ui.print(Label::Dim.of(line))?;
        app.ui.print("")?;
    }
    Ok(())
}

/// Draws what stands from a place on, a part at a time: one part is held, whatever there is.
pub fn parts(
    conversation: &Conversation,
    repo: &Repo,
    from: usize,
    pen: &mut Pen,
    app: &mut App,
) -> Result<()> {
    let (mut at, mut start) = (from, Start::Alone);
    while at < conversation.len() {
        let part = conversation.part_from(repo, at, PartSize::default())?;
        at = part.end;
        let found = conversation.read(repo, part, start)?;
        start = Start::Seen;
        let message_of = |node| found.entry_of(node).map(numbered);
        chat(&found.tree, &message_of, pen, app)?;
    }
    Ok(())
}

fn of_file(what: &str, path: &Path, form: Form, app: &mut App) -> Result<()> {
    let found = tree_of_file(path, None).map_err(|error| match error {
        Error::InvalidInput { .. } => {
            let hint = format!("tract import {what}, then tract view of one of its branches");
            Failure::refused(error.to_string()).with_hint(hint)
        }
        error => error.into(),
    })?;
    match (form, form.page()) {
        (_, Some(kind)) => of_tree(&found, kind, app),
        (Form::Tree, _) => tree(&found, app),
        _ => chat(&found, &|_| None, &mut Pen::default(), app),
    }
}

fn chat(
    tree: &Tree,
    message_of: &dyn Fn(NodeId) -> Option<ChatMessage>,
    pen: &mut Pen,
    app: &mut App,
) -> Result<()> {
    let chat = Chat {
        message_of,
        ..Chat::new(OUTPUT_LINES, app.ui.width_cols())
    };
    pen.begin_tree();
    for item in &tree.items {
        let lines = pen.item(&chat, item);
        app.ui.print_all(lines.into_iter().map(|line| line.line))?;
    }
    Ok(())
}

fn tree(tree: &Tree, app: &mut App) -> Result<()> {
    for text in json::pieces(tree) {
        app.ui.write_json(&text)?;
    }
    Ok(writeln!(app.ui.out())?)
}
