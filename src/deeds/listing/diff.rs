//! Two contexts, compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::alone;
use crate::deeds::advice::Exit;
use crate::deeds::cost::prices;
use crate::deeds::{ApiError, At, Deed, Method, RawJson};
use crate::diff::{Change, ContextDiff, DiffOptions, Kind, SettingChange};
use crate::formats::shared::sent::{SentDifference, SystemDifference};
use crate::hash::CommitHash;
use crate::ingest::missed_between;
use crate::model::{Operation, Role};
use crate::query::answered_request;
use crate::render::diff::{Show, selected};
use crate::repo::Repo;

/// Compare what a model would be sent at two commits
///
/// Without arguments, it compares HEAD with the commit before it; with one, that commit with HEAD. If that one commit
/// is an edit, it compares the message before and after it. Two messages are paired if they are the same entry (edited,
/// say), or have the same content, or else are the most alike. With `sent` it compares the requests that two replies
/// answered, as the client recorded them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct DiffParams {
    /// The first context, or A..B
    #[cfg_attr(feature = "cli", arg(value_name = "A|A..B"))]
    pub before: Option<String>,
    /// The second context; HEAD unless given
    #[cfg_attr(feature = "cli", arg(value_name = "B"))]
    pub after: Option<String>,
    /// Only messages of this role
    #[cfg_attr(feature = "cli", arg(long, value_name = "ROLE"))]
    pub role: Option<String>,
    /// Only messages that call this tool, or answer such a call
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub tool: Option<String>,
    /// Compare the ids of tool calls as well
    #[cfg_attr(feature = "cli", arg(long))]
    pub exact_ids: bool,
    /// The provider whose cache is asked about: openai, responses, anthropic, gemini or text
    #[cfg_attr(feature = "cli", arg(long, value_name = "F"))]
    pub format: Option<String>,
    /// Compare the requests of two replies as they were sent
    #[cfg_attr(
        feature = "cli",
        arg(long, requires = "before", conflicts_with_all = ["role", "tool", "exact_ids", "format"])
    )]
    pub sent: bool,
}

/// What differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DiffAnswer {
    /// The first commit; none: the empty context before any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The second commit.
    pub after: String,
    /// Whether the second commit is an edit, and the first the one before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_edit: bool,
    /// The messages that differ, in the conversation's order.
    pub changes: Vec<MessageChange>,
    /// The request settings that differ and that no message's commit set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<ChangedSetting>,
    /// The change in tokens.
    pub delta_tokens: i64,
    /// How many messages at the beginning a provider is sent byte for byte the same.
    pub same_messages: usize,
    /// How many bytes these are.
    pub same_bytes: usize,
    /// With `sent` how the requests differ; nothing else is compared then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<SentChanges>,
}

/// How two requests differ, as they were sent. What others wrote: escape it before it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SentChanges {
    /// Whether anything differs.
    pub differs: bool,
    /// The models of both, where these are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<(String, String)>,
    /// The blocks of the system prompt that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<SystemChange>,
    /// How many tools are the same.
    pub same_tools: u64,
    /// The tools that only the first has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed_tools: Vec<String>,
    /// The tools that only the second has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added_tools: Vec<String>,
    /// The tools that have another definition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_tools: Vec<String>,
    /// Whether the tools of both stand in another order.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub moved_tools: bool,
    /// The parameters and headers that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    /// How many messages at the beginning are the same.
    pub same_messages: u64,
    /// How many messages each has.
    pub messages: (u64, u64),
    /// The first difference in the first message that differs, as a path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The breakpoints that only the first has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed_breakpoints: Vec<String>,
    /// The breakpoints that only the second has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added_breakpoints: Vec<String>,
    /// The first byte that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<FirstByte>,
    /// How many tokens the first left in the provider's cache that the second did not read; none where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_tokens: Option<u64>,
    /// What that cost, in US dollars by list prices; none where the model has no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_dollars: Option<f64>,
}

/// A block of a system prompt that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SystemChange {
    /// The number of the block, from 0.
    pub block: u64,
    /// The number of the first line that differs, from 1.
    pub line: u64,
    /// That line in the first request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// That line in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The first byte that differs between two requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FirstByte {
    /// Its place in both.
    pub at: u64,
    /// How many bytes each has.
    pub bytes: (u64, u64),
    /// What it belongs to, as a path.
    pub path: String,
}

