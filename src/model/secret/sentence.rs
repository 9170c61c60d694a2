//! The password, key or token that a sentence tells: `Das Passwort für den Server lautet X`, `la contraseña es X`, `密码是 X`.

use std::ops::Range;

use super::name::{Name, Says};
use super::value::{is_random, is_remembered_by_year, is_striking, is_told};
use super::{begins_alone, entropy, feed, is_example, run};

/// What says that the next word is it, or one of the next.
const TELLERS: [&str; 52] = [
    "is",
    "was",
    "are",
    "be",
    "to",
    "now",
    "being",
    "equals",
    "reads",
    "becomes",
    "=",
    "-",
    "–",
    "—",
    "->",
    "→",
    "es",
    "era",
    "est",
    "c'est",
    "sera",
    "auf",
    "sur",
    "ist",
    "lautet",
    "brzmi",
    "zní",
    "lyder",
    "heisst",
    "like",
    "heißt",
    "war",
    "é",
    "è",
    "será",
    "sarà",
    "jest",
    "är",
    "er",
    "je",
    "olan",
    "là",
    "van",
    "on",
    "este",
    "это",
    "—",
    "будет",
    "bude",
    "az",
    "now:",
    "als",
];
/// What is done to a text so many times.
const PASSES: [&[u8]; 6] = [
    b"two-pass",
    b"one-pass",
    b"single-pass",
    b"multi-pass",
    b"first-pass",
    b"second-pass",
];
/// A key that is told is longer.
const LEAST_KEY: usize = 20;
/// A shorter one looks like a password, too.
const LEAST_TOLD_KEY: usize = 12;
/// How many words a sentence may have between a word for a password and the password, and how many behind what says that it follows.
const WORDS: usize = 12;
const TOLD_WORDS: usize = 3;
/// How far to look, in bytes.
const REACH: usize = 160;

/// The value that is told behind a name.
pub(super) fn told(text: &[u8], name: &Name) -> Option<Range<usize>> {
    let Range { start, end } = name.place;
    let is_of_name = |it: &u8| it.is_ascii_alphanumeric() || b"_-.".contains(it);
    if !name.is_uncut
        && (!begins_alone(text, start)
            || text
                .get(end)
                .is_some_and(|it| is_of_name(it) && *it != b'.'))
    {
        return None;
    }
    let spelled = &text[start..end];
    let is_word =
        !spelled.contains(&b'.') && !PASSES.iter().any(|it| spelled.eq_ignore_ascii_case(it));
    if !is_word || name.says == Says::Login || text.get(end) == Some(&b'(') {
        return None;
    }
    if name.says == Says::Phrase {
        return phrase(text, end);
    }
    let last = &text[start..end].to_ascii_lowercase();
    let is_access = [
        "creds",
        "credentials",
        "login",
        "logins",
        "auth",
        "identifiants",
        "zugangsdaten",
    ]
    .map(str::as_bytes)
    .iter()
    .any(|it| last.ends_with(it));
    let is_it = |value: &[u8]| match name.says {
        Says::Pin => {
            (4..=8).contains(&value.len())
                && value.iter().all(u8::is_ascii_digit)
                && !is_example(value)
        }
        _ if is_access || name.says == Says::Password => is_told(value),
        _ if value.len() < LEAST_KEY => {
            value.len() >= LEAST_TOLD_KEY
                && is_told(value)
                && is_random(value)
                && !value.contains(&b'.')
        }
        _ if value.iter().all(u8::is_ascii_hexdigit) => value.len() >= 32 && entropy(value) >= 3.5,
        _ => {
            value.len() >= LEAST_KEY
                && is_random(value)
                && value
                    .iter()
                    .all(|it| is_of_name(it) || b"+/=~".contains(it))
        }
    };
    let most = text.len().min(end + REACH);
    let mut at = end;
    if name.is_uncut {
        // What stands between is a particle.
        at += run(&text[at..most], 24, |it| {
            !it.is_ascii() || b" :=\\\"'`".contains(&it)
        });
        let place = bare(text, at, word_end(text, at, most))?;
        let value = &text[place.clone()];
        return (is_it(value) || is_remembered_by_year(value)).then_some(place);
    }
    at += run(&text[at..most], 4, |it| b"*`)".contains(&it));
    let mut left = if is_access { TOLD_WORDS + 1 } else { 0 };
    for index in 0..WORDS {
        if at >= most {
            return None;
        }
        at += run(&text[at..most], 4, |it| it == b' ');
        if at >= most || feed(&text[at..]) > 0 || is_end(text, at) {
            return None;
        }
        let stop = word_end(text, at, most);
        let word = &text[at..stop];
        let is_quoted = matches!(word, [b'"' | b'\'' | b'`' | b'\\', ..])
            || ["«", "“", "„", "‘", "‹", "「"]
                .iter()
                .any(|it| word.starts_with(it.as_bytes()));
        if let Some(place) = bare(text, at, stop).map(|it| behind_user(text, it))
            && (left > 0
                || index == 0 && name.says != Says::Pin
                // Programs are written in English.
                || !spelled.is_ascii()
                || is_quoted
                || is_striking(&text[place.clone()]))
            && (is_it(&text[place.clone()])
                || (left == TOLD_WORDS || index == 0 || is_quoted || !spelled.is_ascii())
                    && name.says == Says::Password
                    && is_remembered_by_year(&text[place.clone()]))
            && !goes_on(text, place.end)
            && (is_quoted || !is_argument(text, name, &place))
        {
            return Some(place);
        }
        let lower = word.to_ascii_lowercase();
        let tells = lower.ends_with(b":") || is_access && lower == b"/";
        left = match tells || TELLERS.iter().any(|it| it.as_bytes() == lower) {
            true => TOLD_WORDS,
            false => usize::saturating_sub(left, 1),
        };
        // A quotation mark, or a mark of a prompt, that stands by itself.
        if word.len() <= 3 && word.iter().all(|it| !it.is_ascii()) {
            left += TOLD_WORDS;
        }
        // A bracket that was opened before the name: a list of a program.
        if word.contains(&b')') && !text[end..stop].contains(&b'(') {
            return None;
        }
        // The end of a statement.
        if word.ends_with(b";") {
            return None;
        }
        // The end of a sentence before one.
        if word.ends_with(b".") && left == 0 || stop == at {
            return None;
        }
        at = stop;
    }
    None
}

