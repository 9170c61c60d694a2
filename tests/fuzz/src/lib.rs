//! The oracles of `tests/oracles`, and the rules that they hold requests against, for the fuzzer.

#[allow(dead_code)]
#[path = "../../it/check/mod.rs"]
pub mod check;
#[path = "../../oracles/mod.rs"]
pub mod oracles;
