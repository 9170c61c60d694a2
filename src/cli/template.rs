//! Templates of `tract log --format`: stable, for programs.

use tract::history::LogRow;
use tract::model::Operation;
use tract::render::escape;

use super::failure::Failure;
use super::listing;

/// A template, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(Field),
}

/// What a template can hold; the letters are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Hash,
    ShortHash,
    Parent,
    Role,
    Operation,
    Kind,
    Tokens,
    Total,
    Preview,
    Date,
    Number,
}

impl Field {
    fn of(letter: char) -> Option<Self> {
        Some(match letter {
            'H' => Self::Hash,
            'h' => Self::ShortHash,
            'P' => Self::Parent,
            'r' => Self::Role,
            'o' => Self::Operation,
            'k' => Self::Kind,
            't' => Self::Tokens,
            'T' => Self::Total,
            's' => Self::Preview,
            'd' => Self::Date,
            'i' => Self::Number,
            _ => return None,
        })
    }

    /// The field of a row; empty where the row has none.
    fn text(self, row: &LogRow) -> String {
        let operation = &row.commit.operation;
        match self {
            Self::Hash => row.hash.to_string(),
            Self::ShortHash => row.hash.short(),
            Self::Parent => row.commit.parent.map_or(String::new(), |p| p.to_string()),
            Self::Role => row.role.map_or(String::new(), |role| role.to_string()),
            Self::Operation => operation.type_name().to_owned(),
            Self::Kind => match operation {
                Operation::Hide(hide) => hide.kind.as_str().to_owned(),
                _ => String::new(),
            },
            Self::Tokens => row.delta.to_string(),
            Self::Total => row.running.tokens.to_string(),
            Self::Preview => escape::line(&listing::describe(row)).into_owned(),
            Self::Date => row.commit.time.map_or(String::new(), |time| time.to_iso()),
            Self::Number => row
                .number
                .map_or(String::new(), |number| number.to_string()),
        }
    }
}

impl Template {
    /// Takes `%X` fields, `%n` (a new line), `%x00` (any byte below 80, in hex) and `%%` apart from
    /// the text around them.
    pub fn parse(text: &str) -> Result<Self, Failure> {
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
                Some(letter) => match Field::of(letter) {
                    Some(field) => {
                        if !plain.is_empty() {
                            pieces.push(Piece::Text(std::mem::take(&mut plain)));
                        }
                        pieces.push(Piece::Field(field));
                    }
                    None => return Err(unknown(&format!("%{letter}"))),
                },
                None => return Err(unknown("%")),
            }
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// The template, filled in.
    pub fn fill(&self, row: &LogRow) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Field(field) => field.text(row),
        };
        self.0.iter().map(text).collect()
    }
}

fn unknown(what: &str) -> Failure {
    Failure::usage(format!("'{what}' is no field of a template"))
        .with_hint("%H %h %P %r %o %k %t %T %s %d %i, %n, %xNN and %%; see tract log --help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_fields_are_taken_apart() {
        let template = Template::parse("a%%b %h%x09%T%n").unwrap_or(Template(Vec::new()));
        let text = |text: &str| Piece::Text(text.to_owned());
        assert_eq!(
            template.0,
            [
                text("a%b "),
                Piece::Field(Field::ShortHash),
                text("\t"),
                Piece::Field(Field::Total),
                text("\n"),
            ]
        );
        for wrong in ["%", "%q", "%x0", "%xff", "%xg0"] {
            assert!(Template::parse(wrong).is_err(), "{wrong}");
        }
    }
}
