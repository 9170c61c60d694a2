//! `tract fetch`: what another repository has, beside what is here.

use crate::cli::peer::arrival;
use crate::cli::{App, Result};

pub use tract::deeds::FetchParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let mut failed = None;
    for one in args.each(&*app.repo()?)? {
        let name = one.remote.as_deref();
        if let (true, Some(name)) = (args.all, name) {
            app.ui.status(format!("From {name}"));
        }
        let done = arrival::run(&one, app);
        match (done, name.filter(|_| args.all)) {
            (Ok(_), _) => {}
            // One that cannot be reached does not stop the others.
            (Err(failure), Some(name)) => {
                app.ui.warn(format!("nothing came from {name}"));
                failed.get_or_insert(failure);
            }
            (Err(failure), None) => return Err(failure),
        }
    }
    failed.map_or(Ok(()), Err)
}
