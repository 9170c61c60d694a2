//! What is secret by what stands before it: a name (`API_KEY=…`, `"clientSecret": "…"`, `--token …`) or, in a URL, a user.
//!
//! A value here has no form, so that it must look random, or be a password in a place where nothing else stands. How commands
//! are passed a password is in `forms.rs`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{compile, entropy, is_example, is_known};

/// What a name ends with, as far as it is needed to notice one.
pub(super) const NAMES: [&str; 57] = [
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
    "PASS=",
    "PASS:",
    "PASS ",
    "pass=",
    "pass:",
    "pass'",
    "pass\"",
    "pass =",
    "pass\\",
    "_AUTH",
    "_pw",
    "_PW",
    "pw=",
    "pw:",
    "PW=",
    "psk",
    "ennwort",
    "raseñ",
    "rasena",
    "e passe",
    "enha",
    "wachtwoord",
    "asło",
    "ароль",
    "ifre",
    "ösenord",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    "ật khẩu",
];

/// Words of other languages for a password, and where in each its needle stands. Not all of them are ASCII, so none is cut into
/// words.
const FOREIGN: [(&str, usize); 20] = [
    ("Kennwort", 1),
    ("kennwort", 1),
    ("contraseña", 4),
    ("Contraseña", 4),
    ("contrasena", 4),
    ("mot de passe", 5),
    ("Mot de passe", 5),
    ("senha", 1),
    ("Senha", 1),
    ("wachtwoord", 0),
    ("hasło", 1),
    ("Hasło", 1),
    ("ароль", 0),
    ("ifre", 0),
    ("lösenord", 1),
    ("密码", 0),
    ("密碼", 0),
    ("パスワード", 0),
    ("비밀번호", 0),
    ("ật khẩu", 0),
];

/// What says in a sentence that a password follows.
const COPULAS: [&str; 16] = [
    " is ",
    " for it is ",
    " is: ",
    " ist ",
    " es ",
    " est ",
    " é ",
    " è ",
    " jest ",
    " är ",
    "是",
    "为",
    "為",
    "は",
    "：",
    " : ",
];

/// What the words for a password in [`TOLD`] have in them.
pub(super) const TOLD_WORDS: [&str; 32] = [
    "oken",
    "ecret",
    "pi key",
    "pi_key",
    "earer ",
    "pw ",
    "assw",
    "ASSW",
    "asscode",
    "assphr",
    "ennwort",
    "raseñ",
    "rasena",
    "clave",
    "e passe",
    "enha",
    "wachtwoord",
    "asło",
    "ароль",
    "ifre",
    "ösenord",
    "passord",
    "heslo",
    "jelsz",
    "arola",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "ật khẩu",
    "รหัสผ่าน",
];
/// How far before what is in a word it may begin, and how far behind it a sentence tells the password.
const TOLD_REACH: (usize, usize) = (12, 160);

/// A word for a password, in a language of people.
static TOLD: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i:passwor[dt]|passwd|passcode|passphrase|kennwort|contrase[ñn]a|clave|mot de passe|senha|wachtwoord|hasło|пароль",
        r"|(?:api|auth|access|bearer|bot)[ _-]?(?:key|token)|token|secret|bearer|pw\b",
        r"|şifre|lösenord|passord|heslo|jelszó|parola|密码|密碼|口令|パスワード|비밀번호|mật khẩu|รหัสผ่าน)",
    ))
});

/// What a sentence says before the password that it tells, and that: `is "X"`, ` lautet X`, `は「X」`.
static TELLS: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?:[ *_](?i:is|was|to|be|es|est|ist|lautet|era|é|è|jest|är|er|je|olan|là|от [а-я]+)|^|[:=]|は|是|为|為|：|은|는) ?",
        r#"(?:[\\"'`*_]{1,6} ?|[«「『“‘„‹]\s?)?"#,
        r"([A-Za-z0-9!@#%^?+_-]{8,64})",
    ))
});

/// A shorter key or token is a name of one, where a sentence speaks of it.
const LEAST_KEY: usize = 20;

/// What names of algorithms have in them, in lower case. They look chosen: `PBKDF2WithHmacSHA256`.
const ALGORITHMS: [&str; 24] = [
    "sha", "hmac", "aes", "base64", "utf", "oauth", "http", "crypt", "kdf", "md5", "rsa", "argon",
    "tls", "cipher", "x509", "uuid", "ipv4", "ipv6", "25519", "secp", "b64", "json", "html",
    "oidc",
];

/// What takes a name and a value without a sign between them.
const SETTERS: [&str; 10] = [
    "setx ",
    "ENV ",
    "ARG ",
    "setenv ",
    "set -gx ",
    "set -Ux ",
    "set -x ",
    "onfigure set ",
    "onfig set ",
    "--secret ",
];

