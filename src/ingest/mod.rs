//! Sessions into refs and commits, and back out: growth, forks, resume.
//!
//! Importers say what a file holds; this floor decides which commits that is, which of them are
//! here already, and which refs move. Deliberately absent: any format's spelling, and terminals.

mod accounts;
mod adopt;
mod agents;
mod ahead;
mod bases;
mod commit_records;
pub mod database;
mod dataset;
mod export;
pub mod family;
mod file;
mod file_along;
mod file_lines;
mod file_search;
mod forecast;
mod growth;
mod held;
mod import;
mod inspect;
mod joined_files;
pub mod kin;
mod messages;
mod mirror;
mod misses;
mod outgoing;
mod place;
mod plain;
mod project;
mod record;
mod record_files;
mod replay;
mod reply_notes;
mod report;
mod resume;
mod running;
mod session;
mod session_names;
mod slices;
mod small_files;
mod source;
mod stub;
#[cfg(test)]
mod tests;
pub mod tool_dirs;
mod trouble;
mod unreadable;
mod wire_form;

pub use accounts::accounts;
pub use adopt::adopt;
pub use agents::agents;
pub use dataset::{
    CellKind, ChosenTalk, DatasetOptions, DatasetReport, DatasetRows, chosen_runs, columns, dataset,
};
pub use export::{ExportOptions, Exported, WITHOUT_FILE, export, session_format, session_meant};
pub use family::{FamilyReport, import_family};
pub use file::{FileInput, stamp};
pub use file_along::{FileAlong, gone_files};
pub use file_search::{Sifted, SiftedMessage, sift};
pub use forecast::forecast;
pub use growth::{current_stamp, file_of, has_changed, known_stamp, last_taken_in};
pub use held::{
    HeldSession, followed_files, gc_forecast_of, gone_sessions, held, let_go, let_go_forecast,
};
pub use import::{ImportRequest, Progress, Reading, Redaction, import, import_strict, redacts};
pub use inspect::{Inspected, check_strict, inspect, unknown};
pub use messages::{read_message, read_messages};
pub use misses::{CachedReply, MissCause, Misses, missed_between, misses};
pub use project::{project_of, projects_of};
pub use record::{Due, RecordRequest, Recorder, stream_name};
pub use replay::{
    Conversation, PartSize, Player, Replay, ReplayedEntry, Scope, Start, replay, tree_of_file,
};
pub use reply_notes::remarked;
pub use report::{BranchOutcome, ImportReport, ImportedSession, Outcome};
pub use resume::{NewSession, Resumed, checked_out, moved_to, resume, resume_forecast};
pub use running::as_running;
pub use session_names::{called, namesakes};
pub use slices::Waiting;
pub use trouble::Trouble;
pub use unreadable::{Unread, unread};
pub use wire_form::{said, said_citing, sent};
