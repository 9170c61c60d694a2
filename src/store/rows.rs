//! Rows as what they stand for: statements of every engine give these columns, in this order.
//!
//! Deliberately absent: the statements.

use super::codec::{Speaker, number};
use super::columns::{Columns, damaged, get};
use super::lineage::Place;
use super::{
    AdoptedRow, Appended, CommitRow, ContentRow, ContentSize, CountKey, ListedCommit, OperationRow,
    ReflogRow, ResumeRow, Reversal, SourceRow, SourceSize,
};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{
    Author, Commit, Encoding, Message, Millis, Operation, RefName, RefValue, Sealed, TokenCount,
    ToolUses, Usage, is_tombstone, plain_preview, preview,
};

/// Where a commit stands: id, lineage, depth.
pub(super) fn place(row: &impl Columns, first: usize) -> Result<Place> {
    Ok(Place {
        id: get(row, first)?,
        lineage: get(row, first + 1)?,
        depth: get(row, first + 2)?,
    })
}

/// The commit in three columns: hash, depth and canonical bytes, which must be those of its name.
pub(super) fn commit(row: &impl Columns, first: usize) -> Result<CommitRow> {
    let hash: CommitHash = get(row, first)?;
    let canonical = row.text(first + 2)?;
    if !hash.names(canonical.as_bytes()) {
        return Err(damaged(format!("commit {hash}: its text is another one's")));
    }
    Ok(CommitRow {
        hash,
        commit: Commit::from_canonical(canonical)
            .map_err(|error| damaged(format!("commit {hash}: {error}")))?,
        depth: row.unsigned(first + 1)?,
    })
}

/// The text of a body, which must be that of its name.
pub(super) fn canonical<'a>(hash: &ContentHash, body: &'a [u8]) -> Result<&'a str> {
    let wrong = |error: String| damaged(format!("content {hash}: {error}"));
    if !hash.names(body) && !is_tombstone(hash, body) {
        return Err(wrong("its body is another one's".to_owned()));
    }
    std::str::from_utf8(body).map_err(|error| wrong(error.to_string()))
}

/// The message of such a text.
pub(super) fn message(hash: &ContentHash, canonical: &str) -> Result<Message> {
    Message::from_canonical(canonical).map_err(|error| damaged(format!("content {hash}: {error}")))
}

/// What a listing shows of a content: hash, speaker, preview, size, calls, results.
pub(super) fn content(row: &impl Columns, first: usize) -> Result<ContentRow> {
    let Speaker { role, attached } = get(row, first + 1)?;
    Ok(ContentRow {
        hash: get(row, first)?,
        role,
        attached,
        preview: get(row, first + 2)?,
        size_bytes: get(row, first + 3)?,
        calls: get(row, first + 4)?,
        results: get(row, first + 5)?,
    })
}

/// What is kept of a message for listings, as its columns hold it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) role: i64,
    pub(super) preview: String,
    pub(super) size_bytes: i64,
    pub(super) calls: i64,
    pub(super) results: i64,
    pub(super) uses: Option<String>,
}

impl Shown {
    pub(super) fn of(message: &Sealed<Message>) -> Self {
        Self::of_size(message, message.canonical().len())
    }

    /// Of a message whose canonical form has so many bytes.
    pub(super) fn of_size(message: &Message, size_bytes: usize) -> Self {
        Self {
            role: Speaker::from(message).number(),
            preview: preview(message),
            size_bytes: number(size_bytes as u64),
            calls: number(message.calls().count() as u64),
            results: number(message.results().count() as u64),
            uses: ToolUses::of(message).map(|uses| uses.to_text()),
        }
    }

    /// Whether it is what is `wanted` of this message. How earlier versions said a result or a call in a line is no
    /// fault: its preview may be one of before results were told without their heads, and its calls' lines any.
    pub(super) fn is_of(&self, wanted: Self, message: &Message) -> bool {
        let preview = if self.preview == wanted.preview {
            wanted.preview
        } else {
            plain_preview(message)
        };
        let read = |uses: &Option<String>| uses.as_deref().and_then(ToolUses::from_text);
        let uses = match read(&self.uses).zip(read(&wanted.uses)) {
            Some((own, of_today)) if own.is_of_the_same(&of_today) => self.uses.clone(),
            _ => wanted.uses,
        };
        *self
            == Self {
                preview,
                uses,
                ..wanted
            }
    }

    /// That of a row, from its role on.
    pub(super) fn read(row: &impl Columns, first: usize) -> Result<Self> {
        Ok(Self {
            role: get(row, first)?,
            preview: get(row, first + 1)?,
            size_bytes: get(row, first + 2)?,
            calls: get(row, first + 3)?,
            results: get(row, first + 4)?,
            uses: get(row, first + 5)?,
        })
    }
}

/// How much room a content takes: hash, speaker, size, what is kept, whether it uses tools.
pub(super) fn content_size(row: &impl Columns) -> Result<ContentSize> {
    let Speaker { role, attached } = get(row, 1)?;
    Ok(ContentSize {
        hash: get(row, 0)?,
        role,
        attached,
        size_bytes: get(row, 2)?,
        kept_bytes: get(row, 3)?,
        uses_tools: get(row, 4)?,
    })
}

/// A count in two columns, if it is there.
pub(super) fn count(row: &impl Columns, first: usize) -> Result<Option<TokenCount>> {
    if row.is_null(first)? {
        return Ok(None);
    }
    Ok(Some(TokenCount {
        tokens: get(row, first)?,
        estimated: get(row, first + 1)?,
    }))
}

