//! The importer: what is known of a conversation; its states say the rest.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::said;
use super::{AGENT, MESSAGES, STATES};
use crate::formats::shared::places;
use crate::formats::shared::states::{Said, States};
use crate::formats::shared::teller::Teller;
use crate::wire::Notes;
use crate::wire::json::decode;

/// What the tool calls a conversation that has no name.
const UNNAMED: &str = "New Agent";

/// A conversation.
#[derive(Default)]
pub(super) struct Agent;

impl States for Agent {
    const ABOUT: &'static str = AGENT;
    const MESSAGES: &'static str = MESSAGES;
    const STATES: &'static str = STATES;
    const STATE: &'static str = "state";
    const IS_LINKED: bool = false;

    fn about(raw: &RawValue, teller: &mut Teller<'_>) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct About {
            #[serde(rename = "agentId")]
            id: Option<String>,
            name: Option<String>,
            workspace: Option<String>,
        }
        let about: About = decode(Some(raw)).unwrap_or_default();
        teller.name(about.id.filter(|id| !id.is_empty()));
        let name = about.name.filter(|name| !name.is_empty());
        teller.end.title = name.filter(|name| name != UNNAMED);
        teller.end.cwd = about.workspace.as_deref().map(places::path);
    }

    fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
        said(raw, notes)
    }
}
