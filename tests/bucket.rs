//! A bucket of the tests' own, on a port of this machine: as much of S3 as it takes to keep objects, and the ways in
//! which one can be broken.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The one bucket that there is.
pub const BUCKET: &str = "talks";
/// The one who is let in.
pub const WHO: &str = "somebody";
/// How many keys a page of a listing has: few, so that there are several pages.
const PAGE: usize = 3;

/// How it is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Broken {
    /// Not at all.
    #[default]
    Not,
    /// It puts whatever the condition.
    IgnoresConditions,
    /// It knows that something must not be there yet, and not that it must be as it was.
    IgnoresTags,
    /// It says that it knows no conditions.
    KnowsNoConditions,
    /// It hangs up in the middle of a bundle, on its way there or back.
    CutsBundles,
    /// It puts an index and hangs up.
    SwallowsAnswers,
    /// It puts an index, somebody goes on from it, and it says that it has not put it.
    GoesOn,
    /// It puts an index, and somebody goes on from it at once.
    GoesOnQuickly,
    /// It answers with this status and code.
    Answers(u16, &'static str),
    /// It is a web server.
    IsNone,
    /// It gives what was put with a byte changed.
    Flips,
    /// It lets nothing be taken away.
    KeepsAll,
}

#[derive(Clone)]
struct Object {
    body: Vec<u8>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Object>,
    broken: Broken,
    /// How many are to come with an index before any of them is put.
    awaited: usize,
    came: usize,
    asked: Vec<String>,
}

/// The server.
pub struct Host {
    port: u16,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Host {
    /// With an empty bucket, for as long as the process.
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("it has one").port();
        let state = Arc::<(Mutex<State>, Condvar)>::default();
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || talk(stream, &shared));
            }
        });
        Self { port, state }
    }

    /// The variables by which it is reached.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            (
                "AWS_ENDPOINT_URL",
                format!("http://127.0.0.1:{}", self.port),
            ),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_REGION", "eu-north-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", WHO.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "told to nobody".to_owned()),
        ]
    }

    /// Breaks it.
    pub fn is(&self, broken: Broken) {
        self.state.0.lock().expect("whole").broken = broken;
    }

    /// Holds indexes back until so many have come.
    pub fn awaits(&self, refs: usize) {
        let mut state = self.state.0.lock().expect("whole");
        (state.awaited, state.came) = (refs, 0);
    }

    /// The keys of all that it holds, and how long each is.
    pub fn keys(&self) -> Vec<String> {
        let state = self.state.0.lock().expect("whole");
        state.objects.keys().cloned().collect()
    }

    /// What is there by that key.
    pub fn text(&self, key: &str) -> String {
        let state = self.state.0.lock().expect("whole");
        String::from_utf8_lossy(&state.objects[key].body).into_owned()
    }

    /// Puts something there behind everybody's back.
    pub fn put(&self, key: &str, body: &[u8]) {
        let mut state = self.state.0.lock().expect("whole");
        let body = body.to_vec();
        state.objects.insert(key.to_owned(), Object { body });
    }

    /// Takes something away behind everybody's back.
    pub fn take(&self, key: &str) {
        let mut state = self.state.0.lock().expect("whole");
        state.objects.remove(key).expect("it was there");
    }

    /// What it was asked since it was last looked at: methods and keys.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.state.0.lock().expect("whole").asked)
    }
}

struct Request {
    method: String,
    key: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// A status, headers, and a body; none: it hangs up.
type Answer = Option<(u16, Vec<(&'static str, String)>, Vec<u8>)>;

fn talk(stream: TcpStream, shared: &(Mutex<State>, Condvar)) {
    let Ok(mut to) = stream.try_clone() else {
        return;
    };
    let mut from = BufReader::new(stream);
    while let Some(request) = read(&mut from, shared) {
        let is_head = request.method == "HEAD";
        let Some((status, headers, body)) = answer(request, shared) else {
            return;
        };
        let mut text = format!(
            "HTTP/1.1 {status} Said\r\nContent-Length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            write!(text, "{name}: {value}\r\n").expect("written");
        }
        text += "\r\n";
        let cuts = shared.0.lock().expect("whole").broken == Broken::CutsBundles;
        let body = match cuts && body.starts_with(b"tract bundle") {
            true => &body[..body.len() / 2],
            false if is_head => &[],
            false => &body[..],
        };
        let said = [text.as_bytes(), body].concat();
        if to.write_all(&said).is_err() || (cuts && body.starts_with(b"tract bundle")) {
            return;
        }
    }
}

fn read(from: &mut impl BufRead, shared: &(Mutex<State>, Condvar)) -> Option<Request> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let query = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(&value.replace('+', " ")))
    });
    let query = query.collect();
    let key = decoded(path.strip_prefix('/')?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        from.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or("0", String::as_str);
    let mut body = vec![0; length.parse().ok()?];
    let is_cut = shared.0.lock().expect("whole").broken == Broken::CutsBundles;
    if is_cut && method == "PUT" && key.ends_with(".tract") {
        let half = body.len() / 2;
        from.read_exact(&mut body[..half]).ok()?;
        return None;
    }
    from.read_exact(&mut body).ok()?;
    Some(Request {
        method,
        key,
        query,
        headers,
        body,
    })
}

