//! A repository that stays whole, and what is erased from it.

mod backup;
#[cfg(unix)]
mod broken_directory;
mod concurrency;
mod damage;
mod doctor;
mod du;
mod fsck;
mod fsck_repair;
mod gc;
mod packs;
#[cfg(unix)]
mod pairs;
mod purge;
mod purge_and_again;
mod purge_messages;
#[cfg(target_os = "linux")]
mod reliability;
mod second_reader;
pub mod secrets;
#[cfg(target_os = "linux")]
mod unwritable;
