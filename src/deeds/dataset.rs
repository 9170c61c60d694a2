//! Data sets: chosen conversations as rows.

#[cfg(feature = "parquet")]
mod parquet_file;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cost::prices;
use super::secrets::SecretChoice;
use super::{ApiError, At, Deed, Method, guard};
use crate::error::Error;
use crate::hash::CommitHash;
use crate::ingest::{ChosenTalk, DatasetOptions, DatasetReport, DatasetRows, chosen_runs, dataset};
use crate::model::RefName;
use crate::model::secret::SecretCounts;

/// What a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum RowOf {
    /// A whole conversation
    #[default]
    Session,
    /// A prompt and all that was answered until the next
    Turn,
    /// A reply, and all messages before it
    Prompt,
    /// Two runs of one context, one judged good and the other bad
    Pair,
}

impl From<RowOf> for DatasetRows {
    fn from(row: RowOf) -> Self {
        match row {
            RowOf::Session => Self::Session,
            RowOf::Turn => Self::Turn,
            RowOf::Prompt => Self::Prompt,
            RowOf::Pair => Self::Pair,
        }
    }
}

/// Write conversations as rows of a data set
///
/// Writes JSON Lines, a row each. A row has the visible messages in the form of OpenAI's Chat Completions. It also has
/// tools, model, outcome, source and times, and the tokens and dollars of these messages: `tract cost` has what a whole
/// session cost. The outcome is the verdict of the judge of
/// `tract run`: good, bad or unknown. `id` is the hash of the messages. A row with the same messages as one before is left
/// out.
///
/// A row is a session, a turn, a prompt with its answer, or a pair of runs of one context with different verdicts.
/// Prompts have the columns `prompt` and `completion`, pairs have `prompt`, `chosen` and `rejected`, all others `messages`.
/// Pictures and files are in no row.
///
/// Secrets are replaced by `[redacted:KIND]`, unless `allow_secrets` is given. A file whose name ends in .parquet is
/// Parquet, where tract was built with that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct DatasetParams {
    /// Branches, sessions or commits; HEAD unless given. For pairs: the names of runs, or all
    #[cfg_attr(feature = "cli", arg(value_name = "REV"))]
    pub revs: Vec<String>,
    /// All sessions and branches
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "revs"))]
    pub all: bool,
    /// The unit of a row; session unless given
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "ROWS"))]
    pub rows: Option<RowOf>,
    /// The note on its licence that each row has
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub license: Option<String>,
    /// Write rows with the same messages, too
    #[cfg_attr(feature = "cli", arg(long))]
    pub keep_duplicates: bool,
    /// Write secrets, too
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "anonymous"))]
    pub allow_secrets: bool,
    /// Write person-1 and host-1 for logins, homes, hosts, mail addresses and names
    #[cfg_attr(feature = "cli", arg(long))]
    pub anonymous: bool,
    /// The file to write; without it, the rows are the answer
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "FILE"))]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[cfg_attr(feature = "cli", arg(long, requires = "output"))]
    pub force: bool,
}

/// A data set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DatasetAnswer {
    /// Rows.
    pub rows: u64,
    /// Rows that say the same as one before, and were left out.
    pub duplicates: u64,
    /// Pictures, files and blocks of a provider that are in no row.
    pub left_out: u64,
    /// Hidden messages, which are in no row, as what they cost is not.
    pub hidden: u64,
    /// What was replaced, by its kind, with how often.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub redacted: BTreeMap<String, u64>,
    /// The rows, where no file was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// A data set as it was made.
pub struct MadeDataset {
    /// What is in it.
    pub report: DatasetReport,
    /// What was replaced.
    pub redacted: SecretCounts,
}

impl DatasetParams {
    const fn secrets(&self) -> SecretChoice {
        SecretChoice {
            redact: !self.allow_secrets,
            allow_secrets: self.allow_secrets,
            anonymous: self.anonymous,
        }
    }

    fn rows(&self) -> DatasetRows {
        self.rows.unwrap_or_default().into()
    }

    /// The conversations that are meant.
    fn chosen(&self, at: &At<'_>) -> Result<Vec<Vec<ChosenTalk>>, ApiError> {
        if self.rows() == DatasetRows::Pair {
            let runs = chosen_runs(at.repo, &self.revs);
            return runs.map_err(|error| match error {
                Error::InvalidInput { .. } => ApiError::from(error)
                    .with_hint("`tract branch` lists them: run/NAME/1 and so on"),
                error => error.into(),
            });
        }
        let revs = match &self.revs[..] {
            [] if self.all => return Ok(vec![everything(at)?]),
            [] => &["HEAD".to_owned()],
            revs => revs,
        };
        let chosen = revs.iter().map(|rev| {
            let tip = at.commit(rev)?;
            let source = match at.repo.session_of(&tip)? {
                Some((session, _)) if rev == "HEAD" => session.short().to_owned(),
                _ => rev.clone(),
            };
            Ok(ChosenTalk { source, tip })
        });
        Ok(vec![chosen.collect::<Result<_, ApiError>>()?])
    }

