//! Names that say of a value that it is secret, in any spelling and in some twenty languages: `DB_PASSWORD`, `clientSecret`,
//! `X-Api-Key`, `mot de passe`, `密码`.
//!
//! Deliberately absent: what joins a name to its value (`given.rs`, `columns.rs`, `sentence.rs`), and what the value looks like
//! (`value.rs`).

use std::ops::Range;

use super::{begins_alone, run};

/// A name, and what it says of its value.
#[derive(Clone)]
pub(super) struct Name {
    /// Where it stands, in bytes.
    pub(super) place: Range<usize>,
    pub(super) says: Says,
    /// Whether it is a word of a language whose words are not cut: its value may stand behind it without a space.
    pub(super) is_uncut: bool,
}

/// What a name says of its value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Says {
    Password,
    Key,
    /// Base64 of a user and a password.
    Login,
    /// Some key or token, which may be no secret.
    Weak,
    /// A few digits.
    Pin,
    /// Words that a wallet is made from.
    Phrase,
}

/// What names have in them, as far as it is needed to notice one.
pub(super) const NEEDLES: [&str; 168] = [
    "assw",
    "ASSW",
    "asscode",
    "ecret",
    "ECRET",
    "oken",
    "OKEN",
    "pwd",
    "Pwd",
    "PWD",
    "pswd",
    "_pass",
    "_PASS",
    "-pass",
    "Pass",
    "assphr",
    "ASSPHR",
    "redential",
    "REDENTIAL",
    "_auth",
    "_AUTH",
    "\"auth",
    "apikey",
    "api_key",
    "_key",
    "-key",
    "Key",
    "KEY",
    "-Key",
    "api-key",
    "pi key",
    "ss key",
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
    "pass |",
    "pass  ",
    "_pw",
    "_PW",
    "-pw",
    "pw=",
    "pw:",
    "PW=",
    "pw ",
    "psk",
    "earer",
    "creds",
    "CREDS",
    "_PAT",
    "_jwt",
    "_JWT",
    "jwt_",
    "jwt =",
    "jwt:",
    "ennwort",
    "asswort",
    "raseñ",
    "rasena",
    "lave",
    "e passe",
    "-passe",
    "enha",
    "achtwoord",
    "asło",
    "asła",
    "haslo",
    "eslo",
    "arola",
    "arolă",
    "ароль",
    "ароля",
    "аролем",
    "арола",
    "ifre",
    "ösenord",
    "losenord",
    "passord",
    "elszó",
    "elszo",
    "laptažodis",
    "ozinka",
    "alasana",
    "dgangskode",
    "ωδικός",
    "סיסמה",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "暗証番号",
    "비밀번호",
    "암호",
    "ật khẩu",
    "รหัสผ่าน",
    "كلمة المرور",
    "mdp",
    "PSK",
    "auth:",
    "auth=",
    "auth =",
    "ogin with ",
    "ogin: ",
    "ogin as ",
    "ogins: ",
    "ccès",
    "acceso",
    "ccesso",
    "ugangscode",
    "ccess code",
    "PIN ",
    "PIN:",
    "nemonic",
    "y phrase",
    "d phrase",
    "t phrase",
    "p phrase",
    "ugangsdaten",
    "dentifiants",
    "ccess_code",
    "accessCode",
    "accescode",
    "ostęp",
    "PI key",
    "PI Key",
    "pi Key",
    "PASS\"",
    "pass>",
    "PASS>",
    "PW ",
    "Pw=",
    "Pw:",
    "Pw ",
    "Pw\"",
    "Pw'",
    "Pw<",
    "Pw>",
    "Pw(",
    "Pw`",
    "Pw{",
    "Pw&",
    "Pw,",
    "RASE",
    "ENHA",
    "ACHTWOORD",
    "ASSWORT",
    "Pw\\",
    "Pw\n",
    "Pw)",
    "pass is ",
    "pass phrase",
    "erver key ",
    "sakmp key ",
    "hared key",
    "acacs key",
    "asicauth",
    "ttpauth",
    "thtok",
    "fi key",
    "rk key",
    "비번",
];

/// What a name ends with that says of its value that it is a password.
const PASSWORDS: [&str; 35] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "passwort",
    "pass",
    "pw",
    "psk",
    "kennwort",
    "passord",
    "contrasena",
    "contraseña",
    "senha",
    "wachtwoord",
    "haslo",
    "hasło",
    "heslo",
    "parola",
    "sifre",
    "losenord",
    "salasana",
    "adgangskode",
    "jelszo",
    "geslo",
    "lozinka",
    "mdp",
    "motdepasse",
    "passwrd",
    "passw",
    "pswd",
    "psw",
    "credential",
    "credentials",
    "authtok",
];

/// What ends like one and is none.
const NO_PASSWORDS: [&str; 8] = [
    "bypass",
    "compass",
    "trespass",
    "bypassword",
    "overpass",
    "underpass",
    "onepass",
    "multipass",
];

