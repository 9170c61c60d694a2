//! Whether a bucket keeps to conditions, and the marker by which that is tried and which says what the place is.

use object_store::path::Path;
use object_store::{ObjectStoreExt, PutMode};
use tract::{Error, Result};

use super::{Bucket, FORMAT, MARKER, Marker, NO_TAG, as_seen, errors};

/// How far the bucket keeps to the condition of a put.
enum Kept {
    /// It put it, for the condition was met.
    Put,
    /// It refused, for the condition was not.
    Refused,
    /// It does not know any.
    Unknown,
}

impl Bucket {
    /// Finds out, before anything is put, whether the bucket keeps to conditions: without them two pushes at once
    /// would both be told that theirs is there.
    pub(super) fn try_conditions(&mut self) -> Result<()> {
        if self.is_tried {
            return Ok(());
        }
        let marker = self.prefix.clone().join(MARKER);
        let text = serde_json::to_vec(&Marker { format: FORMAT }).map_err(Error::store)?;
        let update = as_seen(NO_TAG);
        // Where it is not there yet, the first makes it.
        let mut answer = self.tried(&marker, &text, PutMode::Create)?;
        if !self.has_marker && matches!(answer, Kept::Put) {
            answer = self.tried(&marker, &text, PutMode::Create)?;
        }
        if matches!(answer, Kept::Refused) {
            answer = self.tried(&marker, &text, update)?;
        }
        if matches!(answer, Kept::Refused) {
            self.is_tried = true;
            return Ok(());
        }
        if !self.has_marker {
            let _ = self.wait(0, self.store.delete(&marker));
        }
        Err(self.unreachable(
            "the bucket does not keep to conditions (If-None-Match, If-Match), so that two pushes could overwrite \
             each other",
            "nothing was sent; S3 itself keeps to them, and newer versions of many that speak like it",
        ))
    }

    fn tried(&self, marker: &Path, text: &[u8], mode: PutMode) -> Result<Kept> {
        match self.put_if(marker, text.to_owned(), mode) {
            Ok(_) => Ok(Kept::Put),
            Err(said) if errors::is_lost(&said) => Ok(Kept::Refused),
            Err(said) if errors::is_unknown(&said) => Ok(Kept::Unknown),
            Err(said) => Err(self.failed(&said)),
        }
    }
}
