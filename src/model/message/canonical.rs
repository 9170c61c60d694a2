//! The canonical bytes of a message, written without recursion and without a tree in between: a
//! message may be nested deeper than any stack, and is refused only after it has its name.
//!
//! They are those of [`crate::hash::canonical`], which the derived form gives as well; a law holds
//! the two to each other.

use crate::model::{Media, MediaSource, Message, Part};

/// What is still to be written, the next at the end.
enum Todo<'a> {
    Part(&'a Part),
    Text(&'static str),
}

/// The canonical bytes (`docs/object-format.md`, "Content").
pub(super) fn canonical(message: &Message) -> String {
    let mut out = Canonical(Vec::from(*b"{"));
    if let Some(attached) = &message.attached {
        out.text("\"attached\":");
        out.string(attached);
        out.text(",");
    }
    if message.interrupted {
        out.text("\"interrupted\":true,");
    }
    if let Some(name) = &message.name {
        out.text("\"name\":");
        out.string(name);
        out.text(",");
    }
    let mut todo = Vec::new();
    if !message.parts.is_empty() {
        out.text("\"parts\":");
        push_list(&mut todo, &message.parts, "],");
    }
    while let Some(next) = todo.pop() {
        match next {
            Todo::Text(text) => out.text(text),
            Todo::Part(part) => out.part(part, &mut todo),
        }
    }
    if let Some(recipient) = &message.recipient {
        out.text("\"recipient\":");
        out.string(recipient);
        out.text(",");
    }
    out.text("\"role\":");
    out.string(message.role.as_str());
    out.text("}");
    String::from_utf8(out.0).expect("strings and brackets are UTF-8")
}

/// A list, and what stands behind it.
fn push_list<'a>(todo: &mut Vec<Todo<'a>>, parts: &'a [Part], end: &'static str) {
    todo.push(Todo::Text(end));
    for (index, part) in parts.iter().enumerate().rev() {
        todo.push(Todo::Part(part));
        todo.push(Todo::Text(if index == 0 { "[" } else { "," }));
    }
}

struct Canonical(Vec<u8>);

impl Canonical {
    fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn string(&mut self, text: &str) {
        serde_json::to_writer(&mut self.0, text).expect("a string goes into memory");
    }

    /// An object of strings; the keys are in order.
    fn object<'v>(&mut self, members: impl IntoIterator<Item = (&'static str, Option<&'v str>)>) {
        let given = members
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        for (index, (key, value)) in given.enumerate() {
            self.text(if index == 0 { "{\"" } else { ",\"" });
            self.text(key);
            self.text("\":");
            self.string(value);
        }
        self.text("}");
    }

    fn part<'a>(&mut self, part: &'a Part, todo: &mut Vec<Todo<'a>>) {
        let kind = ("type", Some(part.type_name()));
        match part {
            Part::Text { text } => self.object([("text", Some(text.as_str())), kind]),
            Part::Thinking {
                text,
                signature,
                provider,
            } => self.object([
                ("provider", provider.as_deref()),
                ("signature", signature.as_deref()),
                ("text", Some(text)),
                kind,
            ]),
            Part::ToolCall {
                id,
                name,
                arguments,
                kind: of,
            } => self.object([
                ("arguments", Some(arguments.as_str())),
                ("id", Some(id)),
                ("kind", of.as_deref()),
                ("name", Some(name)),
                kind,
            ]),
            Part::ToolResult {
                call,
                content,
                is_error,
            } => {
                self.text("{\"call\":");
                self.string(call);
                todo.push(Todo::Text(match is_error {
                    true => ",\"is_error\":true,\"type\":\"tool_result\"}",
                    false => ",\"type\":\"tool_result\"}",
                }));
                if !content.is_empty() {
                    self.text(",\"content\":");
                    push_list(todo, content, "]");
                }
            }
            Part::Image(media) | Part::File(media) => self.media(media, kind),
            Part::Opaque { provider, data } => self.object([
                ("data", Some(data.as_str())),
                ("provider", Some(provider)),
                kind,
            ]),
        }
    }

    fn media(&mut self, media: &Media, kind: (&'static str, Option<&str>)) {
        let (mut data, mut file_id, mut url) = (None, None, None);
        match &media.source {
            MediaSource::Base64(text) => data = Some(text.as_str()),
            MediaSource::FileId(id) => file_id = Some(id.as_str()),
            MediaSource::Url(address) => url = Some(address.as_str()),
        }
        self.object([
            ("data", data),
            ("detail", media.detail.as_deref()),
            ("file_id", file_id),
            ("media_type", media.media_type.as_deref()),
            ("name", media.name.as_deref()),
            kind,
            ("url", url),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conditions::laws;
    use crate::model::Role;

    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(String::new()),
            "[a-c\"\\\\\n\u{0}\u{1f}\u{7f}é日😀/]{0,6}",
        ]
    }

    fn media() -> impl Strategy<Value = Media> {
        let some = || prop::option::of(word());
        let source = prop_oneof![
            word().prop_map(MediaSource::Base64),
            word().prop_map(MediaSource::Url),
            word().prop_map(MediaSource::FileId),
        ];
        (some(), some(), some(), source).prop_map(|(media_type, name, detail, source)| Media {
            media_type,
            name,
            detail,
            source,
        })
    }

    fn part() -> impl Strategy<Value = Part> {
        let some = || prop::option::of(word());
        let leaf = prop_oneof![
            word().prop_map(Part::text),
            (word(), some(), some()).prop_map(|(text, signature, provider)| Part::Thinking {
                text,
                signature,
                provider
            }),
            (word(), word(), word(), some()).prop_map(|(id, name, arguments, kind)| {
                Part::ToolCall {
                    id,
                    name,
                    arguments,
                    kind,
                }
            }),
            media().prop_map(Part::Image),
            media().prop_map(Part::File),
            (word(), word()).prop_map(|(provider, data)| Part::Opaque { provider, data }),
        ];
        leaf.prop_recursive(4, 16, 3, |inner| {
            let content = prop::collection::vec(inner, 0..3);
            (word(), content, any::<bool>()).prop_map(|(call, content, is_error)| {
                Part::ToolResult {
                    call,
                    content,
                    is_error,
                }
            })
        })
    }

    proptest! {
        #![proptest_config(laws(256))]

        #[test]
        fn what_is_written_is_the_canonical_form(
            parts in prop::collection::vec(part(), 0..4),
            name in prop::option::of(word()),
            attached in prop::option::of(word()),
            recipient in prop::option::of(word()),
            interrupted in any::<bool>(),
            role in prop::sample::select(Role::ALL.to_vec()),
        ) {
            let message = Message { role, name, attached, recipient, interrupted, parts };
            prop_assert_eq!(canonical(&message), crate::hash::canonical(&message));
            prop_assert_eq!(Message::from_canonical(&canonical(&message)).expect("reads"), message);
        }
    }

    #[test]
    fn no_depth_is_too_deep_to_be_written() {
        let mut part = Part::text("");
        for _ in 0..200_000 {
            part = Part::ToolResult {
                call: String::new(),
                content: vec![part],
                is_error: true,
            };
        }
        let mut message = Message::new(Role::Tool, vec![part]);
        let written = canonical(&message);
        assert!(written.ends_with("\"type\":\"tool_result\"}],\"role\":\"tool\"}"));
        assert!(crate::model::depth::check_message(&message).is_err());
        // What it is made of is dropped level by level; that alone would recurse.
        while let Some(Part::ToolResult { content, .. }) = message.parts.pop() {
            message.parts = content;
        }
    }
}
