//! A server that runs, and requests byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// A server of a sandbox. It ends with the test.
pub struct Served {
    child: Child,
    _out: BufReader<ChildStdout>,
    pub port: u16,
    pub token: String,
    /// The token, and the page that it leads to.
    pub place: String,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Served {
    /// With these arguments behind `web --no-open`.
    pub fn of(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let all: Vec<&str> = ["web", "--no-open"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        Self::run(sandbox.command(&all))
    }

    /// Of a command that is to serve.
    pub fn run(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut address = String::new();
        out.read_line(&mut address).expect("UTF-8");
        let rest = address.trim().strip_prefix("http://127.0.0.1:");
        let Some((port, place)) = rest.and_then(|rest| rest.split_once('/')) else {
            let mut said = String::new();
            let mut err = child.stderr.take().expect("it is piped");
            let _ = err.read_to_string(&mut said);
            panic!("no address: {address:?} {said}");
        };
        Self {
            port: port.parse().expect("a port"),
            token: place.split('/').next().unwrap_or_default().to_owned(),
            place: place.to_owned(),
            child,
            _out: out,
        }
    }

    /// The address of the first page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    pub fn connection(&self) -> TcpStream {
        let connection = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let time = Some(Duration::from_secs(60));
        connection.set_read_timeout(time).expect("a socket");
        connection
    }

    /// Sends these bytes and reads what comes until the end.
    pub fn raw(&self, bytes: &[u8]) -> Reply {
        let mut connection = self.connection();
        let _ = connection.write_all(bytes);
        let mut read = Vec::new();
        let _ = connection.read_to_end(&mut read);
        let text = String::from_utf8_lossy(&read).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Reply {
            status: status.unwrap_or(0),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    /// Gets a path with these lines above it.
    pub fn asked(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        self.raw((text + "\r\n").as_bytes())
    }

    /// Gets a page, seen from the first one.
    pub fn get(&self, page: &str) -> Reply {
        self.asked("GET", &format!("/{}/{page}", self.token), &[])
    }

    /// The first page, once all of it is known.
    pub fn settled(&self, page: &str) -> String {
        let since = Instant::now();
        loop {
            let reply = self.get(page);
            assert_eq!(reply.status, 200, "{reply:?}");
            if !reply.body.contains("class=\"list\" data-pending=\"") {
                return reply.body;
            }
            let denies = reply.body.contains("data-pending=\"search\"")
                && reply.body.contains("No message matches");
            assert!(
                !denies,
                "nothing is denied while it is searched: {}",
                reply.body
            );
            assert!(
                since.elapsed() < Duration::from_secs(60),
                "it never settles"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether it still answers.
    pub fn lives(&mut self) -> bool {
        self.get("").status == 200 && matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks for its end by a signal; the exit code and what it said on standard error.
    #[cfg(unix)]
    pub fn ended(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.expect("kill runs").success());
        let status = self.child.wait().expect("it ends");
        let mut said = String::new();
        let mut err = self.child.stderr.take().expect("it is piped");
        err.read_to_string(&mut said).expect("UTF-8");
        (status.code(), said)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
