//! What replies cost, row by row.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};

use crate::deeds::{ApiError, At};
use crate::hash::CommitHash;
use crate::ingest::{accounts, projects_of};
use crate::model::price::Prices;
use crate::query::{
    Bill, BillShare, BilledReply, Billing, MessageShare, OtherRequests, OthersOf, StatedCost,
    bills, bills_by_model,
};
use crate::repo::Repo;

use super::CostParams;
use super::blocks::blocks_of;
use super::groups::{CostBy, CostNames};
use super::row::{CostRow, TOTAL};

/// Requests that no reply shows.
pub(super) const OTHER_REQUESTS: &str = "(other requests)";

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
    /// What sub-agents came to that are on no path to the commit that is named, and in no sum.
    pub beside: Option<CostRow>,
    /// With `since` or `until`: what replies came to that have no time, and are in no sum.
    pub untimed: Option<CostRow>,
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

/// All that was billed, read once however often it is asked for.
struct AllReplies<'r> {
    repo: &'r Repo,
    prices: &'r Prices,
    read: OnceCell<Billing>,
}

impl AllReplies<'_> {
    fn get(&self) -> Result<&Billing, ApiError> {
        if self.read.get().is_none() {
            let _ = self.read.set(self.repo.billing(self.prices)?);
        }
        Ok(self.read.get().expect("set above"))
    }

    /// Those that are meant.
    fn wanted(
        &self,
        is_wanted: impl Fn(&BilledReply) -> bool,
    ) -> Result<Vec<BilledReply>, ApiError> {
        let wanted = self.get()?.replies.iter().filter(|reply| is_wanted(reply));
        Ok(wanted.cloned().collect())
    }
}

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
        let all = AllReplies {
            repo: at.repo,
            prices,
            read: OnceCell::new(),
        };
        let mut found = self.listed_rows(at, &all)?;
        let directory = self.directory(at);
        if self.is_of_all(at) {
            found.stated.clone_from(&all.get()?.stated);
        }
        let others = self.others(at, &mut found, &all)?;
        let mut total = Bill::of(&found.replies);
        total.plus(&others.bill);
        found.total = CostRow::of(TOTAL.to_owned(), &total);
        found.directory = directory.map(str::to_owned);
        found.elsewhere = (others.bill != Bill::default())
            .then(|| CostRow::of(OTHER_REQUESTS.to_owned(), &others.bill));
        found.unpriced_others = others.unpriced;
        if let Some(tip) = self.tip(at)? {
            let mut beside = at.repo.billed_agents_beside(&tip, prices)?;
            beside.retain(self.wanted(at)?);
            let row = CostRow::of("sub-agents".to_owned(), &Bill::of(&beside));
            found.beside = (!beside.is_empty()).then_some(row);
        }
        found.untimed = self.untimed(at, &all)?;
        if found.replies.is_empty() {
            found.away = self.away_of(at, &all)?;
        }
        Ok(found)
    }

    /// The requests that no reply shows of the sessions whose replies are all meant; says of others that they are left out.
    fn others(
        &self,
        at: &At<'_>,
        found: &mut CostList,
        all: &AllReplies<'_>,
    ) -> Result<OtherRequests, ApiError> {
        let meant = found.replies.iter().map(|reply| reply.commit);
        let meant: HashSet<CommitHash> = meant.collect();
        let is_meant = |reply: &BilledReply| meant.contains(&reply.commit);
        let of = match self.is_of_all(at) {
            true => OthersOf::All,
            false if self.rev.is_some() => OthersOf::None(&is_meant),
            false if self.directory(at).is_none() => OthersOf::OfTime(&is_meant),
            false => OthersOf::Whole(&is_meant),
        };
        let (others, is_without) = all.get()?.other_requests(of);
        found.is_without_others = is_without;
        Ok(others)
    }

    /// What replies without a time come to, where those of some time are meant.
    fn untimed(&self, at: &At<'_>, all: &AllReplies<'_>) -> Result<Option<CostRow>, ApiError> {
        if self.since.is_none() && self.until.is_none() {
            return Ok(None);
        }
        let always = Self {
            since: None,
            until: None,
            ..self.clone()
        };
        let is_of = always.wanted(at)?;
        let is_untimed = |reply: &BilledReply| reply.time.is_none() && is_of(reply);
        let replies = match self.tip(at)? {
            None => all.wanted(is_untimed)?,
            Some(tip) => {
                let mut replies = at.repo.billed(Some(&tip), all.prices)?;
                replies.retain(is_untimed);
                replies
            }
        };
        let row = || CostRow::of("untimed".to_owned(), &Bill::of(&replies));
        Ok((!replies.is_empty()).then(row))
    }

    /// Whether all replies are meant.
    fn is_of_all(&self, at: &At<'_>) -> bool {
        let is_of_all_times = self.since.is_none() && self.until.is_none();
        self.rev.is_none() && is_of_all_times && self.directory(at).is_none()
    }

    /// The directories that have replies in that time, the one with most first, where it is of one directory alone.
    ///
    /// # Errors
    ///
    /// Where `since` or `until` are none; the store's.
    pub fn away(&self, at: &At<'_>, prices: &Prices) -> Result<Vec<CostRow>, ApiError> {
        let all = AllReplies {
            repo: at.repo,
            prices,
            read: OnceCell::new(),
        };
        self.away_of(at, &all)
    }

    fn away_of(&self, at: &At<'_>, all: &AllReplies<'_>) -> Result<Vec<CostRow>, ApiError> {
        if self.directory(at).is_none() {
            return Ok(Vec::new());
        }
        let everywhere = Self {
            all: true,
            ..self.clone()
        };
        let replies = all.wanted(everywhere.wanted(at)?)?;
        let rows = bills(&replies, |it| it.directory.clone().unwrap_or_default());
        let rows = rows.into_iter();
        let mut rows: Vec<CostRow> = rows.map(|(name, bill)| CostRow::of(name, &bill)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.replies));
        Ok(rows)
    }

    fn listed_rows(&self, at: &At<'_>, all: &AllReplies<'_>) -> Result<CostList, ApiError> {
        let prices = all.prices;
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
            let replies = match &tip {
                None => all.wanted(is_wanted)?,
                Some(tip) => {
                    let mut replies = at.repo.billed(Some(tip), prices)?;
                    replies.retain(is_wanted);
                    replies
                }
            };
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
        let left = match by.is_time() {
            // The newest, in the order of time.
            true => {
                let older = rows.len().saturating_sub(self.listed());
                let newest = rows.split_off(older);
                std::mem::replace(&mut rows, newest)
            }
            false => rows.split_off(self.listed().min(rows.len())),
        };
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
