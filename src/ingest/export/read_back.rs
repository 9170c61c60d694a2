//! What an export would come back as.

use std::io;

use crate::error::Result;
use crate::formats::{Format, Input};
use crate::ingest::import::{ImportRequest, take_in};
use crate::ingest::inspect::SessionInput;
use crate::model::{Message, Millis, Part, Role};
use crate::repo::kept::KeptSource;
use crate::repo::{Repo, load};

/// A kept source up to somewhere, and more behind it.
pub(super) struct Source<'a> {
    pub(super) kept: KeptSource<'a>,
    pub(super) more: &'a [u8],
}

impl Input for Source<'_> {
    fn size_bytes(&self) -> u64 {
        self.kept.size_bytes() + self.more.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match offset.checked_sub(self.kept.size_bytes()) {
            Some(behind) => self.more.read_at(behind, buffer),
            None => self.kept.read_at(offset, buffer),
        }
    }
}

/// How what an import finds differs from what is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// How many messages it finds that nobody wants.
    pub(super) more: usize,
    /// Which of the wanted messages it finds without the mark that they were cut, or with it.
    pub(super) cut: Vec<usize>,
    /// Which of the wanted messages it doesn't find, from 0, in their order.
    pub(super) missing: Vec<usize>,
    /// Behind how many of them it finds the first that nobody wants.
    pub(super) surplus: Option<usize>,
}

impl Difference {
    /// How much it is, to be compared.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.missing.len() + self.more, self.cut.len())
    }

    pub(super) fn say(&self) -> String {
        let first = self.missing.first().map(|at| at + 1).or(self.surplus);
        let first = first.unwrap_or(0);
        match self.missing.len().max(self.more) {
            0 => format!(
                "left out: the mark of a reply that was cut ({})",
                self.cut.len()
            ),
            1 => format!("1 message comes back otherwise from the file (message {first})"),
            count => {
                format!(
                    "{count} messages come back otherwise from the file (first: message {first})"
                )
            }
        }
    }
}

/// How the messages that an import of this finds differ from those that are wanted; none: they are
/// the same.
pub(super) fn difference(
    input: &dyn Input,
    format: &'static Format,
    stem: &str,
    wanted: &[&Message],
) -> Result<Option<Difference>> {
    let found = messages(input, format, stem)?;
    let mut rest = &found[..];
    let (mut missing, mut cut, mut surplus) = (Vec::new(), Vec::new(), None);
    for (at, wanted) in wanted.iter().enumerate() {
        match rest.iter().position(|found| is_same(wanted, found)) {
            Some(place) => {
                surplus = surplus.or((place > 0).then_some(at));
                cut.extend((rest[place].interrupted != wanted.interrupted).then_some(at));
                rest = &rest[place + 1..];
            }
            None => missing.push(at),
        }
    }
    let surplus = surplus.or((!rest.is_empty()).then_some(wanted.len()));
    let there = wanted.len() - missing.len();
    let more = found.len() - there;
    Ok(
        (missing.len() + more + cut.len() > 0).then_some(Difference {
            more,
            cut,
            missing,
            surplus,
        }),
    )
}

/// The messages that an import would find.
fn messages(input: &dyn Input, format: &'static Format, stem: &str) -> Result<Vec<Message>> {
    if input.size_bytes() == 0 {
        return Ok(Vec::new());
    }
    let repo = Repo::ephemeral()?;
    let file = SessionInput::of_bytes(input, format, stem.to_owned());
    let request = ImportRequest {
        format: Some(format),
        ..ImportRequest::at(Millis(0), "export")
    };
    let report = take_in(&repo, &file, &request, None, &mut |_| {})?;
    let Some(tip) = report.sessions.first().and_then(|session| session.tip) else {
        return Ok(Vec::new());
    };
    let view = repo.store.read()?;
    let context = load::context(&*view, &tip)?;
    load::messages(&*view, &context.entries)
}

/// Whether two messages say the same: white space between the tokens of a kept block says nothing.
/// Whether they were cut is another question, and a message of nothing but results is a tool's.
fn is_same(one: &Message, other: &Message) -> bool {
    one == other || {
        let settled = |message: &Message| {
            let mut message = message.clone();
            message.interrupted = false;
            let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
            if !message.parts.is_empty() && message.parts.iter().all(is_result) {
                message.role = Role::Tool;
            }
            message.parts.iter_mut().for_each(settle);
            message
        };
        settled(one) == settled(other)
    }
}

fn settle(part: &mut Part) {
    match part {
        Part::Opaque { data, .. } => {
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(data) {
                *data = value.to_string();
            }
        }
        Part::ToolResult { content, .. } => content.iter_mut().for_each(settle),
        _ => {}
    }
}
