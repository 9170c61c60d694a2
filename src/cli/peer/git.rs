//! Beside the code: bundles on refs of a git repository, so that any git host is the other side. git does the transport.
//!
//! The index is what `refs/tract/index` names, and each bundle is on a ref below `refs/tract/bundles/`. All of them are blobs:
//! of trees and commits a host would keep as many as there ever were pushes, or get each bundle again with every one.

mod seen;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Output, Stdio};

use tract::repo::Repo;
use tract::sync::{LeftOut, OnShelf, Peer, Shelf, Shelved};
use tract::{Error, Result};

use super::{number, strange};
use crate::cli::{self, App, Failure};

/// Where tract's refs stand among git's, there.
const THERE: &str = "refs/tract/";
/// What says what is there.
const INDEX: &str = "refs/tract/index";
/// Where the bundles are.
const BUNDLES: &str = "refs/tract/bundles/";
/// The longest of what says anything, in bytes: as long as a line between two pipes.
const LONGEST: u64 = 64 << 20;
/// How often a listing begins again where refs move meanwhile.
const TRIES: usize = 4;

pub use seen::kept;

/// Lets `act` talk to the git repository that git calls `remote`.
pub fn with<T>(
    remote: &str,
    mine: &Repo,
    app: &mut App,
    act: impl FnOnce(&mut dyn Peer, &mut App) -> cli::Result<T>,
) -> cli::Result<T> {
    let git = Git {
        remote: remote.to_owned(),
        ..Git::default()
    };
    git.run(&["rev-parse", "--git-dir"], &[]).map_err(|_| {
        let failure = Failure::refused("this is not a git repository");
        failure
            .with_hint("inside the one whose remote is meant; or a directory, or ssh://HOST/PATH")
    })?;
    let mut shelf = OnShelf::new(mine, git)?;
    act(&mut shelf, app)
}

#[derive(Default)]
struct Git {
    remote: String,
    /// Which object the index was when it was last looked at; empty where there was none.
    index: String,
    /// Which object each bundle is, by its name.
    bundles: BTreeMap<String, String>,
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

    /// Keeps something as an object of git's here; its name.
    fn kept(&self, bytes: &[u8]) -> Result<String> {
        self.text(&["hash-object", "-w", "--stdin"], bytes)
    }

    fn push(&self, arguments: &[String]) -> Result<()> {
        let mut all = vec!["push", "--quiet"];
        all.extend(arguments.iter().map(String::as_str));
        self.run(&all, &[]).map(|_| ())
    }

    /// The refs below `refs/tract/` there, by git's names, and what each is.
    fn refs(&self) -> Result<BTreeMap<String, String>> {
        let said = self.text(&["ls-remote", &self.remote, &format!("{THERE}*")], &[])?;
        let rows = said.lines().filter_map(|line| line.split_once('\t'));
        let rows = rows.filter(|(_, name)| name.starts_with(THERE));
        Ok(rows
            .map(|(object, name)| (name.to_owned(), object.to_owned()))
            .collect())
    }

    /// Brings what these refs are made of, as objects that no ref of git's leads to here: what is on a ref would go
    /// wherever all refs are pushed.
    fn fetch<'a>(&self, there: impl Iterator<Item = (&'a String, &'a String)>) -> Result<()> {
        let there: Vec<(&String, &String)> = there.collect();
        let missing = seen::missing(there.iter().map(|(_, object)| object.as_str()))
            .map_err(Error::io("git"))?;
        let names = there.iter().filter(|(_, object)| missing.contains(*object));
        let names: String = names.map(|(name, _)| format!("{name}\n")).collect();
        if names.is_empty() {
            return Ok(());
        }
        // Nothing of the code leads there, so there is nothing to agree on.
        let mut fetch = vec!["-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet"];
        fetch.extend([
            "--no-tags",
            "--no-write-fetch-head",
            "--stdin",
            &self.remote,
        ]);
        self.run(&fetch, names.as_bytes())?;
        Ok(())
    }

    /// All refs there, at one moment, with the index.
    fn fetched(&self) -> Result<BTreeMap<String, String>> {
        let mut there = self.refs()?;
        for _ in 0..TRIES {
            let done = self.fetch(there.get_key_value(INDEX).into_iter());
            let index = there.get(INDEX).into_iter().map(String::as_str);
            if done.is_ok() && seen::missing(index).is_ok_and(|it| it.is_empty()) {
                return Ok(there);
            }
            // One that has moved meanwhile is another one now.
            let now = self.refs()?;
            if now == there {
                return done.map(|()| there);
            }
            there = now;
        }
        self.fetch(there.get_key_value(INDEX).into_iter())?;
        Ok(there)
    }

    /// An object of git's here that is not too long.
    fn blob(&self, place: &str, what: &str) -> Result<Vec<u8>> {
        let size = self.text(&["cat-file", "-s", place], &[]);
        let size = size.map_err(|_| strange(format!("has no {what}")))?;
        if size.parse().is_ok_and(|size: u64| size > LONGEST) {
            return Err(strange(format!("has a {what} that is too long")));
        }
        self.run(&["cat-file", "blob", place], &[])
    }

    fn indexed(&self, object: &str) -> Result<Shelved> {
        match object {
            "" => Ok(Shelved::default()),
            object => Shelved::from_json(&self.blob(object, "index")?),
        }
    }

    /// Takes refs away that nothing names any more. What stays is taken away by the next who pushes.
    fn sweep<'a>(&self, bundles: impl Iterator<Item = &'a String>) {
        let mut arguments = vec![self.remote.clone()];
        arguments.extend(bundles.map(|name| format!(":{BUNDLES}{name}")));
        if arguments.len() > 1 {
            let _ = self.push(&arguments);
        }
    }

    /// Writes down which objects are here of what is there.
    fn remember(&self) {
        let there = self.bundles.values().chain([&self.index]);
        seen::remember(&self.remote, there.map(String::as_str));
    }

    /// Whether a put that failed came through all the same; none: nobody has put anything.
    fn came_through(&self, index: &str, new: &[(String, Vec<u8>)]) -> Result<Option<bool>> {
        let there = self.fetched()?;
        let now = there.get(INDEX).map_or("", String::as_str);
        if now == index {
            return Ok(Some(true));
        }
        if now == self.index {
            return Ok(None);
        }
        // Somebody may have gone on from it.
        let is = self.indexed(now)?;
        let is_named = |name: &String| is.bundles.iter().any(|it| it.name == *name);
        Ok(Some(new.iter().any(|(name, _)| is_named(name))))
    }
}

