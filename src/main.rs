//! tract
fn main() {}
