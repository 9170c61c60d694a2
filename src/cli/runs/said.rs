//! What a command printed as an answer: messages in a provider's form, events of a stream, or plain text.

use serde_json::value::RawValue;
use tract::formats::shared::single::{self, SingleMessage};

use crate::cli::answer;
use crate::cli::machine::exec::{Failed, Finished};

/// The most that an answer may be.
pub const ANSWER_MAX: usize = 16 << 20;

/// What a program that ended well has printed; else why there is nothing of it.
pub fn printed(finished: Result<Finished, Failed>) -> Result<Vec<u8>, String> {
    let Finished {
        code,
        printed,
        stderr,
    } = finished.map_err(|failed| failed.reason)?;
    let how = match code {
        Some(0) => return Ok(printed),
        Some(code) => format!("it ended with exit code {code}"),
        None => "a signal ended it".to_owned(),
    };
    let last = stderr.lines().rfind(|line| !line.trim().is_empty());
    let last = last.map(|line| format!(": {}", line.trim()));
    Err(how + &last.unwrap_or_default())
}

/// Reads it.
///
/// # Errors
///
/// In words, where it says nothing.
pub fn read(printed: &[u8]) -> Result<Vec<SingleMessage>, String> {
    let text = String::from_utf8_lossy(printed);
    let text = text.trim();
    if text.is_empty() {
        return Err("it ended well and said nothing".to_owned());
    }
    let messages = in_json(text).unwrap_or_else(|| {
        let tree = answer::tree_of(printed);
        let messages = tract::formats::messages_of(&tree).into_iter();
        messages
            .map(|message| SingleMessage {
                message: message.into(),
                usage: None,
                model: None,
                tier: None,
            })
            .collect()
    });
    if messages.is_empty() {
        return Err("it ended well and said nothing".to_owned());
    }
    Ok(messages)
}

/// A message, a list of messages, or a message a line; none where it is anything else.
fn in_json(text: &str) -> Option<Vec<SingleMessage>> {
    let read = |text: &str| {
        let read = single::message(text).ok();
        read.filter(|read| !read.message.is_empty())
    };
    if text.starts_with('[') {
        let list = serde_json::from_str::<Vec<&RawValue>>(text).ok()?;
        return list.into_iter().map(|one| read(one.get())).collect();
    }
    if !text.starts_with('{') {
        return None;
    }
    if let Some(one) = read(text) {
        return Some(vec![one]);
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_be_text_or_messages() {
        let count = |text: &str| read(text.as_bytes()).map(|them| them.len());
        assert_eq!(count("plain\ntext"), Ok(1));
        assert_eq!(count("{\"a\": 1} is JSON, but no message"), Ok(1));
        let one = r#"{"role":"assistant","content":"hi"}"#;
        assert_eq!(count(one), Ok(1));
        assert_eq!(count(&format!("[{one},{one}]")), Ok(2));
        assert_eq!(count(&format!("{one}\n{one}\n")), Ok(2));
        assert!(count(" \n").is_err());
    }
}
