//! Messages that are written here.

mod chat;
mod chat_screen;
mod commit;
mod hooks;
mod operations;
