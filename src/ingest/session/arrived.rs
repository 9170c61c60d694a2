//! A session of which all steps are here: what its place, its refs and its report take.

use std::sync::Arc;

use super::{Found, Mode, Session};
use crate::formats::Descent;

/// A session that was read to its end. A file may have a million, and all wait until their refs move at once: so each
/// holds little, and shares what the one before says too.
pub(in crate::ingest) struct Arrived {
    pub(in crate::ingest) id: String,
    pub(in crate::ingest) descent: Arc<Descent>,
    /// Whether it was gone on with near its end.
    pub(in crate::ingest) is_of_end: bool,
    pub(in crate::ingest) found: Found,
}

impl Arrived {
    /// Lets go of what only further steps would need.
    pub(in crate::ingest) fn of(session: Session<'_>, before: Option<&Self>) -> Self {
        let Session {
            start,
            mode,
            mut found,
            ..
        } = session;
        found.records = Vec::new();
        found.paths.shrink_to_fit();
        if let Some(before) = before.filter(|before| before.found.end == found.end) {
            found.end = Arc::clone(&before.found.end);
        }
        let descent = match before.filter(|before| *before.descent == start.descent) {
            Some(before) => Arc::clone(&before.descent),
            None => Arc::new(start.descent),
        };
        Self {
            id: start.id,
            descent,
            is_of_end: matches!(mode, Mode::Onward(_)),
            found,
        }
    }
}
