//! Moments as they are typed: `--since 3w`, `--until 2026-01-31`.

use tract::model::Millis;
use tract::render::Calendar;
use tract::render::calendar::Edge;

use super::{Failure, Result};

/// What was typed, if anything was; a date alone means this end of its day.
pub fn read(calendar: &Calendar, text: Option<&str>, edge: Edge) -> Result<Option<Millis>> {
    let Some(text) = text else {
        return Ok(None);
    };
    match calendar.read(text, edge) {
        Some(moment) => Ok(Some(moment)),
        None => Err(
            Failure::usage(format!("'{text}' is neither a date nor an age"))
                .with_hint("2026-01-31, 2026-01-31T14:00, or an age: 30min, 5h, 2d, 3w, 1mo, 1y"),
        ),
    }
}
