//! A conversation as one page that needs nothing else: readable on a phone, light and dark.
//!
//! The page is written as its items come. It runs no script but its own and loads nothing: its policy
//! says so to the browser, and all text passes the one door of `markup`. Deliberately absent: which
//! messages there are, and their numbers; whoever exports knows.

mod beside;
mod block;
mod call;
mod chart;
mod code;
mod comparison;
mod costs;
mod deed;
mod document;
mod form;
mod formula;
mod mark;
mod markup;
mod moment;
mod notice;
mod operations;
mod prose;
mod request;
mod session_list;
mod sides;
mod splice;
#[cfg(test)]
mod tests;
mod words;

use std::io::{self, Write};

use crate::hash::{Fingerprint, HashBytes, fingerprint, hex};
use crate::render::page::{Around, ConversationPage, PageLink, PagePrompt};
use crate::render::plural;
use crate::tree::TreeItem;
pub use beside::beside;
use block::Blocks;
pub use comparison::{ChoicePage, ComparisonPage, choice, comparison};
pub use costs::{
    CalendarDay, CostCalendar, CostPage, CostPlot, CostTable, CostView, PlotBar, TableRow, costs,
};
pub use deed::{DeedPage, Standing, deed};
pub use document::{PageFrame, Setting, policy};
#[cfg(test)]
use document::{SCRIPT, STYLE, digest};
pub use form::{PageForm, PageInput, PageInputKind};
use markup::Markup;
pub(super) use markup::{is_address, is_raster, is_raster_address};
pub use notice::notice;
pub use operations::{MovedLine, OperationLine, OperationsPage, operations};
pub use request::request;
pub use session_list::{
    Choice, ListedDay, ListedHit, ListedSession, SearchScripts, SessionFilter, SessionList, family,
    session_list,
};
pub use splice::{Fragment, Splice};

/// Writes the page of these items, one after the other.
///
/// # Errors
///
/// The output's.
pub fn write(
    frame: &PageFrame<'_>,
    page: &ConversationPage<'_>,
    items: &[TreeItem],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut blocks = Blocks::new(page);
    head(frame, page, &mut blocks.markup);
    blocks.markup.raw("<main>\n");
    part_link(&mut blocks.markup, page.around.before.as_ref(), "prev");
    if page.earlier > 0 {
        let earlier = plural(page.earlier as u64, "earlier message");
        blocks
            .markup
            .element("p", "earlier", &format!("↑ {earlier}"));
    }
    if let Some(from) = frame.live {
        let from = from.to_string();
        let attributes = [("class", Some("live")), ("data-from", Some(from.as_str()))];
        blocks.markup.open("div", &attributes).raw("\n");
        out.write_all(blocks.markup.take().as_bytes())?;
    }
    let mut written = Fingerprint::default();
    pieces(&mut blocks, items, |piece| {
        if frame.live.is_some() {
            written.update(piece.as_bytes());
        }
        out.write_all(piece.as_bytes())
    })?;
    if frame.live.is_some() {
        let have = state_of(&written.value());
        let attributes = [
            ("class", Some("live-end")),
            ("data-have", Some(have.as_str())),
        ];
        blocks.markup.raw("</div>\n");
        blocks.markup.open("span", &attributes).raw("</span>\n");
    }
    part_link(&mut blocks.markup, page.around.after.as_ref(), "next");
    if items.is_empty() {
        blocks.markup.raw("<p class=\"earlier\">No messages.</p>\n");
    }
    blocks.markup.raw("</main>\n");
    foot(frame, &page.around, &mut blocks);
    out.write_all(blocks.markup.take().as_bytes())
}

/// The items of a page alone, as they stand on it.
pub fn part(page: &ConversationPage<'_>, items: &[TreeItem]) -> Fragment {
    let mut html = String::new();
    let mut blocks = Blocks::new(page);
    let written = pieces(&mut blocks, items, |piece| {
        html += piece;
        Ok(())
    });
    debug_assert!(written.is_ok(), "a text takes all that is written");
    let state = state_of(&fingerprint(html.as_bytes()));
    Fragment::with_state(html, state)
}

/// What a page calls what stands on it, to tell it from what stood there before.
fn state_of(hash: &HashBytes) -> String {
    hex(hash)[..24].to_owned()
}

