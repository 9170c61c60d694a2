//! What is set.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hooks::HOOKS;
use super::{ApiError, At, Deed, Method, Scalar};
use crate::compile::Provider;
use crate::error::Error;
use crate::model::budget::{BudgetActions, BudgetTarget, BudgetWhen};
use crate::model::price::{ModelNames, Prices};
use crate::model::retention::{Expire, Retention};
use crate::model::{Encoding, nearest};
use crate::render::read_tokens;
use crate::repo::{AUTHOR_NAME, Config, money_limits};
use crate::sync::checked_patterns;

/// A setting's value as it is stored.
///
/// # Errors
///
/// Where it is none of its key.
pub fn checked_setting(key: &str, value: &str) -> Result<String, ApiError> {
    let wrong = |why: &str| Err(ApiError::params(format!("{key}: {why}")));
    let number = |of: &str| match value.parse::<NonZeroU64>() {
        Ok(number) => Ok(number.to_string()),
        Err(_) => wrong(&format!("'{value}' is not a number of {of}")),
    };
    let limits = |key| {
        let limits = money_limits(key, value)?.into_iter();
        let texts: Vec<String> = limits.map(|it| it.to_string()).collect();
        Ok(texts.join(","))
    };
    match key {
        "budget.max" => match read_tokens(value) {
            Ok(0) => Err(ApiError::params("budget.max must be more than 0")),
            Ok(tokens) => Ok(tokens.to_string()),
            Err(why) => wrong(&why),
        },
        "budget.target" if value.ends_with('%') => Ok(value.parse::<BudgetTarget>()?.to_string()),
        "budget.target" => match read_tokens(value) {
            Ok(tokens) => Ok(tokens.to_string().parse::<BudgetTarget>()?.to_string()),
            Err(why) => wrong(&format!("{why}, nor a percentage")),
        },
        "budget.day" => limits("budget.day"),
        "budget.month" => limits("budget.month"),
        "budget.timeout" => number("seconds"),
        "budget.when" => Ok(value.parse::<BudgetWhen>()?.to_string()),
        "budget.action" => Ok(value.parse::<BudgetActions>()?.to_string()),
        "author.name" | "core.pager" | "hook.commit" | "hook.merge" | "prune.keepTools" => {
            Ok(value.to_owned())
        }
        "window.size" => number("messages"),
        "prices.file" if Path::new(value).is_absolute() => {
            let list = std::fs::read(value).map_err(Error::io(Path::new(value)))?;
            Prices::read(&list)?;
            Ok(value.to_owned())
        }
        "prices.models" => Ok(ModelNames::read(value)?.to_string()),
        "prices.file" => wrong(&format!("'{value}' is not a full path")),
        "budget.tell" | "pull.merge" | "receive.denyDeletes" | "receive.denyNonFastForwards" => {
            match value {
                "true" | "false" => Ok(value.to_owned()),
                other => wrong(&format!("'{other}' is neither true nor false")),
            }
        }
        "receive.protect" => Ok(checked_patterns(value)?),
        "receive.purge" => match value {
            "allow" | "refuse" => Ok(value.to_owned()),
            other => wrong(&format!("'{other}' is neither allow nor refuse")),
        },
        "head.of" => match value {
            "directory" | "repository" => Ok(value.to_owned()),
            other => wrong(&format!("'{other}' is neither directory nor repository")),
        },
        "gc.keep" => Ok(Retention::read(value)?.map_or("all".to_owned(), |rule| rule.to_string())),
        "gc.reflogExpire" => Ok(value.parse::<Expire>()?.to_string()),
        "tokens.encoding" => Ok(value.parse::<Encoding>()?.to_string()),
        _ => Ok(value.parse::<Provider>()?.as_str().to_owned()),
    }
}

/// Refuses a setting that is none of `keys`.
///
/// # Errors
///
/// With the nearest, if one is near.
pub fn known_setting(key: &str, keys: &[&str]) -> Result<(), ApiError> {
    if keys.contains(&key) {
        return Ok(());
    }
    let hint = match nearest(key, keys.iter().copied()) {
        _ if key == "unset" => "`tract config --unset KEY`".to_owned(),
        Some(near) => format!("did you mean {near}?"),
        None => keys.join(", "),
    };
    Err(ApiError::params(format!("unknown setting '{key}'")).with_hint(hint))
}

