//! Commits one to a line, as `log` and `status` list them: short hash, number, time, operation, role,
//! tokens, running total, what is said. Aligned and cut on a terminal; aligned and whole in a pipe.

use std::borrow::Cow;
use std::path::Path;

use tract::model::{Commit, Head, HideKind, Operation, RefName};
use tract::query::LogRow;
use tract::render::{self, Calendar, Label, Line, grouped, plural, setting, signed, table, tokens};
use tract::sync::Upstream;
use uuid::Uuid;

/// The fewest columns that names of refs leave to the preview, but for the first name.
const PREVIEW: usize = 24;
/// The fewest columns of the first.
const NAME: usize = 12;

/// How many columns a terminal has at least, as a rule.
const TERMINAL: usize = 80;
/// From how many columns on a list has room to line up its hides, and a column for operations.
pub const ROOMY: usize = 100;

/// How a list is laid out.
pub struct Listing<'a> {
    /// Where HEAD is, so that its branch can be marked.
    pub head: &'a Head,
    /// What times are read against.
    pub calendar: Calendar,
    /// The columns that a line may take; none in a pipe, where nothing is cut.
    pub width_cols: Option<usize>,
    /// Whether the running total has a column, where there is room for one.
    pub running: bool,
    /// Whether a first row says what the columns are, and a line of its own each day, so that a row has its time alone.
    pub heading: bool,
    /// Spaces before every line.
    pub indent: usize,
}

/// The word that a list prints for a commit: the command's name for a hide, and for what brings in another path.
pub fn verb(commit: &Commit) -> Line {
    if commit.merged.is_some() {
        return Label::Hide.of("merge");
    }
    let operation = &commit.operation;
    let label = match operation {
        Operation::Hide(_) => Label::Hide,
        Operation::Restore { .. } => Label::Restore,
        Operation::Edit { .. } => Label::Warning,
        Operation::Append { .. } | Operation::Annotate { .. } => Label::Dim,
    };
    label.of(operation.verb())
}

/// Which columns hold numbers.
const NUMBERS: [usize; 3] = [1, 5, 6];

/// What the columns are called.
const HEADING: [&str; 7] = ["commit", "no.", "time", "what", "who", "tokens", "context"];

/// How far a list is that is drawn page by page.
#[derive(Default)]
pub struct Drawn {
    columns: table::Columns,
    /// Whether a hide was among them.
    words: bool,
    day: Option<String>,
    is_begun: bool,
}

