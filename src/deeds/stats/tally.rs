//! Sums of what was done.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::key::{Keys, StatsBy};
use super::{StatsEdit, StatsRow};
use crate::hash::CommitHash;
use crate::model::Millis;
use crate::query::activity::covered_ms;
use crate::query::{ActivityRow, BilledReply, CallRow, CalledEdit, EditOutcome, SpentBy};
use crate::repo::Repo;

/// What some messages come to.
#[derive(Default)]
struct Sum {
    row: StatsRow,
    sessions: HashSet<String>,
    prompts: HashSet<CommitHash>,
    files: HashSet<String>,
    /// The time at work of each session.
    spans: HashMap<String, Vec<(Millis, Millis)>>,
}

/// All that is told of a question.
#[derive(Default)]
pub(super) struct Tally {
    total: Sum,
    rows: BTreeMap<String, Sum>,
    edits: Vec<(Option<Millis>, StatsEdit)>,
    /// How many replies of sub-agents are on no path that is meant.
    pub(super) agents_beside: usize,
    /// How many replies are left out for they have no time.
    pub(super) untimed: usize,
    /// How many replies a provider counted.
    counted: usize,
}

impl Tally {
    /// Adds a message.
    pub(super) fn take(&mut self, row: &ActivityRow, keys: &mut Keys, with_edits: bool) {
        self.total.take(row);
        if keys.by().is_of_calls() {
            for call in &row.calls {
                // A call may edit a file more than once, and is one call of it.
                let names: BTreeSet<String> = match keys.by() {
                    StatsBy::Tool => [call.tool.clone()].into(),
                    _ => call.edits.iter().map(|edit| edit.path.clone()).collect(),
                };
                for name in names {
                    let sum = self.rows.entry(name.clone()).or_default();
                    sum.take_call(row, call, (keys.by() == StatsBy::File).then_some(&name));
                }
            }
        } else {
            let session = row.counts_with.as_deref();
            let name = keys.name(session, row.directory.as_ref(), row.time);
            self.rows.entry(name).or_default().take(row);
        }
        if with_edits {
            self.edits.extend(row.calls.iter().flat_map(|call| {
                let edits = call.edits.iter();
                edits.map(|edit| {
                    let edit = StatsEdit {
                        commit: row.commit.to_string(),
                        time_ms: row.time.map(|time| time.0),
                        session: row.session.as_ref().map(ToString::to_string),
                        tool: call.tool.clone(),
                        path: edit.path.clone(),
                        outcome: call.outcome.as_str(),
                        lines_added: edit.lines_added,
                        lines_removed: edit.lines_removed,
                        prompt: row.prompt.map(|prompt| prompt.to_string()),
                        prompt_preview: None,
                    };
                    (row.time, edit)
                })
            }));
        }
    }

    /// Adds what a provider counted for a reply.
    pub(super) fn take_reply(&mut self, reply: &BilledReply, keys: &mut Keys) {
        let usage = reply.counted();
        let tokens = (usage.input_tokens, usage.output_tokens);
        let is_short = reply.short.is_some();
        self.counted += 1;
        self.total.take_tokens(tokens, is_short);
        if !keys.by().is_of_calls() {
            let session = reply.counts_with(false);
            let name = keys.name(session.as_deref(), reply.directory.as_ref(), reply.time);
            let sum = self.rows.entry(name).or_default();
            sum.take_tokens(tokens, is_short);
        }
    }

    /// How many replies have no tokens of their own here.
    pub(super) const fn uncounted(&self) -> usize {
        self.total.row.replies.saturating_sub(self.counted)
    }

    /// All of it.
    pub(super) fn total(&mut self) -> StatsRow {
        std::mem::take(&mut self.total).done("total".to_owned())
    }

    /// The rows, in their order.
    pub(super) fn rows(&mut self, by: StatsBy) -> Vec<StatsRow> {
        let rows = std::mem::take(&mut self.rows).into_iter();
        let mut rows: Vec<StatsRow> = rows.map(|(name, sum)| sum.done(name)).collect();
        // A reply may have been told of a copy that is not meant.
        rows.retain(|row| row.calls + row.replies + row.prompts > 0 || row.output_tokens > 0);
        match by {
            // What has no time comes last.
            _ if by.is_time() => rows.sort_by_key(|row| row.name.is_empty()),
            StatsBy::Tool => rows.sort_by_key(|row| Reverse(row.calls)),
            StatsBy::File => rows.sort_by_key(|row| Reverse(row.edits)),
            _ => rows.sort_by_key(|row| Reverse(row.active_ms)),
        }
        rows
    }