/// The words before `key` that make it a secret one.
const KEYS: [&str; 41] = [
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
    "functions",
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
    let is_set = SETTERS
        .iter()
        .any(|it| text[..name.start].ends_with(it.as_bytes()));
    let before = &text[..name.start];
    let is_flag = is_set || before.ends_with(b"--") || before.ends_with(b" -");
    let mut from = name.end;
    from += run(&text[from..], 8, |it| b"\\\"'`])".contains(&it));
    let spaces = run(&text[from..], 3, |it| it == b' ' || it == b'\t');
    let mut operator = operator(&text[from + spaces..]);
    let is_told = operator == 0 && !is_flag && says == Says::Password;
    if is_told {
        // `my password is X`, `WITH PASSWORD 'X'`.
        let copulas = COPULAS.iter().map(|it| it.as_bytes());
        let told = copulas
            .filter(|it| text[from..].starts_with(it))
            .map(<[u8]>::len)
            .max();
        let is_quoted = spaces == 1
            && text.get(from + 1) == Some(&b'\'')
            && text[..from].ends_with(b"PASSWORD");
        operator = told.unwrap_or(0).saturating_sub(spaces);
        if told.is_none() && !is_quoted {
            return None;
        }
    }
    if operator == 0 && !is_told && !(is_flag && spaces > 0) {
        return None;
    }
    let is_listed = text[from + spaces..].starts_with(b",");
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
        None if spaces + spaces_behind == 0 && !is_told || is_flag => Written::Tight,
        None => Written::Loose,
    };
    let goes_on = |it: u8| match written {
        Written::Quoted => it.is_ascii_graphic() && Some(it) != quote && it != b'\\',
        Written::Tight => it.is_ascii_alphanumeric() || b"!@#$%^&*?+/_~.-".contains(&it),
        Written::Loose if says == Says::Password => {
            it.is_ascii_alphanumeric() || b"!@#$%^&*?+/_~.-".contains(&it)
        }
        Written::Loose => it.is_ascii_alphanumeric() || b"+/_~.-".contains(&it),
    };
    // Base64 ends with signs that give a name its value elsewhere.
    let mut len = run(&text[from..], VALUE, goes_on);
    // The next field of a form.
    let fields = memchr::memchr_iter(b'&', &text[from..from + len]);
    let is_field = |at: &usize| {
        let rest = &text[from + at + 1..];
        let name = run(rest, 32, |it| it.is_ascii_alphabetic() || it == b'_');
        name > 0 && rest.get(name) == Some(&b'=')
    };
    if let Some(at) = fields
        .into_iter()
        .find(is_field)
        .filter(|_| quote.is_none())
    {
        len = at;
    }
    if written == Written::Loose {
        // The end of a sentence.
        let signs = text[from..from + len].iter().rev();
        len -= signs.take_while(|it| b".!?".contains(it)).count();
    }
    let value = from..from + len + run(&text[from + len..], 2, |it| it == b'=');
    // A preview is cut anywhere, and says so.
    let is_whole = !text[value.end..].starts_with("…".as_bytes());
    let next = text.get(value.end).copied().filter(|_| is_whole);
    // A call, an index, a word that goes on; but a sentence of Chinese or Japanese may go on at once.
    let goes_on =
        |it: u8| !(it.is_ascii() || says == Says::Password && (0xe3..=0xef).contains(&it));
    let is_tagged = text[..from].ends_with(b">") && next == Some(b'<');
    let is_cut = |it: u8| !is_tagged && quote.is_none() && b"([{<:".contains(&it);
    if next.is_some_and(|it| goes_on(it) || is_cut(it)) {
        return None;
    }
    let is_asked =
        matches!(text.get(name.start.wrapping_sub(1)), Some(b'?' | b'&')) && value.len() >= 12;
    // `call(SOME_KEY, Tls12CipherSuite)` and `SOME_KEY: X509Key` are code; `X-Api-Key: …` is a header.
    let is_header = text[name.clone()].contains(&b'-');
    let is_code = says != Says::Password && (written == Written::Loose && !is_header || is_listed);
    let is_one = is_secret(&text[value.clone()], says, written)
        || (says == Says::Password
            || is_asked
            || is_set
            || is_flag && value.len() >= 20
            || is_certain(&text[name]))
            && !is_code
            && is_chosen(&text[value.clone()], written == Written::Loose);
    is_one.then_some(value)
}

