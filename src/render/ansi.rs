//! The painter for terminals in colour: one table says how each label looks.

use owo_colors::{OwoColorize, Style};

use crate::render::{Label, Line, Syntax};

/// The line with its colours. Each piece ends as it began, so lines may be cut apart and joined.
pub fn paint(line: &Line) -> String {
    let mut painted = String::new();
    let runs = line.runs();
    for (at, run) in runs.iter().enumerate() {
        match run.label {
            Label::Text if at + 1 == runs.len() => painted += run.text().trim_end(),
            Label::Text => painted += run.text(),
            label => painted += &run.text().style(style(label)).to_string(),
        }
    }
    painted
}

/// How a label looks.
pub fn style(label: Label) -> Style {
    let style = Style::new();
    match label {
        Label::Text | Label::Tokens | Label::Unchanged => style,
        Label::Hash => style.yellow(),
        Label::Time | Label::Dim => style.bright_black(),
        Label::System | Label::Session => style.magenta(),
        Label::User | Label::Added => style.green(),
        Label::Assistant => style.blue(),
        Label::Tool | Label::Hint => style.cyan(),
        Label::Hide | Label::Warning => style.yellow().bold(),
        Label::Restore | Label::Good | Label::Branch => style.green().bold(),
        Label::Head => style.cyan().bold(),
        Label::Error | Label::Match => style.red().bold(),
        Label::Command | Label::Strong => style.bold(),
        Label::AddedWord => style.green().reversed(),
        Label::Removed => style.red(),
        Label::RemovedWord => style.red().reversed(),
        Label::Code(syntax) => code(syntax),
    }
}

/// How code looks: in the sixteen colours that every terminal has on its own ground.
fn code(syntax: Syntax) -> Style {
    let style = Style::new();
    match syntax {
        Syntax::Comment => style.bright_black(),
        Syntax::Keyword => style.magenta(),
        Syntax::String | Syntax::Inserted => style.green(),
        Syntax::Constant => style.yellow(),
        Syntax::Function => style.blue(),
        Syntax::Type | Syntax::Property => style.cyan(),
        Syntax::Tag | Syntax::Deleted => style.red(),
        Syntax::Heading => style.bold(),
    }
}
