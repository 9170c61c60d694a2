//! What people are told of a provider's cache: whether it still has the context, and what a change costs there.

use tract::hash::CommitHash;
use tract::model::Usage;
use tract::query::{CacheUse, ChangedPrefix};
use tract::render::plural;
use tract::repo::Repo;
use tract::rewrite::{Size, Surgery};

use crate::cli::drawing::prices::{money, prices};
use crate::cli::{App, Result};

/// `50 s`, `7 min`, `3 h`, `2 days`.
pub fn duration(millis: i64) -> String {
    let seconds = millis / 1_000;
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    match (minutes, hours) {
        (0, _) => format!("{seconds} s"),
        (..60, _) => format!("{minutes} min"),
        (_, 1) => "1 hour".to_owned(),
        (_, ..48) => format!("{hours} hours"),
        _ => format!("{} days", hours / 24),
    }
}

/// The last use of the provider's cache on the path to a commit, where the newest reply was counted with one.
fn last_use(repo: &Repo, tip: &CommitHash, app: &App) -> Result<Option<CacheUse>> {
    let last = repo.cache_use(tip, app.now())?;
    Ok(last.filter(CacheUse::has_cache))
}

/// `cold: the newest reply is 3 days old, and the cache lasts 5 min`.
pub fn state(repo: &Repo, tip: &CommitHash, app: &App) -> Result<Option<String>> {
    let said = last_use(repo, tip, app)?.map(|last| {
        let state = if last.is_cold() { "cold" } else { "warm" };
        let (age, life) = (duration(last.age_ms), duration(last.life_ms()));
        format!("{state}: the newest reply is {age} old, and the cache lasts {life}")
    });
    Ok(said)
}

/// What a change costs at the next request, when it has paid for itself, and which of several ways is the cheapest.
pub fn foretell(
    app: &mut App,
    repo: &Repo,
    (command, surgery): (&str, &Surgery),
    gentler: &[(&str, &Surgery)],
) -> Result<()> {
    let Some(tip) = repo.head(&app.on()?)?.commit() else {
        return Ok(());
    };
    let Some(last) = last_use(repo, &tip, app)? else {
        return Ok(());
    };
    let (prices, list) = prices(repo, app)?;
    let is_hour = last
        .usage
        .is_some_and(|usage| usage.written_hour_tokens > 0);
    let now = app.now();
    let served = repo.served_at(&tip)?;
    let price = |read: u64, written: u64| {
        let usage = Usage {
            written_hour_tokens: if is_hour { written } else { 0 },
            ..Usage::new(read + written, 0).cached(read, written)
        };
        prices.of(served.served()?, &usage, Some(now))
    };
    let changed = changed(surgery, &last);
    let tokens = plural(changed.written_tokens(), "token");
    let state = if last.is_cold() { "cold" } else { "warm" };
    let mut line = format!("Next      request ({state} cache): {tokens} written");
    let payback = changed.payback(price);
    if let Some(payback) = payback {
        line += &match payback.next {
            next if next > 0.0 => format!(", {} dearer", money(next)),
            next if next < 0.0 => format!(", {} cheaper", money(-next)),
            _ => ", at the same price".to_owned(),
        };
        line += &match payback.replies {
            Some(1) => String::new(),
            Some(replies) => format!("; cheaper in all after {}", plural(replies.into(), "reply")),
            None => "; costs more for at least 20 replies".to_owned(),
        };
    }
    app.ui.print_wrapped(line)?;
    let ways = [(command, surgery)].into_iter();
    let ways = ways.chain(gentler.iter().copied());
    let over = ways.filter_map(|(name, surgery)| {
        let payback = self::changed(surgery, &last).payback(price)?;
        Some((name, payback.twenty))
    });
    let over: Vec<(&str, f64)> = over.collect();
    let cheapest = over.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let Some((cheapest, saved)) = cheapest else {
        app.ui
            .notice("the model has no price: tract cost --by model");
        return Ok(());
    };
    let said = over.iter().map(|(name, saved)| match *saved {
        saved if saved < 0.0 => format!("{name} costs {}", money(-saved)),
        saved => format!("{name} saves {}", money(saved)),
    });
    let cheapest = if *saved < 0.0 { "no change" } else { cheapest };
    let said = said.collect::<Vec<_>>().join("; ");
    app.ui.print_wrapped(format!(
        "          over the next 20 replies {said}; cheapest: {cheapest}"
    ))?;
    app.ui.notice(format!("list prices of {list}"));
    Ok(())
}

/// A change in the tokens of the provider.
fn changed(surgery: &Surgery, last: &CacheUse) -> ChangedPrefix {
    let counted = |size: Size| surgery.provider.total(size.tokens).tokens;
    ChangedPrefix {
        before_tokens: counted(surgery.before),
        kept_tokens: counted(surgery.kept),
        after_tokens: counted(surgery.after),
        is_cold: last.is_cold(),
    }
}
