//! Standard output and error: who is on the other end, colour, width. The only question whether
//! something is a terminal is asked here.
//!
//! Lines are painted here and nowhere else. Deliberately absent: what is said.

use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::rc::{Rc, Weak};

use is_terminal::IsTerminal;
use tract::render::{Label, Line, ansi, bytes, escape, plain};
use tract::repo::Repo;

use super::drawing::remark;
use super::machine::pager::{Pager, Paging};

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

/// Where the program writes.
pub struct Ui {
    out: BufWriter<Output>,
    held: Held,
    /// What shows what is written, once something is.
    pager: Option<Pager>,
    out_color: bool,
    err_color: bool,
    out_terminal: bool,
    err_terminal: bool,
    surroundings: Surroundings,
    quiet: bool,
    merged: bool,
    /// The branch that commands act on, where it was named.
    branch: Option<String>,
    /// What is said, where a screen shows it instead.
    captured: Option<Vec<Line>>,
    /// How many columns the screen keeps for itself beside what is kept for it.
    margin_cols: usize,
}

/// Where what is written goes.
struct Output {
    to: To,
    held: Held,
}

enum To {
    Standard(io::Stdout),
    Paged(Paging),
}

/// A repository whose views all see the same until something is written, for whoever reads may take any time.
#[derive(Clone, Default)]
pub struct Held(Rc<RefCell<Weak<Repo>>>);

impl Held {
    /// It is this one from here on.
    pub fn hold(&self, repo: &Rc<Repo>) {
        self.let_go();
        repo.hold(true);
        *self.0.borrow_mut() = Rc::downgrade(repo);
    }

