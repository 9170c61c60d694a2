//! The one entry: messages and settings in, a request's bytes and notices out.

use std::borrow::Cow;
use std::ops::Range;

use crate::compile::turn::Form;
use crate::compile::wire_form::Contents;
use crate::compile::{Notice, Provider, anthropic, gemini, openai, responses, settings, text};
use crate::error::{Error, Result};
use crate::model::{Message, Settings};
use crate::wire::anthropic::is_thought;
use crate::wire::{Repair, Repairs, attached, bridged};

/// How a request is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestOptions {
    /// Its form.
    pub provider: Provider,
    /// Whether model, limits and tools go in, from the settings.
    pub whole_request: bool,
    /// Whether to fail rather than repair anything.
    pub strict: bool,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// Its bytes, without a line's end.
    pub payload: String,
    /// How many of these bytes stay as they are when a message is appended that answers no call
    /// left open here. What follows them only closes what is open; but for a paused reply of
    /// Anthropic's, whose last calls go again when anything but their results follows.
    pub stable_bytes: usize,
    /// What differs from the context, and what else should be known.
    pub notices: Vec<Notice>,
}

/// Makes a request of `messages`, a context's visible messages in order.
///
/// A pure function: the same input gives the same bytes. Takes one pass over the messages.
///
/// # Errors
///
/// [`Error::StrictCompile`] if [`RequestOptions::strict`] is set and the request would differ
/// from the context in anything ([`Notice::Repaired`]).
pub fn compile(
    messages: &[Message],
    settings: &Settings,
    options: &RequestOptions,
) -> Result<Compiled> {
    let contents = Contents::new();
    let mut making = Compiling::new(&contents, settings, options);
    match &mut making.messages {
        Messages::Whole(whole) => *whole = Cow::Borrowed(messages),
        _ => {
            let messages = messages.iter().map(Cow::Borrowed);
            messages.for_each(|message| making.take(message));
        }
    }
    making.finish()
}

/// A request whose messages come one by one, in order. OpenAI's form and Anthropic's are written while they come: the
/// payload is held, and of the messages a call and its results, or what one voice says in a row. The other forms hold all of
/// them, and so does Anthropic's where it is known what a client wrote.
///
/// ```
/// use tract::compile::{Compiling, Contents, RequestOptions, compile};
/// use tract::model::{Message, Role, Settings};
///
/// let (contents, settings, options) = (Contents::new(), Settings::new(), RequestOptions::default());
/// let messages = [Message::text(Role::User, "Hi"), Message::text(Role::Assistant, "Hello")];
/// let mut making = Compiling::new(&contents, &settings, &options);
/// making.add(messages[0].clone());
/// making.add_canonical(&messages[1].canonical())?;
/// assert_eq!(making.finish()?, compile(&messages, &settings, &options)?);
/// # Ok::<(), tract::Error>(())
/// ```
pub struct Compiling<'a> {
    contents: &'a Contents,
    options: &'a RequestOptions,
    head: String,
    remarks: Vec<Notice>,
    repairs: Repairs,
    messages: Messages<'a>,
    /// How many messages came.
    count: usize,
    /// The messages, from 0, whose signed thoughts stay out.
    thoughtless: Range<usize>,
    /// Whether the form of Responses holds to the provider's published types.
    is_typed: bool,
    /// Whether Gemini's form is that of its client.
    is_of_gemini_cli: bool,
}

