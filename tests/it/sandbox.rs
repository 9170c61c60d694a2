//! A place to run `tract` in where nothing outside has a say: home, clock, width, time zone and
//! colour are pinned, so that snapshots of real hashes hold still.
//!
//! With `TRACT_TEST_ENGINE=postgres` its repository is a schema on a server of the tests' own, by
//! `TRACT_REPO`, and goes by the name of `.tract` in what is said. Tests about the file itself are left out
//! then, which each of them says.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;
use rusqlite::types::Value;
use tract::formats::FORMATS;

use crate::cluster;
pub use crate::conditions::on_servers;

/// 2026-03-14 12:00:00 UTC.
const CLOCK: i64 = 1_773_489_600_000;

/// A fresh directory with a home beside it.
pub struct Sandbox {
    root: tempfile::TempDir,
    clock: Cell<i64>,
    /// Where its repository is, if that is on a server.
    server: Option<String>,
    /// Whether people go by the names that are set, or by their account.
    has_names: Cell<bool>,
}

impl Sandbox {
    /// Without a repository.
    pub fn empty() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        for name in ["home", "work"] {
            std::fs::create_dir(root.path().join(name)).expect("made");
        }
        let clock = Cell::new(CLOCK);
        let server = on_servers().then(|| cluster::address().expect("a server"));
        Self {
            root,
            clock,
            server,
            has_names: Cell::new(false),
        }
    }

    /// From here on people go by the names that are set, or by their account.
    pub fn name_people(&self) {
        self.has_names.set(true);
    }

    /// With an empty repository.
    pub fn new() -> Self {
        let sandbox = Self::empty();
        sandbox.ok(&["init"]);
        sandbox
    }

    /// With a repository that holds these messages: role and text.
    pub fn with_messages(messages: &[(&str, &str)]) -> Self {
        let sandbox = Self::new();
        for (role, text) in messages {
            sandbox.ok(&["commit", "-r", role, "-m", text]);
        }
        sandbox
    }

    /// The working directory.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// The home directory.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Where its repository is: a directory, or an address.
    pub fn place(&self) -> String {
        let directory = || self.work().display().to_string();
        self.server.clone().unwrap_or_else(directory)
    }

    /// Whether it has a repository.
    pub fn is_made(&self) -> bool {
        match &self.server {
            None => self.work().join(".tract").exists(),
            Some(server) => !server::query(server, IS_THERE).is_empty(),
        }
    }

    /// The rows that a statement gives, which both engines must understand. Bytes that are text are text.
    pub fn query(&self, sql: &str) -> Vec<Vec<Value>> {
        match &self.server {
            None => rows(&self.file(), sql),
            Some(server) => server::query(server, sql),
        }
    }

    /// The texts that a statement gives, one a row.
    pub fn texts(&self, sql: &str) -> Vec<String> {
        let values = self.query(sql).into_iter().flatten();
        let texts = values.map(|value| match value {
            Value::Text(text) => text,
            other => panic!("a text: {other:?}"),
        });
        texts.collect()
    }

    /// Changes rows behind the program's back.
    pub fn change(&self, sql: &str) {
        match &self.server {
            None => self.file().execute_batch(sql).expect("SQL"),
            Some(server) => drop(server::query(server, sql)),
        }
    }

    fn file(&self) -> Connection {
        Connection::open(self.work().join(".tract/tract.db")).expect("opens")
    }

    /// Writes a file below the working directory.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        std::fs::write(&path, text).expect("written");
        path
    }

    /// Lets so many days go by.
    pub fn wait_days(&self, days: u64) {
        let gone = days * 24 * 60 * 60 * 1000;
        self.clock.set(self.clock.get() + gone as i64);
    }

    /// The program with these arguments, a minute after the last one.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.clock.set(self.clock.get() + 60_000);
        let mut command = Command::new(env!("CARGO_BIN_EXE_tract"));
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TRACT_CLOCK", self.clock.get().to_string())
            .env("COLUMNS", "80")
            .env("TRACT_PAGER", "cat")
            .env("TZ", "UTC")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        if let Some(server) = &self.server {
            command.env("TRACT_REPO", server);
        }
        if !self.has_names.get() {
            // Nobody is named unless a test says who.
            command.env("TRACT_AUTHOR", "");
        }
        command
    }

    /// Runs it; exit code if it isn't 0, standard output, and standard error.
    pub fn tract(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the program runs");
        self.told(&output)
    }

    /// What it draws on a terminal of this width, without colour, with its remarks in their places;
    /// none where there is no `script` of Linux to make one.
    pub fn on_terminal(&self, columns: &str, arguments: &[&str]) -> Option<String> {
        self.drawn(columns, arguments, &[])
    }

    /// The same with more in its environment; an empty value takes a variable out.
    pub fn drawn(
        &self,
        columns: &str,
        arguments: &[&str],
        more: &[(&str, &str)],
    ) -> Option<String> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let tract = self.command(&[]);
        let words: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
        let program = tract.get_program().to_string_lossy();
        let line = format!("{program} {}", words.join(" "));
        let environment = tract.get_envs();
        let environment = environment.filter_map(|(name, value)| Some((name, value?)));
        let mut script = Command::new("script");
        script
            .args(["-qec", &line, "/dev/null"])
            .stdin(Stdio::null())
            .current_dir(self.work())
            .env_clear()
            .envs(environment)
            .env("COLUMNS", columns);
        for (name, value) in more {
            if value.is_empty() {
                script.env_remove(name)
            } else {
                script.env(name, value)
            };
        }
        let output = script.output().ok()?;
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let text = text.replace("\r\n", "\n");
        Some(text.replace(&self.root.path().display().to_string(), "[SANDBOX]"))
    }

    /// Runs it with this on standard input.
    pub fn tract_with(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> String {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut stdin = child.stdin.take().expect("it is piped");
        // The program may refuse before it has read everything.
        let _ = stdin.write_all(input.as_ref());
        drop(stdin);
        self.told(&child.wait_with_output().expect("it ends"))
    }

    /// Runs it, which must succeed; its standard output.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the program runs");
        assert!(
            output.status.success(),
            "{arguments:?}\n{}",
            self.told(&output)
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// All that a run said, with the sandbox's own path as `[SANDBOX]`.
    pub fn told(&self, output: &Output) -> String {
        let mut text = String::new();
        match output.status.code() {
            Some(0) => {}
            Some(code) => writeln!(text, "exit code: {code}").expect("a string"),
            None => writeln!(text, "killed: {}", output.status).expect("a string"),
        }
        text += &String::from_utf8_lossy(&output.stdout);
        if !output.stderr.is_empty() {
            text += "--- stderr\n";
            text += &String::from_utf8_lossy(&output.stderr);
        }
        if let Some(server) = &self.server {
            text = text.replace(server, ".tract");
        }
        // With the next format there is one more.
        let many = format!("the {} formats", FORMATS.len());
        let text = text.replace(&many, "the [N] formats");
        text.replace(&self.root.path().display().to_string(), "[SANDBOX]")
    }
}

/// Whether a test has nothing to try since repositories are on a server this time, and it is about this. It is
/// said past what the test harness keeps to itself.
pub fn is_left_out(about: &str) -> bool {
    if on_servers() {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or_default();
        let line = format!("{name}: LEFT OUT on a server, for it is about {about}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    on_servers()
}

/// What a test is about that has nothing to try on a server.
pub const THE_FILE: &str = "the file";
/// The same.
pub const ITS_COMMANDS: &str = "commands of the configuration";
/// The same.
pub const ONE_PERSON: &str = "a repository of one person";

/// A row where there is a repository on a server.
const IS_THERE: &str = "SELECT 1 FROM pg_tables
     WHERE schemaname = current_schema() AND tablename = 'tract_repository'";

/// Every row of every table.
pub fn dump(sandbox: &Sandbox) -> Vec<(String, Vec<Vec<Value>>)> {
    let names = match &sandbox.server {
        None => "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
        Some(_) => "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1",
    };
    let tables = sandbox.texts(names).into_iter().map(|name| {
        // But for the number of a state, which is drawn.
        let drawn = match name.as_str() {
            "sqlite_sequence" => " WHERE name <> 'generation'",
            _ => "",
        };
        let mut rows = sandbox.query(&format!("SELECT * FROM \"{name}\"{drawn}"));
        if sandbox.server.is_some() {
            // They come as they lie there.
            rows.sort_by_cached_key(|row| format!("{row:?}"));
        }
        (name, rows)
    });
    tables.collect()
}

fn rows(database: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = database.prepare(sql).expect("SQL");
    let columns = statement.column_count();
    let found = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
    let found = found.expect("reads").map(|row| row.expect("a row"));
    found.collect()
}

#[cfg(feature = "postgres")]
pub use server::{query as ask_server, rows as rows_on_server};

#[cfg(feature = "postgres")]
mod server {
    use rusqlite::types::Value;
    use tokio_postgres::{SimpleQueryMessage, SimpleQueryRow};

    use crate::client::Client;

    /// Runs statements in a schema; the rows of what they give.
    pub fn rows(address: &str, sql: &str) -> Vec<SimpleQueryRow> {
        let (server, schema) = address.split_once("&schema=").expect("it ends so");
        let client = Client::connect(&server.parse().expect("an address"));
        // In one piece with it, what follows would stand in a transaction.
        let path = format!("SET search_path = {schema}");
        client.batch_execute(&path).expect("SQL");
        let told = client.wait(async |connection| connection.simple_query(sql).await);
        let rows = told.expect("SQL").into_iter();
        rows.filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        })
        .collect()
    }

    pub fn query(address: &str, sql: &str) -> Vec<Vec<Value>> {
        let rows = rows(address, sql).into_iter();
        rows.map(|row| (0..row.len()).map(|at| value(row.get(at))).collect())
            .collect()
    }

    /// Bytes that are text are text, as all text is kept there.
    fn value(text: Option<&str>) -> Value {
        let Some(text) = text else {
            return Value::Null;
        };
        let Some(digits) = text.strip_prefix("\\x") else {
            let number = text.parse().map(Value::Integer);
            return number.unwrap_or_else(|_| Value::Text(text.to_owned()));
        };
        let pairs = digits.as_bytes().chunks(2);
        let bytes = pairs.map(|pair| {
            let pair = std::str::from_utf8(pair).expect("digits");
            u8::from_str_radix(pair, 16).expect("digits")
        });
        match String::from_utf8(bytes.collect()) {
            Ok(text) => Value::Text(text),
            Err(bytes) => Value::Blob(bytes.into_bytes()),
        }
    }
}

#[cfg(not(feature = "postgres"))]
mod server {
    use rusqlite::types::Value;

    pub fn query(_: &str, _: &str) -> Vec<Vec<Value>> {
        panic!("cargo test --features postgres knows servers");
    }
}
