//! What whoever looks at a repository most often asks for next, asked for along with what they ask first: what HEAD is
//! on, where its path goes, the newest commits on it with what they append, and what is configured.
//!
//! Nothing depends on it: what was not foreseen is asked for when it is wanted. Deliberately absent: what a
//! command needs; it is the same for all.

use super::columns::keys;
use super::driver::Asked;
use super::link::asked;
use super::sums::{SUMS, sums_asked};
use super::usual::{ANY, ANY_INJECTED, LAST_PURGE, UPKEEP, remembered_asked};
use crate::error::Result;
use crate::model::{Encoding, RefName};
use crate::store::codec::encoding_number;
use crate::store::refs::Seat;
use crate::store::rows::USAGE;
use crate::store::tables::{CONFIG, UNREAD};

/// How many commits are foreseen.
const COMMITS: i64 = 64;
/// Of how many parts of a path, the newest, it is foreseen what contexts come to.
pub(super) const PARTS: usize = 16;
/// The columns of a commit that is foreseen: as listings have them, as what is appended is told, where it stands, and
/// what the provider counted.
pub(super) const LISTED: usize = 0;
pub(super) const APPENDED: usize = 12;
pub(super) const PLACE: usize = 21;
pub(super) const PROVIDERS: usize = 24;
/// How many they are.
pub(super) const FORESEEN: usize = 30;

/// The names by which a tip is looked for, and the path to the first of them that has one.
pub(super) const TIP: &str = "WITH RECURSIVE chain (at, hops, name) AS (
         SELECT n, 0, asked.name FROM unnest($1) WITH ORDINALITY AS asked (name, n)
         UNION ALL
         SELECT at, hops + 1, r.symbolic FROM chain JOIN refs AS r ON r.name = chain.name
         WHERE r.symbolic IS NOT NULL AND hops < 2
     ), tip (id, hash) AS (
         SELECT commits.id, commits.hash FROM chain JOIN refs AS r ON r.name = chain.name
         JOIN commits ON commits.id = r.target ORDER BY at, hops LIMIT 1
     ), path (lineage, last, at) AS (
         SELECT lineage, depth, 0 FROM commits WHERE id = (SELECT id FROM tip)
         UNION ALL
         SELECT l.parent, l.fork_depth, at + 1 FROM path JOIN lineages AS l ON l.id = lineage
         WHERE l.parent IS NOT NULL
     )";

/// The names by which somebody's tip is looked for, first that of the branch that was named, if one was.
pub(super) fn names(seat: Option<&Seat>, on: Option<&RefName>) -> Vec<RefName> {
    let head = RefName::head();
    let own = crate::store::refs::kept(seat, &head).clone();
    let main: Option<RefName> = "refs/heads/main".parse().ok();
    let all = on.cloned().into_iter().chain([own, head]).chain(main);
    let mut names: Vec<RefName> = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What the names hold, and those to which they lead.
fn refs_asked(names: &[RefName]) -> Result<Asked> {
    let sql = format!(
        "{TIP} SELECT target, commits.hash, r.symbolic, chain.name FROM chain
         LEFT JOIN refs AS r ON r.name = chain.name LEFT JOIN commits ON commits.id = r.target"
    );
    asked(sql, &[&keys(names)])
}

/// The path to the tip, and the tip.
fn path_asked(names: &[RefName]) -> Result<Asked> {
    let sql = format!("{TIP} SELECT lineage, last, (SELECT hash FROM tip) FROM path ORDER BY at");
    asked(sql, &[&keys(names)])
}

/// The columns of a commit that is foreseen, of commits `c`.
pub(super) fn foreseen_columns() -> String {
    format!(
        "SELECT c.hash, c.depth, c.canonical, contents.hash, role, preview, size_bytes, calls, results,
             tokens, estimated, uses,
             c.hash, c.depth, contents.hash, role, calls + results, uses, tokens, estimated,
             c.content IS NULL, c.id, c.lineage, c.depth, {USAGE}"
    )
}

/// What stands beside commits `c`: each is found by its key, whatever a server without statistics thinks of how many there are.
pub(super) fn beside_commits() -> String {
    let encoding = encoding_number(Encoding::default());
    format!(
        "LEFT JOIN LATERAL (SELECT * FROM contents WHERE id = c.content LIMIT 1) AS contents ON true
         LEFT JOIN LATERAL (
             SELECT tokens, estimated FROM counts
             WHERE content = c.content AND encoding = {encoding} AND mask = ''::bytea LIMIT 1
         ) AS counts ON true
         LEFT JOIN LATERAL (
             SELECT uses FROM tool_uses WHERE calls + results > 0 AND content = c.content LIMIT 1
         ) AS tool_uses ON true
         LEFT JOIN LATERAL (SELECT * FROM usage WHERE commit_id = c.id LIMIT 1) AS usage ON true"
    )
}

/// The newest commits on it, and the first.
fn commits_asked(names: &[RefName]) -> Result<Asked> {
    let (columns, beside) = (foreseen_columns(), beside_commits());
    let sql = format!(
        "{TIP}, part AS (
             SELECT lineage, last, coalesce(lead(last) OVER (ORDER BY at), -1) + 1 AS first,
                 max(last) OVER () AS tip FROM path
         )
         {columns} FROM part CROSS JOIN LATERAL (
             SELECT * FROM commits WHERE lineage = part.lineage AND depth BETWEEN greatest(first, tip - $2 + 1) AND last
             UNION ALL
             SELECT * FROM commits WHERE lineage = part.lineage AND depth = 0 AND first = 0 AND tip >= $2
         ) AS c {beside} ORDER BY c.depth"
    );
    asked(sql, &[&keys(names), &COMMITS])
}

