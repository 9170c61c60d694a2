//! Where a repository is: `postgres://user@host/database?schema=NAME`.
//!
//! All but the schema is what the server's own programs take: a host may be a folder with a socket, in
//! percent signs or as `?host=`. Deliberately absent: what is in the environment.

use std::fmt;
use std::time::Duration;

use postgres::Config;

use crate::error::{Error, Result};

/// The schema of a repository, if none is named.
const SCHEMA: &str = "tract";
/// How long a connection is waited for, unless the address says otherwise.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a server's machine may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a statement waits for a table that is being rewritten.
const LOCKED_MS: u32 = 10_000;

/// An address, taken apart.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) schema: String,
    /// It without a password, as people are told of it.
    shown: String,
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for what is none.
    pub(super) fn parse(url: &str) -> Result<Self> {
        let wrong = |detail: &dyn fmt::Display| {
            let shown = shown(url);
            Err(Error::input(shown, detail))
        };
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let mut schema = SCHEMA.to_owned();
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.strip_prefix("schema=") {
                Some(name) => match decoded(name) {
                    Some(name) => schema = name,
                    None => return wrong(&"the schema's name is no text"),
                },
                None => rest.push(pair),
            }
        }
        // The server cuts longer names, and two of them would be one.
        if schema.is_empty() || schema.len() > 63 || schema.contains('\0') {
            return wrong(&"a schema's name has 1 to 63 bytes");
        }
        if schema.starts_with("pg_") || schema == "information_schema" {
            return wrong(&format!("the schema '{schema}' is the server's own"));
        }
        let url = if rest.is_empty() {
            place.to_owned()
        } else {
            format!("{place}?{}", rest.join("&"))
        };
        let mut config: Config = match url.parse() {
            Ok(config) => config,
            Err(error) => return wrong(&reason(&error)),
        };
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return wrong(&"no host is named");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("tract");
        }
        let own = format!(
            "-c search_path={} -c client_min_messages=warning -c lock_timeout={LOCKED_MS}",
            escaped(&format!("{},pg_temp", quoted(&schema)))
        );
        let options = match config.get_options() {
            Some(theirs) => format!("{theirs} {own}"),
            None => own,
        };
        config.options(&options);
        Ok(Self {
            config,
            shown: shown(&format!("{url}{}", shown_schema(&url, &schema))),
            schema,
        })
    }

    /// The schema's name as it stands in a statement.
    pub(super) fn quoted_schema(&self) -> String {
        quoted(&self.schema)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// What an engine's error says without what is said of each of them.
pub(super) fn reason(error: &postgres::Error) -> String {
    match std::error::Error::source(error) {
        // The system's own "(os error 2)" helps nobody.
        Some(source) => {
            let source = source.to_string();
            source
                .split(" (os error")
                .next()
                .unwrap_or_default()
                .to_owned()
        }
        None => error.to_string(),
    }
}

fn shown_schema(url: &str, schema: &str) -> String {
    match (schema, url.contains('?')) {
        (SCHEMA, _) => String::new(),
        (schema, true) => format!("&schema={schema}"),
        (schema, false) => format!("?schema={schema}"),
    }
}

/// An address without the password in it.
fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let ends = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(ends);
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{user}@{host}")
        }
        None => authority.to_owned(),
    };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs: Vec<&str> = pairs
        .filter(|pair| !pair.starts_with("password="))
        .collect();
    if pairs.is_empty() {
        format!("{scheme}://{authority}{path}")
    } else {
        format!("{scheme}://{authority}{path}?{}", pairs.join("&"))
    }
}

/// A name as it stands in a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A value among a connection's options, where white space parts them.
fn escaped(value: &str) -> String {
    let mut escaped = String::new();
    for c in value.chars() {
        if c == '\\' || c.is_ascii_whitespace() {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Text with its percent signs resolved; none where that is no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_schema_and_shows_no_password() {
        let told = |url: &str| {
            let address = Address::parse(url).expect("an address");
            (address.schema.clone(), address.to_string())
        };
        let (schema, shown) = told("postgres://me:se%40cret@db.example/work");
        assert_eq!(schema, "tract");
        assert_eq!(shown, "postgres://me@db.example/work");
        let (schema, shown) = told("postgresql://db/work?schema=a%20b&password=x&user=me");
        assert_eq!(schema, "a b");
        assert_eq!(shown, "postgresql://db/work?user=me&schema=a b");
        assert_eq!(told("postgres://me@%2Ftmp%2Fs/work?schema=x").0, "x");
        assert_eq!(told("postgres:///work?host=/tmp/s").0, "tract");
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_password() {
        let long = format!("postgres://h/d?schema={}", "x".repeat(64));
        for url in [
            "postgres://h/d?schema=",
            "postgres://h/d?schema=pg_catalog",
            "postgres://h/d?schema=%f",
            "postgres://me:secret@h/d?nonsense=1",
            "postgres:///d",
            &long,
        ] {
            let error = Address::parse(url).expect_err(url).to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