impl Listing<'_> {
    /// Draws the rows, in their order.
    pub fn lines(&self, rows: &[LogRow]) -> Vec<Line> {
        self.page(rows, &mut Drawn::default())
    }

    /// Draws the next rows: columns are at least as wide as before.
    pub fn page(&self, rows: &[LogRow], drawn: &mut Drawn) -> Vec<Line> {
        let roomy = self.width_cols.is_none_or(|width| width >= ROOMY);
        // Where a hide says "tokens", the other numbers leave room for the word.
        drawn.words |= roomy && rows.iter().any(|row| !is_message(&row.commit.operation));
        let words = drawn.words;
        let mut cells: Vec<Vec<Line>> = rows
            .iter()
            .map(|row| self.cells(row, roomy, words))
            .collect();
        let has_heading = self.heading && !std::mem::replace(&mut drawn.is_begun, true);
        if has_heading {
            let is_used = |at: &usize| cells.iter().any(|row| !row[*at].is_empty());
            let name = |(at, name): (usize, &str)| {
                if is_used(&at) {
                    Label::Dim.of(name)
                } else {
                    Line::new()
                }
            };
            let heading = HEADING.into_iter().enumerate().map(name).collect();
            cells.insert(0, heading);
        }
        let mut lines = Vec::with_capacity(cells.len());
        let mut heads = drawn.columns.lines(cells, &NUMBERS);
        if has_heading && let Some(head) = heads.next() {
            let mut line = Line::indent(self.indent) + head + "  ";
            line.fit(Label::Dim.of("message"), self.width_cols);
            lines.push(line);
        }
        for (head, row) in heads.zip(rows) {
            let time = row.commit.time.filter(|_| self.heading);
            let day = time.map(|time| self.calendar.day(time));
            if let Some(day) = day.filter(|day| drawn.day.as_ref() != Some(day)) {
                lines.push(Label::Strong.of(day.as_str()));
                drawn.day = Some(day);
            }
            lines.push(self.finish(head, row));
        }
        lines
    }

    /// Adds refs and preview, within the terminal's width.
    fn finish(&self, head: Line, row: &LogRow) -> Line {
        let mut line = Line::indent(self.indent) + head;
        if !row.refs.is_empty() {
            line += marks(&row.refs, self.head, self.width_cols, line.width_cols());
        }
        let roomy = self.width_cols.is_none_or(|width| width >= ROOMY);
        if !roomy && !is_message(&row.commit.operation) {
            line += "  ";
            line.fit(Label::Strong.of(taken_out(row)), self.width_cols);
        }
        let room = |width: usize| width.saturating_sub(line.width_cols() + 2);
        let said = said(row, self.width_cols.map(room));
        if !said.is_empty() {
            line += "  ";
            line += said;
        }
        line
    }

    /// Hash, number, time, operation, role (or messages), tokens, running total.
    fn cells(&self, row: &LogRow, roomy: bool, words: bool) -> Vec<Line> {
        let operation = &row.commit.operation;
        let (who, delta) = match operation {
            _ if is_message(operation) => {
                let room = if words { TOKENS.len() } else { 0 };
                let delta = match operation {
                    Operation::Annotate { .. } if row.delta == 0 => String::new(),
                    _ => signed(row.delta),
                };
                let who = match row.role {
                    // What another branch said is nobody's words here.
                    Some(_) if row.injected && row.commit.merged.is_some() => Line::new(),
                    Some(role) => {
                        let (label, who) = Label::speaker(role, row.injected);
                        label.of(who)
                    }
                    None => Line::new(),
                };
                (who, format!("{delta}{}", " ".repeat(room)))
            }
            _ => {
                let unit = if words { TOKENS } else { "" };
                let who = Label::Strong.of(taken_out(row));
                (who, format!("{}{unit}", signed(row.delta)))
            }
        };
        // Where there is little room, what tells rows apart has it.
        let has_room = self.width_cols.is_none_or(|width| width >= TERMINAL);
        let running = (self.running && has_room).then(|| tokens(row.running));
        let time = match row.commit.time {
            Some(time) if self.heading && roomy => self.calendar.second(time),
            Some(time) if self.heading => self.calendar.minute(time),
            Some(time) if self.calendar.ages => self.calendar.aged(time),
            time => self.calendar.listed(time),
        };
        // Where there is little room, that a message was added is not said, and how many went is said
        // with what stands for them.
        let (verb, who) = match (roomy, operation) {
            (true, _) => (verb(&row.commit), who),
            (false, Operation::Append { .. }) if row.commit.merged.is_none() => (Line::new(), who),
            (false, Operation::Append { .. } | Operation::Edit { .. }) if !who.is_empty() => {
                (Line::new(), verb(&row.commit) + " " + who)
            }
            (false, _) => (Line::new(), verb(&row.commit)),
        };
        let number = row
            .number
            .map_or(String::new(), |number| format!(":{number}"));
        vec![
            Label::Hash.of(row.hash.short()),
            number.into(),
            Label::Time.of(time),
            verb,
            who,
            Label::Tokens.of(delta),
            Label::Dim.of(running.unwrap_or_default()),
        ]
    }
}

/// What follows the number of a hide.
const TOKENS: &str = " tokens";

/// Whether the row is about one message, and not about how many are visible.
fn is_message(operation: &Operation) -> bool {
    !matches!(operation, Operation::Hide(_) | Operation::Restore { .. })
}

/// `-1,204 +1 messages`: how many went and came, or how many parts went.
fn taken_out(row: &LogRow) -> String {
    if let Operation::Hide(hide) = &row.commit.operation
        && row.messages == 0
        && hide.kind == HideKind::Prune
    {
        return format!("-{}", plural(hide.parts.len() as u64, "part"));
    }
    let moved = moved(row);
    let one = if moved == "-1" || moved == "+1" {
        ""
    } else {
        "s"
    };
    let sign = if moved == "0" { "+" } else { "" };
    format!("{sign}{moved} message{one}")
}

