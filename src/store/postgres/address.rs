//! Where a repository is: `postgres://user@host/database?schema=NAME`.
//!
//! All but the schema is what the server's own programs take, in the address, in a service, in variables and in files of
//! the home. Deliberately absent: any look at the environment; what is there is handed in.

use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use tokio::runtime::Runtime;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};

use super::driver::{Driver, NotConnected};
use super::parameters::{Parameters, without_secrets};
use super::passwords::{self, Found, SOCKETS};
use super::reason::reason;
use super::tls::{self, Tls};
use super::trust::{self, Mode};
use crate::error::{Error, Result, ServerTrouble};
use crate::store::Servers;

/// The schema of a repository, if none is named.
const SCHEMA: &str = "tract";
/// How long a connection is waited for, unless the address says otherwise.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a server's machine may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a statement waits for a table that is being rewritten.
pub(super) const LOCKED: Duration = Duration::from_secs(10);

/// An address, taken apart.
#[derive(Clone)]
pub(super) struct Address {
    config: Config,
    /// None: no TLS.
    tls: Option<Arc<ClientConfig>>,
    pub(super) schema: String,
    /// It without a password, as people are told of it.
    shown: String,
    /// What `sslmode` is in force.
    mode: Mode,
    /// A file with passwords that is not used, for others can read it.
    open_passwords: Option<String>,
}

impl Address {
    /// Reads an address, and what the surroundings add to it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for what is none; whatever a file says that is named in it.
    pub(super) fn parse(url: &str, servers: &Servers) -> Result<Self> {
        let wrong = |detail: &str| Err(Error::input(without_secrets(url), detail));
        let mut parameters = match Parameters::of_url(url) {
            Ok(parameters) => parameters,
            Err(detail) => return wrong(&detail),
        };
        let schema = parameters.get("schema").unwrap_or(SCHEMA).to_owned();
        // The server cuts longer names, and two of them would be one.
        if schema.is_empty() || schema.len() > 63 {
            return wrong("a schema's name has 1 to 63 bytes");
        }
        if schema.starts_with("pg_") || schema == "information_schema" {
            return wrong(&format!("the schema '{schema}' is the server's own"));
        }
        // What is wrong with it is found before anything is read.
        parameters.config(&without_secrets(url))?;
        parameters.complete(servers)?;
        let scheme = url.split("://").next().unwrap_or_default();
        let shown = parameters.shown(scheme);
        complete(&mut parameters);
        let mut config = parameters.config(&shown)?;
        let usual = match leaves_the_machine(&config) {
            true => Mode::Require,
            false => Mode::Prefer,
        };
        let (mode, tls) = if is_local_socket(&config) {
            (Mode::Disable, None)
        } else {
            trust::client(&parameters, usual, servers, &shown)?
        };
        config.ssl_mode(match mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            _ => SslMode::Require,
        });
        let mut open_passwords = None;
        if config.get_password().is_none() {
            match passwords::password(&config, parameters.get("passfile"), servers) {
                Found::Password(password) => {
                    config.password(password);
                }
                Found::OpenToOthers(file) => open_passwords = Some(file.display().to_string()),
                Found::Nothing => {}
            }
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
        Ok(Self {
            config,
            tls,
            schema,
            shown,
            mode,
            open_passwords,
        })
    }