/// The messages so far.
enum Messages<'a> {
    Written(openai::Writer<'a>),
    InTurns(anthropic::Writer<'a>),
    Whole(Cow<'a, [Message]>),
}

impl<'a> Compiling<'a> {
    /// Nothing yet; `contents` are those that a client wrote, where that is known.
    pub fn new(
        contents: &'a Contents,
        settings: &'a Settings,
        options: &'a RequestOptions,
    ) -> Self {
        let mut remarks = Vec::new();
        let head = if options.whole_request {
            let is_own = contents.iter().any(|said| !said.is_empty());
            settings::request_keys(settings, options.provider, is_own, &mut remarks)
        } else {
            String::new()
        };
        let messages = match options.provider {
            Provider::OpenAi => Messages::Written(openai::Writer::new(&head, contents)),
            Provider::Anthropic => {
                let form = Form::of(settings);
                Messages::InTurns(anthropic::Writer::new(&head, contents, form))
            }
            Provider::Responses | Provider::Gemini | Provider::Text => {
                Messages::Whole(Cow::Borrowed(&[]))
            }
        };
        Self {
            contents,
            options,
            head,
            remarks,
            repairs: Repairs::default(),
            messages,
            count: 0,
            thoughtless: 0..0,
            is_typed: false,
            is_of_gemini_cli: false,
        }
    }

    /// Has the form of Responses hold to the provider's published types, in which a reply without an id is a text, a picture
    /// names its detail, and files have a form. Codex sends replies in pieces and pictures without, and no files.
    pub fn by_types(&mut self) {
        self.is_typed = true;
    }

    /// Puts a client's own words in place of results that never came.
    pub fn unanswered(&mut self, words: Option<&'static str>) {
        self.repairs.unanswered = words;
    }

    /// Has Gemini's form be that of Gemini CLI: it names missing signatures in some replies alone, and sends what a tool said as a
    /// text.
    pub fn as_gemini_cli(&mut self) {
        self.is_of_gemini_cli = true;
    }

    /// Leaves the signed thoughts of these messages out, counted from 0: the provider takes all thoughts of a tool loop that
    /// runs or none, and one of them is gone.
    pub fn without_thoughts(&mut self, of: Range<usize>) {
        self.thoughtless = of;
    }

    /// The next message.
    pub fn add(&mut self, message: Message) {
        self.take(Cow::Owned(message));
    }

    fn take(&mut self, mut message: Cow<'a, Message>) {
        self.count += 1;
        if self.thoughtless.contains(&(self.count - 1)) && message.parts.iter().any(is_thought) {
            message.to_mut().parts.retain(|part| {
                let goes = is_thought(part);
                if goes {
                    self.repairs.add(Repair::LoopThinking, self.count);
                }
                !goes
            });
        }
        match &mut self.messages {
            Messages::Written(writer) => writer.add(message, &mut self.repairs),
            Messages::InTurns(writer) => writer.add(message, &mut self.repairs),
            Messages::Whole(whole) => whole.to_mut().push(message.into_owned()),
        }
    }

    /// The next message, by its canonical bytes: where a request spells it alike, it is not read.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if `canonical` isn't a message's canonical form.
    pub fn add_canonical(&mut self, canonical: &str) -> Result<()> {
        match &mut self.messages {
            Messages::Written(writer) => {
                self.count += 1;
                writer.add_canonical(canonical, &mut self.repairs)
            }
            Messages::InTurns(_) | Messages::Whole(_) => {
                self.add(Message::from_canonical(canonical)?);
                Ok(())
            }
        }
    }

    /// The request.
    ///
    /// # Errors
    ///
    /// As [`compile`].
    pub fn finish(self) -> Result<Compiled> {
        let (head, mut repairs, mut remarks) = (&self.head, self.repairs, self.remarks);
        let body = match (self.messages, self.options.provider) {
            (Messages::Written(writer), _) => writer.finish(&mut repairs),
            (Messages::InTurns(writer), _) => writer.finish(&mut repairs),
            (Messages::Whole(messages), Provider::Text) => {
                text::write(&bridged::all_without(&messages), head)
            }
            (Messages::Whole(messages), Provider::Gemini) => {
                let messages = bridged::all_without(&messages);
                let form = gemini::Form {
                    head,
                    is_of_client: self.is_of_gemini_cli,
                };
                let plain = attached::all_plain(&messages);
                let (body, unsealed) = gemini::write(&plain, &form, &mut repairs);
                if unsealed > 0 {
                    remarks.push(Notice::Unsealed { count: unsealed });
                }
                body
            }
            (Messages::Whole(messages), _) => {
                let messages = bridged::all_without(&messages);
                let plain = attached::all_plain(&messages);
                let form = responses::Form {
                    contents: self.contents,
                    head,
                    is_typed: self.is_typed,
                };
                responses::write(&plain, &form, &mut repairs)
            }
        };
        let repaired = |(repair, count, first)| Notice::Repaired {
            repair,
            count,
            first,
        };
        let mut notices: Vec<Notice> = repairs.iter().map(repaired).collect();
        if let (true, Some(first)) = (self.options.strict, notices.first()) {
            return Err(Error::StrictCompile {
                first: first.to_string(),
            });
        }
        if body.nothing_to_send {
            notices.push(Notice::NothingToSend);
        }
        notices.extend(remarks);
        Ok(Compiled {
            payload: body.payload,
            stable_bytes: body.stable_bytes,
            notices,
        })
    }
}
