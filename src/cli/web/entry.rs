//! The way in for a browser that this program opens: an address that works once and soon. The address that lasts would
//! stand in the list of processes, where all users of the machine read it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::http::request::Parts;

use super::guard::Guard;

/// How long a browser may take to start.
const SOON: Duration = Duration::from_secs(60);

/// An address that works once.
#[derive(Debug)]
pub struct Entry {
    path: String,
    target: String,
    until: Mutex<Option<Instant>>,
}

impl Entry {
    /// One of this name, which nobody can guess, to a page that is named from the first one on.
    pub fn new(name: &str, target: String) -> Self {
        Self {
            path: format!("/open/{name}"),
            target,
            until: Mutex::new(Some(Instant::now() + SOON)),
        }
    }

    /// Where it leads, from the first page on.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Its path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The address that lasts, the first time.
    pub fn open(&self, guard: &Guard, parts: &Parts) -> Result<String, StatusCode> {
        guard.refuse_strangers(parts)?;
        let until = self.until.lock().ok().and_then(|mut until| until.take());
        match until {
            Some(until) if Instant::now() < until => {
                Ok(format!("/{}/{}", guard.token, self.target))
            }
            _ => Err(StatusCode::FORBIDDEN),
        }
    }
}
