//! `tract commit`: appends a message, or gives one a new content.

use std::path::{Path, PathBuf};

use tract::deeds::served_settings;
use tract::formats::shared::single::SingleMessage;
use tract::ingest::read_messages;
use tract::model::{Author, Draft, EntryId, Message, Part, Role, Settings, Usage};
use tract::render::{Label, read_tokens, shell_word, tokens};
use tract::repo::{CommitOptions, Committed, On, Repo};
use tract::{Error, formats};

use crate::cli::budgeted::{self, Held};
use crate::cli::{App, Failure, Result, Typed, input, named, position};

/// Append one message, or replace one
///
/// -m is what the model reads; --note is a remark for people, as git's message is. Without a text,
/// standard input is read, or on a terminal $EDITOR opens. A text is never taken for JSON: --json and
/// --batch say that it is.
///
/// If a budget is set (tract config budget.max) and the message goes beyond it, the setting
/// budget.action decides: warn, refuse, hide the oldest messages, or summarise. A refusal commits
/// nothing and prints nothing to standard output; the exit code is 1. Where hiding or a summary cannot
/// keep the budget, the exit code is 1 too, but the message is committed: standard output then holds
/// its hash.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract commit -r user -m 'Please use the streaming parser.'
  tract commit -r assistant -F reply.md --model gpt-5 --temperature 0.7
  cargo test 2>&1 | tract commit --call call_17 -
  hash=$(tract -q commit -r user -m 'Go on.')   prints only the new hash
  tract commit --edit :1 -m 'a better first prompt'
  tract commit --json reply.json          one message as OpenAI or Anthropic write it
  tract commit --batch messages.jsonl     one on each line; all or none")]
