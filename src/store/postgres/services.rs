//! Services: connections that have a name, in files of libpq's.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::Servers;

/// What a service says: keywords and values, from the first of the files that has it.
///
/// # Source
///
/// PostgreSQL's documentation, "The Connection Service File".
///
/// # Errors
///
/// [`Error::InvalidInput`] where no file has it, or one has a line that says nothing.
pub(super) fn service(
    name: &str,
    file: Option<&str>,
    servers: &Servers,
) -> Result<Vec<(String, String)>> {
    let own = match file {
        Some(file) => Some(PathBuf::from(file)),
        None => servers.at_home(".pg_service.conf"),
    };
    let systems = servers.variable("PGSYSCONFDIR");
    let systems = systems.map(|folder| Path::new(folder).join("pg_service.conf"));
    for file in own.into_iter().chain(systems) {
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        if let Some(found) = section(&text, name).map_err(|line| {
            Error::input(
                file.display().to_string(),
                format!("line {line} is neither a name in brackets nor keyword=value"),
            )
        })? {
            return Ok(found);
        }
    }
    Err(Error::input(
        format!("the service '{name}'"),
        "no service file has it",
    ))
}

type Pairs = Vec<(String, String)>;

/// The pairs below a name in brackets; the number of a line that is none.
fn section(text: &str, name: &str) -> Result<Option<Pairs>, usize> {
    let mut found: Option<Pairs> = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(title) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            if found.is_some() {
                break;
            }
            found = (title == name).then(Vec::new);
        } else if let Some(found) = &mut found {
            let (keyword, value) = line.split_once('=').ok_or(at + 1)?;
            found.push((keyword.trim().to_owned(), value.trim().to_owned()));
        }
    }
    Ok(found)
}
