//! MessagePack as LangGraph writes it, as JSON: objects of Python's classes are their class and what they were
//! made of, bytes an object with their base64.
//!
//! Deliberately absent: any making of such an object, and writing.
//!
//! # Source
//!
//! <https://github.com/msgpack/msgpack/blob/master/spec.md>; the kinds of extensions are those of LangGraph's
//! serializer.

use serde_json::{Map, Value, json};

use crate::model::base64::{self, BYTES};
use crate::model::depth::DEPTH_MAX;

/// The value that bytes hold.
///
/// # Errors
///
/// Why they hold none, in words.
pub(super) fn read(bytes: &[u8]) -> Result<Value, String> {
    let mut reader = Reader { bytes };
    let value = reader.value(0)?;
    match reader.bytes {
        [] => Ok(value),
        _ => Err("more bytes behind the state".to_owned()),
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], String> {
        let found = self.bytes.split_at_checked(count);
        let (taken, rest) = found.ok_or("the state ends too early")?;
        self.bytes = rest;
        Ok(taken)
    }

    /// A number of so many bytes, the greatest first.
    fn number(&mut self, bytes: usize) -> Result<u64, String> {
        let taken = self.take(bytes)?.iter();
        Ok(taken.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn length(&mut self, bytes: usize) -> Result<usize, String> {
        usize::try_from(self.number(bytes)?).map_err(|error| error.to_string())
    }

    fn value(&mut self, level: usize) -> Result<Value, String> {
        if level > DEPTH_MAX {
            return Err(format!(
                "the state is nested more than {DEPTH_MAX} levels deep"
            ));
        }
        let kind = self.take(1)?[0];
        Ok(match kind {
            0x00..=0x7f => kind.into(),
            0x80..=0x8f => self.map(usize::from(kind & 0x0f), level)?,
            0x90..=0x9f => self.list(usize::from(kind & 0x0f), level)?,
            0xa0..=0xbf => self.text(usize::from(kind & 0x1f))?,
            0xc0 => Value::Null,
            0xc2 => false.into(),
            0xc3 => true.into(),
            0xc4..=0xc6 => {
                let length = self.length(1 << (kind - 0xc4))?;
                json!({ BYTES: base64::encode(self.take(length)?) })
            }
            0xc7..=0xc9 => {
                let length = self.length(1 << (kind - 0xc7))?;
                self.extension(length, level)?
            }
            0xca => f64::from(f32::from_bits(self.number(4)? as u32)).into(),
            0xcb => f64::from_bits(self.number(8)?).into(),
            0xcc..=0xcf => self.number(1 << (kind - 0xcc))?.into(),
            0xd0..=0xd3 => {
                let bytes = 1 << (kind - 0xd0);
                let shift = 64 - 8 * bytes;
                // The sign is the first bit, wherever it stands.
                let number = (self.number(bytes)? << shift).cast_signed() >> shift;
                number.into()
            }
            0xd4..=0xd8 => self.extension(1 << (kind - 0xd4), level)?,
            0xd9..=0xdb => {
                let length = self.length(1 << (kind - 0xd9))?;
                self.text(length)?
            }
            0xdc | 0xdd => {
                let count = self.length(2 << (kind - 0xdc))?;
                self.list(count, level)?
            }
            0xde | 0xdf => {
                let count = self.length(2 << (kind - 0xde))?;
                self.map(count, level)?
            }
            0xe0..=0xff => i64::from(kind.cast_signed()).into(),
            0xc1 => return Err("a byte that begins nothing".to_owned()),
        })
    }

    fn text(&mut self, length: usize) -> Result<Value, String> {
        let bytes = self.take(length)?;
        Ok(String::from_utf8_lossy(bytes).into_owned().into())
    }

    /// Nothing is set aside for what a count alone promises.
    fn list(&mut self, count: usize, level: usize) -> Result<Value, String> {
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(self.value(level + 1)?);
        }
        Ok(list.into())
    }

    fn map(&mut self, count: usize, level: usize) -> Result<Value, String> {
        let mut map = Map::new();
        for _ in 0..count {
            let key = match self.value(level + 1)? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            map.insert(key, self.value(level + 1)?);
        }
        Ok(map.into())
    }

    /// An object of a class: the class, and what it was made of.
    fn extension(&mut self, length: usize, level: usize) -> Result<Value, String> {
        let kind = self.take(1)?[0];
        let bytes = self.take(length)?;
        let mut inside = Self { bytes };
        Ok(match kind {
            0..=5 => {
                let held = inside.value(level + 1)?;
                let mut held = match held {
                    Value::Array(held) => held.into_iter(),
                    other => return Ok(other),
                };
                let mut next = || held.next().unwrap_or_default();
                let (module, class, made_of) = (next(), next(), next());
                let name = if made_of.is_object() {
                    "kwargs"
                } else {
                    "args"
                };
                json!({"module": module, "class": class, name: made_of})
            }
            // A state that stands for the changes before it.
            7 => inside.value(level + 1)?,
            other => json!({"extension": other, BYTES: base64::encode(bytes)}),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_value_is_read() {
        let cases: [(&[u8], Value); 22] = [
            (b"\x07", json!(7)),
            (b"\xff", json!(-1)),
            (b"\xc0", json!(null)),
            (b"\xc2", json!(false)),
            (b"\xc3", json!(true)),
            (b"\xa2ab", json!("ab")),
            (b"\xd9\x02ab", json!("ab")),
            (b"\xda\x00\x01a", json!("a")),
            (b"\xdb\x00\x00\x00\x01a", json!("a")),
            (b"\xcc\xff", json!(255)),
            (b"\xcd\x01\x00", json!(256)),
            (b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", json!(u64::MAX)),
            (b"\xd0\xfe", json!(-2)),
            (b"\xd1\xff\x00", json!(-256)),
            (b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", json!(i64::MIN)),
            (b"\xca\x3f\x80\x00\x00", json!(1.0)),
            (b"\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", json!(1.5)),
            (b"\xc4\x03foo", json!({"base64": "Zm9v"})),
            (b"\x92\x01\x90", json!([1, []])),
            (b"\xdc\x00\x01\x01", json!([1])),
            (b"\x82\xa1a\x01\x02\xa1b", json!({"a": 1, "2": "b"})),
            (
                b"\xc7\x0b\x05\x94\xa1m\xa1C\x81\xa1a\x01\xa1v",
                json!({"module": "m", "class": "C", "kwargs": {"a": 1}}),
            ),
        ];
        for (bytes, value) in cases {
            assert_eq!(read(bytes), Ok(value), "{bytes:?}");
        }
        // What JSON has no number for.
        assert_eq!(
            read(b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00"),
            Ok(Value::Null)
        );
    }

    #[test]
    fn what_is_none_says_why() {
        for bytes in [
            &b""[..],
            b"\xc1",
            b"\xa2a",
            b"\xdd\xff\xff\xff\xff\x01",
            b"\xdf\xff\xff\xff\xff",
            b"\xc9\xff\xff\xff\xff\x05",
            b"\x01\x01",
        ] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        let deep = [vec![0x91; 100_000], vec![0xc0]].concat();
        assert!(read(&deep).is_err_and(|reason| reason.contains("nested")));
        // An extension in an extension, as deep.
        let mut deep = vec![0xc0];
        while deep.len() < 60_000 {
            let length = (deep.len() as u32).to_be_bytes();
            deep = [&[0xc9][..], &length, &[7], &deep].concat();
        }
        assert!(read(&deep).is_err_and(|reason| reason.contains("nested")));
    }
}
