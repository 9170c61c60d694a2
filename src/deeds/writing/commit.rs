//! A message that is said, or said otherwise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{Kept, kept};
use super::served_settings;
use crate::deeds::advice::Exit;
use crate::deeds::{
    Amount, ApiError, At, BranchMoveParams, Decimal, Deed, HookQuestion, JsonSettings, Method,
    Provided, RequestSetting, Spelled, TextOrMessage, Tokens, branch_moves, must_be_allowed,
    settings_by_key,
};
use crate::error::Error;
use crate::formats::shared::single::{self, SingleMessage};
use crate::hash::CommitHash;
use crate::ingest::{read_message, read_messages};
use crate::model::budget::Budget;
use crate::model::tokens::Counter;
use crate::model::{Author, Draft, EntryId, Message, Part, Role, Settings, UsageRecord};
use crate::repo::{BranchMove, Call, CommitOptions, Committed, Config, Expect, Repo};

/// Append one message, or replace one
///
/// `message` is what the model reads; `note` is a remark for people, as git's message is. A text is never
/// taken for JSON: `json`, `batch` and `events` say that it is.
///
/// If a budget is set (budget.max) and the message goes beyond it, the setting
/// budget.action decides: warn, refuse, hide the oldest messages, or summarise. A refusal commits
/// nothing. Neither does one of the command that the setting hook.commit names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct CommitParams {
    /// system, developer, user, assistant or tool
    #[cfg_attr(
        feature = "cli",
        arg(short, long, value_name = "ROLE", required_unless_present_any = ["json", "batch", "events", "edit", "call"])
    )]
    pub role: Option<String>,
    /// The text
    #[schemars(with = "TextOrMessage")]
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "TEXT", group = "text"))]
    pub message: Option<String>,
    /// One message in a provider's form (OpenAI's or Anthropic's), or the response that holds it; on the command line a
    /// file (or -) with it
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "FILE", group = "text", conflicts_with_all = ["role", "call"])
    )]
    pub json: Option<Provided>,
    /// Such messages: all are committed, or none; on the command line a file (or -) with one on each line
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "FILE", group = "text", conflicts_with_all = ["role", "call", "edit"])
    )]
    pub batch: Vec<Provided>,
    /// The events of a reply that was streamed, as a provider's API sends them; on the command line a file (or -)
    /// with one on each line. Keep the part before a stream broke off, marked as cut
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "FILE", group = "text", conflicts_with_all = ["role", "call", "edit"])
    )]
    pub events: Vec<Provided>,
    /// Replace the content of this message; the old one stays in history
    #[cfg_attr(feature = "cli", arg(long, value_name = "REV"))]
    pub edit: Option<String>,
    /// The call that this tool result answers
    #[cfg_attr(feature = "cli", arg(long, value_name = "ID"))]
    pub call: Option<String>,
    /// The model, from here on
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "NAME", help_heading = "Request settings")
    )]
    pub model: Option<String>,
    /// The temperature, from here on
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "NUMBER", help_heading = "Request settings")
    )]
    pub temperature: Option<Spelled<Decimal>>,
    /// The longest reply, from here on
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", help_heading = "Request settings")
    )]
    pub max_tokens: Option<Spelled<Amount>>,
    /// Any other setting, by its key; on the command line VALUE is JSON or a plain text
    #[serde(with = "settings_by_key")]
    #[schemars(with = "JsonSettings")]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "KEY=VALUE", help_heading = "Request settings")
    )]
    pub set: Vec<RequestSetting>,
    /// The tools that the model may call, a JSON array; on the command line a file with it
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "FILE", help_heading = "Request settings")
    )]
    pub tools: Option<Provided>,
    /// A remark for people; no model sees it
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub note: Option<String>,
    /// The author; by default the setting author.name, if there is one
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub author: Option<String>,
    /// The program that commits, and its version
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub client: Option<String>,
    /// An id of what that program is about
    #[cfg_attr(feature = "cli", arg(long, value_name = "ID"))]
    pub run: Option<String>,
    /// Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
    #[cfg_attr(feature = "cli", arg(long, value_name = "REV|none"))]
    pub expect: Option<String>,
    /// Commit behind REV (none: as a first one), not on the branch, which stays where it is. The methods advance and
    /// move bring a branch there; gc may take away what no branch has. No budget is kept
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "REV|none", conflicts_with_all = ["edit", "moves"])
    )]
    pub after: Option<String>,
    /// Other branches that move in the same operation; on the command line each as JSON
    #[cfg_attr(feature = "cli", arg(long, value_name = "JSON"))]
    pub moves: Vec<BranchMoveParams>,
    /// Put a block of this type behind the last message's own. It names the commits that the moves make, in `commits`
    #[cfg_attr(feature = "cli", arg(long, value_name = "TYPE"))]
    pub made_block: Option<String>,
    /// Keep no budget: for a branch that no model is sent
    #[cfg_attr(feature = "cli", arg(long))]
    pub unbudgeted: bool,
    /// Do not ask the command of hook.commit
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_verify: bool,
}

