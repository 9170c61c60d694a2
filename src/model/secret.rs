//! Secrets in text: keys, tokens and passwords, known by the forms that their issuers document.
//!
//! Works on text as it stands and on JSON's own spelling of it, however deep one text is quoted in
//! another: what stands before a secret may be the `n` of a line feed, and `\u002f` is a slash. What is
//! plainly an example (`AKIAIOSFODNN7EXAMPLE`, `ghp_XXXX…`, `$TOKEN`) is none. Deliberately absent: what
//! is done about a secret, and secrets of no form, which nothing finds.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use memchr::memmem;
use regex::bytes::Regex;

use crate::error::{Error, Result};
use crate::model::{Message, Part};

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What it is, as `[redacted:KIND]` names it: `aws-access-key`.
    pub kind: &'static str,
    /// Where it stands, in bytes. It begins and ends between ASCII characters.
    pub place: Range<usize>,
}

/// How many secrets of each kind.
pub type SecretCounts = BTreeMap<&'static str, usize>;

/// Adds more of them.
pub(crate) fn add_counts(counts: &mut SecretCounts, more: &SecretCounts) {
    for (kind, count) in more {
        *counts.entry(kind).or_default() += count;
    }
}

/// What is done about secrets in what leaves a repository.
#[derive(Clone, Copy, Debug, Default)]
pub enum Leaving<'a> {
    /// They leave with the rest.
    #[default]
    Allowed,
    /// Nothing leaves while there are any.
    Refused(&'a Secrets),
    /// `[redacted:KIND]` leaves in their place.
    Redacted(&'a Secrets),
}

impl<'a> Leaving<'a> {
    /// What finds them, unless nobody asks.
    pub fn secrets(&self) -> Option<&'a Secrets> {
        match self {
            Self::Allowed => None,
            Self::Refused(secrets) | Self::Redacted(secrets) => Some(secrets),
        }
    }
}

/// Finds secrets. Takes some milliseconds to make, so it is made once for many texts.
#[derive(Debug)]
pub struct Secrets {
    /// Anything that a rule begins to look at, or a spelling that hides such: one pass over a text.
    needles: Regex,
    /// The rules that look at a needle.
    by_needle: HashMap<&'static [u8], Vec<usize>>,
    rules: Vec<Rule>,
    /// What the user says is no secret.
    allowed: Vec<Regex>,
    /// What may follow where a private key has no end.
    key_body: Regex,
}

/// One of [`RULES`].
#[derive(Debug)]
struct Rule {
    kind: &'static str,
    needles: Vec<&'static str>,
    reach: (usize, usize),
    pattern: Regex,
    entropy: f64,
}

/// Spellings of an ASCII character in JSON that is none of the usual: where one stands, the text is
/// looked at without them, too.
const HIDING: [&str; 2] = ["\\u00", "\\/"];

/// What a private key may take, in bytes.
const KEY_BYTES: usize = 32 << 10;

