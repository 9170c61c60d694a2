//! The bytes behind base64 text, and the text of bytes.
//!
//! # Source
//!
//! RFC 4648, sections 4 and 5: both alphabets are taken, and padding may be absent.

/// The member under which bytes stand in a JSON object, as this text.
pub const BYTES: &str = "base64";

/// The bytes; none where the text is no base64. White space in it counts for nothing.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held, mut padded) = (0_u32, 0_u32, false);
    for letter in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                padded = true;
                continue;
            }
            _ => return None,
        };
        if padded {
            return None;
        }
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    // What is left over is less than a byte, and nothing but zeros.
    (held < 6 && bits == 0).then_some(bytes)
}

/// The text of bytes, padded, in the first alphabet.
pub fn encode(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            text.push(if at <= three.len() {
                char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_standard_are_read() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm9v\nYmFy\n", "foobar"),
            ("Zm9vYg", "foob"),
        ] {
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()), "{text}");
            let plain = text.replace('\n', "");
            if plain.len() % 4 == 0 {
                assert_eq!(encode(bytes.as_bytes()), plain);
            }
        }
        assert_eq!(decode("-_+/"), Some(vec![0xfb, 0xff, 0xbf]));
        assert_eq!(encode(&[0xfb, 0xff, 0xbf]), "+/+/");
        for wrong in ["Z", "Zg=v", "Zh", "Z!==", "é"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