/// What was committed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CommitAnswer {
    /// The commits, in the order of their messages; behind them what a budget made necessary.
    pub commits: Vec<MadeCommit>,
    /// The commits that `moves` made, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MadeCommit>,
    /// What the budget made of it: fits, over, truncated, pruned, waits; none where no budget is set. An action that
    /// names a command (`compact:CMD`) is for the command line to run: here the next one is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<&'static str>,
    /// Whether `budget.action` did not keep the budget. The commit stands.
    #[serde(skip)]
    is_over: bool,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MadeCommit {
    /// Its hash.
    pub hash: String,
    /// Its message's tokens. `log` adds 3 of the context itself to the first message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

impl MadeCommit {
    fn all(made: &[Committed]) -> Vec<Self> {
        let one = |made: &Committed| Self {
            hash: made.hash.to_string(),
            tokens: made.tokens.map(Tokens::from),
        };
        made.iter().map(one).collect()
    }
}

/// The message that an edit replaces: its entry, and what it is now.
pub type Edited = (EntryId, Message);

/// What is to be committed, and how.
pub struct Writing {
    /// The commits.
    pub drafts: Vec<Draft>,
    usages: Vec<Option<UsageRecord>>,
    expect: Option<Expect>,
    counter: Counter,
    moves: Vec<BranchMove>,
    made_block: Option<String>,
    /// Behind which commit instead of on the branch; none of these: as a first one.
    after: Option<Option<CommitHash>>,
    budget: Option<Budget>,
}

impl Writing {
    /// How it is committed.
    pub fn options(&self) -> CommitOptions<'_> {
        CommitOptions {
            expect: self.expect,
            counter: Some(self.counter),
            usages: &self.usages,
            moves: &self.moves,
            made_block: self.made_block.as_deref(),
        }
    }

    /// The budget that is to be kept.
    pub fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    /// Commits it where no budget is to be kept. Gives the commits, and those that moves made.
    ///
    /// # Errors
    ///
    /// As [`Repo::commit`].
    pub fn commit(
        &self,
        repo: &Repo,
        call: Call<'_>,
    ) -> Result<(Vec<Committed>, Vec<Committed>), ApiError> {
        let options = self.options();
        Ok(match self.after {
            Some(after) => {
                let made = repo.commit_after(call, after, &self.drafts, &options)?;
                (made, Vec::new())
            }
            None => repo.commit_moving(call, &self.drafts, &options)?,
        })
    }
}