impl SentChanges {
    fn of(found: SentDifference) -> Self {
        let differs = !found.is_empty();
        let system = found.system.into_iter();
        let [removed_breakpoints, added_breakpoints] = found.marks;
        let byte = found.byte;
        Self {
            differs,
            models: found.model.map(Into::into),
            system: system
                .map(|SystemDifference { block, line, texts }| {
                    let [before, after] = texts;
                    SystemChange {
                        block,
                        line,
                        before,
                        after,
                    }
                })
                .collect(),
            same_tools: found.tools.same,
            removed_tools: found.tools.removed,
            added_tools: found.tools.added,
            changed_tools: found.tools.changed,
            moved_tools: found.tools.moved,
            parameters: found.parameters,
            same_messages: found.messages.same,
            messages: found.messages.counts.into(),
            path: found.messages.path,
            removed_breakpoints,
            added_breakpoints,
            first_byte: byte.map(|byte| FirstByte {
                at: byte.at,
                bytes: byte.sizes_bytes.into(),
                path: byte.path,
            }),
            missed_tokens: None,
            missed_dollars: None,
        }
    }
}

/// A message that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MessageChange {
    /// What happened to it: added, removed, hidden, returned or modified.
    pub kind: &'static str,
    /// Its number in the first context, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
    /// Its number in the second context, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
    /// Its name.
    pub id: String,
    /// Who speaks.
    pub role: &'static str,
    /// The change in tokens.
    pub delta_tokens: i64,
    /// The request settings that its commit changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<ChangedSetting>,
}

/// A request setting with another value.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChangedSetting {
    /// Its key.
    pub key: String,
    /// Its value in the first context; null where it is not set.
    pub before: Option<RawJson>,
    /// Its value in the second; likewise.
    pub after: Option<RawJson>,
}

impl ChangedSetting {
    fn of(change: &SettingChange) -> Self {
        let json = |text: &Option<String>| text.clone().map(RawJson::of);
        Self {
            key: change.key.clone(),
            before: json(&change.value.before),
            after: json(&change.value.after),
        }
    }
}

impl MessageChange {
    fn of(found: &ContextDiff, change: &Change) -> Self {
        Self {
            kind: match change.kind {
                Kind::Hidden => "hidden",
                Kind::Removed => "removed",
                Kind::Returned => "returned",
                Kind::Added => "added",
                Kind::Modified(_) => "modified",
            },
            before: change.before.map(|at| at + 1),
            after: change.after.map(|at| at + 1),
            id: found.entry(change).id.to_string(),
            role: found.message(change).role.as_str(),
            delta_tokens: change.delta,
            settings: change.settings.iter().map(ChangedSetting::of).collect(),
        }
    }
}

/// The two commits that are compared.
pub struct ComparedCommits {
    /// The first; none: the empty context before any.
    pub before: Option<CommitHash>,
    /// The second.
    pub after: CommitHash,
    /// What they were called.
    pub names: (String, String),
    /// Whether the second is an edit, and the first what was before it.
    pub is_edit: bool,
}

impl ComparedCommits {
    /// A commit with the one before it, or with nothing.
    fn with_parent(repo: &Repo, after: CommitHash, name: &str) -> Result<Self, ApiError> {
        let commit = repo.commit_at(&after)?;
        let nothing = || "the empty context".to_owned();
        let before = commit.parent.map_or_else(nothing, |parent| parent.short());
        Ok(Self {
            before: commit.parent,
            after,
            names: (before, name.to_owned()),
            is_edit: matches!(commit.operation, Operation::Edit { .. }),
        })
    }

    /// What differs.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn diff(&self, at: &At<'_>, options: &DiffOptions) -> Result<ContextDiff, ApiError> {
        let encoding = at.encoding()?;
        let found = match &self.before {
            Some(before) => at
                .repo
                .diff_of_rest(before, &self.after, options, encoding)?,
            None => at.repo.diff(None, Some(&self.after), options, encoding)?,
        };
        Ok(found)
    }

    /// How the requests differ that the two, which are replies, answered.
    ///
    /// # Errors
    ///
    /// Where one is not recorded, or cannot be told; the store's.
    pub fn sent(&self, at: &At<'_>) -> Result<SentChanges, ApiError> {
        let request = |reply: Option<&CommitHash>, name: &str| {
            let found = reply.map(|reply| answered_request(at.repo, reply, None));
            let found = found.transpose()?.flatten();
            found.map(|found| found.request).ok_or_else(|| {
                let fault = ApiError::refused(format!("no request is recorded for {name}"));
                fault.with_hint("`tract log --requests` lists those that are")
            })
        };
        let before = request(self.before.as_ref(), &self.names.0)?;
        let after = request(Some(&self.after), &self.names.1)?;
        let found = SentDifference::of(&before, &after).map_err(|lack| {
            let what = format!("what was sent cannot be told: {lack}");
            let hint = "`tract fsck --requests` says what is wrong";
            ApiError::new("damaged", Exit::Damaged, what).with_hint(hint)
        })?;
        let mut changes = SentChanges::of(found);
        if let Some(before) = &self.before {
            let missed = missed_between(at.repo, [before, &self.after], &prices(at.repo)?)?;
            changes.missed_tokens = missed.as_ref().map(|missed| missed.missed_tokens);
            changes.missed_dollars = missed.and_then(|missed| missed.missed_dollars);
        }
        Ok(changes)
    }
}

