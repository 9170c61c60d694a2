//! What is shown to people: text as data, painted last.
//!
//! A [`Line`] is labelled text, measured and cut as such. A painter makes bytes of it: [`plain`]
//! and, for a terminal in colour, `ansi`. Deliberately absent: any question about the terminal, the
//! environment or the clock; whoever draws is told the width, the time and its zone.

#[cfg(feature = "cli")]
pub mod ansi;
pub mod calendar;
pub mod chat;
pub mod code;
pub mod columns;
pub mod diff;
pub mod edit;
pub mod escape;
pub mod excerpt;
pub mod html;
mod label;
mod line;
pub mod markdown;
mod number;
pub mod outcome;
pub mod page;
pub mod part;
pub mod plain;
mod plot;
pub mod row;
mod secrets;
pub mod setting;
mod shell;
mod stretch;
pub mod table;

pub use calendar::Calendar;
pub use label::{Label, Syntax};
pub use line::{Line, Run};
pub use number::{
    Share, amount, bytes, grouped, listed, percent, percent_of, plural, read_tokens, rounded,
    signed, tokens,
};
pub use plot::plot;
pub use secrets::{counted_kinds, counted_secrets};
pub use shell::{shell_word, shell_words};
pub use stretch::stretch;
