//! The second pass: the records that messages need are read again, and become steps.

mod hide;

use std::collections::HashSet;
use std::mem::discriminant;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::agents_id;
use super::attachments::{self, Sent};
use super::index::{Entry, Index, Kind, QUEUE, REPLACED};
use super::parent_part::Behind;
use super::path::{Item, Tree};
use super::record::{BlockHead, MessageHead, ProgressData, Record, request_name};
use crate::error::Result;
use crate::formats::shared::continuation::Plain;
use crate::formats::shared::parts::time;
use crate::formats::shared::teller::Teller;
use crate::formats::{
    BranchStart, Input, Midway, Problem, SessionEnd, SessionStart, Sink, Source, Step, StepEntry,
    StepId, again,
};
use crate::model::price::is_usual;
use crate::model::{Message, Millis, Part, Role, Settings, Span, UsageRecord, depth};
use crate::wire::anthropic;
use crate::wire::json::{decode, quoted, string};

/// A step on a path that has been told to the sink.
#[derive(Clone)]
struct Told {
    item: Item,
    /// None where the item made no step.
    step: Option<StepId>,
    /// What is in force after it: the model, and the tier of service. Most steps share it.
    served: Rc<Settings>,
    /// Calls answered by its parts.
    results: Vec<(String, u32)>,
    /// Calls whose results it cleared.
    cleared: Vec<String>,
    /// How many parts it has.
    parts: u32,
    /// Those that are thoughts.
    thoughts: Vec<u32>,
    /// Thoughts that it took back.
    stripped: Vec<(StepEntry, u32)>,
}

/// How often a conversation may be written, to be told once.
const WRITTEN: usize = 64;

struct Reader<'a> {
    index: &'a Index,
    input: &'a dyn Input,
    teller: Teller<'a>,
    /// What is in force where it is not the first step of all that is read.
    served: Rc<Settings>,
    covered: Vec<bool>,
    /// Attachments of which nothing is sent.
    silent: HashSet<u32>,
    /// Whether some of what was sent is in no record.
    lacks_words: bool,
}

/// What is taken from one record.
#[derive(Default)]
struct Piece {
    parts: Vec<Part>,
    served: Settings,
    usage: Option<UsageRecord>,
    /// The name of the request that it answers.
    request: Option<String>,
    time: Option<Millis>,
    /// What the client calls it, where the client attached it.
    attached: Option<String>,
}

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let behind = Behind::of(source.input, source.bases)?;
    let (index, input): (_, &dyn Input) = match &behind {
        Some(behind) => (Index::read_behind(behind, source.sink)?, behind),
        None => (Index::read(source.input, source.sink)?, source.input),
    };
    let tree = Tree::new(&index, source.sink)?;
    let start = session(&index, &tree, source.stem);
    let mut reader = Reader::new(&index, input, start, source.sink)?;
    let (items, severed) = tree.main();
    reader.teller.end.severed = severed;
    let items = reader.meet(&tree, items)?;
    let main = reader.path(items, Vec::new())?;
    let mut paths = vec![main];
    // From the last: its path takes in the results of parallel calls, which are leaves as well.
    let mut covered = reader.covered.clone();
    let mut leaves = Vec::new();
    for leaf in tree.other_leaves(&covered).into_iter().rev() {
        if covered[leaf as usize] || !reader.is_own(leaf) {
            continue;
        }
        let items = tree.leaf(leaf);
        for record in items.iter().flat_map(Item::records) {
            covered[record as usize] = true;
        }
        leaves.push(reader.meet(&tree, items)?);
    }
    for (number, items) in (1..).zip(leaves.into_iter().rev()) {
        let path = reader.leaf(number, items, &paths)?;
        paths.push(path);
    }
    reader.agents(&tree)?;
    reader.end()
}

