//! The importer: the messages of a tree, or the replies of older versions one after the other.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::said::{Said, node, reply};
use super::{CONVERSATION, MESSAGES, RESPONSES, TOOLS, TURNS};
use crate::error::Result;
use crate::interop::records::{Held, Text};
use crate::interop::rows::time;
use crate::interop::spans::{Broken, elements, members};
use crate::interop::ways::{Behind, Steps, Walker, Ways, walk};
use crate::interop::{Action, ImportOptions, Input, SessionEnd, SessionStart, Sink, Step};
use crate::model::{Message, Millis, Part, Role, Settings, Usage, depth};
use crate::wire::Notes;
use crate::wire::json::{Object, array, decode, quoted, string, tight};

/// Reads a conversation.
pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let mut lists: BTreeMap<String, Vec<Range<usize>>> = BTreeMap::new();
    let mut about = About::default();
    for (key, at) in keys {
        if key == CONVERSATION {
            let decoded = text.decode(&at).ok();
            about = decoded.map_or_else(About::default, |(raw, _)| About::of(&raw));
        } else {
            let (found, torn) = list(text, &at);
            broken = torn.or(broken);
            lists.insert(key, found);
        }
    }
    let mut take = |key: &str| lists.remove(key).unwrap_or_default();
    let mut found = Found {
        text,
        records: Vec::new(),
        tools: tools(text, &take(TOOLS)),
        end: SessionEnd {
            title: about.name,
            ..SessionEnd::default()
        },
        notes: Notes::default(),
    };
    let (replies, messages, turns) = (take(RESPONSES), take(MESSAGES), take(TURNS));
    for (key, rest) in lists {
        found.end.other_records.insert(key, rest.len() as u64);
    }
    sink.session(SessionStart {
        forked_from: about.forked_from,
        ..SessionStart::new(about.id.unwrap_or_else(|| options.stem.to_owned()))
    })?;
    found.replies(&replies, sink)?;
    let (parents, stands) = match messages.is_empty() {
        true => {
            let all = 0..found.records.len();
            (all.map(|at| at.checked_sub(1)).collect(), None)
        }
        false => found.tree(&messages, &turns, about.tip.as_deref(), sink)?,
    };
    held.end(broken, sink)?;
    sink.progress(text.bytes.len() as u64, found.records.len() as u64);
    found.tell(parents, stands, sink)
}

/// The elements of a list.
fn list(text: Text<'_>, at: &Range<usize>) -> (Vec<Range<usize>>, Option<Broken>) {
    match text.bytes.get(at.start) {
        Some(b'[') => elements(text.bytes, at.start),
        _ => Default::default(),
    }
}

/// What the conversation's own row says.
#[derive(Default)]
struct About {
    id: Option<String>,
    name: Option<String>,
    tip: Option<String>,
    forked_from: Option<String>,
}

impl About {
    fn of(raw: &RawValue) -> Self {
        lazy! { struct Row { id, name, tip_message_hash, forked_from } }
        let row: Row<'_> = decode(Some(raw)).unwrap_or_default();
        let word = |raw| string(raw).filter(|text| !text.is_empty());
        Self {
            id: word(row.id),
            name: word(row.name),
            tip: word(row.tip_message_hash),
            forked_from: word(row.forked_from),
        }
    }
}

/// The tools that were offered, in the form in which their provider is sent them.
fn tools(text: Text<'_>, rows: &[Range<usize>]) -> HashMap<i64, String> {
    lazy! { struct Tool { id, name, description, input_schema } }
    let tool = |at: &Range<usize>| {
        let (raw, _) = text.decode(at).ok()?;
        let tool: Tool<'_> = decode(Some(&raw))?;
        let schema = tool.input_schema?.get();
        if !schema.starts_with('{') || depth::check_json("tools", schema, 3).is_err() {
            return None;
        }
        let function = Object::new()
            .string("name", &string(tool.name)?)
            .optional("description", string(tool.description).as_deref())
            .raw("parameters", &tight(schema));
        let framed = Object::typed("function").raw("function", &function.finish());
        Some((decode(tool.id)?, framed.finish()))
    };
    rows.iter().filter_map(tool).collect()
}

/// What a row says of the reply that it is of.
#[derive(Clone, Default)]
struct Counted {
    time: Option<Millis>,
    usage: Option<Usage>,
    settings: Settings,
}

/// A record: a reply of older versions with what was new before it, or a message of the tree.
struct Record {
    at: Range<usize>,
    said: Vec<Said>,
    counted: Rc<Counted>,
}

