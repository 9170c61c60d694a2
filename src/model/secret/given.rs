//! The value that a name is given: `API_KEY=…`, `"clientSecret": "…"`, `--token …`, `<password>…</password>`, and where a
//! field for names has the name and one for values the value.
//!
//! Deliberately absent: tables (`columns.rs`) and sentences (`sentence.rs`). How commands are passed a password is in `commands.rs`.

use std::ops::Range;

use super::name::{Name, Says, name};
use super::value::{
    Written, is_algorithm, is_chosen, is_remembered, is_remembered_by_year, is_secret, is_striking,
    is_sure, is_told,
};
use super::{blanks, columns, feed, run, sentence};

/// What says in a few letters that a password follows.
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

/// What takes a name and a value without a sign between them.
const SETTERS: [&str; 14] = [
    "setx ",
    "ENV ",
    "ARG ",
    "setenv ",
    "set -gx ",
    "set -Ux ",
    "set -x ",
    "onfigure set ",
    "onfig set ",
    "onfig:set ",
    "config ",
    "--secret ",
    "env add ",
    "var set ",
];

/// The signs that give a name its value, longer ones before those that they hold.
const SIGNS: [&str; 19] = [
    "||=", "??=", "===", "!==", ": str =", "=>", ":=", "?=", "==", "!=", "->", "<-", "=", ":", ">",
    ",", "|", "(", "{",
];

/// What a field for names is called, and one for values.
const NAME_FIELDS: [&str; 12] = [
    "name", "Name", "NAME", "key", "Key", "KEY", "variable", "id", "field", "param", "option",
    "property",
];
const VALUE_FIELDS: [&str; 8] = [
    "alue", "efault", "tring", "ontent", "ata", "VALUE", "laintext", "ecret",
];
/// How far from a name the field for its value may stand, in bytes.
const FIELD_REACH: usize = 160;

/// What says how a value is spelled, at its front.
const ENCODINGS: [&str; 6] = [
    "<![CDATA[",
    "base64:",
    "hex:",
    "plain:",
    "{noop}",
    "{plain}",
];
/// How many of some in brackets are looked at.
const LISTED: usize = 4;
/// How far behind its name something is looked for that a machine drew, in bytes.
const BESIDE: usize = 90;
/// The longest value.
const VALUE: usize = 4096;
/// The most blanks between a name, a sign and a value that is quoted.
const BLANKS: usize = 24;
/// The most of them where it is not.
const FEW_BLANKS: usize = 3;

/// Adds the values of the name that has a needle at `at`.
pub(super) fn values(text: &[u8], at: usize, found: &mut Vec<Range<usize>>) {
    let Some(name) = name(text, at) else {
        return;
    };
    let one = signed(text, &name)
        .or_else(|| in_field(text, &name))
        .or_else(|| sentence::told(text, &name))
        .or_else(|| beside(text, &name));
    match one {
        Some(place) => found.push(place),
        None => columns::cells(text, &name, found),
    }
}

/// What a machine drew, in the same line behind a name: whatever stands between, nothing else looks so.
fn beside(text: &[u8], name: &Name) -> Option<Range<usize>> {
    if !matches!(name.says, Says::Password | Says::Key) {
        return None;
    }
    let most = text.len().min(name.place.end + BESIDE);
    let mut at = name.place.end;
    while at < most && feed(&text[at..]) == 0 {
        let len = run(&text[at..], VALUE, |it| {
            it.is_ascii_alphanumeric() || b"_-!@#$%^&*?+~./=".contains(&it)
        });
        let mut place = at..at + len;
        // What a line feed of JSON leaves, and what gives a name its value.
        let signs = text[place.clone()]
            .iter()
            .take_while(|it| !it.is_ascii_alphanumeric())
            .count();
        place.start += signs;
        let value = &text[place.clone()];
        let is_between = |at: usize| text.get(at).is_some_and(|it| b"\"'`".contains(it));
        let is_quoted = place.start > 0
            && is_between(place.start - 1)
            && (is_between(place.end) || text[place.end..].starts_with(b"\\"));
        let is_password =
            name.says == Says::Password && is_quoted && is_striking(value) && is_told(value);
        if is_sure(value) || is_password {
            return Some(place);
        }
        // The next name has a value of its own, and a text of JSON ends.
        let is_next = matches!(&text[at + len..], [b'"', b',' | b'}' | b':', ..]);
        if is_next && at > name.place.end + 2 {
            return None;
        }
        at += len.max(1);
    }
    None
}

