//! Templates of `tract log --format`: stable, for programs.

use tract::history::LogRow;
use tract::model::{Millis, Operation};
use tract::render::escape;

use super::{Failure, Result, listing};

/// A template, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A place in [`FIELDS`].
    Field(usize),
}

/// What a field says of a row.
type Say = fn(&LogRow) -> String;

/// What a template can hold, empty where a row has none; the letters are stable.
const FIELDS: [(char, Say); 12] = [
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
];

fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn field(letter: char) -> Option<Piece> {
    let place = FIELDS.iter().position(|(known, _)| *known == letter);
    place.map(Piece::Field)
}

impl Template {
    /// Takes `%X` fields, `%n` (a new line), `%x00` (any byte below 80, in hex) and `%%` apart from
    /// the text around them.
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
                    let unknown = || unknown(&format!("%{letter}"));
                    let field = field(letter).ok_or_else(unknown)?;
                    pieces.extend([Piece::Text(std::mem::take(&mut plain)), field]);
                }
                None => return Err(unknown("%")),
            }
        }
        pieces.push(Piece::Text(plain));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Ok(Self(pieces))
    }

    /// The template, filled in.
    pub fn fill(&self, row: &LogRow) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Field(place) => FIELDS[*place].1(row),
        };
        self.0.iter().map(text).collect()
    }
}

fn unknown(what: &str) -> Failure {
    Failure::usage(format!("'{what}' is not a field of a template"))
        .with_hint("%H %h %P %r %o %k %t %T %s %d %i %c, %n, %xNN and %%; see tract log --help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_fields_are_taken_apart() {
        let template = Template::parse("a%%b %h%x09%T%n").unwrap_or(Template(Vec::new()));
        let text = |text: &str| Piece::Text(text.to_owned());
        let field = |letter| field(letter).expect("it is known");
        assert_eq!(
            template.0,
            [text("a%b "), field('h'), text("\t"), field('T'), text("\n")]
        );
        for wrong in ["%", "%q", "%x0", "%xff", "%xg0"] {
            assert!(Template::parse(wrong).is_err(), "{wrong}");
        }
    }
}
