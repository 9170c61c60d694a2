//! What is said of a commit whose server dies, whose link is cut, or whose replica takes over: always the truth.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::tests::cluster::{NEW_CLUSTER, programs, shell};
use super::*;
use crate::error::Interrupted;
use crate::hash::ContentHash;
use crate::model::{Message, Role};

/// A server that can be killed, started again, copied and promoted.
struct Server {
    programs: PathBuf,
    folder: PathBuf,
}

impl Server {
    fn run(programs: &Path, script: &str, folder: &Path, more: &Path) {
        let done = shell()
            .args(["-ec", script, "sh"])
            .args([programs, folder, more])
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(done.is_ok_and(|done| done.success()), "{script}");
    }

    fn ask(&self, script: &str) {
        Self::run(&self.programs, script, &self.folder, Path::new(""));
    }

    /// One of its own; none where no server is installed.
    fn new(folder: &Path) -> Option<Self> {
        let (programs, folder) = (programs()?, folder.to_owned());
        let server = Self { programs, folder };
        let make = r#"mkdir "$2"; new_cluster "$1" "$2/data""#;
        server.ask(&[NEW_CLUSTER, make].concat());
        server.start();
        Some(server)
    }

    /// Another that follows this one.
    fn replica(&self, folder: &Path) -> Self {
        let script = r#"mkdir "$3"; "$1/pg_basebackup" -h "$2" -U tract -D "$3/data" -R -c fast"#;
        Self::run(&self.programs, script, &self.folder, folder);
        let replica = Self {
            programs: self.programs.clone(),
            folder: folder.to_owned(),
        };
        replica.start();
        replica
    }

    fn start(&self) {
        self.ask(
            r#""$1/pg_ctl" -w -D "$2/data" -l "$2/log" -o "-k $2 -h '' -F" start </dev/null >/dev/null 2>&1"#,
        );
    }

    /// As a machine dies: nothing is written any more.
    fn kill(&self) {
        self.ask(r#""$1/pg_ctl" -w -D "$2/data" -m immediate stop"#);
    }

    fn promote(&self) {
        self.ask(r#""$1/pg_ctl" -w -D "$2/data" promote"#);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let stop = r#""$1/pg_ctl" -D "$2/data" -m immediate stop || true; rm -rf "$2""#;
        self.ask(stop);
    }
}

/// What becomes of the next COMMIT that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It passes, as does its answer.
    Passes,
    /// It is cut off before the server has it.
    NeverArrives,
    /// The server has done it and the answer is cut off.
    AnswerIsLost,
}

/// What is done while an answer is lost, before anybody notices.
type Meanwhile = Box<dyn FnOnce() + Send>;

/// A link to a server that can be cut, and led to another server.
struct Link {
    folder: PathBuf,
    to: Arc<Mutex<(PathBuf, Fate)>>,
    meanwhile: Arc<Mutex<Option<Meanwhile>>>,
}

const SOCKET: &str = ".s.PGSQL.5432";

impl Link {
    fn new(folder: &Path, server: &Server) -> Self {
        std::fs::create_dir(folder).expect("a folder");
        let listener = UnixListener::bind(folder.join(SOCKET)).expect("a socket");
        let to = Arc::new(Mutex::new((server.folder.clone(), Fate::Passes)));
        let meanwhile = Arc::new(Mutex::new(None));
        let shared = (Arc::clone(&to), Arc::clone(&meanwhile));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (to, meanwhile) = shared.clone();
                thread::spawn(move || carry(client, &to, meanwhile));
            }
        });
        Self {
            folder: folder.to_owned(),
            to,
            meanwhile,
        }
    }

    fn address(&self) -> String {
        format!(
            "postgres://tract@/postgres?host={}",
            self.folder.to_str().expect("a name")
        )
    }

    fn set(&self, fate: Fate) {
        self.to.lock().expect("whole").1 = fate;
    }
}

fn carry(
    client: UnixStream,
    to: &Mutex<(PathBuf, Fate)>,
    meanwhile: Arc<Mutex<Option<Meanwhile>>>,
) -> Option<()> {
    let server = to.lock().ok()?.0.join(SOCKET);
    let server = UnixStream::connect(server).ok()?;
    let answers_lost = Arc::new(Mutex::new(false));
    let (from, into, lost) = (
        server.try_clone().ok()?,
        client.try_clone().ok()?,
        Arc::clone(&answers_lost),
    );
    let answers = move |_: &[u8]| {
        let is_lost = *lost.lock().expect("whole");
        if is_lost && let Some(act) = meanwhile.lock().expect("whole").take() {
            act();
        }
        !is_lost
    };
    thread::spawn(move || pass(from, into, answers));
    pass(client, server, |bytes| {
        let is_commit = bytes.windows(6).any(|word| word == b"COMMIT");
        let mut to = to.lock().expect("whole");
        let fate = if is_commit {
            std::mem::replace(&mut to.1, Fate::Passes)
        } else {
            Fate::Passes
        };
        *answers_lost.lock().expect("whole") |= fate == Fate::AnswerIsLost;
        fate != Fate::NeverArrives
    });
    Some(())
}

