//! The six tools, the resources and the prompt: what each takes, and what it does.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tract::api::{
    AnnotateParams, ApiError, At, CostParams, DidParams, DroppedParams, FindParams, Method,
    ReadParams, StatusParams,
};
use tract::history::On;
use tract::ingest::adopt;
use tract::render::calendar::Edge;

use super::asking::{Asking, Server};
use super::telling;

/// The name of the prompt.
pub const HANDOVER: &str = "handover";

/// What a tool does with its arguments.
type Tool = fn(&mut Server, &Value) -> Result<String, ApiError>;

/// The tools by name.
pub fn named(name: &str) -> Option<Tool> {
    let tool: Tool = match name {
        "recall" => recall,
        "read" => read,
        "dropped" => dropped,
        "did" => did,
        "context" => context,
        "pin" => pin,
        _ => return None,
    };
    Some(tool)
}

/// The tools, as a client lists them.
pub fn definitions() -> Value {
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": "integer" });
    let tool = |name: &str, about: &str, takes: Value, required: Value, looks: bool| {
        json!({
            "name": name,
            "description": about,
            "inputSchema": { "type": "object", "properties": takes, "required": required },
            "annotations": { "readOnlyHint": looks, "openWorldHint": false },
        })
    };
    json!([
        tool(
            "recall",
            "Search what was said and done, also what compaction removed",
            json!({ "query": text(), "where": { "enum": ["here", "project", "all"] }, "since": text() }),
            json!(["query"]),
            true
        ),
        tool(
            "read",
            "A message word for word, by id (or ID..ID)",
            json!({ "id": text(), "around": number(), "page": number() }),
            json!(["id"]),
            true
        ),
        tool(
            "dropped",
            "What the last compaction removed",
            json!({ "compaction": text() }),
            json!([]),
            true
        ),
        tool(
            "did",
            "What was done to a file, how a command ran, what followed an error",
            json!({ "path": text(), "command": text(), "error": text() }),
            json!([]),
            true
        ),
        tool(
            "context",
            "Tokens, budget, cache, cost of this conversation",
            json!({}),
            json!([]),
            true
        ),
        tool(
            "pin",
            "Keep a message through compactions",
            json!({ "id": text(), "note": text() }),
            json!(["id"]),
            false
        ),
    ])
}

/// The resources.
pub fn resources() -> Value {
    json!([
        { "uri": "tract://context", "name": "context", "mimeType": "text/plain",
          "description": "Tokens, budget, cache and cost of this conversation" },
        { "uri": "tract://dropped", "name": "dropped", "mimeType": "text/plain",
          "description": "What the last compaction removed" },
    ])
}

/// The resources that have something to fill in.
pub fn templates() -> Value {
    json!([{ "uriTemplate": "tract://message/{id}", "name": "message", "mimeType": "text/plain",
             "description": "A message word for word" }])
}

/// The prompts.
pub fn prompts() -> Value {
    json!([{ "name": HANDOVER, "description": "Write a handover of this conversation for whoever goes on with it" }])
}

