//! Answers as text for a model: short, and with the ids by which it can ask for more. What they quote stands behind a
//! margin, or folded on a line with an id ([`tract::model::quote`]).

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Value, json};
use tract::deeds::{
    Act, ApiError, CostAnswer, DroppedAnswer, DroppedText, ELSEWHERE, FoundMessage, ReadAnswer,
    ReadMessage, RunningFacts, StatusAnswer,
};
use tract::model::quote::{MARGIN, folded, headed, quoted, unframed};
use tract::model::server_tools::{Hosted, hosted};
use tract::model::{MediaSource, Millis, Part, Speaker};
use tract::render::{Calendar, grouped, percent, percent_of, plural};

use super::answers::{
    AnswerPart, CacheAge, CostSoFar, DoneCall, DoneCalls, Fullness, LargestPiece, ReadPage,
    ReadPiece, Recalled, RecalledMessage, RecalledRetraction, Removed, RemovedFile, RemovedText,
    RoleShare, RunningEntry, as_json,
};
use super::reach::{Group, IDS};
use crate::cli::drawing::cache::duration;
use crate::cli::drawing::prices::money;

/// How long an answer may be, in bytes, unless more is asked for.
const ANSWER_BYTES: usize = 4_000;
/// How many messages a search tells.
pub const FOUND: usize = 12;
/// How many calls are told.
pub const ACTS: usize = 10;
/// How long a line of a found message may be.
const LINE_CHARS: usize = 200;
/// How many prompts, files and commands of a compaction are told.
const DROPPED: usize = 12;

/// What a tool says.
#[derive(Default)]
pub struct Told {
    pub text: String,
    /// The pictures that the text names, in their order.
    pub pictures: Vec<Picture>,
    /// The same as data, by the tool's type of answer.
    pub data: Map<String, Value>,
}

impl Told {
    pub fn new(text: String, answer: &impl Serialize) -> Self {
        Self {
            text,
            pictures: Vec::new(),
            data: as_json(answer),
        }
    }

    /// That there is nothing to tell, and why.
    pub fn only<T: Serialize + Default>(what: impl Into<String>) -> Self {
        let mut told = Self::new(String::new(), &T::default());
        told.note(what.into());
        told
    }

    /// What else there is to say, on a line of its own.
    pub fn note(&mut self, line: String) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text += &line;
        let notes = self.data.entry("notes").or_insert_with(|| json!([]));
        if let Some(notes) = notes.as_array_mut() {
            notes.push(line.into());
        }
    }
}

/// A picture that a model can be shown.
pub struct Picture {
    pub media_type: String,
    /// Its bytes, as Base64.
    pub data: String,
}

/// What pictures are shown as such.
///
/// # Source
///
/// The kinds that the models of all three large providers read: platform.claude.com/docs, "Vision".
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// How large a picture may be, as Base64: Anthropic refuses a larger one.
const PICTURE_BYTES: usize = 5 << 20;
/// How many pictures stand on a page.
const PICTURES_MOST: usize = 4;

impl Picture {
    /// A picture, if it is here and may be shown.
    fn of(part: &Part) -> Option<Self> {
        let Part::Image(media) = part else {
            return None;
        };
        let MediaSource::Base64(data) = &media.source else {
            return None;
        };
        let media_type = media.media_type.clone()?;
        let is_shown = PICTURES.contains(&&*media_type) && data.len() <= PICTURE_BYTES;
        is_shown.then(|| Self {
            media_type,
            data: data.clone(),
        })
    }
}

