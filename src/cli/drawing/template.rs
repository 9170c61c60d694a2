//! Templates of `tract log --format`: stable, for programs.

use tract::model::{Millis, Operation};
use tract::query::LogRow;
use tract::render::escape;

use crate::cli::drawing::listing;
use crate::cli::{Failure, Result};

/// A template, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A place in [`FIELDS`], as it is or as a JSON string.
    Field(usize, bool),
}

/// What a field says of a row.
type Say = fn(&LogRow) -> String;

/// What a template can hold, empty where a row has none; the letters are stable.
const FIELDS: [(char, Say); 13] = [
    ('H', |row| row.hash.to_string()),
    ('h', |row| row.hash.short()),
    ('P', |row| or_empty(row.commit.parent)),
    ('r', |row| or_empty(row.role)),
    ('o', |row| row.commit.operation.type_name().to_owned()),
    ('k', |row| match &row.commit.operation {
        Operation::Hide(hide) => hide.kind.as_str().to_owned(),
        _ => String::new(),
    }),
    ('t', |row| row.delta.to_string()),
    ('T', |row| row.running.tokens.to_string()),
    ('s', |row| {
        escape::line(&listing::describe(row)).into_owned()
    }),
    ('d', |row| or_empty(row.commit.time.map(Millis::to_iso))),
    ('i', |row| or_empty(row.number)),
    ('c', |row| {
        escape::line(row.call.as_deref().unwrap_or_default()).into_owned()
    }),
    ('a', |row| {
        escape::line(&or_empty(row.commit.author.as_ref())).into_owned()
    }),
];

fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn field(letter: char, is_json: bool) -> Option<Piece> {
    let place = FIELDS.iter().position(|(known, _)| *known == letter);
    place.map(|place| Piece::Field(place, is_json))
}

impl Template {
    /// Takes `%X` fields, `%jX` (the same as a JSON string), `%n` (a new line), `%x00` (any byte below 80, in hex)
    /// and `%%` apart from the text around them.
    pub fn parse(text: &str) -> Result<Self> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                plain.push(letter);
                continue;
            }
            match letters.next() {
                Some('%') => plain.push('%'),
                Some('n') => plain.push('\n'),
                Some('x') => {
                    let digits: String = letters.by_ref().take(2).collect();
                    match u8::from_str_radix(&digits, 16) {
                        Ok(byte) if byte.is_ascii() && digits.len() == 2 => {
                            plain.push(char::from(byte));
                        }
                        _ => return Err(unknown(&format!("%x{digits}"))),
                    }
                }
                Some(letter) => {
                    let inner = (letter == 'j').then(|| letters.next()).flatten();
                    let typed = [Some(letter), inner]
                        .into_iter()
                        .flatten()
                        .collect::<String>();
                    let field = match (letter, inner) {
                        ('j', Some(inner)) => field(inner, true),
                        ('j', None) => None,
                        (letter, _) => field(letter, false),
                    };
                    let field = field.ok_or_else(|| unknown(&format!("%{typed}")))?;
                    pieces.extend([Piece::Text(std::mem::take(&mut plain)), field]);
                }
                None => return Err(unknown("%")),
            }
        }
        pieces.push(Piece::Text(plain));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        if !pieces.iter().any(|piece| matches!(piece, Piece::Field(..))) {
            let failure = Failure::usage(format!("the template '{text}' has no field"));
            return Err(failure.with_hint("such as '%h %r %s'; see tract log --help"));
        }
        Ok(Self(pieces))
    }

    /// The template, filled in.
    pub fn fill(&self, row: &LogRow) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Field(place, false) => FIELDS[*place].1(row),
            Piece::Field(place, true) => serde_json::Value::from(FIELDS[*place].1(row)).to_string(),
        };
        self.0.iter().map(text).collect()
    }
}

fn unknown(what: &str) -> Failure {
    Failure::usage(format!("'{what}' is not a field of a template"))
        .with_hint("%H %h %P %r %o %k %t %T %s %d %i %c %a, %j before each, %n, %xNN and %%; see tract log --help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_fields_are_taken_apart() {
        let template = Template::parse("a%%b %h%x09%T%n").unwrap_or(Template(Vec::new()));
        let text = |text: &str| Piece::Text(text.to_owned());
        let field = |letter| field(letter, false).expect("it is known");
        assert_eq!(
            template.0,
            [text("a%b "), field('h'), text("\t"), field('T'), text("\n")]
        );
        for wrong in [
            "%", "%q", "%j", "%jq", "%x0", "%xff", "%xg0", "no field", "%%",
        ] {
            assert!(Template::parse(wrong).is_err(), "{wrong}");
        }
    }
}
