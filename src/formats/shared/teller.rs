//! What every reader tells a sink with: the session, once; its steps, with the settings that are new; its end.
//!
//! Deliberately absent: where records come from, and what they say.

use std::collections::HashSet;
use std::ops::Range;

use crate::error::Result;
use crate::formats::shared::records::Text;
use crate::formats::{
    Action, BranchStart, Problem, SessionEnd, SessionStart, Sink, Step, StepEntry, StepId,
};
use crate::model::{Message, Part, Settings};
use crate::wire::json::type_of;
use crate::wire::{Notes, anthropic};

/// Tells a sink of one session.
pub(in crate::formats) struct Teller<'s> {
    pub(in crate::formats) sink: &'s mut dyn Sink,
    /// Who the session is, until that was told.
    pub(in crate::formats) start: SessionStart,
    pub(in crate::formats) end: SessionEnd,
    pub(in crate::formats) notes: Notes,
    /// The settings in force, as JSON.
    pub(in crate::formats) settings: Settings,
    /// Those that the next step brings.
    pub(in crate::formats) due: Settings,
    /// The calls that results may answer.
    pub(in crate::formats) calls: HashSet<String>,
    /// The branch that is due: a way on which nothing is said is none.
    pub(in crate::formats) branch: Option<String>,
    steps: usize,
    is_open: bool,
    /// How many results hold something, and in how many of these no block is of a known type.
    results: [u64; 2],
}

impl<'s> Teller<'s> {
    /// Of a session that is called so where it says no id, and that lacks this of what the model was sent.
    pub(in crate::formats) fn of(stem: &str, lacking: &[&str], sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            start: SessionStart::new(stem),
            end: SessionEnd::lacking(lacking),
            notes: Notes::default(),
            settings: Settings::new(),
            due: Settings::new(),
            calls: HashSet::new(),
            branch: None,
            steps: 0,
            is_open: false,
            results: [0; 2],
        }
    }

    /// Takes the session's own id, if it says one.
    pub(in crate::formats) fn name(&mut self, id: Option<String>) {
        self.start.id = id.unwrap_or_else(|| std::mem::take(&mut self.start.id));
    }

    /// Tells of the session, once.
    pub(in crate::formats) fn open(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_open, true) {
            return Ok(());
        }
        self.sink.session(std::mem::take(&mut self.start))
    }

    /// The same of a session of which a record says `more`.
    pub(in crate::formats) fn open_with(
        &mut self,
        more: impl FnOnce(&mut SessionStart),
    ) -> Result<()> {
        if !self.is_open {
            more(&mut self.start);
        }
        self.open()
    }

    /// Tells that the session ends.
    pub(in crate::formats) fn close(mut self) -> Result<()> {
        self.open()?;
        // One among others may be odd; where all are, they are in a form that is not known.
        let [all, unread] = self.results;
        if all > 0 && all == unread {
            let reason = format!("none of the tool results ({all}) has a block of a known type");
            self.sink.problem(Problem::new(0, reason))?;
        }
        self.end.opaque_blocks = self.notes.opaque_blocks;
        self.sink.end(self.end)
    }

    /// Says that something is wrong on a line.
    pub(in crate::formats) fn problem_on(
        &mut self,
        line: u64,
        reason: impl Into<String>,
    ) -> Result<()> {
        self.sink.problem(Problem::new(line, reason))
    }

    /// Notes a setting, as JSON, if there is one.
    pub(in crate::formats) fn set(&mut self, key: &str, value: Option<String>) {
        let value = value.filter(|value| self.settings.get(key) != Some(value));
        if let Some(value) = value {
            self.due.insert(key.to_owned(), value.clone());
            self.settings.insert(key.to_owned(), value);
        }
    }

    /// Takes a message's calls, and tells which of its results answer none; it stands at `at`.
    pub(in crate::formats) fn pair(
        &mut self,
        message: &Message,
        text: Text<'_>,
        at: &Range<usize>,
    ) -> Result<()> {
        self.calls.extend(message.calls().map(str::to_owned));
        for call in message.results().filter(|call| !self.calls.contains(*call)) {
            let reason = format!("a tool result without its call '{call}'");
            self.sink.problem(text.problem(at.start, reason))?;
        }
        Ok(())
    }

    /// Tells of a step, which brings the settings that are due; gives the first entry that it makes, if it makes one.
    pub(in crate::formats) fn step(&mut self, mut step: Step) -> Result<StepEntry> {
        step.settings.extend(std::mem::take(&mut self.due));
        for part in step.message().iter().flat_map(|message| &message.parts) {
            if let Part::ToolResult { content, .. } = part
                && !content.is_empty()
            {
                self.results[0] += 1;
                self.results[1] += u64::from(content.iter().all(is_unknown));
            }
        }
        let entry = StepEntry {
            step: StepId(self.steps),
            replacement: matches!(step.action, Action::Hide(_)).then_some(0),
        };
        self.sink.step(step)?;
        self.steps += 1;
        Ok(entry)
    }

    /// The same behind the last step of its way.
    pub(in crate::formats) fn follow(
        &mut self,
        step: Step,
        last: &mut Option<StepId>,
    ) -> Result<StepEntry> {
        if let Some(name) = self.branch.take() {
            let after = *last;
            let branch = BranchStart::root(name);
            self.sink.branch(BranchStart { after, ..branch })?;
        }
        let entry = self.step(step)?;
        *last = Some(entry.step);
        Ok(entry)
    }

    /// The number of the next step.
    pub(in crate::formats) fn next_step(&self) -> StepId {
        StepId(self.steps)
    }
}

/// Whether a block of a result is of no known type: nobody would be sent it, and no text of it is seen.
fn is_unknown(part: &Part) -> bool {
    match part {
        Part::Opaque { provider, data } if provider == anthropic::PROVIDER => {
            !anthropic::may_be_given(data)
        }
        Part::Opaque { data, .. } => type_of(data).is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::formats::Format;
    use crate::formats::shared::contract::read;

    /// What is wrong with messages in which a call is answered with each of these contents.
    fn reasons(format: &str, contents: &[serde_json::Value]) -> Vec<String> {
        let answered = contents.iter().enumerate().flat_map(|(at, content)| {
            let id = format!("toolu_{at}");
            let call = json!({"type": "tool_use", "id": id, "name": "look", "input": {}});
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
            [
                json!({"role": "assistant", "content": [call]}),
                json!({"role": "user", "content": [result]}),
            ]
        });
        let messages: Vec<_> = answered.collect();
        let source = json!({ "messages": messages }).to_string();
        let format = Format::named(format).expect("known");
        let told = read(format, source.as_bytes());
        told.reasons().into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn results_that_are_all_in_a_form_that_is_not_known_are_a_problem() {
        let own = json!([{"query": "ls", "result": "a", "success": true}]);
        let typed = json!([{"type": "shell_output", "value": "a"}]);
        let told = |count| {
            vec![format!(
                "none of the tool results ({count}) has a block of a known type"
            )]
        };
        assert_eq!(reasons("anthropic", &[own.clone(), typed]), told(2));
        assert_eq!(reasons("anthropic", &[own.clone(), json!([])]), told(1));
        // One among others is kept as it came.
        let text = json!([{"type": "text", "text": "a"}]);
        assert!(reasons("anthropic", &[own.clone(), text.clone()]).is_empty());
        let found = json!([{"type": "search_result", "source": "s", "title": "t", "content": []}]);
        assert!(reasons("anthropic", &[found]).is_empty());
        assert!(reasons("anthropic", &[text, json!("a"), json!([])]).is_empty());
    }
}