/// An error in the agent's words, and what to do about it: it has tools and no shell, and the names that are nearest
/// may be those of other projects.
pub fn error(error: &ApiError) -> String {
    let fact = |name: &str| error.facts.get(name);
    let text = fact("text").and_then(|text| text.as_str());
    let text = folded(text.unwrap_or_default());
    let (message, hint) = match error.kind.as_str() {
        "unknown_revision" | ELSEWHERE if !text.is_empty() => {
            (format!("there is no message '{text}'"), Some(IDS))
        }
        // What these say more may be of another project.
        "beyond_first" | "not_on_path" | "no_message" | ELSEWHERE => {
            ("there is no such message here".to_owned(), Some(IDS))
        }
        "ambiguous_revision" => {
            let what = format!("several ids begin with '{text}'");
            (what, Some("give more of it"))
        }
        "no_such_message" => {
            let what = match fact("messages").and_then(serde_json::Value::as_u64) {
                Some(last) if last > 0 && text.starts_with(':') => {
                    format!("there is no message '{text}': they go from :1 to :{last}")
                }
                _ => format!("there is no message '{text}'"),
            };
            (what, None)
        }
        // What else there is may be of another project.
        "unknown_name" => (folded(&error.message), None),
        "empty_branch" => ("nothing was said in this conversation yet".to_owned(), None),
        "detached_head" => {
            let what = "this conversation is looked at as it was earlier, and cannot be changed";
            (what.to_owned(), None)
        }
        _ => {
            let hint = error.hint.as_deref();
            let is_shell = |hint: &&str| ["tract ", "--", "`"].iter().any(|it| hint.contains(it));
            (folded(&error.message), hint.filter(|hint| !is_shell(hint)))
        }
    };
    match hint {
        Some(hint) => format!("{message} ({hint})"),
        None => message,
    }
}

/// The beginning of a hash: enough to name it.
pub fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// A message's name without what stands behind its hash being lost.
fn name(id: &str) -> String {
    match id.split_once('#') {
        Some((hash, rest)) => format!("{}#{rest}", short(hash)),
        None => short(id).to_owned(),
    }
}

fn time(time_ms: Option<i64>, calendar: &Calendar) -> String {
    match time_ms {
        Some(time) => calendar.absolute(Millis(time)),
        None => "no time".to_owned(),
    }
}

/// A text on one line, cut.
fn line(text: &str, chars: usize) -> String {
    let mut folded = folded(text);
    if let Some((at, _)) = folded.char_indices().nth(chars) {
        folded.truncate(at);
        folded.push('…');
    }
    folded
}

/// A text that grows as long as there is room; what has none is counted.
struct Room {
    text: String,
    left_out: usize,
}

impl Room {
    fn new(text: String) -> Self {
        Self { text, left_out: 0 }
    }

    /// Takes a piece in, if nothing was left out before.
    fn takes(&mut self, piece: &str) -> bool {
        let is_full = self.left_out > 0 || self.text.len() + piece.len() > ANSWER_BYTES;
        if is_full {
            self.left_out += 1;
        } else {
            self.text += piece;
        }
        !is_full
    }

    /// The whole, with how many were left out, and how to get more.
    fn told(self, is_more: bool, how: &str) -> String {
        let mut told = self.text;
        match (self.left_out, is_more) {
            (0, false) => {}
            (0, true) => drop(write!(told, "\n(there are more{how})")),
            (left, false) => drop(write!(told, "\n({left} more{how})")),
            (left, true) => drop(write!(told, "\n({left} more, and others{how})")),
        }
        told
    }
}

/// Groups under their headings, as many of each as there is room for, as text and as data.
fn under_headings<T, A>(
    groups: &[Group<T>],
    more: &str,
    one: impl Fn(&T) -> (String, A),
) -> (Room, Vec<AnswerPart<A>>) {
    let (mut room, mut parts) = (Room::new(String::new()), Vec::new());
    for group in groups.iter().filter(|group| !group.found.is_empty()) {
        let end = if parts.is_empty() { "" } else { "\n" };
        let mut heading = format!("{end}In {}{more}:", group.heading);
        let mut part = AnswerPart {
            of: group.heading.clone(),
            found: Vec::new(),
        };
        for found in &group.found {
            let (piece, data) = one(found);
            if room.takes(&(std::mem::take(&mut heading) + &piece)) {
                part.found.push(data);
            }
        }
        if !part.found.is_empty() {
            parts.push(part);
        }
    }
    (room, parts)
}

/// What a search found, by where it stands.
pub fn found(groups: &[Group<FoundMessage>], is_more: bool, calendar: &Calendar) -> Told {
    let (room, parts) = under_headings(groups, "; read an id for more", |one| {
        let one = recalled(one, calendar);
        (one_found(&one), one)
    });
    let answer = Recalled {
        parts,
        left_out: room.left_out,
        more: is_more,
        notes: Vec::new(),
    };
    let text = room.told(is_more, "; narrow it with other words or since");
    Told::new(text, &answer)
}