/// Reads arguments.
fn taken<T: DeserializeOwned>(arguments: &Value) -> Result<T, ApiError> {
    let unfit = |error: serde_json::Error| ApiError::params(error.to_string());
    T::deserialize(arguments).map_err(unfit)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recall {
    query: String,
    #[serde(default, rename = "where")]
    place: Place,
    #[serde(default)]
    since: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Place {
    #[default]
    Here,
    Project,
    All,
}

impl Place {
    const fn name(self) -> &'static str {
        match self {
            Self::Here => "this conversation",
            Self::Project => "conversations of this directory",
            Self::All => "all conversations",
        }
    }
}

/// How many messages are enough not to look any further.
const ENOUGH: usize = 4;

fn recall(server: &mut Server, arguments: &Value) -> Result<String, ApiError> {
    let asked: Recall = taken(arguments)?;
    let calendar = server.worker.calendar();
    let since = asked.since.as_deref().map(|text| {
        let hint = "2026-01-31, or an age: 5h, 2d, 3w";
        let wrong =
            || ApiError::params(format!("'{text}' is neither a date nor an age")).with_hint(hint);
        calendar.read(text, Edge::Start).ok_or_else(wrong)
    });
    let since = since.transpose()?;
    server.with(|at, asking| {
        // Where little is here, it may be elsewhere: that is told as well, and saves a second question.
        let places = match asked.place {
            Place::Here => &[Place::Here, Place::Project, Place::All][..],
            Place::Project => &[Place::Project, Place::All],
            Place::All => &[Place::All],
        };
        let (mut groups, mut known) = (Vec::new(), HashSet::new());
        for place in places {
            let directory = asking.directory.clone();
            let directory = directory.filter(|_| *place == Place::Project);
            let is_known = |it: &String| at.repo.directory_named(it, Path::new("")).is_ok();
            // Where no session ran there is nothing to look through.
            if directory.as_ref().is_some_and(|it| !is_known(it)) {
                continue;
            }
            let params = FindParams {
                query: Some(asked.query.clone()),
                rev: asking.tip.clone().filter(|_| *place == Place::Here),
                directory,
                since_ms: since.map(|time| time.0),
                limit: Some(telling::FOUND),
                ..FindParams::default()
            };
            let mut found = params.call(at)?.found;
            // What the agent has asked and was told before says nothing new.
            found.retain(|one| !one.is_own && known.insert(one.id.clone()));
            groups.push((place.name(), found));
            if known.len() >= ENOUGH {
                break;
            }
        }
        if !known.is_empty() {
            return Ok(telling::found(&groups, &calendar));
        }
        Ok("Nothing found. Other words may.".to_owned())
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    id: String,
    #[serde(default)]
    around: usize,
    #[serde(default)]
    page: Option<usize>,
}

fn read(server: &mut Server, arguments: &Value) -> Result<String, ApiError> {
    let asked: Read = taken(arguments)?;
    let calendar = server.worker.calendar();
    server.with(|at, asking| {
        let (first, last) = match asked.id.split_once("..") {
            Some((first, last)) => (first, Some(last)),
            None => (&*asked.id, None),
        };
        let params = ReadParams {
            rev: asking.within(first),
            last: last.map(|last| asking.within(last)),
            around: asked.around,
        };
        let read = params.call(at)?;
        Ok(telling::read(&read, asked.page.unwrap_or(1), &calendar))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dropped {
    #[serde(default)]
    compaction: Option<String>,
}

fn dropped(server: &mut Server, arguments: &Value) -> Result<String, ApiError> {
    let asked: Dropped = taken(arguments)?;
    let calendar = server.worker.calendar();
    server.with(|at, asking| {
        let params = DroppedParams {
            rev: asked.compaction,
            within: asking.tip.clone(),
        };
        Ok(telling::dropped(&params.call(at)?, &calendar))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Did {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

fn did(server: &mut Server, arguments: &Value) -> Result<String, ApiError> {
    let asked: Did = taken(arguments)?;
    let calendar = server.worker.calendar();
    server.with(|at, asking| {
        let params = |within: Option<String>| DidParams {
            path: asked.path.clone(),
            command: asked.command.clone(),
            error: asked.error.clone(),
            within,
            limit: None,
        };
        let mut answer = params(asking.tip.clone()).call(at)?;
        if answer.acts.is_empty() && asking.tip.is_some() {
            answer = params(None).call(at)?;
        }
        Ok(telling::did(&answer, &calendar))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn context(server: &mut Server, arguments: &Value) -> Result<String, ApiError> {
    let Nothing {} = taken(arguments)?;
    server.with(|at, asking| {
        let mut on = asking.on(at);
        std::mem::swap(&mut at.on, &mut on);
        let status = StatusParams {}.call(at)?;
        let params = CostParams {
            rev: asking.tip.clone(),
            ..CostParams::default()
        };
        let cost = if status.position.commit.is_some() {
            Some(params.call(at)?)
        } else {
            None
        };
        Ok(telling::context(&status, cost.as_ref()))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    id: String,
    #[serde(default)]
    note: Option<String>,
}

fn pin(server: &mut Server, arguments: &Value) -> Result<String, ApiError> {
    let asked: Pin = taken(arguments)?;
    server.with(|at, asking| {
        at.on = asking.on(at);
        // Once it has a commit of its own, a branch follows its session no more by itself.
        if let (Some(session), On::Branch(branch)) = (&asking.session, &at.on) {
            adopt(at.repo, session, branch, at.host.now(), "mcp pin")?;
        }
        let params = AnnotateParams {
            expect: None,
            revs: vec![asked.id.clone()],
            priority: "pinned".to_owned(),
            reason: asked.note,
            dry_run: false,
        };
        let done = params.call(at)?;
        Ok(match done.commits.first() {
            Some(commit) => format!("Pinned {}, by commit {}.", asked.id, telling::short(commit)),
            None => format!("{} was pinned already.", asked.id),
        })
    })
}

impl Asking {
    /// The branch of the conversation, where it has one; else what HEAD is on.
    fn on(&self, at: &At<'_>) -> On {
        match &self.branch {
            Some(branch) => On::Branch(branch.clone()),
            None => at.on.clone(),
        }
    }

    /// A revision in the conversation: `:7` is its seventh message.
    fn within(&self, typed: &str) -> String {
        match &self.tip {
            Some(tip) if typed.starts_with(':') => format!("{tip}{typed}"),
            _ => typed.to_owned(),
        }
    }
}

/// What is asked of an agent that hands over, with what tract knows beside it.
pub fn handover(server: &mut Server) -> Result<String, ApiError> {
    let nothing = json!({});
    let context = context(server, &nothing)?;
    let dropped = dropped(server, &nothing)?;
    Ok(format!(
        "Write a handover of this conversation for whoever goes on with it: the task as the user put it, what was \
         decided and why, what is done, what is open, which files matter, which commands run the checks, and what \
         went wrong. Use recall and did where you are not sure; quote the user where the words matter.\n\n\
         {context}\n\n{dropped}"
    ))
}
