//! Messages in, messages out: what can be said at once is, and calls are under way beside each other, each of which may be
//! cancelled.

use std::cell::RefCell;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex};
use std::thread::{self, Scope};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tract::deeds::unfit;

use super::asker::{Caller, Intake, Memory};
use super::batch::Batch;
use super::progress::Progress;
use super::{
    Answered, BATCHES, CLIENT_KEY, INVALID_REQUEST, Later, Message, PARSE_ERROR, Refusal, agreed,
    answer, info, version,
};
use crate::cli::door::{
    Door, Job, Line, Lines, Pool, Surroundings, WORKERS, Watch, lock, one_line,
};

/// The most characters of a client's name and version.
const CLIENT: usize = 100;

/// What is known of the client.
#[derive(Clone, Default)]
struct Client {
    /// Its session, as far as it says which.
    session: Option<String>,
    /// Its name.
    name: Option<String>,
}

/// A call that waits for its turn.
struct Call {
    what: Later,
    client: Client,
    /// Whether it is one of the newest version.
    is_newest: bool,
    progress_token: Option<Box<RawValue>>,
    batch: Option<Arc<Batch>>,
}

/// What all threads share.
struct Server<W> {
    surroundings: Surroundings,
    pool: Pool<Call>,
    intake: Arc<Intake>,
    out: Mutex<W>,
    /// What only the thread that reads knows.
    heard: Mutex<Heard>,
}

/// What was said before.
#[derive(Default)]
struct Heard {
    client: Client,
    version: Option<&'static str>,
}

/// The id of a message that cannot be read.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
}

/// Answers requests until there are no more.
pub fn serve(
    surroundings: Surroundings,
    input: impl BufRead,
    output: impl Write + Send,
) -> io::Result<()> {
    // What is in memory, no second thread can see.
    let most = if surroundings.has_none() { 1 } else { WORKERS };
    let client = Client {
        session: surroundings.client_session().map(str::to_owned),
        name: None,
    };
    let server = Server {
        surroundings,
        pool: Pool::new(most),
        intake: Arc::default(),
        out: Mutex::new(output),
        heard: Mutex::new(Heard {
            client,
            version: None,
        }),
    };
    thread::scope(|scope| {
        let mut lines = Lines::new(input);
        let read = loop {
            if server.pool.is_left() {
                break Ok(());
            }
            let taken = match lines.next() {
                Ok(None) => break Ok(()),
                Ok(Some(line)) => server.line(&line, scope),
                Err(error) => Err(error),
            };
            if let Err(error) = taken {
                break Err(error);
            }
        };
        server.pool.close();
        read
    })
}

