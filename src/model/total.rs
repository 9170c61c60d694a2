//! What messages come to together.

use super::TokenCount;
use super::tokens::context_total;

/// What the messages of a context come to: a sum that messages can be taken from again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// How many messages.
    pub messages: u64,
    /// Their tokens, without what a context costs once.
    pub tokens: u64,
    /// How many of the messages are estimated.
    pub estimates: u64,
}

impl Total {
    /// One more message.
    pub fn add(&mut self, count: TokenCount) {
        self.tokens += count.tokens;
        self.messages += 1;
        self.estimates += u64::from(count.estimated);
    }

    /// One message less, which must be among them.
    pub fn remove(&mut self, count: TokenCount) {
        self.tokens -= count.tokens;
        self.messages -= 1;
        self.estimates -= u64::from(count.estimated);
    }

    /// These and others.
    pub fn with(self, others: Self) -> Self {
        Self {
            messages: self.messages + others.messages,
            tokens: self.tokens + others.tokens,
            estimates: self.estimates + others.estimates,
        }
    }

    /// These without others, which must be among them.
    pub fn without(self, others: Self) -> Self {
        Self {
            messages: self.messages.saturating_sub(others.messages),
            tokens: self.tokens.saturating_sub(others.tokens),
            estimates: self.estimates.saturating_sub(others.estimates),
        }
    }

    /// Their tokens alone.
    pub fn sum(&self) -> TokenCount {
        TokenCount {
            tokens: self.tokens,
            estimated: self.estimates > 0,
        }
    }

    /// The tokens of a context of these messages.
    pub fn count(&self) -> TokenCount {
        context_total((self.messages > 0).then_some(self.sum()))
    }
}

impl Extend<TokenCount> for Total {
    fn extend<T: IntoIterator<Item = TokenCount>>(&mut self, counts: T) {
        for count in counts {
            self.add(count);
        }
    }
}
