//! Contents and commits of which a row, or the bytes, are not as they were written, and what mends each.

use rusqlite::params;

use super::session::Session;
use super::verify::body;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash, HashBytes};
use crate::model::{Commit, Message, Operation, is_tombstone};
use crate::store::columns::Columns;
use crate::store::rows::Shown;

/// How a row is made again from the bytes that it stands for.
pub(super) enum Mend {
    /// Its name was damaged: with this one its seal is right.
    Name(HashBytes),
    /// What listings show was damaged: here is the message, and its size.
    Listing(Message, usize),
    /// Its bytes are damaged, and nothing else is.
    Body,
    /// Its bytes are damaged and its row is, too: a commit knows its name.
    Lost(HashBytes),
}

/// The contents whose rows or bodies are not as they were written, by their ids, and what mends each.
pub(super) fn broken_contents(session: &Session<'_>) -> Result<Vec<(i64, Option<Mend>)>> {
    let sql = "SELECT contents.id, hash, encoding, body, size_bytes,
             seal IS sealed(id, hash, role, preview, size_bytes, calls, results)
         FROM contents NOT INDEXED LEFT JOIN bodies ON content = contents.id";
    let mut broken = Vec::new();
    session.scan(sql, [], |row| {
        let (id, hash): (i64, ContentHash) = (row.get(0)?, row.get(1)?);
        let encoding = row.get::<Option<i64>>(2)?;
        let bytes = match encoding {
            Some(encoding) => body(session, encoding, row.get(3)?, row.get(4)?),
            None => None,
        };
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let read = text.and_then(|text| Some((Message::from_canonical(&text).ok()?, text)));
        let is_sealed: bool = row.get(5)?;
        let mend = match read {
            Some((message, text)) if hash.names(text.as_bytes()) => {
                if is_sealed {
                    return Ok(true);
                }
                Some(Mend::Listing(message, text.len()))
            }
            Some((message, text)) if is_tombstone(&hash, text.as_bytes()) => {
                if is_sealed {
                    return Ok(true);
                }
                // Nothing but the seal tells a tombstone's own name from another: with what listings show of it, or
                // with what the index has.
                let shown = Shown::of_size(&message, text.len());
                match is_sealed_with(session, id, &shown)? {
                    true => Some(Mend::Listing(message, text.len())),
                    false => indexed(session, id)?.map(Mend::Name),
                }
            }
            Some((_, text)) if !is_sealed => Some(Mend::Name(*ContentHash::of(&text).as_bytes())),
            _ if is_sealed && encoding.is_none() => return Ok(true),
            _ if is_sealed => Some(Mend::Body),
            _ => None,
        };
        broken.push((id, mend));
        Ok(true)
    })?;
    let vouches = "SELECT seal IS sealed(id, ?2, role, preview, size_bytes, calls, results)
         FROM contents WHERE id = ?1";
    let mut broken = vouched(session, broken, vouches)?;
    for (id, mend) in broken.iter_mut().filter(|(_, mend)| mend.is_none()) {
        *mend = appended(session, *id)?.map(Mend::Lost);
    }
    Ok(broken)
}

/// Whether the seal of a content's row vouches for its name, if listings showed this of it.
fn is_sealed_with(session: &Session<'_>, id: i64, shown: &Shown) -> Result<bool> {
    let sql = "SELECT seal IS sealed(id, hash, ?2, ?3, ?4, ?5, ?6) FROM contents WHERE id = ?1";
    let (role, preview) = (shown.role, &shown.preview);
    let of_row = params![
        id,
        role,
        preview,
        shown.size_bytes,
        shown.calls,
        shown.results
    ];
    let is_its = session.first(sql, of_row, |row| row.get(0))?;
    Ok(is_its.unwrap_or(false))
}

/// The name that the index of names has of a content.
fn indexed(session: &Session<'_>, id: i64) -> Result<Option<HashBytes>> {
    let sql = "WITH told AS MATERIALIZED (
             SELECT id, hash FROM contents INDEXED BY sqlite_autoindex_contents_1)
         SELECT hash FROM told WHERE id = ?1";
    let hash: Option<ContentHash> = session.first(sql, [id], |row| row.get(0))?;
    Ok(hash.map(|hash| *hash.as_bytes()))
}

/// The name that a commit knows of the content in this row, where its own row has it no more.
fn appended(session: &Session<'_>, content: i64) -> Result<Option<HashBytes>> {
    let sql = "SELECT hash, canonical FROM commits NOT INDEXED
         WHERE content = ?1 AND seal = sealed(id, hash, lineage, depth, parent, content) LIMIT 1";
    let found: Option<(CommitHash, String)> =
        session.first(sql, [content], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.and_then(|(hash, text)| {
        let commit = Commit::from_canonical(&text).ok();
        match commit.filter(|_| hash.names(text.as_bytes()))?.operation {
            Operation::Append { content } => Some(*content.as_bytes()),
            _ => None,
        }
    }))
}

/// The same of commits.
pub(super) fn broken_commits(session: &Session<'_>) -> Result<Vec<(i64, Option<Mend>)>> {
    let sql = "SELECT id, hash, canonical,
             seal IS sealed(id, hash, lineage, depth, parent, content)
         FROM commits NOT INDEXED";
    let mut broken = Vec::new();
    session.scan(sql, [], |row| {
        let (id, hash): (i64, CommitHash) = (row.get(0)?, row.get(1)?);
        let text = row.text(2).unwrap_or_default();
        let (is_named, is_sealed) = (hash.names(text.as_bytes()), row.get::<bool>(3)?);
        // What is named and not sealed stands in the wrong place, and its text knows the right one.
        if !is_named {
            let name = *CommitHash::of(text).as_bytes();
            broken.push((id, (!is_sealed).then_some(Mend::Name(name))));
        }
        Ok(true)
    })?;
    let vouches = "SELECT seal IS sealed(id, ?2, lineage, depth, parent, content)
         FROM commits WHERE id = ?1";
    vouched(session, broken, vouches)
}

/// Names only those that the seal of the row vouches for.
fn vouched(
    session: &Session<'_>,
    mut broken: Vec<(i64, Option<Mend>)>,
    vouches: &str,
) -> Result<Vec<(i64, Option<Mend>)>> {
    for (id, mend) in &mut broken {
        if let Some(Mend::Name(hash)) = mend {
            let is_its = session.first(vouches, params![*id, *hash], |row| row.get(0))?;
            if is_its != Some(true) {
                *mend = None;
            }
        }
    }
    Ok(broken)
}
