//! Messages said, replaced, pinned.

mod annotate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use annotate::AnnotateParams;

use super::facts::{Position, Tokens};
use super::{
    ApiError, At, BranchMoveParams, JsonSettings, Method, MoveAnswer, RawJson, branch_moves,
};
use crate::error::Error;
use crate::formats::shared::single::{self, SingleMessage};
use crate::hash::CommitHash;
use crate::ingest::{read_message, read_messages};
use crate::model::price::is_usual_tier;
use crate::model::tokens::Counter;
use crate::model::{Author, Draft, Message, Part, Role};
use crate::repo::{CommitOptions, Committed, Expect, Repo};
use crate::rewrite::Verdict;

/// A message that is said: a role and a text, or a message in a provider's form.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CommitParams {
    /// Who speaks: system, developer, user, assistant or tool.
    pub role: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// The id of the tool call that the text answers. The role is tool then.
    pub call: Option<String>,
    /// In place of role and text: a message as OpenAI or Anthropic write it, or the response that holds it.
    pub message: Option<RawJson>,
    /// In place of all that: several such messages. All are committed, or none.
    pub messages: Vec<RawJson>,
    /// In place of all that: the events of a reply that was streamed, as Anthropic's or OpenAI's API sends them. What
    /// came before a stream broke off is kept, and marked as cut.
    pub events: Vec<RawJson>,
    /// Request settings that hold from the first of them on: model, temperature, tools, …
    pub settings: JsonSettings,
    /// A remark for people; no model sees it.
    pub note: Option<String>,
    /// Who says it: a person, or a program in their place. The setting `author.name` unless given.
    pub author: Option<String>,
    /// The program that commits, and its version.
    pub client: Option<String>,
    /// An id of what that program is about.
    pub run: Option<String>,
    /// Refuse (exit code 4) unless the branch is at this revision; `none`: unless it has no commit.
    pub expect: Option<String>,
    /// Behind this commit (`none`: as a first one) instead of on the branch, which stays where it is. `advance` or `move`
    /// moves it there; a collection may take away what never is. No budget is kept.
    pub after: Option<String>,
    /// Other branches that move in the same operation, not with `after`.
    pub moves: Vec<BranchMoveParams>,
    /// Keep no budget: for a branch that no model is sent.
    pub unbudgeted: bool,
}

/// What was committed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CommitAnswer {
    /// The commits, in the order of their messages; behind them what a budget made necessary.
    pub commits: Vec<MadeCommit>,
    /// What the budget made of it: fits, over, truncated, waits; none where no budget is set. What names a command
    /// (`compact:CMD`) is for the command line to run: here it is `over`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<&'static str>,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MadeCommit {
    /// Its hash.
    pub hash: String,
    /// Its message's tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

impl MadeCommit {
    fn of(made: &Committed) -> Self {
        Self {
            hash: made.hash.to_string(),
            tokens: made.tokens.map(Tokens::from),
        }
    }
}

impl CommitParams {
    /// The messages that are meant.
    fn read(&self) -> Result<Vec<SingleMessage>, ApiError> {
        let is_said = self.role.is_some() || self.text.is_some() || self.call.is_some();
        let (is_told, is_listed) = (!self.events.is_empty(), !self.messages.is_empty());
        let ways = [is_said, self.message.is_some(), is_listed, is_told];
        if ways.iter().filter(|way| **way).count() != 1 {
            let what = "one of these: 'role' and 'text', 'message', 'messages', or 'events'";
            return Err(ApiError::params(what));
        }
        if is_told {
            let events: Vec<&str> = self.events.iter().map(RawJson::text).collect();
            return Ok(single::streamed(&events)?);
        }
        let provided = self.message.iter().chain(&self.messages);
        if !is_said {
            let texts: Vec<&str> = provided.map(RawJson::text).collect();
            return Ok(read_messages(&texts).map_err(|(_, error)| error)?);
        }
        let role = match (&self.role, &self.call) {
            (Some(role), _) => role.parse::<Role>()?,
            (None, Some(_)) => Role::Tool,
            (None, None) => return Err(ApiError::params("'role' says who speaks")),
        };
        let text = self.text.clone();
        let message = said(role, self.call.as_deref(), text.as_deref())?;
        Ok(vec![SingleMessage {
            message: message.into(),
            usage: None,
            model: None,
            tier: None,
        }])
    }
}

