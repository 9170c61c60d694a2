//! What a picture costs: its size from its first bytes, and the rule of the model that is sent it.
//!
//! Deliberately absent: which model a conversation names ([`crate::repo`]), and what a file that is no picture
//! costs, of which no provider says anything that its first bytes could tell.
//!
//! # Source
//!
//! The providers' pages, and where they disagree with what is billed, who measured it: `docs/tokens.md` names them.

use crate::model::{Media, MediaSource, base64};

/// By which rule pictures are counted: that of a family of models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureRule {
    /// No model is known, or no rule of it: each picture is the same estimate, whatever its size.
    #[default]
    Unknown,
    /// Claude up to 4.6, and Haiku 4.5.
    Claude,
    /// Claude from Opus 4.7 on.
    ClaudeLarge,
    /// GPT-4o, GPT-4.1, GPT-4 Turbo.
    Gpt4o,
    /// GPT-4o mini.
    Gpt4oMini,
    /// GPT-5 up to 5.3.
    Gpt5,
    /// o1, o3.
    OpenAiO,
    /// GPT-4.1 mini.
    Gpt41Mini,
    /// GPT-4.1 nano.
    Gpt41Nano,
    /// o4-mini.
    O4Mini,
    /// GPT-5 mini.
    Gpt5Mini,
    /// GPT-5 nano.
    Gpt5Nano,
    /// GPT-5.4 and later.
    Gpt54,
    /// Gemini up to 2.5.
    Gemini2,
    /// Gemini 3 and later.
    Gemini3,
}

/// How a rule goes.
enum Way {
    /// One token for each square of so many pixels, of at most so long an edge and so many squares. `times` is in
    /// hundredths.
    Patches {
        side: f64,
        edge: f64,
        most: f64,
        times: u64,
    },
    /// So many, and so many more for each tile of 512 pixels, once the shorter edge is at most 768 and the longer 2,048.
    Tiles { base: u64, tile: u64 },
    /// 258, or as many for each tile of a picture beyond 384 pixels.
    GeminiTiles,
    /// So many.
    Each(u64),
}

/// A picture's width and height in pixels, neither of them 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureSize {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

/// How much of a picture's text is looked at first. Of most kinds the size stands in the first 32 bytes; a camera's
/// preview may stand before it.
const HEAD: usize = 64 << 10;
/// What is longer is not read whole: no provider takes it.
const LONGEST: usize = 64 << 20;
/// What tells a size that no picture has.
const WIDEST: usize = 1 << 20;

impl PictureRule {
    /// All rules. A store knows them by their places here: a new one goes to the end.
    pub const ALL: [Self; 15] = [
        Self::Unknown,
        Self::Claude,
        Self::ClaudeLarge,
        Self::Gpt4o,
        Self::Gpt4oMini,
        Self::Gpt5,
        Self::OpenAiO,
        Self::Gpt41Mini,
        Self::Gpt41Nano,
        Self::O4Mini,
        Self::Gpt5Mini,
        Self::Gpt5Nano,
        Self::Gpt54,
        Self::Gemini2,
        Self::Gemini3,
    ];

    /// The rule of a model, by its name as providers and gateways write it.
    pub fn of_model(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        // A gateway puts its provider before the name.
        let name = model.rsplit(['/', ':']).find(|part| is_family(part));
        let name = name.unwrap_or(&model);
        let name = name.strip_prefix("anthropic.").unwrap_or(name);
        let name = name.rsplit_once(".anthropic.").map_or(name, |(_, own)| own);
        let has = |word: &str| name.split('-').any(|part| part == word);
        let version = || version(name);
        if name.starts_with("claude") {
            return match version() {
                Some(at) if at >= (4, 7) => Self::ClaudeLarge,
                _ => Self::Claude,
            };
        }
        if name.starts_with("gemini") {
            return match version() {
                Some((major, _)) if major >= 3 => Self::Gemini3,
                Some(_) => Self::Gemini2,
                None => Self::Unknown,
            };
        }
        let begins = |with: &[&str]| with.iter().any(|with| name.starts_with(with));
        if begins(&["gpt-4o", "chatgpt-4o"]) {
            return if has("mini") {
                Self::Gpt4oMini
            } else {
                Self::Gpt4o
            };
        }
        if begins(&["o4-mini"]) {
            return Self::O4Mini;
        }
        if ["o1", "o3"].contains(&name.split('-').next().unwrap_or_default()) {
            return if has("mini") {
                Self::Unknown
            } else {
                Self::OpenAiO
            };
        }
        if !name.starts_with("gpt-") {
            return Self::Unknown;
        }
        match (version(), has("mini"), has("nano")) {
            (Some((4, 1)), true, _) => Self::Gpt41Mini,
            (Some((4, 1)), _, true) => Self::Gpt41Nano,
            (Some((4, 1 | 5)), ..) => Self::Gpt4o,
            (Some((4, _)), ..) if has("turbo") || has("vision") => Self::Gpt4o,
            (Some((5, _)), true, _) => Self::Gpt5Mini,
            (Some((5, _)), _, true) => Self::Gpt5Nano,
            (Some((5, 0..4)), ..) => Self::Gpt5,
            (Some(at), ..) if at >= (5, 4) => Self::Gpt54,
            _ => Self::Unknown,
        }
    }

