//! A repository at the other end of two pipes: questions and answers, a line of JSON each (`docs/sync.md`).
//!
//! Deliberately absent: the pipes, and who is at their end. All that is read is a stranger's.

use std::collections::HashSet;
use std::io::{BufRead, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::carried::same;
use super::erased::erased_on;
use super::here::{Here, one_line};
use super::{Answers, Brought, ErasedThere, LeftOut, Peer, PeerRef, PeerRefs, RefMove, strange};
use crate::error::{Error, PeerTrouble, Result, ServerTrouble};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Author, Millis, RefName};
use crate::repo::repository::Repo;
use crate::sync::bundle::{BundleTip, FileState, KeptFile, Packing};

/// What the other end says first.
pub const PROTOCOL: &str = "tract sync 1";
/// No line is longer, in bytes.
const LINE_MOST: u64 = 64 << 20;
/// No bundle is larger, in bytes: it is held in memory.
const BUNDLE_MOST: u64 = 4 << 30;
/// How much of a line that is none is shown.
const SHOWN_CHARS: usize = 80;

/// A question.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ask {
    Refs,
    Has(Vec<CommitHash>),
    At(Vec<(CommitHash, u64)>),
    Give(Vec<BundleTip>),
    /// So many bytes follow.
    Take(u64),
    Move(String, Vec<RefMove>),
    Erased(Vec<ContentHash>),
    KeptFiles(Vec<CommitHash>),
    FileStates(Vec<CommitHash>, Vec<KeptFile>),
    GiveFiles(Vec<BundleTip>, Vec<KeptFile>),
    Erasures(Vec<CommitHash>),
    /// Who asks.
    By(Author),
}

/// The answer to the first question, before anything of it is believed.
#[derive(Deserialize)]
struct Told {
    head: Option<Value>,
    refs: Vec<Value>,
    denies: Option<Value>,
}

/// An answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer<T> {
    Ok(T),
    Error { trouble: PeerTrouble, what: String },
}

/// A repository that is asked through pipes.
pub struct Wired<R, W> {
    input: R,
    output: W,
    /// Who asks.
    by: Option<Author>,
}

impl<R: BufRead, W: Write> Wired<R, W> {
    /// Waits for the other end to say what it is.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenPeer`] where it says something else, or nothing.
    pub fn new(mut input: R, output: W) -> Result<Self> {
        let line = line(&mut input)?.ok_or_else(gone)?;
        if line != PROTOCOL.as_bytes() {
            let said = String::from_utf8_lossy(&line);
            let said: String = said.chars().take(SHOWN_CHARS).collect();
            return Err(strange(format!("said '{said}', which is not '{PROTOCOL}'")));
        }
        Ok(Self {
            input,
            output,
            by: None,
        })
    }

    /// The same, asked by somebody who says who they are.
    #[must_use]
    pub fn by(self, who: Option<&Author>) -> Self {
        let by = who.cloned();
        Self { by, ..self }
    }

    fn ask<T: DeserializeOwned>(&mut self, ask: &Ask, bytes: &[u8]) -> Result<T> {
        let mut line = serde_json::to_vec(ask).map_err(Error::store)?;
        line.push(b'\n');
        let sent = self.output.write_all(&line);
        let sent = sent.and_then(|()| self.output.write_all(bytes));
        // What it says before it hangs up tells more than that it did.
        let is_sent = sent.and_then(|()| self.output.flush()).is_ok();
        let answer = self::line(&mut self.input)?.ok_or_else(gone)?;
        match serde_json::from_slice(&answer) {
            Ok(Answer::Ok(value)) if is_sent => Ok(value),
            Ok(Answer::Ok(_)) => Err(gone()),
            Ok(Answer::Error { trouble, what }) => Err(Error::Peer { what, trouble }),
            Err(error) => Err(strange(format!("gave an answer that is none: {error}"))),
        }
    }
}

impl<R: BufRead, W: Write> Answers for Wired<R, W> {
    fn has(&mut self, commits: &[CommitHash]) -> Result<Vec<bool>> {
        self.ask(&Ask::Has(commits.to_vec()), &[])
    }

    fn at(&mut self, places: &[(CommitHash, u64)]) -> Result<Vec<CommitHash>> {
        self.ask(&Ask::At(places.to_vec()), &[])
    }