/// Where a value begins, and how it is written.
struct Begun {
    from: usize,
    /// The quote that ends it.
    quote: Option<u8>,
    written: Written,
    /// Whether it stands in a list behind its name.
    is_listed: bool,
    /// Whether a function of that name takes it.
    is_called: bool,
    /// Whether it is the argument of a command, or set by one.
    is_flag: bool,
    is_set: bool,
    /// Whether it stands in the next line, and so has to look like one.
    is_below: bool,
}

/// The value behind a sign, or the one of some in brackets.
fn signed(text: &[u8], name: &Name) -> Option<Range<usize>> {
    let mut begun = begin(text, name)?;
    if begun.quote.is_none() && matches!(text.get(begun.from), Some(b'[' | b'(' | b'{')) {
        begun.from += 1;
        for _ in 0..LISTED {
            begun.from += blanks(&text[begun.from..], 2);
            let (len, quote) = quoted(&text[begun.from..])?;
            let begun_here = Begun {
                from: begun.from + len,
                quote: Some(quote),
                written: Written::Quoted,
                ..begun
            };
            let place = extent(text, &begun_here, Says::Password)?;
            if is_chosen(&text[place.clone()], true) {
                return Some(place);
            }
            begun.from = place.end + run(&text[place.end..], 8, |it| b"\\\"'`".contains(&it));
            if text.get(begun.from) != Some(&b',') {
                return None;
            }
            begun.from += 1;
        }
        return None;
    }
    let place = extent(text, &begun, name.says)?;
    let of_user = sentence::behind_user(text, place.clone());
    let mut places = [place, of_user].into_iter();
    places.find(|it| is_one(text, name, &begun, it))
}

/// How long a type is that stands between a name and its sign, as in `let token: Option<String> = "…"`: up to the sign. Only a
/// quoted value may follow.
fn annotation(text: &[u8]) -> Option<usize> {
    let is_of_type = |it: u8| it.is_ascii_alphanumeric() || b"_<>&'?.[]*: ".contains(&it);
    let len = run(text, 40, is_of_type);
    let behind = text.get(len..)?;
    let is_type =
        text[..len].iter().any(u8::is_ascii_alphabetic) && b"?: []".contains(text.first()?);
    let sign = behind.starts_with(b"=") && !behind.starts_with(b"=>") && !behind.starts_with(b"==");
    let value = behind.get(1..)?;
    let quotes = &value[blanks(value, BLANKS)..];
    (is_type && sign && quoted(quotes).is_some()).then_some(len)
}

/// How many bytes stand before what a variable is without a value: `${NAME:-` and its like.
fn default(text: &[u8]) -> usize {
    if !text.starts_with(b"${") {
        return 0;
    }
    let name = 2 + run(&text[2..], 40, |it| {
        it.is_ascii_alphanumeric() || it == b'_'
    });
    match &text[name..] {
        [b':', b'-' | b'=', ..] => name + 2,
        _ => 0,
    }
}

/// How many bytes open a quoted value: `"`, `\"`, `N'`, `SecretString("`; and the quote.
fn quoted(text: &[u8]) -> Option<(usize, u8)> {
    let before = run(text, 40, |it| {
        it.is_ascii_alphanumeric() || b"_.:&@$".contains(&it)
    });
    let is_call = text.get(before) == Some(&b'(');
    let lower = text[..before].to_ascii_lowercase();
    let asks = [
        &b"get"[..],
        b"env",
        b"read",
        b"load",
        b"fetch",
        b"find",
        b"param",
        b"setting",
        b"config",
        b"var",
        b"secret(",
    ];
    let is_asked = asks
        .iter()
        .any(|it| memchr::memmem::find(&lower, it).is_some());
    if is_call && is_asked || !is_call && before > 2 {
        return None;
    }
    let from = before + usize::from(is_call);
    let from = from + if is_call { blanks(&text[from..], 2) } else { 0 };
    let quotes = run(&text[from..], 8, |it| b"\\\"'`".contains(&it));
    let last = *text[from..from + quotes].last()?;
    (last != b'\\').then_some((from + quotes, last))
}

