//! OpenCode: a session as `opencode export` writes it and `opencode import` reads it, one object with
//! the session and its messages. Sessions in the tool's database, and in the folder of small files that it
//! had before, are put together to such an object ([`rows`]). Kilo Code keeps its sessions as the
//! tool does that it was made from.
//!
//! A message's parts hold calls together with what they gave back; here that is a message of its own,
//! with the same record behind it. What the tool does not send again is hidden: what stands before a
//! summary, outputs that it has cleared, and what was reverted. Deliberately absent: any writing to the
//! tool's database; its own command takes in what is written here.
//!
//! # Source
//!
//! `packages/opencode/src/session` of <https://github.com/sst/opencode>. Observed: the requests of
//! OpenCode 1.18.33 beside its sessions.

mod ids;
mod message;
mod read;
mod renew;
mod rows;
mod storage;
#[cfg(test)]
mod tests;
mod write;

use serde::Deserialize;

use crate::formats::format::{Format, Home, Resume, Shape, SmallFiles};
use crate::formats::shared::document;
use crate::formats::shared::head::Keys;
use crate::formats::{Descent, Exporter};
/// Whose opaque blocks these are, where they are no provider's.
const PROVIDER: &str = "opencode";

/// What the tool says in place of a request for a summary.
const SUMMARY_ASKED: &str = "What did we do so far?";
/// What it says before a call that the user made.
const BY_THE_USER: &str = "The following tool was executed by the user";
/// What it says in place of an output that it has cleared.
const CLEARED: &str = "[Old tool result content cleared]";

/// The version that new sessions say they are of; the tool's readers ask no more of one.
const VERSION: &str = "1.2.0";
/// The same for Kilo Code's, and from which on one is: OpenCode's begin with 1.
const KILO_VERSION: &str = "7.0.0";
const KILO_MAJOR: u64 = 7;

/// What the tools send in place of the result of a call that was broken off.
const BROKEN_OFF: Option<&str> = Some("[Tool execution was interrupted]");

/// The format.
pub static OPENCODE: Format = Format {
    unanswered: BROKEN_OFF,
    tools: &["OpenCode"],
    seen: "exports of 1.2.20 and 1.18.33, databases of 1.16.0 and 1.18.33, files of 1.1; with its requests 1.18.33",
    sniff: |head| {
        let document = head.object()?;
        shows(document)?;
        Some(0)
    },
    home: Some(home(
        ".local/share/opencode",
        Some(Resume {
            brought_in_by: Some(&["opencode", "import"]),
            new_id: ids::session,
            ..Resume::by(&["opencode", "--session"], |new| {
                format!("tract/{}.json", new.id)
            })
        }),
    )),
    tables: Some(rows::tables("opencode.db")),
    small_files: Some(SmallFiles {
        sessions: "session",
        messages: "message",
        parts: "part",
        document: storage::document,
    }),
    ..format("opencode", |export| write::export(VERSION, export))
};

/// The format of a tool that was made from it.
pub static KILO: Format = Format {
    unanswered: BROKEN_OFF,
    tools: &["Kilo Code"],
    seen: "the databases of 7.0.46 and 7.7.7",
    sniff: |head| {
        let version = shows(head.object()?)?.text("version")?;
        let major = version.trim_start_matches('v').split('.').next()?;
        let major: u64 = major.parse().ok()?;
        (major >= KILO_MAJOR).then_some(0)
    },
    home: Some(home(".local/share/kilo", None)),
    tables: Some(rows::tables("kilo.db")),
    ..format("kilo", |export| write::export(KILO_VERSION, export))
};

const fn format(name: &'static str, write: Exporter) -> Format {
    Format {
        replied_at: Some(message::replied_at),
        ..Format::of(
            name,
            Shape::Document,
            document::import::<read::Session>,
            write,
        )
    }
}

/// What a document says of its session, if it is one of these.
fn shows<'a>(document: &Keys<'a>) -> Option<Keys<'a>> {
    let info = document.inside("info")?;
    let own = info.has("id") && info.has_any(&["slug", "projectID", "directory"]);
    (own && document.list("messages").is_some()).then_some(info)
}

/// Where the tool keeps its sessions beside its database: one file for each, by project, with folders of its
/// messages and their parts.
const fn home(directory: &'static str, resume: Option<Resume>) -> Home {
    Home {
        belongs: |_, cwd, first_line| {
            let first = first_line();
            let told = first.and_then(|line| Told::of(&line));
            told.is_some_and(|told| told.directory.as_deref() == Some(cwd))
        },
        descent: |first_line, _| {
            let told = Told::of(first_line)?;
            Some((told.id, Descent::spawned_by(told.parent_id)))
        },
        resume,
        ..Home::of(directory, "storage/session", 1, |name| {
            name.ends_with(".json")
        })
    }
}

/// What a document in one line says of its session.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    id: String,
    directory: Option<String>,
    #[serde(rename = "parentID")]
    parent_id: Option<String>,
    #[serde(rename = "projectID")]
    _project: String,
}

impl Told {
    fn of(line: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Line {
            info: Told,
        }
        serde_json::from_str(line).ok().map(|line: Line| line.info)
    }
}
