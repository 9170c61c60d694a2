//! Data sets: conversations as rows, for training, evaluation and study.
//!
//! A row is one JSON object with the same members in each. Messages have the form of OpenAI's Chat Completions, with a
//! text for content: so that a column has one type. Deliberately absent: which sessions are meant, secrets, and files.

use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;

use super::outgoing::priced_at;
use crate::error::{Error, Result};
use crate::formats::Outgoing;
use crate::formats::shared::dataset_row::{Row, list, offered, spoken};
use crate::hash::{CommitHash, HashBytes, fingerprint, hex};
use crate::model::price::Prices;
use crate::model::{Millis, Role, Usage};
use crate::repo::Repo;

/// What a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DatasetRows {
    /// A whole conversation.
    #[default]
    Session,
    /// A prompt and all that was answered until the next.
    Turn,
    /// A reply, and all that was said before it.
    Prompt,
    /// Two runs of one context, one judged good and the other bad.
    Pair,
}

/// How rows are made.
#[derive(Debug)]
pub struct DatasetOptions {
    /// What a row is.
    pub rows: DatasetRows,
    /// The note on its licence that each row has.
    pub license: Option<String>,
    /// Whether rows that say the same as one before are written, too.
    pub keeps_duplicates: bool,
    /// The prices of replies.
    pub prices: Prices,
}

/// A conversation that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenTalk {
    /// The session or branch, as its rows name it.
    pub source: String,
    /// Where it ends.
    pub tip: CommitHash,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatasetReport {
    /// Rows.
    pub rows: u64,
    /// Rows that say the same as one before, and were left out.
    pub duplicates: u64,
    /// Pictures, files and blocks of a provider that are in no row.
    pub left_out: u64,
    /// Hidden messages, which are in no row, as what they cost is not.
    pub hidden: u64,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A text, or nothing.
    Text,
    /// A whole number, or nothing.
    Count,
    /// A number, or nothing.
    Number,
    /// A list of messages.
    Messages,
}

/// The columns of rows, in their order.
pub fn columns(rows: DatasetRows) -> Vec<(&'static str, CellKind)> {
    use CellKind::{Count, Messages, Number, Text};
    let said: &[&str] = match rows {
        DatasetRows::Session | DatasetRows::Turn => &["messages"],
        DatasetRows::Prompt => &["prompt", "completion"],
        DatasetRows::Pair => &["prompt", "chosen", "rejected"],
    };
    let mut columns = vec![("id", Text)];
    columns.extend(said.iter().map(|name| (*name, Messages)));
    columns.extend([
        ("tools", Text),
        ("model", Text),
        ("outcome", Text),
        ("input_tokens", Count),
        ("cached_tokens", Count),
        ("output_tokens", Count),
        ("cost_usd", Number),
        ("source", Text),
        ("number", Count),
        ("commit", Text),
        ("begun", Text),
        ("ended", Text),
        ("license", Text),
    ]);
    columns
}

/// The runs by these names, or all there are, those of one context together.
///
/// # Errors
///
/// [`Error::InvalidInput`] where there are none by a name, and the store's.
pub fn chosen_runs(repo: &Repo, names: &[String]) -> Result<Vec<Vec<ChosenTalk>>> {
    let known = repo.run_names()?;
    let meant = if names.is_empty() { &known } else { names };
    let mut found = Vec::with_capacity(meant.len());
    for name in meant {
        let plain = name.strip_prefix("run/").unwrap_or(name);
        let runs = repo.runs(plain)?;
        if runs.is_empty() {
            return Err(Error::input("run", format!("there are no runs '{name}'")));
        }
        let chosen = runs.into_iter().map(|run| ChosenTalk {
            source: run.branch.short().to_owned(),
            tip: run.tip,
        });
        found.push(chosen.collect());
    }
    Ok(found)
}

