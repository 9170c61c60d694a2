//! Lines for the screen: one table says how each label looks, and what a search found stands out.

use owo_colors::{OwoColorize, Style};
use tract::render::{Label, Line, ansi};

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
    pub fn line(&self, line: &Line) -> String {
        let mut painted = String::new();
        for run in line.runs() {
            let style = self.style(run.label);
            match self.sought.as_deref().filter(|sought| !sought.is_empty()) {
                Some(sought) => split(run.text(), sought, style, &mut painted),
                None => push(run.text(), style, &mut painted),
            }
        }
        painted
    }

    /// A line that is all of the screen's width, and stands out.
    pub fn bar(&self, left: Line, right: Line, width: usize) -> String {
        let room = width.saturating_sub(right.width_cols() + 1);
        let line = left.cut(room).left(room) + " " + right;
        let mut painted = String::new();
        for run in line.cut(width).left(width).runs() {
            // Colours on a bar would be those of its ground.
            let style = Style::new().reversed();
            let style = match run.label {
                Label::User
                | Label::Assistant
                | Label::Hide
                | Label::Warning
                | Label::Restore
                | Label::Good
                | Label::Branch
                | Label::Head
                | Label::Error
                | Label::Match
                | Label::Command
                | Label::Strong => style.bold(),
                _ => style,
            };
            push(run.text(), style, &mut painted);
        }
        painted
    }

    fn style(&self, label: Label) -> Style {
        if !self.is_plain {
            return match label {
                Label::User | Label::Assistant => ansi::style(label).bold(),
                _ => ansi::style(label),
            };
        }
        let style = Style::new();
        match label {
            Label::Dim | Label::Time => style.dimmed(),
            Label::Strong
            | Label::Error
            | Label::Hide
            | Label::Warning
            | Label::User
            | Label::Match => style.bold(),
            Label::AddedWord | Label::RemovedWord => style.reversed(),
            _ => style,
        }
    }
}

fn push(text: &str, style: Style, painted: &mut String) {
    *painted += &text.style(style).to_string();
}

/// The same, with what was sought standing out.
fn split(text: &str, sought: &str, style: Style, painted: &mut String) {
    let exact = sought.chars().any(char::is_uppercase);
    let folded = if exact {
        text.to_owned()
    } else {
        text.to_lowercase()
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
        push(&text[from..at], style, painted);
        push(&text[at..end], style.reversed(), painted);
        from = end;
    }
    push(&text[from..], style, painted);
}
