//! Texts as vectors, by a static model: each piece of a text has a row of a matrix, and the text is their mean.
//!
//! Of two texts that mean much the same the vectors lie near each other, whatever their words. No network runs here and
//! nothing is learnt: a text costs as many additions as it has pieces. Deliberately absent: files, and what is made of
//! the vectors.
//!
//! # Source
//!
//! model2vec 0.10: `model.safetensors` holds `embeddings`, and may hold `weights` and `mapping`, which give a piece's
//! weight and its row; a text has at most 512 pieces, unknown ones left out. The form of safetensors: its README,
//! "Format". The first test of each reading is the packages' own: `tests/it/listing/find_by_meaning.rs`.

mod pieces;
mod spelling;
mod tensors;
mod tokenizer;

pub use tensors::{Matrix, Tensors};
pub use tokenizer::Tokenizer;

/// How many pieces of a text count.
const MOST_PIECES: usize = 512;

/// A static model.
pub struct Embedder<M> {
    tokenizer: Tokenizer,
    matrix: M,
}

impl<M: Matrix> Embedder<M> {
    /// Of what cuts texts into pieces, and their rows.
    pub const fn new(tokenizer: Tokenizer, matrix: M) -> Self {
        Self { tokenizer, matrix }
    }

    /// Its rows.
    pub const fn matrix_mut(&mut self) -> &mut M {
        &mut self.matrix
    }

    /// How many numbers a vector has.
    pub fn dimensions(&self) -> usize {
        self.matrix.columns()
    }

    /// The vector of a text; none where the model knows no piece of it, or a row cannot be read.
    pub fn vector(&mut self, text: &str) -> Option<Embedding> {
        let mut sum = vec![0.0_f32; self.matrix.columns()];
        let mut count = 0;
        for piece in self.tokenizer.pieces(text).into_iter().take(MOST_PIECES) {
            self.matrix.add(piece, &mut sum)?;
            count += 1;
        }
        (count > 0).then(|| Embedding::of(&sum)).flatten()
    }
}

/// A vector in whole numbers from -127 to 127: its direction is what counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedding(pub Vec<i8>);

impl Embedding {
    /// None of a vector without a direction.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is rounded, and from -127 to 127"
    )]
    fn of(vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |most, one| most.max(one.abs()));
        if largest <= 0.0 || !largest.is_finite() {
            return None;
        }
        let scaled = vector
            .iter()
            .map(|one| (one / largest * 127.0).round() as i8);
        Some(Self(scaled.collect()))
    }

    /// Its length.
    pub fn length(&self) -> f32 {
        (dot(&self.0, &self.0) as f32).sqrt()
    }
}

/// The product of two vectors.
fn dot(a: &[i8], b: &[i8]) -> i32 {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}
