//! Canonical bytes and SHA-256: the only place where anything is hashed for identity.
//!
//! The canonical form is JSON in UTF-8 with keys sorted by code point, no white space, strings as
//! received, and integers as the only numbers (`docs/object-format.md`). Deliberately absent: any
//! knowledge of what a message or a commit holds.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::Serialize;
use sha2::digest::common::hazmat::{SerializableState, SerializedState};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

const CONTENT_DOMAIN: &[u8] = b"tract content 1\0";
const COMMIT_DOMAIN: &[u8] = b"tract commit 1\0";

/// A SHA-256, 32 bytes.
pub type HashBytes = [u8; 32];

#[cfg(test)]
thread_local! {
    /// How many contents and how many commits this thread has named.
    pub(crate) static HASHED: std::cell::Cell<(u64, u64)> = const { std::cell::Cell::new((0, 0)) };
}

#[cfg(test)]
fn count(domain: &[u8]) {
    HASHED.with(|hashed| {
        let (contents, commits) = hashed.get();
        let is_content = u64::from(domain == CONTENT_DOMAIN);
        hashed.set((contents + is_content, commits + 1 - is_content));
    });
}

fn digest(domain: &[u8], bytes: &[u8]) -> HashBytes {
    let mut hasher = Sha256::new();
    hasher.update(domain);
    hasher.update(bytes);
    hasher.finalize().into()
}

/// The plain SHA-256 of some bytes, for recognising a file again; never an object's name.
pub fn fingerprint(bytes: &[u8]) -> HashBytes {
    Sha256::digest(bytes).into()
}

/// A hash as people and files write it: 64 lower-case hex digits.
pub fn hex(hash: &HashBytes) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
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

    /// Where it stands, without the bytes of a block that is not whole yet.
    pub fn mark(&self) -> FingerprintMark {
        let mut bytes = [0; MARK_BYTES];
        bytes.copy_from_slice(&self.0.serialize()[..MARK_BYTES]);
        FingerprintMark(bytes)
    }

    /// Goes on from a mark; the next bytes are those at [`FingerprintMark::size_bytes`].
    pub fn from_mark(mark: &FingerprintMark) -> Self {
        let mut state = SerializedState::<Sha256>::default();
        state[..MARK_BYTES].copy_from_slice(&mark.0);
        // Of a state without a begun block any is one.
        Self(Sha256::deserialize(&state).unwrap_or_default())
    }
}

/// Where a [`Fingerprint`] stood at its last whole block: from there it goes on without the bytes before.
/// It holds none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FingerprintMark([u8; MARK_BYTES]);

/// The state between two blocks, and how many blocks there were.
const MARK_BYTES: usize = 40;
/// How many bytes SHA-256 takes at once.
const HASH_BLOCK_BYTES: u64 = 64;

impl FingerprintMark {
    /// A mark read back from where it was stored; none where these bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; MARK_BYTES] {
        &self.0
    }

    /// How many bytes are hashed.
    pub fn size_bytes(&self) -> u64 {
        let (_, blocks) = self.0.split_at(MARK_BYTES - 8);
        let blocks = u64::from_le_bytes(blocks.try_into().expect("eight bytes are left"));
        blocks.saturating_mul(HASH_BLOCK_BYTES)
    }
}

