//! Streams: what an agent tells while it works, as it comes or as it was kept.
//!
//! A format of this kind says how one record becomes [`Event`](crate::tree::Event)s; all else is the same for all of
//! them. A live source pushes bytes into an [`EventStream`]; an importer folds the same events into
//! a tree and makes its messages of that, so that what is seen live and what is stored agree by
//! construction. Deliberately absent: any format's spelling, and what a tree looks like.

mod export;
mod growth;
mod import;
mod live;
mod messages;
pub(in crate::formats) mod reader;
mod replies;
#[cfg(test)]
mod tests;

pub(in crate::formats) use export::{NewReply, export, replies};
pub use growth::{GrowingStream, StreamEnd};
pub(in crate::formats) use import::format;
pub use live::EventStream;
#[cfg(test)]
pub(crate) use messages::LOOKED_AT;
pub use messages::messages_of;
pub use reader::{EventReader, Telling};
pub(in crate::formats) use replies::Replies;
