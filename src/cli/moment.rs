//! Moments as they are typed: `--since 3w`, `--until 2026-01-31`.

use tract::deeds::WrittenTime;
use tract::model::Millis;
use tract::render::Calendar;
use tract::render::calendar::Edge;

use super::Result;

/// What was typed, if anything was; a date alone means this end of its day.
pub fn read(calendar: &Calendar, text: Option<&str>, edge: Edge) -> Result<Option<Millis>> {
    let moment = text.map(|text| WrittenTime(text.to_owned()).read(calendar, edge));
    Ok(moment.transpose()?)
}
