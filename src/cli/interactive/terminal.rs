//! The terminal while a screen is on it: entered, drawn on, and left as it was, however the program
//! ends.
//!
//! Deliberately absent: what is shown, and what a key does.

use std::io::{self, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::Print;
use crossterm::terminal::{
    self, BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};

use super::key::{Key, Told};
#[cfg(unix)]
use crate::cli::machine::pause::told;

/// A wait in which crossterm looks at least once; it looks without a pause until it is over.
const AT_ONCE: Duration = Duration::from_micros(100);

/// Whether the screen is ours, for whoever must give it back: a panic too.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// A terminal with a screen of ours on it. Dropped, it is as it was.
pub struct Terminal {
    /// What stands on it: its columns and rows then, and its lines.
    size: (u16, u16),
    drawn: Vec<String>,
    /// What was told along with something else.
    next: Option<Key>,
}

/// What is to be seen: lines from the top, painted and no wider than the screen, and where the cursor is, if
/// anywhere.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub lines: Vec<String>,
    pub cursor: Option<(u16, u16)>,
}

impl Terminal {
    /// Takes the screen.
    pub fn enter() -> io::Result<Self> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            before(panic);
        }));
        enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        let entered = execute!(
            stdout(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            cursor::Hide
        );
        match entered.and_then(|()| terminal::size()) {
            Ok(size) => Ok(Self {
                size,
                drawn: Vec::new(),
                next: None,
            }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Its columns and rows.
    pub fn size(&self) -> io::Result<(usize, usize)> {
        let (width, height) = terminal::size()?;
        Ok((usize::from(width), usize::from(height)))
    }

    /// Draws what has changed since the last time.
    pub fn draw(&mut self, shown: &Frame) -> io::Result<()> {
        let size = terminal::size()?;
        let mut out = Vec::new();
        queue!(out, BeginSynchronizedUpdate, cursor::Hide)?;
        if size != self.size {
            self.drawn.clear();
            queue!(out, Clear(ClearType::All))?;
        }
        let (width, height) = size;
        let lines = &shown.lines[..shown.lines.len().min(usize::from(height))];
        let rows = 0..lines.len().max(self.drawn.len());
        for (row, at) in rows.zip(0_u16..height) {
            let line = lines.get(row);
            if line != self.drawn.get(row) {
                // A line that fills its row leaves the cursor on its last column, so it is cleared first.
                let clear = Clear(ClearType::UntilNewLine);
                let line = line.map_or("", String::as_str);
                queue!(out, cursor::MoveTo(0, at), clear, Print(line))?;
            }
        }
        if let Some((column, row)) = shown.cursor {
            let column = column.min(width.saturating_sub(1));
            let row = row.min(height.saturating_sub(1));
            queue!(out, cursor::MoveTo(column, row), cursor::Show)?;
        }
        queue!(out, EndSynchronizedUpdate)?;
        let mut terminal = stdout().lock();
        terminal.write_all(&out)?;
        terminal.flush()?;
        (self.size, self.drawn) = (size, lines.to_vec());
        Ok(())
    }

    /// Waits for what the terminal tells, but no longer than this.
    pub fn wait(&mut self, time: Duration) -> io::Result<Option<Told>> {
        if let Some(key) = self.next.take() {
            return Ok(Some(Told::Key(key)));
        }
        let is_told = match poll(Duration::ZERO) {
            Ok(false) => poll(time),
            told => told,
        };
        match is_told {
            Ok(true) => Ok(Some(match Told::of(event::read()?) {
                Told::Escaped(key) => {
                    self.next = Some(key);
                    Told::Key(Key::Escape)
                }
                told => told,
            })),
            Ok(false) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same screen while something else may be interrupted from the keyboard.
    pub fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        disable_raw_mode()?;
        let done = work();
        enable_raw_mode()?;
        Ok(done)
    }

    /// Gives bytes of our own to the terminal: what it is to do, never what was said.
    pub fn send(&mut self, bytes: &str) -> io::Result<()> {
        let mut out = stdout();
        out.write_all(bytes.as_bytes())?;
        out.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        leave();
        // The hook of before is inside ours, which does nothing any more.
    }
}

/// Waits for something to read, and no longer than this. What reads the keys for us does not tell that
/// the terminal is gone, so it is never let wait for one. It must not go on to read where there is nothing, either: a
/// terminal may go between the two looks. crossterm reads an error for ever unless it has `use-dev-tty`.
fn poll(time: Duration) -> io::Result<bool> {
    if is_gone(time) {
        Err(io::ErrorKind::UnexpectedEof.into())
    } else {
        event::poll(AT_ONCE)
    }
}

/// Waits for a key, a change of size or a signal, no longer than this; whether the terminal is gone.
#[cfg(unix)]
fn is_gone(time: Duration) -> bool {
    use rustix::event::PollFlags;

    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    told(&io::stdin(), PollFlags::IN, time).intersects(gone)
}

#[cfg(not(unix))]
fn is_gone(time: Duration) -> bool {
    let _ = event::poll(time);
    false
}

/// Gives the screen back, if it is ours. That it cannot be given back is nobody's concern.
fn leave() {
    if ENTERED.swap(false, Ordering::SeqCst) {
        let _ = execute!(
            stdout(),
            DisableBracketedPaste,
            LeaveAlternateScreen,
            cursor::Show
        );
        let _ = disable_raw_mode();
    }
}
