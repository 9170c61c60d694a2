//! The program `tract`. It owns every word that the user sees; the library prints nothing.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os())
}
