//! Code as a part of a page.

use super::markup::Markup;

/// Writes code in this language.
pub(super) fn write(markup: &mut Markup, text: &str, _language: Option<&str>) {
    markup.text(text);
}

/// The language of a file, by its name.
pub(super) fn language_of_file(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\'])
        .next()?
        .rsplit_once('.')
        .map(|(_, kind)| kind)
}