pub struct Args {
    /// system, developer, user, assistant or tool
    #[arg(short, long, value_name = "ROLE", required_unless_present_any = ["json", "batch", "edit", "call"])]
    role: Option<String>,
    /// The text
    #[arg(short, long, value_name = "TEXT", group = "text")]
    message: Option<String>,
    /// A file with the text
    #[arg(short = 'F', long, value_name = "FILE", group = "text")]
    file: Option<PathBuf>,
    /// Read the text from standard input
    #[arg(value_name = "-", group = "text")]
    stdin: Option<String>,
    /// A file (or -) with one message in a provider's form, or the response that holds it
    #[arg(long, value_name = "FILE", group = "text", conflicts_with_all = ["role", "call"])]
    json: Option<PathBuf>,
    /// A file (or -) with such messages, one on each line: all are committed, or none
    #[arg(long, value_name = "FILE", group = "text", conflicts_with_all = ["role", "call", "edit"])]
    batch: Option<PathBuf>,
    /// Replace the content of this message
    #[arg(long, value_name = "REV")]
    edit: Option<String>,
    /// The call that this tool result answers
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// The model, from here on
    #[arg(long, value_name = "NAME", help_heading = "Request settings")]
    model: Option<String>,
    /// The temperature, from here on
    #[arg(long, value_name = "NUMBER", help_heading = "Request settings")]
    temperature: Option<String>,
    /// The longest reply, from here on
    #[arg(long, value_name = "N", value_parser = read_tokens, help_heading = "Request settings")]
    max_tokens: Option<u64>,
    /// Any other setting; VALUE is JSON or a plain text
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Request settings")]
    set: Vec<String>,
    /// A file with the tools that the model may call: a JSON array
    #[arg(long, value_name = "FILE", help_heading = "Request settings")]
    tools: Option<PathBuf>,
    /// A remark for people; no model sees it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Who says it; by default the setting author.name, if there is one
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Refuse (exit 4) unless the branch is at REV; none: unless it has no commit
    #[arg(long, value_name = "REV|none")]
    expect: Option<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    if let Some(text) = args.stdin.as_deref().filter(|text| *text != "-") {
        let failure = Failure::usage(format!("'{text}' is not an option; give the text with -m"));
        let role = args.role.as_deref().unwrap_or("user");
        let text = shell_word(text);
        return Err(failure.with_hint(format!("tract commit -r {role} -m {text}")));
    }
    let (repo, on) = (app.repo()?, app.on()?);
    let begun = position::begun(&repo, &on)?;
    let role = args.role.as_deref().map(str::parse).transpose()?;
    let expect = args.expect.as_deref().map(|rev| repo.expected(&on, rev));
    let expect = expect.transpose()?;
    let settings = settings(args, app)?;
    let target = args.edit.as_ref().map(|rev| target(&repo, &on, rev));
    let target = target.transpose()?;
    let messages = match (&args.batch, &args.json) {
        (Some(path), _) => batch(app, path)?,
        (_, Some(path)) => {
            let text = input::read(app, path).map_err(|failure| not_typed(path, failure))?;
            vec![provider_message(&named::name(path), &text)?]
        }
        _ => vec![SingleMessage {
            message: written(args, role, target.as_ref().map(|t| &t.1), app)?.into(),
            usage: None,
            model: None,
            tier: None,
        }],
    };
    let mut usages: Vec<Option<Usage>> = messages.iter().map(|it| it.usage).collect();
    let served = match &target {
        Some(_) => Vec::new(),
        None => served_settings(
            &repo,
            &messages,
            args.model.is_some(),
            repo.head(&on)?.commit(),
        )?,
    };
    if target.is_some() {
        // What an edit says was not counted so.
        usages.clear();
    }
    let mut drafts: Vec<Draft> = messages
        .into_iter()
        .map(|SingleMessage { message, .. }| match &target {
            Some((entry, old)) => Draft::edit(*entry, Message::clone(&message).replacing(old)),
            None => Draft::append(message),
        })
        .collect();
    if let Some(first) = drafts.first_mut() {
        first.settings = settings;
        first.note.clone_from(&args.note);
    }
    let author = author(args, &repo);
    for draft in &mut drafts {
        draft.author.clone_from(&author);
    }
    for (draft, (key, value)) in served {
        let settings = &mut drafts[draft].settings;
        settings.entry(key.to_owned()).or_insert(value);
    }
    let what = what(args);
    let call = app.call(&on, &what);
    let options = CommitOptions {
        expect,
        usages: &usages,
        ..app.committing(&repo)?
    };
    // Before anything is done: what fails now has changed nothing.
    let answered = match (&target, &args.call) {
        (None, Some(id)) => Some((id, repo.is_answered(repo.head(&on)?.commit().as_ref(), id)?)),
        _ => None,
    };
    let mut held = budgeted::commit(&repo, &on, call, &drafts, &options, app)?;
    // What cannot be said is no reason to leave the rest undone.
    let is_quiet = app.globals.quiet;
    let mut reported = Ok(());
    if !is_quiet {
        reported = report(&held.commits, &drafts, app);
    }
    position::tell_begun(begun.as_ref(), app);
    match answered {
        Some((id, None)) => app.ui.notice(format!("no call near here has the id {id}")),
        Some((id, Some(true))) => app.ui.notice(format!("the call {id} has a result already")),
        _ => {}
    }
    let kept = held.tell(&repo, &on, app);
    // Where the branch is in the end is known now.
    if is_quiet {
        reported = hashes(&held, drafts.len(), app);
    }
    if let Some((entry, old)) = &target
        && old.role == Role::User
        && repo.resolve_entry(&on, ":-1").ok() != Some(*entry)
    {
        app.ui.hint("later replies still answer the old text");
    }
    reported.and(kept)
}

