//! Forks and merges beside a list of commits, drawn with lines as git draws them.

use tract::hash::CommitHash;
use tract::query::LogRow;

/// What stands beside a row.
pub struct Beside {
    /// The lines before it, where branches part below it.
    pub before: Vec<String>,
    /// Beside the row itself.
    pub own: String,
    /// The lines behind it, where it merges.
    pub behind: Vec<String>,
}

/// What stands beside each row, of rows that come before their parents.
pub fn beside(rows: &[LogRow]) -> Vec<Beside> {
    let mut lanes: Vec<CommitHash> = Vec::new();
    let parents = |row: &LogRow| (row.hash, row.commit.parent, row.commit.merged);
    rows.iter()
        .map(|row| one(&mut lanes, parents(row)))
        .collect()
}

fn one(
    lanes: &mut Vec<CommitHash>,
    (hash, parent, merged): (CommitHash, Option<CommitHash>, Option<CommitHash>),
) -> Beside {
    let own = lanes.iter().position(|lane| *lane == hash);
    let own = own.unwrap_or_else(|| {
        lanes.push(hash);
        lanes.len() - 1
    });
    let mut before = Vec::new();
    while let Some(other) = lanes.iter().rposition(|lane| *lane == hash)
        && other != own
    {
        before.push(joined(lanes.len(), own, other));
        lanes.remove(other);
    }
    let mark = |at: usize| if at == own { '*' } else { '|' };
    let row = spread((0..lanes.len()).map(mark));
    let mut behind = Vec::new();
    match parent {
        Some(parent) => lanes[own] = parent,
        None => {
            lanes.remove(own);
            if own < lanes.len() {
                behind.push(shifted(lanes.len() + 1, own));
            }
        }
    }
    if let Some(merged) = merged.filter(|_| parent.is_some()) {
        behind.push(parted(lanes.len(), own));
        lanes.insert(own + 1, merged);
    }
    Beside {
        before,
        own: row,
        behind,
    }
}

fn spread(marks: impl Iterator<Item = char>) -> String {
    let marks: Vec<String> = marks.map(String::from).collect();
    marks.join(" ")
}

/// `|/`: a lane goes over into one left of it, and those right of it move up.
fn joined(lanes: usize, into: usize, from: usize) -> String {
    let mut line = vec![' '; 2 * lanes];
    for lane in 0..from {
        line[2 * lane] = '|';
    }
    for lane in into + 1..from {
        line[2 * lane - 1] = '_';
    }
    for lane in from..lanes {
        line[2 * lane - 1] = '/';
    }
    text(&line)
}

/// `|\`: a lane begins right of one, and those right of it make room.
fn parted(lanes: usize, at: usize) -> String {
    let mut line = vec![' '; 2 * lanes + 1];
    for lane in 0..=at {
        line[2 * lane] = '|';
    }
    for lane in at..lanes {
        line[2 * lane + 1] = '\\';
    }
    text(&line)
}

/// A lane has ended, and those right of it move up.
fn shifted(lanes: usize, at: usize) -> String {
    let mut line = vec![' '; 2 * lanes];
    for lane in 0..at {
        line[2 * lane] = '|';
    }
    for lane in at + 1..lanes {
        line[2 * lane - 1] = '/';
    }
    text(&line)
}

fn text(line: &[char]) -> String {
    let line: String = line.iter().collect();
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commits by letters: each with its parent and what it merged.
    fn drawn(commits: &[(&str, &str, &str)]) -> String {
        let name = |text: &str| (!text.is_empty()).then(|| CommitHash::of(text));
        let mut lanes = Vec::new();
        let mut lines = Vec::new();
        for (own, parent, merged) in commits {
            let parents = (CommitHash::of(own), name(parent), name(merged));
            let beside = one(&mut lanes, parents);
            lines.extend(beside.before);
            lines.push(format!("{} {own}", beside.own));
            lines.extend(beside.behind);
        }
        lines.join("\n")
    }

    #[test]
    fn forks_and_merges_are_drawn() {
        let merged = [
            ("e", "d", ""),
            ("d", "b", "c"),
            ("c", "a", ""),
            ("b", "a", ""),
            ("a", "", ""),
        ];
        insta::assert_snapshot!(drawn(&merged), @r"
        * e
        * d
        |\
        | * c
        * | b
        |/
        * a
        ");
    }

    #[test]
    fn what_was_merged_crosswise_is_drawn() {
        let crossed = [
            ("x", "b2", "y"),
            ("y", "c2", "b1"),
            ("c2", "c1", ""),
            ("b2", "b1", "c1"),
            ("c1", "a", ""),
            ("b1", "a", ""),
            ("a", "", ""),
        ];
        insta::assert_snapshot!(drawn(&crossed), @r"
        * x
        |\
        | * y
        | |\
        | * | c2
        * | | b2
        |\ \ \
        | |/ /
        | * | c1
        |_|/
        * | b1
        |/
        * a
        ");
    }
}
