//! A conversation that goes on while its page is read: what of the page changes, as server-sent events.
//!
//! What is told was painted by the painter of the page, from the same tree; only what differs is sent. Where more than
//! the end has changed, the page is told to come anew. Deliberately absent: how splices are found, which is the
//! library's, and what a browser does with them.
//!
//! # Source
//!
//! WHATWG, "HTML", server-sent events.

use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use tract::hash::CommitHash;
use tract::ingest;
use tract::render::html::{Fragment, Splice};
use tract::repo::Repo;
use tract::store::FileStamp;

use super::part::Part;
use super::site::{Opened, named};
use super::{Answer, Asked, Site, fault};
use crate::cli::follow::{Step, changes};
use crate::cli::{Failure, Result};

/// How often it is asked whether anything was written: that costs microseconds.
const POLL: Duration = Duration::from_millis(20);
/// How often the connection is tried: a browser that vanished is found out by that.
const BEAT: Duration = Duration::from_secs(2);
/// How often it is asked whether what has not moved looks otherwise: a call that waits gives up waiting, a purge comes.
const AGAIN: Duration = Duration::from_millis(500);

/// What stands at the end of a conversation's page.
struct Painted {
    tip: CommitHash,
    is_open: bool,
    fragment: Fragment,
    file: Option<PathBuf>,
}

impl Painted {
    /// From the place on that was asked for.
    fn of(opened: &Opened<'_>, asked: &Asked, from: usize) -> Result<Self> {
        let part = Part::live(opened, asked, from)?;
        Ok(Self {
            tip: opened.tip,
            is_open: part.is_open(),
            fragment: part.fragment(),
            file: opened.file.clone(),
        })
    }
}

/// What is sent of a change.
#[derive(Serialize)]
struct Change<'a> {
    splices: &'a [Splice],
    have: &'a str,
}

/// Who follows a conversation.
struct Follower {
    site: Site,
    asked: Asked,
    id: String,
    from: usize,
    /// The repository that is served, as long as it can be opened.
    repo: Option<Rc<Repo>>,
    version: Option<u64>,
    /// Whether anybody has written to it since the conversation was looked at.
    is_moved: bool,
    /// The session's file, and how it looked.
    file: Option<(PathBuf, Option<FileStamp>)>,
    painted: Painted,
}

/// Follows the conversation that the address names, from the place on with which its page begins to go on.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    let unknown = || Failure::usage("the address names no conversation");
    let id = asked.session().ok_or_else(unknown)?;
    let from = asked.value("from").unwrap_or("0");
    let from = from
        .parse()
        .map_err(|_| Failure::usage(format!("from is no number: {from}")))?;
    let have = asked.value("have").unwrap_or_default().to_owned();
    // What cannot be opened is said before anything is promised.
    site.open(&id, |_| Ok(()))?;
    let Some(place) = site.follow() else {
        let failure = Failure::refused("too many pages follow a conversation");
        return Ok(fault::answer(site, asked, failure).with_status(503));
    };
    let (site, asked) = (site.clone(), asked.clone());
    let follow = move |out: &mut dyn Write| {
        let _place = place;
        let mut follower = Follower::begin(site, asked, id, from).map_err(told)?;
        follower.go(&have, out)
    };
    Ok(Answer::stream("text/event-stream", follow))
}

/// A failure where only one of writing can be told.
fn told(failure: Failure) -> io::Error {
    io::Error::other(failure.what())
}

impl Follower {
    fn begin(site: Site, asked: Asked, id: String, from: usize) -> Result<Self> {
        let app = site.app();
        let repo = site.repo(&app)?;
        let version = repo.as_ref().map(|repo| repo.version()).transpose()?;
        let (painted, known) = site.open(&id, |opened| look(opened, &asked, from))?;
        let file = painted.file.clone().or(known);
        let file = file.map(|file| {
            let stamp = ingest::stamp(&file).ok();
            (file, stamp)
        });
        Ok(Self {
            site,
            asked,
            id,
            from,
            repo,
            version,
            is_moved: false,
            file,
            painted,
        })
    }

    /// Tells what changes until nobody listens.
    fn go(&mut self, have: &str, out: &mut dyn Write) -> io::Result<()> {
        // The page may be older than what is there now.
        match self.painted.fragment.state() == have {
            true => send(out, "here", &self.painted.fragment.state())?,
            false => send(out, "whole", &Whole::of(&self.painted))?,
        }
        let (mut beaten, mut looked) = (Instant::now(), Instant::now());
        let (mut is_lost, mut is_again) = (false, false);
        while !self.site.is_over() {
            thread::sleep(POLL);
            if beaten.elapsed() > BEAT {
                beaten = Instant::now();
                out.write_all(b":\n\n")?;
                out.flush()?;
            }
            let is_written = self.is_written();
            let waits = is_again || is_lost || self.painted.is_open;
            let is_due = waits && looked.elapsed() > AGAIN;
            if !is_written && !is_due {
                continue;
            }
            looked = Instant::now();
            // Where it has not moved, something else was written, or something is being erased: who erases has the files
            // for himself meanwhile.
            if !is_due && self.tip().is_ok_and(|tip| tip == self.painted.tip) {
                is_again = true;
                continue;
            }
            is_again = false;
            match self.open(|opened| look(opened, &self.asked, self.from)) {
                Ok((painted, _)) => {
                    (is_lost, self.is_moved) = (false, false);
                    if self.tell(painted, out)? {
                        return Ok(());
                    }
                }
                Err(_) if is_lost => {}
                Err(failure) => {
                    is_lost = true;
                    send(out, "lost", &failure.what())?;
                }
            }
        }
        Ok(())
    }

