//! `tract compile`: what a model would be sent.

use std::io::{self, Write};
use std::path::PathBuf;

use tract::Error;
use tract::deeds::{At, CompileParams, CompiledRequest, MeantRequest};
use tract::render::escape;
use tract::repo::Repo;

use crate::cli::drawing::sent;
use crate::cli::machine::{paths, private};
use crate::cli::{App, Result};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    deed: CompileParams,
    /// The file to write, instead of standard output
    #[arg(short, long, value_name = "FILE", conflicts_with = "verify")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    force: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let meant = args.deed.meant(&At::new(&repo, on, app))?;
    if args.deed.verify {
        let made = meant.make(&repo, None)?;
        return made.verified.map_or(Ok(()), |it| sent::verify(&it, app));
    }
    let made = match paths::written(args.output.as_deref()) {
        Some(path) => {
            let path = app.path(path)?;
            let made = private::write(&path, args.force, |out| write(meant, &repo, out))?;
            let place = app.short_path(&path);
            app.ui.status(format!("Wrote the request to {place}"));
            made
        }
        None if app.ui.is_terminal() => {
            let made = meant.make(&repo, None)?;
            let payload = &made.requested.payload;
            let shown = match payload.starts_with('{') {
                true => escape::json(payload),
                false => escape::block(payload),
            };
            Written::to(app.ui.out()).end(&shown)?;
            made
        }
        None => write(meant, &repo, app.ui.out())?,
    };
    for notice in made.requested.notices {
        app.ui.notice(notice);
    }
    Ok(())
}

/// Writes a request, and the end of its line.
fn write(meant: MeantRequest<'_>, repo: &Repo, out: &mut dyn Write) -> Result<CompiledRequest> {
    let mut out = Written::to(out);
    let made = meant.make(repo, Some(&mut out))?;
    out.end(&made.requested.payload)
        .map_err(Error::io("output"))?;
    Ok(made)
}

/// What is written, and its last byte.
struct Written<'a> {
    out: &'a mut dyn Write,
    last: u8,
}

impl<'a> Written<'a> {
    fn to(out: &'a mut dyn Write) -> Self {
        Self { out, last: 0 }
    }

    /// Writes the last of it, and the end of its line where it has none.
    fn end(mut self, text: &str) -> io::Result<()> {
        self.write_all(text.as_bytes())?;
        match self.last {
            b'\n' => Ok(()),
            _ => self.write_all(b"\n"),
        }
    }
}

impl Write for Written<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.last = bytes[..count].last().copied().unwrap_or(self.last);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
