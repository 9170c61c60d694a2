//! Two contexts beside each other: what `tract diff` says, as a page.
//!
//! Deliberately absent: what differs ([`crate::diff`]), and the words for it ([`crate::render::diff`]).

use super::document::PageFrame;
use super::form::{self, PageForm};
use super::markup::Markup;
use super::{sides, words};
use crate::diff::{
    Change, ContextDiff, Edit, Kind, MessageDiff, PartDiff, Replaced, SettingChange, Side, Tag,
    ValueDiff,
};
use crate::model::tokens::context_total;
use crate::model::{Message, Part, Role, preview};
use crate::render::diff::{self, Frame as Names};
use crate::render::{part, plural, row, setting, tokens};

/// How many unchanged messages are listed by what they say.
const LISTED: usize = 100;
/// How many changes are told in full; of what follows, a line each.
const TOLD: usize = 400;

/// Two contexts that are to be a page.
pub struct ComparisonPage<'a> {
    /// What differs.
    pub diff: &'a ContextDiff,
    /// What they are called, and what a cache can still use.
    pub names: &'a Names,
    /// Where each is read, if it is to be read anywhere.
    pub links: [Option<String>; 2],
}

/// What is asked of who has named one context, or none.
pub struct ChoicePage<'a> {
    /// What was named already. Hostile until escaped.
    pub first: Option<&'a str>,
    /// Where both can be typed.
    pub form: PageForm,
    /// What can be chosen: the address of its page, and what it is called. Hostile until escaped.
    pub choices: &'a [(String, String)],
}

/// The page on which contexts are chosen that are to be compared.
pub fn choice(frame: &PageFrame<'_>, page: &ChoicePage<'_>) -> String {
    let mut markup = Markup::default();
    frame.begin("Compare", &mut markup);
    markup.raw("<header>\n").element("h1", "title", "Compare");
    markup.raw("</header>\n<main>\n<section class=\"deed\">\n");
    let what = match page.first {
        Some(first) => format!("Compare {first} with which other one?"),
        None => "Compare which two?".to_owned(),
    };
    markup
        .element("p", "sum", &what)
        .raw("\n<div class=\"actions\">");
    form::write(&mut markup, &page.form);
    markup.raw("</div>\n<ul class=\"choices\">\n");
    for (address, word) in page.choices {
        markup.raw("<li>").open("a", &[("href", Some(address))]);
        markup.text(word).raw("</a></li>\n");
    }
    markup.raw("</ul>\n</section>\n</main>\n");
    frame.end(&mut markup);
    markup.take()
}

/// The page of two contexts, message by message.
pub fn comparison(frame: &PageFrame<'_>, page: &ComparisonPage<'_>) -> String {
    let mut markup = Markup::default();
    frame.begin("Two contexts compared", &mut markup);
    markup.raw("<header>\n");
    markup.element("h1", "title", "Two contexts compared");
    markup.raw("</header>\n<main class=\"wide\">\n");
    write(page, &mut markup);
    markup.raw("</main>\n");
    frame.end(&mut markup);
    markup.take()
}

fn write(page: &ComparisonPage<'_>, markup: &mut Markup) {
    let said = diff::words(page.diff, page.names);
    markup.raw("<section class=\"comparison\">\n");
    for line in &said.first {
        markup.raw("<p class=\"sum\">");
        words::inside(markup, line);
        markup.raw("</p>\n");
    }
    if !said.last.is_empty() {
        markup.raw("<div class=\"sum\">");
        words::write(markup, &said.last);
        markup.raw("</div>\n");
    }
    sides_of(page, markup);
    settings(markup, &page.diff.settings);
    let shared = page.names.prefix.as_ref().map(|kept| kept.messages);
    let is_border = |at: &usize| *at > 0 && *at < page.diff.after.len();
    let mut painter = Comparison {
        page,
        markup,
        seen: [0, 0],
        shared: shared.filter(is_border),
    };
    for (at, (change, line)) in said.changes.iter().enumerate() {
        painter.unchanged(change.before, change.after);
        painter.change(change, line, at < TOLD);
    }
    painter.unchanged(None, None);
    markup.raw("</section>\n");
}