fn answer(request: Request, shared: &(Mutex<State>, Condvar)) -> Answer {
    let (lock, arrived) = shared;
    let mut state = lock.lock().expect("whole");
    match state.broken {
        Broken::Answers(status, code) => return refused(status, code),
        Broken::IsNone => {
            let page = b"<html><body>It works!</body></html>";
            return Some((200, Vec::new(), page.to_vec()));
        }
        _ => {}
    }
    let who = request.headers.get("authorization");
    if !who.is_some_and(|who| who.contains(&format!("Credential={WHO}/"))) {
        return refused(403, "InvalidAccessKeyId");
    }
    let (bucket, key) = request.key.split_once('/').unwrap_or((&request.key, ""));
    if bucket != BUCKET {
        return refused(404, "NoSuchBucket");
    }
    state.asked.push(format!("{} {key}", request.method));
    match request.method.as_str() {
        "GET" if key.is_empty() => Some((200, Vec::new(), listed(&state, &request.query))),
        "GET" | "HEAD" => match state.objects.get(key) {
            None => refused(404, "NoSuchKey"),
            Some(object) => {
                let mut body = object.body.clone();
                let tag = vec![("ETag", tag(&body))];
                if state.broken == Broken::Flips && key.ends_with(".tract") {
                    let middle = body.len() / 2;
                    body[middle] ^= 1;
                }
                Some((200, tag, body))
            }
        },
        "PUT" => {
            if state.awaited > 0 && key.ends_with("/index.json") {
                state.came += 1;
                arrived.notify_all();
                let wait = Duration::from_secs(20);
                let few = |state: &mut State| state.came < state.awaited;
                state = arrived
                    .wait_timeout_while(state, wait, few)
                    .expect("whole")
                    .0;
            }
            let (create, update) = (
                request.headers.get("if-none-match"),
                request.headers.get("if-match"),
            );
            let now = state.objects.get(key).map(|object| tag(&object.body));
            let is_met = match state.broken {
                Broken::IgnoresConditions => true,
                Broken::IgnoresTags => create.is_none() || now.is_none(),
                Broken::KnowsNoConditions if create.or(update).is_some() => {
                    return refused(501, "NotImplemented");
                }
                _ => {
                    (create.is_none() || now.is_none())
                        && (update.is_none() || update == now.as_ref())
                }
            };
            if !is_met {
                return refused(412, "PreconditionFailed");
            }
            let tag = tag(&request.body);
            let body = request.body;
            let goes_on = [Broken::GoesOn, Broken::GoesOnQuickly].contains(&state.broken);
            if goes_on && key.ends_with("/index.json") {
                let text = String::from_utf8(body).expect("text");
                let (before, put) = text.split_once("\"put\":\"").expect("it has one");
                let (number, after) = ("7".repeat(32), &put[32..]);
                let body = format!("{before}\"put\":\"{number}{after}").into_bytes();
                state.objects.insert(key.to_owned(), Object { body });
                return match state.broken {
                    Broken::GoesOn => refused(412, "PreconditionFailed"),
                    _ => Some((200, vec![("ETag", tag)], Vec::new())),
                };
            }
            state.objects.insert(key.to_owned(), Object { body });
            let swallows = state.broken == Broken::SwallowsAnswers && key.ends_with("/index.json");
            (!swallows).then(|| (200, vec![("ETag", tag)], Vec::new()))
        }
        "DELETE" if state.broken == Broken::KeepsAll => refused(403, "AccessDenied"),
        "DELETE" => {
            state.objects.remove(key);
            Some((204, Vec::new(), Vec::new()))
        }
        _ => refused(405, "MethodNotAllowed"),
    }
}

fn refused(status: u16, code: &str) -> Answer {
    let text =
        format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>No.</Message></Error>");
    Some((status, Vec::new(), text.into_bytes()))
}

/// A page of a listing.
fn listed(state: &State, query: &BTreeMap<String, String>) -> Vec<u8> {
    let get = |name: &str| query.get(name).map_or("", String::as_str);
    let (prefix, delimiter, after) = (get("prefix"), get("delimiter"), get("continuation-token"));
    let mut rows = BTreeMap::new();
    for (key, object) in &state.objects {
        let Some(below) = key.strip_prefix(prefix) else {
            continue;
        };
        match below
            .split_once(delimiter)
            .filter(|_| !delimiter.is_empty())
        {
            Some((folder, _)) => {
                let folder = format!("{prefix}{folder}{delimiter}");
                let text = format!("<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>");
                rows.insert(folder, text);
            }
            None => {
                let (size, tag) = (object.body.len(), tag(&object.body));
                let text = format!(
                    "<Contents><Key>{key}</Key><Size>{size}</Size><ETag>{tag}</ETag>\
                     <LastModified>2026-03-01T12:00:00.000Z</LastModified></Contents>"
                );
                rows.insert(key.clone(), text);
            }
        }
    }
    let mut page = rows.iter().filter(|(key, _)| key.as_str() > after);
    let mut text = "<?xml version=\"1.0\"?><ListBucketResult>".to_owned();
    let mut last = None;
    for (key, row) in page.by_ref().take(PAGE) {
        text += row;
        last = Some(key);
    }
    if let (Some(last), Some(_)) = (last, page.next()) {
        write!(
            text,
            "<NextContinuationToken>{last}</NextContinuationToken>"
        )
        .expect("written");
    }
    (text + "</ListBucketResult>").into_bytes()
}

/// As S3 does it, the same for the same bytes.
fn tag(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    format!("\"{:032x}\"", hasher.finish())
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let digits = std::str::from_utf8(&digits).expect("digits");
                bytes.push(u8::from_str_radix(digits, 16).expect("digits"));
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).expect("text")
}
