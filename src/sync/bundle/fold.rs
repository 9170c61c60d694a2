//! Several bundles made into one, and what is not to go on left out. No repository is asked, so whoever folds need not have
//! what is in them; nor is anything held against its name, for whoever takes the one in does that.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{Cursor, Read, Write};
use std::str::FromStr;

use super::read::{SHORT, hash, next_line, number, opened, words};
use super::write::Packing;
use super::{HEADER, HEADER_BEYOND, broken};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, fingerprint, hex};
use crate::model::{Commit, Message, RefName, Sealed, tombstone};

/// What of bundles goes on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Folding<'a> {
    /// The commits; none: all.
    pub(crate) keep: Option<&'a HashSet<CommitHash>>,
    /// Messages of which tombstones are left.
    pub(crate) erased: Option<&'a BTreeSet<ContentHash>>,
}

/// What stands in a bundle.
#[derive(Default)]
pub(crate) struct Survey {
    /// Its commits, in their order.
    pub(crate) commits: Vec<Member>,
    /// The messages that it has, tombstones apart.
    pub(crate) contents: HashSet<ContentHash>,
    /// The messages of which it has tombstones.
    tombs: HashSet<ContentHash>,
    /// The commits that it goes on from.
    pub(crate) needs: Vec<CommitHash>,
    /// How many session files it has.
    pub(crate) sources: u64,
    refs: Vec<(RefName, CommitHash)>,
}

/// A commit of a bundle.
pub(crate) struct Member {
    pub(crate) hash: CommitHash,
    /// Its parents, first and second.
    pub(crate) parents: Vec<CommitHash>,
    contents: Vec<ContentHash>,
}