/// What is told of each issuer's forms on its own pages, a rule a line. Longer forms before those that they hold. The columns:
///
/// 1. what the secret is;
/// 2. needles, one of which stands in every text that holds one;
/// 3. how far before a needle one may begin;
/// 4. how far behind where the needle begins it may end;
/// 5. the least Shannon entropy of what is secret, in bits a byte: less is an example;
/// 6. a pattern: what is secret is its first group, or all of it. That of a private key is how it begins; it goes on to its end.
const RULES: &str = r#"
private-key         PRIVATE KEY             80   40    4.0  -----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----
aws-access-key      AKIA,ASIA               0    24    3.0  A[KS]IA[A-Z2-7]{16}
aws-secret-key      ecret,ECRET             4    110   4.0  (?i:secret_?(?:access)?_?key)[\\"']{0,8}[ \t]{0,3}[:=][ \t]{0,3}[\\"']{0,8}([A-Za-z0-9/+]{40})
github-token        ghp_,gho_,ghu_,ghs_,ghr_  0    260   3.5  gh[pousr]_[A-Za-z0-9]{36,251}
github-token        github_pat_             0    100   3.5  github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}
gitlab-token        glpat-,gldt-,glrt-,glptt-,glcbt-,glsoat-,glft-  0    320   3.5  gl(?:pat|dt|rt|ptt|cbt|soat|ft)-[A-Za-z0-9_-]{20,300}
slack-token         xox                     0    270   3.0  xox[abeoprs]-[A-Za-z0-9-]{20,250}
slack-webhook       hooks.slack.com/        8    130   3.5  https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{30,90}
openai-key          T3BlbkFJ                130  140   3.5  sk-[A-Za-z0-9_-]{10,120}T3BlbkFJ[A-Za-z0-9_-]{20,120}
anthropic-key       sk-ant-                 0    160   3.5  sk-ant-[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{80,130}
google-key          AIza                    0    44    3.5  AIza[A-Za-z0-9_-]{35}
google-oauth        GOCSPX-,ya29.           0    600   3.5  GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{30,}
stripe-key          k_live_                 1    270   3.5  [rs]k_live_[A-Za-z0-9]{24,250}
npm-token           npm_                    0    44    3.5  npm_[A-Za-z0-9]{36}
pypi-token          pypi-AgE                0    320   3.5  pypi-AgE[A-Za-z0-9_-]{50,300}
huggingface-token   hf_                     0    40    3.5  hf_[A-Za-z]{34}
sendgrid-key        SG.                     0    72    3.5  SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}
telegram-token      :AA                     11   44    3.5  [0-9]{8,10}:AA[A-Za-z0-9_-]{33}
digitalocean-token  _v1_                    3    76    3.0  do[opr]_v1_[a-f0-9]{64}
docker-token        dckr_pat_               0    40    3.5  dckr_pat_[A-Za-z0-9_-]{27}
vault-token         hvs.                    0    220   3.5  hvs\.[A-Za-z0-9_-]{24,200}
azure-storage-key   AccountKey=             0    104   4.0  AccountKey=([A-Za-z0-9/+]{86}==)
jwt                 eyJ                     0    4096  3.5  eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}
authorization       uthorization,UTHORIZATION  1    600   3.5  (?i:authorization)[\\"']{0,8}[ \t]{0,3}[:=][ \t]{0,3}[\\"']{0,8}(?i:bearer|basic|token) +([A-Za-z0-9._~+/=-]{20,})
url-password        ://                     24   220   2.5  [a-z][a-z0-9+.-]{1,20}://[^\s/:@"'<>\\]{0,64}:([^\s/@"'<>\\]{6,128})@[A-Za-z0-9]
password            ecret,ECRET,assw,ASSW,oken,OKEN,api,API  4    190   3.7  (?i:api_?key|secret|token|passwd|password)[\\"']{0,8}[ \t]{0,3}[:=][ \t]{0,3}[\\"']{0,8}([A-Za-z0-9+/_=~-]{16,128})
"#;

/// What stands in an example and hardly ever in a secret, in lower case.
const EXAMPLES: [&str; 14] = [
    "example",
    "xxxx",
    "your",
    "placeholder",
    "change",
    "dummy",
    "secret",
    "password",
    "redacted",
    "000000",
    "1234567",
    "abcdef",
    "fake",
    "****",
];

/// What issuers' own pages show as examples, and what comes with their tools for everybody.
const KNOWN: [&str; 4] = [
    // The token that jwt.io shows: of John Doe.
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l",
    // The storage emulator's key, and the database emulator's.
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq",
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw",
    // The key in the reference of Google's maps.
    "AIzaSyDdI0hCZtE6vySjMm-WEfRq3CPzqKqqsHI",
];

impl Secrets {
    /// All that is known.
    pub fn new() -> Self {
        let rules: Vec<Rule> = RULES.trim().lines().map(Rule::of).collect();
        let mut by_needle: HashMap<&'static [u8], Vec<usize>> = HashMap::new();
        for (at, rule) in rules.iter().enumerate() {
            for needle in &rule.needles {
                by_needle.entry(needle.as_bytes()).or_default().push(at);
            }
        }
        let words = rules.iter().flat_map(|rule| &rule.needles).chain(&HIDING);
        let words: Vec<String> = words.map(|word| regex::escape(word)).collect();
        Self {
            needles: compile(&words.join("|")),
            by_needle,
            rules,
            allowed: Vec::new(),
            key_body: compile(r"^(?:[A-Za-z0-9+/=\s]|\\+[nrt])*"),
        }
    }

    /// All that is known but for what one of these regular expressions is found in: each is held against
    /// what was taken for a secret, and nothing around it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for what is no regular expression.
    pub fn allowing(expressions: &[&str]) -> Result<Self> {
        let mut all = Self::new();
        for expression in expressions {
            let allowed = Regex::new(expression).map_err(|error| {
                let text = error.to_string();
                let reason = text.lines().last().unwrap_or_default();
                let reason = reason.trim_start_matches("error: ");
                Error::input(format!("the regular expression '{expression}'"), reason)
            })?;
            all.allowed.push(allowed);
        }
        Ok(all)
    }

    /// The secrets of a text, in its order; none lies in another.
    pub fn find(&self, text: &[u8]) -> Vec<Secret> {
        let mut found = Vec::new();
        if self.look(text, &mut found) {
            let (plain, places) = plain(text);
            let mut hidden = Vec::new();
            self.look(&plain, &mut hidden);
            found.extend(
                hidden
                    .into_iter()
                    .map(|(rule, place)| (rule, places[place.start]..places[place.end])),
            );
        }
        // Where two overlap, the earlier rule is the one that knows more.
        found.sort_by_key(|(rule, place)| (*rule, place.start, place.end));
        let mut kept: BTreeMap<usize, Secret> = BTreeMap::new();
        for (rule, place) in found {
            let before = kept.range(..place.end).next_back();
            if before.is_none_or(|(_, other)| other.place.end <= place.start) {
                let kind = self.rules[rule].kind;
                kept.insert(place.start, Secret { kind, place });
            }
        }
        kept.into_values().collect()
    }

    /// Adds how many secrets of each kind a text holds.
    pub fn count(&self, text: &[u8], counts: &mut SecretCounts) {
        for secret in self.find(text) {
            *counts.entry(secret.kind).or_default() += 1;
        }
    }

    /// The text with `[redacted:KIND]` for each secret, and how many there were. What was JSON stays
    /// JSON.
    pub fn redact<'t>(&self, text: &'t [u8], counts: &mut SecretCounts) -> Cow<'t, [u8]> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len());
        let mut from = 0;
        for secret in found {
            out.extend_from_slice(&text[from..secret.place.start]);
            out.extend_from_slice(format!("[redacted:{}]", secret.kind).as_bytes());
            from = secret.place.end;
            *counts.entry(secret.kind).or_default() += 1;
        }
        out.extend_from_slice(&text[from..]);
        Cow::Owned(out)
    }

    /// The same of a text that is one.
    pub fn redact_text(&self, text: &str, counts: &mut SecretCounts) -> Option<String> {
        match self.redact(text.as_bytes(), counts) {
            Cow::Borrowed(_) => None,
            Cow::Owned(bytes) => {
                Some(String::from_utf8(bytes).expect("cut between ASCII characters"))
            }
        }
    }

    /// The message without its secrets; none where it has none. What a provider has signed is not what
    /// it signed any more, and so has no signature.
    pub fn redact_message(&self, message: &Message, counts: &mut SecretCounts) -> Option<Message> {
        let canonical = self.redact_text(&message.canonical(), counts)?;
        let mut redacted = Message::from_canonical(&canonical).ok()?;
        for (part, before) in redacted.parts.iter_mut().zip(&message.parts) {
            if part != before
                && let Part::Thinking { signature, .. } = part
            {
                *signature = None;
            }
        }
        Some(redacted)
    }

    /// Adds what each rule finds; whether a spelling may hide more.
    fn look(&self, text: &[u8], found: &mut Vec<(usize, Range<usize>)>) -> bool {
        let mut hides = false;
        let mut done = vec![0; self.rules.len()];
        let mut at = 0;
        while let Some(needle) = self.needles.find_at(text, at) {
            at = needle.start() + 1;
            let Some(rules) = self.by_needle.get(needle.as_bytes()) else {
                let digit = text.get(needle.end());
                hides |= needle.as_bytes() == b"\\/"
                    || digit.is_some_and(|it| (b'2'..b'8').contains(it));
                continue;
            };
            for &rule in rules {
                if needle.start() >= done[rule] {
                    done[rule] = self.rule(rule, text, needle.start(), found).unwrap_or(at);
                }
            }
        }
        hides
    }

    /// Looks around a needle by one rule; gives where what it took ends.
    fn rule(
        &self,
        rule: usize,
        text: &[u8],
        needle: usize,
        found: &mut Vec<(usize, Range<usize>)>,
    ) -> Option<usize> {
        let how = &self.rules[rule];
        let from = needle.saturating_sub(how.reach.0);
        let window = &text[from..text.len().min(needle + how.reach.1)];
        work::looked_at(window.len());
        how.pattern.find(window)?;
        let held = how.pattern.captures(window)?;
        let whole = held.get(0).expect("a match has a whole");
        let secret = held.get(1).unwrap_or(whole);
        let start = from + secret.start();
        let mut end = from + secret.end();
        if how.kind == "private-key" {
            end = self.key_end(text, end);
        }
        // What is none by its beginning is looked at no further: it may go on for long.
        if !begins_alone(text, from + whole.start()) || !how.is_real(&text[start..end]) {
            return None;
        }
        if how.kind != "private-key" && secret.end() == window.len() {
            let goes_on = |it: &&u8| it.is_ascii_alphanumeric() || b"_-".contains(it);
            end += text[end..].iter().take_while(goes_on).count();
            work::looked_at(end - start);
        }
        if ends_alone(text, end) {
            let is_allowed = |it: &Regex| it.is_match(&text[start..end]);
            if !self.allowed.iter().any(is_allowed) {
                found.push((rule, start..end));
            }
            return Some(end);
        }
        None
    }

    /// Where a private key ends that begins before `from`: at its last line, or where that is missing
    /// with what may still be of it.
    fn key_end(&self, text: &[u8], from: usize) -> usize {
        let rest = &text[from..text.len().min(from + KEY_BYTES)];
        work::looked_at(rest.len());
        // It goes on beyond no quoted text.
        let rest = &rest[..memchr::memchr(b'"', rest).unwrap_or(rest.len())];
        if let Some(last) = memmem::find(rest, b"-----END ")
            && let line = &rest[last + 9..rest.len().min(last + 80)]
            && let Some(dashes) = memmem::find(line, b"-----")
        {
            return from + last + 9 + dashes + 5;
        }
        from + self.key_body.find(rest).map_or(0, |body| body.end())
    }
}

