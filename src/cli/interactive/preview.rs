//! What stands beside the list of conversations where the screen has room for both: how the chosen one began, and how it
//! ends. It is read from the rows of a log, without bodies.

use tract::Result;
use tract::hash::CommitHash;
use tract::model::Encoding;
use tract::query::LogOptions;
use tract::render::{Label, Line, plural, row};
use tract::repo::{About, Repo};

/// From how many columns on there is room.
const WIDE: usize = 110;
/// How many messages of the end are read.
const MESSAGES: usize = 24;
/// How many rows a message takes at most.
const ROWS: usize = 3;

/// What is known of the conversation that is chosen.
#[derive(Default)]
pub struct Preview {
    tip: Option<CommitHash>,
    /// The newest messages, oldest first: who speaks, and what they say in a line.
    messages: Vec<(Line, Line)>,
}

impl Preview {
    /// Reads a conversation, unless it is the one that was read last.
    pub fn read(&mut self, repo: &Repo, tip: &CommitHash, encoding: Encoding) -> Result<()> {
        if self.tip == Some(*tip) {
            return Ok(());
        }
        let options = LogOptions {
            limit: MESSAGES,
            encoding,
            ..LogOptions::default()
        };
        let mut rows = repo.log(tip, &options)?;
        rows.reverse();
        let said = rows.iter().filter_map(|one| {
            let (label, who) = Label::speaker(one.role?, one.injected);
            let said = row::said(one.call.as_deref(), &one.preview, None);
            Some((label.of(who), said))
        });
        self.messages = said.collect();
        self.tip = Some(*tip);
        Ok(())
    }

    /// How many columns the list keeps; none where there is no room for both.
    pub const fn list_cols(width: usize) -> Option<usize> {
        if width < WIDE {
            return None;
        }
        Some(width / 2)
    }

    /// Its lines: what it is, its first prompt, and as much of its end as there is room for.
    pub fn lines(&self, about: &About, cols: usize, rows: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(title) = &about.title {
            lines.push(Label::Strong.of(title.as_str()).cut(cols));
        }
        let mut facts = vec![plural(about.messages as u64, "message")];
        facts.extend(about.tool.clone());
        facts.extend(about.cwd.clone());
        lines.push(Label::Dim.of(facts.join(" · ")).cut(cols));
        let whole = self.end(cols, rows.saturating_sub(lines.len()));
        if whole.1 == self.messages.len() && about.messages <= whole.1 {
            lines.extend(whole.0);
            lines.truncate(rows);
            return lines;
        }
        if let Some(prompt) = &about.prompt {
            let prompt = Label::User.of("user") + "  " + Label::Text.of(prompt.as_str());
            lines.extend(block(&prompt, cols));
        }
        let (end, _) = self.end(cols, rows.saturating_sub(lines.len() + 1));
        if !end.is_empty() {
            lines.push(Label::Dim.of("…"));
            lines.extend(end);
        }
        lines.truncate(rows);
        lines
    }

    /// The newest messages that have room, and how many these are.
    fn end(&self, cols: usize, rows: usize) -> (Vec<Line>, usize) {
        let (mut end, mut count) = (Vec::new(), 0);
        for (who, said) in self.messages.iter().rev() {
            let message = block(&(who.clone() + "  " + said.clone()), cols);
            if end.len() + message.len() > rows {
                break;
            }
            end.splice(0..0, message);
            count += 1;
        }
        (end, count)
    }
}

/// A message in a few rows.
fn block(line: &Line, cols: usize) -> Vec<Line> {
    let mut rows = line.wrap(cols);
    if rows.len() > ROWS {
        rows.truncate(ROWS);
        let last = rows.pop().unwrap_or_default();
        rows.push(last.cut(cols.saturating_sub(1)) + "…");
    }
    rows
}
