//! The tool's database: the export document of a session, put together from its rows.
//!
//! `data` of a message or a part is the object that an export shows, without its ids, which stand in columns;
//! they are put back. The texts stay as they stand in the rows; between them there is no white space. What
//! a row holds that is no JSON object is kept as text, by the name of its column.
//!
//! # Source
//!
//! `packages/opencode/src/session/{session.sql,index,message-v2}.ts` of <https://github.com/sst/opencode>.
//! Observed: the databases of 1.16.0 and 1.18.33 beside what `opencode export` says of them.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::error::Result;
use crate::formats::shared::records::without;
use crate::formats::shared::rows::{
    Row, Rows, StoredSession, Tables, WithDocument, is_json, starters_first, text,
};
use crate::model::Millis;
use crate::wire::json::{Object, array, is_object, quoted};

/// When a row was last written.
const UPDATED: &str = "time_updated";

/// The database of a tool that keeps its sessions as this one does.
pub(super) const fn tables(file: &'static str) -> Tables {
    Tables {
        file,
        shown_by: &[
            ("session", &["id", "directory", "title", UPDATED]),
            (
                "message",
                &["id", "session_id", "time_created", UPDATED, "data"],
            ),
            ("part", &["id", "message_id", "session_id", UPDATED, "data"]),
        ],
        sessions,
        document,
    }
}

/// The columns of a session that an export shows at its top, with its names, in its order; what is below
/// another name is in [`session`].
const SHOWN: [(&str, &str); 11] = [
    ("id", "id"),
    ("slug", "slug"),
    ("project_id", "projectID"),
    ("workspace_id", "workspaceID"),
    ("directory", "directory"),
    ("path", "path"),
    ("parent_id", "parentID"),
    ("title", "title"),
    ("agent", "agent"),
    ("model", "model"),
    ("version", "version"),
];

/// Those that hold JSON.
const JSON: [&str; 5] = ["model", "metadata", "revert", "permission", "summary_diffs"];

/// The ids that stand in columns.
const IDS: [(&str, &str); 3] = [
    ("id", "id"),
    ("session_id", "sessionID"),
    ("message_id", "messageID"),
];

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let mut sums: HashMap<String, Sum> = HashMap::new();
    for table in ["message", "part"] {
        for (id, count, bytes, newest) in rows.summed(table, "session_id", "data", UPDATED)? {
            sums.entry(id).or_default().add((count, bytes, newest));
        }
    }
    let all = rows.rows("session", None, &["time_created", "id"])?;
    Ok(starters_first(&all, |row| {
        let sum = sums.remove(text(row, "id")?).unwrap_or_default();
        stored(row, sum)
    }))
}

/// The rows of a session's messages and parts, their texts, and when the newest was written.
#[derive(Clone, Copy, Default)]
struct Sum(u64, u64, i64);

impl Sum {
    fn add(&mut self, (rows, bytes, newest): (u64, u64, i64)) {
        *self = Self(self.0 + rows, self.1 + bytes, self.2.max(newest));
    }

    fn add_row(&mut self, row: &Row) {
        let bytes = text(row, "data").map_or(0, str::len);
        let newest = row.get(UPDATED).and_then(Value::as_i64);
        self.add((1, bytes as u64, newest.unwrap_or_default()));
    }
}

/// A session by its row, and what its messages come to.
fn stored(row: &Row, Sum(rows, size_bytes, newest): Sum) -> Option<StoredSession> {
    let own = row.get(UPDATED).and_then(Value::as_i64);
    Some(StoredSession {
        id: text(row, "id")?.to_owned(),
        spawned_by: text(row, "parent_id").map(str::to_owned),
        cwd: text(row, "directory").map(str::to_owned),
        rows: rows + 1,
        size_bytes,
        updated: newest.max(own.unwrap_or_default()),
    })
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let found = rows.rows("session", Some(("id", id)), &[])?;
    let Some(row) = found.into_iter().next() else {
        return Ok(None);
    };
    let own = Some(("session_id", id));
    let mut sum = Sum::default();
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for part in rows.rows("part", own, &["id"])? {
        sum.add_row(&part);
        let message = text(&part, "message_id").unwrap_or_default();
        let parts = parts.entry(message.to_owned()).or_default();
        parts.push(record(&part));
    }
    let mut messages = Vec::new();
    let workspace = Workspace::of(&row);
    for message in rows.rows("message", own, &["time_created", "id"])? {
        sum.add_row(&message);
        let parts = text(&message, "id").and_then(|id| parts.remove(id));
        let mut parts = parts.unwrap_or_default();
        let told = workspace.as_ref().and_then(|it| it.told(&message, &parts));
        parts.extend(told);
        let whole = Object::new().raw("info", &record(&message));
        messages.push(whole.raw("parts", &array(parts)).finish());
    }
    // What belongs to no message that is there stands beside them, and is kept with them.
    let left: Vec<String> = parts.into_values().flatten().collect();
    let left = (!left.is_empty()).then(|| array(&left));
    let document = Object::new()
        .raw("info", &session(&row))
        .raw("messages", &array(&messages))
        .optional_raw("part", left.as_deref());
    Ok(stored(&row, sum).map(|session| (session, document.finish())))
}

/// Where a session of Kilo Code works. Its client tells the model so behind each prompt, in a part that it makes anew for
/// each request and keeps nowhere.
///
/// # Source
///
/// The program of 7.7.7, and what it sent.
struct Workspace {
    directory: String,
    root: String,
}

impl Workspace {
    /// The earliest version that was seen to do it; OpenCode's are lower.
    const SINCE: (u64, u64) = (7, 7);
    /// What the part holds.
    const TAG: &str = "environment_details";