struct Found<'t> {
    text: Text<'t>,
    records: Vec<Record>,
    tools: HashMap<i64, String>,
    end: SessionEnd,
    notes: Notes,
}

impl Found<'_> {
    /// What a row says of its reply.
    fn counted(&self, raw: &RawValue) -> Counted {
        lazy! { struct Row { model, options_json, input_tokens, output_tokens, datetime_utc, tools } }
        let row: Row<'_> = decode(Some(raw)).unwrap_or_default();
        let mut settings = Settings::new();
        let options: BTreeMap<String, Value> = decode(row.options_json).unwrap_or_default();
        for (key, value) in options {
            if value.is_number() || value.is_string() || value.is_boolean() {
                settings.insert(key, value.to_string());
            }
        }
        let model = string(row.model).filter(|model| !model.is_empty());
        settings.extend(model.map(|model| ("model".to_owned(), quoted(&model))));
        let ids: Vec<i64> = decode(row.tools).unwrap_or_default();
        let mut tools = ids.iter().filter_map(|id| self.tools.get(id)).peekable();
        if tools.peek().is_some() {
            settings.insert("tools".to_owned(), array(tools));
        }
        let usage = match (decode(row.input_tokens), decode(row.output_tokens)) {
            (Some(input_tokens), Some(output_tokens)) => Some(Usage {
                input_tokens,
                output_tokens,
            }),
            _ => None,
        };
        Counted {
            time: string(row.datetime_utc).and_then(|text| time(&text)),
            usage,
            settings,
        }
    }

    /// Reads the replies of older versions.
    fn replies(&mut self, rows: &[Range<usize>], sink: &mut dyn Sink) -> Result<()> {
        let mut system = None;
        for at in rows {
            let (text, notes) = (self.text, &mut self.notes);
            let mut whole = None;
            let read = |raw: &RawValue| {
                whole = Some(raw.to_owned());
                reply(raw, &mut system, notes)
            };
            let lone = &mut self.end.lone_surrogates;
            let said = text.message(at, lone, sink, read)?.unwrap_or_default();
            let counted = whole.map_or_else(Counted::default, |raw| self.counted(&raw));
            self.records.push(Record {
                at: at.clone(),
                said,
                counted: Rc::new(counted),
            });
        }
        Ok(())
    }

    /// Reads the messages of a tree; returns the one before each, and where the conversation stands.
    fn tree(
        &mut self,
        messages: &[Range<usize>],
        turns: &[Range<usize>],
        tip: Option<&str>,
        sink: &mut dyn Sink,
    ) -> Result<(Vec<Option<usize>>, Option<usize>)> {
        lazy! { struct Links { hash, parent_hash, tip_message_hash, parent_message_hash } }
        // A turn's own message is its last; its time and what holds is known of what it was given, too.
        let mut by_hash: HashMap<String, Rc<Counted>> = HashMap::new();
        for at in turns {
            let Ok((raw, _)) = self.text.decode(at) else {
                continue;
            };
            let links: Links<'_> = decode(Some(&raw)).unwrap_or_default();
            let counted = self.counted(&raw);
            if let Some(given) = string(links.parent_message_hash) {
                let given = by_hash.entry(given);
                given.or_insert_with(|| {
                    Rc::new(Counted {
                        usage: None,
                        ..counted.clone()
                    })
                });
            }
            if let Some(own) = string(links.tip_message_hash) {
                by_hash.insert(own, Rc::new(counted));
            }
        }
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut named = Vec::new();
        for at in messages {
            let (text, notes) = (self.text, &mut self.notes);
            let (mut hash, mut parent) = (None, None);
            let read = |raw: &RawValue| {
                let links: Links<'_> = decode(Some(raw)).unwrap_or_default();
                (hash, parent) = (string(links.hash), string(links.parent_hash));
                node(raw, notes)
            };
            let lone = &mut self.end.lone_surrogates;
            let said = text.message(at, lone, sink, read)?;
            if said.as_ref().is_some_and(Vec::is_empty) {
                self.end.other("empty message");
            }
            let counted = hash.as_ref().and_then(|hash| by_hash.get(hash)).cloned();
            if let Some(hash) = hash {
                places.entry(hash).or_insert(self.records.len());
            }
            named.push(parent);
            self.records.push(Record {
                at: at.clone(),
                said: said.unwrap_or_default(),
                counted: counted.unwrap_or_default(),
            });
        }
        let before = self.records.len() - named.len();
        let mut parents: Vec<Option<usize>> = (0..before).map(|at| at.checked_sub(1)).collect();
        for (number, parent) in named.into_iter().enumerate() {
            let Some(parent) = parent else {
                parents.push(None);
                continue;
            };
            let place = places.get(&parent).copied();
            if place.is_none() {
                let reason = format!("message {parent} before it is not in the database");
                let at = self.records[before + number].at.start;
                sink.problem(self.text.problem(at, reason))?;
            }
            parents.push(place);
        }
        let stands = tip.and_then(|tip| places.get(tip)).copied();
        if let (Some(tip), None) = (tip, stands) {
            let reason = format!("the last message {tip} is not in the database");
            sink.problem(self.text.problem(0, reason))?;
        }
        Ok((parents, stands))
    }

    /// Tells of the way to where the conversation stands, then of those that leave it.
    fn tell(
        self,
        parents: Vec<Option<usize>>,
        stands: Option<usize>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let (ways, circles) = Ways::of(parents);
        for at in circles {
            let reason = "a message that stands below itself";
            sink.problem(self.text.problem(self.records[at].at.start, reason))?;
        }
        let mut telling = Telling {
            found: self,
            calls: HashSet::new(),
            has_tools: false,
            steps: Steps::of(sink),
        };
        walk(ways, stands, &mut telling)?;
        let mut end = telling.found.end;
        end.opaque_blocks = telling.found.notes.opaque_blocks;
        if !telling.has_tools && !telling.calls.is_empty() {
            end.absent.push("tool definitions".to_owned());
        }
        telling.steps.sink.end(end)
    }
}