fn recalled(one: &FoundMessage, calendar: &Calendar) -> RecalledMessage {
    let taken_back = one.taken_back.as_ref().map(|back| RecalledRetraction {
        time: back.time_ms.map(|_| time(back.time_ms, calendar)),
        id: back.id.as_deref().map(name),
        instead: back.instead.as_deref().map(|it| line(it, LINE_CHARS / 2)),
    });
    let lines = one.lines.iter().take(2);
    RecalledMessage {
        id: name(&one.id),
        time: time(one.time_ms, calendar),
        role: if one.injected {
            Speaker::INJECTED
        } else {
            one.role
        },
        hidden_by: one.hidden_by,
        taken_back,
        lines: lines.map(|text| line(text, LINE_CHARS)).collect(),
    }
}

fn one_found(one: &RecalledMessage) -> String {
    let hidden = match one.hidden_by {
        Some(by) => format!(", hidden ({by})"),
        None => String::new(),
    };
    let mut piece = format!("\n{}  {}  {}{hidden}", one.id, one.time, one.role);
    if let Some(back) = &one.taken_back {
        piece += ", taken back";
        if let Some(when) = &back.time {
            let _ = write!(piece, " on {when}");
        }
        if let (Some(id), Some(instead)) = (&back.id, &back.instead) {
            let _ = write!(piece, "; chosen instead: {id}  {instead}");
        }
    }
    for text in &one.lines {
        let _ = write!(piece, "\n  {text}");
    }
    piece
}

/// A line of messages that are told word for word.
struct Row<'a> {
    /// The line, behind the margin unless it is tract's own.
    text: String,
    /// The message that it belongs to.
    of: &'a ReadMessage,
    /// Whether it is the one that says whose words follow.
    is_head: bool,
    /// The pictures of the part whose last line it is.
    pictures: Vec<Picture>,
}

/// A page on its way.
#[derive(Default)]
struct Page<'a> {
    text: String,
    pictures: Vec<Picture>,
    /// What of each message is on it.
    messages: Vec<(&'a ReadMessage, String)>,
}

/// Messages word for word, a page of them.
pub fn read(read: &ReadAnswer, page: usize, calendar: &Calendar) -> Told {
    let rows = read
        .messages
        .iter()
        .flat_map(|message| rows(message, calendar));
    let mut pages = vec![Page::default()];
    for row in rows {
        let last = pages.last().expect("there is one");
        let has_room = last.text.len() + row.text.len() <= ANSWER_BYTES
            && last.pictures.len() + row.pictures.len() <= PICTURES_MOST;
        if !has_room && !last.text.is_empty() {
            // Whose words they are stands above them on each page.
            let text = match row.is_head {
                true => String::new(),
                false => head(row.of, "continued"),
            };
            pages.push(Page {
                text,
                ..Page::default()
            });
        }
        let last = pages.last_mut().expect("there is one");
        last.text += &row.text;
        last.pictures.extend(row.pictures);
        match last.messages.last_mut() {
            Some((of, said)) if std::ptr::eq(*of, row.of) => *said += &row.text,
            _ => {
                let said = if row.is_head { String::new() } else { row.text };
                last.messages.push((row.of, said));
            }
        }
    }
    let (page, count) = (page.max(1), pages.len());
    let mut answer = ReadPage {
        page,
        pages: count,
        ..ReadPage::default()
    };
    if page > count {
        let mut told = Told::new(String::new(), &answer);
        told.note(match count {
            1 => "There is 1 page.".to_owned(),
            _ => format!("There are {count} pages."),
        });
        return told;
    }
    let Page {
        mut text,
        pictures,
        messages,
    } = pages.swap_remove(page - 1);
    let messages = messages.into_iter().map(|(of, said)| ReadPiece {
        id: name(&of.id),
        number: of.number,
        role: of.message.role.as_str(),
        time: time(of.time_ms, calendar),
        text: said.trim_end().to_owned(),
    });
    answer.messages = messages.collect();
    text.truncate(text.trim_end().len());
    if count > 1 {
        let _ = write!(text, "\n(page {page} of {count})");
    }
    Told {
        pictures,
        ..Told::new(text, &answer)
    }
}

/// A message in lines: its head, what it says, an empty one.
fn rows<'a>(of: &'a ReadMessage, calendar: &Calendar) -> Vec<Row<'a>> {
    let row = |text: String| Row {
        text,
        of,
        is_head: false,
        pictures: Vec::new(),
    };
    let mut rows = vec![Row {
        is_head: true,
        ..row(head(of, &time(of.time_ms, calendar)))
    }];
    for one in &of.message.parts {
        let text = part(one) + "\n";
        rows.extend(text.split_inclusive('\n').flat_map(pieces).map(row));
        let last = rows.last_mut().expect("there is the head");
        last.pictures = pictures(one);
    }
    rows.push(row("\n".to_owned()));
    rows
}

