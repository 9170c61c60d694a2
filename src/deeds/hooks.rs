//! Commands of the user's that may refuse what is about to be written: the settings hook.commit and hook.merge.

use serde::Serialize;

use super::advice::Exit;
use super::{ApiError, At};
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId, Message, Operation};

/// The settings that name such commands.
pub const HOOKS: [&str; 2] = ["hook.commit", "hook.merge"];

/// The most characters of a refusal's reason that are told.
const REASON_CHARS: usize = 500;

/// What is about to be written.
#[derive(Serialize)]
#[serde(tag = "hook", rename_all = "lowercase")]
pub enum HookQuestion<'a> {
    /// Messages are about to be committed.
    Commit {
        /// They, in the form of docs/object-format.md, "Content".
        messages: Vec<&'a Message>,
        /// The message that is replaced.
        #[serde(skip_serializing_if = "Option::is_none")]
        edit: Option<EntryId>,
        /// The remark for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'a str>,
        /// Who commits, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        author: Option<&'a str>,
    },
    /// A branch is about to be merged.
    Merge {
        /// What it is called.
        name: &'a str,
        /// Where it is.
        commit: CommitHash,
    },
}

impl<'a> HookQuestion<'a> {
    /// That of drafts.
    pub fn of_drafts(drafts: &'a [Draft]) -> Self {
        let first = drafts.first();
        let edited = first.and_then(|draft| match draft.operation {
            Operation::Edit { target, .. } => Some(target),
            _ => None,
        });
        let messages = drafts.iter().flat_map(|draft| &draft.messages);
        Self::Commit {
            messages: messages.map(|message| &**message).collect(),
            edit: edited,
            note: first.and_then(|draft| draft.note.as_deref()),
            author: first.and_then(|draft| draft.author.as_ref()?.name.as_deref()),
        }
    }

    /// The setting that names the command which is asked, and what commits without asking it.
    const fn setting(&self) -> (&'static str, &'static str) {
        match self {
            Self::Commit { .. } => (HOOKS[0], "`tract commit --no-verify …` does not ask it"),
            Self::Merge { .. } => (HOOKS[1], "`tract merge --no-verify …` does not ask it"),
        }
    }
}

/// What a hook is handed: one line of JSON.
#[derive(Serialize)]
struct Asked<'a> {
    #[serde(flatten)]
    question: &'a HookQuestion<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<CommitHash>,
}

/// Asks the hook, where one is set. Nothing is locked meanwhile.
///
/// # Errors
///
/// Where it refuses, cannot be run, or is another's: nothing has been written. The store's.
pub fn must_be_allowed(at: &At<'_>, question: &HookQuestion<'_>) -> Result<(), ApiError> {
    let (key, without) = question.setting();
    let config = at.repo.config()?;
    let Some(command) = config.get(key).filter(|command| !command.trim().is_empty()) else {
        return Ok(());
    };
    let refused = |why: &str| {
        let why = format!("{key} refused it: {why}");
        ApiError::new("hook_refused", Exit::NotAllowed, why).with_hint(without)
    };
    if !at.repo.is_own() || at.repo.is_on_server() {
        return Err(refused("its command is another user's, and was not run"));
    }
    let head = at.repo.head(&at.on)?;
    let asked = Asked {
        question,
        repository: at.repo.place().map(|place| place.display().to_string()),
        branch: head.branch().map(|branch| branch.short().to_owned()),
        head: head.commit(),
    };
    let asked = serde_json::to_string(&asked).expect("it is JSON") + "\n";
    match at.host.asked(command, &asked)? {
        None => Ok(()),
        Some(said) => {
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            Err(refused(match said.is_empty() {
                true => "it said nothing",
                false => said
                    .char_indices()
                    .nth(REASON_CHARS)
                    .map_or(&*said, |(at, _)| &said[..at]),
            }))
        }
    }
}
