//! Two requests compared as a provider's cache does it: from the front, tools first, then the system prompt, then
//! messages.
//!
//! Deliberately absent: what the difference costs, and how it is shown.

use super::{Lack, SentRequest, as_blocks};
use crate::wire::anthropic::MARK;
use crate::wire::javascript::{JsValue, KeyOrder};

/// The parts of a request that are compared by themselves.
const PARTS: [&str; 4] = ["model", "tools", "system", "messages"];
/// How many blocks before a breakpoint a provider looks for what it has kept.
///
/// # Source
///
/// Anthropic, "Prompt caching": the lookback window.
const LOOKBACK: u64 = 20;

/// How a request differs from one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentDifference {
    /// Both models, where they are two. Hostile until escaped, as all texts here.
    pub model: Option<[String; 2]>,
    /// Its tools beside those before.
    pub tools: ToolsDifference,
    /// The blocks of the system prompt that are others.
    pub system: Vec<SystemDifference>,
    /// The parameters, and headers, that are others.
    pub parameters: Vec<String>,
    /// Its messages beside those before.
    pub messages: MessagesDifference,
    /// The breakpoints that only the one before has, and those that only this one has.
    pub marks: [Vec<String>; 2],
    /// How many blocks of messages stand between the last breakpoint before and its last one.
    pub blocks_between_marks: u64,
    /// The first byte that is another.
    pub byte: Option<ByteDifference>,
}

/// How the tools of two requests differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsDifference {
    /// The names of the new ones.
    pub added: Vec<String>,
    /// The names of those that are gone.
    pub removed: Vec<String>,
    /// The names of those that have another definition.
    pub changed: Vec<String>,
    /// Whether those that both have stand in another order.
    pub moved: bool,
    /// How many are the same.
    pub same: u64,
}

/// How a block of the system prompt differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemDifference {
    /// The number of the block, from 0.
    pub block: u64,
    /// The number of the first line that is another, from 1.
    pub line: u64,
    /// That line in the request before, and in this one; none where it has no such line.
    pub texts: [Option<String>; 2],
}

/// How the messages of two requests differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagesDifference {
    /// How many of the beginning are the same.
    pub same: u64,
    /// How many each has.
    pub counts: [u64; 2],
    /// What is the first difference in the first message that both have and that is another, as a path.
    pub path: Option<String>,
}

/// The first byte that differs between two requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteDifference {
    /// Its place in both.
    pub at: u64,
    /// How many bytes each has.
    pub sizes_bytes: [u64; 2],
    /// What it belongs to, as a path.
    pub path: String,
}

impl SentDifference {
    /// How `after` differs from `before`; both must be whole.
    ///
    /// # Errors
    ///
    /// Why one of them cannot be told.
    pub fn of(before: &SentRequest, after: &SentRequest) -> Result<Self, Lack> {
        let whole = |request: &SentRequest| match (&request.proof, request.json.clone()) {
            (Some(Err(lack)), _) => Err(lack.clone()),
            (_, None) => Err(Lack::Record),
            (_, Some(json)) => Ok(json),
        };
        let texts = [whole(before)?, whole(after)?];
        let bodies = [JsValue::of(&texts[0]), JsValue::of(&texts[1])];
        let [Some(old), Some(new)] = &bodies else {
            return Err(Lack::Record);
        };
        let mut found = Self::of_bodies(old, new);
        found.byte = byte(&texts, old, new);
        for (name, value) in &after.headers {
            if !before
                .headers
                .iter()
                .any(|(was, other)| was == name && value == other)
            {
                found.parameters.push(name.clone());
            }
        }
        Ok(found)
    }