/// The pictures of a part that may be shown.
fn pictures(part: &Part) -> Vec<Picture> {
    match part {
        Part::ToolResult { content, .. } => content.iter().flat_map(pictures).collect(),
        part => Picture::of(part).into_iter().collect(),
    }
}

/// A line in pieces that have room on a page, each behind the margin.
fn pieces(line: &str) -> Vec<String> {
    let (mut pieces, mut rest, mut margin) = (Vec::new(), line, "");
    while rest.len() > ANSWER_BYTES {
        let cut = rest.floor_char_boundary(ANSWER_BYTES - MARGIN.len() - 1);
        pieces.push(format!("{margin}{}\n", &rest[..cut]));
        (rest, margin) = (&rest[cut..], MARGIN);
    }
    pieces.push(format!("{margin}{rest}"));
    pieces
}

/// `[3f2a91c04b7e :9 user, 2026-01-31 10:12]`.
fn head(read: &ReadMessage, when: &str) -> String {
    let place = match read.number {
        Some(number) => format!(":{number}"),
        None => "hidden".to_owned(),
    };
    format!(
        "[{} {place} {}, {when}]\n",
        name(&read.id),
        read.message.role
    )
}

fn part(part: &Part) -> String {
    match part {
        Part::Text { text } => quoted(text, MARGIN),
        Part::Thinking { text, .. } => headed("(thinking)", text),
        Part::ToolCall {
            name, arguments, ..
        } => headed(&format!("(calls {})", folded(name)), arguments),
        Part::ToolResult { content, .. } => {
            let what = if part.has_failed() {
                "(error)"
            } else {
                "(result)"
            };
            let content: Vec<String> = content.iter().map(self::part).collect();
            // Its text begins on the line that says what it is.
            let told = format!("{what} {}", content.join("\n").trim_start());
            told.trim_end().to_owned()
        }
        Part::Image(media) | Part::File(media) => {
            let what = media.name.as_deref().or(media.media_type.as_deref());
            format!("({})", folded(what.unwrap_or("file")))
        }
        Part::Opaque { provider, data } => match hosted(data) {
            Some(Hosted { call, gave }) => {
                let asked = call.map(|(name, arguments)| {
                    headed(&format!("(calls {})", folded(&name)), &arguments)
                });
                let gave = gave.iter().map(|text| headed("(result)", text));
                asked.into_iter().chain(gave).collect::<Vec<_>>().join("\n")
            }
            None => format!("(sealed, for {} alone)", folded(provider)),
        },
    }
}

/// What a compaction hid.
pub fn dropped(dropped: &DroppedAnswer, of: &str, calendar: &Calendar) -> Told {
    let mut answer = Removed {
        of: of.to_owned(),
        ..Removed::default()
    };
    let (Some(commit), Some(kind)) = (&dropped.commit, dropped.kind) else {
        return Told::new(format!("Nothing was removed from {of}."), &answer);
    };
    let (id, when) = (short(commit).to_owned(), time(dropped.time_ms, calendar));
    let (messages, tokens) = (
        plural(dropped.messages as u64, "message"),
        grouped(dropped.tokens),
    );
    let mut room = Room::new(format!(
        "In {of}: {kind} {id} at {when} hid {messages}, {tokens} tokens. Each id can be read."
    ));
    (answer.id, answer.kind, answer.time) = (Some(id), Some(kind), Some(when));
    (answer.messages, answer.tokens) = (dropped.messages, dropped.tokens);

    let mut left_out = 0;
    // The newest matter most.
    let removed = |one: &DroppedText, chars| RemovedText {
        id: name(&one.id),
        text: line(&one.text, chars),
    };
    let mut heading = "\nThe user said:".to_owned();
    for one in newest(&dropped.prompts, &mut left_out) {
        let one = removed(one, LINE_CHARS);
        let piece = format!("\n  {}  {}", one.id, one.text);
        if room.takes(&(std::mem::take(&mut heading) + &piece)) {
            answer.prompts.push(one);
        }
    }
    let mut files: Vec<_> = dropped.files.iter().collect();
    files.sort_by_key(|file| {
        (
            std::cmp::Reverse(file.changed),
            std::cmp::Reverse(file.read),
        )
    });
    left_out += files.len().saturating_sub(DROPPED);
    let mut heading = "\nFiles (changed, read):".to_owned();
    for file in files.into_iter().take(DROPPED) {
        let file = RemovedFile {
            id: name(&file.id),
            path: line(&file.path, LINE_CHARS),
            changed: file.changed,
            read: file.read,
        };
        let piece = format!(
            "\n  {}  {} ({}, {})",
            file.id, file.path, file.changed, file.read
        );
        if room.takes(&(std::mem::take(&mut heading) + &piece)) {
            answer.files.push(file);
        }
    }
    let mut heading = "\nCommands:".to_owned();
    for one in newest(&dropped.commands, &mut left_out) {
        let one = removed(one, LINE_CHARS / 2);
        let piece = format!("\n  {}  {}", one.id, one.text);
        if room.takes(&(std::mem::take(&mut heading) + &piece)) {
            answer.commands.push(one);
        }
    }
    room.left_out += left_out;
    answer.left_out = room.left_out;
    Told::new(room.told(false, "; recall finds them"), &answer)
}

