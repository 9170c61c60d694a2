//! `tract commit`: appends a message, or gives one a new content.

use std::path::{Path, PathBuf};

use tract::deeds::{At, CommitParams, Deed, Provided, RawJson};
use tract::formats::shared::single::{self, SingleMessage};
use tract::ingest::read_messages;
use tract::model::{Draft, Message, Part, Role};
use tract::render::{Label, shell_word, tokens};
use tract::repo::Committed;
use tract::{Error, formats};

use crate::cli::budget::{self, Held};
use crate::cli::drawing::position;
use crate::cli::machine::{input, paths};
use crate::cli::{App, Failure, Result};

/// Append one message, or replace one
///
/// -m is what the model reads; --note is a remark for people, as git's message is. Without a text,
/// standard input is read, or on a terminal $EDITOR opens. A text is never taken for JSON: --json and
/// --batch say that it is.
///
/// If a budget is set (tract config budget.max) and the message exceeds it, budget.action decides: warn, refuse, hide
/// the oldest messages, or summarise. A refusal commits nothing and prints nothing to standard output; the exit code
/// is 1. If neither hiding nor a summary keeps the budget, the exit code is 1 too. The message is committed then, and
/// standard output holds its hash.
///
/// The setting hook.commit names a command that may refuse a message: tract config --help. Nothing is committed then.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract commit -r user -m 'Please use the streaming parser.'
  tract commit -r assistant -F reply.md --model gpt-5 --temperature 0.7
  cargo test 2>&1 | tract commit --call call_17 -
  hash=$(tract -q commit -r user -m 'Go on.')   prints only the new hash, on a terminal nothing
  tract commit --edit :1 -m 'a better first prompt'
  tract commit --json reply.json          one message as OpenAI or Anthropic write it
  tract commit --batch messages.jsonl     one on each line; all or none")]
pub struct Args {
    #[command(flatten)]
    deed: CommitParams,
    /// A file with the text
    #[arg(short = 'F', long, value_name = "FILE", group = "text")]
    file: Option<PathBuf>,
    /// Read the text from standard input
    #[arg(value_name = "-", group = "text")]
    stdin: Option<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let mut edited = None;
    let done = commit(args, &mut edited, app);
    match (&done, edited) {
        // Whatever was refused, what somebody has typed is not lost.
        (Err(failure), Some(text)) if !matches!(failure, Failure::Quiet(_)) => {
            input::kept(&text, app)?
        }
        _ => {}
    }
    done
}

/// Commits; what was typed in an editor is put into `edited`.
fn commit(args: &Args, edited: &mut Option<String>, app: &mut App) -> Result<()> {
    if let Some(text) = args.stdin.as_deref().filter(|text| *text != "-") {
        let failure = Failure::usage(format!("'{text}' is not an option; give the text with -m"));
        let role = args.deed.role.as_deref().unwrap_or("user");
        let text = shell_word(text);
        return Err(failure.with_hint(format!("tract commit -r {role} -m {text}")));
    }
    let (repo, on) = (app.repo()?, app.on()?);
    let begun = position::begun(&repo, &on)?;
    let mut deed = args.deed.clone();
    deed.tools = deed
        .tools
        .map(|tools| self::tools(tools, app))
        .transpose()?;
    deed.settings()?;
    let (target, writing) = {
        let at = At::new(&repo, on.clone(), &*app);
        let target = deed.edited(&at)?;
        let old = target.as_ref().map(|(_, old)| old);
        let messages = messages(args, &mut deed, old, edited, app)?;
        let writing = deed.writing(&at, target.clone(), messages)?;
        (target, writing)
    };
    let drafts = &writing.drafts;
    let what = deed.line();
    let call = app.call(&on, &what);
    // Before anything is done: what fails now has changed nothing.
    let answered = match (&target, &deed.call) {
        (None, Some(id)) => Some((id, repo.is_answered(repo.head(&on)?.commit().as_ref(), id)?)),
        _ => None,
    };
    let mut held = match writing.budget() {
        None => Held::free(writing.commit(&repo, call)?.0),
        Some(budget) => {
            let options = writing.options();
            budget::within(&repo, call, drafts, &options, budget, app)?
        }
    };
    // What cannot be said is no reason to leave the rest undone.
    let is_quiet = app.globals.quiet;
    let mut reported = Ok(());
    if !is_quiet {
        reported = report(&held.commits, drafts, app);
    }
    position::tell_begun(begun.as_ref(), app);
    match answered {
        Some((id, None)) => app.ui.notice(format!("no call near here has the id {id}")),
        Some((id, Some(true))) => app.ui.notice(format!("the call {id} has a result already")),
        _ => {}
    }
    let kept = held.tell(&repo, &on, app);
    // Where the branch is in the end is known now.
    if is_quiet && !app.ui.is_terminal() {
        reported = hashes(&held, drafts.len(), app);
    }
    // Nobody answers what a hide put there.
    if let Some((entry, old)) = &target
        && old.role == Role::User
        && matches!(repo.asked(&on, &entry.to_string()), Ok(Some(_)))
        && repo.resolve_entry(&on, ":-1").ok() != Some(*entry)
    {
        app.ui.hint("later replies still answer the old text");
    }
    reported.and(kept)
}

/// Prints a hash for each message: its own, and for the last the commit behind all that was done, which is
/// another where the budget hid something. That is what `--expect` takes, whoever has gone on meanwhile.
fn hashes(held: &Held, messages: usize, app: &mut App) -> Result<()> {
    let others = held.commits.iter().take(messages.saturating_sub(1));
    for hash in others.map(|made| made.hash).chain(held.tip()) {
        app.ui.print(Label::Hash.of(hash.to_string()))?;
    }
    Ok(())
}

