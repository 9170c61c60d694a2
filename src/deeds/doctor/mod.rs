//! How the place stands where a repository is kept: for whoever runs it.

mod of_file;
mod of_server;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::advice::Exit;
use super::{ApiError, At, Deed, Method};
use crate::error::Result;
use crate::model::Millis;
use crate::render::{Calendar, bytes, plural};
use crate::repo::Repo;
use crate::repo::health::{Health, HealthOf, Room, RoomOf};

/// Check the database that keeps the repository, and its backups
///
/// Versions, size, connections, locks, whether a commit is on the disk when it is acknowledged, encryption,
/// statistics, backups, what is owed, and clocks. Each is good, look (it needs attention; with a way out) or unknown
/// (you may not see it, or nobody keeps it). Nothing is changed. tract fsck checks the messages and commits
/// themselves; what takes up space, tract du.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct DoctorParams {}

/// What is good, and what is not.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DoctorAnswer {
    /// Whether nothing needs attention.
    pub is_good: bool,
    /// Where the repository is, without a password; absent for one in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// What was looked at.
    pub checks: Vec<HealthCheck>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HealthCheck {
    /// What it is about, in a word such as `locks`.
    pub topic: String,
    /// How it is.
    pub verdict: HealthVerdict,
    /// What was found, in one line. It may hold what somebody else wrote: programs name themselves.
    pub says: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The figures behind it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, Value>,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthVerdict {
    /// As it should be.
    Good,
    /// It needs attention.
    Look,
    /// Not known: whoever asks may not see it, or nobody keeps it.
    Unknown,
}

impl HealthVerdict {
    /// In a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Look => "look",
            Self::Unknown => "unknown",
        }
    }
}

impl HealthCheck {
    fn new(topic: &str, verdict: HealthVerdict, says: impl Into<String>) -> Self {
        Self {
            topic: topic.to_owned(),
            verdict,
            says: says.into(),
            advice: None,
            facts: BTreeMap::new(),
        }
    }

    fn good(topic: &str, says: impl Into<String>) -> Self {
        Self::new(topic, HealthVerdict::Good, says)
    }

    fn look(topic: &str, says: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(topic, HealthVerdict::Look, says).advising(advice)
    }

    /// What whoever asks may not see, and what would let them.
    fn unseen(topic: &str, of: &str, user: &str, right: &str) -> Self {
        let says = format!("{user} may not see {of}");
        let advice = format!("GRANT {right} TO {}", role(user));
        Self::new(topic, HealthVerdict::Unknown, says).advising(advice)
    }

    fn advising(self, advice: impl Into<String>) -> Self {
        let advice = Some(advice.into());
        Self { advice, ..self }
    }

    fn with(self, facts: Value) -> Self {
        match facts {
            Value::Object(facts) => Self {
                facts: facts
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .collect(),
                ..self
            },
            _ => self,
        }
    }
}

impl Method for DoctorParams {
    const NAME: &'static str = "doctor";
    const CHANGES: bool = false;
    type Answer = DoctorAnswer;

    fn exit(answer: &DoctorAnswer) -> Option<Exit> {
        (!answer.is_good).then_some(Exit::NotAllowed)
    }

    fn act(self, at: &mut At<'_>) -> Result<DoctorAnswer, ApiError> {
        Ok(doctor(at.repo, at.host.now())?)
    }
}

impl Deed for DoctorParams {}

/// How the place stands, by the caller's clock.
///
/// # Errors
///
/// The store's. What one may not see is told as unknown.
pub fn doctor(repo: &Repo, now: Millis) -> Result<DoctorAnswer> {
    let health = repo.health(now)?;
    let mut checks = checks(&health, now);
    checks.extend(copies(repo));
    checks.extend(killed(repo));
    let is_good = |check: &HealthCheck| check.verdict != HealthVerdict::Look;
    Ok(DoctorAnswer {
        is_good: checks.iter().all(is_good),
        repository: repo.place().map(|place| place.display().to_string()),
        checks,
    })
}

