//! The page that says what is wrong.

use tract::Error;
use tract::deeds::advice::{exit, hint, plain};
use tract::render::html::notice;

use super::{Answer, Asked, Site};
use crate::cli::{Exit, Failure};

/// For an address that leads nowhere.
pub fn unknown(site: &Site, asked: &Asked) -> Answer {
    let frame = site.frame(asked);
    Answer::page(notice(&frame, "Not found", "there is no such page", None)).with_status(404)
}

/// For what went wrong.
pub fn answer(site: &Site, asked: &Asked, failure: Failure) -> Answer {
    let what = failure.what();
    let (status, advice) = match failure {
        Failure::Tract(Error::UnknownRevision { .. }) => (404, None),
        Failure::Tract(error) => (status(exit(&error)), hint(&error)),
        Failure::Deed(fault) if fault.kind == "unknown_revision" => (404, None),
        Failure::Deed(fault) => (status(Exit::of(fault.exit_code)), fault.hint),
        Failure::Said(exit, _, hint) => (status(exit), hint),
        _ => (500, None),
    };
    let title = match status {
        404 => "Not found",
        400 => "Not understood",
        _ => "That did not work",
    };
    let advice = advice.as_deref().map(plain);
    let page = notice(&site.frame(asked), title, &what, advice.as_deref());
    Answer::page(page).with_status(status)
}

/// The status of an answer that says this.
pub fn status_of(failure: &Failure) -> u16 {
    match failure {
        Failure::Tract(error) => status(exit(error)),
        Failure::Deed(fault) => status(Exit::of(fault.exit_code)),
        Failure::Said(exit, ..) => status(*exit),
        _ => 500,
    }
}

/// What HTTP calls what the program ends with.
fn status(exit: Exit) -> u16 {
    match exit {
        Exit::NotAllowed => 404,
        Exit::Usage => 400,
        Exit::Damaged => 500,
        Exit::Lost => 409,
    }
}
