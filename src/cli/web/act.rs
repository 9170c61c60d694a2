//! Changes from a page: first what the command would do, in its own words, then the deed by a second button.
//!
//! A page acts on what it showed: where somebody else has moved the branch since, nothing happens, and it is said so.

use tract::hash::CommitHash;
use tract::history::{Expected, On, Repo};
use tract::ingest::{Conversation, Scope};
use tract::model::{EntryId, Priority, RefName, base64, preview};
use tract::render::html::{DeedPage, Form, Input, InputKind, Standing, deed as page};
use tract::render::plural;

use super::deed::{self, Deed, needed};
use super::site::Opened;
use super::{Answer, Asked, Site, fault, segment, session_address};
use crate::cli::ui::Ui;
use crate::cli::{App, Failure, Result};

/// The columns for which a command's words are laid out.
const COLUMNS: usize = 96;
/// How much of a message is said of it.
const ABOUT_CHARS: usize = 120;

/// What can be done here, what something would do, or what it did.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    if !site.writes() {
        let failure = Failure::refused("these pages change nothing");
        let failure = failure.with_hint("tract web --write lets them");
        return Ok(fault::answer(site, asked, failure).with_status(403));
    }
    if asked.is_post {
        return done(site, asked);
    }
    let id = asked.value("id");
    let id = id.ok_or_else(|| Failure::usage("the address does not say which conversation"))?;
    match site.open_kept(id, |opened| choices(site, asked, opened)) {
        Err(Failure::Tract(tract::Error::UnknownRevision { .. })) => {
            site.open(id, |opened| choices(site, asked, opened))
        }
        answer => answer,
    }
}

/// An application that keeps what it says for a page.
fn app_of(site: &Site) -> App {
    let mut app = site.app();
    app.ui = Ui::kept(COLUMNS);
    app
}

/// Where a branch is.
fn tip_of(repo: &Repo, branch: &RefName) -> Result<Option<CommitHash>> {
    Ok(repo.head(&On::Branch(branch.clone()))?.commit())
}

/// The page of what can be done to a message, or to a conversation.
fn choices(site: &Site, asked: &Asked, opened: &Opened<'_>) -> Result<Answer> {
    let frame = site.frame(asked);
    let mut links = vec![(
        frame.address(&session_address(opened.id, "")),
        "Back to the conversation".to_owned(),
    )];
    let refuse = |what: &str, hint: &str, links: Vec<(String, String)>| {
        let words = [what, hint].map(|line| line.to_owned().into()).to_vec();
        let shown = DeedPage {
            title: "Nothing can be changed here".to_owned(),
            about: vec![opened.id.to_owned()],
            standing: Standing::Refused,
            words,
            links,
            ..DeedPage::default()
        };
        Ok(Answer::page(page(&frame, &shown)))
    };
    if !opened.is_kept() {
        let hint = format!("tract import {} brings it in", opened.id);
        return refuse("This session is in no repository.", &hint, links);
    }
    let branch = match &opened.name {
        Some(name) => opened.repo.branch_of(name)?,
        None => None,
    };
    let Some(branch) = branch else {
        let hint = format!("tract branch NAME {} makes one", opened.id);
        return refuse(
            "No branch follows it, and commands act on branches.",
            &hint,
            links,
        );
    };
    let tip = tip_of(opened.repo, &branch)?;
    let seen = asked.value("tip").unwrap_or_default();
    let is_own = opened.name.as_ref() == Some(&branch);
    if is_own && !seen.is_empty() && tip.is_none_or(|tip| !tip.to_string().starts_with(seen)) {
        let what = format!("{} has moved since that page was made.", branch.short());
        return refuse(&what, "Look again, then choose.", links);
    }
    if !is_own {
        let address = frame.address(&session_address(branch.short(), ""));
        links.push((address, format!("The branch {}", branch.short())));
    }
    let common = Common {
        site,
        asked,
        branch: branch.short().to_owned(),
        expect: tip.map_or("none".to_owned(), |tip| tip.to_string()),
    };
    let (title, about, forms) = match asked.value("rev") {
        Some(rev) => of_message(&common, opened, tip, rev)?,
        None => of_conversation(&common, opened)?,
    };
    let shown = DeedPage {
        title,
        about: [vec![format!("on {}", branch.short())], about].concat(),
        forms,
        links,
        ..DeedPage::default()
    };
    Ok(Answer::page(page(&frame, &shown)))
}

/// What all forms of a page send.
struct Common<'a> {
    site: &'a Site,
    asked: &'a Asked,
    branch: String,
    expect: String,
}

