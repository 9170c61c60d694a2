//! Stubs for old tool outputs, on a repository.

use std::collections::HashMap;

pub use crate::context::plan::prune::Limits;
use crate::context::plan::{GonePart, PartLink, PlanEntry, PlanInput, prune};
use crate::error::Result;
use crate::model::tokens::{Counter, grouped};
use crate::model::{Draft, Encoding, EntryId};
use crate::query::provider::TokenBudget;
use crate::repo::repository::Repo;
use crate::rewrite::{Needs, Plan, Scene};

/// Puts a line in the place of old tool outputs; the calls stay. It would save too little:
/// nothing is committed. Carried out by [`Repo::carry_out`].
///
/// ```
/// use tract::rewrite::{Limits, Prune};
/// use tract::repo::{Call, CommitOptions, On, Repo};
/// use tract::rewrite::SurgeryOptions;
/// use tract::model::{Draft, Message, Millis, Part, Role};
///
/// let repo = Repo::ephemeral()?;
/// let call = Part::ToolCall {
///     id: "1".into(),
///     name: "read_file".into(),
///     arguments: r#"{"path":"src/lib.rs"}"#.into(),
///     kind: None,
/// };
/// let result = Part::ToolResult {
///     call: "1".into(),
///     content: vec![Part::text("fn main() {}\n".repeat(100))],
///     is_error: false,
/// };
/// let message = |role, part| Message::new(role, vec![part]);
/// let drafts = [
///     Message::text(Role::User, "the task"),
///     message(Role::Assistant, call),
///     message(Role::Tool, result),
///     Message::text(Role::User, "go on"),
/// ]
/// .map(Draft::append);
/// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
///
/// let limits = Limits { turns: 1, protect: 0, min: 0, ..Limits::default() };
/// let prune = Prune { limits, ..Prune::default() };
/// let done = repo.carry_out(Call::at(Millis(0), "prune"), &prune, &SurgeryOptions::default())?;
///
/// assert_eq!(done.changed.len(), 1);
/// assert!(done.delta() < -100);
/// # Ok::<(), tract::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// What is left alone.
    pub limits: Limits,
    /// Only outputs of these tools; empty: of all.
    pub tools: Vec<String>,
    /// No outputs of these tools, unless `tools` names them; they are not counted either.
    pub keep: Vec<String>,
    /// Whether it looks behind what was pruned before.
    pub whole: bool,
    /// Only outputs of more tokens than this.
    pub larger_than: u64,
    /// Only as many, the oldest first, as let the context fit; none if it fits already.
    pub budget: Option<TokenBudget>,
}

impl Plan for Prune {
    fn needs(&self) -> Needs {
        Needs {
            part_tokens: true,
            together: true,
            ..Needs::default()
        }
    }

    fn drafts(&self, repo: &Repo, scene: &Scene, encoding: Encoding) -> Result<Vec<Draft>> {
        let mut limits = self.limits;
        if let Some(budget) = self.budget {
            let within = scene.says_for(repo, budget)?.ours_within(budget.tokens);
            limits.enough = scene.size().tokens.tokens.saturating_sub(within);
        }
        let plan = self.walk(&scene.input, encoding, |is_kept, stub| {
            prune::prune(&scene.input, limits, self.whole, is_kept, stub)
        });
        Ok(plan.into_iter().collect())
    }
}

impl Prune {
    /// The outputs that a line may stand for, newest first, each with the tokens that it saves.
    pub(super) fn outputs(&self, input: &PlanInput, encoding: Encoding) -> Vec<(u64, GonePart)> {
        self.walk(input, encoding, |is_kept, stub| {
            prune::outputs(input, self.limits, self.whole, is_kept, stub)
        })
    }

    /// What `walk` makes of which outputs are kept, and of the line for each.
    fn walk<T>(
        &self,
        input: &PlanInput,
        encoding: Encoding,
        walk: impl FnOnce(
            &dyn Fn(&PlanEntry, usize) -> bool,
            &dyn Fn(&PlanEntry, usize) -> Option<(String, u64)>,
        ) -> T,
    ) -> T {
        let counter = Counter::of(encoding);
        let tools = tools(input);
        let tool_of = |entry: &PlanEntry, part: usize| tools.get(&(entry.entry.id, part)).copied();
        let is_in = |names: &[String], tool: &str| names.iter().any(|name| name == tool);
        let is_kept = |entry: &PlanEntry, part: usize| {
            let tool = tool_of(entry, part);
            tool.is_some_and(|tool| is_in(&self.keep, tool) && !is_in(&self.tools, tool))
        };
        let stub = |entry: &PlanEntry, part: usize| {
            let tokens = entry.parts[part].tokens;
            let tool = tool_of(entry, part);
            let meant = self.tools.is_empty() || tool.is_some_and(|it| is_in(&self.tools, it));
            if !meant || tokens <= self.larger_than {
                return None;
            }
            let text = stub_text(tool, tokens, &entry.entry.id);
            let tokens = counter.text(&text);
            Some((text, tokens))
        };
        walk(&is_kept, &stub)
    }
}

/// The line that stands for an output.
fn stub_text(tool: Option<&str>, tokens: u64, entry: &EntryId) -> String {
    let tool = tool.unwrap_or("a tool");
    let (tokens, commit) = (grouped(tokens), entry.commit.short());
    format!("[output of {tool} hidden: {tokens} tokens; tract show {commit}]")
}

/// The name of the tool behind each visible result: by entry, and the part's index in its content.
fn tools(input: &PlanInput) -> HashMap<(EntryId, usize), &str> {
    let mut tools = HashMap::new();
    for pair in input.pairs().pairs() {
        if let Some(call) = input.part_of(pair.call, true)
            && let Some(result) = input.part_of(pair.result, false)
            && let PartLink::Call { tool, .. } = &input.order[pair.call.0].parts[call].link
        {
            let entry = input.order[pair.result.0].entry.id;
            tools.insert((entry, result), tool.as_str());
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Message, Part, Role};
    use crate::repo::{Call, CommitOptions};
    use crate::rewrite::SurgeryOptions;

    #[test]
    fn what_was_pruned_before_ends_the_walk() {
        let repo = Repo::ephemeral().expect("a repository");
        let message = |role, part| Draft::append(Message::new(role, vec![part]));
        let mut drafts = vec![Draft::append(Message::text(Role::User, "the task"))];
        for (id, tool) in [("1", "older"), ("2", "newer")] {
            let call = Part::call(id.into(), tool.into(), "{}".into(), None);
            let result = Part::ToolResult {
                call: id.into(),
                content: vec![Part::text("a line of it\n".repeat(100))],
                is_error: false,
            };
            drafts.push(message(Role::Assistant, call));
            drafts.push(message(Role::Tool, result));
        }
        let options = CommitOptions::default();
        repo.commit(Call::default(), &drafts, &options)
            .expect("commits");
        let limits = Limits {
            turns: 0,
            protect: 0,
            min: 0,
            ..Limits::default()
        };
        let prune = |tools: &[&str], whole| {
            let prune = Prune {
                limits,
                tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
                whole,
                ..Prune::default()
            };
            let done = repo.carry_out(Call::default(), &prune, &SurgeryOptions::default());
            done.expect("it is carried out").changed.len()
        };
        assert_eq!(prune(&["newer"], false), 1);
        assert_eq!(prune(&[], false), 0, "the older one stands behind it");
        assert_eq!(prune(&[], true), 1);
    }
}
