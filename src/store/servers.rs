//! What a caller's surroundings say of how servers are reached: the variables and the home that the client
//! programs of PostgreSQL go by. Nothing is read here but what was handed in.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// A server's address without the password in it.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    // As libpq finds it: a slash ends what may name a user.
    let (user, rest) = match rest.find(['@', '/']) {
        Some(at) if rest[at..].starts_with('@') => rest.split_at(at),
        _ => ("", rest),
    };
    let user = user.split(':').next().unwrap_or_default();
    let (place, query) = match rest.split_once('?') {
        Some((place, query)) => (place, query),
        None => return format!("{scheme}://{user}{rest}"),
    };
    let pairs = query.split('&');
    let pairs: Vec<&str> = pairs
        .filter(|pair| !pair.starts_with("password=") && !pair.starts_with("sslpassword="))
        .collect();
    let mark = if pairs.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{place}{mark}{}", pairs.join("&"))
}

/// Variables and a home, as a program found them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Servers {
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
}

impl Servers {
    /// Variables by their names, of which those count that are text and begin with `PG`; and where `.pgpass` is.
    pub fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        home: Option<PathBuf>,
    ) -> Self {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let variables = variables.into_iter().filter_map(text);
        let variables =
            variables.filter(|(name, value)| name.starts_with("PG") && !value.is_empty());
        Self {
            variables: variables.collect(),
            home,
        }
    }

    /// What a variable says.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A file below the home.
    pub fn at_home(&self, name: impl AsRef<Path>) -> Option<PathBuf> {
        Some(self.home.as_ref()?.join(name))
    }
}

/// One of them is a password.
impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}
