//! Places for connections. Who has shown the token has one of many. Who has not has one of a few, and lets it to the next who
//! comes: whoever opens connections and says nothing is in nobody's way but their own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

/// How many connections that have shown the token are held at once; whoever comes then waits.
const KNOWN: usize = 256;
/// How many are held that have not.
const STRANGERS: usize = 64;
/// How long such a one keeps its place: a browser says what it wants as soon as it is connected.
const HEARD_WITHIN: Duration = Duration::from_millis(50);

/// All places.
pub struct Places {
    known: Arc<Semaphore>,
    /// The connections that have not shown the token, the oldest first.
    strangers: Mutex<VecDeque<Stranger>>,
    next: AtomicU64,
}

/// A connection that has not shown the token.
struct Stranger {
    id: u64,
    since: Instant,
    task: AbortHandle,
}

/// The place of one connection. It is free again once this is dropped.
pub struct Place {
    id: u64,
    places: Arc<Places>,
    known: Mutex<Option<OwnedSemaphorePermit>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Places {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            known: Arc::new(Semaphore::new(KNOWN)),
            strangers: Mutex::default(),
            next: AtomicU64::new(0),
        })
    }

    /// The place of a connection that has just come.
    pub fn take(self: &Arc<Self>) -> Arc<Place> {
        Arc::new(Place {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            places: Arc::clone(self),
            known: Mutex::default(),
        })
    }

    /// Waits until there is room for a stranger: who has been there longest makes it, once there was time to hear them.
    pub async fn room(&self) {
        loop {
            let wait = {
                let mut strangers = lock(&self.strangers);
                match strangers.front() {
                    Some(oldest) if strangers.len() >= STRANGERS => {
                        let wait = HEARD_WITHIN.saturating_sub(oldest.since.elapsed());
                        if wait.is_zero() {
                            oldest.task.abort();
                            strangers.pop_front();
                        }
                        wait
                    }
                    _ => return,
                }
            };
            tokio::time::sleep(wait).await;
        }
    }

    /// Seats the stranger who comes last, served by this task.
    pub fn seat(&self, id: u64, task: AbortHandle) {
        let since = Instant::now();
        lock(&self.strangers).push_back(Stranger { id, since, task });
    }

    fn leave(&self, place: u64) {
        lock(&self.strangers).retain(|it| it.id != place);
    }
}

impl Place {
    /// By what it is known.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// The token was shown: from here on nobody takes the place.
    pub async fn admit(&self) {
        if lock(&self.known).is_some() {
            return;
        }
        self.places.leave(self.id);
        let permit = Arc::clone(&self.places.known).acquire_owned().await;
        *lock(&self.known) = permit.ok();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.leave(self.id);
    }
}
