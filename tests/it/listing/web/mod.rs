//! `tract web` from outside: who is let in, what the pages say, and that the server lives through everything.

mod acting;
mod hostile;
mod listing;
mod live;
mod published;
pub mod served;
mod session;

use served::Served;
