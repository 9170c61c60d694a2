//! The importer: the messages of a tree, or the replies of older versions one after the other.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::message::{Said, node, reply};
use super::{CONVERSATION, MESSAGES, RESPONSES, TOOLS, TURNS};
use crate::error::Result;
use crate::formats::Step;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts::{self, said as word, usage};
use crate::formats::shared::records::Text;
use crate::formats::shared::rows::time;
use crate::formats::shared::spans::elements;
use crate::formats::shared::ways::{Behind, Walker, Ways, walk};
use crate::model::{Millis, Part, Role, Settings, Usage, depth};
use crate::wire::json::{array, decode, quoted, string};

/// A conversation.
#[derive(Default)]
pub(super) struct Conversation {
    /// Where it stands, by the newest message's hash.
    tip: Option<String>,
    replies: Vec<Range<usize>>,
    turns: Vec<Range<usize>>,
    /// What was offered, by its number.
    tools: HashMap<i64, String>,
    has_tools: bool,
    /// What turns say, by the hash of their own messages and of what they were given.
    by_hash: HashMap<String, Rc<Counted>>,
    records: Vec<Record>,
    /// Where the message of a hash is.
    places: HashMap<String, usize>,
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
    /// The hash of the message before one of the tree.
    parent: Option<String>,
}

lazy! { struct Links { hash, parent_hash, tip_message_hash, parent_message_hash } }

impl Document for Conversation {
    const RECORDS: &'static str = MESSAGES;
    const LACKING: &'static [&'static str] = &[];
    const LISTS: &'static [&'static str] = &[RESPONSES, TURNS, TOOLS];

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        lazy! { struct Row { id, name, tip_message_hash, forked_from } }
        if member.key == CONVERSATION {
            let row: Row<'_> = decode(Some(member.raw)).unwrap_or_default();
            teller.name(word(row.id));
            teller.start.forked_from = word(row.forked_from);
            teller.end.title = word(row.name);
            self.tip = word(row.tip_message_hash);
        } else {
            let (rest, _) = elements(member.raw.get().as_bytes(), 0);
            let others = &mut teller.end.other_records;
            others.insert(member.key.to_owned(), rest.len() as u64);
        }
        false
    }

    fn list(&mut self, key: &str, found: Vec<Range<usize>>, teller: &mut ObjectTeller<'_, '_>) {
        match key {
            RESPONSES => self.replies = found,
            TURNS => self.turns = found,
            _ => self.tools = tools(teller.text, &found),
        }
    }

    /// Reads what turns say, and the replies of older versions.
    fn begin(&mut self, _: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        teller.open()?;
        // A turn's own message is its last; its time and what holds is known of what it was given, too.
        for at in &self.turns {
            let Ok((raw, _)) = teller.text.decode(at) else {
                continue;
            };
            let links: Links<'_> = decode(Some(&raw)).unwrap_or_default();
            let counted = self.counted(&raw);
            if let Some(given) = string(links.parent_message_hash) {
                let of_given = || Counted {
                    usage: None,
                    ..counted.clone()
                };
                let given = self.by_hash.entry(given);
                given.or_insert_with(|| Rc::new(of_given()));
            }
            if let Some(own) = string(links.tip_message_hash) {
                self.by_hash.insert(own, Rc::new(counted));
            }
        }
        let mut system = None;
        for at in &self.replies {
            let mut counted = Counted::default();
            let said = teller.read(at, |raw, notes| {
                counted = self.counted(raw);
                reply(raw, &mut system, notes)
            })?;
            self.records.push(Record {
                at: at.clone(),
                said: said.unwrap_or_default(),
                counted: Rc::new(counted),
                parent: None,
            });
        }
        Ok(())
    }

    /// Reads a message of the tree.
    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let (mut hash, mut parent) = (None, None);
        let said = teller.read(at, |raw, notes| {
            let links: Links<'_> = decode(Some(raw)).unwrap_or_default();
            (hash, parent) = (string(links.hash), string(links.parent_hash));
            node(raw, notes)
        })?;
        if said.as_ref().is_some_and(Vec::is_empty) {
            teller.end.other("empty message");
        }
        let counted = hash.as_ref().and_then(|hash| self.by_hash.get(hash));
        let counted = counted.cloned().unwrap_or_default();
        if let Some(hash) = hash {
            self.places.entry(hash).or_insert(self.records.len());
        }
        self.records.push(Record {
            at: at.clone(),
            said: said.unwrap_or_default(),
            counted,
            parent,
        });
        Ok(())
    }

    /// Tells of the way to where the conversation stands, then of those that leave it.
    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let replies = self.replies.len();
        let mut parents: Vec<Option<usize>> = (0..replies).map(|at| at.checked_sub(1)).collect();
        for record in &self.records[replies..] {
            let place = record.parent.as_ref().map(|it| (it, self.places.get(it)));
            if let Some((parent, None)) = place {
                let reason = format!("message {parent} before it is not in the database");
                teller.problem(&record.at, reason)?;
            }
            parents.push(place.and_then(|(_, place)| place.copied()));
        }
        let is_tree = parents.len() > replies;
        let tip = self.tip.take().filter(|_| is_tree);
        let stands = tip.as_ref().and_then(|tip| self.places.get(tip)).copied();
        if let (Some(tip), None) = (tip, stands) {
            let reason = format!("the last message {tip} is not in the database");
            teller.problem(&(0..0), reason)?;
        }
        walk(parents, stands, self, teller)?;
        if !self.has_tools && !teller.calls.is_empty() {
            teller.end.absent.push("tool definitions".to_owned());
        }
        Ok(())
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
        let about = string(tool.description);
        let offered = parts::tool(&string(tool.name)?, about.as_deref(), schema);
        Some((decode(tool.id)?, offered))
    };
    rows.iter().filter_map(tool).collect()
}

