//! The choice of a moment, and of the context as it was sent then.

use super::markup::Markup;
use crate::render::page::ConversationPage;
use crate::render::rounded;

/// Writes the choice, if there is one.
pub(super) fn write(page: &ConversationPage<'_>, markup: &mut Markup) {
    let Some(moment) = page.moment.as_ref().filter(|moment| moment.steps > 1) else {
        return;
    };
    let [step, steps] = [moment.step, moment.steps].map(|number| number.to_string());
    let tokens: Vec<String> = moment.tokens.iter().map(u64::to_string).collect();
    let tokens = tokens.join(" ");
    markup.raw("<form class=\"moment\" method=\"get\" action=\"./\"><label for=\"step\">as it was sent at</label>");
    markup.open(
        "input",
        &[
            ("type", Some("range")),
            ("id", Some("step")),
            ("name", Some("step")),
            ("min", Some("1")),
            ("max", Some(&steps)),
            ("value", Some(&step)),
            ("data-tokens", Some(&tokens)),
        ],
    );
    let size = moment.tokens.len() * moment.step.saturating_sub(1) / moment.steps;
    let size = moment.tokens.get(size).map(|size| rounded(*size));
    markup
        .raw("<output>step ")
        .text(&step)
        .raw(" of ")
        .text(&steps);
    if let Some(size) = size {
        markup.raw(", ").text(&size).raw(" tokens");
    }
    markup.raw("</output><button>Show</button></form>\n");
    if let Some(shown) = &moment.shown {
        markup
            .raw("<p class=\"then\">The context as it was at ")
            .text(shown)
            .raw(": what the model was sent, with what was hidden from it folded. <a href=\"./\">As it is now</a></p>\n");
    }
}
