//! What providers say of their own work.

/// What a provider counted for one reply, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// All input, cached or not.
    pub input_tokens: u64,
    /// What of the input was read from a cache.
    pub cached_tokens: u64,
    /// What of the input was written to a cache.
    pub written_tokens: u64,
    /// What of that is kept for an hour; the rest is kept for minutes.
    pub written_hour_tokens: u64,
    /// The reply, reasoning included.
    pub output_tokens: u64,
    /// What of the reply was reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// So much input, and so long a reply, of which no more is known.
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cached_tokens: 0,
            written_tokens: 0,
            written_hour_tokens: 0,
            reasoning_tokens: 0,
        }
    }

    /// The same where so much of the input was read from a cache and written to one.
    pub const fn cached(self, cached_tokens: u64, written_tokens: u64) -> Self {
        Self {
            cached_tokens,
            written_tokens,
            ..self
        }
    }

    /// The same where so much of the reply was reasoning.
    pub const fn reasoned(self, reasoning_tokens: u64) -> Self {
        Self {
            reasoning_tokens,
            ..self
        }
    }

    /// Where the new input, what was read from a cache and what was written to it are counted apart, and so are
    /// the reasoning and the rest of the reply; none where that is nothing at all.
    pub fn apart([new, cached, written]: [u64; 3], [said, reasoning]: [u64; 2]) -> Option<Self> {
        let input = new.saturating_add(cached).saturating_add(written);
        let usage = Self::new(input, said.saturating_add(reasoning));
        (usage != Self::default()).then_some(usage.cached(cached, written).reasoned(reasoning))
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        let mut sums = self.numbers();
        for (sum, number) in sums.iter_mut().zip(more.numbers()) {
            *sum = sum.saturating_add(number);
        }
        Self::of_numbers(sums)
    }

    /// What is left where the other is taken away.
    #[must_use]
    pub fn minus(self, less: Self) -> Self {
        let mut left = self.numbers();
        for (left, number) in left.iter_mut().zip(less.numbers()) {
            *left = left.saturating_sub(number);
        }
        Self::of_numbers(left)
    }

    /// What two accounts of the same come to: of two numbers the greater one.
    #[must_use]
    pub fn fuller(self, other: Self) -> Self {
        let mut numbers = self.numbers();
        for (number, other) in numbers.iter_mut().zip(other.numbers()) {
            *number = other.max(*number);
        }
        Self::of_numbers(numbers)
    }

    /// The input that no cache had a part in.
    pub const fn uncached_tokens(&self) -> u64 {
        let input = self.input_tokens.saturating_sub(self.cached_tokens);
        input.saturating_sub(self.written_tokens)
    }

    /// Its numbers, in the order in which they are kept.
    pub const fn numbers(&self) -> [u64; 6] {
        [
            self.input_tokens,
            self.output_tokens,
            self.cached_tokens,
            self.written_tokens,
            self.written_hour_tokens,
            self.reasoning_tokens,
        ]
    }

    /// What has these numbers.
    pub const fn of_numbers(numbers: [u64; 6]) -> Self {
        let [input, output, cached, written, written_hour, reasoning] = numbers;
        Self {
            written_hour_tokens: written_hour,
            ..Self::new(input, output)
                .cached(cached, written)
                .reasoned(reasoning)
        }
    }
}
