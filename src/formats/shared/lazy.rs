//! Records of which each member stays raw JSON until somebody asks for it.
//!
//! A member's shape differs between the versions of a tool, so that a record is taken apart by its keys alone: what is
//! absent, `null` or unknown is nothing, and a list is no record. Deliberately absent: what a member means.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::wire::json::Raw;

/// Declares records by their members: `lazy! { struct Call { id, tool_name = "toolName" } }`. A member goes by its
/// own name or by the key behind it, and is a [`Raw`]; all are seen by whoever sees the record.
macro_rules! lazy {
    (@key $field:ident) => { crate::formats::shared::lazy::bare(stringify!($field)) };
    (@key $field:ident $key:literal) => { $key };
    ($($(#[$about:meta])* $seen:vis struct $name:ident {
        $($(#[$of_field:meta])* $field:ident $(= $key:literal)?),* $(,)?
    })+) => {$(
        $(#[$about])*
        #[derive(Default)]
        $seen struct $name<'a> {
            $($(#[$of_field])* $seen $field: crate::wire::json::Raw<'a>,)*
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                const KEYS: &[&str] = &[$(lazy!(@key $field $($key)?)),*];
                let [$($field),*] = crate::formats::shared::lazy::members(from, stringify!($name), KEYS)?;
                Ok(Self { $($field),* })
            }
        }
    )+};
}

/// A field's name as it is without what keeps it from being a word of the language.
pub(in crate::formats) const fn bare(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// The members of the record `name` by these keys, in their order.
pub(in crate::formats) fn members<'de: 'a, 'a, D: Deserializer<'de>, const N: usize>(
    from: D,
    name: &'static str,
    keys: &'static [&'static str],
) -> Result<[Raw<'a>; N], D::Error> {
    let mut found = [None; N];
    from.deserialize_map(Members {
        name,
        keys,
        found: &mut found,
    })?;
    Ok(found)
}

struct Members<'f, 'a> {
    name: &'static str,
    keys: &'static [&'static str],
    found: &'f mut [Raw<'a>],
}

impl<'de: 'a, 'a> Visitor<'de> for Members<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "struct {}", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut met = 0_u64;
        while let Some(at) = map.next_key_seed(Key(self.keys))? {
            let Some(at) = at else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if met & (1 << at) != 0 {
                return Err(A::Error::duplicate_field(self.keys[at]));
            }
            met |= 1 << at;
            self.found[at] = map.next_value()?;
        }
        Ok(())
    }
}

/// Which of the keys one is.
struct Key(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("field identifier")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|it| *it == key))
    }
}

#[cfg(test)]
mod tests {
    lazy! { struct Call { r#type, id = "callId", input } }

    fn read(text: &str) -> Result<[Option<&str>; 3], String> {
        let call: Call<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok([call.r#type, call.id, call.input].map(|raw| raw.map(|raw| raw.get())))
    }

    #[test]
    fn a_record_is_taken_apart_by_its_keys() {
        let found = read(r#"{"callId": [ 1 ], "other": {"type": 2}, "type": "x", "input": null}"#);
        assert_eq!(found, Ok([Some("\"x\""), Some("[ 1 ]"), None]));
        assert_eq!(read("{}"), Ok([None; 3]));
        let twice = read(r#"{"type": 1, "type": 2}"#).expect_err("a key twice");
        assert!(twice.starts_with("duplicate field `type`"), "{twice}");
        let list = read("[1]").expect_err("a list");
        assert!(list.contains("expected struct Call"), "{list}");
    }
}
