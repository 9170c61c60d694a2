//! Changes from a page: first what the command would do, in its own words, then the deed by a second button.
//!
//! A page acts on what it showed: where somebody else has moved the branch since, nothing happens, and it is said so.

use tract::hash::CommitHash;
use tract::model::{RefName, base64};
use tract::render::html::{DeedPage, PageForm, Standing, deed as page};
use tract::repo::{Expected, On};

use super::choices::{choices, tip_of};
use super::deed::{self, Deed, needed};
use super::{Answer, Asked, Site, fault, segment, session_address};
use crate::cli::ui::Ui;
use crate::cli::{App, Failure, Result};

/// The columns for which a command's words are laid out.
const COLUMNS: usize = 96;

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
    // What a page says is said of what it showed, also where there turns out to be nothing to do.
    let did = expected_now(&app, &expected).and_then(|()| match is_sure {
        true => deed.carry_out(asked, expected.clone(), &mut app),
        false => deed.foretell(asked, &mut app),
    });
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
            vec![PageForm {
                address,
                fields,
                word,
                ..PageForm::default()
            }],
        ));
    }
    if standing == Standing::Done {
        if !deed.is_of_log()
            && let Some(newest) = app.repo()?.newest_operation()?
        {
            let fields = vec![
                ("deed", Deed::Undo.word().to_owned()),
                ("newest", newest.to_string()),
            ];
            forms.push((
                "",
                vec![PageForm {
                    address: frame.address("act"),
                    fields,
                    word: "Undo it",
                    ..PageForm::default()
                }],
            ));
        }
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