fn begin(text: &[u8], name: &Name) -> Option<Begun> {
    let Range { start, end } = name.place;
    let before = &text[..start];
    let is_set = SETTERS.iter().any(|it| before.ends_with(it.as_bytes()));
    let is_flag = is_set || before.ends_with(b"--") || before.ends_with(b" -");
    let mut from = end;
    from += run(&text[from..], 8, |it| b"\\\"'`])*".contains(&it));
    if feed(&text[end..]) > 0 {
        from = end;
    }
    let spaces = blanks(&text[from..], BLANKS);
    let typed = annotation(&text[end..]).map(|len| end + len);
    from = typed.unwrap_or(from + spaces);
    let sign = SIGNS
        .iter()
        .find(|it| text[from..].starts_with(it.as_bytes()));
    let mut sign = sign.map_or("", |it| *it);
    let mut len = sign.len();
    let is_told = sign.is_empty() && !is_flag && name.says == Says::Password;
    if is_told {
        // `my password is X`, `WITH PASSWORD 'X'`.
        let copulas = COPULAS.iter().map(|it| it.as_bytes());
        let told = copulas
            .filter(|it| text[from - spaces..].starts_with(it))
            .map(<[u8]>::len)
            .max();
        let is_quoted = spaces > 0 && quoted(&text[from..]).is_some();
        if told.is_none() && !is_quoted {
            return None;
        }
        len = told.unwrap_or(0).saturating_sub(spaces);
    } else if sign.is_empty() && !(is_flag && spaces > 0) {
        return None;
    }
    from += len;
    // Two colons, a sign of markup.
    from += run(&text[from..], 4, |it| it == b'*' && sign == ":");
    let behind = blanks(&text[from..], BLANKS);
    from += behind;
    let mut is_below = false;
    if matches!(sign, ":" | "=" | ">" | "=>" | ":=") {
        let block = run(&text[from..], 2, |it| b"|>-".contains(&it));
        let down = feed(&text[from + block..]);
        if down > 0 {
            is_below = true;
            from += block + down;
            from += if text[from..].starts_with(b"- ") {
                2
            } else {
                0
            };
        }
    }
    from += default(&text[from..]);
    let opened = quoted(&text[from..]);
    if opened.is_none()
        && (matches!(sign, "(" | "{" | "->" | "<-")
            || spaces.max(behind) > FEW_BLANKS && sign != "|" && !is_flag)
    {
        return None;
    }
    if sign.is_empty() && is_flag {
        sign = " ";
    }
    let start = from + opened.map_or(0, |(len, _)| len);
    let encoding = ENCODINGS
        .iter()
        .find(|it| text[start..].starts_with(it.as_bytes()));
    let encoding = encoding.map_or(0, |it| it.len());
    let is_tight = spaces + behind == 0 && !is_told && !is_below && sign != "|" && sign != ",";
    Some(Begun {
        from: start + encoding,
        quote: opened.map(|(_, quote)| quote),
        written: match opened {
            Some(_) => Written::Quoted,
            None if is_tight || is_flag => Written::Tight,
            None => Written::Loose,
        },
        is_listed: sign == ",",
        is_called: sign == "(",
        is_flag,
        is_set,
        is_below,
    })
}

