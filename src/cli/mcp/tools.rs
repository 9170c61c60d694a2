//! The six tools, the resources and the prompt: what each takes, and what it does.

use std::collections::HashSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tract::deeds::{
    AnnotateParams, ApiError, At, CostParams, DidParams, DroppedParams, FindParams, Method,
    ReadParams, RunningFacts, Spelled, StatusParams, WrittenTime,
};
use tract::ingest::adopt;
use tract::repo::On;

use super::answers::{DoneCalls, Fullness, Pinned, ReadPage, Recalled, Removed, schema_of};
use super::arguments::{self, Argument, Kind};
use super::asker::{Asking, Caller, Memory};
use super::reach::{Place, Reach, WHERE};
use super::text::{self, Told};
use super::withheld::Withheld;

/// The name of the prompt.
pub const HANDOVER: &str = "handover";

/// A tool.
pub struct Tool {
    name: &'static str,
    about: &'static str,
    takes: &'static [Argument],
    /// The schema of what it answers beside its text.
    answer: fn() -> Value,
    /// Whether it keeps something: others wait for it.
    pub changes: bool,
    act: fn(&mut Memory, Caller<'_>, Value) -> Result<Told, ApiError>,
}

/// How far a tool looks.
const FAR: Argument = Argument::of(
    "where",
    Kind::OneOf(WHERE),
    "This conversation, this project, or all projects",
);

/// The tools, in the order in which a client lists them.
static TOOLS: [Tool; 6] = [
    Tool {
        name: "recall",
        about: "Search what was said and done, also what compaction removed",
        takes: &[
            Argument::required("query", "Words, in any order; \"a phrase\"; word*; -not"),
            FAR,
            Argument::of(
                "since",
                Kind::Text,
                "yesterday, 3 days ago, last week, 2026-01-31",
            ),
        ],
        answer: schema_of::<Recalled>,
        changes: false,
        act: recall,
    },
    Tool {
        name: "read",
        about: "A message word for word, by id (or ID..ID)",
        takes: &[
            Argument::required("id", "As other tools tell it, or :7, the 7th message here"),
            Argument::of("around", Kind::Number, "Messages before and after"),
            Argument::of("page", Kind::Number, "Of a long text, from 1"),
            FAR,
        ],
        answer: schema_of::<ReadPage>,
        changes: false,
        act: read,
    },
    Tool {
        name: "dropped",
        about: "What the last compaction removed",
        takes: &[
            Argument::of("compaction", Kind::Text, "Its id; else the newest"),
            FAR,
        ],
        answer: schema_of::<Removed>,
        changes: false,
        act: dropped,
    },
    Tool {
        name: "did",
        about: "What was done to a file, how a command ran, what followed an error: one of path, command, error",
        takes: &[
            Argument::of("path", Kind::Text, "A file, or the end of its path"),
            Argument::of("command", Kind::Text, "A piece of it"),
            Argument::of("error", Kind::Text, "A piece of its text"),
            FAR,
        ],
        answer: schema_of::<DoneCalls>,
        changes: false,
        act: did,
    },
    Tool {
        name: "context",
        about: "Tokens, budget, cache, cost of this conversation, and what runs in the background",
        takes: &[],
        answer: schema_of::<Fullness>,
        changes: false,
        act: context,
    },
    Tool {
        name: "pin",
        about: "Keep a message through compactions",
        takes: &[
            Argument::required("id", "Of a message here"),
            Argument::of("note", Kind::Text, "Why"),
        ],
        answer: schema_of::<Pinned>,
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

/// The tools, as a client lists them; with what they answer as data, where the client can do with that.
pub fn definitions(has_data: bool) -> Value {
    let tools = TOOLS.iter().map(|tool| {
        let mut listed = json!({
            "name": tool.name,
            "description": tool.about,
            "inputSchema": arguments::schema(tool.takes),
            "annotations": { "readOnlyHint": !tool.changes, "openWorldHint": false },
        });
        if has_data {
            listed["outputSchema"] = (tool.answer)();
        }
        listed
    });
    tools.collect()
}

/// The resources.
pub fn resources() -> Value {
    json!([
        { "uri": "tract://context", "name": "context", "mimeType": "text/plain",
          "description": "Tokens, budget, cache and cost of this conversation, and what runs in the background" },
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
    place: Option<Place>,
    #[serde(default)]
    since: Option<Spelled<WrittenTime>>,
}

/// What is said where nobody knows which conversation asks.
const NOWHERE: &str = "Nothing is known of this conversation yet.";

/// What is said where meanings cannot be looked for.
const UNREAD_MODEL: &str = "(found by words alone: the model of recall.model cannot be read)";

/// How many messages are enough not to look any further.
const ENOUGH: usize = 4;

fn recall(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let asked: Recall = taken(arguments)?;
    let calendar = memory.worker.calendar();
    let most = memory.worker.recall_where()?;
    let mut like = memory.worker.recall_model()?.is_some();
    let mut trouble = None;
    memory.with(caller, |at, asking| {
        let reach = Reach::of(asking, asked.place, most.as_deref());
        let (mut groups, mut known, mut is_more) = (Vec::new(), HashSet::new(), false);
        let withheld = Withheld::of(at)?;
        for room in reach.rooms(at) {
            let params = FindParams {
                like,
                text: asked.query.clone(),
                rev: room.rev,
                directory: room.directory,
                since: asked.since.clone(),
                limit: Some(text::FOUND),
                ..FindParams::default()
            };
            let answer = match params.clone().call(at) {
                // A model that is gone, or has changed its form, is no reason to remember nothing.
                Err(error) if like && ["io", "invalid_input"].contains(&&*error.kind) => {
                    (like, trouble) = (false, Some(UNREAD_MODEL.to_owned()));
                    FindParams { like, ..params }.call(at)?
                }
                answer => answer?,
            };
            is_more |= answer.more;
            let mut found = answer.found;
            // What the agent has asked and was told before says nothing new.
            found.retain(|one| !one.is_own && known.insert(one.id.clone()));
            withheld.found(&mut found, at)?;
            groups.extend(reach.groups(room.place, found, |one| one.directory.as_deref()));
            if !reach.is_whole() && known.len() >= ENOUGH {
                break;
            }
        }
        let mut told = if known.is_empty() {
            let hint = match reach.has_more() {
                true => "try other words, or where: all for other projects too",
                false => "try other words",
            };
            Told::only::<Recalled>(format!("Nothing found; {hint}."))
        } else {
            text::found(&groups, is_more, &calendar)
        };
        let notes = reach.note().into_iter().chain(trouble);
        notes.for_each(|note| told.note(note));
        Ok(withheld.told(told))
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
    #[serde(default, rename = "where")]
    place: Option<Place>,
}

fn read(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let asked: Read = taken(arguments)?;
    let calendar = memory.worker.calendar();
    let most = memory.worker.recall_where()?;
    memory.with(caller, |at, asking| {
        let (first, last) = match asked.id.split_once("..") {
            Some((first, last)) => (first, Some(last)),
            None => (&*asked.id, None),
        };
        let reach = Reach::of(asking, asked.place, most.as_deref());
        let (_, mut read) = reach.nearest(at, &asked.id, |at, room| {
            let params = ReadParams {
                rev: asking.within(first),
                last: last.map(|last| asking.within(last)),
                around: asked.around,
                within: room.rev,
                directory: room.directory,
            };
            params.call(at)
        })?;
        let withheld = Withheld::of(at)?;
        withheld.read(&mut read);
        let page = asked.page.unwrap_or(1);
        Ok(withheld.told(text::read(&read, page, &calendar)))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dropped {
    #[serde(default)]
    compaction: Option<String>,
    #[serde(default, rename = "where")]
    place: Option<Place>,
}

fn dropped(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let asked: Dropped = taken(arguments)?;
    let calendar = memory.worker.calendar();
    let most = memory.worker.recall_where()?;
    memory.with(caller, |at, asking| {
        if asking.is_nowhere(at) && asked.compaction.is_none() {
            return Ok(Told::only::<Removed>(NOWHERE));
        }
        let reach = Reach::of(asking, asked.place, most.as_deref());
        let (place, mut dropped) = match &asked.compaction {
            None => {
                let params = DroppedParams {
                    within: asking.tip.clone(),
                    ..DroppedParams::default()
                };
                (Place::Here, params.call(at)?)
            }
            Some(named) => reach.nearest(at, named, |at, room| {
                let params = DroppedParams {
                    rev: Some(asking.within(named)),
                    within: room.rev,
                    directory: room.directory,
                };
                params.call(at)
            })?,
        };
        let withheld = Withheld::of(at)?;
        withheld.dropped(&mut dropped);
        let heading = reach.conversation(place);
        Ok(withheld.told(text::dropped(&dropped, heading, &calendar)))
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
    #[serde(default, rename = "where")]
    place: Option<Place>,
}

fn did(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let asked: Did = taken(arguments)?;
    let calendar = memory.worker.calendar();
    let most = memory.worker.recall_where()?;
    memory.with(caller, |at, asking| {
        let reach = Reach::of(asking, asked.place, most.as_deref());
        let (mut groups, mut known, mut is_more) = (Vec::new(), HashSet::new(), false);
        let withheld = Withheld::of(at)?;
        for room in reach.rooms(at) {
            let params = DidParams {
                path: asked.path.clone(),
                command: asked.command.clone(),
                error: asked.error.clone(),
                within: room.rev,
                directory: room.directory,
                // One more tells whether there are more.
                limit: Some(text::ACTS + 1),
            };
            let mut answer = params.looking(at, &|one| withheld.message(one))?;
            is_more |= answer.acts.len() > text::ACTS;
            answer.acts.truncate(text::ACTS);
            answer
                .acts
                .retain(|act| known.insert((act.id.clone(), act.call.clone())));
            groups.extend(reach.groups(room.place, answer.acts, |act| act.directory.as_deref()));
            if !reach.is_whole() && !known.is_empty() {
                break;
            }
        }
        let mut told = if known.is_empty() {
            let hint = match reach.has_more() {
                true => " where: all looks through other projects as well.",
                false => "",
            };
            Told::only::<DoneCalls>(format!("Nothing of the kind was done.{hint}"))
        } else {
            text::did(&groups, is_more, &calendar)
        };
        reach.note().into_iter().for_each(|note| told.note(note));
        Ok(withheld.told(told))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn context(memory: &mut Memory, caller: Caller<'_>, arguments: Value) -> Result<Told, ApiError> {
    let Nothing {} = taken(arguments)?;
    let calendar = memory.worker.calendar();
    memory.with(caller, |at, asking| {
        if asking.is_nowhere(at) {
            return Ok(Told::only::<Fullness>(NOWHERE));
        }
        let mut on = asking.on(at);
        std::mem::swap(&mut at.on, &mut on);
        let mut status = StatusParams::default().call(at)?;
        // The session goes on where its branch may have been left.
        if let Some(tip) = asking.tip.as_deref() {
            let tip = at.resolve(Some(tip))?;
            status.running = RunningFacts::all(&at.repo.running(&tip)?, at.host.now());
        }
        let withheld = Withheld::of(at)?;
        withheld.status(&mut status, at)?;
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
        Ok(withheld.told(text::context(&status, cost.as_ref(), &calendar)))
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
        let done = Reach::here(&asked.id, params.call(at))?;
        let answer = Pinned {
            id: asked.id,
            commit: done.commits.first().map(|it| text::short(it).to_owned()),
            notes: Vec::new(),
        };
        let said = match &answer.commit {
            Some(commit) => format!("Pinned {}, by commit {commit}.", answer.id),
            None => format!("{} was pinned already.", answer.id),
        };
        Ok(Told::new(said, &answer))
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