/// Paints items, and gives them away piece by piece.
fn pieces(
    blocks: &mut Blocks<'_>,
    items: &[TreeItem],
    mut give: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let mut at = 0;
    while at < items.len() {
        // What is hidden stands with its marker, so a piece ends where something is seen.
        let seen = |item: &TreeItem| {
            matches!(item, TreeItem::Turn(turn)
            if turn.user.as_ref().is_some_and(|user| user.node.hidden.is_none()))
        };
        let rest = items[at + 1..].iter().position(seen);
        let end = rest.map_or(items.len(), |rest| at + 1 + rest);
        blocks.items(&items[at..end]);
        give(&blocks.markup.take())?;
        at = end;
    }
    Ok(())
}

/// The way to another part.
fn part_link(markup: &mut Markup, link: Option<&PageLink>, rel: &'static str) {
    let Some(link) = link else { return };
    let (before, behind) = match rel {
        "prev" => ("↑ ", " before these"),
        _ => ("↓ ", " behind these"),
    };
    let attributes = [("rel", Some(rel)), ("href", Some(link.address.as_str()))];
    markup.raw("<p class=\"more\">").open("a", &attributes);
    markup
        .raw(before)
        .text(&plural(link.messages as u64, "message"));
    markup.raw(behind).raw("</a></p>\n");
}

fn head(frame: &PageFrame<'_>, page: &ConversationPage<'_>, markup: &mut Markup) {
    frame.begin(page.title, markup);
    markup.raw("<header>\n");
    markup.element("h1", "title", page.title);
    if !page.facts.is_empty() {
        markup.raw("\n<ul class=\"facts\">");
        for fact in page.facts {
            markup.raw("<li>").text(fact).raw("</li>");
        }
        markup.raw("</ul>\n");
    }
    if !page.links.is_empty() {
        markup.raw("<p class=\"views\">");
        for (address, word) in page.links {
            markup.open("a", &[("href", Some(address))]);
            markup.text(word).raw("</a> ");
        }
        markup.raw("</p>\n");
    }
    chart::write(page, markup);
    moment::write(page, markup);
    chart::cached(page, markup);
    if let Some(address) = page.curve {
        markup
            .raw("<p class=\"curve\">")
            .open("a", &[("href", Some(address))])
            .raw("the context over time</a></p>\n");
    }
    markup.raw(
        "</header>\n<div class=\"tools\" role=\"search\" hidden>\
         <a class=\"button\" id=\"list\" href=\"#prompts\">Prompts</a>\
         <input id=\"search\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\" \
         autocomplete=\"off\" spellcheck=\"false\"><output id=\"found\"></output>\
         <select id=\"kind\" aria-label=\"Which messages\"><option value=\"\">all</option>\
         <option value=\"talk\">prompts and replies</option><option value=\"prompts\">prompts</option>\
         <option value=\"calls\">calls</option><option value=\"edits\">edits</option>\
         <option value=\"failed\">failed calls</option></select>\
         <button id=\"before\" title=\"the one before\">↑</button>\
         <button id=\"next\" title=\"the next one\">↓</button>\
         <button id=\"fold\" title=\"open or close all\">±</button>\
         <button id=\"keys\" title=\"keys\">?</button>\
         <button id=\"theme\" title=\"light or dark\">◐</button></div>\n",
    );
}

/// The list of prompts, which is complete at the end, and what makes it all move.
fn foot(frame: &PageFrame<'_>, around: &Around, blocks: &mut Blocks<'_>) {
    let elsewhere = |prompts: &[PagePrompt]| -> Vec<(String, String, bool)> {
        let prompts = prompts.iter().cloned();
        let prompts = prompts.map(|prompt| (prompt.address, prompt.text, prompt.is_hidden));
        prompts.collect()
    };
    let here = std::mem::take(&mut blocks.prompts).into_iter();
    let here = here.map(|(anchor, said, is_hidden)| (format!("#{anchor}"), said, is_hidden));
    let prompts = elsewhere(&around.prompts_before).into_iter().chain(here);
    let prompts = prompts.chain(elsewhere(&around.prompts_after));
    let markup = &mut blocks.markup;
    markup.raw("<nav id=\"prompts\" aria-label=\"Prompts\"><h2>Prompts</h2>\n<ol>\n");
    for (link, said, is_hidden) in prompts {
        let said = if said.is_empty() {
            "…"
        } else {
            said.as_str()
        };
        let class = is_hidden.then_some("gone");
        markup
            .raw("<li>")
            .open("a", &[("href", Some(link.as_str())), ("class", class)])
            .text(said)
            .raw("</a></li>\n");
    }
    markup.raw("</ol></nav>\n");
    frame.end(markup);
}
