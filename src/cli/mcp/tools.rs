//! The six tools, the resources and the prompt: what each takes, and what it does.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tract::deeds::{
    AnnotateParams, ApiError, At, CostParams, DidAnswer, DidParams, DroppedParams, FindParams,
    Method, ReadParams, Spelled, StatusParams, WrittenTime,
};
use tract::ingest::adopt;
use tract::repo::On;

use super::arguments::{self, Argument, Kind};
use super::asking::{Asking, Caller, Memory};
use super::telling::{self, Told};
use super::withheld::Withheld;

/// The name of the prompt.
pub const HANDOVER: &str = "handover";

/// A tool.
pub struct Tool {
    name: &'static str,
    about: &'static str,
    takes: &'static [Argument],
    /// Whether it keeps something: others wait for it.
    pub changes: bool,
    act: fn(&mut Memory, Caller<'_>, Value) -> Result<Told, ApiError>,
}

/// The tools, in the order in which a client lists them.
static TOOLS: [Tool; 6] = [
    Tool {
        name: "recall",
        about: "Search what was said and done, also what compaction removed",
        takes: &[
            Argument::required("query"),
            Argument::of("where", Kind::OneOf(&["here", "project", "all"])),
            Argument::of("since", Kind::Text),
        ],
        changes: false,
        act: recall,
    },
    Tool {
        name: "read",
        about: "A message word for word, by id (or ID..ID)",
        takes: &[
            Argument::required("id"),
            Argument::of("around", Kind::Number),
            Argument::of("page", Kind::Number),
        ],
        changes: false,
        act: read,
    },
    Tool {
        name: "dropped",
        about: "What the last compaction removed",
        takes: &[Argument::of("compaction", Kind::Text)],
        changes: false,
        act: dropped,
    },
    Tool {
        name: "did",
        about: "What was done to a file, how a command ran, what followed an error",
        takes: &[
            Argument::of("path", Kind::Text),
            Argument::of("command", Kind::Text),
            Argument::of("error", Kind::Text),
        ],
        changes: false,
        act: did,
    },
    Tool {
        name: "context",
        about: "Tokens, budget, cache, cost of this conversation",
        takes: &[],
        changes: false,
        act: context,
    },
    Tool {
        name: "pin",
        about: "Keep a message through compactions",
        takes: &[Argument::required("id"), Argument::of("note", Kind::Text)],
        changes: true,
        act: pin,
    },
];

impl Tool {
    /// The tool of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// What it says to these arguments.
    pub fn call(
        &self,
        memory: &mut Memory,
        caller: Caller<'_>,
        arguments: &Value,
    ) -> Result<Told, ApiError> {
        let arguments = arguments::read(self.name, self.takes, arguments)?;
        (self.act)(memory, caller, arguments)
    }
}

/// The tools, as a client lists them.
pub fn definitions() -> Value {
    let tools = TOOLS.iter().map(|tool| {
        json!({
            "name": tool.name,
            "description": tool.about,
            "inputSchema": arguments::schema(tool.takes),
            "annotations": { "readOnlyHint": !tool.changes, "openWorldHint": false },
        })
    });
    tools.collect()
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

/// Arguments that were read by what the tool takes.
fn taken<T: DeserializeOwned>(arguments: Value) -> Result<T, ApiError> {
    let unfit = |error: serde_json::Error| ApiError::params(error.to_string());
    serde_json::from_value(arguments).map_err(unfit)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recall {
    query: String,
    #[serde(default, rename = "where")]
    place: Place,
    #[serde(default)]
    since: Option<Spelled<WrittenTime>>,
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
    const fn name(self, asking: &Asking) -> &'static str {
        match self {
            Self::Here if asking.is_known => "this conversation",
            Self::Here => "this directory's newest conversation",
            Self::Project if asking.is_all_here => "conversations of this project",
            Self::Project => "conversations of this directory",
            Self::All => "all conversations",
        }
    }

    /// No further than the user allows.
    fn allowed(self, most: Option<&str>) -> Self {
        match (self, most) {
            (_, Some("here")) => Self::Here,
            (Self::All, Some("project")) => Self::Project,
            (asked, _) => asked,
        }
    }
}

/// What is said where nobody knows which conversation asks.
const NOWHERE: &str = "Nothing is known of this conversation yet.";

/// How many messages are enough not to look any further.
const ENOUGH: usize = 4;

fn recall(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let asked: Recall = taken(arguments)?;
    let calendar = memory.worker.calendar();
    let most = memory.worker.recall_where()?;
    memory.with(caller, |at, asking| {
        let wanted = asked.place.allowed(most.as_deref());
        // Where little is here, it may be in another conversation of the project: that is told as well, and saves a
        // second question. Other projects are asked for by name.
        let places = match wanted {
            Place::Here if most.as_deref() == Some("here") => &[Place::Here][..],
            Place::Here => &[Place::Here, Place::Project],
            Place::Project => &[Place::Project],
            Place::All => &[Place::Here, Place::Project, Place::All],
        };
        let kept = match (asked.place, most.as_deref()) {
            (asked, Some(most)) if asked != wanted => {
                format!("\n(the user's setting recall.where keeps this to {most})")
            }
            _ => String::new(),
        };
        let (mut groups, mut known) = (Vec::new(), HashSet::new());
        let mut withheld = Withheld::of(at)?;
        for place in places {
            let directory = asking.directory.clone();
            let directory = directory.filter(|_| *place == Place::Project && !asking.is_all_here);
            let is_known = |it: &String| at.repo.directory_named(it, Path::new("")).is_ok();
            let is_nothing = match place {
                Place::Here => asking.tip.is_none(),
                // Where no session ran there is nothing to look through; of the home itself all is below it.
                Place::Project if !asking.is_all_here => {
                    at.repo.seat().is_none() || directory.as_ref().is_none_or(|it| !is_known(it))
                }
                Place::Project | Place::All => false,
            };
            if is_nothing {
                continue;
            }
            let params = FindParams {
                text: asked.query.clone(),
                rev: asking.tip.clone().filter(|_| *place == Place::Here),
                directory,
                since: asked.since.clone(),
                limit: Some(telling::FOUND),
                ..FindParams::default()
            };
            let mut found = params.call(at)?.found;
            // What the agent has asked and was told before says nothing new.
            found.retain(|one| !one.is_own && known.insert(one.id.clone()));
            withheld.found(&mut found);
            groups.push((place.name(asking), found));
            if wanted != Place::All && known.len() >= ENOUGH {
                break;
            }
        }
        if !known.is_empty() {
            return Ok(withheld.told(telling::found(&groups, &calendar) + &kept));
        }
        let hint = if wanted == Place::All || most.is_some() {
            "try other words"
        } else {
            "try other words, or where: all for other projects too"
        };
        Ok(format!("Nothing found; {hint}.{kept}").into())
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

fn read(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let asked: Read = taken(arguments)?;
    let calendar = memory.worker.calendar();
    memory.with(caller, |at, asking| {
        let (first, last) = match asked.id.split_once("..") {
            Some((first, last)) => (first, Some(last)),
            None => (&*asked.id, None),
        };
        let params = ReadParams {
            rev: asking.within(first),
            last: last.map(|last| asking.within(last)),
            around: asked.around,
        };
        let mut read = params.call(at)?;
        let mut withheld = Withheld::of(at)?;
        withheld.read(&mut read);
        let page = asked.page.unwrap_or(1);
        Ok(withheld.told(telling::read(&read, page, &calendar)))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dropped {
    #[serde(default)]
    compaction: Option<String>,
}

fn dropped(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let asked: Dropped = taken(arguments)?;
    let calendar = memory.worker.calendar();
    memory.with(caller, |at, asking| {
        if asking.is_nowhere(at) && asked.compaction.is_none() {
            return Ok(NOWHERE.to_owned().into());
        }
        let params = DroppedParams {
            rev: asked.compaction,
            within: asking.tip.clone(),
        };
        let mut dropped = params.call(at)?;
        let mut withheld = Withheld::of(at)?;
        withheld.dropped(&mut dropped);
        Ok(withheld.told(telling::dropped(&dropped, &calendar)))
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

fn did(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let asked: Did = taken(arguments)?;
    let calendar = memory.worker.calendar();
    let most = memory.worker.recall_where()?;
    memory.with(caller, |at, asking| {
        let params = |within: Option<String>| DidParams {
            path: asked.path.clone(),
            command: asked.command.clone(),
            error: asked.error.clone(),
            within,
            limit: None,
        };
        let nothing = DidAnswer { acts: Vec::new() };
        let mut answer = match &asking.tip {
            Some(tip) => params(Some(tip.clone())).call(at)?,
            None => nothing,
        };
        // Of a home, all would be what was done for other projects, too.
        let is_wide = asking.is_all_here && most.as_deref() != Some("here");
        if answer.acts.is_empty() && is_wide {
            answer = params(None).call(at)?;
        }
        let mut withheld = Withheld::of(at)?;
        withheld.did(&mut answer);
        Ok(withheld.told(telling::did(&answer, &calendar)))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn context(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let Nothing {} = taken(arguments)?;
    memory.with(caller, |at, asking| {
        if asking.is_nowhere(at) {
            return Ok(NOWHERE.to_owned().into());
        }
        let mut on = asking.on(at);
        std::mem::swap(&mut at.on, &mut on);
        let status = StatusParams::default().call(at)?;
        let params = CostParams {
            rev: asking.tip.clone(),
            ..CostParams::default()
        };
        // Without a conversation there is no cost of it.
        let cost = if asking.tip.is_some() && status.position.commit.is_some() {
            Some(params.call(at)?)
        } else {
            None
        };
        Ok(Withheld::of(at)?.told(telling::context(&status, cost.as_ref())))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    id: String,
    #[serde(default)]
    note: Option<String>,
}

fn pin(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let asked: Pin = taken(arguments)?;
    memory.with(caller, |at, asking| {
        at.on = asking.on(at);
        // Once it has a commit of its own, a branch follows its session no more by itself.
        if let (Some(session), On::Branch(branch)) = (&asking.session, &at.on) {
            adopt(at.repo, session, branch, at.host.now(), "mcp pin")?;
        }
        let params = AnnotateParams {
            revs: vec![asked.id.clone()],
            pin: true,
            reason: asked.note,
            ..AnnotateParams::default()
        };
        let done = params.call(at)?;
        let said = match done.commits.first() {
            Some(commit) => format!("Pinned {}, by commit {}.", asked.id, telling::short(commit)),
            None => format!("{} was pinned already.", asked.id),
        };
        Ok(said.into())
    })
}

impl Asking {
    /// Whether nothing is known of the conversation, so that what HEAD is on may be another project's.
    fn is_nowhere(&self, at: &At<'_>) -> bool {
        self.tip.is_none() && !self.is_all_here && at.repo.seat().is_none()
    }

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
pub fn handover<'c>(
    memory: &mut Memory,
    caller: impl Fn() -> Caller<'c>,
) -> Result<String, ApiError> {
    let context = context(memory, caller(), json!({}))?.text;
    let dropped = dropped(memory, caller(), json!({}))?.text;
    Ok(format!(
        "Write a handover of this conversation for whoever goes on with it: the task as the user put it, what was \
         decided and why, what is done, what is open, which files matter, which commands run the checks, and what \
         went wrong. Use recall and did where you are not sure; quote the user where the words matter.\n\n\
         {context}\n\n{dropped}"
    ))
}
