//! `tract pin`: short for `annotate --pin`.

use super::annotate::Short;
use crate::cli::{App, Result};

pub type Args = Short<true>;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    args.run(app)
}