/// Where it says what each setting takes.
pub const SETTINGS_HELP: &str = "tract config --help says what each setting takes";

/// The error of a value that its setting does not take.
fn not_taken(fault: ApiError) -> ApiError {
    match fault.hint {
        Some(_) => fault,
        None => fault.with_hint(SETTINGS_HELP),
    }
}

/// Why a setting is none of a repository on a server, if that is so.
fn unset_on_servers(key: &str) -> Option<ApiError> {
    let (what, hint) = match key {
        AUTHOR_NAME => (
            "many commit to a repository on a server, each by a name of their own",
            format!("`tract config --global {key} NAME`; or TRACT_AUTHOR"),
        ),
        "head.of" => (
            "in a repository on a server each person has a HEAD, and no directory does",
            format!("`tract config --global {AUTHOR_NAME} NAME` says who you are"),
        ),
        _ if HOOKS.contains(&key) => (
            "a repository on a server names no commands that others would run",
            SETTINGS_HELP.to_owned(),
        ),
        _ => return None,
    };
    Some(ApiError::refused(what).with_hint(hint))
}

/// Tell the repository's settings, or change one
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ConfigParams {
    /// The setting; without it, all settings are listed
    pub key: Option<String>,
    /// The new value; without it, the present value is printed
    #[cfg_attr(feature = "cli", arg(value_name = "VALUE", requires = "key"))]
    pub value: Option<Scalar>,
    /// Remove the setting
    #[cfg_attr(feature = "cli", arg(long, requires = "key", conflicts_with = "value"))]
    pub unset: bool,
}

/// What is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigAnswer {
    /// The values by their keys; of one key, where one was asked for.
    pub settings: BTreeMap<String, String>,
}

impl Method for ConfigParams {
    const NAME: &'static str = "config";
    const CHANGES: bool = true;
    type Answer = ConfigAnswer;

    fn check(&self) -> Result<(), ApiError> {
        let what = match self {
            Self { key: None, .. } if self.value.is_some() || self.unset => {
                "'key' says which setting"
            }
            Self { value: Some(_), .. } if self.unset => "'value' or 'unset', not both",
            _ => return Ok(()),
        };
        Err(ApiError::params(what))
    }

    fn act(self, at: &mut At<'_>) -> Result<ConfigAnswer, ApiError> {
        if let Some(key) = &self.key {
            known_setting(key, &Config::KEYS)?;
            let value = self.value.as_ref().map(|value| &*value.0);
            if value.is_some()
                && at.repo.is_on_server()
                && let Some(fault) = unset_on_servers(key)
            {
                return Err(fault);
            }
            let value = value.map(|value| checked_setting(key, value).map_err(not_taken));
            let value = value.transpose()?;
            if value.is_some() || self.unset {
                at.repo.set_config(key, value.as_deref())?;
            }
        }
        let config = at.repo.config()?;
        let asked = |key: &str| self.key.as_deref().is_none_or(|asked| asked == key);
        let set = config.iter().filter(|(key, _)| asked(key));
        Ok(ConfigAnswer {
            settings: set
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
        })
    }
}

impl Deed for ConfigParams {
    const PLACES: &'static [&'static str] = &["key", "value"];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deeds::Still;
    use crate::repo::{On, Repo};

    #[test]
    fn a_setting_is_kept_as_the_program_keeps_it_and_a_wrong_one_is_not() {
        let repo = Repo::ephemeral().expect("a repository");
        let set = |key: &str, value: &str| {
            let (key, value) = (Some(key.to_owned()), Some(Scalar(value.to_owned())));
            let params = ConfigParams {
                key,
                value,
                unset: false,
            };
            params.call(&mut At::new(&repo, On::Head, &Still))
        };
        let answer = set("budget.max", "100k").expect("kept");
        assert_eq!(answer.settings["budget.max"], "100000");
        let fault = set("budget.mix", "1").expect_err("no setting");
        assert_eq!(fault.hint.as_deref(), Some("did you mean budget.max?"));
        assert!(set("budget.max", "much").is_err());
        assert_eq!(
            repo.config().expect("settings").get("budget.max"),
            Some("100000")
        );
    }
}
