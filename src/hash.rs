//! Canonical bytes and SHA-256: the only place where anything is hashed for identity.
//!
//! The canonical form is JSON in UTF-8 with keys sorted by code point, no white space, strings as
//! received, and integers as the only numbers (`docs/object-format.md`). [`Canonical`] writes it;
//! callers hand it keys in order, which a debug assertion checks. Deliberately absent: any
//! knowledge of what a message or a commit holds.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

const CONTENT_DOMAIN: &[u8] = b"tract content 1\0";
const COMMIT_DOMAIN: &[u8] = b"tract commit 1\0";

/// A SHA-256, 32 bytes.
pub type HashBytes = [u8; 32];

#[cfg(test)]
thread_local! {
    /// How many contents and how many commits this thread has hashed.
    pub(crate) static HASHED: std::cell::Cell<(u64, u64)> = const { std::cell::Cell::new((0, 0)) };
}

fn digest(domain: &[u8], bytes: &[u8]) -> HashBytes {
    #[cfg(test)]
    HASHED.with(|hashed| {
        let (contents, commits) = hashed.get();
        let is_content = u64::from(domain == CONTENT_DOMAIN);
        hashed.set((contents + is_content, commits + 1 - is_content));
    });
    let mut hasher = Sha256::new();
    hasher.update(domain);
    hasher.update(bytes);
    hasher.finalize().into()
}

/// The plain SHA-256 of some bytes, for recognising a file again; never an object's name.
pub fn fingerprint(bytes: &[u8]) -> HashBytes {
    Sha256::digest(bytes).into()
}

/// A plain SHA-256 taken piece by piece.
#[derive(Clone, Default)]
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all bytes so far; more may follow.
    pub fn value(&self) -> HashBytes {
        self.0.clone().finalize().into()
    }
}

macro_rules! hash_type {
    ($(#[$doc:meta])* $name:ident, $domain:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(HashBytes);

        impl $name {
            /// The hash of an object's canonical bytes.
            pub fn of(canonical: &str) -> Self {
                Self(digest($domain, canonical.as_bytes()))
            }

            /// A hash read back from where it was stored.
            pub const fn from_bytes(bytes: HashBytes) -> Self {
                Self(bytes)
            }

            /// The 32 bytes.
            pub const fn as_bytes(&self) -> &HashBytes {
                &self.0
            }

            /// The first seven hex digits, as people see a hash.
            pub fn short(&self) -> String {
                let mut text = self.to_string();
                text.truncate(7);
                text
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut hex = [0u8; 64];
                for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
                    pair[0] = HEX[usize::from(byte >> 4)];
                    pair[1] = HEX[usize::from(byte & 15)];
                }
                f.pad(std::str::from_utf8(&hex).expect("hex digits are ASCII"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self:.10})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = Error;

            /// Reads 64 hex digits, in either case.
            fn from_str(text: &str) -> Result<Self> {
                let bad = || Error::InvalidHash { text: text.to_owned() };
                let digits = text.as_bytes();
                if digits.len() != 64 {
                    return Err(bad());
                }
                let mut bytes = [0u8; 32];
                for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
                    let high = (pair[0] as char).to_digit(16).ok_or_else(bad)?;
                    let low = (pair[1] as char).to_digit(16).ok_or_else(bad)?;
                    *byte = (high * 16 + low) as u8;
                }
                Ok(Self(bytes))
            }
        }
    };
}

const HEX: &[u8; 16] = b"0123456789abcdef";

hash_type!(
    /// The name of a message's content: `SHA-256("tract content 1\0" + canonical content)`.
    ContentHash,
    CONTENT_DOMAIN
);
hash_type!(
    /// The name of a commit: `SHA-256("tract commit 1\0" + canonical commit)`.
    CommitHash,
    COMMIT_DOMAIN
);

/// The beginning of a commit hash in hex digits, as a person types it: 4 to 64 of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashPrefix(String);

impl HashPrefix {
    /// The fewest digits that are taken as a prefix.
    ///
    /// # Source
    ///
    /// git-config(1), `core.abbrev`: "minimum is 4".
    pub const MIN_DIGITS: usize = 4;

    /// Reads 4 to 64 hex digits; `None` if `text` is anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (Self::MIN_DIGITS..=64).contains(&text.len());
        (fits && text.bytes().all(|b| b.is_ascii_hexdigit()))
            .then(|| Self(text.to_ascii_lowercase()))
    }

    /// The digits, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The lowest and the highest hash that begin with these digits, both included.
    pub fn range(&self) -> (HashBytes, HashBytes) {
        let bound = |fill: char| -> HashBytes {
            let digits: String = self
                .0
                .chars()
                .chain(std::iter::repeat(fill))
                .take(64)
                .collect();
            *digits
                .parse::<CommitHash>()
                .expect("64 hex digits")
                .as_bytes()
        };
        (bound('0'), bound('f'))
    }
}

/// Writes one canonical JSON object.
///
/// Keys must come in code-point order and only once; values that are absent are left out by not
/// calling the method.
pub struct Canonical {
    out: String,
    last_key: Vec<&'static str>,
}

