//! Which list of prices is meant.

use std::path::Path;

use crate::deeds::ApiError;
use crate::error::Error;
use crate::model::price::{LIST, Prices};
use crate::repo::Repo;

/// What the list of these prices is called.
pub(in crate::deeds) fn price_list(repo: &Repo) -> Result<String, ApiError> {
    let config = repo.config()?;
    Ok(config.get("prices.file").unwrap_or(LIST).to_owned())
}

/// The prices that are meant: those of `prices.file`, else the list that comes along.
pub(in crate::deeds) fn prices(repo: &Repo) -> Result<Prices, ApiError> {
    let config = repo.config()?;
    let names = config.model_names()?;
    let Some(path) = config.get("prices.file") else {
        return Ok(Prices::listed().named(names));
    };
    let list = std::fs::read(path).map_err(Error::io(Path::new(path)))?;
    let hint = "`tract config --unset prices.file` goes back to the list that comes along";
    let read = Prices::read(&list).map_err(|error| ApiError::from(error).with_hint(hint));
    Ok(read?.named(names))
}