/// `-4 +1`: how many messages went, and how many were put in their place; or `-4` alone.
pub fn moved(row: &LogRow) -> String {
    let put = match &row.commit.operation {
        Operation::Hide(hide) => hide.replacements.len() as i64,
        _ => 0,
    };
    let went = row.messages - put;
    if put > 0 && went < 0 {
        return format!("{} +{}", signed(went), grouped(put.unsigned_abs()));
    }
    signed(row.messages)
}

/// What a commit brings, in a line of so much room: the message, after the call that it answers.
pub fn said(row: &LogRow, room: Option<usize>) -> Line {
    let Some(merged) = row.commit.merged else {
        return said_itself(row, room);
    };
    let merged = Label::Hash.of(merged.short()) + " ";
    let room = room.map(|room| room.saturating_sub(merged.width_cols()));
    merged + said_itself(row, room)
}

fn said_itself(row: &LogRow, room: Option<usize>) -> Line {
    let is_message = match &row.commit.operation {
        Operation::Restore { .. } | Operation::Annotate { .. } => false,
        _ => row.content.is_some(),
    };
    if is_message {
        return render::row::said(row.call.as_deref(), &row.preview, room);
    }
    Line::from(describe(row)).within(room)
}

/// The name of the directory that a session ran in, and its title. Hostile until escaped.
pub fn titled(cwd: Option<&str>, title: Option<&str>) -> String {
    let folder = cwd.and_then(|cwd| Path::new(cwd).file_name());
    let folder = folder.map(|folder| folder.to_string_lossy());
    let said: Vec<Cow<'_, str>> = folder.into_iter().chain(title.map(Into::into)).collect();
    said.join(": ")
}

/// One line about what a commit brings. Hostile until escaped.
pub fn describe(row: &LogRow) -> String {
    match &row.commit.operation {
        Operation::Restore { target, .. } => format!("of {}", target.short()),
        Operation::Annotate {
            targets,
            priority,
            reason,
        } => {
            if targets.is_empty() {
                return "nothing new".to_owned();
            }
            let what = plural(targets.len() as u64, "message");
            let reason = reason.as_deref().map(|r| format!(": {r}"));
            format!("{priority}, {what}{}", reason.unwrap_or_default())
        }
        _ => row.preview.clone(),
    }
}

/// `  (HEAD -> main, v1)`: as many names as leave some room for a preview after `used` columns. The
/// first, which says where HEAD is, is always among them, cut if it must be.
pub fn marks(refs: &[RefName], head: &Head, width_cols: Option<usize>, used: usize) -> Line {
    let room = width_cols.map_or(usize::MAX, |width| width.saturating_sub(used));
    let mut cols = "  ()".len();
    let mut shown: Vec<Line> = Vec::new();
    for name in names(refs, head, width_cols.is_some()) {
        let width = name.width_cols();
        match shown.is_empty() {
            true if cols + 8 > room => break,
            true => shown
                .push(name.cut((room - cols).min(room.saturating_sub(cols + PREVIEW).max(NAME)))),
            false if cols + 2 + width + PREVIEW > room => break,
            false => shown.push(name),
        }
        let width = shown.last().map_or(width, Line::width_cols);
        cols += width + if shown.len() == 1 { 0 } else { 2 };
    }
    if shown.is_empty() {
        return Line::new();
    }
    Line::from("  (") + Line::join(shown, ", ") + ")"
}

