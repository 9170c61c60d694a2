//! JSON as JavaScript writes it: the bytes of which a client that is written in it makes its hashes.
//!
//! Texts and numbers stay tokens, so that a lone surrogate, which no Rust string holds, is still there.
//! Deliberately absent: what any of it means.
//!
//! # Source
//!
//! ECMAScript 2025, `JSON.stringify` and `Number::toString`; the order of keys is RFC 8785's.

use std::borrow::Cow;
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

use super::json::quoted;

/// More levels than this are not read.
const DEPTH_MAX: usize = 200;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsValue<'a> {
    /// Its members in their order, by their keys as they are written, in quotes.
    Object(Vec<(Cow<'a, str>, JsValue<'a>)>),
    /// Its elements.
    List(Vec<JsValue<'a>>),
    /// Anything else, as JavaScript writes it.
    Plain(Cow<'a, str>),
}

/// In which order members are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// As they stand.
    Kept,
    /// By their keys' UTF-16 code units.
    Sorted,
}

impl<'a> JsValue<'a> {
    /// The value that is all of `text`; none where it is no JSON, or nested too deep.
    pub fn of(text: &'a str) -> Option<Self> {
        let mut reader = Reader { text, at: 0 };
        let node = reader.value(0)?;
        reader.space();
        (reader.at == text.len()).then_some(node)
    }

    /// A string.
    pub fn text(text: &str) -> Self {
        Self::Plain(quoted(text).into())
    }

    /// An object of these members.
    pub fn object<const N: usize>(members: [(&'static str, Self); N]) -> Self {
        let members = members.into_iter();
        Self::Object(members.map(|(key, value)| (key_of(key), value)).collect())
    }

    /// The member by a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.members()
            .iter()
            .rfind(|(name, _)| is_key(name, key))
            .map(|(_, value)| value)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Self::Object(members) = self else {
            return None;
        };
        let mut members = members.iter_mut();
        members
            .rfind(|(name, _)| is_key(name, key))
            .map(|(_, value)| value)
    }

    /// Takes the members by a key out; the last of them.
    pub fn take(&mut self, key: &str) -> Option<Self> {
        let Self::Object(members) = self else {
            return None;
        };
        let taken = members.extract_if(.., |(name, _)| is_key(name, key));
        taken.last().map(|(_, value)| value)
    }

    /// Puts a member in the place of the one with its key, or else at the end.
    pub fn set(&mut self, key: &str, value: Self) {
        if let Some(known) = self.get_mut(key) {
            *known = value;
        } else if let Self::Object(members) = self {
            members.push((quoted(key).into(), value));
        }
    }

    /// The members; none of anything else.
    pub fn members(&self) -> &[(Cow<'a, str>, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements; none of anything else.
    pub fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// The text of a string; none of anything else, and of one with a lone surrogate.
    pub fn as_text(&self) -> Option<String> {
        match self {
            Self::Plain(token) => serde_json::from_str(token).ok(),
            _ => None,
        }
    }

    /// The number of a natural number.
    pub fn as_natural(&self) -> Option<u64> {
        match self {
            Self::Plain(token) => token.parse().ok(),
            _ => None,
        }
    }

    /// Whether it is a string.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Plain(token) if token.starts_with('"'))
    }

    /// What stands under a path of keys and indices.
    pub fn at_mut(&mut self, path: &[JsValue<'_>]) -> Option<&mut Self> {
        path.iter().try_fold(self, |node, step| match step {
            step if step.is_text() => node.get_mut(&step.as_text()?),
            step => match node {
                Self::List(elements) => elements.get_mut(usize::try_from(step.as_natural()?).ok()?),
                _ => None,
            },
        })
    }

    /// Appends it, without members of the key `without` at any depth.
    pub fn write(&self, out: &mut String, order: KeyOrder, without: Option<&str>) {
        match self {
            Self::Plain(token) => out.push_str(token),
            Self::List(elements) => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    element.write(out, order, without);
                }
                out.push(']');
            }
            Self::Object(members) => {
                let stays = |key: &str| without.is_none_or(|without| !is_key(key, without));
                let mut members: Vec<_> = members.iter().filter(|(key, _)| stays(key)).collect();
                if order == KeyOrder::Sorted {
                    members.sort_by(|(a, _), (b, _)| units(a).cmp(units(b)));
                }
                out.push('{');
                for (at, (key, value)) in members.into_iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    out.push_str(key);
                    out.push(':');
                    value.write(out, order, without);
                }
                out.push('}');
            }
        }
    }