impl DiffParams {
    /// The two commits that are meant.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`].
    pub fn compared(&self, at: &At<'_>) -> Result<ComparedCommits, ApiError> {
        let pair = |before: &str, after: &str| {
            let name = |text: &str| if text.is_empty() { "HEAD" } else { text }.to_owned();
            let names = (name(before), name(after));
            Ok(ComparedCommits {
                before: Some(at.resolve(Some(&names.0))?),
                after: at.resolve(Some(&names.1))?,
                names,
                is_edit: false,
            })
        };
        match (self.before.as_deref(), self.after.as_deref()) {
            (Some(before), Some(after)) => pair(before, after),
            // A text that is looked for may hold dots of its own.
            (Some(range), None) => {
                match range.split_once("..").filter(|_| !range.starts_with(":/")) {
                    Some((before, after)) => pair(before, after),
                    None => {
                        let commit = at.resolve(Some(range))?;
                        match at.repo.commit_at(&commit)?.operation {
                            Operation::Edit { .. } => {
                                ComparedCommits::with_parent(at.repo, commit, range)
                            }
                            _ => pair(range, "HEAD"),
                        }
                    }
                }
            }
            (None, _) => ComparedCommits::with_parent(at.repo, at.resolve(None)?, "HEAD"),
        }
    }

    /// Which messages are shown.
    ///
    /// # Errors
    ///
    /// Where a role is none.
    pub fn show(&self) -> Result<Show, ApiError> {
        Ok(Show {
            role: self.role.as_deref().map(str::parse::<Role>).transpose()?,
            tool: self.tool.clone(),
            ..Show::default()
        })
    }
}

impl Method for DiffParams {
    const NAME: &'static str = "diff";
    const CHANGES: bool = false;
    type Answer = DiffAnswer;

    fn check(&self) -> Result<(), ApiError> {
        if self.before.is_none() && self.after.is_some() {
            let fault = ApiError::params("'after' wants a 'before'");
            return Err(fault.with_hint("what one commit changed: REV^..REV"));
        }
        if self.sent {
            if self.before.is_none() {
                return Err(ApiError::params("'sent' wants the two replies"));
            }
            let others = [
                ("role", self.role.is_some()),
                ("tool", self.tool.is_some()),
                ("exact_ids", self.exact_ids),
                ("format", self.format.is_some()),
            ];
            alone("sent", &others)?;
        }
        Ok(())
    }

    fn act(self, at: &mut At<'_>) -> Result<DiffAnswer, ApiError> {
        let compared = self.compared(at)?;
        let mut answer = DiffAnswer {
            before: compared.before.map(|commit| commit.to_string()),
            after: compared.after.to_string(),
            is_edit: compared.is_edit,
            changes: Vec::new(),
            settings: Vec::new(),
            delta_tokens: 0,
            same_messages: 0,
            same_bytes: 0,
            sent: None,
        };
        if self.sent {
            answer.sent = Some(compared.sent(at)?);
            return Ok(answer);
        }
        let show = self.show()?;
        let options = DiffOptions {
            exact_ids: self.exact_ids,
            ..DiffOptions::default()
        };
        let found = compared.diff(at, &options)?;
        let provider = at.provider(self.format.as_deref())?;
        let same = at.repo.shared_prefix(&found, provider, at.encoding()?)?;
        let changes = selected(&found, &show);
        if changes.is_empty() {
            at.repo.check_tools(&at.on, &show.tool)?;
        }
        let changes = changes.iter().map(|(it, _)| MessageChange::of(&found, it));
        answer.changes = changes.collect();
        answer.settings = found.settings.iter().map(ChangedSetting::of).collect();
        answer.delta_tokens = found.delta();
        answer.same_messages = same.messages;
        answer.same_bytes = same.size_bytes;
        Ok(answer)
    }
}

impl Deed for DiffParams {
    const PLACES: &'static [&'static str] = &["before", "after"];
}
