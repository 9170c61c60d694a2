//! `tract compile`: what a model would be sent.

use std::io::Write;

use tract::deeds::At;
use tract::render::escape;

use crate::cli::{App, Result, sent};

pub use tract::deeds::CompileParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let made = args.carry_out(&At::new(&repo, on, app))?;
    if let Some(verified) = &made.verified {
        return sent::verify(verified, app);
    }
    let payload = made.requested.payload;
    let shown = match app.ui.is_terminal() {
        false => payload.as_str().into(),
        true if payload.starts_with('{') => escape::json(&payload),
        true => escape::block(&payload),
    };
    let ui = &mut app.ui;
    ui.out().write_all(shown.as_bytes())?;
    if !payload.ends_with('\n') {
        writeln!(ui.out())?;
    }
    for notice in made.requested.notices {
        ui.notice(notice);
    }
    Ok(())
}