/// The last of some texts, the newest first; the others are counted.
fn newest<'a>(
    texts: &'a [DroppedText],
    left_out: &mut usize,
) -> impl Iterator<Item = &'a DroppedText> {
    *left_out += texts.len().saturating_sub(DROPPED);
    texts.iter().rev().take(DROPPED)
}

/// What was done, by where.
pub fn did(groups: &[Group<Act>], is_more: bool, calendar: &Calendar) -> Told {
    let (room, parts) = under_headings(groups, ", newest first; read an id for more", |one| {
        let one = done_call(one, calendar);
        (act(&one), one)
    });
    let answer = DoneCalls {
        parts,
        left_out: room.left_out,
        more: is_more,
        notes: Vec::new(),
    };
    Told::new(room.told(is_more, "; say more of what is meant"), &answer)
}

fn done_call(act: &Act, calendar: &Calendar) -> DoneCall {
    DoneCall {
        id: name(&act.id),
        time: time(act.time_ms, calendar),
        call: line(&act.call, LINE_CHARS),
        lines_added: act.lines.map(|(came, _)| came),
        lines_removed: act.lines.map(|(_, went)| went),
        result: act.result.as_deref().map(|it| line(it, LINE_CHARS)),
        is_error: act.is_error,
        next: act.next.as_deref().map(|it| line(it, LINE_CHARS)),
    }
}

fn act(act: &DoneCall) -> String {
    let mut told = format!("\n{}  {}  {}", act.id, act.time, act.call);
    if let (Some(came), Some(went)) = (act.lines_added, act.lines_removed) {
        let _ = write!(told, " (+{came} −{went})");
    }
    if let Some(result) = &act.result {
        let what = if act.is_error { "error" } else { "result" };
        let _ = write!(told, "\n  {what}: {result}");
    }
    if let Some(next) = &act.next {
        let _ = write!(told, "\n  then: {next}");
    }
    told
}

/// What was started in the background and has no end in the record: before it is started again.
pub fn running(running: &[RunningFacts], calendar: &Calendar) -> String {
    if running.is_empty() {
        return String::new();
    }
    let mut told = "\nStarted in the background, with no end in the record".to_owned();
    let stale = running.iter().find(|work| work.is_stale);
    told += &match stale {
        Some(work) => {
            let last = time(work.last_record_ms, calendar);
            format!(" (last message {last}; whether they still run is not known):")
        }
        None => " (look before you start it again):".to_owned(),
    };
    let (works, left) = running_works(running, calendar);
    for work in works {
        let RunningEntry {
            kind,
            id,
            agent,
            since,
            is_stale: _,
            what,
        } = work;
        let of = agent.map_or_else(String::new, |agent| format!(" of agent {agent}"));
        let _ = write!(told, "\n  {kind} {id}{of}, since {since}: {what}");
    }
    if left > 0 {
        let _ = write!(told, "\n  ({left} more, older)");
    }
    told
}

/// The newest, and how many older ones there are.
fn running_works(running: &[RunningFacts], calendar: &Calendar) -> (Vec<RunningEntry>, usize) {
    let left = running.len().saturating_sub(RUNNING);
    let name = |id: &str| line(&unframed(id), LINE_CHARS / 4);
    let work = |work: &RunningFacts| RunningEntry {
        kind: work.kind.to_owned(),
        id: name(&work.id),
        agent: work.agent.as_deref().map(name),
        since: time(work.since_ms, calendar),
        is_stale: work.is_stale,
        what: line(&unframed(&work.what), LINE_CHARS),
    };
    (running[left..].iter().map(work).collect(), left)
}