/// A message of a text. A result may be empty, for a tool may print nothing.
fn said(role: Role, call: Option<&str>, text: Option<&str>) -> Result<Message, ApiError> {
    let part = match (role, call) {
        (Role::Tool, None) => {
            return Err(ApiError::params(
                "a tool's message names the 'call' that it answers",
            ));
        }
        (Role::Tool, Some(call)) => Part::ToolResult {
            call: call.to_owned(),
            content: text
                .filter(|text| !text.is_empty())
                .map(Part::text)
                .into_iter()
                .collect(),
            is_error: false,
        },
        (role, Some(_)) => {
            let what = format!("'call' is for results of tools, not for the role {role}");
            return Err(ApiError::params(what));
        }
        (_, None) => match text {
            Some(text) if !text.trim().is_empty() => Part::text(text),
            _ => return Err(Error::EmptyMessage.into()),
        },
    };
    Ok(Message::new(role, vec![part]))
}

/// A setting that a response says: of which message, its key, and its value as JSON.
pub type ServedSetting = (usize, (&'static str, String));

/// What responses say of who answered, as settings: in which of the messages, and what. Which model it is was asked
/// for, and is only said where nobody has named one; a tier is only said where another was in force.
///
/// # Errors
///
/// The store's.
pub fn served_settings(
    repo: &Repo,
    messages: &[SingleMessage],
    names_model: bool,
    tip: Option<CommitHash>,
) -> Result<Vec<ServedSetting>, Error> {
    let mut found = Vec::new();
    let mut of_model = messages.iter().map(|it| &it.model).enumerate();
    if !names_model
        && let Some((at, Some(model))) = of_model.find(|(_, model)| model.is_some())
        && tip.map_or(Ok(None), |tip| repo.model_at(&tip))?.is_none()
    {
        found.push((at, ("model", model.clone())));
    }
    if messages.iter().any(|it| it.tier.is_some()) {
        let mut held = tip.map_or(Ok(None), |tip| repo.tier_at(&tip))?;
        for (at, said) in messages.iter().enumerate() {
            let Some(tier) = &said.tier else { continue };
            let unusual = Some(tier.clone()).filter(|tier| !is_usual_tier(tier));
            if unusual != held {
                let json = serde_json::Value::from(tier.as_str()).to_string();
                found.push((at, ("service_tier", json)));
            }
            held = unusual;
        }
    }
    Ok(found)
}

/// Who says it: as asked, else as it is set here, else whoever is at work.
fn signed(
    repo: &Repo,
    name: Option<String>,
    client: Option<String>,
    run: Option<String>,
) -> Result<Option<Author>, Error> {
    let own = repo.signature().cloned().unwrap_or_default();
    let name = match name.or(own.name) {
        None if !repo.is_on_server() => repo.config()?.get("author.name").map(str::to_owned),
        name => name,
    };
    let (client, run) = (client.or(own.client), run.or(own.run));
    Ok(Author { name, client, run }.known())
}

impl Method for CommitParams {
    const NAME: &'static str = "commit";
    const ABOUT: &'static str = "Appends messages to the branch.";
    const CHANGES: bool = true;
    type Answer = CommitAnswer;

    fn call(self, at: &mut At<'_>) -> Result<CommitAnswer, ApiError> {
        let messages = self.read()?;
        let expect = at.expected(self.expect.as_deref())?;
        let after = at.expected(self.after.as_deref())?;
        if after.is_some() && !self.moves.is_empty() {
            return Err(ApiError::params("'after' or 'moves', not both"));
        }
        let moves = branch_moves(at, &self.moves)?;
        let usages: Vec<_> = messages.iter().map(|it| it.usage).collect();
        // The tip is asked for only where a model or a tier is held against the one in force there.
        let is_served = messages
            .iter()
            .any(|it| it.model.is_some() || it.tier.is_some());
        let tip = match after {
            None if is_served => at.repo.head(&at.on)?.commit(),
            None | Some(Expect::Nothing) => None,
            Some(Expect::At(commit)) => Some(commit),
        };
        let config = at.repo.config()?;
        let served = served_settings(at.repo, &messages, self.settings.contains_key("model"), tip)?;
        let drafts = messages.into_iter().map(|it| Draft::append(it.message));
        let mut drafts: Vec<Draft> = drafts.collect();
        if let Some(first) = drafts.first_mut() {
            let settings = self.settings.iter();
            first.settings = settings
                .map(|(key, json)| (key.clone(), json.text().to_owned()))
                .collect();
            first.note.clone_from(&self.note);
        }
        let author = signed(at.repo, self.author, self.client, self.run)?;
        for draft in &mut drafts {
            draft.author.clone_from(&author);
        }
        for (draft, (key, value)) in served {
            drafts[draft]
                .settings
                .entry(key.to_owned())
                .or_insert(value);
        }
        let options = CommitOptions {
            expect,
            counter: Some(Counter::of(config.encoding()?)),
            usages: &usages,
            moves: &moves,
        };
        let call = at.call("commit …");
        if after.is_some() {
            let commits = at.repo.commit_after(call, tip, &drafts, &options)?;
            return Ok(CommitAnswer {
                commits: commits.iter().map(MadeCommit::of).collect(),
                budget: None,
            });
        }
        let budget = match self.unbudgeted {
            true => None,
            false => config.budget()?,
        };
        let Some(budget) = budget else {
            let commits = at.repo.commit(call, &drafts, &options)?;
            return Ok(CommitAnswer {
                commits: commits.iter().map(MadeCommit::of).collect(),
                budget: None,
            });
        };
        let within = at.repo.commit_within(call, &drafts, &options, &budget)?;
        Ok(CommitAnswer {
            commits: within.commits.iter().map(MadeCommit::of).collect(),
            budget: Some(match within.verdict {
                Verdict::Fits => "fits",
                Verdict::Over { .. } | Verdict::Compact { .. } | Verdict::Prune { .. } => "over",
                Verdict::Truncated { .. } => "truncated",
                Verdict::Waits { .. } => "waits",
            }),
        })
    }
}

/// Where to, and from where.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvanceParams {
    /// The commit, one that was made with `after`.
    pub rev: String,
    /// Refuse (exit code 4) unless the branch is at this revision; `none`: unless it has no commit.
    pub expect: String,
    /// What the log of operations calls it.
    #[serde(default)]
    pub what: Option<String>,
}

impl Method for AdvanceParams {
    const NAME: &'static str = "advance";
    const ABOUT: &'static str =
        "Moves the branch forward to commits that were made with `after`, all at once.";
    const CHANGES: bool = true;
    type Answer = MoveAnswer;

    fn call(self, at: &mut At<'_>) -> Result<MoveAnswer, ApiError> {
        let to = at.resolve(Some(&self.rev))?;
        let expect = at.expected(Some(&self.expect))?;
        let expect = expect.unwrap_or(Expect::Nothing);
        let what = self.what.as_deref().unwrap_or("advance");
        let branch = at.repo.advance(at.call(what), to, expect)?;
        let branch = Some(branch.short().to_owned());
        let from = match expect {
            Expect::Nothing => None,
            Expect::At(commit) => Some(commit.to_string()),
        };
        Ok(MoveAnswer {
            from: Position {
                branch: branch.clone(),
                commit: from,
            },
            to: Position {
                branch,
                commit: Some(to.to_string()),
            },
        })
    }
}

/// Which message, and what it is to say.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditParams {
    /// The message.
    pub rev: String,
    /// Its new text.
    #[serde(default)]
    pub text: Option<String>,
    /// In place of the text: a message as OpenAI or Anthropic write it.
    #[serde(default)]
    pub message: Option<RawJson>,
}

