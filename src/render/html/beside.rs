//! What stands in place of hidden messages, and these beside it.

use std::io::{self, Write};

use super::block::Blocks;
use super::document::PageFrame;
use super::{foot, head, part_link};
use crate::render::page::{Around, ConversationPage};
use crate::tree::TreeItem;

/// Writes the page of what stands there, and of what it hid. Both are trees of their own.
///
/// # Errors
///
/// The output's.
pub fn beside(
    frame: &PageFrame<'_>,
    (stands, mark): (&ConversationPage<'_>, &[TreeItem]),
    (page, hidden): (&ConversationPage<'_>, &[TreeItem]),
    by: &'static str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut blocks = Blocks::new(stands);
    blocks.opens_marks = true;
    head(frame, page, &mut blocks.markup);
    blocks
        .markup
        .raw("<main class=\"columns\">\n<div class=\"stands\">\n<h2>what stands for them</h2>\n");
    mark.iter().for_each(|item| blocks.item(item));
    out.write_all(blocks.markup.take().as_bytes())?;
    let mut blocks = Blocks::new(page);
    blocks
        .markup
        .raw("</div>\n<div class=\"hid\">\n<h2>what it hid</h2>\n");
    part_link(&mut blocks.markup, page.around.before.as_ref(), "prev");
    blocks.inside = Some(by);
    hidden.iter().for_each(|item| blocks.item(item));
    blocks.inside = None;
    part_link(&mut blocks.markup, page.around.after.as_ref(), "next");
    blocks.markup.raw("</div>\n</main>\n");
    foot(frame, &Around::default(), &mut blocks);
    out.write_all(blocks.markup.take().as_bytes())
}
