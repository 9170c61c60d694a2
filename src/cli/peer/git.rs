//! Beside the code: bundles on refs of a git repository, so that any git host is the other side. git does the transport.
//!
//! Each ref of tract's stands on one of git's, `refs/tract/…/NAME.tract`: a commit without a parent, in whose tree `ref.json` says
//! where it is and `0000.tract`, `0001.tract`, … are its bundles, each going on from the one before it.

mod seen;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Output, Stdio};

use tract::history::Repo;
use tract::history::sync::{LeftOut, OnOffer, OnShelf, Peer, Shelf, Shelved};
use tract::model::{Author, RefName};
use tract::{Error, Result};

use super::strange;
use crate::cli::{self, App, Failure};

/// Where tract's refs stand among git's, there.
const THERE: &str = "refs/tract/";
/// What each ends with: one may stand below another.
const SUFFIX: &str = ".tract";
/// What says where a ref is.
const HEAD: &str = "ref.json";
/// The longest of these, in bytes: as long as a line between two pipes.
const LONGEST: u64 = 64 << 20;
/// How often a listing begins again where refs move meanwhile.
const TRIES: usize = 4;

pub use seen::forget;

/// Lets `act` talk to the git repository that git calls `remote`.
pub fn with<T>(
    remote: &str,
    mine: &Repo,
    app: &mut App,
    act: impl FnOnce(&mut dyn Peer, &mut App) -> cli::Result<T>,
) -> cli::Result<T> {
    let git = Git {
        author: GitAuthor::of(mine.signature()),
        remote: remote.to_owned(),
        objects: BTreeMap::new(),
        broken: BTreeSet::new(),
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
    /// Who pushes.
    author: GitAuthor,
    remote: String,
    /// Which object each ref was last seen at.
    objects: BTreeMap<RefName, String>,
    /// Git's names of what stands in the place of a ref of tract's and is none.
    broken: BTreeSet<String>,
}

impl Git {
    /// Runs git with this on its standard input; what it prints.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        let Output {
            status,
            stdout,
            stderr,
        } = output_by(&self.author, arguments, input).map_err(Error::io("git"))?;
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

    fn there(name: &RefName) -> String {
        let below = name.as_str().strip_prefix("refs/").unwrap_or_default();
        format!("{THERE}{below}{SUFFIX}")
    }

    /// The object that a ref was last seen at; empty where there was none.
    fn object(&self, was: Option<&Shelved>) -> Result<String> {
        let Some(was) = was else {
            return Ok(String::new());
        };
        let object = self.objects.get(&was.row.name).cloned();
        object.ok_or_else(|| strange(format!("has no {}", was.row.name.short())))
    }

    fn push(&mut self, name: &RefName, was: &str, to: &str) -> Result<()> {
        let there = Self::there(name);
        if self.broken.contains(&there) {
            return Err(strange(format!(
                "has something else in the place of {}: git push {} :{there} takes it away",
                name.short(),
                self.remote
            )));
        }
        let lease = format!("--force-with-lease={there}:{was}");
        let refspec = format!("{to}:{there}");
        self.run(&["push", "--quiet", &lease, &self.remote, &refspec], &[])?;
        match to {
            "" => self.objects.remove(name),
            to => self.objects.insert(name.clone(), to.to_owned()),
        };
        seen::remember(&self.remote, self.objects.values());
        Ok(())
    }

    /// The refs below `refs/tract/` there, by git's names, and what each is.
    fn refs(&self) -> Result<Vec<(String, String)>> {
        let said = self.text(&["ls-remote", &self.remote, &format!("{THERE}*")], &[])?;
        let rows = said.lines().filter_map(|line| line.split_once('\t'));
        let rows = rows.filter(|(_, name)| name.starts_with(THERE));
        Ok(rows
            .map(|(object, name)| (name.to_owned(), object.to_owned()))
            .collect())
    }

    /// Brings what these refs are made of, as objects that no ref of git's leads to here: what is on a ref would go
    /// wherever all refs are pushed.
    fn fetch(&self, there: &[(String, String)]) -> Result<()> {
        let missing = seen::missing(there.iter().map(|(_, object)| object.as_str()))
            .map_err(Error::io("git"))?;
        let names = there.iter().filter(|(_, object)| missing.contains(object));
        let names: String = names.map(|(name, _)| format!("{name}\n")).collect();
        if names.is_empty() {
            return Ok(());
        }
        let tips = seen::remembered(&self.remote);
        let tips: Vec<String> = tips
            .iter()
            .map(|it| format!("--negotiation-tip={it}"))
            .collect();
        let mut fetch = vec!["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        fetch.extend(tips.iter().map(String::as_str));
        fetch.extend(["--stdin", &self.remote]);
        self.run(&fetch, names.as_bytes())?;
        Ok(())
    }

    /// All refs there, with what they are made of, at one moment.
    fn fetched(&self) -> Result<Vec<(String, String)>> {
        let mut there = self.refs()?;
        for _ in 0..TRIES {
            let done = self.fetch(&there);
            let objects = there.iter().map(|(_, object)| object.as_str());
            if done.is_ok() && seen::missing(objects).is_ok_and(|it| it.is_empty()) {
                return Ok(there);
            }
            // One that has moved meanwhile is another one now.
            let now = self.refs()?;
            if now == there {
                return done.map(|()| there);
            }
            there = now;
        }
        self.fetch(&there)?;
        Ok(there)
    }

    /// What a ref says of itself.
    fn read_ref(&self, name: &str, object: &str) -> Result<Shelved> {
        let place = format!("{object}:{HEAD}");
        let size = self.text(&["cat-file", "-s", &place], &[]);
        let size = size.map_err(|_| strange(format!("has no {HEAD}")))?;
        if size.parse().is_ok_and(|size: u64| size > LONGEST) {
            return Err(strange(format!("has a {HEAD} that is too long")));
        }
        let said = self.run(&["cat-file", "blob", &place], &[])?;
        let row = Shelved::from_json(&said)?;
        if Self::there(&row.row.name) != name {
            return Err(strange(format!("has {} by another name", row.row.name)));
        }
        Ok(row)
    }
}

impl Shelf for Git {
    fn list(&mut self) -> Result<OnOffer> {
        seen::drop_refs();
        let there = self.fetched()?;
        let mut listed = OnOffer::default();
        for (name, object) in there {
            match self.read_ref(&name, &object) {
                Ok(row) => {
                    self.objects.insert(row.row.name.clone(), object);
                    listed.rows.push(row);
                }
                Err(error) => {
                    let why = match error {
                        Error::BrokenPeer { detail } => format!("it {detail}"),
                        error => error.to_string(),
                    };
                    listed.left_out.push(LeftOut::new(name.as_str(), why));
                    self.broken.insert(name);
                }
            }
        }
        seen::remember(&self.remote, self.objects.values());
        Ok(listed)
    }

    fn read(&mut self, row: &Shelved, number: usize) -> Result<Vec<u8>> {
        let place = format!("{}:{}", self.object(Some(row))?, file(number));
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

/// Who git says made a commit.
struct GitAuthor {
    name: String,
    email: String,
}

impl Default for GitAuthor {
    fn default() -> Self {
        Self {
            name: "tract".to_owned(),
            email: "tract@localhost".to_owned(),
        }
    }
}

impl GitAuthor {
    /// `Mara <mara@example.org>` as git has it, or a name alone. What git would not take for one leaves nobody.
    fn of(author: Option<&Author>) -> Self {
        let nobody = Self::default();
        let Some(said) = author.and_then(|author| author.name.as_deref()) else {
            return nobody;
        };
        let (name, email) = match said.split_once('<') {
            Some((name, rest)) => (name, rest.split('>').next().unwrap_or_default()),
            None => (said, ""),
        };
        let plain = |text: &str| -> String {
            let kept = |c: &char| !c.is_control() && !"<>".contains(*c);
            text.chars()
                .filter(kept)
                .collect::<String>()
                .trim()
                .to_owned()
        };
        let (name, email) = (plain(name), plain(email));
        if !name.chars().any(char::is_alphanumeric) {
            return nobody;
        }
        let email = if email.is_empty() {
            nobody.email
        } else {
            email
        };
        Self { name, email }
    }
}

fn output(arguments: &[&str], input: &[u8]) -> std::io::Result<Output> {
    output_by(&GitAuthor::default(), arguments, input)
}

fn output_by(author: &GitAuthor, arguments: &[&str], input: &[u8]) -> std::io::Result<Output> {
    let mut command = Command::new("git");
    command.args(arguments);
    let tract = GitAuthor::default();
    for (who, GitAuthor { name, email }) in [("AUTHOR", author), ("COMMITTER", &tract)] {
        command.env(format!("GIT_{who}_NAME"), name);
        command.env(format!("GIT_{who}_EMAIL"), email);
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
