//! A place to run `tract` in where nothing outside has a say: home, clock, width, time zone and
//! colour are pinned, so that snapshots of real hashes hold still.
//!
//! With `TRACT_TEST_ENGINE=postgres` its repository is a schema on a server of the tests' own, by
//! `TRACT_REPO`, and goes by the name of `.tract` in what is said.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::cluster;

/// 2026-03-14 12:00:00 UTC.
const CLOCK: i64 = 1_773_489_600_000;

/// A fresh directory with a home beside it.
pub struct Sandbox {
    root: tempfile::TempDir,
    clock: Cell<i64>,
    /// Where its repository is, if that is on a server.
    server: Option<String>,
}

impl Sandbox {
    /// Without a repository.
    pub fn empty() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        for name in ["home", "work"] {
            std::fs::create_dir(root.path().join(name)).expect("made");
        }
        let clock = Cell::new(CLOCK);
        let is_asked = std::env::var_os("TRACT_TEST_ENGINE").is_some_and(|it| it == "postgres");
        let server = is_asked.then(cluster::address).flatten();
        Self {
            root,
            clock,
            server,
        }
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
            .env("TZ", "UTC")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        if let Some(server) = &self.server {
            command.env("TRACT_REPO", server);
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
            match value.is_empty() {
                true => script.env_remove(name),
                false => script.env(name, value),
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
        text.replace(&self.root.path().display().to_string(), "[SANDBOX]")
    }
}

/// Every row of every table.
pub fn dump(sandbox: &Sandbox) -> Vec<(String, Vec<Vec<Value>>)> {
    let path = sandbox.work().join(".tract/tract.db");
    let database = Connection::open(path).expect("opens");
    let names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    let mut names = database.prepare(names).expect("SQL");
    let names = names
        .query_map([], |row| row.get::<_, String>(0))
        .expect("reads");
    names
        .map(|name| {
            let name = name.expect("a name");
            let mut all = database
                .prepare(&format!("SELECT * FROM \"{name}\""))
                .expect("SQL");
            let columns = all.column_count();
            let rows = all.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
            let rows = rows
                .expect("reads")
                .map(|row| row.expect("a row"))
                .collect();
            (name, rows)
        })
        .collect()
}
