//! Names and ids in the letters that providers allow.

use super::{Repair, Repairs};

/// `text` with every character that is no ASCII letter, digit, `_` or `-` made `_`, cut at
/// `max_chars`; `otherwise` if it is empty.
pub fn plain(text: &str, max_chars: usize, otherwise: &str) -> String {
    if text.is_empty() {
        return otherwise.to_owned();
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.chars()
        .take(max_chars)
        .map(|c| if allowed(c) { c } else { '_' })
        .collect()
}

/// A tool's name as a provider allows it.
pub(super) fn tool(name: &str, max_chars: usize, number: usize, repairs: &mut Repairs) -> String {
    let allowed = plain(name, max_chars, "tool");
    if allowed != name {
        repairs.add(Repair::ToolName, number);
    }
    allowed
}
