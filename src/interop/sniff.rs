//! Which format a source is in, from its content.
use super::{Format, Input};
use crate::error::Result;
/// The format of `input`; none if it is in none of the known ones.
pub fn sniff(input: &dyn Input) -> Result<Option<Format>> {
    let _ = input;
    todo!()
}
