//! Where another repository is, as people type it.

use std::path::{Path, PathBuf};

use crate::cli::{App, Failure};

/// What a URL may be.
const FORMS: &str = "a directory, ssh://HOST/PATH, HOST:PATH, postgres://…, or git:REMOTE";

/// Where another repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a directory of this machine, or on a server.
    Directory(PathBuf),
    /// On another machine.
    Ssh(Host),
    /// Beside the code, in what git calls so.
    Git(String),
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
pub fn parse(url: &str, app: &App) -> Result<Option<Place>, Failure> {
    if let Some(rest) = url.strip_prefix("ssh://") {
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
        return match remote.is_empty() || remote.starts_with('-') {
            true => Err(Failure::usage(format!("'{url}' names no remote of git's"))
                .with_hint("git:origin, for the one that git calls origin")),
            false => Ok(Some(Place::Git(remote.to_owned()))),
        };
    }
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        // A server's address stands for a directory.
        return Ok(Some(Place::Directory(PathBuf::from(url))));
    }
    if let Some(path) = url.strip_prefix("file://") {
        return Ok(Some(Place::Directory(app.path(Path::new(path))?)));
    }
    if let Some((scheme, _)) = url.split_once("://") {
        let what = format!("'{url}': tract does not know {scheme}://");
        return Err(Failure::usage(what).with_hint(FORMS));
    }
    let slash = url.find('/').unwrap_or(url.len());
    if let Some((name, path)) = url.split_once(':').filter(|(name, _)| name.len() < slash) {
        return host_at(url, name, None, path).map(Some);
    }
    let is_path = url.contains('/') || url.starts_with('~') || matches!(url, "." | "..");
    match is_path {
        true => {
            let path = app.cwd()?.join(app.path(Path::new(url))?);
            Ok(Some(Place::Directory(path.components().collect())))
        }
        false => Ok(None),
    }
}

fn host_at(url: &str, name: &str, port: Option<u16>, path: &str) -> Result<Place, Failure> {
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

/// The URL as it is kept: a directory from the root on, whatever the working directory will be.
pub fn kept(url: &str, app: &App) -> Result<String, Failure> {
    match parse(url, app)? {
        Some(Place::Directory(path)) => {
            let odd = |_| Failure::usage(format!("'{url}' is not UTF-8"));
            path.into_os_string().into_string().map_err(odd)
        }
        Some(Place::Ssh(_) | Place::Git(_)) => Ok(url.to_owned()),
        None if app.cwd()?.join(url).is_dir() => kept(&format!("./{url}"), app),
        None => {
            let failure = Failure::usage(format!("'{url}' is no place"));
            Err(failure.with_hint(format!(
                "a directory is ./{url}; another machine's, HOST:PATH"
            )))
        }
    }
}
