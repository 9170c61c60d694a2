//! How many bytes compressed ones may become. A stranger's file of a few kilobytes can stand for gigabytes.
//!
//! Sessions become 5 to 40 times as long, and one that repeats itself 100 times. A small file may become more than its share.

use std::io::{self, Read};

/// What each file may become, however short it is.
const FREE_BYTES: u64 = 32 << 20;
/// What each byte may become beyond that.
const TIMES: u64 = 200;

/// How many bytes so many compressed ones may become.
pub fn most_expanded(packed_bytes: u64) -> u64 {
    packed_bytes
        .saturating_mul(TIMES)
        .saturating_add(FREE_BYTES)
}

/// Reads what compressed bytes become, and no more than they may.
pub(crate) struct Expanded<R> {
    reader: R,
    packed_bytes: u64,
    left_bytes: u64,
}

impl<R: Read> Expanded<R> {
    /// Of a reader of what so many compressed bytes become.
    pub(crate) fn new(reader: R, packed_bytes: u64) -> Self {
        Self {
            reader,
            packed_bytes,
            left_bytes: most_expanded(packed_bytes),
        }
    }

    pub(crate) fn into_inner(self) -> R {
        self.reader
    }
}

impl<R: Read> Read for Expanded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.reader.read(buffer)?;
        self.left_bytes = self.left_bytes.checked_sub(got as u64).ok_or_else(|| {
            let most = most_expanded(self.packed_bytes) >> 20;
            let packed = self.packed_bytes;
            io::Error::other(format!("its {packed} bytes become more than {most} MiB"))
        })?;
        Ok(got)
    }
}
