//! Some lines to be read: help, operations, what a command said. They scroll.

use tract::render::Line;

use super::key::Key;

/// Lines under a title.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    pub title: String,
    lines: Vec<Line>,
    top: usize,
}

impl Sheet {
    /// From the first line on.
    pub fn new(title: impl Into<String>, lines: Vec<Line>) -> Self {
        Self {
            title: title.into(),
            lines,
            top: 0,
        }
    }

    /// The same sheet with other lines, where it was.
    pub fn set(&mut self, lines: Vec<Line>) {
        self.lines = lines;
    }

    /// The lines that fit.
    pub fn lines(&mut self, height: usize) -> impl Iterator<Item = &Line> {
        self.top = self.top.min(self.lines.len().saturating_sub(height));
        self.lines.iter().skip(self.top).take(height)
    }

    /// `1–20 of 40`.
    pub fn position(&self, height: usize) -> String {
        let last = (self.top + height).min(self.lines.len());
        match self.lines.len() {
            0 => String::new(),
            all => format!("{}–{last} of {all}", self.top + 1),
        }
    }

    /// Scrolls.
    pub fn take(&mut self, key: &Key, height: usize) {
        let page = height.saturating_sub(2).max(1);
        self.top = match key {
            Key::Up | Key::Char('k') => self.top.saturating_sub(1),
            Key::Down | Key::Char('j') => self.top + 1,
            Key::PageUp | Key::Char('b') | Key::Ctrl('u') => self.top.saturating_sub(page),
            Key::PageDown | Key::Char(' ') | Key::Ctrl('d') => self.top + page,
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => self.lines.len(),
            _ => self.top,
        }
        .min(self.lines.len().saturating_sub(height));
    }
}
