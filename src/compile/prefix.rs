//! How much of a request is the same as another one's from its start: what a provider's prompt
//! cache can still use.

use crate::compile::{Provider, RequestOptions, compile};
use crate::error::Result;
use crate::model::{Message, Settings};

/// The beginning that two requests share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// How many messages of the context.
    pub messages: usize,
    /// How many bytes of the requests.
    pub size_bytes: usize,
}

/// Compares the requests that two contexts' messages make, without model, limits and tools.
///
/// Messages that are the same in both contexts are sent by the same bytes, for a repair depends on
/// what stands before it alone; but for the seam, where one request may hold a result of the
/// compiler's own for a call that the other one's next message answers.
///
/// # Errors
///
/// None that [`compile`] has without [`RequestOptions::strict`].
pub fn shared_prefix(before: &[Message], after: &[Message], provider: Provider) -> Result<Prefix> {
    let options = RequestOptions {
        provider,
        ..RequestOptions::default()
    };
    let request = |messages: &[Message]| compile(messages, &Settings::new(), &options);
    let (old, new) = (request(before)?.payload, request(after)?.payload);
    let same = old.bytes().zip(new.bytes());
    let size_bytes = same.take_while(|(a, b)| a == b).count();
    let equal = before.iter().zip(after);
    Ok(Prefix {
        messages: equal.take_while(|(a, b)| a == b).count(),
        size_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Part, Role};

    fn say(role: Role, text: &str) -> Message {
        Message::text(role, text)
    }

    fn shared(before: &[Message], after: &[Message], provider: Provider) -> usize {
        let prefix = shared_prefix(before, after, provider).expect("nothing is refused");
        prefix.messages
    }

    #[test]
    fn a_change_ends_the_shared_beginning() {
        let talk = |text: &str| {
            [
                say(Role::User, "one"),
                say(Role::Assistant, text),
                say(Role::User, "three"),
            ]
        };
        for provider in Provider::ALL {
            assert_eq!(shared(&talk("two"), &talk("2"), provider), 1);
            assert_eq!(shared(&talk("two"), &talk("two"), provider), 3);
            assert_eq!(shared(&talk("two")[..2], &talk("two"), provider), 2);
            assert_eq!(shared(&[], &talk("two"), provider), 0);
        }
    }

    #[test]
    fn an_open_call_that_is_answered_stays_shared() {
        let call = Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role: Role::Assistant,
            name: None,
            parts: vec![Part::ToolCall {
                id: "c1".into(),
                name: "read".into(),
                arguments: "{}".into(),
                kind: None,
            }],
        };
        let result = Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role: Role::Tool,
            name: None,
            parts: vec![Part::ToolResult {
                call: "c1".into(),
                content: vec![Part::text("out")],
                is_error: false,
            }],
        };
        let talk = [say(Role::User, "one"), call, result];
        for provider in Provider::ALL {
            assert_eq!(shared(&talk[..2], &talk, provider), 2);
        }
    }

    #[test]
    fn the_bytes_of_shared_messages_are_shared() {
        let talk = [
            say(Role::System, "be brief"),
            say(Role::User, "one"),
            say(Role::User, "two"),
        ];
        for provider in Provider::ALL {
            let prefix = shared_prefix(&talk[..2], &talk, provider).expect("nothing is refused");
            let options = RequestOptions {
                provider,
                ..RequestOptions::default()
            };
            let alone =
                compile(&talk[..2], &Settings::new(), &options).expect("nothing is refused");
            assert!(prefix.size_bytes >= alone.stable_bytes);
        }
    }
}
