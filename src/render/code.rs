//! Code in colours: which pieces of a text in some language are what.
//!
//! It is pure: a text and a language go in, labelled pieces come out, and a painter says how they look. A text may be
//! hostile, so that there are bounds: what is beyond them is plain. Grammars are unpacked when the first text in their
//! language is asked for; a thread keeps those that it used last.
//!
//! ```
//! use tract::render::code::{self, Language};
//! use tract::render::{Label, Syntax};
//!
//! let rust = Language::named("rust").expect("known");
//! let lines = code::lines("let a = 1; // one", &rust);
//! let comment = lines[0].runs().last().expect("one");
//! assert_eq!((comment.text(), comment.label), ("// one", Label::Code(Syntax::Comment)));
//! ```

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use syntaxmate::{Catalog, PreparedLanguage, Tokenizer, TokenizerOptions};

use crate::render::{Label, Line, Syntax};

/// The longest line that has colours: what is longer was written by no one to be read.
const LINE_BYTES: usize = 512;
/// How much of a text has colours.
const TEXT_BYTES: usize = 64 << 10;
/// How deep a text may be nested where a line ends: what is deeper takes time that grows with the depth.
const DEPTH: usize = 48;
/// How many grammars a thread keeps.
const KEPT: usize = 12;

/// A language that has colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Language(Arc<str>);

/// A piece of a text that has a colour. It holds no line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSpan {
    /// Where in the text.
    pub range: Range<usize>,
    /// What it is.
    pub syntax: Syntax,
}

thread_local! {
    /// What was unpacked: the language used last stands last.
    static GRAMMARS: RefCell<Vec<(Language, Tokenizer)>> = const { RefCell::new(Vec::new()) };
}

impl Language {
    /// The one that goes by this name, as it stands above a block of code: `rust`, `rs`, `rust,ignore`.
    pub fn named(word: &str) -> Option<Self> {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "+#_-.".contains(c);
        let word = word.trim_start_matches(['{', '.']).to_ascii_lowercase();
        let end = word.find(|c| !is_of_name(c)).unwrap_or(word.len());
        let word = match &word[..end] {
            "" => return None,
            "console" | "shell" | "sh-session" | "terminal" | "zsh" => "bash",
            word => word,
        };
        let catalog = Catalog::bundled();
        let id = catalog.canonical_language(word)?;
        Some(Self(id.into()))
    }

    /// The one that a file of this name is in.
    pub fn of_file(path: &str) -> Option<Self> {
        // A name alone says it; whatever stands before it may be of any length.
        let name = path
            .rsplit(['/', '\\'])
            .next()
            .filter(|name| name.len() < 256)?;
        let catalog = Catalog::bundled();
        let id = catalog.detect_path(name)?;
        Some(Self(id.into()))
    }

    /// What it is called.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The pieces of a text that have a colour, in order; the rest is plain.
pub fn spans(text: &str, language: &Language) -> Vec<CodeSpan> {
    let Some(mut tokenizer) = take(language) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut state = tokenizer.initial_state();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if at > TEXT_BYTES {
            break;
        }
        let line = line.trim_end_matches(['\n', '\r']);
        if line.len() > LINE_BYTES {
            continue;
        }
        let before = found.len();
        let read = tokenizer.tokenize_line_with(line, &mut state, |token| {
            let range = token.range();
            let Some(said) = line.get(range.clone()).filter(|said| !said.is_empty()) else {
                return;
            };
            let scopes: Vec<&str> = token.scopes().collect();
            if let Some(syntax) = syntax_of(&scopes, said) {
                push(&mut found, start + range.start..start + range.end, syntax);
            }
        });
        let is_whole = read.is_ok_and(|status| status.is_complete());
        if !is_whole {
            found.truncate(before);
        }
        if !is_whole || state.depth() > DEPTH {
            break;
        }
    }
    keep(language, tokenizer);
    found
}

/// The text cut into pieces, each with what it is; together they are the text.
pub fn pieces<'t>(text: &'t str, spans: &[CodeSpan]) -> impl Iterator<Item = (&'t str, Label)> {
    let mut pieces = Vec::with_capacity(spans.len() * 2 + 1);
    let mut at = 0;
    for span in spans {
        pieces.push((&text[at..span.range.start], Label::Text));
        pieces.push((&text[span.range.clone()], Label::Code(span.syntax)));
        at = span.range.end;
    }
    pieces.push((&text[at..], Label::Text));
    pieces.into_iter().filter(|(text, _)| !text.is_empty())
}

/// The lines of a text, labelled; tabs stay.
pub fn lines(text: &str, language: &Language) -> Vec<Line> {
    let found = spans(text, language);
    let mut spans = found.into_iter().peekable();
    let mut lines = Vec::new();
    let mut start = 0;
    for whole in text.split_inclusive('\n') {
        let said = whole.trim_end_matches(['\n', '\r']);
        let (mut line, mut at) = (Line::new(), start);
        while let Some(span) = spans.next_if(|span| span.range.start < start + whole.len()) {
            line += Label::Text.quote(&text[at..span.range.start]);
            line += Label::Code(span.syntax).quote(&text[span.range.clone()]);
            at = span.range.end;
        }
        line += Label::Text.quote(&text[at..start + said.len()]);
        lines.push(line);
        start += whole.len();
    }
    lines
}

