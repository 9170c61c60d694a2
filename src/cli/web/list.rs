//! The list of all conversations.

use tract::render::html::{ListedSession, session_list};

use super::{Answer, Asked, Site, session_address};
use crate::cli::Result;

/// The first page.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    let app = site.app();
    let mut sessions = Vec::new();
    if let Some(repo) = site.repo(&app)? {
        for row in repo.branches(app.encoding(&repo)?)? {
            let name = row.session.as_ref().unwrap_or(&row.name);
            let id = name.as_session().map_or_else(
                || name.short().to_owned(),
                |(tool, id)| format!("{tool}/{id}"),
            );
            sessions.push(ListedSession {
                address: session_address(&id, ""),
                title: row.title.or(row.prompt).unwrap_or(id),
            });
        }
    }
    for file in site.files(&app)?.iter().take(100) {
        let id = file.id().unwrap_or_default();
        let id = format!("{}/{id}", file.format.name);
        sessions.push(ListedSession {
            address: session_address(&id, ""),
            title: id,
        });
    }
    Ok(Answer::page(session_list(&site.frame(asked), &sessions)))
}
