//! The frame of every page: its policy, its title, what leads to other pages, its style sheets and scripts.
//!
//! A page holds all that it needs, so that it is the same where it is kept, served or published; its policy names
//! the style sheets and scripts by their hashes. Deliberately absent: what stands on a page, and any server.

use super::markup::Markup;
use crate::hash::fingerprint;
use crate::model::base64;

pub(super) const STYLE: &str = include_str!("page.css");
pub(super) const SCRIPT: &str = concat!(include_str!("page.js"), include_str!("keys.js"));
/// How the lists look that only a server and published pages have.
const SITE_STYLE: &str = include_str!("site.css");
/// How comparisons, costs, the log of operations and deeds look.
const VIEWS_STYLE: &str = include_str!("views.css");
/// What only a server has: each is a script of its own.
const SERVED: [&str; 4] = [
    include_str!("web.js"),
    include_str!("parts.js"),
    include_str!("find.js"),
    include_str!("live.js"),
];

/// What a list among files has: it is searched without a server.
const PUBLISHED: [&str; 1] = [include_str!("published.js")];

/// Where a page is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setting {
    /// Alone, as a file that needs nothing else.
    #[default]
    Alone,
    /// From a server, which answers what its scripts ask.
    Served,
    /// Among others, as files: nothing can be asked.
    Published,
}

/// What is around a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageFrame<'a> {
    /// Where it is read.
    pub setting: Setting,
    /// The way to the first page: nothing on that one, `../../` from two folders below it.
    pub root: &'a str,
    /// The pages that each page leads to: the address seen from the first one, and what it is called.
    pub places: &'a [(&'a str, &'a str)],
    /// Which of these this page is, if it is one.
    pub here: Option<&'a str>,
    /// Where a conversation goes on while its page is read: the place of the first message on the page.
    pub live: Option<usize>,
}

impl PageFrame<'_> {
    /// A page that is read alone.
    pub const ALONE: PageFrame<'static> = PageFrame {
        setting: Setting::Alone,
        root: "",
        places: &[],
        here: None,
        live: None,
    };

    fn styles(&self) -> &'static [&'static str] {
        match self.setting {
            Setting::Alone => &[STYLE],
            Setting::Served | Setting::Published => &[STYLE, SITE_STYLE, VIEWS_STYLE],
        }
    }

    /// The scripts behind the one of every page.
    fn scripts(&self) -> &'static [&'static str] {
        match self.setting {
            Setting::Alone => &[],
            Setting::Served => &SERVED,
            Setting::Published => &PUBLISHED,
        }
    }

    /// Writes all that stands before a page's own header.
    pub(super) fn begin(&self, title: &str, markup: &mut Markup) {
        markup.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        let policy = policy(self.setting);
        let policy = [
            ("http-equiv", Some("Content-Security-Policy")),
            ("content", Some(policy.as_str())),
        ];
        markup.open("meta", &policy).raw("\n");
        markup.raw(
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"tract\">\n",
        );
        if self.setting != Setting::Alone {
            // So that a browser asks for none.
            markup.raw("<link rel=\"icon\" href=\"data:,\">\n");
        }
        markup.raw("<title>").text(title).raw("</title>\n");
        for style in self.styles() {
            markup.raw("<style>").raw(style).raw("</style>\n");
        }
        markup.raw("</head>\n<body>\n");
        self.site(markup);
    }

    /// The way to the other pages.
    fn site(&self, markup: &mut Markup) {
        if self.places.is_empty() {
            return;
        }
        markup.raw("<div class=\"site\" role=\"navigation\" aria-label=\"Pages\">");
        for (place, name) in self.places {
            let address = self.address(place);
            let is_here = self.here == Some(place);
            let attributes = [
                ("href", Some(address.as_str())),
                ("aria-current", is_here.then_some("page")),
            ];
            markup.open("a", &attributes).text(name).close("a");
        }
        markup.raw("</div>\n");
    }

    /// The address of a page, as a link on this one: `place` is seen from the first page.
    pub fn address(&self, place: &str) -> String {
        let root = self.root;
        if self.setting == Setting::Published {
            // A file has no page of its own for a folder.
            let end = place.find(['?', '#']).unwrap_or(place.len());
            let (path, rest) = place.split_at(end);
            let index = match path.is_empty() || path.ends_with('/') {
                true => "index.html",
                false => "",
            };
            return format!("{root}{path}{index}{rest}");
        }
        match (root, place) {
            ("", "") => "./".to_owned(),
            (root, place) => format!("{root}{place}"),
        }
    }

    /// Writes all that stands behind a page's own parts.
    pub(super) fn end(&self, markup: &mut Markup) {
        markup.raw("<footer>Written by tract</footer>\n<script>");
        markup.raw(SCRIPT).raw("</script>\n");
        for script in self.scripts() {
            markup.raw("<script>").raw(script).raw("</script>\n");
        }
        markup.raw("</body>\n</html>\n");
    }
}

/// What a browser may do with a page: run and draw what is the page's own, and ask nobody but its server.
pub fn policy(setting: Setting) -> String {
    let digests = |texts: &[&str]| {
        let digests = texts.iter().map(|text| format!("'{}'", digest(text)));
        digests.collect::<Vec<_>>().join(" ")
    };
    let frame = PageFrame {
        setting,
        ..PageFrame::ALONE
    };
    let styles = digests(frame.styles());
    let script = digests(&[SCRIPT]);
    match setting {
        Setting::Alone => format!(
            "default-src 'none'; img-src data:; style-src {styles}; script-src {script}; base-uri 'none'; \
             form-action 'none'"
        ),
        Setting::Served => {
            let served = digests(&SERVED);
            format!(
                "default-src 'none'; img-src 'self' data:; style-src {styles}; script-src {script} {served}; \
                 connect-src 'self'; base-uri 'none'; form-action 'self'"
            )
        }
        Setting::Published => {
            let published = digests(&PUBLISHED);
            // What is searched is in scripts beside the page; `'self'` is nothing for a file.
            format!(
                "default-src 'none'; img-src data:; style-src {styles}; script-src {script} {published} 'self' file:; \
                 base-uri 'none'; form-action 'none'"
            )
        }
    }
}

/// What a policy calls a text that it allows.
pub(super) fn digest(text: &str) -> String {
    format!("sha256-{}", base64::encode(&fingerprint(text.as_bytes())))
}
