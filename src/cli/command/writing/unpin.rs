//! `tract unpin`: short for `annotate --normal`.

use super::annotate::Short;
use crate::cli::{App, Result};

pub type Args = Short<false>;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    args.run(app)
}
