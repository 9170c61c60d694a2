//! Passwords in a file of libpq's: `.pgpass`.

use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::store::Servers;

/// Where a server of this machine has its socket.
pub(super) const SOCKETS: [&str; 3] = ["/var/run/postgresql", "/run/postgresql", "/tmp"];

/// What a password file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A password.
    Password(String),
    /// Nothing, for others can read the file.
    OpenToOthers(PathBuf),
    /// Nothing.
    Nothing,
}

/// Looks for the password of a connection.
///
/// # Source
///
/// PostgreSQL's documentation, "The Password File".
pub(super) fn password(config: &Config, named: Option<&str>, servers: &Servers) -> Found {
    let file = match named {
        Some(file) => Some(PathBuf::from(file)),
        None => servers.at_home(".pgpass"),
    };
    let Some(file) = file.filter(|file| file.is_file()) else {
        return Found::Nothing;
    };
    if is_open_to_others(&file) {
        return Found::OpenToOthers(file);
    }
    let (Ok(text), Some(user)) = (std::fs::read(&file), config.get_user()) else {
        return Found::Nothing;
    };
    let text = String::from_utf8_lossy(&text);
    let database = config.get_dbname().unwrap_or(user);
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate();
    let mut found = hosts.filter_map(|(at, host)| {
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        of(&text, &names(host), [&port.to_string(), database, user])
    });
    found.next().map_or(Found::Nothing, Found::Password)
}

/// What a host goes by in such a file.
fn names(host: &Host) -> Vec<String> {
    match host {
        Host::Tcp(name) => vec![name.clone()],
        #[cfg(unix)]
        Host::Unix(folder) => {
            let own = folder.display().to_string();
            let is_usual = SOCKETS.contains(&own.as_str());
            let local = is_usual.then(|| "localhost".to_owned());
            [own].into_iter().chain(local).collect()
        }
    }
}

/// The password in the first line that fits.
fn of(text: &str, hosts: &[String], rest: [&str; 3]) -> Option<String> {
    let fits = |field: &str, value: &str| field == "*" || field == value;
    text.lines().find_map(|line| {
        let fields = fields(line);
        let [host, places @ .., password] = &fields[..] else {
            return None;
        };
        let is_it = !line.starts_with('#')
            && places.len() == rest.len()
            && hosts.iter().any(|it| fits(host, it))
            && places.iter().zip(rest).all(|(field, it)| fits(field, it));
        is_it.then(|| password.clone())
    })
}

/// The five fields of a line: a backslash takes the next char as it is.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut chars = line.trim_end_matches('\r').chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => field.extend(chars.next()),
            // What stands behind the password is none of it.
            ':' if fields.len() == 4 => break,
            ':' => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

/// Whether the group or everybody may do anything with a file.
#[cfg(unix)]
pub(super) fn is_open_to_others(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(file);
    found.is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// Other systems keep what is in a home from others by other means.
#[cfg(not(unix))]
pub(super) fn is_open_to_others(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# db:5432:work:me:no\n\
             db:5433:work:me:other port\n\
             db:*:wo\\:rk:me:se\\\\cr\\:et\r\n\
             db:*:*:me:second\n\
             localhost:*:*:*:local\n\
             short:*:me:x";
        let ask = |url: &str| {
            let mut config: Config = url.parse().expect("an address");
            if config.get_user().is_none() {
                config.user("me");
            }
            let hosts = names(&config.get_hosts()[0]);
            let port = config.get_ports().first().copied().unwrap_or(5432);
            let (user, database) = (config.get_user(), config.get_dbname());
            let user = user.expect("named");
            of(
                text,
                &hosts,
                [&port.to_string(), database.unwrap_or(user), user],
            )
        };
        assert_eq!(ask("postgres://db/wo%3Ark").as_deref(), Some("se\\cr:et"));
        assert_eq!(
            ask("postgres://db:5433/work").as_deref(),
            Some("other port")
        );
        assert_eq!(ask("postgres://db/work").as_deref(), Some("second"));
        assert_eq!(ask("postgres://you@db/work"), None);
        assert_eq!(ask("postgres://short/me"), None);
        assert_eq!(
            ask("postgres:///x?host=/run/postgresql").as_deref(),
            Some("local")
        );
        assert_eq!(ask("postgres:///x?host=/elsewhere"), None);
    }
}
