//! The one entry: messages and settings in, a request's bytes and notices out.

use std::borrow::Cow;
use std::ops::Range;

use crate::compile::open::AnsweredCalls;
use crate::compile::turn::Form;
use crate::compile::wire_form::Contents;
use crate::compile::{Notice, Provider, anthropic, gemini, openai, responses, settings, text};
use crate::error::{Error, Result};
use crate::model::{Message, Settings};
use crate::wire::anthropic::is_thought;
use crate::wire::{Repair, Repairs, bridge_notes};

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
    /// Its bytes, without a line's end; of a request whose beginning was handed over, what follows.
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
    let messages = messages.iter().map(Cow::Borrowed);
    messages.for_each(|message| making.take(message));
    making.finish()
}

/// A request whose messages come one by one, in order. It is written while they come: of the messages a call and its results
/// are held, or what one voice says in a row. Gemini CLI's form holds all of them, and so do Anthropic's and that of Responses where it
/// is known what a client wrote. What is written is held as well, unless [`Compiling::hand_over`] takes it.
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
    options: &'a RequestOptions,
    remarks: Vec<Notice>,
    repairs: Repairs,
    messages: Messages<'a>,
    /// How many messages came.
    count: usize,
    /// The messages, from 0, whose signed thoughts stay out.
    thoughtless: Range<usize>,
}

/// The messages so far.
enum Messages<'a> {
    Listed(openai::Writer<'a>),
    InTurns(anthropic::Writer<'a>),
    InItems(responses::Writer<'a>),
    InContents(gemini::Writer<'a>),
    Told(text::Writer),
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
            Provider::OpenAi => Messages::Listed(openai::Writer::new(&head, contents)),
            Provider::Anthropic => {
                let form = Form::of(settings);
                Messages::InTurns(anthropic::Writer::new(&head, contents, form))
            }
            Provider::Responses => Messages::InItems(responses::Writer::new(&head, contents)),
            Provider::Gemini => Messages::InContents(gemini::Writer::new(&head)),
            Provider::Text => Messages::Told(text::Writer::new(&head)),
        };
        Self {
            options,
            remarks,
            repairs: Repairs::default(),
            messages,
            count: 0,
            thoughtless: 0..0,
        }
    }

    /// Has the form of Responses hold to the provider's published types, in which a reply without an id is a text, a picture
    /// names its detail, and files have a form. Codex sends replies in pieces and pictures without, and no files.
    pub fn by_types(&mut self) {
        if let Messages::InItems(writer) = &mut self.messages {
            writer.by_types();
        }
    }

    /// Puts a client's own words in place of results that never came.
    pub fn unanswered(&mut self, words: Option<&'static str>) {
        self.repairs.unanswered = words;
    }

    /// Has Gemini's form be that of Gemini CLI: it names missing signatures in some replies alone, and sends what a tool said as a
    /// text.
    pub fn as_gemini_cli(&mut self) {
        if let Messages::InContents(writer) = &mut self.messages {
            writer.as_client();
        }
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
            Messages::Listed(writer) => writer.add(message, &mut self.repairs),
            Messages::InTurns(writer) => writer.add(message, &mut self.repairs),
            Messages::InItems(writer) => writer.add(message, &mut self.repairs),
            Messages::InContents(writer) => writer.add(message, &mut self.repairs),
            Messages::Told(writer) => writer.add(&bridge_notes::without(message)),
        }
    }

    /// How many bytes of what is written are held.
    pub fn held_bytes(&self) -> usize {
        match &self.messages {
            Messages::Listed(writer) => writer.payload.held_bytes(),
            Messages::InTurns(writer) => writer.payload.held_bytes(),
            Messages::InItems(writer) => writer.payload.held_bytes(),
            Messages::InContents(writer) => writer.payload.held_bytes(),
            Messages::Told(writer) => writer.payload.held_bytes(),
        }
    }

    /// Whether what is written cannot be handed over before it is known that no client attached any message that follows.
    pub fn waits_for_client(&self) -> bool {
        matches!(&self.messages, Messages::InTurns(writer) if writer.waits_for_client())
    }

    /// Says that no message that follows was attached by a client.
    pub fn without_client(&mut self) {
        if let Messages::InTurns(writer) = &mut self.messages {
            writer.without_client();
        }
    }

    /// How many messages are held since a call that waits for its result.
    pub fn waiting_messages(&self) -> usize {
        let (held, open) = match &self.messages {
            Messages::Listed(writer) => (&writer.held, &writer.open),
            Messages::InTurns(writer) => (&writer.held, &writer.open),
            Messages::InItems(writer) => (&writer.held, &writer.open),
            Messages::InContents(writer) => (&writer.held, &writer.open),
            Messages::Told(_) => return 0,
        };
        if open.is_empty() { 0 } else { held.len() }
    }

    /// Says which calls the messages that follow answer: no other call is waited for.
    pub fn answered(&mut self, answered: AnsweredCalls) {
        match &mut self.messages {
            Messages::Listed(writer) => writer.open.answered(answered),
            Messages::InTurns(writer) => writer.open.answered(answered),
            Messages::InItems(writer) => writer.open.answered(answered),
            Messages::InContents(writer) => writer.open.answered(answered),
            Messages::Told(_) => {}
        }
    }

    /// Hands over what is written and stays as it is, whatever follows: the request's bytes go on behind it. A request that may
    /// be refused ([`RequestOptions::strict`]) hands over nothing.
    ///
    /// # Errors
    ///
    /// What `take` returns.
    pub fn hand_over(&mut self, take: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        match &mut self.messages {
            _ if self.options.strict => Ok(()),
            Messages::Listed(writer) => writer.payload.hand_over(take),
            Messages::InTurns(writer) => writer.payload.hand_over(take),
            Messages::InItems(writer) => writer.payload.hand_over(take),
            Messages::InContents(writer) => writer.payload.hand_over(take),
            Messages::Told(writer) => writer.payload.hand_over(take),
        }
    }

    /// The next message, by its canonical bytes: where a request spells it alike, it is not read.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if `canonical` isn't a message's canonical form.
    pub fn add_canonical(&mut self, canonical: &str) -> Result<()> {
        match &mut self.messages {
            Messages::Listed(writer) => {
                self.count += 1;
                writer.add_canonical(canonical, &mut self.repairs)
            }
            _ => {
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
        let (mut repairs, mut remarks) = (self.repairs, self.remarks);
        let body = match self.messages {
            Messages::Listed(writer) => writer.finish(&mut repairs),
            Messages::InTurns(writer) => writer.finish(&mut repairs),
            Messages::InItems(writer) => writer.finish(&mut repairs),
            Messages::InContents(writer) => {
                let (body, unsealed) = writer.finish(&mut repairs);
                if unsealed > 0 {
                    remarks.push(Notice::Unsealed { count: unsealed });
                }
                body
            }
            Messages::Told(writer) => writer.finish(),
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
