//! A server's repository put back as it was at a point, by the very commands of `docs/scale.md`.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::cluster;
use crate::sandbox::Sandbox;

const DOCUMENT: &str = include_str!("../../../docs/scale.md");

/// The block of the document that holds these words.
fn block(words: &str) -> &'static str {
    let (_, section) = DOCUMENT
        .split_once("\n## Back to a point\n")
        .expect("the section");
    let (section, _) = section.split_once("\n## ").expect("another one");
    let blocks = section.split("```").skip(1).step_by(2);
    let mut found = blocks.filter(|block| block.contains(words));
    let block = found
        .next()
        .unwrap_or_else(|| panic!("no block with {words}"));
    assert_eq!(found.next(), None, "two blocks with {words}");
    let (_, commands) = block.split_once('\n').expect("a language");
    commands
}

/// A folder of whoever may run servers, with those that run in it.
struct Place {
    folder: String,
    programs: PathBuf,
}

impl Place {
    fn new() -> Option<Self> {
        // Says by itself that it is skipped, where there is no server.
        cluster::socket()?;
        let mut place = Self {
            folder: String::new(),
            programs: cluster::programs()?,
        };
        place.folder = place
            .run("mktemp -d /tmp/tract-point.XXXXXX")
            .trim()
            .to_owned();
        Some(place)
    }

    fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    /// Runs commands; what they print.
    fn run(&self, script: &str) -> String {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = cluster::shell()
            .args(["-e", "-c", script])
            .current_dir("/")
            .env("PATH", format!("{}:{path}", self.programs.display()))
            .envs(["SCHEMA", "DATABASE"].map(|name| (name, name.to_lowercase())))
            .env("DATABASE", "postgres")
            .envs(["COPY", "ARCHIVE", "BASE", "RESTORED"].map(|name| (name, self.at(name))))
            .env("OPTIONS", format!("-k {} -p 5433 -h ''", self.folder))
            .envs([("PGHOST", &*self.folder), ("PGUSER", "tract")])
            .env_remove("PGPORT")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A cluster with these settings, on a socket in the folder.
    fn start(&self, settings: &str) {
        self.run(&format!(
            "{new_cluster} new_cluster '{programs}' '{0}/data' >'{0}/log' 2>&1
             mkdir '{0}/ARCHIVE'
             cat >>'{0}/data/postgresql.conf' <<'END'\n{settings}\nEND
             pg_ctl -D '{0}/data' -l '{0}/log' -o \"-k {0} -h ''\" -w start >/dev/null",
            self.folder,
            new_cluster = cluster::NEW_CLUSTER,
            programs = self.programs.display(),
        ));
    }

    fn address(&self, port: u16) -> String {
        format!(
            "postgres://tract@/postgres?host={}&port={port}&schema=schema",
            self.folder
        )
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let script = format!(
            "for data in '{0}/data' '{0}/RESTORED'; do pg_ctl -D \"$data\" -m immediate stop || true; done; rm -rf '{0}'",
            self.folder
        );
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = cluster::shell();
        let shell = shell.args(["-c", &script]).current_dir("/");
        let shell = shell.env("PATH", format!("{}:{path}", self.programs.display()));
        let _ = shell.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

fn say(sandbox: &Sandbox, address: &str, text: &str) {
    sandbox.ok(&["--repo", address, "commit", "-r", "user", "-m", text]);
}

/// What the log holds, once all of it was checked.
fn log(sandbox: &Sandbox, address: &str) -> String {
    let checked = sandbox.tract(&["--repo", address, "fsck"]);
    assert!(checked.ends_with(": no damage\n"), "{checked}");
    sandbox.ok(&["--repo", address, "log", "--reverse", "--format", "%s"])
}

#[test]
fn a_schema_comes_back_as_it_was_when_it_was_copied() {
    let Some(place) = Place::new() else {
        return;
    };
    place.start("");
    let (sandbox, address) = (Sandbox::empty(), place.address(5432));
    sandbox.ok(&["init", &address]);
    say(&sandbox, &address, "one");
    say(&sandbox, &address, "two");
    place.run(block("pg_dump "));
    say(&sandbox, &address, "three");
    sandbox.ok(&["--repo", &address, "branch", "later"]);
    place.run(block("pg_restore "));
    assert_eq!(log(&sandbox, &address), "one\ntwo\n");
    // It goes on from there.
    say(&sandbox, &address, "four");
    sandbox.ok(&["--repo", &address, "undo"]);
    assert_eq!(log(&sandbox, &address), "one\ntwo\n");
}

#[test]
fn a_cluster_comes_back_as_it_was_at_a_moment() {
    let Some(place) = Place::new() else {
        return;
    };
    let settings = block("archive_command").replace("$ARCHIVE", &place.at("ARCHIVE"));
    place.start(&settings);
    let (sandbox, address) = (Sandbox::empty(), place.address(5432));
    sandbox.ok(&["init", &address]);
    say(&sandbox, &address, "one");
    place.run(block("pg_basebackup "));
    say(&sandbox, &address, "two");
    let moment = place.run("psql -At -d postgres -c 'SELECT clock_timestamp()'");
    std::thread::sleep(Duration::from_millis(50));
    say(&sandbox, &address, "three");
    place.run("psql -q -d postgres -c 'DROP SCHEMA schema CASCADE' 2>/dev/null");
    place.run(block("pg_switch_wal"));
    let from = Instant::now();
    let archived = "psql -At -d postgres -c \"SELECT last_archived_wal IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_ls_archive_statusdir() WHERE name LIKE '%.ready') FROM pg_stat_archiver\"";
    while place.run(archived).trim() != "t" {
        assert!(
            from.elapsed() < Duration::from_secs(60),
            "nothing is archived"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    // The doctor knows of the archive.
    sandbox.ok(&["init", &address]);
    let said = sandbox.tract(&["--repo", &address, "doctor"]);
    let backup = said
        .lines()
        .find(|line| line.contains("backup"))
        .expect("a line");
    assert!(
        backup.starts_with("good ") && backup.contains("archived"),
        "{backup}"
    );

    let restore = block("recovery_target_time");
    place.run(&format!("MOMENT='{}'\n{restore}", moment.trim()));
    let address = place.address(5433);
    // Until it is promoted it can only be read.
    let from = Instant::now();
    while place
        .run("psql -p 5433 -At -d postgres -c 'SELECT pg_is_in_recovery()'")
        .trim()
        != "f"
    {
        assert!(
            from.elapsed() < Duration::from_secs(60),
            "it stays a replica"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(log(&sandbox, &address), "one\ntwo\n");
    say(&sandbox, &address, "four");
    assert_eq!(log(&sandbox, &address), "one\ntwo\nfour\n");
}
