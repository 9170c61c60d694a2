//! The one door through which text becomes a part of a page.
//!
//! Markup is written in the source of this program, and of formulas by a library; what is no literal is text, and
//! leaves escaped. What a terminal would act on is shown here as well, so that nobody who reads the
//! page sees another text than stands in it.

use std::fmt::Write as _;

use super::formula::MathMl;
use crate::render::escape;

/// A piece of a page in the making.
#[derive(Debug, Default)]
pub(super) struct Markup {
    html: String,
}

impl Markup {
    /// Markup of our own.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.html += markup;
        self
    }

    /// A formula.
    pub(super) fn formula(&mut self, drawn: &MathMl) -> &mut Self {
        self.html += drawn.as_str();
        self
    }

    /// Anything: its line feeds and tabs stay, everything else is shown as what it is.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in escape::block(text).chars() {
            match c {
                '&' => self.html += "&amp;",
                '<' => self.html += "&lt;",
                '>' => self.html += "&gt;",
                '"' => self.html += "&quot;",
                '\'' => self.html += "&#39;",
                c => self.html.push(c),
            }
        }
        self
    }

    /// A number.
    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        let _ = write!(self.html, "{number}");
        self
    }

    /// An element's beginning with the attributes that have a value; `tag` is ours.
    pub(super) fn open(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, Option<&str>)],
    ) -> &mut Self {
        self.raw("<").raw(tag);
        for (name, value) in attributes {
            if let Some(value) = value {
                self.raw(" ").raw(name).raw("=\"").text(value).raw("\"");
            }
        }
        self.raw(">")
    }

    /// The beginning of lines that stand as they are. They may scroll, so the keys can go there.
    pub(super) fn pre(&mut self, attributes: &[(&'static str, Option<&str>)]) -> &mut Self {
        let keys = ("tabindex", Some("0"));
        let all = attributes.iter().copied().chain([keys]);
        self.open("pre", &all.collect::<Vec<_>>())
    }

    /// An element's end.
    pub(super) fn close(&mut self, tag: &'static str) -> &mut Self {
        self.raw("</").raw(tag).raw(">")
    }

    /// An element that holds a text.
    pub(super) fn element(
        &mut self,
        tag: &'static str,
        class: &'static str,
        text: &str,
    ) -> &mut Self {
        self.open(tag, &[("class", Some(class))])
            .text(text)
            .close(tag)
    }

    /// The beginning of a link that leads away from the page.
    pub(super) fn link(&mut self, address: &str) -> &mut Self {
        let attributes = [
            ("href", Some(address)),
            ("rel", Some("noopener noreferrer")),
            ("target", Some("_blank")),
        ];
        self.open("a", &attributes)
    }

    /// What was written since somebody took it.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.html)
    }
}

/// An address that a reader may follow: of the web, or of someone's mail; and of nothing that could
/// pass for another address.
pub(in crate::render) fn is_address(address: &str) -> bool {
    let is_scheme = |scheme: &str| {
        let head = address.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    };
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '<' | '>' | '`' | '\\');
    let known = ["https://", "http://", "mailto:"]
        .into_iter()
        .any(is_scheme);
    known && address.chars().all(is_plain) && escape::line(address) == address
}

/// A picture that a page may hold: base64 of a kind that is nothing but pixels.
pub(in crate::render) fn is_raster(media_type: &str, data: &str) -> bool {
    let kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    kinds.contains(&media_type) && !data.is_empty() && data.bytes().all(is_base64)
}

/// The same in an address.
pub(in crate::render) fn is_raster_address(address: &str) -> bool {
    let rest = address.strip_prefix("data:");
    let inside = rest.and_then(|rest| rest.split_once(";base64,"));
    inside.is_some_and(|(media_type, data)| is_raster(media_type, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        let mut markup = Markup::default();
        let hostile = "<script>\"x\"</script>&amp;\u{202e}\0\u{1b}[31m'";
        markup
            .open("p", &[("title", Some(hostile)), ("id", None)])
            .text(hostile);
        let shown = "&lt;script&gt;&quot;x&quot;&lt;/script&gt;&amp;amp;\\u{202e}␀␛[31m&#39;";
        assert_eq!(markup.take(), format!("<p title=\"{shown}\">{shown}"));
    }

    #[test]
    fn only_plain_addresses_are_followed() {
        for good in [
            "https://a.example/x?y=1&z=ü#f",
            "http://a",
            "mailto:a@b.example",
            "HTTPS://a",
        ] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " https://a",
            "https://a\u{202e}b",
            "https://a\nb",
            "https://a\" onclick=\"x",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "//a.example",
            "/etc",
            "#m1",
            "",
        ] {
            assert!(!is_address(bad), "{bad:?}");
        }
    }

    #[test]
    fn only_pixels_are_shown() {
        assert!(is_raster("image/png", "iVBORw0KGgo="));
        for (media_type, data) in [
            ("image/svg+xml", "PHN2Zz4="),
            ("text/html", "PHN2Zz4="),
            ("image/png", ""),
            ("image/png", "x\" onerror=\"y"),
            ("image/png\" x=\"", "abcd"),
        ] {
            assert!(!is_raster(media_type, data), "{media_type} {data}");
        }
    }
}