impl Common<'_> {
    fn form(&self, deed: Deed, word: &'static str) -> Form {
        Form {
            address: self.site.frame(self.asked).address("act"),
            fields: vec![
                ("deed", deed.word().to_owned()),
                ("on", self.branch.clone()),
                ("expect", self.expect.clone()),
            ],
            word,
            ..Form::default()
        }
    }
}

/// A title, what is said below it, and groups of forms.
type Choices = (String, Vec<String>, Vec<(&'static str, Vec<Form>)>);

/// What can be done to a message of the branch.
fn of_message(
    common: &Common<'_>,
    opened: &Opened<'_>,
    tip: Option<CommitHash>,
    rev: &str,
) -> Result<Choices> {
    let nothing = || Failure::refused(format!("there is no message {rev} on {}", common.branch));
    let id = opened.repo.resolve_entry(&On::Head, rev)?;
    let talk = Conversation::open(opened.repo, &tip.ok_or_else(nothing)?, Scope::All)?;
    let place = talk
        .place_of(opened.repo, &id, talk.len())?
        .ok_or_else(nothing)?;
    let rows = talk
        .listed()
        .read(opened.repo, place..place.saturating_add(1))?;
    let row = rows.first().ok_or_else(nothing)?;
    let (_, message) = talk.message(opened.repo, place)?.ok_or_else(nothing)?;
    let rev = rev_of(&id);
    let form = |deed, word| {
        let mut form = common.form(deed, word);
        form.fields.push(("rev", rev.clone()));
        form
    };
    let mut forms = Vec::new();
    if row.number.is_some() {
        let pin = match row.entry.priority {
            Priority::Pinned => form(Deed::Unpin, "Unpin"),
            _ => form(Deed::Pin, "Pin"),
        };
        forms.push(("", vec![pin, form(Deed::Drop, "Drop")]));
    } else {
        forms.push(("", vec![form(Deed::Restore, "Restore")]));
    }
    let mut copy = form(Deed::Pick, "Copy to the end of a branch");
    // What a form names as its branch is typed here, and is where it is when the copy is foretold.
    copy.fields
        .retain(|(name, _)| !matches!(*name, "on" | "expect"));
    let head = opened.repo.head(&On::Head)?;
    let head = head.branch().map(|branch| branch.short().to_owned());
    copy.inputs.push(Input {
        name: "on",
        label: "Branch",
        value: head.unwrap_or_else(|| common.branch.clone()),
        kind: InputKind::Line,
    });
    forms.push(("", vec![copy]));
    let name = match row.number {
        Some(number) => format!(":{number}"),
        None => id.commit.short(),
    };
    let said: String = preview(&message).chars().take(ABOUT_CHARS).collect();
    let about = vec![message.role.as_str().to_owned(), said];
    Ok((format!("Message {name}"), about, forms))
}

/// What can be done to a conversation.
fn of_conversation(common: &Common<'_>, opened: &Opened<'_>) -> Result<Choices> {
    let keep = |value: &str, label| Input {
        name: "keep",
        label,
        value: value.to_owned(),
        kind: InputKind::Count,
    };
    let mut truncate = common.form(Deed::Truncate, "Hide the oldest");
    truncate.inputs.push(keep("20", "Keep the newest"));
    let mut compact = common.form(Deed::Compact, "Put it in their place");
    compact.inputs = vec![
        Input {
            name: "text",
            label: "Summary",
            value: String::new(),
            kind: InputKind::Text,
        },
        keep("10", "Keep the newest"),
    ];
    let mut forms = vec![
        ("Hide the oldest messages", vec![truncate]),
        ("A summary in place of messages", vec![compact]),
    ];
    if let (Ok(Some(_)), Some(newest)) = (opened.repo.undoable(), opened.repo.newest_operation()?) {
        let mut undo = common.form(Deed::Undo, "Undo the newest command");
        undo.fields = vec![
            ("deed", Deed::Undo.word().to_owned()),
            ("newest", newest.to_string()),
        ];
        forms.push(("What was done last, on any branch", vec![undo]));
    }
    let count = opened.repo.outline(&opened.tip)?.visible().len();
    let about = vec![plural(count as u64, "visible message")];
    Ok((opened.id.to_owned(), about, forms))
}

/// A message as commands take it.
pub fn rev_of(id: &EntryId) -> String {
    match id.index {
        Some(index) => format!("{:.12}#{index}", id.commit),
        None => format!("{:.12}", id.commit),
    }
}

/// Says what a deed would do, or does it.
fn done(site: &Site, asked: &Asked) -> Result<Answer> {
    let deed = Deed::sent(asked)?;
    let is_sure = asked.sent("sure").is_some();
    let mut app = app_of(site);
    let mut fields = vec![("deed", deed.word().to_owned())];
    for name in ["rev", "keep", "to"] {
        fields.extend(asked.sent(name).map(|value| (name, value.to_owned())));
    }
    if deed == Deed::Compact {
        fields.push(("kept", base64::encode(deed::text(asked)?.as_bytes())));
    }
    let (expected, before) = if deed.is_of_log() {
        let repo = app.repo()?;
        let newest = needed(asked, "newest")?;
        let wrong = || Failure::usage(format!("'{newest}' is no number of an operation"));
        let newest: u64 = newest.parse().map_err(|_| wrong())?;
        fields.push(("newest", newest.to_string()));
        if deed == Deed::Undo && !is_sure {
            let operation = deed::undoable(&repo)?.operation.id;
            fields.push(("operation", operation.to_string()));
        }
        (Expected::Newest(newest), None)
    } else {
        let branch = RefName::branch(needed(asked, "on")?.trim())?;
        app.globals.on = Some(branch.short().to_owned());
        let repo = app.repo()?;
        let tip = match asked.sent("expect") {
            Some("none") => None,
            Some(expect) => Some(repo.resolve(&On::Head, expect)?),
            None => tip_of(&repo, &branch)?,
        };
        let expect = tip.map_or("none".to_owned(), |tip| tip.to_string());
        fields.extend([("on", branch.short().to_owned()), ("expect", expect)]);
        (Expected::At(branch, tip), tip)
    };
    let did = match is_sure {
        true => deed.carry_out(asked, expected.clone(), &mut app),
        // What is foretold is foretold of what the page showed.
        false => expected_now(&app, &expected).and_then(|()| deed.foretell(asked, &mut app)),
    };
    told(
        site,
        asked,
        deed,
        did,
        Given {
            fields,
            expected,
            before,
        },
        app,
    )
}

/// What a form gave, for the page that answers it.
struct Given {
    fields: Vec<(&'static str, String)>,
    expected: Expected,
    /// Where the branch was.
    before: Option<CommitHash>,
}

/// Refuses what is not as a page showed it any more.
fn expected_now(app: &App, expected: &Expected) -> Result<()> {
    Ok(app.repo()?.holds(expected)?)
}

/// The page that says what a deed would do, what it did, or why not.
fn told(
    site: &Site,
    asked: &Asked,
    deed: Deed,
    did: Result<()>,
    given: Given,
    mut app: App,
) -> Result<Answer> {
    let frame = site.frame(asked);
    let is_sure = asked.sent("sure").is_some();
    let mut links = Vec::new();
    let mut about = Vec::new();
    match &given.expected {
        Expected::At(branch, _) => {
            let address = frame.address(&session_address(branch.short(), ""));
            about.push(format!("on {}", branch.short()));
            links.push((address, format!("The branch {}", branch.short())));
        }
        Expected::Newest(_) => {}
    }
    let (standing, status) = match &did {
        Ok(()) if is_sure => (Standing::Done, 200),
        Ok(()) => (Standing::Foretold, 200),
        Err(failure) => (Standing::Refused, fault::status_of(failure)),
    };
    if let Err(failure) = did {
        failure.report(&mut app.ui);
    }
    let words = app.ui.captured();
    let mut forms = Vec::new();
    if standing == Standing::Foretold {
        let mut fields = given.fields.clone();
        fields.push(("sure", "yes".to_owned()));
        let address = frame.address("act");
        let word = "Do it";
        forms.push((
            "",
            vec![Form {
                address,
                fields,
                word,
                ..Form::default()
            }],
        ));
    }
    if standing == Standing::Done {
        links.extend(after(&app, &given, |place| frame.address(place))?);
    }
    links.push((frame.address("reflog"), "What was done".to_owned()));
    let shown = DeedPage {
        title: deed.heading().to_owned(),
        about,
        standing,
        words,
        forms,
        links,
    };
    Ok(Answer::page(page(&frame, &shown)).with_status(status))
}

/// Where a change can be looked at.
fn after(
    app: &App,
    given: &Given,
    address: impl Fn(&str) -> String,
) -> Result<Option<(String, String)>> {
    let (Expected::At(branch, _), Some(before)) = (&given.expected, given.before) else {
        return Ok(None);
    };
    let tip = tip_of(&*app.repo()?, branch)?;
    let changed = tip.filter(|tip| *tip != before);
    Ok(changed.map(|tip| {
        let (before, tip) = (before.short(), tip.short());
        let place = format!("compare?a={}&b={}", segment(&before), segment(&tip));
        (address(&place), format!("What {tip} changed"))
    }))
}
