//! What is typed, as the screens know it.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Something that was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// A letter with the control key.
    Ctrl(char),
    /// A text that was pasted.
    Paste(String),
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
}

/// What the terminal tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Key(Key),
    /// Escape, and this right behind it: a terminal that is slow to tell sends both at once.
    Escaped(Key),
    /// It has another size now.
    Resized,
    Nothing,
}

impl Told {
    /// What an event is to us.
    pub fn of(event: Event) -> Self {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                let escaped = key.modifiers.contains(KeyModifiers::ALT);
                match key_of(key) {
                    Some(key) if escaped => Self::Escaped(key),
                    Some(key) => Self::Key(key),
                    None => Self::Nothing,
                }
            }
            Event::Paste(text) => Self::Key(Key::Paste(text)),
            Event::Resize(..) => Self::Resized,
            _ => Self::Nothing,
        }
    }
}

fn key_of(event: KeyEvent) -> Option<Key> {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char(c) if control => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