impl Default for Canonical {
    fn default() -> Self {
        Self::new()
    }
}

impl Canonical {
    /// An open object with nothing in it.
    pub fn new() -> Self {
        Self {
            out: String::from("{"),
            last_key: vec![""],
        }
    }

    fn key(&mut self, key: &'static str) {
        let last = self.last_key.last_mut().expect("an object is open");
        debug_assert!(
            *last < key,
            "canonical keys out of order: {last} then {key}"
        );
        if !last.is_empty() {
            self.out.push(',');
        }
        *last = key;
        write_string(&mut self.out, key);
        self.out.push(':');
    }

    /// `key` with a string.
    pub fn string(&mut self, key: &'static str, value: &str) -> &mut Self {
        self.key(key);
        write_string(&mut self.out, value);
        self
    }

    /// `key` with a string, or nothing at all.
    pub fn optional(&mut self, key: &'static str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.string(key, value);
        }
        self
    }

    /// `key` with an integer.
    pub fn integer(&mut self, key: &'static str, value: i64) -> &mut Self {
        self.key(key);
        self.out.push_str(&value.to_string());
        self
    }

    /// `key` with `true`, or nothing at all.
    pub fn flag(&mut self, key: &'static str, value: bool) -> &mut Self {
        if value {
            self.key(key);
            self.out.push_str("true");
        }
        self
    }

    /// `key` with a nested object that `fill` writes.
    pub fn object(&mut self, key: &'static str, fill: impl FnOnce(&mut Self)) -> &mut Self {
        self.key(key);
        self.nested(fill);
        self
    }

    /// `key` with an array of objects, one for each item; an empty list is left out.
    pub fn objects<T>(
        &mut self,
        key: &'static str,
        items: &[T],
        mut fill: impl FnMut(&mut Self, &T),
    ) -> &mut Self {
        if items.is_empty() {
            return self;
        }
        self.key(key);
        self.out.push('[');
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            self.nested(|object| fill(object, item));
        }
        self.out.push(']');
        self
    }

    /// `key` with an array of strings; an empty list is left out.
    pub fn strings<S: AsRef<str>>(
        &mut self,
        key: &'static str,
        items: impl IntoIterator<Item = S>,
    ) -> &mut Self {
        let mut items = items.into_iter().peekable();
        if items.peek().is_none() {
            return self;
        }
        self.key(key);
        self.out.push('[');
        for (i, item) in items.enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            write_string(&mut self.out, item.as_ref());
        }
        self.out.push(']');
        self
    }

    /// `key` with a map of strings, in the map's own (sorted) order; an empty map is left out.
    pub fn map<'a>(
        &mut self,
        key: &'static str,
        entries: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> &mut Self {
        let mut entries = entries.into_iter().peekable();
        if entries.peek().is_none() {
            return self;
        }
        self.key(key);
        self.out.push('{');
        for (i, (name, value)) in entries.enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            write_string(&mut self.out, name);
            self.out.push(':');
            write_string(&mut self.out, value);
        }
        self.out.push('}');
        self
    }

    fn nested(&mut self, fill: impl FnOnce(&mut Self)) {
        self.out.push('{');
        self.last_key.push("");
        fill(self);
        self.last_key.pop();
        self.out.push('}');
    }

    /// Closes the object and gives the bytes.
    pub fn finish(mut self) -> String {
        self.out.push('}');
        self.out
    }
}

/// Writes `text` as a canonical JSON string: only `"`, `\` and U+0000–001F are escaped.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut clean = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[clean..at]);
        clean = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            _ => {
                out.push_str("\\u00");
                out.push(HEX[usize::from(byte >> 4)] as char);
                out.push(HEX[usize::from(byte & 15)] as char);
            }
        }
    }
    out.push_str(&text[clean..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_must_be_escaped_is_escaped() {
        let mut out = String::new();
        write_string(
            &mut out,
            "a\"b\\c/\u{8}\t\n\u{c}\r\u{0}\u{1f}\u{7f}é\u{2028}😀",
        );
        assert_eq!(
            out,
            "\"a\\\"b\\\\c/\\b\\t\\n\\f\\r\\u0000\\u001f\u{7f}é\u{2028}😀\""
        );
    }

    #[test]
    fn a_prefix_of_odd_length_covers_its_range() {
        let prefix = HashPrefix::parse("ABCDE").expect("five digits");
        let (low, high) = prefix.range();
        assert_eq!((low[2], high[2]), (0xe0, 0xef));
        assert_eq!((low[31], high[31]), (0, 255));
        assert!(HashPrefix::parse("abc").is_none());
        assert!(HashPrefix::parse("ab%_").is_none());
    }

    #[test]
    fn a_hash_reads_back_what_it_prints() {
        let hash = CommitHash::of("{}");
        assert_eq!(hash.to_string().parse::<CommitHash>().unwrap(), hash);
        assert_eq!(format!("{hash:.7}"), hash.short());
        assert_ne!(hash.as_bytes(), ContentHash::of("{}").as_bytes());
    }
}
