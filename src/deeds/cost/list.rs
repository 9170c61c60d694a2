//! What replies cost, row by row.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::deeds::{ApiError, At};
use crate::hash::CommitHash;
use crate::ingest::{accounts, projects_of};
use crate::model::RefName;
use crate::model::price::Prices;
use crate::query::{
    Bill, BillShare, BilledReply, MessageShare, OtherRequests, StatedCost, bills, bills_by_model,
};

use super::CostParams;
use super::blocks::blocks_of;
use super::grouping::{CostBy, CostNames};
use super::row::{CostRow, TOTAL};

/// Requests that no reply shows.
const OTHER_REQUESTS: &str = "(other requests)";

/// What replies cost, row by row.
#[derive(Default)]
pub struct CostList {
    /// The rows, the dearest first; days, weeks and months in their order.
    pub rows: Vec<CostRow>,
    /// What was no message in what messages are told of: it stands behind them, whatever the limit.
    pub rest: Option<CostRow>,
    /// What the rows come to that the limit leaves out, and how many they are.
    pub others: Option<(CostRow, usize)>,
    /// Requests that no reply shows, where all count and their client says what they came to.
    pub elsewhere: Option<CostRow>,
    /// What clients say that their sessions cost, where all count and the list says otherwise.
    pub stated: Vec<StatedCost>,
    /// All of it.
    pub total: CostRow,
    /// The replies that they are of.
    pub replies: Vec<BilledReply>,
    /// The directory of which it is alone.
    pub directory: Option<String>,
    /// Whether there are other requests that are left out: of their sessions only some replies are meant, and nobody says
    /// when they were made, or behind which reply.
    pub is_without_others: bool,
    /// The tokens of other requests that have no price, by model. Hostile until escaped.
    pub unpriced_others: BTreeMap<String, u64>,
    /// Where no reply is meant: the directories that have some in that time, the one with most replies first.
    pub away: Vec<CostRow>,
}

/// How many messages or misses are told where nobody says how many.
pub(super) const MESSAGES: usize = 20;

impl CostParams {
    /// How many rows are told; the rest are one.
    fn listed(&self) -> usize {
        match (self.limit, self.by()) {
            (Some(0), _) => usize::MAX,
            (Some(limit), _) => limit,
            (None, CostBy::Message) => MESSAGES,
            (None, _) => usize::MAX,
        }
    }

    /// What they cost, row by row.
    ///
    /// # Errors
    ///
    /// Where `rev`, `since` or `until` are none; the store's.
    pub fn table(&self, at: &At<'_>, prices: &Prices) -> Result<CostList, ApiError> {
        let mut found = self.listed_rows(at, prices)?;
        let is_all = self.rev.is_none() && self.since.is_none() && self.until.is_none();
        let directory = self.directory(at);
        if is_all && directory.is_none() {
            found.stated = at.repo.stated_costs(&found.replies, prices)?;
        }
        let others = self.others(at, &mut found, prices)?;
        let mut total = Bill::of(&found.replies);
        total.plus(&others.bill);
        found.total = CostRow::of(TOTAL.to_owned(), &total);
        found.directory = directory.map(str::to_owned);
        found.elsewhere = (others.bill != Bill::default())
            .then(|| CostRow::of(OTHER_REQUESTS.to_owned(), &others.bill));
        found.unpriced_others = others.unpriced;
        if found.replies.is_empty() {
            found.away = self.away(at, prices)?;
        }
        Ok(found)
    }

    /// The requests that no reply shows of the sessions whose replies are all meant; says of others that they are left out.
    fn others(
        &self,
        at: &At<'_>,
        found: &mut CostList,
        prices: &Prices,
    ) -> Result<OtherRequests, ApiError> {
        let is_all = self.rev.is_none() && self.since.is_none() && self.until.is_none();
        if is_all && self.directory(at).is_none() {
            return Ok(at.repo.other_requests(&found.replies, &|_| true, prices)?);
        }
        let all = at.repo.billed(None, prices)?;
        let meant = found.replies.iter().map(|reply| reply.commit);
        let meant: HashSet<CommitHash> = meant.collect();
        // Of each session, and each part of one: whether some of its replies are meant, and whether all are.
        let mut sessions: HashMap<String, (bool, bool)> = HashMap::new();
        for reply in &all {
            let is_meant = meant.contains(&reply.commit);
            let whole = CostBy::Session.session_of(reply);
            let part = CostBy::Agent
                .session_of(reply)
                .filter(|it| Some(it) != whole.as_ref());
            for name in whole.into_iter().chain(part) {
                let (some, every) = sessions.entry(name).or_insert((false, true));
                *some |= is_meant;
                *every &= is_meant;
            }
        }
        let of = |name: &RefName| sessions.get(name.as_str()).copied();
        // A path may end anywhere in a session.
        let is_path = self.rev.is_some();
        let is_whole = |name: &RefName| !is_path && of(name) == Some((true, true));
        let is_part = |name: &RefName| of(name).is_some_and(|it| it.0) && !is_whole(name);
        let left_out = at.repo.other_requests(&all, &is_part, prices)?;
        found.is_without_others = left_out != OtherRequests::default();
        Ok(at.repo.other_requests(&all, &is_whole, prices)?)
    }

