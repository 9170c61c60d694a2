//! Many messages in providers' forms: they are read on as many threads as help.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::formats::shared::single::{self, SingleMessage};
use crate::store::crew::{with_crew, workers};

/// From how many bytes on a thread is worth its start.
const WORTH_THREADS_BYTES: usize = 64 << 10;
/// How many are read at once.
const BATCH: usize = 64;

/// Reads messages as OpenAI or Anthropic write them, or the responses that hold them: all, or none.
///
/// # Errors
///
/// Those of [`single::message`], and [`Error::EmptyMessage`]: of the first that is refused, with its place.
pub fn read_messages(texts: &[&str]) -> Result<Vec<SingleMessage>, (usize, Error)> {
    let size_bytes: usize = texts.iter().map(|text| text.len()).sum();
    let workers = if size_bytes < WORTH_THREADS_BYTES {
        0
    } else {
        workers()
    };
    let read = |batch: Range<usize>| -> Vec<Result<SingleMessage>> {
        texts[batch].iter().map(|text| read_message(text)).collect()
    };
    with_crew(workers, &read, |crew| {
        for begin in (0..texts.len()).step_by(BATCH) {
            crew.push(begin..texts.len().min(begin + BATCH));
        }
        let mut messages = Vec::with_capacity(texts.len());
        while let Some(batch) = crew.pop() {
            for message in batch {
                let at = messages.len();
                messages.push(message.map_err(|error| (at, error))?);
            }
        }
        Ok(messages)
    })
}

/// The same of one.
///
/// # Errors
///
/// Likewise.
pub fn read_message(text: &str) -> Result<SingleMessage> {
    match single::message(text)? {
        read if read.message.is_empty() => Err(Error::EmptyMessage),
        read => Ok(read),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_messages_are_read_in_their_order_and_the_first_bad_one_refuses_all() {
        let said = |at: usize| format!(r#"{{"role":"user","content":"{at} {}"}}"#, "x".repeat(500));
        let mut texts: Vec<String> = (0..3 * BATCH + 7).map(said).collect();
        let read = |texts: &[String]| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            read_messages(&texts)
        };
        let all = read(&texts).expect("all are messages");
        assert!(texts.len() == all.len() && texts.concat().len() > WORTH_THREADS_BYTES);
        for (at, read) in all.iter().enumerate() {
            let [part] = &read.message.parts[..] else {
                panic!("a text");
            };
            assert!(
                part.as_text()
                    .expect("a text")
                    .starts_with(&format!("{at} "))
            );
        }
        texts[2 * BATCH] = r#"{"role":"user","content":""}"#.to_owned();
        texts[BATCH + 3] = "no JSON".to_owned();
        let (at, error) = read(&texts).expect_err("refused");
        assert!(
            at == BATCH + 3 && matches!(error, Error::InvalidInput { .. }),
            "{error}"
        );
        texts.drain(..2 * BATCH);
        let (at, error) = read(&texts).expect_err("refused");
        assert!(at == 0 && matches!(error, Error::EmptyMessage), "{error}");
    }
}