/// The text with its ASCII characters as themselves wherever JSON spells them otherwise, and where each
/// of its bytes begins in the text; last, where it ends.
fn plain(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut out, mut places) = (
        Vec::with_capacity(text.len()),
        Vec::with_capacity(text.len()),
    );
    let mut at = 0;
    while at < text.len() {
        let quotes = text[at..].iter().take_while(|it| **it == b'\\').count();
        work::looked_at(1 + quotes);
        let (byte, len) = match spelled(&text[at + quotes..]) {
            Some((byte, len)) if quotes > 0 => (byte, quotes + len),
            // All of them stand for themselves, and are looked at once.
            _ if quotes > 0 => {
                out.extend(std::iter::repeat_n(b'\\', quotes));
                places.extend(at..at + quotes);
                at += quotes;
                continue;
            }
            _ => (text[at], 1),
        };
        out.push(byte);
        places.push(at);
        at += len;
    }
    places.push(at);
    (out, places)
}

/// The ASCII character that JSON spells so behind its backslashes, however many, and how long the
/// spelling is.
fn spelled(text: &[u8]) -> Option<(u8, usize)> {
    match text {
        [b'/', ..] => Some((b'/', 1)),
        [b'u', b'0', b'0', high, low, ..] => {
            let digits = [*high, *low];
            let digits = std::str::from_utf8(&digits).ok()?;
            Some((u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii)?, 5))
        }
        _ => None,
    }
}

