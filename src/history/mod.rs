//! A repository as people and programs use it: find it, append to it, look at it.
//!
//! One transaction per call. Deliberately absent: formatting, the clock (callers pass "now" in),
//! and SQL.

pub mod about;
pub(crate) mod adopted;
mod ancestry;
pub mod append;
mod attest;
pub mod audit;
mod backup;
pub mod bisect;
pub mod blame;
pub mod branches;
pub mod budget;
pub mod bundle;
mod cache;
pub mod call;
pub mod called;
pub(crate) mod chain;
mod change;
pub mod cold;
mod config;
pub mod cost;
mod counts;
pub mod diff;
mod directory;
pub mod erase;
pub mod expected;
mod file_edits;
pub mod find;
pub mod fsck;
pub mod gc;
mod head;
pub(crate) mod kept;
#[cfg(test)]
mod laws;
pub(crate) mod leaks;
pub(crate) mod load;
pub mod log;
pub mod makeup;
pub mod moved;
pub mod moves;
pub mod newest_request;
pub mod open_call;
pub mod outline;
mod overview;
pub(crate) mod parting;
pub(crate) mod path;
pub(crate) mod prompts;
pub mod provider;
pub mod purge;
pub mod rebase;
pub(crate) mod reissue;
pub mod repo;
pub mod requests;
mod restore;
pub mod revision;
mod rewind;
pub mod room;
pub mod runs;
mod seat;
mod server;
pub mod shares;
pub mod show;
mod spread;
pub mod status;
mod stretches;
pub mod surgery;
pub mod sync;
mod totals;
pub mod under_way;
mod undo;
mod visitor;

pub use about::About;
pub use append::{CommitOptions, Committed, Expect};
pub use attest::{AttestedModel, AttestedRequest, AttestedSource, Manifest};
pub use backup::BackupStep;
pub use blame::derived::{DerivedLine, LineSource};
pub use blame::{BlameRow, BlameStep, PromptBefore};
pub use branches::{BranchRow, Made, TagRow};
pub use budget::{Budget, BudgetAction, BudgetActions, BudgetTarget, BudgetWhen, Verdict, Within};
pub use bundle::{Arrival, ArrivedRef, BundleTip, Bundled, Unbundled};
pub use cache::{Cache, CacheStats};
pub use call::{Call, On};
pub use change::{Touched, TouchedList};
pub use cold::{CacheUse, ChangedPrefix, Payback};
pub use config::Config;
pub use cost::{Bill, BilledReply, bills, missed};
pub use erase::{Erased, Erasing, Erasure};
pub use expected::Expected;
pub use file_edits::{
    CalledEdit, EditOutcome, EditedFile, EditsOfCall, FileEditOptions, FileEditRow, FileFate, Words,
};
pub use find::{
    FindOptions, FindProgress, Found, HiddenBy, MatchedLine, Neighbour, Origin, Pattern,
    RankedOptions, RankedQuery, SearchOptions,
};
pub use fsck::Fsck;
pub use gc::{Collected, Expire, GcStep};
pub use load::Stored;
pub use log::{LogOptions, LogRow};
pub use makeup::{Makeup, Stuff};
pub use moved::Moved;
pub use moves::{Checkout, Reset, ResetMode, Target};
pub use newest_request::{NewestRequest, SentShape, newest_request, shape_sent};
pub use open_call::OpenCall;
pub use outline::{Listed, ListedEntry, Outline};
pub use overview::{ConversationTip, Overview};
pub use provider::{ProviderSays, TokenBudget};
pub use purge::{Purged, Unfinished};
pub use rebase::{Rebase, RebaseFate, RebaseStep, Rebased};
pub use repo::Repo;
pub use requests::{AnsweredRequest, RequestsOn, answered_request, requests_of, requests_on};
pub use restore::PutBack;
pub use revision::Named;
pub use rewind::Asked;
pub use room::{Du, Heap, NamedRoom, Needed, SessionRoom};
pub use runs::RunBranch;
pub use shares::{Bearer, MessageShare, Shares};
pub use show::{Life, Shown, ShownPart};
pub use spread::BillShare;
pub use status::{Large, Status};
pub use surgery::{Needs, Plan, Scene, Size, Surgery, SurgeryOptions};
pub use undo::{OperationEntry, UndoPoint};
pub use visitor::{SafePlace, Visitor};
