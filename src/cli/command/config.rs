//! `tract config`: the repository's settings.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use tract::compile::Provider;
use tract::history::{BudgetAction, BudgetTarget, Config, Expire};
use tract::model::secret::Secrets;
use tract::model::{Encoding, nearest};
use tract::render::{Line, read_tokens};

use crate::cli::user_config::{ALLOW, SECRETS_ALLOW, SECRETS_RESUME, UserConfig};
use crate::cli::{App, Failure};

/// Read and change the repository's settings
///
/// Without a key, all that are set.
///
/// budget.max: tokens that a context should not exceed (128k).
/// budget.action: what happens to a commit that goes beyond: warn (the default), refuse (nothing is
/// committed, exit code 1), truncate (the oldest exchanges are hidden with it), or compact:CMD (CMD
/// summarises what is old). Where truncate or CMD cannot keep the budget, the exit code is 1 too, but
/// the message is committed: tract commit prints its hash only then.
/// budget.target: what truncate leaves, in percent of budget.max or in tokens (80%).
/// budget.timeout: how many seconds CMD may take (600).
/// tokens.encoding: o200k_base or cl100k_base. compile.format: openai, responses, anthropic or text.
/// window.size: how many messages tract view shows (50).
/// gc.reflogExpire: how many days tract gc leaves what undo and reflog lead to (90); now; or never.
/// receive.purge: whether a push that tells of erased messages erases them here: allow or refuse (refuse).
///
/// With --global, your own settings, for all repositories. safe.directory: a repository of another
/// user that may be opened (a path; PATH/* for all below; * for all), one more with each call.
/// secrets.allow: what is no secret although it looks like one (a regular expression, held against what
/// would be taken for a secret), one more with each call. secrets.resume: allow, for tract resume to write
/// secrets like anything else; what it writes stays on this machine until the tool sends it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract config budget.max 128k
  tract config budget.action truncate
  tract config compile.format anthropic
  tract config --unset budget.max
  tract config --global safe.directory /srv/shared
  tract config --global secrets.allow '^AKIA.*TEST$'")]
pub struct Args {
    /// Which setting
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Its new value; without it, the present one is printed
    #[arg(value_name = "VALUE", requires = "key")]
    value: Option<String>,
    /// Remove it
    #[arg(long, requires = "key", conflicts_with = "value")]
    unset: bool,
    /// Your own settings, for all repositories
    #[arg(long)]
    global: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    if args.global {
        return global(args, app);
    }
    if let Some(key) = args
        .key
        .as_ref()
        .filter(|key| UserConfig::KEYS.contains(&key.as_str()))
    {
        let what = format!("{key} is yours to set, not the repository's");
        return Err(Failure::usage(what).with_hint(format!("tract config --global {key} …")));
    }
    let repo = app.repo()?;
    let Some(key) = &args.key else {
        let line = |(key, value)| format!("{key} = {value}").into();
        return Ok(app.ui.print_all(repo.config()?.iter().map(line))?);
    };
    known(key, &Config::KEYS)?;
    if args.unset {
        return Ok(repo.set_config(key, None)?);
    }
    match &args.value {
        Some(value) => Ok(repo.set_config(key, Some(&checked(key, value)?))?),
        None => match repo.config()?.get(key) {
            Some(value) => Ok(app.ui.print(value)?),
            None => Err(Failure::refused(format!("{key} is not set"))),
        },
    }
}

/// Refuses a key that there isn't.
fn known(key: &str, keys: &[&str]) -> Result<(), Failure> {
    if keys.contains(&key) {
        return Ok(());
    }
    let hint = match nearest(key, keys.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => keys.join(", "),
    };
    Err(Failure::usage(format!("unknown setting '{key}'")).with_hint(hint))
}

/// The user's own settings.
fn global(args: &Args, app: &mut App) -> Result<(), Failure> {
    let mut config = app.user_config()?;
    let Some(key) = &args.key else {
        let line = |(key, value)| format!("{key} = {value}").into();
        return Ok(app.ui.print_all(config.iter().map(line))?);
    };
    if Config::KEYS.contains(&key.as_str()) {
        let what = format!("{key} is the repository's, not yours");
        return Err(
            Failure::usage(what).with_hint(format!("without --global: tract config {key} …"))
        );
    }
    known(key, &UserConfig::KEYS)?;
    match &args.value {
        _ if args.unset => config.remove(key),
        Some(value) if key == SECRETS_ALLOW => {
            Secrets::allowing(&[value])?;
            config.add(key, value)
        }
        Some(value) if key == SECRETS_RESUME => match value.as_str() {
            ALLOW => config.add(key, value),
            _ => Err(Failure::usage(format!("{key}: '{value}' is not {ALLOW}"))),
        },
        Some(value) => config.add(key, &safe(value, app)?),
        None if config.values(key).next().is_none() => {
            Err(Failure::refused(format!("{key} is not set")))
        }
        None => {
            let values = config.values(key).map(Line::from);
            Ok(app.ui.print_all(values)?)
        }
    }
}

/// A directory as it is kept: from the root on, whatever the working directory will be.
fn safe(value: &str, app: &App) -> Result<String, Failure> {
    if value == "*" {
        return Ok(value.to_owned());
    }
    let path = app.cwd()?.join(app.path(Path::new(value))?);
    let path = path.components().collect::<PathBuf>().into_os_string();
    let odd = |_| Failure::usage(format!("'{value}' is not UTF-8"));
    path.into_string().map_err(odd)
}

/// The value as it is stored.
fn checked(key: &str, value: &str) -> Result<String, Failure> {
    match key {
        "budget.max" => match read_tokens(value) {
            Ok(0) => Err(Failure::usage("budget.max must be more than 0")),
            Ok(tokens) => Ok(tokens.to_string()),
            Err(why) => Err(Failure::usage(format!("budget.max: {why}"))),
        },
        "budget.target" if value.ends_with('%') => Ok(value.parse::<BudgetTarget>()?.to_string()),
        "budget.target" => match read_tokens(value) {
            Ok(tokens) => Ok(tokens.to_string().parse::<BudgetTarget>()?.to_string()),
            Err(why) => Err(Failure::usage(format!(
                "budget.target: {why}, nor a percentage"
            ))),
        },
        "budget.timeout" => match value.parse::<NonZeroU64>() {
            Ok(seconds) => Ok(seconds.to_string()),
            Err(_) => {
                let what = format!("budget.timeout: '{value}' is no number of seconds");
                Err(Failure::usage(what))
            }
        },
        "budget.action" => Ok(value.parse::<BudgetAction>()?.to_string()),
        "window.size" => match value.parse::<usize>() {
            Ok(size) if size > 0 => Ok(size.to_string()),
            _ => Err(Failure::usage(format!(
                "window.size: '{value}' is no number of messages"
            ))),
        },
        "receive.purge" => match value {
            "allow" | "refuse" => Ok(value.to_owned()),
            other => {
                let what = format!("receive.purge: '{other}' is neither allow nor refuse");
                Err(Failure::usage(what))
            }
        },
        "gc.reflogExpire" => Ok(value.parse::<Expire>()?.to_string()),
        "tokens.encoding" => Ok(value.parse::<Encoding>()?.to_string()),
        _ => Ok(value.parse::<Provider>()?.as_str().to_owned()),
    }
}
