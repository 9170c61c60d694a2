//! Whole outputs.
