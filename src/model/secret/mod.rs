//! Secrets in text: keys, tokens and passwords, known by the forms that their issuers document.
//!
//! Works on text as it stands and on JSON's own spelling of it, however deep one text is quoted in
//! another: what stands before a secret may be the `n` of a line feed, and `\u002f` is a slash. What is
//! plainly an example (`AKIAIOSFODNN7EXAMPLE`, `ghp_XXXX…`, `$TOKEN`) is none. Deliberately absent: what
//! is done about a secret, and secrets of no form, which nothing finds.

mod columns;
mod commands;
mod forms;
mod given;
mod name;
mod needles;
mod people;
mod sentence;
mod tokens;
mod url;
mod value;

pub use people::{PERSONAL, People};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};

use crate::error::{Error, Result};
use crate::model::{Message, Part};

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What it is, as `[redacted:KIND]` names it: `aws-access-key`.
    pub kind: &'static str,
    /// Where it stands, in bytes. It begins and ends between ASCII characters.
    pub place: Range<usize>,
    /// What stands in its place, where that is another name.
    name: Option<String>,
}

impl Secret {
    /// What stands in its place: `[redacted:KIND]`, or another name of whoever it is.
    pub fn stand_in(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => format!("[redacted:{}]", self.kind),
        }
    }
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
    /// `[redacted:KIND]` leaves in their place, or another name of whoever it is.
    Redacted(&'a Secrets),
}

impl<'a> Leaving<'a> {
    /// A name of a ref or a file as it leaves: [`Secrets::renamed`].
    pub fn renamed(&self, name: &str) -> Option<String> {
        match self {
            Self::Redacted(secrets) => secrets.renamed(name),
            Self::Allowed | Self::Refused(_) => None,
        }
    }

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
    needles: needles::Needles,
    rules: Vec<Rule>,
    /// What the user says is no secret.
    allowed: Vec<Regex>,
    /// What may follow where a private key has no end.
    key_body: Regex,
    /// Who and where, if that is to go as well.
    people: Option<Box<people::Known>>,
}

/// How a secret of one kind is known.
#[derive(Debug)]
struct Rule {
    kind: &'static str,
    needles: Vec<&'static str>,
    how: How,
}

/// What looks at a text, given where a needle is, and adds what is secret there.
type Look = fn(&[u8], usize, &mut Vec<Range<usize>>);

#[derive(Debug)]
enum How {
    Form(Form),
    /// By what stands before it.
    Before(Look),
}

/// A line of [`forms::FORMS`].
#[derive(Debug)]
struct Form {
    reach: (usize, usize),
    entropy: f64,
    pattern: &'static str,
    /// The pattern once somebody needed it: most texts need few.
    regex: OnceLock<Regex>,
}

/// Spellings of a character in JSON that is none of the usual: where one stands, the text is looked at without them, too.
const HIDING: [&str; 2] = ["\\u", "\\/"];

/// What a private key may take, in bytes.
const KEY_BYTES: usize = 32 << 10;

