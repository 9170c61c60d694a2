//! What replies have cost, and what caches had of their requests: plots, each with a table that says the same.
//!
//! Deliberately absent: prices, sums, and by what they are summed up.

use super::chart::{bars, begin, rect};
use super::document::PageFrame;
use super::markup::Markup;

/// What replies cost, as a page.
pub struct CostPage<'a> {
    /// What it is called. Hostile until escaped.
    pub title: &'a str,
    /// What is to be known before all: the sum, whose prices.
    pub facts: &'a [String],
    /// Other views: what each is called, its address, and whether it is this one. One group after the other.
    pub views: &'a [Vec<CostView>],
    /// Over time, oldest first.
    pub over_time: &'a [CostPlot],
    /// By what replies have in common.
    pub tables: &'a [CostTable],
    /// What is to be said of the figures.
    pub notes: &'a [String],
}

/// Another view of costs.
pub struct CostView {
    /// What it is called.
    pub word: String,
    /// Where it is.
    pub address: String,
    /// Whether it is what the page shows.
    pub is_here: bool,
}

/// Numbers over time: bars of which each has parts, one on the other.
pub struct CostPlot {
    /// What is plotted.
    pub title: String,
    /// What its parts are called, the lowest first, and the class of each in the style sheet.
    pub parts: Vec<(&'static str, &'static str)>,
    /// What a bar stands for.
    pub heading: &'static str,
    /// The bars, oldest first.
    pub bars: Vec<PlotBar>,
}

/// A bar.
pub struct PlotBar {
    /// What it stands for. Hostile until escaped.
    pub name: String,
    /// Where that is read.
    pub link: Option<String>,
    /// How high each part is.
    pub heights: Vec<f64>,
    /// The same as people read it.
    pub words: Vec<String>,
    /// What more is said of it, in the table. Hostile until escaped.
    pub more: Vec<String>,
}

/// What some have in common: a row for each, with a bar.
pub struct CostTable {
    /// What it is of.
    pub title: String,
    /// The headings of its columns, behind that of the names and of the bars.
    pub heading: Vec<&'static str>,
    /// The rows, the longest bar first.
    pub rows: Vec<TableRow>,
}

/// A row of such a table.
pub struct TableRow {
    /// What it is of. Hostile until escaped.
    pub name: String,
    /// What that is called exactly, where `name` is what people know it by. Hostile until escaped.
    pub id: Option<String>,
    /// Where that is read.
    pub link: Option<String>,
    /// How long its bar is.
    pub length: f64,
    /// What else stands in it. Hostile until escaped.
    pub cells: Vec<String>,
}

/// The page of what replies cost.
pub fn costs(frame: &PageFrame<'_>, page: &CostPage<'_>) -> String {
    let mut markup = Markup::default();
    frame.begin(page.title, &mut markup);
    markup.raw("<header>\n").element("h1", "title", page.title);
    if !page.facts.is_empty() {
        markup.raw("\n<ul class=\"facts\">");
        for fact in page.facts {
            markup.raw("<li>").text(fact).raw("</li>");
        }
        markup.raw("</ul>\n");
    }
    markup.raw("</header>\n<main class=\"wide\">\n");
    write(page, &mut markup);
    markup.raw("</main>\n");
    frame.end(&mut markup);
    markup.take()
}

fn write(page: &CostPage<'_>, markup: &mut Markup) {
    markup.raw("<section class=\"costs\">\n");
    for views in page.views {
        markup.raw("<p class=\"views\">");
        for view in views {
            let here = view.is_here.then_some("page");
            let attributes = [
                ("href", Some(view.address.as_str())),
                ("aria-current", here),
            ];
            markup.open("a", &attributes).text(&view.word).raw("</a> ");
        }
        markup.raw("</p>\n");
    }
    page.over_time
        .iter()
        .for_each(|plot| self::plot(plot, markup));
    page.tables
        .iter()
        .for_each(|table| self::table(table, markup));
    for note in page.notes {
        markup.element("p", "away", note).raw("\n");
    }
    markup.raw("</section>\n");
}