/// Words for a password that are told by themselves, in lower case as far as they are ASCII, and how many bytes of each stand before
/// its needle. Whether a word ends where it ends is not asked of those that go on without a space, nor of inflections.
const FOREIGN: [(&str, usize, Ends); 43] = [
    ("contraseña", 4, Ends::Alone),
    ("mot de passe", 5, Ends::Alone),
    ("palavra-passe", 7, Ends::Alone),
    ("clave", 1, Ends::Alone),
    ("senha", 1, Ends::Alone),
    ("hasło", 1, Ends::Inflected),
    ("hasła", 1, Ends::Inflected),
    ("heslo", 1, Ends::Alone),
    ("parola", 1, Ends::Alone),
    ("parolă", 1, Ends::Alone),
    ("пароль", 2, Ends::Inflected),
    ("пароля", 2, Ends::Inflected),
    ("паролем", 2, Ends::Inflected),
    ("парола", 2, Ends::Inflected),
    ("şifre", 2, Ends::Inflected),
    ("lösenord", 1, Ends::Inflected),
    ("jelszó", 1, Ends::Alone),
    ("slaptažodis", 1, Ends::Alone),
    ("geslo", 1, Ends::Alone),
    ("lozinka", 1, Ends::Alone),
    ("salasana", 1, Ends::Inflected),
    ("adgangskode", 1, Ends::Inflected),
    ("κωδικός", 2, Ends::Inflected),
    ("סיסמה", 0, Ends::Inflected),
    ("密码", 0, Ends::Anywhere),
    ("密碼", 0, Ends::Anywhere),
    ("口令", 0, Ends::Anywhere),
    ("パスワード", 0, Ends::Anywhere),
    ("暗証番号", 0, Ends::Anywhere),
    ("비밀번호", 0, Ends::Anywhere),
    ("암호", 0, Ends::Anywhere),
    ("비번", 0, Ends::Anywhere),
    ("mật khẩu", 1, Ends::Alone),
    ("รหัสผ่าน", 0, Ends::Anywhere),
    ("كلمة المرور", 0, Ends::Anywhere),
    ("code d'accès", 8, Ends::Alone),
    ("código de acceso", 11, Ends::Alone),
    ("codice di accesso", 11, Ends::Alone),
    ("zugangscode", 1, Ends::Alone),
    ("access code", 1, Ends::Alone),
    ("zugangsdaten", 1, Ends::Alone),
    ("identifiants", 1, Ends::Alone),
    ("kod dostępu", 5, Ends::Alone),
];

/// Where a name has a second word, in its spelling as a needle.
const TWO_WORDS: [&str; 16] = [
    "PI key",
    "PI Key",
    "pi Key",
    "pi key",
    "ss key",
    "y phrase",
    "d phrase",
    "t phrase",
    "p phrase",
    "pass phrase",
    "erver key",
    "sakmp key",
    "hared key",
    "acacs key",
    "fi key",
    "rk key",
];

/// Where a word of another language ends.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    /// Before a letter it is another word.
    Alone,
    /// With letters of its own alphabet.
    Inflected,
    /// Anywhere.
    Anywhere,
}

/// The words before `key` that make it a secret one.
const KEYS: &str = "api access secret private encryption encrypt signing sign master client auth account shared app application license \
    licence service server storage subscription admin role deploy webhook cipher aes hmac jwt consumer function functions \
    root ingest write rest integration crypt search security project isakmp tacacs host session database db vault backup \
    partner merchant ssh tls ssl hook bot channel device team user site instance recaptcha sms mail smtp payment stripe \
    maps map weather";

/// The words before `KEY` that make it no secret, though the name is written like a variable of an environment.
const OPEN_KEYS: &str = "public primary foreign sort partition cache idempotency index lookup hash routing object group dedup unique composite \
    compound candidate natural surrogate range row column field map dict order storage bucket blob file dedupe trace event \
    message query search request response state session config setting translation locale i18n react list item node entity \
    record entry batch job task lock shortcut hot arrow return enter escape delete tab shift control ctrl alt function any \
    meta option menu dep deps translation label registry component type kind name cid thread conversation";

/// The words before `token` that make it no secret.
const OPEN_TOKENS: &str = "project next page pagination continuation sync cursor stop eos bos pad unk mask prompt max total input output cached \
    skip resume progress per sep cancellation reasoning completion image audio thinking begin start end special unknown \
    new first last text word count budget csrf";

/// What may follow in a name.
const ENDINGS: &str = "base value b64 base64 prod production live test dev staging old new hex default string str text plain plaintext \
    primary secondary main local";

/// Words of a name that only shows how something looks.
const SHOWN: &str = "example sample dummy fake mock";

/// The name around a needle.
pub(super) fn name(text: &[u8], at: usize) -> Option<Name> {
    // The commonest by far, and none.
    if text[at..].starts_with(b"okens") {
        return None;
    }
    foreign(text, at).or_else(|| spelled(text, at))
}