/// Goes on from the middle: what is there must be one path, which hangs on its first record and neither
/// compacts nor takes anything back. All else is for whoever knows the whole tree.
pub(super) fn go_on(source: Source<'_>, from: Midway<'_>) -> Result<bool> {
    let mut found = Plain::of(source.sink);
    let index = Index::read_from(source.input, from.offset, &mut found)?;
    let tree = Tree::new(&index, &mut found)?;
    if !found.is_plain || !tree.is_one_path() || session(&index, &tree, source.stem).id != from.id {
        return Ok(false);
    }
    let start = SessionStart::new(from.id);
    let mut reader = Reader::new(&index, source.input, start, &mut found)?;
    let (items, _) = tree.main();
    if items.iter().any(|item| matches!(item, Item::Orphan(_))) {
        return Ok(false);
    }
    reader.served = Rc::new(from.settings.clone());
    let items = reader.meet(&tree, items)?;
    reader.path(items, Vec::new())?;
    if index.queue.reaches_back
        || !tree.other_leaves(&reader.covered).is_empty()
        || !tree.agents().is_empty()
    {
        return Ok(false);
    }
    reader.end()?;
    Ok(found.is_plain)
}

fn session(index: &Index, tree: &Tree<'_>, stem: &str) -> SessionStart {
    let recorded = index.session_id.clone();
    if tree.agent_file || index.goes_on() {
        let parent = recorded.unwrap_or_default();
        let id = match (&index.agent_id, parent.is_empty()) {
            (Some(agent), false) => agents_id(&parent, agent),
            (Some(agent), true) => format!("agent-{agent}"),
            (None, _) => stem.to_owned(),
        };
        return SessionStart::new(id);
    }
    if uuid::Uuid::try_parse(stem).is_ok() {
        return SessionStart {
            id: stem.to_owned(),
            forked_from: recorded.filter(|id| id != stem),
            ..SessionStart::default()
        };
    }
    SessionStart::new(recorded.unwrap_or_else(|| stem.to_owned()))
}

impl<'a> Reader<'a> {
    fn new(
        index: &'a Index,
        input: &'a dyn Input,
        start: SessionStart,
        sink: &'a mut dyn Sink,
    ) -> Result<Self> {
        let mut teller = Teller::of("", &[], sink);
        (teller.start, teller.end) = (start, index.end.clone());
        teller.open()?;
        Ok(Self {
            index,
            input,
            teller,
            served: Rc::default(),
            covered: vec![false; index.entries.len()],
            silent: HashSet::new(),
            lacks_words: false,
        })
    }
}