/// The words of a wallet behind their name: twelve or more, of small letters, none of them an article or the like.
fn phrase(text: &[u8], end: usize) -> Option<Range<usize>> {
    let signs = run(&text[end..], 12, |it| {
        b":=\"'`\\ (".contains(&it) || it == b'i' || it == b's'
    });
    let start = end + signs + feed(&text[end + signs..]);
    let (mut at, mut words) = (start, 0);
    loop {
        let len = run(&text[at..], 12, |it| it.is_ascii_lowercase());
        let word = &text[at..at + len];
        if !(3..=8).contains(&len)
            || [&b"the"[..], b"and", b"for", b"are", b"that", b"with"].contains(&word)
        {
            break;
        }
        words += 1;
        at += len;
        if text.get(at) != Some(&b' ') || words == 24 {
            break;
        }
        at += 1;
    }
    let place = start..at - usize::from(at > start && text[at - 1] == b' ');
    (words >= 12).then_some(place)
}

/// Where a word ends: at a blank or a line feed.
fn word_end(text: &[u8], at: usize, most: usize) -> usize {
    let len = (at..most).take_while(|it| {
        text[*it] != b' '
            && text[*it] != b'\t'
            && (text[*it] != b'\\' && text[*it] != b'\n' && text[*it] != b'\r'
                || feed(&text[*it..]) == 0)
    });
    let end = at + len.count();
    // What was not looked at belongs to it.
    end + if end == most {
        run(&text[end..], 64, |it| it.is_ascii_graphic())
    } else {
        0
    }
}

/// Whether it is the type of an argument: `credentials: Config2,`.
fn is_argument(text: &[u8], name: &Name, value: &Range<usize>) -> bool {
    let Range { start, end } = name.place;
    text.get(end) == Some(&b':')
        && text[start].is_ascii_lowercase()
        && matches!(text.get(value.end), Some(b',' | b')' | b';'))
        && !is_striking(&text[value.clone()])
}

/// Whether a text of JSON ends here, or a sentence where a program goes on.
fn is_end(text: &[u8], at: usize) -> bool {
    matches!(
        &text[at..],
        [b'"', b',' | b'}' | b']' | b':', ..] | [b'"'] | [b'{' | b'|' | b'<' | b';' | b'[', ..]
    )
}

/// A word without the marks around it.
fn bare(text: &[u8], mut start: usize, mut end: usize) -> Option<Range<usize>> {
    start += run(&text[start..end], 12, |it| {
        b"\\\"'`*_([".contains(&it) || !it.is_ascii()
    });
    let len = run(&text[start..end], 128, |it| {
        it.is_ascii_graphic() && !b"\"'`\\()[]{}<>,;|".contains(&it)
    });
    end = start + len;
    let marks = text[start..end].iter().rev();
    end -= marks.take_while(|it| b"*_.:".contains(it)).count();
    (start < end).then_some(start..end)
}

/// The password of `user:password`, or the whole.
pub(super) fn behind_user(text: &[u8], place: Range<usize>) -> Range<usize> {
    let colon = memchr::memchr(b':', &text[place.clone()]);
    match colon {
        Some(at) if at > 0 && at + 1 < place.len() => place.start + at + 1..place.end,
        _ => place,
    }
}

/// Whether what stands behind a value makes it a piece of something else: a path, a call, a name of a member.
fn goes_on(text: &[u8], end: usize) -> bool {
    match &text[end..] {
        [b'.', next, ..] => next.is_ascii_alphanumeric(),
        [b' ', b'=' | b'{', ..] | [b')', b'(', ..] => true,
        [next, ..] => b"([{<=:".contains(next),
        [] => false,
    }
}
