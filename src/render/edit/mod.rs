//! What a call does to files, as lines that went and lines that came.
//!
//! Agents spell an edit in many ways; all of them are one model here, and every painter draws that.
//! An edit is known by the shape of its arguments (`shapes`), never by whose tool it is.
//! Deliberately absent: what was in the file beside it, and whether the edit succeeded.

mod blocks;
mod patch;
mod shapes;

use serde_json::{Map, Value};

use crate::diff::{HunkLine, LineDiff, Tag};
use crate::model::call::{Brief, BriefPiece};
use crate::render::plural;
use crate::tree::Tool;

/// What is compared line by line at most, in bytes of both sides; beyond it all of one side goes
/// and all of the other comes.
const COMPARED_MAX_BYTES: usize = 1 << 20;

/// An argument that is longer has lines of its own.
const LONG_BYTES: usize = 160;

/// How many unchanged lines stand around changed ones.
const CONTEXT_LINES: usize = 3;

/// A call that edits files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edits {
    /// The arguments that the edits do not say.
    rest: Map<String, Value>,
    /// What becomes of each file, in the order of the call.
    pub files: Vec<FileEdit>,
    /// Whether the rest names the only file.
    pub is_named: bool,
}

/// The files that a call changes, as its arguments spell them. Hostile until escaped.
pub fn changed_files(tool: &str, arguments: &str) -> Vec<String> {
    let edits = Edits::of_call(tool, arguments);
    let files = edits.into_iter().flat_map(|edits| edits.files);
    files.filter_map(|file| file.path).collect()
}

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The file, where the call says it. Hostile until escaped.
    pub path: Option<String>,
    /// In what way.
    pub kind: EditKind,
    /// The stretches that change.
    pub hunks: Vec<EditHunk>,
}

/// The way in which a file is edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// Pieces of it change.
    Changed,
    /// It is written whole, or text is put into it.
    Written,
    /// It is deleted.
    Deleted,
    /// It changes, and has another name from then on. Hostile until escaped.
    Moved(String),
}

/// A stretch of a file that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditHunk {
    /// Where it is, in the call's own words. Hostile until escaped.
    pub place: Option<String>,
    /// Its lines.
    pub lines: Vec<HunkLine>,
}

impl Edits {
    /// What a call does to files, if it says that it does something.
    ///
    /// ```
    /// use tract::render::edit::Edits;
    ///
    /// let arguments = r#"{"file_path": "a.txt", "old_string": "one", "new_string": "two"}"#;
    /// let edits = Edits::of_call("Edit", arguments).expect("an edit");
    /// assert_eq!(edits.brief("Edit").line(None), "Edit a.txt");
    /// assert_eq!(edits.files[0].tally(), (1, 1));
    /// ```
    pub fn of_call(name: &str, arguments: &str) -> Option<Self> {
        shapes::edits(name, arguments).filter(|edits| !edits.files.is_empty())
    }

    /// What a block of a tree does to files, if it is a call that does.
    pub(super) fn of_tool(tool: &Tool) -> Option<Self> {
        tool.is_call()
            .then(|| Self::of_call(&tool.name, &tool.arguments))?
    }

    /// What a block of a tree says in brief, without what its edits say; of what is no call of a tool, its line.
    pub(super) fn brief_of(tool: &Tool, edits: Option<&Self>) -> Brief {
        match (edits, tool.brief()) {
            (Some(edits), _) => edits.brief(&tool.name),
            (None, Some(brief)) => brief,
            (None, None) => Brief {
                name: tool.line(),
                ..Brief::default()
            },
        }
    }

    /// The call in brief: its files, and what its edits do not say.
    pub fn brief(&self, name: &str) -> Brief {
        let mut brief = Brief::of_object(name, &self.rest);
        if !self.is_named {
            let mut paths = self.files.iter().filter_map(|file| file.path.as_deref());
            if let Some(first) = paths.next() {
                let more = paths.filter(|path| *path != first).count();
                brief.pieces.insert(0, BriefPiece::Path(first.to_owned()));
                if more > 0 {
                    let more = format!("and {}", plural(more as u64, "more file"));
                    brief.pieces.insert(1, BriefPiece::Words(more));
                }
            }
        }
        brief
    }

