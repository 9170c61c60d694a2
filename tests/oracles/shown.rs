//! Whatever a message says, nothing of it acts on a terminal, is markup of a page, or HTML of a
//! Markdown file.

use serde_json::json;
use tract::model::{HideKind, Media, MediaSource, Message, Part, Role};
use tract::render::chat::{Chat, Detail, Pen, Tools};
use tract::render::page::ConversationPage;
use tract::render::{Line, escape, html, markdown, plain};
use tract::tree::{Fold, Tree, events_of};

/// How many texts a conversation is made of.
pub const TEXTS: usize = 12;

/// A conversation that says these texts, in every place that there is.
pub fn conversation(texts: [String; TEXTS]) -> Vec<(Message, Option<HideKind>)> {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = texts;
    let media = |source| Media {
        media_type: Some(i.clone()),
        name: Some(j.clone()),
        detail: None,
        source,
    };
    let call = |id: &str, name: &str, arguments: String| Part::ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
        kind: None,
    };
    let edit = json!({"file_path": g.clone(), "old_string": e.clone(), "new_string": f.clone()});
    let said = vec![
        Part::Thinking {
            text: b.clone(),
            signature: Some(c.clone()),
            provider: None,
        },
        Part::text(c.clone()),
        call(&d, &e, json!({ f.clone(): g.clone() }).to_string()),
        call("edit", "Edit", edit.to_string()),
        call("raw", "apply_patch", h.clone()),
        Part::Opaque {
            provider: k.clone(),
            data: l.clone(),
        },
    ];
    let result = |call: &str, is_error| Part::ToolResult {
        call: call.into(),
        content: vec![
            Part::text(h.clone()),
            Part::Image(media(MediaSource::Url(l.clone()))),
        ],
        is_error,
    };
    let user = vec![
        Part::text(a.clone()),
        Part::Image(media(MediaSource::Base64(k.clone()))),
        Part::File(media(MediaSource::Url(h.clone()))),
    ];
    vec![
        (Message::text(Role::System, b.clone()), None),
        (Message::new(Role::User, user), None),
        (Message::new(Role::Assistant, said), None),
        (
            Message::new(Role::Tool, vec![result(&d, true), result("edit", false)]),
            None,
        ),
        (Message::text(Role::User, a), Some(HideKind::Compaction)),
    ]
}

/// The tree of such messages.
pub fn tree(messages: &[(Message, Option<HideKind>)]) -> Tree {
    let mut fold = Fold::default();
    for (message, placed) in messages {
        events_of(message, *placed).into_iter().for_each(|event| {
            fold.feed(event);
        });
    }
    fold.settle()
}

/// Holds texts against what is promised: they are said everywhere, and drawn in every way.
pub fn hold(texts: [String; TEXTS], width: usize) {
    for text in &texts {
        let json = escape::json(text);
        assert!(!json.contains(|c| acts(c) && c != '\n'), "{json:?}");
    }
    let title = texts[0].clone();
    let messages = conversation(texts);
    let tree = tree(&messages);
    on_a_terminal(
        &tree,
        messages.iter().flat_map(|(message, _)| &message.parts),
        width,
    );
    on_a_page(&tree, &title);
    in_markdown(&tree, &title);
}

/// The bytes that a fuzzer has: texts, with a byte between them that is in none.
pub fn hold_bytes(bytes: &[u8]) {
    let mut pieces = bytes.splitn(TEXTS, |byte| *byte == 0xff);
    let texts = std::array::from_fn(|_| {
        let piece = pieces.next().unwrap_or_default();
        String::from_utf8_lossy(piece).into_owned()
    });
    hold(texts, 20 + super::Choice::of(bytes).below(70));
}

/// Holds a tree against the same.
pub fn is_harmless(tree: &Tree, width: usize) {
    on_a_terminal(tree, [], width);
    on_a_page(tree, "a session");
    in_markdown(tree, "a session");
}

