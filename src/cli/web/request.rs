//! The request that a reply answered, whole.

use tract::compile::{Provider, RequestOptions};
use tract::deeds::{Requested, answered_by, requested};
use tract::query::answered_request;
use tract::render::html;
use tract::repo::On;

use super::session::id;
use super::{Answer, Asked, Site};
use crate::cli::{Failure, Result};

/// The page of the request that the reply `for` answered; with `json`, the request itself.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    let missing = || Failure::usage("the address names no reply: request?for=REPLY");
    let typed = asked.value("for").ok_or_else(missing)?;
    site.open(&id(asked)?, |opened| {
        let (repo, app) = (opened.repo, opened.app);
        let reply = repo.resolve(&On::Head, typed)?;
        let commit = answered_by(repo, &reply, typed)?;
        let format = asked.value("format").map(|name| {
            let known = Provider::ALL.iter().find(|known| known.as_str() == name);
            known
                .copied()
                .ok_or_else(|| Failure::usage(format!("there is no form '{name}'")))
        });
        let format = format.transpose()?;
        let recorded = answered_request(repo, &reply, format.map(Provider::as_str))?;
        let options = RequestOptions {
            provider: app.provider(repo, format)?,
            whole_request: true,
            strict: false,
        };
        let Requested {
            payload,
            notices,
            is_recorded,
        } = requested(repo, &commit, (Some(&reply), recorded), &options)?;
        if asked.value("json").is_some() {
            return Ok(Answer::json(payload));
        }
        let how = match is_recorded {
            true => "as the client recorded it",
            false => "made of the messages",
        };
        let facts = [format!("for reply {}", reply.short()), how.to_owned()];
        let whole = format!("request?for={reply}&json=1");
        let frame = site.frame(asked);
        let page = html::request(
            &frame,
            "What was sent",
            &facts,
            &notices,
            (&payload, &whole),
        );
        Ok(Answer::page(page))
    })
}
