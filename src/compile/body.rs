//! What a writer of requests writes to, and what it hands back.

use crate::error::Result;

/// What a provider's writer gives.
pub(super) struct Body {
    /// What was not handed over.
    pub payload: String,
    pub stable_bytes: usize,
    pub nothing_to_send: bool,
}

/// The text of a request in the making. Its beginning may be handed over; places in it count from the request's start all the
/// same.
#[derive(Clone, Default)]
pub(super) struct Payload {
    text: String,
    /// How many bytes stood before it.
    given: usize,
    /// From where on it may still change.
    loose: Option<usize>,
}

impl Payload {
    pub(super) fn of(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// How long the request is so far.
    pub(super) fn len(&self) -> usize {
        self.given + self.text.len()
    }

    /// How many bytes of it are held.
    pub(super) fn held_bytes(&self) -> usize {
        self.text.len()
    }

    pub(super) fn push(&mut self, sign: char) {
        self.text.push(sign);
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn extend<'a>(&mut self, pieces: impl IntoIterator<Item = &'a str>) {
        self.text.extend(pieces);
    }

    /// Shortens the request to so many bytes, which may not be fewer than were handed over.
    pub(super) fn truncate(&mut self, len: usize) {
        self.text.truncate(len - self.given);
    }

    /// Inserts a text at each of these places, which are in order.
    pub(super) fn insert_at(&mut self, places: &[usize], text: &str) {
        let mut whole = String::with_capacity(self.text.len() + text.len() * places.len());
        let mut from = 0;
        for place in places.iter().map(|place| place - self.given) {
            whole.extend([&self.text[from..place], text]);
            from = place;
        }
        whole.push_str(&self.text[from..]);
        self.text = whole;
    }

    /// From this place on it may change until it is [`Payload::fix`]ed; an earlier place stays the one.
    pub(super) fn loosen(&mut self, place: usize) {
        self.loose.get_or_insert(place);
    }

    /// Nothing of it changes any more.
    pub(super) fn fix(&mut self) {
        self.loose = None;
    }

    /// Hands over what does not change any more.
    ///
    /// # Errors
    ///
    /// What `take` returns; then nothing was handed over.
    pub(super) fn hand_over(&mut self, take: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        let end = self
            .loose
            .map_or(self.text.len(), |place| place - self.given);
        take(&self.text[..end])?;
        self.text.drain(..end);
        self.given += end;
        Ok(())
    }

    /// Gives up what is held, and says how many bytes that was.
    pub(super) fn give_up(&mut self) -> usize {
        let size_bytes = self.text.len();
        self.text.clear();
        self.given += size_bytes;
        size_bytes
    }

    /// What is held.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}