/// What a terminal may be shown: no control, and nothing that turns or hides what stands beside it.
fn acts(c: char) -> bool {
    let turns =
        matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    (c.is_control() && c != '\t') || turns || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

fn page<'a>(title: &'a str, facts: &'a [String]) -> ConversationPage<'a> {
    ConversationPage {
        facts,
        ..ConversationPage::bare(title)
    }
}

/// On a terminal everything is shown, and nothing executed.
pub fn on_a_terminal<'a>(tree: &Tree, parts: impl IntoIterator<Item = &'a Part>, width: usize) {
    let parts: Vec<&Part> = parts.into_iter().collect();
    let short = Chat::new(3, Some(width));
    let chats = [
        Chat::new(3, None),
        short,
        Chat {
            tools: Tools::Full,
            ..short
        },
        Chat {
            detail_of: &|_| Detail::Closed,
            ..short
        },
        Chat {
            detail_of: &|_| Detail::Full,
            text_lines: 2,
            ..short
        },
    ];
    for chat in chats {
        let mut pen = Pen::default();
        let items = tree.items.iter().flat_map(|item| pen.item(&chat, item));
        let mut lines: Vec<Line> = items.map(|line| line.line).collect();
        lines.extend(parts.iter().flat_map(|part| chat.part(part)));
        for line in &lines {
            is_safe_on_a_terminal(&plain::paint(line));
            // Colours begin and end with sequences of ours, and there are no others.
            let painted = tract::render::ansi::paint(line);
            let is_colour = |rest: &str| {
                let colour = rest.strip_prefix('[').and_then(|rest| rest.split_once('m'));
                colour.is_some_and(|(code, _)| code.chars().all(|c| c.is_ascii_digit() || c == ';'))
            };
            assert!(
                painted.split('\u{1b}').skip(1).all(is_colour),
                "{painted:?}"
            );
        }
    }
}

/// Nothing in a line of text acts on a terminal.
pub fn is_safe_on_a_terminal(text: &str) {
    assert!(!text.contains(acts), "{text:?}");
}

/// On a page no message is markup: there are our tags with our attributes, and links that lead to the
/// web, to mail, or to a message.
pub fn on_a_page(tree: &Tree, title: &str) {
    let facts = [title.to_owned()];
    let mut bytes = Vec::new();
    html::write(
        &html::PageFrame::ALONE,
        &page(title, &facts),
        &tree.items,
        &mut bytes,
    )
    .expect("written");
    is_safe_on_a_page(&String::from_utf8(bytes).expect("UTF-8"));
}

/// Nothing on a page is markup but ours.
pub fn is_safe_on_a_page(html: &str) {
    assert!(!html.contains(|c| acts(c) && c != '\n'), "{html}");
    // Our own style and script are text to a browser, not tags.
    let (head, rest) = html.split_once("<style>").expect("a style");
    let (_, rest) = rest.split_once("</style>").expect("it ends");
    let (body, rest) = rest.rsplit_once("<script>").expect("a script");
    assert!(
        !body.contains("<script") && !body.contains("<style"),
        "{body}"
    );
    let (_, foot) = rest.split_once("</script>").expect("it ends");
    for (name, attributes) in tags(&[head, body, foot].concat()) {
        let word = name.trim_start_matches(['/', '!']);
        let is_name = word.chars().all(|c| c.is_ascii_alphanumeric()) && TAGS.contains(&word);
        assert!(is_name, "a tag that is not ours: {name:?}");
        for (key, value) in attributes {
            assert!(
                KEYS.contains(&key),
                "an attribute that is not ours: {key:?}"
            );
            let leads = ["https://", "http://", "mailto:", "#"];
            let ours = key != "href"
                || leads
                    .iter()
                    .any(|lead| value.to_lowercase().starts_with(lead));
            assert!(ours, "it leads elsewhere: {value}");
            assert!(key != "tabindex" || ["0", "-1"].contains(&value), "{value}");
            assert!(key != "src" || value.starts_with("data:image/"), "{value}");
        }
    }
}

/// The tags of a page: their names, and the names and values of their attributes.
fn tags(html: &str) -> Vec<(&str, Vec<(&str, &str)>)> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        let name = after.find([' ', '>']).expect("a name ends");
        let (name, mut inside) = after.split_at(name);
        let mut attributes = Vec::new();
        while let Some(attribute) = inside.strip_prefix(' ') {
            let end = attribute.find(['=', ' ', '>']).expect("it ends");
            let (key, more) = attribute.split_at(end);
            let value = more
                .strip_prefix("=\"")
                .and_then(|value| value.split_once('"'));
            attributes.push((key, value.map_or("", |(value, _)| value)));
            inside = value.map_or(more, |(_, more)| more);
        }
        rest = inside.strip_prefix('>').expect("a tag ends");
        tags.push((name, attributes));
    }
    tags
}

