//! Which pager is wanted.

use crate::cli::app::App;
use crate::cli::machine::pager::{CORE_PAGER, Pager};

/// What is run where nobody says.
const USUAL: &str = "less";

/// The one that is wanted: `TRACT_PAGER`, or `core.pager` of the repository or of the user, or `PAGER`, or `less`.
/// What a repository says counts only where it is one's own, for it is run.
pub fn wanted_pager(app: &App) -> Option<Pager> {
    let env = &app.env.pager;
    let asked = env.tract.clone().or_else(|| set(app));
    let asked = asked.or_else(|| env.general.clone());
    let command = match &asked {
        Some(command) => command,
        // Most do without what a page asks of a terminal; less asks for a key first.
        None if app.env.surroundings.dumb => return None,
        None => USUAL,
    };
    Pager::of(command, &env.set, app.env.programs.as_deref())
}

/// What `core.pager` says. A setting that can't be read is told by the command that needs one.
fn set(app: &App) -> Option<String> {
    let repo = app.repo().ok().filter(|repo| repo.is_own());
    let config = repo.and_then(|repo| repo.config().ok());
    let of_repository = config.and_then(|config| config.get(CORE_PAGER).map(str::to_owned));
    of_repository.or_else(|| {
        let config = app.user_config().ok()?;
        let last = config.values(CORE_PAGER).last();
        last.map(str::to_owned)
    })
}
