//! Where another repository is, as people type it.

use std::path::{Path, PathBuf};

use tract::store::without_password;

use crate::cli::{App, Failure, Result};

/// What a URL may be.
const FORMS: &str =
    "a directory, ssh://HOST/PATH, HOST:PATH, postgres://…, s3://BUCKET/PREFIX, or git:REMOTE";

/// Where another repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a directory of this machine, or on a server.
    Directory(PathBuf),
    /// On another machine.
    Ssh(Host),
    /// Beside the code, in what git calls so.
    Git(String),
    /// In a bucket that speaks S3.
    Bucket(Bucket),
}

/// A bucket, and the part of it that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Its name.
    pub name: String,
    /// What the keys begin with, without a slash at either end; all of the bucket where it is empty.
    pub prefix: String,
}

/// A machine that ssh reaches, and the directory there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// `HOST` or `USER@HOST`.
    pub name: String,
    /// The port, if it is another one.
    pub port: Option<u16>,
    /// The directory there.
    pub path: String,
}

/// What a URL means; none where it is a name and no URL.
pub fn parse(url: &str, app: &App) -> Result<Option<Place>> {
    let bare = without_password(url);
    if let Some(rest) = bare.strip_prefix("ssh://") {
        let url = bare.as_str();
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        // As git reads it: /~ is the home there.
        let path = match path.strip_prefix('~') {
            Some(_) => path.to_owned(),
            None => format!("/{path}"),
        };
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => {
                let port = port.parse();
                let port = port.map_err(|_| Failure::usage(format!("'{url}' has no such port")))?;
                (name, Some(port))
            }
            _ => (host, None),
        };
        return host_at(url, name, port, &path).map(Some);
    }
    if let Some(remote) = url.strip_prefix("git:").filter(|it| !it.starts_with("//")) {
        return if remote.is_empty() || remote.starts_with('-') {
            Err(Failure::usage(format!("'{url}' names no remote of git's"))
                .with_hint("git:origin, for the one that git calls origin"))
        } else {
            Ok(Some(Place::Git(remote.to_owned())))
        };
    }
    if let Some(rest) = url.strip_prefix("s3://") {
        return bucket(url, rest).map(|it| Some(Place::Bucket(it)));
    }
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        // A server's address stands for a directory.
        return Ok(Some(Place::Directory(PathBuf::from(url))));
    }
    if let Some(path) = url.strip_prefix("file://") {
        return Ok(Some(Place::Directory(app.path(Path::new(path))?)));
    }
    if let Some((scheme, _)) = url.split_once("://") {
        let what = format!("'{bare}': tract does not know {scheme}://");
        return Err(Failure::usage(what).with_hint(FORMS));
    }
    let slash = url.find('/').unwrap_or(url.len());
    if let Some((name, path)) = url.split_once(':').filter(|(name, _)| name.len() < slash) {
        return host_at(url, name, None, path).map(Some);
    }
    let is_path = url.contains('/') || url.starts_with('~') || matches!(url, "." | "..");
    if is_path {
        let path = app.cwd()?.join(app.path(Path::new(url))?);
        Ok(Some(Place::Directory(path.components().collect())))
    } else {
        Ok(None)
    }
}

fn host_at(url: &str, name: &str, port: Option<u16>, path: &str) -> Result<Place> {
    // What begins so would be an option to ssh.
    let bare = name.rsplit_once('@').map_or(name, |(_, host)| host);
    if bare.is_empty() || name.starts_with('-') || bare.starts_with('-') {
        let failure = Failure::usage(format!("'{url}' names no host"));
        return Err(failure.with_hint(FORMS));
    }
    if path.is_empty() || path == "/" {
        let failure = Failure::usage(format!("'{url}' names no directory"));
        return Err(failure.with_hint(FORMS));
    }
    if url.chars().any(char::is_control) {
        return Err(Failure::usage(
            "a URL holds no control characters".to_owned(),
        ));
    }
    Ok(Place::Ssh(Host {
        name: name.to_owned(),
        port,
        path: path.to_owned(),
    }))
}

/// The bucket that is meant, by names that need no quoting on the way there.
///
/// # Source
///
/// Amazon S3's documentation of bucket names and of object keys, "Characters to avoid".
fn bucket(url: &str, rest: &str) -> Result<Bucket> {
    let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    let refused = |why: &str| {
        let failure = Failure::usage(format!("'{url}' {why}"));
        Err(failure.with_hint("s3://BUCKET/PREFIX, as in s3://team-talks/tract"))
    };
    if name.is_empty() {
        return refused("names no bucket");
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    if !name.chars().all(is_plain) || name.starts_with(['.', '-']) || name.len() > 63 {
        return refused("names what cannot be a bucket");
    }
    let is_odd = |c: char| c.is_control() || "\\{}^%`\"<>[]~#|?*".contains(c);
    if prefix.contains(is_odd) {
        return refused("has a character that no prefix should have");
    }
    let is_none = |piece: &str| matches!(piece, "" | "." | "..");
    if !prefix.is_empty() && prefix.split('/').any(is_none) {
        return refused("has a piece that is empty, . or ..");
    }
    Ok(Bucket {
        name: name.to_owned(),
        prefix: prefix.to_owned(),
    })
}

/// The URL as it is kept: a directory from the root on, whatever the working directory will be.
pub fn kept(url: &str, app: &App) -> Result<String> {
    match parse(url, app)? {
        Some(Place::Directory(path)) => {
            let odd = |_| Failure::usage(format!("'{url}' is not UTF-8"));
            path.into_os_string().into_string().map_err(odd)
        }
        Some(Place::Ssh(_)) => Ok(without_password(url)),
        Some(Place::Git(_) | Place::Bucket(_)) => Ok(url.to_owned()),
        None if app.cwd()?.join(url).is_dir() => kept(&format!("./{url}"), app),
        None => {
            let failure = Failure::usage(format!("tract does not understand '{url}'"));
            Err(failure.with_hint(format!(
                "a directory is ./{url}; another machine's, HOST:PATH"
            )))
        }
    }
}

/// Says that a password is not kept with the address.
pub fn tell_of_password(url: &str, app: &mut App) {
    let hint = match parse(url, app) {
        Ok(Some(Place::Directory(_))) => {
            "the password is not kept: PGPASSWORD or ~/.pgpass says it"
        }
        Ok(Some(Place::Ssh(_))) => "the password is not kept: ssh asks for it, or takes a key",
        _ => return,
    };
    if url.contains("://") && without_password(url) != url {
        app.ui.hint(hint);
    }
}
