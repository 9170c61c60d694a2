//! How large the context was over the conversation, and where it was made smaller; what a provider's cache had of it.

use super::markup::Markup;
use crate::render::chat::ChatMessage;
use crate::render::page::{CachedSize, ContextSize, ConversationPage};
use crate::render::{grouped, rounded, tokens};

/// How many bars there are at most.
const BARS: usize = 240;
/// The height of the highest one.
const HEIGHT: u64 = 56;
/// The width of all.
const WIDTH: u64 = 1200;

/// Writes the chart of these steps, oldest first.
pub(super) fn write(page: &ConversationPage<'_>, markup: &mut Markup) {
    let sizes = page.sizes;
    let highest = |sizes: &[ContextSize]| sizes.iter().map(|size| size.tokens.tokens).max();
    let peak = highest(sizes).unwrap_or(0);
    if peak == 0 || sizes.len() < 2 {
        return;
    }
    begin(markup).raw("the context's size over the conversation\">\n");
    let mut hides = 0;
    for (steps, [left, right]) in bars(sizes) {
        let Some(last) = steps.last() else { continue };
        let high = highest(steps).unwrap_or(0);
        let hide = steps.iter().find_map(|size| size.hides);
        let height = (high * HEIGHT).div_ceil(peak).max(1);
        let message = steps.iter().rev().find_map(|size| size.message);
        let hiding = steps.iter().find(|size| size.hides.is_some());
        let address = hiding
            .or(Some(last))
            .and_then(|size| size.address.as_deref());
        let is_linked = match address {
            Some(address) => {
                // The keys go from hide to hide; a slider leads to each step.
                let index = hide.is_none().then_some("-1");
                let attributes = [("href", Some(address)), ("tabindex", index)];
                markup.open("a", &attributes);
                true
            }
            None => link(page, markup, message),
        };
        let class = hide.map(|_| "hide");
        rect(markup, class, [left, right], [60 - height, height]);
        title(markup, message);
        markup.text(&tokens(last.tokens)).raw(" tokens");
        if let Some(kind) = hide {
            markup.raw(", ").raw(kind);
        }
        markup.raw("</title></rect>");
        if hide.is_some() {
            hides += 1;
            let x = &left.to_string();
            markup.open(
                "line",
                &[
                    ("x1", Some(x)),
                    ("x2", Some(x)),
                    ("y1", Some("0")),
                    ("y2", Some("60")),
                ],
            );
            markup.raw("</line>");
        }
        markup.raw(if is_linked { "</a>\n" } else { "\n" });
    }
    markup
        .raw("</svg><figcaption><span>context: at most ")
        .text(&grouped(peak));
    markup.raw(" tokens</span>");
    if hides > 0 {
        markup.raw("<span class=\"hides\">made smaller</span>");
    }
    let now = sizes.last().map(|size| tokens(size.tokens));
    markup
        .raw("<span>now ")
        .text(&now.unwrap_or_default())
        .raw("</span></figcaption></figure>\n");
}

/// Writes what a cache had of each request, oldest first: of a bar the foot is what was read from it, and what was
/// missed stands on that.
pub(super) fn cached(page: &ConversationPage<'_>, markup: &mut Markup) {
    let sizes = page.cached;
    let sum = |number: fn(&CachedSize) -> u64| {
        let all = sizes.iter().map(number);
        all.fold(0, u64::saturating_add)
    };
    let (input, read, missed) = (sum(|it| it.input), sum(|it| it.cached), sum(|it| it.missed));
    let peak = sizes.iter().map(|size| size.input).max().unwrap_or(0);
    if read + missed == 0 || sizes.len() < 2 {
        return;
    }
    let [input, read_words, missed_words] = [input, read, missed].map(rounded);
    let said = format!(
        "what the provider's cache had of each request: of {input} tokens in all, {read_words} were read from it, \
         and {missed_words} were missed"
    );
    begin(markup).text(&said).raw("\">\n");
    for (requests, [left, right]) in bars(sizes) {
        let Some(one) = requests.iter().max_by_key(|it| (it.missed, it.input)) else {
            continue;
        };
        let is_linked = link(page, markup, one.message);
        let height = |tokens: u64| (tokens.min(one.input) * HEIGHT).div_ceil(peak);
        let (all, foot) = (height(one.input), height(one.cached));
        let lost = height(one.missed).min(all - foot);
        markup.raw("<g>");
        title(markup, one.message);
        let [input, read, missed] = [one.input, one.cached, one.missed].map(grouped);
        let words = format!("{input} tokens: {read} from the cache, {missed} missed");
        markup.text(&words).raw("</title>");
        for (class, from, high) in [
            (Some("rest"), foot + lost, all - foot - lost),
            (Some("missed"), foot, lost),
            (None, 0, foot),
        ] {
            if high > 0 {
                rect(markup, class, [left, right], [60 - from - high, high]);
                markup.raw("</rect>");
            }
        }
        markup.raw("</g>");
        markup.raw(if is_linked { "</a>\n" } else { "\n" });
    }
    markup
        .raw("</svg><figcaption><span>cache: ")
        .text(&read_words);
    markup.raw(" of ").text(&input).raw(" tokens read</span>");
    if missed > 0 {
        markup.raw("<span class=\"missed\">").text(&missed_words);
        markup.raw(" missed</span>");
    }
    markup.raw("</figcaption></figure>\n");
}

/// What each bar stands for, and its left and right edge.
pub(super) fn bars<T>(all: &[T]) -> impl Iterator<Item = (&[T], [u64; 2])> {
    let count = all.len().min(BARS);
    let edge = move |bar: usize| bar * all.len() / count;
    let left_of = move |bar: usize| bar as u64 * WIDTH / count as u64;
    (0..count).map(move |bar| {
        let edges = [left_of(bar), left_of(bar + 1)];
        (&all[edge(bar)..edge(bar + 1)], edges)
    })
}

/// Begins a chart, up to what it says to whoever does not see it.
fn begin(markup: &mut Markup) -> &mut Markup {
    markup
        .raw("<figure class=\"chart\"><svg viewBox=\"0 0 1200 60\" preserveAspectRatio=\"none\" ")
        .raw("role=\"group\" aria-label=\"")
}

/// Begins a link to a message that the page shows; whether there is one.
fn link(page: &ConversationPage<'_>, markup: &mut Markup, message: Option<ChatMessage>) -> bool {
    let link = message.map(|message| page.link(message));
    if let Some(link) = &link {
        // The list of prompts is there for the keys.
        markup.open("a", &[("href", Some(link)), ("tabindex", Some("-1"))]);
    }
    link.is_some()
}

/// Begins a bar between these edges, from this height down.
pub(super) fn rect(
    markup: &mut Markup,
    class: Option<&str>,
    [left, right]: [u64; 2],
    [top, height]: [u64; 2],
) {
    let rect = [left, top, (right - left).max(1), height].map(|n| n.to_string());
    let [x, y, width, height] = &rect;
    markup.open(
        "rect",
        &[
            ("class", class),
            ("x", Some(x)),
            ("y", Some(y)),
            ("width", Some(width)),
            ("height", Some(height)),
        ],
    );
}

/// Begins the words of a bar, with the number of its message.
fn title(markup: &mut Markup, message: Option<ChatMessage>) {
    markup.raw("<title>");
    if let Some(number) = message.and_then(|message| message.number) {
        markup.raw(":").number(number as u64).raw("  ");
    }
}
