//! A request to a model as a page: what was sent, folded, and readable.

use serde_json::Value;

use super::block::{PEEK_BYTES, head};
use super::document::PageFrame;
use super::markup::Markup;
use crate::render::chat::first_line;
use crate::render::{bytes, plural};

/// A value with more text than this is folded.
const OPEN_BYTES: usize = 400;
/// How deep values are taken apart.
const DEPTH: usize = 8;
/// What a request is made of, and how its parts are called; in this order, before the rest.
const PARTS: [&str; 8] = [
    "system",
    "instructions",
    "systemInstruction",
    "tools",
    "messages",
    "input",
    "contents",
    "model",
];

/// The page of a request. All texts are hostile until escaped.
pub fn request(
    frame: &PageFrame<'_>,
    title: &str,
    facts: &[String],
    notices: &[String],
    (payload, whole): (&str, &str),
) -> String {
    let mut markup = Markup::default();
    frame.begin(title, &mut markup);
    markup.raw("<header>\n").element("h1", "title", title);
    markup.raw("\n<ul class=\"facts\">");
    for fact in facts {
        markup.raw("<li>").text(fact).raw("</li>");
    }
    markup
        .raw("<li>")
        .text(&bytes(payload.len() as u64))
        .raw("</li><li>");
    let attributes = [("href", Some(whole)), ("download", Some("request.json"))];
    markup
        .open("a", &attributes)
        .raw("whole, as JSON</a></li><li>");
    markup.raw("<a href=\"./\">the conversation</a></li></ul>\n</header>\n<main class=\"sent\">\n");
    for notice in notices {
        markup.element("p", "notice", notice).raw("\n");
    }
    match serde_json::from_str(payload) {
        Ok(Value::Object(mut all)) => {
            for key in PARTS {
                if let Some(value) = all.shift_remove(key) {
                    member(&mut markup, key, &value, 0);
                }
            }
            for (key, value) in &all {
                member(&mut markup, key, value, 0);
            }
        }
        _ => {
            lines(&mut markup, payload);
        }
    }
    markup.raw("</main>\n");
    frame.end(&mut markup);
    markup.take()
}

/// A member of an object, or of a list by its number.
fn member(markup: &mut Markup, key: &str, value: &Value, depth: usize) {
    let size = size(value);
    if size <= OPEN_BYTES && !is_nested(value) {
        markup
            .raw("<div class=\"member\">")
            .element("b", "key", key)
            .raw(" ");
        scalar(markup, value);
        markup.raw("</div>\n");
        return;
    }
    markup.raw("<details class=\"b member\"><summary>");
    markup.element("b", "key", key).raw(" ");
    markup.element("span", "peek", &gist(value));
    markup
        .raw(" <span class=\"state\">")
        .text(&bytes(size as u64));
    markup.raw("</span></summary>\n");
    inside(markup, value, depth);
    markup.raw("</details>\n");
}

fn inside(markup: &mut Markup, value: &Value, depth: usize) {
    match value {
        value if depth >= DEPTH => {
            lines(markup, &value.to_string());
        }
        Value::Object(members) => {
            for (key, value) in members {
                member(markup, key, value, depth + 1);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                member(markup, &(at + 1).to_string(), item, depth + 1);
            }
        }
        value => scalar(markup, value),
    }
}

fn scalar(markup: &mut Markup, value: &Value) {
    match value {
        Value::String(text) if text.contains('\n') || text.len() > PEEK_BYTES => {
            lines(markup, text);
        }
        Value::String(text) => {
            markup.element("span", "value", text);
        }
        value => {
            markup.element("code", "value", &value.to_string());
        }
    }
}

fn lines(markup: &mut Markup, text: &str) {
    let begun = markup.pre(&[("class", Some("argument"))]);
    begun.text(text).raw("</pre>\n");
}

fn is_nested(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => false,
    }
}

/// About how many bytes of text a value has.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| key.len() + size(value))
            .sum(),
        _ => 4,
    }
}

/// What tells a value from others, on one line: who speaks, what it is called, how it begins.
fn gist(value: &Value) -> String {
    match value {
        Value::String(text) => head(first_line(text), PEEK_BYTES).to_owned(),
        Value::Array(items) => {
            let count = plural(items.len() as u64, "item");
            match items.first().map(gist) {
                Some(first) if items.len() == 1 => first,
                Some(first) => format!("{count}: {first}"),
                None => count,
            }
        }
        Value::Object(members) => {
            let named = [
                "role", "type", "name", "function", "text", "content", "input",
            ];
            let said = named.iter().filter_map(|key| members.get(*key));
            let said: Vec<String> = said.map(gist).filter(|said| !said.is_empty()).collect();
            head(&said.join("  "), PEEK_BYTES).to_owned()
        }
        value => value.to_string(),
    }
}
