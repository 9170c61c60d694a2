//! What is worked out behind the requests, for lists.

use tract::repo::Repo;

use super::Site;
use super::ledger::state_of;
use crate::cli::drawing::prices;
use crate::cli::{App, Result};

/// Works out what is wanted, until the server ends. That something fails is told to whoever asks for it.
pub fn tend(site: &Site) {
    site.ledger().want();
    while !site.is_over() {
        if site.ledger().is_wanted() {
            let app = site.app();
            let _ = work(site, &app);
        }
    }
}

fn work(site: &Site, app: &App) -> Result<()> {
    let (repo, ledger) = (site.repo(app)?, site.ledger());
    let tips = match &repo {
        Some(repo) => repo.conversations()?,
        None => Vec::new(),
    };
    // Of many conversations a list has waited for this least.
    let mut stock = ledger.take_stock(&site.files(app)?, repo.as_deref(), state_of(&tips))?;
    drop(tips);
    let state = match &repo {
        Some(repo) => look_over(site, app, repo)?,
        None => state_of(&[]),
    };
    if !stock.is_of(state) {
        stock = ledger.take_stock(&site.files(app)?, repo.as_deref(), state)?;
    }
    ledger.look_into(&stock.unread, &|| site.is_over());
    match &repo {
        Some(repo) => bill(site, app, repo, state),
        None => Ok(()),
    }
}

/// Works out all that lists say of a repository, at once.
pub fn fill(site: &Site, app: &App, repo: &Repo) -> Result<()> {
    let state = look_over(site, app, repo)?;
    bill(site, app, repo, state)
}

fn look_over(site: &Site, app: &App, repo: &Repo) -> Result<u64> {
    let all = repo.conversations()?;
    let (encoding, is_over) = (app.encoding(repo)?, || site.is_over());
    site.ledger().look_over(repo, &all, encoding, &is_over)?;
    Ok(state_of(&all))
}

fn bill(site: &Site, app: &App, repo: &Repo, state: u64) -> Result<()> {
    let (prices, _) = prices::prices(repo, app)?;
    site.ledger().bill(repo, &prices, state)
}
