//! A line that is typed: edited, completed, with what was typed before.
//!
//! Deliberately absent: what becomes of it.

use tract::render::{Label, Line};

use super::key::Key;

/// A line in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    text: String,
    /// Where the cursor is, in bytes: always between two characters.
    at: usize,
    past: Vec<String>,
    /// Which of the past is shown, counted from the newest.
    back: usize,
    /// What it can be completed to.
    words: Vec<&'static str>,
}

/// What became of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// It is still being typed.
    Going,
    /// It is done.
    Done(String),
    /// It was given up.
    Left,
}

impl Prompt {
    /// One that completes to these words.
    pub fn with_words(words: impl IntoIterator<Item = &'static str>) -> Self {
        Self {
            words: words.into_iter().collect(),
            ..Self::default()
        }
    }

    /// What stands there.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Begins anew with a text.
    pub fn begin(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        (self.at, self.back) = (text.len(), 0);
    }

    /// Takes a key.
    pub fn take(&mut self, key: &Key) -> Typed {
        match key {
            Key::Enter => {
                let text = std::mem::take(&mut self.text);
                (self.at, self.back) = (0, 0);
                if !text.trim().is_empty() && self.past.last() != Some(&text) {
                    self.past.push(text.clone());
                }
                return Typed::Done(text);
            }
            Key::Escape | Key::Ctrl('c') => return self.leave(),
            Key::Backspace if self.text.is_empty() => return self.leave(),
            Key::Char(c) => self.insert(&c.to_string()),
            // A line is a line: what is pasted keeps its words.
            Key::Paste(text) => {
                let words: Vec<&str> = text.split(['\n', '\r']).collect();
                self.insert(&words.join(" "));
            }
            Key::Backspace => {
                let from = self.before();
                self.text.drain(from..self.at);
                self.at = from;
            }
            Key::Delete => {
                let to = self.after();
                self.text.drain(self.at..to);
            }
            Key::Left => self.at = self.before(),
            Key::Right if self.at == self.text.len() => self.complete(),
            Key::Right => self.at = self.after(),
            Key::Home | Key::Ctrl('a') => self.at = 0,
            Key::End | Key::Ctrl('e') => self.at = self.text.len(),
            Key::Ctrl('u') => {
                self.text.drain(..self.at);
                self.at = 0;
            }
            Key::Ctrl('k') => self.text.truncate(self.at),
            Key::Ctrl('w') => {
                let head = self.text[..self.at].trim_end();
                let from = head.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.text.drain(from..self.at);
                self.at = from;
            }
            Key::Tab => self.complete(),
            Key::Up => self.recall(self.back + 1),
            Key::Down => self.recall(self.back.saturating_sub(1)),
            _ => {}
        }
        Typed::Going
    }

    /// The words that it can be completed to.
    pub fn fitting(&self) -> Vec<&'static str> {
        let fits = |word: &&&'static str| word.starts_with(&self.text);
        let words = self.words.iter().filter(fits);
        if self.text.is_empty() {
            Vec::new()
        } else {
            words.copied().collect()
        }
    }

    /// It as a line of so many columns that shows where the cursor is, and its column there.
    pub fn line(&self, before: &Line, width: usize) -> (Line, usize) {
        let room = width.saturating_sub(before.width_cols() + 1).max(1);
        // What stands left of the cursor goes out of sight where it is too long.
        let mut head = &self.text[..self.at];
        while Label::Text.quote(head).width_cols() > room {
            let mut chars = head.chars();
            chars.next();
            head = chars.as_str();
        }
        let head = Label::Text.quote(head);
        let column = before.width_cols() + head.width_cols();
        let mut line = before.clone() + head + Label::Text.quote(&self.text[self.at..]);
        if self.at == self.text.len()
            && let [one] = self.fitting()[..]
        {
            line += Label::Dim.of(&one[self.text.len()..]);
        }
        (line.cut(width), column)
    }

    fn leave(&mut self) -> Typed {
        self.text.clear();
        (self.at, self.back) = (0, 0);
        Typed::Left
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.at, text);
        self.at += text.len();
    }

    fn before(&self) -> usize {
        let head = self.text[..self.at].chars();
        head.last().map_or(0, |c| self.at - c.len_utf8())
    }

    fn after(&self) -> usize {
        let mut tail = self.text[self.at..].chars();
        tail.next().map_or(self.at, |c| self.at + c.len_utf8())
    }

    /// As far as all words that fit agree; of one, all of it.
    fn complete(&mut self) {
        let words = self.fitting();
        let Some((first, rest)) = words.split_first() else {
            return;
        };
        let same = |other: &&str| {
            let pairs = first.bytes().zip(other.bytes());
            pairs.take_while(|(a, b)| a == b).count()
        };
        let shared = rest.iter().map(same).min().unwrap_or(first.len());
        let text = if rest.is_empty() {
            format!("{first} ")
        } else {
            first[..shared].to_owned()
        };
        (self.at, self.text) = (text.len(), text);
    }

    fn recall(&mut self, back: usize) {
        if back > self.past.len() {
            return;
        }
        let text = match back {
            0 => String::new(),
            back => self.past[self.past.len() - back].clone(),
        };
        (self.at, self.text, self.back) = (text.len(), text, back);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(prompt: &mut Prompt, text: &str) {
        for c in text.chars() {
            assert_eq!(prompt.take(&Key::Char(c)), Typed::Going);
        }
    }

    #[test]
    fn a_line_is_edited_wherever_the_cursor_is() {
        let mut prompt = Prompt::default();
        typed(&mut prompt, "one twö");
        prompt.take(&Key::Left);
        prompt.take(&Key::Backspace);
        assert_eq!(prompt.text(), "one tö");
        prompt.take(&Key::Delete);
        prompt.take(&Key::Ctrl('w'));
        assert_eq!(prompt.text(), "one ");
        prompt.take(&Key::Home);
        prompt.take(&Key::Paste("a\nb ".into()));
        assert_eq!(prompt.text(), "a b one ");
        prompt.take(&Key::Ctrl('k'));
        assert_eq!(prompt.take(&Key::Enter), Typed::Done("a b ".into()));
        assert_eq!(prompt.take(&Key::Up), Typed::Going);
        assert_eq!(prompt.text(), "a b ");
        prompt.take(&Key::Down);
        assert_eq!(prompt.take(&Key::Backspace), Typed::Left);
    }

    #[test]
    fn a_word_is_completed_as_far_as_it_is_sure() {
        let mut prompt = Prompt::with_words(["/restore", "/resume", "/quit"]);
        typed(&mut prompt, "/r");
        prompt.take(&Key::Tab);
        assert_eq!(prompt.text(), "/res");
        assert_eq!(prompt.fitting(), ["/restore", "/resume"]);
        typed(&mut prompt, "u");
        let (line, column) = prompt.line(&Line::new(), 40);
        assert_eq!((line.text().as_str(), column), ("/resume", 5));
        prompt.take(&Key::Tab);
        assert_eq!(prompt.text(), "/resume ");
    }

    #[test]
    fn a_long_line_shows_where_the_cursor_is_and_nothing_hostile() {
        let mut prompt = Prompt::default();
        typed(&mut prompt, "0123456789\u{1b}[31m界界");
        for width in 3..30 {
            let (line, column) = prompt.line(&Line::from("> "), width);
            assert!(line.width_cols() <= width && column <= width, "{width}");
            assert!(!line.text().contains('\u{1b}'));
        }
    }
}