fn foreign(text: &[u8], at: usize) -> Option<Name> {
    FOREIGN.iter().find_map(|(word, before, ends)| {
        let word = word.as_bytes();
        let start = at
            .checked_sub(*before)
            .filter(|_| word[*before] == text[at])?;
        let held = text.get(start..start + word.len())?;
        let is_letter = |it: &u8| it.is_ascii_alphabetic() || !it.is_ascii();
        let is_within = |it: &u8| matches!(it, b'_' | b'-') || is_letter(it);
        let mut end = start + word.len();
        let is_begun = *ends == Ends::Anywhere
            || !text[start].is_ascii() && text[..start].last().is_none_or(u8::is_ascii)
            || begins_alone(text, start)
                && !text[..start]
                    .last()
                    .is_some_and(|it| b"_-".contains(it) || !it.is_ascii());
        // A capital of another alphabet is another letter at the front.
        let from = if word[0].is_ascii() { 0 } else { *before };
        let is_it = held[from..].eq_ignore_ascii_case(&word[from..]) && is_begun;
        match ends {
            Ends::Alone if text.get(end).is_some_and(is_within) => return None,
            Ends::Inflected => end += run(&text[end..], 12, |it| is_letter(&it)),
            _ => {}
        }
        is_it.then(|| Name {
            place: start..end,
            says: Says::Password,
            is_uncut: *ends == Ends::Anywhere,
        })
    })
}

fn spelled(text: &[u8], at: usize) -> Option<Name> {
    // A needle may begin with what ends a name before.
    let at = at + usize::from(text[at] == b'"');
    let is_of_name = |it: &u8| it.is_ascii_alphanumeric() || b"_-.".contains(it);
    let before = &text[at.saturating_sub(48)..at];
    let mut start = at - before.iter().rev().take_while(|it| is_of_name(it)).count();
    let two = TWO_WORDS
        .iter()
        .find(|it| text[at..].starts_with(it.as_bytes()));
    let end = at + two.map_or_else(|| run(&text[at..], 48, |it| is_of_name(&it)), |it| it.len());
    // The end of `\n` before it, and of a flag's dashes.
    if start > 0
        && text[start - 1] == b'\\'
        && text.get(start).is_some_and(|it| b"nrt".contains(it))
    {
        start += 1;
    }
    start += run(&text[start..end], 2, |it| it == b'-');
    let name = &text[start..end];
    // The end of a sentence.
    let end = end - usize::from(name.ends_with(b"."));
    let words = words(name);
    let mut words: &[String] = &words;
    while let [before @ .., last] = words
        && !before.is_empty()
        && (is_in(ENDINGS, last) || last.bytes().all(|it| it.is_ascii_digit()))
    {
        words = before;
    }
    if words.iter().any(|word| is_in(SHOWN, word)) {
        return None;
    }
    let (last, before) = words.split_last()?;
    let second = before.last().map_or("", String::as_str);
    let is_variable = name
        .iter()
        .all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'_');
    let is_key = |word: &str| {
        is_in(KEYS, word)
            || KEYS
                .split(' ')
                .any(|it| it.len() >= 4 && word.ends_with(it))
    };
    let says = match last.as_str() {
        "auth" if name.starts_with(b"_") || second == "docker" => Says::Login,
        "auth" if name == b"auth" => Says::Weak,
        "auth" if is_variable && !before.is_empty() => Says::Password,
        last if PASSWORDS.iter().any(|it| last.ends_with(it)) && !NO_PASSWORDS.contains(&last) => {
            match PASSWORDS.contains(&last)
                || last.len()
                    >= if is_variable || last.ends_with("pw") {
                        5
                    } else {
                        8
                    } {
                true if last.contains("credential") => Says::Key,
                true => Says::Password,
                false => return None,
            }
        }
        "secret" | "secrets" | "clientsecret" | "apikey" | "secretkey" | "accesskey"
        | "privatekey" | "authkey" | "apisecret" | "appsecret" | "creds" => Says::Key,
        "token" | "authtoken" | "accesstoken" | "apitoken" if !is_in(OPEN_TOKENS, second) => {
            Says::Key
        }
        "key" if ["wifi", "fi", "network"].contains(&second) => Says::Password,
        "key" if is_key(second) => Says::Key,
        "key" if is_variable && !before.is_empty() && !is_in(OPEN_KEYS, second) => Says::Key,
        "key" if !before.is_empty() && !is_in(OPEN_KEYS, second) => Says::Weak,
        "pat" if is_variable && !before.is_empty() => Says::Key,
        "bearer" | "jwt" | "login" | "logins" => Says::Weak,
        "pin" if is_variable && before.is_empty() => Says::Pin,
        "phrase" if second == "pass" => Says::Password,
        "basicauth" | "httpauth" => Says::Weak,
        "mnemonic" => Says::Phrase,
        "phrase" if ["seed", "recovery", "secret", "backup", "mnemonic"].contains(&second) => {
            Says::Phrase
        }
        _ => return None,
    };
    Some(Name {
        place: start..end,
        says,
        is_uncut: false,
    })
}

/// Whether a word is one of a list's.
fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|it| it == word)
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