/// In a Markdown file the only HTML is ours.
pub fn in_markdown(tree: &Tree, title: &str) {
    let facts = [title.to_owned()];
    let mut bytes = Vec::new();
    markdown::write(&page(title, &facts), &tree.items, &mut bytes).expect("written");
    is_safe_in_markdown(&String::from_utf8(bytes).expect("UTF-8"));
}

/// Nothing in a Markdown file is HTML but ours.
pub fn is_safe_in_markdown(text: &str) {
    use pulldown_cmark::{Event, Parser};
    assert!(!text.contains(|c| acts(c) && c != '\n'), "{text}");
    for event in Parser::new(text) {
        if let Event::Html(html) | Event::InlineHtml(html) = event {
            let html = html.trim();
            let summary = html.strip_prefix("<details><summary>");
            let words = summary.and_then(|rest| rest.strip_suffix("</summary>"));
            let is_ours = words.is_some_and(|words| !words.contains(['<', '>', '&']));
            assert!(is_ours || html == "</details>", "{html:?} in\n{text}");
        }
    }
}

/// The elements of our pages.
const TAGS: [&str; 78] = [
    "DOCTYPE",
    "a",
    "article",
    "b",
    "blockquote",
    "body",
    "br",
    "button",
    "code",
    "del",
    "details",
    "div",
    "em",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "img",
    "input",
    "ins",
    "li",
    "main",
    "math",
    "meta",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mroot",
    "mrow",
    "ms",
    "mspace",
    "msqrt",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
    "nav",
    "ol",
    "option",
    "output",
    "p",
    "path",
    "pre",
    "rect",
    "s",
    "script",
    "section",
    "select",
    "span",
    "strong",
    "style",
    "summary",
    "svg",
    "table",
    "td",
    "th",
    "time",
    "title",
    "tr",
    "ul",
];

/// Their attributes.
const KEYS: [&str; 51] = [
    "accent",
    "alt",
    "aria-label",
    "autocomplete",
    "charset",
    "class",
    "content",
    "d",
    "data-language",
    "datetime",
    "display",
    "displaystyle",
    "fence",
    "form",
    "height",
    "hidden",
    "href",
    "html",
    "http-equiv",
    "id",
    "lang",
    "linethickness",
    "loading",
    "lspace",
    "mathvariant",
    "maxsize",
    "minsize",
    "movablelimits",
    "name",
    "open",
    "placeholder",
    "preserveAspectRatio",
    "rel",
    "role",
    "rspace",
    "scriptlevel",
    "separator",
    "spellcheck",
    "src",
    "start",
    "stretchy",
    "symmetric",
    "tabindex",
    "target",
    "title",
    "type",
    "value",
    "viewBox",
    "width",
    "x",
    "y",
];

/// What would act on a terminal or a page, and what is between it.
pub const HOSTILE: [&str; 33] = [
    "\u{1b}[2J",
    "\u{1b}]0;zq\u{7}",
    "\u{9b}31m",
    "\u{202e}",
    "\u{2066}",
    "\r",
    "\u{8}",
    "\0",
    "\u{feff}",
    "<zq>",
    "</pre>",
    "</script>",
    "<!--",
    "\" zq=\"",
    "' zq='",
    "&lt;zq&gt;",
    "[zq](javascript:zq)",
    "![zq](https://zq.example)",
    "```",
    "\n",
    "\n\n",
    "# ",
    "> ",
    "|",
    "<script>zq</script>",
    "*** Begin Patch\n*** Update File: zq\n-<zq>\n+\u{202e}",
    "<https://zq.example/\u{202e}>",
    "<zq:zq>",
    "- ",
    "    ",
    "\t",
    "data:image/png;base64,AAAA",
    "image/png",
];

/// Such texts, in every place.
#[allow(dead_code)]
pub fn seeds() -> Vec<Vec<u8>> {
    let seed = |at: usize| -> Vec<u8> {
        let pieces = (0..TEXTS).map(|place| {
            let piece = |step: usize| HOSTILE[(at * 5 + place * step) % HOSTILE.len()];
            [piece(1), "said ", piece(7)].concat().into_bytes()
        });
        pieces.collect::<Vec<_>>().join(&0xff)
    };
    (0..HOSTILE.len()).map(seed).collect()
}
