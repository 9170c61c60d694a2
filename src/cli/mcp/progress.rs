//! How far a call has come, told to a client that wants to know.

use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tract::deeds::WorkProgress;

/// How often it is told.
const EVERY: Duration = Duration::from_millis(100);

/// What was told of a call. Each number is larger than the one before it, as the protocol wants it, though a session
/// may be several files.
pub struct Progress<'a> {
    token: Option<&'a RawValue>,
    last: Instant,
    /// What came before the work that is told now.
    before: u64,
    done: u64,
    told: Option<u64>,
}

impl<'a> Progress<'a> {
    pub fn of(token: Option<&'a RawValue>) -> Self {
        Self {
            token,
            last: Instant::now(),
            before: 0,
            done: 0,
            told: None,
        }
    }

    /// What the client is told of it now, if anything.
    pub fn next(&mut self, work: WorkProgress) -> Option<Value> {
        if work.done < self.done {
            self.before += self.done;
        }
        self.done = work.done;
        let sum = self.before + work.done;
        let is_news = self.told.is_none_or(|told| told < sum) && self.last.elapsed() >= EVERY;
        let token = self.token.filter(|_| is_news)?;
        (self.last, self.told) = (Instant::now(), Some(sum));
        let mut params = json!({ "progressToken": token, "progress": sum });
        if let Some(total) = work.total {
            params["total"] = (self.before + total).into();
        }
        Some(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
    }
}
