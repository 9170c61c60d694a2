//! Who and where, in text: logins, homes, hosts, mail addresses and the names beside these.
//!
//! A person is known by many spellings: `alice.smith` in a path, `alice.smith@example.com`, `Alice Smith <…>`. All of them
//! become one other name, `person-1`, so that a conversation can still be followed. Whoever writes first meets everybody in
//! what is to be written ([`People::meet`]); who was not met becomes `someone`. Deliberately absent: first names alone,
//! names of projects and companies, and whatever a reader can infer.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

use super::{begins_alone, compile, ends_alone};

/// The kinds of what says who and where.
pub const PERSONAL: [&str; 4] = [MAIL, NAME, LOGIN, HOST];
const MAIL: &str = "mail-address";
const NAME: &str = "name";
const LOGIN: &str = "login";
const HOST: &str = "host";

/// Who was met nowhere before.
const SOMEONE: &str = "someone";
const PERSON: &str = "person-";
const HOSTS: &str = "host-";
/// What stands behind the other name in an address. RFC 2606 keeps it for this.
const DOMAIN: &str = "mail.invalid";

/// Shorter names are looked for in paths and addresses alone.
const SHORTEST: usize = 3;
/// In so long a run of base64 no name is looked for: it is a picture or a file.
const BASE64_BYTES: usize = 200;
/// How many names are in one expression.
const TOGETHER: usize = 200;

/// Logins that are nobody's, and words that stand where a login does.
const NOBODY: [&str; 64] = [
    "root",
    "user",
    "users",
    "admin",
    "administrator",
    "ubuntu",
    "debian",
    "fedora",
    "centos",
    "alpine",
    "ec2user",
    "azureuser",
    "vagrant",
    "runner",
    "runneradmin",
    "dev",
    "developer",
    "node",
    "app",
    "vscode",
    "codespace",
    "gitpod",
    "docker",
    "jenkins",
    "ci",
    "build",
    "test",
    "guest",
    "home",
    "me",
    "my",
    "you",
    "shared",
    "public",
    "default",
    "defaultuser",
    "alluser",
    "work",
    "workspace",
    "project",
    "projects",
    "src",
    "git",
    "wwwdata",
    "nobody",
    "someone",
    "person",
    "host",
    "mail",
    "linuxbrew",
    "sandbox",
    "agent",
    "assistant",
    "system",
    "tool",
    "claude",
    "codex",
    "gemini",
    "cursor",
    "copilot",
    "name",
    "username",
    "example",
    "tract",
];
/// Mailboxes of programs and services.
const SERVICES: [&str; 18] = [
    "noreply",
    "donotreply",
    "git",
    "hg",
    "svn",
    "info",
    "support",
    "help",
    "contact",
    "hello",
    "sales",
    "security",
    "notifications",
    "actions",
    "bot",
    "maildaemon",
    "mailerdaemon",
    "postmaster",
];
/// Hosts that are everybody's.
const ANYWHERE: [&str; 16] = [
    "localhost",
    "host",
    "local",
    "container",
    "server",
    "web",
    "dev",
    "laptop",
    "desktop",
    "ubuntu",
    "debian",
    "docker",
    "vm",
    "node",
    "runner",
    "sandbox",
];

/// What `home` and `Users` may stand in, beside the root: drives, and where systems put them.
const ABOVE_HOMES: [&str; 8] = [
    "export", "var", "usr", "data", "nfs", "net", "host", "rootfs",
];

/// A directory of a person: `/home/alice`, `C:\Users\alice`, however often its separators are escaped.
static HOMES: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(/|\\+/?)(?:home|Users)(?:/|\\+/?)([\p{L}\p{N}_][\p{L}\p{N}._+-]*(?: [\p{L}\p{N}._+-]+)*)",
    )
});
/// A mail address.
static MAILS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"([\p{L}\p{N}][\p{L}\p{N}._%+-]*(?:\[bot\])?)@((?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,24})",
    )
});
/// A name before a mail address: `Alice Smith <alice@example.com>`.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r#"(\p{L}[\p{L}'’.-]*(?: \p{L}[\p{L}'’.-]*){0,3}) (?:<|&lt;|\\+u003[cC])([\p{L}\p{N}][\p{L}\p{N}._%+-]*@[\p{L}\p{N}.-]+)(?:>|&gt;|\\+u003[eE])"#,
    )
});
/// A prompt of a shell, or a place on another machine: `alice@laptop:~`.
static PROMPTS: LazyLock<Regex> =
    LazyLock::new(|| compile(r"([\p{L}_][\p{L}\p{N}._-]*)@([\p{L}\p{N}][\p{L}\p{N}-]*):[~/]"));

