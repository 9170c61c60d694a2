//! What a compaction took away, and what of it is still said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ApiError, At, Deed, Method};
use crate::hash::CommitHash;
use crate::model::{Operation, RefName};
use crate::query::LogOptions;
use crate::query::audit::{Audit, Fact, FactClass};
use crate::render::edit::changed_files;
use crate::render::shell_word;
use crate::repo::On;

/// How many findings are given unless somebody says.
const FINDINGS: usize = 20;

/// List what a compaction took away, and what of it is still there
///
/// Looks through the messages that a compaction, truncation or clear hid. It compares prompts, open points, commands,
/// files, errors, addresses, names and numbers. A fact is still there if a visible message has it word for word. For
/// a longer text, most of its phrases are enough. Lost facts are listed, the most likely to be missed first, each
/// with its message. `tract show HASH` prints a message, `tract restore HASH` brings it back. No model is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct AuditParams {
    /// The compaction, truncation or clear; the newest on this branch unless given
    #[cfg_attr(feature = "cli", arg(value_name = "COMPACTION"))]
    pub rev: Option<String>,
    /// The history whose newest compaction, truncation or clear is meant, and in which facts are looked for; HEAD
    /// unless given
    #[cfg_attr(feature = "cli", arg(long, value_name = "REV"))]
    pub within: Option<String>,
    /// At most N findings; 20 unless given, 0: all
    #[cfg_attr(feature = "cli", arg(short = 'n', long, value_name = "N"))]
    pub limit: Option<usize>,
}

/// What a hide took away.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct AuditAnswer {
    /// The hide; none: nothing was hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Its kind: compaction, truncation, clear, drop or prune.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// When, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// How many messages it hides still.
    pub messages: usize,
    /// What they held, by class; a class of which they held nothing is left out.
    pub classes: Vec<AuditClass>,
    /// What nothing visible says, what is most likely to be missed first.
    pub findings: Vec<AuditFinding>,
}

/// What hidden messages held of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuditClass {
    /// The class: instruction, task, command, file, error, url, name or number.
    pub class: &'static str,
    /// How many facts they held.
    pub held: usize,
    /// How many of these visible messages say.
    pub said: usize,
    /// How many nothing visible says.
    pub lost: usize,
}

/// Something that nothing visible says. What somebody else wrote: escape it before it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuditFinding {
    /// Its class.
    pub class: &'static str,
    /// It, as it was written.
    pub text: String,
    /// What came of it: how a command ended, what mended an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// In how many places it was.
    pub count: usize,
    /// The last message that holds it.
    pub id: String,
}

impl AuditParams {
    /// How many findings are listed.
    pub fn listed(&self) -> usize {
        match self.limit {
            Some(0) => usize::MAX,
            limit => limit.unwrap_or(FINDINGS),
        }
    }
}

impl Method for AuditParams {
    const NAME: &'static str = "audit";
    const CHANGES: bool = false;
    type Answer = AuditAnswer;

    fn act(self, at: &mut At<'_>) -> Result<AuditAnswer, ApiError> {
        let Some(hide) = hide_of(at, self.rev.as_deref(), self.within.as_deref())? else {
            return Ok(AuditAnswer::default());
        };
        let commit = at.repo.commit_at(&hide)?;
        let Operation::Hide(kind) = &commit.operation else {
            let fault = hides_nothing(&hide, self.rev.as_deref());
            // Who names a branch means what was hidden there.
            let tip = |name| at.repo.head(&On::Branch(name)).ok()?.commit();
            let is_branch = |rev: &&str| RefName::branch(rev).ok().and_then(tip).is_some();
            let named = self.rev.as_deref().filter(is_branch);
            let newest = "is of the newest compaction, truncation or clear";
            return Err(fault.with_hint(match (named, self.rev.as_deref()) {
                (Some(rev), _) => {
                    format!("`tract audit --within {}` {newest} there", shell_word(rev))
                }
                (None, Some("HEAD" | "@")) => format!("`tract audit` {newest} on this branch"),
                _ => "`tract log --op hide` lists what hides".to_owned(),
            }));
        };
        let tip = at.resolve(self.within.as_deref())?;
        let audit = at.repo.audit(&hide, &tip, changed_files)?;
        let classes = FactClass::ALL.map(|class| tally(&audit, class));
        Ok(AuditAnswer {
            commit: Some(hide.to_string()),
            kind: Some(kind.kind.as_str()),
            time_ms: commit.time.map(|time| time.0),
            messages: audit.hidden,
            classes: classes.into_iter().filter(|class| class.held > 0).collect(),
            findings: audit.lost().take(self.listed()).map(finding).collect(),
        })
    }
}

impl Deed for AuditParams {
    const PLACES: &'static [&'static str] = &["rev"];
    const REVISIONS: &'static [&'static str] = &["rev", "within"];
}

/// That a commit hides nothing: it is looked at alone, not what came before it.
pub(super) fn hides_nothing(commit: &CommitHash, rev: Option<&str>) -> ApiError {
    let hash = commit.short().to_string();
    ApiError::params(match rev {
        Some(rev) if !hash.starts_with(rev) && !commit.to_string().starts_with(rev) => {
            format!("{rev} is the commit {hash}, which hides nothing itself")
        }
        _ => format!("{hash} hides nothing"),
    })
}

fn tally(audit: &Audit, class: FactClass) -> AuditClass {
    let (held, said) = audit.tally(class);
    AuditClass {
        class: class.as_str(),
        held,
        said,
        lost: held - said,
    }
}

fn finding(fact: &Fact) -> AuditFinding {
    AuditFinding {
        class: fact.class.as_str(),
        text: fact.text.clone(),
        outcome: fact.outcome.clone(),
        count: fact.count,
        id: fact.entry.to_string(),
    }
}

/// The hide that is meant: the named one, or the newest compaction, truncation or clear of a path.
pub(super) fn hide_of(
    at: &mut At<'_>,
    rev: Option<&str>,
    within: Option<&str>,
) -> Result<Option<CommitHash>, ApiError> {
    if let Some(rev) = rev {
        return Ok(Some(at.resolve(Some(rev))?));
    }
    let tip = at.resolve(within)?;
    let kinds = ["compaction", "truncation", "clear"];
    let options = LogOptions {
        limit: 1,
        operations: kinds.map(str::to_owned).to_vec(),
        ..LogOptions::default()
    };
    Ok(at.repo.commits_of(&tip, &options)?.pop())
}