impl Shelf for Git {
    fn look(&mut self) -> Result<Shelved> {
        let there = self.fetched()?;
        self.index = there.get(INDEX).cloned().unwrap_or_default();
        let mut is = self.indexed(&self.index)?;
        self.bundles.clear();
        for (name, object) in there {
            if name == INDEX {
                continue;
            }
            if let Some(bundle) = name.strip_prefix(BUNDLES)
                && number::is_one(bundle)
            {
                self.bundles.insert(bundle.to_owned(), object);
                continue;
            }
            let why = "it is neither the index nor a bundle";
            is.left_out.push(LeftOut::new(name.as_str(), why));
        }
        self.remember();
        Ok(is)
    }

    fn name(&mut self) -> Result<String> {
        number::drawn()
    }

    fn foresee(&mut self, names: &[String]) -> Result<()> {
        let known = names
            .iter()
            .filter_map(|name| self.bundles.get_key_value(name));
        let known = known.map(|(name, object)| (format!("{BUNDLES}{name}"), object));
        let known: Vec<(String, &String)> = known.collect();
        // Where one is gone, whoever reads it finds out.
        let _ = self.fetch(known.iter().map(|(name, object)| (name, *object)));
        Ok(())
    }

    fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(object) = self.bundles.get(name).cloned() else {
            return Ok(None);
        };
        let place = format!("{BUNDLES}{name}");
        if let Err(error) = self.fetch([(&place, &object)].into_iter()) {
            return match self.refs()?.contains_key(&place) {
                true => Err(error),
                false => Ok(None),
            };
        }
        self.run(&["cat-file", "blob", &object], &[]).map(Some)
    }

    fn put(&mut self, is: &Shelved, new: &[(String, Vec<u8>)]) -> Result<bool> {
        let mut arguments = vec![self.remote.clone()];
        let mut bundles = BTreeMap::new();
        for (name, bytes) in new {
            let object = self.kept(bytes)?;
            arguments.push(format!("{object}:{BUNDLES}{name}"));
            bundles.insert(name.clone(), object);
        }
        if !new.is_empty() {
            self.push(&arguments)?;
        }
        let index = self.kept(&is.to_json()?)?;
        let put = self.push(&[
            format!("--force-with-lease={INDEX}:{}", self.index),
            self.remote.clone(),
            format!("{index}:{INDEX}"),
        ]);
        if let Err(error) = put {
            match self.came_through(&index, new)? {
                Some(true) => {}
                Some(false) => {
                    self.sweep(bundles.keys());
                    return Ok(false);
                }
                None => return Err(error),
            }
        }
        self.index = index;
        self.bundles.append(&mut bundles);
        // Whatever was there before the index moved and it does not name was put for nothing: who put it is too late.
        let named: BTreeSet<&String> = is.bundles.iter().map(|it| &it.name).collect();
        self.sweep(self.bundles.keys().filter(|name| !named.contains(name)));
        self.bundles.retain(|name, _| named.contains(name));
        self.remember();
        Ok(true)
    }
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
