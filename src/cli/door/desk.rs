//! `tract api`: requests as lines of JSON, answered as lines of JSON.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tract::api::advice::Exit;
use tract::api::{ApiError, RawJson, WorkProgress, described, held, method};

use super::host::{Surroundings, Worker};
use super::lines::{LINE_BYTES, Line, Lines};
use super::order::Order;

/// How many requests that only look are answered side by side at most, each by a thread with a connection of its own.
const WORKERS: usize = 4;
/// How many requests may wait before no more are read.
const WAITING: usize = 256;
/// How often it is said how far long work has come.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// How often it is asked whether somebody else has moved a branch.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What a program asks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    method: String,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    /// The branch that is acted on, as if HEAD were there.
    #[serde(default)]
    on: Option<String>,
}

/// What it is answered.
#[derive(Serialize)]
struct Answer<'a> {
    id: &'a RawValue,
    #[serde(flatten)]
    said: Said,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Said {
    Result(RawJson),
    Error(ApiError),
    Progress(WorkProgress),
}

/// A request that waits for its turn.
struct Job {
    id: Box<RawValue>,
    method: String,
    params: String,
    on: Option<String>,
    is_cancelled: Arc<AtomicBool>,
}

/// What a program says when it opens another repository.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OpenParams {
    path: Option<PathBuf>,
    create: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelParams {
    id: Value,
}

/// What all threads share.
struct Desk<W> {
    order: Mutex<Order<Job>>,
    /// Something can begin, or there is room again.
    changed: Condvar,
    /// The repository that is meant, and how often that has changed.
    place: Mutex<(u64, Surroundings)>,
    /// Those that were not answered yet, by their ids.
    open: Mutex<HashMap<String, Arc<AtomicBool>>>,
    out: Mutex<W>,
    /// Nobody reads any more.
    is_left: AtomicBool,
}

/// A thread that fell over has left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the requests of `input` on `output` until there are no more.
pub fn serve(
    surroundings: Surroundings,
    input: impl BufRead,
    output: impl Write + Send,
) -> io::Result<()> {
    let workers = if surroundings.is_ephemeral() {
        1
    } else {
        WORKERS
    };
    let desk = Desk {
        order: Mutex::new(Order::new(workers)),
        changed: Condvar::new(),
        place: Mutex::new((0, surroundings)),
        open: Mutex::default(),
        out: Mutex::new(output),
        is_left: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        let is_over = AtomicBool::new(false);
        thread::scope(|inner| {
            let mut lines = Lines::new(input);
            let mut is_watched = false;
            let read = loop {
                if desk.is_left.load(Ordering::Relaxed) {
                    break Ok(());
                }
                let line = match lines.next() {
                    Ok(None) => break Ok(()),
                    Ok(Some(line)) => line,
                    Err(error) => break Err(error),
                };
                match desk.take(line, scope) {
                    Ok(follows) if follows && !is_watched => {
                        is_watched = true;
                        inner.spawn(|| desk.follow(&is_over));
                    }
                    Ok(_) => {}
                    Err(error) => break Err(error),
                }
            };
            lock(&desk.order).close();
            desk.changed.notify_all();
            is_over.store(true, Ordering::Relaxed);
            read
        })
    })
}