/// The password that a sentence tells, whose word for it has one of [`TOLD_WORDS`] at `at`.
pub(super) fn told(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = at.saturating_sub(TOLD_REACH.0);
    let some = &text[from..text.len().min(at + TOLD_REACH.1)];
    let word = TOLD.find_iter(some).find(|it| from + it.end() > at)?;
    let begin = word.end();
    // A token is no word that somebody chooses.
    let has = |piece: &[u8]| memchr::memmem::find(word.as_bytes(), piece).is_some();
    let least = match has(b"oken") || has(b"ecret") || has(b"earer") || has(b"ey") {
        true if stands_alone(some, word.range()) => LEAST_KEY,
        true => return None,
        false => 0,
    };
    let ends = |place: &usize| match some[*place] {
        b'\\' => !matches!(some.get(place + 1), Some(b'"' | b'\\')),
        sign => b"\n(){}[];|&<>$".contains(&sign),
    };
    let end = (begin..some.len()).find(ends).unwrap_or(some.len());
    let told = TELLS.captures_iter(&some[begin..end]);
    let mut values = told.filter_map(|told| told.get(1));
    values.find_map(|found| {
        let start = from + begin + found.start();
        // What is looked at may end within it.
        let len = run(&text[start..], VALUE, |it| {
            it.is_ascii_alphanumeric() || b"!@#%^?+_-".contains(&it)
        });
        let signs = text[start..start + len].iter().rev();
        let signs = signs.take_while(|it| b"!?".contains(it)).count();
        let value = &text[start..start + len - signs];
        // A word that goes on is none: a path, a call, a name of a member.
        let goes_on = text
            .get(start + len)
            .is_some_and(|it| b"/([{<:=.".contains(it));
        let is_cut = goes_on && !ends_sentence(text, start + len);
        let is_one =
            !is_cut && value.len() >= least && is_chosen(value, true) && !is_algorithm(value);
        is_one.then(|| start..start + value.len())
    })
}

/// Whether a word is no piece of a name in a program; what stands before it may be the end of `\n`.
fn stands_alone(text: &[u8], place: Range<usize>) -> bool {
    let is_of_name = |it: &u8| it.is_ascii_alphanumeric() || b"_-.".contains(it);
    let begins = match &text[..place.start] {
        [.., b'\\', letter] => b"nrt".contains(letter),
        [.., last] => !is_of_name(last),
        [] => true,
    };
    begins && !text.get(place.end).is_some_and(is_of_name)
}

/// Whether it names an algorithm.
pub(super) fn is_algorithm(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_in = |word: &&str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    ALGORITHMS.iter().any(is_in)
}

/// Whether the sign at `at` ends a sentence or a text, in JSON's spelling as well.
fn ends_sentence(text: &[u8], at: usize) -> bool {
    match &text[at..] {
        [b'.'] => true,
        [b'.', next, ..] => !next.is_ascii_alphanumeric(),
        _ => false,
    }
}

/// Whether it is the name of a header that bears a key, or of a variable of an environment: `X-Auth-Token`, `NPM_TOKEN`.
fn is_certain(name: &[u8]) -> bool {
    let has_capital = name.iter().any(u8::is_ascii_uppercase);
    let is_variable = !name.iter().any(u8::is_ascii_lowercase);
    has_capital && (is_variable || name.contains(&b'-'))
}

/// Whether it is what somebody chooses as a password, in a place where nothing else stands: letters and digits that no word of
/// a language or a program has. In a sentence it has capitals as well.
pub(super) fn is_chosen(value: &[u8], is_prose: bool) -> bool {
    if is_example(value) || is_known(value) || is_place(value) || value.len() < 8 {
        return false;
    }
    if value.iter().any(|it| b"(){}[];|\"'<>`,".contains(it)) {
        return false;
    }
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let plain = count(value, u8::is_ascii_alphanumeric);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let is_hex = value.iter().all(u8::is_ascii_hexdigit);
    let parts = value.split(|it| b"_-./:".contains(it)).count();
    has(u8::is_ascii_digit)
        && (is_mixed || !is_prose && has(u8::is_ascii_alphabetic) && turns(value, false) >= 3)
        && !is_hex
        && parts <= 2
        && plain * 4 >= value.len() * 3
        && turns(value, true) + usize::from(plain < value.len()) >= if is_prose { 5 } else { 4 }
        && entropy(value) >= 2.7
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
    let foreign = FOREIGN.iter().find_map(|(word, before)| {
        let start = at.checked_sub(*before)?;
        let is_it =
            word.as_bytes()[*before] == text[at] && text[start..].starts_with(word.as_bytes());
        is_it.then(|| start..start + word.len())
    });
    if let Some(place) = foreign {
        return Some((place, Says::Password));
    }
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
        "pass" | "pw" | "psk" => Says::Password,
        "auth" if is_variable && !before.is_empty() => Says::Password,
        joined
            if ["password", "passwd", "passphrase", "pass"]
                .iter()
                .any(|it| joined.ends_with(it))
                && !["bypass", "compass", "trespass", "bypassword"].contains(&joined) =>
        {
            Says::Password
        }
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