impl Default for Secrets {
    fn default() -> Self {
        Self::new()
    }
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a rule's pattern is sound")
}

impl Rule {
    /// What a line of [`RULES`] says.
    fn of(line: &'static str) -> Self {
        let columns = line.split("  ").map(str::trim);
        let columns: Vec<&str> = columns.filter(|it| !it.is_empty()).collect();
        let [kind, needles, before, behind, entropy, pattern] = columns[..] else {
            panic!("a rule has six columns: {line}");
        };
        let bytes = |text: &str| text.parse().expect("a number of bytes");
        Self {
            kind,
            needles: needles.split(',').collect(),
            reach: (bytes(before), bytes(behind)),
            pattern: compile(pattern),
            entropy: entropy.parse().expect("a number of bits"),
        }
    }

    /// Whether it is no example.
    fn is_real(&self, secret: &[u8]) -> bool {
        if self.kind == "private-key" {
            let begin = memmem::find(secret, b"KEY").map_or(0, |at| at + 3);
            let body = &secret[begin..];
            let letters = body.iter().filter(|it| it.is_ascii_alphanumeric()).count();
            return letters >= 64 && entropy(body) >= self.entropy;
        }
        let lower = secret.to_ascii_lowercase();
        let has = |needle: &str| memmem::find(&lower, needle.as_bytes()).is_some();
        let is_example =
            EXAMPLES.iter().any(|word| has(word)) || lower.iter().any(|it| b"${".contains(it));
        // A name in a program has no digits, or stands in words.
        let is_name = self.kind == "password"
            && (!lower.iter().any(u8::is_ascii_digit) || !has_mixed_digits(secret));
        let is_known = KNOWN
            .iter()
            .any(|known| memmem::find(secret, known.as_bytes()).is_some());
        entropy(secret) >= self.entropy && !is_example && !is_name && !is_known
    }
}