fn plot(plot: &CostPlot, markup: &mut Markup) {
    let height = |bar: &PlotBar| bar.heights.iter().sum::<f64>();
    let peak = plot.bars.iter().map(height).fold(0.0, f64::max);
    markup.element("h2", "plotted", &plot.title).raw("\n");
    if peak > 0.0 && plot.bars.len() > 1 {
        let said = format!("{}; the table below says the same", plot.title);
        begin(markup).text(&said).raw("\">\n");
        for (all, edges) in bars(&plot.bars) {
            // Where bars are many, the highest of its neighbours stands for them.
            let Some(bar) = all.iter().max_by(|a, b| height(a).total_cmp(&height(b))) else {
                continue;
            };
            column(plot, bar, peak, edges, markup);
        }
        markup.raw("</svg><figcaption>");
        for (word, class) in &plot.parts {
            markup
                .open("span", &[("class", Some(class))])
                .text(word)
                .raw("</span>");
        }
        markup.raw("</figcaption></figure>\n");
    }
    let words = plot.parts.iter().map(|(word, _)| *word);
    let more = plot
        .bars
        .iter()
        .map(|bar| bar.more.len())
        .max()
        .unwrap_or(0);
    markup
        .raw("<details class=\"said\"><summary>As a table</summary>\n<div class=\"table\" tabindex=\"0\"><table><thead><tr><th>")
        .text(plot.heading);
    for word in words {
        markup.raw("</th><th>").text(word);
    }
    markup.raw("</th>");
    for _ in 0..more {
        markup.raw("<td></td>");
    }
    markup.raw("</tr></thead><tbody>\n");
    for bar in plot.bars.iter().rev() {
        markup.raw("<tr><th>");
        name(&bar.name, None, bar.link.as_deref(), markup);
        markup.raw("</th>");
        for word in bar.words.iter().chain(&bar.more) {
            markup.raw("<td>").text(word).raw("</td>");
        }
        markup.raw("</tr>\n");
    }
    markup.raw("</tbody></table></div></details>\n");
}

/// One bar of a plot, part on part.
fn column(plot: &CostPlot, bar: &PlotBar, peak: f64, edges: [u64; 2], markup: &mut Markup) {
    if let Some(link) = &bar.link {
        markup.open("a", &[("href", Some(link))]);
    }
    markup.raw("<g><title>").text(&bar.name);
    for ((word, _), figure) in plot.parts.iter().zip(&bar.words) {
        markup.raw("  ").text(figure).raw(" ").text(word);
    }
    markup.raw("</title>");
    let mut foot = 0;
    for ((_, class), height) in plot.parts.iter().zip(&bar.heights) {
        let high = (height / peak * 56.0).ceil();
        // Nothing is drawn of what is nothing, and what is no number is nothing.
        let high = if high >= 1.0 {
            high.min(56.0) as u64
        } else {
            0
        };
        let high = high.min(60 - foot);
        if high > 0 {
            rect(markup, Some(class), edges, [60 - foot - high, high]);
            markup.raw("</rect>");
        }
        foot += high;
    }
    markup.raw("</g>");
    markup.raw(if bar.link.is_some() { "</a>\n" } else { "\n" });
}

fn table(table: &CostTable, markup: &mut Markup) {
    if table.rows.is_empty() {
        return;
    }
    let longest = table.rows.iter().map(|row| row.length).fold(0.0, f64::max);
    markup.element("h2", "plotted", &table.title).raw("\n");
    markup.raw("<div class=\"table\" tabindex=\"0\"><table class=\"bars\"><thead><tr><th>of</th><th>share</th>");
    for word in &table.heading {
        markup.raw("<th>").text(word).raw("</th>");
    }
    markup.raw("</tr></thead><tbody>\n");
    for row in &table.rows {
        markup.raw("<tr><th>");
        name(&row.name, row.id.as_deref(), row.link.as_deref(), markup);
        markup.raw("</th><td class=\"bar\">");
        let share = row.length / longest * 100.0;
        let long = if share >= 1.0 {
            share.min(100.0) as u64
        } else {
            0
        };
        if long > 0 {
            markup.raw(
                "<svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
            );
            rect(markup, None, [0, long], [0, 10]);
            markup.raw("</rect></svg>");
        }
        markup.raw("</td>");
        for cell in &row.cells {
            markup.raw("<td>").text(cell).raw("</td>");
        }
        markup.raw("</tr>\n");
    }
    markup.raw("</tbody></table></div>\n");
}

fn name(name: &str, id: Option<&str>, link: Option<&str>, markup: &mut Markup) {
    let tag = if link.is_some() { "a" } else { "span" };
    let attributes = [("class", Some("name")), ("href", link), ("title", id)];
    markup.open(tag, &attributes).text(name).close(tag);
}