impl Reader<'_> {
    fn entry(&self, record: u32) -> &Entry {
        &self.index.entries[record as usize]
    }

    /// Whether what was counted for a reply is counted by these records: of one that stands in the file twice, by those
    /// that were first.
    fn pays(&self, records: &[u32]) -> bool {
        let first = self.index.first_of(records[0]);
        let is_first = first.is_none_or(|first| records.contains(&first));
        is_first && !self.entry(records[0]).is_parents
    }

    /// Whether a record is the file's own, and none of another file with which it begins.
    fn is_own(&self, record: u32) -> bool {
        self.index.is_own(self.entry(record))
    }

    fn trouble(&mut self, record: u32, reason: String) -> Result<()> {
        if !self.is_own(record) {
            return Ok(());
        }
        let line = self.entry(record).line;
        self.teller.problem_on(line, reason)
    }

    /// Takes note that a path has these items; gives them by the records that said it first. A client may write a
    /// conversation into its file once more, and go on there.
    fn meet(&mut self, tree: &Tree<'_>, items: Vec<Item>) -> Result<Vec<Item>> {
        for record in items.iter().flat_map(Item::records) {
            self.covered[record as usize] = true;
        }
        // Each written before the one in front of it.
        let mut written = vec![items];
        let mut below = u32::MAX;
        while let Some(items) = written.last().filter(|_| written.len() < WRITTEN)
            && let Some((older, last)) = tree.repeated(items, below)
        {
            below = last;
            written.push(older);
        }
        let mut older = written.pop().unwrap_or_default();
        let mut originals = older.clone();
        while let Some(items) = written.pop() {
            let mut same = 0;
            while let (Some(item), Some(older)) = (items.get(same), older.get(same))
                && self.says_the_same(item, older)?
            {
                same += 1;
            }
            originals.truncate(same);
            originals.extend_from_slice(&items[same..]);
            older = items;
        }
        Ok(originals)
    }

    /// Whether two items say the same, record by record.
    fn says_the_same(&self, one: &Item, other: &Item) -> Result<bool> {
        let (ours, theirs) = (one.records(), other.records());
        if discriminant(one) != discriminant(other) || ours.len() != theirs.len() {
            return Ok(false);
        }
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            let said = self.content(ours)?;
            if said.is_none() || said != self.content(theirs)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The content of a record's message, as JSON.
    fn content(&self, record: u32) -> Result<Option<String>> {
        let text = self.text(record)?;
        let record: Record<'_> = serde_json::from_str(&text).unwrap_or_default();
        let head: MessageHead<'_> = decode(record.message).unwrap_or_default();
        Ok(head.content.map(|content| content.get().to_owned()))
    }

    /// Tells the items that `told` lacks.
    fn path(&mut self, items: Vec<Item>, mut told: Vec<Told>) -> Result<Vec<Told>> {
        for item in items.into_iter().skip(told.len()) {
            let mut next = Told {
                item,
                step: None,
                served: match told.last() {
                    Some(told) => Rc::clone(&told.served),
                    None => Rc::clone(&self.served),
                },
                results: Vec::new(),
                cleared: Vec::new(),
                parts: 0,
                thoughts: Vec::new(),
                stripped: Vec::new(),
            };
            match next.item {
                Item::Prune(record) => self.prune(record, &mut next, &told)?,
                Item::Compaction(boundary, summary, ref front) => {
                    next.step = Some(self.compaction(boundary, summary, front, &told)?);
                }
                _ => self.append(&mut next, &told)?,
            }
            told.push(next);
        }
        Ok(told)
    }

    /// A branch to a leaf that was left behind.
    fn leaf(&mut self, number: usize, items: Vec<Item>, paths: &[Vec<Told>]) -> Result<Vec<Told>> {
        let shared = |path: &&Vec<Told>| {
            let pairs = path.iter().zip(&items);
            pairs.take_while(|(told, item)| told.item == **item).count()
        };
        let told = match paths.iter().max_by_key(shared) {
            Some(path) => path[..shared(&path)].to_vec(),
            None => Vec::new(),
        };
        let after = told.iter().rev().find_map(|told| told.step);
        let branch = BranchStart::root(format!("leaf-{number}"));
        self.teller.sink.branch(BranchStart { after, ..branch })?;
        self.path(items, told)
    }

    fn agents(&mut self, tree: &Tree<'_>) -> Result<()> {
        let mut names = HashSet::new();
        for (number, (agent, items)) in (1..).zip(tree.agents()) {
            let mut records = items.iter().flat_map(Item::records);
            if !records.any(|record| self.is_own(record)) {
                continue;
            }
            let agent = match agent {
                Some(agent) => self.index.names.of(agent).to_owned(),
                None => number.to_string(),
            };
            let mut name = format!("agent-{agent}");
            if !names.insert(name.clone()) {
                name = format!("{name}-{number}");
                names.insert(name.clone());
            }
            self.teller.sink.branch(BranchStart::root(name))?;
            for record in items.iter().flat_map(Item::records) {
                self.covered[record as usize] = true;
            }
            self.path(items, Vec::new())?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        for (record, entry) in self.index.entries.iter().enumerate() {
            let label = match entry.kind {
                Kind::Synthetic => "assistant (synthetic)",
                _ if !self.index.is_own(entry) => continue,
                _ if self.silent.contains(&(record as u32)) => &self.attachment(entry),
                _ if self.covered[record] => continue,
                Kind::Placeholder => "assistant (synthetic)",
                Kind::Attached => &self.attachment(entry),
                Kind::Local => "system/local_command",
                Kind::User | Kind::Summary if entry.sidechain => "user (sidechain)",
                Kind::User | Kind::Summary => "user",
                Kind::Assistant if entry.sidechain => "assistant (sidechain)",
                Kind::Assistant => "assistant",
                Kind::Boundary => "system/compact_boundary",
                Kind::Micro => "system/microcompact_boundary",
                Kind::Cut => &self.attachment(entry),
                Kind::QueuedCommand => "attachment/queued_command",
                Kind::Mirror(_) => "progress",
                Kind::Queued(_) | Kind::Taken => QUEUE,
                Kind::Replaced => REPLACED,
                Kind::Node => continue,
            };
            self.teller.end.other(label);
        }
        let end = &mut self.teller.end;
        end.title = self.index.title();
        if !end.other_records.contains_key("api-request-shape") {
            let shape = ["system prompt", "tool definitions"];
            let lacking = shape.into_iter().zip(self.index.snapshot);
            let lacking: Vec<&str> = lacking
                .filter(|(_, is_here)| !is_here)
                .map(|(it, _)| it)
                .collect();
            let absent = SessionEnd::lacking(&lacking).absent;
            end.absent.splice(0..0, absent);
        }
        if self.lacks_words {
            end.absent.push("the instructions of plan mode".to_owned());
        }
        end.absent
            .extend(self.index.unknown.iter().map(|(kind, count)| {
                let s = if *count == 1 { "" } else { "s" };
                format!("{count} attachment{s} of the unknown kind {kind}")
            }));
        self.teller.close()
    }

    /// What a record of an attachment is called among those that are no messages.
    fn attachment(&self, entry: &Entry) -> String {
        let kind = entry.attached.map(|kind| self.index.names.of(kind));
        format!("attachment/{}", kind.unwrap_or("(no type)"))
    }

    fn text(&self, record: u32) -> Result<String> {
        again(self.input, self.entry(record).span)
    }

    /// The message in one record; what can't be read was reported, and is empty.
    fn piece(&mut self, record: u32) -> Result<Piece> {
        let text = self.text(record)?;
        match self.parse(record, &text) {
            Ok(piece) => Ok(piece),
            Err(error) => {
                self.trouble(record, format!("content that can't be read: {error}"))?;
                Ok(Piece::default())
            }
        }
    }

    fn parse(&mut self, record: u32, text: &str) -> Result<Piece, serde_json::Error> {
        let outer: Record<'_> = serde_json::from_str(text)?;
        let mut at = time(outer.timestamp);
        let mut request = None;
        let said = |content| MessageHead {
            content,
            ..MessageHead::default()
        };
        let head = match self.index.entries[record as usize].kind {
            Kind::Local => said(outer.content),
            Kind::QueuedCommand | Kind::Attached => return self.attached(record, &outer),
            Kind::Queued(is_given) => {
                let text = string(outer.content).unwrap_or_default();
                let attached = is_given.then(|| "queued_command".to_owned());
                return Ok(Piece {
                    parts: vec![match is_given {
                        true => attachments::from_queue(&text),
                        false => Part::text(text),
                    }],
                    time: at,
                    attached,
                    ..Piece::default()
                });
            }
            Kind::Taken => return Ok(Piece::default()),
            Kind::Mirror(_) => {
                let data: ProgressData<'_> = object(outer.data)?;
                let inner: Record<'_> = object(data.message)?;
                at = time(inner.timestamp).or(at);
                let head = object(inner.message)?;
                request = request_name(&inner, &head);
                head
            }
            _ => {
                let head = object(outer.message)?;
                request = request_name(&outer, &head);
                head
            }
        };
        if let Some(framed) = attachments::framed(&outer) {
            return Ok(Piece {
                parts: vec![framed],
                time: at,
                ..Piece::default()
            });
        }
        Ok(Piece {
            parts: anthropic::parts(head.content, &mut self.teller.notes)?,
            served: served(&head),
            usage: anthropic::usage_record(head.usage),
            request,
            time: at,
            ..Piece::default()
        })
    }

    /// What is sent for an attachment; nothing where its record is not as it should be.
    fn attached(&mut self, record: u32, outer: &Record<'_>) -> Result<Piece, serde_json::Error> {
        let sent = attachments::sent(outer, &mut self.teller.notes);
        if !matches!(sent, Sent::Parts { .. }) {
            self.silent.insert(record);
        }
        let parts = match sent {
            Sent::Parts { parts, in_part } => {
                depth::check_parts(&parts).map_err(serde::de::Error::custom)?;
                self.lacks_words |= in_part;
                parts
            }
            Sent::Nothing => Vec::new(),
            Sent::Unknown => {
                return Err(serde::de::Error::custom("it lacks what its kind has"));
            }
        };
        let kind = self.entry(record).attached;
        Ok(Piece {
            parts,
            time: time(outer.timestamp),
            attached: kind.map(|kind| self.index.names.of(kind).to_owned()),
            ..Piece::default()
        })
    }

    fn step(&mut self, step: Step) -> Result<StepId> {
        Ok(self.teller.step(step)?.step)
    }

    fn append(&mut self, next: &mut Told, told: &[Told]) -> Result<()> {
        if let Item::Results(results) = &mut next.item {
            // In the order in which they came, which need not be that of the calls.
            results.sort_unstable();
        }
        let records = next.item.records();
        let mut parts = Vec::new();
        let (mut usage, mut time, mut attached) = (None, None, None);
        let mut request = None;
        let mut served = Settings::new();
        for &record in &records {
            let piece = self.piece(record)?;
            parts.extend(piece.parts);
            served.extend(piece.served);
            usage = piece.usage.or(usage);
            let named = piece.request.map(|name| (self.entry(record).span, name));
            request = request.into_iter().chain(named).min();
            time = time.or(piece.time);
            attached = attached.or(piece.attached);
        }
        let kind = self.entry(records[0]).kind;
        if parts.is_empty() && kind == Kind::Attached {
            return Ok(());
        }
        let role = match next.item {
            Item::Reply(_) => Role::Assistant,
            _ if kind == Kind::Placeholder => Role::Assistant,
            _ if !parts.is_empty() && parts.iter().all(Part::is_result) => Role::Tool,
            _ => Role::User,
        };
        if let Item::Orphan(record) = next.item
            && self.is_own(record)
        {
            let problem = Problem {
                // The rest of a plan whose context was cleared: its call is in another session.
                harmless: !told.iter().any(|told| matches!(told.item, Item::Reply(_))),
                ..Problem::new(self.entry(record).line, "a tool result without its call")
            };
            self.teller.sink.problem(problem)?;
        }
        next.results = answered(&parts);
        next.thoughts = thoughts(&parts);
        next.parts = parts.len() as u32;
        let is_models = matches!(kind, Kind::Assistant | Kind::Mirror(_));
        served.retain(|key, value| {
            let known = next.served.get(key);
            // The usual way is only worth a word behind another.
            let is_usual = known.is_none() && is_usual(key, value);
            is_models && role == Role::Assistant && known != Some(value) && !is_usual
        });
        if !served.is_empty() {
            Rc::make_mut(&mut next.served).extend(served.clone());
        }
        let mut message = Message::new(role, parts);
        message.attached = attached;
        let step = Step::append(message, Span::default())
            .by(self.index.own_spans(&records))
            .at(time)
            .setting(served)
            .recorded(usage.filter(|_| is_models && self.pays(&records)))
            .answering(request.filter(|_| is_models).map(|(_, name)| name));
        next.step = Some(self.step(step)?);
        Ok(())
    }
}

impl Told {
    /// The entry that its message became.
    fn entry(&self) -> Option<StepEntry> {
        match self.item {
            Item::Prune(_) | Item::Compaction(..) => None,
            _ => self.step.map(StepId::entry),
        }
    }
}

/// The model that made a reply, and how it was served, as settings. What a usage record leaves out was the usual.
fn served(head: &MessageHead<'_>) -> Settings {
    lazy! { struct Counted { service_tier, speed, inference_geo } }
    let counted: Option<Counted<'_>> = decode(head.usage);
    let said = |key: &str, raw| Some((key.to_owned(), quoted(&string(raw)?)));
    let mut served: Settings = said("model", head.model).into_iter().collect();
    if let Some(counted) = counted {
        let usual = |key: &str, value: &str| (key.to_owned(), quoted(value));
        served.extend(said("service_tier", counted.service_tier));
        let speed = said("speed", counted.speed);
        served.extend(speed.or_else(|| Some(usual("speed", "standard"))));
        let region = said("inference_geo", counted.inference_geo);
        let region = region.filter(|(key, value)| !is_usual(key, value));
        let anywhere = ("inference_geo".to_owned(), "null".to_owned());
        served.extend([region.unwrap_or(anywhere)]);
    }
    served
}

/// A decoded object; an empty one where there is none.
fn object<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> serde_json::Result<T> {
    serde_json::from_str(raw.map_or("{}", RawValue::get))
}

/// Which parts are thoughts.
fn thoughts(parts: &[Part]) -> Vec<u32> {
    let is_thought = |part: &Part| match part {
        Part::Opaque { data, .. } => serde_json::from_str::<BlockHead<'_>>(data)
            .is_ok_and(|block| block.is("redacted_thinking")),
        part => matches!(part, Part::Thinking { .. }),
    };
    let numbered = parts.iter().zip(0..);
    let found = numbered.filter(|(part, _)| is_thought(part));
    found.map(|(_, at)| at).collect()
}

fn answered(parts: &[Part]) -> Vec<(String, u32)> {
    let parts = parts.iter().zip(0..);
    let calls = parts.filter_map(|(part, at)| Some((part.as_result()?.0.to_owned(), at)));
    calls.collect()
}
