//! Files and directories that nobody else can look into: a session says what someone works on.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::{Failure, Result};
use tract::Error;

/// A name that nobody could have guessed, of so many bytes in hex.
pub fn random_name<const BYTES: usize>() -> Result<String> {
    let mut name = [0u8; BYTES];
    getrandom::fill(&mut name).map_err(|error| Failure::refused(error.to_string()))?;
    Ok(name.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A new file.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A new directory.
pub fn create_directory(path: &Path) -> io::Result<()> {
    #[allow(unused_mut)]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// A new directory for what lasts no longer than this lives.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty one, among the system's temporary files.
    pub fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("tract-{}", random_name::<8>()?));
        create_directory(&path).map_err(Error::io(&path))?;
        Ok(Self(path))
    }

    /// The place of a file in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes over what is at `path`, if anything: a file is made anew and takes the old one's place
/// when it is whole, so what was there stays if writing fails. A pipe or a device is written to.
pub fn replace<T>(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    // Where a link leads, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let failed = |error| Failure::from(Error::io(&path)(error));
    if fs::metadata(&path).is_ok_and(|facts| !facts.is_file()) {
        let mut file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
        return write(&mut file);
    }
    swap(&path, None, write)
}

/// A file that is made anew and takes the place of what is at `path` when it is whole. It has these permissions,
/// or is for nobody else to see.
pub fn swap<T>(
    path: &Path,
    permissions: Option<Permissions>,
    write: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let failed = |error| Failure::from(Error::io(path)(error));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.tract", random_name::<8>()?));
    let mut file = create(&draft).map_err(failed)?;
    let draft = Draft(draft);
    let done = write(&mut file)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    fs::rename(&draft.0, path).map_err(failed)?;
    Ok(done)
}

/// Writes a file, over one that is there only with `force`; one that cannot be written whole is not
/// left behind.
pub fn write<T>(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let write = |file: &mut dyn Write| -> Result<T> {
        let mut out = BufWriter::new(file);
        let done = write(&mut out)?;
        out.flush().map_err(Error::io(path))?;
        Ok(done)
    };
    if force {
        return replace(path, write);
    }
    let file = create(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => taken(path),
        _ => Error::io(path)(error).into(),
    })?;
    let done = write(&mut &file);
    if done.is_err() {
        // What is there in half would only be in the way of the next try.
        let _ = fs::remove_file(path);
    }
    done
}

fn taken(path: &Path) -> Failure {
    if path.is_dir() {
        let what = format!("{} is a directory", path.display());
        return Failure::usage(what).with_hint("name a file in it");
    }
    let what = format!("{} exists already", path.display());
    Failure::refused(what).with_hint("--force writes over it")
}

/// Lets `make` fill a new file under another name, which then gets its own: whoever looks sees all of
/// it or what was there before. Over a file that is there only with `force`. `note` hears that name before there is such a file,
/// and what it gives lasts until the file has its own.
pub fn place<T, N>(
    path: &Path,
    force: bool,
    note: impl FnOnce(&Path) -> Result<N>,
    make: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    let failed = |error| Failure::from(Error::io(path)(error));
    if !force && fs::symlink_metadata(path).is_ok() {
        return Err(taken(path));
    }
    if fs::metadata(path).is_ok_and(|facts| !facts.is_file()) {
        let failure = Failure::usage(format!("{} is not a file", path.display()));
        return Err(failure.with_hint("name a file; with --force it may be there already"));
    }
    sweep(path);
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(
        "{DRAFT}{}-{}",
        std::process::id(),
        random_name::<4>()?
    ));
    let draft = PathBuf::from(draft);
    let _note = note(&draft)?;
    drop(create(&draft).map_err(failed)?);
    let draft = Draft(draft);
    let done = make(&draft.0)?;
    if force {
        fs::rename(&draft.0, path).map_err(failed)?
    } else {
        match fs::hard_link(&draft.0, path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(taken(path));
            }
            // Some file systems have no links.
            Err(_) => fs::rename(&draft.0, path).map_err(failed)?,
        }
    }
    Ok(done)
}

/// What the name of a file is followed by that is not whole yet, before the number of the process that makes it.
const DRAFT: &str = ".new-";
/// Who is at work on a file writes to it more often than that.
const SILENCE: Duration = Duration::from_secs(60);

/// Takes away what makers of this file have left who were killed: nothing has this number any more, and nobody has written
/// to it lately, on whatever machine.
fn sweep(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let begin = format!("{}{DRAFT}", name.to_string_lossy());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let maker = name
            .strip_prefix(&begin)
            .and_then(|rest| rest.split_once('-'));
        let maker = maker.and_then(|(maker, _)| maker.parse().ok());
        let is_silent = || {
            let written = entry.metadata().and_then(|facts| facts.modified());
            written.is_ok_and(|at| at.elapsed().is_ok_and(|since| since > SILENCE))
        };
        if maker.is_some_and(is_gone) && is_silent() {
            drop(Draft(entry.path()));
        }
    }
}

/// Whether no process has this number.
#[cfg(unix)]
fn is_gone(process: u32) -> bool {
    let process = rustix::process::Pid::from_raw(process.cast_signed());
    process.is_some_and(|process| {
        rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH)
    })
}

#[cfg(not(unix))]
fn is_gone(_: u32) -> bool {
    false
}

/// A file that is not whole yet, and goes if it never is.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        // A database that was not whole may have left its journals.
        for journal in ["-journal", "-wal", "-shm"] {
            let mut name = self.0.clone().into_os_string();
            name.push(journal);
            let _ = fs::remove_file(name);
        }
    }
}
