//! What people do with conversations, as typed requests and answers: one interface behind every door.
//!
//! A [`Method`] is a type of parameters with a name and an answer; [`METHODS`] lists them all. The doors are this module, for
//! programs in Rust; `tract api`, which takes them as JSON; and `tract mcp` for agents. None says what another does
//! not, and the commands for people call the same functions below and draw what comes of it. What a door brings along
//! (the time, the directories of tools, who may be reached) it hands in as a [`Host`].
//!
//! ```
//! use tract::api::{At, CommitParams, ContextParams, Method, Still};
//! use tract::{On, Repo};
//!
//! let repo = Repo::ephemeral()?;
//! let mut at = At::new(&repo, On::Head, &Still);
//! let said = CommitParams { role: Some("user".into()), text: Some("Name a river.".into()), ..Default::default() };
//! said.call(&mut at).expect("it commits");
//!
//! let context = ContextParams::default().call(&mut at).expect("it is there");
//! assert_eq!(context.messages[0].message.role, tract::Role::User);
//! # Ok::<(), tract::Error>(())
//! ```
//!
//! Deliberately absent: any door's own protocol, and layout: an answer is facts.

pub mod advice;
mod at;
mod auditing;
mod back;
mod bisecting;
mod changing;
mod comparing;
mod config;
mod costing;
mod digest;
mod doctor;
mod error;
mod finding;
mod guard;
mod importing;
mod json;
mod leaving;
mod looking;
mod merging;
mod method;
mod methods;
mod provenance;
mod rebasing;
mod remembering;
mod requesting;
mod sharing;
mod smaller;
mod types;
mod unfit;
mod upkeep;

pub use at::{At, Host, Still, WorkProgress, token_budget, usual_prune};
pub use auditing::*;
pub use back::*;
pub use bisecting::*;
pub use changing::*;
pub use comparing::*;
pub use config::*;
pub use costing::*;
pub use digest::{Digest, digest};
pub use doctor::*;
pub use error::{ApiError, error_kind};
pub use finding::*;
pub use guard::{check_page, guard};
pub use importing::*;
pub use json::{JsonSettings, RawJson, Scalar};
pub use leaving::*;
pub use looking::*;
pub use merging::*;
pub use method::{Method, MethodEntry};
pub use methods::{METHODS, described, method};
pub use provenance::*;
pub use rebasing::*;
pub use remembering::*;
pub use requesting::*;
pub use sharing::*;
pub use smaller::*;
pub use types::*;
pub use unfit::unfit;
pub use upkeep::*;

/// The version of the interface: another one where a field or a method changes its meaning or goes. More of them may
/// come in the same version.
pub const VERSION: u32 = 1;