/// Writes the rows of conversations as JSON Lines. Of rows in pairs each group is the runs of one context, else it is
/// conversations that have nothing to do with each other.
///
/// # Errors
///
/// [`Error::Io`] from `out`, and the store's.
pub fn dataset(
    repo: &Repo,
    chosen: &[Vec<ChosenTalk>],
    options: &DatasetOptions,
    out: &mut dyn Write,
) -> Result<DatasetReport> {
    let mut writing = Writing {
        options,
        out,
        seen: HashSet::new(),
        report: DatasetReport::default(),
    };
    for group in chosen {
        if options.rows == DatasetRows::Pair {
            pairs(repo, group, &mut writing)?;
            continue;
        }
        for one in group {
            let talk = Talk::read(repo, one, &options.prices)?;
            writing.report.hidden += talk.hidden;
            for (range, number) in talk.ranges(options.rows) {
                talk.row(range, number, &mut writing)?;
            }
        }
    }
    Ok(writing.report)
}

/// A row for each two runs of a context of which one is good and the other bad.
fn pairs(repo: &Repo, runs: &[ChosenTalk], writing: &mut Writing<'_>) -> Result<()> {
    let read = runs
        .iter()
        .map(|run| Talk::read(repo, run, &writing.options.prices));
    let talks: Vec<Talk<'_>> = read.collect::<Result<_>>()?;
    let judged = |word: &'static str| {
        let talks = talks.iter();
        talks.filter(move |talk| talk.outcome.as_deref() == Some(word))
    };
    let in_rows = judged("good").chain(judged("bad"));
    writing.report.hidden += in_rows.map(|talk| talk.hidden).sum::<u64>();
    let mut number = 0;
    for good in judged("good") {
        for bad in judged("bad") {
            let both = good.messages.iter().zip(&bad.messages);
            let shared = both.take_while(|(a, b)| a.message == b.message).count();
            let [chosen, rejected] = [good, bad].map(|it| shared..it.messages.len());
            if shared == 0 || chosen.is_empty() || rejected.is_empty() {
                continue;
            }
            let columns = [
                writing.said(&good.messages[..shared]),
                writing.said(&good.messages[chosen.clone()]),
                writing.said(&bad.messages[rejected.clone()]),
            ];
            let counted = good.messages[chosen].iter().chain(&bad.messages[rejected]);
            let facts = Facts {
                outcome: None,
                number,
                ..good.facts(counted)
            };
            writing.row(&["prompt", "chosen", "rejected"], &columns, &facts)?;
            number += 1;
        }
    }
    Ok(())
}

/// A conversation.
struct Talk<'c> {
    chosen: &'c ChosenTalk,
    messages: Vec<Outgoing>,
    /// How many more of its messages are hidden.
    hidden: u64,
    /// What a judge said of it.
    outcome: Option<String>,
}

/// What stands beside the messages of a row.
struct Facts<'t> {
    chosen: &'t ChosenTalk,
    tools: Option<String>,
    model: Option<String>,
    outcome: Option<&'t str>,
    usage: Option<Usage>,
    dollars: Option<f64>,
    begun: Option<Millis>,
    ended: Option<Millis>,
    number: u64,
}

impl<'c> Talk<'c> {
    fn read(repo: &Repo, chosen: &'c ChosenTalk, prices: &Prices) -> Result<Self> {
        let verdict = repo.verdict_at(&chosen.tip)?;
        let word = verdict.and_then(|said| Some(said.split(':').next()?.to_owned()));
        let (context, messages) = priced_at(repo, &chosen.tip, prices)?;
        Ok(Self {
            messages,
            hidden: context.hidden_entries(),
            outcome: word,
            chosen,
        })
    }

