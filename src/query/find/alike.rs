//! Messages by what they mean: the ranking by words, and the nearest vectors of a static model, joined.
//!
//! Both rankings count alike, by reciprocal rank. Vectors are made when first asked for, of what people and models said;
//! calls of tools, results and thinking are found by words alone. Deliberately absent: how a vector is made
//! ([`crate::model::embedding`]), and how vectors are kept (`vectors`).
//!
//! # Source
//!
//! Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", 2009: 1 / (60 + rank).

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::hit::{Looked, Looking};
use super::options::{RankedOptions, RankedQuery, SearchOptions};
use super::ranking::{Answer, Ordering};
use super::vectors::{self, ModelDigest, Near, VectorPiece, Vectors};
use super::{FindProgress, Found};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, fingerprint};
use crate::model::embedding::{Embedder, Matrix, Tensors, Tokenizer};
use crate::model::pattern::MatchedLine;
use crate::model::query::Query;
use crate::model::{Message, Part, Role};
use crate::repo::call::On;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::View;

/// What is looked for by what it means.
#[derive(Clone, Debug)]
pub struct AlikeQuery {
    /// A question, or a sentence.
    pub text: String,
    /// The folder of the model.
    pub model: PathBuf,
    /// How many of the best messages to pass over.
    pub offset: usize,
    /// At most so many lines of each message, the best ones; 0: all with a word in them.
    pub lines: usize,
}

/// What is looked for, and where.
pub type AlikeOptions = SearchOptions<AlikeQuery>;

/// Ranks begin to count from here.
const RANKS: f32 = 60.0;
/// How many answers of each ranking are joined, at least.
const JOINED: usize = 60;
/// How many of the nearest pieces are looked at.
const NEAREST: usize = 2_048;
/// The same where most of them may be elsewhere, and of how many conversations all messages are known at once.
const MANY_NEAREST: usize = 16_384;
const FEW: usize = 16;
/// How many of them are placed and read together.
const TOGETHER: usize = 64;
/// About how long a piece of a text is, in bytes, and how many of a message have vectors.
const PIECE_BYTES: usize = 400;
const MOST_PIECES: usize = 32;
/// How many messages are read together that have no vectors yet.
const READ_TOGETHER: usize = 256;
/// What a piece that asks is worth beside one that says.
const ASKED: f32 = 0.9;

/// A model on this machine.
pub struct StaticModel {
    embedder: Embedder<ModelRows>,
    digest: ModelDigest,
}

/// The rows of a model, in its file, or in memory.
struct ModelRows {
    tensors: Tensors,
    file: File,
    held: Option<Vec<u8>>,
}

/// What a model's folder holds.
const TENSORS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
/// How much of each end of a file its digest knows.
const ENDS: u64 = 64 << 10;

impl Matrix for ModelRows {
    fn columns(&self) -> usize {
        self.tensors.columns()
    }

    fn add(&mut self, piece: u32, sum: &mut [f32]) -> Option<()> {
        let Self {
            tensors,
            file,
            held,
        } = self;
        tensors.add(piece, sum, |at, bytes| match held {
            Some(held) => {
                bytes.copy_from_slice(held.get(at..at.checked_add(bytes.len())?)?);
                Some(())
            }
            None => {
                file.seek(SeekFrom::Start(at as u64)).ok()?;
                file.read_exact(bytes).ok()
            }
        })
    }
}

