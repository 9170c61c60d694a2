//! Questions about what is kept: lists, searches, comparisons, costs, and where things came from.
//!
//! Deliberately absent: anything that moves a ref, and how an answer is shown.

pub mod activity;
pub(crate) mod attest;
pub mod audit;
mod background;
pub mod blame;
pub mod cold;
pub mod cost;
pub mod diff;
pub(crate) mod file_edits;
pub mod find;
pub mod log;
pub mod makeup;
pub mod moved;
pub(crate) mod names;
pub mod newest_request;
pub(crate) mod overview;
pub mod provider;
pub mod requests;
pub mod shares;
pub mod show;
pub(crate) mod spread;
pub mod status;
pub mod under_way;

pub use activity::{ActivityRow, CallRow, SpentBy, WorkSpan};
pub use attest::{AttestedModel, AttestedRequest, AttestedSource, Manifest, ReadRun};
pub use background::RunningWork;
pub use blame::derived::{DerivedLine, LineSource};
pub use blame::{BlameRow, BlameStep, PromptBefore};
pub use cold::{CacheUse, ChangedPrefix, Payback};
pub use cost::{
    Bill, BilledReply, Billing, OtherRequests, OthersOf, ShortOutputs, StatedCost, Unlisted, bills,
    bills_by_model, missed, unlisted,
};
pub use file_edits::{
    CalledEdit, EditOutcome, EditedFile, EditsOfCall, FileEditOptions, FileEditRow, FileFate, Words,
};
pub use find::{
    AlikeOptions, AlikeQuery, Chosen, FindOptions, FindProgress, Found, HiddenBy, Neighbour,
    Origin, RankedOptions, RankedQuery, SearchOptions, StaticModel, TakenBack,
};
pub use log::{LogOptions, LogPages, LogRow};
pub use makeup::{Makeup, Stuff};
pub use moved::Moved;
pub use newest_request::{NewestRequest, SentShape, newest_request, shape_sent, standing};
pub use overview::{ConversationTip, Overview};
pub use provider::{ProviderSays, TokenBudget};
pub use requests::{AnsweredRequest, RequestsOn, answered_request, requests_of, requests_on};
pub use shares::{Bearer, MessageShare, Shares};
pub use show::{Life, Shown, ShownPart};
pub use spread::BillShare;
pub use status::{Large, Status};
