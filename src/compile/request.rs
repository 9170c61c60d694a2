//! The one entry: messages and settings in, a request's bytes and notices out.

use crate::compile::said::Contents;
use crate::compile::turn::Form;
use crate::compile::{Notice, Provider, anthropic, openai, responses, settings, text};
use crate::error::{Error, Result};
use crate::model::{Message, Settings};
use crate::wire::{Repairs, attached};

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
/// A pure function: the same input gives the same bytes. Takes one pass over the messages, and
/// memory for the payload about twice.
///
/// # Errors
///
/// [`Error::StrictCompile`] if [`RequestOptions::strict`] is set and the request would differ
/// from the context in anything ([`Notice::is_repair`]).
pub fn compile(
    messages: &[Message],
    settings: &Settings,
    options: &RequestOptions,
) -> Result<Compiled> {
    compile_as_said(messages, &Contents::new(), settings, options)
}

/// The same where it is known how a client wrote the contents of messages.
///
/// # Errors
///
/// As [`compile`].
pub fn compile_as_said(
    messages: &[Message],
    contents: &Contents,
    settings: &Settings,
    options: &RequestOptions,
) -> Result<Compiled> {
    let mut repairs = Repairs::default();
    let mut remarks = Vec::new();
    let head = if options.whole_request {
        let is_own = contents.iter().any(|said| !said.is_empty());
        settings::request_keys(settings, options.provider, is_own, &mut remarks)
    } else {
        String::new()
    };
    let body = match options.provider {
        Provider::OpenAi => openai::write(
            &attached::all_plain(messages),
            contents,
            &head,
            &mut repairs,
        ),
        Provider::Responses => responses::write(
            &attached::all_plain(messages),
            contents,
            &head,
            &mut repairs,
        ),
        Provider::Anthropic => {
            let form = Form::of(settings);
            anthropic::write(messages, contents, &head, form, &mut repairs)
        }
        Provider::Text => text::write(messages, &head),
    };
    let repaired = |(repair, count, first)| Notice::Repaired {
        repair,
        count,
        first,
    };
    let mut notices: Vec<Notice> = repairs.iter().map(repaired).collect();
    if let (true, Some(first)) = (options.strict, notices.first()) {
        return Err(Error::StrictCompile {
            first: first.to_string(),
        });
    }
    if body.nothing_to_send {
        notices.push(Notice::NothingToSend);
    }
    notices.append(&mut remarks);
    Ok(Compiled {
        payload: body.payload,
        stable_bytes: body.stable_bytes,
        notices,
    })
}
