//! What of a message is never counted as a change between two requests.

use crate::formats::shared::fields::Fields;
use crate::model::Part;
use crate::wire::anthropic::MARK;
use crate::wire::json::{is_object, tight};

/// Leaves out what says nothing of arguments and of blocks that are kept as they are: white space between
/// tokens, which a reply may have otherwise than the request that says it again, and marks for a cache.
pub(in crate::formats) fn settle(part: &mut Part) {
    match part {
        Part::Opaque { data, .. } => {
            if data.contains(MARK)
                && let Some(mut fields) = Fields::parse(data)
            {
                fields.remove(MARK);
                *data = fields.line();
            }
            *data = tight(data);
        }
        Part::ToolCall {
            arguments, kind, ..
        } if kind.is_none() && is_object(arguments) => {
            *arguments = tight(arguments);
        }
        Part::ToolResult { content, .. } => content.iter_mut().for_each(settle),
        _ => {}
    }
}
