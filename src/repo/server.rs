//! Repositories on a server: what names one, and whether this program knows servers at all.
//!
//! A server asks by itself who may enter. But those who may are several, so the commands that such a
//! repository's configuration names are not its visitor's own.

use std::path::Path;

use crate::error::Result;
use crate::repo::visitor::Visitor;
use crate::store::{Store, without_password};

/// The address, if a repository's place is one.
pub(crate) fn address(place: &Path) -> Option<&str> {
    let is_address =
        |text: &&str| text.starts_with("postgres://") || text.starts_with("postgresql://");
    place.to_str().filter(is_address)
}

/// Whether a repository's place is an address of a server, and no directory.
pub fn is_address(place: &Path) -> bool {
    address(place).is_some()
}

/// What is kept of where another repository is: not a server's password, for whoever reads the configuration would read
/// it there.
pub fn kept(url: &str) -> String {
    match address(Path::new(url)) {
        Some(address) => without_password(address),
        None => url.to_owned(),
    }
}

/// A repository on a server: its engine, its address without a password, and whether it is new.
type Entered = (Box<dyn Store>, String, bool);

/// Opens a repository on a server, or makes it if `makes`.
///
/// # Errors
///
/// Those of [`crate::store::postgres::Postgres`].
#[cfg(feature = "postgres")]
pub(crate) fn enter(address: &str, makes: bool, visitor: &Visitor) -> Result<Entered> {
    use crate::store::postgres::Postgres;
    let (store, is_new) = if makes {
        Postgres::create_as(address, &visitor.servers)?
    } else {
        let look = visitor.look.as_ref();
        (Postgres::look_as(address, &visitor.servers, look)?, false)
    };
    let address = store.address();
    Ok((Box::new(store), address, is_new))
}

/// Refuses, since no server is known here.
///
/// # Errors
///
/// [`Error::NotBuilt`](crate::Error::NotBuilt).
#[cfg(not(feature = "postgres"))]
pub(crate) fn enter(_: &str, _: bool, _: &Visitor) -> Result<Entered> {
    Err(crate::Error::NotBuilt { what: "PostgreSQL" })
}
