//! Token counts, and the one code path that makes them.

mod layout;
mod picture;
mod vocabulary;
mod words;

pub use picture::{PictureRule, PictureSize};

use crate::error::Error;
use crate::model::word::word;
use crate::model::{Message, Part};

/// What tokens are counted in: a vocabulary for texts, and a rule for pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Encoding {
    vocabulary: Vocabulary,
    pictures: PictureRule,
}

/// What texts are cut by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Vocabulary {
    /// GPT-4o and later.
    #[default]
    O200kBase,
    /// GPT-4 and GPT-3.5.
    Cl100kBase,
}

/// A number of tokens; an estimate where pictures or files took part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenCount {
    /// How many.
    pub tokens: u64,
    /// Whether part of it is an estimate, shown with a `~`.
    pub estimated: bool,
}

/// What every message costs beside its role, texts and name.
pub const MESSAGE_OVERHEAD: u64 = 3;
/// What every context that isn't empty costs once.
pub const CONTEXT_OVERHEAD: u64 = 3;
/// A text that is longer is counted by samples.
const COUNTED_BYTES: usize = 8 << 20;
/// How much of such a text is counted.
const SAMPLED_BYTES: usize = 1 << 20;
/// A word that is longer is counted in pieces of this size.
const PIECE_BYTES: usize = 32 << 10;
/// The estimate for a file, and for a picture whose size or model is not known: the order of magnitude is what a
/// budget needs.
pub const MEDIA_ESTIMATE: u64 = 1_500;

impl Encoding {
    /// The vocabulary of GPT-4o and later.
    pub const O200K_BASE: Self = Self::with(Vocabulary::O200kBase);
    /// That of GPT-4 and GPT-3.5.
    pub const CL100K_BASE: Self = Self::with(Vocabulary::Cl100kBase);
    /// All vocabularies, each without a rule for pictures.
    pub const ALL: [Self; 2] = [Self::O200K_BASE, Self::CL100K_BASE];

    const fn with(vocabulary: Vocabulary) -> Self {
        Self {
            vocabulary,
            pictures: PictureRule::Unknown,
        }
    }

    /// `o200k_base` or `cl100k_base`: the vocabulary's name.
    pub const fn as_str(self) -> &'static str {
        match self.vocabulary {
            Vocabulary::O200kBase => "o200k_base",
            Vocabulary::Cl100kBase => "cl100k_base",
        }
    }

    /// The same vocabulary with this rule for pictures.
    #[must_use]
    pub const fn with_pictures(self, pictures: PictureRule) -> Self {
        Self { pictures, ..self }
    }

    /// The rule for pictures.
    pub const fn pictures(self) -> PictureRule {
        self.pictures
    }

    /// The vocabulary alone. A count in which nothing is estimated is the same with any rule.
    #[must_use]
    pub const fn plain(self) -> Self {
        self.with_pictures(PictureRule::Unknown)
    }
}

word!(Encoding, |text: String| Error::input(
    "token encoding",
    format!("unknown '{text}'")
));

impl std::ops::Add for TokenCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            estimated: self.estimated || other.estimated,
        }
    }
}

impl std::iter::Sum for TokenCount {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), std::ops::Add::add)
    }
}

/// Counts tokens in one encoding, on any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    encoding: Encoding,
}

impl Counter {
    /// The counter of an encoding: there is nothing to load.
    pub const fn of(encoding: Encoding) -> Self {
        Self { encoding }
    }

