//! What people name to be read: files, pipes, and what is neither.
//!
//! A pipe is read if somebody writes to it, and no longer than its bound; a device is no session.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tract::Error;
use tract::ingest::{database, stream_name};

use crate::cli::failure::STANDARD_INPUT;
use crate::cli::machine::private;
use crate::cli::machine::private::Scratch;
use crate::cli::{Failure, Result};

/// What stands for standard input, and for standard output where a file is to be written.
pub const STDIN: &str = "-";
/// How much of a stream is looked at for its first line, which names it.
const FRONT_BYTES: u64 = 16 << 20;
/// The most that is read of one text: what a line of a session may hold as well.
pub const TEXT_MAX: u64 = 256 << 20;
/// The most that is read of a session in a pipe.
const PIPE_MAX: u64 = 1 << 30;
/// How long a pipe waits for somebody to write to it.
const WRITER_WAIT: Duration = Duration::from_secs(5);

/// The file that is to be written; none where standard output is meant.
pub fn written(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new(STDIN))
}

/// Opens what is at `path` to read a text.
pub fn open(path: &Path) -> Result<File> {
    let kind = fs::metadata(path).map_err(Error::io(path))?.file_type();
    if is_pipe(kind) {
        open_pipe(path)
    } else {
        Ok(File::open(path).map_err(Error::io(path))?)
    }
}

/// All that is read, which must be a text of no more than [`TEXT_MAX`] bytes.
pub fn text(from: impl Read, name: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let read = from.take(TEXT_MAX + 1).read_to_end(&mut bytes);
    read.map_err(Error::io(name))?;
    if bytes.len() as u64 > TEXT_MAX {
        let why = format!("longer than {} MiB", TEXT_MAX >> 20);
        return Err(Error::input(name, why).into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let why = format!("not valid UTF-8 at byte {place}");
        Error::input(name, why).into()
    })
}

/// What an error calls the place.
pub fn name(path: &Path) -> String {
    match path.to_str() {
        Some(STDIN) => STANDARD_INPUT.to_owned(),
        _ => path.display().to_string(),
    }
}

/// A pipe's content, kept as a file while this lives.
#[derive(Debug)]
pub struct Spool {
    folder: Scratch,
    /// The file, by the pipe's name.
    pub file: PathBuf,
    /// What people call the pipe.
    pub name: PathBuf,
}

impl Spool {
    /// Reads a pipe to its end; none if `path` is no pipe. A device or a socket is refused.
    pub fn of(path: &Path) -> Result<Option<Self>> {
        if path == Path::new(STDIN) {
            return Self::read(std::io::stdin().lock(), path).map(Some);
        }
        if database::place(path).is_some() {
            return Ok(None);
        }
        let kind = fs::metadata(path).map_err(Error::io(path))?.file_type();
        if !is_pipe(kind) {
            return if kind.is_file() || kind.is_dir() {
                Ok(None)
            } else {
                let what = format!("{} is a device, not a session file", path.display());
                Err(Failure::refused(what).with_hint("files, directories and pipes are read"))
            };
        }
        Self::read(open_pipe(path)?, path).map(Some)
    }

    /// Reads all that comes from the pipe at `path`.
    fn read(from: impl Read, path: &Path) -> Result<Self> {
        let kept_as = path.file_name().unwrap_or_default();
        let folder = Scratch::new()?;
        let file = folder.join(kept_as);
        let name = PathBuf::from(name(path));
        let mut spool = Self { folder, file, name };
        let mut into = private::create(&spool.file).map_err(Error::io(&spool.file))?;
        let read = io::copy(&mut from.take(PIPE_MAX + 1), &mut into).map_err(Error::io(path))?;
        if read > PIPE_MAX {
            let what = format!("{} gives more than {} GiB", path.display(), PIPE_MAX >> 30);
            return Err(Failure::refused(what).with_hint("a file may be of any length"));
        }
        if is_nameless(path) {
            let mut front = Vec::new();
            let file = File::open(&spool.file).map_err(Error::io(&spool.file))?;
            let read = file.take(FRONT_BYTES).read_to_end(&mut front);
            read.map_err(Error::io(&spool.file))?;
            let named = spool.folder.join(stream_name(&front));
            fs::rename(&spool.file, &named).map_err(Error::io(&named))?;
            spool.file = named;
        }
        Ok(spool)
    }
}

/// An error that calls what was read at `path` by its `name`.
pub fn renamed(mut error: Error, path: &Path, name: &Path) -> Error {
    match &mut error {
        Error::EmptyFile { path: at }
        | Error::UnknownFormat { path: at, .. }
        | Error::BrokenFile { path: at, .. }
        | Error::TornFile { path: at }
        | Error::ExpandsTooFar { path: at, .. }
        | Error::StrictImport { path: at, .. }
        | Error::Io { path: at, .. }
            if at == path =>
        {
            name.clone_into(at);
        }
        _ => {}
    }
    error
}

/// Whether a path says nothing of what is read there: standard input, or a shell's `<(…)`.
fn is_nameless(path: &Path) -> bool {
    let descriptors = ["/dev/fd", "/proc/self/fd"];
    path == Path::new(STDIN) || descriptors.iter().any(|folder| path.starts_with(folder))
}

/// Waits for a writer, but not for ever.
fn open_pipe(path: &Path) -> Result<File> {
    let (told, opened) = mpsc::channel();
    let name = path.to_owned();
    // Where nobody comes it is left behind: it ends with the program.
    thread::spawn(move || told.send(File::open(name)));
    match opened.recv_timeout(WRITER_WAIT) {
        Ok(file) => Ok(file.map_err(Error::io(path))?),
        Err(_) => {
            let what = format!("{} is a pipe that nobody writes to", path.display());
            Err(Failure::refused(what).with_hint("start what writes to it first"))
        }
    }
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_: FileType) -> bool {
    false
}
