//! Results that the tool cuts once more when it sends them.
//!
//! A result of several texts (of an MCP server) is cut in the record where it was too long, by characters. What is sent
//! of it is cut again, to as many tokens as fit into those bytes. Deliberately absent: results of one text, which are
//! recorded as they are sent.
//!
//! # Source
//!
//! Observed: rollouts of Codex 0.171 beside the requests that it sent; the rules of its open source.

use crate::model::{Message, Part};

/// How many bytes the tool takes a token for.
const TOKEN_BYTES: usize = 4;

/// The tool's limits are round: a character that does not fit leaves up to three bytes of one unused.
const ROUND_BYTES: usize = 100;

/// A result's message as it is sent.
pub(super) fn as_sent(mut message: Message) -> Message {
    for part in &mut message.parts {
        if let Part::ToolResult { content, .. } = part
            && content.len() > 1
            && let Some(limit) = limit_bytes(content)
        {
            cut(content, limit / TOKEN_BYTES);
        }
    }
    message
}

/// How many bytes the tool left of a result that it cut; none where it did not.
fn limit_bytes(content: &[Part]) -> Option<usize> {
    let mut bytes = 0;
    for text in content.iter().filter_map(Part::as_text) {
        if let Some(mark) = mark_bytes(text) {
            return Some((bytes + text.len() - mark).next_multiple_of(ROUND_BYTES));
        }
        bytes += text.len();
    }
    None
}

/// The length of the mark where the tool cut characters out of a text; none where it did not.
fn mark_bytes(text: &str) -> Option<usize> {
    const END: &str = " chars truncated…";
    let (front, _) = text.split_once(END)?;
    let digits = front.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_mark = digits.len() < front.len() && digits.ends_with('…');
    is_mark.then(|| front.len() - digits.len() + '…'.len_utf8() + END.len())
}

/// Cuts texts to a number of tokens, from the first on.
fn cut(content: &mut Vec<Part>, tokens: usize) {
    let mut left = tokens;
    let mut omitted = 0;
    content.retain_mut(|part| {
        let Part::Text { text } = part else {
            return true;
        };
        let cost = text.len().div_ceil(TOKEN_BYTES);
        if left == 0 {
            omitted += 1;
            return false;
        }
        if cost > left {
            *text = middle_cut(text, left);
        }
        left = left.saturating_sub(cost);
        true
    });
    if omitted > 0 {
        content.push(Part::text(format!("[omitted {omitted} text items ...]")));
    }
}

/// A text without its middle, with a mark there.
fn middle_cut(text: &str, tokens: usize) -> String {
    let limit = tokens * TOKEN_BYTES;
    let front = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(limit - limit / 2));
    let gone = text.len().saturating_sub(limit).div_ceil(TOKEN_BYTES);
    let (front, tail) = (&text[..front], &text[tail.max(front)..]);
    format!("{front}…{gone} tokens truncated…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(texts: &[&str]) -> Message {
        let content = texts.iter().copied().map(Part::text).collect();
        let result = Part::ToolResult {
            call: "c".to_owned(),
            content,
            is_error: false,
        };
        Message::new(crate::model::Role::Tool, vec![result])
    }

    fn texts(message: &Message) -> Vec<String> {
        let Some(Part::ToolResult { content, .. }) = message.parts.first() else {
            panic!("a result");
        };
        let texts = content.iter().filter_map(Part::as_text);
        texts.map(str::to_owned).collect()
    }

    #[test]
    fn a_text_that_was_cut_by_characters_is_cut_by_tokens() {
        let head = "Wall time: 0.0048 seconds\nOutput:";
        let (front, tail) = ("a".repeat(5983), "b".repeat(5984));
        let long = format!("{front}…288033 chars truncated…{tail}");
        let sent = texts(&as_sent(result(&[head, &long, "after"])));
        assert_eq!(sent[0], head);
        let (front, tail) = ("a".repeat(5982), "b".repeat(5982));
        assert_eq!(sent[1], format!("{front}…8 tokens truncated…{tail}"));
        assert_eq!(sent[2..], ["[omitted 1 text items ...]"]);
        // Once cut it is not cut again.
        let again = as_sent(result(&[head, &sent[1]]));
        assert_eq!(texts(&again)[1], sent[1]);
    }

    #[test]
    fn what_was_not_cut_stays() {
        for said in [
            &["one", "two"][..],
            &["x…12 chars truncated…y"],
            &["one", "… chars truncated…"],
        ] {
            assert_eq!(as_sent(result(said)), result(said));
        }
    }

    #[test]
    fn characters_stay_whole() {
        let long = format!(
            "{}…9 chars truncated…{}",
            "é".repeat(3000),
            "é".repeat(2999)
        );
        let sent = texts(&as_sent(result(&["1", &long])));
        assert!(sent[1].contains("tokens truncated…é"), "{}", sent[1]);
    }
}
