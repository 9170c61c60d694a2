//! What messages and tools have cost, by their shares of the requests in which they were sent.

use tract::model::Encoding;
use tract::query::{Bearer, BillShare, MessageShare, Shares};
use tract::render::{Label, Line, row};
use tract::repo::Repo;

use super::{Row, others_of};
use crate::cli::Result;
use crate::cli::billed::REST;
use crate::cli::prices::cost_of;

/// The most expensive messages, as they are listed.
pub fn by_message(repo: &Repo, shares: &Shares, limit: usize) -> Result<Vec<Row>> {
    let mut messages = shares.messages.clone();
    messages.sort_by(|a, b| by_cost(&a.share, &b.share));
    let others = messages.split_off(limit.min(messages.len()));
    let told = repo.shared_messages(&messages)?;
    let rows = messages.iter().zip(told).map(|(one, (said, call))| {
        let head = Label::Hash.of(name(one)) + "  " + Label::role(said.role).of(said.role.as_str());
        Row {
            more: row::said(call.as_deref(), &said.preview, None),
            ..of(head, Some(one.share.requests()), &one.share)
        }
    });
    let mut rows: Vec<Row> = rows.collect();
    if !others.is_empty() {
        let sum = sum(others.iter().map(|one| &one.share));
        rows.push(of(others_of(others.len()), None, &sum));
    }
    if shares.rest != BillShare::default() {
        let requests = Some(shares.rest.requests());
        rows.push(of(REST.into(), requests, &shares.rest));
    }
    Ok(rows)
}

/// The tools whose results cost most.
pub fn by_tool(
    repo: &Repo,
    shares: &Shares,
    encoding: Encoding,
    limit: usize,
) -> Result<Vec<Row>> {
    let found = repo.shares_by_tool(shares, encoding)?;
    let mut found: Vec<(Bearer, (u64, BillShare))> = found.into_iter().collect();
    found.sort_by(|(_, (_, a)), (_, (_, b))| by_cost(a, b));
    let others = found.split_off(limit.min(found.len()));
    let mut rows: Vec<Row> = found
        .iter()
        .map(|(bearer, (messages, share))| match bearer {
            Bearer::Tool(name) if name.is_empty() => {
                of("(results without a call)".into(), Some(*messages), share)
            }
            Bearer::Tool(name) => of(Label::Tool.quote(name), Some(*messages), share),
            Bearer::Messages => of("(other messages)".into(), Some(*messages), share),
            Bearer::Rest => of(REST.into(), None, share),
        })
        .collect();
    if !others.is_empty() {
        let sum = sum(others.iter().map(|(_, (_, share))| share));
        rows.push(of(others_of(others.len()), None, &sum));
    }
    Ok(rows)
}

/// The most expensive first; where nobody knows a price, the one of most tokens.
fn by_cost(a: &BillShare, b: &BillShare) -> std::cmp::Ordering {
    let tokens = |share: &BillShare| share.usage().input_tokens;
    let dearer = b.dollars().total_cmp(&a.dollars());
    dearer.then_with(|| tokens(b).cmp(&tokens(a)))
}

fn sum<'s>(shares: impl Iterator<Item = &'s BillShare>) -> BillShare {
    let mut sum = BillShare::default();
    shares.for_each(|share| sum.add(share));
    sum
}

/// A message as other commands take it: one of several that a hide put in place has a number.
fn name(one: &MessageShare) -> String {
    let commit = one.entry.commit.short().to_string();
    match one.entry.index {
        Some(index) => format!("{commit}#{index}"),
        None => commit,
    }
}

fn of(head: Line, count: Option<u64>, share: &BillShare) -> Row {
    Row {
        head,
        count,
        usage: share.usage(),
        cost: cost_of(share.dollars(), share.unpriced(), share.requests()),
        more: Line::new(),
    }
}
