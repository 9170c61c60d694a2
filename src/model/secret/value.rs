//! Whether a value may be secret, by its own letters: what people choose as a password, what a machine drew, and what is
//! neither: an example, a place, the name of an algorithm or a thing in a program.

use super::name::Says;
use super::{entropy, is_example, is_known};

/// What names of algorithms have in them, in lower case. They look chosen: `PBKDF2WithHmacSHA256`.
const ALGORITHMS: [&str; 24] = [
    "sha", "hmac", "aes", "base64", "utf", "oauth", "http", "crypt", "kdf", "md5", "rsa", "argon",
    "tls", "cipher", "x509", "uuid", "ipv4", "ipv6", "25519", "secp", "b64", "json", "html",
    "oidc",
];

/// For each letter those that follow it in words: 97 % of the pairs in texts, in programs and in words for passwords in other
/// languages. Of all pairs they are half.
const FOLLOWING: [&str; 26] = [
    "bcdfgiklmnprstuvwxy",
    "aceijlorsuy",
    "acehiklmoprstuy",
    "abdefilnorstuy",
    "abcdefghiklmnopqrstuvwxy",
    "adefilorstuy",
    "aeghilnorsu",
    "aeimortu",
    "abcdefgklmnoprstvxz",
    "eou",
    "aeilnsuw",
    "acdefilnopstuy",
    "abdeilmopstu",
    "acdefgiklnopstuvy",
    "abcdefgiklmnoprstuvw",
    "acdehiloprstuy",
    "u",
    "abcdefgiklmnoprstuvwy",
    "acdefghiklmnoprstuwy",
    "acdefhilmnoprstuwy",
    "abcdefgilmnoprst",
    "aeio",
    "adehinors",
    "aceipt",
    "eimnpst",
    "ei",
];

/// How numbers and the names that compilers make begin.
const NUMBERS: [&[u8]; 4] = [b"0x", b"0X", b"ZN", b"_Z"];

/// What stands in an expression of a program and in no password that is looked for.
pub(super) const OF_CODE: &[u8] = b"(){}[];|\"'<>`,";

/// How a value is written.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Written {
    /// Between quotes.
    Quoted,
    /// Behind a sign without a space, as in a file of variables, or where a command takes it.
    Tight,
    /// Otherwise: in a program it may be an expression.
    Loose,
}

/// Whether it names an algorithm.
pub(super) fn is_algorithm(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_in = |word: &&str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    ALGORITHMS.iter().any(is_in)
}

/// How many of the pairs of its letters are those of words, of 1. It takes six pairs to tell.
fn share(value: &[u8]) -> Option<f64> {
    let (mut all, mut known) = (0_u32, 0_u32);
    for &[one, two] in value.array_windows() {
        // Where a word begins in a name.
        let begins = one.is_ascii_lowercase() && two.is_ascii_uppercase();
        if one.is_ascii_alphabetic() && two.is_ascii_alphabetic() && !begins {
            let of_one = usize::from(one.to_ascii_lowercase() - b'a');
            let follows = FOLLOWING[of_one].as_bytes();
            all += 1;
            known += u32::from(follows.contains(&two.to_ascii_lowercase()));
        }
    }
    (all >= 6).then(|| f64::from(known) / f64::from(all))
}

/// Whether its letters follow each other as in no word: fewer than seven of ten pairs are those of words, or nine where small
/// letters stand alone between capitals.
pub(super) fn is_drawn(value: &[u8]) -> bool {
    let is_alone = |it: &[u8; 3]| {
        it[0].is_ascii_uppercase() && it[1].is_ascii_lowercase() && it[2].is_ascii_uppercase()
    };
    let least = if value.array_windows().any(is_alone) {
        0.9
    } else {
        0.7
    };
    share(value).is_some_and(|it| it < least)
}

/// Whether it is an example, a place, or too short for a password.
fn is_none(value: &[u8]) -> bool {
    value.len() < 8 || is_example(value) || is_known(value) || is_place(value)
}

/// Whether it is what somebody chooses as a password, in a place where nothing else stands: letters and digits that no word of
/// a language or a program has, or letters that no word has. Where other things stand as well it has digits and more turns.
pub(super) fn is_chosen(value: &[u8], is_prose: bool) -> bool {
    if is_none(value) || value.iter().any(|it| OF_CODE.contains(it)) {
        return false;
    }
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let plain = count(value, u8::is_ascii_alphanumeric);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let is_hex = value.iter().all(u8::is_ascii_hexdigit);
    let parts = parts(value);
    if is_hex || plain * 4 < value.len() * 3 || entropy(value) < 2.5 {
        return false;
    }
    if !has(u8::is_ascii_digit) {
        return !is_prose && is_mixed && is_drawn(value);
    }
    let turned = turns(value, true) + usize::from(plain < value.len());
    parts <= 2
        && (is_mixed || !is_prose && has(u8::is_ascii_alphabetic) && turns(value, false) >= 3)
        && turned >= if is_prose { 5 } else { 4 }
        || !is_prose && parts <= 3 && (is_mixed || has(is_odd)) && steps(value) >= 2
}

