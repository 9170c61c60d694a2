//! `tract web` from outside: who is let in, what the pages say, and that the server lives through everything.

mod hostile;
mod listing;
mod published;
mod served;

use served::Served;