fn refused(id: &RawValue, refusal: Refusal) -> String {
    let mut error = json!({ "code": refusal.code, "message": refusal.message });
    if let Some(data) = refusal.data {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

impl<W: Write + Send> Server<W> {
    /// Takes a line: a message, or a batch of them.
    fn line<'a>(&'a self, line: &Line, scope: &'a Scope<'a, '_>) -> io::Result<()> {
        let text = match line {
            Line::Text(text) => text.trim(),
            Line::TooLong | Line::NoText => {
                let what = match line {
                    Line::TooLong => "the message is too long",
                    _ => "the message is no UTF-8",
                };
                self.write(&refused(RawValue::NULL, Refusal::new(PARSE_ERROR, what)));
                return Ok(());
            }
        };
        let Some(messages) = text
            .starts_with('[')
            .then(|| serde_json::from_str::<Vec<&RawValue>>(text).ok())
            .flatten()
        else {
            return self.message(text, None, scope);
        };
        let has_batches = lock(&self.heard).version == Some(BATCHES);
        if !has_batches || messages.is_empty() {
            let what = match has_batches {
                true => "the batch is empty".to_owned(),
                false => format!("a batch; they are of version {BATCHES} alone"),
            };
            self.write(&refused(
                RawValue::NULL,
                Refusal::new(INVALID_REQUEST, what),
            ));
            return Ok(());
        }
        let batch = Arc::new(Batch::of(messages.len()));
        for message in messages {
            self.message(message.get(), Some(&batch), scope)?;
        }
        Ok(())
    }

    /// Takes a message: answers it now, or has it answered.
    fn message<'a>(
        &'a self,
        text: &str,
        batch: Option<&Arc<Batch>>,
        scope: &'a Scope<'a, '_>,
    ) -> io::Result<()> {
        let message: Message<'_> = match serde_json::from_str(text) {
            Ok(message) => message,
            Err(error) => {
                let code = if error.is_data() {
                    INVALID_REQUEST
                } else {
                    PARSE_ERROR
                };
                let named = serde_json::from_str::<Named<'_>>(text).ok();
                let id = named.and_then(|named| named.id).unwrap_or(RawValue::NULL);
                let refusal = Refusal::new(code, unfit(&error, text));
                self.told(batch.map(Arc::as_ref), Some(refused(id, refusal)));
                return Ok(());
            }
        };
        let (Some(id), Some(method)) = (message.id, &message.method) else {
            // A notice, or an answer to something that was never asked.
            if message.id.is_none() && message.method.as_deref() == Some("notifications/cancelled")
            {
                self.cancel(&message.params);
            }
            self.told(batch.map(Arc::as_ref), None);
            return Ok(());
        };
        let said = match self.answered(id, method, &message.params, batch, scope)? {
            Ok(None) => return Ok(()),
            Ok(Some(result)) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
            Err(refusal) => refused(id, refusal),
        };
        self.told(batch.map(Arc::as_ref), Some(said));
        Ok(())
    }

    /// What a request is answered now; none: it is under way.
    fn answered<'a>(
        &'a self,
        id: &RawValue,
        method: &str,
        params: &Value,
        batch: Option<&Arc<Batch>>,
        scope: &'a Scope<'a, '_>,
    ) -> io::Result<Result<Option<Value>, Refusal>> {
        let meta = params.get("_meta").unwrap_or(&Value::Null);
        let version = match version(meta) {
            Ok(version) => version,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let client = self.heard(method, params, meta);
        let what = match answer(method, params, client.name.as_deref()) {
            Ok(Answered::Later(what)) => what,
            Ok(Answered::Now(result)) => return Ok(Ok(Some(finished(result, version.is_some())))),
            Err(refusal) => return Ok(Err(refusal)),
        };
        let token = meta.get("progressToken").filter(|token| !token.is_null());
        let call = Call {
            client,
            is_newest: version.is_some(),
            progress_token: token.and_then(|token| serde_json::value::to_raw_value(token).ok()),
            batch: batch.cloned(),
            what,
        };
        let is_taken = self
            .pool
            .take(self, (id, call.what.changes(), call), scope)?;
        Ok(if is_taken {
            Ok(None)
        } else {
            let what = format!("the id {id} is that of a request without an answer yet");
            Err(Refusal::new(INVALID_REQUEST, what))
        })
    }

    /// What a request says of who asks; with what was said before.
    fn heard(&self, method: &str, params: &Value, meta: &Value) -> Client {
        let mut heard = lock(&self.heard);
        let named = ["sessionId", "threadId", "conversationId"]
            .iter()
            .find_map(|key| meta.get(*key)?.as_str());
        if let Some(named) = named {
            heard.client.session = Some(named.to_owned());
        }
        let client = params.get("clientInfo").or_else(|| meta.get(CLIENT_KEY));
        if let Some(client) = client {
            let text = |key| client.get(key).and_then(Value::as_str);
            let words: Vec<&str> = [text("name"), text("version")]
                .into_iter()
                .flatten()
                .collect();
            let plain = |c: &char| !c.is_control();
            let name: String = words.join(" ").chars().filter(plain).take(CLIENT).collect();
            if !name.is_empty() {
                heard.client.name = Some(name);
            }
        }
        if method == "initialize" {
            heard.version = Some(agreed(params));
        }
        heard.client.clone()
    }

    /// Nobody waits for a request any more.
    fn cancel(&self, params: &Value) {
        if let Some(id) = params.get("requestId") {
            self.pool.cancel(&id.to_string());
        }
    }

    /// Says what is answered, of a batch once all of it is.
    fn told(&self, batch: Option<&Batch>, said: Option<String>) {
        let said = match batch {
            Some(batch) => batch.done(said),
            None => said,
        };
        if let Some(said) = said {
            self.write(&said);
        }
    }

    fn write(&self, line: &str) {
        let mut out = lock(&self.out);
        let line = one_line(line);
        // Whoever reads no more wants no more.
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            self.pool.leave();
        }
    }
}

/// A result with what the newest version wants beside it.
fn finished(mut result: Value, is_newest: bool) -> Value {
    if is_newest {
        result["resultType"] = "complete".into();
        result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": info() });
    }
    result
}

impl<W: Write + Send> Door for Server<W> {
    type Asked = Call;
    type Hand = Memory;
    /// None to what was cancelled.
    type Said = Option<Result<Value, Refusal>>;

    fn hand(&self) -> Memory {
        Memory::new(self.surroundings.clone(), Arc::clone(&self.intake))
    }

    fn done(&self, memory: &mut Memory, job: &Job<Call>) -> Self::Said {
        let call = &job.asked;
        let is_over = || job.is_cancelled() || self.pool.is_left();
        if is_over() {
            return None;
        }
        let progress = RefCell::new(Progress::of(call.progress_token.as_deref()));
        let goes_on = |work| {
            let told = progress.borrow_mut().next(work);
            if let Some(told) = told {
                self.write(&told.to_string());
            }
            !is_over()
        };
        let caller = || Caller {
            session: call.client.session.as_deref(),
            client: call.client.name.as_deref(),
            watch: Watch {
                goes_on: Box::new(goes_on),
                is_cancelled: Box::new(is_over),
            },
        };
        let said = call.what.result(memory, caller);
        (!is_over()).then_some(said)
    }

    fn tell(&self, job: &Job<Call>, said: Self::Said) {
        let call = &job.asked;
        let said = said.map(|said| match said {
            Ok(result) => {
                let result = finished(result, call.is_newest);
                json!({ "jsonrpc": "2.0", "id": job.id, "result": result }).to_string()
            }
            Err(refusal) => refused(&job.id, refusal),
        });
        self.told(call.batch.as_deref(), said);
    }
}