    fn of_bodies(old: &JsValue<'_>, new: &JsValue<'_>) -> Self {
        let model = [old, new].map(|body| text_at(body, "model"));
        let keys = old.members().iter().chain(new.members());
        let mut parameters: Vec<String> = Vec::new();
        for (key, _) in keys {
            let key = serde_json::from_str(key).unwrap_or_else(|_| key.to_string());
            let is_other = plain(old.get(&key)) != plain(new.get(&key));
            if is_other && !PARTS.contains(&key.as_str()) && !parameters.contains(&key) {
                parameters.push(key);
            }
        }
        let marks = [old, new].map(marks);
        let only = |of: usize, other: usize| {
            let all = marks[of].iter();
            let all = all.filter(|mark| !marks[other].contains(mark));
            all.cloned().collect()
        };
        Self {
            model: (model[0] != model[1]).then_some(model),
            tools: tools(elements(old, "tools"), elements(new, "tools")),
            system: system(old.get("system"), new.get("system")),
            parameters,
            messages: messages(elements(old, "messages"), elements(new, "messages")),
            blocks_between_marks: blocks_between(new, last_mark(old), last_mark(new)),
            marks: [only(0, 1), only(1, 0)],
            byte: None,
        }
    }

    /// Whether nothing but the form of the requests differs.
    pub fn is_empty(&self) -> bool {
        let rest = Self {
            messages: MessagesDifference::default(),
            byte: None,
            blocks_between_marks: 0,
            tools: ToolsDifference {
                same: 0,
                ..self.tools.clone()
            },
            ..self.clone()
        };
        let MessagesDifference { same, counts, .. } = self.messages;
        rest == Self::default() && counts == [same; 2]
    }

    /// Why a cache that has the request before does not have the beginning of this one: the first reason, or, where the
    /// provider names a part of a request, the first there; none where nothing tells.
    pub fn cause(&self, provider_says: Option<&str>) -> Option<String> {
        let mut causes = self.causes();
        let is_named =
            |(part, _): &(&str, String)| provider_says.is_some_and(|says| says.starts_with(*part));
        let at = causes.iter().position(is_named).unwrap_or(0);
        (at < causes.len()).then(|| causes.swap_remove(at).1)
    }

    /// The reasons in the order of a cache, each with the part of a request that it lies in.
    fn causes(&self) -> Vec<(&'static str, String)> {
        let mut causes = Vec::new();
        if let Some([old, new]) = &self.model {
            causes.push(("model", format!("model {old} became {new}")));
        }
        causes.extend(self.tools.cause().map(|cause| ("tools", cause)));
        if let Some(SystemDifference { block, line, .. }) = self.system.first() {
            causes.push((
                "system",
                format!("system[{block}] changed from line {line} on"),
            ));
        }
        let MessagesDifference { same, counts, path } = &self.messages;
        if let Some(path) = path {
            causes.push(("messages", format!("messages[{same}]{path} changed")));
        } else if *same < counts[0] {
            let gone = counts[0] - same;
            let are = if gone == 1 { "is" } else { "are" };
            let what = format!("the last {gone} of {} messages {are} gone", counts[0]);
            causes.push(("messages", what));
        }
        if let Some(parameter) = self.parameters.first() {
            causes.push(("parameters", format!("{parameter} changed")));
        }
        let [gone, new] = &self.marks;
        let is_fixed = |mark: &&String| !mark.starts_with("messages");
        let blocks = self.blocks_between_marks;
        causes.extend(
            match (gone.iter().find(is_fixed), new.iter().find(is_fixed)) {
                (Some(mark), _) => Some(format!("the breakpoint at {mark} is gone")),
                (_, Some(mark)) => Some(format!("the breakpoint at {mark} is new")),
                _ if new.is_empty() && !gone.is_empty() => Some("no breakpoint is left".to_owned()),
                _ => (blocks > LOOKBACK)
                    .then(|| format!("the last breakpoint moved by {blocks} blocks")),
            }
            .map(|cause| ("breakpoints", cause)),
        );
        causes
    }
}

impl ToolsDifference {
    fn cause(&self) -> Option<String> {
        let groups = [
            (&self.added, "added"),
            (&self.removed, "removed"),
            (&self.changed, "changed"),
        ];
        let named = groups.into_iter().find_map(|(names, what)| {
            let (name, others) = names.split_first()?;
            let more = match others.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Some(format!("tool {name}{more} {what}"))
        });
        named.or_else(|| {
            self.moved
                .then(|| "tools stand in another order".to_owned())
        })
    }
}