/// Whether it is a password where the text says that one follows: it has letters and digits, which change at least twice. A
/// name of a file, of an algorithm or of a place is none.
pub(super) fn is_told(value: &[u8]) -> bool {
    let is_of_one = |it: &u8| it.is_ascii_graphic() && !OF_CODE.contains(it) && *it != b'\\';
    if is_none(value) || value.len() > 64 || !value.iter().all(is_of_one) || is_algorithm(value) {
        return false;
    }
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    if value.first().is_some_and(|it| b":=@/".contains(it)) || value.starts_with(b"0x") {
        return false;
    }
    // It gives a name its value elsewhere.
    let is_given = value.contains(&b'=');
    if is_given && (steps(value) < 4 || !has(u8::is_ascii_digit)) {
        return false;
    }
    let ending = value.rsplit(|it| *it == b'.').next().unwrap_or_default();
    let is_file = ending.len() < value.len()
        && ending.len() <= 5
        && ending.iter().all(u8::is_ascii_lowercase);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    // A member of something in a program.
    let is_member = value.contains(&b'.')
        && !has(is_odd)
        && value
            .split(|it| *it == b'.')
            .all(|it| it.first().is_some_and(u8::is_ascii_alphabetic));
    let is_hex = value.iter().all(|it| it.is_ascii_hexdigit() || *it == b'-');
    let letters = count(value, u8::is_ascii_alphabetic);
    let parts = parts(value);
    let is_dense = value
        .array_windows()
        .any(|two: &[u8; 2]| two.iter().all(u8::is_ascii_digit));
    !is_file
        && !is_member
        && !is_hex
        && !value.contains(&b'/')
        && letters >= 3
        && parts <= 3
        && (is_mixed && (is_drawn(value) || has(is_odd) && steps(value) >= 4)
            || has(u8::is_ascii_digit)
                && steps(value) >= 2
                && (is_mixed
                    || has(is_odd)
                    || is_dense && (parts == 1 || steps(value) >= 4 && letters >= 8)))
        && entropy(value) >= 2.5
}

/// Whether it is a word and a number, as people choose a password that they remember, with what they are told to add:
/// `Summer2024!`, `maple-1937`. Many things are called so: it is one only where nothing but a password stands.
pub(super) fn is_remembered(value: &[u8]) -> bool {
    let len = |at: usize, is: fn(&u8) -> bool| value[at..].iter().take_while(|it| is(it)).count();
    // A digit may stand for a letter: `tr0mbone_1937`.
    let part = len(0, u8::is_ascii_alphanumeric);
    let is_letter = |at: usize| value.get(at).is_some_and(u8::is_ascii_alphabetic);
    let word = match part.checked_sub(1) {
        Some(last) if is_letter(0) && is_letter(last) => part,
        _ => len(0, u8::is_ascii_alphabetic),
    };
    let sign = usize::from(value.get(word).is_some_and(|it| b"_-.@#".contains(it)));
    let digits = len(word + sign, u8::is_ascii_digit);
    let end = word + sign + digits;
    let signs = len(end, is_odd);
    (4..=16).contains(&word)
        && (3..=8).contains(&digits)
        && signs <= 2
        && end + signs == value.len()
        && !is_none(value)
        && !is_algorithm(value)
}

/// The same with a number of four digits or more, where other things stand as well.
pub(super) fn is_remembered_by_year(value: &[u8]) -> bool {
    is_remembered(value) && count(value, u8::is_ascii_digit) >= 4
}

/// Whether it is a password by its letters alone, as nobody calls a thing.
pub(super) fn is_striking(value: &[u8]) -> bool {
    steps(value) >= 3 && value.iter().any(is_odd) && value.iter().any(u8::is_ascii_digit)
}

/// Whether a machine drew it, whatever stands around: small letters, capitals and digits, in no order of words.
pub(super) fn is_sure(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let is_digit = |two: &&[u8; 2]| two[0].is_ascii_digit() && !two[1].is_ascii_digit();
    let groups = value.array_windows().filter(is_digit).count();
    (12..=128).contains(&value.len())
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && value.iter().all(u8::is_ascii_alphanumeric)
        && !NUMBERS.iter().any(|it| value.starts_with(it))
        && !is_algorithm(value)
        && !is_none(value)
        && (share(value).is_some_and(|it| it < 0.7)
            || groups >= 3 && turns(value, true) * 3 >= value.len())
        && entropy(value) >= 3.0
}