/// What stands in an example and hardly ever in a secret, in lower case.
const EXAMPLES: [&str; 24] = [
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
    "...",
    "${",
    "$(",
    "{{",
    "{}",
    "%s",
    "placehold",
    "insert",
    "mytoken",
    "redact",
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

/// Up to this entropy nothing but a password stands in the form.
const CERTAIN: f64 = 2.5;
/// From this entropy on a form of passwords stands where other things stand, too.
const LOOSE: f64 = 3.0;
/// A shorter line of a secret tells nothing of it, and may be a word.
const LEAST_PIECE: usize = 6;

/// What is found farther behind its name has other names before it.
const NEAR: usize = 64;

/// What stands in a secret's place begins so.
const MARK: &[u8] = b"[redacted:";
/// The most bytes of what stands in a secret's place.
const MARK_BYTES: usize = 48;

/// Whether a place overlaps what stands for a secret that was taken out: in `https://[redacted:github-token]@host` the
/// kind is no password.
fn is_marked(text: &[u8], place: &Range<usize>) -> bool {
    let from = place.start.saturating_sub(MARK_BYTES);
    let marks = memmem::find_iter(&text[from..place.end], MARK);
    marks.map(|at| from + at).any(|at| {
        let rest = &text[at..text.len().min(at + MARK_BYTES)];
        rest.iter()
            .position(|it| *it == b']')
            .is_some_and(|len| at + len >= place.start)
    })
}

impl Secrets {
    /// All that is known.
    pub fn new() -> Self {
        let before = |kind, needles: &[&'static str], look: Look| Rule {
            kind,
            needles: needles.to_vec(),
            how: How::Before(look),
        };
        let forms = forms::FORMS.lines().chain(commands::COMMANDS.lines());
        let forms = forms.filter(|line| !line.is_empty());
        let mut rules: Vec<Rule> = forms.map(Rule::of).collect();
        rules.push(before("private-key", &["-----END "], |text, at, found| {
            found.extend(key_before(text, at));
        }));
        rules.push(before("url-password", &["://"], |text, at, found| {
            found.extend(url::password(text, at));
        }));
        rules.push(before("token", &tokens::needles(), tokens::token));
        rules.push(before("password", &name::NEEDLES, given::values));
        let all = rules.iter().enumerate();
        let all = all.flat_map(|(at, rule)| rule.needles.iter().map(move |it| (*it, Some(at))));
        let needles = needles::Needles::of(all.chain(HIDING.map(|it| (it, None))));
        Self {
            needles,
            rules,
            allowed: Vec::new(),
            key_body: compile(r"^(?:[A-Za-z0-9+/=\s]|\\+[nrt])*"),
            people: None,
        }
    }

    /// The same, which also finds who and where: logins, homes, hosts, mail addresses and the names beside these. Each
    /// person has one other name, whatever the spelling; who was not met is `someone`.
    #[must_use]
    pub fn anonymous(mut self, people: &People) -> Self {
        self.people = Some(Box::new(people::Known::of(people)));
        self
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
        let mut met = self.met(text);
        if self.look(text, &mut found) {
            let (plain, places) = plain(text);
            let mut hidden = Vec::new();
            self.look(&plain, &mut hidden);
            found.extend(
                hidden
                    .into_iter()
                    .map(|(rule, place)| (rule, places[place.start]..places[place.end])),
            );
            met.extend(self.met(&plain).into_iter().map(|it| people::Met {
                place: places[it.place.start]..places[it.place.end],
                ..it
            }));
        }
        // Where two overlap, the earlier rule is the one that knows more.
        found.sort_by_key(|(rule, place)| (*rule, place.start, place.end));
        met.sort_by_key(|it| (it.rank, it.place.start, it.place.end));
        let secrets = found.into_iter().map(|(rule, place)| Secret {
            kind: self.rules[rule].kind,
            place,
            name: None,
        });
        let met = met.into_iter().map(|it| Secret {
            kind: it.kind,
            place: it.place,
            name: Some(it.name),
        });
        let mut kept: BTreeMap<usize, Secret> = BTreeMap::new();
        for secret in secrets.chain(met) {
            let place = &secret.place;
            let before = kept.range(..place.end).next_back();
            if before.is_none_or(|(_, other)| other.place.end <= place.start) {
                kept.insert(place.start, secret);
            }
        }
        kept.into_values().collect()
    }

    /// Who and where, if that is looked for.
    fn met(&self, text: &[u8]) -> Vec<people::Met> {
        let Some(known) = &self.people else {
            return Vec::new();
        };
        let mut met = known.find(text);
        met.retain(|it| !self.is_allowed(text, &it.place) && !is_marked(text, &it.place));
        met
    }

    /// Whether the user says that this is no secret.
    fn is_allowed(&self, text: &[u8], place: &Range<usize>) -> bool {
        let mut allowed = self.allowed.iter();
        allowed.any(|it| it.is_match(&text[place.clone()]))
    }

    /// Adds how many secrets of each kind a text holds.
    pub fn count(&self, text: &[u8], counts: &mut SecretCounts) {
        for secret in self.find(text) {
            *counts.entry(secret.kind).or_default() += 1;
        }
    }

    /// A piece of a text without the text's secrets, which nothing knows by the piece: a line of a key, say. None where it
    /// has none of them.
    pub fn redact_piece(&self, whole: &str, piece: &str) -> Option<String> {
        let mut out = piece.to_owned();
        for secret in self.find(whole.as_bytes()) {
            let stand_in = secret.stand_in();
            for line in whole[secret.place].lines().map(str::trim) {
                if line.len() >= LEAST_PIECE {
                    out = out.replace(line, &stand_in);
                }
            }
        }
        (out != piece).then_some(out)
    }

    /// Adds how many marks of each kind a text holds, which stand where secrets were.
    pub fn count_marks(&self, text: &str, counts: &mut SecretCounts) {
        for rest in text.split("[redacted:").skip(1) {
            let kind = rest.split(']').next().unwrap_or_default();
            if let Some(rule) = self.rules.iter().find(|rule| rule.kind == kind) {
                *counts.entry(rule.kind).or_default() += 1;
            }
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
            out.extend_from_slice(secret.stand_in().as_bytes());
            from = secret.place.end;
            *counts.entry(secret.kind).or_default() += 1;
        }
        out.extend_from_slice(&text[from..]);
        Cow::Owned(out)
    }

    /// A name of a ref or a file with other names for whom it names; none where it names nobody. Secrets stay: no mark of
    /// one can stand there.
    pub fn renamed(&self, name: &str) -> Option<String> {
        let mut out = name.to_owned();
        let met = self.find(name.as_bytes()).into_iter();
        let met: Vec<Secret> = met.filter(|it| it.name.is_some()).collect();
        for secret in met.iter().rev() {
            out.replace_range(secret.place.clone(), &secret.stand_in());
        }
        (!met.is_empty()).then_some(out)
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
        // Rather nothing of it than what somebody wanted out.
        let nothing = |_| Message::text(message.role, "[redacted]");
        let mut redacted = Message::from_canonical(&canonical).unwrap_or_else(nothing);
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
        let mut places = Vec::new();
        self.needles.each(text, |at, _, rule| {
            let Some(rule) = rule else {
                hides |= spelled(&text[at + 1..]).is_some_and(|(it, _)| !it.is_control());
                return;
            };
            if at < done[rule] {
                return;
            }
            places.clear();
            match &self.rules[rule].how {
                How::Form(form) => places.extend(self.form(rule, form, text, at)),
                How::Before(look) => look(text, at, &mut places),
            }
            done[rule] = match places[..] {
                [ref place] if place.start < at + NEAR => place.end,
                _ => at + 1,
            };
            for place in &mut places {
                place.start += spelled_before(text, place.start);
            }
            places.retain(|place| {
                place.start < place.end && !self.is_allowed(text, place) && !is_marked(text, place)
            });
            found.extend(places.drain(..).map(|it| (rule, it)));
        });
        hides
    }

    /// Looks around a needle for one form.
    fn form(&self, rule: usize, form: &Form, text: &[u8], needle: usize) -> Option<Range<usize>> {
        if form.reach.0 == 0 && !begins_alone(text, needle) {
            return None;
        }
        let kind = self.rules[rule].kind;
        let from = needle.saturating_sub(form.reach.0);
        let window = &text[from..text.len().min(needle + form.reach.1)];
        work::looked_at(window.len());
        let regex = form.regex();
        // What is found before it is another's.
        let is_here = |it: &regex::bytes::Match| it.end() + from > needle;
        let start = regex.find_iter(window).find(is_here)?.start();
        let held = regex.captures_at(window, start)?;
        let whole = held.get(0).expect("a match has a whole");
        let secret = held.iter().skip(1).flatten().next().unwrap_or(whole);
        let place = from + secret.start()..from + secret.end();
        let Range { start, mut end } = of_letters(text, place);
        if kind == "private-key" {
            end = self.key_end(text, end);
        }
        // What is none by its beginning is looked at no further: it may go on for long.
        if !begins_alone(text, from + whole.start()) || !form.is_real(kind, &text[start..end]) {
            return None;
        }
        if kind != "private-key" && secret.end() == window.len() {
            let goes_on = |it: &&u8| it.is_ascii_alphanumeric() || b"_-".contains(it);
            end += text[end..].iter().take_while(goes_on).count();
            work::looked_at(end - start);
        }
        ends_alone(text, end).then_some(start..end)
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

/// What is left of a private key before its last line, which begins at `at`; its beginning was cut off.
fn key_before(text: &[u8], at: usize) -> Option<Range<usize>> {
    let line = &text[at + 9..text.len().min(at + 80)];
    let name = memmem::find(line, b"-----").map(|end| &line[..end])?;
    if !name.ends_with(b"PRIVATE KEY") && !name.ends_with(b"PRIVATE KEY BLOCK") {
        return None;
    }
    // Base64 in lines, which may be numbered, quoted or marked as added.
    let is_of_it = |it: &&u8| it.is_ascii_alphanumeric() || b"+/=\\ \t\r\n>|".contains(it);
    let room = &text[at.saturating_sub(KEY_BYTES)..at];
    let len = room.iter().rev().take_while(is_of_it).count();
    work::looked_at(len);
    // It begins with the first long run: what is told before it has words.
    let body = &text[at - len..at];
    let is_letter = |it: &u8| it.is_ascii_alphanumeric() || b"+/=".contains(it);
    let mut runs = body.split(|it| !is_letter(it));
    let first = runs.find(|run| run.len() >= 24)?;
    let mut start = body
        .as_ptr_range()
        .start
        .addr()
        .abs_diff(first.as_ptr().addr())
        + at
        - len;
    // The letter of `\n` before it.
    if start > 0 && text[start - 1] == b'\\' && b"nrt".contains(&text[start]) {
        start += 1;
    }
    let held = &text[start..at];
    let letters = held.iter().filter(|it| is_letter(it)).count();
    let end = at + 9 + name.len() + 5;
    (letters >= 40 && entropy(held) >= 4.0).then_some(start..end)
}

/// The text with its characters as themselves wherever JSON spells them otherwise, and where each of its bytes begins in
/// the text; last, where it ends.
fn plain(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut out, mut places) = (
        Vec::with_capacity(text.len()),
        Vec::with_capacity(text.len()),
    );
    let (mut at, mut letters) = (0, [0; 4]);
    while at < text.len() {
        let quotes = text[at..].iter().take_while(|it| **it == b'\\').count();
        work::looked_at(1 + quotes);
        match spelled(&text[at + quotes..]) {
            Some((letter, len)) if quotes > 0 => {
                let letter = letter.encode_utf8(&mut letters);
                out.extend_from_slice(letter.as_bytes());
                places.extend(std::iter::repeat_n(at, letter.len()));
                at += quotes + len;
            }
            // All of them stand for themselves, and are looked at once.
            _ if quotes > 0 => {
                out.extend(std::iter::repeat_n(b'\\', quotes));
                places.extend(at..at + quotes);
                at += quotes;
            }
            _ => {
                out.push(text[at]);
                places.push(at);
                at += 1;
            }
        }
    }
    places.push(at);
    (out, places)
}

/// The character that JSON spells so behind its backslashes, however many, and how long the spelling is. Half of a pair is
/// none: no rule looks for one.
fn spelled(text: &[u8]) -> Option<(char, usize)> {
    match text {
        [b'/', ..] => Some(('/', 1)),
        [b'u', digits @ ..] => {
            let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
            let is_number = digits.bytes().all(|it| it.is_ascii_hexdigit());
            let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_number)?;
            Some((char::from_u32(number)?, 5))
        }
        _ => None,
    }
}

/// How many bytes from here on are of JSON's spelling of a character that begins before them: `u0000` of `\u0000`, `n` of `\n`.
/// What a letter's spelling hides is found where that letter is read, so that then nothing is left.
fn spelled_before(text: &[u8], start: usize) -> usize {
    if text[..start].last() != Some(&b'\\') {
        return 0;
    }
    let digits = text[start..].get(1..5);
    let is_number = digits.is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit));
    match text[start..].first() {
        // Half of a pair is read nowhere.
        Some(b'u') if is_number => match spelled(&text[start..]) {
            Some((it, _)) if !it.is_control() => text.len(),
            _ => 5,
        },
        Some(b'n' | b'r' | b't' | b'b' | b'f') => 1,
        _ => 0,
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

/// A form is one of bytes, unless letters of another alphabet stand in it: to make it takes a third of the time.
fn compile_form(pattern: &str) -> Regex {
    let of_bytes = RegexBuilder::new(pattern)
        .unicode(!pattern.is_ascii())
        .build();
    of_bytes.expect("a form's pattern is sound")
}

/// The same stretch of a text, with the whole of the letters at its ends.
fn of_letters(text: &[u8], Range { mut start, mut end }: Range<usize>) -> Range<usize> {
    let is_within = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    while start > 0 && is_within(start) {
        start -= 1;
    }
    while is_within(end) {
        end += 1;
    }
    start..end
}

impl Rule {
    /// What a line of [`forms::FORMS`] says.
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
            how: How::Form(Form {
                reach: (bytes(before), bytes(behind)),
                entropy: entropy.parse().expect("a number of bits"),
                pattern,
                regex: OnceLock::new(),
            }),
        }
    }
}

