//! Other programs, the user's files and terminal input: what the commands need of the machine.

pub mod byte_stream;
pub mod exec;
pub mod hook;
pub mod identity;
pub mod input;
pub mod judge;
pub mod local_zone;
pub mod pager;
pub mod paths;
pub mod pause;
pub mod private;
pub mod shell;
pub mod sign_on;
pub mod signature;
pub mod summariser;
pub mod user_config;
pub mod wanted_pager;