/// Adds a piece, to the one before it where that is the same and ends there.
fn push(found: &mut Vec<CodeSpan>, range: Range<usize>, syntax: Syntax) {
    match found.last_mut() {
        Some(last) if last.syntax == syntax && last.range.end == range.start => {
            last.range.end = range.end;
        }
        _ => found.push(CodeSpan { range, syntax }),
    }
}

/// What reads a language, to be given back.
fn take(language: &Language) -> Option<Tokenizer> {
    let kept = GRAMMARS.with_borrow_mut(|grammars| {
        let at = grammars.iter().position(|(of, _)| of == language)?;
        Some(grammars.remove(at).1)
    });
    kept.or_else(|| {
        let prepared = PreparedLanguage::from_catalog(&Catalog::bundled(), &language.0).ok()?;
        let options = TokenizerOptions {
            max_line_bytes: LINE_BYTES + 1,
            line_cache_entries: 0,
        };
        Some(Tokenizer::from_prepared(&prepared, options))
    })
}

fn keep(language: &Language, tokenizer: Tokenizer) {
    GRAMMARS.with_borrow_mut(|grammars| {
        grammars.retain(|(of, _)| of != language);
        grammars.push((language.clone(), tokenizer));
        if grammars.len() > KEPT {
            grammars.remove(0);
        }
    });
}

/// What each scope means, by its beginning; the first that fits counts. `None`: nothing in particular, whatever is
/// around it.
///
/// # Source
///
/// TextMate's manual, "Naming Conventions".
const SCOPES: [(&str, Option<Syntax>); 44] = [
    ("comment", Some(Syntax::Comment)),
    ("meta.template.expression", None),
    ("meta.interpolation", None),
    ("meta.embedded", None),
    ("meta.diff.header", Some(Syntax::Heading)),
    ("meta.diff.range", Some(Syntax::Constant)),
    ("punctuation.section.embedded", None),
    ("constant.character.escape", Some(Syntax::Constant)),
    ("constant.other.symbol", Some(Syntax::String)),
    ("constant", Some(Syntax::Constant)),
    ("string.unquoted.plain.out.yaml", Some(Syntax::String)),
    ("string.unquoted.argument.shell", None),
    ("string", Some(Syntax::String)),
    ("storage.type.java", Some(Syntax::Type)),
    ("storage.type.generic.java", Some(Syntax::Type)),
    ("storage.type.object", Some(Syntax::Type)),
    ("storage.type.built-in.primitive", Some(Syntax::Type)),
    ("storage.type.primitive", Some(Syntax::Type)),
    ("storage.type.numeric", Some(Syntax::Type)),
    ("storage.type.string.go", Some(Syntax::Type)),
    ("storage", Some(Syntax::Keyword)),
    ("keyword", Some(Syntax::Keyword)),
    ("variable.language", Some(Syntax::Keyword)),
    ("variable.other.key", Some(Syntax::Property)),
    ("variable.key", Some(Syntax::Property)),
    ("entity.name.function", Some(Syntax::Function)),
    ("entity.name.command", Some(Syntax::Function)),
    ("support.function", Some(Syntax::Function)),
    ("entity.name.tag.yaml", Some(Syntax::Property)),
    ("entity.name.tag", Some(Syntax::Tag)),
    ("entity.other.attribute-name", Some(Syntax::Property)),
    ("support.type.property-name", Some(Syntax::Property)),
    ("entity.name.section", Some(Syntax::Heading)),
    ("markup.heading", Some(Syntax::Heading)),
    ("entity.name.type", Some(Syntax::Type)),
    ("entity.name.class", Some(Syntax::Type)),
    ("entity.other.inherited-class", Some(Syntax::Type)),
    ("support.type", Some(Syntax::Type)),
    ("support.class", Some(Syntax::Type)),
    ("markup.inserted", Some(Syntax::Inserted)),
    ("markup.deleted", Some(Syntax::Deleted)),
    ("markup.inline.raw", Some(Syntax::String)),
    ("source", None),
    ("text", None),
];

/// What a piece is, by its scopes, the outermost first.
fn syntax_of(scopes: &[&str], said: &str) -> Option<Syntax> {
    for scope in scopes.iter().rev() {
        // An operator is a word, or it speaks for itself.
        if scope.starts_with("keyword.operator") && !said.contains(char::is_alphabetic) {
            return None;
        }
        let known = SCOPES.iter().find(|(begins, _)| scope.starts_with(begins));
        if let Some((_, syntax)) = known {
            return *syntax;
        }
    }
    None
}

#[cfg(test)]
mod tests;