impl<W: Write + Send> Desk<W> {
    /// Takes a line; whether it asks to be told of moves.
    fn take<'a>(&'a self, line: Line, scope: &'a Scope<'a, '_>) -> io::Result<bool> {
        let unread = |what: String| {
            self.answer(RawValue::NULL, Said::Error(ApiError::params(what)));
            Ok(false)
        };
        let text = match line {
            Line::Text(text) => text,
            Line::TooLong => {
                return unread(format!("a request of more than {} MiB", LINE_BYTES >> 20));
            }
            Line::NoText => return unread("a request that is no UTF-8".to_owned()),
        };
        let request: Request<'_> = match serde_json::from_str(&text) {
            Ok(request) => request,
            Err(error) => return unread(format!("a request that cannot be read: {error}")),
        };
        let id = request.id.unwrap_or(RawValue::NULL);
        let params = request.params.map_or("{}", RawValue::get);
        match request.method.as_str() {
            "cancel" => {
                self.answer(id, self.cancel(params));
                return Ok(false);
            }
            "subscribe" => {
                self.answer(id, Said::Result(RawJson::of("{}".to_owned())));
                return Ok(true);
            }
            _ => {}
        }
        let changes = match request.method.as_str() {
            "open" => true,
            "describe" => false,
            name => match method(name) {
                Ok(method) => method.changes,
                Err(fault) => {
                    self.answer(id, Said::Error(fault));
                    return Ok(false);
                }
            },
        };
        let is_cancelled = Arc::new(AtomicBool::new(false));
        if id.get() != "null" {
            let open = lock(&self.open).insert(id.get().to_owned(), Arc::clone(&is_cancelled));
            if open.is_some() {
                let what = format!(
                    "the id {} is that of a request without an answer yet",
                    id.get()
                );
                self.answer(id, Said::Error(ApiError::params(what)));
                return Ok(false);
            }
        }
        let job = Job {
            id: id.to_owned(),
            method: request.method,
            params: params.to_owned(),
            on: request.on,
            is_cancelled,
        };
        let mut order = lock(&self.order);
        while order.len() >= WAITING && !self.is_left.load(Ordering::Relaxed) {
            order = self
                .changed
                .wait(order)
                .unwrap_or_else(PoisonError::into_inner);
        }
        order.push(changes, job);
        self.hire(&mut order, scope)?;
        drop(order);
        self.changed.notify_all();
        Ok(false)
    }

    fn cancel(&self, params: &str) -> Said {
        let params: CancelParams = match serde_json::from_str(params) {
            Ok(params) => params,
            Err(error) => return Said::Error(ApiError::params(format!("parameters: {error}"))),
        };
        let found = lock(&self.open).get(&params.id.to_string()).map(|open| {
            open.store(true, Ordering::Relaxed);
        });
        match found {
            Some(()) => Said::Result(RawJson::of("{}".to_owned())),
            None => Said::Error(ApiError::params("no request of this id is under way")),
        }
    }

    /// Begins a worker, if the next request has nobody. Where the system has no thread left, those that are there go on; an
    /// error says that there are none.
    fn hire<'a>(&'a self, order: &mut Order<Job>, scope: &'a Scope<'a, '_>) -> io::Result<()> {
        let Some(number) = order.hire() else {
            return Ok(());
        };
        let begun = thread::Builder::new().spawn_scoped(scope, move || self.work(number, scope));
        match begun {
            Err(error) if !order.left(number) => Err(error),
            _ => Ok(()),
        }
    }

    /// Answers one request after the other.
    fn work<'a>(&'a self, number: usize, scope: &'a Scope<'a, '_>) {
        let (mut known, mut done): (Option<(u64, Worker)>, _) = (None, None);
        while let Some((changes, job)) = self.next(number, done, scope) {
            let at = lock(&self.place).0;
            let worker = match &mut known {
                Some((of, worker)) if *of == at => worker,
                _ => {
                    let worker = Worker::new(&lock(&self.place).1);
                    &mut known.insert((at, worker)).1
                }
            };
            let span = worker.begin();
            let said = if job.is_cancelled.load(Ordering::Relaxed) {
                Err(tract::Error::Cancelled.into())
            } else {
                self.done(&job, worker)
            };
            worker.ended(span, (&job.method, job.on.as_deref()), said.as_ref().err());
            lock(&self.open).remove(job.id.get());
            let said = match said {
                Ok(result) => Said::Result(result),
                Err(fault) => Said::Error(fault),
            };
            lock(&self.order).ends(number);
            self.answer(&job.id, said);
            done = Some(changes);
        }
    }

    /// The next request for a worker that is done with one, if it was at one.
    fn next<'a>(
        &'a self,
        number: usize,
        done: Option<bool>,
        scope: &'a Scope<'a, '_>,
    ) -> Option<(bool, Job)> {
        let mut order = lock(&self.order);
        if let Some(changes) = done {
            // In one go with the look for the next one: nobody else comes in between.
            order.done(changes);
            self.changed.notify_all();
        }
        loop {
            if self.is_left.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(next) = order.next(number) {
                // What may begin beside it is for another one, who may be free and not have looked.
                let _ = self.hire(&mut order, scope);
                self.changed.notify_all();
                return Some(next);
            }
            if order.is_over() {
                return None;
            }
            order = self
                .changed
                .wait(order)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self, job: &Job, worker: &mut Worker) -> Result<RawJson, ApiError> {
        match job.method.as_str() {
            "describe" => Ok(RawJson::of(described().to_string())),
            "open" => {
                let params: OpenParams = serde_json::from_str(&job.params)
                    .map_err(|error| ApiError::params(format!("parameters: {error}")))?;
                let mut place = lock(&self.place);
                let mut meant = place.1.clone();
                if let Some(path) = params.path {
                    meant.go_to(path);
                }
                let mut opened = Worker::new(&meant);
                let (at, is_new) = opened.open(params.create)?;
                *place = (place.0 + 1, meant);
                Ok(RawJson::of(
                    json!({ "place": at, "is_new": is_new }).to_string(),
                ))
            }
            name => {
                let method = method(name)?;
                let mut last = Instant::now();
                let goes_on = |progress| {
                    if last.elapsed() >= PROGRESS_EVERY {
                        last = Instant::now();
                        self.answer(&job.id, Said::Progress(progress));
                    }
                    !job.is_cancelled.load(Ordering::Relaxed)
                        && !self.is_left.load(Ordering::Relaxed)
                };
                let on = job.on.as_deref();
                worker.with(on, goes_on, |at| (method.call)(&job.params, at))
            }
        }
    }

    /// Says which refs somebody has moved, as soon as it is seen.
    fn follow(&self, is_over: &AtomicBool) {
        let mut worker = Worker::new(&lock(&self.place).1);
        let (mut at, mut version, mut known) = (lock(&self.place).0, None, None);
        while !is_over.load(Ordering::Relaxed) && !self.is_left.load(Ordering::Relaxed) {
            let now = lock(&self.place).0;
            if now != at {
                worker = Worker::new(&lock(&self.place).1);
                (at, version, known) = (now, None, None);
            }
            let seen = worker.with(
                None,
                |_| true,
                |at| {
                    let seen = at.repo.version()?;
                    if version == Some(seen) {
                        return Ok(None);
                    }
                    let refs = at.repo.references("refs/")?.into_iter();
                    let refs = refs.map(|(name, value)| (name.to_string(), held(&value)));
                    Ok(Some((seen, refs.collect::<HashMap<String, String>>())))
                },
            );
            if let Ok(Some((seen, refs))) = seen {
                version = Some(seen);
                if let Some(known) = &known {
                    self.tell_moves(known, &refs);
                }
                known = Some(refs);
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn tell_moves(&self, known: &HashMap<String, String>, refs: &HashMap<String, String>) {
        let names = known
            .keys()
            .chain(refs.keys().filter(|name| !known.contains_key(*name)));
        let moved = names.filter(|name| known.get(*name) != refs.get(*name));
        let moved = moved
            .map(|name| json!({ "name": name, "old": known.get(name), "new": refs.get(name) }));
        let moved: Vec<Value> = moved.collect();
        if !moved.is_empty() {
            self.write(&json!({ "event": "moved", "refs": moved }).to_string());
        }
    }

    fn answer(&self, id: &RawValue, said: Said) {
        let answer = serde_json::to_string(&Answer { id, said });
        // All of it is made of what JSON can hold.
        self.write(&answer.unwrap_or_default());
    }

    fn write(&self, line: &str) {
        let mut out = lock(&self.out);
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            self.is_left.store(true, Ordering::Relaxed);
            self.changed.notify_all();
        }
    }
}

/// Answers one request; its answer, or what went wrong as the same JSON would say it, and the exit code.
pub fn once(
    surroundings: &Surroundings,
    name: &str,
    params: &str,
    on: Option<&str>,
) -> (String, Option<Exit>) {
    let answer = match name {
        "describe" => Ok(RawJson::of(described().to_string())),
        name => method(name).and_then(|method| {
            let mut worker = Worker::new(surroundings);
            let span = worker.begin();
            let said = worker.with(on, |_| true, |at| (method.call)(params, at));
            worker.ended(span, (name, on), said.as_ref().err());
            said
        }),
    };
    match answer {
        Ok(answer) => (answer.text().to_owned(), None),
        Err(fault) => {
            let exit = Exit::of(fault.exit_code);
            (json!({ "error": fault }).to_string(), Some(exit))
        }
    }
}