/// The persons and hosts of what is to be written.
#[derive(Clone, Debug, Default)]
pub struct People {
    /// Each person by the one that it turned out to be.
    same: Vec<usize>,
    /// By a spelling's letters alone.
    keys: BTreeMap<String, usize>,
    /// The logins and names as they are spelled.
    words: BTreeMap<(&'static str, String), usize>,
    hosts: Vec<String>,
}

impl People {
    /// Meets whoever is at work: all these names are of one person. Each is a login, a name, a mail address, `USER@HOST` or a
    /// home directory.
    pub fn meet_one<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        let mut first = None;
        for name in names {
            for met in self.meet_name(name) {
                match first {
                    None => first = Some(met),
                    Some(first) => self.join(first, met),
                }
            }
        }
    }

    /// Meets a host.
    pub fn meet_host(&mut self, host: &str) {
        let short = host.split('.').next().unwrap_or(host);
        let is_known = self.hosts.iter().any(|known| known == short);
        let is_one = short.len() >= SHORTEST && short.chars().any(char::is_alphabetic);
        if is_one && !is_known && !ANYWHERE.contains(&&*key(short)) {
            self.hosts.push(short.to_owned());
        }
    }

    /// Meets all that a text names.
    pub fn meet(&mut self, text: &[u8]) {
        let read = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for found in HOMES.captures_iter(text) {
            // A site may have such a page, so that the word alone is nobody.
            if let Some(place) = home_in(text, &found) {
                let login = read(&text[place]);
                if is_somebody(&login) {
                    self.person(&key(&login));
                }
            }
        }
        for found in PROMPTS.captures_iter(text) {
            let login = unescaped(text, group(&found, 1));
            if self.meet_login(&read(&text[login])).is_some() {
                self.meet_host(&read(&found[2]));
            }
        }
        for found in NAMED.captures_iter(text) {
            let (name, mail) = (unescaped(text, group(&found, 1)), read(&found[2]));
            if let Some(person) = self.meet_mail(&mail) {
                let name = read(&text[name]);
                self.meet_word(NAME, own_name(&name, &mail), person);
            }
        }
        for found in MAILS.captures_iter(text) {
            self.meet_mail(&read(&text[unescaped(text, group(&found, 0))]));
        }
    }

    /// Meets whose home a directory is in: that of a session.
    pub fn meet_home(&mut self, directory: &str) {
        let text = directory.as_bytes();
        for found in HOMES.captures_iter(text) {
            if let Some(place) = home_in(text, &found) {
                self.meet_login(&String::from_utf8_lossy(&text[place]));
            }
        }
    }

    /// Meets what one is called, in any of its forms.
    fn meet_name(&mut self, name: &str) -> Vec<usize> {
        let name = name.trim();
        if let Some(found) = NAMED.captures(name.as_bytes()) {
            let mail = String::from_utf8_lossy(&found[2]).into_owned();
            let person = self.meet_mail(&mail);
            let called = String::from_utf8_lossy(&found[1]).into_owned();
            person
                .into_iter()
                .for_each(|it| self.meet_word(NAME, &called, it));
            return person.into_iter().collect();
        }
        if MAILS.is_match(name.as_bytes()) {
            return self.meet_mail(name).into_iter().collect();
        }
        if name.contains(['/', '\\']) {
            let last = name
                .trim_end_matches(['/', '\\'])
                .rsplit(['/', '\\'])
                .next();
            return self
                .meet_login(last.unwrap_or_default())
                .into_iter()
                .collect();
        }
        if let Some((user, host)) = name.split_once('@') {
            self.meet_host(host);
            return self.meet_login(user).into_iter().collect();
        }
        if !is_somebody(name) {
            return Vec::new();
        }
        let person = self.person(&key(name));
        let kind = if name.contains(' ') { NAME } else { LOGIN };
        self.meet_word(kind, name, person);
        vec![person]
    }

    fn meet_login(&mut self, login: &str) -> Option<usize> {
        if !is_somebody(login) {
            return None;
        }
        let person = self.person(&key(login));
        self.meet_word(LOGIN, login, person);
        Some(person)
    }