    fn of(session: &Row) -> Option<Self> {
        let mut numbers = text(session, "version")?.split('.').map(str::parse);
        let version = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let directory = text(session, "directory").filter(|_| version >= Self::SINCE)?;
        let below = text(session, "path").unwrap_or_default().split('/');
        let below = below.filter(|name| !name.is_empty()).count();
        let root = std::path::Path::new(directory).ancestors().nth(below);
        let root = root.and_then(|root| root.to_str()).unwrap_or("/");
        Some(Self {
            directory: directory.to_owned(),
            root: root.to_owned(),
        })
    }

    /// The part behind a prompt, unless it is there.
    fn told(&self, message: &Row, parts: &[String]) -> Option<String> {
        let id = text(message, "id")?;
        let info: Value = serde_json::from_str(text(message, "data")?).ok()?;
        if info["role"] != "user" || parts.iter().any(|part| part.contains(Self::TAG)) {
            return None;
        }
        let time = Millis(info["time"]["created"].as_i64()?).to_iso();
        let time = time.split('.').next().unwrap_or_default();
        let editor = &info["editorContext"];
        let of = |key: &str, own: &str| editor[key].as_str().unwrap_or(own).to_owned();
        let mut lines = vec![
            format!("Message time: {}Z", time.trim_end_matches('Z')),
            format!("Working directory: {}", of("directory", &self.directory)),
            format!("Workspace root folder: {}", of("worktree", &self.root)),
        ];
        let file = editor["activeFile"].as_str();
        lines.extend(file.map(|file| format!("Active file: {file}")));
        for (key, heading) in [
            ("visibleFiles", "Visible files:"),
            ("openTabs", "Open tabs:"),
        ] {
            let files = editor[key].as_array().filter(|files| !files.is_empty());
            lines.extend(files.map(|_| heading.to_owned()));
            let names = files.into_iter().flatten().filter_map(Value::as_str);
            lines.extend(names.map(|name| format!("  {name}")));
        }
        let tag = Self::TAG;
        let lines = lines.join("\n");
        let part = Object::typed("text")
            .string("text", &format!("\n\n<{tag}>\n{lines}\n</{tag}>"))
            .raw("synthetic", "true")
            .string("id", &id.replacen("msg_", "prt_", 1))
            .string("messageID", id);
        Some(part.finish())
    }
}

/// A message or a part: what its row says, with the ids of its columns.
fn record(row: &Row) -> String {
    let data = text(row, "data").unwrap_or_default();
    let record = if is_object(data) {
        without(data, &IDS.map(|(_, shown)| shown))
    } else {
        Object::new().string("data", data)
    };
    let record = IDS.iter().fold(record, |record, (column, shown)| {
        record.optional(shown, text(row, column))
    });
    record.finish()
}

/// A session as an export shows it.
fn session(row: &Row) -> String {
    let mut row = row.clone();
    let is_counted = row.get("tokens_input").is_some_and(|it| !it.is_null());
    let mut take = |column: &str| {
        let value = row.remove(column).filter(|value| !value.is_null())?;
        let json = value.as_str().filter(|_| JSON.contains(&column));
        let json = json.filter(|json| is_json(json));
        Some(json.map_or_else(|| written(&value), str::to_owned))
    };
    let mut info = Object::new();
    for (column, shown) in SHOWN {
        info = info.optional_raw(shown, take(column).as_deref());
    }
    let counts = ["additions", "deletions", "files"];
    let summary = counts.map(|name| take(&format!("summary_{name}")));
    let diffs = take("summary_diffs");
    if summary.iter().any(Option::is_some) || diffs.is_some() {
        let mut all = Object::new();
        for (name, count) in counts.into_iter().zip(summary) {
            all = all.raw(name, count.as_deref().unwrap_or("0"));
        }
        let summary = all.optional_raw("diffs", diffs.as_deref());
        info = info.raw("summary", &summary.finish());
    }
    info = info.optional_raw("cost", take("cost").as_deref());
    let tokens = group(&mut take, "tokens_", &["input", "output", "reasoning"]);
    let cache = group(&mut take, "tokens_cache_", &["read", "write"]);
    if is_counted {
        info = info.raw("tokens", &tokens.raw("cache", &cache.finish()).finish());
    }
    if let Some(url) = take("share_url") {
        info = info.raw("share", &Object::new().raw("url", &url).finish());
    }
    for column in ["metadata", "revert", "permission"] {
        info = info.optional_raw(column, take(column).as_deref());
    }
    let times = ["created", "updated", "compacting", "archived"];
    info = info.raw("time", &group(&mut take, "time_", &times).finish());
    // What newer versions say of a session.
    for (column, value) in row.iter().filter(|(_, value)| !value.is_null()) {
        info = info.raw(column, &written(value));
    }
    info.finish()
}

/// An object of the columns whose names begin so, by what follows.
fn group(take: &mut dyn FnMut(&str) -> Option<String>, prefix: &str, names: &[&str]) -> Object {
    names.iter().fold(Object::new(), |all, name| {
        let value = take(&format!("{prefix}{name}"));
        all.optional_raw(name, value.as_deref())
    })
}

/// A column's value as JSON; a number without a fraction as the tool writes it.
fn written(value: &Value) -> String {
    match (value.as_str(), value.as_f64()) {
        (Some(text), _) => quoted(text),
        (None, Some(number)) if value.is_f64() && number.fract() == 0.0 && number.abs() < 1e15 => {
            format!("{}", number as i64)
        }
        _ => value.to_string(),
    }
}
