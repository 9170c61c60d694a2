//! What is shown to people.
//!
//! Deliberately absent: any question about the terminal. A painter is told its colour and width.

pub mod escape;
