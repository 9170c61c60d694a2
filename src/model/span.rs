//! Places in a source.

/// A run of bytes of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Where it begins.
    pub offset: u64,
    /// How long it is, without a line's end.
    pub len: u64,
}
