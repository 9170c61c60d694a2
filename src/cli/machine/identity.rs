//! Who is at work, as far as the environment and the system say: a name, the program, what it is about.
//!
//! A name is what somebody goes by and proves nothing. Without one it is `USER@HOST`, which stays where it is written:
//! commits, which travel, bear it only on a server.

use tract::repo::Identity;

/// What the variables say, by their names.
pub fn read(text: impl Fn(&str) -> Option<String>) -> Identity {
    Identity::read(text, user(), host())
}

#[cfg(unix)]
fn user() -> Option<String> {
    Some(format!("uid-{}", rustix::process::getuid().as_raw()))
}

#[cfg(unix)]
fn host() -> Option<String> {
    let system = rustix::system::uname();
    Some(system.nodename().to_string_lossy().into_owned())
}

#[cfg(not(unix))]
fn user() -> Option<String> {
    None
}

#[cfg(not(unix))]
fn host() -> Option<String> {
    None
}
