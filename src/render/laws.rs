//! Whatever a message says, nothing of it acts on who reads it.

use proptest::prelude::*;
use serde_json::json;

use super::chat::{Chat, Detail, Pen, Tools};
use super::page::ConversationPage;
use super::{Line, html, markdown, plain};
use crate::conditions::laws;
use crate::model::{HideKind, Media, MediaSource, Message, Part, Role};
use crate::tree::{Fold, Tree, events_of};

/// What would act on a terminal or a page, and what is between it.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
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
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// A conversation that says such a thing in every place that there is.
fn conversation() -> impl Strategy<Value = Vec<(Message, Option<HideKind>)>> {
    prop::collection::vec(hostile(), 12).prop_map(|texts| {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = texts.try_into().expect("twelve");
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
        let edit =
            json!({"file_path": g.clone(), "old_string": e.clone(), "new_string": f.clone()});
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
    })
}

fn tree(messages: &[(Message, Option<HideKind>)]) -> Tree {
    let mut fold = Fold::default();
    for (message, placed) in messages {
        events_of(message, *placed).into_iter().for_each(|event| {
            fold.feed(event);
        });
    }
    fold.settle()
}

/// What a terminal may be shown: no control, and nothing that turns or hides what stands beside it.
fn acts(c: char) -> bool {
    let turns =
        matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    (c.is_control() && c != '\t') || turns || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

fn page<'a>(title: &'a str, facts: &'a [String]) -> ConversationPage<'a> {
    ConversationPage {
        title,
        facts,
        earlier: 0,
        sizes: &[],
        message_of: &|_| None,
        hidden: &[],
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

proptest! {
    #![proptest_config(laws(512))]

    /// On a terminal everything is shown, and nothing executed.
    #[test]
    fn no_message_acts_on_a_terminal(messages in conversation(), width in 20..90_usize) {
        let tree = tree(&messages);
        let short = Chat::new(3, Some(width));
        let chats = [
            Chat::new(3, None),
            short,
            Chat { tools: Tools::Full, ..short },
            Chat { detail_of: &|_| Detail::Closed, ..short },
            Chat { detail_of: &|_| Detail::Full, text_lines: 2, ..short },
        ];
        for chat in chats {
            let mut pen = Pen::default();
            let items = tree.items.iter().flat_map(|item| pen.item(&chat, item));
            let mut lines: Vec<Line> = items.map(|line| line.line).collect();
            let parts = messages.iter().flat_map(|(message, _)| &message.parts);
            lines.extend(parts.flat_map(|part| chat.part(part)));
            for line in &lines {
                let text = plain::paint(line);
                prop_assert!(!text.contains(acts), "{text:?}");
                #[cfg(feature = "cli")]
                {
                    // Colours begin and end with sequences of ours, and there are no others.
                    let painted = super::ansi::paint(line);
                    let bare = painted.split('\u{1b}').skip(1);
                    let is_colour = |rest: &str| {
                        let colour = rest.strip_prefix('[').and_then(|rest| rest.split_once('m'));
                        colour.is_some_and(|(code, _)| code.chars().all(|c| c.is_ascii_digit() || c == ';'))
                    };
                    prop_assert!(bare.into_iter().all(is_colour), "{painted:?}");
                }
            }
        }
    }

    /// On a page no message is markup: there are our tags with our attributes, and links that lead
    /// to the web, to mail, or to a message.
    #[test]
    fn no_message_is_markup(messages in conversation(), title in hostile()) {
        let tree = tree(&messages);
        let facts = [title.clone()];
        let mut bytes = Vec::new();
        html::write(&page(&title, &facts), &tree.items, &mut bytes).expect("written");
        let html = String::from_utf8(bytes).expect("UTF-8");
        prop_assert!(!html.contains(|c| acts(c) && c != '\n'));
        // Our own style and script are text to a browser, not tags.
        let (head, rest) = html.split_once("<style>").expect("a style");
        let (_, rest) = rest.split_once("</style>").expect("it ends");
        let (body, rest) = rest.rsplit_once("<script>").expect("a script");
        prop_assert!(!body.contains("<script") && !body.contains("<style"));
        let (_, foot) = rest.split_once("</script>").expect("it ends");
        for (name, attributes) in tags(&[head, body, foot].concat()) {
            let is_name = name.trim_start_matches(['/', '!']).chars().all(|c| c.is_ascii_alphanumeric());
            prop_assert!(is_name && !name.contains("zq"), "{name}");
            for (key, value) in attributes {
                prop_assert!(!key.starts_with("on") && !key.contains("zq") && key != "style", "{key}");
                let leads = ["https://", "http://", "mailto:", "#"];
                let ours = key != "href" || leads.iter().any(|lead| value.to_lowercase().starts_with(lead));
                prop_assert!(ours, "{value}");
                prop_assert!(key != "src" || value.starts_with("data:image/"), "{value}");
            }
        }
    }

    /// In a Markdown file the only HTML is ours.
    #[test]
    fn no_message_is_html_in_markdown(messages in conversation(), title in hostile()) {
        use pulldown_cmark::{Event, Parser};
        let tree = tree(&messages);
        let facts = [title.clone()];
        let mut bytes = Vec::new();
        markdown::write(&page(&title, &facts), &tree.items, &mut bytes).expect("written");
        let text = String::from_utf8(bytes).expect("UTF-8");
        prop_assert!(!text.contains(|c| acts(c) && c != '\n'));
        for event in Parser::new(&text) {
            if let Event::Html(html) | Event::InlineHtml(html) = event {
                let html = html.trim();
                let summary = html.strip_prefix("<details><summary>");
                let words = summary.and_then(|rest| rest.strip_suffix("</summary>"));
                let is_ours = words.is_some_and(|words| !words.contains(['<', '>', '&']));
                prop_assert!(is_ours || html == "</details>", "{html:?} in\n{text}");
            }
        }
    }
}