    /// What this counts in.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The tokens of a plain text; special tokens in it are plain text. Of a text that [`is_flood`] says is one, an estimate.
    pub fn text(&self, text: &str) -> u64 {
        let vocabulary = match self.encoding.vocabulary {
            Vocabulary::O200kBase => &vocabulary::O200K,
            Vocabulary::Cl100kBase => &vocabulary::CL100K,
        };
        let count = |piece: &str| vocabulary.count(piece);
        if !is_flood(text) {
            return count(text);
        }
        if text.len() <= COUNTED_BYTES {
            return pieces(text, 1).map(count).sum();
        }
        // Every so manyth piece stands for those behind it.
        let every = text.len().div_ceil(SAMPLED_BYTES);
        let samples = pieces(text, every).fold((0, 0), |(bytes, tokens), piece| {
            (bytes + piece.len() as u64, tokens + count(piece))
        });
        samples.1 * text.len() as u64 / samples.0
    }

    /// The tokens of a message in a context: 3, its role, its texts, and its name plus 1, as that of
    /// whom it is for.
    pub fn message(&self, message: &Message) -> TokenCount {
        let named = |name: &Option<String>| name.as_ref().map_or(0, |name| self.text(name) + 1);
        let role = self.text(message.role.as_str());
        let frame = MESSAGE_OVERHEAD + role + named(&message.name) + named(&message.recipient);
        let parts = message.parts.iter().map(|part| self.part(part));
        TokenCount::exact(frame) + parts.sum()
    }

    /// The tokens of one part; ids, signatures and opaque blocks count 0.
    pub fn part(&self, part: &Part) -> TokenCount {
        let count = |own: &str| TokenCount {
            tokens: self.text(own),
            estimated: is_flood(own),
        };
        match part {
            Part::Text { text } | Part::Thinking { text, .. } => count(text),
            Part::ToolCall {
                name, arguments, ..
            } => count(name) + count(arguments),
            Part::ToolResult { content, .. } => content.iter().map(|part| self.part(part)).sum(),
            Part::Image(picture) => {
                let tokens = self.encoding.pictures.tokens(picture);
                TokenCount::estimate(tokens.unwrap_or(MEDIA_ESTIMATE))
            }
            Part::File(_) => TokenCount::estimate(MEDIA_ESTIMATE),
            Part::Opaque { .. } => TokenCount::exact(0),
        }
    }
}

/// Whether a text is too long to be counted whole, or has a word that is: what a program gone wild prints. The vocabulary's
/// rules take more than linear time over one word.
fn is_flood(text: &str) -> bool {
    let words = || text.split(|it: char| it.is_ascii_whitespace());
    text.len() > COUNTED_BYTES
        || text.len() > PIECE_BYTES && words().any(|word| word.len() > PIECE_BYTES)
}

/// The first of every so many pieces of a text.
fn pieces(text: &str, every: usize) -> impl Iterator<Item = &str> {
    let starts = (0..text.len()).step_by(PIECE_BYTES * every);
    starts.map(|at| {
        let end = text.ceil_char_boundary((at + PIECE_BYTES).min(text.len()));
        &text[text.ceil_char_boundary(at)..end]
    })
}

impl TokenCount {
    /// A count of which nothing is estimated.
    pub const fn exact(tokens: u64) -> Self {
        let estimated = false;
        Self { tokens, estimated }
    }

    /// A count that is estimated.
    pub const fn estimate(tokens: u64) -> Self {
        let estimated = true;
        Self { tokens, estimated }
    }
}

