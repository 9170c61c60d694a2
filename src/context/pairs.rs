//! Tool calls and their results stay together.
