//! What a browser is answered.

use std::io::{self, Write};

/// The type of a page.
const HTML: &str = "text/html; charset=utf-8";

/// What is written while it is sent. It runs on a thread of its own; that it fails means that nobody waits any more.
pub type Writer = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// What a browser is answered.
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// The type of what is sent.
    pub content_type: &'static str,
    /// Where the browser is to go instead, seen from the page.
    pub location: Option<String>,
    /// What is sent.
    pub body: Body,
}

/// What is sent.
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// What this writes, as it writes it; it reaches the browser when it is flushed.
    Stream(Writer),
}

impl Answer {
    /// A page.
    pub fn page(html: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            content_type: HTML,
            location: None,
            body: Body::Whole(html.into()),
        }
    }

    /// Anything that is written while it is sent.
    pub fn stream(
        content_type: &'static str,
        writer: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> Self {
        Self {
            content_type,
            body: Body::Stream(Box::new(writer)),
            ..Self::page("")
        }
    }

    /// Data for a script of ours.
    pub fn json(text: impl Into<Vec<u8>>) -> Self {
        Self {
            content_type: "application/json",
            ..Self::page(text)
        }
    }

    /// The same with another status.
    pub fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// After something was done: the browser is to get this page, seen from the one that asked.
    pub fn see(address: impl Into<String>) -> Self {
        Self {
            status: 303,
            location: Some(address.into()),
            ..Self::page("")
        }
    }
}