/// Whether digits stand in the midst of letters, as in what is random: `max_tokens_2024` is a name.
fn has_mixed_digits(secret: &[u8]) -> bool {
    let kinds = secret
        .windows(2)
        .filter(|two| two[0].is_ascii_digit() != two[1].is_ascii_digit());
    kinds.count() >= 4
}

/// Whether what begins here is no part of a longer word: no letter or digit stands before it, but for
/// the end of a JSON escape (`\n`, `\u000a`) or of a terminal's colour (`[32m`).
fn begins_alone(text: &[u8], start: usize) -> bool {
    match &text[..start] {
        [] => true,
        [.., last] if !last.is_ascii_alphanumeric() || !text[start].is_ascii_alphanumeric() => true,
        [.., b'\\', letter] => b"nrtbf".contains(letter),
        [.., b'\\', b'u', _, _, _, _] => true,
        [colour @ .., b'm'] => {
            let is_number = |it: &u8| it.is_ascii_digit() || *it == b';';
            let before = colour.iter().rposition(|it| !is_number(it));
            before.is_some_and(|at| colour[at] == b'[')
        }
        _ => false,
    }
}

/// The same of its end.
fn ends_alone(text: &[u8], end: usize) -> bool {
    match (text.get(end - 1), text.get(end)) {
        (Some(last), Some(next)) => !last.is_ascii_alphanumeric() || !next.is_ascii_alphanumeric(),
        _ => true,
    }
}

/// How many bytes were looked at, for the test that holds them to the text's length.
mod work {
    #[cfg(test)]
    thread_local!(pub(super) static BYTES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });

    #[cfg(test)]
    pub(super) fn looked_at(bytes: usize) {
        BYTES.set(BYTES.get() + bytes as u64);
    }

    #[cfg(not(test))]
    pub(super) const fn looked_at(_: usize) {}
}

