//! A summary in place of a span.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Changed, Deed, Method, Spelled, token_budget};
use crate::error::{Error, Refusal};
use crate::model::{Millis, TokenCount};
use crate::query::TokenBudget;
use crate::query::audit::{FactClass, Keep};
use crate::render::edit::changed_files;
use crate::render::{Share, plural};
use crate::repo::{Call, On, Repo};
use crate::rewrite::{Compact, Compaction, Extent, Summary, SummarySpan, Surgery, SurgeryOptions};

/// How many tokens a summary counts as that is not made yet.
const SUMMARY_TOKENS: usize = 1_000;

/// Replace a span of messages with a summary
///
/// Without `keep`, `to` or a range, the span is everything but the system messages. Pinned messages stay, and
/// so do calls that wait for a result. undo brings the messages back, and so does restore later. See also: prune (tool
/// outputs), drop (messages you name), truncate (the oldest), clear (everything).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct CompactParams {
    /// The summary
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "TEXT"))]
    pub message: Option<String>,
    /// Refuse a summary that lacks a prompt, an open point or a pin
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "dry_run"))]
    pub strict: bool,
    /// Leave out the newest N messages
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", conflicts_with = "range"))]
    pub keep: Option<usize>,
    /// Summarise the oldest messages, as few as bring the context down to this: tokens, or a share of budget.max
    #[cfg_attr(feature = "cli", arg(long, value_name = "N|P%", conflicts_with_all = ["keep", "range"]))]
    pub to: Option<Spelled<Share>>,
    /// Change nothing; say what would go
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
    /// In a dry run, list at most N messages of each kind; 0: all
    #[cfg_attr(
        feature = "cli",
        arg(short = 'n', long, value_name = "N", requires = "dry_run")
    )]
    pub limit: Option<usize>,
    /// The span, both ends included
    #[cfg_attr(feature = "cli", arg(value_name = "A..B|-"))]
    pub range: Option<String>,
}

impl CompactParams {
    /// What the summary stands for.
    ///
    /// # Errors
    ///
    /// Where that is said twice, or is no span of what is here.
    pub fn span(&self, repo: &Repo, on: &On) -> Result<Extent, ApiError> {
        if let Some(Spelled(share)) = self.to {
            if self.keep.is_some() || self.range.is_some() {
                return Err(ApiError::params("one of 'keep', 'range' and 'to'"));
            }
            return self.within(repo, on, token_budget(repo, share, false)?);
        }
        let Some(range) = &self.range else {
            return Ok(self.keep.map_or(Extent::All, Extent::KeepLast));
        };
        if self.keep.is_some() {
            return Err(ApiError::params("'keep' or 'range', not both"));
        }
        let Some((from, to)) = range_ends(range) else {
            let fault = ApiError::params(format!("'{range}' is not a span"));
            return Err(fault.with_hint("both ends: `tract compact :4..:20`"));
        };
        let from = if from.is_empty() { ":1" } else { from };
        let to = if to.is_empty() { ":-1" } else { &*to };
        Ok(Extent::Range(
            repo.resolve_entry(on, from)?,
            repo.resolve_entry(on, to)?,
        ))
    }

    /// How many messages of the range stay beside the summary; none of what is no range.
    ///
    /// # Errors
    ///
    /// As [`CompactParams::span`].
    pub fn staying(&self, repo: &Repo, on: &On) -> Result<usize, ApiError> {
        match &self.range {
            Some(_) => Ok(repo.staying(on, &self.span(repo, on)?)?),
            None => Ok(0),
        }
    }

    /// The newest messages that may stay, as many as leave the context within a budget. A summary that is not made yet
    /// counts as [`SUMMARY_TOKENS`].
    fn within(&self, repo: &Repo, on: &On, budget: TokenBudget) -> Result<Extent, ApiError> {
        let Some(tip) = repo.head(on)?.commit() else {
            return Ok(Extent::All);
        };
        let options = SurgeryOptions {
            encoding: repo.config()?.encoding()?,
            dry_run: true,
            told: 0,
            ..SurgeryOptions::default()
        };
        let summary = self.message.as_deref().map(str::trim);
        let to_come = "word ".repeat(SUMMARY_TOKENS);
        let measured = |would: &Surgery, total: TokenCount| match budget.as_counted {
            true => total.tokens,
            false => would.provider.total(total).tokens,
        };
        let forecast = |keep: usize| -> crate::Result<Option<Surgery>> {
            let plan = Compact {
                extent: Extent::KeepLast(keep),
                summary: Some(summary.filter(|text| !text.is_empty()).unwrap_or(&to_come)),
            };
            match repo.carry_out(Call::at(Millis(0), "").on(on), &plan, &options) {
                Ok(would) => Ok(Some(would)),
                Err(Error::Refused(Refusal::NothingToCompact)) => Ok(None),
                Err(error) => Err(error),
            }
        };
        let least = match forecast(0)? {
            Some(would) if measured(&would, would.before.tokens) > budget.tokens => {
                measured(&would, would.after.tokens)
            }
            _ => return Err(Error::Refused(Refusal::NothingToCompact).into()),
        };
        if least > budget.tokens {
            let tokens = budget.tokens;
            return Err(Error::CannotFit { least, tokens }.into());
        }
        let fits = |keep| -> crate::Result<bool> {
            let would = forecast(keep)?;
            Ok(would.is_some_and(|would| measured(&would, would.after.tokens) <= budget.tokens))
        };
        // The more stays, the larger it is.
        let (mut keep, mut over) = (0, repo.context(&tip)?.entries.len());
        while over - keep > 1 {
            let middle = keep + (over - keep) / 2;
            match fits(middle)? {
                true => keep = middle,
                false => over = middle,
            }
        }
        Ok(Extent::KeepLast(keep))
    }

