//! Where a session ran, as tools write it.

/// A path that may be written as an address (`file:///home/me/a%20b`).
pub(in crate::formats) fn path(place: &str) -> String {
    let Some(rest) = place.strip_prefix("file://") else {
        return place.to_owned();
    };
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let Some((first, behind)) = left.split_first() {
        let digits = behind.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                left = &behind[2..];
            }
            None => {
                bytes.push(*first);
                left = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| rest.to_owned())
}

/// A directory as the name of a folder: every UTF-16 unit that is no letter or digit is `-`.
pub(in crate::formats) fn slug(cwd: &str) -> String {
    let plain = |unit: u16| char::from_u32(unit.into()).filter(char::is_ascii_alphanumeric);
    let units = cwd.encode_utf16();
    units.map(|unit| plain(unit).unwrap_or('-')).collect()
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn an_address_is_a_path() {
        for (place, expected) in [
            ("file:///home/me/a%20b", "/home/me/a b"),
            ("file:///a%2", "/a%2"),
            ("file:///a%ff", "/a%ff"),
            ("/%20", "/%20"),
        ] {
            assert_eq!(path(place), expected);
        }
    }
}
