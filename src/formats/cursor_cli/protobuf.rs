//! As much of Protocol Buffers as lists of names need: the fields that have a length.
//!
//! # Source
//!
//! <https://protobuf.dev/programming-guides/encoding/>.

/// The fields with a length, each with its number, in their order; none where these are no fields.
pub(super) fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        match key & 7 {
            0 => drop(varint(&mut bytes)?),
            1 => drop(bytes.split_off(..8)?),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                found.push((key >> 3, bytes.split_off(..length)?));
            }
            5 => drop(bytes.split_off(..4)?),
            _ => return None,
        }
    }
    Some(found)
}

/// A number in groups of seven bits, the lowest first.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_kind_are_passed_over_but_those_with_a_length() {
        let bytes = [
            &[0x0a, 2, 7, 8, 0x28, 0xac, 0x02][..],
            &[0x31, 1, 2, 3, 4, 5, 6, 7, 8, 0x3d, 1, 2, 3, 4],
            &[0x82, 0x01, 1, 9],
        ]
        .concat();
        assert_eq!(fields(&bytes), Some(vec![(1, &[7, 8][..]), (16, &[9][..])]));
        assert_eq!(fields(&[]), Some(Vec::new()));
    }

    #[test]
    fn what_is_torn_or_no_field_is_none() {
        for bytes in [
            &[0x0a][..],
            &[0x0a, 3, 1, 2],
            &[0x0b],
            &[0x31, 1],
            &[0x3d, 1],
            &[0x80; 11],
        ] {
            assert_eq!(fields(bytes), None, "{bytes:?}");
        }
    }
}