    /// The messages of each row, with its number. A prompt's row ends in its reply.
    fn ranges(&self, rows: DatasetRows) -> Vec<(Range<usize>, u64)> {
        let count = self.messages.len();
        let role = |at: usize| self.messages[at].message.role;
        let ranges: Vec<Range<usize>> = match rows {
            DatasetRows::Session | DatasetRows::Pair => std::iter::once(0..count).collect(),
            DatasetRows::Turn => {
                let is_prompt = |at: &usize| {
                    role(*at) == Role::User && (*at == 0 || role(at - 1) != Role::User)
                };
                let starts: Vec<usize> = (0..count).filter(is_prompt).collect();
                let ends = starts.iter().skip(1).copied().chain([count]);
                starts
                    .iter()
                    .zip(ends)
                    .map(|(from, to)| *from..to)
                    .collect()
            }
            DatasetRows::Prompt => {
                let replies = (1..count).filter(|at| role(*at) == Role::Assistant);
                replies.map(|at| 0..at + 1).collect()
            }
        };
        let replies = |range: &Range<usize>| range.clone().any(|at| role(at) == Role::Assistant);
        ranges.into_iter().filter(replies).zip(0..).collect()
    }

    fn row(&self, range: Range<usize>, number: u64, writing: &mut Writing<'_>) -> Result<()> {
        let is_last = range.end == self.messages.len();
        let said = &self.messages[range.clone()];
        let (names, columns, counted): (&[&str], Vec<String>, _) = match writing.options.rows {
            DatasetRows::Prompt => {
                let (before, reply) = said.split_at(said.len() - 1);
                let columns = vec![writing.said(before), writing.said(reply)];
                (&["prompt", "completion"], columns, reply)
            }
            _ => (&["messages"], vec![writing.said(said)], said),
        };
        let facts = Facts {
            outcome: self.outcome.as_deref().filter(|_| is_last),
            number,
            ..self.facts(counted.iter())
        };
        writing.row(names, &columns, &facts)
    }

    /// What is known of these messages.
    fn facts<'m>(&self, messages: impl Iterator<Item = &'m Outgoing> + Clone) -> Facts<'_> {
        let replies = messages
            .clone()
            .filter(|it| it.message.role == Role::Assistant);
        let last = replies.clone().last();
        let tools = last.and_then(|last| last.settings.get("tools"));
        let tools = tools.and_then(|tools| offered(tools));
        let usage = replies.clone().filter_map(|it| it.usage);
        let dollars = replies.filter_map(|it| it.dollars);
        let times = messages.filter_map(|it| it.time);
        Facts {
            chosen: self.chosen,
            tools,
            model: last.and_then(Outgoing::model),
            outcome: None,
            usage: usage.reduce(Usage::plus),
            dollars: dollars.reduce(|sum, more| sum + more),
            begun: times.clone().min(),
            ended: times.max(),
            number: 0,
        }
    }
}

/// Rows on their way out.
struct Writing<'w> {
    options: &'w DatasetOptions,
    out: &'w mut dyn Write,
    /// The contents of the rows before.
    seen: HashSet<HashBytes>,
    report: DatasetReport,
}

impl Writing<'_> {
    /// Messages as a list.
    fn said(&mut self, messages: &[Outgoing]) -> String {
        let left_out = &mut self.report.left_out;
        let said = messages.iter();
        list(said.flat_map(|outgoing| spoken(&outgoing.message, left_out)))
    }

    fn row(&mut self, names: &[&str], columns: &[String], facts: &Facts<'_>) -> Result<()> {
        let content = fingerprint(columns.join("\n").as_bytes());
        if !self.seen.insert(content) && !self.options.keeps_duplicates {
            self.report.duplicates += 1;
            return Ok(());
        }
        let row = Row {
            id: hex(&content),
            said: names.iter().copied().zip(columns).collect(),
            tools: facts.tools.as_deref(),
            model: facts.model.as_deref(),
            outcome: facts.outcome,
            usage: facts.usage,
            dollars: facts.dollars,
            source: &facts.chosen.source,
            number: facts.number,
            commit: facts.chosen.tip.to_string(),
            begun: facts.begun,
            ended: facts.ended,
            license: self.options.license.as_deref(),
        };
        writeln!(self.out, "{}", row.line()).map_err(Error::io("output"))?;
        self.report.rows += 1;
        Ok(())
    }
}