    fn meet_mail(&mut self, mail: &str) -> Option<usize> {
        let person = self.person(&mailbox(mail)?);
        let local = mail.split(['@', '+']).next().unwrap_or_default();
        // Only what is no word of a language is looked for without its address.
        if local.contains(['.', '_', '-']) || local.bytes().any(|it| it.is_ascii_digit()) {
            self.meet_word(LOGIN, local, person);
        }
        Some(person)
    }

    fn meet_word(&mut self, kind: &'static str, word: &str, person: usize) {
        if !is_somebody(word) || word.chars().count() < SHORTEST {
            return;
        }
        let known = self.keys.get(&key(word)).copied();
        match known {
            Some(known) => self.join(known, person),
            None => drop(self.keys.insert(key(word), person)),
        }
        self.words.entry((kind, word.to_owned())).or_insert(person);
    }

    fn person(&mut self, key: &str) -> usize {
        if let Some(known) = self.keys.get(key) {
            return *known;
        }
        let new = self.same.len();
        self.same.push(new);
        self.keys.insert(key.to_owned(), new);
        new
    }

    /// Who somebody is: the first under which they were met.
    fn who(&self, mut person: usize) -> usize {
        while self.same[person] != person {
            person = self.same[person];
        }
        person
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.who(one), self.who(other));
        let (first, later) = (one.min(other), one.max(other));
        self.same[later] = first;
    }
}

/// What finds people, once everybody was met.
#[derive(Debug)]
pub(super) struct Known {
    /// The other name of each, by the letters of a spelling.
    names: HashMap<String, String>,
    /// The other name of each host.
    hosts: HashMap<String, String>,
    /// The words that are looked for, as they are spelled, and the kind and the other name of each.
    words: HashMap<Vec<u8>, Word>,
    expressions: Vec<Regex>,
}

/// A word that is looked for.
#[derive(Debug)]
struct Word {
    kind: &'static str,
    name: String,
    spellings: Vec<String>,
}

/// What a text names: its kind, where it stands, what stands in its place, and how much is known of it, the least the most.
pub(super) struct Met {
    pub(super) kind: &'static str,
    pub(super) place: Range<usize>,
    pub(super) name: String,
    pub(super) rank: usize,
}

impl Known {
    pub(super) fn of(people: &People) -> Self {
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for person in 0..people.same.len() {
            let next = numbers.len() + 1;
            numbers.entry(people.who(person)).or_insert(next);
        }
        let name = |person: &usize| format!("{PERSON}{}", numbers[&people.who(*person)]);
        let names = people
            .keys
            .iter()
            .map(|(key, person)| (key.clone(), name(person)));
        let hosts = (1..)
            .zip(&people.hosts)
            .map(|(number, host)| (host.to_lowercase(), format!("{HOSTS}{number}")));
        let (names, hosts): (HashMap<_, _>, HashMap<_, _>) = (names.collect(), hosts.collect());
        let mut words: HashMap<Vec<u8>, Word> = HashMap::new();
        for ((kind, word), person) in &people.words {
            for spelling in spellings(word) {
                let known = words.entry(spelling.to_lowercase().into_bytes());
                let known = known.or_insert_with(|| Word {
                    kind,
                    name: name(person),
                    spellings: Vec::new(),
                });
                known.spellings.push(spelling);
            }
        }
        for (host, name) in &hosts {
            let (host, name) = (host.clone().into_bytes(), name.clone());
            words.entry(host).or_insert(Word {
                kind: HOST,
                name,
                spellings: Vec::new(),
            });
        }
        let mut all: Vec<&Vec<u8>> = words.keys().collect();
        // Where one begins another, the longer one is meant.
        all.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
        let expressions = all.chunks(TOGETHER).map(|some| {
            let some: Vec<String> = some
                .iter()
                .map(|word| regex::escape(&String::from_utf8_lossy(word)))
                .collect();
            compile(&format!("(?i)(?:{})", some.join("|")))
        });
        Self {
            expressions: expressions.collect(),
            names,
            hosts,
            words,
        }
    }

