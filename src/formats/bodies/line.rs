//! A line: which body it holds, and what it says of the conversation that this belongs to.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use crate::formats::shared::records::Record;
use crate::formats::shared::spans::members;
use crate::model::{Millis, Span};

/// A body with what stands beside it.
pub(super) struct Line {
    /// The bytes of the line that it is.
    pub(super) at: Range<usize>,
    pub(super) span: Span,
    /// Those of the reply, where one line holds both.
    pub(super) response: Option<(Range<usize>, Span)>,
    /// Its file's name, without what its kind adds to that.
    pub(super) name: Option<String>,
    pub(super) time: Option<Millis>,
    pub(super) number: u64,
    pub(super) headers: Headers,
}

/// What headers say.
#[derive(Default)]
pub(super) struct Headers {
    /// The client's session.
    pub(super) session: Option<String>,
    /// Whose conversation it is within that.
    pub(super) agent: Option<String>,
    /// Who started that one.
    pub(super) parent: Option<String>,
}

/// What files are called behind their own names.
pub(super) const KINDS: [&str; 2] = [".request.json", ".response.json"];

impl Line {
    /// What a record holds; none where it holds no body.
    pub(super) fn of(record: &Record<'_>) -> Option<Self> {
        let bytes = record.text.bytes;
        let (keys, _) = members(bytes, record.at.start);
        let get = |name: &str| {
            let found = keys.iter().find(|(key, _)| key == name);
            found.map(|(_, at)| at.clone())
        };
        let object = |name: &str| get(name).filter(|at| bytes.get(at.start) == Some(&b'{'));
        let at = object("body").or_else(|| object("request"))?;
        let text = |name: &str| serde_json::from_slice::<String>(&bytes[get(name)?]).ok();
        let own = text("file").map(|name| {
            let end = KINDS.iter().find_map(|kind| name.strip_suffix(kind));
            end.unwrap_or(&name).to_owned()
        });
        let time = get("time").or_else(|| get("timestamp"));
        let time = time.and_then(|at| match bytes[at.start] {
            b'"' => Millis::parse(&serde_json::from_slice::<String>(&bytes[at]).ok()?),
            _ => serde_json::from_slice(&bytes[at]).ok().map(Millis),
        });
        let headers = object("headers").map(|at| Headers::of(&bytes[at]));
        Some(Self {
            span: record.text.span(&at),
            response: object("response").map(|at| (at.clone(), record.text.span(&at))),
            at,
            name: own,
            time,
            number: record.line,
            headers: headers.unwrap_or_default(),
        })
    }
}

impl Headers {
    fn of(json: &[u8]) -> Self {
        let all: BTreeMap<String, Value> = serde_json::from_slice(json).unwrap_or_default();
        let get = |names: &[&str]| {
            let found = names.iter().find_map(|name| {
                let mut all = all.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
                all.find_map(|(_, value)| value.as_str().map(str::to_owned))
            });
            found.filter(|value| !value.is_empty())
        };
        Self {
            session: get(&[
                "x-claude-code-session-id",
                "session-id",
                "session_id",
                "x-session-id",
            ]),
            agent: get(&["x-claude-code-agent-id", "thread-id"]),
            parent: get(&["x-codex-parent-thread-id", "x-parent-session-id"]),
        }
    }
}
