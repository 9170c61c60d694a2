//! Two texts compared by lines, and changed lines by words.
//!
//! A line is what stands between line feeds, so that the lines joined by line feeds are the text
//! again; a text that ends in a line feed has an empty line at its end.

use std::borrow::Cow;

use similar::{Algorithm, DiffOp, InlineChangeOptions, TextDiff, group_diff_ops};

/// The longest stretch of replaced lines that is compared by words, in bytes of both sides.
const WORDS_MAX_BYTES: usize = 32 << 10;

/// What changed in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineDiff {
    /// The changed stretches with the lines around them, in order.
    pub hunks: Vec<Hunk>,
}

/// A stretch of changed lines, with unchanged ones around and between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The index of its first line in the text before, from 0.
    pub before: usize,
    /// The same in the text after.
    pub after: usize,
    /// Its lines: removed ones stand before the ones that take their place.
    pub lines: Vec<HunkLine>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    /// Which of the texts have it.
    pub tag: Tag,
    /// Its text, in pieces; without the line feed.
    pub pieces: Vec<Piece>,
}

/// Which of two texts has a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Both.
    Equal,
    /// The text before.
    Removed,
    /// The text after.
    Added,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its text. Hostile until escaped.
    pub text: String,
    /// Whether it is what differs from the line that stood in its place.
    pub changed: bool,
}

impl HunkLine {
    /// A line of which nothing is said to have changed.
    pub fn plain(tag: Tag, text: &str) -> Self {
        let (text, changed) = (text.to_owned(), false);
        let pieces = vec![Piece { text, changed }];
        Self { tag, pieces }
    }

    /// Its whole text.
    pub fn text(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .collect()
    }
}

impl Hunk {
    /// How many lines it has of the text before, and of the text after.
    pub fn extent(&self) -> (usize, usize) {
        let count = |tag: Tag| self.lines.iter().filter(|line| line.tag != tag).count();
        (count(Tag::Added), count(Tag::Removed))
    }
}

impl LineDiff {
    /// Compares two texts; `context_lines` unchanged lines stand around the changed ones.
    ///
    /// Bounded as git's is: where the texts have little in common, the answer is not the shortest.
    pub fn new(before: &str, after: &str, context_lines: usize) -> Self {
        let old: Vec<&str> = before.split('\n').collect();
        let new: Vec<&str> = after.split('\n').collect();
        let diff = TextDiff::configure()
            .algorithm(Algorithm::Myers)
            .diff_slices(&old, &new);
        let groups = group_diff_ops(diff.ops().to_vec(), context_lines);
        let hunks = groups
            .iter()
            .filter(|ops| ops.iter().any(|op| !matches!(op, DiffOp::Equal { .. })))
            .map(|ops| Hunk {
                before: ops[0].old_range().start,
                after: ops[0].new_range().start,
                lines: ops
                    .iter()
                    .flat_map(|op| lines_of(&diff, op, &old, &new))
                    .collect(),
            })
            .collect();
        Self { hunks }
    }

    /// Whether the texts are equal.
    pub fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }
}

fn lines_of(
    diff: &TextDiff<'_, '_, str>,
    op: &DiffOp,
    old: &[&str],
    new: &[&str],
) -> Vec<HunkLine> {
    let (before, after) = (&old[op.old_range()], &new[op.new_range()]);
    if let DiffOp::Equal { .. } = op {
        return before
            .iter()
            .map(|text| HunkLine::plain(Tag::Equal, text))
            .collect();
    }
    let removed = before
        .iter()
        .map(|text| HunkLine::plain(Tag::Removed, text));
    let added = after.iter().map(|text| HunkLine::plain(Tag::Added, text));
    let mut lines: Vec<HunkLine> = removed.chain(added).collect();
    let size_bytes: usize = before.iter().chain(after).map(|text| text.len()).sum();
    if matches!(op, DiffOp::Replace { .. }) && size_bytes <= WORDS_MAX_BYTES {
        let mut words = InlineChangeOptions::new();
        words.semantic_cleanup(true);
        for change in diff.iter_inline_changes_with_options(op, words) {
            let at = match (change.old_index(), change.new_index()) {
                (Some(line), None) => line - op.old_range().start,
                (None, Some(line)) => before.len() + line - op.new_range().start,
                _ => continue,
            };
            let piece = |(changed, text): (bool, Cow<'_, str>)| {
                let text = text.into_owned();
                Piece { text, changed }
            };
            let pieces = change.iter_strings_lossy().map(piece).collect();
            let tag = lines[at].tag;
            let line = HunkLine { tag, pieces };
            // An empty line has no words, and so no change to speak of.
            if line.text() == lines[at].text() {
                lines[at] = line;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(diff: &LineDiff) -> String {
        let mut out = String::new();
        for hunk in &diff.hunks {
            let (before, after) = hunk.extent();
            out += &format!("@@ -{},{before} +{},{after}\n", hunk.before, hunk.after);
            for line in &hunk.lines {
                let sign = match line.tag {
                    Tag::Equal => ' ',
                    Tag::Removed => '-',
                    Tag::Added => '+',
                };
                out.push(sign);
                for piece in &line.pieces {
                    if piece.changed {
                        out += &format!("[{}]", piece.text)
                    } else {
                        out += &piece.text
                    }
                }
                out.push('\n');
            }
        }
        out
    }

    #[test]
    fn changed_words_stand_out_in_changed_lines() {
        let diff = LineDiff::new(
            "one\ntwo\nthree\nPlease use the batch parser.\nfive\nsix\nseven",
            "one\ntwo\nthree\nPlease use the streaming parser.\nfive\nsix\nseven\n",
            1,
        );
        insta::assert_snapshot!(shown(&diff), @r"
        @@ -2,3 +2,3
         three
        -Please use the [batch] parser.
        +Please use the [streaming] parser.
         five
        @@ -6,1 +6,2
         seven
        +
        ");
    }

    #[test]
    fn an_empty_line_is_a_line() {
        let diff = LineDiff::new("a\n\nb", "a\nx\nb", 0);
        insta::assert_snapshot!(shown(&diff), @r"
        @@ -1,1 +1,1
        -
        +x
        ");
        assert!(LineDiff::new("", "", 3).is_empty());
        assert_eq!(shown(&LineDiff::new("", "x", 3)), "@@ -0,1 +0,1\n-\n+x\n");
    }

    #[test]
    fn two_large_texts_are_compared_in_bounded_time() {
        let text = |salt: usize| -> String {
            let line = |n: usize| format!("line {} of some text\n", n * salt % 65_521);
            (0..100_000).map(line).collect()
        };
        let (before, after) = (text(7), text(11));
        let diff = LineDiff::new(&before, &after, 3);
        assert!(diff.apply(&before) == after);
    }

    fn texts() -> impl Strategy<Value = String> {
        let lines = prop::sample::select(vec!["a", "b b", "b c", "", "日本", "x y z w", "\r", " "]);
        prop::collection::vec(lines, 0..12).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        #[test]
        fn applying_a_diff_gives_the_text_after(a in texts(), b in texts(), context in 0_usize..4) {
            let diff = LineDiff::new(&a, &b, context);
            prop_assert_eq!(diff.apply(&a), b.clone());
            prop_assert_eq!(diff.is_empty(), a == b);
        }
    }
}