impl CommitParams {
    /// The message that is replaced, where that is asked for.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn edited(&self, at: &At<'_>) -> Result<Option<Edited>, ApiError> {
        let Some(rev) = &self.edit else {
            return Ok(None);
        };
        let id = at.repo.resolve_entry(&at.on, rev)?;
        let message = at.repo.message_of(&at.on, &id)?;
        let nothing = || ApiError::refused(format!("{rev} holds no message that could be edited"));
        Ok(Some((id, message.ok_or_else(nothing)?)))
    }

    /// Who speaks, and the call that is answered.
    ///
    /// # Errors
    ///
    /// Where that is not said, or makes no sense together.
    pub fn speaker(&self, edited: Option<&Message>) -> Result<(Role, Option<String>), ApiError> {
        let role = self.role.as_deref().map(str::parse).transpose()?;
        let role = role
            .or(self.call.as_ref().map(|_| Role::Tool))
            .or(edited.map(|message| message.role))
            .ok_or_else(|| ApiError::params("'role' says who speaks"))?;
        let answered = || edited?.results().next().map(str::to_owned);
        let call = self.call.clone().or_else(answered);
        match (role, call) {
            (Role::Tool, None) => {
                let what = "a tool's message must name the 'call' that it answers";
                Err(ApiError::params(what).with_hint("`tract commit --call ID -m TEXT`"))
            }
            (Role::Tool, call) => Ok((role, call)),
            (role, Some(_)) if self.call.is_some() => {
                let what = format!("'call' is for results of tools, not for the role {role}");
                Err(ApiError::params(what))
            }
            (role, _) => Ok((role, None)),
        }
    }

    /// The message of a text. A result may be empty, for a tool may print nothing.
    ///
    /// # Errors
    ///
    /// As [`CommitParams::speaker`]; where the text is empty.
    pub fn said(&self, edited: Option<&Message>) -> Result<SingleMessage, ApiError> {
        let (role, call) = self.speaker(edited)?;
        let text = self.message.as_deref();
        let part = match call {
            Some(call) => Part::ToolResult {
                call,
                content: text
                    .filter(|text| !text.is_empty())
                    .map(Part::text)
                    .into_iter()
                    .collect(),
                is_error: false,
            },
            None => match text.filter(|text| !text.trim().is_empty()) {
                Some(text) => Part::text(text),
                None => return Err(Error::EmptyMessage.into()),
            },
        };
        let mut message = Message::new(role, vec![part]);
        if let Some(edited) = edited {
            message.name.clone_from(&edited.name);
            message.attached.clone_from(&edited.attached);
            message.recipient.clone_from(&edited.recipient);
        }
        Ok(SingleMessage {
            message: message.into(),
            usage: None,
            model: None,
            tier: None,
        })
    }

    /// The messages that are meant.
    fn read(&self, edited: Option<&Message>) -> Result<Vec<SingleMessage>, ApiError> {
        let is_said = self.message.is_some() || self.role.is_some() || self.call.is_some();
        let (is_told, is_listed) = (!self.events.is_empty(), !self.batch.is_empty());
        let ways = [is_said, self.json.is_some(), is_listed, is_told];
        if ways.iter().filter(|way| **way).count() != 1 {
            let what = "one of these: 'role' and 'message', 'json', 'batch', or 'events'";
            return Err(ApiError::params(what));
        }
        if edited.is_some() && (is_listed || is_told) {
            return Err(ApiError::params(
                "an edit is of one message: 'message' or 'json'",
            ));
        }
        if edited.is_some() && is_said && self.message.is_none() {
            return Err(ApiError::params(
                "'message' or 'json' says what it is to be",
            ));
        }
        match &self.json {
            _ if is_said => Ok(vec![self.said(edited)?]),
            _ if is_told => Ok(single::streamed(&texts(&self.events)?)?),
            Some(json) => Ok(vec![read_message(json.text()?)?]),
            None => Ok(read_messages(&texts(&self.batch)?).map_err(|(_, error)| error)?),
        }
    }

    /// The request settings that are given, as JSON texts.
    ///
    /// # Errors
    ///
    /// Where the tools are no list.
    pub fn settings(&self) -> Result<Settings, ApiError> {
        let mut settings = Settings::new();
        let mut add = |key: &str, json: String| settings.insert(key.to_owned(), json);
        if let Some(model) = &self.model {
            add("model", serde_json::Value::from(model.as_str()).to_string());
        }
        if let Some(temperature) = &self.temperature {
            add("temperature", temperature.to_string());
        }
        if let Some(tokens) = &self.max_tokens {
            add("max_tokens", tokens.to_string());
        }
        if let Some(tools) = &self.tools {
            let tools = tools.text()?.trim();
            if !tools.starts_with('[') {
                return Err(ApiError::params("'tools' is a list"));
            }
            add("tools", tools.to_owned());
        }
        for RequestSetting { key, value } in &self.set {
            add(key, value.text().to_owned());
        }
        Ok(settings)
    }

    /// What these messages are committed as, if the command of hook.commit allows it.
    ///
    /// # Errors
    ///
    /// Where options contradict each other, or name what is not there; where the hook refuses; the store's.
    pub fn writing(
        &self,
        at: &At<'_>,
        edited: Option<Edited>,
        messages: Vec<SingleMessage>,
    ) -> Result<Writing, ApiError> {
        if self.after.is_some() && (edited.is_some() || !self.moves.is_empty()) {
            return Err(ApiError::params(
                "'after' goes with neither 'edit' nor 'moves'",
            ));
        }
        if self.made_block.is_some() && self.moves.iter().all(|it| it.batch.is_empty()) {
            return Err(ApiError::params(
                "'made_block' goes with 'moves' that have a 'batch'",
            ));
        }
        let settings = self.settings()?;
        let after = at
            .expected(self.after.as_deref())?
            .map(|after| match after {
                Expect::Nothing => None,
                Expect::At(commit) => Some(commit),
            });
        // The tip is asked for only where a model or a tier is held against the one in force there.
        let is_served = edited.is_none()
            && messages
                .iter()
                .any(|it| it.model.is_some() || it.tier.is_some());
        let served = match (is_served, after) {
            (false, _) => Vec::new(),
            (true, after) => {
                let tip = match after {
                    Some(after) => after,
                    None => at.repo.head(&at.on)?.commit(),
                };
                served_settings(at.repo, &messages, settings.contains_key("model"), tip)?
            }
        };
        // What an edit says was not counted so.
        let usages = match edited {
            Some(_) => Vec::new(),
            None => messages.iter().map(|it| it.usage.clone()).collect(),
        };
        let drafts = messages.into_iter().map(|it| match &edited {
            Some((entry, old)) => Draft::edit(*entry, Message::clone(&it.message).replacing(old)),
            None => Draft::append(it.message),
        });
        let mut drafts: Vec<Draft> = drafts.collect();
        if let Some(first) = drafts.first_mut() {
            first.settings = settings;
            first.note.clone_from(&self.note);
        }
        let config = at.repo.config()?;
        let asked = Author {
            name: self.author.clone(),
            client: self.client.clone(),
            run: self.run.clone(),
        };
        let author = signed(at.repo, &config, asked);
        for draft in &mut drafts {
            draft.author.clone_from(&author);
        }
        for (draft, (key, value)) in served {
            let settings = &mut drafts[draft].settings;
            settings.entry(key.to_owned()).or_insert(value);
        }
        if !self.no_verify {
            must_be_allowed(at, &config, &HookQuestion::of_drafts(&drafts, after))?;
        }
        Ok(Writing {
            drafts,
            usages,
            expect: at.expected(self.expect.as_deref())?,
            counter: Counter::of(config.encoding()?),
            moves: branch_moves(at, &self.moves, &config, author.as_ref(), self.no_verify)?,
            made_block: self.made_block.clone(),
            after,
            budget: match self.unbudgeted || after.is_some() {
                true => None,
                false => config.budget()?,
            },
        })
    }

    /// Lets go of what was given: it may be long, and the log of operations keeps none of it.
    fn let_go(&mut self) {
        let given = || Provided::File("…".to_owned());
        for all in [&mut self.batch, &mut self.events] {
            all.truncate(1);
            all.fill_with(given);
        }
        for one in [&mut self.json, &mut self.tools] {
            *one = one.take().map(|_| given());
        }
        for one in &mut self.moves {
            one.batch.clear();
        }
    }
}