    /// What `sslmode` is in force.
    pub(super) fn sslmode(&self) -> &'static str {
        self.mode.as_str()
    }

    /// Whether what is sent stays on this machine.
    pub(super) fn is_local(&self) -> bool {
        !leaves_the_machine(&self.config)
    }

    /// How long a connection is waited for.
    pub(super) fn patience(&self) -> Duration {
        self.config
            .get_connect_timeout()
            .copied()
            .unwrap_or(CONNECT)
    }

    /// A connection. The client's own timeout ends where a server's machine answers; this one goes on until somebody is
    /// logged in, for each host.
    pub(super) fn connect(&self, runtime: Runtime) -> Result<Driver, NotConnected> {
        let hosts = u32::try_from(self.config.get_hosts().len()).unwrap_or(1);
        let patience = self.patience().saturating_mul(hosts.max(1));
        match &self.tls {
            Some(tls) => Driver::connect(runtime, &self.config, Tls(Arc::clone(tls)), patience),
            None => Driver::connect(runtime, &self.config, NoTls, patience),
        }
    }

    /// What it means that a server says nothing for so long.
    pub(super) fn silent(&self, waited: Duration) -> Error {
        let waited_ms = milliseconds(waited);
        Error::Server {
            address: self.shown.clone(),
            trouble: ServerTrouble::Silent { waited_ms },
        }
    }

    /// A connection of the tests' own, which waits for each answer.
    #[cfg(test)]
    pub(super) fn client(&self) -> super::tests::client::Client {
        super::tests::client::Client::connect(&self.config)
    }

    /// What it means that no connection is made.
    pub(super) fn refused(&self, error: &tokio_postgres::Error) -> Error {
        let address = self.shown.clone();
        let is_missing = reason(error) == NO_PASSWORD;
        let is_of_password = is_missing
            || error
                .code()
                .is_some_and(|code| code.code().starts_with("28"));
        let open = self.open_passwords.clone().filter(|_| is_of_password);
        let trouble = open
            .map(|file| ServerTrouble::OpenToOthers { file })
            .or(is_missing.then_some(ServerTrouble::NoPassword))
            .or_else(|| tls::behind(error));
        match trouble {
            Some(trouble) => Error::Server { address, trouble },
            None => Error::Unreachable {
                address,
                reason: reason(error),
            },
        }
    }

    /// The schema's name as it stands in a statement.
    pub(super) fn quoted_schema(&self) -> String {
        quoted(&self.schema)
    }

    /// A table's name with the schema's, for a statement outside of any transaction.
    pub(super) fn qualified(&self, table: &str) -> String {
        format!("{}.{table}", self.quoted_schema())
    }

    /// The statements that begin a transaction. All that it needs is said in it: what is said outside of it may be said
    /// to another server, if a pooler stands between. No statement here is worth a compilation, whatever a server without
    /// statistics thinks: that takes up to a second for each.
    pub(super) fn begin(&self, how: &str, locked: Duration) -> String {
        format!(
            "BEGIN ISOLATION LEVEL {how}; SET LOCAL search_path = {}, pg_temp;
             SET LOCAL jit = off; SET LOCAL lock_timeout = {}",
            self.quoted_schema(),
            milliseconds(locked)
        )
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// What the client says where there is no password.
const NO_PASSWORD: &str = "password missing";

/// Who and where, if nobody has said it: as the server's own programs have it.
fn complete(parameters: &mut Parameters) {
    if let Some(host) = parameters.get("hostaddr").map(str::to_owned) {
        parameters.set_default("host", host);
    }
    let port = parameters.get("port").unwrap_or("5432");
    let socket = format!(".s.PGSQL.{port}");
    let is_there = |folder: &&&str| Path::new(folder).join(&socket).exists();
    let folder = SOCKETS.iter().find(is_there).unwrap_or(&SOCKETS[0]);
    let host = if cfg!(unix) { folder } else { "localhost" };
    parameters.set_default("host", host);
    if let Ok(user) = whoami::username() {
        parameters.set_default("user", user);
    }
}

/// Whether all hosts are sockets, which no TLS is spoken on.
fn is_local_socket(config: &Config) -> bool {
    let mut hosts = config.get_hosts().iter();
    hosts.all(|host| !matches!(host, Host::Tcp(_)))
}

/// Whether what is sent goes over a network.
fn leaves_the_machine(config: &Config) -> bool {
    if !config.get_hostaddrs().is_empty() {
        return config.get_hostaddrs().iter().any(|it| !it.is_loopback());
    }
    config.get_hosts().iter().any(|host| match host {
        Host::Tcp(name) => {
            let address = name.parse::<IpAddr>();
            name != "localhost" && !address.is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => false,
    })
}

/// A wait as the server takes it.
pub(super) fn milliseconds(wait: Duration) -> u64 {
    // 0 would be without end.
    u64::try_from(wait.as_millis())
        .unwrap_or(u64::MAX)
        .clamp(1, i32::MAX as u64)
}

/// A name as it stands in a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str, variables: &[(&str, &str)], home: Option<&Path>) -> Result<Address> {
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        Address::parse(url, &Servers::new(variables, home.map(Path::to_owned)))
    }

    #[test]
    fn an_address_names_a_schema_and_shows_no_password() {
        let told = |url: &str| {
            let address = parse(url, &[], None).expect("an address");
            (address.schema.clone(), address.to_string())
        };
        let (schema, shown) = told("postgres://me:se%40cret@db.example/work");
        assert_eq!(schema, "tract");
        assert_eq!(shown, "postgres://me@db.example/work");
        let (schema, shown) = told("postgresql://db/work?schema=a%20b&password=x&user=me");
        assert_eq!(schema, "a b");
        assert_eq!(shown, "postgresql://me@db/work?schema=a%20b");
        for same in [
            "postgres:///work?host=/tmp/s",
            "postgres:///work",
            "postgres://me@[::1]:5433/work?sslmode=require",
            "postgres://a,b:5433/work?target_session_attrs=read-write&schema=x",
            "postgres://",
        ] {
            assert_eq!(told(same).1, same);
        }
        let (_, shown) = told("postgres://me@%2Ftmp%2Fs/work");
        assert_eq!(shown, "postgres://me@/work?host=/tmp/s");
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_password() {
        let long = format!("postgres://h/d?schema={}", "x".repeat(64));
        for url in [
            "postgres://h/d?schema=",
            "postgres://h/d?schema=pg_catalog",
            "postgres://h/d?schema=%f",
            "postgres://me:secret@h/d?nonsense=1",
            "postgres://me:sec/ret@h/d",
            "postgres://me:sec?ret@h/d?port=x",
            "postgres://me@h/d?password=secret&port=x",
            "postgres://h/d?sslmode=sometimes",
            "postgres://h/d?sslmode=require&sslrootcert=system",
            "postgres://h/d?sslrootcert=/nonexistent",
            "postgres://h/d?a'b=1",
            "postgres://h/d?service=nowhere",
            &long,
        ] {
            let error = parse(url, &[], None).err().expect(url).to_string();
            assert!(!error.contains("sec") && !error.contains("ret@"), "{error}");
        }
    }

    #[test]
    fn what_an_address_does_not_say_is_taken_from_a_service_and_from_variables() {
        let home = tempfile::tempdir().expect("a folder");
        let services = home.path().join(".pg_service.conf");
        let text = "# ours\n[other]\nhost=no\n[team]\nhost = db.example\nport=5433\nuser=them\n";
        std::fs::write(services, text).expect("written");
        let variables = [
            ("PGSERVICE", "team"),
            ("PGHOST", "elsewhere"),
            ("PGUSER", "me"),
            ("PGDATABASE", "work"),
            ("PGPASSWORD", "secret"),
            ("PGCONNECT_TIMEOUT", "3"),
            ("PGSSLMODE", "verify-full"),
        ];
        let address = parse("postgres://", &variables, Some(home.path())).expect("an address");
        assert_eq!(address.to_string(), "postgres://them@db.example:5433/work");
        assert_eq!(address.config.get_password(), Some(&b"secret"[..]));
        let wait = address.config.get_connect_timeout();
        assert_eq!(wait, Some(&Duration::from_secs(3)));
        // What is said in the address counts, and its host is no other one's address.
        let mut variables = variables.to_vec();
        variables.extend([("PGHOSTADDR", "192.0.2.1"), ("PGPORT", "no number")]);
        let typed = "postgres://you:open@localhost:5434/mine?connect_timeout=4&sslmode=disable";
        let address = parse(typed, &variables, Some(home.path())).expect("an address");
        let shown = typed.replace(":open", "");
        assert_eq!(address.to_string(), shown);
        assert_eq!(address.config.get_password(), Some(&b"open"[..]));
        assert!(address.config.get_hostaddrs().is_empty());
        let wrong = parse("postgres://h/d", &variables[5..], None).err();
        let wrong = wrong.expect("refused").to_string();
        assert_eq!(wrong, "PGPORT: invalid value for option `port`");
    }

    #[test]
    fn plain_text_leaves_this_machine_only_if_that_is_typed() {
        let mode = |url: &str| {
            let address = parse(url, &[], None).expect("an address");
            (address.config.get_ssl_mode(), address.tls.is_some())
        };
        for (url, wanted) in [
            ("postgres://db/work", (SslMode::Require, true)),
            ("postgres://192.0.2.1/work", (SslMode::Require, true)),
            ("postgres://localhost,db/work", (SslMode::Require, true)),
            (
                "postgres://localhost/work?hostaddr=192.0.2.1",
                (SslMode::Require, true),
            ),
            ("postgres://localhost/work", (SslMode::Prefer, true)),
            ("postgres://[::1]/work", (SslMode::Prefer, true)),
            ("postgres://127.0.0.2/work", (SslMode::Prefer, true)),
            ("postgres://db/work?sslmode=prefer", (SslMode::Prefer, true)),
            (
                "postgres://db/work?sslmode=disable",
                (SslMode::Disable, false),
            ),
            (
                "postgres:///work?host=/tmp/s&sslmode=require",
                (SslMode::Disable, false),
            ),
        ] {
            assert_eq!(mode(url), wanted, "{url}");
        }
    }
}