    /// It is none from here on.
    pub fn let_go(&self) {
        if let Some(repo) = self.0.take().upgrade() {
            repo.hold(false);
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.let_go();
        match &mut self.to {
            To::Standard(out) => out.write(bytes),
            To::Paged(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Standard(out) => out.flush(),
            To::Paged(out) => out.flush(),
        }
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

impl Surroundings {
    /// The columns of the terminal, if there is one or they are given.
    fn cols(&self) -> Option<usize> {
        let asked = self.columns.filter(|columns| *columns >= 20);
        let seen = || {
            let (width, _) = terminal_size::terminal_size()?;
            (width.0 >= 20).then_some(usize::from(width.0))
        };
        asked.or_else(seen)
    }

    /// The columns to lay help out for: lines of prose that are longer are hard to read.
    pub fn help_cols(&self) -> usize {
        self.cols().unwrap_or(100).min(100)
    }
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
        let held = Held::default();
        let out = Output {
            to: To::Standard(io::stdout()),
            held: held.clone(),
        };
        Self {
            out: BufWriter::with_capacity(64 << 10, out),
            held,
            pager: None,
            out_color: color(out_terminal),
            err_color: color(err_terminal),
            out_terminal,
            err_terminal,
            surroundings: surroundings.clone(),
            quiet,
            merged: false,
            branch: None,
            captured: None,
            margin_cols: 0,
        }
    }

    /// One that writes nothing, and keeps all that is said, laid out as on a terminal of so many columns.
    pub fn kept(columns: usize) -> Self {
        let surroundings = Surroundings {
            columns: Some(columns),
            dumb: true,
            ..Surroundings::default()
        };
        Self {
            out_terminal: true,
            err_terminal: true,
            captured: Some(Vec::new()),
            ..Self::new(ColorChoice::Never, &surroundings, false)
        }
    }

    /// A size as people read it; where a program reads, the bytes themselves.
    pub fn size(&self, size_bytes: u64) -> String {
        if self.is_terminal() {
            bytes(size_bytes)
        } else {
            size_bytes.to_string()
        }
    }

    /// The repository of which nothing is held any more once something is written.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// From here on commands in advice name the branch that this one was given, if it was.
    pub fn name_branch(&mut self, branch: Option<String>) {
        self.branch = branch;
    }

    /// From here on what is said is kept for a screen, until [`Ui::captured`].
    pub fn capture(&mut self) {
        self.captured = Some(Vec::new());
    }

    /// The same, laid out for a screen that keeps so many columns of each line for itself.
    pub fn capture_beside(&mut self, margin_cols: usize) {
        self.margin_cols = margin_cols;
        self.capture();
    }

    /// What was said since [`Ui::capture`].
    pub fn captured(&mut self) -> Vec<Line> {
        self.margin_cols = 0;
        self.captured.take().unwrap_or_default()
    }

    /// From here on what is written is shown by this one.
    pub fn page(&mut self, pager: Option<Pager>) {
        self.pager = pager.filter(|_| self.out_terminal);
    }

    /// Waits until what was written has been read, where a pager shows it.
    pub fn end_paging(&mut self) {
        let _ = self.out.flush();
        if let To::Paged(paging) = &mut self.out.get_mut().to {
            paging.end();
        }
    }

    /// Whether a pager has the terminal.
    fn is_paged(&self) -> bool {
        matches!(self.out.get_ref().to, To::Paged(_))
    }

    /// Data: standard output, buffered until [`Ui::flush`].
    pub fn out(&mut self) -> &mut impl Write {
        // Nothing was written before, so nothing is in the buffer. Without a pager it is shown all the same.
        if let Some(paging) = self.pager.take().and_then(Pager::start) {
            self.out.get_mut().to = To::Paged(paging);
        }
        &mut self.out
    }

    /// A line of data for people.
    pub fn print(&mut self, line: impl Into<Line>) -> io::Result<()> {
        if let Some(captured) = &mut self.captured {
            captured.push(line.into());
            return Ok(());
        }
        let painted = painted(self.out_color, line.into());
        writeln!(self.out(), "{painted}")
    }

    /// A line of data for people that goes on below itself where a terminal is too narrow for it.
    pub fn print_wrapped(&mut self, line: impl Into<Line>) -> io::Result<()> {
        let line = line.into();
        match self.width_cols() {
            Some(width) => self.print_all(remark::rows(&line, width)),
            None => self.print(line),
        }
    }

    /// JSON as data; on a terminal, which would act on some characters, with escapes in their place.
    pub fn write_json(&mut self, text: &str) -> io::Result<()> {
        let shown = if self.out_terminal {
            escape::json(text)
        } else {
            text.into()
        };
        self.out().write_all(shown.as_bytes())
    }

    /// A heading below an empty line.
    pub fn heading(&mut self, title: &str) -> io::Result<()> {
        self.print("")?;
        self.print(Label::Strong.of(title))
    }

    /// Lines of data for people.
    pub fn print_all(&mut self, lines: impl IntoIterator<Item = Line>) -> io::Result<()> {
        lines.into_iter().try_for_each(|line| self.print(line))
    }

    /// Writes what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// A sentence about what happened, on standard error; nothing with `-q`.
    pub fn status(&mut self, line: impl Into<Line>) {
        if !self.quiet {
            self.complain(line);
        }
    }

    /// A piece of advice after success.
    pub fn hint(&mut self, line: impl Into<Line>) {
        if !self.quiet {
            self.advise(line);
        }
    }

    /// The same where something went wrong; said with `-q` too.
    pub fn advise(&mut self, line: impl Into<Line>) {
        let line = line.into();
        let line = match &self.branch {
            Some(branch) => remark::on_branch(&line, branch),
            None => line,
        };
        self.complain(Label::Hint.of("hint:") + " " + line);
    }

    /// A remark about the data: something was left out or mended.
    pub fn notice(&mut self, line: impl Into<Line>) {
        self.status(Label::Warning.of("note:") + " " + line.into());
    }

    /// Something that was done though it may not be wanted; said with `-q` too.
    pub fn warn(&mut self, line: impl Into<Line>) {
        self.complain(Label::Warning.of("warning:") + " " + line.into());
    }

    /// A line on standard error, whatever `-q` says. That nobody reads it is no error.
    pub fn complain(&mut self, line: impl Into<Line>) {
        if let Some(captured) = &mut self.captured {
            captured.push(line.into());
            return;
        }
        // What a pager shows would be written over.
        let merged = self.merged || self.is_paged() && self.err_terminal;
        let is_read = if merged {
            self.out_terminal
        } else {
            self.err_terminal
        };
        let rows = if is_read {
            remark::rows(&line.into(), self.wrap_cols())
        } else {
            vec![line.into()]
        };
        let rows = rows
            .into_iter()
            .map(|row| painted(self.err_color, row) + "\n");
        let text: String = rows.collect();
        if merged {
            let _ = self.out.write_all(text.as_bytes());
            return;
        }
        let _ = self.out.flush();
        self.held.let_go();
        let _ = io::stderr().write_all(text.as_bytes());
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
        let is_ours = !self.merged && !self.is_paged();
        self.err_terminal && !self.quiet && is_ours && self.captured.is_none()
    }

    /// Whether a person reads the remarks.
    pub fn is_read(&self) -> bool {
        self.err_terminal
    }

    /// Whether it is painted in colour.
    pub fn is_colored(&self) -> bool {
        self.out_color
    }

    /// Whether a person types at standard input.
    pub fn input_is_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }

    /// The columns that a line may take; none in a pipe, where nothing is cut.
    pub fn width_cols(&self) -> Option<usize> {
        self.out_terminal.then(|| self.wrap_cols())
    }

    /// The rows in which lines can be drawn anew; none where what is written stays as it is.
    pub fn rows(&self) -> usize {
        match terminal_size::terminal_size() {
            // A line that wraps would be two.
            Some((width, rows)) if self.wrap_cols() <= usize::from(width.0) => {
                let goes_back = self.out_terminal && !self.surroundings.dumb;
                if goes_back { usize::from(rows.0) } else { 0 }
            }
            _ => 0,
        }
    }

    /// Takes back the last so many lines that were written to the terminal.
    pub fn go_back(&mut self, lines: usize) -> io::Result<()> {
        match lines {
            0 => Ok(()),
            lines => write!(self.out, "\x1b[{lines}A\r\x1b[J"),
        }
    }

    /// The columns to lay text out for, terminal or not.
    pub fn wrap_cols(&self) -> usize {
        let cols = self.surroundings.cols().unwrap_or(80);
        cols.saturating_sub(self.margin_cols)
    }
}

fn painted(color: bool, line: Line) -> String {
    if color {
        ansi::paint(&line)
    } else {
        plain::paint(&line)
    }
}
