//! How a request is made of a context: as the client of its session sends it, and written while it is read where it is long.

use std::io::Write;

use crate::compile::{Compiled, Compiling, Contents, Notice, Provider, RequestOptions};
use crate::context::{Context, Entry};
use crate::error::{Error, Result};
use crate::formats::{Format, may_cite};
use crate::hash::CommitHash;
use crate::ingest::{as_running, said, said_citing};
use crate::model::{Message, Role, Settings};
use crate::repo::{Repo, Stored};

/// How much of a request is held before its beginning is written: what fails before that fails with nothing written.
const HELD_BYTES: usize = 8 << 20;

/// How many messages are read at once where a request is written while it is read.
const TOGETHER: usize = 4096;

/// How many messages wait for the result of a call before it is asked which calls are answered at all.
const WAITING: usize = 1024;

/// Where the beginning of a long request may be written before its end is known.
pub type Beginnings<'a> = Option<&'a mut dyn Write>;

/// What the names of the formats begin with that Codex writes.
const CODEX: &str = "codex";

/// The format of Gemini CLI's sessions.
const GEMINI_CLI: &str = "gemini";

/// The format of the session that a commit is of; empty where it is of none.
pub(super) fn client_of(repo: &Repo, commit: &CommitHash) -> Result<String> {
    let session = repo.session_of(commit)?;
    let client = session.and_then(|(name, _)| Some(name.as_session()?.0.to_owned()));
    Ok(client.unwrap_or_default())
}

/// Has a request have the form that the client of its session sends.
pub(super) fn as_client(making: &mut Compiling<'_>, client: &str) {
    if !client.starts_with(CODEX) {
        making.by_types();
    }
    if client == GEMINI_CLI {
        making.as_gemini_cli();
    }
    let format = Format::named(client).ok();
    making.unanswered(format.and_then(|format| format.unanswered));
}

/// What a request is made of.
pub(super) struct Said<'a> {
    pub(super) context: &'a Context,
    pub(super) settings: &'a Settings,
    /// System messages before it.
    pub(super) front: &'a [String],
    /// The format of its session, for some clients send a form of their own.
    pub(super) client: &'a str,
}

/// What is made of a context and its settings, behind the system messages.
pub(super) fn made(
    repo: &Repo,
    of: &Said<'_>,
    reply: Option<&CommitHash>,
    options: &RequestOptions,
    out: Beginnings<'_>,
) -> Result<(String, Vec<Notice>)> {
    let is_of_client = options.provider == Provider::Anthropic && repo.has_sources()?;
    let out = out.filter(|_| !is_of_client);
    // Whoever asks for all of a request wants the one that a provider's cache knows.
    let contents = || match options.whole_request {
        true => said(repo, of.context, options.provider),
        false => Ok(Contents::new()),
    };
    let mut running = reply.map(|reply| Running::For(*reply));
    let mut made = made_of(repo, of, running, options, (contents()?, out))?;
    if !is_of_client {
        return Ok(made);
    }
    let is_read_back = running.is_none() && may_run_otherwise(&made.0);
    if is_read_back && repo.lost_thoughts(of.context)?.is_none() {
        running = Some(Running::Next);
        made = made_of(repo, of, running, options, (contents()?, None))?;
    }
    if options.whole_request || !may_cite(&made.0) {
        return Ok(made);
    }
    // What a text refers to stands in its record alone, and the provider wants it back.
    let contents = said_citing(repo, of.context)?;
    if contents.iter().all(Vec::is_empty) {
        return Ok(made);
    }
    made_of(repo, of, running, options, (contents, None))
}

/// For which reply a running client sends messages.
#[derive(Clone, Copy)]
enum Running {
    For(CommitHash),
    Next,
}

/// Whether a running client may send something else than what its file says: beside a reference to a tool, and of prompts
/// with a picture that were given in mid-turn.
fn may_run_otherwise(payload: &str) -> bool {
    let has = |text: &str| payload.contains(text);
    has(r#""tool_reference""#) || (has(r#""image""#) && has("while you were working:"))
}

/// The same with the contents that are known of its messages.
fn made_of(
    repo: &Repo,
    of: &Said<'_>,
    running: Option<Running>,
    options: &RequestOptions,
    (contents, out): (Contents, Beginnings<'_>),
) -> Result<(String, Vec<Notice>)> {
    let (context, settings, front) = (of.context, of.settings, of.front);
    // What a client sent while it ran may stand elsewhere than what it kept.
    let (messages, mut contents) = match running {
        Some(running) if options.provider == Provider::Anthropic => {
            let messages = (repo.messages(context)?, contents);
            let reply = match &running {
                Running::For(reply) => Some(reply),
                Running::Next => None,
            };
            let (messages, contents) = as_running(repo, context, reply, settings, messages)?;
            (Some(messages), contents)
        }
        _ => (None, contents),
    };
    // Where a client said it otherwise while it ran, the messages are no longer the context's.
    let lost = match (&messages, options.provider) {
        (None, Provider::Anthropic) => repo.lost_thoughts(context)?,
        _ => None,
    };
    let known = contents.len();
    for at in lost.iter().cloned().flatten().filter(|at| *at < known) {
        contents[at].clear();
    }
    contents.splice(0..0, front.iter().map(|_| Vec::new()));
    let mut making = Compiling::new(&contents, settings, options);
    as_client(&mut making, of.client);
    if let Some(lost) = lost {
        making.without_thoughts(lost.start + front.len()..lost.end + front.len());
    }
    for text in front {
        making.add(Message::text(Role::System, text));
    }
    match messages {
        Some(messages) => messages.into_iter().for_each(|message| making.add(message)),
        None => match out {
            Some(out) => write_beginning(repo, context, &mut making, out)?,
            None => repo.each_message(context, &mut |message| add(&mut making, message))?,
        },
    }
    let Compiled {
        payload, notices, ..
    } = making.finish()?;
    Ok((payload, notices))
}

fn add(making: &mut Compiling<'_>, message: Stored<'_>) -> Result<()> {
    match message {
        Stored::Canonical(canonical) => making.add_canonical(canonical),
        Stored::Masked(message) => {
            making.add(message);
            Ok(())
        }
    }
}

/// Adds the messages of a context, and writes what is settled of a long request. Messages are read some at a time: whoever
/// takes what is written may take any time, and holds up nobody else in the repository.
fn write_beginning(
    repo: &Repo,
    context: &Context,
    making: &mut Compiling<'_>,
    out: &mut dyn Write,
) -> Result<()> {
    let mut take = |text: &str| out.write_all(text.as_bytes()).map_err(Error::io("output"));
    let mut entries = context.entries.iter();
    let (mut has_asked, mut knows_answers) = (false, false);
    loop {
        let some: Vec<&Entry> = entries.by_ref().take(TOGETHER).collect();
        if some.is_empty() {
            return Ok(());
        }
        repo.each_message_of(&some, &mut |message| {
            add(making, message)?;
            // Messages that are this long are written as they are read.
            match making.held_bytes() {
                held if held < 4 * HELD_BYTES => Ok(()),
                _ => making.hand_over(&mut take),
            }
        })?;
        if making.waiting_messages() > WAITING && !knows_answers {
            knows_answers = true;
            making.answered(repo.answered_calls(entries.clone())?);
        }
        if making.held_bytes() < HELD_BYTES {
            continue;
        }
        if making.waits_for_client() && !has_asked {
            has_asked = true;
            if !repo.has_attached(entries.clone())? {
                making.without_client();
            }
        }
        making.hand_over(&mut take)?;
    }
}