/// Who says it: as asked, else as it is set here, else whoever is at work.
pub(in crate::deeds) fn signed(repo: &Repo, config: &Config, asked: Author) -> Option<Author> {
    let own = repo.signature().cloned().unwrap_or_default();
    let name = match asked.name.or(own.name) {
        None if !repo.is_on_server() => config.get("author.name").map(str::to_owned),
        name => name,
    };
    let client = asked.client.or(own.client);
    let run = asked.run.or(own.run);
    Author { name, client, run }.known()
}

fn texts(all: &[Provided]) -> Result<Vec<&str>, ApiError> {
    all.iter().map(Provided::text).collect()
}

impl Method for CommitParams {
    const NAME: &'static str = "commit";
    const OBJECTS: &'static [(&'static str, &'static str)] = &[("message", "json")];
    const CHANGES: bool = true;
    type Answer = CommitAnswer;

    fn exit(answer: &CommitAnswer) -> Option<Exit> {
        answer.is_over.then_some(Exit::NotAllowed)
    }

    fn act(mut self, at: &mut At<'_>) -> Result<CommitAnswer, ApiError> {
        let edited = self.edited(at)?;
        let messages = self.read(edited.as_ref().map(|(_, old)| old))?;
        let writing = self.writing(at, edited, messages)?;
        self.let_go();
        let line = self.line();
        let call = at.call(&line);
        let Some(budget) = writing.budget() else {
            let (commits, moved) = writing.commit(at.repo, call)?;
            return Ok(CommitAnswer {
                commits: MadeCommit::all(&commits),
                moved: MadeCommit::all(&moved),
                budget: None,
                is_over: false,
            });
        };
        let surgery = at.surgery(false, None)?;
        let (drafts, options) = (&writing.drafts, writing.options());
        let within = at.repo.commit_within(call, drafts, &options, budget)?;
        let moved = MadeCommit::all(&within.moved);
        let Kept {
            commits,
            verdict,
            is_over,
        } = kept(at, within, budget.clone(), &surgery);
        Ok(CommitAnswer {
            commits: MadeCommit::all(&commits),
            moved,
            budget: Some(verdict),
            is_over,
        })
    }
}

impl Deed for CommitParams {
    const SHORT: &'static [(&'static str, &'static str)] = &[("role", "-r"), ("message", "-m")];
    const SAID: &'static [&'static str] = &[
        "message", "json", "batch", "events", "set", "tools", "note", "moves",
    ];
    const REVISIONS: &'static [&'static str] = &["edit", "expect", "after"];
}
