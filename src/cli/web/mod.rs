//! `tract web`: what there is, as pages for a browser on this machine.
//!
//! Each page is a file here and an entry in one of two tables; what it shows is gathered below, and painted by
//! `render/html`. Deliberately absent: anything async, but for `server.rs`.

mod act;
mod activity;
mod answer;
mod choices;
mod compare;
mod cost;
mod curve;
mod deed;
mod entry;
mod family;
mod fault;
mod folder;
mod guard;
mod hidden;
mod hits;
mod ledger;
mod list;
mod listing;
mod live;
mod misses;
mod out;
mod part;
mod places;
mod query;
mod reflog;
mod request;
mod row;
mod server;
mod session;
mod shelf;
mod site;
mod sweep;
mod tend;
mod within;

use std::net::TcpListener;

use super::{Failure, Result};
pub use answer::Answer;
use entry::Entry;
use guard::Guard;
pub use out::write as publish;
pub use query::{
    Asked, address_on_page, message_address, message_anchor, segment, session_address,
};
pub use server::serve;
pub use site::Site;

/// What answers a request.
type Page = fn(&Site, &Asked) -> Result<Answer>;

/// The pages: how the address begins, what the link on every page is called, if there is one, whether it needs a
/// repository, and what answers.
const PAGES: [(&str, Option<&str>, bool, Page); 6] = [
    ("", Some("Sessions"), false, list::answer),
    ("compare", Some("Compare"), false, compare::answer),
    ("cost", Some("Cost"), true, cost::answer),
    ("activity", Some("Activity"), true, activity::answer),
    ("reflog", Some("What was done"), true, reflog::answer),
    ("act", None, true, act::answer),
];

/// The pages of one conversation, by what stands behind its address.
const OF_SESSION: [(&str, Page); 7] = [
    ("", session::answer),
    ("curve", session::curve),
    ("find", within::answer),
    ("hidden", hidden::answer),
    ("live", live::answer),
    ("request", request::answer),
    ("tree", family::answer),
];

/// The port, unless another one is asked for.
const PORT: u16 = 8722;
/// How many ports are tried.
const PORTS: u16 = 64;

/// All that a server needs.
pub struct Door {
    site: Site,
    guard: Guard,
    entry: Entry,
}

impl Door {
    /// The way to a site that listens on this port. It leads to the page `target`, as it is seen from the first one.
    pub fn of(site: Site, port: u16, target: String) -> Result<Self> {
        let token = super::machine::private::random_name::<16>()?;
        let guard = Guard { port, token };
        let entry = Entry::new(&super::machine::private::random_name::<16>()?, target);
        Ok(Self { site, guard, entry })
    }

    /// The address of the page that it leads to.
    pub fn address(&self) -> String {
        let (port, token) = (self.guard.port, &self.guard.token);
        format!("http://127.0.0.1:{port}/{token}/{}", self.entry.target())
    }

    /// An address that leads there once, and soon.
    pub fn entry(&self) -> String {
        format!("http://127.0.0.1:{}{}", self.guard.port, self.entry.path())
    }
}

/// Listens on the port that was asked for, or on the usual one, or the next that is free.
pub fn listen(port: Option<u16>) -> Result<TcpListener> {
    let bind = |port| TcpListener::bind(("127.0.0.1", port));
    match port {
        Some(port) => bind(port).map_err(|error| {
            let what = format!("port {port}: {}", super::failure::reason(&error));
            Failure::refused(what).with_hint("without --port, the next free port is taken")
        }),
        None => {
            let free = (PORT..PORT + PORTS).find_map(|port| bind(port).ok());
            let any = || {
                bind(0).map_err(|error| {
                    let what = format!("no port is free: {}", super::failure::reason(&error));
                    Failure::refused(what)
                })
            };
            free.map_or_else(any, Ok)
        }
    }
}

/// The links that stand on each page.
fn places(has_repository: bool) -> Vec<(&'static str, &'static str)> {
    let pages = PAGES.iter().filter(|page| has_repository || !page.2);
    pages.filter_map(|page| Some((page.0, page.1?))).collect()
}

/// What a request is answered: a page, or one that says what is wrong.
fn answered(site: &Site, asked: &Asked) -> Answer {
    let page = match asked.segments.as_slice() {
        [first, .., last] if first == "s" && asked.session().is_some() => {
            let page = OF_SESSION.iter().find(|(name, _)| name == last);
            page.map(|(_, answer)| answer)
        }
        [only] => {
            let page = PAGES.iter().find(|page| page.0 == only);
            page.map(|(.., answer)| answer)
        }
        _ => None,
    };
    let Some(page) = page else {
        return fault::unknown(site, asked);
    };
    page(site, asked).unwrap_or_else(|failure| fault::answer(site, asked, failure))
}