    /// Writes the rows to `out`.
    ///
    /// # Errors
    ///
    /// Where a revision or a run is not known, and the store's.
    pub fn make(&self, at: &At<'_>, out: &mut dyn Write) -> Result<MadeDataset, ApiError> {
        let chosen = self.chosen(at)?;
        let tips: Vec<CommitHash> = chosen.iter().flatten().map(|one| one.tip).collect();
        let options = DatasetOptions {
            rows: self.rows(),
            license: self.license.clone(),
            keeps_duplicates: self.keep_duplicates,
            prices: prices(at.repo)?,
        };
        let mut make = |out: &mut dyn Write| dataset(at.repo, &chosen, &options, out);
        let Some(first) = tips.first() else {
            let report = make(out)?;
            let redacted = SecretCounts::new();
            return Ok(MadeDataset { report, redacted });
        };
        let secrets = self.secrets().finder(at, &tips)?;
        let leaving = self.secrets().leaving(&secrets);
        let (report, redacted) = guard((at.repo, first), leaving, &mut make, out)?;
        Ok(MadeDataset { report, redacted })
    }

    /// Writes them to the file that was named.
    ///
    /// # Errors
    ///
    /// As [`Self::make`], where a file is there, and where it cannot be written.
    pub fn write(&self, at: &At<'_>, path: &Path) -> Result<MadeDataset, ApiError> {
        let is_parquet = path.extension().is_some_and(|it| it == "parquet");
        if is_parquet && !cfg!(feature = "parquet") {
            let fault = ApiError::refused("this tract was built without Parquet");
            return Err(fault.with_hint(
                "a name that ends in .jsonl; or cargo install tract-context --features parquet",
            ));
        }
        let mut done = None;
        let mut make = |draft: &Path| {
            let mut rows = Vec::new();
            let mut file = std::fs::File::create(draft).map_err(Error::io(draft))?;
            if is_parquet {
                done = Some(self.make(at, &mut rows)?);
                self.put(&rows, file)?;
            } else {
                let mut out = std::io::BufWriter::new(&mut file);
                done = Some(self.make(at, &mut out)?);
                out.flush().map_err(Error::io(draft))?;
            }
            Ok(())
        };
        let mut note = |_: &Path| Ok(None);
        at.host.place_file(path, self.force, &mut note, &mut make)?;
        done.ok_or_else(|| ApiError::refused("nothing was written"))
    }

    #[cfg(feature = "parquet")]
    fn put(&self, rows: &[u8], file: std::fs::File) -> Result<(), ApiError> {
        parquet_file::write(self.rows(), rows, file)
    }

    #[cfg(not(feature = "parquet"))]
    fn put(&self, _: &[u8], _: std::fs::File) -> Result<(), ApiError> {
        Err(ApiError::refused("this tract was built without Parquet"))
    }
}

/// All sessions, and the branches that lead elsewhere.
fn everything(at: &At<'_>) -> Result<Vec<ChosenTalk>, ApiError> {
    let mut tips = BTreeSet::new();
    let mut chosen = Vec::new();
    for prefix in [RefName::SESSIONS, RefName::HEADS] {
        for (name, value) in at.repo.references(prefix)? {
            let Some(tip) = value.commit() else { continue };
            if tips.insert(tip) {
                let source = name.short().to_owned();
                chosen.push(ChosenTalk { source, tip });
            }
        }
    }
    Ok(chosen)
}

impl Method for DatasetParams {
    const NAME: &'static str = "dataset";
    const CHANGES: bool = false;
    type Answer = DatasetAnswer;

    fn check(&self) -> Result<(), ApiError> {
        if self.all && !self.revs.is_empty() {
            return Err(ApiError::params("'all' or 'revs', not both"));
        }
        self.secrets().check()
    }

    fn act(self, at: &mut At<'_>) -> Result<DatasetAnswer, ApiError> {
        let (made, content) = match &self.output {
            Some(path) => (self.write(at, &at.host.path(path)?)?, None),
            None => {
                let mut rows = Vec::new();
                let made = self.make(at, &mut rows)?;
                let text = String::from_utf8(rows);
                let text = text.map_err(|_| ApiError::refused("the rows are no text"))?;
                (made, Some(text))
            }
        };
        let redacted = made.redacted.into_iter();
        Ok(DatasetAnswer {
            rows: made.report.rows,
            duplicates: made.report.duplicates,
            left_out: made.report.left_out,
            hidden: made.report.hidden,
            redacted: redacted
                .map(|(kind, count)| (kind.to_owned(), count as u64))
                .collect(),
            content,
        })
    }
}

impl Deed for DatasetParams {
    const PLACES: &'static [&'static str] = &["revs"];
    const SHORT: &'static [(&'static str, &'static str)] = &[("output", "-o")];
    const REVISIONS: &'static [&'static str] = &["revs"];
}