impl StaticModel {
    /// The one in a folder: `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where one of them cannot be read, [`Error::InvalidInput`] where it is of a form that is not known.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(TOKENIZER);
        let text = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
        let odd = |path: &Path| {
            let path = path.display().to_string();
            move |why: String| Error::input(path, why)
        };
        let tokenizer = Tokenizer::parse(&text).map_err(odd(&path))?;
        let path = folder.join(TENSORS);
        let mut file = File::open(&path).map_err(Error::io(&path))?;
        let bytes = file.metadata().map_err(Error::io(&path))?.len();
        let mut read = |from: u64, count: u64| -> Result<Vec<u8>> {
            let mut found = Vec::new();
            file.seek(SeekFrom::Start(from)).map_err(Error::io(&path))?;
            let mut some = (&mut file).take(count);
            some.read_to_end(&mut found).map_err(Error::io(&path))?;
            Ok(found)
        };
        let first: Option<[u8; 8]> = read(0, 8)?.try_into().ok();
        let first = first.ok_or_else(|| odd(&path)("it is no file of safetensors".to_owned()))?;
        let head_bytes = Tensors::head_bytes(first).map_err(odd(&path))?;
        let head = read(8, head_bytes as u64)?;
        let tensors = Tensors::parse(&head, bytes).map_err(odd(&path))?;
        let begin = 8 + head.len() as u64;
        let ends = [read(begin, ENDS)?, read(bytes.saturating_sub(ENDS), ENDS)?];
        let known = [
            text.as_bytes(),
            &head,
            &ends[0],
            &ends[1],
            &bytes.to_le_bytes(),
        ];
        let digest = fingerprint(&known.concat());
        let rows = ModelRows {
            tensors,
            file,
            held: None,
        };
        Ok(Self {
            embedder: Embedder::new(tokenizer, rows),
            digest,
        })
    }

    /// From here on the whole model is in memory: for many texts.
    fn hold(&mut self) -> Result<()> {
        self.embedder.matrix_mut().hold()
    }
}

impl ModelRows {
    fn hold(&mut self) -> Result<()> {
        if self.held.is_none() {
            let mut all = Vec::new();
            let read = self.file.seek(SeekFrom::Start(0));
            let read = read.and_then(|_| self.file.read_to_end(&mut all));
            read.map_err(Error::io(TENSORS))?;
            self.held = Some(all);
        }
        Ok(())
    }
}

impl Repo {
    /// Finds messages by what they mean: those that a ranked search finds for the words, joined with those whose texts
    /// are nearest by a static model. What comes last there comes last here.
    ///
    /// Vectors are made of what came in since the last such search, and kept in a file beside the repository, which may
    /// be deleted. A repository on a server has none, and one in memory makes them each time.
    ///
    /// # Errors
    ///
    /// As [`Repo::find_ranked`] and [`StaticModel::open`].
    pub fn find_alike(
        &self,
        on: &On,
        options: &AlikeOptions,
        progress: &mut dyn FnMut(FindProgress) -> Result<()>,
    ) -> Result<Vec<Found>> {
        let asked = &options.asked;
        let query = Query::parse(&asked.text).unwrap_or_default();
        let offset = 0;
        let enough = asked.offset.saturating_add(options.limit.max(JOINED));
        let places = options.clone().asking(RankedQuery {
            query,
            offset,
            lines: asked.lines,
        });
        let by_words = RankedOptions {
            limit: if options.limit == 0 { 0 } else { enough },
            ..places
        };
        self.weigh_new(progress)?;
        let view = self.store.read()?;
        let mut search = Ordering::of(&*view, on, &by_words)?;
        let is_on_server = self.directory().is_none() && self.place().is_some();
        let near = match is_on_server {
            true => Vec::new(),
            false => self.near(asked, &among(&*view, &search)?, progress)?,
        };
        if !by_words.asked.query.wanted.is_empty() {
            search.by_words(progress)?;
        }
        let words = search.taken(by_words.limit);
        for some in near.chunks(TOGETHER) {
            let contents: Vec<(ContentHash, f32)> =
                some.iter().map(|near| (near.content, near.score)).collect();
            let pieces: HashMap<ContentHash, Near> =
                some.iter().map(|near| (near.content, *near)).collect();
            let placed = view.placed(&contents, &search.commits())?;
            let looking = Looking::new(&by_words.asked.query, Vec::new(), asked.lines);
            search.take(&placed, &mut |content, message| {
                let is_meant = options.role.is_none_or(|one| one.role() == message.role);
                let near = pieces
                    .get(content)
                    .filter(|_| is_meant && looking.passes(message))?;
                looked(message, near)
            })?;
            if search.has_enough() {
                break;
            }
        }
        search.answers_last();
        let meanings = search.taken(by_words.limit);
        let joined = joined(words, meanings);
        let page = joined.into_iter().skip(asked.offset);
        let limit = if options.limit == 0 {
            usize::MAX
        } else {
            options.limit
        };
        search.found_all(page.take(limit).collect())
    }

