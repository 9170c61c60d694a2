//! The characters that HTML spells by names.

/// A text with the characters that it names.
pub fn unescaped(text: &str) -> String {
    // What a name of another is made of comes last.
    let names = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    names.iter().fold(text.to_owned(), |text, (name, sign)| {
        text.replace(name, sign)
    })
}