/// How things stand behind a message.
#[derive(Clone, Default)]
struct State {
    /// What holds of the settings.
    settings: Rc<Settings>,
    /// Calls without an id of their own that have no result yet: the tool, and the id that they got.
    open: Vec<(String, String)>,
    /// How many ids were made.
    made: usize,
}

impl State {
    /// Gives an id to each call that has none, and finds for each result without one the call that it answers.
    fn pair(&mut self, said: &mut Said) {
        for (part, tool) in said.message.parts.iter_mut().zip(&said.tools) {
            match part {
                Part::ToolCall { id, name, .. } if id.is_empty() => {
                    self.made += 1;
                    *id = format!("call-{}", self.made);
                    self.open.push((name.clone(), id.clone()));
                }
                Part::ToolResult { call, .. } if call.is_empty() => {
                    let tool = tool.as_deref().unwrap_or_default();
                    let of_tool = self.open.iter().position(|(name, _)| name == tool);
                    match of_tool {
                        Some(at) => *call = self.open.remove(at).1,
                        None => {
                            self.made += 1;
                            *call = format!("call-{}", self.made);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Which settings change, where these hold.
    fn change(&mut self, settings: &Settings) -> Settings {
        let mut new = settings.clone();
        new.retain(|key, value| self.settings.get(key) != Some(value));
        if !new.is_empty() {
            let mut all = (*self.settings).clone();
            all.extend(new.clone());
            self.settings = Rc::new(all);
        }
        new
    }
}

struct Telling<'t, 's> {
    found: Found<'t>,
    /// The calls that were told.
    calls: HashSet<String>,
    has_tools: bool,
    steps: Steps<'s>,
}

impl Telling<'_, '_> {
    fn strays(&mut self, message: &Message, at: usize) -> Result<()> {
        self.calls.extend(message.calls().map(str::to_owned));
        for call in message.results().filter(|call| !self.calls.contains(*call)) {
            let reason = format!("a tool result without its call '{call}'");
            let problem = self.found.text.problem(at, reason);
            self.steps.sink.problem(problem)?;
        }
        Ok(())
    }
}

impl<'s> Walker<'s> for Telling<'_, 's> {
    type State = State;

    fn steps(&mut self) -> &mut Steps<'s> {
        &mut self.steps
    }

    fn tell(&mut self, way: &[usize], _: &Ways, behind: &mut Behind<State>) -> Result<usize> {
        let record = &mut self.found.records[way[0]];
        let (at, counted) = (record.at.clone(), record.counted.clone());
        let span = self.found.text.span(&at);
        for mut said in std::mem::take(&mut record.said) {
            behind.state.pair(&mut said);
            self.strays(&said.message, at.start)?;
            let settings = behind.state.change(&counted.settings);
            self.has_tools |= settings.contains_key("tools");
            let usage = counted.usage;
            let step = Step {
                time: counted.time,
                settings,
                usage: usage.filter(|_| said.message.role == Role::Assistant),
                ..Step::new(Action::Append(said.message), span)
            };
            self.steps.tell(step, &mut behind.last)?;
        }
        Ok(1)
    }
}