/// Where the value ends; none where what stands there goes on as no value does.
fn extent(text: &[u8], begun: &Begun, says: Says) -> Option<Range<usize>> {
    let Begun {
        from,
        quote,
        written,
        ..
    } = *begun;
    let is_password = says == Says::Password;
    let goes_on = |it: u8| match written {
        Written::Quoted => it.is_ascii_graphic() && Some(it) != quote && !b"\\\"".contains(&it),
        Written::Loose if !is_password => it.is_ascii_alphanumeric() || b"+/_~.-".contains(&it),
        // An argument ends at a blank.
        _ => {
            it.is_ascii_alphanumeric()
                || b"!@#$%^&*?+/_~.-".contains(&it)
                || begun.is_flag && it == b'='
        }
    };
    // Base64 ends with signs that give a name its value elsewhere.
    let mut len = run(&text[from..], VALUE, goes_on);
    // The next field of a form.
    let is_field = |at: &usize| {
        let rest = &text[from + at + 1..];
        let name = run(rest, 32, |it| it.is_ascii_alphabetic() || it == b'_');
        name > 0 && rest.get(name) == Some(&b'=')
    };
    let mut fields = memchr::memchr_iter(b'&', &text[from..from + len]);
    if quote.is_none()
        && let Some(at) = fields.find(is_field)
    {
        len = at;
    }
    if written == Written::Loose {
        // The end of a sentence.
        let signs = text[from..from + len].iter().rev();
        len -= signs.take_while(|it| b".!?".contains(it)).count();
        // What people are told to add to a number.
        len += usize::from(
            text[from..from + len]
                .last()
                .is_some_and(u8::is_ascii_digit)
                && text[from + len..].starts_with(b"!"),
        );
    }
    let value = from..from + len + run(&text[from + len..], 2, |it| it == b'=');
    // A preview is cut anywhere, and says so.
    let is_whole = !text[value.end..].starts_with("…".as_bytes());
    let next = text.get(value.end).copied().filter(|_| is_whole);
    // A call, an index, a word that goes on; but a sentence of Chinese or Japanese may go on at once.
    let goes_on = |it: u8| !(it.is_ascii() || is_password && (0xe3..=0xef).contains(&it));
    let is_tagged = text[..from].ends_with(b">") && next == Some(b'<');
    let is_cut = |it: u8| !is_tagged && quote.is_none() && b"([{<:".contains(&it);
    (!next.is_some_and(|it| goes_on(it) || is_cut(it))).then_some(value)
}

/// Whether the value is secret, by its name and its place.
fn is_one(text: &[u8], name: &Name, begun: &Begun, place: &Range<usize>) -> bool {
    let value = &text[place.clone()];
    let (written, says) = (begun.written, name.says);
    let spelled = &text[name.place.clone()];
    let is_password = says == Says::Password;
    let is_asked = matches!(
        text.get(name.place.start.wrapping_sub(1)),
        Some(b'?' | b'&')
    ) && value.len() >= 12;
    // `call(SOME_KEY, Tls12CipherSuite)` and `SOME_KEY: X509Key` are code; `X-Api-Key: …` is a header.
    let is_header = spelled.contains(&b'-');
    let is_code = !is_password && (written == Written::Loose && !is_header || begun.is_listed);
    let is_certain = is_password
        || is_asked
        || begun.is_set
        || begun.is_flag && value.len() >= 20
        || is_bearer(spelled) && says != Says::Weak;
    if begun.is_called && !is_password && is_algorithm(value) {
        return false;
    }
    if begun.is_below && begun.quote.is_none() && !is_told(value) {
        return false;
    }
    // A type, and the value behind that.
    let behind = &text[place.end..];
    let is_type =
        written == Written::Loose && behind[blanks(behind, FEW_BLANKS)..].starts_with(b"=");
    if is_type {
        return false;
    }
    if says == Says::Weak && written == Written::Loose && !is_line(text, name, place) {
        return false;
    }
    is_secret(value, says, written)
        || is_certain && !is_code && is_chosen(value, written == Written::Loose)
        || is_password
            && written != Written::Loose
            && !begun.is_listed
            && (is_told(value) || is_remembered(value))
        || is_password
            && written == Written::Loose
            && !begun.is_listed
            && is_line(text, name, place)
            && (is_told(value) || is_remembered_by_year(value))
}