impl Survey {
    /// Reads a bundle through.
    pub(crate) fn of(bundle: &[u8]) -> Result<Self> {
        let mut survey = Self::default();
        each(bundle, &mut |word, rest, _| {
            match word {
                "need" => survey.needs.push(hash(rest)?),
                "content" => {
                    survey.contents.insert(ContentHash::of(rest));
                }
                "commit" => {
                    let commit = Commit::from_canonical(rest).map_err(broken)?;
                    survey.commits.push(Member {
                        hash: CommitHash::of(rest),
                        parents: commit.parent.into_iter().chain(commit.merged).collect(),
                        contents: commit.operation.contents(),
                    });
                }
                "erased" => {
                    survey.tombs.insert(name_in(rest)?);
                }
                "source" => survey.sources += 1,
                "ref" => {
                    let [name, commit] = words(rest)?;
                    let name = name.parse().map_err(broken)?;
                    survey.refs.push((name, hash(commit)?));
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(survey)
    }

    /// Whoever has these and what it needs has all of it.
    pub(crate) fn ends(&self) -> Vec<CommitHash> {
        let parents = self.commits.iter().flat_map(|it| &it.parents);
        let parents: HashSet<&CommitHash> = parents.collect();
        let own = self.commits.iter().map(|it| it.hash);
        let mut ends: Vec<CommitHash> = own.filter(|it| !parents.contains(it)).collect();
        if self.commits.is_empty() {
            ends.extend(self.refs.iter().map(|(_, commit)| *commit));
            ends.sort_unstable();
            ends.dedup();
        }
        ends
    }
}

/// Makes one of these bundles, each of which goes on from those before it, or from what none of them has; none where
/// nothing is left. Session files of one that loses anything stay behind: they may hold it.
pub(crate) fn fold(bundles: &[&[u8]], what: Folding<'_>) -> Result<Option<Vec<u8>>> {
    let mut folder = Folder::of(bundles, what)?;
    if folder.own.is_empty() && folder.with_files.iter().all(|it| !it) {
        return Ok(None);
    }
    folder.needs()?;
    for bundle in bundles {
        folder.objects(bundle)?;
    }
    for (at, bundle) in bundles.iter().enumerate() {
        if folder.with_files[at] {
            folder.files(bundle)?;
        }
    }
    folder.refs()?;
    let packed = folder.out.finish().map_err(Error::store)?;
    let has_files = !folder.sources.is_empty();
    let mut bytes = if has_files { HEADER_BEYOND } else { HEADER }.to_vec();
    bytes.extend(hex(&fingerprint(&packed)).as_bytes());
    bytes.push(b'\n');
    bytes.extend(packed);
    Ok(Some(bytes))
}

struct Folder<'a> {
    what: Folding<'a>,
    surveys: Vec<Survey>,
    /// Of which bundles the session files go on.
    with_files: Vec<bool>,
    /// The commits that go on.
    own: HashSet<CommitHash>,
    /// The messages that they name, and those of which some bundle has a tombstone.
    named: HashSet<ContentHash>,
    tombs: HashSet<ContentHash>,
    /// What is written already.
    written: HashSet<ContentHash>,
    told: HashSet<CommitHash>,
    counted: HashSet<CommitHash>,
    detailed: HashSet<CommitHash>,
    injected: HashSet<CommitHash>,
    needed: BTreeSet<CommitHash>,
    resumed: HashSet<String>,
    /// What is said of sessions that end in it.
    ended: HashSet<String>,
    /// The number of each session file, by its session and its fingerprint.
    sources: HashMap<(String, String), usize>,
    recorded: HashSet<String>,
    out: zstd::stream::Encoder<'static, Vec<u8>>,
}

impl<'a> Folder<'a> {
    fn of(bundles: &[&[u8]], what: Folding<'a>) -> Result<Self> {
        let surveys = bundles.iter().map(|bundle| Survey::of(bundle));
        let surveys = surveys.collect::<Result<Vec<Survey>>>()?;
        let stays = |commit: &CommitHash| what.keep.is_none_or(|keep| keep.contains(commit));
        let mut folder = Self {
            what,
            with_files: Vec::new(),
            own: HashSet::new(),
            named: HashSet::new(),
            tombs: HashSet::new(),
            written: HashSet::new(),
            told: HashSet::new(),
            counted: HashSet::new(),
            detailed: HashSet::new(),
            injected: HashSet::new(),
            needed: BTreeSet::new(),
            resumed: HashSet::new(),
            ended: HashSet::new(),
            sources: HashMap::new(),
            recorded: HashSet::new(),
            out: zstd::stream::Encoder::new(Vec::new(), Packing::Small.level())
                .map_err(Error::store)?,
            surveys: Vec::new(),
        };
        for survey in &surveys {
            let is_whole = survey.commits.iter().all(|it| stays(&it.hash))
                && survey.refs.iter().all(|(_, commit)| stays(commit))
                && (what.erased)
                    .is_none_or(|it| survey.contents.iter().all(|one| !it.contains(one)));
            folder.with_files.push(is_whole && survey.sources > 0);
            for member in survey.commits.iter().filter(|it| stays(&it.hash)) {
                folder.own.insert(member.hash);
                folder.named.extend(&member.contents);
            }
            folder.tombs.extend(&survey.tombs);
        }
        folder.surveys = surveys;
        Ok(folder)
    }

    fn line(&mut self, word: &str, rest: &str) -> Result<()> {
        let between = if rest.is_empty() { "" } else { " " };
        let line = format!("{word}{between}{rest}\n");
        self.out.write_all(line.as_bytes()).map_err(Error::store)
    }

    /// The refs of the session files that go on, whose commits are in none of the bundles.
    fn beyond(&self) -> Vec<(RefName, CommitHash)> {
        let with_files = self.surveys.iter().zip(&self.with_files);
        let refs = with_files.filter(|(_, has)| **has);
        let refs = refs.flat_map(|(survey, _)| survey.refs.iter().cloned());
        refs.filter(|(_, commit)| !self.own.contains(commit))
            .collect()
    }

    fn needs(&mut self) -> Result<()> {
        let members = self.surveys.iter().flat_map(|it| &it.commits);
        let members = members.filter(|it| self.own.contains(&it.hash));
        let mut needs: BTreeSet<CommitHash> = members.flat_map(|it| it.parents.clone()).collect();
        needs.extend(self.beyond().into_iter().map(|(_, commit)| commit));
        needs.retain(|it| !self.own.contains(it));
        for need in &needs {
            self.line("need", &need.to_string())?;
        }
        self.needed = needs;
        Ok(())
    }

    /// Commits, with what they name and what was counted there.
    fn objects(&mut self, bundle: &[u8]) -> Result<()> {
        each(bundle, &mut |word, rest, _| {
            match word {
                "content" => {
                    let name = ContentHash::of(rest);
                    if self.named.contains(&name) && self.written.insert(name) {
                        let is_erased = self.what.erased.is_some_and(|it| it.contains(&name));
                        if is_erased || self.tombs.contains(&name) {
                            let role = Sealed::<Message>::read(rest).map_err(broken)?.role;
                            let role = tombstone(role).role;
                            self.line("erased", &format!("{name} {}", role.as_str()))?;
                        } else {
                            self.line(word, rest)?;
                        }
                    }
                }
                "erased" => {
                    let name = name_in(rest)?;
                    if self.named.contains(&name) && self.written.insert(name) {
                        self.line(word, rest)?;
                    }
                }
                "commit" => {
                    let name = CommitHash::of(rest);
                    if self.own.contains(&name) && self.told.insert(name) {
                        self.line(word, rest)?;
                    }
                }
                "usage" | "usage-detail" => {
                    let name = name_in(rest)?;
                    let told = match word {
                        "usage" => &mut self.counted,
                        _ => &mut self.detailed,
                    };
                    if self.own.contains(&name) && told.insert(name) {
                        self.line(word, rest)?;
                    }
                }
                "injected" => {
                    let name = hash(rest)?;
                    if self.own.contains(&name) && self.injected.insert(name) {
                        self.line(word, rest)?;
                    }
                }
                "origin" | "starter" | "stated" => {
                    let name = rest.split(' ').nth(1).ok_or_else(|| broken(SHORT))?;
                    let line = format!("{word} {rest}");
                    if self.own.contains(&hash(name)?) && self.ended.insert(line) {
                        self.line(word, rest)?;
                    }
                }
                "resumed" => {
                    let [session, commit, _, _] = words(rest)?;
                    let commit = hash(commit)?;
                    let is_named = self.own.contains(&commit) || self.needed.contains(&commit);
                    if is_named && self.resumed.insert(session.to_owned()) {
                        self.line(word, rest)?;
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }

    /// Session files, each once, with what is said of them.
    fn files(&mut self, bundle: &[u8]) -> Result<()> {
        let mut numbers: Vec<usize> = Vec::new();
        each(bundle, &mut |word, rest, body| {
            match word {
                "source" => {
                    let [_, session, format, size_bytes, print] = words(rest)?;
                    let next = self.sources.len();
                    let key = (session.to_owned(), print.to_owned());
                    let number = *self.sources.entry(key).or_insert(next);
                    numbers.push(number);
                    if number == next {
                        let head = format!("{number} {session} {format} {size_bytes} {print}");
                        self.line(word, &head)?;
                        std::io::copy(body, &mut self.out).map_err(broken)?;
                    }
                }
                "records" => {
                    let [commit, at, spans] = words(rest)?;
                    let at = usize::try_from(number(at)?).map_err(broken)?;
                    let number = numbers.get(at).ok_or_else(|| broken(SHORT))?;
                    let line = format!("{commit} {number} {spans}");
                    if self.recorded.insert(line.clone()) {
                        self.line(word, &line)?;
                    }
                }
                "session" => self.line(word, rest)?,
                _ => {}
            }
            Ok(())
        })
    }

    /// A ref for whatever no other commit leads to, by a name that it had if there is one.
    fn refs(&mut self) -> Result<()> {
        let members = self.surveys.iter().flat_map(|it| &it.commits);
        let members: Vec<&Member> = members.filter(|it| self.own.contains(&it.hash)).collect();
        let parents: HashSet<&CommitHash> = members.iter().flat_map(|it| &it.parents).collect();
        let mut named: HashMap<CommitHash, RefName> = HashMap::new();
        for (name, commit) in self.surveys.iter().flat_map(|it| &it.refs) {
            named.insert(*commit, name.clone());
        }
        let ends = members.iter().map(|it| it.hash);
        let ends = ends.filter(|it| !parents.contains(it));
        let ends: BTreeSet<CommitHash> = ends
            .chain(self.beyond().into_iter().map(|(_, commit)| commit))
            .collect();
        let mut taken = HashSet::new();
        for commit in ends {
            let name = named.get(&commit).cloned();
            let first = name.map_or_else(|| RefName::branch("end"), Ok)?;
            let mut name = first.clone();
            for number in 2.. {
                if taken.insert(name.clone()) {
                    break;
                }
                name = first.numbered(number);
            }
            self.line("ref", &format!("{name} {commit}"))?;
        }
        self.line("end", "")
    }
}

/// The name that what belongs to a line begins with.
fn name_in<T: FromStr<Err = Error> + ToString>(rest: &str) -> Result<T> {
    let (name, _) = rest.split_once(' ').ok_or_else(|| broken(SHORT))?;
    hash(name)
}

/// Calls `act` for each line: its word, what belongs to it, and the bytes that stand behind it.
fn each(bundle: &[u8], act: &mut dyn FnMut(&str, &str, &mut dyn Read) -> Result<()>) -> Result<()> {
    let (mut lines, _) = opened(Cursor::new(bundle))?;
    loop {
        let line = next_line(&mut lines)?;
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let behind = match word {
            "end" => return Ok(()),
            // The bytes, and the end of their line.
            "source" => {
                let [_, _, _, size_bytes, _] = words(rest)?;
                number(size_bytes)?.saturating_add(1)
            }
            _ => 0,
        };
        let mut body = lines.by_ref().take(behind);
        act(word, rest, &mut body)?;
        std::io::copy(&mut body, &mut std::io::sink()).map_err(broken)?;
    }
}
