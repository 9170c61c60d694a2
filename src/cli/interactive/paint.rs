//! Lines for the screen: one table says how each label looks, and what a search found stands out.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line as Text, Span};
use tract::render::{Label, Line};

/// How a screen is painted.
#[derive(Clone, Debug, Default)]
pub struct Paint {
    /// Without colours: what stands out does so by weight alone.
    pub is_plain: bool,
    /// What was searched for.
    pub sought: Option<String>,
}

impl Paint {
    /// A line of a conversation.
    pub fn line(&self, line: &Line) -> Text<'static> {
        let mut spans = Vec::new();
        for run in line.runs() {
            let style = self.style(run.label);
            match self.sought.as_deref().filter(|sought| !sought.is_empty()) {
                Some(sought) => self.split(run.text(), sought, style, &mut spans),
                None => spans.push(Span::styled(run.text().to_owned(), style)),
            }
        }
        Text::from(spans)
    }

    /// A line that is all of the screen's width, and stands out.
    pub fn bar(&self, left: Line, right: Line, width: usize) -> Text<'static> {
        let room = width.saturating_sub(right.width_cols() + 1);
        let line = left.cut(room).left(room) + " " + right;
        let mut text = self.line(&line.cut(width).left(width));
        text.style = Style::new().add_modifier(Modifier::REVERSED);
        for span in &mut text.spans {
            // Colours on a bar would be those of its ground.
            span.style = Style::new().add_modifier(span.style.add_modifier & Modifier::BOLD);
        }
        text
    }

    fn split(&self, text: &str, sought: &str, style: Style, spans: &mut Vec<Span<'static>>) {
        let exact = sought.chars().any(char::is_uppercase);
        let folded = match exact {
            true => text.to_owned(),
            false => text.to_lowercase(),
        };
        // Where folding moves letters there is no telling which they were.
        let folded = if folded.len() == text.len() {
            folded
        } else {
            text.to_owned()
        };
        let mut from = 0;
        for (at, found) in folded.match_indices(sought) {
            let end = at + found.len();
            if !text.is_char_boundary(at) || !text.is_char_boundary(end) {
                continue;
            }
            spans.push(Span::styled(text[from..at].to_owned(), style));
            let found = style.add_modifier(Modifier::REVERSED);
            spans.push(Span::styled(text[at..end].to_owned(), found));
            from = end;
        }
        spans.push(Span::styled(text[from..].to_owned(), style));
    }

    fn style(&self, label: Label) -> Style {
        let style = Style::new();
        let bold = style.add_modifier(Modifier::BOLD);
        if self.is_plain {
            return match label {
                Label::Dim | Label::Time => style.add_modifier(Modifier::DIM),
                Label::Strong
                | Label::Error
                | Label::Hide
                | Label::Warning
                | Label::User
                | Label::Match => bold,
                Label::AddedWord | Label::RemovedWord => style.add_modifier(Modifier::REVERSED),
                _ => style,
            };
        }
        match label {
            Label::Text | Label::Tokens | Label::Unchanged => style,
            Label::Hash => style.fg(Color::Yellow),
            Label::Time | Label::Dim => style.fg(Color::DarkGray),
            Label::System | Label::Session => style.fg(Color::Magenta),
            Label::User => bold.fg(Color::Green),
            Label::Added => style.fg(Color::Green),
            Label::Assistant => bold.fg(Color::Blue),
            Label::Tool | Label::Hint => style.fg(Color::Cyan),
            Label::Hide | Label::Warning => bold.fg(Color::Yellow),
            Label::Restore | Label::Good | Label::Branch => bold.fg(Color::Green),
            Label::Head => bold.fg(Color::Cyan),
            Label::Error | Label::Match => bold.fg(Color::Red),
            Label::Command | Label::Strong => bold,
            Label::AddedWord => style.fg(Color::Green).add_modifier(Modifier::REVERSED),
            Label::Removed => style.fg(Color::Red),
            Label::RemovedWord => style.fg(Color::Red).add_modifier(Modifier::REVERSED),
        }
    }
}
