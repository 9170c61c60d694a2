//! What replies have cost, and what caches had of their requests: plots, each with a table that says the same.
//!
//! Deliberately absent: prices, sums, and by what they are summed up.

use super::chart::{bars, rect};
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
    /// Each day of a year.
    pub calendar: Option<&'a CostCalendar>,
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
    /// What its parts are called, the lowest first, and the class of each in the style sheet. Hostile until escaped.
    pub parts: Vec<(String, &'static str)>,
    /// How people read a height: the axis is labelled with it.
    pub unit: fn(f64) -> String,
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
    /// When it was, in milliseconds, and how that is said at the ends of the axis: where all bars have times, they stand at them.
    pub at: Option<(i64, String)>,
    /// How high each part is.
    pub heights: Vec<f64>,
    /// The same as people read it.
    pub words: Vec<String>,
    /// What more is said of it, in the table. Hostile until escaped.
    pub more: Vec<String>,
}

/// What each day cost, as a calendar.
pub struct CostCalendar {
    /// What it is of.
    pub title: String,
    /// The days, without a gap.
    pub days: Vec<CalendarDay>,
}

/// A day of a calendar.
pub struct CalendarDay {
    /// Its date.
    pub name: String,
    /// Which day of the week it is: 0 is Monday.
    pub weekday: u8,
    /// What it cost, in US dollars.
    pub dollars: f64,
    /// What is said of it. Hostile until escaped.
    pub words: String,
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
    page.calendar
        .into_iter()
        .for_each(|calendar| self::calendar(calendar, markup));
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
        markup.raw("<figure class=\"chart\"><div class=\"axes\"><div class=\"scale\">");
        for value in [peak, peak / 2.0, 0.0] {
            markup.element("span", "tick", &(plot.unit)(value));
        }
        markup
            .raw("</div><svg viewBox=\"0 0 1200 60\" preserveAspectRatio=\"none\" role=\"group\" aria-label=\"")
            .text(&said)
            .raw("\"><line class=\"half\" x1=\"0\" x2=\"1200\" y1=\"30\" y2=\"30\"></line>\n");
        match plot.times() {
            Some(edges) => {
                for (bar, edges) in plot.bars.iter().zip(edges) {
                    column(plot, bar, peak, edges, markup);
                }
            }
            None => {
                for (all, edges) in bars(&plot.bars) {
                    // Where bars are many, the highest of its neighbours stands for them.
                    if let Some(bar) = all.iter().max_by(|a, b| height(a).total_cmp(&height(b))) {
                        column(plot, bar, peak, edges, markup);
                    }
                }
            }
        }
        markup.raw("</svg></div><div class=\"ends\">");
        let ends = [plot.bars.first(), plot.bars.last()];
        for bar in ends.into_iter().flatten() {
            let end = bar.at.as_ref().map_or(&bar.name, |(_, end)| end);
            markup.element("span", "end", end);
        }
        markup.raw("</div><figcaption>");
        for (word, class) in &plot.parts {
            markup
                .open("span", &[("class", Some(class))])
                .text(word)
                .raw("</span>");
        }
        markup.raw("</figcaption></figure>\n");
    }
    let more = plot
        .bars
        .iter()
        .map(|bar| bar.more.len())
        .max()
        .unwrap_or(0);
    markup
        .raw("<details class=\"said\"><summary>As a table</summary>\n<div class=\"table\" tabindex=\"0\"><table><thead><tr><th>")
        .text(plot.heading);
    for (word, _) in &plot.parts {
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

impl CostPlot {
    /// Where bars stand that have times: each from its own to the next, and no wider than a fortieth of all.
    fn times(&self) -> Option<Vec<[u64; 2]>> {
        let times = self.bars.iter().map(|bar| bar.at.as_ref().map(|it| it.0));
        let times: Vec<i64> = times.collect::<Option<_>>()?;
        let (first, last) = (*times.iter().min()?, *times.iter().max()?);
        // The last one has a width, too.
        let all = 1_160.0 / last.saturating_sub(first).max(1) as f64;
        let left = |time: i64| (time.saturating_sub(first) as f64 * all) as u64;
        let edges = times.iter().enumerate().map(|(at, time)| {
            let from = left(*time);
            let next = times.get(at + 1).map_or(1_200, |next| left(*next));
            [from, next.clamp(from + 3, from + 40)]
        });
        Some(edges.collect())
    }
}

/// One bar of a plot, part on part.
fn column(plot: &CostPlot, bar: &PlotBar, peak: f64, edges: [u64; 2], markup: &mut Markup) {
    if let Some(link) = &bar.link {
        markup.open("a", &[("href", Some(link))]);
    }
    markup.raw("<g><title>").text(&bar.name);
    let parts = plot.parts.iter().zip(&bar.heights).zip(&bar.words);
    for (((word, _), height), figure) in parts {
        // What a bar has nothing of is not told where parts are many.
        if *height > 0.0 || plot.parts.len() < 2 {
            markup.raw("\n").text(figure).raw("  ").text(word);
        }
    }
    for more in bar.more.iter().filter(|more| !more.is_empty()) {
        markup.raw("\n").text(more);
    }
    markup.raw("</title>");
    // The whole height shows its words.
    rect(markup, Some("under"), edges, [0, 60]);
    markup.raw("</rect>");
    let mut sum = 0.0;
    let place = |height: f64| {
        let high = (height / peak * 60.0).ceil();
        // What is no number is nothing.
        if high >= 1.0 {
            high.min(60.0) as u64
        } else {
            0
        }
    };
    for ((_, class), height) in plot.parts.iter().zip(&bar.heights) {
        let foot = place(sum);
        sum += height.max(0.0);
        let top = place(sum);
        if top > foot {
            rect(markup, Some(class), edges, [60 - top, top - foot]);
            markup.raw("</rect>");
        }
    }
    markup.raw("</g>");
    markup.raw(if bar.link.is_some() { "</a>\n" } else { "\n" });
}

/// How many weeks a calendar has at most.
const WEEKS: usize = 53;
/// How far a day is from the next.
const DAY: u64 = 12;
/// How large a day is.
const SIDE: u64 = 10;

/// A square for each day, a column for each week, the darker the dearer.
fn calendar(calendar: &CostCalendar, markup: &mut Markup) {
    let days = &calendar.days;
    let from = days.len().saturating_sub(WEEKS * 7 - 6);
    let Some(first) = days.get(from) else {
        return;
    };
    let days = &days[from..];
    let skipped = usize::from(first.weekday);
    let weeks = (skipped + days.len()).div_ceil(7) as u64;
    let mut prices: Vec<f64> = days.iter().map(|day| day.dollars).collect();
    prices.retain(|dollars| *dollars > 0.0);
    prices.sort_by(f64::total_cmp);
    let shade = |dollars: f64| match prices.partition_point(|it| *it < dollars) * 4 {
        _ if dollars <= 0.0 => "s0",
        below if below < prices.len() => "s1",
        below if below < prices.len() * 2 => "s2",
        below if below < prices.len() * 3 => "s3",
        _ => "s4",
    };
    markup.element("h2", "plotted", &calendar.title).raw("\n");
    let size = format!("0 0 {} {}", weeks * DAY, 7 * DAY);
    let wide = (weeks * 16).to_string();
    markup.raw("<figure class=\"calendar\">");
    markup.open(
        "svg",
        &[
            ("viewBox", Some(&size)),
            ("width", Some(&wide)),
            ("role", Some("img")),
            ("aria-label", Some(&calendar.title)),
        ],
    );
    for (at, day) in days.iter().enumerate() {
        let place = skipped + at;
        let (x, y) = (place as u64 / 7 * DAY, place as u64 % 7 * DAY);
        rect(markup, Some(shade(day.dollars)), [x, x + SIDE], [y, SIDE]);
        markup
            .raw("<title>")
            .text(&day.words)
            .raw("</title></rect>\n");
    }
    markup.raw("</svg><figcaption>");
    for end in [days.first(), days.last()].into_iter().flatten() {
        markup.element("span", "end", &end.name);
    }
    markup.raw("</figcaption></figure>\n");
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