/// Whether a value that is not quoted is all that its line gives its name: the line begins with the name, or with what people put
/// before one, and nothing of a program follows.
fn is_line(text: &[u8], name: &Name, value: &Range<usize>) -> bool {
    let ends = match &text[value.end..] {
        [] => true,
        [b'.' | b'!' | b'?', next, ..] => !next.is_ascii_alphanumeric(),
        [b',', b' ', ..] if !is_type(&text[value.clone()]) => true,
        [next, ..] => {
            next.is_ascii_whitespace() || b"\"'\\|*.!?`}".contains(next) || !next.is_ascii()
        }
    };
    let before = text[..name.place.start].last();
    let begins = before
        .is_none_or(|it| it.is_ascii_whitespace() || b"\"'`*|n-".contains(it) || !it.is_ascii());
    ends && begins
}

/// Whether it is a name as types have: words with capitals, behind whose digits another begins.
fn is_type(value: &[u8]) -> bool {
    let is_within = |two: &[u8; 2]| two[0].is_ascii_digit() && two[1].is_ascii_lowercase();
    value.first().is_some_and(u8::is_ascii_uppercase)
        && value.iter().all(u8::is_ascii_alphanumeric)
        && !value.array_windows().any(is_within)
}

/// The value that stands in a field for values, where the name stands in one for names: `name: X` and `value: Y` below it,
/// `<key>X</key><string>Y</string>`; or where the name has fields of its own, of which one is for the value.
fn in_field(text: &[u8], name: &Name) -> Option<Range<usize>> {
    let Range { start, end } = name.place;
    let before = &text[start.saturating_sub(48)..start];
    // A path to the name.
    let path = before
        .iter()
        .rev()
        .take_while(|it| it.is_ascii_alphanumeric() || b"/_.-".contains(it))
        .count();
    let before = &before[..before.len() - if before.ends_with(b"/") { path } else { 0 }];
    let before = before.trim_ascii_end();
    let signs = before
        .iter()
        .rev()
        .take_while(|it| b"\\\"'`>:= (".contains(it))
        .count();
    let is_named = NAME_FIELDS
        .iter()
        .any(|it| before[..before.len() - signs].ends_with(it.as_bytes()));
    let reach = &text[end..text.len().min(end + FIELD_REACH)];
    if !is_named {
        let closes = |at: &usize| feed(&reach[*at..]) == 0 && b"\\\"'`:= ".contains(&reach[*at]);
        let closed = (0..reach.len().min(8)).take_while(closes).count();
        let is_opened =
            reach.get(closed) == Some(&b'{') || closed > 0 && feed(&reach[closed..]) > 0;
        if !is_opened {
            return None;
        }
    }
    let mut at = 0;
    // The first field for a value, before another name.
    while at < reach.len() {
        let field = VALUE_FIELDS
            .iter()
            .find(|it| reach[at..].starts_with(it.as_bytes()));
        if at > 0 && (reach[at..].starts_with(b"ame\"") || reach[at..].starts_with(b"name:")) {
            return None;
        }
        if let Some(field) = field
            && !reach[at + field.len()..]
                .first()
                .is_some_and(u8::is_ascii_alphanumeric)
        {
            let word = end + at;
            let field = Name {
                place: word - usize::from(reach[..at].last().is_some_and(u8::is_ascii_alphabetic))
                    ..word + field.len(),
                ..name.clone()
            };
            at += 1;
            let begun = begin(text, &field).filter(|it| !it.is_listed);
            let Some((begun, place)) =
                begun.and_then(|it| extent(text, &it, name.says).map(|place| (it, place)))
            else {
                continue;
            };
            let is_it = is_one(text, name, &begun, &place)
                || begun.written == Written::Loose && is_told(&text[place.clone()]);
            if is_it {
                return Some(place);
            }
            continue;
        }
        at += 1;
    }
    None
}

/// Whether it is the name of a header that bears a key, or of a variable of an environment: `X-Auth-Token`, `NPM_TOKEN`.
fn is_bearer(name: &[u8]) -> bool {
    let has_capital = name.iter().any(u8::is_ascii_uppercase);
    let is_variable = !name.iter().any(u8::is_ascii_lowercase);
    has_capital && (is_variable || name.contains(&b'-'))
}
