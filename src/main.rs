//! The program `tract`. It owns every word that the user sees; the library prints nothing.

mod cli;
#[cfg(test)]
#[allow(dead_code)]
#[path = "../tests/conditions.rs"]
mod conditions;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os())
}