    /// Does something with the conversation. What was read from a file is what it was, until the repository may hold it:
    /// by its name, it is looked for among all.
    fn open<T>(&self, act: impl FnOnce(&Opened<'_>) -> Result<T>) -> Result<T> {
        match &self.painted.file {
            Some(file) if !self.is_moved => self.site.open_file(&self.id, file, act),
            _ => self.site.open(&self.id, act),
        }
    }

    /// Where the conversation ends now: no connection is opened or closed for that, which would be in the way of who
    /// erases.
    fn tip(&self) -> Result<CommitHash> {
        if let (Some(repo), None) = (&self.repo, &self.painted.file) {
            return Ok(named(repo, &self.id)?.1);
        }
        self.open(|opened| Ok(opened.tip))
    }

    /// Whether anybody has written since it was asked last.
    fn is_written(&mut self) -> bool {
        let version = self.repo.as_ref().and_then(|repo| repo.version().ok());
        let is_moved = version != self.version;
        self.version = version;
        self.is_moved |= is_moved;
        let Some((file, known)) = &mut self.file else {
            return is_moved;
        };
        let stamp = ingest::stamp(file).ok();
        let is_grown = stamp != *known;
        *known = stamp;
        is_moved || is_grown
    }

    /// Tells what is new, if anything is; whether the page is to come anew.
    fn tell(&mut self, now: Painted, out: &mut dyn Write) -> io::Result<bool> {
        let is_same = now.fragment.state() == self.painted.fragment.state();
        if is_same && now.tip == self.painted.tip {
            self.painted = now;
            return Ok(false);
        }
        if let Some(words) = self.beyond(&now) {
            send(out, "anew", &words)?;
            return Ok(true);
        }
        let splices = self.painted.fragment.splices(&now.fragment);
        let change = Change {
            splices: &splices,
            have: now.fragment.state(),
        };
        send(out, "change", &change)?;
        self.painted = now;
        Ok(false)
    }

    /// What has happened, in words, where more has changed than what stands at the end.
    fn beyond(&self, now: &Painted) -> Option<String> {
        if now.tip == self.painted.tip {
            // Nothing came, and what stands there is another: it was erased, or a call waits no longer.
            let is_over = self.painted.is_open != now.is_open;
            return (!is_over).then(|| "what is here was erased".to_owned());
        }
        let moved =
            self.open(|opened| Ok(opened.repo.moved(Some(&self.painted.tip), Some(&now.tip))?));
        // What was read anew holds nothing of what was read before.
        let Some(moved) = moved.ok().filter(|moved| !moved.is_lost) else {
            return Some("it is another one now".to_owned());
        };
        if moved.gone == 0 && moved.changes.is_empty() {
            return None;
        }
        let tip = Some(now.tip);
        let lines = changes(&Step { tip, moved });
        let words: Vec<String> = lines.iter().map(tract::render::Line::text).collect();
        Some(words.join("  "))
    }
}

/// All that stands there.
#[derive(Serialize)]
struct Whole<'a> {
    html: &'a str,
    have: &'a str,
}

impl<'a> Whole<'a> {
    fn of(painted: &'a Painted) -> Self {
        Self {
            html: painted.fragment.html(),
            have: painted.fragment.state(),
        }
    }
}

/// The end of the conversation as it is now, and the file that its session came in from.
fn look(opened: &Opened<'_>, asked: &Asked, from: usize) -> Result<(Painted, Option<PathBuf>)> {
    let session = opened
        .name
        .as_ref()
        .filter(|name| name.as_session().is_some());
    let file = match (session, &opened.file) {
        (Some(session), None) => ingest::file_of(opened.repo, session)?,
        _ => None,
    };
    let painted = Painted::of(opened, asked, from)?;
    Ok((painted, file.map(|(path, _)| path)))
}

/// Sends an event.
fn send(out: &mut dyn Write, event: &str, data: &impl Serialize) -> io::Result<()> {
    let data = serde_json::to_string(data).map_err(io::Error::other)?;
    write!(out, "event: {event}\ndata: {data}\n\n")?;
    out.flush()
}