    /// The arguments that the edits do not say and that are too long for a line: the key, and the text.
    pub(super) fn long_rest(&self) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.rest.iter();
        let texts = texts.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
        texts.filter(|(_, text)| text.trim_end().contains('\n') || text.len() > LONG_BYTES)
    }

    /// Whether each file is to be named above what becomes of it: the call's line does not say it.
    pub fn names_files(&self) -> bool {
        self.files.len() > 1
            && self
                .files
                .iter()
                .any(|file| file.path != self.files[0].path)
    }

    /// How many lines come and go in all files.
    pub fn tally(&self) -> (usize, usize) {
        let tallies = self.files.iter().map(FileEdit::tally);
        tallies.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
}

impl FileEdit {
    /// How many lines come, and how many go.
    pub fn tally(&self) -> (usize, usize) {
        let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.fold((0, 0), |(added, removed), line| match line.tag {
            Tag::Added => (added + 1, removed),
            Tag::Removed => (added, removed + 1),
            Tag::Equal => (added, removed),
        })
    }

    /// What becomes of it besides its lines. Hostile until escaped.
    pub(super) fn fate(&self) -> Option<String> {
        match &self.kind {
            EditKind::Changed | EditKind::Written => None,
            EditKind::Deleted => Some("deleted".to_owned()),
            EditKind::Moved(to) => Some(format!("→ {to}")),
        }
    }

    /// The stretches, each with what stands above it: its place, or that something lies between.
    pub(super) fn placed(&self) -> impl Iterator<Item = (Option<String>, &EditHunk)> {
        self.hunks.iter().enumerate().map(|(at, hunk)| {
            let place = hunk.place.as_ref().map(|place| format!("@@ {place}"));
            (place.or_else(|| (at > 0).then(|| "…".to_owned())), hunk)
        })
    }

    /// One text in the place of another.
    fn replaced(path: Option<&str>, old: &str, new: &str) -> Self {
        let kind = if old.is_empty() {
            EditKind::Written
        } else {
            EditKind::Changed
        };
        let path = path.map(str::to_owned);
        let hunks = hunks(old, new, CONTEXT_LINES);
        Self { path, kind, hunks }
    }

    /// A text that is written.
    fn written(path: Option<&str>, text: &str) -> Self {
        Self::replaced(path, "", text)
    }
}

/// What differs between two texts; a line feed at the end of both is no line.
fn hunks(old: &str, new: &str, context_lines: usize) -> Vec<EditHunk> {
    let bare = |text: &'_ str| -> String {
        let text = text.strip_suffix('\n').unwrap_or(text);
        text.strip_suffix('\r').unwrap_or(text).to_owned()
    };
    if old.is_empty() || new.is_empty() || old.len() + new.len() > COMPARED_MAX_BYTES {
        let side = |tag, text: &str| -> Vec<HunkLine> {
            text.lines()
                .map(|text| HunkLine::plain(tag, text))
                .collect()
        };
        let mut lines = side(Tag::Removed, old);
        lines.extend(side(Tag::Added, new));
        let hunk = EditHunk { place: None, lines };
        return Some(hunk)
            .filter(|hunk| !hunk.lines.is_empty())
            .into_iter()
            .collect();
    }
    let diff = match (old.ends_with('\n'), new.ends_with('\n')) {
        (true, true) => LineDiff::new(&bare(old), &bare(new), context_lines),
        _ => LineDiff::new(old, new, context_lines),
    };
    let hunk = |hunk: crate::diff::Hunk| EditHunk {
        place: None,
        lines: hunk.lines,
    };
    diff.hunks.into_iter().map(hunk).collect()
}

#[cfg(test)]
mod tests;