    /// The tokens of a picture; none where the rule or the size is not known.
    pub(crate) fn tokens(self, picture: &Media) -> Option<u64> {
        let way = self.way()?;
        let is_low = picture.detail.as_deref() == Some("low");
        match way {
            Way::Each(tokens) => Some(tokens),
            Way::Tiles { base, .. } if is_low => Some(base),
            way => Some(way.tokens(PictureSize::of(picture)?)),
        }
    }

    fn way(self) -> Option<Way> {
        let claude = |edge, most| Way::Patches {
            side: 28.0,
            edge,
            most,
            times: 100,
        };
        let patches = |most, times| Way::Patches {
            side: 32.0,
            edge: f64::INFINITY,
            most,
            times,
        };
        let tiles = |base, tile| Way::Tiles { base, tile };
        Some(match self {
            Self::Unknown => return None,
            Self::Claude => claude(1_568.0, 1_568.0),
            Self::ClaudeLarge => claude(2_576.0, 4_784.0),
            Self::Gpt4o => tiles(85, 170),
            Self::Gpt4oMini => tiles(2_833, 5_667),
            Self::Gpt5 => tiles(70, 140),
            Self::OpenAiO => tiles(75, 150),
            Self::Gpt41Mini => patches(1_536.0, 162),
            Self::Gpt41Nano => patches(1_536.0, 246),
            Self::O4Mini => patches(1_536.0, 172),
            Self::Gpt5Mini => patches(1_536.0, 120),
            Self::Gpt5Nano => patches(1_536.0, 150),
            Self::Gpt54 => Way::Patches {
                side: 32.0,
                edge: 6_000.0,
                most: 10_000.0,
                times: 120,
            },
            Self::Gemini2 => Way::GeminiTiles,
            Self::Gemini3 => Way::Each(1_120),
        })
    }
}

impl Way {
    fn tokens(&self, size: PictureSize) -> u64 {
        let (width, height) = (f64::from(size.width), f64::from(size.height));
        let (long, short) = (width.max(height), width.min(height));
        match self {
            Self::Patches {
                side,
                edge,
                most,
                times,
            } => {
                let by = (edge / long).min(1.0);
                let patches = |by: f64| {
                    (width * by / side).ceil().max(1.0) * (height * by / side).ceil().max(1.0)
                };
                // What has more than so many is made smaller until it has about as many.
                (patches(by).min(*most) as u64 * times).div_ceil(100)
            }
            Self::Tiles { base, tile } => {
                let by = (2_048.0 / long).min(1.0);
                let by = by * (768.0 / (short * by)).min(1.0);
                let across = |edge: f64| (edge * by / 512.0).ceil().max(1.0) as u64;
                base + tile * across(width) * across(height)
            }
            Self::GeminiTiles if long <= 384.0 => GEMINI_TILE,
            Self::GeminiTiles => {
                let unit = (short / 1.5).floor().clamp(256.0, 768.0);
                let across = |edge: f64| (edge / unit).ceil().max(1.0) as u64;
                GEMINI_TILE * across(width) * across(height)
            }
            Self::Each(tokens) => *tokens,
        }
    }
}

const GEMINI_TILE: u64 = 258;

impl PictureSize {
    /// The size of a picture whose bytes are here; none where they do not say it. Whoever sent the bytes may have put
    /// anything into them.
    pub fn of(picture: &Media) -> Option<Self> {
        let MediaSource::Base64(text) = &picture.source else {
            return None;
        };
        let head = text.get(..HEAD.min(text.len()));
        let head = head.and_then(base64::decode).and_then(|head| size(&head));
        head.or_else(|| {
            let is_read = !(HEAD..=LONGEST).contains(&text.len());
            if is_read {
                None
            } else {
                size(&base64::decode(text)?)
            }
        })
    }
}

