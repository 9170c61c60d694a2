//! Standard output and error: who is on the other end, colour, width. The only question whether
//! something is a terminal is asked here.
//!
//! Code writes [`Label`]s; one table gives them colours. Deliberately absent: what is said.

use std::io::{self, BufWriter, Write};

use is_terminal::IsTerminal;
use owo_colors::{OwoColorize, Style};

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What a piece of text is; [`Label::style`] says how that looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    Hash,
    Time,
    System,
    User,
    Assistant,
    Tool,
    Hide,
    Restore,
    Tokens,
    Dim,
    Head,
    Branch,
    Session,
    Good,
    Warning,
    Error,
    Hint,
    Command,
    Strong,
    Match,
    Added,
    AddedWord,
    Removed,
    RemovedWord,
}

impl Label {
    fn style(self) -> Style {
        let style = Style::new();
        match self {
            Self::Hash => style.yellow(),
            Self::Time | Self::Dim => style.bright_black(),
            Self::System => style.magenta(),
            Self::User => style.green(),
            Self::Assistant => style.blue(),
            Self::Tool => style.cyan(),
            Self::Hide | Self::Warning => style.yellow().bold(),
            Self::Restore | Self::Good => style.green().bold(),
            Self::Tokens => style,
            Self::Head => style.cyan().bold(),
            Self::Branch => style.green().bold(),
            Self::Session => style.magenta(),
            Self::Error | Self::Match => style.red().bold(),
            Self::Hint => style.cyan(),
            Self::Command | Self::Strong => style.bold(),
            Self::Added => style.green(),
            Self::AddedWord => style.green().reversed(),
            Self::Removed => style.red(),
            Self::RemovedWord => style.red().reversed(),
        }
    }

    /// The label of a role.
    pub fn role(role: tract::model::Role) -> Self {
        use tract::model::Role;
        match role {
            Role::System | Role::Developer => Self::System,
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Tool,
        }
    }
}

/// Where the program writes.
pub struct Ui {
    out: BufWriter<io::Stdout>,
    out_color: bool,
    err_color: bool,
    out_terminal: bool,
    err_terminal: bool,
    columns: Option<usize>,
    quiet: bool,
    merged: bool,
}

/// What a painter is told of where its lines go, so that it asks nothing.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The columns that a line may take; none in a pipe, where nothing is cut.
    pub width_cols: Option<usize>,
    /// Whether there is colour.
    pub color: bool,
}

impl Look {
    /// `text` in the colour of `label`.
    pub fn paint(&self, label: Label, text: &str) -> String {
        painted(self.color, label, text)
    }
}

/// What of the environment matters to the terminal.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` is set and not `0`.
    pub force_color: bool,
    /// `COLUMNS`.
    pub columns: Option<usize>,
    /// `TERM` is `dumb`.
    pub dumb: bool,
}

impl Ui {
    /// Looks at the terminal, once.
    pub fn new(choice: ColorChoice, surroundings: &Surroundings, quiet: bool) -> Self {
        let out_terminal = io::stdout().is_terminal();
        let err_terminal = io::stderr().is_terminal();
        let color = |terminal: bool| match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if surroundings.no_color => false,
            ColorChoice::Auto => surroundings.force_color || (terminal && !surroundings.dumb),
        };
        Self {
            out: BufWriter::with_capacity(64 << 10, io::stdout()),
            out_color: color(out_terminal),
            err_color: color(err_terminal),
            out_terminal,
            err_terminal,
            columns: surroundings.columns,
            quiet,
            merged: false,
        }
    }

    /// Data: standard output, buffered until [`Ui::flush`].
    pub fn out(&mut self) -> &mut impl Write {
        &mut self.out
    }

    /// Writes what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// A sentence about what happened, on standard error; nothing with `-q`.
    pub fn status(&mut self, text: &str) {
        if !self.quiet {
            self.complain(text);
        }
    }

    /// A piece of advice after success.
    pub fn hint(&mut self, text: &str) {
        let head = self.paint_err(Label::Hint, "hint:");
        self.status(&format!("{head} {text}"));
    }

    /// A remark about the data: something was left out or mended.
    pub fn notice(&mut self, text: &str) {
        let head = self.paint_err(Label::Warning, "note:");
        self.status(&format!("{head} {text}"));
    }

    /// Something that was done though it may not be wanted; said with `-q` too.
    pub fn warn(&mut self, text: &str) {
        let head = self.paint_err(Label::Warning, "warning:");
        self.complain(&format!("{head} {text}"));
    }

    /// A line on standard error, whatever `-q` says. That nobody reads it is no error.
    pub fn complain(&mut self, text: &str) {
        if self.merged {
            let _ = writeln!(self.out, "{text}");
            return;
        }
        let _ = self.out.flush();
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// `text` in the colour of `label`, for standard output.
    pub fn paint(&self, label: Label, text: &str) -> String {
        painted(self.out_color, label, text)
    }

    /// `text` in the colour of `label`, for standard error.
    pub fn paint_err(&self, label: Label, text: &str) -> String {
        painted(self.err_color, label, text)
    }

    /// From here on remarks go where the data goes, so that a recorded walk is whole.
    pub fn merge_streams(&mut self) {
        self.merged = true;
        self.err_color = self.out_color;
    }

    /// Whether standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.out_terminal
    }

    /// Whether a progress bar may be drawn on standard error.
    pub fn draws_progress(&self) -> bool {
        self.err_terminal && !self.quiet && !self.merged
    }

    /// Whether a person reads the remarks.
    pub fn is_read(&self) -> bool {
        self.err_terminal
    }

    /// Whether a person types at standard input.
    pub fn input_is_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }

    /// How standard output looks.
    pub fn look(&self) -> Look {
        Look {
            width_cols: self.width_cols(),
            color: self.out_color,
        }
    }

    /// The columns that a line may take; none in a pipe, where nothing is cut.
    pub fn width_cols(&self) -> Option<usize> {
        self.out_terminal.then(|| self.wrap_cols())
    }

    /// The columns to lay text out for, terminal or not.
    pub fn wrap_cols(&self) -> usize {
        let asked = self.columns.filter(|columns| *columns >= 20);
        let seen = || {
            let (width, _) = terminal_size::terminal_size()?;
            (width.0 >= 20).then_some(usize::from(width.0))
        };
        asked.or_else(seen).unwrap_or(80)
    }
}

fn painted(color: bool, label: Label, text: &str) -> String {
    if color && !text.is_empty() {
        text.style(label.style()).to_string()
    } else {
        text.to_owned()
    }
}