/// Which context stands on which side, and where it is read.
fn sides_of(page: &ComparisonPage<'_>, markup: &mut Markup) {
    markup.raw("<div class=\"pair heads\">");
    let names = [&page.names.names.0, &page.names.names.1];
    let all = [&page.diff.before, &page.diff.after];
    for ((name, side), link) in names.into_iter().zip(all).zip(&page.links) {
        markup.raw("<div><b>");
        match link {
            Some(link) => {
                markup.open("a", &[("href", Some(link))]);
                markup.text(name).raw("</a>");
            }
            None => {
                markup.text(name);
            }
        }
        let count = plural(side.len() as u64, "message");
        let facts = format!("{count}, {} tokens", tokens(side.total()));
        markup.raw("</b> ").element("span", "away", &facts);
        markup.raw("</div>");
    }
    markup.raw("</div>\n");
}

struct Comparison<'a, 'm> {
    page: &'a ComparisonPage<'a>,
    markup: &'m mut Markup,
    /// How many messages of each side stand above.
    seen: [usize; 2],
    /// How many messages from the beginning on are sent as before, as long as that is not said.
    shared: Option<usize>,
}

impl Comparison<'_, '_> {
    /// The messages up to the next that differs, which both sides have.
    fn unchanged(&mut self, before: Option<usize>, after: Option<usize>) {
        let diff = self.page.diff;
        let rest = |side: &Side, seen: usize| side.len() - seen;
        let count = match (before, after) {
            (Some(before), _) => before - self.seen[0],
            (None, Some(after)) => after - self.seen[1],
            (None, None) => rest(&diff.before, self.seen[0]),
        };
        let (from, to) = (self.seen[1], self.seen[1] + count);
        self.seen = self.seen.map(|seen| seen + count);
        match self.shared.filter(|at| (from..=to).contains(at)) {
            Some(at) => {
                self.shared = None;
                self.same(from..at);
                let border = "up to here a provider's cache can still use what it was sent";
                self.markup.element("p", "border", border).raw("\n");
                self.same(at..to);
            }
            None => self.same(from..to),
        }
    }

    /// Messages that both sides have, closed.
    fn same(&mut self, range: std::ops::Range<usize>) {
        let side = &self.page.diff.after;
        if range.is_empty() {
            return;
        }
        let (messages, counts) = (&side.messages[range.clone()], &side.counts[range.clone()]);
        let total = context_total(counts.iter().copied());
        let count = plural(messages.len() as u64, "message");
        let what = format!("{count} the same, {} tokens", tokens(total));
        self.markup
            .raw("<details class=\"alike\"><summary>")
            .text(&what)
            .raw("</summary>\n<ol>\n");
        for (at, message) in messages.iter().enumerate().take(LISTED) {
            let number = format!(":{}", range.start + at + 1);
            self.markup
                .raw("<li>")
                .element("code", "no", &number)
                .raw(" ");
            self.markup
                .element("span", role_class(message.role), message.role.as_str())
                .raw(" ");
            words::inside(self.markup, &row::said(None, &preview(message), None));
            self.markup.raw("</li>\n");
        }
        let more = messages.len().saturating_sub(LISTED);
        if more > 0 {
            let more = format!("and {} more", crate::render::grouped(more as u64));
            self.markup.element("li", "away", &more).raw("\n");
        }
        self.markup.raw("</ol></details>\n");
    }

    fn change(&mut self, change: &Change, line: &crate::render::Line, is_told: bool) {
        let (before, after) = (change.before, change.after);
        for (seen, at) in self.seen.iter_mut().zip([before, after]) {
            *seen = at.map_or(*seen, |at| at + 1);
        }
        let class = match change.kind {
            Kind::Hidden => "change is-hidden",
            Kind::Removed => "change is-removed",
            Kind::Returned => "change is-returned",
            Kind::Added => "change is-added",
            Kind::Modified(_) => "change is-modified",
        };
        self.markup.open("article", &[("class", Some(class))]);
        // A message that is only hidden, or seen again, is as it was.
        let is_closed = matches!(change.kind, Kind::Hidden | Kind::Returned) && is_told;
        if is_closed {
            self.markup.raw("<details><summary>");
        }
        self.markup.raw("<h2>");
        words::inside(self.markup, line);
        self.markup.raw("</h2>");
        self.markup
            .raw(if is_closed { "</summary>\n" } else { "\n" });
        settings(self.markup, &change.settings);
        let message = self.page.diff.message(change);
        match &change.kind {
            _ if !is_told => {}
            Kind::Modified(diff) => modified(self.markup, diff),
            Kind::Removed | Kind::Hidden => whole(self.markup, message, Tag::Removed),
            Kind::Added | Kind::Returned => whole(self.markup, message, Tag::Added),
        }
        self.markup.raw(if is_closed { "</details>\n" } else { "" });
        self.markup.raw("</article>\n");
    }
}

