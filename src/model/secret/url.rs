//! The password in a URL: what stands between a user and a host.

use std::ops::Range;

use super::value::is_drawn;
use super::{entropy, is_example, run};

/// What stands for a password in an example's URL.
const NO_PASSWORDS: [&str; 18] = [
    "pass", "passw", "passwd", "pwd", "pw", "user", "username", "root", "admin", "postgres",
    "guest", "test", "token", "mysql", "mongo", "redis", "rabbitmq", "docker",
];

/// Hosts that nobody else reaches.
const NO_HOSTS: [&str; 6] = ["localhost", "127.", "0.0.0.0", "host", "example", "server"];

/// The password of the URL whose `://` is at `at`: `https://user:password@host`.
pub(super) fn password(text: &[u8], at: usize) -> Option<Range<usize>> {
    let scheme = text[at.saturating_sub(24)..at]
        .iter()
        .rev()
        .take_while(|it| it.is_ascii_alphanumeric() || b"+.-".contains(it))
        .count();
    let is_of_it = |it: u8| it.is_ascii_graphic() && !b"/\"'<>\\`".contains(&it);
    let authority = &text[at + 3..];
    let authority = &authority[..run(authority, 512, is_of_it)];
    let end = memchr::memrchr(b'@', authority)?;
    let colon = memchr::memchr(b':', &authority[..end])?;
    let (user, password, host) = (
        &authority[..colon],
        &authority[colon + 1..end],
        &authority[end + 1..],
    );
    if scheme < 2
        || !host.first()?.is_ascii_alphanumeric()
        || is_example(password)
        || password.contains(&b'{')
    {
        return None;
    }
    let host = host.to_ascii_lowercase();
    let is_word =
        !password.iter().any(u8::is_ascii_digit) && password.iter().all(u8::is_ascii_alphanumeric);
    let is_told = NO_PASSWORDS
        .iter()
        .any(|it| password.eq_ignore_ascii_case(it.as_bytes()))
        || password == user
        || password.starts_with(b"$")
        || password.starts_with(b"%");
    let is_near = NO_HOSTS.iter().any(|it| host.starts_with(it.as_bytes()))
        || memchr::memmem::find(&host, b"example").is_some();
    let is_far = memchr::memchr(b'.', &host).is_some() && !is_near;
    let is_password = if is_word {
        is_far && password.len() >= 5 || is_drawn(password)
    } else {
        password.len() >= 6 && entropy(password) >= 2.5
    };
    let is_secret = !is_told && is_password;
    let start = at + 3 + colon + 1;
    is_secret.then(|| start..start + password.len())
}
