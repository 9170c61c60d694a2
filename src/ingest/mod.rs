//! Sessions into refs and commits, and back out: growth, forks, resume.
//!
//! Importers say what a file holds; this floor decides which commits that is, which of them are
//! here already, and which refs move. Deliberately absent: any format's spelling, and terminals.

mod export;
mod file;
mod import;
mod onto;
pub mod places;
mod session;

pub use export::{ExportOptions, Exported, NewSession, export, resume};
pub use file::FileInput;
pub use import::{
    BranchOutcome, ImportReport, ImportRequest, ImportedSession, Outcome, Progress, check_strict,
    import, inspect,
};
pub use onto::onto;