    /// Puts a summary that is there in place of a span; refuses it, if that is asked for, where it lacks something.
    ///
    /// # Errors
    ///
    /// As [`Repo::compact`].
    pub fn carry_out(
        &self,
        repo: &Repo,
        call: Call<'_>,
        text: &str,
        options: &SurgeryOptions,
    ) -> Result<Compaction, ApiError> {
        let span = self.span(repo, call.on)?;
        if !self.strict {
            return Ok(repo.compact(call, &span, Summary::Text(text), options)?);
        }
        let mut make = |span: &SummarySpan<'_>| match lacks(&span.lacks(text, changed_files)?) {
            Some(what) => Err(Error::Refused(Refusal::Lacking { what })),
            None => Ok(text.to_owned()),
        };
        let done = repo.compact(call, &span, Summary::From(&mut make), options);
        done.map_err(|error| match error {
            error @ Error::Refused(Refusal::Lacking { .. }) => refused_summary(error),
            error => error.into(),
        })
    }
}

/// How much is missing of what a summary has to hold: pins, what the user said, open points.
pub fn missing(keep: &Keep) -> [usize; 3] {
    let of = |class| {
        let facts = keep.facts.iter();
        facts.filter(|found| found.fact.class == class).count()
    };
    [
        keep.pins.len(),
        of(FactClass::Instruction),
        of(FactClass::Task),
    ]
}

/// The same in words; none: nothing of it is missing.
pub fn lacks(keep: &Keep) -> Option<String> {
    let words = ["pin", "thing that you said", "open point"];
    let counts = missing(keep)
        .into_iter()
        .zip(words)
        .filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts
        .map(|(count, word)| match word.strip_prefix("thing") {
            Some(rest) => plural(count as u64, "thing") + rest,
            None => plural(count as u64, word),
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// What is said where a summary is refused for what it lacks.
pub fn refused_summary(error: Error) -> ApiError {
    ApiError::from(error).with_hint("nothing was changed; `tract guard` lists what it must hold")
}

impl Method for CompactParams {
    const NAME: &'static str = "compact";
    const CHANGES: bool = true;
    type Answer = Changed;

    fn act(self, at: &mut At<'_>) -> Result<Changed, ApiError> {
        let (line, options) = (self.line(), at.surgery(self.dry_run, self.limit)?);
        let call = at.call(&line);
        let summary = self.message.as_deref().map(str::trim);
        let changed = |surgery: &Surgery, staying| Changed {
            staying,
            ..Changed::of(surgery)
        };
        if self.dry_run {
            let plan = Compact {
                extent: self.span(at.repo, &at.on)?,
                summary: summary.filter(|text| !text.is_empty()),
            };
            let staying = self.staying(at.repo, &at.on)?;
            return Ok(changed(&at.repo.carry_out(call, &plan, &options)?, staying));
        }
        let Some(summary) = summary else {
            return Err(ApiError::params("a summary is needed: 'message'"));
        };
        let done = self.carry_out(at.repo, call, summary, &options)?;
        Ok(changed(&done.surgery, done.staying))
    }
}

impl Deed for CompactParams {
    const PLACES: &'static [&'static str] = &["range"];
    const SHORT: &'static [(&'static str, &'static str)] = &[("message", "-m")];
    const SAID: &'static [&'static str] = &["message"];
    const REVISIONS: &'static [&'static str] = &["range"];
}

/// The two ends of a range of revisions. The second may be a number alone where the first is one: `:3..5`.
fn range_ends(range: &str) -> Option<(&str, Cow<'_, str>)> {
    let (from, to) = range.split_once("..")?;
    let is_number = from.starts_with(':') && to.parse::<i64>().is_ok();
    let to = match is_number {
        true => format!(":{to}").into(),
        false => to.into(),
    };
    Some((from, to))
}