/// Who says it, where somebody else is named than who is at work.
fn author(args: &Args, repo: &Repo) -> Option<Author> {
    let name = Some(args.author.clone()?);
    let own = repo.signature().cloned().unwrap_or_default();
    Some(Author { name, ..own })
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

/// The command as the operations keep it: without what was said.
fn what(args: &Args) -> String {
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    Typed::new("commit")
        .option("-r", args.role.as_ref())
        .text("-m", args.message.is_some())
        .option("-F", path(&args.file))
        .option("--json", path(&args.json))
        .option("--batch", path(&args.batch))
        .rev("--edit", args.edit.as_ref())
        .option("--call", args.call.as_ref())
        .line()
}

/// The entry that an edit means, and the message that stands there now.
fn target(repo: &Repo, on: &On, rev: &str) -> Result<(EntryId, Message)> {
    let id = repo.resolve_entry(on, rev)?;
    let message = repo.message_of(on, &id)?;
    let nothing = || Failure::refused(format!("{rev} holds no message that could be edited"));
    Ok((id, message.ok_or_else(nothing)?))
}

/// The message whose text was given with -m, -F, -, or in an editor.
fn written(
    args: &Args,
    role: Option<Role>,
    edited: Option<&Message>,
    app: &App,
) -> Result<Message> {
    let answered = edited.and_then(|message| message.results().next().map(str::to_owned));
    let call = args.call.clone().or(answered);
    let role = role
        .or(args.call.as_ref().map(|_| Role::Tool))
        .or(edited.map(|message| message.role))
        .unwrap_or(Role::User);
    match (role, &call) {
        (Role::Tool, None) => {
            let failure = Failure::usage("a tool's message must name the call that it answers");
            return Err(failure.with_hint("tract commit --call ID -m TEXT"));
        }
        (role, Some(_)) if role != Role::Tool && args.call.is_some() => {
            let what = format!("--call is for results of tools, not for the role {role}");
            return Err(Failure::usage(what));
        }
        _ => {}
    }
    let text = match (&args.message, &args.file) {
        (Some(text), _) => text.clone(),
        (_, Some(path)) => input::read(app, path)?,
        _ if args.stdin.is_none() && app.ui.input_is_terminal() => {
            match edited.map(|message| message.parts.as_slice()) {
                Some([Part::Text { text }]) => input::edited(app, text)?,
                _ => input::edited(app, "")?,
            }
        }
        _ => input::read(app, Path::new("-"))?,
    };
    // A result may be empty, for a tool may print nothing; but only by intent.
    let is_meant = args.message.is_some() || args.call.is_some() && args.stdin.is_some();
    if text.is_empty() && !is_meant {
        return Err(Error::EmptyMessage.into());
    }
    let part = match (role, call) {
        (Role::Tool, Some(call)) => Part::ToolResult {
            call,
            content: Some(text)
                .filter(|text| !text.is_empty())
                .map(Part::text)
                .into_iter()
                .collect(),
            is_error: false,
        },
        _ if text.trim().is_empty() => return Err(Error::EmptyMessage.into()),
        _ => Part::text(text),
    };
    let mut message = Message::new(role, vec![part]);
    if let Some(edited) = edited {
        message.name.clone_from(&edited.name);
        message.attached.clone_from(&edited.attached);
        message.recipient.clone_from(&edited.recipient);
    }
    Ok(message)
}

/// The messages of a file in JSON Lines; the first bad line refuses them all.
fn batch(app: &App, path: &Path) -> Result<Vec<SingleMessage>> {
    let (text, name) = (input::read(app, path)?, named::name(path));
    let lines = text.lines().zip(1..);
    let lines: Vec<(&str, u64)> = lines.filter(|(line, _)| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return Err(Error::input(name, "no messages in it").into());
    }
    let texts: Vec<&str> = lines.iter().map(|(line, _)| *line).collect();
    let read = read_messages(&texts);
    Ok(read.map_err(|(at, error)| misread(&format!("{name}:{}", lines[at].1), error))?)
}

/// A text in the place of a file's name is called that.
fn not_typed(path: &Path, failure: Failure) -> Failure {
    let text = path.to_string_lossy();
    match failure {
        Failure::Tract(Error::Io { .. }) if text.trim_start().starts_with(['{', '[']) => {
            Failure::usage("--json: that is JSON itself, and no file is called so")
                .with_hint("--json takes a file, or - for standard input")
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

/// The request settings that were given, as JSON texts.
fn settings(args: &Args, app: &App) -> Result<Settings> {
    let mut settings = Settings::new();
    let text = |text: &str| serde_json::Value::from(text).to_string();
    if let Some(model) = &args.model {
        settings.insert("model".into(), text(model));
    }
    if let Some(temperature) = &args.temperature {
        let number = serde_json::from_str::<serde_json::Number>(temperature);
        let wrong = |_| Failure::usage(format!("--temperature: '{temperature}' is not a number"));
        number.map_err(wrong)?;
        settings.insert("temperature".into(), temperature.clone());
    }
    if let Some(tokens) = args.max_tokens {
        settings.insert("max_tokens".into(), tokens.to_string());
    }
    if let Some(path) = &args.tools {
        let tools = input::read(app, path)?;
        let list = serde_json::from_str::<Vec<serde_json::Value>>(&tools);
        list.map_err(|error| {
            let why = formats::json_error("no JSON array", &error, 0);
            Error::input(named::name(path), why)
        })?;
        settings.insert("tools".into(), tools.trim().to_owned());
    }
    for pair in &args.set {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(Failure::usage(format!("--set: '{pair}' is not KEY=VALUE")));
        };
        let json = match serde_json::from_str::<&serde_json::value::RawValue>(value) {
            Ok(_) => value.trim().to_owned(),
            Err(_) => text(value),
        };
        settings.insert(key.to_owned(), json);
    }
    Ok(settings)
}