    /// It as a text.
    pub fn to_text(&self, order: KeyOrder) -> String {
        let mut text = String::new();
        self.write(&mut text, order, None);
        text
    }
}

/// A key in quotes.
fn key_of(key: &str) -> Cow<'static, str> {
    quoted(key).into()
}

fn is_key(written: &str, key: &str) -> bool {
    let inner = written
        .strip_prefix('"')
        .and_then(|it| it.strip_suffix('"'));
    inner == Some(key)
}

/// The UTF-16 code units of a string as it is written, for comparing.
fn units(written: &str) -> impl Iterator<Item = u16> {
    let inner = written.get(1..written.len() - 1).unwrap_or_default();
    let mut letters = inner.chars().peekable();
    let mut waiting = None;
    std::iter::from_fn(move || {
        if let Some(unit) = waiting.take() {
            return Some(unit);
        }
        let letter = letters.next()?;
        if letter == '\\' {
            return escaped(&mut letters);
        }
        let mut pair = [0; 2];
        let units = letter.encode_utf16(&mut pair);
        waiting = units.get(1).copied();
        Some(pair[0])
    })
}

/// The code unit of what stands behind a backslash.
fn escaped(letters: &mut Peekable<Chars<'_>>) -> Option<u16> {
    Some(match letters.next()? {
        'b' => 8,
        't' => 9,
        'n' => 10,
        'f' => 12,
        'r' => 13,
        'u' => {
            let digits: String = letters.by_ref().take(4).collect();
            u16::from_str_radix(&digits, 16).ok()?
        }
        letter @ ('"' | '\\' | '/') => u16::try_from(u32::from(letter)).ok()?,
        _ => return None,
    })
}

/// A string as JavaScript writes it, of one as it is written.
fn string(written: &str) -> Option<Cow<'_, str>> {
    if !written.contains('\\') {
        return Some(written.into());
    }
    let mut text = String::with_capacity(written.len());
    text.push('"');
    let all: Vec<u16> = units(written).collect();
    for letter in char::decode_utf16(all) {
        match letter {
            Ok(letter) => {
                let quoted = quoted(letter.encode_utf8(&mut [0; 4]));
                text.push_str(&quoted[1..quoted.len() - 1]);
            }
            Err(lone) => {
                let _ = write!(text, "\\u{:04x}", lone.unpaired_surrogate());
            }
        }
    }
    text.push('"');
    Some(text.into())
}