    fn give(&mut self, tips: &[BundleTip], _: Packing) -> Result<Vec<u8>> {
        let size_bytes: u64 = self.ask(&Ask::Give(tips.to_vec()), &[])?;
        bytes(&mut self.input, size_bytes)
    }

    fn take(&mut self, bundle: &[u8]) -> Result<Brought> {
        self.ask(&Ask::Take(bundle.len() as u64), bundle)
    }

    fn kept_files(&mut self, tips: &[CommitHash]) -> Result<Vec<KeptFile>> {
        self.ask(&Ask::KeptFiles(tips.to_vec()), &[])
    }

    fn file_states(&mut self, tips: &[CommitHash], files: &[KeptFile]) -> Result<Vec<FileState>> {
        self.ask(&Ask::FileStates(tips.to_vec(), files.to_vec()), &[])
    }

    fn give_files(
        &mut self,
        tips: &[BundleTip],
        files: &[KeptFile],
        _: Packing,
    ) -> Result<Vec<u8>> {
        let ask = Ask::GiveFiles(tips.to_vec(), files.to_vec());
        let size_bytes: u64 = self.ask(&ask, &[])?;
        bytes(&mut self.input, size_bytes)
    }
}

impl<R: BufRead, W: Write> Peer for Wired<R, W> {
    fn refs(&mut self) -> Result<PeerRefs> {
        let told: Told = self.ask(&Ask::Refs, &[])?;
        let head = told.head.and_then(|head| serde_json::from_value(head).ok());
        let mut theirs = PeerRefs {
            head: head.filter(RefName::is_branch),
            denies: (told.denies)
                .and_then(|denies| serde_json::from_value(denies).ok())
                .unwrap_or_default(),
            ..PeerRefs::default()
        };
        let mut names = HashSet::new();
        for row in told.refs {
            let name = row.get("name").and_then(Value::as_str).unwrap_or("?");
            let name = name.to_owned();
            let mut out = |why: &dyn ToString| {
                theirs.left_out.push(LeftOut::new(&name, why.to_string()));
            };
            match serde_json::from_value::<PeerRef>(row) {
                Err(error) => out(&error),
                Ok(row) => match row.fault() {
                    Some(why) => out(&why),
                    None if !names.insert(row.name.clone()) => out(&"it is there twice"),
                    None => theirs.refs.push(row),
                },
            }
        }
        Ok(theirs)
    }

    fn are_so_deep(&mut self, refs: &[PeerRef]) -> Result<Vec<bool>> {
        if refs.is_empty() {
            return Ok(Vec::new());
        }
        let places = refs.iter().map(|row| (row.commit, row.depth));
        let places: Vec<(CommitHash, u64)> = places.collect();
        let commits = match self.at(&places) {
            // One that is wrong spoils the answer to all.
            Err(Error::Peer { .. }) => {
                let mut each = Vec::new();
                for place in &places {
                    each.push(match self.at(&[*place]) {
                        Ok(at) => at == [place.0],
                        Err(Error::Peer { .. }) => false,
                        Err(error) => return Err(error),
                    });
                }
                return Ok(each);
            }
            told => told?,
        };
        same(places.len(), commits.len())?;
        let told = places.iter().zip(commits);
        Ok(told.map(|((tip, _), at)| *tip == at).collect())
    }

    fn erasures(&mut self, refs: &[PeerRef]) -> Result<Vec<ContentHash>> {
        let tips = refs.iter().map(|row| row.commit).collect();
        self.ask(&Ask::Erasures(tips), &[])
    }

    fn move_refs(&mut self, what: &str, moves: &[RefMove]) -> Result<()> {
        if let Some(by) = self.by.take() {
            self.ask::<()>(&Ask::By(by), &[])?;
        }
        self.ask(&Ask::Move(what.to_owned(), moves.to_vec()), &[])
    }

    fn erased(&mut self, contents: &[ContentHash]) -> Result<ErasedThere> {
        self.ask(&Ask::Erased(contents.to_vec()), &[])
    }
}

