//! The SQLite engine.
use crate::error::Result;
use crate::store::*;
/// x
pub struct Sqlite;
impl Sqlite {
    /// x
    pub fn create(_: &std::path::Path) -> Result<Self> {
        todo!()
    }
    /// x
    pub fn open(_: &std::path::Path) -> Result<Self> {
        todo!()
    }
    /// x
    pub fn in_memory() -> Result<Self> {
        todo!()
    }
}
impl Store for Sqlite {
    fn read(&self) -> Result<Box<dyn View + '_>> {
        todo!()
    }
    fn write(&self) -> Result<Box<dyn Tx + '_>> {
        todo!()
    }
}