fn text_at(value: &JsValue<'_>, key: &str) -> String {
    value
        .get(key)
        .and_then(JsValue::as_text)
        .unwrap_or_default()
}

fn elements<'v, 'a>(body: &'v JsValue<'a>, key: &str) -> &'v [JsValue<'a>] {
    body.get(key).map_or(&[], JsValue::elements)
}

/// A value's bytes without breakpoints, which say nothing of its content.
fn plain(value: Option<&JsValue<'_>>) -> Option<String> {
    let mut text = String::new();
    value?.write(&mut text, KeyOrder::Kept, Some(MARK));
    Some(text)
}

fn tools(old: &[JsValue<'_>], new: &[JsValue<'_>]) -> ToolsDifference {
    let named = |tool: &JsValue<'_>| {
        let name = ["name", "type"].map(|key| text_at(tool, key));
        name.into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default()
    };
    let [old, new] = [old, new].map(|tools| {
        let tools = tools.iter().map(|tool| (named(tool), plain(Some(tool))));
        tools.collect::<Vec<_>>()
    });
    let mut found = ToolsDifference::default();
    let mut order = Vec::new();
    for (name, tool) in &new {
        match old.iter().position(|(other, _)| other == name) {
            None => found.added.push(name.clone()),
            Some(at) => {
                order.push(at);
                if old[at].1 == *tool {
                    found.same += 1;
                } else {
                    found.changed.push(name.clone());
                }
            }
        }
    }
    let is_gone = |name: &&String| !new.iter().any(|(other, _)| other == *name);
    let gone = old.iter().map(|(name, _)| name).filter(is_gone);
    found.removed = gone.cloned().collect();
    found.moved = !order.is_sorted();
    found
}

/// The system prompt's texts: a string is one block.
fn blocks(system: Option<&JsValue<'_>>) -> Vec<[String; 2]> {
    let block = |block: &JsValue<'_>| {
        [
            text_at(block, "text"),
            plain(Some(block)).unwrap_or_default(),
        ]
    };
    match system {
        None => Vec::new(),
        Some(text) if text.is_text() => {
            let text = text.as_text().unwrap_or_default();
            vec![[text.clone(), text]]
        }
        Some(list) => list.elements().iter().map(block).collect(),
    }
}

fn system(old: Option<&JsValue<'_>>, new: Option<&JsValue<'_>>) -> Vec<SystemDifference> {
    let (old, new) = (blocks(old), blocks(new));
    let others = (0..old.len().max(new.len())).filter(|at| {
        let [old, new] = [&old, &new].map(|blocks| blocks.get(*at).map(|[_, whole]| whole));
        old != new
    });
    let difference = |at: usize| {
        let lines = |blocks: &[[String; 2]]| {
            let text = blocks.get(at).map_or("", |[text, _]| text);
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let [old, new] = [lines(&old), lines(&new)];
        let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        SystemDifference {
            block: at as u64,
            line: same as u64 + 1,
            texts: [old.get(same).cloned(), new.get(same).cloned()],
        }
    };
    others.map(difference).collect()
}

/// A message without breakpoints, as it is compared.
fn message(text: &str) -> Option<JsValue<'_>> {
    let mut message = JsValue::of(text)?;
    as_blocks(&mut message);
    Some(message)
}

fn messages(old: &[JsValue<'_>], new: &[JsValue<'_>]) -> MessagesDifference {
    let texts = |messages: &[JsValue<'_>]| -> Vec<String> {
        messages.iter().filter_map(|it| plain(Some(it))).collect()
    };
    let texts = [texts(old), texts(new)];
    let pairs = texts[0].iter().zip(&texts[1]);
    let mut pairs = pairs.map(|(old, new)| [message(old), message(new)]);
    let same = pairs.position(|[old, new]| old != new);
    let path_of = |at: usize| path(&message(&texts[0][at])?, &message(&texts[1][at])?);
    MessagesDifference {
        same: same.unwrap_or(old.len().min(new.len())) as u64,
        counts: [old.len() as u64, new.len() as u64],
        path: same.map(|at| path_of(at).unwrap_or_default()),
    }
}