    /// The directories that have replies in that time, the one with most first, where it is of one directory alone.
    ///
    /// # Errors
    ///
    /// Where `since` or `until` are none; the store's.
    pub fn away(&self, at: &At<'_>, prices: &Prices) -> Result<Vec<CostRow>, ApiError> {
        if self.directory(at).is_none() {
            return Ok(Vec::new());
        }
        let mut replies = at.repo.billed(None, prices)?;
        let all = Self {
            all: true,
            ..self.clone()
        };
        replies.retain(all.wanted(at)?);
        let rows = bills(&replies, |it| it.directory.clone().unwrap_or_default());
        let rows = rows.into_iter();
        let mut rows: Vec<CostRow> = rows.map(|(name, bill)| CostRow::of(name, &bill)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.replies));
        Ok(rows)
    }

    fn listed_rows(&self, at: &At<'_>, prices: &Prices) -> Result<CostList, ApiError> {
        let (tip, is_wanted, by) = (self.tip(at)?, self.wanted(at)?, self.by());
        if by == CostBy::Message {
            return self.messages(at, tip.as_ref(), prices, &is_wanted);
        }
        let (mut rows, replies) = if by == CostBy::Tool {
            let encoding = at.encoding()?;
            let shares = at.repo.shares(tip.as_ref(), prices, encoding, &is_wanted)?;
            let rows = at.repo.shares_by_tool(&shares, encoding)?.into_iter();
            let rows = rows.map(|(bearer, found)| CostRow::of_bearer(bearer, found));
            (rows.collect::<Vec<_>>(), shares.replies)
        } else {
            let mut replies = at.repo.billed(tip.as_ref(), prices)?;
            replies.retain(is_wanted);
            let calendar = at.calendar();
            let directories = replies
                .iter()
                .filter_map(|reply| reply.directory.as_deref());
            let mut names = CostNames::default();
            match by {
                CostBy::Project => names.projects = projects_of(directories),
                CostBy::Account => names.accounts = accounts(at.repo)?,
                CostBy::Block => names.blocks = blocks_of(&replies, &calendar),
                _ => {}
            }
            let found = match by {
                CostBy::Model => {
                    bills_by_model(&replies, |model| model.unwrap_or_default().to_owned())
                }
                by => bills(&replies, |reply| names.word(reply, by, &calendar)),
            };
            let rows = found.into_iter();
            let rows = rows.map(|(name, bill)| CostRow::of(name, &bill));
            (rows.collect(), replies)
        };
        if !by.is_time() {
            rows.sort_by(CostRow::by_cost);
        }
        let left = rows.split_off(self.listed().min(rows.len()));
        if matches!(by, CostBy::Session | CostBy::Agent) {
            let mut titles = at.repo.session_titles()?;
            for row in &mut rows {
                row.title = titles.remove(&row.name);
            }
        }
        Ok(CostList {
            others: CostRow::others(&left),
            rest: None,
            rows,
            replies,
            ..CostList::default()
        })
    }

    fn messages(
        &self,
        at: &At<'_>,
        tip: Option<&CommitHash>,
        prices: &Prices,
        is_wanted: &dyn Fn(&BilledReply) -> bool,
    ) -> Result<CostList, ApiError> {
        let mut shares = at.repo.shares(tip, prices, at.encoding()?, is_wanted)?;
        let all = std::mem::take(&mut shares.messages).into_iter();
        let row = |one: &MessageShare| CostRow::shared(one.entry.to_string(), &one.share);
        let mut all: Vec<(CostRow, MessageShare)> = all.map(|one| (row(&one), one)).collect();
        all.sort_by(|(a, _), (b, _)| a.by_cost(b));
        let left = all.split_off(self.listed().min(all.len()));
        let left: Vec<CostRow> = left.into_iter().map(|(row, _)| row).collect();
        let (rows, listed): (Vec<CostRow>, Vec<MessageShare>) = all.into_iter().unzip();
        let told = at.repo.shared_messages(&listed)?;
        let rows = rows.into_iter().zip(told);
        let rows = rows.map(|(row, (said, call))| CostRow {
            role: Some(said.role.as_str()),
            preview: Some(said.preview),
            call,
            ..row
        });
        let rest = (shares.rest != BillShare::default())
            .then(|| CostRow::shared(CostRow::REST.to_owned(), &shares.rest));
        Ok(CostList {
            others: CostRow::others(&left),
            rows: rows.collect(),
            rest,
            replies: shares.replies,
            ..CostList::default()
        })
    }
}
