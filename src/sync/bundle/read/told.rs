//! What a bundle tells of commits and sessions beside their objects. What is known here stays, and of what was here nobody
//! else tells.

use super::{SHORT, Taken, broken, hash, number, session_name, words};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::model::{Millis, RefName, StatedUsage, UsageDetail};
use crate::repo::ancestry::leads_to;
use crate::repo::load;
use crate::store::{OriginRow, ResumeRow, SessionRow};

impl Taken<'_> {
    /// Writes who wrote a message, where the message is new: nobody else tells of what was here.
    pub(super) fn injected(&mut self, rest: &str) -> Result<()> {
        let commit = self.own(rest)?;
        match self.new.contains(&commit) {
            true => self.tx.put_injected(&commit),
            false => Ok(()),
        }
    }

    /// Writes what a usage record says beyond tokens, where nothing is known of that here.
    pub(super) fn usage_detail(&mut self, rest: &str) -> Result<()> {
        let (commit, text) = rest.split_once(' ').ok_or_else(|| broken(SHORT))?;
        let commit = self.own(commit)?;
        let detail = UsageDetail::from_text(text);
        let detail = detail.ok_or_else(|| broken("a usage that is none"))?;
        if self.tx.usage_details(&[commit])?.is_empty() {
            self.tx.put_usage_detail(&commit, &detail)?;
        }
        Ok(())
    }

    pub(super) fn session(&mut self, rest: &str) -> Result<()> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Known {
            title: Option<String>,
            cwd: Option<String>,
            absent: Vec<String>,
        }
        let (name, known) = rest.split_once(' ').ok_or_else(|| broken(SHORT))?;
        let name = session_name(name)?;
        let known: Known = serde_json::from_str(known).map_err(broken)?;
        let mut of = self.sources.iter().filter(|source| source.session == name);
        let is_taken = of.clone().any(|source| source.id.is_some());
        if of.next().is_none() {
            return Err(broken("it says something of a session that is not in it"));
        }
        if !is_taken || self.done.erased > 0 || self.tx.session(&name)?.is_some() {
            return Ok(());
        }
        let row = SessionRow {
            title: known.title,
            cwd: known.cwd,
            absent: known.absent,
        };
        self.tx.put_session(&name, &row)
    }

    /// What `resume` wrote where the bundle was made, of a commit that is in it, or needed by it. What is known here stays.
    pub(super) fn resumed(&mut self, rest: &str) -> Result<()> {
        let [name, commit, messages, digest] = words(rest)?;
        let name = session_name(name)?;
        let (tool, id) = name.as_session().ok_or_else(|| broken(SHORT))?;
        let digest: ContentHash = hash(digest)?;
        let row = ResumeRow {
            commit: hash(commit)?,
            messages: number(messages)?,
            digest: *digest.as_bytes(),
        };
        let is_named = self.commits.contains_key(&row.commit) || self.needs.contains(&row.commit);
        if !self.sources.is_empty() || !is_named {
            return Err(broken(
                "a session was resumed from a commit that is not there",
            ));
        }
        if self.tx.resumed(tool, id)?.is_some() {
            return Ok(());
        }
        self.tx.put_resumed(tool, id, &row)
    }

    /// What the file of a session begins with. Where the file is here, that tells.
    pub(super) fn origin(&mut self, rest: &str) -> Result<()> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Told {
            began: Option<Millis>,
            copied_from: Option<RefName>,
            source: Option<u64>,
        }
        let (name, goes_on, told) = self.of_session(rest)?;
        let told: Told = serde_json::from_str(told).map_err(broken)?;
        let from = told.copied_from.as_ref().map(RefName::as_str);
        from.map(session_name).transpose()?;
        if told.source.is_some_and(|it| i64::try_from(it).is_err()) {
            return Err(broken("a number that is none"));
        }
        let is_known = !self.tx.sources(&name)?.is_empty() || self.tx.origin(&name)?.is_some();
        if is_known || !goes_on {
            return Ok(());
        }
        let origin = OriginRow {
            source: told.source,
            began: told.began,
            copied_from: told.copied_from,
        };
        self.tx.put_origin(&name, &origin)
    }

    /// Which session started another. Where that one's file is here, it tells.
    pub(super) fn starter(&mut self, rest: &str) -> Result<()> {
        let (name, goes_on, starter) = self.of_session(rest)?;
        let starter = session_name(starter)?;
        match goes_on && self.tx.sources(&name)?.is_empty() {
            true => self.tx.put_starter(&name, &starter),
            false => Ok(()),
        }
    }

    /// What a client says that all requests of a session came to, where it says more than is known here: a session grows.
    pub(super) fn stated(&mut self, rest: &str) -> Result<()> {
        let (name, goes_on, says) = self.of_session(rest)?;
        let says = StatedUsage::from_text(says);
        let says = says.ok_or_else(|| broken("a usage that is none"))?;
        let known = self.tx.stated_usage_of(&name)?;
        match goes_on && known.is_none_or(|known| known.tokens() < says.tokens()) {
            true => self.tx.put_stated_usage(&name, &says),
            false => Ok(()),
        }
    }

    /// A session that ends in the bundle, whether its end is new here and goes on from where it is, and what is said of it:
    /// of what was here nobody else tells.
    fn of_session<'t>(&self, rest: &'t str) -> Result<(RefName, bool, &'t str)> {
        let mut parts = rest.splitn(3, ' ');
        let mut next = || parts.next().ok_or_else(|| broken(SHORT));
        let (name, commit, told) = (session_name(next()?)?, self.own(next()?)?, next()?);
        let goes_on = match load::tip(self.tx, &name)? {
            Some(here) => leads_to(self.tx, &here, &commit)?,
            None => true,
        };
        Ok((name, goes_on && self.new.contains(&commit), told))
    }
}