    /// The pieces that are nearest to what is asked, of all that is here.
    fn near(
        &self,
        asked: &AlikeQuery,
        among: &Among,
        progress: &mut dyn FnMut(FindProgress) -> Result<()>,
    ) -> Result<Vec<Near>> {
        let mut model = StaticModel::open(&asked.model)?;
        let Some(wanted) = model.embedder.vector(&asked.text) else {
            return Ok(Vec::new());
        };
        let dimensions = model.embedder.dimensions();
        let mut vectors = Vectors::open(self.directory(), &model.digest, dimensions);
        let view = self.store.read()?;
        if let Some((number, content)) = vectors.last() {
            let found = view.contents_since(number - 1, 1)?;
            if found.first() != Some(&(number, content)) {
                vectors.clear(&model.digest);
            }
        }
        let since = vectors.last().map_or(0, |(number, _)| number);
        let new = view.contents_since(since, usize::MAX)?;
        drop(view);
        if new.len() > READ_TOGETHER {
            model.hold()?;
        }
        let (mut done, total) = (0, new.len());
        for some in new.chunks(READ_TOGETHER) {
            progress(FindProgress::Indexing {
                bytes: done as u64,
                total_bytes: total as u64,
            })?;
            let pieces = self.pieces_of(some, &mut model)?;
            vectors.add(&pieces);
            done += some.len();
        }
        match among {
            Among::All => vectors.nearest(&wanted, NEAREST, &|_| true),
            Among::Few(few) => vectors.nearest(&wanted, NEAREST, &|one| few.contains(one)),
            Among::Many => vectors.nearest(&wanted, MANY_NEAREST, &|_| true),
        }
    }

    /// The vectors of some messages.
    fn pieces_of(
        &self,
        some: &[(i64, ContentHash)],
        model: &mut StaticModel,
    ) -> Result<Vec<VectorPiece>> {
        let contents: Vec<ContentHash> = some.iter().map(|(_, content)| *content).collect();
        let view = self.store.read()?;
        let messages = view.contents(&contents)?;
        let mut pieces = Vec::new();
        for ((number, content), message) in some.iter().zip(messages) {
            let piece = |(part, start): (usize, usize), vector| VectorPiece {
                number: *number,
                content: *content,
                part: u32::try_from(part).unwrap_or_default(),
                start: u32::try_from(start).unwrap_or_default(),
                vector,
            };
            let before = pieces.len();
            let said = message.iter().flat_map(said);
            for (place, text) in said.take(MOST_PIECES) {
                let vector = model.embedder.vector(text);
                pieces.extend(vector.map(|vector| piece(place, Some(vector))));
            }
            if pieces.len() == before {
                pieces.push(piece((0, 0), None));
            }
        }
        Ok(pieces)
    }

    /// Takes away what vectors are kept: those of an erased text tell of it. They are made anew when they are asked for.
    pub(crate) fn forget_vectors(&self) -> Result<()> {
        self.directory().map_or(Ok(()), vectors::remove)
    }
}

/// Among which messages the nearest are looked for.
enum Among {
    All,
    /// Those of some conversations.
    Few(HashSet<ContentHash>),
    /// Those of many conversations, but not of all.
    Many,
}

/// Among which a search looks.
fn among(view: &dyn View, search: &Ordering<'_>) -> Result<Among> {
    let ends = search.commits();
    if !search.is_narrow() {
        return Ok(Among::All);
    }
    if ends.len() > FEW {
        return Ok(Among::Many);
    }
    let mut few = HashSet::new();
    for end in ends {
        few.extend(
            load::order(view, &end)?
                .entries()
                .map(|entry| entry.content),
        );
    }
    Ok(Among::Few(few))
}