/// Whether a machine drew it: letters and digits take turns as in no name, or its letters follow each other as in no word.
pub(super) fn is_random(value: &[u8]) -> bool {
    let digits = count(value, u8::is_ascii_digit);
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let least = if value.len() < 20 { 3.0 } else { 3.3 };
    let is_turned = digits >= 2 && turns(value, true) >= 4.max(value.len().min(100) / 6);
    let is_none = is_example(value) || is_known(value) || is_place(value);
    !is_none
        && entropy(value) >= least
        && (is_turned || (is_mixed || digits > 0) && is_drawn(value))
}

/// How many words there are between the signs of names and places.
fn parts(value: &[u8]) -> usize {
    value.split(|it| b"_-./:".contains(it)).count()
}

/// A sign that is chosen for a password and for no name.
fn is_odd(it: &u8) -> bool {
    b"!@#$%^&*?+~".contains(it)
}

/// How often what it is made of changes: small letters, capitals, digits, signs. The capital at the front of a word counts once.
fn steps(value: &[u8]) -> usize {
    let class = |it: u8| match it {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        _ => 3,
    };
    let steps = value.windows(2).map(|two| (class(two[0]), class(two[1])));
    steps
        .filter(|(one, two)| one != two && (*one, *two) != (1, 2))
        .count()
}

/// Whether a value that a name gives is secret.
pub(super) fn is_secret(value: &[u8], says: Says, written: Written) -> bool {
    if is_example(value) || is_known(value) || is_place(value) {
        return false;
    }
    let (letters, digits) = (
        count(value, u8::is_ascii_alphabetic),
        count(value, u8::is_ascii_digit),
    );
    let signs = count(value, |it| {
        !it.is_ascii_alphanumeric() && !b"_-./+=~:,".contains(it)
    });
    let is_hex = value.iter().all(u8::is_ascii_hexdigit);
    if letters == 0 || is_hex && value.len() < 24 {
        return false;
    }
    let is_code = signs > 0 && value.iter().any(|it| b"(){}[];,|\"'<>".contains(it));
    match says {
        Says::Pin | Says::Phrase => false,
        Says::Login => {
            value.len() >= 12 && (digits > 0 || value.ends_with(b"=")) && entropy(value) >= 3.0
        }
        // By a name of a weak kind: drawn, and long.
        Says::Weak => {
            let has = |is: fn(&u8) -> bool| value.iter().any(is);
            value.len() >= 16
                && signs == 0
                && has(u8::is_ascii_lowercase)
                && has(u8::is_ascii_uppercase)
                && digits > 0
                && parts(value) <= 3
                && (written != Written::Loose || digits >= 3 && !value.contains(&b'.'))
                && is_random(value)
        }
        // All kinds of signs, as in what somebody was told to choose.
        Says::Password
            if written != Written::Loose && (8..=64).contains(&value.len()) && signs > 0 =>
        {
            let has = |is: fn(&u8) -> bool| value.iter().any(is);
            !is_code
                && digits > 0
                && has(u8::is_ascii_lowercase)
                && has(u8::is_ascii_uppercase)
                && entropy(value) >= 2.5
        }
        _ if value.len() < 12 || says == Says::Key && value.len() < 16 => false,
        _ if signs > 0 && (is_code || written == Written::Loose) => false,
        _ if written == Written::Loose => entropy(value) >= 3.0 && turns(value, false) >= 4,
        _ => {
            let least = if value.len() < 20 || is_hex { 3.0 } else { 3.3 };
            let turns = turns(value, signs == 0);
            digits >= 2 && turns >= 4.max(value.len().min(100) / 6) && entropy(value) >= least
                || !is_code && !is_hex && is_random(value)
        }
    }
}

/// Whether it is where something is: a path, a URL, a name in a program.
pub(super) fn is_place(value: &[u8]) -> bool {
    let starts = [
        &b"/"[..],
        b"./",
        b"../",
        b"~/",
        b"http",
        b"sha",
        b"$",
        b"%(",
        b"**",
        b"file:",
        b"arn:",
        b"projects/",
        b"env",
        b"process.",
    ];
    starts.iter().any(|start| value.starts_with(start))
        || value.windows(3).any(|some| some == b"://")
        || value.starts_with(b"os.")
        || value.starts_with(b"self.")
}

pub(super) fn count(value: &[u8], is: impl Fn(&u8) -> bool) -> usize {
    value.iter().filter(|it| is(it)).count()
}

/// How often letters and digits take turns, as in what is random, and capitals and small letters where these count: `max_tokens_2024` is a name.
fn turns(value: &[u8], cases: bool) -> usize {
    let class = |it: u8| match it {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' if cases => 1,
        _ if it.is_ascii_alphabetic() => 2,
        _ => 3,
    };
    let turns = value.windows(2).map(|two| (class(two[0]), class(two[1])));
    turns
        .filter(|(one, two)| one != two && *one != 3 && *two != 3)
        .count()
}
