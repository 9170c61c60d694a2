//! How much of a request is the same as another one's from its start: what a provider's prompt
//! cache can still use.

use std::borrow::Cow;

use crate::compile::wire_form::Contents;
use crate::compile::{Provider, RequestOptions, compile, openai};
use crate::error::Result;
use crate::model::{Message, Settings, Written};
use crate::wire::Repairs;

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
    Beginning::new(provider).shared(before, after)
}

/// Messages with which two contexts begin: told one by one, of what they make in OpenAI's form only the length is
/// held.
pub struct Beginning {
    provider: Provider,
    messages: usize,
    making: Making,
    written: Option<Written>,
}

enum Making {
    Written {
        writer: Box<openai::Writer<'static>>,
        /// How many bytes were written and given up.
        size_bytes: usize,
    },
    Whole(Vec<Message>),
}

/// What a client wrote is not asked for.
static NOTHING: Contents = Contents::new();

impl Beginning {
    /// No message yet.
    pub fn new(provider: Provider) -> Self {
        let making = match provider {
            Provider::OpenAi => Making::Written {
                writer: Box::new(openai::Writer::new("", &NOTHING)),
                size_bytes: 0,
            },
            Provider::Responses | Provider::Anthropic | Provider::Gemini | Provider::Text => {
                Making::Whole(Vec::new())
            }
        };
        Self {
            provider,
            messages: 0,
            making,
            written: None,
        }
    }

    /// After messages of which it is known how long they are.
    pub fn after(provider: Provider, written: Written) -> Self {
        let mut beginning = Self::new(provider);
        if let Making::Written { writer, size_bytes } = &mut beginning.making {
            beginning.messages = written.messages as usize;
            *size_bytes = written.size_bytes as usize;
            writer.go_on(beginning.messages, *size_bytes);
            beginning.written = Some(written);
        }
        beginning
    }

    /// How many messages were told.
    pub fn len(&self) -> usize {
        self.messages
    }

    /// Whether none was told.
    pub fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// How long the request is up to the last message behind which no call is open; none in other forms than OpenAI's.
    pub fn written(&self) -> Option<Written> {
        self.written
    }

    fn note_written(&mut self) {
        if let Making::Written { writer, size_bytes } = &mut self.making {
            *size_bytes += writer.give_up();
            if writer.is_written() {
                self.written = Some(Written {
                    messages: self.messages as u64,
                    size_bytes: *size_bytes as u64,
                });
            }
        }
    }

    /// The next message.
    pub fn add(&mut self, message: Message) {
        self.messages += 1;
        match &mut self.making {
            Making::Written { writer, .. } => {
                writer.add(Cow::Owned(message), &mut Repairs::default());
            }
            Making::Whole(whole) => whole.push(message),
        }
        self.note_written();
    }

    /// The next message, by its canonical bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`](crate::Error::Malformed) for bytes that are no message.
    pub fn add_canonical(&mut self, canonical: &str) -> Result<()> {
        match &mut self.making {
            Making::Written { writer, .. } => {
                self.messages += 1;
                writer.add_canonical(canonical, &mut Repairs::default())?;
                self.note_written();
            }
            Making::Whole(_) => self.add(Message::from_canonical(canonical)?),
        }
        Ok(())
    }

    /// What two contexts share that go on with these messages: see [`shared_prefix`].
    ///
    /// # Errors
    ///
    /// As [`shared_prefix`].
    pub fn shared(self, before: &[Message], after: &[Message]) -> Result<Prefix> {
        let prefix = self.shared_before(before, after, [false; 2])?;
        Ok(prefix.expect("there is nothing else"))
    }

    /// The same of contexts of which one or the other goes on after these messages; none where it may depend on how.
    ///
    /// # Errors
    ///
    /// As [`shared_prefix`].
    pub fn shared_before(
        self,
        before: &[Message],
        after: &[Message],
        goes_on: [bool; 2],
    ) -> Result<Option<Prefix>> {
        let mut unchanged = [usize::MAX; 2];
        let (old, new, written) = match self.making {
            Making::Written { writer, size_bytes } => {
                let rest = |messages: &[Message]| {
                    let (mut writer, mut repairs) = (writer.clone(), Repairs::default());
                    for message in messages {
                        writer.add(Cow::Borrowed(message), &mut repairs);
                    }
                    let unchanged = writer.written_bytes();
                    (writer.finish(&mut repairs).payload, unchanged)
                };
                let ((old, one), (new, other)) = (rest(before), rest(after));
                unchanged = [one, other];
                (old, new, size_bytes)
            }
            Making::Whole(_) if goes_on.contains(&true) => return Ok(None),
            Making::Whole(first) => {
                let (old, new) = (
                    whole(&first, before, self.provider)?,
                    whole(&first, after, self.provider)?,
                );
                (old, new, 0)
            }
        };
        let same = old.bytes().zip(new.bytes());
        let same = same.take_while(|(a, b)| a == b).count();
        let equal = before.iter().zip(after);
        let equal = equal.take_while(|(a, b)| a == b).count();
        // What is written stays as it is, whatever comes.
        let messages = [before.len(), after.len()];
        let is_told = |at: usize| !goes_on[at] || same < unchanged[at] && equal < messages[at];
        Ok((is_told(0) && is_told(1)).then_some(Prefix {
            messages: self.messages + equal,
            size_bytes: written + same,
        }))
    }
}

fn whole(first: &[Message], rest: &[Message], provider: Provider) -> Result<String> {
    let options = RequestOptions {
        provider,
        ..RequestOptions::default()
    };
    let request = |messages: &[Message]| Ok(compile(messages, &Settings::new(), &options)?.payload);
    if first.is_empty() {
        request(rest)
    } else {
        request(&[first, rest].concat())
    }
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