impl Conversation {
    /// What a row says of its reply.
    fn counted(&self, raw: &RawValue) -> Counted {
        lazy! { struct Row { model, options_json, datetime_utc, tools } }
        let row: Row<'_> = decode(Some(raw)).unwrap_or_default();
        let mut settings = Settings::new();
        let options: BTreeMap<String, Value> = decode(row.options_json).unwrap_or_default();
        for (key, value) in options {
            if value.is_number() || value.is_string() || value.is_boolean() {
                settings.insert(key, value.to_string());
            }
        }
        settings.extend(word(row.model).map(|model| ("model".to_owned(), quoted(&model))));
        let ids: Vec<i64> = decode(row.tools).unwrap_or_default();
        let mut tools = ids.iter().filter_map(|id| self.tools.get(id)).peekable();
        if tools.peek().is_some() {
            settings.insert("tools".to_owned(), array(tools));
        }
        Counted {
            time: string(row.datetime_utc).and_then(|text| time(&text)),
            usage: usage(Some(raw), &["input_tokens", "output_tokens"]),
            settings,
        }
    }
}

/// How things stand behind a message.
#[derive(Clone, Default)]
pub(super) struct State {
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

impl Walker for Conversation {
    const RECORD: &'static str = "message";
    type State = State;

    fn place(&self, at: usize) -> &Range<usize> {
        &self.records[at].at
    }

    fn tell(
        &mut self,
        way: &[usize],
        _: &Ways,
        behind: &mut Behind<State>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<usize> {
        let Record {
            at, said, counted, ..
        } = &mut self.records[way[0]];
        let text = teller.text;
        for mut said in std::mem::take(said) {
            behind.state.pair(&mut said);
            teller.pair(&said.message, text, at)?;
            let settings = behind.state.change(&counted.settings);
            self.has_tools |= settings.contains_key("tools");
            let is_reply = said.message.role == Role::Assistant;
            let step = Step::append(said.message, text.span(at))
                .at(counted.time)
                .setting(settings)
                .counted(counted.usage.filter(|_| is_reply));
            teller.follow(step, &mut behind.last)?;
        }
        Ok(1)
    }
}
