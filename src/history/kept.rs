//! The bytes of a kept session file, as a reader of session formats takes them.

use std::io;

use crate::interop::Input;
use crate::model::Span;
use crate::store::View;

/// A kept file up to somewhere.
pub(crate) struct KeptSource<'a> {
    view: &'a dyn View,
    id: u64,
    size_bytes: u64,
}

impl<'a> KeptSource<'a> {
    pub(crate) fn new(view: &'a dyn View, id: u64, size_bytes: u64) -> Self {
        Self {
            view,
            id,
            size_bytes,
        }
    }
}

impl Input for KeptSource<'_> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let len = (buffer.len() as u64).min(self.size_bytes.saturating_sub(offset));
        let bytes = self.view.source_bytes(self.id, Span { offset, len });
        let bytes = bytes.map_err(io::Error::other)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}
