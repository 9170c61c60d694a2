//! What the session has cost, and what sending the next message will.
//!
//! Only for those who ask: it takes a walk over the path, and a list of prices that takes its time to be read.

use tract::model::Usage;
use tract::query::{Bill, ProviderSays, Status};
use tract::render::plural;
use tract::repo::Repo;

use crate::cli::drawing::prices;
use crate::cli::{App, Result};

/// The columns of the names.
const NAME_COLS: usize = 17;

/// Says it below the status, where a provider counted any reply.
pub fn tell(app: &mut App, repo: &Repo, status: &Status) -> Result<()> {
    let Some(tip) = status.head.commit() else {
        return Ok(());
    };
    if matches!(status.provider, ProviderSays::Nothing) {
        return Ok(());
    }
    let (prices, list) = prices::prices(repo, app)?;
    let replies = repo.billed_session(&tip, &prices)?;
    if replies.is_empty() {
        return Ok(());
    }
    let bill = Bill::of(&replies);
    let so_far = prices::cost_of(&bill);
    let mut rows = vec![(
        "so far",
        format!("{so_far} for {}", plural(bill.replies, "reply")),
    )];
    // What is sent next is the newest reply's request, and what has come since.
    if let ProviderSays::Counts { usage, .. } = &status.provider
        && let served = repo.served_at(&tip)?
        && let Some(served) = served.served()
    {
        let tokens = status.provider.total(status.total).tokens;
        let now = Some(app.now());
        let of = |usage: Usage| prices.of(served, &usage, now).map(prices::money);
        let said = match (of(warm(usage, tokens)), of(cold(usage, tokens))) {
            (Some(warm), Some(cold)) if usage.cached_tokens + usage.written_tokens > 0 => {
                Some(format!("{warm} with a warm cache, {cold} with a cold one"))
            }
            (_, Some(cold)) => Some(cold),
            _ => None,
        };
        rows.extend(said.map(|said| ("the next message", said + ", and the reply")));
    }
    rows.extend(
        prices::untiered(&replies, &prices)
            .into_iter()
            .map(|said| ("", said)),
    );
    let ui = &mut app.ui;
    ui.heading("What it costs")?;
    for (name, said) in rows {
        ui.print_wrapped(format!("  {name:NAME_COLS$}{said}"))?;
    }
    let list = format!(
        "  {:NAME_COLS$}API-equivalent, by list prices of {list}",
        ""
    );
    Ok(ui.print_wrapped(list)?)
}

/// Where all that the newest request sent is in the cache still.
fn warm(newest: &Usage, tokens: u64) -> Usage {
    let cached = newest.input_tokens.min(tokens);
    written(newest, tokens, cached)
}

/// Where nothing is.
fn cold(newest: &Usage, tokens: u64) -> Usage {
    written(newest, tokens, 0)
}

/// So much input of which so much is cached, and the rest written as the newest request wrote it, if it did.
fn written(newest: &Usage, tokens: u64, cached: u64) -> Usage {
    let rest = if newest.written_tokens > 0 {
        tokens - cached
    } else {
        0
    };
    let hour = if newest.written_hour_tokens > 0 {
        rest
    } else {
        0
    };
    Usage {
        written_hour_tokens: hour,
        ..Usage::new(tokens, 0).cached(cached, rest)
    }
}