/// Passes on what comes until an end, or something that does not pass: then both are cut.
fn pass(mut from: UnixStream, mut into: UnixStream, mut passes: impl FnMut(&[u8]) -> bool) {
    let mut bytes = [0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut bytes)
        && passes(&bytes[..count])
        && into.write_all(&bytes[..count]).is_ok()
    {}
    let _ = from.shutdown(std::net::Shutdown::Both);
    let _ = into.shutdown(std::net::Shutdown::Both);
}

/// A folder that a server may be in, gone in the end.
fn folder() -> tempfile::TempDir {
    let mut folder = tempfile::Builder::new();
    let folder = folder.prefix("tract-crash-").tempdir_in("/tmp");
    let folder = folder.expect("a folder");
    let _ = Command::new("chmod").arg("777").arg(folder.path()).status();
    folder
}

/// A transaction with a message in it, under an operation.
fn begun<'a>(store: &'a Postgres, text: &str) -> (Box<dyn Tx + 'a>, ContentHash) {
    let tx = store.write().expect("the lock");
    tx.begin_operation(Millis(0), "commit").expect("open");
    let hash = tx.keep(&Message::text(Role::User, text)).expect("kept");
    (tx, hash)
}

fn is_here(store: &Postgres, hash: &ContentHash) -> bool {
    let found = store.read().and_then(|view| view.content(hash));
    found.expect("it reads").is_some()
}

fn done(store: &Postgres) -> u64 {
    store
        .operations_committed()
        .load(std::sync::atomic::Ordering::Relaxed)
}

fn is_undone(done: Result<()>) -> bool {
    let during = Interrupted::Undone;
    matches!(done, Err(Error::Disconnected { during: found }) if found == during)
}

#[test]
fn what_a_dying_server_lost_is_lost_whoever_gets_its_number() {
    let folder = folder();
    let Some(server) = Server::new(&folder.path().join("one")) else {
        return;
    };
    let link = Link::new(&folder.path().join("link"), &server);
    let (store, _) = Postgres::create(&link.address()).expect("a repository");
    let (tx, hash) = begun(&store, "lost");
    server.kill();
    server.start();
    // Others write on, with the numbers of what was lost.
    let other = Postgres::open(&link.address()).expect("opens");
    for at in 0..9 {
        begun(&other, &at.to_string()).0.commit().expect("made");
    }
    assert!(is_undone(tx.commit()));
    assert!(!is_here(&store, &hash));
    assert_eq!((done(&store), done(&other)), (0, 9));
}

#[test]
fn a_link_that_is_cut_at_commit_is_told_from_one_that_is_cut_behind_it() {
    let folder = folder();
    let Some(server) = Server::new(&folder.path().join("one")) else {
        return;
    };
    let link = Link::new(&folder.path().join("link"), &server);
    let (store, _) = Postgres::create(&link.address()).expect("a repository");
    let (tx, hash) = begun(&store, "made");
    link.set(Fate::AnswerIsLost);
    tx.commit().expect("it was made");
    assert!(is_here(&store, &hash));
    let (tx, hash) = begun(&store, "never made");
    link.set(Fate::NeverArrives);
    assert!(is_undone(tx.commit()));
    assert!(!is_here(&store, &hash));
    assert_eq!(done(&store), 1);
    // What is lost while somebody reads has written nothing and taken nothing back.
    let view = store.read().expect("a view");
    view.content(&hash).expect("it begins");
    server.kill();
    let during = match view.last_purge() {
        Err(Error::Disconnected { during }) => Some(during),
        _ => None,
    };
    assert_eq!(during, Some(Interrupted::Reading));
}

#[test]
fn a_replica_that_takes_over_says_what_it_has() {
    let folder = folder();
    let Some(first) = Server::new(&folder.path().join("one")) else {
        return;
    };
    let link = Link::new(&folder.path().join("link"), &first);
    let (store, _) = Postgres::create(&link.address()).expect("a repository");
    let second = first.replica(&folder.path().join("two"));
    let promoted = |second: Server| {
        let second = Arc::new(second);
        let (shown, to) = (Arc::clone(&second), Arc::clone(&link.to));
        let meanwhile: Meanwhile = Box::new(move || {
            first.kill();
            to.lock().expect("whole").0 = shown.folder.clone();
            shown.start();
            // While it only follows, nothing can be told.
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(500));
                shown.promote();
            });
        });
        *link.meanwhile.lock().expect("whole") = Some(meanwhile);
        second
    };
    // It follows no more, so it will never have this one.
    second.kill();
    let (tx, hash) = begun(&store, "not copied");
    let second = promoted(second);
    link.set(Fate::AnswerIsLost);
    assert!(is_undone(tx.commit()));
    assert!(!is_here(&store, &hash));
    let (tx, hash) = begun(&store, "after it");
    tx.commit().expect("made");
    assert!(is_here(&store, &hash));
    drop(second);
}
