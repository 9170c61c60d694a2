//! Which replies are meant: those of a directory, on a path, of some time.

use super::CostParams;
use crate::deeds::here::Here;
use crate::deeds::{ApiError, At, Spelled, WrittenTime};
use crate::hash::CommitHash;
use crate::query::BilledReply;
use crate::render::calendar::Edge;

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
        let here = Here::of(at, self.directory(at))?;
        let calendar = at.calendar();
        let read = |time: &Option<Spelled<WrittenTime>>, edge| {
            let time = time.as_ref().map(|time| time.0.read(&calendar, edge));
            time.transpose()
        };
        let since = read(&self.since, Edge::Start)?;
        let until = read(&self.until, Edge::End)?;
        Ok(move |reply: &BilledReply| {
            let is_of = |here: &Here| here.has(&reply.commit, reply.directory.as_ref());
            if here.as_ref().is_some_and(|here| !is_of(here)) {
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
}