impl Form {
    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| {
            let values = commands::VALUES.into_iter();
            let pattern = values.fold(self.pattern.to_owned(), |pattern, (mark, value)| {
                pattern.replace(mark, value)
            });
            match self.reach.0 {
                0 => compile_form(&format!("^(?:{pattern})")),
                _ => compile_form(&pattern),
            }
        })
    }

    /// Whether it is no example.
    fn is_real(&self, kind: &str, secret: &[u8]) -> bool {
        if kind == "private-key" {
            let begin = memmem::find(secret, b"KEY").map_or(0, |at| at + 3);
            let body = &secret[begin..];
            let letters = body.iter().filter(|it| it.is_ascii_alphanumeric()).count();
            return letters >= 64 && entropy(body) >= self.entropy;
        }
        if kind == "session-cookie" {
            let is_hex = secret.iter().all(u8::is_ascii_hexdigit);
            return secret.len() >= 16
                && entropy(secret) >= self.entropy
                && (value::is_random(secret) || is_hex && secret.len() >= 24);
        }
        if kind == "password" {
            let is_loose = self.entropy >= LOOSE;
            return entropy(secret) >= self.entropy
                && (value::is_chosen(secret, is_loose)
                    || (!is_loose || value::is_striking(secret)) && value::is_told(secret)
                    || (self.entropy <= CERTAIN
                        || secret.ends_with(b"!")
                        || secret.ends_with(b"$"))
                        && value::is_remembered(secret))
                && !(is_loose && value::is_algorithm(secret));
        }
        entropy(secret) >= self.entropy && !is_example(secret) && !is_known(secret)
    }
}