/// Answers for a repository until nobody asks any more.
///
/// # Errors
///
/// [`Error::BrokenPeer`] for a question that is none. What is wrong here is told to who asks.
pub fn serve(
    repo: &Repo,
    now: &dyn Fn() -> Millis,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<()> {
    let mut here = Here { repo, now };
    let mut who: Option<Author> = None;
    say(&mut output, format!("{PROTOCOL}\n").as_bytes())?;
    while let Some(line) = line(&mut input)? {
        let ask: Ask = serde_json::from_slice(&line)
            .map_err(|error| strange(format!("asked what is no question: {error}")))?;
        match ask {
            Ask::Refs => answer(&mut output, here.refs())?,
            Ask::Has(commits) => answer(&mut output, here.has(&commits))?,
            Ask::At(places) => answer(&mut output, here.at(&places))?,
            Ask::Give(tips) => give(&mut output, here.give(&tips, Packing::Small))?,
            Ask::Take(size_bytes) => {
                let bundle = bytes(&mut input, size_bytes)?;
                answer(&mut output, here.take(&bundle))?;
            }
            Ask::Move(what, moves) => {
                let moved = here.move_refs_by(who.as_ref(), &what, &moves);
                answer(&mut output, moved)?;
            }
            Ask::By(mut author) => {
                author.texts_mut().for_each(|text| *text = one_line(text));
                who = author.known();
                answer(&mut output, Ok(()))?;
            }
            Ask::Erased(contents) => answer(&mut output, here.erased(&contents))?,
            Ask::KeptFiles(tips) => answer(&mut output, here.kept_files(&tips))?,
            Ask::FileStates(tips, files) => {
                answer(&mut output, here.file_states(&tips, &files))?;
            }
            Ask::GiveFiles(tips, files) => {
                give(&mut output, here.give_files(&tips, &files, Packing::Small))?
            }
            Ask::Erasures(tips) => {
                let erased = repo.store.read().and_then(|view| erased_on(&*view, &tips));
                answer(&mut output, erased)?;
            }
        }
    }
    Ok(())
}

/// Answers with a bundle.
fn give(output: &mut impl Write, bundle: Result<Vec<u8>>) -> Result<()> {
    match bundle {
        Ok(bundle) => {
            answer(output, Ok(bundle.len()))?;
            say(output, &bundle)
        }
        Err(error) => answer::<()>(output, Err(error)),
    }
}

fn answer<T: Serialize>(output: &mut impl Write, value: Result<T>) -> Result<()> {
    let answer = match value {
        Ok(value) => Answer::Ok(value),
        Err(error) => Answer::Error {
            trouble: kind(&error),
            what: error.to_string(),
        },
    };
    let mut line = serde_json::to_vec(&answer).map_err(Error::store)?;
    line.push(b'\n');
    say(output, &line)
}

fn kind(error: &Error) -> PeerTrouble {
    match error {
        Error::Busy { .. }
        | Error::Server {
            trouble: ServerTrouble::Full { .. } | ServerTrouble::Silent { .. },
            ..
        }
        | Error::Overtaken { .. }
        | Error::RefMoved { .. } => PeerTrouble::Lost,
        Error::Damaged { .. }
        | Error::Malformed { .. }
        | Error::BrokenBundle { .. }
        | Error::OlderDatabase { .. }
        | Error::ForeignJournal { .. }
        | Error::NewerDatabase { .. } => PeerTrouble::Damaged,
        _ => PeerTrouble::Refused,
    }
}

fn say(output: &mut impl Write, bytes: &[u8]) -> Result<()> {
    let said = output.write_all(bytes).and_then(|()| output.flush());
    said.map_err(|_| gone())
}

/// The next line without its end; none where nothing comes any more.
fn line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = input.take(LINE_MOST).read_until(b'\n', &mut line);
    match read.map_err(|_| gone())? {
        0 => Ok(None),
        _ if line.pop_if(|end| *end == b'\n').is_some() => Ok(Some(line)),
        read if read as u64 == LINE_MOST => Err(strange("sent a line that does not end")),
        _ => Err(gone()),
    }
}

/// So many bytes.
fn bytes(input: &mut impl BufRead, size_bytes: u64) -> Result<Vec<u8>> {
    if size_bytes > BUNDLE_MOST {
        return Err(strange(format!(
            "sends {size_bytes} bytes at once, which is too much"
        )));
    }
    let mut bytes = Vec::new();
    let read = input.take(size_bytes).read_to_end(&mut bytes);
    if read.map_err(|_| gone())? as u64 == size_bytes {
        Ok(bytes)
    } else {
        Err(gone())
    }
}

fn gone() -> Error {
    strange("has gone away")
}
