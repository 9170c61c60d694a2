//! Two contexts, compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ApiError, At, Method, RawJson};
use crate::diff::{Change, ContextDiff, DiffOptions, Kind, SettingChange};

/// Which contexts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DiffParams {
    /// The first context; the one before `after`, unless given.
    pub before: Option<String>,
    /// The second context; HEAD's unless given.
    pub after: Option<String>,
    /// The provider whose cache is asked about: openai, responses, anthropic or text.
    pub format: Option<String>,
    /// Compare the ids of tool calls as well.
    pub exact_ids: bool,
}

/// What differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DiffAnswer {
    /// The first commit; none: the empty context before any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The second commit.
    pub after: String,
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

impl Method for DiffParams {
    const NAME: &'static str = "diff";
    const ABOUT: &'static str = "Compares what a model would be sent at two commits.";
    const CHANGES: bool = false;
    type Answer = DiffAnswer;

    fn act(self, at: &mut At<'_>) -> Result<DiffAnswer, ApiError> {
        let after = at.resolve(self.after.as_deref())?;
        let before = match &self.before {
            Some(rev) => Some(at.resolve(Some(rev))?),
            None => at.repo.commit_at(&after)?.parent,
        };
        let options = DiffOptions {
            exact_ids: self.exact_ids,
            ..DiffOptions::default()
        };
        let encoding = at.encoding()?;
        let found = match &before {
            Some(before) => at.repo.diff_of_rest(before, &after, &options, encoding)?,
            None => at.repo.diff(None, Some(&after), &options, encoding)?,
        };
        let provider = at.provider(self.format.as_deref())?;
        let same = at.repo.shared_prefix(&found, provider, encoding)?;
        Ok(DiffAnswer {
            before: before.map(|commit| commit.to_string()),
            after: after.to_string(),
            changes: found
                .changes
                .iter()
                .map(|it| MessageChange::of(&found, it))
                .collect(),
            settings: found.settings.iter().map(ChangedSetting::of).collect(),
            delta_tokens: found.delta(),
            same_messages: same.messages,
            same_bytes: same.size_bytes,
        })
    }
}
