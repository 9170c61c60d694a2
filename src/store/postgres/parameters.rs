//! What a connection is made with, by libpq's keywords: said in an address, else by a service, else by a
//! variable.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio_postgres::Config;

use super::reason::reason;
use super::services;
use crate::error::{Error, Result};
use crate::store::Servers;

/// The variables that stand for a keyword where an address does not say it.
///
/// # Source
///
/// PostgreSQL's documentation, "Environment Variables" of libpq.
const VARIABLES: [(&str, &str); 20] = [
    ("application_name", "PGAPPNAME"),
    ("channel_binding", "PGCHANNELBINDING"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("dbname", "PGDATABASE"),
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("load_balance_hosts", "PGLOADBALANCEHOSTS"),
    ("options", "PGOPTIONS"),
    ("passfile", "PGPASSFILE"),
    ("password", "PGPASSWORD"),
    ("port", "PGPORT"),
    ("service", "PGSERVICE"),
    ("servicefile", "PGSERVICEFILE"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("sslmode", "PGSSLMODE"),
    ("sslnegotiation", "PGSSLNEGOTIATION"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
    ("user", "PGUSER"),
];

/// Those that the client below does not know.
const OURS: [&str; 8] = [
    "passfile",
    "schema",
    "service",
    "servicefile",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
];

/// What is not shown as it is.
const SHOWN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b',')
    .remove(b':');

/// Who says what a keyword is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    /// The address itself.
    Address,
    /// A variable, or a service in a file.
    By(String),
}

#[derive(Clone)]
struct Parameter {
    keyword: String,
    value: String,
    said: Said,
}

/// Keywords with their values, in the order in which they were said. A password may be one of them.
#[derive(Clone, Default)]
pub(super) struct Parameters(Vec<Parameter>);

impl Parameters {
    /// Takes an address apart; what is wrong with one that is none.
    pub(super) fn of_url(url: &str) -> Result<Self, String> {
        let mut parameters = Self::default();
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        // As libpq finds them: a slash ends what may name a user.
        let rest = match rest.find(['@', '/']) {
            Some(at) if rest[at..].starts_with('@') => {
                let (user, password) = rest[..at].split_once(':').unwrap_or((&rest[..at], ""));
                parameters.say("user", user)?;
                parameters.say("password", password)?;
                &rest[at + 1..]
            }
            _ => rest,
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = place.split_once('/').unwrap_or((place, ""));
        if database.contains('@') {
            return Err("what stands before the @ is no user: a slash in it is %2F".to_owned());
        }
        parameters.say_hosts(hosts)?;
        parameters.say("dbname", database)?;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (keyword, value) = pair.split_once('=').ok_or("an option has no value")?;
            match (keyword, value) {
                // As other clients spell it.
                ("ssl", "true") => parameters.say("sslmode", "require")?,
                // An empty one is a mistake, not a default.
                ("schema", "") => parameters.set("schema", String::new(), Said::Address),
                _ => parameters.say(keyword, value)?,
            }
        }
        Ok(parameters)
    }

    fn say_hosts(&mut self, hosts: &str) -> Result<(), String> {
        let (mut names, mut ports) = (Vec::new(), Vec::new());
        for host in hosts.split(',') {
            let (name, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
                Some((name, port)) => (name, port.strip_prefix(':').unwrap_or(port)),
                None => host.split_once(':').unwrap_or((host, "")),
            };
            names.push(name);
            ports.push(port);
        }
        self.say("host", &names.join(","))?;
        if ports.iter().any(|port| !port.is_empty()) {
            self.say("port", &ports.join(","))?;
        }
        Ok(())
    }

    /// Takes what the address says of a keyword; nothing where it is empty.
    fn say(&mut self, keyword: &str, value: &str) -> Result<(), String> {
        let value = decoded(value)
            .filter(|value| !value.contains('\0'))
            .ok_or_else(|| format!("the value of {keyword} is no text"))?;
        if !value.is_empty() {
            self.set(keyword, value, Said::Address);
        }
        Ok(())
    }

    fn set(&mut self, keyword: &str, value: String, said: Said) {
        let keyword = keyword.to_owned();
        let parameter = Parameter {
            keyword,
            value,
            said,
        };
        match self.0.iter_mut().find(|it| it.keyword == parameter.keyword) {
            Some(there) => *there = parameter,
            None => self.0.push(parameter),
        }
    }

    /// Says what nobody has said yet.
    pub(super) fn set_default(&mut self, keyword: &str, value: impl Into<String>) {
        if self.get(keyword).is_none() {
            self.set(keyword, value.into(), Said::By("the default".to_owned()));
        }
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&str> {
        let found = self.0.iter().find(|it| it.keyword == keyword);
        found.map(|it| it.value.as_str())
    }

    /// Takes from the surroundings what the address does not say.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for a service that there is not.
    pub(super) fn complete(&mut self, servers: &Servers) -> Result<()> {
        let variable = |keyword: &str| {
            let named = VARIABLES.iter().find(|(of, _)| *of == keyword);
            servers.variable(named.map_or("", |(_, name)| name))
        };
        let names_host = self.get("host").is_some() || self.get("hostaddr").is_some();
        let service = self.get("service").or_else(|| variable("service"));
        if let Some(service) = service.map(str::to_owned) {
            let file = self.get("servicefile").or_else(|| variable("servicefile"));
            for (keyword, value) in services::service(&service, file, servers)? {
                self.fill(&keyword, value, format!("the service '{service}'"));
            }
        }
        for (keyword, name) in VARIABLES {
            // An address of another host is none of the host that was named.
            if keyword == "hostaddr" && names_host {
                continue;
            }
            if let Some(value) = servers.variable(name) {
                self.fill(keyword, value.to_owned(), name.to_owned());
            }
        }
        Ok(())
    }

    fn fill(&mut self, keyword: &str, value: String, by: String) {
        if self.get(keyword).is_none() {
            self.set(keyword, value, Said::By(by));
        }
    }

    /// What the client below is asked for.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for what it does not know, by the name of who says it.
    pub(super) fn config(&self, shown: &str) -> Result<Config> {
        let mut all = String::new();
        for it in &self.0 {
            if OURS.contains(&it.keyword.as_str()) {
                continue;
            }
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if it.keyword.is_empty() || !it.keyword.chars().all(is_word) {
                return Err(Error::input(
                    shown,
                    format!("unknown option `{}`", it.keyword),
                ));
            }
            let value = it.value.replace('\\', "\\\\").replace('\'', "\\'");
            let pair = format!("{}='{value}' ", it.keyword);
            if let Err(error) = pair.parse::<Config>() {
                let by = match &it.said {
                    Said::Address => shown,
                    Said::By(by) => by,
                };
                return Err(Error::input(by, reason(&error)));
            }
            all.push_str(&pair);
        }
        all.parse()
            .map_err(|error| Error::input(shown, reason(&error)))
    }

    /// As an address, which leads to the same place: what the address says, and where and as whom, whoever says that; no
    /// password.
    pub(super) fn shown(&self, scheme: &str) -> String {
        let is_socket = |hosts: &str| hosts.split(',').any(|host| host.starts_with('/'));
        let user = self
            .get("user")
            .map_or(String::new(), |user| format!("{}@", encoded(user)));
        let hosts = self.get("host").filter(|hosts| !is_socket(hosts));
        let ports = self.get("port").filter(|_| hosts.is_some());
        let ports: Vec<&str> = ports.unwrap_or_default().split(',').collect();
        let with_port = |(at, host): (usize, &str)| {
            let host = match host.contains(':') {
                true => format!("[{host}]"),
                false => encoded(host),
            };
            match ports.get(at).or(ports.first()).filter(|it| !it.is_empty()) {
                Some(port) => format!("{host}:{port}"),
                None => host,
            }
        };
        let authority = hosts.map(|hosts| hosts.split(',').enumerate().map(with_port));
        let authority: Vec<String> = authority.into_iter().flatten().collect();
        let mut shown = format!("{scheme}://{user}{}", authority.join(","));
        if let Some(database) = self.get("dbname") {
            shown.push('/');
            shown.push_str(&encoded(database));
        }
        let mut mark = if shown.ends_with("//") { "/?" } else { "?" };
        for it in &self.0 {
            let is_place = ["host", "hostaddr", "port"].contains(&it.keyword.as_str());
            let is_said = match it.keyword.as_str() {
                "user" | "dbname" | "password" | "sslpassword" => false,
                "host" | "port" if hosts.is_some() => false,
                _ => it.said == Said::Address || is_place,
            };
            if is_said {
                shown.push_str(mark);
                shown.push_str(&format!("{}={}", it.keyword, encoded(&it.value)));
                mark = "&";
            }
        }
        shown
    }
}

/// An address that cannot be taken apart, without what may be a password in it.
pub(super) fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
    // Whatever was meant, a password stands before the last of these.
    let rest = match rest.rsplit_once('@') {
        Some((user, place)) if user.contains(':') => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{user}@{place}")
        }
        _ => rest.to_owned(),
    };
    let (place, query) = rest.split_once('?').unwrap_or((&rest, ""));
    let pairs = query.split('&').filter(|pair| {
        let keyword = pair.split('=').next().unwrap_or_default();
        !pair.is_empty() && !keyword.contains("pass")
    });
    let pairs: Vec<&str> = pairs.collect();
    match pairs.is_empty() {
        true => format!("{scheme}://{place}"),
        false => format!("{scheme}://{place}?{}", pairs.join("&")),
    }
}

/// Text as it stands in an address.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, SHOWN).to_string()
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