/// Questions that are asked in the same words by whoever wants to know.
pub(super) fn usual() -> Result<Vec<Asked>> {
    Ok(vec![
        remembered_asked(&CONFIG, None)?,
        remembered_asked(&UNREAD, None)?,
        asked(UPKEEP, &[])?,
        asked(LAST_PURGE, &[])?,
        asked(ANY, &[])?,
        asked(ANY_INJECTED, &[])?,
    ])
}

/// What a view foresees.
pub(super) fn of_view(names: &[RefName]) -> Result<Vec<Asked>> {
    let mut all = vec![
        refs_asked(names)?,
        path_asked(names)?,
        commits_asked(names)?,
    ];
    let parts = format!("(SELECT lineage, last FROM path WHERE at < {PARTS}) AS part");
    for (table, most) in SUMS {
        let sums = sums_asked(table, most, &parts);
        all.push(asked(format!("{TIP} {sums}"), &[&keys(names)])?);
    }
    all.extend(usual()?);
    Ok(all)
}

/// What a transaction foresees that goes on from the tip: what the names hold; the path to the tip; where that stands, whether
/// anything stands behind it, and how deep its newest checkpoint is. The kind of a row is its first column.
pub(super) fn of_writer(names: &[RefName]) -> Result<Asked> {
    let sql = format!(
        "{TIP}
         SELECT {REF}::bigint, 0 AS at, target, commits.hash, r.symbolic, chain.name,
             NULL::bigint, NULL::bigint, NULL::bigint, NULL::bool, NULL::bool
         FROM chain LEFT JOIN refs AS r ON r.name = chain.name LEFT JOIN commits ON commits.id = r.target
         UNION ALL
         SELECT {PART}, at, NULL, NULL, NULL, NULL, lineage, last, NULL, NULL, NULL FROM path
         UNION ALL
         SELECT {END}, 0, c.id, c.hash, NULL, NULL, c.lineage, c.depth,
             (SELECT max(k.depth) FROM path JOIN checkpoints AS k ON k.lineage = path.lineage AND k.depth <= last),
             EXISTS (SELECT 1 FROM commits WHERE lineage = c.lineage AND depth = c.depth + 1)
                 OR EXISTS (SELECT 1 FROM lineages WHERE parent = c.lineage AND fork_depth = c.depth),
             true
         FROM commits AS c WHERE id = (SELECT id FROM tip) ORDER BY 1, 2"
    );
    asked(sql, &[&keys(names)])
}

/// The kinds of its rows: what a name holds, a part of the path, and its end.
pub(super) const REF: i64 = 0;
pub(super) const PART: i64 = 1;
pub(super) const END: i64 = 2;
/// What [`begin_on`](super::turn::begin_on) tells beside these: the transaction's token and number, numbers of a content and of a
/// commit, the branch, the newest purge, a content.
pub(super) const OWN: i64 = 3;
pub(super) const NUMBERS: i64 = 4;
pub(super) const BRANCH: i64 = 5;
pub(super) const PURGE: i64 = 6;
pub(super) const CONTENT: i64 = 7;
