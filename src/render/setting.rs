//! A request setting's value on one line.

use crate::render::bytes;

/// The longest value that is shown whole, in bytes.
pub const WHOLE_BYTES: usize = 60;

/// A setting's JSON text as people read it; a long one by its size.
pub fn value(json: &str) -> String {
    let plain = serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned());
    match plain.len() {
        0..=WHOLE_BYTES => plain,
        long => format!("… ({})", bytes(long as u64)),
    }
}