/// A number as JavaScript writes it.
fn number(written: &str) -> Option<Cow<'_, str>> {
    let is_natural = |text: &str| {
        text == "0" || !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let digits = written.strip_prefix('-').unwrap_or(written);
    if digits.len() <= 15 && is_natural(digits) && written != "-0" {
        return Some(written.into());
    }
    // What is a number in JSON is one here, read to the nearest.
    serde_json::from_str::<f64>(written).ok()?;
    let value: f64 = written.parse().ok()?;
    if value == 0.0 {
        return Some("0".into());
    }
    // The shortest digits that are this number, and the place of the point among them.
    let shortest = format!("{:e}", value.abs());
    let (mantissa, power) = shortest.split_once('e')?;
    let digits = mantissa.replace('.', "");
    let (count, power): (i32, i32) = (i32::try_from(digits.len()).ok()?, power.parse().ok()?);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let text = match power {
        21.. | ..=-7 => {
            let sign = if power < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{}", power.unsigned_abs())
        }
        ..0 => format!("0.{}{digits}", zeros(-power - 1)),
        _ if power >= count - 1 => format!("{digits}{}", zeros(power + 1 - count)),
        _ => {
            let (whole, part) = digits.split_at(usize::try_from(power + 1).ok()?);
            format!("{whole}.{part}")
        }
    };
    let sign = if value < 0.0 { "-" } else { "" };
    Some(format!("{sign}{text}").into())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Passes over this byte, if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, depth: usize) -> Option<JsValue<'a>> {
        if depth > DEPTH_MAX {
            return None;
        }
        if self.take(b'{') {
            let mut members = Vec::new();
            self.items(b'}', |reader| {
                reader.space();
                let key = string(reader.token()?).filter(|key| key.starts_with('"'))?;
                let value = reader.take(b':').then(|| reader.value(depth + 1))??;
                members.push((key, value));
                Some(())
            })?;
            return Some(JsValue::Object(members));
        }
        if self.take(b'[') {
            let mut elements = Vec::new();
            self.items(b']', |reader| {
                elements.push(reader.value(depth + 1)?);
                Some(())
            })?;
            return Some(JsValue::List(elements));
        }
        let token = self.token()?;
        let plain = match token.as_bytes()[0] {
            b'"' => string(token)?,
            b'-' | b'0'..=b'9' => number(token)?,
            _ => matches!(token, "true" | "false" | "null").then(|| token.into())?,
        };
        Some(JsValue::Plain(plain))
    }

    /// What stands up to a closing bracket, with commas between.
    fn items(&mut self, close: u8, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.take(close) {
            return Some(());
        }
        loop {
            item(self)?;
            if self.take(close) {
                return Some(());
            }
            self.take(b',').then_some(())?;
        }
    }

    /// The string, number or word that comes next.
    fn token(&mut self) -> Option<&'a str> {
        let (bytes, from) = (self.text.as_bytes(), self.at);
        if self.peek()? != b'"' {
            let is_end =
                |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':') || byte.is_ascii_whitespace();
            let rest = &bytes[from..];
            self.at += rest.iter().position(is_end).unwrap_or(rest.len());
            return self
                .text
                .get(from..self.at)
                .filter(|token| !token.is_empty());
        }
        self.at += 1;
        loop {
            self.at += memchr::memchr2(b'"', b'\\', bytes.get(self.at..)?)?;
            if bytes[self.at] == b'"' {
                self.at += 1;
                return self.text.get(from..self.at);
            }
            self.at += 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(text: &str) -> Option<String> {
        Some(JsValue::of(text)?.to_text(KeyOrder::Sorted))
    }

    #[test]
    fn values_are_written_as_javascript_writes_them() {
        for (text, written) in [
            (
                r#" { "b" : [1, true ] , "a":null} "#,
                r#"{"a":null,"b":[1,true]}"#,
            ),
            // Supplementary characters stand before U+E000 where code units are compared.
            (
                r#"{"\ue000":1,"😀":2,"z":3}"#,
                "{\"z\":3,\"😀\":2,\"\u{e000}\":1}",
            ),
            (
                r#""\/ \u00e9 \u001F \n \ud83d\ude00""#,
                "\"/ é \\u001f \\n 😀\"",
            ),
            (r#""\ud83d\u0041""#, r#""\ud83dA""#),
            ("1000.0", "1000"),
            ("1e3", "1000"),
            ("-0", "0"),
            ("-0.5e-3", "-0.0005"),
            ("1e21", "1e+21"),
            ("123456789012345680000", "123456789012345680000"),
            ("12.5", "12.5"),
            ("0.000001", "0.000001"),
            ("1.5e-7", "1.5e-7"),
            ("9007199254740993", "9007199254740992"),
        ] {
            assert_eq!(sorted(text).as_deref(), Some(written), "{text}");
        }
        for text in [
            "", "{", "{\"a\"}", "[1,]", "[1 2]", "nil", "1 2", "\"a", "01x", "{a:1}",
        ] {
            assert_eq!(sorted(text), None, "{text}");
        }
        assert_eq!(sorted(&"[".repeat(100_000)), None);
    }

    #[test]
    fn members_are_found_left_out_and_set() {
        let mut node = JsValue::of(r#"{"a":[{"mark":1,"b":"x"}],"mark":{}}"#).expect("JSON");
        let mut text = String::new();
        node.write(&mut text, KeyOrder::Kept, Some("mark"));
        assert_eq!(text, r#"{"a":[{"b":"x"}]}"#);
        let path = JsValue::of(r#"["a",0]"#).expect("JSON");
        let place = node.at_mut(path.elements()).expect("there");
        assert_eq!(
            place.get("b").and_then(JsValue::as_text).as_deref(),
            Some("x")
        );
        place.set("c", JsValue::text("\""));
        assert_eq!(
            node.at_mut(&[JsValue::text("a"), JsValue::Plain("1".into())]),
            None
        );
        let written = r#"{"a":[{"mark":1,"b":"x","c":"\""}],"mark":{}}"#;
        assert_eq!(node.to_text(KeyOrder::Kept), written);
    }
}
