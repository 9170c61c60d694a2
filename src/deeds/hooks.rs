//! Commands of the user's that may refuse what is about to be written: the settings hook.commit and hook.merge.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::advice::Exit;
use super::{ApiError, At};
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId, Message, Operation};
use crate::repo::Config;

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
        /// The request settings that hold from here on, tools among them.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        settings: BTreeMap<&'a str, &'a RawValue>,
        /// Where they go, if not on the branch; in it none: as a first commit.
        #[serde(skip)]
        after: Option<Option<CommitHash>>,
    },
    /// A branch is about to be merged.
    Merge {
        /// What it is called.
        name: &'a str,
        /// Where it is.
        commit: CommitHash,
        /// What stands for its messages, where that is given.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
    },
}

impl<'a> HookQuestion<'a> {
    /// That of drafts, which go on the branch, or after this commit.
    pub fn of_drafts(drafts: &'a [Draft], after: Option<Option<CommitHash>>) -> Self {
        let first = drafts.first();
        let edited = first.and_then(|draft| match draft.operation {
            Operation::Edit { target, .. } => Some(target),
            _ => None,
        });
        let messages = drafts.iter().flat_map(|draft| &draft.messages);
        let settings = drafts.iter().flat_map(|draft| &draft.settings);
        let settings =
            settings.filter_map(|(key, json)| Some((&**key, serde_json::from_str(json).ok()?)));
        Self::Commit {
            settings: settings.collect(),
            after,
            messages: messages.map(|message| &**message).collect(),
            edit: edited,
            note: first.and_then(|draft| draft.note.as_deref()),
            author: first.and_then(|draft| draft.author.as_ref()?.name.as_deref()),
        }
    }

    /// The setting that names the command which is asked.
    const fn setting(&self) -> &'static str {
        match self {
            Self::Commit { .. } => HOOKS[0],
            Self::Merge { .. } => HOOKS[1],
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

/// Asks the hook, where one is set. Nothing is locked meanwhile; a server's repository has none.
///
/// # Errors
///
/// Where it refuses, cannot be run, or is another's, and where HEAD is on another branch once it has answered: nothing has
/// been written. The store's.
pub fn must_be_allowed(
    at: &At<'_>,
    config: &Config,
    question: &HookQuestion<'_>,
) -> Result<(), ApiError> {
    let key = question.setting();
    let command = config.get(key).filter(|command| !command.trim().is_empty());
    let Some(command) = command.filter(|_| !at.repo.is_on_server()) else {
        return Ok(());
    };
    let refused = |why: &str| {
        let why = format!("{key} refused it: {why}");
        let fault = ApiError::new("hook_refused", Exit::NotAllowed, why);
        fault.with_hint("`--no-verify` does not ask it")
    };
    if !at.repo.is_own() {
        return Err(refused("its command is another user's, and was not run"));
    }
    let head = at.repo.head(&at.on)?;
    let (branch, tip) = match question {
        HookQuestion::Commit {
            after: Some(after), ..
        } => (None, *after),
        _ => (head.branch(), head.commit()),
    };
    let asked = Asked {
        question,
        repository: at.repo.place().map(|place| place.display().to_string()),
        branch: branch.map(|branch| branch.short().to_owned()),
        head: tip,
    };
    let asked = serde_json::to_string(&asked).expect("it is JSON") + "\n";
    if let Some(said) = at.host.asked(command, &asked)? {
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = said.char_indices().nth(REASON_CHARS);
        return Err(refused(match said.is_empty() {
            true => "it said nothing",
            false => end.map_or(&*said, |(end, _)| &said[..end]),
        }));
    }
    match at.repo.head(&at.on)?.branch() == head.branch() {
        true => Ok(()),
        false => {
            let what =
                format!("HEAD went to another branch while {key} was asked; nothing was written");
            let fault = ApiError::new("ref_moved", Exit::Lost, what);
            Err(fault.with_hint("the same command again asks about the branch of now"))
        }
    }
}
