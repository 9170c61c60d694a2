//! The text of the project itself: code, help, README, recipes.

mod circles;
mod counts;
mod layers;
mod plain_english;
#[cfg(unix)]
mod readme;
#[cfg(unix)]
mod recipes;
#[cfg(unix)]
mod shown;
pub mod tokens;
