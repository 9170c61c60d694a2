//! Words as a shell takes them.

/// A text as a shell takes it for one word.
pub fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+,@:~".contains(letter);
    // At the beginning of a word it stands for a home.
    if !text.is_empty() && !text.starts_with('~') && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Words as a shell would tell them apart: quotes hold together, and an apostrophe behind a backslash is one. What
/// [`shell_word`] gives is read back.
///
/// ```
/// use tract::render::{shell_word, shell_words};
///
/// assert_eq!(shell_words(&format!("log {}", shell_word("it's"))), ["log", "it's"]);
/// ```
pub fn shell_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None) if chars.peek() == Some(&'\'') => {
                word.get_or_insert_default().extend(chars.next());
            }
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