/// A count with what it is of: the content, the encoding, the mask, the count.
pub(super) fn kept_count(row: &impl Columns) -> Result<(CountKey, Encoding, TokenCount)> {
    let mask = if row.bytes(2)?.is_empty() {
        None
    } else {
        Some(get(row, 2)?)
    };
    let content = get(row, 0)?;
    let count = count(row, 3)?.unwrap_or_default();
    Ok((CountKey { content, mask }, get(row, 1)?, count))
}

/// The columns of what a provider counted.
pub(super) const USAGE: &str = "input_tokens, output_tokens, cached_tokens, written_tokens, written_hour_tokens, \
     reasoning_tokens";

/// What the provider counted, in these columns, if it is there.
pub(super) fn usage(row: &impl Columns, first: usize) -> Result<Option<Usage>> {
    if row.is_null(first)? {
        return Ok(None);
    }
    let mut numbers = [0; 6];
    for (at, number) in numbers.iter_mut().enumerate() {
        *number = get(row, first + at)?;
    }
    Ok(Some(Usage::of_numbers(numbers)))
}

/// A commit of a listing: the commit, what is shown of its content, its count, its uses of tools.
pub(super) fn listed(row: &impl Columns) -> Result<ListedCommit> {
    let mut listed = ListedCommit::from(commit(row, 0)?);
    let Operation::Append { content: appended } = listed.row.commit.operation else {
        return Ok(listed);
    };
    // The row says which message it is by its number, its text by its name.
    if get::<Option<ContentHash>>(row, 3)? != Some(appended) {
        return Err(damaged(format!("content {appended:.10} is missing")));
    }
    listed.said = Some(content(row, 3)?);
    listed.count = count(row, 9)?;
    listed.uses = get::<Option<&str>>(row, 11)?.and_then(ToolUses::from_text);
    Ok(listed)
}

/// What a commit appends: its hash, depth, the content's hash, speaker, how many calls and results, its uses
/// of tools, its count, and whether it appends nothing: then none.
pub(super) fn appended(row: &impl Columns) -> Result<Option<Appended>> {
    if get(row, 8)? {
        return Ok(None);
    }
    let commit: CommitHash = get(row, 0)?;
    let Some(content) = get(row, 2)? else {
        let detail = format!("what commit {commit:.10} appends is missing");
        return Err(damaged(detail));
    };
    let Speaker { role, attached } = get(row, 3)?;
    Ok(Some(Appended {
        commit,
        depth: get(row, 1)?,
        content,
        role,
        attached,
        uses_tools: row.number(4)? > 0,
        links: get::<Option<&str>>(row, 5)?.and_then(ToolUses::links_from_text),
        count: count(row, 6)?,
    }))
}

/// What a ref holds, in three columns: the number of a commit, its hash, or another ref's name.
pub(super) fn value(row: &impl Columns, first: usize) -> Result<Option<RefValue>> {
    match (row.is_null(first)?, get(row, first + 1)?) {
        (false, Some(commit)) => Ok(Some(RefValue::Commit(commit))),
        (false, None) => Err(damaged("the commit of a ref is missing")),
        (true, _) => Ok(get::<Option<RefName>>(row, first + 2)?.map(RefValue::Symbolic)),
    }
}

/// A move: its operation, the ref's name, what it held and what it holds since.
pub(super) fn moved(row: &impl Columns) -> Result<ReflogRow> {
    Ok(ReflogRow {
        operation: get(row, 0)?,
        name: get(row, 1)?,
        old: value(row, 2)?,
        new: value(row, 5)?,
    })
}

/// An operation: its number, time, what it was, what it undid or did again.
pub(super) fn operation(row: &impl Columns) -> Result<OperationRow> {
    Ok(OperationRow {
        id: get(row, 0)?,
        time: Millis(get(row, 1)?),
        what: get(row, 2)?,
        reversal: match (get(row, 3)?, get(row, 4)?) {
            (Some(undone), _) => Reversal::Undo(undone),
            (None, Some(redone)) => Reversal::Redo(redone),
            (None, None) => Reversal::None,
        },
        by: Author {
            name: get(row, 5)?,
            client: get(row, 6)?,
            run: get(row, 7)?,
        }
        .known(),
    })
}

/// A commit that was taken over, and what it became.
pub(super) fn adopted(row: &impl Columns) -> Result<AdoptedRow> {
    Ok(AdoptedRow {
        theirs: get(row, 0)?,
        ours: get(row, 1)?,
    })
}

/// A source: number, session, format, size, fingerprint.
pub(super) fn source(row: &impl Columns) -> Result<SourceRow> {
    Ok(SourceRow {
        id: get(row, 0)?,
        session: get(row, 1)?,
        format: get(row, 2)?,
        size_bytes: get(row, 3)?,
        fingerprint: get(row, 4)?,
    })
}

/// How much room a source takes, by number.
pub(super) fn source_size(row: &impl Columns) -> Result<SourceSize> {
    Ok(SourceSize {
        id: get(row, 0)?,
        kept_bytes: get(row, 1)?,
    })
}

/// What `resume` wrote: the commit, how many messages, their digest.
pub(super) fn resumed(row: &impl Columns) -> Result<ResumeRow> {
    Ok(ResumeRow {
        commit: get(row, 0)?,
        messages: get(row, 1)?,
        digest: get(row, 2)?,
    })
}
