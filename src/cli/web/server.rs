//! The server: connections, their limits, and the end. What is answered is worked out on threads of its own, by
//! ordinary code that waits; nothing below this file is async.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tract::Error;
use tract::render::html::{Setting, policy};

use super::answer::{Answer, Body};
use super::guard::Guard;
use super::places::{Place, Places};
use super::query::{Asked, pairs};
use super::{Door, Site, answered, tend};
use crate::cli::{Failure, Result};

/// How many requests are worked on at once; each page that follows a session live is one.
const WORKERS: usize = 64;
/// How long a browser may take to say what it wants.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How large a form may be.
const FORM_BYTES: usize = 1 << 20;
/// How long a browser may take nothing of what it is sent.
const STALLED: Duration = Duration::from_secs(30);
/// How much is sent in one piece.
const PIECE_BYTES: usize = 64 << 10;
/// How many pieces may wait for the browser.
const WAITING: usize = 4;
/// How long what is under way may take to end, once the end was asked for.
const LAST_TIME: Duration = Duration::from_secs(2);

/// Serves until a signal asks for the end. `ready` is called once it is heard.
pub fn serve(
    listener: TcpListener,
    door: Door,
    ready: impl FnOnce(&Door) -> io::Result<()>,
) -> Result<()> {
    let wrong = |error| Failure::from(Error::io("the server")(error));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(WORKERS)
        .build()
        .map_err(wrong)?;
    let site = door.site.clone();
    let tended = site.clone();
    runtime.spawn_blocking(move || tend::tend(&tended));
    let served = runtime.block_on(async {
        let mut ends = ends().map_err(wrong)?;
        listener.set_nonblocking(true).map_err(wrong)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(wrong)?;
        ready(&door)?;
        let accepting = tokio::spawn(accept(listener, Arc::new(door)));
        ends.recv().await;
        accepting.abort();
        Ok::<(), Failure>(())
    });
    site.end();
    runtime.shutdown_timeout(LAST_TIME);
    served
}

/// Where it is told that a signal asks for the end. From here on none ends the program by itself.
fn ends() -> io::Result<mpsc::Receiver<()>> {
    let (ask, asked) = mpsc::channel(1);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        for kind in [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ] {
            let (mut signals, ask) = (signal(kind)?, ask.clone());
            tokio::spawn(async move {
                signals.recv().await;
                let _ = ask.send(()).await;
            });
        }
    }
    #[cfg(not(unix))]
    tokio::spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        let _ = ask.send(()).await;
    });
    Ok(asked)
}

async fn accept(listener: tokio::net::TcpListener, door: Arc<Door>) {
    let places = Places::new();
    loop {
        let Ok((connection, _)) = listener.accept().await else {
            // There may be no file left to open; another connection will end.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        places.room().await;
        let (door, place) = (Arc::clone(&door), places.take());
        let id = place.id();
        let serving = tokio::spawn(async move {
            let respond = |request| respond(request, Arc::clone(&door), Arc::clone(&place));
            let service = service_fn(respond);
            let serving = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .max_buf_size(64 << 10)
                .serve_connection(TokioIo::new(connection), service);
            // A browser that went away is no error.
            let _ = serving.await;
        });
        // It begins once this waits for the next.
        places.seat(id, serving.abort_handle());
    }
}

async fn respond(
    request: Request<Incoming>,
    door: Arc<Door>,
    place: Arc<Place>,
) -> Result<Response<Sent>, Infallible> {
    let (parts, body) = request.into_parts();
    let asked = if parts.uri.path() == door.entry.path() {
        match door.entry.open(&door.guard, &parts) {
            Ok(address) => return Ok(response(&door.guard, Answer::see(address))),
            Err(status) => Err(status),
        }
    } else {
        door.guard.admit(&parts)
    };
    if asked.is_ok() {
        place.admit().await;
    }
    let asked = match asked {
        Ok(asked) if asked.is_post => form(asked, body).await,
        asked => asked,
    };
    Ok(match asked {
        Ok(asked) => work(asked, &door).await,
        Err(status) => refusal(&door.guard, status),
    })
}

/// The request with the form that comes with it.
async fn form(asked: Asked, body: Incoming) -> Result<Asked, StatusCode> {
    let whole = Limited::new(body, FORM_BYTES).collect();
    match tokio::time::timeout(HEAD_TIME, whole).await {
        Ok(Ok(whole)) => Ok(Asked {
            form: pairs(&whole.to_bytes()),
            ..asked
        }),
        Ok(Err(_)) => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

/// Has the answer worked out, on a thread.
async fn work(asked: Asked, door: &Door) -> Response<Sent> {
    let (tell, told) = oneshot::channel();
    let site = door.site.clone();
    tokio::task::spawn_blocking(move || {
        let answer = answered(&site, &asked);
        let Body::Stream(writer) = answer.body else {
            let _ = tell.send((answer, None));
            return;
        };
        let (pieces, sent) = mpsc::channel(WAITING);
        let whole = Answer {
            body: Body::Whole(Vec::new()),
            ..answer
        };
        let mut outlet = Outlet {
            pieces,
            piece: Vec::new(),
            site,
        };
        if tell.send((whole, Some(sent))).is_err() {
            return;
        }
        // What ends in the middle is seen to: the connection breaks off.
        if writer(&mut outlet).and_then(|()| outlet.flush()).is_err() {
            let _ = outlet.pieces.try_send(Err(Cut));
        }
    });
    match told.await {
        Ok((answer, None)) => response(&door.guard, answer),
        Ok((answer, Some(pieces))) => response(&door.guard, answer).map(|_| Sent::Pieces(pieces)),
        Err(_) => refusal(&door.guard, StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// A refusal: it says nothing but that.
fn refusal(guard: &Guard, status: StatusCode) -> Response<Sent> {
    let reason = status.canonical_reason().unwrap_or("Refused");
    let answer = Answer {
        status: status.as_u16(),
        content_type: "text/plain; charset=utf-8",
        ..Answer::page(format!("{reason}\n"))
    };
    response(guard, answer)
}

fn response(_: &Guard, answer: Answer) -> Response<Sent> {
    let bytes = match answer.body {
        Body::Whole(bytes) => bytes,
        Body::Stream(_) => Vec::new(),
    };
    let mut response = Response::new(Sent::Whole(Some(Bytes::from(bytes))));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let content_type = HeaderValue::from_static(answer.content_type);
    headers.insert(header::CONTENT_TYPE, content_type);
    let location = answer.location.map(HeaderValue::try_from);
    if let Some(Ok(location)) = location {
        headers.insert(header::LOCATION, location);
    }
    let policy = policy(Setting::Served) + "; frame-ancestors 'none'";
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What stands above each answer.
const ALWAYS: [(HeaderName, &str); 5] = [
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// What is sent to a browser.
enum Sent {
    Whole(Option<Bytes>),
    Pieces(mpsc::Receiver<Result<Bytes, Cut>>),
}

/// What was sent broke off.
#[derive(Debug, thiserror::Error)]
#[error("the answer broke off")]
struct Cut;

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Pieces(pieces) => {
                let piece = pieces.poll_recv(context);
                piece.map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}

/// Where an answer is written while it is sent.
struct Outlet {
    pieces: mpsc::Sender<Result<Bytes, Cut>>,
    piece: Vec<u8>,
    site: Site,
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let mut piece = Ok(Bytes::from(std::mem::take(&mut self.piece)));
        let since = Instant::now();
        loop {
            piece = match self.pieces.try_send(piece) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(piece)) => piece,
                Err(TrySendError::Closed(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
            };
            if since.elapsed() > STALLED || self.site.is_over() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}
