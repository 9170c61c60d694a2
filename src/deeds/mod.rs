//! What people do with conversations, as typed requests and answers: one interface behind every door.
//!
//! A [`Method`] is a type of parameters with a name and an answer; [`METHODS`] lists them all. The doors are this module, for
//! programs in Rust; `tract api`, which takes them as JSON; and `tract mcp` for agents. None says what another does
//! not, and the commands for people call the same functions below and draw what comes of it. What a door brings along
//! (the time, the directories of tools, who may be reached) it hands in as a [`Host`].
//!
//! ```
//! use tract::deeds::{At, CommitParams, ContextParams, Method, Still};
//! use tract::{On, Repo};
//!
//! let repo = Repo::ephemeral()?;
//! let mut at = At::new(&repo, On::Head, &Still);
//! let said = CommitParams { role: Some("user".into()), message: Some("Name a river.".into()), ..Default::default() };
//! said.call(&mut at).expect("it commits");
//!
//! let context = ContextParams::default().call(&mut at).expect("it is there");
//! assert_eq!(context.messages[0].message.role, tract::Role::User);
//! # Ok::<(), tract::Error>(())
//! ```
//!
//! Deliberately absent: any door's own protocol, and layout: an answer is facts.

pub mod advice;
pub mod as_read;
mod at;
mod audit;
mod bisect;
mod branching;
mod config;
mod cost;
mod dataset;
mod deed;
mod digest;
mod doctor;
mod error;
mod export;
mod facts;
mod files;
mod guard;
mod here;
mod hooks;
mod import;
mod json;
mod listing;
mod memory;
mod method;
mod methods;
mod mismatch;
pub mod page;
mod provenance;
mod recovery;
mod reduction;
mod request;
mod requests;
mod secrets;
mod spelling;
mod stats;
mod transfer;
mod upkeep;
mod writing;

pub use at::{At, Host, Still, WorkProgress, token_budget, usual_prune};
pub use audit::*;
pub use bisect::*;
pub use branching::*;
pub use config::*;
pub use cost::*;
pub use dataset::*;
pub use deed::{CommandLine, Deed, DeedEntry, without_text};
pub use digest::{Digest, digest};
pub use doctor::*;
pub use error::{ApiError, error_kind};
pub use export::*;
pub use facts::*;
pub use guard::{check_page, guard};
pub use hooks::{HookQuestion, must_be_allowed};
pub use import::*;
pub use json::{
    JsonSettings, Provided, RawJson, RequestSetting, Scalar, TextOrMessage, settings_by_key,
};
pub use listing::*;
pub use memory::*;
pub use method::{Answered, Method, MethodEntry};
pub use methods::{METHODS, deeds, described, method};
pub use mismatch::unfit;
pub use provenance::*;
pub use recovery::*;
pub use reduction::*;
pub use requests::*;
pub use spelling::{Amount, Decimal, Spelled, WrittenTime};
pub use stats::*;
pub use transfer::*;
pub use upkeep::*;
pub use writing::*;

/// The version of the interface: another one where a field or a method changes its meaning or goes. More of them may
/// come in the same version.
pub const VERSION: u32 = 1;
