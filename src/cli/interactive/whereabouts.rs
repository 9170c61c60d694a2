//! What a reader is told of where it reads: whether that goes on, and the way back; and going back.

use std::time::{Duration, Instant};

use tract::hash::CommitHash;
use tract::render::plural;
use tract::repo::{Asked, Repo};

use super::reader::{Reader, Wish};
use super::{Place, Session, tried};
use crate::cli::{App, Failure, Result};

/// How often it is asked whether a session that goes on still does.
const UNDER_WAY_POLL: Duration = Duration::from_secs(1);

impl Place {
    /// Whether a session that went on when it was read does no more: then it is shown so.
    pub(super) fn is_over(&self, session: &mut Session<'_, '_, '_>, app: &App) -> bool {
        let Session { repo, reader, .. } = session;
        let Some(tip) = reader.tip().filter(|_| reader.standing.goes_on) else {
            return false;
        };
        if session.asked.elapsed() < UNDER_WAY_POLL {
            return false;
        }
        session.asked = Instant::now();
        if repo.is_under_way(&tip, app.now()).unwrap_or(true) {
            return false;
        }
        reader.standing.goes_on = false;
        tried(reader.show(repo, Some(tip), 0), (), reader);
        true
    }

    /// Goes back to a message; before one that the user typed, which can then be said in other words.
    pub(super) fn rewind(
        &self,
        to: &str,
        session: &mut Session<'_, '_, '_>,
        app: &mut App,
    ) -> Result<()> {
        let Session { repo, followed, .. } = session;
        let asked = match repo.asked(&followed.on, to) {
            Ok(asked) => asked,
            Err(error) => {
                session.reader.say(Failure::from(error).line());
                return Ok(());
            }
        };
        let before = match &asked {
            Some(Asked { before: None, .. }) => "--root".to_owned(),
            Some(Asked {
                before: Some(before),
                ..
            }) => before.to_string(),
            None => to.to_owned(),
        };
        let tip = session.reader.tip();
        self.grant(Wish::Run(vec!["reset".into(), before]), session, app)?;
        if let Some(asked) = asked.filter(|_| session.reader.tip() != tip) {
            session.reader.edit(&asked.text);
        }
        Ok(())
    }
}

/// Tells a reader what it cannot know of where it is going to read: whether that goes on, and what brings back what
/// is hidden there.
pub(super) fn know(
    reader: &mut Reader,
    repo: &Repo,
    tip: Option<&CommitHash>,
    app: &App,
) -> Result<()> {
    let Some(tip) = tip else {
        (reader.standing.goes_on, reader.standing.way_back) = (false, None);
        return Ok(());
    };
    reader.standing.goes_on = repo.is_under_way(tip, app.now())?;
    let outline = repo.outline(tip)?;
    let hide = outline.last_hide().filter(|_| outline.visible().is_empty());
    reader.standing.way_back = hide.map(|hide| {
        let (hidden, hide) = (plural(outline.all().len() as u64, "message"), hide.short());
        format!("Nothing is visible here: {hidden} hidden. /restore {hide} brings them back.")
    });
    Ok(())
}