    /// All that a text names. Nothing that stands in somebody's place is anybody.
    pub(super) fn find(&self, text: &[u8]) -> Vec<Met> {
        let mut met = Vec::new();
        for found in MAILS.captures_iter(text) {
            let place = unescaped(text, group(&found, 0));
            let mail = String::from_utf8_lossy(&text[place.clone()]);
            if let Some(key) = mailbox(&mail)
                && !stands_in(&mail)
            {
                let name = format!("{}@{DOMAIN}", self.name(&key));
                met.push(Met {
                    kind: MAIL,
                    place,
                    name,
                    rank: 0,
                });
            }
        }
        for found in HOMES.captures_iter(text) {
            let Some(place) = home_in(text, &found) else {
                continue;
            };
            let login = String::from_utf8_lossy(&text[place.clone()]);
            if is_somebody(&login) {
                let name = self.name(&key(&login)).to_owned();
                met.push(Met {
                    kind: LOGIN,
                    place,
                    name,
                    rank: 1,
                });
            }
        }
        for found in PROMPTS.captures_iter(text) {
            let host = found.get(2).expect("it is in every match");
            let known = self
                .hosts
                .get(&String::from_utf8_lossy(host.as_bytes()).to_lowercase());
            if let Some(name) = known {
                let (place, name) = (host.range(), name.clone());
                met.push(Met {
                    kind: HOST,
                    place,
                    name,
                    rank: 2,
                });
            }
        }
        for expression in &self.expressions {
            let mut at = 0;
            while let Some(found) = expression.find_at(text, at) {
                let place = found.range();
                let word = String::from_utf8_lossy(found.as_bytes()).to_lowercase();
                let is_word = unescaped(text, place.clone()) == place
                    && begins_alone(text, place.start)
                    && ends_alone(text, place.end)
                    && !is_key(text, &place)
                    && !is_in_base64(text, &place);
                // A name is one in any case; a login is a word of a language only in its own.
                let spelled = found.as_bytes();
                let known = self.words.get(word.as_bytes()).filter(|word| {
                    is_word
                        && (word.kind != LOGIN
                            || word.spellings.iter().any(|it| it.as_bytes() == spelled))
                });
                match known {
                    Some(Word { kind, name, .. }) => {
                        at = place.end;
                        met.push(Met {
                            kind,
                            place,
                            name: name.clone(),
                            rank: 3,
                        });
                    }
                    None => at = place.start + 1,
                }
            }
        }
        met
    }

    fn name(&self, key: &str) -> &str {
        self.names.get(key).map_or(SOMEONE, String::as_str)
    }
}

/// How a word is spelled in names of directories, and in JSON that has no other letters than ASCII's.
fn spellings(word: &str) -> HashSet<String> {
    let other = |with: char| -> String {
        let letters = word.chars();
        letters
            .map(|it| if it.is_alphanumeric() { it } else { with })
            .collect()
    };
    let escaped = |slashes: &str| -> String {
        let mut units = [0; 2];
        let mut out = String::new();
        for letter in word.chars() {
            match letter.is_ascii() {
                true => out.push(letter),
                false => letter
                    .encode_utf16(&mut units)
                    .iter()
                    .for_each(|unit| out += &format!("{slashes}u{unit:04x}")),
            }
        }
        out
    };
    [
        word.to_owned(),
        other('-'),
        other('_'),
        escaped("\\"),
        escaped("\\\\"),
        escaped("\\\\\\\\"),
    ]
    .into()
}

