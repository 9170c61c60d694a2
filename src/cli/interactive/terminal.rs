//! The terminal while a screen is on it: entered, drawn on, and left as it was, however the program
//! ends.
//!
//! Deliberately absent: what is shown, and what a key does.

use std::io::{self, Stdout, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::Terminal as Drawn;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::text::Line as Text;

use super::key::{Key, Told};

/// Whether the screen is ours, for whoever must give it back: a panic too.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// A terminal with a screen of ours on it. Dropped, it is as it was.
pub struct Terminal {
    drawn: Drawn<CrosstermBackend<Stdout>>,
    /// What was told along with something else.
    next: Option<Key>,
}

/// What is to be seen: lines from the top, and where the cursor is, if anywhere.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub lines: Vec<Text<'static>>,
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
        let drawn = entered.and_then(|()| Drawn::new(CrosstermBackend::new(stdout())));
        match drawn {
            Ok(drawn) => Ok(Self { drawn, next: None }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Its columns and rows.
    pub fn size(&self) -> io::Result<(usize, usize)> {
        let size = self.drawn.size()?;
        Ok((usize::from(size.width), usize::from(size.height)))
    }

    /// Draws what has changed since the last time.
    pub fn draw(&mut self, shown: &Frame) -> io::Result<()> {
        self.drawn.draw(|frame| {
            let area = frame.area();
            for (row, line) in (area.y..area.bottom()).zip(&shown.lines) {
                frame.buffer_mut().set_line(area.x, row, line, area.width);
            }
            if let Some((column, row)) = shown.cursor {
                let column = column.min(area.width.saturating_sub(1));
                frame.set_cursor_position((column, row.min(area.height.saturating_sub(1))));
            }
        })?;
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

/// Waits for something to read, and no longer than this. What reads the keys for us would read the end
/// of them for ever, so it is never let wait for one.
fn poll(time: Duration) -> io::Result<bool> {
    match is_gone(time) {
        true => Err(io::ErrorKind::UnexpectedEof.into()),
        false => event::poll(Duration::ZERO),
    }
}

/// Waits for a key, a change of size or a signal, no longer than this; whether the terminal is gone.
#[cfg(unix)]
fn is_gone(time: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let keys = io::stdin();
    let mut polled = [PollFd::new(&keys, PollFlags::IN)];
    let timeout = Timespec {
        tv_sec: time.as_secs().cast_signed(),
        tv_nsec: time.subsec_nanos().into(),
    };
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    poll(&mut polled, Some(&timeout)).is_ok() && polled[0].revents().intersects(gone)
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