fn size(bytes: &[u8]) -> Option<PictureSize> {
    let found = imagesize::blob_size(bytes).ok()?;
    let edge = |edge: usize| {
        let edge = Some(edge).filter(|edge| (1..=WIDEST).contains(edge));
        edge.and_then(|edge| u32::try_from(edge).ok())
    };
    Some(PictureSize {
        width: edge(found.width)?,
        height: edge(found.height)?,
    })
}

/// Whether a name begins as those of models whose rule is known.
fn is_family(name: &str) -> bool {
    let families = [
        "claude",
        "gpt-",
        "chatgpt-",
        "gemini",
        "o1",
        "o3",
        "o4-",
        "anthropic.",
    ];
    name.contains(".anthropic.") || families.iter().any(|family| name.starts_with(family))
}

/// The first number in a name, with the one behind it: 4.5 of `claude-sonnet-4-5-20250929`, 5.0 of `gpt-5-codex`. A date
/// is no version.
fn version(name: &str) -> Option<(u32, u32)> {
    let mut parts = name.split(['-', '.', '@']).map(|part| {
        let number = Some(part).filter(|part| part.len() < 3);
        number.and_then(|part| part.parse::<u32>().ok())
    });
    let major = parts.find_map(|part| part)?;
    Some((major, parts.next().flatten().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first bytes of a PNG of this size.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    fn picture(bytes: &[u8]) -> Media {
        Media::new(None, MediaSource::Base64(base64::encode(bytes)))
    }

    fn tokens(model: &str, width: u32, height: u32) -> Option<u64> {
        PictureRule::of_model(model).tokens(&picture(&png(width, height)))
    }

    #[test]
    fn a_models_name_chooses_the_rule() {
        for (model, rule) in [
            ("claude-sonnet-4-5-20250929", PictureRule::Claude),
            ("claude-3-5-sonnet-20241022", PictureRule::Claude),
            ("claude-opus-4-20250514", PictureRule::Claude),
            ("claude-opus-4-6", PictureRule::Claude),
            ("claude-opus-4-7", PictureRule::ClaudeLarge),
            ("claude-opus-5", PictureRule::ClaudeLarge),
            ("anthropic/claude-opus-4.8", PictureRule::ClaudeLarge),
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                PictureRule::Claude,
            ),
            ("gpt-4o-2024-11-20", PictureRule::Gpt4o),
            ("openai/gpt-4o-mini", PictureRule::Gpt4oMini),
            ("gpt-4.1", PictureRule::Gpt4o),
            ("gpt-4.1-mini", PictureRule::Gpt41Mini),
            ("gpt-4.1-nano-2025-04-14", PictureRule::Gpt41Nano),
            ("gpt-4-turbo", PictureRule::Gpt4o),
            ("gpt-5", PictureRule::Gpt5),
            ("gpt-5-codex", PictureRule::Gpt5),
            ("gpt-5.1-codex-max", PictureRule::Gpt5),
            ("gpt-5-mini", PictureRule::Gpt5Mini),
            ("gpt-5-nano", PictureRule::Gpt5Nano),
            ("gpt-5.4", PictureRule::Gpt54),
            ("gpt-6", PictureRule::Gpt54),
            ("o3", PictureRule::OpenAiO),
            ("o4-mini", PictureRule::O4Mini),
            ("gemini-2.5-pro", PictureRule::Gemini2),
            ("models/gemini-3-pro-preview", PictureRule::Gemini3),
            ("gpt-4", PictureRule::Unknown),
            ("gpt-3.5-turbo", PictureRule::Unknown),
            ("o3-mini", PictureRule::Unknown),
            ("qwen3-vl", PictureRule::Unknown),
            ("", PictureRule::Unknown),
        ] {
            assert_eq!(PictureRule::of_model(model), rule, "{model}");
        }
    }

    #[test]
    fn the_providers_own_examples_hold() {
        // Anthropic's page: 1000 × 1000 is 1,296.
        assert_eq!(tokens("claude-sonnet-4-5", 1_000, 1_000), Some(1_296));
        assert_eq!(tokens("claude-sonnet-4-5", 400, 300), Some(165));
        assert_eq!(tokens("claude-sonnet-4-5", 3_840, 2_160), Some(1_568));
        assert_eq!(tokens("claude-opus-4-7", 1_920, 1_080), Some(2_691));
        // OpenAI's page: 1024 × 1024 is 765, 2048 × 4096 is 1,105.
        assert_eq!(tokens("gpt-4o", 1_024, 1_024), Some(765));
        assert_eq!(tokens("gpt-4o", 2_048, 4_096), Some(1_105));
        assert_eq!(tokens("gpt-5", 1_024, 1_024), Some(630));
        // A small one is not made larger.
        assert_eq!(tokens("gpt-4o", 400, 300), Some(255));
        // Measured: 1024 × 1024 is 1,229.
        assert_eq!(tokens("gpt-5-mini", 1_024, 1_024), Some(1_229));
        assert_eq!(tokens("gpt-4.1-mini", 4_000, 1_474), Some(2_489));
        // Google's page: up to 384 × 384 is 258, and 960 × 540 six tiles.
        assert_eq!(tokens("gemini-2.5-pro", 384, 384), Some(258));
        assert_eq!(tokens("gemini-2.5-pro", 960, 540), Some(6 * 258));
        assert_eq!(tokens("gemini-3-pro", 4_000, 3_000), Some(1_120));
    }

    #[test]
    fn a_low_detail_is_the_base_alone() {
        let low = Media {
            detail: Some("low".into()),
            ..picture(&png(4_000, 4_000))
        };
        assert_eq!(PictureRule::Gpt4o.tokens(&low), Some(85));
        assert_eq!(PictureRule::Claude.tokens(&low), Some(1_568));
    }

    #[test]
    fn sizes_stand_in_the_first_bytes_of_each_kind() {
        let found = |bytes: &[u8]| PictureSize::of(&picture(bytes));
        let is = Some(PictureSize {
            width: 400,
            height: 300,
        });
        assert_eq!(found(&png(400, 300)), is);
        assert_eq!(found(b"GIF89a\x90\x01\x2c\x01\0\0\0"), is);
        let webp = b"RIFF\x1a\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x8f\x01\0\x2b\x01\0";
        assert_eq!(found(webp), is);
        let frame = b"\xff\xc0\0\x11\x08\x01\x2c\x01\x90\x03\x01\x11\0\x02\x11\x01\x03\x11\x01";
        let mut jpeg = b"\xff\xd8".to_vec();
        // A preview before it is longer than what is looked at first.
        for _ in 0..2 {
            jpeg.extend(b"\xff\xe1\xff\xff");
            jpeg.extend(vec![0; 65_533]);
        }
        jpeg.extend(frame);
        assert_eq!(found(&jpeg), is);
    }

    #[test]
    fn what_says_no_size_is_not_guessed() {
        let url = Media::new(None, MediaSource::Url("https://example.org/a.png".into()));
        assert_eq!(PictureRule::Claude.tokens(&url), None);
        for bytes in [
            &b""[..],
            b"AAAA",
            &png(0, 300),
            &png(u32::MAX, 300),
            &png(4, 3)[..18],
        ] {
            assert_eq!(
                PictureRule::Claude.tokens(&picture(bytes)),
                None,
                "{bytes:?}"
            );
        }
        let text = Media::new(None, MediaSource::Base64("no base64!".into()));
        assert_eq!(PictureSize::of(&text), None);
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

        /// Whatever the bytes are, they are read or left, and a count has a bound.
        #[test]
        fn hostile_bytes_say_a_size_or_none(
            head in prop::sample::select(vec![
                &b"\x89PNG\r\n\x1a\n"[..], b"GIF89a", b"\xff\xd8\xff\xe0", b"RIFF\xff\xff\xff\xffWEBP", b"",
            ]),
            tail in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let picture = picture(&[head, &tail].concat());
            for rule in PictureRule::ALL {
                let tokens = rule.tokens(&picture).unwrap_or_default();
                prop_assert!(tokens <= 258 * (WIDEST * WIDEST) as u64);
            }
        }

        /// A larger picture never costs less of what has no tiles, and nothing costs nothing.
        #[test]
        fn a_picture_costs_something((width, height) in (1..9_000_u32, 1..9_000_u32)) {
            for rule in &PictureRule::ALL[1..] {
                let tokens = rule.tokens(&picture(&png(width, height)));
                prop_assert!(tokens.is_some_and(|tokens| tokens > 0), "{:?}", rule);
            }
        }
    }
}