/// Where two values begin to differ, in the order in which the second is written.
fn path(old: &JsValue<'_>, new: &JsValue<'_>) -> Option<String> {
    if old == new {
        return None;
    }
    let inner = match (old, new) {
        (JsValue::List(old), JsValue::List(new)) => {
            let at = old.iter().zip(new).take_while(|(a, b)| a == b).count();
            let below = old.get(at).zip(new.get(at)).and_then(|(a, b)| path(a, b));
            format!("[{at}]{}", below.unwrap_or_default())
        }
        (JsValue::Object(old), JsValue::Object(new)) => {
            let at = old.iter().zip(new).take_while(|(a, b)| a == b).count();
            match (old.get(at), new.get(at)) {
                (Some((key, a)), Some((other, b))) if key == other => {
                    format!(
                        ".{}{}",
                        key.trim_matches('"'),
                        path(a, b).unwrap_or_default()
                    )
                }
                (Some((key, _)), _) | (_, Some((key, _))) => format!(".{}", key.trim_matches('"')),
                (None, None) => String::new(),
            }
        }
        _ => String::new(),
    };
    Some(inner)
}

fn byte(texts: &[String; 2], old: &JsValue<'_>, new: &JsValue<'_>) -> Option<ByteDifference> {
    let [a, b] = [&texts[0], &texts[1]].map(|text| text.as_bytes());
    if a == b {
        return None;
    }
    let at = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let path = path(old, new).unwrap_or_default();
    Some(ByteDifference {
        at: at as u64,
        sizes_bytes: [a.len() as u64, b.len() as u64],
        path: path.trim_start_matches('.').to_owned(),
    })
}

/// Where breakpoints stand: `system[1]`, `messages[7].content[0] 1h`.
fn marks(body: &JsValue<'_>) -> Vec<String> {
    fn walk(value: &JsValue<'_>, path: &str, found: &mut Vec<String>) {
        for (at, element) in value.elements().iter().enumerate() {
            walk(element, &format!("{path}[{at}]"), found);
        }
        for (key, member) in value.members() {
            match key.trim_matches('"') {
                MARK => {
                    let life = member.get("ttl").and_then(JsValue::as_text);
                    found.push(format!(
                        "{path}{}",
                        life.map_or_else(String::new, |it| format!(" {it}"))
                    ));
                }
                // What stands there is the model's or the user's.
                "input" | "input_schema" => {}
                key => walk(member, &format!("{path}.{key}"), found),
            }
        }
    }
    let mut found = Vec::new();
    for part in &PARTS[1..] {
        if let Some(value) = body.get(part) {
            walk(value, part, &mut found);
        }
    }
    found
}

/// The message and the block of the last breakpoint in messages.
fn last_mark(body: &JsValue<'_>) -> Option<(usize, usize)> {
    let messages = elements(body, "messages").iter().enumerate().rev();
    let mut marks = messages.filter_map(|(at, message)| {
        let block = elements(message, "content")
            .iter()
            .rposition(|block| block.get(MARK).is_some());
        Some((at, block?))
    });
    marks.next()
}

fn blocks_between(
    body: &JsValue<'_>,
    old: Option<(usize, usize)>,
    new: Option<(usize, usize)>,
) -> u64 {
    let (Some(old), Some(new)) = (old, new) else {
        return 0;
    };
    let messages = elements(body, "messages");
    let place = |(message, block): (usize, usize)| {
        let before = messages.iter().take(message);
        let before = before.map(|it| elements(it, "content").len().max(1));
        before.sum::<usize>() + block
    };
    place(new).saturating_sub(place(old)) as u64
}

#[cfg(test)]
mod tests;
