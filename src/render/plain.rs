//! The painter for pipes, files and terminals without colour: the text alone.

use crate::render::Line;

/// The line's text; spaces at its end would only be in the way.
pub fn paint(line: &Line) -> String {
    let mut text = line.text();
    text.truncate(text.trim_end().len());
    text
}
