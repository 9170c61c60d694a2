//! Beside the code: bundles on refs of a git repository, so that any git host is the other side. git does the transport.
//!
//! Each ref of tract's stands on one of git's, `refs/tract/…/NAME.tract`: a commit without a parent, in whose tree `ref.json` says
//! where it is and `0000.tract`, `0001.tract`, … are its bundles, each going on from the one before it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use tract::history::Repo;
use tract::history::sync::{OnShelf, Peer, Shelf, Shelved};
use tract::model::RefName;
use tract::{Error, Result};

use super::strange;
use crate::cli::{self, App, Failure};

/// Where tract's refs stand among git's, there.
const THERE: &str = "refs/tract/";
/// What each ends with: one may stand below another.
const SUFFIX: &str = ".tract";
/// Where they are kept here.
const HERE: &str = "refs/tract-seen/";
/// What says where a ref is.
const HEAD: &str = "ref.json";

/// Lets `act` talk to the git repository that git calls `remote`.
pub fn with<T>(
    remote: &str,
    mine: &Repo,
    app: &mut App,
    act: impl FnOnce(&mut dyn Peer, &mut App) -> cli::Result<T>,
) -> cli::Result<T> {
    let git = Git {
        remote: remote.to_owned(),
    };
    git.run(&["rev-parse", "--git-dir"], &[]).map_err(|_| {
        let failure = Failure::refused("this is not a git repository");
        failure
            .with_hint("inside the one whose remote is meant; or a directory, or ssh://HOST/PATH")
    })?;
    let mut shelf = OnShelf::new(mine, git)?;
    act(&mut shelf, app)
}

struct Git {
    remote: String,
}

impl Git {
    /// Runs git with this on its standard input; what it prints.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        let Output {
            status,
            stdout,
            stderr,
        } = output(arguments, input).map_err(Error::io("git"))?;
        if status.success() {
            return Ok(stdout);
        }
        let said = String::from_utf8_lossy(&stderr);
        if said.contains("stale info") || said.contains("cannot lock ref") {
            return Err(Error::RefMoved {
                name: self.remote.clone(),
                expected: "what was there".to_owned(),
                found: "something else".to_owned(),
            });
        }
        let fatal = said.lines().find(|line| line.starts_with("fatal: "));
        let said = fatal.or(said.lines().next()).unwrap_or("it says nothing");
        Err(strange(format!("cannot be reached by git: {said}")))
    }

    fn text(&self, arguments: &[&str], input: &[u8]) -> Result<String> {
        let said = self.run(arguments, input)?;
        let said = String::from_utf8(said)
            .map_err(|_| strange("sent something that is not text".to_owned()))?;
        Ok(said.trim().to_owned())
    }

    /// Where a ref was last seen, as git names it here.
    fn here(&self, name: &RefName) -> String {
        let below = name.as_str().strip_prefix("refs/").unwrap_or_default();
        format!("{}{below}{SUFFIX}", self.seen())
    }

    fn there(name: &RefName) -> String {
        let below = name.as_str().strip_prefix("refs/").unwrap_or_default();
        format!("{THERE}{below}{SUFFIX}")
    }

    /// Where what this remote has is kept: its name may be a URL.
    fn seen(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = self.remote.chars().map(plain).collect();
        format!("{HERE}{name}/")
    }

    /// The object that a ref was last seen at; empty where there was none.
    fn object(&self, was: Option<&Shelved>) -> Result<String> {
        match was {
            Some(was) => self.text(&["rev-parse", "--verify", &self.here(&was.row.name)], &[]),
            None => Ok(String::new()),
        }
    }

    fn push(&self, name: &RefName, was: &str, to: &str) -> Result<()> {
        let there = Self::there(name);
        let lease = format!("--force-with-lease={there}:{was}");
        let refspec = format!("{to}:{there}");
        self.run(&["push", "--quiet", &lease, &self.remote, &refspec], &[])?;
        match to {
            "" => self.run(&["update-ref", "-d", &self.here(name)], &[])?,
            to => self.run(&["update-ref", &self.here(name), to], &[])?,
        };
        Ok(())
    }
}

impl Shelf for Git {
    fn list(&mut self) -> Result<Vec<Shelved>> {
        let seen = self.seen();
        let refspec = format!("+{THERE}*:{seen}*");
        let fetch = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--prune",
            "--no-write-fetch-head",
        ];
        self.run(&[&fetch[..], &[&self.remote, &refspec]].concat(), &[])?;
        let names = self.text(&["for-each-ref", "--format=%(refname)", &seen], &[])?;
        let mut rows = Vec::new();
        for seen in names.lines() {
            let said = self.run(&["cat-file", "blob", &format!("{seen}:{HEAD}")], &[])?;
            let row = Shelved::from_json(&said)?;
            if self.here(&row.row.name) != seen {
                return Err(strange(format!("has {} by another name", row.row.name)));
            }
            rows.push(row);
        }
        Ok(rows)
    }

    fn read(&mut self, row: &Shelved, number: usize) -> Result<Vec<u8>> {
        let place = format!("{}:{}", self.here(&row.row.name), file(number));
        self.run(&["cat-file", "blob", &place], &[])
    }

    fn put(&mut self, was: Option<&Shelved>, is: &Shelved, bundle: Option<&[u8]>) -> Result<()> {
        let old = self.object(was)?;
        let kept = is.ends.len() - usize::from(bundle.is_some());
        let mut tree = String::new();
        for number in 0..kept {
            let place = format!("{old}:{}", file(number));
            let blob = self.text(&["rev-parse", "--verify", &place], &[])?;
            tree += &format!("100644 blob {blob}\t{}\n", file(number));
        }
        if let Some(bundle) = bundle {
            let blob = self.text(&["hash-object", "-w", "--stdin"], bundle)?;
            tree += &format!("100644 blob {blob}\t{}\n", file(kept));
        }
        let said = is.to_json()?;
        let blob = self.text(&["hash-object", "-w", "--stdin"], &said)?;
        tree += &format!("100644 blob {blob}\t{HEAD}\n");
        let tree = self.text(&["mktree"], tree.as_bytes())?;
        let what = format!("tract: {}", is.row.name);
        let commit = self.text(&["commit-tree", &tree, "-m", &what], &[])?;
        self.push(&is.row.name, &old, &commit)
    }

    fn remove(&mut self, was: &Shelved) -> Result<()> {
        let old = self.object(Some(was))?;
        self.push(&was.row.name, &old, "")
    }
}

/// The name of a bundle.
fn file(number: usize) -> String {
    format!("{number:04}.tract")
}

fn output(arguments: &[&str], input: &[u8]) -> std::io::Result<Output> {
    let mut command = Command::new("git");
    command.args(arguments);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "tract");
        command.env(format!("GIT_{who}_EMAIL"), "tract@localhost");
    }
    // What it says is read here.
    command.env("LC_ALL", "C");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_owned();
    // It may speak before it has read everything.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output();
    let _ = writer.join();
    output
}
