//! The program from outside: a folder for each group of commands, a file for each command or story.

mod branching;
#[cfg(all(unix, feature = "s3"))]
#[path = "../bucket.rs"]
mod bucket;
mod check;
#[cfg(feature = "postgres")]
#[path = "../client.rs"]
mod client;
#[path = "../cluster.rs"]
mod cluster;
#[path = "../conditions.rs"]
mod conditions;
mod listing;
#[path = "../oracles/mod.rs"]
mod oracles;
#[cfg(all(unix, feature = "postgres"))]
#[path = "../pooler.rs"]
mod pooler;
mod programs;
mod recovery;
mod reduction;
mod requests;
mod sandbox;
mod sessions;
mod source;
mod terminal;
mod transfer;
mod upkeep;
mod writing;