/// How much work in the background is told.
const RUNNING: usize = 8;

/// How full a context is, and what it costs.
pub fn context(status: &StatusAnswer, cost: Option<&CostAnswer>, calendar: &Calendar) -> Told {
    let (works, running_left_out) = running_works(&status.running, calendar);
    let used = used_tokens(status);
    let sum: u64 = status.by_role.iter().map(|(_, tokens)| tokens).sum();
    let share = |(role, tokens): &(&'static str, u64)| RoleShare {
        role,
        percent: percent_of(*tokens, sum),
    };
    let cost = cost.filter(|cost| cost.total.replies > 0);
    let answer = Fullness {
        messages: status.messages,
        hidden: status.hidden,
        tokens: status.tokens.tokens,
        provider_tokens: status.provider_tokens,
        budget: status.budget,
        budget_percent: status.budget.map(|budget| percent_of(used, budget)),
        filled_by: status.by_role.iter().map(share).collect(),
        largest: status.largest.as_ref().map(|largest| LargestPiece {
            number: largest.number,
            tokens: largest.tokens.tokens,
            what: line(largest.answers.as_deref().unwrap_or(&largest.preview), 80),
        }),
        cache: status.cache.as_ref().map(|cache| CacheAge {
            is_cold: cache.is_cold,
            last_used: duration(cache.age_ms),
            kept_for: duration(cache.life_ms),
        }),
        running: works,
        running_left_out,
        cost: cost.map(|cost| CostSoFar {
            dollars: money(cost.total.dollars),
            replies: cost.total.replies,
            unpriced: cost.total.unpriced,
            short_outputs: cost.total.short_outputs,
        }),
        notes: Vec::new(),
    };
    let text = fullness(&answer, status, &running(&status.running, calendar));
    Told::new(text, &answer)
}

/// The tokens of a context, by the provider's count where that is known.
fn used_tokens(status: &StatusAnswer) -> u64 {
    let most = status.provider_tokens.map(|(_, most)| most);
    most.unwrap_or(status.tokens.tokens)
}

fn fullness(answer: &Fullness, status: &StatusAnswer, running: &str) -> String {
    let mut told = format!(
        "{}, {} hidden; {} tokens",
        plural(answer.messages, "message"),
        grouped(answer.hidden),
        grouped(answer.tokens)
    );
    if let Some((least, most)) = answer.provider_tokens {
        let (few, many) = (grouped(least), grouped(most));
        let range = if least == most {
            few
        } else {
            format!("{few} to {many}")
        };
        let _ = write!(told, ", {range} by the provider's count");
    }
    if let Some(budget) = status.budget {
        let used = percent(used_tokens(status), budget);
        let _ = write!(told, "; budget {}, {used} used", grouped(budget));
    }
    let sum = status.by_role.iter().map(|(_, tokens)| tokens).sum();
    let shares = status.by_role.iter();
    let shares = shares.map(|(role, tokens)| format!("{role} {}", percent(*tokens, sum)));
    let _ = write!(
        told,
        "\nFilled by: {}",
        shares.collect::<Vec<_>>().join(", ")
    );
    if let Some(LargestPiece {
        number,
        tokens,
        what,
    }) = &answer.largest
    {
        let tokens = grouped(*tokens);
        let _ = write!(told, "; largest :{number}, {tokens} tokens: {what}");
    }
    if let Some(cache) = &answer.cache {
        let state = if cache.is_cold { "cold" } else { "warm" };
        let _ = write!(
            told,
            "\nCache: {state}; last used {} ago, kept for {}",
            cache.last_used, cache.kept_for
        );
    }
    told += running;
    if let Some(cost) = &answer.cost {
        let (dollars, replies) = (&cost.dollars, grouped(cost.replies));
        let _ = write!(
            told,
            "\nCost so far: {dollars} for {replies} replies, at list prices"
        );
        if cost.unpriced > 0 {
            let _ = write!(told, "; {} more have no price", grouped(cost.unpriced));
        }
        if cost.short_outputs > 0 {
            let short = grouped(cost.short_outputs);
            let _ = write!(
                told,
                "; at least, for {short} are recorded with less output than their text has"
            );
        }
    }
    told
}