/// Whether it holds what stands in an example and hardly ever in a secret.
fn is_example(secret: &[u8]) -> bool {
    let lower = secret.to_ascii_lowercase();
    let has = |needle: &&str| memmem::find(&lower, needle.as_bytes()).is_some();
    EXAMPLES.iter().any(has)
}

/// Whether everybody knows it.
fn is_known(secret: &[u8]) -> bool {
    let has = |known: &&str| memmem::find(secret, known.as_bytes()).is_some();
    KNOWN.iter().any(has)
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

/// Blanks at the front, in bytes.
fn blanks(text: &[u8], most: usize) -> usize {
    run(text, most, |it| it == b' ' || it == b'\t')
}

/// A line feed at the front, in JSON's spelling as well, and the blanks of the next line, in bytes.
fn feed(text: &[u8]) -> usize {
    let slashes = run(text, 8, |it| it == b'\\');
    let len = match &text[slashes..] {
        [b'\n', ..] if slashes == 0 => 1,
        [b'r', rest @ ..] if slashes > 0 => {
            let more = run(rest, 8, |it| it == b'\\');
            slashes
                + 1
                + if more > 0 && rest.get(more) == Some(&b'n') {
                    more + 1
                } else {
                    0
                }
        }
        [b'n', ..] if slashes > 0 => slashes + 1,
        [b'\r', b'\n', ..] => 2,
        _ => return 0,
    };
    len + blanks(&text[len..], 40)
}

/// How many bytes at the front, of so many.
fn run(text: &[u8], most: usize, goes_on: impl Fn(u8) -> bool) -> usize {
    let some = &text[..text.len().min(most)];
    some.iter().take_while(|it| goes_on(**it)).count()
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
mod combined;
#[cfg(test)]
mod kinds;
#[cfg(test)]
mod passed;
#[cfg(test)]
mod tests;
