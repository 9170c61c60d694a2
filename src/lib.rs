//! Version control for the context of conversations with language models.
//!
//! A [`Repo`] keeps conversations: every message is a commit, and what hides messages is a commit, too. A
//! [`Context`] is what a model would be sent at a commit, and [`compile()`] makes a provider's request of it.
//!
//! ```
//! use tract::{Call, CommitOptions, Draft, Message, On, Repo, RequestOptions, Role, compile};
//!
//! let repo = Repo::ephemeral()?;
//! let draft = Draft::append(Message::text(Role::User, "Name a river."));
//! repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
//!
//! let tip = repo.head(&On::Head)?.commit().expect("a commit was made");
//! let messages = repo.messages(&repo.context(&tip)?)?;
//! let request = compile(&messages, &Default::default(), &RequestOptions::default())?;
//! assert!(request.payload.contains("Name a river."));
//! # Ok::<(), tract::Error>(())
//! ```
//!
//! The names in this documentation are the ones to depend on. The modules are public for the program `tract`, and
//! change with it. The library never prints, reads the environment or asks the time: callers say who acts and when.

#[doc(hidden)]
pub mod compile;
#[doc(hidden)]
pub mod context;
pub mod deeds;
#[doc(hidden)]
pub mod diff;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod formats;
#[doc(hidden)]
pub mod hash;
#[doc(hidden)]
pub mod ingest;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod query;
#[doc(hidden)]
pub mod render;
#[doc(hidden)]
pub mod repo;
#[doc(hidden)]
pub mod rewrite;
#[doc(hidden)]
pub mod store;
#[doc(hidden)]
pub mod sync;
#[doc(hidden)]
pub mod tree;
#[doc(hidden)]
pub mod upkeep;
#[doc(hidden)]
pub mod wire;

pub use compile::{Compiled, Notice, Provider, RequestOptions, compile};
pub use context::{Context, Entry};
pub use error::{Error, Result};
pub use hash::{CommitHash, ContentHash};
pub use ingest::{ImportReport, ImportRequest, ImportedSession, import};
pub use model::{
    Draft, Encoding, Head, Message, Millis, Part, RefName, RefValue, Role, Settings, TokenCount,
};

#[cfg(test)]
#[path = "../tests/conditions.rs"]
mod conditions;
pub use query::{LogOptions, LogRow, Status, TokenBudget};
pub use repo::{Call, CommitOptions, Committed, Expect, On, OperationEntry, Repo, Visitor};
pub use rewrite::{Marker, Prune, Reach, Surgery, SurgeryOptions, Truncate};

#[cfg(test)]
mod laws;
