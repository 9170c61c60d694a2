//! `tract api`: requests as lines of JSON, answered as lines of JSON.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tract::deeds::advice::Exit;
use tract::deeds::{Answered, ApiError, RawJson, WorkProgress, described, held, method, unfit};

use super::advice::in_methods;
use super::host::{Surroundings, Watch, Worker};
use super::lines::{LINE_BYTES, Line, Lines, one_line};
use super::pool::{Door, Job, Pool, WORKERS, lock};

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

/// The id of a request that cannot be read.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
}

/// What is asked of a worker.
struct Asked {
    method: String,
    params: String,
    on: Option<String>,
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
    pool: Pool<Asked>,
    /// The repository that is meant, and how often that has changed.
    place: Mutex<(u64, Surroundings)>,
    out: Mutex<W>,
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
        pool: Pool::new(workers),
        place: Mutex::new((0, surroundings)),
        out: Mutex::new(output),
    };
    thread::scope(|scope| {
        let is_over = AtomicBool::new(false);
        thread::scope(|inner| {
            let mut lines = Lines::new(input);
            let mut is_watched = false;
            let read = loop {
                if desk.pool.is_left() {
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
            desk.pool.close();
            is_over.store(true, Ordering::Relaxed);
            read
        })
    })
}

impl<W: Write + Send> Desk<W> {
    /// Takes a line; whether it asks to be told of moves.
    fn take<'a>(&'a self, line: Line, scope: &'a Scope<'a, '_>) -> io::Result<bool> {
        let unread = |id: &RawValue, what: String| {
            self.answer(id, Said::Error(ApiError::params(what)));
            Ok(false)
        };
        let text = match line {
            Line::Text(text) => text,
            Line::TooLong => {
                let what = format!("a request of more than {} MiB", LINE_BYTES >> 20);
                return unread(RawValue::NULL, what);
            }
            Line::NoText => {
                return unread(RawValue::NULL, "a request that is no UTF-8".to_owned());
            }
        };
        let request: Request<'_> = match serde_json::from_str(&text) {
            Ok(request) => request,
            Err(error) => {
                // Who asks waits for an answer under the id, whatever else is wrong.
                let named = serde_json::from_str::<Named<'_>>(&text).ok();
                let id = named.and_then(|named| named.id).unwrap_or(RawValue::NULL);
                let what = format!("a request that cannot be read: {}", unfit(&error, &text));
                return unread(id, what);
            }
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
        let asked = Asked {
            method: request.method,
            params: params.to_owned(),
            on: request.on,
        };
        if !self.pool.take(self, (id, changes, asked), scope)? {
            let what = format!(
                "the id {} is that of a request without an answer yet",
                id.get()
            );
            self.answer(id, Said::Error(ApiError::params(what)));
        }
        Ok(false)
    }

    fn cancel(&self, params: &str) -> Said {
        let params: CancelParams = match serde_json::from_str(params) {
            Ok(params) => params,
            Err(error) => return Said::Error(wrong(&error, params)),
        };
        if self.pool.cancel(&params.id.to_string()) {
            Said::Result(RawJson::of("{}".to_owned()))
        } else {
            Said::Error(ApiError::params("no request of this id is under way"))
        }
    }

    fn result(&self, job: &Job<Asked>, worker: &mut Worker) -> Result<RawJson, ApiError> {
        let asked = &job.asked;
        match asked.method.as_str() {
            "describe" => Ok(RawJson::of(described().to_string())),
            "open" => {
                let params: OpenParams = serde_json::from_str(&asked.params)
                    .map_err(|error| wrong(&error, &asked.params))?;
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
                let is_over = || job.is_cancelled() || self.pool.is_left();
                let goes_on = |progress| {
                    if last.elapsed() >= PROGRESS_EVERY {
                        last = Instant::now();
                        self.answer(&job.id, Said::Progress(progress));
                    }
                    !is_over()
                };
                let watch = Watch {
                    goes_on: Box::new(goes_on),
                    is_cancelled: Box::new(is_over),
                };
                let on = asked.on.as_deref();
                worker.with(on, watch, |at| Ok((method.call)(&asked.params, at)?.json))
            }
        }
    }

    /// Says which refs somebody has moved, as soon as it is seen.
    fn follow(&self, is_over: &AtomicBool) {
        let mut worker = Worker::new(&lock(&self.place).1);
        let (mut at, mut version, mut known) = (lock(&self.place).0, None, None);
        while !is_over.load(Ordering::Relaxed) && !self.pool.is_left() {
            let now = lock(&self.place).0;
            if now != at {
                worker = Worker::new(&lock(&self.place).1);
                (at, version, known) = (now, None, None);
            }
            let seen = worker.with(None, Watch::none(), |at| {
                let seen = at.repo.version()?;
                if version == Some(seen) {
                    return Ok(None);
                }
                let refs = at.repo.references("refs/")?.into_iter();
                let refs = refs.map(|(name, value)| (name.to_string(), held(&value)));
                Ok(Some((seen, refs.collect::<HashMap<String, String>>())))
            });
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
        let line = one_line(line);
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            self.pool.leave();
        }
    }
}

impl<W: Write + Send> Door for Desk<W> {
    type Asked = Asked;
    /// Which repository was meant, and who works there.
    type Hand = Option<(u64, Worker)>;
    type Said = Said;

    fn hand(&self) -> Self::Hand {
        None
    }

    fn done(&self, known: &mut Self::Hand, job: &Job<Asked>) -> Said {
        let at = lock(&self.place).0;
        let worker = match known {
            Some((of, worker)) if *of == at => worker,
            _ => {
                let worker = Worker::new(&lock(&self.place).1);
                &mut known.insert((at, worker)).1
            }
        };
        let span = worker.begin();
        let said = if job.is_cancelled() {
            Err(tract::Error::Cancelled.into())
        } else {
            self.result(job, worker)
        };
        let what = (&*job.asked.method, job.asked.on.as_deref());
        worker.ended(span, what, said.as_ref().err());
        match said {
            Ok(result) => Said::Result(result),
            Err(fault) => Said::Error(in_methods(fault)),
        }
    }

    fn tell(&self, job: &Job<Asked>, said: Said) {
        self.answer(&job.id, said);
    }
}

/// Parameters that cannot be read.
fn wrong(error: &serde_json::Error, text: &str) -> ApiError {
    ApiError::params(format!("parameters: {}", unfit(error, text)))
}

/// Answers one request; its answer, or what went wrong as the same JSON would say it, and the exit code unless it is done.
pub fn once(
    surroundings: &Surroundings,
    name: &str,
    params: &str,
    on: Option<&str>,
) -> (String, Option<Exit>) {
    let answer = match name {
        "describe" => Ok(Answered {
            json: RawJson::of(described().to_string()),
            exit: None,
        }),
        name => method(name).and_then(|method| {
            let mut worker = Worker::new(surroundings);
            let span = worker.begin();
            let said = worker.with(on, Watch::none(), |at| (method.call)(params, at));
            worker.ended(span, (name, on), said.as_ref().err());
            said
        }),
    };
    match answer {
        Ok(Answered { json, exit }) => (one_line(json.text()).into_owned(), exit),
        Err(fault) => {
            let exit = Exit::of(fault.exit_code);
            let text = json!({ "error": in_methods(fault) }).to_string();
            (one_line(&text).into_owned(), Some(exit))
        }
    }
}
