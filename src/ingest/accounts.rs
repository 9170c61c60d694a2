//! Which home of a program a session is of: whoever is signed in there pays for it.

use std::collections::HashMap;
use std::path::Path;

use crate::error::Result;
use crate::formats::Format;
use crate::repo::Repo;

/// The homes of the sessions whose files came in from one, by the sessions' refs: the directory above the folder in which
/// the program keeps sessions.
///
/// # Errors
///
/// The store's.
pub fn accounts(repo: &Repo) -> Result<HashMap<String, String>> {
    let mut homes = HashMap::new();
    for (path, session) in repo.store.read()?.followed_files(None)? {
        let format = session.as_session().map(|(tool, _)| Format::named(tool));
        let home = format.and_then(|format| format.ok()?.home.as_ref());
        let folder = home.map(|home| home.everywhere.folder);
        let Some(folder) = folder.filter(|folder| !folder.is_empty()) else {
            continue;
        };
        let mut above = Path::new(&path).ancestors();
        let home = above.find(|it| it.ends_with(folder));
        let depth = Path::new(folder).components().count();
        if let Some(home) = home.and_then(|it| it.ancestors().nth(depth)) {
            let home = home.to_string_lossy().into_owned();
            homes.entry(session.to_string()).or_insert(home);
        }
    }
    Ok(homes)
}