    /// The newest edits, and how many there are beyond these. 0: all.
    pub(super) fn newest_edits(
        &mut self,
        repo: &Repo,
        limit: usize,
    ) -> crate::Result<(Vec<StatsEdit>, usize)> {
        let mut edits = std::mem::take(&mut self.edits);
        edits.sort_by(|(a, _), (b, _)| b.cmp(a));
        let all = edits.len();
        let limit = if limit == 0 { all } else { limit };
        edits.truncate(limit);
        let mut previews: HashMap<String, String> = HashMap::new();
        let mut newest = Vec::with_capacity(edits.len());
        for (_, mut edit) in edits {
            if let Some(prompt) = &edit.prompt {
                let preview = match previews.get(prompt) {
                    Some(preview) => preview.clone(),
                    None => {
                        let preview = repo.preview(&prompt.parse()?)?;
                        previews.insert(prompt.clone(), preview.clone());
                        preview
                    }
                };
                edit.prompt_preview = Some(preview);
            }
            newest.push(edit);
        }
        Ok((newest, all.saturating_sub(limit)))
    }
}

impl Sum {
    fn take(&mut self, row: &ActivityRow) {
        self.take_place(row);
        if row.is_prompt {
            self.prompts.insert(row.commit);
        }
        self.row.replies += usize::from(row.is_reply);
        for call in &row.calls {
            self.take_outcome(call);
            for edit in &call.edits {
                self.take_edit(call, edit);
            }
        }
        if let Some(span) = row.spent {
            let length = span.to.0 - span.from.0;
            *match span.by {
                SpentBy::Model => &mut self.row.model_ms,
                SpentBy::Tools => &mut self.row.tools_ms,
                SpentBy::User => &mut self.row.user_ms,
            } += length;
            let session = row.counts_with.clone().unwrap_or_default();
            let spans = self.spans.entry(session).or_default();
            spans.push((span.from, span.to));
        }
    }

    /// Adds a call alone, or what it did to one file.
    fn take_call(&mut self, row: &ActivityRow, call: &CallRow, file: Option<&String>) {
        self.take_place(row);
        self.prompts.extend(row.prompt.filter(|_| !row.is_agents));
        self.take_outcome(call);
        let meant = call
            .edits
            .iter()
            .filter(|edit| file.is_none_or(|file| edit.path == *file));
        for edit in meant {
            self.take_edit(call, edit);
        }
    }

    fn take_place(&mut self, row: &ActivityRow) {
        if let Some(session) = &row.counts_with
            && !self.sessions.contains(session)
        {
            self.sessions.insert(session.clone());
        }
        let time = row.time.map(|time| time.0);
        self.row.first_ms = [self.row.first_ms, time].into_iter().flatten().min();
        self.row.last_ms = self.row.last_ms.max(time);
    }

    fn take_outcome(&mut self, call: &CallRow) {
        self.row.calls += 1;
        match call.outcome {
            EditOutcome::Done => {}
            EditOutcome::Failed => self.row.failed += 1,
            EditOutcome::Unanswered => self.row.interrupted += 1,
        }
    }

    fn take_edit(&mut self, call: &CallRow, edit: &CalledEdit) {
        if call.outcome != EditOutcome::Failed {
            self.row.edits += 1;
            self.row.lines_added += edit.lines_added;
            self.row.lines_removed += edit.lines_removed;
            if !self.files.contains(&edit.path) {
                self.files.insert(edit.path.clone());
            }
        }
    }

    fn take_tokens(&mut self, (input, output): (u64, u64), is_short: bool) {
        self.row.input_tokens += input;
        self.row.output_tokens += output;
        self.row.short_outputs += usize::from(is_short);
    }

    fn done(self, name: String) -> StatsRow {
        StatsRow {
            name,
            sessions: self.sessions.len(),
            prompts: self.prompts.len(),
            files: self.files.len(),
            active_ms: self.spans.into_values().map(covered_ms).sum(),
            ..self.row
        }
    }
}
