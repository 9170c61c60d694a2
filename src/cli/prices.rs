//! Prices, for people: the list that is meant, and amounts of money.

use std::path::Path;

use tract::history::Repo;
use tract::model::price::{LIST, Prices};

use super::{App, Result, input};

/// The prices that are meant, and where they are from.
pub fn prices(repo: &Repo, app: &App) -> Result<(Prices, String)> {
    match repo.config()?.get("prices.file") {
        Some(path) => {
            let list = input::read(app, Path::new(path));
            let read = list.and_then(|list| Ok(Prices::read(list.as_bytes())?));
            let hint = "tract config --unset prices.file goes back to the list that comes along";
            Ok((
                read.map_err(|failure| failure.with_hint(hint))?,
                path.to_owned(),
            ))
        }
        None => Ok((Prices::listed(), LIST.to_owned())),
    }
}

/// So many US dollars, with cents of a cent where it is less than one.
pub fn money(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.01 {
        format!("${dollars:.4}")
    } else {
        format!("${dollars:.2}")
    }
}