impl Method for EditParams {
    const NAME: &'static str = "edit";
    const ABOUT: &'static str = "Replaces the content of a message; the old one stays in history.";
    const CHANGES: bool = true;
    type Answer = CommitAnswer;

    fn call(self, at: &mut At<'_>) -> Result<CommitAnswer, ApiError> {
        let id = at.repo.resolve_entry(&at.on, &self.rev)?;
        let old = at.repo.message_of(&at.on, &id)?;
        let nothing = || {
            ApiError::refused(format!(
                "{} holds no message that could be edited",
                self.rev
            ))
        };
        let old = old.ok_or_else(nothing)?;
        let new = match (&self.text, &self.message) {
            (Some(text), None) => {
                let call = old.results().next().map(str::to_owned);
                let mut new = said(old.role, call.as_deref(), Some(text))?;
                new.name.clone_from(&old.name);
                new.attached.clone_from(&old.attached);
                new.recipient.clone_from(&old.recipient);
                new.into()
            }
            (None, Some(json)) => read_message(json.text())?.message,
            _ => {
                return Err(ApiError::params(
                    "'text' or 'message' says what it is to be",
                ));
            }
        };
        let options = CommitOptions {
            counter: Some(Counter::of(at.encoding()?)),
            ..CommitOptions::default()
        };
        let call = at.call("edit …");
        let new = Message::clone(&new).replacing(&old);
        let commits = at.repo.commit(call, &[Draft::edit(id, new)], &options)?;
        Ok(CommitAnswer {
            commits: commits.iter().map(MadeCommit::of).collect(),
            budget: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deeds::{ContextParams, MoveParams, ResetParams, Still};
    use crate::model::Millis;
    use crate::repo::On;

    fn called<M: Method>(repo: &Repo, params: serde_json::Value) -> Result<M::Answer, ApiError> {
        let params: M = serde_json::from_value(params).expect("parameters");
        params.call(&mut At::new(repo, On::Head, &Still))
    }

    fn visible(repo: &Repo) -> usize {
        let context = ContextParams::default().call(&mut At::new(repo, On::Head, &Still));
        context.expect("a context").total
    }

    /// Says a text behind a commit, and gives its commit.
    fn after(repo: &Repo, rev: &str) -> String {
        let said = serde_json::json!({ "role": "user", "text": "hello", "after": rev });
        let made = called::<CommitParams>(repo, said).expect("commits");
        made.commits[0].hash.clone()
    }

    #[test]
    fn commits_behind_others_are_seen_when_the_branch_advances() {
        let repo = Repo::ephemeral().expect("a repository");
        let first = after(&repo, "none");
        let second = after(&repo, &first);
        assert_eq!(visible(&repo), 0);
        let to = serde_json::json!({ "rev": second, "expect": "none", "what": "turn" });
        called::<AdvanceParams>(&repo, to.clone()).expect("advances");
        assert_eq!(visible(&repo), 2);
        // All of it was one operation.
        assert_eq!(
            repo.undo(None, Millis(0)).expect("undoes").operation.what,
            "turn"
        );
        assert_eq!(visible(&repo), 0);
        called::<AdvanceParams>(&repo, to.clone()).expect("advances");
        let fault = called::<AdvanceParams>(&repo, to).expect_err("somebody was first");
        assert_eq!((fault.kind.as_str(), fault.exit_code), ("ref_moved", 4));
        let said = serde_json::json!({ "role": "user", "text": "aside", "after": first });
        let aside = called::<CommitParams>(&repo, said).expect("commits");
        let aside = &aside.commits[0].hash;
        let back = serde_json::json!({ "rev": aside, "expect": second });
        let fault = called::<AdvanceParams>(&repo, back).expect_err("not forward");
        assert_eq!(fault.kind, "not_forward");
        assert_eq!(visible(&repo), 2);
    }

    #[test]
    fn branches_move_at_once_or_not_at_all() {
        let repo = Repo::ephemeral().expect("a repository");
        let say = |more: serde_json::Value| {
            let mut said = serde_json::json!({ "role": "user", "text": "hello" });
            said.as_object_mut().expect("an object").extend(
                more.as_object()
                    .expect("an object")
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
            called::<CommitParams>(&repo, said).map(|made| made.commits[0].hash.clone())
        };
        let refused = |fault: ApiError| (fault.kind.as_str() == "ref_moved", fault.exit_code);
        let at = |branch: &str| {
            let on = On::Branch(crate::model::RefName::branch(branch).expect("a name"));
            let head = repo.head(&on).expect("a branch");
            head.commit().map(|commit| commit.to_string())
        };
        let first = say(serde_json::json!({})).expect("commits");
        let aside = after(&repo, "none");
        // A commit brings another branch along.
        let along =
            serde_json::json!({ "moves": [{ "branch": "aside", "to": aside, "expect": "none" }] });
        let second = say(along.clone()).expect("commits");
        assert_eq!(at("aside"), Some(aside.clone()));
        let fault = say(along).expect_err("it is there");
        assert_eq!(refused(fault), (true, 4));
        assert_eq!(at("main"), Some(second.clone()));
        // All of them, or none; one that stays where it is expected is a condition.
        let moves = |expect: &str| {
            serde_json::json!({ "what": "back", "moves": [
                { "branch": "main", "to": first, "expect": second },
                { "branch": "new", "to": second },
                { "branch": "aside", "to": aside, "expect": expect },
            ] })
        };
        let fault = called::<MoveParams>(&repo, moves(&second)).expect_err("it is elsewhere");
        assert_eq!((refused(fault), at("new")), ((true, 4), None));
        let moved = called::<MoveParams>(&repo, moves(&aside)).expect("moves");
        assert_eq!(
            (at("main"), at("new")),
            (Some(first.clone()), Some(second.clone()))
        );
        assert_eq!(moved.moved[2].old, moved.moved[2].new);
        // It was one operation, and ORIG_HEAD keeps nothing.
        let undone = repo.undo(None, Millis(0)).expect("undoes").operation.what;
        assert_eq!(
            (undone.as_str(), at("main")),
            ("back", Some(second.clone()))
        );
        let orig = repo.resolve(&On::Head, "ORIG_HEAD");
        assert!(orig.is_err());
        let gone = serde_json::json!({ "moves": [{ "branch": "aside" }] });
        called::<MoveParams>(&repo, gone).expect("moves");
        assert_eq!(at("aside"), None);
        // The same condition holds for other changes.
        let back = serde_json::json!({ "rev": first, "expect": first });
        let fault = called::<ResetParams>(&repo, back).expect_err("it is elsewhere");
        assert_eq!(refused(fault), (true, 4));
        let skip =
            |expect: &str| serde_json::json!({ "revs": [first], "skip": true, "expect": expect });
        let fault = called::<AnnotateParams>(&repo, skip(&first)).expect_err("it is elsewhere");
        assert_eq!(refused(fault), (true, 4));
        called::<AnnotateParams>(&repo, skip(&second)).expect("annotates");
        assert_eq!(visible(&repo), 1);
    }

    #[test]
    fn a_commit_without_a_budget_is_not_refused() {
        let repo = Repo::ephemeral().expect("a repository");
        for (key, value) in [("budget.max", "9"), ("budget.action", "refuse")] {
            repo.set_config(key, Some(value)).expect("set");
        }
        let say = |unbudgeted: bool| {
            let text = "more words than nine tokens hold, and then some";
            let said =
                serde_json::json!({ "role": "user", "text": text, "unbudgeted": unbudgeted });
            called::<CommitParams>(&repo, said)
        };
        assert_eq!(say(false).expect_err("too much").kind, "over_budget");
        assert_eq!(say(true).expect("commits").budget, None);
    }

    #[test]
    fn a_stream_that_broke_off_is_kept_as_far_as_it_came() {
        let repo = Repo::ephemeral().expect("a repository");
        let events = serde_json::json!([
            { "choices": [{ "index": 0, "delta": { "role": "assistant", "content": "All " } }] },
            { "choices": [{ "index": 0, "delta": { "content": "of a sud" } }] },
        ]);
        called::<CommitParams>(&repo, serde_json::json!({ "events": events })).expect("commits");
        let context = called::<ContextParams>(&repo, serde_json::json!({})).expect("a context");
        let message = &context.messages[0].message;
        assert!(message.interrupted);
        assert_eq!(message.parts, [Part::text("All of a sud")]);
        let odd = serde_json::json!({ "events": [{ "hello": 1 }] });
        let fault = called::<CommitParams>(&repo, odd).expect_err("no stream");
        assert_eq!((fault.kind.as_str(), visible(&repo)), ("invalid_input", 1));
    }
}
