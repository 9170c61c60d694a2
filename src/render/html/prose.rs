//! Markdown as a part of a page.
//!
//! HTML inside it is text like any other; a link leads to the web or to someone's mail, or is no
//! link; a picture from elsewhere is a link. Nothing of it becomes an id.

use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag};

use super::code;
use super::formula::mathml;
use super::markup::{Markup, is_address, is_raster_address};
use crate::render::code::Language;

/// Writes a text as what its Markdown says.
pub(super) fn write(markup: &mut Markup, text: &str) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH;
    let mut prose = Prose {
        markup,
        open: Vec::new(),
        in_head: false,
        columns: Vec::new(),
        column: 0,
        code: None,
    };
    for event in Parser::new_ext(text, options) {
        prose.event(event);
    }
}

struct Prose<'a> {
    markup: &'a mut Markup,
    /// What closes each element that is open, and an address that is shown as text before that.
    open: Vec<(Option<String>, &'static str)>,
    in_head: bool,
    /// How the columns of the table are aligned, and which one is next.
    columns: Vec<Alignment>,
    column: usize,
    /// The code in the making, and its language.
    code: Option<(Option<Language>, String)>,
}

impl Prose<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::FootnoteReference(text) => match &mut self.code {
                Some((_, code)) => *code += &text,
                None => drop(self.markup.text(&text)),
            },
            Event::InlineMath(text) => self.formula(&text, false),
            Event::DisplayMath(text) => self.formula(&text, true),
            Event::Code(text) => {
                self.markup.raw("<code>").text(&text).raw("</code>");
            }
            // A line of a message is a line: who wrote it saw it so.
            Event::SoftBreak | Event::HardBreak => {
                self.markup.raw("<br>\n");
            }
            Event::Rule => {
                self.markup.raw("<hr>\n");
            }
            Event::TaskListMarker(done) => {
                self.markup.raw(if done { "☑ " } else { "☐ " });
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let (open, close) = match tag {
            Tag::Paragraph => ("<p>", "</p>\n"),
            Tag::HtmlBlock => ("<p class=\"html\">", "</p>\n"),
            Tag::Heading { level, .. } => [
                ("<h3>", "</h3>\n"),
                ("<h4>", "</h4>\n"),
                ("<h5>", "</h5>\n"),
                ("<h6>", "</h6>\n"),
            ][(level as usize - 1).min(3)],
            Tag::BlockQuote(_) => ("<blockquote>\n", "</blockquote>\n"),
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(words) => words.split_whitespace().next(),
                    CodeBlockKind::Indented => None,
                };
                self.markup.pre(&[("data-language", language)]);
                self.code = Some((language.and_then(Language::named), String::new()));
                ("<code>", "</code></pre>\n")
            }
            Tag::List(None) => ("<ul>\n", "</ul>\n"),
            Tag::List(Some(first)) => {
                self.markup.raw("<ol start=\"").number(first);
                ("\">\n", "</ol>\n")
            }
            Tag::Item => ("<li>", "</li>\n"),
            Tag::Table(columns) => {
                self.columns = columns;
                (
                    "<div class=\"table\" tabindex=\"0\"><table>\n",
                    "</table></div>\n",
                )
            }
            Tag::TableHead => {
                (self.in_head, self.column) = (true, 0);
                ("<tr>", "</tr>\n")
            }
            Tag::TableRow => {
                (self.in_head, self.column) = (false, 0);
                ("<tr>", "</tr>\n")
            }
            Tag::TableCell => {
                let (cell, close) = match self.in_head {
                    true => ("th", "</th>"),
                    false => ("td", "</td>"),
                };
                let class = match self.columns.get(self.column) {
                    Some(Alignment::Right) => Some("right"),
                    Some(Alignment::Center) => Some("center"),
                    _ => None,
                };
                self.column += 1;
                self.markup.open(cell, &[("class", class)]);
                ("", close)
            }
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<s>", "</s>"),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => {
                let is_mail = link_type == LinkType::Email;
                let address = if is_mail {
                    format!("mailto:{dest_url}").into()
                } else {
                    dest_url
                };
                return self.link(address);
            }
            Tag::Image { dest_url, .. } => return self.picture(dest_url),
            _ => ("", ""),
        };
        self.markup.raw(open);
        self.open.push((None, close));
    }

    /// A formula, or the text that looked like one.
    fn formula(&mut self, text: &str, is_display: bool) {
        match mathml(text, is_display) {
            Some(drawn) => drop(self.markup.formula(&drawn)),
            None => {
                let sign = if is_display { "$$" } else { "$" };
                self.markup.text(&format!("{sign}{text}{sign}"));
            }
        }
    }

    fn link(&mut self, address: CowStr<'_>) {
        if is_address(&address) {
            self.markup.link(&address);
            self.open.push((None, "</a>"));
        } else {
            self.open.push((Some(address.to_string()), ")</span>"));
        }
    }

    fn picture(&mut self, address: CowStr<'_>) {
        if is_raster_address(&address) {
            let attributes = [("src", Some(&*address)), ("loading", Some("lazy"))];
            self.markup.open("img", &attributes);
            self.open.push((None, ""));
        } else {
            self.markup.raw("<span class=\"away\">picture: </span>");
            self.link(address);
        }
    }

    fn end(&mut self) {
        if let Some((language, text)) = self.code.take() {
            code::write(self.markup, &text, language.as_ref());
        }
        let Some((address, close)) = self.open.pop() else {
            return;
        };
        if let Some(address) = address {
            // Where it would have led is told, and leads nowhere.
            self.markup.raw(" <span class=\"away\">(").text(&address);
        }
        self.markup.raw(close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        let mut markup = Markup::default();
        write(&mut markup, text);
        markup.take()
    }

    #[test]
    fn markdown_is_what_it_says() {
        insta::assert_snapshot!(html(
            "# Title\n\nA *word*, **two**, ~~three~~, `code <b>`.\nNext line.\n\n\
             1. one\n2. two\n   - [x] done\n   - [ ] open\n\n> quoted\n\n\
             ```rust\nfn main() { a < b }\n```\n\n    indented\n\n\
             | a | b |\n|:-:|--:|\n| 1 | 2 |\n\n---\n\n\
             It is $x^2$ of $HOME and $PATH.\n\n\
             [link](https://a.example/?a=1&b=2 \"t\") <https://b.example> <me@c.example>\n\n\
             ![shot](https://a.example/x.png) ![dot](data:image/png;base64,iVBORw0KGgo=)\n"
        ));
    }

    #[test]
    fn nothing_hostile_becomes_markup() {
        let hostile = "<script>alert(1)</script>\n\n<!-- \n\n-->\n\ntext <img src=x onerror=alert(1)>\n\n\
            [click](javascript:alert(1)) [data](data:text/html;base64,PHN2Zz4=) \
            ![x](javascript:alert(1)) ![svg](data:image/svg+xml;base64,PHN2Zz4=)\n\n\
            [a](https://x\" onclick=alert(1)) <javascript:alert(1)>\n\n\
            ```\" onmouseover=alert(1)\n</code></pre><script>\n```\n\n\u{202e}evil\0\n\n<style>*{}</style>\n";
        let html = html(hostile);
        insta::assert_snapshot!(html);
        for never in [
            "<script",
            "<img src=\"x",
            "<style",
            "<!--",
            "href=\"java",
            "\u{202e}",
            "\0",
        ] {
            assert!(!html.contains(never), "{never}");
        }
    }
}
