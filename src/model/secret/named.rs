//! What is secret by what stands before it: a name (`API_KEY=…`, `"clientSecret": "…"`, `--token …`) or, in a URL, a user.
//!
//! A value here has no form, so that it must look random, or be a password in a place where nothing else stands.
//! Deliberately absent: passwords in a sentence.

use std::ops::Range;

use super::{entropy, is_example, is_known};

/// What a name ends with, as far as it is needed to notice one.
pub(super) const NAMES: [&str; 26] = [
    "assw",
    "ASSW",
    "ecret",
    "ECRET",
    "oken",
    "OKEN",
    "pwd",
    "Pwd",
    "PWD",
    "_pass",
    "_PASS",
    "assphrase",
    "ASSPHRASE",
    "redential",
    "REDENTIAL",
    "_auth",
    "apikey",
    "api_key",
    "_key",
    "-key",
    "Key",
    "KEY",
    "-Key",
    "api-key",
    "onnectionString",
    "CONNECTION_STRING",
];

/// The words before `key` that make it a secret one.
const KEYS: [&str; 40] = [
    "api",
    "access",
    "secret",
    "private",
    "encryption",
    "encrypt",
    "signing",
    "sign",
    "master",
    "client",
    "auth",
    "account",
    "shared",
    "app",
    "application",
    "license",
    "licence",
    "service",
    "server",
    "storage",
    "subscription",
    "admin",
    "role",
    "deploy",
    "webhook",
    "cipher",
    "aes",
    "hmac",
    "jwt",
    "consumer",
    "function",
    "root",
    "ingest",
    "write",
    "rest",
    "integration",
    "crypt",
    "search",
    "security",
    "project",
];

/// The words before `KEY` that make it no secret, though the name is written like a variable of an environment.
const OPEN_KEYS: [&str; 14] = [
    "public",
    "primary",
    "foreign",
    "sort",
    "partition",
    "cache",
    "idempotency",
    "index",
    "lookup",
    "hash",
    "routing",
    "object",
    "group",
    "dedup",
];

/// The words before `token` that make it no secret.
const OPEN_TOKENS: [&str; 25] = [
    "project",
    "next",
    "page",
    "pagination",
    "continuation",
    "sync",
    "cursor",
    "stop",
    "eos",
    "bos",
    "pad",
    "unk",
    "mask",
    "prompt",
    "max",
    "total",
    "input",
    "output",
    "cached",
    "skip",
    "resume",
    "progress",
    "per",
    "sep",
    "cancellation",
];

/// What may follow in a name.
const ENDINGS: [&str; 14] = [
    "base",
    "value",
    "b64",
    "base64",
    "prod",
    "production",
    "live",
    "test",
    "dev",
    "staging",
    "old",
    "new",
    "hex",
    "default",
];

/// Words of a name that only shows how something looks.
const SHOWN: [&str; 5] = ["example", "sample", "dummy", "fake", "mock"];

/// The longest value.
const VALUE: usize = 4096;

/// How a value is written.
#[derive(Clone, Copy, PartialEq)]
enum Written {
    /// Between quotes.
    Quoted,
    /// Behind `=` without a space, as in a file of variables.
    Tight,
    /// Otherwise: in a program it may be an expression.
    Loose,
}

/// What a name says of its value.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Password,
    Key,
    /// Base64 of a user and a password.
    Login,
}