/// What of a message has vectors: the pieces of what people and models said, with part and place.
fn said(message: &Message) -> Vec<((usize, usize), &str)> {
    if !matches!(message.role, Role::User | Role::Assistant) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (part, one) in message.parts.iter().enumerate() {
        if let Part::Text { text } = one {
            let pieces = pieces(text).into_iter();
            found.extend(pieces.map(|(start, piece)| ((part, start), piece)));
        }
    }
    found
}

/// A text in pieces of some lines each; a long line is cut at a space.
fn pieces(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut from, mut at) = (Vec::new(), 0, 0);
    let mut put = |from: usize, to: usize| {
        let piece = &text[from..to];
        if piece.chars().any(char::is_alphanumeric) {
            found.push((from, piece));
        }
    };
    for line in text.split_inclusive('\n') {
        if at + line.len() - from > PIECE_BYTES && at > from {
            put(from, at);
            from = at;
        }
        at += line.len();
        while at - from > 2 * PIECE_BYTES {
            let end = text.floor_char_boundary(from + PIECE_BYTES);
            let end = text[from..end]
                .rfind(' ')
                .map_or(end, |space| from + space + 1);
            put(from, end);
            from = end;
        }
    }
    put(from, text.len());
    found
}

/// How a message answers whose piece is near.
fn looked(message: &Message, near: &Near) -> Option<Looked> {
    let part = near.part as usize;
    let Some(Part::Text { text }) = message.parts.get(part) else {
        return None;
    };
    let rest = text.get(near.start as usize..)?;
    let (_, piece) = pieces(rest).into_iter().next()?;
    let is_question = piece.trim_end().ends_with(['?', '？', '؟']);
    let lines = piece.lines().filter(|line| !line.trim().is_empty());
    let line = |line: &str| MatchedLine {
        part,
        text: line.to_owned(),
        matches: Vec::new(),
    };
    Some(Looked {
        score: near.score.max(0.0) * if is_question { ASKED } else { 1.0 },
        lines: lines.map(line).take(3).collect(),
        parts: [part].into(),
        is_said: true,
        is_question,
    })
}

/// Two rankings as one, by reciprocal rank; what came last in one comes last.
fn joined(words: Vec<Answer>, meanings: Vec<Answer>) -> Vec<Answer> {
    let mut all: Vec<(f32, Answer)> = Vec::with_capacity(words.len() + meanings.len());
    let mut known: HashMap<(CommitHash, ContentHash), usize> = HashMap::new();
    for ranking in [words, meanings] {
        for (rank, answer) in ranking.into_iter().enumerate() {
            let worth = 1.0 / (RANKS + rank as f32 + 1.0);
            match known.get(&answer.key()) {
                Some(at) => all[*at].0 += worth,
                None => {
                    known.insert(answer.key(), all.len());
                    all.push((worth, answer));
                }
            }
        }
    }
    all.sort_by(|(a, one), (b, other)| {
        let last = one.comes_last().cmp(&other.comes_last());
        last.then(b.total_cmp(a))
    });
    let told = all.into_iter();
    told.map(|(score, answer)| answer.worth(score)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_lines_and_a_long_line_at_spaces() {
        let line = "word ".repeat(20);
        let text = format!("{line}\n{line}\n{line}\n{line}\n{line}\n---\n");
        let cut = pieces(&text);
        assert!(
            cut.iter().all(|(_, piece)| piece.len() <= PIECE_BYTES),
            "{cut:?}"
        );
        assert_eq!(
            cut.iter().map(|(_, piece)| *piece).collect::<String>(),
            text
        );
        assert!(
            cut.iter()
                .all(|(start, piece)| text[*start..].starts_with(piece))
        );
        let long = "é ".repeat(1_000);
        let cut = pieces(&long);
        assert!(cut.len() > 3 && cut.iter().all(|(_, piece)| piece.len() <= 2 * PIECE_BYTES));
        assert_eq!(pieces("\n---\n"), []);
    }
}
