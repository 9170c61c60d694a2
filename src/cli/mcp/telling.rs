//! Answers as text for a model: short, and with the ids by which it can ask for more. What they quote stands behind a
//! margin, or folded on a line with an id ([`tract::model::quote`]).

use std::fmt::Write;

use tract::deeds::{
    Act, ApiError, CostAnswer, DroppedAnswer, ELSEWHERE, FoundMessage, ReadAnswer, ReadMessage,
    RunningFacts, StatusAnswer,
};
use tract::model::hosted::{Hosted, hosted};
use tract::model::quote::{MARGIN, folded, headed, quoted, unframed};
use tract::model::{MediaSource, Millis, Part};
use tract::render::{Calendar, grouped, plural};

use super::reach::Group;
use crate::cli::cache::duration;
use crate::cli::prices::money;

/// How long an answer may be, in bytes, unless more is asked for.
const ANSWER_BYTES: usize = 4_000;
/// How many messages a search tells.
pub const FOUND: usize = 12;
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
}

/// A picture that a model can be shown.
pub struct Picture {
    pub media_type: String,
    /// Its bytes, as Base64.
    pub data: String,
}

impl From<String> for Told {
    fn from(text: String) -> Self {
        let pictures = Vec::new();
        Self { text, pictures }
    }
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
        "beyond_first" | "not_on_path" | ELSEWHERE => {
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

/// Where an agent has ids from.
const IDS: &str =
    "recall, did and dropped tell ids; :7 is the seventh message of this conversation";

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

/// Pieces one after the other, as many as there is room for; the others are counted.
fn within(head: String, pieces: impl IntoIterator<Item = String>, more: &str) -> String {
    let (mut told, mut left) = (head, 0);
    for piece in pieces {
        if left > 0 || told.len() + piece.len() > ANSWER_BYTES {
            left += 1;
            continue;
        }
        told += &piece;
    }
    if left > 0 {
        let _ = write!(told, "\n({left} more{more})");
    }
    told
}

/// Groups under their headings, each piece of the others behind the first with its heading.
fn under_headings<T>(groups: &[Group<T>], more: &str, one: impl Fn(&T) -> String) -> Vec<String> {
    let mut pieces = Vec::new();
    for group in groups.iter().filter(|group| !group.found.is_empty()) {
        let end = if pieces.is_empty() { "" } else { "\n" };
        let mut heading = format!("{end}In {}{more}:", group.heading);
        for found in &group.found {
            pieces.push(std::mem::take(&mut heading) + &one(found));
        }
    }
    pieces
}

/// What a search found, by where it stands.
pub fn found(groups: &[Group<FoundMessage>], calendar: &Calendar) -> String {
    let pieces = under_headings(groups, "; read an id for more", |one| {
        one_found(one, calendar)
    });
    within(
        String::new(),
        pieces,
        "; narrow it with other words or since",
    )
}

fn one_found(one: &FoundMessage, calendar: &Calendar) -> String {
    let hidden = match one.hidden_by {
        Some(by) => format!(", hidden ({by})"),
        None => String::new(),
    };
    let mut piece = format!(
        "\n{}  {}  {}{hidden}",
        name(&one.id),
        time(one.time_ms, calendar),
        one.role
    );
    if let Some(back) = &one.taken_back {
        piece += ", taken back";
        if let Some(when) = back.time_ms {
            let _ = write!(piece, " on {}", time(Some(when), calendar));
        }
        if let (Some(id), Some(instead)) = (&back.id, &back.instead) {
            let instead = line(instead, LINE_CHARS / 2);
            let _ = write!(piece, "; chosen instead: {}  {instead}", name(id));
        }
    }
    for text in one.lines.iter().take(2) {
        let _ = write!(piece, "\n  {}", line(text, LINE_CHARS));
    }
    piece
}

/// A line of messages that are told word for word.
struct Row<'a> {
    /// The line, behind the margin unless it is tract's own.
    text: String,
    /// The message that it belongs to.
    of: &'a ReadMessage,
    /// The pictures of the part whose last line it is.
    pictures: Vec<Picture>,
}

/// Messages word for word, a page of them.
pub fn read(read: &ReadAnswer, page: usize, calendar: &Calendar) -> Told {
    let rows = read
        .messages
        .iter()
        .flat_map(|message| rows(message, calendar));
    let mut pages = vec![Told::default()];
    for row in rows {
        let last = pages.last().expect("there is one");
        let has_room = last.text.len() + row.text.len() <= ANSWER_BYTES
            && last.pictures.len() + row.pictures.len() <= PICTURES_MOST;
        if !has_room && !last.text.is_empty() {
            // Whose words they are stands above them on each page.
            let is_head = row.text.starts_with('[');
            let head = if is_head {
                String::new()
            } else {
                head(row.of, "continued")
            };
            pages.push(Told::from(head));
        }
        let last = pages.last_mut().expect("there is one");
        last.text += &row.text;
        last.pictures.extend(row.pictures);
    }
    let (page, count) = (page.max(1), pages.len());
    if page > count {
        return match count {
            1 => "There is 1 page.".to_owned(),
            _ => format!("There are {count} pages."),
        }
        .into();
    }
    let mut told = pages.swap_remove(page - 1);
    told.text.truncate(told.text.trim_end().len());
    if count > 1 {
        let _ = write!(told.text, "\n(page {page} of {count})");
    }
    told
}

/// A message in lines: its head, what it says, an empty one.
fn rows<'a>(of: &'a ReadMessage, calendar: &Calendar) -> Vec<Row<'a>> {
    let row = |text: String| Row {
        text,
        of,
        pictures: Vec::new(),
    };
    let mut rows = vec![row(head(of, &time(of.time_ms, calendar)))];
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
        Part::ToolResult {
            content, is_error, ..
        } => {
            let what = if *is_error { "(error)" } else { "(result)" };
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
pub fn dropped(dropped: &DroppedAnswer, of: &str, calendar: &Calendar) -> String {
    let (Some(commit), Some(kind)) = (&dropped.commit, dropped.kind) else {
        return format!("Nothing was removed from {of}.");
    };
    let messages = plural(dropped.messages as u64, "message");
    let tokens = grouped(dropped.tokens);
    let when = time(dropped.time_ms, calendar);
    let head = format!(
        "In {of}: {kind} {} at {when} hid {messages}, {tokens} tokens. Each id can be read.",
        short(commit)
    );
    let mut pieces = Vec::new();
    if !dropped.prompts.is_empty() {
        pieces.push("\nThe user said:".to_owned());
    }
    // The newest matter most.
    for prompt in dropped.prompts.iter().rev().take(DROPPED) {
        pieces.push(format!(
            "\n  {}  {}",
            name(&prompt.id),
            line(&prompt.text, LINE_CHARS)
        ));
    }
    if !dropped.files.is_empty() {
        pieces.push("\nFiles (changed, read):".to_owned());
    }
    let mut files: Vec<_> = dropped.files.iter().collect();
    files.sort_by_key(|file| {
        (
            std::cmp::Reverse(file.changed),
            std::cmp::Reverse(file.read),
        )
    });
    for file in files.into_iter().take(DROPPED) {
        pieces.push(format!(
            "\n  {}  {} ({}, {})",
            name(&file.id),
            line(&file.path, LINE_CHARS),
            file.changed,
            file.read
        ));
    }
    if !dropped.commands.is_empty() {
        pieces.push("\nCommands:".to_owned());
    }
    for command in dropped.commands.iter().rev().take(DROPPED) {
        pieces.push(format!(
            "\n  {}  {}",
            name(&command.id),
            line(&command.text, LINE_CHARS / 2)
        ));
    }
    within(head, pieces, "; recall finds them")
}

/// What was done, by where.
pub fn did(groups: &[Group<Act>], calendar: &Calendar) -> String {
    let pieces = under_headings(groups, ", newest first; read an id for more", |one| {
        act(one, calendar)
    });
    within(String::new(), pieces, "")
}

fn act(act: &Act, calendar: &Calendar) -> String {
    let mut told = format!(
        "\n{}  {}  {}",
        name(&act.id),
        time(act.time_ms, calendar),
        line(&act.call, LINE_CHARS)
    );
    if let Some((came, went)) = act.lines {
        let _ = write!(told, " (+{came} −{went})");
    }
    if let Some(result) = &act.result {
        let what = if act.is_error { "error" } else { "result" };
        let _ = write!(told, "\n  {what}: {}", line(result, LINE_CHARS));
    }
    if let Some(next) = &act.next {
        let _ = write!(told, "\n  then: {}", line(next, LINE_CHARS));
    }
    told
}

/// What was started in the background and has no end in the record: before it is started again.
pub fn running(running: &[RunningFacts], calendar: &Calendar) -> String {
    if running.is_empty() {
        return String::new();
    }
    let mut told =
        "\nStarted in the background, with no end in the record (look before you start it again):"
            .to_owned();
    let left = running.len().saturating_sub(RUNNING);
    for work in &running[left..] {
        let (id, what) = (unframed(&work.id), unframed(&work.what));
        let (id, what) = (line(&id, LINE_CHARS / 4), line(&what, LINE_CHARS));
        let since = time(work.since_ms, calendar);
        let _ = write!(told, "\n  {} {id}, since {since}: {what}", work.kind);
    }
    if left > 0 {
        let _ = write!(told, "\n  ({left} more, older)");
    }
    told
}

/// How much work in the background is told.
const RUNNING: usize = 8;

/// How full a context is, and what it costs.
pub fn context(status: &StatusAnswer, cost: Option<&CostAnswer>, calendar: &Calendar) -> String {
    let mut told = format!(
        "{}, {} hidden; {} tokens",
        plural(status.messages, "message"),
        grouped(status.hidden),
        grouped(status.tokens.tokens)
    );
    if let Some((least, most)) = status.provider_tokens {
        let (few, many) = (grouped(least), grouped(most));
        let range = if least == most {
            few
        } else {
            format!("{few} to {many}")
        };
        let _ = write!(told, ", {range} by the provider's count");
    }
    if let Some(budget) = status.budget {
        let used = status
            .provider_tokens
            .map_or(status.tokens.tokens, |(_, most)| most);
        let _ = write!(
            told,
            "; budget {}, {}% used",
            grouped(budget),
            used * 100 / budget.max(1)
        );
    }
    let sum: u64 = status.by_role.iter().map(|(_, tokens)| tokens).sum();
    let shares = status.by_role.iter();
    let shares = shares.map(|(role, tokens)| format!("{role} {}%", tokens * 100 / sum.max(1)));
    let _ = write!(
        told,
        "\nFilled by: {}",
        shares.collect::<Vec<_>>().join(", ")
    );
    if let Some(largest) = &status.largest {
        let what = largest.answers.as_deref().unwrap_or(&largest.preview);
        let (number, tokens) = (largest.number, grouped(largest.tokens.tokens));
        let _ = write!(
            told,
            "; largest :{number}, {tokens} tokens: {}",
            line(what, 80)
        );
    }
    if let Some(cache) = &status.cache {
        let state = if cache.is_cold { "cold" } else { "warm" };
        let (age, life) = (duration(cache.age_ms), duration(cache.life_ms));
        let _ = write!(
            told,
            "\nCache: {state}; last used {age} ago, kept for {life}"
        );
    }
    told += &running(&status.running, calendar);
    if let Some(cost) = cost.filter(|cost| cost.total.replies > 0) {
        let (dollars, replies) = (money(cost.total.dollars), grouped(cost.total.replies));
        let _ = write!(
            told,
            "\nCost so far: {dollars} for {replies} replies, at list prices"
        );
        if cost.total.unpriced > 0 {
            let _ = write!(
                told,
                "; {} more have no price",
                grouped(cost.total.unpriced)
            );
        }
    }
    told
}
