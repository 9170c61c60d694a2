//! What usage records say beyond tokens, of all replies, for who goes from path to path.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::UsageDetail;
use crate::store::View;

/// The details of all replies, read when one is asked for first, and once.
pub(crate) struct UsageDetails<'v> {
    view: &'v dyn View,
    read: OnceCell<HashMap<CommitHash, UsageDetail>>,
}

impl<'v> UsageDetails<'v> {
    /// Those that a view has.
    pub(crate) const fn of(view: &'v dyn View) -> Self {
        let read = OnceCell::new();
        Self { view, read }
    }

    /// All of them, by the commits of their replies.
    pub(crate) fn all(&self) -> Result<&HashMap<CommitHash, UsageDetail>> {
        if let Some(read) = self.read.get() {
            return Ok(read);
        }
        let read = self.view.all_usage_details()?;
        Ok(self.read.get_or_init(|| read))
    }
}