/// `1204` as `1,204`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The tokens of a context whose messages have these counts.
pub fn context_total(messages: impl IntoIterator<Item = TokenCount>) -> TokenCount {
    let mut messages = messages.into_iter().peekable();
    if messages.peek().is_none() {
        return TokenCount::default();
    }
    TokenCount::exact(CONTEXT_OVERHEAD) + messages.sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Role;

    fn total(messages: &[Message]) -> u64 {
        let counter = Counter::of(Encoding::O200K_BASE);
        context_total(messages.iter().map(|message| counter.message(message))).tokens
    }

    fn oracle(encoding: Encoding) -> &'static tiktoken_rs::CoreBPE {
        match encoding.vocabulary {
            Vocabulary::O200kBase => tiktoken_rs::o200k_base_singleton(),
            Vocabulary::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        }
    }

    fn assert_exact(text: &str) {
        for encoding in Encoding::ALL {
            let counted = Counter::of(encoding).text(text);
            let expected = oracle(encoding).encode_ordinary(text).len() as u64;
            let start: String = text.chars().take(60).collect();
            assert_eq!(counted, expected, "{encoding}: {start:?}");
        }
    }

    #[test]
    fn the_designs_figures_hold() {
        assert_eq!(total(&[]), 0);
        assert_eq!(total(&[Message::text(Role::User, "hello")]), 8);
        assert_eq!(total(&[Message::text(Role::User, "")]), 7);
        let empty = Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role: Role::User,
            name: None,
            parts: vec![],
        };
        assert_eq!(total(&[empty]), 7);
        let two = [
            Message::text(Role::System, "You are helpful."),
            Message::text(Role::User, "Hi"),
        ];
        assert_eq!(total(&two), 16);
        let named = Message {
            name: Some("bob".into()),
            ..Message::text(Role::User, "hello")
        };
        assert_eq!(total(&[named]), 10);
    }

    #[test]
    fn special_tokens_are_plain_text() {
        for text in [
            "<|endoftext|>",
            "a<|endoftext|>b",
            "<|endofprompt|>",
            "<|fim_prefix|>x<|fim_suffix|>",
            "<|im_start|>user",
        ] {
            assert_exact(text);
        }
        let counter = Counter::of(Encoding::O200K_BASE);
        assert!(counter.text("<|endoftext|>") > 1);
    }

    #[test]
    fn calls_results_and_media_count_as_documented() {
        let counter = Counter::of(Encoding::O200K_BASE);
        let call = Part::ToolCall {
            id: "an id that is long and counts nothing".into(),
            name: "read".into(),
            arguments: "{\"path\":1}".into(),
            kind: Some("custom".into()),
        };
        assert_eq!(
            counter.part(&call).tokens,
            counter.text("read") + counter.text("{\"path\":1}")
        );
        let media = Part::Image(crate::model::Media {
            media_type: None,
            name: None,
            detail: None,
            source: crate::model::MediaSource::Base64("AAAA".into()),
        });
        let result = Part::ToolResult {
            call: "an id".into(),
            content: vec![Part::text("some output"), media],
            is_error: false,
        };
        let counted = counter.part(&result);
        assert_eq!(counted.tokens, counter.text("some output") + MEDIA_ESTIMATE);
        assert!(counted.estimated);
        let thinking = Part::Thinking {
            text: "hm".into(),
            signature: Some("c2lnbmF0dXJl".into()),
            provider: Some("anthropic".into()),
        };
        assert_eq!(counter.part(&thinking).tokens, counter.text("hm"));
        let opaque = Part::Opaque {
            provider: "openai".into(),
            data: "{\"type\":\"reasoning\"}".into(),
        };
        assert_eq!(counter.part(&opaque), TokenCount::default());
    }

    /// Letters and digits that look like base64, the same every time.
    fn noise(len: usize) -> String {
        const ALPHABET: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        (0..len)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                char::from(ALPHABET[(state >> 58) as usize])
            })
            .collect()
    }

    const SAMPLES: [&str; 14] = [
        "",
        "The quick brown fox jumps over the lazy dog. It didn't care; they'LL see.",
        "fn main() {\n    let x: Vec<u8> = vec![0; 1_000_000];\n\tprintln!(\"{x:?}\");\n}\n",
        "if (a == b) { return !c && d->e[3]; } // ==== comment ====\r\n\r\n\r\n",
        "日本語の文章をここに書きます。漢字とかなとカタカナ。中文也在这里，没有空格。한국어 문장입니다.",
        "🙂👩‍👩‍👧‍👦🏳️‍🌈 emoji 👍🏽👍🏿 and ❤️‍🔥 flags 🇩🇪🇯🇵",
        "   \t\t  \n \n\n    \u{a0}\u{3000}\u{2003}  x   ",
        "\u{0}\u{1}\u{1b}[31mred\u{1b}[0m\u{7f}\u{85}\u{200b}\u{feff}",
        "1 12 123 1234 12345 3.14159e-10 0xDEADBEEF ١٢٣٤ ½ Ⅷ",
        "Привет, мир! Γειά σου Κόσμε. שלום עולם. مرحبا بالعالم. नमस्ते दुनिया",
        "don't DON'T we've I'm you'd he'S ſ'ſ it’s",
        "camelCaseHTTPServer snake_case SCREAMING_CASE kebab-case ÀÉÎõü e\u{301}\u{302}",
        "https://example.org/a/b?c=d&e=%20f#g user@example.org C:\\dir\\file.txt /usr/lib/x.so.1",
        "{\"a\": [1, 2.0, null, true], \"b\": {\"c\": \"\\u00e9\\n\"}}",
    ];

    #[test]
    fn counts_agree_with_another_implementation() {
        for text in SAMPLES {
            assert_exact(text);
        }
        assert_exact(&noise(20_000));
        assert_exact(&" ".repeat(5_000));
        assert_exact(&"\n".repeat(3_000));
        assert_exact(&"=".repeat(2_000));
        assert_exact(&format!("{}x", " ".repeat(1_001)));
    }

    #[test]
    fn a_mixed_megabyte_counts_exactly() {
        let mut text = String::new();
        let mut round = 0;
        while text.len() < 1 << 20 {
            text.push_str(SAMPLES[round % SAMPLES.len()]);
            text.push_str(&noise(round % 97));
            text.push_str(&" ".repeat(round % 11));
            round += 1;
        }
        assert_exact(&text);
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        #[test]
        fn any_text_counts_exactly(text in ".{0,200}") {
            assert_exact(&text);
        }

        /// Words that end within sixteen bytes, at them and behind them.
        #[test]
        fn any_text_of_ascii_counts_exactly(
            text in "([a-zA-Z]{0,18}[ -~\\n\\r\\t\\x00]{0,4}| {0,18}|[0-9]{0,5}|[^a-z]{0,2}[-=/\\n]{0,18}){0,12}",
        ) {
            assert_exact(&text);
        }

        #[test]
        fn any_mix_of_odd_pieces_counts_exactly(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    " ", "  ", "\n", "\r\n", "\t", "'s", "'LL", "a", "Z", "é", "漢", "🙂", "\u{200d}",
                    "\u{301}", "1", "12", "1234", "_", "/", "--", "<|endoftext|>", "\u{0}", "\u{a0}", "ǅ", "ʰ",
                ]),
                0..40,
            ),
        ) {
            assert_exact(&pieces.concat());
        }
    }

    #[test]
    fn a_flood_is_counted_in_bounded_time_and_nearly_right() {
        let counter = Counter::of(Encoding::O200K_BASE);
        let word: String = ('a'..='z').cycle().take(1 << 20).collect();
        let start = std::time::Instant::now();
        // Twice as long takes no longer: without a bound the second takes minutes.
        for text in [word.repeat(9), word.repeat(40)] {
            let counted = counter.part(&Part::text(text.clone()));
            assert!(counted.estimated, "{counted:?}");
            let real = text.len() as u64 * counter.text(&word[..20_000]) / 20_000;
            assert!(
                counted.tokens.abs_diff(real) < real / 50,
                "{counted:?} {real}"
            );
        }
        let many = "one two three four\n".repeat(500_000);
        let counted = counter.text(&many);
        assert!(counted.abs_diff(5 * 500_000) < 5 * 5_000, "{counted}");
        // What is no flood is counted whole, however long it is.
        let lines = "one two three four\n".repeat(20_000);
        assert_eq!(
            counter.part(&Part::text(lines)),
            TokenCount::exact(5 * 20_000)
        );
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }
}
