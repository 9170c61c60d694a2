//! Sessions of other tools: in, out, watched, recorded.

mod agents;
mod background;
pub mod codex_files;
pub mod copies;
mod databases;
mod dataset;
mod demo;
mod export;
mod gemini_files;
pub mod import;
mod import_all;
mod import_at_once;
mod kimi_files;
mod odd_records;
mod real_sessions;
mod record;
mod record_laws;
mod replay;
pub mod resume;
mod retention;
mod roo;
mod roo_laws;
mod session_ids;
mod session_states;
#[cfg(unix)]
mod setup;
mod stream_usage;
mod tool_folders;
mod unimported;
mod watch;
mod ways_in;
