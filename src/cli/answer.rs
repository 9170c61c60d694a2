//! What a command answers, drawn while it comes: plain text, or a stream of events.
//!
//! Deliberately absent: what it is asked, and what becomes of its answer.

use std::time::Duration;

use tract::formats::{EventStream, sniff};
use tract::model::Part;
use tract::tree::{Event, Fold, Happening, Tree};

use super::live::Live;
use super::machine::byte_stream::{Came, Incoming};
use super::machine::exec::{Agent, Failed};
use super::ui::Ui;

/// How long it is waited at most until something else is looked after.
const TICK: Duration = Duration::from_millis(50);
/// The most that a command may say.
const SAID_MAX: usize = 16 << 20;
/// How much may come before it shows what it is.
const HEAD_BYTES: usize = 64 << 10;

/// An answer.
pub struct Answer {
    /// The tree of it, settled, what was asked included where that was drawn.
    pub tree: Tree,
    /// Why it is not whole.
    pub failed: Option<Failed>,
    /// Whether somebody wanted no more of it.
    pub cancelled: bool,
}

/// Has a command answer `input`, and draws that until it ends or is `cancelled`. `asked` is drawn
/// above it, if anything.
pub fn take(
    command: &str,
    input: &str,
    asked: Option<Vec<Part>>,
    live: &mut Live,
    cancelled: &mut dyn FnMut() -> bool,
    ui: &mut Ui,
) -> Result<Answer, Failed> {
    let mut answering = Answering::start(command, input, asked)?;
    let mut changed = true;
    loop {
        if changed && live.wait().is_zero() {
            live.draw(answering.tree(), ui);
            changed = false;
        }
        if cancelled() {
            answering.cancel();
            break;
        }
        let wait = if changed { live.wait() } else { TICK };
        match answering.step(wait.min(TICK)) {
            Heard::Something => changed = true,
            Heard::Nothing => {}
            Heard::End => break,
        }
    }
    Ok(answering.finish())
}

/// An answer that is on its way.
pub struct Answering {
    agent: Agent,
    incoming: Incoming,
    fold: Fold,
    voice: Voice,
    said: usize,
    /// Why no more of it is taken.
    stopped: Option<String>,
}

/// What a step brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The tree has grown.
    Something,
    /// Nothing to see.
    Nothing,
    /// There is no more.
    End,
}

impl Answering {
    /// Starts a command. `asked` stands above its answer, if anything.
    pub fn start(command: &str, input: &str, asked: Option<Vec<Part>>) -> Result<Self, Failed> {
        let (agent, stdout) = Agent::start(command, input)?;
        let mut fold = Fold::live();
        if let Some(parts) = asked {
            fold.feed(Happening::User { parts, from: None }.into());
        }
        Ok(Self {
            agent,
            incoming: Incoming::of(stdout),
            fold,
            voice: Voice::Unknown(Vec::new()),
            said: 0,
            stopped: None,
        })
    }

    /// The tree so far.
    pub fn tree(&self) -> &Tree {
        self.fold.tree()
    }

    /// Takes in what comes next, if it comes soon.
    pub fn step(&mut self, wait: Duration) -> Heard {
        match self.incoming.next(wait) {
            Came::Bytes(bytes) => {
                self.said += bytes.len();
                if self.said > SAID_MAX {
                    self.stopped = Some(format!("it said more than {} MiB", SAID_MAX >> 20));
                    return Heard::End;
                }
                let mut heard = Heard::Nothing;
                for event in self.voice.hear(&bytes) {
                    self.fold.feed(event);
                    heard = Heard::Something;
                }
                heard
            }
            Came::Nothing => Heard::Nothing,
            Came::End => Heard::End,
            Came::Failed(error) => {
                self.stopped = Some(error.to_string());
                Heard::End
            }
        }
    }

    /// Nobody wants more of it.
    pub fn cancel(&mut self) {
        self.stopped = Some("it was interrupted".to_owned());
    }

    /// All of it. Of a command that is still at work, nothing is left.
    pub fn finish(mut self) -> Answer {
        let cancelled = self.stopped.is_some() && self.said <= SAID_MAX;
        let failed = match self.stopped {
            Some(reason) => {
                drop(self.agent);
                Some(Failed::silent(reason))
            }
            None => self.agent.end().err(),
        };
        // What a command that failed has said may lack its end.
        for event in self.voice.finish(failed.is_none()) {
            self.fold.feed(event);
        }
        Answer {
            tree: self.fold.settle(),
            failed,
            cancelled,
        }
    }
}

/// The tree of an answer that is here as a whole.
pub fn tree_of(printed: &[u8]) -> Tree {
    let (mut voice, mut fold) = (Voice::Unknown(Vec::new()), Fold::live());
    let heard = voice.hear(printed);
    for event in heard.into_iter().chain(voice.finish(true)) {
        fold.feed(event);
    }
    fold.settle()
}

