//! `tract config`: the repository's settings.

use std::path::{Path, PathBuf};

use tract::deeds::{At, ConfigParams, Method, SETTINGS_HELP, known_setting};
use tract::formats::Format;
use tract::model::secret::Secrets;
use tract::query::StaticModel;
use tract::render::Line;
use tract::repo::{AUTHOR_NAME, Config, On};

use crate::cli::machine::pager::CORE_PAGER;
use crate::cli::machine::user_config::{
    ALLOW, PLACES, RECALL_MODEL, RECALL_WHERE, SECRETS_ALLOW, SECRETS_RESUME, SOURCES, UserConfig,
};
use crate::cli::{App, Failure, Result};

/// Read or change settings
///
/// Without KEY, it prints all settings that are set. Those of the repository are kept in it; with
/// --global, your own are kept for all repositories.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Settings of the repository, with their defaults in brackets:
  author.name        who commits here; on a server it is not kept in the repository [yours, if it is set]
  budget.day         what the replies of a day may cost, in US dollars: tract status and tract cost --check show it. DIRECTORY=AMOUNT is of what ran in a directory, by its full path; several with commas between: 20,/home/mara/shop=5 [none]
  budget.month       the same of a month [none]
  budget.tell        true: tract guard --hook warns an agent at 80% of these two. [false]
  budget.max         how many tokens a context should not exceed, such as 128k
  budget.action      what happens to a commit or a chat beyond that: warn; refuse (nothing is committed, exit code 1); truncate (the oldest exchanges are hidden); prune (old tool outputs are replaced); compact:CMD (CMD summarises what is old); or several with commas between, each for where the one before did not keep the budget: compact:CMD,truncate [warn]
  budget.target      what truncate leaves, in tokens or in percent of budget.max [80%]
  budget.timeout     how many seconds CMD may take [600]
  budget.when        when budget.action hides or summarises anything: always, or cold: once the provider's cache has lost the context anyway, five minutes after the newest reply, or an hour where the cache was paid for that long [always]
  tokens.encoding    how tract counts: o200k_base or cl100k_base [o200k_base]
  compile.format     openai, responses, anthropic, gemini or text [openai]
  window.size        how many messages tract view shows [50]
  core.pager         what shows long output on a terminal, such as less -S; cat, or an empty text: nothing does. TRACT_PAGER goes before it, PAGER behind it. With --global it is yours for all repositories [less]
  prices.file        a list of prices for tract cost, by its full path: prices.json as genai-prices publishes it
  prices.models      which models names of your own stand for, such as deployments on Azure: NAME=MODEL, with commas between [none]
  gc.keep            which imported sessions tract gc keeps: all; the newest so many, such as 100; those of the last days, such as 90d; or either: 100,90d. tract gc --help says what stays in any case [all]
  gc.reflogExpire    how many days tract gc keeps what undo and reflog need; or now, or never [90]
  head.of            whether all of this repository has one HEAD, or each directory its own: repository or directory [directory in the repository of your home directory, else repository]
  hook.commit        a command that may refuse a message. [none]
  hook.merge         a command that may refuse a merge. [none]
  prune.keepTools    the tools whose outputs tract prune leaves alone, with commas between, or none [skill,Skill,load_skill,use_skill,activate_skill]
  pull.merge         whether tract pull merges where your branch and theirs both have new commits: true or false [false]
  receive.denyDeletes          whether a push may delete a ref here: true refuses it, false lets it [false]
  receive.denyNonFastForwards  whether a push may take commits from a ref here: true refuses it, even with --force-with-lease [false]
  receive.protect    branches of which a push does neither, with commas between: main,release/* [none]
  receive.purge      whether a push or a pull may erase here what was erased there: allow or refuse [refuse]

With TRACT_LOG=FILE in the environment (or 1, for standard error), each command, and each request of a program, adds a line of JSON. The line has what it was, how long it took, what it moved, how it ended, and what was counted, hidden or reset. The file docs/log.md describes it.

The command of hook.commit is asked by tract commit, by a prompt in tract chat, and by programs through tract api. That of hook.merge is asked by tract merge, and by tract pull where it merges. Each reads one line of JSON: hook, branch, head, and the messages with their settings, or the other branch's name and commit. Answers of a model, recordings and imports are not asked about. Unless its exit code is 0, nothing is written. The reason is what it prints.

Where truncate or CMD cannot keep the budget, the exit code is 1 as well, but the message is committed, and tract commit prints its hash.

Your own, with --global:
  author.name        who you are: commits and the log of commands bear it, and on a server HEAD and undo go by it; such as 'Mara <mara@example.org>'. TRACT_AUTHOR goes before it; where that is empty, nobody is named [commits: nobody, on a server USER@HOST; the log: USER@HOST]
  recall.model       a folder with model.safetensors and tokenizer.json; tract find --like and recall use them [none]
  recall.where       how far an agent's recall looks at most; here, project or all [all]
  safe.directory     another user's repository that may be opened: a path, PATH/* for all below it, or *; each call adds one
  secrets.allow      a regular expression for texts that look like secrets and are not; each call adds one
  sources.FORMAT     the directories in which a program keeps its sessions, with commas between, such as sources.claude-code: one for each account. The program's own variable, such as CLAUDE_CONFIG_DIR, goes before it [where the program keeps them]
  secrets.resume     allow: tract resume writes secrets too; what it writes stays on this machine until the tool sends it

Example:
  tract config budget.max 128k
  tract config budget.action truncate
  tract config budget.when cold
  tract config compile.format anthropic
  tract config --unset budget.max
  tract config hook.commit '~/bin/check-message'
  tract config receive.protect 'main,release/*'
  tract config --global author.name Mara
  tract config --global core.pager cat
  tract config --global recall.model ~/models/potion-base-8M
  tract config --global safe.directory /srv/shared
  tract config --global sources.claude-code ~/.claude,~/.claude-work
  tract config --global secrets.allow '^AKIA.*TEST$'")]
pub struct Args {
    #[command(flatten)]
    deed: ConfigParams,
    // No method has it: what runs for somebody leaves their own settings alone.
    /// Use your own settings, for all repositories
    #[arg(long)]
    global: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let deed = &args.deed;
    if args.global {
        return global(deed, app);
    }
    let is_ones_own = |key: &&String| {
        let key = key.as_str();
        let is_known = UserConfig::KEYS.contains(&key) || of_sources(key).is_some();
        is_known && !Config::KEYS.contains(&key)
    };
    if let Some(key) = deed.key.as_ref().filter(is_ones_own) {
        let what = format!("{key} is a setting of yours, not of the repository");
        return Err(Failure::usage(what).with_hint(format!("tract config --global {key} …")));
    }
    let repo = app.repo()?;
    let told = deed.clone().call(&mut At::new(&repo, On::Head, app))?;
    match &deed.key {
        None => {
            let set = told.settings.iter();
            list(set.map(|(key, value)| (key.as_str(), value.as_str())), app)
        }
        Some(_) if deed.unset || deed.value.is_some() => Ok(()),
        Some(key) => match told.settings.get(key) {
            Some(value) => Ok(app.ui.print(value.as_str())?),
            None => Err(unset(key, "tract config")),
        },
    }
}

/// Settings, one to a line.
fn list<'s>(set: impl Iterator<Item = (&'s str, &'s str)>, app: &mut App) -> Result<()> {
    let lines: Vec<Line> = set
        .map(|(key, value)| format!("{key} = {value}").into())
        .collect();
    if lines.is_empty() {
        app.ui.status("Nothing is set");
        app.ui
            .hint("tract config --help lists the settings and their defaults");
    }
    Ok(app.ui.print_all(lines)?)
}

/// A setting that is asked for and is not set.
fn unset(key: &str, command: &str) -> Failure {
    let hint = format!("{command} {key} VALUE sets it; tract config --help lists the defaults");
    Failure::refused(format!("{key} is not set")).with_hint(hint)
}

/// The user's own settings.
fn global(deed: &ConfigParams, app: &mut App) -> Result<()> {
    let mut config = app.user_config()?;
    let Some(key) = &deed.key else {
        return list(config.iter(), app);
    };
    if Config::KEYS.contains(&key.as_str()) && !UserConfig::KEYS.contains(&key.as_str()) {
        let what = format!("{key} is a setting of the repository, not of yours");
        return Err(
            Failure::usage(what).with_hint(format!("without --global: tract config {key} …"))
        );
    }
    let sources = of_sources(key);
    if sources.is_none() {
        known_setting(key, &UserConfig::KEYS)?;
    }
    match deed.value.as_ref().map(|value| value.0.as_str()) {
        _ if deed.unset => config.remove(key),
        Some(value) if sources.is_some() => config.set(key, &folders(value, app)?),
        Some(value) if key == CORE_PAGER => config.set(key, value.trim()),
        Some(value) if key == AUTHOR_NAME && value.trim().is_empty() => {
            let failure = Failure::usage(format!("{key} is empty"));
            Err(failure.with_hint(format!("tract config --global --unset {key}")))
        }
        Some(value) if key == AUTHOR_NAME => config.set(key, value.trim()),
        Some(value) if key == SECRETS_ALLOW => {
            Secrets::allowing(&[value])?;
            config.add(key, value)
        }
        Some(value) if key == SECRETS_RESUME => match value {
            ALLOW => config.add(key, value),
            _ => {
                let failure = Failure::usage(format!("{key}: '{value}' is not {ALLOW}"));
                Err(failure.with_hint(SETTINGS_HELP))
            }
        },
        Some(value) if key == RECALL_WHERE => match value {
            place if PLACES.contains(&place) => config.set(key, place),
            _ => {
                let places = PLACES.join(", ");
                let what = format!("{key}: '{value}' is none of {places}");
                Err(Failure::usage(what).with_hint(SETTINGS_HELP))
            }
        },
        Some(value) if key == RECALL_MODEL => {
            let folder = safe(value, app)?;
            StaticModel::open(Path::new(&folder))?;
            config.set(key, &folder)
        }
        Some(value) => config.add(key, &safe(value, app)?),
        None if config.values(key).next().is_none() => Err(unset(key, "tract config --global")),
        None => {
            let values = config.values(key).map(Line::from);
            Ok(app.ui.print_all(values)?)
        }
    }
}

/// The format of which a setting names the directories.
fn of_sources(key: &str) -> Option<&'static Format> {
    let format = Format::named(key.strip_prefix(SOURCES)?).ok()?;
    format.home.is_some().then_some(format)
}

/// Directories with commas between, each as it is kept.
fn folders(value: &str, app: &App) -> Result<String> {
    let all = value.split(',').map(str::trim);
    let all = all.filter(|one| !one.is_empty());
    let all = all
        .map(|one| safe(one, app))
        .collect::<Result<Vec<String>>>()?;
    if all.is_empty() {
        return Err(Failure::usage("no directory is named"));
    }
    Ok(all.join(","))
}

/// A directory as it is kept: from the root on, whatever the working directory will be.
fn safe(value: &str, app: &App) -> Result<String> {
    if value == "*" {
        return Ok(value.to_owned());
    }
    let path = app.cwd()?.join(app.path(Path::new(value))?);
    let path = path.components().collect::<PathBuf>().into_os_string();
    let odd = |_| Failure::usage(format!("'{value}' is not UTF-8"));
    path.into_string().map_err(odd)
}
