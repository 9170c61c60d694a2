//! Work that is done ahead on other threads while one thread reads and writes the database.
//!
//! Jobs are handed in and taken out by one owner, in their order, whoever does them; the owner does
//! what nobody else has begun rather than wait. So with no other thread at all everything is done
//! where it is taken out, and a machine of one core loses nothing. How many jobs are under way is for
//! the owner to bound. Deliberately absent: any choice of what is worth a thread, and global state:
//! the threads end with the call that began them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Beside the owner's, no more threads than this: what one thread writes, few can feed.
const MOST_WORKERS: usize = 7;

/// How many threads beside the owner's there may be on this machine.
pub(crate) fn workers() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (cores - 1).min(MOST_WORKERS)
}

/// Jobs on their way through.
pub(crate) struct Crew<'a, J, D> {
    work: &'a (dyn Fn(J) -> D + Sync),
    line: Mutex<Line<J, D>>,
    /// There is a job, or there will be none any more.
    begin: Condvar,
    /// A job is done.
    done: Condvar,
}

struct Line<J, D> {
    jobs: VecDeque<Job<J, D>>,
    /// The first that nobody has begun, counted from the front.
    next: usize,
    /// How many were taken out.
    gone: usize,
    /// No more will come.
    is_closed: bool,
    /// A job has panicked; the others' results are of no use.
    is_lost: bool,
}

enum Job<J, D> {
    Open(J),
    Begun,
    Done(D),
}

/// Runs `own` with a crew of so many threads, each of which does `work` on what is handed in.
pub(crate) fn with_crew<J: Send, D: Send, T>(
    workers: usize,
    work: &(dyn Fn(J) -> D + Sync),
    own: impl FnOnce(&Crew<'_, J, D>) -> T,
) -> T {
    let crew = Crew {
        work,
        line: Mutex::new(Line {
            jobs: VecDeque::new(),
            next: 0,
            gone: 0,
            is_closed: false,
            is_lost: false,
        }),
        begin: Condvar::new(),
        done: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            // Where no thread is to be had, the owner does it all.
            let _ = thread::Builder::new().spawn_scoped(scope, || crew.serve());
        }
        let _closes = Closes(&crew);
        own(&crew)
    })
}

/// Lets the threads go, also where the owner gives up early.
struct Closes<'a, 'b, J, D>(&'a Crew<'b, J, D>);

impl<J, D> Drop for Closes<'_, '_, J, D> {
    fn drop(&mut self) {
        let mut line = self.0.line();
        line.is_closed = true;
        // What nobody will take out needs no doing.
        line.jobs.clear();
        line.next = 0;
        self.0.begin.notify_all();
    }
}

impl<J, D> Line<J, D> {
    /// The next job that nobody has begun, and its number.
    fn begin(&mut self) -> Option<(usize, J)> {
        let job = self.jobs.get_mut(self.next)?;
        let Job::Open(job) = std::mem::replace(job, Job::Begun) else {
            unreachable!("all from the next one on are open")
        };
        self.next += 1;
        Some((self.gone + self.next - 1, job))
    }

    fn finish(&mut self, number: usize, done: D) {
        // A closed line is empty.
        let at = number.checked_sub(self.gone);
        if let Some(job) = at.and_then(|at| self.jobs.get_mut(at)) {
            *job = Job::Done(done);
        }
    }
}

impl<J, D> Crew<'_, J, D> {
    fn line(&self) -> MutexGuard<'_, Line<J, D>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread of the crew does.
    fn serve(&self) {
        let mut line = self.line();
        loop {
            if let Some((number, job)) = line.begin() {
                drop(line);
                let lost = Lost(self);
                let done = (self.work)(job);
                std::mem::forget(lost);
                line = self.line();
                line.finish(number, done);
                self.done.notify_one();
            } else if line.is_closed {
                return;
            } else {
                line = self
                    .begin
                    .wait(line)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Hands in a job.
    pub(crate) fn push(&self, job: J) {
        self.line().jobs.push_back(Job::Open(job));
        self.begin.notify_one();
    }

    /// How many jobs were handed in and not taken out.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.line().jobs.len()
    }

    /// Takes out the first job, done; none where none is under way.
    ///
    /// # Panics
    ///
    /// Where one of the crew's threads did.
    pub(crate) fn pop(&self) -> Option<D> {
        let mut line = self.line();
        loop {
            match line.jobs.front()? {
                Job::Done(_) => {
                    let Some(Job::Done(done)) = line.jobs.pop_front() else {
                        unreachable!("it was just seen")
                    };
                    line.gone += 1;
                    line.next -= 1;
                    return Some(done);
                }
                Job::Open(_) | Job::Begun => {}
            }
            assert!(!line.is_lost, "a thread of the crew has panicked");
            line = match line.begin() {
                Some((number, job)) => {
                    drop(line);
                    let done = (self.work)(job);
                    let mut line = self.line();
                    line.finish(number, done);
                    line
                }
                None => self.done.wait(line).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// Tells the owner that a job will never be done.
struct Lost<'a, 'b, J, D>(&'a Crew<'b, J, D>);

impl<J, D> Drop for Lost<'_, '_, J, D> {
    fn drop(&mut self) {
        self.0.line().is_lost = true;
        self.0.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_handed_in_comes_out_in_its_order_whoever_does_it() {
        for workers in [0, 1, 4] {
            // The earlier ones take longest.
            let work = |at: u64| {
                thread::sleep(Duration::from_micros(50 * (20 - at % 20)));
                at
            };
            let seen = with_crew(workers, &work, |crew| {
                let mut seen = Vec::new();
                for at in 0..200 {
                    crew.push(at);
                    if crew.len() > 8 {
                        seen.extend(crew.pop());
                    }
                }
                seen.extend(std::iter::from_fn(|| crew.pop()));
                assert_eq!(crew.len(), 0);
                seen
            });
            assert!(seen.into_iter().eq(0..200), "with {workers} threads");
        }
    }

    #[test]
    fn others_work_while_the_owner_does_something_else() {
        let done = AtomicUsize::new(0);
        let work = |_: ()| done.fetch_add(1, Ordering::SeqCst);
        with_crew(1, &work, |crew| {
            (0..3).for_each(|_| crew.push(()));
            while done.load(Ordering::SeqCst) < 3 {
                thread::yield_now();
            }
        });
    }

    #[test]
    fn an_owner_that_gives_up_waits_for_no_job_that_nobody_has_begun() {
        let done = AtomicUsize::new(0);
        let work = |_: ()| {
            thread::sleep(Duration::from_millis(1));
            done.fetch_add(1, Ordering::SeqCst);
        };
        with_crew(1, &work, |crew| (0..10_000).for_each(|_| crew.push(())));
        assert!(done.load(Ordering::SeqCst) < 10_000);
    }

    #[test]
    #[should_panic = "panicked"]
    fn an_owner_does_not_wait_for_a_thread_that_panicked() {
        let work = |at: usize| assert!(at > 0, "the first one is refused");
        with_crew(1, &work, |crew| {
            crew.push(0);
            while crew.line().next == 0 {
                thread::yield_now();
            }
            crew.pop();
        });
    }
}
