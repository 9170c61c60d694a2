//! A text in pieces, as a `tokenizer.json` says.
//!
//! # Source
//!
//! The form of Hugging Face's tokenizers 0.22: a normalizer, a pre-tokenizer, a model. Which of them are known is in
//! `spelling` and `pieces`; another one is an error, for a text that is cut otherwise has another vector.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::pieces::Pieces;
use super::spelling::{Cutting, Respelling};

/// What cuts texts into pieces.
pub struct Tokenizer {
    respellings: Vec<Respelling>,
    cuttings: Vec<Cutting>,
    pieces: Pieces,
}

#[derive(Deserialize)]
struct TokenizerFile<'a> {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(borrow)]
    model: &'a RawValue,
}

impl Tokenizer {
    /// By its file.
    ///
    /// # Errors
    ///
    /// Where it is none, or does something that is not known here.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: TokenizerFile<'_> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let (mut respellings, mut cuttings) = (Vec::new(), Vec::new());
        Respelling::parse(&file.normalizer, &mut respellings)?;
        Cutting::parse(&file.pre_tokenizer, &mut cuttings)?;
        Ok(Self {
            respellings,
            cuttings,
            pieces: Pieces::parse(file.model)?,
        })
    }

    /// The pieces of a text, by their numbers; without those that are not known.
    pub fn pieces(&self, text: &str) -> Vec<u32> {
        let steps = self.respellings.iter();
        let spelt = steps.fold(text.to_owned(), |text, step| step.apply(&text));
        let mut words = vec![spelt];
        for step in &self.cuttings {
            let mut next = Vec::with_capacity(words.len());
            words.iter().for_each(|word| step.apply(word, &mut next));
            words = next;
        }
        let mut pieces = Vec::new();
        words
            .iter()
            .for_each(|word| self.pieces.cut(word, &mut pieces));
        pieces
    }
}