/// Shannon's entropy of its bytes, in bits a byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut often = [0_u32; 256];
    bytes.iter().for_each(|byte| often[usize::from(*byte)] += 1);
    let all = bytes.len() as f64;
    let share = |count: &u32| f64::from(*count) / all;
    let filled = often.iter().filter(|count| **count > 0);
    filled.map(share).map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kinds of what is found in a text. The tokens are put together here, so that no scanner takes this
    /// file for a leak.
    fn kinds(text: &str) -> Vec<&'static str> {
        let found = Secrets::new().find(text.as_bytes());
        found.into_iter().map(|secret| secret.kind).collect()
    }

    /// So many characters that look random.
    fn random(size: usize) -> String {
        let letters = b"q7Zk2mWx9RtB4vLc8YpN3sHd6GfJ5uKe";
        (0..size)
            .map(|at| char::from(letters[(at * 11 + at / 32) % 32]))
            .collect()
    }

    fn samples() -> Vec<(&'static str, String)> {
        let upper = random(64).to_uppercase().replace(
            |it: char| it.is_ascii_digit() && !('2'..='7').contains(&it),
            "Q",
        );
        let letters: String = random(200)
            .chars()
            .filter(char::is_ascii_alphabetic)
            .take(34)
            .collect();
        let hex: String = (0..64)
            .map(|at| char::from(b"0a9f3b7c2d8e1546"[(at * 7 + at / 16) % 16]))
            .collect();
        vec![
            ("aws-access-key", format!("AKIA{}", &upper[..16])),
            ("github-token", format!("ghp_{}", random(36))),
            (
                "github-token",
                format!("github_pat_{}_{}", random(22), random(59)),
            ),
            ("gitlab-token", format!("glpat-{}", random(20))),
            (
                "slack-token",
                format!("xoxb-{}-{}", "2718281828459", random(24)),
            ),
            (
                "slack-webhook",
                format!(
                    "https://hooks.slack.com/services/T{}/B{}/{}",
                    &upper[..9],
                    &upper[9..18],
                    random(24)
                ),
            ),
            (
                "openai-key",
                format!("sk-proj-{}T3BlbkFJ{}", random(40), random(40)),
            ),
            ("anthropic-key", format!("sk-ant-api03-{}AA", random(93))),
            ("google-key", format!("AIza{}", random(35))),
            ("google-oauth", format!("GOCSPX-{}", random(28))),
            ("stripe-key", format!("sk_live_{}", random(24))),
            ("npm-token", format!("npm_{}", random(36))),
            ("pypi-token", format!("pypi-AgE{}", random(60))),
            ("huggingface-token", format!("hf_{letters}")),
            ("sendgrid-key", format!("SG.{}.{}", random(22), random(43))),
            ("telegram-token", format!("271828182:AA{}", random(33))),
            ("digitalocean-token", format!("dop_v1_{hex}")),
            ("docker-token", format!("dckr_pat_{}", random(27))),
            ("vault-token", format!("hvs.{}", random(24))),
            (
                "jwt",
                format!("eyJ{}.eyJ{}.{}", random(20), random(40), random(43)),
            ),
        ]
    }

    #[test]
    fn each_issuers_form_is_found_wherever_it_stands() {
        for (kind, token) in samples() {
            assert_eq!(kinds(&token), [kind], "{token}");
            assert_eq!(kinds(&format!("use {token}, please")), [kind], "{token}");
            // In JSON's spelling.
            assert_eq!(
                kinds(&format!(r#"{{"text":"here:\n{token}\nthere"}}"#)),
                [kind],
                "{token}"
            );
            // In the midst of a word it is something else.
            if token.starts_with(|it: char| it.is_ascii_alphanumeric()) && kind != "slack-webhook" {
                let longer = format!("abc{token}");
                assert!(
                    !kinds(&longer).contains(&kind) || kind == "telegram-token",
                    "{longer}"
                );
            }
        }
    }

    #[test]
    fn what_is_said_to_be_secret_is_found_by_its_name() {
        let secret = random(40);
        for text in [
            format!("aws_secret_access_key = {secret}"),
            format!(r#"{{"secretAccessKey": "{secret}"}}"#)
                .replace("secretAccessKey", "secret_access_key"),
        ] {
            assert_eq!(kinds(&text), ["aws-secret-key"], "{text}");
        }
        let header = format!("curl -H 'Authorization: Bearer {}'", random(30));
        assert_eq!(kinds(&header), ["authorization"]);
        let url = format!("postgres://app:{}@db.internal/main", random(12));
        assert_eq!(kinds(&url), ["url-password"]);
        let text = format!(r#"API_KEY="{}""#, random(24));
        assert_eq!(kinds(&text), ["password"]);
        let account = format!("AccountName=a;AccountKey={}==;", random(86));
        assert_eq!(kinds(&account), ["azure-storage-key"]);
    }

    #[test]
    fn a_private_key_is_one_secret_from_its_first_line_to_its_last() {
        let (begin, end) = ("-----BEGIN OPENSSH ", "-----END OPENSSH ");
        let key = format!(
            "{begin}PRIVATE KEY-----\n{}\n{end}PRIVATE KEY-----",
            random(70)
        );
        let text = format!("before\n{key}\nafter");
        let mut counts = SecretCounts::new();
        let out = Secrets::new()
            .redact(text.as_bytes(), &mut counts)
            .into_owned();
        assert_eq!(
            String::from_utf8_lossy(&out),
            "before\n[redacted:private-key]\nafter"
        );
        assert_eq!(counts, SecretCounts::from([("private-key", 1)]));
    }

    #[test]
    fn no_spelling_of_json_hides_a_secret() {
        let secrets = Secrets::new();
        let (_, token) = samples().swap_remove(1);
        let spelled = |it: char| format!("\\u{:04x}", u32::from(it));
        let all: String = token.chars().map(spelled).collect();
        let after_feed = format!("\\u000a{token}");
        let storage = format!("AccountKey={}/{}==", random(43), random(42)).replace('/', "\\/");
        let coloured = format!("\\u001b[32m{token}\\u001b[0m");
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        for text in [all, after_feed, storage, coloured] {
            // As it stands in a string, and as that does in one, and so on.
            let mut record = format!(r#"{{"a":"{text}","b":1}}"#);
            for depth in 0..4 {
                let mut counts = SecretCounts::new();
                let out = secrets.redact(record.as_bytes(), &mut counts).into_owned();
                assert_eq!(counts.values().sum::<usize>(), 1, "{depth}: {record}");
                let mut read = String::from_utf8(out).expect("text");
                for _ in 0..depth {
                    let inner: serde_json::Value = serde_json::from_str(&read).expect("JSON");
                    read = inner["in"].as_str().expect("a text").to_owned();
                }
                let value: serde_json::Value = serde_json::from_str(&read).expect("JSON");
                let left = value["a"].as_str().expect("a text");
                assert!(
                    left.contains("[redacted:") && !left.contains(&token),
                    "{left}"
                );
                record = format!(r#"{{"in":{}}}"#, quoted(&record));
            }
        }
    }

    #[test]
    fn a_key_without_its_end_goes_as_far_as_it_may_and_a_mention_is_none() {
        let begin = "-----BEGIN RSA ";
        let body = random(64);
        let cut = format!("x {begin}PRIVATE KEY-----\n{body}\n{body} and so on");
        let mut counts = SecretCounts::new();
        let out = Secrets::new()
            .redact_text(&cut, &mut counts)
            .expect("redacted");
        assert!(!out.contains(&body), "{out}");
        // A quoted text ends where it ends.
        let record = serde_json::json!({"a": cut, "b": format!("{begin}PRIVATE KEY-----"), "c": "-----END "});
        let out = Secrets::new()
            .redact_text(&record.to_string(), &mut counts)
            .expect("redacted");
        let read: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!((&read["b"], &read["c"]), (&record["b"], &record["c"]));
        assert!(!out.contains(&body), "{out}");
        assert!(kinds(&format!("grep '{begin}PRIVATE KEY-----' *.pem")).is_empty());
        // What is told of it before its body has dashes of its own.
        let head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00";
        let whole =
            format!("{begin}PRIVATE KEY-----\n{head}\n\n{body}\n-----END RSA PRIVATE KEY-----\nx");
        let out = Secrets::new()
            .redact_text(&whole, &mut counts)
            .expect("redacted");
        assert_eq!(out, "[redacted:private-key]\nx");
    }

    #[test]
    fn a_message_is_redacted_wherever_it_is_secret() {
        use crate::model::{Media, MediaSource, Role};
        let (_, token) = samples().swap_remove(1);
        let thinking = |text: String, signature: &str| Part::Thinking {
            text,
            signature: Some(signature.into()),
            provider: Some("anthropic".into()),
        };
        let message = |token: &str, signed: &str| Message {
            name: Some("bob".into()),
            ..Message::new(
                Role::Assistant,
                vec![
                    thinking("hm".into(), "EpYE"),
                    Part::Thinking {
                        text: format!("it is {token}"),
                        signature: (!signed.is_empty()).then(|| signed.into()),
                        provider: Some("anthropic".into()),
                    },
                    Part::ToolCall {
                        id: "1".into(),
                        name: "sh".into(),
                        arguments: serde_json::json!({"c": format!("echo \"{token}\"\n")})
                            .to_string(),
                        kind: None,
                    },
                    Part::ToolResult {
                        call: "1".into(),
                        content: vec![
                            Part::text(format!("{token}\n日本")),
                            Part::File(Media {
                                media_type: None,
                                name: None,
                                detail: None,
                                source: MediaSource::Url(format!("https://h/?t={token}")),
                            }),
                        ],
                        is_error: false,
                    },
                    Part::Opaque {
                        provider: "anthropic".into(),
                        data: serde_json::json!({"type": "x", "y": token}).to_string(),
                    },
                ],
            )
        };
        let mut counts = SecretCounts::new();
        let out = Secrets::new().redact_message(&message(&token, "EpYF"), &mut counts);
        assert_eq!(out, Some(message("[redacted:github-token]", "")));
        assert_eq!(counts, SecretCounts::from([("github-token", 5)]));
        assert_eq!(
            Secrets::new().redact_message(&out.expect("one"), &mut counts),
            None
        );
    }

    #[test]
    fn what_the_user_allows_is_no_secret() {
        let (_, token) = samples().swap_remove(1);
        let text = format!("GITHUB_TOKEN={token}");
        let kinds = |allowed: &str| {
            let secrets = Secrets::allowing(&[allowed]).expect("sound");
            secrets.find(text.as_bytes()).len()
        };
        assert_eq!(
            (kinds(&token[..12]), kinds("^ghp_"), kinds("^_")),
            (0, 0, 1)
        );
        // What stands beside it does not count.
        assert_eq!(kinds("GITHUB"), 1);
        let error = Secrets::allowing(&["a(b"])
            .expect_err("refused")
            .to_string();
        assert_eq!(error, "the regular expression 'a(b': unclosed group");
    }

    #[test]
    fn what_begins_like_a_secret_all_the_time_takes_linear_work() {
        let secrets = Secrets::new();
        for text in [
            "-eyJ",
            "-----BEGIN PRIVATE KEY-----",
            "://",
            "secret=\"",
            "\\u0041",
            "\\",
            "AIza",
            "-AIza",
            "AIzaSyD4x9Qm2",
            "-AIzaSyD4x9Qm2",
            "A",
        ] {
            let work = |count: usize| {
                work::BYTES.set(0);
                // The last spelling hides something, so that all is looked at twice.
                secrets.find((text.repeat(count) + "\\u0041").as_bytes());
                work::BYTES.get()
            };
            let (one, ten) = (work(2_000), work(20_000));
            // At the ends of a short text less is looked at.
            assert!(ten <= 15 * one + 100_000, "{text}: {one} {ten}");
        }
    }

    #[test]
    fn an_example_is_no_secret() {
        for text in [
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            format!("ghp_{}", "X".repeat(36)),
            "export GITHUB_TOKEN=ghp_your_token_here_0123456789abcdefghij".to_owned(),
            "OPENAI_API_KEY=your-key-goes-here-please".to_owned(),
            "token = self.metadata_total_output_tokens".to_owned(),
            "max_tokens = completion_usage_prompt_tokens_2024".to_owned(),
            "https://user:password@localhost/".to_owned(),
            "https://x-access-token:${GITHUB_TOKEN}@github.com".to_owned(),
            "Authorization: Bearer $ANTHROPIC_API_KEY_OF_MINE".to_owned(),
            "the token: 123e4567".to_owned(),
            String::new(),
        ] {
            assert_eq!(kinds(&text), [] as [&str; 0], "{text}");
        }
    }

    #[test]
    fn a_text_is_redacted_between_characters_and_stays_json() {
        let (_, token) = samples().swap_remove(1);
        let record = serde_json::json!({"text": format!("日本\t{token}\nfin"), "n": 1}).to_string();
        let mut counts = SecretCounts::new();
        let out = Secrets::new()
            .redact(record.as_bytes(), &mut counts)
            .into_owned();
        let read: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        assert_eq!(read["text"], "日本\t[redacted:github-token]\nfin");
        assert!(Secrets::new().find(&out).is_empty());
        assert!(matches!(
            Secrets::new().redact(b"plain", &mut counts),
            Cow::Borrowed(_)
        ));
    }
}
