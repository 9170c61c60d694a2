//! Answers, for people: what deeds found and changed, in lines.

pub mod bill;
pub mod cache;
pub mod erasure;
pub mod file_edits;
pub mod graph;
pub mod import;
pub mod leaks;
pub mod listing;
pub mod merge;
pub mod origin;
pub mod outcome;
pub mod position;
pub mod prices;
pub mod remark;
pub mod retention;
pub mod sent;
pub mod sent_difference;
pub mod template;
pub mod unreadable;
