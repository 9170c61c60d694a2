//! Which replies are meant: those of a directory, on a path, of some time.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::CostParams;
use crate::deeds::{ApiError, At, Spelled, WrittenTime};
use crate::hash::CommitHash;
use crate::ingest::project_of;
use crate::model::price::Prices;
use crate::query::BilledReply;
use crate::render::calendar::Edge;

/// A directory whose replies are meant.
struct Here {
    project: String,
    /// The replies that its HEAD leads to.
    led_to: HashSet<CommitHash>,
    /// Whether directories are of it that were asked for.
    known: RefCell<HashMap<String, bool>>,
}

impl Here {
    fn has(&self, reply: &BilledReply) -> bool {
        let is_here = |directory: &String| {
            let mut known = self.known.borrow_mut();
            let is_known = known.get(directory).copied();
            is_known.unwrap_or_else(|| {
                let is_here = project_of(directory) == self.project;
                known.insert(directory.clone(), is_here);
                is_here
            })
        };
        self.led_to.contains(&reply.commit) || reply.directory.as_ref().is_some_and(is_here)
    }
}

impl CostParams {
    /// The commit on whose path replies count, where one is named.
    pub(super) fn tip(&self, at: &At<'_>) -> Result<Option<CommitHash>, ApiError> {
        self.rev
            .as_deref()
            .map(|rev| at.resolve(Some(rev)))
            .transpose()
    }

    /// Which replies count, by their time.
    pub(super) fn wanted(
        &self,
        at: &At<'_>,
    ) -> Result<impl Fn(&BilledReply) -> bool + use<>, ApiError> {
        let here = self.here(at)?;
        let calendar = at.calendar();
        let read = |time: &Option<Spelled<WrittenTime>>, edge| {
            let time = time.as_ref().map(|time| time.0.read(&calendar, edge));
            time.transpose()
        };
        let since = read(&self.since, Edge::Start)?;
        let until = read(&self.until, Edge::End)?;
        Ok(move |reply: &BilledReply| {
            if here.as_ref().is_some_and(|here| !here.has(reply)) {
                return false;
            }
            let is_after = since.is_none_or(|since| reply.time.is_some_and(|time| time >= since));
            is_after && until.is_none_or(|until| reply.time.is_some_and(|time| time <= until))
        })
    }

    /// The directory of which it is alone: of the one whose HEAD this is, where each has its own.
    pub fn directory<'r>(&self, at: &At<'r>) -> Option<&'r str> {
        let is_narrow = self.rev.is_none() && !self.all;
        at.repo.seat().filter(|_| is_narrow)
    }

    fn here(&self, at: &At<'_>) -> Result<Option<Here>, ApiError> {
        let Some(directory) = self.directory(at) else {
            return Ok(None);
        };
        let led_to = match at.repo.head(&at.on)?.commit() {
            Some(tip) => at.repo.billed(Some(&tip), &Prices::none())?,
            None => Vec::new(),
        };
        Ok(Some(Here {
            project: project_of(directory),
            led_to: led_to.into_iter().map(|reply| reply.commit).collect(),
            known: RefCell::default(),
        }))
    }
}