/// The refs at a commit as people read them: `HEAD -> main`, then the others. In short a session's
/// id is cut to what tells it from others.
pub fn names(refs: &[RefName], head: &Head, short: bool) -> Vec<Line> {
    let here = |name: &RefName| refs.contains(name);
    let mut names = Vec::new();
    let attached = match head {
        Head::Attached { branch, .. } if here(branch) => Some(branch),
        _ => None,
    };
    match attached {
        Some(branch) => names.push(Label::Head.of(format!("HEAD -> {}", branch.short()))),
        None if here(&RefName::head()) => names.push(Label::Head.of("HEAD")),
        None => {}
    }
    for name in refs {
        if *name != RefName::head() && Some(name) != attached {
            let label = match name.as_session() {
                Some(_) => Label::Session,
                None => Label::Branch,
            };
            let is_twin = |other: &RefName| other != name && other.short() == name.short();
            let text = match name.as_str().strip_prefix(RefName::TAGS) {
                Some(tag) if refs.iter().any(is_twin) => format!("tags/{tag}"),
                _ => shown_name(name, short),
            };
            names.push(label.of(text));
        }
    }
    names
}

/// How much of an id is shown at least: of a UUID its first group. Where that is the minute in which it was made
/// (RFC 9562, 5.7), sessions that began together share it, and the second one goes with it.
fn least_chars(id: &str) -> usize {
    match Uuid::try_parse(id) {
        Ok(uuid) if uuid.get_version_num() == 7 => 13,
        _ => 8,
    }
}

/// As much of an id as tells it from the others; of a UUID whole groups, for its branch ends with those.
pub fn shortened(id: &str, ids: &[String]) -> String {
    // What stands beside it under its own name is told by its number.
    let others = || {
        ids.iter()
            .filter(|other| *other != id && beside(other) != Some(id))
    };
    let is_told = |len: &usize| {
        let start: String = id.chars().take(*len).collect();
        others().all(|other| !other.starts_with(&start))
    };
    let is_uuid = Uuid::try_parse(id).is_ok();
    let is_whole = |len: &usize| !is_uuid || id.as_bytes().get(*len) == Some(&b'-');
    let mut lens = (least_chars(id)..id.chars().count()).filter(is_whole);
    id.chars()
        .take(lens.find(is_told).unwrap_or(usize::MAX))
        .collect()
}

/// The id beside which a numbered one stands: that of a session whose file was rewritten.
fn beside(id: &str) -> Option<&str> {
    let (own, number) = id.rsplit_once('-')?;
    let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|it| it.is_ascii_digit());
    is_number.then_some(own)
}

/// A ref's name as a list shows it: in short `claude-code/2f6c1f0e-…` for a tool and a UUID.
pub fn shown_name(name: &RefName, short: bool) -> String {
    match short {
        true => shown_among(name, &[]),
        false => name.label(),
    }
}

/// The same in short, with as much of its id as tells it from these others.
pub fn shown_among(name: &RefName, ids: &[String]) -> String {
    match name.as_session() {
        Some((tool, id)) if id.len() > 12 && !id.contains('/') => {
            let is_there = |own: &&str| ids.iter().any(|it| it == own);
            let own = beside(id).filter(is_there).unwrap_or(id);
            match shortened(own, ids) {
                cut if cut == own => name.label(),
                cut => format!("{tool}/{cut}…{}", &id[own.len()..]),
            }
        }
        _ => name.label(),
    }
}

/// `model=… temp=0.7`, and the note. Hostile until escaped.
pub fn extras(row: &LogRow) -> String {
    let setting = |(key, value): (&String, &String)| {
        let key = if key == "temperature" { "temp" } else { key };
        format!("{key}={}", setting::value(value))
    };
    let mut words: Vec<String> = row.commit.settings.iter().map(setting).collect();
    if let Some(author) = &row.commit.author {
        words.push(format!("by {author}"));
    }
    if let Some(note) = &row.commit.note {
        words.push(format!("note: {note}"));
    }
    words.join("  ")
}

/// How far a branch and the other side's have gone on from each other: `origin/main: 2 ahead, 1 behind`.
pub fn apart(upstream: &Upstream) -> String {
    let seen = upstream.seen.short();
    match (upstream.ahead, upstream.behind) {
        (0, 0) => format!("{seen}: the same"),
        (ahead, 0) => format!("{seen}: {ahead} ahead"),
        (0, behind) => format!("{seen}: {behind} behind"),
        (ahead, behind) => format!("{seen}: {ahead} ahead, {behind} behind"),
    }
}
