//! An error as data.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::advice::{Exit, exit, hint, sentence};
use crate::error::Error;

/// What went wrong. Nothing was changed, unless the method says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ApiError {
    /// Which error it is, in a word such as `unknown_revision`: what a program goes by.
    pub kind: String,
    /// What is wrong, in one line. It may hold what somebody else wrote.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The exit code that the program would end with: 1 not allowed here, 2 wrong usage, 3 damaged data, 4 someone
    /// was first.
    pub exit_code: u8,
    /// What the error knows: the nearest name, the candidates, the budget.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, Value>,
}

impl ApiError {
    /// One that the door or the method says itself.
    pub fn new(kind: &str, exit: Exit, message: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.into(),
            hint: None,
            exit_code: exit as u8,
            facts: BTreeMap::new(),
        }
    }

    /// The kind of parameters that are not what the method takes.
    pub const PARAMS: &'static str = "invalid_params";

    /// Parameters that are not what the method takes, each in quotes: `'to' or 'since', not both`.
    pub fn params(message: impl Into<String>) -> Self {
        Self::new(Self::PARAMS, Exit::Usage, message)
    }

    /// What is not allowed here.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new("refused", Exit::NotAllowed, message)
    }

    /// The same with this advice.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        let hint = Some(hint.into());
        Self { hint, ..self }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self {
            kind: error_kind(&error),
            message: sentence(&error),
            hint: hint(&error),
            exit_code: exit(&error) as u8,
            facts: facts(&error),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

/// The name of an error's variant, in small letters.
pub fn error_kind(error: &Error) -> String {
    let shown = format!("{error:?}");
    let name = shown.split(|c: char| !c.is_ascii_alphanumeric()).next();
    let mut kind = String::new();
    for c in name.unwrap_or_default().chars() {
        if c.is_ascii_uppercase() && !kind.is_empty() {
            kind.push('_');
        }
        kind.push(c.to_ascii_lowercase());
    }
    kind
}

/// What a program may want to go on with.
fn facts(error: &Error) -> BTreeMap<String, Value> {
    let facts = match error {
        Error::UnknownRevision { text, nearest, .. } => json!({ "text": text, "nearest": nearest }),
        Error::EmptyBranch {
            branch,
            nearest,
            remote,
            ..
        } => json!({ "branch": branch, "nearest": nearest, "remote": remote }),
        Error::UnknownName { name, known, .. } => json!({ "name": name, "known": known }),
        Error::Conflicts { conflicts } => json!({ "conflicts": conflicts }),
        Error::DoesNotFit { commit, what, .. } => json!({ "commit": commit, "what": what }),
        Error::AmbiguousRevision { text, candidates } => {
            json!({ "text": text, "candidates": candidates })
        }
        Error::NoSuchMessage { text, messages } => json!({ "text": text, "messages": messages }),
        Error::RefMoved {
            name,
            expected,
            found,
        } => {
            json!({ "name": name, "expected": expected, "found": found })
        }
        Error::OverBudget { total, max } => json!({ "total": total, "max": max }),
        Error::CannotFit { least, tokens } => json!({ "least": least, "tokens": tokens }),
        Error::Io { path, .. } => json!({ "path": path.display().to_string() }),
        _ => Value::Null,
    };
    match facts {
        Value::Object(facts) => facts.into_iter().collect(),
        _ => BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_which_it_is_and_what_it_knows() {
        let fault = ApiError::from(Error::UnknownRevision {
            text: "abc".to_owned(),
            nearest: Some("abd".to_owned()),
            nothing_yet: false,
        });
        assert_eq!(
            (fault.kind.as_str(), fault.exit_code),
            ("unknown_revision", 1)
        );
        assert_eq!(fault.facts["nearest"], "abd");
        assert_eq!(fault.hint.as_deref(), Some("did you mean abd?"));
        assert_eq!(ApiError::from(Error::EmptyMessage).kind, "empty_message");
    }
}
