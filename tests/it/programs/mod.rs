//! Doors for programs and for agents.

mod all_doors;
pub mod api;
mod deed_requests;
pub mod guard;
pub mod mcp;
mod recall;
