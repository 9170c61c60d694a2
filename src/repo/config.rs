//! The repository's configuration, read in one place: a value that is none is the same error to all.
//!
//! Only what people set. What the program remembers for itself has verbs and tables of its own.

use std::num::{NonZeroU64, ParseIntError};
use std::str::FromStr;

use crate::compile::Provider;
use crate::error::{Error, Result};
use crate::model::Encoding;
use crate::model::budget::{Budget, BudgetActions, BudgetTarget, BudgetWhen};
use crate::model::price::ModelNames;
use crate::model::retention::{Expire, Retention};
use crate::repo::repository::Repo;
use crate::store::View;

/// The tools by which clients give a model instructions, which it is to go by to the end: skills.
const KEPT_TOOLS: &str = "skill,Skill,load_skill,use_skill,activate_skill";

/// What is set. A value is parsed when it is asked for, so a bad one stops nobody who can do without.
#[derive(Clone, Debug, Default)]
pub struct Config(Vec<(String, String)>);

impl Config {
    /// What is set.
    pub(crate) fn of(view: &dyn View) -> Result<Self> {
        Ok(Self(view.config()?))
    }

    /// The keys that there are, in order.
    pub const KEYS: [&str; 26] = [
        "author.name",
        "budget.action",
        "budget.day",
        "budget.max",
        "budget.month",
        "budget.target",
        "budget.tell",
        "budget.timeout",
        "budget.when",
        "compile.format",
        "core.pager",
        "gc.keep",
        "gc.reflogExpire",
        "head.of",
        "hook.commit",
        "hook.merge",
        "prices.file",
        "prices.models",
        "prune.keepTools",
        "pull.merge",
        "receive.denyDeletes",
        "receive.denyNonFastForwards",
        "receive.protect",
        "receive.purge",
        "tokens.encoding",
        "window.size",
    ];

    /// A value as it is kept.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter()
            .find(|(of, _)| *of == key)
            .map(|(_, value)| value)
    }

    /// All that is set, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The tokens that a context should not exceed.
    ///
    /// # Errors
    ///
    /// Like its siblings [`Error::InvalidInput`], if the value is none.
    pub fn budget_max(&self) -> Result<Option<u64>> {
        self.number("budget.max")
    }

    /// The budget; none without `budget.max`.
    pub fn budget(&self) -> Result<Option<Budget>> {
        let Some(max) = self.budget_max()? else {
            return Ok(None);
        };
        let actions = self.parsed::<BudgetActions>("budget.action")?;
        Ok(Some(Budget {
            max,
            target: self.parsed::<BudgetTarget>("budget.target")?.of(max),
            action: actions.first,
            otherwise: actions.others,
            when: self.parsed::<BudgetWhen>("budget.when")?,
            encoding: self.encoding()?,
        }))
    }

    /// What a day and a month may cost, as far as that is set.
    pub fn money_limits(&self) -> Result<Vec<MoneyLimit>> {
        let mut found = Vec::new();
        for key in ["budget.day", "budget.month"] {
            if let Some(text) = self.get(key) {
                found.extend(money_limits(key, text)?);
            }
        }
        Ok(found)
    }

    /// Whether hooks tell an agent how budgets of money stand.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`].
    pub fn tells_budgets(&self) -> Result<bool> {
        self.flag("budget.tell")
    }

    /// How many seconds the command of `budget.action` may take.
    pub fn budget_timeout(&self) -> Result<Option<NonZeroU64>> {
        self.number("budget.timeout")
    }

    /// The names that stand for models where prices are looked up.
    pub fn model_names(&self) -> Result<ModelNames> {
        self.get("prices.models")
            .map_or(Ok(ModelNames::default()), ModelNames::read)
    }

    /// What tokens are counted in.
    pub fn encoding(&self) -> Result<Encoding> {
        self.parsed("tokens.encoding")
    }

    /// The usual form of a request.
    pub fn format(&self) -> Result<Provider> {
        self.parsed("compile.format")
    }

    /// How long a collection keeps the log.
    pub fn reflog_expire(&self) -> Result<Expire> {
        self.parsed("gc.reflogExpire")
    }

    /// Which sessions a collection keeps; none: all.
    pub fn retention(&self) -> Result<Option<Retention>> {
        self.get("gc.keep").map_or(Ok(None), Retention::read)
    }

    /// The tools whose outputs a prune leaves alone; `none` for none.
    pub fn kept_tools(&self) -> Vec<String> {
        let names = self.get("prune.keepTools").unwrap_or(KEPT_TOOLS);
        let names = names.split(',').map(str::trim);
        let names = names.filter(|name| !name.is_empty() && *name != "none");
        names.map(str::to_owned).collect()
    }

    /// Whether what was erased in a repository that is pushed from is erased here as well.
    pub fn erases_for_others(&self) -> Result<bool> {
        match self.get("receive.purge") {
            None | Some("refuse") => Ok(false),
            Some("allow") => Ok(true),
            Some(other) => Err(Error::input(
                "receive.purge",
                format!("'{other}' is neither allow nor refuse"),
            )),
        }
    }

    /// Whether a pull merges where both branches have gone on.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`].
    pub fn pull_merges(&self) -> Result<bool> {
        self.flag("pull.merge")
    }

    /// Whether this is set to be so.
    pub(crate) fn flag(&self, key: &'static str) -> Result<bool> {
        match self.get(key) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => {
                let why = format!("'{other}' is neither true nor false");
                Err(Error::input(key, why))
            }
        }
    }

    /// Whether each directory has a HEAD of its own; none where nothing is set.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`].
    pub fn head_of_directory(&self) -> Result<Option<bool>> {
        match self.get("head.of") {
            None => Ok(None),
            Some("directory") => Ok(Some(true)),
            Some("repository") => Ok(Some(false)),
            Some(other) => Err(Error::input(
                "head.of",
                format!("'{other}' is neither directory nor repository"),
            )),
        }
    }

    /// How many messages a window shows.
    pub fn window_size(&self) -> Result<Option<usize>> {
        self.number("window.size")
    }

    fn number<T: FromStr<Err = ParseIntError>>(&self, key: &str) -> Result<Option<T>> {
        let number = self.get(key).map(str::parse).transpose();
        number.map_err(|why| Error::input(key, why))
    }

    fn parsed<T: FromStr<Err = Error> + Default>(&self, key: &str) -> Result<T> {
        self.get(key).map_or_else(|| Ok(T::default()), str::parse)
    }
}

