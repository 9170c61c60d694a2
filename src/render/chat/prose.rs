//! Markdown on a terminal: each line stays a line, and what it says is told apart by its looks.
//!
//! What only marks a stretch (`**`, backticks) is not drawn; what says more (`#`, a bullet, a fence, an address) stays,
//! and is dim. A block of code has its colours.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::render::code::{self, Language};
use crate::render::{Label, Line, Syntax};

/// A longer text is drawn as it is.
const TEXT_BYTES: usize = 256 << 10;

/// The lines of a text, as many as it has.
pub(super) fn lines(text: &str) -> Vec<Line> {
    if text.len() > TEXT_BYTES {
        return text.lines().map(|line| Label::Text.quote(line)).collect();
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut prose = Prose {
        text,
        at: 0,
        labels: Vec::new(),
        block: None,
        lines: vec![Line::new()],
    };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        prose.event(event, range);
    }
    prose.gap(text.len(), false);
    let mut lines = prose.lines;
    // As the language's own lines: a last line feed begins none.
    lines.truncate(text.lines().count());
    lines
}

struct Prose<'t> {
    text: &'t str,
    /// Up to where it is drawn.
    at: usize,
    /// What stands around.
    labels: Vec<Label>,
    /// The block of code that is read.
    block: Option<Block>,
    lines: Vec<Line>,
}

/// A block of code.
struct Block {
    language: Option<Language>,
    code: String,
    /// Where the pieces of it stand in the text.
    ranges: Vec<Range<usize>>,
}

impl Prose<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(words) => Language::named(words),
                    CodeBlockKind::Indented => None,
                };
                self.block = Some(Block {
                    language,
                    code: String::new(),
                    ranges: Vec::new(),
                });
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some(block) = self.block.take() {
                    self.block(&block);
                }
            }
            Event::Start(tag) => {
                let around = self.labels.last().copied().unwrap_or_default();
                self.labels.push(match tag {
                    Tag::Heading { .. } | Tag::Strong => Label::Strong,
                    Tag::Link { .. } | Tag::Image { .. } => Label::Code(Syntax::Function),
                    Tag::BlockQuote(_) => Label::Dim,
                    _ => around,
                });
            }
            Event::End(_) => {
                self.labels.pop();
            }
            Event::Text(said) => match &mut self.block {
                Some(block) if self.text.get(range.clone()) == Some(&*said) => {
                    block.code += &said;
                    block.ranges.push(range);
                }
                Some(_) => {}
                None => {
                    let label = self.labels.last().copied().unwrap_or_default();
                    self.draw(range, label);
                }
            },
            Event::Code(_) => {
                let said = &self.text[range.clone()];
                let marks = said.len() - said.trim_start_matches('`').len();
                let inside = range.start + marks..range.end.saturating_sub(marks);
                if inside.start <= inside.end {
                    self.draw(inside, Label::Code(Syntax::String));
                }
            }
            Event::Html(_) | Event::InlineHtml(_) => self.draw(range, Label::Text),
            _ => {}
        }
    }

    /// Draws a block of code, and the fence before it.
    fn block(&mut self, block: &Block) {
        let found = match &block.language {
            Some(language) => code::spans(&block.code, language),
            None => Vec::new(),
        };
        let mut pieces = code::pieces(&block.code, &found);
        let mut rest = pieces.next();
        for range in &block.ranges {
            self.gap(range.start, false);
            let mut left = range.len();
            while let Some((piece, label)) = rest.filter(|_| left > 0) {
                let cut = piece.len().min(left);
                self.say(&piece[..cut], label);
                left -= cut;
                rest = if cut == piece.len() {
                    pieces.next()
                } else {
                    Some((&piece[cut..], label))
                };
            }
            self.at = self.at.max(range.end);
        }
    }

    fn draw(&mut self, range: Range<usize>, label: Label) {
        // What was drawn is not drawn again.
        let range = range.start.max(self.at)..range.end;
        if range.start >= range.end {
            return;
        }
        self.gap(range.start, true);
        let text = self.text;
        self.say(&text[range.clone()], label);
        self.at = range.end;
    }

    /// Draws what stands before a place and is no event's. Marks that touch a stretch are left out, behind the one before and,
    /// where one begins there, in front of it.
    fn gap(&mut self, end: usize, is_before_stretch: bool) {
        if end <= self.at {
            return;
        }
        const MARKS: [char; 4] = ['*', '_', '`', '~'];
        let (before, mut between) = (&self.text[..self.at], &self.text[self.at..end]);
        if !before.is_empty() && !before.ends_with('\n') {
            between = between.trim_start_matches(MARKS);
        }
        if is_before_stretch {
            between = between.trim_end_matches(MARKS);
        }
        for (at, line) in between.split('\n').enumerate() {
            if at > 0 {
                self.say("\n", Label::Text);
            }
            self.say(line, Label::Dim);
        }
        self.at = end;
    }

    fn say(&mut self, text: &str, label: Label) {
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.lines.push(Line::new());
            }
            let line = line.strip_suffix('\r').unwrap_or(line);
            if let Some(last) = self.lines.last_mut() {
                let label = if line.trim().is_empty() {
                    Label::Text
                } else {
                    label
                };
                *last += label.quote(line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::plain;

    fn told(text: &str) -> Vec<String> {
        lines(text).iter().map(plain::paint).collect()
    }

    #[test]
    fn each_line_stays_a_line_and_only_marks_go() {
        assert_eq!(
            told(
                "# A *b*\n\n- one `two`\n- **three** [four](http://f)\n\n```rust\nfn a() {}\n```\n> five\n\n| a | b |\n|---|---|\n| 1 | 2 |"
            ),
            [
                "# A b",
                "",
                "- one two",
                "- three [four](http://f)",
                "",
                "```rust",
                "fn a() {}",
                "```",
                "> five",
                "",
                "| a | b |",
                "|---|---|",
                "| 1 | 2 |",
            ]
        );
        for text in [
            "",
            "\n",
            "\n\n",
            "a",
            "a\n",
            "a\r\nb\r\n",
            "```\nopen",
            "~~~",
            "``",
            "* * *",
            "1. a\n   ```js\n   let a = 1\n   ```\n",
            "<b>x</b>\n<script>\n\n</script>",
            "&amp; \\* a_b_c",
            "[a]: http://b\n\n[a]",
            "\t\tcode\n\tx",
            "a  \nb",
            "***a** b*",
            "\u{1b}[31m\n\u{202e}",
            "é`漢`\n**é**",
        ] {
            assert_eq!(told(text).len(), text.lines().count(), "{text:?}");
        }
    }

    #[test]
    fn what_it_says_has_its_looks() {
        let lines = lines("# H\n**s** `c`\n```python\ndef f(): pass\n```");
        let has = |at: usize, text: &str, label: Label| {
            let mut runs = lines[at].runs().iter();
            assert!(
                runs.any(|run| run.text() == text && run.label == label),
                "{:?}",
                lines[at]
            );
        };
        has(0, "H", Label::Strong);
        has(0, "# ", Label::Dim);
        has(1, "s", Label::Strong);
        has(1, "c", Label::Code(Syntax::String));
        has(2, "```python", Label::Dim);
        has(3, "def", Label::Code(Syntax::Keyword));
        has(3, "f", Label::Code(Syntax::Function));
    }
}