/// The letters and digits of a spelling, by which one is known.
fn key(name: &str) -> String {
    let letters = name.chars().filter(|it| it.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether a login or a name is somebody's.
fn is_somebody(name: &str) -> bool {
    let key = key(name);
    let is_other = |begin: &str| {
        let number = name.strip_prefix(begin);
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    key.chars().any(char::is_alphabetic)
        && !NOBODY.contains(&&*key)
        && !is_other(PERSON)
        && !is_other(HOSTS)
}

/// Where the login stands in a match of [`HOMES`]; none where it is another directory of that name.
fn home_in(text: &[u8], found: &Captures<'_>) -> Option<Range<usize>> {
    let (separator, login) = (group(found, 1), group(found, 2));
    let is_letter = |it: &&u8| it.is_ascii_alphanumeric() || b"._-".contains(it);
    let above = text[..separator.start]
        .iter()
        .rev()
        .take_while(is_letter)
        .count();
    let above = &text[separator.start - above..separator.start];
    let is_root = above.is_empty()
        || above.len() == 1
        || ABOVE_HOMES
            .iter()
            .any(|it| above.eq_ignore_ascii_case(it.as_bytes()));
    // A space is part of a login only where a directory follows, as on Windows.
    let goes_on = text[separator.start] == b'\\' && text.get(login.end) == Some(&b'\\');
    let first = text[login.clone()].iter().position(|it| *it == b' ');
    let mut end = match first {
        Some(len) if !goes_on => login.start + len,
        _ => login.end,
    };
    while end > login.start && b".-+".contains(&text[end - 1]) {
        end -= 1;
    }
    is_root.then_some(login.start..end)
}

fn group(found: &Captures<'_>, number: usize) -> Range<usize> {
    found.get(number).expect("it is in every match").range()
}

/// The place without what at its beginning belongs to an escape of JSON (`\n`) or to a terminal's colour (`[32m`).
fn unescaped(text: &[u8], place: Range<usize>) -> Range<usize> {
    let (before, rest) = text.split_at(place.start);
    let is_number = |it: &&u8| it.is_ascii_digit() || **it == b';';
    let colour = rest.iter().take_while(is_number).count();
    let skipped = match (before.last(), rest.first()) {
        (Some(b'\\'), Some(letter)) if b"nrtbf".contains(letter) => 1,
        (Some(b'['), _) if rest.get(colour) == Some(&b'm') => colour + 1,
        _ if is_colour(before) && rest.first() == Some(&b'm') => 1,
        _ => 0,
    };
    (place.start + skipped).min(place.end)..place.end
}

/// Whether this ends with the beginning of a terminal's colour: `[1;`.
fn is_colour(before: &[u8]) -> bool {
    let is_number = |it: &u8| it.is_ascii_digit() || *it == b';';
    let last = before.iter().rposition(|it| !is_number(it));
    last.is_some_and(|last| before[last] == b'[')
}

/// Whether an address stands in somebody's place, whole or as much of it as a page has in one piece.
fn stands_in(mail: &str) -> bool {
    let Some((local, domain)) = mail.split_once('@') else {
        return false;
    };
    let local = local.trim_end_matches(|it: char| it.is_ascii_digit());
    let is_other = local.ends_with(PERSON) || local.ends_with(SOMEONE);
    is_other && (domain.starts_with(DOMAIN) || DOMAIN.starts_with(domain))
}

/// By which letters the owner of a mailbox is known; none where it is a program's.
fn mailbox(mail: &str) -> Option<String> {
    let (local, domain) = mail.split_once('@')?;
    if local.ends_with("[bot]") {
        return None;
    }
    // `1234+alice@users.noreply.github.com`; elsewhere what is behind the sign is a folder.
    let local = match local.split_once('+') {
        Some((_, login)) if domain.contains("noreply") => login,
        Some((local, _)) => local,
        None => local,
    };
    let key = key(local);
    let is_program = SERVICES.contains(&&*key) || key.is_empty();
    (!is_program).then_some(key)
}

/// A name before an address, without words of the sentence before it: where the name's last words are the mailbox, it is these.
fn own_name<'n>(name: &'n str, mail: &str) -> &'n str {
    let Some(mailbox) = mailbox(mail) else {
        return name;
    };
    let starts = name.match_indices(' ').map(|(at, _)| at + 1);
    let mut suffixes = std::iter::once(0).chain(starts).map(|at| &name[at..]);
    suffixes
        .find(|suffix| key(suffix) == mailbox)
        .unwrap_or(name)
}

/// Whether a word is the name of a member of JSON: `"alice": …`.
fn is_key(text: &[u8], place: &Range<usize>) -> bool {
    let begins = text[..place.start].last() == Some(&b'"');
    let rest = &text[place.end..];
    let escapes = rest.iter().take_while(|it| **it == b'\\').count();
    let rest = rest[escapes..].strip_prefix(b"\"").unwrap_or_default();
    let spaces = rest.iter().take_while(|it| **it == b' ').count();
    begins && rest.get(spaces) == Some(&b':')
}

/// Whether a place is inside of a picture or a file.
fn is_in_base64(text: &[u8], place: &Range<usize>) -> bool {
    let is_letter = |it: &&u8| it.is_ascii_alphanumeric() || b"+/=".contains(it);
    let before = text[..place.start]
        .iter()
        .rev()
        .take(BASE64_BYTES)
        .take_while(is_letter)
        .count();
    let behind = text[place.end..]
        .iter()
        .take(BASE64_BYTES)
        .take_while(is_letter)
        .count();
    let is_all = text[place.clone()].iter().all(|it| is_letter(&it));
    is_all && before + behind >= BASE64_BYTES
}
