//! What commands wrote, as providers without the item for it are told.

use std::borrow::Cow;

use serde_json::Value;

use super::PROVIDER;
use crate::model::{Message, Part};

/// The message with a text in place of what each command wrote.
pub fn in_words(message: Cow<'_, Message>) -> Cow<'_, Message> {
    let has_one = message.parts.iter().any(|part| {
        matches!(part, Part::ToolResult { content, .. } if content.iter().any(|part| words(part).is_some()))
    });
    if !has_one {
        return message;
    }
    let mut message = message.into_owned();
    for part in &mut message.parts {
        if let Part::ToolResult { content, .. } = part {
            for part in content {
                if let Some(text) = words(part) {
                    *part = Part::text(text);
                }
            }
        }
    }
    Cow::Owned(message)
}

/// What a command wrote, and how it ended where that was not well; none of any other part.
fn words(part: &Part) -> Option<String> {
    let Part::Opaque { provider, data } = part else {
        return None;
    };
    if provider != PROVIDER || !data.contains("\"stdout\"") {
        return None;
    }
    let chunk: Value = serde_json::from_str(data).ok()?;
    if chunk.get("type").is_some() {
        return None;
    }
    let mut text = chunk["stdout"].as_str()?.to_owned();
    text += chunk["stderr"].as_str().unwrap_or_default();
    let outcome = &chunk["outcome"];
    let ended = match (outcome["type"].as_str(), outcome["exit_code"].as_i64()) {
        (Some("timeout"), _) => "timed out".to_owned(),
        (_, Some(code)) if code != 0 => format!("exit code {code}"),
        _ => return Some(text),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Some(text + &ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_wrote_is_a_text_with_how_it_ended() {
        let said = |data: &str| words(&Part::opaque(PROVIDER, data));
        let chunk = |outcome: &str| {
            let chunk = format!(r#"{{"stdout":"a.txt\n","stderr":"b?","outcome":{outcome}}}"#);
            said(&chunk).expect("a chunk")
        };
        assert_eq!(chunk(r#"{"type":"exit","exit_code":0}"#), "a.txt\nb?");
        assert_eq!(
            chunk(r#"{"type":"exit","exit_code":2}"#),
            "a.txt\nb?\nexit code 2"
        );
        assert_eq!(chunk(r#"{"type":"timeout"}"#), "a.txt\nb?\ntimed out");
        assert_eq!(said(r#"{"type":"input_text","stdout":"x"}"#), None);
    }
}