/// How a command speaks.
enum Voice {
    /// Nobody knows yet: this came.
    Unknown(Vec<u8>),
    /// Plain text. What may be no whole letter yet, or white space at its end, waits.
    Plain(Vec<u8>),
    Events(Box<EventStream>),
}

impl Voice {
    fn hear(&mut self, bytes: &[u8]) -> Vec<Event> {
        match self {
            Self::Unknown(came) => {
                came.extend_from_slice(bytes);
                let came = came.clone();
                match Self::of(&came) {
                    None => Vec::new(),
                    Some(voice) => {
                        *self = voice;
                        self.hear(&came)
                    }
                }
            }
            Self::Plain(rest) => {
                rest.extend_from_slice(bytes);
                let whole = whole_letters(rest);
                let shown = rest[..whole].trim_ascii_end().len();
                let text: Vec<u8> = rest.drain(..shown).collect();
                delta(&text)
            }
            Self::Events(stream) => stream.push(bytes),
        }
    }

    /// How somebody speaks who begins like this; none if that cannot be told yet.
    fn of(came: &[u8]) -> Option<Self> {
        let plain = || Some(Self::Plain(Vec::new()));
        let begun = came.trim_ascii_start();
        let fields = ["data:", "event:", "id:", "retry:", ":", "{"];
        let may_be = |field: &str| {
            begun.starts_with(field.as_bytes()) || field.as_bytes().starts_with(begun)
        };
        if begun.is_empty() {
            return None;
        }
        if !fields.into_iter().any(may_be) || came.len() > HEAD_BYTES {
            return plain();
        }
        let end = came.iter().rposition(|byte| *byte == b'\n')? + 1;
        let format = sniff::sniff(&&came[..end]).ok().flatten();
        match format.and_then(EventStream::of) {
            Some(stream) => Some(Self::Events(Box::new(stream))),
            // Of server-sent events the first lines may hold no record.
            None if came.starts_with(b"{") || end > 1 << 12 => plain(),
            None => None,
        }
    }

    /// What is left when nothing more comes; where it ended well, plain text is all of it.
    fn finish(self, well: bool) -> Vec<Event> {
        let mut events = match self {
            Self::Unknown(came) => delta(came.trim_ascii_end()),
            Self::Plain(rest) => delta(rest.trim_ascii_end()),
            Self::Events(mut stream) => return stream.finish(),
        };
        if well {
            events.push(Happening::TurnEnd.into());
        }
        events
    }
}

fn delta(bytes: &[u8]) -> Vec<Event> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let phase = None;
    let event = (!text.is_empty()).then(|| Happening::TextDelta { text, phase }.into());
    event.into_iter().collect()
}

/// How many of the bytes are whole letters: the last may be cut.
fn whole_letters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    let begins = (tail..bytes.len())
        .rev()
        .find(|at| bytes[*at] & 0xC0 != 0x80);
    match begins {
        Some(at) if std::str::from_utf8(&bytes[at..]).is_err_and(|e| e.error_len().is_none()) => at,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(pieces: &[&[u8]], well: bool) -> (String, bool) {
        let (mut voice, mut fold) = (Voice::Unknown(Vec::new()), Fold::live());
        for piece in pieces {
            for event in voice.hear(piece) {
                fold.feed(event);
            }
        }
        for event in voice.finish(well) {
            fold.feed(event);
        }
        let tree = fold.settle();
        let text = tract::formats::messages_of(&tree);
        let text = text
            .iter()
            .flat_map(|message| &message.parts)
            .filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                _ => None,
            });
        let text = text.collect();
        (
            text,
            tract::tree::json::text(&tree).contains("\"interrupted\":true"),
        )
    }

    #[test]
    fn plain_text_is_one_text_however_it_is_split() {
        let text = "Grün, 日本, and a line\n\nmore \n";
        for size in 1..9 {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(heard(&pieces, true), (text.trim_end().to_owned(), false));
            assert!(heard(&pieces, false).1, "it may lack its end");
        }
        assert_eq!(heard(&[b"{\"a\": 1}\n", b"{}\n"], true).0, "{\"a\": 1}\n{}");
        assert_eq!(heard(&[b"da", b"wn\n"], true).0, "dawn");
        assert_eq!(
            heard(&[b"data: none\nat all"], true).0,
            "data: none\nat all"
        );
        assert_eq!(heard(&[b"\n \n"], true).0, "");
    }

    #[test]
    fn events_are_told_from_text() {
        let chunk = br#"data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#;
        let stream = [b": one\n\n", &chunk[..], b"\n\ndata: [DONE]\n\n"].concat();
        for size in [1, 7, 500] {
            let pieces: Vec<&[u8]> = stream.chunks(size).collect();
            assert_eq!(heard(&pieces, true), ("Hi".to_owned(), false));
        }
    }
}