fn role_class(role: Role) -> &'static str {
    match role {
        Role::User => "w-added",
        Role::Assistant | Role::Tool => "w-accent",
        _ => "w-session",
    }
}

/// The request settings that changed.
fn settings(markup: &mut Markup, changes: &[SettingChange]) {
    for SettingChange { key, value } in changes {
        let sides = [value.before.as_deref(), value.after.as_deref()];
        if let [Some(before), Some(after)] = sides
            && before.len().max(after.len()) > setting::WHOLE_BYTES
            && let Some(diff) = ValueDiff::new(before, after, 1)
        {
            sides::value(markup, key, &diff);
            continue;
        }
        let [before, after] = sides.map(|value| setting::value(value.unwrap_or("(unset)")));
        sides::replaced(markup, key, &before, &after);
    }
}

/// What differs in a message.
fn modified(markup: &mut Markup, diff: &MessageDiff) {
    fact(markup, "name", &diff.name, optional);
    fact(markup, "attached", &diff.attached, optional);
    fact(markup, "recipient", &diff.recipient, optional);
    diff.parts.iter().for_each(|edit| self::edit(markup, edit));
}

/// A message that is on one side alone.
fn whole(markup: &mut Markup, message: &Message, tag: Tag) {
    message
        .parts
        .iter()
        .for_each(|part| on_one_side(markup, part, tag));
}

fn edit(markup: &mut Markup, edit: &Edit<Part, PartDiff>) {
    match edit {
        Edit::Removed { item, .. } => on_one_side(markup, item, Tag::Removed),
        Edit::Added { item, .. } => on_one_side(markup, item, Tag::Added),
        Edit::Changed { change, .. } => changed_part(markup, change),
    }
}

fn changed_part(markup: &mut Markup, diff: &PartDiff) {
    match diff {
        PartDiff::Text(diff) => sides::value(markup, "text", diff),
        PartDiff::Opaque(diff) => sides::value(markup, "block", diff),
        PartDiff::Thinking {
            text,
            signature,
            provider,
        } => {
            markup.element("h4", "key", "thinking").raw("\n");
            if let Some(text) = text {
                sides::hunks(markup, text);
            }
            if signature.is_some() {
                markup.element("p", "away", "another signature").raw("\n");
            }
            fact(markup, "provider", provider, optional);
        }
        PartDiff::Call {
            id,
            kind,
            arguments,
        } => {
            fact(markup, "id", id, String::clone);
            fact(markup, "kind of call", kind, optional);
            if let Some(arguments) = arguments {
                sides::value(markup, "arguments", arguments);
            }
        }
        PartDiff::Result {
            call,
            is_error,
            content,
        } => {
            let word = |failed: &bool| if *failed { "failed" } else { "succeeded" }.to_owned();
            fact(markup, "id", call, String::clone);
            fact(markup, "tool", is_error, word);
            for one in content {
                match one {
                    Edit::Changed {
                        change: PartDiff::Text(diff),
                        ..
                    } => sides::value(markup, "result", diff),
                    one => edit(markup, one),
                }
            }
        }
        PartDiff::Replaced(Replaced { before, after }) => {
            on_one_side(markup, before, Tag::Removed);
            on_one_side(markup, after, Tag::Added);
        }
    }
}

/// A fact that was another before.
fn fact<T>(markup: &mut Markup, name: &str, sides: &Option<Replaced<T>>, text: fn(&T) -> String) {
    if let Some(Replaced { before, after }) = sides {
        sides::replaced(markup, name, &text(before), &text(after));
    }
}

fn optional(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "(none)".into())
}

/// A part that is on one side alone.
fn on_one_side(markup: &mut Markup, each: &Part, tag: Tag) {
    let text = part::brief(each, None).join("\n");
    sides::alone(markup, tag, &text);
}
