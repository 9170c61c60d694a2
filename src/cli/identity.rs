//! Who is at work, as far as the environment and the settings say: a name, the program, what it is about.
//!
//! A name is what somebody goes by and proves nothing. Without one it is `USER@HOST`, which stays where it is written:
//! commits, which travel, bear it only on a server.

/// What the environment says of who is at work.
#[derive(Clone, Debug, Default)]
pub struct Worker {
    /// `TRACT_AUTHOR`; an empty one: nobody is to be named.
    pub author: Option<String>,
    /// `TRACT_CLIENT`: the program that runs this, and its version.
    pub client: Option<String>,
    /// `TRACT_RUN`: what it is about.
    pub run: Option<String>,
    /// `USER@HOST`.
    pub account: Option<String>,
}

impl Worker {
    /// What the variables say, by their names.
    pub fn read(text: impl Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| text(name).filter(|value| !value.is_empty());
        let user = given("USER").or_else(|| given("LOGNAME"));
        let user = user.or_else(|| given("USERNAME")).or_else(uid);
        Self {
            author: text("TRACT_AUTHOR").map(|name| name.trim().to_owned()),
            client: given("TRACT_CLIENT"),
            run: given("TRACT_RUN"),
            account: user.map(|user| match host().or_else(|| given("COMPUTERNAME")) {
                Some(host) => format!("{user}@{host}"),
                None => user,
            }),
        }
    }

    /// Says which program this works for, where the environment does not.
    pub fn serves(&mut self, client: &str) {
        self.client.get_or_insert_with(|| client.to_owned());
    }
}

#[cfg(unix)]
fn uid() -> Option<String> {
    Some(format!("uid-{}", rustix::process::getuid().as_raw()))
}

#[cfg(not(unix))]
fn uid() -> Option<String> {
    None
}

#[cfg(unix)]
fn host() -> Option<String> {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(not(unix))]
fn host() -> Option<String> {
    None
}
