//! How a message uses tools, in brief: what a listing says of its calls, and which calls its results
//! answer. Deliberately absent: which call of several with one id a result answers, which depends on
//! the messages around it.

use serde::{Deserialize, Serialize};

use crate::model::call::Brief;
use crate::model::pairs::Links;
use crate::model::preview::{one_line, preview};
use crate::model::{Message, PREVIEW_BYTES, Part};

/// The calls that a message makes and the calls that it answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUses {
    /// Its calls, in order.
    pub calls: Vec<ToolUse>,
    /// The ids that its results answer, in order.
    pub answers: Vec<String>,
}

/// One call in brief. Hostile until escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The call's id; a conversation may repeat it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// It as [`Brief`] says it, in at most [`PREVIEW_BYTES`] bytes.
    pub line: String,
}

impl ToolUses {
    /// Those of a message; none where it has neither a call nor a result.
    pub fn of(message: &Message) -> Option<Self> {
        let uses = Self {
            calls: message.parts.iter().filter_map(ToolUse::of).collect(),
            answers: message.results().map(str::to_owned).collect(),
        };
        (!uses.calls.is_empty() || !uses.answers.is_empty()).then_some(uses)
    }

    /// As it is kept beside a message.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("strings are JSON")
    }

    /// Reads that back.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Of what is kept beside a message only the ids.
    pub(crate) fn links_from_text(text: &str) -> Option<Links> {
        #[derive(Deserialize)]
        struct Id {
            id: String,
        }
        #[derive(Deserialize)]
        struct Ids {
            calls: Vec<Id>,
            answers: Vec<String>,
        }
        let ids: Ids = serde_json::from_str(text).ok()?;
        Some(Links {
            calls: ids.calls.into_iter().map(|call| call.id).collect(),
            results: ids.answers,
        })
    }

    /// Whether these are the same calls and answers, however the calls are said in a line.
    pub(crate) fn is_of_the_same(&self, other: &Self) -> bool {
        let is_same =
            |(one, other): (&ToolUse, &ToolUse)| (&one.id, &one.name) == (&other.id, &other.name);
        self.answers == other.answers
            && self.calls.len() == other.calls.len()
            && self.calls.iter().zip(&other.calls).all(is_same)
    }

    /// The ids alone.
    pub fn links(&self) -> Links {
        Links {
            calls: self.calls.iter().map(|call| call.id.clone()).collect(),
            results: self.answers.clone(),
        }
    }
}

impl ToolUse {
    /// A part that is a call, in brief.
    pub fn of(part: &Part) -> Option<Self> {
        match part {
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => Some(Self {
                id: id.clone(),
                name: name.clone(),
                line: one_line(&Brief::of(name, arguments).line(Some(PREVIEW_BYTES))),
            }),
            _ => None,
        }
    }
}

/// The calls that a message answers, in a line: the first, and how many there are beside it.
pub fn answered(calls: &[ToolUse]) -> Option<String> {
    let (first, more) = calls.split_first()?;
    Some(match more.len() {
        0 => first.line.clone(),
        more => format!("{} (+{more})", first.line),
    })
}

/// The line that tells a message from others, a call in brief.
pub fn line(message: &Message) -> String {
    let uses = ToolUses::of(message);
    in_brief(
        preview(message),
        uses.as_ref().and_then(|uses| uses.calls.first()),
    )
}

/// The line that tells a message from others; where that is the summary of its first call, the call in brief.
pub(crate) fn in_brief(preview: String, first: Option<&ToolUse>) -> String {
    let is_key = |key: &str| {
        let is_of_key = |c: char| c.is_alphanumeric() || "_-.$".contains(c);
        !key.is_empty() && key.chars().all(is_of_key)
    };
    let is_summary = |call: &&ToolUse| {
        let pairs = preview
            .strip_prefix(&call.name)
            .and_then(|rest| rest.strip_prefix(' '));
        let key = pairs.and_then(|pairs| pairs.split_once('='));
        key.is_some_and(|(key, _)| is_key(key))
    };
    match first.filter(is_summary) {
        Some(call) => call.line.clone(),
        None => preview,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    fn call(id: &str) -> Part {
        Part::ToolCall {
            id: id.into(),
            name: "read".into(),
            arguments: format!(r#"{{"path": "{}"}}"#, "é".repeat(60)),
            kind: None,
        }
    }

    #[test]
    fn calls_are_the_same_however_they_are_said() {
        let of = |id| {
            ToolUses::of(&Message::new(Role::Assistant, vec![call(id)])).expect("it uses tools")
        };
        let mut before = of("a");
        before.calls[0].line = "as an earlier version said it".into();
        assert!(before.is_of_the_same(&of("a")));
        assert!(!before.is_of_the_same(&of("b")));
        before.answers.push("a".into());
        assert!(!before.is_of_the_same(&of("a")));
    }

    #[test]
    fn a_summary_of_a_call_is_told_in_brief_and_a_text_is_not() {
        let uses = Message::new(Role::Assistant, vec![call("a")]);
        let uses = ToolUses::of(&uses).expect("it uses tools");
        let shown = |preview: &str| in_brief(preview.to_owned(), uses.calls.first());
        assert_eq!(shown("read path=\"x…"), uses.calls[0].line);
        for text in [
            "read",
            "read it = well",
            "reading a=b",
            "I read a=b",
            "read =x",
            "",
        ] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(in_brief("read path=1".into(), None), "read path=1");
    }

    #[test]
    fn what_is_kept_of_a_call_is_short_and_is_read_back() {
        let result = Part::ToolResult {
            call: "b\"\n".into(),
            content: vec![Part::text("found")],
            is_error: false,
        };
        let message = Message::new(Role::Assistant, vec![call("a"), result, call("a")]);
        let uses = ToolUses::of(&message).expect("it uses tools");
        assert_eq!(
            (uses.calls.len(), &uses.answers[..]),
            (2, &["b\"\n".into()][..])
        );
        assert!(uses.calls[0].line.starts_with("read ééé"));
        assert!(uses.calls[0].line.len() <= crate::model::PREVIEW_BYTES);
        assert_eq!(ToolUses::from_text(&uses.to_text()), Some(uses.clone()));
        let links = ToolUses::links_from_text(&uses.to_text());
        assert_eq!(links, Some(Links::of(&message)));
        assert_eq!(links, Some(uses.links()));
        let line = answered(&uses.calls).expect("calls");
        assert!(line.ends_with("… (+1)"), "{line}");
        assert_eq!(ToolUses::of(&Message::text(Role::User, "hi")), None);
        assert_eq!(ToolUses::from_text("{"), None);
    }
}
