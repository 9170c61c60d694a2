//! Blocks of what is searched and what replaces it.

use super::{CONTEXT_LINES, EditHunk, EditKind, FileEdit, hunks};

/// A text of such blocks, as an edit of one file.
///
/// # Source
///
/// Roo Code's `apply_diff` and Cline's `replace_in_file`: `<<<<<<< SEARCH` (or `------- SEARCH`),
/// `:start_line:12`, `-------`, what is searched, `=======`, what replaces it, `>>>>>>> REPLACE` (or
/// `+++++++ REPLACE`).
pub(super) fn edit(path: Option<&str>, text: &str) -> Option<FileEdit> {
    let mut found: Vec<EditHunk> = Vec::new();
    let mut block: Option<Block> = None;
    for line in text.lines() {
        match &mut block {
            None if is_rule(line, ['<', '-'], "SEARCH") => block = Some(Block::default()),
            None => {}
            Some(open) if open.replaces && is_rule(line, ['>', '+'], "REPLACE") => {
                found.extend(open.hunks());
                block = None;
            }
            Some(open) => open.take(line),
        }
    }
    // One that is still open is being written.
    found.extend(block.iter().flat_map(Block::hunks));
    (!found.is_empty()).then(|| FileEdit {
        path: path.map(str::to_owned),
        kind: EditKind::Changed,
        hunks: found,
    })
}

/// Whether a line is so many of one of these signs, and a word.
fn is_rule(line: &str, signs: [char; 2], word: &str) -> bool {
    let line = line.trim_end().trim_end_matches('>');
    let rule = line.strip_suffix(word).map(str::trim_end);
    let is_of = |rule: &str, sign| rule.len() >= 5 && rule.chars().all(|c| c == sign);
    rule.is_some_and(|rule| signs.iter().any(|sign| is_of(rule, *sign)))
}

#[derive(Default)]
struct Block {
    place: Option<String>,
    old: Vec<String>,
    new: Vec<String>,
    replaces: bool,
}

impl Block {
    fn take(&mut self, line: &str) {
        let head = self.old.is_empty() && !self.replaces;
        let place = line
            .strip_prefix(":start_line:")
            .or_else(|| line.strip_prefix(":end_line:"));
        match place {
            Some(place) if head => {
                let place = format!("line {}", place.trim());
                self.place.get_or_insert(place);
            }
            _ if head && line.trim_end() == "-------" => {}
            _ if !self.replaces && line.trim_end() == "=======" => self.replaces = true,
            _ if self.replaces => self.new.push(line.to_owned()),
            _ => self.old.push(line.to_owned()),
        }
    }

    fn hunks(&self) -> Vec<EditHunk> {
        let mut hunks = hunks(&self.old.join("\n"), &self.new.join("\n"), CONTEXT_LINES);
        if let Some(first) = hunks.first_mut() {
            first.place = self.place.clone();
        }
        hunks
    }
}