/// The value of the name that has a needle at `at`.
pub(super) fn value(text: &[u8], at: usize) -> Option<Range<usize>> {
    let (name, says) = name(text, at)?;
    let is_flag = text[..name.start].ends_with(b"--");
    let mut from = name.end;
    from += run(&text[from..], 8, |it| b"\\\"'`])".contains(&it));
    let spaces = run(&text[from..], 3, |it| it == b' ' || it == b'\t');
    let operator = operator(&text[from + spaces..]);
    if operator == 0 && !(is_flag && spaces > 0) {
        return None;
    }
    from += spaces + operator;
    let spaces_behind = run(&text[from..], 3, |it| it == b' ' || it == b'\t');
    from += spaces_behind;
    let quotes = run(&text[from..], 8, |it| b"\\\"'`".contains(&it));
    let quote = text[from..from + quotes]
        .last()
        .copied()
        .filter(|it| *it != b'\\');
    from += quotes;
    let written = match quote {
        Some(_) => Written::Quoted,
        None if spaces + spaces_behind == 0 || is_flag => Written::Tight,
        None => Written::Loose,
    };
    let goes_on = |it: u8| match written {
        Written::Quoted => it.is_ascii_graphic() && Some(it) != quote && it != b'\\',
        Written::Tight => it.is_ascii_alphanumeric() || b"!@#$%^&*?+/_~.-".contains(&it),
        Written::Loose => it.is_ascii_alphanumeric() || b"+/_~.-".contains(&it),
    };
    // Base64 ends with signs that give a name its value elsewhere.
    let len = run(&text[from..], VALUE, goes_on);
    let value = from..from + len + run(&text[from + len..], 2, |it| it == b'=');
    let next = text.get(value.end).copied();
    // A call, an index, a word that goes on.
    if next.is_some_and(|it| !it.is_ascii() || quote.is_none() && b"([{<:".contains(&it)) {
        return None;
    }
    is_secret(&text[value.clone()], says, written).then_some(value)
}

/// How many bytes at the front, of so many.
fn run(text: &[u8], most: usize, goes_on: impl Fn(u8) -> bool) -> usize {
    let some = &text[..text.len().min(most)];
    some.iter().take_while(|it| goes_on(**it)).count()
}

/// How long the sign is that gives a name its value.
fn operator(text: &[u8]) -> usize {
    let signs: [&[u8]; 8] = [b"=>", b":=", b"==", b": str =", b"=", b":", b">", b", "];
    let found = signs.iter().find(|sign| text.starts_with(sign));
    found.map_or(0, |sign| sign.len())
}

/// The whole name around a needle, and what it says.
fn name(text: &[u8], at: usize) -> Option<(Range<usize>, Says)> {
    let is_of_name = |it: &u8| it.is_ascii_alphanumeric() || b"_-.".contains(it);
    let mut start = at
        - text[at.saturating_sub(48)..at]
            .iter()
            .rev()
            .take_while(|it| is_of_name(it))
            .count();
    let end = at + run(&text[at..], 48, |it| is_of_name(&it));
    // The end of `\n` before it, and of a flag's dashes.
    if start > 0
        && text[start - 1] == b'\\'
        && text.get(start).is_some_and(|it| b"nrt".contains(it))
    {
        start += 1;
    }
    start += run(&text[start..end], 2, |it| it == b'-');
    let words = words(&text[start..end]);
    let mut words: &[String] = &words;
    while let [before @ .., last] = words
        && (ENDINGS.contains(&last.as_str()) || last.bytes().all(|it| it.is_ascii_digit()))
    {
        words = before;
    }
    if words.iter().any(|word| SHOWN.contains(&word.as_str())) {
        return None;
    }
    let (last, before) = words.split_last()?;
    let second = before.last().map_or("", String::as_str);
    let is_variable = text[start..end]
        .iter()
        .all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'_');
    let says = match last.as_str() {
        "password" | "passwd" | "passphrase" | "pwd" | "passwort" | "userpassword"
        | "dbpassword" => Says::Password,
        "pass" if !before.is_empty() => Says::Password,
        "auth" if text[start..end].starts_with(b"_") || second == "docker" => Says::Login,
        "secret" | "secrets" | "clientsecret" | "credential" | "credentials" | "apikey"
        | "secretkey" | "accesskey" | "privatekey" | "authkey" => Says::Key,
        "token" | "authtoken" | "accesstoken" | "apitoken" if !OPEN_TOKENS.contains(&second) => {
            Says::Key
        }
        "key" if KEYS.contains(&second) => Says::Key,
        "key" if is_variable && !before.is_empty() && !OPEN_KEYS.contains(&second) => Says::Key,
        _ => return None,
    };
    Some((start..end, says))
}

