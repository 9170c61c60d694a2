//! What this door hands to the interface: the clock, the tools' directories, other repositories on this machine.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use tract::deeds::{ApiError, Host};
use tract::ingest::tool_dirs::ToolDirs;
use tract::model::Millis;
use tract::model::secret::Secrets;
use tract::repo::{AUTHOR_NAME, Identity, Repo, Visitor};
use tract::store::Servers;
use tract::sync::{Here, Peer};

/// What was found around this process when a repository was opened.
pub struct Door {
    home: Option<PathBuf>,
    tool_dirs: BTreeMap<&'static str, PathBuf>,
    visitor: Visitor,
    allowed: Vec<String>,
    identity: Identity,
    clock: Option<Millis>,
}

impl Door {
    /// Reads the environment, and what the user has set for all repositories.
    ///
    /// # Errors
    ///
    /// Where the user's settings cannot be read.
    pub fn read() -> Result<Self, ApiError> {
        let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let path = |name: &str| {
            env::var_os(name)
                .filter(|it| !it.is_empty())
                .map(PathBuf::from)
        };
        let home = path("HOME");
        let named = path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        let config = named.or_else(|| Some(home.as_ref()?.join(".config")));
        let config = config.map(|base| base.join("tract/config"));
        let config = config.and_then(|file| std::fs::read_to_string(file).ok());
        let config = config.unwrap_or_default();
        let set = |key: &str| -> Vec<String> {
            let lines = config.lines().filter_map(|line| line.split_once('='));
            let of_key = lines.filter(|(of, _)| of.trim() == key);
            of_key.map(|(_, value)| value.trim().to_owned()).collect()
        };
        let safe = set("safe.directory").into_iter();
        let safe = safe.chain(text("TRACT_SAFE_DIRECTORY"));
        let at_home = |place: String| match (place.strip_prefix("~/"), &home) {
            (Some(below), Some(home)) => home.join(below).display().to_string(),
            _ => place,
        };
        Ok(Self {
            tool_dirs: ToolDirs::named(path),
            visitor: Visitor {
                users: users(text("SUDO_UID")),
                // Any text is a place, if perhaps none that there is.
                safe: safe
                    .filter_map(|place| at_home(place).parse().ok())
                    .collect(),
                servers: Servers::new(env::vars_os(), home.clone()),
                ..Visitor::default()
            },
            allowed: set("secrets.allow"),
            identity: Identity {
                own: set(AUTHOR_NAME).pop(),
                ..Identity::read(|name| env::var(name).ok(), user(), host())
            },
            clock: text("TRACT_CLOCK").and_then(|t| t.parse().ok()).map(Millis),
            home,
        })
    }

    /// Says to a repository who is at work.
    pub fn sign_on(&self, repo: &mut Repo) {
        repo.sign_on(&self.identity);
    }

    /// Who opens repositories.
    pub fn visitor(&self) -> Visitor {
        self.visitor.clone()
    }
}

/// What the system calls whoever runs, and the machine.
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

/// Who runs and, where that is root on somebody's behalf, who asked for it.
#[cfg(unix)]
fn users(sudo_uid: Option<String>) -> Option<Vec<u32>> {
    let who = rustix::process::geteuid();
    let asked = sudo_uid.filter(|_| who.is_root());
    let asked = asked.and_then(|uid| uid.parse().ok());
    Some([who.as_raw()].into_iter().chain(asked).collect())
}

#[cfg(not(unix))]
fn users(_: Option<String>) -> Option<Vec<u32>> {
    None
}

impl Host for Door {
    fn now(&self) -> Millis {
        let since = || SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let by_system = || since().and_then(|it| i64::try_from(it.as_millis()).ok());
        self.clock
            .unwrap_or_else(|| Millis(by_system().unwrap_or(0)))
    }

    fn tool_dirs(&self) -> Result<ToolDirs, ApiError> {
        Ok(ToolDirs::of(self.home.as_deref(), &self.tool_dirs))
    }

    fn secrets(&self) -> Result<Secrets, ApiError> {
        let allowed: Vec<&str> = self.allowed.iter().map(String::as_str).collect();
        Ok(Secrets::allowing(&allowed)?)
    }

    fn seed(&self) -> Result<[u8; 32], ApiError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| ApiError::refused(error.to_string()))?;
        Ok(seed)
    }

    fn zone(&self) -> TimeZone {
        TimeZone::system()
    }

    fn directory(&self) -> Result<PathBuf, ApiError> {
        env::current_dir().map_err(|error| ApiError::refused(error.to_string()))
    }

    fn with_peer(
        &self,
        url: &str,
        _: &Repo,
        work: &mut dyn FnMut(&mut dyn Peer) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        let place = Path::new(url.strip_prefix("file://").unwrap_or(url));
        if !place.is_absolute() || url.contains("://") && !url.starts_with("file://") {
            let fault =
                ApiError::refused("from Python only repositories in directories are reached");
            return Err(fault.with_hint("the program reaches all others: tract push, tract pull"));
        }
        let there = Repo::open_as(place, &self.visitor)?;
        let now = || self.now();
        work(&mut Here {
            repo: &there,
            now: &now,
        })
    }
}
