//! What holds of imports as a whole.

mod at_once;
#[cfg(feature = "postgres")]
mod beside;
mod cancelled;
mod collecting;
mod coming_back;
mod forked_agents;
mod growing;
mod in_databases;
mod in_joined_files;
mod in_record_files;
mod laws;
mod mirrored;
mod overtaken;
mod purges;
mod recording;
mod retaining;
mod secrets;
mod two_homes;