/// Prints short hash, role and tokens of each.
fn report(done: &[Committed], drafts: &[Draft], app: &mut App) -> Result<()> {
    for (committed, draft) in done.iter().zip(drafts) {
        let Some(message) = draft.messages.first() else {
            continue;
        };
        let role = Label::role(message.role).of(message.role.as_str());
        let mut line = Label::Hash.of(committed.hash.short()) + " " + role;
        if let Some(count) = committed.tokens {
            let noun = if count.tokens == 1 { "token" } else { "tokens" };
            line += format!(" {} {noun}", tokens(count));
        }
        app.ui.print(line)?;
    }
    Ok(())
}

/// The messages that are meant; what was read elsewhere stands in the deed then.
fn messages(
    args: &Args,
    deed: &mut CommitParams,
    old: Option<&Message>,
    edited: &mut Option<String>,
    app: &App,
) -> Result<Vec<SingleMessage>> {
    if !deed.events.is_empty() {
        let (_, lines) = lines(&deed.events, app)?;
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        return Ok(single::streamed(&lines)?);
    }
    if !deed.batch.is_empty() {
        return batch(&deed.batch, app);
    }
    match &deed.json {
        Some(Provided::File(file)) => {
            let path = Path::new(file);
            let text = input::read(app, path).map_err(|failure| not_typed(path, failure))?;
            return Ok(vec![provider_message(&paths::name(path), &text)?]);
        }
        Some(json) => return Ok(vec![provider_message("--json", json.text()?)?]),
        None => {}
    }
    deed.speaker(old)?;
    let text = text(args, old, edited, app)?;
    // A result may be empty, for a tool may print nothing; but only by intent.
    let is_meant = deed.message.is_some() || deed.call.is_some() && args.stdin.is_some();
    if text.is_empty() && !is_meant {
        return Err(Error::EmptyMessage.into());
    }
    deed.message = Some(text);
    Ok(vec![deed.said(old)?])
}

/// The text that was given with -m, -F, -, or in an editor.
fn text(
    args: &Args,
    old: Option<&Message>,
    edited: &mut Option<String>,
    app: &App,
) -> Result<String> {
    match (&args.deed.message, &args.file) {
        (Some(text), _) => Ok(text.clone()),
        (_, Some(path)) => input::read(app, path),
        _ if args.stdin.is_none() && app.ui.input_is_terminal() => {
            let text = match old.map(|message| message.parts.as_slice()) {
                Some([Part::Text { text }]) => input::edited(app, text)?,
                _ => input::edited(app, "")?,
            };
            *edited = Some(text.clone()).filter(|text| !text.trim().is_empty());
            Ok(text)
        }
        _ => input::read(app, Path::new("-")),
    }
}

/// The lines of files in JSON Lines, each with where it stands.
fn lines(files: &[Provided], app: &App) -> Result<(Vec<String>, Vec<String>)> {
    let (mut places, mut texts) = (Vec::new(), Vec::new());
    for file in files {
        let Provided::File(file) = file else {
            places.push("the command line".to_owned());
            texts.push(file.text()?.to_owned());
            continue;
        };
        let path = Path::new(file);
        let (text, name, before) = (input::read(app, path)?, paths::name(path), texts.len());
        for (line, number) in text.lines().zip(1..) {
            if !line.trim().is_empty() {
                places.push(format!("{name}:{number}"));
                texts.push(line.to_owned());
            }
        }
        if texts.len() == before {
            return Err(Error::input(name, "no messages in it").into());
        }
    }
    Ok((places, texts))
}

/// The messages of files in JSON Lines; the first bad line refuses them all.
fn batch(files: &[Provided], app: &App) -> Result<Vec<SingleMessage>> {
    let (places, texts) = lines(files, app)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Ok(read_messages(&texts).map_err(|(at, error)| misread(&places[at], error))?)
}

/// A text in the place of a file's name is called that.
fn not_typed(path: &Path, failure: Failure) -> Failure {
    let text = path.to_string_lossy();
    match failure {
        Failure::Tract(Error::Io { .. }) if text.trim_start().starts_with(['{', '[']) => {
            Failure::usage("--json: that is no JSON, and no file is called so")
                .with_hint("--json takes a file, - for standard input, or the JSON itself")
        }
        failure => failure,
    }
}

/// One message as OpenAI or Anthropic write it, or their response; `place` is where it is from.
fn provider_message(place: &str, text: &str) -> Result<SingleMessage, Error> {
    let read = read_messages(&[text]).map_err(|(_, error)| misread(place, error))?;
    Ok(read.into_iter().next().expect("it is one"))
}

/// Why a message was not read that is from `place`.
fn misread(place: &str, error: Error) -> Error {
    match error {
        Error::EmptyMessage => Error::input(place, Error::EmptyMessage),
        Error::InvalidInput { detail, .. } => Error::input(place, detail),
        Error::SeveralMessages { .. } => Error::SeveralMessages { what: place.into() },
        error => error,
    }
}

/// The tools that the model may call, from their file.
fn tools(tools: Provided, app: &App) -> Result<Provided> {
    let Provided::File(file) = tools else {
        return Ok(tools);
    };
    let path = Path::new(&file);
    let text = input::read(app, path)?;
    let list = serde_json::from_str::<Vec<serde_json::Value>>(&text);
    list.map_err(|error| {
        let why = formats::json_error("no JSON array", &error, 0);
        Error::input(paths::name(path), why)
    })?;
    Ok(Provided::Json(RawJson::of(text.trim().to_owned())))
}
