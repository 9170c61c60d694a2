//! The messages that most conversations are made of, taken from their stored bytes: a text, a call with
//! or without a text before it, a result of texts. The stored form quotes strings as requests do, so what
//! is between two quotes goes over as it is.
//!
//! Only canonical bytes in exactly these shapes are taken; of anything else nothing is said, and it is
//! read in full.

use crate::model::Role;

/// A message as its canonical bytes spell it; each `&str` is a JSON string with its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw<'a> {
    /// One text, by anyone but a tool.
    Text { role: Role, text: &'a str },
    /// The assistant's call of a function, maybe after a text.
    Call {
        text: Option<&'a str>,
        id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
    /// A tool's result: one text, or nothing.
    Result {
        call: &'a str,
        text: Option<&'a str>,
    },
}

impl<'a> Raw<'a> {
    /// What these canonical bytes spell, if it is one of these.
    pub(super) fn of(canonical: &'a str) -> Option<Self> {
        let mut rest = Rest(canonical);
        rest.skip(r#"{"parts":[{""#)?;
        if rest.skip(r#"call":"#).is_some() {
            return Self::result(rest);
        }
        if rest.skip(r#"text":"#).is_none() {
            rest.skip(r#"arguments":"#)?;
            return Self::call(rest, None);
        }
        let text = rest.string()?;
        rest.skip(r#","type":"text"}"#)?;
        if rest.skip(r#",{"arguments":"#).is_some() {
            return Self::call(rest, Some(text));
        }
        rest.skip(r#"],"role":""#)?;
        let role = rest.0.strip_suffix(r#""}"#)?.parse().ok()?;
        (role != Role::Tool).then_some(Self::Text { role, text })
    }

    fn call(mut rest: Rest<'a>, text: Option<&'a str>) -> Option<Self> {
        let arguments = rest.string()?;
        rest.skip(r#","id":"#)?;
        let id = rest.string()?;
        rest.skip(r#","name":"#)?;
        let name = rest.string()?;
        (rest.0 == r#","type":"tool_call"}],"role":"assistant"}"#).then_some(Self::Call {
            text,
            id,
            name,
            arguments,
        })
    }

    fn result(mut rest: Rest<'a>) -> Option<Self> {
        let call = rest.string()?;
        let mut text = None;
        if rest.skip(r#","content":[{"text":"#).is_some() {
            text = Some(rest.string()?);
            rest.skip(r#","type":"text"}]"#)?;
        }
        let is_all = rest.0 == r#","type":"tool_result"}],"role":"tool"}"#;
        is_all.then_some(Self::Result { call, text })
    }
}

/// What is still to be read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn skip(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    /// A string with its quotes, if it is quoted as the canonical form does it.
    fn string(&mut self) -> Option<&'a str> {
        let bytes = self.0.as_bytes();
        (bytes.first() == Some(&b'"')).then_some(())?;
        let mut at = 1;
        loop {
            at += plain_len(&bytes[at..]);
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => at += escape_len(&bytes[at + 1..])? + 1,
                _ => return None,
            }
        }
        let (string, rest) = self.0.split_at(at + 1);
        self.0 = rest;
        Some(string)
    }
}

/// How many bytes stand before the next quote, backslash or control character.
fn plain_len(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // Most texts are long and hold few of these: so many bytes at once are looked through without a branch.
    let (chunks, _) = bytes.as_chunks::<32>();
    let is_plain = |chunk: &&[u8; 32]| {
        !chunk
            .iter()
            .fold(false, |any, byte| any | is_special(*byte))
    };
    let mut len = 32 * chunks.iter().take_while(is_plain).count();
    for chunk in bytes[len..].as_chunks::<8>().0 {
        let word = u64::from_le_bytes(*chunk);
        // A byte that becomes zero, or is below a space, borrows from its highest bit. A borrow may
        // mark a byte behind the first as well: only the first is asked for.
        let zero = |word: u64| word.wrapping_sub(ONES) & !word;
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = zero(word ^ (ONES * u64::from(b'"')));
        let backslash = zero(word ^ (ONES * u64::from(b'\\')));
        let found = (control | quote | backslash) & HIGH;
        if found != 0 {
            return len + found.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    let rest = bytes[len..].iter();
    len + rest.take_while(|byte| !is_special(**byte)).count()
}

/// Whether a string is not just the byte there: it ends, or something is escaped, or should be.
fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// How long an escape is behind its backslash, if the canonical form has it.
fn escape_len(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'"' | b'\\' | b'b' | b't' | b'n' | b'f' | b'r' => Some(1),
        b'u' => {
            let digits = bytes.get(1..5)?;
            let is_high = matches!(digits[..3], [b'0', b'0', b'0' | b'1']);
            let low = matches!(digits[3], b'0'..=b'9' | b'a'..=b'f');
            // Those five have a letter of their own.
            let has_letter =
                digits[2] == b'0' && matches!(digits[3], b'8' | b'9' | b'a' | b'c' | b'd');
            (is_high && low && !has_letter).then_some(5)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Message, Part};
    use crate::wire::json::quoted;

    fn text() -> impl Strategy<Value = String> {
        "[a-c\"\\\\\n\t\r\u{0}\u{8}\u{b}\u{c}\u{1f}\u{7f}é日😀/ ]{0,20}"
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        #[test]
        fn a_string_is_quoted_in_the_stored_form_as_in_a_request(text in text(), role in prop::sample::select(Role::ALL.to_vec())) {
            let message = Message::text(role, text.as_str());
            let canonical = message.canonical();
            let quoted = quoted(&text);
            let is_told = role != Role::Tool;
            prop_assert_eq!(Raw::of(&canonical), is_told.then_some(Raw::Text { role, text: &quoted }));
        }

        #[test]
        fn no_other_bytes_are_taken_for_canonical_ones(text in text(), at in any::<prop::sample::Index>(), byte in 0_u8..128) {
            let canonical = Message::text(Role::User, text.as_str()).canonical();
            let mut bytes = canonical.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(other) = String::from_utf8(bytes) && Raw::of(&other).is_some() {
                let message = Message::from_canonical(&other).expect("it is a message");
                prop_assert_eq!(message.canonical(), other);
            }
        }
    }

    #[test]
    fn calls_and_results_are_told_by_their_parts() {
        let call = |kind: Option<&str>| Part::ToolCall {
            id: "a\"".into(),
            name: "read".into(),
            arguments: "{\"p\":1}".into(),
            kind: kind.map(str::to_owned),
        };
        let of = |role, parts: Vec<Part>| Message::new(role, parts).canonical();
        let (id, name, arguments) = (r#""a\"""#, r#""read""#, r#""{\"p\":1}""#);
        let told = |text| {
            Some(Raw::Call {
                text,
                id,
                name,
                arguments,
            })
        };
        let alone = of(Role::Assistant, vec![call(None)]);
        assert_eq!(Raw::of(&alone), told(None));
        let after = of(Role::Assistant, vec![Part::text("so"), call(None)]);
        assert_eq!(Raw::of(&after), told(Some(r#""so""#)));
        let result = |content: Vec<Part>, is_error| Part::ToolResult {
            call: "a\"".into(),
            content,
            is_error,
        };
        let empty = of(Role::Tool, vec![result(vec![], false)]);
        assert_eq!(
            Raw::of(&empty),
            Some(Raw::Result {
                call: id,
                text: None
            })
        );
        let said = of(Role::Tool, vec![result(vec![Part::text("x")], false)]);
        assert_eq!(
            Raw::of(&said),
            Some(Raw::Result {
                call: id,
                text: Some(r#""x""#)
            })
        );
        for other in [
            of(Role::Assistant, vec![call(Some("custom"))]),
            of(Role::Assistant, vec![call(None), call(None)]),
            of(Role::User, vec![call(None)]),
            of(Role::Tool, vec![result(vec![Part::text("x")], true)]),
            of(
                Role::Tool,
                vec![result(vec![Part::text("x"), Part::text("y")], false)],
            ),
            of(Role::User, vec![result(vec![], false)]),
            of(Role::User, vec![]),
            of(Role::User, vec![Part::text("x"), Part::text("y")]),
        ] {
            assert_eq!(Raw::of(&other), None, "{other}");
        }
        let message = Message::text(Role::User, "x");
        for other in [
            Message {
                name: Some("bob".into()),
                ..message.clone()
            },
            Message {
                attached: Some("file".into()),
                ..message.clone()
            },
            Message {
                interrupted: true,
                ..message
            },
        ] {
            assert_eq!(Raw::of(&other.canonical()), None);
        }
    }
}
