//! How vocabularies and the kinds of chars are laid out in the program: what `build.rs` writes and
//! [`super::vocabulary`] and [`super::words`] read. Numbers are little-endian.

/// How many bits of a slot hold the rank of its token, plus 1; the others hold bits of its hash. An empty slot is 0.
pub const RANK_BITS: u32 = 18;
/// The rank that two bytes have which are no token.
pub const NO_RANK: u32 = u32::MAX;

/// Upper and title case.
pub const UPPER: u8 = 1;
/// Lower case.
pub const LOWER: u8 = 2;
/// Letters without case, and modifiers.
pub const CASELESS: u8 = 4;
/// Marks, which belong to the letter before them.
pub const MARK: u8 = 8;
/// Digits and other numbers.
pub const NUMBER: u8 = 16;
/// White space.
pub const SPACE: u8 = 32;
/// All else.
pub const OTHER: u8 = 64;

/// How many chars share a block in the table of kinds.
pub const BLOCK: usize = 128;

/// The hash by which a token finds its slot, from the lowest bits on; its highest are kept in the slot.
pub fn hash(token: &[u8]) -> u64 {
    let mix = |hash: u64, bytes| {
        let word = u64::from_le_bytes(bytes);
        (hash.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let (words, rest) = token.as_chunks::<8>();
    let mut hash = words
        .iter()
        .fold(token.len() as u64, |hash, word| mix(hash, *word));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = mix(hash, last);
    }
    hash ^ (hash >> 32)
}

/// The bits of a token's hash that its slot keeps.
pub fn kept_of(hash: u64) -> u32 {
    (hash >> (32 + RANK_BITS)) as u32
}
