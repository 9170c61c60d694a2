//! A session's files: what is known of it, and a folder for each of its agents, with a file for each message. They are
//! joined to a list of agents, each an object with its messages in the order of their numbers.

use super::{AGENT, SESSION};
use crate::error::Result;
use crate::formats::format::{JoinedFiles, SessionFolder};
use crate::wire::json::{Object, array, is_object, quoted, tight};

pub(super) const SHOWN: &str = "session.json";
const AGENTS: &str = "agents";
const MESSAGES: &str = "messages";

/// How a session's files lie.
pub(super) const FILES: JoinedFiles = JoinedFiles {
    shown_by: |path| {
        let first = path.split('/').next()?;
        [SHOWN, AGENTS, "multi_agents"]
            .contains(&first)
            .then(|| SHOWN.to_owned())
    },
    shows: |front| {
        let holds = |key: &str| memchr::memmem::find(front, key.as_bytes()).is_some();
        holds("\"session_id\"") && holds("\"session_type\"")
    },
    growing: |folder, _| {
        let mut growing = Vec::new();
        for agent in folder.names(AGENTS)? {
            let place = format!("{AGENTS}/{agent}");
            let messages = numbered(folder, &place)?.into_iter();
            growing.extend(messages.map(|(_, name)| format!("{place}/{MESSAGES}/{name}")));
            growing.push(format!("{place}/agent.json"));
        }
        Ok(growing)
    },
    document,
};

/// The files of an agent's messages, by their numbers, which have no fixed width.
fn numbered(folder: &dyn SessionFolder, agent: &str) -> Result<Vec<(u64, String)>> {
    let names = folder.names(&format!("{agent}/{MESSAGES}"))?.into_iter();
    let numbered = names.filter_map(|name| {
        let number = name.strip_prefix("message_")?.strip_suffix(".json")?;
        Some((number.parse().ok()?, name))
    });
    let mut numbered: Vec<(u64, String)> = numbered.collect();
    numbered.sort();
    Ok(numbered)
}

fn document(folder: &dyn SessionFolder, shown: &str) -> Result<String> {
    let session = folder.text(shown)?.filter(|text| is_object(text));
    let mut agents = Vec::new();
    for name in folder.names(AGENTS)? {
        let place = format!("{AGENTS}/{name}");
        let agent = folder.text(&format!("{place}/agent.json"))?;
        let agent = agent.filter(|text| is_object(text));
        let mut messages = Vec::new();
        for (_, name) in numbered(folder, &place)? {
            let text = folder.text(&format!("{place}/{MESSAGES}/{name}"))?;
            // What is no object is kept as text, for the reader to name.
            messages.extend(text.map(|text| match is_object(&text) {
                true => tight(&text),
                false => quoted(&text),
            }));
        }
        let of = Object::new()
            .optional_raw(SESSION, session.as_deref().map(tight).as_deref())
            .raw(AGENT, &agent.as_deref().map_or("{}".to_owned(), tight))
            .raw(MESSAGES, &array(messages));
        agents.push(of.finish());
    }
    Ok(array(agents))
}