/// The words of a name in lower case: `X-Api-Key`, `apiKey` and `API_KEY` have the same but for the `x`.
fn words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = b'_';
    for &it in name {
        if !it.is_ascii_alphanumeric() {
            before = it;
            continue;
        }
        let begins = !before.is_ascii_alphanumeric()
            || it.is_ascii_uppercase() && before.is_ascii_lowercase()
            || it.is_ascii_digit() != before.is_ascii_digit();
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(char::from(it.to_ascii_lowercase()));
        }
        before = it;
    }
    words
}

/// Whether a value that a name gives is secret.
fn is_secret(value: &[u8], says: Says, written: Written) -> bool {
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
        Says::Login => {
            value.len() >= 12 && (digits > 0 || value.ends_with(b"=")) && entropy(value) >= 3.0
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
                && entropy(value) >= 2.7
        }
        _ if value.len() < 12 || says == Says::Key && value.len() < 16 => false,
        _ if signs > 0 && (is_code || written == Written::Loose) => false,
        _ if written == Written::Loose => entropy(value) >= 3.0 && turns(value, false) >= 4,
        _ => {
            let least = if value.len() < 20 || is_hex { 3.0 } else { 3.3 };
            let turns = turns(value, signs == 0);
            digits >= 2 && turns >= 4.max(value.len().min(100) / 6) && entropy(value) >= least
        }
    }
}

/// Whether it is where something is: a path, a URL, a name in a program.
fn is_place(value: &[u8]) -> bool {
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

fn count(value: &[u8], is: impl Fn(&u8) -> bool) -> usize {
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

/// What stands for a password in an example's URL.
const NO_PASSWORDS: [&str; 18] = [
    "pass", "passw", "passwd", "pwd", "pw", "user", "username", "root", "admin", "postgres",
    "guest", "test", "token", "mysql", "mongo", "redis", "rabbitmq", "docker",
];

/// Hosts that nobody else reaches.
const NO_HOSTS: [&str; 6] = ["localhost", "127.", "0.0.0.0", "host", "example", "server"];

/// The password of the URL whose `://` is at `at`: `https://user:password@host`.
pub(super) fn in_url(text: &[u8], at: usize) -> Option<Range<usize>> {
    let scheme = text[at.saturating_sub(24)..at]
        .iter()
        .rev()
        .take_while(|it| it.is_ascii_alphanumeric() || b"+.-".contains(it))
        .count();
    let is_of_it = |it: u8| it.is_ascii_graphic() && !b"/\"'<>\\`".contains(&it);
    let authority = &text[at + 3..];
    let authority = &authority[..run(authority, 512, is_of_it)];
    let end = memchr::memrchr(b'@', authority)?;
    let colon = memchr::memchr(b':', &authority[..end])?;
    let (user, password, host) = (
        &authority[..colon],
        &authority[colon + 1..end],
        &authority[end + 1..],
    );
    if scheme < 2
        || !host.first()?.is_ascii_alphanumeric()
        || is_example(password)
        || password.contains(&b'{')
    {
        return None;
    }
    let host = host.to_ascii_lowercase();
    let is_word =
        !password.iter().any(u8::is_ascii_digit) && password.iter().all(u8::is_ascii_alphanumeric);
    let is_told = NO_PASSWORDS
        .iter()
        .any(|it| password.eq_ignore_ascii_case(it.as_bytes()))
        || password == user
        || password.starts_with(b"$")
        || password.starts_with(b"%");
    let is_near = NO_HOSTS.iter().any(|it| host.starts_with(it.as_bytes()))
        || memchr::memmem::find(&host, b"example").is_some();
    let is_far = memchr::memchr(b'.', &host).is_some() && !is_near;
    let is_password = if is_word {
        is_far && password.len() >= 5
    } else {
        password.len() >= 6 && entropy(password) >= 2.5
    };
    let is_secret = !is_told && is_password;
    let start = at + 3 + colon + 1;
    is_secret.then(|| start..start + password.len())
}