/// What a day or a month may cost.
#[derive(Clone, Debug, PartialEq)]
pub struct MoneyLimit {
    /// The setting: `budget.day` or `budget.month`.
    pub setting: &'static str,
    /// The directory of which it is; none: of all.
    pub directory: Option<String>,
    /// How much, in US dollars.
    pub dollars: f64,
}

/// What a setting says of that: `AMOUNT` for all, `DIRECTORY=AMOUNT` for what ran in a directory, with commas between.
///
/// # Errors
///
/// [`Error::InvalidInput`] where one is no amount, or a directory no full path, or two are of the same.
pub fn money_limits(setting: &'static str, text: &str) -> Result<Vec<MoneyLimit>> {
    let mut limits: Vec<MoneyLimit> = Vec::new();
    for one in text.split(',').map(str::trim) {
        let (directory, amount) = match one.rsplit_once('=') {
            None => (None, one),
            Some((directory, amount)) => (Some(directory.trim()), amount.trim()),
        };
        let is_full = |it: &str| it.starts_with(['/', '\\']) || it.get(1..2) == Some(":");
        if let Some(odd) = directory.filter(|it| !is_full(it)) {
            return Err(Error::input(setting, format!("'{odd}' is not a full path")));
        }
        let directory = directory.map(|it| match it.trim_end_matches('/') {
            "" => it.to_owned(),
            plain => plain.to_owned(),
        });
        if limits.iter().any(|it| it.directory == directory) {
            let of = directory.as_deref().unwrap_or("all");
            return Err(Error::input(
                setting,
                format!("it says twice what {of} may cost"),
            ));
        }
        limits.push(MoneyLimit {
            setting,
            directory,
            dollars: dollars(setting, amount)?,
        });
    }
    Ok(limits)
}

impl std::fmt::Display for MoneyLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.directory {
            None => write!(f, "{}", self.dollars),
            Some(directory) => write!(f, "{directory}={}", self.dollars),
        }
    }
}

/// An amount of US dollars that is more than nothing, with or without its sign.
fn dollars(key: &'static str, text: &str) -> Result<f64> {
    let amount = text.strip_prefix('$').unwrap_or(text).parse::<f64>().ok();
    let amount = amount.filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| Error::input(key, format!("'{text}' is no amount of US dollars")))
}

impl Repo {
    /// The repository's configuration.
    pub fn config(&self) -> Result<Config> {
        Ok(Config(self.store.config()?))
    }

    /// Sets a value of the configuration, or removes it. A value is kept as it is given.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for a key that is none of [`Config::KEYS`].
    pub fn set_config(&self, key: &str, value: Option<&str>) -> Result<()> {
        if !Config::KEYS.contains(&key) {
            return Err(Error::input("setting", format!("unknown '{key}'")));
        }
        let tx = self.store.write()?;
        tx.set_config(key, value)?;
        tx.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::On;

    #[test]
    fn a_value_that_is_none_is_the_same_error_to_all() {
        let repo = Repo::ephemeral().expect("a repository");
        repo.set_config("budget.max", Some("much")).expect("kept");
        let wanted = Error::input("budget.max", "invalid digit found in string").to_string();
        let of_commit = repo
            .config()
            .and_then(|c| c.budget())
            .expect_err("no number");
        let of_status = repo.status(&On::Head, Encoding::default());
        assert_eq!(of_commit.to_string(), wanted);
        assert_eq!(of_status.expect_err("no number").to_string(), wanted);
        repo.set_config("budget.max", Some("90")).expect("kept");
        repo.set_config("budget.target", Some("most"))
            .expect("kept");
        assert_eq!(
            repo.config().and_then(|c| c.budget_max()).ok(),
            Some(Some(90))
        );
        assert!(repo.config().and_then(|c| c.budget()).is_err());
        assert!(repo.set_config("note.refs/tags/v1", Some("x")).is_err());
    }
}
