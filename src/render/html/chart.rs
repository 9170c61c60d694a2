//! How large the context was over the conversation, and where it was made smaller.

use super::block::anchor;
use super::markup::Markup;
use crate::render::page::ContextSize;
use crate::render::{grouped, tokens};

/// How many bars there are at most.
const BARS: usize = 240;
/// The height of the highest one.
const HEIGHT: u64 = 56;
/// The width of all.
const WIDTH: u64 = 1200;

/// Writes the chart of these steps, oldest first.
pub(super) fn write(markup: &mut Markup, sizes: &[ContextSize]) {
    let highest = |sizes: &[ContextSize]| sizes.iter().map(|size| size.tokens.tokens).max();
    let peak = highest(sizes).unwrap_or(0);
    if peak == 0 || sizes.len() < 2 {
        return;
    }
    let count = sizes.len().min(BARS);
    let edge = |bar: usize| bar * sizes.len() / count;
    let left_of = |bar: usize| bar as u64 * WIDTH / count as u64;
    markup
        .raw("<figure class=\"chart\"><svg viewBox=\"0 0 1200 60\" preserveAspectRatio=\"none\" ");
    markup.raw("role=\"img\" aria-label=\"the context's size over the conversation\">\n");
    let mut hides = 0;
    for bar in 0..count {
        let steps = &sizes[edge(bar)..edge(bar + 1)];
        let Some(last) = steps.last() else { continue };
        let high = highest(steps).unwrap_or(0);
        let hide = steps.iter().find_map(|size| size.hides);
        let height = (high * HEIGHT).div_ceil(peak).max(1);
        let (left, right) = (left_of(bar), left_of(bar + 1));
        let message = steps.iter().rev().find_map(|size| size.message);
        let link = message.map(|message| format!("#{}", anchor(message.at, message.number)));
        if let Some(link) = &link {
            markup.open("a", &[("href", Some(link))]);
        }
        let class = hide.map(|_| "hide");
        let rect = [left, 60 - height, (right - left).max(1), height].map(|n| n.to_string());
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
        markup.raw("<title>");
        if let Some(number) = message.and_then(|message| message.number) {
            markup.raw(":").number(number as u64).raw("  ");
        }
        markup.text(&tokens(last.tokens)).raw(" tokens");
        if let Some(kind) = hide {
            markup.raw(", ").raw(kind);
        }
        markup.raw("</title></rect>");
        if hide.is_some() {
            hides += 1;
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
        markup.raw(if link.is_some() { "</a>\n" } else { "\n" });
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
