//! What is said of files that could not be read.

use std::path::Path;

use tract::ingest;
use tract::render::{Label, Line, grouped, plural};
use tract::repo::Repo;

use crate::cli::{App, Failure, Result};

/// How many a status names.
const NAMED: usize = 5;

/// What is wrong, as it is kept.
pub fn why(failure: &Failure) -> String {
    let line = failure.line().text();
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

/// The file and what is wrong with it, the file named once and as it is shown.
pub fn named(file: &Path, why: &str, app: &App) -> String {
    let place = Line::from(app.short_path(file)).text();
    let whole = Line::from(&*file.to_string_lossy()).text();
    match why.strip_prefix(&whole) {
        Some(rest) => place + rest,
        None if why.contains(&whole) || why.contains(&place) => why.to_owned(),
        None => format!("{place}: {why}"),
    }
}

/// The files that could not be read and are still there, for a status.
pub fn lines(repo: &Repo, app: &App) -> Result<Vec<Line>> {
    let files = ingest::unread(repo)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let count = plural(files.len() as u64, "file");
    let mut lines =
        vec![Label::Warning.of("Unread") + format!("   {count}, tried again by tract watch")];
    for file in files.iter().take(NAMED) {
        let since = app.calendar().listed(Some(file.time));
        let what = named(Path::new(&file.path), &file.why, app);
        lines.push(Line::indent(2) + Label::Time.of(since) + "  " + Line::from(what));
    }
    let more = files.len().saturating_sub(NAMED);
    if more > 0 {
        lines.push(Line::from(format!("  and {} more", grouped(more as u64))));
    }
    Ok(lines)
}