/// The copies that restores have kept in the repository's folder; none where there is none.
fn copies(repo: &Repo) -> Option<HealthCheck> {
    let asides = repo.asides();
    let name = asides
        .first()?
        .path
        .file_name()?
        .to_string_lossy()
        .into_owned();
    let size_bytes: u64 = asides.iter().map(|aside| aside.size_bytes).sum();
    let all = match asides.len() {
        1 => name,
        more => format!("{name} and {}", plural(more as u64 - 1, "other")),
    };
    let says = format!("{all}: {} from before a restore", bytes(size_bytes));
    let check = HealthCheck::look("copies", says, "delete it when nothing is missing");
    Some(check.with(json!({ "size_bytes": size_bytes, "files": asides.len() })))
}

/// The copies that backups have left that were killed; none where there is none.
fn killed(repo: &Repo) -> Option<HealthCheck> {
    let copies = repo.killed_backups();
    let first = copies.first()?.path.display().to_string();
    let size_bytes: u64 = copies.iter().map(|copy| copy.size_bytes).sum();
    let all = match copies.len() {
        1 => first,
        more => format!("{first} and {}", plural(more as u64 - 1, "other")),
    };
    let says = format!("{all}: {} of a backup that was killed", bytes(size_bytes));
    let check = HealthCheck::look("backups", says, "tract gc deletes it");
    Some(check.with(json!({ "size_bytes": size_bytes, "files": copies.len() })))
}

/// What each fact means.
fn checks(health: &Health, now: Millis) -> Vec<HealthCheck> {
    let place = match &health.place {
        HealthOf::File(file) => of_file::checks(file, &health.room),
        HealthOf::Server(server) => of_server::checks(server, now),
    };
    let own = [versions(health), size(&health.room)];
    own.into_iter()
        .chain(place)
        .chain([owed(health), checked(health, now)])
        .collect()
}

fn versions(health: &Health) -> HealthCheck {
    let program = env!("CARGO_PKG_VERSION");
    let (engine, format) = (&health.engine, health.format);
    let says = format!("tract {program}, {engine}, format {format}");
    let facts = json!({ "tract": program, "engine": engine, "format": format });
    HealthCheck::good("versions", says).with(facts)
}

/// How large it is, and the largest of what is in it.
fn size(room: &Room) -> HealthCheck {
    let mut parts: Vec<(RoomOf, u64)> = room.0.clone();
    parts.sort_by_key(|(_, size_bytes)| std::cmp::Reverse(*size_bytes));
    let largest = parts
        .iter()
        .filter(|(_, size_bytes)| *size_bytes > 0)
        .take(3);
    let largest: Vec<String> = largest
        .map(|(of, size_bytes)| format!("{} {}", of.as_str(), bytes(*size_bytes)))
        .collect();
    let total = room.size_bytes();
    let says = if largest.is_empty() {
        bytes(total)
    } else {
        format!("{}: {}", bytes(total), largest.join(", "))
    };
    let kinds = parts
        .iter()
        .map(|(of, size_bytes)| (of.as_str(), *size_bytes));
    let kinds: BTreeMap<&str, u64> = kinds.collect();
    HealthCheck::good("size", says).with(json!({ "size_bytes": total, "by_kind": kinds }))
}

/// What was left to be done.
fn owed(health: &Health) -> HealthCheck {
    let aside = health.upkeep.rows_aside;
    let facts = json!({ "rewrite_after_purge": health.owes_scrub, "rows_set_aside": aside });
    let check = if health.owes_scrub {
        let says = "a purge has still to rewrite what it erased from";
        HealthCheck::look(
            "owed",
            says,
            "the next command that writes does it, or tract gc",
        )
    } else if aside > 0 {
        let says = format!("{} set aside by a repair", plural(aside, "damaged row"));
        let advice = "import those sessions again; until then tract gc deletes nothing";
        HealthCheck::look("owed", says, advice)
    } else {
        HealthCheck::good("owed", "nothing is left to be done")
    };
    check.with(facts)
}

/// When all of it was read last.
fn checked(health: &Health, now: Millis) -> HealthCheck {
    let last = health.upkeep.last_check;
    let check = match last {
        Some(time) => HealthCheck::good("check", format!("all was checked {}", ago(time, now))),
        None => {
            HealthCheck::good("check", "never checked as a whole").advising("tract fsck checks it")
        }
    };
    check.with(json!({ "last_check_ms": last.map(|time| time.0) }))
}

/// A role's name as it stands in a statement.
fn role(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.chars().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// `3 h ago`.
fn ago(time: Millis, now: Millis) -> String {
    let calendar = Calendar {
        now,
        zone: TimeZone::UTC,
        ages: true,
    };
    calendar.ago(time)
}
