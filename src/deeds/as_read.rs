//! A page as somebody reads it, whatever mark-up stands between the letters: for whoever looks for a text
//! on it. Deliberately absent: what is looked for.

use crate::wire::html::unescaped;

/// HTML with its tags as gaps between words, and with none between letters.
pub fn html(page: &[u8]) -> Vec<Vec<u8>> {
    [Some(b'\n'), None].map(|tag| untagged(page, tag)).into()
}

/// Markdown as it is written, and without what keeps it from being read as mark-up.
pub fn markdown(page: &[u8]) -> Vec<Vec<u8>> {
    let mut plain = Vec::with_capacity(page.len());
    let mut rest = page.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match rest.peek() {
            Some(next) if byte == b'\\' && next.is_ascii_punctuation() => {}
            _ => plain.push(byte),
        }
    }
    vec![page.to_vec(), spelt(&plain)]
}

/// HTML without its tags.
fn untagged(page: &[u8], tag: Option<u8>) -> Vec<u8> {
    let mut text = Vec::with_capacity(page.len());
    let mut is_in_tag = false;
    for &byte in page {
        match byte {
            b'<' => is_in_tag = true,
            b'>' if is_in_tag => {
                is_in_tag = false;
                text.extend(tag);
            }
            _ if is_in_tag => {}
            _ => text.push(byte),
        }
    }
    spelt(&text)
}

/// A page with the characters that it names.
fn spelt(page: &[u8]) -> Vec<u8> {
    unescaped(&String::from_utf8_lossy(page)).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(read: Vec<Vec<u8>>, text: &str) -> bool {
        let read = read
            .into_iter()
            .map(|it| String::from_utf8(it).expect("text"));
        let mut words = read.map(|it| it.split_whitespace().any(|word| word == text));
        words.any(|it| it)
    }

    #[test]
    fn no_mark_up_hides_a_word() {
        for page in [
            "<p>a_b=\"c</p>",
            "<p>x<b>a_b=&quot;c</b>y</p>",
            "<p>a_<ins>b</ins>=&quot;c</p>",
        ] {
            assert!(holds(html(page.as_bytes()), "a_b=\"c"), "{page}");
        }
        for page in ["a_b=&c", "a\\_b=&c", "x\na\\_b\\=&amp;c y"] {
            assert!(holds(markdown(page.as_bytes()), "a_b=&c"), "{page}");
        }
        assert!(!holds(html(b"<p class=\"secret\">word</p>"), "secret"));
    }
}
