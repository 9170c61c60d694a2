//! Text that the user hands over: in a file, on standard input, or written in an editor.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

use tract::Error;

use super::{App, Failure};

/// The text of a file, or of standard input where the path is `-`.
pub fn read(app: &App, path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        let mut input = std::io::stdin().lock();
        let read = input.read_to_end(&mut bytes);
        read.map_err(Error::io("standard input"))?;
    } else {
        let path = app.path(path)?;
        bytes = std::fs::read(&path).map_err(Error::io(&path))?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let why = format!("not valid UTF-8 at byte {place}");
        Error::input(name(path), why).into()
    })
}

/// What an error calls the place.
pub fn name(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => path.display().to_string(),
    }
}

/// Lets the user write the text in their editor, from `old` on.
pub fn edited(app: &App, old: &str) -> Result<String, Failure> {
    let Some(editor) = app.env.editor.clone() else {
        let failure = Failure::usage("no text was given, and neither VISUAL nor EDITOR is set");
        return Err(failure.with_hint("tract commit -r user -m TEXT"));
    };
    let path = std::env::temp_dir().join(format!("tract-{}.md", random_name::<8>()?));
    private_file(&path)
        .and_then(|mut file| file.write_all(old.as_bytes()))
        .map_err(Error::io(&path))?;
    // As git does: the editor's setting is a command line, so the shell splits it.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg(&editor)
        .arg(&path)
        .status()
        .map_err(Error::io(&editor));
    let text = std::fs::read_to_string(&path).map_err(Error::io(&path));
    let _ = std::fs::remove_file(&path);
    if !status?.success() {
        let what = format!("'{editor}' failed; nothing was committed");
        return Err(Failure::refused(what));
    }
    let text = text?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// A name that nobody could have guessed, of so many bytes in hex.
pub fn random_name<const BYTES: usize>() -> Result<String, Failure> {
    let mut name = [0u8; BYTES];
    getrandom::fill(&mut name).map_err(|error| Failure::refused(error.to_string()))?;
    Ok(name.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A new file that nobody else can look into.
fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