/// In JSON, a value of this type is the text that it prints and reads.
macro_rules! as_text {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(
                &self,
                to: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                from: D,
            ) -> std::result::Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use as_text;

macro_rules! hash_type {
    ($(#[$doc:meta])* $name:ident, $domain:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(HashBytes);

        /// By its first eight bytes: of a hash any eight are as good.
        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                let first = self.0.first_chunk().expect("a hash has 32 bytes");
                state.write_u64(u64::from_le_bytes(*first));
            }
        }

        impl $name {
            /// The hash of an object's canonical bytes.
            pub fn of(canonical: &str) -> Self {
                #[cfg(test)]
                count($domain);
                Self(digest($domain, canonical.as_bytes()))
            }

            /// Whether these are the bytes that it names: what is read back is held against its name.
            pub fn names(&self, canonical: &[u8]) -> bool {
                self.0 == digest($domain, canonical)
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
                let digits: &[u8; 64] = text.as_bytes().try_into().map_err(|_| bad())?;
                let mut bytes = [0u8; 32];
                let mut wrong = 0;
                for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
                    let (high, low) = (DIGITS[usize::from(pair[0])], DIGITS[usize::from(pair[1])]);
                    wrong |= high | low;
                    *byte = high << 4 | low & 15;
                }
                if wrong > 15 {
                    return Err(bad());
                }
                Ok(Self(bytes))
            }
        }

        as_text!($name);
    };
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The value of each hex digit, in either case; of anything else, more than 15. A table: a long path is
/// read hash by hash.
const DIGITS: [u8; 256] = {
    let mut values = [0xf0; 256];
    let mut value = 0;
    while value < 16 {
        values[HEX[value] as usize] = value as u8;
        values[HEX[value].to_ascii_uppercase() as usize] = value as u8;
        value += 1;
    }
    values
};

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
            let digits = self.0.chars().chain(std::iter::repeat(fill)).take(64);
            let hash = digits.collect::<String>().parse::<CommitHash>();
            *hash.expect("64 hex digits").as_bytes()
        };
        (bound('0'), bound('f'))
    }
}

/// The canonical bytes of a value: keys sorted by code point, no white space, absent fields left
/// out by the value itself.
///
/// serde_json escapes what the form escapes, and nothing else; the test vectors hold it to that.
pub fn canonical(value: &impl Serialize) -> String {
    let mut tree =
        serde_json::to_value(value).expect("objects have plain keys and no failing parts");
    tree.sort_all_objects();
    tree.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_must_be_escaped_is_escaped() {
        assert_eq!(
            canonical(&"a\"b\\c/\u{8}\t\n\u{c}\r\u{0}\u{1f}\u{7f}é\u{2028}😀"),
            "\"a\\\"b\\\\c/\\b\\t\\n\\f\\r\\u0000\\u001f\u{7f}é\u{2028}😀\""
        );
    }

    #[test]
    fn a_fingerprint_goes_on_from_its_mark() {
        let bytes: Vec<u8> = (0..300_u32).map(|byte| byte as u8).collect();
        for at in [0, 1, 63, 64, 65, 128, 299, 300] {
            let mut first = Fingerprint::default();
            first.update(&bytes[..at]);
            let mark = FingerprintMark::from_bytes(first.mark().as_bytes()).expect("a mark");
            assert_eq!(mark.size_bytes(), at as u64 / 64 * 64);
            let mut next = Fingerprint::from_mark(&mark);
            next.update(&bytes[at / 64 * 64..]);
            assert_eq!(next.value(), fingerprint(&bytes), "at {at}");
            let begun = &bytes[at / 64 * 64..at];
            let holds = |part: &&[u8]| mark.as_bytes().windows(part.len()).any(|it| it == *part);
            assert!(begun.len() < 2 || !holds(&begun), "no text is in it");
        }
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
        let upper = hash.to_string().to_uppercase();
        assert_eq!(upper.parse::<CommitHash>().unwrap(), hash);
        assert_eq!(format!("{hash:.7}"), hash.short());
        assert_ne!(hash.as_bytes(), ContentHash::of("{}").as_bytes());
        for at in [0, 31, 63] {
            for wrong in ["g", "G", " ", "/", ":", "@", "`", "\0"] {
                let mut text = hash.to_string();
                text.replace_range(at..=at, wrong);
                assert!(text.parse::<CommitHash>().is_err(), "{text}");
            }
        }
        assert!(hash.to_string()[1..].parse::<CommitHash>().is_err());
    }
}
