//! How tokens are counted: by tract, and by the provider, as far as its replies tell.

use tract::model::tokens::Counter;
use tract::query::{ProviderSays, Status, shape_sent};
use tract::render::{grouped, plural, tokens};
use tract::repo::Repo;

use crate::cli::drawing::outcome;
use crate::cli::{Result, Ui};

/// The columns of the names.
const NAME_COLS: usize = 17;

/// Says it below the status.
pub fn tell(status: &Status, repo: &Repo, ui: &mut Ui) -> Result<()> {
    ui.heading("How tokens are counted")?;
    let counter = Counter::of(status.encoding);
    let shape = match status.head.commit() {
        Some(tip) => shape_sent(repo, &tip, &counter)?,
        None => None,
    };
    let ours = format!("{} ({})", tokens(status.total), status.encoding);
    let mut rows = vec![("by tract", ours), ("by the provider", provider(status))];
    if let Some(shape) = &shape {
        let (system, tools) = (grouped(shape.system), grouped(shape.tools));
        let count = plural(shape.tool_count, "tool");
        rows.push(("system prompt", format!("{system}, as it was sent")));
        rows.push((
            "definitions",
            format!("{tools} of {count}, as they were sent"),
        ));
    }
    let absent = status.session.as_ref().map(|(_, session)| &session.absent);
    if let Some(absent) = absent.filter(|_| shape.is_none() && counts_more(status)) {
        let absent = absent.join(", ");
        if !absent.is_empty() {
            rows.push(("not in the file", absent));
        }
    }
    for (name, said) in rows {
        ui.print_wrapped(format!("  {name:NAME_COLS$}{said}"))?;
    }
    Ok(())
}

/// The least and the most that the provider may count, where these are not nearly the same.
pub fn spread(status: &Status) -> Option<(u64, u64)> {
    outcome::apart(status.provider.range(status.total))
}

/// Whether the provider counts what no message holds.
fn counts_more(status: &Status) -> bool {
    status.provider.count().is_some_and(|count| count.of(0) > 0)
}

/// What the provider counts, and how that was learnt.
fn provider(status: &Status) -> String {
    let total = grouped(status.provider.total(status.total).tokens);
    match &status.provider {
        ProviderSays::Nothing => "not known: no reply says it".to_owned(),
        ProviderSays::NothingSince => {
            "not known: its counts are from before the newest hide or edit".to_owned()
        }
        ProviderSays::NoCount => {
            "not known: the replies say zero, or more than any context has".to_owned()
        }
        ProviderSays::Before(count) => {
            let counted = outcome::counted(count);
            let total = match spread(status) {
                Some((low, high)) => format!("{} to {}", grouped(low), grouped(high)),
                None => format!("about {total}"),
            };
            format!("{total}: {counted}, as before the newest hide or edit")
        }
        ProviderSays::Counts { count, .. } if count.is_fitted() => {
            let percent = |error: f64| format!(" ±{:.0}%", (error * 100.0).ceil().max(1.0));
            let error = count.error.map(percent).unwrap_or_default();
            let replies = plural(count.replies as u64, "reply");
            let counted = outcome::counted(count);
            format!("{total}{error}: {counted}, fitted to {replies}")
        }
        ProviderSays::Counts {
            count,
            number,
            usage,
        } => {
            let (counted, more) = (grouped(usage.input_tokens), grouped(count.range(0).1));
            format!("{total}: it counted {counted} for :{number}, {more} more than tract")
        }
    }
}
