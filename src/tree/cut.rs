//! What is cut says so.

use serde_json::Value;

use crate::model::Part;

/// How many lines a tool left out of what it gave back, by its own figures.
///
/// # Source
///
/// `truncation` with `totalLines` and `outputLines`, or `hasMore` with `totalLines`, in the results
/// of <https://github.com/kcosr/assistant> and of the agents that it runs.
pub fn omitted_lines(content: &[Part]) -> Option<u64> {
    let [Part::Text { text }] = content else {
        return None;
    };
    if !text.starts_with('{') {
        return None;
    }
    let result: Value = serde_json::from_str(text).ok()?;
    let inside = [
        result.get("truncation"),
        result.pointer("/details/truncation"),
    ];
    let told = inside.into_iter().flatten().find(|told| told.is_object());
    let omitted = match told {
        Some(told) => {
            let cut = told["truncated"] == true || told["truncatedBy"].is_string();
            let (all, shown) = (told["totalLines"].as_u64()?, told["outputLines"].as_u64()?);
            all.saturating_sub(shown) * u64::from(cut)
        }
        None if result["hasMore"] == true => {
            let shown = result["content"].as_str()?.lines().count() as u64;
            result["totalLines"].as_u64()?.saturating_sub(shown)
        }
        None => 0,
    };
    (omitted > 0).then_some(omitted)
}

/// The line that says that so many more lines were cut.
pub fn more_lines(count: u64) -> String {
    match count {
        1 => "… 1 more line".to_owned(),
        count => format!("… {count} more lines"),
    }
}
