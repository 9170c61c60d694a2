//! Patches: the envelope of `apply_patch`, and unified diffs.

use super::{EditHunk, EditKind, FileEdit, hunks};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// A text that is a patch as `apply_patch` takes it.
///
/// # Source
///
/// The grammar in the instructions of Codex's `apply_patch`.
pub(super) fn whole(text: &str) -> Option<Vec<FileEdit>> {
    let text = text.trim_start();
    text.starts_with(BEGIN).then(|| envelope(text))
}

/// A patch inside a command that calls `apply_patch`; and the command without it.
pub(super) fn inside(text: &str) -> Option<(String, Vec<FileEdit>)> {
    let start = text.find(BEGIN)?;
    let before = &text[..start];
    if !before.contains("apply_patch") {
        return None;
    }
    let end = text[start..].find(END).map(|at| start + at + END.len());
    let end = end.unwrap_or(text.len());
    let (before, after) = (before.trim(), text[end..].trim());
    let left = format!("{before} … {after}").trim_end().to_owned();
    Some((left, envelope(&text[start..end])))
}

fn envelope(text: &str) -> Vec<FileEdit> {
    let mut files: Vec<Open> = Vec::new();
    for line in text.lines().skip(1) {
        let named = |word: &str| line.strip_prefix(word).map(|path| path.trim().to_owned());
        if line.starts_with(END) {
            break;
        } else if let Some(path) = named("*** Add File:") {
            files.push(Open::new(path, EditKind::Written));
        } else if let Some(path) = named("*** Delete File:") {
            files.push(Open::new(path, EditKind::Deleted));
        } else if let Some(path) = named("*** Update File:") {
            files.push(Open::new(path, EditKind::Changed));
        } else if let Some(file) = files.last_mut() {
            match named("*** Move to:") {
                Some(path) => file.kind = EditKind::Moved(path),
                None if line.starts_with("*** ") => {}
                None => file.take(line),
            }
        }
    }
    files.into_iter().map(Open::close).collect()
}

/// A text that is a unified diff, of one file or of several.
pub(super) fn unified(path: Option<&str>, text: &str) -> Option<Vec<FileEdit>> {
    let begins = ["--- ", "diff --git ", "@@ "];
    let text = text.trim_start();
    if !begins.iter().any(|begin| text.starts_with(begin)) || !text.contains("@@") {
        return None;
    }
    let mut files: Vec<Open> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_head =
            line.starts_with("--- ") && lines.peek().is_some_and(|l| l.starts_with("+++ "));
        if is_head {
            let after = lines.next().unwrap_or_default();
            files.push(Open::between(&line[4..], &after[4..]));
        } else if let Some(file) = files.last_mut() {
            if !line.starts_with("diff --git ") {
                file.take(line);
            }
        } else if line.starts_with("@@") {
            let mut file = Open::new(path.unwrap_or_default().to_owned(), EditKind::Changed);
            file.take(line);
            files.push(file);
        }
    }
    let files: Vec<FileEdit> = files.into_iter().map(Open::close).collect();
    (!files.is_empty()).then_some(files)
}

/// A file whose changes are being read.
struct Open {
    path: String,
    kind: EditKind,
    hunks: Vec<EditHunk>,
    place: Option<String>,
    old: String,
    new: String,
}

impl Open {
    fn new(path: String, kind: EditKind) -> Self {
        Self {
            path,
            kind,
            hunks: Vec::new(),
            place: None,
            old: String::new(),
            new: String::new(),
        }
    }

    /// By the names that a unified diff gives a file before and after.
    fn between(before: &str, after: &str) -> Self {
        let bare = |name: &str| {
            let name = name.split('\t').next().unwrap_or_default().trim();
            let name = name
                .strip_prefix("a/")
                .or(name.strip_prefix("b/"))
                .unwrap_or(name);
            name.to_owned()
        };
        match (bare(before), bare(after)) {
            (before, after) if before == "/dev/null" => Self::new(after, EditKind::Written),
            (before, after) if after == "/dev/null" => Self::new(before, EditKind::Deleted),
            (before, after) if before == after => Self::new(before, EditKind::Changed),
            (before, after) => Self::new(before, EditKind::Moved(after)),
        }
    }

    fn take(&mut self, line: &str) {
        if let Some(place) = line.strip_prefix("@@") {
            self.finish();
            self.place = Some(place.trim().to_owned()).filter(|place| !place.is_empty());
            return;
        }
        let mut chars = line.chars();
        let (sign, text) = (chars.next(), chars.as_str());
        let mut push = |old: bool, new: bool, text: &str| {
            for (side, is_on_it) in [(&mut self.old, old), (&mut self.new, new)] {
                if is_on_it {
                    *side += text;
                    side.push('\n');
                }
            }
        };
        match sign {
            Some('-') => push(true, false, text),
            Some('+') => push(false, true, text),
            Some(' ') => push(true, true, text),
            None => push(true, true, ""),
            // `\ No newline at end of file`, and what no grammar knows.
            Some(_) => {}
        }
    }

    fn finish(&mut self) {
        let (old, new) = (std::mem::take(&mut self.old), std::mem::take(&mut self.new));
        // What stands around the changes was chosen by whoever made the patch.
        let around = old.len().max(new.len());
        let mut found = hunks(&old, &new, around);
        if let Some(first) = found.first_mut() {
            first.place = self.place.take();
        }
        self.hunks.extend(found);
    }

    fn close(mut self) -> FileEdit {
        self.finish();
        FileEdit {
            path: Some(self.path).filter(|path| !path.is_empty()),
            kind: self.kind,
            hunks: self.hunks,
        }
    }
}
